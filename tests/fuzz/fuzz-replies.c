// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Answers to requests. The first byte names the call, the second how it is
 * made; records follow, each one a datagram or what to do in place of one.
 */
#include <errno.h>
#include <string.h>

#include <linux/genetlink.h>
#include <linux/netlink.h>

#include "fuzz.h"

/* The second byte. */
#define MODE_CTRL   1u /* nlctrl, too, answers from the input */
#define MODE_VERIFY 2u
#define MODE_AGAIN  4u /* the call is made twice */
#define MODE_TID    8u

/* The low bits of a record's kind. */
enum {
	DATAGRAM,  /* raw, with the number of the request in its messages */
	ANSWER,	   /* the attributes of an answer */
	DONE,	   /* what stands in NLMSG_DONE */
	REFUSAL,   /* what stands in NLMSG_ERROR */
	FAILURE,   /* recv() fails */
	TOO_LONG,  /* a datagram larger than any buffer */
	UNCHANGED, /* raw, down to the last byte */
	STRAY,	   /* an answer to somebody else */
	KINDS,
};

/* Its high bits. */
#define FLAG_MULTI 0x10u
#define FLAG_INTR  0x20u
#define FLAG_TLVS  0x10u
#define FLAG_CAP   0x20u
#define FLAG_MORE  0x80u /* the next record goes into the same datagram */

static uint8_t mode;

static bool on_send(struct channel *c, const void *data, size_t size)
{
	(void)data;
	(void)size;
	return c->request.type != GENL_ID_CTRL || mode & MODE_CTRL;
}

static void number_messages(const struct channel *c, uint8_t *data, size_t size)
{
	struct nlmsghdr msg;
	size_t at = 0;

	while (size - at >= sizeof(msg)) {
		memcpy(&msg, data + at, sizeof(msg));
		msg.nlmsg_seq = c->request.seq;
		memcpy(data + at, &msg, sizeof(msg));
		if (msg.nlmsg_len < sizeof(msg) || msg.nlmsg_len > size - at)
			return;
		at += NLMSG_ALIGN(msg.nlmsg_len);
		if (at > size)
			return;
	}
}

static size_t put_record(const struct channel *c, const struct record *record,
			 uint8_t *data, size_t room)
{
	uint32_t seq = c->request.seq;
	uint16_t flags = 0;
	int cmd = c->request.cmd;

	switch (record->kind % KINDS) {
	case STRAY:
		seq++;
		/* fall through */
	case ANSWER:
		if (c->request.type == GENL_ID_CTRL)
			cmd = CTRL_CMD_NEWFAMILY;
		if (record->kind & FLAG_MULTI)
			flags |= NLM_F_MULTI;
		if (record->kind & FLAG_INTR)
			flags |= NLM_F_DUMP_INTR;
		return put_message(data, room, c->request.type, flags, seq, cmd,
				   record->data, record->size);
	case DONE:
	case REFUSAL:
		if (record->kind & FLAG_TLVS)
			flags |= NLM_F_ACK_TLVS;
		if (record->kind & FLAG_CAP)
			flags |= NLM_F_CAPPED;
		return put_message(data, room,
				   record->kind % KINDS == DONE ? NLMSG_DONE
								: NLMSG_ERROR,
				   flags, seq, -1, record->data, record->size);
	default:
		if (record->size > room)
			return 0;
		memcpy(data, record->data, record->size);
		if (record->kind % KINDS == DATAGRAM)
			number_messages(c, data, record->size);
		return record->size;
	}
}

static ssize_t on_recv(struct channel *c, uint8_t *data, size_t size)
{
	static const int errors[] = { EAGAIN, ENOBUFS, ENOMEM, EIO };
	struct record record;
	size_t used = 0;

	while (take_record(&c->in, &record)) {
		if (record.kind % KINDS == FAILURE && !used)
			return -errors[record.size ? record.data[0] % 4 : 0];
		if (record.kind % KINDS == TOO_LONG && !used)
			return (ssize_t)size + 1;
		used += put_record(c, &record, data + used, size - used);
		if (!(record.kind & FLAG_MORE))
			return (ssize_t)used;
	}
	return used ? (ssize_t)used : -EAGAIN;
}

/* --- what the library makes of them --- */

static int on_prefetcher(const struct pfnl_prefetcher *p, void *arg)
{
	size_t i;

	(void)arg;
	HOLDS(p->id < 32);
	must_be_text(p->name, sizeof(p->name));
	must_be_text(p->description, sizeof(p->description));
	for (i = 0; i < p->n_locations; i++) {
		HOLDS(!p->locations[i].reserved);
	}
	return 0;
}

static int on_setting(const struct pfnl_setting *s, void *arg)
{
	(void)arg;
	must_be_text(s->comm, sizeof(s->comm));
	HOLDS(s->scope != PREFETCH_SCOPE_PROCESS || !s->tid);
	HOLDS(s->present || (!s->off && !s->on && !s->id));
	return 0;
}

static int on_core(const struct pfnl_core *core, void *arg)
{
	size_t i;

	(void)arg;
	HOLDS(!core->n_cpus || core->cpus);
	for (i = 0; i < core->n_cpus; i++)
		must_be_text(core->cpus[i].comm, sizeof(core->cpus[i].comm));
	for (i = 0; i < core->n_registers; i++)
		HOLDS(!core->registers[i].reserved[0] &&
		      !core->registers[i].reserved[1]);
	return 0;
}

static int on_repair(const struct pfnl_repair *repair, void *arg)
{
	size_t i;

	(void)arg;
	for (i = 0; i < repair->n_registers; i++)
		HOLDS(!repair->registers[i].reserved[0] &&
		      !repair->registers[i].reserved[1]);
	return 0;
}

static int ask_info(struct pfnl *h)
{
	struct pfnl_info info;
	int r = pfnl_info(h, &info);

	if (!r) {
		must_be_text(info.version, sizeof(info.version));
		must_be_text(info.cpu_vendor, sizeof(info.cpu_vendor));
	}
	return r;
}

static int ask_setting(struct pfnl *h, bool set)
{
	struct pfnl_setting_request q = PFNL_SETTING_REQUEST_INIT;
	struct pfnl_setting s;
	int r;

	q.pid = mode & MODE_TID ? 0 : 100;
	q.tid = mode & MODE_TID ? 101 : 0;
	q.off = 1;
	q.inherit = mode & MODE_VERIFY ? 1 : -1;
	q.start_time = mode & MODE_VERIFY ? 17 : 0;
	r = set ? pfnl_setting_set(h, &q, &s)
		: pfnl_setting_get(h, (pid_t)q.pid, (pid_t)q.tid, &s);
	return r ? r : on_setting(&s, NULL);
}

static int ask_core(struct pfnl *h)
{
	struct pfnl_core core = { .domain = 77 };
	int r = pfnl_core_get(h, 0, mode & MODE_VERIFY, &core);

	if (r) {
		HOLDS(core.domain == 77 && !core.cpus);
		return r;
	}
	on_core(&core, NULL);
	pfnl_core_clear(&core);
	return 0;
}

static int ask(struct pfnl *h, uint8_t call)
{
	unsigned int flags = 99;
	struct pfnl_default d;
	int r;

	switch (call % 9) {
	case 0:
		return ask_info(h);
	case 1:
		return pfnl_prefetcher_list(h, on_prefetcher, NULL);
	case 2:
		return ask_setting(h, false);
	case 3:
		return ask_setting(h, true);
	case 4:
		r = pfnl_setting_list(h, mode & MODE_TID ? 100 : 0, 0, &flags,
				      on_setting, NULL);
		break;
	case 5:
		return pfnl_default_set(h, 1, 2, 4, &d);
	case 6:
		return ask_core(h);
	case 7:
		r = pfnl_core_list(h, mode & MODE_VERIFY, &flags, on_core,
				   NULL);
		break;
	default:
		return pfnl_core_repair(h,
					mode & MODE_TID ? 1 : PFNL_DOMAIN_ALL,
					on_repair, NULL);
	}
	HOLDS(r || flags <= PFNL_LIST_INTERRUPTED);
	return r;
}

static void check_end(struct pfnl *h, int r)
{
	const char *attr = pfnl_errattr(h);

	HOLDS(r <= 0 && r > -4096);
	if (r)
		must_be_reason(pfnl_errmsg(h));
	else
		HOLDS(!pfnl_errmsg(h)[0] && !attr);
	HOLDS(!pfnl_module_missing(h) || r == -ENOENT);
	if (attr)
		must_be_text(attr, 32);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct channel c = {
		.in = { data, size },
		.on_send = on_send,
		.on_recv = on_recv,
	};
	struct pfnl *h;
	uint8_t call = take_u8(&c.in);

	mode = take_u8(&c.in);
	c.fake = fake_new();
	fake_add_task(c.fake, 100, 100, "server");
	HOLDS(!pfnl_open_transport(&h, &channel_transport, &c));
	check_end(h, ask(h, call));
	if (mode & MODE_AGAIN)
		check_end(h, ask(h, call));
	/*
	 * When the kernel is well again, so is the handle, once what was left
	 * of a bad answer has been met.
	 */
	c.on_send = NULL;
	if (ask_info(h))
		HOLDS(!ask_info(h));
	pfnl_close(h);
	return 0;
}
