/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Actors: threads and processes that do what the test tells them, on the CPU
 * that it tells them. A new actor sleeps.
 *
 * Their state lies in memory that they share with the test, also across fork
 * and exec. They never sleep by themselves except where their mode says so,
 * and a spinning one never enters the kernel.
 */
#ifndef PREFETCH_TEST_ACTOR_H
#define PREFETCH_TEST_ACTOR_H

#include "harness.h"

#define ACTORS_MAX 160

enum actor_mode {
	/* Lasting ones. */
	ACTOR_SLEEP,
	ACTOR_SPIN,
	ACTOR_YIELD, /* sched_yield() again and again */
	ACTOR_NAP,   /* wakes up some thousand times a second */
	ACTOR_MOVE,  /* from CPU to CPU by force, `arg` times, then sleeps */
	/* Done once; then the actor sleeps. */
	ACTOR_THREAD, /* start a thread as actor number `arg` */
	ACTOR_FORK,   /* start a child process as actor number `arg` */
	ACTOR_EXEC,   /* become the program at `path` */
	ACTOR_SETUID, /* become user `arg` for good */
	ACTOR_CALL,   /* call a function of the test */
	/* The end. */
	ACTOR_EXIT, /* the thread alone */
};

struct actor {
	unsigned int order;   /* raised with each new mode; they wait for it */
	unsigned int seen;    /* the last order that was taken up */
	unsigned long sleeps; /* the kernel's count before it falls asleep */
	enum actor_mode mode;
	pid_t pid;
	pid_t tid;
	int cpu;
	long arg;
	int result; /* of a mode that is done once: 0 or errno */
	unsigned long rounds;
	int (*call)(long arg);
	char path[128];
};

/* A new process, child of the test, on a CPU. */
struct actor *actor_new(int cpu);
/* A new thread or child process of an actor. */
struct actor *actor_thread(struct actor *parent, int cpu);
struct actor *actor_fork(struct actor *parent, int cpu);

/* Each of these returns when it is so. */
void actor_spin(struct actor *a);  /* runs on its CPU now */
void actor_sleep(struct actor *a); /* has left its CPU */
void actor_mode(struct actor *a, enum actor_mode mode, long arg);
void actor_done(struct actor *a);   /* a mode that ends by itself */
void actor_finish(struct actor *a); /* the same, as long as it gets on */
int actor_once(struct actor *a, enum actor_mode mode, long arg);
int actor_call(struct actor *a, int (*call)(long arg), long arg);
int actor_exec(struct actor *a, const char *path);
void actor_move(struct actor *a, int cpu);
void actor_exit_thread(struct actor *a);
/* SIGKILL to the process, then waits until nothing is left of it. */
void actor_kill(struct actor *a);

bool actor_runs(const struct actor *a); /* got time since the last look */
/*
 * The register of its core, read while the actor (or both) had its CPU. A
 * kernel thread may take the CPU at any time, and then the core is rightly
 * without the actor's wish for a moment.
 */
uint64_t reg_of(const struct actor *a);
uint64_t reg_of_both(const struct actor *a, const struct actor *b);
/*
 * "At once": to be called before a request, and its result handed on to
 * at_once() after it. That reads the register without waiting for anything,
 * and looks twice only if the actor lost its CPU in between.
 */
unsigned long before_request(const struct actor *a);
uint64_t at_once(const struct actor *a, unsigned long before, uint32_t want);
void actors_end(void); /* kills all that are left */

/* Entered by a program that an actor has become; does not return. */
void actor_continue(const char *fd, const char *number, const char *order)
	__attribute__((noreturn));

/* From machine.c, called once. */
void machine_init(void);

#endif
