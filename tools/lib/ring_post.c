// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Posts work requests.
 *
 * An array needs no lock and one copy less than the mapped SQ: the kernel accepts arrays from
 * any number of threads at a time. The mapped SQ is used to post and wait in one call.
 */
#include <errno.h>
#include <string.h>

#include "ring.h"

int ring_post_array(int fd, unsigned long request, const struct krdma_sqe *entries,
		    size_t count, size_t *accepted)
{
	size_t done = 0;
	int err = 0;

	if (!entries || !count)
		return -EINVAL;
	while (done < count && !err) {
		struct krdma_ring_post_args post = {
			.size = sizeof(post),
			.entries = (uintptr_t)(entries + done),
			.count = KRDMA_RING_ENTRIES_MAX,
		};

		if (count - done < post.count)
			post.count = (__u32)(count - done);
		err = request_issue(fd, request, &post);
		if (err)
			break;
		done += post.accepted;
		err = post.error;
	}
	if (accepted)
		*accepted = done;
	return err;
}

KRDMA_PUBLIC int krdma_ring_post(struct krdma_ring *ring, const struct krdma_sqe *entries,
				 size_t count, size_t *accepted)
{
	if (accepted)
		*accepted = 0;
	if (!ring)
		return -EINVAL;
	return ring_post_array(ring->fd, KRDMA_RING_POST, entries, count, accepted);
}

/*
 * Writes entries to the SQ. The caller holds the submit lock. The SQ is empty, because run_ring()
 * removes refused entries again.
 */
static void fill(struct krdma_ring *ring, const struct krdma_sqe *entries, uint32_t count)
{
	struct krdma_ring_header *header = ring->header;
	uint32_t tail = header->sq_tail;
	uint32_t at = tail & (ring->sq_entries - 1);
	uint32_t first = ring->sq_entries - at;

	if (count == 1) {
		ring->sqes[at] = *entries;
	} else {
		if (first > count)
			first = count;
		memcpy(ring->sqes + at, entries, first * sizeof(*entries));
		memcpy(ring->sqes, entries + first, (count - first) * sizeof(*entries));
	}
	__atomic_store_n(&header->sq_tail, tail + count, __ATOMIC_RELEASE);
}

static int run_ring(struct krdma_ring *ring, const struct krdma_sqe *entries, uint32_t count,
		    size_t *accepted, uint32_t least, uint64_t deadline, bool *interrupted)
{
	struct krdma_ring_enter_args enter = {
		.size = sizeof(enter),
		.to_submit = count,
		.min_complete = least,
		.deadline_ns = deadline,
	};
	struct krdma_ring_header *header = ring->header;
	int err;

	fill(ring, entries, count);
	err = request_issue(ring->fd, KRDMA_RING_ENTER, &enter);
	if (!err) {
		*accepted = enter.submitted;
		err = enter.error;
	}
	/* Also without an error: a signal may have come first. */
	if (err || *accepted < count)
		header->sq_tail = __atomic_load_n(&header->sq_head, __ATOMIC_ACQUIRE);
	/* The kernel does not report the interruption if it accepted an entry. */
	*interrupted = !err && enter.completed < least && !deadline_past(deadline);
	return err;
}

KRDMA_PUBLIC int krdma_ring_enter(struct krdma_ring *ring, const struct krdma_sqe *entries,
				  size_t count, size_t *accepted, struct krdma_cqe *cqes,
				  size_t room, size_t least, uint64_t deadline, size_t *taken)
{
	bool interrupted = false;
	size_t most;
	int err;

	if (accepted)
		*accepted = 0;
	if (!ring || !accepted || !taken || !cqes || !room || least > room || !entries || !count)
		return -EINVAL;
	if (!least)
		least = 1;
	/* The kernel does not wait for more completions than the CQ can hold. */
	most = least < ring->cq_entries ? least : ring->cq_entries;

	if (count <= ring->sq_entries && ring_lock_try(&ring->submit_lock)) {
		err = run_ring(ring, entries, (uint32_t)count, accepted, (uint32_t)most,
			       deadline, &interrupted);
		ring_lock_release(&ring->submit_lock);
	} else {
		err = ring_post_array(ring->fd, KRDMA_RING_POST, entries, count, accepted);
	}
	if (err)
		return err;
	err = ring_wait_more(ring, cqes, room, least, interrupted ? 0 : deadline, taken);
	return err == -EAGAIN && interrupted ? -EINTR : err;
}
