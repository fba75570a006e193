// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A process that becomes itself again and again, by an exec of its first
 * thread and of another one in turns. Linked statically, to be quick at it.
 *
 *	again FD	FD: the board, see board.h
 */
#include <linux/sched.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "board.h"

static char **args;

static int become_again(void *unused)
{
	(void)unused;
	syscall(SYS_execve, args[0], args, NULL);
	syscall(SYS_exit, 1);
	return 1;
}

int main(int argc, char **argv)
{
	static char stack[16384] __attribute__((aligned(16)));
	struct board *b;

	if (argc != 2)
		return 2;
	args = argv;
	b = mmap(NULL, sizeof(*b), PROT_READ | PROT_WRITE, MAP_SHARED,
		 atoi(argv[1]), 0);
	if (b == MAP_FAILED)
		return 3;
	/* Stopped: stays on its CPU, so that the register shows its setting. */
	while (__atomic_load_n(&b->stop, __ATOMIC_ACQUIRE))
		__builtin_ia32_pause();
	if (__atomic_add_fetch(&b->events, 1, __ATOMIC_RELEASE) % 2)
		become_again(NULL);
	if (clone(become_again, stack + sizeof(stack),
		  CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND |
			  CLONE_THREAD | CLONE_SYSVSEM,
		  NULL) < 0)
		return 4;
	/* The other one's exec is our end. */
	for (;;)
		pause();
}
