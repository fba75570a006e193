// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Requests, forks, new threads, exits and moves at the same time, best on CPUs
 * that really run in parallel. After each round everybody stops, and what is
 * there then must be exactly what was asked for.
 */
#include "actor.h"

#include <errno.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"
#include "request.h"

#define ROUNDS ((int)rounds_of(20))
#define TIMES  50 /* what each does in a round */

/* Each of these runs in an actor, and returns the number of failures. */

static int ask(struct pfnl *h, pid_t pid, pid_t tid, uint32_t off)
{
	struct pfnl_setting_request r = PFNL_SETTING_REQUEST_INIT;

	r.pid = pid;
	r.tid = tid;
	r.off = off;
	r.clear = ALL_FOUR & ~off;
	return pfnl_setting_set(h, &r, NULL);
}

/* Changes and clears the setting of a process, and leaves it changed. */
static int toggle(long pid)
{
	struct pfnl *h;
	int failed = 0;

	if (pfnl_open(&h))
		return 1;
	for (uint32_t i = 0; i < TIMES; i++) {
		failed += !!ask(h, pid, 0, 1 + i % ALL_FOUR);
		failed += !!ask(h, pid, 0, 0);
	}
	failed += !!ask(h, pid, 0, L2_ADJACENT | L1_IP);
	pfnl_close(h);
	return failed;
}

/* Children that inherit, and are gone again. */
static int beget(long arg)
{
	int failed = 0;

	(void)arg;
	for (int i = 0; i < TIMES; i++) {
		pid_t pid = fork();

		if (!pid)
			_exit(0);
		/* SIGCHLD is ignored, so this waits, and reaps nobody. */
		failed += pid < 0 ||
			  (waitpid(pid, NULL, 0) < 0 && errno != ECHILD);
	}
	return failed;
}

static void *short_life(void *arg)
{
	struct pfnl *h;
	long failed = 1;

	(void)arg;
	if (!pfnl_open(&h)) {
		failed = !!ask(h, 0, (pid_t)syscall(SYS_gettid), L1_STREAM);
		pfnl_close(h);
	}
	return (void *)failed;
}

/* Threads that give themselves a setting, and take it with them. */
static int threads(long arg)
{
	int failed = 0;

	(void)arg;
	for (int i = 0; i < TIMES; i++) {
		pthread_t t[2];
		void *result;

		for (int k = 0; k < 2; k++)
			if (pthread_create(&t[k], NULL, short_life, NULL))
				return failed + 1;
		for (int k = 0; k < 2; k++)
			failed += pthread_join(t[k], &result) || result;
	}
	return failed;
}

static void start(struct actor *a, int (*call)(long arg), long arg)
{
	a->call = call;
	actor_mode(a, ACTOR_CALL, arg);
}

static void all_at_once(struct check *c)
{
	int cpus = cpu_count();
	struct actor *spinner = actor_new(0);
	struct actor *toggler = actor_new(1);
	struct actor *parent = actor_new(2 % cpus);
	struct actor *crowd = actor_new(1);
	struct actor *mover = actor_new(0);
	uint32_t want = L2_ADJACENT | L1_IP;

	expect(c, !set_pid_inherit(parent->pid, L2_STREAM, 0), "set failed");
	expect(c, !set_tid(mover->tid, ALL_FOUR, 0), "set failed");
	for (int i = 0; i < ROUNDS; i++) {
		actor_spin(spinner);
		start(toggler, toggle, spinner->pid);
		start(parent, beget, 0);
		start(crowd, threads, 0);
		actor_mode(mover, ACTOR_MOVE, 4 * TIMES);
		actor_finish(mover);
		actor_done(toggler);
		actor_done(parent);
		actor_done(crowd);
		expect(c, !toggler->result, "%d requests failed",
		       toggler->result);
		expect(c, !parent->result, "%d forks failed", parent->result);
		expect(c, !crowd->result, "%d threads failed", crowd->result);
		expect(c, reg_of(spinner) == want,
		       "round %d: register is 0x%llx, not 0x%x", i,
		       (unsigned long long)reg_of(spinner), want);
		expect(c, wait_for(request_settings() == 3),
		       "round %d: %ld settings, not 3", i, request_settings());
		/* All but this program asleep: its core is at the default. */
		expect(c, wait_for(reg(home_cpu()) == options.baseline),
		       "round %d: home shows 0x%llx", i,
		       (unsigned long long)reg(home_cpu()));
	}
}

/* Everybody is killed in the middle of it. */
static void all_killed(struct check *c)
{
	for (int i = 0; i < ROUNDS; i++) {
		struct actor *spinner = actor_new(0);
		struct actor *parent = actor_new(0);
		struct actor *crowd = actor_new(1);
		struct actor *mover = actor_new(1);

		expect(c, !set_pid_inherit(parent->pid, L2_STREAM, 0),
		       "set failed");
		expect(c, !set_pid(mover->pid, ALL_FOUR, 0), "set failed");
		expect(c, !set_pid(spinner->pid, L1_IP, 0), "set failed");
		actor_spin(spinner);
		start(parent, beget, 0);
		start(crowd, threads, 0);
		actor_mode(mover, ACTOR_MOVE, 100000);
		expect(c, actor_runs(mover), "nobody moves");
		actors_end();
		expect(c, request_settings() == 0, "round %d: %ld settings", i,
		       request_settings());
		for (int cpu = 0; cpu < cpu_count(); cpu++)
			expect(c, reg(cpu) == options.baseline,
			       "round %d: CPU %d shows 0x%llx", i, cpu,
			       (unsigned long long)reg(cpu));
	}
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "race_all_at_once", all_at_once },
		{ "race_all_killed", all_killed },
	};

	return harness_main(argc, argv, tests, ARRAY_SIZE(tests));
}
