/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* libkrdma: a ring and its mapped memory. */
#ifndef KRDMA_RING_H
#define KRDMA_RING_H

#include <stdbool.h>

#include "internal.h"
#include "ring_lock.h"

/**
 * struct krdma_ring - a ring of this process
 * @fd: its descriptor
 * @polled: completions arrive only during ioctls
 * @sq_entries, @cq_entries: numbers of entries from the kernel, powers of two. They are not
 *	read from the shared memory, which another process may also write
 * @size: size of the mapping in bytes
 * @header: the mapping
 * @maker: the process that owns the mapping
 * @sqes, @cqes: the entries in the mapping
 * @submit_lock: protects the SQ. Threads only try to take it: a thread that does not get it
 *	passes an array to the kernel instead
 * @take_lock: protects the consumer side of the CQ
 */
struct krdma_ring {
	int fd;
	bool polled;
	uint32_t sq_entries;
	uint32_t cq_entries;
	size_t size;
	struct krdma_ring_header *header;
	pid_t maker;
	struct krdma_sqe *sqes;
	const struct krdma_cqe *cqes;
	struct ring_lock submit_lock;
	struct ring_lock take_lock;
};

/* ring_post.c: posts entries as an array, also those of an SRQ. */
int ring_post_array(int fd, unsigned long request, const struct krdma_sqe *entries,
		    size_t count, size_t *accepted);

/* ring_poll.c: KRDMA_RING_ENTER, only to wait. */
int ring_wait_more(struct krdma_ring *ring, struct krdma_cqe *cqes, size_t room, size_t least,
		   uint64_t deadline, size_t *taken);

#endif /* KRDMA_RING_H */
