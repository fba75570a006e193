// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What an actor itself does: obeys the orders in the shared memory.
 */
#include "actor.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "actor-run.h"

#define STACK_SIZE 65536

static unsigned int order_of(const struct actor *a)
{
	return __atomic_load_n(&a->order, __ATOMIC_ACQUIRE);
}

static void pin_self(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void *thread_main(void *arg)
{
	actor_begin(arg);
}

static int start_thread(struct actor *a)
{
	pthread_attr_t attr;
	pthread_t thread;
	int err;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	err = pthread_create(&thread, &attr, thread_main, a);
	pthread_attr_destroy(&attr);
	return err;
}

static int start_process(struct actor *a)
{
	pid_t pid = fork();

	if (!pid)
		actor_begin(a);
	return pid < 0 ? errno : 0;
}

static int start_program(struct actor *a)
{
	char fd[16], number[16], order[16];
	char *argv[] = { a->path, (char *)"--actor", fd, number, order, NULL };

	snprintf(fd, sizeof(fd), "%d", actors_fd);
	snprintf(number, sizeof(number), "%d", (int)(a - actors));
	snprintf(order, sizeof(order), "%u", a->seen);
	execv(a->path, argv);
	return errno;
}

/* From CPU to CPU; the next one is drawn, so that no rhythm sets in. */
static void move(struct actor *a, unsigned int order)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	long cpu = a->cpu;
	uint32_t random = 2463534242U + 97U * (uint32_t)(a - actors);

	for (long i = 0; i < a->arg && order_of(a) == order; i++) {
		random ^= random << 13;
		random ^= random >> 17;
		random ^= random << 5;
		cpu = (cpu + 1 + random % (uint32_t)(cpus - 1)) % cpus;
		pin_self((int)cpu);
		__atomic_add_fetch(&a->rounds, 1, __ATOMIC_RELEASE);
	}
	pin_self(a->cpu);
}

/*
 * The pause instruction is what an emulator with one thread for all CPUs takes
 * as a hint to let the next CPU go on; without it each would wait for a tenth
 * of a second.
 */
static void last(struct actor *a, unsigned int order)
{
	const struct timespec t = { .tv_nsec = 50000 };

	while (order_of(a) == order) {
		__atomic_add_fetch(&a->rounds, 1, __ATOMIC_RELEASE);
		switch (a->mode) {
		case ACTOR_YIELD:
			sched_yield();
			__builtin_ia32_pause();
			break;
		case ACTOR_NAP:
			nanosleep(&t, NULL);
			break;
		default:
			__builtin_ia32_pause();
			break;
		}
	}
}

static int once(struct actor *a, enum actor_mode mode, unsigned int order)
{
	switch (mode) {
	case ACTOR_MOVE:
		move(a, order);
		return 0;
	case ACTOR_THREAD:
		return start_thread(&actors[a->arg]);
	case ACTOR_FORK:
		return start_process(&actors[a->arg]);
	case ACTOR_EXEC:
		return start_program(a);
	case ACTOR_SETUID:
		if (setgid(a->arg) || setuid(a->arg))
			return errno;
		/* Changing user clears it, and /proc must stay readable. */
		prctl(PR_SET_DUMPABLE, 1);
		return 0;
	case ACTOR_CALL:
		return a->call(a->arg);
	default:
		return EINVAL;
	}
}

static void note_sleeps(struct actor *a)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	__atomic_store_n(&a->sleeps, (unsigned long)usage.ru_nvcsw,
			 __ATOMIC_RELEASE);
}

static void obey(struct actor *a)
{
	for (;;) {
		unsigned int order = order_of(a);
		enum actor_mode mode = a->mode;

		if (mode == ACTOR_SLEEP)
			note_sleeps(a);
		__atomic_store_n(&a->seen, order, __ATOMIC_RELEASE);
		switch (mode) {
		case ACTOR_SLEEP:
			syscall(SYS_futex, &a->order, FUTEX_WAIT, order, NULL,
				NULL, 0);
			break;
		case ACTOR_SPIN:
		case ACTOR_YIELD:
		case ACTOR_NAP:
			last(a, order);
			break;
		case ACTOR_EXIT:
			syscall(SYS_exit, 0);
			break;
		default:
			a->result = once(a, mode, order);
			__atomic_store_n(&a->mode, ACTOR_SLEEP,
					 __ATOMIC_RELEASE);
			break;
		}
	}
}

/*
 * Its numbers where /proc was mounted: those of the test, also for an actor in
 * a pid namespace of its own.
 */
static void note_numbers(struct actor *a)
{
	char text[64];
	ssize_t len = readlink("/proc/thread-self", text, sizeof(text) - 1);

	text[len < 0 ? 0 : len] = '\0';
	if (sscanf(text, "%d/task/%d", &a->pid, &a->tid) != 2)
		abort();
}

void actor_begin(struct actor *a)
{
	note_numbers(a);
	/* Children of actors are reaped by the kernel, not by actors. */
	if (a->pid == a->tid) {
		signal(SIGCHLD, SIG_IGN);
		signal(SIGALRM, SIG_DFL);
	}
	pin_self(a->cpu);
	obey(a);
	abort();
}

/* After exec: the same actor, whichever thread of the process it was. */
void actor_continue(const char *fd, const char *number, const char *order)
{
	struct actor *a;

	actors_map(atoi(fd));
	a = &actors[atoi(number)];
	note_numbers(a);
	/* The order to exec is done. */
	if (order_of(a) == (unsigned int)strtoul(order, NULL, 10)) {
		a->result = 0;
		__atomic_store_n(&a->mode, ACTOR_SLEEP, __ATOMIC_RELEASE);
	}
	obey(a);
	abort();
}
