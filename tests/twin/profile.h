/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A profile: the machine that the twin plays, read from a text file.  CPUs are
 * named by their local APIC id, as in hardware documents.
 */
#ifndef TWIN_PROFILE_H
#define TWIN_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Local APIC ids of eight bits; the last one means "all". */
#define PROFILE_MAX_CPUS 255

#define PROFILE_NO_CORE	 (-1)

struct cpu_set {
	uint64_t bits[4];
};

enum {
	CPUID_EAX,
	CPUID_EBX,
	CPUID_ECX,
	CPUID_EDX,
	CPUID_NR_REGS,
};

/* What CPUID answers to one leaf, on some CPUs. */
struct profile_leaf {
	struct cpu_set cpus;
	uint32_t leaf;
	uint32_t subleaf;
	bool any_subleaf;
	bool is_apic_id[CPUID_NR_REGS]; /* the CPU's own id, not the value */
	uint32_t value[CPUID_NR_REGS];
};

/* One copy of a register, and how it misbehaves. */
struct profile_register {
	uint32_t msr;
	int core;
	uint64_t value;	   /* left by the firmware */
	bool ignores;	   /* writes do nothing */
	uint64_t stuck;	   /* bits that keep what they were */
	uint64_t drops;	   /* bits that arrive as 0 */
	uint64_t reserved; /* setting one of these bits faults */
	bool read_faults;
	bool write_faults;
	uint64_t refuses;    /* from this write after the first mark on ... */
	uint64_t refuses_to; /* ... to this one each write faults */
	uint64_t changes;    /* bits that turn over by themselves ... */
	uint64_t changes_at; /* ... after so many writes after the first mark */
};

struct profile {
	char name[64];
	unsigned int cores;
	int core_of[PROFILE_MAX_CPUS]; /* or PROFILE_NO_CORE */
	struct profile_leaf *leaves;
	size_t nr_leaves;
	struct profile_register *registers;
	size_t nr_registers;
	/* Every register that was named; where it has no copy it faults. */
	uint32_t *msrs;
	size_t nr_msrs;
};

/* False after a message that names the file, the line and the bad word. */
bool profile_read(const char *path, struct profile *out);

/* The answer to a CPUID instruction, or NULL if QEMU's own stands. */
const struct profile_leaf *profile_find_leaf(const struct profile *profile,
					     unsigned int cpu, uint32_t leaf,
					     uint32_t subleaf);

#endif
