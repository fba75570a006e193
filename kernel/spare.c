// SPDX-License-Identifier: GPL-2.0-only
/*
 * Settings kept ready for children: fork may not allocate.
 */
#include <linux/llist.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "compat/compat.h"
#include "setting.h"
#include "spare.h"

#define SPARE_SETTINGS 1024

/* Taken one at a time, under spare_lock; put back by the worker. */
static LLIST_HEAD(spares);
static DEFINE_RAW_SPINLOCK(spare_lock);
static atomic_t nr_spares = ATOMIC_INIT(0);

static void refill(struct work_struct *work)
{
	while (atomic_read(&nr_spares) < SPARE_SETTINGS) {
		struct pf_setting *s = pf_setting_alloc();

		if (!s)
			return;
		pf_spare_put(s);
	}
}

static DECLARE_WORK(refill_work, refill);

/**
 * pf_spare_take() - one that is ready
 *
 * Context: any; takes a raw lock.
 * Return: the memory, or NULL if there is none left.
 */
struct pf_setting *pf_spare_take(void)
{
	struct llist_node *node;
	unsigned long flags;

	raw_spin_lock_irqsave(&spare_lock, flags);
	node = llist_del_first(&spares);
	raw_spin_unlock_irqrestore(&spare_lock, flags);
	if (node && atomic_dec_return(&nr_spares) > SPARE_SETTINGS / 2)
		return llist_entry(node, struct pf_setting, free);
	queue_work(system_dfl_wq, &refill_work);
	return node ? llist_entry(node, struct pf_setting, free) : NULL;
}

/**
 * pf_spare_put() - give one back that was not used
 * @s: the memory
 */
void pf_spare_put(struct pf_setting *s)
{
	llist_add(&s->free, &spares);
	atomic_inc(&nr_spares);
}

/**
 * pf_spare_init() - make them ready, as far as there is memory
 */
void pf_spare_init(void)
{
	refill(NULL);
}

/**
 * pf_spare_exit() - free them
 *
 * No probe is attached any more.
 */
void pf_spare_exit(void)
{
	struct pf_setting *s, *next;

	cancel_work_sync(&refill_work);
	llist_for_each_entry_safe(s, next, llist_del_all(&spares), free)
		pf_setting_free(s);
}
