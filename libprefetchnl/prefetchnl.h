/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libprefetchnl: hardware prefetcher settings per thread and per process.
 *
 * A client of the generic netlink family "prefetch" of the kernel module of
 * that name.
 *
 * Rules that hold for every function here:
 *
 * - It returns 0 (or, where its description says so, a count) or a negative
 *   errno value. After a failure pfnl_errmsg() tells why.
 * - A handle may be used by one thread at a time. The library has no state of
 *   its own outside handles: several threads with one handle each need no lock.
 * - A mask has one bit per prefetcher, 1 << id, whatever register holds it
 *   (enum prefetch_mask). In masks named off, baseline, effective, read,
 * before, after, old_mask and new_mask a 1 means that the prefetcher is off.
 * - pids and tids in requests and replies are those of the caller's pid
 *   namespace. Those in core events and in setting events are those of the
 *   initial one.
 * - Times are in nanoseconds.
 * - Members named reserved are zero. What the caller fills must have them zero.
 *
 * Errors that any request may end with, apart from those that its description
 * names: -ENOENT with pfnl_module_missing() true: the module is not loaded;
 * -EPERM: not allowed; -EINVAL: a malformed request; -EBADMSG: the answer could
 * not be understood; -ETIMEDOUT: there was no answer; -ENOMEM; -EOPNOTSUPP: not
 * on this machine, or not with this module; -ENOBUFS: the answer got lost.
 */
#ifndef PREFETCHNL_H
#define PREFETCHNL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <linux/prefetch.h>

#ifdef __cplusplus
extern "C" {
#endif

struct pfnl;

/* --- Handle ------------------------------------------------------------- */

/**
 * pfnl_open() - Make a handle.
 * @h: where the handle is stored; NULL after a failure. The caller owns it and
 *     gives it back with pfnl_close().
 *
 * Works also without the module: then each request ends with -ENOENT, and works
 * once the module is loaded.
 *
 * Return: 0, -ENOMEM, or the -errno of socket(2), bind(2) or setsockopt(2).
 */
int pfnl_open(struct pfnl **h);

/**
 * pfnl_close() - Close both sockets and free the handle.
 * @h: handle, or NULL.
 */
void pfnl_close(struct pfnl *h);

/**
 * pfnl_errmsg() - Say why the last call on the handle failed.
 * @h: handle.
 *
 * Return: one line without a final newline; the kernel's own words where it
 * gave some, else ours. "" if the last call succeeded. It belongs to the handle
 * and holds until its next call. It never begins with the word "error".
 */
const char *pfnl_errmsg(const struct pfnl *h);

/**
 * pfnl_errattr() - Name the attribute of the request that was at fault.
 * @h: handle.
 *
 * Return: a name as in the YAML ("off", "pid", "start-time"...), for a missing
 * attribute too; NULL if the kernel named none. Never freed.
 */
const char *pfnl_errattr(const struct pfnl *h);

/**
 * pfnl_module_missing() - Tell "module not loaded" from other errors.
 * @h: handle.
 *
 * Return: true if the last call failed because the kernel has no family
 * "prefetch" (the call returned -ENOENT).
 */
bool pfnl_module_missing(const struct pfnl *h);

/**
 * pfnl_version() - Version of the library.
 *
 * Return: a text such as "0.1.0". Never freed.
 */
const char *pfnl_version(void);

/* --- Machine and module -------------------------------------------------- */

/**
 * struct pfnl_info - The machine, the module and its counters.
 * @backend: enum prefetch_backend.
 * @version: of the module.
 * @cpu_vendor: as CPUID gives it, such as "GenuineIntel".
 * @cpu_family: family.
 * @cpu_model: model.
 * @cpu_stepping: stepping.
 * @hypervisor: the CPU says that it runs under a hypervisor.
 * @attached: the scheduler probes are attached.
 * @unprivileged: users may set their own tasks.
 * @events_here: events reach the caller's network namespace.
 * @domains: number of domains.
 * @supported: prefetchers that at least one core has.
 * @default_off: switched off by the machine default.
 * @default_on: switched on by the machine default.
 * @settings: number of settings now.
 * @max_settings: highest number of settings.
 * @setting_size: memory of one setting in bytes.
 * @event_interval: milliseconds over which changes of a core are folded.
 * @core_seq: sequence number of the last core event; 0: none yet.
 * @setting_seq: sequence number of the last setting event; 0: none yet.
 * @register_writes: register writes since the module was loaded.
 * @refused_writes: of these, refused by the hardware.
 * @foreign_writes: registers that verify found changed by somebody else.
 * @dropped_inherits: settings that a child should have got and did not.
 * @core_events_sent: core events sent.
 * @core_events_lost: core changes that no event told of.
 * @setting_events_sent: setting events sent.
 * @setting_events_lost: setting changes that no event told of.
 * @core_total: core changes since the module was loaded, told or not, as far as
 *     anybody listened.
 * @setting_total: the same of setting changes.
 * @user_settings: number of settings that count for the caller's user.
 * @max_user_settings: highest number for a user without CAP_SYS_RESOURCE.
 * @reserved: zero.
 */
struct pfnl_info {
	uint32_t backend;
	char version[32];
	char cpu_vendor[16];
	uint32_t cpu_family;
	uint32_t cpu_model;
	uint32_t cpu_stepping;
	bool hypervisor;
	bool attached;
	bool unprivileged;
	bool events_here;
	uint32_t domains;
	uint32_t supported;
	uint32_t default_off;
	uint32_t default_on;
	uint32_t settings;
	uint32_t max_settings;
	uint32_t setting_size;
	uint32_t event_interval;
	uint32_t core_seq;
	uint32_t setting_seq;
	uint64_t register_writes;
	uint64_t refused_writes;
	uint64_t foreign_writes;
	uint64_t dropped_inherits;
	uint64_t core_events_sent;
	uint64_t core_events_lost;
	uint64_t setting_events_sent;
	uint64_t setting_events_lost;
	uint64_t core_total;
	uint64_t setting_total;
	uint32_t user_settings;
	uint32_t max_user_settings;
	uint64_t reserved[15];
};

/**
 * pfnl_info() - Ask for the machine, the module and its counters.
 * @h: handle.
 * @info: filled on success.
 *
 * Return: 0 or -errno.
 */
int pfnl_info(struct pfnl *h, struct pfnl_info *info);

/**
 * struct pfnl_location - Where a prefetcher is switched on one type of core.
 * @core_type: enum prefetch_core_type.
 * @reg: address of the model specific register; with the soft backend, of that
 *     which a variable stands for.
 * @shift: lowest bit of the field.
 * @width: width of the field in bits.
 * @off_value: value of the field that switches the prefetcher off.
 * @domains: number of domains of this core type.
 * @baseline_off: on how many of these firmware had it off.
 * @reserved: zero.
 */
struct pfnl_location {
	uint32_t core_type;
	uint32_t reg;
	uint32_t shift;
	uint32_t width;
	uint32_t off_value;
	uint32_t domains;
	uint32_t baseline_off;
	uint32_t reserved;
};

/**
 * struct pfnl_prefetcher - A prefetcher of this machine.
 * @id: number of its bit in every mask, 0 to 31.
 * @name: such as "l2_stream".
 * @description: one line.
 * @locations: array of @n_locations entries.
 * @n_locations: number of core types that have it.
 * @reserved: zero.
 */
struct pfnl_prefetcher {
	uint32_t id;
	char name[32];
	char description[128];
	const struct pfnl_location *locations;
	size_t n_locations;
	uint64_t reserved[4];
};

/**
 * PFNL_LIST_INTERRUPTED - The objects changed while they were listed, several
 * times in a row: one may be missing from the list.
 */
#define PFNL_LIST_INTERRUPTED 1u

/**
 * typedef pfnl_prefetcher_cb - Called once per prefetcher.
 * @p: belongs to the library, and holds until the callback returns.
 * @arg: as given to pfnl_prefetcher_list().
 *
 * This and every callback below may make requests on the same handle.
 *
 * Return: 0 to go on; else the listing ends and returns this value.
 */
typedef int (*pfnl_prefetcher_cb)(const struct pfnl_prefetcher *p, void *arg);

/**
 * pfnl_prefetcher_list() - List the prefetchers of this machine.
 * @h: handle.
 * @cb: called once per prefetcher, after all have been received.
 * @arg: passed to @cb.
 *
 * Return: 0, -errno, or what @cb returned.
 */
int pfnl_prefetcher_list(struct pfnl *h, pfnl_prefetcher_cb cb, void *arg);

/* --- Settings ------------------------------------------------------------ */

/**
 * struct pfnl_setting - What was asked for a thread or a process.
 * @pid: process (tgid).
 * @tid: thread; 0 for a process.
 * @scope: enum prefetch_scope.
 * @off: prefetchers that the setting switches off.
 * @on: prefetchers that it switches on. In neither: no opinion.
 * @inherit: each new child process gets it.
 * @present: there is a setting. Otherwise @off, @on, @inherit, @uid and @id say
 *     nothing and are 0 ((uint32_t)-1 for @uid), while the wish is still given.
 * @wish_off: what the task asks to be off, with thread, process and machine
 *     default taken together.
 * @wish_on: the same for on.
 * @start_time: when the task started, since boot.
 * @comm: name of the task, with a NUL byte.
 * @uid: who set it; (uint32_t)-1 if not known.
 * @id: identity of the setting, never used again.
 * @partial: named prefetchers that only some core types have.
 * @reserved: zero.
 */
struct pfnl_setting {
	uint32_t pid;
	uint32_t tid;
	uint32_t scope;
	uint32_t off;
	uint32_t on;
	bool inherit;
	bool present;
	uint32_t wish_off;
	uint32_t wish_on;
	uint64_t start_time;
	char comm[PREFETCH_COMM_LEN];
	uint32_t uid;
	uint32_t partial;
	uint64_t id;
	uint64_t reserved[4];
};

/**
 * struct pfnl_setting_request - A change of a setting.
 * @pid: the process to set (scope process), 1 to 2^31 - 1; or 0.
 * @tid: the thread to set (scope thread); or 0. Exactly one of both is given,
 *     except in pfnl_setting_set_pidfd(), which fills @pid itself.
 * @off: prefetchers to switch off.
 * @on: prefetchers to switch on.
 * @clear: prefetchers on which the setting shall have no opinion. The three are
 *     disjoint; what is in none stays as it was.
 * @inherit: 1 or 0; -1 leaves it as it was.
 * @start_time: the task is refused with -ESRCH if it did not start then (see
 *     struct pfnl_setting); 0: no check.
 * @reserved: zero.
 */
struct pfnl_setting_request {
	uint32_t pid;
	uint32_t tid;
	uint32_t off;
	uint32_t on;
	uint32_t clear;
	int32_t inherit;
	uint64_t start_time;
	uint64_t reserved[4];
};

/** PFNL_SETTING_REQUEST_INIT - A request that changes nothing. */
#define PFNL_SETTING_REQUEST_INIT     \
	{                             \
		0, 0, 0, 0, 0, -1, 0, \
		{                     \
			0, 0, 0, 0    \
		}                     \
	}

/** PFNL_MASK_ALL - Every prefetcher that this header knows. */
#define PFNL_MASK_ALL 0x3fffu

/**
 * pfnl_setting_get() - Ask for the setting of a process or thread.
 * @h: handle.
 * @pid: process, or 0.
 * @tid: thread, or 0. Exactly one of both is given.
 * @setting: filled on success, also for a task without a setting.
 *
 * Return: 0; -ESRCH: no such task; or -errno.
 */
int pfnl_setting_get(struct pfnl *h, pid_t pid, pid_t tid,
		     struct pfnl_setting *setting);

/**
 * pfnl_setting_set() - Change the setting of a process or thread.
 * @h: handle.
 * @request: what to change; stays the caller's.
 * @result: filled on success with the resulting setting; may be NULL.
 *
 * Clearing every opinion removes the setting.
 *
 * Return: 0; -ESRCH: no such task, or its start time differs; -EPERM;
 * -EOPNOTSUPP: this machine lacks a named prefetcher; -ENOSPC: the limit of
 * settings is reached; -EINVAL: masks overlap, inherit with a thread, both pid
 * and tid...; or -errno.
 */
int pfnl_setting_set(struct pfnl *h, const struct pfnl_setting_request *request,
		     struct pfnl_setting *result);

/**
 * typedef pfnl_setting_cb - Called once per setting.
 * @s: belongs to the library, and holds until the callback returns. It may be
 *     copied by assignment.
 * @arg: as given to pfnl_setting_list().
 *
 * Return: 0 to go on; else the listing ends and returns this value.
 */
typedef int (*pfnl_setting_cb)(const struct pfnl_setting *s, void *arg);

/**
 * pfnl_setting_list() - List settings.
 * @h: handle.
 * @pid: only those of this process and its threads; 0: any.
 * @tid: only that of this thread; 0: any. At most one of both is given.
 * @flags: set to 0 or PFNL_LIST_INTERRUPTED on success; may be NULL.
 * @cb: called once per setting, after all have been received.
 * @arg: passed to @cb.
 *
 * Return: 0, also if there is none; -ESRCH: no such task; -errno; or what @cb
 * returned.
 */
int pfnl_setting_list(struct pfnl *h, pid_t pid, pid_t tid, unsigned int *flags,
		      pfnl_setting_cb cb, void *arg);

/* --- pidfds ----------------------------------------------------------------
 */

/**
 * pfnl_pidfd_pid() - Tell which process a pidfd stands for.
 * @pidfd: from pidfd_open(2), clone(2) or SCM_PIDFD.
 * @pid: filled on success, in the pid namespace of the mounted /proc.
 *
 * Return: 0; -ESRCH: the process has exited, or is not visible here; -EBADF:
 * not a pidfd; or the -errno of reading /proc.
 */
int pfnl_pidfd_pid(int pidfd, pid_t *pid);

/**
 * pfnl_setting_get_pidfd() - pfnl_setting_get() for a pidfd, without a race.
 * @h: handle.
 * @pidfd: the process.
 * @setting: filled on success.
 *
 * After the answer it is checked that the process still lives: so the answer
 * and its start time are those of this process, not of one that got its pid.
 *
 * Return: 0; -ESRCH; or -errno as above.
 */
int pfnl_setting_get_pidfd(struct pfnl *h, int pidfd,
			   struct pfnl_setting *setting);

/**
 * pfnl_setting_set_pidfd() - pfnl_setting_set() for a pidfd, without a race.
 * @h: handle.
 * @pidfd: the process.
 * @request: pid, tid and start_time in it are 0.
 * @result: as in pfnl_setting_set().
 *
 * Gets the start time as pfnl_setting_get_pidfd() does, and sends it along.
 *
 * Return: 0; -ESRCH; or -errno as above.
 */
int pfnl_setting_set_pidfd(struct pfnl *h, int pidfd,
			   const struct pfnl_setting_request *request,
			   struct pfnl_setting *result);

/* --- Machine default ------------------------------------------------------ */

/**
 * struct pfnl_default - The machine default.
 * @off: prefetchers that it switches off.
 * @on: prefetchers that it switches on. In neither: as firmware left it.
 * @partial: named prefetchers that only some core types have.
 * @reserved: zero.
 */
struct pfnl_default {
	uint32_t off;
	uint32_t on;
	uint32_t partial;
	uint32_t reserved;
};

/**
 * pfnl_default_set() - Change the machine default (CAP_SYS_ADMIN).
 * @h: handle.
 * @off: prefetchers to switch off.
 * @on: prefetchers to switch on.
 * @clear: prefetchers to leave as firmware left them. The three are disjoint.
 * @result: filled on success with the resulting default; may be NULL.
 *
 * To read it without a change, see pfnl_info().
 *
 * Return: 0; -EPERM; -EOPNOTSUPP: this machine lacks a named prefetcher;
 * -EINVAL; or -errno.
 */
int pfnl_default_set(struct pfnl *h, uint32_t off, uint32_t on, uint32_t clear,
		     struct pfnl_default *result);

/* Cores, events and names of things have headers of their own. */
#include "prefetchnl-cores.h"
#include "prefetchnl-events.h"
#include "prefetchnl-names.h"

#ifdef __cplusplus
}
#endif

#endif /* PREFETCHNL_H */
