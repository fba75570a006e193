// SPDX-License-Identifier: LGPL-2.1-or-later
/* The transport of pfnl_open(): two generic netlink sockets, made by libnl. */
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <netlink/errno.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>

#include "internal.h"

/* The kernel answers at once; this only keeps a bug from hanging a caller. */
#define ANSWER_SECONDS 30

struct sockets {
	struct nl_sock *sock[2]; /* by enum pfnl_channel */
};

static void socket_close(void *ctx, enum pfnl_channel channel)
{
	struct sockets *s = ctx;

	nl_socket_free(s->sock[channel]);
	s->sock[channel] = NULL;
}

static int socket_fd(void *ctx, enum pfnl_channel channel)
{
	struct sockets *s = ctx;

	return nl_socket_get_fd(s->sock[channel]);
}

static int set_option(int fd, int option)
{
	int one = 1;

	if (!setsockopt(fd, SOL_NETLINK, option, &one, sizeof(one)) ||
	    errno == ENOPROTOOPT)
		return 0;
	return -errno;
}

static int set_options(int fd, enum pfnl_channel channel)
{
	struct timeval limit = { .tv_sec = ANSWER_SECONDS };
	int r;

	r = set_option(fd, NETLINK_EXT_ACK);
	if (!r)
		r = set_option(fd, NETLINK_CAP_ACK);
	if (!r)
		r = set_option(fd, NETLINK_GET_STRICT_CHK);
	if (!r && channel == PFNL_REQUESTS &&
	    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)))
		r = -errno;
	return r;
}

static int socket_open(void *ctx, enum pfnl_channel channel)
{
	struct sockets *s = ctx;
	int r;

	s->sock[channel] = nl_socket_alloc();
	if (!s->sock[channel])
		return -ENOMEM;
	errno = 0;
	if (nl_connect(s->sock[channel], NETLINK_GENERIC) < 0) {
		/* libnl's code says less than what the system call left. */
		r = errno ? -errno : -EIO;
		socket_close(ctx, channel);
		return r;
	}
	r = set_options(socket_fd(ctx, channel), channel);
	if (r)
		socket_close(ctx, channel);
	return r;
}

static int socket_send(void *ctx, const void *data, size_t size)
{
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	int fd = socket_fd(ctx, PFNL_REQUESTS);
	ssize_t sent;

	do {
		sent = sendto(fd, data, size, 0, (struct sockaddr *)&kernel,
			      sizeof(kernel));
	} while (sent < 0 && errno == EINTR);
	if (sent < 0)
		return -errno;
	return (size_t)sent == size ? 0 : -EIO;
}

static ssize_t socket_recv(void *ctx, enum pfnl_channel channel, void *data,
			   size_t size)
{
	struct sockaddr_nl from;
	struct iovec vec = { .iov_base = data, .iov_len = size };
	struct msghdr msg = {
		.msg_name = &from,
		.msg_iov = &vec,
		.msg_iovlen = 1,
	};
	int flags = MSG_TRUNC;
	ssize_t got;

	if (channel == PFNL_EVENTS)
		flags |= MSG_DONTWAIT;
	do {
		msg.msg_namelen = sizeof(from);
		got = recvmsg(socket_fd(ctx, channel), &msg, flags);
	} while (got < 0 && errno == EINTR);
	if (got < 0)
		return errno == EWOULDBLOCK ? -EAGAIN : -errno;
	/* Any process may send here, without end: only the kernel is heard. */
	if (msg.msg_namelen != sizeof(from) || from.nl_pid)
		return 0;
	return got;
}

static int socket_join(void *ctx, uint32_t group)
{
	int value = (int)group;

	/* Not through libnl, which makes EPERM and others one code. */
	if (setsockopt(socket_fd(ctx, PFNL_EVENTS), SOL_NETLINK,
		       NETLINK_ADD_MEMBERSHIP, &value, sizeof(value)))
		return -errno;
	return 0;
}

static size_t socket_buffer(void *ctx, size_t bytes)
{
	int fd = socket_fd(ctx, PFNL_EVENTS);
	int value = bytes > INT32_MAX / 2 ? INT32_MAX / 2 : (int)bytes;
	socklen_t size = sizeof(value);

	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &value, sizeof(value)))
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &value, sizeof(value));
	if (getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &value, &size))
		return 0;
	return (size_t)value;
}

static void socket_destroy(void *ctx)
{
	free(ctx);
}

static const struct pfnl_transport transport = {
	.open = socket_open,
	.close = socket_close,
	.fd = socket_fd,
	.send = socket_send,
	.recv = socket_recv,
	.join = socket_join,
	.buffer = socket_buffer,
	.destroy = socket_destroy,
};

const struct pfnl_transport *pfnl_socket_transport(void **ctx)
{
	*ctx = calloc(1, sizeof(struct sockets));
	return *ctx ? &transport : NULL;
}
