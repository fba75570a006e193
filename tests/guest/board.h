/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the sides of a race share. Whoever makes the events writes the first
 * part, whoever makes requests the second.
 */
#ifndef PREFETCH_TEST_BOARD_H
#define PREFETCH_TEST_BOARD_H

#define ASKERS 2

struct board {
	unsigned long events; /* forks, threads, execs, exits so far */
	int newest;	      /* pid or tid of what was last made */
	unsigned int stop;

	struct asker {
		unsigned long requests;
		unsigned long too_late; /* of these, after its end */
		unsigned long wrong;
		int error; /* of the first that was wrong */
	} asker[ASKERS];
};

#endif
