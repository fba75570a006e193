// SPDX-License-Identifier: GPL-2.0-only
/*
 * The dump of setting-get: all settings, or those of one process or thread.
 */
#include <linux/pid_namespace.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/user_namespace.h>

#include "netlink.h"
#include "setting.h"

/**
 * struct setting_dump - a dump of settings
 * @at: how far it is
 * @pid_ns: the namespace of who asked; another process may read on
 * @user_ns: likewise
 * @pid: only of this process or thread; NULL for all
 * @thread: @pid is a thread
 */
struct setting_dump {
	struct pf_setting_cursor at;
	struct pid_namespace *pid_ns;
	struct user_namespace *user_ns;
	struct pid *pid;
	bool thread;
};

int prefetch_nl_setting_get_start(struct netlink_callback *cb)
{
	struct nlattr **attrs = pf_dump_attrs(cb);
	struct nlattr *attr = attrs[PREFETCH_A_SETTING_PID];
	struct setting_dump *dump;
	int err;

	err = pf_check_attrs(cb->nlh, cb->extack);
	if (err)
		return err;
	if (attr && attrs[PREFETCH_A_SETTING_TID]) {
		NL_SET_ERR_MSG_ATTR(cb->extack, attrs[PREFETCH_A_SETTING_TID],
				    "both pid and tid are given");
		return -EINVAL;
	}
	dump = kzalloc(sizeof(*dump), GFP_KERNEL_ACCOUNT);
	if (!dump)
		return pf_no_memory(cb->extack);
	if (!attr) {
		attr = attrs[PREFETCH_A_SETTING_TID];
		dump->thread = true;
	}
	if (attr) {
		struct pf_target t = {
			.attr = attr,
			.scope = dump->thread ? PREFETCH_SCOPE_THREAD :
				PREFETCH_SCOPE_PROCESS,
		};

		err = pf_find_task(&t, cb->extack);
		if (!err) {
			dump->pid = get_task_pid(t.task, dump->thread ?
						 PIDTYPE_PID : PIDTYPE_TGID);
			put_task_struct(t.task);
			if (!dump->pid)
				err = -ESRCH;
		}
		if (err) {
			kfree(dump);
			return err;
		}
	}
	dump->pid_ns = get_pid_ns(task_active_pid_ns(current));
	dump->user_ns = get_user_ns(current_user_ns());
	pf_setting_walk_start(&dump->at);
	cb->args[0] = (long)dump;
	cb->prev_seq = 1;
	cb->seq = 1;
	return 0;
}

int prefetch_nl_setting_get_done(struct netlink_callback *cb)
{
	struct setting_dump *dump = (struct setting_dump *)cb->args[0];

	if (!dump)
		return 0;
	put_pid(dump->pid);
	put_pid_ns(dump->pid_ns);
	put_user_ns(dump->user_ns);
	kfree(dump);
	return 0;
}

struct dump_step {
	struct sk_buff *skb;
	struct netlink_callback *cb;
	struct setting_dump *dump;
};

static bool is_asked_for(const struct setting_dump *dump,
			 struct task_struct *task, const struct pf_setting *s)
{
	if (!dump->pid)
		return true;
	if (!dump->thread)
		return task_tgid(task) == dump->pid;
	return s->scope == PREFETCH_SCOPE_THREAD &&
	       task_pid(task) == dump->pid;
}

/* The task of a setting that was found under RCU; see struct pf_setting. */
static struct task_struct *task_of(const struct pf_setting *s)
{
	if (s->scope == PREFETCH_SCOPE_THREAD)
		return (struct task_struct *)s->key;
	return pf_leader_of(s->key);
}

/* Would the one who asked have been told of it? */
static bool is_missed(const struct pf_setting *s, void *data)
{
	const struct setting_dump *dump = data;
	struct task_struct *task = task_of(s);

	return task && is_asked_for(dump, task, s) &&
	       task_tgid_nr_ns(task, dump->pid_ns);
}

static int dump_one(struct pf_setting *s, void *data)
{
	struct dump_step *step = data;
	struct setting_dump *dump = step->dump;
	struct task_struct *task = task_of(s);
	struct pf_setting_view v = {};
	void *hdr;

	if (!task || !is_asked_for(dump, task, s))
		return 0;
	pf_view_task(&v, task, s->scope, dump->pid_ns, s);
	/* Not to be seen from that namespace. */
	if (!v.pid)
		return 0;
	pf_view_setting(&v, s);
	hdr = pf_dump_put(step->skb, step->cb, PREFETCH_CMD_SETTING_GET);
	if (!hdr)
		return -EMSGSIZE;
	if (pf_fill_setting(step->skb, &v, dump->user_ns)) {
		genlmsg_cancel(step->skb, hdr);
		return -EMSGSIZE;
	}
	genlmsg_end(step->skb, hdr);
	return 0;
}

int prefetch_nl_setting_get_dumpit(struct sk_buff *skb,
				   struct netlink_callback *cb)
{
	struct setting_dump *dump = (struct setting_dump *)cb->args[0];
	struct dump_step step = { .skb = skb, .cb = cb, .dump = dump };

	if (pf_setting_walk(&dump->at, dump_one, &step))
		return skb->len ?: -EMSGSIZE;
	/*
	 * All that existed throughout was told. Only what was made since the
	 * start is missing: then the end of the dump says so.
	 */
	if (!skb->len && pf_setting_newer(dump->at.last, is_missed, dump))
		cb->seq = 2;
	return skb->len;
}
