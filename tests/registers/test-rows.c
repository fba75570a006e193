// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Each CPU finds its row of the table, no other CPU does, and the row says
 * what the facts say.
 */
#include <stdio.h>
#include <string.h>

#include <prefetchnl.h>

#include "common.h"

#define MAX_ROWS 64

static const char *const vendors[] = {
	"GenuineIntel", "AuthenticAMD", "HygonGenuine", "CentaurHauls",
	"  Shanghai  ", "GenuineIotel", "Genuine",	"",
};

/* Families 0xff and more are what an overflowing sum would give. */
static const uint32_t families[] = { 0,	   4,	 5,    6,    7,	   0xf,	 0x10,
				     0x11, 0x12, 0x13, 0x15, 0x16, 0x17, 0x18,
				     0x19, 0x1a, 0x1b, 0x1c, 0x106 };

static const uint32_t core_types[] = { 0, 0x10, 0x20, 0x30, 0x40, 0x60, 0x80 };

static const uint32_t natives[] = { 0, 1, 2, 3, 4, 5, 6, 0x101, 0xffffff };

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static bool row_used[MAX_ROWS];

static void check_cpu(const struct pf_cpu_id *id)
{
	/* Which row goes with which fact, once one CPU has shown it. */
	static const struct pf_row *rows[MAX_ROWS];
	const struct pf_row *row = pf_row_find(id);
	const struct fact *f = fact_of(id);

	if (!f != !row)
		goto differ;
	if (!f)
		return;
	if (!rows[f - facts])
		rows[f - facts] = row;
	/* A row of the table may take two facts together, not the reverse. */
	if (rows[f - facts]->layout != row->layout)
		goto differ;
	row_used[row - pf_rows] = true;
	return;
differ:
	fail_msg("'%s' family 0x%x model 0x%x type 0x%x native 0x%x bit %d: "
		 "the table says %s, the facts say %s",
		 id->vendor, id->family, id->model, id->core_type,
		 id->native_model, id->prefetch_msr, row ? row->cpus : "-",
		 f ? f->who : "-");
}

static void check_models(struct pf_cpu_id id)
{
	size_t t, n;

	/* One more than a byte holds: 0x155 is not 0x55. */
	for (id.model = 0; id.model < 0x200; id.model++) {
		for (t = 0; t < COUNT(core_types); t++) {
			id.core_type = core_types[t];
			for (n = 0; n < COUNT(natives); n++) {
				id.native_model = natives[n];
				check_cpu(&id);
			}
		}
	}
}

static void test_every_cpu(void **state)
{
	struct pf_cpu_id id;
	size_t v, f;

	(void)state;
	for (v = 0; v < COUNT(vendors); v++) {
		memset(&id, 0, sizeof(id));
		strcpy(id.vendor, vendors[v]);
		for (f = 0; f < COUNT(families); f++) {
			id.family = families[f];
			id.prefetch_msr = false;
			check_models(id);
			id.prefetch_msr = true;
			check_models(id);
		}
	}
	for (f = 0; f < pf_nr_rows; f++) {
		if (!row_used[f])
			fail_msg("no CPU of the facts gets to the row '%s'",
				 pf_rows[f].cpus);
	}
}

/* The same by name, for those that somebody may get wrong one day. */
static void test_neighbours(void **state)
{
	static const struct {
		struct pf_cpu_id id;
		const char *who;
	} cases[] = {
		{ { "GenuineIntel", 6, 0x55, 4, 0, 0, false },
		  "Skylake, Kaby Lake, Coffee Lake, Comet Lake, Cannon Lake" },
		{ { "GenuineIntel", 6, 0x85, 0, 0, 0, false },
		  "Knights Landing, Knights Mill" },
		/* 85 is 0x55. */
		{ { "GenuineIntel", 6, 85, 0, 0, 0, false },
		  "Skylake, Kaby Lake, Coffee Lake, Comet Lake, Cannon Lake" },
		{ { "GenuineIntel", 6, 0x97, 2, 0x40, 1, false },
		  "Alder Lake, Raptor Lake, P-cores" },
		{ { "GenuineIntel", 6, 0x97, 2, 0x20, 1, false }, "Gracemont" },
		/* The kind of core is not known: it may be either. */
		{ { "GenuineIntel", 6, 0x97, 2, 0, 0, false }, NULL },
		{ { "GenuineIntel", 6, 0xaa, 0, 0x20, 2, false }, "Crestmont" },
		{ { "GenuineIntel", 6, 0xaa, 0, 0x40, 2, false },
		  "Meteor Lake, Arrow Lake, P-cores" },
		{ { "GenuineIntel", 6, 0xc6, 0, 0x20, 3, false }, "Skymont" },
		{ { "GenuineIntel", 6, 0xcc, 0, 0x20, 4, false }, "Darkmont" },
		/* The P-core of a chip whose E-core is known. */
		{ { "GenuineIntel", 6, 0xcc, 0, 0x40, 4, false }, NULL },
		/* E-cores that nobody has described. */
		{ { "GenuineIntel", 6, 0x97, 2, 0x20, 0, false }, NULL },
		{ { "GenuineIntel", 6, 0xaa, 0, 0x20, 5, false }, NULL },
		/* An E-core alone: Alder Lake-N, Sierra Forest. */
		{ { "GenuineIntel", 6, 0xbe, 0, 0x20, 1, false }, "Gracemont" },
		{ { "GenuineIntel", 6, 0xaf, 0, 0x20, 2, false }, "Crestmont" },
		{ { "GenuineIntel", 6, 0x4c, 0, 0, 0, false }, "Airmont" },
		/* Silvermont, but not Avoton; Core 2; Pentium 4; not Intel. */
		{ { "GenuineIntel", 6, 0x37, 0, 0, 0, false }, NULL },
		{ { "GenuineIntel", 6, 0x17, 0, 0, 0, false }, NULL },
		{ { "GenuineIntel", 15, 0x55, 0, 0, 0, false }, NULL },
		{ { "CentaurHauls", 6, 0x55, 0, 0, 0, false }, NULL },
		{ { "AuthenticAMD", 0x19, 0x21, 0, 0, 0, true },
		  "Zen 3, Zen 4" },
		{ { "AuthenticAMD", 0x1a, 0x44, 0, 0, 0, true }, "Zen 5" },
		/* The bit decides, not the model. */
		{ { "AuthenticAMD", 0x19, 0x21, 0, 0, 0, false }, NULL },
		{ { "AuthenticAMD", 0x1a, 0x44, 0, 0, 0, false }, NULL },
		{ { "AuthenticAMD", 0x17, 0x71, 0, 0, 0, false }, NULL },
		{ { "AuthenticAMD", 6, 0x55, 0, 0, 0, false }, NULL },
		{ { "HygonGenuine", 0x18, 1, 0, 0, 0, true }, NULL },
		{ { "GenuineIntel", 6, 0xb5, 0, 0, 0, true }, NULL },
	};
	const struct fact *f;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(cases); i++) {
		f = fact_of(&cases[i].id);
		if (!f != !cases[i].who || (f && strcmp(f->who, cases[i].who)))
			fail_msg("case %zu is %s", i, f ? f->who : "-");
		check_cpu(&cases[i].id);
	}
}

static const struct fact_field *find_field(const struct fact *f, uint32_t reg,
					   unsigned int bit)
{
	const struct fact_field *field;

	for (field = f->fields; field->name; field++) {
		if (field->reg == reg && field->bit == bit)
			return field;
	}
	return NULL;
}

static void check_field(const struct fact *f, const struct pf_layout *layout,
			const struct pf_field *field)
{
	const struct fact_field *said;

	assert_true(field->id < PF_NR_PREFETCHERS);
	assert_true(field->reg < layout->nr_regs);
	assert_int_equal(field->width, 1);
	assert_int_equal(field->off, 1);
	assert_int_equal(field->on, 0);
	said = find_field(f, layout->regs[field->reg], field->shift);
	if (!said || fact_id(said->name) != field->id)
		fail_msg("%s: bit %u of 0x%x is %s, not %s", f->who,
			 field->shift, layout->regs[field->reg],
			 said ? said->name : "nothing that we may change",
			 fact_names[field->id]);
}

/* Whom each bit of each register belongs to. */
static void check_owners(const struct fact *f, const struct pf_layout *layout)
{
	unsigned int reg, bit, i;
	uint32_t want;

	for (reg = 0; reg < layout->nr_regs; reg++) {
		for (bit = 0; bit < 64; bit++) {
			want = 0;
			for (i = 0; f->fields[i].name; i++) {
				if (f->fields[i].reg == layout->regs[reg] &&
				    f->fields[i].bit == bit)
					want |= 1U
						<< fact_id(f->fields[i].name);
			}
			assert_int_equal(pf_layout_owners(layout, reg,
							  1ULL << bit),
					 want);
		}
	}
}

static void check_layout(const struct fact *f, const struct pf_layout *layout)
{
	static const char *const kinds[] = {
		[PREFETCH_CORE_TYPE_UNIFORM] = "uniform",
		[PREFETCH_CORE_TYPE_PERFORMANCE] = "performance",
		[PREFETCH_CORE_TYPE_EFFICIENT] = "efficient",
	};
	unsigned int i, reg;
	uint32_t mask = 0;

	for (i = 0; i < layout->nr_fields; i++) {
		check_field(f, layout, &layout->fields[i]);
		if (mask & 1U << layout->fields[i].id)
			fail_msg("%s: two fields for %s", f->who,
				 fact_names[layout->fields[i].id]);
		mask |= 1U << layout->fields[i].id;
	}
	for (i = 0; f->fields[i].name; i++) {
		if (!(mask & 1U << fact_id(f->fields[i].name)))
			fail_msg("%s: %s is missing", f->who,
				 f->fields[i].name);
	}
	assert_int_equal(pf_layout_supported(layout), mask);

	assert_in_range(layout->nr_regs, 1, PF_MAX_REGS);
	for (reg = 0; reg < layout->nr_regs; reg++) {
		assert_int_equal(layout_reg(layout, layout->regs[reg]), reg);
		if (!fact_claims(f, layout->regs[reg]))
			fail_msg("%s: 0x%x has no prefetcher", f->who,
				 layout->regs[reg]);
		if (pf_layout_bits(layout, reg) !=
		    fact_claims(f, layout->regs[reg]))
			fail_msg("%s: 0x%x: bits 0x%jx are claimed", f->who,
				 layout->regs[reg],
				 (uintmax_t)pf_layout_bits(layout, reg));
	}
	check_owners(f, layout);
	assert_int_equal(layout->steer_bits, f->stop.bits);
	if (f->stop.bits)
		assert_int_equal(layout->regs[layout->steer_reg], f->stop.reg);
	reg = layout_reg(layout, f->leave.reg);
	if (reg < layout->nr_regs &&
	    (pf_layout_bits(layout, reg) & f->leave.bits))
		fail_msg("%s: a bit is claimed that must be left", f->who);

	assert_string_equal(kinds[layout->core_type], f->kind);
	assert_int_equal(layout->shared,
			 f->module ? PF_SHARED_MODULE : PF_SHARED_CORE);
	assert_true(layout->name && *layout->name);
}

static void test_layouts(void **state)
{
	const struct pf_layout *layout;
	size_t i;

	(void)state;
	for (i = 0; i < nr_facts; i++) {
		layout = fact_layout(&facts[i]);
		if (facts[i].fields[0].name)
			check_layout(&facts[i], layout);
		else
			assert_null(layout);
	}
}

static void test_rows_say_where_from(void **state)
{
	unsigned int i, j, k, m;

	(void)state;
	assert_in_range(pf_nr_rows, 1, MAX_ROWS);
	for (i = 0; i < pf_nr_rows; i++) {
		const struct pf_row *row = &pf_rows[i];

		assert_true(row->cpus && *row->cpus);
		assert_true(row->source && strlen(row->source) > 10);
		/* A model in two rows would be found in the first only. */
		for (m = 0; m < row->nr_models; m++) {
			for (j = 0; j < i; j++)
				for (k = 0; k < pf_rows[j].nr_models; k++)
					assert_int_not_equal(
						pf_rows[j].models[k],
						row->models[m]);
			for (k = 0; k < m; k++)
				assert_int_not_equal(row->models[k],
						     row->models[m]);
		}
	}
}

static void test_names(void **state)
{
	static const uint32_t bits[PF_NR_PREFETCHERS] = {
		PREFETCH_MASK_L2_STREAM,    PREFETCH_MASK_L2_ADJACENT,
		PREFETCH_MASK_L1_STREAM,    PREFETCH_MASK_L1_IP,
		PREFETCH_MASK_L1_NEXT_PAGE, PREFETCH_MASK_AMP,
		PREFETCH_MASK_LLC_PAGE,	    PREFETCH_MASK_AOP,
		PREFETCH_MASK_CODE_STREAM,  PREFETCH_MASK_L2_NEXT_LINE,
		PREFETCH_MASK_LLC_STREAM,   PREFETCH_MASK_L1_STRIDE,
		PREFETCH_MASK_L1_REGION,    PREFETCH_MASK_L2_UPDOWN,
	};
	size_t count;
	unsigned int i;

	(void)state;
	pfnl_names(&count);
	assert_int_equal(count, FACT_NR_NAMES);
	assert_int_equal(PF_NR_PREFETCHERS, FACT_NR_NAMES);
	for (i = 0; i < PF_NR_PREFETCHERS; i++) {
		const struct pf_prefetcher *p = &pf_prefetchers[i];

		assert_int_equal(bits[i], 1U << i);
		assert_string_equal(p->name, fact_names[i]);
		assert_string_equal(pfnl_names(NULL)[i].name, fact_names[i]);
		assert_string_equal(pfnl_names(NULL)[i].description,
				    p->description);
		assert_true(p->description && *p->description);
		/* What is refused is refused by name. */
		assert_non_null(strstr(p->missing, p->name));
	}
}

/* The entries of definition "mask" of the YAML have the names, in order. */
static void test_yaml(void **state)
{
	bool in_mask = false;
	char line[256], name[32];
	unsigned int n = 0;
	FILE *file;
	char *c;

	(void)state;
	file = fopen(YAML, "re");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		if (!strncmp(line, "    name: ", 10))
			in_mask = !strcmp(line, "    name: mask\n");
		else if (line[0] != ' ')
			in_mask = false;
		if (!in_mask || sscanf(line, "        name: %31s", name) != 1)
			continue;
		if (strncmp(line, "        name:", 13))
			continue;
		for (c = name; *c; c++) {
			if (*c == '-')
				*c = '_';
		}
		assert_true(n < FACT_NR_NAMES);
		assert_string_equal(name, fact_names[n]);
		n++;
	}
	fclose(file);
	assert_int_equal(n, FACT_NR_NAMES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_yaml),
		cmocka_unit_test(test_layouts),
		cmocka_unit_test(test_rows_say_where_from),
		cmocka_unit_test(test_neighbours),
		cmocka_unit_test(test_every_cpu),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
