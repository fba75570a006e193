// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The decoder of refusals alone: a request and the message that refuses it.
 * First a byte for the command and flags, a byte for the length of the
 * request's attributes and those, then what stands in the refusal.
 */
#include <errno.h>
#include <string.h>

#include "fuzz.h"
#include "internal.h"

#define FLAG_DONE    0x08u
#define FLAG_TLVS    0x10u
#define FLAG_CAP     0x20u
#define FLAG_CTRL    0x40u
#define FLAG_NO_WORD 0x80u /* there is no request to compare with */

/* Each has memory of just its size: a read past it is seen. */
static struct nlmsghdr *message(uint16_t type, uint16_t flags, int cmd,
				const uint8_t *data, size_t size)
{
	size_t room = NLMSG_HDRLEN + GENL_HDRLEN + NLMSG_ALIGN(size);
	uint8_t *all = malloc(room);
	struct nlmsghdr *msg;

	HOLDS(all && put_message(all, room, type, flags, 1, cmd, data, size));
	msg = (struct nlmsghdr *)all;
	msg = realloc(msg, msg->nlmsg_len);
	HOLDS(msg);
	return msg;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	struct nlmsghdr *request, *reply;
	uint8_t what = take_u8(&in);
	size_t length = take_u8(&in);
	uint16_t flags = 0;
	struct pfnl h;
	int32_t code = 0;
	int r;

	if (length > in.size)
		length = in.size;
	request = message(what & FLAG_CTRL ? GENL_ID_CTRL : 30, NLM_F_REQUEST,
			  what & 7, in.data, length);
	in.data += length;
	in.size -= length;
	if (what & FLAG_TLVS)
		flags |= NLM_F_ACK_TLVS;
	if (what & FLAG_CAP)
		flags |= NLM_F_CAPPED;
	reply = message(what & FLAG_DONE ? NLMSG_DONE : NLMSG_ERROR, flags, -1,
			in.data, in.size);
	memset(&h, 0, sizeof(h));
	r = pfnl_read_error(&h, reply, what & FLAG_NO_WORD ? NULL : request);
	HOLDS(r <= 0 && r > -4096);
	if (r)
		must_be_reason(pfnl_errmsg(&h));
	if (in.size >= sizeof(code))
		memcpy(&code, in.data, sizeof(code));
	if (r && r != -EBADMSG)
		HOLDS(r == code);
	if (pfnl_errattr(&h)) {
		must_be_reason(pfnl_errattr(&h));
		must_be_text(h.errattr, sizeof(h.errattr));
		HOLDS(!(what & FLAG_NO_WORD));
	}
	free(request);
	free(reply);
	return 0;
}
