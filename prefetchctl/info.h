/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What info and its report have in common. */
#ifndef PREFETCHCTL_INFO_H
#define PREFETCHCTL_INFO_H

#include "absent.h"
#include "census.h"
#include "ctl.h"

/* What the machine says of locked kernels; null where it is not known. */
void machine_json(json_t *object, const struct machine *machine);
/* The module, its counters and prefetchers; NULL with *err set to -errno. */
json_t *module_json(struct ctl *ctl, const struct census *census,
		    uint32_t wanted, int *err);

#endif
