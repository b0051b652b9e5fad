// SPDX-License-Identifier: GPL-2.0
/*
 * Inline data on a device that accepts less inline data than the consumer asked for.
 *
 * KRDMA_POST_INLINE promises that the data may be overwritten when the call returns.  A device
 * keeps that promise if it copies the data into its SQ.  Some devices do not do this for kernel
 * QPs: mlx4, mthca, pvrdma and hfi1 grant 0 bytes, and mlx4 ignores IB_SEND_INLINE and takes the
 * address for a DMA address.  siw does not do it for IB_WR_SEND_WITH_INV.  For such devices krdma
 * copies the data into a buffer of the QP, which has a place for each WQE of the SQ, and posts
 * that.  A place is free when its WQE is free.
 */
#include <linux/math.h>
#include <linux/string.h>
#include <rdma/ib_verbs.h>

#include "io/bounce.h"
#include "io/wq.h"
#include "core/session.h"

/* Bytes of the buffer for each WQE. */
static u32 krdma_bounce_item(u32 size)
{
	return round_up(size, sizeof(u64));
}

/**
 * krdma_bounce_bytes() - How much krdma_bounce_init() allocates
 * @depth: number of WQEs, a power of two
 * @size: bytes of inline data of a work request
 *
 * Context: any.
 * Return: bytes to charge.
 */
u64 krdma_bounce_bytes(u32 depth, u32 size)
{
	if (!size || size > KRDMA_BOUNCE_MAX)
		return 0;
	return krdma_wqe_memory_bytes(depth, krdma_bounce_item(size));
}
EXPORT_SYMBOL_IF_KUNIT(krdma_bounce_bytes);

/**
 * krdma_bounce_init() - Allocate the buffer for copies of inline data
 * @qp: the QP, with its WQEs allocated; not open
 * @size: bytes of inline data of a work request
 *
 * Context: process context; may sleep.
 * Return: 0; -EINVAL if @size exceeds KRDMA_BOUNCE_MAX; or -ENOMEM.
 */
int krdma_bounce_init(struct krdma_qp *qp, u32 size)
{
	if (size > KRDMA_BOUNCE_MAX)
		return -EINVAL;
	return krdma_wqe_memory_init(&qp->bounce, qp, krdma_bounce_item(size), DMA_TO_DEVICE);
}

/**
 * krdma_bounce_exit() - Free the buffer for copies of inline data
 * @qp: the QP, closed, and the device's QP is destroyed.  krdma_bounce_init() need not have been
 *	called.
 *
 * Context: process context.
 */
void krdma_bounce_exit(struct krdma_qp *qp)
{
	krdma_wqe_memory_exit(&qp->bounce, qp);
}

/**
 * krdma_bounce_copy() - Copy the inline data of a work request
 * @wq: the SQ, with a free WQE at the tail
 * @wr: the work request; its data is not longer than the size given to krdma_bounce_init()
 * @ib_sge: set to the DMA address, length and lkey of the copy
 *
 * Context: any, with the post lock held.
 */
void krdma_bounce_copy(struct krdma_wq *wq, const struct krdma_send_wr *wr,
		       struct ib_sge *ib_sge)
{
	struct krdma_qp *qp = wq->qp;
	u32 index = wq->tail & wq->mask;
	u8 *copy = krdma_wqe_memory_data(&qp->bounce, index);
	const struct krdma_sge *sge = wr->sges;
	u32 length = 0;
	u32 i;

	for (i = 0; i < wr->sge_count; i++, sge++) {
		memcpy(copy + length, (void *)(uintptr_t)sge->addr, sge->length);
		length += sge->length;
	}
	*ib_sge = (struct ib_sge) {
		.addr = krdma_wqe_memory_dma(&qp->bounce, index),
		.length = length,
		.lkey = qp->pd->ib->local_dma_lkey,
	};
	ib_dma_sync_single_for_device(qp->pd->ib->device, ib_sge->addr, length,
				      DMA_TO_DEVICE);
}
