// SPDX-License-Identifier: GPL-2.0
/*
 * Inline data on a device that accepts less inline data than the consumer asked for.
 *
 * KRDMA_POST_INLINE promises that the data may be overwritten when the call returns.  A device
 * keeps that promise if it copies the data into its SQ.  Some devices do not do this for kernel
 * QPs: mlx4, mthca, pvrdma and hfi1 grant 0 bytes, and mlx4 ignores IB_SEND_INLINE and takes the
 * address for a DMA address.  For such devices krdma copies the data into a buffer of the QP,
 * which has a place for each WQE of the SQ, and posts that.  A place is free when its WQE is
 * free.
 */
#include <linux/math.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <rdma/ib_verbs.h>

#include "io/bounce.h"
#include "io/wq.h"
#include "core/session.h"

static size_t krdma_bounce_bytes(const struct krdma_qp *qp)
{
	return array_size(qp->send.mask + 1, qp->bounce_size);
}

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
	struct ib_device *ibdev = qp->pd->ib->device;
	u64 dma;

	if (size > KRDMA_BOUNCE_MAX)
		return -EINVAL;

	qp->bounce_size = round_up(size, sizeof(u64));
	qp->bounce = kzalloc(krdma_bounce_bytes(qp), GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!qp->bounce)
		return -ENOMEM;
	dma = ib_dma_map_single(ibdev, qp->bounce, krdma_bounce_bytes(qp), DMA_TO_DEVICE);
	if (ib_dma_mapping_error(ibdev, dma)) {
		kfree(qp->bounce);
		qp->bounce = NULL;
		return -ENOMEM;
	}
	qp->bounce_dma = dma;
	return 0;
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
	if (!qp->bounce)
		return;
	ib_dma_unmap_single(qp->pd->ib->device, qp->bounce_dma, krdma_bounce_bytes(qp),
			    DMA_TO_DEVICE);
	kfree(qp->bounce);
	qp->bounce = NULL;
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
	size_t offset = (size_t)(wq->tail & wq->mask) * qp->bounce_size;
	const struct krdma_sge *sge = wr->sges;
	u32 length = 0;
	u32 i;

	for (i = 0; i < wr->sge_count; i++, sge++) {
		memcpy(qp->bounce + offset + length, (void *)(uintptr_t)sge->addr, sge->length);
		length += sge->length;
	}
	*ib_sge = (struct ib_sge) {
		.addr = qp->bounce_dma + offset,
		.length = length,
		.lkey = qp->pd->ib->local_dma_lkey,
	};
	ib_dma_sync_single_for_device(qp->pd->ib->device, ib_sge->addr, length,
				      DMA_TO_DEVICE);
}
