// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The test's side of actors: start them, tell them what to do, end them.
 */
#include "actor.h"

#include <errno.h>
#include <linux/futex.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "actor-run.h"

struct actor *actors;
int actors_fd = -1;
static int used;

void actors_map(int fd)
{
	actors_fd = fd;
	actors = mmap(NULL, ACTORS_MAX * sizeof(*actors),
		      PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (actors == MAP_FAILED)
		die("cannot map the actors: %s", strerror(errno));
}

static void actors_init(void)
{
	/* It stays open across exec, for actors that become a new program. */
	int fd = memfd_create("actors", 0);

	if (fd < 0 || ftruncate(fd, ACTORS_MAX * sizeof(*actors)))
		die("no memory for actors: %s", strerror(errno));
	actors_map(fd);
}

static struct actor *new_actor(int cpu)
{
	struct actor *a;

	if (!actors)
		actors_init();
	if (used == ACTORS_MAX)
		die("more than %d actors", ACTORS_MAX);
	a = &actors[used++];
	memset(a, 0, sizeof(*a));
	a->cpu = cpu;
	return a;
}

static unsigned int seen(const struct actor *a)
{
	return __atomic_load_n(&a->seen, __ATOMIC_ACQUIRE);
}

static void wait_seen(struct actor *a)
{
	if (!wait_within(PATIENCE_MS, seen(a) == a->order))
		die("actor %d (mode %d) does not answer", a->tid, a->mode);
}

struct actor *actor_new(int cpu)
{
	struct actor *a = new_actor(cpu);
	pid_t pid;

	a->order = 1;
	fflush(stdout);
	pid = fork();
	if (pid < 0)
		die("cannot fork: %s", strerror(errno));
	if (!pid)
		actor_begin(a);
	wait_seen(a);
	actor_done(a);
	return a;
}

static struct actor *new_child(struct actor *parent, enum actor_mode mode,
			       int cpu)
{
	struct actor *a = new_actor(cpu);
	int err;

	a->order = 1;
	err = actor_once(parent, mode, a - actors);
	if (err)
		die("actor cannot start another: %s", strerror(err));
	wait_seen(a);
	actor_done(a);
	return a;
}

struct actor *actor_thread(struct actor *parent, int cpu)
{
	return new_child(parent, ACTOR_THREAD, cpu);
}

struct actor *actor_fork(struct actor *parent, int cpu)
{
	return new_child(parent, ACTOR_FORK, cpu);
}

static void give_order(struct actor *a, enum actor_mode mode, long arg)
{
	a->mode = mode;
	a->arg = arg;
	__atomic_add_fetch(&a->order, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &a->order, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void actor_mode(struct actor *a, enum actor_mode mode, long arg)
{
	give_order(a, mode, arg);
	wait_seen(a);
}

bool actor_runs(const struct actor *a)
{
	unsigned long before = __atomic_load_n(&a->rounds, __ATOMIC_ACQUIRE);

	return wait_within(PATIENCE_MS,
			   __atomic_load_n(&a->rounds, __ATOMIC_ACQUIRE) !=
				   before);
}

void actor_spin(struct actor *a)
{
	actor_mode(a, ACTOR_SPIN, 0);
	if (!actor_runs(a))
		die("actor %d does not run", a->tid);
}

/*
 * Its counter of switches is raised when it is switched out. So if it runs
 * after the first look at the counter, and the counter is the same at the end,
 * then it had its CPU all the while.
 */
uint64_t reg_of_both(const struct actor *a, const struct actor *b)
{
	unsigned long before;
	uint64_t value;

	do {
		before = task_switches(a->tid) + task_switches(b->tid);
		if (!actor_runs(a) || !actor_runs(b))
			die("actors %d and %d do not run", a->tid, b->tid);
		value = reg(a->cpu);
	} while (task_switches(a->tid) + task_switches(b->tid) != before);
	return value;
}

uint64_t reg_of(const struct actor *a)
{
	return reg_of_both(a, a);
}

unsigned long before_request(const struct actor *a)
{
	unsigned long before = task_switches(a->tid);

	if (!actor_runs(a))
		die("actor %d does not run", a->tid);
	return before;
}

uint64_t at_once(const struct actor *a, unsigned long before, uint32_t want)
{
	uint64_t value = reg(a->cpu);

	if (value != want && task_switches(a->tid) != before)
		return reg_of(a);
	return value;
}

/*
 * Has the actor left its CPU? The kernel raises the counter of sleeps with
 * interrupts off, right before the switch. So when it has been seen raised,
 * whatever asks that CPU to do something in an interrupt, such as reading its
 * register, finds the switch complete.
 */
static bool off_cpu(const struct actor *a)
{
	/* In this order: only one that is done has noted its counter. */
	return __atomic_load_n(&a->mode, __ATOMIC_ACQUIRE) == ACTOR_SLEEP &&
	       task_state(a->tid) == 'S' &&
	       task_sleeps(a->tid) >
		       __atomic_load_n(&a->sleeps, __ATOMIC_ACQUIRE);
}

void actor_done(struct actor *a)
{
	if (!wait_within(PATIENCE_MS, off_cpu(a)))
		die("actor %d is not done with mode %d", a->tid, a->mode);
	/* The next look, also through another CPU, finds it complete. */
	reg(a->cpu);
}

void actor_finish(struct actor *a)
{
	unsigned long before;

	do {
		before = __atomic_load_n(&a->rounds, __ATOMIC_ACQUIRE);
		wait_within(PATIENCE_MS,
			    off_cpu(a) || __atomic_load_n(&a->rounds,
							  __ATOMIC_ACQUIRE) !=
						  before);
	} while (!off_cpu(a) &&
		 __atomic_load_n(&a->rounds, __ATOMIC_ACQUIRE) != before);
	actor_done(a);
}

void actor_sleep(struct actor *a)
{
	actor_mode(a, ACTOR_SLEEP, 0);
	actor_done(a);
}

int actor_once(struct actor *a, enum actor_mode mode, long arg)
{
	give_order(a, mode, arg);
	wait_seen(a);
	actor_done(a);
	return a->result;
}

int actor_call(struct actor *a, int (*call)(long arg), long arg)
{
	a->call = call;
	return actor_once(a, ACTOR_CALL, arg);
}

int actor_exec(struct actor *a, const char *path)
{
	snprintf(a->path, sizeof(a->path), "%s", path);
	return actor_once(a, ACTOR_EXEC, 0);
}

void actor_move(struct actor *a, int cpu)
{
	a->cpu = cpu;
	pin(a->tid, cpu);
}

void actor_exit_thread(struct actor *a)
{
	give_order(a, ACTOR_EXIT, 0);
	if (!wait_within(PATIENCE_MS, !task_state(a->tid)))
		die("thread %d does not end", a->tid);
	a->tid = 0;
}

static void forget(pid_t pid)
{
	for (int i = 0; i < used; i++)
		if (actors[i].pid == pid)
			actors[i].pid = actors[i].tid = 0;
}

void actor_kill(struct actor *a)
{
	pid_t pid = a->pid;

	kill(pid, SIGKILL);
	/* Our own child is ours to reap; others are reaped by themselves. */
	if (waitpid(pid, NULL, 0) < 0 &&
	    !wait_within(PATIENCE_MS, waitpid(pid, NULL, WNOHANG) == pid ||
					      !task_state(pid)))
		die("process %d does not die", pid);
	forget(pid);
}

void actors_end(void)
{
	for (int i = 0; i < used; i++)
		if (actors[i].pid)
			kill(actors[i].pid, SIGKILL);
	/* Orphans become our children, so this ends when all are gone. */
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		;
	used = 0;
}
