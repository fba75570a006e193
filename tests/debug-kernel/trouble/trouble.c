// SPDX-License-Identifier: GPL-2.0-only
/*
 * One mistake for each of the kernel's checkers, to see that it is found and
 * that scripts/vm ends with the status for trouble. Loading it with kind=NAME
 * makes the mistake; it is never used with anything else.
 */
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/timer.h>

static char *kind = "";
module_param(kind, charp, 0);
MODULE_PARM_DESC(kind, "which mistake");

static DEFINE_MUTEX(first);
static DEFINE_MUTEX(second);
static DEFINE_SPINLOCK(spin);
static int __rcu *guarded;

static void make_warning(void)
{
	WARN(1, "asked for");
}

static void make_sleep(void)
{
	spin_lock(&spin);
	might_sleep();
	spin_unlock(&spin);
}

static void make_rcu(void)
{
	if (rcu_dereference(guarded))
		pr_info("there is something\n");
}

static void make_deadlock(void)
{
	mutex_lock(&first);
	mutex_lock(&second);
	mutex_unlock(&second);
	mutex_unlock(&first);
	mutex_lock(&second);
	mutex_lock(&first);
	mutex_unlock(&first);
	mutex_unlock(&second);
}

static void expire(struct timer_list *timer)
{
}

static void make_object(void)
{
	struct timer_list *timer = kmalloc(sizeof(*timer), GFP_KERNEL);

	if (!timer)
		return;
	timer_setup(timer, expire, 0);
	mod_timer(timer, jiffies + HZ);
	/* The checker stops the timer before the memory goes. */
	kfree(timer);
}

static void make_use_after_free(void)
{
	char *text = kmalloc(64, GFP_KERNEL);

	kfree(text);
	OPTIMIZER_HIDE_VAR(text);
	pr_info("it was %d\n", READ_ONCE(text[1]));
}

static void make_leak(void)
{
	void *lost;
	int i;

	/*
	 * More than one: the last may still be in a register. Zeroed: else each
	 * has a link to the next from the time when they were free, and one to
	 * the first may be in memory that is in use.
	 */
	for (i = 0; i < 10; i++) {
		lost = kzalloc(96, GFP_KERNEL);
		OPTIMIZER_HIDE_VAR(lost);
	}
}

static const struct {
	const char *name;
	void (*make)(void);
} mistakes[] = {
	{ "warning", make_warning },
	{ "sleep", make_sleep },
	{ "rcu", make_rcu },
	{ "object", make_object },
	{ "deadlock", make_deadlock },
	{ "use-after-free", make_use_after_free },
	{ "leak", make_leak },
};

static int __init trouble_init(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(mistakes); i++) {
		if (!strcmp(kind, mistakes[i].name)) {
			mistakes[i].make();
			return 0;
		}
	}
	return -EINVAL;
}

static void __exit trouble_exit(void)
{
}

module_init(trouble_init);
module_exit(trouble_exit);

MODULE_DESCRIPTION("Mistakes for the kernel's checkers to find");
MODULE_LICENSE("GPL");
