// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Follows what is programmed on all cores: follow-cores [EVENTS]
 *
 * Whatever is lost, or if the module is loaded again, the state is given anew;
 * so what is known here of a core is never older than the last line.
 */
#include <poll.h>
#include <prefetchnl.h>
#include <stdio.h>
#include <stdlib.h>

static unsigned long wanted; /* 0: for ever */
static unsigned long told;

static void print_core(uint32_t core, uint32_t mask)
{
	char names[PFNL_MASK_NAMES_SIZE];

	pfnl_mask_names(mask, names, sizeof(names));
	printf("core %u: off are %s\n", core, mask ? names : "none");
}

static int on_event(const struct pfnl_event *event, void *arg)
{
	(void)arg;
	switch (event->kind) {
	case PFNL_EVENT_STATE_CORE:
		print_core(event->u.state_core.domain,
			   event->u.state_core.effective);
		return 0;
	case PFNL_EVENT_CORE:
		print_core(event->u.core.domain, event->u.core.new_mask);
		return wanted && ++told >= wanted;
	case PFNL_EVENT_LOST:
		printf("lost %llu changes\n",
		       (unsigned long long)event->u.lost.changes);
		return 0;
	case PFNL_EVENT_GONE:
		printf("the module was unloaded\n");
		return 0;
	case PFNL_EVENT_RESYNC_END:
		return event->u.resync.error;
	default:
		return 0;
	}
}

int main(int argc, char **argv)
{
	struct pollfd p = { .events = POLLIN };
	struct pfnl *h;
	int r;

	if (argc > 1)
		wanted = strtoul(argv[1], NULL, 10);
	if (pfnl_open(&h))
		return 2;
	r = pfnl_subscribe(h, PFNL_GROUP_CORE, 0);
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
