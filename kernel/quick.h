/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The context switch, and the quick way through a domain: for a core with one
 * register, and nothing out of the ordinary.
 */
#ifndef PF_QUICK_H
#define PF_QUICK_H

#include <linux/spinlock.h>

#include "domain.h"

/*
 * The domain's lock in line, for where interrupts are off, so that nothing is
 * to be done about preemption. The kernel's checkers of locks see it, where
 * they are on.
 */
#if defined(CONFIG_DEBUG_SPINLOCK) || defined(CONFIG_DEBUG_LOCK_ALLOC)
#define pf_quick_trylock(lock) raw_spin_trylock(lock)
#define pf_quick_unlock(lock) raw_spin_unlock(lock)
#else
#define pf_quick_trylock(lock) arch_spin_trylock(&(lock)->raw_lock)
#define pf_quick_unlock(lock) arch_spin_unlock(&(lock)->raw_lock)
#endif

/*
 * The slot of a mask. With this factor no two masks share one, on any layout
 * of one register with up to six prefetchers.
 */
static inline u32 pf_quick_slot(u32 mask)
{
	return mask * 0x7849ea45U >> (32 - PF_QUICK_BITS);
}

/* What a domain does from now on with its mask is known to the quick path. */
static inline void pf_quick_learn(struct pf_domain *d)
{
	u32 slot = pf_quick_slot(d->effective);

	if (d->special)
		return;
	d->quick.mask[slot] = d->effective;
	d->quick.value[slot] = d->programmed[0];
}

void pf_probe_switch(void *data, bool preempt, struct task_struct *prev,
		     struct task_struct *next, unsigned int prev_state);

#endif /* PF_QUICK_H */
