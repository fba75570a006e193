// SPDX-License-Identifier: GPL-2.0-only
/*
 * CPUs that come and go, and the machine that sleeps and goes down.
 *
 * The hotplug callbacks run on the CPU itself, one at a time under the
 * hotplug lock; at load they run on each CPU that is online, in order. They
 * take only the lock of a domain, never the request mutex.
 */
#define pr_fmt(fmt) "prefetch: " fmt

#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/reboot.h>
#include <linux/slab.h>
#include <linux/suspend.h>
#include <linux/topology.h>
#include <asm/processor.h>

#include "backend.h"
#include "compat/compat.h"
#include "cpus.h"
#include "domain.h"
#include "event.h"

static int hotplug_state;

#define CPUID_CACHES 0x4
#define CPUID_TOPOLOGY 0xb
#define CPUID_HYBRID 0x1a
#define CPUID_AMD_EXTENDED 0x80000021
#define AMD_PREFETCH_MSR BIT(13)
#define CPUID_AMD_TOPOLOGY 0x8000001e
#define CPUID_HTT BIT(28)

/* The CPU does not say which others are on its L2 cache. */
#define NO_L2_ID (~0U)

/* Kind of core and native model; 0 where the CPU has no leaf for it. */
static u32 read_hybrid_id(void)
{
	u32 eax, ebx, ecx, edx;

	if (cpuid_eax(0) < CPUID_HYBRID)
		return 0;
	cpuid_count(CPUID_HYBRID, 0, &eax, &ebx, &ecx, &edx);
	return eax;
}

static void read_cpu_id(struct pf_cpu_id *id)
{
	u32 eax, ebx, ecx, edx;

	memset(id, 0, sizeof(*id));
	cpuid(0, &eax, &ebx, &ecx, &edx);
	memcpy(id->vendor, &ebx, 4);
	memcpy(id->vendor + 4, &edx, 4);
	memcpy(id->vendor + 8, &ecx, 4);

	eax = cpuid_eax(1);
	id->stepping = eax & 0xf;
	id->model = (eax >> 4) & 0xf;
	id->family = (eax >> 8) & 0xf;
	if (id->family >= 6)
		id->model += ((eax >> 16) & 0xf) << 4;
	if (id->family == 0xf)
		id->family += (eax >> 20) & 0xff;

	eax = read_hybrid_id();
	id->core_type = eax >> 24;
	id->native_model = eax & 0xffffff;
	if (cpuid_eax(0x80000000) >= CPUID_AMD_EXTENDED)
		id->prefetch_msr = cpuid_eax(CPUID_AMD_EXTENDED) &
				   AMD_PREFETCH_MSR;
}

/*
 * How many low bits of the APIC id tell the hyperthreads of a core apart, where
 * there is no leaf for it: an old CPU, or a hypervisor. Not from the kernel's
 * maps: they lack CPUs that are off, and so would change.
 */
static u32 guess_smt_bits(void)
{
	u32 eax, ebx, ecx, edx, ids;

	if (cpuid_eax(0x80000000) >= CPUID_AMD_TOPOLOGY)
		return order_base_2(((cpuid_ebx(CPUID_AMD_TOPOLOGY) >> 8) &
				     0xff) + 1);
	cpuid(1, &eax, &ebx, &ecx, &edx);
	if (!(edx & CPUID_HTT) || cpuid_eax(0) < CPUID_CACHES)
		return 0;
	/* Ids that a package has, by ids that its cores have. */
	ids = order_base_2((ebx >> 16) & 0xff);
	cpuid_count(CPUID_CACHES, 0, &eax, &ebx, &ecx, &edx);
	if (!(eax & 0x1f))
		return 0;
	return ids - min_t(u32, ids, order_base_2((eax >> 26) + 1));
}

/*
 * The APIC id, and how many of its low bits tell the hyperthreads of a core
 * apart.
 */
static u32 read_apic_id(u32 *smt_bits)
{
	u32 eax, ebx, ecx, edx;

	if (cpuid_eax(0) >= CPUID_TOPOLOGY) {
		cpuid_count(CPUID_TOPOLOGY, 0, &eax, &ebx, &ecx, &edx);
		if (ebx & 0xffff) {
			*smt_bits = eax & 0x1f;
			return edx;
		}
	}
	*smt_bits = guess_smt_bits();
	return cpuid_ebx(1) >> 24;
}

/*
 * A number that the CPUs on one L2 cache have in common: the APIC id without
 * the bits that tell them apart. The kernel does the same, but does not
 * export what it found on all versions.
 */
static u32 read_l2_id(u32 apic_id)
{
	u32 i, eax, ebx, ecx, edx;

	if (cpuid_eax(0) < CPUID_CACHES)
		return NO_L2_ID;
	for (i = 0; i < 16; i++) {
		cpuid_count(CPUID_CACHES, i, &eax, &ebx, &ecx, &edx);
		if (!(eax & 0x1f))
			break;
		if (((eax >> 5) & 0x7) == 2)
			return apic_id >>
			       order_base_2(((eax >> 14) & 0xfff) + 1);
	}
	return NO_L2_ID;
}

static const struct pf_layout *classify(unsigned int cpu)
{
	static struct pf_cpu_id said;
	const struct pf_row *row;
	struct pf_cpu_id id;

	read_cpu_id(&id);
	row = pf_row_find(&id);
	if (row && row->layout)
		return row->layout;
	/* Without effect, one layout is as good as another. */
	if (pf_backend == PREFETCH_BACKEND_SOFT)
		return &pf_layout_classic;
	pf_supported_all = 0;
	/* Once for each kind; callbacks come one at a time. */
	if (!memcmp(&id, &said, sizeof(id)))
		return NULL;
	said = id;
	pr_warn("CPU %u: %s (%s family 0x%x model 0x%x, core type 0x%x id %u)%s%s\n",
		cpu, row ? "left alone on purpose" : "undocumented on this CPU",
		id.vendor, id.family, id.model, id.core_type, id.native_model,
		row ? ": " : "", row ? row->source : "");
	return NULL;
}

static bool same_domain(const struct pf_cpu *a, const struct pf_cpu *b,
			const struct pf_layout *layout)
{
	/* The kernel's maps forget CPUs that are offline; these do not. */
	if (layout->shared == PF_SHARED_MODULE)
		return a->l2_id == b->l2_id;
	return a->core_id == b->core_id;
}

/* The domain that a new CPU belongs to, if one of its CPUs was seen. */
static struct pf_domain *find_domain(const struct pf_cpu *c,
				     const struct pf_layout *layout)
{
	struct pf_domain *d;
	unsigned int i;

	pf_for_each_domain(d) {
		if (d->layout != layout)
			continue;
		for (i = 0; i < d->nr_members; i++) {
			if (same_domain(c, d->members[i], layout))
				return d;
		}
	}
	return NULL;
}

static bool any_live(const struct pf_domain *d)
{
	unsigned int i;

	for (i = 0; i < d->nr_members; i++) {
		if (d->members[i]->live)
			return true;
	}
	return false;
}

static struct pf_domain *domain_add(struct pf_cpu *c,
				    const struct pf_layout *layout)
{
	unsigned int n = pf_nr_domains;
	struct pf_domain *d = &pf_domains[n];
	unsigned long flags;
	char why[320];

	raw_spin_lock_init(&d->lock);
	d->id = n;
	d->layout = layout;
	d->supported = pf_layout_supported(layout);
	d->hybrid_id = read_hybrid_id();

	local_irq_save(flags);
	d->usable = !pf_register_probe(d, &d->fault);
	local_irq_restore(flags);
	d->failed = !d->usable;
	if (d->usable) {
		pf_supported_any |= d->supported;
		pf_supported_all &= d->supported;
	} else {
		pf_supported_all = 0;
		pf_fault_text(d, &d->fault, why, sizeof(why));
		pr_warn("core %u (CPU %u), register 0x%x: %s\n", n, c->cpu,
			layout->regs[d->fault.reg], why);
	}

	d->complex = layout->nr_regs != 1 || layout->steer_bits ||
		     pf_backend != PREFETCH_BACKEND_MSR;
	memcpy(d->programmed, d->baseline, sizeof(d->programmed));
	d->baseline_mask = pf_layout_mask(layout, d->baseline);
	d->effective = d->baseline_mask;
	pf_domain_forget(d);
	d->quick.msr = layout->regs[0];
	pf_domain_resolve_default(d);

	d->members[0] = c;
	d->nr_members = 1;
	c->domain = d;
	/* Pairs with pf_domain_count(). */
	smp_store_release(&pf_nr_domains, n + 1);
	return d;
}

static int domain_join(struct pf_domain *d, struct pf_cpu *c)
{
	unsigned long flags;

	if (d->nr_members == PF_MAX_MEMBERS) {
		pf_supported_all = 0;
		pr_warn("CPU %u: more than %u CPUs share the register of core %u; left alone\n",
			c->cpu, PF_MAX_MEMBERS, d->id);
		return -E2BIG;
	}
	raw_spin_lock_irqsave(&d->lock, flags);
	d->members[d->nr_members] = c;
	/* Pairs with pf_domain_members(). */
	smp_store_release(&d->nr_members, d->nr_members + 1);
	raw_spin_unlock_irqrestore(&d->lock, flags);
	c->domain = d;
	return 0;
}

static int prefetch_cpu_online(unsigned int cpu)
{
	struct pf_cpu *c = per_cpu_ptr(&pf_cpus, cpu);
	const struct pf_layout *layout;
	u32 apic_id, smt_bits;
	struct pf_domain *d;
	unsigned long flags;

	if (!c->domain) {
		layout = classify(cpu);
		if (!layout)
			return 0;
		apic_id = read_apic_id(&smt_bits);
		c->core_id = apic_id >> smt_bits;
		c->l2_id = read_l2_id(apic_id);
		if (layout->shared == PF_SHARED_MODULE &&
		    c->l2_id == NO_L2_ID) {
			/* Taken for its own, what others use would be lost. */
			pf_supported_all = 0;
			pr_warn("CPU %u: does not say which CPUs share its L2 cache, and so its registers; left alone\n",
				cpu);
			return 0;
		}
		d = find_domain(c, layout);
		if (!d)
			domain_add(c, layout);
		else if (domain_join(d, c))
			return 0;
	}

	d = c->domain;
	local_irq_save(flags);
	raw_spin_lock(&d->lock);
	/* While all its CPUs were off, the registers may have been reset. */
	if (!any_live(d) && d->writes)
		pf_domain_write_all(d, d->effective, PREFETCH_CAUSE_HOTPLUG);
	WRITE_ONCE(c->live, true);
	raw_spin_unlock(&d->lock);
	pf_refresh_here(PREFETCH_CAUSE_HOTPLUG);
	local_irq_restore(flags);
	return 0;
}

/* By a look at the registers: somebody else may have written them since. */
static bool is_at_baseline(struct pf_domain *d)
{
	u64 value, own;
	unsigned int i;

	for (i = 0; i < d->layout->nr_regs; i++) {
		own = pf_layout_volatile(d->layout, i,
					 d->baseline[d->layout->steer_reg]);
		if (pf_register_read(d, i, &value) ||
		    ((value ^ d->baseline[i]) & ~own))
			return false;
	}
	return true;
}

/* What firmware left; also where only part of the registers was written. */
static void bring_back(struct pf_domain *d, enum prefetch_cause cause)
{
	u32 old = d->effective;

	d->still = false;
	if (!d->writes || is_at_baseline(d))
		return;
	if (pf_domain_write_all(d, d->baseline_mask, cause) &&
	    d->effective != old)
		pf_event_core(d, old, d->effective, current, cause);
}

static int prefetch_cpu_offline(unsigned int cpu)
{
	struct pf_cpu *c = per_cpu_ptr(&pf_cpus, cpu);
	struct pf_domain *d = c->domain;
	unsigned long flags;

	if (!d)
		return 0;
	raw_spin_lock_irqsave(&d->lock, flags);
	WRITE_ONCE(c->live, false);
	memset(c->cache.task, 0, sizeof(c->cache.task));
	c->wish = PF_WISH_NONE;
	if (any_live(d)) {
		pf_domain_compute(d, current, PREFETCH_CAUSE_HOTPLUG);
	} else {
		d->held = false;
		bring_back(d, PREFETCH_CAUSE_HOTPLUG);
	}
	raw_spin_unlock_irqrestore(&d->lock, flags);
	return 0;
}

static void stop_fn(void *unused)
{
	struct pf_cpu *c = this_cpu_ptr(&pf_cpus);
	struct pf_domain *d = c->domain;

	if (!d)
		return;
	raw_spin_lock(&d->lock);
	bring_back(d, PREFETCH_CAUSE_SHUTDOWN);
	d->stopped = true;
	raw_spin_unlock(&d->lock);
}

/* Else the next kernel would take our mask for what firmware left. */
static int reboot_notify(struct notifier_block *nb, unsigned long action,
			 void *data)
{
	on_each_cpu(stop_fn, NULL, 1);
	return NOTIFY_DONE;
}

static struct notifier_block reboot_notifier = {
	.notifier_call = reboot_notify,
};

/*
 * The boot CPU, before interrupts are back. The others come back through
 * hotplug.
 */
static void resume_here(void)
{
	struct pf_domain *d = this_cpu_ptr(&pf_cpus)->domain;

	if (!d)
		return;
	raw_spin_lock(&d->lock);
	if (d->writes)
		pf_domain_write_all(d, d->effective, PREFETCH_CAUSE_RESUME);
	raw_spin_unlock(&d->lock);
}

PF_DEFINE_SYSCORE(pf_syscore, resume_here);

static void awake_fn(void *unused)
{
	struct pf_domain *d = this_cpu_ptr(&pf_cpus)->domain;

	if (!d)
		return;
	raw_spin_lock(&d->lock);
	if (d->writes && !d->failed && d->effective != d->baseline_mask &&
	    is_at_baseline(d))
		pf_domain_write_all(d, d->effective, PREFETCH_CAUSE_RESUME);
	raw_spin_unlock(&d->lock);
}

/*
 * A sleep in which no CPU went offline (suspend to idle) leaves the registers
 * to the firmware. What it put there is overwritten, what somebody else did
 * is left for verify.
 */
static int pm_notify(struct notifier_block *nb, unsigned long action,
		     void *data)
{
	if (action == PM_POST_SUSPEND)
		on_each_cpu(awake_fn, NULL, 1);
	return NOTIFY_DONE;
}

static struct notifier_block pm_notifier = {
	.notifier_call = pm_notify,
};

static bool any_domain_works(void)
{
	struct pf_domain *d;

	pf_for_each_domain(d) {
		if (d->usable)
			return true;
	}
	return false;
}

/**
 * pf_cpus_init() - find the domains, read and probe their registers
 *
 * Return: 0, or a negative errno after a line that says why.
 */
int pf_cpus_init(void)
{
	int cpu, err;

	pf_domains = kcalloc(nr_cpu_ids, sizeof(*pf_domains), GFP_KERNEL);
	if (!pf_domains)
		return -ENOMEM;
	for_each_possible_cpu(cpu) {
		struct pf_cpu *c = per_cpu_ptr(&pf_cpus, cpu);

		c->cpu = cpu;
		c->wish = PF_WISH_NONE;
		INIT_CSD(&c->csd, pf_refresh_kicked, NULL);
	}

	err = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "prefetch:online",
				prefetch_cpu_online, prefetch_cpu_offline);
	if (err < 0)
		goto free;
	hotplug_state = err;
	if (!any_domain_works()) {
		pr_err("no core of this machine has a prefetcher register that can be used\n");
		cpuhp_remove_state(hotplug_state);
		err = -EOPNOTSUPP;
		goto free;
	}
	register_reboot_notifier(&reboot_notifier);
	pf_syscore_register(&pf_syscore);
	register_pm_notifier(&pm_notifier);
	return 0;
free:
	kfree(pf_domains);
	return err;
}

/**
 * pf_cpus_exit() - bring every register back to what firmware left
 *
 * The probes are detached and no request runs.
 */
void pf_cpus_exit(void)
{
	unregister_pm_notifier(&pm_notifier);
	pf_syscore_unregister(&pf_syscore);
	unregister_reboot_notifier(&reboot_notifier);
	cpuhp_remove_state(hotplug_state);
	kfree(pf_domains);
}
