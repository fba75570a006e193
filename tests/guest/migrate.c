// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tasks that are moved among all CPUs by force, each with a mask of its own,
 * while other tasks wait on each CPU to take its place. What the registers must
 * show, and in which order, is for the judge to say; here is only seen that it
 * happened, and that it ends well.
 */
#include "actor.h"
#include "harness.h"
#include "request.h"

#define MOVERS 3

static void forced(struct check *c)
{
	long moves = (long)rounds_of(2400);
	struct actor *still[64];
	struct actor *mover[MOVERS];
	uint64_t writes = info().register_writes;
	int cpus = cpu_count();

	/* Without a setting, so each time they get the CPU the mask goes. */
	for (int cpu = 0; cpu < cpus; cpu++) {
		still[cpu] = actor_new(cpu);
		actor_mode(still[cpu], ACTOR_YIELD, 0);
	}
	for (int i = 0; i < MOVERS; i++)
		mover[i] = actor_new(i % cpus);
	expect(c, !set_pid(mover[0]->pid, L2_STREAM, 0), "set failed");
	expect(c, !set_tid(mover[1]->tid, L1_IP | L1_STREAM, 0), "set failed");
	expect(c, !set_pid(mover[2]->pid, L2_STREAM, 0), "set failed");
	expect(c, !set_tid(mover[2]->tid, L2_ADJACENT, L2_STREAM),
	       "set failed");
	for (int i = 0; i < MOVERS; i++)
		actor_mode(mover[i], ACTOR_MOVE, moves);
	for (int i = 0; i < MOVERS; i++) {
		actor_finish(mover[i]);
		expect(c, mover[i]->rounds == (unsigned long)moves,
		       "%lu moves, not %ld", mover[i]->rounds, moves);
	}
	writes = info().register_writes - writes;
	printf("figure %s moves=%ld writes=%llu\n", c->name, MOVERS * moves,
	       (unsigned long long)writes);
	expect(c, writes >= (uint64_t)moves, "only %llu register writes",
	       (unsigned long long)writes);
	/* One of them once more, to see that it is right where it is now. */
	for (int cpu = 0; cpu < cpus; cpu++)
		actor_sleep(still[cpu]);
	actor_spin(mover[2]);
	expect(c, wait_for(reg(mover[2]->cpu) == L2_ADJACENT),
	       "the last one has 0x%llx",
	       (unsigned long long)reg(mover[2]->cpu));
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "migrate_forced", forced },
	};

	return harness_main(argc, argv, tests, ARRAY_SIZE(tests));
}
