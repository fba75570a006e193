/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's fault injection: allocations that fail when we say so.
 *
 * Only allocations with code of a module in their call trace can fail, and the
 * debug kernel loads no other module than ours. So the N-th one is the N-th
 * that the module has made on behalf of the task, in whatever function.
 */
#ifndef PREFETCH_TEST_INJECT_H
#define PREFETCH_TEST_INJECT_H

#include "harness.h"

/* False if this kernel cannot do it: the check is skipped then. */
bool inject_ready(struct check *c);

/*
 * The N-th allocation of this thread from now on fails. The second function
 * ends that, and says whether it came to it.
 */
void inject_nth(long n);
bool inject_hit(void);

/* So many percent of them in all tasks, at random; 0 ends it. */
void inject_all(unsigned int percent);

/* Allocations that have failed since inject_ready(). */
unsigned long inject_count(void);

/*
 * The kernel complains about each allocation of pages that fails, with a call
 * trace. Between these, such words do not get to the console; at the end the
 * kernel's log is searched for what is more than that.
 */
void inject_quietly(void);
void inject_loudly(struct check *c);

#endif
