// SPDX-License-Identifier: LGPL-2.1-or-later
/* Subscribing: the event socket, its groups, and the module that comes and goes
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "events.h"

#define DEFAULT_BUFFER (4 * 1024 * 1024)

int pfnl_set_receive_buffer(struct pfnl *h, size_t bytes)
{
	pfnl_clear_error(h);
	if (h->events)
		return pfnl_fail(h, -EBUSY, "already subscribed");
	h->wanted_buffer = bytes;
	return 0;
}

size_t pfnl_receive_buffer(const struct pfnl *h)
{
	return h->events ? h->granted_buffer : 0;
}

static int join(struct pfnl *h, const struct pfnl_group *group, uint32_t id)
{
	char buf[64];
	int r;

	if (!id)
		return pfnl_fail(h, -EOPNOTSUPP,
				 "this module has no event group %s",
				 pfnl_group_name(group->bit));
	r = h->ops->join(h->ctx, id);
	if (r)
		return pfnl_fail(h, r, "cannot join the event group %s: %s",
				 pfnl_group_name(group->bit),
				 pfnl_strerror(r, buf, sizeof(buf)));
	return 0;
}

int pfnl_attach(struct pfnl *h)
{
	struct pfnl_events *e = h->events;
	struct pfnl_family family;
	size_t i;
	int r;

	r = pfnl_family_find(h, &family);
	if (r)
		return r;
	e->family = family.id;
	e->gone_told = false;
	for (i = 0; i < 2; i++) {
		e->groups[i].seq_known = false;
		if (e->groups[i].wanted)
			e->groups[i].error = join(h, &e->groups[i],
						  i ? family.setting_group
						    : family.core_group);
	}
	return 0;
}

void pfnl_detach(struct pfnl *h)
{
	struct pfnl_events *e = h->events;
	size_t i;

	e->family = 0;
	h->family = 0;
	e->wanted = false;
	e->overrun = false;
	for (i = 0; i < 2; i++)
		if (e->groups[i].wanted)
			e->groups[i].error = -ENOENT;
	if (!e->gone_told)
		pfnl_queue(e, PFNL_EVENT_GONE);
	e->gone_told = true;
}

static void free_events(struct pfnl_events *e)
{
	pfnl_core_clear(&e->core);
	pfnl_buffer_free(&e->cores);
	pfnl_buffer_free(&e->settings);
	free(e->cpus);
	free(e->in);
	free(e);
}

static struct pfnl_events *alloc_events(unsigned int groups)
{
	struct pfnl_events *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->in = malloc(PFNL_RECV_SIZE);
	if (!e->in) {
		free(e);
		return NULL;
	}
	e->groups[0].bit = PFNL_GROUP_CORE;
	e->groups[0].cmd = PREFETCH_CMD_CORE_NTF;
	e->groups[0].wanted = groups & PFNL_GROUP_CORE;
	e->groups[1].bit = PFNL_GROUP_SETTING;
	e->groups[1].cmd = PREFETCH_CMD_SETTING_NTF;
	e->groups[1].wanted = groups & PFNL_GROUP_SETTING;
	return e;
}

static int open_events(struct pfnl *h, struct pfnl_events *e)
{
	char buf[64];
	int r;

	r = h->ops->open(h->ctx, PFNL_EVENTS);
	if (r)
		return pfnl_fail(h, r, "no netlink socket: %s",
				 pfnl_strerror(r, buf, sizeof(buf)));
	h->granted_buffer = h->ops->buffer(h->ctx, h->wanted_buffer
							   ? h->wanted_buffer
							   : DEFAULT_BUFFER);
	h->events = e;
	return 0;
}

/* Lets nlctrl tell when the module is unloaded and loaded. */
static int follow_module(struct pfnl *h)
{
	struct pfnl_family ctrl;
	char buf[64];
	int r;

	r = pfnl_family_get(h, "nlctrl", &ctrl);
	if (r)
		return r;
	if (!ctrl.notify_group)
		return pfnl_fail(h, -EBADMSG, "nlctrl has no group notify");
	r = h->ops->join(h->ctx, ctrl.notify_group);
	if (r)
		return pfnl_fail(h, r, "cannot join the group notify: %s",
				 pfnl_strerror(r, buf, sizeof(buf)));
	return 0;
}

/* 0 if any wanted group was joined, else why not. */
static int any_joined(const struct pfnl_events *e)
{
	int error = 0;
	size_t i;

	for (i = 0; i < 2; i++) {
		if (!e->groups[i].wanted)
			continue;
		if (!e->groups[i].error)
			return 0;
		/* Not to be allowed says more than that one is not there. */
		if (!error || error == -EOPNOTSUPP)
			error = e->groups[i].error;
	}
	return error;
}

static int start(struct pfnl *h, unsigned int flags)
{
	int r;

	r = follow_module(h);
	if (r)
		return r;
	r = pfnl_attach(h);
	if (r == -ENOENT && h->module_missing && flags & PFNL_SUBSCRIBE_WAIT) {
		pfnl_clear_error(h);
		pfnl_detach(h);
		return 0;
	}
	if (!r)
		r = any_joined(h->events);
	if (!r)
		pfnl_want_resync(h->events, PFNL_RESYNC_START);
	return r;
}

int pfnl_subscribe(struct pfnl *h, unsigned int groups, unsigned int flags)
{
	struct pfnl_events *e;
	int r;

	pfnl_clear_error(h);
	if (h->events)
		return pfnl_fail(h, -EBUSY, "already subscribed");
	if (!groups || groups & ~(PFNL_GROUP_CORE | PFNL_GROUP_SETTING) ||
	    flags & ~PFNL_SUBSCRIBE_WAIT)
		return pfnl_fail(h, -EINVAL, "no such event group or flag");
	e = alloc_events(groups);
	if (!e)
		return pfnl_fail(h, -ENOMEM, "out of memory");
	r = open_events(h, e);
	if (r) {
		free_events(e);
		return r;
	}
	r = start(h, flags);
	if (r)
		pfnl_unsubscribe(h);
	else
		pfnl_clear_error(h);
	return r;
}

void pfnl_unsubscribe(struct pfnl *h)
{
	if (!h->events)
		return;
	h->ops->close(h->ctx, PFNL_EVENTS);
	free_events(h->events);
	h->events = NULL;
}

int pfnl_group_error(const struct pfnl *h, unsigned int group)
{
	const struct pfnl_events *e = h->events;
	size_t i;

	for (i = 0; e && i < 2; i++)
		if (e->groups[i].bit == group && e->groups[i].wanted)
			return e->groups[i].error;
	return -EINVAL;
}

int pfnl_event_fd(const struct pfnl *h)
{
	return h->events ? h->ops->fd(h->ctx, PFNL_EVENTS) : -EBADF;
}
