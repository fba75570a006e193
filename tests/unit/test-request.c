// SPDX-License-Identifier: GPL-2.0-or-later
/* Every request of the library, as it goes when nothing is wrong. */
#include <unistd.h>

#include "common.h"

static void test_info(void **state)
{
	struct bench *b = *state;
	struct pfnl_info info;

	b->fake->default_off = 2;
	b->fake->register_writes = UINT64_C(1) << 40;
	b->fake->core_seq = 9;
	b->fake->setting_seq = 8;
	b->fake->core_total = 7;
	b->fake->setting_total = UINT64_C(1) << 33;
	memset(&info, 0xff, sizeof(info));
	assert_int_equal(pfnl_info(b->h, &info), 0);
	assert_string_equal(pfnl_errmsg(b->h), "");
	assert_null(pfnl_errattr(b->h));
	assert_int_equal(info.backend, PREFETCH_BACKEND_MSR);
	assert_string_equal(info.version, "0.1.0");
	assert_string_equal(info.cpu_vendor, "GenuineIntel");
	assert_int_equal(info.cpu_family, 6);
	assert_int_equal(info.cpu_model, 85);
	assert_int_equal(info.cpu_stepping, 4);
	assert_false(info.hypervisor);
	assert_false(info.attached);
	assert_true(info.unprivileged);
	assert_true(info.events_here);
	assert_int_equal(info.domains, 2);
	assert_int_equal(info.supported, 0xf);
	assert_int_equal(info.default_off, 2);
	assert_int_equal(info.default_on, 0);
	assert_int_equal(info.settings, 0);
	assert_int_equal(info.max_settings, 100000);
	assert_int_equal(info.max_user_settings, 4096);
	assert_int_equal(info.setting_size, 96);
	assert_int_equal(info.event_interval, 10);
	assert_int_equal(info.core_seq, 9);
	assert_int_equal(info.setting_seq, 8);
	assert_int_equal(info.core_total, 7);
	assert_true(info.setting_total == UINT64_C(1) << 33);
	assert_true(info.register_writes == UINT64_C(1) << 40);
	assert_int_equal(info.reserved[14], 0);
}

static int count_prefetcher(const struct pfnl_prefetcher *p, void *arg)
{
	unsigned int *n = arg;
	const struct pfnl_name *name = &pfnl_names(NULL)[p->id];

	assert_string_equal(p->name, name->name);
	assert_string_equal(p->description, name->description);
	assert_int_equal(p->n_locations, 1);
	assert_int_equal(p->locations[0].reg, 0x1a4);
	assert_int_equal(p->locations[0].shift, p->id);
	assert_int_equal(p->locations[0].width, 1);
	assert_int_equal(p->locations[0].off_value, 1);
	assert_int_equal(p->locations[0].domains, 2);
	assert_int_equal(p->locations[0].baseline_off, p->id == 0 ? 1 : 0);
	++*n;
	return 0;
}

static int stop_at_once(const struct pfnl_prefetcher *p, void *arg)
{
	++*(unsigned int *)arg;
	return 17 + (int)p->id;
}

static void test_prefetchers(void **state)
{
	struct bench *b = *state;
	unsigned int n = 0;

	b->fake->domains[1].baseline = 1;
	assert_int_equal(pfnl_prefetcher_list(b->h, count_prefetcher, &n), 0);
	assert_int_equal(n, 4);
	n = 0;
	assert_int_equal(pfnl_prefetcher_list(b->h, stop_at_once, &n), 17);
	assert_int_equal(n, 1);
}

static void test_set_and_get(void **state)
{
	struct bench *b = *state;
	struct pfnl_setting_request q = PFNL_SETTING_REQUEST_INIT;
	struct pfnl_setting s;

	assert_int_equal(pfnl_setting_get(b->h, 100, 0, &s), 0);
	assert_false(s.present);
	assert_int_equal(s.uid, UINT32_MAX);
	assert_int_equal(s.pid, 100);
	assert_int_equal(s.tid, 0);
	assert_string_equal(s.comm, "server");
	assert_true(s.start_time == UINT64_C(1000000100));

	q.pid = 100;
	q.off = 1;
	q.on = 4;
	q.inherit = 1;
	q.start_time = s.start_time;
	memset(&s, 0xff, sizeof(s));
	assert_int_equal(pfnl_setting_set(b->h, &q, &s), 0);
	assert_true(s.present);
	assert_int_equal(s.scope, PREFETCH_SCOPE_PROCESS);
	assert_int_equal(s.off, 1);
	assert_int_equal(s.on, 4);
	assert_true(s.inherit);
	assert_int_equal(s.wish_off, 1);
	assert_int_equal(s.wish_on, 4);
	assert_int_equal(s.uid, 0);
	assert_int_equal(s.id, 1);
	assert_int_equal(b->fake->n_settings, 1);

	/* What is not named stays, and -1 leaves inherit alone. */
	q = (struct pfnl_setting_request)PFNL_SETTING_REQUEST_INIT;
	q.pid = 100;
	q.off = 2;
	assert_int_equal(pfnl_setting_set(b->h, &q, NULL), 0);
	assert_int_equal(b->fake->settings[0].off, 3);
	assert_true(b->fake->settings[0].inherit);
	q.off = 0;
	q.inherit = 0;
	assert_int_equal(pfnl_setting_set(b->h, &q, NULL), 0);
	assert_false(b->fake->settings[0].inherit);
	q.clear = 7;
	assert_int_equal(pfnl_setting_set(b->h, &q, &s), 0);
	assert_false(s.present);
	assert_int_equal(b->fake->n_settings, 0);
}

static void test_thread(void **state)
{
	struct bench *b = *state;
	struct pfnl_setting_request q = PFNL_SETTING_REQUEST_INIT;
	struct pfnl_setting s;

	fake_add_setting(b->fake, 100, 0, 1, 2);
	q.tid = 101;
	q.on = 1;
	assert_int_equal(pfnl_setting_set(b->h, &q, &s), 0);
	assert_int_equal(s.scope, PREFETCH_SCOPE_THREAD);
	assert_int_equal(s.pid, 100);
	assert_int_equal(s.tid, 101);
	assert_int_equal(s.on, 1);
	assert_int_equal(s.wish_on, 3);
	assert_int_equal(s.wish_off, 0);
}

static void test_default(void **state)
{
	struct bench *b = *state;
	struct pfnl_default d;

	assert_int_equal(pfnl_default_set(b->h, 1, 2, 4, &d), 0);
	assert_int_equal(d.off, 1);
	assert_int_equal(d.on, 2);
	assert_int_equal(d.partial, 0);
	assert_int_equal(b->fake->domains[1].effective, 1);
	assert_int_equal(pfnl_default_set(b->h, 0, 0, 3, NULL), 0);
	assert_int_equal(b->fake->default_off, 0);
}

static void test_core(void **state)
{
	struct bench *b = *state;
	struct pfnl_core core, copy;

	fake_add_setting(b->fake, 100, 0, 1, 0);
	fake_run(b->fake, 2, 100, 101);
	assert_int_equal(pfnl_core_get(b->h, 1, false, &core), 0);
	assert_int_equal(core.domain, 1);
	assert_int_equal(core.effective, 1);
	assert_int_equal(core.supported, 0xf);
	assert_int_equal(core.writes, 1);
	assert_false(core.verified);
	assert_int_equal(core.n_registers, 0);
	assert_null(core.registers);
	assert_int_equal(core.n_cpus, 2);
	assert_int_equal(core.cpus[0].id, 2);
	assert_true(core.cpus[0].online);
	assert_true(core.cpus[0].has_wish);
	assert_true(core.cpus[0].has_task);
	assert_int_equal(core.cpus[0].wish_off, 1);
	assert_int_equal(core.cpus[0].pid, 100);
	assert_int_equal(core.cpus[0].tid, 101);
	assert_string_equal(core.cpus[0].comm, "worker");
	assert_false(core.cpus[1].has_wish);
	assert_false(core.cpus[1].has_task);
	assert_int_equal(pfnl_core_copy(&copy, &core), 0);
	pfnl_core_clear(&core);
	assert_null(core.cpus);
	assert_int_equal(copy.cpus[0].tid, 101);
	pfnl_core_clear(&copy);
}

static void test_verify(void **state)
{
	struct bench *b = *state;
	struct pfnl_core core;

	b->fake->domains[0].foreign = true;
	b->fake->domains[0].foreign_value = 0xa;
	assert_int_equal(pfnl_core_get(b->h, 0, true, &core), 0);
	assert_true(core.verified);
	assert_true(core.differs);
	assert_int_equal(core.read, 0xa);
	assert_int_equal(core.n_registers, 1);
	assert_int_equal(core.registers[0].address, 0x1a4);
	assert_int_equal(core.registers[0].programmed, 0);
	assert_int_equal(core.registers[0].value, 0xa);
	assert_int_equal(core.registers[0].error, 0);
	assert_true(core.registers[0].has_baseline);
	assert_int_equal(core.registers[0].baseline, 0);
	assert_int_equal(core.fault, 0);
	pfnl_core_clear(&core);
}

static void test_fault(void **state)
{
	struct bench *b = *state;
	struct pfnl_core core;

	b->fake->domains[1].failed = true;
	b->fake->domains[1].fault = PREFETCH_FAULT_STUCK;
	b->fake->domains[1].stuck = 0x2;
	b->fake->domains[1].baseline = 0x8;
	b->fake->domains[1].hybrid_id = 0x40000001;
	assert_int_equal(pfnl_core_get(b->h, 1, true, &core), 0);
	assert_true(core.failed);
	assert_int_equal(core.fault, PREFETCH_FAULT_STUCK);
	assert_int_equal(core.fault_register, 0x1a4);
	assert_int_equal(core.fault_bits, 0x2);
	assert_int_equal(core.stuck, 0x2);
	assert_int_equal(core.hybrid_id, 0x40000001);
	assert_int_equal(core.registers[0].baseline, 0x8);
	pfnl_core_clear(&core);
	b->fake->domains[1].fault = PREFETCH_FAULT_ABSENT;
	assert_int_equal(pfnl_core_get(b->h, 1, true, &core), 0);
	assert_false(core.registers[0].has_baseline);
	pfnl_core_clear(&core);
}

static int add_core(const struct pfnl_core *core, void *arg)
{
	uint32_t *sum = arg;

	assert_int_equal(core->n_cpus, 2);
	assert_true(core->verified);
	*sum = *sum * 10 + core->domain + 1;
	return 0;
}

static void test_core_list(void **state)
{
	struct bench *b = *state;
	unsigned int flags = 77;
	uint32_t sum = 0;

	assert_int_equal(pfnl_core_list(b->h, true, &flags, add_core, &sum), 0);
	assert_int_equal(sum, 12);
	assert_int_equal(flags, 0);
}

static int take_repair(const struct pfnl_repair *repair, void *arg)
{
	unsigned int *n = arg;

	assert_int_equal(repair->domain, 1);
	assert_int_equal(repair->before, 0xc);
	assert_int_equal(repair->after, 0);
	assert_int_equal(repair->n_registers, 1);
	assert_int_equal(repair->registers[0].value, 0xc);
	++*n;
	return 0;
}

static void test_repair(void **state)
{
	struct bench *b = *state;
	unsigned int n = 0;

	b->fake->domains[1].foreign = true;
	b->fake->domains[1].foreign_value = 0xc;
	assert_int_equal(pfnl_core_repair(b->h, 0, take_repair, &n), 0);
	assert_int_equal(n, 0);
	assert_int_equal(pfnl_core_repair(b->h, PFNL_DOMAIN_ALL, take_repair,
					  &n),
			 0);
	assert_int_equal(n, 1);
	assert_int_equal(pfnl_core_repair(b->h, PFNL_DOMAIN_ALL, NULL, NULL),
			 0);
}

static int ask_inside(const struct pfnl_setting *s, void *arg)
{
	struct bench *b = arg;
	struct pfnl_setting again;

	assert_int_equal(pfnl_setting_get(b->h, (pid_t)s->pid, 0, &again), 0);
	assert_int_equal(again.off, s->off);
	return 0;
}

static void test_request_in_callback(void **state)
{
	struct bench *b = *state;

	fake_add_setting(b->fake, 100, 0, 1, 0);
	fake_add_setting(b->fake, 200, 0, 2, 0);
	assert_int_equal(pfnl_setting_list(b->h, 0, 0, NULL, ask_inside, b), 0);
}

static void test_one_socket_one_family_lookup(void **state)
{
	struct bench *b = *state;
	struct pfnl_info info;

	assert_int_equal(pfnl_info(b->h, &info), 0);
	assert_int_equal(pfnl_info(b->h, &info), 0);
	assert_int_equal(pfnl_info(b->h, &info), 0);
	assert_int_equal(b->fake->requests, 4);
	assert_int_equal(b->fake->opens, 1);
}

static int only_gone(const struct pfnl_event *event, void *arg)
{
	assert_int_equal(event->kind, PFNL_EVENT_GONE);
	++*(int *)arg;
	return 0;
}

static void test_real_socket(void **state)
{
	struct pfnl_info info;
	struct pfnl *h;
	int gone = 0;
	int r;

	(void)state;
	/* Whatever this machine has, it answers. */
	if (pfnl_open(&h)) {
		print_message("no netlink sockets here: skipped\n");
		skip();
	}
	r = pfnl_info(h, &info);
	if (r)
		assert_int_not_equal(strlen(pfnl_errmsg(h)), 0);
	assert_true(r == 0 || pfnl_module_missing(h));
	if (r) {
		assert_int_equal(r, -ENOENT);
		assert_int_equal(pfnl_subscribe(h, PFNL_GROUP_SETTING, 0),
				 -ENOENT);
		assert_true(pfnl_module_missing(h));
		assert_int_equal(pfnl_subscribe(h, PFNL_GROUP_SETTING,
						PFNL_SUBSCRIBE_WAIT),
				 0);
		assert_true(pfnl_event_fd(h) >= 0);
		assert_true(pfnl_receive_buffer(h) > 0);
		/* Without waiting: a signal ends the test if it does. */
		alarm(10);
		assert_int_equal(pfnl_dispatch(h, only_gone, &gone), 0);
		alarm(0);
		assert_int_equal(gone, 1);
	}
	assert_string_equal(pfnl_version(), "0.1.0");
	pfnl_close(h);
	pfnl_close(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BENCH_TEST(test_info),
		BENCH_TEST(test_prefetchers),
		BENCH_TEST(test_set_and_get),
		BENCH_TEST(test_thread),
		BENCH_TEST(test_default),
		BENCH_TEST(test_core),
		BENCH_TEST(test_verify),
		BENCH_TEST(test_fault),
		BENCH_TEST(test_core_list),
		BENCH_TEST(test_repair),
		BENCH_TEST(test_request_in_callback),
		BENCH_TEST(test_one_socket_one_family_lookup),
		cmocka_unit_test(test_real_socket),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
