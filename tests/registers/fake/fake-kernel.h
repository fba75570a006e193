/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel, as far as backend.c, cpus.c and domain.c need one: a single
 * thread that says which CPU it is on. See machine.h for what stands behind.
 *
 * Every kernel header that these files include is this one.
 */
#ifndef FAKE_KERNEL_H
#define FAKE_KERNEL_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include <linux/prefetch.h>

#define FAKE_MAX_CPUS 16

typedef uint8_t u8;
typedef uint32_t u32;
typedef uint64_t u64;

#define U64_MAX		      UINT64_MAX
#define BIT(n)		      (1UL << (n))
#define BIT_ULL(n)	      (1ULL << (n))
#define ARRAY_SIZE(a)	      (sizeof(a) / sizeof((a)[0]))
#define likely(x)	      (x)
#define unlikely(x)	      (x)
#define noinline	      __attribute__((noinline))
#define OPTIMIZER_HIDE_VAR(x) ((void)0)
#define READ_ONCE(x)	      (x)
#define WRITE_ONCE(x, v)      ((x) = (v))
#define smp_rmb() \
	do {      \
	} while (0)
#define smp_load_acquire(p)	(*(p))
#define smp_store_release(p, v) (*(p) = (v))

#define min_t(type, a, b)	((type)(a) < (type)(b) ? (type)(a) : (type)(b))

static inline u32 order_base_2(u32 n)
{
	u32 order = 0;

	while ((1U << order) < n)
		order++;
	return order;
}

/* linux/atomic.h */
typedef struct {
	int counter;
} atomic_t;

typedef struct {
	u64 counter;
} atomic64_t;

#define atomic_read(a)	 ((a)->counter)
#define atomic_set(a, v) ((a)->counter = (v))
#define atomic64_read(a) ((a)->counter)

static inline int atomic_xchg(atomic_t *a, int value)
{
	int old = a->counter;

	a->counter = value;
	return old;
}

/* Types that are only named. */
struct hlist_node {
	void *next;
};

struct llist_node {
	void *next;
};

struct rcu_head {
	void *next;
};

typedef struct {
	uid_t val;
} kuid_t;

/* linux/percpu.h: one for each CPU, side by side */
#define DECLARE_PER_CPU(type, name) extern type name[FAKE_MAX_CPUS]
#define DEFINE_PER_CPU(type, name)  type name[FAKE_MAX_CPUS]
#define per_cpu_ptr(p, cpu)	    (&(*(p))[cpu])
#define this_cpu_ptr(p)		    per_cpu_ptr(p, fake_cpu)
#define raw_cpu_ptr(p)		    per_cpu_ptr(p, fake_cpu)

/* The CPU that the code runs on. */
extern unsigned int fake_cpu;

/* linux/spinlock.h: with one thread, a lock that is held is a deadlock */
typedef struct {
	bool held;
} raw_spinlock_t;

void fake_lock(raw_spinlock_t *lock);
void fake_unlock(raw_spinlock_t *lock);

#define raw_spin_lock_init(l)		     ((l)->held = false)
#define raw_spin_lock(l)		     fake_lock(l)
#define raw_spin_unlock(l)		     fake_unlock(l)
#define local_irq_save(flags)		     ((flags) = 0)
#define local_irq_restore(flags)	     ((void)(flags))
#define raw_spin_lock_irqsave(l, flags)	     ((flags) = 0, fake_lock(l))
#define raw_spin_unlock_irqrestore(l, flags) ((void)(flags), fake_unlock(l))

/* linux/cpumask.h, linux/topology.h */
struct cpumask {
	u32 bits;
};

static inline void cpumask_set_cpu(unsigned int cpu, struct cpumask *mask)
{
	mask->bits |= 1U << cpu;
}

extern unsigned int nr_cpu_ids;

#define for_each_possible_cpu(cpu) \
	for ((cpu) = 0; (cpu) < (int)nr_cpu_ids; (cpu)++)

/* linux/smp.h: what another CPU is asked to do, it does at once */
typedef struct {
	void (*func)(void *info);
	void *info;
} call_single_data_t;

#define INIT_CSD(csd, f, i) ((csd)->func = (f), (csd)->info = (i))

int smp_call_function_single_async(int cpu, call_single_data_t *csd);
void on_each_cpu_mask(const struct cpumask *mask, void (*func)(void *info),
		      void *info, bool wait);
void on_each_cpu(void (*func)(void *info), void *info, int wait);

/* linux/cpuhotplug.h, linux/reboot.h, linux/syscore_ops.h */
#define CPUHP_AP_ONLINE_DYN 1
#define NOTIFY_DONE	    0

int cpuhp_setup_state(int state, const char *name, int (*online)(unsigned int),
		      int (*offline)(unsigned int));
void cpuhp_remove_state(int state);

struct notifier_block {
	int (*notifier_call)(struct notifier_block *nb, unsigned long action,
			     void *data);
};

int register_reboot_notifier(struct notifier_block *nb);
int unregister_reboot_notifier(struct notifier_block *nb);

/* linux/suspend.h */
#define PM_POST_SUSPEND 0x0004

int register_pm_notifier(struct notifier_block *nb);
int unregister_pm_notifier(struct notifier_block *nb);

struct syscore_ops {
	void (*resume)(void *data);
};

struct syscore {
	const struct syscore_ops *ops;
};

void register_syscore(struct syscore *syscore);
void unregister_syscore(struct syscore *syscore);

/* linux/slab.h */
#define GFP_KERNEL	   0
#define kcalloc(n, s, gfp) calloc(n, s)
#define kfree(p)	   free(p)

/* linux/sched.h: a task carries its wish, see pf_setting_lookup() */
#define TASK_COMM_LEN 16
#define PF_KTHREAD    1

struct signal_struct {
	atomic_t live;
};

struct task_struct {
	unsigned int flags;
	int pid;
	bool idle;
	struct signal_struct *signal;
	u64 wish;
};

extern struct task_struct *fake_current[FAKE_MAX_CPUS];

#define current		   (fake_current[fake_cpu])
#define is_idle_task(task) ((task)->idle)

/* linux/tracepoint.h: nobody listens */
#define TP_PROTO(...) __VA_ARGS__
#define TRACE_EVENT(name, proto, ...)          \
	static inline void trace_##name(proto) \
	{                                      \
	}                                      \
	static inline void trace_##name(proto)

/* linux/kernel.h; its %llx takes a u64 */
int scnprintf(char *text, size_t size, const char *format, ...);

/* linux/printk.h */
__attribute__((format(printf, 1, 2))) void fake_print(const char *format, ...);

#define pr_warn(format, ...) fake_print(pr_fmt(format), ##__VA_ARGS__)
#define pr_err(format, ...)  fake_print(pr_fmt(format), ##__VA_ARGS__)

bool sysfs_streq(const char *a, const char *b);

/* asm/cpufeature.h, asm/cpuid/api.h, asm/msr.h */
#define X86_FEATURE_HYPERVISOR 31

bool boot_cpu_has(unsigned int feature);
void cpuid_count(u32 leaf, u32 subleaf, u32 *eax, u32 *ebx, u32 *ecx, u32 *edx);
int rdmsrq_safe(u32 address, u64 *value);
int wrmsrq_safe(u32 address, u64 value);

static inline void cpuid(u32 leaf, u32 *eax, u32 *ebx, u32 *ecx, u32 *edx)
{
	cpuid_count(leaf, 0, eax, ebx, ecx, edx);
}

static inline u32 cpuid_eax(u32 leaf)
{
	u32 eax, ebx, ecx, edx;

	cpuid(leaf, &eax, &ebx, &ecx, &edx);
	return eax;
}

static inline u32 cpuid_ebx(u32 leaf)
{
	u32 eax, ebx, ecx, edx;

	cpuid(leaf, &eax, &ebx, &ecx, &edx);
	return ebx;
}

#endif /* FAKE_KERNEL_H */
