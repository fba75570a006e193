// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of settings: fixed in size, read under RCU, one raw lock a
 * bucket. Nothing here knows of CPUs and registers.
 */
#include <linux/hash.h>
#include <linux/mm.h>
#include <linux/rculist.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "setting.h"
#include "spare.h"
#include "user.h"

/* 16384 buckets: with 10,000 settings most chains hold one or none. */
#define HASH_BITS 14
#define NR_BUCKETS BIT(HASH_BITS)

static_assert(sizeof(struct pf_setting) <= 128);

struct pf_bucket {
	struct hlist_head head;
	/* Protects the chain, and the wish and inherit of all in it. */
	raw_spinlock_t lock;
};

static struct pf_bucket *buckets;
static struct kmem_cache *setting_cache;

atomic64_t pf_generation = ATOMIC64_INIT(1);
atomic_t pf_nr_settings = ATOMIC_INIT(0);
atomic64_t pf_dropped_inherits = ATOMIC64_INIT(0);
/* 72 bytes each: 9.5 MB. */
unsigned int pf_max_settings = 131072;

static atomic64_t next_id = ATOMIC64_INIT(0);

static struct pf_bucket *bucket_of(const void *key)
{
	return &buckets[hash_ptr(key, HASH_BITS)];
}

/* After a change: remembered lookups hold no longer. Full barrier. */
static u64 raise_generation(void)
{
	return atomic64_inc_return(&pf_generation);
}

/**
 * pf_setting_forget() - what was remembered of any task is void
 *
 * Context: any.
 */
void pf_setting_forget(void)
{
	raise_generation();
}

/**
 * pf_setting_find() - the setting of a thread or process
 * @key: its task_struct or signal_struct
 *
 * Context: RCU read side (preemption off counts).
 * Return: the setting, or NULL.
 */
struct pf_setting *pf_setting_find(const void *key)
{
	struct pf_setting *s;

	hlist_for_each_entry_rcu(s, &bucket_of(key)->head, node) {
		if (s->key == key)
			return s;
	}
	return NULL;
}

/**
 * pf_setting_lookup() - what the settings of a task ask for
 * @task: the task
 * @owner: which settings these are
 *
 * Context: RCU read side.
 * Return: thread over process, prefetcher by prefetcher.
 */
pf_wish_t pf_setting_lookup(struct task_struct *task, struct pf_owner *owner)
{
	struct pf_setting *thread = pf_setting_find(task);
	struct pf_setting *process = pf_setting_find(task->signal);
	pf_wish_t wish = PF_WISH_DEFAULT;

	owner->thread = thread ? thread->id : 0;
	owner->process = process ? process->id : 0;
	if (process)
		wish = READ_ONCE(process->wish);
	if (thread)
		wish = pf_wish_over(READ_ONCE(thread->wish), wish);
	return wish;
}

/**
 * pf_setting_alloc() - memory for a setting, before anything is committed
 *
 * Return: the memory, for pf_setting_apply() or pf_setting_free(), or NULL.
 */
struct pf_setting *pf_setting_alloc(void)
{
	return kmem_cache_zalloc(setting_cache, GFP_KERNEL_ACCOUNT);
}

/**
 * pf_setting_free() - give back memory that was not used
 * @spare: from pf_setting_alloc(), or NULL
 */
void pf_setting_free(struct pf_setting *spare)
{
	if (spare)
		kmem_cache_free(setting_cache, spare);
}

static void free_rcu_cb(struct rcu_head *rcu)
{
	kmem_cache_free(setting_cache,
			container_of(rcu, struct pf_setting, rcu));
}

static struct pf_setting *find_locked(struct pf_bucket *b, const void *key)
{
	struct pf_setting *s;

	hlist_for_each_entry(s, &b->head, node) {
		if (s->key == key)
			return s;
	}
	return NULL;
}

/* Both limits: that of all settings together, and that of a user. */
static int count_one(struct pf_user *user, bool exempt)
{
	if (!atomic_add_unless(&pf_nr_settings, 1, READ_ONCE(pf_max_settings)))
		return -ENOSPC;
	if (pf_user_charge(user, exempt))
		return 0;
	atomic_dec(&pf_nr_settings);
	return -EDQUOT;
}

static void uncount_one(struct pf_user *user)
{
	pf_user_uncharge(user);
	atomic_dec(&pf_nr_settings);
}

static void insert_locked(struct pf_bucket *b, struct pf_setting *s)
{
	/* Under the lock, so that ids fall along the chain. */
	s->id = atomic64_inc_return(&next_id);
	hlist_add_head_rcu(&s->node, &b->head);
}

static void unlink_locked(struct pf_setting *s)
{
	hlist_del_rcu(&s->node);
	uncount_one(s->user);
}

/* It counts for whoever set it last, and for one user at a time. */
static int hand_over(struct pf_setting *s, struct pf_user *user, bool exempt)
{
	if (s->user == user) {
		s->exempt = exempt;
		return 0;
	}
	if (!pf_user_charge(user, exempt))
		return -EDQUOT;
	pf_user_uncharge(s->user);
	s->user = user;
	s->exempt = exempt;
	return 0;
}

/**
 * pf_setting_is_dead() - so dead that it can have no setting any more?
 * @task: the thread, or any thread of the process
 * @scope: enum prefetch_scope
 *
 * Return: false under a bucket's lock: its exit probe is still to come.
 */
bool pf_setting_is_dead(struct task_struct *task, u8 scope)
{
	if (scope == PREFETCH_SCOPE_THREAD)
		return READ_ONCE(task->flags) & PF_EXITING;
	return !atomic_read(&task->signal->live);
}

static pf_wish_t change_wish(pf_wish_t wish,
			     const struct pf_setting_change *change)
{
	u32 named = change->off | change->on | change->clear;

	wish &= ~pf_wish(named, named);
	return wish | pf_wish(change->off, change->on);
}

/**
 * pf_setting_apply() - make, change or remove a setting
 * @task: the thread, or any thread of the process
 * @scope: enum prefetch_scope
 * @change: what to do
 * @spare: memory for a new setting; NULL afterwards if it was used
 * @res: what came of it
 *
 * The scheduler probes are attached. The exit probe removes the settings of
 * a task under the same lock as is taken here, after it was marked as dead:
 * a setting either is seen by it, or is refused here.
 *
 * Return: 0, -ESRCH if the task died, -ENOSPC at the limit of settings,
 * -EDQUOT at the user's, -EINVAL if children should inherit a setting without an opinion.
 */
int pf_setting_apply(struct task_struct *task, u8 scope,
		     const struct pf_setting_change *change,
		     struct pf_setting **spare, struct pf_setting_result *res)
{
	const void *key = scope == PREFETCH_SCOPE_THREAD ?
		(const void *)task : task->signal;
	struct pf_bucket *b = bucket_of(key);
	pf_wish_t before = PF_WISH_DEFAULT;
	struct pf_setting *s;
	unsigned long flags;
	int err = 0;

	memset(res, 0, sizeof(*res));
	raw_spin_lock_irqsave(&b->lock, flags);
	if (pf_setting_is_dead(task, scope)) {
		err = -ESRCH;
		goto unlock;
	}

	s = find_locked(b, key);
	if (s) {
		before = s->wish;
		res->inherit = s->inherit;
		res->id = s->id;
		res->uid = s->uid;
	}
	res->wish = change_wish(before, change);
	res->exists = res->wish != PF_WISH_DEFAULT;
	res->changed = res->wish != before;

	if (!res->exists) {
		/* Without an opinion there is nothing to inherit. */
		if (change->inherit == 1) {
			err = -EINVAL;
			goto unlock;
		}
		res->inherit = false;
		if (s) {
			res->told = true;
			unlink_locked(s);
			res->generation = raise_generation();
			call_rcu(&s->rcu, free_rcu_cb);
		}
		goto unlock;
	}

	if (change->inherit >= 0)
		res->inherit = change->inherit;
	if (s) {
		res->told = res->changed || res->inherit != s->inherit;
		if (res->told && change->user)
			err = hand_over(s, change->user, change->exempt);
		if (err)
			goto unlock;
		if (res->told)
			s->uid = change->uid;
		WRITE_ONCE(s->wish, res->wish);
		WRITE_ONCE(s->inherit, res->inherit);
	} else {
		err = count_one(change->user, change->exempt);
		if (err)
			goto unlock;
		s = *spare;
		*spare = NULL;
		s->key = key;
		s->scope = scope;
		s->wish = res->wish;
		s->inherit = res->inherit;
		s->user = change->user;
		s->exempt = change->exempt;
		s->uid = change->uid;
		insert_locked(b, s);
		res->told = true;
	}
	res->id = s->id;
	res->uid = s->uid;
	if (res->changed)
		res->generation = raise_generation();
unlock:
	raw_spin_unlock_irqrestore(&b->lock, flags);
	return err;
}

/**
 * pf_setting_remove() - end the setting of a thread or process
 * @key: its task_struct or signal_struct
 * @copy: where to put what it was
 *
 * May be called for the same key from two CPUs at once: one of them gets it.
 *
 * Context: any; a bucket's lock is taken.
 * Return: true if there was one.
 */
bool pf_setting_remove(const void *key, struct pf_setting *copy)
{
	struct pf_bucket *b = bucket_of(key);
	struct pf_setting *s;
	unsigned long flags;

	/*
	 * No look without the lock first: whoever saw the task alive under
	 * the lock may be about to insert.
	 */
	raw_spin_lock_irqsave(&b->lock, flags);
	s = find_locked(b, key);
	if (s) {
		*copy = *s;
		unlink_locked(s);
		raise_generation();
	}
	raw_spin_unlock_irqrestore(&b->lock, flags);
	if (!s)
		return false;
	call_rcu(&s->rcu, free_rcu_cb);
	return true;
}

/*
 * Under the lock, where the setting of the parent counts for the same user:
 * so the user's record stays.
 */
static bool copy_and_count(const void *key, struct pf_setting *copy,
			   bool *counted)
{
	struct pf_bucket *b = bucket_of(key);
	struct pf_setting *from;
	unsigned long flags;

	raw_spin_lock_irqsave(&b->lock, flags);
	from = find_locked(b, key);
	if (from && !from->inherit)
		from = NULL;
	if (from) {
		*copy = *from;
		*counted = !count_one(from->user, from->exempt);
	}
	raw_spin_unlock_irqrestore(&b->lock, flags);
	return from;
}

/**
 * pf_setting_inherit() - give a new child process its parent's setting
 * @parent: the process that forks
 * @child: the child; others may see it already
 * @copy: where to put the child's setting
 * @dropped: true if the child should have got one and did not
 *
 * Does not allocate. A setting that somebody made for the child in the
 * meantime stays.
 *
 * Context: the fork probe, preemption off.
 * Return: true if the child got one.
 */
bool pf_setting_inherit(struct task_struct *parent, struct task_struct *child,
			struct pf_setting *copy, bool *dropped)
{
	const void *key = child->signal;
	struct pf_bucket *b = bucket_of(key);
	struct pf_setting *from, *s;
	unsigned long flags;
	bool done = false, counted;

	*dropped = false;
	from = pf_setting_find(parent->signal);
	if (!from || !READ_ONCE(from->inherit))
		return false;

	if (!copy_and_count(parent->signal, copy, &counted))
		return false;
	if (!counted)
		goto drop;
	s = pf_spare_take();
	if (!s) {
		uncount_one(copy->user);
		goto drop;
	}
	s->key = key;
	s->scope = PREFETCH_SCOPE_PROCESS;
	s->wish = copy->wish;
	s->inherit = 1;
	s->user = copy->user;
	s->exempt = copy->exempt;
	s->uid = copy->uid;

	raw_spin_lock_irqsave(&b->lock, flags);
	if (!find_locked(b, key)) {
		insert_locked(b, s);
		raise_generation();
		*copy = *s;
		done = true;
	}
	raw_spin_unlock_irqrestore(&b->lock, flags);
	if (!done) {
		uncount_one(s->user);
		pf_spare_put(s);
	}
	return done;
drop:
	copy->id = 0;
	atomic64_inc(&pf_dropped_inherits);
	*dropped = true;
	return false;
}

/**
 * pf_setting_last_id() - the id that was given last
 *
 * Return: the id, 0 if none was given yet.
 */
u64 pf_setting_last_id(void)
{
	return atomic64_read(&next_id);
}

/**
 * pf_setting_walk_start() - begin a walk over all settings
 * @at: the cursor
 */
void pf_setting_walk_start(struct pf_setting_cursor *at)
{
	at->bucket = 0;
	at->last = pf_setting_last_id();
	at->below = U64_MAX;
}

/**
 * pf_setting_walk() - go on with a walk
 * @at: the cursor
 * @fn: called for each setting; stops the walk by returning other than 0, and
 *	is then called for the same one when the walk goes on
 * @data: for @fn
 *
 * Each setting that exists from start to end of the walk is seen once: ids
 * fall along a chain and an entry never moves, so (bucket, id) finds the
 * place again, whatever was removed or added in between. What was added
 * after the start is left out.
 *
 * Return: 0 at the end, else what @fn returned.
 */
int pf_setting_walk(struct pf_setting_cursor *at,
		    int (*fn)(struct pf_setting *s, void *data), void *data)
{
	struct pf_setting *s;
	int ret;

	for (; at->bucket < NR_BUCKETS; at->bucket++, at->below = U64_MAX) {
		rcu_read_lock();
		hlist_for_each_entry_rcu(s, &buckets[at->bucket].head, node) {
			if (s->id >= at->below || s->id > at->last)
				continue;
			ret = fn(s, data);
			if (ret) {
				rcu_read_unlock();
				return ret;
			}
			at->below = s->id;
		}
		rcu_read_unlock();
		cond_resched();
	}
	return 0;
}

/**
 * pf_setting_newer() - is there a setting that a walk left out?
 * @last: from the walk's cursor
 * @counts: whether a setting is one that the walk was for
 * @data: for @counts
 *
 * Return: true if such a setting exists that was made after the walk began.
 */
bool pf_setting_newer(u64 last,
		      bool (*counts)(const struct pf_setting *s, void *data),
		      void *data)
{
	struct pf_setting *s;
	bool newer = false;
	u32 i;

	if (pf_setting_last_id() == last)
		return false;
	for (i = 0; i < NR_BUCKETS && !newer; i++) {
		rcu_read_lock();
		/* The newest comes first. */
		hlist_for_each_entry_rcu(s, &buckets[i].head, node) {
			newer = s->id > last && counts(s, data);
			if (newer || s->id <= last)
				break;
		}
		rcu_read_unlock();
	}
	return newer;
}

/**
 * pf_setting_init() - make the empty table
 *
 * Return: 0 or -ENOMEM.
 */
int pf_setting_init(void)
{
	u32 i;

	setting_cache = KMEM_CACHE(pf_setting, 0);
	if (!setting_cache)
		return -ENOMEM;
	buckets = kvcalloc(NR_BUCKETS, sizeof(*buckets), GFP_KERNEL);
	if (!buckets) {
		kmem_cache_destroy(setting_cache);
		return -ENOMEM;
	}
	for (i = 0; i < NR_BUCKETS; i++)
		raw_spin_lock_init(&buckets[i].lock);
	pf_spare_init();
	return 0;
}

/**
 * pf_setting_purge() - remove all settings, whoever they belong to
 *
 * Requests are refused by now, so only fork can still make one.
 */
void pf_setting_purge(void)
{
	struct hlist_node *tmp;
	struct pf_setting *s;
	u32 i;

	for (i = 0; i < NR_BUCKETS; i++) {
		raw_spin_lock_irq(&buckets[i].lock);
		hlist_for_each_entry_safe(s, tmp, &buckets[i].head, node) {
			unlink_locked(s);
			call_rcu(&s->rcu, free_rcu_cb);
		}
		raw_spin_unlock_irq(&buckets[i].lock);
	}
	raise_generation();
}

/**
 * pf_setting_exit() - free the table
 *
 * The settings were purged, the probes are detached and no request runs.
 */
void pf_setting_exit(void)
{
	pf_spare_exit();
	/* Callbacks of removed settings may still be on their way. */
	rcu_barrier();
	pf_user_exit();
	kvfree(buckets);
	kmem_cache_destroy(setting_cache);
}
