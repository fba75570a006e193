// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit: the table of CPUs as the kernel's compiler makes it. Every row
 * against the documents is the job of tests/registers, in user space.
 */
#include <kunit/test.h>

#include "../registers.c"
#include "../cputable.c"

#define INTEL_CPU(m)							\
	{								\
		.vendor = "GenuineIntel",				\
		.family = 6,						\
		.model = m,						\
	}

#define INTEL_CORE(m, type, native)					\
	{								\
		.vendor = "GenuineIntel",				\
		.family = 6,						\
		.model = m,						\
		.core_type = type,					\
		.native_model = native,					\
	}

#define AMD_CPU(f, bit)							\
	{								\
		.vendor = "AuthenticAMD",				\
		.family = f,						\
		.prefetch_msr = bit,					\
	}

/**
 * struct register_case - a CPU, a mask, and what its register shows
 * @id: the CPU
 * @mask: prefetchers to switch off; with STILL, while the core must not steer
 * @baseline: what firmware left in each register
 * @reg: address of the register that is looked at
 * @value: what has to be there; -1: the CPU has no such register for us
 */
struct register_case {
	const char *name;
	struct pf_cpu_id id;
	u32 mask;
	u64 baseline;
	u32 reg;
	u64 value;
};

#define NOTHING (~0ULL)
#define STILL BIT(31)

static const struct register_case register_cases[] = {
	{ "Skylake server, all off", INTEL_CPU(0x55), 0x3fff, 0, 0x1a4, 0xf },
	{ "Skylake server, firmware had one off", INTEL_CPU(0x55), 0x1, 0x4,
	  0x1a4, 0x1 },
	{ "foreign bits stay", INTEL_CPU(0x55), 0x8, 0xffff0000ULL << 16,
	  0x1a4, 0xffff0000ULL << 16 | 0x8 },
	{ "Goldmont, bits 1 and 3 are reserved", INTEL_CPU(0x5c), 0x3fff, 0,
	  0x1a4, 0x5 },
	{ "Knights Landing, the other way round", INTEL_CPU(0x57), 0x1, 0,
	  0x1a4, 0x2 },
	{ "Alder Lake, P-core", INTEL_CORE(0x97, 0x40, 1), 0x20, 0x800, 0x1a4,
	  0x820 },
	{ "Alder Lake, E-core, bit 40", INTEL_CORE(0x97, 0x20, 1), 0x200, 0,
	  0x1321, BIT_ULL(40) },
	{ "Crestmont, bit 43", INTEL_CORE(0xaa, 0x20, 2), 0x400, 0, 0x1320,
	  BIT_ULL(43) },
	{ "Darkmont stops steering itself", INTEL_CORE(0xdd, 0x20, 4),
	  0x1 | STILL, 0, 0x1a4, 0x1001 },
	{ "Darkmont stops at the baseline, too", INTEL_CORE(0xdd, 0x20, 4),
	  STILL, 0, 0x1a4, 0x1000 },
	{ "Darkmont when nobody asks", INTEL_CORE(0xdd, 0x20, 4), 0, 0,
	  0x1a4, 0 },
	{ "AMD with the bit", AMD_CPU(0x19, true), 0x3fff, 0x3c0, 0xc0000108,
	  0x3ef },
	{ "AMD without the bit", AMD_CPU(0x19, false), 0x3fff, 0, 0xc0000108,
	  NOTHING },
	{ "Airmont faults", INTEL_CPU(0x4c), 0x1, 0, 0x1a4, NOTHING },
	{ "an E-core goes by its native model only",
	  INTEL_CORE(0x55, 0x20, 9), 0x1, 0, 0x1a4, NOTHING },
	{ "nobody knows this one", INTEL_CPU(0xff), 0x1, 0, 0x1a4, NOTHING },
};

static void describe(const struct register_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(registers_by_hand, register_cases, describe);

static void registers_by_hand(struct kunit *test)
{
	const struct register_case *c = test->param_value;
	u64 baseline[PF_MAX_REGS], values[PF_MAX_REGS];
	const struct pf_row *row = pf_row_find(&c->id);
	const struct pf_layout *layout = row ? row->layout : NULL;
	unsigned int i;

	if (c->value == NOTHING) {
		KUNIT_EXPECT_NULL(test, layout);
		return;
	}
	KUNIT_ASSERT_NOT_NULL(test, layout);
	for (i = 0; i < layout->nr_regs; i++)
		baseline[i] = c->baseline;
	pf_layout_values(layout, c->mask & ~STILL, c->mask & STILL, baseline,
			 values);
	for (i = 0; i < layout->nr_regs; i++) {
		if (layout->regs[i] != c->reg)
			continue;
		KUNIT_EXPECT_EQ(test, values[i], c->value);
		return;
	}
	KUNIT_FAIL(test, "%s has no register 0x%x", row->cpus, c->reg);
}

/* Each mask on each kind of core: it comes back, and nothing else changes. */
static void registers_round_trip(struct kunit *test)
{
	static const u64 patterns[] = { 0, ~0ULL, 0x5555555555555555ULL };
	u64 baseline[PF_MAX_REGS], values[PF_MAX_REGS];
	unsigned int row, pattern, i;
	unsigned long bad = 0;
	u32 mask;

	for (row = 0; row < pf_nr_rows; row++) {
		const struct pf_layout *layout = pf_rows[row].layout;

		if (!layout)
			continue;
		for (pattern = 0; pattern < ARRAY_SIZE(patterns); pattern++) {
			for (i = 0; i < PF_MAX_REGS; i++)
				baseline[i] = patterns[pattern];
			for (mask = 0; mask < BIT(PF_NR_PREFETCHERS); mask++) {
				pf_layout_values(layout, mask, mask & 1,
						 baseline, values);
				bad += pf_layout_mask(layout, values) !=
				       (mask & pf_layout_supported(layout));
				for (i = 0; i < layout->nr_regs; i++)
					bad += !!((values[i] ^ baseline[i]) &
						  ~pf_layout_bits(layout, i));
			}
			cond_resched();
		}
	}
	KUNIT_EXPECT_EQ(test, bad, 0);
}

/* What is put back is exactly what firmware left. */
static void registers_baseline(struct kunit *test)
{
	u64 baseline[PF_MAX_REGS], values[PF_MAX_REGS];
	unsigned int row, i;
	u32 seed;

	for (row = 0; row < pf_nr_rows; row++) {
		const struct pf_layout *layout = pf_rows[row].layout;

		if (!layout)
			continue;
		for (seed = 1; seed <= 64; seed++) {
			for (i = 0; i < PF_MAX_REGS; i++)
				baseline[i] = 0x9e3779b97f4a7c15ULL * seed *
					      (i + 1);
			pf_layout_values(layout,
					 pf_layout_mask(layout, baseline),
					 false, baseline, values);
			KUNIT_EXPECT_MEMEQ(test, values, baseline,
					   layout->nr_regs * sizeof(*values));
		}
	}
}

static struct kunit_case registers_tests[] = {
	KUNIT_CASE_PARAM(registers_by_hand, registers_by_hand_gen_params),
	KUNIT_CASE_SLOW(registers_round_trip),
	KUNIT_CASE(registers_baseline),
	{}
};

static struct kunit_suite registers_suite = {
	.name = "prefetch_registers",
	.test_cases = registers_tests,
};

kunit_test_suite(registers_suite);
