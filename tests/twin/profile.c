// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads profiles; README.md describes the words of a line. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile.h"
#include "twin.h"

#define SPACE " \t\n"

struct reader {
	const char *path;
	unsigned int line;
	char *rest; /* of the line */
	struct profile *out;
};

static bool bad(const struct reader *r, const char *what, const char *word)
{
	if (word)
		log_complain("%s:%u: %s: '%s'", r->path, r->line, what, word);
	else
		log_complain("%s:%u: %s", r->path, r->line, what);
	return false;
}

static char *next_word(struct reader *r)
{
	return strtok_r(NULL, SPACE, &r->rest);
}

static bool to_number(const char *text, uint64_t most, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 0);
	return !errno && end != text && !*end && *text != '-' && *value <= most;
}

static void set_add(struct cpu_set *set, unsigned int cpu)
{
	set->bits[cpu / 64] |= UINT64_C(1) << cpu % 64;
}

static bool set_has(const struct cpu_set *set, unsigned int cpu)
{
	return cpu < PROFILE_MAX_CPUS && set->bits[cpu / 64] >> cpu % 64 & 1;
}

/* "0-3,8,10" */
static bool to_set(const char *text, struct cpu_set *set)
{
	char *end;

	memset(set, 0, sizeof(*set));
	for (;;) {
		unsigned long first, last;

		if (*text < '0' || *text > '9')
			return false;
		first = last = strtoul(text, &end, 10);
		if (*end == '-') {
			text = end + 1;
			if (*text < '0' || *text > '9')
				return false;
			last = strtoul(text, &end, 10);
		}
		if (first > last || last >= PROFILE_MAX_CPUS)
			return false;
		for (; first <= last; first++)
			set_add(set, (unsigned int)first);
		if (!*end)
			return true;
		if (*end != ',')
			return false;
		text = end + 1;
	}
}

/* One element more, zeroed; NULL after a message. */
static void *grow(void *list, size_t *count, size_t size)
{
	void **at = list;
	char *grown = realloc(*at, (*count + 1) * size);

	if (!grown) {
		log_complain("no memory for the profile");
		return NULL;
	}
	*at = grown;
	return memset(grown + (*count)++ * size, 0, size);
}

static bool add_msr(struct reader *r, uint32_t msr)
{
	uint32_t *added;

	for (size_t i = 0; i < r->out->nr_msrs; i++)
		if (r->out->msrs[i] == msr)
			return true;
	added = grow(&r->out->msrs, &r->out->nr_msrs, sizeof(*added));
	if (added)
		*added = msr;
	return added;
}

static bool read_msr(struct reader *r, uint32_t *msr)
{
	const char *word = next_word(r);
	uint64_t number;

	if (!word || !to_number(word, UINT32_MAX, &number))
		return bad(r, "not the number of a register", word);
	*msr = (uint32_t)number;
	return add_msr(r, *msr);
}

/* core CPUS */
static bool read_core(struct reader *r)
{
	const char *word = next_word(r);
	struct cpu_set set;

	if (!word || !to_set(word, &set))
		return bad(r, "not a list of CPUs", word);
	for (unsigned int cpu = 0; cpu < PROFILE_MAX_CPUS; cpu++) {
		if (!set_has(&set, cpu))
			continue;
		if (r->out->core_of[cpu] != PROFILE_NO_CORE)
			return bad(r, "a CPU is in two cores", word);
		r->out->core_of[cpu] = (int)r->out->cores;
	}
	r->out->cores++;
	return true;
}

/* missing MSR */
static bool read_missing(struct reader *r)
{
	uint32_t msr;

	return read_msr(r, &msr);
}

static bool read_quirk(struct reader *r, char *word,
		       struct profile_register *reg, struct cpu_set *cores)
{
	char *value = strchr(word, '=');
	char *at;

	if (!value) {
		if (!strcmp(word, "ignores-writes"))
			reg->ignores = true;
		else if (!strcmp(word, "read-faults"))
			reg->read_faults = true;
		else if (!strcmp(word, "write-faults"))
			reg->write_faults = true;
		else
			return bad(r, "unknown word", word);
		return true;
	}
	*value++ = '\0';
	if (!strcmp(word, "cores"))
		return to_set(value, cores) ||
		       bad(r, "not a list of cores", value);
	if (!strcmp(word, "value"))
		return to_number(value, UINT64_MAX, &reg->value) ||
		       bad(r, "not a register value", value);
	if (!strcmp(word, "stuck"))
		return to_number(value, UINT64_MAX, &reg->stuck) ||
		       bad(r, "not a register value", value);
	if (!strcmp(word, "drops"))
		return to_number(value, UINT64_MAX, &reg->drops) ||
		       bad(r, "not a register value", value);
	if (!strcmp(word, "reserved"))
		return to_number(value, UINT64_MAX, &reg->reserved) ||
		       bad(r, "not a register value", value);
	if (!strcmp(word, "refuses")) {
		at = strchr(value, '-');
		if (!at)
			return bad(r, "refuses=WRITE-WRITE lacks the -", value);
		*at++ = '\0';
		return (to_number(value, UINT64_MAX, &reg->refuses) &&
			to_number(at, UINT64_MAX, &reg->refuses_to) &&
			reg->refuses && reg->refuses <= reg->refuses_to) ||
		       bad(r, "not WRITE-WRITE", at);
	}
	if (!strcmp(word, "changes")) {
		at = strchr(value, '@');
		if (!at)
			return bad(r, "changes=MASK@WRITES lacks the @", value);
		*at++ = '\0';
		return (to_number(value, UINT64_MAX, &reg->changes) &&
			to_number(at, UINT64_MAX, &reg->changes_at) &&
			reg->changes_at) ||
		       bad(r, "not MASK@WRITES", at);
	}
	return bad(r, "unknown word", word);
}

static bool bad_core(const struct reader *r, unsigned int core)
{
	log_complain("%s:%u: cores= names core %u, and the lines above have %u",
		     r->path, r->line, core, r->out->cores);
	return false;
}

static bool has_copy(const struct profile *p, uint32_t msr, int core)
{
	for (size_t i = 0; i < p->nr_registers; i++)
		if (p->registers[i].msr == msr && p->registers[i].core == core)
			return true;
	return false;
}

/* register MSR cores=LIST [value=V] [misbehaviour ...] */
static bool read_register(struct reader *r)
{
	struct profile_register all = { 0 };
	struct cpu_set cores = { { 0 } };
	size_t before = r->out->nr_registers;
	char *word;

	if (!read_msr(r, &all.msr))
		return false;
	while ((word = next_word(r)))
		if (!read_quirk(r, word, &all, &cores))
			return false;
	for (unsigned int core = 0; core < PROFILE_MAX_CPUS; core++) {
		struct profile_register *reg;

		if (!set_has(&cores, core))
			continue;
		if (core >= r->out->cores)
			return bad_core(r, core);
		if (has_copy(r->out, all.msr, (int)core))
			return bad(r, "a core has this register twice", NULL);
		reg = grow(&r->out->registers, &r->out->nr_registers,
			   sizeof(*reg));
		if (!reg)
			return false;
		*reg = all;
		reg->core = (int)core;
	}
	/* Nobody has it: that is what "missing" says. */
	return r->out->nr_registers > before || bad(r, "lacks cores=", NULL);
}

static bool read_leaf_number(struct reader *r, struct profile_leaf *leaf)
{
	char *word = next_word(r);
	char *dot = word ? strchr(word, '.') : NULL;
	uint64_t number;

	leaf->any_subleaf = !dot;
	if (dot) {
		*dot++ = '\0';
		if (!to_number(dot, UINT32_MAX, &number))
			return bad(r, "not a subleaf", dot);
		leaf->subleaf = (uint32_t)number;
	}
	if (!word || !to_number(word, UINT32_MAX, &number))
		return bad(r, "not a CPUID leaf", word);
	leaf->leaf = (uint32_t)number;
	return true;
}

/* cpuid LEAF[.SUBLEAF] [cpus=LIST] [eax=V] [ebx=V] [ecx=V] [edx=V|apic-id] */
static bool read_cpuid(struct reader *r)
{
	static const char *const names[] = { "eax", "ebx", "ecx", "edx" };
	struct profile_leaf *leaf =
		grow(&r->out->leaves, &r->out->nr_leaves, sizeof(*leaf));
	char *word;

	if (!leaf || !read_leaf_number(r, leaf))
		return false;
	memset(&leaf->cpus, 0xFF, sizeof(leaf->cpus));
	while ((word = next_word(r))) {
		char *value = strchr(word, '=');
		uint64_t number = 0;
		int reg = 0;

		if (!value)
			return bad(r, "not NAME=VALUE", word);
		*value++ = '\0';
		if (!strcmp(word, "cpus")) {
			if (!to_set(value, &leaf->cpus))
				return bad(r, "not a list of CPUs", value);
			continue;
		}
		while (reg < CPUID_NR_REGS && strcmp(word, names[reg]))
			reg++;
		if (reg == CPUID_NR_REGS)
			return bad(r, "unknown word", word);
		leaf->is_apic_id[reg] = !strcmp(value, "apic-id");
		if (!leaf->is_apic_id[reg] &&
		    !to_number(value, UINT32_MAX, &number))
			return bad(r, "not a value of 32 bits", value);
		leaf->value[reg] = (uint32_t)number;
	}
	return true;
}

/* For scripts/vm, which hands them to QEMU itself. */
static bool is_for_qemu(const char *word)
{
	static const char *const words[] = {
		"name",	    "vendor", "family",	 "model",
		"stepping", "plug",   "machine", "hypervisor",
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(word, words[i]))
			return true;
	return false;
}

static bool read_line(struct reader *r, char *text)
{
	static const struct {
		const char *word;
		bool (*read)(struct reader *r);
	} kinds[] = {
		{ "core", read_core },
		{ "register", read_register },
		{ "missing", read_missing },
		{ "cpuid", read_cpuid },
	};
	const char *word;

	text[strcspn(text, "#")] = '\0';
	word = strtok_r(text, SPACE, &r->rest);
	if (!word || is_for_qemu(word))
		return true;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(word, kinds[i].word))
			return kinds[i].read(r) &&
			       (!(word = next_word(r)) ||
				bad(r, "word too many", word));
	return bad(r, "unknown word", word);
}

static void take_name(struct profile *out, const char *path)
{
	const char *name = strrchr(path, '/');
	size_t length;

	name = name ? name + 1 : path;
	length = strcspn(name, ". ");
	snprintf(out->name, sizeof(out->name), "%.*s", (int)length, name);
}

bool profile_read(const char *path, struct profile *out)
{
	struct reader r = { .path = path, .out = out };
	FILE *file = fopen(path, "re");
	char text[1024];
	bool good = true;

	if (!file) {
		log_complain("%s: %s", path, strerror(errno));
		return false;
	}
	memset(out, 0, sizeof(*out));
	take_name(out, path);
	for (unsigned int cpu = 0; cpu < PROFILE_MAX_CPUS; cpu++)
		out->core_of[cpu] = PROFILE_NO_CORE;
	while (good && fgets(text, sizeof(text), file)) {
		r.line++;
		/* The rest of a line behind a NUL byte would be lost, too. */
		if (!strchr(text, '\n') &&
		    (strlen(text) == sizeof(text) - 1 || !feof(file)))
			good = bad(&r, "the line is too long, or has a NUL",
				   "");
		else
			good = read_line(&r, text);
	}
	if (good && ferror(file))
		good = bad(&r, "cannot be read", strerror(errno));
	fclose(file);
	return good;
}

const struct profile_leaf *profile_find_leaf(const struct profile *profile,
					     unsigned int cpu, uint32_t leaf,
					     uint32_t subleaf)
{
	for (size_t i = 0; i < profile->nr_leaves; i++) {
		const struct profile_leaf *l = &profile->leaves[i];

		if (l->leaf == leaf &&
		    (l->any_subleaf || l->subleaf == subleaf) &&
		    set_has(&l->cpus, cpu))
			return l;
	}
	return NULL;
}
