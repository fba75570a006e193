// SPDX-License-Identifier: GPL-2.0-or-later
/* Netlink messages by hand, and how to spoil them. */
#include <stdlib.h>
#include <string.h>

#include "message.h"

void *fake_alloc(void *old, size_t size)
{
	void *p = realloc(old, size);

	if (!p)
		abort();
	return p;
}

size_t fake_put(struct fake_bytes *b, const void *data, size_t size)
{
	size_t place = b->used;
	size_t padded = NLMSG_ALIGN(size);

	if (!b->data || b->used + padded > b->size) {
		b->size = 2 * (b->used + padded) + NLMSG_HDRLEN;
		b->data = fake_alloc(b->data, b->size);
	}
	memset(b->data + place, 0, padded);
	if (data)
		memcpy(b->data + place, data, size);
	b->used += padded;
	return place;
}

size_t fake_begin(struct fake_bytes *b, uint16_t type, uint16_t flags,
		  uint32_t seq)
{
	struct nlmsghdr hdr = {
		.nlmsg_type = type,
		.nlmsg_flags = flags,
		.nlmsg_seq = seq,
	};

	return fake_put(b, &hdr, sizeof(hdr));
}

size_t fake_begin_genl(struct fake_bytes *b, uint16_t type, uint16_t flags,
		       uint32_t seq, uint8_t cmd)
{
	struct genlmsghdr hdr = { .cmd = cmd, .version = 1 };
	size_t place = fake_begin(b, type, flags, seq);

	fake_put(b, &hdr, sizeof(hdr));
	return place;
}

void fake_end(struct fake_bytes *b, size_t place)
{
	struct nlmsghdr *hdr = (struct nlmsghdr *)(b->data + place);

	hdr->nlmsg_len = (uint32_t)(b->used - place);
}

void fake_attr(struct fake_bytes *b, int type, const void *data, size_t size)
{
	struct nlattr attr = {
		.nla_len = (uint16_t)(NLA_HDRLEN + size),
		.nla_type = (uint16_t)type,
	};

	fake_put(b, &attr, sizeof(attr));
	fake_put(b, data, size);
}

void fake_u16(struct fake_bytes *b, int type, uint16_t value)
{
	fake_attr(b, type, &value, sizeof(value));
}

void fake_u32(struct fake_bytes *b, int type, uint32_t value)
{
	fake_attr(b, type, &value, sizeof(value));
}

void fake_u64(struct fake_bytes *b, int type, uint64_t value)
{
	fake_attr(b, type, &value, sizeof(value));
}

void fake_text(struct fake_bytes *b, int type, const char *text)
{
	fake_attr(b, type, text, strlen(text) + 1);
}

size_t fake_nest(struct fake_bytes *b, int type)
{
	size_t place = b->used;

	fake_attr(b, type | NLA_F_NESTED, NULL, 0);
	return place;
}

void fake_nest_end(struct fake_bytes *b, size_t place)
{
	struct nlattr *attr = (struct nlattr *)(b->data + place);

	attr->nla_len = (uint16_t)(b->used - place);
}

static struct fake_datagram *add(struct fake *f, enum pfnl_channel channel)
{
	struct fake_datagram *d = fake_alloc(NULL, sizeof(*d));

	memset(d, 0, sizeof(*d));
	*f->queues[channel].last = d;
	f->queues[channel].last = &d->next;
	return d;
}

void fake_queue(struct fake *f, enum pfnl_channel channel, struct fake_bytes *b)
{
	if (f->edit)
		f->edit(b, f->edit_arg);
	add(f, channel)->bytes = *b;
	memset(b, 0, sizeof(*b));
}

void fake_queue_error(struct fake *f, enum pfnl_channel channel, int error)
{
	add(f, channel)->error = error;
}

void fake_queue_claim(struct fake *f, enum pfnl_channel channel, size_t claim)
{
	add(f, channel)->claim = claim;
}

/* What a fault does to one message, which is copied from msg to the end of b.
 */
static void spoil_one(const struct fake_fault *fault, struct fake_bytes *b,
		      const struct nlmsghdr *msg)
{
	size_t head = NLMSG_LENGTH(GENL_HDRLEN);
	size_t place = fake_put(b, msg, head);
	const char *data = (const char *)msg;
	const struct nlattr *attr;
	struct nlattr *copy;
	size_t at, step;
	bool hit;

	for (at = head; at + NLA_HDRLEN <= msg->nlmsg_len; at += step) {
		attr = (const struct nlattr *)(data + at);
		step = NLA_ALIGN(attr->nla_len);
		hit = (attr->nla_type & NLA_TYPE_MASK) == fault->attr_type;
		if (hit && fault->kind == FAKE_DROP_ATTR)
			continue;
		if (hit && fault->kind == FAKE_DOUBLE_ATTR)
			fake_put(b, attr, attr->nla_len);
		fake_put(b, attr, attr->nla_len);
		copy = (struct nlattr *)(b->data + b->used - step);
		if (hit && fault->kind == FAKE_RESIZE_ATTR)
			copy->nla_len = (uint16_t)fault->size;
	}
	fake_end(b, place);
}

void fake_spoil(const struct fake_fault *fault, struct fake_bytes *b)
{
	struct fake_bytes out = { 0 };
	struct nlmsghdr *msg;
	size_t at, length;

	for (at = 0; at + NLMSG_HDRLEN <= b->used; at += NLMSG_ALIGN(length)) {
		msg = (struct nlmsghdr *)(b->data + at);
		length = msg->nlmsg_len;
		if (msg->nlmsg_type < NLMSG_MIN_TYPE) {
			fake_put(&out, msg, length);
			continue;
		}
		switch (fault->kind) {
		case FAKE_DROP_ATTR:
		case FAKE_RESIZE_ATTR:
		case FAKE_DOUBLE_ATTR:
			spoil_one(fault, &out, msg);
			break;
		case FAKE_TRUNCATE:
			msg->nlmsg_len -= (uint32_t)fault->size;
			fake_put(&out, msg, msg->nlmsg_len);
			break;
		default:
			fake_put(&out, msg, length);
			break;
		}
	}
	if (fault->kind == FAKE_CUT_DATAGRAM)
		out.used -= fault->size < out.used ? fault->size : out.used;
	free(b->data);
	*b = out;
}
