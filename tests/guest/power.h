/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CPUs that go and come, and what the twin makes of their registers.
 */
#ifndef PREFETCH_TEST_POWER_H
#define PREFETCH_TEST_POWER_H

#include "harness.h"

/* Moments at which cores lose what is in their registers; see tests/twin. */
#define LOSE_NOW   0
#define LOSE_ALONE (1ULL << 32)
#define LOSE_SOON  (1ULL << 33)

void twin_loses(uint32_t cores, uint64_t when);

/* Takes a CPU offline or brings it back; returns 0 or -errno. */
int cpu_offline(int cpu);
int cpu_online(int cpu);
void cpus_online(void); /* all of them, and everybody home again */

/* For a core that nobody can read: the host looks into the twin's log. */
void expect_in_twin(int domain, uint32_t value);

#endif
