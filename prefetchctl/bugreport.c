// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * prefetchctl info --report: one block for a bug report. No task, no name of
 * a user or a machine, no address.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "absent.h"
#include "census.h"
#include "ctl.h"
#include "info.h"
#include "text.h"

struct bug_report {
	struct ctl *ctl;
	struct machine machine;
	struct census census;
	bool loaded;
	bool verified; /* registers were read back */
};

static void read_module(struct bug_report *report)
{
	struct ctl *ctl = report->ctl;

	if (!ctl->kernel && pfnl_open(&ctl->kernel))
		return;
	if (pfnl_info(ctl->kernel, &ctl->info))
		return;
	report->loaded = true;
	report->verified = !census_take(ctl, &report->census, true);
	if (report->verified)
		return;
	census_free(&report->census);
	census_take(ctl, &report->census, false);
}

/* Tasks are nobody's business but their owner's. */
static json_t *cores_json(const struct census *census)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < census->count; i++) {
		json_t *object = core_json(&census->cores[i]);

		json_object_del(object, "per_cpu");
		json_array_append_new(list, object);
	}
	return list;
}

static json_t *said_json(const struct machine *m)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < m->said_count; i++)
		json_array_append_new(list, json_string(m->said[i]));
	return list;
}

static json_t *report_json(const struct bug_report *report)
{
	const struct machine *m = &report->machine;
	json_t *module = NULL;
	json_t *object;
	int err;

	object = json_pack("{s:s, s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:s, "
			   "s:b, s:o, s:o}",
			   "prefetchctl", PREFETCHCTL_VERSION, "library",
			   pfnl_version(), "kernel", m->release, "cpu_vendor",
			   m->vendor, "cpu_name", m->cpu_name, "cpu_family",
			   (json_int_t)m->family, "cpu_model",
			   (json_int_t)m->model, "cpu_stepping",
			   (json_int_t)m->stepping, "microcode", m->microcode,
			   "hypervisor", (int)m->hypervisor, "kernel_log",
			   said_json(m), "cores", cores_json(&report->census));
	machine_json(object, m);
	json_object_set_new(object, "kernel_log_error",
			    m->said_error ? json_string(strerror(m->said_error))
					  : json_null());
	if (report->loaded)
		module = module_json(report->ctl, &report->census, UINT32_MAX,
				     &err);
	json_object_set_new(object, "module", module ? module : json_null());
	return object;
}

static void print_machine(const struct bug_report *report)
{
	const struct machine *m = &report->machine;
	const struct pfnl_info *i = &report->ctl->info;
	char text[SAFE_TEXT_SIZE];

	printf("prefetchctl %s, library %s, module %s\n", PREFETCHCTL_VERSION,
	       pfnl_version(),
	       report->loaded ? safe_text(i->version, text) : "not loaded");
	printf("kernel: %s\n", m->release);
	if (m->vendor[0])
		printf("CPU: %s family %ld model %ld (0x%lX) stepping %ld, "
		       "microcode %s%s\n",
		       m->vendor, m->family, m->model, (unsigned long)m->model,
		       m->stepping, m->microcode[0] ? m->microcode : "?",
		       m->hypervisor ? ", under a hypervisor" : "");
	else
		puts("CPU: ?");
	if (m->cpu_name[0])
		printf("CPU name: %s\n", m->cpu_name);
	printf("lockdown: %s, Secure Boot: %s\n",
	       m->lockdown[0] ? m->lockdown : "?",
	       m->secure_boot < 0 ? "?"
	       : m->secure_boot	  ? "on"
				  : "off");
	if (!report->loaded)
		return;
	printf("backend: %s; settings: %" PRIu32 ", %s: %" PRIu64
	       ", refused %" PRIu64 ", foreign values %" PRIu64 "\n",
	       is_soft(&report->ctl->info)
		       ? "soft, a simulation without registers"
		       : pfnl_backend_name(i->backend),
	       i->settings,
	       is_soft(&report->ctl->info) ? "simulated register writes"
					   : "register writes",
	       i->register_writes, i->refused_writes, i->foreign_writes);
}

static void print_register(const struct bug_report *report,
			   const struct pfnl_core *core,
			   const struct pfnl_register *r)
{
	printf("  %s 0x%" PRIx32 ": ",
	       is_soft(&report->ctl->info) ? "variable for register"
					   : "register",
	       r->address);
	if (r->has_baseline)
		printf("%s 0x%" PRIx64 ", ",
		       is_soft(&report->ctl->info) ? "began as"
						   : "firmware left",
		       r->baseline);
	else
		printf("what firmware left was not readable, ");
	if (core_untouched(core))
		printf("nothing programmed, ");
	else
		printf("programmed 0x%" PRIx64 ", ", r->programmed);
	if (r->error)
		printf("not read: %s\n", strerror((int)r->error));
	else
		printf("holds 0x%" PRIx64 "\n", r->value);
}

static bool core_online(const struct pfnl_core *core)
{
	size_t i;

	for (i = 0; i < core->n_cpus; i++)
		if (core->cpus[i].online)
			return true;
	return false;
}

static void print_core(const struct bug_report *report,
		       const struct pfnl_core *core)
{
	char text[PFNL_MASK_NAMES_SIZE];
	char fault[FAULT_TEXT_SIZE];
	char cpus[CPUS_TEXT_SIZE];
	size_t i;

	printf("core %" PRIu32 ": CPU%s %s, %s, ", core->domain,
	       core->n_cpus == 1 ? "" : "s", core_cpus_text(core, cpus),
	       pfnl_core_type_name(core->core_type));
	if (core->hybrid_id)
		printf("CPUID 0x1A 0x%08" PRIx32 ", ", core->hybrid_id);
	printf("%s; off %s: %s\n",
	       core->failed	   ? "FAILED"
	       : core_online(core) ? "ok"
				   : "offline, not read",
	       is_soft(&report->ctl->info) ? "at first" : "by firmware",
	       mask_text(core->baseline, "-", text));
	if (core->failed)
		printf("  out of service: %s\n",
		       fault_text(core, report->ctl->info.hypervisor, fault));
	for (i = 0; i < core->n_registers; i++)
		print_register(report, core, &core->registers[i]);
}

static void print_log(const struct machine *m)
{
	size_t i;

	for (i = 0; i < m->said_count; i++)
		printf("kernel log: %s\n", m->said[i]);
	if (m->said_error)
		printf("kernel log: (not readable: %s%s)\n",
		       strerror(m->said_error),
		       m->said_error == EPERM || m->said_error == EACCES
			       ? "; it needs root"
			       : "");
	else if (!m->said_count)
		puts("kernel log: (nothing of the module)");
}

int cmd_info_report(struct ctl *ctl)
{
	struct bug_report report = { .ctl = ctl };
	int status = STATUS_DONE;
	size_t i;

	machine_read(&report.machine);
	read_module(&report);
	if (ctl->json) {
		status = emit_json(ctl, report_json(&report));
	} else {
		puts("----- prefetch report -----");
		print_machine(&report);
		for (i = 0; i < report.census.count; i++)
			print_core(&report, &report.census.cores[i]);
		if (report.loaded && !report.verified)
			puts("registers: (not readable: that needs root)");
		print_log(&report.machine);
		puts("----- end of report -----");
	}
	census_free(&report.census);
	return status;
}
