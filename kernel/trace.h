/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracepoints for perf and bpftrace.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM prefetch

#if !defined(PF_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define PF_TRACE_H

#include <linux/tracepoint.h>

TRACE_EVENT(setting,

	TP_PROTO(pid_t pid, pid_t tid, u32 off, u32 on, bool inherit,
		 u32 change),

	TP_ARGS(pid, tid, off, on, inherit, change),

	TP_STRUCT__entry(
		__field(pid_t, pid)
		__field(pid_t, tid)
		__field(u32, off)
		__field(u32, on)
		__field(bool, inherit)
		__field(u32, change)
	),

	TP_fast_assign(
		__entry->pid = pid;
		__entry->tid = tid;
		__entry->off = off;
		__entry->on = on;
		__entry->inherit = inherit;
		__entry->change = change;
	),

	TP_printk("pid=%d tid=%d off=%#x on=%#x inherit=%d change=%u",
		  __entry->pid, __entry->tid, __entry->off, __entry->on,
		  __entry->inherit, __entry->change)
);

TRACE_EVENT(write,

	TP_PROTO(u32 domain, u32 old, u32 new, u32 cause),

	TP_ARGS(domain, old, new, cause),

	TP_STRUCT__entry(
		__field(u32, domain)
		__field(u32, old)
		__field(u32, new)
		__field(u32, cause)
	),

	TP_fast_assign(
		__entry->domain = domain;
		__entry->old = old;
		__entry->new = new;
		__entry->cause = cause;
	),

	TP_printk("domain=%u old=%#x new=%#x cause=%u",
		  __entry->domain, __entry->old, __entry->new,
		  __entry->cause)
);

#endif /* PF_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
