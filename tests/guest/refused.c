// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The hardware refuses a register write in the middle of a context switch: the
 * core goes out of service, nobody tries again unasked, and once repaired it
 * does what is asked for by then. The twin's profile says when it refuses.
 */
#include "actor.h"

#include <string.h>

#include "harness.h"
#include "request.h"

/* As in the profile: this write after the mark, and so many in all. */
#define REFUSED_FIRST 200
#define REFUSED	      3
#define SWITCHES      100

/* What was told of the first core. */
struct told {
	struct pfnl *h;
	struct check *c;
	bool complete;
	unsigned int refused, repaired;
	uint32_t shown;
};

static int take(const struct pfnl_event *e, void *arg)
{
	struct told *t = arg;

	if (e->kind == PFNL_EVENT_RESYNC_END)
		t->complete = true;
	expect(t->c, e->kind != PFNL_EVENT_LOST, "events were lost");
	if (e->kind != PFNL_EVENT_CORE || e->u.core.domain != 0)
		return 0;
	t->shown = e->u.core.new_mask;
	t->refused += e->u.core.cause == PREFETCH_CAUSE_REFUSED;
	t->repaired += e->u.core.cause == PREFETCH_CAUSE_REPAIR;
	return 0;
}

static bool listen_on(struct told *t)
{
	return expect(t->c, !take_events(t->h, take, t), "dispatch failed");
}

/* Read back: in service, with this mask, and nothing else there. */
static void verify(struct check *c, uint32_t mask)
{
	struct pfnl_core core;
	int err = pfnl_core_get(handle(), 0, true, &core);

	if (err)
		die("cannot verify: %s (%s)", strerror(-err),
		    pfnl_errmsg(handle()));
	expect(c, !core.failed && !core.differs, "not repaired");
	expect(c, core.effective == mask && core.read == mask,
	       "not what is asked for now: 0x%x, read 0x%x", core.effective,
	       core.read);
	pfnl_core_clear(&core);
}

static bool failed(void)
{
	struct pfnl_core core;
	bool is;

	if (pfnl_core_get(handle(), 0, false, &core))
		die("cannot look at the core");
	is = core.failed && core.fault == PREFETCH_FAULT_WRITE;
	pfnl_core_clear(&core);
	return is;
}

static void repair(struct check *c)
{
	int err = pfnl_core_repair(handle(), 0, NULL, NULL);

	expect(c, !err, "repair: %s", strerror(-err));
}

static void in_switch(struct check *c)
{
	struct actor *a = actor_new(domain_cpu(0));
	struct actor *b = actor_new(domain_cpu(0));
	struct told t = { .c = c };
	unsigned long switches;
	uint32_t left;
	int err;

	err = pfnl_open(&t.h);
	if (!err)
		err = pfnl_subscribe(t.h, PFNL_GROUP_CORE, 0);
	if (err)
		die("cannot subscribe: %s", strerror(-err));
	expect(c, wait_for(listen_on(&t) && t.complete), "no state at first");
	expect(c, !set_pid(a->pid, L2_STREAM, 0), "set failed");
	expect(c, !set_pid(b->pid, L1_IP, 0), "set failed");
	mark_twin(options.mark++);
	/* From one to the other and back: each switch is a write. */
	actor_mode(a, ACTOR_YIELD, 0);
	actor_mode(b, ACTOR_YIELD, 0);
	expect(c, wait_for(failed()), "no write was refused");
	left = (uint32_t)reg(a->cpu);
	expect(c, left == L2_STREAM || left == L1_IP, "left at 0x%x", left);
	expect(c, core_state(0).writes >= REFUSED_FIRST - 1, "%llu writes",
	       (unsigned long long)core_state(0).writes);
	expect(c, wait_for(listen_on(&t) && t.refused == 1), "told %u times",
	       t.refused);
	expect(c, t.shown == left, "told: 0x%x", t.shown);

	/* They go on, and nothing is tried again. */
	switches = task_switches(a->tid);
	expect(c, wait_for(task_switches(a->tid) > switches + SWITCHES),
	       "no switch any more");
	actor_sleep(a);
	actor_sleep(b);
	expect(c, !set_default(L2_ADJACENT, 0), "no machine default");
	expect(c, !set_pid(a->pid, L1_STREAM, 0), "set failed");
	actor_spin(a);
	expect(c, info().refused_writes == 1, "%llu writes were refused",
	       (unsigned long long)info().refused_writes);
	expect(c, reg(a->cpu) == left, "written: 0x%llx",
	       (unsigned long long)reg(a->cpu));
	expect(c, reg(domain_cpu(1)) == L2_ADJACENT,
	       "the other core is out of service, too");

	/* One write for each time that somebody asks. */
	for (int i = 1; i < REFUSED; i++) {
		repair(c);
		expect(c, failed(), "back in service after %d", i);
		expect(c, info().refused_writes == (uint64_t)i + 1,
		       "%llu writes were refused",
		       (unsigned long long)info().refused_writes);
	}
	repair(c);
	verify(c, L1_STREAM | L2_ADJACENT);
	expect(c, reg_of(a) == (L1_STREAM | L2_ADJACENT), "0x%llx",
	       (unsigned long long)reg_of(a));
	expect(c,
	       wait_for(listen_on(&t) && t.repaired == 1 &&
			t.shown == (L1_STREAM | L2_ADJACENT)),
	       "told of %u repairs, the last 0x%x", t.repaired, t.shown);

	actor_sleep(a);
	actor_spin(b);
	expect(c, reg_of(b) == (L1_IP | L2_ADJACENT), "0x%llx",
	       (unsigned long long)reg_of(b));
	actors_end();
	expect(c, !set_default(0, 0), "the default stays");
	pfnl_close(t.h);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "refused_in_switch", in_switch },
	};

	return harness_main(argc, argv, tests, ARRAY_SIZE(tests));
}
