/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * libkrdma: a queue and its rings.
 */
#ifndef KRDMA_RING_H
#define KRDMA_RING_H

#include <pthread.h>
#include <stdbool.h>

#include "internal.h"

/**
 * struct krdma_ring - a queue of this process's
 * @fd: its descriptor
 * @polled: completions come only inside requests
 * @sq_entries, @cq_entries: as the kernel says, powers of two; not from the rings,
 *	which may be another process's too
 * @size: of the mapping
 * @header: the mapping
 * @maker: the process that has it
 * @sqes, @cqes: the entries in it
 * @submit_lock: whoever has it may write the submission ring; only tried: who does
 *	not get it hands the kernel an array
 * @take_lock: whoever has it may take from the completion ring
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
	pthread_mutex_t submit_lock;
	pthread_mutex_t take_lock;
};

/* queue_post.c: entries by an array, also those of a shared receive queue. */
int queue_post_array(int fd, unsigned long request, const struct krdma_sqe *entries,
		     size_t count, size_t *accepted);

/* queue_take.c: KRDMA_RING_ENTER, for nothing but waiting. */
int queue_wait_more(struct krdma_ring *ring, struct krdma_cqe *cqes, size_t room, size_t least,
		    uint64_t deadline, size_t *taken);

#endif /* KRDMA_RING_H */
