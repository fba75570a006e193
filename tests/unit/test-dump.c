// SPDX-License-Identifier: GPL-2.0-or-later
/* Lists: whole, interrupted, ended with an error, never ended. */
#include "common.h"

struct seen {
	uint32_t pids[2048];
	size_t n;
	size_t stop_at; /* 0: never */
};

static int see(const struct pfnl_setting *s, void *arg)
{
	struct seen *seen = arg;

	assert_true(s->present);
	seen->pids[seen->n++] = s->pid;
	return seen->n == seen->stop_at ? 42 : 0;
}

static void add_settings(struct bench *b, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		fake_add_setting(b->fake, 1000 + i, 0, 1, 0);
}

static int list(struct bench *b, struct seen *seen, unsigned int *flags)
{
	memset(seen, 0, sizeof(*seen));
	*flags = 99;
	return pfnl_setting_list(b->h, 0, 0, flags, see, seen);
}

static void test_sizes(void **state)
{
	static const uint32_t sizes[] = { 0, 1, 2, 3, 4, 7, 1000 };
	struct bench *b = *state;
	unsigned int flags;
	struct seen seen;
	size_t i, j;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		b->fake->n_settings = 0;
		add_settings(b, sizes[i]);
		assert_int_equal(list(b, &seen, &flags), 0);
		assert_int_equal(flags, 0);
		assert_int_equal(seen.n, sizes[i]);
		for (j = 0; j < seen.n; j++)
			assert_int_equal(seen.pids[j], 1000 + j);
	}
}

static void test_filter(void **state)
{
	struct bench *b = *state;
	struct seen seen = { .n = 0 };

	fake_add_setting(b->fake, 100, 0, 1, 0);
	fake_add_setting(b->fake, 100, 101, 2, 0);
	fake_add_setting(b->fake, 200, 0, 4, 0);
	assert_int_equal(pfnl_setting_list(b->h, 100, 0, NULL, see, &seen), 0);
	assert_int_equal(seen.n, 2);
	seen.n = 0;
	assert_int_equal(pfnl_setting_list(b->h, 0, 101, NULL, see, &seen), 0);
	assert_int_equal(seen.n, 1);
	assert_int_equal(pfnl_setting_list(b->h, 999, 0, NULL, see, &seen),
			 -ESRCH);
	assert_string_equal(pfnl_errattr(b->h), "pid");
	assert_int_equal(pfnl_setting_list(b->h, 100, 101, NULL, see, &seen),
			 -EINVAL);
	assert_int_equal(seen.n, 1);
}

static void test_callback_ends(void **state)
{
	struct bench *b = *state;
	struct seen seen = { .stop_at = 3 };
	unsigned int flags;

	add_settings(b, 10);
	assert_int_equal(pfnl_setting_list(b->h, 0, 0, NULL, see, &seen), 42);
	assert_int_equal(seen.n, 3);
	/* The rest is not in the way of the next request. */
	assert_int_equal(list(b, &seen, &flags), 0);
	assert_int_equal(seen.n, 10);
}

static void test_interrupted_once(void **state)
{
	struct bench *b = *state;
	unsigned int flags;
	struct seen seen;

	add_settings(b, 8);
	fake_fault(b->fake, PREFETCH_CMD_SETTING_GET, FAKE_INTERRUPT);
	b->fake->requests = 0;
	assert_int_equal(list(b, &seen, &flags), 0);
	assert_int_equal(flags, 0);
	/* Each once, although the list came twice. */
	assert_int_equal(seen.n, 8);
	assert_int_equal(b->fake->requests, 3);
}

static void test_interrupted_always(void **state)
{
	struct bench *b = *state;
	unsigned int flags;
	struct seen seen;

	add_settings(b, 8);
	fake_fault(b->fake, PREFETCH_CMD_SETTING_GET, FAKE_INTERRUPT)->count =
		1000;
	b->fake->requests = 0;
	assert_int_equal(list(b, &seen, &flags), 0);
	assert_int_equal(flags, PFNL_LIST_INTERRUPTED);
	assert_int_equal(seen.n, 8);
	/* The family, and four attempts. */
	assert_int_equal(b->fake->requests, 5);
	/* The same where only the end is marked. */
	b->fake->n_settings = 0;
	assert_int_equal(list(b, &seen, &flags), 0);
	assert_int_equal(flags, PFNL_LIST_INTERRUPTED);
}

static void test_error_at_the_end(void **state)
{
	struct bench *b = *state;
	struct fake_fault *fault;
	unsigned int flags;
	struct seen seen;

	add_settings(b, 8);
	fault = fake_fault(b->fake, PREFETCH_CMD_SETTING_GET, FAKE_DONE_ERROR);
	fault->error = ENODEV;
	fault->text = "the module is being unloaded";
	assert_int_equal(list(b, &seen, &flags), -ENODEV);
	assert_string_equal(pfnl_errmsg(b->h), "the module is being unloaded");
	assert_int_equal(seen.n, 0);
	fault->count = 1;
	fault->text = NULL;
	assert_int_equal(list(b, &seen, &flags), -ENODEV);
	assert_string_equal(pfnl_errmsg(b->h), "setting-get: No such device");
}

static void test_overrun(void **state)
{
	struct bench *b = *state;
	unsigned int flags;
	struct seen seen;

	add_settings(b, 5);
	fake_fault(b->fake, PREFETCH_CMD_SETTING_GET, FAKE_OVERRUN);
	assert_int_equal(list(b, &seen, &flags), 0);
	assert_int_equal(seen.n, 5);
	assert_int_equal(flags, 0);
	assert_string_equal(pfnl_errmsg(b->h), "");
	b->fake->faults[0].count = 1000;
	assert_int_equal(list(b, &seen, &flags), -ENOBUFS);
	/* What may have had an effect is not sent twice. */
	fake_fault(b->fake, PREFETCH_CMD_DEFAULT_SET, FAKE_OVERRUN);
	b->fake->requests = 0;
	assert_int_equal(pfnl_default_set(b->h, 1, 0, 0, NULL), -ENOBUFS);
	assert_int_equal(b->fake->requests, 1);
}

static void test_silence(void **state)
{
	struct bench *b = *state;
	struct pfnl_info info;
	unsigned int flags;
	struct seen seen;

	fake_fault(b->fake, PREFETCH_CMD_INFO_GET, FAKE_SILENCE);
	assert_int_equal(pfnl_info(b->h, &info), -ETIMEDOUT);
	assert_string_equal(pfnl_errmsg(b->h), "no answer from the kernel");
	assert_int_equal(pfnl_info(b->h, &info), 0);
	add_settings(b, 5);
	fake_fault(b->fake, PREFETCH_CMD_SETTING_GET, FAKE_ENDLESS);
	assert_int_equal(list(b, &seen, &flags), -ETIMEDOUT);
	assert_int_equal(seen.n, 0);
	/* A new socket has nothing left of the old list. */
	assert_int_equal(list(b, &seen, &flags), 0);
	assert_int_equal(seen.n, 5);
	assert_int_equal(b->fake->opens, 3);
}

static void test_strays(void **state)
{
	struct bench *b = *state;
	struct pfnl_info info;
	unsigned int flags;
	struct seen seen;

	fake_fault(b->fake, PREFETCH_CMD_INFO_GET, FAKE_STRAY);
	fake_fault(b->fake, PREFETCH_CMD_SETTING_GET, FAKE_STRAY);
	assert_int_equal(pfnl_info(b->h, &info), 0);
	assert_int_equal(info.domains, 2);
	add_settings(b, 5);
	assert_int_equal(list(b, &seen, &flags), 0);
	assert_int_equal(seen.n, 5);
}

static void test_too_long(void **state)
{
	struct bench *b = *state;
	struct pfnl_info info;

	fake_fault(b->fake, PREFETCH_CMD_INFO_GET, FAKE_HUGE);
	assert_int_equal(pfnl_info(b->h, &info), -EMSGSIZE);
	assert_int_equal(pfnl_info(b->h, &info), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BENCH_TEST(test_sizes),
		BENCH_TEST(test_filter),
		BENCH_TEST(test_callback_ends),
		BENCH_TEST(test_interrupted_once),
		BENCH_TEST(test_interrupted_always),
		BENCH_TEST(test_error_at_the_end),
		BENCH_TEST(test_overrun),
		BENCH_TEST(test_silence),
		BENCH_TEST(test_strays),
		BENCH_TEST(test_too_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
