// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The library against a real module: each call once, and what only a real
 * socket shows: overruns and reloads. Needs root, and a machine on which
 * settings may be changed and the module unloaded: a guest.
 *
 *	scripts/vm --with build/tests/guest/pfnl-live -- pfnl-live
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "prefetchnl.h"

static struct pfnl *h;
static int line;
static const char *module = "/lib/modules/prefetch.ko";

#define CHECK(condition) check(condition, #condition, __LINE__)

static void check(bool ok, const char *what, int at)
{
	line = at;
	if (ok)
		return;
	printf("FAILED line %d: %s (errmsg '%s', attribute '%s')\n", at, what,
	       h ? pfnl_errmsg(h) : "",
	       h && pfnl_errattr(h) ? pfnl_errattr(h) : "");
	exit(1);
}

static pid_t sleeper(void)
{
	pid_t pid = fork();

	if (!pid) {
		pause();
		_exit(0);
	}
	CHECK(pid > 0);
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static int count_prefetcher(const struct pfnl_prefetcher *p, void *arg)
{
	uint32_t *mask = arg;

	CHECK(!strcmp(p->name, pfnl_names(NULL)[p->id].name));
	CHECK(p->description[0]);
	CHECK(p->n_locations >= 1);
	*mask |= UINT32_C(1) << p->id;
	return 0;
}

static int count_core(const struct pfnl_core *core, void *arg)
{
	uint32_t *n = arg;

	CHECK(core->domain == *n);
	CHECK(core->n_cpus >= 1);
	++*n;
	return 0;
}

static void check_machine(void)
{
	struct pfnl_info info;
	struct pfnl_core core;
	unsigned int flags = 9;
	uint32_t mask = 0;
	uint32_t n = 0;

	CHECK(!pfnl_info(h, &info));
	printf("backend %s, version %s, %s %u/%u/%u, %u domains\n",
	       pfnl_backend_name(info.backend), info.version, info.cpu_vendor,
	       info.cpu_family, info.cpu_model, info.cpu_stepping,
	       info.domains);
	CHECK(info.events_here && info.domains && info.supported);
	CHECK(!pfnl_prefetcher_list(h, count_prefetcher, &mask));
	CHECK(mask == info.supported);
	CHECK(!pfnl_core_list(h, true, &flags, count_core, &n));
	CHECK(n == info.domains && flags == 0);
	CHECK(!pfnl_core_get(h, 0, true, &core));
	CHECK(core.verified && core.n_registers >= 1 && core.cpus[0].online);
	pfnl_core_clear(&core);
	CHECK(pfnl_core_get(h, 9999, false, &core) == -ENOENT);
	CHECK(!pfnl_module_missing(h));
	CHECK(!strcmp(pfnl_errattr(h), "domain"));
}

static int count_setting(const struct pfnl_setting *s, void *arg)
{
	CHECK(s->present);
	++*(unsigned int *)arg;
	return 0;
}

static void check_settings(void)
{
	struct pfnl_setting_request q = PFNL_SETTING_REQUEST_INIT;
	struct pfnl_setting s;
	unsigned int n = 0;
	pid_t pid = sleeper();

	CHECK(!pfnl_setting_get(h, pid, 0, &s));
	CHECK(!s.present && s.pid == (uint32_t)pid && s.start_time);
	q.pid = (uint32_t)pid;
	q.off = 1;
	q.on = 4;
	q.inherit = 1;
	q.start_time = s.start_time;
	CHECK(!pfnl_setting_set(h, &q, &s));
	CHECK(s.present && s.off == 1 && s.on == 4 && s.inherit && s.id);
	CHECK(s.scope == PREFETCH_SCOPE_PROCESS && s.uid == 0);
	q.start_time++;
	CHECK(pfnl_setting_set(h, &q, NULL) == -ESRCH);
	CHECK(pfnl_errattr(h) && !strcmp(pfnl_errattr(h), "start-time"));
	CHECK(!pfnl_setting_get(h, pid, 0, &s));
	CHECK(s.wish_off == 1 && s.wish_on == 4);
	q = (struct pfnl_setting_request)PFNL_SETTING_REQUEST_INIT;
	q.tid = (uint32_t)pid;
	q.off = 2;
	CHECK(!pfnl_setting_set(h, &q, &s));
	CHECK(s.scope == PREFETCH_SCOPE_THREAD && s.tid == (uint32_t)pid);
	CHECK(s.wish_off == 3);
	q.inherit = 1;
	CHECK(pfnl_setting_set(h, &q, NULL) == -EINVAL);
	CHECK(!strcmp(pfnl_errattr(h), "inherit"));
	CHECK(!pfnl_setting_list(h, 0, 0, NULL, count_setting, &n));
	CHECK(n == 2);
	CHECK(!pfnl_setting_list(h, pid, 0, NULL, count_setting, &n));
	CHECK(n == 4);
	CHECK(!pfnl_setting_list(h, 0, pid, NULL, count_setting, &n));
	CHECK(n == 5);
	end(pid);
	n = 0;
	CHECK(!pfnl_setting_list(h, 0, 0, NULL, count_setting, &n));
	CHECK(n == 0);
	CHECK(pfnl_setting_get(h, pid, 0, &s) == -ESRCH);
	CHECK(!strcmp(pfnl_errattr(h), "pid"));
	CHECK(pfnl_setting_get(h, 0, pid, &s) == -ESRCH);
	CHECK(!strcmp(pfnl_errattr(h), "tid"));
}

static void check_refusals(void)
{
	struct pfnl_setting_request q = PFNL_SETTING_REQUEST_INIT;
	struct pfnl_default d;

	q.pid = (uint32_t)getpid();
	q.off = q.on = 1;
	CHECK(pfnl_setting_set(h, &q, NULL) == -EINVAL);
	CHECK(pfnl_errmsg(h)[0] && pfnl_errattr(h));
	q.on = 0;
	q.off = 1u << 13;
	CHECK(pfnl_setting_set(h, &q, NULL) == -EOPNOTSUPP);
	CHECK(!strcmp(pfnl_errattr(h), "off"));
	q.off = 1u << 31;
	CHECK(pfnl_setting_set(h, &q, NULL) == -EINVAL);
	CHECK(!strcmp(pfnl_errattr(h), "off"));
	CHECK(!pfnl_default_set(h, 2, 0, 0, &d));
	CHECK(d.off == 2);
	CHECK(!pfnl_default_set(h, 0, 0, 2, &d));
	CHECK(d.off == 0);
}

static void check_pidfd(void)
{
	struct pfnl_setting_request q = PFNL_SETTING_REQUEST_INIT;
	struct pfnl_setting s;
	pid_t pid = sleeper();
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	CHECK(fd >= 0);
	q.off = 1;
	CHECK(!pfnl_setting_set_pidfd(h, fd, &q, &s));
	CHECK(s.pid == (uint32_t)pid && s.off == 1);
	CHECK(!pfnl_setting_get_pidfd(h, fd, &s));
	end(pid);
	CHECK(pfnl_setting_set_pidfd(h, fd, &q, NULL) == -ESRCH);
	close(fd);
}

static int fail_repair(const struct pfnl_repair *repair, void *arg)
{
	++*(unsigned int *)arg;
	CHECK(repair->domain == 0 && repair->n_registers == 1);
	CHECK(repair->before == 0xf && repair->after == 0);
	CHECK(repair->registers[0].value == 0xf);
	return 0;
}

static void check_repair(void)
{
	uint64_t value = 0xf;
	struct pfnl_core core;
	unsigned int n = 0;
	int fd = open("/dev/cpu/0/msr", O_RDWR);

	CHECK(!pfnl_core_repair(h, PFNL_DOMAIN_ALL, fail_repair, &n));
	CHECK(n == 0);
	if (fd < 0) {
		printf("no /dev/cpu/0/msr: repair of a foreign value "
		       "skipped\n");
		return;
	}
	CHECK(pwrite(fd, &value, 8, 0x1a4) == 8);
	close(fd);
	CHECK(!pfnl_core_get(h, 0, true, &core));
	CHECK(core.differs && core.read == 0xf && core.effective == 0);
	pfnl_core_clear(&core);
	CHECK(!pfnl_core_repair(h, 0, fail_repair, &n));
	CHECK(n == 1);
	CHECK(!pfnl_core_repair(h, PFNL_DOMAIN_ALL, fail_repair, &n));
	CHECK(n == 1);
}

/* What was told so far, by kind. */
struct told {
	unsigned int kinds[16];
	uint64_t lost;
	uint32_t reason;
	unsigned int changes[8];
};

static int tell(const struct pfnl_event *event, void *arg)
{
	struct told *t = arg;

	t->kinds[event->kind & 15]++;
	if (event->kind == PFNL_EVENT_LOST) {
		CHECK(event->u.lost.known && event->u.lost.changes_known);
		CHECK(event->u.lost.group == PFNL_GROUP_SETTING);
		t->lost += event->u.lost.changes;
	}
	if (event->kind == PFNL_EVENT_RESYNC_END) {
		CHECK(!event->u.resync.error);
		t->reason = event->u.resync.reason;
	}
	if (event->kind == PFNL_EVENT_SETTING)
		t->changes[event->u.setting.change & 7]++;
	return 0;
}

/* Nothing more comes when so long nothing has come; --slow makes it longer. */
static int quiet_ms = 500;
/*
 * So many times that at most: with a setting of our own, the core changes each
 * time that another task of user space has it, and that is told to us as well.
 */
#define LISTEN_MAX 20

/* Dispatches until it is quiet, but not without an end. */
static struct told *listen_for_a_while(void)
{
	static struct told t;
	struct pollfd p = { .fd = pfnl_event_fd(h), .events = POLLIN };
	time_t end = time(NULL) + LISTEN_MAX * quiet_ms / 1000;

	memset(&t, 0, sizeof(t));
	do {
		CHECK(!pfnl_dispatch(h, tell, &t));
	} while (pfnl_events_pending(h) ||
		 (time(NULL) <= end && poll(&p, 1, quiet_ms) > 0));
	return &t;
}

static void toggle(pid_t pid, unsigned int times)
{
	struct pfnl_setting_request q = PFNL_SETTING_REQUEST_INIT;
	struct pfnl *other;

	CHECK(!pfnl_open(&other));
	q.pid = (uint32_t)pid;
	for (; times; times--) {
		q.off = times & 1 ? 1 : 2;
		q.clear = 3 & ~q.off;
		CHECK(!pfnl_setting_set(other, &q, NULL));
	}
	pfnl_close(other);
}

static void check_events(void)
{
	struct told *t;
	pid_t pid = sleeper();

	CHECK(!pfnl_subscribe(h, PFNL_GROUP_CORE | PFNL_GROUP_SETTING, 0));
	CHECK(!pfnl_group_error(h, PFNL_GROUP_CORE));
	CHECK(!pfnl_group_error(h, PFNL_GROUP_SETTING));
	printf("receive buffer %zu\n", pfnl_receive_buffer(h));
	CHECK(pfnl_receive_buffer(h) >= 4 * 1024 * 1024);
	t = listen_for_a_while();
	CHECK(t->kinds[PFNL_EVENT_RESYNC_BEGIN] == 1);
	CHECK(t->kinds[PFNL_EVENT_STATE_CORE] >= 1);
	CHECK(t->kinds[PFNL_EVENT_RESYNC_END] == 1);
	toggle(pid, 5);
	end(pid);
	t = listen_for_a_while();
	CHECK(t->changes[PREFETCH_CHANGE_SET] == 5);
	CHECK(t->changes[PREFETCH_CHANGE_EXITED] == 1);
	CHECK(!t->kinds[PFNL_EVENT_LOST] && !t->kinds[PFNL_EVENT_RESYNC_END]);
	pfnl_unsubscribe(h);
}

static void check_overrun(void)
{
	struct pfnl_info before, after;
	struct told *t;
	pid_t pid = sleeper();
	uint64_t sent;
	int i;

	CHECK(!pfnl_set_receive_buffer(h, 4096));
	CHECK(!pfnl_subscribe(h, PFNL_GROUP_SETTING, 0));
	listen_for_a_while();
	CHECK(!pfnl_info(h, &before));
	toggle(pid, 3000);
	/* The module's worker may still be sending. */
	for (i = 0; i < 100; i++) {
		CHECK(!pfnl_info(h, &after));
		if (after.setting_total - before.setting_total == 3000)
			break;
		usleep(100000);
	}
	/* On a slow machine the module may lose some by itself. */
	sent = after.setting_total - before.setting_total;
	t = listen_for_a_while();
	printf("overrun: %llu changes, %u told, %llu lost, %u resyncs\n",
	       (unsigned long long)sent, t->kinds[PFNL_EVENT_SETTING],
	       (unsigned long long)t->lost, t->kinds[PFNL_EVENT_RESYNC_END]);
	CHECK(sent == 3000 && t->lost > 0);
	CHECK(t->kinds[PFNL_EVENT_SETTING] + t->lost == sent);
	CHECK(t->kinds[PFNL_EVENT_STATE_SETTING] >= 1);
	CHECK(t->reason == PFNL_RESYNC_LOST);
	/* And on it goes. */
	toggle(pid, 2);
	t = listen_for_a_while();
	CHECK(t->kinds[PFNL_EVENT_SETTING] == 2 && !t->lost);
	end(pid);
	pfnl_unsubscribe(h);
	CHECK(!pfnl_set_receive_buffer(h, 0));
}

static void unload(void)
{
	int i;

	for (i = 0; i < 100; i++) {
		if (!syscall(SYS_delete_module, "prefetch", O_NONBLOCK))
			return;
		usleep(20000);
	}
	CHECK(!"the module can be unloaded");
}

static void check_reload(void)
{
	struct pfnl_info info;
	struct told *t;
	int fd = open(module, O_RDONLY);

	if (fd < 0) {
		printf("no %s: reload skipped\n", module);
		return;
	}
	CHECK(!pfnl_subscribe(h, PFNL_GROUP_CORE | PFNL_GROUP_SETTING, 0));
	listen_for_a_while();
	unload();
	t = listen_for_a_while();
	CHECK(t->kinds[PFNL_EVENT_GONE] == 1);
	CHECK(pfnl_group_error(h, PFNL_GROUP_CORE) == -ENOENT);
	CHECK(pfnl_info(h, &info) == -ENOENT && pfnl_module_missing(h));
	pfnl_unsubscribe(h);
	CHECK(pfnl_subscribe(h, PFNL_GROUP_CORE, 0) == -ENOENT);
	CHECK(!pfnl_subscribe(h, PFNL_GROUP_CORE | PFNL_GROUP_SETTING,
			      PFNL_SUBSCRIBE_WAIT));
	t = listen_for_a_while();
	CHECK(t->kinds[PFNL_EVENT_GONE] == 1);
	CHECK(!syscall(SYS_finit_module, fd, "backend=soft", 0));
	t = listen_for_a_while();
	CHECK(t->kinds[PFNL_EVENT_BACK] == 1);
	CHECK(t->kinds[PFNL_EVENT_RESYNC_END] == 1);
	CHECK(t->reason == PFNL_RESYNC_BACK);
	CHECK(!pfnl_info(h, &info) && info.backend == PREFETCH_BACKEND_SOFT);
	toggle(getpid(), 3);
	t = listen_for_a_while();
	CHECK(t->kinds[PFNL_EVENT_SETTING] == 3);
	unload();
	CHECK(!lseek(fd, 0, SEEK_SET));
	CHECK(!syscall(SYS_finit_module, fd, "", 0));
	t = listen_for_a_while();
	CHECK(t->kinds[PFNL_EVENT_GONE] == 1);
	CHECK(t->kinds[PFNL_EVENT_BACK] == 1);
	pfnl_unsubscribe(h);
	close(fd);
}

static void check_unprivileged(void)
{
	struct pfnl_setting_request q = PFNL_SETTING_REQUEST_INIT;
	struct pfnl_core core;

	/* A new handle: the opener of a socket counts as well. */
	pfnl_close(h);
	h = NULL;
	CHECK(!setuid(1000));
	CHECK(!pfnl_open(&h));
	q.pid = 1;
	q.off = 1;
	CHECK(pfnl_setting_set(h, &q, NULL) == -EPERM);
	printf("user: %s\n", pfnl_errmsg(h));
	CHECK(pfnl_default_set(h, 1, 0, 0, NULL) == -EPERM);
	CHECK(pfnl_core_get(h, 0, true, &core) == -EPERM);
	CHECK(!strcmp(pfnl_errattr(h), "verify"));
	CHECK(!pfnl_core_get(h, 0, false, &core));
	CHECK(!core.cpus[0].has_task);
	pfnl_core_clear(&core);
	CHECK(pfnl_core_repair(h, PFNL_DOMAIN_ALL, NULL, NULL) == -EPERM);
	CHECK(pfnl_subscribe(h, PFNL_GROUP_CORE, 0) == -EPERM);
	printf("user: %s\n", pfnl_errmsg(h));
	q.pid = (uint32_t)getpid();
	CHECK(!pfnl_setting_set(h, &q, NULL));
}

static const struct {
	const char *name;
	void (*run)(void);
} checks[] = {
	{ "machine", check_machine },
	{ "settings", check_settings },
	{ "refusals", check_refusals },
	{ "pidfd", check_pidfd },
	{ "repair", check_repair },
	{ "events", check_events },
	{ "overrun", check_overrun },
	{ "reload", check_reload },
	{ "unprivileged", check_unprivileged },
	{ NULL, NULL },
};

int main(int argc, char **argv)
{
	int i;

	setvbuf(stdout, NULL, _IOLBF, 0);
	CHECK(!pfnl_open(&h));
	/* More is said to each program of the guest tests. */
	for (i = 1; i < argc; i++) {
		if (!strncmp(argv[i], "--slow=", 7))
			quiet_ms *= atoi(argv[i] + 7);
		else if (argv[i][0] != '-')
			module = argv[i];
	}
	for (i = 0; checks[i].name; i++) {
		checks[i].run();
		printf("ok live_%s\n", checks[i].name);
	}
	pfnl_close(h);
	return 0;
}
