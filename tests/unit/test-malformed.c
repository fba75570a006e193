// SPDX-License-Identifier: GPL-2.0-or-later
/* Answers that are cut, lack something, or have it in the wrong shape. */
#include "common.h"
#include "message.h"

/* An operation, as one function for all. */
typedef int (*operation)(struct bench *b);

static int do_info(struct bench *b)
{
	struct pfnl_info info;

	return pfnl_info(b->h, &info);
}

static int ignore_prefetcher(const struct pfnl_prefetcher *p, void *arg)
{
	(void)p;
	(void)arg;
	return 0;
}

static int do_prefetchers(struct bench *b)
{
	return pfnl_prefetcher_list(b->h, ignore_prefetcher, NULL);
}

static int do_get(struct bench *b)
{
	struct pfnl_setting s;

	return pfnl_setting_get(b->h, 0, 101, &s);
}

static int do_set(struct bench *b)
{
	struct pfnl_setting_request q = PFNL_SETTING_REQUEST_INIT;

	q.tid = 101;
	q.off = 1;
	return pfnl_setting_set(b->h, &q, NULL);
}

static int ignore_setting(const struct pfnl_setting *s, void *arg)
{
	(void)s;
	(void)arg;
	return 0;
}

static int do_list(struct bench *b)
{
	return pfnl_setting_list(b->h, 0, 0, NULL, ignore_setting, NULL);
}

static int do_default(struct bench *b)
{
	return pfnl_default_set(b->h, 1, 0, 0, NULL);
}

static int do_core(struct bench *b)
{
	struct pfnl_core core;
	int r = pfnl_core_get(b->h, 0, true, &core);

	if (!r)
		pfnl_core_clear(&core);
	return r;
}

static int ignore_core(const struct pfnl_core *core, void *arg)
{
	(void)core;
	(void)arg;
	return 0;
}

static int do_cores(struct bench *b)
{
	return pfnl_core_list(b->h, true, NULL, ignore_core, NULL);
}

static int do_repair(struct bench *b)
{
	b->fake->domains[0].foreign = true;
	b->fake->domains[0].foreign_value = 1;
	return pfnl_core_repair(b->h, PFNL_DOMAIN_ALL, NULL, NULL);
}

static const struct {
	operation call;
	uint8_t cmd;
	int must[8]; /* attributes that an answer must have */
	int may[3];  /* of those that it may lack */
} operations[] = {
	{ do_info,
	  PREFETCH_CMD_INFO_GET,
	  { PREFETCH_A_INFO_BACKEND, PREFETCH_A_INFO_VERSION,
	    PREFETCH_A_INFO_DOMAINS, PREFETCH_A_INFO_SUPPORTED,
	    PREFETCH_A_INFO_DEFAULT_OFF, PREFETCH_A_INFO_DEFAULT_ON },
	  { PREFETCH_A_INFO_CPU_VENDOR, PREFETCH_A_INFO_CORE_SEQ } },
	{ do_prefetchers,
	  PREFETCH_CMD_PREFETCHER_GET,
	  { PREFETCH_A_PREFETCHER_ID, PREFETCH_A_PREFETCHER_NAME },
	  { PREFETCH_A_PREFETCHER_LOCATION } },
	{ do_get,
	  PREFETCH_CMD_SETTING_GET,
	  { PREFETCH_A_SETTING_PID, PREFETCH_A_SETTING_TID,
	    PREFETCH_A_SETTING_SCOPE },
	  { PREFETCH_A_SETTING_COMM, PREFETCH_A_SETTING_START_TIME } },
	{ do_set,
	  PREFETCH_CMD_SETTING_SET,
	  { PREFETCH_A_SETTING_PID, PREFETCH_A_SETTING_SCOPE },
	  { PREFETCH_A_SETTING_ID, PREFETCH_A_SETTING_UID } },
	{ do_list,
	  PREFETCH_CMD_SETTING_GET,
	  { PREFETCH_A_SETTING_PID, PREFETCH_A_SETTING_SCOPE },
	  { PREFETCH_A_SETTING_ID } },
	{ do_default,
	  PREFETCH_CMD_DEFAULT_SET,
	  { PREFETCH_A_DEFAULT_OFF, PREFETCH_A_DEFAULT_ON },
	  { PREFETCH_A_DEFAULT_PARTIAL } },
	{ do_core,
	  PREFETCH_CMD_CORE_GET,
	  { PREFETCH_A_CORE_DOMAIN, PREFETCH_A_CORE_SUPPORTED,
	    PREFETCH_A_CORE_BASELINE, PREFETCH_A_CORE_EFFECTIVE },
	  { PREFETCH_A_CORE_CPU, PREFETCH_A_CORE_REGISTER } },
	{ do_cores,
	  PREFETCH_CMD_CORE_GET,
	  { PREFETCH_A_CORE_DOMAIN, PREFETCH_A_CORE_EFFECTIVE },
	  { PREFETCH_A_CORE_READ } },
	{ do_repair,
	  PREFETCH_CMD_CORE_REPAIR,
	  { 0 },
	  { PREFETCH_A_CORE_REPAIRED } },
};

#define N_OPERATIONS (sizeof(operations) / sizeof(operations[0]))

static int with_fault(struct bench *b, size_t i, enum fake_fault_kind kind,
		      int attr_type, size_t size)
{
	struct fake_fault *fault;
	int r;

	b->fake->n_faults = 0;
	fault = fake_fault(b->fake, operations[i].cmd, kind);
	fault->attr_type = attr_type;
	fault->size = size;
	r = operations[i].call(b);
	/* It did what it should: the fault was hit, and left no trace. */
	assert_int_equal(fault->count, 0);
	if (r)
		assert_int_not_equal(pfnl_errmsg(b->h)[0], '\0');
	return r;
}

static void test_missing(void **state)
{
	struct bench *b = *state;
	size_t i, j;

	fake_add_setting(b->fake, 100, 0, 1, 0);
	for (i = 0; i < N_OPERATIONS; i++) {
		assert_int_equal(operations[i].call(b), 0);
		for (j = 0; operations[i].must[j]; j++) {
			assert_int_equal(with_fault(b, i, FAKE_DROP_ATTR,
						    operations[i].must[j], 0),
					 -EBADMSG);
			assert_non_null(strstr(pfnl_errmsg(b->h), "no \""));
			assert_int_equal(operations[i].call(b), 0);
		}
		for (j = 0; j < 3 && operations[i].may[j]; j++)
			assert_int_equal(with_fault(b, i, FAKE_DROP_ATTR,
						    operations[i].may[j], 0),
					 0);
	}
}

static void test_twice(void **state)
{
	struct bench *b = *state;
	size_t i, j;

	fake_add_setting(b->fake, 100, 0, 1, 0);
	for (i = 0; i < N_OPERATIONS; i++)
		for (j = 0; operations[i].must[j]; j++)
			assert_int_equal(with_fault(b, i, FAKE_DOUBLE_ATTR,
						    operations[i].must[j], 0),
					 -EBADMSG);
}

static void test_wrong_size(void **state)
{
	static const size_t sizes[] = { 0, 1, 3, 4, 5, 7, 9, 11, 300, 65535 };
	struct bench *b = *state;
	size_t i, j, k;
	int attr, r;

	fake_add_setting(b->fake, 100, 0, 1, 0);
	for (i = 0; i < N_OPERATIONS; i++)
		for (j = 0; (attr = operations[i].must[j]); j++)
			for (k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
				r = with_fault(b, i, FAKE_RESIZE_ATTR, attr,
					       sizes[k]);
				/* A text may be longer by its padding. */
				if (r == 0 && sizes[k] == 11 && i < 2)
					assert_int_equal(attr, 2);
				else
					assert_int_equal(r, -EBADMSG);
			}
}

/* Nests that end within an attribute, or have none that fit. */
static void test_wrong_nest(void **state)
{
	static const size_t sizes[] = { 0, 3, 5, 8, 9, 13, 65535 };
	struct bench *b = *state;
	size_t k;

	for (k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
		assert_int_equal(with_fault(b, 1, FAKE_RESIZE_ATTR,
					    PREFETCH_A_PREFETCHER_LOCATION,
					    sizes[k]),
				 -EBADMSG);
		assert_int_equal(with_fault(b, 6, FAKE_RESIZE_ATTR,
					    PREFETCH_A_CORE_CPU, sizes[k]),
				 -EBADMSG);
		assert_int_equal(with_fault(b, 6, FAKE_RESIZE_ATTR,
					    PREFETCH_A_CORE_REGISTER, sizes[k]),
				 -EBADMSG);
		assert_int_equal(with_fault(b, 8, FAKE_RESIZE_ATTR,
					    PREFETCH_A_CORE_REPAIRED, sizes[k]),
				 -EBADMSG);
	}
}

static void test_cut(void **state)
{
	struct bench *b = *state;
	size_t i, cut;
	int r;

	fake_add_setting(b->fake, 100, 0, 1, 0);
	for (i = 0; i < N_OPERATIONS; i++)
		for (cut = 1; cut < 60; cut++) {
			r = with_fault(b, i, FAKE_CUT_DATAGRAM, 0, cut);
			/* Nothing may be left of the end of a list. */
			assert_true(r == -EBADMSG || r == -ETIMEDOUT);
			r = with_fault(b, i, FAKE_TRUNCATE, 0,
				       cut < 12 ? cut : 12);
			/* Just the last attribute may be gone. */
			assert_true(r == -EBADMSG || r == 0);
			assert_int_equal(operations[i].call(b), 0);
		}
}

static void test_not_an_answer(void **state)
{
	struct bench *b = *state;
	size_t i;

	for (i = 0; i < N_OPERATIONS; i++) {
		assert_int_equal(with_fault(b, i, FAKE_ACK, 0, 0), -EBADMSG);
		assert_int_equal(operations[i].call(b), 0);
	}
}

/* Makes it the name of another family. */
static void rename_family(struct fake_bytes *bytes, void *arg)
{
	size_t i;

	(void)arg;
	for (i = 0; i + 8 < bytes->used; i++)
		if (!memcmp(bytes->data + i, "prefetch", 8))
			bytes->data[i] = 'b';
}

static void test_family(void **state)
{
	struct bench *b = *state;
	static const int must[] = { CTRL_ATTR_FAMILY_ID,
				    CTRL_ATTR_FAMILY_NAME };
	struct fake_fault *fault;
	size_t i;

	for (i = 0; i < 2; i++) {
		b->fake->n_faults = 0;
		fault = fake_fault(b->fake, 0, FAKE_DROP_ATTR);
		fault->attr_type = must[i];
		assert_int_equal(do_info(b), -EBADMSG);
		fault->kind = FAKE_RESIZE_ATTR;
		fault->count = 1;
		fault->size = 5;
		assert_int_equal(do_info(b), -EBADMSG);
	}
	fault->kind = FAKE_RESIZE_ATTR;
	fault->attr_type = CTRL_ATTR_MCAST_GROUPS;
	fault->count = 1;
	fault->size = 10;
	assert_int_equal(do_info(b), -EBADMSG);
	/* A number that belongs to generic netlink itself. */
	b->fake->family = 5;
	assert_int_equal(do_info(b), -EBADMSG);
	b->fake->family = 30;
	b->fake->edit = rename_family;
	assert_int_equal(do_info(b), -EBADMSG);
	assert_string_equal(pfnl_errmsg(b->h),
			    "asked for family prefetch, the kernel gave "
			    "brefetch");
	b->fake->edit = NULL;
	assert_int_equal(do_info(b), 0);
}

/* A refusal with what a test says, instead of the answer. */
static int refused(struct bench *b, const void *payload, size_t size,
		   uint16_t type, uint16_t flags)
{
	struct fake_bytes bytes = { 0 };
	size_t place;
	int r;

	fake_fault(b->fake, PREFETCH_CMD_CORE_GET, FAKE_SILENCE);
	/* The number of the request to come. */
	place = fake_begin(&bytes, type, flags,
			   (uint32_t)b->fake->requests + 1);
	fake_put(&bytes, payload, size);
	bytes.used = place + NLMSG_HDRLEN + size;
	fake_end(&bytes, place);
	fake_queue(b->fake, PFNL_REQUESTS, &bytes);
	r = do_cores(b);
	b->fake->n_faults = 0;
	return r;
}

static void test_refusals(void **state)
{
	struct bench *b = *state;
	struct {
		struct nlmsgerr err;
		struct nlattr attr;
		char text[8];
	} e;
	const struct genlmsghdr other = { .cmd = PREFETCH_CMD_SETTING_GET };
	const struct genlmsghdr core = { .cmd = PREFETCH_CMD_CORE_GET };
	int codes[3] = { -EPERM, 0, 0 };
	size_t size;

	assert_int_equal(do_cores(b), 0);
	memset(&e, 0, sizeof(e));
	e.err.error = -EPERM;
	e.err.msg.nlmsg_len = sizeof(e.err.msg);
	e.attr.nla_type = NLMSGERR_ATTR_MSG;
	e.attr.nla_len = sizeof(e.attr) + sizeof(e.text);
	memcpy(e.text, "because", 8);
	/* All of it there, then each byte less. */
	assert_int_equal(refused(b, &e, sizeof(e), NLMSG_ERROR,
				 NLM_F_ACK_TLVS | NLM_F_CAPPED),
			 -EPERM);
	assert_string_equal(pfnl_errmsg(b->h), "because");
	for (size = sizeof(e) - 1; size >= sizeof(e.err); size--) {
		assert_int_equal(refused(b, &e, size, NLMSG_ERROR,
					 NLM_F_ACK_TLVS | NLM_F_CAPPED),
				 -EPERM);
		assert_string_equal(pfnl_errmsg(b->h),
				    "core-get: Operation not permitted");
	}
	for (; size > 0; size--)
		assert_int_equal(refused(b, &e, size, NLMSG_ERROR, 0),
				 -EBADMSG);
	/* A text without an end. */
	memcpy(e.text, "endless!", 8);
	assert_int_equal(refused(b, &e, sizeof(e), NLMSG_ERROR,
				 NLM_F_ACK_TLVS | NLM_F_CAPPED),
			 -EPERM);
	assert_string_equal(pfnl_errmsg(b->h), "endless!");
	/* The request is said to be there in full, and to be longer than all */
	e.err.msg.nlmsg_len = 0xfffffff0;
	assert_int_equal(refused(b, &e, sizeof(e), NLMSG_ERROR, NLM_F_ACK_TLVS),
			 -EPERM);
	assert_string_equal(pfnl_errmsg(b->h),
			    "core-get: Operation not permitted");
	/* ... or shorter than a header. */
	e.err.msg.nlmsg_len = 3;
	assert_int_equal(refused(b, &e, sizeof(e), NLMSG_ERROR, NLM_F_ACK_TLVS),
			 -EPERM);
	/* No errno at all. */
	e.err.error = 5;
	assert_int_equal(refused(b, &e, sizeof(e), NLMSG_ERROR, 0), -EBADMSG);
	e.err.error = -5000;
	assert_int_equal(refused(b, &e, sizeof(e), NLMSG_ERROR, 0), -EBADMSG);
	/* A list ends with and without a code. */
	assert_int_equal(refused(b, codes, 4, NLMSG_DONE, NLM_F_MULTI), -EPERM);
	assert_int_equal(refused(b, codes, 3, NLMSG_DONE, NLM_F_MULTI), 0);
	assert_int_equal(refused(b, codes, 0, NLMSG_DONE, NLM_F_MULTI), 0);
	/* A list that got lost is asked for again. */
	assert_int_equal(refused(b, codes, 0, NLMSG_OVERRUN, 0), 0);
	/* Of another operation, and without a sign that more will follow. */
	assert_int_equal(refused(b, &other, sizeof(other), 30, NLM_F_MULTI),
			 -EBADMSG);
	assert_int_equal(refused(b, &core, sizeof(core), 30, 0), -EBADMSG);
	/* Not of a list at all. */
	assert_int_equal(refused(b, codes, 8, 30, 0), -EBADMSG);
}

static void test_fault_at_attribute(void **state)
{
	struct bench *b = *state;
	struct {
		struct nlmsgerr err;
		struct nlattr attr;
		uint32_t offset;
	} e;
	uint32_t offset;

	assert_int_equal(do_cores(b), 0);
	memset(&e, 0, sizeof(e));
	e.err.error = -EINVAL;
	e.attr.nla_type = NLMSGERR_ATTR_OFFS;
	e.attr.nla_len = sizeof(e.attr) + sizeof(e.offset);
	for (offset = 0; offset < 64; offset++) {
		e.offset = offset;
		assert_int_equal(refused(b, &e, sizeof(e), NLMSG_ERROR,
					 NLM_F_ACK_TLVS | NLM_F_CAPPED),
				 -EINVAL);
		if (offset == NLMSG_HDRLEN + GENL_HDRLEN)
			assert_string_equal(pfnl_errattr(b->h), "verify");
		else
			assert_null(pfnl_errattr(b->h));
	}
	e.offset = UINT32_MAX;
	assert_int_equal(refused(b, &e, sizeof(e), NLMSG_ERROR,
				 NLM_F_ACK_TLVS | NLM_F_CAPPED),
			 -EINVAL);
	assert_null(pfnl_errattr(b->h));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BENCH_TEST(test_missing),
		BENCH_TEST(test_twice),
		BENCH_TEST(test_wrong_size),
		BENCH_TEST(test_wrong_nest),
		BENCH_TEST(test_cut),
		BENCH_TEST(test_not_an_answer),
		BENCH_TEST(test_family),
		BENCH_TEST(test_refusals),
		BENCH_TEST(test_fault_at_attribute),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
