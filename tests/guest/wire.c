// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Raw messages over libmnl; see wire.h.
 */
#include "wire.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "harness.h"

#define FLAG_CAPPED 0x100
#define FLAG_TLVS   0x200

static void find_family(struct wire *w)
{
	static struct request r;
	unsigned char buf[8192];
	struct genlmsghdr *genl;
	struct nlattr *attr;
	struct nlmsghdr *nlh;
	ssize_t len;

	w->family = GENL_ID_CTRL;
	request_begin(&r, w, CTRL_CMD_GETFAMILY, NLM_F_REQUEST);
	request_raw(&r, CTRL_ATTR_FAMILY_NAME,
		    NLA_HDRLEN + sizeof(PREFETCH_FAMILY_NAME),
		    PREFETCH_FAMILY_NAME, sizeof(PREFETCH_FAMILY_NAME));
	request_send(w, &r);
	len = mnl_socket_recvfrom(w->nl, buf, sizeof(buf));
	nlh = (struct nlmsghdr *)buf;
	if (len < (ssize_t)WIRE_HEADERS || nlh->nlmsg_type != GENL_ID_CTRL)
		die("the family is not there");
	genl = mnl_nlmsg_get_payload(nlh);
	(void)genl;
	mnl_attr_for_each(attr, nlh, GENL_HDRLEN)
	{
		if (mnl_attr_get_type(attr) == CTRL_ATTR_FAMILY_ID)
			w->family = mnl_attr_get_u16(attr);
	}
}

void wire_open(struct wire *w)
{
	int on = 1;

	memset(w, 0, sizeof(*w));
	w->nl = mnl_socket_open2(NETLINK_GENERIC, SOCK_CLOEXEC);
	if (!w->nl || mnl_socket_bind(w->nl, 0, MNL_SOCKET_AUTOPID))
		die("no netlink socket: %s", strerror(errno));
	if (mnl_socket_setsockopt(w->nl, NETLINK_EXT_ACK, &on, sizeof(on)))
		die("no extended answers: %s", strerror(errno));
	find_family(w);
}

void wire_close(struct wire *w)
{
	mnl_socket_close(w->nl);
	w->nl = NULL;
}

void request_begin(struct request *r, struct wire *w, uint8_t cmd,
		   uint16_t flags)
{
	struct genlmsghdr *genl;

	memset(r->bytes, 0, WIRE_HEADERS);
	r->nlh = mnl_nlmsg_put_header(r->bytes);
	r->nlh->nlmsg_type = w->family;
	r->nlh->nlmsg_flags = flags;
	r->nlh->nlmsg_seq = ++w->seq;
	genl = mnl_nlmsg_put_extra_header(r->nlh, sizeof(*genl));
	genl->cmd = cmd;
	genl->version = PREFETCH_FAMILY_VERSION;
}

int request_raw(struct request *r, uint16_t type, uint16_t claimed,
		const void *data, size_t len)
{
	uint32_t at = r->nlh->nlmsg_len;
	struct nlattr attr = { .nla_type = type, .nla_len = claimed };

	if (at + NLA_HDRLEN + len + NLA_ALIGNTO > WIRE_MAX)
		die("a request of more than %d bytes", WIRE_MAX);
	memcpy(r->bytes + at, &attr, sizeof(attr));
	memset(r->bytes + at + NLA_HDRLEN, 0, NLA_ALIGN(len));
	if (len)
		memcpy(r->bytes + at + NLA_HDRLEN, data, len);
	r->nlh->nlmsg_len += NLA_HDRLEN + NLA_ALIGN(len);
	return (int)at;
}

int request_u32(struct request *r, uint16_t type, uint32_t value)
{
	return request_raw(r, type, NLA_HDRLEN + sizeof(value), &value,
			   sizeof(value));
}

int request_u64(struct request *r, uint16_t type, uint64_t value)
{
	return request_raw(r, type, NLA_HDRLEN + sizeof(value), &value,
			   sizeof(value));
}

void request_send(struct wire *w, const struct request *r)
{
	if (mnl_socket_sendto(w->nl, r->bytes, r->nlh->nlmsg_len) < 0)
		die("cannot send %u bytes: %s", r->nlh->nlmsg_len,
		    strerror(errno));
}

void answer_init(struct answer *a)
{
	memset(a, 0, sizeof(*a));
	a->at = -1;
	a->missing = -1;
}

/* What stands behind the error: attributes, after the request if it is here. */
static void read_tlvs(const struct nlmsghdr *nlh, size_t skip, struct answer *a)
{
	struct nlattr *attr;

	if (!(nlh->nlmsg_flags & FLAG_TLVS) ||
	    nlh->nlmsg_len < NLMSG_HDRLEN + skip)
		return;
	mnl_attr_for_each(attr, nlh, skip)
	{
		switch (mnl_attr_get_type(attr)) {
		case NLMSGERR_ATTR_MSG:
			snprintf(a->text, sizeof(a->text), "%.*s",
				 (int)mnl_attr_get_payload_len(attr),
				 mnl_attr_get_str(attr));
			break;
		case NLMSGERR_ATTR_OFFS:
			a->at = (int)mnl_attr_get_u32(attr);
			break;
		case NLMSGERR_ATTR_MISS_TYPE:
			a->missing = (int)mnl_attr_get_u32(attr);
			break;
		}
	}
}

void answer_error(const struct nlmsghdr *nlh, struct answer *a)
{
	const struct nlmsgerr *err = mnl_nlmsg_get_payload(nlh);
	size_t skip = sizeof(*err);

	a->error = -err->error;
	if (nlh->nlmsg_type == NLMSG_DONE) {
		read_tlvs(nlh, sizeof(int), a);
		return;
	}
	if (!(nlh->nlmsg_flags & FLAG_CAPPED))
		skip += NLMSG_ALIGN(err->msg.nlmsg_len - NLMSG_HDRLEN);
	read_tlvs(nlh, skip, a);
}

static void read_object(const struct nlmsghdr *nlh, struct answer *a)
{
	const struct nlattr *attr =
		mnl_nlmsg_get_payload_offset(nlh, GENL_HDRLEN);

	a->objects++;
	if (nlh->nlmsg_len >= WIRE_HEADERS + NLA_HDRLEN + sizeof(uint32_t) &&
	    attr->nla_len == NLA_HDRLEN + sizeof(uint32_t))
		a->last = mnl_attr_get_u32(attr);
}

bool answer_read(struct wire *w, struct answer *a, wire_fn fn, void *arg)
{
	static _Alignas(4) unsigned char buf[WIRE_MAX * 2];
	ssize_t got = mnl_socket_recvfrom(w->nl, buf, sizeof(buf));
	const struct nlmsghdr *nlh = (struct nlmsghdr *)buf;
	int len = (int)got;
	bool done = false;

	if (got < 0)
		die("cannot read an answer: %s", strerror(errno));
	for (; mnl_nlmsg_ok(nlh, len); nlh = mnl_nlmsg_next(nlh, &len)) {
		a->interrupted |= !!(nlh->nlmsg_flags & NLM_F_DUMP_INTR);
		if (nlh->nlmsg_type == NLMSG_ERROR ||
		    nlh->nlmsg_type == NLMSG_DONE) {
			answer_error(nlh, a);
			done = true;
		} else if (nlh->nlmsg_type == w->family) {
			read_object(nlh, a);
			if (fn)
				fn(nlh, arg);
		}
	}
	return done;
}

void wire_ask(struct wire *w, const struct request *r, struct answer *a)
{
	answer_init(a);
	request_send(w, r);
	while (!answer_read(w, a, NULL, NULL))
		;
}
