/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A machine in memory: what its CPUs answer to CPUID, and registers that do
 * as they are told, or do not.
 */
#ifndef FAKE_MACHINE_H
#define FAKE_MACHINE_H

#include "fake-kernel.h"

#define FAKE_MAX_BANKS 8
#define FAKE_MAX_REGS  4

/**
 * struct fake_reg - a register
 * @address: its address
 * @value: what it holds
 * @no_read: reading faults
 * @no_write: writing faults
 * @no_read_again: reading faults once it was written
 * @ignore: writing does nothing
 * @stuck: bits that keep what they are
 * @once: bits that are never cleared once they are set
 * @reserved: bits that fault when they are written as 1
 * @wander: bits that change by themselves while @still is clear
 * @still: see @wander; in the first register of the bank
 * @reads: reads so far
 * @writes: writes so far, those that fault too
 * @touched: bits that writes would have changed
 */
struct fake_reg {
	u32 address;
	u64 value;
	bool no_read;
	bool no_write;
	bool no_read_again;
	bool ignore;
	u64 stuck;
	u64 once;
	u64 reserved;
	u64 wander;
	u64 still;
	unsigned int reads;
	unsigned int writes;
	u64 touched;
};

/* The registers of CPUs that share them; the unused have address 0. */
struct fake_bank {
	struct fake_reg regs[FAKE_MAX_REGS];
};

/**
 * struct fake_processor - a CPU
 * @vendor: letters of leaf 0
 * @family: display family
 * @model: display model
 * @core_type: kind of core in leaf 1A
 * @native_model: native model id in leaf 1A
 * @prefetch_msr: bit 13 in leaf 8000_0021
 * @no_topology: leaf B says nothing, as before Nehalem
 * @no_caches: leaf 4 says nothing, as under some hypervisors
 * @stray_ids: ids of the package in leaf 1, which does not count without its
 *	flag
 * @core_bits: bits of the APIC id that tell the cores of a package apart
 * @apic_id: its APIC id
 * @smt_bits: bits of it that tell hyperthreads apart
 * @l2_bits: bits of it that tell the CPUs on one L2 cache apart
 * @offline: it is not there yet
 * @bank: index of its registers
 */
struct fake_processor {
	const char *vendor;
	u32 family;
	u32 model;
	u32 core_type;
	u32 native_model;
	bool prefetch_msr;
	bool no_topology;
	bool no_caches;
	u32 stray_ids;
	u32 core_bits;
	u32 apic_id;
	u32 smt_bits;
	u32 l2_bits;
	bool offline;
	unsigned int bank;
};

/* An event of a core, as the module would send it. */
struct fake_event {
	unsigned int count;
	u32 domain;
	u32 old;
	u32 new;
	u32 cause;
};

/* A write, in the order in which they came; those that fault too. */
struct fake_write {
	u32 address;
	u64 value;
};

extern struct fake_write fake_written[64];
extern unsigned int fake_nr_written;

extern struct fake_processor fake_processors[FAKE_MAX_CPUS];
extern struct fake_bank fake_banks[FAKE_MAX_BANKS];
extern bool fake_hypervisor;
extern struct fake_event fake_event;
/* What was printed since fake_reset(), and how many lines. */
extern char fake_log[4096];
extern unsigned int fake_log_lines;

void fake_reset(unsigned int cpus);
struct fake_reg *fake_reg(unsigned int bank, u32 address);
unsigned int fake_writes(unsigned int bank);

void fake_run(unsigned int cpu, u64 wish);
void fake_idle(unsigned int cpu);
void fake_offline(unsigned int cpu);
void fake_online(unsigned int cpu);
void fake_resume(void);
void fake_reboot(void);
void fake_awake(void);

#endif /* FAKE_MACHINE_H */
