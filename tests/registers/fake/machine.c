// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A machine in memory. See machine.h and fake-kernel.h.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#include "machine.h"
#include "domain.h"
#include "event.h"

unsigned int fake_cpu;
unsigned int nr_cpu_ids;
struct fake_processor fake_processors[FAKE_MAX_CPUS];
struct fake_bank fake_banks[FAKE_MAX_BANKS];
bool fake_hypervisor;
struct fake_event fake_event;
struct fake_write fake_written[64];
unsigned int fake_nr_written;
char fake_log[4096];
unsigned int fake_log_lines;

static struct task_struct idle_task = { .idle = true };
static struct task_struct tasks[FAKE_MAX_CPUS];
struct task_struct *fake_current[FAKE_MAX_CPUS];

static int (*online_fn)(unsigned int cpu);
static int (*offline_fn)(unsigned int cpu);
static struct notifier_block *reboot_block;
static struct notifier_block *pm_block;
static struct syscore *syscore_ops;

/* A new machine, and a module that was not loaded yet. */
void fake_reset(unsigned int cpus)
{
	unsigned int cpu;

	memset(fake_processors, 0, sizeof(fake_processors));
	memset(fake_banks, 0, sizeof(fake_banks));
	memset(&fake_event, 0, sizeof(fake_event));
	memset(fake_log, 0, sizeof(fake_log));
	memset(tasks, 0, sizeof(tasks));
	fake_log_lines = 0;
	fake_nr_written = 0;
	fake_hypervisor = false;
	fake_cpu = 0;
	nr_cpu_ids = cpus;
	for (cpu = 0; cpu < FAKE_MAX_CPUS; cpu++)
		fake_current[cpu] = &idle_task;

	memset(pf_cpus, 0, sizeof(pf_cpus));
	pf_nr_domains = 0;
	pf_supported_any = 0;
	pf_supported_all = ~0U;
	pf_default_off = 0;
	pf_default_on = 0;
	pf_attached = true;
}

struct fake_reg *fake_reg(unsigned int bank, u32 address)
{
	unsigned int i;

	for (i = 0; i < FAKE_MAX_REGS; i++) {
		if (fake_banks[bank].regs[i].address == address)
			return &fake_banks[bank].regs[i];
	}
	return NULL;
}

/* How often the registers of a bank were written. */
unsigned int fake_writes(unsigned int bank)
{
	unsigned int i, sum = 0;

	for (i = 0; i < FAKE_MAX_REGS; i++)
		sum += fake_banks[bank].regs[i].writes;
	return sum;
}

static struct fake_reg *find_reg(u32 address)
{
	return fake_reg(fake_processors[fake_cpu].bank, address);
}

int rdmsrq_safe(u32 address, u64 *value)
{
	struct fake_reg *reg = find_reg(address);
	const struct fake_bank *bank =
		&fake_banks[fake_processors[fake_cpu].bank];

	*value = 0;
	if (!reg)
		return -EIO;
	reg->reads++;
	if (reg->no_read || (reg->no_read_again && reg->writes))
		return -EIO;
	if (!(bank->regs[0].value & reg->still))
		reg->value ^= reg->wander;
	*value = reg->value;
	return 0;
}

int wrmsrq_safe(u32 address, u64 value)
{
	struct fake_reg *reg = find_reg(address);

	if (!reg)
		return -EIO;
	reg->writes++;
	if (fake_nr_written < ARRAY_SIZE(fake_written))
		fake_written[fake_nr_written] =
			(struct fake_write){ .address = address,
					     .value = value };
	fake_nr_written++;
	reg->touched |= reg->value ^ value;
	if (reg->no_write || (value & reg->reserved))
		return -EIO;
	if (reg->ignore)
		return 0;
	value |= reg->value & reg->once;
	reg->value = (reg->value & reg->stuck) | (value & ~reg->stuck);
	return 0;
}

static u32 signature(const struct fake_processor *p)
{
	u32 base = p->family < 0xf ? p->family : 0xf;

	return (p->family - base) << 20 | p->model >> 4 << 16 | base << 8 |
	       (p->model & 0xf) << 4;
}

static void topology_leaf(const struct fake_processor *p, u32 *eax, u32 *ebx,
			  u32 *edx)
{
	if (p->no_topology)
		return;
	*eax = p->smt_bits;
	*ebx = 1U << p->smt_bits;
	*edx = p->apic_id;
}

/* An L1 cache of the core for data and one for code, then the L2. */
static void cache_leaf(const struct fake_processor *p, u32 index, u32 *eax)
{
	u32 sharing = index < 2 ? p->smt_bits : p->l2_bits;
	u32 level = index < 2 ? 1 : 2;
	u32 type = index < 2 ? index + 1 : 3;

	if (index < 3 && !p->no_caches)
		*eax = ((1U << p->core_bits) - 1) << 26 |
		       ((1U << sharing) - 1) << 14 | level << 5 | type;
}

void cpuid_count(u32 leaf, u32 subleaf, u32 *eax, u32 *ebx, u32 *ecx, u32 *edx)
{
	const struct fake_processor *p = &fake_processors[fake_cpu];
	bool intel = !strcmp(p->vendor, "GenuineIntel");

	*eax = 0;
	*ebx = 0;
	*ecx = 0;
	*edx = 0;
	switch (leaf) {
	case 0:
		*eax = intel ? 0x20 : 0x10;
		memcpy(ebx, p->vendor, 4);
		memcpy(edx, p->vendor + 4, 4);
		memcpy(ecx, p->vendor + 8, 4);
		break;
	case 1:
		*eax = signature(p);
		*ebx = p->apic_id << 24 |
		       (p->stray_ids ? p->stray_ids
				     : 1U << (p->core_bits + p->smt_bits))
			       << 16;
		*edx = p->smt_bits + p->core_bits ? 1U << 28 : 0;
		break;
	case 4:
		if (intel)
			cache_leaf(p, subleaf, eax);
		break;
	case 0xb:
		topology_leaf(p, eax, ebx, edx);
		break;
	case 0x1a:
		*eax = p->core_type << 24 | p->native_model;
		break;
	case 0x80000000:
		*eax = intel ? 0x80000008 : 0x80000021;
		break;
	case 0x8000001e:
		*ebx = ((1U << p->smt_bits) - 1) << 8 | 0x37;
		break;
	case 0x80000021:
		*eax = p->prefetch_msr ? 1U << 13 : 0;
		break;
	}
}

bool boot_cpu_has(unsigned int feature)
{
	return feature == X86_FEATURE_HYPERVISOR && fake_hypervisor;
}

void fake_lock(raw_spinlock_t *lock)
{
	if (lock->held)
		fail_msg("deadlock");
	lock->held = true;
}

void fake_unlock(raw_spinlock_t *lock)
{
	if (!lock->held)
		fail_msg("unlocked twice");
	lock->held = false;
}

static void run_on(unsigned int cpu, void (*func)(void *), void *info)
{
	unsigned int here = fake_cpu;

	fake_cpu = cpu;
	func(info);
	fake_cpu = here;
}

int smp_call_function_single_async(int cpu, call_single_data_t *csd)
{
	run_on((unsigned int)cpu, csd->func, csd->info);
	return 0;
}

void on_each_cpu_mask(const struct cpumask *mask, void (*func)(void *),
		      void *info, bool wait)
{
	unsigned int cpu;

	(void)wait;
	for (cpu = 0; cpu < nr_cpu_ids; cpu++) {
		if (!fake_processors[cpu].offline && mask->bits >> cpu & 1)
			run_on(cpu, func, info);
	}
}

void on_each_cpu(void (*func)(void *), void *info, int wait)
{
	struct cpumask all = { .bits = ~0U };

	on_each_cpu_mask(&all, func, info, wait);
}

static int call_on(unsigned int cpu, int (*func)(unsigned int))
{
	unsigned int here = fake_cpu;
	int err;

	fake_cpu = cpu;
	err = func(cpu);
	fake_cpu = here;
	return err;
}

int cpuhp_setup_state(int state, const char *name, int (*online)(unsigned int),
		      int (*offline)(unsigned int))
{
	unsigned int cpu;

	(void)name;
	online_fn = online;
	offline_fn = offline;
	for (cpu = 0; cpu < nr_cpu_ids; cpu++) {
		if (!fake_processors[cpu].offline)
			assert_int_equal(call_on(cpu, online), 0);
	}
	return state;
}

void cpuhp_remove_state(int state)
{
	unsigned int cpu;

	(void)state;
	for (cpu = 0; cpu < nr_cpu_ids; cpu++) {
		if (!fake_processors[cpu].offline)
			assert_int_equal(call_on(cpu, offline_fn), 0);
	}
}

void fake_offline(unsigned int cpu)
{
	assert_int_equal(call_on(cpu, offline_fn), 0);
	fake_processors[cpu].offline = true;
}

void fake_online(unsigned int cpu)
{
	fake_processors[cpu].offline = false;
	assert_int_equal(call_on(cpu, online_fn), 0);
}

int register_reboot_notifier(struct notifier_block *nb)
{
	reboot_block = nb;
	return 0;
}

int unregister_reboot_notifier(struct notifier_block *nb)
{
	assert_ptr_equal(reboot_block, nb);
	reboot_block = NULL;
	return 0;
}

void fake_reboot(void)
{
	reboot_block->notifier_call(reboot_block, 0, NULL);
}

int register_pm_notifier(struct notifier_block *nb)
{
	pm_block = nb;
	return 0;
}

int unregister_pm_notifier(struct notifier_block *nb)
{
	assert_ptr_equal(pm_block, nb);
	pm_block = NULL;
	return 0;
}

void fake_awake(void)
{
	pm_block->notifier_call(pm_block, PM_POST_SUSPEND, NULL);
}

void register_syscore(struct syscore *syscore)
{
	syscore_ops = syscore;
}

void unregister_syscore(struct syscore *syscore)
{
	assert_ptr_equal(syscore_ops, syscore);
	syscore_ops = NULL;
}

void fake_resume(void)
{
	syscore_ops->ops->resume(NULL);
}

void fake_print(const char *format, ...)
{
	size_t used = strlen(fake_log);
	va_list args;

	va_start(args, format);
	vsnprintf(fake_log + used, sizeof(fake_log) - used, format, args);
	va_end(args);
	fake_log_lines++;
}

int scnprintf(char *text, size_t size, const char *format, ...)
{
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(text, size, format, args);
	va_end(args);
	return length < (int)size ? length : (int)size - 1;
}

bool sysfs_streq(const char *a, const char *b)
{
	return !strcmp(a, b);
}

/* The parts of the module that are not here. */

atomic64_t pf_generation;

pf_wish_t pf_setting_lookup(struct task_struct *task, struct pf_owner *owner)
{
	owner->thread = 0;
	owner->process = task->wish ? 1 : 0;
	return task->wish;
}

void pf_event_core(struct pf_domain *d, u32 old, u32 new,
		   struct task_struct *by, enum prefetch_cause cause)
{
	(void)by;
	fake_event.count++;
	fake_event.domain = d->id;
	fake_event.old = old;
	fake_event.new = new;
	fake_event.cause = cause;
}

static void switch_to(unsigned int cpu, struct task_struct *next)
{
	struct pf_cpu *c = per_cpu_ptr(&pf_cpus, cpu);
	struct task_struct *prev = fake_current[cpu];
	unsigned int here = fake_cpu;
	pf_wish_t wish;

	fake_cpu = cpu;
	fake_current[cpu] = next;
	/* Nothing that was remembered of a task holds. */
	pf_generation.counter++;
	wish = pf_task_wish(c, next, NULL);
	if (wish != c->wish && c->live)
		pf_domain_switch(c, wish, prev, next);
	fake_cpu = here;
}

/* A task with this wish runs on a CPU from now on. */
void fake_run(unsigned int cpu, u64 wish)
{
	tasks[cpu].wish = wish;
	switch_to(cpu, &tasks[cpu]);
}

void fake_idle(unsigned int cpu)
{
	switch_to(cpu, &idle_task);
}
