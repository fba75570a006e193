// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the registers of a core hold: read, compared, written again, told.
 */
#include "backend.h"
#include "event.h"
#include "netlink.h"
#include "nl-register.h"

static void note_foreign(struct pf_registers *r)
{
	struct pf_domain *d = r->domain;

	if (!r->differs) {
		d->told = false;
		return;
	}
	/* The same value is told once, however often it is looked at. */
	if (d->told && !memcmp(r->value, d->seen, sizeof(r->value)))
		return;
	memcpy(d->seen, r->value, sizeof(r->value));
	d->told = true;
	d->foreign++;
	pf_event_core(d, d->effective, r->before, current,
		      PREFETCH_CAUSE_FOREIGN);
}

/* Bits that we did not write so, nor may the core change by itself. */
static u64 foreign_bits(const struct pf_domain *d, unsigned int reg, u64 value)
{
	u64 own = pf_layout_volatile(d->layout, reg,
				     d->programmed[d->layout->steer_reg]);

	return (value ^ d->programmed[reg]) & ~own;
}

/**
 * pf_registers_read() - read the registers of a core
 * @r: says whose; the rest is filled in
 *
 * A value of somebody else is counted and told.
 *
 * Context: on a CPU of the domain, interrupts off, the domain locked.
 */
void pf_registers_read(struct pf_registers *r)
{
	struct pf_domain *d = r->domain;
	unsigned int i;

	for (i = 0; i < d->layout->nr_regs; i++) {
		r->programmed[i] = d->programmed[i];
		r->error[i] = -pf_register_read(d, i, &r->value[i]);
		if (r->error[i])
			r->value[i] = d->programmed[i];
		else if (foreign_bits(d, i, r->value[i]))
			r->differs = true;
	}
	r->before = pf_layout_mask(d->layout, r->value);
	r->after = r->before;
	note_foreign(r);
}

/**
 * pf_registers_repair() - write what should be there, and see whether it stays
 * @r: as read just now
 *
 * Context: on a CPU of the domain, interrupts off, the domain locked.
 */
void pf_registers_repair(struct pf_registers *r)
{
	struct pf_domain *d = r->domain;
	u64 value[PF_MAX_REGS] = {};
	unsigned int i;
	bool good;
	u32 mask;

	mask = d->failed ? pf_domain_wanted(d) : d->effective;
	good = pf_domain_write_all(d, mask, PREFETCH_CAUSE_REPAIR);
	/* Out of service: what it held may be what is wanted by chance. */
	if (good && d->failed)
		good = !pf_register_check(d, d->programmed, &d->fault);
	for (i = 0; i < d->layout->nr_regs; i++) {
		bool read = !pf_register_read(d, i, &value[i]);
		u64 bits = read ? foreign_bits(d, i, value[i]) : 0;

		if (!good || (read && !bits))
			continue;
		good = false;
		d->fault.kind = read ? PREFETCH_FAULT_RESTORE :
			PREFETCH_FAULT_READ_BACK;
		d->fault.reg = i;
		d->fault.bits = bits;
	}
	d->failed = !good;
	r->repaired = true;
	r->after = pf_layout_mask(d->layout, value);
	if (r->after != r->before)
		pf_event_core(d, r->before, r->after, current,
			      PREFETCH_CAUSE_REPAIR);
}

/* Where reading faulted at load, nothing is known from there on. */
static bool is_baseline_known(const struct pf_domain *d, unsigned int reg)
{
	return d->usable || d->fault.kind != PREFETCH_FAULT_ABSENT ||
	       reg < d->fault.reg;
}

/**
 * pf_registers_fill() - put each register into a message
 * @skb: the message
 * @r: as read
 * @type: attribute, a nest for each
 *
 * Return: 0, or -EMSGSIZE if they do not fit.
 */
int pf_registers_fill(struct sk_buff *skb, const struct pf_registers *r,
		      int type)
{
	unsigned int i;

	for (i = 0; i < r->domain->layout->nr_regs; i++) {
		struct nlattr *nest = nla_nest_start(skb, type);

		if (!nest ||
		    nla_put_u32(skb, PREFETCH_A_REGISTER_ADDRESS,
				r->domain->layout->regs[i]) ||
		    nla_put_u64_64bit(skb, PREFETCH_A_REGISTER_PROGRAMMED,
				      r->programmed[i],
				      PREFETCH_A_REGISTER_PAD))
			return -EMSGSIZE;
		if (is_baseline_known(r->domain, i) &&
		    nla_put_u64_64bit(skb, PREFETCH_A_REGISTER_BASELINE,
				      r->domain->baseline[i],
				      PREFETCH_A_REGISTER_PAD))
			return -EMSGSIZE;
		if (r->error[i]) {
			if (nla_put_u32(skb, PREFETCH_A_REGISTER_ERROR,
					r->error[i]))
				return -EMSGSIZE;
		} else if (nla_put_u64_64bit(skb, PREFETCH_A_REGISTER_VALUE,
					     r->value[i],
					     PREFETCH_A_REGISTER_PAD)) {
			return -EMSGSIZE;
		}
		nla_nest_end(skb, nest);
	}
	return 0;
}
