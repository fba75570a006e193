// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Attributes, read strictly: an attribute has the size of its type, strings end
 * with a NUL byte, and nothing stands after the last attribute.
 */
#include <errno.h>
#include <string.h>

#include "internal.h"

static inline bool fits(const struct nlattr *attr, int size, uint8_t kind)
{
	static const uint8_t sizes[] = {
		[PFNL_U16] = sizeof(uint16_t),
		[PFNL_U32] = sizeof(uint32_t),
		[PFNL_U64] = sizeof(uint64_t),
	};
	const char *data = pfnl_attr_data(attr);

	if (kind < sizeof(sizes))
		return size == sizes[kind];
	return kind != PFNL_STRING || (size > 0 && !data[size - 1]);
}

static int bad_attr(struct pfnl *h, const struct pfnl_set *set,
		    const char *what, const char *name)
{
	return pfnl_fail(h, -EBADMSG, "kernel's message, %s: %s \"%s\"",
			 set->name, what, name);
}

int pfnl_parse(struct pfnl *h, const struct pfnl_set *set,
	       const struct nlattr *first, int size,
	       const struct nlattr **found)
{
	const struct pfnl_spec *specs = set->specs;
	const char *at = (const char *)first;
	const char *end = at + size;
	const struct pfnl_spec *spec;
	const struct nlattr *attr;
	int max = set->max;
	int length, type;

	memset(found, 0, ((size_t)max + 1) * sizeof(*found));
	/* As with pfnl_attr_ok() and pfnl_attr_next(), in fewer instructions.
	 */
	for (; end - at >= NLA_HDRLEN; at += NLA_ALIGN(length)) {
		attr = (const struct nlattr *)at;
		length = attr->nla_len;
		if (length < NLA_HDRLEN || length > end - at)
			break;
		type = pfnl_attr_type(attr);
		/* A newer module may say more than we know. */
		if (type > max || specs[type].kind == PFNL_IGNORE)
			continue;
		spec = &specs[type];
		if (!fits(attr, length - NLA_HDRLEN, spec->kind))
			return bad_attr(h, set, "bad size of", spec->name);
		if (!found[type])
			found[type] = attr;
		else if (!spec->multi)
			return bad_attr(h, set, "two of", spec->name);
	}
	/* The last one may lack its padding. */
	if (at < end)
		return pfnl_fail(h, -EBADMSG,
				 "kernel's message, %s: broken attribute",
				 set->name);
	for (type = 0; type <= set->last_required; type++)
		if (specs[type].required && !found[type])
			return bad_attr(h, set, "no", specs[type].name);
	return 0;
}

int pfnl_parse_nest(struct pfnl *h, const struct pfnl_set *set,
		    const struct nlattr *nest, const struct nlattr **found)
{
	return pfnl_parse(h, set, pfnl_attr_data(nest), pfnl_attr_size(nest),
			  found);
}

int pfnl_parse_msg(struct pfnl *h, const struct pfnl_set *set,
		   const struct nlmsghdr *msg, const struct nlattr **found)
{
	const struct nlattr *first;
	int size;

	if (msg->nlmsg_len < NLMSG_LENGTH(GENL_HDRLEN))
		return pfnl_fail(h, -EBADMSG, "kernel's message, %s: cut short",
				 set->name);
	first = pfnl_msg_attrs(msg, &size);
	return pfnl_parse(h, set, first, size, found);
}

const struct nlattr *pfnl_next(struct pfnl_walk *walk, int type)
{
	const struct nlattr *attr;

	while (pfnl_attr_ok(walk->attr, walk->size)) {
		attr = walk->attr;
		walk->attr = pfnl_attr_next(attr, &walk->size);
		if (pfnl_attr_type(attr) == type)
			return attr;
	}
	return NULL;
}

size_t pfnl_count(struct pfnl_walk walk, int type)
{
	size_t count = 0;

	while (pfnl_next(&walk, type))
		count++;
	return count;
}

void pfnl_string(const struct nlattr *attr, char *to, size_t size)
{
	size_t length;

	length = attr ? strnlen(pfnl_attr_data(attr),
				(size_t)pfnl_attr_size(attr))
		      : 0;
	if (length >= size)
		length = size - 1;
	if (length)
		memcpy(to, pfnl_attr_data(attr), length);
	to[length] = '\0';
}

const char *pfnl_request_attr(uint8_t cmd, int type)
{
	static const char *const setting[] = {
		[PREFETCH_A_SETTING_PID] = "pid",
		[PREFETCH_A_SETTING_TID] = "tid",
		[PREFETCH_A_SETTING_OFF] = "off",
		[PREFETCH_A_SETTING_ON] = "on",
		[PREFETCH_A_SETTING_CLEAR] = "clear",
		[PREFETCH_A_SETTING_INHERIT] = "inherit",
		[PREFETCH_A_SETTING_START_TIME] = "start-time",
	};
	static const char *const by_default[] = {
		[PREFETCH_A_DEFAULT_OFF] = "off",
		[PREFETCH_A_DEFAULT_ON] = "on",
		[PREFETCH_A_DEFAULT_CLEAR] = "clear",
	};
	static const char *const core[] = {
		[PREFETCH_A_CORE_DOMAIN] = "domain",
		[PREFETCH_A_CORE_VERIFY] = "verify",
	};
	const char *const *list;
	size_t count;

	switch (cmd) {
	case PREFETCH_CMD_SETTING_GET:
	case PREFETCH_CMD_SETTING_SET:
		list = setting;
		count = sizeof(setting) / sizeof(setting[0]);
		break;
	case PREFETCH_CMD_DEFAULT_SET:
		list = by_default;
		count = sizeof(by_default) / sizeof(by_default[0]);
		break;
	case PREFETCH_CMD_CORE_GET:
	case PREFETCH_CMD_CORE_REPAIR:
		list = core;
		count = sizeof(core) / sizeof(core[0]);
		break;
	default:
		return NULL;
	}
	return type >= 0 && (size_t)type < count ? list[type] : NULL;
}

const char *pfnl_command_name(uint16_t family, uint8_t cmd)
{
	static const char *const list[] = {
		[PREFETCH_CMD_INFO_GET] = "info-get",
		[PREFETCH_CMD_PREFETCHER_GET] = "prefetcher-get",
		[PREFETCH_CMD_SETTING_GET] = "setting-get",
		[PREFETCH_CMD_SETTING_SET] = "setting-set",
		[PREFETCH_CMD_DEFAULT_SET] = "default-set",
		[PREFETCH_CMD_CORE_GET] = "core-get",
		[PREFETCH_CMD_CORE_REPAIR] = "core-repair",
	};

	if (family == GENL_ID_CTRL)
		return "nlctrl";
	return cmd && cmd < sizeof(list) / sizeof(list[0]) ? list[cmd]
							   : "request";
}
