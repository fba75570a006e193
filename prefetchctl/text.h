/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pieces of text and JSON that prefetchctl and prefetch-monitor share. */
#ifndef PREFETCHCTL_TEXT_H
#define PREFETCHCTL_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <jansson.h>

#include "prefetchnl.h"

/*
 * A task chooses its name, and a terminal obeys control characters: whatever
 * is not printable UTF-8, or would turn the text around it, becomes question
 * marks.
 */
#define SAFE_TEXT_SIZE 64
const char *safe_text(const char *from, char to[SAFE_TEXT_SIZE]);

/* A message, cleaned in the same way, for what it repeats is anybody's. */
void safe_vprint(FILE *out, const char *fmt, va_list ap)
	__attribute__((format(printf, 2, 0)));

/*
 * A socket must not become standard input, output or error because one of
 * these is closed. A command that is run finds them closed as they were.
 */
void hold_standard_descriptors(void);

/* Decimal digits, @len of them, up to @max: 0, or -1 for anything else. */
int text_number(const char *text, size_t len, uint64_t max, uint64_t *number);

/* The registers are variables: without effect on hardware. */
static inline bool is_soft(const struct pfnl_info *info)
{
	return info->backend == PREFETCH_BACKEND_SOFT;
}

/*
 * Is it this word? Upper and lower case are the same in @given, and so are '-'
 * and '_', as in the names of prefetchers. @known is in lower case, with '-'.
 */
bool same_word(const char *known, const char *given, size_t len);

/*
 * A word that is wrong is repeated in a message, but not without an end: up to
 * here, which is also in '%.60s'.
 */
#define SHOWN 60
int shown(size_t len);

/* "l2_stream,l1_ip", or @none if the mask is empty. */
const char *mask_text(uint32_t mask, const char *none,
		      char text[PFNL_MASK_NAMES_SIZE]);

/* "l2_stream=off l1_ip=on", or @none if nothing is said. */
#define STATES_TEXT_SIZE (PFNL_MASK_NAMES_SIZE * 2)
const char *states_text(uint32_t off, uint32_t on, const char *none,
			char text[STATES_TEXT_SIZE]);

/*
 * The same, with groups: "l2=off l1_ip=on", and "all=off" where nothing of
 * @supported is left out. On this machine that is the same to `set`.
 */
const char *short_states_text(uint32_t off, uint32_t on, uint32_t supported,
			      const char *none, char text[STATES_TEXT_SIZE]);

/* "0-3,8": the CPUs of a core; the array need not be sorted. */
#define CPUS_TEXT_SIZE 256
const char *cpus_text(const uint32_t *cpus, size_t count,
		      char text[CPUS_TEXT_SIZE]);
const char *core_cpus_text(const struct pfnl_core *core,
			   char text[CPUS_TEXT_SIZE]);

/*
 * The core failed before this module programmed anything there, mostly at load:
 * the numbers that the kernel has for it are none that were ever asked for.
 */
bool core_untouched(const struct pfnl_core *core);

/* What is off there, "-" for nothing and "?" where core_untouched(). */
const char *core_off_text(const struct pfnl_core *core,
			  char text[PFNL_MASK_NAMES_SIZE]);

/*
 * JSON objects with the names of the wire format, '_' for '-'. A mask is an
 * integer, bit 1 << id. NULL: out of memory.
 */
json_t *setting_json(const struct pfnl_setting *setting);
json_t *core_json(const struct pfnl_core *core);
/* @untouched: nothing was programmed there */
json_t *registers_json(const struct pfnl_register *registers, size_t count,
		       bool untouched);
json_t *info_json(const struct pfnl_info *info);
json_t *safe_json(const char *text);

#endif
