// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests about the settings of tasks: the do of setting-get, and setting-set.
 */
#include <linux/pid_namespace.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/user_namespace.h>

#include "domain.h"
#include "event.h"
#include "hook.h"
#include "netlink.h"
#include "setting.h"
#include "user.h"

/**
 * pf_leader_of() - the first thread of a process
 * @signal: of the process
 *
 * Not by group_leader: exec by another thread may have freed that one.
 *
 * Return: the thread, or NULL if it is gone.
 */
struct task_struct *pf_leader_of(const struct signal_struct *signal)
{
	return pid_task(READ_ONCE(signal->pids[PIDTYPE_TGID]), PIDTYPE_TGID);
}

/**
 * pf_view_task() - what a view says of the task
 * @v: the view
 * @task: the thread, or a thread of the process
 * @scope: enum prefetch_scope
 * @ns: pid namespace in which to name it
 * @known: its setting with that scope, NULL to look whether there is one
 *
 * Of a process that is gone in the meantime, name and start are left out.
 *
 * Context: RCU read side, entered while @task was known to stay.
 */
void pf_view_task(struct pf_setting_view *v, struct task_struct *task,
		  u8 scope, struct pid_namespace *ns,
		  const struct pf_setting *known)
{
	bool is_thread = scope == PREFETCH_SCOPE_THREAD;
	const struct pf_setting *s = is_thread ? NULL : known;
	struct task_struct *named = task;
	pf_wish_t wish = PF_WISH_DEFAULT;

	if (!is_thread)
		named = pf_leader_of(task->signal);
	v->scope = scope;
	v->pid = task_tgid_nr_ns(task, ns);
	v->tid = is_thread ? task_pid_nr_ns(task, ns) : 0;
	if (named) {
		v->start_time = named->start_boottime;
		memcpy(v->comm, named->comm, TASK_COMM_LEN);
		v->comm[TASK_COMM_LEN - 1] = '\0';
	}

	if (!s)
		s = pf_setting_find(task->signal);
	if (s)
		wish = READ_ONCE(s->wish);
	if (is_thread) {
		s = known ?: pf_setting_find(task);
		if (s)
			wish = pf_wish_over(READ_ONCE(s->wish), wish);
	}
	v->resolved = pf_wish_over(wish, pf_wish(READ_ONCE(pf_default_off),
						 READ_ONCE(pf_default_on)));
}

/**
 * pf_view_setting() - what a view says of the setting
 * @v: the view
 * @s: the setting, or a copy
 */
void pf_view_setting(struct pf_setting_view *v, const struct pf_setting *s)
{
	v->id = s->id;
	v->wish = READ_ONCE(s->wish);
	v->inherit = READ_ONCE(s->inherit);
	v->uid = s->uid;
}

/* What pf_fill_setting() takes at most. */
#define FILL_SIZE (nla_total_size(sizeof(u32)) * 10 +	\
		   nla_total_size(sizeof(u64)) * 2 +	\
		   nla_total_size(TASK_COMM_LEN))

/**
 * pf_fill_setting_size() - room that pf_fill_setting() and a notification take
 *
 * Return: bytes.
 */
size_t pf_fill_setting_size(void)
{
	return FILL_SIZE + nla_total_size(sizeof(u32)) * 2 +
	       nla_total_size_64bit(sizeof(u64)) * 3;
}

/*
 * An attribute, where there is room for it; returns where the next one goes.
 * In place it is three stores, and some compilers would make a call of it.
 */
static __always_inline u8 *put_attr(u8 *at, int type, const void *data,
				    size_t len)
{
	struct nlattr *attr = (struct nlattr *)at;

	attr->nla_type = type;
	attr->nla_len = nla_attr_size(len);
	memcpy(nla_data(attr), data, len);
	return at + nla_total_size(len);
}

static __always_inline u8 *put_u32(u8 *at, int type, u32 value)
{
	return put_attr(at, type, &value, sizeof(value));
}

/* Not aligned: nothing that this module runs on needs that. */
static __always_inline u8 *put_u64(u8 *at, int type, u64 value)
{
	return put_attr(at, type, &value, sizeof(value));
}

static u8 *put_comm(u8 *at, int type, const char *comm)
{
	size_t len = strlen(comm) + 1;
	u8 *next = put_attr(at, type, comm, len);

	memset(at + nla_attr_size(len), 0, nla_padlen(len));
	return next;
}

/**
 * pf_fill_setting() - a setting as attributes
 * @skb: where to put them
 * @v: the setting
 * @user_ns: user namespace in which to name who set it
 *
 * Room is looked for once and not for each attribute: of a dump of very many
 * settings this is the larger part.
 *
 * Return: 0 or -EMSGSIZE.
 */
int pf_fill_setting(struct sk_buff *skb, const struct pf_setting_view *v,
		    struct user_namespace *user_ns)
{
	u32 named = pf_wish_off(v->wish) | pf_wish_on(v->wish);
	u8 *at = skb_tail_pointer(skb);

	if (skb_tailroom(skb) < FILL_SIZE)
		return -EMSGSIZE;
	at = put_u32(at, PREFETCH_A_SETTING_PID, v->pid);
	if (v->tid)
		at = put_u32(at, PREFETCH_A_SETTING_TID, v->tid);
	at = put_u32(at, PREFETCH_A_SETTING_SCOPE, v->scope);
	at = put_u32(at, PREFETCH_A_SETTING_OFF, pf_wish_off(v->wish));
	at = put_u32(at, PREFETCH_A_SETTING_ON, pf_wish_on(v->wish));
	at = put_u32(at, PREFETCH_A_SETTING_INHERIT, v->inherit);
	at = put_u32(at, PREFETCH_A_SETTING_WISH_OFF,
		     pf_wish_off(v->resolved));
	at = put_u32(at, PREFETCH_A_SETTING_WISH_ON, pf_wish_on(v->resolved));
	at = put_u64(at, PREFETCH_A_SETTING_START_TIME, v->start_time);
	at = put_comm(at, PREFETCH_A_SETTING_COMM, v->comm);
	at = put_u32(at, PREFETCH_A_SETTING_PARTIAL, pf_partial(named));
	if (v->id) {
		at = put_u32(at, PREFETCH_A_SETTING_UID,
			     from_kuid_munged(user_ns, v->uid));
		at = put_u64(at, PREFETCH_A_SETTING_ID, v->id);
	}
	skb_put(skb, at - skb_tail_pointer(skb));
	return 0;
}

/**
 * pf_find_task() - the task that an attribute names
 * @t: the attribute and its meaning; gets the task
 * @extack: for the reason
 *
 * Return: 0 or -ESRCH.
 */
int pf_find_task(struct pf_target *t, struct netlink_ext_ack *extack)
{
	u32 nr = nla_get_u32(t->attr);
	struct pid *pid;

	rcu_read_lock();
	pid = find_vpid(nr);
	if (t->scope == PREFETCH_SCOPE_THREAD)
		t->task = pid_task(pid, PIDTYPE_PID);
	else
		t->task = pid_task(pid, PIDTYPE_TGID);
	t->tid = t->scope == PREFETCH_SCOPE_THREAD ? nr : 0;
	t->pid = t->task && t->tid ? task_tgid_vnr(t->task) : nr;
	if (t->task && t->pid)
		get_task_struct(t->task);
	else if (t->scope == PREFETCH_SCOPE_PROCESS &&
		 pid_task(pid, PIDTYPE_PID))
		NL_SET_ERR_MSG_ATTR(extack, t->attr,
				    "this is a thread, not a process: name it as tid");
	else
		NL_SET_ERR_MSG_ATTR(extack, t->attr, "no such task");
	rcu_read_unlock();
	return t->task && t->pid ? 0 : -ESRCH;
}

static int find_target(struct nlattr **attrs, struct genl_info *info,
		       struct netlink_ext_ack *extack, struct pf_target *t)
{
	struct nlattr *pid = attrs[PREFETCH_A_SETTING_PID];
	struct nlattr *tid = attrs[PREFETCH_A_SETTING_TID];
	int err = pf_check_attrs(info->nlhdr, extack);

	if (err)
		return err;
	if (pid && tid) {
		NL_SET_ERR_MSG_ATTR(extack, tid, "both pid and tid are given");
		return -EINVAL;
	}
	if (!pid && !tid) {
		if (GENL_REQ_ATTR_CHECK(info, PREFETCH_A_SETTING_PID))
			NL_SET_ERR_MSG(extack, "neither pid nor tid is given");
		return -EINVAL;
	}
	t->attr = pid ?: tid;
	t->scope = pid ? PREFETCH_SCOPE_PROCESS : PREFETCH_SCOPE_THREAD;
	return pf_find_task(t, extack);
}

static const void *target_key(const struct pf_target *t)
{
	return t->scope == PREFETCH_SCOPE_THREAD ?
		(const void *)t->task : t->task->signal;
}

/* RCU read side. */
static void view_target(struct pf_setting_view *v, const struct pf_target *t)
{
	pf_view_task(v, t->task, t->scope, task_active_pid_ns(current), NULL);
	v->pid = t->pid;
	v->tid = t->tid;
}

int prefetch_nl_setting_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct pf_setting_view v = {};
	struct sk_buff *msg = NULL;
	struct pf_setting *s;
	struct pf_target t;
	void *hdr;
	int err;

	err = find_target(info->attrs, info, info->extack, &t);
	if (err)
		return err;
	if (pf_setting_is_dead(t.task, t.scope)) {
		NL_SET_ERR_MSG_ATTR(info->extack, t.attr,
				    "the task has exited");
		err = -ESRCH;
		goto put;
	}
	msg = pf_reply_new(info, pf_fill_setting_size(), &hdr);
	if (!msg) {
		err = -ENOMEM;
		goto put;
	}
	rcu_read_lock();
	view_target(&v, &t);
	s = pf_setting_find(target_key(&t));
	if (s)
		pf_view_setting(&v, s);
	rcu_read_unlock();
	err = pf_fill_setting(msg, &v, current_user_ns());
put:
	put_task_struct(t.task);
	if (!err)
		return pf_reply_send(msg, hdr, info);
	nlmsg_free(msg);
	return err;
}

/* Let all that the change concerns see it: running threads, held domains. */
static void setting_changed(const struct pf_target *t,
			    const struct pf_setting_result *res)
{
	static struct cpumask cpus; /* request mutex */
	struct pf_owner owner = {};
	struct task_struct *p;

	if (t->scope == PREFETCH_SCOPE_THREAD)
		owner.thread = res->id;
	else
		owner.process = res->id;

	cpumask_clear(&cpus);
	/*
	 * A thread that is not queued after this will find the change when it
	 * is switched in. on_cpu would not do: it is set after the switch.
	 */
	smp_mb();
	rcu_read_lock();
	if (t->scope == PREFETCH_SCOPE_THREAD) {
		if (READ_ONCE(t->task->on_rq))
			cpumask_set_cpu(task_cpu(t->task), &cpus);
	} else {
		for_each_thread(t->task, p) {
			if (READ_ONCE(p->on_rq))
				cpumask_set_cpu(task_cpu(p), &cpus);
		}
	}
	rcu_read_unlock();

	preempt_disable();
	pf_domain_release(&owner, res->generation, PREFETCH_CAUSE_SETTING,
			  &cpus);
	preempt_enable();
	pf_refresh_cpus(&cpus, PREFETCH_CAUSE_SETTING);
}

static void tell_change(const struct pf_target *t,
			const struct pf_setting_result *res)
{
	struct pf_setting s = {
		.id = res->id,
		.wish = res->wish,
		.uid = res->uid,
		.inherit = res->inherit,
		.scope = t->scope,
	};

	rcu_read_lock();
	preempt_disable();
	pf_event_setting(&s, t->task, res->exists ? PREFETCH_CHANGE_SET :
			 PREFETCH_CHANGE_CLEARED);
	preempt_enable();
	rcu_read_unlock();
}

static int explain(int err, const struct pf_target *t, struct genl_info *info)
{
	struct netlink_ext_ack *extack = info->extack;

	switch (err) {
	case -ESRCH:
		NL_SET_ERR_MSG_ATTR(extack, t->attr, "the task has exited");
		break;
	case -ENOSPC:
		NL_SET_ERR_MSG(extack,
			       "the limit of settings is reached (parameter max_settings)");
		break;
	case -EDQUOT:
		NL_SET_ERR_MSG(extack,
			       "this user's limit of settings is reached (parameter max_settings_per_user)");
		return -ENOSPC;
	case -EINVAL:
		NL_SET_ERR_MSG_ATTR(extack,
				    info->attrs[PREFETCH_A_SETTING_INHERIT],
				    "without an opinion on a prefetcher there is nothing to inherit");
		break;
	}
	return err;
}

/* The request mutex is held. */
static int setting_commit(const struct pf_target *t,
			  struct pf_setting_change *change,
			  struct genl_info *info, struct pf_setting_view *v)
{
	struct pf_setting *spare = NULL;
	struct pf_setting_result res;
	int err;

	if (change->off | change->on || change->inherit == 1) {
		change->user = pf_user_get(pf_user_of(current_cred()));
		if (!change->user)
			return pf_no_memory(info->extack);
	}
	/* Only with an opinion can there be a new setting. */
	if (change->off | change->on) {
		spare = pf_setting_alloc();
		if (!spare)
			return pf_no_memory(info->extack);
		err = pf_hook_attach();
		if (err) {
			NL_SET_ERR_MSG(info->extack,
				       "cannot attach to the scheduler's tracepoints");
			goto free;
		}
	}
	err = pf_setting_apply(t->task, t->scope, change, &spare, &res);
	if (err) {
		err = explain(err, t, info);
		goto detach;
	}
	if (res.changed)
		setting_changed(t, &res);
	if (res.told)
		tell_change(t, &res);

	rcu_read_lock();
	view_target(v, t);
	rcu_read_unlock();
	v->id = res.exists ? res.id : 0;
	v->wish = res.wish;
	v->uid = res.uid;
	v->inherit = res.inherit;
detach:
	if (READ_ONCE(pf_attached))
		pf_hook_maybe_detach();
free:
	pf_setting_free(spare);
	return err;
}

static int check_start_time(const struct pf_target *t, struct genl_info *info)
{
	struct nlattr *attr = info->attrs[PREFETCH_A_SETTING_START_TIME];
	struct task_struct *named = t->task;
	bool same;

	if (!attr)
		return 0;
	rcu_read_lock();
	if (t->scope == PREFETCH_SCOPE_PROCESS)
		named = pf_leader_of(t->task->signal);
	same = named && nla_get_u64(attr) == named->start_boottime;
	rcu_read_unlock();
	if (same)
		return 0;
	NL_SET_ERR_MSG_ATTR(info->extack, attr,
			    "the task started at another time: its number was used again");
	return -ESRCH;
}

static int parse_change(struct genl_info *info, struct pf_setting_change *c)
{
	struct nlattr **attrs = info->attrs;

	if (!attrs[PREFETCH_A_SETTING_OFF] && !attrs[PREFETCH_A_SETTING_ON] &&
	    !attrs[PREFETCH_A_SETTING_CLEAR] &&
	    !attrs[PREFETCH_A_SETTING_INHERIT] &&
	    GENL_REQ_ATTR_CHECK(info, PREFETCH_A_SETTING_OFF)) {
		NL_SET_ERR_MSG(info->extack,
			       "no off, on or clear mask, and no inherit");
		return -EINVAL;
	}
	if (attrs[PREFETCH_A_SETTING_INHERIT] &&
	    attrs[PREFETCH_A_SETTING_TID]) {
		NL_SET_ERR_MSG_ATTR(info->extack,
				    attrs[PREFETCH_A_SETTING_INHERIT],
				    "a thread's setting cannot be inherited: name the process");
		return -EINVAL;
	}
	c->off = pf_attr_u32(attrs, PREFETCH_A_SETTING_OFF);
	c->on = pf_attr_u32(attrs, PREFETCH_A_SETTING_ON);
	c->clear = pf_attr_u32(attrs, PREFETCH_A_SETTING_CLEAR);
	c->inherit = attrs[PREFETCH_A_SETTING_INHERIT] ?
		(int)pf_attr_u32(attrs, PREFETCH_A_SETTING_INHERIT) : -1;
	c->uid = current_euid();
	return pf_check_masks(info->extack, attrs[PREFETCH_A_SETTING_OFF],
			      attrs[PREFETCH_A_SETTING_ON],
			      attrs[PREFETCH_A_SETTING_CLEAR]);
}

int prefetch_nl_setting_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct pf_setting_change change = {};
	struct pf_setting_view v = {};
	struct sk_buff *msg = NULL;
	struct pf_target t;
	void *hdr;
	int err;

	err = find_target(info->attrs, info, info->extack, &t);
	if (err)
		return err;
	err = parse_change(info, &change);
	if (err)
		goto put;
	err = check_start_time(&t, info);
	if (err)
		goto put;
	err = pf_check_target(skb, t.task, info->extack);
	if (err) {
		NL_SET_BAD_ATTR(info->extack, t.attr);
		goto put;
	}
	/* Nothing may fail after the commit. */
	msg = pf_reply_new(info, pf_fill_setting_size(), &hdr);
	if (!msg) {
		err = -ENOMEM;
		goto put;
	}
	err = pf_request_lock(info->extack);
	if (err)
		goto put;
	change.exempt = pf_is_exempt(skb);
	err = setting_commit(&t, &change, info, &v);
	pf_request_unlock();
	if (!err && pf_fill_setting(msg, &v, current_user_ns())) {
		WARN_ON_ONCE(1);
		err = -EMSGSIZE;
	}
put:
	put_task_struct(t.task);
	if (!err)
		return pf_reply_send(msg, hdr, info);
	nlmsg_free(msg);
	return err;
}
