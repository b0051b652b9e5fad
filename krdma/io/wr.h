/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Requests on their way to the device: many at a time, each with a slot.
 *
 * All with the lock of the ring.
 */
#ifndef _KRDMA_CHAIN_H
#define _KRDMA_CHAIN_H

#include "mr/mr.h"
#include "io/wq.h"

int krdma_workbenches_init(void);
void krdma_workbenches_exit(void);

int krdma_post_error(int error);
void krdma_cut_keep(struct krdma_qp *qp, struct krdma_region *region);
void krdma_chain_account(struct krdma_work_ring *ring, u32 taken);
void krdma_chain_unuse(struct krdma_work_ring *ring, struct krdma_region *region);

extern struct krdma_workbench __percpu *krdma_workbenches;

/*
 * From here to the end of the call the processor's workbench is the ring's: posting does not
 * lead to posting, for what a provider tells while it is given requests only wakes.
 */
static inline void krdma_workbench_take(struct krdma_work_ring *ring)
{
	lockdep_assert_held(&ring->lock);
	local_lock(&krdma_workbenches->lock);
	ring->chain.bench = this_cpu_ptr(krdma_workbenches);
}

static inline void krdma_workbench_leave(void)
{
	local_unlock(&krdma_workbenches->lock);
}

/* There is room for one more request, which has that many entries. */
static inline bool krdma_chain_has_room(const struct krdma_chain *chain, u32 sges)
{
	/* Each of those that can still follow has room for its one. */
	return chain->count < KRDMA_CHAIN &&
	       chain->sges + sges <= KRDMA_CHAIN_SGES - KRDMA_CHAIN;
}

/* From here on the slot at the tail may complete; its request is the next of the chain. */
static inline void krdma_slot_commit(struct krdma_work_ring *ring, bool last)
{
	/* Pairs with the acquire in krdma_ring_outstanding(). */
	smp_store_release(&ring->tail, ring->tail + 1);
	ring->chain.count++;
	if (last) {
		ring->chain.open = 0;
	} else {
		ring->chain.pieces++;
		ring->chain.open++;
	}
}

static inline void krdma_chain_begin(struct krdma_work_ring *ring)
{
	ring->chain.count = 0;
	ring->chain.sges = 0;
	ring->chain.pieces = 0;
	ring->chain.open = 0;
	ring->chain.region = NULL;
}

/* The device has all of a chain. */
static inline void krdma_chain_accept(struct krdma_work_ring *ring)
{
	struct krdma_chain *chain = &ring->chain;

	chain->accepted += chain->count - chain->pieces;
	if (chain->open == chain->count)
		chain->open_pieces += chain->open;
	else
		chain->open_pieces = chain->open;
	krdma_chain_begin(ring);
}

/* The uses that slots of the chain have are counted, before any of these can end. */
static inline void krdma_chain_count_uses(struct krdma_work_ring *ring)
{
	struct krdma_chain *chain = &ring->chain;

	if (chain->uses)
		krdma_region_use_more(chain->region, chain->uses);
	chain->uses = 0;
}

/*
 * Memory for a request that has one piece, and is next in the chain.  Mostly it is in the
 * same region as that before it, whose slot keeps it.
 */
static inline int krdma_chain_use(struct krdma_work_ring *ring, struct krdma_region *region,
				  u64 addr, u32 length, u32 access, struct krdma_segment *segment)
{
	struct krdma_chain *chain = &ring->chain;
	struct krdma_domain *domain;
	int ret;

	if (likely(region == chain->region) &&
	    krdma_region_point_to(region, addr, length, access, segment)) {
		chain->uses++;
		return 0;
	}
	krdma_chain_count_uses(ring);
	chain->region = NULL;
	domain = ring->qp->domain;
	if (krdma_region_use_simply(region, domain, addr, length, access, segment)) {
		chain->region = region;
		return 0;
	}
	ret = krdma_region_begin_use(region, domain, addr, length, access, segment, 1);
	return min(ret, 0);
}

#endif /* _KRDMA_CHAIN_H */
