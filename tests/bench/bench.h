/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the parts of bench-client share. Each comparison is made in turns, and
 * of each turn the ratio is taken. The other side is measured twice in a turn:
 * by how much these two differ is what a ratio may be wrong by.
 *
 *	ratio NAME MEDIAN LEAST MOST TOLERANCE
 *	figure NAME VALUE
 */
#ifndef PREFETCH_BENCH_H
#define PREFETCH_BENCH_H

#include <stdint.h>

#define TURNS 5

typedef double (*bench_fn)(void *arg);

uint64_t now_ns(void);
void give_up(const char *what, const char *why) __attribute__((noreturn));

enum bench_of { OF_TIME, OF_SPEED };

/*
 * Prints the ratio of two times, ours to theirs; with OF_SPEED, of what is done
 * in the same time.
 */
void bench_compare(const char *name, enum bench_of of, bench_fn ours,
		   bench_fn theirs, void *arg);

void bench_programs(void);
void bench_monitor(unsigned long changes);

#endif
