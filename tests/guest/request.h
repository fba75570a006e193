/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests to the module, each told to the trace before and after, so that the
 * judge knows them.
 */
#ifndef PREFETCH_TEST_REQUEST_H
#define PREFETCH_TEST_REQUEST_H

#include <prefetchnl.h>

#include "harness.h"

/* Each returns 0 or the negative errno of the request. */

/* Exactly these off and on, no opinion on the rest, not inherited. */
int set_pid(pid_t pid, uint32_t off, uint32_t on);
int set_tid(pid_t tid, uint32_t off, uint32_t on);
int set_pid_inherit(pid_t pid, uint32_t off, uint32_t on);
int set_default(uint32_t off, uint32_t on);
int clear_pid(pid_t pid);
int clear_tid(pid_t tid);

/* The same with all that a request can carry, and on any handle. */
int set_any(struct pfnl *handle, const struct pfnl_setting_request *request,
	    struct pfnl_setting *result);
int set_default_any(struct pfnl *handle, uint32_t off, uint32_t on);

/* For the judge: a CPU goes "offline" or "online" between the two. */
unsigned long long judge_turn(const char *what, int cpu);
void judge_turned(unsigned long long id, int err);

/* A setting that must be readable; the program ends if it is not. */
struct pfnl_setting get_pid(pid_t pid);
struct pfnl_setting get_tid(pid_t tid);

/* The state of the module. */
struct pfnl_info info(void);
bool request_ready(void); /* the module is loaded */
long request_settings(void);
/* What a domain is programmed with, is held for, and was written how often. */
struct core_state {
	uint32_t baseline;
	uint32_t effective;
	bool held;
	uint64_t writes;
};

struct core_state core_state(int domain);
struct pfnl *handle(void);
/* Takes the events that are there, or waits a moment for some: pfnl_dispatch().
 */
int take_events(struct pfnl *listener, pfnl_event_cb cb, void *arg);

void request_init(void);
void request_end(void);

#endif
