// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Who may do what, and what a request on the wrong task is answered.
 */
#include "actor.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"
#include "request.h"

#define USER  1000
#define OTHER 1001

/* --- What actors call; each returns a positive errno, or 0 -------------- */

static int with_handle(int (*ask)(struct pfnl *h, long arg), long arg)
{
	struct pfnl *h;
	int err = pfnl_open(&h);

	if (err)
		return 1000 - err;
	err = ask(h, arg);
	pfnl_close(h);
	return -err;
}

static int ask_set(struct pfnl *h, long arg)
{
	struct pfnl_setting_request r = PFNL_SETTING_REQUEST_INIT;

	r.pid = (uint32_t)arg;
	r.off = L1_IP;
	return set_any(h, &r, NULL);
}

static int ask_set_thread(struct pfnl *h, long arg)
{
	struct pfnl_setting_request r = PFNL_SETTING_REQUEST_INIT;

	r.tid = (uint32_t)arg;
	r.off = L2_STREAM;
	return set_any(h, &r, NULL);
}

static int ask_get(struct pfnl *h, long arg)
{
	struct pfnl_setting s;

	return pfnl_setting_get(h, (pid_t)arg, 0, &s);
}

static int ask_default(struct pfnl *h, long arg)
{
	(void)arg;
	return set_default_any(h, L1_IP, 0);
}

static int ask_verify(struct pfnl *h, long arg)
{
	struct pfnl_core core = { 0 };
	int err = pfnl_core_get(h, (uint32_t)arg, true, &core);

	pfnl_core_clear(&core);
	return err;
}

static int ask_repair(struct pfnl *h, long arg)
{
	return pfnl_core_repair(h, (uint32_t)arg, NULL, NULL);
}

static int ask_subscribe(struct pfnl *h, long arg)
{
	return pfnl_subscribe(h, (unsigned int)arg, 0);
}

/* 0 if no task on a core is told to the caller. */
static int ask_who_runs(struct pfnl *h, long arg)
{
	struct pfnl_core core = { 0 };
	int err = pfnl_core_get(h, (uint32_t)arg, false, &core);

	for (size_t i = 0; !err && i < core.n_cpus; i++)
		if (core.cpus[i].has_task)
			err = -EEXIST;
	pfnl_core_clear(&core);
	return err;
}

#define CALL(name)                                   \
	static int call_##name(long arg)             \
	{                                            \
		return with_handle(ask_##name, arg); \
	}

CALL(set)
CALL(set_thread)
CALL(get)
CALL(default)
CALL(verify)
CALL(repair)
CALL(subscribe)
CALL(who_runs)

/* A socket that a user opened, in the hands of root. */
static int set_by_users_socket(long arg)
{
	struct pfnl *h;
	int err;

	if (seteuid(USER))
		return errno;
	err = pfnl_open(&h);
	if (seteuid(0))
		return errno;
	if (err)
		return -err;
	err = ask_set(h, arg);
	pfnl_close(h);
	return -err;
}

static struct pfnl *roots;

static int open_as_root(long arg)
{
	(void)arg;
	return -pfnl_open(&roots);
}

/* A socket that root opened, in the hands of a user. */
static int set_by_roots_socket(long arg)
{
	return -ask_set(roots, arg);
}

/* --- Tests ---------------------------------------------------------------- */

static struct actor *actor_of(int user, int cpu)
{
	struct actor *a = actor_new(cpu);

	if (user && actor_once(a, ACTOR_SETUID, user))
		die("cannot become user %d", user);
	return a;
}

static void expect_answer(struct check *c, struct actor *a,
			  int (*call)(long arg), long arg, int want,
			  const char *what)
{
	int err = actor_call(a, call, arg);

	expect(c, err == want, "%s: %s (%d) instead of %s", what, strerror(err),
	       err, strerror(want));
}

static void own(struct check *c)
{
	int cpu = domain_cpu(0);
	struct actor *a = actor_of(USER, cpu);
	struct actor *t = actor_thread(a, cpu);
	struct actor *b = actor_of(USER, cpu);

	expect_answer(c, a, call_set, a->pid, 0, "own process");
	expect_answer(c, a, call_set_thread, t->tid, 0, "own thread");
	expect_answer(c, a, call_set, b->pid, 0, "own other process");
	expect(c, get_pid(a->pid).uid == USER, "set by %u",
	       get_pid(a->pid).uid);
	actor_spin(t);
	expect(c, reg_of(t) == (L1_IP | L2_STREAM), "register is 0x%llx",
	       (unsigned long long)reg_of(t));
}

static void others(struct check *c)
{
	struct actor *a = actor_of(USER, domain_cpu(0));
	struct actor *b = actor_of(OTHER, domain_cpu(0));
	struct actor *r = actor_of(0, domain_cpu(0));

	expect_answer(c, a, call_set, b->pid, EPERM, "another user's process");
	expect_answer(c, a, call_set_thread, b->tid, EPERM,
		      "another user's thread");
	expect_answer(c, a, call_set, r->pid, EPERM, "root's process");
	expect_answer(c, a, call_set, 1, EPERM, "pid 1");
	expect_answer(c, a, call_get, r->pid, 0, "reading root's setting");
	expect_answer(c, r, call_set, b->pid, 0, "root on a user's process");
	expect(c, request_settings() == 1, "%ld settings, not 1",
	       request_settings());
}

static void machine(struct check *c)
{
	struct actor *a = actor_of(USER, domain_cpu(0));
	struct actor *r = actor_of(0, domain_cpu(0));

	expect_answer(c, a, call_default, 0, EPERM, "machine default");
	expect_answer(c, a, call_verify, 0, EPERM, "verify");
	expect_answer(c, a, call_repair, 0, EPERM, "repair");
	expect_answer(c, a, call_who_runs, 0, 0, "who runs where");
	expect_answer(c, r, call_verify, 0, 0, "verify by root");
	expect_answer(c, r, call_repair, 0, 0, "repair by root");
	expect_answer(c, r, call_who_runs, 0, EEXIST,
		      "who runs where, by root");
	expect(c, info().default_off == 0, "the default was changed");
}

static void listeners(struct check *c)
{
	struct actor *a = actor_of(USER, domain_cpu(0));
	struct actor *r = actor_of(0, domain_cpu(0));

	expect_answer(c, a, call_subscribe, PFNL_GROUP_CORE, EPERM,
		      "group core");
	expect_answer(c, a, call_subscribe, PFNL_GROUP_SETTING, EPERM,
		      "group setting");
	expect_answer(c, r, call_subscribe, PFNL_GROUP_CORE, 0, "core by root");
	expect_answer(c, r, call_subscribe, PFNL_GROUP_SETTING, 0,
		      "setting by root");
}

static void sockets(struct check *c)
{
	struct actor *victim = actor_of(OTHER, domain_cpu(0));
	struct actor *r = actor_of(0, domain_cpu(0));
	struct actor *a = actor_new(domain_cpu(0));

	expect_answer(c, r, set_by_users_socket, victim->pid, EPERM,
		      "a user's socket in root's hands");
	expect_answer(c, a, open_as_root, 0, 0, "opening");
	expect_answer(c, a, set_by_roots_socket, victim->pid, 0,
		      "root's own socket");
	expect(c, !clear_pid(victim->pid), "clear failed");
	if (actor_once(a, ACTOR_SETUID, USER))
		die("cannot become user %d", USER);
	expect_answer(c, a, set_by_roots_socket, victim->pid, EPERM,
		      "root's socket in a user's hands");
	expect(c, request_settings() == 0, "it left a setting");
}

static void expect_refused(struct check *c,
			   const struct pfnl_setting_request *r, int want,
			   const char *word, const char *what)
{
	int err = set_any(handle(), r, NULL);
	const char *text = pfnl_errmsg(handle());

	expect(c, err == -want, "%s: %d instead of %d", what, err, -want);
	expect(c, strstr(text, word) != NULL, "%s: no '%s' in '%s'", what, word,
	       text);
}

static void refusals(struct check *c)
{
	struct actor *a = actor_new(domain_cpu(0));
	struct pfnl_setting_request r = PFNL_SETTING_REQUEST_INIT;
	struct pfnl_setting_request good;

	r.pid = a->pid;
	r.off = L1_IP;
	good = r;
	r.start_time = get_pid(a->pid).start_time + 1;
	expect_refused(c, &r, ESRCH, "", "wrong start time");
	r.start_time--;
	expect(c, !set_any(handle(), &r, NULL), "right start time: '%s'",
	       pfnl_errmsg(handle()));
	expect(c, !clear_pid(a->pid), "clear failed");
	r = good;
	r.pid = 4194303;
	expect_refused(c, &r, ESRCH, "", "no such process");
	r = good;
	r.off |= PREFETCH_MASK_AMP;
	expect_refused(c, &r, EOPNOTSUPP, "amp", "what this CPU lacks");
	r = good;
	r.on = r.off;
	expect_refused(c, &r, EINVAL, "", "on and off");
	r = good;
	r.tid = a->tid;
	expect_refused(c, &r, EINVAL, "", "pid and tid");
	r = good;
	r.pid = 0;
	expect_refused(c, &r, EINVAL, "", "no target");
	expect(c, request_settings() == 0, "it left a setting");
}

static void unprivileged_off(struct check *c)
{
	struct actor *a;

	expect(c, !module_unload(), "cannot unload");
	expect(c, !module_load("unprivileged=0"), "cannot load");
	a = actor_of(USER, domain_cpu(0));
	expect(c, !info().unprivileged, "info says that users may set");
	expect_answer(c, a, call_set, a->pid, EPERM, "own process");
	expect(c, !set_pid(a->pid, L1_IP, 0), "root may not");
	actors_end();
	expect(c, !module_unload(), "cannot unload");
	expect(c, !module_load(""), "cannot load");
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "rights_own", own },
		{ "rights_others", others },
		{ "rights_machine", machine },
		{ "rights_listeners", listeners },
		{ "rights_sockets", sockets },
		{ "rights_refusals", refusals },
		{ "rights_unprivileged_off", unprivileged_off },
	};

	return harness_main(argc, argv, tests, ARRAY_SIZE(tests));
}
