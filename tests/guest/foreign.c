// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Somebody else writes the register: verify finds it, an event tells of it,
 * and it is repaired when somebody asks for that, and not before. And what a
 * child should have inherited and did not is counted and told.
 */
#include "actor.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"
#include "request.h"

#define LOOKS	 5
#define LIMIT	 3
#define CHILDREN 20

/* What was told of the first core and of settings. */
struct told {
	struct pfnl *h;
	struct check *c;
	bool complete;
	unsigned int foreign, repaired, dropped;
	uint32_t shown; /* what the core shows by what was told so far */
	uint32_t old_mask, new_mask; /* of the last foreign or repair event */
};

static int take(const struct pfnl_event *e, void *arg)
{
	struct told *t = arg;

	if (e->kind == PFNL_EVENT_RESYNC_END)
		t->complete = true;
	expect(t->c, e->kind != PFNL_EVENT_LOST, "events were lost");
	if (e->kind == PFNL_EVENT_SETTING &&
	    e->u.setting.change == PREFETCH_CHANGE_DROPPED)
		t->dropped++;
	if (e->kind == PFNL_EVENT_STATE_CORE && e->u.state_core.domain == 0)
		t->shown = e->u.state_core.effective;
	if (e->kind != PFNL_EVENT_CORE || e->u.core.domain != 0)
		return 0;
	t->shown = e->u.core.new_mask;
	if (e->u.core.cause == PREFETCH_CAUSE_FOREIGN)
		t->foreign++;
	else if (e->u.core.cause == PREFETCH_CAUSE_REPAIR)
		t->repaired++;
	else
		return 0;
	t->old_mask = e->u.core.old_mask;
	t->new_mask = e->u.core.new_mask;
	return 0;
}

static bool listen_on(struct told *t)
{
	return expect(t->c, !take_events(t->h, take, t), "dispatch failed");
}

/* Many times what changes are folded over. */
#define REST_MS 300

static void told_open(struct told *t, struct check *c)
{
	struct core_state core;
	int err;

	/*
	 * What an earlier test has left is not to be folded with our own: the
	 * core comes to rest, and then its last change has been told.
	 */
	expect(c,
	       wait_for(
		       (core = core_state(0), core.effective == core.baseline)),
	       "the first core does not come to rest");
	(void)wait_within(REST_MS, false);
	*t = (struct told){ .c = c };
	err = pfnl_open(&t->h);
	if (!err)
		err = pfnl_subscribe(t->h, PFNL_GROUP_CORE | PFNL_GROUP_SETTING,
				     0);
	if (err)
		die("cannot subscribe: %s", strerror(-err));
	expect(c, wait_for(listen_on(t) && t->complete), "no state at first");
}

/* Reads the first core back. Returns whether a foreign value was found. */
static bool verify(struct check *c, uint32_t effective, uint32_t is)
{
	struct pfnl_core core;
	int err = pfnl_core_get(handle(), 0, true, &core);
	bool differs;

	if (err)
		die("cannot verify: %s (%s)", strerror(-err),
		    pfnl_errmsg(handle()));
	expect(c, core.verified, "nothing was read");
	expect(c, core.effective == effective, "verify: effective is 0x%x",
	       core.effective);
	expect(c, core.read == is, "verify: read 0x%x, not 0x%x", core.read,
	       is);
	differs = core.differs;
	pfnl_core_clear(&core);
	return differs;
}

static int count_repair(const struct pfnl_repair *r, void *arg)
{
	unsigned int *n = arg;

	*n += r->domain == 0;
	return 0;
}

static unsigned int repair(struct check *c)
{
	unsigned int n = 0;
	int err = pfnl_core_repair(handle(), PFNL_DOMAIN_ALL, count_repair, &n);

	expect(c, err >= 0, "repair: %s", strerror(-err));
	return n;
}

/* The core shows `wanted`; it is disturbed, found, told, and repaired. */
static void disturb(struct check *c, struct told *t, int cpu, uint32_t wanted,
		    uint32_t foreign)
{
	uint64_t counted = info().foreign_writes;
	unsigned int before = t->foreign, repaired = t->repaired;

	/* The change that led here is not to be folded with what is done. */
	expect(c, wait_for(listen_on(t) && t->shown == wanted),
	       "0x%x was told last, not 0x%x", t->shown, wanted);
	expect(c, !verify(c, wanted, wanted), "foreign before it was written");
	reg_write(cpu, foreign);
	expect(c, info().foreign_writes == counted, "counted before the look");
	for (int i = 0; i < LOOKS; i++)
		expect(c, verify(c, wanted, foreign), "it is not found");
	expect(c, info().foreign_writes == counted + 1, "counted %llu times",
	       (unsigned long long)(info().foreign_writes - counted));
	expect(c, wait_for(listen_on(t) && t->foreign > before),
	       "no event tells of it");
	expect(c, t->foreign == before + 1, "%u events tell of it",
	       t->foreign - before);
	expect(c, t->old_mask == wanted && t->new_mask == foreign,
	       "told: 0x%x -> 0x%x", t->old_mask, t->new_mask);
	/* Nobody asked for it so far. */
	expect(c, reg(cpu) == foreign, "repaired unasked: 0x%llx",
	       (unsigned long long)reg(cpu));
	expect(c, repair(c) == 1, "no word of a repair");
	expect(c, reg(cpu) == wanted, "repaired: 0x%llx",
	       (unsigned long long)reg(cpu));
	expect(c, wait_for(listen_on(t) && t->repaired > repaired),
	       "no event tells of the repair");
	expect(c, t->old_mask == foreign && t->new_mask == wanted,
	       "told of the repair: 0x%x -> 0x%x", t->old_mask, t->new_mask);
	expect(c, !verify(c, wanted, wanted), "foreign after the repair");
	expect(c, repair(c) == 0, "repaired twice");
}

static void running(struct check *c)
{
	struct actor *a = actor_new(domain_cpu(0));
	struct told t;

	told_open(&t, c);
	expect(c, !set_pid(a->pid, L2_STREAM, 0), "set failed");
	/* Realtime would starve the readers; it is alone there anyway. */
	actor_spin(a);
	expect(c, reg_of(a) == L2_STREAM, "not set");
	/*
	 * A kernel thread takes the CPU at times, and the core is held for
	 * the actor then: nothing is written.
	 */
	for (uint32_t foreign = 0; foreign <= ALL_FOUR; foreign++)
		if (foreign != L2_STREAM)
			disturb(c, &t, a->cpu, L2_STREAM, foreign);
	pfnl_close(t.h);
}

static void held(struct check *c)
{
	struct actor *a = actor_new(domain_cpu(0));
	struct told t;

	told_open(&t, c);
	expect(c, !set_pid(a->pid, L1_IP, 0), "set failed");
	actor_spin(a);
	expect(c, reg_of(a) == L1_IP, "not set");
	actor_sleep(a);
	expect(c, core_state(0).held, "not held");
	disturb(c, &t, a->cpu, L1_IP, ALL_FOUR);
	disturb(c, &t, a->cpu, L1_IP, 0);
	expect(c, core_state(0).held, "not held any more");
	/* Found and never repaired: the next change writes what is right. */
	reg_write(a->cpu, ALL_FOUR);
	expect(c, verify(c, L1_IP, ALL_FOUR), "it is not found");
	expect(c, !clear_pid(a->pid), "clear failed");
	expect(c, reg(a->cpu) == options.baseline, "cleared: 0x%llx",
	       (unsigned long long)reg(a->cpu));
	expect(c, !verify(c, options.baseline, options.baseline), "foreign");
	pfnl_close(t.h);
}

/* Nothing is set, and the core was never ours since: found all the same. */
static void unset(struct check *c)
{
	struct told t;

	told_open(&t, c);
	disturb(c, &t, domain_cpu(0), options.baseline, L1_STREAM);
	pfnl_close(t.h);
}

/* What somebody else wrote does not outlive us where we wrote, too. */
static void unloaded(struct check *c)
{
	for (int i = 0; i < 4; i++) {
		struct actor *a = actor_new(domain_cpu(0));

		expect(c, !set_pid(a->pid, L1_IP, 0), "set failed");
		actor_spin(a);
		expect(c, reg_of(a) == L1_IP, "not set");
		if (i & 1)
			expect(c, !clear_pid(a->pid), "clear failed");
		reg_write(a->cpu, ALL_FOUR);
		if (i & 2)
			expect(c,
			       verify(c, i & 1 ? options.baseline : L1_IP,
				      ALL_FOUR),
			       "it is not found");
		expect(c, !module_unload(), "cannot unload");
		expect(c, reg(a->cpu) == options.baseline, "unloaded: 0x%llx",
		       (unsigned long long)reg(a->cpu));
		expect(c, !module_load(""), "cannot load");
		actors_end();
	}
}

/* At the limit of settings: the fork goes on, and the child has nothing. */
static void dropped(struct check *c)
{
	char args[32];
	struct actor *parent, *child;
	struct told t;

	expect(c, !module_unload(), "cannot unload");
	snprintf(args, sizeof(args), "max_settings=%d", LIMIT);
	expect(c, !module_load(args), "cannot load");
	parent = actor_new(domain_cpu(0));
	told_open(&t, c);
	expect(c, !set_pid_inherit(parent->pid, L1_IP, 0), "set failed");
	for (int i = 0; i < CHILDREN; i++) {
		child = actor_fork(parent, domain_cpu(0));
		if (i < LIMIT - 1) {
			expect(c, get_pid(child->pid).off == L1_IP,
			       "child %d has not inherited", i);
			continue;
		}
		expect(c, !get_pid(child->pid).present,
		       "child %d is above the limit", i);
		actor_spin(child);
		expect(c, reg_of(child) == options.baseline, "0x%llx",
		       (unsigned long long)reg_of(child));
		actor_sleep(child);
	}
	expect(c, request_settings() == LIMIT, "%ld settings",
	       request_settings());
	expect(c, info().dropped_inherits == CHILDREN - LIMIT + 1,
	       "%llu are counted", (unsigned long long)info().dropped_inherits);
	expect(c, wait_for(listen_on(&t) && t.dropped == CHILDREN - LIMIT + 1),
	       "%u events tell of it", t.dropped);
	expect(c, set_pid(child->pid, L1_IP, 0) == -ENOSPC,
	       "one more setting has place");
	/* There is room again, so the next one gets it. */
	expect(c, !clear_pid(parent->pid), "clear failed");
	expect(c, !set_pid_inherit(parent->pid, L1_STREAM, 0), "set failed");
	actors_end();
	parent = actor_new(domain_cpu(0));
	expect(c, !set_pid_inherit(parent->pid, L1_IP, 0), "set failed");
	child = actor_fork(parent, domain_cpu(0));
	expect(c, get_pid(child->pid).off == L1_IP, "it is still dropped");
	pfnl_close(t.h);
	actors_end();
	expect(c, !module_unload(), "cannot unload");
	expect(c, !module_load(""), "cannot load");
	expect(c, !info().dropped_inherits, "the count outlived unload");
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "foreign_running", running },
		{ "foreign_held", held },
		{ "foreign_unset", unset },
		{ "foreign_unloaded", unloaded },
		{ "inherit_dropped", dropped },
	};

	return harness_main(argc, argv, tests, ARRAY_SIZE(tests));
}
