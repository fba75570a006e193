// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the firmware left in the registers is back after unload, reboot and
 * kexec, with settings and a machine default in force at that moment.
 */
#include "actor.h"

#include <errno.h>
#include <linux/kexec.h>
#include <linux/reboot.h>
#include <string.h>
#include <sys/reboot.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "harness.h"
#include "request.h"

#define ROUNDS 5

/* Registers that show anything but the firmware's value. */
static void put_in_force(struct check *c)
{
	uint32_t on = options.baseline, off = ALL_FOUR & ~on;
	int other = domain_cpu(1);
	struct actor *a = actor_new(domain_cpu(0));
	struct actor *b = actor_new(other);
	struct actor *y = actor_new(domain_cpu(0) + 1);

	expect(c, !set_default(L2_ADJACENT, 0), "no machine default");
	expect(c, !set_pid(y->pid, 0, on), "set failed");
	expect(c, !set_pid(a->pid, off, on), "set failed");
	expect(c, !set_tid(b->tid, ALL_FOUR, 0), "set failed");
	actor_spin(a);
	actor_spin(b);
	/* Its wish is in the union of the other's, and it switches. */
	actor_mode(y, ACTOR_YIELD, 0);
	expect(c, wait_for(reg(domain_cpu(0)) == off),
	       "first core shows 0x%llx, not 0x%x",
	       (unsigned long long)reg(domain_cpu(0)), off);
	expect(c, wait_for(reg(other) == ALL_FOUR), "second core shows 0x%llx",
	       (unsigned long long)reg(other));
}

static void expect_firmware(struct check *c, const char *when)
{
	for (int cpu = 0; cpu < cpu_count(); cpu++)
		expect(c, reg(cpu) == options.baseline,
		       "%s: register of CPU %d is 0x%llx, not 0x%x", when, cpu,
		       (unsigned long long)reg(cpu), options.baseline);
}

static void restores(struct check *c)
{
	expect(c, options.baseline != 0, "a firmware value of 0 shows nothing");
	for (int i = 0; i < ROUNDS; i++) {
		int err;

		put_in_force(c);
		err = module_unload();
		if (!expect(c, !err, "cannot unload: %s", strerror(-err)))
			return;
		expect_firmware(c, "unloaded");
		expect(c,
		       pfnl_info(handle(), &(struct pfnl_info){ 0 }) == -ENOENT,
		       "unloaded, and somebody answers");
		actors_end();
		err = module_load("");
		expect(c, !err, "cannot load: %s", strerror(-err));
		expect_firmware(c, "loaded again");
		expect(c, core_state(0).baseline == options.baseline,
		       "it takes 0x%x for the firmware's value",
		       core_state(0).baseline);
		expect(c, request_settings() == 0, "settings outlived unload");
		expect(c, !info().default_off && !info().default_on,
		       "the machine default outlived unload");
		expect(c, !info().attached, "probes are attached after load");
	}
}

/* The program ends here, and the host reads in the twin's log what was left. */
static void reboot_now(struct check *c)
{
	put_in_force(c);
	if (c->failed)
		return;
	/* What is printed may not arrive any more, so this is the "ok". */
	mark_twin(options.mark);
	if (reboot(RB_AUTOBOOT))
		die("cannot reboot: %s", strerror(errno));
}

/*
 * The next kernel, as small as can be: it puts a mark into the twin's log, to
 * show what it found, and resets the machine.
 */
static void kexec_now(struct check *c)
{
	static const unsigned char next[] = {
		0xb9, 0xf9, 0x00, 0x00, 0x40, /* mov $0x400000f9, %ecx */
		0xb8, 0x00, 0x00, 0x0f, 0x00, /* mov $0xf0000, %eax */
		0x31, 0xd2,		      /* xor %edx, %edx */
		0x0f, 0x30,		      /* wrmsr */
		0xb0, 0xfe,		      /* mov $0xfe, %al */
		0xe6, 0x64,		      /* out %al, $0x64 */
		0xf4,			      /* hlt */
		0xeb, 0xfd,		      /* jmp to it again */
	};
	const struct kexec_segment segment = {
		.buf = next,
		.bufsz = sizeof(next),
		.mem = (void *)0x2000000,
		.memsz = 0x1000,
	};

	if (syscall(SYS_kexec_load, segment.mem, 1, &segment,
		    KEXEC_ARCH_DEFAULT))
		die("cannot load another kernel: %s", strerror(errno));
	put_in_force(c);
	if (c->failed)
		return;
	mark_twin(options.mark);
	if (reboot(LINUX_REBOOT_CMD_KEXEC))
		die("cannot start it: %s", strerror(errno));
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "unload_restores", restores },
		{ "reboot_in_force", reboot_now },
		{ "kexec_in_force", kexec_now },
	};

	return harness_main(argc, argv, tests, ARRAY_SIZE(tests));
}
