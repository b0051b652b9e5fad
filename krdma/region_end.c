// SPDX-License-Identifier: GPL-2.0
/*
 * The end of those who use memory that has to go.
 *
 * Operations in flight keep their memory, and only the end of their queue pair ends
 * them before their time.  Which queue pairs these are is in the rings, for each
 * slot names its regions: so nobody else has to suffer.
 */
#include <linux/minmax.h>

#include "conn.h"
#include "region.h"
#include "ring.h"
#include "session.h"
#include "srq.h"

/* Slots that are looked at with interrupts off: some have 32 regions. */
#define KRDMA_SLOTS_AT_A_TIME	64

static bool krdma_slots_use(struct krdma_work_ring *ring, u32 first, u32 count,
			    const struct krdma_region *region)
{
	bool used = false;

	lockdep_assert_held(&ring->lock);

	for (u32 i = first; i < first + count && !used; i++) {
		struct krdma_region **regions = krdma_ring_regions(ring, i);
		u16 region_count = READ_ONCE(krdma_ring_slot(ring, i)->region_count);

		for (u16 j = 0; j < region_count; j++)
			used |= regions[j] == region;
	}
	return used;
}

/*
 * Completions take regions out of slots meanwhile, without the lock.  One that was
 * there a moment ago may be found; one that is there cannot be missed, because none
 * comes any more that was not there when the lock was taken first.
 */
static bool krdma_ring_uses(struct krdma_work_ring *ring, const struct krdma_region *region)
{
	u32 slots = ring->slots ? ring->mask + 1 : 0;
	bool used = false;
	unsigned long flags;

	for (u32 first = 0; first < slots && !used; first += KRDMA_SLOTS_AT_A_TIME) {
		u32 count = min(slots - first, (u32)KRDMA_SLOTS_AT_A_TIME);

		spin_lock_irqsave(&ring->lock, flags);
		used = krdma_slots_use(ring, first, count, region);
		spin_unlock_irqrestore(&ring->lock, flags);
	}
	return used;
}

static bool krdma_qp_uses(struct krdma_qp *qp, const struct krdma_region *region)
{
	/* One that is cut is at its end already, with what it keeps besides its slots. */
	return krdma_ring_uses(&qp->send, region) || krdma_ring_uses(&qp->recv, region) ||
	       (qp->srq && krdma_srq_uses(qp->srq, region));
}

/**
 * krdma_region_end_users - end what keeps memory from being let go
 * @region: the region, after krdma_region_drop(); there as long as the function of
 *	krdma_region_notify() has not returned
 *
 * Connections with operations in flight that use the region are aborted, and shared
 * receive queues closed in which it is room for messages, with the connections that
 * take from there.  What else the session has goes on.  Returns before they have
 * ended: the function of krdma_region_notify() is called when they have.
 *
 * Context: process context; does not sleep.
 */
void krdma_region_end_users(struct krdma_region *region)
{
	struct krdma_domain *domain;
	struct krdma_srq *srq;
	struct krdma_qp *qp;

	/* Otherwise nobody uses it any more. */
	if (!krdma_resource_keep(&region->res))
		return;

	/*
	 * An operation that got in before the drop is in its slot by the time that the
	 * lock of its ring is to be had, and no other gets in.
	 */
	domain = region->domain;
	spin_lock(&domain->lock);
	list_for_each_entry(qp, &domain->connections, domain_node) {
		if (krdma_qp_uses(qp, region))
			krdma_conn_input(qp->conn, KRDMA_INPUT_ABORT, 0);
	}
	list_for_each_entry(srq, &domain->srqs, domain_node) {
		if (krdma_srq_uses(srq, region))
			krdma_srq_close(srq);
	}
	spin_unlock(&domain->lock);

	krdma_resource_put(&region->res);
}
EXPORT_SYMBOL_NS_GPL(krdma_region_end_users, "KRDMA");
