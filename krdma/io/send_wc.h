/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The usual completion of an SQ for a consumer that polls.
 */
#ifndef _KRDMA_SEND_WC_H
#define _KRDMA_SEND_WC_H

#include "io/cq.h"
#include "io/flat.h"
#include "io/wq.h"
#include "mr/mr.h"

/* Number of WQEs that the device has, from @wq->head on. */
static inline u32 krdma_wq_outstanding(const struct krdma_wq *wq)
{
	/* Pairs with the releases in krdma_wqe_commit() and krdma_send_fast(). */
	return smp_load_acquire(&wq->tail) - wq->head;
}

static __always_inline void krdma_send_store_flat(struct krdma_flat_wc *flat, u32 dest,
						  const struct krdma_wqe *wqe)
{
	flat->wr_id = wqe->wr_id;
	flat->dest = dest;
	flat->opcode = wqe->opcode;
	flat->status = KRDMA_WC_SUCCESS;
	flat->flags = 0;
	flat->length = wqe->length;
	flat->imm = 0;
	flat->vendor_error = 0;
	flat->reserved = 0;
}

static __always_inline void krdma_send_store_wc(struct krdma_wc *wc, const struct krdma_qp *qp,
						const struct krdma_wqe *wqe)
{
	wc->conn = qp->conn;
	wc->context = qp->context;
	wc->wr_id = wqe->wr_id;
	wc->opcode = wqe->opcode;
	wc->status = KRDMA_WC_SUCCESS;
	wc->flags = 0;
	wc->length = wqe->length;
	wc->imm = 0;
	wc->vendor_error = 0;
}

/*
 * Completes a work request to a consumer that polls and has room: to @ring, or to @out if that is
 * NULL.  Does what krdma_send_complete() and krdma_wq_end_batch() do, for one that was signaled and
 * is the oldest of its SQ.  Returns false if it is another one, and nothing was done.  With the
 * poll lock held, and without a batch.
 */
static __always_inline bool krdma_send_complete_one(const struct ib_wc *ib_wc,
						    struct krdma_flat_ring *ring,
						    struct krdma_wc *out)
{
	struct krdma_wqe *wqe = container_of(ib_wc->wr_cqe, struct krdma_wqe, cqe);
	struct krdma_wq *wq = wqe->wq;
	u32 head = wq->head;
	u32 index = head & wq->mask;
	struct krdma_mr *mr;

	if (unlikely(ib_wc->status || wq->failed || wqe != &wq->wqes[index] ||
		     !krdma_wq_outstanding(wq)))
		return false;
	if (unlikely((wqe->kind & ~KRDMA_WQE_KIND(U8_MAX, 0, 0)) !=
		     KRDMA_WQE_KIND(0, KRDMA_WQE_LAST, 1)))
		return false;

	if (ring)
		krdma_send_store_flat(&ring->wcs[ring->tail++ & ring->mask],
				      (u32)(uintptr_t)wq->qp->context, wqe);
	else
		krdma_send_store_wc(out, wq->qp, wqe);
	/* As in krdma_send_end_wqe(): before the use ends. */
	WRITE_ONCE(wqe->mr_count, 0);
	mr = wq->mrs[index * wq->max_sge];
	WRITE_ONCE(wq->head, head + 1);
	WRITE_ONCE(wq->completed, wq->completed + 1);
	krdma_credits_give(&wq->credits, 1);
	/* It is fully ordered, as krdma_credits_announce() is. */
	krdma_mr_end_use(mr);
	krdma_credits_notify(&wq->credits);
	return true;
}

#endif /* _KRDMA_SEND_WC_H */
