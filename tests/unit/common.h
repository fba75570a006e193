/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the unit tests share: a handle on a fake kernel, and lists of events. */
#ifndef COMMON_H
#define COMMON_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fake.h"

struct bench {
	struct fake *fake;
	struct pfnl *h;
};

/* For cmocka: a fake machine with some tasks; *state is a struct bench. */
int bench_setup(void **state);
int bench_teardown(void **state);

#define BOTH (PFNL_GROUP_CORE | PFNL_GROUP_SETTING)

void subscribe(struct bench *b, unsigned int groups);

/* Three changes of domain 1, in one event. */
void core_event(struct bench *b, uint32_t old, uint32_t new);

/* Events as text, one line each, in the order of their arrival. */
struct record {
	char text[16384];
	size_t used;
	size_t count;
	/* Ends the dispatch after that many events; 0: never. */
	size_t stop_after;
	size_t since_stop;
};

int record_event(const struct pfnl_event *event, void *arg);

/* Dispatches once, and compares all events with the lines expected. */
void expect_events(struct bench *b, const char *expected);

/* Dispatches once, and forgets the events. */
void skip_events(struct bench *b);

#define BENCH_TEST(function) \
	cmocka_unit_test_setup_teardown(function, bench_setup, bench_teardown)

#endif /* COMMON_H */
