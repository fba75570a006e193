// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The guest as a test sees it: CPUs and cores, the register, /proc.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "harness.h"
#include "actor.h"

#define MSR_PREFETCH  0x1a4
#define MSR_TWIN_MARK 0x400000f9
#define PF_KTHREAD    0x00200000UL
#define CPUS_MAX      64
#define MODULE	      "/lib/modules/prefetch.ko"

static int cpus;
static int domains;
static int domain[CPUS_MAX];
static int msr_fd[CPUS_MAX];

int cpu_count(void)
{
	return cpus;
}

int home_cpu(void)
{
	return cpus - 1;
}

int domain_count(void)
{
	return domains;
}

int domain_of(int cpu)
{
	return domain[cpu];
}

int domain_cpu(int wanted)
{
	for (int cpu = 0; cpu < cpus; cpu++)
		if (domain[cpu] == wanted)
			return cpu;
	die("there is no core %d", wanted);
}

void pin(pid_t tid, int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(tid, sizeof(set), &set) && errno != ESRCH)
		die("cannot pin %d to CPU %d: %s", tid, cpu, strerror(errno));
}

uint64_t reg(int cpu)
{
	uint64_t value = 0;

	if (pread(msr_fd[cpu], &value, sizeof(value), MSR_PREFETCH) !=
	    (ssize_t)sizeof(value))
		die("cannot read the register of CPU %d: %s", cpu,
		    strerror(errno));
	return value;
}

void reg_write(int cpu, uint64_t value)
{
	if (pwrite(msr_fd[cpu], &value, sizeof(value), MSR_PREFETCH) !=
	    (ssize_t)sizeof(value))
		die("cannot write the register of CPU %d: %s", cpu,
		    strerror(errno));
}

void mark_twin(uint64_t value)
{
	if (pwrite(msr_fd[sched_getcpu()], &value, sizeof(value),
		   MSR_TWIN_MARK) != (ssize_t)sizeof(value))
		die("cannot mark the twin's log: %s", strerror(errno));
}

struct span span_begin(const char *name)
{
	struct span s = { .name = name, .from = options.mark };

	options.mark += 2;
	mark_twin(s.from);
	return s;
}

void span_end(struct span *s, int where, unsigned long least,
	      unsigned long most)
{
	mark_twin(s->from + 1);
	printf("span %s from=0x%llx to=0x%llx domain=%d least=%lu most=%lu\n",
	       s->name, (unsigned long long)s->from,
	       (unsigned long long)s->from + 1, where, least, most);
}

uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void nap(void)
{
	const struct timespec t = { .tv_nsec = 200000 };

	nanosleep(&t, NULL);
}

static bool read_file(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t done;

	if (fd < 0)
		return false;
	done = read(fd, text, size - 1);
	close(fd);
	if (done < 0)
		return false;
	text[done] = '\0';
	return true;
}

long read_number(const char *path)
{
	char text[64];

	if (!read_file(path, text, sizeof(text)))
		return -1;
	return strtol(text, NULL, 0);
}

long read_field(const char *path, const char *word)
{
	static char text[16384];
	const char *at = text;

	if (!read_file(path, text, sizeof(text)))
		return -1;
	while ((at = strstr(at, word))) {
		bool begins = at == text || at[-1] == '\n';

		at += strlen(word);
		if (begins && strchr(" :\t", *at))
			return strtol(at + strspn(at, " :\t"), NULL, 0);
	}
	return -1;
}

void write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t len = (ssize_t)strlen(text);

	if (fd < 0 || write(fd, text, len) != len)
		die("cannot write '%s' to %s: %s", text, path, strerror(errno));
	close(fd);
}

bool have_file(const char *path)
{
	return access(path, F_OK) == 0;
}

bool memory_is_exact(void)
{
	return !have_file("/sys/kernel/debug/kmemleak");
}

void log_line(const char *text)
{
	int fd = open("/dev/kmsg", O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		die("cannot write to the kernel's log: %s", strerror(errno));
	close(fd);
}

char task_state(pid_t tid)
{
	char path[64];
	char text[512];
	const char *end;

	snprintf(path, sizeof(path), "/proc/%d/stat", tid);
	if (!read_file(path, text, sizeof(text)))
		return 0;
	end = strrchr(text, ')');
	return end && end[1] ? end[2] : 0;
}

static unsigned long task_flags(pid_t tid)
{
	char path[64];
	char text[512];
	const char *end;
	unsigned long flags = PF_KTHREAD;

	snprintf(path, sizeof(path), "/proc/%d/stat", tid);
	if (!read_file(path, text, sizeof(text)))
		return flags;
	end = strrchr(text, ')');
	if (end && sscanf(end + 2, "%*c %*d %*d %*d %*d %*d %lu", &flags) != 1)
		return PF_KTHREAD;
	return flags;
}

long task_status(pid_t tid, const char *field)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	return read_field(path, field);
}

unsigned long task_sleeps(pid_t tid)
{
	long n = task_status(tid, "voluntary_ctxt_switches");

	return n < 0 ? 0 : (unsigned long)n;
}

unsigned long task_switches(pid_t tid)
{
	long n = task_status(tid, "nonvoluntary_ctxt_switches");

	return task_sleeps(tid) + (n < 0 ? 0 : (unsigned long)n);
}

int module_load(const char *args)
{
	int fd = open(MODULE, O_RDONLY | O_CLOEXEC);
	int err = 0;

	if (fd < 0 || syscall(SYS_finit_module, fd, args, 0))
		err = -errno;
	if (fd >= 0)
		close(fd);
	return err;
}

int module_unload(void)
{
	return syscall(SYS_delete_module, "prefetch", O_NONBLOCK) ? -errno : 0;
}

/* Everything that runs in user space goes home, to leave the stage alone. */
static void clear_stage(void)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;

	if (!dir)
		die("cannot read /proc: %s", strerror(errno));
	while ((entry = readdir(dir))) {
		pid_t pid = atoi(entry->d_name);

		if (pid > 0 && !(task_flags(pid) & PF_KTHREAD))
			pin(pid, home_cpu());
	}
	closedir(dir);
}

void machine_init(void)
{
	char path[128];

	cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);
	if (cpus < 2 || cpus > CPUS_MAX)
		die("needs 2 to %d CPUs, has %d", CPUS_MAX, cpus);
	for (int cpu = 0; cpu < cpus; cpu++) {
		long first;

		snprintf(path, sizeof(path),
			 "/sys/devices/system/cpu/cpu%d/topology/"
			 "thread_siblings_list",
			 cpu);
		first = read_number(path);
		if (first < 0 || first > cpu)
			die("cannot read %s", path);
		domain[cpu] = first == cpu ? domains++ : domain[first];
		snprintf(path, sizeof(path), "/dev/cpu/%d/msr", cpu);
		msr_fd[cpu] = open(path, O_RDWR | O_CLOEXEC);
		if (msr_fd[cpu] < 0)
			die("cannot open %s: %s", path, strerror(errno));
	}
	clear_stage();
}
