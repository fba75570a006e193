// SPDX-License-Identifier: GPL-2.0-only
/*
 * The context switch. Each instruction of pf_probe_switch() is paid at each
 * switch of the machine while there is a setting, and those of quick() where
 * the next task wishes something else on a core with one register. What is out
 * of the ordinary is handed to other functions, as the last thing done: so no
 * register has to be saved. docs/performance.md says what each part costs.
 */
#include <linux/tracepoint-defs.h>
#include <asm/asm.h>
#include <asm/msr.h>

#include "compat/family.h"
#include "event.h"
#include "netlink.h"
#include "quick.h"
#include "trace.h"

/*
 * As the kernel's wrmsrq_safe(), with a jump where it faults. The trace event
 * of that one is made afterwards, see watched().
 */
static __always_inline bool write_register(u32 msr, u64 value)
{
	/* Here once only; the assembler would not take the name twice. */
	asm goto(".equiv .L_fault, %l[fault]\n"
		 "1: wrmsr\n"
		 _ASM_EXTABLE(1b, .L_fault)
		 : : "c" (msr), "a" ((u32)value), "d" ((u32)(value >> 32))
		 : "memory" : fault);
	return true;
fault:
	return false;
}

/* The register refused the value. */
static noinline void refused(struct pf_domain *d, struct task_struct *next)
{
	pf_domain_refused(d, 0);
	pf_event_core(d, d->effective, d->effective, next,
		      PREFETCH_CAUSE_REFUSED);
	pf_quick_unlock(&d->lock);
}

/* Does anybody trace register writes, or listen to changes? */
static __always_inline bool is_watched(void)
{
	return tracepoint_enabled(write_msr) || trace_write_enabled() ||
	       pf_family_heard(PREFETCH_NLGRP_CORE);
}

static noinline void watched(struct pf_domain *d, u32 old,
			     struct task_struct *next)
{
	if (tracepoint_enabled(write_msr))
		do_trace_write_msr(d->quick.msr, d->programmed[0], 0);
	trace_write(d->id, old, d->effective, PREFETCH_CAUSE_SWITCH);
	pf_event_core(d, old, d->effective, next, PREFETCH_CAUSE_SWITCH);
	pf_quick_unlock(&d->lock);
}

/*
 * Not a quick one: a mask that comes up for the first time, or something is
 * the matter with the domain. The wish is stored already.
 */
static noinline void general(struct pf_domain *d, struct task_struct *next)
{
	pf_domain_compute(d, next, PREFETCH_CAUSE_SWITCH);
	pf_quick_learn(d);
	pf_quick_unlock(&d->lock);
}

/* The wishes of the other CPUs; that of this one once more does no harm. */
static __always_inline u32 union_of_all(const struct pf_domain *d, u32 mask)
{
	struct pf_cpu *const *at = d->members;
	struct pf_cpu *const *end = at + d->nr_members;
	u32 def = d->def;

	do {
		pf_wish_t wish = (*at)->wish;

		if (wish != PF_WISH_NONE)
			mask |= pf_wish_resolve(wish, def);
	} while (++at != end);
	return mask;
}

/*
 * A user task runs on @c, and wishes something else. As there is a wish, the
 * domain is held no longer, and no hold can begin: otherwise what
 * pf_domain_switch() does.
 */
static noinline notrace void quick(struct pf_cpu *c, pf_wish_t wish,
				   struct task_struct *prev,
				   struct task_struct *next)
{
	struct pf_domain *d = c->domain;
	u32 mask, old, slot;
	u64 value;

	if (unlikely(!pf_quick_trylock(&d->lock))) {
		pf_domain_switch(c, wish, prev, next);
		return;
	}
	c->wish = wish;
	d->held = false;
	if (unlikely(d->special)) {
		general(d, next);
		return;
	}
	mask = pf_wish_resolve(wish, d->def);
	if (d->nr_members > 1)
		mask = union_of_all(d, mask);
	mask &= d->supported;
	old = d->effective;
	if (mask == old)
		goto unlock;
	slot = pf_quick_slot(mask);
	if (unlikely(d->quick.mask[slot] != mask)) {
		general(d, next);
		return;
	}
	value = d->quick.value[slot];
	if (unlikely(!write_register(d->quick.msr, value))) {
		refused(d, next);
		return;
	}
	d->programmed[0] = value;
	d->writes++;
	d->effective = mask;
	if (unlikely(is_watched())) {
		watched(d, old, next);
		return;
	}
unlock:
	pf_quick_unlock(&d->lock);
}

/* What is looked up anew, with the arguments where the probe has them. */
static noinline __noclone void slow(struct pf_cpu *c, bool preempt,
				    struct task_struct *prev,
				    struct task_struct *next)
{
	pf_wish_t wish;

	/* While it is not, nothing is remembered. */
	if (!READ_ONCE(c->live))
		return;
	wish = pf_task_wish(c, next, NULL);
	if (wish != c->wish)
		pf_domain_switch(c, wish, prev, next);
}

/**
 * pf_probe_switch() - the probe of sched_switch
 * @data: nothing
 * @preempt: whether @prev was preempted
 * @prev: the task that ran until now
 * @next: the task that runs from now on
 * @prev_state: state of @prev
 *
 * Mostly the task is known, and wishes what the one before it wished. What is
 * remembered is never a kernel thread, and only while the CPU is live.
 */
void pf_probe_switch(void *data, bool preempt, struct task_struct *prev,
		     struct task_struct *next, unsigned int prev_state)
{
	struct pf_cpu *c = this_cpu_ptr(&pf_cpus);
	unsigned long slot = pf_cache_slot(next);
	pf_wish_t wish;

	if (unlikely(!pf_cache_hit(&c->cache, slot, next))) {
		slow(c, preempt, prev, next);
		return;
	}
	wish = c->cache.wish[slot];
	if (unlikely(wish != c->wish))
		quick(c, wish, prev, next);
}
