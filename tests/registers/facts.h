/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the documents say about each CPU, written down a second time.
 *
 * The module has its own table. This one shares nothing with it: prefetchers
 * go by name, registers by address, bits by number. The tests hold one
 * against the other.
 */
#ifndef FACTS_H
#define FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FACT_MAX_MODELS 12
#define FACT_MAX_FIELDS 12
#define FACT_NR_NAMES	14

/* Prefetchers in the order of their ids, which are part of the interface. */
extern const char *const fact_names[FACT_NR_NAMES];

/**
 * struct fact_field - one prefetcher on one kind of core
 * @name: prefetcher
 * @reg: address of the register
 * @bit: number of the bit; a 1 switches the prefetcher off
 */
struct fact_field {
	const char *name;
	uint32_t reg;
	unsigned int bit;
};

/**
 * struct fact_bits - bits of a register
 * @reg: address of the register
 * @bits: a 1 for each
 */
struct fact_bits {
	uint32_t reg;
	uint64_t bits;
};

/* How a CPU is told from others. */
enum fact_found {
	FOUND_BY_MODEL,	     /* family and model */
	FOUND_BY_MODEL_TYPE, /* the same, and CPUID leaf 1A says P-core */
	FOUND_BY_NATIVE,     /* CPUID leaf 1A says E-core, native model id */
	FOUND_BY_BIT,	     /* CPUID leaf 8000_0021, EAX bit 13 */
};

/**
 * struct fact - one line of the documents
 * @who: the CPUs
 * @vendor: letters of CPUID leaf 0
 * @found: how they are found
 * @family: display family; 0 is any
 * @native: native model id, with FOUND_BY_NATIVE
 * @models: display models, ends with 0
 * @kind: "uniform", "performance" or "efficient"
 * @module: the cores on one L2 cache share the registers, else only the
 *	hyperthreads of one core do
 * @fields: its prefetchers, ends with a NULL name; none if it is known that
 *	the register cannot be used
 * @stop: bit that stops the core from changing the fields by itself
 * @leave: neighbours that are known and must be left alone
 */
struct fact {
	const char *who;
	const char *vendor;
	enum fact_found found;
	uint32_t family;
	uint32_t native;
	uint8_t models[FACT_MAX_MODELS];
	const char *kind;
	bool module;
	struct fact_field fields[FACT_MAX_FIELDS];
	struct fact_bits stop;
	struct fact_bits leave;
};

extern const struct fact facts[];
extern const size_t nr_facts;

#endif /* FACTS_H */
