/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the subcommands share: the table, the handle, messages, output. */
#ifndef PREFETCHCTL_CTL_H
#define PREFETCHCTL_CTL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <jansson.h>

#include "prefetchnl.h"
#include "request.h"

/* Exit status, documented in prefetchctl(1). */
enum status {
	STATUS_DONE = 0,
	STATUS_FAILED = 1,
	STATUS_USAGE = 2,
	STATUS_DENIED = 3,
	STATUS_UNSUPPORTED = 4,
	STATUS_NO_TASK = 5,
	STATUS_PARTLY = 6,
	STATUS_NOT_EXECUTABLE = 126,
	STATUS_NOT_FOUND = 127,
};

struct ctl {
	struct pfnl *kernel; /* opened at the first use */
	struct pfnl_info info;
	bool have_info;
	bool json;
	const char *where; /* "FILE:LINE: " in a batch, else "" */
	bool in_batch;
	bool module_absent; /* seen, and said */
};

/* What a request needs when it is not permitted. */
enum need {
	NEED_NOTHING,
	NEED_TASK,
	NEED_ADMIN,
};

struct masks {
	uint32_t off, on, clear;
};

/* The settings that a request ended with. */
struct report {
	struct ctl *ctl;
	json_t *list; /* NULL: text */
	size_t done, failed;
	int first_failure;
	uint32_t partial;
};

struct command {
	const char *name;
	int (*run)(struct ctl *ctl, const struct request *req);
	unsigned int targets; /* TARGET_BIT() of what is allowed */
	unsigned int takes;   /* TAKES_ and NEEDS_ bits */
	bool not_in_batch;
	const char *usage;   /* the words after "prefetchctl" */
	const char *summary; /* one line of help */
	const char *details; /* the rest of help COMMAND */
};

extern const struct command commands[]; /* ends with a NULL name */

int ctl_main(char **argv);
const struct command *command_find(const char *name);
/* Parse and run one subcommand; @words starts with its name. */
int command_run(struct ctl *ctl, char **words);

/* messages (say.c): each prints once, on stderr, and returns @status */
int say_error(struct ctl *ctl, int status, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void say_more(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void say_warning(struct ctl *ctl, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
int status_of_errno(int err);
/* Several targets in one request: what the whole ended with. */
int status_join(size_t done, size_t failed, int first_failure);

/* the kernel (kernel.c) */
int ctl_open(struct ctl *ctl); /* 0, or an exit status after a message */
int ctl_info(struct ctl *ctl); /* fills ctl->info; the same */
void ctl_close(struct ctl *ctl);
int say_kernel_error(struct ctl *ctl, int err, const char *what,
		     enum need need);
void say_module_absent(struct ctl *ctl);
/* The masks of a request, groups cut down to what this machine has. */
int masks_resolve(struct ctl *ctl, const struct request *req,
		  struct masks *masks);

struct settings {
	struct pfnl_setting *list;
	size_t count, room;
};

/* All settings (list.c); on success the caller frees the list. */
int settings_collect(struct ctl *ctl, struct settings *settings);

/* output (report.c, ctl.c) */
bool colour_wanted(FILE *out);
int emit_json(struct ctl *ctl, json_t *object); /* steals the reference */
void report_begin(struct report *report, struct ctl *ctl);
void report_setting(struct report *report, const struct pfnl_setting *setting);
void report_failure(struct report *report, int status);
int report_end(struct report *report); /* returns the exit status */
int report_default(struct ctl *ctl, uint32_t off, uint32_t on,
		   uint32_t partial);
void say_backend(struct ctl *ctl, FILE *out);
/* What was named and some cores lack, and why (missing.c). */
void say_partial(struct ctl *ctl, uint32_t partial);

/* `self`: the process that called us; 0 after a message. */
pid_t self_pid(struct ctl *ctl);

/* tree.c: apply to a process and all its descendants */
void tree_set(struct report *report, pid_t root, const struct masks *masks,
	      int inherit);

/* subcommands, one file each */
int cmd_set(struct ctl *ctl, const struct request *req);
int cmd_get(struct ctl *ctl, const struct request *req);
int cmd_clear(struct ctl *ctl, const struct request *req);
int cmd_list(struct ctl *ctl, const struct request *req);
int cmd_cores(struct ctl *ctl, const struct request *req);
int cmd_repair(struct ctl *ctl, const struct request *req);
int cmd_info(struct ctl *ctl, const struct request *req);
int cmd_info_report(struct ctl *ctl); /* info --report */
int cmd_run(struct ctl *ctl, const struct request *req);
int cmd_batch(struct ctl *ctl, const struct request *req);
int cmd_exec(struct ctl *ctl, const struct request *req);
int cmd_disable(struct ctl *ctl, const struct request *req);
int cmd_enable(struct ctl *ctl, const struct request *req);
int cmd_version(struct ctl *ctl, const struct request *req);
int cmd_help(struct ctl *ctl, const struct request *req);
void print_help(const struct command *command);

#endif
