// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Ten thousand threads with a setting each, and dumps while others come and go.
 */
#include "actor.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"
#include "request.h"

#define THREADS_MAX 10000
#define DUMPS	    10
#define STACK	    ((size_t)PTHREAD_STACK_MIN)
#define PIDS	    4194304

struct board {
	unsigned int ready; /* threads that have written their tid */
	unsigned int error;
	unsigned int stop;
	unsigned long churned;
	pid_t tid[THREADS_MAX];
};

static struct board *board;
static int threads;
static unsigned char *seen; /* by tid: how often the dump had it */

static void *sleeper(void *arg)
{
	board->tid[(size_t)arg] = (pid_t)syscall(SYS_gettid);
	__atomic_add_fetch(&board->ready, 1, __ATOMIC_RELEASE);
	for (;;)
		syscall(SYS_futex, &board->stop, FUTEX_WAIT, 0, NULL, NULL, 0);
	return NULL;
}

/* One mapping for all stacks, as each of its own would be slow. */
static void crowd(void)
{
	char *stacks = mmap(NULL, (size_t)threads * STACK,
			    PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	pthread_attr_t attr;
	pthread_t thread;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pthread_attr_init(&attr);
	for (size_t i = 0; stacks != MAP_FAILED && i < (size_t)threads; i++) {
		pthread_attr_setstack(&attr, stacks + i * STACK, STACK);
		if (pthread_create(&thread, &attr, sleeper, (void *)i))
			break;
	}
	for (;;)
		pause();
}

/* Others come and go: each gets a setting, and dies with it. */
static void churn(void)
{
	struct pfnl_setting_request r = PFNL_SETTING_REQUEST_INIT;
	struct pfnl *h;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (pfnl_open(&h))
		_exit(1);
	r.off = L1_IP;
	while (!__atomic_load_n(&board->stop, __ATOMIC_ACQUIRE)) {
		pid_t pid = fork();

		if (!pid) {
			for (;;)
				pause();
		}
		r.pid = pid;
		if (pid < 0 || pfnl_setting_set(h, &r, NULL))
			__atomic_add_fetch(&board->error, 1, __ATOMIC_RELAXED);
		if (pid > 0) {
			kill(pid, SIGKILL);
			waitpid(pid, NULL, 0);
		}
		__atomic_add_fetch(&board->churned, 1, __ATOMIC_RELAXED);
	}
	_exit(0);
}

static pid_t start(void (*run)(void), int cpu)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid < 0)
		die("cannot fork: %s", strerror(errno));
	if (!pid) {
		pin(0, cpu);
		run();
		_exit(1);
	}
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	if (waitpid(pid, NULL, 0) != pid)
		die("cannot reap %d: %s", pid, strerror(errno));
}

static int count_one(const struct pfnl_setting *s, void *arg)
{
	unsigned long *total = arg;

	if (s->scope == PREFETCH_SCOPE_THREAD && s->tid < PIDS &&
	    seen[s->tid] < 255)
		seen[s->tid]++;
	++*total;
	return 0;
}

/* Returns the number of settings that were listed. */
static unsigned long dump(struct check *c, pid_t pid, unsigned int *flags)
{
	unsigned long total = 0;
	int err;

	memset(seen, 0, PIDS);
	err = pfnl_setting_list(handle(), pid, 0, flags, count_one, &total);
	expect(c, !err, "dump: %d (%s)", err, pfnl_errmsg(handle()));
	for (int i = 0; i < threads; i++)
		expect(c, seen[board->tid[i]] == 1,
		       "thread %d is listed %d times", board->tid[i],
		       seen[board->tid[i]]);
	return total;
}

static void prepare(void)
{
	write_text("/proc/sys/kernel/threads-max", "65536");
	write_text("/proc/sys/kernel/pid_max", "65536");
	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	seen = malloc(PIDS);
	if (board == MAP_FAILED || !seen)
		die("no memory");
}

/* Unreclaimable slab, less what is not ours by the same count before. */
static long slab_kb(void)
{
	return read_field("/proc/meminfo", "SUnreclaim");
}

static void set_all(struct check *c)
{
	struct pfnl_setting_request r = PFNL_SETTING_REQUEST_INIT;

	for (int i = 0; i < threads; i++) {
		int err;

		r.tid = board->tid[i];
		r.off = 1 + i % ALL_FOUR;
		err = pfnl_setting_set(handle(), &r, NULL);
		expect(c, !err, "set of thread %d: %d (%s)", board->tid[i], err,
		       pfnl_errmsg(handle()));
	}
}

/* However long it takes, as long as there are more and more. */
static void wait_for_people(void)
{
	unsigned int last, now = 0;

	do {
		last = now;
		wait_within(PATIENCE_MS,
			    (now = __atomic_load_n(&board->ready,
						   __ATOMIC_ACQUIRE)) != last);
	} while (now != last && now < (unsigned int)threads);
	if (now < (unsigned int)threads)
		die("only %u threads", now);
}

static void many(struct check *c)
{
	unsigned int interrupted = 0, flags;
	unsigned long total, before;
	long slab;
	pid_t people, churner;

	threads = (int)rounds_of(THREADS_MAX);
	if (threads > THREADS_MAX)
		die("more than %d threads", THREADS_MAX);
	prepare();
	people = start(crowd, domain_cpu(0));
	wait_for_people();
	slab = slab_kb();
	set_all(c);
	slab = slab_kb() - slab;
	expect(c, request_settings() == threads, "%ld settings",
	       request_settings());
	total = dump(c, 0, &flags);
	expect(c, total == (unsigned long)threads, "%lu settings listed",
	       total);
	total = dump(c, people, &flags);
	expect(c, total == (unsigned long)threads,
	       "%lu settings of the process listed", total);

	churner = start(churn, domain_cpu(0) + 1);
	before = board->churned;
	for (int i = 0; i < DUMPS; i++) {
		dump(c, 0, &flags);
		interrupted += !!(flags & PFNL_LIST_INTERRUPTED);
	}
	before = board->churned - before;
	__atomic_store_n(&board->stop, 1, __ATOMIC_RELEASE);
	if (waitpid(churner, NULL, 0) != churner)
		die("cannot reap %d: %s", churner, strerror(errno));
	expect(c, before >= DUMPS, "only %lu others came and went", before);
	expect(c, !board->error, "%u of the others got no setting",
	       board->error);
	end(people);
	expect(c, request_settings() == 0, "%ld settings are left",
	       request_settings());
	printf("figure %s threads=%d setting_size=%u slab_kb=%ld "
	       "slab_per_setting=%ld others=%lu interrupted=%u\n",
	       c->name, threads, info().setting_size, slab,
	       slab * 1024 / threads, before, interrupted);
	expect(c, info().setting_size > 0, "no memory per entry is told");
	free(seen);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "many_threads", many },
	};

	return harness_main(argc, argv, tests, ARRAY_SIZE(tests));
}
