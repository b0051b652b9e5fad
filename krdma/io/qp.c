// SPDX-License-Identifier: GPL-2.0
/*
 * Queue pairs: creation and end.
 *
 * The end of a QP
 *
 *   1. Nothing is posted any more: both work queues were closed under their locks.
 *   2. The QP goes to the error state, and the device begins to flush.
 *   3. A marker is posted to each work queue.  When it completes, everything before it has
 *      completed.  krdma does not use ib_core's drain, which only works with one CQ that
 *      ib_core allocated, waits up to a minute for an event that some devices never raise
 *      when receives are shared, and polls concurrently with the poller.
 *   4. An SRQ takes no marker.  The device raises IB_EVENT_QP_LAST_WQE_REACHED when it has
 *      completed the last receive that this QP had taken from it.
 *   5. The CQs are emptied, whether or not the markers and the event came in the time that
 *      a device is given.  The next step makes most devices remove the QP's completions
 *      that were not polled.  These can include messages that the peer saw acknowledged.
 *   6. The QP is destroyed.  From here on the device does not use its memory.
 *   7. The CQs are emptied again.  After that no completion of this QP is left anywhere.
 *   8. Work requests that have not completed complete as flushed.
 */
#include <linux/bottom_half.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/log2.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

#include "core/device.h"
#include "core/device_query.h"
#include "io/bounce.h"
#include "io/budget.h"
#include "core/objects.h"
#include "core/quirks.h"
#include "io/qp.h"
#include "io/qp_list.h"
#include "mr/mem.h"
#include "mr/mr.h"
#include "io/wq.h"
#include "core/session.h"
#include "io/srq.h"

/*
 * How long a device may take to flush.  It only has to walk through its queues; a device that
 * takes longer is broken, and krdma does not wait for it.
 */
#define KRDMA_DRAIN_TIMEOUT	(5 * HZ)
/*
 * How long a device may take to raise IB_EVENT_QP_LAST_WQE_REACHED.  It does so within a few
 * milliseconds of its flush, and later if its firmware ends many QPs at once.  Without the event,
 * the messages that arrived last may be lost.  But a device that never raises it, and is not
 * known for that, would delay each close by this time.
 */
#define KRDMA_LAST_WQE_TIMEOUT	(HZ / 2)
/* How often to poll a CQ that no other context may be polling. */
#define KRDMA_DRAIN_INTERVAL	max(HZ / 100, 1)
/* The first polls of such a CQ are sooner: most flushes are done at once. */
#define KRDMA_DRAIN_FIRST_US	20
#define KRDMA_DRAIN_LAST_US	5000

/* Bytes for each WQE into which the device writes results that are not used. */
#define KRDMA_SINK_BYTES	sizeof(u64)

/* Half of less inline data than this is not requested: all devices that have any have as much. */
#define KRDMA_INLINE_MIN	32

/*
 * Creation
 */

/* An event of the device for the QP.  Any context, also with interrupts off. */
static void krdma_qp_event(struct ib_event *event, void *context)
{
	struct krdma_qp *qp = context;

	switch (event->event) {
	case IB_EVENT_COMM_EST:
		qp->owner->ops->heard(qp->owner);
		break;
	case IB_EVENT_QP_FATAL:
	case IB_EVENT_QP_REQ_ERR:
	case IB_EVENT_QP_ACCESS_ERR:
		qp->owner->ops->failed(qp->owner, -EIO);
		break;
	case IB_EVENT_QP_LAST_WQE_REACHED:
		/* With an SRQ no receive is flushed, so this is the sign that the QP has failed. */
		qp->owner->ops->flushed(qp->owner);
		complete_all(&qp->last_wqe);
		break;
	default:
		break;
	}
}

static int krdma_qp_find_limits(struct krdma_qp *qp, struct krdma_budget *budget,
				const struct krdma_conn_attr *attr)
{
	const struct krdma_limits *limits = krdma_device_limits(qp->pd->dev);
	struct krdma_demand demand = {
		.send_depth = attr->send_depth,
		.recv_depth = attr->recv_depth,
		.send_sge = attr->max_send_sge,
		.recv_sge = attr->max_recv_sge,
		.inline_data = attr->max_inline,
		.shared_receives = attr->srq,
	};
	int ret;

	if (attr->srq && (attr->recv_cq || attr->srq->pd != qp->pd))
		return -EINVAL;
	ret = krdma_budget_make(&demand, limits, budget);
	if (ret)
		return ret;

	ret = krdma_device_max_message(qp->pd->dev, qp->cm_id->port_num, qp->pd->session->reclaim,
				       &qp->max_message);
	if (ret)
		return ret;
	qp->caps = krdma_device_caps(qp->pd->dev);
	qp->fast_ops = krdma_op_fast(qp->caps);
	qp->fences_reads = krdma_quirk_fences_reads(qp->pd->ib->device);
	/* krdma_send_build() removes the fence; the fast path does not. */
	if (!qp->fences_reads)
		qp->fast_ops &= ~BIT(KRDMA_OP_READ);
	qp->inlines_invalidate = krdma_quirk_inlines_invalidate(qp->pd->ib->device);
	qp->max_read_sge = budget->read_sge;
	qp->read_access = KRDMA_ACCESS_LOCAL_WRITE;
	qp->empty_read = krdma_quirk_empty_read(qp->pd->ib->device);
	if (!(qp->caps & KRDMA_DEVICE_CAP_READ_LOCAL)) {
		qp->read_access |= KRDMA_ACCESS_REMOTE_WRITE;
		/* It would need an rkey for no memory. */
		qp->empty_read = -EOPNOTSUPP;
	}
	return 0;
}

/* Charges krdma's memory and the provider's, before any of it is allocated. */
static int krdma_qp_charge(struct krdma_qp *qp, const struct krdma_budget *budget)
{
	u32 wqes = roundup_pow_of_two(budget->send_depth);
	u64 bytes = sizeof(*qp) + krdma_wq_bytes(budget->send_depth, budget->send_sge) +
		    krdma_wq_bytes(budget->recv_depth, budget->recv_sge) +
		    (krdma_quirk_completes_in_order(qp->pd->ib->device) ? 0 : wqes) +
		    krdma_wqe_memory_bytes(wqes, KRDMA_SINK_BYTES) +
		    /* Copies of inline data: whether they are needed is known only later. */
		    krdma_bounce_bytes(wqes, budget->inline_data) +
		    krdma_budget_device_bytes(budget);
	int ret;

	ret = krdma_session_charge(qp->pd->session, bytes);
	if (ret)
		return ret;
	qp->session = qp->pd->session;
	qp->charged = bytes;
	return 0;
}

/* Attaches the CQs: the consumer's, the SRQ's, or the QP's own. */
static int krdma_qp_attach_cqs(struct krdma_qp *qp, const struct krdma_budget *budget,
			       const struct krdma_conn_attr *attr)
{
	struct krdma_cq *send = attr->cq;
	struct krdma_cq *recv = attr->srq ? attr->srq->cq : attr->recv_cq;
	struct krdma_cq_attr own = {
		.depth = budget->send_cqe + (recv ? 0 : budget->recv_cqe),
		.where = attr->where,
		.vector = -1,
		.session = qp->pd->session,
	};
	struct krdma_cq *made = NULL;
	int ret;

	if (!send) {
		/* The consumer could not poll it. */
		if (attr->where == KRDMA_CONTEXT_POLL)
			return -EINVAL;
		made = krdma_cq_create(qp->pd->dev, &own);
		if (IS_ERR(made))
			return PTR_ERR(made);
		send = made;
	}
	if (!recv)
		recv = send;
	/* The device could not use another device's CQ. */
	ret = -EXDEV;
	if (send->dev != qp->pd->dev || recv->dev != qp->pd->dev)
		goto out;

	ret = krdma_cq_attach(send, budget->send_cqe);
	if (ret)
		goto out;
	ret = krdma_cq_attach(recv, budget->recv_cqe);
	if (ret) {
		krdma_cq_detach(send, budget->send_cqe, &qp->send.credits);
		goto out;
	}
	qp->send.cq = send;
	qp->recv.cq = recv;
	qp->send_cqe = budget->send_cqe;
	qp->recv_cqe = budget->recv_cqe;

out:
	/* The attached QP keeps it. */
	krdma_cq_put(made);
	return ret;
}

static int krdma_qp_alloc_wqs(struct krdma_qp *qp, const struct krdma_budget *budget)
{
	bool ordered = krdma_quirk_completes_in_order(qp->pd->ib->device);
	int ret;

	ret = krdma_wq_init(&qp->send, qp, qp->send.cq, budget->send_depth, budget->send_sge,
			    ordered ? krdma_send_done : krdma_send_done_unordered);
	if (!ret && !ordered)
		ret = krdma_wq_disorder(&qp->send);
	if (ret)
		return ret;
	return krdma_wq_init(&qp->recv, qp, qp->recv.cq, budget->recv_depth, budget->recv_sge,
			     krdma_recv_done);
}

/*
 * For a connection that the peer has just given up, rdma_create_qp() fails with the same errno as
 * for a QP beyond the device's limits.  Such a connection does not recover, so this function can
 * distinguish the two afterwards.
 */
static bool krdma_qp_is_too_late(const struct krdma_qp *qp)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_INIT };
	int mask;

	return rdma_init_qp_attr(qp->cm_id, &attr, &mask) == -EINVAL;
}

/*
 * Providers have a maximum of inline data that no attribute reports.  Some grant less than was
 * requested.  bnxt_re, irdma, erdma and others refuse the QP with -EINVAL, and mthca does for any
 * inline data, but -EINVAL has other reasons, too.  So less is requested until the QP exists, in
 * the end none: krdma copies what is not granted.
 */
static int krdma_qp_create_ib(struct krdma_qp *qp, const struct ib_qp_init_attr *wanted,
			      u32 *granted)
{
	struct ib_qp_init_attr attr;
	u32 inline_data = wanted->cap.max_inline_data;
	int ret;

	for (;;) {
		/* Providers write to it, also if they fail. */
		attr = *wanted;
		attr.cap.max_inline_data = inline_data;
		ret = rdma_create_qp(qp->cm_id, qp->pd->ib, &attr);
		if (!ret)
			*granted = attr.cap.max_inline_data;
		if (ret != -EINVAL)
			return ret;
		if (krdma_qp_is_too_late(qp))
			return -ENOTCONN;
		if (!inline_data || wanted->cap.max_inline_data > KRDMA_BOUNCE_MAX)
			return ret;
		inline_data = inline_data > KRDMA_INLINE_MIN ? inline_data / 2 : 0;
	}
}

static int krdma_qp_make(struct krdma_qp *qp, const struct krdma_budget *budget)
{
	struct ib_qp_init_attr attr = {
		.event_handler = krdma_qp_event,
		.qp_context = qp,
		.send_cq = qp->send.cq->ib,
		.recv_cq = qp->recv.cq->ib,
		.srq = qp->srq ? qp->srq->ib : NULL,
		/* Without an order no completion stands for an unsignaled work request. */
		.sq_sig_type = qp->send.early ? IB_SIGNAL_ALL_WR : IB_SIGNAL_REQ_WR,
		.qp_type = IB_QPT_RC,
		.port_num = qp->cm_id->port_num,
		.cap = {
			.max_send_wr = budget->send_wr,
			.max_recv_wr = budget->recv_wr,
			.max_send_sge = budget->send_sge,
			.max_recv_sge = budget->recv_sge,
			.max_inline_data = budget->inline_data,
		},
	};
	int ret;

	ret = krdma_charge_object(&qp->charge, qp->pd->session, qp->cm_id->device);
	if (ret)
		return ret;
	/* A provider that does not set what it grants leaves what was asked for. */
	ret = krdma_qp_create_ib(qp, &attr, &qp->device_inline);
	if (ret == -EINVAL || ret == -ENOTCONN)
		return ret;
	if (ret)
		return krdma_provider_error(ret);

	qp->ib = qp->cm_id->qp;
	qp->number = qp->ib->qp_num;
	qp->max_inline = max(qp->device_inline, budget->inline_data);
	if (qp->max_inline == qp->device_inline && (qp->inlines_invalidate || !qp->max_inline))
		return 0;
	ret = krdma_bounce_init(qp, qp->max_inline);
	if (ret) {
		rdma_destroy_qp(qp->cm_id);
		qp->ib = NULL;
	}
	return ret;
}

/* Releases everything of the device, in the order in which that is possible. */
static void krdma_qp_unmake(struct krdma_qp *qp)
{
	krdma_wqe_memory_exit(&qp->sink, qp);
	krdma_bounce_exit(qp);
	krdma_uncharge_object(&qp->charge, qp->cm_id->device);
	if (qp->srq)
		krdma_srq_detach(qp->srq);
	if (qp->recv.cq)
		krdma_cq_detach(qp->recv.cq, qp->recv_cqe, &qp->recv.credits);
	if (qp->send.cq)
		krdma_cq_detach(qp->send.cq, qp->send_cqe, &qp->send.credits);
	qp->srq = NULL;
	qp->recv.cq = NULL;
	qp->send.cq = NULL;
	qp->cm_id = NULL;
	qp->pd = NULL;
}

/**
 * krdma_qp_create() - Create the QP of a connection
 * @owner: the owner
 * @cm_id: its rdma_cm ID, bound to a device; kept by the caller until krdma_qp_end()
 * @pd: the PD; kept by the caller until krdma_qp_end()
 * @attr: attributes
 *
 * Receives can be posted when this returns.
 *
 * Context: process context; may sleep.
 * Return: the QP, or ERR_PTR of
 * -EINVAL: beyond a limit of the device, or attributes that exclude each other;
 * -EOPNOTSUPP: the device does not support keepalive;
 * -ENOTCONN: the peer has just given up;
 * -EXDEV: a CQ of another device;
 * -ENOSPC: a CQ without enough free entries;
 * -ENODEV, -ESHUTDOWN: the device has been removed, or a CQ or SRQ has been released;
 * -EDQUOT: the limit of the control group is reached, or another errno of the charge;
 * -ENOMEM; -EIO: the provider failed.
 */
struct krdma_qp *krdma_qp_create(struct krdma_qp_owner *owner, struct rdma_cm_id *cm_id,
				 struct krdma_pd *pd,
				 const struct krdma_conn_attr *attr)
{
	struct krdma_budget budget;
	struct krdma_qp *qp;
	int ret;

	might_sleep();

	qp = krdma_object_count(KRDMA_OBJECT_QP,
				kvzalloc_node(sizeof(*qp), GFP_KERNEL_ACCOUNT,
					      krdma_device_node(pd->dev)));
	if (!qp)
		return ERR_PTR(-ENOMEM);
	qp->owner = owner;
	qp->conn = owner->conn;
	qp->context = owner->context;
	qp->complete = owner->complete;
	qp->cm_id = cm_id;
	qp->pd = pd;
	atomic_set(&qp->mappings, 1);
	init_completion(&qp->last_wqe);

	if (attr->srq) {
		ret = krdma_srq_attach(attr->srq);
		if (ret)
			goto err_unmake;
		qp->srq = attr->srq;
	}
	ret = krdma_keepalive_init(qp, attr->keepalive_ms, owner->keepalive_ms);
	if (ret)
		goto err_unmake;
	ret = krdma_qp_find_limits(qp, &budget, attr);
	if (ret)
		goto err_unmake;
	ret = krdma_qp_charge(qp, &budget);
	if (ret)
		goto err_unmake;
	ret = krdma_qp_attach_cqs(qp, &budget, attr);
	if (ret)
		goto err_unmake;
	ret = krdma_qp_alloc_wqs(qp, &budget);
	if (ret)
		goto err_unmake;
	ret = krdma_wqe_memory_init(&qp->sink, qp, KRDMA_SINK_BYTES, DMA_BIDIRECTIONAL);
	if (ret)
		goto err_unmake;
	ret = krdma_qp_make(qp, &budget);
	if (ret)
		goto err_unmake;

	if (qp->srq)
		krdma_srq_add(qp->srq, qp);
	krdma_pd_connected(pd, &qp->pd_node);
	krdma_qp_list_add(qp);
	qp->recv.open = true;
	return qp;

err_unmake:
	krdma_qp_unmake(qp);
	krdma_qp_free(qp);
	return ERR_PTR(ret);
}

/**
 * krdma_qp_open() - Allow send work requests
 * @qp: the QP
 *
 * Context: any.
 */
void krdma_qp_open(struct krdma_qp *qp)
{
	unsigned long flags;

	spin_lock_irqsave(&qp->send.lock, flags);
	qp->send.open = true;
	spin_unlock_irqrestore(&qp->send.lock, flags);
	krdma_keepalive_start(qp);
}

/**
 * krdma_qp_close() - Stop posting
 * @qp: the QP
 *
 * Nothing can be posted when this returns.
 *
 * Context: any.
 */
void krdma_qp_close(struct krdma_qp *qp)
{
	krdma_wq_close(&qp->send);
	krdma_wq_close(&qp->recv);
}

/*
 * The end
 */

static void krdma_marker_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct krdma_wq *wq = container_of(wc->wr_cqe, struct krdma_wq, marker);

	complete_all(&wq->drained);
}

static int krdma_qp_post_marker(struct krdma_wq *wq)
{
	struct ib_recv_wr recv = { .wr_cqe = &wq->marker };
	struct ib_rdma_wr send = {
		.wr = {
			.wr_cqe = &wq->marker,
			.opcode = IB_WR_RDMA_WRITE,
			.send_flags = IB_SEND_SIGNALED,
		},
	};
	struct krdma_qp *qp = wq->qp;

	wq->marker.done = krdma_marker_done;
	if (wq == &qp->send)
		return ib_post_send(qp->ib, &send.wr, NULL);
	return ib_post_recv(qp->ib, &recv, NULL);
}

static bool krdma_qp_wait_marker(struct krdma_wq *wq, unsigned long deadline)
{
	unsigned int pause = KRDMA_DRAIN_FIRST_US;

	while (wq->cq->where == KRDMA_CONTEXT_POLL && pause <= KRDMA_DRAIN_LAST_US) {
		if (!completion_done(&wq->drained))
			krdma_cq_empty(wq->cq);
		if (try_wait_for_completion(&wq->drained))
			return true;
		usleep_range(pause, 2 * pause);
		pause *= 2;
	}
	do {
		krdma_cq_empty(wq->cq);
		if (wait_for_completion_timeout(&wq->drained, KRDMA_DRAIN_INTERVAL))
			return true;
	} while (time_before(jiffies, deadline));

	return false;
}

/*
 * Wait until the device has completed all receives that it took from the SRQ.  The event counts
 * whenever it came: the device does not raise it again if the QP had failed by itself.
 */
static void krdma_qp_wait_last_wqe(struct krdma_qp *qp, unsigned long deadline)
{
	unsigned long now = jiffies;

	if (!krdma_quirk_raises_last_wqe(qp->ib->device))
		return;
	/* A device that did not flush in time gets no more time here. */
	if (time_before(now, deadline))
		wait_for_completion_timeout(&qp->last_wqe,
					    min_t(unsigned long, deadline - now,
						  KRDMA_LAST_WQE_TIMEOUT));
}

static void krdma_qp_drain(struct krdma_qp *qp)
{
	unsigned long deadline = jiffies + KRDMA_DRAIN_TIMEOUT;
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };
	bool done = true;
	bool send;
	bool recv;
	int ret;

	/*
	 * Not while the connection manager changes the QP's state in a handler: with some
	 * devices, such as rxe of 6.1, the QP would leave the error state again.
	 */
	rdma_lock_handler(qp->cm_id);
	ret = ib_modify_qp(qp->ib, &attr, IB_QP_STATE);
	rdma_unlock_handler(qp->cm_id);
	/* If this or a marker fails, there is nothing to wait for. */
	if (ret)
		return;
	/*
	 * A provider that flushes in a softirq, such as rxe of 6.1, has flushed when softirqs are
	 * on again.  Otherwise its thread would have to be waited for.
	 */
	local_bh_disable();
	send = !krdma_qp_post_marker(&qp->send);
	recv = qp->recv.wqes && !krdma_qp_post_marker(&qp->recv);
	local_bh_enable();
	if (send)
		done = krdma_qp_wait_marker(&qp->send, deadline);
	if (recv)
		done = krdma_qp_wait_marker(&qp->recv, deadline) && done;
	/* If the peer is not connected, it sends nothing that takes a receive. */
	if (qp->srq && qp->owner->ops->answered(qp->owner))
		krdma_qp_wait_last_wqe(qp, deadline);
	if (!done)
		dev_warn_ratelimited(&qp->ib->device->dev,
				     "queue pair %u was not flushed in time, and is destroyed\n",
				     qp->number);
}

/*
 * Take what the device has completed, before the destruction of the QP removes it.  This takes
 * everything that is there, also behind completions of other QPs, and waits for a poller that is
 * completing some.
 */
static void krdma_qp_empty_cqs(struct krdma_qp *qp)
{
	krdma_cq_empty(qp->send.cq);
	if (qp->recv.cq != qp->send.cq)
		krdma_cq_empty(qp->recv.cq);
}

/* In steps: a full queue would keep interrupts, softirqs or other threads off for a long time. */
static void krdma_qp_flush_wq(struct krdma_wq *wq)
{
	unsigned long flags;
	bool more;

	do {
		krdma_cq_lock(wq->cq, &flags);
		more = krdma_wq_flush(wq, KRDMA_CQ_BATCH);
		krdma_cq_unlock(wq->cq, flags);
		cond_resched();
	} while (more);
}

/* Afterwards no completion of the QP is left, and all of its WQEs are free. */
static void krdma_qp_flush(struct krdma_qp *qp)
{
	krdma_qp_empty_cqs(qp);
	krdma_qp_flush_wq(&qp->send);
	if (qp->srq)
		krdma_srq_remove(qp->srq, qp);
	else
		krdma_qp_flush_wq(&qp->recv);
}

static void krdma_qp_destroy(struct krdma_qp *qp)
{
	krdma_qp_list_remove(qp);
	krdma_keepalive_stop(qp);
	krdma_qp_drain(qp);
	krdma_qp_empty_cqs(qp);
	if (qp->srq)
		krdma_srq_leave(qp->srq, qp);
	rdma_destroy_qp(qp->cm_id);
	qp->ib = NULL;
	krdma_qp_flush(qp);
	krdma_pd_disconnected(qp->pd, &qp->pd_node);
}

/**
 * krdma_qp_end() - Destroy the device's QP
 * @qp: the QP, closed
 *
 * When this returns, everything that was posted has completed, and no callback of the owner
 * runs or will run, but @unmapped of &struct krdma_qp_owner_ops.
 *
 * Context: process context; may sleep.  Not from a callback.
 * Return: true; false: the consumer has pages mapped, and the device and the PD have to stay.  This
 * is to be called again after @unmapped, and may be before it.
 */
bool krdma_qp_end(struct krdma_qp *qp)
{
	might_sleep();

	if (qp->ib) {
		krdma_qp_destroy(qp);
		/* Nothing is mapped since the QP was closed.  @unmapped drops the reference. */
		qp->owner->ops->get(qp->owner);
		if (!atomic_dec_and_test(&qp->mappings))
			return false;
		qp->owner->ops->put(qp->owner);
	} else if (atomic_read_acquire(&qp->mappings)) {
		return false;
	}
	krdma_cq_settle(qp->send.cq, qp->recv.cq);
	krdma_qp_unmake(qp);
	return true;
}

/**
 * krdma_qp_free() - Free the memory of a QP
 * @qp: the QP, ended, or NULL
 *
 * Context: process context; may sleep.
 */
void krdma_qp_free(struct krdma_qp *qp)
{
	if (!qp)
		return;

	krdma_wq_free(&qp->send);
	krdma_wq_free(&qp->recv);
	if (qp->charged)
		krdma_session_uncharge(qp->session, qp->charged);
	kvfree(krdma_object_uncount(KRDMA_OBJECT_QP, qp));
}

/**
 * krdma_qp_query() - Query sizes and counters of a connection's queues
 * @qp: the QP
 * @info: the members that describe the queues are filled in
 *
 * Context: any.
 */
void krdma_qp_query(struct krdma_qp *qp, struct krdma_conn_info *info)
{
	info->qp_number = qp->number;
	info->send_depth = qp->send.credits.depth;
	info->recv_depth = qp->recv.credits.depth;
	info->max_send_sge = qp->send.max_sge;
	info->max_recv_sge = qp->recv.max_sge;
	info->max_inline = qp->max_inline;
	info->sends_posted = READ_ONCE(qp->send.posted);
	info->sends_completed = READ_ONCE(qp->send.completed);
	info->receives_posted = READ_ONCE(qp->recv.posted);
	info->receives_completed = READ_ONCE(qp->recv.completed);
}
