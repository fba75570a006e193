// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Names: the prefetchers, what people call them, and the values of the wire
 * format. The table follows enum prefetch_mask; a test compares both.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "prefetchnl.h"

static const char *const l2_stream_aliases[] = { "l2_hardware",
						 "l2_hardware_prefetcher",
						 "hardware_prefetcher",
						 "mlc_streamer",
						 "mlc_stream",
						 "l2_streamer",
						 NULL };

static const char *const l2_adjacent_aliases[] = {
	"l2_adjacent_line",
	"adjacent_line",
	"adjacent_cache_line_prefetch",
	"adjacent_cache_line",
	"adjacent_cache_prefetch",
	"adjacent_cache_line_prefetcher",
	"mlc_spatial",
	"l2_spatial",
	NULL
};

static const char *const l1_stream_aliases[] = { "dcu",
						 "dcu_streamer",
						 "dcu_streamer_prefetcher",
						 "dcu_stream",
						 "dcu_prefetcher",
						 "l1_next_line",
						 "nlp",
						 NULL };

static const char *const l1_ip_aliases[] = { "dcu_ip", "dcu_ip_prefetcher",
					     "ipp", NULL };

static const char *const amp_aliases[] = { "l2_amp", "amp_prefetch",
					   "adaptive_multipath", NULL };

static const char *const no_aliases[] = { NULL };

static const struct pfnl_name names[] = {
	{ 0, "l2_stream", "L2 hardware (stream) prefetcher",
	  l2_stream_aliases },
	{ 1, "l2_adjacent",
	  "L2 adjacent line prefetcher (pairs of 64-byte lines)",
	  l2_adjacent_aliases },
	{ 2, "l1_stream",
	  "L1 data stream (next line) prefetcher, called DCU by Intel",
	  l1_stream_aliases },
	{ 3, "l1_ip", "L1 data prefetcher keyed by the instruction address",
	  l1_ip_aliases },
	{ 4, "l1_next_page", "L1 data next page prefetcher", no_aliases },
	{ 5, "amp", "L2 adaptive multipath prefetcher", amp_aliases },
	{ 6, "llc_page", "Last level cache page prefetcher", no_aliases },
	{ 7, "aop", "Array of pointers prefetcher", no_aliases },
	{ 8, "code_stream", "Stream prefetcher for code fetches", no_aliases },
	{ 9, "l2_next_line", "L2 next line prefetcher", no_aliases },
	{ 10, "llc_stream", "Last level cache stream prefetcher", no_aliases },
	{ 11, "l1_stride", "L1 data stride prefetcher", no_aliases },
	{ 12, "l1_region", "L1 data region prefetcher", no_aliases },
	{ 13, "l2_updown", "L2 up/down prefetcher", no_aliases },
	{ 0, NULL, NULL, NULL }
};

#define N_NAMES (sizeof(names) / sizeof(names[0]) - 1)

static const struct pfnl_group_name groups[] = {
	{ "l1", PREFETCH_MASK_L1_STREAM | PREFETCH_MASK_L1_IP |
			PREFETCH_MASK_L1_NEXT_PAGE | PREFETCH_MASK_L1_STRIDE |
			PREFETCH_MASK_L1_REGION },
	{ "l2", PREFETCH_MASK_L2_STREAM | PREFETCH_MASK_L2_ADJACENT |
			PREFETCH_MASK_AMP | PREFETCH_MASK_L2_NEXT_LINE |
			PREFETCH_MASK_L2_UPDOWN },
	{ "llc", PREFETCH_MASK_LLC_PAGE | PREFETCH_MASK_LLC_STREAM },
	{ "all", PFNL_MASK_ALL },
	{ NULL, 0 }
};

#define N_GROUPS (sizeof(groups) / sizeof(groups[0]) - 1)

const struct pfnl_name *pfnl_names(size_t *count)
{
	if (count)
		*count = N_NAMES;
	return names;
}

const struct pfnl_group_name *pfnl_group_names(size_t *count)
{
	if (count)
		*count = N_GROUPS;
	return groups;
}

static char folded(char c)
{
	if (c == '-' || c == ' ')
		return '_';
	/* Not tolower(): the result shall not depend on the locale. */
	if (c >= 'A' && c <= 'Z')
		return (char)(c - 'A' + 'a');
	return c;
}

static bool same_name(const char *given, const char *known)
{
	for (; *given && *known; given++, known++)
		if (folded(*given) != *known)
			return false;
	return *given == *known;
}

int pfnl_name_to_mask(const char *name, uint32_t *mask, bool *is_group)
{
	const char *const *alias;
	size_t i;

	for (i = 0; i < N_NAMES; i++) {
		if (same_name(name, names[i].name))
			goto found;
		for (alias = names[i].aliases; *alias; alias++)
			if (same_name(name, *alias))
				goto found;
	}
	for (i = 0; i < N_GROUPS; i++)
		if (same_name(name, groups[i].name)) {
			*mask = groups[i].mask;
			if (is_group)
				*is_group = true;
			return 0;
		}
	return -ENOENT;
found:
	*mask = UINT32_C(1) << names[i].id;
	if (is_group)
		*is_group = false;
	return 0;
}

size_t pfnl_mask_names(uint32_t mask, char *buf, size_t size)
{
	char unknown[sizeof("bit31")];
	const char *name;
	size_t used = 0;
	size_t length;
	uint32_t id;

	if (size)
		buf[0] = '\0';
	for (id = 0; id < 32; id++) {
		if (!(mask & UINT32_C(1) << id))
			continue;
		if (id < N_NAMES) {
			name = names[id].name;
		} else {
			snprintf(unknown, sizeof(unknown), "bit%u",
				 (unsigned int)id & 31);
			name = unknown;
		}
		length = strlen(name) + (used ? 1 : 0);
		if (used < size)
			snprintf(buf + used, size - used, "%s%s",
				 used ? "," : "", name);
		used += length;
	}
	return used;
}

static const char *nth(const char *const *list, size_t count, uint32_t value)
{
	return value < count ? list[value] : "unknown";
}

#define NTH(list, value) nth(list, sizeof(list) / sizeof(list[0]), value)

const char *pfnl_backend_name(uint32_t backend)
{
	static const char *const list[] = {
		[PREFETCH_BACKEND_SOFT] = "soft",
		[PREFETCH_BACKEND_MSR] = "msr",
	};

	return NTH(list, backend);
}

const char *pfnl_core_type_name(uint32_t core_type)
{
	static const char *const list[] = {
		[PREFETCH_CORE_TYPE_UNIFORM] = "uniform",
		[PREFETCH_CORE_TYPE_PERFORMANCE] = "performance",
		[PREFETCH_CORE_TYPE_EFFICIENT] = "efficient",
	};

	return NTH(list, core_type);
}

const char *pfnl_scope_name(uint32_t scope)
{
	static const char *const list[] = {
		[PREFETCH_SCOPE_PROCESS] = "process",
		[PREFETCH_SCOPE_THREAD] = "thread",
	};

	return NTH(list, scope);
}

const char *pfnl_change_name(uint32_t change)
{
	static const char *const list[] = {
		[PREFETCH_CHANGE_SET] = "set",
		[PREFETCH_CHANGE_CLEARED] = "cleared",
		[PREFETCH_CHANGE_INHERITED] = "inherited",
		[PREFETCH_CHANGE_DROPPED] = "dropped",
		[PREFETCH_CHANGE_EXITED] = "exited",
	};

	return NTH(list, change);
}

const char *pfnl_cause_name(uint32_t cause)
{
	static const char *const list[] = {
		[PREFETCH_CAUSE_SWITCH] = "switch",
		[PREFETCH_CAUSE_SETTING] = "setting",
		[PREFETCH_CAUSE_EXIT] = "exit",
		[PREFETCH_CAUSE_DEFAULT] = "default",
		[PREFETCH_CAUSE_HOTPLUG] = "hotplug",
		[PREFETCH_CAUSE_RESUME] = "resume",
		[PREFETCH_CAUSE_REPAIR] = "repair",
		[PREFETCH_CAUSE_FOREIGN] = "foreign",
		[PREFETCH_CAUSE_REFUSED] = "refused",
		[PREFETCH_CAUSE_SHUTDOWN] = "shutdown",
	};

	return NTH(list, cause);
}

const char *pfnl_fault_name(uint32_t fault)
{
	static const char *const list[] = {
		[PREFETCH_FAULT_NONE] = "none",
		[PREFETCH_FAULT_ABSENT] = "absent",
		[PREFETCH_FAULT_WRITE] = "write",
		[PREFETCH_FAULT_READ_BACK] = "read-back",
		[PREFETCH_FAULT_IGNORED] = "ignored",
		[PREFETCH_FAULT_STUCK] = "stuck",
		[PREFETCH_FAULT_RESTORE] = "restore",
	};

	return NTH(list, fault);
}

const char *pfnl_group_name(unsigned int group)
{
	switch (group) {
	case PFNL_GROUP_CORE:
		return "core";
	case PFNL_GROUP_SETTING:
		return "setting";
	default:
		return "unknown";
	}
}
