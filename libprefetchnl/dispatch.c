// SPDX-License-Identifier: LGPL-2.1-or-later
/* Dispatch: from messages on the event socket to events. */
#include <errno.h>
#include <string.h>

#include "events.h"

/* Events in one call, so that a flood does not keep its caller here. */
#define BUDGET 8192

/* The same for what becomes no event: so many messages... */
#define MAX_IDLE 256

/* ...and a state that is asked for counts as this many. */
#define SETTLE_COST 16

/* Overruns in a row, after which the socket is taken to be empty. */
#define MAX_OVERRUNS 16

struct pfnl_event *pfnl_queue(struct pfnl_events *e, uint32_t kind)
{
	struct pfnl_event *event;

	/* Cannot be full: it is emptied before anything else is handled. */
	if (e->queue_used == PFNL_QUEUE)
		return NULL;
	event = &e->queue[(e->queue_first + e->queue_used) % PFNL_QUEUE];
	e->queue_used++;
	memset(event, 0, sizeof(*event));
	event->kind = kind;
	return event;
}

unsigned int pfnl_joined(const struct pfnl_events *e)
{
	unsigned int groups = 0;
	size_t i;

	for (i = 0; i < 2; i++)
		if (e->groups[i].wanted && !e->groups[i].error)
			groups |= e->groups[i].bit;
	return groups;
}

struct pfnl_event *pfnl_missing(struct pfnl_events *e, unsigned int group,
				bool known, uint64_t messages, uint64_t changes)
{
	struct pfnl_event *event = pfnl_queue(e, PFNL_EVENT_LOST);

	if (event) {
		event->u.lost.group = group;
		event->u.lost.known = known;
		event->u.lost.count = messages;
		/* Each message stands for a change at least. */
		event->u.lost.changes_known = known && changes >= messages;
		event->u.lost.changes = event->u.lost.changes_known ? changes
								    : messages;
	}
	pfnl_want_resync(e, PFNL_RESYNC_LOST);
	return event;
}

static void lost_by_module(struct pfnl_events *e, unsigned int group,
			   uint64_t changes)
{
	struct pfnl_event *event;

	event = pfnl_missing(e, group, true, changes, changes);
	if (event)
		event->u.lost.by_module = true;
}

/* What a message says of itself and of those before it. */
struct place {
	uint32_t seq;
	uint64_t total;
	uint64_t changes; /* that it tells */
	uint64_t lost;	  /* that the module could not tell before it */
};

/* How many changes were not told between the last message and this one. */
static bool missed_changes(const struct pfnl_group *group,
			   const struct place *p, uint64_t *missed)
{
	*missed = p->total - group->total - p->changes;
	/* Below 0: the numbers do not fit together. */
	return group->seq_known && pfnl_total_known(group) && p->total &&
	       !(*missed >> 63);
}

/*
 * How many of them the module lost. The totals have the last word on what it
 * says: it may say so before or after it counts them, and we may have told of
 * them when we asked for the totals. Each missing message stood for one at
 * least.
 */
static uint64_t lost_changes(const struct place *p, uint32_t missing,
			     uint64_t missed)
{
	uint64_t most = missed > missing ? missed - missing : 0;

	return missing && p->lost < most ? p->lost : most;
}

/* Compares a message's place with that of the last one. */
static void check_place(struct pfnl_events *e, struct pfnl_group *group,
			const struct place *p)
{
	uint32_t missing = group->seq_known ? p->seq - group->seq - 1 : 0;
	uint64_t lost = p->lost;
	uint64_t missed;
	bool known;

	/* More than half the range: one that was counted as it came in. */
	if (missing >> 31)
		return;
	known = missed_changes(group, p, &missed);
	if (known)
		lost = lost_changes(p, missing, missed);
	if (lost)
		lost_by_module(e, group->bit, lost);
	if (missing) {
		pfnl_missing(e, group->bit, true, missing,
			     known ? missed - lost : 0);
		e->gap_told = true;
	}
	group->seq = p->seq;
	group->total = p->total;
	group->seq_known = true;
}

static void check_core(struct pfnl_events *e,
		       const struct pfnl_core_event *core)
{
	const struct place p = { core->seq, core->total, core->folded,
				 core->lost };

	check_place(e, &e->groups[0], &p);
}

static void check_setting(struct pfnl_events *e,
			  const struct pfnl_setting_event *setting)
{
	const struct place p = { setting->seq, setting->total, 1,
				 setting->lost };

	check_place(e, &e->groups[1], &p);
}

/* Either the message becomes an event (true), or it is told to be lost. */
static bool handle_event(struct pfnl *h, const struct nlmsghdr *msg,
			 struct pfnl_event *event)
{
	struct pfnl_events *e = h->events;
	struct pfnl_group *group;
	int r;

	if (pfnl_genl(msg)->cmd == PREFETCH_CMD_CORE_NTF) {
		group = &e->groups[0];
		r = pfnl_read_core_event(h, msg, &event->u.core, &e->cpus);
		event->kind = PFNL_EVENT_CORE;
		if (!r)
			check_core(e, &event->u.core);
	} else if (pfnl_genl(msg)->cmd == PREFETCH_CMD_SETTING_NTF) {
		group = &e->groups[1];
		r = pfnl_read_setting_event(h, msg, &event->u.setting);
		event->kind = PFNL_EVENT_SETTING;
		if (!r)
			check_setting(e, &event->u.setting);
	} else {
		/* A newer module tells of more than we know. */
		return false;
	}
	if (!r)
		return group->wanted;
	pfnl_clear_error(h);
	/* Its number is not known, so the next one cannot be compared. */
	group->seq_known = false;
	pfnl_missing(e, group->bit, false, 1, 0);
	return false;
}

static void handle_ctrl(struct pfnl *h, const struct nlmsghdr *msg)
{
	struct pfnl_events *e = h->events;
	struct pfnl_family family;
	struct pfnl_event *event;
	uint8_t cmd = pfnl_genl(msg)->cmd;

	if (cmd != CTRL_CMD_NEWFAMILY && cmd != CTRL_CMD_DELFAMILY)
		return;
	if (pfnl_family_parse(h, msg, &family) ||
	    strcmp(family.name, PREFETCH_FAMILY_NAME)) {
		pfnl_clear_error(h);
		return;
	}
	if (cmd == CTRL_CMD_DELFAMILY) {
		if (family.id == e->family)
			pfnl_detach(h);
		return;
	}
	if (family.id == e->family)
		return;
	/* The word may be older than what is known. */
	if (e->family && !pfnl_family_find(h, &family) &&
	    family.id == e->family)
		return;
	if (e->family)
		pfnl_detach(h);
	/* It may be gone again: then that comes next. */
	if (!pfnl_attach(h)) {
		event = pfnl_queue(e, PFNL_EVENT_BACK);
		if (event)
			event->u.back.groups = pfnl_joined(e);
		pfnl_want_resync(e, PFNL_RESYNC_BACK);
	}
	pfnl_clear_error(h);
}

static bool handle_message(struct pfnl *h, const struct nlmsghdr *msg,
			   struct pfnl_event *event)
{
	struct pfnl_events *e = h->events;

	if (e->wanted)
		e->since++;
	if (msg->nlmsg_len < NLMSG_LENGTH(GENL_HDRLEN))
		return false;
	if (msg->nlmsg_type == GENL_ID_CTRL)
		handle_ctrl(h, msg);
	else if (e->family && msg->nlmsg_type == e->family)
		return handle_event(h, msg, event);
	return false;
}

/* 1: received; 0: nothing there; -errno. A loss is noted, and counts as 1. */
static int receive(struct pfnl *h)
{
	struct pfnl_events *e = h->events;
	char buf[64];
	ssize_t got;

	e->in_pos = 0;
	e->in_size = 0;
	got = h->ops->recv(h->ctx, PFNL_EVENTS, e->in, PFNL_RECV_SIZE);
	if (got == -EAGAIN || (got == -ENOBUFS && e->overruns >= MAX_OVERRUNS))
		return 0;
	if (got == -ENOBUFS) {
		e->overruns++;
		pfnl_want_resync(e, PFNL_RESYNC_LOST);
		e->overrun = true;
		return 1;
	}
	if (got < 0)
		return pfnl_fail(h, (int)got, "cannot receive events: %s",
				 pfnl_strerror((int)got, buf, sizeof(buf)));
	e->overruns = 0;
	if (got > PFNL_RECV_SIZE)
		pfnl_missing(e, 0, false, 1, 0);
	else
		e->in_size = (size_t)got;
	return 1;
}

/*
 * 1: *event is set; 0: nothing left to do, or *idle has come to MAX_IDLE;
 * -errno.
 */
static int next_event(struct pfnl *h, struct pfnl_event *event, int *idle)
{
	struct pfnl_events *e = h->events;
	const struct nlmsghdr *msg;
	int r;

	while (*idle < MAX_IDLE) {
		if (e->queue_used) {
			*event = e->queue[e->queue_first];
			e->queue_first = (e->queue_first + 1) % PFNL_QUEUE;
			e->queue_used--;
			return 1;
		}
		if (e->held) {
			*event = e->held_event;
			e->held = false;
			return 1;
		}
		if (e->stage != PFNL_STAGE_NONE) {
			pfnl_resync_next(h, event);
			return 1;
		}
		r = pfnl_split(e->in, e->in_size, &e->in_pos, &msg);
		if (r < 0) {
			e->in_pos = e->in_size = 0;
			pfnl_missing(e, 0, false, 1, 0);
			++*idle;
			continue;
		}
		if (r) {
			e->held_event.kind = 0;
			/* What was lost before it is told before it. */
			e->held = handle_message(h, msg, &e->held_event);
			*idle += !e->held;
			continue;
		}
		/* The state comes first, whatever waits on the socket. */
		if (e->wanted && (e->reason != PFNL_RESYNC_LOST ||
				  e->since >= PFNL_RESYNC_AFTER)) {
			pfnl_settle(h);
			*idle += SETTLE_COST;
			continue;
		}
		r = receive(h);
		if (r < 0)
			return r;
		if (!r && !e->wanted)
			return 0;
		if (!r)
			pfnl_settle(h);
		/* A datagram with a message is counted by that. */
		if (!e->in_size)
			*idle += r ? 1 : SETTLE_COST;
	}
	return 0;
}

bool pfnl_events_pending(const struct pfnl *h)
{
	const struct pfnl_events *e = h->events;

	return e && (e->queue_used || e->held || e->wanted ||
		     e->stage != PFNL_STAGE_NONE || e->in_pos < e->in_size);
}

int pfnl_dispatch(struct pfnl *h, pfnl_event_cb cb, void *arg)
{
	struct pfnl_event event;
	int budget = BUDGET;
	int idle = 0;
	int r = 0;

	pfnl_clear_error(h);
	if (!h->events)
		return pfnl_fail(h, -EBADF, "not subscribed");
	if (h->events->dispatching)
		return pfnl_fail(h, -EBUSY, "called from within its callback");
	h->events->dispatching = true;
	while (budget-- > 0) {
		r = next_event(h, &event, &idle);
		if (r <= 0)
			break;
		/* What went wrong on the way became an event. */
		pfnl_clear_error(h);
		r = cb(&event, arg);
		if (r)
			break;
	}
	h->events->dispatching = false;
	if (!r)
		pfnl_clear_error(h);
	return r;
}
