// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The module is unloaded and loaded again, many times, while tasks run that
 * have settings, somebody listens, and a dump is not read to its end. That
 * dump holds the module, and nothing else does.
 */
#include "actor.h"

#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "harness.h"
#include "request.h"

#define ROUNDS	 100
#define SLEEPERS 90 /* their settings fill more than one message of a dump */

struct message {
	struct nlmsghdr n;
	struct genlmsghdr g;
	char attrs[64];
};

static int netlink_socket(void)
{
	struct sockaddr_nl any = { .nl_family = AF_NETLINK };
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);

	if (fd < 0 || bind(fd, (struct sockaddr *)&any, sizeof(any)))
		die("no netlink socket: %s", strerror(errno));
	return fd;
}

static void ask(int fd, uint16_t type, uint16_t flags, uint8_t cmd,
		const char *name)
{
	struct message m = {
		.n = { .nlmsg_type = type,
		       .nlmsg_flags = NLM_F_REQUEST | flags,
		       .nlmsg_len = NLMSG_LENGTH(GENL_HDRLEN) },
		.g = { .cmd = cmd, .version = 1 },
	};

	if (name) {
		struct nlattr a = { .nla_len = NLA_HDRLEN + strlen(name) + 1,
				    .nla_type = CTRL_ATTR_FAMILY_NAME };

		memcpy(m.attrs, &a, sizeof(a));
		memcpy(m.attrs + NLA_HDRLEN, name, strlen(name) + 1);
		m.n.nlmsg_len += NLA_ALIGN(a.nla_len);
	}
	if (send(fd, &m, m.n.nlmsg_len, 0) != (ssize_t)m.n.nlmsg_len)
		die("cannot send: %s", strerror(errno));
}

/*
 * The number that the family has since the last load. On a socket of its own:
 * a dump takes as much into a message as was received on the socket before.
 */
static uint16_t family(void)
{
	static char reply[16384] __attribute__((aligned(4)));
	struct nlmsghdr *n = (void *)reply;
	int fd = netlink_socket();
	ssize_t len;
	char *at;

	ask(fd, GENL_ID_CTRL, 0, CTRL_CMD_GETFAMILY, PREFETCH_FAMILY_NAME);
	len = recv(fd, reply, sizeof(reply), 0);
	close(fd);
	if (len < (ssize_t)NLMSG_LENGTH(GENL_HDRLEN) ||
	    n->nlmsg_type != GENL_ID_CTRL)
		die("the family is not there");
	for (at = reply + NLMSG_LENGTH(GENL_HDRLEN);
	     at + NLA_HDRLEN <= reply + len;) {
		struct nlattr a;

		memcpy(&a, at, sizeof(a));
		if (a.nla_type == CTRL_ATTR_FAMILY_ID) {
			uint16_t id;

			memcpy(&id, at + NLA_HDRLEN, sizeof(id));
			return id;
		}
		if (a.nla_len < NLA_HDRLEN)
			break;
		at += NLA_ALIGN(a.nla_len);
	}
	die("the family has no number");
}

/* Reads what is left of the dump. Returns the number of messages. */
static unsigned long read_on(int fd)
{
	static char reply[65536] __attribute__((aligned(4)));
	unsigned long count = 0;

	for (;;) {
		ssize_t len = recv(fd, reply, sizeof(reply), 0);
		struct nlmsghdr *n = (void *)reply;

		if (len < 0)
			die("the dump breaks off: %s", strerror(errno));
		for (; NLMSG_OK(n, (unsigned int)len); n = NLMSG_NEXT(n, len)) {
			if (n->nlmsg_type == NLMSG_DONE)
				return count;
			if (n->nlmsg_type == NLMSG_ERROR)
				die("the dump ends with an error");
			count++;
		}
	}
}

static struct actor *load[6];
static struct actor *sleepers[SLEEPERS];

static void put_in_force(struct check *c, int round)
{
	for (size_t i = 0; i < ARRAY_SIZE(load); i++)
		expect(c, !set_pid(load[i]->pid, 1 + (round + i) % ALL_FOUR, 0),
		       "round %d: set failed", round);
	for (int i = 0; i < SLEEPERS; i++)
		expect(c, !set_tid(sleepers[i]->tid, L1_IP, 0),
		       "round %d: set failed", round);
	if (round % 3 == 0)
		expect(c, !set_default(L2_ADJACENT, 0), "no machine default");
	expect(c, request_settings() == SLEEPERS + (long)ARRAY_SIZE(load),
	       "round %d: %ld settings", round, request_settings());
}

/* Listeners do not hold the module; here are two at its mercy. */
static void subscribe(struct pfnl *h, struct check *c)
{
	int err;

	pfnl_unsubscribe(h);
	err = pfnl_subscribe(h, PFNL_GROUP_CORE | PFNL_GROUP_SETTING, 0);
	expect(c, !err, "cannot listen: %s", strerror(-err));
}

static void unload(struct check *c, int round)
{
	int fd = netlink_socket();
	unsigned long count;
	int err;

	ask(fd, family(), NLM_F_DUMP, PREFETCH_CMD_SETTING_GET, NULL);
	for (int i = 0; i < 3; i++) {
		err = module_unload();
		expect(c, err == -EAGAIN,
		       "round %d: unload with an open dump: %d", round, err);
	}
	expect(c, request_settings() == SLEEPERS + (long)ARRAY_SIZE(load),
	       "round %d: settings are gone", round);
	/* Read to its end, or given up: either lets go. */
	if (round % 2) {
		count = read_on(fd);
		expect(c, count == SLEEPERS + ARRAY_SIZE(load),
		       "round %d: %lu settings in the dump", round, count);
	} else {
		close(fd);
	}
	err = module_unload();
	expect(c, !err, "round %d: cannot unload: %s", round, strerror(-err));
	if (round % 2)
		close(fd);
}

static void reload(struct check *c)
{
	struct pfnl *listeners[2];
	struct actor *leader = actor_new(home_cpu());
	int rounds = (int)rounds_of(ROUNDS);

	for (size_t i = 0; i < ARRAY_SIZE(load); i++) {
		load[i] = actor_new((int)i % home_cpu());
		actor_mode(load[i], i < 3 ? ACTOR_YIELD : ACTOR_NAP, 0);
	}
	for (int i = 0; i < SLEEPERS; i++)
		sleepers[i] = actor_thread(leader, home_cpu());
	for (size_t i = 0; i < ARRAY_SIZE(listeners); i++)
		if (pfnl_open(&listeners[i]))
			die("no handle");
	for (int round = 0; round < rounds && !c->failed; round++) {
		int err;

		subscribe(listeners[round % 2], c);
		put_in_force(c, round);
		unload(c, round);
		for (int cpu = 0; cpu < cpu_count(); cpu++)
			expect(c, reg(cpu) == options.baseline,
			       "round %d: CPU %d is left with 0x%llx", round,
			       cpu, (unsigned long long)reg(cpu));
		err = module_load("");
		expect(c, !err, "round %d: cannot load: %s", round,
		       strerror(-err));
		expect(c, request_settings() == 0 && !info().default_off,
		       "round %d: something outlived it", round);
	}
	for (size_t i = 0; i < ARRAY_SIZE(listeners); i++)
		pfnl_close(listeners[i]);
	printf("figure %s rounds=%d\n", c->name, rounds);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "reload_under_load", reload },
	};

	return harness_main(argc, argv, tests, ARRAY_SIZE(tests));
}
