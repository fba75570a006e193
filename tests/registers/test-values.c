// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Register values: every mask, on every kind of core, over many values that
 * firmware may have left.
 */
#include <string.h>

#include "common.h"

/* What the facts say of one kind of core, made quick to ask. */
struct expected {
	const struct fact *f;
	const struct pf_layout *layout;
	/* In each register: the bits of prefetchers, and those of a mask. */
	uint64_t fields[PF_MAX_REGS];
	uint64_t bits[NR_MASKS][PF_MAX_REGS];
	uint32_t supported;
	unsigned int stop_reg;
};

static struct expected expected;
static unsigned long long checks;

static void prepare(struct expected *e, const struct fact *f)
{
	const struct fact_field *field;
	unsigned int reg, id;
	uint32_t mask;

	memset(e, 0, sizeof(*e));
	e->f = f;
	e->layout = fact_layout(f);
	e->stop_reg = layout_reg(e->layout, f->stop.reg);
	for (field = f->fields; field->name; field++) {
		reg = layout_reg(e->layout, field->reg);
		if (reg >= e->layout->nr_regs)
			fail_msg("%s: 0x%x is not used", f->who, field->reg);
		id = fact_id(field->name);
		e->fields[reg] |= 1ULL << field->bit;
		e->supported |= 1U << id;
		for (mask = 0; mask < NR_MASKS; mask++) {
			if (mask >> id & 1)
				e->bits[mask][reg] |= 1ULL << field->bit;
		}
	}
}

static uint32_t mask_of(const struct expected *e, const uint64_t *values)
{
	const struct fact_field *field;
	uint32_t mask = 0;

	for (field = e->f->fields; field->name; field++) {
		if (values[layout_reg(e->layout, field->reg)] >> field->bit & 1)
			mask |= 1U << fact_id(field->name);
	}
	return mask;
}

static void check_mask(const struct expected *e, uint32_t mask, bool still,
		       const uint64_t *baseline)
{
	uint64_t values[PF_MAX_REGS + 1], want;
	unsigned int reg;

	memset(values, 0x5c, sizeof(values));
	pf_layout_values(e->layout, mask, still, baseline, values);
	for (reg = 0; reg < e->layout->nr_regs; reg++) {
		want = (baseline[reg] & ~e->fields[reg]) | e->bits[mask][reg];
		if (still && reg == e->stop_reg)
			want |= e->f->stop.bits;
		if (values[reg] != want)
			fail_msg("%s: mask 0x%x over 0x%jx: 0x%x gets 0x%jx, "
				 "not 0x%jx",
				 e->f->who, mask, (uintmax_t)baseline[reg],
				 e->layout->regs[reg], (uintmax_t)values[reg],
				 (uintmax_t)want);
		if ((values[reg] ^ baseline[reg]) &
		    ~fact_claims(e->f, e->layout->regs[reg]))
			fail_msg("%s: another bit changed", e->f->who);
	}
	/* Nothing is written behind the last register. */
	for (; reg <= PF_MAX_REGS; reg++) {
		if (values[reg] != 0x5c5c5c5c5c5c5c5cULL)
			fail_msg("%s: too many values", e->f->who);
	}
	if (pf_layout_mask(e->layout, values) != (mask & e->supported))
		fail_msg("%s: mask 0x%x comes back as 0x%x", e->f->who, mask,
			 pf_layout_mask(e->layout, values));
	checks++;
}

static void check_baseline(const struct expected *e, const uint64_t *baseline)
{
	uint32_t baseline_mask = mask_of(e, baseline);
	uint64_t values[PF_MAX_REGS];
	uint32_t mask;

	if (pf_layout_mask(e->layout, baseline) != baseline_mask)
		fail_msg("%s: the baseline is 0x%x, not 0x%x", e->f->who,
			 pf_layout_mask(e->layout, baseline), baseline_mask);
	pf_layout_values(e->layout, baseline_mask, false, baseline, values);
	if (memcmp(values, baseline, e->layout->nr_regs * sizeof(*values)))
		fail_msg("%s: the baseline is not put back", e->f->who);
	for (mask = 0; mask < NR_MASKS; mask++) {
		check_mask(e, mask, false, baseline);
		/* Only where there is something to keep still. */
		if (e->f->stop.bits)
			check_mask(e, mask, true, baseline);
	}
}

/* The same value in each register. */
static void check_all_registers(const struct expected *e, uint64_t value)
{
	uint64_t baseline[PF_MAX_REGS];
	unsigned int reg;

	for (reg = 0; reg < PF_MAX_REGS; reg++)
		baseline[reg] = value;
	check_baseline(e, baseline);
}

static void check_single_bits(const struct expected *e)
{
	uint64_t baseline[PF_MAX_REGS];
	unsigned int reg, bit;

	for (reg = 0; reg < e->layout->nr_regs; reg++) {
		for (bit = 0; bit < 64; bit++) {
			memset(baseline, 0, sizeof(baseline));
			baseline[reg] = 1ULL << bit;
			check_baseline(e, baseline);
		}
	}
}

/* Firmware with each prefetcher off, and with each the only one on. */
static void check_each_field(const struct expected *e)
{
	const uint64_t *one;
	uint64_t baseline[PF_MAX_REGS];
	unsigned int id, reg;

	for (id = 0; id < PF_NR_PREFETCHERS; id++) {
		if (!(e->supported & 1U << id))
			continue;
		one = e->bits[1U << id];
		for (reg = 0; reg < e->layout->nr_regs; reg++)
			baseline[reg] = 0x3c0000003c0ULL | one[reg];
		check_baseline(e, baseline);
		for (reg = 0; reg < e->layout->nr_regs; reg++)
			baseline[reg] = ~one[reg];
		check_baseline(e, baseline);
	}
}

static void test_every_mask(void **state)
{
	static const uint64_t everywhere[] = {
		0,
		~0ULL,
		0x5555555555555555ULL,
		0xaaaaaaaaaaaaaaaaULL,
		0x3c0,
		~0x3c0ULL,
		0x00000000ffffffffULL,
		0xffffffff00000000ULL,
		/* As seen: three-strike counter, throttlers, page tables. */
		0x800,
		0x100000,
		0x4000000,
		0x1000,
		0xfffffffffffeefffULL,
	};
	const struct pf_layout *done[32] = { NULL };
	size_t i, j, n = 0;

	(void)state;
	for (i = 0; i < nr_facts; i++) {
		if (!facts[i].fields[0].name)
			continue;
		prepare(&expected, &facts[i]);
		for (j = 0; j < n && done[j] != expected.layout; j++)
			;
		/* CPUs with the same registers in the table: once is enough. */
		if (j < n)
			continue;
		done[n++] = expected.layout;
		for (j = 0; j < ARRAY_SIZE(everywhere); j++)
			check_all_registers(&expected, everywhere[j]);
		check_single_bits(&expected);
		check_each_field(&expected);
	}
	assert_in_range(n, 9, 31);
	/* Each mask over 64 single bits alone is more than a million. */
	assert_true(checks >= n * NR_MASKS * 77ULL);
	print_message("%llu masks and baselines on %zu kinds of core\n", checks,
		      n);
}

static const struct pf_layout *layout_of(const char *who)
{
	size_t i;

	for (i = 0; i < nr_facts; i++) {
		if (!strcmp(facts[i].who, who))
			return fact_layout(&facts[i]);
	}
	fail_msg("no facts of %s", who);
	return NULL;
}

/* In a mask of the cases below: while the core is kept still. */
#define STILL (1U << 31)

/* Values written down by hand, one for each trap. */
static void test_by_hand(void **state)
{
	static const struct {
		const char *who;
		uint32_t mask;
		uint64_t baseline[3];
		uint32_t address;
		uint64_t value;
	} cases[] = {
		{ "Haswell, Broadwell", 0x3fff, { 0 }, 0x1a4, 0xf },
		{ "Haswell, Broadwell", 0, { 0x8 }, 0x1a4, 0 },
		{ "Silvermont (Avoton), Goldmont, Goldmont Plus",
		  0x3fff,
		  { 0 },
		  0x1a4,
		  0x5 },
		/* l1_stream is bit 2 of a mask and bit 0 of the register. */
		{ "Knights Landing, Knights Mill", 0x4, { 0 }, 0x1a4, 0x1 },
		{ "Knights Landing, Knights Mill", 0x1, { 0 }, 0x1a4, 0x2 },
		{ "Alder Lake, Raptor Lake, P-cores",
		  0x3fff,
		  { 0x800 },
		  0x1a4,
		  0x82f },
		{ "Alder Lake, Raptor Lake, P-cores",
		  0,
		  { 0x82f },
		  0x1a4,
		  0x800 },
		{ "Gracemont", 0x3fff, { 0 }, 0x1a4, 0x2d },
		{ "Gracemont", 0x200, { 0 }, 0x1321, 1ULL << 40 },
		{ "Gracemont", 0x200, { 0 }, 0x1a4, 0 },
		{ "Crestmont", 0x400, { 0 }, 0x1320, 1ULL << 43 },
		{ "Skymont", 0x3fff, { 0 }, 0x1a4, 0x1ff },
		/* Stopped where it is asked for, whatever the mask. */
		{ "Darkmont", 0, { 0 }, 0x1a4, 0 },
		{ "Darkmont", STILL, { 0 }, 0x1a4, 0x1000 },
		{ "Darkmont", 0x201 | STILL, { 0 }, 0x1a4, 0x1001 },
		{ "Darkmont", 0x200 | STILL, { 0 }, 0x1321, 1ULL << 40 },
		{ "Darkmont", 0, { 0x1 }, 0x1a4, 0 },
		{ "Darkmont", STILL, { 0x1 }, 0x1a4, 0x1000 },
		{ "Darkmont", 0, { 0x1000 }, 0x1a4, 0x1000 },
		{ "Darkmont", STILL, { 0x1000 }, 0x1a4, 0x1000 },
		{ "Zen 5", 0x3fff, { 0x3c0 }, 0xc0000108, 0x3ef },
		{ "Zen 5", 0, { 0x3ef }, 0xc0000108, 0x3c0 },
		{ "Zen 5", 0x1, { 0x3c0 }, 0xc0000108, 0x3c8 },
		{ "Zen 3, Zen 4", 0x3fff, { 0 }, 0xc0000108, 0x2f },
	};
	uint64_t values[PF_MAX_REGS];
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct pf_layout *layout = layout_of(cases[i].who);
		unsigned int reg = layout_reg(layout, cases[i].address);

		assert_true(reg < layout->nr_regs);
		pf_layout_values(layout, cases[i].mask & ~STILL,
				 cases[i].mask & STILL, cases[i].baseline,
				 values);
		if (values[reg] != cases[i].value)
			fail_msg("%s, mask 0x%x: 0x%jx, not 0x%jx",
				 cases[i].who, cases[i].mask,
				 (uintmax_t)values[reg],
				 (uintmax_t)cases[i].value);
	}
}

/* Bits of which a read proves nothing: Darkmont's, while it steers itself. */
static void test_volatile(void **state)
{
	unsigned int reg;
	uint64_t want;
	size_t i;

	(void)state;
	for (i = 0; i < nr_facts; i++) {
		const struct fact *f = &facts[i];
		const struct pf_layout *layout;

		if (!f->fields[0].name)
			continue;
		layout = fact_layout(f);
		for (reg = 0; reg < layout->nr_regs; reg++) {
			want = fact_claims(f, layout->regs[reg]);
			if (layout->regs[reg] == f->stop.reg)
				want &= ~f->stop.bits;
			if (!f->stop.bits)
				want = 0;
			assert_int_equal(pf_layout_volatile(layout, reg, 0),
					 want);
			assert_int_equal(pf_layout_volatile(layout, reg,
							    ~f->stop.bits),
					 want);
			assert_int_equal(pf_layout_volatile(layout, reg, ~0ULL),
					 0);
		}
	}
}

/* No CPU has a field of several bits yet, but the table can express one. */
static void test_wide_field(void **state)
{
	static const struct pf_field fields[] = {
		{ .id = 3, .shift = 61, .width = 3, .off = 0, .on = 5 },
		{ .id = 7, .shift = 4, .width = 2, .off = 3, .on = 1 },
	};
	static const struct pf_layout layout = {
		.nr_regs = 1,
		.nr_fields = 2,
		.regs = { 0x1a4 },
		.fields = fields,
	};
	uint64_t baseline, value, want;
	unsigned int wide, narrow;
	uint32_t mask;

	(void)state;
	assert_int_equal(pf_layout_supported(&layout), 0x88);
	assert_int_equal(pf_layout_bits(&layout, 0), 7ULL << 61 | 3ULL << 4);
	assert_int_equal(pf_layout_bits(&layout, 1), 0);
	assert_int_equal(pf_layout_owners(&layout, 0, 1ULL << 62), 8);
	assert_int_equal(pf_layout_owners(&layout, 0, ~0ULL), 0x88);
	for (wide = 0; wide < 8; wide++) {
		for (narrow = 0; narrow < 4; narrow++) {
			baseline = (uint64_t)wide << 61 | narrow << 4 | 0xf00f;
			for (mask = 0; mask < 0x100; mask += 8) {
				pf_layout_values(&layout, mask, false,
						 &baseline, &value);
				/* What firmware had on stays as eager. */
				want = 0xf00f;
				want |= (mask & 8    ? 0
					 : wide == 0 ? 5ULL
						     : wide)
					<< 61;
				want |= (mask & 0x80   ? 3ULL
					 : narrow == 3 ? 1
						       : narrow)
					<< 4;
				assert_int_equal(value, want);
				assert_int_equal(pf_layout_mask(&layout,
								&value),
						 mask & 0x88);
			}
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_hand),
		cmocka_unit_test(test_volatile),
		cmocka_unit_test(test_wide_field),
		cmocka_unit_test(test_every_mask),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
