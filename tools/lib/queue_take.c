// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Taking completions.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>

#include "queue.h"

/* What is in the ring: 0, -EAGAIN, -EBADMSG; *@flags are those of that moment or before. */
static int take(struct krdma_queue *queue, struct krdma_cqe *cqes, size_t room, size_t *taken,
		uint32_t *flags)
{
	struct krdma_ring *ring = queue->ring;
	uint32_t head, filled, at, first;

	pthread_mutex_lock(&queue->take_lock);
	/* Before the tail: when they say that the device is gone, that is the last tail. */
	*flags = __atomic_load_n(&ring->cq_flags, __ATOMIC_ACQUIRE);
	head = ring->cq_head;
	filled = __atomic_load_n(&ring->cq_tail, __ATOMIC_ACQUIRE) - head;
	if (filled && filled <= queue->cq_entries) {
		if (filled > room)
			filled = (uint32_t)room;
		at = head & (queue->cq_entries - 1);
		first = queue->cq_entries - at;
		if (first > filled)
			first = filled;
		memcpy(cqes, queue->cqes + at, first * sizeof(*cqes));
		memcpy(cqes + first, queue->cqes, (filled - first) * sizeof(*cqes));
		__atomic_store_n(&ring->cq_head, head + filled, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&queue->take_lock);

	if (!filled)
		return -EAGAIN;
	if (filled > queue->cq_entries)
		return -EBADMSG;
	*taken = filled;
	return 0;
}

static int enter(struct krdma_queue *queue, uint32_t least, uint64_t deadline)
{
	struct krdma_queue_enter enter = {
		.size = sizeof(enter),
		.min_complete = least,
		.deadline_ns = deadline,
	};

	return request_wait(queue->fd, KRDMA_QUEUE_ENTER, &enter);
}

/* The same, and what the kernel or the device still has. */
static int take_any(struct krdma_queue *queue, struct krdma_cqe *cqes, size_t room, size_t *taken)
{
	uint32_t flags;
	int err = take(queue, cqes, room, taken, &flags);

	if (err != -EAGAIN)
		return err;
	if (queue->polled || (flags & KRDMA_RING_MORE)) {
		do {
			err = enter(queue, 0, 0);
		} while (err == -EINTR);
		if (err && err != -ENODEV && err != -ETIMEDOUT)
			return err;
		err = take(queue, cqes, room, taken, &flags);
	}
	return err == -EAGAIN && (flags & KRDMA_RING_DEAD) ? -ENODEV : err;
}

KRDMA_PUBLIC int krdma_queue_take(struct krdma_queue *queue, struct krdma_cqe *cqes, size_t room,
				  size_t *taken)
{
	if (!queue || !cqes || !room || !taken)
		return -EINVAL;
	return take_any(queue, cqes, room, taken);
}

int queue_wait_more(struct krdma_queue *queue, struct krdma_cqe *cqes, size_t room, size_t least,
		    uint64_t deadline, size_t *taken)
{
	size_t got = 0, some = 0, more;
	int err, over = 0;

	for (;;) {
		err = take_any(queue, cqes + got, room - got, &some);
		if (!err)
			got += some;
		if (got >= least || over || (err && err != -EAGAIN))
			break;
		if (!deadline) {
			over = -EAGAIN;
			break;
		}
		more = least - got < queue->cq_entries ? least - got : queue->cq_entries;
		/* Whatever it says, what is in the ring by now is taken first. */
		over = enter(queue, (uint32_t)more, deadline);
	}
	if (got) {
		*taken = got;
		return 0;
	}
	return over ? over : err;
}

KRDMA_PUBLIC int krdma_queue_wait(struct krdma_queue *queue, struct krdma_cqe *cqes, size_t room,
				  size_t least, uint64_t deadline, size_t *taken)
{
	if (!queue || !cqes || !room || !taken || least > room)
		return -EINVAL;
	return queue_wait_more(queue, cqes, room, least ? least : 1, deadline, taken);
}

/*
 * Waiting for one of several
 */

/* Is there something to take?  0, -EAGAIN, or what krdma_queue_take() would say. */
static int look(struct krdma_queue *queue)
{
	struct krdma_ring *ring = queue->ring;
	bool asked = false;
	uint32_t flags;
	int err;

	for (;;) {
		flags = __atomic_load_n(&ring->cq_flags, __ATOMIC_ACQUIRE);
		if (__atomic_load_n(&ring->cq_tail, __ATOMIC_ACQUIRE) !=
		    __atomic_load_n(&ring->cq_head, __ATOMIC_RELAXED))
			return 0;
		if (asked || !(queue->polled || (flags & KRDMA_RING_MORE)))
			return flags & KRDMA_RING_DEAD ? -ENODEV : -EAGAIN;
		do {
			err = enter(queue, 0, 0);
		} while (err == -EINTR);
		if (err && err != -ENODEV && err != -ETIMEDOUT)
			return err;
		asked = true;
	}
}

KRDMA_PUBLIC int krdma_queue_wait_any(struct krdma_queue *const *queues, size_t count,
				      uint64_t deadline, size_t *which)
{
	struct pollfd fds[KRDMA_WAIT_ANY_MAX];
	bool polled = false;
	int err, over = 0;

	if (!queues || !count || count > KRDMA_WAIT_ANY_MAX || !which)
		return -EINVAL;
	for (size_t i = 0; i < count; i++) {
		if (!queues[i])
			return -EINVAL;
		fds[i] = (struct pollfd){ .fd = queues[i]->fd, .events = POLLIN };
		polled |= queues[i]->polled;
	}
	for (;;) {
		for (size_t i = 0; i < count; i++) {
			err = look(queues[i]);
			if (err == -EAGAIN)
				continue;
			*which = i;
			return err;
		}
		if (!deadline)
			return -EAGAIN;
		/* What has come by the end is found, as with krdma_queue_wait(). */
		if (over)
			return over;
		if (polled)
			over = krdma_deadline(0) >= deadline ? -ETIMEDOUT : 0;
		else
			over = request_await_any(fds, count, deadline);
	}
}
