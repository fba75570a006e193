// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The stream of events. The first byte names the groups and how to subscribe;
 * records follow: messages with bytes of the input in them, and what may happen
 * to a module, a socket and a listener.
 */
#include <errno.h>
#include <string.h>

#include <linux/genetlink.h>
#include <linux/netlink.h>

#include "fuzz.h"

#define MODE_WAIT     4u
#define MODE_UNLOADED 8u
#define MODE_NO_CORE  16u /* an old module: no group core */

enum {
	DATAGRAM,
	CORE,	   /* the attributes of a core event */
	SETTING,   /* the attributes of a setting event */
	CTRL,	   /* the attributes of a message of nlctrl */
	STEP,	   /* see step() */
	GOOD_CORE, /* a proper core event with numbers of the input */
	EDIT,	   /* bytes that are written over the next answer */
	KINDS,
};

#define FLAG_GONE 0x10u /* CTRL: DELFAMILY */

/* A stream that is fed for so long gives at most so many events. */
#define MOST_EVENTS 100000u

struct listener {
	struct channel c;
	struct pfnl *h;
	unsigned int events;
	unsigned int stop_after; /* 0: never */
	bool in_state;		 /* between the begin and end of a resync */
	bool gone;		 /* the module is not there */
	bool owed;		 /* something was lost: a resync must come */
	bool lied_to;		 /* nlctrl may have said what is not so */
	struct record edit;
};

static void edit(struct fake_bytes *bytes, void *arg)
{
	struct listener *l = arg;
	size_t at;
	size_t i;

	if (!l->edit.size || !bytes->used)
		return;
	at = l->edit.data[0];
	for (i = 1; i < l->edit.size && at + i - 1 < bytes->used; i++)
		bytes->data[at + i - 1] = l->edit.data[i];
	l->edit.size = 0;
}

static void check_core_event(const struct pfnl_core_event *e)
{
	size_t i;

	must_be_text(e->comm, sizeof(e->comm));
	for (i = 0; i < e->n_cpus; i++)
		(void)*(const volatile uint32_t *)&e->cpus[i];
}

static void check_state(const struct listener *l,
			const struct pfnl_event *event)
{
	const struct pfnl_core *core = &event->u.state_core;
	size_t i;

	HOLDS(l->in_state);
	if (event->kind == PFNL_EVENT_STATE_SETTING) {
		must_be_text(event->u.state_setting.comm,
			     sizeof(event->u.state_setting.comm));
		return;
	}
	for (i = 0; i < core->n_cpus; i++)
		must_be_text(core->cpus[i].comm, sizeof(core->cpus[i].comm));
}

static void check_lost(const struct pfnl_lost_event *e)
{
	HOLDS(e->group <= PFNL_GROUP_SETTING);
	HOLDS(e->changes >= e->count);
	HOLDS(!e->known || e->count);
	HOLDS(e->known || !e->changes_known);
}

static int on_event(const struct pfnl_event *event, void *arg)
{
	struct listener *l = arg;

	HOLDS(++l->events < MOST_EVENTS);
	switch (event->kind) {
	case PFNL_EVENT_CORE:
		HOLDS(!l->in_state);
		check_core_event(&event->u.core);
		break;
	case PFNL_EVENT_SETTING:
		HOLDS(!l->in_state);
		must_be_text(event->u.setting.setting.comm, PREFETCH_COMM_LEN);
		break;
	case PFNL_EVENT_LOST:
		HOLDS(!l->in_state);
		check_lost(&event->u.lost);
		/* Otherwise it comes with the module. */
		l->owed = !l->gone;
		break;
	case PFNL_EVENT_RESYNC_BEGIN:
		HOLDS(!l->in_state && !event->u.resync.message[0]);
		l->in_state = true;
		l->owed = false;
		break;
	case PFNL_EVENT_RESYNC_END:
		HOLDS(l->in_state);
		l->in_state = false;
		if (event->u.resync.error)
			must_be_reason(event->u.resync.message);
		else
			HOLDS(!event->u.resync.message[0]);
		break;
	case PFNL_EVENT_STATE_CORE:
	case PFNL_EVENT_STATE_SETTING:
		check_state(l, event);
		break;
	case PFNL_EVENT_GONE:
		HOLDS(!l->in_state && !l->gone);
		l->owed = false;
		l->gone = true;
		break;
	case PFNL_EVENT_BACK:
		HOLDS(!l->in_state);
		HOLDS(event->u.back.groups <= 3);
		l->owed = true;
		l->gone = false;
		break;
	default:
		HOLDS(!"a kind that the header lists");
	}
	return l->stop_after && l->events % l->stop_after == 0;
}

/* Until nothing is left, as a careful caller does. */
static void dispatch(struct listener *l)
{
	int rounds;
	int r;

	for (rounds = 0; rounds < 1000; rounds++) {
		r = pfnl_dispatch(l->h, on_event, l);
		if (r < 0)
			must_be_reason(pfnl_errmsg(l->h));
		else
			HOLDS(!pfnl_errmsg(l->h)[0]);
		/* After an error there may be more on the socket. */
		if (r < 0 && l->c.fake->open[PFNL_EVENTS])
			continue;
		if (!pfnl_events_pending(l->h))
			return;
	}
	HOLDS(!"an end");
}

static void subscribe(struct listener *l, uint8_t mode)
{
	int r;

	pfnl_unsubscribe(l->h);
	l->in_state = false;
	l->owed = false;
	l->gone = false;
	r = pfnl_subscribe(l->h, mode & 3,
			   mode & MODE_WAIT ? PFNL_SUBSCRIBE_WAIT : 0);
	HOLDS(r <= 0);
	if (r)
		must_be_reason(pfnl_errmsg(l->h));
}

static void good_core(struct fake *f, struct input *in)
{
	struct fake_core_event event = { .comm = "x" };

	event.domain = take_u8(in);
	event.old_mask = take_u8(in);
	event.new_mask = take_u8(in);
	event.folded = take_u32(in);
	event.lost = take_u32(in);
	if (in->size) {
		f->core_seq = take_u32(in);
		f->core_total = take_u32(in);
		f->core_total |= (uint64_t)take_u32(in) << 32;
	}
	fake_core_event(f, &event);
}

/* The words about it find no place on the socket. */
static void reload_unheard(struct fake *f)
{
	bool heard = f->joined_notify;

	f->joined_notify = false;
	fake_unload(f);
	fake_load(f);
	f->joined_notify = heard;
	fake_event_error(f, ENOBUFS);
}

static void step(struct listener *l, struct input *in)
{
	static const int errors[] = { ENOBUFS, ENOMEM, EIO, ENOBUFS };
	struct fake_setting s = { .pid = 100, .off = 1, .id = 5 };
	struct fake *f = l->c.fake;
	bool open = f->open[PFNL_EVENTS];

	switch (take_u8(in) % 12) {
	case 0:
		if (f->loaded)
			fake_unload(f);
		break;
	case 1:
		if (!f->loaded)
			fake_load(f);
		break;
	case 2:
		if (open)
			fake_event_error(f, errors[take_u8(in) % 4]);
		break;
	case 3:
		fake_drop_core_events(f, take_u8(in));
		break;
	case 4:
		fake_drop_setting_events(f, take_u32(in));
		break;
	case 5:
		fake_setting_event(f, &s, take_u8(in));
		break;
	case 6:
		fake_add_setting(f, 100, take_u8(in), take_u8(in), 0);
		break;
	case 7:
		dispatch(l);
		break;
	case 8:
		l->stop_after = take_u8(in);
		break;
	case 9:
		f->core_join_error = take_u8(in) % 3 ? 0 : EPERM;
		f->setting_join_error = take_u8(in) % 3 ? 0 : EPERM;
		break;
	case 10:
		subscribe(l, take_u8(in));
		break;
	default:
		if (open)
			reload_unheard(f);
		break;
	}
}

static void message(struct listener *l, const struct record *record)
{
	uint8_t data[1024];
	struct fake *f = l->c.fake;
	uint16_t type = f->family;
	size_t size;
	int cmd;

	switch (record->kind % KINDS) {
	case CORE:
		cmd = PREFETCH_CMD_CORE_NTF;
		break;
	case SETTING:
		cmd = PREFETCH_CMD_SETTING_NTF;
		break;
	default:
		l->lied_to = true;
		type = GENL_ID_CTRL;
		cmd = record->kind & FLAG_GONE ? CTRL_CMD_DELFAMILY
					       : CTRL_CMD_NEWFAMILY;
		break;
	}
	size = put_message(data, sizeof(data), type, 0, 0, cmd, record->data,
			   record->size);
	if (size)
		fake_raw(f, PFNL_EVENTS, data, size);
}

static void play(struct listener *l, const struct record *record)
{
	struct input in = { record->data, record->size };
	bool open = l->c.fake->open[PFNL_EVENTS];

	switch (record->kind % KINDS) {
	case DATAGRAM:
		l->lied_to = true;
		if (open)
			fake_raw(l->c.fake, PFNL_EVENTS, record->data,
				 record->size);
		break;
	case STEP:
		step(l, &in);
		break;
	case GOOD_CORE:
		good_core(l->c.fake, &in);
		break;
	case EDIT:
		l->edit = *record;
		break;
	default:
		if (open)
			message(l, record);
		break;
	}
}

/* The stream never ends: a listener hears of what happens next. */
static void check_lives(struct listener *l)
{
	struct fake_core_event event = { .comm = "x", .folded = 1 };
	struct fake *f = l->c.fake;
	unsigned int before;

	l->edit.size = 0;
	l->stop_after = 0;
	dispatch(l);
	if (l->lied_to) {
		fake_unload(f);
		dispatch(l);
		fake_load(f);
		dispatch(l);
		HOLDS(!l->gone);
	}
	/* What it was owed it has got, or it knows that there is nothing. */
	HOLDS(!l->in_state && !l->owed);
	if (!f->joined_core)
		return;
	before = l->events;
	fake_core_event(f, &event);
	dispatch(l);
	HOLDS(l->events > before);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct listener l = { .c = { .in = { data, size } } };
	struct record record;
	uint8_t mode;

	mode = take_u8(&l.c.in);
	l.c.fake = fake_new();
	l.c.fake->loaded = !(mode & MODE_UNLOADED);
	l.c.fake->core_group = !(mode & MODE_NO_CORE);
	l.c.fake->edit = edit;
	l.c.fake->edit_arg = &l;
	fake_add_task(l.c.fake, 100, 100, "server");
	HOLDS(!pfnl_open_transport(&l.h, &channel_transport, &l.c));
	subscribe(&l, mode);
	while (take_record(&l.c.in, &record))
		play(&l, &record);
	if (l.c.fake->open[PFNL_EVENTS])
		check_lives(&l);
	pfnl_close(l.h);
	return 0;
}
