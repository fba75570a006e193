// SPDX-License-Identifier: GPL-2.0-only
/*
 * The wishes of the CPUs of a domain become one effective mask.
 *
 * All of it may run in the context switch, with interrupts off and a
 * run-queue lock held: nothing here sleeps, allocates, prints or sends.
 */
#include <linux/sched/signal.h>

#include "backend.h"
#include "domain.h"
#include "event.h"
#include "trace.h"

DEFINE_PER_CPU(struct pf_cpu, pf_cpus);

struct pf_domain *pf_domains;
unsigned int pf_nr_domains;

u32 pf_supported_any;
u32 pf_supported_all = ~0U;

u32 pf_default_off;
u32 pf_default_on;

bool pf_attached;

/**
 * pf_task_wish() - what a task asks for
 * @c: the CPU at hand, for its cache
 * @task: the task
 * @owner: if not NULL, where to say which settings it comes from
 *
 * Context: on @c, interrupts off.
 * Return: its wish; PF_WISH_NONE for idle, and for a kernel thread without a
 * setting.
 */
pf_wish_t pf_task_wish(struct pf_cpu *c, struct task_struct *task,
		       struct pf_owner *owner)
{
	struct pf_cache *cache = &c->cache;
	unsigned long slot = pf_cache_slot(task);
	struct pf_owner *found = &cache->owner[slot];
	u64 generation;

	if (is_idle_task(task))
		return PF_WISH_NONE;

	if (!pf_cache_hit(cache, slot, task)) {
		/* First: what is inserted later raises it once more. */
		generation = pf_setting_generation();
		cache->wish[slot] = pf_setting_lookup(task, found);
		/* A kernel thread may turn into a user task: not remembered. */
		cache->task[slot] = task->flags & PF_KTHREAD ? NULL : task;
		cache->signal[slot] = task->signal;
		cache->generation[slot] = generation;
	}
	if (owner)
		*owner = *found;
	if (unlikely(task->flags & PF_KTHREAD) && !found->thread &&
	    !found->process)
		return PF_WISH_NONE;
	return cache->wish[slot];
}

/* The register values for a mask; mostly one that was there before. */
static const u64 *values_of(struct pf_domain *d, u32 mask)
{
	u32 key = d->still ? mask | PF_MEMO_STILL : mask;
	struct pf_memo *m = &d->memo[(mask ^ mask >> 3) % PF_MEMO_SIZE];

	if (unlikely(m->key != key)) {
		pf_layout_values(d->layout, mask, d->still, d->baseline,
				 m->values);
		m->key = key;
	}
	return m->values;
}

/**
 * pf_domain_forget() - what was remembered of the values for masks is void
 * @d: the domain, whose baseline is known from now on
 *
 * Context: @d locked, or not yet known to others.
 */
void pf_domain_forget(struct pf_domain *d)
{
	unsigned int i;

	for (i = 0; i < PF_MEMO_SIZE; i++)
		d->memo[i].key = PF_MEMO_NONE;
	for (i = 0; i < ARRAY_SIZE(d->quick.mask); i++)
		d->quick.mask[i] = PF_MEMO_NONE;
}

/**
 * pf_domain_refused() - a write faulted: the domain goes out of service
 * @d: the domain
 * @reg: index of the register in the layout
 *
 * Context: @d locked.
 */
void pf_domain_refused(struct pf_domain *d, unsigned int reg)
{
	d->failed = true;
	d->fault.kind = PREFETCH_FAULT_WRITE;
	d->fault.reg = reg;
	d->fault.bits = 0;
	d->refused++;
}

static bool write_one(struct pf_domain *d, unsigned int reg, u64 value)
{
	if (unlikely(pf_register_write(d, reg, value))) {
		pf_domain_refused(d, reg);
		return false;
	}
	d->programmed[reg] = value;
	d->writes++;
	return true;
}

/*
 * Several registers, written where they differ; with @all, every one, and on
 * after one that refuses.
 */
static noinline bool write_several(struct pf_domain *d, const u64 *values,
				   bool all)
{
	const struct pf_layout *layout = d->layout;
	unsigned int n, i;
	bool backwards, done = true;

	/* The core steers by itself only before and after our values. */
	backwards = layout->steer_bits &&
		!(values[layout->steer_reg] & layout->steer_bits);
	for (n = 0; n < layout->nr_regs; n++) {
		i = backwards ? layout->nr_regs - 1 - n : n;
		if (!all && values[i] == d->programmed[i])
			continue;
		if (write_one(d, i, values[i]))
			continue;
		done = false;
		if (!all)
			break;
	}
	return done;
}

static __always_inline bool write_mask(struct pf_domain *d, u32 mask,
				       bool all)
{
	const u64 *values = values_of(d, mask);

	/* Whatever somebody else left there is overwritten. */
	d->told = false;
	/* Another mask is another value, where there is but one register. */
	if (likely(d->layout->nr_regs == 1))
		return write_one(d, 0, values[0]);
	return write_several(d, values, all);
}

static __always_inline void program(struct pf_domain *d, u32 mask, bool still,
				    struct task_struct *by,
				    enum prefetch_cause cause)
{
	u32 old = d->effective;

	if ((mask == old && still == d->still) ||
	    unlikely(d->failed || d->stopped))
		return;
	d->still = still;
	if (unlikely(!write_mask(d, mask, false))) {
		pf_event_core(d, old, old, by, PREFETCH_CAUSE_REFUSED);
		return;
	}
	if (mask == old)
		return;
	d->effective = mask;
	trace_write(d->id, old, mask, cause);
	pf_event_core(d, old, mask, by, cause);
}

static bool asks(const struct pf_domain *d, pf_wish_t wish)
{
	return wish != PF_WISH_NONE &&
	       (pf_wish_off(wish) | pf_wish_on(wish)) & d->supported;
}

/*
 * Does anybody ask for anything here? Then a core that steers its prefetchers
 * by itself must not, also where firmware's mask is what is asked for.
 */
static bool is_asked(const struct pf_domain *d)
{
	unsigned int i;

	if (d->def_asks || (d->held && asks(d, d->held_wish)))
		return true;
	for (i = 0; i < d->nr_members; i++) {
		if (asks(d, d->members[i]->wish))
			return true;
	}
	return false;
}

/* What the CPUs' wishes come to; a hold ends when there is a wish again. */
static __always_inline u32 wanted(struct pf_domain *d, bool *still)
{
	bool any = false;
	unsigned int i;
	u32 off = 0;

	for (i = 0; i < d->nr_members; i++) {
		pf_wish_t wish = d->members[i]->wish;

		if (wish == PF_WISH_NONE)
			continue;
		off |= pf_wish_resolve(wish, d->def);
		any = true;
	}
	if (any)
		d->held = false;
	else
		off = d->held ? pf_wish_resolve(d->held_wish, d->def) : d->def;
	*still = d->layout->steer_bits && is_asked(d);
	return off & d->supported;
}

static __always_inline void compute(struct pf_domain *d,
				    struct task_struct *by,
				    enum prefetch_cause cause)
{
	bool still;
	u32 mask = wanted(d, &still);

	program(d, mask, still, by, cause);
}

/**
 * pf_domain_compute() - the union of the off-wishes, and program it
 * @d: the domain
 * @by: the task that brought it about
 * @cause: why
 *
 * Context: on a CPU of @d, interrupts off, @d locked.
 */
void pf_domain_compute(struct pf_domain *d, struct task_struct *by,
		       enum prefetch_cause cause)
{
	compute(d, by, cause);
}

/**
 * pf_domain_wanted() - what would be programmed if the domain were in service
 * @d: the domain
 *
 * While a write is refused, wishes and the machine default go on changing.
 *
 * Context: @d locked; it is to be programmed next.
 * Return: the mask.
 */
u32 pf_domain_wanted(struct pf_domain *d)
{
	return wanted(d, &d->still);
}

static bool any_wish(const struct pf_domain *d)
{
	unsigned int i;

	for (i = 0; i < d->nr_members; i++) {
		if (d->members[i]->wish != PF_WISH_NONE)
			return true;
	}
	return false;
}

/*
 * The last wish of the domain went: keep it. The settings that it came from
 * are looked up with the lock held, and whoever removes a setting takes the
 * lock afterwards: so either the lookup misses it, or the remover sees here
 * that the domain is held for it.
 */
static void hold(struct pf_cpu *c, struct task_struct *last)
{
	struct pf_domain *d = c->domain;
	pf_wish_t wish;

	d->held_owner.thread = 0;
	d->held_owner.process = 0;
	d->held_generation = pf_setting_generation();
	wish = pf_task_wish(c, last, &d->held_owner);
	d->held_wish = wish == PF_WISH_NONE ? PF_WISH_DEFAULT : wish;
	d->held = true;
}

/* @last ran until now, @by runs from now on. */
static __always_inline void set_wish(struct pf_cpu *c, pf_wish_t wish,
				     struct task_struct *last,
				     struct task_struct *by,
				     enum prefetch_cause cause)
{
	struct pf_domain *d = c->domain;
	pf_wish_t before;

	raw_spin_lock(&d->lock);
	before = c->wish;
	c->wish = wish;
	if (unlikely(!READ_ONCE(pf_attached)))
		d->held = false;
	else if (wish == PF_WISH_NONE && before != PF_WISH_NONE &&
		 !any_wish(d))
		hold(c, last);
	compute(d, by, cause);
	raw_spin_unlock(&d->lock);
}

/**
 * pf_domain_switch() - another task runs on a CPU, and wishes something else
 * @c: this CPU
 * @wish: what the new task wishes
 * @prev: the task that ran before
 * @next: the new task
 *
 * Context: in the context switch on @c.
 */
void pf_domain_switch(struct pf_cpu *c, pf_wish_t wish,
		      struct task_struct *prev, struct task_struct *next)
{
	set_wish(c, wish, prev, next, PREFETCH_CAUSE_SWITCH);
}

/**
 * pf_refresh_here() - look up again what runs on this CPU, and program it
 * @cause: why
 *
 * Context: interrupts off.
 */
void pf_refresh_here(enum prefetch_cause cause)
{
	struct pf_cpu *c = this_cpu_ptr(&pf_cpus);
	pf_wish_t wish = PF_WISH_NONE;

	if (!c->domain || !READ_ONCE(c->live))
		return;
	if (READ_ONCE(pf_attached))
		wish = pf_task_wish(c, current, NULL);
	set_wish(c, wish, current, current, cause);
}

static void refresh_fn(void *cause)
{
	pf_refresh_here((uintptr_t)cause);
}

/**
 * pf_refresh_cpus() - let CPUs look up again what they run, and wait for it
 * @cpus: which CPUs
 * @cause: why
 *
 * Context: process, interrupts on.
 */
void pf_refresh_cpus(const struct cpumask *cpus, enum prefetch_cause cause)
{
	on_each_cpu_mask(cpus, refresh_fn, (void *)(uintptr_t)cause, true);
}

/**
 * pf_refresh_kick() - let a CPU look up again what it runs; do not wait
 * @cpu: which CPU
 *
 * If the CPU was asked already and did not look yet, once is enough.
 *
 * Context: any, preemption off.
 */
void pf_refresh_kick(int cpu)
{
	struct pf_cpu *c = per_cpu_ptr(&pf_cpus, cpu);

	/* Only one may send it at a time; pf_refresh_kicked() frees it. */
	if (atomic_xchg(&c->kicked, 1))
		return;
	if (smp_call_function_single_async(cpu, &c->csd))
		atomic_set(&c->kicked, 0);
}

/**
 * pf_refresh_kicked() - the other end of pf_refresh_kick()
 * @unused: nothing
 *
 * Context: interrupts off.
 */
void pf_refresh_kicked(void *unused)
{
	/* Full barrier: what is asked for from here on sends it again. */
	atomic_xchg(&this_cpu_ptr(&pf_cpus)->kicked, 0);
	pf_refresh_here(PREFETCH_CAUSE_EXIT);
}

/**
 * pf_domain_cpu() - a CPU that can program the domain
 * @d: the domain
 *
 * Return: this CPU if it belongs to @d, else another of its CPUs that is
 * online, or -1 if none is.
 */
int pf_domain_cpu(struct pf_domain *d)
{
	struct pf_cpu *here = raw_cpu_ptr(&pf_cpus);
	unsigned int i;

	if (here->domain == d && READ_ONCE(here->live))
		return here->cpu;
	for (i = 0; i < pf_domain_members(d); i++) {
		if (READ_ONCE(d->members[i]->live))
			return d->members[i]->cpu;
	}
	return -1;
}

static bool same_owner(const struct pf_owner *a, const struct pf_owner *b)
{
	return (a->thread && a->thread == b->thread) ||
	       (a->process && a->process == b->process);
}

/**
 * pf_domain_release() - bring the domains that are held for settings back
 * @gone: settings that are gone, or ask for something else now
 * @before: only domains that are held from before this generation: what is
 *	held since knows the change
 * @cause: why
 * @later: if not NULL, takes the CPUs that the caller has to refresh; else
 *	they are asked to, and not waited for
 *
 * Called after the settings were changed.
 *
 * Context: any, preemption off.
 */
void pf_domain_release(const struct pf_owner *gone, u64 before,
		       enum prefetch_cause cause, struct cpumask *later)
{
	struct pf_cpu *here = this_cpu_ptr(&pf_cpus);
	struct pf_domain *d;
	unsigned long flags;
	int cpu;

	pf_for_each_domain(d) {
		bool kick = false;

		raw_spin_lock_irqsave(&d->lock, flags);
		if (d->held && d->held_generation < before &&
		    same_owner(&d->held_owner, gone)) {
			d->held = false;
			if (here->domain == d && here->live)
				pf_domain_compute(d, current, cause);
			else
				kick = true;
		}
		raw_spin_unlock_irqrestore(&d->lock, flags);
		cpu = kick ? pf_domain_cpu(d) : -1;
		if (cpu < 0)
			continue;
		if (later)
			cpumask_set_cpu(cpu, later);
		else
			pf_refresh_kick(cpu);
	}
}

/**
 * pf_domain_resolve_default() - what the machine default means here
 * @d: the domain
 *
 * Context: @d locked, or not yet known to others.
 */
void pf_domain_resolve_default(struct pf_domain *d)
{
	u32 off = READ_ONCE(pf_default_off);
	u32 on = READ_ONCE(pf_default_on);

	d->def = ((d->baseline_mask & ~on) | off) & d->supported;
	d->def_asks = (off | on) & d->supported;
}

/**
 * pf_domain_write_all() - write every register, whatever is there
 * @d: the domain
 * @mask: mask to program
 * @cause: why
 *
 * Used where the registers may hold anything: after the CPU was off, after
 * sleep, on repair. A domain that failed stays out of service. Listeners are
 * told by the caller, who knows what they have seen last.
 *
 * Context: on a CPU of @d, interrupts off, @d locked.
 * Return: true if all was written.
 */
bool pf_domain_write_all(struct pf_domain *d, u32 mask,
			 enum prefetch_cause cause)
{
	u32 old = d->effective;

	if (!d->usable || d->stopped || !write_mask(d, mask, true))
		return false;
	d->effective = mask;
	trace_write(d->id, old, mask, cause);
	return true;
}
