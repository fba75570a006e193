/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Settings kept ready for children.
 */
#ifndef PF_SPARE_H
#define PF_SPARE_H

struct pf_setting;

void pf_spare_init(void);
struct pf_setting *pf_spare_take(void);
void pf_spare_put(struct pf_setting *s);
void pf_spare_exit(void);

#endif /* PF_SPARE_H */
