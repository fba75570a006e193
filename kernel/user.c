// SPDX-License-Identifier: GPL-2.0-only
/*
 * How many settings each user has. The table is changed by requests alone,
 * under their mutex; the counts also by fork and exit.
 */
#include <linux/hashtable.h>
#include <linux/slab.h>
#include <linux/user_namespace.h>

#include "netlink.h"
#include "user.h"

#define USER_HASH_BITS 6

static DEFINE_HASHTABLE(users, USER_HASH_BITS);

/*
 * A sixteenth of all: more than a user has processes on most machines, and
 * sixteen users have to act together to leave nothing for the others.
 */
unsigned int pf_max_settings_per_user = 8192;

/**
 * pf_user_of() - for whom what somebody asks for counts
 * @cred: who asks
 *
 * The real user, as with RLIMIT_NPROC. A user who may map further ids into a
 * namespace could multiply the limit with them: so what happens in there
 * counts for the owner of the namespace, unless that is root, who makes them
 * for others.
 *
 * Return: the user.
 */
kuid_t pf_user_of(const struct cred *cred)
{
	const struct user_namespace *ns;
	kuid_t uid = cred->uid;

	/* The one next to the initial namespace has the last word. */
	for (ns = cred->user_ns; ns != &init_user_ns; ns = ns->parent) {
		if (!uid_eq(ns->owner, GLOBAL_ROOT_UID))
			uid = ns->owner;
	}
	return uid;
}

static struct pf_user *find(kuid_t uid)
{
	struct pf_user *user;

	hash_for_each_possible_rcu(users, user, node, __kuid_val(uid),
				   lockdep_is_held(&pf_request_mutex)) {
		if (uid_eq(user->uid, uid))
			return user;
	}
	return NULL;
}

/* So that there are never more than users with settings, and one. */
static void drop_unused(void)
{
	struct hlist_node *tmp;
	struct pf_user *user;
	int i;

	hash_for_each_safe(users, i, tmp, user, node) {
		if (atomic_read(&user->settings))
			continue;
		hash_del_rcu(&user->node);
		kfree_rcu(user, rcu);
	}
}

/**
 * pf_user_get() - the record of a user, made if there is none
 * @uid: the user
 *
 * Context: request mutex held, and until it is released the record stays.
 * Return: the record, or NULL without memory.
 */
struct pf_user *pf_user_get(kuid_t uid)
{
	struct pf_user *user;

	lockdep_assert_held(&pf_request_mutex);
	user = find(uid);
	if (user)
		return user;
	drop_unused();
	user = kzalloc(sizeof(*user), GFP_KERNEL_ACCOUNT);
	if (!user)
		return NULL;
	user->uid = uid;
	hash_add_rcu(users, &user->node, __kuid_val(uid));
	return user;
}

/**
 * pf_user_settings() - how many settings count for a user
 * @uid: the user
 *
 * Return: the number.
 */
u32 pf_user_settings(kuid_t uid)
{
	struct pf_user *user;
	u32 n = 0;

	rcu_read_lock();
	user = find(uid);
	if (user)
		n = atomic_read(&user->settings);
	rcu_read_unlock();
	return n;
}

/**
 * pf_user_charge() - count one more for a user
 * @user: whom; has at least one, or the request mutex is held
 * @exempt: the limit does not hold
 *
 * Context: any; takes no lock.
 * Return: false if the limit is reached.
 */
bool pf_user_charge(struct pf_user *user, bool exempt)
{
	int n = atomic_read(&user->settings);

	do {
		if (!exempt && n >= READ_ONCE(pf_max_settings_per_user))
			return false;
	} while (!atomic_try_cmpxchg(&user->settings, &n, n + 1));
	return true;
}

/**
 * pf_user_exit() - free the records
 *
 * No setting is left, and nobody looks any more.
 */
void pf_user_exit(void)
{
	struct hlist_node *tmp;
	struct pf_user *user;
	int i;

	hash_for_each_safe(users, i, tmp, user, node) {
		hash_del(&user->node);
		kfree(user);
	}
}
