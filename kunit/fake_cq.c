// SPDX-License-Identifier: GPL-2.0
/* The CQs of the fake device, its lock, and the notification of consumers. */
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/wait_bit.h>

#include "fake_private.h"

static DEFINE_SPINLOCK(fake_lock);

/* Consumers that fake_end() notifies; protected by the lock. */
static LIST_HEAD(fake_bells);
static LIST_HEAD(fake_last_wqes);

/*
 * The lock
 */

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

/* A consumer that drains a QP with an SRQ waits for this event. */
void fake_announce_last_wqe(struct fake_qp *qp, unsigned int times)
{
	lockdep_assert_held(&fake_lock);
	if (!qp->ib.srq || !times || to_fake(qp->ib.device)->no_last_wqe)
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

/*
 * Notification
 */

static void fake_cq_work(struct work_struct *work)
{
	struct fake_cq *cq = container_of(work, struct fake_cq, work);
	unsigned long flags;

	if (to_fake(cq->ib.device)->notify == FAKE_NOTIFY_WORK) {
		cq->ib.comp_handler(&cq->ib, cq->ib.cq_context);
		return;
	}
	local_irq_save(flags);
	cq->ib.comp_handler(&cq->ib, cq->ib.cq_context);
	local_irq_restore(flags);
}

static void fake_cq_irq_work(struct irq_work *work)
{
	struct fake_cq *cq = container_of(work, struct fake_cq, irq_work);

	cq->ib.comp_handler(&cq->ib, cq->ib.cq_context);
}

static void fake_notify(struct fake_cq *cq)
{
	struct fake_device *fake = to_fake(cq->ib.device);

	switch (fake->notify) {
	case FAKE_NOTIFY_INLINE:
		if (list_empty(&cq->bell))
			list_add_tail(&cq->bell, &fake_bells);
		break;
	case FAKE_NOTIFY_HARDIRQ:
		irq_work_queue(&cq->irq_work);
		break;
	default:
		queue_work(fake->cq_work, &cq->work);
	}
}

/* Adds a completion to its CQ. */
void fake_deliver(struct fake_wc *entry)
{
	struct fake_cq *cq = to_fake_cq(entry->direction == FAKE_SEND ? entry->qp->ib.send_cq :
					entry->qp->ib.recv_cq);

	lockdep_assert_held(&fake_lock);
	/* A consumer that overflows a CQ has a bug, and must see it. */
	if (WARN_ON_ONCE(cq->tail - cq->head >= cq->ib.cqe))
		return;
	cq->wq[cq->tail++ % cq->ib.cqe] = *entry;

	if (!cq->armed)
		return;
	if (cq->armed_for == IB_CQ_SOLICITED && !entry->solicited &&
	    entry->wc.status == IB_WC_SUCCESS)
		return;
	cq->armed = false;
	fake_notify(cq);
}

/*
 * The verbs
 */

static int fake_create_cq(struct ib_cq *ib_cq, const struct ib_cq_init_attr *attr,
			  struct krdma_compat_cq_call *call)
{
	struct fake_device *fake = to_fake(ib_cq->device);
	struct fake_cq *cq = to_fake_cq(ib_cq);
	int ret;

	might_sleep();
	if (!attr->cqe || attr->cqe > FAKE_MAX_CQE || attr->cqe > fake->attr.max_cqe)
		return -EINVAL;
	ret = fake_device_follow_script(fake, FAKE_CREATE_CQ);
	if (ret)
		return ret;

	cq->wq = kvcalloc(attr->cqe, sizeof(*cq->wq), GFP_KERNEL);
	if (!cq->wq)
		return -ENOMEM;
	INIT_LIST_HEAD(&cq->bell);
	INIT_WORK(&cq->work, fake_cq_work);
	init_irq_work(&cq->irq_work, fake_cq_irq_work);
	ib_cq->cqe = attr->cqe;
	atomic_inc(&fake->live[FAKE_CQ]);
	return 0;
}

static bool fake_cq_is_silent(struct fake_cq *cq)
{
	unsigned long flags;
	bool silent;

	flags = fake_begin();
	list_del_init(&cq->bell);
	silent = !cq->ringing;
	fake_end(flags);

	return silent;
}

static int fake_destroy_cq(struct ib_cq *ib_cq, struct ib_udata *udata)
{
	struct fake_cq *cq = to_fake_cq(ib_cq);

	might_sleep();
	wait_var_event(&cq->ringing, fake_cq_is_silent(cq));
	irq_work_sync(&cq->irq_work);
	cancel_work_sync(&cq->work);
	kvfree(cq->wq);
	atomic_dec(&to_fake(ib_cq->device)->live[FAKE_CQ]);
	return 0;
}

/* WQEs may be freed out of order when completions are delivered twice. */
static void fake_release_slots(struct fake_wc *entry)
{
	struct fake_queue *cq;

	if (!entry->qp)
		return;
	cq = &entry->qp->cqs[entry->direction];
	if ((int)(entry->wqe - cq->released) > 0)
		cq->released = entry->wqe;
}

static int fake_poll_cq(struct ib_cq *ib_cq, int count, struct ib_wc *wc)
{
	struct fake_cq *cq = to_fake_cq(ib_cq);
	struct fake_wc *entry;
	unsigned long flags;
	int taken = 0;

	flags = fake_begin();
	while (taken < count && cq->head != cq->tail) {
		entry = &cq->wq[cq->head++ % ib_cq->cqe];
		if (entry->dangles)
			atomic_inc(&to_fake(ib_cq->device)->wrongs);
		fake_release_slots(entry);
		wc[taken++] = entry->wc;
	}
	fake_end(flags);

	return taken;
}

/* Returns true if there is a completion for which the CQ is armed. */
static bool fake_cq_is_behind(struct fake_cq *cq)
{
	unsigned int i;

	for (i = cq->head; i != cq->tail; i++) {
		struct fake_wc *entry = &cq->wq[i % cq->ib.cqe];

		if (cq->armed_for != IB_CQ_SOLICITED || entry->solicited ||
		    entry->wc.status != IB_WC_SUCCESS)
			return true;
	}
	return false;
}

static int fake_req_notify_cq(struct ib_cq *ib_cq, enum ib_cq_notify_flags notify)
{
	enum fake_arm arm = to_fake(ib_cq->device)->personality->arm;
	struct fake_cq *cq = to_fake_cq(ib_cq);
	unsigned long flags;
	bool missed;

	flags = fake_begin();
	missed = (notify & IB_CQ_REPORT_MISSED_EVENTS) && cq->head != cq->tail;
	if (missed && arm == FAKE_ARM_INSTEAD)
		goto out;
	/* A CQ that is armed for all completions stays so when it is armed for solicited ones. */
	if (!cq->armed || cq->armed_for == IB_CQ_SOLICITED)
		cq->armed_for = notify & IB_CQ_SOLICITED_MASK;
	cq->armed = true;
	if (arm == FAKE_ARM_RINGS) {
		missed = false;
		if (fake_cq_is_behind(cq)) {
			cq->armed = false;
			fake_notify(cq);
		}
	}
out:
	fake_end(flags);

	return missed;
}

/* Loses the WQE of an SRQ receive with a completion that will not be polled. */
static void fake_lose_srq_slot(struct fake_qp *qp, struct fake_wc *entry)
{
	if (qp->ib.srq && entry->direction == FAKE_RECEIVE &&
	    fake_personality_of(&qp->ib)->srq_slots_lost)
		to_fake_srq(qp->ib.srq)->cq.lost++;
}

static void fake_forget_in(struct fake_cq *cq, struct fake_qp *qp, bool drop)
{
	unsigned int from, to;

	for (from = cq->head, to = cq->head; from != cq->tail; from++) {
		struct fake_wc *entry = &cq->wq[from % cq->ib.cqe];

		if (entry->qp == qp) {
			if (drop) {
				fake_lose_srq_slot(qp, entry);
				continue;
			}
			entry->qp = NULL;
			entry->dangles = fake_personality_of(&qp->ib)->leftovers ==
					 FAKE_LEFTOVERS_DANGLE;
		}
		cq->wq[to++ % cq->ib.cqe] = *entry;
	}
	cq->tail = to;
}

/* A QP is destroyed: its completions must not point to it, and may be removed with it. */
void fake_forget_completions(struct fake_qp *qp)
{
	bool drop = to_fake(qp->ib.device)->destroy_drops_cqes;
	struct fake_wc *entry, *next;

	lockdep_assert_held(&fake_lock);
	fake_forget_in(to_fake_cq(qp->ib.send_cq), qp, drop);
	fake_forget_in(to_fake_cq(qp->ib.recv_cq), qp, drop);
	list_for_each_entry_safe(entry, next, &qp->held, entry) {
		list_del(&entry->entry);
		kfree(entry);
	}
	list_del_init(&qp->last_wqe);
}

const struct ib_device_ops fake_cq_ops = {
	.create_cq = fake_create_cq,
	.destroy_cq = fake_destroy_cq,
	.poll_cq = fake_poll_cq,
	.req_notify_cq = fake_req_notify_cq,

	INIT_RDMA_OBJ_SIZE(ib_cq, fake_cq, ib),
};
