// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Hold: a core whose last task with a wish sleeps keeps its mask, until that
 * task's setting goes.
 */
#include "actor.h"
#include "harness.h"
#include "request.h"

static int cpu(void)
{
	return domain_cpu(0);
}

static void expect_value(struct check *c, uint64_t is, uint32_t want,
			 const char *what)
{
	expect(c, is == want, "%s: register is 0x%llx, not 0x%x", what,
	       (unsigned long long)is, want);
}

static void expect_reg(struct check *c, uint32_t want, const char *what)
{
	expect_value(c, reg(cpu()), want, what);
}

/* While the actor has its CPU. */
static void expect_reg_of(struct check *c, const struct actor *a, uint32_t want,
			  const char *what)
{
	expect_value(c, reg_of(a), want, what);
}

/* A task that sleeps on the first core, which is held for it. */
static struct actor *held_actor(struct check *c, uint32_t off)
{
	struct actor *a = actor_new(cpu());

	expect(c, !set_pid(a->pid, off, 0), "set failed");
	actor_spin(a);
	expect_reg_of(c, a, off, "running");
	actor_sleep(a);
	expect_reg(c, off, "asleep");
	expect(c, core_state(0).held, "the core is not marked as held");
	return a;
}

static void alone(struct check *c)
{
	unsigned long rounds = rounds_of(10000);
	struct actor *a = actor_new(cpu());
	uint64_t writes = core_state(0).writes;
	unsigned long sleeps = task_sleeps(a->tid);
	struct span span = span_begin(c->name);

	expect(c, !set_pid(a->pid, L1_IP, 0), "set failed");
	actor_mode(a, ACTOR_NAP, 0);
	while (task_sleeps(a->tid) < sleeps + rounds && actor_runs(a))
		expect_reg(c, L1_IP, "between naps");
	sleeps = task_sleeps(a->tid) - sleeps;
	span_end(&span, 0, 1, 2);
	writes = core_state(0).writes - writes;
	expect(c, sleeps >= rounds, "it slept only %lu times", sleeps);
	expect(c, writes <= 2, "%llu register writes",
	       (unsigned long long)writes);
	printf("figure %s sleeps=%lu writes=%llu\n", c->name, sleeps,
	       (unsigned long long)writes);
}

static void busy_sibling(struct check *c)
{
	struct actor *a = actor_new(cpu());
	struct actor *b = actor_new(cpu() + 1);

	expect(c, !set_pid(a->pid, L1_IP, 0), "set failed");
	actor_spin(b);
	for (int i = 0; i < 50; i++) {
		actor_spin(a);
		expect_reg_of(c, a, L1_IP, "beside a sibling");
		actor_sleep(a);
		expect_reg_of(c, b, 0, "asleep beside a sibling");
		expect(c, !core_state(0).held,
		       "held, with a sibling that runs");
	}
	/* The last one that had a wish counts. */
	actor_spin(a);
	actor_sleep(b);
	expect_reg(c, L1_IP, "the sibling sleeps");
	actor_sleep(a);
	expect_reg(c, L1_IP, "both asleep");
	expect(c, core_state(0).held, "both asleep, and not held");
	actor_spin(b);
	expect_reg_of(c, b, 0, "the other one wakes up");
}

static void clear(struct check *c)
{
	struct actor *a;

	for (int i = 0; i < 20; i++) {
		a = held_actor(c, L2_ADJACENT);
		expect(c, !clear_pid(a->pid), "clear failed");
		expect_reg(c, 0, "cleared");
		actor_kill(a);
	}
}

static void killed(struct check *c)
{
	for (int i = 0; i < 20; i++) {
		struct actor *a = held_actor(c, L2_ADJACENT | L1_IP);

		actor_kill(a);
		expect_reg(c, 0, "killed");
	}
}

/* The core is brought to the default; the task has it when it runs again. */
static void changed(struct check *c)
{
	struct actor *a = held_actor(c, L2_STREAM);

	expect(c, !set_pid(a->pid, L1_STREAM, 0), "set failed");
	expect_reg(c, 0, "changed while asleep");
	actor_spin(a);
	expect_reg_of(c, a, L1_STREAM, "running again");
	actor_sleep(a);
	expect(c, !set_pid(a->pid, L1_STREAM, 0), "set failed");
	expect_reg(c, L1_STREAM, "set to what it is");
}

/* The core is still held for a task that runs elsewhere by now. */
static void moved(struct check *c)
{
	int other = domain_cpu(1);
	struct actor *a = held_actor(c, L2_STREAM | L1_STREAM);

	actor_move(a, other);
	actor_spin(a);
	expect_reg(c, L2_STREAM | L1_STREAM, "the task has moved on");
	expect(c, wait_for(reg(other) == (L2_STREAM | L1_STREAM)),
	       "it does not have its mask there");
	expect(c, !clear_pid(a->pid), "clear failed");
	expect_reg(c, 0, "cleared elsewhere");
	expect(c, reg(other) == 0, "its own core keeps the mask");
	actor_kill(a);

	a = held_actor(c, L2_STREAM | L1_STREAM);
	actor_move(a, other);
	actor_spin(a);
	expect_reg(c, L2_STREAM | L1_STREAM, "the task has moved on");
	actor_kill(a);
	expect_reg(c, 0, "killed elsewhere");
}

/* Both of a thread's settings made the mask, so both can end it. */
static void of_thread(struct check *c)
{
	struct actor *leader = actor_new(home_cpu());
	struct actor *t = actor_thread(leader, cpu());

	expect(c, !set_pid(leader->pid, L2_STREAM, 0), "set pid failed");
	for (int i = 0; i < 2; i++) {
		expect(c, !set_tid(t->tid, L1_IP, 0), "set tid failed");
		actor_spin(t);
		actor_sleep(t);
		expect_reg(c, L2_STREAM | L1_IP, "thread asleep");
		expect(c, !(i ? clear_tid(t->tid) : clear_pid(t->pid)),
		       "clear failed");
		expect_reg(c, 0, "one of both cleared");
		expect(c, !set_pid(leader->pid, L2_STREAM, 0),
		       "set pid failed");
	}
	expect(c, !set_tid(t->tid, L1_IP, 0), "set tid failed");
	actor_spin(t);
	actor_sleep(t);
	expect_reg(c, L2_STREAM | L1_IP, "thread asleep");
	actor_exit_thread(t);
	/* Its last instructions ran under the setting of the process. */
	expect(c, wait_for(reg(cpu()) == L2_STREAM), "the thread has ended");
	expect(c, !get_tid(leader->tid).present, "the leader got a setting");
	actor_kill(leader);
	expect_reg(c, 0, "the process has ended");
}

static void follows_default(struct check *c)
{
	struct actor *a = held_actor(c, L1_IP);
	uint32_t other = domain_cpu(1);

	expect(c, !set_default(L2_STREAM, 0), "no machine default");
	expect_reg(c, L1_IP | L2_STREAM, "held, new default");
	expect(c, reg(other) == L2_STREAM, "the other core has no new default");
	expect(c, !set_default(0, 0), "the machine default stays");
	expect_reg(c, L1_IP, "held, default as before");
	expect(c, reg(other) == 0, "the other core keeps the default");
	expect(c, !set_default(L1_STREAM, 0), "no machine default");
	expect(c, !clear_pid(a->pid), "clear failed");
	expect_reg(c, L1_STREAM, "cleared under a default");
	expect(c, !set_default(0, 0), "the machine default stays");
	expect_reg(c, 0, "cleared");
}

/* A task that sleeps changes nothing until it runs. */
static void set_asleep(struct check *c)
{
	struct actor *a = actor_new(cpu());
	struct actor *b = actor_new(cpu() + 1);

	actor_spin(b);
	expect(c, !set_pid(a->pid, L1_IP, 0), "set failed");
	expect_reg_of(c, b, 0, "set, and asleep");
	actor_sleep(b);
	expect_reg(c, 0, "everybody asleep");
	actor_spin(a);
	expect_reg_of(c, a, L1_IP, "running");
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "hold_alone", alone },
		{ "hold_busy_sibling", busy_sibling },
		{ "hold_clear", clear },
		{ "hold_killed", killed },
		{ "hold_changed", changed },
		{ "hold_moved", moved },
		{ "hold_of_thread", of_thread },
		{ "hold_follows_default", follows_default },
		{ "hold_set_asleep", set_asleep },
	};

	return harness_main(argc, argv, tests, ARRAY_SIZE(tests));
}
