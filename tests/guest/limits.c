// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How many settings a user may have, and for whom they count.
 */
#include "actor.h"

#include <errno.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "caller.h"
#include "harness.h"
#include "request.h"

#define USER	    1000
#define OTHER	    1001

#define LIMIT	    4
#define LIMIT_ARG   "max_settings_per_user=4"
#define LIMIT_PARAM "/sys/module/prefetch/parameters/max_settings_per_user"

#define FORKS	    300

/* --- What actors call; each returns a positive errno, or a number ----------
 */

/* Behind the error: was the limit of a user named, or that of all? */
#define NAMED_USER 1000
#define NAMED_ALL  2000

static int ask(const struct pfnl_setting_request *r)
{
	struct pfnl *h;
	int err = pfnl_open(&h);

	if (err)
		return -err;
	err = -set_any(h, r, NULL);
	if (err == ENOSPC && strstr(pfnl_errmsg(h), "max_settings_per_user"))
		err += NAMED_USER;
	else if (err == ENOSPC && strstr(pfnl_errmsg(h), "max_settings"))
		err += NAMED_ALL;
	pfnl_close(h);
	return err;
}

static int set_process(long pid)
{
	const struct pfnl_setting_request r = { .pid = (uint32_t)pid,
						.off = L1_IP,
						.inherit = -1 };

	return ask(&r);
}

static int set_process_on(long pid)
{
	const struct pfnl_setting_request r = { .pid = (uint32_t)pid,
						.on = L1_IP,
						.inherit = -1 };

	return ask(&r);
}

static int set_inherit(long pid)
{
	const struct pfnl_setting_request r = { .pid = (uint32_t)pid,
						.off = L1_IP,
						.inherit = 1 };

	return ask(&r);
}

static int set_thread(long tid)
{
	const struct pfnl_setting_request r = { .tid = (uint32_t)tid,
						.off = L2_STREAM,
						.inherit = -1 };

	return ask(&r);
}

static int clear_thread(long tid)
{
	const struct pfnl_setting_request r = { .tid = (uint32_t)tid,
						.clear = ALL_FOUR,
						.inherit = -1 };

	return ask(&r);
}

/* How many settings count for the caller; negative: an error. */
static int count(long arg)
{
	struct pfnl_info i;
	struct pfnl *h;
	int err = pfnl_open(&h);

	(void)arg;
	if (err)
		return err;
	err = pfnl_info(h, &i);
	pfnl_close(h);
	return err ? err : (int)i.user_settings;
}

/* Real and effective user, in such a way that it can be undone. */
static int act_as(long uid)
{
	return setresuid(0, 0, 0) || setresuid(uid, uid, 0) ? errno : 0;
}

/* Becomes the user, and keeps one capability. */
static int keep_one(long cap)
{
	return keep_capability(USER, (int)cap);
}

static int new_user_namespace(long arg)
{
	(void)arg;
	return unshare(CLONE_NEWUSER) ? errno : 0;
}

/* Children that come and go, two at a time. */
static int fork_often(long times)
{
	sighandler_t before = signal(SIGCHLD, SIG_DFL);
	int err = 0;

	for (long i = 0; i < times && !err; i++) {
		pid_t pid = fork();

		if (!pid) {
			pid = fork();
			_exit(pid < 0);
		}
		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			err = errno;
	}
	signal(SIGCHLD, before);
	return err;
}

/* --- Tests ------------------------------------------------------------------
 */

static struct actor *actor_of(int user)
{
	struct actor *a = actor_new(home_cpu());

	if (user && actor_once(a, ACTOR_SETUID, user))
		die("cannot become user %d", user);
	return a;
}

static void expect_call(struct check *c, struct actor *a, int (*call)(long arg),
			long arg, int want, const char *what)
{
	int got = actor_call(a, call, arg);

	expect(c, got == want, "%s: %d instead of %d", what, got, want);
}

static void begin(struct check *c, const char *args)
{
	expect(c, !module_unload(), "cannot unload");
	expect(c, !module_load(args), "cannot load with %s", args);
}

static void end(struct check *c)
{
	actors_end();
	begin(c, "");
	expect(c, info().max_user_settings == 8192, "by default %u",
	       info().max_user_settings);
}

/* A user's process with as many settings as it may have. */
static struct actor *full(struct check *c, struct actor *t[LIMIT])
{
	struct actor *a = actor_of(USER);

	for (int i = 0; i < LIMIT; i++) {
		t[i] = actor_thread(a, home_cpu());
		expect_call(c, a, set_thread, t[i]->tid, 0, "within the limit");
	}
	expect_call(c, a, count, 0, LIMIT, "all of them");
	return a;
}

static void user(struct check *c)
{
	struct actor *t[LIMIT], *a, *b, *r;

	begin(c, LIMIT_ARG);
	expect(c, info().max_user_settings == LIMIT, "told: %u",
	       info().max_user_settings);
	a = full(c, t);
	b = actor_of(OTHER);
	r = actor_of(0);

	expect_call(c, a, set_process, a->pid, ENOSPC + NAMED_USER,
		    "one too many");
	expect(c, request_settings() == LIMIT, "%ld settings",
	       request_settings());
	expect_call(c, t[0], set_thread, t[0]->tid, 0, "the same again");
	expect_call(c, b, set_process, b->pid, 0, "another user");
	expect_call(c, b, count, 0, 1, "the other user's");
	expect_call(c, r, set_process, a->pid, 0, "root, for the user");
	expect_call(c, a, count, 0, LIMIT, "root's counts for root");
	expect_call(c, r, count, 0, 1, "root's own");

	expect_call(c, a, clear_thread, t[0]->tid, 0, "clear");
	expect_call(c, a, count, 0, LIMIT - 1, "one less by clear");
	actor_exit_thread(t[1]);
	expect(c, wait_for(actor_call(a, count, 0) == LIMIT - 2),
	       "one less by exit");
	actor_kill(a);
	a = actor_of(USER);
	expect(c, wait_for(actor_call(a, count, 0) == 0), "none by kill");
	end(c);
}

/* CAP_SYS_RESOURCE alone, or CAP_SYS_ADMIN, without being root. */
static void exempt(struct check *c)
{
	struct actor *t[LIMIT], *a, *b, *n, *s, *child;

	begin(c, LIMIT_ARG);
	a = full(c, t);
	b = actor_of(0);
	expect_call(c, b, keep_one, CAP_SYS_RESOURCE, 0, "keep one");
	n = actor_of(0);
	expect_call(c, n, keep_one, CAP_SYS_NICE, 0, "keep another");
	s = actor_of(0);
	expect_call(c, s, keep_one, CAP_SYS_ADMIN, 0, "keep a third");

	expect_call(c, n, set_process, n->pid, ENOSPC + NAMED_USER,
		    "with CAP_SYS_NICE");
	expect_call(c, b, set_inherit, b->pid, 0, "with CAP_SYS_RESOURCE");
	expect_call(c, b, count, 0, LIMIT + 1, "beyond the limit");
	child = actor_fork(b, home_cpu());
	expect(c, get_pid(child->pid).off == L1_IP, "not inherited");
	expect_call(c, b, count, 0, LIMIT + 2, "with a child");
	expect_call(c, s, set_process, s->pid, 0, "with CAP_SYS_ADMIN");
	expect_call(c, a, set_process, a->pid, ENOSPC + NAMED_USER,
		    "without, meanwhile");
	end(c);
}

static void inherit(struct check *c)
{
	struct actor *a, *t[LIMIT - 1], *child;
	uint64_t dropped;

	begin(c, LIMIT_ARG);
	a = actor_of(USER);
	expect_call(c, a, set_inherit, a->pid, 0, "with inherit");
	for (int i = 0; i < LIMIT - 1; i++) {
		t[i] = actor_thread(a, home_cpu());
		expect_call(c, a, set_thread, t[i]->tid, 0, "thread");
	}
	dropped = info().dropped_inherits;
	child = actor_fork(a, home_cpu());
	expect(c, info().dropped_inherits == dropped + 1, "dropped %llu",
	       (unsigned long long)(info().dropped_inherits - dropped));
	expect(c, get_pid(child->pid).id == 0, "beyond the limit, and set");
	expect_call(c, a, count, 0, LIMIT, "with a child without");

	expect_call(c, a, clear_thread, t[0]->tid, 0, "clear");
	child = actor_fork(a, home_cpu());
	expect(c, info().dropped_inherits == dropped + 1, "dropped again");
	expect(c, get_pid(child->pid).off == L1_IP, "not inherited");
	expect_call(c, a, count, 0, LIMIT, "with a child");
	actor_kill(child);
	expect(c, wait_for(actor_call(a, count, 0) == LIMIT - 1),
	       "a child's outlives it");
	end(c);
}

/* Many at a time, above and below the limit: it never drifts. */
static void exact(struct check *c)
{
	struct actor *a[LIMIT - 1];

	begin(c, LIMIT_ARG);
	for (int i = 0; i < LIMIT - 1; i++) {
		a[i] = actor_new(i % cpu_count());
		expect(c, !actor_once(a[i], ACTOR_SETUID, USER), "setuid");
		expect_call(c, a[i], set_inherit, a[i]->pid, 0, "inherit");
	}
	for (int i = 0; i < LIMIT - 1; i++) {
		a[i]->call = fork_often;
		actor_mode(a[i], ACTOR_CALL, FORKS);
	}
	for (int i = 0; i < LIMIT - 1; i++) {
		actor_finish(a[i]);
		expect(c, a[i]->result == 0, "fork: %s",
		       strerror(a[i]->result));
	}
	expect(c, wait_for(actor_call(a[0], count, 0) == LIMIT - 1), "%d of %d",
	       actor_call(a[0], count, 0), LIMIT - 1);
	expect(c, request_settings() == LIMIT - 1, "%ld settings",
	       request_settings());
	expect(c, info().dropped_inherits > 0, "never at the limit");
	for (int i = 0; i < LIMIT - 1; i++)
		actor_kill(a[i]);
	a[0] = actor_of(USER);
	expect(c, wait_for(actor_call(a[0], count, 0) == 0), "left: %d",
	       actor_call(a[0], count, 0));
	end(c);
}

/* It counts for whoever set it, whatever becomes of that one or the task. */
static void changes_of_user(struct check *c)
{
	struct actor *a, *u, *o;

	begin(c, LIMIT_ARG);
	a = actor_new(home_cpu());
	u = actor_of(USER);
	o = actor_of(OTHER);
	expect_call(c, a, act_as, USER, 0, "act as a user");
	expect_call(c, a, set_process, a->pid, 0, "as a user");
	expect_call(c, u, count, 0, 1, "counts for the user");
	expect_call(c, a, act_as, OTHER, 0, "act as another");
	expect_call(c, u, count, 0, 1, "still for the user");
	expect_call(c, o, count, 0, 0, "not for the other");
	expect_call(c, a, set_process_on, a->pid, 0, "set by the other");
	expect_call(c, u, count, 0, 0, "no more for the user");
	expect_call(c, o, count, 0, 1, "for the other now");
	expect_call(c, a, act_as, USER, 0, "act as a user");
	actor_kill(a);
	expect(c, wait_for(actor_call(o, count, 0) == 0),
	       "a dead one counts for the other");
	expect_call(c, u, count, 0, 0, "a dead one counts for the user");
	end(c);
}

/* What root set is above the limit, but not what a user makes of it. */
static void taken_over(struct check *c)
{
	struct actor *t[LIMIT], *a, *child, *r;
	uint64_t dropped;

	begin(c, LIMIT_ARG);
	a = full(c, t);
	r = actor_of(0);
	expect_call(c, r, set_process, a->pid, 0, "by root");
	expect_call(c, a, set_inherit, a->pid, ENOSPC + NAMED_USER,
		    "inheritance of root's");
	expect(c, !get_pid(a->pid).inherit, "refused, and it is inherited");
	expect_call(c, a, clear_thread, t[0]->tid, 0, "clear");
	expect_call(c, a, set_inherit, a->pid, 0, "inheritance");
	expect_call(c, a, count, 0, LIMIT, "root's counts for the user now");
	expect_call(c, r, count, 0, 0, "and no more for root");
	dropped = info().dropped_inherits;
	child = actor_fork(a, home_cpu());
	expect(c, get_pid(child->pid).id == 0, "beyond the limit by root's");
	expect(c, info().dropped_inherits == dropped + 1, "not dropped");

	expect_call(c, r, set_process_on, a->pid, 0, "root again");
	child = actor_fork(a, home_cpu());
	expect(c, get_pid(child->pid).on == L1_IP, "root's has a limit");
	expect_call(c, r, count, 0, 2, "both for root");
	end(c);
}

/* The user is number 0 in the namespace, and has one more id there. */
static void map_users(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/uid_map", pid);
	write_text(path, "0 1000 1\n1 1003 1\n");
	snprintf(path, sizeof(path), "/proc/%d/gid_map", pid);
	write_text(path, "0 1000 1\n1 1003 1\n");
}

/* All ids that a user has in a namespace count for that user. */
static void namespaces(struct check *c)
{
	struct actor *t[LIMIT], *a, *b;

	begin(c, LIMIT_ARG);
	a = full(c, t);
	b = actor_of(USER);
	expect_call(c, b, new_user_namespace, 0, 0, "a user namespace");
	map_users(b->pid);
	expect_call(c, b, count, 0, LIMIT, "as root of the namespace");
	expect(c, !actor_once(b, ACTOR_SETUID, 1), "no user 1 in there");
	expect_call(c, b, count, 0, LIMIT, "in the namespace");
	expect_call(c, b, set_process, b->pid, ENOSPC + NAMED_USER,
		    "in the namespace, beyond the limit");
	expect_call(c, b, new_user_namespace, 0, 0, "one more namespace");
	expect_call(c, b, set_process, b->pid, ENOSPC + NAMED_USER,
		    "in a namespace in the namespace");
	expect_call(c, a, clear_thread, t[0]->tid, 0, "clear");
	expect_call(c, b, set_process, b->pid, 0, "within the limit");
	expect_call(c, a, count, 0, LIMIT, "with that of the namespace");
	end(c);
}

static void parameters(struct check *c)
{
	struct actor *t[LIMIT], *a, *r;

	begin(c, LIMIT_ARG);
	a = full(c, t);
	write_text(LIMIT_PARAM, "0");
	expect_call(c, a, clear_thread, t[0]->tid, 0,
		    "clear, with a limit of 0");
	expect_call(c, a, set_thread, t[1]->tid, 0, "again, with a limit of 0");
	expect_call(c, a, set_process, a->pid, ENOSPC + NAMED_USER,
		    "with a limit of 0");
	write_text(LIMIT_PARAM, "4");
	expect_call(c, a, set_process, a->pid, 0, "with a limit of 4");
	actors_end();

	begin(c, "max_settings=2");
	r = actor_of(0);
	for (int i = 0; i < 2; i++)
		expect_call(c, r, set_thread, actor_thread(r, home_cpu())->tid,
			    0, "root");
	expect_call(c, r, set_process, r->pid, ENOSPC + NAMED_ALL,
		    "root, beyond the limit of all");
	actors_end();

	expect(c, !module_unload(), "cannot unload");
	expect(c, module_load("max_settings=0") == -EINVAL,
	       "loaded with max_settings=0");
	expect(c, module_load("max_settings=1048577") == -EINVAL,
	       "loaded with max_settings=1048577");
	expect(c, module_load("max_settings_per_user=-1") == -EINVAL,
	       "loaded with max_settings_per_user=-1");
	expect(c, !module_load(""), "cannot load");
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "limits_user", user },
		{ "limits_exempt", exempt },
		{ "limits_inherit", inherit },
		{ "limits_exact", exact },
		{ "limits_changes_of_user", changes_of_user },
		{ "limits_taken_over", taken_over },
		{ "limits_namespaces", namespaces },
		{ "limits_parameters", parameters },
	};

	return harness_main(argc, argv, tests, ARRAY_SIZE(tests));
}
