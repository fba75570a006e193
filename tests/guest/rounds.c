// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Requests against fork, thread creation, exec and exit, on CPUs that really
 * run in parallel: one CPU makes nothing but events, two make nothing but
 * requests for those that are coming, there, and going. A round is a request.
 *
 * Each asker has two prefetchers of its own, so that it knows what the setting
 * must say of them: a request that got lost, or undid another, is noticed.
 */
#include "actor.h"
#include "board.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"
#include "request.h"

#define ROUNDS	 200000
#define READ_ALL 64 /* so many requests, and then one that only reads */
#define AGAIN	 "/usr/bin/again"

/* A moment's settings: those of who makes events, and of what was just made. */
#define SETTINGS_MOST 16

static struct board *board;
static int board_fd;

static int stopped(void)
{
	return __atomic_load_n(&board->stop, __ATOMIC_ACQUIRE);
}

/* Makers of events. Each runs until it is stopped, and then stays busy. */

static void announce(int id)
{
	__atomic_store_n(&board->newest, id, __ATOMIC_RELEASE);
	__atomic_add_fetch(&board->events, 1, __ATOMIC_RELEASE);
}

static unsigned long asked(void)
{
	unsigned long sum = 0;

	for (int i = 0; i < ASKERS; i++)
		sum += __atomic_load_n(&board->asker[i].requests,
				       __ATOMIC_RELAXED);
	return sum;
}

/* Long enough for a request to be on its way to us. */
static void linger(void)
{
	unsigned long before = asked();

	for (int i = 0; i < 20000 && asked() - before < 2; i++)
		__builtin_ia32_pause();
}

static int child_at_once(void *arg)
{
	(void)arg;
	syscall(SYS_exit_group, 0);
	return 0;
}

static int child_lingers(void *arg)
{
	(void)arg;
	announce((int)syscall(SYS_getpid));
	linger();
	syscall(SYS_exit_group, 0);
	return 0;
}

static int thread(void *arg)
{
	(void)arg;
	announce((int)syscall(SYS_gettid));
	return 0;
}

static char stack[32768] __attribute__((aligned(16)));

static void beget(int (*child)(void *arg))
{
	pid_t pid =
		clone(child, stack + sizeof(stack), CLONE_VM | SIGCHLD, NULL);

	if (pid < 0)
		_exit(1);
	if (child == child_at_once)
		announce(pid);
	while (waitpid(pid, NULL, 0) < 0)
		if (errno != EINTR)
			_exit(1);
}

static void make_forks(void)
{
	beget(child_at_once);
}

static void make_exits(void)
{
	beget(child_lingers);
}

static void make_threads(void)
{
	static pid_t alive;
	const int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND |
			  CLONE_THREAD | CLONE_SYSVSEM | CLONE_PARENT_SETTID |
			  CLONE_CHILD_CLEARTID;

	if (clone(thread, stack + sizeof(stack), flags, NULL, &alive, NULL,
		  &alive) < 0)
		_exit(1);
	/* Its stack is free once the kernel has cleared this. */
	while (__atomic_load_n(&alive, __ATOMIC_ACQUIRE))
		__builtin_ia32_pause();
}

static void make_execs(void)
{
	char fd[16];
	char *argv[] = { (char *)AGAIN, fd, NULL };

	snprintf(fd, sizeof(fd), "%d", board_fd);
	execv(AGAIN, argv);
	_exit(1);
}

static pid_t start_maker(void (*make)(void))
{
	pid_t pid = fork();

	if (pid < 0)
		die("cannot fork: %s", strerror(errno));
	if (pid)
		return pid;
	pin(0, 0);
	while (!stopped())
		make();
	for (;;)
		__builtin_ia32_pause();
}

/* Askers. */

struct job {
	struct pfnl *h;
	struct asker *me;
	uint32_t mine;
	pid_t maker;
	bool threads; /* what is made are threads of the maker */
};

static void wrong(struct job *j, int error)
{
	if (!j->me->wrong++)
		j->me->error = error;
}

/* The one that lives through it: nothing may fail, nothing get lost. */
static void ask_maker(struct job *j, unsigned long i)
{
	struct pfnl_setting_request r = PFNL_SETTING_REQUEST_INIT;
	struct pfnl_setting s;
	int err;

	r.pid = j->maker;
	r.off = i / 4 % 4 ? j->mine & (i / 4 % 2 ? 0x5 : 0xa) : 0;
	r.clear = j->mine & ~r.off;
	/* Without an opinion there is nothing to inherit. */
	if (r.off)
		r.inherit = i / 8 % 2;
	err = pfnl_setting_set(j->h, &r, &s);
	if (err || (s.present && (s.off & j->mine) != r.off) ||
	    (!s.present && r.off))
		wrong(j, err);
	if (i % READ_ALL)
		return;
	err = pfnl_setting_get(j->h, j->maker, 0, &s);
	if (err || (s.off & j->mine) != r.off)
		wrong(j, err);
}

/* One that may not yet be there, or be gone at any moment. */
static void ask_made(struct job *j, unsigned long i)
{
	struct pfnl_setting_request r = PFNL_SETTING_REQUEST_INIT;
	int id = __atomic_load_n(&board->newest, __ATOMIC_ACQUIRE);
	int err;

	if (!id)
		return;
	/* The next one, while it is being made. */
	if (i % 4 == 1)
		id++;
	if (j->threads || i % 8 >= 4)
		r.tid = id;
	else
		r.pid = id;
	if (i % 16 >= 12)
		r.clear = ALL_FOUR;
	else
		r.off = j->mine;
	err = pfnl_setting_set(j->h, &r, NULL);
	if (err == -ESRCH)
		j->me->too_late++;
	else if (err)
		wrong(j, err);
}

static void ask_all(struct job *j, unsigned long rounds)
{
	struct pfnl_setting_request r = PFNL_SETTING_REQUEST_INIT;

	for (unsigned long i = 0; i < rounds; i++) {
		if (i % 4 == 0)
			ask_maker(j, i);
		else
			ask_made(j, i);
		__atomic_store_n(&j->me->requests, i + 1, __ATOMIC_RELAXED);
	}
	r.pid = j->maker;
	r.clear = j->mine;
	if (pfnl_setting_set(j->h, &r, NULL))
		wrong(j, 1);
}

static pid_t start_asker(int n, pid_t maker, bool threads, unsigned long rounds)
{
	struct job j = {
		.me = &board->asker[n],
		.mine = n ? 0xc : 0x3,
		.maker = maker,
		.threads = threads,
	};
	pid_t pid = fork();

	if (pid < 0)
		die("cannot fork: %s", strerror(errno));
	if (pid)
		return pid;
	pin(0, 1 + n);
	if (pfnl_open(&j.h))
		_exit(1);
	ask_all(&j, rounds);
	pfnl_close(j.h);
	_exit(0);
}

/* The test itself. */

static int keep_clean(const struct pfnl_setting *s, void *arg)
{
	struct check *c = arg;

	/* A thread that the kernel made for itself had the pid that was due. */
	expect(c, task_state((pid_t)(s->tid ? s->tid : s->pid)) == 'I',
	       "left over: pid %u, tid %u (%s)", s->pid, s->tid, s->comm);
	expect(c,
	       !(s->tid ? clear_tid((pid_t)s->tid) : clear_pid((pid_t)s->pid)),
	       "it cannot be cleared");
	return 0;
}

/* Until the askers are done; meanwhile there may not be too many settings. */
static void look_on(struct check *c, pid_t *askers)
{
	long most = 0;

	for (int n = 0; n < ASKERS; n++) {
		int status = -1;

		while (waitpid(askers[n], &status, WNOHANG) != askers[n]) {
			long now = request_settings();

			most = now > most ? now : most;
			nap();
		}
		expect(c, !status, "asker %d ended with 0x%x", n, status);
	}
	expect(c, most > 0 && most <= SETTINGS_MOST, "%ld settings at a time",
	       most);
}

static void expect_askers(struct check *c, unsigned long rounds)
{
	unsigned long late = 0;

	for (int n = 0; n < ASKERS; n++) {
		const struct asker *a = &board->asker[n];

		expect(c, a->requests == rounds, "asker %d: %lu requests", n,
		       a->requests);
		expect(c, !a->wrong, "asker %d: %lu wrong answers, first %d", n,
		       a->wrong, a->error);
		late += a->too_late;
	}
	printf("figure %s rounds=%lu events=%lu too_late=%lu\n", c->name,
	       asked(), board->events, late);
}

static void race(struct check *c, void (*make)(void), bool threads)
{
	unsigned long rounds = rounds_of(ROUNDS) / ASKERS;
	uint64_t dropped = info().dropped_inherits;
	pid_t maker, askers[ASKERS];
	unsigned long made;

	board_fd = memfd_create("board", 0);
	if (board_fd < 0 || ftruncate(board_fd, sizeof(*board)))
		die("no memory: %s", strerror(errno));
	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED,
		     board_fd, 0);
	if (board == MAP_FAILED)
		die("no memory: %s", strerror(errno));

	maker = start_maker(make);
	if (!wait_for(__atomic_load_n(&board->events, __ATOMIC_ACQUIRE)))
		die("nothing happens");
	for (int n = 0; n < ASKERS; n++)
		askers[n] = start_asker(n, maker, threads, rounds);
	look_on(c, askers);
	made = board->events;
	expect(c, made > 1, "nothing happened meanwhile");
	__atomic_store_n(&board->stop, 1, __ATOMIC_RELEASE);
	expect_askers(c, rounds);
	/* The last one may be on its way out. */
	wait_for(task_state(maker) == 'R' && request_settings() == 0);
	expect(c, !pfnl_setting_list(handle(), 0, 0, NULL, keep_clean, c),
	       "cannot list");
	expect(c, info().dropped_inherits == dropped, "%llu were not inherited",
	       (unsigned long long)(info().dropped_inherits - dropped));
	/* And all still works, for those that were in the midst of it. */
	expect(c, !set_pid(maker, ALL_FOUR, 0), "set failed");
	expect(c, wait_for(reg(0) == ALL_FOUR), "the register shows 0x%llx",
	       (unsigned long long)reg(0));
	kill(maker, SIGKILL);
	if (waitpid(maker, NULL, 0) != maker)
		die("cannot reap the maker: %s", strerror(errno));
	expect(c, wait_for(reg(0) == options.baseline),
	       "left in the register: 0x%llx", (unsigned long long)reg(0));
	munmap(board, sizeof(*board));
	close(board_fd);
}

static void forks(struct check *c)
{
	race(c, make_forks, false);
}

static void threads(struct check *c)
{
	race(c, make_threads, true);
}

static void execs(struct check *c)
{
	race(c, make_execs, false);
}

static void exits(struct check *c)
{
	race(c, make_exits, false);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "rounds_fork", forks },
		{ "rounds_thread", threads },
		{ "rounds_exec", execs },
		{ "rounds_exit", exits },
	};

	return harness_main(argc, argv, tests, ARRAY_SIZE(tests));
}
