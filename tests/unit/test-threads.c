// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Threads, under ThreadSanitizer: each with a handle of its own, which the
 * header allows; or, as "test-threads shared", two with one handle, which it
 * does not: then the sanitizer must complain, or it would see nothing at all.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake.h"

#define ROUNDS 200

static struct pfnl *shared;

static int on_event(const struct pfnl_event *event, void *arg)
{
	++*(unsigned int *)arg;
	return event->kind > PFNL_EVENT_BACK;
}

static int on_setting(const struct pfnl_setting *s, void *arg)
{
	++*(unsigned int *)arg;
	return s->pid != 100;
}

static int on_core(const struct pfnl_core *core, void *arg)
{
	++*(unsigned int *)arg;
	return core->domain > 1;
}

static void must(int bad, const char *what)
{
	if (!bad)
		return;
	fprintf(stderr, "failed: %s\n", what);
	exit(1);
}

static struct pfnl *new_handle(struct fake **fake)
{
	struct pfnl *h;

	*fake = fake_new();
	fake_add_task(*fake, 100, 100, "server");
	must(pfnl_open_transport(&h, &fake_transport, *fake), "open");
	return h;
}

/* A bit of everything, with errors, whose words come from the C library. */
static void one_round(struct fake *fake)
{
	const struct fake_core_event event = { .comm = "x", .folded = 1 };
	struct pfnl_setting_request q = PFNL_SETTING_REQUEST_INIT;
	char names[PFNL_MASK_NAMES_SIZE];
	struct pfnl_setting s;
	struct pfnl_info info;
	unsigned int n = 0;
	struct pfnl *h;
	uint32_t mask;

	h = new_handle(&fake);
	q.pid = 100;
	q.off = 1;
	must(pfnl_info(h, &info), "info");
	must(pfnl_setting_set(h, &q, &s), "set");
	must(pfnl_setting_list(h, 0, 0, NULL, on_setting, &n), "list");
	must(pfnl_core_list(h, true, NULL, on_core, &n), "cores");
	must(!pfnl_setting_get(h, 999, 0, &s) || !pfnl_errmsg(h)[0], "refusal");
	must(pfnl_subscribe(h, PFNL_GROUP_CORE, 0), "subscribe");
	fake_core_event(fake, &event);
	fake_event_error(fake, 105);
	must(pfnl_dispatch(h, on_event, &n), "dispatch");
	fake_unload(fake);
	must(pfnl_dispatch(h, on_event, &n), "dispatch");
	must(!pfnl_info(h, &info), "info of nothing");
	must(pfnl_name_to_mask("dcu-ip", &mask, NULL), "name");
	must(!pfnl_mask_names(0xffff, names, sizeof(names)), "names");
	pfnl_close(h);
}

static void *alone(void *arg)
{
	int i;

	(void)arg;
	for (i = 0; i < ROUNDS; i++)
		one_round(NULL);
	return NULL;
}

static void *together(void *arg)
{
	struct pfnl_setting s;
	int i;

	(void)arg;
	/* Refused before anything is sent: only the handle is shared. */
	for (i = 0; i < ROUNDS; i++)
		pfnl_setting_get(shared, -1, 0, &s);
	return NULL;
}

int main(int argc, char **argv)
{
	bool share = argc > 1 && !strcmp(argv[1], "shared");
	pthread_t threads[4];
	struct fake *fake;
	size_t i;

	if (share)
		shared = new_handle(&fake);
	for (i = 0; i < 4; i++)
		must(pthread_create(&threads[i], NULL, share ? together : alone,
				    NULL),
		     "pthread_create");
	for (i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	pfnl_close(shared);
	return 0;
}
