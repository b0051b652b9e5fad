// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Takes completions.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>

#include "ring.h"

/*
 * Takes completions from the mapped CQ. Returns 0; -EAGAIN if the CQ is empty; or -EBADMSG if its
 * head and tail are invalid. *@flags are at most as recent as the CQ tail.
 */
static int take(struct krdma_ring *ring, struct krdma_cqe *cqes, size_t room, size_t *taken,
		uint32_t *flags)
{
	struct krdma_ring_header *header = ring->header;
	uint32_t head, filled, at, first;

	ring_lock_take(&ring->take_lock);
	/*
	 * Read the flags before the tail: if they say that the device is gone, the tail read
	 * after them is final.
	 */
	*flags = __atomic_load_n(&header->cq_flags, __ATOMIC_ACQUIRE);
	head = header->cq_head;
	filled = __atomic_load_n(&header->cq_tail, __ATOMIC_ACQUIRE) - head;
	if (filled && filled <= ring->cq_entries) {
		if (filled > room)
			filled = (uint32_t)room;
		at = head & (ring->cq_entries - 1);
		first = ring->cq_entries - at;
		if (filled == 1) {
			*cqes = ring->cqes[at];
		} else {
			if (first > filled)
				first = filled;
			memcpy(cqes, ring->cqes + at, first * sizeof(*cqes));
			memcpy(cqes + first, ring->cqes, (filled - first) * sizeof(*cqes));
		}
		__atomic_store_n(&header->cq_head, head + filled, __ATOMIC_RELEASE);
	}
	ring_lock_release(&ring->take_lock);

	if (!filled)
		return -EAGAIN;
	if (filled > ring->cq_entries)
		return -EBADMSG;
	*taken = filled;
	return 0;
}

static int enter(struct krdma_ring *ring, uint32_t least, uint64_t deadline)
{
	struct krdma_ring_enter_args enter = {
		.size = sizeof(enter),
		.min_complete = least,
		.deadline_ns = deadline,
	};

	return request_wait(ring->fd, KRDMA_RING_ENTER, &enter);
}

/*
 * Like take(), but also takes completions that are still in the kernel or the device. -ENODEV:
 * the device was removed, and all completions were taken.
 */
static int take_any(struct krdma_ring *ring, struct krdma_cqe *cqes, size_t room, size_t *taken)
{
	uint32_t flags;
	int err = take(ring, cqes, room, taken, &flags);

	if (err != -EAGAIN)
		return err;
	if (ring->polled || (flags & KRDMA_RING_CQ_OVERFLOW)) {
		do {
			err = enter(ring, 0, 0);
		} while (err == -EINTR);
		if (err && err != -ENODEV && err != -ETIMEDOUT)
			return err;
		err = take(ring, cqes, room, taken, &flags);
	}
	return err == -EAGAIN && (flags & KRDMA_RING_DEAD) ? -ENODEV : err;
}

KRDMA_PUBLIC int krdma_ring_poll(struct krdma_ring *ring, struct krdma_cqe *cqes, size_t room,
				 size_t *taken)
{
	if (!ring || !cqes || !room || !taken)
		return -EINVAL;
	return take_any(ring, cqes, room, taken);
}

int ring_wait_more(struct krdma_ring *ring, struct krdma_cqe *cqes, size_t room, size_t least,
		   uint64_t deadline, size_t *taken)
{
	size_t got = 0, some = 0, more;
	int err, over = 0;

	for (;;) {
		err = take_any(ring, cqes + got, room - got, &some);
		if (!err)
			got += some;
		if (got >= least || over || (err && err != -EAGAIN))
			break;
		if (!deadline) {
			over = -EAGAIN;
			break;
		}
		more = least - got < ring->cq_entries ? least - got : ring->cq_entries;
		/* Even after an error, first take the completions that are in the CQ now. */
		over = enter(ring, (uint32_t)more, deadline);
	}
	if (got) {
		*taken = got;
		return 0;
	}
	return over ? over : err;
}

KRDMA_PUBLIC int krdma_ring_wait(struct krdma_ring *ring, struct krdma_cqe *cqes, size_t room,
				 size_t least, uint64_t deadline, size_t *taken)
{
	if (!ring || !cqes || !room || !taken || least > room)
		return -EINVAL;
	return ring_wait_more(ring, cqes, room, least ? least : 1, deadline, taken);
}

/*
 * Waiting for one of several rings
 */

/*
 * Checks for completions without taking them. Returns 0, -EAGAIN, or the error that
 * krdma_ring_poll() would return.
 */
static int look(struct krdma_ring *ring)
{
	struct krdma_ring_header *header = ring->header;
	bool asked = false;
	uint32_t flags;
	int err;

	for (;;) {
		flags = __atomic_load_n(&header->cq_flags, __ATOMIC_ACQUIRE);
		if (__atomic_load_n(&header->cq_tail, __ATOMIC_ACQUIRE) !=
		    __atomic_load_n(&header->cq_head, __ATOMIC_RELAXED))
			return 0;
		if (asked || !(ring->polled || (flags & KRDMA_RING_CQ_OVERFLOW)))
			return flags & KRDMA_RING_DEAD ? -ENODEV : -EAGAIN;
		do {
			err = enter(ring, 0, 0);
		} while (err == -EINTR);
		if (err && err != -ENODEV && err != -ETIMEDOUT)
			return err;
		asked = true;
	}
}

/*
 * Checks the rings in order. Returns 0 or the error of the first ring that has completions or an
 * error, with its index in *@which; or -EAGAIN if no ring has either.
 */
static int look_at_all(struct krdma_ring *const *rings, size_t count, size_t *which)
{
	for (size_t i = 0; i < count; i++) {
		int err = look(rings[i]);

		if (err == -EAGAIN)
			continue;
		*which = i;
		return err;
	}
	return -EAGAIN;
}

/*
 * A polling thread does not sleep in a system call that a signal could interrupt. Signals are
 * therefore blocked while it polls, and every few rounds ppoll() unblocks them and reports
 * whether one arrived. Signals raised by faults of this thread stay unblocked: if they were
 * blocked, the kernel would kill the process.
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

static int ask_all(struct krdma_ring *const *rings, size_t count, uint64_t deadline,
		   size_t *which)
{
	unsigned int round = 0;
	sigset_t before;
	int err, over = 0;

	hold_signals(&before);
	for (;;) {
		err = look_at_all(rings, count, which);
		/* Like krdma_ring_wait(), check once more after the deadline or a signal. */
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

KRDMA_PUBLIC int krdma_ring_wait_any(struct krdma_ring *const *rings, size_t count,
				     uint64_t deadline, size_t *which)
{
	struct pollfd fds[KRDMA_WAIT_ANY_MAX];
	bool polled = false;
	int err, over;

	if (!rings || !count || count > KRDMA_WAIT_ANY_MAX || !which)
		return -EINVAL;
	for (size_t i = 0; i < count; i++) {
		if (!rings[i])
			return -EINVAL;
		fds[i] = (struct pollfd){ .fd = rings[i]->fd, .events = POLLIN };
		polled |= rings[i]->polled;
	}
	err = look_at_all(rings, count, which);
	if (err != -EAGAIN || !deadline)
		return err;
	if (polled)
		return ask_all(rings, count, deadline, which);
	do {
		over = request_await_any(fds, count, deadline);
		err = look_at_all(rings, count, which);
	} while (err == -EAGAIN && !over);
	return err == -EAGAIN ? over : err;
}
