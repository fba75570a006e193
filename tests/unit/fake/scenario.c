// SPDX-License-Identifier: GPL-2.0-or-later
/* Scenarios: the fake kernel as described by a file, for whole programs. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "internal.h"
#include "message.h"

#define MAX_WORDS 32

struct line {
	const char *path;
	unsigned int number;
	const char *words[MAX_WORDS]; /* "key=value"; the first is the kind */
	size_t n_words;
	uint32_t used; /* words that were understood */
	bool bad;
};

struct fake_step {
	struct fake_step *next;
	char *what;
	struct fake_core_event event;
	char comm[PREFETCH_COMM_LEN];
	struct fake_setting setting;
	uint32_t change;
	uint32_t count;
	int signal;
	uint64_t lost;
	char storm[12];
	uint32_t delay; /* us */
};

static void complain(struct line *l, const char *what, const char *word)
{
	fprintf(stderr, "%s:%u: %s '%s'\n", l->path, l->number, what, word);
	l->bad = true;
}

/* The value of a word of the line, or NULL. */
static const char *word(struct line *l, const char *key)
{
	size_t length = strlen(key);
	size_t i;

	for (i = 1; i < l->n_words; i++)
		if (!strncmp(l->words[i], key, length) &&
		    l->words[i][length] == '=') {
			l->used |= UINT32_C(1) << i;
			return l->words[i] + length + 1;
		}
	return NULL;
}

static uint64_t number(struct line *l, const char *key, uint64_t otherwise)
{
	const char *text = word(l, key);
	unsigned long long value;
	char *end;

	if (!text)
		return otherwise;
	errno = 0;
	value = strtoull(text, &end, 0);
	if (errno || *end || end == text)
		complain(l, "not a number:", text);
	return value;
}

static uint32_t number32(struct line *l, const char *key, uint32_t otherwise)
{
	return (uint32_t)number(l, key, otherwise);
}

static bool flag(struct line *l, const char *key, bool otherwise)
{
	return number(l, key, otherwise) != 0;
}

static void text(struct line *l, const char *key, char *to, size_t size)
{
	const char *found = word(l, key);

	if (found)
		snprintf(to, size, "%s", found);
}

static uint32_t mask(struct line *l, const char *key, uint32_t otherwise)
{
	const char *found = word(l, key);
	char copy[PFNL_MASK_NAMES_SIZE];
	uint32_t all = 0;
	uint32_t one;
	char *rest;
	char *name;

	if (!found)
		return otherwise;
	if (found[0] >= '0' && found[0] <= '9')
		return number32(l, key, 0);
	snprintf(copy, sizeof(copy), "%s", found);
	for (name = strtok_r(copy, ",", &rest); name;
	     name = strtok_r(NULL, ",", &rest)) {
		if (pfnl_name_to_mask(name, &one, NULL))
			complain(l, "no such prefetcher:", name);
		else
			all |= one;
	}
	return all;
}

/* A value that is one of a list of names. */
static uint32_t named(struct line *l, const char *key,
		      const char *(*name)(uint32_t), uint32_t otherwise)
{
	const char *found = word(l, key);
	uint32_t i;

	if (!found)
		return otherwise;
	for (i = 0; i < 16; i++)
		if (!strcmp(name(i), found))
			return i;
	complain(l, "unknown value:", found);
	return otherwise;
}

static uint8_t command(struct line *l)
{
	const char *found = word(l, "cmd");
	uint8_t i;

	for (i = 1; found && i <= PREFETCH_CMD_MAX; i++)
		if (!strcmp(pfnl_command_name(0, i), found))
			return i;
	if (!found || strcmp(found, "nlctrl"))
		complain(l, "no such operation:", found ? found : "");
	return 0;
}

static int error_number(struct line *l)
{
	const char *found = word(l, "errno");
	int i;

	for (i = 1; found && i < 200; i++)
		if (strerrorname_np(i) && !strcmp(strerrorname_np(i), found))
			return i;
	complain(l, "no such errno:", found ? found : "");
	return EIO;
}

static int request_attr(struct line *l, uint8_t cmd)
{
	static const struct {
		const char *name;
		int setting, by_default, core;
	} attrs[] = {
		{ "pid", PREFETCH_A_SETTING_PID, 0, 0 },
		{ "tid", PREFETCH_A_SETTING_TID, 0, 0 },
		{ "off", PREFETCH_A_SETTING_OFF, PREFETCH_A_DEFAULT_OFF, 0 },
		{ "on", PREFETCH_A_SETTING_ON, PREFETCH_A_DEFAULT_ON, 0 },
		{ "clear", PREFETCH_A_SETTING_CLEAR, PREFETCH_A_DEFAULT_CLEAR,
		  0 },
		{ "inherit", PREFETCH_A_SETTING_INHERIT, 0, 0 },
		{ "start-time", PREFETCH_A_SETTING_START_TIME, 0, 0 },
		{ "domain", 0, 0, PREFETCH_A_CORE_DOMAIN },
		{ "verify", 0, 0, PREFETCH_A_CORE_VERIFY },
	};
	const char *found = word(l, "attr");
	size_t i;

	for (i = 0; found && i < sizeof(attrs) / sizeof(attrs[0]); i++) {
		if (strcmp(attrs[i].name, found))
			continue;
		if (cmd == PREFETCH_CMD_DEFAULT_SET)
			return attrs[i].by_default;
		return cmd == PREFETCH_CMD_CORE_GET ||
				       cmd == PREFETCH_CMD_CORE_REPAIR
			       ? attrs[i].core
			       : attrs[i].setting;
	}
	if (found)
		complain(l, "no such attribute:", found);
	return 0;
}

static enum fake_fault_kind fault_kind(struct line *l)
{
	static const char *const names[] = {
		[FAKE_DONE_ERROR] = "done-error",
		[FAKE_INTERRUPT] = "interrupt",
		[FAKE_SILENCE] = "silence",
		[FAKE_OVERRUN] = "overrun",
		[FAKE_STRAY] = "stray",
		[FAKE_TRUNCATE] = "truncate",
		[FAKE_CUT_DATAGRAM] = "cut",
		[FAKE_ENDLESS] = "endless",
		[FAKE_HUGE] = "huge",
		[FAKE_ACK] = "ack",
	};
	const char *found = word(l, "kind");
	size_t i;

	for (i = FAKE_DONE_ERROR; i < sizeof(names) / sizeof(names[0]); i++)
		if (found && names[i] && !strcmp(names[i], found))
			return (enum fake_fault_kind)i;
	complain(l, "no such kind of fault:", found ? found : "");
	return FAKE_SILENCE;
}

static void take_fault(struct fake *f, struct line *l, bool refusal)
{
	uint8_t cmd = command(l);
	struct fake_fault *fault;

	fault = fake_fault(f, cmd, refusal ? FAKE_REFUSE : fault_kind(l));
	fault->count = (int)number32(l, "count", 1);
	fault->skip = (int)number32(l, "skip", 0);
	fault->size = number32(l, "size", 4);
	if (refusal) {
		fault->error = error_number(l);
		fault->attr_type = request_attr(l, cmd);
	}
	text(l, "text", fault->text_space, sizeof(fault->text_space));
	if (fault->text_space[0])
		fault->text = fault->text_space;
}

static void take_machine(struct fake *f, struct line *l)
{
	size_t i;

	f->backend = named(l, "backend", pfnl_backend_name, f->backend);
	text(l, "vendor", f->vendor, sizeof(f->vendor));
	f->cpu_family = number32(l, "family", f->cpu_family);
	f->cpu_model = number32(l, "model", f->cpu_model);
	f->cpu_stepping = number32(l, "stepping", f->cpu_stepping);
	f->hypervisor = flag(l, "hypervisor", f->hypervisor);
	f->supported = mask(l, "supported", f->supported);
	for (i = 0; i < f->n_domains; i++)
		f->domains[i].supported = f->supported;
}

static void take_module(struct fake *f, struct line *l)
{
	const char *groups;

	f->loaded = flag(l, "loaded", f->loaded);
	text(l, "version", f->version, sizeof(f->version));
	f->max_settings = number32(l, "max-settings", f->max_settings);
	f->unprivileged = flag(l, "unprivileged", f->unprivileged);
	f->events_here = flag(l, "events-here", f->events_here);
	f->interval = number32(l, "interval", f->interval);
	f->attached = flag(l, "attached", f->attached);
	groups = word(l, "groups");
	if (groups) {
		f->core_group = strstr(groups, "core") != NULL;
		f->setting_group = strstr(groups, "setting") != NULL;
	}
}

static void take_domain(struct fake *f, struct line *l, bool *replaced)
{
	struct fake_domain *d;

	if (!*replaced)
		f->n_domains = 0;
	*replaced = true;
	if (f->n_domains == FAKE_MAX_CPUS) {
		complain(l, "too many lines of", l->words[0]);
		return;
	}
	d = &f->domains[f->n_domains++];
	memset(d, 0, sizeof(*d));
	d->id = number32(l, "id", (uint32_t)f->n_domains - 1);
	d->core_type = named(l, "type", pfnl_core_type_name, 0);
	d->baseline = mask(l, "baseline", 0);
	d->effective = d->baseline;
	d->supported = mask(l, "supported", f->supported);
	d->held = flag(l, "held", false);
	d->failed = flag(l, "failed", false);
	d->fault = named(l, "fault", pfnl_fault_name, 0);
	d->stuck = mask(l, "stuck", 0);
	d->hybrid_id = number32(l, "hybrid_id", 0);
	d->writes = number(l, "writes", 0);
	d->foreign_value = mask(l, "foreign", UINT32_MAX);
	d->foreign = d->foreign_value != UINT32_MAX;
}

static void take_cpu(struct fake *f, struct line *l, bool *replaced)
{
	struct fake_cpu *c;

	if (!*replaced)
		f->n_cpus = 0;
	*replaced = true;
	if (f->n_cpus == FAKE_MAX_CPUS) {
		complain(l, "too many lines of", l->words[0]);
		return;
	}
	c = &f->cpus[f->n_cpus++];
	memset(c, 0, sizeof(*c));
	c->id = number32(l, "id", (uint32_t)f->n_cpus - 1);
	c->domain = number32(l, "domain", 0);
	c->online = flag(l, "online", true);
	c->pid = number32(l, "pid", 0);
	c->tid = number32(l, "tid", c->pid);
}

static void take_task(struct fake *f, struct line *l)
{
	uint32_t pid = number32(l, "pid", 0);
	struct fake_task *t;

	t = fake_add_task(f, pid, number32(l, "tid", pid), "task");
	text(l, "comm", t->comm, sizeof(t->comm));
	t->uid = number32(l, "uid", 0);
	t->start_time = number(l, "start", t->start_time);
	t->denied = flag(l, "denied", false);
}

static void take_setting(struct fake *f, struct line *l)
{
	uint32_t pid = number32(l, "pid", 0);
	uint32_t tid = number32(l, "tid", 0);
	const struct fake_task *t = fake_find_task(f, pid, tid ? tid : pid);
	struct fake_setting *s;

	/* A state that was saved may tell of a process that has ended. */
	if (!t)
		pid = pid ? pid : tid;
	else
		pid = t->pid;
	s = fake_add_setting(f, pid, tid, mask(l, "off", 0), mask(l, "on", 0));
	s->inherit = flag(l, "inherit", false);
	s->uid = number32(l, "uid", 0);
	if (!t)
		f->n_settings--;
}

static void take_step(struct fake *f, struct line *l)
{
	struct fake_step **end = &f->steps;
	struct fake_step *s;

	if (l->n_words < 2) {
		complain(l, "what to play?", l->words[0]);
		return;
	}
	while (*end)
		end = &(*end)->next;
	s = fake_alloc(NULL, sizeof(*s));
	memset(s, 0, sizeof(*s));
	*end = s;
	s->what = strdup(l->words[1]);
	l->used |= 2;
	s->event.domain = number32(l, "domain", 0);
	s->event.old_mask = mask(l, "old", 0);
	s->event.new_mask = mask(l, "new", 0);
	s->event.cause = named(l, "cause", pfnl_cause_name, 0);
	s->event.cpu = number32(l, "cpu", 0);
	s->event.pid = s->setting.pid = number32(l, "pid", 0);
	s->event.tid = s->setting.tid = number32(l, "tid", 0);
	s->event.folded = number32(l, "folded", 1);
	s->event.time = number(l, "time", 0);
	s->lost = number(l, "lost", 0);
	text(l, "comm", s->comm, sizeof(s->comm));
	s->setting.off = mask(l, "off", 0);
	s->setting.on = mask(l, "on", 0);
	s->setting.inherit = flag(l, "inherit", false);
	s->setting.id = 1000 + s->setting.pid;
	s->change = named(l, "change", pfnl_change_name, 0);
	s->count = number32(l, "count", 1);
	s->signal = (int)number32(l, "signal", SIGINT);
	text(l, "kind", s->storm, sizeof(s->storm));
	s->delay = number32(l, "delay", 0);
	if (!strcmp(s->what, "storm"))
		s->count = number32(l, "after", 0);
}

static void take_line(struct fake *f, struct line *l, bool replaced[2])
{
	const char *kind = l->words[0];
	size_t i;

	if (!strcmp(kind, "machine")) {
		take_machine(f, l);
	} else if (!strcmp(kind, "module")) {
		take_module(f, l);
	} else if (!strcmp(kind, "caller")) {
		f->privileged = flag(l, "privileged", f->privileged);
	} else if (!strcmp(kind, "default")) {
		f->default_off = mask(l, "off", 0);
		f->default_on = mask(l, "on", 0);
	} else if (!strcmp(kind, "domain")) {
		take_domain(f, l, &replaced[0]);
	} else if (!strcmp(kind, "cpu")) {
		take_cpu(f, l, &replaced[1]);
	} else if (!strcmp(kind, "task")) {
		take_task(f, l);
	} else if (!strcmp(kind, "setting")) {
		take_setting(f, l);
	} else if (!strcmp(kind, "error")) {
		take_fault(f, l, true);
	} else if (!strcmp(kind, "fault")) {
		take_fault(f, l, false);
	} else if (!strcmp(kind, "play")) {
		take_step(f, l);
	} else {
		complain(l, "unknown word", kind);
		return;
	}
	for (i = 1; i < l->n_words && !l->bad; i++)
		if (!(l->used & UINT32_C(1) << i))
			complain(l, "unknown word", l->words[i]);
}

static void split(struct line *l, char *line)
{
	char *rest;
	char *next;

	line[strcspn(line, "#\n")] = '\0';
	next = strtok_r(line, " \t", &rest);
	while (next && l->n_words < MAX_WORDS) {
		l->words[l->n_words++] = next;
		/* The words of an error go to the end of the line. */
		if (!strncmp(next, "text=", 5) && rest && *rest) {
			next[strlen(next)] = ' ';
			break;
		}
		next = strtok_r(NULL, " \t", &rest);
	}
}

bool fake_scenario(struct fake *f, const char *path)
{
	struct line l = { .path = path };
	bool replaced[2] = { false, false };
	char line[1024];
	FILE *file;

	file = fopen(path, "re");
	if (!file) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		return false;
	}
	while (!l.bad && fgets(line, sizeof(line), file)) {
		l.number++;
		l.n_words = 0;
		l.used = 0;
		split(&l, line);
		if (l.n_words)
			take_line(f, &l, replaced);
	}
	fclose(file);
	fake_settle(f, PREFETCH_CAUSE_SWITCH, 0);
	return !l.bad;
}

bool fake_steps_left(const struct fake *f)
{
	return f->steps;
}

static void play_setting(struct fake *f, struct fake_step *s)
{
	f->setting_lost += s->lost;
	fake_setting_event(f, &s->setting, s->change);
}

static void play_core(struct fake *f, struct fake_step *s)
{
	struct fake_domain *d = fake_find_domain(f, s->event.domain);

	if (d) {
		d->effective = s->event.new_mask;
		d->writes += s->event.folded;
	}
	s->event.comm = s->comm;
	f->core_lost += s->lost;
	fake_core_event(f, &s->event);
}

static void rage(struct fake *f)
{
	struct fake_step *s = f->storm;

	usleep(s->delay);
	if (s->count && !--s->count)
		raise(s->signal);
	if (!strcmp(s->storm, "noise")) {
		fake_unknown_event(f);
		return;
	}
	if (!strcmp(s->storm, "reload")) {
		fake_unload(f);
		fake_load(f);
		return;
	}
	if (!strcmp(s->storm, "overflow")) {
		fake_drop_core_events(f, 1);
		fake_event_error(f, ENOBUFS);
	}
	play_core(f, s);
}

bool fake_play(struct fake *f)
{
	struct fake_step *s = f->steps;

	if (!s)
		return false;
	f->steps = s->next;
	if (!strcmp(s->what, "core")) {
		play_core(f, s);
	} else if (!strcmp(s->what, "setting")) {
		play_setting(f, s);
	} else if (!strcmp(s->what, "gap")) {
		fake_drop_core_events(f, s->count);
	} else if (!strcmp(s->what, "overflow")) {
		fake_drop_core_events(f, s->count);
		fake_event_error(f, ENOBUFS);
	} else if (!strcmp(s->what, "unload")) {
		fake_unload(f);
	} else if (!strcmp(s->what, "load")) {
		fake_load(f);
	} else if (!strcmp(s->what, "raise")) {
		raise(s->signal);
	} else if (!strcmp(s->what, "storm")) {
		f->storm = s;
		f->on_empty = rage;
		return true;
	} else {
		fprintf(stderr, "cannot play '%s'\n", s->what);
		abort();
	}
	free(s->what);
	free(s);
	return true;
}

static void save(const struct fake *f)
{
	const struct fake_setting *s;
	FILE *file = fopen(f->save, "we");
	size_t i;

	if (!file) {
		fprintf(stderr, "%s: %s\n", f->save, strerror(errno));
		abort();
	}
	fprintf(file, "default off=%u on=%u\n", f->default_off, f->default_on);
	for (i = 0; i < f->n_settings; i++) {
		s = &f->settings[i];
		fprintf(file, "setting pid=%u tid=%u off=%u on=%u inherit=%d\n",
			s->pid, s->tid, s->off, s->on, s->inherit);
	}
	fclose(file);
}

void fake_scenario_end(struct fake *f)
{
	struct fake_step *s;

	if (f->save)
		save(f);
	free(f->save);
	if (f->storm)
		free(f->storm->what);
	free(f->storm);
	while ((s = f->steps)) {
		f->steps = s->next;
		free(s->what);
		free(s);
	}
}

int pfnl_fake_open(struct pfnl **h)
{
	const char *path = getenv("PREFETCH_FAKE");
	const char *to = getenv("PREFETCH_FAKE_SAVE");
	struct fake *f = fake_new();

	f->real_tasks = true;
	if (path && !fake_scenario(f, path))
		exit(99);
	if (to)
		f->save = strdup(to);
	return pfnl_open_transport(h, &fake_transport, f);
}
