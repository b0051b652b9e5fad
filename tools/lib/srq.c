// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Shared receive queues.
 */
#include <errno.h>
#include <stdlib.h>

#include "ring.h"

static int adopt(int fd, uint32_t id, struct krdma_srq **srq)
{
	struct krdma_srq *new;

	new = calloc(1, sizeof(*new));
	if (!new)
		return -ENOMEM;
	new->fd = fd;
	new->id = id;
	*srq = new;
	return 0;
}

KRDMA_PUBLIC int krdma_srq_create(struct krdma *session, struct krdma_ring *ring,
				  const struct krdma_srq_create_args *options,
				  struct krdma_srq **srq)
{
	struct krdma_srq_create_args create;
	int err;

	if (!session || !ring || !srq)
		return -EINVAL;
	err = request_options(&create, sizeof(create), options);
	if (err)
		return err;
	create.ring_fd = ring->fd;
	err = request_issue(session->fd, KRDMA_SRQ_CREATE, &create);
	return err ? err : object_made(create.fd, adopt(create.fd, create.id, srq));
}

KRDMA_PUBLIC int krdma_srq_post(struct krdma_srq *srq, const struct krdma_sqe *entries,
				size_t count, size_t *accepted)
{
	if (accepted)
		*accepted = 0;
	if (!srq)
		return -EINVAL;
	return ring_post_array(srq->fd, KRDMA_SRQ_POST, entries, count, accepted);
}

KRDMA_PUBLIC int krdma_srq_query(struct krdma_srq *srq, struct krdma_srq_query_args *query,
				 size_t size)
{
	int err = srq ? request_prepare(query, size, KRDMA_SRQ_QUERY_MIN_SIZE) : -EINVAL;

	return err ? err : request_issue(srq->fd, KRDMA_SRQ_QUERY, query);
}

KRDMA_PUBLIC uint32_t krdma_srq_id(const struct krdma_srq *srq)
{
	return srq ? srq->id : 0;
}

KRDMA_PUBLIC int krdma_srq_fd(const struct krdma_srq *srq)
{
	return srq ? srq->fd : -EINVAL;
}

KRDMA_PUBLIC int krdma_srq_open_fd(int fd, struct krdma_srq **srq)
{
	struct krdma_srq_query_args query = { .size = sizeof(query) };
	int err;

	if (!srq)
		return -EINVAL;
	err = request_issue(fd, KRDMA_SRQ_QUERY, &query);
	return err ? err : adopt(fd, query.id, srq);
}

KRDMA_PUBLIC int krdma_srq_close(struct krdma_srq *srq)
{
	return srq ? object_close(srq, srq->fd) : 0;
}
