// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which row of the table a CPU belongs to, and how a mask becomes register
 * values. Pure: no kernel state.
 */
#include "registers.h"

static bool same_vendor(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

static bool has_model(const struct pf_row *row, u32 model)
{
	unsigned int i;

	for (i = 0; i < row->nr_models; i++) {
		if (row->models[i] == model)
			return true;
	}
	return false;
}

static bool row_matches(const struct pf_row *row, const struct pf_cpu_id *id)
{
	if (!same_vendor(row->vendor, id->vendor))
		return false;
	switch (row->match) {
	case PF_MATCH_NATIVE:
		return id->family == row->family &&
		       id->core_type == row->core_type &&
		       id->native_model == row->native_model;
	case PF_MATCH_BIT:
		return id->prefetch_msr &&
		       (!row->family || row->family == id->family);
	default:
		return id->family == row->family &&
		       (!row->core_type || row->core_type == id->core_type) &&
		       has_model(row, id->model);
	}
}

/**
 * pf_row_find() - the row of a CPU
 * @id: what the CPU says of itself
 *
 * An E-core goes by its native model id only: the model number that it shows
 * is that of the whole chip.
 *
 * Return: the row, or NULL if nothing is documented for this CPU.
 */
const struct pf_row *pf_row_find(const struct pf_cpu_id *id)
{
	unsigned int i;

	for (i = 0; i < pf_nr_rows; i++) {
		const struct pf_row *row = &pf_rows[i];

		if (id->core_type == PF_CPUID_CORE_ATOM &&
		    row->match == PF_MATCH_MODEL)
			continue;
		if (row_matches(row, id))
			return row;
	}
	return NULL;
}

static u64 field_bits(const struct pf_field *f)
{
	return ((1ULL << f->width) - 1) << f->shift;
}

static bool field_is_off(const struct pf_field *f, u64 value)
{
	return (value & field_bits(f)) == (u64)f->off << f->shift;
}

/**
 * pf_layout_supported() - the prefetchers that a kind of core has
 * @layout: kind of core
 *
 * Return: mask with a 1 for each.
 */
u32 pf_layout_supported(const struct pf_layout *layout)
{
	u32 mask = 0;
	unsigned int i;

	for (i = 0; i < layout->nr_fields; i++)
		mask |= 1U << layout->fields[i].id;
	return mask;
}

/**
 * pf_layout_bits() - the bits of one register that the layout claims
 * @layout: kind of core
 * @reg: index of the register in the layout
 *
 * Return: a 1 for each bit that may ever be changed.
 */
u64 pf_layout_bits(const struct pf_layout *layout, unsigned int reg)
{
	u64 bits = layout->steer_reg == reg ? layout->steer_bits : 0;
	unsigned int i;

	for (i = 0; i < layout->nr_fields; i++) {
		if (layout->fields[i].reg == reg)
			bits |= field_bits(&layout->fields[i]);
	}
	return bits;
}

/**
 * pf_layout_owners() - the prefetchers that bits belong to
 * @layout: kind of core
 * @reg: index of the register in the layout
 * @bits: bits of that register
 *
 * Return: mask with a 1 for each.
 */
u32 pf_layout_owners(const struct pf_layout *layout, unsigned int reg,
		     u64 bits)
{
	u32 mask = 0;
	unsigned int i;

	for (i = 0; i < layout->nr_fields; i++) {
		const struct pf_field *f = &layout->fields[i];

		if (f->reg == reg && (field_bits(f) & bits))
			mask |= 1U << f->id;
	}
	return mask;
}

/**
 * pf_layout_mask() - what register values mean
 * @layout: kind of core
 * @values: one value for each register of the layout
 *
 * Return: mask with a 1 for each prefetcher that is off.
 */
u32 pf_layout_mask(const struct pf_layout *layout, const u64 *values)
{
	u32 mask = 0;
	unsigned int i;

	for (i = 0; i < layout->nr_fields; i++) {
		const struct pf_field *f = &layout->fields[i];

		if (field_is_off(f, values[f->reg]))
			mask |= 1U << f->id;
	}
	return mask;
}

/**
 * pf_layout_values() - register values for a mask
 * @layout: kind of core
 * @mask: 1 for each prefetcher that shall be off; others are ignored
 * @still: keep the core from steering the fields by itself
 * @baseline: values that firmware left
 * @values: where the values go, one for each register of the layout
 *
 * A field that already says what @mask wants keeps the bits that firmware
 * gave it, and so do all bits that belong to no field.
 */
void pf_layout_values(const struct pf_layout *layout, u32 mask, bool still,
		      const u64 *baseline, u64 *values)
{
	unsigned int i;

	for (i = 0; i < layout->nr_regs; i++)
		values[i] = baseline[i];

	for (i = 0; i < layout->nr_fields; i++) {
		const struct pf_field *f = &layout->fields[i];
		bool off = mask & (1U << f->id);

		if (off == field_is_off(f, baseline[f->reg]))
			continue;
		values[f->reg] &= ~field_bits(f);
		values[f->reg] |= (u64)(off ? f->off : f->on) << f->shift;
	}
	if (still)
		values[layout->steer_reg] |= layout->steer_bits;
}

/**
 * pf_layout_volatile() - bits that the core may change by itself
 * @layout: kind of core
 * @reg: index of the register in the layout
 * @programmed: value of the register with the steering bits
 *
 * Return: the bits of @reg of which a read says nothing about others.
 */
u64 pf_layout_volatile(const struct pf_layout *layout, unsigned int reg,
		       u64 programmed)
{
	if (!layout->steer_bits || (programmed & layout->steer_bits))
		return 0;
	return pf_layout_bits(layout, reg) &
	       (reg == layout->steer_reg ? ~layout->steer_bits : ~0ULL);
}
