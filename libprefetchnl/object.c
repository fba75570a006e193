// SPDX-License-Identifier: LGPL-2.1-or-later
/* Messages about the machine, prefetchers, settings and the machine default. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

static const struct pfnl_spec info_specs[] = {
	[PREFETCH_A_INFO_BACKEND] = MUST("backend", PFNL_U32),
	[PREFETCH_A_INFO_VERSION] = MUST("version", PFNL_STRING),
	[PREFETCH_A_INFO_CPU_VENDOR] = MAY("cpu-vendor", PFNL_STRING),
	[PREFETCH_A_INFO_CPU_FAMILY] = MAY("cpu-family", PFNL_U32),
	[PREFETCH_A_INFO_CPU_MODEL] = MAY("cpu-model", PFNL_U32),
	[PREFETCH_A_INFO_CPU_STEPPING] = MAY("cpu-stepping", PFNL_U32),
	[PREFETCH_A_INFO_HYPERVISOR] = MAY("hypervisor", PFNL_U32),
	[PREFETCH_A_INFO_DOMAINS] = MUST("domains", PFNL_U32),
	[PREFETCH_A_INFO_SUPPORTED] = MUST("supported", PFNL_U32),
	[PREFETCH_A_INFO_DEFAULT_OFF] = MUST("default-off", PFNL_U32),
	[PREFETCH_A_INFO_DEFAULT_ON] = MUST("default-on", PFNL_U32),
	[PREFETCH_A_INFO_SETTINGS] = MAY("settings", PFNL_U32),
	[PREFETCH_A_INFO_MAX_SETTINGS] = MAY("max-settings", PFNL_U32),
	[PREFETCH_A_INFO_SETTING_SIZE] = MAY("setting-size", PFNL_U32),
	[PREFETCH_A_INFO_ATTACHED] = MAY("attached", PFNL_U32),
	[PREFETCH_A_INFO_UNPRIVILEGED] = MAY("unprivileged", PFNL_U32),
	[PREFETCH_A_INFO_EVENTS_HERE] = MAY("events-here", PFNL_U32),
	[PREFETCH_A_INFO_EVENT_INTERVAL] = MAY("event-interval", PFNL_U32),
	[PREFETCH_A_INFO_REGISTER_WRITES] = MAY("register-writes", PFNL_U64),
	[PREFETCH_A_INFO_REFUSED_WRITES] = MAY("refused-writes", PFNL_U64),
	[PREFETCH_A_INFO_FOREIGN_WRITES] = MAY("foreign-writes", PFNL_U64),
	[PREFETCH_A_INFO_DROPPED_INHERITS] = MAY("dropped-inherits", PFNL_U64),
	[PREFETCH_A_INFO_CORE_EVENTS_SENT] = MAY("core-events-sent", PFNL_U64),
	[PREFETCH_A_INFO_CORE_EVENTS_LOST] = MAY("core-events-lost", PFNL_U64),
	[PREFETCH_A_INFO_CORE_SEQ] = MAY("core-seq", PFNL_U32),
	[PREFETCH_A_INFO_CORE_TOTAL] = MAY("core-total", PFNL_U64),
	[PREFETCH_A_INFO_SETTING_EVENTS_SENT] =
		MAY("setting-events-sent", PFNL_U64),
	[PREFETCH_A_INFO_SETTING_EVENTS_LOST] =
		MAY("setting-events-lost", PFNL_U64),
	[PREFETCH_A_INFO_SETTING_SEQ] = MAY("setting-seq", PFNL_U32),
	[PREFETCH_A_INFO_SETTING_TOTAL] = MAY("setting-total", PFNL_U64),
	[PREFETCH_A_INFO_USER_SETTINGS] = MAY("user-settings", PFNL_U32),
	[PREFETCH_A_INFO_MAX_USER_SETTINGS] =
		MAY("max-user-settings", PFNL_U32),
};

static const struct pfnl_set info_set = { "info", info_specs,
					  PREFETCH_A_INFO_MAX_USER_SETTINGS,
					  PREFETCH_A_INFO_DEFAULT_ON };

int pfnl_read_info(struct pfnl *h, const struct nlmsghdr *msg,
		   struct pfnl_info *info)
{
	const struct nlattr *a[PREFETCH_A_INFO_MAX_USER_SETTINGS + 1];
	int r;

	memset(info, 0, sizeof(*info));
	r = pfnl_parse_msg(h, &info_set, msg, a);
	if (r)
		return r;
	info->backend = pfnl_u32(a[PREFETCH_A_INFO_BACKEND]);
	pfnl_string(a[PREFETCH_A_INFO_VERSION], info->version,
		    sizeof(info->version));
	pfnl_string(a[PREFETCH_A_INFO_CPU_VENDOR], info->cpu_vendor,
		    sizeof(info->cpu_vendor));
	info->cpu_family = pfnl_u32(a[PREFETCH_A_INFO_CPU_FAMILY]);
	info->cpu_model = pfnl_u32(a[PREFETCH_A_INFO_CPU_MODEL]);
	info->cpu_stepping = pfnl_u32(a[PREFETCH_A_INFO_CPU_STEPPING]);
	info->hypervisor = pfnl_u32(a[PREFETCH_A_INFO_HYPERVISOR]) != 0;
	info->attached = pfnl_u32(a[PREFETCH_A_INFO_ATTACHED]) != 0;
	info->unprivileged = pfnl_u32(a[PREFETCH_A_INFO_UNPRIVILEGED]) != 0;
	info->events_here = pfnl_u32(a[PREFETCH_A_INFO_EVENTS_HERE]) != 0;
	info->domains = pfnl_u32(a[PREFETCH_A_INFO_DOMAINS]);
	info->supported = pfnl_u32(a[PREFETCH_A_INFO_SUPPORTED]);
	info->default_off = pfnl_u32(a[PREFETCH_A_INFO_DEFAULT_OFF]);
	info->default_on = pfnl_u32(a[PREFETCH_A_INFO_DEFAULT_ON]);
	info->settings = pfnl_u32(a[PREFETCH_A_INFO_SETTINGS]);
	info->max_settings = pfnl_u32(a[PREFETCH_A_INFO_MAX_SETTINGS]);
	info->setting_size = pfnl_u32(a[PREFETCH_A_INFO_SETTING_SIZE]);
	info->event_interval = pfnl_u32(a[PREFETCH_A_INFO_EVENT_INTERVAL]);
	info->register_writes = pfnl_u64(a[PREFETCH_A_INFO_REGISTER_WRITES]);
	info->refused_writes = pfnl_u64(a[PREFETCH_A_INFO_REFUSED_WRITES]);
	info->foreign_writes = pfnl_u64(a[PREFETCH_A_INFO_FOREIGN_WRITES]);
	info->dropped_inherits = pfnl_u64(a[PREFETCH_A_INFO_DROPPED_INHERITS]);
	info->core_events_sent = pfnl_u64(a[PREFETCH_A_INFO_CORE_EVENTS_SENT]);
	info->core_events_lost = pfnl_u64(a[PREFETCH_A_INFO_CORE_EVENTS_LOST]);
	info->core_seq = pfnl_u32(a[PREFETCH_A_INFO_CORE_SEQ]);
	info->setting_events_sent =
		pfnl_u64(a[PREFETCH_A_INFO_SETTING_EVENTS_SENT]);
	info->setting_events_lost =
		pfnl_u64(a[PREFETCH_A_INFO_SETTING_EVENTS_LOST]);
	info->setting_seq = pfnl_u32(a[PREFETCH_A_INFO_SETTING_SEQ]);
	info->core_total = pfnl_u64(a[PREFETCH_A_INFO_CORE_TOTAL]);
	info->setting_total = pfnl_u64(a[PREFETCH_A_INFO_SETTING_TOTAL]);
	info->user_settings = pfnl_u32(a[PREFETCH_A_INFO_USER_SETTINGS]);
	info->max_user_settings =
		pfnl_u32(a[PREFETCH_A_INFO_MAX_USER_SETTINGS]);
	return 0;
}

static const struct pfnl_spec location_specs[] = {
	[PREFETCH_A_LOCATION_CORE_TYPE] = MUST("core-type", PFNL_U32),
	[PREFETCH_A_LOCATION_REGISTER] = MAY("register", PFNL_U32),
	[PREFETCH_A_LOCATION_SHIFT] = MAY("shift", PFNL_U32),
	[PREFETCH_A_LOCATION_WIDTH] = MAY("width", PFNL_U32),
	[PREFETCH_A_LOCATION_OFF_VALUE] = MAY("off-value", PFNL_U32),
	[PREFETCH_A_LOCATION_DOMAINS] = MAY("domains", PFNL_U32),
	[PREFETCH_A_LOCATION_BASELINE_OFF] = MAY("baseline-off", PFNL_U32),
};

static const struct pfnl_set location_set = { "location", location_specs,
					      PREFETCH_A_LOCATION_BASELINE_OFF,
					      PREFETCH_A_LOCATION_CORE_TYPE };

static const struct pfnl_spec prefetcher_specs[] = {
	[PREFETCH_A_PREFETCHER_ID] = MUST("id", PFNL_U32),
	[PREFETCH_A_PREFETCHER_NAME] = MUST("name", PFNL_STRING),
	[PREFETCH_A_PREFETCHER_DESCRIPTION] = MAY("description", PFNL_STRING),
	[PREFETCH_A_PREFETCHER_LOCATION] = MANY("location", PFNL_NEST),
};

static const struct pfnl_set prefetcher_set = { "prefetcher", prefetcher_specs,
						PREFETCH_A_PREFETCHER_LOCATION,
						PREFETCH_A_PREFETCHER_NAME };

static int read_location(struct pfnl *h, const struct nlattr *nest,
			 struct pfnl_location *l)
{
	const struct nlattr *a[PREFETCH_A_LOCATION_BASELINE_OFF + 1];
	int r;

	r = pfnl_parse_nest(h, &location_set, nest, a);
	if (r)
		return r;
	l->core_type = pfnl_u32(a[PREFETCH_A_LOCATION_CORE_TYPE]);
	l->reg = pfnl_u32(a[PREFETCH_A_LOCATION_REGISTER]);
	l->shift = pfnl_u32(a[PREFETCH_A_LOCATION_SHIFT]);
	l->width = pfnl_u32(a[PREFETCH_A_LOCATION_WIDTH]);
	l->off_value = pfnl_u32(a[PREFETCH_A_LOCATION_OFF_VALUE]);
	l->domains = pfnl_u32(a[PREFETCH_A_LOCATION_DOMAINS]);
	l->baseline_off = pfnl_u32(a[PREFETCH_A_LOCATION_BASELINE_OFF]);
	return 0;
}

int pfnl_read_prefetcher(struct pfnl *h, const struct nlmsghdr *msg,
			 struct pfnl_prefetcher *p,
			 struct pfnl_location **locations)
{
	const struct nlattr *a[PREFETCH_A_PREFETCHER_LOCATION + 1];
	struct pfnl_walk walk;
	size_t count;
	size_t i;
	int r;

	*locations = NULL;
	memset(p, 0, sizeof(*p));
	r = pfnl_parse_msg(h, &prefetcher_set, msg, a);
	if (r)
		return r;
	p->id = pfnl_u32(a[PREFETCH_A_PREFETCHER_ID]);
	if (p->id > 31)
		return pfnl_fail(h, -EBADMSG,
				 "kernel's message, prefetcher: bad id %u",
				 (unsigned int)p->id);
	pfnl_string(a[PREFETCH_A_PREFETCHER_NAME], p->name, sizeof(p->name));
	pfnl_string(a[PREFETCH_A_PREFETCHER_DESCRIPTION], p->description,
		    sizeof(p->description));
	walk = pfnl_walk_msg(msg);
	count = pfnl_count(walk, PREFETCH_A_PREFETCHER_LOCATION);
	if (!count)
		return 0;
	*locations = calloc(count, sizeof(**locations));
	if (!*locations)
		return pfnl_fail(h, -ENOMEM, "out of memory");
	for (i = 0; i < count; i++) {
		r = read_location(h,
				  pfnl_next(&walk,
					    PREFETCH_A_PREFETCHER_LOCATION),
				  &(*locations)[i]);
		if (r)
			return r;
	}
	p->locations = *locations;
	p->n_locations = count;
	return 0;
}

static const struct pfnl_spec setting_specs[] = {
	[PREFETCH_A_SETTING_PID] = MUST("pid", PFNL_U32),
	[PREFETCH_A_SETTING_TID] = MAY("tid", PFNL_U32),
	[PREFETCH_A_SETTING_SCOPE] = MUST("scope", PFNL_U32),
	[PREFETCH_A_SETTING_OFF] = MAY("off", PFNL_U32),
	[PREFETCH_A_SETTING_ON] = MAY("on", PFNL_U32),
	[PREFETCH_A_SETTING_INHERIT] = MAY("inherit", PFNL_U32),
	[PREFETCH_A_SETTING_WISH_OFF] = MAY("wish-off", PFNL_U32),
	[PREFETCH_A_SETTING_WISH_ON] = MAY("wish-on", PFNL_U32),
	[PREFETCH_A_SETTING_START_TIME] = MAY("start-time", PFNL_U64),
	[PREFETCH_A_SETTING_COMM] = MAY("comm", PFNL_STRING),
	[PREFETCH_A_SETTING_UID] = MAY("uid", PFNL_U32),
	[PREFETCH_A_SETTING_ID] = MAY("id", PFNL_U64),
	[PREFETCH_A_SETTING_PARTIAL] = MAY("partial", PFNL_U32),
	[PREFETCH_A_SETTING_CHANGE] = MAY("change", PFNL_U32),
	[PREFETCH_A_SETTING_SEQ] = MAY("seq", PFNL_U32),
	[PREFETCH_A_SETTING_LOST] = MAY("lost", PFNL_U64),
	[PREFETCH_A_SETTING_TOTAL] = MAY("total", PFNL_U64),
	[PREFETCH_A_SETTING_TIME] = MAY("time", PFNL_U64),
};

static const struct pfnl_set setting_set = { "setting", setting_specs,
					     PREFETCH_A_SETTING_TIME,
					     PREFETCH_A_SETTING_SCOPE };

static int parse_setting(struct pfnl *h, const struct nlmsghdr *msg,
			 struct pfnl_setting *s, const struct nlattr **a)
{
	int r;

	memset(s, 0, sizeof(*s));
	r = pfnl_parse_msg(h, &setting_set, msg, a);
	if (r)
		return r;
	s->pid = pfnl_u32(a[PREFETCH_A_SETTING_PID]);
	s->scope = pfnl_u32(a[PREFETCH_A_SETTING_SCOPE]);
	if (s->scope == PREFETCH_SCOPE_THREAD) {
		if (!a[PREFETCH_A_SETTING_TID])
			return pfnl_fail(
				h, -EBADMSG,
				"kernel's message, setting: no \"tid\"");
		s->tid = pfnl_u32(a[PREFETCH_A_SETTING_TID]);
	}
	s->off = pfnl_u32(a[PREFETCH_A_SETTING_OFF]);
	s->on = pfnl_u32(a[PREFETCH_A_SETTING_ON]);
	s->inherit = pfnl_u32(a[PREFETCH_A_SETTING_INHERIT]) != 0;
	s->id = pfnl_u64(a[PREFETCH_A_SETTING_ID]);
	s->present = s->id != 0;
	s->wish_off = pfnl_u32(a[PREFETCH_A_SETTING_WISH_OFF]);
	s->wish_on = pfnl_u32(a[PREFETCH_A_SETTING_WISH_ON]);
	s->start_time = pfnl_u64(a[PREFETCH_A_SETTING_START_TIME]);
	pfnl_string(a[PREFETCH_A_SETTING_COMM], s->comm, sizeof(s->comm));
	s->uid = a[PREFETCH_A_SETTING_UID] ? pfnl_u32(a[PREFETCH_A_SETTING_UID])
					   : UINT32_MAX;
	s->partial = pfnl_u32(a[PREFETCH_A_SETTING_PARTIAL]);
	return 0;
}

int pfnl_read_setting(struct pfnl *h, const struct nlmsghdr *msg,
		      struct pfnl_setting *setting)
{
	const struct nlattr *a[PREFETCH_A_SETTING_TIME + 1];
	int r;

	r = parse_setting(h, msg, setting, a);
	if (!r && !setting->present) {
		setting->off = 0;
		setting->on = 0;
		setting->inherit = false;
		setting->uid = UINT32_MAX;
	}
	return r;
}

int pfnl_read_setting_event(struct pfnl *h, const struct nlmsghdr *msg,
			    struct pfnl_setting_event *event)
{
	const struct nlattr *a[PREFETCH_A_SETTING_TIME + 1];
	int r;

	memset(event, 0, sizeof(*event));
	r = parse_setting(h, msg, &event->setting, a);
	if (r)
		return r;
	if (!a[PREFETCH_A_SETTING_CHANGE] || !a[PREFETCH_A_SETTING_SEQ])
		return pfnl_fail(h, -EBADMSG,
				 "kernel's message, setting: no \"%s\"",
				 a[PREFETCH_A_SETTING_SEQ] ? "change" : "seq");
	event->change = pfnl_u32(a[PREFETCH_A_SETTING_CHANGE]);
	event->seq = pfnl_u32(a[PREFETCH_A_SETTING_SEQ]);
	event->lost = pfnl_u64(a[PREFETCH_A_SETTING_LOST]);
	event->total = pfnl_u64(a[PREFETCH_A_SETTING_TOTAL]);
	event->time = pfnl_u64(a[PREFETCH_A_SETTING_TIME]);
	return 0;
}

static const struct pfnl_spec default_specs[] = {
	[PREFETCH_A_DEFAULT_OFF] = MUST("off", PFNL_U32),
	[PREFETCH_A_DEFAULT_ON] = MUST("on", PFNL_U32),
	[PREFETCH_A_DEFAULT_PARTIAL] = MAY("partial", PFNL_U32),
};

static const struct pfnl_set default_set = { "default", default_specs,
					     PREFETCH_A_DEFAULT_PARTIAL,
					     PREFETCH_A_DEFAULT_ON };

int pfnl_read_default(struct pfnl *h, const struct nlmsghdr *msg,
		      struct pfnl_default *result)
{
	const struct nlattr *a[PREFETCH_A_DEFAULT_PARTIAL + 1];
	int r;

	memset(result, 0, sizeof(*result));
	r = pfnl_parse_msg(h, &default_set, msg, a);
	if (r)
		return r;
	result->off = pfnl_u32(a[PREFETCH_A_DEFAULT_OFF]);
	result->on = pfnl_u32(a[PREFETCH_A_DEFAULT_ON]);
	result->partial = pfnl_u32(a[PREFETCH_A_DEFAULT_PARTIAL]);
	return 0;
}
