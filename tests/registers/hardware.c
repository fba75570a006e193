// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Machines in memory that are made of the CPUs of the facts.
 */
#include "hardware.h"

const struct fact *fact_named(const char *who)
{
	size_t i;

	for (i = 0; i < nr_facts; i++) {
		if (!strcmp(facts[i].who, who))
			return &facts[i];
	}
	fail_msg("no facts of %s", who);
	return NULL;
}

/* The prefetchers that the CPUs of a fact have. */
u32 fact_mask(const struct fact *f)
{
	const struct fact_field *field;
	u32 mask = 0;

	for (field = f->fields; field->name; field++)
		mask |= 1U << fact_id(field->name);
	return mask;
}

/* All have room for two hyperthreads; a module has four CPUs. */
void put_cpu(unsigned int cpu, const struct fact *f, u32 apic_id,
	     unsigned int bank)
{
	struct fake_processor *p = &fake_processors[cpu];
	struct pf_cpu_id id = fact_example(f);

	memset(p, 0, sizeof(*p));
	p->vendor = f->vendor;
	p->family = id.family;
	p->model = id.model;
	p->core_type = id.core_type;
	p->native_model = id.native_model;
	p->prefetch_msr = id.prefetch_msr;
	p->apic_id = apic_id;
	p->smt_bits = 1;
	p->l2_bits = f->module ? 3 : 1;
	p->bank = bank;
}

/*
 * Registers as firmware left them: the same in each, and bits that are not
 * ours set here and there.
 */
void put_bank(unsigned int bank, const struct fact *f, u64 firmware)
{
	const struct fact_field *field;
	struct fake_reg *reg;

	memset(&fake_banks[bank], 0, sizeof(fake_banks[bank]));
	for (field = f->fields; field->name; field++) {
		if (fake_reg(bank, field->reg))
			continue;
		reg = fake_reg(bank, 0);
		reg->address = field->reg;
		reg->value = firmware & fact_claims(f, field->reg);
		reg->value |= 0x9696969696969696ULL &
			      ~fact_claims(f, field->reg);
	}
}

/* Two CPUs on bank 0, two on bank 1. */
void two_cores(const struct fact *f, u64 firmware)
{
	unsigned int cpu;

	fake_reset(4);
	for (cpu = 0; cpu < 4; cpu++)
		put_cpu(cpu, f, f->module ? cpu / 2 * 8 + cpu % 2 * 2 : cpu,
			cpu / 2);
	put_bank(0, f, firmware);
	put_bank(1, f, firmware);
}

void load(void)
{
	pf_backend = PREFETCH_BACKEND_MSR;
	assert_int_equal(pf_cpus_init(), 0);
}

void unload(void)
{
	pf_cpus_exit();
}

/* The CPUs of a domain, a bit each. */
u32 cpus_of(unsigned int domain)
{
	const struct pf_domain *d = &pf_domains[domain];
	u32 cpus = 0;
	unsigned int i;

	for (i = 0; i < d->nr_members; i++)
		cpus |= 1U << d->members[i]->cpu;
	return cpus;
}
