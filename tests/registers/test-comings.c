// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What becomes of the registers while CPUs and sleep come and go.
 */
#include "hardware.h"

#define L2_STREAM    (1U << 0)
#define L1_IP	     (1U << 3)
#define L2_NEXT_LINE (1U << 9)
#define SKYLAKE	     "Skylake, Kaby Lake, Coffee Lake, Comet Lake, Cannon Lake"

static u64 value(unsigned int bank, u32 address)
{
	return fake_reg(bank, address)->value;
}

/* The second hyperthread comes after the module was loaded. */
static void test_late_sibling(void **state)
{
	(void)state;
	two_cores(fact_named(SKYLAKE), 0);
	fake_processors[3].offline = true;
	load();
	assert_int_equal(pf_domain_count(), 2);
	assert_int_equal(cpus_of(1), 0x4);
	fake_run(2, L2_STREAM);
	fake_online(3);
	assert_int_equal(pf_domain_count(), 2);
	assert_int_equal(cpus_of(1), 0xc);
	fake_run(3, L1_IP);
	assert_int_equal(pf_domains[1].effective, L2_STREAM | L1_IP);
	/* One goes with its wish, the other stays with its own. */
	fake_offline(2);
	assert_int_equal(pf_domains[1].effective, L1_IP);
	fake_online(2);
	fake_run(2, L2_STREAM);
	assert_int_equal(pf_domains[1].effective, L2_STREAM | L1_IP);
	unload();
}

/* While all CPUs of a core are off, its registers may be reset. */
static void test_core_off_and_on(void **state)
{
	u64 left;

	(void)state;
	two_cores(fact_named(SKYLAKE), 8);
	left = value(1, 0x1a4);
	load();
	fake_run(2, L2_STREAM);
	fake_offline(2);
	/* The one that is left has nothing to do. */
	assert_int_equal(value(1, 0x1a4), left);
	fake_run(3, pf_wish(L2_STREAM, L1_IP));
	assert_int_equal(value(1, 0x1a4), (left & ~8ULL) | 1);
	fake_offline(3);
	assert_int_equal(value(1, 0x1a4), left);
	fake_reg(1, 0x1a4)->value = 0;
	fake_idle(2);
	fake_idle(3);
	fake_online(2);
	assert_int_equal(value(1, 0x1a4), left);
	unload();
	assert_int_equal(value(1, 0x1a4), left);
}

static void test_resume(void **state)
{
	u64 left;

	(void)state;
	two_cores(fact_named(SKYLAKE), 0);
	left = value(0, 0x1a4);
	load();
	fake_resume();
	/* Nothing was ever written: nothing to write again. */
	assert_int_equal(pf_domains[0].writes, 0);
	fake_run(0, L2_STREAM);
	fake_reg(0, 0x1a4)->value = 0;
	fake_resume();
	assert_int_equal(value(0, 0x1a4), left | 1);
	unload();
	assert_int_equal(value(0, 0x1a4), left);
}

/* After a sleep without hotplug: what firmware put there, and only that. */
static void test_awake(void **state)
{
	u64 left;

	(void)state;
	two_cores(fact_named(SKYLAKE), 0);
	left = value(0, 0x1a4);
	load();
	fake_awake();
	assert_int_equal(pf_domains[0].writes, 0);
	fake_run(0, L2_STREAM);
	fake_nr_written = 0;
	fake_awake();
	assert_int_equal(fake_nr_written, 0);
	fake_reg(0, 0x1a4)->value = left;
	fake_awake();
	assert_int_equal(value(0, 0x1a4), left | 1);
	/* Somebody else's. */
	fake_reg(0, 0x1a4)->value = left | 6;
	fake_awake();
	assert_int_equal(value(0, 0x1a4), left | 6);
	unload();
	assert_int_equal(value(0, 0x1a4), left);
}

/* The next kernel finds what firmware left, and nothing is written after. */
/* Of several registers each is written again, also one that did not change. */
static void test_several_registers(void **state)
{
	struct fake_reg *regs = fake_banks[0].regs;
	const struct fact *f = fact_named("Gracemont");
	u64 before[FAKE_MAX_REGS];
	unsigned int i, several = 0;

	(void)state;
	fake_reset(2);
	for (i = 0; i < 2; i++)
		put_cpu(i, f, i * 2, 0);
	put_bank(0, f, 0);
	load();
	assert_int_equal(pf_domain_count(), 1);
	fake_run(0, L2_STREAM);
	for (i = 0; i < FAKE_MAX_REGS; i++)
		before[i] = regs[i].value;
	fake_offline(1);
	fake_offline(0);
	for (i = 0; i < FAKE_MAX_REGS; i++) {
		several += !!regs[i].address;
		regs[i].value = ~0ULL;
	}
	assert_true(several > 1);
	fake_online(0);
	fake_run(0, L2_STREAM);
	for (i = 0; i < FAKE_MAX_REGS; i++)
		assert_true(!regs[i].address || regs[i].value == before[i]);
	unload();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_late_sibling),
		cmocka_unit_test(test_core_off_and_on),
		cmocka_unit_test(test_resume),
		cmocka_unit_test(test_awake),
		cmocka_unit_test(test_several_registers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
