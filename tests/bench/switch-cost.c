// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a context switch costs, in instructions.
 *
 * Two processes on one CPU hand a byte to and fro through pipes, so that each
 * round trip is two switches. Where the emulator counts instructions instead
 * of time (-icount shift=0), the time stamp counter is the number of
 * instructions that the machine has executed. One line for each figure:
 *
 *	cost CASE SETTINGS INSTRUCTIONS SWITCHES WRITES
 *
 * INSTRUCTIONS and SWITCHES are those of the whole run; WRITES is how often
 * the register was written in it. The module must not be loaded yet.
 *
 *	switch-cost [--quick] [FLOOR]
 *
 * FLOOR is a module with an empty probe, measured before ours. With --quick,
 * not beside thousands of other settings. Lines "about" say on what kernel it
 * was.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <prefetchnl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <x86intrin.h>

#define MODULE	    "/lib/modules/prefetch.ko"
#define L2_STREAM   0x1
#define L2_ADJACENT 0x2

#define ROUND_TRIPS 10000
#define REPEATS	    3
#define SETTLE	    5 /* seconds, which cost nothing: the machine sleeps */
#define CROWD	    10000
#define STACK	    ((size_t)PTHREAD_STACK_MIN)

struct board {
	unsigned int ready;
	unsigned int stop;
	pid_t tid[CROWD];
};

static struct board *board;
static struct pfnl *handle;
static int to_crowd[2], to_partner[2], from_partner[2];
static pid_t partner;

static void die(const char *what, int err)
{
	fprintf(stderr, "switch-cost: %s: %s\n", what, strerror(err));
	exit(1);
}

static void pin(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("cannot pin to CPU 0", errno);
}

static void hand_over(int fd)
{
	char byte = 0;

	if (write(fd, &byte, 1) != 1)
		die("write", errno);
}

static void take(int fd)
{
	char byte;

	if (read(fd, &byte, 1) != 1)
		die("read", errno);
}

static pid_t start(void (*run)(void))
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork", errno);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		run();
		_exit(1);
	}
	return pid;
}

static void answer(void)
{
	for (;;) {
		take(to_partner[0]);
		hand_over(from_partner[1]);
	}
}

static void *sleeper(void *arg)
{
	board->tid[(size_t)arg] = (pid_t)syscall(SYS_gettid);
	__atomic_add_fetch(&board->ready, 1, __ATOMIC_RELEASE);
	for (;;)
		syscall(SYS_futex, &board->stop, FUTEX_WAIT, 0, NULL, NULL, 0);
	return NULL;
}

/*
 * Threads that sleep for good, for settings that are not in the way; as many
 * as are asked for by a number on the pipe.
 */
static void crowd(void)
{
	char *stacks = mmap(NULL, CROWD * STACK, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	pthread_attr_t attr;
	unsigned int want;
	pthread_t thread;
	size_t have = 0;
	int err;

	if (stacks == MAP_FAILED)
		die("no room for stacks", errno);
	pthread_attr_init(&attr);
	while (read(to_crowd[0], &want, sizeof(want)) == sizeof(want)) {
		for (; have < want; have++) {
			pthread_attr_setstack(&attr, stacks + have * STACK,
					      STACK);
			err = pthread_create(&thread, &attr, sleeper,
					     (void *)have);
			if (err)
				die("cannot start a thread", err);
		}
	}
}

static void call_crowd(unsigned int want)
{
	if (write(to_crowd[1], &want, sizeof(want)) != sizeof(want))
		die("write", errno);
	while (__atomic_load_n(&board->ready, __ATOMIC_ACQUIRE) < want)
		usleep(1000);
}

/* A small machine allows fewer threads. */
static void raise_limits(void)
{
	const struct rlimit none = { RLIM_INFINITY, RLIM_INFINITY };
	int fd = open("/proc/sys/kernel/threads-max", O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, "30000", 5) != 5 ||
	    setrlimit(RLIMIT_NPROC, &none))
		die("cannot raise the limit of threads", errno);
	close(fd);
}

static void insert(const char *module)
{
	int fd = open(module, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || syscall(SYS_finit_module, fd, "", 0))
		die(module, errno);
	close(fd);
}

static void load(void)
{
	int err;

	insert(MODULE);
	err = pfnl_open(&handle);
	if (err)
		die("cannot reach the module", -err);
}

static void set(pid_t pid, pid_t tid, uint32_t off)
{
	struct pfnl_setting_request r = PFNL_SETTING_REQUEST_INIT;
	int err;

	r.pid = pid;
	r.tid = tid;
	r.off = off;
	r.clear = (L2_STREAM | L2_ADJACENT) & ~off;
	err = pfnl_setting_set(handle, &r, NULL);
	if (err)
		die(pfnl_errmsg(handle), -err);
}

static unsigned long long writes(void)
{
	struct pfnl_info info;
	int err;

	if (!handle)
		return 0;
	err = pfnl_info(handle, &info);
	if (err)
		die(pfnl_errmsg(handle), -err);
	return info.register_writes;
}

static void measure(const char *name, unsigned int settings)
{
	for (int i = 0; i < REPEATS; i++) {
		unsigned long long begin, end, before;

		/* What was begun for us in the kernel comes to its end. */
		sleep(SETTLE);
		before = writes();
		begin = __rdtsc();
		for (int n = 0; n < ROUND_TRIPS; n++) {
			hand_over(to_partner[1]);
			take(from_partner[0]);
		}
		end = __rdtsc();
		printf("cost %s %u %llu %d %llu\n", name, settings, end - begin,
		       2 * ROUND_TRIPS, writes() - before);
	}
}

/* The cases of tasks with settings, beside so many others. */
static void measure_all(unsigned int others)
{
	set(getpid(), 0, L2_STREAM);
	set(partner, 0, L2_STREAM);
	measure("same", others);
	set(partner, 0, 0);
	measure("change", others);
	set(getpid(), 0, 0);
	measure("others", others);
}

static void measure_floor(const char *module)
{
	insert(module);
	measure("floor", 0);
	if (syscall(SYS_delete_module, "floor", 0))
		die("cannot unload floor", errno);
}

static void tell(const char *word, const char *path)
{
	char line[1024] = "";
	FILE *f = fopen(path, "re");

	if (!f || !fgets(line, sizeof(line), f))
		die(path, errno);
	fclose(f);
	line[strcspn(line, "\n")] = '\0';
	printf("about %s %s\n", word, line);
}

int main(int argc, char **argv)
{
	static const unsigned int steps[] = { 1, 1000, CROWD };
	size_t nr_steps = sizeof(steps) / sizeof(steps[0]);
	const char *floor = NULL;
	unsigned int have = 0;

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--quick"))
			floor = argv[i];
		else
			nr_steps = 1;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (board == MAP_FAILED || pipe(to_crowd) || pipe(to_partner) ||
	    pipe(from_partner))
		die("cannot begin", errno);
	pin();
	raise_limits();
	start(crowd);
	partner = start(answer);
	tell("kernel", "/proc/version");
	tell("cmdline", "/proc/cmdline");
	measure("without", 0);
	measure("without-again", 0);
	if (floor)
		measure_floor(floor);
	load();
	measure("unused", 0);
	for (size_t i = 0; i < nr_steps; i++) {
		call_crowd(steps[i]);
		while (have < steps[i])
			set(0, board->tid[have++], L2_ADJACENT);
		measure_all(steps[i]);
	}
	pfnl_close(handle);
	return 0;
}
