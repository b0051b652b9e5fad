// SPDX-License-Identifier: GPL-2.0
/*
 * Inline data on a device that takes less inline than the consumer asked for.
 *
 * KRDMA_POST_INLINE promises that the data may be overwritten when the call returns.  A
 * device keeps that promise if it copies the data into its send queue.  Some do not for
 * queue pairs of the kernel: mlx4, mthca, pvrdma and hfi1 grant 0 bytes, and mlx4 ignores
 * IB_SEND_INLINE and takes the address for one of DMA.  There krdma copies the data into
 * memory of the queue pair's own, which has a place for each slot of the send queue, and
 * posts that.  A place is free when its slot is.
 */
#include <linux/math.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <rdma/ib_verbs.h>

#include "io/bounce.h"
#include "io/wq.h"
#include "core/session.h"

/* About as much as the largest devices take inline.  More is no small message any more. */
#define KRDMA_BOUNCE_MAX	1024

static size_t krdma_bounce_bytes(const struct krdma_qp *qp)
{
	return array_size(qp->send.mask + 1, qp->bounce_size);
}

/**
 * krdma_bounce_init - make room for copies of inline data
 * @qp: the queue pair, with its slots; not open
 * @size: bytes of an operation
 *
 * Context: process context; may sleep.
 * Return: 0; -EINVAL: so much is not copied; or -ENOMEM.
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
 * krdma_bounce_exit - end what krdma_bounce_init() began
 * @qp: the queue pair, closed; the device's part is gone.  krdma_bounce_init() need not
 *	have been called.
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
 * krdma_bounce_copy - copy the data of an operation
 * @wq: the send queue, with a free slot at the tail
 * @wr: the operation; no more than was given to krdma_bounce_init()
 * @segment: set to where the device finds the copy
 *
 * Context: any, with the post lock.
 */
void krdma_bounce_copy(struct krdma_wq *wq, const struct krdma_send_wr *wr,
		       struct krdma_segment *segment)
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
	*segment = (struct krdma_segment) {
		.addr = qp->bounce_dma + offset,
		.length = length,
		.key = qp->pd->ib->local_dma_lkey,
	};
	ib_dma_sync_single_for_device(qp->pd->ib->device, segment->addr, length,
				      DMA_TO_DEVICE);
}
