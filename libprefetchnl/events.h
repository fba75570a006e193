/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The event side of a handle: what subscribe.c, dispatch.c and resync.c share.
 */
#ifndef PFNL_EVENTS_H
#define PFNL_EVENTS_H

#include "internal.h"

/* Events made here, not received, that wait for their turn. */
#define PFNL_QUEUE 8

/* Messages between a loss and the resync, if the stream does not pause. */
#define PFNL_RESYNC_AFTER 4096

struct pfnl_group {
	unsigned int bit; /* PFNL_GROUP_... */
	uint8_t cmd;	  /* its messages */
	bool wanted;
	int error; /* as of pfnl_group_error() */
	bool seq_known;
	uint32_t seq;	/* the last one that is accounted for */
	uint64_t total; /* changes up to that one */
};

/* A module that tells no totals has none even after a message. */
static inline bool pfnl_total_known(const struct pfnl_group *group)
{
	return group->total || !group->seq;
}

enum pfnl_stage {
	PFNL_STAGE_NONE,
	PFNL_STAGE_BEGIN,
	PFNL_STAGE_CORES,
	PFNL_STAGE_SETTINGS,
	PFNL_STAGE_END,
};

struct pfnl_events {
	struct pfnl_group groups[2]; /* core, setting */
	uint16_t family; /* whose groups are joined; 0: the module is gone */
	bool dispatching;
	bool gone_told;

	/* The last datagram, and how far it has been handled. */
	uint8_t *in;
	size_t in_size;
	size_t in_pos;

	/* The event of the last message, until the queue is empty. */
	bool held;
	struct pfnl_event held_event;

	struct pfnl_event queue[PFNL_QUEUE];
	size_t queue_first;
	size_t queue_used;

	/* A resync to come. */
	bool wanted;
	bool overrun;	       /* the socket dropped something */
	unsigned int overruns; /* in a row */
	bool gap_told;	       /* and a gap in the numbers told what */
	bool settled;	       /* counts were read after it; see resync.c */
	uint32_t settled_seq[2];
	uint64_t settled_total[2];
	uint32_t reason;
	unsigned int since; /* messages since it was wanted */

	/* A resync that goes on. */
	enum pfnl_stage stage;
	struct pfnl_resync_event result;
	char message[sizeof(((struct pfnl *)0)->errmsg)];
	struct pfnl_buffer cores;
	struct pfnl_buffer settings;
	size_t pos;

	/* What the event last given points to. */
	struct pfnl_core core;
	uint32_t *cpus;
};

/* --- subscribe.c --- */

/*
 * Finds the family and joins the wanted groups. 0, or -ENOENT if the module is
 * not loaded, or -errno. Groups that could not be joined have their error set.
 */
int pfnl_attach(struct pfnl *h);

/* The module is gone: forgets the family, and queues the event. */
void pfnl_detach(struct pfnl *h);

/* --- dispatch.c --- */

/* A new event at the end of the queue, zeroed but for its kind. */
struct pfnl_event *pfnl_queue(struct pfnl_events *e, uint32_t kind);

/*
 * Queues the event that so many messages are missing, which stood for so many
 * changes (0: not known), and wants a resync. Returns the event, or NULL.
 */
struct pfnl_event *pfnl_missing(struct pfnl_events *e, unsigned int group,
				bool known, uint64_t messages,
				uint64_t changes);

/* The groups that are joined. */
unsigned int pfnl_joined(const struct pfnl_events *e);

/* --- resync.c --- */

/* Something was lost, or the module came back. */
void pfnl_want_resync(struct pfnl_events *e, uint32_t reason);

/* The stream pauses, and a resync is wanted: goes on towards it. */
void pfnl_settle(struct pfnl *h);

/* The next event of a resync that goes on. */
void pfnl_resync_next(struct pfnl *h, struct pfnl_event *event);

#endif /* PFNL_EVENTS_H */
