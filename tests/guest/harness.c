// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs the tests of one guest program and prints what came out.
 */
#include "harness.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "actor.h"
#include "request.h"

/* No test takes nearly as long; it is here so that a hang has a name. */
#define TEST_LIMIT_S (300 * (unsigned int)options.slow)

uint64_t patience_ms;
struct options options = { .mark = 0x10000, .slow = 1 };

static const char *running;

bool expect(struct check *c, bool good, const char *fmt, ...)
{
	va_list args;

	c->asked++;
	if (good)
		return true;
	if (!c->failed++) {
		va_start(args, fmt);
		vsnprintf(c->reason, sizeof(c->reason), fmt, args);
		va_end(args);
	}
	return false;
}

void skip(struct check *c, const char *fmt, ...)
{
	va_list args;

	c->skipped = true;
	va_start(args, fmt);
	vsnprintf(c->reason, sizeof(c->reason), fmt, args);
	va_end(args);
}

void die(const char *fmt, ...)
{
	va_list args;

	printf("not ok %s: ", running ? running : "start");
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	printf("\n");
	fflush(stdout);
	_exit(3);
}

static void too_long(int sig)
{
	char text[200];
	int len = snprintf(text, sizeof(text),
			   "not ok %s: still busy after %u s\n", running,
			   TEST_LIMIT_S);

	(void)sig;
	if (write(STDOUT_FILENO, text, len) < 0)
		_exit(4);
	_exit(3);
}

static void report(const struct check *c)
{
	if (c->failed)
		printf("not ok %s: %s (%lu of %lu)\n", c->name, c->reason,
		       c->failed, c->asked);
	else if (c->skipped)
		printf("skip %s: %s\n", c->name, c->reason);
	else if (!c->asked)
		printf("not ok %s: it asked nothing\n", c->name);
	else
		printf("ok %s\n", c->name);
	fflush(stdout);
}

/* After each test nothing may be left: no setting, no default, no mask. */
static void expect_clean(struct check *c)
{
	actors_end();
	if (!request_ready())
		return;
	expect(c, request_settings() == 0, "left over: %ld settings",
	       request_settings());
	for (int cpu = 0; cpu < cpu_count(); cpu++)
		expect(c, reg(cpu) == options.baseline,
		       "left over: register of CPU %d is 0x%llx", cpu,
		       (unsigned long long)reg(cpu));
}

unsigned long rounds_of(unsigned long own)
{
	if (options.rounds)
		return options.rounds;
	return own > options.slow ? own / options.slow : 1;
}

static bool run_one(const struct test *t)
{
	struct check c = { .name = t->name };

	running = t->name;
	patience_ms = PATIENCE_MS;
	alarm(TEST_LIMIT_S);
	t->run(&c);
	expect_clean(&c);
	alarm(0);
	report(&c);
	return !c.failed;
}

static uint64_t number(const char *text)
{
	char *end;
	uint64_t value;

	errno = 0;
	value = strtoull(text, &end, 0);
	if (errno || end == text || *end)
		die("'%s' is not a number", text);
	return value;
}

static int parse_options(int argc, char **argv)
{
	int i = 1;

	for (; i < argc && !strncmp(argv[i], "--", 2); i++) {
		const char *value = strchr(argv[i], '=');

		if (!value)
			die("%s: needs =VALUE", argv[i]);
		value++;
		if (!strncmp(argv[i], "--baseline=", 11))
			options.baseline = number(value);
		else if (!strncmp(argv[i], "--mark=", 7))
			options.mark = number(value);
		else if (!strncmp(argv[i], "--rounds=", 9))
			options.rounds = number(value);
		else if (!strncmp(argv[i], "--slow=", 7))
			options.slow = number(value);
		else
			die("%s: unknown option", argv[i]);
	}
	return i;
}

static bool wanted(const char *name, int argc, char **argv, int first)
{
	if (first == argc)
		return true;
	for (int i = first; i < argc; i++)
		if (!strcmp(name, argv[i]))
			return true;
	return false;
}

int harness_main(int argc, char **argv, const struct test *tests, size_t count)
{
	bool good = true;
	int first;

	if (argc == 5 && !strcmp(argv[1], "--actor"))
		actor_continue(argv[2], argv[3], argv[4]);
	setvbuf(stdout, NULL, _IOLBF, 0);
	first = parse_options(argc, argv);
	patience_ms = PATIENCE_MS;
	/* Orphans of killed actors come to us, to be reaped with the rest. */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	signal(SIGALRM, too_long);
	machine_init();
	request_init();
	for (size_t i = 0; i < count; i++)
		if (wanted(tests[i].name, argc, argv, first))
			good &= run_one(&tests[i]);
	request_end();
	return good ? 0 : 1;
}
