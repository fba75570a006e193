// SPDX-License-Identifier: GPL-2.0-or-later
/* The result of one request: text as it comes, or one JSON object. */
#include <inttypes.h>

#include "ctl.h"
#include "text.h"

void report_begin(struct report *report, struct ctl *ctl)
{
	*report = (struct report){ .ctl = ctl };
	if (ctl->json)
		report->list = json_array();
}

void say_backend(struct ctl *ctl, FILE *out)
{
	if (is_soft(&ctl->info))
		fputs("backend: soft (no effect on hardware)\n", out);
}

static void print_wish(uint32_t off, uint32_t on)
{
	char text[STATES_TEXT_SIZE];

	if (off | on)
		printf("%s, the rest as the firmware left it\n",
		       states_text(off, on, "", text));
	else
		puts("as the firmware left it");
}

static void print_setting(const struct pfnl_setting *s)
{
	char text[STATES_TEXT_SIZE];
	char comm[SAFE_TEXT_SIZE];

	if (s->scope == PREFETCH_SCOPE_THREAD)
		printf("tid %" PRIu32 " of pid %" PRIu32 " (%s): ", s->tid,
		       s->pid, safe_text(s->comm, comm));
	else
		printf("pid %" PRIu32 " (%s): ", s->pid,
		       safe_text(s->comm, comm));
	if (!s->present)
		puts("no setting");
	else if (s->scope == PREFETCH_SCOPE_THREAD)
		puts(states_text(s->off, s->on, "no opinion", text));
	else
		printf("%s inherit=%s\n",
		       states_text(s->off, s->on, "no opinion", text),
		       s->inherit ? "on" : "off");
	fputs("  wish: ", stdout);
	print_wish(s->wish_off, s->wish_on);
}

void report_setting(struct report *report, const struct pfnl_setting *setting)
{
	report->done++;
	report->partial |= setting->partial;
	if (report->list)
		json_array_append_new(report->list, setting_json(setting));
	else
		print_setting(setting);
}

void report_failure(struct report *report, int status)
{
	report->failed++;
	if (!report->first_failure)
		report->first_failure = status;
}

int report_end(struct report *report)
{
	struct ctl *ctl = report->ctl;
	int status = status_join(report->done, report->failed,
				 report->first_failure);

	say_partial(ctl, report->partial);
	if (!report->done && report->failed) {
		json_decref(report->list);
		return status;
	}
	if (report->list) {
		int err = emit_json(ctl, json_pack("{s:s, s:o}", "backend",
						   pfnl_backend_name(
							   ctl->info.backend),
						   "settings", report->list));

		return err ? err : status;
	}
	say_backend(ctl, stdout);
	return status;
}

int report_default(struct ctl *ctl, uint32_t off, uint32_t on, uint32_t partial)
{
	json_t *object;

	say_partial(ctl, partial);
	if (!ctl->json) {
		fputs("machine default: ", stdout);
		print_wish(off, on);
		say_backend(ctl, stdout);
		return STATUS_DONE;
	}
	object = json_pack("{s:s, s:{s:I, s:I, s:I}}", "backend",
			   pfnl_backend_name(ctl->info.backend), "default",
			   "off", (json_int_t)off, "on", (json_int_t)on,
			   "partial", (json_int_t)partial);
	return emit_json(ctl, object);
}
