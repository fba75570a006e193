/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Why the machine, or some of its cores, lack a prefetcher. */
#ifndef PREFETCHCTL_MISSING_H
#define PREFETCHCTL_MISSING_H

#include "absent.h"
#include "census.h"
#include "ctl.h"

/* "not-in-register", "not-simulated", "locked", "hypervisor"; NULL: not
 * missing. */
const char *missing_reason(const struct ctl *ctl, const struct census *census,
			   uint32_t id);
json_t *missing_json(const struct ctl *ctl, const struct census *census,
		     uint32_t wanted);
void missing_print(const struct ctl *ctl, const struct census *census,
		   uint32_t wanted);
/* Cores out of service, and CPUs that are no core's. */
void missing_print_cores(const struct ctl *ctl, const struct census *census,
			 const struct machine *machine);

#endif
