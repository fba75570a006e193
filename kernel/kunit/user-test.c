// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit: the records of users. The table of this test is its own.
 */
#include <kunit/test.h>

#include "../user.c"

/* The module's is in netlink.c. */
DEFINE_MUTEX(pf_request_mutex);

static void user_records(struct kunit *test)
{
	struct pf_user *first, *second;

	mutex_lock(&pf_request_mutex);
	first = pf_user_get(KUIDT_INIT(1));
	KUNIT_ASSERT_NOT_NULL(test, first);
	KUNIT_EXPECT_PTR_EQ(test, first, pf_user_get(KUIDT_INIT(1)));
	KUNIT_EXPECT_TRUE(test, pf_user_charge(first, false));

	/* One that has settings stays, one without goes for the next. */
	second = pf_user_get(KUIDT_INIT(2));
	KUNIT_ASSERT_NOT_NULL(test, second);
	KUNIT_EXPECT_PTR_NE(test, first, second);
	KUNIT_ASSERT_NOT_NULL(test, pf_user_get(KUIDT_INIT(3)));
	KUNIT_EXPECT_PTR_EQ(test, first, find(KUIDT_INIT(1)));
	KUNIT_EXPECT_NULL(test, find(KUIDT_INIT(2)));
	KUNIT_EXPECT_EQ(test, pf_user_settings(KUIDT_INIT(1)), 1);
	KUNIT_EXPECT_EQ(test, pf_user_settings(KUIDT_INIT(2)), 0);
	pf_user_uncharge(first);
	mutex_unlock(&pf_request_mutex);
	pf_user_exit();
	KUNIT_EXPECT_NULL(test, find(KUIDT_INIT(1)));
}

static void user_limit(struct kunit *test)
{
	struct pf_user user = {};

	pf_max_settings_per_user = 1;
	KUNIT_EXPECT_TRUE(test, pf_user_charge(&user, false));
	KUNIT_EXPECT_FALSE(test, pf_user_charge(&user, false));
	KUNIT_EXPECT_TRUE(test, pf_user_charge(&user, true));
	KUNIT_EXPECT_EQ(test, atomic_read(&user.settings), 2);
	pf_user_uncharge(&user);
	KUNIT_EXPECT_FALSE(test, pf_user_charge(&user, false));
	pf_user_uncharge(&user);
	KUNIT_EXPECT_TRUE(test, pf_user_charge(&user, false));
}

static struct kunit_case user_cases[] = {
	KUNIT_CASE(user_records),
	KUNIT_CASE(user_limit),
	{}
};

static struct kunit_suite user_suite = {
	.name = "prefetch_user",
	.test_cases = user_cases,
};

kunit_test_suite(user_suite);
