// SPDX-License-Identifier: GPL-2.0-or-later
/* What the kernel told, as JSON: see text.h for the rules. */
#include "text.h"

json_t *safe_json(const char *text)
{
	char safe[SAFE_TEXT_SIZE];

	return json_string(safe_text(text, safe));
}

json_t *setting_json(const struct pfnl_setting *s)
{
	json_t *object;

	object = json_pack("{s:I, s:s, s:b, s:I, s:I, s:b, s:I, s:I, s:I, s:o}",
			   "pid", (json_int_t)s->pid, "scope",
			   pfnl_scope_name(s->scope), "present",
			   (int)s->present, "off", (json_int_t)s->off, "on",
			   (json_int_t)s->on, "inherit", (int)s->inherit,
			   "wish_off", (json_int_t)s->wish_off, "wish_on",
			   (json_int_t)s->wish_on, "start_time",
			   (json_int_t)s->start_time, "comm",
			   safe_json(s->comm));
	if (!object)
		return NULL;
	if (s->scope == PREFETCH_SCOPE_THREAD)
		json_object_set_new(object, "tid", json_integer(s->tid));
	if (s->present) {
		json_object_set_new(object, "id",
				    json_integer((json_int_t)s->id));
		if (s->uid != (uint32_t)-1)
			json_object_set_new(object, "uid",
					    json_integer(s->uid));
	}
	json_object_set_new(object, "partial", json_integer(s->partial));
	return object;
}

/* A number, or null where there is none. */
static json_t *number_json(bool known, uint64_t number)
{
	return known ? json_integer((json_int_t)number) : json_null();
}

json_t *registers_json(const struct pfnl_register *registers, size_t count,
		       bool untouched)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < count; i++) {
		const struct pfnl_register *r = &registers[i];
		json_t *object;

		object = json_pack("{s:I, s:o}", "address",
				   (json_int_t)r->address, "programmed",
				   number_json(!untouched, r->programmed));
		if (r->error)
			json_object_set_new(object, "error",
					    json_integer(r->error));
		else
			json_object_set_new(object, "value",
					    json_integer((json_int_t)r->value));
		json_object_set_new(object, "baseline",
				    number_json(r->has_baseline, r->baseline));
		json_array_append_new(list, object);
	}
	return list;
}

static json_t *cpu_json(const struct pfnl_cpu *cpu)
{
	json_t *object;

	object = json_pack("{s:I, s:b, s:b}", "id", (json_int_t)cpu->id,
			   "online", (int)cpu->online, "has_wish",
			   (int)cpu->has_wish);
	if (object && cpu->has_wish) {
		json_object_set_new(object, "wish_off",
				    json_integer(cpu->wish_off));
		json_object_set_new(object, "wish_on",
				    json_integer(cpu->wish_on));
	}
	if (object && cpu->has_task) {
		json_object_set_new(object, "pid", json_integer(cpu->pid));
		json_object_set_new(object, "tid", json_integer(cpu->tid));
		json_object_set_new(object, "comm", safe_json(cpu->comm));
	}
	return object;
}

static json_t *fault_json(const struct pfnl_core *core)
{
	if (!core->failed || !core->fault)
		return json_null();
	return json_pack("{s:s, s:I, s:I, s:I}", "kind",
			 pfnl_fault_name(core->fault), "register",
			 (json_int_t)core->fault_register, "bits",
			 (json_int_t)core->fault_bits, "stuck",
			 (json_int_t)core->stuck);
}

json_t *core_json(const struct pfnl_core *core)
{
	json_t *cpus = json_array();
	json_t *tasks = json_array();
	json_t *object;
	size_t i;

	for (i = 0; i < core->n_cpus; i++) {
		json_array_append_new(cpus, json_integer(core->cpus[i].id));
		json_array_append_new(tasks, cpu_json(&core->cpus[i]));
	}
	object =
		json_pack("{s:I, s:o, s:s, s:I, s:o, s:I, s:b, s:b, s:I, s:o}",
			  "domain", (json_int_t)core->domain, "cpus", cpus,
			  "core_type", pfnl_core_type_name(core->core_type),
			  "supported", (json_int_t)core->supported, "effective",
			  number_json(!core_untouched(core), core->effective),
			  "baseline", (json_int_t)core->baseline, "held",
			  (int)core->held, "failed", (int)core->failed,
			  "writes", (json_int_t)core->writes, "per_cpu", tasks);
	if (object) {
		json_object_set_new(object, "fault", fault_json(core));
		json_object_set_new(object, "hybrid_id",
				    number_json(core->hybrid_id,
						core->hybrid_id));
	}
	if (object && core->verified) {
		json_object_set_new(object, "read", json_integer(core->read));
		json_object_set_new(object, "differs",
				    json_boolean(core->differs));
		json_object_set_new(object, "registers",
				    registers_json(core->registers,
						   core->n_registers,
						   core_untouched(core)));
	}
	return object;
}

json_t *info_json(const struct pfnl_info *i)
{
	json_t *o = json_object();
	const struct {
		const char *name;
		uint64_t value;
	} numbers[] = {
		{ "cpu_family", i->cpu_family },
		{ "cpu_model", i->cpu_model },
		{ "cpu_stepping", i->cpu_stepping },
		{ "domains", i->domains },
		{ "supported", i->supported },
		{ "default_off", i->default_off },
		{ "default_on", i->default_on },
		{ "settings", i->settings },
		{ "max_settings", i->max_settings },
		{ "user_settings", i->user_settings },
		{ "max_user_settings", i->max_user_settings },
		{ "setting_size", i->setting_size },
		{ "event_interval", i->event_interval },
		{ "register_writes", i->register_writes },
		{ "refused_writes", i->refused_writes },
		{ "foreign_writes", i->foreign_writes },
		{ "dropped_inherits", i->dropped_inherits },
		{ "core_events_sent", i->core_events_sent },
		{ "core_events_lost", i->core_events_lost },
		{ "core_total", i->core_total },
		{ "core_seq", i->core_seq },
		{ "setting_events_sent", i->setting_events_sent },
		{ "setting_events_lost", i->setting_events_lost },
		{ "setting_total", i->setting_total },
		{ "setting_seq", i->setting_seq },
	};
	size_t n;

	json_object_set_new(o, "backend",
			    json_string(pfnl_backend_name(i->backend)));
	json_object_set_new(o, "version", safe_json(i->version));
	json_object_set_new(o, "cpu_vendor", safe_json(i->cpu_vendor));
	json_object_set_new(o, "hypervisor", json_boolean(i->hypervisor));
	json_object_set_new(o, "attached", json_boolean(i->attached));
	json_object_set_new(o, "unprivileged", json_boolean(i->unprivileged));
	json_object_set_new(o, "events_here", json_boolean(i->events_here));
	for (n = 0; n < sizeof(numbers) / sizeof(numbers[0]); n++)
		json_object_set_new(o, numbers[n].name,
				    json_integer((json_int_t)numbers[n].value));
	return o;
}
