// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Targets in odd states: stopped, traced, frozen, dead, kernel threads, the
 * first process, one that leaves its CPU to nobody.
 */
#include "actor.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"
#include "request.h"

#define GROUPS "/tmp/groups"
#define GROUP  GROUPS "/cold"

/*
 * Somebody who does not run although he would: what is asked of him meanwhile
 * is taken, is told, stands in no register, and counts once he runs again.
 */
static void while_halted(struct check *c, struct actor *a, const char *how)
{
	int cpu = a->cpu;

	/* His core is held for him, as for one that sleeps. */
	expect(c, core_state(0).held, "%s: the core is not held", how);
	expect(c, reg(cpu) == L2_STREAM, "%s: 0x%llx", how,
	       (unsigned long long)reg(cpu));
	expect(c, !set_pid(a->pid, L1_IP, 0), "%s: set failed", how);
	expect(c, get_pid(a->pid).off == L1_IP, "%s: get has 0x%x", how,
	       get_pid(a->pid).off);
	expect(c, reg(cpu) == options.baseline, "%s, changed: 0x%llx", how,
	       (unsigned long long)reg(cpu));
	expect(c, !set_tid(a->tid, L1_STREAM, 0), "%s: set tid failed", how);
	expect(c, get_tid(a->tid).off == L1_STREAM, "%s: get tid has 0x%x", how,
	       get_tid(a->tid).off);
	expect(c, !clear_pid(a->pid), "%s: clear failed", how);
	expect(c, request_settings() == 1, "%s: %ld settings", how,
	       request_settings());
}

static struct actor *spinner(struct check *c)
{
	struct actor *a = actor_new(domain_cpu(0));

	expect(c, !set_pid(a->pid, L2_STREAM, 0), "set failed");
	actor_spin(a);
	expect(c, reg_of(a) == L2_STREAM, "set: 0x%llx",
	       (unsigned long long)reg_of(a));
	return a;
}

static void runs_again(struct check *c, struct actor *a, const char *how)
{
	expect(c, actor_runs(a), "%s: it does not run again", how);
	expect(c, reg_of(a) == L1_STREAM, "%s, runs again: 0x%llx", how,
	       (unsigned long long)reg_of(a));
	expect(c, !clear_tid(a->tid), "%s: clear failed", how);
	expect(c, reg_of(a) == options.baseline, "%s, cleared: 0x%llx", how,
	       (unsigned long long)reg_of(a));
	actor_kill(a);
}

/* Off its CPU for good: its state says so a little before it is true. */
static bool has_left(const struct actor *a, char state)
{
	if (task_state(a->tid) != state)
		return false;
	return wait_within(patience_ms, core_state(0).held);
}

static void stopped(struct check *c)
{
	struct actor *a = spinner(c);

	kill(a->pid, SIGSTOP);
	expect(c, wait_for(has_left(a, 'T')), "it does not stop");
	while_halted(c, a, "stopped");
	kill(a->pid, SIGCONT);
	runs_again(c, a, "stopped");
}

static void traced(struct check *c)
{
	struct actor *a = spinner(c);

	if (ptrace(PTRACE_SEIZE, a->tid, NULL, NULL) ||
	    ptrace(PTRACE_INTERRUPT, a->tid, NULL, NULL))
		die("cannot trace: %s", strerror(errno));
	expect(c, waitpid(a->tid, NULL, __WALL) == a->tid, "no stop");
	expect(c, wait_for(has_left(a, 't')), "it does not stop");
	while_halted(c, a, "traced");
	if (ptrace(PTRACE_DETACH, a->tid, NULL, NULL))
		die("cannot detach: %s", strerror(errno));
	runs_again(c, a, "traced");
}

static void move_to_group(const char *group, pid_t pid)
{
	char path[64], text[16];

	snprintf(path, sizeof(path), "%s/cgroup.procs", group);
	snprintf(text, sizeof(text), "%d", pid);
	write_text(path, text);
}

static void frozen(struct check *c)
{
	struct actor *a;

	mkdir(GROUPS, 0755);
	if (mount("none", GROUPS, "cgroup2", 0, NULL)) {
		skip(c, "no cgroup2: %s", strerror(errno));
		return;
	}
	if (mkdir(GROUP, 0755))
		die("cannot make a group: %s", strerror(errno));
	a = spinner(c);
	move_to_group(GROUP, a->pid);
	write_text(GROUP "/cgroup.freeze", "1");
	expect(c, wait_for(read_field(GROUP "/cgroup.events", "frozen") == 1),
	       "it does not freeze");
	expect(c, wait_for(core_state(0).held), "it stays on its CPU");
	while_halted(c, a, "frozen");
	write_text(GROUP "/cgroup.freeze", "0");
	runs_again(c, a, "frozen");
	expect(c, wait_for(!rmdir(GROUP)), "the group stays");
	if (umount(GROUPS))
		die("cannot unmount: %s", strerror(errno));
}

/* Dead and not yet reaped: there is nothing to ask of it. */
static void zombie(struct check *c)
{
	struct actor *a = spinner(c);
	struct pfnl_setting s;
	siginfo_t dead;
	int err;

	kill(a->pid, SIGKILL);
	if (waitid(P_PID, a->pid, &dead, WEXITED | WNOWAIT))
		die("it does not die: %s", strerror(errno));
	expect(c, task_state(a->pid) == 'Z', "no zombie");
	expect(c, request_settings() == 0, "its setting is still there");
	expect(c, wait_for(reg(a->cpu) == options.baseline), "its mask: 0x%llx",
	       (unsigned long long)reg(a->cpu));
	err = set_pid(a->pid, L1_IP, 0);
	expect(c, err == -ESRCH, "set pid: %d, not ESRCH", err);
	err = set_tid(a->pid, L1_IP, 0);
	expect(c, err == -ESRCH, "set tid: %d, not ESRCH", err);
	err = clear_pid(a->pid);
	expect(c, err == -ESRCH, "clear: %d, not ESRCH", err);
	err = pfnl_setting_get(handle(), a->pid, 0, &s);
	expect(c, err == -ESRCH || (!err && !s.present), "get: %d", err);
	expect(c, request_settings() == 0, "it got a setting");
	actor_kill(a);
}

/* The thread of the kernel with this name. */
static pid_t find_kthread(const char *name)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	pid_t found = 0;

	if (!dir)
		die("cannot read /proc: %s", strerror(errno));
	while (!found && (entry = readdir(dir))) {
		pid_t pid = atoi(entry->d_name);
		struct pfnl_setting s;

		if (pid > 0 && !pfnl_setting_get(handle(), pid, 0, &s) &&
		    !strcmp(s.comm, name))
			found = pid;
	}
	closedir(dir);
	if (!found)
		die("there is no %s", name);
	return found;
}

/*
 * The stopper of a CPU runs whenever a running task has to leave it. Then the
 * CPU has nothing to do, and the core is held for what ran last.
 */
static void kernel_thread(struct check *c)
{
	pid_t stopper = find_kthread("migration/0");
	int err = set_tid(stopper, L1_STREAM, 0);

	expect(c, !err, "set tid: %d", err);
	err = set_pid(stopper, L1_IP, 0);
	expect(c, !err, "set pid: %d", err);
	expect(c, get_tid(stopper).off == L1_STREAM, "get tid: 0x%x",
	       get_tid(stopper).off);
	expect(c, get_pid(stopper).off == L1_IP, "get pid: 0x%x",
	       get_pid(stopper).off);
	for (int i = 0; i < 5; i++) {
		struct actor *a = actor_new(0);

		actor_spin(a);
		expect(c, reg_of(a) == options.baseline, "0x%llx",
		       (unsigned long long)reg_of(a));
		actor_move(a, home_cpu());
		expect(c, wait_for(reg(0) == (L1_STREAM | L1_IP)),
		       "after the stopper ran: 0x%llx",
		       (unsigned long long)reg(0));
		actor_kill(a);
	}
	expect(c, !clear_tid(stopper), "clear tid failed");
	expect(c, !clear_pid(stopper), "clear pid failed");
	expect(c, reg(0) == options.baseline, "cleared: 0x%llx",
	       (unsigned long long)reg(0));
}

static int set_as_user(long pid)
{
	struct pfnl_setting_request r = PFNL_SETTING_REQUEST_INIT;
	struct pfnl *h;
	int err = pfnl_open(&h);

	r.pid = pid;
	r.off = L1_IP;
	if (!err)
		err = pfnl_setting_set(h, &r, NULL);
	pfnl_close(h);
	return -err;
}

static void first_process(struct check *c)
{
	struct actor *user = actor_new(domain_cpu(0));
	int err = set_pid(1, L1_STREAM, 0);

	expect(c, !err, "set pid 1: %d", err);
	err = set_tid(1, L1_IP, 0);
	expect(c, !err, "set tid 1: %d", err);
	expect(c, get_pid(1).off == L1_STREAM, "get: 0x%x", get_pid(1).off);
	expect(c, get_tid(1).wish_off == (L1_STREAM | L1_IP), "wish: 0x%x",
	       get_tid(1).wish_off);
	expect(c, !clear_tid(1), "clear tid failed");
	expect(c, !clear_pid(1), "clear pid failed");
	expect(c, !get_pid(1).present, "the setting stays");
	if (actor_once(user, ACTOR_SETUID, 1000))
		die("cannot become a user");
	err = actor_call(user, set_as_user, 1);
	expect(c, err == EPERM, "a user sets pid 1: %d, not EPERM", err);
	expect(c, request_settings() == 0, "pid 1 has a setting of a user");
}

/* It never lets anybody else run, and still learns everything at once. */
static void realtime(struct check *c)
{
	const struct sched_param p = { .sched_priority = 50 };
	struct actor *a = actor_new(domain_cpu(0));

	actor_spin(a);
	if (sched_setscheduler(a->tid, SCHED_FIFO, &p))
		die("no SCHED_FIFO: %s", strerror(errno));
	for (uint32_t i = 0; i < 200; i++) {
		uint32_t mask = 1 + i % ALL_FOUR;
		unsigned long before = before_request(a);
		uint64_t is;

		expect(c, !(i % 2 ? set_tid : set_pid)(a->pid, mask, 0),
		       "set failed");
		is = at_once(a, before, mask);
		expect(c, is == mask, "set: 0x%llx, not 0x%x",
		       (unsigned long long)is, mask);
		before = before_request(a);
		expect(c, !(i % 2 ? clear_tid : clear_pid)(a->pid),
		       "clear failed");
		is = at_once(a, before, options.baseline);
		expect(c, is == options.baseline, "cleared: 0x%llx",
		       (unsigned long long)is);
	}
	expect(c, sched_getscheduler(a->tid) == SCHED_FIFO, "not SCHED_FIFO");
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "targets_stopped", stopped },
		{ "targets_traced", traced },
		{ "targets_frozen", frozen },
		{ "targets_zombie", zombie },
		{ "targets_kernel_thread", kernel_thread },
		{ "targets_first_process", first_process },
		{ "targets_realtime", realtime },
	};

	return harness_main(argc, argv, tests, ARRAY_SIZE(tests));
}
