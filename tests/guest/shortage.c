// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Memory runs out elsewhere than in a request: while the module is loaded and
 * unloaded, while it attaches to the scheduler, when settings are inherited,
 * when CPUs come back, and where changes are told.
 */
#include "actor.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"
#include "inject.h"
#include "request.h"

/* Settings that the module keeps ready for children. */
#define SPARES 1024
/* More allocations than load makes beside these, each a load of its own. */
#define MOST 1000

enum end { REFUSED, TOLERATED, NOT_REACHED };

/* What came of all loads so far. */
struct loads {
	unsigned long faults;
	unsigned long errors;
};

static void expect_firmware(struct check *c, const char *when)
{
	for (int cpu = 0; cpu < cpu_count(); cpu++)
		expect(c, reg(cpu) == options.baseline,
		       "%s: register of CPU %d is 0x%llx", when, cpu,
		       (unsigned long long)reg(cpu));
}

static bool loaded(void)
{
	return have_file("/sys/module/prefetch/refcnt");
}

/* Load with the N-th allocation failing, if there is one. */
static enum end load_once(struct check *c, long n, struct loads *loads)
{
	bool hit;
	int err;

	inject_nth(n);
	err = module_load("");
	hit = inject_hit();
	loads->faults += hit;
	if (err) {
		loads->errors++;
		expect(c, hit, "no fault, and load ends with %d", err);
		expect(c, err == -ENOMEM, "allocation %ld: load says %s", n,
		       strerror(-err));
		expect(c, !loaded(), "allocation %ld: it is half loaded", n);
		expect_firmware(c, "not loaded");
		return REFUSED;
	}
	expect(c, loaded(), "allocation %ld: it is not loaded", n);
	err = module_unload();
	expect(c, !err, "allocation %ld: cannot unload: %s", n, strerror(-err));
	expect_firmware(c, "unloaded");
	return hit ? TOLERATED : NOT_REACHED;
}

/*
 * Fewer spare settings are no reason not to load, and there are many, each with
 * one allocation or more: after three that do no harm, the end of those is
 * next. Other stretches that do no harm are gone through in steps, unless the
 * command line says --rounds=1, and with one step back where they end.
 */
static void load(struct check *c)
{
	long most_step = options.rounds ? (long)options.rounds : 32;
	struct loads loads = { 0 };
	long n = 1, step = 1, last = 0;
	bool skipped = false;
	int tolerated = 0;

	if (!inject_ready(c))
		return;
	expect(c, !module_unload(), "cannot unload");
	inject_quietly();
	while (loads.faults < MOST) {
		enum end end = load_once(c, n, &loads);

		if (end == TOLERATED) {
			last = n;
			tolerated++;
			if (tolerated == 3 && !skipped) {
				n += SPARES - 4;
				skipped = true;
			} else if (tolerated > 3) {
				step = most_step;
			}
			n += step;
		} else if (step > 1) {
			n -= step - 1;
			step = 1;
			tolerated = 0;
		} else if (end == NOT_REACHED) {
			break;
		} else {
			last = n++;
			tolerated = 0;
		}
	}
	inject_loudly(c);
	expect(c, loads.faults < MOST, "it never ends");
	expect(c, loads.errors > 0, "it needs no memory");
	expect(c, !module_load(""), "cannot load");
	printf("figure %s faults=%lu errors=%lu allocations=%ld\n", c->name,
	       loads.faults, loads.errors, last);
}

/* There is no way back from unload, so it has to work. */
static void unload(struct check *c)
{
	unsigned long faults = 0;
	bool hit = true;

	if (!inject_ready(c))
		return;
	inject_quietly();
	for (long n = 1; hit && n <= MOST; n++) {
		struct actor *a = actor_new(domain_cpu(0));
		int err;

		expect(c, !set_pid_inherit(a->pid, L1_IP, 0), "set failed");
		actor_spin(a);
		inject_nth(n);
		err = module_unload();
		hit = inject_hit();
		faults += hit;
		expect(c, !err && !loaded(), "allocation %ld: %s", n,
		       strerror(-err));
		expect_firmware(c, "unloaded");
		actors_end();
		expect(c, !module_load(""), "cannot load");
	}
	inject_loudly(c);
	expect(c, !hit, "it never ends");
	printf("figure %s faults=%lu\n", c->name, faults);
}

/* The first setting: the probes are attached, all of them or none. */
static void attach(struct check *c)
{
	unsigned long faults = 0, errors = 0;
	bool hit = true;

	if (!inject_ready(c))
		return;
	for (long n = 1; hit && n <= MOST; n++) {
		struct actor *a = actor_new(domain_cpu(0));
		int err;

		actor_spin(a);
		expect(c, wait_for(!info().attached), "probes stay attached");
		inject_nth(n);
		err = set_pid(a->pid, L1_IP, 0);
		hit = inject_hit();
		faults += hit;
		if (err) {
			errors++;
			expect(c, err == -ENOMEM, "allocation %ld: %s", n,
			       strerror(-err));
			expect(c, !request_settings(), "a setting is left");
			expect(c, wait_for(!info().attached),
			       "allocation %ld: probes are attached", n);
		} else {
			expect(c, info().attached && reg_of(a) == L1_IP,
			       "allocation %ld: no effect", n);
		}
		actors_end();
		expect_firmware(c, "afterwards");
	}
	expect(c, !hit, "it never ends");
	/* A setting, a reply, three probes. */
	expect(c, errors >= 4, "only %lu errors", errors);
	printf("figure %s faults=%lu errors=%lu\n", c->name, faults, errors);
}

/* Events of a listener, as far as they matter here. */
struct heard {
	unsigned int lost;
	unsigned int dropped;
	unsigned int inherited;
	unsigned int settings;
	bool complete;
};

static int hear(const struct pfnl_event *e, void *arg)
{
	struct heard *heard = arg;

	switch (e->kind) {
	case PFNL_EVENT_LOST:
		heard->lost++;
		break;
	case PFNL_EVENT_RESYNC_END:
		heard->complete = !e->u.resync.error;
		break;
	case PFNL_EVENT_SETTING:
		heard->settings++;
		heard->dropped += e->u.setting.change ==
				  PREFETCH_CHANGE_DROPPED;
		heard->inherited += e->u.setting.change ==
				    PREFETCH_CHANGE_INHERITED;
		break;
	default:
		break;
	}
	return 0;
}

/* True while there is no reason to stop. */
static bool drain(struct pfnl *h, struct heard *heard)
{
	return !take_events(h, hear, heard);
}

static struct pfnl *listen_to(struct heard *heard, unsigned int groups)
{
	struct pfnl *h;

	if (pfnl_open(&h) || pfnl_subscribe(h, groups, 0))
		die("cannot subscribe");
	wait_for(drain(h, heard) && heard->complete);
	return h;
}

/* A process of no memory of its own, gone at once. */
static int vanish(void *arg)
{
	(void)arg;
	_exit(0);
}

static pid_t beget(void)
{
	static char stack[16384] __attribute__((aligned(16)));
	pid_t pid = clone(vanish, stack + sizeof(stack),
			  CLONE_VM | CLONE_VFORK | SIGCHLD, NULL);

	if (pid < 0 || waitpid(pid, NULL, 0) != pid)
		die("cannot fork: %s", strerror(errno));
	return pid;
}

/* Forks go on without memory for what they inherit, and it is counted. */
static void inherit(struct check *c)
{
	uint64_t before = info().dropped_inherits;
	struct heard heard = { 0 };
	struct actor *parent, *child;
	unsigned int most = SPARES + SPARES / 8;
	unsigned int forks = 0;
	struct pfnl *h;
	uint64_t dropped;

	if (!inject_ready(c))
		return;
	parent = actor_new(domain_cpu(0));
	h = listen_to(&heard, PFNL_GROUP_SETTING);
	expect(c, !set_pid_inherit(getpid(), L1_IP, 0), "set failed");
	expect(c, !set_pid_inherit(parent->pid, L1_IP, 0), "set failed");
	inject_quietly();
	inject_all(100);
	for (; forks < most; forks++)
		beget();
	/* What is on its way to fetch more is to fail as well. */
	usleep(300000);
	inject_all(0);
	inject_loudly(c);
	dropped = info().dropped_inherits - before;
	expect(c, dropped >= forks - SPARES && dropped < forks,
	       "%llu of %u inherits were dropped", (unsigned long long)dropped,
	       forks);
	expect(c, request_settings() == 2, "%ld settings", request_settings());

	/* There is memory, but not yet for this one. It is told. */
	while (drain(h, &heard) && pfnl_events_pending(h))
		;
	heard.dropped = 0;
	child = actor_fork(parent, domain_cpu(0));
	expect(c, !get_pid(child->pid).present, "there was one left");
	expect(c, info().dropped_inherits == before + dropped + 1,
	       "the last one was not counted");
	wait_for(drain(h, &heard) && heard.dropped);
	expect(c, heard.dropped == 1, "told of %u dropped", heard.dropped);
	/* And now it is as ever. */
	child = actor_fork(parent, domain_cpu(0));
	expect(c, get_pid(child->pid).off == L1_IP, "nothing was inherited");
	actor_spin(child);
	expect(c, reg_of(child) == L1_IP, "the child has no effect");
	expect(c, !clear_pid(getpid()), "clear failed");
	pfnl_close(h);
	printf("figure %s faults=%lu forks=%u dropped=%llu\n", c->name,
	       inject_count(), forks, (unsigned long long)dropped + 1);
}

#define CHANGES 60

/* So many were told or lost since. While memory is short, asking may fail. */
static bool told_or_lost(uint64_t before, uint64_t changes)
{
	struct pfnl_info now;

	return !pfnl_info(handle(), &now) &&
	       now.setting_total - before == changes;
}

/* What could not be told is counted, and told once there is memory again. */
static void events(struct check *c)
{
	struct heard heard = { 0 };
	struct pfnl_info before = info();
	unsigned int refused = 0;
	struct pfnl_info after;
	struct actor *a;
	struct pfnl *h;
	uint64_t lost;

	if (!inject_ready(c))
		return;
	a = actor_new(domain_cpu(0));
	h = listen_to(&heard, PFNL_GROUP_CORE | PFNL_GROUP_SETTING);
	actor_spin(a);
	inject_quietly();
	inject_all(50);
	for (uint32_t i = 0; i < CHANGES; i++) {
		int err = set_pid(a->pid, 1 + i % ALL_FOUR, 0);

		expect(c, !err || err == -ENOMEM, "set: %s", strerror(-err));
		refused += !!err;
	}
	expect(c,
	       wait_for(told_or_lost(before.setting_total, CHANGES - refused)),
	       "changes are neither told nor lost");
	inject_all(0);
	inject_loudly(c);
	expect(c, !set_pid(a->pid, ALL_FOUR, 0), "set failed");
	expect(c, reg_of(a) == ALL_FOUR, "register is 0x%llx",
	       (unsigned long long)reg_of(a));
	expect(c, !clear_pid(a->pid), "clear failed");
	after = info();
	lost = after.setting_events_lost - before.setting_events_lost;
	expect(c, refused > 0 && refused < CHANGES, "%u of %d were refused",
	       refused, CHANGES);
	expect(c, lost > 0, "no event was lost");
	wait_for(drain(h, &heard) && heard.lost);
	expect(c, heard.lost > 0, "nobody says that events were lost");
	/* Told or lost, but none forgotten: each request that took effect. */
	expect(c,
	       wait_for(told_or_lost(before.setting_total,
				     CHANGES - refused + 2)),
	       "%llu changes counted, not %u",
	       (unsigned long long)(info().setting_total -
				    before.setting_total),
	       CHANGES - refused + 2);
	pfnl_close(h);
	printf("figure %s faults=%lu requests=%d refused=%u lost=%llu\n",
	       c->name, inject_count(), CHANGES + 2, refused,
	       (unsigned long long)lost);
}

static void set_online(int cpu, bool online)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online",
		 cpu);
	write_text(path, online ? "1" : "0");
}

/* A CPU that comes back needs no memory of ours. */
static void online(struct check *c)
{
	int cpu = domain_cpu(0) + 1;
	struct actor *a;

	if (!inject_ready(c))
		return;
	a = actor_new(domain_cpu(0));
	expect(c, !set_pid(a->pid, L1_IP | L2_STREAM, 0), "set failed");
	actor_spin(a);
	inject_all(100);
	set_online(cpu, false);
	expect(c, reg_of(a) == (L1_IP | L2_STREAM), "off: 0x%llx",
	       (unsigned long long)reg_of(a));
	set_online(cpu, true);
	inject_all(0);
	expect(c, reg_of(a) == (L1_IP | L2_STREAM), "on: 0x%llx",
	       (unsigned long long)reg_of(a));
	actor_move(a, cpu);
	expect(c, reg_of(a) == (L1_IP | L2_STREAM), "moved: 0x%llx",
	       (unsigned long long)reg_of(a));
	expect(c, inject_count() == 0, "%lu allocations in the way",
	       inject_count());
	printf("figure %s faults=%lu\n", c->name, inject_count());
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "shortage_attach", attach }, { "shortage_inherit", inherit },
		{ "shortage_events", events }, { "shortage_online", online },
		{ "shortage_unload", unload }, { "shortage_load", load },
	};

	return harness_main(argc, argv, tests, ARRAY_SIZE(tests));
}
