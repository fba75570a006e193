// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tasks that run and never sleep get a new mask at once, where they are.
 *
 * The answer to the request is there before the register is looked at, and
 * nothing is waited for. That the task was not switched out meanwhile is seen
 * from the kernel's counters; a tick or a kernel thread may do that at any
 * time, so it is asked of some rounds and not of each.
 */
#include "actor.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "harness.h"
#include "request.h"

#define ROUNDS	((int)rounds_of(200))
#define MOST	1000
#define THREADS 8

/* In so many of the rounds none may lose its CPU, or nothing is shown. */
#define LEAST	   ((int)rounds_of(ROUNDS / 4))
#define LEAST_OF_8 ((int)rounds_of(10))

static void spinning(struct check *c)
{
	struct actor *a = actor_new(domain_cpu(0));
	int stayed = 0, rounds = 0;

	actor_spin(a);
	/* With PREEMPT_RT, kernel threads do more of the kernel's work. */
	for (int i = 0; i < ROUNDS || (stayed < LEAST && i < MOST); i++) {
		uint32_t mask = 1 + i % ALL_FOUR;
		unsigned long before = before_request(a);
		uint64_t is;
		int err;

		if (i % 2)
			err = set_pid(a->pid, mask, 0);
		else
			err = set_tid(a->tid, mask, ALL_FOUR & ~mask);
		expect(c, !err, "set failed: %d", err);
		/* The thread's opinions are complete from the start. */
		if (i % 2)
			continue;
		rounds++;
		is = at_once(a, before, mask);
		expect(c, is == mask, "register is 0x%llx, not 0x%x",
		       (unsigned long long)is, mask);
		if (task_switches(a->tid) == before)
			stayed++;
	}
	expect(c, !clear_tid(a->tid), "clear failed");
	expect(c, reg_of(a) == get_pid(a->pid).off,
	       "the setting of the process does not come through");
	expect(c, !clear_pid(a->pid), "clear failed");
	expect(c, reg_of(a) == 0, "cleared, and register is 0x%llx",
	       (unsigned long long)reg_of(a));
	expect(c, stayed >= LEAST,
	       "only in %d of %d rounds it was not switched out", stayed,
	       rounds);
	expect(c, actor_runs(a), "it does not run any more");
	printf("figure %s rounds=%d stayed=%d\n", c->name, rounds, stayed);
}

static unsigned long all_switches(struct actor *const *t, int cpu)
{
	unsigned long sum = 0;

	for (int i = 0; i < THREADS; i++)
		if (t[i]->cpu == cpu)
			sum += task_switches(t[i]->tid);
	return sum;
}

/*
 * Where the kernel lets tasks choose, each turn takes a tenth of a second, so
 * that even a slow kernel gets through a request in less; others ignore it.
 */
static void take_long_turns(const struct actor *a)
{
	const struct {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime, deadline, period;
	} attr = { .size = sizeof(attr),
		   .policy = SCHED_OTHER,
		   .runtime = 100 * 1000 * 1000 };

	if (syscall(SYS_sched_setattr, a->tid, &attr, 0))
		die("sched_setattr: %s", strerror(errno));
}

/*
 * At once on the first core. On the second one this program runs as well, and
 * beside it may be a kernel thread for a moment.
 */
static void expect_all(struct check *c, uint32_t mask)
{
	for (int cpu = 0; cpu < cpu_count(); cpu++) {
		uint64_t is = reg(cpu);

		if (is != mask && domain_of(cpu) == domain_of(home_cpu()))
			wait_for((is = reg(cpu)) == mask);
		expect(c, is == mask, "register of CPU %d is 0x%llx, not 0x%x",
		       cpu, (unsigned long long)is, mask);
	}
}

/*
 * Two on each of four CPUs. The first core has nothing else to do, so that what
 * it shows comes from these tasks; the second one also runs this program.
 */
static void eight_threads(struct check *c)
{
	struct actor *t[THREADS];
	int cpus = cpu_count();
	int stayed = 0, rounds;
	uint32_t mask = 0;
	uint64_t is;

	t[0] = actor_new(0);
	for (int i = 1; i < THREADS; i++)
		t[i] = actor_thread(t[0], i % cpus);
	for (int i = 0; i < THREADS; i++) {
		if (t[i]->cpu == 0)
			take_long_turns(t[i]);
		actor_mode(t[i], ACTOR_SPIN, 0);
	}
	for (int i = 0; i < THREADS; i++)
		expect(c, actor_runs(t[i]), "thread %d does not run", i);
	/*
	 * Two share a CPU, so it takes some luck, and this program must not
	 * wait for the others' turns on its own; but not for ever.
	 */
	setpriority(PRIO_PROCESS, 0, -20);
	for (rounds = 0;
	     rounds < ROUNDS || (stayed < LEAST_OF_8 && rounds < MOST);
	     rounds++) {
		unsigned long before = all_switches(t, 0);

		mask = 1 + rounds % ALL_FOUR;
		expect(c, !set_pid(t[0]->pid, mask, 0), "set failed");
		is = reg(0);
		if (all_switches(t, 0) == before)
			stayed++;
		expect(c, is == mask, "register is 0x%llx, not 0x%x",
		       (unsigned long long)is, mask);
		expect_all(c, mask);
	}
	setpriority(PRIO_PROCESS, 0, 0);
	for (int i = 0; i < THREADS; i++)
		expect(c, actor_runs(t[i]), "thread %d stopped", i);
	expect(c, stayed >= LEAST_OF_8,
	       "only in %d of %d rounds CPU 0 did not switch", stayed, ROUNDS);
	expect(c, !clear_pid(t[0]->pid), "clear failed");
	expect_all(c, 0);
	printf("figure %s rounds=%d stayed=%d\n", c->name, rounds, stayed);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "running_spinner", spinning },
		{ "running_eight_threads", eight_threads },
	};

	return harness_main(argc, argv, tests, ARRAY_SIZE(tests));
}
