// SPDX-License-Identifier: GPL-2.0-or-later
/* prefetchctl info, version */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "absent.h"
#include "census.h"
#include "ctl.h"
#include "describe.h"
#include "info.h"
#include "missing.h"
#include "names.h"
#include "text.h"

struct machine_view {
	struct ctl *ctl;
	struct machine machine;
	struct census census;
	uint32_t wanted; /* prefetchers that were asked for */
};

static void print_counters(const struct pfnl_info *i)
{
	printf("settings: %" PRIu32 " of at most %" PRIu32 ", %" PRIu32
	       " bytes each; %s\n",
	       i->settings, i->max_settings, i->setting_size,
	       i->attached ? "scheduler probes attached"
			   : "no probe as nothing is set");
	printf("settings of this user: %" PRIu32 " of at most %" PRIu32
	       " without CAP_SYS_RESOURCE\n",
	       i->user_settings, i->max_user_settings);
	printf("%s: %" PRIu64 ", refused %" PRIu64
	       ", foreign values found %" PRIu64 "\n",
	       is_soft(i) ? "simulated register writes" : "register writes",
	       i->register_writes, i->refused_writes, i->foreign_writes);
	if (i->dropped_inherits)
		printf("children that did not get their setting: %" PRIu64 "\n",
		       i->dropped_inherits);
	printf("core events: %" PRIu64 " sent, %" PRIu64
	       " lost; setting events: %" PRIu64 " sent, %" PRIu64
	       " lost; folded over %" PRIu32 " ms\n",
	       i->core_events_sent, i->core_events_lost, i->setting_events_sent,
	       i->setting_events_lost, i->event_interval);
	if (!i->events_here)
		puts("events do not reach this network namespace; run the "
		     "monitor in the initial one");
}

static void print_machine(const struct machine_view *view)
{
	const struct pfnl_info *i = &view->ctl->info;
	char text[STATES_TEXT_SIZE];
	char vendor[SAFE_TEXT_SIZE];
	char tally[TALLY_TEXT_SIZE];
	struct tally all, failed;

	if (is_soft(i)) {
		say_backend(view->ctl, stdout);
		puts("  a simulation: no register is read or written; on a CPU "
		     "that is not known\n"
		     "  the layout of Intel's Core and Xeon is played");
	}
	if (!is_soft(i))
		printf("backend: %s\n", pfnl_backend_name(i->backend));
	printf("module: version %s, users may set their own tasks: %s\n",
	       safe_text(i->version, text), i->unprivileged ? "yes" : "no");
	printf("CPU: %s family %" PRIu32 " model %" PRIu32 " (0x%" PRIX32
	       ") stepping %" PRIu32 "%s\n",
	       safe_text(i->cpu_vendor, vendor), i->cpu_family, i->cpu_model,
	       i->cpu_model, i->cpu_stepping,
	       i->hypervisor ? ", under a hypervisor" : "");
	if (view->machine.lockdown[0])
		printf("kernel lockdown: %s\n", view->machine.lockdown);
	if (view->machine.secure_boot >= 0)
		printf("Secure Boot: %s\n",
		       view->machine.secure_boot ? "on" : "off");
	census_tally(&view->census, &all, &failed);
	printf("cores with registers of their own: %s\n",
	       tally_text(&all, tally));
	missing_print_cores(view->ctl, &view->census, &view->machine);
	printf("machine default: %s\n",
	       i->default_off | i->default_on
		       ? states_text(i->default_off, i->default_on, "", text)
		       : "as the firmware left it");
	print_counters(i);
}

static int parse_wanted(struct ctl *ctl, const char *word, uint32_t *wanted)
{
	uint32_t mask;

	*wanted = 0;
	for (;;) {
		size_t len = strcspn(word, ",");

		if (!name_to_mask(word, len, &mask, NULL))
			return say_error(ctl, STATUS_USAGE,
					 "info: unknown prefetcher '%.*s'; "
					 "known: %s",
					 (int)len, word, names_known());
		*wanted |= mask;
		if (!word[len])
			return STATUS_DONE;
		word += len + 1;
	}
}

void machine_json(json_t *object, const struct machine *machine)
{
	json_object_set_new(object, "lockdown",
			    machine->lockdown[0]
				    ? json_string(machine->lockdown)
				    : json_null());
	json_object_set_new(object, "secure_boot",
			    machine->secure_boot < 0
				    ? json_null()
				    : json_boolean(machine->secure_boot));
}

json_t *module_json(struct ctl *ctl, const struct census *census,
		    uint32_t wanted, int *err)
{
	json_t *object, *list;

	*err = describe_json(ctl, census, wanted, &list);
	if (*err)
		return NULL;
	object = info_json(&ctl->info);
	json_object_set_new(object, "failed_domains",
			    json_integer((json_int_t)census->failed));
	json_object_set_new(object, "prefetchers", list);
	json_object_set_new(object, "missing",
			    missing_json(ctl, census, wanted));
	return object;
}

static int show_json(struct machine_view *view, int *err)
{
	json_t *object =
		module_json(view->ctl, &view->census, view->wanted, err);

	if (*err)
		return STATUS_DONE;
	machine_json(object, &view->machine);
	return emit_json(view->ctl, object);
}

static int show_text(struct machine_view *view, bool all, int *err)
{
	if (all) {
		print_machine(view);
		puts("Prefetchers:");
	}
	*err = describe_print(view->ctl, &view->census, view->wanted);
	if (!*err)
		missing_print(view->ctl, &view->census, view->wanted);
	return STATUS_DONE;
}

int cmd_info(struct ctl *ctl, const struct request *req)
{
	struct machine_view view = { .ctl = ctl, .wanted = UINT32_MAX };
	int status = STATUS_DONE;
	int err;

	if (req->report && req->word)
		return say_error(ctl, STATUS_USAGE,
				 "info: --report is about the whole machine, "
				 "without '%s'",
				 req->word);
	if (req->report)
		return cmd_info_report(ctl);
	if (req->word)
		status = parse_wanted(ctl, req->word, &view.wanted);
	/* Counters are of now, also in a batch. */
	ctl->have_info = false;
	if (!status)
		status = ctl_info(ctl);
	if (status)
		return status;
	err = census_take(ctl, &view.census, false);
	machine_read(&view.machine);
	if (!err)
		status = ctl->json ? show_json(&view, &err)
				   : show_text(&view, !req->word, &err);
	census_free(&view.census);
	if (err)
		return say_kernel_error(ctl, err, "info", NEED_NOTHING);
	return status;
}

int cmd_version(struct ctl *ctl, const struct request *req)
{
	const char *module = NULL;
	struct pfnl_info info;
	char text[SAFE_TEXT_SIZE];

	(void)req;
	if (!ctl->kernel)
		pfnl_open(&ctl->kernel);
	if (ctl->kernel && !pfnl_info(ctl->kernel, &info))
		module = safe_text(info.version, text);
	if (ctl->json) {
		json_t *object = json_pack("{s:s, s:s}", "prefetchctl",
					   PREFETCHCTL_VERSION, "library",
					   pfnl_version());

		if (object)
			json_object_set_new(object, "module",
					    module ? json_string(module)
						   : json_null());
		return emit_json(ctl, object);
	}
	printf("prefetchctl %s, library %s, module %s\n", PREFETCHCTL_VERSION,
	       pfnl_version(), module ? module : "not loaded");
	return STATUS_DONE;
}
