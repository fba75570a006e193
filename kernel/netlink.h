/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Requests over generic netlink: what the operations share.
 */
#ifndef PF_NETLINK_H
#define PF_NETLINK_H

#include <linux/mutex.h>
#include <net/genetlink.h>
#include <uapi/linux/prefetch.h>

#include "compat/compat.h"
#include "compat/family.h"
#include "view.h"
#include "../genl-family/kernel/prefetch-nl-gen.h"

/*
 * One request that changes something, or reads registers, at a time. Held
 * over grace periods, so not the mutex that other families share.
 */
extern struct mutex pf_request_mutex;

/* Module parameter: users may set their own tasks. */
extern bool pf_unprivileged;

int pf_request_lock(struct netlink_ext_ack *extack);
void pf_request_unlock(void);
void pf_request_close(void);

u32 pf_attr_u32(struct nlattr **attrs, int type);
int pf_check_attrs(const struct nlmsghdr *nlh, struct netlink_ext_ack *extack);
int pf_check_no_attrs(const struct nlmsghdr *nlh,
		      struct netlink_ext_ack *extack);

u32 pf_partial(u32 mask);
int pf_check_masks(struct netlink_ext_ack *extack, const struct nlattr *off,
		   const struct nlattr *on, const struct nlattr *clear);

int pf_check_target(const struct sk_buff *skb, struct task_struct *task,
		    struct netlink_ext_ack *extack);
bool pf_is_admin(const struct sk_buff *skb);
bool pf_sees_tasks(const struct sk_buff *skb);
bool pf_is_exempt(const struct sk_buff *skb);

int pf_no_memory(struct netlink_ext_ack *extack);
struct sk_buff *pf_reply_new(struct genl_info *info, size_t size, void **hdr);
int pf_reply_send(struct sk_buff *skb, void *hdr, struct genl_info *info);
void *pf_dump_put(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd);

/**
 * struct pf_target - whom a request names
 * @task: the thread, or a thread of the process; a reference is held
 * @scope: enum prefetch_scope
 * @attr: the attribute that named it
 * @pid: its process in the caller's namespace; a task that has died since has
 *	no number any more, and the reply still says whom it is about
 * @tid: the thread likewise; 0 for a process
 */
struct pf_target {
	struct task_struct *task;
	u8 scope;
	struct nlattr *attr;
	u32 pid;
	u32 tid;
};

struct task_struct *pf_leader_of(const struct signal_struct *signal);
int pf_find_task(struct pf_target *t, struct netlink_ext_ack *extack);

size_t pf_fill_setting_size(void);
int pf_fill_setting(struct sk_buff *skb, const struct pf_setting_view *v,
		    struct user_namespace *user_ns);

#endif /* PF_NETLINK_H */
