// SPDX-License-Identifier: GPL-2.0-or-later
/* What the fuzzers share. */
#include <string.h>

#include <linux/genetlink.h>
#include <linux/netlink.h>

#include "fuzz.h"

#if defined(__SANITIZE_ADDRESS__)
#define HAVE_POISON
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAVE_POISON
#endif
#endif

#ifdef HAVE_POISON
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(at, size)   ((void)(at), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(at, size) ((void)(at), (void)(size))
#endif

/* How much after a datagram: all of a buffer would take most of the time. */
#define POISON ((size_t)65536)

uint8_t take_u8(struct input *in)
{
	if (!in->size)
		return 0;
	in->size--;
	return *in->data++;
}

uint32_t take_u32(struct input *in)
{
	uint32_t value = 0;
	int i;

	for (i = 0; i < 4; i++)
		value |= (uint32_t)take_u8(in) << (8 * i);
	return value;
}

bool take_record(struct input *in, struct record *record)
{
	if (!in->size)
		return false;
	record->kind = take_u8(in);
	record->size = take_u8(in);
	record->size |= (size_t)take_u8(in) << 8;
	if (record->size > in->size)
		record->size = in->size;
	record->data = in->data;
	in->data += record->size;
	in->size -= record->size;
	return true;
}

void must_be_text(const char *text, size_t size)
{
	HOLDS(strnlen(text, size) < size);
}

void must_be_reason(const char *text)
{
	size_t i;

	HOLDS(text[0]);
	for (i = 0; text[i]; i++)
		HOLDS((unsigned char)text[i] >= ' ' && text[i] != 127);
	HOLDS(i < 512);
}

size_t put_message(uint8_t *data, size_t size, uint16_t type, uint16_t flags,
		   uint32_t seq, int cmd, const uint8_t *payload,
		   size_t payload_size)
{
	struct genlmsghdr genl = { .cmd = (uint8_t)cmd, .version = 1 };
	struct nlmsghdr msg = {
		.nlmsg_type = type,
		.nlmsg_flags = flags,
		.nlmsg_seq = seq,
	};
	size_t header = cmd < 0 ? NLMSG_HDRLEN : NLMSG_HDRLEN + GENL_HDRLEN;
	size_t all = NLMSG_ALIGN(header + payload_size);

	if (all > size)
		return 0;
	msg.nlmsg_len = (uint32_t)(header + payload_size);
	memset(data, 0, all);
	memcpy(data, &msg, sizeof(msg));
	if (cmd >= 0)
		memcpy(data + NLMSG_HDRLEN, &genl, sizeof(genl));
	if (payload_size)
		memcpy(data + header, payload, payload_size);
	return all;
}

static void unpoison(struct channel *c, enum pfnl_channel channel)
{
	ASAN_UNPOISON_MEMORY_REGION(c->poisoned[channel],
				    c->poisoned_size[channel]);
	c->poisoned_size[channel] = 0;
}

static int channel_open(void *ctx, enum pfnl_channel channel)
{
	struct channel *c = ctx;

	return fake_transport.open(c->fake, channel);
}

static void channel_close(void *ctx, enum pfnl_channel channel)
{
	struct channel *c = ctx;

	unpoison(c, channel);
	if (channel == PFNL_REQUESTS)
		c->waiting = false;
	fake_transport.close(c->fake, channel);
}

static int channel_fd(void *ctx, enum pfnl_channel channel)
{
	struct channel *c = ctx;

	return fake_transport.fd(c->fake, channel);
}

static int channel_send(void *ctx, const void *data, size_t size)
{
	struct channel *c = ctx;
	const struct nlmsghdr *msg = data;
	const struct genlmsghdr *genl = NLMSG_DATA(msg);

	HOLDS(size >= NLMSG_HDRLEN + GENL_HDRLEN && size == msg->nlmsg_len);
	c->request.type = msg->nlmsg_type;
	c->request.cmd = genl->cmd;
	c->request.seq = msg->nlmsg_seq;
	c->waiting = c->on_send && c->on_send(c, data, size);
	return c->waiting ? 0 : fake_transport.send(c->fake, data, size);
}

static ssize_t channel_recv(void *ctx, enum pfnl_channel channel, void *data,
			    size_t size)
{
	struct channel *c = ctx;
	ssize_t got;

	unpoison(c, channel);
	if (channel == PFNL_REQUESTS && c->waiting)
		got = c->on_recv(c, data, size);
	else
		got = fake_transport.recv(c->fake, channel, data, size);
	if (got >= 0 && (size_t)got < size) {
		size -= (size_t)got;
		c->poisoned[channel] = (char *)data + got;
		c->poisoned_size[channel] = size < POISON ? size : POISON;
		ASAN_POISON_MEMORY_REGION(c->poisoned[channel],
					  c->poisoned_size[channel]);
	}
	return got;
}

static int channel_join(void *ctx, uint32_t group)
{
	struct channel *c = ctx;

	return fake_transport.join(c->fake, group);
}

static size_t channel_buffer(void *ctx, size_t bytes)
{
	struct channel *c = ctx;

	return fake_transport.buffer(c->fake, bytes);
}

static void channel_destroy(void *ctx)
{
	struct channel *c = ctx;

	fake_transport.destroy(c->fake);
}

const struct pfnl_transport channel_transport = {
	.open = channel_open,
	.close = channel_close,
	.fd = channel_fd,
	.send = channel_send,
	.recv = channel_recv,
	.join = channel_join,
	.buffer = channel_buffer,
	.destroy = channel_destroy,
};
