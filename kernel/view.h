/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A setting as it is told to user space, in replies and in notifications.
 */
#ifndef PF_VIEW_H
#define PF_VIEW_H

#include <linux/types.h>
#include <linux/sched.h>
#include <linux/uidgid.h>

#include "setting.h"
#include "wish.h"

struct pid_namespace;

/**
 * struct pf_setting_view - a setting, with what belongs to its task
 * @id: id of the setting, 0 if the task has none
 * @start_time: when the task started, in nanoseconds since boot
 * @time: monotonic time of the change, 0 in a reply
 * @wish: what the setting asks for
 * @resolved: with the other scope and the machine default taken in
 * @pid: process
 * @tid: thread, 0 with process scope
 * @uid: who set it
 * @change: enum prefetch_change, in a notification
 * @scope: enum prefetch_scope
 * @inherit: 1 if children get it
 * @comm: name of the task
 */
struct pf_setting_view {
	u64 id;
	u64 start_time;
	u64 time;
	pf_wish_t wish;
	pf_wish_t resolved;
	pid_t pid;
	pid_t tid;
	kuid_t uid;
	u8 change;
	u8 scope;
	u8 inherit;
	char comm[TASK_COMM_LEN];
};

void pf_view_task(struct pf_setting_view *v, struct task_struct *task,
		  u8 scope, struct pid_namespace *ns,
		  const struct pf_setting *known);
void pf_view_setting(struct pf_setting_view *v, const struct pf_setting *s);

#endif /* PF_VIEW_H */
