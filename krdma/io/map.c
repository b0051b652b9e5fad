// SPDX-License-Identifier: GPL-2.0
/*
 * Memory for one operation: a consumer's pages, mapped for DMA when it is posted and
 * let go when it has completed.
 *
 * A region would be for longer, and takes time to make.  A mapping needs the device
 * and nothing else, and the queue pair keeps that: its end waits for the mappings that
 * are left when everything has completed, which are those of operations that came too
 * late to be posted.
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
 * krdma_conn_map_sg - map pages for an operation that is about to be posted
 * @conn: the connection, connected
 * @sg: the pages; both stay until krdma_conn_unmap_sg()
 * @entries: how many entries it has
 * @direction: DMA_TO_DEVICE for what is sent or written, DMA_FROM_DEVICE for what is
 *	read
 *
 * The pieces of an operation are then sg_dma_address() and sg_dma_len() of as many
 * entries as this returns, without a region and with krdma_conn_lkey().
 *
 * The end of the connection waits for the unmapping.  So what is mapped is posted
 * without sleeping, and unmapped when that completes, or at once if it was refused.
 *
 * Context: any but NMI; does not sleep.
 * Return: the number of entries that are mapped, or
 * -ENOTCONN: the connection is not, or no longer, connected;
 * -ENODEV: its device has been removed;
 * -EIO: they cannot be mapped.
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
 * krdma_conn_unmap_sg - the operation has completed, or was not posted
 * @conn: the connection, on which it was mapped
 * @sg: what was mapped
 * @entries: as given to krdma_conn_map_sg(), not as returned by it
 * @direction: likewise
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
 * krdma_qp_unmapped - a mapping has ended
 * @qp: the queue pair that has kept the device for it
 *
 * Context: any but NMI.
 */
void krdma_qp_unmapped(struct krdma_qp *qp)
{
	/* The object stays as long as the connection, and so as long as the caller. */
	if (atomic_dec_and_test(&qp->mappings))
		wake_up_var(&qp->mappings);
}

/**
 * krdma_qp_wait_unmapped - wait until nothing is mapped
 * @qp: the queue pair, closed, and everything has completed
 *
 * Context: process context; sleeps for as long as a consumer takes from
 * krdma_conn_map_sg() to krdma_conn_unmap_sg() around a post that was refused.
 */
void krdma_qp_wait_unmapped(struct krdma_qp *qp)
{
	wait_var_event(&qp->mappings, !atomic_read(&qp->mappings));
}
