// SPDX-License-Identifier: GPL-2.0
/*
 * The end of the operations that use memory which has to go.
 *
 * Operations in flight keep their memory, and only the end of their queue pair ends
 * them before their time.  Each slot of a queue names its regions, so the queue pairs
 * that use a region can be found, and no others have to end.
 *
 * A program can have many regions, many queue pairs and many operations in flight.
 * Regions are only marked, and one pass over the operations in flight of their domain
 * serves all that are marked by then.  The pass is a work: no caller waits for it, no
 * lock is held from one queue pair to the next, and interrupts are off for
 * KRDMA_SCAN_SLOTS slots at a time.
 */
#include <linux/minmax.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>

#include "cm/conn.h"
#include "mr/mr.h"
#include "io/wq.h"
#include "core/session.h"
#include "io/srq.h"

/* Slots that are looked at with interrupts off: some have 32 regions. */
#define KRDMA_SCAN_SLOTS	64U

/*
 * With the lock that the owner of the slot is posted to under.  A slot's count is
 * lowered before the use of its region ends, and a region is freed an RCU grace
 * period after the last use: so what is counted here is there, under RCU.
 */
static bool krdma_slot_is_condemned(struct krdma_work_ring *ring, u32 position)
{
	struct krdma_region **regions = krdma_ring_regions(ring, position);
	u16 count = READ_ONCE(krdma_ring_slot(ring, position)->region_count);

	for (u16 i = 0; i < count; i++) {
		if (READ_ONCE(regions[i]->condemned))
			return true;
	}
	return false;
}

/*
 * An operation that began to use a region before that was closed is in its slot by the
 * time that the lock of its ring is to be had, and no other can begin: so slots that
 * are filled later need not be looked at.
 */
static bool krdma_ring_is_condemned(struct krdma_work_ring *ring)
{
	bool found = false;
	unsigned long flags;
	u32 position, end;

	if (!ring->slots)
		return false;

	spin_lock_irqsave(&ring->lock, flags);
	position = READ_ONCE(ring->head);
	end = ring->tail;
	spin_unlock_irqrestore(&ring->lock, flags);

	while (position != end && !found) {
		u32 stop = position + min(end - position, KRDMA_SCAN_SLOTS);

		spin_lock_irqsave(&ring->lock, flags);
		rcu_read_lock();
		for (; position != stop && !found; position++)
			found = krdma_slot_is_condemned(ring, position);
		rcu_read_unlock();
		spin_unlock_irqrestore(&ring->lock, flags);
		cond_resched();
	}
	return found;
}

static bool krdma_srq_is_condemned(struct krdma_srq *srq)
{
	bool found = false;

	for (u32 i = 0; i < srq->credits.depth && !found; i += KRDMA_SCAN_SLOTS) {
		found = krdma_srq_uses_condemned(srq, i, KRDMA_SCAN_SLOTS);
		cond_resched();
	}
	return found;
}

/* The next of a list that this pass has not seen yet goes to the list's end. */
static struct krdma_srq *krdma_domain_next_srq(struct krdma_domain *domain)
{
	struct krdma_srq *srq;

	spin_lock(&domain->lock);
	srq = list_first_entry_or_null(&domain->srqs, struct krdma_srq, domain_node);
	if (srq && srq->scan != domain->scan) {
		srq->scan = domain->scan;
		list_move_tail(&srq->domain_node, &domain->srqs);
		krdma_srq_get(srq);
	} else {
		srq = NULL;
	}
	spin_unlock(&domain->lock);

	return srq;
}

/* With a reference to its connection, which keeps it; *@condemned: by its SRQ already. */
static struct krdma_qp *krdma_domain_next_qp(struct krdma_domain *domain, bool *condemned)
{
	struct krdma_qp *qp;

	spin_lock(&domain->lock);
	qp = list_first_entry_or_null(&domain->connections, struct krdma_qp, domain_node);
	if (qp && qp->scan != domain->scan) {
		qp->scan = domain->scan;
		list_move_tail(&qp->domain_node, &domain->connections);
		krdma_conn_get(qp->conn);
		*condemned = qp->srq && qp->srq->condemned;
	} else {
		qp = NULL;
	}
	spin_unlock(&domain->lock);

	return qp;
}

/**
 * krdma_domain_end_users - end what uses the regions of a domain that are marked
 * @work: the domain's @end_users
 *
 * Its cost is that of the operations in flight in the domain, however many regions
 * are marked.
 *
 * Context: a work; may sleep.
 */
void krdma_domain_end_users(struct work_struct *work)
{
	struct krdma_domain *domain = container_of(work, struct krdma_domain, end_users);
	struct krdma_conn *conn;
	struct krdma_srq *srq;
	struct krdma_qp *qp;
	bool condemned;

	domain->scan++;
	while ((srq = krdma_domain_next_srq(domain))) {
		if (krdma_srq_is_condemned(srq)) {
			srq->condemned = true;
			krdma_srq_close(srq);
		}
		krdma_srq_put(srq);
	}
	while ((qp = krdma_domain_next_qp(domain, &condemned))) {
		conn = qp->conn;
		/* A partially posted operation needs no look: its queue pair is at its end. */
		if (condemned || krdma_ring_is_condemned(&qp->send) ||
		    krdma_ring_is_condemned(&qp->recv))
			krdma_conn_input(conn, KRDMA_INPUT_ABORT, 0);
		krdma_conn_put(conn);
		cond_resched();
	}
}

/**
 * krdma_region_end_users - end what keeps memory from being let go
 * @region: the region, after krdma_region_drop(); there as long as the function of
 *	krdma_region_notify() has not returned
 *
 * Connections with operations in flight that use the region are aborted, and shared
 * receive queues closed in which it is room for messages, with the connections that
 * take from there.  What else the session has goes on.  Returns before they have
 * ended: the function of krdma_region_notify() is called when they have.  To call it
 * for many regions at a time costs little more than for one.
 *
 * Context: any but NMI; does not sleep.
 */
void krdma_region_end_users(struct krdma_region *region)
{
	/* Otherwise no operation uses it any more. */
	if (!krdma_resource_keep(&region->res))
		return;

	WRITE_ONCE(region->condemned, true);
	/* Also if the work runs: it may have passed what uses this region. */
	queue_work(krdma_workqueue, &region->domain->end_users);

	krdma_resource_put(&region->res);
}
EXPORT_SYMBOL_NS_GPL(krdma_region_end_users, "KRDMA");
