// SPDX-License-Identifier: GPL-2.0-or-later
/* All cores of the machine at once, and how they are counted for people. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "census.h"
#include "text.h"

static int add_core(const struct pfnl_core *core, void *arg)
{
	struct census *census = arg;
	struct pfnl_core *list = census->cores;
	size_t i;
	int err;

	if (census->count == census->room) {
		census->room = census->room ? 2 * census->room : 16;
		list = realloc(list, census->room * sizeof(*list));
		if (!list)
			return -ENOMEM;
		census->cores = list;
	}
	err = pfnl_core_copy(&list[census->count], core);
	if (err)
		return err;
	census->count++;
	census->failed += core->failed;
	census->described |= core->supported;
	for (i = 0; i < core->n_cpus; i++)
		census->cpus += core->cpus[i].online;
	return 0;
}

int census_take(struct ctl *ctl, struct census *census, bool verify)
{
	*census = (struct census){ 0 };
	return pfnl_core_list(ctl->kernel, verify, NULL, add_core, census);
}

void census_free(struct census *census)
{
	size_t i;

	for (i = 0; i < census->count; i++)
		pfnl_core_clear(&census->cores[i]);
	free(census->cores);
	*census = (struct census){ 0 };
}

const char *core_word(uint32_t core_type, bool plural)
{
	switch (core_type) {
	case PREFETCH_CORE_TYPE_PERFORMANCE:
		return plural ? "performance cores" : "performance core";
	case PREFETCH_CORE_TYPE_EFFICIENT:
		return plural ? "efficient modules" : "efficient module";
	case PREFETCH_CORE_TYPE_UNIFORM:
		return plural ? "cores" : "core";
	default:
		return plural ? "cores of another kind"
			      : "core of another kind";
	}
}

void tally_add(struct tally *tally, uint32_t core_type)
{
	tally->of_type[core_type < TALLY_TYPES ? core_type : TALLY_TYPES - 1]++;
}

size_t tally_sum(const struct tally *tally)
{
	size_t i, sum = 0;

	for (i = 0; i < TALLY_TYPES; i++)
		sum += tally->of_type[i];
	return sum;
}

const char *tally_text(const struct tally *tally, char text[TALLY_TEXT_SIZE])
{
	size_t used = 0;
	uint32_t type;

	snprintf(text, TALLY_TEXT_SIZE, "no core");
	for (type = 0; type < TALLY_TYPES; type++) {
		size_t n = tally->of_type[type];

		if (!n)
			continue;
		snprintf(text + used, TALLY_TEXT_SIZE - used, "%s%zu %s",
			 used ? " and " : "", n, core_word(type, n != 1));
		used = strlen(text);
	}
	return text;
}

void census_tally(const struct census *census, struct tally *all,
		  struct tally *failed)
{
	size_t i;

	*all = (struct tally){ { 0 } };
	*failed = (struct tally){ { 0 } };
	for (i = 0; i < census->count; i++) {
		tally_add(all, census->cores[i].core_type);
		if (census->cores[i].failed)
			tally_add(failed, census->cores[i].core_type);
	}
}

const char *census_failed_cpus(const struct census *census,
			       char text[CPUS_TEXT_SIZE])
{
	uint32_t *cpus = NULL;
	size_t count = 0;
	size_t i, j;

	for (i = 0; i < census->count; i++)
		count += census->cores[i].failed ? census->cores[i].n_cpus : 0;
	text[0] = '\0';
	cpus = calloc(count + 1, sizeof(*cpus));
	if (!cpus)
		return text;
	count = 0;
	for (i = 0; i < census->count; i++)
		for (j = 0;
		     census->cores[i].failed && j < census->cores[i].n_cpus;
		     j++)
			cpus[count++] = census->cores[i].cpus[j].id;
	cpus_text(cpus, count, text);
	free(cpus);
	return text;
}

static const char *fault_words(const struct pfnl_core *core, bool hypervisor)
{
	switch (core->fault) {
	case PREFETCH_FAULT_ABSENT:
		return "it is not there: reading it faults";
	case PREFETCH_FAULT_WRITE:
		return "writing it faults";
	case PREFETCH_FAULT_READ_BACK:
		return "reading it faults once it was written";
	case PREFETCH_FAULT_IGNORED:
		return hypervisor ? "the hypervisor ignores writes"
				  : "writes have no effect: firmware locked "
				    "it, or a hidden hypervisor ignores them";
	case PREFETCH_FAULT_STUCK:
		return "some bits cannot be changed";
	case PREFETCH_FAULT_RESTORE:
		return "it did not take its own value back";
	default:
		return "it failed in a way that this program does not know";
	}
}

const char *fault_text(const struct pfnl_core *core, bool hypervisor,
		       char text[FAULT_TEXT_SIZE])
{
	char names[PFNL_MASK_NAMES_SIZE];
	size_t used;

	if (!core->fault) {
		snprintf(text, FAULT_TEXT_SIZE,
			 "why is not known; the kernel log may say it: dmesg | "
			 "grep prefetch");
		return text;
	}
	snprintf(text, FAULT_TEXT_SIZE, "register 0x%" PRIx32 ": %s",
		 core->fault_register, fault_words(core, hypervisor));
	/* Where nothing has an effect, each bit is one of those. */
	if (!core->fault_bits || core->fault == PREFETCH_FAULT_IGNORED)
		return text;
	used = strlen(text);
	snprintf(text + used, FAULT_TEXT_SIZE - used, ": 0x%" PRIx64,
		 core->fault_bits);
	used = strlen(text);
	if (core->stuck)
		snprintf(text + used, FAULT_TEXT_SIZE - used, " (%s)",
			 mask_text(core->stuck, "-", names));
	return text;
}
