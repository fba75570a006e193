/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All cores of the machine at once, and how they are counted for people. */
#ifndef PREFETCHCTL_CENSUS_H
#define PREFETCHCTL_CENSUS_H

#include "ctl.h"
#include "text.h"

struct census {
	struct pfnl_core *cores;
	size_t count, room;
	size_t failed;	    /* cores out of service */
	size_t cpus;	    /* that are online, of all cores */
	uint32_t described; /* prefetchers that the module knows of a core */
};

/* 0 or -errno; release it with census_free() in any case. */
int census_take(struct ctl *ctl, struct census *census, bool verify);
void census_free(struct census *census);

/* Cores of each type; the E-cores that share a register are a module. */
#define TALLY_TYPES 4

struct tally {
	size_t of_type[TALLY_TYPES];
};

#define TALLY_TEXT_SIZE 160
void tally_add(struct tally *tally, uint32_t core_type);
size_t tally_sum(const struct tally *tally);
/* "2 performance cores and 1 efficient module" */
const char *tally_text(const struct tally *tally, char text[TALLY_TEXT_SIZE]);
/* "core", "performance core", "efficient module"; or more of them. */
const char *core_word(uint32_t core_type, bool plural);

/* All cores, and those out of service. */
void census_tally(const struct census *census, struct tally *all,
		  struct tally *failed);
/* "0,1": the CPUs of the cores out of service. */
const char *census_failed_cpus(const struct census *census,
			       char text[CPUS_TEXT_SIZE]);

/* "register 0x1a4: some bits cannot be changed: 0x2 (l2_adjacent)" */
#define FAULT_TEXT_SIZE (PFNL_MASK_NAMES_SIZE + 160)
const char *fault_text(const struct pfnl_core *core, bool hypervisor,
		       char text[FAULT_TEXT_SIZE]);

#endif
