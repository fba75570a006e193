// SPDX-License-Identifier: GPL-2.0-or-later
/* The requests that the fake kernel answers, checked as the module does. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"

#define MAX_ATTR 32

struct request {
	const struct nlmsghdr *hdr;
	uint8_t cmd;
	bool dump;
	const struct nlattr *attrs[MAX_ATTR + 1];
	struct fake_fault *fault; /* NULL: all goes well */
	struct fake_bytes answer;
	unsigned int objects; /* of a dump so far */
};

struct refusal {
	int error; /* positive */
	const char *text;
	const struct nlattr *attr; /* at fault */
	int missing;		   /* type of one that is missing */
};

static uint32_t value(const struct request *q, int type)
{
	uint32_t v = 0;

	if (q->attrs[type])
		memcpy(&v, (const char *)q->attrs[type] + NLA_HDRLEN,
		       sizeof(v));
	return v;
}

static void put_extack(struct request *q, const struct refusal *r)
{
	struct fake_bytes *b = &q->answer;

	if (r->text)
		fake_text(b, NLMSGERR_ATTR_MSG, r->text);
	if (r->attr)
		fake_u32(b, NLMSGERR_ATTR_OFFS,
			 (uint32_t)((const char *)r->attr -
				    (const char *)q->hdr));
	if (r->missing)
		fake_u32(b, NLMSGERR_ATTR_MISS_TYPE, (uint32_t)r->missing);
}

static void refuse(struct fake *f, struct request *q, const struct refusal *r)
{
	uint16_t flags = NLM_F_CAPPED;
	struct nlmsgerr err = { .error = -r->error, .msg = *q->hdr };
	size_t place;

	if (r->text || r->attr || r->missing)
		flags |= NLM_F_ACK_TLVS;
	q->answer.used = 0;
	place = fake_begin(&q->answer, NLMSG_ERROR, flags, q->hdr->nlmsg_seq);
	fake_put(&q->answer, &err, sizeof(err));
	put_extack(q, r);
	fake_end(&q->answer, place);
	fake_queue(f, PFNL_REQUESTS, &q->answer);
}

static void send_answer(struct fake *f, struct request *q)
{
	if (q->fault)
		fake_spoil(q->fault, &q->answer);
	if (q->answer.used)
		fake_queue(f, PFNL_REQUESTS, &q->answer);
}

static size_t begin(struct fake *f, struct request *q)
{
	uint16_t flags = q->dump ? NLM_F_MULTI : 0;

	/* A dump has several objects in a datagram, but not all. */
	if (q->objects && q->objects % 3 == 0)
		send_answer(f, q);
	if (q->dump && q->fault && q->fault->kind == FAKE_INTERRUPT)
		flags |= NLM_F_DUMP_INTR;
	q->objects++;
	return fake_begin_genl(&q->answer, f->family, flags, q->hdr->nlmsg_seq,
			       q->cmd);
}

static void finish_dump(struct fake *f, struct request *q)
{
	uint16_t flags = NLM_F_MULTI;
	bool bad = q->fault && q->fault->kind == FAKE_DONE_ERROR;
	int code = bad ? -q->fault->error : 0;
	size_t place;

	send_answer(f, q);
	if (q->fault && q->fault->kind == FAKE_ENDLESS)
		return;
	if (bad && q->fault->text)
		flags |= NLM_F_ACK_TLVS;
	if (q->fault && q->fault->kind == FAKE_INTERRUPT && !q->objects)
		flags |= NLM_F_DUMP_INTR;
	place = fake_begin(&q->answer, NLMSG_DONE, flags, q->hdr->nlmsg_seq);
	fake_put(&q->answer, &code, sizeof(code));
	if (bad && q->fault->text)
		fake_text(&q->answer, NLMSGERR_ATTR_MSG, q->fault->text);
	fake_end(&q->answer, place);
	send_answer(f, q);
}

/* --- settings --- */

static bool check_masks(struct request *q, struct fake *f, int off, int on,
			int clear, struct refusal *r)
{
	uint32_t lacking;
	int type;

	r->error = EINVAL;
	for (type = 0; type < 3; type++) {
		r->attr = q->attrs[type == 0 ? off : type == 1 ? on : clear];
		r->text = "reserved bit set";
		if (r->attr && value(q, type == 0   ? off
					: type == 1 ? on
						    : clear) &
				       ~PFNL_MASK_ALL)
			return false;
	}
	r->attr = q->attrs[on];
	r->text = "a prefetcher is named both off and on";
	if (value(q, off) & value(q, on))
		return false;
	r->attr = q->attrs[clear];
	r->text = "a prefetcher is named both clear and off or on";
	if (value(q, clear) & (value(q, off) | value(q, on)))
		return false;
	lacking = (value(q, off) | value(q, on)) & ~f->supported;
	r->error = EOPNOTSUPP;
	r->attr = value(q, off) & lacking ? q->attrs[off] : q->attrs[on];
	r->text = "no core of this machine has that prefetcher";
	return !lacking;
}

static const struct fake_task *find_target(struct fake *f, struct request *q,
					   uint32_t *tid, struct refusal *r)
{
	const struct fake_task *task;
	uint32_t pid = value(q, PREFETCH_A_SETTING_PID);

	*tid = value(q, PREFETCH_A_SETTING_TID);
	r->attr = q->attrs[PREFETCH_A_SETTING_TID];
	if (pid && *tid) {
		r->error = EINVAL;
		r->text = "both pid and tid are given";
		return NULL;
	}
	if (!pid && !*tid) {
		r->error = EINVAL;
		r->text = "neither pid nor tid is given";
		r->missing = PREFETCH_A_SETTING_PID;
		return NULL;
	}
	if (pid)
		r->attr = q->attrs[PREFETCH_A_SETTING_PID];
	task = fake_find_task(f, pid, *tid ? *tid : pid);
	r->error = ESRCH;
	r->text = "no such task";
	return task;
}

static bool start_time_differs(const struct request *q,
			       const struct fake_task *task)
{
	uint64_t wanted;

	if (!q->attrs[PREFETCH_A_SETTING_START_TIME])
		return false;
	memcpy(&wanted,
	       (const char *)q->attrs[PREFETCH_A_SETTING_START_TIME] +
		       NLA_HDRLEN,
	       sizeof(wanted));
	return wanted != task->start_time;
}

static void change_setting(struct fake *f, struct request *q, uint32_t pid,
			   uint32_t tid)
{
	uint32_t named = value(q, PREFETCH_A_SETTING_OFF) |
			 value(q, PREFETCH_A_SETTING_ON) |
			 value(q, PREFETCH_A_SETTING_CLEAR);
	struct fake_setting *s = fake_find_setting(f, pid, tid);

	if (!s)
		s = fake_add_setting(f, pid, tid, 0, 0);
	s->off = (s->off & ~named) | value(q, PREFETCH_A_SETTING_OFF);
	s->on = (s->on & ~named) | value(q, PREFETCH_A_SETTING_ON);
	if (q->attrs[PREFETCH_A_SETTING_INHERIT])
		s->inherit = value(q, PREFETCH_A_SETTING_INHERIT) != 0;
	if (s->off | s->on) {
		fake_setting_event(f, s, PREFETCH_CHANGE_SET);
	} else {
		fake_setting_event(f, s, PREFETCH_CHANGE_CLEARED);
		*s = f->settings[--f->n_settings];
	}
	fake_settle(f, PREFETCH_CAUSE_SETTING, 0);
}

static bool may_set(struct fake *f, struct request *q,
		    const struct fake_task *task, uint32_t tid,
		    struct refusal *r)
{
	r->error = ESRCH;
	r->attr = q->attrs[PREFETCH_A_SETTING_START_TIME];
	r->text = "the task did not start at that time";
	if (start_time_differs(q, task))
		return false;
	r->error = EPERM;
	r->attr = NULL;
	r->text = "the task belongs to somebody else, and CAP_SYS_NICE is "
		  "lacking";
	if (task->denied && !f->privileged)
		return false;
	r->error = EINVAL;
	r->attr = q->attrs[PREFETCH_A_SETTING_INHERIT];
	r->text = "a thread's setting cannot be inherited";
	if (tid && r->attr)
		return false;
	r->error = ENOSPC;
	r->attr = NULL;
	r->text = "the limit of settings is reached (parameter max_settings)";
	return fake_find_setting(f, task->pid, tid) ||
	       f->n_settings < f->max_settings;
}

static bool setting_do(struct fake *f, struct request *q, struct refusal *r)
{
	const struct fake_task *task;
	uint32_t pid, tid;
	size_t place;

	task = find_target(f, q, &tid, r);
	if (!task)
		return false;
	pid = task->pid;
	if (q->cmd == PREFETCH_CMD_SETTING_SET) {
		if (!check_masks(q, f, PREFETCH_A_SETTING_OFF,
				 PREFETCH_A_SETTING_ON,
				 PREFETCH_A_SETTING_CLEAR, r) ||
		    !may_set(f, q, task, tid, r))
			return false;
		change_setting(f, q, pid, tid);
	}
	place = begin(f, q);
	fake_fill_setting(f, &q->answer, pid, tid,
			  fake_find_setting(f, pid, tid));
	fake_end(&q->answer, place);
	send_answer(f, q);
	return true;
}

static bool setting_dump(struct fake *f, struct request *q, struct refusal *r)
{
	const struct fake_task *task = NULL;
	const struct fake_setting *s;
	uint32_t tid = 0;
	size_t place;
	size_t i;

	if (q->attrs[PREFETCH_A_SETTING_PID] ||
	    q->attrs[PREFETCH_A_SETTING_TID]) {
		task = find_target(f, q, &tid, r);
		if (!task)
			return false;
	}
	for (i = 0; i < f->n_settings; i++) {
		s = &f->settings[i];
		if (task && (tid ? s->tid != tid : s->pid != task->pid))
			continue;
		place = begin(f, q);
		fake_fill_setting(f, &q->answer, s->pid, s->tid, s);
		fake_end(&q->answer, place);
	}
	finish_dump(f, q);
	return true;
}

static bool default_do(struct fake *f, struct request *q, struct refusal *r)
{
	uint32_t named = value(q, PREFETCH_A_DEFAULT_OFF) |
			 value(q, PREFETCH_A_DEFAULT_ON) |
			 value(q, PREFETCH_A_DEFAULT_CLEAR);
	size_t place;

	r->error = EPERM;
	r->text = "changing the machine default needs CAP_SYS_ADMIN";
	if (!f->privileged ||
	    !check_masks(q, f, PREFETCH_A_DEFAULT_OFF, PREFETCH_A_DEFAULT_ON,
			 PREFETCH_A_DEFAULT_CLEAR, r))
		return false;
	f->default_off = (f->default_off & ~named) |
			 value(q, PREFETCH_A_DEFAULT_OFF);
	f->default_on = (f->default_on & ~named) |
			value(q, PREFETCH_A_DEFAULT_ON);
	fake_settle(f, PREFETCH_CAUSE_DEFAULT, 0);
	place = begin(f, q);
	fake_u32(&q->answer, PREFETCH_A_DEFAULT_OFF, f->default_off);
	fake_u32(&q->answer, PREFETCH_A_DEFAULT_ON, f->default_on);
	fake_u32(&q->answer, PREFETCH_A_DEFAULT_PARTIAL,
		 fake_partial(f, f->default_off | f->default_on));
	fake_end(&q->answer, place);
	send_answer(f, q);
	return true;
}

/* --- cores --- */

static void note_foreign(struct fake *f, const struct fake_domain *d)
{
	if (d->foreign && d->foreign_value != d->effective)
		f->foreign_writes++;
}

static void put_core(struct fake *f, struct request *q,
		     const struct fake_domain *d, bool verify)
{
	size_t place = begin(f, q);

	if (verify)
		note_foreign(f, d);
	fake_fill_core(f, &q->answer, d, verify);
	fake_end(&q->answer, place);
}

static bool find_core(struct fake *f, struct request *q, struct refusal *r,
		      struct fake_domain **d)
{
	*d = NULL;
	if (!q->attrs[PREFETCH_A_CORE_DOMAIN])
		return true;
	*d = fake_find_domain(f, value(q, PREFETCH_A_CORE_DOMAIN));
	r->error = ENOENT;
	r->attr = q->attrs[PREFETCH_A_CORE_DOMAIN];
	r->text = "no such core";
	return *d;
}

static bool core_do(struct fake *f, struct request *q, struct refusal *r)
{
	bool verify = value(q, PREFETCH_A_CORE_VERIFY) != 0;
	struct fake_domain *d;
	size_t i;

	if (!find_core(f, q, r, &d))
		return false;
	r->error = EINVAL;
	r->text = "no core is given";
	if (!q->dump && !d)
		return false;
	r->error = EPERM;
	r->attr = q->attrs[PREFETCH_A_CORE_VERIFY];
	r->text = "reading the registers needs CAP_SYS_ADMIN";
	if (verify && !f->privileged)
		return false;
	if (!q->dump) {
		put_core(f, q, d, verify);
		send_answer(f, q);
		return true;
	}
	for (i = 0; i < f->n_domains; i++)
		put_core(f, q, &f->domains[i], verify);
	finish_dump(f, q);
	return true;
}

static void repair(struct request *q, struct fake_domain *d)
{
	size_t nest;

	if (!d->foreign || d->foreign_value == d->effective)
		return;
	nest = fake_nest(&q->answer, PREFETCH_A_CORE_REPAIRED);
	fake_u32(&q->answer, PREFETCH_A_REPAIR_DOMAIN, d->id);
	fake_u32(&q->answer, PREFETCH_A_REPAIR_BEFORE, d->foreign_value);
	fake_u32(&q->answer, PREFETCH_A_REPAIR_AFTER, d->effective);
	fake_fill_registers(&q->answer, PREFETCH_A_REPAIR_REGISTER, d);
	fake_nest_end(&q->answer, nest);
	d->foreign = false;
	d->writes++;
}

static bool repair_do(struct fake *f, struct request *q, struct refusal *r)
{
	struct fake_domain *d;
	size_t place;
	size_t i;

	if (!find_core(f, q, r, &d))
		return false;
	r->error = EPERM;
	r->attr = NULL;
	r->text = "repairing needs CAP_SYS_ADMIN";
	if (!f->privileged)
		return false;
	place = begin(f, q);
	for (i = 0; i < f->n_domains; i++)
		if (!d || d == &f->domains[i])
			repair(q, &f->domains[i]);
	fake_end(&q->answer, place);
	send_answer(f, q);
	return true;
}

/* --- the rest --- */

static bool info_do(struct fake *f, struct request *q)
{
	size_t place = begin(f, q);

	fake_fill_info(f, &q->answer);
	fake_end(&q->answer, place);
	send_answer(f, q);
	return true;
}

static bool prefetcher_dump(struct fake *f, struct request *q)
{
	size_t count, place;
	uint32_t id;

	pfnl_names(&count);
	for (id = 0; id < count; id++) {
		if (!(f->supported & UINT32_C(1) << id))
			continue;
		place = begin(f, q);
		fake_fill_prefetcher(f, &q->answer, id);
		fake_end(&q->answer, place);
	}
	finish_dump(f, q);
	return true;
}

static bool family_do(struct fake *f, struct request *q, struct refusal *r)
{
	const struct nlattr *attr = q->attrs[CTRL_ATTR_FAMILY_NAME];
	const char *name = attr ? (const char *)attr + NLA_HDRLEN : "";
	size_t place, nest, inner;

	r->error = ENOENT;
	if (strcmp(name, "nlctrl") &&
	    (strcmp(name, PREFETCH_FAMILY_NAME) || !f->loaded))
		return false;
	place = fake_begin_genl(&q->answer, GENL_ID_CTRL, 0, q->hdr->nlmsg_seq,
				CTRL_CMD_NEWFAMILY);
	if (!strcmp(name, "nlctrl")) {
		fake_text(&q->answer, CTRL_ATTR_FAMILY_NAME, name);
		fake_u16(&q->answer, CTRL_ATTR_FAMILY_ID, GENL_ID_CTRL);
		nest = fake_nest(&q->answer, CTRL_ATTR_MCAST_GROUPS);
		inner = fake_nest(&q->answer, 1);
		fake_u32(&q->answer, CTRL_ATTR_MCAST_GRP_ID, FAKE_GROUP_NOTIFY);
		fake_text(&q->answer, CTRL_ATTR_MCAST_GRP_NAME, "notify");
		fake_nest_end(&q->answer, inner);
		fake_nest_end(&q->answer, nest);
	} else {
		fake_fill_family(f, &q->answer);
	}
	fake_end(&q->answer, place);
	send_answer(f, q);
	return true;
}

static bool handle(struct fake *f, struct request *q, struct refusal *r)
{
	if (q->hdr->nlmsg_type == GENL_ID_CTRL)
		return family_do(f, q, r);
	r->error = ENOENT;
	if (!f->loaded || q->hdr->nlmsg_type != f->family)
		return false;
	switch (q->cmd) {
	case PREFETCH_CMD_INFO_GET:
		return info_do(f, q);
	case PREFETCH_CMD_PREFETCHER_GET:
		return prefetcher_dump(f, q);
	case PREFETCH_CMD_SETTING_GET:
		return q->dump ? setting_dump(f, q, r) : setting_do(f, q, r);
	case PREFETCH_CMD_SETTING_SET:
		return setting_do(f, q, r);
	case PREFETCH_CMD_DEFAULT_SET:
		return default_do(f, q, r);
	case PREFETCH_CMD_CORE_GET:
		return core_do(f, q, r);
	case PREFETCH_CMD_CORE_REPAIR:
		return repair_do(f, q, r);
	default:
		r->error = EOPNOTSUPP;
		return false;
	}
}

static struct fake_fault *find_fault(struct fake *f, const struct request *q)
{
	uint8_t cmd = q->hdr->nlmsg_type == GENL_ID_CTRL ? 0 : q->cmd;
	size_t i;

	for (i = 0; i < f->n_faults; i++) {
		if (f->faults[i].cmd != cmd || !f->faults[i].count)
			continue;
		if (f->faults[i].skip > 0) {
			f->faults[i].skip--;
			continue;
		}
		f->faults[i].count--;
		return &f->faults[i];
	}
	return NULL;
}

static void send_strays(struct fake *f, const struct request *q)
{
	struct fake_bytes b = { 0 };
	uint32_t late;
	size_t place;

	for (late = 1; late <= 3; late++) {
		place = fake_begin_genl(&b, f->family, 0,
					q->hdr->nlmsg_seq - late, q->cmd);
		fake_end(&b, place);
		fake_queue(f, PFNL_REQUESTS, &b);
	}
}

/* True if the fault is all of the answer. */
static bool answer_badly(struct fake *f, struct request *q)
{
	struct refusal r = { 0 };

	switch (q->fault->kind) {
	case FAKE_SILENCE:
		return true;
	case FAKE_OVERRUN:
		fake_queue_error(f, PFNL_REQUESTS, ENOBUFS);
		return true;
	case FAKE_HUGE:
		fake_queue_claim(f, PFNL_REQUESTS, (size_t)1 << 30);
		return true;
	case FAKE_ACK:
	case FAKE_REFUSE:
		r.error = q->fault->kind == FAKE_ACK ? 0 : q->fault->error;
		r.text = q->fault->text;
		if (q->fault->missing)
			r.missing = q->fault->attr_type;
		else if (q->fault->attr_type)
			r.attr = q->attrs[q->fault->attr_type];
		refuse(f, q, &r);
		return true;
	case FAKE_STRAY:
		send_strays(f, q);
		return false;
	default:
		return false;
	}
}

void fake_request(struct fake *f, const void *data, size_t size)
{
	struct request q = { .hdr = data };
	struct refusal r = { 0 };
	const struct nlattr *attr;
	size_t at;
	int type;

	/* The library sends these: a bad one is a bug in it. */
	if (size < NLMSG_LENGTH(GENL_HDRLEN) || q.hdr->nlmsg_len != size)
		abort();
	q.cmd = ((const struct genlmsghdr *)NLMSG_DATA(q.hdr))->cmd;
	q.dump = (q.hdr->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP;
	for (at = NLMSG_LENGTH(GENL_HDRLEN); at + NLA_HDRLEN <= size;
	     at += NLA_ALIGN(attr->nla_len)) {
		attr = (const struct nlattr *)((const char *)data + at);
		if (attr->nla_len < NLA_HDRLEN || at + attr->nla_len > size)
			abort();
		type = attr->nla_type & NLA_TYPE_MASK;
		if (type > MAX_ATTR || q.attrs[type])
			abort();
		q.attrs[type] = attr;
	}
	if (f->on_request && q.hdr->nlmsg_type == f->family)
		f->on_request(f, q.cmd);
	q.fault = find_fault(f, &q);
	if (!(q.fault && answer_badly(f, &q)) && !handle(f, &q, &r))
		refuse(f, &q, &r);
	free(q.answer.data);
}
