/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libprefetchnl: events. Include <prefetchnl.h>.
 *
 *	pfnl_subscribe(h, PFNL_GROUP_CORE | PFNL_GROUP_SETTING, 0);
 *	pfnl_dispatch(h, callback, arg);		 the state now
 *	while (poll(pfnl_event_fd(h)) ...)
 *		pfnl_dispatch(h, callback, arg);	 what happens
 *
 * The stream never ends by itself. It begins with the state of all cores and
 * settings, taken after the groups were joined, so that nothing falls between.
 * Whenever something was lost, or the module was loaded again, the library says
 * so and gives the state again.
 */
#ifndef PREFETCHNL_EVENTS_H
#define PREFETCHNL_EVENTS_H

#ifndef PREFETCHNL_H
#error "include <prefetchnl.h>"
#endif

/** PFNL_GROUP_CORE - Changes of effective masks (CAP_SYS_ADMIN). */
#define PFNL_GROUP_CORE 1u
/** PFNL_GROUP_SETTING - Changes of settings (CAP_SYS_ADMIN). */
#define PFNL_GROUP_SETTING 2u

/**
 * enum pfnl_event_kind - What an event tells.
 * @PFNL_EVENT_CORE: the effective mask of a core changed.
 * @PFNL_EVENT_SETTING: a setting changed.
 * @PFNL_EVENT_LOST: events were lost. A resync follows; if the module is gone,
 *     once it is back.
 * @PFNL_EVENT_RESYNC_BEGIN: the state follows; what the listener knew of cores
 *     and settings is to be forgotten.
 * @PFNL_EVENT_STATE_CORE: state of a core.
 * @PFNL_EVENT_STATE_SETTING: a setting that exists.
 * @PFNL_EVENT_RESYNC_END: the state is complete.
 * @PFNL_EVENT_GONE: the module was unloaded, or is not loaded.
 * @PFNL_EVENT_BACK: the module was loaded. A resync follows.
 *
 * A later version may add kinds: ignore those that you do not know.
 */
enum pfnl_event_kind {
	PFNL_EVENT_CORE = 1,
	PFNL_EVENT_SETTING,
	PFNL_EVENT_LOST,
	PFNL_EVENT_RESYNC_BEGIN,
	PFNL_EVENT_STATE_CORE,
	PFNL_EVENT_STATE_SETTING,
	PFNL_EVENT_RESYNC_END,
	PFNL_EVENT_GONE,
	PFNL_EVENT_BACK,
};

/**
 * struct pfnl_core_event - The effective mask of a core changed.
 * @domain: number of the domain.
 * @old_mask: effective mask before the first change told here.
 * @new_mask: effective mask after the last one.
 * @cause: enum prefetch_cause, of the last change.
 * @cpu: CPU on which the last change happened.
 * @pid: process that caused it, in the initial pid namespace; 0: none.
 * @tid: thread that caused it; 0: none (or the idle task).
 * @comm: its name; "" if not known.
 * @seq: number of the event in its group, from 1 on.
 * @folded: number of changes that this event stands for, at least 1.
 * @lost: changes that the module could not tell of, since its last event.
 * @total: changes in this group since the module was loaded, told or not, up to
 *     and with this event.
 * @time: monotonic time of the last change.
 * @cpus: array of @n_cpus CPU numbers of the domain.
 * @n_cpus: number of CPUs.
 * @reserved: zero.
 */
struct pfnl_core_event {
	uint32_t domain;
	uint32_t old_mask;
	uint32_t new_mask;
	uint32_t cause;
	uint32_t cpu;
	uint32_t pid;
	uint32_t tid;
	char comm[PREFETCH_COMM_LEN];
	uint32_t seq;
	uint32_t folded;
	uint64_t lost;
	uint64_t total;
	uint64_t time;
	const uint32_t *cpus;
	size_t n_cpus;
	uint64_t reserved[4];
};

/**
 * struct pfnl_setting_event - A setting changed.
 * @setting: after the change; for one that is gone, as it last was.
 * @change: enum prefetch_change.
 * @seq: number of the event in its group, from 1 on.
 * @lost: changes that the module could not tell of, since its last event.
 * @total: changes in this group since the module was loaded, told or not, up to
 *     and with this event.
 * @time: monotonic time of the change.
 * @reserved: zero.
 */
struct pfnl_setting_event {
	struct pfnl_setting setting;
	uint32_t change;
	uint32_t seq;
	uint64_t lost;
	uint64_t total;
	uint64_t time;
	uint64_t reserved[4];
};

/**
 * struct pfnl_lost_event - Events were lost.
 * @group: the group, PFNL_GROUP_CORE or PFNL_GROUP_SETTING; 0 if not known.
 * @known: @count is exact. Otherwise it is a lower bound, possibly 0.
 * @by_module: @count is a number of changes that the module could not store.
 *     Otherwise it is a number of events that did not reach this listener.
 * @changes_known: @changes is exact.
 * @count: how many.
 * @changes: number of changes that @count stands for: an event may be one of
 *     several changes.
 * @reserved: zero.
 */
struct pfnl_lost_event {
	unsigned int group;
	bool known;
	bool by_module;
	bool changes_known;
	uint64_t count;
	uint64_t changes;
	uint64_t reserved[4];
};

/**
 * enum pfnl_resync_reason - Why the state is given.
 * @PFNL_RESYNC_START: first dispatch after pfnl_subscribe().
 * @PFNL_RESYNC_LOST: events were lost.
 * @PFNL_RESYNC_BACK: the module was loaded.
 */
enum pfnl_resync_reason {
	PFNL_RESYNC_START = 0,
	PFNL_RESYNC_LOST,
	PFNL_RESYNC_BACK,
};

/**
 * struct pfnl_resync_event - Begin or end of a state.
 * @reason: enum pfnl_resync_reason.
 * @flags: at the end, 0 or PFNL_LIST_INTERRUPTED.
 * @error: at the end, 0, or -errno if the state could not be had in full;
 *     @message says why.
 * @message: at the end with @error, a line; else "".
 * @reserved: zero.
 */
struct pfnl_resync_event {
	uint32_t reason;
	unsigned int flags;
	int error;
	const char *message;
	uint64_t reserved[4];
};

/**
 * struct pfnl_back_event - The module was loaded.
 * @groups: those of the wanted groups that could be joined; for the others see
 *     pfnl_group_error().
 * @reserved: zero.
 */
struct pfnl_back_event {
	unsigned int groups;
	uint64_t reserved[4];
};

/**
 * struct pfnl_event - An event.
 * @kind: enum pfnl_event_kind, and with it the member of the union that counts.
 * @u: the union.
 * @u.core: with PFNL_EVENT_CORE.
 * @u.setting: with PFNL_EVENT_SETTING.
 * @u.lost: with PFNL_EVENT_LOST.
 * @u.resync: with PFNL_EVENT_RESYNC_BEGIN and PFNL_EVENT_RESYNC_END.
 * @u.state_core: with PFNL_EVENT_STATE_CORE.
 * @u.state_setting: with PFNL_EVENT_STATE_SETTING.
 * @u.back: with PFNL_EVENT_BACK.
 */
struct pfnl_event {
	uint32_t kind;
	union {
		struct pfnl_core_event core;
		struct pfnl_setting_event setting;
		struct pfnl_lost_event lost;
		struct pfnl_resync_event resync;
		struct pfnl_core state_core;
		struct pfnl_setting state_setting;
		struct pfnl_back_event back;
	} u;
};

/**
 * pfnl_set_receive_buffer() - Wish a size for the event socket's buffer.
 * @h: handle, not subscribed yet.
 * @bytes: size in bytes; 0: the library's choice (4 MiB).
 *
 * Without CAP_NET_ADMIN the kernel grants at most net.core.rmem_max.
 *
 * Return: 0 or -EBUSY: already subscribed.
 */
int pfnl_set_receive_buffer(struct pfnl *h, size_t bytes);

/**
 * pfnl_receive_buffer() - Size of the event socket's buffer that was granted.
 * @h: handle.
 *
 * Return: bytes as SO_RCVBUF tells them (twice the size usable for data); 0
 * before pfnl_subscribe().
 */
size_t pfnl_receive_buffer(const struct pfnl *h);

/**
 * PFNL_SUBSCRIBE_WAIT - Succeed also while the module is not loaded; the first
 * event is then PFNL_EVENT_GONE, and PFNL_EVENT_BACK once it is loaded.
 */
#define PFNL_SUBSCRIBE_WAIT 1u

/**
 * pfnl_subscribe() - Begin to receive events, on a socket of its own.
 * @h: handle.
 * @groups: PFNL_GROUP_CORE, PFNL_GROUP_SETTING or both.
 * @flags: 0 or PFNL_SUBSCRIBE_WAIT.
 *
 * Succeeds if at least one group could be joined: pfnl_group_error() tells of
 * each. Events reach the initial network namespace only: see events_here in
 * struct pfnl_info. Call pfnl_dispatch() once right after.
 *
 * Return: 0; -EBUSY: already subscribed; -ENOENT: module not loaded; -EPERM: no
 * group may be joined; -EOPNOTSUPP: this module has none of the groups;
 * -EINVAL; or the -errno of socket(2).
 */
int pfnl_subscribe(struct pfnl *h, unsigned int groups, unsigned int flags);

/**
 * pfnl_unsubscribe() - End it and close the event socket.
 * @h: handle. Not from within a dispatch callback.
 */
void pfnl_unsubscribe(struct pfnl *h);

/**
 * pfnl_group_error() - Tell whether a group was joined.
 * @h: handle, subscribed.
 * @group: one of PFNL_GROUP_CORE and PFNL_GROUP_SETTING.
 *
 * Return: 0: joined; -EPERM: not allowed; -EOPNOTSUPP: this (older) module has
 * no such group; -ENOENT: the module is not loaded at present; -EINVAL: it was
 * not asked for; or the -errno of setsockopt(2).
 */
int pfnl_group_error(const struct pfnl *h, unsigned int group);

/**
 * pfnl_event_fd() - File descriptor to wait on.
 * @h: handle.
 *
 * Return: a descriptor for poll(2) and its like (readable when there is
 * something to dispatch); it belongs to the handle. -EBADF if not subscribed.
 */
int pfnl_event_fd(const struct pfnl *h);

/**
 * pfnl_events_pending() - Tell whether events wait inside the handle.
 * @h: handle.
 *
 * Return: true after pfnl_subscribe() and after a callback ended a dispatch
 * early: then pfnl_dispatch() is to be called without waiting for the
 * descriptor.
 */
bool pfnl_events_pending(const struct pfnl *h);

/**
 * typedef pfnl_event_cb - Called once per event.
 * @event: belongs to the library, and holds until the callback returns.
 * @arg: as given to pfnl_dispatch().
 *
 * Return: 0 to go on; else the dispatch ends and returns this value; what is
 * left comes with the next one. It is wise to return positive values.
 */
typedef int (*pfnl_event_cb)(const struct pfnl_event *event, void *arg);

/**
 * pfnl_dispatch() - Handle what is there, without waiting.
 * @h: handle, subscribed.
 * @cb: called once per event.
 * @arg: passed to @cb.
 *
 * Losses, an unloaded module and unreadable messages are events, not errors. To
 * let the caller do other things under a flood, it returns after some thousand
 * events at the latest, or some hundred messages that are none, or a few states
 * in a row; the descriptor then is readable, or pfnl_events_pending() true.
 *
 * Return: 0, what @cb returned, -EBADF: not subscribed, -EBUSY: called from
 * within its callback, -ENOMEM, or the -errno of recvmsg(2).
 */
int pfnl_dispatch(struct pfnl *h, pfnl_event_cb cb, void *arg);

#endif /* PREFETCHNL_EVENTS_H */
