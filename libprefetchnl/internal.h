/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the files of the library share. */
#ifndef PFNL_INTERNAL_H
#define PFNL_INTERNAL_H

#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <netlink/genl/genl.h>
#include <string.h>

#include "transport.h"

/* Large enough for any single message; pages never touched cost nothing. */
#define PFNL_RECV_SIZE (1024 * 1024)

/* How often a request is made again that could not be answered well. */
#define PFNL_ATTEMPTS 4

struct pfnl_events;

struct pfnl {
	const struct pfnl_transport *ops;
	void *ctx;
	bool requests_open;
	uint16_t family; /* 0: not known */
	uint32_t seq;
	uint8_t *recv_buf;
	char errmsg[512];
	char errattr[32];
	bool has_extack;
	bool module_missing;
	size_t wanted_buffer;
	size_t granted_buffer;
	struct pfnl_events *events; /* NULL: not subscribed */
};

/* --- error.c --- */

/* Forgets the last error; every public call that can fail begins with it. */
void pfnl_clear_error(struct pfnl *h);

/* Stores our words, and returns error (a -errno). */
int pfnl_fail(struct pfnl *h, int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Also names the attribute of the request that is at fault. */
int pfnl_fail_attr(struct pfnl *h, int error, const char *attr,
		   const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* "Operation not permitted" and its like; buf may be left unused. */
const char *pfnl_strerror(int error, char *buf, size_t size);

/*
 * Reads the refusal in a message of type NLMSG_ERROR or NLMSG_DONE. Returns the
 * error code in it: 0, or -errno with the kernel's words stored.
 */
int pfnl_read_error(struct pfnl *h, const struct nlmsghdr *reply,
		    const struct nlmsghdr *request);

/* --- attr.c --- */

enum pfnl_kind {
	PFNL_IGNORE,
	PFNL_U16,
	PFNL_U32,
	PFNL_U64,
	PFNL_STRING,
	PFNL_NEST,
};

struct pfnl_spec {
	const char *name;
	uint8_t kind; /* enum pfnl_kind */
	bool required;
	bool multi; /* may stand there more than once */
};

/* In tables of these: what must be there, what may, and may several times. */
#define MUST(name, kind)                \
	{                               \
		name, kind, true, false \
	}
#define MAY(name, kind)                  \
	{                                \
		name, kind, false, false \
	}
#define MANY(name, kind)                \
	{                               \
		name, kind, false, true \
	}

struct pfnl_set {
	const char *name;
	const struct pfnl_spec *specs; /* by attribute type */
	int max;		       /* highest type */
	int last_required;	       /* highest type that must be there */
};

/*
 * Checks all attributes against the set, and puts the first one of each type
 * into found[0..set->max]. 0, or -EBADMSG with words stored.
 */
int pfnl_parse(struct pfnl *h, const struct pfnl_set *set,
	       const struct nlattr *first, int size,
	       const struct nlattr **found);

/* The same for the attributes in a nest and in a generic netlink message. */
int pfnl_parse_nest(struct pfnl *h, const struct pfnl_set *set,
		    const struct nlattr *nest, const struct nlattr **found);
int pfnl_parse_msg(struct pfnl *h, const struct pfnl_set *set,
		   const struct nlmsghdr *msg, const struct nlattr **found);

/*
 * Walking attributes. nla_ok() of libnl takes what is left as unsigned, and so
 * reads on where the last attribute lacks its padding.
 */
static inline bool pfnl_attr_ok(const struct nlattr *attr, int size)
{
	return size >= (int)sizeof(*attr) && attr->nla_len >= sizeof(*attr) &&
	       attr->nla_len <= size;
}

static inline const struct nlattr *pfnl_attr_next(const struct nlattr *attr,
						  int *size)
{
	int step = NLA_ALIGN(attr->nla_len);

	*size -= step < *size ? step : *size;
	return (const struct nlattr *)((const char *)attr + step);
}

static inline const void *pfnl_attr_data(const struct nlattr *attr)
{
	return (const char *)attr + NLA_HDRLEN;
}

static inline int pfnl_attr_size(const struct nlattr *attr)
{
	return attr->nla_len - NLA_HDRLEN;
}

static inline int pfnl_attr_type(const struct nlattr *attr)
{
	return attr->nla_type & NLA_TYPE_MASK;
}

static inline const struct nlattr *pfnl_msg_attrs(const struct nlmsghdr *msg,
						  int *size)
{
	*size = (int)(msg->nlmsg_len - NLMSG_LENGTH(GENL_HDRLEN));
	return (const struct nlattr *)((const char *)NLMSG_DATA(msg) +
				       GENL_HDRLEN);
}

/* A place between attributes of a message or nest. */
struct pfnl_walk {
	const struct nlattr *attr;
	int size;
};

static inline struct pfnl_walk pfnl_walk_msg(const struct nlmsghdr *msg)
{
	struct pfnl_walk walk;

	walk.attr = pfnl_msg_attrs(msg, &walk.size);
	return walk;
}

static inline struct pfnl_walk pfnl_walk_nest(const struct nlattr *nest)
{
	struct pfnl_walk walk = { pfnl_attr_data(nest), pfnl_attr_size(nest) };

	return walk;
}

/* The next attribute of that type, or NULL. */
const struct nlattr *pfnl_next(struct pfnl_walk *walk, int type);

/* How many of that type come after the place. */
size_t pfnl_count(struct pfnl_walk walk, int type);

/* Values; what was not there is 0 or "". */
static inline uint16_t pfnl_u16(const struct nlattr *attr)
{
	uint16_t value = 0;

	if (attr)
		memcpy(&value, pfnl_attr_data(attr), sizeof(value));
	return value;
}

static inline uint32_t pfnl_u32(const struct nlattr *attr)
{
	uint32_t value = 0;

	if (attr)
		memcpy(&value, pfnl_attr_data(attr), sizeof(value));
	return value;
}

static inline uint64_t pfnl_u64(const struct nlattr *attr)
{
	uint64_t value = 0;

	if (attr)
		memcpy(&value, pfnl_attr_data(attr), sizeof(value));
	return value;
}

void pfnl_string(const struct nlattr *attr, char *to, size_t size);

/* Name in the YAML of an attribute in a request, or NULL. */
const char *pfnl_request_attr(uint8_t cmd, int type);
const char *pfnl_command_name(uint16_t family, uint8_t cmd);

static inline const struct genlmsghdr *pfnl_genl(const struct nlmsghdr *msg)
{
	return NLMSG_DATA(msg);
}

/* --- request.c --- */

/* Messages one after the other, as they were received. */
struct pfnl_buffer {
	uint8_t *data;
	size_t used;
	size_t size;
};

void pfnl_buffer_free(struct pfnl_buffer *buffer);

/* The message at *pos, which is moved on; NULL at the end. */
const struct nlmsghdr *pfnl_buffer_next(const struct pfnl_buffer *buffer,
					size_t *pos);

/* Takes the next message off a datagram: 1, 0 at its end, -EBADMSG. */
int pfnl_split(const uint8_t *data, size_t size, size_t *pos,
	       const struct nlmsghdr **msg);

/* A message without attributes, or NULL with words stored. */
struct nl_msg *pfnl_request(struct pfnl *h, uint8_t cmd);

/*
 * Sends a request of our family, finds the family first if needed, and frees
 * msg. *reply holds until the next request.
 */
int pfnl_do(struct pfnl *h, struct nl_msg *msg, const struct nlmsghdr **reply);

/* The same for a dump. The caller frees out, also after a failure. */
int pfnl_dump(struct pfnl *h, struct nl_msg *msg, struct pfnl_buffer *out,
	      unsigned int *flags);

/* One round trip with nlctrl. msg stays the caller's. */
int pfnl_do_ctrl(struct pfnl *h, struct nl_msg *msg,
		 const struct nlmsghdr **reply);

/* --- family.c --- */

struct pfnl_family {
	uint16_t id; /* 0: not there */
	char name[GENL_NAMSIZ];
	uint32_t core_group; /* 0: it has no such group */
	uint32_t setting_group;
	uint32_t notify_group;
};

/* Asks nlctrl; -ENOENT if there is no such family. */
int pfnl_family_get(struct pfnl *h, const char *name,
		    struct pfnl_family *family);

/* Reads a message of nlctrl, an answer or a notification. */
int pfnl_family_parse(struct pfnl *h, const struct nlmsghdr *msg,
		      struct pfnl_family *family);

/* Sets h->family anew; -ENOENT with module_missing set. */
int pfnl_family_find(struct pfnl *h, struct pfnl_family *family);

/* --- object.c, object-core.c: from message to struct. 0 or -EBADMSG, -ENOMEM
 */

int pfnl_read_info(struct pfnl *h, const struct nlmsghdr *msg,
		   struct pfnl_info *info);
int pfnl_read_prefetcher(struct pfnl *h, const struct nlmsghdr *msg,
			 struct pfnl_prefetcher *p,
			 struct pfnl_location **locations);
int pfnl_read_setting(struct pfnl *h, const struct nlmsghdr *msg,
		      struct pfnl_setting *setting);
int pfnl_read_setting_event(struct pfnl *h, const struct nlmsghdr *msg,
			    struct pfnl_setting_event *event);
int pfnl_read_default(struct pfnl *h, const struct nlmsghdr *msg,
		      struct pfnl_default *result);
int pfnl_read_core(struct pfnl *h, const struct nlmsghdr *msg,
		   struct pfnl_core *core);
int pfnl_read_repairs(struct pfnl *h, const struct nlmsghdr *msg,
		      struct pfnl_repair **repairs, size_t *count);
void pfnl_free_repairs(struct pfnl_repair *repairs, size_t count);

/* event->cpus is kept in *cpus, which grows as needed and is the caller's. */
int pfnl_read_core_event(struct pfnl *h, const struct nlmsghdr *msg,
			 struct pfnl_core_event *event, uint32_t **cpus);

/* --- calls.c --- */

/* The dumps behind the lists, as received. */
int pfnl_dump_cores(struct pfnl *h, bool verify, struct pfnl_buffer *out,
		    unsigned int *flags);
int pfnl_dump_settings(struct pfnl *h, uint32_t pid, uint32_t tid,
		       struct pfnl_buffer *out, unsigned int *flags);

#endif /* PFNL_INTERNAL_H */
