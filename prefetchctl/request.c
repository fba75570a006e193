// SPDX-License-Identifier: GPL-2.0-or-later
/* Words of the command line to struct request. */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "names.h"
#include "request.h"
#include "text.h"

struct reader {
	struct request *req;
	char **next; /* next word */
	unsigned int targets, takes;
	struct complaint *why;
	bool names_seen;
};

/* One word, taken apart. */
struct word {
	enum { WORD_BARE, WORD_PAIR, WORD_FLAG, WORD_END } kind;
	const char *text; /* as written */
	const char *key;  /* WORD_PAIR and WORD_FLAG: not NUL-terminated */
	size_t key_len;
	const char *value; /* WORD_PAIR, WORD_BARE */
};

static int __attribute__((format(printf, 2, 3)))
complain(struct reader *rd, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(rd->why->text, sizeof(rd->why->text), fmt, ap);
	va_end(ap);
	return -1;
}

struct flag {
	const char *name;
	char letter;
	unsigned int takes; /* 0: always allowed */
	size_t offset;
};

#define FLAG(name, letter, takes, member)                             \
	{                                                             \
		name, letter, takes, offsetof(struct request, member) \
	}

static const struct flag flags[] = {
	FLAG("json", 'j', 0, json),
	FLAG("help", 'h', 0, help),
	FLAG("version", 'V', 0, version),
	FLAG("verify", 'v', TAKES_VERIFY, verify),
	FLAG("report", 'r', TAKES_REPORT, report),
	FLAG("keep-going", 'k', TAKES_KEEP_GOING, keep_going),
};

static const struct flag *find_flag(const char *key, size_t len)
{
	size_t i;

	/* Here case counts, as for -v and -V. */
	for (i = 0; i < len; i++)
		if (len > 1 && key[i] >= 'A' && key[i] <= 'Z')
			return NULL;
	for (i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		if (same_word(flags[i].name, key, len))
			return &flags[i];
		if (len == 1 && key[0] == flags[i].letter)
			return &flags[i];
	}
	return NULL;
}

static bool is_value(const struct word *word, const char *known)
{
	return same_word(known, word->value, strlen(word->value));
}

static int take_target(struct reader *rd, const struct word *word,
		       enum target_kind kind)
{
	struct request *req = rd->req;

	if (!(rd->targets & TARGET_BIT(kind)))
		return complain(rd, "'%.60s': not a target of this command",
				word->text);
	if (req->target != TARGET_NONE)
		return complain(rd,
				"'%.60s': there is a target already: '%.60s'",
				word->text, req->target_word);
	req->target = kind;
	req->target_word = word->text;
	return 0;
}

struct place {
	pid_t id;
	size_t at;
};

static int compare_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

/*
 * Who is named twice is meant once, where it is named first. Sorted for this,
 * since the line of a batch may have as many as there is memory for.
 */
static int drop_repeated(struct request *req)
{
	struct place *places = calloc(req->ids_count, sizeof(*places));
	size_t count = 0;
	size_t i;

	if (!places)
		return -1;
	for (i = 0; i < req->ids_count; i++)
		places[i] = (struct place){ .id = req->ids[i], .at = i };
	qsort(places, req->ids_count, sizeof(*places), compare_places);
	for (i = 1; i < req->ids_count; i++)
		if (places[i].id == places[i - 1].id)
			req->ids[places[i].at] = 0;
	free(places);
	for (i = 0; i < req->ids_count; i++)
		if (req->ids[i])
			req->ids[count++] = req->ids[i];
	req->ids_count = count;
	return 0;
}

static int take_ids(struct reader *rd, const struct word *word,
		    enum target_kind kind)
{
	struct request *req = rd->req;
	const char *at = word->value;
	size_t room = 1;
	const char *c;

	if (take_target(rd, word, kind))
		return -1;
	for (c = at; *c; c++)
		room += *c == ',';
	req->ids = calloc(room, sizeof(*req->ids));
	if (!req->ids)
		return complain(rd, "out of memory");
	for (;;) {
		size_t len = strcspn(at, ",");
		uint64_t id;

		if (text_number(at, len, INT_MAX, &id) || !id)
			return complain(rd,
					"'%.*s' is not a %s id; in '%.60s'; "
					"allowed: 1 to %d, several by comma",
					shown(len), at,
					kind == TARGET_TID ? "thread"
							   : "process",
					word->text, INT_MAX);
		req->ids[req->ids_count++] = (pid_t)id;
		if (!at[len])
			break;
		at += len + 1;
	}
	return drop_repeated(req) ? complain(rd, "out of memory") : 0;
}

/*
 * What was named itself stays so when a group says the same of it: @said, the
 * mask that it was added to. Otherwise the machine could lack it in silence.
 */
static void remember_group(struct request *req, uint32_t mask, uint32_t said,
			   bool is_group)
{
	if (is_group)
		req->grouped |= mask & ~said;
	else
		req->grouped &= ~mask;
}

static int take_state(struct reader *rd, const struct word *word, uint32_t mask,
		      bool is_group)
{
	struct request *req = rd->req;
	uint32_t *to;

	if (!(rd->takes & TAKES_STATES))
		return complain(rd,
				"'%.60s': this command takes no prefetchers",
				word->text);
	if (is_value(word, "off"))
		to = &req->off;
	else if (is_value(word, "on"))
		to = &req->on;
	else if (is_value(word, "default"))
		to = &req->clear;
	else
		return complain(rd,
				"'%.60s' is not a state; in '%.60s'; "
				"allowed: off, on, default",
				word->value, word->text);
	remember_group(req, mask, *to, is_group);
	/* A later word overrides an earlier one: l1=off l1_ip=on. */
	req->off &= ~mask;
	req->on &= ~mask;
	req->clear &= ~mask;
	*to |= mask;
	return 0;
}

static int take_inherit(struct reader *rd, const struct word *word)
{
	if (!(rd->takes & TAKES_INHERIT))
		return complain(rd, "'%.60s': this command takes no inherit",
				word->text);
	if (is_value(word, "on"))
		rd->req->inherit = 1;
	else if (is_value(word, "off"))
		rd->req->inherit = 0;
	else
		return complain(
			rd,
			"'%.60s' is not a state of inherit; in '%.60s'; "
			"allowed: on, off",
			word->value, word->text);
	return 0;
}

static int take_start(struct reader *rd, const struct word *word)
{
	uint64_t ns;

	if (!(rd->takes & TAKES_START))
		return complain(rd, "'%.60s': this command takes no start-time",
				word->text);
	if (text_number(word->value, strlen(word->value), UINT64_MAX, &ns) ||
	    !ns)
		return complain(rd,
				"'%.60s' is not a start time; in '%.60s'; "
				"allowed: nanoseconds since boot, as in the "
				"JSON output of get",
				word->value, word->text);
	rd->req->start_time = ns;
	return 0;
}

static int unknown_name(struct reader *rd, const char *key, size_t len)
{
	return complain(rd, "unknown prefetcher '%.*s'; known: %s", shown(len),
			key, names_known());
}

static int take_names(struct reader *rd, const struct word *word)
{
	const char *at = word->value;

	for (;;) {
		size_t len = strcspn(at, ",");
		uint32_t mask;
		bool is_group;

		if (!name_to_mask(at, len, &mask, &is_group))
			return unknown_name(rd, at, len);
		remember_group(rd->req, mask, rd->req->off, is_group);
		rd->req->off |= mask;
		if (!at[len])
			break;
		at += len + 1;
	}
	rd->names_seen = true;
	return 0;
}

static int take_pair(struct reader *rd, const struct word *word)
{
	uint32_t mask;
	bool is_group;

	if (same_word("pid", word->key, word->key_len))
		return take_ids(rd, word, TARGET_PID);
	if (same_word("tid", word->key, word->key_len))
		return take_ids(rd, word, TARGET_TID);
	if (same_word("tree", word->key, word->key_len))
		return take_ids(rd, word, TARGET_TREE);
	if (same_word("inherit", word->key, word->key_len))
		return take_inherit(rd, word);
	if (same_word("start-time", word->key, word->key_len))
		return take_start(rd, word);
	if (name_to_mask(word->key, word->key_len, &mask, &is_group))
		return take_state(rd, word, mask, is_group);
	if (rd->takes & TAKES_STATES)
		return unknown_name(rd, word->key, word->key_len);
	return complain(rd, "unknown word '%.60s'", word->text);
}

static int take_bare(struct reader *rd, const struct word *word)
{
	struct request *req = rd->req;

	if ((rd->takes & TAKES_NAMES) && !rd->names_seen)
		return take_names(rd, word);
	if ((rd->takes & TAKES_PID_WORD) && req->target == TARGET_NONE)
		return take_ids(rd, word, TARGET_PID);
	/* Before the targets: a file may be called "all". */
	if ((rd->takes & (TAKES_TOPIC | TAKES_FILE)) && !req->word) {
		req->word = word->text;
		return 0;
	}
	if (is_value(word, "self"))
		return take_target(rd, word, TARGET_SELF);
	if (is_value(word, "default"))
		return take_target(rd, word, TARGET_DEFAULT);
	if (is_value(word, "all"))
		return take_target(rd, word, TARGET_ALL);
	if ((rd->takes & TAKES_STATES) &&
	    name_to_mask(word->text, strlen(word->text), &(uint32_t){ 0 },
			 NULL))
		return complain(rd,
				"'%.60s': say what it shall be: %s=off, "
				"%s=on or %s=default",
				word->text, word->text, word->text, word->text);
	if (rd->takes & TAKES_COMMAND)
		return complain(rd, "'%.60s': put -- before the command",
				word->text);
	return complain(rd, "unknown word '%.60s'", word->text);
}

static int take_flag(struct reader *rd, const struct word *word)
{
	const struct flag *flag = find_flag(word->key, word->key_len);

	if (flag->takes && !(rd->takes & flag->takes))
		return complain(rd, "'--%s': not an option of this command",
				flag->name);
	*(bool *)((char *)rd->req + flag->offset) = true;
	return 0;
}

static bool key_takes_value(const char *key, size_t len)
{
	static const char *const keys[] = { "pid", "tid", "tree", "inherit",
					    "start-time" };
	uint32_t mask;
	size_t i;

	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (same_word(keys[i], key, len))
			return true;
	return name_to_mask(key, len, &mask, NULL);
}

/* --key=value, --key value, --flag */
static int read_long(struct reader *rd, struct word *word)
{
	word->key = word->text + 2;
	word->key_len = strcspn(word->key, "=");
	if (word->key[word->key_len] == '=') {
		if (find_flag(word->key, word->key_len))
			return complain(rd,
					"'%.60s': this option takes no value",
					word->text);
		word->kind = WORD_PAIR;
		word->value = word->key + word->key_len + 1;
		return 0;
	}
	if (word->key_len > 1 && find_flag(word->key, word->key_len)) {
		word->kind = WORD_FLAG;
		return 0;
	}
	if (!key_takes_value(word->key, word->key_len))
		return complain(rd, "unknown option '%.60s'", word->text);
	if (!*rd->next || !strcmp(*rd->next, "--"))
		return complain(rd, "'%.60s' needs a value", word->text);
	word->kind = WORD_PAIR;
	word->value = *rd->next++;
	return 0;
}

/* -p 1234, -p1234, -k */
static int read_short(struct reader *rd, struct word *word)
{
	char letter = word->text[1];

	word->key = word->text + 1;
	word->key_len = 1;
	if (letter == 'p' || letter == 't') {
		word->kind = WORD_PAIR;
		word->key = letter == 'p' ? "pid" : "tid";
		word->key_len = 3;
		if (word->text[2]) {
			word->value = word->text + 2;
			return 0;
		}
		if (!*rd->next || !strcmp(*rd->next, "--"))
			return complain(rd, "'%.60s' needs a value",
					word->text);
		word->value = *rd->next++;
		return 0;
	}
	if (word->text[2] || !find_flag(word->key, 1))
		return complain(rd, "unknown option '%.60s'", word->text);
	word->kind = WORD_FLAG;
	return 0;
}

static int read_word(struct reader *rd, struct word *word)
{
	const char *text = *rd->next++;
	const char *equals = strchr(text, '=');

	*word = (struct word){ .kind = WORD_BARE, .text = text, .value = text };
	if (!strcmp(text, "--")) {
		word->kind = WORD_END;
		return 0;
	}
	if (!strncmp(text, "--", 2))
		return read_long(rd, word);
	if (text[0] == '-' && text[1])
		return read_short(rd, word);
	if (equals) {
		word->kind = WORD_PAIR;
		word->key = text;
		word->key_len = (size_t)(equals - text);
		word->value = equals + 1;
	}
	return 0;
}

static const char *allowed_targets(unsigned int targets, char *text,
				   size_t size)
{
	static const char *const words[] = {
		[TARGET_PID] = "pid=PID",     [TARGET_TID] = "tid=TID",
		[TARGET_TREE] = "tree=PID",   [TARGET_SELF] = "self",
		[TARGET_DEFAULT] = "default", [TARGET_ALL] = "all",
	};
	size_t used = 0;
	size_t kind;

	text[0] = '\0';
	for (kind = TARGET_PID; kind <= TARGET_ALL; kind++) {
		if (!(targets & TARGET_BIT(kind)))
			continue;
		snprintf(text + used, size - used, "%s%s", used ? ", " : "",
			 words[kind]);
		used = strlen(text);
	}
	return text;
}

/* What only the whole request shows. */
static int check(struct reader *rd)
{
	struct request *req = rd->req;
	char text[128];

	if (req->target == TARGET_NONE && (rd->takes & TAKES_NAMES) &&
	    !rd->names_seen)
		return complain(rd, "no prefetcher named; known: %s",
				names_known());
	if (req->target == TARGET_NONE && (rd->takes & TAKES_PID_WORD))
		return complain(rd, "no process id given");
	if (req->target == TARGET_NONE && (rd->takes & NEEDS_TARGET))
		return complain(rd, "no target given; allowed: %s",
				allowed_targets(rd->targets, text,
						sizeof(text)));
	if ((rd->takes & NEEDS_STATES) && !(req->off | req->on | req->clear) &&
	    (req->inherit < 0 || (rd->takes & TAKES_COMMAND)))
		return complain(rd,
				"nothing to set; say NAME=off, NAME=on or "
				"NAME=default; known names: %s",
				names_known());
	if (req->target == TARGET_DEFAULT && req->inherit >= 0)
		return complain(rd, "inherit does not go with default");
	if (req->target == TARGET_TID && req->inherit >= 0)
		return complain(rd, "inherit belongs to a process; "
				    "it does not go with tid=");
	if (req->target == TARGET_TREE && req->inherit == 0)
		return complain(rd, "inherit=off does not go with tree=, "
				    "which covers new children by inherit");
	if (req->start_time &&
	    (req->ids_count != 1 || req->target == TARGET_TREE))
		return complain(rd, "start-time goes with one pid or tid only");
	if ((rd->takes & TAKES_FILE) && !req->word)
		return complain(rd, "no file given; - means standard input");
	if ((rd->takes & TAKES_COMMAND) && (!req->command || !req->command[0]))
		return complain(rd, "no command given; put it after --");
	return 0;
}

int request_parse(struct request *req, char **words, unsigned int targets,
		  unsigned int takes, struct complaint *why)
{
	struct reader rd = {
		.req = req,
		.next = words,
		.targets = targets,
		.takes = takes,
		.why = why,
	};

	*req = (struct request){ .inherit = -1 };
	why->text[0] = '\0';
	while (*rd.next) {
		struct word word;
		int err;

		if (read_word(&rd, &word))
			return -1;
		if (word.kind == WORD_END) {
			if (!(takes & TAKES_COMMAND))
				return complain(&rd, "'--': this command runs "
						     "no other command");
			req->command = rd.next;
			break;
		}
		if (word.kind == WORD_FLAG)
			err = take_flag(&rd, &word);
		else if (word.kind == WORD_PAIR)
			err = take_pair(&rd, &word);
		else
			err = take_bare(&rd, &word);
		if (err)
			return -1;
		if (req->help || req->version)
			return 0;
	}
	return check(&rd);
}

void request_free(struct request *req)
{
	free(req->ids);
	req->ids = NULL;
	req->ids_count = 0;
}
