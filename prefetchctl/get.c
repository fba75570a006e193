// SPDX-License-Identifier: GPL-2.0-or-later
/* prefetchctl get */
#include <stdio.h>
#include <unistd.h>

#include "ctl.h"

pid_t self_pid(struct ctl *ctl)
{
	pid_t pid = getppid();

	if (!pid)
		say_error(ctl, STATUS_NO_TASK,
			  "self: the process that called this is in another "
			  "pid namespace");
	return pid;
}

static void get_one(struct report *report, enum target_kind kind, pid_t id)
{
	bool thread = kind == TARGET_TID;
	struct pfnl_setting setting;
	char what[32];
	int err;

	err = pfnl_setting_get(report->ctl->kernel, thread ? 0 : id,
			       thread ? id : 0, &setting);
	if (!err) {
		report_setting(report, &setting);
		return;
	}
	snprintf(what, sizeof(what), "%s %d", thread ? "tid" : "pid", id);
	report_failure(report,
		       say_kernel_error(report->ctl, err, what, NEED_NOTHING));
}

int cmd_get(struct ctl *ctl, const struct request *req)
{
	struct report report;
	size_t i;
	pid_t self = 0;
	int status = ctl_info(ctl);

	if (status)
		return status;
	if (req->target == TARGET_SELF && !(self = self_pid(ctl)))
		return STATUS_NO_TASK;
	if (req->target == TARGET_DEFAULT)
		return report_default(ctl, ctl->info.default_off,
				      ctl->info.default_on, 0);
	report_begin(&report, ctl);
	if (self)
		get_one(&report, TARGET_PID, self);
	for (i = 0; i < req->ids_count && !ctl->module_absent; i++)
		get_one(&report, req->target, req->ids[i]);
	return report_end(&report);
}
