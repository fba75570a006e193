// SPDX-License-Identifier: GPL-2.0-or-later
/* Names: the table, what users may type, and what the wire format knows. */
#include "common.h"

static uint32_t mask_of(const char *name)
{
	uint32_t mask = 0xdead;
	bool group = true;

	assert_int_equal(pfnl_name_to_mask(name, &mask, &group), 0);
	assert_false(group);
	return mask;
}

/* The entries of a definition of the YAML, in order. */
static size_t yaml_entries(const char *definition, char names[][32],
			   char docs[][128], size_t max)
{
	bool inside = false;
	char line[256];
	size_t n = 0;
	FILE *file;

	file = fopen(YAML, "re");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		if (!strncmp(line, "    name: ", 10))
			inside = !strcmp(line + 10, definition);
		else if (line[0] && line[0] != ' ' && inside)
			break;
		if (!inside)
			continue;
		assert_true(n < max);
		if (!strncmp(line, "        name: ", 14) &&
		    sscanf(line + 14, "%31s", names[n]) == 1)
			n++;
		else if (n && !strncmp(line, "        doc: ", 13))
			sscanf(line + 13, "%127[^.]", docs[n - 1]);
	}
	fclose(file);
	return n;
}

static void test_agrees_with_yaml(void **state)
{
	char names[32][32];
	char docs[32][128];
	size_t count, n, i;
	char *c;

	(void)state;
	n = yaml_entries("mask", names, docs, 32);
	pfnl_names(&count);
	assert_int_equal(n, count);
	assert_true(n >= 14);
	for (i = 0; i < n; i++) {
		for (c = names[i]; *c; c++)
			if (*c == '-')
				*c = '_';
		assert_string_equal(pfnl_names(NULL)[i].name, names[i]);
		assert_string_equal(pfnl_names(NULL)[i].description, docs[i]);
	}
}

static void test_values_agree_with_yaml(void **state)
{
	static const struct {
		const char *definition;
		const char *(*name)(uint32_t value);
	} values[] = {
		{ "backend", pfnl_backend_name },
		{ "core-type", pfnl_core_type_name },
		{ "scope", pfnl_scope_name },
		{ "change", pfnl_change_name },
		{ "cause", pfnl_cause_name },
		{ "fault", pfnl_fault_name },
	};
	char names[32][32];
	char docs[32][128];
	uint32_t j, n;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		n = (uint32_t)yaml_entries(values[i].definition, names, docs,
					   32);
		assert_true(n >= 2);
		for (j = 0; j < n; j++)
			assert_string_equal(values[i].name(j), names[j]);
		assert_string_equal(values[i].name(n), "unknown");
		assert_string_equal(values[i].name(UINT32_MAX), "unknown");
	}
}

static void test_agrees_with_uapi(void **state)
{
	static const struct {
		const char *name;
		uint32_t bit;
	} bits[] = {
		{ "l2_stream", PREFETCH_MASK_L2_STREAM },
		{ "l2_adjacent", PREFETCH_MASK_L2_ADJACENT },
		{ "l1_stream", PREFETCH_MASK_L1_STREAM },
		{ "l1_ip", PREFETCH_MASK_L1_IP },
		{ "l1_next_page", PREFETCH_MASK_L1_NEXT_PAGE },
		{ "amp", PREFETCH_MASK_AMP },
		{ "llc_page", PREFETCH_MASK_LLC_PAGE },
		{ "aop", PREFETCH_MASK_AOP },
		{ "code_stream", PREFETCH_MASK_CODE_STREAM },
		{ "l2_next_line", PREFETCH_MASK_L2_NEXT_LINE },
		{ "llc_stream", PREFETCH_MASK_LLC_STREAM },
		{ "l1_stride", PREFETCH_MASK_L1_STRIDE },
		{ "l1_region", PREFETCH_MASK_L1_REGION },
		{ "l2_updown", PREFETCH_MASK_L2_UPDOWN },
	};
	const struct pfnl_name *names;
	uint32_t all = 0;
	size_t count, i;

	(void)state;
	names = pfnl_names(&count);
	assert_int_equal(count, sizeof(bits) / sizeof(bits[0]));
	for (i = 0; i < count; i++) {
		assert_int_equal(names[i].id, i);
		assert_string_equal(names[i].name, bits[i].name);
		assert_int_equal(UINT32_C(1) << i, bits[i].bit);
		assert_int_equal(mask_of(bits[i].name), bits[i].bit);
		all |= bits[i].bit;
	}
	assert_null(names[count].name);
	assert_int_equal(all, PFNL_MASK_ALL);
}

static void test_spelling(void **state)
{
	(void)state;
	assert_int_equal(mask_of("l2-stream"), 1);
	assert_int_equal(mask_of("L2_Stream"), 1);
	assert_int_equal(mask_of("MLC Streamer"), 1);
	assert_int_equal(mask_of("Hardware Prefetcher"), 1);
	assert_int_equal(mask_of("Adjacent Cache Line Prefetch"), 2);
	assert_int_equal(mask_of("mlc-spatial"), 2);
	assert_int_equal(mask_of("DCU"), 4);
	assert_int_equal(mask_of("nlp"), 4);
	assert_int_equal(mask_of("DCU-IP"), 8);
	assert_int_equal(mask_of("IPP"), 8);
}

static void test_unknown(void **state)
{
	static const char *const bad[] = { "",	  "l",		"l2_stream ",
					   "l3",  "l2_strea",	"l2_streams",
					   "off", "l2__stream", "\xc4\xb0pp" };
	uint32_t mask = 77;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(pfnl_name_to_mask(bad[i], &mask, NULL),
				 -ENOENT);
	assert_int_equal(mask, 77);
}

static void test_no_name_twice(void **state)
{
	const struct pfnl_name *names;
	const char *const *alias;
	size_t count, groups, i;

	(void)state;
	names = pfnl_names(&count);
	/* An alias that were another's name would not be found. */
	for (i = 0; i < count; i++)
		for (alias = names[i].aliases; *alias; alias++)
			assert_int_equal(mask_of(*alias), UINT32_C(1) << i);
	pfnl_group_names(&groups);
	assert_int_equal(groups, 4);
}

static void test_groups(void **state)
{
	uint32_t l1, l2, llc, all;
	bool group = false;

	(void)state;
	assert_int_equal(pfnl_name_to_mask("L1", &l1, &group), 0);
	assert_true(group);
	assert_int_equal(pfnl_name_to_mask("l2", &l2, NULL), 0);
	assert_int_equal(pfnl_name_to_mask("llc", &llc, NULL), 0);
	assert_int_equal(pfnl_name_to_mask("all", &all, NULL), 0);
	assert_int_equal(l1, 0x181c);
	assert_int_equal(l2, 0x2223);
	assert_int_equal(llc, 0x440);
	assert_int_equal(l1 & l2, 0);
	assert_int_equal((l1 | l2) & llc, 0);
	assert_int_equal(all, PFNL_MASK_ALL);
}

static void test_mask_names(void **state)
{
	char buf[PFNL_MASK_NAMES_SIZE];
	char small[12];
	size_t length;

	(void)state;
	assert_int_equal(pfnl_mask_names(0, buf, sizeof(buf)), 0);
	assert_string_equal(buf, "");
	assert_int_equal(pfnl_mask_names(5, buf, sizeof(buf)),
			 strlen("l2_stream,l1_stream"));
	assert_string_equal(buf, "l2_stream,l1_stream");
	pfnl_mask_names(UINT32_C(1) << 17 | UINT32_C(1) << 31, buf,
			sizeof(buf));
	assert_string_equal(buf, "bit17,bit31");
	assert_true(pfnl_mask_names(UINT32_MAX, buf, sizeof(buf)) <
		    sizeof(buf));
	length = pfnl_mask_names(5, small, sizeof(small));
	assert_int_equal(length, strlen("l2_stream,l1_stream"));
	assert_string_equal(small, "l2_stream,l");
	assert_int_equal(pfnl_mask_names(5, NULL, 0), length);
}

static void test_values(void **state)
{
	(void)state;
	assert_string_equal(pfnl_backend_name(PREFETCH_BACKEND_SOFT), "soft");
	assert_string_equal(pfnl_scope_name(PREFETCH_SCOPE_THREAD), "thread");
	assert_string_equal(pfnl_group_name(PFNL_GROUP_CORE), "core");
	assert_string_equal(pfnl_group_name(PFNL_GROUP_SETTING), "setting");
	assert_string_equal(pfnl_group_name(3), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_agrees_with_yaml),
		cmocka_unit_test(test_values_agree_with_yaml),
		cmocka_unit_test(test_agrees_with_uapi),
		cmocka_unit_test(test_spelling),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_no_name_twice),
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_mask_names),
		cmocka_unit_test(test_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
