// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Registers that do not do as they are told: at load, and later on. Each way
 * in which one can fail is tried on each register of each kind of core.
 *
 * There are two cores. The registers of the first fail, those of the second
 * never do: it has to work on, whatever becomes of the other.
 */
#include <stdio.h>

#include "hardware.h"

#define ON  0ULL
#define OFF (~0ULL)

static const u64 firmwares[] = { ON, OFF, 0x5555555555555555ULL };

static u64 before[FAKE_MAX_REGS];

static void remember(void)
{
	unsigned int i;

	for (i = 0; i < FAKE_MAX_REGS; i++)
		before[i] = fake_banks[0].regs[i].value;
}

/* Every register of the first core is as it was, but for these bits of one. */
static void check_restored(const struct fact *f, unsigned int but, u64 bits)
{
	const struct fake_reg *reg;
	unsigned int i;
	u64 differs;

	for (i = 0; i < FAKE_MAX_REGS; i++) {
		reg = &fake_banks[0].regs[i];
		differs = reg->value ^ before[i];
		if (i == but)
			differs &= ~bits;
		if (differs)
			fail_msg("%s: 0x%x is 0x%jx, was 0x%jx", f->who,
				 reg->address, (uintmax_t)reg->value,
				 (uintmax_t)before[i]);
		if (reg->touched & ~fact_claims(f, reg->address))
			fail_msg("%s: 0x%x: a foreign bit was written", f->who,
				 reg->address);
	}
}

/* Only the second core is driven. */
static void check_left_alone(const struct fact *f, unsigned int but, u64 bits)
{
	unsigned int writes = fake_writes(0);
	u32 all = fact_mask(f);

	assert_int_equal(pf_domain_count(), 2);
	assert_false(pf_domains[0].usable);
	assert_true(pf_domains[0].failed);
	assert_true(pf_domains[1].usable);
	assert_false(pf_domains[1].failed);
	/* A prefetcher that not every core can switch is not promised. */
	assert_int_equal(pf_supported_any, all);
	assert_int_equal(pf_supported_all, 0);

	fake_run(0, all);
	fake_run(2, all);
	assert_int_equal(pf_domains[1].effective, all);
	fake_resume();
	/* Not even on repair. */
	assert_false(pf_domain_write_all(&pf_domains[0], all,
					 PREFETCH_CAUSE_REPAIR));
	fake_offline(1);
	fake_offline(0);
	fake_online(0);
	fake_online(1);
	unload();
	assert_int_equal(fake_writes(0), writes);
	check_restored(f, but, bits);
}

/* What is told of the first core: all @bits but those of nobody. */
static void check_fault(u32 kind, unsigned int reg, u64 bits)
{
	const struct pf_fault *fault = &pf_domains[0].fault;

	assert_int_equal(fault->kind, kind);
	assert_int_equal(fault->reg, reg);
	assert_int_equal(pf_domains[0].layout->regs[fault->reg],
			 fake_banks[0].regs[reg].address);
	if (bits == ~0ULL)
		assert_true(fault->bits);
	else
		assert_int_equal(fault->bits, bits);
	assert_int_equal(pf_domains[1].fault.kind, PREFETCH_FAULT_NONE);
}

/* ": 0x2 (l2_adjacent)" */
static const char *name_bit(const struct fact *f, unsigned int reg,
			    unsigned int bit)
{
	u32 address = fake_banks[0].regs[reg].address;
	static char text[64];
	size_t i, used;

	used = (size_t)snprintf(text, sizeof(text), ": 0x%jx",
				(uintmax_t)(1ULL << bit));
	for (i = 0; f->fields[i].name; i++)
		if (f->fields[i].reg == address && f->fields[i].bit == bit)
			snprintf(text + used, sizeof(text) - used, " (%s)",
				 f->fields[i].name);
	return text;
}

static void check_said(const struct fact *f, unsigned int reg, const char *why)
{
	char want[200];

	snprintf(want, sizeof(want),
		 "prefetch: core 0 (CPU 0), register 0x%x: %s\n",
		 fake_banks[0].regs[reg].address, why);
	if (strcmp(fake_log, want))
		fail_msg("%s: said '%s', not '%s'", f->who, fake_log, want);
}

/* For each kind of core, what firmware left, and register. */
static void for_each_register(void (*fn)(const struct fact *f, unsigned int reg,
					 u64 firmware))
{
	size_t i, j;
	unsigned int reg;

	for (i = 0; i < nr_facts; i++) {
		if (!facts[i].fields[0].name)
			continue;
		for (j = 0; j < ARRAY_SIZE(firmwares); j++) {
			two_cores(&facts[i], firmwares[j]);
			for (reg = 0; fake_banks[0].regs[reg].address; reg++) {
				two_cores(&facts[i], firmwares[j]);
				remember();
				fn(&facts[i], reg, firmwares[j]);
			}
		}
	}
}

static void good(const struct fact *f, unsigned int reg, u64 firmware)
{
	struct pf_cpu_id id = fact_example(f);
	const struct pf_domain *d;
	unsigned int i;

	load();
	assert_string_equal(fake_log, "");
	assert_int_equal(pf_domain_count(), 2);
	for (i = 0; i < 2; i++) {
		d = &pf_domains[i];
		assert_true(d->usable);
		assert_false(d->failed);
		assert_int_equal(d->supported, fact_mask(f));
		assert_int_equal(d->effective, d->baseline_mask);
		assert_int_equal(d->nr_members, 2);
		assert_int_equal(d->hybrid_id,
				 id.core_type << 24 | id.native_model);
		if (firmware == ON)
			assert_int_equal(d->baseline_mask, 0);
		if (firmware == OFF)
			assert_int_equal(d->baseline_mask, fact_mask(f));
	}
	assert_int_equal(pf_supported_all, fact_mask(f));
	check_restored(f, reg, 0);
	/* Every bit was tried. */
	for (i = 0; fake_banks[0].regs[i].address; i++) {
		u64 tried = fact_claims(f, fake_banks[0].regs[i].address);

		if (f->stop.bits && i == 0 && (before[0] & f->stop.bits))
			tried &= ~f->stop.bits;
		assert_int_equal(fake_banks[0].regs[i].touched, tried);
	}
	unload();
}

static void no_read(const struct fact *f, unsigned int reg, u64 firmware)
{
	(void)firmware;
	fake_banks[0].regs[reg].no_read = true;
	load();
	check_said(f, reg, "the register is not there: reading it faults");
	check_fault(PREFETCH_FAULT_ABSENT, reg, 0);
	/* What is not there is not tried, and neither are its neighbours. */
	assert_int_equal(fake_writes(0), 0);
	check_left_alone(f, reg, 0);
}

static void no_write(const struct fact *f, unsigned int reg, u64 firmware)
{
	(void)firmware;
	fake_banks[0].regs[reg].no_write = true;
	load();
	check_said(f, reg, "writing the register faults");
	check_fault(PREFETCH_FAULT_WRITE, reg, 0);
	check_left_alone(f, reg, 0);
}

static void no_read_again(const struct fact *f, unsigned int reg, u64 firmware)
{
	(void)firmware;
	fake_banks[0].regs[reg].no_read_again = true;
	load();
	check_said(f, reg, "reading the register faults once it was written");
	check_fault(PREFETCH_FAULT_READ_BACK, reg, 0);
	check_left_alone(f, reg, 0);
}

static void ignored(const struct fact *f, unsigned int reg, u64 firmware)
{
	(void)firmware;
	fake_banks[0].regs[reg].ignore = true;
	load();
	check_said(f, reg,
		   "writes have no effect: firmware locked it, or a hidden "
		   "hypervisor ignores them");
	check_fault(PREFETCH_FAULT_IGNORED, reg, ~0ULL);
	check_left_alone(f, reg, 0);
}

static void ignored_by_hypervisor(const struct fact *f, unsigned int reg,
				  u64 firmware)
{
	(void)firmware;
	fake_hypervisor = true;
	fake_banks[0].regs[reg].ignore = true;
	load();
	check_said(f, reg, "the hypervisor ignores writes to the register");
	check_left_alone(f, reg, 0);
}

/* One bit after the other cannot be changed. */
static void stuck(const struct fact *f, unsigned int reg, u64 firmware)
{
	u64 claims = fact_claims(f, fake_banks[0].regs[reg].address);
	unsigned int bit;
	char why[120];

	for (bit = 0; bit < 64; bit++) {
		if (!(claims >> bit & 1))
			continue;
		/* Already set: it is never cleared, so nobody can tell. */
		if (f->stop.bits == 1ULL << bit && (before[reg] & f->stop.bits))
			continue;
		two_cores(f, firmware);
		fake_banks[0].regs[reg].stuck = 1ULL << bit;
		load();
		snprintf(why, sizeof(why),
			 "some bits of the register cannot be changed%s",
			 name_bit(f, reg, bit));
		check_said(f, reg,
			   claims == 1ULL << bit
				   ? "writes have no effect: firmware locked "
				     "it, or a hidden hypervisor ignores "
				     "them"
				   : why);
		check_fault(claims == 1ULL << bit ? PREFETCH_FAULT_IGNORED
						  : PREFETCH_FAULT_STUCK,
			    reg, 1ULL << bit);
		check_left_alone(f, reg, 0);
	}
}

/* One bit after the other cannot be cleared once it was set. */
static void once(const struct fact *f, unsigned int reg, u64 firmware)
{
	u64 claims = fact_claims(f, fake_banks[0].regs[reg].address);
	unsigned int bit;
	char why[120];

	/* Where the core changes the others by itself, nobody can tell. */
	if (f->stop.bits && !(before[0] & f->stop.bits))
		claims = f->stop.reg == fake_banks[0].regs[reg].address
				 ? f->stop.bits
				 : 0;
	for (bit = 0; bit < 64; bit++) {
		/* A bit that is set already is one that is stuck. */
		if (!(claims >> bit & 1) || (before[reg] >> bit & 1))
			continue;
		two_cores(f, firmware);
		fake_banks[0].regs[reg].once = 1ULL << bit;
		load();
		snprintf(why, sizeof(why),
			 "the register did not take its own value back%s",
			 name_bit(f, reg, bit));
		check_said(f, reg, why);
		check_fault(PREFETCH_FAULT_RESTORE, reg, 1ULL << bit);
		check_left_alone(f, reg, 1ULL << bit);
	}
}

/* Setting a bit that the facts do not name would fault. */
static void reserved(const struct fact *f, unsigned int reg, u64 firmware)
{
	u64 claims = fact_claims(f, fake_banks[0].regs[reg].address);

	(void)firmware;
	fake_banks[0].regs[reg].reserved = ~claims & ~before[reg];
	load();
	assert_string_equal(fake_log, "");
	fake_run(0, fact_mask(f));
	assert_int_equal(pf_domains[0].effective, fact_mask(f));
	assert_false(pf_domains[0].failed);
	unload();
	check_restored(f, reg, 0);
}

/*
 * Later on a write is refused: no second attempt, the other core works on,
 * and what was written is brought back on unload.
 */
static void refused(const struct fact *f, unsigned int reg, u64 firmware)
{
	u32 all = fact_mask(f);
	unsigned int writes;
	struct pf_domain *d;
	u32 wish;

	(void)firmware;
	load();
	d = &pf_domains[0];
	/* Something to change in each register. */
	wish = all & ~d->baseline_mask;
	fake_banks[0].regs[reg].no_write = true;
	fake_run(0, pf_wish(wish, all & ~wish));
	assert_true(d->failed);
	check_fault(PREFETCH_FAULT_WRITE, reg, 0);
	assert_int_equal(d->refused, 1);
	assert_int_equal(d->effective, d->baseline_mask);
	assert_int_equal(fake_event.cause, PREFETCH_CAUSE_REFUSED);
	assert_int_equal(fake_event.domain, 0);

	writes = fake_writes(0);
	fake_idle(0);
	fake_run(0, pf_wish(0, all));
	fake_run(0, pf_wish(all, 0));
	fake_run(1, pf_wish(all, 0));
	assert_int_equal(fake_writes(0), writes);
	assert_int_equal(d->refused, 1);
	fake_run(2, pf_wish(wish, all & ~wish));
	assert_int_equal(pf_domains[1].effective, wish);
	assert_false(pf_domains[1].failed);

	unload();
	check_restored(f, reg, 0);
	assert_string_equal(fake_log, "");
}

/* The same, but the register works again when the module goes. */
static void refused_for_a_time(const struct fact *f, unsigned int reg,
			       u64 firmware)
{
	u32 all = fact_mask(f);
	u32 wish;

	(void)firmware;
	load();
	wish = all & ~pf_domains[0].baseline_mask;
	fake_banks[0].regs[reg].no_write = true;
	fake_run(0, pf_wish(wish, all & ~wish));
	assert_true(pf_domains[0].failed);
	fake_banks[0].regs[reg].no_write = false;
	unload();
	check_restored(f, reg, 0);
}

/* The register refuses to go back to what firmware left. */
static void refused_on_the_way_back(const struct fact *f, unsigned int reg,
				    u64 firmware)
{
	u32 all = fact_mask(f);
	struct pf_domain *d;
	u32 wish;

	(void)firmware;
	load();
	d = &pf_domains[0];
	wish = all & ~d->baseline_mask;
	fake_run(0, pf_wish(wish, all & ~wish));
	assert_int_equal(d->effective, wish);
	fake_banks[0].regs[reg].no_write = true;
	fake_run(0, PF_WISH_DEFAULT);
	assert_true(d->failed);
	assert_int_equal(d->refused, 1);
	unload();
	/* All registers but this one. */
	check_restored(f, reg, ~0ULL);
}

/*
 * Somebody writes the register after it was probed and before anything is set:
 * from the first write on it holds what firmware left, and our mask.
 */
static void changed_before(const struct fact *f, unsigned int reg, u64 firmware)
{
	struct fake_reg *r = &fake_banks[0].regs[reg];
	u64 claims = fact_claims(f, r->address);
	struct pf_domain *d;
	u32 wish;

	(void)firmware;
	load();
	d = &pf_domains[0];
	r->value = ~before[reg];
	wish = ~d->baseline_mask & fact_mask(f);
	fake_run(0, pf_wish(wish, ~wish & fact_mask(f)));
	assert_int_equal(d->effective, wish);
	/* Each field was turned over; a bit that was set already stays. */
	assert_int_equal((r->value ^ before[reg]) & ~claims, 0);
	assert_int_equal((r->value ^ before[reg]) & claims & ~f->stop.bits,
			 claims & ~f->stop.bits);
	unload();
	assert_int_equal(r->value, before[reg]);
}

static void test_good(void **state)
{
	(void)state;
	for_each_register(good);
}

static void test_read_faults(void **state)
{
	(void)state;
	for_each_register(no_read);
}

static void test_write_faults(void **state)
{
	(void)state;
	for_each_register(no_write);
}

static void test_second_read_faults(void **state)
{
	(void)state;
	for_each_register(no_read_again);
}

static void test_write_ignored(void **state)
{
	(void)state;
	for_each_register(ignored);
	for_each_register(ignored_by_hypervisor);
}

static void test_stuck_bit(void **state)
{
	(void)state;
	for_each_register(stuck);
}

static void test_own_value_refused(void **state)
{
	(void)state;
	for_each_register(once);
}

static void test_reserved_bits(void **state)
{
	(void)state;
	for_each_register(reserved);
}

static void test_changed_before_set(void **state)
{
	(void)state;
	for_each_register(changed_before);
}

static void test_refused(void **state)
{
	(void)state;
	for_each_register(refused);
	for_each_register(refused_for_a_time);
	for_each_register(refused_on_the_way_back);
}

/* Nothing works on the whole machine. */
static void test_no_core_works(void **state)
{
	const struct fact *f = fact_named("Haswell, Broadwell");

	(void)state;
	two_cores(f, ON);
	remember();
	fake_banks[0].regs[0].ignore = true;
	fake_banks[1].regs[0].no_read = true;
	pf_backend = PREFETCH_BACKEND_MSR;
	assert_int_equal(pf_cpus_init(), -EOPNOTSUPP);
	assert_int_equal(fake_log_lines, 3);
	assert_non_null(strstr(fake_log, "core 0 (CPU 0), register 0x1a4: "));
	assert_non_null(strstr(fake_log, "core 1 (CPU 2), register 0x1a4: "));
	assert_non_null(strstr(fake_log, "no core of this machine"));
	check_restored(f, 0, 0);
}

/* With backend soft there is no register to fail. */
static void test_soft(void **state)
{
	const struct fact *f = fact_named("Crestmont");
	unsigned int reg;

	(void)state;
	two_cores(f, ON);
	remember();
	for (reg = 0; reg < 3; reg++)
		fake_banks[0].regs[reg].no_read = true;
	pf_backend = PREFETCH_BACKEND_SOFT;
	assert_int_equal(pf_cpus_init(), 0);
	assert_string_equal(fake_log, "");
	fake_run(0, fact_mask(f));
	assert_int_equal(pf_domains[0].effective, fact_mask(f));
	assert_int_equal(pf_domains[0].soft[0], 0x1ff);
	unload();
	assert_int_equal(fake_writes(0) + fake_writes(1), 0);
	assert_int_equal(fake_banks[0].regs[0].reads, 0);
}

static void test_choice(void **state)
{
	(void)state;
	fake_reset(1);
	assert_int_equal(pf_backend_choose("msr", false), 0);
	assert_int_equal(pf_backend, PREFETCH_BACKEND_MSR);
	assert_int_equal(pf_backend_choose("soft", false), 0);
	assert_int_equal(pf_backend, PREFETCH_BACKEND_SOFT);
	assert_int_equal(pf_backend_choose("auto", false), 0);
	assert_int_equal(pf_backend, PREFETCH_BACKEND_MSR);
	assert_string_equal(fake_log, "");
	assert_int_equal(pf_backend_choose("hard", false), -EINVAL);
	assert_non_null(strstr(fake_log, "'hard'"));

	fake_reset(1);
	fake_hypervisor = true;
	assert_int_equal(pf_backend_choose("auto", false), -EOPNOTSUPP);
	assert_non_null(strstr(fake_log, "trust_hypervisor=1"));
	assert_int_equal(pf_backend_choose("msr", true), 0);
	assert_int_equal(pf_backend_choose("soft", false), 0);
	assert_int_equal(fake_log_lines, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_read_faults),
		cmocka_unit_test(test_write_faults),
		cmocka_unit_test(test_second_read_faults),
		cmocka_unit_test(test_write_ignored),
		cmocka_unit_test(test_stuck_bit),
		cmocka_unit_test(test_own_value_refused),
		cmocka_unit_test(test_reserved_bits),
		cmocka_unit_test(test_changed_before_set),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_no_core_works),
		cmocka_unit_test(test_soft),
		cmocka_unit_test(test_choice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
