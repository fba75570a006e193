/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Telling listeners what changed.
 */
#ifndef PF_EVENT_H
#define PF_EVENT_H

#include <linux/types.h>

#include "domain.h"
#include "view.h"

/**
 * struct pf_event_stats - counters of one group
 * @sent: messages sent
 * @told: changes that these told of
 * @lost: changes that no message told of
 * @unsaid: of these, how many the next message has to own up to
 * @seq: number of the last message
 *
 * Written by the worker, and with a ring's lock held; read whole.
 */
struct pf_event_stats {
	atomic64_t sent;
	atomic64_t told;
	atomic64_t lost;
	atomic64_t unsaid;
	u32 seq;
};

/* Changes of a group, told or lost. */
static inline u64 pf_event_total(struct pf_event_stats *stats)
{
	return atomic64_read(&stats->told) + atomic64_read(&stats->lost);
}

/* Number of the last message; the total that is read then is not older. */
static inline u32 pf_event_seq(struct pf_event_stats *stats)
{
	/* Pairs with the release in send(). */
	return smp_load_acquire(&stats->seq);
}

extern unsigned int pf_event_interval_ms;
extern struct pf_event_stats pf_core_stats;
extern struct pf_event_stats pf_setting_stats;

int pf_event_init(void);
void pf_event_stop(void);
void pf_event_exit(void);

void pf_event_core(struct pf_domain *d, u32 old, u32 new,
		   struct task_struct *by, enum prefetch_cause cause);
void pf_event_setting(const struct pf_setting *s, struct task_struct *task,
		      enum prefetch_change change);
void pf_event_raise(void);

/* ring.c: settings that were changed, on their way to the worker */
int pf_ring_init(void);
void pf_ring_exit(void);
void pf_ring_put(const struct pf_setting_view *view);
bool pf_ring_get(struct pf_setting_view *view);

#endif /* PF_EVENT_H */
