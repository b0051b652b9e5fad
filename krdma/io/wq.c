// SPDX-License-Identifier: GPL-2.0
/*
 * The work queues (SQ and RQ) of a QP, from the post to the completion.
 *
 * A work queue has a WQE for each part of a work request that the device has.  On a reliable
 * connection they complete in the order in which they were posted, so a completion also stands
 * for all unsignaled ones before it.  It does not stand for signaled ones: those have completions
 * of their own, unless they failed.
 *
 * siw does not complete in order.  There every WQE has a completion of its own, which stands for
 * nothing else, and krdma ends a WQE when all before it have ended.
 *
 * Each WQE is returned once: by its completion, or, when the device's QP is destroyed, by
 * krdma_wq_flush().  A completion for a WQE that the device does not have, because it has already
 * completed, is ignored.
 */
#include <linux/slab.h>

#include "core/device.h"
#include "mr/mr.h"
#include "io/qp.h"
#include "io/send_wc.h"
#include "io/wq.h"

static struct krdma_wq *krdma_wq_from_credits(struct krdma_credits *credits)
{
	return container_of(credits, struct krdma_wq, credits);
}

static void krdma_wq_get(struct krdma_credits *credits)
{
	struct krdma_qp_owner *owner = krdma_wq_from_credits(credits)->qp->owner;

	owner->ops->get(owner);
}

static void krdma_wq_put(struct krdma_credits *credits)
{
	struct krdma_qp_owner *owner = krdma_wq_from_credits(credits)->qp->owner;

	owner->ops->put(owner);
}

static void krdma_wq_space(struct krdma_credits *credits)
{
	struct krdma_qp_owner *owner = krdma_wq_from_credits(credits)->qp->owner;

	owner->ops->space(owner);
}

static const struct krdma_credits_ops krdma_wq_credits_ops = {
	.get = krdma_wq_get,
	.put = krdma_wq_put,
	.space = krdma_wq_space,
};

/**
 * krdma_wq_bytes() - Compute the memory of the WQEs of a work queue
 * @depth: number of work requests; 0: none
 * @max_sge: SGEs of a work request
 *
 * Context: any.
 * Return: bytes.
 */
u64 krdma_wq_bytes(u32 depth, u32 max_sge)
{
	u64 count = depth ? roundup_pow_of_two(depth) : 0;

	return count * (sizeof(struct krdma_wqe) + max_sge * sizeof(struct krdma_mr *));
}

/**
 * krdma_wq_init() - Allocate the WQEs of a work queue
 * @wq: the work queue, zeroed; krdma_wq_free() may be called before this and after its failure
 * @qp: the QP
 * @cq: the CQ
 * @depth: number of work requests; 0: none
 * @max_sge: SGEs of a work request
 * @done: handler of the completions
 *
 * Context: process context; may sleep.
 * Return: 0 or -ENOMEM.
 */
int krdma_wq_init(struct krdma_wq *wq, struct krdma_qp *qp, struct krdma_cq *cq,
		  u32 depth, u32 max_sge, void (*done)(struct ib_cq *ib_cq, struct ib_wc *wc))
{
	u32 count = depth ? roundup_pow_of_two(depth) : 0;
	int node = krdma_device_node(cq->dev);
	u32 i;

	wq->qp = qp;
	wq->cq = cq;
	spin_lock_init(&wq->lock);
	krdma_credits_init(&wq->credits, depth, &krdma_wq_credits_ops);
	wq->max_sge = max_sge;
	init_completion(&wq->drained);
	if (!count)
		return 0;

	wq->mask = count - 1;
	wq->wqes = kvzalloc_node(array_size(count, sizeof(*wq->wqes)), GFP_KERNEL_ACCOUNT,
				 node);
	wq->mrs = kvzalloc_node(array3_size(count, max_sge, sizeof(*wq->mrs)),
				GFP_KERNEL_ACCOUNT, node);
	if (!wq->wqes || !wq->mrs)
		return -ENOMEM;

	for (i = 0; i < count; i++) {
		wq->wqes[i].cqe.done = done;
		wq->wqes[i].wq = wq;
	}
	return 0;
}

/**
 * krdma_wq_disorder() - Prepare an SQ for WQEs that complete in any order
 * @wq: the work queue, initialized with krdma_send_done_unordered()
 *
 * Context: process context; may sleep.
 * Return: 0 or -ENOMEM.
 */
int krdma_wq_disorder(struct krdma_wq *wq)
{
	wq->early = kvzalloc_node(wq->mask + 1, GFP_KERNEL_ACCOUNT, krdma_device_node(wq->cq->dev));
	return wq->early ? 0 : -ENOMEM;
}

/**
 * krdma_wq_free() - Free the WQEs of a work queue
 * @wq: the work queue
 *
 * Context: process context; may sleep.
 */
void krdma_wq_free(struct krdma_wq *wq)
{
	kvfree(wq->early);
	kvfree(wq->mrs);
	kvfree(wq->wqes);
}

/**
 * krdma_wq_close() - Stop posting to a work queue
 * @wq: the work queue
 *
 * Context: any.
 */
void krdma_wq_close(struct krdma_wq *wq)
{
	unsigned long flags;

	spin_lock_irqsave(&wq->lock, flags);
	wq->open = false;
	spin_unlock_irqrestore(&wq->lock, flags);
}

/**
 * krdma_wq_put_mrs() - End the uses of the MRs of a WQE
 * @wq: the work queue
 * @position: position of the WQE, which the device does not use any more
 *
 * Context: any.
 */
void krdma_wq_put_mrs(struct krdma_wq *wq, u32 position)
{
	struct krdma_mr **mrs = krdma_wq_mrs(wq, position);
	struct krdma_wqe *wqe = krdma_wq_wqe(wq, position);

	while (wqe->mr_count)
		krdma_mr_end_use(mrs[--wqe->mr_count]);
}

/* Does the device have this WQE?  If so, sets its distance from the head. */
static bool krdma_wq_has(const struct krdma_wq *wq, u32 index, u32 *distance)
{
	*distance = (index - wq->head) & wq->mask;

	return *distance < krdma_wq_outstanding(wq);
}

/*
 * Sends
 */

/* Completes the WQE at the head. */
static void krdma_send_finish(struct krdma_wq *wq, u8 status, u32 vendor_error)
{
	struct krdma_wqe *wqe = krdma_wq_wqe(wq, wq->head);
	struct krdma_qp *qp = wq->qp;
	struct krdma_wc *wc;

	if (wqe->mr_count)
		krdma_wq_put_mrs(wq, wq->head);
	if (unlikely(status) && !wq->failed) {
		wq->failed = status;
		wq->vendor_error = vendor_error;
	}
	/* Before the consumer gets the completion: it may query, and it may post. */
	wq->head++;
	if (!(wqe->flags & KRDMA_WQE_LAST)) {
		krdma_credits_return(&wq->credits, 1);
		return;
	}
	WRITE_ONCE(wq->completed, wq->completed + 1);
	if ((wqe->flags & KRDMA_WQE_UNSIGNALED) && !wq->failed) {
		krdma_credits_return(&wq->credits, 1);
		return;
	}

	wc = krdma_cq_next_wc(wq->cq);
	wc->conn = qp->conn;
	wc->context = qp->context;
	wc->wr_id = wqe->wr_id;
	wc->opcode = wqe->opcode;
	wc->status = wq->failed;
	wc->flags = 0;
	wc->length = wqe->length;
	wc->imm = 0;
	wc->vendor_error = wq->vendor_error;
	wq->failed = KRDMA_WC_SUCCESS;
	wq->vendor_error = 0;
	krdma_cq_complete(wq->cq, wc, qp->complete, &wq->credits);
}

/* Counts the completions of the batch for its work queue. */
static void krdma_wq_count_batch(struct krdma_cq *cq)
{
	struct krdma_wq *wq = cq->batch;

	WRITE_ONCE(wq->completed, wq->completed + cq->batch_count);
	krdma_credits_return(&wq->credits, cq->batch_count);
}

/**
 * krdma_wq_end_batch() - Count the completions that krdma_cq_poll() has just taken
 * @cq: the CQ
 *
 * Called before the consumer gets the completions, because it may then release the memory, and
 * post.
 *
 * Context: that of the poll lock.
 */
void krdma_wq_end_batch(struct krdma_cq *cq)
{
	struct krdma_wq *wq = cq->batch;

	if (!wq)
		return;
	cq->batch = NULL;
	WRITE_ONCE(wq->completed, wq->completed + cq->batch_count);
	krdma_credits_give(&wq->credits, cq->batch_count);
	if (likely(cq->put_mr))
		krdma_mr_end_uses(cq->put_mr, cq->put_count);
	else
		/* That of krdma_credits_announce(); krdma_mr_end_uses() is fully ordered. */
		smp_mb();
	cq->put_mr = NULL;
	krdma_credits_notify(&wq->credits);
}

/*
 * The common case of krdma_send_finish(), for the poll of a consumer: work requests of one work
 * queue that succeeded, each of one part and with at most one MR.  Those that are unsignaled end
 * with the signaled one after them.
 */

/* Counts a use of an MR that ends, and ends those that were counted for another one. */
static __always_inline void krdma_send_put_mr(struct krdma_cq *cq, struct krdma_mr *mr)
{
	if (unlikely(cq->put_mr != mr)) {
		if (cq->put_mr)
			krdma_mr_end_uses(cq->put_mr, cq->put_count);
		cq->put_mr = mr;
		cq->put_count = 0;
	}
	cq->put_count++;
}

/*
 * Ends the WQE if it is of these, with these flags.  Its count of MRs is lowered before the use
 * ends, see krdma_wqe_is_condemned().
 */
static __always_inline bool krdma_send_end_wqe(struct krdma_cq *cq, struct krdma_wq *wq,
					       struct krdma_wqe *wqe, u32 index, u8 flags)
{
	u32 kind = wqe->kind & ~KRDMA_WQE_KIND(U8_MAX, 0, 0);

	if (likely(kind == KRDMA_WQE_KIND(0, flags, 1))) {
		WRITE_ONCE(wqe->mr_count, 0);
		krdma_send_put_mr(cq, wq->mrs[index * wq->max_sge]);
		return true;
	}
	return kind == KRDMA_WQE_KIND(0, flags, 0);
}

/* The batch of the poll is that of its last work queue. */
static void krdma_send_end_batch(struct krdma_cq *cq, struct krdma_wq *wq, u32 head)
{
	u32 count = head - wq->head;

	WRITE_ONCE(wq->head, head);
	if (cq->batch != wq) {
		if (cq->batch)
			krdma_wq_count_batch(cq);
		cq->batch = wq;
		cq->batch_count = 0;
	}
	cq->batch_count += count;
}

/* Completes those at the beginning of @wcs, all of one SQ.  Returns their number. */
static __always_inline int krdma_send_complete_batch(struct krdma_cq *cq, struct krdma_wq *wq,
						     struct krdma_flat_ring *ring,
						     const struct ib_wc *wcs, int count)
{
	const struct krdma_wqe *first = wq->wqes;
	u32 dest = (u32)(uintptr_t)wq->qp->context;
	u32 place = ring ? ring->tail : 0;
	u32 mask = wq->mask;
	u32 head = wq->head;
	u32 end = head + krdma_wq_outstanding(wq);
	struct krdma_wqe *wqe;
	unsigned long index;
	int stored = 0;
	int i;

	for (i = 0; i < count; i++, wcs++) {
		/* What is no WQE of this work queue is not in the array. */
		index = ((uintptr_t)wcs->wr_cqe - (uintptr_t)first) / sizeof(*first);
		/*
		 * The device does not have it, or it was posted just now: the handler finds out.
		 * Most are the next one.
		 */
		if (unlikely(wcs->status || head == end))
			break;
		if (unlikely((head & mask) != index)) {
			if (index > mask || (((u32)index - head) & mask) >= end - head)
				break;
			/*
			 * Unsignaled ones before it succeeded: otherwise they would have
			 * completed.
			 */
			do {
				if (!krdma_send_end_wqe(cq, wq, &wq->wqes[head & mask], head & mask,
							KRDMA_WQE_LAST | KRDMA_WQE_UNSIGNALED))
					goto out;
				head++;
			} while ((head & mask) != index);
		}
		wqe = container_of(wcs->wr_cqe, struct krdma_wqe, cqe);
		if (likely(krdma_send_end_wqe(cq, wq, wqe, index, KRDMA_WQE_LAST))) {
			if (ring)
				krdma_send_store_flat(&ring->wcs[place++ & ring->mask], dest, wqe);
			else
				krdma_send_store_wc(cq->out++, wq->qp, wqe);
			stored++;
		} else if (!krdma_send_end_wqe(cq, wq, wqe, index,
					       KRDMA_WQE_LAST | KRDMA_WQE_UNSIGNALED)) {
			break;
		}
		head++;
	}
out:
	if (ring)
		ring->tail = place;
	cq->out_free -= stored;
	krdma_send_end_batch(cq, wq, head);
	return i;
}

/**
 * krdma_send_complete() - Complete work requests to a consumer that is polling
 * @cq: the CQ
 * @wcs: completions of the device, not more than the consumer has room for; the first is of an SQ
 * @count: number of @wcs
 *
 * Takes those at the beginning that are usual ones of SQs.  krdma_wq_end_batch() follows.
 *
 * Context: that of the CQ's poll lock.
 * Return: number of completions of the device that were taken; the next one is for its handler.
 */
int krdma_send_complete(struct krdma_cq *cq, const struct ib_wc *wcs, int count)
{
	struct krdma_flat_ring *ring = cq->flat;
	struct krdma_wq *wq;
	int taken = 0;
	int run;

	krdma_cq_assert_held(cq);

	do {
		wq = container_of(wcs[taken].wr_cqe, struct krdma_wqe, cqe)->wq;
		if (unlikely(wq->failed))
			break;
		/* The compiler makes two functions of it, which do not look where to store each. */
		run = ring ? krdma_send_complete_batch(cq, wq, ring, &wcs[taken], count - taken) :
			     krdma_send_complete_batch(cq, wq, NULL, &wcs[taken], count - taken);
		taken += run;
	} while (run && taken < count && wcs[taken].wr_cqe->done == krdma_send_done);
	return taken;
}

/*
 * Ends work requests at the head that succeeded, and of which no completion is due: of @most those
 * that are unsignaled, of one part each.  Returns their number.
 */
static u32 krdma_send_skip(struct krdma_wq *wq, u32 most)
{
	const u32 unsignaled = KRDMA_WQE_KIND(0, KRDMA_WQE_LAST | KRDMA_WQE_UNSIGNALED, 0);
	struct krdma_wqe *wqe;
	u32 count;

	/* The first part of a work request of several has failed. */
	if (unlikely(wq->failed))
		return 0;
	for (count = 0; count < most; count++) {
		wqe = krdma_wq_wqe(wq, wq->head);
		if ((wqe->kind & ~KRDMA_WQE_KIND(U8_MAX, 0, U16_MAX)) != unsignaled)
			break;
		if (wqe->mr_count)
			krdma_wq_put_mrs(wq, wq->head);
		wq->head++;
	}
	WRITE_ONCE(wq->completed, wq->completed + count);
	krdma_credits_return(&wq->credits, count);
	return count;
}

/* Is it the only, or last, part of a work request of which a completion is due? */
static bool krdma_wqe_ends_signaled(const struct krdma_wqe *wqe)
{
	return (wqe->flags & (KRDMA_WQE_LAST | KRDMA_WQE_UNSIGNALED)) == KRDMA_WQE_LAST;
}

/*
 * Ends the work requests at the head that have not completed, before one that has.  If that one
 * failed, a signaled one has not succeeded, because it would have completed; nor has any after it.
 */
static void krdma_send_finish_before(struct krdma_wq *wq, u32 count, bool failed)
{
	u8 status = KRDMA_WC_SUCCESS;

	while (count--) {
		if (unlikely(failed) && krdma_wqe_ends_signaled(krdma_wq_wqe(wq, wq->head)))
			status = KRDMA_WC_WR_FLUSH_ERR;
		krdma_send_finish(wq, status, 0);
	}
}

static void krdma_send_report(struct krdma_wq *wq, u8 status)
{
	struct krdma_qp_owner *owner = wq->qp->owner;

	if (status == KRDMA_WC_WR_FLUSH_ERR)
		owner->ops->flushed(owner);
	else if (status)
		owner->ops->failed(owner, status == KRDMA_WC_RETRY_EXC_ERR ? -ETIMEDOUT : -EIO);
}

static void krdma_send_finish_many(struct krdma_wq *wq, u32 distance, const struct ib_wc *wc)
{
	u8 status = krdma_wc_status_from_ib(wc->status);

	/* The unsignaled ones before it succeeded: otherwise they would have completed. */
	if (distance)
		distance -= krdma_send_skip(wq, distance);
	krdma_send_finish_before(wq, distance, status);
	krdma_send_finish(wq, status, wc->vendor_err);
	krdma_send_report(wq, status);
}

/**
 * krdma_send_done() - Handle a completion of an SQ
 * @ib_cq: the device's CQ
 * @wc: the completion
 *
 * Context: that of the CQ's poll lock.
 */
void krdma_send_done(struct ib_cq *ib_cq, struct ib_wc *wc)
{
	struct krdma_wqe *wqe = container_of(wc->wr_cqe, struct krdma_wqe, cqe);
	struct krdma_wq *wq = wqe->wq;
	u32 distance;

	krdma_cq_assert_held(wq->cq);

	if (krdma_wq_has(wq, wqe - wq->wqes, &distance))
		krdma_send_finish_many(wq, distance, wc);
	else
		WRITE_ONCE(wq->qp->stray, wq->qp->stray + 1);
}

/*
 * Sends that complete in any order
 */

/* After a failure nothing succeeds, also not what the device has completed before it. */
static void krdma_send_finish_next(struct krdma_wq *wq, u8 status, u32 vendor_error)
{
	if (!status && wq->broken)
		status = KRDMA_WC_WR_FLUSH_ERR;
	if (status)
		wq->broken = true;
	krdma_send_finish(wq, status, vendor_error);
}

/* Has the WQE at the head completed, behind one that had not? */
static bool krdma_send_is_early(struct krdma_wq *wq)
{
	return wq->early && wq->early[wq->head & wq->mask];
}

/* Ends such a WQE.  The consumer may then use it again. */
static void krdma_send_finish_early(struct krdma_wq *wq)
{
	u8 *early = &wq->early[wq->head & wq->mask];
	u8 status = *early - 1;

	*early = 0;
	/* siw reports no vendor errors. */
	krdma_send_finish_next(wq, status, 0);
}

/**
 * krdma_send_done_unordered() - Handle a completion of an SQ of which each stands for itself
 * @ib_cq: the device's CQ
 * @wc: the completion
 *
 * Context: that of the CQ's poll lock.
 */
void krdma_send_done_unordered(struct ib_cq *ib_cq, struct ib_wc *wc)
{
	struct krdma_wqe *wqe = container_of(wc->wr_cqe, struct krdma_wqe, cqe);
	u8 status = krdma_wc_status_from_ib(wc->status);
	struct krdma_wq *wq = wqe->wq;
	u32 index = wqe - wq->wqes;
	u32 distance;

	krdma_cq_assert_held(wq->cq);

	if (!krdma_wq_has(wq, index, &distance) || wq->early[index]) {
		WRITE_ONCE(wq->qp->stray, wq->qp->stray + 1);
		return;
	}
	if (distance) {
		wq->early[index] = status + 1;
	} else {
		krdma_send_finish_next(wq, status, wc->vendor_err);
		while (krdma_wq_outstanding(wq) && krdma_send_is_early(wq))
			krdma_send_finish_early(wq);
	}
	krdma_send_report(wq, status);
}

/*
 * Receives
 */

/**
 * krdma_qp_received() - Complete a receive
 * @qp: the QP that took it
 * @cq: the CQ; the caller holds its poll lock
 * @credits: one credit is returned to these
 * @wr_id: wr_id of the consumer
 * @ib_wc: the device's completion
 *
 * Context: that of the CQ's poll lock.
 */
void krdma_qp_received(struct krdma_qp *qp, struct krdma_cq *cq,
		       struct krdma_credits *credits, u64 wr_id, const struct ib_wc *ib_wc)
{
	u8 status = ib_wc->status ? krdma_wc_status_from_ib(ib_wc->status) : KRDMA_WC_SUCCESS;
	struct krdma_qp_owner *owner = qp->owner;
	struct krdma_wc *wc;

	wc = krdma_cq_next_wc(cq);
	wc->conn = qp->conn;
	wc->context = qp->context;
	wc->wr_id = wr_id;
	wc->opcode = KRDMA_OP_RECV;
	wc->status = status;
	wc->flags = 0;
	wc->length = 0;
	wc->imm = 0;
	wc->vendor_error = 0;
	if (unlikely(status)) {
		wc->vendor_error = ib_wc->vendor_err;
	} else {
		wc->length = ib_wc->byte_len;
		if (ib_wc->wc_flags & IB_WC_WITH_IMM) {
			wc->flags |= KRDMA_WC_WITH_IMM;
			wc->imm = be32_to_cpu(ib_wc->ex.imm_data);
		} else if (ib_wc->wc_flags & IB_WC_WITH_INVALIDATE) {
			wc->flags |= KRDMA_WC_WITH_INVALIDATE;
			wc->key = ib_wc->ex.invalidate_rkey;
		}
		if (ib_wc->opcode == IB_WC_RECV_RDMA_WITH_IMM)
			wc->flags |= KRDMA_WC_WRITTEN;
		/*
		 * The first message may overtake the connection manager's event that the
		 * connection is established.
		 */
		if (unlikely(!qp->heard)) {
			qp->heard = true;
			owner->ops->heard(owner);
		}
	}

	krdma_cq_complete(cq, wc, qp->complete, credits);

	if (unlikely(status == KRDMA_WC_WR_FLUSH_ERR))
		owner->ops->flushed(owner);
	else if (unlikely(status))
		owner->ops->failed(owner, -EIO);
}

static void krdma_recv_finish(struct krdma_wq *wq, const struct ib_wc *wc)
{
	u64 wr_id = krdma_wq_wqe(wq, wq->head)->wr_id;

	if (krdma_wq_wqe(wq, wq->head)->mr_count)
		krdma_wq_put_mrs(wq, wq->head);
	wq->head++;
	WRITE_ONCE(wq->completed, wq->completed + 1);
	krdma_qp_received(wq->qp, wq->cq, &wq->credits, wr_id, wc);
}

/**
 * krdma_recv_done() - Handle a completion of an RQ
 * @cq: the device's CQ
 * @wc: the completion
 *
 * Context: that of the CQ's poll lock.
 */
void krdma_recv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	static const struct ib_wc lost = { .status = IB_WC_WR_FLUSH_ERR };
	struct krdma_wqe *wqe = container_of(wc->wr_cqe, struct krdma_wqe, cqe);
	struct krdma_wq *wq = wqe->wq;
	u32 distance;

	krdma_cq_assert_held(wq->cq);

	if (!krdma_wq_has(wq, wqe - wq->wqes, &distance)) {
		WRITE_ONCE(wq->qp->stray, wq->qp->stray + 1);
		return;
	}
	/* A receive that was skipped holds no message, and will not complete. */
	while (unlikely(distance--))
		krdma_recv_finish(wq, &lost);
	krdma_recv_finish(wq, wc);
}

/*
 * The end
 */

static void krdma_wq_flush_partial(struct krdma_wq *wq)
{
	struct krdma_qp *qp = wq->qp;
	struct krdma_wc wc = {
		.conn = qp->conn,
		.context = qp->context,
		.wr_id = qp->partial_wqe.wr_id,
		.opcode = qp->partial_wqe.opcode,
		.status = wq->failed ?: KRDMA_WC_WR_FLUSH_ERR,
		.length = qp->partial_wqe.length,
		.vendor_error = wq->vendor_error,
	};

	qp->partial = false;
	while (qp->partial_mr_count)
		krdma_mr_end_use(*krdma_partial_mr(qp, --qp->partial_mr_count));
	WRITE_ONCE(wq->completed, wq->completed + 1);
	krdma_cq_complete(wq->cq, &wc, qp->complete, &wq->credits);
}

/**
 * krdma_wq_flush() - Complete what the device will not complete
 * @wq: the work queue, closed; the device's QP is destroyed, and the caller holds the poll lock
 * @budget: maximum number of WQEs
 *
 * Context: that of the poll lock.
 * Return: true if there are more WQEs.
 */
bool krdma_wq_flush(struct krdma_wq *wq, u32 budget)
{
	static const struct ib_wc lost = { .status = IB_WC_WR_FLUSH_ERR };
	bool sends = wq == &wq->qp->send;

	krdma_cq_assert_held(wq->cq);

	while (krdma_wq_outstanding(wq)) {
		if (!budget--)
			return true;
		if (!sends)
			krdma_recv_finish(wq, &lost);
		else if (krdma_send_is_early(wq))
			krdma_send_finish_early(wq);
		else
			krdma_send_finish_next(wq, KRDMA_WC_WR_FLUSH_ERR, 0);
	}
	if (sends && wq->qp->partial)
		krdma_wq_flush_partial(wq);
	return false;
}
