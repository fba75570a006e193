// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Two siblings with a spinning task each: what the core they share shows, for
 * all pairs of masks and for all pairs of off, on and default.
 */
#include "actor.h"
#include "harness.h"
#include "request.h"

enum opinion { NONE, OFF, ON, OPINIONS };

static const char *const opinion_name[] = { "default", "off", "on" };

static struct actor *first, *second;

static void start_siblings(void)
{
	int cpu = domain_cpu(0);

	first = actor_new(cpu);
	second = actor_new(cpu + 1);
	actor_spin(first);
	actor_spin(second);
}

/* On both CPUs of the core, in the module's own words, and not elsewhere. */
static void expect_core(struct check *c, uint32_t want, uint32_t elsewhere,
			const char *what)
{
	uint64_t is = reg(second->cpu);

	if (is != want)
		is = reg_of_both(first, second);
	if (!expect(c, is == want, "%s: register is 0x%llx, not 0x%x", what,
		    (unsigned long long)is, want))
		return;
	is = reg(first->cpu);
	if (is != want)
		is = reg_of_both(second, first);
	expect(c, is == want, "%s: the sibling reads 0x%llx", what,
	       (unsigned long long)is);
	expect(c, wait_for(core_state(0).effective == want),
	       "%s: the module says 0x%x, not 0x%x", what,
	       core_state(0).effective, want);
	is = reg(domain_cpu(1));
	expect(c, is == elsewhere, "%s: the next core shows 0x%llx", what,
	       (unsigned long long)is);
}

static void all_pairs(struct check *c)
{
	char what[64];

	start_siblings();
	for (uint32_t a = 0; a <= ALL_FOUR; a++) {
		expect(c, !set_pid(first->pid, a, ALL_FOUR & ~a),
		       "set of 0x%x failed", a);
		for (uint32_t b = 0; b <= ALL_FOUR; b++) {
			expect(c, !set_pid(second->pid, b, ALL_FOUR & ~b),
			       "set of 0x%x failed", b);
			snprintf(what, sizeof(what), "0x%x and 0x%x", a, b);
			expect_core(c, a | b, options.baseline, what);
		}
	}
}

static uint32_t wish(enum opinion o, uint32_t bit, uint32_t fallback)
{
	if (o == OFF)
		return (fallback & ~bit) | bit;
	return o == ON ? fallback & ~bit : fallback;
}

static int give(pid_t pid, enum opinion o, uint32_t bit)
{
	return set_pid(pid, o == OFF ? bit : 0, o == ON ? bit : 0);
}

static void nine(struct check *c, uint32_t fallback)
{
	char what[64];

	start_siblings();
	for (uint32_t bit = 1; bit <= ALL_FOUR; bit <<= 1) {
		for (int i = 0; i < OPINIONS * OPINIONS; i++) {
			enum opinion a = i / OPINIONS, b = i % OPINIONS;
			int err = give(first->pid, a, bit);

			if (!err)
				err = give(second->pid, b, bit);
			expect(c, !err, "set failed: %d", err);
			snprintf(what, sizeof(what), "0x%x: %s and %s", bit,
				 opinion_name[a], opinion_name[b]);
			expect_core(c,
				    wish(a, bit, fallback) |
					    wish(b, bit, fallback),
				    fallback, what);
		}
	}
}

static void nine_plain(struct check *c)
{
	expect(c, core_state(0).baseline == options.baseline,
	       "the module takes 0x%x for the firmware's value",
	       core_state(0).baseline);
	nine(c, options.baseline);
}

static void nine_default(struct check *c)
{
	expect(c, !set_default(L2_STREAM, 0), "no machine default");
	nine(c, options.baseline | L2_STREAM);
	actors_end();
	expect(c, !set_default(0, 0), "the machine default stays");
}

/* What firmware switched off can be switched on for the whole machine. */
static void default_on(struct check *c)
{
	uint32_t rest = options.baseline & ~L1_STREAM;

	expect(c, !set_default(0, L1_STREAM), "no machine default");
	nine(c, rest);
	actors_end();
	expect(c, !set_default(0, 0), "the machine default stays");
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "masks_all_pairs", all_pairs },
		{ "masks_nine", nine_plain },
		{ "masks_nine_default", nine_default },
		{ "masks_nine_default_on", default_on },
	};

	return harness_main(argc, argv, tests, ARRAY_SIZE(tests));
}
