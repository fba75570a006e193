// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Loaded and nothing set: the module is not in the scheduler's way at all. Run
 * it first in a boot, so that it sees what was since load.
 *
 * That no probe is attached is asked of the module, and of the kernel: its
 * function tracer counts each call into the module while tasks switch.
 */
#include "actor.h"

#include "harness.h"
#include "request.h"

#define TRACING	    "/sys/kernel/tracing/"
#define SWITCHES    ((long)rounds_of(10000))
#define MARK_LOADED 1 /* in the twin's log, written right after load */
#define TOGGLES	    ((int)rounds_of(1000))

static long switches(void)
{
	return read_field("/proc/stat", "ctxt");
}

static struct actor *yielders[6];

/*
 * The first CPU is left to the task that gets settings, and the last one to
 * this program: with others in its way it would not get from one look at the
 * register to the next before a kernel thread has had the first CPU.
 */
static void start_yielders(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(yielders); i++) {
		yielders[i] = actor_new(1 + i % (cpu_count() - 2));
		actor_mode(yielders[i], i < 4 ? ACTOR_YIELD : ACTOR_NAP, 0);
	}
}

static void expect_switches(struct check *c)
{
	long before = switches();

	expect(c, wait_for(switches() > before + SWITCHES), "only %ld switches",
	       switches() - before);
}

/* Calls into the module while tasks switch, as the kernel counts them. */
static long calls_while_switching(struct check *c)
{
	long entries = 0;

	write_text(TRACING "tracing_on", "0");
	write_text(TRACING "set_ftrace_filter", ":mod:prefetch");
	write_text(TRACING "current_tracer", "function");
	write_text(TRACING "trace", "");
	write_text(TRACING "tracing_on", "1");
	expect_switches(c);
	write_text(TRACING "tracing_on", "0");
	for (int cpu = 0; cpu < cpu_count(); cpu++) {
		char path[80];

		snprintf(path, sizeof(path), TRACING "per_cpu/cpu%d/stats",
			 cpu);
		entries += read_field(path, "entries") +
			   read_field(path, "overrun");
	}
	write_text(TRACING "current_tracer", "nop");
	write_text(TRACING "set_ftrace_filter", "");
	write_text(TRACING "trace", "");
	write_text(TRACING "tracing_on", "1");
	return entries;
}

static bool can_count_calls(struct check *c)
{
	if (have_file(TRACING "set_ftrace_filter"))
		return true;
	skip(c, "this kernel has no function tracer to count calls with");
	return false;
}

static void nothing_set(struct check *c)
{
	struct span since_load = { .name = "idle_since_load",
				   .from = MARK_LOADED };
	uint64_t before = info().register_writes;

	expect(c, !info().attached, "probes are attached, and nothing is set");
	start_yielders();
	if (can_count_calls(c)) {
		long calls = calls_while_switching(c);

		expect(c, calls == 0, "%ld calls into the module", calls);
	}
	expect_switches(c);
	expect(c, !info().attached, "probes are attached, and nothing is set");
	expect(c, info().register_writes == before, "the register was written");
	/* From the mark that follows load to a mark made now. */
	mark_twin(options.mark);
	for (int d = 0; d < domain_count(); d++)
		printf("span %s_%d from=0x%llx to=0x%llx domain=%d least=0 "
		       "most=0\n",
		       since_load.name, d, (unsigned long long)since_load.from,
		       (unsigned long long)options.mark, d);
	options.mark++;
}

/* The same look at the same thing with a setting: so it can be seen. */
static void something_set(struct check *c)
{
	struct actor *a = actor_new(domain_cpu(0));

	start_yielders();
	expect(c, !set_pid(a->pid, L1_IP, 0), "set failed");
	expect(c, info().attached, "a setting, and no probe is attached");
	if (can_count_calls(c)) {
		long calls = calls_while_switching(c);

		expect(c, calls >= SWITCHES, "only %ld calls into the module",
		       calls);
	}
}

static void default_alone(struct check *c)
{
	start_yielders();
	expect(c, wait_for(!info().attached), "probes stay attached");
	expect(c, !set_default(L1_STREAM, 0), "no machine default");
	for (int cpu = 0; cpu < cpu_count(); cpu++)
		expect(c, reg(cpu) == L1_STREAM, "CPU %d has no default", cpu);
	expect(c, !info().attached, "a default alone attached probes");
	expect(c, !set_default(0, 0), "the machine default stays");
}

static void toggle(struct check *c)
{
	struct actor *a = actor_new(domain_cpu(0));
	long before = switches();
	uint64_t writes;

	start_yielders();
	actor_spin(a);
	for (int i = 0; i < TOGGLES; i++) {
		uint32_t mask = 1 + i % ALL_FOUR;
		unsigned long since = before_request(a);
		uint64_t is;

		expect(c, !set_pid(a->pid, mask, 0), "set failed");
		is = at_once(a, since, mask);
		expect(c, is == mask, "set: 0x%llx, not 0x%x",
		       (unsigned long long)is, mask);
		expect(c, !clear_pid(a->pid), "clear failed");
		is = reg(a->cpu);
		expect(c, is == 0, "cleared: 0x%llx", (unsigned long long)is);
	}
	expect(c, switches() - before >= TOGGLES, "only %ld switches",
	       switches() - before);
	expect(c, wait_for(!info().attached), "probes stay attached");
	writes = info().register_writes;
	expect_switches(c);
	for (int cpu = 0; cpu < cpu_count(); cpu++)
		expect(c, reg(cpu) == 0, "detached: CPU %d has 0x%llx", cpu,
		       (unsigned long long)reg(cpu));
	expect(c, info().register_writes == writes,
	       "detached, and it still writes");
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "idle_nothing_set", nothing_set },
		{ "idle_something_set", something_set },
		{ "idle_default_alone", default_alone },
		{ "idle_toggle", toggle },
	};

	return harness_main(argc, argv, tests, ARRAY_SIZE(tests));
}
