// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A setting dies with its task, and never reaches a task that gets its pid.
 */
#include "actor.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"
#include "request.h"

#define THREADS	  100
#define PID_MAX	  "/proc/sys/kernel/pid_max"
#define PIDS_FREE 150

static void kill_threads(struct check *c)
{
	struct actor *leader = actor_new(0);
	struct actor *t[THREADS];

	for (int i = 1; i < THREADS; i++)
		t[i] = actor_thread(leader, i % cpu_count());
	t[0] = leader;
	expect(c, !set_pid_inherit(leader->pid, L2_STREAM, 0), "set failed");
	for (int i = 0; i < THREADS; i++)
		expect(c, !set_tid(t[i]->tid, 1 + i % ALL_FOUR, 0),
		       "set failed");
	expect(c, request_settings() == THREADS + 1, "%ld settings",
	       request_settings());
	/* Some run, most sleep, as in a server. */
	for (int i = 4; i < 10; i++)
		actor_spin(t[i]);
	expect(c, reg(domain_cpu(0)) != 0, "no register shows a mask");
	actor_kill(leader);
	expect(c, request_settings() == 0, "%ld settings are left",
	       request_settings());
	for (int cpu = 0; cpu < cpu_count(); cpu++)
		expect(c, reg(cpu) == 0, "register of CPU %d is 0x%llx", cpu,
		       (unsigned long long)reg(cpu));
}

static int idler(void *arg)
{
	(void)arg;
	for (;;)
		syscall(SYS_pause);
	return 0;
}

/* A process that costs little: it shares our memory, and does nothing. */
static pid_t start_idler(void)
{
	static char stack[16384] __attribute__((aligned(16)));
	pid_t pid =
		clone(idler, stack + sizeof(stack), CLONE_VM | SIGCHLD, NULL);

	if (pid < 0)
		die("cannot clone: %s", strerror(errno));
	return pid;
}

static void end_idler(pid_t pid)
{
	kill(pid, SIGKILL);
	if (waitpid(pid, NULL, 0) != pid)
		die("cannot reap %d: %s", pid, strerror(errno));
}

static void set_plain(struct check *c, pid_t pid, pid_t tid, uint32_t off,
		      int inherit)
{
	struct pfnl_setting_request r = PFNL_SETTING_REQUEST_INIT;
	int err;

	r.pid = pid;
	r.tid = tid;
	r.off = off;
	r.inherit = inherit;
	err = pfnl_setting_set(handle(), &r, NULL);
	expect(c, !err, "set of pid %d, tid %d: %d", pid, tid, err);
}

static void expect_fresh(struct check *c, pid_t pid)
{
	struct pfnl_setting p = get_pid(pid), t = get_tid(pid);

	expect(c, !p.present && !p.wish_off, "new process %d has off=0x%x", pid,
	       p.off | p.wish_off);
	expect(c, !t.present && !t.wish_off, "new thread %d has off=0x%x", pid,
	       t.off | t.wish_off);
}

/*
 * With few pids to give out each comes back soon. Every process that gets one
 * must be without a setting, leaves with one, and its successor is next.
 */
static void pid_reuse(struct check *c)
{
	static unsigned int had[65536];
	unsigned long rounds = rounds_of(10000);
	unsigned long reused = 0;
	long before = read_number(PID_MAX);
	long limit = getpid() + PIDS_FREE;
	char text[16];

	/* The kernel gives out no pid below 300 again, and wants room. */
	if (limit < 300 + PIDS_FREE)
		limit = 300 + PIDS_FREE;
	snprintf(text, sizeof(text), "%ld", limit);
	write_text(PID_MAX, text);
	for (unsigned long i = 0; i < rounds; i++) {
		pid_t pid = start_idler();

		if (pid >= (pid_t)ARRAY_SIZE(had))
			die("pid %d is above the limit of %ld", pid, limit);
		reused += !!had[pid]++;
		expect_fresh(c, pid);
		if (i % 3 != 1)
			set_plain(c, pid, 0, ALL_FOUR, i % 2);
		if (i % 3 != 0)
			set_plain(c, 0, pid, L1_IP, -1);
		end_idler(pid);
	}
	snprintf(text, sizeof(text), "%ld", before);
	write_text(PID_MAX, text);
	expect(c, request_settings() == 0, "%ld settings are left",
	       request_settings());
	/* All but the first time of each. */
	expect(c, reused + (unsigned long)limit >= rounds,
	       "only %lu of %lu pids came back", reused, rounds);
	printf("figure %s rounds=%lu reused=%lu\n", c->name, rounds, reused);
}

/* One that ends by itself, with its core held for it and another one busy. */
static void thread_exit(struct check *c)
{
	struct actor *leader = actor_new(domain_cpu(1));
	struct actor *t = actor_thread(leader, domain_cpu(0));

	for (int i = 0; i < 10; i++) {
		expect(c, !set_tid(t->tid, L1_STREAM, 0), "set failed");
		actor_spin(t);
		expect(c, reg_of(t) == L1_STREAM, "not set");
		actor_exit_thread(t);
		expect(c, request_settings() == 0, "the setting outlives it");
		expect(c, reg(domain_cpu(0)) == 0, "register is 0x%llx",
		       (unsigned long long)reg(domain_cpu(0)));
		t = actor_thread(leader, domain_cpu(0));
		expect(c, !get_tid(t->tid).present, "the next one has it");
	}
}

/* The process lives on without its first thread, and so does its setting. */
static int leave(long arg)
{
	(void)arg;
	syscall(SYS_exit, 0);
	return 0;
}

static void leader_exit(struct check *c)
{
	struct actor *leader = actor_new(domain_cpu(0));
	struct actor *t = actor_thread(leader, domain_cpu(0));
	pid_t pid = leader->pid;

	expect(c, !set_pid(pid, L2_ADJACENT, 0), "set pid failed");
	expect(c, !set_tid(pid, L1_IP, 0), "set tid failed");
	leader->call = leave;
	actor_mode(leader, ACTOR_CALL, 0);
	expect(c, wait_for(task_state(pid) == 'Z'), "the leader stays");
	expect(c, request_settings() == 1, "%ld settings, not 1",
	       request_settings());
	expect(c, get_pid(pid).off == L2_ADJACENT, "the process lost its own");
	actor_spin(t);
	expect(c, reg_of(t) == L2_ADJACENT, "register is 0x%llx",
	       (unsigned long long)reg_of(t));
	actor_kill(t);
	expect(c, request_settings() == 0, "the setting outlives the process");
	expect(c, reg(domain_cpu(0)) == 0, "the mask outlives the process");
}

/* Dead and not yet reaped: nothing to set any more. */
static void zombie(struct check *c)
{
	pid_t pid = start_idler();
	int err;

	kill(pid, SIGKILL);
	expect(c, wait_for(task_state(pid) == 'Z'), "no zombie");
	err = set_pid(pid, L1_IP, 0);
	expect(c, err == -ESRCH, "set of a dead process: %d, not ESRCH", err);
	err = set_tid(pid, L1_IP, 0);
	expect(c, err == -ESRCH, "set of a dead thread: %d, not ESRCH", err);
	expect(c, request_settings() == 0, "it left a setting");
	if (waitpid(pid, NULL, 0) != pid)
		die("cannot reap %d: %s", pid, strerror(errno));
	err = set_pid(pid, L1_IP, 0);
	expect(c, err == -ESRCH, "set of no process: %d, not ESRCH", err);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "exits_kill_100_threads", kill_threads },
		{ "exits_thread", thread_exit },
		{ "exits_leader", leader_exit },
		{ "exits_zombie", zombie },
		{ "exits_pid_reuse", pid_reuse },
	};

	return harness_main(argc, argv, tests, ARRAY_SIZE(tests));
}
