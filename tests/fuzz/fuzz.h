/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the fuzzers share. Each is one function that is given bytes; libFuzzer
 * calls it, or replay.c with the inputs of corpus/.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "fake.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* For what does not hold: the fuzzer takes it for a crash. */
#define HOLDS(condition)                                              \
	do {                                                          \
		if (!(condition)) {                                   \
			fprintf(stderr, "%s:%d: does not hold: %s\n", \
				__FILE__, __LINE__, #condition);      \
			abort();                                      \
		}                                                     \
	} while (0)

/* The bytes that are left. What is taken beyond their end is zero. */
struct input {
	const uint8_t *data;
	size_t size;
};

uint8_t take_u8(struct input *in);
uint32_t take_u32(struct input *in);

/*
 * A record: a byte for its kind, two for its length, and as many bytes, or
 * those that are there. False at the end of the input.
 */
struct record {
	uint8_t kind;
	const uint8_t *data;
	size_t size;
};

bool take_record(struct input *in, struct record *record);

/* A text that the library gives out: ended, and without control characters. */
void must_be_text(const char *text, size_t size);

/* A line for a terminal, not empty. */
void must_be_reason(const char *text);

/*
 * A fake kernel whose datagrams can be replaced. Bytes after the end of a
 * datagram are poisoned, so that a read beyond it is seen.
 */
struct channel {
	struct fake *fake;

	/* Requests that are not handed to the fake kernel: see on_send. */
	bool (*on_send)(struct channel *c, const void *data, size_t size);
	/* The next datagram for those, or -errno. */
	ssize_t (*on_recv)(struct channel *c, uint8_t *data, size_t size);
	bool waiting; /* on_send took the last request */

	struct input in;
	struct {
		uint16_t type;
		uint8_t cmd;
		uint32_t seq;
	} request;

	/* Memory that is poisoned now. */
	void *poisoned[2];
	size_t poisoned_size[2];
};

/* ctx is a struct channel; pfnl_close() frees its fake kernel, and not it. */
extern const struct pfnl_transport channel_transport;

/* A message around the bytes of a record, put at data if it fits. */
size_t put_message(uint8_t *data, size_t size, uint16_t type, uint16_t flags,
		   uint32_t seq, int cmd, const uint8_t *payload,
		   size_t payload_size);

#endif /* FUZZ_H */
