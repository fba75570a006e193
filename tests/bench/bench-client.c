// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The client side, measured in a guest: round trips and dumps against those of
 * other families. See bench.h for what it prints.
 */
#include "bench.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <linux/rtnetlink.h>
#include <linux/taskstats.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "crowd.h"
#include "prefetchnl.h"

#define ROUND_TRIPS 300

/* The routing table that is filled; nothing is ever looked up in it. */
#define TABLE 77

static struct pfnl *h;
static struct nl_sock *other;
static int taskstats;
static unsigned long received;

uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void give_up(const char *what, const char *why)
{
	fprintf(stderr, "bench-client: %s: %s\n", what,
		why ? why : strerror(errno));
	exit(1);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

void bench_compare(const char *name, enum bench_of of, bench_fn ours,
		   bench_fn theirs, void *arg)
{
	double ratio[TURNS], tolerance = 0;

	/* Once without looking: caches are filled, families are found. */
	theirs(arg);
	ours(arg);
	for (int i = 0; i < TURNS; i++) {
		double a = theirs(arg), b = ours(arg), again = theirs(arg);
		double gap = a > again ? a / again - 1 : again / a - 1;

		ratio[i] = of == OF_TIME ? b / a : a / b;
		if (gap > tolerance)
			tolerance = gap;
	}
	qsort(ratio, TURNS, sizeof(*ratio), by_value);
	printf("ratio %s %.3f %.3f %.3f %.3f\n", name, ratio[TURNS / 2],
	       ratio[0], ratio[TURNS - 1], tolerance);
}

/* --- round trips --- */

static int count_message(struct nl_msg *msg, void *arg)
{
	(void)msg;
	++*(unsigned long *)arg;
	return NL_OK;
}

static void open_other(int protocol)
{
	other = nl_socket_alloc();
	if (!other || nl_connect(other, protocol))
		give_up("cannot open a socket", NULL);
	nl_socket_disable_auto_ack(other);
	nl_socket_modify_cb(other, NL_CB_VALID, NL_CB_CUSTOM, count_message,
			    &received);
}

static void ask_generic(int family, uint8_t cmd, int attr, const void *data,
			int size)
{
	struct nl_msg *msg = nlmsg_alloc();
	unsigned long before = received;

	if (!msg || !genlmsg_put(msg, 0, 0, family, 0, 0, cmd, 1) ||
	    nla_put(msg, attr, size, data) || nl_send_auto(other, msg) < 0 ||
	    nl_recvmsgs_default(other) < 0 || received == before)
		give_up("no answer from another family", NULL);
	nlmsg_free(msg);
}

static void ask_taskstats(void)
{
	uint32_t pid = (uint32_t)getpid();

	ask_generic(taskstats, TASKSTATS_CMD_GET, TASKSTATS_CMD_ATTR_PID, &pid,
		    sizeof(pid));
}

static void ask_nlctrl(void)
{
	ask_generic(GENL_ID_CTRL, CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_NAME,
		    "nlctrl", sizeof("nlctrl"));
}

/* Each time another mask than before. */
static void set_self(void)
{
	struct pfnl_setting_request q = PFNL_SETTING_REQUEST_INIT;
	static uint32_t off;
	struct pfnl_setting s;

	q.pid = (uint32_t)getpid();
	q.off = off = off == 1 ? 2 : 1;
	q.clear = 3 & ~off;
	if (pfnl_setting_set(h, &q, &s) || s.off != off)
		give_up("cannot set", pfnl_errmsg(h));
}

static void get_self(void)
{
	struct pfnl_setting s;

	if (pfnl_setting_get(h, getpid(), 0, &s))
		give_up("cannot get", pfnl_errmsg(h));
}

struct pair {
	const char *name;
	void (*ours)(void);
	void (*theirs)(void);
};

static double time_of(void (*what)(void))
{
	uint64_t begin = now_ns();

	for (int i = 0; i < ROUND_TRIPS; i++)
		what();
	return (double)(now_ns() - begin);
}

static double our_trips(void *arg)
{
	return time_of(((struct pair *)arg)->ours);
}

static double their_trips(void *arg)
{
	return time_of(((struct pair *)arg)->theirs);
}

static void bench_round_trips(void)
{
	static struct pair pairs[] = {
		{ "set_taskstats", set_self, ask_taskstats },
		{ "set_nlctrl", set_self, ask_nlctrl },
		{ "get_taskstats", get_self, ask_taskstats },
		{ "get_nlctrl", get_self, ask_nlctrl },
	};

	open_other(NETLINK_GENERIC);
	taskstats = genl_ctrl_resolve(other, TASKSTATS_GENL_NAME);
	if (taskstats < 0)
		give_up("this kernel has no taskstats", "not found");
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		bench_compare(pairs[i].name, OF_SPEED, our_trips, their_trips,
			      &pairs[i]);
	nl_socket_free(other);
}

/* --- dumps --- */

static void add_routes(unsigned int objects)
{
	struct rtmsg rt = {
		.rtm_family = AF_INET,
		.rtm_dst_len = 32,
		.rtm_table = TABLE,
		.rtm_protocol = RTPROT_STATIC,
		.rtm_scope = RT_SCOPE_UNIVERSE,
		.rtm_type = RTN_BLACKHOLE,
	};

	for (unsigned int i = 0; i < objects; i++) {
		struct nl_msg *msg =
			nlmsg_alloc_simple(RTM_NEWROUTE,
					   NLM_F_CREATE | NLM_F_REPLACE);
		uint32_t to = htobe32(0x0a000000 + i);

		if (!msg || nlmsg_append(msg, &rt, sizeof(rt), NLMSG_ALIGNTO) ||
		    nla_put(msg, RTA_DST, sizeof(to), &to) ||
		    nl_send_auto(other, msg) < 0)
			give_up("cannot add a route", NULL);
		nlmsg_free(msg);
	}
}

static void set_all(const pid_t *tid, unsigned int objects)
{
	struct pfnl_setting_request q = PFNL_SETTING_REQUEST_INIT;

	for (unsigned int i = 0; i < objects; i++) {
		q.tid = (uint32_t)tid[i];
		q.off = 1;
		if (pfnl_setting_set(h, &q, NULL))
			give_up("cannot set a thread of many", pfnl_errmsg(h));
	}
}

static int count_setting(const struct pfnl_setting *s, void *arg)
{
	(void)s;
	++*(unsigned long *)arg;
	return 0;
}

/* Each gives the time for one object. */
static double list_settings(void *arg)
{
	unsigned long settings = 0;
	uint64_t begin = now_ns();

	if (pfnl_setting_list(h, 0, 0, NULL, count_setting, &settings))
		give_up("cannot list", pfnl_errmsg(h));
	if (settings < *(unsigned int *)arg)
		give_up("list", "it is not complete");
	return (double)(now_ns() - begin) / (double)settings;
}

static double dump_routes(void *arg)
{
	struct rtmsg rt = { .rtm_family = AF_INET };
	uint64_t begin = now_ns();

	received = 0;
	if (nl_send_simple(other, RTM_GETROUTE, NLM_F_DUMP, &rt, sizeof(rt)) <
		    0 ||
	    nl_recvmsgs_default(other) < 0)
		give_up("cannot dump routes", NULL);
	if (received < *(unsigned int *)arg)
		give_up("routes", "the dump is not complete");
	return (double)(now_ns() - begin) / (double)received;
}

static void bench_dumps(unsigned int objects)
{
	size_t size = objects * sizeof(pid_t);
	pid_t *tid = mmap(NULL, size, PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t crowd;

	if (tid == MAP_FAILED)
		give_up("no memory", NULL);
	crowd_allow(objects);
	crowd = crowd_start(objects, tid);
	set_all(tid, objects);
	open_other(NETLINK_ROUTE);
	add_routes(objects);
	bench_compare("dump", OF_SPEED, list_settings, dump_routes, &objects);
	printf("figure dump_ns %.0f\n", list_settings(&objects));
	nl_socket_free(other);
	crowd_end(crowd);
	munmap(tid, size);
}

static unsigned long number(const char *text)
{
	return text ? strtoul(text, NULL, 10) : 0;
}

/* bench-client OBJECTS CHANGES; 0 leaves that part out. */
int main(int argc, char **argv)
{
	unsigned int objects = (unsigned int)number(argc > 1 ? argv[1] : NULL);
	unsigned long changes = number(argc > 2 ? argv[2] : NULL);

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (pfnl_open(&h))
		give_up("cannot open a handle", NULL);
	bench_round_trips();
	bench_programs();
	if (objects)
		bench_dumps(objects);
	pfnl_close(h);
	if (changes)
		bench_monitor(changes);
	return 0;
}
