/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The twin plays the prefetcher register of a machine and logs what is done to
 * it.  How the files share the work:
 *
 *   twin.c      entry point: arguments
 *   insn.c      finding WRMSR, RDMSR and CPUID in guest code, and playing them
 *   vcpu.c      the guest's CPUs: which one runs, its architectural registers
 *   fault.c     a real #GP in the guest, where an access must fault
 *   profile.c   reads the description of a machine
 *   register.c  the model-specific registers that the twin plays, and faults
 *   power.c     cores that lose what is in their registers
 *   log.c       the log file
 */
#ifndef TWIN_H
#define TWIN_H

#include <stdbool.h>
#include <stdint.h>

struct profile;

/* Where the guest talks to the twin; all are ignored by QEMU itself. */
#define TWIN_MSR_LEARN 0x400000F8u
#define TWIN_MSR_MARK  0x400000F9u
#define TWIN_MSR_LOSE  0x400000FAu

/* ---- vcpu.c ---- */

enum vcpu_reg {
	VCPU_RAX,
	VCPU_RBX,
	VCPU_RCX,
	VCPU_RDX,
	VCPU_RIP,
	VCPU_CS,
	VCPU_CR0,
	VCPU_GS_BASE,
	VCPU_EFLAGS,
	VCPU_NR_REGS,
};

/* With a profile vCPUs are known by their local APIC id, from power-on. */
bool vcpu_setup(unsigned int max, bool by_apic_id);

/* To be called on each vCPU's own thread, before it runs. */
void vcpu_started(unsigned int index);

/* Valid only in a callback registered with access to the registers. */
uint64_t vcpu_read(enum vcpu_reg reg);
void vcpu_write(enum vcpu_reg reg, uint64_t value);

/*
 * The vCPU that executes the callback, given the index that QEMU passed.
 * Without a profile it is as good a guess as there is while the guest has not
 * introduced its CPUs.  Both take the lock of log.c.
 */
unsigned int vcpu_current(unsigned int index);
void vcpu_learn(unsigned int index, uint64_t cpu);

/* ---- register.c ---- */

struct register_config {
	unsigned int threads; /* vCPUs that share a core */
	uint64_t baseline;
	bool log_reads;
	const char *fault;	       /* NAME or NAME@N, may be NULL */
	const struct profile *profile; /* instead of threads and baseline */
};

bool register_setup(const struct register_config *config, unsigned int vcpus);

/* True if the twin plays this MSR; if not, QEMU's own behaviour stands. */
bool register_plays(uint32_t msr);

/* These need the lock of log.c.  False: the access faults. */
bool register_write(unsigned int vcpu, uint32_t msr, uint64_t value);
bool register_read(unsigned int vcpu, uint32_t msr, uint64_t *value);
void register_mark(unsigned int vcpu, uint64_t value);
/* The core's registers go back to what the firmware puts there. */
void register_lose(int core);
void register_log_end(void);

/* ---- power.c ---- */

bool power_setup(unsigned int vcpus);

/* Is there anything to be told of halts? */
bool power_armed(void);

/* These need the lock of log.c. */
void power_command(uint64_t value);
void power_halt(unsigned int vcpu, uint64_t eflags);

/* ---- insn.c ---- */

/* Registers the callbacks; NULL: no profile, CPUID is QEMU's own. */
void insn_setup(uint64_t plugin, const struct profile *profile);

/* ---- fault.c ---- */

void fault_setup(uint64_t plugin);

/*
 * In a callback before WRMSR or RDMSR with access to write registers: makes
 * QEMU raise #GP at that instruction.  The guest sees nothing else of it.
 */
void fault_raise(unsigned int vcpu);

/* ---- log.c ---- */

bool log_open(const char *path);
void log_close(void);

/*
 * One lock covers the registers and the log, so that the order of the log's
 * lines is the order in which the registers changed.
 */
void log_lock(void);
void log_unlock(void);

/* One record: gets the sequence number and the time in front. */
void log_record(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* One line that carries no data. */
void log_comment(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A message for the person who started QEMU. */
void log_complain(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

#endif
