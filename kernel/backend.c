// SPDX-License-Identifier: GPL-2.0-only
/*
 * Access to the registers of the domain that the calling CPU belongs to.
 */
#define pr_fmt(fmt) "prefetch: " fmt

#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/string.h>
#include <asm/cpufeature.h>

#include "backend.h"
#include "compat/compat.h"
#include "domain.h"

u32 pf_backend;

/**
 * pf_backend_choose() - decide on the backend, at load
 * @name: what the module parameter says
 * @trust_hypervisor: use registers even under a hypervisor
 *
 * Return: 0, or a negative errno after a line that says why.
 */
int pf_backend_choose(const char *name, bool trust_hypervisor)
{
	if (sysfs_streq(name, "soft")) {
		pf_backend = PREFETCH_BACKEND_SOFT;
		return 0;
	}
	if (!sysfs_streq(name, "msr") && !sysfs_streq(name, "auto")) {
		pr_err("unknown backend '%s', expected auto, msr or soft\n",
		       name);
		return -EINVAL;
	}
	pf_backend = PREFETCH_BACKEND_MSR;
	if (boot_cpu_has(X86_FEATURE_HYPERVISOR) && !trust_hypervisor) {
		pr_err("this is a virtual machine: its hypervisor can accept register writes and ignore them. Load with trust_hypervisor=1 if it passes the register through, or with backend=soft to try without effect\n");
		return -EOPNOTSUPP;
	}
	return 0;
}

/**
 * pf_register_read() - read a register of the domain of this CPU
 * @d: the domain
 * @reg: index of the register in the layout
 * @value: what was read
 *
 * Context: on a CPU of @d, migration off.
 * Return: 0, or a negative errno if the read faults.
 */
int pf_register_read(struct pf_domain *d, unsigned int reg, u64 *value)
{
	if (pf_backend == PREFETCH_BACKEND_SOFT) {
		*value = READ_ONCE(d->soft[reg]);
		return 0;
	}
	return rdmsrq_safe(d->layout->regs[reg], value);
}

/**
 * pf_register_write() - write a register of the domain of this CPU
 * @d: the domain
 * @reg: index of the register in the layout
 * @value: the value
 *
 * Context: on a CPU of @d, migration off.
 * Return: 0, or a negative errno if the write faults.
 */
int pf_register_write(struct pf_domain *d, unsigned int reg, u64 value)
{
	if (pf_backend == PREFETCH_BACKEND_SOFT) {
		WRITE_ONCE(d->soft[reg], value);
		return 0;
	}
	return wrmsrq_safe(d->layout->regs[reg], value);
}

static int fail(struct pf_fault *fault, u32 kind, unsigned int reg, u64 bits)
{
	fault->kind = kind;
	fault->reg = reg;
	fault->bits = bits;
	return -EIO;
}

static int toggle(struct pf_domain *d, unsigned int reg, u64 value,
		  struct pf_fault *fault)
{
	const struct pf_layout *layout = d->layout;
	u64 toggled = value ^ pf_layout_bits(layout, reg);
	u64 back;

	/* The other fields keep still only with these set. */
	if (reg == layout->steer_reg)
		toggled |= layout->steer_bits;
	if (pf_register_write(d, reg, toggled))
		return fail(fault, PREFETCH_FAULT_WRITE, reg, 0);
	if (pf_register_read(d, reg, &back))
		return fail(fault, PREFETCH_FAULT_READ_BACK, reg, 0);
	if (back == toggled)
		return 0;
	return fail(fault, back == value ? PREFETCH_FAULT_IGNORED :
		    PREFETCH_FAULT_STUCK, reg, back ^ toggled);
}

static int restore(struct pf_domain *d, unsigned int reg, const u64 *values,
		   struct pf_fault *fault)
{
	u64 own = pf_layout_volatile(d->layout, reg,
				     values[d->layout->steer_reg]);
	u64 back = values[reg];

	if (!pf_register_write(d, reg, values[reg]) &&
	    !pf_register_read(d, reg, &back) && !((back ^ values[reg]) & ~own))
		return 0;
	return fail(fault, PREFETCH_FAULT_RESTORE, reg,
		    (back ^ values[reg]) & ~own);
}

/**
 * pf_register_check() - see whether writes to the registers stick
 * @d: the domain
 * @values: what the registers hold, and hold again afterwards
 * @fault: on failure, what is wrong with the first register that failed
 *
 * Each bit that the layout claims is changed, read back and restored,
 * whatever came of it.
 *
 * Context: on a CPU of @d, interrupts off.
 * Return: 0 or a negative errno.
 */
int pf_register_check(struct pf_domain *d, const u64 *values,
		      struct pf_fault *fault)
{
	unsigned int n = d->layout->nr_regs;
	unsigned int i, tried;
	struct pf_fault last;
	int err = 0;

	/* The register with the steering bits is the first, and the last. */
	for (tried = 0; tried < n && !err; tried++)
		err = toggle(d, tried, values[tried], fault);
	for (i = tried; i-- > 0;) {
		if (restore(d, i, values, &last) && !err) {
			*fault = last;
			err = -EIO;
		}
	}
	return err;
}

/**
 * pf_register_probe() - read the baseline, and see whether writes stick
 * @d: the domain; its baseline is filled in
 * @fault: on failure, what is wrong
 *
 * Context: on a CPU of @d, interrupts off.
 * Return: 0 or a negative errno.
 */
int pf_register_probe(struct pf_domain *d, struct pf_fault *fault)
{
	unsigned int reg;

	for (reg = 0; reg < d->layout->nr_regs; reg++) {
		if (pf_register_read(d, reg, &d->baseline[reg]))
			return fail(fault, PREFETCH_FAULT_ABSENT, reg, 0);
	}
	return pf_register_check(d, d->baseline, fault);
}

static const char *fault_words(u32 kind)
{
	switch (kind) {
	case PREFETCH_FAULT_ABSENT:
		return "the register is not there: reading it faults";
	case PREFETCH_FAULT_WRITE:
		return "writing the register faults";
	case PREFETCH_FAULT_READ_BACK:
		return "reading the register faults once it was written";
	case PREFETCH_FAULT_IGNORED:
		if (boot_cpu_has(X86_FEATURE_HYPERVISOR))
			return "the hypervisor ignores writes to the register";
		break;
	case PREFETCH_FAULT_STUCK:
		return "some bits of the register cannot be changed";
	default:
		return "the register did not take its own value back";
	}
	return "writes have no effect: firmware locked it, or a hidden hypervisor ignores them";
}

/**
 * pf_fault_text() - say for people what is wrong with a core
 * @d: the domain
 * @fault: what is wrong
 * @text: where the words go; which bits it was are named
 * @size: of @text
 */
void pf_fault_text(const struct pf_domain *d, const struct pf_fault *fault,
		   char *text, size_t size)
{
	u32 owners = pf_layout_owners(d->layout, fault->reg, fault->bits);
	size_t used = scnprintf(text, size, "%s", fault_words(fault->kind));
	const char *before = " (";
	unsigned int id;

	if (!fault->bits || fault->kind == PREFETCH_FAULT_IGNORED)
		return;
	used += scnprintf(text + used, size - used, ": 0x%llx", fault->bits);
	for (id = 0; id < PF_NR_PREFETCHERS; id++) {
		if (!(owners & BIT(id)))
			continue;
		used += scnprintf(text + used, size - used, "%s%s", before,
				  pf_prefetchers[id].name);
		before = ", ";
	}
	if (owners)
		scnprintf(text + used, size - used, ")");
}
