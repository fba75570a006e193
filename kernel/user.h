/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How many settings each user has.
 */
#ifndef PF_USER_H
#define PF_USER_H

#include <linux/atomic.h>
#include <linux/cred.h>
#include <linux/list.h>
#include <linux/rcupdate.h>
#include <linux/uidgid.h>

/**
 * struct pf_user - a user for whom settings count
 * @node: in the table; changed under the request mutex, read under RCU
 * @uid: the user
 * @settings: how many count for this user
 * @rcu: for its end
 *
 * It stays for as long as a setting counts for it. The request mutex keeps one
 * without any.
 */
struct pf_user {
	struct hlist_node node;
	kuid_t uid;
	atomic_t settings;
	struct rcu_head rcu;
};

extern unsigned int pf_max_settings_per_user;

kuid_t pf_user_of(const struct cred *cred);
struct pf_user *pf_user_get(kuid_t uid);
u32 pf_user_settings(kuid_t uid);
bool pf_user_charge(struct pf_user *user, bool exempt);
void pf_user_exit(void);

static inline void pf_user_uncharge(struct pf_user *user)
{
	atomic_dec(&user->settings);
}

#endif /* PF_USER_H */
