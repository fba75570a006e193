// SPDX-License-Identifier: LGPL-2.1-or-later
/* The requests of the public header. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

static int put_u32(struct pfnl *h, struct nl_msg *msg, int type, uint32_t value)
{
	if (!nla_put_u32(msg, type, value))
		return 0;
	return pfnl_fail(h, -ENOMEM, "out of memory");
}

/* A mask that is empty says nothing and is left out. */
static int put_mask(struct pfnl *h, struct nl_msg *msg, int type, uint32_t mask)
{
	return mask ? put_u32(h, msg, type, mask) : 0;
}

/* Frees the message if it could not be filled. */
static int checked(struct nl_msg *msg, int error)
{
	if (error)
		nlmsg_free(msg);
	return error;
}

int pfnl_info(struct pfnl *h, struct pfnl_info *info)
{
	const struct nlmsghdr *reply;
	struct nl_msg *msg;
	int r;

	pfnl_clear_error(h);
	msg = pfnl_request(h, PREFETCH_CMD_INFO_GET);
	if (!msg)
		return -ENOMEM;
	r = pfnl_do(h, msg, &reply);
	return r ? r : pfnl_read_info(h, reply, info);
}

int pfnl_prefetcher_list(struct pfnl *h, pfnl_prefetcher_cb cb, void *arg)
{
	struct pfnl_buffer list = { 0 };
	struct pfnl_location *locations;
	const struct nlmsghdr *reply;
	struct pfnl_prefetcher p;
	struct nl_msg *msg;
	size_t pos = 0;
	int r;

	pfnl_clear_error(h);
	msg = pfnl_request(h, PREFETCH_CMD_PREFETCHER_GET);
	if (!msg)
		return -ENOMEM;
	r = pfnl_dump(h, msg, &list, NULL);
	while (!r && (reply = pfnl_buffer_next(&list, &pos))) {
		r = pfnl_read_prefetcher(h, reply, &p, &locations);
		if (!r)
			r = cb(&p, arg);
		free(locations);
	}
	pfnl_buffer_free(&list);
	return r;
}

/* pid_t is signed: what is below 0 would be a large number on the wire. */
static int check_target(struct pfnl *h, int64_t pid, int64_t tid, bool needed)
{
	if (pid < 0 || pid > INT32_MAX)
		return pfnl_fail_attr(h, -EINVAL, "pid", "pid out of range");
	if (tid < 0 || tid > INT32_MAX)
		return pfnl_fail_attr(h, -EINVAL, "tid", "tid out of range");
	if (pid && tid)
		return pfnl_fail_attr(h, -EINVAL, "tid",
				      "both pid and tid are given");
	if (needed && !pid && !tid)
		return pfnl_fail_attr(h, -EINVAL, "pid",
				      "neither pid nor tid is given");
	return 0;
}

static int put_target(struct pfnl *h, struct nl_msg *msg, uint32_t pid,
		      uint32_t tid)
{
	if (pid)
		return put_u32(h, msg, PREFETCH_A_SETTING_PID, pid);
	if (tid)
		return put_u32(h, msg, PREFETCH_A_SETTING_TID, tid);
	return 0;
}

int pfnl_setting_get(struct pfnl *h, pid_t pid, pid_t tid,
		     struct pfnl_setting *setting)
{
	const struct nlmsghdr *reply;
	struct nl_msg *msg;
	int r;

	pfnl_clear_error(h);
	r = check_target(h, pid, tid, true);
	if (r)
		return r;
	msg = pfnl_request(h, PREFETCH_CMD_SETTING_GET);
	if (!msg)
		return -ENOMEM;
	r = checked(msg, put_target(h, msg, (uint32_t)pid, (uint32_t)tid));
	if (!r)
		r = pfnl_do(h, msg, &reply);
	return r ? r : pfnl_read_setting(h, reply, setting);
}

static int put_setting(struct pfnl *h, struct nl_msg *msg,
		       const struct pfnl_setting_request *q)
{
	int r;

	r = put_target(h, msg, q->pid, q->tid);
	if (!r)
		r = put_mask(h, msg, PREFETCH_A_SETTING_OFF, q->off);
	if (!r)
		r = put_mask(h, msg, PREFETCH_A_SETTING_ON, q->on);
	if (!r)
		r = put_mask(h, msg, PREFETCH_A_SETTING_CLEAR, q->clear);
	if (!r && q->inherit >= 0)
		r = put_u32(h, msg, PREFETCH_A_SETTING_INHERIT,
			    (uint32_t)q->inherit);
	if (!r && q->start_time &&
	    nla_put_u64(msg, PREFETCH_A_SETTING_START_TIME, q->start_time))
		r = pfnl_fail(h, -ENOMEM, "out of memory");
	return r;
}

static int check_request(struct pfnl *h, const struct pfnl_setting_request *q)
{
	size_t i;
	int r;

	r = check_target(h, q->pid, q->tid, true);
	if (r)
		return r;
	if (q->inherit < -1 || q->inherit > 1)
		return pfnl_fail_attr(h, -EINVAL, "inherit",
				      "inherit is neither -1, 0 nor 1");
	for (i = 0; i < sizeof(q->reserved) / sizeof(q->reserved[0]); i++)
		if (q->reserved[i])
			return pfnl_fail(h, -EINVAL,
					 "the request asks for something this "
					 "library does not know");
	return 0;
}

int pfnl_setting_set(struct pfnl *h, const struct pfnl_setting_request *request,
		     struct pfnl_setting *result)
{
	const struct nlmsghdr *reply;
	struct pfnl_setting ignored;
	struct nl_msg *msg;
	int r;

	pfnl_clear_error(h);
	r = check_request(h, request);
	if (r)
		return r;
	msg = pfnl_request(h, PREFETCH_CMD_SETTING_SET);
	if (!msg)
		return -ENOMEM;
	r = checked(msg, put_setting(h, msg, request));
	if (!r)
		r = pfnl_do(h, msg, &reply);
	if (r)
		return r;
	return pfnl_read_setting(h, reply, result ? result : &ignored);
}

int pfnl_dump_settings(struct pfnl *h, uint32_t pid, uint32_t tid,
		       struct pfnl_buffer *out, unsigned int *flags)
{
	struct nl_msg *msg;
	int r;

	msg = pfnl_request(h, PREFETCH_CMD_SETTING_GET);
	if (!msg)
		return -ENOMEM;
	r = checked(msg, put_target(h, msg, pid, tid));
	return r ? r : pfnl_dump(h, msg, out, flags);
}

int pfnl_setting_list(struct pfnl *h, pid_t pid, pid_t tid, unsigned int *flags,
		      pfnl_setting_cb cb, void *arg)
{
	struct pfnl_buffer list = { 0 };
	const struct nlmsghdr *reply;
	struct pfnl_setting s;
	size_t pos = 0;
	int r;

	pfnl_clear_error(h);
	r = check_target(h, pid, tid, false);
	if (r)
		return r;
	r = pfnl_dump_settings(h, (uint32_t)pid, (uint32_t)tid, &list, flags);
	while (!r && (reply = pfnl_buffer_next(&list, &pos))) {
		r = pfnl_read_setting(h, reply, &s);
		if (!r)
			r = cb(&s, arg);
	}
	pfnl_buffer_free(&list);
	return r;
}

int pfnl_default_set(struct pfnl *h, uint32_t off, uint32_t on, uint32_t clear,
		     struct pfnl_default *result)
{
	const struct nlmsghdr *reply;
	struct pfnl_default ignored;
	struct nl_msg *msg;
	int r;

	pfnl_clear_error(h);
	msg = pfnl_request(h, PREFETCH_CMD_DEFAULT_SET);
	if (!msg)
		return -ENOMEM;
	r = put_mask(h, msg, PREFETCH_A_DEFAULT_OFF, off);
	if (!r)
		r = put_mask(h, msg, PREFETCH_A_DEFAULT_ON, on);
	if (!r)
		r = put_mask(h, msg, PREFETCH_A_DEFAULT_CLEAR, clear);
	r = checked(msg, r);
	if (!r)
		r = pfnl_do(h, msg, &reply);
	if (r)
		return r;
	return pfnl_read_default(h, reply, result ? result : &ignored);
}

static int put_verify(struct pfnl *h, struct nl_msg *msg, bool verify)
{
	return verify ? put_u32(h, msg, PREFETCH_A_CORE_VERIFY, 1) : 0;
}

int pfnl_core_get(struct pfnl *h, uint32_t domain, bool verify,
		  struct pfnl_core *core)
{
	const struct nlmsghdr *reply;
	struct pfnl_core found;
	struct nl_msg *msg;
	int r;

	pfnl_clear_error(h);
	msg = pfnl_request(h, PREFETCH_CMD_CORE_GET);
	if (!msg)
		return -ENOMEM;
	r = put_u32(h, msg, PREFETCH_A_CORE_DOMAIN, domain);
	if (!r)
		r = put_verify(h, msg, verify);
	r = checked(msg, r);
	if (!r)
		r = pfnl_do(h, msg, &reply);
	if (!r)
		r = pfnl_read_core(h, reply, &found);
	if (!r)
		*core = found;
	return r;
}

int pfnl_dump_cores(struct pfnl *h, bool verify, struct pfnl_buffer *out,
		    unsigned int *flags)
{
	struct nl_msg *msg;
	int r;

	msg = pfnl_request(h, PREFETCH_CMD_CORE_GET);
	if (!msg)
		return -ENOMEM;
	r = checked(msg, put_verify(h, msg, verify));
	return r ? r : pfnl_dump(h, msg, out, flags);
}

int pfnl_core_list(struct pfnl *h, bool verify, unsigned int *flags,
		   pfnl_core_cb cb, void *arg)
{
	struct pfnl_buffer list = { 0 };
	const struct nlmsghdr *reply;
	struct pfnl_core core;
	size_t pos = 0;
	int r;

	pfnl_clear_error(h);
	r = pfnl_dump_cores(h, verify, &list, flags);
	while (!r && (reply = pfnl_buffer_next(&list, &pos))) {
		r = pfnl_read_core(h, reply, &core);
		if (!r)
			r = cb(&core, arg);
		pfnl_core_clear(&core);
	}
	pfnl_buffer_free(&list);
	return r;
}

int pfnl_core_repair(struct pfnl *h, uint32_t domain, pfnl_repair_cb cb,
		     void *arg)
{
	const struct nlmsghdr *reply;
	struct pfnl_repair *repairs;
	struct nl_msg *msg;
	size_t count;
	size_t i;
	int r = 0;

	pfnl_clear_error(h);
	msg = pfnl_request(h, PREFETCH_CMD_CORE_REPAIR);
	if (!msg)
		return -ENOMEM;
	if (domain != PFNL_DOMAIN_ALL)
		r = put_u32(h, msg, PREFETCH_A_CORE_DOMAIN, domain);
	r = checked(msg, r);
	if (!r)
		r = pfnl_do(h, msg, &reply);
	if (r)
		return r;
	r = pfnl_read_repairs(h, reply, &repairs, &count);
	for (i = 0; !r && cb && i < count; i++)
		r = cb(&repairs[i], arg);
	pfnl_free_repairs(repairs, count);
	return r;
}
