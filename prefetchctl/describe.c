// SPDX-License-Identifier: GPL-2.0-or-later
/* The prefetchers of the machine: what each is, where it is switched. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "describe.h"
#include "text.h"

struct description {
	struct ctl *ctl;
	const struct census *census;
	uint32_t wanted;
	json_t *list; /* NULL: text */
};

/* Cores out of service that have this prefetcher, of this kind. */
static uint32_t count_failed(const struct census *census,
			     const struct pfnl_prefetcher *p,
			     const struct pfnl_location *l)
{
	uint32_t failed = 0;
	size_t i;

	for (i = 0; i < census->count; i++) {
		const struct pfnl_core *core = &census->cores[i];

		failed += core->failed && core->core_type == l->core_type &&
			  core->supported >> p->id & 1;
	}
	return failed < l->domains ? failed : l->domains;
}

/* Kinds of core that this machine has and the prefetcher is not in. */
static void count_lacking(const struct census *census, uint32_t id,
			  struct tally *lacking)
{
	size_t i;

	*lacking = (struct tally){ { 0 } };
	for (i = 0; i < census->count; i++)
		if (!(census->cores[i].supported >> id & 1))
			tally_add(lacking, census->cores[i].core_type);
}

static const struct pfnl_name *library_name(uint32_t id)
{
	const struct pfnl_name *name;

	for (name = pfnl_names(NULL); name->name; name++)
		if (name->id == id)
			return name;
	return NULL;
}

static json_t *aliases_json(const struct pfnl_name *name)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; name && name->aliases[i]; i++)
		json_array_append_new(list, json_string(name->aliases[i]));
	return list;
}

static json_t *lacking_json(const struct census *census, uint32_t id)
{
	json_t *list = json_array();
	struct tally lacking;
	uint32_t type;

	count_lacking(census, id, &lacking);
	for (type = 0; type < TALLY_TYPES; type++)
		if (lacking.of_type[type])
			json_array_append_new(
				list,
				json_pack("{s:s, s:I, s:s}", "core_type",
					  pfnl_core_type_name(type), "domains",
					  (json_int_t)lacking.of_type[type],
					  "reason", "not-in-register"));
	return list;
}

static json_t *prefetcher_json(const struct census *census,
			       const struct pfnl_prefetcher *p)
{
	json_t *locations = json_array();
	size_t i;

	for (i = 0; i < p->n_locations; i++) {
		const struct pfnl_location *l = &p->locations[i];

		json_array_append_new(
			locations,
			json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I}",
				  "core_type",
				  pfnl_core_type_name(l->core_type), "register",
				  (json_int_t)l->reg, "shift",
				  (json_int_t)l->shift, "width",
				  (json_int_t)l->width, "off_value",
				  (json_int_t)l->off_value, "domains",
				  (json_int_t)l->domains, "failed",
				  (json_int_t)count_failed(census, p, l),
				  "baseline_off", (json_int_t)l->baseline_off));
	}
	return json_pack("{s:I, s:o, s:o, s:o, s:o, s:o}", "id",
			 (json_int_t)p->id, "name", safe_json(p->name),
			 "description", json_string(p->description), "aliases",
			 aliases_json(library_name(p->id)), "locations",
			 locations, "missing_on", lacking_json(census, p->id));
}

/* Words of a list, broken so that a line stays within 80 columns. */
static void print_list(const char *first, const char *const *words)
{
	const int limit = 79, indent = 6;
	int column = printf("%*s%s", indent, "", first);
	size_t i;

	for (i = 0; words[i]; i++) {
		int len = (int)strlen(words[i]) + 2;

		if (column + len > limit)
			column = printf("\n%*s", indent + 2, "") - 1;
		column += printf(" %s%s", words[i], words[i + 1] ? "," : "");
	}
	putchar('\n');
}

static void print_location(const struct description *d,
			   const struct pfnl_prefetcher *p,
			   const struct pfnl_location *l)
{
	uint32_t failed = count_failed(d->census, p, l);
	uint32_t works = l->domains - failed;
	bool soft = is_soft(&d->ctl->info);
	const char *who = soft ? "at first" : "by firmware";

	printf("      %s 0x%" PRIx32,
	       soft ? "simulated: variable for register" : "register", l->reg);
	if (l->width == 1)
		printf(" bit %" PRIu32, l->shift);
	else
		printf(" bits %" PRIu32 " to %" PRIu32, l->shift,
		       l->shift + l->width - 1);
	if (failed)
		printf(", on %" PRIu32 " of %" PRIu32 " %s (%" PRIu32
		       " out of service)",
		       works, l->domains,
		       core_word(l->core_type, l->domains != 1), failed);
	else
		printf(", on %" PRIu32 " %s", works,
		       core_word(l->core_type, works != 1));
	if (!l->baseline_off)
		printf("; on %s\n", who);
	else if (l->baseline_off == l->domains)
		printf("; off %s\n", who);
	else
		printf("; off %s on %" PRIu32 " of %" PRIu32 "\n", who,
		       l->baseline_off, l->domains);
}

static void print_lacking(const struct census *census, uint32_t id)
{
	char text[TALLY_TEXT_SIZE];
	struct tally lacking;

	count_lacking(census, id, &lacking);
	if (tally_sum(&lacking))
		printf("      not in the register of %s\n",
		       tally_text(&lacking, text));
}

static int add_prefetcher(const struct pfnl_prefetcher *p, void *arg)
{
	const struct pfnl_name *known = library_name(p->id);
	struct description *d = arg;
	char name[SAFE_TEXT_SIZE];
	size_t i;

	if (p->id < 32 && !(d->wanted & 1u << p->id))
		return 0;
	if (d->list) {
		json_array_append_new(d->list, prefetcher_json(d->census, p));
		return 0;
	}
	printf("  %-12s %s\n", safe_text(p->name, name),
	       known ? known->description : "not known to this program");
	if (known && known->aliases[0])
		print_list("also called:", known->aliases);
	for (i = 0; i < p->n_locations; i++)
		print_location(d, p, &p->locations[i]);
	print_lacking(d->census, p->id);
	return 0;
}

int describe_print(struct ctl *ctl, const struct census *census,
		   uint32_t wanted)
{
	struct description d = { .ctl = ctl,
				 .census = census,
				 .wanted = wanted };

	return pfnl_prefetcher_list(ctl->kernel, add_prefetcher, &d);
}

int describe_json(struct ctl *ctl, const struct census *census, uint32_t wanted,
		  json_t **list)
{
	struct description d = { .ctl = ctl,
				 .census = census,
				 .wanted = wanted,
				 .list = json_array() };
	int err = pfnl_prefetcher_list(ctl->kernel, add_prefetcher, &d);

	*list = d.list;
	if (err) {
		json_decref(d.list);
		*list = NULL;
	}
	return err;
}
