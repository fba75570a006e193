// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Resync: after a loss the state is asked for and told anew.
 *
 * A socket that overran takes nothing in until all that waits in it has been
 * read, so that is read first. What was dropped shows as a gap in the numbers
 * of the messages; if no message follows, as a difference from the last number
 * in info-get. As messages may still come in while that is asked for, it is
 * asked once the socket is empty, the socket is emptied again, and only then
 * are the numbers compared.
 */
#include <errno.h>
#include <string.h>

#include "events.h"

void pfnl_want_resync(struct pfnl_events *e, uint32_t reason)
{
	if (!e->wanted) {
		e->since = 0;
		e->reason = reason;
	}
	e->wanted = true;
	/* A state that was asked for before the loss is not the state now. */
	e->settled = false;
}

/* The module is gone, or is back under another number. */
static bool module_changed(const struct pfnl *h)
{
	return h->module_missing || h->family != h->events->family;
}

static int read_counts(struct pfnl *h)
{
	struct pfnl_events *e = h->events;
	struct pfnl_info info;
	int r;

	r = pfnl_info(h, &info);
	if (r)
		return r;
	e->settled_seq[0] = info.core_seq;
	e->settled_seq[1] = info.setting_seq;
	e->settled_total[0] = info.core_total;
	e->settled_total[1] = info.setting_total;
	return 0;
}

/* Tells of the messages after which no other came. */
static void account(struct pfnl_events *e)
{
	struct pfnl_group *group;
	bool told = false;
	uint64_t changes;
	uint32_t missing;
	size_t i;

	for (i = 0; i < 2; i++) {
		group = &e->groups[i];
		if (!group->wanted || group->error)
			continue;
		missing = e->settled_seq[i] - group->seq;
		if (group->seq_known) {
			/* What still waits on the socket is not lost. */
			if (!e->overrun)
				continue;
			/* More than half the range: later than the count. */
			if (missing == 0 || missing >> 31)
				continue;
			/* Below 0: the numbers do not fit together. */
			changes = e->settled_total[i] - group->total;
			if (!pfnl_total_known(group) || changes >> 63)
				changes = 0;
			pfnl_missing(e, group->bit, true, missing, changes);
			told = true;
		}
		group->seq = e->settled_seq[i];
		group->total = e->settled_total[i];
		group->seq_known = true;
	}
	if (e->overrun && !told && !e->gap_told)
		pfnl_missing(e, 0, false, 0, 0);
	e->overrun = false;
	e->gap_told = false;
}

/* As good as it can be had: an error is told at the end of the state. */
static void read_state(struct pfnl *h)
{
	struct pfnl_events *e = h->events;
	unsigned int flags = 0;
	int r = 0;

	memset(&e->result, 0, sizeof(e->result));
	e->cores.used = 0;
	e->settings.used = 0;
	if (e->groups[0].wanted) {
		r = pfnl_dump_cores(h, false, &e->cores, &flags);
		e->result.flags |= flags;
	}
	if (!r && e->groups[1].wanted) {
		flags = 0;
		r = pfnl_dump_settings(h, 0, 0, &e->settings, &flags);
		e->result.flags |= flags;
	}
	e->result.error = r;
	memcpy(e->message, r ? h->errmsg : "", r ? sizeof(e->message) : 1);
}

/* The module went away without a word, or came back under another number. */
static void attach_again(struct pfnl *h)
{
	struct pfnl_event *event;
	int r;

	pfnl_detach(h);
	r = pfnl_attach(h);
	if (r)
		return;
	event = pfnl_queue(h->events, PFNL_EVENT_BACK);
	if (event)
		event->u.back.groups = pfnl_joined(h->events);
	pfnl_want_resync(h->events, PFNL_RESYNC_BACK);
}

void pfnl_settle(struct pfnl *h)
{
	struct pfnl_events *e = h->events;
	int r;

	/* At a start there is nothing to empty the socket of. */
	if (!e->settled) {
		r = read_counts(h);
		if (module_changed(h)) {
			attach_again(h);
			return;
		}
		if (r) {
			/* Told at the end of the state, if it lasts. */
			e->settled_seq[0] = e->groups[0].seq;
			e->settled_seq[1] = e->groups[1].seq;
			e->settled_total[0] = e->groups[0].total;
			e->settled_total[1] = e->groups[1].total;
		}
		e->settled = true;
		if (e->overrun)
			return;
	}
	account(e);
	read_state(h);
	if (module_changed(h)) {
		attach_again(h);
		return;
	}
	e->result.reason = e->reason;
	e->wanted = false;
	e->settled = false;
	e->stage = PFNL_STAGE_BEGIN;
	pfnl_clear_error(h);
}

/* A message that cannot be read is left out, and that is told at the end. */
static void note_bad(struct pfnl *h, int error)
{
	struct pfnl_events *e = h->events;

	if (e->result.error)
		return;
	e->result.error = error;
	memcpy(e->message, h->errmsg, sizeof(e->message));
}

static bool next_core(struct pfnl *h, struct pfnl_event *event)
{
	struct pfnl_events *e = h->events;
	const struct nlmsghdr *msg;
	int r;

	while ((msg = pfnl_buffer_next(&e->cores, &e->pos))) {
		pfnl_core_clear(&e->core);
		r = pfnl_read_core(h, msg, &e->core);
		if (!r) {
			event->kind = PFNL_EVENT_STATE_CORE;
			event->u.state_core = e->core;
			return true;
		}
		note_bad(h, r);
	}
	return false;
}

static bool next_setting(struct pfnl *h, struct pfnl_event *event)
{
	struct pfnl_events *e = h->events;
	const struct nlmsghdr *msg;
	int r;

	while ((msg = pfnl_buffer_next(&e->settings, &e->pos))) {
		r = pfnl_read_setting(h, msg, &event->u.state_setting);
		if (!r) {
			event->kind = PFNL_EVENT_STATE_SETTING;
			return true;
		}
		note_bad(h, r);
	}
	return false;
}

void pfnl_resync_next(struct pfnl *h, struct pfnl_event *event)
{
	struct pfnl_events *e = h->events;

	memset(event, 0, sizeof(*event));
	switch (e->stage) {
	case PFNL_STAGE_BEGIN:
		event->kind = PFNL_EVENT_RESYNC_BEGIN;
		event->u.resync.reason = e->result.reason;
		event->u.resync.message = "";
		e->stage = PFNL_STAGE_CORES;
		e->pos = 0;
		return;
	case PFNL_STAGE_CORES:
		if (next_core(h, event))
			return;
		e->stage = PFNL_STAGE_SETTINGS;
		e->pos = 0;
		/* fall through */
	case PFNL_STAGE_SETTINGS:
		if (next_setting(h, event))
			return;
		/* fall through */
	default:
		break;
	}
	memset(event, 0, sizeof(*event));
	event->kind = PFNL_EVENT_RESYNC_END;
	event->u.resync = e->result;
	event->u.resync.message = e->message;
	e->stage = PFNL_STAGE_NONE;
	/* A large state is not kept until the next loss. */
	pfnl_buffer_free(&e->cores);
	pfnl_buffer_free(&e->settings);
	pfnl_clear_error(h);
}
