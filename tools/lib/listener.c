// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Listeners.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

static int adopt(int fd, struct krdma_listener **listener)
{
	struct krdma_listener *new;

	new = calloc(1, sizeof(*new));
	if (!new)
		return -ENOMEM;
	new->fd = fd;
	*listener = new;
	return 0;
}

KRDMA_PUBLIC int krdma_listen_options(struct krdma *session, const struct sockaddr *address,
				      const struct krdma_listen_args *options,
				      struct krdma_listener **listener)
{
	struct krdma_listen_args listen;
	int err;

	if (!session || !listener)
		return -EINVAL;
	err = request_options(&listen, sizeof(listen), options);
	if (!err)
		err = request_address(&listen.address, address);
	if (!err)
		err = request_issue(session->fd, KRDMA_LISTEN, &listen);
	return err ? err : object_made(listen.fd, adopt(listen.fd, listener));
}

KRDMA_PUBLIC int krdma_listen(struct krdma *session, const struct sockaddr *address,
			      uint32_t flags, uint32_t backlog, struct krdma_listener **listener)
{
	const struct krdma_listen_args options = { .size = sizeof(options), .flags = flags,
						   .backlog = backlog };

	return krdma_listen_options(session, address, &options, listener);
}

KRDMA_PUBLIC int krdma_listener_query(struct krdma_listener *listener,
				      struct krdma_listener_query_args *query, size_t size)
{
	int err = listener ? request_prepare(query, size, KRDMA_LISTENER_QUERY_MIN_SIZE) : -EINVAL;

	return err ? err : request_issue(listener->fd, KRDMA_LISTENER_QUERY, query);
}

KRDMA_PUBLIC int krdma_listener_address(struct krdma_listener *listener,
					struct sockaddr_storage *address)
{
	struct krdma_listener_query_args query = { .size = sizeof(query) };
	int err;

	if (!listener || !address)
		return -EINVAL;
	err = request_issue(listener->fd, KRDMA_LISTENER_QUERY, &query);
	if (!err)
		memcpy(address, &query.address, sizeof(*address));
	return err;
}

KRDMA_PUBLIC int krdma_listener_flags(struct krdma_listener *listener, uint32_t *flags)
{
	struct krdma_listener_query_args query = { .size = sizeof(query) };
	int err;

	if (!listener || !flags)
		return -EINVAL;
	err = request_issue(listener->fd, KRDMA_LISTENER_QUERY, &query);
	if (!err)
		*flags = query.listen_flags;
	return err;
}

KRDMA_PUBLIC int krdma_listener_next(struct krdma_listener *listener, uint64_t deadline,
				     struct krdma_conn **conn)
{
	struct krdma_listener_next_args next = { .size = sizeof(next), .deadline_ns = deadline };
	int err;

	if (!listener || !conn)
		return -EINVAL;
	err = request_wait(listener->fd, KRDMA_LISTENER_NEXT, &next);
	return err ? err : object_made(next.fd, conn_adopt(next.fd, next.id, conn));
}

KRDMA_PUBLIC int krdma_listener_fd(const struct krdma_listener *listener)
{
	return listener ? listener->fd : -EINVAL;
}

KRDMA_PUBLIC int krdma_listener_open_fd(int fd, struct krdma_listener **listener)
{
	struct krdma_listener_query_args query = { .size = sizeof(query) };
	int err;

	if (!listener)
		return -EINVAL;
	err = request_issue(fd, KRDMA_LISTENER_QUERY, &query);
	/* A listener whose device is gone is still a listener. */
	if (err && err != -ENODEV)
		return err;
	return adopt(fd, listener);
}

KRDMA_PUBLIC int krdma_listener_close(struct krdma_listener *listener)
{
	return listener ? object_close(listener, listener->fd) : 0;
}
