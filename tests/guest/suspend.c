// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The machine sleeps and wakes up, with settings in force. The firmware has
 * put its own values into the registers meanwhile.
 *
 * QEMU's emulator does not come back from suspend to RAM: the kernel's way up
 * from there ends in a triple fault, with and without the twin. So the kernel
 * itself is asked to turn around right before it would sleep (its pm_test): by
 * then it has frozen all tasks, taken all CPUs but one offline, and suspended
 * the rest, and it wakes up from there as from real sleep. What the firmware
 * does to the registers is played by the twin.
 */
#include "actor.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"
#include "power.h"
#include "request.h"

#define POWER	   "/sys/power/"
#define BOTH_CORES 0x3

static void go_to_sleep(struct check *c, const char *state, const char *test,
			uint64_t when)
{
	ssize_t len = (ssize_t)strlen(state);
	int fd;

	write_text(POWER "pm_test", test);
	fd = open(POWER "state", O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		die("no sleep: %s", strerror(errno));
	twin_loses(BOTH_CORES, when);
	expect(c, write(fd, state, len) == len, "it does not sleep: %s",
	       strerror(errno));
	close(fd);
	write_text(POWER "pm_test", "none");
}

static bool foreign(void)
{
	bool differs = false;

	for (int d = 0; d < domain_count(); d++) {
		struct pfnl_core core;

		if (pfnl_core_get(handle(), (uint32_t)d, true, &core))
			die("cannot verify");
		differs |= core.differs;
		pfnl_core_clear(&core);
	}
	return differs;
}

static void sleep_with(struct check *c, const char *state, const char *test,
		       uint64_t when)
{
	struct actor *a = actor_new(domain_cpu(0));
	struct actor *b = actor_new(domain_cpu(1));
	uint64_t from;

	expect(c, !set_pid(a->pid, L2_STREAM, 0), "set failed");
	expect(c, !set_pid(b->pid, L1_IP, 0), "set failed");
	expect(c, !set_default(L2_ADJACENT, 0), "no machine default");
	actor_spin(a);
	actor_spin(b);
	expect(c, reg_of(a) == (L2_STREAM | L2_ADJACENT), "0x%llx before",
	       (unsigned long long)reg_of(a));
	from = options.mark++;
	mark_twin(from);
	go_to_sleep(c, state, test, when);
	mark_twin(options.mark);
	/* A core whose CPUs all went has nothing to lose any more. */
	for (int d = 0; d < (when == LOSE_ALONE ? 1 : domain_count()); d++)
		printf("lost from=0x%llx to=0x%llx domain=%d\n",
		       (unsigned long long)from,
		       (unsigned long long)options.mark, d);
	options.mark++;
	expect(c, !foreign(), "a register is not what it should be");
	expect(c, reg_of(a) == (L2_STREAM | L2_ADJACENT), "first core: 0x%llx",
	       (unsigned long long)reg_of(a));
	/* Its CPU was away, so it may be anywhere now. */
	actor_move(b, b->cpu);
	expect(c, reg_of(b) == (L1_IP | L2_ADJACENT), "second core: 0x%llx",
	       (unsigned long long)reg_of(b));
	actor_sleep(b);
	expect(c, request_settings() == 2, "%ld settings", request_settings());
	expect(c, !set_pid(a->pid, L1_STREAM, 0), "set failed");
	expect(c, reg_of(a) == (L1_STREAM | L2_ADJACENT), "changed: 0x%llx",
	       (unsigned long long)reg_of(a));
	expect(c, !set_default(0, 0), "the default stays");
}

static void to_ram(struct check *c)
{
	sleep_with(c, "mem", "core", LOSE_ALONE);
}

static void to_idle(struct check *c)
{
	sleep_with(c, "freeze", "platform", LOSE_SOON);
}

/* Nothing is set, and nothing was: the registers are none of our business. */
static void unused(struct check *c)
{
	struct span s[2];
	int err = module_unload();

	expect(c, !err, "cannot unload");
	expect(c, !module_load(""), "cannot load");
	s[0] = span_begin("suspend_unused_0");
	s[1] = span_begin("suspend_unused_1");
	go_to_sleep(c, "mem", "core", LOSE_ALONE);
	span_end(&s[0], 0, 0, 0);
	span_end(&s[1], 1, 0, 0);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "suspend_to_ram", to_ram },
		{ "suspend_to_idle", to_idle },
		{ "suspend_unused", unused },
	};

	return harness_main(argc, argv, tests, ARRAY_SIZE(tests));
}
