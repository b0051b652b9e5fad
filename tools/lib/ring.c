// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Creates, maps and closes rings.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ring.h"

static int query(int fd, struct krdma_ring_query_args *query)
{
	*query = (struct krdma_ring_query_args){ .size = sizeof(*query) };
	return request_issue(fd, KRDMA_RING_QUERY, query);
}

/* After an error the caller still owns @fd. */
static int adopt(int fd, struct krdma_ring **ring)
{
	struct krdma_ring_query_args is;
	struct krdma_ring *new;
	int err;

	err = query(fd, &is);
	if (err)
		return err;
	new = calloc(1, sizeof(*new));
	if (!new)
		return -ENOMEM;
	new->fd = fd;
	new->polled = is.ring_flags & KRDMA_RING_POLLED;
	new->sq_entries = is.sq_entries;
	new->cq_entries = is.cq_entries;
	new->size = (size_t)is.ring_size;
	new->header = mmap(NULL, new->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (new->header == MAP_FAILED) {
		err = -errno;
		free(new);
		return err;
	}
	new->maker = getpid();
	new->sqes = (struct krdma_sqe *)((char *)new->header + is.sqe_offset);
	new->cqes = (struct krdma_cqe *)((char *)new->header + is.cqe_offset);
	*ring = new;
	return 0;
}

KRDMA_PUBLIC int krdma_ring_create(struct krdma *session,
				   const struct krdma_ring_create_args *options,
				   struct krdma_ring **ring)
{
	struct krdma_ring_create_args create;
	int err;

	if (!session || !ring)
		return -EINVAL;
	err = request_options(&create, sizeof(create), options);
	if (!err)
		err = request_issue(session->fd, KRDMA_RING_CREATE, &create);
	if (err)
		return err;
	return object_made(create.fd, adopt(create.fd, ring));
}

KRDMA_PUBLIC int krdma_ring_query(struct krdma_ring *ring, struct krdma_ring_query_args *query,
				  size_t size)
{
	int err = ring ? request_prepare(query, size, KRDMA_RING_QUERY_MIN_SIZE) : -EINVAL;

	return err ? err : request_issue(ring->fd, KRDMA_RING_QUERY, query);
}

KRDMA_PUBLIC int krdma_ring_confine(struct krdma_ring *ring, const uint32_t *ids, size_t count)
{
	struct krdma_ring_confine_args confine = {
		.size = sizeof(confine),
		.mr = (uintptr_t)ids,
		.count = count,
	};

	if (!ring)
		return -EINVAL;
	if (count > KRDMA_CONFINE_MAX)
		return -E2BIG;
	return request_issue(ring->fd, KRDMA_RING_CONFINE, &confine);
}

KRDMA_PUBLIC int krdma_ring_fd(const struct krdma_ring *ring)
{
	return ring ? ring->fd : -EINVAL;
}

KRDMA_PUBLIC int krdma_ring_open_fd(int fd, struct krdma_ring **ring)
{
	return ring ? adopt(fd, ring) : -EINVAL;
}

KRDMA_PUBLIC int krdma_ring_close(struct krdma_ring *ring)
{
	if (!ring)
		return 0;
	/* A child of fork() does not have the mapping; another one may be at that address. */
	if (object_is_own(ring->maker))
		munmap(ring->header, ring->size);
	return object_close(ring, ring->fd);
}
