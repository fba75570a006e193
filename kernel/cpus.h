/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * CPUs that come and go, and the machine that sleeps and goes down.
 */
#ifndef PF_CPUS_H
#define PF_CPUS_H

int pf_cpus_init(void);
void pf_cpus_exit(void);

#endif /* PF_CPUS_H */
