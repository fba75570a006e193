// SPDX-License-Identifier: LGPL-2.1-or-later
/* The handle: made, closed. */
#include <errno.h>
#include <stdlib.h>

#include "internal.h"

int pfnl_open_transport(struct pfnl **handle, const struct pfnl_transport *ops,
			void *ctx)
{
	struct pfnl *h;
	int r = -ENOMEM;

	*handle = NULL;
	h = calloc(1, sizeof(*h));
	if (!h)
		goto no_handle;
	h->ops = ops;
	h->ctx = ctx;
	h->recv_buf = malloc(PFNL_RECV_SIZE);
	if (!h->recv_buf)
		goto no_buffer;
	/* Here, so that a machine without netlink is told of at once. */
	r = ops->open(ctx, PFNL_REQUESTS);
	if (r)
		goto no_buffer;
	h->requests_open = true;
	*handle = h;
	return 0;

no_buffer:
	free(h->recv_buf);
	free(h);
no_handle:
	ops->destroy(ctx);
	return r;
}

int pfnl_open(struct pfnl **h)
{
	const struct pfnl_transport *ops;
	void *ctx;

	*h = NULL;
	ops = pfnl_socket_transport(&ctx);
	if (!ops)
		return -ENOMEM;
	return pfnl_open_transport(h, ops, ctx);
}

void pfnl_close(struct pfnl *h)
{
	if (!h)
		return;
	pfnl_unsubscribe(h);
	if (h->requests_open)
		h->ops->close(h->ctx, PFNL_REQUESTS);
	h->ops->destroy(h->ctx);
	free(h->recv_buf);
	free(h);
}

const char *pfnl_version(void)
{
	return PFNL_VERSION;
}
