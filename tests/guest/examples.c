// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The library's examples, as they are installed, against the module.
 */
#include "actor.h"

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"
#include "request.h"

#define OUTPUT	  "/tmp/example-output"

#define MOST_ARGS 8

static char word[MOST_ARGS][64];

/* An argument that is made up; which of them is told. */
static const char *PRINTF(2, 3) make(int which, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(word[which], sizeof(word[which]), fmt, args);
	va_end(args);
	return word[which];
}

static pid_t start(const char *const *argv)
{
	pid_t pid;

	unlink(OUTPUT);
	pid = fork();
	if (!pid) {
		int fd = open(OUTPUT, O_WRONLY | O_CREAT | O_TRUNC, 0600);

		dup2(fd, STDOUT_FILENO);
		dup2(fd, STDERR_FILENO);
		execvp(argv[0], (char *const *)(uintptr_t)argv);
		_exit(127);
	}
	return pid;
}

static const char *output(void)
{
	static char text[16384];
	int fd = open(OUTPUT, O_RDONLY | O_CLOEXEC);
	ssize_t n = 0;

	if (fd >= 0) {
		n = read(fd, text, sizeof(text) - 1);
		close(fd);
	}
	text[n > 0 ? n : 0] = '\0';
	return text;
}

/* How often it has said that. */
static int said(const char *line)
{
	int count = 0;

	for (const char *at = output(); (at = strstr(at, line)); at++)
		count++;
	return count;
}

static void ends_with(struct check *c, pid_t pid, int want)
{
	pid_t got = 0;
	int status = -1;

	expect(c, wait_for((got = waitpid(pid, &status, WNOHANG))),
	       "it does not end: %s", output());
	/* The end of a check waits for all that were started. */
	if (!got)
		kill(pid, SIGKILL);
	expect(c,
	       got == pid && WIFEXITED(status) && WEXITSTATUS(status) == want,
	       "ended with 0x%x: %s", (unsigned int)status, output());
}

static void set_and_verify(struct check *c)
{
	struct actor *a = actor_new(domain_cpu(0));
	const char *argv[] = { "example-set-and-verify", make(0, "%d", a->pid),
			       "l2_stream", "l1_ip", NULL };
	const char *unknown[] = { argv[0], argv[1], "nonsense", NULL };
	const char *nobody[] = { argv[0], "4000000", "l1_ip", NULL };

	actor_spin(a);
	ends_with(c, start(argv), 0);
	expect(c, said("runs on 1 cores, 0 of them wrong") == 1, "said: %s",
	       output());
	expect(c, get_pid(a->pid).off == (L2_STREAM | L1_IP), "is off: 0x%x",
	       get_pid(a->pid).off);
	expect(c, reg_of(a) == (L2_STREAM | L1_IP), "register 0x%llx",
	       (unsigned long long)reg_of(a));
	/* Somebody else writes it: the setting is there, so it stays wrong. */
	reg_write(a->cpu, L1_IP);
	ends_with(c, start(argv), 1);
	expect(c, said("runs on 1 cores, 1 of them wrong") == 1, "said: %s",
	       output());
	ends_with(c, start(unknown), 2);
	expect(c, said("unknown prefetcher nonsense") == 1, "said: %s",
	       output());
	ends_with(c, start(nobody), 1);
	expect(c, said("set: no such task") == 1, "said: %s", output());
}

static void follow_cores(struct check *c)
{
	const char *argv[] = { "example-follow-cores", "2", NULL };
	struct actor *a = actor_new(domain_cpu(0));
	pid_t pid = start(argv);

	for (int d = 0; d < domain_count(); d++)
		expect(c, wait_for(said(make(0, "core %d: off are none\n", d))),
		       "nothing of core %d: %s", d, output());
	actor_spin(a);
	expect(c, !set_pid(a->pid, L1_IP, 0), "set failed");
	expect(c, wait_for(said("core 0: off are l1_ip\n")), "said: %s",
	       output());
	expect(c, !set_pid(a->pid, L2_STREAM, L1_IP), "set failed");
	expect(c, wait_for(said("core 0: off are l2_stream\n")), "said: %s",
	       output());
	ends_with(c, pid, 0);
}

static void agent(struct check *c)
{
	struct actor *a = actor_new(domain_cpu(0));
	struct actor *b = actor_new(domain_cpu(0) + 1);
	struct actor *stranger = actor_new(domain_cpu(1));
	const char *argv[] = { "example-agent", make(0, "%d=l2_stream", a->pid),
			       make(1, "%d=l1_ip", b->pid), NULL };
	pid_t pid = start(argv);

	actor_spin(a);
	make(2, "pid %d is set\n", a->pid);
	make(3, "pid %d is set\n", b->pid);
	expect(c, wait_for(said(word[2]) == 1 && said(word[3]) == 1),
	       "said: %s", output());
	expect(c, wait_for(reg_of(a) == L2_STREAM), "register 0x%llx",
	       (unsigned long long)reg_of(a));

	expect(c, !module_unload(), "cannot unload");
	expect(c, wait_for(said("the module is not loaded; waiting\n")),
	       "said: %s", output());
	expect(c, reg_of(a) == 0, "the register is 0x%llx without the module",
	       (unsigned long long)reg_of(a));
	expect(c, !module_load(""), "cannot load");
	expect(c, wait_for(said(word[2]) == 2 && said(word[3]) == 2),
	       "not set again: %s", output());
	expect(c, get_pid(a->pid).off == L2_STREAM, "0x%x is off",
	       get_pid(a->pid).off);
	expect(c, get_pid(b->pid).off == L1_IP, "0x%x is off",
	       get_pid(b->pid).off);
	expect(c, request_settings() == 2, "%ld settings", request_settings());
	expect(c, !get_pid(stranger->pid).present, "a stranger is set");
	expect(c, wait_for(reg_of(a) == L2_STREAM), "register 0x%llx",
	       (unsigned long long)reg_of(a));

	/* It has nothing to do when the last of them is gone. */
	actor_kill(a);
	expect(c, !waitpid(pid, NULL, WNOHANG), "ended too early: %s",
	       output());
	actor_kill(b);
	ends_with(c, pid, 0);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "examples_set_and_verify", set_and_verify },
		{ "examples_follow_cores", follow_cores },
		{ "examples_agent", agent },
	};

	return harness_main(argc, argv, tests, ARRAY_SIZE(tests));
}
