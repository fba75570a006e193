// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Listeners that sleep, that watch the core they run on, and that see the
 * module come and go.
 */
#include "actor.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"
#include "request.h"

#define SLEPT_THROUGH rounds_of(200000)

/* So long nothing may happen on a machine that has settled. */
#define QUIET_MS       1000

#define MONITOR_OUTPUT "/tmp/monitor-output"

struct heard {
	struct pfnl *h;
	struct check *c;
	uint64_t folded; /* changes that were told */
	uint64_t lost;	 /* changes that were told to be lost */
	unsigned int losses;
	unsigned int resyncs;
	unsigned int events;
	bool inexact;
	uint32_t mask[8]; /* by domain, as last told */
};

static void take_state(struct heard *l, uint32_t domain, uint32_t mask)
{
	if (domain < ARRAY_SIZE(l->mask))
		l->mask[domain] = mask;
}

static int take(const struct pfnl_event *e, void *arg)
{
	struct heard *l = arg;

	switch (e->kind) {
	case PFNL_EVENT_CORE:
		l->events++;
		l->folded += e->u.core.folded;
		take_state(l, e->u.core.domain, e->u.core.new_mask);
		break;
	case PFNL_EVENT_LOST:
		l->losses++;
		l->lost += e->u.lost.changes;
		l->inexact |= !e->u.lost.known || !e->u.lost.changes_known;
		break;
	case PFNL_EVENT_STATE_CORE:
		take_state(l, e->u.state_core.domain,
			   e->u.state_core.effective);
		break;
	case PFNL_EVENT_RESYNC_END:
		l->resyncs++;
		expect(l->c, !e->u.resync.error, "no state: %s",
		       e->u.resync.message);
		break;
	default:
		break;
	}
	return 0;
}

static void drain(struct heard *l)
{
	int err = take_events(l->h, take, l);

	expect(l->c, !err, "dispatch: %s", strerror(-err));
}

static void listen_on(struct heard *l, struct check *c, size_t buffer)
{
	int err;

	*l = (struct heard){ .c = c };
	err = pfnl_open(&l->h);
	if (!err)
		err = pfnl_set_receive_buffer(l->h, buffer);
	if (!err)
		err = pfnl_subscribe(l->h, PFNL_GROUP_CORE, 0);
	if (err)
		die("cannot subscribe: %s", strerror(-err));
	while (pfnl_events_pending(l->h))
		drain(l);
	expect(c, l->resyncs == 1, "%u states at the start", l->resyncs);
}

/* Nothing changes any more, and all that was told has been heard. */
static bool quiet(struct heard *l)
{
	uint64_t total = info().core_total;
	uint64_t end = now_ms() + QUIET_MS;

	do {
		drain(l);
	} while (now_ms() < end);
	return info().core_total == total && !pfnl_events_pending(l->h);
}

static void expect_agreement(struct heard *l)
{
	for (int d = 0; d < domain_count(); d++) {
		struct core_state now = core_state(d);

		expect(l->c, l->mask[d] == now.effective,
		       "domain %d was told to be 0x%x and is 0x%x", d,
		       l->mask[d], now.effective);
		expect(l->c, reg(domain_cpu(d)) == now.effective,
		       "the register of domain %d differs", d);
	}
}

/* Two tasks with different masks take turns; each turn changes the core. */
static void lost(struct check *c)
{
	int cpu = domain_cpu(0);
	struct actor *a = actor_new(cpu);
	struct actor *b = actor_new(cpu);
	uint64_t before, total, end;
	struct heard l;

	expect(c, !set_pid(a->pid, L1_IP, 0), "set failed");
	expect(c, !set_pid(b->pid, L2_STREAM | L1_IP, 0), "set failed");
	listen_on(&l, c, 4096);
	before = info().core_total;
	actor_mode(a, ACTOR_YIELD, 0);
	actor_mode(b, ACTOR_YIELD, 0);
	/* The listener sleeps meanwhile: it does not read. */
	end = now_ms() + 8 * PATIENCE_MS;
	while (info().core_total - before < SLEPT_THROUGH && now_ms() < end)
		nap();
	actor_sleep(a);
	actor_sleep(b);
	expect(c, wait_for(quiet(&l)), "the machine does not settle");
	total = info().core_total - before;
	expect(c, total >= SLEPT_THROUGH, "only %llu changes",
	       (unsigned long long)total);
	expect(c, l.losses > 0, "nothing was lost in %llu changes",
	       (unsigned long long)total);
	expect(c, !l.inexact, "the count of what was lost is not exact");
	expect(c, l.folded + l.lost == total,
	       "%llu told and %llu lost of %llu changes",
	       (unsigned long long)l.folded, (unsigned long long)l.lost,
	       (unsigned long long)total);
	expect(c, l.resyncs >= 2, "no state after the loss");
	expect_agreement(&l);
	printf("figure %s changes=%llu lost=%llu losses=%u\n", c->name,
	       (unsigned long long)total, (unsigned long long)l.lost, l.losses);
	pfnl_close(l.h);
}

static void settle_on(struct check *c, int cpu)
{
	struct actor *a = actor_new(domain_cpu(0));
	struct heard l;

	expect(c, !set_pid(a->pid, L1_IP, 0), "set failed");
	listen_on(&l, c, 0);
	pin(getpid(), cpu);
	/* Each waking of the listener takes the core from the mask. */
	for (int i = 0; i < 3; i++) {
		actor_spin(a);
		for (int n = 0; n < 10; n++)
			drain(&l);
		actor_sleep(a);
		expect(c, wait_for(quiet(&l)),
		       "CPU %d: a sleeping task and a listener, and still "
		       "%llu changes",
		       cpu, (unsigned long long)info().core_total);
	}
	expect(c, l.events > 0, "nothing was heard");
	pin(getpid(), home_cpu());
	pfnl_close(l.h);
	actors_end();
}

/* Also where the listener itself changes what it watches. */
static void settles(struct check *c)
{
	settle_on(c, domain_cpu(0));
	settle_on(c, domain_cpu(0) + 1);
	settle_on(c, home_cpu());
}

static bool monitor_said(const char *word)
{
	static char text[65536];
	int fd = open(MONITOR_OUTPUT, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	return strstr(text, word) != NULL;
}

static pid_t monitor_start(void)
{
	pid_t pid = fork();

	if (!pid) {
		int fd = open(MONITOR_OUTPUT, O_WRONLY | O_CREAT | O_TRUNC,
			      0600);

		dup2(fd, STDOUT_FILENO);
		execlp("prefetch-monitor", "prefetch-monitor", "--json",
		       (char *)NULL);
		_exit(127);
	}
	return pid;
}

static void reload(struct check *c)
{
	struct actor *a = actor_new(domain_cpu(0));
	pid_t monitor;
	int status;

	unlink(MONITOR_OUTPUT);
	monitor = monitor_start();
	expect(c, wait_for(monitor_said("\"complete\":true")),
	       "the monitor does not begin with the state");
	expect(c, !module_unload(), "cannot unload");
	expect(c, wait_for(monitor_said("\"kind\":\"gone\"")),
	       "the monitor does not say that the module is gone");
	expect(c, !module_load(""), "cannot load");
	expect(c, wait_for(monitor_said("\"reason\":\"module-loaded\"")),
	       "the monitor does not say that the module is back");
	expect(c, !monitor_said("\"kind\":\"setting\""), "too early");
	expect(c, !set_pid(a->pid, L1_IP, 0), "set failed");
	expect(c, wait_for(monitor_said("\"kind\":\"setting\"")),
	       "the monitor does not go on");
	kill(monitor, SIGINT);
	expect(c, waitpid(monitor, &status, 0) == monitor && status == 0,
	       "the monitor ended with 0x%x", (unsigned int)status);
	expect(c, monitor_said("\"kind\":\"bye\""), "no last word");
	unlink(MONITOR_OUTPUT);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "listen_lost", lost },
		{ "listen_settles", settles },
		{ "listen_reload", reload },
	};

	return harness_main(argc, argv, tests, ARRAY_SIZE(tests));
}
