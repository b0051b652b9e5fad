// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Taking completions.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
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

/* 0, -EAGAIN if none has something, or the error of *@which. */
static int look_at_all(struct krdma_queue *const *queues, size_t count, size_t *which)
{
	for (size_t i = 0; i < count; i++) {
		int err = look(queues[i]);

		if (err == -EAGAIN)
			continue;
		*which = i;
		return err;
	}
	return -EAGAIN;
}

/*
 * A thread that asks again and again is in no call that a signal could end.  So signals are
 * held back meanwhile, and every few rounds ppoll() lets them in and says that there was
 * one.  Those that a fault of this thread raises are not: held back they kill the process.
 */
#define ROUNDS	16

static void hold_signals(sigset_t *before)
{
	static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT };
	sigset_t set;

	sigfillset(&set);
	for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++)
		sigdelset(&set, faults[i]);
	pthread_sigmask(SIG_BLOCK, &set, before);
}

static int let_signals_in(const sigset_t *before)
{
	const struct timespec none = { 0 };

	return ppoll(NULL, 0, &none, before) < 0 && errno == EINTR ? -EINTR : 0;
}

static int ask_all(struct krdma_queue *const *queues, size_t count, uint64_t deadline,
		   size_t *which)
{
	unsigned int round = 0;
	sigset_t before;
	int err, over = 0;

	hold_signals(&before);
	for (;;) {
		err = look_at_all(queues, count, which);
		/* What has come by the end is found, as with krdma_queue_wait(). */
		if (err != -EAGAIN || over)
			break;
		if (deadline != KRDMA_FOREVER && deadline_past(deadline))
			over = -ETIMEDOUT;
		else if (++round % ROUNDS == 0)
			over = let_signals_in(&before);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return err == -EAGAIN ? over : err;
}

KRDMA_PUBLIC int krdma_queue_wait_any(struct krdma_queue *const *queues, size_t count,
				      uint64_t deadline, size_t *which)
{
	struct pollfd fds[KRDMA_WAIT_ANY_MAX];
	bool polled = false;
	int err, over;

	if (!queues || !count || count > KRDMA_WAIT_ANY_MAX || !which)
		return -EINVAL;
	for (size_t i = 0; i < count; i++) {
		if (!queues[i])
			return -EINVAL;
		fds[i] = (struct pollfd){ .fd = queues[i]->fd, .events = POLLIN };
		polled |= queues[i]->polled;
	}
	err = look_at_all(queues, count, which);
	if (err != -EAGAIN || !deadline)
		return err;
	if (polled)
		return ask_all(queues, count, deadline, which);
	do {
		over = request_await_any(fds, count, deadline);
		err = look_at_all(queues, count, which);
	} while (err == -EAGAIN && !over);
	return err == -EAGAIN ? over : err;
}
