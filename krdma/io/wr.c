// SPDX-License-Identifier: GPL-2.0
/*
 * Requests on their way to the device: what happens when it refuses some.
 */
#include <linux/percpu.h>

#include "io/wr.h"

struct krdma_workbench __percpu *krdma_workbenches;

/**
 * krdma_workbenches_init - where requests are made
 *
 * Context: process context; may sleep.
 * Return: 0 or -ENOMEM.
 */
int krdma_workbenches_init(void)
{
	int cpu;

	krdma_workbenches = alloc_percpu(struct krdma_workbench);
	if (!krdma_workbenches)
		return -ENOMEM;
	for_each_possible_cpu(cpu)
		local_lock_init(&per_cpu_ptr(krdma_workbenches, cpu)->lock);
	return 0;
}

/**
 * krdma_workbenches_exit - nobody posts any more
 *
 * Context: process context.
 */
void krdma_workbenches_exit(void)
{
	free_percpu(krdma_workbenches);
}

/**
 * krdma_cut_keep - keep memory until the queue pair is gone
 * @qp: the queue pair
 * @region: what is kept
 *
 * The device has a part of the operation, and may use any of its memory until the
 * queue pair is gone: so what its other pieces would have kept is kept, too.
 *
 * Context: any.
 */
void krdma_cut_keep(struct krdma_qp *qp, struct krdma_region *region)
{
	/* One operation has no more of them than that. */
	if (!WARN_ON_ONCE(qp->cut_region_count == KRDMA_SEGMENTS))
		qp->cut_regions[qp->cut_region_count++] = region;
}

/* The device did not take the slots from @position to the tail. */
static void krdma_chain_reject(struct krdma_work_ring *ring, u32 position)
{
	bool cut = ring->chain.open_pieces;
	struct krdma_region **regions;
	struct krdma_slot *slot;

	for (; position != ring->tail; position++) {
		slot = krdma_ring_slot(ring, position);
		regions = krdma_ring_regions(ring, position);
		if (cut) {
			while (slot->region_count)
				krdma_cut_keep(ring->qp, regions[--slot->region_count]);
			cut = !(slot->flags & KRDMA_SLOT_LAST);
		} else {
			krdma_ring_drop_regions(ring, position);
		}
	}
	/* Perhaps the one that completes in any case was among them: the next one does. */
	ring->run = ring->credits.depth;
}

/**
 * krdma_chain_account - look what the device has of a chain that it has not taken
 * @ring: the ring
 * @taken: how many requests it took, from the first on
 *
 * Context: any.
 */
void krdma_chain_account(struct krdma_work_ring *ring, u32 taken)
{
	u32 position = ring->tail - ring->chain.count;

	for (; taken; taken--, position++) {
		if (krdma_ring_slot(ring, position)->flags & KRDMA_SLOT_LAST) {
			ring->chain.accepted++;
			ring->chain.open_pieces = 0;
		} else {
			ring->chain.open_pieces++;
		}
	}
	if (position != ring->tail)
		krdma_chain_reject(ring, position);
	/* Nobody else moves it while the lock is held; completions only look. */
	WRITE_ONCE(ring->tail, position);
	krdma_chain_begin(ring);
}

/**
 * krdma_chain_unuse - what krdma_chain_use() has given last is not used
 * @ring: the ring
 * @region: what it was
 *
 * Context: any.
 */
void krdma_chain_unuse(struct krdma_work_ring *ring, struct krdma_region *region)
{
	struct krdma_chain *chain = &ring->chain;

	if (chain->uses) {
		chain->uses--;
		return;
	}
	chain->region = NULL;
	krdma_region_end_use(region);
}

/**
 * krdma_post_error - what a provider says when it refuses a request
 * @error: what it says
 *
 * It is not full, that was counted: if it says so, or anything else that a consumer
 * could not make sense of, it is broken.
 *
 * Context: any.
 * Return: the errno for the consumer.
 */
int krdma_post_error(int error)
{
	switch (error) {
	case -ENOTCONN:
	case -EINVAL:
	case -EOPNOTSUPP:
		return error;
	default:
		return -EIO;
	}
}
