/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process with very many threads that do nothing and take no memory of
 * their own in user space.
 */
#ifndef PREFETCH_TEST_CROWD_H
#define PREFETCH_TEST_CROWD_H

#include <sys/types.h>

/* Raises the kernel's limits so that so many threads may be there. */
void crowd_allow(unsigned int threads);

/*
 * Starts a process with so many threads beside its first, and waits for them.
 * tid is memory that is shared with children, and gets their numbers as the
 * process itself sees them.
 */
pid_t crowd_start(unsigned int threads, pid_t *tid);
void crowd_end(pid_t pid);

#endif
