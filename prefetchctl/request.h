/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The grammar of the command line: words become a plain struct. Nothing here
 * knows the wire or how a result is printed.
 */
#ifndef PREFETCHCTL_REQUEST_H
#define PREFETCHCTL_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum target_kind {
	TARGET_NONE,
	TARGET_PID,
	TARGET_TID,
	TARGET_TREE,
	TARGET_SELF,
	TARGET_DEFAULT,
	TARGET_ALL,
};

#define TARGET_BIT(kind) (1u << (kind))

/* What a subcommand takes besides a target. */
#define TAKES_STATES	 (1u << 0)  /* NAME=off|on|default ... */
#define TAKES_INHERIT	 (1u << 1)  /* inherit=on|off */
#define TAKES_START	 (1u << 2)  /* start-time=NS */
#define TAKES_VERIFY	 (1u << 3)  /* --verify */
#define TAKES_KEEP_GOING (1u << 4)  /* -k */
#define TAKES_FILE	 (1u << 5)  /* FILE or - */
#define TAKES_NAMES	 (1u << 6)  /* NAME[,NAME] */
#define TAKES_PID_WORD	 (1u << 7)  /* a bare PID */
#define TAKES_COMMAND	 (1u << 8)  /* -- COMMAND ARG ... */
#define TAKES_TOPIC	 (1u << 9)  /* an optional bare word */
#define TAKES_REPORT	 (1u << 12) /* --report */
#define NEEDS_STATES	 (1u << 10) /* at least one NAME=STATE or inherit= */
#define NEEDS_TARGET	 (1u << 11)

struct request {
	enum target_kind target;
	const char *target_word; /* as the user wrote it, for messages */
	pid_t *ids;		 /* TARGET_PID, _TID, _TREE */
	size_t ids_count;
	/* Bit 1 << id of each prefetcher; the three are disjoint. */
	uint32_t off, on, clear;
	/* Bits that were named by a group only: as far as the machine goes. */
	uint32_t grouped;
	int inherit;	     /* 1, 0, or -1: not given */
	uint64_t start_time; /* 0: not given */
	bool verify, report, keep_going, json, help, version;
	const char *word; /* FILE, or the topic of help */
	char **command;	  /* after "--", ends with NULL */
};

/* The complaint of the parser, ready to print. */
struct complaint {
	char text[512];
};

/*
 * request_parse() - read the words of one subcommand
 * @req: filled in; release it with request_free() in any case
 * @words: the words after the subcommand, ended by NULL; they are borrowed
 * @targets: TARGET_BIT() of each kind of target that is allowed
 * @takes: TAKES_ and NEEDS_ bits
 * @why: says what is wrong, if something is
 *
 * Returns 0, or -1 if the words are not a request. After --help or --version
 * nothing else is asked of them.
 */
int request_parse(struct request *req, char **words, unsigned int targets,
		  unsigned int takes, struct complaint *why);
void request_free(struct request *req);

#endif
