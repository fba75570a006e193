/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR BSD-3-Clause) */
/* Do not edit directly, auto-generated from: */
/*	genl-family/prefetch.yaml */
/* YNL-GEN kernel header */

#ifndef _LINUX_PREFETCH_GEN_H
#define _LINUX_PREFETCH_GEN_H

#include <net/netlink.h>
#include <net/genetlink.h>

#include <uapi/linux/prefetch.h>

int prefetch_nl_prefetcher_get_start(struct netlink_callback *cb);
int prefetch_nl_setting_get_start(struct netlink_callback *cb);
int prefetch_nl_core_get_start(struct netlink_callback *cb);
int prefetch_nl_setting_get_done(struct netlink_callback *cb);
int prefetch_nl_core_get_done(struct netlink_callback *cb);

int prefetch_nl_info_get_doit(struct sk_buff *skb, struct genl_info *info);
int prefetch_nl_prefetcher_get_dumpit(struct sk_buff *skb,
				      struct netlink_callback *cb);
int prefetch_nl_setting_get_doit(struct sk_buff *skb, struct genl_info *info);
int prefetch_nl_setting_get_dumpit(struct sk_buff *skb,
				   struct netlink_callback *cb);
int prefetch_nl_setting_set_doit(struct sk_buff *skb, struct genl_info *info);
int prefetch_nl_default_set_doit(struct sk_buff *skb, struct genl_info *info);
int prefetch_nl_core_get_doit(struct sk_buff *skb, struct genl_info *info);
int prefetch_nl_core_get_dumpit(struct sk_buff *skb,
				struct netlink_callback *cb);
int prefetch_nl_core_repair_doit(struct sk_buff *skb, struct genl_info *info);

enum {
	PREFETCH_NLGRP_SETTING,
	PREFETCH_NLGRP_CORE,
};

extern struct genl_family prefetch_nl_family;

#endif /* _LINUX_PREFETCH_GEN_H */
