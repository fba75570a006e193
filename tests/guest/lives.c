// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a setting survives and what not: exec, fork, new threads.
 */
#include "actor.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness.h"
#include "request.h"

#define USER	  1000
#define SUID_COPY "/tmp/actor-suid"

static int cpu(void)
{
	return domain_cpu(0);
}

/* Lets the actor run, and go back to sleep. */
static void expect_mask(struct check *c, struct actor *a, uint32_t want,
			const char *what)
{
	uint64_t is;

	actor_spin(a);
	is = reg_of(a);
	expect(c, is == want, "%s: register is 0x%llx, not 0x%x", what,
	       (unsigned long long)is, want);
	actor_sleep(a);
}

static void expect_setting(struct check *c, const struct pfnl_setting *s,
			   uint32_t off, bool inherit, const char *what)
{
	expect(c, s->present, "%s: no setting", what);
	expect(c, s->off == off && !s->on, "%s: off=0x%x on=0x%x, not off=0x%x",
	       what, s->off, s->on, off);
	expect(c, s->inherit == inherit, "%s: inherit is %d", what, s->inherit);
}

static void expect_none(struct check *c, const struct pfnl_setting *s,
			const char *what)
{
	expect(c, !s->present, "%s: has a setting, off=0x%x on=0x%x", what,
	       s->off, s->on);
	expect(c, !s->wish_off && !s->wish_on, "%s: wishes off=0x%x on=0x%x",
	       what, s->wish_off, s->wish_on);
}

static void expect_pid(struct check *c, pid_t pid, uint32_t off, bool inherit,
		       const char *what)
{
	struct pfnl_setting s = get_pid(pid);

	expect_setting(c, &s, off, inherit, what);
}

static void expect_tid(struct check *c, pid_t tid, uint32_t off,
		       const char *what)
{
	struct pfnl_setting s = get_tid(tid);

	expect_setting(c, &s, off, false, what);
	expect(c, s.scope == PREFETCH_SCOPE_THREAD, "%s: scope %u", what,
	       s.scope);
}

static const char *self(void)
{
	static char path[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (len < 0)
		die("cannot read /proc/self/exe: %s", strerror(errno));
	path[len] = '\0';
	return path;
}

/* Runs under both its settings, before and after. */
static void exec_leader(struct check *c)
{
	struct actor *a = actor_new(cpu());

	expect(c, !set_pid(a->pid, 0x3, 0), "set pid failed");
	expect(c, !set_tid(a->tid, 0x4, 0), "set tid failed");
	expect_mask(c, a, 0x7, "before exec");
	expect(c, !actor_exec(a, self()), "exec failed");
	expect_pid(c, a->pid, 0x3, false, "process after exec");
	expect_tid(c, a->tid, 0x4, "thread after exec");
	expect_mask(c, a, 0x7, "after exec");
}

static void exec_thread(struct check *c)
{
	struct actor *leader = actor_new(cpu());
	struct actor *other = actor_thread(leader, cpu());
	struct actor *t = actor_thread(leader, cpu());
	pid_t pid = leader->pid;

	expect(c, !set_pid(pid, 0x1, 0), "set pid failed");
	expect(c, !set_tid(pid, 0x2, 0), "set leader failed");
	expect(c, !set_tid(other->tid, 0x4, 0), "set bystander failed");
	expect(c, !set_tid(t->tid, 0x8, 0), "set thread failed");
	expect(c, request_settings() == 4, "%ld settings, not 4",
	       request_settings());
	expect_mask(c, leader, 0x3, "leader before exec");
	expect(c, !actor_exec(t, self()), "exec failed");
	expect(c, t->tid == pid, "thread %d is not the leader, %d", t->tid,
	       pid);
	expect_pid(c, pid, 0x1, false, "process after exec");
	expect_tid(c, pid, 0x8, "the thread that did it");
	expect(c, request_settings() == 2, "%ld settings, not 2",
	       request_settings());
	expect_mask(c, t, 0x9, "after exec");
	leader->pid = other->pid = 0;
}

static void copy_self(const char *to)
{
	int in = open(self(), O_RDONLY | O_CLOEXEC);
	int out;
	struct stat st;

	unlink(to);
	out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
	if (in < 0 || out < 0 || fstat(in, &st) ||
	    sendfile(out, in, NULL, st.st_size) != st.st_size ||
	    fchmod(out, 04755))
		die("cannot copy %s to %s: %s", self(), to, strerror(errno));
	close(in);
	close(out);
}

/* The effective user is the second number behind "Uid:". */
static long effective_user(pid_t pid)
{
	char path[64], line[200];
	long real, effective = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "Uid: %ld %ld", &real, &effective) == 2)
			break;
	if (f)
		fclose(f);
	return effective;
}

static void exec_setuid(struct check *c)
{
	struct actor *a = actor_new(cpu());

	copy_self(SUID_COPY);
	expect(c, !set_pid(a->pid, 0x1, 0), "set pid failed");
	expect(c, !set_tid(a->tid, 0x4, 0), "set tid failed");
	expect(c, !actor_once(a, ACTOR_SETUID, USER), "cannot become a user");
	expect(c, effective_user(a->pid) == USER, "it is user %ld",
	       effective_user(a->pid));
	expect(c, !actor_exec(a, SUID_COPY), "exec failed");
	expect(c, effective_user(a->pid) == 0, "no set-user-id exec: user %ld",
	       effective_user(a->pid));
	expect_pid(c, a->pid, 0x1, false, "process after exec");
	expect_tid(c, a->tid, 0x4, "thread after exec");
	expect_mask(c, a, 0x5, "after exec");
	unlink(SUID_COPY);
}

static void fork_drops(struct check *c)
{
	struct actor *parent = actor_new(cpu());
	struct actor *child;
	struct pfnl_setting s;

	expect(c, !set_pid(parent->pid, 0x6, 0), "set pid failed");
	expect(c, !set_tid(parent->tid, 0x1, 0), "set tid failed");
	child = actor_fork(parent, cpu());
	s = get_pid(child->pid);
	expect_none(c, &s, "process of the child");
	s = get_tid(child->pid);
	expect_none(c, &s, "thread of the child");
	expect(c, request_settings() == 2, "%ld settings, not 2",
	       request_settings());
	expect_mask(c, parent, 0x7, "parent");
	expect_mask(c, child, 0, "child");
}

static void inherit(struct check *c)
{
	struct actor *gen[4];
	struct actor *late;
	struct pfnl_setting s;

	gen[0] = actor_new(cpu());
	expect(c, !set_pid_inherit(gen[0]->pid, 0x5, 0), "set failed");
	for (int i = 1; i <= 3; i++)
		gen[i] = actor_fork(gen[i - 1], cpu());
	for (int i = 0; i <= 3; i++)
		expect_pid(c, gen[i]->pid, 0x5, true, "generation");
	expect(c, request_settings() == 4, "%ld settings, not 4",
	       request_settings());
	expect(c, get_pid(gen[3]->pid).id != get_pid(gen[0]->pid).id,
	       "parent and child share an id");
	expect_mask(c, gen[3], 0x5, "third generation");

	/* Each has its own by now: what one gets does not reach the others. */
	expect(c, !set_pid(gen[1]->pid, 0x8, 0), "change failed");
	expect(c, !clear_pid(gen[2]->pid), "clear failed");
	expect_pid(c, gen[0]->pid, 0x5, true, "parent of the changed one");
	expect_pid(c, gen[3]->pid, 0x5, true, "child of the cleared one");
	late = actor_fork(gen[1], cpu());
	s = get_pid(late->pid);
	expect_none(c, &s, "child of one without inherit");
	late = actor_fork(gen[2], cpu());
	s = get_pid(late->pid);
	expect_none(c, &s, "child of one that was cleared");
	actor_kill(gen[0]);
	expect_pid(c, gen[3]->pid, 0x5, true, "descendant of a dead one");
}

static void inherit_exec(struct check *c)
{
	struct actor *a = actor_new(cpu());
	struct actor *t, *child;

	expect(c, !set_pid_inherit(a->pid, 0xa, 0), "set failed");
	expect(c, !actor_exec(a, self()), "exec failed");
	expect_pid(c, a->pid, 0xa, true, "after exec");
	/* It is the process that has it, whichever thread forks. */
	t = actor_thread(a, cpu());
	child = actor_fork(t, cpu());
	expect_pid(c, child->pid, 0xa, true, "child of a thread after exec");
	expect_mask(c, child, 0xa, "child after exec");
}

static void new_threads(struct check *c)
{
	struct actor *a = actor_new(cpu());
	struct actor *old = actor_thread(a, cpu());
	struct actor *new;
	struct pfnl_setting s;

	expect(c, !set_pid(a->pid, 0x3, 0x4), "set failed");
	new = actor_thread(a, cpu());
	s = get_tid(new->tid);
	expect(c, !s.present, "the new thread has a setting of its own");
	expect(c, s.wish_off == 0x3, "it wishes off=0x%x", s.wish_off);
	expect(c, s.pid == (uint32_t)a->pid, "its process is %u", s.pid);
	expect_mask(c, new, 0x3, "new thread");
	expect_mask(c, old, 0x3, "old thread");
	expect(c, request_settings() == 1, "%ld settings, not 1",
	       request_settings());
}

/* Per prefetcher: the thread's opinion, else the process's, else default. */
static void thread_over_process(struct check *c)
{
	struct actor *a = actor_new(cpu());
	struct actor *t = actor_thread(a, cpu());

	actor_spin(t);
	for (uint32_t bit = 1; bit <= ALL_FOUR; bit <<= 1) {
		/* Another prefetcher that only the process speaks of. */
		uint32_t rest = bit == 8 ? 1 : bit << 1;

		for (int i = 0; i < 9; i++) {
			int p = i / 3, th = i % 3;
			uint32_t want = th ? th == 1 : p == 1;
			uint64_t is;
			struct pfnl_setting s;

			expect(c,
			       !set_pid(a->pid, (p == 1 ? bit : 0) | rest,
					p == 2 ? bit : 0),
			       "set pid failed");
			expect(c,
			       !set_tid(t->tid, th == 1 ? bit : 0,
					th == 2 ? bit : 0),
			       "set tid failed");
			want = (want ? bit : 0) | rest;
			is = reg_of(t);
			expect(c, is == want,
			       "0x%x: process %d, thread %d: register is "
			       "0x%llx, not 0x%x",
			       bit, p, th, (unsigned long long)is, want);
			s = get_tid(t->tid);
			expect(c, s.wish_off == want,
			       "0x%x: process %d, thread %d: wishes 0x%x, not "
			       "0x%x",
			       bit, p, th, s.wish_off, want);
		}
		expect(c, !clear_tid(t->tid), "clear failed");
	}
}

static void inherit_tid_refused(struct check *c)
{
	struct actor *a = actor_new(cpu());
	struct pfnl_setting_request r = PFNL_SETTING_REQUEST_INIT;
	int err;

	r.tid = a->tid;
	r.off = 0x1;
	r.inherit = 1;
	err = set_any(handle(), &r, NULL);
	expect(c, err == -EINVAL, "answer is %d, not EINVAL", err);
	expect(c, strstr(pfnl_errmsg(handle()), "inherit") != NULL,
	       "the text does not say inherit: '%s'", pfnl_errmsg(handle()));
	expect(c, request_settings() == 0, "it left a setting");
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "exec_leader", exec_leader },
		{ "exec_thread", exec_thread },
		{ "exec_setuid", exec_setuid },
		{ "fork_drops", fork_drops },
		{ "inherit_generations", inherit },
		{ "inherit_exec", inherit_exec },
		{ "new_threads", new_threads },
		{ "thread_over_process", thread_over_process },
		{ "inherit_tid_refused", inherit_tid_refused },
	};

	return harness_main(argc, argv, tests, ARRAY_SIZE(tests));
}
