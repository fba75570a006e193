// SPDX-License-Identifier: GPL-2.0-or-later
/* What the unit tests share. */
#include "common.h"

int bench_setup(void **state)
{
	struct bench *b = calloc(1, sizeof(*b));
	struct fake *f;

	assert_non_null(b);
	f = b->fake = fake_new();
	fake_add_task(f, 100, 100, "server");
	fake_add_task(f, 100, 101, "worker");
	fake_add_task(f, 200, 200, "other")->denied = true;
	if (pfnl_open_transport(&b->h, &fake_transport, f))
		return -1;
	*state = b;
	return 0;
}

int bench_teardown(void **state)
{
	struct bench *b = *state;

	pfnl_close(b->h);
	free(b);
	return 0;
}

void subscribe(struct bench *b, unsigned int groups)
{
	assert_int_equal(pfnl_subscribe(b->h, groups, 0), 0);
	assert_true(pfnl_events_pending(b->h));
}

void core_event(struct bench *b, uint32_t old, uint32_t new)
{
	const struct fake_core_event event = {
		.domain = 1,
		.old_mask = old,
		.new_mask = new,
		.cpu = 2,
		.pid = 100,
		.tid = 101,
		.comm = "worker",
		.folded = 3,
		.time = 77,
	};

	b->fake->domains[1].effective = new;
	fake_core_event(b->fake, &event);
}

__attribute__((format(printf, 2, 3))) static void add(struct record *r,
						      const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(r->text + r->used, sizeof(r->text) - r->used, format,
		      args);
	va_end(args);
	if (n > 0 && (size_t)n < sizeof(r->text) - r->used)
		r->used += (size_t)n;
}

static void add_lost(struct record *r, const struct pfnl_lost_event *e)
{
	add(r, "lost %s %llu%s%s\n", e->group ? pfnl_group_name(e->group) : "?",
	    (unsigned long long)e->count, e->known ? "" : " or more",
	    e->by_module ? " by module" : "");
	r->used--;
	if (e->changes_known && e->changes != e->count)
		add(r, " of %llu changes", (unsigned long long)e->changes);
	if (e->known && !e->changes_known)
		add(r, " of %llu changes or more",
		    (unsigned long long)e->changes);
	add(r, "\n");
}

static void add_end(struct record *r, const struct pfnl_resync_event *e)
{
	add(r, "end");
	if (e->flags & PFNL_LIST_INTERRUPTED)
		add(r, " interrupted");
	if (e->error)
		add(r, " error=%d %s", -e->error, e->message);
	else
		assert_string_equal(e->message, "");
	add(r, "\n");
}

int record_event(const struct pfnl_event *event, void *arg)
{
	static const char *const reasons[] = { "start", "lost", "back" };
	struct record *r = arg;

	switch (event->kind) {
	case PFNL_EVENT_CORE:
		add(r, "core %u %x>%x seq=%u\n", event->u.core.domain,
		    event->u.core.old_mask, event->u.core.new_mask,
		    event->u.core.seq);
		break;
	case PFNL_EVENT_SETTING:
		add(r, "setting %u/%u off=%x %s seq=%u\n",
		    event->u.setting.setting.pid, event->u.setting.setting.tid,
		    event->u.setting.setting.off,
		    pfnl_change_name(event->u.setting.change),
		    event->u.setting.seq);
		break;
	case PFNL_EVENT_LOST:
		add_lost(r, &event->u.lost);
		break;
	case PFNL_EVENT_RESYNC_BEGIN:
		add(r, "begin %s\n", reasons[event->u.resync.reason]);
		break;
	case PFNL_EVENT_STATE_CORE:
		add(r, "state core %u %x\n", event->u.state_core.domain,
		    event->u.state_core.effective);
		break;
	case PFNL_EVENT_STATE_SETTING:
		add(r, "state setting %u/%u off=%x\n",
		    event->u.state_setting.pid, event->u.state_setting.tid,
		    event->u.state_setting.off);
		break;
	case PFNL_EVENT_RESYNC_END:
		add_end(r, &event->u.resync);
		break;
	case PFNL_EVENT_GONE:
		add(r, "gone\n");
		break;
	case PFNL_EVENT_BACK:
		add(r, "back groups=%u\n", event->u.back.groups);
		break;
	default:
		add(r, "unknown %u\n", event->kind);
		break;
	}
	r->count++;
	return r->stop_after && ++r->since_stop == r->stop_after;
}

void expect_events(struct bench *b, const char *expected)
{
	struct record r = { .used = 0 };

	assert_int_equal(pfnl_dispatch(b->h, record_event, &r), 0);
	assert_string_equal(r.text, expected);
	assert_false(pfnl_events_pending(b->h));
}

void skip_events(struct bench *b)
{
	struct record r = { .used = 0 };

	assert_int_equal(pfnl_dispatch(b->h, record_event, &r), 0);
}
