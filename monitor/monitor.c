// SPDX-License-Identifier: GPL-2.0-or-later
/* Subscribe, then print what comes until it is time to end. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "absent.h"
#include "line.h"
#include "text.h"

struct monitor {
	struct pfnl *kernel;
	const struct options *options;
	struct line line;
	uint64_t events; /* core and setting lines that were printed */
	bool gone;
	bool draining; /* it is time to end; what has come is still told */
	unsigned int groups;
};

int complain(int status, const char *fmt, ...)
{
	va_list ap;

	fputs("prefetch-monitor: ", stderr);
	va_start(ap, fmt);
	safe_vprint(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	return status;
}

int complain_kernel(struct pfnl *h, int err, const char *what)
{
	const char *reason = pfnl_errmsg(h);
	struct machine machine;

	if (pfnl_module_missing(h)) {
		machine_read(&machine);
		complain(STATUS_UNSUPPORTED,
			 "the kernel module 'prefetch' is not loaded");
		machine_advise(&machine, stderr);
		return STATUS_UNSUPPORTED;
	}
	if (!*reason)
		reason = strerror(-err);
	complain(STATUS_FAILED, "%s: %s", what, reason);
	switch (err) {
	case -EPERM:
	case -EACCES:
		return STATUS_DENIED;
	case -EOPNOTSUPP:
		return STATUS_UNSUPPORTED;
	default:
		return STATUS_FAILED;
	}
}

static bool is_event(const struct monitor *m, const struct pfnl_event *event)
{
	if (event->kind == PFNL_EVENT_CORE)
		return wants_core_event(m->options, &event->u.core);
	if (event->kind == PFNL_EVENT_SETTING)
		return wants_kind(m->options, KIND_SETTING) &&
		       wants_setting(m->options, &event->u.setting.setting);
	return false;
}

static void greet(struct monitor *m)
{
	struct pfnl_info info;

	if (!pfnl_info(m->kernel, &info))
		line_hello(&m->line, &info, m->groups,
			   pfnl_receive_buffer(m->kernel));
}

/* Ends the dispatch (1) when nothing more is to be printed. */
static int on_event(const struct pfnl_event *event, void *arg)
{
	struct monitor *m = arg;

	if (event->kind == PFNL_EVENT_GONE)
		m->gone = true;
	if (event->kind == PFNL_EVENT_BACK) {
		m->gone = false;
		m->groups = event->u.back.groups;
		greet(m);
	}
	line_event(&m->line, event);
	if (m->line.written == WRITTEN && is_event(m, event))
		m->events++;
	if (m->options->count && m->events >= m->options->count)
		return 1;
	if (m->line.written != WRITTEN)
		return 1;
	/* More may come than can be told, so telling the last has an end. */
	return m->draining ? !output_may_go_on() : output_stopped();
}

static void advise_denied(void)
{
	fputs("  events tell which task runs where, so they need "
	      "CAP_SYS_ADMIN: run it as root\n",
	      stderr);
}

/* Groups that were wanted and not got: what that means here. */
static int check_groups(struct monitor *m, unsigned int wanted)
{
	unsigned int group;

	for (group = PFNL_GROUP_CORE; group <= PFNL_GROUP_SETTING;
	     group <<= 1) {
		int err;

		if (!(wanted & group))
			continue;
		err = pfnl_group_error(m->kernel, group);
		if (!err) {
			m->groups |= group;
			continue;
		}
		if (err == -EOPNOTSUPP) {
			complain(STATUS_DONE,
				 "this module has no events of group %s; going "
				 "on without",
				 pfnl_group_name(group));
			continue;
		}
		complain(STATUS_DENIED, "events of group %s: %s",
			 pfnl_group_name(group), strerror(-err));
		if (err == -EPERM)
			advise_denied();
		return err == -EPERM ? STATUS_DENIED : STATUS_FAILED;
	}
	return STATUS_DONE;
}

static unsigned int wanted_groups(const struct options *options)
{
	unsigned int groups = 0;

	if (wants_kind(options, KIND_CORE))
		groups |= PFNL_GROUP_CORE;
	if (wants_kind(options, KIND_SETTING))
		groups |= PFNL_GROUP_SETTING;
	/* The state of what a group tells of comes with it. */
	return groups ? groups : PFNL_GROUP_CORE | PFNL_GROUP_SETTING;
}

int monitor_hello(struct pfnl *h, struct pfnl_info *info)
{
	int err = pfnl_info(h, info);

	if (err)
		return complain_kernel(h, err, "info");
	if (!info->events_here)
		return complain(STATUS_DENIED,
				"events do not reach this network namespace; "
				"run it in the initial one, as with: nsenter "
				"--net=/proc/1/ns/net prefetch-monitor");
	return STATUS_DONE;
}

int monitor_check_cores(struct pfnl *h, const struct options *options,
			const struct pfnl_info *info)
{
	struct pfnl_core core;
	size_t i;
	int err;

	for (i = 0; i < options->cores_count; i++) {
		err = pfnl_core_get(h, options->cores[i], false, &core);
		if (err == -ENOENT && !pfnl_module_missing(h))
			return complain(STATUS_USAGE,
					"there is no core %u; this machine has "
					"%u, 'prefetchctl cores' lists them",
					options->cores[i], info->domains);
		if (err)
			return complain_kernel(h, err, "cores");
		pfnl_core_clear(&core);
	}
	return STATUS_DONE;
}

static int subscribe(struct monitor *m)
{
	unsigned int wanted = wanted_groups(m->options);
	struct pfnl_info info;
	int status = monitor_hello(m->kernel, &info);
	int err;

	if (!status)
		status = monitor_check_cores(m->kernel, m->options, &info);
	if (status)
		return status;
	err = pfnl_subscribe(m->kernel, wanted, 0);
	if (err == -EPERM || err == -EACCES) {
		complain(STATUS_DENIED, "events: %s", pfnl_errmsg(m->kernel));
		advise_denied();
		return STATUS_DENIED;
	}
	if (err)
		return complain_kernel(m->kernel, err, "events");
	status = check_groups(m, wanted);
	if (status)
		return status;
	line_hello(&m->line, &info, m->groups, pfnl_receive_buffer(m->kernel));
	return STATUS_DONE;
}

static int end(struct monitor *m, const char *reason)
{
	struct pfnl_info info;
	bool have_info = !m->gone && !pfnl_info(m->kernel, &info);

	m->line.written = WRITTEN;
	line_bye(&m->line, reason, m->events, have_info ? &info : NULL);
	return STATUS_DONE;
}

/* What reached us before it was time to end is told. */
static void drain(struct monitor *m)
{
	int fd = pfnl_event_fd(m->kernel);

	m->draining = true;
	while (m->line.written == WRITTEN && output_may_go_on()) {
		if (!pfnl_events_pending(m->kernel) && !output_readable(fd))
			return;
		/* A positive value: the count is reached or a line failed. */
		if (pfnl_dispatch(m->kernel, on_event, m))
			return;
	}
}

/* Nobody reads any more, or the disk is full, or a signal came. */
static int end_of_output(struct monitor *m)
{
	switch (m->line.written) {
	case WRITE_FAILED:
		return complain(STATUS_FAILED, "cannot write: %s",
				strerror(errno));
	case WRITE_CLOSED:
		return STATUS_DONE;
	default:
		drain(m);
		if (output_closed())
			return STATUS_DONE;
		return end(m, output_expired() ? "duration" : "signal");
	}
}

static int follow(struct monitor *m)
{
	for (;;) {
		int err = pfnl_dispatch(m->kernel, on_event, m);

		if (err < 0)
			return complain_kernel(m->kernel, err, "events");
		if (m->options->count && m->events >= m->options->count)
			return end(m, "count");
		if (m->line.written != WRITTEN || output_stopped())
			return end_of_output(m);
		if (!output_wait(pfnl_event_fd(m->kernel),
				 pfnl_events_pending(m->kernel) ? 0 : -1))
			return end_of_output(m);
	}
}

int monitor_run(struct pfnl *h, const struct options *options)
{
	struct monitor m = {
		.kernel = h,
		.options = options,
		.line = { .options = options },
	};
	int status;

	output_begin(options->duration);
	status = subscribe(&m);
	if (status)
		return status;
	return follow(&m);
}

int monitor_main(char **argv)
{
	struct options options;
	struct pfnl *kernel;
	char why[256];
	int status;
	int err;

	hold_standard_descriptors();
	if (options_parse(&options, argv[0] ? argv + 1 : argv, why,
			  sizeof(why))) {
		complain(STATUS_USAGE, "%s", why);
		options_free(&options);
		return STATUS_USAGE;
	}
	if (options.help || options.version) {
		if (options.help)
			print_usage();
		else
			printf("prefetch-monitor %s, library %s\n",
			       PREFETCH_MONITOR_VERSION, pfnl_version());
		options_free(&options);
		return fflush(stdout) ? STATUS_FAILED : STATUS_DONE;
	}
	err = pfnl_open(&kernel);
	if (err) {
		options_free(&options);
		return complain(STATUS_FAILED,
				"cannot open a netlink socket: %s",
				strerror(-err));
	}
	status = options.top ? monitor_top(kernel, &options)
			     : monitor_run(kernel, &options);
	pfnl_close(kernel);
	options_free(&options);
	return status;
}
