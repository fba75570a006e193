// SPDX-License-Identifier: GPL-2.0-or-later
/* prefetchctl cores, repair */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "census.h"
#include "ctl.h"
#include "table.h"
#include "text.h"

enum {
	COL_CORE,
	COL_CPUS,
	COL_TYPE,
	COL_OFF,
	COL_FIRMWARE,
	COL_STATE,
	COL_WRITES,
	COL_CPU,
	COL_WISH,
	COL_TASK,
	COL_READ,
	COL_VERIFY,
	COLUMNS,
};

static const struct column columns[COLUMNS] = {
	[COL_CORE] = { "CORE", true },
	[COL_CPUS] = { "CPUS", false },
	[COL_TYPE] = { "TYPE", false },
	[COL_OFF] = { "OFF", false },
	[COL_FIRMWARE] = { "OFF-BY-FIRMWARE", false },
	[COL_STATE] = { "STATE", false },
	[COL_WRITES] = { "WRITES", true },
	[COL_CPU] = { "CPU", true },
	[COL_WISH] = { "WISH", false },
	[COL_TASK] = { "TASK", false },
	[COL_READ] = { "READ-OFF", false },
	[COL_VERIFY] = { "VERIFY", false },
};

struct cores {
	struct ctl *ctl;
	struct table table;
	json_t *list; /* NULL: text */
	size_t count;
	/* What came of verify, each core in one of them. */
	struct tally good, differing, unreadable, failed, away;
	bool verify;
	bool task_seen;
};

static void cell_verify(struct cores *cores, const struct pfnl_core *core)
{
	char text[PFNL_MASK_NAMES_SIZE];
	size_t i;

	for (i = 0; i < core->n_registers; i++) {
		const struct pfnl_register *r = &core->registers[i];

		if (!r->error)
			continue;
		table_cell(&cores->table, COL_READ, "?");
		table_cell(&cores->table, COL_VERIFY,
			   "0x%" PRIx32 " cannot be read: %s", r->address,
			   strerror((int)r->error));
		table_colour(&cores->table, COL_VERIFY, "red");
		return;
	}
	table_cell(&cores->table, COL_READ, "%s",
		   mask_text(core->read, "-", text));
	if (core->differs || core->failed) {
		table_cell(&cores->table, COL_VERIFY, "%s",
			   core->failed ? "out of service" : "DIFFERS");
		table_colour(&cores->table, COL_VERIFY, "red");
		return;
	}
	if (is_soft(&cores->ctl->info)) {
		table_cell(&cores->table, COL_VERIFY, "simulated");
		return;
	}
	table_cell(&cores->table, COL_VERIFY, "ok");
	table_colour(&cores->table, COL_VERIFY, "green");
}

static void count_core(struct cores *cores, const struct pfnl_core *core)
{
	struct tally *tally = &cores->good;
	size_t i;

	if (!core->verified)
		tally = &cores->away;
	if (core->differs)
		tally = &cores->differing;
	for (i = 0; i < core->n_registers; i++)
		if (core->registers[i].error)
			tally = &cores->unreadable;
	if (core->failed)
		tally = &cores->failed;
	tally_add(tally, core->core_type);
	cores->count++;
}

static void cells_core(struct cores *cores, const struct pfnl_core *core)
{
	struct table *table = &cores->table;
	char text[PFNL_MASK_NAMES_SIZE];
	char cpus[CPUS_TEXT_SIZE];

	table_cell(table, COL_CORE, "%" PRIu32, core->domain);
	table_cell(table, COL_CPUS, "%s", core_cpus_text(core, cpus));
	table_cell(table, COL_TYPE, "%s", pfnl_core_type_name(core->core_type));
	table_cell(table, COL_OFF, "%s", core_off_text(core, text));
	if (core->effective && !core_untouched(core))
		table_colour(table, COL_OFF, "yellow");
	table_cell(table, COL_FIRMWARE, "%s",
		   mask_text(core->baseline, "-", text));
	table_cell(table, COL_STATE, "%s",
		   core->failed ? "FAILED"
		   : core->held ? "held"
				: "-");
	if (core->failed)
		table_colour(table, COL_STATE, "red");
	table_cell(table, COL_WRITES, "%" PRIu64, core->writes);
	if (core->verified) {
		cell_verify(cores, core);
	} else if (cores->verify) {
		/* None of its CPUs is there to read it. */
		table_cell(table, COL_READ, "?");
		table_cell(table, COL_VERIFY,
			   core->failed ? "out of service"
					: "offline, not read");
	}
}

static void cells_cpu(struct cores *cores, const struct pfnl_cpu *cpu)
{
	struct table *table = &cores->table;
	char text[STATES_TEXT_SIZE];
	char comm[SAFE_TEXT_SIZE];

	table_cell(table, COL_CPU, "%" PRIu32, cpu->id);
	if (!cpu->online) {
		table_cell(table, COL_WISH, "offline");
		table_cell(table, COL_TASK, "-");
		return;
	}
	if (cpu->has_wish)
		table_cell(table, COL_WISH, "%s",
			   states_text(cpu->wish_off, cpu->wish_on, "default",
				       text));
	else
		table_cell(table, COL_WISH, "-");
	if (cpu->has_task)
		table_cell(table, COL_TASK, "%" PRIu32 " %s", cpu->tid,
			   safe_text(cpu->comm, comm));
	else
		table_cell(table, COL_TASK, "-");
	cores->task_seen |= cpu->has_task;
}

static void say_difference(struct cores *cores, const struct pfnl_core *core)
{
	size_t i;

	if (!core->verified || !core->differs)
		return;
	for (i = 0; i < core->n_registers && !cores->list; i++) {
		const struct pfnl_register *r = &core->registers[i];

		if (r->error || r->value == r->programmed)
			continue;
		say_warning(cores->ctl,
			    "core %" PRIu32 ": register 0x%" PRIx32
			    " holds 0x%" PRIx64 ", 0x%" PRIx64
			    " was programmed: it differs",
			    core->domain, r->address, r->value, r->programmed);
	}
}

static int add_core(const struct pfnl_core *core, void *arg)
{
	struct cores *cores = arg;
	size_t i;

	count_core(cores, core);
	say_difference(cores, core);
	if (cores->list) {
		json_array_append_new(cores->list, core_json(core));
		return 0;
	}
	for (i = 0; i < core->n_cpus || !i; i++) {
		table_row(&cores->table);
		if (!i)
			cells_core(cores, core);
		if (i < core->n_cpus)
			cells_cpu(cores, &core->cpus[i]);
	}
	return 0;
}

static void print_failed(const struct cores *cores)
{
	char text[TALLY_TEXT_SIZE];

	printf("out of service: %s; 'prefetchctl info' says why\n",
	       tally_text(&cores->failed, text));
}

static void print_verified(const struct cores *cores)
{
	bool soft = is_soft(&cores->ctl->info);
	char text[TALLY_TEXT_SIZE];

	if (tally_sum(&cores->good))
		printf("verify: %s of %s hold what was programmed\n",
		       soft ? "the variables in place of the registers"
			    : "the registers",
		       tally_text(&cores->good, text));
	if (tally_sum(&cores->differing))
		printf("verify: the registers of %s differ; 'prefetchctl "
		       "repair' writes them again\n",
		       tally_text(&cores->differing, text));
	if (tally_sum(&cores->unreadable))
		printf("verify: the registers of %s cannot be read\n",
		       tally_text(&cores->unreadable, text));
	if (tally_sum(&cores->away))
		printf("verify: %s offline, not read\n",
		       tally_text(&cores->away, text));
	if (tally_sum(&cores->failed)) {
		fputs("verify: ", stdout);
		print_failed(cores);
	}
}

/* What the table does not say by itself. */
static void print_notes(const struct cores *cores)
{
	struct ctl *ctl = cores->ctl;

	if (ctl->info.attached)
		puts("WISH: what the task on that CPU asks for; 'default': "
		     "nothing, '-': no such task");
	else
		puts("WISH: not followed while there is no setting");
	if (!cores->task_seen)
		puts("running tasks are hidden: seeing them needs "
		     "CAP_SYS_ADMIN");
	if (cores->verify)
		print_verified(cores);
	else if (tally_sum(&cores->failed))
		print_failed(cores);
	say_backend(ctl, stdout);
}

static int print_cores(struct cores *cores)
{
	struct ctl *ctl = cores->ctl;
	int err;

	if (cores->list)
		return emit_json(ctl,
				 json_pack("{s:s, s:o}", "backend",
					   pfnl_backend_name(ctl->info.backend),
					   "cores", cores->list));
	err = table_end(&cores->table);
	if (err)
		return say_error(ctl, STATUS_FAILED, "cannot print a table: %s",
				 strerror(-err));
	print_notes(cores);
	return STATUS_DONE;
}

int cmd_cores(struct ctl *ctl, const struct request *req)
{
	struct cores cores = { .ctl = ctl, .verify = req->verify };
	unsigned int flags = 0;
	int status = ctl_info(ctl);
	int err;

	if (status)
		return status;
	if (ctl->json)
		cores.list = json_array();
	else
		table_begin(&cores.table, columns,
			    req->verify ? COLUMNS : (size_t)COL_READ);
	err = pfnl_core_list(ctl->kernel, req->verify, &flags, add_core,
			     &cores);
	if (err) {
		json_decref(cores.list);
		if (!cores.list)
			table_drop(&cores.table);
		return say_kernel_error(ctl, err,
					req->verify ? "cores --verify"
						    : "cores",
					NEED_ADMIN);
	}
	if (flags & PFNL_LIST_INTERRUPTED)
		say_warning(ctl, "cores changed while they were listed; "
				 "one may be missing");
	return print_cores(&cores);
}

static int add_repair(const struct pfnl_repair *repair, void *arg)
{
	struct cores *cores = arg;
	char before[PFNL_MASK_NAMES_SIZE], after[PFNL_MASK_NAMES_SIZE];
	size_t i;

	cores->count++;
	if (cores->list) {
		json_array_append_new(
			cores->list,
			json_pack("{s:I, s:I, s:I, s:o}", "domain",
				  (json_int_t)repair->domain, "before",
				  (json_int_t)repair->before, "after",
				  (json_int_t)repair->after, "registers",
				  registers_json(repair->registers,
						 repair->n_registers, false)));
		return 0;
	}
	printf("core %" PRIu32 ": off was %s, is now %s\n", repair->domain,
	       mask_text(repair->before, "-", before),
	       mask_text(repair->after, "-", after));
	for (i = 0; i < repair->n_registers; i++) {
		const struct pfnl_register *r = &repair->registers[i];

		if (r->error)
			printf("  register 0x%" PRIx32 ": %s\n", r->address,
			       strerror((int)r->error));
		else if (r->value != r->programmed)
			printf("  register 0x%" PRIx32 ": was 0x%" PRIx64
			       ", is now 0x%" PRIx64 "\n",
			       r->address, r->value, r->programmed);
	}
	return 0;
}

int cmd_repair(struct ctl *ctl, const struct request *req)
{
	struct cores cores = { .ctl = ctl };
	struct census census;
	struct tally all;
	int status = ctl_info(ctl);
	int err;

	(void)req;
	if (status)
		return status;
	if (ctl->json)
		cores.list = json_array();
	err = pfnl_core_repair(ctl->kernel, PFNL_DOMAIN_ALL, add_repair,
			       &cores);
	if (err) {
		json_decref(cores.list);
		return say_kernel_error(ctl, err, "repair", NEED_ADMIN);
	}
	if (cores.list)
		return emit_json(ctl,
				 json_pack("{s:s, s:o}", "backend",
					   pfnl_backend_name(ctl->info.backend),
					   "repaired", cores.list));
	if (!cores.count)
		puts("nothing differed");
	/* Who repairs wants to know what is still broken. */
	if (!census_take(ctl, &census, false) && census.failed) {
		census_tally(&census, &all, &cores.failed);
		print_failed(&cores);
	}
	census_free(&census);
	say_backend(ctl, stdout);
	return STATUS_DONE;
}
