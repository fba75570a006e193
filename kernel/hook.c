// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the scheduler does, handed to the settings and the domains.
 */
#define pr_fmt(fmt) "prefetch: " fmt

#include <linux/sched/signal.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <linux/workqueue.h>

#include "compat/compat.h"
#include "domain.h"
#include "event.h"
#include "hook.h"
#include "netlink.h"
#include "quick.h"
#include "setting.h"

/* So long after the last setting went; a loop of short runs stays attached. */
#define DETACH_DELAY (3 * HZ)

static void detach_worker(struct work_struct *work);
static DECLARE_DELAYED_WORK(detach_work, detach_worker);

/*
 * Threads of a process whose setting went on the exit of its last one may
 * still be on their way through exit on other CPUs.
 */
static void kick_threads(struct task_struct *task)
{
	struct task_struct *t;

	rcu_read_lock();
	for_each_thread(task, t) {
		if (t != task && READ_ONCE(t->on_rq))
			pf_refresh_kick(task_cpu(t));
	}
	rcu_read_unlock();
}

/*
 * Runs in the exiting task, after it was marked as dead and before its
 * task_struct and signal_struct can be used again.
 */
static void pf_exit_probe(struct task_struct *task, bool group_dead)
{
	struct pf_setting thread, process;
	struct pf_owner gone = {};
	unsigned long flags;

	/* For the names of the task: interrupts off is not enough for those. */
	rcu_read_lock();
	local_irq_save(flags);
	if (pf_setting_remove(task, &thread))
		gone.thread = thread.id;
	if (group_dead && pf_setting_remove(task->signal, &process))
		gone.process = process.id;
	if (gone.process)
		kick_threads(task);
	/* Another last thread may have removed what we run with. */
	if (gone.thread || group_dead)
		pf_refresh_here(PREFETCH_CAUSE_EXIT);
	if (gone.thread || gone.process)
		pf_domain_release(&gone, PF_RELEASE_ANY, PREFETCH_CAUSE_EXIT,
				  NULL);
	if (gone.thread)
		pf_event_setting(&thread, task, PREFETCH_CHANGE_EXITED);
	if (gone.process)
		pf_event_setting(&process, task, PREFETCH_CHANGE_EXITED);
	local_irq_restore(flags);
	rcu_read_unlock();

	if (gone.thread || gone.process)
		pf_hook_maybe_detach();
}

PF_DEFINE_EXIT_PROBE(probe_exit)

static void probe_fork(void *data, struct task_struct *parent,
		       struct task_struct *child)
{
	struct pf_setting s;
	unsigned long flags;
	bool dropped;

	/*
	 * It may have the structs of a user task that was remembered as one
	 * without a setting, and so wished the default. It wishes nothing.
	 */
	if (child->flags & PF_KTHREAD)
		pf_setting_forget();

	/* A new thread shares its process's setting as it is. */
	if (parent->signal == child->signal)
		return;

	rcu_read_lock();
	local_irq_save(flags);
	if (pf_setting_inherit(parent, child, &s, &dropped))
		pf_event_setting(&s, child, PREFETCH_CHANGE_INHERITED);
	else if (dropped)
		pf_event_setting(&s, child, PREFETCH_CHANGE_DROPPED);
	local_irq_restore(flags);
	rcu_read_unlock();
}

/* In the order in which they are attached. */
static struct {
	const char *name;
	void *probe;
	struct tracepoint *tp;
} probes[] = {
	{ "sched_process_exit", probe_exit },
	{ "sched_process_fork", probe_fork },
	{ "sched_switch", pf_probe_switch },
};

static void find_tracepoint(struct tracepoint *tp, void *priv)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(probes); i++) {
		if (!strcmp(tp->name, probes[i].name))
			probes[i].tp = tp;
	}
}

static void unregister_probes(unsigned int n)
{
	while (n--)
		tracepoint_probe_unregister(probes[n].tp, probes[n].probe,
					    NULL);
	tracepoint_synchronize_unregister();
}

/**
 * pf_hook_attach() - follow the scheduler, before the first setting is made
 *
 * On return each CPU has the true wish of what it runs.
 *
 * Context: request mutex held.
 * Return: 0 or a negative errno.
 */
int pf_hook_attach(void)
{
	unsigned int i;
	int err;

	lockdep_assert_held(&pf_request_mutex);
	if (pf_attached)
		return 0;
	for (i = 0; i < ARRAY_SIZE(probes); i++) {
		err = tracepoint_probe_register(probes[i].tp, probes[i].probe,
						NULL);
		if (err) {
			unregister_probes(i);
			return err;
		}
	}
	WRITE_ONCE(pf_attached, true);
	pf_refresh_cpus(cpu_online_mask, PREFETCH_CAUSE_SETTING);
	return 0;
}

static void detach(void)
{
	lockdep_assert_held(&pf_request_mutex);
	if (!pf_attached)
		return;
	unregister_probes(ARRAY_SIZE(probes));
	WRITE_ONCE(pf_attached, false);
	pf_refresh_cpus(cpu_online_mask, PREFETCH_CAUSE_SETTING);
}

static void detach_worker(struct work_struct *work)
{
	mutex_lock(&pf_request_mutex);
	if (!atomic_read(&pf_nr_settings)) {
		/*
		 * Requests wait, and only a setting begets one. But a fork
		 * that saw its parent's before that went may be on its way.
		 */
		tracepoint_synchronize_unregister();
		if (!atomic_read(&pf_nr_settings))
			detach();
	}
	mutex_unlock(&pf_request_mutex);
}

/**
 * pf_hook_maybe_detach() - some time after the last setting went, detach
 *
 * Context: any in which work can be queued.
 */
void pf_hook_maybe_detach(void)
{
	if (!atomic_read(&pf_nr_settings))
		mod_delayed_work(system_dfl_wq, &detach_work, DETACH_DELAY);
}

/**
 * pf_hook_init() - find the tracepoints
 *
 * Return: 0, or -ENOENT after a line that says which one is missing.
 */
int pf_hook_init(void)
{
	unsigned int i;

	for_each_kernel_tracepoint(find_tracepoint, NULL);
	for (i = 0; i < ARRAY_SIZE(probes); i++) {
		if (!probes[i].tp) {
			pr_err("this kernel has no tracepoint %s\n",
			       probes[i].name);
			return -ENOENT;
		}
	}
	return 0;
}

/**
 * pf_hook_exit() - remove all settings and detach for good
 *
 * Requests are refused by now.
 */
void pf_hook_exit(void)
{
	cancel_delayed_work_sync(&detach_work);
	mutex_lock(&pf_request_mutex);
	/* Before the probes go: without them a setting outlives its task. */
	pf_setting_purge();
	tracepoint_synchronize_unregister();
	pf_setting_purge();
	detach();
	mutex_unlock(&pf_request_mutex);
	cancel_delayed_work_sync(&detach_work);
}
