// SPDX-License-Identifier: GPL-2.0-or-later
/* The module that is not there, goes, comes back, or lacks a group. */
#include "common.h"
#include "message.h"

#define START "begin start\nstate core 0 0\nstate core 1 0\nend\n"
#define BACK  "begin back\nstate core 0 0\nstate core 1 0\nend\n"

static void event_of_core_0(struct bench *b)
{
	const struct fake_core_event event = { .new_mask = 1, .folded = 1 };

	fake_core_event(b->fake, &event);
}

static void test_gone_and_back(void **state)
{
	struct bench *b = *state;

	assert_int_equal(pfnl_subscribe(b->h, BOTH, 0), 0);
	expect_events(b, START);
	event_of_core_0(b);
	event_of_core_0(b);
	event_of_core_0(b);
	fake_unload(b->fake);
	expect_events(b, "core 0 0>1 seq=1\ncore 0 0>1 seq=2\n"
			 "core 0 0>1 seq=3\ngone\n");
	assert_int_equal(pfnl_group_error(b->h, PFNL_GROUP_CORE), -ENOENT);
	expect_events(b, "");
	fake_load(b->fake);
	expect_events(b, "back groups=3\n" BACK);
	assert_int_equal(pfnl_group_error(b->h, PFNL_GROUP_CORE), 0);
	/* The numbers began anew, and count from there. */
	fake_drop_core_events(b->fake, 1);
	event_of_core_0(b);
	expect_events(b, "lost core 1\ncore 0 0>1 seq=2\n"
			 "begin lost\nstate core 0 0\nstate core 1 0\nend\n");
}

static void test_many_times_unseen(void **state)
{
	struct bench *b = *state;
	int i;

	assert_int_equal(pfnl_subscribe(b->h, BOTH, 0), 0);
	expect_events(b, START);
	/* Each word about the module is older than what it says. */
	for (i = 0; i < 5; i++) {
		fake_unload(b->fake);
		fake_load(b->fake);
	}
	expect_events(b, "gone\nback groups=3\n" BACK);
	for (i = 0; i < 5; i++) {
		fake_unload(b->fake);
		fake_load(b->fake);
	}
	fake_unload(b->fake);
	expect_events(b, "gone\n");
	expect_events(b, "");
}

/* The word about it got lost: the next resync finds out. */
static void test_gone_without_a_word(void **state)
{
	struct bench *b = *state;

	assert_int_equal(pfnl_subscribe(b->h, BOTH, 0), 0);
	expect_events(b, START);
	b->fake->joined_notify = false;
	fake_unload(b->fake);
	b->fake->joined_notify = true;
	fake_event_error(b->fake, ENOBUFS);
	expect_events(b, "gone\n");
	/* Once is enough. */
	fake_event_error(b->fake, ENOBUFS);
	expect_events(b, "");
	b->fake->joined_notify = false;
	fake_load(b->fake);
	b->fake->joined_notify = true;
	fake_event_error(b->fake, ENOBUFS);
	expect_events(b, "back groups=3\n" BACK);
}

static void test_back_without_a_word(void **state)
{
	struct bench *b = *state;

	assert_int_equal(pfnl_subscribe(b->h, BOTH, 0), 0);
	expect_events(b, START);
	b->fake->joined_notify = false;
	fake_unload(b->fake);
	fake_load(b->fake);
	fake_event_error(b->fake, ENOBUFS);
	expect_events(b, "gone\nback groups=3\n" BACK);
	event_of_core_0(b);
	expect_events(b, "core 0 0>1 seq=1\n");
}

static void test_gone_during_state(void **state)
{
	struct bench *b = *state;

	assert_int_equal(pfnl_subscribe(b->h, BOTH, 0), 0);
	fake_unload(b->fake);
	expect_events(b, "gone\n");
	expect_events(b, "");
}

static void test_not_there(void **state)
{
	struct bench *b = *state;

	fake_unload(b->fake);
	assert_int_equal(pfnl_subscribe(b->h, BOTH, 0), -ENOENT);
	assert_true(pfnl_module_missing(b->h));
	assert_int_equal(pfnl_event_fd(b->h), -EBADF);
	assert_int_equal(pfnl_subscribe(b->h, BOTH, PFNL_SUBSCRIBE_WAIT), 0);
	assert_string_equal(pfnl_errmsg(b->h), "");
	assert_true(pfnl_events_pending(b->h));
	expect_events(b, "gone\n");
	fake_load(b->fake);
	expect_events(b, "back groups=3\n" BACK);
}

static void test_older_module(void **state)
{
	struct bench *b = *state;

	b->fake->core_group = false;
	assert_int_equal(pfnl_subscribe(b->h, BOTH, 0), 0);
	assert_int_equal(pfnl_group_error(b->h, PFNL_GROUP_CORE), -EOPNOTSUPP);
	assert_int_equal(pfnl_group_error(b->h, PFNL_GROUP_SETTING), 0);
	/* The state can be had all the same. */
	expect_events(b, START);
	fake_unload(b->fake);
	b->fake->core_group = true;
	fake_load(b->fake);
	expect_events(b, "gone\nback groups=3\n" BACK);
	pfnl_unsubscribe(b->h);
	b->fake->core_group = false;
	assert_int_equal(pfnl_subscribe(b->h, PFNL_GROUP_CORE, 0), -EOPNOTSUPP);
	assert_string_equal(pfnl_errmsg(b->h),
			    "this module has no event group core");
}

static void test_not_permitted(void **state)
{
	struct bench *b = *state;

	b->fake->privileged = false;
	assert_int_equal(pfnl_subscribe(b->h, PFNL_GROUP_CORE, 0), -EPERM);
	assert_string_equal(pfnl_errmsg(b->h),
			    "cannot join the event group core: Operation not "
			    "permitted");
	assert_false(pfnl_module_missing(b->h));
	assert_int_equal(pfnl_subscribe(b->h, BOTH, 0), -EPERM);
	b->fake->privileged = true;
	b->fake->core_join_error = EPERM;
	assert_int_equal(pfnl_subscribe(b->h, BOTH, 0), 0);
	assert_int_equal(pfnl_group_error(b->h, PFNL_GROUP_CORE), -EPERM);
	assert_int_equal(pfnl_group_error(b->h, PFNL_GROUP_SETTING), 0);
	expect_events(b, START);
	fake_unload(b->fake);
	fake_load(b->fake);
	expect_events(b, "gone\nback groups=2\n" BACK);
	pfnl_unsubscribe(b->h);
	b->fake->core_group = b->fake->setting_group = true;
	b->fake->core_group = false;
	b->fake->setting_join_error = EPERM;
	/* Not to be allowed says more than that there is no such group. */
	assert_int_equal(pfnl_subscribe(b->h, BOTH, 0), -EPERM);
	b->fake->core_group = true;
	b->fake->setting_group = false;
	b->fake->core_join_error = EPERM;
	assert_int_equal(pfnl_subscribe(b->h, BOTH, 0), -EPERM);
	b->fake->setting_group = true;
	b->fake->core_join_error = b->fake->setting_join_error = ENOMEM;
	assert_int_equal(pfnl_subscribe(b->h, BOTH, 0), -ENOMEM);
}

/* Other families come and go, too. */
static void test_other_families(void **state)
{
	static const uint8_t cmds[] = { CTRL_CMD_NEWFAMILY, CTRL_CMD_DELFAMILY,
					CTRL_CMD_NEWMCAST_GRP };
	struct bench *b = *state;
	struct fake_bytes bytes = { 0 };
	size_t place;
	size_t i;

	assert_int_equal(pfnl_subscribe(b->h, BOTH, 0), 0);
	expect_events(b, START);
	for (i = 0; i < 3; i++) {
		place = fake_begin_genl(&bytes, GENL_ID_CTRL, 0, 0, cmds[i]);
		fake_text(&bytes, CTRL_ATTR_FAMILY_NAME, "prefetcher");
		fake_u16(&bytes, CTRL_ATTR_FAMILY_ID, 31);
		fake_end(&bytes, place);
		fake_queue(b->fake, PFNL_EVENTS, &bytes);
		/* And one that says nothing of itself. */
		place = fake_begin_genl(&bytes, GENL_ID_CTRL, 0, 0, cmds[i]);
		fake_end(&bytes, place);
		fake_queue(b->fake, PFNL_EVENTS, &bytes);
	}
	expect_events(b, "");
}

/* Requests notice a new number before the events do. */
static void test_request_between(void **state)
{
	struct bench *b = *state;
	struct pfnl_info info;

	assert_int_equal(pfnl_subscribe(b->h, BOTH, 0), 0);
	expect_events(b, START);
	fake_unload(b->fake);
	fake_load(b->fake);
	assert_int_equal(pfnl_info(b->h, &info), 0);
	expect_events(b, "gone\nback groups=3\n" BACK);
}

/* A module that is said to be there, and does not answer. */
static void test_contradiction(void **state)
{
	struct bench *b = *state;
	struct record r = { .used = 0 };
	struct fake_fault *fault;

	assert_int_equal(pfnl_subscribe(b->h, BOTH, 0), 0);
	fault = fake_fault(b->fake, PREFETCH_CMD_CORE_GET, FAKE_REFUSE);
	fault->error = ENOENT;
	fault->count = 1000000;
	assert_int_equal(pfnl_dispatch(b->h, record_event, &r), 0);
	assert_string_equal(r.text, "begin start\nend error=2 core-get: No "
				    "such file or directory\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BENCH_TEST(test_gone_and_back),
		BENCH_TEST(test_many_times_unseen),
		BENCH_TEST(test_gone_without_a_word),
		BENCH_TEST(test_back_without_a_word),
		BENCH_TEST(test_gone_during_state),
		BENCH_TEST(test_not_there),
		BENCH_TEST(test_older_module),
		BENCH_TEST(test_not_permitted),
		BENCH_TEST(test_other_families),
		BENCH_TEST(test_request_between),
		BENCH_TEST(test_contradiction),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
