// SPDX-License-Identifier: GPL-2.0
/*
 * Detect that the peer of an idle connection is gone.
 *
 * A reliable connection with nothing in flight does not notice that its peer is gone.  A write of
 * 0 bytes makes it notice: it needs no memory at the peer and the peer's consumer is not
 * notified, but the peer's device has to acknowledge it.  If it does not, the connection ends as
 * it would with a work request of the consumer.
 *
 * The write is not a work request of the consumer: it has no krdma_wqe, but a place of its own in
 * the SQ and in the CQ.  So only one is in flight at a time.
 */
#include <linux/jiffies.h>
#include <linux/kstrtox.h>
#include <linux/moduleparam.h>
#include <rdma/rdma_cm.h>

#include "io/qp.h"
#include "io/wq.h"

static u64 krdma_keepalive_count(const struct krdma_qp *qp)
{
	return READ_ONCE(qp->send.posted) + READ_ONCE(qp->send.completed) +
	       READ_ONCE(qp->recv.completed);
}

static void krdma_keepalive_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct krdma_qp *qp = container_of(wc->wr_cqe, struct krdma_qp, keepalive.cqe);

	krdma_cq_assert_held(qp->send.cq);

	WRITE_ONCE(qp->keepalive.busy, false);
	if (wc->status == IB_WC_WR_FLUSH_ERR)
		qp->owner->ops->flushed(qp->owner);
	else if (wc->status)
		qp->owner->ops->failed(qp->owner, wc->status == IB_WC_RETRY_EXC_ERR ?
				       -ETIMEDOUT : -EIO);
}

/* Returns false if keepalive has to stop because the connection is ending. */
static bool krdma_keepalive_ask(struct krdma_qp *qp)
{
	struct ib_rdma_wr wr = {
		.wr = {
			.wr_cqe = &qp->keepalive.cqe,
			.opcode = IB_WR_RDMA_WRITE,
			.send_flags = IB_SEND_SIGNALED,
		},
	};
	unsigned long flags;
	bool open;
	int ret = 0;

	spin_lock_irqsave(&qp->send.lock, flags);
	open = qp->send.open;
	if (open) {
		/* Before it can complete, which may happen inside the call. */
		WRITE_ONCE(qp->keepalive.busy, true);
		ret = ib_post_send(qp->ib, &wr.wr, NULL);
	}
	spin_unlock_irqrestore(&qp->send.lock, flags);

	if (ret)
		qp->owner->ops->failed(qp->owner, -EIO);
	return open && !ret;
}

/* A consumer that polls may not poll while it is idle, so no other context sees the completion. */
static void krdma_keepalive_look(struct krdma_cq *cq)
{
	if (cq->where == KRDMA_CONTEXT_POLL)
		krdma_cq_empty(cq);
}

static void krdma_keepalive_work(struct work_struct *work)
{
	struct krdma_qp *qp = container_of(work, struct krdma_qp, keepalive.work.work);
	u64 count = krdma_keepalive_count(qp);
	bool goes_on = true;

	if (READ_ONCE(qp->keepalive.busy))
		krdma_keepalive_look(qp->send.cq);
	else if (count == qp->keepalive.seen)
		goes_on = krdma_keepalive_ask(qp);
	qp->keepalive.seen = count;
	if (goes_on)
		queue_delayed_work(qp->owner->workqueue, &qp->keepalive.work,
				   qp->keepalive.period);
}

static bool krdma_keepalive_is_valid(u32 period_ms)
{
	return period_ms >= KRDMA_KEEPALIVE_MIN_MS && period_ms <= KRDMA_KEEPALIVE_MAX_MS;
}

/**
 * krdma_keepalive_may_be() - Check the keepalive interval that a consumer asks for
 * @period_ms: as of krdma_keepalive_init()
 *
 * Context: any.
 * Return: false if it is out of range.
 */
bool krdma_keepalive_may_be(u32 period_ms)
{
	return !period_ms || period_ms == KRDMA_KEEPALIVE_NEVER ||
	       krdma_keepalive_is_valid(period_ms);
}

static int krdma_keepalive_set_default(const char *text, const struct kernel_param *param)
{
	u32 period_ms;
	int ret;

	ret = kstrtou32(text, 0, &period_ms);
	if (ret)
		return ret;
	if (period_ms && !krdma_keepalive_is_valid(period_ms))
		return -EINVAL;
	WRITE_ONCE(*(u32 *)param->arg, period_ms);
	return 0;
}

static const struct kernel_param_ops krdma_keepalive_default_ops = {
	.set = krdma_keepalive_set_default,
	.get = param_get_uint,
};

static u32 krdma_keepalive_default_ms = 5 * MSEC_PER_SEC;
module_param_cb(keepalive_ms, &krdma_keepalive_default_ops, &krdma_keepalive_default_ms, 0644);
MODULE_PARM_DESC(keepalive_ms,
		 "keepalive interval of connections that do not set one, in ms, 100 to 3600000; 0: no keepalive");

/**
 * krdma_keepalive_init() - Set up keepalive for a QP
 * @qp: the QP
 * @period_ms: longest idle time in milliseconds before the peer is checked; 0: @default_ms, if
 *	the device supports keepalive; KRDMA_KEEPALIVE_NEVER
 * @default_ms: valid, or 0: that of the module parameter; or KRDMA_KEEPALIVE_NEVER
 *
 * Context: process context.
 * Return: 0, -EINVAL if @period_ms is out of range, or -EOPNOTSUPP if the device completes writes
 * when they have been sent, and so does not notice that the peer is gone.
 */
int krdma_keepalive_init(struct krdma_qp *qp, u32 period_ms, u32 default_ms)
{
	bool supported = !rdma_protocol_iwarp(qp->cm_id->device, qp->cm_id->port_num);

	INIT_DELAYED_WORK(&qp->keepalive.work, krdma_keepalive_work);
	qp->keepalive.cqe.done = krdma_keepalive_done;
	if (period_ms && period_ms != KRDMA_KEEPALIVE_NEVER) {
		if (!krdma_keepalive_is_valid(period_ms))
			return -EINVAL;
		if (!supported)
			return -EOPNOTSUPP;
	} else if (!period_ms && supported) {
		period_ms = default_ms ?: READ_ONCE(krdma_keepalive_default_ms);
	}
	if (!period_ms || period_ms == KRDMA_KEEPALIVE_NEVER)
		return 0;
	qp->keepalive.period = max(msecs_to_jiffies(period_ms), 1UL);
	return 0;
}

/**
 * krdma_keepalive_start() - Start keepalive when the connection is established
 * @qp: the QP, open
 *
 * Context: any.
 */
void krdma_keepalive_start(struct krdma_qp *qp)
{
	if (qp->keepalive.period)
		queue_delayed_work(qp->owner->workqueue, &qp->keepalive.work,
				   qp->keepalive.period);
}

/**
 * krdma_keepalive_stop() - Stop keepalive before the QP ends
 * @qp: the QP, closed
 *
 * Context: process context; sleeps.
 */
void krdma_keepalive_stop(struct krdma_qp *qp)
{
	cancel_delayed_work_sync(&qp->keepalive.work);
}
