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
 * KRDMA_SCAN_WQES slots at a time.
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
#define KRDMA_SCAN_WQES	64U

/*
 * With the lock that the owner of the slot is posted to under.  A slot's count is
 * lowered before the use of its region ends, and a region is freed an RCU grace
 * period after the last use: so what is counted here is there, under RCU.
 */
static bool krdma_wqe_is_condemned(struct krdma_wq *wq, u32 position)
{
	struct krdma_mr **mrs = krdma_wq_mrs(wq, position);
	u16 count = READ_ONCE(krdma_wq_wqe(wq, position)->mr_count);

	for (u16 i = 0; i < count; i++) {
		if (READ_ONCE(mrs[i]->condemned))
			return true;
	}
	return false;
}

/*
 * An operation that began to use a region before that was closed is in its slot by the
 * time that the lock of its ring is to be had, and no other can begin: so slots that
 * are filled later need not be looked at.
 */
static bool krdma_wq_is_condemned(struct krdma_wq *wq)
{
	bool found = false;
	unsigned long flags;
	u32 position, end;

	if (!wq->wqes)
		return false;

	spin_lock_irqsave(&wq->lock, flags);
	position = READ_ONCE(wq->head);
	end = wq->tail;
	spin_unlock_irqrestore(&wq->lock, flags);

	while (position != end && !found) {
		u32 stop = position + min(end - position, KRDMA_SCAN_WQES);

		spin_lock_irqsave(&wq->lock, flags);
		rcu_read_lock();
		for (; position != stop && !found; position++)
			found = krdma_wqe_is_condemned(wq, position);
		rcu_read_unlock();
		spin_unlock_irqrestore(&wq->lock, flags);
		cond_resched();
	}
	return found;
}

static bool krdma_srq_is_condemned(struct krdma_srq *srq)
{
	bool found = false;

	for (u32 i = 0; i < srq->credits.depth && !found; i += KRDMA_SCAN_WQES) {
		found = krdma_srq_uses_condemned(srq, i, KRDMA_SCAN_WQES);
		cond_resched();
	}
	return found;
}

/* The next of a list that this pass has not seen yet goes to the list's end. */
static struct krdma_srq *krdma_pd_next_srq(struct krdma_pd *pd)
{
	struct krdma_srq *srq;

	spin_lock(&pd->lock);
	srq = list_first_entry_or_null(&pd->srqs, struct krdma_srq, pd_node);
	if (srq && srq->scan != pd->scan) {
		srq->scan = pd->scan;
		list_move_tail(&srq->pd_node, &pd->srqs);
		krdma_srq_get(srq);
	} else {
		srq = NULL;
	}
	spin_unlock(&pd->lock);

	return srq;
}

/* With a reference to its connection, which keeps it; *@condemned: by its SRQ already. */
static struct krdma_qp *krdma_pd_next_qp(struct krdma_pd *pd, bool *condemned)
{
	struct krdma_qp *qp;

	spin_lock(&pd->lock);
	qp = list_first_entry_or_null(&pd->connections, struct krdma_qp, pd_node);
	if (qp && qp->scan != pd->scan) {
		qp->scan = pd->scan;
		list_move_tail(&qp->pd_node, &pd->connections);
		krdma_conn_get(qp->conn);
		*condemned = qp->srq && qp->srq->condemned;
	} else {
		qp = NULL;
	}
	spin_unlock(&pd->lock);

	return qp;
}

/**
 * krdma_pd_end_users - end what uses the regions of a domain that are marked
 * @work: the domain's @end_users
 *
 * Its cost is that of the operations in flight in the domain, however many regions
 * are marked.
 *
 * Context: a work; may sleep.
 */
void krdma_pd_end_users(struct work_struct *work)
{
	struct krdma_pd *pd = container_of(work, struct krdma_pd, end_users);
	struct krdma_conn *conn;
	struct krdma_srq *srq;
	struct krdma_qp *qp;
	bool condemned;

	pd->scan++;
	while ((srq = krdma_pd_next_srq(pd))) {
		if (krdma_srq_is_condemned(srq)) {
			srq->condemned = true;
			krdma_srq_close(srq);
		}
		krdma_srq_put(srq);
	}
	while ((qp = krdma_pd_next_qp(pd, &condemned))) {
		conn = qp->conn;
		/* A partially posted operation needs no look: its queue pair is at its end. */
		if (condemned || krdma_wq_is_condemned(&qp->send) ||
		    krdma_wq_is_condemned(&qp->recv))
			krdma_conn_advance(conn, KRDMA_INPUT_ABORT, 0);
		krdma_conn_put(conn);
		cond_resched();
	}
}

/**
 * krdma_mr_end_users - end what keeps memory from being let go
 * @mr: the region, after krdma_mr_drop(); there as long as the function of
 *	krdma_mr_notify() has not returned
 *
 * Connections with operations in flight that use the region are aborted, and shared
 * receive queues closed in which it is room for messages, with the connections that
 * take from there.  What else the session has goes on.  Returns before they have
 * ended: the function of krdma_mr_notify() is called when they have.  To call it
 * for many regions at a time costs little more than for one.
 *
 * Context: any but NMI; does not sleep.
 */
void krdma_mr_end_users(struct krdma_mr *mr)
{
	/* Otherwise no operation uses it any more. */
	if (!krdma_resource_keep(&mr->res))
		return;

	WRITE_ONCE(mr->condemned, true);
	/* Also if the work runs: it may have passed what uses this region. */
	queue_work(krdma_workqueue, &mr->pd->end_users);

	krdma_resource_put(&mr->res);
}
EXPORT_SYMBOL_NS_GPL(krdma_mr_end_users, "KRDMA");
