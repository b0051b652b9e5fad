// SPDX-License-Identifier: GPL-2.0
/* The CQs of the fake device, and the notification of their consumers. */
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/wait_bit.h>

#include "fake_private.h"

/*
 * Notification
 */

static void fake_cq_work(struct work_struct *work)
{
	struct fake_cq *cq = container_of(work, struct fake_cq, work);
	unsigned long flags;

	if (READ_ONCE(to_fake(cq->ib.device)->notify) == FAKE_NOTIFY_WORK) {
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

	if (READ_ONCE(to_fake(cq->ib.device)->notify) == FAKE_NOTIFY_TASKLET)
		tasklet_schedule(&cq->tasklet);
	else
		cq->ib.comp_handler(&cq->ib, cq->ib.cq_context);
}

static void fake_cq_tasklet(struct tasklet_struct *tasklet)
{
	struct fake_cq *cq = container_of(tasklet, struct fake_cq, tasklet);

	cq->ib.comp_handler(&cq->ib, cq->ib.cq_context);
}

static void fake_cq_notify(struct fake_cq *cq)
{
	struct fake_device *fake = to_fake(cq->ib.device);

	switch (READ_ONCE(fake->notify)) {
	case FAKE_NOTIFY_INLINE:
		fake_announce_completion(cq);
		break;
	case FAKE_NOTIFY_TASKLET:
	case FAKE_NOTIFY_HARDIRQ:
		irq_work_queue(&cq->irq_work);
		break;
	case FAKE_NOTIFY_NEVER:
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

	fake_assert_locked();
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
	fake_cq_notify(cq);
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
	tasklet_setup(&cq->tasklet, fake_cq_tasklet);
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
	tasklet_kill(&cq->tasklet);
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
	cq->seen = cq->tail;
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

/* Returns true if there is a completion of which arming knows. */
static bool fake_cq_shows(const struct fake_cq *cq)
{
	bool keeps = to_fake(cq->ib.device)->personality->keeps_polled;

	return cq->tail != (keeps ? cq->seen : cq->head);
}

static int fake_req_notify_cq(struct ib_cq *ib_cq, enum ib_cq_notify_flags notify)
{
	enum fake_arm arm = to_fake(ib_cq->device)->personality->arm;
	struct fake_cq *cq = to_fake_cq(ib_cq);
	unsigned long flags;
	bool missed;

	flags = fake_begin();
	missed = (notify & IB_CQ_REPORT_MISSED_EVENTS) && fake_cq_shows(cq);
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
			fake_cq_notify(cq);
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
	unsigned int seen = cq->seen;
	unsigned int from, to;

	for (from = cq->head, to = cq->head; from != cq->tail; from++) {
		struct fake_wc *entry = &cq->wq[from % cq->ib.cqe];

		if (entry->qp == qp) {
			if (drop) {
				fake_lose_srq_slot(qp, entry);
				cq->seen -= (int)(from - seen) < 0;
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
	bool drop = READ_ONCE(to_fake(qp->ib.device)->destroy_drops_cqes);
	struct fake_wc *entry, *next;

	fake_assert_locked();
	list_for_each_entry(entry, &qp->held, entry) {
		if (READ_ONCE(to_fake(qp->ib.device)->destroy_delivers))
			fake_deliver(entry);
	}
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
