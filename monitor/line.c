// SPDX-License-Identifier: GPL-2.0-or-later
/* One event as a line: text for people, a JSON object for programs. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "line.h"
#include "text.h"

#define SECOND UINT64_C(1000000000)

uint64_t now_monotonic(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * SECOND + (uint64_t)ts.tv_nsec;
}

/* The wall clock at a monotonic time: both clocks are looked at now. */
static void print_time(FILE *out, const struct line *line, uint64_t time)
{
	uint64_t now = now_monotonic();
	struct timespec wall;
	struct tm tm;
	char text[32];
	int64_t ns;
	time_t seconds;

	clock_gettime(CLOCK_REALTIME, &wall);
	ns = (int64_t)wall.tv_sec * (int64_t)SECOND + wall.tv_nsec -
	     (int64_t)(now - time);
	seconds = (time_t)(ns / (int64_t)SECOND);
	localtime_r(&seconds, &tm);
	if (line->options->tshort) {
		strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
		fprintf(out, "[%s.%06d] ", text,
			(int)(ns % (int64_t)SECOND / 1000));
	} else {
		strftime(text, sizeof(text), "%H:%M:%S", &tm);
		fprintf(out, "%s.%06d ", text,
			(int)(ns % (int64_t)SECOND / 1000));
	}
}

static void put(struct line *line, char *text, size_t len)
{
	line->written = output_line(text, len);
	free(text);
}

static void put_json(struct line *line, json_t *fields, enum kind kind,
		     uint64_t time)
{
	json_t *object = json_pack("{s:i, s:s, s:I}", "schema", 1, "kind",
				   kind_name(kind), "time", (json_int_t)time);
	char *text = NULL;
	size_t len;

	if (object && fields && !json_object_update(object, fields))
		text = json_dumps(object, JSON_COMPACT);
	json_decref(object);
	json_decref(fields);
	if (!text) {
		errno = ENOMEM;
		line->written = WRITE_FAILED;
		return;
	}
	/* The final NUL byte makes room for the newline. */
	len = strlen(text);
	text[len] = '\n';
	put(line, text, len + 1);
}

struct text_line {
	struct line *line;
	FILE *out;
	char *text;
	size_t len;
};

static bool text_begin(struct text_line *t, struct line *line, enum kind kind,
		       uint64_t time)
{
	*t = (struct text_line){ .line = line };
	t->out = open_memstream(&t->text, &t->len);
	if (!t->out) {
		line->written = WRITE_FAILED;
		return false;
	}
	print_time(t->out, line, time);
	fputs(kind_name(kind), t->out);
	return true;
}

static void text_end(struct text_line *t)
{
	fputc('\n', t->out);
	if (fclose(t->out)) {
		free(t->text);
		t->line->written = WRITE_FAILED;
		return;
	}
	put(t->line, t->text, t->len);
}

void line_hello(struct line *line, const struct pfnl_info *info,
		unsigned int groups, size_t buffer)
{
	uint64_t time = now_monotonic();
	char text[PFNL_MASK_NAMES_SIZE];
	struct text_line t;

	if (!wants_kind(line->options, KIND_HELLO))
		return;
	if (line->options->json) {
		json_t *o = info_json(info);
		json_t *list = json_array();

		if (groups & PFNL_GROUP_CORE)
			json_array_append_new(list, json_string("core"));
		if (groups & PFNL_GROUP_SETTING)
			json_array_append_new(list, json_string("setting"));
		json_object_set_new(o, "groups", list);
		json_object_set_new(o, "receive_buffer",
				    json_integer((json_int_t)buffer));
		put_json(line, o, KIND_HELLO, time);
		return;
	}
	if (!text_begin(&t, line, KIND_HELLO, time))
		return;
	fprintf(t.out, " backend: %s%s, %" PRIu32 " cores, prefetchers: %s",
		pfnl_backend_name(info->backend),
		is_soft(info) ? " (no effect on hardware)" : "", info->domains,
		mask_text(info->supported, "none", text));
	text_end(&t);
}

static void core_event(struct line *line, const struct pfnl_core_event *e)
{
	char old[PFNL_MASK_NAMES_SIZE], new[PFNL_MASK_NAMES_SIZE];
	char cpus[CPUS_TEXT_SIZE], comm[SAFE_TEXT_SIZE];
	struct text_line t;

	if (line->options->json) {
		json_t *list = json_array();
		size_t i;

		for (i = 0; i < e->n_cpus; i++)
			json_array_append_new(list, json_integer(e->cpus[i]));
		put_json(line,
			 json_pack("{s:I, s:o, s:I, s:I, s:s, s:I, s:I, s:I, "
				   "s:o, s:I, s:I, s:I, s:I}",
				   "domain", (json_int_t)e->domain, "cpus",
				   list, "old", (json_int_t)e->old_mask, "new",
				   (json_int_t)e->new_mask, "cause",
				   pfnl_cause_name(e->cause), "cpu",
				   (json_int_t)e->cpu, "pid",
				   (json_int_t)e->pid, "tid",
				   (json_int_t)e->tid, "comm",
				   safe_json(e->comm), "seq",
				   (json_int_t)e->seq, "folded",
				   (json_int_t)e->folded, "lost",
				   (json_int_t)e->lost, "total",
				   (json_int_t)e->total),
			 KIND_CORE, e->time);
		return;
	}
	if (!text_begin(&t, line, KIND_CORE, e->time))
		return;
	fprintf(t.out,
		" %" PRIu32 " (cpus %s) off: %s -> %s  %s on cpu %" PRIu32,
		e->domain, cpus_text(e->cpus, e->n_cpus, cpus),
		mask_text(e->old_mask, "-", old),
		mask_text(e->new_mask, "-", new), pfnl_cause_name(e->cause),
		e->cpu);
	if (e->tid)
		fprintf(t.out, " by pid %" PRIu32 " tid %" PRIu32 " (%s)",
			e->pid, e->tid, safe_text(e->comm, comm));
	if (e->folded != 1)
		fprintf(t.out, ", %" PRIu32 " changes", e->folded);
	if (e->lost)
		fprintf(t.out, ", %" PRIu64 " changes lost before", e->lost);
	text_end(&t);
}

static void print_setting(FILE *out, const struct pfnl_setting *s)
{
	char text[STATES_TEXT_SIZE], comm[SAFE_TEXT_SIZE];
	bool opinion = s->off | s->on;

	if (s->scope == PREFETCH_SCOPE_THREAD)
		fprintf(out, " tid %" PRIu32 " of", s->tid);
	fprintf(out, " pid %" PRIu32 " (%s): %s", s->pid,
		safe_text(s->comm, comm),
		states_text(s->off, s->on, "no setting", text));
	if (s->scope == PREFETCH_SCOPE_PROCESS && opinion)
		fprintf(out, " inherit=%s", s->inherit ? "on" : "off");
	fprintf(out, "  wish: %s",
		states_text(s->wish_off, s->wish_on, "default", text));
}

static void setting_event(struct line *line, const struct pfnl_setting_event *e)
{
	struct text_line t;

	if (line->options->json) {
		json_t *o = setting_json(&e->setting);

		json_object_set_new(o, "change",
				    json_string(pfnl_change_name(e->change)));
		json_object_set_new(o, "seq", json_integer(e->seq));
		json_object_set_new(o, "lost",
				    json_integer((json_int_t)e->lost));
		json_object_set_new(o, "total",
				    json_integer((json_int_t)e->total));
		put_json(line, o, KIND_SETTING, e->time);
		return;
	}
	if (!text_begin(&t, line, KIND_SETTING, e->time))
		return;
	fprintf(t.out, " %s", pfnl_change_name(e->change));
	print_setting(t.out, &e->setting);
	if (e->lost)
		fprintf(t.out, ", %" PRIu64 " changes lost before", e->lost);
	text_end(&t);
}

static void state_core(struct line *line, const struct pfnl_core *core)
{
	char off[PFNL_MASK_NAMES_SIZE], base[PFNL_MASK_NAMES_SIZE];
	char cpus[CPUS_TEXT_SIZE];
	struct text_line t;

	if (line->options->json) {
		put_json(line, core_json(core), KIND_STATE, now_monotonic());
		return;
	}
	if (!text_begin(&t, line, KIND_STATE, now_monotonic()))
		return;
	fprintf(t.out,
		" core %" PRIu32 " (cpus %s) off: %s  by firmware: %s%s%s",
		core->domain, core_cpus_text(core, cpus),
		core_off_text(core, off), mask_text(core->baseline, "-", base),
		core->held ? ", held" : "", core->failed ? ", FAILED" : "");
	text_end(&t);
}

static void state_setting(struct line *line, const struct pfnl_setting *s)
{
	struct text_line t;

	if (line->options->json) {
		put_json(line, setting_json(s), KIND_STATE, now_monotonic());
		return;
	}
	if (!text_begin(&t, line, KIND_STATE, now_monotonic()))
		return;
	print_setting(t.out, s);
	text_end(&t);
}

static void lost_event(struct line *line, const struct pfnl_lost_event *e)
{
	const char *unit = e->by_module ? "changes" : "events";
	uint64_t time = now_monotonic();
	struct text_line t;

	if (line->options->json) {
		put_json(line,
			 json_pack("{s:I, s:b, s:s, s:I, s:b, s:s}", "count",
				   (json_int_t)e->count, "exact", (int)e->known,
				   "unit", unit, "changes",
				   (json_int_t)e->changes, "changes_exact",
				   (int)e->changes_known, "group",
				   e->group ? pfnl_group_name(e->group)
					    : "unknown"),
			 KIND_LOST, time);
		return;
	}
	if (!text_begin(&t, line, KIND_LOST, time))
		return;
	if (e->known || e->count)
		fprintf(t.out, " %s%" PRIu64 " %s", e->known ? "" : "at least ",
			e->count, unit);
	else
		fprintf(t.out, " %s, nobody knows how many", unit);
	if (e->changes_known && !e->by_module)
		fprintf(t.out, " (%" PRIu64 " changes)", e->changes);
	if (e->group)
		fprintf(t.out, " of group %s", pfnl_group_name(e->group));
	text_end(&t);
}

static const char *reason_name(uint32_t reason)
{
	switch (reason) {
	case PFNL_RESYNC_START:
		return "start";
	case PFNL_RESYNC_LOST:
		return "lost";
	case PFNL_RESYNC_BACK:
		return "module-loaded";
	default:
		return "unknown";
	}
}

static void resync_begin(struct line *line, const struct pfnl_resync_event *e)
{
	uint64_t time = now_monotonic();
	struct text_line t;

	line->cores = 0;
	line->settings = 0;
	if (!wants_kind(line->options, KIND_RESYNC))
		return;
	if (line->options->json) {
		put_json(line,
			 json_pack("{s:b, s:s}", "complete", 0, "reason",
				   reason_name(e->reason)),
			 KIND_RESYNC, time);
		return;
	}
	/* At the start there is nothing to forget. */
	if (e->reason == PFNL_RESYNC_START)
		return;
	if (!text_begin(&t, line, KIND_RESYNC, time))
		return;
	fprintf(t.out, " (%s): the state follows", reason_name(e->reason));
	text_end(&t);
}

static void resync_end(struct line *line, const struct pfnl_resync_event *e)
{
	uint64_t time = now_monotonic();
	struct text_line t;
	bool torn = e->flags & PFNL_LIST_INTERRUPTED;

	if (!wants_kind(line->options, KIND_RESYNC))
		return;
	if (line->options->json) {
		json_t *o;

		o = json_pack("{s:b, s:s, s:I, s:I, s:b}", "complete",
			      e->error == 0, "reason", reason_name(e->reason),
			      "cores", (json_int_t)line->cores, "settings",
			      (json_int_t)line->settings, "interrupted",
			      (int)torn);
		if (o && e->error)
			json_object_set_new(o, "error",
					    json_string(e->message));
		put_json(line, o, KIND_RESYNC, time);
		return;
	}
	if (!text_begin(&t, line, KIND_RESYNC, time))
		return;
	if (e->error)
		fprintf(t.out, " failed: %s", e->message);
	else
		fprintf(t.out,
			" done: %" PRIu64 " cores, %" PRIu64 " settings%s",
			line->cores, line->settings,
			torn ? "; they changed meanwhile, one may be missing"
			     : "");
	text_end(&t);
}

void line_gone(struct line *line)
{
	uint64_t time = now_monotonic();
	struct text_line t;

	if (line->options->json) {
		put_json(line, json_object(), KIND_GONE, time);
		return;
	}
	if (!text_begin(&t, line, KIND_GONE, time))
		return;
	fputs(": the module is not loaded; waiting for it", t.out);
	text_end(&t);
}

void line_event(struct line *line, const struct pfnl_event *event)
{
	const struct options *o = line->options;

	switch (event->kind) {
	case PFNL_EVENT_CORE:
		if (wants_core_event(o, &event->u.core))
			core_event(line, &event->u.core);
		break;
	case PFNL_EVENT_SETTING:
		if (wants_kind(o, KIND_SETTING) &&
		    wants_setting(o, &event->u.setting.setting))
			setting_event(line, &event->u.setting);
		break;
	case PFNL_EVENT_LOST:
		lost_event(line, &event->u.lost);
		break;
	case PFNL_EVENT_RESYNC_BEGIN:
		resync_begin(line, &event->u.resync);
		break;
	case PFNL_EVENT_STATE_CORE:
		line->cores++;
		if (wants_core(o, &event->u.state_core))
			state_core(line, &event->u.state_core);
		break;
	case PFNL_EVENT_STATE_SETTING:
		line->settings++;
		if (wants_kind(o, KIND_STATE) &&
		    wants_setting(o, &event->u.state_setting))
			state_setting(line, &event->u.state_setting);
		break;
	case PFNL_EVENT_RESYNC_END:
		resync_end(line, &event->u.resync);
		break;
	case PFNL_EVENT_GONE:
		line_gone(line);
		break;
	default:
		break;
	}
}

void line_bye(struct line *line, const char *reason, uint64_t events,
	      const struct pfnl_info *info)
{
	uint64_t time = now_monotonic();
	struct text_line t;

	if (line->options->json) {
		json_t *o = json_pack("{s:s, s:I}", "reason", reason, "events",
				      (json_int_t)events);

		/* A lost tail has no later message: these tell of it. */
		if (o && info) {
			json_object_set_new(
				o, "core_total",
				json_integer((json_int_t)info->core_total));
			json_object_set_new(
				o, "setting_total",
				json_integer((json_int_t)info->setting_total));
			json_object_set_new(o, "core_seq",
					    json_integer(info->core_seq));
			json_object_set_new(o, "setting_seq",
					    json_integer(info->setting_seq));
			json_object_set_new(
				o, "core_events_lost",
				json_integer(
					(json_int_t)info->core_events_lost));
			json_object_set_new(
				o, "setting_events_lost",
				json_integer(
					(json_int_t)info->setting_events_lost));
		}
		put_json(line, o, KIND_BYE, time);
		return;
	}
	if (!text_begin(&t, line, KIND_BYE, time))
		return;
	fprintf(t.out, " (%s) after %" PRIu64 " events", reason, events);
	if (info && (info->core_events_lost || info->setting_events_lost))
		fprintf(t.out,
			"; the module lost %" PRIu64 " changes of cores "
			"and %" PRIu64 " of settings since it was loaded",
			info->core_events_lost, info->setting_events_lost);
	text_end(&t);
}
