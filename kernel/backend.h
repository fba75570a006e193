/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How a register is read and written: really, or as a variable.
 */
#ifndef PF_BACKEND_H
#define PF_BACKEND_H

#include <linux/types.h>

struct pf_domain;
struct pf_fault;

/* enum prefetch_backend; constant once the module is loaded. */
extern u32 pf_backend;

int pf_backend_choose(const char *name, bool trust_hypervisor);
int pf_register_read(struct pf_domain *d, unsigned int reg, u64 *value);
int pf_register_write(struct pf_domain *d, unsigned int reg, u64 value);
int pf_register_probe(struct pf_domain *d, struct pf_fault *fault);
int pf_register_check(struct pf_domain *d, const u64 *values,
		      struct pf_fault *fault);
void pf_fault_text(const struct pf_domain *d, const struct pf_fault *fault,
		   char *text, size_t size);

#endif /* PF_BACKEND_H */
