// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * CPUs go offline and come back. Needs three cores of two: the second is the
 * one that goes as a whole, and the program lives on the third.
 */
#include "actor.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"
#include "power.h"
#include "request.h"

#define CYCLES	 25 /* of each CPU in a round of the stress */
#define ROUNDS	 4
#define REQUESTS 200 /* at least, while CPUs come and go */

/* The core that goes. */
#define CORE   1
#define FIRST  (domain_cpu(CORE))
#define SECOND (domain_cpu(CORE) + 1)

static void expect_reg(struct check *c, const struct actor *a, uint32_t want,
		       const char *when)
{
	uint64_t is = reg_of(a);

	expect(c, is == want, "%s: CPU %d shows 0x%llx, not 0x%x", when, a->cpu,
	       (unsigned long long)is, want);
}

static void expect_both(struct check *c, const struct actor *a,
			const struct actor *b, uint32_t want, const char *when)
{
	uint64_t is = reg_of_both(a, b);

	expect(c, is == want, "%s: the core shows 0x%llx, not 0x%x", when,
	       (unsigned long long)is, want);
}

static struct actor *spinner(struct check *c, int cpu, uint32_t off)
{
	struct actor *a = actor_new(cpu);

	expect(c, !set_pid(a->pid, off, 0), "set failed");
	actor_spin(a);
	return a;
}

static void take_off(struct check *c, int cpu)
{
	int err = cpu_offline(cpu);

	expect(c, !err, "CPU %d stays: %s", cpu, strerror(-err));
}

static void bring_on(struct check *c, int cpu)
{
	int err = cpu_online(cpu);

	expect(c, !err, "CPU %d does not come: %s", cpu, strerror(-err));
}

/* Its sibling goes with the task that ran there, and comes back. */
static void one_sibling(struct check *c)
{
	struct actor *a = spinner(c, FIRST, L2_STREAM);
	struct actor *b = spinner(c, SECOND, L1_IP);

	for (int i = 0; i < 5; i++) {
		expect_both(c, a, b, L2_STREAM | L1_IP, "both");
		take_off(c, SECOND);
		/* The kernel put it anywhere; its setting went with it. */
		actor_move(b, 0);
		expect_reg(c, b, L1_IP, "moved");
		expect_reg(c, a, L2_STREAM, "left alone");
		expect(c, !set_pid(b->pid, i % 2 ? L1_IP : L1_STREAM, 0),
		       "set failed");
		bring_on(c, SECOND);
		actor_move(b, SECOND);
		expect_both(c, a, b, L2_STREAM | (i % 2 ? L1_IP : L1_STREAM),
			    "together again");
		expect(c, !set_pid(b->pid, L1_IP, 0), "set failed");
	}
	/* The one that sleeps keeps the core only while it can. */
	actor_kill(a);
	actor_sleep(b);
	expect(c, core_state(CORE).held, "the core is not held");
	expect(c, reg(FIRST) == L1_IP, "held: 0x%llx",
	       (unsigned long long)reg(FIRST));
	take_off(c, SECOND);
	expect(c, reg(FIRST) == L1_IP, "held without the CPU: 0x%llx",
	       (unsigned long long)reg(FIRST));
	expect(c, !clear_pid(b->pid), "clear failed");
	expect(c, reg(FIRST) == options.baseline, "cleared: 0x%llx",
	       (unsigned long long)reg(FIRST));
	cpus_online();
}

/* Nobody is left on the core: it gets back what the firmware had there. */
static void whole_core(struct check *c)
{
	struct actor *a = spinner(c, FIRST, ALL_FOUR);

	expect(c, !set_default(L2_ADJACENT, 0), "no machine default");
	for (int i = 0; i < 5; i++) {
		expect_reg(c, a, ALL_FOUR, "set");
		/* The sibling first in one round, last in the next. */
		take_off(c, i % 2 ? FIRST : SECOND);
		if (i % 2) {
			/* It may have run on the sibling in between. */
			actor_move(a, 0);
		} else {
			expect_reg(c, a, ALL_FOUR, "alone");
			expect_in_twin(CORE, ALL_FOUR);
		}
		take_off(c, i % 2 ? SECOND : FIRST);
		expect_in_twin(CORE, options.baseline);
		actor_move(a, 0);
		expect_reg(c, a, ALL_FOUR, "elsewhere");
		expect(c, request_settings() == 1, "%ld settings",
		       request_settings());
		/* What is wanted there may change while it is away. */
		expect(c, !set_default(i % 3 ? L2_ADJACENT : L1_STREAM, 0),
		       "no machine default");
		twin_loses(1 << CORE, LOSE_NOW);
		expect_in_twin(CORE, options.baseline);
		bring_on(c, i % 2 ? SECOND : FIRST);
		expect(c,
		       reg(i % 2 ? SECOND : FIRST) ==
			       (i % 3 ? L2_ADJACENT : L1_STREAM),
		       "back: 0x%llx",
		       (unsigned long long)reg(i % 2 ? SECOND : FIRST));
		bring_on(c, i % 2 ? FIRST : SECOND);
		actor_move(a, FIRST);
		expect(c, !set_default(L2_ADJACENT, 0), "no machine default");
	}
	expect_reg(c, a, ALL_FOUR, "at home");
	expect(c, !set_default(0, 0), "the default stays");
	cpus_online();
}

static int own_register(long cpu)
{
	return (int)reg((int)cpu);
}

/* Everything on one CPU, and then everything where it was. */
static void all_but_one(struct check *c)
{
	int last = cpu_count() - 1;
	struct actor *a[16];

	for (int cpu = 0; cpu < last; cpu++)
		a[cpu] = spinner(c, cpu, 1 + cpu);
	pin(0, 0);
	for (int cpu = 1; cpu <= last; cpu++)
		take_off(c, cpu);
	for (int d = 1; d < domain_count(); d++)
		expect_in_twin(d, options.baseline);
	/* One after the other alone with this program, which wishes nothing. */
	for (int cpu = 0; cpu < last; cpu++) {
		a[cpu]->cpu = 0;
		actor_sleep(a[cpu]);
	}
	for (int cpu = 0; cpu < last; cpu++) {
		/* This program would show its own wish there: let it look. */
		int is = actor_call(a[cpu], own_register, 0);

		expect(c, is == 1 + cpu, "task %d on the last CPU: 0x%x", cpu,
		       is);
	}
	cpus_online();
	for (int cpu = 0; cpu < last; cpu++) {
		actor_move(a[cpu], cpu);
		actor_spin(a[cpu]);
	}
	for (int cpu = 0; cpu + 1 < last; cpu += 2)
		expect_both(c, a[cpu], a[cpu + 1], (1 + cpu) | (2 + cpu),
			    "back");
}

static void reload(struct check *c)
{
	int err = module_unload();

	expect(c, !err, "cannot unload: %s", strerror(-err));
	err = module_load("");
	expect(c, !err, "cannot load: %s", strerror(-err));
}

/* The module first sees a CPU, or a whole core, long after it was loaded. */
static void away_at_load(struct check *c)
{
	struct actor *a, *b;

	take_off(c, SECOND);
	reload(c);
	a = spinner(c, FIRST, L2_STREAM);
	expect_reg(c, a, L2_STREAM, "without the sibling");
	bring_on(c, SECOND);
	expect(c, info().domains == (uint32_t)domain_count(),
	       "%u cores, and there are %d", info().domains, domain_count());
	b = spinner(c, SECOND, L1_IP);
	expect_both(c, a, b, L2_STREAM | L1_IP, "with the sibling");
	take_off(c, FIRST);
	actor_move(a, 0);
	expect_reg(c, b, L1_IP, "without the first");
	actors_end();

	take_off(c, SECOND);
	reload(c);
	expect(c, info().domains == (uint32_t)domain_count() - 1,
	       "%u cores, with one of %d away", info().domains, domain_count());
	expect(c, !set_default(L1_STREAM, 0), "no machine default");
	bring_on(c, FIRST);
	expect(c, info().domains == (uint32_t)domain_count(),
	       "%u cores, and there are %d", info().domains, domain_count());
	expect(c, reg(FIRST) == L1_STREAM, "new core: 0x%llx",
	       (unsigned long long)reg(FIRST));
	a = spinner(c, FIRST, L2_STREAM);
	expect_reg(c, a, L2_STREAM | L1_STREAM, "on the new core");
	bring_on(c, SECOND);
	b = spinner(c, SECOND, L1_IP);
	expect_both(c, a, b, L2_STREAM | L1_STREAM | L1_IP, "both");
	expect(c, !set_default(0, 0), "the default stays");
	expect_both(c, a, b, L2_STREAM | L1_IP, "both without the default");
	/* What the firmware left was read then, and is put back. */
	expect(c, !module_unload(), "cannot unload");
	expect(c, reg(FIRST) == options.baseline, "unloaded: 0x%llx",
	       (unsigned long long)reg(FIRST));
	actors_end();
	cpus_online();
	expect(c, !module_load(""), "cannot load");
}

static int come_and_go(void)
{
	int last = cpu_count() - 1;
	unsigned int random = 12345;

	pin(0, 0);
	for (int i = 0; i < CYCLES * (last - 1); i++) {
		int cpu;

		random = random * 1103515245 + 12345;
		cpu = 1 + (int)(random >> 16) % (last - 1);
		/* Whichever way it is, turn it over. */
		if (cpu_offline(cpu) && cpu_online(cpu))
			return 1;
		if (i % 3 == 0 && cpu_online(cpu))
			return 1;
	}
	return 0;
}

/* The CPU may be offline, or go at any moment. */
static void try_move(const struct actor *a, int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(a->tid, sizeof(set), &set) && errno != EINVAL)
		die("cannot move %d: %s", a->tid, strerror(errno));
}

static unsigned long ask_until(struct check *c, pid_t pid, struct actor **a,
			       int n, int *status)
{
	unsigned long requests = 0;

	while (waitpid(pid, status, WNOHANG) != pid) {
		int i = (int)(requests % n);

		expect(c, !set_pid(a[i]->pid, 1 + requests % ALL_FOUR, 0),
		       "set failed");
		if (requests % 7 == 0)
			expect(c, !set_default(requests % 2 ? L1_STREAM : 0, 0),
			       "no machine default");
		if (requests % 5 == 0)
			try_move(a[i], (int)(requests % cpu_count()));
		requests++;
	}
	return requests;
}

/* Many times, under load, while settings change and tasks move. */
static void stress(struct check *c)
{
	int last = cpu_count() - 1;
	unsigned long requests = 0;
	struct actor *a[16];

	for (int i = 0; i < last; i++)
		a[i] = spinner(c, i, 1);
	actor_mode(a[last - 1], ACTOR_YIELD, 0);
	for (int round = 0; round < ROUNDS; round++) {
		int status = -1;
		pid_t pid = fork();

		if (pid < 0)
			die("cannot fork: %s", strerror(errno));
		if (!pid)
			_exit(come_and_go());
		requests += ask_until(c, pid, a, last, &status);
		expect(c, !status, "a CPU neither goes nor comes");
		cpus_online();
		expect(c, !set_default(0, 0), "the default stays");
		for (int i = 0; i < last; i++) {
			actor_move(a[i], i);
			expect(c, !set_pid(a[i]->pid, 1 + i, 0), "set failed");
			actor_spin(a[i]);
		}
		for (int i = 0; i + 1 < last; i += 2)
			expect_both(c, a[i], a[i + 1], (1 + i) | (2 + i),
				    "at rest");
		expect(c, request_settings() == last, "%ld settings, not %d",
		       request_settings(), last);
	}
	expect(c, requests >= REQUESTS, "only %lu requests", requests);
	printf("figure %s turns=%d requests=%lu\n", c->name,
	       ROUNDS * CYCLES * (last - 1), requests);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "hotplug_sibling", one_sibling },
		{ "hotplug_core", whole_core },
		{ "hotplug_all_but_one", all_but_one },
		{ "hotplug_away_at_load", away_at_load },
		{ "hotplug_stress", stress },
	};

	return harness_main(argc, argv, tests, ARRAY_SIZE(tests));
}
