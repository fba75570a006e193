// SPDX-License-Identifier: GPL-2.0-or-later
/* The command line, and the filters that it gives. */
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "monitor.h"
#include "text.h"

#define SECOND INT64_C(1000000000)
/* Ten years; longer is surely a mistake. */
#define LONGEST_DURATION (INT64_C(315360000) * SECOND)

static const char *const kinds[KINDS] = {
	[KIND_HELLO] = "hello", [KIND_STATE] = "state",
	[KIND_CORE] = "core",	[KIND_SETTING] = "setting",
	[KIND_LOST] = "lost",	[KIND_RESYNC] = "resync",
	[KIND_GONE] = "gone",	[KIND_BYE] = "bye",
};

struct reader {
	struct options *options;
	char **next;
	char *why;
	size_t why_size;
};

const char *kind_name(enum kind kind)
{
	return kinds[kind];
}

static int __attribute__((format(printf, 2, 3)))
wrong(struct reader *rd, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(rd->why, rd->why_size, fmt, ap);
	va_end(ap);
	return -1;
}

static int read_list(struct reader *rd, const char *key, const char *value,
		     uint32_t min, uint32_t **list, size_t *count)
{
	const char *at = value;

	for (;;) {
		size_t len = strcspn(at, ",");
		uint32_t *more;
		uint64_t n;

		if (text_number(at, len, INT_MAX, &n) || n < min)
			return wrong(rd,
				     "'%.*s' is not a number for %s=; "
				     "allowed: %u to %d, several by comma",
				     shown(len), at, key, min, INT_MAX);
		more = reallocarray(*list, *count + 1, sizeof(*more));
		if (!more)
			return wrong(rd, "out of memory");
		*list = more;
		(*list)[(*count)++] = (uint32_t)n;
		if (!at[len])
			return 0;
		at += len + 1;
	}
}

static int read_kinds(struct reader *rd, const char *value)
{
	const char *at = value;

	/* lost, gone and bye are told in any case. */
	rd->options->kinds = 0;
	for (;;) {
		size_t len = strcspn(at, ",");
		int kind;

		for (kind = 0; kind < KINDS; kind++)
			if (same_word(kinds[kind], at, len))
				break;
		if (kind == KINDS)
			return wrong(rd,
				     "'%.*s' is not a kind for event=; "
				     "allowed: hello, state, core, setting, "
				     "lost, resync, gone, bye",
				     shown(len), at);
		rd->options->kinds |= KIND_BIT(kind);
		if (!at[len])
			return 0;
		at += len + 1;
	}
}

static int read_count(struct reader *rd, const char *value)
{
	if (text_number(value, strlen(value), UINT64_MAX,
			&rd->options->count) ||
	    !rd->options->count)
		return wrong(rd, "'%.60s' is not a count; allowed: 1 or more",
			     value);
	return 0;
}

/* Seconds, with an optional fraction; the locale does not matter. */
static int read_duration(struct reader *rd, const char *value)
{
	size_t whole = strcspn(value, ".");
	const char *c = value + whole;
	int64_t unit = SECOND;
	uint64_t seconds = 0;
	int64_t ns = 0;

	if (whole &&
	    text_number(value, whole, LONGEST_DURATION / SECOND, &seconds))
		goto bad;
	if (*c && (!whole || c[1])) {
		for (c++; *c >= '0' && *c <= '9'; c++) {
			unit /= 10;
			ns += (*c - '0') * unit;
		}
		if (c == value + whole + 1)
			goto bad;
	}
	if (*c)
		goto bad;
	ns += (int64_t)seconds * SECOND;
	if (ns <= 0)
		goto bad;
	rd->options->duration = ns;
	return 0;
bad:
	return wrong(rd,
		     "'%.60s' is not a duration; allowed: seconds, such as 10 "
		     "or 0.5",
		     value);
}

static int read_pair(struct reader *rd, const char *key, size_t len,
		     const char *value)
{
	struct options *o = rd->options;

	if (same_word("pid", key, len))
		return read_list(rd, "pid", value, 1, &o->pids, &o->pids_count);
	if (same_word("core", key, len))
		return read_list(rd, "core", value, 0, &o->cores,
				 &o->cores_count);
	if (same_word("event", key, len))
		return read_kinds(rd, value);
	if (same_word("count", key, len))
		return read_count(rd, value);
	if (same_word("duration", key, len))
		return read_duration(rd, value);
	return wrong(rd,
		     "unknown word '%.*s'; allowed: pid=, core=, event=, "
		     "--count, --duration, --json, --tshort, --top, --help, "
		     "--version",
		     shown(len), key);
}

static const char *long_key(const char *word)
{
	static const struct {
		const char *word, *key;
	} keys[] = {
		{ "-p", "pid" },      { "--pid", "pid" },
		{ "--core", "core" }, { "--event", "event" },
		{ "-c", "count" },    { "--count", "count" },
		{ "-d", "duration" }, { "--duration", "duration" },
	};
	size_t i;

	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (!strcmp(keys[i].word, word))
			return keys[i].key;
	return NULL;
}

static bool *flag(struct options *o, const char *word)
{
	if (!strcmp(word, "-j") || !strcmp(word, "--json"))
		return &o->json;
	if (!strcmp(word, "-t") || !strcmp(word, "--tshort"))
		return &o->tshort;
	if (!strcmp(word, "--top"))
		return &o->top;
	if (!strcmp(word, "-h") || !strcmp(word, "--help"))
		return &o->help;
	if (!strcmp(word, "-V") || !strcmp(word, "--version"))
		return &o->version;
	return NULL;
}

static int read_word(struct reader *rd, const char *word)
{
	bool *f = flag(rd->options, word);
	const char *key = long_key(word);
	const char *equals = strchr(word, '=');

	if (f) {
		*f = true;
		return 0;
	}
	if (key) {
		if (!*rd->next)
			return wrong(rd, "'%.60s' needs a value", word);
		return read_pair(rd, key, strlen(key), *rd->next++);
	}
	if (equals) {
		if (!strncmp(word, "--", 2))
			word += 2;
		return read_pair(rd, word, (size_t)(equals - word), equals + 1);
	}
	return read_pair(rd, word, strlen(word), "");
}

int options_parse(struct options *options, char **words, char *why,
		  size_t why_size)
{
	struct reader rd = {
		.options = options,
		.next = words,
		.why = why,
		.why_size = why_size,
	};

	*options = (struct options){ .kinds = KIND_BIT(KINDS) - 1 };
	while (*rd.next) {
		if (read_word(&rd, *rd.next++))
			return -1;
		if (options->help || options->version)
			return 0;
	}
	if (options->top && options->json)
		return wrong(&rd, "--top does not go with --json");
	return 0;
}

void options_free(struct options *options)
{
	free(options->pids);
	free(options->cores);
	options->pids = NULL;
	options->cores = NULL;
}

static bool in_list(const uint32_t *list, size_t count, uint32_t number)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (list[i] == number)
			return true;
	return !count;
}

bool wants_kind(const struct options *options, enum kind kind)
{
	return options->kinds & KIND_BIT(kind);
}

bool wants_core_event(const struct options *options,
		      const struct pfnl_core_event *event)
{
	return wants_kind(options, KIND_CORE) &&
	       in_list(options->pids, options->pids_count, event->pid) &&
	       in_list(options->cores, options->cores_count, event->domain);
}

bool wants_core(const struct options *options, const struct pfnl_core *core)
{
	return wants_kind(options, KIND_STATE) && !options->pids_count &&
	       in_list(options->cores, options->cores_count, core->domain);
}

bool wants_setting(const struct options *options,
		   const struct pfnl_setting *setting)
{
	return !options->cores_count &&
	       in_list(options->pids, options->pids_count, setting->pid);
}

void print_usage(void)
{
	fputs("Usage: prefetch-monitor [OPTION ...] [FILTER ...]\n\n"
	      "Show live when a core's prefetchers or a task's setting "
	      "change.\n"
	      "Begins with the state now. Never changes anything.\n\n"
	      "  -j, --json            one JSON object a line\n"
	      "  -t, --tshort          date and time before each line\n"
	      "  -c, --count N         end after N events\n"
	      "  -d, --duration SEC    end after SEC seconds\n"
	      "      --top             a live table of cores\n"
	      "  -h, --help            this help\n"
	      "  -V, --version         version\n\n"
	      "  pid=PID[,PID]         only what concerns these processes\n"
	      "  core=N[,N]            only what concerns these cores\n"
	      "  event=KIND[,KIND]     only these kinds of line: hello, "
	      "state,\n"
	      "                        core, setting, resync; lost, gone and "
	      "bye\n"
	      "                        are always told\n\n"
	      "Events need CAP_SYS_ADMIN; --top does not, and then hides the "
	      "tasks.\n"
	      "Exit status: 0 ended by count, duration, signal or a closed\n"
	      "output, 1 failure, 2 usage, 3 not permitted, 4 module not "
	      "loaded.\n",
	      stdout);
}
