// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The registers that the twin plays, and the faults it can be told to make.
 *
 * A register has one copy for each core that has it.  Which cores there are,
 * and what they have, is said by a profile; without one each core has the one
 * register of an Intel Core or Xeon.
 */

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile.h"
#include "twin.h"

#define MSR_MISC_FEATURE_CONTROL 0x1A4u
#define DEFAULT_FAULT_WRITE	 10

enum fault_kind {
	FAULT_NONE,
	FAULT_DROP,	    /* the write does nothing */
	FAULT_FLIP,	    /* bit 0 arrives inverted */
	FAULT_MISATTRIBUTE, /* the write reaches the next core's copy */
};

struct copy {
	struct profile_register is; /* with the value that it has now */
	uint64_t firmware;	    /* the value that it had at first */
	uint64_t writes;	    /* after the first mark */
	char said[32];		    /* " msr=0x1a4", or nothing */
};

static struct copy *copies;
static size_t nr_copies;
static const uint32_t *msrs;
static size_t nr_msrs;
static int *core_of;
static unsigned int nr_vcpus;
static unsigned int nr_cores;

static struct {
	enum fault_kind kind;
	uint64_t on_write; /* counted from the first mark, 1 is the first */
	uint64_t seen;
} fault;

static bool marked;
static bool log_reads;

static int find_core(unsigned int vcpu)
{
	return vcpu < nr_vcpus ? core_of[vcpu] : PROFILE_NO_CORE;
}

static struct copy *find(int core, uint32_t msr)
{
	for (size_t i = 0; i < nr_copies; i++)
		if (copies[i].is.core == core && copies[i].is.msr == msr)
			return &copies[i];
	return NULL;
}

static bool parse_fault(const char *text)
{
	static const char *const kinds[] = {
		[FAULT_DROP] = "drop",
		[FAULT_FLIP] = "flip",
		[FAULT_MISATTRIBUTE] = "misattribute",
	};
	size_t length = strcspn(text, "@");

	fault.on_write = DEFAULT_FAULT_WRITE;
	if (text[length] == '@') {
		const char *number = text + length + 1;
		char *end;

		errno = 0;
		fault.on_write = strtoull(number, &end, 10);
		if (errno || end == number || *end || *number == '-' ||
		    !fault.on_write) {
			log_complain(
				"fault=%s: \"%s\" is not a count of writes",
				text, number);
			return false;
		}
	}

	for (int kind = FAULT_DROP; kind <= FAULT_MISATTRIBUTE; kind++) {
		if (strlen(kinds[kind]) == length &&
		    !strncmp(kinds[kind], text, length)) {
			fault.kind = kind;
			return true;
		}
	}
	log_complain("fault=%s: not one of drop, flip, misattribute", text);
	return false;
}

static bool make_room(unsigned int vcpus, size_t registers)
{
	nr_vcpus = vcpus;
	nr_copies = registers;
	core_of = calloc(vcpus, sizeof(*core_of));
	copies = calloc(registers ? registers : 1, sizeof(*copies));
	if (core_of && copies)
		return true;
	log_complain("no memory for %zu registers", registers);
	return false;
}

static bool setup_plain(unsigned int threads, uint64_t baseline,
			unsigned int vcpus)
{
	static const uint32_t msr = MSR_MISC_FEATURE_CONTROL;

	nr_cores = (vcpus + threads - 1) / threads;
	if (!make_room(vcpus, nr_cores))
		return false;
	for (unsigned int vcpu = 0; vcpu < vcpus; vcpu++)
		core_of[vcpu] = (int)(vcpu / threads);
	for (unsigned int core = 0; core < nr_cores; core++) {
		copies[core].is.msr = msr;
		copies[core].is.core = (int)core;
		copies[core].is.value = baseline;
		copies[core].firmware = baseline;
	}
	msrs = &msr;
	nr_msrs = 1;
	return true;
}

static bool setup_profile(const struct profile *profile)
{
	nr_cores = profile->cores;
	if (!make_room(PROFILE_MAX_CPUS, profile->nr_registers))
		return false;
	memcpy(core_of, profile->core_of, sizeof(profile->core_of));
	for (size_t i = 0; i < nr_copies; i++) {
		copies[i].is = profile->registers[i];
		copies[i].firmware = copies[i].is.value;
		snprintf(copies[i].said, sizeof(copies[i].said),
			 " msr=0x%" PRIx32, copies[i].is.msr);
	}
	msrs = profile->msrs;
	nr_msrs = profile->nr_msrs;
	return true;
}

bool register_setup(const struct register_config *config, unsigned int vcpus)
{
	bool done = config->profile ? setup_profile(config->profile)
				    : setup_plain(config->threads,
						  config->baseline, vcpus);

	log_reads = config->log_reads;
	return done && (!config->fault || parse_fault(config->fault));
}

bool register_plays(uint32_t msr)
{
	for (size_t i = 0; i < nr_msrs; i++)
		if (msrs[i] == msr)
			return true;
	return false;
}

/* Is this write the one that the fault is for? */
static bool fault_fires(void)
{
	if (fault.kind == FAULT_NONE || !marked)
		return false;
	return ++fault.seen == fault.on_write;
}

/* What a write leaves in a register that may have a mind of its own. */
static uint64_t kept(const struct copy *c, uint64_t asked)
{
	uint64_t old = c->is.value;

	if (c->is.ignores)
		return old;
	return ((asked & ~c->is.stuck) | (old & c->is.stuck)) & ~c->is.drops;
}

static void store(struct copy *c, unsigned int vcpu, uint64_t asked)
{
	uint64_t old = c->is.value;

	c->is.value = kept(c, asked);
	if (c->is.value == asked)
		log_record("write vcpu=%u core=%d old=0x%" PRIx64
			   " new=0x%" PRIx64 "%s",
			   vcpu, c->is.core, old, asked, c->said);
	else
		log_record("write vcpu=%u core=%d old=0x%" PRIx64
			   " new=0x%" PRIx64 "%s asked=0x%" PRIx64,
			   vcpu, c->is.core, old, c->is.value, c->said, asked);

	if (!c->is.changes || c->writes != c->is.changes_at)
		return;
	old = c->is.value;
	c->is.value ^= c->is.changes;
	log_record("change core=%d old=0x%" PRIx64 " new=0x%" PRIx64 "%s",
		   c->is.core, old, c->is.value, c->said);
}

/* Does this write fault? With the first mark their counting begins. */
static bool refuses(struct copy *c, uint64_t value)
{
	if (c->is.write_faults || (value & c->is.reserved))
		return true;
	if (!marked)
		return false;
	c->writes++;
	return c->is.refuses && c->writes >= c->is.refuses &&
	       c->writes <= c->is.refuses_to;
}

bool register_write(unsigned int vcpu, uint32_t msr, uint64_t value)
{
	int core = find_core(vcpu);
	struct copy *c = find(core, msr);

	if (!c || refuses(c, value)) {
		log_record("write-fault vcpu=%u core=%d value=0x%" PRIx64
			   " msr=0x%" PRIx32,
			   vcpu, core, value, msr);
		return false;
	}
	if (fault_fires()) {
		switch (fault.kind) {
		case FAULT_DROP:
			log_comment("fault: drop vcpu=%u new=0x%" PRIx64, vcpu,
				    value);
			return true;
		case FAULT_FLIP:
			log_comment("fault: flip vcpu=%u new=0x%" PRIx64, vcpu,
				    value);
			value ^= 1;
			break;
		case FAULT_MISATTRIBUTE:
			log_comment("fault: misattribute vcpu=%u core=%d", vcpu,
				    core);
			c = find((core + 1) % (int)nr_cores, msr);
			break;
		case FAULT_NONE:
			break;
		}
	}
	if (c)
		store(c, vcpu, value);
	return true;
}

bool register_read(unsigned int vcpu, uint32_t msr, uint64_t *value)
{
	int core = find_core(vcpu);
	const struct copy *c = find(core, msr);

	if (!c || c->is.read_faults) {
		log_record("read-fault vcpu=%u core=%d msr=0x%" PRIx32, vcpu,
			   core, msr);
		return false;
	}
	*value = c->is.value;
	if (log_reads)
		log_record("read vcpu=%u core=%d value=0x%" PRIx64 "%s", vcpu,
			   c->is.core, *value, c->said);
	return true;
}

void register_mark(unsigned int vcpu, uint64_t value)
{
	marked = true;
	log_record("mark value=0x%" PRIx64 " vcpu=%u", value, vcpu);
}

void register_lose(int core)
{
	for (size_t i = 0; i < nr_copies; i++) {
		struct copy *c = &copies[i];

		if (c->is.core != core)
			continue;
		log_record("lost core=%d old=0x%" PRIx64 " new=0x%" PRIx64 "%s",
			   core, c->is.value, c->firmware, c->said);
		c->is.value = c->firmware;
	}
}

void register_log_end(void)
{
	for (size_t i = 0; i < nr_copies; i++)
		log_record("end core=%d value=0x%" PRIx64 "%s",
			   copies[i].is.core, copies[i].is.value,
			   copies[i].said);
}
