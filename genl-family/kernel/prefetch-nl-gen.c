// SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause)
/* Do not edit directly, auto-generated from: */
/*	genl-family/prefetch.yaml */
/* YNL-GEN kernel source */

#include <net/netlink.h>
#include <net/genetlink.h>

#include "prefetch-nl-gen.h"

#include <uapi/linux/prefetch.h>

/* PREFETCH_CMD_SETTING_GET - do */
static const struct nla_policy prefetch_setting_get_do_nl_policy[PREFETCH_A_SETTING_TID + 1] = {
	[PREFETCH_A_SETTING_PID] = NLA_POLICY_MIN(NLA_U32, 1),
	[PREFETCH_A_SETTING_TID] = NLA_POLICY_MIN(NLA_U32, 1),
};

/* PREFETCH_CMD_SETTING_GET - dump */
static const struct nla_policy prefetch_setting_get_dump_nl_policy[PREFETCH_A_SETTING_TID + 1] = {
	[PREFETCH_A_SETTING_PID] = NLA_POLICY_MIN(NLA_U32, 1),
	[PREFETCH_A_SETTING_TID] = NLA_POLICY_MIN(NLA_U32, 1),
};

/* PREFETCH_CMD_SETTING_SET - do */
static const struct nla_policy prefetch_setting_set_nl_policy[PREFETCH_A_SETTING_START_TIME + 1] = {
	[PREFETCH_A_SETTING_PID] = NLA_POLICY_MIN(NLA_U32, 1),
	[PREFETCH_A_SETTING_TID] = NLA_POLICY_MIN(NLA_U32, 1),
	[PREFETCH_A_SETTING_OFF] = NLA_POLICY_MASK(NLA_U32, 0x3fff),
	[PREFETCH_A_SETTING_ON] = NLA_POLICY_MASK(NLA_U32, 0x3fff),
	[PREFETCH_A_SETTING_CLEAR] = NLA_POLICY_MASK(NLA_U32, 0x3fff),
	[PREFETCH_A_SETTING_INHERIT] = NLA_POLICY_MAX(NLA_U32, 1),
	[PREFETCH_A_SETTING_START_TIME] = { .type = NLA_U64, },
};

/* PREFETCH_CMD_DEFAULT_SET - do */
static const struct nla_policy prefetch_default_set_nl_policy[PREFETCH_A_DEFAULT_CLEAR + 1] = {
	[PREFETCH_A_DEFAULT_OFF] = NLA_POLICY_MASK(NLA_U32, 0x3fff),
	[PREFETCH_A_DEFAULT_ON] = NLA_POLICY_MASK(NLA_U32, 0x3fff),
	[PREFETCH_A_DEFAULT_CLEAR] = NLA_POLICY_MASK(NLA_U32, 0x3fff),
};

/* PREFETCH_CMD_CORE_GET - do */
static const struct nla_policy prefetch_core_get_do_nl_policy[PREFETCH_A_CORE_VERIFY + 1] = {
	[PREFETCH_A_CORE_DOMAIN] = { .type = NLA_U32, },
	[PREFETCH_A_CORE_VERIFY] = NLA_POLICY_MAX(NLA_U32, 1),
};

/* PREFETCH_CMD_CORE_GET - dump */
static const struct nla_policy prefetch_core_get_dump_nl_policy[PREFETCH_A_CORE_VERIFY + 1] = {
	[PREFETCH_A_CORE_VERIFY] = NLA_POLICY_MAX(NLA_U32, 1),
};

/* PREFETCH_CMD_CORE_REPAIR - do */
static const struct nla_policy prefetch_core_repair_nl_policy[PREFETCH_A_CORE_DOMAIN + 1] = {
	[PREFETCH_A_CORE_DOMAIN] = { .type = NLA_U32, },
};

/* Ops table for prefetch */
static const struct genl_split_ops prefetch_nl_ops[] = {
	{
		.cmd	= PREFETCH_CMD_INFO_GET,
		.doit	= prefetch_nl_info_get_doit,
		.flags	= GENL_CMD_CAP_DO,
	},
	{
		.cmd	= PREFETCH_CMD_PREFETCHER_GET,
		.start	= prefetch_nl_prefetcher_get_start,
		.dumpit	= prefetch_nl_prefetcher_get_dumpit,
		.flags	= GENL_CMD_CAP_DUMP,
	},
	{
		.cmd		= PREFETCH_CMD_SETTING_GET,
		.doit		= prefetch_nl_setting_get_doit,
		.policy		= prefetch_setting_get_do_nl_policy,
		.maxattr	= PREFETCH_A_SETTING_TID,
		.flags		= GENL_CMD_CAP_DO,
	},
	{
		.cmd		= PREFETCH_CMD_SETTING_GET,
		.start		= prefetch_nl_setting_get_start,
		.dumpit		= prefetch_nl_setting_get_dumpit,
		.done		= prefetch_nl_setting_get_done,
		.policy		= prefetch_setting_get_dump_nl_policy,
		.maxattr	= PREFETCH_A_SETTING_TID,
		.flags		= GENL_CMD_CAP_DUMP,
	},
	{
		.cmd		= PREFETCH_CMD_SETTING_SET,
		.doit		= prefetch_nl_setting_set_doit,
		.policy		= prefetch_setting_set_nl_policy,
		.maxattr	= PREFETCH_A_SETTING_START_TIME,
		.flags		= GENL_CMD_CAP_DO,
	},
	{
		.cmd		= PREFETCH_CMD_DEFAULT_SET,
		.doit		= prefetch_nl_default_set_doit,
		.policy		= prefetch_default_set_nl_policy,
		.maxattr	= PREFETCH_A_DEFAULT_CLEAR,
		.flags		= GENL_CMD_CAP_DO,
	},
	{
		.cmd		= PREFETCH_CMD_CORE_GET,
		.doit		= prefetch_nl_core_get_doit,
		.policy		= prefetch_core_get_do_nl_policy,
		.maxattr	= PREFETCH_A_CORE_VERIFY,
		.flags		= GENL_CMD_CAP_DO,
	},
	{
		.cmd		= PREFETCH_CMD_CORE_GET,
		.start		= prefetch_nl_core_get_start,
		.dumpit		= prefetch_nl_core_get_dumpit,
		.done		= prefetch_nl_core_get_done,
		.policy		= prefetch_core_get_dump_nl_policy,
		.maxattr	= PREFETCH_A_CORE_VERIFY,
		.flags		= GENL_CMD_CAP_DUMP,
	},
	{
		.cmd		= PREFETCH_CMD_CORE_REPAIR,
		.doit		= prefetch_nl_core_repair_doit,
		.policy		= prefetch_core_repair_nl_policy,
		.maxattr	= PREFETCH_A_CORE_DOMAIN,
		.flags		= GENL_CMD_CAP_DO,
	},
};

static const struct genl_multicast_group prefetch_nl_mcgrps[] = {
	[PREFETCH_NLGRP_SETTING] = { "setting", },
	[PREFETCH_NLGRP_CORE] = { "core", },
};

struct genl_family prefetch_nl_family __ro_after_init = {
	.name		= PREFETCH_FAMILY_NAME,
	.version	= PREFETCH_FAMILY_VERSION,
	.netnsok	= true,
	.parallel_ops	= true,
	.module		= THIS_MODULE,
	.split_ops	= prefetch_nl_ops,
	.n_split_ops	= ARRAY_SIZE(prefetch_nl_ops),
	.mcgrps		= prefetch_nl_mcgrps,
	.n_mcgrps	= ARRAY_SIZE(prefetch_nl_mcgrps),
};
