/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of prefetchers as a user writes and reads them. */
#ifndef PREFETCHCTL_NAMES_H
#define PREFETCHCTL_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A name, an alias or a group, with - or _; false if it is none of these.
 * @is_group may be NULL.
 */
bool name_to_mask(const char *text, size_t len, uint32_t *mask, bool *is_group);

/* All names and groups, for an error message. */
const char *names_known(void);

#endif
