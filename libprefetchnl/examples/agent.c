// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Keeps settings as a table wants them: agent PID=NAME...
 *
 * They end with the module, so they are made again each time that it is loaded.
 * The start time of each process is remembered: one that gets its pid later is
 * not set. Ends when none of the processes is left.
 */
#include <errno.h>
#include <poll.h>
#include <prefetchnl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 64

struct wish {
	uint32_t pid; /* 0: it has exited */
	uint32_t off;
	uint64_t start_time; /* 0: not known yet */
};

static struct wish table[MOST];
static size_t count;
static struct pfnl *h;

static void apply(struct wish *wish)
{
	struct pfnl_setting_request request = PFNL_SETTING_REQUEST_INIT;
	struct pfnl_setting setting;
	int r;

	request.pid = wish->pid;
	request.off = wish->off;
	request.start_time = wish->start_time;
	r = pfnl_setting_set(h, &request, &setting);
	if (!r) {
		wish->start_time = setting.start_time;
		printf("pid %u is set\n", wish->pid);
		return;
	}
	printf("pid %u: %s\n", wish->pid, pfnl_errmsg(h));
	/* Anything else may be better at the next load. */
	if (r == -ESRCH)
		wish->pid = 0;
}

static int on_event(const struct pfnl_event *event, void *arg)
{
	const struct pfnl_setting_event *e = &event->u.setting;
	size_t left = 0;
	size_t i;

	(void)arg;
	/* The state is complete: at the start, and when the module is back. */
	if (event->kind == PFNL_EVENT_RESYNC_END)
		for (i = 0; i < count; i++)
			if (table[i].pid)
				apply(&table[i]);
	for (i = 0; i < count; i++) {
		if (event->kind == PFNL_EVENT_SETTING &&
		    e->change == PREFETCH_CHANGE_EXITED && !e->setting.tid &&
		    e->setting.pid == table[i].pid)
			table[i].pid = 0;
		left += table[i].pid != 0;
	}
	if (event->kind == PFNL_EVENT_GONE)
		printf("the module is not loaded; waiting\n");
	return left == 0;
}

static int read_wish(const char *word)
{
	const char *equals = strchr(word, '=');

	if (!equals || count == MOST ||
	    pfnl_name_to_mask(equals + 1, &table[count].off, NULL))
		return -1;
	table[count++].pid = (uint32_t)strtoul(word, NULL, 10);
	return 0;
}

int main(int argc, char **argv)
{
	struct pollfd p = { .events = POLLIN };
	int i, r;

	for (i = 1; i < argc; i++)
		if (read_wish(argv[i])) {
			fprintf(stderr, "not PID=NAME: %s\n", argv[i]);
			return 2;
		}
	if (pfnl_open(&h))
		return 2;
	r = pfnl_subscribe(h, PFNL_GROUP_SETTING, PFNL_SUBSCRIBE_WAIT);
	p.fd = pfnl_event_fd(h);
	while (!r) {
		r = pfnl_dispatch(h, on_event, NULL);
		fflush(stdout);
		if (!r && !pfnl_events_pending(h) && poll(&p, 1, -1) < 0)
			break;
	}
	if (r < 0)
		fprintf(stderr, "%s\n", pfnl_errmsg(h));
	pfnl_close(h);
	return r < 0 ? 1 : 0;
}
