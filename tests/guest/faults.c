// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Each allocation that a request makes fails once. Then either the request
 * ends with an error, and nothing has changed: no setting, no default, no
 * register, not even a register write; or it is done in full.
 */
#include "actor.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"
#include "inject.h"
#include "request.h"

#define MSR	0x1a4
#define FOREIGN 0x8 /* what somebody else writes into the register */
#define MOST	100 /* more allocations than any request makes */
#define CORES	8

/* All that a request can change. */
struct state {
	unsigned long settings;
	uint64_t sum; /* of what the settings say */
	uint32_t default_off;
	uint32_t default_on;
	uint64_t foreign;
	uint64_t dropped;
	struct core_state core[CORES];
	uint64_t reg[CORES];
};

/* Spins on the first core, so that what the core shows comes from it. */
static struct actor *target;

static int add_setting(const struct pfnl_setting *s, void *arg)
{
	struct state *state = arg;

	state->settings++;
	state->sum = state->sum * 31 + s->pid + s->tid * 3ULL +
		     ((uint64_t)s->off << 32 | s->on) * 5 + s->inherit;
	return 0;
}

static struct state look(void)
{
	struct state s = { 0 };
	struct pfnl_info i = info();
	int err = pfnl_setting_list(handle(), 0, 0, NULL, add_setting, &s);

	if (err)
		die("cannot list the settings: %s", pfnl_errmsg(handle()));
	s.default_off = i.default_off;
	s.default_on = i.default_on;
	s.foreign = i.foreign_writes;
	s.dropped = i.dropped_inherits;
	for (int d = 0; d < domain_count() && d < CORES; d++) {
		s.core[d] = core_state(d);
		s.reg[d] = reg(domain_cpu(d));
	}
	return s;
}

static void expect_same(struct check *c, const struct state *was, long n)
{
	struct state is = look();

	expect(c, is.settings == was->settings && is.sum == was->sum,
	       "allocation %ld: the settings are others", n);
	expect(c,
	       is.default_off == was->default_off &&
		       is.default_on == was->default_on,
	       "allocation %ld: the default is off=0x%x on=0x%x", n,
	       is.default_off, is.default_on);
	expect(c, is.foreign == was->foreign && is.dropped == was->dropped,
	       "allocation %ld: something was counted", n);
	for (int d = 0; d < domain_count() && d < CORES; d++) {
		expect(c, is.reg[d] == was->reg[d],
		       "allocation %ld: register of core %d is 0x%llx", n, d,
		       (unsigned long long)is.reg[d]);
		expect(c, is.core[d].writes == was->core[d].writes,
		       "allocation %ld: core %d was written", n, d);
	}
}

/*
 * A request: what has to be there before it, the request itself, whether it
 * took effect, and how to undo that. All but `run` may be missing. A frugal one
 * makes no allocation of its own.
 */
struct request {
	bool frugal;
	void (*before)(struct check *c);
	int (*run)(void);
	bool (*done)(void);
	int (*undo)(void);
};

static void each(struct check *c, const struct request *r)
{
	unsigned long errors = 0, failed = 0;
	struct state was;
	bool hit = true;

	if (!inject_ready(c))
		return;
	target = actor_new(domain_cpu(0));
	actor_spin(target);
	for (long n = 1; hit && n <= MOST; n++) {
		int err;

		if (r->before)
			r->before(c);
		was = look();
		inject_nth(n);
		err = r->run();
		hit = inject_hit();
		failed += hit;
		if (err) {
			errors++;
			expect(c, hit, "no fault, and it ends with %d", err);
			expect(c, err == -ENOMEM || err == -ENOBUFS,
			       "allocation %ld: %s", n, strerror(-err));
			expect_same(c, &was, n);
			continue;
		}
		expect(c, !r->done || r->done(),
		       "allocation %ld: told as done, and is not", n);
		expect(c, !r->undo || !r->undo(), "cannot be undone");
	}
	expect(c, !hit, "it never ends");
	expect(c, !failed == r->frugal, "%lu allocations", failed);
	printf("figure %s faults=%lu errors=%lu\n", c->name, failed, errors);
	actors_end();
}

static void had_setting(struct check *c)
{
	expect(c, !set_pid_inherit(target->pid, L1_IP, L2_STREAM),
	       "set failed");
}

static int undo_process(void)
{
	return clear_pid(target->pid);
}

static int run_set(void)
{
	return set_pid_inherit(target->pid, L1_IP, 0);
}

static bool done_set(void)
{
	return get_pid(target->pid).off == L1_IP &&
	       get_pid(target->pid).inherit && reg_of(target) == L1_IP;
}

static void set(struct check *c)
{
	each(c, &(struct request){ .run = run_set,
				   .done = done_set,
				   .undo = undo_process });
}

static int run_thread(void)
{
	return set_tid(target->tid, L2_ADJACENT, 0);
}

static bool done_thread(void)
{
	return get_tid(target->tid).off == L2_ADJACENT &&
	       reg_of(target) == L2_ADJACENT;
}

static int undo_thread(void)
{
	return clear_tid(target->tid);
}

static void set_thread(struct check *c)
{
	each(c, &(struct request){ .run = run_thread,
				   .done = done_thread,
				   .undo = undo_thread });
}

/* A setting that is there is changed, and stays if it cannot be. */
static void change(struct check *c)
{
	each(c, &(struct request){ .before = had_setting,
				   .run = run_set,
				   .done = done_set });
	clear_pid(target->pid);
}

static int run_clear(void)
{
	return clear_pid(target->pid);
}

static bool done_clear(void)
{
	return !get_pid(target->pid).present && reg_of(target) == 0;
}

static void clear(struct check *c)
{
	each(c, &(struct request){ .before = had_setting,
				   .run = run_clear,
				   .done = done_clear });
}

static struct pfnl_setting got;

static int run_get(void)
{
	memset(&got, 0, sizeof(got));
	return pfnl_setting_get(handle(), target->pid, 0, &got);
}

static bool done_get(void)
{
	return got.present && got.off == L1_IP && got.on == L2_STREAM;
}

static void get(struct check *c)
{
	each(c, &(struct request){ .before = had_setting,
				   .run = run_get,
				   .done = done_get });
}

static unsigned int listed;

static int count_setting(const struct pfnl_setting *s, void *arg)
{
	(void)arg;
	listed += s->pid == (uint32_t)target->pid;
	return 0;
}

static int run_list(void)
{
	listed = 0;
	return pfnl_setting_list(handle(), 0, 0, NULL, count_setting, NULL);
}

static int run_list_pid(void)
{
	listed = 0;
	return pfnl_setting_list(handle(), target->pid, 0, NULL, count_setting,
				 NULL);
}

static bool done_list(void)
{
	return listed == 1;
}

static void list(struct check *c)
{
	each(c, &(struct request){ .before = had_setting,
				   .run = run_list,
				   .done = done_list });
}

static void list_pid(struct check *c)
{
	each(c, &(struct request){ .before = had_setting,
				   .run = run_list_pid,
				   .done = done_list });
}

static int run_default(void)
{
	return set_default(L1_STREAM, 0);
}

static bool done_default(void)
{
	return info().default_off == L1_STREAM && reg_of(target) == L1_STREAM;
}

static int undo_default(void)
{
	return set_default(0, 0);
}

static void defaults(struct check *c)
{
	each(c, &(struct request){ .run = run_default,
				   .done = done_default,
				   .undo = undo_default });
}

static void had_default(struct check *c)
{
	expect(c, !run_default(), "no machine default");
}

static bool done_default_clear(void)
{
	return !info().default_off && reg_of(target) == 0;
}

static void default_clear(struct check *c)
{
	each(c, &(struct request){ .before = had_default,
				   .run = undo_default,
				   .done = done_default_clear });
}

static int run_info(void)
{
	struct pfnl_info i;

	return pfnl_info(handle(), &i);
}

static void infos(struct check *c)
{
	each(c, &(struct request){ .run = run_info });
}

static int count_any(const struct pfnl_prefetcher *p, void *arg)
{
	(void)p;
	(void)arg;
	listed++;
	return 0;
}

static int run_prefetchers(void)
{
	listed = 0;
	return pfnl_prefetcher_list(handle(), count_any, NULL);
}

static bool done_prefetchers(void)
{
	return listed == 4;
}

static void prefetchers(struct check *c)
{
	each(c, &(struct request){ .frugal = true,
				   .run = run_prefetchers,
				   .done = done_prefetchers });
}

static unsigned int differ;

static int count_core(const struct pfnl_core *core, void *arg)
{
	(void)arg;
	listed++;
	differ += core->verified && core->differs;
	return 0;
}

static int run_core(void)
{
	struct pfnl_core core = { 0 };
	int err = pfnl_core_get(handle(), 0, true, &core);

	listed = (int)core.n_cpus == cpu_count() / domain_count();
	differ = core.differs;
	pfnl_core_clear(&core);
	return err;
}

static bool done_core(void)
{
	return listed == 1 && differ == 1;
}

static int run_cores(void)
{
	listed = 0;
	differ = 0;
	return pfnl_core_list(handle(), true, NULL, count_core, NULL);
}

static bool done_cores(void)
{
	return (int)listed == domain_count() && differ == 1;
}

/* Somebody else writes the register. */
static void write_foreign(struct check *c)
{
	uint64_t value = FOREIGN;
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/dev/cpu/%d/msr", target->cpu);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	expect(c, fd >= 0 && pwrite(fd, &value, sizeof(value), MSR) == 8,
	       "cannot write the register: %s", strerror(errno));
	close(fd);
}

static int run_repair(void)
{
	return pfnl_core_repair(handle(), PFNL_DOMAIN_ALL, NULL, NULL);
}

static bool done_repair(void)
{
	return reg(target->cpu) == options.baseline;
}

static void core(struct check *c)
{
	each(c, &(struct request){ .before = write_foreign,
				   .run = run_core,
				   .done = done_core,
				   .undo = run_repair });
	run_repair();
}

static void cores(struct check *c)
{
	each(c, &(struct request){ .before = write_foreign,
				   .run = run_cores,
				   .done = done_cores,
				   .undo = run_repair });
	run_repair();
}

/* Not half of it: the foreign value is there, or it is repaired. */
static void repair(struct check *c)
{
	each(c, &(struct request){ .before = write_foreign,
				   .run = run_repair,
				   .done = done_repair });
}

static struct {
	struct pfnl *h;
	bool complete;
	int error;
} listener;

static int take(const struct pfnl_event *e, void *arg)
{
	(void)arg;
	if (e->kind != PFNL_EVENT_RESYNC_END)
		return 0;
	listener.complete = true;
	listener.error = e->u.resync.error;
	return 0;
}

static int run_subscribe(void)
{
	int err = pfnl_subscribe(listener.h,
				 PFNL_GROUP_CORE | PFNL_GROUP_SETTING, 0);

	while (!err && !listener.complete)
		err = pfnl_dispatch(listener.h, take, NULL);
	return err ? err : listener.error;
}

static void open_listener(struct check *c)
{
	pfnl_close(listener.h);
	memset(&listener, 0, sizeof(listener));
	expect(c, !pfnl_open(&listener.h), "cannot open a handle");
}

static void subscribe(struct check *c)
{
	each(c, &(struct request){ .before = open_listener,
				   .run = run_subscribe });
	pfnl_close(listener.h);
	listener.h = NULL;
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "faults_set", set },
		{ "faults_set_thread", set_thread },
		{ "faults_change", change },
		{ "faults_clear", clear },
		{ "faults_get", get },
		{ "faults_list", list },
		{ "faults_list_pid", list_pid },
		{ "faults_default", defaults },
		{ "faults_default_clear", default_clear },
		{ "faults_info", infos },
		{ "faults_prefetchers", prefetchers },
		{ "faults_core", core },
		{ "faults_cores", cores },
		{ "faults_repair", repair },
		{ "faults_subscribe", subscribe },
	};

	return harness_main(argc, argv, tests, ARRAY_SIZE(tests));
}
