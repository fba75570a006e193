/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the registers of a core hold, for the requests about cores.
 */
#ifndef PF_NL_REGISTER_H
#define PF_NL_REGISTER_H

#include "domain.h"

struct sk_buff;

/**
 * struct pf_registers - what a core's registers hold
 * @domain: whose
 * @read: they were read
 * @repaired: that was done
 * @differs: a register holds what this module did not write
 * @before: mask as read
 * @after: mask as read after the repair
 * @programmed: what should be there
 * @value: as read
 * @error: positive errno where reading failed
 */
struct pf_registers {
	struct pf_domain *domain;
	bool read;
	bool repaired;
	bool differs;
	u32 before;
	u32 after;
	u64 programmed[PF_MAX_REGS];
	u64 value[PF_MAX_REGS];
	u32 error[PF_MAX_REGS];
};

void pf_registers_read(struct pf_registers *r);
void pf_registers_repair(struct pf_registers *r);
int pf_registers_fill(struct sk_buff *skb, const struct pf_registers *r,
		      int type);

#endif /* PF_NL_REGISTER_H */
