// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the documents say about each CPU. See facts.h.
 */
#include "facts.h"

const char *const fact_names[FACT_NR_NAMES] = {
	"l2_stream",  "l2_adjacent", "l1_stream", "l1_ip",	 "l1_next_page",
	"amp",	      "llc_page",    "aop",	  "code_stream", "l2_next_line",
	"llc_stream", "l1_stride",   "l1_region", "l2_updown",
};

#define INTEL .vendor = "GenuineIntel", .family = 6
#define AMD   .vendor = "AuthenticAMD", .found = FOUND_BY_BIT

#define F(n, r, b)                            \
	{                                     \
		.name = n, .reg = r, .bit = b \
	}

/* Bits 0 to 3 of 0x1a4 as most Intel cores have them. */
#define FOUR                                                  \
	F("l2_stream", 0x1a4, 0), F("l2_adjacent", 0x1a4, 1), \
		F("l1_stream", 0x1a4, 2), F("l1_ip", 0x1a4, 3)

/* What Crestmont, Skymont and Darkmont have. */
#define CRESTMONT_FIELDS                                                   \
	FOUR, F("l1_next_page", 0x1a4, 4), F("amp", 0x1a4, 5),             \
		F("llc_page", 0x1a4, 6), F("aop", 0x1a4, 7),               \
		F("code_stream", 0x1a4, 8), F("l2_next_line", 0x1321, 40), \
		F("llc_stream", 0x1320, 43)

#define AMD_FIELDS                                                            \
	F("l1_stream", 0xc0000108, 0), F("l1_stride", 0xc0000108, 1),         \
		F("l1_region", 0xc0000108, 2), F("l2_stream", 0xc0000108, 3), \
		F("l2_updown", 0xc0000108, 5)

const struct fact facts[] = {
	{
		.who = "Nehalem, Westmere",
		INTEL,
		.models = { 0x1a, 0x1e, 0x1f, 0x2e, 0x25, 0x2c, 0x2f },
		.kind = "uniform",
		.fields = { FOUR },
	},
	{
		.who = "Sandy Bridge, Ivy Bridge",
		INTEL,
		.models = { 0x2a, 0x2d, 0x3a, 0x3e },
		.kind = "uniform",
		.fields = { FOUR },
	},
	{
		.who = "Haswell, Broadwell",
		INTEL,
		.models = { 0x3c, 0x3f, 0x45, 0x46, 0x3d, 0x47, 0x4f, 0x56 },
		.kind = "uniform",
		.fields = { FOUR },
	},
	{
		.who = "Skylake, Kaby Lake, Coffee Lake, Comet Lake, Cannon "
		       "Lake",
		INTEL,
		.models = { 0x4e, 0x5e, 0x55, 0x8e, 0x9e, 0xa5, 0xa6, 0x66 },
		.kind = "uniform",
		.fields = { FOUR },
	},
	{
		.who = "Ice Lake, Tiger Lake",
		INTEL,
		.models = { 0x7d, 0x7e, 0x6a, 0x6c, 0x8c, 0x8d },
		.kind = "uniform",
		.fields = { FOUR },
	},
	{
		.who = "Sapphire Rapids, Emerald Rapids",
		INTEL,
		.models = { 0x8f, 0xcf },
		.kind = "uniform",
		.fields = { FOUR, F("amp", 0x1a4, 5) },
	},
	{
		.who = "Granite Rapids",
		INTEL,
		.models = { 0xad, 0xae },
		.kind = "uniform",
		.fields = { FOUR, F("amp", 0x1a4, 5), F("llc_page", 0x1a4, 6),
			    F("aop", 0x1a4, 7) },
	},
	{
		.who = "Alder Lake, Raptor Lake, P-cores",
		INTEL,
		.found = FOUND_BY_MODEL_TYPE,
		.models = { 0x97, 0x9a, 0xb7, 0xba, 0xbf },
		.kind = "performance",
		.fields = { FOUR, F("amp", 0x1a4, 5) },
		.leave = { 0x1a4, 1ULL << 11 },
	},
	{
		/* Of the newer bits it is not settled whose they are. */
		.who = "Meteor Lake, Arrow Lake, P-cores",
		INTEL,
		.found = FOUND_BY_MODEL_TYPE,
		.models = { 0xaa, 0xab, 0xac, 0xc6 },
		.kind = "performance",
		.fields = { FOUR, F("amp", 0x1a4, 5) },
		.leave = { 0x1a4, 1ULL << 4 | 7ULL << 6 },
	},
	{
		.who = "Gracemont",
		INTEL,
		.found = FOUND_BY_NATIVE,
		.native = 1,
		.kind = "efficient",
		.module = true,
		.fields = { F("l2_stream", 0x1a4, 0), F("l1_stream", 0x1a4, 2),
			    F("l1_ip", 0x1a4, 3), F("amp", 0x1a4, 5),
			    F("l2_next_line", 0x1321, 40) },
		.leave = { 0x1a4, 1ULL << 1 },
	},
	{
		.who = "Crestmont",
		INTEL,
		.found = FOUND_BY_NATIVE,
		.native = 2,
		.kind = "efficient",
		.module = true,
		.fields = { CRESTMONT_FIELDS },
		.leave = { 0x1321, 1ULL << 20 },
	},
	{
		.who = "Skymont",
		INTEL,
		.found = FOUND_BY_NATIVE,
		.native = 3,
		.kind = "efficient",
		.module = true,
		.fields = { CRESTMONT_FIELDS },
		.leave = { 0x1327, 1ULL << 26 },
	},
	{
		.who = "Darkmont",
		INTEL,
		.found = FOUND_BY_NATIVE,
		.native = 4,
		.kind = "efficient",
		.module = true,
		.fields = { CRESTMONT_FIELDS },
		.stop = { 0x1a4, 1ULL << 12 },
		.leave = { 0x1321, 1ULL << 20 },
	},
	{
		.who = "Silvermont (Avoton), Goldmont, Goldmont Plus",
		INTEL,
		.models = { 0x4d, 0x5c, 0x5f, 0x7a },
		.kind = "uniform",
		.fields = { F("l2_stream", 0x1a4, 0),
			    F("l1_stream", 0x1a4, 2) },
		.leave = { 0x1a4, 1ULL << 1 | 1ULL << 3 },
	},
	{
		/* Writing 0xf faults. */
		.who = "Airmont",
		INTEL,
		.models = { 0x4c },
	},
	{
		.who = "Knights Landing, Knights Mill",
		INTEL,
		.models = { 0x57, 0x85 },
		.kind = "uniform",
		.fields = { F("l1_stream", 0x1a4, 0),
			    F("l2_stream", 0x1a4, 1) },
	},
	{
		/* Bit 6 is a master switch, 9 to 7 say how eager it is. */
		.who = "Zen 5",
		AMD,
		.family = 0x1a,
		.kind = "uniform",
		.fields = { AMD_FIELDS },
		.leave = { 0xc0000108, 0x3c0 },
	},
	{
		.who = "Zen 3, Zen 4",
		AMD,
		.kind = "uniform",
		.fields = { AMD_FIELDS },
		.leave = { 0xc0000108, ~0x2fULL },
	},
};

const size_t nr_facts = sizeof(facts) / sizeof(facts[0]);
