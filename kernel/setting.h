/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who asked for what, and for how long.
 */
#ifndef PF_SETTING_H
#define PF_SETTING_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/llist.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/uidgid.h>
#include <uapi/linux/prefetch.h>

#include "wish.h"

/**
 * struct pf_owner - the settings that a wish came from
 * @thread: id of the thread's setting, 0 if none
 * @process: id of the process's setting, 0 if none
 */
struct pf_owner {
	u64 thread;
	u64 process;
};

struct pf_user;

/**
 * struct pf_setting - one setting
 * @node: in its bucket; the newest is the first
 * @key: task_struct of the thread, or signal_struct of the process
 * @id: rises with each setting, never used again
 * @wish: what it asks for; written under the bucket's lock
 * @user: for whom it counts; changed under the bucket's lock
 * @uid: who set it
 * @scope: enum prefetch_scope
 * @inherit: each new child process gets it; process scope only
 * @exempt: @user has no limit for it, nor for what children inherit
 * @rcu: for its end
 *
 * It is found under RCU. While the probes are attached, and there are settings
 * only then, one that is found belongs to a task that did not leave the exit
 * probe yet: so its task_struct and signal_struct stay for as long as the
 * reader's RCU section.
 */
struct pf_setting {
	struct hlist_node node;
	const void *key;
	u64 id;
	pf_wish_t wish;
	struct pf_user *user;
	kuid_t uid;
	u8 scope;
	u8 inherit;
	u8 exempt;
	union {
		struct rcu_head rcu;
		struct llist_node free;
	};
};

/**
 * struct pf_setting_change - what a request does to a setting
 * @off: to be switched off
 * @on: to be switched on
 * @clear: to have no opinion on
 * @inherit: 0 or 1, or -1 to leave it
 * @uid: who asks
 * @user: for whom it counts; NULL if it neither adds an opinion nor inheritance
 * @exempt: @user has no limit
 */
struct pf_setting_change {
	u32 off;
	u32 on;
	u32 clear;
	int inherit;
	kuid_t uid;
	struct pf_user *user;
	bool exempt;
};

/**
 * struct pf_setting_result - what became of it
 * @id: id of the setting
 * @wish: what it asks for now
 * @uid: who set it
 * @inherit: whether children get it
 * @exists: false if no opinion is left, and so no setting
 * @changed: the wish of the setting is another one than before
 * @told: something about the setting is another than before
 * @generation: of the settings, with this change in
 */
struct pf_setting_result {
	u64 id;
	u64 generation;
	pf_wish_t wish;
	kuid_t uid;
	bool inherit;
	bool exists;
	bool changed;
	bool told;
};

extern atomic64_t pf_generation;
extern atomic_t pf_nr_settings;
extern unsigned int pf_max_settings;
extern atomic64_t pf_dropped_inherits;

/* Raised by every change; with it, a remembered lookup is known to hold. */
static inline u64 pf_setting_generation(void)
{
	u64 generation = atomic64_read(&pf_generation);

	/* Pairs with the full barrier of the raise: then look. */
	smp_rmb();
	return generation;
}

void pf_setting_forget(void);

int pf_setting_init(void);
void pf_setting_purge(void);
void pf_setting_exit(void);

pf_wish_t pf_setting_lookup(struct task_struct *task, struct pf_owner *owner);
struct pf_setting *pf_setting_find(const void *key);
bool pf_setting_is_dead(struct task_struct *task, u8 scope);
u64 pf_setting_last_id(void);

struct pf_setting *pf_setting_alloc(void);
void pf_setting_free(struct pf_setting *spare);
int pf_setting_apply(struct task_struct *task, u8 scope,
		     const struct pf_setting_change *change,
		     struct pf_setting **spare, struct pf_setting_result *res);
bool pf_setting_remove(const void *key, struct pf_setting *copy);
bool pf_setting_inherit(struct task_struct *parent, struct task_struct *child,
			struct pf_setting *copy, bool *dropped);

/**
 * struct pf_setting_cursor - where a walk over all settings stands
 * @bucket: bucket to go on with
 * @below: only ids below this one in it
 * @last: only settings that existed when the walk began
 */
struct pf_setting_cursor {
	u32 bucket;
	u64 below;
	u64 last;
};

void pf_setting_walk_start(struct pf_setting_cursor *at);
int pf_setting_walk(struct pf_setting_cursor *at,
		    int (*fn)(struct pf_setting *s, void *data), void *data);
bool pf_setting_newer(u64 last,
		      bool (*counts)(const struct pf_setting *s, void *data),
		      void *data);

#endif /* PF_SETTING_H */
