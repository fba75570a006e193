// SPDX-License-Identifier: GPL-2.0-or-later
/* Refusals: the kernel's words and the attribute at fault, and our own. */
#include "common.h"

static int set(struct bench *b, uint32_t pid, uint32_t tid, uint32_t off,
	       uint32_t on, uint32_t clear, int inherit)
{
	struct pfnl_setting_request q = PFNL_SETTING_REQUEST_INIT;

	q.pid = pid;
	q.tid = tid;
	q.off = off;
	q.on = on;
	q.clear = clear;
	q.inherit = inherit;
	return pfnl_setting_set(b->h, &q, NULL);
}

static void expect(struct bench *b, int found, int error, const char *words,
		   const char *attr)
{
	assert_int_equal(found, error);
	assert_string_equal(pfnl_errmsg(b->h), words);
	if (attr) {
		assert_non_null(pfnl_errattr(b->h));
		assert_string_equal(pfnl_errattr(b->h), attr);
	} else {
		assert_null(pfnl_errattr(b->h));
	}
	assert_false(pfnl_module_missing(b->h));
}

static void test_kernel_words(void **state)
{
	struct bench *b = *state;

	expect(b, set(b, 999, 0, 1, 0, 0, -1), -ESRCH, "no such task", "pid");
	expect(b, set(b, 0, 999, 1, 0, 0, -1), -ESRCH, "no such task", "tid");
	expect(b, set(b, 100, 0, 1, 1, 0, -1), -EINVAL,
	       "a prefetcher is named both off and on", "on");
	expect(b, set(b, 100, 0, 1, 2, 2, -1), -EINVAL,
	       "a prefetcher is named both clear and off or on", "clear");
	expect(b, set(b, 100, 0, 0x10, 0, 0, -1), -EOPNOTSUPP,
	       "no core of this machine has that prefetcher", "off");
	expect(b, set(b, 100, 0, 0, 0x10, 0, -1), -EOPNOTSUPP,
	       "no core of this machine has that prefetcher", "on");
	expect(b, set(b, 0, 101, 1, 0, 0, 1), -EINVAL,
	       "a thread's setting cannot be inherited", "inherit");
	b->fake->max_settings = 0;
	expect(b, set(b, 100, 0, 1, 0, 0, -1), -ENOSPC,
	       "the limit of settings is reached (parameter max_settings)",
	       NULL);
	assert_int_equal(b->fake->n_settings, 0);
}

static void test_start_time(void **state)
{
	struct bench *b = *state;
	struct pfnl_setting_request q = PFNL_SETTING_REQUEST_INIT;

	q.pid = 100;
	q.off = 1;
	q.start_time = 5;
	expect(b, pfnl_setting_set(b->h, &q, NULL), -ESRCH,
	       "the task did not start at that time", "start-time");
	q.start_time = UINT64_C(1000000100);
	assert_int_equal(pfnl_setting_set(b->h, &q, NULL), 0);
}

static void test_not_permitted(void **state)
{
	struct bench *b = *state;
	struct pfnl_core core;

	b->fake->privileged = false;
	expect(b, set(b, 200, 0, 1, 0, 0, -1), -EPERM,
	       "the task belongs to somebody else, and CAP_SYS_NICE is lacking",
	       NULL);
	expect(b, pfnl_default_set(b->h, 1, 0, 0, NULL), -EPERM,
	       "changing the machine default needs CAP_SYS_ADMIN", NULL);
	expect(b, pfnl_core_get(b->h, 0, true, &core), -EPERM,
	       "reading the registers needs CAP_SYS_ADMIN", "verify");
	expect(b, pfnl_core_repair(b->h, PFNL_DOMAIN_ALL, NULL, NULL), -EPERM,
	       "repairing needs CAP_SYS_ADMIN", NULL);
	assert_int_equal(pfnl_core_get(b->h, 0, false, &core), 0);
	pfnl_core_clear(&core);
}

static int no_core(const struct pfnl_core *core, void *arg)
{
	(void)core;
	(void)arg;
	fail();
	return 0;
}

static void test_not_found(void **state)
{
	struct bench *b = *state;
	struct pfnl_core core;

	memset(&core, 0x55, sizeof(core));
	expect(b, pfnl_core_get(b->h, 7, false, &core), -ENOENT, "no such core",
	       "domain");
	/* Untouched, as promised. */
	assert_int_equal(core.domain, 0x55555555);
	expect(b, pfnl_core_repair(b->h, 7, NULL, NULL), -ENOENT,
	       "no such core", "domain");
	b->fake->privileged = false;
	expect(b, pfnl_core_list(b->h, true, NULL, no_core, NULL), -EPERM,
	       "reading the registers needs CAP_SYS_ADMIN", "verify");
}

static void test_our_words(void **state)
{
	struct bench *b = *state;
	struct pfnl_setting_request q = PFNL_SETTING_REQUEST_INIT;
	struct pfnl_setting s;
	int requests = b->fake->requests;

	expect(b, pfnl_setting_get(b->h, -1, 0, &s), -EINVAL,
	       "pid out of range", "pid");
	expect(b, pfnl_setting_get(b->h, 0, -5, &s), -EINVAL,
	       "tid out of range", "tid");
	expect(b, pfnl_setting_get(b->h, 100, 101, &s), -EINVAL,
	       "both pid and tid are given", "tid");
	expect(b, pfnl_setting_get(b->h, 0, 0, &s), -EINVAL,
	       "neither pid nor tid is given", "pid");
	expect(b, set(b, 0x80000000u, 0, 1, 0, 0, -1), -EINVAL,
	       "pid out of range", "pid");
	expect(b, set(b, 100, 0, 1, 0, 0, 2), -EINVAL,
	       "inherit is neither -1, 0 nor 1", "inherit");
	q.pid = 100;
	q.reserved[1] = 1;
	expect(b, pfnl_setting_set(b->h, &q, NULL), -EINVAL,
	       "the request asks for something this library does not know",
	       NULL);
	assert_int_equal(b->fake->requests, requests);
}

static void test_no_words(void **state)
{
	struct bench *b = *state;
	struct fake_fault *fault;

	fault = fake_fault(b->fake, PREFETCH_CMD_SETTING_SET, FAKE_REFUSE);
	fault->error = ENOMEM;
	expect(b, set(b, 100, 0, 1, 0, 0, -1), -ENOMEM,
	       "setting-set: Cannot allocate memory", NULL);
	/* A good call forgets the words. */
	assert_int_equal(set(b, 100, 0, 1, 0, 0, -1), 0);
	assert_string_equal(pfnl_errmsg(b->h), "");
}

static void test_older_module(void **state)
{
	struct bench *b = *state;
	struct fake_fault *fault;

	fault = fake_fault(b->fake, PREFETCH_CMD_CORE_REPAIR, FAKE_REFUSE);
	fault->error = EOPNOTSUPP;
	expect(b, pfnl_core_repair(b->h, PFNL_DOMAIN_ALL, NULL, NULL),
	       -EOPNOTSUPP, "core-repair: Operation not supported", NULL);
}

static void test_missing_attribute(void **state)
{
	struct bench *b = *state;
	struct fake_fault *fault;

	fault = fake_fault(b->fake, PREFETCH_CMD_SETTING_SET, FAKE_REFUSE);
	fault->error = EINVAL;
	fault->missing = true;
	fault->attr_type = PREFETCH_A_SETTING_CLEAR;
	fault->text = "what to clear?";
	expect(b, set(b, 100, 0, 1, 0, 0, -1), -EINVAL, "what to clear?",
	       "clear");
	/* A type that is not in our table has no name. */
	fault->count = 1;
	fault->attr_type = 999;
	expect(b, set(b, 100, 0, 1, 0, 0, -1), -EINVAL, "what to clear?", NULL);
}

static void test_words_for_a_terminal(void **state)
{
	struct bench *b = *state;
	struct fake_fault *fault;
	char words[2000];

	fault = fake_fault(b->fake, PREFETCH_CMD_SETTING_SET, FAKE_REFUSE);
	fault->error = EINVAL;
	fault->text = "a\nb\x1b[2Jc\x7f";
	expect(b, set(b, 100, 0, 1, 0, 0, -1), -EINVAL, "a?b?[2Jc?", NULL);
	fault->count = 1;
	memset(words, 'x', sizeof(words));
	words[sizeof(words) - 1] = '\0';
	fault->text = words;
	assert_int_equal(set(b, 100, 0, 1, 0, 0, -1), -EINVAL);
	assert_int_equal(strlen(pfnl_errmsg(b->h)), 511);
}

static void test_module_missing(void **state)
{
	struct bench *b = *state;
	struct pfnl_info info;

	fake_unload(b->fake);
	assert_int_equal(pfnl_info(b->h, &info), -ENOENT);
	assert_true(pfnl_module_missing(b->h));
	assert_string_equal(pfnl_errmsg(b->h),
			    "the kernel module prefetch is not loaded");
	/* Other errors are other errors. */
	assert_int_equal(set(b, 0, 0, 1, 0, 0, -1), -EINVAL);
	assert_false(pfnl_module_missing(b->h));
	fake_load(b->fake);
	assert_int_equal(pfnl_info(b->h, &info), 0);
	assert_false(pfnl_module_missing(b->h));
}

static void test_loaded_again(void **state)
{
	struct bench *b = *state;
	struct pfnl_info info;

	assert_int_equal(pfnl_info(b->h, &info), 0);
	fake_unload(b->fake);
	fake_load(b->fake);
	/* Its number is another one now. */
	assert_int_equal(pfnl_info(b->h, &info), 0);
	fake_unload(b->fake);
	assert_int_equal(pfnl_info(b->h, &info), -ENOENT);
	assert_true(pfnl_module_missing(b->h));
}

static void test_enoent_without_words(void **state)
{
	struct bench *b = *state;
	struct pfnl_setting s;
	struct fake_fault *fault;

	fault = fake_fault(b->fake, PREFETCH_CMD_SETTING_GET, FAKE_REFUSE);
	fault->error = ENOENT;
	fault->count = 5;
	/* The family is still there, so the module is. */
	expect(b, pfnl_setting_get(b->h, 100, 0, &s), -ENOENT,
	       "setting-get: No such file or directory", NULL);
	/* The number, the request, and the number again: not another try. */
	assert_int_equal(b->fake->requests, 3);
}

static void test_nlctrl_refuses(void **state)
{
	struct bench *b = *state;
	struct fake_fault *fault;
	struct pfnl_info info;

	fault = fake_fault(b->fake, 0, FAKE_REFUSE);
	fault->error = ENOMEM;
	expect(b, pfnl_info(b->h, &info), -ENOMEM,
	       "nlctrl: Cannot allocate memory", NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BENCH_TEST(test_kernel_words),
		BENCH_TEST(test_start_time),
		BENCH_TEST(test_not_permitted),
		BENCH_TEST(test_not_found),
		BENCH_TEST(test_our_words),
		BENCH_TEST(test_no_words),
		BENCH_TEST(test_older_module),
		BENCH_TEST(test_missing_attribute),
		BENCH_TEST(test_words_for_a_terminal),
		BENCH_TEST(test_module_missing),
		BENCH_TEST(test_loaded_again),
		BENCH_TEST(test_enoent_without_words),
		BENCH_TEST(test_nlctrl_refuses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
