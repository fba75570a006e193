// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The event stream against the register: nothing missing, nothing twice.
 */
#include "actor.h"

#include <string.h>

#include "harness.h"
#include "request.h"

#define CHANGES	     rounds_of(1000)
#define SLOW_CHANGES rounds_of(100)

struct stream {
	struct pfnl *h;
	struct check *c;
	uint64_t folded; /* changes of the first core that were told */
	uint64_t messages;
	uint32_t mask; /* of the first core, as last told */
	uint32_t seq;
	bool complete; /* the state at the start has been told */
	unsigned int settings[PREFETCH_CHANGE_EXITED + 1];
};

static void take_core(struct stream *s, const struct pfnl_core_event *e)
{
	expect(s->c, !s->seq || e->seq == s->seq + 1, "number %u after %u",
	       e->seq, s->seq);
	expect(s->c, e->lost == 0, "%llu lost", (unsigned long long)e->lost);
	expect(s->c, e->folded >= 1, "a message for no change");
	s->seq = e->seq;
	if (e->domain != 0)
		return;
	expect(s->c, e->old_mask == s->mask, "old is 0x%x, told was 0x%x",
	       e->old_mask, s->mask);
	expect(s->c, e->n_cpus == 2, "%zu CPUs", e->n_cpus);
	s->mask = e->new_mask;
	s->folded += e->folded;
	s->messages++;
}

static int take(const struct pfnl_event *e, void *arg)
{
	struct stream *s = arg;

	switch (e->kind) {
	case PFNL_EVENT_CORE:
		take_core(s, &e->u.core);
		break;
	case PFNL_EVENT_SETTING:
		if (e->u.setting.change < ARRAY_SIZE(s->settings))
			s->settings[e->u.setting.change]++;
		break;
	case PFNL_EVENT_STATE_CORE:
		if (e->u.state_core.domain == 0)
			s->mask = e->u.state_core.effective;
		break;
	case PFNL_EVENT_RESYNC_END:
		expect(s->c, !e->u.resync.error, "no state: %s",
		       e->u.resync.message);
		s->complete = true;
		break;
	case PFNL_EVENT_LOST:
		expect(s->c, false, "the library says that events were lost");
		break;
	default:
		break;
	}
	return 0;
}

/* Takes what is there, or waits for it a moment. */
static bool drain(struct stream *s)
{
	int err = take_events(s->h, take, s);

	return expect(s->c, !err, "dispatch: %s", strerror(-err));
}

static void stream_open(struct stream *s, struct check *c, unsigned int groups)
{
	int err;

	*s = (struct stream){ .c = c };
	err = pfnl_open(&s->h);
	if (!err)
		err = pfnl_subscribe(s->h, groups, 0);
	if (err)
		die("cannot subscribe: %s (%s)", strerror(-err),
		    s->h ? pfnl_errmsg(s->h) : "");
	wait_for(drain(s) && s->complete);
	expect(c, s->complete, "the state at the start is not complete");
}

static void stream_close(struct stream *s)
{
	struct pfnl_info i = info();

	expect(s->c, i.core_events_lost == 0, "the module lost %llu",
	       (unsigned long long)i.core_events_lost);
	pfnl_close(s->h);
}

/* As fast as it goes: folded, and the sum is exact. */
static void sum(struct check *c)
{
	int cpu = domain_cpu(0);
	struct actor *a = actor_new(cpu);
	struct stream s;
	struct span span;
	uint64_t writes;

	stream_open(&s, c, PFNL_GROUP_CORE);
	actor_spin(a);
	writes = core_state(0).writes;
	span = span_begin(c->name);
	for (uint32_t i = 0; i < CHANGES; i++)
		expect(c, !set_pid(a->pid, i % 2 ? 0 : 1 + i % ALL_FOUR, 0),
		       "set failed");
	writes = core_state(0).writes - writes;
	/* A change that falls in a time when it has not its CPU is no write. */
	expect(c, writes > CHANGES * 9 / 10, "%llu register writes of %lu",
	       (unsigned long long)writes, CHANGES);
	wait_for(drain(&s) && s.folded >= writes);
	expect(c, s.folded == writes, "events tell of %llu changes, not %llu",
	       (unsigned long long)s.folded, (unsigned long long)writes);
	expect(c, s.mask == 0, "the last event says 0x%x", s.mask);
	span_end(&span, 0, s.folded, s.folded);
	printf("figure %s changes=%llu messages=%llu\n", c->name,
	       (unsigned long long)s.folded, (unsigned long long)s.messages);
	stream_close(&s);
}

/* Slowly, at the floor of the interval: each change is a message. */
static void each(struct check *c)
{
	struct actor *a;
	struct stream s;

	expect(c, !module_unload(), "cannot unload");
	expect(c, !module_load("event_interval_ms=1"), "cannot load");
	a = actor_new(domain_cpu(0));
	stream_open(&s, c, PFNL_GROUP_CORE);
	actor_spin(a);
	for (uint32_t i = 1; i <= SLOW_CHANGES; i++) {
		uint32_t mask = i % 2 ? 1 + i % ALL_FOUR : 0;

		expect(c, !set_pid(a->pid, mask, 0), "set failed");
		wait_for(drain(&s) && s.messages >= i);
		expect(c, s.messages == i && s.folded == i,
		       "change %u: %llu messages for %llu changes", i,
		       (unsigned long long)s.messages,
		       (unsigned long long)s.folded);
		expect(c, s.mask == mask, "told 0x%x, not 0x%x", s.mask, mask);
	}
	stream_close(&s);
	actors_end();
	expect(c, !module_unload(), "cannot unload");
	expect(c, !module_load(""), "cannot load");
}

static void settings(struct check *c)
{
	struct actor *a = actor_new(domain_cpu(0));
	struct actor *child;
	struct stream s;

	stream_open(&s, c, PFNL_GROUP_SETTING);
	expect(c, !set_pid_inherit(a->pid, L1_IP, 0), "set failed");
	child = actor_fork(a, domain_cpu(0));
	expect(c, !clear_pid(a->pid), "clear failed");
	actor_kill(child);
	wait_for(drain(&s) && s.settings[PREFETCH_CHANGE_EXITED]);
	expect(c, s.settings[PREFETCH_CHANGE_SET] == 1, "set: %u times",
	       s.settings[PREFETCH_CHANGE_SET]);
	expect(c, s.settings[PREFETCH_CHANGE_INHERITED] == 1,
	       "inherited: %u times", s.settings[PREFETCH_CHANGE_INHERITED]);
	expect(c, s.settings[PREFETCH_CHANGE_CLEARED] == 1, "cleared: %u times",
	       s.settings[PREFETCH_CHANGE_CLEARED]);
	expect(c, s.settings[PREFETCH_CHANGE_EXITED] == 1, "exited: %u times",
	       s.settings[PREFETCH_CHANGE_EXITED]);
	stream_close(&s);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "events_sum", sum },
		{ "events_each", each },
		{ "events_settings", settings },
	};

	return harness_main(argc, argv, tests, ARRAY_SIZE(tests));
}
