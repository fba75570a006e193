// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the operations share: locking, checks of masks, permission, replies.
 */
#include <linux/cred.h>
#include <linux/file.h>
#include <linux/net.h>
#include <linux/sched/signal.h>
#include <net/sock.h>

#include "domain.h"
#include "netlink.h"
#include "registers.h"

/* See netlink.h for what it protects. */
DEFINE_MUTEX(pf_request_mutex);

bool pf_unprivileged = true;

/* The module goes; under the request mutex. */
static bool closing;

/**
 * pf_request_lock() - one request at a time from here
 * @extack: for the reason
 *
 * Return: 0, or -ENODEV if the module is being unloaded.
 */
int pf_request_lock(struct netlink_ext_ack *extack)
{
	mutex_lock(&pf_request_mutex);
	if (!closing)
		return 0;
	mutex_unlock(&pf_request_mutex);
	NL_SET_ERR_MSG(extack, "the module is being unloaded");
	return -ENODEV;
}

/**
 * pf_request_unlock() - let the next request in
 */
void pf_request_unlock(void)
{
	mutex_unlock(&pf_request_mutex);
}

/**
 * pf_request_close() - refuse requests from now on
 */
void pf_request_close(void)
{
	mutex_lock(&pf_request_mutex);
	closing = true;
	mutex_unlock(&pf_request_mutex);
}

/**
 * pf_attr_u32() - the value of an attribute
 * @attrs: attributes by type
 * @type: which
 *
 * Return: its value, 0 if it is not there.
 */
u32 pf_attr_u32(struct nlattr **attrs, int type)
{
	return attrs && attrs[type] ? nla_get_u32(attrs[type]) : 0;
}

/**
 * pf_check_attrs() - refuse what a policy cannot refuse
 * @nlh: the request, whose attributes are known and have the right length
 * @extack: for the reason
 *
 * The parser takes the last of two attributes of a type and ignores the flag
 * for the byte order. Either would make something out of a request that its
 * sender may not have meant.
 *
 * Return: 0 or -EINVAL.
 */
int pf_check_attrs(const struct nlmsghdr *nlh, struct netlink_ext_ack *extack)
{
	const struct nlattr *attr;
	u64 seen = 0;
	int rem;

	nlmsg_for_each_attr(attr, nlh, GENL_HDRLEN, rem) {
		if (attr->nla_type & NLA_F_NET_BYTEORDER) {
			NL_SET_ERR_MSG_ATTR(extack, attr,
					    "numbers are in the byte order of the host");
			return -EINVAL;
		}
		if (seen & BIT_ULL(nla_type(attr))) {
			NL_SET_ERR_MSG_ATTR(extack, attr,
					    "an attribute is given twice");
			return -EINVAL;
		}
		seen |= BIT_ULL(nla_type(attr));
	}
	return 0;
}

/**
 * pf_check_no_attrs() - refuse attributes of a request that has none
 * @nlh: the request
 * @extack: for the reason
 *
 * Some kernels do not look at the attributes where there is no policy.
 *
 * Return: 0 or -EINVAL.
 */
int pf_check_no_attrs(const struct nlmsghdr *nlh,
		      struct netlink_ext_ack *extack)
{
	const struct nlattr *attr = nlmsg_attrdata(nlh, GENL_HDRLEN);
	int len = nlmsg_attrlen(nlh, GENL_HDRLEN);

	if (len <= 0)
		return 0;
	if (nla_ok(attr, len))
		NL_SET_ERR_MSG_ATTR(extack, attr, "Unknown attribute type");
	else
		NL_SET_ERR_MSG(extack, "Malformed attributes");
	return -EINVAL;
}

/**
 * pf_partial() - prefetchers of a mask that only some cores have
 * @mask: the mask
 *
 * Return: the part of @mask that at least one core lacks.
 */
u32 pf_partial(u32 mask)
{
	return mask & READ_ONCE(pf_supported_any) & ~READ_ONCE(pf_supported_all);
}

static u32 mask_of(const struct nlattr *attr)
{
	return attr ? nla_get_u32(attr) : 0;
}

static int check_supported(struct netlink_ext_ack *extack,
			   const struct nlattr *attr)
{
	u32 lacking = mask_of(attr) & ~READ_ONCE(pf_supported_any);

	if (!lacking)
		return 0;
	NL_SET_BAD_ATTR(extack, attr);
	if (extack)
		extack->_msg = pf_prefetchers[__ffs(lacking)].missing;
	return -EOPNOTSUPP;
}

/**
 * pf_check_masks() - are the masks of a request disjoint and to be had here?
 * @extack: for the reason
 * @off: attribute or NULL
 * @on: attribute or NULL
 * @clear: attribute or NULL; may name what this machine lacks
 *
 * Return: 0, -EINVAL or -EOPNOTSUPP.
 */
int pf_check_masks(struct netlink_ext_ack *extack, const struct nlattr *off,
		   const struct nlattr *on, const struct nlattr *clear)
{
	int err;

	if (mask_of(on) & mask_of(off)) {
		NL_SET_ERR_MSG_ATTR(extack, on,
				    "a prefetcher is named both off and on");
		return -EINVAL;
	}
	if (mask_of(clear) & (mask_of(off) | mask_of(on))) {
		NL_SET_ERR_MSG_ATTR(extack, clear,
				    "a prefetcher is named both clear and off or on");
		return -EINVAL;
	}
	err = check_supported(extack, off);
	if (err)
		return err;
	return check_supported(extack, on);
}

/* Both the sender and the opener of the socket, whoever it is sent to. */
static bool both_capable(const struct sk_buff *skb, struct user_namespace *ns,
			 int cap)
{
	const struct file *file = NETLINK_CB(skb).sk->sk_socket->file;

	return ns_capable(ns, cap) && file_ns_capable(file, ns, cap);
}

static bool is_owner(const struct cred *cred, const struct cred *target)
{
	return uid_eq(cred->euid, target->euid) ||
	       uid_eq(cred->euid, target->uid);
}

/**
 * pf_check_target() - may the sender of a request set this task?
 * @skb: the request
 * @task: the task
 * @extack: for the reason
 *
 * As with sched_setaffinity(): the same owner, or CAP_SYS_NICE where the
 * target lives. Both the sender and the opener of the socket have to pass,
 * or else a privileged program could be made to send for somebody else by
 * giving it a socket as its output.
 *
 * Return: 0 or -EPERM.
 */
int pf_check_target(const struct sk_buff *skb, struct task_struct *task,
		    struct netlink_ext_ack *extack)
{
	const struct file *file = NETLINK_CB(skb).sk->sk_socket->file;
	const struct cred *target = get_task_cred(task);
	struct user_namespace *ns = target->user_ns;
	bool ok;

	if (!READ_ONCE(pf_unprivileged) &&
	    !both_capable(skb, &init_user_ns, CAP_SYS_NICE)) {
		put_cred(target);
		NL_SET_ERR_MSG(extack,
			       "unprivileged=0 is set: only the privileged may set tasks here");
		return -EPERM;
	}
	ok = (is_owner(current_cred(), target) ||
	      ns_capable(ns, CAP_SYS_NICE)) &&
	     (is_owner(file->f_cred, target) ||
	      file_ns_capable(file, ns, CAP_SYS_NICE));
	put_cred(target);
	if (ok)
		return 0;
	NL_SET_ERR_MSG(extack,
		       "the task belongs to somebody else, and CAP_SYS_NICE is lacking");
	return -EPERM;
}

/**
 * pf_is_admin() - may the sender see and change what concerns all?
 * @skb: the request
 *
 * Return: true with CAP_SYS_ADMIN in the initial user namespace.
 */
bool pf_is_admin(const struct sk_buff *skb)
{
	return both_capable(skb, &init_user_ns, CAP_SYS_ADMIN);
}

/*
 * The same where nothing is refused without it, so that audit does not tell of
 * everybody who just looks. The opener is asked last and seldom.
 */
static bool both_happen_to_be_capable(const struct sk_buff *skb, int cap)
{
	const struct file *file = NETLINK_CB(skb).sk->sk_socket->file;

	return ns_capable_noaudit(&init_user_ns, cap) &&
	       file_ns_capable(file, &init_user_ns, cap);
}

/**
 * pf_sees_tasks() - may the sender see which task runs on which core?
 * @skb: the request
 *
 * Return: true with CAP_SYS_ADMIN in the initial user namespace.
 */
bool pf_sees_tasks(const struct sk_buff *skb)
{
	return both_happen_to_be_capable(skb, CAP_SYS_ADMIN);
}

/**
 * pf_is_exempt() - is the sender above the limit of a user?
 * @skb: the request
 *
 * Return: true with what lets RLIMIT_NPROC be exceeded.
 */
bool pf_is_exempt(const struct sk_buff *skb)
{
	return both_happen_to_be_capable(skb, CAP_SYS_RESOURCE) ||
	       both_happen_to_be_capable(skb, CAP_SYS_ADMIN);
}

/**
 * pf_no_memory() - refuse a request for lack of memory
 * @extack: for the reason
 *
 * Return: -ENOMEM.
 */
int pf_no_memory(struct netlink_ext_ack *extack)
{
	NL_SET_ERR_MSG(extack, "out of memory");
	return -ENOMEM;
}

/**
 * pf_reply_new() - begin the reply to a request
 * @info: the request
 * @size: of the attributes
 * @hdr: for pf_reply_send()
 *
 * Return: the message, or NULL after the reason was said.
 */
struct sk_buff *pf_reply_new(struct genl_info *info, size_t size, void **hdr)
{
	struct sk_buff *skb = genlmsg_new(size, GFP_KERNEL);

	*hdr = skb ? genlmsg_put_reply(skb, info, &pf_family, 0,
				       info->genlhdr->cmd) : NULL;
	if (*hdr)
		return skb;
	nlmsg_free(skb);
	pf_no_memory(info->extack);
	return NULL;
}

/**
 * pf_reply_send() - send the reply to a request
 * @skb: from pf_reply_new(), filled
 * @hdr: from pf_reply_new()
 * @info: the request
 *
 * Return: 0 or a negative errno.
 */
int pf_reply_send(struct sk_buff *skb, void *hdr, struct genl_info *info)
{
	genlmsg_end(skb, hdr);
	return genlmsg_reply(skb, info);
}

/**
 * pf_dump_put() - begin the next object of a dump
 * @skb: the message so far
 * @cb: the dump
 * @cmd: enum of the operation
 *
 * Return: the header, NULL if there is no room.
 */
void *pf_dump_put(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd)
{
	void *hdr = genlmsg_put(skb, NETLINK_CB(cb->skb).portid,
				cb->nlh->nlmsg_seq, &pf_family, NLM_F_MULTI,
				cmd);

	if (hdr)
		genl_dump_check_consistent(cb, hdr);
	return hdr;
}
