/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What carries the bytes between the library and the kernel. Private: it lets
 * tests and fuzzers put something else in the kernel's place. Only
 * libprefetchnl_static has pfnl_open_transport().
 */
#ifndef PFNL_TRANSPORT_H
#define PFNL_TRANSPORT_H

#include "prefetchnl.h"

/**
 * enum pfnl_channel - Requests and events go over separate sockets.
 * @PFNL_REQUESTS: requests and their answers.
 * @PFNL_EVENTS: multicast messages.
 */
enum pfnl_channel {
	PFNL_REQUESTS,
	PFNL_EVENTS,
};

/**
 * struct pfnl_transport - Two channels to a kernel. All are called with the ctx
 * given to pfnl_open_transport(), and return 0 or -errno where nothing else is
 * said.
 * @open: open a channel that is closed.
 * @close: close a channel that is open.
 * @fd: descriptor of an open channel.
 * @send: send one datagram to the kernel over PFNL_REQUESTS.
 * @recv: receive one datagram: its whole length, also if that is more than size
 *     and the rest is cut off; never more than the kernel sent. 0 for one that
 *     is of no use, so that callers can count these. PFNL_EVENTS never waits:
 *     -EAGAIN if there is nothing; PFNL_REQUESTS waits some time. Never -EINTR.
 * @join: let PFNL_EVENTS receive a multicast group.
 * @buffer: wish a size in bytes for the receive buffer of PFNL_EVENTS; returns
 *     what was granted.
 * @destroy: free ctx; both channels are closed.
 */
struct pfnl_transport {
	int (*open)(void *ctx, enum pfnl_channel channel);
	void (*close)(void *ctx, enum pfnl_channel channel);
	int (*fd)(void *ctx, enum pfnl_channel channel);
	int (*send)(void *ctx, const void *data, size_t size);
	ssize_t (*recv)(void *ctx, enum pfnl_channel channel, void *data,
			size_t size);
	int (*join)(void *ctx, uint32_t group);
	size_t (*buffer)(void *ctx, size_t bytes);
	void (*destroy)(void *ctx);
};

/**
 * pfnl_open_transport() - pfnl_open() with another transport.
 * @h: as in pfnl_open().
 * @ops: stays the caller's, and outlives the handle.
 * @ctx: passed to @ops. The handle owns it, also after a failure.
 *
 * Return: 0 or -errno.
 */
int pfnl_open_transport(struct pfnl **h, const struct pfnl_transport *ops,
			void *ctx);

/**
 * pfnl_socket_transport() - The transport of pfnl_open(): sockets of libnl.
 * @ctx: set on success.
 *
 * Return: the transport, or NULL if memory is short.
 */
const struct pfnl_transport *pfnl_socket_transport(void **ctx);

#endif /* PFNL_TRANSPORT_H */
