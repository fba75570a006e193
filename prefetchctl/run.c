// SPDX-License-Identifier: GPL-2.0-or-later
/* prefetchctl run, exec: a setting on this process, which then is COMMAND */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "ctl.h"
#include "text.h"

/* The output belongs to COMMAND: what is to be said goes to stderr. */
static void tell(struct ctl *ctl, const struct pfnl_setting *setting)
{
	say_partial(ctl, setting->partial);
	if (ctl->json) {
		json_t *object;

		object = json_pack("{s:i, s:s, s:o}", "schema", 1, "backend",
				   pfnl_backend_name(ctl->info.backend),
				   "setting", setting_json(setting));
		if (object)
			json_dumpf(object, stderr, JSON_COMPACT);
		json_decref(object);
		fputc('\n', stderr);
		return;
	}
	say_backend(ctl, stderr);
}

static int not_run(const struct request *req, int status)
{
	say_more("'%s' was not run\n", req->command[0]);
	return status;
}

static int run(struct ctl *ctl, const struct request *req, int inherit)
{
	struct pfnl_setting_request request = PFNL_SETTING_REQUEST_INIT;
	struct pfnl_setting setting;
	struct masks masks;
	int status = masks_resolve(ctl, req, &masks);
	int err;

	if (!status && !masks.off && !masks.on)
		status = say_error(ctl, STATUS_USAGE,
				   "%s: a command can be run with NAME=off or "
				   "NAME=on; 'default' changes nothing for it",
				   inherit ? "run" : "exec");
	if (status)
		return not_run(req, status);
	request.pid = (uint32_t)getpid();
	request.off = masks.off;
	request.on = masks.on;
	request.clear = masks.clear;
	request.inherit = inherit;
	err = pfnl_setting_set(ctl->kernel, &request, &setting);
	if (err) {
		status = say_kernel_error(ctl, err, "setting of the command",
					  NEED_TASK);
		return not_run(req, status);
	}
	tell(ctl, &setting);
	ctl_close(ctl);
	fflush(stdout);
	execvp(req->command[0], req->command);
	err = errno;
	return say_error(ctl,
			 err == ENOENT ? STATUS_NOT_FOUND
				       : STATUS_NOT_EXECUTABLE,
			 "cannot run '%s': %s", req->command[0], strerror(err));
}

int cmd_run(struct ctl *ctl, const struct request *req)
{
	return run(ctl, req, req->inherit < 0 ? 1 : req->inherit);
}

int cmd_exec(struct ctl *ctl, const struct request *req)
{
	return run(ctl, req, 0);
}
