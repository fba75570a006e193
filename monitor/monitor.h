/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PREFETCH_MONITOR_H
#define PREFETCH_MONITOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "prefetchnl.h"

/* Exit status, documented in prefetch-monitor(1). */
enum status {
	STATUS_DONE = 0,
	STATUS_FAILED = 1,
	STATUS_USAGE = 2,
	STATUS_DENIED = 3,
	STATUS_UNSUPPORTED = 4,
};

/* Kinds of line. */
enum kind {
	KIND_HELLO,
	KIND_STATE,
	KIND_CORE,
	KIND_SETTING,
	KIND_LOST,
	KIND_RESYNC,
	KIND_GONE,
	KIND_BYE,
	KINDS,
};

#define KIND_BIT(kind) (1u << (kind))
struct options {
	bool json, tshort, top, help, version;
	uint64_t count;	  /* 0: no limit */
	int64_t duration; /* nanoseconds; 0: no limit */
	uint32_t kinds;	  /* KIND_BIT() */
	uint32_t *pids;	  /* only these, unless pids_count is 0 */
	size_t pids_count;
	uint32_t *cores;
	size_t cores_count;
};

/*
 * options_parse() - read the command line
 * @words: without the program's name, ended by NULL
 * @why: what is wrong, ready to print
 *
 * Returns 0 or -1; options_free() in any case.
 */
int options_parse(struct options *options, char **words, char *why,
		  size_t why_size);
void options_free(struct options *options);
const char *kind_name(enum kind kind);
void print_usage(void);

bool wants_kind(const struct options *options, enum kind kind);
/* Lines that have no process or core fail a filter for one. */
bool wants_core_event(const struct options *options,
		      const struct pfnl_core_event *event);
bool wants_core(const struct options *options, const struct pfnl_core *core);
bool wants_setting(const struct options *options,
		   const struct pfnl_setting *setting);

/* output.c: lines that are complete and out at once, or not at all */
enum written {
	WRITTEN,
	WRITE_CLOSED,  /* nobody reads any more */
	WRITE_STOPPED, /* it is time to end, and the reader is slow */
	WRITE_FAILED,  /* errno says why */
};

/* @duration: end after so many ns; 0: no limit */
void output_begin(int64_t duration);
bool output_stopped(void); /* SIGINT or SIGTERM came, or the time is over */
bool output_expired(void); /* it was the time */
enum written output_line(const char *text, size_t len);
/*
 * Around what writes to a terminal and may block: a stop is seen meanwhile, and
 * in the end the terminal is made to take it. Writes may be interrupted.
 */
void output_terminal_begin(void);
void output_terminal_end(void);
/*
 * Wait until @fd is readable, stdout is closed, a signal comes or @timeout ns
 * have passed (negative: never). Returns false when it is time to end.
 */
bool output_wait(int fd, int64_t timeout);
bool output_closed(void);
bool output_readable(int fd);
/* After a stop: there is time for more lines, and somebody reads them. */
bool output_may_go_on(void);

uint64_t now_monotonic(void);

int monitor_main(char **argv);
int monitor_run(struct pfnl *h, const struct options *options);
/* Asks for the machine, and whether events come here at all. */
int monitor_hello(struct pfnl *h, struct pfnl_info *info);
/* Complains of a core in the filters that this machine lacks. */
int monitor_check_cores(struct pfnl *h, const struct options *options,
			const struct pfnl_info *info);
int monitor_top(struct pfnl *h, const struct options *options);
/* Print a failed request and return its exit status. */
int complain_kernel(struct pfnl *h, int err, const char *what);
int complain(int status, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif
