// SPDX-License-Identifier: GPL-2.0
/*
 * Memory for one work request: pages of the consumer that are mapped for DMA before it is posted
 * and unmapped when it has completed.
 *
 * An MR serves many work requests, but takes time to create.  A mapping needs only the device,
 * which the QP keeps: the end of the QP waits for the mappings that are left when everything has
 * completed.  These are mappings for work requests that came too late to be posted.
 */
#include <linux/dma-direction.h>
#include <linux/errno.h>
#include <linux/scatterlist.h>
#include <linux/wait_bit.h>
#include <rdma/ib_verbs.h>

#include "cm/conn.h"
#include "io/wq.h"
#include "core/session.h"

/**
 * krdma_conn_map_sg() - Map pages for a work request that is about to be posted
 * @conn: the connection, connected
 * @sg: the pages; list and pages stay valid until krdma_conn_unmap_sg()
 * @entries: number of entries of @sg
 * @direction: DMA_TO_DEVICE for what is sent or written, DMA_FROM_DEVICE for what is read
 *
 * The SGEs of the work request are then the sg_dma_address() and sg_dma_len() of as many entries
 * as this returns, without an MR and with krdma_conn_lkey().
 *
 * The end of the connection waits until everything is unmapped.  So the caller posts without
 * sleeping after this call, and unmaps when the work request completes, or at once if it was
 * refused.
 *
 * Context: any but NMI; does not sleep.
 * Return: the number of mapped entries, or
 * -ENOTCONN: the connection is not, or no longer, connected;
 * -ENODEV: its device has been removed;
 * -EIO: the pages cannot be mapped.
 */
int krdma_conn_map_sg(struct krdma_conn *conn, struct scatterlist *sg, unsigned int entries,
		      enum dma_data_direction direction)
{
	/* Pairs with the release in krdma_conn_set_qp(). */
	struct krdma_qp *qp = smp_load_acquire(&conn->qp);
	unsigned long flags;
	bool open = false;
	int mapped;

	if (qp) {
		spin_lock_irqsave(&qp->send.lock, flags);
		open = qp->send.open;
		if (open)
			atomic_inc(&qp->mappings);
		spin_unlock_irqrestore(&qp->send.lock, flags);
	}
	if (!open)
		return READ_ONCE(conn->error) == -ENODEV ? -ENODEV : -ENOTCONN;

	mapped = ib_dma_map_sg(qp->pd->ib->device, sg, entries, direction);
	if (mapped > 0)
		return mapped;
	krdma_qp_unmapped(qp);
	return -EIO;
}
EXPORT_SYMBOL_NS_GPL(krdma_conn_map_sg, "KRDMA");

/**
 * krdma_conn_unmap_sg() - Unmap the pages of a work request
 * @conn: the connection for which they were mapped
 * @sg: the pages
 * @entries: as given to krdma_conn_map_sg(), not as returned by it
 * @direction: as given to krdma_conn_map_sg()
 *
 * The work request has completed, or was not posted.
 *
 * Context: any but NMI.
 */
void krdma_conn_unmap_sg(struct krdma_conn *conn, struct scatterlist *sg, unsigned int entries,
			 enum dma_data_direction direction)
{
	struct krdma_qp *qp = conn->qp;

	ib_dma_unmap_sg(qp->pd->ib->device, sg, entries, direction);
	krdma_qp_unmapped(qp);
}
EXPORT_SYMBOL_NS_GPL(krdma_conn_unmap_sg, "KRDMA");

/**
 * krdma_qp_unmapped() - Count the end of a mapping
 * @qp: the QP that has kept the device for the mapping
 *
 * Context: any but NMI.
 */
void krdma_qp_unmapped(struct krdma_qp *qp)
{
	/* The QP is freed with the connection, which the caller keeps. */
	if (atomic_dec_and_test(&qp->mappings))
		wake_up_var(&qp->mappings);
}

/**
 * krdma_qp_wait_unmapped() - Wait until nothing is mapped
 * @qp: the QP, closed, and everything has completed
 *
 * Context: process context; sleeps for as long as a consumer takes from krdma_conn_map_sg() to
 * krdma_conn_unmap_sg() around a post that was refused.
 */
void krdma_qp_wait_unmapped(struct krdma_qp *qp)
{
	wait_var_event(&qp->mappings, !atomic_read(&qp->mappings));
}
