// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Many connections at a time, without descriptors, and how one of them gets one.
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#include "internal.h"
#include "ring.h"

static void none_done(uint32_t *done)
{
	if (done)
		*done = 0;
}

/* A module that does not have these ioctls has no support for them. */
static int request_many(struct krdma *session, unsigned long request,
			struct krdma_conns_args *args, struct krdma_conns_entry *entries,
			uint32_t count, uint32_t *done)
{
	int err;

	args->entries = (uintptr_t)entries;
	args->count = count;
	err = request_wait(session->fd, request, args);
	if (err)
		return err == -ENOTTY ? -EOPNOTSUPP : err;
	if (done)
		*done = args->done;
	return args->error;
}

/* The requests that make queues, which have options and a ring. */
static int request_queues(struct krdma *session, unsigned long request, struct krdma_ring *ring,
			  struct krdma_conns_entry *entries, uint32_t count,
			  const struct krdma_conns_args *options, uint64_t deadline,
			  uint32_t *done)
{
	struct krdma_conns_args args;
	int err;

	none_done(done);
	if (!session || !ring || !entries)
		return -EINVAL;
	err = request_options(&args, sizeof(args), options);
	if (err)
		return err;
	args.fd = ring->fd;
	args.deadline_ns = deadline;
	return request_many(session, request, &args, entries, count, done);
}

KRDMA_PUBLIC int krdma_conns_open(struct krdma *session, struct krdma_ring *ring,
				  struct krdma_conns_entry *entries, uint32_t count,
				  const struct krdma_conns_args *options, uint64_t deadline,
				  uint32_t *done)
{
	return request_queues(session, KRDMA_CONNS_OPEN, ring, entries, count, options, deadline,
			      done);
}

KRDMA_PUBLIC int krdma_conns_take(struct krdma *session, struct krdma_listener *listener,
				  struct krdma_conns_entry *entries, uint32_t count,
				  uint64_t deadline, uint32_t *done)
{
	struct krdma_conns_args args = { .size = sizeof(args), .deadline_ns = deadline };

	none_done(done);
	if (!session || !listener || !entries || !done)
		return -EINVAL;
	args.fd = listener->fd;
	return request_many(session, KRDMA_CONNS_TAKE, &args, entries, count, done);
}

KRDMA_PUBLIC int krdma_conns_accept(struct krdma *session, struct krdma_ring *ring,
				    struct krdma_conns_entry *entries, uint32_t count,
				    const struct krdma_conns_args *options, uint32_t *done)
{
	return request_queues(session, KRDMA_CONNS_ACCEPT, ring, entries, count, options, 0, done);
}

KRDMA_PUBLIC int krdma_conns_close(struct krdma *session, struct krdma_conns_entry *entries,
				   uint32_t count, uint32_t *done)
{
	struct krdma_conns_args args = { .size = sizeof(args) };

	none_done(done);
	if (!session || !entries)
		return -EINVAL;
	return request_many(session, KRDMA_CONNS_CLOSE, &args, entries, count, done);
}

KRDMA_PUBLIC int krdma_conns_fd(struct krdma *session, uint32_t id, struct krdma_conn **conn)
{
	struct krdma_conns_fd_args args = { .size = sizeof(args), .id = id };
	struct krdma_conn *new;
	int err;

	if (!session || !conn)
		return -EINVAL;
	/* First, because closing the descriptor would end the connection. */
	err = conn_adopt(-1, id, &new);
	if (err)
		return err;
	err = request_issue(session->fd, KRDMA_CONNS_FD, &args);
	if (err) {
		free(new);
		return err == -ENOTTY ? -EOPNOTSUPP : err;
	}
	new->fd = args.fd;
	*conn = new;
	return 0;
}
