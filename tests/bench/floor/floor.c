// SPDX-License-Identifier: GPL-2.0-only
/*
 * A probe of the context switch that does nothing: what the kernel itself
 * takes to call any probe. Loaded by switch-cost, and only in a guest.
 */
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

static struct tracepoint *found;

static notrace void nothing(void *data, bool preempt, struct task_struct *prev,
			    struct task_struct *next, unsigned int prev_state)
{
}

static void look_at(struct tracepoint *tp, void *priv)
{
	if (!strcmp(tp->name, "sched_switch"))
		found = tp;
}

static int __init floor_init(void)
{
	for_each_kernel_tracepoint(look_at, NULL);
	if (!found)
		return -ENOENT;
	return tracepoint_probe_register(found, nothing, NULL);
}

static void __exit floor_exit(void)
{
	tracepoint_probe_unregister(found, nothing, NULL);
	tracepoint_synchronize_unregister();
}

module_init(floor_init);
module_exit(floor_exit);

MODULE_DESCRIPTION("An empty probe of the context switch");
MODULE_LICENSE("GPL");
