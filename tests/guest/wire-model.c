// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The second opinion; see wire-model.h.
 */
#include "wire-model.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <linux/prefetch.h>
#include <string.h>

#define HEADERS	  (NLMSG_HDRLEN + GENL_HDRLEN)
#define TYPES	  16
#define ALL_KNOWN 0x3fffu /* prefetchers that the wire has a bit for */

enum kind { NONE, ID, BOOL, NUMBER, MASK, NUMBER64 };

struct command {
	uint8_t cmd;
	bool dump;
	uint16_t last; /* highest attribute */
	enum kind kinds[TYPES];
};

#define SETTING_TARGET \
	[PREFETCH_A_SETTING_PID] = ID, [PREFETCH_A_SETTING_TID] = ID

static const struct command commands[] = {
	{ .cmd = PREFETCH_CMD_INFO_GET },
	{ .cmd = PREFETCH_CMD_SETTING_GET,
	  .last = PREFETCH_A_SETTING_TID,
	  .kinds = { SETTING_TARGET } },
	{ .cmd = PREFETCH_CMD_SETTING_SET,
	  .last = PREFETCH_A_SETTING_START_TIME,
	  .kinds = { SETTING_TARGET, [PREFETCH_A_SETTING_OFF] = MASK,
		     [PREFETCH_A_SETTING_ON] = MASK,
		     [PREFETCH_A_SETTING_CLEAR] = MASK,
		     [PREFETCH_A_SETTING_INHERIT] = BOOL,
		     [PREFETCH_A_SETTING_START_TIME] = NUMBER64 } },
	{ .cmd = PREFETCH_CMD_DEFAULT_SET,
	  .last = PREFETCH_A_DEFAULT_CLEAR,
	  .kinds = { [PREFETCH_A_DEFAULT_OFF] = MASK,
		     [PREFETCH_A_DEFAULT_ON] = MASK,
		     [PREFETCH_A_DEFAULT_CLEAR] = MASK } },
	{ .cmd = PREFETCH_CMD_CORE_GET,
	  .last = PREFETCH_A_CORE_VERIFY,
	  .kinds = { [PREFETCH_A_CORE_DOMAIN] = NUMBER,
		     [PREFETCH_A_CORE_VERIFY] = BOOL } },
	{ .cmd = PREFETCH_CMD_CORE_REPAIR,
	  .last = PREFETCH_A_CORE_DOMAIN,
	  .kinds = { [PREFETCH_A_CORE_DOMAIN] = NUMBER } },
};

/* A request with its attributes by type. */
struct parsed {
	bool here[TYPES];
	uint64_t value[TYPES];
};

static const struct command *find_command(uint8_t cmd)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (commands[i].cmd == cmd)
			return &commands[i];
	return NULL;
}

static int check_value(enum kind kind, const struct nlattr *attr,
		       uint64_t *value)
{
	size_t len = kind == NUMBER64 ? 8 : 4;

	*value = 0;
	if (kind == NONE || attr->nla_len != NLA_HDRLEN + len ||
	    attr->nla_type & NLA_F_NESTED)
		return EINVAL;
	memcpy(value, (const char *)attr + NLA_HDRLEN, len);
	switch (kind) {
	case ID:
		return *value ? 0 : ERANGE;
	case BOOL:
		return *value <= 1 ? 0 : ERANGE;
	case MASK:
		return *value & ~(uint64_t)ALL_KNOWN ? EINVAL : 0;
	default:
		return 0;
	}
}

static int parse(const struct command *c, const struct nlmsghdr *nlh,
		 struct parsed *p)
{
	const char *at = (const char *)nlh + HEADERS;
	size_t rest = nlh->nlmsg_len - HEADERS;
	int odd = 0;

	memset(p, 0, sizeof(*p));
	while (rest >= NLA_HDRLEN) {
		const struct nlattr *attr = (const struct nlattr *)at;
		uint16_t type = attr->nla_type & NLA_TYPE_MASK;
		size_t step = NLA_ALIGN(attr->nla_len);
		uint64_t value;
		int err;

		if (attr->nla_len < NLA_HDRLEN || attr->nla_len > rest)
			return EINVAL;
		if (!type || type > c->last)
			return EINVAL;
		err = check_value(c->kinds[type], attr, &value);
		if (err)
			return err;
		/* Told only after all of them were looked at. */
		if (p->here[type] || attr->nla_type & NLA_F_NET_BYTEORDER)
			odd = EINVAL;
		p->here[type] = true;
		p->value[type] = value;
		at += step;
		rest -= step < rest ? step : rest;
	}
	return rest ? EINVAL : odd;
}

static int check_masks(const struct model *m, uint32_t off, uint32_t on,
		       uint32_t clear)
{
	if (off & on || clear & (off | on))
		return EINVAL;
	return (off | on) & ~m->supported ? EOPNOTSUPP : 0;
}

static int find_task(const struct model *m, const struct parsed *p,
		     unsigned int *task, bool *thread)
{
	uint64_t number;

	if (p->here[PREFETCH_A_SETTING_PID] == p->here[PREFETCH_A_SETTING_TID])
		return EINVAL;
	*thread = p->here[PREFETCH_A_SETTING_TID];
	number = p->value[*thread ? PREFETCH_A_SETTING_TID
				  : PREFETCH_A_SETTING_PID];
	for (*task = 0; *task < MODEL_TASKS; ++*task)
		if (m->number[*task] == number)
			return !*thread && *task == MODEL_CHILD_THREAD ? ESRCH
								       : 0;
	return ESRCH;
}

static struct model_setting *setting_of(struct model *m, unsigned int task,
					bool thread)
{
	return thread ? &m->thread[task] : &m->process[task];
}

static int judge_get(struct model *m, const struct parsed *p, struct verdict *v)
{
	const struct model_setting *s;
	unsigned int task;
	bool thread;
	int err = find_task(m, p, &task, &thread);

	if (err)
		return err;
	if (task == MODEL_ZOMBIE)
		return ESRCH;
	s = setting_of(m, task, thread);
	v->masks = true;
	v->off = s->off;
	v->on = s->on;
	return 0;
}

static int judge_set(struct model *m, const struct parsed *p, struct verdict *v)
{
	uint32_t off = p->value[PREFETCH_A_SETTING_OFF];
	uint32_t on = p->value[PREFETCH_A_SETTING_ON];
	uint32_t clear = p->value[PREFETCH_A_SETTING_CLEAR];
	bool inherit = p->here[PREFETCH_A_SETTING_INHERIT];
	struct model_setting next;
	struct model_setting *s;
	unsigned int task;
	bool thread;
	int err = find_task(m, p, &task, &thread);

	if (err)
		return err;
	if (!inherit && !p->here[PREFETCH_A_SETTING_OFF] &&
	    !p->here[PREFETCH_A_SETTING_ON] &&
	    !p->here[PREFETCH_A_SETTING_CLEAR])
		return EINVAL;
	if (inherit && thread)
		return EINVAL;
	err = check_masks(m, off, on, clear);
	if (err)
		return err;
	if (p->here[PREFETCH_A_SETTING_START_TIME] &&
	    p->value[PREFETCH_A_SETTING_START_TIME] != m->start[task])
		return ESRCH;
	if (task == MODEL_ZOMBIE)
		return ESRCH;

	s = setting_of(m, task, thread);
	next = *s;
	next.off = (next.off & ~(on | clear)) | off;
	next.on = (next.on & ~(off | clear)) | on;
	if (inherit)
		next.inherit = p->value[PREFETCH_A_SETTING_INHERIT];
	if (!next.off && !next.on) {
		if (inherit && next.inherit)
			return EINVAL;
		next.inherit = false;
	}
	*s = next;
	v->masks = true;
	v->off = next.off;
	v->on = next.on;
	return 0;
}

static int judge_default(struct model *m, const struct parsed *p)
{
	uint32_t off = p->value[PREFETCH_A_DEFAULT_OFF];
	uint32_t on = p->value[PREFETCH_A_DEFAULT_ON];
	uint32_t clear = p->value[PREFETCH_A_DEFAULT_CLEAR];
	int err;

	if (!p->here[PREFETCH_A_DEFAULT_OFF] &&
	    !p->here[PREFETCH_A_DEFAULT_ON] &&
	    !p->here[PREFETCH_A_DEFAULT_CLEAR])
		return EINVAL;
	err = check_masks(m, off, on, clear);
	if (err)
		return err;
	m->default_off = (m->default_off & ~(on | clear)) | off;
	m->default_on = (m->default_on & ~(off | clear)) | on;
	return 0;
}

static int judge_core(const struct model *m, const struct parsed *p, bool all)
{
	if (!p->here[PREFETCH_A_CORE_DOMAIN])
		return all ? 0 : EINVAL;
	return p->value[PREFETCH_A_CORE_DOMAIN] < m->domains ? 0 : ENOENT;
}

static int judge(struct model *m, const struct nlmsghdr *nlh, struct verdict *v)
{
	const struct genlmsghdr *genl = (const void *)(nlh + 1);
	const struct command *c;
	struct parsed p;
	int err;

	if (nlh->nlmsg_len < HEADERS)
		return EINVAL;
	if (genl->reserved ||
	    nlh->nlmsg_flags & ~(NLM_F_REQUEST | NLM_F_ACK | NLM_F_ECHO))
		return EINVAL;
	c = find_command(genl->cmd);
	if (!c)
		return EOPNOTSUPP;
	err = parse(c, nlh, &p);
	if (err)
		return err;
	switch (c->cmd) {
	case PREFETCH_CMD_SETTING_GET:
		return judge_get(m, &p, v);
	case PREFETCH_CMD_SETTING_SET:
		return judge_set(m, &p, v);
	case PREFETCH_CMD_DEFAULT_SET:
		return judge_default(m, &p);
	case PREFETCH_CMD_CORE_GET:
		return judge_core(m, &p, false);
	case PREFETCH_CMD_CORE_REPAIR:
		return judge_core(m, &p, true);
	default:
		return 0;
	}
}

struct verdict model_judge(struct model *m, const struct nlmsghdr *nlh)
{
	const struct genlmsghdr *genl = (const void *)(nlh + 1);
	struct verdict v = {};

	if (!(nlh->nlmsg_flags & NLM_F_REQUEST)) {
		v.silent = true;
		return v;
	}
	if (nlh->nlmsg_type != m->family) {
		v.error = ENOENT;
		v.wordless = true;
		return v;
	}
	v.error = judge(m, nlh, &v);
	v.wordless = nlh->nlmsg_len < HEADERS ||
		     (v.error == EOPNOTSUPP && !find_command(genl->cmd));
	return v;
}

unsigned int model_settings(const struct model *m)
{
	unsigned int n = 0;

	for (int i = 0; i < MODEL_TASKS; i++) {
		n += !!(m->process[i].off | m->process[i].on);
		n += !!(m->thread[i].off | m->thread[i].on);
	}
	return n;
}
