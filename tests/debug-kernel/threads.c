// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * threads N: a process of N threads, half of them awake now and then, until
 * it is killed.
 */
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void *live(void *arg)
{
	/* An emulated CPU with all checkers takes few switches a second. */
	const struct timespec nap = { .tv_nsec = 500 * 1000 * 1000 };

	while ((uintptr_t)arg % 2)
		nanosleep(&nap, NULL);
	for (;;)
		pause();
	return NULL;
}

int main(int argc, char **argv)
{
	long n = argc == 2 ? strtol(argv[1], NULL, 10) : 0;
	pthread_attr_t attr;
	pthread_t thread;

	if (n < 1 || n > 10000) {
		fprintf(stderr, "usage: threads N, with N from 1 to 10000\n");
		return 2;
	}
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, (size_t)PTHREAD_STACK_MIN);
	for (long i = 1; i < n; i++) {
		int err = pthread_create(&thread, &attr, live,
					 (void *)(uintptr_t)i);

		if (err) {
			fprintf(stderr, "threads: thread %ld: %s\n", i,
				strerror(err));
			return 1;
		}
	}
	printf("ready\n");
	fflush(stdout);
	live((void *)(uintptr_t)n);
}
