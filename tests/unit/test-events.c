// SPDX-License-Identifier: GPL-2.0-or-later
/* Events: the state first, then what happens. */
#include <poll.h>

#include "common.h"
#include "message.h"

static bool readable(struct bench *b)
{
	struct pollfd p = { .fd = pfnl_event_fd(b->h), .events = POLLIN };

	return poll(&p, 1, 0) == 1;
}

static void test_state_first(void **state)
{
	struct bench *b = *state;

	fake_add_setting(b->fake, 100, 0, 1, 0);
	fake_run(b->fake, 2, 100, 101);
	subscribe(b, BOTH);
	/* What comes in before the state is told after it. */
	core_event(b, 1, 2);
	core_event(b, 2, 3);
	expect_events(b, "begin start\n"
			 "state core 0 0\n"
			 "state core 1 3\n"
			 "state setting 100/0 off=1\n"
			 "end\n"
			 "core 1 1>2 seq=1\n"
			 "core 1 2>3 seq=2\n");
	expect_events(b, "");
}

static void test_one_group(void **state)
{
	struct bench *b = *state;

	fake_add_setting(b->fake, 100, 0, 1, 0);
	subscribe(b, PFNL_GROUP_SETTING);
	assert_int_equal(pfnl_group_error(b->h, PFNL_GROUP_SETTING), 0);
	assert_int_equal(pfnl_group_error(b->h, PFNL_GROUP_CORE), -EINVAL);
	expect_events(b, "begin start\n"
			 "state setting 100/0 off=1\n"
			 "end\n");
	pfnl_unsubscribe(b->h);
	subscribe(b, PFNL_GROUP_CORE);
	expect_events(b, "begin start\nstate core 0 0\nstate core 1 0\nend\n");
}

static int check_core(const struct pfnl_event *event, void *arg)
{
	const struct pfnl_core_event *e = &event->u.core;

	++*(int *)arg;
	assert_int_equal(event->kind, PFNL_EVENT_CORE);
	assert_int_equal(e->domain, 1);
	assert_int_equal(e->old_mask, 1);
	assert_int_equal(e->new_mask, 2);
	assert_int_equal(e->cause, PREFETCH_CAUSE_SWITCH);
	assert_int_equal(e->cpu, 2);
	assert_int_equal(e->pid, 100);
	assert_int_equal(e->tid, 101);
	assert_string_equal(e->comm, "worker");
	assert_int_equal(e->time, 77);
	assert_int_equal(e->folded, 3);
	assert_int_equal(e->lost, 0);
	assert_int_equal(e->n_cpus, 2);
	assert_int_equal(e->cpus[0], 2);
	assert_int_equal(e->cpus[1], 3);
	return 0;
}

static void test_core_fields(void **state)
{
	struct bench *b = *state;
	int n = 0;

	subscribe(b, PFNL_GROUP_CORE);
	skip_events(b);
	assert_false(readable(b));
	core_event(b, 1, 2);
	assert_true(readable(b));
	assert_int_equal(pfnl_dispatch(b->h, check_core, &n), 0);
	assert_int_equal(n, 1);
	assert_false(readable(b));
}

static void test_settings(void **state)
{
	struct bench *b = *state;
	struct pfnl_setting_request q = PFNL_SETTING_REQUEST_INIT;

	fake_run(b->fake, 0, 100, 100);
	subscribe(b, BOTH);
	skip_events(b);
	q.pid = 100;
	q.off = 1;
	assert_int_equal(pfnl_setting_set(b->h, &q, NULL), 0);
	q.pid = 0;
	q.tid = 101;
	assert_int_equal(pfnl_setting_set(b->h, &q, NULL), 0);
	q.off = 0;
	q.clear = 1;
	assert_int_equal(pfnl_setting_set(b->h, &q, NULL), 0);
	fake_exit(b->fake, 100, 100);
	expect_events(b, "setting 100/0 off=1 set seq=1\n"
			 "core 0 0>1 seq=1\n"
			 "setting 100/101 off=1 set seq=2\n"
			 "setting 100/101 off=0 cleared seq=3\n"
			 "setting 100/0 off=1 exited seq=4\n"
			 "core 0 1>0 seq=2\n");
}

static void test_other_errors_end(void **state)
{
	struct bench *b = *state;
	struct record r = { .used = 0 };

	subscribe(b, PFNL_GROUP_CORE);
	skip_events(b);
	fake_event_error(b->fake, ENOMEM);
	assert_int_equal(pfnl_dispatch(b->h, record_event, &r), -ENOMEM);
	assert_string_equal(pfnl_errmsg(b->h),
			    "cannot receive events: Cannot allocate memory");
	expect_events(b, "");
}

static int check_long(const struct pfnl_event *event, void *arg)
{
	++*(int *)arg;
	assert_int_equal(event->kind, PFNL_EVENT_CORE);
	assert_string_equal(event->u.core.comm, "a-name-of-15-ch");
	return 0;
}

/* A kernel with longer names than ours. */
static void test_long_name(void **state)
{
	const struct fake_core_event event = {
		.folded = 1,
		.comm = "a-name-of-15-characters-and-more",
	};
	struct bench *b = *state;
	int n = 0;

	subscribe(b, PFNL_GROUP_CORE);
	skip_events(b);
	fake_core_event(b->fake, &event);
	assert_int_equal(pfnl_dispatch(b->h, check_long, &n), 0);
	assert_int_equal(n, 1);
}

static void test_unknown_messages(void **state)
{
	static const uint16_t types[] = { 30, 31, GENL_ID_CTRL, NLMSG_NOOP };
	struct bench *b = *state;
	struct fake_bytes bytes = { 0 };
	size_t place;
	size_t i;

	subscribe(b, PFNL_GROUP_CORE);
	skip_events(b);
	/* One that is no more than a header, after one that was more. */
	core_event(b, 0, 1);
	place = fake_begin(&bytes, b->fake->family, 0, 0);
	fake_end(&bytes, place);
	fake_queue(b->fake, PFNL_EVENTS, &bytes);
	expect_events(b, "core 1 0>1 seq=1\n");
	/* One of another family that looks like ours. */
	place = fake_begin_genl(&bytes, b->fake->family + 1, 0, 0,
				PREFETCH_CMD_CORE_NTF);
	fake_end(&bytes, place);
	fake_queue(b->fake, PFNL_EVENTS, &bytes);
	/* Of a group that was not asked for. */
	place = fake_begin_genl(&bytes, b->fake->family, 0, 0,
				PREFETCH_CMD_SETTING_NTF);
	fake_fill_setting(b->fake, &bytes, 100, 0, NULL);
	fake_u32(&bytes, PREFETCH_A_SETTING_CHANGE, PREFETCH_CHANGE_SET);
	fake_u32(&bytes, PREFETCH_A_SETTING_SEQ, 1);
	fake_end(&bytes, place);
	fake_queue(b->fake, PFNL_EVENTS, &bytes);
	/* Of a newer module, another family, nlctrl. */
	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		place = fake_begin_genl(&bytes, types[i], 0, 0, 200);
		fake_end(&bytes, place);
		fake_queue(b->fake, PFNL_EVENTS, &bytes);
	}
	expect_events(b, "");
}

static void test_callback_ends(void **state)
{
	struct bench *b = *state;
	struct record r = { .stop_after = 1 };
	int i;

	fake_add_setting(b->fake, 100, 0, 1, 0);
	subscribe(b, BOTH);
	for (i = 0; i < 5; i++) {
		assert_true(pfnl_events_pending(b->h));
		r.since_stop = 0;
		assert_int_equal(pfnl_dispatch(b->h, record_event, &r), 1);
	}
	assert_string_equal(r.text, "begin start\n"
				    "state core 0 0\n"
				    "state core 1 0\n"
				    "state setting 100/0 off=1\n"
				    "end\n");
	assert_false(pfnl_events_pending(b->h));
	expect_events(b, "");
	/* The loss and its message are two events of one. */
	fake_drop_core_events(b->fake, 1);
	core_event(b, 0, 1);
	r.used = r.since_stop = 0;
	assert_int_equal(pfnl_dispatch(b->h, record_event, &r), 1);
	assert_string_equal(r.text, "lost core 1\n");
	assert_true(pfnl_events_pending(b->h));
	expect_events(b, "core 1 0>1 seq=2\n"
			 "begin lost\nstate core 0 0\nstate core 1 1\n"
			 "state setting 100/0 off=1\nend\n");
}

static int ask_inside(const struct pfnl_event *event, void *arg)
{
	struct bench *b = arg;
	struct pfnl_setting s;
	struct pfnl_core core;
	uint32_t domain;

	assert_int_equal(pfnl_dispatch(b->h, record_event, NULL), -EBUSY);
	assert_int_equal(pfnl_setting_get(b->h, 100, 0, &s), 0);
	if (event->kind != PFNL_EVENT_STATE_CORE)
		return 0;
	domain = event->u.state_core.domain;
	assert_int_equal(pfnl_core_get(b->h, domain, false, &core), 0);
	assert_int_equal(core.n_cpus, event->u.state_core.n_cpus);
	assert_int_equal(core.cpus[0].id, event->u.state_core.cpus[0].id);
	pfnl_core_clear(&core);
	return 0;
}

static void test_requests_in_callback(void **state)
{
	struct bench *b = *state;

	fake_add_setting(b->fake, 100, 0, 1, 0);
	subscribe(b, BOTH);
	assert_int_equal(pfnl_dispatch(b->h, ask_inside, b), 0);
}

static void test_state_with_trouble(void **state)
{
	struct bench *b = *state;
	struct fake_fault *fault;

	fake_add_setting(b->fake, 100, 0, 1, 0);
	subscribe(b, BOTH);
	fault = fake_fault(b->fake, PREFETCH_CMD_SETTING_GET, FAKE_DONE_ERROR);
	fault->error = ENOMEM;
	fault->text = "no room";
	/* What could be had is told. */
	expect_events(b, "begin start\nstate core 0 0\nstate core 1 0\n"
			 "state setting 100/0 off=1\n"
			 "end error=12 no room\n");
	fault->kind = FAKE_INTERRUPT;
	fault->count = 1000;
	fake_drop_core_events(b->fake, 1);
	core_event(b, 0, 1);
	expect_events(b, "lost core 1\ncore 1 0>1 seq=2\n"
			 "begin lost\nstate core 0 0\nstate core 1 1\n"
			 "state setting 100/0 off=1\nend interrupted\n");
	fault->kind = FAKE_DROP_ATTR;
	fault->attr_type = PREFETCH_A_SETTING_SCOPE;
	fault->count = 1;
	fake_drop_core_events(b->fake, 1);
	core_event(b, 1, 2);
	expect_events(b, "lost core 1\ncore 1 1>2 seq=4\n"
			 "begin lost\nstate core 0 0\nstate core 1 2\n"
			 "end error=74 kernel's message, setting: no "
			 "\"scope\"\n");
	/* The numbers cannot be had: the state still can. */
	b->fake->n_faults = 0;
	fault = fake_fault(b->fake, PREFETCH_CMD_INFO_GET, FAKE_REFUSE);
	fault->error = ENOMEM;
	fake_event_error(b->fake, ENOBUFS);
	expect_events(b, "lost ? 0 or more\nbegin lost\nstate core 0 0\n"
			 "state core 1 2\nstate setting 100/0 off=1\nend\n");
}

static void test_misuse(void **state)
{
	struct bench *b = *state;

	assert_int_equal(pfnl_dispatch(b->h, record_event, NULL), -EBADF);
	assert_int_equal(pfnl_event_fd(b->h), -EBADF);
	assert_int_equal(pfnl_receive_buffer(b->h), 0);
	assert_false(pfnl_events_pending(b->h));
	assert_int_equal(pfnl_group_error(b->h, PFNL_GROUP_CORE), -EINVAL);
	pfnl_unsubscribe(b->h);
	assert_int_equal(pfnl_subscribe(b->h, 0, 0), -EINVAL);
	assert_int_equal(pfnl_subscribe(b->h, 4, 0), -EINVAL);
	assert_int_equal(pfnl_subscribe(b->h, 1, 2), -EINVAL);
	assert_int_equal(pfnl_set_receive_buffer(b->h, 1000000), 0);
	subscribe(b, PFNL_GROUP_CORE);
	assert_int_equal(b->fake->buffer, 2000000);
	assert_int_equal(pfnl_receive_buffer(b->h), 2000000);
	assert_int_equal(pfnl_set_receive_buffer(b->h, 0), -EBUSY);
	assert_int_equal(pfnl_subscribe(b->h, 1, 0), -EBUSY);
	pfnl_unsubscribe(b->h);
	assert_int_equal(pfnl_set_receive_buffer(b->h, 0), 0);
	subscribe(b, PFNL_GROUP_CORE);
	assert_int_equal(pfnl_receive_buffer(b->h), 8 * 1024 * 1024);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BENCH_TEST(test_state_first),
		BENCH_TEST(test_one_group),
		BENCH_TEST(test_core_fields),
		BENCH_TEST(test_settings),
		BENCH_TEST(test_other_errors_end),
		BENCH_TEST(test_long_name),
		BENCH_TEST(test_unknown_messages),
		BENCH_TEST(test_callback_ends),
		BENCH_TEST(test_requests_in_callback),
		BENCH_TEST(test_state_with_trouble),
		BENCH_TEST(test_misuse),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
