// SPDX-License-Identifier: GPL-2.0
/*
 * Shared receive queues (SRQ).
 *
 * The receives of many connections complete in one CQ, in any order.  The device's QP of a
 * completion leads to the QP that the message is for.  It must not be read while it is being
 * destroyed, so QPs of which the device's QP is being destroyed are in a list, which is searched
 * first.
 */
#include <linux/err.h>
#include <linux/slab.h>
#include <rdma/ib_verbs.h>

#include "core/device.h"
#include "core/device_query.h"
#include "io/budget.h"
#include "core/objects.h"
#include "io/recv.h"
#include "mr/mr.h"
#include "io/wq.h"
#include "core/session.h"
#include "io/srq.h"
#include "io/srq_share.h"

/* WQEs that are handled with interrupts off. */
#define KRDMA_SRQ_AT_A_TIME	64

static void krdma_srq_free(struct krdma_srq *srq)
{
	krdma_srq_pool_free(srq->pool);
	kvfree(srq->sges);
	kvfree(srq->mrs);
	kvfree(srq->wqes);
	krdma_session_uncharge(srq->session, srq->charged);
	krdma_session_put(srq->session);
	krdma_device_put(srq->dev);
	kfree(krdma_object_uncount(KRDMA_OBJECT_SRQ, srq));
}

static void krdma_srq_free_work(struct work_struct *work)
{
	krdma_srq_free(container_of(work, struct krdma_srq, free_work));
}

static struct krdma_srq *krdma_srq_of(struct krdma_credits *credits)
{
	return container_of(credits, struct krdma_srq, credits);
}

static void krdma_srq_get_credits(struct krdma_credits *credits)
{
	refcount_inc(&krdma_srq_of(credits)->refs);
}

static void krdma_srq_put_credits(struct krdma_credits *credits)
{
	krdma_srq_put(krdma_srq_of(credits));
}

/* No notification is needed: each completion means that one more receive can be posted. */
static void krdma_srq_space(struct krdma_credits *credits)
{
}

static const struct krdma_credits_ops krdma_srq_credits_ops = {
	.get = krdma_srq_get_credits,
	.put = krdma_srq_put_credits,
	.space = krdma_srq_space,
};

/*
 * WQEs
 */

/**
 * krdma_srq_wqe_put_mrs() - End the use of a receive's memory
 * @srq: the SRQ
 * @wqe: the WQE of the receive
 *
 * Context: any, with the post lock held.
 */
void krdma_srq_wqe_put_mrs(struct krdma_srq *srq, struct krdma_srq_wqe *wqe)
{
	struct krdma_mr **mrs = krdma_srq_mrs(srq, wqe);

	lockdep_assert_held(&srq->lock);

	while (wqe->mr_count)
		krdma_mr_end_use(mrs[--wqe->mr_count]);
}

/* The QP of which this device's QP is being destroyed, or NULL. */
static struct krdma_qp *krdma_srq_find_ending(struct krdma_srq *srq, const struct ib_qp *ib)
{
	struct krdma_qp *qp;

	krdma_cq_assert_held(srq->cq);

	hlist_for_each_entry(qp, &srq->ending, srq_node) {
		if (qp->ib_key == ib)
			return qp;
	}
	return NULL;
}

/*
 * The QP of a completion, or NULL.  It does not end before the caller has released the poll lock.
 * Except for those that are ending, the device's QP exists: no completion of it is left when a QP
 * leaves the list, see krdma_qp_end().
 */
static struct krdma_qp *krdma_srq_find(struct krdma_srq *srq, const struct ib_qp *ib)
{
	struct krdma_qp *qp;

	if (unlikely(!hlist_empty(&srq->ending))) {
		qp = krdma_srq_find_ending(srq, ib);
		if (qp)
			return qp;
	}
	return ib ? ib->qp_context : NULL;
}

/* Takes a WQE back from the device or the pool.  Returns false if neither had it. */
static bool krdma_srq_take_back(struct krdma_srq *srq, struct krdma_srq_wqe *wqe, u64 *wr_id)
{
	unsigned long flags;
	bool used;

	spin_lock_irqsave(&srq->lock, flags);
	used = wqe->used;
	if (used) {
		*wr_id = wqe->wr_id;
		krdma_srq_wqe_put_mrs(srq, wqe);
		krdma_srq_wqe_push(srq, wqe);
	}
	spin_unlock_irqrestore(&srq->lock, flags);

	return used;
}

/* Completes a receive that holds no message of any connection. */
static void krdma_srq_give_back(struct krdma_srq *srq, u64 wr_id)
{
	struct krdma_wc wc = {
		.context = srq->attr.context,
		.wr_id = wr_id,
		.opcode = KRDMA_OP_RECV,
		.status = KRDMA_WC_WR_FLUSH_ERR,
	};

	krdma_cq_complete(srq->cq, &wc, srq->attr.complete, &srq->credits);
}

static void krdma_srq_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct krdma_srq_wqe *wqe = container_of(wc->wr_cqe, struct krdma_srq_wqe, cqe);
	struct krdma_srq *srq = wqe->srq;
	struct krdma_qp *qp;
	u64 wr_id;

	krdma_cq_assert_held(srq->cq);

	if (!krdma_srq_take_back(srq, wqe, &wr_id))
		return;
	if (srq->pool)
		krdma_srq_pool_completed(srq);
	qp = krdma_srq_find(srq, wc->qp);
	if (qp)
		krdma_qp_received(qp, srq->cq, &srq->credits, wr_id, wc);
	else
		krdma_srq_give_back(srq, wr_id);
}

/*
 * Posting
 */

static int krdma_srq_recv_one(struct krdma_srq *srq, const struct krdma_recv_wr *wr)
{
	const struct ib_recv_wr *bad;
	struct krdma_srq_wqe *wqe;
	struct ib_recv_wr ib_wr;
	int ret;

	lockdep_assert_held(&srq->lock);

	if (srq->pool)
		return krdma_srq_pool_post(srq, wr);
	if (!krdma_credits_take(&srq->credits, 1))
		return -EAGAIN;
	wqe = krdma_srq_wqe_pop(srq);

	ret = krdma_recv_build(wr, srq->pd, srq->max_sge, srq->sges,
			       krdma_srq_mrs(srq, wqe), &wqe->mr_count, &ib_wr);
	if (ret)
		goto err_push;
	ib_wr.next = NULL;
	ib_wr.wr_cqe = &wqe->cqe;
	wqe->wr_id = wr->wr_id;
	ret = ib_post_srq_recv(srq->ib, &ib_wr, &bad);
	if (ret) {
		ret = -EIO;
		goto err_regions;
	}
	return 0;

err_regions:
	krdma_srq_wqe_put_mrs(srq, wqe);
err_push:
	krdma_srq_wqe_push(srq, wqe);
	krdma_credits_untake(&srq->credits, 1);
	return ret;
}

/**
 * krdma_srq_post_recv() - Post receive work requests to an SRQ
 * @srq: the SRQ; the caller holds a reference
 * @wrs: the work requests; copied
 * @count: number of work requests
 *
 * The receives are for messages of any connection that uses the SRQ.  The caller may pass MRs
 * that it found under rcu_read_lock(), as with krdma_conn_post_send().
 *
 * Context: any but NMI; does not sleep, does not call the consumer.  If the SRQ is for lanes, it
 * may call notify() of a lane that ends.
 * Return: the number of work requests that were accepted, at least 1; or, if none was,
 * -EAGAIN: the SRQ is full; after each completion one more receive can be posted;
 * -ESHUTDOWN: it has been closed; -ENODEV: its device has been removed;
 * -EINVAL: @count is not positive;
 * -EMSGSIZE: more SGEs than a receive can have;
 * -EOPNOTSUPP: the SRQ is for lanes, which cannot use the memory: memory without an MR, or of a
 * process that was not registered for lanes;
 * -EACCES, -ERANGE, -ESTALE, -EXDEV: as for krdma_conn_post_send();
 * -EIO: the provider failed.
 */
int krdma_srq_post_recv(struct krdma_srq *srq, const struct krdma_recv_wr *wrs, int count)
{
	unsigned long flags;
	int ret = 0;
	int i;

	if (count <= 0)
		return -EINVAL;
	if (!krdma_resource_tryget(&srq->res))
		return krdma_resource_error(&srq->res);

	spin_lock_irqsave(&srq->lock, flags);
	for (i = 0; i < count; i++) {
		ret = krdma_srq_recv_one(srq, &wrs[i]);
		if (ret)
			break;
	}
	spin_unlock_irqrestore(&srq->lock, flags);
	if (srq->pool && i)
		krdma_srq_distribute(srq);
	krdma_resource_put(&srq->res);

	return i ?: ret;
}
EXPORT_SYMBOL_NS_GPL(krdma_srq_post_recv, "KRDMA");

/*
 * Queue pairs
 */

/**
 * krdma_srq_attach() - Keep an SRQ for a QP that takes receives from it
 * @srq: the SRQ; the caller holds a reference
 *
 * Context: any.
 * Return: 0, or -ENODEV, or -ESHUTDOWN.
 */
int krdma_srq_attach(struct krdma_srq *srq)
{
	return krdma_resource_tryget(&srq->res) ? 0 : krdma_resource_error(&srq->res);
}

/**
 * krdma_srq_detach() - Undo krdma_srq_attach()
 * @srq: the SRQ
 *
 * Context: any but NMI.
 */
void krdma_srq_detach(struct krdma_srq *srq)
{
	krdma_resource_put(&srq->res);
}

/**
 * krdma_srq_add() - Begin to assign completions to a QP
 * @srq: the SRQ, to which the QP is attached
 * @qp: the QP, with its device's QP, which is not connected yet
 *
 * The device's QP may be in the memory of one that was destroyed, and of which completions are
 * left.
 *
 * Context: process context; may sleep.
 */
void krdma_srq_add(struct krdma_srq *srq, struct krdma_qp *qp)
{
	struct krdma_qp *former;
	unsigned long flags;

	if (srq->pool)
		krdma_srq_pool_feed(srq, 1);
	krdma_cq_lock(srq->cq, &flags);
	former = krdma_srq_find_ending(srq, qp->ib);
	krdma_cq_unlock(srq->cq, flags);
	if (likely(!former))
		return;

	/* They are in the CQ, and the new QP has none. */
	krdma_cq_empty(srq->cq);
	krdma_cq_lock(srq->cq, &flags);
	former = krdma_srq_find_ending(srq, qp->ib);
	if (former)
		hlist_del_init(&former->srq_node);
	krdma_cq_unlock(srq->cq, flags);
}

/**
 * krdma_srq_leave() - Prepare for the destruction of a device's QP
 * @srq: the SRQ
 * @qp: the QP; its device's QP is destroyed next
 *
 * Context: process context; may sleep.
 */
void krdma_srq_leave(struct krdma_srq *srq, struct krdma_qp *qp)
{
	unsigned long flags;

	krdma_cq_lock(srq->cq, &flags);
	qp->ib_key = qp->ib;
	hlist_add_head(&qp->srq_node, &srq->ending);
	krdma_cq_unlock(srq->cq, flags);
}

/**
 * krdma_srq_remove() - Stop assigning completions to a QP
 * @srq: the SRQ
 * @qp: the QP, of which the device's QP is destroyed and no completion is left
 *
 * Context: process context; may sleep.
 */
void krdma_srq_remove(struct krdma_srq *srq, struct krdma_qp *qp)
{
	unsigned long flags;

	if (srq->pool)
		krdma_srq_pool_feed(srq, -1);
	krdma_cq_lock(srq->cq, &flags);
	hlist_del_init(&qp->srq_node);
	krdma_cq_unlock(srq->cq, flags);
}

/**
 * krdma_srq_uses_condemned() - Check whether receives use condemned MRs
 * @srq: the SRQ; the caller holds a reference
 * @first: index of the first WQE to check
 * @count: number of WQEs to check; may go beyond the last
 *
 * Context: any.
 * Return: true if a receive that has not completed uses an MR with &struct krdma_mr.condemned
 * set.
 */
bool krdma_srq_uses_condemned(struct krdma_srq *srq, u32 first, u32 count)
{
	u32 end = min(srq->credits.depth - first, count) + first;
	unsigned long flags;
	bool used = false;

	/* An MR in use by a WQE exists: the use ends under the lock. */
	spin_lock_irqsave(&srq->lock, flags);
	for (u32 i = first; i < end && !used; i++) {
		struct krdma_mr **mrs = krdma_srq_mrs(srq, &srq->wqes[i]);

		if (!srq->wqes[i].used)
			continue;
		for (u16 j = 0; j < srq->wqes[i].mr_count; j++)
			used |= READ_ONCE(mrs[j]->condemned);
	}
	spin_unlock_irqrestore(&srq->lock, flags);

	return used;
}

/*
 * Creation and destruction
 */

/* No QP takes receives from here any more, and no caller posts. */
static void krdma_srq_release(struct krdma_resource *res)
{
	struct krdma_srq *srq = container_of(res, struct krdma_srq, res);
	unsigned long flags;
	u64 wr_id;
	u32 i;

	if (!IS_ERR_OR_NULL(srq->ib)) {
		ib_destroy_srq(srq->ib);
		/*
		 * The device does not use the memory any more, and its completions are in the CQ.
		 * No QP takes receives, so none comes after them.
		 */
		krdma_cq_empty(srq->cq);
		krdma_cq_lock(srq->cq, &flags);
		for (i = 0; i < srq->credits.depth; i++) {
			if (krdma_srq_take_back(srq, &srq->wqes[i], &wr_id))
				krdma_srq_give_back(srq, wr_id);
			if (i % KRDMA_SRQ_AT_A_TIME == KRDMA_SRQ_AT_A_TIME - 1) {
				krdma_cq_unlock(srq->cq, flags);
				krdma_cq_lock(srq->cq, &flags);
			}
		}
		krdma_cq_unlock(srq->cq, flags);
	}
	if (srq->cq)
		krdma_cq_detach(srq->cq, srq->credits.depth, &srq->credits);
	if (srq->pd) {
		krdma_uncharge_object(&srq->charge, srq->pd->ib->device);
		spin_lock(&srq->pd->lock);
		list_del_init(&srq->pd_node);
		spin_unlock(&srq->pd->lock);
		krdma_pd_put(srq->pd);
	}
	srq->ib = NULL;
	srq->cq = NULL;
	srq->pd = NULL;
}

static void krdma_srq_forget(struct krdma_resource *res)
{
	struct krdma_srq *srq = container_of(res, struct krdma_srq, res);

	/* Mostly the last reference.  Free the SRQ here, without one more work item. */
	if (refcount_dec_and_test(&srq->refs))
		krdma_srq_free(srq);
}

static int krdma_srq_alloc_wqes(struct krdma_srq *srq, u32 depth)
{
	int node = krdma_device_node(srq->dev);
	u32 i;

	srq->wqes = kvzalloc_node(array_size(depth, sizeof(*srq->wqes)), GFP_KERNEL_ACCOUNT,
				  node);
	srq->mrs = kvzalloc_node(array3_size(depth, srq->max_sge, sizeof(*srq->mrs)),
				 GFP_KERNEL_ACCOUNT, node);
	srq->sges = kvzalloc_objs(*srq->sges, srq->max_sge, GFP_KERNEL_ACCOUNT);
	if (!srq->wqes || !srq->mrs || !srq->sges)
		return -ENOMEM;
	if (srq->attr.lanes) {
		srq->pool = krdma_srq_pool_create(depth, srq->max_sge, node);
		if (!srq->pool)
			return -ENOMEM;
	}

	for (i = 0; i < depth; i++) {
		srq->wqes[i].cqe.done = krdma_srq_done;
		srq->wqes[i].srq = srq;
		srq->wqes[i].next = i + 1 < depth ? &srq->wqes[i + 1] : NULL;
	}
	srq->free = srq->wqes;
	return 0;
}

/* Charges krdma's memory and the provider's, before any of it is allocated. */
static int krdma_srq_charge(struct krdma_srq *srq, u32 depth)
{
	u64 bytes = sizeof(*srq) + krdma_budget_srq_bytes(depth, srq->max_sge) +
		    (u64)depth * (sizeof(*srq->wqes) + srq->max_sge * sizeof(*srq->mrs));
	int ret;

	if (srq->attr.lanes)
		bytes += krdma_srq_pool_bytes(depth, srq->max_sge);

	ret = krdma_session_charge(srq->session, bytes);
	if (!ret)
		srq->charged = bytes;
	return ret;
}

static int krdma_srq_make(struct krdma_srq *srq)
{
	struct ib_srq_init_attr init = {
		.srq_type = IB_SRQT_BASIC,
		.attr = {
			.max_wr = srq->credits.depth,
			.max_sge = srq->max_sge,
		},
	};
	int ret;

	ret = krdma_cq_attach(srq->attr.cq, srq->credits.depth);
	if (ret)
		return ret;
	srq->cq = srq->attr.cq;

	srq->pd = krdma_pd_get(srq->session, srq->dev);
	if (IS_ERR(srq->pd)) {
		ret = PTR_ERR(srq->pd);
		srq->pd = NULL;
		return ret;
	}
	ret = krdma_charge_object(&srq->charge, srq->session, srq->pd->ib->device);
	if (ret)
		return ret;
	srq->ib = ib_create_srq(srq->pd->ib, &init);
	if (IS_ERR(srq->ib))
		return krdma_provider_error(PTR_ERR(srq->ib));

	spin_lock(&srq->pd->lock);
	list_add_tail(&srq->pd_node, &srq->pd->srqs);
	spin_unlock(&srq->pd->lock);
	return 0;
}

/**
 * krdma_srq_create() - Create a shared receive queue
 * @session: the session; its connections can use the SRQ; the caller holds a reference
 * @attr: attributes; copied
 *
 * With &struct krdma_srq_attr.lanes, the connections that use it can be lanes, too.  Then each
 * receive needs an MR that lanes can use, the device gets no more than half of the receives, and
 * the lanes to one peer hold, or have used without their being replaced, no more than a quarter of
 * the SRQ's depth.  So a peer that sends much, or does not use what it was promised, leaves the
 * rest to others.  At least four receives for each peer should be posted that is to be served at
 * a time.
 *
 * Context: process context; may sleep.
 * Return: the SRQ, for krdma_srq_close() and krdma_srq_put(), or ERR_PTR of
 * -EINVAL: no depth or no CQ, or beyond the device's limits;
 * -EOPNOTSUPP: the device has no SRQs;
 * -ENOSPC: the CQ has not enough free entries;
 * -ENODEV, -ESHUTDOWN: the device has been removed, or the CQ has been released;
 * -EDQUOT: the limit of the control group is reached, or another errno of the charge;
 * -ENOMEM; -EIO: the provider failed.
 */
struct krdma_srq *krdma_srq_create(struct krdma_session *session,
				   const struct krdma_srq_attr *attr)
{
	const struct krdma_limits *limits;
	u32 max_sge = attr->max_sge ?: 1;
	struct krdma_device *dev;
	struct krdma_srq *srq;
	int ret;

	might_sleep();

	if (!attr->cq)
		return ERR_PTR(-EINVAL);
	dev = attr->cq->dev;
	limits = krdma_device_limits(dev);
	if (!(krdma_device_caps(dev) & KRDMA_DEVICE_CAP_SRQ))
		return ERR_PTR(-EOPNOTSUPP);
	if (!attr->depth || attr->depth > limits->max_srq_wr || max_sge > limits->max_srq_sge)
		return ERR_PTR(-EINVAL);

	srq = krdma_object_count(KRDMA_OBJECT_SRQ, kzalloc_obj(*srq, GFP_KERNEL_ACCOUNT));
	if (!srq)
		return ERR_PTR(-ENOMEM);
	refcount_set(&srq->refs, 2);
	krdma_session_get(session);
	srq->session = session;
	krdma_device_get(dev);
	srq->dev = dev;
	srq->attr = *attr;
	INIT_LIST_HEAD(&srq->pd_node);
	spin_lock_init(&srq->lock);
	INIT_WORK(&srq->free_work, krdma_srq_free_work);
	krdma_credits_init(&srq->credits, attr->depth, &krdma_srq_credits_ops);
	srq->max_sge = max_sge;

	ret = krdma_srq_charge(srq, attr->depth);
	if (ret)
		goto err_free;
	ret = krdma_srq_alloc_wqes(srq, attr->depth);
	if (ret)
		goto err_free;
	ret = krdma_resource_init(&srq->res, dev, krdma_srq_release, krdma_srq_forget);
	if (ret)
		goto err_free;
	if (!session->reclaim)
		krdma_resource_set_turns(&srq->res, session);
	ret = krdma_srq_make(srq);
	krdma_resource_put(&srq->res);
	if (ret) {
		krdma_srq_close(srq);
		krdma_srq_put(srq);
		return ERR_PTR(ret);
	}
	return srq;

err_free:
	krdma_srq_free(srq);
	return ERR_PTR(ret);
}
EXPORT_SYMBOL_NS_GPL(krdma_srq_create, "KRDMA");

/**
 * krdma_srq_close() - Close a shared receive queue
 * @srq: the SRQ; the caller holds a reference
 *
 * Nothing can be posted any more.  The connections that use the SRQ consume what was posted.
 * When the last of them is closed, the rest completes as flushed.
 *
 * Context: any but NMI; any number of times.
 */
void krdma_srq_close(struct krdma_srq *srq)
{
	krdma_resource_drop(&srq->res);
}
EXPORT_SYMBOL_NS_GPL(krdma_srq_close, "KRDMA");

/**
 * krdma_srq_revoke() - Close a shared receive queue without its consumer, and notify the consumer
 * @srq: the SRQ; the caller holds a reference
 *
 * Context: process context.
 */
void krdma_srq_revoke(struct krdma_srq *srq)
{
	/* The device part keeps the CQ.  Without it, the SRQ has been closed before. */
	if (!krdma_resource_tryget(&srq->res))
		return;
	krdma_srq_close(srq);
	krdma_cq_srq_ended(srq->cq);
	krdma_resource_put(&srq->res);
}

/**
 * krdma_srq_put() - Drop a reference to a shared receive queue
 * @srq: the SRQ, or NULL
 *
 * The consumer calls krdma_srq_close() before it drops its own reference.
 *
 * Context: any but NMI.
 */
void krdma_srq_put(struct krdma_srq *srq)
{
	/* Large allocations cannot be freed in every context. */
	if (srq && refcount_dec_and_test(&srq->refs))
		queue_work(krdma_workqueue, &srq->free_work);
}
EXPORT_SYMBOL_NS_GPL(krdma_srq_put, "KRDMA");
