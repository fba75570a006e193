/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Machines in memory that are made of the CPUs of the facts.
 */
#ifndef HARDWARE_H
#define HARDWARE_H

#include "common.h"

#include "fake-kernel.h"
#include "machine.h"
#include "domain.h"
#include "backend.h"
#include "cpus.h"

void put_cpu(unsigned int cpu, const struct fact *f, u32 apic_id,
	     unsigned int bank);
void put_bank(unsigned int bank, const struct fact *f, u64 firmware);
void two_cores(const struct fact *f, u64 firmware);
void load(void);
void unload(void);
const struct fact *fact_named(const char *who);
u32 fact_mask(const struct fact *f);
u32 cpus_of(unsigned int domain);

#endif /* HARDWARE_H */
