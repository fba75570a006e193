// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes messages, right and wrong; see wire-generate.h.
 */
#include "wire-generate.h"

#include <string.h>

#include "harness.h"

#define NO_FAMILY 0x3ff

static const struct model *model;
static bool broken;
static uint64_t state;
static struct request req;

static uint64_t next(void)
{
	uint64_t z = (state += 0x9e3779b97f4a7c15ULL);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

static uint32_t below(uint32_t n)
{
	return (uint32_t)((next() >> 32) * n >> 32);
}

static bool one_in(uint32_t n)
{
	return below(n) == 0;
}

static uint32_t some_number(void)
{
	static const uint32_t edges[] = { 0,	      1,	  2,
					  0x7fffffff, 0x80000000, 0xffffffff,
					  0x3fff,     0x4000,	  0xffff };

	if (one_in(3))
		return edges[below(ARRAY_SIZE(edges))];
	return (uint32_t)next() >> below(32);
}

static uint32_t some_task(void)
{
	if (one_in(16))
		return some_number() | 0x400000;
	if (one_in(24))
		return 0;
	return model->number[below(MODEL_TASKS)];
}

static uint32_t some_mask(void)
{
	if (one_in(24))
		return some_number();
	if (one_in(24))
		return 1U << below(32);
	return below(ALL_FOUR + 1) & below(ALL_FOUR + 1);
}

/* An attribute as it has to be, for that place. */
static void put_right(uint8_t cmd, uint16_t type)
{
	uint32_t value;

	switch (cmd) {
	case PREFETCH_CMD_SETTING_GET:
	case PREFETCH_CMD_SETTING_SET:
		if (type == PREFETCH_A_SETTING_START_TIME) {
			uint64_t start = model->start[below(MODEL_TASKS)];

			request_u64(&req, type, one_in(8) ? next() : start);
			return;
		}
		value = type <= PREFETCH_A_SETTING_TID	     ? some_task()
			: type == PREFETCH_A_SETTING_INHERIT ? below(2)
							     : some_mask();
		break;
	case PREFETCH_CMD_DEFAULT_SET:
		value = some_mask();
		break;
	default:
		value = below(2);
	}
	request_u32(&req, type, value);
}

static const uint16_t set_types[] = {
	PREFETCH_A_SETTING_OFF, PREFETCH_A_SETTING_ON, PREFETCH_A_SETTING_CLEAR,
	PREFETCH_A_SETTING_INHERIT, PREFETCH_A_SETTING_START_TIME
};

/* An attribute that may be wrong in any way. */
static void put_any(uint8_t cmd)
{
	static const unsigned char noise[64] = { 1, 2, 3 };
	uint16_t type = one_in(4) ? below(0x4000) : below(14);

	switch (below(broken ? 7 : 4)) {
	case 0:
		put_right(cmd, 1 + below(10));
		break;
	case 1:
		/* Past all that is known; so its length is not looked at. */
		type = 20 + below(0x3fe0);
		request_raw(&req, type, NLA_HDRLEN + below(64), noise, 64);
		break;
	case 2:
		request_u32(&req,
			    type | (one_in(2) ? NLA_F_NESTED
					      : NLA_F_NET_BYTEORDER),
			    some_task());
		break;
	case 3:
		/* In no policy under this number, so refused before that. */
		request_raw(&req, PREFETCH_A_SETTING_SCOPE, NLA_HDRLEN + 4,
			    noise, 4);
		break;
	case 4:
		request_raw(&req, type, NLA_HDRLEN + below(64), noise, 64);
		break;
	case 5:
		request_raw(&req, type, below(0x10000), noise, 4);
		break;
	default:
		memset(req.bytes + req.nlh->nlmsg_len, 0xff, 3);
		req.nlh->nlmsg_len += 1 + below(3);
	}
}

/* Whether a mutation would make the netlink core itself write to the log. */
static bool core_would_log(const struct nlmsghdr *nlh)
{
	const struct nlattr *attr;
	size_t at = WIRE_HEADERS;

	while (at + NLA_HDRLEN <= nlh->nlmsg_len) {
		size_t len;

		attr = (const void *)((const char *)nlh + at);
		len = attr->nla_len - NLA_HDRLEN;
		if (attr->nla_len < NLA_HDRLEN ||
		    at + attr->nla_len > nlh->nlmsg_len)
			return true;
		if ((attr->nla_type & NLA_TYPE_MASK) <= 10 &&
		    len != ((attr->nla_type & NLA_TYPE_MASK) ==
					    PREFETCH_A_SETTING_START_TIME
				    ? 8
				    : 4))
			return true;
		at += NLA_ALIGN(attr->nla_len);
	}
	return at < nlh->nlmsg_len;
}

static void put_attributes(uint8_t cmd)
{
	switch (cmd) {
	case PREFETCH_CMD_SETTING_SET:
		put_right(cmd, 1 + one_in(4));
		for (uint32_t n = below(4); n; n--)
			put_right(cmd, set_types[below(ARRAY_SIZE(set_types))]);
		break;
	case PREFETCH_CMD_SETTING_GET:
		if (!one_in(16))
			put_right(cmd, 1 + one_in(4));
		break;
	case PREFETCH_CMD_DEFAULT_SET:
		for (uint32_t n = 1 + below(2); n; n--)
			put_right(cmd, 1 + below(3));
		break;
	case PREFETCH_CMD_CORE_GET:
		put_right(cmd, PREFETCH_A_CORE_DOMAIN);
		if (one_in(4))
			request_u32(&req, PREFETCH_A_CORE_VERIFY, below(3));
		break;
	case PREFETCH_CMD_CORE_REPAIR:
		if (one_in(2))
			request_u32(&req, PREFETCH_A_CORE_DOMAIN, below(4));
		break;
	}
}

static uint8_t some_command(void)
{
	static const struct {
		uint8_t cmd;
		uint8_t share;
	} commands[] = {
		{ PREFETCH_CMD_SETTING_SET, 48 },
		{ PREFETCH_CMD_SETTING_GET, 32 },
		{ PREFETCH_CMD_DEFAULT_SET, 4 },
		{ PREFETCH_CMD_CORE_GET, 6 },
		{ PREFETCH_CMD_CORE_REPAIR, 2 },
		{ PREFETCH_CMD_INFO_GET, 4 },
		{ PREFETCH_CMD_PREFETCHER_GET, 2 },
	};
	uint32_t n = below(100);

	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		if (n < commands[i].share)
			return commands[i].cmd;
		n -= commands[i].share;
	}
	return below(256);
}

static void mutate_header(void)
{
	struct genlmsghdr *genl = mnl_nlmsg_get_payload(req.nlh);

	switch (below(5)) {
	case 0:
		req.nlh->nlmsg_flags &= ~NLM_F_REQUEST;
		break;
	case 1:
		genl->reserved = (uint16_t)next();
		break;
	case 2:
		genl->version = (uint8_t)next();
		break;
	case 3:
		req.nlh->nlmsg_type = NO_FAMILY;
		break;
	default:
		/* Not the two bits that make a dump together. */
		req.nlh->nlmsg_flags |= (uint16_t)next() & ~NLM_F_ROOT &
					~NLM_F_ACK;
	}
}

const struct request *wire_generate(const struct model *m, struct wire *w,
				    bool with_lengths, unsigned long number)
{
	uint32_t seq = w->seq;
	uint8_t cmd;
	uint32_t wrong;

	model = m;
	broken = with_lengths;
	state = WIRE_SEED + number * 0x632be59bd9b4e019ULL;
	do {
		cmd = some_command();
		wrong = one_in(3) ? 1 + below(3) : 0;
		w->seq = seq;
		request_begin(&req, w, cmd, NLM_F_REQUEST);
		if (one_in(8))
			req.nlh->nlmsg_flags |= NLM_F_ACK;
		put_attributes(cmd);
		for (; wrong; wrong--) {
			if (one_in(5))
				mutate_header();
			else
				put_any(cmd);
		}
	} while (!broken && core_would_log(req.nlh));
	return &req;
}
