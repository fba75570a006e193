// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Between the facts and the table of the module. See common.h.
 */
#include <string.h>

#include "common.h"

static bool names_cpu(const struct fact *f, const struct pf_cpu_id *id)
{
	size_t i;

	if (f->found == FOUND_BY_BIT)
		return id->prefetch_msr &&
		       (!f->family || id->family == f->family);
	if (id->family != f->family)
		return false;
	if (f->found == FOUND_BY_NATIVE)
		return id->core_type == TYPE_E_CORE &&
		       id->native_model == f->native;
	/* The model number that an E-core shows is that of the whole chip. */
	if (id->core_type == TYPE_E_CORE)
		return false;
	if (f->found == FOUND_BY_MODEL_TYPE && id->core_type != TYPE_P_CORE)
		return false;
	for (i = 0; f->models[i]; i++) {
		if (f->models[i] == id->model)
			return true;
	}
	return false;
}

/* What the facts say about a CPU, or NULL if they do not. */
const struct fact *fact_of(const struct pf_cpu_id *id)
{
	size_t i;

	for (i = 0; i < nr_facts; i++) {
		if (!strcmp(facts[i].vendor, id->vendor) &&
		    names_cpu(&facts[i], id))
			return &facts[i];
	}
	return NULL;
}

/* One CPU that the fact is about. */
struct pf_cpu_id fact_example(const struct fact *f)
{
	struct pf_cpu_id id = { .family = f->family, .model = f->models[0] };

	strcpy(id.vendor, f->vendor);
	switch (f->found) {
	case FOUND_BY_MODEL:
		break;
	case FOUND_BY_MODEL_TYPE:
		id.core_type = TYPE_P_CORE;
		id.native_model = 1;
		break;
	case FOUND_BY_NATIVE:
		id.core_type = TYPE_E_CORE;
		id.native_model = f->native;
		id.model = 0x97;
		break;
	case FOUND_BY_BIT:
		id.prefetch_msr = true;
		if (!f->family)
			id.family = 0x19;
		break;
	}
	return id;
}

/* The registers that the module would use on the CPUs of a fact. */
const struct pf_layout *fact_layout(const struct fact *f)
{
	struct pf_cpu_id id = fact_example(f);
	const struct pf_row *row = pf_row_find(&id);

	if (!row)
		fail_msg("%s: no row", f->who);
	if (f->fields[0].name && !row->layout)
		fail_msg("%s: the row has no registers", f->who);
	return row->layout;
}

unsigned int fact_id(const char *name)
{
	unsigned int id;

	for (id = 0; id < FACT_NR_NAMES; id++) {
		if (!strcmp(fact_names[id], name))
			return id;
	}
	fail_msg("no prefetcher %s", name);
	return 0;
}

/* The index of a register in a layout, or nr_regs if it is not there. */
unsigned int layout_reg(const struct pf_layout *layout, uint32_t address)
{
	unsigned int i;

	for (i = 0; i < layout->nr_regs; i++) {
		if (layout->regs[i] == address)
			break;
	}
	return i;
}

/* The bits of a register that may ever change. */
uint64_t fact_claims(const struct fact *f, uint32_t address)
{
	uint64_t bits = f->stop.reg == address ? f->stop.bits : 0;
	size_t i;

	for (i = 0; f->fields[i].name; i++) {
		if (f->fields[i].reg == address)
			bits |= 1ULL << f->fields[i].bit;
	}
	return bits;
}
