// SPDX-License-Identifier: GPL-2.0-or-later
/* prefetchctl set, disable, enable */
#include <stdio.h>

#include "ctl.h"

static void set_one(struct report *report, enum target_kind kind, pid_t id,
		    const struct masks *masks, int inherit, uint64_t start_time)
{
	struct pfnl_setting_request request = PFNL_SETTING_REQUEST_INIT;
	struct pfnl_setting setting;
	char what[32];
	int err;

	if (kind == TARGET_TID)
		request.tid = (uint32_t)id;
	else
		request.pid = (uint32_t)id;
	request.off = masks->off;
	request.on = masks->on;
	request.clear = masks->clear;
	request.inherit = inherit;
	request.start_time = start_time;
	err = pfnl_setting_set(report->ctl->kernel, &request, &setting);
	if (!err) {
		report_setting(report, &setting);
		return;
	}
	snprintf(what, sizeof(what), "%s %d",
		 kind == TARGET_TID ? "tid" : "pid", id);
	report_failure(report,
		       say_kernel_error(report->ctl, err, what, NEED_TASK));
}

static int set_default(struct ctl *ctl, const struct masks *masks)
{
	struct pfnl_default result;
	int err;

	err = pfnl_default_set(ctl->kernel, masks->off, masks->on, masks->clear,
			       &result);
	if (err)
		return say_kernel_error(ctl, err, "machine default",
					NEED_ADMIN);
	ctl->have_info = false;
	return report_default(ctl, result.off, result.on, result.partial);
}

int cmd_set(struct ctl *ctl, const struct request *req)
{
	struct report report;
	struct masks masks;
	size_t i;
	pid_t self = 0;
	int status = masks_resolve(ctl, req, &masks);

	if (status)
		return status;
	if (req->target == TARGET_SELF && !(self = self_pid(ctl)))
		return STATUS_NO_TASK;
	if (req->target == TARGET_DEFAULT)
		return set_default(ctl, &masks);
	report_begin(&report, ctl);
	if (self)
		set_one(&report, TARGET_PID, self, &masks, req->inherit, 0);
	for (i = 0; i < req->ids_count && !ctl->module_absent; i++) {
		/* Where an opinion is only taken back, inherit stays. */
		if (req->target == TARGET_TREE)
			tree_set(&report, req->ids[i], &masks,
				 masks.off | masks.on ? 1 : req->inherit);
		else
			set_one(&report, req->target, req->ids[i], &masks,
				req->inherit, req->start_time);
	}
	return report_end(&report);
}

int cmd_disable(struct ctl *ctl, const struct request *req)
{
	return cmd_set(ctl, req);
}

int cmd_enable(struct ctl *ctl, const struct request *req)
{
	struct request on = *req;

	on.on = req->off;
	on.off = 0;
	return cmd_set(ctl, &on);
}
