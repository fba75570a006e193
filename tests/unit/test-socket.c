// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The transport of real sockets, where somebody else floods them: what comes
 * from another process is left out, and does not keep the caller.
 */
#include <sys/socket.h>

#include <linux/netlink.h>

#include "common.h"

#define MOST_CALLS 1000

static unsigned int sender; /* port of whom the datagrams come from */
static unsigned int calls, interrupts;

ssize_t recvmsg(int fd, struct msghdr *msg, int flags)
{
	const struct sockaddr_nl from = { .nl_family = AF_NETLINK,
					  .nl_pid = sender };

	(void)fd;
	(void)flags;
	if (interrupts) {
		interrupts--;
		errno = EINTR;
		return -1;
	}
	/* One call would never end. */
	if (++calls > MOST_CALLS)
		abort();
	memcpy(msg->msg_name, &from, sizeof(from));
	msg->msg_namelen = sizeof(from);
	memset(msg->msg_iov[0].iov_base, 0x55, 20);
	return 20;
}

static void test_flood(void **state)
{
	static const enum pfnl_channel channels[] = { PFNL_REQUESTS,
						      PFNL_EVENTS };
	const struct pfnl_transport *t;
	unsigned char data[64];
	void *ctx;
	size_t i;

	(void)state;
	t = pfnl_socket_transport(&ctx);
	assert_non_null(t);
	for (i = 0; i < 2; i++) {
		if (t->open(ctx, channels[i]))
			skip();
		calls = 0;
		sender = 4711;
		assert_int_equal(t->recv(ctx, channels[i], data, sizeof(data)),
				 0);
		assert_int_equal(calls, 1);
		sender = 0;
		interrupts = 3;
		assert_int_equal(t->recv(ctx, channels[i], data, sizeof(data)),
				 20);
		t->close(ctx, channels[i]);
	}
	t->destroy(ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_flood),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
