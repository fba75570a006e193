/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests that the wire must refuse or grant, and with which words.
 */
#ifndef PREFETCH_TEST_WIRE_CASES_H
#define PREFETCH_TEST_WIRE_CASES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whose number an attribute carries. */
enum who {
	NOBODY,	    /* a number that nobody has */
	ME,	    /* this process and its first thread */
	MY_THREAD,  /* its second thread */
	A_CHILD,    /* a child that sleeps */
	ITS_THREAD, /* a thread of that child that is not its first */
	A_ZOMBIE,   /* a child that died and waits to be reaped */
	THE_DEAD,   /* a child that died and was reaped */
};

enum piece_kind {
	PIECE_END,
	PIECE_U32,
	PIECE_U64,
	PIECE_WHO,   /* u32: the number of who */
	PIECE_START, /* u64: start time of who, plus value */
	PIECE_LONG,  /* value bytes of zeros, however many */
	PIECE_LIE,   /* an attribute that claims another length: value */
	PIECE_TAIL,  /* value bytes behind the attributes */
	PIECE_NEST,  /* an attribute within an attribute, flagged as such */
};

struct piece {
	enum piece_kind kind;
	uint16_t type;
	uint64_t value;
	enum who who;
};

struct wire_case {
	const char *name;
	uint8_t cmd;
	uint16_t flags; /* beside NLM_F_REQUEST */
	struct piece pieces[5];
	int error;
	const char *text; /* in the kernel's words */
	int at;		  /* which piece is at fault, from 1 on */
	int missing;	  /* attribute type that lacks */
	bool ours;	  /* our own refusal of a dump: 6.1 drops its words */
	bool nobody;	  /* asked by a user without rights */
};

extern const struct wire_case wire_cases[];
extern const size_t wire_case_count;

#endif
