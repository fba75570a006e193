// SPDX-License-Identifier: GPL-2.0-or-later
/* Whole programs: prefetchctl beside others, and what the monitor needs. */
#include "bench.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "prefetchnl.h"

#define RUNS 5

static const char *const prefetchctl[] = { "prefetchctl", "get", "pid=1",
					   NULL };
static const char *const taskset[] = { "taskset", "-p", "1", NULL };
static const char *const genl[] = { "genl", "ctrl", "list", NULL };

static pid_t start(const char *const *words)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
	execvp(words[0], (char *const *)(uintptr_t)words);
	_exit(127);
}

static double time_of(const char *const *words)
{
	uint64_t begin = now_ns();
	int status;

	for (int i = 0; i < RUNS; i++)
		if (waitpid(start(words), &status, 0) < 0 || status)
			give_up(words[0], "failed");
	return (double)(now_ns() - begin);
}

static double get_time(void *arg)
{
	(void)arg;
	return time_of(prefetchctl);
}

static double taskset_time(void *arg)
{
	(void)arg;
	return time_of(taskset);
}

static double genl_time(void *arg)
{
	(void)arg;
	return time_of(genl);
}

void bench_programs(void)
{
	bench_compare("get_taskset", OF_TIME, get_time, taskset_time, NULL);
	bench_compare("get_genl", OF_TIME, get_time, genl_time, NULL);
}

/* --- the monitor --- */

static void load(const char *parameters)
{
	int fd = open("/lib/modules/prefetch.ko", O_RDONLY | O_CLOEXEC);

	syscall(SYS_delete_module, "prefetch", O_NONBLOCK);
	if (fd < 0 || syscall(SYS_finit_module, fd, parameters, 0))
		give_up("cannot load the module", NULL);
	close(fd);
}

/* On the first CPU, with a mask of its own, and gives it away all the time. */
static pid_t yielder(struct pfnl *h, uint32_t off)
{
	struct pfnl_setting_request q = PFNL_SETTING_REQUEST_INIT;
	cpu_set_t cpus;
	pid_t pid = fork();

	if (!pid)
		for (;;)
			sched_yield();
	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	q.pid = (uint32_t)pid;
	q.off = off;
	if (sched_setaffinity(pid, sizeof(cpus), &cpus))
		give_up("cannot pin a task", NULL);
	if (pfnl_setting_set(h, &q, NULL))
		give_up("cannot set a task that yields", pfnl_errmsg(h));
	return pid;
}

static uint64_t changes_so_far(struct pfnl *h)
{
	struct pfnl_info info;

	if (pfnl_info(h, &info))
		give_up("cannot ask for the counts", pfnl_errmsg(h));
	return info.core_total;
}

static long resident_kb(pid_t pid)
{
	char path[64];
	long pages;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/statm", (int)pid);
	file = fopen(path, "re");
	if (!file || fscanf(file, "%*d %ld", &pages) != 1)
		give_up(path, NULL);
	fclose(file);
	return pages * sysconf(_SC_PAGESIZE) / 1024;
}

static double seconds_of(pid_t pid)
{
	struct rusage used;
	int status;

	if (wait4(pid, &status, 0, &used) != pid || status)
		give_up("prefetch-monitor", "failed");
	return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
	       (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

static void end_task(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void one_interval(unsigned int ms, unsigned long changes)
{
	static const char *const monitor[] = { "prefetch-monitor", NULL };
	uint64_t begin, done;
	char parameter[32];
	long early, late;
	struct pfnl *h;
	pid_t pid, a, b;

	snprintf(parameter, sizeof(parameter), "event_interval_ms=%u", ms);
	load(parameter);
	if (pfnl_open(&h))
		give_up("cannot open a handle", NULL);
	pid = start(monitor);
	sleep(1);
	begin = changes_so_far(h);
	a = yielder(h, 1);
	b = yielder(h, 2);
	while (changes_so_far(h) - begin < changes / 10)
		usleep(10000);
	early = resident_kb(pid);
	while ((done = changes_so_far(h) - begin) < changes)
		usleep(10000);
	late = resident_kb(pid);
	kill(pid, SIGINT);
	printf("figure monitor_seconds_%ums %.3f\n", ms,
	       seconds_of(pid) * 1e6 / (double)done);
	printf("figure monitor_early_kb_%ums %ld\n", ms, early);
	printf("figure monitor_late_kb_%ums %ld\n", ms, late);
	end_task(a);
	end_task(b);
	pfnl_close(h);
}

void bench_monitor(unsigned long changes)
{
	one_interval(10, changes);
	one_interval(1, changes);
}
