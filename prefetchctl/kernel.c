// SPDX-License-Identifier: GPL-2.0-or-later
/* The handle, and what its errors mean to a user. */
#include <errno.h>
#include <string.h>

#include "absent.h"
#include "ctl.h"
#include "text.h"

int ctl_open(struct ctl *ctl)
{
	int err;

	if (ctl->kernel)
		return STATUS_DONE;
	err = pfnl_open(&ctl->kernel);
	if (err)
		return say_error(ctl, status_of_errno(err),
				 "cannot open a netlink socket: %s",
				 strerror(-err));
	return STATUS_DONE;
}

void ctl_close(struct ctl *ctl)
{
	pfnl_close(ctl->kernel);
	ctl->kernel = NULL;
}

int ctl_info(struct ctl *ctl)
{
	int err;
	int status = ctl_open(ctl);

	if (status || ctl->have_info)
		return status;
	err = pfnl_info(ctl->kernel, &ctl->info);
	if (err)
		return say_kernel_error(ctl, err, "info", NEED_NOTHING);
	ctl->have_info = true;
	return STATUS_DONE;
}

void say_module_absent(struct ctl *ctl)
{
	struct machine machine;

	machine_read(&machine);
	say_error(ctl, STATUS_UNSUPPORTED,
		  "the kernel module 'prefetch' is not loaded");
	machine_advise(&machine, stderr);
	ctl->module_absent = true;
}

static void advise_denied(const struct ctl *ctl, enum need need)
{
	if (need == NEED_ADMIN)
		say_more("run it as root\n");
	else if (need == NEED_TASK && ctl->have_info && !ctl->info.unprivileged)
		say_more("the module has unprivileged=0: run it as root\n");
	else if (need == NEED_TASK)
		say_more("your own tasks need no privilege, unless the module "
			 "has unprivileged=0; those of others need "
			 "CAP_SYS_NICE: run it as root\n");
}

static void advise_unsupported(struct ctl *ctl)
{
	char text[PFNL_MASK_NAMES_SIZE];
	struct pfnl_info info;

	if (pfnl_info(ctl->kernel, &info))
		return;
	say_more("this machine has: %s\n",
		 mask_text(info.supported, "no prefetcher to switch", text));
}

int say_kernel_error(struct ctl *ctl, int err, const char *what, enum need need)
{
	const char *reason = pfnl_errmsg(ctl->kernel);
	int status = status_of_errno(err);

	if (pfnl_module_missing(ctl->kernel)) {
		say_module_absent(ctl);
		return STATUS_UNSUPPORTED;
	}
	if (!*reason)
		reason = strerror(-err);
	say_error(ctl, status, "%s: %s", what, reason);
	if (status == STATUS_DENIED)
		advise_denied(ctl, need);
	else if (err == -EOPNOTSUPP)
		advise_unsupported(ctl);
	return status;
}

/* Together with others, one of which nothing is here would go unnoticed. */
static void warn_of_groups(struct ctl *ctl, uint32_t grouped)
{
	const struct pfnl_group_name *group;
	uint32_t supported = ctl->info.supported;

	if (grouped == PFNL_MASK_ALL)
		return;
	for (group = pfnl_group_names(NULL); group->name; group++)
		if (!(group->mask & ~grouped) && !(group->mask & supported))
			say_warning(ctl, "this machine has none of group '%s'",
				    group->name);
}

int masks_resolve(struct ctl *ctl, const struct request *req,
		  struct masks *masks)
{
	char named[PFNL_MASK_NAMES_SIZE], here[PFNL_MASK_NAMES_SIZE];
	uint32_t all = req->off | req->on | req->clear;
	uint32_t drop;
	int status = ctl_info(ctl);

	if (status)
		return status;
	/* A group stands for what this machine has of it. */
	drop = req->grouped & ~ctl->info.supported;
	masks->off = req->off & ~drop;
	masks->on = req->on & ~drop;
	masks->clear = req->clear & ~drop;
	if (all && !(masks->off | masks->on | masks->clear))
		return say_error(ctl, STATUS_UNSUPPORTED,
				 "this machine has none of: %s; it has: %s",
				 mask_text(all, "-", named),
				 mask_text(ctl->info.supported, "none", here));
	warn_of_groups(ctl, req->grouped);
	return STATUS_DONE;
}
