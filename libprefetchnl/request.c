// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Requests and their answers. Framing, sequence numbers, refusals and
 * interrupted dumps are handled here; what is inside the messages is not.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* Foreign or late messages that are passed over while waiting for an answer. */
#define MAX_STRAY 1000

/* The most that a dump may hold: far more than a machine can have settings. */
#define MAX_DUMP ((size_t)1 << 30)

void pfnl_buffer_free(struct pfnl_buffer *buffer)
{
	free(buffer->data);
	memset(buffer, 0, sizeof(*buffer));
}

static int buffer_add(struct pfnl *h, struct pfnl_buffer *buffer,
		      const struct nlmsghdr *msg)
{
	size_t length = NLMSG_ALIGN(msg->nlmsg_len);
	size_t size = buffer->size ? buffer->size : 16384;
	uint8_t *data;

	while (size - buffer->used < length) {
		if (size >= MAX_DUMP)
			return pfnl_fail(h, -EMSGSIZE,
					 "the kernel's list does not end");
		size *= 2;
	}
	if (size != buffer->size) {
		data = realloc(buffer->data, size);
		if (!data)
			return pfnl_fail(h, -ENOMEM, "out of memory");
		buffer->data = data;
		buffer->size = size;
	}
	if (length != msg->nlmsg_len)
		memset(buffer->data + buffer->used + msg->nlmsg_len, 0,
		       length - msg->nlmsg_len);
	memcpy(buffer->data + buffer->used, msg, msg->nlmsg_len);
	buffer->used += length;
	return 0;
}

const struct nlmsghdr *pfnl_buffer_next(const struct pfnl_buffer *buffer,
					size_t *pos)
{
	const struct nlmsghdr *msg;

	if (*pos >= buffer->used)
		return NULL;
	msg = (const struct nlmsghdr *)(buffer->data + *pos);
	*pos += NLMSG_ALIGN(msg->nlmsg_len);
	return msg;
}

int pfnl_split(const uint8_t *data, size_t size, size_t *pos,
	       const struct nlmsghdr **msg)
{
	const struct nlmsghdr *found;
	size_t left;

	if (*pos >= size)
		return 0;
	left = size - *pos;
	found = (const struct nlmsghdr *)(data + *pos);
	if (left < NLMSG_HDRLEN || found->nlmsg_len < NLMSG_HDRLEN ||
	    found->nlmsg_len > left)
		return -EBADMSG;
	*pos += NLMSG_ALIGN(found->nlmsg_len);
	*msg = found;
	return 1;
}

struct nl_msg *pfnl_request(struct pfnl *h, uint8_t cmd)
{
	struct nl_msg *msg = nlmsg_alloc();

	if (msg &&
	    !genlmsg_put(msg, 0, 0, 0, 0, 0, cmd, PREFETCH_FAMILY_VERSION)) {
		nlmsg_free(msg);
		msg = NULL;
	}
	if (!msg)
		pfnl_fail(h, -ENOMEM, "out of memory");
	return msg;
}

/* What is still to come on the socket is of no use: a new one has none of it.
 */
static void drop_socket(struct pfnl *h)
{
	if (h->requests_open)
		h->ops->close(h->ctx, PFNL_REQUESTS);
	h->requests_open = false;
}

static int send_request(struct pfnl *h, struct nlmsghdr *request)
{
	char buf[64];
	int r;

	if (!h->requests_open) {
		r = h->ops->open(h->ctx, PFNL_REQUESTS);
		if (r)
			return pfnl_fail(h, r, "no netlink socket: %s",
					 pfnl_strerror(r, buf, sizeof(buf)));
		h->requests_open = true;
	}
	/* 0 is for what nobody asked for. */
	if (++h->seq == 0)
		h->seq = 1;
	request->nlmsg_seq = h->seq;
	r = h->ops->send(h->ctx, request, request->nlmsg_len);
	if (r)
		return pfnl_fail(h, r, "cannot send to the kernel: %s",
				 pfnl_strerror(r, buf, sizeof(buf)));
	return 0;
}

static int receive(struct pfnl *h, size_t *size)
{
	char buf[64];
	ssize_t got;

	got = h->ops->recv(h->ctx, PFNL_REQUESTS, h->recv_buf, PFNL_RECV_SIZE);
	if (got >= 0 && got <= PFNL_RECV_SIZE) {
		*size = (size_t)got;
		return 0;
	}
	/* The rest of the answer, if any, is not to be mixed with the next. */
	drop_socket(h);
	if (got > PFNL_RECV_SIZE)
		return pfnl_fail(h, -EMSGSIZE,
				 "the kernel's answer is too long");
	if (got == -EAGAIN)
		return pfnl_fail(h, -ETIMEDOUT, "no answer from the kernel");
	return pfnl_fail(h, (int)got, "cannot receive from the kernel: %s",
			 pfnl_strerror((int)got, buf, sizeof(buf)));
}

static int bad_answer(struct pfnl *h)
{
	drop_socket(h);
	return pfnl_fail(h, -EBADMSG, "the kernel's answer is malformed");
}

static bool is_answer(const struct nlmsghdr *msg,
		      const struct nlmsghdr *request)
{
	return msg->nlmsg_type == request->nlmsg_type &&
	       msg->nlmsg_len >= NLMSG_LENGTH(GENL_HDRLEN) &&
	       pfnl_genl(msg)->cmd == pfnl_genl(request)->cmd;
}

/* nlctrl answers GETFAMILY with NEWFAMILY. */
static bool is_ctrl_answer(const struct nlmsghdr *msg,
			   const struct nlmsghdr *request)
{
	return request->nlmsg_type == GENL_ID_CTRL &&
	       msg->nlmsg_type == GENL_ID_CTRL &&
	       msg->nlmsg_len >= NLMSG_LENGTH(GENL_HDRLEN) &&
	       pfnl_genl(msg)->cmd == CTRL_CMD_NEWFAMILY;
}

static int exchange_do(struct pfnl *h, struct nlmsghdr *request,
		       const struct nlmsghdr **reply)
{
	const struct nlmsghdr *msg;
	size_t size, pos;
	int stray;
	int r;

	request->nlmsg_flags = NLM_F_REQUEST;
	r = send_request(h, request);
	if (r)
		return r;
	for (stray = 0; stray < MAX_STRAY; stray++) {
		r = receive(h, &size);
		if (r)
			return r;
		pos = 0;
		while ((r = pfnl_split(h->recv_buf, size, &pos, &msg)) > 0) {
			if (msg->nlmsg_seq != request->nlmsg_seq)
				continue;
			if (msg->nlmsg_type == NLMSG_ERROR) {
				r = pfnl_read_error(h, msg, request);
				/* Every operation has an answer. */
				return r ? r : bad_answer(h);
			}
			if (is_answer(msg, request) ||
			    is_ctrl_answer(msg, request)) {
				*reply = msg;
				return 0;
			}
			return bad_answer(h);
		}
		if (r)
			return bad_answer(h);
	}
	return bad_answer(h);
}

/* Takes one datagram of a dump: 1 if it was the last, 0, or -errno. */
static int take_part(struct pfnl *h, const struct nlmsghdr *request,
		     size_t size, struct pfnl_buffer *out, bool *interrupted)
{
	const struct nlmsghdr *msg;
	size_t pos = 0;
	int r;

	while ((r = pfnl_split(h->recv_buf, size, &pos, &msg)) > 0) {
		if (msg->nlmsg_seq != request->nlmsg_seq)
			continue;
		if (msg->nlmsg_flags & NLM_F_DUMP_INTR)
			*interrupted = true;
		switch (msg->nlmsg_type) {
		case NLMSG_NOOP:
			continue;
		case NLMSG_OVERRUN:
			drop_socket(h);
			return pfnl_fail(h, -ENOBUFS,
					 "the kernel's answer got lost");
		case NLMSG_ERROR:
			r = pfnl_read_error(h, msg, request);
			return r ? r : bad_answer(h);
		case NLMSG_DONE:
			r = pfnl_read_error(h, msg, request);
			return r ? r : 1;
		default:
			break;
		}
		if (!is_answer(msg, request))
			return bad_answer(h);
		r = buffer_add(h, out, msg);
		if (r) {
			drop_socket(h);
			return r;
		}
		/* Without this no end would follow. */
		if (!(msg->nlmsg_flags & NLM_F_MULTI))
			return bad_answer(h);
	}
	return r ? bad_answer(h) : 0;
}

static int dump_once(struct pfnl *h, struct nlmsghdr *request,
		     struct pfnl_buffer *out, bool *interrupted)
{
	size_t before;
	size_t size;
	int stray = 0;
	int r;

	out->used = 0;
	*interrupted = false;
	request->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	r = send_request(h, request);
	while (!r) {
		r = receive(h, &size);
		if (r)
			break;
		before = out->used;
		r = take_part(h, request, size, out, interrupted);
		if (!r && out->used == before && ++stray >= MAX_STRAY)
			r = bad_answer(h);
	}
	return r > 0 ? 0 : r;
}

static int exchange_dump(struct pfnl *h, struct nlmsghdr *request,
			 struct pfnl_buffer *out, unsigned int *flags)
{
	bool interrupted = true;
	int attempt;
	int r = 0;

	*flags = 0;
	for (attempt = 0; attempt < PFNL_ATTEMPTS && interrupted; attempt++) {
		r = dump_once(h, request, out, &interrupted);
		/* A list may be asked for again without harm. */
		if (r == -ENOBUFS)
			interrupted = true;
		else if (r)
			return r;
	}
	if (r)
		return r;
	pfnl_clear_error(h);
	if (interrupted)
		*flags = PFNL_LIST_INTERRUPTED;
	return 0;
}

/* Either reply is set (do) or out and flags are (dump). */
static int transact(struct pfnl *h, struct nl_msg *msg,
		    const struct nlmsghdr **reply, struct pfnl_buffer *out,
		    unsigned int *flags)
{
	struct nlmsghdr *request = nlmsg_hdr(msg);
	struct pfnl_family family;
	char errmsg[sizeof(h->errmsg)];
	char errattr[sizeof(h->errattr)];
	uint16_t id;
	int attempt;
	int r = 0;

	for (attempt = 0; attempt < 2; attempt++) {
		if (!h->family) {
			r = pfnl_family_find(h, &family);
			if (r)
				return r;
		}
		id = request->nlmsg_type = h->family;
		r = reply ? exchange_do(h, request, reply)
			  : exchange_dump(h, request, out, flags);
		/*
		 * Without words from the module, this is generic netlink that
		 * knows no family of that number: it may have been loaded
		 * again under another one.
		 */
		if (r != -ENOENT || h->has_extack)
			return r;
		memcpy(errmsg, h->errmsg, sizeof(errmsg));
		memcpy(errattr, h->errattr, sizeof(errattr));
		if (pfnl_family_find(h, &family))
			return -ENOENT;
		if (h->family == id) {
			memcpy(h->errmsg, errmsg, sizeof(errmsg));
			memcpy(h->errattr, errattr, sizeof(errattr));
			return r;
		}
	}
	return r;
}

int pfnl_do(struct pfnl *h, struct nl_msg *msg, const struct nlmsghdr **reply)
{
	int r = transact(h, msg, reply, NULL, NULL);

	nlmsg_free(msg);
	return r;
}

int pfnl_dump(struct pfnl *h, struct nl_msg *msg, struct pfnl_buffer *out,
	      unsigned int *flags)
{
	unsigned int ignored;
	int r;

	r = transact(h, msg, NULL, out, flags ? flags : &ignored);
	nlmsg_free(msg);
	return r;
}

int pfnl_do_ctrl(struct pfnl *h, struct nl_msg *msg,
		 const struct nlmsghdr **reply)
{
	nlmsg_hdr(msg)->nlmsg_type = GENL_ID_CTRL;
	return exchange_do(h, nlmsg_hdr(msg), reply);
}
