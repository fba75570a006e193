// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which CPUs share a core, where the CPU says it in another way, or says
 * little, and where some of them come after the module was loaded.
 */
#include "hardware.h"

#define L2_STREAM    (1U << 0)
#define L2_NEXT_LINE (1U << 9)

#define P_CORE	     "Alder Lake, Raptor Lake, P-cores"

/* Four cores with two threads each, without leaf B. */
static void put_old(const char *who)
{
	const struct fact *f = fact_named(who);
	unsigned int cpu;

	fake_reset(8);
	for (cpu = 0; cpu < 8; cpu++) {
		put_cpu(cpu, f, cpu, cpu / 2);
		fake_processors[cpu].no_topology = true;
		fake_processors[cpu].core_bits = 2;
		put_bank(cpu / 2, f, 0);
	}
}

/* The second hyperthreads come late, and find their core. */
static void check_late(const char *who)
{
	unsigned int cpu;

	put_old(who);
	for (cpu = 1; cpu < 8; cpu += 2)
		fake_processors[cpu].offline = true;
	load();
	assert_int_equal(pf_domain_count(), 4);
	for (cpu = 7; cpu < 8; cpu -= 2)
		fake_online(cpu);
	assert_int_equal(pf_domain_count(), 4);
	for (cpu = 0; cpu < 4; cpu++)
		assert_int_equal(cpus_of(cpu), 3U << cpu * 2);
	fake_run(5, L2_STREAM);
	assert_int_equal(pf_domains[2].effective, L2_STREAM);
	assert_int_equal(pf_domains[1].effective, 0);
	unload();
	assert_string_equal(fake_log, "");
}

static void test_without_topology_leaf(void **state)
{
	(void)state;
	check_late("Nehalem, Westmere");
	check_late("Zen 3, Zen 4");
}

/* One thread a core. */
static void test_no_hyperthreads(void **state)
{
	unsigned int cpu;

	(void)state;
	put_old("Silvermont (Avoton), Goldmont, Goldmont Plus");
	for (cpu = 0; cpu < 8; cpu++) {
		fake_processors[cpu].smt_bits = 0;
		fake_processors[cpu].core_bits = 3;
		fake_processors[cpu].bank = cpu % 4;
	}
	load();
	assert_int_equal(pf_domain_count(), 8);
	unload();

	/* The only CPU of a machine: no bit is spent on it. */
	put_old("Silvermont (Avoton), Goldmont, Goldmont Plus");
	nr_cpu_ids = 2;
	for (cpu = 0; cpu < 2; cpu++) {
		fake_processors[cpu].smt_bits = 0;
		fake_processors[cpu].core_bits = 0;
		fake_processors[cpu].stray_ids = 2;
	}
	load();
	assert_int_equal(pf_domain_count(), 2);
	unload();
}

/* Neither leaf 4 nor leaf B: two CPUs are not taken for one core. */
static void test_says_nothing(void **state)
{
	unsigned int cpu;

	(void)state;
	put_old("Haswell, Broadwell");
	for (cpu = 0; cpu < 8; cpu++)
		fake_processors[cpu].no_caches = true;
	load();
	assert_int_equal(pf_domain_count(), 8);
	unload();
}

/* Ids with holes, and above what a byte holds. */
static void test_large_ids(void **state)
{
	const struct fact *f = fact_named("Sapphire Rapids, Emerald Rapids");
	static const u32 ids[] = { 0, 6, 7, 0x100, 0x101, 0x206, 0x306, 1 };
	unsigned int cpu;

	(void)state;
	fake_reset(8);
	for (cpu = 0; cpu < 8; cpu++)
		put_cpu(cpu, f, ids[cpu], 0);
	put_bank(0, f, 0);
	load();
	assert_int_equal(pf_domain_count(), 5);
	assert_int_equal(cpus_of(0), 0x81);
	assert_int_equal(cpus_of(1), 0x06);
	assert_int_equal(cpus_of(2), 0x18);
	assert_int_equal(cpus_of(3), 0x20);
	assert_int_equal(cpus_of(4), 0x40);
	unload();
}

/* Two P-cores' CPUs, and a module of four. */
static void put_hybrid(void)
{
	const struct fact *big = fact_named(P_CORE);
	const struct fact *small = fact_named("Gracemont");
	unsigned int cpu;

	fake_reset(6);
	for (cpu = 0; cpu < 2; cpu++)
		put_cpu(cpu, big, cpu, 0);
	for (cpu = 2; cpu < 6; cpu++)
		put_cpu(cpu, small, 6 + cpu, 1);
	put_bank(0, big, 0);
	put_bank(1, small, 0);
}

/* Who shares the register is not known: nobody gets at it. */
static void test_module_without_l2(void **state)
{
	unsigned int cpu;

	(void)state;
	put_hybrid();
	for (cpu = 0; cpu < 6; cpu++)
		fake_processors[cpu].no_caches = true;
	load();
	assert_int_equal(pf_domain_count(), 1);
	assert_int_equal(cpus_of(0), 0x3);
	assert_int_equal(pf_supported_all, 0);
	assert_int_equal(fake_log_lines, 4);
	assert_non_null(strstr(fake_log, "CPU 2: does not say which CPUs"));
	fake_run(3, L2_STREAM);
	unload();
	assert_int_equal(fake_writes(1), 0);
	assert_int_equal(fake_reg(1, 0x1a4)->reads, 0);
}

/* The module's cores were off when the module was loaded. */
static void test_other_kind_comes_late(void **state)
{
	unsigned int cpu;

	(void)state;
	put_hybrid();
	for (cpu = 2; cpu < 6; cpu++)
		fake_processors[cpu].offline = true;
	load();
	assert_int_equal(pf_domain_count(), 1);
	assert_false(pf_supported_any & L2_NEXT_LINE);
	pf_default_off = L2_STREAM;
	pf_domain_resolve_default(&pf_domains[0]);

	fake_online(4);
	fake_online(2);
	assert_int_equal(pf_domain_count(), 2);
	assert_int_equal(cpus_of(1), 0x14);
	assert_true(pf_supported_any & L2_NEXT_LINE);
	assert_int_equal(pf_supported_all,
			 fact_mask(fact_named(P_CORE)) &
				 fact_mask(fact_named("Gracemont")));
	/* The machine default holds there, too. */
	assert_int_equal(pf_domains[1].effective, L2_STREAM);
	pf_default_off = 0;
	pf_domain_resolve_default(&pf_domains[1]);
	fake_run(4, L2_NEXT_LINE);
	assert_int_equal(pf_domains[1].effective, L2_NEXT_LINE);
	unload();
}

/* More CPUs on one register than there is room for: not on all, then. */
static void test_too_many_is_not_all(void **state)
{
	const struct fact *f = fact_named("Knights Landing, Knights Mill");
	unsigned int cpu;

	(void)state;
	fake_reset(16);
	for (cpu = 0; cpu < 16; cpu++) {
		put_cpu(cpu, f, cpu, 0);
		fake_processors[cpu].smt_bits = 4;
	}
	put_bank(0, f, 0);
	load();
	assert_int_equal(pf_domain_count(), 1);
	assert_int_equal(pf_supported_any, fact_mask(f));
	assert_int_equal(pf_supported_all, 0);
	unload();
}

/* Known, and known not to work: said with the reason. */
static void test_airmont(void **state)
{
	const struct fact *f = fact_named("Airmont");
	unsigned int cpu;

	(void)state;
	fake_reset(2);
	for (cpu = 0; cpu < 2; cpu++)
		put_cpu(cpu, f, cpu, 0);
	pf_backend = PREFETCH_BACKEND_MSR;
	assert_int_equal(pf_cpus_init(), -EOPNOTSUPP);
	assert_int_equal(fake_log_lines, 2);
	assert_null(strstr(fake_log, "undocumented"));
	assert_non_null(strstr(fake_log,
			       "CPU 0: left alone on purpose "
			       "(GenuineIntel family 0x6 model 0x4c"));
	assert_non_null(strstr(fake_log, "writing the register faults\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_without_topology_leaf),
		cmocka_unit_test(test_no_hyperthreads),
		cmocka_unit_test(test_says_nothing),
		cmocka_unit_test(test_large_ids),
		cmocka_unit_test(test_module_without_l2),
		cmocka_unit_test(test_other_kind_comes_late),
		cmocka_unit_test(test_too_many_is_not_all),
		cmocka_unit_test(test_airmont),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
