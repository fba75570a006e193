// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Families: what number the kernel gave to "prefetch" and to its groups. The
 * number changes when the module is loaded again.
 */
#include <errno.h>
#include <string.h>

#include "internal.h"

static const struct pfnl_spec family_specs[] = {
	[CTRL_ATTR_FAMILY_ID] = { "family id", PFNL_U16, true, false },
	[CTRL_ATTR_FAMILY_NAME] = { "family name", PFNL_STRING, true, false },
	[CTRL_ATTR_MCAST_GROUPS] = { "groups", PFNL_NEST, false, false },
};

static const struct pfnl_set family_set = { "family", family_specs,
					    CTRL_ATTR_MCAST_GROUPS,
					    CTRL_ATTR_FAMILY_NAME };

static const struct pfnl_spec group_specs[] = {
	[CTRL_ATTR_MCAST_GRP_NAME] = { "group name", PFNL_STRING, true, false },
	[CTRL_ATTR_MCAST_GRP_ID] = { "group id", PFNL_U32, true, false },
};

static const struct pfnl_set group_set = { "group", group_specs,
					   CTRL_ATTR_MCAST_GRP_ID,
					   CTRL_ATTR_MCAST_GRP_ID };

static void take_group(struct pfnl_family *family, const char *name,
		       uint32_t id)
{
	if (!strcmp(name, PREFETCH_MCGRP_CORE))
		family->core_group = id;
	else if (!strcmp(name, PREFETCH_MCGRP_SETTING))
		family->setting_group = id;
	else if (!strcmp(name, "notify"))
		family->notify_group = id;
}

static int parse_groups(struct pfnl *h, const struct nlattr *nest,
			struct pfnl_family *family)
{
	const struct nlattr *found[CTRL_ATTR_MCAST_GRP_ID + 1];
	const struct nlattr *attr = pfnl_attr_data(nest);
	int size = pfnl_attr_size(nest);
	char name[GENL_NAMSIZ];
	int r;

	/* The list is an array: its attributes' types are only their places. */
	for (; pfnl_attr_ok(attr, size); attr = pfnl_attr_next(attr, &size)) {
		r = pfnl_parse_nest(h, &group_set, attr, found);
		if (r)
			return r;
		pfnl_string(found[CTRL_ATTR_MCAST_GRP_NAME], name,
			    sizeof(name));
		take_group(family, name,
			   pfnl_u32(found[CTRL_ATTR_MCAST_GRP_ID]));
	}
	if (size)
		return pfnl_fail(h, -EBADMSG,
				 "kernel's message, groups: broken attribute");
	return 0;
}

int pfnl_family_parse(struct pfnl *h, const struct nlmsghdr *msg,
		      struct pfnl_family *family)
{
	const struct nlattr *found[CTRL_ATTR_MCAST_GROUPS + 1];
	int r;

	memset(family, 0, sizeof(*family));
	r = pfnl_parse_msg(h, &family_set, msg, found);
	if (r)
		return r;
	family->id = pfnl_u16(found[CTRL_ATTR_FAMILY_ID]);
	pfnl_string(found[CTRL_ATTR_FAMILY_NAME], family->name,
		    sizeof(family->name));
	if (family->id < GENL_MIN_ID)
		return pfnl_fail(h, -EBADMSG,
				 "kernel's message, family: bad id %u",
				 (unsigned int)family->id);
	if (found[CTRL_ATTR_MCAST_GROUPS])
		return parse_groups(h, found[CTRL_ATTR_MCAST_GROUPS], family);
	return 0;
}

int pfnl_family_get(struct pfnl *h, const char *name,
		    struct pfnl_family *family)
{
	const struct nlmsghdr *reply;
	struct nl_msg *msg = nlmsg_alloc();
	int r = -ENOMEM;

	if (msg && genlmsg_put(msg, 0, 0, 0, 0, 0, CTRL_CMD_GETFAMILY, 1) &&
	    !nla_put_string(msg, CTRL_ATTR_FAMILY_NAME, name))
		r = pfnl_do_ctrl(h, msg, &reply);
	else
		pfnl_fail(h, r, "out of memory");
	if (!r)
		r = pfnl_family_parse(h, reply, family);
	if (!r && strcmp(family->name, name))
		r = pfnl_fail(h, -EBADMSG,
			      "asked for family %s, the kernel gave %s", name,
			      family->name);
	nlmsg_free(msg);
	return r;
}

int pfnl_family_find(struct pfnl *h, struct pfnl_family *family)
{
	int r;

	h->family = 0;
	r = pfnl_family_get(h, PREFETCH_FAMILY_NAME, family);
	if (r == -ENOENT) {
		pfnl_fail(h, r, "the kernel module prefetch is not loaded");
		h->module_missing = true;
	}
	if (!r)
		h->family = family->id;
	return r;
}
