// SPDX-License-Identifier: GPL-2.0-or-later
/* From the command line to one subcommand, and its exit status back. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl.h"
#include "text.h"

bool colour_wanted(FILE *out)
{
	const char *no_color = getenv("NO_COLOR");
	const char *term = getenv("TERM");

	if (no_color && *no_color)
		return false;
	if (term && !strcmp(term, "dumb"))
		return false;
	return isatty(fileno(out));
}

int emit_json(struct ctl *ctl, json_t *object)
{
	/* A batch gives one line a request, so that a reader can follow. */
	size_t flags = ctl->in_batch ? JSON_COMPACT : JSON_INDENT(2);
	int err;

	if (!object)
		return say_error(ctl, STATUS_FAILED, "out of memory");
	err = json_object_set_new(object, "schema", json_integer(1));
	if (!err)
		err = json_dumpf(object, stdout, flags);
	json_decref(object);
	if (err)
		return say_error(ctl, STATUS_FAILED, "cannot write JSON");
	putchar('\n');
	return STATUS_DONE;
}

static void print_json_help(const struct command *command)
{
	const struct command *c;
	json_t *list = json_array();

	for (c = commands; c->name; c++)
		if (!command || c == command)
			json_array_append_new(list,
					      json_pack("{s:s, s:s, s:s}",
							"name", c->name,
							"usage", c->usage,
							"summary", c->summary));
	emit_json(&(struct ctl){ 0 }, json_pack("{s:o}", "commands", list));
}

void print_help(const struct command *command)
{
	const struct command *c;

	if (command) {
		printf("Usage: prefetchctl %s\n\n%c%s.\n\n%s", command->usage,
		       toupper(command->summary[0]), command->summary + 1,
		       command->details);
		fputs("\nWith --json (-j) the result is a JSON object.\n",
		      stdout);
		return;
	}
	fputs("Usage: prefetchctl [--json] COMMAND ...\n\n"
	      "Switch hardware prefetchers per process or thread.\n\n",
	      stdout);
	for (c = commands; c->name; c++)
		printf("  %-8s %s\n", c->name, c->summary);
	fputs("\n"
	      "  prefetchctl set pid=1234 l2_stream=off\n"
	      "  prefetchctl run l1=off -- COMMAND\n"
	      "  prefetchctl cores --verify\n\n"
	      "'prefetchctl help COMMAND' says more, 'prefetchctl help names' "
	      "lists\n"
	      "the prefetchers. Exit status: 0 done, 1 failure, 2 usage, 3 "
	      "not\n"
	      "permitted, 4 not supported here or module not loaded, 5 no "
	      "such\n"
	      "task, 6 some of several requests failed.\n",
	      stdout);
}

/* All names that the library knows, on any machine. */
static int help_names(struct ctl *ctl)
{
	const struct pfnl_group_name *group;
	const struct pfnl_name *name;
	json_t *list = ctl->json ? json_array() : NULL;

	for (name = pfnl_names(NULL); name->name; name++) {
		if (list)
			json_array_append_new(list, json_string(name->name));
		else
			printf("  %-13s %s\n", name->name, name->description);
	}
	for (group = pfnl_group_names(NULL); group->name; group++) {
		char text[PFNL_MASK_NAMES_SIZE];

		if (list)
			json_array_append_new(list, json_string(group->name));
		else if (group->mask == PFNL_MASK_ALL)
			printf("  %-13s group: everything\n", group->name);
		else
			printf("  %-13s group: %s\n", group->name,
			       mask_text(group->mask, "-", text));
	}
	return list ? emit_json(ctl, json_pack("{s:o}", "names", list))
		    : STATUS_DONE;
}

int cmd_help(struct ctl *ctl, const struct request *req)
{
	const struct command *command = NULL;

	if (req->word && !strcmp(req->word, "names"))
		return help_names(ctl);
	if (req->word) {
		command = command_find(req->word);
		if (!command)
			return say_error(ctl, STATUS_USAGE,
					 "help: unknown command '%.60s'; "
					 "'prefetchctl help' lists them",
					 req->word);
	}
	if (ctl->json)
		print_json_help(command);
	else
		print_help(command);
	return STATUS_DONE;
}

static int unknown_command(struct ctl *ctl, const char *word)
{
	const struct command *c;
	char known[256] = "";
	size_t used = 0;

	for (c = commands; c->name; c++) {
		snprintf(known + used, sizeof(known) - used, "%s%s",
			 used ? ", " : "", c->name);
		used = strlen(known);
	}
	return say_error(ctl, STATUS_USAGE,
			 "unknown command '%.60s'; known: %s", word, known);
}

int command_run(struct ctl *ctl, char **words)
{
	const struct command *command = command_find(words[0]);
	bool json = ctl->json;
	struct complaint why;
	struct request req;
	int status;

	if (!command)
		return unknown_command(ctl, words[0]);
	if (ctl->in_batch && command->not_in_batch)
		return say_error(ctl, STATUS_USAGE,
				 "'%s' is not allowed in a batch", words[0]);
	if (request_parse(&req, words + 1, command->targets, command->takes,
			  &why)) {
		status = say_error(ctl, STATUS_USAGE, "%s: %s", command->name,
				   why.text);
		if (!ctl->in_batch)
			say_more("usage: prefetchctl %s\n", command->usage);
		request_free(&req);
		return status;
	}
	ctl->json |= req.json;
	if (req.help) {
		print_help(command);
		status = STATUS_DONE;
	} else if (req.version) {
		status = cmd_version(ctl, &req);
	} else {
		status = command->run(ctl, &req);
	}
	ctl->json = json;
	request_free(&req);
	return status;
}

/* The options that may stand before the subcommand. */
static int run_words(struct ctl *ctl, char **words)
{
	for (; *words && (*words)[0] == '-'; words++) {
		const char *word = *words;

		if (!strcmp(word, "--json") || !strcmp(word, "-j")) {
			ctl->json = true;
		} else if (!strcmp(word, "--help") || !strcmp(word, "-h")) {
			print_help(NULL);
			return STATUS_DONE;
		} else if (!strcmp(word, "--version") || !strcmp(word, "-V")) {
			return cmd_version(ctl, &(struct request){ 0 });
		} else {
			return say_error(
				ctl, STATUS_USAGE,
				"unknown option '%.60s'; allowed before "
				"the command: --json, --help, "
				"--version",
				word);
		}
	}
	if (!*words) {
		int status = say_error(ctl, STATUS_USAGE, "no command given");

		say_more("'prefetchctl help' lists the commands\n");
		return status;
	}
	return command_run(ctl, words);
}

int ctl_main(char **argv)
{
	struct ctl ctl = { .where = "" };
	int status;

	hold_standard_descriptors();
	status = run_words(&ctl, argv[0] ? argv + 1 : argv);
	/* Output that did not reach its file is no success. */
	if (fflush(stdout) || ferror(stdout)) {
		int err = errno;

		if (status == STATUS_DONE)
			status = say_error(&ctl, STATUS_FAILED,
					   "cannot write the output: %s",
					   strerror(err));
	}
	ctl_close(&ctl);
	return status;
}
