// SPDX-License-Identifier: GPL-2.0-or-later
/* The machine of the fake kernel, its sockets and its events. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "message.h"

#define FIRST_FAMILY 30

struct fake *fake_new(void)
{
	struct fake *f = fake_alloc(NULL, sizeof(*f));
	uint32_t i;

	memset(f, 0, sizeof(*f));
	f->backend = PREFETCH_BACKEND_MSR;
	strcpy(f->vendor, "GenuineIntel");
	f->cpu_family = 6;
	f->cpu_model = 85;
	f->cpu_stepping = 4;
	f->supported = 0xf;
	f->n_domains = 2;
	f->n_cpus = 4;
	for (i = 0; i < 2; i++) {
		f->domains[i].id = i;
		f->domains[i].supported = f->supported;
	}
	for (i = 0; i < 4; i++) {
		f->cpus[i].id = i;
		f->cpus[i].domain = i / 2;
		f->cpus[i].online = true;
	}
	strcpy(f->version, "0.1.0");
	f->loaded = true;
	f->family = FIRST_FAMILY;
	f->core_group = f->setting_group = true;
	f->events_here = f->unprivileged = true;
	f->privileged = true;
	f->max_settings = 100000;
	f->interval = 10;
	f->queues[0].last = &f->queues[0].first;
	f->queues[1].last = &f->queues[1].first;
	f->event_fd = -1;
	return f;
}

struct fake_task *fake_add_task(struct fake *f, uint32_t pid, uint32_t tid,
				const char *comm)
{
	struct fake_task *t;

	f->tasks = fake_alloc(f->tasks, (f->n_tasks + 1) * sizeof(*t));
	t = &f->tasks[f->n_tasks++];
	memset(t, 0, sizeof(*t));
	t->pid = pid;
	t->tid = tid;
	t->start_time = UINT64_C(1000000000) + tid;
	snprintf(t->comm, sizeof(t->comm), "%s", comm);
	return t;
}

struct fake_setting *fake_add_setting(struct fake *f, uint32_t pid,
				      uint32_t tid, uint32_t off, uint32_t on)
{
	struct fake_setting *s;

	f->settings = fake_alloc(f->settings, (f->n_settings + 1) * sizeof(*s));
	s = &f->settings[f->n_settings++];
	memset(s, 0, sizeof(*s));
	s->pid = pid;
	s->tid = tid;
	s->off = off;
	s->on = on;
	s->id = ++f->last_id;
	return s;
}

void fake_run(struct fake *f, uint32_t cpu, uint32_t pid, uint32_t tid)
{
	size_t i;

	for (i = 0; i < f->n_cpus; i++)
		if (f->cpus[i].id == cpu) {
			f->cpus[i].pid = pid;
			f->cpus[i].tid = tid;
		}
	fake_settle(f, PREFETCH_CAUSE_SWITCH, cpu);
}

void fake_exit(struct fake *f, uint32_t pid, uint32_t tid)
{
	struct fake_setting *s;
	size_t i;

	for (i = 0; i < f->n_cpus; i++)
		if (f->cpus[i].tid == tid)
			f->cpus[i].pid = f->cpus[i].tid = 0;
	for (i = 0; i < f->n_settings;) {
		s = &f->settings[i];
		if (s->tid == tid || (s->pid == pid && !s->tid && pid == tid)) {
			fake_setting_event(f, s, PREFETCH_CHANGE_EXITED);
			*s = f->settings[--f->n_settings];
		} else {
			i++;
		}
	}
	for (i = 0; i < f->n_tasks; i++)
		if (f->tasks[i].tid == tid)
			f->tasks[i--] = f->tasks[--f->n_tasks];
	fake_settle(f, PREFETCH_CAUSE_EXIT, 0);
}

struct fake_fault *fake_fault(struct fake *f, uint8_t cmd,
			      enum fake_fault_kind kind)
{
	struct fake_fault *fault;

	if (f->n_faults == FAKE_MAX_FAULTS)
		abort();
	fault = &f->faults[f->n_faults++];
	memset(fault, 0, sizeof(*fault));
	fault->cmd = cmd;
	fault->kind = kind;
	fault->count = 1;
	return fault;
}

/* --- events --- */

static void wake(struct fake *f)
{
	uint64_t one = 1;

	if (f->event_fd >= 0 && write(f->event_fd, &one, sizeof(one)) < 0)
		abort();
}

static void notify_family(struct fake *f, uint8_t cmd)
{
	struct fake_bytes b = { 0 };
	size_t place;

	if (!f->open[PFNL_EVENTS] || !f->joined_notify)
		return;
	place = fake_begin_genl(&b, GENL_ID_CTRL, 0, 0, cmd);
	fake_fill_family(f, &b);
	fake_end(&b, place);
	fake_queue(f, PFNL_EVENTS, &b);
	wake(f);
}

void fake_unload(struct fake *f)
{
	f->loaded = false;
	f->joined_core = f->joined_setting = false;
	f->n_settings = 0;
	notify_family(f, CTRL_CMD_DELFAMILY);
}

void fake_load(struct fake *f)
{
	f->loaded = true;
	f->family++;
	f->core_seq = f->setting_seq = 0;
	f->core_total = f->setting_total = 0;
	notify_family(f, CTRL_CMD_NEWFAMILY);
}

void fake_core_event(struct fake *f, const struct fake_core_event *event)
{
	struct fake_bytes b = { 0 };
	size_t place;
	size_t i;

	if (!f->open[PFNL_EVENTS] || !f->joined_core)
		return;
	place = fake_begin_genl(&b, f->family, 0, 0, PREFETCH_CMD_CORE_NTF);
	fake_u32(&b, PREFETCH_A_EVENT_DOMAIN, event->domain);
	for (i = 0; i < f->n_cpus; i++)
		if (f->cpus[i].domain == event->domain)
			fake_u32(&b, PREFETCH_A_EVENT_CPUS, f->cpus[i].id);
	fake_u32(&b, PREFETCH_A_EVENT_OLD, event->old_mask);
	fake_u32(&b, PREFETCH_A_EVENT_NEW, event->new_mask);
	fake_u32(&b, PREFETCH_A_EVENT_CAUSE, event->cause);
	fake_u32(&b, PREFETCH_A_EVENT_CPU, event->cpu);
	fake_u32(&b, PREFETCH_A_EVENT_PID, event->pid);
	fake_u32(&b, PREFETCH_A_EVENT_TID, event->tid);
	fake_text(&b, PREFETCH_A_EVENT_COMM, event->comm ? event->comm : "");
	fake_u64(&b, PREFETCH_A_EVENT_TIME, event->time);
	fake_u32(&b, PREFETCH_A_EVENT_SEQ, ++f->core_seq);
	fake_u32(&b, PREFETCH_A_EVENT_FOLDED, event->folded);
	fake_u64(&b, PREFETCH_A_EVENT_LOST, f->core_lost + event->lost);
	f->core_total += f->core_lost + event->lost + event->folded;
	fake_u64(&b, PREFETCH_A_EVENT_TOTAL, f->core_total);
	f->core_lost = 0;
	f->core_sent++;
	fake_end(&b, place);
	fake_queue(f, PFNL_EVENTS, &b);
	wake(f);
}

void fake_setting_event(struct fake *f, const struct fake_setting *s,
			uint32_t change)
{
	struct fake_bytes b = { 0 };
	size_t place;

	if (!f->open[PFNL_EVENTS] || !f->joined_setting)
		return;
	place = fake_begin_genl(&b, f->family, 0, 0, PREFETCH_CMD_SETTING_NTF);
	fake_fill_setting(f, &b, s->pid, s->tid, s);
	fake_u32(&b, PREFETCH_A_SETTING_CHANGE, change);
	fake_u32(&b, PREFETCH_A_SETTING_SEQ, ++f->setting_seq);
	fake_u64(&b, PREFETCH_A_SETTING_LOST, f->setting_lost);
	f->setting_total += f->setting_lost + 1;
	fake_u64(&b, PREFETCH_A_SETTING_TOTAL, f->setting_total);
	fake_u64(&b, PREFETCH_A_SETTING_TIME, 5000000000u + f->setting_seq);
	f->setting_lost = 0;
	f->setting_sent++;
	fake_end(&b, place);
	fake_queue(f, PFNL_EVENTS, &b);
	wake(f);
}

void fake_drop_core_events(struct fake *f, uint32_t count)
{
	f->core_seq += count;
	f->core_sent += count;
	f->core_total += count;
}

void fake_drop_setting_events(struct fake *f, uint32_t count)
{
	f->setting_seq += count;
	f->setting_sent += count;
	f->setting_total += count;
}

void fake_event_error(struct fake *f, int error)
{
	fake_queue_error(f, PFNL_EVENTS, error);
	wake(f);
}

void fake_unknown_event(struct fake *f)
{
	struct fake_bytes b = { 0 };
	size_t place;

	place = fake_begin_genl(&b, f->family, 0, 0, UINT8_MAX);
	fake_end(&b, place);
	fake_queue(f, PFNL_EVENTS, &b);
	wake(f);
}

void fake_raw(struct fake *f, enum pfnl_channel channel, const void *data,
	      size_t size)
{
	struct fake_bytes b = { 0 };

	fake_put(&b, data, size);
	b.used = size;
	fake_queue(f, channel, &b);
	if (channel == PFNL_EVENTS)
		wake(f);
}

/* --- transport --- */

static void empty(struct fake_queue *queue)
{
	struct fake_datagram *d;

	while ((d = queue->first)) {
		queue->first = d->next;
		free(d->bytes.data);
		free(d);
	}
	queue->last = &queue->first;
}

static int fake_open(void *ctx, enum pfnl_channel channel)
{
	struct fake *f = ctx;

	if (f->open[channel])
		abort();
	if (channel == PFNL_EVENTS) {
		f->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		if (f->event_fd < 0)
			return -errno;
		if (fake_steps_left(f))
			wake(f);
	} else {
		f->opens++;
	}
	f->open[channel] = true;
	return 0;
}

static void fake_close(void *ctx, enum pfnl_channel channel)
{
	struct fake *f = ctx;

	if (!f->open[channel])
		abort();
	empty(&f->queues[channel]);
	f->open[channel] = false;
	if (channel == PFNL_EVENTS) {
		close(f->event_fd);
		f->event_fd = -1;
		f->joined_core = f->joined_setting = f->joined_notify = false;
	}
}

static int fake_fd(void *ctx, enum pfnl_channel channel)
{
	struct fake *f = ctx;

	return channel == PFNL_EVENTS ? f->event_fd : -1;
}

static int fake_send(void *ctx, const void *data, size_t size)
{
	struct fake *f = ctx;

	if (!f->open[PFNL_REQUESTS])
		abort();
	f->requests++;
	fake_request(f, data, size);
	return 0;
}

/* The next datagram; a step of the scenario is played where there is none. */
static struct fake_datagram *next(struct fake *f, enum pfnl_channel channel)
{
	struct fake_queue *queue = &f->queues[channel];
	struct fake_datagram *d;
	uint64_t count;

	if (!queue->first && channel == PFNL_EVENTS && f->on_empty)
		f->on_empty(f);
	d = queue->first;
	if (!d && channel == PFNL_EVENTS) {
		if (read(f->event_fd, &count, sizeof(count)) < 0 &&
		    errno != EAGAIN)
			abort();
		if (fake_play(f))
			wake(f);
		return NULL;
	}
	if (d) {
		queue->first = d->next;
		if (!queue->first)
			queue->last = &queue->first;
	}
	return d;
}

static ssize_t fake_recv(void *ctx, enum pfnl_channel channel, void *data,
			 size_t size)
{
	struct fake *f = ctx;
	struct fake_datagram *d;
	ssize_t got;

	if (!f->open[channel])
		abort();
	if (channel == PFNL_EVENTS && f->event_error_always)
		return -f->event_error_always;
	d = next(f, channel);
	if (!d)
		return -EAGAIN;
	if (d->error) {
		got = -d->error;
	} else {
		got = (ssize_t)(d->claim ? d->claim : d->bytes.used);
		if (d->bytes.used)
			memcpy(data, d->bytes.data,
			       d->bytes.used < size ? d->bytes.used : size);
	}
	free(d->bytes.data);
	free(d);
	return got;
}

static int fake_join(void *ctx, uint32_t group)
{
	struct fake *f = ctx;

	if (group == FAKE_GROUP_NOTIFY) {
		f->joined_notify = true;
		return 0;
	}
	if (group == FAKE_GROUP_CORE && f->core_join_error)
		return -f->core_join_error;
	if (group == FAKE_GROUP_SETTING && f->setting_join_error)
		return -f->setting_join_error;
	if (!f->loaded ||
	    (group != FAKE_GROUP_CORE && group != FAKE_GROUP_SETTING))
		return -ENOENT;
	if (!f->privileged)
		return -EPERM;
	if (group == FAKE_GROUP_CORE)
		f->joined_core = true;
	else
		f->joined_setting = true;
	return 0;
}

static size_t fake_buffer(void *ctx, size_t bytes)
{
	struct fake *f = ctx;

	f->buffer = 2 * bytes;
	return f->buffer;
}

static void fake_destroy(void *ctx)
{
	struct fake *f = ctx;

	if (f->open[0] || f->open[1])
		abort();
	fake_scenario_end(f);
	empty(&f->queues[0]);
	empty(&f->queues[1]);
	free(f->tasks);
	free(f->settings);
	free(f);
}

const struct pfnl_transport fake_transport = {
	.open = fake_open,
	.close = fake_close,
	.fd = fake_fd,
	.send = fake_send,
	.recv = fake_recv,
	.join = fake_join,
	.buffer = fake_buffer,
	.destroy = fake_destroy,
};
