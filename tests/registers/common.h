/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Between the facts and the table of the module.
 */
#ifndef COMMON_H
#define COMMON_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "facts.h"
#include "registers.h"

#define NR_MASKS (1U << PF_NR_PREFETCHERS)

/* What leaf 1A says of a core. */
#define TYPE_E_CORE 0x20
#define TYPE_P_CORE 0x40

const struct fact *fact_of(const struct pf_cpu_id *id);
struct pf_cpu_id fact_example(const struct fact *f);
const struct pf_layout *fact_layout(const struct fact *f);
unsigned int fact_id(const char *name);
unsigned int layout_reg(const struct pf_layout *layout, uint32_t address);
uint64_t fact_claims(const struct fact *f, uint32_t address);

#endif /* COMMON_H */
