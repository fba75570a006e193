// SPDX-License-Identifier: GPL-2.0-or-later
/* Streams that never dry up: each dispatch ends all the same. */
#include "common.h"

/* So often one dispatch may find the event socket empty, or ask the module. */
#define MOST_EVENTS   8192
#define MOST_READINGS 20000
#define MOST_REQUESTS 2000

/* Where a dispatch does not end, the stream does. */
#define FAR_TOO_MANY 200000

static size_t readings;

static bool goes_on(struct fake *f)
{
	if (++readings < FAR_TOO_MANY)
		return true;
	f->on_empty = NULL;
	return false;
}

static void one_change(struct fake *f)
{
	const struct fake_core_event event = { .domain = 1, .folded = 1 };

	fake_core_event(f, &event);
}

static void changes(struct fake *f)
{
	if (goes_on(f))
		one_change(f);
}

static void unknown(struct fake *f)
{
	if (goes_on(f))
		fake_unknown_event(f);
}

/* Between two events there is much of no use. */
static void mostly_unknown(struct fake *f)
{
	if (!goes_on(f))
		return;
	if (readings % 100)
		fake_unknown_event(f);
	else
		one_change(f);
}

static void empty_datagrams(struct fake *f)
{
	if (goes_on(f))
		fake_raw(f, PFNL_EVENTS, "", 0);
}

static void unreadable(struct fake *f)
{
	if (goes_on(f))
		fake_raw(f, PFNL_EVENTS, "abcde", 5);
}

static void losses(struct fake *f)
{
	if (!goes_on(f))
		return;
	fake_drop_core_events(f, 1);
	fake_event_error(f, ENOBUFS);
	one_change(f);
}

/* The stream pauses after each loss, so each loss brings the state anew. */
static void losses_and_pauses(struct fake *f)
{
	if (goes_on(f) && readings % 3 == 0)
		losses(f);
}

static void reloads(struct fake *f)
{
	if (!goes_on(f))
		return;
	fake_unload(f);
	fake_load(f);
}

/* Without a word, so each look at the module finds another one. */
static void other_module(struct fake *f, uint8_t cmd)
{
	if (cmd == PREFETCH_CMD_INFO_GET && goes_on(f))
		f->family++;
}

static int count_event(const struct pfnl_event *event, void *arg)
{
	size_t *count = arg;

	(void)event;
	++*count;
	return 0;
}

static void one_storm(struct bench *b, void (*on_empty)(struct fake *))
{
	size_t events = 0;
	int requests;
	int i;

	for (i = 0; i < 3; i++) {
		readings = 0;
		b->fake->on_empty = on_empty;
		requests = b->fake->requests;
		events = 0;
		assert_int_equal(pfnl_dispatch(b->h, count_event, &events), 0);
		assert_in_range(events, 0, MOST_EVENTS);
		assert_in_range(readings, 0, MOST_READINGS);
		assert_in_range(b->fake->requests - requests, 0, MOST_REQUESTS);
	}
}

/* When the storm is over, what happens is told, and in the end it is quiet. */
static void calm(struct bench *b)
{
	struct record r = { .used = 0 };
	int i;

	b->fake->on_empty = NULL;
	b->fake->on_request = NULL;
	for (i = 0; i < 10; i++)
		skip_events(b);
	assert_false(pfnl_events_pending(b->h));
	core_event(b, 0, 7);
	assert_int_equal(pfnl_dispatch(b->h, record_event, &r), 0);
	assert_non_null(strstr(r.text, "core 1 0>7"));
}

static void test_storms(void **state)
{
	static void (*const storms[])(struct fake *) = {
		changes,    unknown, mostly_unknown,	empty_datagrams,
		unreadable, losses,  losses_and_pauses, reloads,
	};
	struct bench *b = *state;
	size_t i;

	subscribe(b, PFNL_GROUP_CORE);
	skip_events(b);
	for (i = 0; i < sizeof(storms) / sizeof(storms[0]); i++) {
		one_storm(b, storms[i]);
		calm(b);
	}
}

static void test_module_changes_for_ever(void **state)
{
	struct bench *b = *state;

	subscribe(b, PFNL_GROUP_CORE);
	skip_events(b);
	fake_event_error(b->fake, ENOBUFS);
	b->fake->on_request = other_module;
	one_storm(b, NULL);
	calm(b);
}

/* Answers to others, or nothing, do not keep a request waiting for ever. */
static void test_empty_answers(void **state)
{
	struct bench *b = *state;
	struct pfnl_info info;
	int i;

	assert_int_equal(pfnl_info(b->h, &info), 0);
	for (i = 0; i < 5000; i++)
		fake_raw(b->fake, PFNL_REQUESTS, "", 0);
	assert_int_equal(pfnl_info(b->h, &info), -EBADMSG);
	assert_int_equal(pfnl_info(b->h, &info), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BENCH_TEST(test_storms),
		BENCH_TEST(test_module_changes_for_ever),
		BENCH_TEST(test_empty_answers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
