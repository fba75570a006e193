// SPDX-License-Identifier: GPL-2.0-or-later
/* prefetchctl batch: requests from a file, one a line */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ctl.h"

#define BLANKS " \t\r\n\f\v"

/* The words of @line, in place; ended by NULL. */
static char **split(char *line)
{
	size_t room = strlen(line) / 2 + 2;
	char **words = calloc(room, sizeof(*words));
	size_t count = 0;
	char *save = NULL;
	char *word;

	if (!words)
		return NULL;
	for (word = strtok_r(line, BLANKS, &save); word;
	     word = strtok_r(NULL, BLANKS, &save))
		words[count++] = word;
	return words;
}

/* One line; STATUS_DONE for an empty one or a comment. */
static int run_line(struct ctl *ctl, char *line)
{
	char **words = split(line);
	int status = STATUS_DONE;

	if (!words)
		return say_error(ctl, STATUS_FAILED, "out of memory");
	if (words[0] && words[0][0] != '#') {
		/* As on the command line, --json may come first. */
		char **first = words;
		bool json = ctl->json;

		while (*first &&
		       (!strcmp(*first, "--json") || !strcmp(*first, "-j"))) {
			ctl->json = true;
			first++;
		}
		if (*first)
			status = command_run(ctl, first);
		else
			status = say_error(ctl, STATUS_USAGE,
					   "no command given");
		ctl->json = json;
		/* A reader of the other end of a pipe waits for each answer. */
		fflush(stdout);
	}
	free(words);
	return status;
}

static int run_file(struct ctl *ctl, FILE *file, const char *name,
		    bool keep_going)
{
	unsigned long number = 0;
	size_t failed = 0;
	char *line = NULL;
	size_t size = 0;
	ssize_t len;
	int status = STATUS_DONE;

	ctl->in_batch = true;
	while ((len = getline(&line, &size, file)) >= 0) {
		char where[256];

		snprintf(where, sizeof(where), "%.200s:%lu: ", name, ++number);
		ctl->where = where;
		if (strlen(line) != (size_t)len)
			status = say_error(ctl, STATUS_USAGE,
					   "a NUL byte in the line");
		else
			status = run_line(ctl, line);
		ctl->where = "";
		if (!status)
			continue;
		failed++;
		if (ctl->module_absent || !keep_going)
			break;
	}
	if (!failed && ferror(file))
		status = say_error(ctl, STATUS_FAILED, "%s: %s", name,
				   strerror(errno));
	else if (ctl->module_absent)
		status = STATUS_UNSUPPORTED;
	else
		status = failed ? STATUS_PARTLY : STATUS_DONE;
	ctl->in_batch = false;
	free(line);
	return status;
}

int cmd_batch(struct ctl *ctl, const struct request *req)
{
	bool standard_input = !strcmp(req->word, "-");
	const char *name = standard_input ? "standard input" : req->word;
	FILE *file = standard_input ? stdin : fopen(req->word, "re");
	int status;

	if (!file)
		return say_error(ctl, STATUS_FAILED, "%s: %s", name,
				 strerror(errno));
	status = run_file(ctl, file, name, req->keep_going);
	if (!standard_input)
		fclose(file);
	return status;
}
