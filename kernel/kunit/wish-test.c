// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit: how wishes are put together. Three states for each prefetcher, so
 * two prefetchers show whether one leaks into the other, and the highest one
 * whether all of the word is used.
 */
#include <kunit/test.h>
#include <linux/module.h>

#include "wish.h"

enum opinion {
	NO_OPINION,
	OFF,
	ON,
	NR_OPINIONS,
};

/* The highest bit of a mask is a prefetcher like any other. */
static const u32 bits[] = { BIT(0), BIT(1), BIT(13), BIT(31) };

static pf_wish_t wish_of(enum opinion opinion, u32 bit)
{
	return pf_wish(opinion == OFF ? bit : 0, opinion == ON ? bit : 0);
}

static void wish_halves(struct kunit *test)
{
	pf_wish_t wish = pf_wish(0x80000001, 0x40000002);

	KUNIT_EXPECT_EQ(test, pf_wish_off(wish), 0x80000001);
	KUNIT_EXPECT_EQ(test, pf_wish_on(wish), 0x40000002);
	KUNIT_EXPECT_EQ(test, pf_wish(0, 0), PF_WISH_DEFAULT);
	/* All off and all on at once is what no request can ask for. */
	KUNIT_EXPECT_EQ(test, PF_WISH_NONE, pf_wish(~0U, ~0U));
}

/* Thread over process, prefetcher by prefetcher. */
static void wish_over(struct kunit *test)
{
	unsigned int a, b, first, second;

	for (a = 0; a < ARRAY_SIZE(bits); a++) {
		for (first = 0; first < NR_OPINIONS; first++) {
			for (second = 0; second < NR_OPINIONS; second++) {
				pf_wish_t want = wish_of(first ?: second,
							 bits[a]);

				KUNIT_EXPECT_EQ(test, want,
						pf_wish_over(wish_of(first, bits[a]),
							     wish_of(second, bits[a])));
			}
		}
	}
	/* Opinions on different prefetchers do not meet. */
	for (a = 0; a < ARRAY_SIZE(bits); a++) {
		for (b = 0; b < ARRAY_SIZE(bits); b++) {
			pf_wish_t first_wish = wish_of(ON, bits[a]);
			pf_wish_t second_wish = wish_of(OFF, bits[b]);

			KUNIT_EXPECT_EQ(test,
					pf_wish_over(first_wish, second_wish),
					a == b ? first_wish :
					first_wish | second_wish);
		}
	}
}

/* A wish over the machine default, as a mask. */
static void wish_resolve(struct kunit *test)
{
	static const u32 defaults[] = { 0, BIT(0), BIT(31), 0x5, 0x3fff, ~0U };
	unsigned int i, n, opinion;

	for (i = 0; i < ARRAY_SIZE(defaults); i++) {
		u32 def = defaults[i];

		KUNIT_EXPECT_EQ(test, def,
				pf_wish_resolve(PF_WISH_DEFAULT, def));
		for (n = 0; n < ARRAY_SIZE(bits); n++) {
			u32 want[NR_OPINIONS] = {
				[NO_OPINION] = def,
				[OFF] = def | bits[n],
				[ON] = def & ~bits[n],
			};

			for (opinion = 0; opinion < NR_OPINIONS; opinion++)
				KUNIT_EXPECT_EQ(test, want[opinion],
						pf_wish_resolve(wish_of(opinion, bits[n]),
								def));
		}
	}
	KUNIT_EXPECT_EQ(test, pf_wish_resolve(pf_wish(0x1, 0x4), 0x6), 0x3);
}

static struct kunit_case wish_cases[] = {
	KUNIT_CASE(wish_halves),
	KUNIT_CASE(wish_over),
	KUNIT_CASE(wish_resolve),
	{}
};

static struct kunit_suite wish_suite = {
	.name = "prefetch_wish",
	.test_cases = wish_cases,
};

kunit_test_suite(wish_suite);

MODULE_DESCRIPTION("KUnit tests of the prefetch module's logic");
MODULE_LICENSE("GPL");
