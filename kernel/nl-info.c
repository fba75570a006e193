// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests about the machine: info-get, prefetcher-get, default-set.
 */
#include <linux/cpu.h>
#include <asm/processor.h>

#include "backend.h"
#include "domain.h"
#include "event.h"
#include "netlink.h"
#include "registers.h"
#include "setting.h"
#include "user.h"

struct totals {
	u64 writes;
	u64 refused;
	u64 foreign;
};

static void sum_up(struct totals *sum)
{
	struct pf_domain *d;

	memset(sum, 0, sizeof(*sum));
	pf_for_each_domain(d) {
		raw_spin_lock_irq(&d->lock);
		sum->writes += d->writes;
		sum->refused += d->refused;
		sum->foreign += d->foreign;
		raw_spin_unlock_irq(&d->lock);
	}
}

static int put_u64(struct sk_buff *skb, int type, u64 value)
{
	return nla_put_u64_64bit(skb, type, value, PREFETCH_A_INFO_PAD);
}

static int fill_machine(struct sk_buff *skb)
{
	const struct cpuinfo_x86 *c = &boot_cpu_data;

	return nla_put_u32(skb, PREFETCH_A_INFO_BACKEND, pf_backend) ||
	       nla_put_string(skb, PREFETCH_A_INFO_VERSION, PF_VERSION) ||
	       nla_put_string(skb, PREFETCH_A_INFO_CPU_VENDOR,
			      c->x86_vendor_id) ||
	       nla_put_u32(skb, PREFETCH_A_INFO_CPU_FAMILY, c->x86) ||
	       nla_put_u32(skb, PREFETCH_A_INFO_CPU_MODEL, c->x86_model) ||
	       nla_put_u32(skb, PREFETCH_A_INFO_CPU_STEPPING,
			   c->x86_stepping) ||
	       nla_put_u32(skb, PREFETCH_A_INFO_HYPERVISOR,
			   boot_cpu_has(X86_FEATURE_HYPERVISOR)) ||
	       nla_put_u32(skb, PREFETCH_A_INFO_DOMAINS, pf_domain_count()) ||
	       nla_put_u32(skb, PREFETCH_A_INFO_SUPPORTED,
			   READ_ONCE(pf_supported_any));
}

static int fill_state(struct sk_buff *skb, struct net *net)
{
	return nla_put_u32(skb, PREFETCH_A_INFO_DEFAULT_OFF,
			   READ_ONCE(pf_default_off)) ||
	       nla_put_u32(skb, PREFETCH_A_INFO_DEFAULT_ON,
			   READ_ONCE(pf_default_on)) ||
	       nla_put_u32(skb, PREFETCH_A_INFO_SETTINGS,
			   atomic_read(&pf_nr_settings)) ||
	       nla_put_u32(skb, PREFETCH_A_INFO_MAX_SETTINGS,
			   pf_max_settings) ||
	       nla_put_u32(skb, PREFETCH_A_INFO_SETTING_SIZE,
			   sizeof(struct pf_setting)) ||
	       nla_put_u32(skb, PREFETCH_A_INFO_ATTACHED,
			   READ_ONCE(pf_attached)) ||
	       nla_put_u32(skb, PREFETCH_A_INFO_UNPRIVILEGED,
			   READ_ONCE(pf_unprivileged)) ||
	       nla_put_u32(skb, PREFETCH_A_INFO_EVENTS_HERE,
			   net_eq(net, &init_net)) ||
	       nla_put_u32(skb, PREFETCH_A_INFO_EVENT_INTERVAL,
			   READ_ONCE(pf_event_interval_ms)) ||
	       nla_put_u32(skb, PREFETCH_A_INFO_USER_SETTINGS,
			   pf_user_settings(pf_user_of(current_cred()))) ||
	       nla_put_u32(skb, PREFETCH_A_INFO_MAX_USER_SETTINGS,
			   READ_ONCE(pf_max_settings_per_user));
}

static int fill_counters(struct sk_buff *skb)
{
	struct totals sum;

	sum_up(&sum);
	return put_u64(skb, PREFETCH_A_INFO_REGISTER_WRITES, sum.writes) ||
	       put_u64(skb, PREFETCH_A_INFO_REFUSED_WRITES, sum.refused) ||
	       put_u64(skb, PREFETCH_A_INFO_FOREIGN_WRITES, sum.foreign) ||
	       put_u64(skb, PREFETCH_A_INFO_DROPPED_INHERITS,
		       atomic64_read(&pf_dropped_inherits)) ||
	       put_u64(skb, PREFETCH_A_INFO_CORE_EVENTS_SENT,
		       atomic64_read(&pf_core_stats.sent)) ||
	       put_u64(skb, PREFETCH_A_INFO_CORE_EVENTS_LOST,
		       atomic64_read(&pf_core_stats.lost)) ||
	       nla_put_u32(skb, PREFETCH_A_INFO_CORE_SEQ,
			   pf_event_seq(&pf_core_stats)) ||
	       put_u64(skb, PREFETCH_A_INFO_CORE_TOTAL,
		       pf_event_total(&pf_core_stats)) ||
	       put_u64(skb, PREFETCH_A_INFO_SETTING_EVENTS_SENT,
		       atomic64_read(&pf_setting_stats.sent)) ||
	       put_u64(skb, PREFETCH_A_INFO_SETTING_EVENTS_LOST,
		       atomic64_read(&pf_setting_stats.lost)) ||
	       nla_put_u32(skb, PREFETCH_A_INFO_SETTING_SEQ,
			   pf_event_seq(&pf_setting_stats)) ||
	       put_u64(skb, PREFETCH_A_INFO_SETTING_TOTAL,
		       pf_event_total(&pf_setting_stats));
}

int prefetch_nl_info_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct sk_buff *msg;
	void *hdr;
	int err;

	err = pf_check_no_attrs(info->nlhdr, info->extack);
	if (err)
		return err;
	msg = pf_reply_new(info, NLMSG_GOODSIZE, &hdr);
	if (!msg)
		return -ENOMEM;
	if (fill_machine(msg) || fill_state(msg, genl_info_net(info)) ||
	    fill_counters(msg)) {
		nlmsg_free(msg);
		return -EMSGSIZE;
	}
	return pf_reply_send(msg, hdr, info);
}

static const struct pf_field *find_field(const struct pf_layout *layout, u8 id)
{
	unsigned int i;

	for (i = 0; i < layout->nr_fields; i++) {
		if (layout->fields[i].id == id)
			return &layout->fields[i];
	}
	return NULL;
}

/* One kind of core, counted over the domains from @first on. */
static int fill_location(struct sk_buff *skb, u8 id, struct pf_domain *first)
{
	const struct pf_layout *layout = first->layout;
	const struct pf_field *f = find_field(layout, id);
	u32 domains = 0, off = 0;
	struct pf_domain *d;
	struct nlattr *nest;

	if (!f)
		return 0;
	pf_for_each_domain(d) {
		if (d->layout != layout)
			continue;
		domains++;
		off += !!(d->baseline_mask & BIT(id));
	}
	nest = nla_nest_start(skb, PREFETCH_A_PREFETCHER_LOCATION);
	if (!nest ||
	    nla_put_u32(skb, PREFETCH_A_LOCATION_CORE_TYPE,
			layout->core_type) ||
	    nla_put_u32(skb, PREFETCH_A_LOCATION_REGISTER,
			layout->regs[f->reg]) ||
	    nla_put_u32(skb, PREFETCH_A_LOCATION_SHIFT, f->shift) ||
	    nla_put_u32(skb, PREFETCH_A_LOCATION_WIDTH, f->width) ||
	    nla_put_u32(skb, PREFETCH_A_LOCATION_OFF_VALUE, f->off) ||
	    nla_put_u32(skb, PREFETCH_A_LOCATION_DOMAINS, domains) ||
	    nla_put_u32(skb, PREFETCH_A_LOCATION_BASELINE_OFF, off))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static bool seen_before(const struct pf_domain *d)
{
	const struct pf_domain *e;

	for (e = pf_domains; e < d; e++) {
		if (e->layout == d->layout)
			return true;
	}
	return false;
}

static int fill_prefetcher(struct sk_buff *skb, struct netlink_callback *cb,
			   u8 id)
{
	const struct pf_prefetcher *p = &pf_prefetchers[id];
	struct pf_domain *d;
	void *hdr;

	hdr = pf_dump_put(skb, cb, PREFETCH_CMD_PREFETCHER_GET);
	if (!hdr)
		return -EMSGSIZE;
	if (nla_put_u32(skb, PREFETCH_A_PREFETCHER_ID, id) ||
	    nla_put_string(skb, PREFETCH_A_PREFETCHER_NAME, p->name) ||
	    nla_put_string(skb, PREFETCH_A_PREFETCHER_DESCRIPTION,
			   p->description))
		goto cancel;
	pf_for_each_domain(d) {
		if (!seen_before(d) && fill_location(skb, id, d))
			goto cancel;
	}
	genlmsg_end(skb, hdr);
	return 0;
cancel:
	genlmsg_cancel(skb, hdr);
	return -EMSGSIZE;
}

int prefetch_nl_prefetcher_get_start(struct netlink_callback *cb)
{
	cb->prev_seq = 1;
	cb->seq = 1;
	cb->args[0] = 0;
	return pf_check_no_attrs(cb->nlh, cb->extack);
}

int prefetch_nl_prefetcher_get_dumpit(struct sk_buff *skb,
				      struct netlink_callback *cb)
{
	u32 supported = READ_ONCE(pf_supported_any);
	long id;

	/* Resumes by id. */
	for (id = cb->args[0]; id < PF_NR_PREFETCHERS; id++) {
		if ((supported & BIT(id)) && fill_prefetcher(skb, cb, id))
			break;
	}
	cb->args[0] = id;
	if (id < PF_NR_PREFETCHERS && !skb->len)
		return -EMSGSIZE;
	return skb->len;
}

/* The machine default changed: each domain resolves it again. */
static void default_changed(void)
{
	static struct cpumask cpus; /* request mutex */
	struct pf_domain *d;
	int cpu;

	cpumask_clear(&cpus);
	pf_for_each_domain(d) {
		raw_spin_lock_irq(&d->lock);
		pf_domain_resolve_default(d);
		raw_spin_unlock_irq(&d->lock);
		cpu = pf_domain_cpu(d);
		if (cpu >= 0)
			cpumask_set_cpu(cpu, &cpus);
	}
	pf_refresh_cpus(&cpus, PREFETCH_CAUSE_DEFAULT);
}

static void default_commit(u32 off, u32 on, u32 named)
{
	u32 new_off = (pf_default_off & ~named) | off;
	u32 new_on = (pf_default_on & ~named) | on;

	if (new_off == pf_default_off && new_on == pf_default_on)
		return;
	WRITE_ONCE(pf_default_off, new_off);
	WRITE_ONCE(pf_default_on, new_on);
	/* A CPU that comes now reads the new one, or is in the sweep. */
	cpus_read_lock();
	default_changed();
	cpus_read_unlock();
}

int prefetch_nl_default_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr **attrs = info->attrs;
	struct sk_buff *msg;
	u32 off, on, clear;
	void *hdr;
	int err;

	if (!pf_is_admin(skb)) {
		NL_SET_ERR_MSG(info->extack,
			       "the machine default needs CAP_SYS_ADMIN");
		return -EPERM;
	}
	err = pf_check_attrs(info->nlhdr, info->extack);
	if (err)
		return err;
	if (!attrs[PREFETCH_A_DEFAULT_ON] && !attrs[PREFETCH_A_DEFAULT_CLEAR] &&
	    GENL_REQ_ATTR_CHECK(info, PREFETCH_A_DEFAULT_OFF)) {
		NL_SET_ERR_MSG(info->extack, "no off, on or clear mask");
		return -EINVAL;
	}
	err = pf_check_masks(info->extack, attrs[PREFETCH_A_DEFAULT_OFF],
			     attrs[PREFETCH_A_DEFAULT_ON],
			     attrs[PREFETCH_A_DEFAULT_CLEAR]);
	if (err)
		return err;
	off = pf_attr_u32(attrs, PREFETCH_A_DEFAULT_OFF);
	on = pf_attr_u32(attrs, PREFETCH_A_DEFAULT_ON);
	clear = pf_attr_u32(attrs, PREFETCH_A_DEFAULT_CLEAR);

	msg = pf_reply_new(info, 3 * nla_total_size(sizeof(u32)), &hdr);
	if (!msg)
		return -ENOMEM;
	err = pf_request_lock(info->extack);
	if (err) {
		nlmsg_free(msg);
		return err;
	}
	default_commit(off, on, off | on | clear);
	if (nla_put_u32(msg, PREFETCH_A_DEFAULT_OFF, pf_default_off) ||
	    nla_put_u32(msg, PREFETCH_A_DEFAULT_ON, pf_default_on) ||
	    nla_put_u32(msg, PREFETCH_A_DEFAULT_PARTIAL,
			pf_partial(off | on)))
		WARN_ON_ONCE(1);
	pf_request_unlock();
	return pf_reply_send(msg, hdr, info);
}
