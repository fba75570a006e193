// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The command lines of both programs: a byte that chooses the program and the
 * subcommand, then the words, each ended by a NUL byte.
 */
#include <string.h>

#include "ctl.h"
#include "fuzz.h"
#include "words.h"

#define MOST_WORDS 64

static char **split(char *text, size_t size)
{
	static char *words[MOST_WORDS + 1];
	size_t count = 0;
	size_t at = 0;

	while (at < size && count < MOST_WORDS) {
		words[count++] = text + at;
		at += strlen(text + at) + 1;
	}
	words[count] = NULL;
	return words;
}

static void check_request(const struct command *command,
			  const struct request *req)
{
	size_t i;

	HOLDS(!(req->off & req->on) && !(req->off & req->clear) &&
	      !(req->on & req->clear));
	HOLDS(!((req->off | req->on | req->clear) & ~PFNL_MASK_ALL));
	HOLDS(!(req->grouped & ~(req->off | req->on | req->clear)));
	HOLDS(req->inherit >= -1 && req->inherit <= 1);
	for (i = 0; i < req->ids_count; i++)
		HOLDS(req->ids[i] > 0);
	if (req->help || req->version)
		return;
	if (req->target == TARGET_NONE)
		HOLDS(!(command->takes & NEEDS_TARGET));
	else
		HOLDS(command->targets & TARGET_BIT(req->target));
	if (req->target >= TARGET_PID && req->target <= TARGET_TREE)
		HOLDS(req->ids_count);
	if (command->takes & TAKES_COMMAND)
		HOLDS(req->command && req->command[0]);
}

static void parse_request(uint8_t which, char **words)
{
	const struct command *command = commands;
	struct complaint why;
	struct request req;

	while (which-- % 16 && command[1].name)
		command++;
	if (request_parse(&req, words, command->targets, command->takes,
			  &why)) {
		HOLDS(why.text[0]);
		must_be_text(why.text, sizeof(why.text));
	} else {
		check_request(command, &req);
	}
	request_free(&req);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	uint8_t which = take_u8(&in);
	char *text = malloc(in.size + 1);
	char **words;

	HOLDS(text);
	if (in.size)
		memcpy(text, in.data, in.size);
	text[in.size] = '\0';
	words = split(text, in.size);
	if (which & 0x80)
		monitor_words(words);
	else
		parse_request(which, words);
	free(text);
	return 0;
}
