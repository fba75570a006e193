// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit: the table of settings, with tasks that exist only on paper. The
 * table of this test is its own; the module's is not touched.
 */
#include <kunit/test.h>

#include "../setting.c"
#include "../spare.c"

#define OFF 0x1
#define ON 0x2

/* For whom all settings count. */
static struct pf_user somebody, another;

/* A process with one thread. */
static struct task_struct *task_new(struct kunit *test)
{
	struct task_struct *task;

	task = kunit_kzalloc(test, sizeof(*task), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, task);
	task->signal = kunit_kzalloc(test, sizeof(*task->signal), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, task->signal);
	atomic_set(&task->signal->live, 1);
	return task;
}

/* Another thread of the same process. */
static struct task_struct *thread_new(struct kunit *test,
				      struct task_struct *leader)
{
	struct task_struct *task;

	task = kunit_kzalloc(test, sizeof(*task), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, task);
	task->signal = leader->signal;
	atomic_inc(&leader->signal->live);
	return task;
}

static int apply(struct kunit *test, struct task_struct *task, u8 scope,
		 const struct pf_setting_change *change,
		 struct pf_setting_result *res)
{
	struct pf_setting *spare = pf_setting_alloc();
	struct pf_setting_change counted = *change;
	int err;

	KUNIT_ASSERT_NOT_NULL(test, spare);
	if (!counted.user)
		counted.user = &somebody;
	err = pf_setting_apply(task, scope, &counted, &spare, res);
	pf_setting_free(spare);
	return err;
}

/* Off and on exactly as given, nothing else changed. */
static u64 set(struct kunit *test, struct task_struct *task, u8 scope, u32 off,
	       u32 on, int inherit)
{
	const struct pf_setting_change change = {
		.off = off,
		.on = on,
		.inherit = inherit,
	};
	struct pf_setting_result res;

	KUNIT_ASSERT_EQ(test, 0, apply(test, task, scope, &change, &res));
	return res.id;
}

static pf_wish_t lookup(struct task_struct *task, struct pf_owner *owner)
{
	pf_wish_t wish;

	rcu_read_lock();
	wish = pf_setting_lookup(task, owner);
	rcu_read_unlock();
	return wish;
}

static bool inherit(struct task_struct *parent, struct task_struct *child,
		    bool *dropped)
{
	struct pf_setting copy;
	unsigned long flags;
	bool done;

	/* As in the fork probe. */
	local_irq_save(flags);
	done = pf_setting_inherit(parent, child, &copy, dropped);
	local_irq_restore(flags);
	return done;
}

static void setting_merge(struct kunit *test)
{
	struct task_struct *task = task_new(test);
	struct task_struct *other = thread_new(test, task);
	struct pf_owner owner;
	u64 process, thread;

	KUNIT_EXPECT_EQ(test, lookup(task, &owner), PF_WISH_DEFAULT);
	KUNIT_EXPECT_EQ(test, owner.process, 0);
	KUNIT_EXPECT_EQ(test, owner.thread, 0);

	process = set(test, task, PREFETCH_SCOPE_PROCESS, 0x3, 0x8, 0);
	KUNIT_EXPECT_EQ(test, lookup(other, &owner), pf_wish(0x3, 0x8));
	KUNIT_EXPECT_EQ(test, owner.process, process);

	/* The thread has the last word where it has an opinion. */
	thread = set(test, task, PREFETCH_SCOPE_THREAD, 0xc, 0x1, 0);
	KUNIT_EXPECT_GT(test, thread, process);
	KUNIT_EXPECT_EQ(test, lookup(task, &owner), pf_wish(0xe, 0x1));
	KUNIT_EXPECT_EQ(test, owner.process, process);
	KUNIT_EXPECT_EQ(test, owner.thread, thread);
	KUNIT_EXPECT_EQ(test, lookup(other, &owner), pf_wish(0x3, 0x8));
	KUNIT_EXPECT_EQ(test, owner.thread, 0);
}

/* What is asked for, over what there was. */
static const struct change_case {
	const char *name;
	pf_wish_t before;
	struct pf_setting_change change;
	pf_wish_t after;
} change_cases[] = {
	{ "off", 0, { .off = 0x5 }, 5 },
	{ "on", 0, { .on = 0x5 }, 5ULL << 32 },
	{ "the rest stays", 3ULL << 32 | 4, { .off = 0x8 }, 3ULL << 32 | 0xc },
	{ "from on to off", 3ULL << 32, { .off = 0x1 }, 2ULL << 32 | 1 },
	{ "from off to on", 3, { .on = 0x2 }, 2ULL << 32 | 1 },
	{ "clear one of each", 3ULL << 32 | 0xc, { .clear = 0x5 },
	  2ULL << 32 | 8 },
	{ "clear what has no opinion", 1, { .clear = 0x8 }, 1 },
	{ "all three", 1ULL << 32 | 6, { .off = 1, .on = 2, .clear = 4 },
	  2ULL << 32 | 1 },
	{ "nothing", 1ULL << 32 | 6, {}, 1ULL << 32 | 6 },
};

static void describe(const struct change_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(setting_change, change_cases, describe);

static void setting_change(struct kunit *test)
{
	const struct change_case *c = test->param_value;
	struct task_struct *task = task_new(test);
	struct pf_setting_result res;
	struct pf_owner owner;
	u64 generation;

	KUNIT_EXPECT_EQ(test, c->after, change_wish(c->before, &c->change));
	if (c->before)
		set(test, task, PREFETCH_SCOPE_PROCESS, pf_wish_off(c->before),
		    pf_wish_on(c->before), 0);
	generation = pf_setting_generation();
	KUNIT_ASSERT_EQ(test, 0, apply(test, task, PREFETCH_SCOPE_PROCESS,
				       &c->change, &res));
	KUNIT_EXPECT_EQ(test, res.wish, c->after);
	KUNIT_EXPECT_EQ(test, res.changed, c->before != c->after);
	KUNIT_EXPECT_EQ(test, lookup(task, &owner), c->after);
	/* What CPUs remember holds for as long as nothing changes. */
	KUNIT_EXPECT_EQ(test, pf_setting_generation() != generation,
			c->before != c->after);
}

static void setting_life(struct kunit *test)
{
	const struct pf_setting_change clear = {
		.clear = OFF | ON,
		.inherit = -1,
	};
	const struct pf_setting_change keep = { .off = OFF, .inherit = -1 };
	struct task_struct *task = task_new(test);
	struct pf_setting_result res;
	struct pf_setting copy;
	u64 id;

	id = set(test, task, PREFETCH_SCOPE_PROCESS, OFF, 0, 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&pf_nr_settings), 1);
	/* Again the same: nothing to tell, and it is still inherited. */
	KUNIT_ASSERT_EQ(test, 0, apply(test, task, PREFETCH_SCOPE_PROCESS,
				       &keep, &res));
	KUNIT_EXPECT_FALSE(test, res.told);
	KUNIT_EXPECT_TRUE(test, res.inherit);
	KUNIT_EXPECT_EQ(test, res.id, id);
	KUNIT_EXPECT_EQ(test, atomic_read(&pf_nr_settings), 1);

	/* Without an opinion there is no setting, and nothing to inherit. */
	KUNIT_ASSERT_EQ(test, 0, apply(test, task, PREFETCH_SCOPE_PROCESS,
				       &clear, &res));
	KUNIT_EXPECT_FALSE(test, res.exists);
	KUNIT_EXPECT_FALSE(test, res.inherit);
	KUNIT_EXPECT_TRUE(test, res.told);
	KUNIT_EXPECT_EQ(test, atomic_read(&pf_nr_settings), 0);
	KUNIT_ASSERT_EQ(test, 0, apply(test, task, PREFETCH_SCOPE_PROCESS,
				       &clear, &res));
	KUNIT_EXPECT_FALSE(test, res.told);

	/* It is removed once, whoever comes second. */
	KUNIT_EXPECT_GT(test, set(test, task, PREFETCH_SCOPE_THREAD, 0, ON, 0),
			id);
	KUNIT_EXPECT_FALSE(test, pf_setting_remove(task->signal, &copy));
	KUNIT_EXPECT_TRUE(test, pf_setting_remove(task, &copy));
	KUNIT_EXPECT_EQ(test, copy.wish, pf_wish(0, ON));
	KUNIT_EXPECT_FALSE(test, pf_setting_remove(task, &copy));
	KUNIT_EXPECT_EQ(test, atomic_read(&pf_nr_settings), 0);
}

static void expect_refused(struct kunit *test, struct task_struct *task,
			   u8 scope, const struct pf_setting_change *change,
			   int want)
{
	u64 generation = pf_setting_generation();
	int settings = atomic_read(&pf_nr_settings);
	struct pf_setting *spare = pf_setting_alloc();
	struct pf_setting *given = spare;
	struct pf_setting_change counted = *change;
	struct pf_setting_result res;
	struct pf_owner owner;
	pf_wish_t before = lookup(task, &owner);

	KUNIT_ASSERT_NOT_NULL(test, spare);
	if (!counted.user)
		counted.user = &somebody;
	KUNIT_EXPECT_EQ(test, want, pf_setting_apply(task, scope, &counted,
						     &spare, &res));
	KUNIT_EXPECT_PTR_EQ(test, spare, given);
	pf_setting_free(spare);
	KUNIT_EXPECT_EQ(test, lookup(task, &owner), before);
	KUNIT_EXPECT_EQ(test, atomic_read(&pf_nr_settings), settings);
	KUNIT_EXPECT_EQ(test, pf_setting_generation(), generation);
}

/* Refused: nothing has changed, and the memory is still the caller's. */
static void setting_refused(struct kunit *test)
{
	const struct pf_setting_change off = { .off = OFF, .inherit = -1 };
	const struct pf_setting_change nothing = {
		.clear = OFF,
		.inherit = 1,
	};
	struct task_struct *task = task_new(test);
	struct task_struct *other = thread_new(test, task);

	task->flags |= PF_EXITING;
	expect_refused(test, task, PREFETCH_SCOPE_THREAD, &off, -ESRCH);
	/* Its process lives on by the other thread, and can be set by it. */
	set(test, task, PREFETCH_SCOPE_PROCESS, 0, ON, 0);
	set(test, other, PREFETCH_SCOPE_THREAD, OFF, 0, 0);
	atomic_set(&task->signal->live, 0);
	expect_refused(test, other, PREFETCH_SCOPE_PROCESS, &off, -ESRCH);

	task = task_new(test);
	expect_refused(test, task, PREFETCH_SCOPE_PROCESS, &nothing, -EINVAL);
	set(test, task, PREFETCH_SCOPE_PROCESS, OFF, 0, 0);
	expect_refused(test, task, PREFETCH_SCOPE_PROCESS, &nothing, -EINVAL);

	/* At the limit: no new one, but what there is can be changed. */
	pf_max_settings = atomic_read(&pf_nr_settings);
	expect_refused(test, task, PREFETCH_SCOPE_THREAD, &off, -ENOSPC);
	set(test, task, PREFETCH_SCOPE_PROCESS, 0, OFF, 0);
}

static void setting_inherit(struct kunit *test)
{
	struct task_struct *parent = task_new(test);
	struct task_struct *child = task_new(test);
	struct task_struct *other = task_new(test);
	struct pf_owner owner;
	bool dropped;

	KUNIT_EXPECT_FALSE(test, inherit(parent, child, &dropped));
	KUNIT_EXPECT_FALSE(test, dropped);
	set(test, parent, PREFETCH_SCOPE_PROCESS, OFF, ON, 0);
	KUNIT_EXPECT_FALSE(test, inherit(parent, child, &dropped));
	KUNIT_EXPECT_FALSE(test, dropped);

	set(test, parent, PREFETCH_SCOPE_PROCESS, OFF, ON, 1);
	KUNIT_EXPECT_TRUE(test, inherit(parent, child, &dropped));
	KUNIT_EXPECT_EQ(test, lookup(child, &owner), pf_wish(OFF, ON));
	KUNIT_EXPECT_EQ(test, atomic_read(&pf_nr_settings), 2);
	/* The flag as well: to the grandchild. */
	KUNIT_EXPECT_TRUE(test, inherit(child, task_new(test), &dropped));

	/* Somebody was quicker: that one stays, and nothing was dropped. */
	set(test, other, PREFETCH_SCOPE_PROCESS, 0, OFF, 0);
	KUNIT_EXPECT_FALSE(test, inherit(parent, other, &dropped));
	KUNIT_EXPECT_FALSE(test, dropped);
	KUNIT_EXPECT_EQ(test, lookup(other, &owner), pf_wish(0, OFF));
	KUNIT_EXPECT_EQ(test, atomic_read(&pf_nr_settings), 4);
	KUNIT_EXPECT_EQ(test, atomic64_read(&pf_dropped_inherits), 0);
}

/* No memory or no room: the fork goes on, and it is counted. */
static void setting_dropped(struct kunit *test)
{
	struct task_struct *parent = task_new(test);
	struct task_struct *child = task_new(test);
	struct pf_owner owner;
	struct llist_node *all, *last;
	bool dropped;

	set(test, parent, PREFETCH_SCOPE_PROCESS, OFF, 0, 1);
	/* The worker that refills goes by the number, which stays. */
	flush_work(&refill_work);
	all = llist_del_all(&spares);
	KUNIT_EXPECT_FALSE(test, inherit(parent, child, &dropped));
	KUNIT_EXPECT_TRUE(test, dropped);
	KUNIT_EXPECT_EQ(test, lookup(child, &owner), PF_WISH_DEFAULT);
	KUNIT_EXPECT_EQ(test, atomic_read(&pf_nr_settings), 1);
	KUNIT_EXPECT_EQ(test, atomic64_read(&pf_dropped_inherits), 1);
	KUNIT_ASSERT_NOT_NULL(test, all);
	for (last = all; last->next; last = last->next)
		;
	llist_add_batch(all, last, &spares);
	KUNIT_EXPECT_TRUE(test, inherit(parent, child, &dropped));

	pf_max_settings = 2;
	KUNIT_EXPECT_FALSE(test, inherit(parent, task_new(test), &dropped));
	KUNIT_EXPECT_TRUE(test, dropped);
	KUNIT_EXPECT_EQ(test, atomic_read(&pf_nr_settings), 2);
	KUNIT_EXPECT_EQ(test, atomic64_read(&pf_dropped_inherits), 2);
}

/* For whom a setting counts, from its first change to its end. */
static void setting_counts(struct kunit *test)
{
	const struct pf_setting_change off = { .off = OFF, .inherit = -1 };
	const struct pf_setting_change theirs = {
		.on = OFF,
		.inherit = -1,
		.user = &another,
	};
	const struct pf_setting_change exempt = {
		.off = OFF,
		.inherit = 1,
		.user = &another,
		.exempt = true,
	};
	struct task_struct *parent = task_new(test);
	struct task_struct *other = thread_new(test, parent);
	struct pf_setting_result res;
	struct pf_setting copy;
	bool dropped;

	pf_max_settings_per_user = 2;
	set(test, parent, PREFETCH_SCOPE_PROCESS, OFF, 0, 1);
	set(test, parent, PREFETCH_SCOPE_THREAD, OFF, 0, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&somebody.settings), 2);
	expect_refused(test, other, PREFETCH_SCOPE_THREAD, &off, -EDQUOT);
	KUNIT_EXPECT_FALSE(test, inherit(parent, task_new(test), &dropped));
	KUNIT_EXPECT_TRUE(test, dropped);
	KUNIT_EXPECT_EQ(test, atomic_read(&somebody.settings), 2);

	KUNIT_ASSERT_EQ(test, 0, apply(test, parent, PREFETCH_SCOPE_THREAD,
				       &theirs, &res));
	KUNIT_EXPECT_EQ(test, atomic_read(&somebody.settings), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&another.settings), 1);
	KUNIT_EXPECT_TRUE(test, inherit(parent, task_new(test), &dropped));
	KUNIT_EXPECT_TRUE(test, pf_setting_remove(parent, &copy));
	KUNIT_EXPECT_EQ(test, atomic_read(&another.settings), 0);

	/* Above the limit, and so its children. */
	pf_max_settings_per_user = 0;
	expect_refused(test, other, PREFETCH_SCOPE_THREAD, &theirs, -EDQUOT);
	KUNIT_ASSERT_EQ(test, 0, apply(test, task_new(test),
				       PREFETCH_SCOPE_PROCESS, &exempt, &res));
	parent = task_new(test);
	KUNIT_ASSERT_EQ(test, 0, apply(test, parent, PREFETCH_SCOPE_PROCESS,
				       &exempt, &res));
	KUNIT_EXPECT_TRUE(test, inherit(parent, task_new(test), &dropped));
	KUNIT_EXPECT_EQ(test, atomic_read(&another.settings), 3);
}

#define WALKED 64

/* What a walk has seen: how often each, and when to stop. */
struct seen {
	u8 times[4 * WALKED];
	unsigned int left;
};

static int see(struct pf_setting *s, void *data)
{
	struct seen *seen = data;

	if (!seen->left)
		return -EMSGSIZE;
	seen->left--;
	if (s->id < ARRAY_SIZE(seen->times))
		seen->times[s->id]++;
	return 0;
}

static bool any(const struct pf_setting *s, void *data)
{
	return true;
}

/* As a dump that is for some settings only. */
static bool is_on(const struct pf_setting *s, void *data)
{
	return pf_wish_on(s->wish);
}

/* Interrupted often, with settings that come and go meanwhile. */
static void setting_walk(struct kunit *test)
{
	struct task_struct *tasks[WALKED];
	struct pf_setting_cursor at;
	struct pf_setting copy;
	u64 ids[WALKED];
	struct seen *seen;
	unsigned int i, n = 0;

	seen = kunit_kzalloc(test, sizeof(*seen), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, seen);
	for (i = 0; i < WALKED; i++) {
		tasks[i] = task_new(test);
		ids[i] = set(test, tasks[i], PREFETCH_SCOPE_PROCESS, OFF, 0, 0);
	}
	pf_setting_walk_start(&at);
	KUNIT_EXPECT_FALSE(test, pf_setting_newer(at.last, any, NULL));

	seen->left = 3;
	while (pf_setting_walk(&at, see, seen)) {
		/* One that stays is changed, one goes, one is new. */
		set(test, tasks[n], PREFETCH_SCOPE_PROCESS, 0, OFF, 0);
		if (n < WALKED / 4)
			pf_setting_remove(tasks[n]->signal, &copy);
		set(test, tasks[n], PREFETCH_SCOPE_THREAD, OFF, 0, 0);
		n = min(n + 1, (unsigned int)WALKED - 1);
		seen->left = 3;
	}
	KUNIT_EXPECT_GT(test, n, WALKED / 4);
	for (i = WALKED / 4; i < WALKED; i++)
		KUNIT_EXPECT_EQ_MSG(test, seen->times[ids[i]], 1,
				    "setting %u", i);
	for (i = 0; i < WALKED / 4; i++)
		KUNIT_EXPECT_LE_MSG(test, seen->times[ids[i]], 1,
				    "setting %u, which went", i);
	KUNIT_ASSERT_LT(test, pf_setting_last_id(), ARRAY_SIZE(seen->times));
	for (i = at.last + 1; i <= pf_setting_last_id(); i++)
		KUNIT_EXPECT_EQ_MSG(test, seen->times[i], 0, "a new one");
	KUNIT_EXPECT_TRUE(test, pf_setting_newer(at.last, any, NULL));
	/* All that is new is off. */
	KUNIT_EXPECT_FALSE(test, pf_setting_newer(at.last, is_on, NULL));
}

/* Keys as they come, from a slab of large objects: the chains stay short. */
static void setting_hash(struct kunit *test)
{
	static const unsigned int strides[] = { 1088, 4096, 9600, 16384 };
	unsigned int i, n, longest;
	u8 *chain;

	chain = kunit_kzalloc(test, NR_BUCKETS, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, chain);
	for (i = 0; i < ARRAY_SIZE(strides); i++) {
		memset(chain, 0, NR_BUCKETS);
		longest = 0;
		for (n = 0; n < 10000; n++) {
			unsigned long key = PAGE_OFFSET + n * strides[i];
			u8 *length = &chain[bucket_of((void *)key) - buckets];

			++*length;
			longest = max_t(unsigned int, longest, *length);
		}
		KUNIT_EXPECT_LE_MSG(test, longest, 8, "stride %u", strides[i]);
	}
}

static int setting_test_init(struct kunit *test)
{
	pf_max_settings = 1024;
	pf_max_settings_per_user = 1024;
	atomic64_set(&pf_dropped_inherits, 0);
	atomic64_set(&next_id, 0);
	return pf_setting_init();
}

static void setting_test_exit(struct kunit *test)
{
	pf_setting_purge();
	KUNIT_EXPECT_EQ(test, atomic_read(&pf_nr_settings), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&somebody.settings), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&another.settings), 0);
	pf_setting_exit();
	/* For the next one's pf_setting_init(). */
	atomic_set(&nr_spares, 0);
}

static struct kunit_case setting_cases[] = {
	KUNIT_CASE(setting_merge),
	KUNIT_CASE_PARAM(setting_change, setting_change_gen_params),
	KUNIT_CASE(setting_life),
	KUNIT_CASE(setting_refused),
	KUNIT_CASE(setting_inherit),
	KUNIT_CASE(setting_dropped),
	KUNIT_CASE(setting_counts),
	KUNIT_CASE(setting_walk),
	KUNIT_CASE(setting_hash),
	{}
};

static struct kunit_suite setting_suite = {
	.name = "prefetch_setting",
	.init = setting_test_init,
	.exit = setting_test_exit,
	.test_cases = setting_cases,
};

kunit_test_suite(setting_suite);
