// SPDX-License-Identifier: GPL-2.0
/*
 * End the work requests that use memory which has to go.
 *
 * Work requests in flight keep their memory, and only the end of their QP ends them early.  Each
 * WQE records its MRs, so the QPs that use an MR can be found, and no other QP has to end.
 *
 * A program can have many MRs, many QPs and many work requests in flight.  MRs are only marked,
 * and one pass over the work requests in flight of their PD serves all that are marked by then.
 * The pass is a work item: no caller waits for it, no lock is held from one QP to the next, and
 * interrupts are off for KRDMA_SCAN_WQES WQEs at a time.
 */
#include <linux/minmax.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>

#include "core/session.h"
#include "io/qp.h"
#include "io/revoke.h"
#include "io/srq.h"
#include "io/wq.h"
#include "mr/mr.h"

/* WQEs that are checked with interrupts off: some have 32 MRs. */
#define KRDMA_SCAN_WQES	64U

/*
 * Called with the post lock of the work queue.  A WQE's count is lowered before the use of its MR
 * ends, and an MR is freed an RCU grace period after its last use.  So the MRs that are counted
 * here exist, under RCU.
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
 * A work request that began to use an MR before the MR was closed is in its WQE by the time that
 * the post lock can be taken, and no other can begin to use it.  So WQEs that are filled later
 * need not be checked.
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

/* Takes the next SRQ that this pass has not visited yet, and moves it to the end of the list. */
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

/*
 * Takes a reference to the QP's owner, which keeps the QP; sets *@condemned if its SRQ is
 * condemned.
 */
static struct krdma_qp *krdma_pd_next_qp(struct krdma_pd *pd, bool *condemned)
{
	struct krdma_qp *qp;

	spin_lock(&pd->lock);
	qp = list_first_entry_or_null(&pd->qps, struct krdma_qp, pd_node);
	if (qp && qp->scan != pd->scan) {
		qp->scan = pd->scan;
		list_move_tail(&qp->pd_node, &pd->qps);
		qp->owner->ops->get(qp->owner);
		*condemned = qp->srq && qp->srq->condemned;
	} else {
		qp = NULL;
	}
	spin_unlock(&pd->lock);

	return qp;
}

/* Takes a reference to the next user that is no QP. */
static struct krdma_pd_user *krdma_pd_next_user(struct krdma_pd *pd)
{
	struct krdma_pd_user *user;

	spin_lock(&pd->lock);
	user = list_first_entry_or_null(&pd->users, struct krdma_pd_user, node);
	if (user && user->scan != pd->scan) {
		user->scan = pd->scan;
		list_move_tail(&user->node, &pd->users);
		user->ops->get(user);
	} else {
		user = NULL;
	}
	spin_unlock(&pd->lock);

	return user;
}

/**
 * krdma_pd_end_users() - End the users of a PD's marked MRs
 * @work: the PD's @end_users
 *
 * The cost is that of the work requests in flight in the PD, however many MRs are marked.
 *
 * Context: a work item; may sleep.
 */
void krdma_pd_end_users(struct work_struct *work)
{
	struct krdma_pd *pd = container_of(work, struct krdma_pd, end_users);
	struct krdma_qp_owner *owner;
	struct krdma_pd_user *user;
	struct krdma_srq *srq;
	struct krdma_qp *qp;
	bool condemned;

	pd->scan++;
	while ((srq = krdma_pd_next_srq(pd))) {
		if (krdma_srq_is_condemned(srq)) {
			srq->condemned = true;
			krdma_srq_revoke(srq);
		}
		krdma_srq_put(srq);
	}
	while ((qp = krdma_pd_next_qp(pd, &condemned))) {
		owner = qp->owner;
		/* A partially posted work request needs no check: its QP is ending anyway. */
		if (condemned || krdma_wq_is_condemned(&qp->send) ||
		    krdma_wq_is_condemned(&qp->recv))
			owner->ops->abort(owner);
		owner->ops->put(owner);
		cond_resched();
	}
	while ((user = krdma_pd_next_user(pd))) {
		if (user->ops->is_condemned(user))
			user->ops->abort(user);
		user->ops->put(user);
		cond_resched();
	}
}

/**
 * krdma_mr_end_users() - End the work requests that keep an MR in use
 * @mr: the MR, after krdma_mr_drop(); it exists as long as the function given to
 *	krdma_mr_notify() has not returned
 *
 * Aborts the connections with work requests in flight that use the MR, and closes the SRQs with
 * receives that use it, with the connections that use these SRQs.  Everything else of the session
 * continues.  Returns before they have ended: the function given to krdma_mr_notify() is called
 * when they have.  Calls for many MRs at a time cost little more than one call.
 *
 * Context: any but NMI; does not sleep.
 */
void krdma_mr_end_users(struct krdma_mr *mr)
{
	/* Otherwise no work request uses it any more. */
	if (!krdma_resource_keep(&mr->res))
		return;

	WRITE_ONCE(mr->condemned, true);
	/* Also if the work item runs: it may already have visited the users of this MR. */
	queue_work(krdma_workqueue, &mr->pd->end_users);

	krdma_resource_put(&mr->res);
}
EXPORT_SYMBOL_NS_GPL(krdma_mr_end_users, "KRDMA");
