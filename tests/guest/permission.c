// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Who may do what to whom: every caller with every operation on every target.
 * The callers are real users, with real capabilities, in real user, pid and
 * network namespaces.
 */
#include "actor.h"

#include <errno.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "caller.h"
#include "harness.h"
#include "request.h"

#define USER	  1000
#define OTHER	  1001
#define HELPER	  1002 /* with one capability */
#define INNER	  1003 /* user 1 of the container */

#define SUID_COPY "/tmp/permission-suid"
#define NO_SUCH	  4194303

#define NO_ARG	  __attribute__((unused)) long arg

enum caller {
	C_ROOT,
	C_USER,
	C_OTHER,
	C_NICE,	  /* CAP_SYS_NICE alone, in the initial user namespace */
	C_ADMIN,  /* CAP_SYS_ADMIN alone, likewise */
	C_NSROOT, /* the user with all capabilities in a namespace of its own */
	C_CROOT,  /* root of a container: user, pid and network namespace */
	C_CUSER,  /* another user of the container */
	C_NETROOT,  /* root in another network namespace */
	C_DEPUTY,   /* root, that was given a socket which the user opened */
	C_BORROWER, /* the user, with a socket that root opened */
	N_CALLERS,
};

/* clang-format off */
enum target {
	T_SELF, T_USER, T_OTHER, T_ROOT,
	T_SUID, /* the user's, after exec of a set-user-id program of root's */
	T_INIT, /* number 1 of the caller's pid namespace */
	T_KERNEL, T_CROOT, T_CUSER, T_NONE, N_TARGETS,
};
/* clang-format on */

/* Answers: 0 done; P EPERM; S ESRCH; y and n yes and no; - no such cell. */
struct row {
	const char *caller;
	const char *change;	/* by target, in the order of enum target */
	const char *change_off; /* the same with unprivileged=0 */
	const char *read;
	const char *machine; /* by operation, in the order of machine_ops */
};

/* clang-format off */
static const struct row rows[N_CALLERS] = {
	/*                             suUO R s i K C c x */
	[C_ROOT] =     { "root",      "000000000S", "000000000S", "000000000S",
			 "0000y00y" },
	[C_USER] =     { "user",      "00PP0PP00S", "PPPPPPPPPS", "000000000S",
			 "PPPPnPPy" },
	[C_OTHER] =    { "other",     "0P0PPPPPPS", "PPPPPPPPPS", "000000000S",
			 "PPPPnPPy" },
	[C_NICE] =     { "nice",      "000000000S", "000000000S", "000000000S",
			 "PPPPnPPy" },
	[C_ADMIN] =    { "admin",     "0PPPPPPPPS", "PPPPPPPPPS", "000000000S",
			 "0000y00y" },
	[C_NSROOT] =   { "nsroot",    "00PP0PP0PS", "PPPPPPPPPS", "000000000S",
			 "PPPPnPPy" },
	[C_CROOT] =    { "croot",     "0SSSS0-00S", "PSSSSP-PPS", "0SSSS0-00S",
			 "PPPPn00n" },
	[C_CUSER] =    { "cuser",     "0SSSSP-P0S", "PSSSSP-PPS", "0SSSS0-00S",
			 "PPPPnPPn" },
	[C_NETROOT] =  { "netroot",   "000000000S", "000000000S", "000000000S",
			 "0000y00n" },
	[C_DEPUTY] =   { "deputy",    "P0PP0PP00S", "PPPPPPPPPS", "000000000S",
			 "PPPPn--y" },
	[C_BORROWER] = { "borrower",  "00PP0PP00S", "PPPPPPPPPS", "000000000S",
			 "PPPPn--y" },
};

static const char *const target_names[N_TARGETS] = {
	"self", "user", "other", "root", "suid", "init", "kernel", "croot", "cuser", "none",
};
/* clang-format on */

/* --- Operations, called by callers; each returns a positive errno or 0 ------
 */

/* The handle that a deputy or borrower has kept. */
static struct pfnl *kept;

static int with_handle(int (*ask)(struct pfnl *h, long arg), long arg)
{
	struct pfnl *h = kept;
	int err = h ? 0 : pfnl_open(&h);

	if (err)
		return 1000 - err;
	err = ask(h, arg);
	if (!kept)
		pfnl_close(h);
	return -err;
}

static int ask_change(struct pfnl *h, uint32_t pid, uint32_t tid, int inherit)
{
	struct pfnl_setting_request r = PFNL_SETTING_REQUEST_INIT;

	r.pid = pid;
	r.tid = tid;
	r.off = L1_IP;
	r.inherit = inherit;
	return set_any(h, &r, NULL);
}

static int ask_set_pid(struct pfnl *h, long arg)
{
	return ask_change(h, (uint32_t)arg, 0, -1);
}

static int ask_set_tid(struct pfnl *h, long arg)
{
	return ask_change(h, 0, (uint32_t)arg, -1);
}

static int ask_inherit(struct pfnl *h, long arg)
{
	return ask_change(h, (uint32_t)arg, 0, 1);
}

static int ask_clear_pid(struct pfnl *h, long arg)
{
	struct pfnl_setting_request r = PFNL_SETTING_REQUEST_INIT;

	r.pid = (uint32_t)arg;
	r.clear = ALL_FOUR;
	return set_any(h, &r, NULL);
}

static int ask_get_pid(struct pfnl *h, long arg)
{
	struct pfnl_setting s;

	return pfnl_setting_get(h, (pid_t)arg, 0, &s);
}

static int ask_get_tid(struct pfnl *h, long arg)
{
	struct pfnl_setting s;

	return pfnl_setting_get(h, 0, (pid_t)arg, &s);
}

static int ask_default(struct pfnl *h, NO_ARG)
{
	return set_default_any(h, 0, 0);
}

static int ask_verify(struct pfnl *h, NO_ARG)
{
	struct pfnl_core core = { 0 };
	int err = pfnl_core_get(h, 0, true, &core);

	pfnl_core_clear(&core);
	return err;
}

static int ignore_core(const struct pfnl_core *core, void *arg)
{
	(void)core;
	(void)arg;
	return 0;
}

static int ask_verify_all(struct pfnl *h, NO_ARG)
{
	return pfnl_core_list(h, true, NULL, ignore_core, NULL);
}

static int ask_repair(struct pfnl *h, NO_ARG)
{
	return pfnl_core_repair(h, 0, NULL, NULL);
}

/* -EEXIST: a task on a core is told. */
static int find_running(const struct pfnl_core *core, void *arg)
{
	(void)arg;
	for (size_t i = 0; i < core->n_cpus; i++)
		if (core->cpus[i].has_task)
			return -EEXIST;
	return 0;
}

static int ask_running(struct pfnl *h, NO_ARG)
{
	return pfnl_core_list(h, false, NULL, find_running, NULL);
}

static int ask_group(struct pfnl *h, long arg)
{
	return pfnl_subscribe(h, (unsigned int)arg, 0);
}

static int ask_events_here(struct pfnl *h, NO_ARG)
{
	struct pfnl_info i;
	int err = pfnl_info(h, &i);

	return err ? err : i.events_here ? -EEXIST : 0;
}

#define CALL(name)                                   \
	static int call_##name(long arg)             \
	{                                            \
		return with_handle(ask_##name, arg); \
	}

CALL(set_pid)
CALL(set_tid)
CALL(inherit)
CALL(clear_pid)
CALL(get_pid)
CALL(get_tid)
CALL(default)
CALL(verify)
CALL(verify_all)
CALL(repair)
CALL(running)
CALL(group)
CALL(events_here)

struct op {
	const char *name;
	int (*call)(long arg);
	bool changes;
	bool clears;
	long arg;
};

static const struct op target_ops[] = {
	{ "set pid", call_set_pid, true, false, 0 },
	{ "set tid", call_set_tid, true, false, 0 },
	{ "set inherit", call_inherit, true, false, 0 },
	{ "clear pid", call_clear_pid, true, true, 0 },
	{ "get pid", call_get_pid, false, false, 0 },
	{ "get tid", call_get_tid, false, false, 0 },
};

static const struct op machine_ops[] = {
	{ "default", call_default, true, false, 0 },
	{ "verify", call_verify, true, false, 0 },
	{ "verify all", call_verify_all, true, false, 0 },
	{ "repair", call_repair, true, false, 0 },
	{ "running tasks", call_running, false, false, 0 },
	{ "group core", call_group, false, false, PFNL_GROUP_CORE },
	{ "group setting", call_group, false, false, PFNL_GROUP_SETTING },
	{ "events here", call_events_here, false, false, 0 },
};

/* --- The cast
 * ----------------------------------------------------------------- */

static struct actor *callers[N_CALLERS];
static pid_t targets[N_TARGETS]; /* in the initial pid namespace */

static int keep_open(long uid)
{
	int err;

	if (seteuid((uid_t)uid))
		return errno;
	err = pfnl_open(&kept);
	return seteuid(0) ? errno : -err;
}

/* Becomes another user and keeps one capability. */
static int keep_one(long cap)
{
	return keep_capability(HELPER, (int)cap);
}

static int leave(long flags)
{
	return unshare((int)flags) ? errno : 0;
}

static int become(long uid)
{
	if (setgid((gid_t)uid) || setuid((uid_t)uid))
		return errno;
	prctl(PR_SET_DUMPABLE, 1);
	return 0;
}

static void once(struct actor *a, int (*call)(long arg), long arg)
{
	if (actor_call(a, call, arg))
		die("an actor cannot prepare itself: %s", strerror(a->result));
}

static void map_users(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/uid_map", pid);
	write_text(path, "0 1000 1\n1 1003 1\n");
	snprintf(path, sizeof(path), "/proc/%d/gid_map", pid);
	write_text(path, "0 1000 1\n1 1003 1\n");
}

static struct actor *of_user(long uid)
{
	struct actor *a = actor_new(home_cpu());

	if (uid)
		once(a, become, uid);
	return a;
}

static struct actor *set_user_id(void)
{
	struct actor *a = of_user(USER);
	char self[256];
	char command[600];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (len < 0)
		die("cannot find myself: %s", strerror(errno));
	self[len] = '\0';
	snprintf(command, sizeof(command), "cp %s %s", self, SUID_COPY);
	if (system(command) || chmod(SUID_COPY, 04755))
		die("cannot copy %s to %s", self, SUID_COPY);
	if (actor_exec(a, SUID_COPY) || task_status(a->pid, "Uid:") != USER)
		die("no set-user-id program");
	unlink(SUID_COPY);
	return a;
}

static void make_container(void)
{
	struct actor *outside = of_user(USER);

	once(outside, leave, CLONE_NEWUSER);
	map_users(outside->pid);
	once(outside, leave, CLONE_NEWPID | CLONE_NEWNET);
	callers[C_CROOT] = actor_fork(outside, home_cpu());
	/* Number 2 is another process of the user who is root in there. */
	callers[C_CUSER] = actor_fork(callers[C_CROOT], home_cpu());
	once(callers[C_CUSER], become, 1);
	targets[T_CROOT] = callers[C_CROOT]->pid;
	targets[T_CUSER] = actor_fork(callers[C_CUSER], home_cpu())->pid;
}

static void make_cast(void)
{
	callers[C_ROOT] = of_user(0);
	callers[C_USER] = of_user(USER);
	callers[C_OTHER] = of_user(OTHER);
	callers[C_NICE] = of_user(0);
	once(callers[C_NICE], keep_one, CAP_SYS_NICE);
	callers[C_ADMIN] = of_user(0);
	once(callers[C_ADMIN], keep_one, CAP_SYS_ADMIN);
	callers[C_NSROOT] = of_user(USER);
	once(callers[C_NSROOT], leave, CLONE_NEWUSER);
	callers[C_NETROOT] = of_user(0);
	once(callers[C_NETROOT], leave, CLONE_NEWNET);
	callers[C_DEPUTY] = of_user(0);
	once(callers[C_DEPUTY], keep_open, USER);
	callers[C_BORROWER] = of_user(0);
	once(callers[C_BORROWER], keep_open, 0);
	once(callers[C_BORROWER], become, USER);

	targets[T_USER] = of_user(USER)->pid;
	targets[T_OTHER] = of_user(OTHER)->pid;
	targets[T_ROOT] = of_user(0)->pid;
	targets[T_SUID] = set_user_id()->pid;
	targets[T_INIT] = 1;
	targets[T_KERNEL] = 3; /* 2 forks, and they would inherit */
	targets[T_NONE] = NO_SUCH;
	make_container();
}

static bool in_container(enum caller who)
{
	return who == C_CROOT || who == C_CUSER;
}

static pid_t outer_pid(enum caller who, enum target whom)
{
	if (whom == T_SELF)
		return callers[who]->pid;
	if (whom == T_INIT && in_container(who))
		return targets[T_CROOT];
	return targets[whom];
}

/* The number of the process where the caller lives. */
static pid_t number_for(enum caller who, enum target whom)
{
	pid_t pid = outer_pid(who, whom);
	char path[64], line[256];
	pid_t number = pid;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = in_container(who) ? fopen(path, "re") : NULL;
	/* The last of the line; outside of the container, the only one. */
	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "NSpid:", 6))
			number = atoi(strrchr(line, '\t'));
	if (f)
		fclose(f);
	return number;
}

/* --- Tests
 * -------------------------------------------------------------------- */

static unsigned long cells;

static int meant(char answer)
{
	switch (answer) {
	case '0':
	case 'n':
		return 0;
	case 'P':
		return EPERM;
	case 'S':
		return ESRCH;
	case 'y':
		return EEXIST;
	default:
		die("'%c' is no answer", answer);
	}
}

static bool is_set(pid_t pid, bool thread)
{
	if (pid == NO_SUCH)
		return false;
	return (thread ? get_tid(pid) : get_pid(pid)).id != 0;
}

static void one_cell(struct check *c, enum caller who, enum target whom,
		     const struct op *op, char answer)
{
	pid_t pid = outer_pid(who, whom);
	bool thread = op->call == call_set_tid;
	int got;

	if (answer == '-')
		return;
	if (op->clears && pid != NO_SUCH)
		expect(c, !set_pid(pid, L1_IP, 0), "root cannot set %d", pid);
	got = actor_call(callers[who], op->call, number_for(who, whom));
	cells++;
	expect(c, got == meant(answer), "%s: %s of %s: %d instead of %d",
	       rows[who].caller, op->name, target_names[whom], got,
	       meant(answer));
	if (!op->changes || pid == NO_SUCH)
		return;
	expect(c, is_set(pid, thread) == ((answer == '0') != op->clears),
	       "%s: %s of %s: answered well, but done otherwise",
	       rows[who].caller, op->name, target_names[whom]);
	if (is_set(pid, thread))
		expect(c, !(thread ? clear_tid(pid) : clear_pid(pid)),
		       "root cannot clear %d", pid);
}

static void all_targets(struct check *c, bool unprivileged)
{
	cells = 0;
	make_cast();
	for (int who = 0; who < N_CALLERS; who++) {
		const struct row *row = &rows[who];
		const char *change = unprivileged ? row->change
						  : row->change_off;

		for (int whom = 0; whom < N_TARGETS; whom++)
			for (size_t i = 0; i < ARRAY_SIZE(target_ops); i++)
				one_cell(c, who, whom, &target_ops[i],
					 target_ops[i].changes
						 ? change[whom]
						 : row->read[whom]);
	}
	expect(c, request_settings() == 0, "it left settings");
	actors_end();
}

static void target_table(struct check *c)
{
	all_targets(c, true);
	printf("figure permission_targets cells=%lu\n", cells);
}

static void target_table_off(struct check *c)
{
	expect(c, !module_unload(), "cannot unload");
	expect(c, !module_load("unprivileged=0"), "cannot load");
	all_targets(c, false);
	expect(c, !module_unload(), "cannot unload");
	expect(c, !module_load(""), "cannot load");
	printf("figure permission_targets_off cells=%lu\n", cells);
}

static void machine_table(struct check *c)
{
	cells = 0;
	make_cast();
	for (int who = 0; who < N_CALLERS; who++)
		for (size_t i = 0; i < ARRAY_SIZE(machine_ops); i++) {
			const struct op *op = &machine_ops[i];
			char answer = rows[who].machine[i];
			int got;

			if (answer == '-')
				continue;
			got = actor_call(callers[who], op->call, op->arg);
			cells++;
			expect(c, got == meant(answer),
			       "%s: %s: %d instead of %d", rows[who].caller,
			       op->name, got, meant(answer));
		}
	printf("figure permission_machine cells=%lu\n", cells);
}

/* Which settings a container is shown, and under which numbers. */
static int count_strange(const struct pfnl_setting *s, void *arg)
{
	int *seen = arg;

	*seen += s->pid == (uint32_t)getpid() ? 1 : 100;
	return 0;
}

static int list_own(long arg)
{
	struct pfnl *h;
	int seen = 0;
	int err = pfnl_open(&h);

	(void)arg;
	if (err)
		return err;
	err = pfnl_setting_list(h, 0, 0, NULL, count_strange, &seen);
	pfnl_close(h);
	return err ? err : seen;
}

static void container_list(struct check *c)
{
	int seen;

	make_cast();
	expect(c, !set_pid(targets[T_USER], L1_IP, 0), "cannot set");
	expect(c, !set_pid(callers[C_CUSER]->pid, L1_IP, 0), "cannot set");
	seen = actor_call(callers[C_CUSER], list_own, 0);
	expect(c, seen == 1, "in the container: %d, not its own alone", seen);
	expect(c, !set_pid(targets[T_CUSER], L1_IP, 0), "cannot set");
	seen = actor_call(callers[C_CUSER], list_own, 0);
	expect(c, seen == 101, "in the container: %d, not two", seen);
	seen = actor_call(callers[C_USER], list_own, 0);
	expect(c, seen == 300, "outside: %d, not all three", seen);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "permission_targets", target_table },
		{ "permission_targets_off", target_table_off },
		{ "permission_machine", machine_table },
		{ "permission_container_list", container_list },
	};

	return harness_main(argc, argv, tests, ARRAY_SIZE(tests));
}
