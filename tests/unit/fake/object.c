// SPDX-License-Identifier: GPL-2.0-or-later
/* Cores, tasks and settings of the fake kernel, and how they are told. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "message.h"

/* One of the processes of the machine that the test runs on. */
static const struct fake_task *real_task(struct fake *f, uint32_t pid,
					 uint32_t tid)
{
	unsigned long long ticks;
	struct fake_task *t;
	char comm[64] = "?";
	char path[64];
	char line[512];
	unsigned int tgid = 0;
	FILE *file;
	char *end;

	snprintf(path, sizeof(path), "/proc/%u/status", (unsigned int)tid);
	file = fopen(path, "re");
	if (!file)
		return NULL;
	while (fgets(line, sizeof(line), file)) {
		sscanf(line, "Name: %63s", comm);
		sscanf(line, "Tgid: %u", &tgid);
	}
	fclose(file);
	if (!tgid || (pid && pid != tgid))
		return NULL;
	t = fake_add_task(f, tgid, tid, comm);
	snprintf(path, sizeof(path), "/proc/%u/stat", (unsigned int)tid);
	file = fopen(path, "re");
	if (!file)
		return t;
	if (fgets(line, sizeof(line), file) && (end = strrchr(line, ')')) &&
	    sscanf(end + 2,
		   "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d "
		   "%*d %*d %*d %*d %*d %llu",
		   &ticks) == 1)
		t->start_time = ticks * 10000000;
	fclose(file);
	return t;
}

const struct fake_task *fake_find_task(struct fake *f, uint32_t pid,
				       uint32_t tid)
{
	size_t i;

	for (i = 0; i < f->n_tasks; i++)
		if (f->tasks[i].tid == tid && (!pid || f->tasks[i].pid == pid))
			return &f->tasks[i];
	return f->real_tasks ? real_task(f, pid, tid) : NULL;
}

struct fake_setting *fake_find_setting(struct fake *f, uint32_t pid,
				       uint32_t tid)
{
	size_t i;

	for (i = 0; i < f->n_settings; i++)
		if (tid ? f->settings[i].tid == tid
			: f->settings[i].pid == pid && !f->settings[i].tid)
			return &f->settings[i];
	return NULL;
}

struct fake_domain *fake_find_domain(struct fake *f, uint32_t id)
{
	size_t i;

	for (i = 0; i < f->n_domains; i++)
		if (f->domains[i].id == id)
			return &f->domains[i];
	return NULL;
}

/* Thread over process, per prefetcher. */
static void wish_of(struct fake *f, uint32_t pid, uint32_t tid, uint32_t *off,
		    uint32_t *on)
{
	const struct fake_setting *p = fake_find_setting(f, pid, 0);
	const struct fake_setting *t = tid ? fake_find_setting(f, pid, tid)
					   : NULL;
	uint32_t said = t ? t->off | t->on : 0;

	*off = (t ? t->off : 0) | (p ? p->off & ~said : 0);
	*on = (t ? t->on : 0) | (p ? p->on & ~said : 0);
}

static uint32_t default_of(const struct fake *f, const struct fake_domain *d)
{
	return ((d->baseline & ~f->default_on) | f->default_off) & d->supported;
}

void fake_settle(struct fake *f, uint32_t cause, uint32_t cpu)
{
	struct fake_core_event event;
	const struct fake_task *task;
	const struct fake_cpu *c;
	struct fake_domain *d;
	uint32_t mask, off, on;
	size_t i, j;
	bool any;

	for (i = 0; i < f->n_domains; i++) {
		d = &f->domains[i];
		memset(&event, 0, sizeof(event));
		event.cpu = cpu;
		mask = 0;
		any = false;
		for (j = 0; j < f->n_cpus; j++) {
			c = &f->cpus[j];
			if (c->domain != d->id || !c->tid)
				continue;
			any = true;
			wish_of(f, c->pid, c->tid, &off, &on);
			mask |= ((default_of(f, d) & ~on) | off) & d->supported;
			event.cpu = c->id;
			event.pid = c->pid;
			event.tid = c->tid;
			task = fake_find_task(f, c->pid, c->tid);
			event.comm = task ? task->comm : "";
		}
		/* The fake does not remember for whom it holds. */
		if (!any)
			mask = default_of(f, d);
		if (mask == d->effective || d->failed)
			continue;
		event.domain = d->id;
		event.old_mask = d->effective;
		event.new_mask = mask;
		event.cause = cause;
		event.folded = 1;
		event.time = UINT64_C(7000000000) + f->core_seq;
		d->effective = mask;
		d->writes++;
		f->register_writes++;
		fake_core_event(f, &event);
	}
}

void fake_fill_info(struct fake *f, struct fake_bytes *b)
{
	fake_u32(b, PREFETCH_A_INFO_BACKEND, f->backend);
	fake_text(b, PREFETCH_A_INFO_VERSION, f->version);
	fake_text(b, PREFETCH_A_INFO_CPU_VENDOR, f->vendor);
	fake_u32(b, PREFETCH_A_INFO_CPU_FAMILY, f->cpu_family);
	fake_u32(b, PREFETCH_A_INFO_CPU_MODEL, f->cpu_model);
	fake_u32(b, PREFETCH_A_INFO_CPU_STEPPING, f->cpu_stepping);
	fake_u32(b, PREFETCH_A_INFO_HYPERVISOR, f->hypervisor);
	fake_u32(b, PREFETCH_A_INFO_DOMAINS, (uint32_t)f->n_domains);
	fake_u32(b, PREFETCH_A_INFO_SUPPORTED, f->supported);
	fake_u32(b, PREFETCH_A_INFO_DEFAULT_OFF, f->default_off);
	fake_u32(b, PREFETCH_A_INFO_DEFAULT_ON, f->default_on);
	fake_u32(b, PREFETCH_A_INFO_SETTINGS, (uint32_t)f->n_settings);
	fake_u32(b, PREFETCH_A_INFO_MAX_SETTINGS, f->max_settings);
	fake_u32(b, PREFETCH_A_INFO_SETTING_SIZE, 96);
	fake_u32(b, PREFETCH_A_INFO_ATTACHED, f->attached || f->n_settings);
	fake_u32(b, PREFETCH_A_INFO_UNPRIVILEGED, f->unprivileged);
	fake_u32(b, PREFETCH_A_INFO_EVENTS_HERE, f->events_here);
	fake_u32(b, PREFETCH_A_INFO_EVENT_INTERVAL, f->interval);
	fake_u64(b, PREFETCH_A_INFO_REGISTER_WRITES, f->register_writes);
	fake_u64(b, PREFETCH_A_INFO_REFUSED_WRITES, 0);
	fake_u64(b, PREFETCH_A_INFO_FOREIGN_WRITES, f->foreign_writes);
	fake_u64(b, PREFETCH_A_INFO_DROPPED_INHERITS, 0);
	fake_u64(b, PREFETCH_A_INFO_CORE_EVENTS_SENT, f->core_sent);
	fake_u64(b, PREFETCH_A_INFO_CORE_EVENTS_LOST, f->core_lost);
	fake_u32(b, PREFETCH_A_INFO_CORE_SEQ, f->core_seq);
	fake_u64(b, PREFETCH_A_INFO_SETTING_EVENTS_SENT, f->setting_sent);
	fake_u64(b, PREFETCH_A_INFO_SETTING_EVENTS_LOST, f->setting_lost);
	fake_u32(b, PREFETCH_A_INFO_SETTING_SEQ, f->setting_seq);
	fake_u64(b, PREFETCH_A_INFO_CORE_TOTAL, f->core_total);
	fake_u64(b, PREFETCH_A_INFO_SETTING_TOTAL, f->setting_total);
	fake_u32(b, PREFETCH_A_INFO_USER_SETTINGS, (uint32_t)f->n_settings);
	fake_u32(b, PREFETCH_A_INFO_MAX_USER_SETTINGS, 4096);
}

static uint32_t count_domains(const struct fake *f, uint32_t type, uint32_t bit,
			      uint32_t *off)
{
	uint32_t count = 0;
	size_t i;

	*off = 0;
	for (i = 0; i < f->n_domains; i++) {
		if (f->domains[i].core_type != type ||
		    !(f->domains[i].supported & bit))
			continue;
		count++;
		*off += (f->domains[i].baseline & bit) != 0;
	}
	return count;
}

void fake_fill_prefetcher(struct fake *f, struct fake_bytes *b, uint32_t id)
{
	const struct pfnl_name *name = &pfnl_names(NULL)[id];
	uint32_t type, count, off;
	size_t nest;

	fake_u32(b, PREFETCH_A_PREFETCHER_ID, id);
	fake_text(b, PREFETCH_A_PREFETCHER_NAME, name->name);
	fake_text(b, PREFETCH_A_PREFETCHER_DESCRIPTION, name->description);
	for (type = 0; type <= PREFETCH_CORE_TYPE_EFFICIENT; type++) {
		count = count_domains(f, type, UINT32_C(1) << id, &off);
		if (!count)
			continue;
		nest = fake_nest(b, PREFETCH_A_PREFETCHER_LOCATION);
		fake_u32(b, PREFETCH_A_LOCATION_CORE_TYPE, type);
		fake_u32(b, PREFETCH_A_LOCATION_REGISTER, 0x1a4);
		fake_u32(b, PREFETCH_A_LOCATION_SHIFT, id);
		fake_u32(b, PREFETCH_A_LOCATION_WIDTH, 1);
		fake_u32(b, PREFETCH_A_LOCATION_OFF_VALUE, 1);
		fake_u32(b, PREFETCH_A_LOCATION_DOMAINS, count);
		fake_u32(b, PREFETCH_A_LOCATION_BASELINE_OFF, off);
		fake_nest_end(b, nest);
	}
}

uint32_t fake_partial(const struct fake *f, uint32_t mask)
{
	uint32_t all = mask;
	size_t i;

	for (i = 0; i < f->n_domains; i++)
		all &= f->domains[i].failed ? 0 : f->domains[i].supported;
	return mask & f->supported & ~all;
}

void fake_fill_setting(struct fake *f, struct fake_bytes *b, uint32_t pid,
		       uint32_t tid, const struct fake_setting *s)
{
	const struct fake_task *t = fake_find_task(f, pid, tid ? tid : pid);
	uint32_t off, on, said;

	wish_of(f, pid, tid, &off, &on);
	said = off | on;
	fake_u32(b, PREFETCH_A_SETTING_PID, pid);
	if (tid)
		fake_u32(b, PREFETCH_A_SETTING_TID, tid);
	fake_u32(b, PREFETCH_A_SETTING_SCOPE,
		 tid ? PREFETCH_SCOPE_THREAD : PREFETCH_SCOPE_PROCESS);
	fake_u32(b, PREFETCH_A_SETTING_OFF, s ? s->off : 0);
	fake_u32(b, PREFETCH_A_SETTING_ON, s ? s->on : 0);
	fake_u32(b, PREFETCH_A_SETTING_INHERIT, s ? s->inherit : 0);
	fake_u32(b, PREFETCH_A_SETTING_WISH_OFF,
		 off | (f->default_off & ~said));
	fake_u32(b, PREFETCH_A_SETTING_WISH_ON, on | (f->default_on & ~said));
	fake_u64(b, PREFETCH_A_SETTING_START_TIME, t ? t->start_time : 0);
	fake_text(b, PREFETCH_A_SETTING_COMM, t ? t->comm : "");
	fake_u32(b, PREFETCH_A_SETTING_PARTIAL,
		 s ? fake_partial(f, s->off | s->on) : 0);
	if (!s)
		return;
	fake_u32(b, PREFETCH_A_SETTING_UID, s->uid);
	fake_u64(b, PREFETCH_A_SETTING_ID, s->id);
}

void fake_fill_registers(struct fake_bytes *b, int type,
			 const struct fake_domain *d)
{
	size_t nest = fake_nest(b, type);

	fake_u32(b, PREFETCH_A_REGISTER_ADDRESS, 0x1a4);
	fake_u64(b, PREFETCH_A_REGISTER_PROGRAMMED, d->effective);
	fake_u64(b, PREFETCH_A_REGISTER_VALUE,
		 d->foreign ? d->foreign_value : d->effective);
	if (d->fault != PREFETCH_FAULT_ABSENT)
		fake_u64(b, PREFETCH_A_REGISTER_BASELINE, d->baseline);
	fake_nest_end(b, nest);
}

static void fill_cpu(struct fake *f, struct fake_bytes *b,
		     const struct fake_cpu *c)
{
	size_t nest = fake_nest(b, PREFETCH_A_CORE_CPU);
	const struct fake_task *task;
	uint32_t off = 0;
	uint32_t on = 0;

	if (c->tid)
		wish_of(f, c->pid, c->tid, &off, &on);
	fake_u32(b, PREFETCH_A_CPU_ID, c->id);
	fake_u32(b, PREFETCH_A_CPU_ONLINE, c->online);
	fake_u32(b, PREFETCH_A_CPU_HAS_WISH, c->tid != 0);
	fake_u32(b, PREFETCH_A_CPU_WISH_OFF, off);
	fake_u32(b, PREFETCH_A_CPU_WISH_ON, on);
	if (c->tid && f->privileged) {
		task = fake_find_task(f, c->pid, c->tid);
		fake_u32(b, PREFETCH_A_CPU_PID, c->pid);
		fake_u32(b, PREFETCH_A_CPU_TID, c->tid);
		fake_text(b, PREFETCH_A_CPU_COMM, task ? task->comm : "?");
	}
	fake_nest_end(b, nest);
}

void fake_fill_core(struct fake *f, struct fake_bytes *b,
		    const struct fake_domain *d, bool verify)
{
	size_t i, cpus = 0, online = 0;

	fake_u32(b, PREFETCH_A_CORE_DOMAIN, d->id);
	fake_u32(b, PREFETCH_A_CORE_CORE_TYPE, d->core_type);
	fake_u32(b, PREFETCH_A_CORE_SUPPORTED, d->supported);
	fake_u32(b, PREFETCH_A_CORE_BASELINE, d->baseline);
	fake_u32(b, PREFETCH_A_CORE_EFFECTIVE, d->effective);
	fake_u32(b, PREFETCH_A_CORE_HELD, d->held);
	fake_u32(b, PREFETCH_A_CORE_FAILED, d->failed);
	fake_u64(b, PREFETCH_A_CORE_WRITES, d->writes);
	if (d->hybrid_id)
		fake_u32(b, PREFETCH_A_CORE_HYBRID_ID, d->hybrid_id);
	if (d->failed && d->fault) {
		fake_u32(b, PREFETCH_A_CORE_FAULT, d->fault);
		fake_u32(b, PREFETCH_A_CORE_FAULT_REGISTER, 0x1a4);
		/* The bits of the fake are those of the mask. */
		fake_u64(b, PREFETCH_A_CORE_FAULT_BITS, d->stuck);
		fake_u32(b, PREFETCH_A_CORE_STUCK, d->stuck);
	}
	for (i = 0; i < f->n_cpus; i++)
		if (f->cpus[i].domain == d->id) {
			fill_cpu(f, b, &f->cpus[i]);
			cpus++;
			online += f->cpus[i].online;
		}
	/* Nobody can read the registers of a core that is offline. */
	if (!verify || (cpus && !online))
		return;
	fake_u32(b, PREFETCH_A_CORE_READ,
		 d->foreign ? d->foreign_value : d->effective);
	fake_u32(b, PREFETCH_A_CORE_DIFFERS,
		 d->foreign && d->foreign_value != d->effective);
	fake_fill_registers(b, PREFETCH_A_CORE_REGISTER, d);
}

static void fill_group(struct fake_bytes *b, int place, const char *name,
		       uint32_t id)
{
	size_t nest = fake_nest(b, place);

	fake_u32(b, CTRL_ATTR_MCAST_GRP_ID, id);
	fake_text(b, CTRL_ATTR_MCAST_GRP_NAME, name);
	fake_nest_end(b, nest);
}

void fake_fill_family(struct fake *f, struct fake_bytes *b)
{
	size_t nest;

	fake_text(b, CTRL_ATTR_FAMILY_NAME, PREFETCH_FAMILY_NAME);
	fake_u16(b, CTRL_ATTR_FAMILY_ID, f->family);
	fake_u32(b, CTRL_ATTR_VERSION, 1);
	fake_u32(b, CTRL_ATTR_HDRSIZE, 0);
	fake_u32(b, CTRL_ATTR_MAXATTR, 0);
	nest = fake_nest(b, CTRL_ATTR_MCAST_GROUPS);
	if (f->setting_group)
		fill_group(b, 1, PREFETCH_MCGRP_SETTING, FAKE_GROUP_SETTING);
	if (f->core_group)
		fill_group(b, 2, PREFETCH_MCGRP_CORE, FAKE_GROUP_CORE);
	fake_nest_end(b, nest);
}
