// SPDX-License-Identifier: GPL-2.0-or-later
/* Events that get lost: on the socket, in the module, or unreadable. */
#include "common.h"
#include "message.h"

static void test_gap(void **state)
{
	struct bench *b = *state;

	subscribe(b, BOTH);
	skip_events(b);
	core_event(b, 0, 1);
	fake_drop_core_events(b->fake, 41);
	core_event(b, 4, 5);
	core_event(b, 5, 6);
	expect_events(b, "core 1 0>1 seq=1\n"
			 "lost core 41\n"
			 "core 1 4>5 seq=43\n"
			 "core 1 5>6 seq=44\n"
			 "begin lost\n"
			 "state core 0 0\n"
			 "state core 1 6\n"
			 "end\n");
	core_event(b, 6, 7);
	expect_events(b, "core 1 6>7 seq=45\n");
}

/* Events that stood for several changes each; changes that had no event. */
static void test_gap_of_changes(void **state)
{
	struct bench *b = *state;

	b->fake->core_total = 1000;
	subscribe(b, PFNL_GROUP_CORE);
	skip_events(b);
	/* This one is of three changes itself, as each in these tests. */
	core_event(b, 0, 1);
	fake_drop_core_events(b->fake, 2);
	b->fake->core_total += 70;
	b->fake->core_lost = 5;
	core_event(b, 4, 5);
	expect_events(b, "core 1 0>1 seq=1\n"
			 "lost core 5 by module\n"
			 "lost core 2 of 72 changes\n"
			 "core 1 4>5 seq=4\n"
			 "begin lost\nstate core 0 0\nstate core 1 5\nend\n");
	fake_event_error(b->fake, ENOBUFS);
	fake_drop_core_events(b->fake, 10);
	b->fake->core_total += 30;
	expect_events(b, "lost core 10 of 40 changes\n"
			 "begin lost\nstate core 0 0\nstate core 1 5\nend\n");
	/* Told at the end of a burst, and not again by the next event. */
	fake_event_error(b->fake, ENOBUFS);
	fake_drop_core_events(b->fake, 1);
	b->fake->core_total += 4;
	expect_events(b, "lost core 1 of 5 changes\n"
			 "begin lost\nstate core 0 0\nstate core 1 5\nend\n");
	b->fake->core_total -= 4;
	b->fake->core_lost = 4;
	core_event(b, 5, 5);
	expect_events(b, "core 1 5>5 seq=16\n");
	/* The same where another one is missing before it. */
	b->fake->core_total += 4;
	fake_event_error(b->fake, ENOBUFS);
	fake_drop_core_events(b->fake, 1);
	expect_events(b, "lost core 1 of 5 changes\n"
			 "begin lost\nstate core 0 0\nstate core 1 5\nend\n");
	b->fake->core_total -= 4;
	b->fake->core_lost = 4;
	fake_drop_core_events(b->fake, 1);
	core_event(b, 5, 5);
	expect_events(b, "lost core 1\ncore 1 5>5 seq=19\n"
			 "begin lost\nstate core 0 0\nstate core 1 5\nend\n");
	/* Counted by the module before it said so. */
	b->fake->core_total += 2;
	core_event(b, 5, 5);
	expect_events(b, "lost core 2 by module\n"
			 "core 1 5>5 seq=20\n"
			 "begin lost\nstate core 0 0\nstate core 1 5\nend\n");
	b->fake->core_total -= 2;
	b->fake->core_lost = 2;
	core_event(b, 5, 5);
	expect_events(b, "core 1 5>5 seq=21\n");
	/* Numbers that do not fit together. */
	fake_drop_core_events(b->fake, 10);
	b->fake->core_total -= 11;
	core_event(b, 5, 6);
	expect_events(b, "lost core 10 of 10 changes or more\n"
			 "core 1 5>6 seq=32\n"
			 "begin lost\nstate core 0 0\nstate core 1 6\nend\n");
	fake_event_error(b->fake, ENOBUFS);
	fake_drop_core_events(b->fake, 10);
	b->fake->core_total = 1;
	expect_events(b, "lost core 10 of 10 changes or more\n"
			 "begin lost\nstate core 0 0\nstate core 1 6\nend\n");
}

static void test_gap_of_settings(void **state)
{
	struct bench *b = *state;
	struct fake_setting s = { .pid = 100, .off = 1, .id = 5 };

	subscribe(b, BOTH);
	skip_events(b);
	fake_drop_setting_events(b->fake, 2);
	fake_setting_event(b->fake, &s, PREFETCH_CHANGE_SET);
	expect_events(b, "lost setting 2\n"
			 "setting 100/0 off=1 set seq=3\n"
			 "begin lost\n"
			 "state core 0 0\n"
			 "state core 1 0\n"
			 "end\n");
}

static void test_numbers_wrap(void **state)
{
	struct bench *b = *state;

	b->fake->core_seq = UINT32_MAX - 1;
	subscribe(b, PFNL_GROUP_CORE);
	skip_events(b);
	core_event(b, 0, 1);
	core_event(b, 1, 2);
	fake_drop_core_events(b->fake, 3);
	core_event(b, 2, 3);
	expect_events(b, "core 1 0>1 seq=4294967295\n"
			 "core 1 1>2 seq=0\n"
			 "lost core 3\n"
			 "core 1 2>3 seq=4\n"
			 "begin lost\nstate core 0 0\nstate core 1 3\nend\n");
}

/* The socket drops the end of a burst: no message follows that shows it. */
static void test_overrun_of_the_tail(void **state)
{
	struct bench *b = *state;

	subscribe(b, BOTH);
	skip_events(b);
	fake_event_error(b->fake, ENOBUFS);
	core_event(b, 0, 1);
	core_event(b, 1, 2);
	fake_drop_core_events(b->fake, 200000);
	fake_drop_setting_events(b->fake, 7);
	expect_events(b, "core 1 0>1 seq=1\n"
			 "core 1 1>2 seq=2\n"
			 "lost core 200000\n"
			 "lost setting 7\n"
			 "begin lost\n"
			 "state core 0 0\n"
			 "state core 1 2\n"
			 "end\n");
	core_event(b, 2, 3);
	expect_events(b, "core 1 2>3 seq=200003\n");
}

static void test_overrun_in_the_middle(void **state)
{
	struct bench *b = *state;

	subscribe(b, PFNL_GROUP_CORE);
	skip_events(b);
	fake_event_error(b->fake, ENOBUFS);
	core_event(b, 0, 1);
	fake_drop_core_events(b->fake, 5);
	core_event(b, 6, 7);
	expect_events(b, "core 1 0>1 seq=1\n"
			 "lost core 5\n"
			 "core 1 6>7 seq=7\n"
			 "begin lost\nstate core 0 0\nstate core 1 7\nend\n");
}

static void test_overrun_of_unknown(void **state)
{
	struct bench *b = *state;

	subscribe(b, PFNL_GROUP_CORE);
	skip_events(b);
	fake_event_error(b->fake, ENOBUFS);
	expect_events(b, "lost ? 0 or more\n"
			 "begin lost\nstate core 0 0\nstate core 1 0\nend\n");
}

/* A kernel whose socket never gets well must not keep us for ever. */
static void test_overrun_without_end(void **state)
{
	struct bench *b = *state;
	struct record r = { .used = 0 };
	int i;

	subscribe(b, PFNL_GROUP_CORE);
	skip_events(b);
	for (i = 0; i < 100; i++)
		fake_event_error(b->fake, ENOBUFS);
	assert_int_equal(pfnl_dispatch(b->h, record_event, &r), 0);
	assert_true(r.count < 100);
	core_event(b, 0, 1);
	for (i = 0; i < 100 && !strstr(r.text, "0>1"); i++)
		assert_int_equal(pfnl_dispatch(b->h, record_event, &r), 0);
	assert_non_null(strstr(r.text, "0>1"));
}

static void test_lost_by_module(void **state)
{
	struct bench *b = *state;

	subscribe(b, PFNL_GROUP_CORE);
	skip_events(b);
	b->fake->core_lost = 12;
	core_event(b, 0, 1);
	expect_events(b, "lost core 12 by module\n"
			 "core 1 0>1 seq=1\n"
			 "begin lost\nstate core 0 0\nstate core 1 1\nend\n");
}

static void test_long_gap_in_a_stream(void **state)
{
	struct bench *b = *state;
	struct record r = { .used = 0 };
	int i;

	subscribe(b, PFNL_GROUP_CORE);
	skip_events(b);
	core_event(b, 0, 1);
	fake_drop_core_events(b->fake, 1);
	/* The stream does not pause: the state comes within it. */
	for (i = 0; i < 5000; i++)
		core_event(b, 1, 2);
	r.stop_after = 4200;
	assert_int_equal(pfnl_dispatch(b->h, record_event, &r), 1);
	assert_non_null(strstr(r.text, "lost core 1\n"));
	r.used = 0;
	r.text[0] = '\0';
	r.stop_after = 0;
	assert_int_equal(pfnl_dispatch(b->h, record_event, &r), 0);
	assert_int_equal(r.count, 1 + 1 + 5000 + 4);
	assert_null(strstr(r.text, "lost"));
}

/* What is cut off must not be looked for where the last message was. */
static void test_too_large(void **state)
{
	struct bench *b = *state;

	subscribe(b, PFNL_GROUP_CORE);
	skip_events(b);
	core_event(b, 0, 1);
	fake_queue_claim(b->fake, PFNL_EVENTS, 1 << 30);
	expect_events(b, "core 1 0>1 seq=1\n"
			 "lost ? 1 or more\n"
			 "begin lost\nstate core 0 0\nstate core 1 1\nend\n");
}

/* Something happens between the empty socket and the count. */
static void happen(struct fake *f, uint8_t cmd)
{
	const struct fake_core_event event = {
		.domain = 1,
		.old_mask = 1,
		.new_mask = 2,
		.folded = 1,
	};

	if (cmd != PREFETCH_CMD_INFO_GET)
		return;
	f->on_request = NULL;
	fake_core_event(f, &event);
}

static void test_late_is_not_lost(void **state)
{
	struct bench *b = *state;

	subscribe(b, PFNL_GROUP_CORE);
	skip_events(b);
	core_event(b, 0, 1);
	fake_event_error(b->fake, ENOBUFS);
	fake_drop_core_events(b->fake, 2);
	b->fake->on_request = happen;
	expect_events(b, "core 1 0>1 seq=1\n"
			 "lost core 2\n"
			 "core 1 1>2 seq=4\n"
			 "begin lost\nstate core 0 0\nstate core 1 1\nend\n");
}

/* Nothing but losses: the state is told all the same. */
static void test_overrun_for_ever(void **state)
{
	struct bench *b = *state;
	struct record r = { .used = 0 };

	subscribe(b, PFNL_GROUP_CORE);
	skip_events(b);
	b->fake->event_error_always = ENOBUFS;
	assert_int_equal(pfnl_dispatch(b->h, record_event, &r), 0);
	assert_string_equal(r.text, "lost ? 0 or more\nbegin lost\n"
				    "state core 0 0\nstate core 1 0\nend\n");
	b->fake->event_error_always = 0;
	core_event(b, 0, 1);
	expect_events(b, "core 1 0>1 seq=1\n");
}

static void test_bad_setting_event(void **state)
{
	static const int types[] = { PREFETCH_A_SETTING_CHANGE,
				     PREFETCH_A_SETTING_SEQ, 0 };
	struct bench *b = *state;
	struct fake_bytes bytes = { 0 };
	size_t place;
	size_t i;

	subscribe(b, PFNL_GROUP_SETTING);
	skip_events(b);
	for (i = 0; i < 3; i++) {
		place = fake_begin_genl(&bytes, b->fake->family, 0, 0,
					PREFETCH_CMD_SETTING_NTF);
		fake_fill_setting(b->fake, &bytes, 100, 0, NULL);
		if (types[i])
			fake_u32(&bytes, types[i], 1);
		fake_end(&bytes, place);
		fake_queue(b->fake, PFNL_EVENTS, &bytes);
		expect_events(b, "lost setting 1 or more\nbegin lost\nend\n");
	}
}

static void test_bad_event(void **state)
{
	static const int types[] = { PREFETCH_A_EVENT_DOMAIN,
				     PREFETCH_A_EVENT_SEQ,
				     PREFETCH_A_EVENT_FOLDED };
	struct bench *b = *state;
	struct fake_bytes bytes = { 0 };
	size_t place;
	size_t i;

	subscribe(b, PFNL_GROUP_CORE);
	skip_events(b);
	for (i = 0; i < 3; i++) {
		place = fake_begin_genl(&bytes, b->fake->family, 0, 0,
					PREFETCH_CMD_CORE_NTF);
		fake_u32(&bytes, types[i], 1);
		fake_end(&bytes, place);
		fake_queue(b->fake, PFNL_EVENTS, &bytes);
		expect_events(b, "lost core 1 or more\n"
				 "begin lost\n"
				 "state core 0 0\nstate core 1 0\nend\n");
	}
	/* A datagram that is no message, and one too large. */
	fake_raw(b->fake, PFNL_EVENTS, "abcde", 5);
	fake_queue_claim(b->fake, PFNL_EVENTS, 1 << 30);
	expect_events(b, "lost ? 1 or more\nlost ? 1 or more\nbegin lost\n"
			 "state core 0 0\nstate core 1 0\nend\n");
	core_event(b, 0, 1);
	expect_events(b, "core 1 0>1 seq=1\n");
	/* One that had a number: it is not missed twice. */
	fake_drop_core_events(b->fake, 1);
	fake_raw(b->fake, PFNL_EVENTS, "abcde", 5);
	place = fake_begin_genl(&bytes, b->fake->family, 0, 0,
				PREFETCH_CMD_CORE_NTF);
	fake_end(&bytes, place);
	fake_queue(b->fake, PFNL_EVENTS, &bytes);
	core_event(b, 1, 2);
	expect_events(b, "lost ? 1 or more\nlost core 1 or more\n"
			 "core 1 1>2 seq=3\n"
			 "begin lost\nstate core 0 0\nstate core 1 2\nend\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BENCH_TEST(test_gap),
		BENCH_TEST(test_gap_of_changes),
		BENCH_TEST(test_gap_of_settings),
		BENCH_TEST(test_numbers_wrap),
		BENCH_TEST(test_overrun_of_the_tail),
		BENCH_TEST(test_overrun_in_the_middle),
		BENCH_TEST(test_overrun_of_unknown),
		BENCH_TEST(test_overrun_without_end),
		BENCH_TEST(test_lost_by_module),
		BENCH_TEST(test_long_gap_in_a_stream),
		BENCH_TEST(test_bad_event),
		BENCH_TEST(test_too_large),
		BENCH_TEST(test_late_is_not_lost),
		BENCH_TEST(test_overrun_for_ever),
		BENCH_TEST(test_bad_setting_event),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
