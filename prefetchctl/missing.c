// SPDX-License-Identifier: GPL-2.0-or-later
/* Why the machine, or some of its cores, lack a prefetcher. */
#include <inttypes.h>
#include <string.h>

#include "missing.h"
#include "text.h"

const char *missing_reason(const struct ctl *ctl, const struct census *census,
			   uint32_t id)
{
	uint32_t bit = UINT32_C(1) << id;

	if (ctl->info.supported & bit)
		return NULL;
	if (census->described & bit)
		return ctl->info.hypervisor ? "hypervisor" : "locked";
	return is_soft(&ctl->info) ? "not-simulated" : "not-in-register";
}

static const char *missing_text(const char *reason)
{
	if (!strcmp(reason, "hypervisor"))
		return "the hypervisor does not pass the register on";
	if (!strcmp(reason, "locked"))
		return "its register is out of service on each core that has "
		       "it";
	if (!strcmp(reason, "not-simulated"))
		return "not among the registers that are simulated";
	return "not in this CPU's register";
}

json_t *missing_json(const struct ctl *ctl, const struct census *census,
		     uint32_t wanted)
{
	json_t *list = json_array();
	const struct pfnl_name *name;

	for (name = pfnl_names(NULL); name->name; name++) {
		const char *reason = missing_reason(ctl, census, name->id);

		if (reason && (wanted & UINT32_C(1) << name->id))
			json_array_append_new(
				list, json_pack("{s:I, s:s, s:s, s:s}", "id",
						(json_int_t)name->id, "name",
						name->name, "reason", reason,
						"text", missing_text(reason)));
	}
	return list;
}

void missing_print(const struct ctl *ctl, const struct census *census,
		   uint32_t wanted)
{
	const struct pfnl_name *name;
	bool said = false;

	for (name = pfnl_names(NULL); name->name; name++) {
		const char *reason = missing_reason(ctl, census, name->id);

		if (!reason || !(wanted & UINT32_C(1) << name->id))
			continue;
		if (!said)
			puts("Not on this machine:");
		said = true;
		printf("  %-12s %s\n", name->name, missing_text(reason));
	}
}

static void print_next_step(const struct census *census)
{
	bool at_load = false, later = false;
	size_t i;

	for (i = 0; i < census->count; i++) {
		if (!census->cores[i].failed)
			continue;
		/* At load nothing is counted that is written to try it out. */
		if (census->cores[i].writes)
			later = true;
		else
			at_load = true;
	}
	if (later)
		puts("  One that has worked before is tried again by "
		     "'prefetchctl repair'.");
	if (at_load)
		puts("  One that never worked is tried again when the module "
		     "is loaded again.");
	printf("  Please report it with the output of 'prefetchctl info "
	       "--report' to\n  %s.\n",
	       PREFETCH_REPORT_TO);
}

void missing_print_cores(const struct ctl *ctl, const struct census *census,
			 const struct machine *machine)
{
	const struct pfnl_info *info = &ctl->info;
	char tally[TALLY_TEXT_SIZE];
	char text[FAULT_TEXT_SIZE];
	char vendor[SAFE_TEXT_SIZE];
	char cpus[CPUS_TEXT_SIZE];
	struct tally all, failed;
	size_t i;

	census_tally(census, &all, &failed);
	if (census->failed)
		printf("out of service: %s; settings have no effect there\n",
		       tally_text(&failed, tally));
	for (i = 0; i < census->count; i++) {
		const struct pfnl_core *core = &census->cores[i];

		if (core->failed)
			printf("  core %" PRIu32 " (CPUs %s): %s\n",
			       core->domain, core_cpus_text(core, cpus),
			       fault_text(core, info->hypervisor, text));
	}
	if (census->failed)
		print_next_step(census);
	if (machine->present_cpus > machine->online_cpus &&
	    census->cpus < machine->present_cpus)
		printf("offline CPUs: %lu; what those have that were never "
		       "online with the module is not known\n",
		       machine->present_cpus - machine->online_cpus);
	if (census->cpus >= machine->online_cpus)
		return;
	printf("CPUs whose registers are left alone: %zu (the kernel log says "
	       "why: dmesg | grep prefetch)\n",
	       machine->online_cpus - census->cpus);
	printf("  If nothing is documented for them (%s family %" PRIu32
	       " model %" PRIu32 " (0x%" PRIX32 ")):\n"
	       "  please report them with the output of 'prefetchctl info "
	       "--report' to\n  %s.\n",
	       safe_text(info->cpu_vendor, vendor), info->cpu_family,
	       info->cpu_model, info->cpu_model, PREFETCH_REPORT_TO);
}

void say_partial(struct ctl *ctl, uint32_t partial)
{
	char tally[TALLY_TEXT_SIZE];
	char cpus[CPUS_TEXT_SIZE];
	struct tally all, failed;
	char text[PFNL_MASK_NAMES_SIZE];
	struct census census;
	unsigned long online;
	uint32_t lacking = 0;
	size_t i;

	if (!partial)
		return;
	if (census_take(ctl, &census, false))
		lacking = partial;
	for (i = 0; i < census.count; i++)
		lacking |= partial & ~census.cores[i].supported;
	online = machine_cpus("online");
	census_tally(&census, &all, &failed);
	if (lacking)
		say_warning(ctl,
			    "only some cores of this machine have: %s; "
			    "'prefetchctl info' says which",
			    mask_text(lacking, "", text));
	if (census.failed)
		say_warning(ctl,
			    "no effect on CPUs %s: %s of %zu out of service; "
			    "'prefetchctl info' says why",
			    census_failed_cpus(&census, cpus),
			    tally_text(&failed, tally), tally_sum(&all));
	if (online > census.cpus && census.count)
		say_warning(ctl,
			    "no effect on %lu of %lu CPUs, whose registers are "
			    "left alone; 'prefetchctl info' says more",
			    online - (unsigned long)census.cpus, online);
	census_free(&census);
}
