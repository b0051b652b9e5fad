// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Queues: making, mapping, closing.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "queue.h"

static int query(int fd, struct krdma_queue_query *query)
{
	*query = (struct krdma_queue_query){ .size = sizeof(*query) };
	return request_issue(fd, KRDMA_QUEUE_QUERY, query);
}

/* The descriptor stays the caller's if it fails. */
static int adopt(int fd, struct krdma_queue **queue)
{
	struct krdma_queue_query is;
	struct krdma_queue *new;
	int err;

	err = query(fd, &is);
	if (err)
		return err;
	new = calloc(1, sizeof(*new));
	if (!new)
		return -ENOMEM;
	new->fd = fd;
	new->polled = is.queue_flags & KRDMA_QUEUE_POLLED;
	new->sq_entries = is.sq_entries;
	new->cq_entries = is.cq_entries;
	new->size = (size_t)is.ring_size;
	new->ring = mmap(NULL, new->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (new->ring == MAP_FAILED) {
		err = -errno;
		free(new);
		return err;
	}
	new->maker = getpid();
	new->sqes = (struct krdma_sqe *)((char *)new->ring + is.sqe_offset);
	new->cqes = (struct krdma_cqe *)((char *)new->ring + is.cqe_offset);
	/* With default attributes these cannot fail. */
	pthread_mutex_init(&new->submit_lock, NULL);
	pthread_mutex_init(&new->take_lock, NULL);
	*queue = new;
	return 0;
}

KRDMA_PUBLIC int krdma_queue_create(struct krdma *session,
				    const struct krdma_queue_create *options,
				    struct krdma_queue **queue)
{
	struct krdma_queue_create create;
	int err;

	if (!session || !queue)
		return -EINVAL;
	err = request_options(&create, sizeof(create), options);
	if (!err)
		err = request_issue(session->fd, KRDMA_QUEUE_CREATE, &create);
	if (err)
		return err;
	return object_made(create.fd, adopt(create.fd, queue));
}

KRDMA_PUBLIC int krdma_queue_get(struct krdma_queue *queue, struct krdma_queue_query *query,
				 size_t size)
{
	int err = queue ? request_prepare(query, size, KRDMA_QUEUE_QUERY_MIN_SIZE) : -EINVAL;

	return err ? err : request_issue(queue->fd, KRDMA_QUEUE_QUERY, query);
}

KRDMA_PUBLIC int krdma_queue_confine(struct krdma_queue *queue, const uint32_t *ids, size_t count)
{
	struct krdma_queue_confine confine = {
		.size = sizeof(confine),
		.memory = (uintptr_t)ids,
		.count = count,
	};

	if (!queue)
		return -EINVAL;
	if (count > KRDMA_CONFINE_MAX)
		return -E2BIG;
	return request_issue(queue->fd, KRDMA_QUEUE_CONFINE, &confine);
}

KRDMA_PUBLIC int krdma_queue_fd(const struct krdma_queue *queue)
{
	return queue ? queue->fd : -EINVAL;
}

KRDMA_PUBLIC int krdma_queue_open_fd(int fd, struct krdma_queue **queue)
{
	return queue ? adopt(fd, queue) : -EINVAL;
}

KRDMA_PUBLIC int krdma_queue_close(struct krdma_queue *queue)
{
	if (!queue)
		return 0;
	pthread_mutex_destroy(&queue->take_lock);
	pthread_mutex_destroy(&queue->submit_lock);
	/* In a child of fork() something else lies there. */
	if (object_is_own(queue->maker))
		munmap(queue->ring, queue->size);
	return object_close(queue, queue->fd);
}
