/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Scheduler tracepoints, attached only while there are settings.
 */
#ifndef PF_HOOK_H
#define PF_HOOK_H

int pf_hook_init(void);
void pf_hook_exit(void);

int pf_hook_attach(void);
void pf_hook_maybe_detach(void);

#endif /* PF_HOOK_H */
