/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * CPUs that share a register: what each wishes, and what is programmed.
 */
#ifndef PF_DOMAIN_H
#define PF_DOMAIN_H

#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/spinlock.h>

#include "registers.h"
#include "setting.h"
#include "wish.h"

/* CPUs in one domain: two hyperthreads, or the cores of a module. */
#define PF_MAX_MEMBERS 8

/* Tasks whose wish a CPU remembers; a power of two. */
#define PF_CACHE_SIZE 16

/* Masks whose register values a domain remembers; a power of two. */
#define PF_MEMO_SIZE 8

/**
 * struct pf_memo - the register values for a mask, as found before
 * @key: the mask, with PF_MEMO_STILL if the core is kept still; PF_MEMO_NONE
 *	if nothing is remembered
 * @values: one for each register of the layout
 */
struct pf_memo {
	u32 key;
	u64 values[PF_MAX_REGS];
};

/* Masks whose register value the quick path remembers: 2 to this power. */
#define PF_QUICK_BITS 6

/**
 * struct pf_quick - what the quick path of a switch needs; see quick.c
 * @msr: address of the only register; constant
 * @mask: the mask in each slot, or PF_MEMO_NONE
 * @value: the register value for it
 */
struct pf_quick {
	u32 msr;
	u32 mask[1 << PF_QUICK_BITS];
	u64 value[1 << PF_QUICK_BITS];
};

/* Beyond all prefetchers, and no mask has a 1 for each of those. */
#define PF_MEMO_STILL BIT(31)
#define PF_MEMO_NONE  (~0U)

/**
 * struct pf_change - a change of the effective mask that was not told yet
 * @count: changes folded into this one
 * @old: mask before the first
 * @new: mask after the last
 * @cause: enum prefetch_cause of the last
 * @cpu: where the last happened
 * @pid: process that caused the last, in the initial namespace
 * @tid: its thread
 * @comm: its name
 * @time: monotonic time of the last, in nanoseconds
 */
struct pf_change {
	u32 count;
	u32 old;
	u32 new;
	u32 cause;
	u32 cpu;
	pid_t pid;
	pid_t tid;
	char comm[TASK_COMM_LEN];
	u64 time;
};

/**
 * struct pf_fault - what is wrong with a register of a core
 * @kind: enum prefetch_fault
 * @reg: index of the register in the layout
 * @bits: bits that did not become what was written
 */
struct pf_fault {
	u32 kind;
	unsigned int reg;
	u64 bits;
};

/**
 * struct pf_domain - CPUs that share one copy of the registers
 * @lock: protects all that changes here, and the wish of each member
 * @id: number, in the order in which the domains were found
 * @layout: which registers; constant
 * @supported: mask of what the layout has; constant
 * @hybrid_id: CPUID leaf 1A, EAX, on the first member; constant
 * @nr_members: CPUs that were ever seen in it
 * @members: their state
 * @baseline: register values that firmware left; constant once probed
 * @programmed: register values that should be there
 * @baseline_mask: the mask for @baseline
 * @def: mask of the machine default here
 * @def_asks: the machine default asks for something here
 * @effective: mask that is programmed
 * @still: the core is kept from steering its prefetchers by itself
 * @held: no member has a wish; the last one's stands
 * @usable: the registers take and keep what is written; constant once probed
 * @failed: a write was refused; nothing is programmed until a repair
 * @fault: with @failed, what is wrong; constant once probed, if not @usable
 * @stopped: the machine goes down; the baseline stays
 * @told: the foreign values in @seen were told
 * @complex: not one register with nothing beside it; constant
 * @special: not 0 if @failed, @stopped, @told or @complex: not for the quick path
 * @held_wish: what the last member wished
 * @held_owner: settings that @held_wish came from
 * @held_generation: of the settings when @held_wish was looked up
 * @writes: register writes so far
 * @refused: register writes that faulted
 * @foreign: times that verify found a value of somebody else
 * @seen: foreign register values, valid with @told
 * @memo: by mask; what follows from the layout and @baseline
 * @quick: the same, for the quick path
 * @change: folded event
 * @sent: monotonic time of the last event, in nanoseconds
 * @soft: the registers themselves, with backend soft
 */
struct pf_domain {
	raw_spinlock_t lock;
	unsigned int id;
	const struct pf_layout *layout;
	u32 supported;
	u32 hybrid_id;
	unsigned int nr_members;
	struct pf_cpu *members[PF_MAX_MEMBERS];
	u64 baseline[PF_MAX_REGS];
	u64 programmed[PF_MAX_REGS];
	u32 baseline_mask;
	u32 def;
	bool def_asks;
	u32 effective;
	bool still;
	bool held;
	bool usable;
	union {
		struct {
			bool failed;
			bool stopped;
			bool told;
			bool complex;
		};
		u32 special;
	};
	struct pf_fault fault;
	pf_wish_t held_wish;
	struct pf_owner held_owner;
	u64 held_generation;
	u64 writes;
	u64 refused;
	u64 foreign;
	u64 seen[PF_MAX_REGS];
	struct pf_memo memo[PF_MEMO_SIZE];
	struct pf_quick quick;
	struct pf_change change;
	u64 sent;
	u64 soft[PF_MAX_REGS];
};

/**
 * struct pf_cache - the wishes of tasks, as found before
 * @task: whose; not idle, not a kernel thread
 * @signal: the signal struct it had
 * @generation: of the settings when it was found
 * @wish: what was found
 * @owner: the settings that the wish came from
 *
 * If both structs are used again for another user task within a generation,
 * neither had a setting, and has none now: the answer is still right. A new
 * kernel thread begins a new generation.
 *
 * An array for each member, as that way a look takes the fewest instructions.
 */
struct pf_cache {
	const struct task_struct *task[PF_CACHE_SIZE];
	const struct signal_struct *signal[PF_CACHE_SIZE];
	u64 generation[PF_CACHE_SIZE];
	pf_wish_t wish[PF_CACHE_SIZE];
	struct pf_owner owner[PF_CACHE_SIZE];
};

/**
 * struct pf_cpu - state of one CPU
 * @wish: of the task that runs here; written here, under the domain's lock
 * @domain: NULL if the CPU has no register that we know
 * @live: the CPU is online and its wish counts; under the domain's lock
 * @cpu: its number
 * @core_id: the same for all hyperthreads of a core
 * @l2_id: the same for all CPUs on one L2 cache
 * @cache: wishes of tasks; touched only on this CPU with interrupts off, and
 *	empty unless @live
 * @kicked: @csd is on its way; set by whoever sends it
 * @csd: asks this CPU to look again, from where nobody may wait
 */
struct pf_cpu {
	pf_wish_t wish;
	struct pf_domain *domain;
	bool live;
	unsigned int cpu;
	u32 core_id;
	u32 l2_id;
	struct pf_cache cache;
	atomic_t kicked;
	call_single_data_t csd;
};

DECLARE_PER_CPU(struct pf_cpu, pf_cpus);

/* Filled in rising order and never emptied while the module is loaded. */
extern struct pf_domain *pf_domains;
extern unsigned int pf_nr_domains;

/* Prefetchers that at least one core has, and that all have. */
extern u32 pf_supported_any;
extern u32 pf_supported_all;

/* Machine default; written with the request mutex held. */
extern u32 pf_default_off;
extern u32 pf_default_on;

/* True while the scheduler probes are attached. */
extern bool pf_attached;

pf_wish_t pf_task_wish(struct pf_cpu *c, struct task_struct *task,
		       struct pf_owner *owner);
void pf_domain_switch(struct pf_cpu *c, pf_wish_t wish,
		      struct task_struct *prev, struct task_struct *next);
void pf_domain_compute(struct pf_domain *d, struct task_struct *by,
		       enum prefetch_cause cause);
void pf_domain_resolve_default(struct pf_domain *d);
void pf_domain_forget(struct pf_domain *d);
void pf_domain_refused(struct pf_domain *d, unsigned int reg);
u32 pf_domain_wanted(struct pf_domain *d);
bool pf_domain_write_all(struct pf_domain *d, u32 mask,
			 enum prefetch_cause cause);
void pf_domain_release(const struct pf_owner *gone, u64 before,
		       enum prefetch_cause cause, struct cpumask *later);
int pf_domain_cpu(struct pf_domain *d);

void pf_refresh_here(enum prefetch_cause cause);
void pf_refresh_cpus(const struct cpumask *cpus, enum prefetch_cause cause);
void pf_refresh_kick(int cpu);
void pf_refresh_kicked(void *unused);

static inline unsigned int pf_domain_count(void)
{
	/* A domain is seen only after it was filled in; see domain_add(). */
	return smp_load_acquire(&pf_nr_domains);
}

static inline unsigned int pf_domain_members(const struct pf_domain *d)
{
	/* Without the lock: a member is seen only after it was filled in. */
	return smp_load_acquire(&d->nr_members);
}

/* For pf_domain_release(): whenever the domain was held. */
#define PF_RELEASE_ANY U64_MAX

/* Only a place to look: who it is, the cache itself says. */
static inline unsigned long pf_cache_slot(const struct task_struct *task)
{
	unsigned long slot = (unsigned int)task->pid % PF_CACHE_SIZE;

	/* Computed once: else the compiler does it again for each member. */
	OPTIMIZER_HIDE_VAR(slot);
	return slot;
}

static inline bool pf_cache_hit(const struct pf_cache *cache,
				unsigned long slot,
				const struct task_struct *task)
{
	return cache->task[slot] == task &&
	       cache->signal[slot] == task->signal &&
	       pf_setting_generation() == cache->generation[slot];
}

#define pf_for_each_domain(d)						\
	for (d = pf_domains; d < pf_domains + pf_domain_count(); d++)

#endif /* PF_DOMAIN_H */
