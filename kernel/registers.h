/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which CPU has which prefetchers, in which registers, and how a mask becomes
 * register values.
 *
 * Nothing here knows of kernel state: registers.c is also compiled into
 * user-space programs, which test every row of the table.
 */
#ifndef PF_REGISTERS_H
#define PF_REGISTERS_H

#ifdef __KERNEL__
#include <linux/types.h>
#include <linux/kernel.h>
#include <uapi/linux/prefetch.h>
#else
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/prefetch.h>
typedef uint8_t u8;
typedef uint32_t u32;
typedef uint64_t u64;
#define BIT_ULL(n) (1ULL << (n))
#ifndef ARRAY_SIZE
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#endif
#endif

/* Most registers that stand behind the mask of one core. */
#define PF_MAX_REGS 4

/* Number of prefetcher ids; the bits of a mask. */
#define PF_NR_PREFETCHERS 14

/**
 * struct pf_prefetcher - one prefetcher, on whatever CPU
 * @name: its name in the command and the library
 * @description: what it does, in one line
 * @missing: what a request that names it in vain is told
 */
struct pf_prefetcher {
	const char *name;
	const char *description;
	const char *missing;
};

/**
 * struct pf_field - where one prefetcher is switched
 * @id: prefetcher, the number of its bit in a mask
 * @reg: index into the registers of the layout
 * @shift: lowest bit of the field
 * @width: width of the field in bits
 * @off: value that switches the prefetcher off
 * @on: value that switches it on, where firmware had it off
 */
struct pf_field {
	u8 id;
	u8 reg;
	u8 shift;
	u8 width;
	u8 off;
	u8 on;
};

/**
 * enum pf_shared - which CPUs share one copy of the registers
 * @PF_SHARED_CORE: the hyperthreads of a core
 * @PF_SHARED_MODULE: the cores on one L2 cache
 */
enum pf_shared {
	PF_SHARED_CORE,
	PF_SHARED_MODULE,
};

/**
 * struct pf_layout - the registers of one kind of core
 * @name: kind of core, for people
 * @core_type: enum prefetch_core_type
 * @shared: which CPUs share the registers
 * @nr_regs: how many of @regs there are
 * @nr_fields: how many of @fields there are
 * @steer_reg: index of the register with @steer_bits
 * @steer_bits: bits that stop the core from steering the fields by itself; set
 *	while anybody asks for anything, else as firmware left them
 * @regs: addresses of the model specific registers
 * @fields: where each prefetcher is switched
 */
struct pf_layout {
	const char *name;
	u8 core_type;
	u8 shared;
	u8 nr_regs;
	u8 nr_fields;
	u8 steer_reg;
	u64 steer_bits;
	u32 regs[PF_MAX_REGS];
	const struct pf_field *fields;
};

/* Kinds of core in CPUID leaf 1A, EAX bits 31 to 24. */
#define PF_CPUID_CORE_NONE 0
#define PF_CPUID_CORE_ATOM 0x20
#define PF_CPUID_CORE_CORE 0x40

/**
 * struct pf_cpu_id - what a CPU says of itself, by CPUID on that CPU
 * @vendor: the twelve letters of CPUID leaf 0, with a final NUL byte
 * @family: display family
 * @model: display model
 * @stepping: stepping
 * @core_type: kind of core, PF_CPUID_CORE_; 0 where the CPU has no leaf 1A
 * @native_model: native model id of leaf 1A
 * @prefetch_msr: CPUID leaf 8000_0021, EAX bit 13
 */
struct pf_cpu_id {
	char vendor[13];
	u32 family;
	u32 model;
	u32 stepping;
	u32 core_type;
	u32 native_model;
	bool prefetch_msr;
};

/* How a row of the table knows its CPUs. */
enum pf_match {
	/* By family and model, and the kind of core where one is given. */
	PF_MATCH_MODEL,
	/* By family, kind of core and native model id, whatever the model. */
	PF_MATCH_NATIVE,
	/* By the CPUID bit for the prefetch control register. */
	PF_MATCH_BIT,
};

/**
 * struct pf_row - one row of the table of CPUs
 * @cpus: which CPUs, for people
 * @vendor: vendor letters
 * @match: enum pf_match
 * @family: display family; 0 is any, with PF_MATCH_BIT
 * @core_type: PF_CPUID_CORE_ that is asked for; 0 is any
 * @native_model: with PF_MATCH_NATIVE
 * @models: display models, with PF_MATCH_MODEL
 * @nr_models: how many
 * @layout: their registers; NULL if the CPUs are known and cannot be used
 * @source: where the facts come from
 */
struct pf_row {
	const char *cpus;
	const char *vendor;
	u8 match;
	u32 family;
	u32 core_type;
	u32 native_model;
	const u8 *models;
	unsigned int nr_models;
	const struct pf_layout *layout;
	const char *source;
};

extern const struct pf_row pf_rows[];
extern const unsigned int pf_nr_rows;
extern const struct pf_prefetcher pf_prefetchers[PF_NR_PREFETCHERS];
extern const struct pf_layout pf_layout_classic;

const struct pf_row *pf_row_find(const struct pf_cpu_id *id);
u32 pf_layout_supported(const struct pf_layout *layout);
u64 pf_layout_bits(const struct pf_layout *layout, unsigned int reg);
u32 pf_layout_owners(const struct pf_layout *layout, unsigned int reg,
		     u64 bits);
u32 pf_layout_mask(const struct pf_layout *layout, const u64 *values);
void pf_layout_values(const struct pf_layout *layout, u32 mask, bool still,
		      const u64 *baseline, u64 *values);
u64 pf_layout_volatile(const struct pf_layout *layout, unsigned int reg,
		       u64 programmed);

#endif /* PF_REGISTERS_H */
