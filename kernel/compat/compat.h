/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Differences between kernels, in one place. Each PF_HAVE_ comes from a test
 * of the kernel's headers in Kbuild.features.
 */
#ifndef PF_COMPAT_H
#define PF_COMPAT_H

#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/syscore_ops.h>
#include <linux/workqueue.h>
#include <asm/msr.h>
#include <asm/processor.h>
#ifdef PF_HAVE_CPUID_API
#include <asm/cpuid/api.h>
#endif

#ifndef PF_HAVE_WRMSRQ
#define rdmsrq_safe(msr, value) rdmsrl_safe(msr, value)
#define wrmsrq_safe(msr, value) wrmsrl_safe(msr, value)
#endif

/*
 * Both forms of the exit probe end in pf_exit_probe(task, group_dead). The
 * older tracepoint does not tell, but comes after the count was lowered.
 */
#ifdef PF_HAVE_EXIT_GROUP_DEAD
#define PF_DEFINE_EXIT_PROBE(name)					\
static void name(void *data, struct task_struct *task, bool group_dead)	\
{									\
	pf_exit_probe(task, group_dead);				\
}
#else
#define PF_DEFINE_EXIT_PROBE(name)					\
static void name(void *data, struct task_struct *task)			\
{									\
	pf_exit_probe(task, !atomic_read(&task->signal->live));		\
}
#endif

#ifdef PF_HAVE_SYSCORE
#define PF_DEFINE_SYSCORE(name, resume_fn)				\
static void name##_resume(void *data)					\
{									\
	resume_fn();							\
}									\
									\
static const struct syscore_ops name##_ops = {				\
	.resume = name##_resume,					\
};									\
									\
static struct syscore name = {						\
	.ops = &name##_ops,						\
}

#define pf_syscore_register(s) register_syscore(s)
#define pf_syscore_unregister(s) unregister_syscore(s)
#else
#define PF_DEFINE_SYSCORE(name, resume_fn)				\
static struct syscore_ops name = {					\
	.resume = resume_fn,						\
}

#define pf_syscore_register(s) register_syscore_ops(s)
#define pf_syscore_unregister(s) unregister_syscore_ops(s)
#endif

#ifndef PF_HAVE_DFL_WQ
#define system_dfl_wq system_unbound_wq
#endif

#ifdef PF_HAVE_GENL_INFO_DUMP
#define pf_dump_attrs(cb) (genl_info_dump(cb)->attrs)
#else
#define pf_dump_attrs(cb) (genl_dumpit_info(cb)->attrs)
#endif

#endif /* PF_COMPAT_H */
