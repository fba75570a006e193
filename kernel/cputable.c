// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of prefetchers, registers and CPUs. Facts only; what is not
 * documented, or only by reverse engineering, is left out.
 */
#include "registers.h"

#define PREFETCHER(n, text)						\
	{								\
		.name = n,						\
		.description = text,					\
		.missing = "this machine has no prefetcher " n,		\
	}

/* In the order of enum prefetch_mask. */
const struct pf_prefetcher pf_prefetchers[PF_NR_PREFETCHERS] = {
	PREFETCHER("l2_stream", "L2 hardware (stream) prefetcher"),
	PREFETCHER("l2_adjacent", "L2 adjacent line prefetcher (pairs of 64-byte lines)"),
	PREFETCHER("l1_stream", "L1 data stream (next line) prefetcher, called DCU by Intel"),
	PREFETCHER("l1_ip", "L1 data prefetcher keyed by the instruction address"),
	PREFETCHER("l1_next_page", "L1 data next page prefetcher"),
	PREFETCHER("amp", "L2 adaptive multipath prefetcher"),
	PREFETCHER("llc_page", "Last level cache page prefetcher"),
	PREFETCHER("aop", "Array of pointers prefetcher"),
	PREFETCHER("code_stream", "Stream prefetcher for code fetches"),
	PREFETCHER("l2_next_line", "L2 next line prefetcher"),
	PREFETCHER("llc_stream", "Last level cache stream prefetcher"),
	PREFETCHER("l1_stride", "L1 data stride prefetcher"),
	PREFETCHER("l1_region", "L1 data region prefetcher"),
	PREFETCHER("l2_updown", "L2 up/down prefetcher"),
};

/* Ids of the prefetchers: the numbers of their bits in enum prefetch_mask. */
enum {
	L2_STREAM,
	L2_ADJACENT,
	L1_STREAM,
	L1_IP,
	L1_NEXT_PAGE,
	AMP,
	LLC_PAGE,
	AOP,
	CODE_STREAM,
	L2_NEXT_LINE,
	LLC_STREAM,
	L1_STRIDE,
	L1_REGION,
	L2_UPDOWN,
};

/* A field of one bit in which 1 means off. */
#define OFF_BIT(prefetcher, r, bit)					\
	{								\
		.id = prefetcher,					\
		.reg = r,						\
		.shift = bit,						\
		.width = 1,						\
		.off = 1,						\
		.on = 0,						\
	}

#define FIELDS(f) .fields = f, .nr_fields = ARRAY_SIZE(f)

/* MSR_MISC_FEATURE_CONTROL, MSR_PREFETCH_CONTROL on newer CPUs. */
#define MISC_FEATURE_CONTROL 0x1a4

static const struct pf_field classic_fields[] = {
	OFF_BIT(L2_STREAM, 0, 0),
	OFF_BIT(L2_ADJACENT, 0, 1),
	OFF_BIT(L1_STREAM, 0, 2),
	OFF_BIT(L1_IP, 0, 3),
};

const struct pf_layout pf_layout_classic = {
	.name = "Intel Core and Xeon",
	.core_type = PREFETCH_CORE_TYPE_UNIFORM,
	.shared = PF_SHARED_CORE,
	.nr_regs = 1,
	.regs = { MISC_FEATURE_CONTROL },
	FIELDS(classic_fields),
};

static const struct pf_field amp_fields[] = {
	OFF_BIT(L2_STREAM, 0, 0),
	OFF_BIT(L2_ADJACENT, 0, 1),
	OFF_BIT(L1_STREAM, 0, 2),
	OFF_BIT(L1_IP, 0, 3),
	OFF_BIT(AMP, 0, 5),
};

static const struct pf_layout layout_sapphire_rapids = {
	.name = "Intel Xeon with adaptive multipath prefetcher",
	.core_type = PREFETCH_CORE_TYPE_UNIFORM,
	.shared = PF_SHARED_CORE,
	.nr_regs = 1,
	.regs = { MISC_FEATURE_CONTROL },
	FIELDS(amp_fields),
};

/* Bit 11 of this register is a three-strike counter, not a prefetcher. */
static const struct pf_layout layout_hybrid_core = {
	.name = "Intel P-core",
	.core_type = PREFETCH_CORE_TYPE_PERFORMANCE,
	.shared = PF_SHARED_CORE,
	.nr_regs = 1,
	.regs = { MISC_FEATURE_CONTROL },
	FIELDS(amp_fields),
};

static const struct pf_field granite_rapids_fields[] = {
	OFF_BIT(L2_STREAM, 0, 0),
	OFF_BIT(L2_ADJACENT, 0, 1),
	OFF_BIT(L1_STREAM, 0, 2),
	OFF_BIT(L1_IP, 0, 3),
	OFF_BIT(AMP, 0, 5),
	OFF_BIT(LLC_PAGE, 0, 6),
	OFF_BIT(AOP, 0, 7),
};

static const struct pf_layout layout_granite_rapids = {
	.name = "Intel Xeon of the Granite Rapids kind",
	.core_type = PREFETCH_CORE_TYPE_UNIFORM,
	.shared = PF_SHARED_CORE,
	.nr_regs = 1,
	.regs = { MISC_FEATURE_CONTROL },
	FIELDS(granite_rapids_fields),
};

/* Registers of the E-cores beside 0x1a4. */
#define ATOM_L2_STREAM_CONTROL 0x1320
#define ATOM_L2_NEXT_LINE_CONTROL 0x1321

static const struct pf_field gracemont_fields[] = {
	OFF_BIT(L2_STREAM, 0, 0),
	OFF_BIT(L1_STREAM, 0, 2),
	OFF_BIT(L1_IP, 0, 3),
	OFF_BIT(AMP, 0, 5),
	OFF_BIT(L2_NEXT_LINE, 1, 40),
};

static const struct pf_layout layout_gracemont = {
	.name = "Intel E-core, Gracemont",
	.core_type = PREFETCH_CORE_TYPE_EFFICIENT,
	.shared = PF_SHARED_MODULE,
	.nr_regs = 2,
	.regs = { MISC_FEATURE_CONTROL, ATOM_L2_NEXT_LINE_CONTROL },
	FIELDS(gracemont_fields),
};

/* Bits 20 of 0x1321 and 26 of 0x1327 are throttlers (1 is on): left alone. */
static const struct pf_field crestmont_fields[] = {
	OFF_BIT(L2_STREAM, 0, 0),
	OFF_BIT(L2_ADJACENT, 0, 1),
	OFF_BIT(L1_STREAM, 0, 2),
	OFF_BIT(L1_IP, 0, 3),
	OFF_BIT(L1_NEXT_PAGE, 0, 4),
	OFF_BIT(AMP, 0, 5),
	OFF_BIT(LLC_PAGE, 0, 6),
	OFF_BIT(AOP, 0, 7),
	OFF_BIT(CODE_STREAM, 0, 8),
	OFF_BIT(L2_NEXT_LINE, 1, 40),
	OFF_BIT(LLC_STREAM, 2, 43),
};

#define CRESTMONT_REGS							\
	.shared = PF_SHARED_MODULE,					\
	.core_type = PREFETCH_CORE_TYPE_EFFICIENT,			\
	.nr_regs = 3,							\
	.regs = {							\
		MISC_FEATURE_CONTROL,					\
		ATOM_L2_NEXT_LINE_CONTROL,				\
		ATOM_L2_STREAM_CONTROL,					\
	},								\
	FIELDS(crestmont_fields)

static const struct pf_layout layout_crestmont = {
	.name = "Intel E-core, Crestmont or Skymont",
	CRESTMONT_REGS,
};

/* While it runs, dynamic prefetch control changes the fields by itself. */
#define DARKMONT_DYNAMIC_OFF BIT_ULL(12)

static const struct pf_layout layout_darkmont = {
	.name = "Intel E-core, Darkmont",
	CRESTMONT_REGS,
	.steer_reg = 0,
	.steer_bits = DARKMONT_DYNAMIC_OFF,
};

/* Bits 1 and 3 are reserved here; writing them faults. */
static const struct pf_field silvermont_fields[] = {
	OFF_BIT(L2_STREAM, 0, 0),
	OFF_BIT(L1_STREAM, 0, 2),
};

static const struct pf_layout layout_silvermont = {
	.name = "Intel Atom, Silvermont to Goldmont Plus",
	.core_type = PREFETCH_CORE_TYPE_UNIFORM,
	.shared = PF_SHARED_CORE,
	.nr_regs = 1,
	.regs = { MISC_FEATURE_CONTROL },
	FIELDS(silvermont_fields),
};

/* The other way round than everywhere else. */
static const struct pf_field knights_fields[] = {
	OFF_BIT(L1_STREAM, 0, 0),
	OFF_BIT(L2_STREAM, 0, 1),
};

static const struct pf_layout layout_knights = {
	.name = "Intel Xeon Phi",
	.core_type = PREFETCH_CORE_TYPE_UNIFORM,
	.shared = PF_SHARED_CORE,
	.nr_regs = 1,
	.regs = { MISC_FEATURE_CONTROL },
	FIELDS(knights_fields),
};

#define AMD_PREFETCH_CONTROL 0xc0000108

/* Bits 9 to 6, master and aggressiveness, are left as they were found. */
static const struct pf_field amd_fields[] = {
	OFF_BIT(L1_STREAM, 0, 0),
	OFF_BIT(L1_STRIDE, 0, 1),
	OFF_BIT(L1_REGION, 0, 2),
	OFF_BIT(L2_STREAM, 0, 3),
	OFF_BIT(L2_UPDOWN, 0, 5),
};

static const struct pf_layout layout_amd = {
	.name = "AMD with prefetch control register",
	.core_type = PREFETCH_CORE_TYPE_UNIFORM,
	.shared = PF_SHARED_CORE,
	.nr_regs = 1,
	.regs = { AMD_PREFETCH_CONTROL },
	FIELDS(amd_fields),
};

#define INTEL "GenuineIntel"
#define AMD "AuthenticAMD"

#define MODELS(...)							\
	.match = PF_MATCH_MODEL,					\
	.models = (const u8[]){ __VA_ARGS__ },				\
	.nr_models = sizeof((const u8[]){ __VA_ARGS__ })

#define SDM_MISC							\
	"Intel SDM volume 4, MSR_MISC_FEATURE_CONTROL (1A4H)"
#define SDM_PREFETCH							\
	"Intel SDM volume 4, MSR_PREFETCH_CONTROL (1A4H)"
#define DISCLOSURE							\
	"Intel, Disclosure of Hardware Prefetcher Control on Some Intel Processors"
#define ATOM_CONTROLS							\
	"Intel, Hardware Prefetch Controls for Intel Atom Cores"
#define AMD_PPR								\
	"AMD Processor Programming Reference, Core::X86::Msr::PrefetchControl"

const struct pf_row pf_rows[] = {
	{
		.cpus = "Nehalem, Westmere, Sandy Bridge, Ivy Bridge",
		.vendor = INTEL,
		.family = 6,
		MODELS(0x1a, 0x1e, 0x1f, 0x2e, 0x25, 0x2c, 0x2f,
		       0x2a, 0x2d, 0x3a, 0x3e),
		.layout = &pf_layout_classic,
		.source = DISCLOSURE "; " SDM_MISC,
	}, {
		.cpus = "Haswell, Broadwell",
		.vendor = INTEL,
		.family = 6,
		MODELS(0x3c, 0x3f, 0x45, 0x46, 0x3d, 0x47, 0x4f, 0x56),
		.layout = &pf_layout_classic,
		.source = DISCLOSURE "; " SDM_MISC
			"; Linux, resctrl pseudo-locking (4FH: 0xF)",
	}, {
		.cpus = "Skylake, Kaby Lake, Coffee Lake, Comet Lake, Cannon Lake",
		.vendor = INTEL,
		.family = 6,
		MODELS(0x4e, 0x5e, 0x55, 0x8e, 0x9e, 0xa5, 0xa6, 0x66),
		.layout = &pf_layout_classic,
		.source = SDM_MISC "; bits as on the CPUs before",
	}, {
		.cpus = "Ice Lake, Tiger Lake",
		.vendor = INTEL,
		.family = 6,
		MODELS(0x7d, 0x7e, 0x6a, 0x6c, 0x8c, 0x8d),
		.layout = &pf_layout_classic,
		.source = SDM_MISC "; bits as on the CPUs before",
	}, {
		.cpus = "Sapphire Rapids, Emerald Rapids",
		.vendor = INTEL,
		.family = 6,
		MODELS(0x8f, 0xcf),
		.layout = &layout_sapphire_rapids,
		.source = SDM_PREFETCH "; Linux, intel-family.h (CFH)",
	}, {
		.cpus = "Granite Rapids",
		.vendor = INTEL,
		.family = 6,
		MODELS(0xad, 0xae),
		.layout = &layout_granite_rapids,
		.source = SDM_PREFETCH,
	}, {
		.cpus = "Alder Lake and Raptor Lake, P-cores",
		.vendor = INTEL,
		.family = 6,
		.core_type = PF_CPUID_CORE_CORE,
		MODELS(0x97, 0x9a, 0xb7, 0xba, 0xbf),
		.layout = &layout_hybrid_core,
		.source = SDM_PREFETCH "; amp: third-party tools that quote Intel",
	}, {
		.cpus = "Meteor Lake and Arrow Lake, P-cores",
		.vendor = INTEL,
		.family = 6,
		.core_type = PF_CPUID_CORE_CORE,
		MODELS(0xaa, 0xab, 0xac, 0xc6),
		.layout = &layout_hybrid_core,
		.source = "third-party tools that quote Intel; only the bits on which all agree",
	}, {
		.cpus = "E-cores, Gracemont",
		.vendor = INTEL,
		.match = PF_MATCH_NATIVE,
		.family = 6,
		.core_type = PF_CPUID_CORE_ATOM,
		.native_model = 1,
		.layout = &layout_gracemont,
		.source = ATOM_CONTROLS,
	}, {
		.cpus = "E-cores, Crestmont",
		.vendor = INTEL,
		.match = PF_MATCH_NATIVE,
		.family = 6,
		.core_type = PF_CPUID_CORE_ATOM,
		.native_model = 2,
		.layout = &layout_crestmont,
		.source = ATOM_CONTROLS,
	}, {
		.cpus = "E-cores, Skymont",
		.vendor = INTEL,
		.match = PF_MATCH_NATIVE,
		.family = 6,
		.core_type = PF_CPUID_CORE_ATOM,
		.native_model = 3,
		.layout = &layout_crestmont,
		.source = ATOM_CONTROLS,
	}, {
		.cpus = "E-cores, Darkmont",
		.vendor = INTEL,
		.match = PF_MATCH_NATIVE,
		.family = 6,
		.core_type = PF_CPUID_CORE_ATOM,
		.native_model = 4,
		.layout = &layout_darkmont,
		.source = ATOM_CONTROLS,
	}, {
		.cpus = "Silvermont (Avoton), Goldmont, Goldmont Plus",
		.vendor = INTEL,
		.family = 6,
		MODELS(0x4d, 0x5c, 0x5f, 0x7a),
		.layout = &layout_silvermont,
		.source = SDM_MISC "; Linux, resctrl pseudo-locking (5FH, 7AH: 0x5)",
	}, {
		.cpus = "Airmont",
		.vendor = INTEL,
		.family = 6,
		MODELS(0x4c),
		.layout = NULL,
		.source = "there are reports that writing the register faults",
	}, {
		.cpus = "Knights Landing, Knights Mill",
		.vendor = INTEL,
		.family = 6,
		MODELS(0x57, 0x85),
		.layout = &layout_knights,
		.source = SDM_MISC " (57H; 85H has the same registers)",
	}, {
		.cpus = "AMD family 1Ah (Zen 5) with the CPUID bit",
		.vendor = AMD,
		.match = PF_MATCH_BIT,
		.family = 0x1a,
		.layout = &layout_amd,
		.source = AMD_PPR ", as quoted by third-party tools",
	}, {
		.cpus = "AMD with the CPUID bit (Zen 3, Zen 4)",
		.vendor = AMD,
		.match = PF_MATCH_BIT,
		.layout = &layout_amd,
		.source = AMD_PPR ", as quoted by third-party tools",
	},
};

const unsigned int pf_nr_rows = ARRAY_SIZE(pf_rows);
