// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Whole machines: which CPUs share a register, and what each kind of core
 * has.
 */
#include <stdio.h>

#include "hardware.h"

#define L2_STREAM    (1U << 0)
#define L2_ADJACENT  (1U << 1)
#define L1_IP	     (1U << 3)
#define L2_NEXT_LINE (1U << 9)
#define LLC_STREAM   (1U << 10)

#define SKYLAKE	     "Skylake, Kaby Lake, Coffee Lake, Comet Lake, Cannon Lake"
#define P_CORE	     "Alder Lake, Raptor Lake, P-cores"

static u64 value(unsigned int bank, u32 address)
{
	return fake_reg(bank, address)->value;
}

/* Two sockets, two cores each; the second hyperthreads come last. */
static void test_two_sockets(void **state)
{
	const struct fact *f = fact_named(SKYLAKE);
	unsigned int core;

	(void)state;
	fake_reset(8);
	for (core = 0; core < 4; core++) {
		u32 apic_id = core / 2 << 6 | core % 2 << 1;

		put_cpu(core, f, apic_id, core);
		put_cpu(core + 4, f, apic_id + 1, core);
		put_bank(core, f, 0);
	}
	load();
	assert_int_equal(pf_domain_count(), 4);
	for (core = 0; core < 4; core++)
		assert_int_equal(cpus_of(core), 0x11U << core);

	fake_run(6, L2_STREAM);
	assert_int_equal(value(2, 0x1a4) & 0xf, 1);
	for (core = 0; core < 4; core++)
		assert_int_equal(pf_domains[core].effective, core == 2);
	/* Off wins, whichever hyperthread asks. */
	fake_run(2, pf_wish(L1_IP, L2_STREAM));
	assert_int_equal(value(2, 0x1a4) & 0xf, 9);
	unload();
	assert_int_equal(value(2, 0x1a4) & 0xf, 0);
}

/*
 * CPUs 0 to 3 are two P-cores, 4 to 7 the first module, 8 and 9 another. The
 * number of the first module's L2 is also that of the second P-core's.
 */
static void put_hybrid(unsigned int cpus)
{
	const struct fact *big = fact_named(P_CORE);
	const struct fact *small = fact_named("Gracemont");
	unsigned int cpu;

	fake_reset(cpus);
	for (cpu = 0; cpu < 4; cpu++)
		put_cpu(cpu, big, cpu / 2 * 8 + cpu % 2, cpu / 2);
	for (cpu = 4; cpu < cpus; cpu++)
		put_cpu(cpu, small, 32 + (cpu - 4) * 2, cpu / 4 + 1);
	put_bank(0, big, 0);
	put_bank(1, big, 0);
	put_bank(2, small, 0);
	put_bank(3, small, 0);
}

static void test_hybrid(void **state)
{
	u32 big = fact_mask(fact_named(P_CORE));
	u32 small = fact_mask(fact_named("Gracemont"));

	(void)state;
	put_hybrid(10);
	load();
	assert_string_equal(fake_log, "");
	assert_int_equal(pf_domain_count(), 4);
	assert_int_equal(cpus_of(0), 0x003);
	assert_int_equal(cpus_of(1), 0x00c);
	assert_int_equal(cpus_of(2), 0x0f0);
	assert_int_equal(cpus_of(3), 0x300);
	assert_int_equal(pf_domains[1].supported, big);
	assert_int_equal(pf_domains[2].supported, small);
	assert_int_equal(pf_domains[1].layout->core_type,
			 PREFETCH_CORE_TYPE_PERFORMANCE);
	assert_int_equal(pf_domains[2].layout->core_type,
			 PREFETCH_CORE_TYPE_EFFICIENT);
	assert_int_equal(pf_supported_any, big | small);
	assert_int_equal(pf_supported_all, big & small);
	unload();
}

/* A setting names what only some cores have: there it holds, elsewhere not. */
static void test_follows_the_task(void **state)
{
	u64 wish = L2_ADJACENT | L2_NEXT_LINE;
	u64 p_core, e_core;

	(void)state;
	put_hybrid(10);
	p_core = value(0, 0x1a4);
	e_core = value(2, 0x1a4);
	load();
	fake_run(0, wish);
	assert_int_equal(value(0, 0x1a4), p_core | 2);
	assert_int_equal(pf_domains[0].effective, L2_ADJACENT);
	fake_run(5, wish);
	assert_int_equal(value(2, 0x1a4), e_core);
	assert_int_equal(value(2, 0x1321) >> 40 & 1, 1);
	assert_int_equal(pf_domains[2].effective, L2_NEXT_LINE);
	assert_int_equal(value(3, 0x1321) >> 40 & 1, 0);
	/* Another core of the module wishes it on: off wins. */
	fake_run(7, pf_wish(L1_IP, L2_NEXT_LINE));
	assert_int_equal(pf_domains[2].effective, L2_NEXT_LINE | L1_IP);
	fake_idle(5);
	assert_int_equal(pf_domains[2].effective, L1_IP);
	assert_int_equal(value(2, 0x1321) >> 40 & 1, 0);
	unload();
	assert_int_equal(value(0, 0x1a4), p_core);
	assert_int_equal(value(2, 0x1a4), e_core);
}

/* E-cores that nobody has described, beside P-cores that are known. */
static void test_unknown_kind(void **state)
{
	unsigned int cpu;

	(void)state;
	put_hybrid(8);
	for (cpu = 4; cpu < 8; cpu++)
		fake_processors[cpu].native_model = 0x77;
	load();
	assert_int_equal(pf_domain_count(), 2);
	assert_int_equal(pf_supported_all, 0);
	/* Four CPUs of one kind, one line. */
	assert_int_equal(fake_log_lines, 1);
	assert_non_null(strstr(fake_log, "CPU 4: undocumented on this CPU"));
	assert_non_null(strstr(fake_log, "family 0x6"));
	fake_run(5, 1);
	fake_run(0, 1);
	assert_int_equal(pf_domains[0].effective, 1);
	fake_offline(5);
	fake_online(5);
	unload();
	assert_int_equal(fake_writes(2), 0);
	assert_int_equal(fake_reg(2, 0x1a4)->reads, 0);
}

static void test_unknown_model(void **state)
{
	unsigned int cpu;

	(void)state;
	two_cores(fact_named(SKYLAKE), 0);
	for (cpu = 0; cpu < 4; cpu++)
		fake_processors[cpu].model = 0xf1;
	pf_backend = PREFETCH_BACKEND_MSR;
	assert_int_equal(pf_cpus_init(), -EOPNOTSUPP);
	assert_non_null(strstr(fake_log, "undocumented on this CPU ("));
	assert_non_null(strstr(fake_log, "family 0x6 model 0xf1"));
	assert_int_equal(fake_writes(0), 0);
	assert_int_equal(fake_reg(0, 0x1a4)->reads, 0);

	/* Without effect, it is good enough to try things out. */
	two_cores(fact_named(SKYLAKE), 0);
	for (cpu = 0; cpu < 4; cpu++)
		fake_processors[cpu].model = 0xf1;
	pf_backend = PREFETCH_BACKEND_SOFT;
	assert_int_equal(pf_cpus_init(), 0);
	assert_int_equal(pf_domain_count(), 2);
	unload();
	assert_int_equal(fake_writes(0), 0);
}

/* Zen 2 has the register of Zen 3, as some say, but not the bit. */
static void test_zen2(void **state)
{
	const struct fact *f = fact_named("Zen 3, Zen 4");
	unsigned int cpu;

	(void)state;
	two_cores(f, 0);
	for (cpu = 0; cpu < 4; cpu++) {
		fake_processors[cpu].family = 0x17;
		fake_processors[cpu].model = 0x71;
		fake_processors[cpu].prefetch_msr = false;
	}
	pf_backend = PREFETCH_BACKEND_MSR;
	assert_int_equal(pf_cpus_init(), -EOPNOTSUPP);
	assert_non_null(strstr(fake_log, "undocumented on this CPU ("));
	assert_non_null(
		strstr(fake_log, "AuthenticAMD family 0x17 model 0x71"));
	assert_int_equal(fake_writes(0), 0);
	assert_int_equal(fake_banks[0].regs[0].reads, 0);
}

/* Firmware has l1_ip off on one core only. */
static void test_firmware_differs(void **state)
{
	const struct fact *f = fact_named(SKYLAKE);
	u64 first, second;

	(void)state;
	two_cores(f, 0);
	put_bank(1, f, 8);
	first = value(0, 0x1a4);
	second = value(1, 0x1a4);
	load();
	assert_int_equal(pf_domains[0].baseline_mask, 0);
	assert_int_equal(pf_domains[1].baseline_mask, L1_IP);
	fake_run(0, L2_STREAM);
	fake_run(2, L2_STREAM);
	assert_int_equal(value(0, 0x1a4), first | 1);
	assert_int_equal(value(1, 0x1a4), second | 1);
	fake_run(2, pf_wish(0, L1_IP));
	assert_int_equal(value(1, 0x1a4), second & ~8ULL);
	/* The sibling has no opinion, so its default counts, and off wins. */
	fake_run(3, PF_WISH_DEFAULT);
	assert_int_equal(value(1, 0x1a4), second);
	fake_run(3, pf_wish(0, L1_IP));
	unload();
	assert_int_equal(value(0, 0x1a4), first);
	assert_int_equal(value(1, 0x1a4), second);
}

/* Four hyperthreads, and the two bits the other way round. */
static void test_knights(void **state)
{
	const struct fact *f = fact_named("Knights Landing, Knights Mill");
	unsigned int cpu;

	(void)state;
	fake_reset(8);
	for (cpu = 0; cpu < 8; cpu++) {
		put_cpu(cpu, f, cpu, cpu / 4);
		fake_processors[cpu].smt_bits = 2;
	}
	put_bank(0, f, 0);
	put_bank(1, f, 0);
	load();
	assert_int_equal(pf_domain_count(), 2);
	assert_int_equal(cpus_of(0), 0x0f);
	assert_int_equal(cpus_of(1), 0xf0);
	fake_run(6, L2_STREAM);
	assert_int_equal(value(1, 0x1a4) & 3, 2);
	unload();
	assert_int_equal(value(1, 0x1a4) & 3, 0);
}

/* What stands above the five bits stays, and a reserved bit would fault. */
static void test_zen5(void **state)
{
	const struct fact *f = fact_named("Zen 5");

	(void)state;
	two_cores(f, 0);
	fake_banks[0].regs[0].value = 0x3c0;
	fake_banks[0].regs[0].reserved = ~0x3ffULL;
	load();
	assert_string_equal(fake_log, "");
	fake_run(0, fact_mask(f));
	assert_int_equal(value(0, 0xc0000108), 0x3ef);
	assert_int_equal(fake_banks[0].regs[0].touched, 0x2f);
	unload();
	assert_int_equal(value(0, 0xc0000108), 0x3c0);
}

/* While the core steers by itself, its fields are never still. */
static void put_darkmont(const struct fact *f)
{
	unsigned int i;

	two_cores(f, 0);
	for (i = 0; i < 3; i++) {
		fake_banks[0].regs[i].wander =
			fact_claims(f, fake_banks[0].regs[i].address) &
			(i ? ~0ULL : ~f->stop.bits);
		fake_banks[0].regs[i].still = f->stop.bits;
	}
}

static void test_darkmont(void **state)
{
	const struct fact *f = fact_named("Darkmont");
	u64 stop = f->stop.bits;
	struct fake_write *w;
	u32 baseline;

	(void)state;
	put_darkmont(f);
	load();
	assert_string_equal(fake_log, "");
	assert_true(pf_domains[0].usable);
	assert_false(value(0, 0x1a4) & stop);
	baseline = pf_domains[0].baseline_mask;

	/* Stopped before the first field is written, not after. */
	fake_nr_written = 0;
	fake_run(0, pf_wish(LLC_STREAM & ~baseline, LLC_STREAM & baseline));
	assert_int_equal(fake_nr_written, 2);
	w = fake_written;
	assert_int_equal(w[0].address, 0x1a4);
	assert_true(w[0].value & stop);
	assert_int_equal(w[1].address, 0x1320);
	assert_int_equal(pf_domains[0].effective, baseline ^ LLC_STREAM);

	/* And let go after the last one. */
	fake_nr_written = 0;
	fake_run(0, PF_WISH_DEFAULT);
	assert_int_equal(fake_nr_written, 2);
	assert_int_equal(w[0].address, 0x1320);
	assert_int_equal(w[1].address, 0x1a4);
	assert_false(w[1].value & stop);

	fake_run(0, pf_wish(fact_mask(f) & ~baseline, baseline));
	assert_true(value(0, 0x1a4) & stop);
	assert_int_equal(value(0, 0x1a4) & 0x1ff, ~baseline & 0x1ff);
	unload();
	assert_false(value(0, 0x1a4) & stop);
}

static void check_default_stops(u32 off, u32 on, bool stops)
{
	struct pf_domain *d = &pf_domains[0];

	pf_default_off = off;
	pf_default_on = on;
	pf_domain_resolve_default(d);
	/* Something to look at the default for. */
	fake_idle(0);
	fake_run(0, PF_WISH_DEFAULT);
	assert_int_equal(!!(value(0, 0x1a4) & BIT_ULL(12)), stops);
}

/*
 * Who asks for just what firmware left gets it: the core must not steer away
 * from it by itself.
 */
static void test_darkmont_same_mask(void **state)
{
	const struct fact *f = fact_named("Darkmont");
	u64 stop = f->stop.bits;
	struct pf_domain *d;
	unsigned int events;
	u32 on, off;

	(void)state;
	put_darkmont(f);
	load();
	d = &pf_domains[0];
	off = d->baseline_mask & L2_STREAM;
	on = ~d->baseline_mask & L2_STREAM;
	fake_nr_written = 0;
	events = fake_event.count;

	/* One write, and no change of the mask to tell of. */
	fake_run(0, pf_wish(off, on));
	assert_true(value(0, 0x1a4) & stop);
	assert_int_equal(fake_nr_written, 1);
	assert_int_equal(fake_event.count, events);
	assert_int_equal(d->effective, d->baseline_mask);
	/* A sibling without an opinion, or with the same one: nothing new. */
	fake_run(1, PF_WISH_DEFAULT);
	fake_run(1, pf_wish(off, on));
	assert_int_equal(fake_nr_written, 1);
	/* As long as one of them asks. */
	fake_run(0, PF_WISH_DEFAULT);
	assert_true(value(0, 0x1a4) & stop);
	/* Held for the one that sleeps now. */
	fake_idle(0);
	fake_idle(1);
	assert_true(value(0, 0x1a4) & stop);
	assert_int_equal(fake_nr_written, 1);
	fake_run(1, PF_WISH_DEFAULT);
	assert_false(value(0, 0x1a4) & stop);
	/* A prefetcher that it has not is no reason to stop. */
	fake_run(1, 1U << 13);
	assert_false(value(0, 0x1a4) & stop);
	assert_int_equal(fake_nr_written, 2);

	/* The machine default asks, too, by either word. */
	fake_run(1, PF_WISH_DEFAULT);
	check_default_stops(1U << 13, 0, false);
	check_default_stops(L2_STREAM, 0, true);
	check_default_stops(0, 1U << 13, false);
	check_default_stops(0, L2_STREAM, true);
	check_default_stops(0, 0, false);
	check_default_stops(off, on, true);
	fake_resume();
	assert_true(value(0, 0x1a4) & stop);
	unload();
	assert_false(value(0, 0x1a4) & stop);
}

/* Firmware had stopped it already: it stays stopped. */
static void test_darkmont_stopped(void **state)
{
	const struct fact *f = fact_named("Darkmont");

	(void)state;
	put_darkmont(f);
	fake_banks[0].regs[0].value |= f->stop.bits;
	load();
	assert_true(pf_domains[0].usable);
	fake_run(0, 1);
	fake_run(0, PF_WISH_DEFAULT);
	assert_true(value(0, 0x1a4) & f->stop.bits);
	unload();
	assert_true(value(0, 0x1a4) & f->stop.bits);
	assert_false(fake_banks[0].regs[0].touched & f->stop.bits);
}

static void test_reboot(void **state)
{
	u64 left;

	(void)state;
	put_hybrid(10);
	left = value(2, 0x1321);
	load();
	fake_run(0, L2_STREAM);
	fake_run(4, L2_NEXT_LINE);
	fake_reboot();
	assert_int_equal(value(0, 0x1a4) & 1, 0);
	assert_int_equal(value(2, 0x1321), left);
	fake_nr_written = 0;
	fake_run(0, L1_IP);
	fake_run(6, L1_IP);
	fake_resume();
	assert_int_equal(fake_nr_written, 0);
	unload();
	assert_int_equal(fake_nr_written, 0);
}

/* More CPUs than anybody has put on one register. */
static void test_too_many(void **state)
{
	const struct fact *f = fact_named("Gracemont");
	unsigned int cpu;

	(void)state;
	fake_reset(10);
	for (cpu = 0; cpu < 10; cpu++) {
		put_cpu(cpu, f, cpu, 0);
		fake_processors[cpu].l2_bits = 4;
	}
	put_bank(0, f, 0);
	load();
	assert_int_equal(pf_domain_count(), 1);
	assert_int_equal(cpus_of(0), 0xff);
	assert_int_equal(fake_log_lines, 2);
	assert_non_null(strstr(fake_log, "CPU 9: more than 8 CPUs"));
	fake_run(9, 1);
	assert_int_equal(pf_domains[0].effective, 0);
	unload();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_two_sockets),
		cmocka_unit_test(test_hybrid),
		cmocka_unit_test(test_follows_the_task),
		cmocka_unit_test(test_unknown_kind),
		cmocka_unit_test(test_unknown_model),
		cmocka_unit_test(test_zen2),
		cmocka_unit_test(test_firmware_differs),
		cmocka_unit_test(test_knights),
		cmocka_unit_test(test_zen5),
		cmocka_unit_test(test_darkmont),
		cmocka_unit_test(test_darkmont_same_mask),
		cmocka_unit_test(test_darkmont_stopped),
		cmocka_unit_test(test_reboot),
		cmocka_unit_test(test_too_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
