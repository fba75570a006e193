/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef PF_COMPAT_FAMILY_H
#define PF_COMPAT_FAMILY_H

#include <linux/compiler.h>
#include <linux/types.h>

struct genl_family;

/* The registered family, for replies and events. */
extern struct genl_family pf_family;

#ifdef PF_HAVE_GENL_BIND
extern bool pf_family_joined[];
#endif

/*
 * False only if nobody has ever joined the group: a cheap answer for where
 * each instruction counts. An older kernel does not tell.
 */
static inline bool pf_family_heard(unsigned int group)
{
#ifdef PF_HAVE_GENL_BIND
	return READ_ONCE(pf_family_joined[group]);
#else
	return true;
#endif
}

int pf_family_register(void);
void pf_family_unregister(void);

#endif /* PF_COMPAT_FAMILY_H */
