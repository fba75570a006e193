// SPDX-License-Identifier: GPL-2.0-only
/*
 * Changes of settings, from the exit and fork probes and from requests to
 * the worker that sends them. What finds no place is counted.
 */
#include <linux/spinlock.h>
#include <linux/vmalloc.h>

#include "event.h"

/* A process of 4000 threads with settings may die at one stroke. */
#define RING_SIZE 4096

static struct pf_setting_view *ring;
static unsigned int head, tail;
/* Protects head, tail and the entries between them. */
static DEFINE_RAW_SPINLOCK(ring_lock);

/**
 * pf_ring_put() - add a change, or count it as lost if the ring is full
 * @view: the change
 *
 * Context: any.
 */
void pf_ring_put(const struct pf_setting_view *view)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&ring_lock, flags);
	if (head - tail < RING_SIZE) {
		ring[head++ % RING_SIZE] = *view;
	} else {
		atomic64_inc(&pf_setting_stats.lost);
		atomic64_inc(&pf_setting_stats.unsaid);
	}
	raw_spin_unlock_irqrestore(&ring_lock, flags);
}

/**
 * pf_ring_get() - take the oldest change
 * @view: where to put it
 *
 * Return: false if there is none.
 */
bool pf_ring_get(struct pf_setting_view *view)
{
	unsigned long flags;
	bool found;

	raw_spin_lock_irqsave(&ring_lock, flags);
	found = head != tail;
	if (found)
		*view = ring[tail++ % RING_SIZE];
	raw_spin_unlock_irqrestore(&ring_lock, flags);
	return found;
}

int pf_ring_init(void)
{
	ring = vcalloc(RING_SIZE, sizeof(*ring));
	return ring ? 0 : -ENOMEM;
}

void pf_ring_exit(void)
{
	vfree(ring);
}
