// SPDX-License-Identifier: GPL-2.0-only
/*
 * Changes on their way to listeners.
 *
 * A change of a core is folded into its domain, under the domain's lock that
 * the context switch holds anyway: so there is nothing that could overflow,
 * and the count is exact. An irq_work then wakes a worker, which may sleep
 * and allocate, and sends at most one message per domain and interval.
 */
#include <linux/delay.h>
#include <linux/irq_work.h>
#include <linux/ktime.h>
#include <linux/workqueue.h>
#include <net/genetlink.h>
#include <uapi/linux/prefetch.h>

#include "compat/family.h"
#include "event.h"
#include "netlink.h"
#include "trace.h"

unsigned int pf_event_interval_ms;
struct pf_event_stats pf_core_stats;
struct pf_event_stats pf_setting_stats;

static DEFINE_PER_CPU(struct irq_work, wakers);
static struct work_struct event_work;

/* Set by whoever has news, cleared by the worker before it looks. */
static atomic_t raised = ATOMIC_INIT(0);
static bool stopped;

static bool has_listeners(unsigned int group)
{
	return pf_family_heard(group) &&
	       genl_has_listeners(&pf_family, &init_net, group);
}

/**
 * pf_event_raise() - let the worker look for news
 *
 * Context: any, preemption off.
 */
void pf_event_raise(void)
{
	if (!READ_ONCE(stopped) && !atomic_xchg(&raised, 1))
		irq_work_queue(this_cpu_ptr(&wakers));
}

static void wake_worker(struct irq_work *work)
{
	queue_work(system_dfl_wq, &event_work);
}

/**
 * pf_event_core() - the effective mask of a domain changed
 * @d: the domain
 * @old: mask before
 * @new: mask after
 * @by: task that brought it about
 * @cause: why
 *
 * Context: interrupts off, @d locked.
 */
void pf_event_core(struct pf_domain *d, u32 old, u32 new,
		   struct task_struct *by, enum prefetch_cause cause)
{
	struct pf_change *c = &d->change;

	if (likely(!has_listeners(PREFETCH_NLGRP_CORE))) {
		c->count = 0;
		return;
	}
	if (!c->count)
		c->old = old;
	c->new = new;
	c->cause = cause;
	c->cpu = raw_smp_processor_id();
	c->pid = by->tgid;
	c->tid = by->pid;
	memcpy(c->comm, by->comm, TASK_COMM_LEN);
	c->time = ktime_get_mono_fast_ns();
	/* While changes wait, the worker knows of this domain. */
	if (!c->count++)
		pf_event_raise();
}

/**
 * pf_event_setting() - a setting was made, changed or ended
 * @s: the setting, or a copy of what it was
 * @task: its thread, or a thread of its process
 * @change: what happened
 *
 * Context: RCU read side, preemption off.
 */
void pf_event_setting(const struct pf_setting *s, struct task_struct *task,
		      enum prefetch_change change)
{
	bool thread = s->scope == PREFETCH_SCOPE_THREAD;
	struct pf_setting_view v = { .change = change };

	trace_setting(task->tgid, thread ? task->pid : 0,
		      pf_wish_off(s->wish), pf_wish_on(s->wish),
		      s->inherit, change);
	if (!has_listeners(PREFETCH_NLGRP_SETTING))
		return;
	pf_view_task(&v, task, s->scope, &init_pid_ns, NULL);
	/* Of one that a request was for, and that has died since, too. */
	v.pid = task->tgid;
	if (thread)
		v.tid = task->pid;
	pf_view_setting(&v, s);
	v.time = ktime_get_mono_fast_ns();
	pf_ring_put(&v);
	pf_event_raise();
}

static void count_lost(struct pf_event_stats *stats, u64 n)
{
	atomic64_add(n, &stats->lost);
	atomic64_add(n, &stats->unsaid);
}

/* The message is complete: send it to all who listen, and count it. */
static void send(struct sk_buff *skb, struct pf_event_stats *stats, u32 changes,
		 unsigned int group)
{
	/*
	 * Counted whatever comes of it: a listener without room learns from
	 * its socket that it lost something, and from the next message or
	 * info-get how much.
	 */
	atomic64_add(changes, &stats->told);
	/* The total first; pairs with pf_event_seq(). */
	smp_store_release(&stats->seq, stats->seq + 1);
	atomic64_inc(&stats->sent);
	genlmsg_multicast_netns(&pf_family, &init_net, skb, 0, group,
				GFP_KERNEL);
}

static void send_setting(const struct pf_setting_view *v)
{
	struct pf_event_stats *stats = &pf_setting_stats;
	struct sk_buff *skb;
	u64 unsaid;
	void *hdr;

	/* Whoever listened when it happened may be gone. */
	if (!has_listeners(PREFETCH_NLGRP_SETTING))
		return;
	unsaid = atomic64_xchg(&stats->unsaid, 0);
	skb = genlmsg_new(pf_fill_setting_size(), GFP_KERNEL);
	if (!skb)
		goto lost;
	hdr = genlmsg_put(skb, 0, 0, &pf_family, 0, PREFETCH_CMD_SETTING_NTF);
	if (!hdr || pf_fill_setting(skb, v, &init_user_ns) ||
	    nla_put_u32(skb, PREFETCH_A_SETTING_CHANGE, v->change) ||
	    nla_put_u32(skb, PREFETCH_A_SETTING_SEQ, stats->seq + 1) ||
	    nla_put_u64_64bit(skb, PREFETCH_A_SETTING_LOST, unsaid,
			      PREFETCH_A_SETTING_PAD) ||
	    nla_put_u64_64bit(skb, PREFETCH_A_SETTING_TOTAL,
			      pf_event_total(stats) + 1,
			      PREFETCH_A_SETTING_PAD) ||
	    nla_put_u64_64bit(skb, PREFETCH_A_SETTING_TIME, v->time,
			      PREFETCH_A_SETTING_PAD)) {
		nlmsg_free(skb);
		goto lost;
	}
	genlmsg_end(skb, hdr);
	send(skb, stats, 1, PREFETCH_NLGRP_SETTING);
	return;
lost:
	atomic64_add(unsaid, &stats->unsaid);
	count_lost(stats, 1);
}

/* Just what is needed: a listener pays for the size of each message. */
static size_t core_size(unsigned int members)
{
	return nla_total_size(sizeof(u32)) * (9 + members) +
	       nla_total_size_64bit(sizeof(u64)) * 3 +
	       nla_total_size(TASK_COMM_LEN);
}

static int fill_core(struct sk_buff *skb, const struct pf_domain *d,
		     unsigned int members, const struct pf_change *c, u32 seq,
		     u64 lost, u64 total)
{
	unsigned int i;

	if (nla_put_u32(skb, PREFETCH_A_EVENT_DOMAIN, d->id))
		return -EMSGSIZE;
	for (i = 0; i < members; i++) {
		if (nla_put_u32(skb, PREFETCH_A_EVENT_CPUS,
				d->members[i]->cpu))
			return -EMSGSIZE;
	}
	if (nla_put_u32(skb, PREFETCH_A_EVENT_OLD, c->old) ||
	    nla_put_u32(skb, PREFETCH_A_EVENT_NEW, c->new) ||
	    nla_put_u32(skb, PREFETCH_A_EVENT_CAUSE, c->cause) ||
	    nla_put_u32(skb, PREFETCH_A_EVENT_CPU, c->cpu) ||
	    nla_put_u32(skb, PREFETCH_A_EVENT_PID, c->pid) ||
	    nla_put_u32(skb, PREFETCH_A_EVENT_TID, c->tid) ||
	    nla_put_string(skb, PREFETCH_A_EVENT_COMM, c->comm) ||
	    nla_put_u64_64bit(skb, PREFETCH_A_EVENT_TIME, c->time,
			      PREFETCH_A_EVENT_PAD) ||
	    nla_put_u32(skb, PREFETCH_A_EVENT_SEQ, seq) ||
	    nla_put_u32(skb, PREFETCH_A_EVENT_FOLDED, c->count) ||
	    nla_put_u64_64bit(skb, PREFETCH_A_EVENT_LOST, lost,
			      PREFETCH_A_EVENT_PAD) ||
	    nla_put_u64_64bit(skb, PREFETCH_A_EVENT_TOTAL, total,
			      PREFETCH_A_EVENT_PAD))
		return -EMSGSIZE;
	return 0;
}

static void send_core(const struct pf_domain *d, const struct pf_change *c)
{
	struct pf_event_stats *stats = &pf_core_stats;
	unsigned int members = pf_domain_members(d);
	struct sk_buff *skb;
	u64 unsaid;
	void *hdr;

	if (!has_listeners(PREFETCH_NLGRP_CORE))
		return;
	unsaid = atomic64_xchg(&stats->unsaid, 0);
	skb = genlmsg_new(core_size(members), GFP_KERNEL);
	if (!skb)
		goto lost;
	hdr = genlmsg_put(skb, 0, 0, &pf_family, 0, PREFETCH_CMD_CORE_NTF);
	if (!hdr || fill_core(skb, d, members, c, stats->seq + 1, unsaid,
			      pf_event_total(stats) + c->count)) {
		nlmsg_free(skb);
		goto lost;
	}
	genlmsg_end(skb, hdr);
	send(skb, stats, c->count, PREFETCH_NLGRP_CORE);
	return;
lost:
	atomic64_add(unsaid, &stats->unsaid);
	count_lost(stats, c->count);
}

/*
 * Send what may be sent, and return in how many nanoseconds the next may,
 * 0 if nothing waits.
 */
static u64 send_cores(void)
{
	u64 interval = (u64)READ_ONCE(pf_event_interval_ms) * NSEC_PER_MSEC;
	struct pf_domain *d;
	struct pf_change c;
	u64 now, next = 0;

	pf_for_each_domain(d) {
		c.count = 0;
		raw_spin_lock_irq(&d->lock);
		if (d->change.count) {
			now = ktime_get_mono_fast_ns();
			if (now - d->sent >= interval) {
				c = d->change;
				d->change.count = 0;
				d->sent = now;
			} else {
				u64 left = interval - (now - d->sent);

				if (!next || left < next)
					next = left;
			}
		}
		raw_spin_unlock_irq(&d->lock);
		if (c.count)
			send_core(d, &c);
	}
	return next;
}

static void event_worker(struct work_struct *work)
{
	struct pf_setting_view v;
	u64 next;

	do {
		/* Full barrier: what is raised from here on is seen below. */
		atomic_xchg(&raised, 0);
		while (pf_ring_get(&v))
			send_setting(&v);
		next = send_cores();
		if (next) {
			unsigned long us = DIV_ROUND_UP_ULL(next, NSEC_PER_USEC);

			usleep_range_state(us, us + us / 8, TASK_IDLE);
		}
	} while (next && !READ_ONCE(stopped));
}

/**
 * pf_event_init() - ready to tell changes
 *
 * Return: 0 or -ENOMEM.
 */
int pf_event_init(void)
{
	int cpu;

	INIT_WORK(&event_work, event_worker);
	for_each_possible_cpu(cpu)
		per_cpu(wakers, cpu) = IRQ_WORK_INIT_HARD(wake_worker);
	return pf_ring_init();
}

/**
 * pf_event_stop() - no more news; waits for the worker
 *
 * After this nothing is sent, and the family may go.
 */
void pf_event_stop(void)
{
	int cpu;

	WRITE_ONCE(stopped, true);
	/* Whoever saw it unset has raised its irq_work by now. */
	synchronize_rcu();
	for_each_possible_cpu(cpu)
		irq_work_sync(&per_cpu(wakers, cpu));
	cancel_work_sync(&event_work);
}

void pf_event_exit(void)
{
	pf_ring_exit();
}
