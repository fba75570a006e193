// SPDX-License-Identifier: LGPL-2.1-or-later
/* Messages about cores: state, repairs, events. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

static const struct pfnl_spec cpu_specs[] = {
	[PREFETCH_A_CPU_ID] = MUST("id", PFNL_U32),
	[PREFETCH_A_CPU_ONLINE] = MAY("online", PFNL_U32),
	[PREFETCH_A_CPU_HAS_WISH] = MAY("has-wish", PFNL_U32),
	[PREFETCH_A_CPU_WISH_OFF] = MAY("wish-off", PFNL_U32),
	[PREFETCH_A_CPU_WISH_ON] = MAY("wish-on", PFNL_U32),
	[PREFETCH_A_CPU_PID] = MAY("pid", PFNL_U32),
	[PREFETCH_A_CPU_TID] = MAY("tid", PFNL_U32),
	[PREFETCH_A_CPU_COMM] = MAY("comm", PFNL_STRING),
};

static const struct pfnl_set cpu_set = { "cpu", cpu_specs, PREFETCH_A_CPU_COMM,
					 PREFETCH_A_CPU_ID };

static const struct pfnl_spec register_specs[] = {
	[PREFETCH_A_REGISTER_ADDRESS] = MUST("address", PFNL_U32),
	[PREFETCH_A_REGISTER_PROGRAMMED] = MAY("programmed", PFNL_U64),
	[PREFETCH_A_REGISTER_VALUE] = MAY("value", PFNL_U64),
	[PREFETCH_A_REGISTER_ERROR] = MAY("error", PFNL_U32),
	[PREFETCH_A_REGISTER_BASELINE] = MAY("baseline", PFNL_U64),
};

static const struct pfnl_set register_set = { "register", register_specs,
					      PREFETCH_A_REGISTER_BASELINE,
					      PREFETCH_A_REGISTER_ADDRESS };

static const struct pfnl_spec core_specs[] = {
	[PREFETCH_A_CORE_DOMAIN] = MUST("domain", PFNL_U32),
	[PREFETCH_A_CORE_CORE_TYPE] = MAY("core-type", PFNL_U32),
	[PREFETCH_A_CORE_CPU] = MANY("cpu", PFNL_NEST),
	[PREFETCH_A_CORE_SUPPORTED] = MUST("supported", PFNL_U32),
	[PREFETCH_A_CORE_BASELINE] = MUST("baseline", PFNL_U32),
	[PREFETCH_A_CORE_EFFECTIVE] = MUST("effective", PFNL_U32),
	[PREFETCH_A_CORE_HELD] = MAY("held", PFNL_U32),
	[PREFETCH_A_CORE_FAILED] = MAY("failed", PFNL_U32),
	[PREFETCH_A_CORE_WRITES] = MAY("writes", PFNL_U64),
	[PREFETCH_A_CORE_READ] = MAY("read", PFNL_U32),
	[PREFETCH_A_CORE_DIFFERS] = MAY("differs", PFNL_U32),
	[PREFETCH_A_CORE_REGISTER] = MANY("register", PFNL_NEST),
	[PREFETCH_A_CORE_FAULT] = MAY("fault", PFNL_U32),
	[PREFETCH_A_CORE_FAULT_REGISTER] = MAY("fault-register", PFNL_U32),
	[PREFETCH_A_CORE_FAULT_BITS] = MAY("fault-bits", PFNL_U64),
	[PREFETCH_A_CORE_STUCK] = MAY("stuck", PFNL_U32),
	[PREFETCH_A_CORE_HYBRID_ID] = MAY("hybrid-id", PFNL_U32),
};

static const struct pfnl_set core_set = { "core", core_specs,
					  PREFETCH_A_CORE_HYBRID_ID,
					  PREFETCH_A_CORE_EFFECTIVE };

static const struct pfnl_spec repaired_specs[] = {
	[PREFETCH_A_CORE_REPAIRED] = MANY("repaired", PFNL_NEST),
};

static const struct pfnl_set repaired_set = { "core", repaired_specs,
					      PREFETCH_A_CORE_REPAIRED,
					      PREFETCH_A_CORE_REPAIRED };

static const struct pfnl_spec repair_specs[] = {
	[PREFETCH_A_REPAIR_DOMAIN] = MUST("domain", PFNL_U32),
	[PREFETCH_A_REPAIR_BEFORE] = MUST("before", PFNL_U32),
	[PREFETCH_A_REPAIR_AFTER] = MUST("after", PFNL_U32),
	[PREFETCH_A_REPAIR_REGISTER] = MANY("register", PFNL_NEST),
};

static const struct pfnl_set repair_set = { "repair", repair_specs,
					    PREFETCH_A_REPAIR_REGISTER,
					    PREFETCH_A_REPAIR_AFTER };

static const struct pfnl_spec event_specs[] = {
	[PREFETCH_A_EVENT_DOMAIN] = MUST("domain", PFNL_U32),
	[PREFETCH_A_EVENT_CPUS] = MANY("cpus", PFNL_U32),
	[PREFETCH_A_EVENT_OLD] = MUST("old", PFNL_U32),
	[PREFETCH_A_EVENT_NEW] = MUST("new", PFNL_U32),
	[PREFETCH_A_EVENT_CAUSE] = MAY("cause", PFNL_U32),
	[PREFETCH_A_EVENT_CPU] = MAY("cpu", PFNL_U32),
	[PREFETCH_A_EVENT_PID] = MAY("pid", PFNL_U32),
	[PREFETCH_A_EVENT_TID] = MAY("tid", PFNL_U32),
	[PREFETCH_A_EVENT_COMM] = MAY("comm", PFNL_STRING),
	[PREFETCH_A_EVENT_TIME] = MAY("time", PFNL_U64),
	[PREFETCH_A_EVENT_SEQ] = MUST("seq", PFNL_U32),
	[PREFETCH_A_EVENT_FOLDED] = MUST("folded", PFNL_U32),
	[PREFETCH_A_EVENT_LOST] = MAY("lost", PFNL_U64),
	[PREFETCH_A_EVENT_TOTAL] = MAY("total", PFNL_U64),
};

static const struct pfnl_set event_set = { "event", event_specs,
					   PREFETCH_A_EVENT_TOTAL,
					   PREFETCH_A_EVENT_FOLDED };

static int read_cpu(struct pfnl *h, const struct nlattr *nest,
		    struct pfnl_cpu *cpu)
{
	const struct nlattr *a[PREFETCH_A_CPU_COMM + 1];
	int r;

	r = pfnl_parse_nest(h, &cpu_set, nest, a);
	if (r)
		return r;
	cpu->id = pfnl_u32(a[PREFETCH_A_CPU_ID]);
	cpu->online = pfnl_u32(a[PREFETCH_A_CPU_ONLINE]) != 0;
	cpu->has_wish = pfnl_u32(a[PREFETCH_A_CPU_HAS_WISH]) != 0;
	cpu->wish_off = pfnl_u32(a[PREFETCH_A_CPU_WISH_OFF]);
	cpu->wish_on = pfnl_u32(a[PREFETCH_A_CPU_WISH_ON]);
	cpu->has_task = a[PREFETCH_A_CPU_TID] != NULL;
	cpu->pid = pfnl_u32(a[PREFETCH_A_CPU_PID]);
	cpu->tid = pfnl_u32(a[PREFETCH_A_CPU_TID]);
	pfnl_string(a[PREFETCH_A_CPU_COMM], cpu->comm, sizeof(cpu->comm));
	return 0;
}

static int read_register(struct pfnl *h, const struct nlattr *nest,
			 struct pfnl_register *reg)
{
	const struct nlattr *a[PREFETCH_A_REGISTER_BASELINE + 1];
	int r;

	r = pfnl_parse_nest(h, &register_set, nest, a);
	if (r)
		return r;
	reg->address = pfnl_u32(a[PREFETCH_A_REGISTER_ADDRESS]);
	reg->programmed = pfnl_u64(a[PREFETCH_A_REGISTER_PROGRAMMED]);
	reg->value = pfnl_u64(a[PREFETCH_A_REGISTER_VALUE]);
	reg->error = pfnl_u32(a[PREFETCH_A_REGISTER_ERROR]);
	reg->baseline = pfnl_u64(a[PREFETCH_A_REGISTER_BASELINE]);
	reg->has_baseline = a[PREFETCH_A_REGISTER_BASELINE] != NULL;
	return 0;
}

static int read_registers(struct pfnl *h, struct pfnl_walk walk, int type,
			  struct pfnl_register **regs, size_t *count)
{
	size_t n = pfnl_count(walk, type);
	size_t i;
	int r;

	*count = 0;
	*regs = NULL;
	if (!n)
		return 0;
	*regs = calloc(n, sizeof(**regs));
	if (!*regs)
		return pfnl_fail(h, -ENOMEM, "out of memory");
	*count = n;
	for (i = 0; i < n; i++) {
		r = read_register(h, pfnl_next(&walk, type), &(*regs)[i]);
		if (r)
			return r;
	}
	return 0;
}

static int read_cpus(struct pfnl *h, struct pfnl_walk walk,
		     struct pfnl_core *core)
{
	size_t n = pfnl_count(walk, PREFETCH_A_CORE_CPU);
	size_t i;
	int r;

	if (!n)
		return 0;
	core->cpus = calloc(n, sizeof(*core->cpus));
	if (!core->cpus)
		return pfnl_fail(h, -ENOMEM, "out of memory");
	core->n_cpus = n;
	for (i = 0; i < n; i++) {
		r = read_cpu(h, pfnl_next(&walk, PREFETCH_A_CORE_CPU),
			     &core->cpus[i]);
		if (r)
			return r;
	}
	return 0;
}

int pfnl_read_core(struct pfnl *h, const struct nlmsghdr *msg,
		   struct pfnl_core *core)
{
	const struct nlattr *a[PREFETCH_A_CORE_HYBRID_ID + 1];
	int r;

	memset(core, 0, sizeof(*core));
	r = pfnl_parse_msg(h, &core_set, msg, a);
	if (r)
		return r;
	core->domain = pfnl_u32(a[PREFETCH_A_CORE_DOMAIN]);
	core->core_type = pfnl_u32(a[PREFETCH_A_CORE_CORE_TYPE]);
	core->supported = pfnl_u32(a[PREFETCH_A_CORE_SUPPORTED]);
	core->baseline = pfnl_u32(a[PREFETCH_A_CORE_BASELINE]);
	core->effective = pfnl_u32(a[PREFETCH_A_CORE_EFFECTIVE]);
	core->held = pfnl_u32(a[PREFETCH_A_CORE_HELD]) != 0;
	core->failed = pfnl_u32(a[PREFETCH_A_CORE_FAILED]) != 0;
	core->writes = pfnl_u64(a[PREFETCH_A_CORE_WRITES]);
	core->verified = a[PREFETCH_A_CORE_DIFFERS] != NULL;
	core->read = pfnl_u32(a[PREFETCH_A_CORE_READ]);
	core->differs = pfnl_u32(a[PREFETCH_A_CORE_DIFFERS]) != 0;
	core->fault = pfnl_u32(a[PREFETCH_A_CORE_FAULT]);
	core->fault_register = pfnl_u32(a[PREFETCH_A_CORE_FAULT_REGISTER]);
	core->fault_bits = pfnl_u64(a[PREFETCH_A_CORE_FAULT_BITS]);
	core->stuck = pfnl_u32(a[PREFETCH_A_CORE_STUCK]);
	core->hybrid_id = pfnl_u32(a[PREFETCH_A_CORE_HYBRID_ID]);
	r = read_cpus(h, pfnl_walk_msg(msg), core);
	if (!r)
		r = read_registers(h, pfnl_walk_msg(msg),
				   PREFETCH_A_CORE_REGISTER, &core->registers,
				   &core->n_registers);
	if (r)
		pfnl_core_clear(core);
	return r;
}

static int read_repair(struct pfnl *h, const struct nlattr *nest,
		       struct pfnl_repair *repair)
{
	const struct nlattr *a[PREFETCH_A_REPAIR_REGISTER + 1];
	struct pfnl_register *regs;
	int r;

	r = pfnl_parse_nest(h, &repair_set, nest, a);
	if (r)
		return r;
	repair->domain = pfnl_u32(a[PREFETCH_A_REPAIR_DOMAIN]);
	repair->before = pfnl_u32(a[PREFETCH_A_REPAIR_BEFORE]);
	repair->after = pfnl_u32(a[PREFETCH_A_REPAIR_AFTER]);
	r = read_registers(h, pfnl_walk_nest(nest), PREFETCH_A_REPAIR_REGISTER,
			   &regs, &repair->n_registers);
	repair->registers = regs;
	return r;
}

int pfnl_read_repairs(struct pfnl *h, const struct nlmsghdr *msg,
		      struct pfnl_repair **repairs, size_t *count)
{
	const struct nlattr *a[PREFETCH_A_CORE_REPAIRED + 1];
	struct pfnl_walk walk;
	size_t i, n;
	int r;

	*repairs = NULL;
	*count = 0;
	r = pfnl_parse_msg(h, &repaired_set, msg, a);
	if (r)
		return r;
	walk = pfnl_walk_msg(msg);
	n = pfnl_count(walk, PREFETCH_A_CORE_REPAIRED);
	if (!n)
		return 0;
	*repairs = calloc(n, sizeof(**repairs));
	if (!*repairs)
		return pfnl_fail(h, -ENOMEM, "out of memory");
	*count = n;
	for (i = 0; i < n; i++) {
		r = read_repair(h, pfnl_next(&walk, PREFETCH_A_CORE_REPAIRED),
				&(*repairs)[i]);
		if (r)
			return r;
	}
	return 0;
}

void pfnl_free_repairs(struct pfnl_repair *repairs, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		free((void *)(uintptr_t)repairs[i].registers);
	free(repairs);
}

int pfnl_read_core_event(struct pfnl *h, const struct nlmsghdr *msg,
			 struct pfnl_core_event *event, uint32_t **cpus)
{
	const struct nlattr *a[PREFETCH_A_EVENT_TOTAL + 1];
	struct pfnl_walk walk;
	uint32_t *list;
	size_t i, n;
	int r;

	memset(event, 0, sizeof(*event));
	r = pfnl_parse_msg(h, &event_set, msg, a);
	if (r)
		return r;
	event->domain = pfnl_u32(a[PREFETCH_A_EVENT_DOMAIN]);
	event->old_mask = pfnl_u32(a[PREFETCH_A_EVENT_OLD]);
	event->new_mask = pfnl_u32(a[PREFETCH_A_EVENT_NEW]);
	event->cause = pfnl_u32(a[PREFETCH_A_EVENT_CAUSE]);
	event->cpu = pfnl_u32(a[PREFETCH_A_EVENT_CPU]);
	event->pid = pfnl_u32(a[PREFETCH_A_EVENT_PID]);
	event->tid = pfnl_u32(a[PREFETCH_A_EVENT_TID]);
	pfnl_string(a[PREFETCH_A_EVENT_COMM], event->comm, sizeof(event->comm));
	event->time = pfnl_u64(a[PREFETCH_A_EVENT_TIME]);
	event->seq = pfnl_u32(a[PREFETCH_A_EVENT_SEQ]);
	event->folded = pfnl_u32(a[PREFETCH_A_EVENT_FOLDED]);
	event->lost = pfnl_u64(a[PREFETCH_A_EVENT_LOST]);
	event->total = pfnl_u64(a[PREFETCH_A_EVENT_TOTAL]);
	walk = pfnl_walk_msg(msg);
	n = pfnl_count(walk, PREFETCH_A_EVENT_CPUS);
	if (!n)
		return 0;
	list = realloc(*cpus, n * sizeof(*list));
	if (!list)
		return pfnl_fail(h, -ENOMEM, "out of memory");
	*cpus = list;
	for (i = 0; i < n; i++)
		list[i] = pfnl_u32(pfnl_next(&walk, PREFETCH_A_EVENT_CPUS));
	event->cpus = list;
	event->n_cpus = n;
	return 0;
}

void pfnl_core_clear(struct pfnl_core *core)
{
	free(core->cpus);
	free(core->registers);
	memset(core, 0, sizeof(*core));
}

static int copy_array(void **to, const void *from, size_t count, size_t size)
{
	*to = NULL;
	if (!count)
		return 0;
	*to = malloc(count * size);
	if (!*to)
		return -ENOMEM;
	memcpy(*to, from, count * size);
	return 0;
}

int pfnl_core_copy(struct pfnl_core *to, const struct pfnl_core *from)
{
	void *registers = NULL;
	void *cpus;
	int r;

	r = copy_array(&cpus, from->cpus, from->n_cpus, sizeof(*from->cpus));
	if (!r)
		r = copy_array(&registers, from->registers, from->n_registers,
			       sizeof(*from->registers));
	if (r) {
		free(cpus);
		memset(to, 0, sizeof(*to));
		return r;
	}
	*to = *from;
	to->cpus = cpus;
	to->registers = registers;
	return 0;
}
