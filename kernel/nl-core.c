// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests about cores: core-get and core-repair.
 */
#include <linux/cpu.h>
#include <linux/pid_namespace.h>
#include <linux/slab.h>

#include "domain.h"
#include "netlink.h"
#include "nl-register.h"

/* Who runs on a CPU; a reference to the pids is held. */
struct running {
	struct pid *tgid;
	struct pid *tid;
	char comm[TASK_COMM_LEN];
};

/* A core as it was at one moment, to be told without a lock. */
struct core_view {
	struct pf_domain *domain;
	unsigned int nr_members;
	pf_wish_t wish[PF_MAX_MEMBERS];
	bool live[PF_MAX_MEMBERS];
	struct running running[PF_MAX_MEMBERS];
	u32 effective;
	bool held;
	bool failed;
	struct pf_fault fault;
	u64 writes;
	struct pf_registers regs;
};

/* On a CPU of the domain, interrupts off. */
static void repair_fn(void *data)
{
	struct pf_registers *r = data;
	struct pf_domain *d = r->domain;

	raw_spin_lock(&d->lock);
	pf_registers_read(r);
	if (d->usable && (r->differs || d->failed))
		pf_registers_repair(r);
	raw_spin_unlock(&d->lock);
}

/* The domain is locked. */
static void snapshot(struct core_view *v)
{
	struct pf_domain *d = v->domain;
	unsigned int i;

	v->nr_members = d->nr_members;
	for (i = 0; i < d->nr_members; i++) {
		v->wish[i] = d->members[i]->wish;
		v->live[i] = d->members[i]->live;
	}
	v->effective = d->effective;
	v->held = d->held;
	v->failed = d->failed;
	v->fault = d->fault;
	v->writes = d->writes;
}

/* On a CPU of the domain, interrupts off: all of one moment. */
static void verify_fn(void *data)
{
	struct core_view *v = data;

	raw_spin_lock(&v->domain->lock);
	pf_registers_read(&v->regs);
	snapshot(v);
	raw_spin_unlock(&v->domain->lock);
	v->regs.read = true;
}

static void running_fn(void *data)
{
	struct running *r = data;

	if (is_idle_task(current))
		return;
	r->tgid = get_pid(task_tgid(current));
	r->tid = get_pid(task_pid(current));
	memcpy(r->comm, current->comm, TASK_COMM_LEN);
}

/* No CPU may go while it is asked: cpus_read_lock() is held. */
static void look_at_core(struct core_view *v, struct pf_domain *d,
			 bool verify, bool tasks)
{
	unsigned int i;
	int cpu;

	memset(v, 0, sizeof(*v));
	v->domain = d;
	v->regs.domain = d;
	cpu = pf_domain_cpu(d);
	if (verify && cpu >= 0)
		smp_call_function_single(cpu, verify_fn, v, 1);
	if (!v->regs.read) {
		raw_spin_lock_irq(&d->lock);
		snapshot(v);
		raw_spin_unlock_irq(&d->lock);
	}

	for (i = 0; tasks && i < v->nr_members; i++) {
		if (v->live[i])
			smp_call_function_single(d->members[i]->cpu,
						 running_fn, &v->running[i], 1);
	}
}

static void drop_core(struct core_view *v)
{
	unsigned int i;

	for (i = 0; i < v->nr_members; i++) {
		put_pid(v->running[i].tgid);
		put_pid(v->running[i].tid);
	}
}

static int fill_running(struct sk_buff *skb, const struct running *r,
			struct pid_namespace *ns)
{
	u32 pid = pid_nr_ns(r->tgid, ns);
	u32 tid = pid_nr_ns(r->tid, ns);

	/* Idle, gone, or not to be seen from that namespace. */
	if (!pid || !tid)
		return 0;
	return nla_put_u32(skb, PREFETCH_A_CPU_PID, pid) ||
	       nla_put_u32(skb, PREFETCH_A_CPU_TID, tid) ||
	       nla_put_string(skb, PREFETCH_A_CPU_COMM, r->comm);
}

static int fill_cpu(struct sk_buff *skb, const struct core_view *v,
		    unsigned int i, struct pid_namespace *ns)
{
	pf_wish_t wish = v->wish[i];
	bool has_wish = wish != PF_WISH_NONE;
	struct nlattr *nest = nla_nest_start(skb, PREFETCH_A_CORE_CPU);

	if (!nest ||
	    nla_put_u32(skb, PREFETCH_A_CPU_ID, v->domain->members[i]->cpu) ||
	    nla_put_u32(skb, PREFETCH_A_CPU_ONLINE, v->live[i]) ||
	    nla_put_u32(skb, PREFETCH_A_CPU_HAS_WISH, has_wish) ||
	    nla_put_u32(skb, PREFETCH_A_CPU_WISH_OFF,
			has_wish ? pf_wish_off(wish) : 0) ||
	    nla_put_u32(skb, PREFETCH_A_CPU_WISH_ON,
			has_wish ? pf_wish_on(wish) : 0) ||
	    fill_running(skb, &v->running[i], ns))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int fill_fault(struct sk_buff *skb, const struct core_view *v)
{
	const struct pf_layout *layout = v->domain->layout;
	const struct pf_fault *f = &v->fault;

	if (!v->failed || f->kind == PREFETCH_FAULT_NONE)
		return 0;
	return nla_put_u32(skb, PREFETCH_A_CORE_FAULT, f->kind) ||
	       nla_put_u32(skb, PREFETCH_A_CORE_FAULT_REGISTER,
			   layout->regs[f->reg]) ||
	       nla_put_u64_64bit(skb, PREFETCH_A_CORE_FAULT_BITS, f->bits,
				 PREFETCH_A_CORE_PAD) ||
	       nla_put_u32(skb, PREFETCH_A_CORE_STUCK,
			   pf_layout_owners(layout, f->reg, f->bits));
}

static int fill_core(struct sk_buff *skb, const struct core_view *v,
		     struct pid_namespace *ns)
{
	const struct pf_domain *d = v->domain;
	unsigned int i;

	if (nla_put_u32(skb, PREFETCH_A_CORE_DOMAIN, d->id) ||
	    nla_put_u32(skb, PREFETCH_A_CORE_CORE_TYPE,
			d->layout->core_type) ||
	    nla_put_u32(skb, PREFETCH_A_CORE_SUPPORTED, d->supported) ||
	    nla_put_u32(skb, PREFETCH_A_CORE_BASELINE, d->baseline_mask) ||
	    nla_put_u32(skb, PREFETCH_A_CORE_EFFECTIVE, v->effective) ||
	    nla_put_u32(skb, PREFETCH_A_CORE_HELD, v->held) ||
	    nla_put_u32(skb, PREFETCH_A_CORE_FAILED, v->failed) ||
	    nla_put_u64_64bit(skb, PREFETCH_A_CORE_WRITES, v->writes,
			      PREFETCH_A_CORE_PAD) ||
	    (d->hybrid_id && nla_put_u32(skb, PREFETCH_A_CORE_HYBRID_ID,
					 d->hybrid_id)) ||
	    fill_fault(skb, v))
		return -EMSGSIZE;
	for (i = 0; i < v->nr_members; i++) {
		if (fill_cpu(skb, v, i, ns))
			return -EMSGSIZE;
	}
	if (!v->regs.read)
		return 0;
	if (nla_put_u32(skb, PREFETCH_A_CORE_READ, v->regs.before) ||
	    nla_put_u32(skb, PREFETCH_A_CORE_DIFFERS, v->regs.differs))
		return -EMSGSIZE;
	return pf_registers_fill(skb, &v->regs, PREFETCH_A_CORE_REGISTER);
}

static int refuse_verify(struct netlink_ext_ack *extack, struct nlattr *attr)
{
	NL_SET_ERR_MSG_ATTR(extack, attr,
			    "reading the registers needs CAP_SYS_ADMIN");
	return -EPERM;
}

static struct pf_domain *find_domain(struct nlattr *attr,
				     struct netlink_ext_ack *extack)
{
	u32 id = nla_get_u32(attr);

	if (id < pf_domain_count())
		return &pf_domains[id];
	NL_SET_ERR_MSG_ATTR(extack, attr, "no such core");
	return NULL;
}

int prefetch_nl_core_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	bool verify = pf_attr_u32(info->attrs, PREFETCH_A_CORE_VERIFY);
	bool admin = verify ? pf_is_admin(skb) : pf_sees_tasks(skb);
	struct sk_buff *msg = NULL;
	struct core_view *v;
	struct pf_domain *d;
	void *hdr;
	int err;

	err = pf_check_attrs(info->nlhdr, info->extack);
	if (err)
		return err;
	if (GENL_REQ_ATTR_CHECK(info, PREFETCH_A_CORE_DOMAIN)) {
		NL_SET_ERR_MSG(info->extack, "no core is given");
		return -EINVAL;
	}
	d = find_domain(info->attrs[PREFETCH_A_CORE_DOMAIN], info->extack);
	if (!d)
		return -ENOENT;
	if (verify && !admin)
		return refuse_verify(info->extack,
				     info->attrs[PREFETCH_A_CORE_VERIFY]);
	v = kzalloc(sizeof(*v), GFP_KERNEL);
	if (!v)
		return pf_no_memory(info->extack);
	msg = pf_reply_new(info, NLMSG_GOODSIZE, &hdr);
	if (!msg) {
		err = -ENOMEM;
		goto free;
	}
	err = pf_request_lock(info->extack);
	if (err)
		goto free;
	cpus_read_lock();
	look_at_core(v, d, verify, admin);
	cpus_read_unlock();
	pf_request_unlock();
	err = fill_core(msg, v, task_active_pid_ns(current));
	drop_core(v);
free:
	kfree(v);
	if (!err)
		return pf_reply_send(msg, hdr, info);
	nlmsg_free(msg);
	return err;
}

/**
 * struct core_dump - a dump of cores
 * @next: the domain to go on with
 * @verify: read the registers
 * @admin: tell which tasks run
 * @pid_ns: the namespace of who asked; another process may read on
 * @view: the core at hand; kept while it waits for the next message
 * @waiting: @view was looked at and did not fit
 */
struct core_dump {
	u32 next;
	bool verify;
	bool admin;
	bool waiting;
	struct pid_namespace *pid_ns;
	struct core_view view;
};

int prefetch_nl_core_get_start(struct netlink_callback *cb)
{
	struct nlattr **attrs = pf_dump_attrs(cb);
	bool verify = pf_attr_u32(attrs, PREFETCH_A_CORE_VERIFY);
	bool admin = verify ? pf_is_admin(cb->skb) : pf_sees_tasks(cb->skb);
	struct core_dump *dump;
	int err;

	err = pf_check_attrs(cb->nlh, cb->extack);
	if (err)
		return err;
	if (attrs[PREFETCH_A_CORE_DOMAIN]) {
		NL_SET_ERR_MSG_ATTR(cb->extack, attrs[PREFETCH_A_CORE_DOMAIN],
				    "a dump is of all cores");
		return -EINVAL;
	}
	if (verify && !admin)
		return refuse_verify(cb->extack,
				     attrs[PREFETCH_A_CORE_VERIFY]);
	dump = kzalloc(sizeof(*dump), GFP_KERNEL_ACCOUNT);
	if (!dump)
		return pf_no_memory(cb->extack);
	dump->verify = verify;
	dump->admin = admin;
	dump->pid_ns = get_pid_ns(task_active_pid_ns(current));
	cb->args[0] = (long)dump;
	cb->prev_seq = 1;
	cb->seq = 1;
	return 0;
}

int prefetch_nl_core_get_done(struct netlink_callback *cb)
{
	struct core_dump *dump = (struct core_dump *)cb->args[0];

	if (!dump)
		return 0;
	if (dump->waiting)
		drop_core(&dump->view);
	put_pid_ns(dump->pid_ns);
	kfree(dump);
	return 0;
}

static int dump_core(struct sk_buff *skb, struct netlink_callback *cb,
		     struct core_dump *dump)
{
	void *hdr = pf_dump_put(skb, cb, PREFETCH_CMD_CORE_GET);

	if (!hdr)
		return -EMSGSIZE;
	if (fill_core(skb, &dump->view, dump->pid_ns)) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, hdr);
	return 0;
}

int prefetch_nl_core_get_dumpit(struct sk_buff *skb,
				struct netlink_callback *cb)
{
	struct core_dump *dump = (struct core_dump *)cb->args[0];
	int err;

	/* Resumes by id: domains are never removed. */
	while (dump->next < pf_domain_count()) {
		if (!dump->waiting) {
			err = pf_request_lock(cb->extack);
			if (err)
				return err;
			cpus_read_lock();
			look_at_core(&dump->view, &pf_domains[dump->next],
				     dump->verify, dump->admin);
			cpus_read_unlock();
			pf_request_unlock();
		}
		dump->waiting = true;
		if (dump_core(skb, cb, dump))
			return skb->len ?: -EMSGSIZE;
		drop_core(&dump->view);
		dump->waiting = false;
		dump->next++;
	}
	return skb->len;
}

static int fill_repaired(struct sk_buff *skb, const struct pf_registers *r)
{
	struct nlattr *nest = nla_nest_start(skb, PREFETCH_A_CORE_REPAIRED);

	if (!nest ||
	    nla_put_u32(skb, PREFETCH_A_REPAIR_DOMAIN, r->domain->id) ||
	    nla_put_u32(skb, PREFETCH_A_REPAIR_BEFORE, r->before) ||
	    nla_put_u32(skb, PREFETCH_A_REPAIR_AFTER, r->after) ||
	    pf_registers_fill(skb, r, PREFETCH_A_REPAIR_REGISTER))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static size_t repaired_size(void)
{
	size_t reg = nla_total_size(0) + 2 * nla_total_size(sizeof(u32)) +
		     3 * nla_total_size_64bit(sizeof(u64));

	return nla_total_size(0) + 3 * nla_total_size(sizeof(u32)) +
	       PF_MAX_REGS * reg;
}

/* The request mutex is held. */
static int repair(struct sk_buff *msg, u32 first, u32 last)
{
	struct pf_registers r;
	u32 id;
	int cpu;

	cpus_read_lock();
	for (id = first; id < last; id++) {
		memset(&r, 0, sizeof(r));
		r.domain = &pf_domains[id];
		cpu = pf_domain_cpu(r.domain);
		if (cpu < 0 ||
		    smp_call_function_single(cpu, repair_fn, &r, 1))
			continue;
		if (r.repaired && fill_repaired(msg, &r))
			WARN_ON_ONCE(1);
	}
	cpus_read_unlock();
	return 0;
}

int prefetch_nl_core_repair_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *attr = info->attrs[PREFETCH_A_CORE_DOMAIN];
	u32 first = 0, last = pf_domain_count();
	struct pf_domain *d;
	struct sk_buff *msg;
	void *hdr;
	int err;

	if (!pf_is_admin(skb)) {
		NL_SET_ERR_MSG(info->extack, "repair needs CAP_SYS_ADMIN");
		return -EPERM;
	}
	err = pf_check_attrs(info->nlhdr, info->extack);
	if (err)
		return err;
	if (attr) {
		d = find_domain(attr, info->extack);
		if (!d)
			return -ENOENT;
		first = d->id;
		last = first + 1;
	}
	msg = pf_reply_new(info, (last - first) * repaired_size(), &hdr);
	if (!msg)
		return -ENOMEM;
	err = pf_request_lock(info->extack);
	if (err) {
		nlmsg_free(msg);
		return err;
	}
	repair(msg, first, last);
	pf_request_unlock();
	return pf_reply_send(msg, hdr, info);
}
