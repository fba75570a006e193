// SPDX-License-Identifier: GPL-2.0-or-later
/* The library's names, for words that are part of a longer text. */
#include <stdio.h>
#include <string.h>

#include "names.h"
#include "prefetchnl.h"

#define LONGEST_NAME 64

bool name_to_mask(const char *text, size_t len, uint32_t *mask, bool *is_group)
{
	char name[LONGEST_NAME];

	if (!len || len >= sizeof(name))
		return false;
	memcpy(name, text, len);
	name[len] = '\0';
	return !pfnl_name_to_mask(name, mask, is_group);
}

const char *names_known(void)
{
	static char text[512];
	const struct pfnl_group_name *group;
	const struct pfnl_name *name;
	size_t used = 0;

	for (name = pfnl_names(NULL); name->name; name++) {
		snprintf(text + used, sizeof(text) - used, "%s%s",
			 used ? ", " : "", name->name);
		used = strlen(text);
	}
	for (group = pfnl_group_names(NULL); group->name; group++) {
		snprintf(text + used, sizeof(text) - used, ", %s", group->name);
		used = strlen(text);
	}
	return text;
}
