// SPDX-License-Identifier: GPL-2.0
/* The lock of the fake devices, and the consumers that are notified when it is released. */
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/wait_bit.h>

#include "fake_private.h"

static DEFINE_SPINLOCK(fake_lock);

/* Consumers that fake_end() notifies; protected by the lock. */
static LIST_HEAD(fake_bells);
static LIST_HEAD(fake_last_wqes);

unsigned long fake_begin(void)
{
	unsigned long flags;

	spin_lock_irqsave(&fake_lock, flags);
	return flags;
}

void fake_assert_locked(void)
{
	lockdep_assert_held(&fake_lock);
}

/* The CQ exists until no call of its handler is in progress: see fake_destroy_cq(). */
static void fake_ring(struct fake_cq *cq)
{
	lockdep_assert_held(&fake_lock);
	cq->ringing++;
	spin_unlock(&fake_lock);
	cq->ib.comp_handler(&cq->ib, cq->ib.cq_context);
	spin_lock(&fake_lock);
	cq->ringing--;
	/* Pairs with prepare_to_wait(). */
	smp_mb();
	wake_up_var(&cq->ringing);
}

static void fake_tell_events(struct fake_qp *qp)
{
	unsigned int times = qp->last_wqe_times;
	bool comm_est = qp->comm_est;

	qp->last_wqe_times = 0;
	qp->comm_est = false;
	fake_qp_get(qp);
	spin_unlock(&fake_lock);
	if (comm_est)
		fake_qp_event(&qp->ib, IB_EVENT_COMM_EST);
	while (times--)
		fake_qp_event(&qp->ib, IB_EVENT_QP_LAST_WQE_REACHED);
	spin_lock(&fake_lock);
	fake_qp_put(qp);
}

void fake_end(unsigned long flags)
{
	struct fake_cq *cq;
	struct fake_qp *qp;

	while (!list_empty(&fake_bells) || !list_empty(&fake_last_wqes)) {
		cq = list_first_entry_or_null(&fake_bells, struct fake_cq, bell);
		if (cq) {
			list_del_init(&cq->bell);
			fake_ring(cq);
			continue;
		}
		qp = list_first_entry(&fake_last_wqes, struct fake_qp, last_wqe);
		list_del_init(&qp->last_wqe);
		fake_tell_events(qp);
	}
	spin_unlock_irqrestore(&fake_lock, flags);
}

/* The handler of a CQ is to be called. */
void fake_announce_completion(struct fake_cq *cq)
{
	lockdep_assert_held(&fake_lock);
	if (list_empty(&cq->bell))
		list_add_tail(&cq->bell, &fake_bells);
}

/* A consumer that drains a QP with an SRQ waits for this event. */
void fake_announce_last_wqe(struct fake_qp *qp, unsigned int times)
{
	lockdep_assert_held(&fake_lock);
	if (!qp->ib.srq || !times || READ_ONCE(to_fake(qp->ib.device)->no_last_wqe))
		return;
	qp->last_wqe_times += times;
	if (list_empty(&qp->last_wqe))
		list_add_tail(&qp->last_wqe, &fake_last_wqes);
}

/* A packet of the peer has arrived before this side got the event that it is connected. */
void fake_announce_traffic(struct fake_qp *qp)
{
	lockdep_assert_held(&fake_lock);
	qp->comm_est = true;
	if (list_empty(&qp->last_wqe))
		list_add_tail(&qp->last_wqe, &fake_last_wqes);
}
