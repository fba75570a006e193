// SPDX-License-Identifier: GPL-2.0-or-later
/* The twin's log: text, one record a line, each line complete when written. */

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "twin.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static FILE *file;
static uint64_t sequence;
static bool failed;

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void put(const char *prefix, const char *format, va_list args)
{
	/* Other vCPUs can still be running when QEMU has called for the end. */
	if (!file)
		return;

	if (fputs(prefix, file) == EOF || vfprintf(file, format, args) < 0 ||
	    putc('\n', file) == EOF) {
		if (!failed)
			log_complain("cannot write the log: %s",
				     strerror(errno));
		failed = true;
	}
}

bool log_open(const char *path)
{
	file = fopen(path, "we");
	if (!file) {
		log_complain("%s: %s", path, strerror(errno));
		return false;
	}
	/* A killed QEMU must not take the last records with it. */
	setvbuf(file, NULL, _IOLBF, BUFSIZ);
	return true;
}

void log_close(void)
{
	if (file && fclose(file) && !failed)
		log_complain("cannot write the log: %s", strerror(errno));
	file = NULL;
}

void log_lock(void)
{
	pthread_mutex_lock(&lock);
}

void log_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

void log_record(const char *format, ...)
{
	char prefix[64];
	va_list args;

	snprintf(prefix, sizeof(prefix), "%" PRIu64 " %" PRIu64 " ", sequence++,
		 now_ns());
	va_start(args, format);
	put(prefix, format, args);
	va_end(args);
}

void log_comment(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	put("# ", format, args);
	va_end(args);
}

void log_complain(const char *format, ...)
{
	va_list args;

	fputs("prefetch-twin: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	putc('\n', stderr);
}
