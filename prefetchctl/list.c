// SPDX-License-Identifier: GPL-2.0-or-later
/* prefetchctl list */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <libsmartcols.h>

#include "ctl.h"
#include "table.h"
#include "text.h"

enum {
	COL_PID,
	COL_TID,
	COL_SETTING,
	COL_INHERIT,
	COL_WISH,
	COL_UID,
	COL_NAME
};

static const struct column columns[] = {
	[COL_PID] = { "PID", true },	  [COL_TID] = { "TID", true },
	[COL_SETTING] = { "SETTING", 0 }, [COL_INHERIT] = { "INHERIT", 0 },
	[COL_WISH] = { "WISH", 0 },	  [COL_UID] = { "SET-BY", true },
	[COL_NAME] = { "COMMAND", 0 },
};

static int keep(const struct pfnl_setting *setting, void *arg)
{
	struct settings *settings = arg;

	if (settings->count == settings->room) {
		size_t room = settings->room ? settings->room * 2 : 64;
		struct pfnl_setting *more;

		more = reallocarray(settings->list, room, sizeof(*more));
		if (!more)
			return -ENOMEM;
		settings->list = more;
		settings->room = room;
	}
	settings->list[settings->count++] = *setting;
	return 0;
}

int settings_collect(struct ctl *ctl, struct settings *settings)
{
	unsigned int flags = 0;
	int err;

	*settings = (struct settings){ 0 };
	err = pfnl_setting_list(ctl->kernel, 0, 0, &flags, keep, settings);
	if (err) {
		free(settings->list);
		settings->list = NULL;
		return say_kernel_error(ctl, err, "list of settings",
					NEED_NOTHING);
	}
	if (flags & PFNL_LIST_INTERRUPTED)
		say_warning(ctl, "settings changed while they were listed; "
				 "one may be missing");
	return STATUS_DONE;
}

static int compare(const void *a, const void *b)
{
	const struct pfnl_setting *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->scope != y->scope)
		return x->scope == PREFETCH_SCOPE_PROCESS ? -1 : 1;
	return (x->tid > y->tid) - (x->tid < y->tid);
}

static void add_row(struct table *table, const struct pfnl_setting *s,
		    uint32_t supported)
{
	bool thread = s->scope == PREFETCH_SCOPE_THREAD;
	char text[STATES_TEXT_SIZE];
	char comm[SAFE_TEXT_SIZE];

	table_row(table);
	table_cell(table, COL_PID, "%" PRIu32, s->pid);
	if (thread)
		table_cell(table, COL_TID, "%" PRIu32, s->tid);
	else
		table_cell(table, COL_TID, "all");
	table_cell(table, COL_SETTING, "%s",
		   short_states_text(s->off, s->on, supported, "-", text));
	table_cell(table, COL_INHERIT, "%s",
		   thread	? "-"
		   : s->inherit ? "on"
				: "off");
	table_cell(table, COL_WISH, "%s",
		   short_states_text(s->wish_off, s->wish_on, supported, "-",
				     text));
	if (s->uid != (uint32_t)-1)
		table_cell(table, COL_UID, "%" PRIu32, s->uid);
	else
		table_cell(table, COL_UID, "-");
	table_cell(table, COL_NAME, "%s", safe_text(s->comm, comm));
}

static int print(struct ctl *ctl, const struct settings *settings)
{
	struct table table;
	size_t i;
	int err;

	if (!settings->count) {
		puts("no settings");
		say_backend(ctl, stdout);
		return STATUS_DONE;
	}
	table_begin(&table, columns, sizeof(columns) / sizeof(columns[0]));
	for (i = 0; i < settings->count; i++)
		add_row(&table, &settings->list[i], ctl->info.supported);
	err = table_end(&table);
	if (err)
		return say_error(ctl, STATUS_FAILED, "cannot print a table: %s",
				 strerror(-err));
	say_backend(ctl, stdout);
	return STATUS_DONE;
}

static int print_json(struct ctl *ctl, const struct settings *settings)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < settings->count; i++)
		json_array_append_new(list, setting_json(&settings->list[i]));
	return emit_json(ctl, json_pack("{s:s, s:o}", "backend",
					pfnl_backend_name(ctl->info.backend),
					"settings", list));
}

int cmd_list(struct ctl *ctl, const struct request *req)
{
	struct settings settings;
	int status = ctl_info(ctl);

	(void)req;
	if (!status)
		status = settings_collect(ctl, &settings);
	if (status)
		return status;
	if (settings.count)
		qsort(settings.list, settings.count, sizeof(*settings.list),
		      compare);
	status = ctl->json ? print_json(ctl, &settings) : print(ctl, &settings);
	free(settings.list);
	return status;
}
