// SPDX-License-Identifier: GPL-2.0
/*
 * Memory for one work request: pages of the consumer that are mapped for DMA before it is posted
 * and unmapped when it has completed.
 *
 * An MR serves many work requests, but takes time to create.  A mapping needs only the device,
 * which the QP keeps.  If the consumer has not unmapped everything when everything has completed,
 * the end of the QP goes on after that, and no thread waits for it: memory reclaim may wait for
 * the end of another connection, which the same thread has to end.
 */
#include <linux/dma-direction.h>
#include <linux/errno.h>
#include <linux/scatterlist.h>
#include <rdma/ib_verbs.h>

#include "io/map.h"
#include "io/qp.h"
#include "io/wq.h"
#include "core/session.h"

/**
 * krdma_qp_map_sg() - Map pages for a work request that is about to be posted
 * @qp: the QP
 * @sg: the pages
 * @entries: number of entries of @sg
 * @direction: see krdma_conn_map_sg()
 *
 * Context: any but NMI; does not sleep.
 * Return: the number of mapped entries; -ENOTCONN: the QP is not open; -EIO: the pages cannot be
 * mapped.
 */
int krdma_qp_map_sg(struct krdma_qp *qp, struct scatterlist *sg, unsigned int entries,
		    enum dma_data_direction direction)
{
	unsigned long flags;
	int mapped;
	bool open;

	spin_lock_irqsave(&qp->send.lock, flags);
	open = qp->send.open;
	if (open)
		atomic_inc(&qp->mappings);
	spin_unlock_irqrestore(&qp->send.lock, flags);
	if (!open)
		return -ENOTCONN;

	mapped = ib_dma_map_sg(qp->pd->ib->device, sg, entries, direction);
	if (mapped > 0)
		return mapped;
	krdma_qp_unmapped(qp);
	return -EIO;
}

/**
 * krdma_qp_unmap_sg() - Unmap the pages of a work request
 * @qp: the QP for which they were mapped
 * @sg: the pages
 * @entries: as given to krdma_qp_map_sg()
 * @direction: as given to krdma_qp_map_sg()
 *
 * Context: any but NMI.
 */
void krdma_qp_unmap_sg(struct krdma_qp *qp, struct scatterlist *sg, unsigned int entries,
		       enum dma_data_direction direction)
{
	ib_dma_unmap_sg(qp->pd->ib->device, sg, entries, direction);
	krdma_qp_unmapped(qp);
}

/**
 * krdma_qp_unmapped() - Count the end of a mapping
 * @qp: the QP that has kept the device for the mapping
 *
 * Context: any but NMI.
 */
void krdma_qp_unmapped(struct krdma_qp *qp)
{
	if (atomic_dec_and_test(&qp->mappings))
		qp->owner->ops->unmapped(qp->owner);
}
