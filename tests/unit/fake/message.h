/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Building netlink messages by hand, so that bad ones can be made, too. */
#ifndef FAKE_MESSAGE_H
#define FAKE_MESSAGE_H

#include <linux/genetlink.h>
#include <linux/netlink.h>

#include "fake.h"

void *fake_alloc(void *old, size_t size);

/* Adds bytes, padded to 4; data may be NULL for zeros. Returns their place. */
size_t fake_put(struct fake_bytes *b, const void *data, size_t size);

/* Begins a message; returns its place for fake_end(). */
size_t fake_begin(struct fake_bytes *b, uint16_t type, uint16_t flags,
		  uint32_t seq);
size_t fake_begin_genl(struct fake_bytes *b, uint16_t type, uint16_t flags,
		       uint32_t seq, uint8_t cmd);

/* Its length is known now. */
void fake_end(struct fake_bytes *b, size_t place);

void fake_attr(struct fake_bytes *b, int type, const void *data, size_t size);
void fake_u16(struct fake_bytes *b, int type, uint16_t value);
void fake_u32(struct fake_bytes *b, int type, uint32_t value);
void fake_u64(struct fake_bytes *b, int type, uint64_t value);
void fake_text(struct fake_bytes *b, int type, const char *text);

size_t fake_nest(struct fake_bytes *b, int type);
void fake_nest_end(struct fake_bytes *b, size_t place);

/* Queues a datagram, and makes b empty. */
void fake_queue(struct fake *f, enum pfnl_channel channel,
		struct fake_bytes *b);
void fake_queue_error(struct fake *f, enum pfnl_channel channel, int error);
void fake_queue_claim(struct fake *f, enum pfnl_channel channel, size_t claim);

/* Does what a fault says to the messages of an answer. */
void fake_spoil(const struct fake_fault *fault, struct fake_bytes *b);

/* --- request.c --- */

/* Handles a request, and queues the answer. */
void fake_request(struct fake *f, const void *data, size_t size);

/* --- object.c --- */

const struct fake_task *fake_find_task(struct fake *f, uint32_t pid,
				       uint32_t tid);
struct fake_setting *fake_find_setting(struct fake *f, uint32_t pid,
				       uint32_t tid);
struct fake_domain *fake_find_domain(struct fake *f, uint32_t id);

/* What domains should hold now; sends an event for each that changes. */
void fake_settle(struct fake *f, uint32_t cause, uint32_t cpu);

/* Prefetchers of a mask that only some domains have. */
uint32_t fake_partial(const struct fake *f, uint32_t mask);

void fake_fill_info(struct fake *f, struct fake_bytes *b);
void fake_fill_prefetcher(struct fake *f, struct fake_bytes *b, uint32_t id);
void fake_fill_setting(struct fake *f, struct fake_bytes *b, uint32_t pid,
		       uint32_t tid, const struct fake_setting *s);
void fake_fill_core(struct fake *f, struct fake_bytes *b,
		    const struct fake_domain *d, bool verify);
void fake_fill_registers(struct fake_bytes *b, int type,
			 const struct fake_domain *d);
void fake_fill_family(struct fake *f, struct fake_bytes *b);

/* --- scenario.c --- */

/* Plays the next step: false if there is none. */
bool fake_play(struct fake *f);
bool fake_steps_left(const struct fake *f);
void fake_scenario_end(struct fake *f);

#define FAKE_GROUP_NOTIFY  16
#define FAKE_GROUP_CORE	   20
#define FAKE_GROUP_SETTING 21

#endif /* FAKE_MESSAGE_H */
