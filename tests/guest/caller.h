/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A caller of another kind: what the test's own process becomes. */
#ifndef PREFETCH_TEST_CALLER_H
#define PREFETCH_TEST_CALLER_H

#include <sys/types.h>

/*
 * Becomes a user for good, and keeps one capability (CAP_...). Returns 0 or
 * errno.
 */
int keep_capability(uid_t uid, int cap);

#endif
