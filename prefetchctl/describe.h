/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The prefetchers of the machine: what each is, where it is switched. */
#ifndef PREFETCHCTL_DESCRIBE_H
#define PREFETCHCTL_DESCRIBE_H

#include "census.h"
#include "ctl.h"

/*
 * Each prefetcher of the mask @wanted, as text or as an array. 0, or -errno of
 * the library; then nothing is in *list.
 */
int describe_print(struct ctl *ctl, const struct census *census,
		   uint32_t wanted);
int describe_json(struct ctl *ctl, const struct census *census, uint32_t wanted,
		  json_t **list);

#endif
