// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes the family that is registered out of the generated one.
 *
 * The generator leaves out who may join a group, and it knows only split
 * operations (a policy for do and another for dump), which 6.1 lacks. There
 * the tables are turned into the older form at load. One command has one
 * policy there: the wider one, that of do.
 */
#include <linux/module.h>
#include <net/genetlink.h>
#include <uapi/linux/prefetch.h>

#include "compat/family.h"

#ifdef PF_HAVE_SPLIT_OPS
#include "../../genl-family/kernel/prefetch-nl-gen.c"
#else

/* The generated family names the members of the newer structs. */
struct genl_split_ops {
	const struct nla_policy *policy;
	unsigned int maxattr;
	int (*doit)(struct sk_buff *skb, struct genl_info *info);
	int (*start)(struct netlink_callback *cb);
	int (*dumpit)(struct sk_buff *skb, struct netlink_callback *cb);
	int (*done)(struct netlink_callback *cb);
	u8 cmd;
	u8 flags;
};

struct pf_split_family {
	const char *name;
	unsigned int version;
	bool netnsok;
	bool parallel_ops;
	struct module *module;
	const struct genl_split_ops *split_ops;
	unsigned int n_split_ops;
	const struct genl_multicast_group *mcgrps;
	unsigned int n_mcgrps;
};

#define genl_family pf_split_family
#include "../../genl-family/kernel/prefetch-nl-gen.c"
#undef genl_family

static struct genl_ops pf_ops[PREFETCH_CMD_MAX + 1];

static unsigned int join_ops(void)
{
	unsigned int i, n = 0;

	for (i = 0; i < ARRAY_SIZE(prefetch_nl_ops); i++) {
		const struct genl_split_ops *split = &prefetch_nl_ops[i];
		struct genl_ops *op;

		if (!n || pf_ops[n - 1].cmd != split->cmd)
			n++;
		op = &pf_ops[n - 1];
		op->cmd = split->cmd;
		op->flags |= split->flags;
		if (split->doit)
			op->doit = split->doit;
		if (split->dumpit) {
			op->start = split->start;
			op->dumpit = split->dumpit;
			op->done = split->done;
		}
		if (split->maxattr > op->maxattr) {
			op->policy = split->policy;
			op->maxattr = split->maxattr;
		}
	}
	return n;
}
#endif /* PF_HAVE_SPLIT_OPS */

#ifdef PF_HAVE_MCAST_CAP
#define PF_GROUP_FLAGS GENL_MCAST_CAP_SYS_ADMIN
#else
#define PF_GROUP_FLAGS GENL_UNS_ADMIN_PERM
#endif

static struct genl_multicast_group pf_groups[ARRAY_SIZE(prefetch_nl_mcgrps)];

struct genl_family pf_family;

#ifdef PF_HAVE_GENL_BIND
bool pf_family_joined[ARRAY_SIZE(pf_groups)];

/*
 * Never taken back: a socket may leave a group that it is not in, so that
 * those who leave cannot be counted.
 */
static int note_join(int group)
{
	WRITE_ONCE(pf_family_joined[group], true);
	return 0;
}
#endif

/**
 * pf_family_register() - register the family, from then on requests come
 *
 * Return: 0 or a negative errno.
 */
int pf_family_register(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(pf_groups); i++) {
		pf_groups[i] = prefetch_nl_mcgrps[i];
		pf_groups[i].flags |= PF_GROUP_FLAGS;
	}

#ifdef PF_HAVE_SPLIT_OPS
	pf_family = prefetch_nl_family;
#else
	strscpy(pf_family.name, prefetch_nl_family.name,
		sizeof(pf_family.name));
	pf_family.version = prefetch_nl_family.version;
	pf_family.netnsok = prefetch_nl_family.netnsok;
	pf_family.parallel_ops = prefetch_nl_family.parallel_ops;
	pf_family.module = prefetch_nl_family.module;
	pf_family.n_ops = join_ops();
	pf_family.ops = pf_ops;
#endif
	pf_family.mcgrps = pf_groups;
	pf_family.n_mcgrps = ARRAY_SIZE(pf_groups);
#ifdef PF_HAVE_GENL_BIND
	pf_family.bind = note_join;
#endif
	return genl_register_family(&pf_family);
}

/**
 * pf_family_unregister() - refuse requests; waits for those that run
 */
void pf_family_unregister(void)
{
	genl_unregister_family(&pf_family);
}
