// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Cores that lose power, and with it what is in their registers: when one
 * comes back, the firmware's values are there again.
 *
 * QEMU's CPUs lose nothing, so the guest says when it is to happen, by a write
 * to TWIN_MSR_LOSE.  In the lower half is a mask of cores, above it the moment:
 *
 *   now           at once; for a core that the guest has taken offline
 *   LOSE_ALONE    when all CPUs but one are halted for good, which is how a
 *                 guest goes to sleep: HLT with interrupts off
 *   LOSE_SOON     when some CPU halts, but not before three seconds are over;
 *                 for a guest that sleeps longer, with all its CPUs online
 */

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "twin.h"

#define LOSE_ALONE   (1ULL << 32)
#define LOSE_SOON    (1ULL << 33)

#define EFLAGS_IF    (1u << 9)
#define SOON_SECONDS 3

static unsigned int nr_vcpus;
static bool *off; /* halted with interrupts off, and not seen since */
static uint64_t armed;
static struct timespec since;

bool power_setup(unsigned int vcpus)
{
	nr_vcpus = vcpus;
	off = calloc(vcpus, sizeof(*off));
	if (!off)
		log_complain("no memory for %u vCPUs", vcpus);
	return off;
}

static void lose(void)
{
	uint32_t cores = (uint32_t)armed;

	__atomic_store_n(&armed, 0, __ATOMIC_RELAXED);
	for (int core = 0; core < 32; core++)
		if (cores & 1u << core)
			register_lose(core);
}

void power_command(uint64_t value)
{
	__atomic_store_n(&armed, value, __ATOMIC_RELAXED);
	clock_gettime(CLOCK_MONOTONIC, &since);
	for (unsigned int i = 0; i < nr_vcpus; i++)
		off[i] = false;
	if (!(value & (LOSE_ALONE | LOSE_SOON)))
		lose();
}

bool power_armed(void)
{
	return __atomic_load_n(&armed, __ATOMIC_RELAXED);
}

static bool is_time(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec - since.tv_sec > SOON_SECONDS;
}

static bool is_alone(void)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < nr_vcpus; i++)
		count += off[i];
	return count + 1 == nr_vcpus;
}

void power_halt(unsigned int vcpu, uint64_t eflags)
{
	if (vcpu < nr_vcpus)
		off[vcpu] = !(eflags & EFLAGS_IF);
	if ((armed & LOSE_ALONE && is_alone()) ||
	    (armed & LOSE_SOON && is_time()))
		lose();
}
