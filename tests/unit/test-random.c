// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Answers and events with random bytes changed, cut or doubled. What counts is
 * that each call returns, that what it returns makes sense, and that the
 * sanitizers have nothing to say. The rounds can be set by PFNL_ROUNDS and
 * begin with the seed in PFNL_SEED.
 */
#include "common.h"
#include "message.h"

struct chance {
	uint64_t state;
	bool off;
};

static uint32_t draw(struct chance *c, uint32_t below)
{
	c->state =
		c->state * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (uint32_t)(c->state >> 33) % below;
}

static void spoil(struct fake_bytes *b, void *arg)
{
	static const uint8_t values[] = { 0, 1, 3, 4, 7, 8, 0x7f, 0x80, 0xff };
	struct chance *c = arg;
	uint32_t n;
	size_t at;

	if (c->off || !b->used || draw(c, 3) == 0)
		return;
	for (n = draw(c, 4) + 1; n; n--) {
		at = draw(c, (uint32_t)b->used);
		switch (draw(c, 4)) {
		case 0:
			b->data[at] = values[draw(c, sizeof(values))];
			break;
		case 1:
			b->data[at] ^= (uint8_t)(1u << draw(c, 8));
			break;
		case 2:
			/* Lengths and types are where the harm is done. */
			b->data[at & ~(size_t)3] =
				values[draw(c, sizeof(values))];
			break;
		default:
			if (draw(c, 8) == 0)
				b->used = at + 1;
			break;
		}
	}
	/* An allocation of just that size: a read past it is seen. */
	b->data = fake_alloc(b->data, b->used);
	b->size = b->used;
}

static void check_text(const char *text, size_t size)
{
	assert_true(strnlen(text, size) < size);
}

static int on_prefetcher(const struct pfnl_prefetcher *p, void *arg)
{
	size_t i;

	(void)arg;
	assert_true(p->id < 32);
	check_text(p->name, sizeof(p->name));
	check_text(p->description, sizeof(p->description));
	for (i = 0; i < p->n_locations; i++)
		assert_int_equal(p->locations[i].reserved, 0);
	return 0;
}

static int on_setting(const struct pfnl_setting *s, void *arg)
{
	(void)arg;
	check_text(s->comm, sizeof(s->comm));
	assert_true(s->scope != PREFETCH_SCOPE_PROCESS || s->tid == 0);
	return 0;
}

static int on_core(const struct pfnl_core *core, void *arg)
{
	size_t i;

	(void)arg;
	for (i = 0; i < core->n_cpus; i++)
		check_text(core->cpus[i].comm, sizeof(core->cpus[i].comm));
	for (i = 0; i < core->n_registers; i++)
		assert_int_equal(core->registers[i].reserved[0] |
					 core->registers[i].reserved[1],
				 0);
	return 0;
}

static int on_repair(const struct pfnl_repair *repair, void *arg)
{
	size_t i;

	(void)arg;
	for (i = 0; i < repair->n_registers; i++)
		assert_int_equal(repair->registers[i].reserved[0] |
					 repair->registers[i].reserved[1],
				 0);
	return 0;
}

static int on_event(const struct pfnl_event *event, void *arg)
{
	size_t i;

	++*(unsigned int *)arg;
	switch (event->kind) {
	case PFNL_EVENT_CORE:
		check_text(event->u.core.comm, sizeof(event->u.core.comm));
		for (i = 0; i < event->u.core.n_cpus; i++)
			(void)*(const volatile uint32_t *)&event->u.core
				.cpus[i];
		return 0;
	case PFNL_EVENT_SETTING:
		return on_setting(&event->u.setting.setting, NULL);
	case PFNL_EVENT_STATE_CORE:
		return on_core(&event->u.state_core, NULL);
	case PFNL_EVENT_STATE_SETTING:
		return on_setting(&event->u.state_setting, NULL);
	case PFNL_EVENT_RESYNC_END:
		assert_non_null(event->u.resync.message);
		return 0;
	default:
		return 0;
	}
}

static void ask_everything(struct bench *b)
{
	struct pfnl_setting_request q = PFNL_SETTING_REQUEST_INIT;
	struct pfnl_setting s;
	struct pfnl_core core;
	struct pfnl_info info;

	pfnl_info(b->h, &info);
	pfnl_prefetcher_list(b->h, on_prefetcher, NULL);
	if (!pfnl_setting_get(b->h, 100, 0, &s))
		on_setting(&s, NULL);
	q.tid = 101;
	q.off = 1;
	pfnl_setting_set(b->h, &q, NULL);
	pfnl_setting_list(b->h, 0, 0, NULL, on_setting, NULL);
	pfnl_default_set(b->h, 1, 0, 0, NULL);
	if (!pfnl_core_get(b->h, 0, true, &core))
		pfnl_core_clear(&core);
	pfnl_core_list(b->h, true, NULL, on_core, NULL);
	b->fake->domains[0].foreign = true;
	b->fake->domains[0].foreign_value = 9;
	pfnl_core_repair(b->h, PFNL_DOMAIN_ALL, on_repair, NULL);
	/* Refused, with the kernel's words. */
	pfnl_setting_get(b->h, 999, 0, &s);
	pfnl_core_get(b->h, 99, false, &core);
	check_text(pfnl_errmsg(b->h), 512);
}

static void make_events(struct bench *b)
{
	struct fake_setting s = { .pid = 100, .off = 1, .id = 5 };
	struct fake_core_event event = { .comm = "x", .folded = 1 };
	unsigned int i;

	for (i = 0; i < 5; i++) {
		fake_core_event(b->fake, &event);
		fake_setting_event(b->fake, &s, PREFETCH_CHANGE_SET);
	}
	fake_unload(b->fake);
	fake_load(b->fake);
	fake_add_setting(b->fake, 100, 0, 1, 2);
	fake_event_error(b->fake, ENOBUFS);
	fake_core_event(b->fake, &event);
}

static void one_round(uint64_t seed)
{
	struct chance c = { .state = seed };
	struct bench *b;
	unsigned int events = 0;
	struct pfnl_info info;
	void *state;
	int i;

	assert_int_equal(bench_setup(&state), 0);
	b = state;
	fake_add_setting(b->fake, 100, 0, 1, 2);
	fake_run(b->fake, 0, 100, 101);
	b->fake->edit = spoil;
	b->fake->edit_arg = &c;
	ask_everything(b);
	if (!pfnl_subscribe(b->h, PFNL_GROUP_CORE | PFNL_GROUP_SETTING,
			    PFNL_SUBSCRIBE_WAIT)) {
		assert_true(pfnl_dispatch(b->h, on_event, &events) <= 0);
		make_events(b);
		for (i = 0; i < 3; i++)
			assert_true(pfnl_dispatch(b->h, on_event, &events) <=
				    0);
		assert_true(events < 200);
	}
	/*
	 * When the kernel is well again, so is the handle, once what was left
	 * of a bad answer has been met.
	 */
	c.off = true;
	if (pfnl_info(b->h, &info))
		assert_int_equal(pfnl_info(b->h, &info), 0);
	assert_int_equal(info.domains, 2);
	bench_teardown(&state);
}

static unsigned long setting(const char *name, unsigned long otherwise)
{
	const char *text = getenv(name);

	return text ? strtoul(text, NULL, 0) : otherwise;
}

static void test_random(void **state)
{
	unsigned long seed = setting("PFNL_SEED", 1);
	unsigned long rounds = setting("PFNL_ROUNDS", 3000);
	unsigned long i;

	(void)state;
	for (i = 0; i < rounds; i++)
		one_round(seed + i);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
