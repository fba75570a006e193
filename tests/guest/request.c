// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Requests through the library, with markers for the judge.
 */
#include "request.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#define MARKER "/sys/kernel/tracing/trace_marker"

static struct pfnl *ours;
static bool ready;
static int marker_fd = -1;

static void tell(const char *fmt, ...) PRINTF(1, 2);

static void tell(const char *fmt, ...)
{
	char text[200];
	va_list args;
	int len;

	if (marker_fd < 0)
		return;
	va_start(args, fmt);
	len = vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	/* With nothing being recorded this fails, and nobody misses it. */
	if (write(marker_fd, text, len) < 0 && errno != EBADF)
		die("cannot write a trace marker: %s", strerror(errno));
}

/* Unique among the programs of a boot. */
static unsigned long long next_id(void)
{
	static unsigned long long n;

	return (unsigned long long)getpid() * 1000000 +
	       __atomic_add_fetch(&n, 1, __ATOMIC_RELAXED);
}

unsigned long long judge_turn(const char *what, int cpu)
{
	unsigned long long id = next_id();

	tell("prefetch-req begin %llu %s cpu=%d\n", id, what, cpu);
	return id;
}

void judge_turned(unsigned long long id, int err)
{
	tell("prefetch-req end %llu %d\n", id, -err);
}

int set_any(struct pfnl *h, const struct pfnl_setting_request *r,
	    struct pfnl_setting *result)
{
	unsigned long long id = next_id();
	int err;

	tell("prefetch-req begin %llu %s %s=%u off=0x%x on=0x%x clear=0x%x "
	     "inherit=%d\n",
	     id, r->off || r->on ? "set" : "clear", r->tid ? "tid" : "pid",
	     r->tid ? r->tid : r->pid, r->off, r->on, r->clear, r->inherit > 0);
	err = pfnl_setting_set(h, r, result);
	tell("prefetch-req end %llu %d\n", id, -err);
	return err;
}

int set_default_any(struct pfnl *h, uint32_t off, uint32_t on)
{
	uint32_t clear = ALL_FOUR & ~(off | on);
	unsigned long long id = next_id();
	int err;

	tell("prefetch-req begin %llu %s default off=0x%x on=0x%x clear=0x%x "
	     "inherit=0\n",
	     id, off || on ? "set" : "clear", off, on, clear);
	err = pfnl_default_set(h, off, on, clear, NULL);
	tell("prefetch-req end %llu %d\n", id, -err);
	return err;
}

int set_default(uint32_t off, uint32_t on)
{
	return set_default_any(ours, off, on);
}

static int set_exactly(pid_t pid, pid_t tid, uint32_t off, uint32_t on,
		       int inherit)
{
	struct pfnl_setting_request r = PFNL_SETTING_REQUEST_INIT;

	r.pid = pid;
	r.tid = tid;
	r.off = off;
	r.on = on;
	r.clear = ALL_FOUR & ~(off | on);
	r.inherit = inherit;
	return set_any(ours, &r, NULL);
}

int set_pid(pid_t pid, uint32_t off, uint32_t on)
{
	return set_exactly(pid, 0, off, on, 0);
}

int set_pid_inherit(pid_t pid, uint32_t off, uint32_t on)
{
	return set_exactly(pid, 0, off, on, 1);
}

int set_tid(pid_t tid, uint32_t off, uint32_t on)
{
	return set_exactly(0, tid, off, on, -1);
}

int clear_pid(pid_t pid)
{
	return set_exactly(pid, 0, 0, 0, -1);
}

int clear_tid(pid_t tid)
{
	return set_exactly(0, tid, 0, 0, -1);
}

static struct pfnl_setting get(pid_t pid, pid_t tid)
{
	struct pfnl_setting s;
	int err = pfnl_setting_get(ours, pid, tid, &s);

	if (err)
		die("cannot get the setting of pid %d, tid %d: %s (%s)", pid,
		    tid, strerror(-err), pfnl_errmsg(ours));
	return s;
}

struct pfnl_setting get_pid(pid_t pid)
{
	return get(pid, 0);
}

struct pfnl_setting get_tid(pid_t tid)
{
	return get(0, tid);
}

struct pfnl_info info(void)
{
	struct pfnl_info i;
	int err = pfnl_info(ours, &i);

	if (err)
		die("cannot get info: %s (%s)", strerror(-err),
		    pfnl_errmsg(ours));
	return i;
}

long request_settings(void)
{
	return info().settings;
}

struct core_state core_state(int domain)
{
	struct core_state state;
	struct pfnl_core core;
	int err = pfnl_core_get(ours, domain, false, &core);

	if (err)
		die("cannot get core %d: %s (%s)", domain, strerror(-err),
		    pfnl_errmsg(ours));
	state = (struct core_state){ core.baseline, core.effective, core.held,
				     core.writes };
	pfnl_core_clear(&core);
	return state;
}

struct pfnl *handle(void)
{
	return ours;
}

bool request_ready(void)
{
	return ready;
}

int take_events(struct pfnl *listener, pfnl_event_cb cb, void *arg)
{
	struct pollfd p = { .fd = pfnl_event_fd(listener), .events = POLLIN };

	if (!pfnl_events_pending(listener) && poll(&p, 1, 1) < 0)
		die("cannot poll the events");
	return pfnl_dispatch(listener, cb, arg);
}

void request_init(void)
{
	struct pfnl_info i;
	int err = pfnl_open(&ours);

	if (err)
		die("cannot open a handle: %s", strerror(-err));
	marker_fd = open(MARKER, O_WRONLY | O_CLOEXEC);
	err = pfnl_info(ours, &i);
	if (err && !pfnl_module_missing(ours))
		die("cannot get info: %s (%s)", strerror(-err),
		    pfnl_errmsg(ours));
	ready = !err;
}

void request_end(void)
{
	pfnl_close(ours);
	ours = NULL;
}
