// SPDX-License-Identifier: GPL-2.0-or-later
/* prefetchctl clear */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "ctl.h"

static int clear_task(struct ctl *ctl, uint32_t pid, uint32_t tid,
		      uint64_t start_time, struct pfnl_setting *result)
{
	struct pfnl_setting_request request = PFNL_SETTING_REQUEST_INIT;

	if (tid)
		request.tid = tid;
	else
		request.pid = pid;
	/* Every opinion that a setting can have here. */
	request.clear = ctl->info.supported;
	request.start_time = start_time;
	return pfnl_setting_set(ctl->kernel, &request, result);
}

static void clear_one(struct report *report, enum target_kind kind, pid_t id,
		      uint64_t start_time)
{
	bool thread = kind == TARGET_TID;
	struct pfnl_setting setting;
	char what[32];
	int err;

	err = clear_task(report->ctl, thread ? 0 : (uint32_t)id,
			 thread ? (uint32_t)id : 0, start_time, &setting);
	if (!err) {
		report_setting(report, &setting);
		return;
	}
	snprintf(what, sizeof(what), "%s %d", thread ? "tid" : "pid", id);
	report_failure(report,
		       say_kernel_error(report->ctl, err, what, NEED_TASK));
}

/*
 * All settings that the caller may change. One that has gone meanwhile is
 * what was wanted; those of other users are counted and told in one line.
 */
static int clear_all(struct ctl *ctl)
{
	struct settings all;
	struct report report;
	size_t denied = 0;
	size_t i;
	int status = settings_collect(ctl, &all);

	if (status)
		return status;
	report_begin(&report, ctl);
	for (i = 0; i < all.count; i++) {
		const struct pfnl_setting *s = &all.list[i];
		bool thread = s->scope == PREFETCH_SCOPE_THREAD;
		struct pfnl_setting result;
		char what[32];
		int err;

		err = clear_task(ctl, s->pid, thread ? s->tid : 0,
				 s->start_time, &result);
		if (!err) {
			report_setting(&report, &result);
			continue;
		}
		if (err == -ESRCH)
			continue;
		if (err == -EPERM) {
			denied++;
			report_failure(&report, STATUS_DENIED);
			continue;
		}
		snprintf(what, sizeof(what), "%s %u", thread ? "tid" : "pid",
			 thread ? s->tid : s->pid);
		report_failure(&report,
			       say_kernel_error(ctl, err, what, NEED_TASK));
		if (ctl->module_absent)
			break;
	}
	free(all.list);
	if (denied) {
		say_error(ctl, STATUS_DENIED, "%zu %s not yours to clear",
			  denied, denied == 1 ? "setting is" : "settings are");
		say_more("those of other users need CAP_SYS_NICE: "
			 "run it as root\n");
	}
	if (!ctl->json && !report.done && !report.failed)
		puts("no settings");
	return report_end(&report);
}

static int clear_default(struct ctl *ctl)
{
	struct pfnl_default result;
	int err;

	err = pfnl_default_set(ctl->kernel, 0, 0, ctl->info.supported, &result);
	if (err)
		return say_kernel_error(ctl, err, "machine default",
					NEED_ADMIN);
	ctl->have_info = false;
	return report_default(ctl, result.off, result.on, result.partial);
}

int cmd_clear(struct ctl *ctl, const struct request *req)
{
	struct report report;
	struct masks masks = { 0 };
	size_t i;
	pid_t self = 0;
	int status = ctl_info(ctl);

	if (status)
		return status;
	if (req->target == TARGET_SELF && !(self = self_pid(ctl)))
		return STATUS_NO_TASK;
	if (req->target == TARGET_ALL)
		return clear_all(ctl);
	if (req->target == TARGET_DEFAULT)
		return clear_default(ctl);
	masks.clear = ctl->info.supported;
	report_begin(&report, ctl);
	if (self)
		clear_one(&report, TARGET_PID, self, 0);
	for (i = 0; i < req->ids_count && !ctl->module_absent; i++) {
		if (req->target == TARGET_TREE)
			tree_set(&report, req->ids[i], &masks, -1);
		else
			clear_one(&report, req->target, req->ids[i],
				  req->start_time);
	}
	return report_end(&report);
}
