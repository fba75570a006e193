// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Very many threads, cheaply; see crowd.h.
 */
#include "crowd.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"

#define THREAD_FLAGS                                                        \
	(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | \
	 CLONE_SYSVSEM)

void crowd_allow(unsigned int threads)
{
	char text[32];

	snprintf(text, sizeof(text), "%u", threads * 2 + 10000);
	write_text("/proc/sys/kernel/threads-max", text);
	write_text("/proc/sys/kernel/pid_max", text);
}

/*
 * The new thread has the stack of the old one, and never touches it: it waits
 * for signals without leaving these lines.
 */
static long clone_sleeper(void)
{
	register long child_tid __asm__("r10") = 0;
	register long tls __asm__("r8") = 0;
	long ret = SYS_clone;

	__asm__ volatile("syscall\n\t"
			 "test %%rax, %%rax\n\t"
			 "jnz 1f\n"
			 "2:\tmov %[pause], %%eax\n\t"
			 "syscall\n\t"
			 "jmp 2b\n"
			 "1:"
			 : "+a"(ret)
			 : "D"((long)THREAD_FLAGS), "S"(0L), "d"(0L),
			   "r"(child_tid), "r"(tls), [pause] "i"(SYS_pause)
			 : "rcx", "r11", "memory", "cc");
	return ret;
}

static void be_crowd(unsigned int threads, pid_t *tid, volatile bool *ready)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (unsigned int i = 0; i < threads; i++) {
		long ret = clone_sleeper();

		if (ret < 0) {
			fprintf(stderr, "thread %u: %s\n", i, strerror(-ret));
			_exit(1);
		}
		tid[i] = (pid_t)ret;
	}
	*ready = true;
	for (;;)
		pause();
}

pid_t crowd_start(unsigned int threads, pid_t *tid)
{
	volatile bool *ready = mmap(NULL, 1, PROT_READ | PROT_WRITE,
				    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid;

	if (ready == MAP_FAILED)
		die("no memory");
	fflush(stdout);
	pid = fork();
	if (!pid)
		be_crowd(threads, tid, ready);
	/* However long it takes, as long as it lives. */
	while (!*ready) {
		if (pid < 0 || waitpid(pid, NULL, WNOHANG))
			die("no crowd of %u", threads);
		nap();
	}
	munmap((void *)ready, 1);
	return pid;
}

void crowd_end(pid_t pid)
{
	kill(pid, SIGKILL);
	if (waitpid(pid, NULL, 0) != pid)
		die("cannot reap %d: %s", pid, strerror(errno));
}
