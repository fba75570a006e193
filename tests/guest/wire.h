/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Raw messages over libmnl: built byte by byte, right or wrong, and the
 * kernel's answer taken apart.
 */
#ifndef PREFETCH_TEST_WIRE_H
#define PREFETCH_TEST_WIRE_H

#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/prefetch.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WIRE_MAX     65536
#define WIRE_HEADERS (NLMSG_HDRLEN + GENL_HDRLEN)

struct wire {
	struct mnl_socket *nl;
	uint16_t family;
	uint32_t seq;
};

/* A request that is being built; the length in its header is kept right. */
struct request {
	struct nlmsghdr *nlh;
	_Alignas(4) unsigned char bytes[WIRE_MAX + 64];
};

/* What came back. Offsets are from the start of the request's header. */
struct answer {
	int error;	       /* positive errno, 0 if it was done */
	char text[200];	       /* the kernel's words, "" if it had none */
	int at;		       /* offset of the attribute at fault, -1: none */
	int missing;	       /* type of the attribute that lacks, -1: none */
	unsigned long objects; /* messages of the family */
	bool interrupted;      /* one of them, or the end, says so */
	uint32_t last;	       /* the last object's first attribute, if a u32 */
};

/* Of each object that comes in. */
typedef void (*wire_fn)(const struct nlmsghdr *nlh, void *arg);

void wire_open(struct wire *w);
void wire_close(struct wire *w);

void request_begin(struct request *r, struct wire *w, uint8_t cmd,
		   uint16_t flags);
/* Each returns the offset of what it has put there. */
int request_raw(struct request *r, uint16_t type, uint16_t claimed,
		const void *data, size_t len);
int request_u32(struct request *r, uint16_t type, uint32_t value);
int request_u64(struct request *r, uint16_t type, uint64_t value);

void request_send(struct wire *w, const struct request *r);
/* One datagram into the answer; true when the answer is complete. */
bool answer_read(struct wire *w, struct answer *a, wire_fn fn, void *arg);
/* Sends, and reads until the answer is complete. */
void wire_ask(struct wire *w, const struct request *r, struct answer *a);
void answer_init(struct answer *a);

/* The answer to one message that is NLMSG_ERROR or NLMSG_DONE. */
void answer_error(const struct nlmsghdr *nlh, struct answer *a);

#endif
