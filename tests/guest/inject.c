// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The kernel's fault injection: see Documentation/fault-injection.
 */
#include "inject.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>
#include <unistd.h>

#define DEBUG "/sys/kernel/debug/"

/* Where modules live; see Documentation/arch/x86/x86_64/mm.rst. */
#define FIRST  "0xffffffffa0000000"
#define LAST   "0xffffffffff000000"

#define PRINTK "/proc/sys/kernel/printk"
/* What is less grave than an error stays in the log. */
#define ERRORS_ONLY "4"

#define LOG_ALL	    3 /* actions of syslog(2) */
#define LOG_CLEAR   5
#define LOG_SIZE    10

/* So many may fail; what is left tells how many did. */
#define SUPPLY 1000000000

static const char *const kinds[] = { "failslab", "fail_page_alloc" };
static int counter = -1;

static const struct {
	const char *name;
	const char *value;
} setup[] = {
	{ "require-start", FIRST },   { "require-end", LAST },
	{ "stacktrace-depth", "32" }, { "verbose", "0" },
	{ "interval", "1" },	      { "ignore-gfp-wait", "N" },
	{ "probability", "0" },
};

static void path_of(char *path, size_t size, const char *kind, const char *name)
{
	snprintf(path, size, DEBUG "%s/%s", kind, name);
}

bool inject_ready(struct check *c)
{
	char path[80];

	counter = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	if (counter < 0 || !have_file(DEBUG "failslab") ||
	    !have_file(DEBUG "fail_page_alloc")) {
		skip(c, "this kernel has no fault injection");
		return false;
	}
	for (size_t k = 0; k < ARRAY_SIZE(kinds); k++) {
		for (size_t i = 0; i < ARRAY_SIZE(setup); i++) {
			path_of(path, sizeof(path), kinds[k], setup[i].name);
			write_text(path, setup[i].value);
		}
		snprintf(path, sizeof(path), DEBUG "%s/times", kinds[k]);
		write_text(path, "1000000000");
	}
	write_text(DEBUG "fail_page_alloc/ignore-gfp-highmem", "N");
	write_text(DEBUG "fail_page_alloc/min-order", "0");
	return true;
}

static void set_counter(long n)
{
	char text[24];
	int len = snprintf(text, sizeof(text), "%ld", n);

	if (pwrite(counter, text, len, 0) != len)
		die("cannot write fail-nth: %s", strerror(errno));
}

void inject_nth(long n)
{
	set_counter(n);
}

bool inject_hit(void)
{
	char text[24] = "";
	bool hit;

	if (pread(counter, text, sizeof(text) - 1, 0) <= 0)
		die("cannot read fail-nth: %s", strerror(errno));
	hit = !strtol(text, NULL, 10);
	if (!hit)
		set_counter(0);
	return hit;
}

void inject_all(unsigned int percent)
{
	char path[80], text[16];

	snprintf(text, sizeof(text), "%u", percent);
	for (size_t k = 0; k < ARRAY_SIZE(kinds); k++) {
		path_of(path, sizeof(path), kinds[k], "probability");
		write_text(path, text);
	}
}

unsigned long inject_count(void)
{
	unsigned long sum = 0;
	char path[80];

	for (size_t k = 0; k < ARRAY_SIZE(kinds); k++) {
		path_of(path, sizeof(path), kinds[k], "times");
		sum += SUPPLY - read_number(path);
	}
	return sum;
}

static char level[16];

void inject_quietly(void)
{
	snprintf(level, sizeof(level), "%ld", read_number(PRINTK));
	klogctl(LOG_CLEAR, NULL, 0);
	write_text(PRINTK, ERRORS_ONLY);
}

/* A refused allocation is told with a call trace; what follows is not. */
static bool is_trouble(const char *line)
{
	static const char *const words[] = {
		"WARNING:",
		"BUG:",
		"possible circular",
		"possible rec",
		"inconsistent lock",
		"suspicious RCU",
		"KASAN:",
		"ODEBUG:",
		"sleeping function",
	};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strstr(line, words[i]))
			return true;
	return false;
}

void inject_loudly(struct check *c)
{
	int size = klogctl(LOG_SIZE, NULL, 0);
	char *text = calloc(1, size + 1);
	char *rest = text;
	char *line;

	write_text(PRINTK, level);
	if (!text || klogctl(LOG_ALL, text, size) < 0)
		die("cannot read the kernel's log: %s", strerror(errno));
	while ((line = strsep(&rest, "\n"))) {
		if (!is_trouble(line))
			continue;
		/* For the console, where the host looks. */
		log_line(line);
		expect(c, false, "the kernel says: %s", line);
	}
	free(text);
}
