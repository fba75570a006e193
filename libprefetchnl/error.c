// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Errors: our own words, and the kernel's (extack). libnl drops extack and the
 * error code of NLMSG_DONE, so both are read here.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "internal.h"

void pfnl_clear_error(struct pfnl *h)
{
	h->errmsg[0] = '\0';
	h->errattr[0] = '\0';
	h->has_extack = false;
	h->module_missing = false;
}

/* Words go into one line of a terminal. */
static bool is_control(char c)
{
	return (unsigned char)c < ' ' || c == 127;
}

__attribute__((format(printf, 3, 0))) static void
store(struct pfnl *h, const char *attr, const char *format, va_list args)
{
	char *c;

	pfnl_clear_error(h);
	if (attr)
		snprintf(h->errattr, sizeof(h->errattr), "%s", attr);
	vsnprintf(h->errmsg, sizeof(h->errmsg), format, args);
	/* Names that the kernel gave may be part of it. */
	for (c = h->errmsg; *c; c++)
		if (is_control(*c))
			*c = '?';
}

int pfnl_fail(struct pfnl *h, int error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	store(h, NULL, format, args);
	va_end(args);
	return error;
}

int pfnl_fail_attr(struct pfnl *h, int error, const char *attr,
		   const char *format, ...)
{
	va_list args;

	va_start(args, format);
	store(h, attr, format, args);
	va_end(args);
	return error;
}

const char *pfnl_strerror(int error, char *buf, size_t size)
{
	/* The GNU one, which is safe with threads. */
	return strerror_r(error < 0 ? -error : error, buf, size);
}

const char *pfnl_errmsg(const struct pfnl *h)
{
	return h->errmsg;
}

const char *pfnl_errattr(const struct pfnl *h)
{
	return h->errattr[0] ? h->errattr : NULL;
}

bool pfnl_module_missing(const struct pfnl *h)
{
	return h->module_missing;
}

/* The attribute of the request whose header is that far from its begin. */
static const char *attr_at(const struct nlmsghdr *request, uint32_t offset)
{
	const struct nlattr *attr;
	int size;

	attr = pfnl_msg_attrs(request, &size);
	for (; pfnl_attr_ok(attr, size); attr = pfnl_attr_next(attr, &size))
		if ((size_t)((const char *)attr - (const char *)request) ==
		    offset)
			return pfnl_request_attr(pfnl_genl(request)->cmd,
						 pfnl_attr_type(attr));
	return NULL;
}

static bool is_u32(const struct nlattr *attr)
{
	return pfnl_attr_size(attr) == (int)sizeof(uint32_t);
}

static void copy_words(struct pfnl *h, const struct nlattr *attr)
{
	const char *from = pfnl_attr_data(attr);
	size_t size = (size_t)pfnl_attr_size(attr);
	size_t i;

	for (i = 0; i < size && i < sizeof(h->errmsg) - 1 && from[i]; i++)
		h->errmsg[i] = is_control(from[i]) ? '?' : from[i];
	h->errmsg[i] = '\0';
}

static void read_extack(struct pfnl *h, const struct nlattr *attr, int size,
			const struct nlmsghdr *request)
{
	const char *name = NULL;

	for (; pfnl_attr_ok(attr, size); attr = pfnl_attr_next(attr, &size)) {
		switch (pfnl_attr_type(attr)) {
		case NLMSGERR_ATTR_MSG:
			/* An empty text says nothing: another one stays. */
			if (pfnl_attr_size(attr) &&
			    *(const char *)pfnl_attr_data(attr)) {
				copy_words(h, attr);
				h->has_extack = true;
			}
			break;
		case NLMSGERR_ATTR_OFFS:
			if (is_u32(attr) && request)
				name = attr_at(request, pfnl_u32(attr));
			break;
		case NLMSGERR_ATTR_MISS_TYPE:
			if (is_u32(attr) && request)
				name = pfnl_request_attr(
					pfnl_genl(request)->cmd,
					(int)(pfnl_u32(attr) & 0xffff));
			break;
		default:
			break;
		}
	}
	if (name)
		snprintf(h->errattr, sizeof(h->errattr), "%s", name);
}

/* Where the extack attributes of a refusal begin, or NULL. */
static const struct nlattr *extack_of(const struct nlmsghdr *reply, int *size)
{
	const struct nlmsgerr *err = NLMSG_DATA(reply);
	size_t have = reply->nlmsg_len - NLMSG_HDRLEN;
	size_t skip;

	if (!(reply->nlmsg_flags & NLM_F_ACK_TLVS))
		return NULL;
	if (reply->nlmsg_type == NLMSG_DONE) {
		skip = NLMSG_ALIGN(sizeof(int));
	} else {
		skip = sizeof(*err);
		/* Without this flag all of our request was sent back. */
		if (!(reply->nlmsg_flags & NLM_F_CAPPED)) {
			if (err->msg.nlmsg_len < NLMSG_HDRLEN ||
			    err->msg.nlmsg_len > have)
				return NULL;
			skip += NLMSG_ALIGN(err->msg.nlmsg_len) - NLMSG_HDRLEN;
		}
	}
	if (skip >= have)
		return NULL;
	*size = (int)(have - skip);
	return (const struct nlattr *)((const char *)NLMSG_DATA(reply) + skip);
}

int pfnl_read_error(struct pfnl *h, const struct nlmsghdr *reply,
		    const struct nlmsghdr *request)
{
	const struct nlattr *extack;
	size_t least;
	char buf[64];
	int error;
	int size;

	least = reply->nlmsg_type == NLMSG_DONE ? 0 : sizeof(struct nlmsgerr);
	if (reply->nlmsg_len < NLMSG_LENGTH(least))
		return pfnl_fail(h, -EBADMSG,
				 "the kernel's refusal is cut short");
	/* A dump's end without a code is a good end. */
	if (reply->nlmsg_len < NLMSG_LENGTH(sizeof(error)))
		return 0;
	memcpy(&error, NLMSG_DATA(reply), sizeof(error));
	if (error == 0)
		return 0;
	if (error > 0 || error < -4095)
		return pfnl_fail(h, -EBADMSG,
				 "the kernel's refusal has the code %d", error);
	pfnl_clear_error(h);
	extack = extack_of(reply, &size);
	if (extack)
		read_extack(h, extack, size, request);
	if (!h->has_extack)
		snprintf(h->errmsg, sizeof(h->errmsg), "%s: %s",
			 request ? pfnl_command_name(request->nlmsg_type,
						     pfnl_genl(request)->cmd)
				 : "request",
			 pfnl_strerror(error, buf, sizeof(buf)));
	return error;
}
