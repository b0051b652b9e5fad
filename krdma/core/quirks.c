// SPDX-License-Identifier: GPL-2.0
/* Provider quirks: properties of providers that no attribute reports. */
#include <linux/errno.h>
#include <linux/minmax.h>
#include <rdma/ib_verbs.h>

#include "core/quirks.h"

/* What irdma keeps in a list of one level: 4 KiB of addresses. */
#define KRDMA_IRDMA_PAGES	512U

/**
 * krdma_quirk_registers_user() - Check whether ib_reg_user_mr() can be called
 * @ibdev: the RDMA device
 *
 * That call exists for kernel callers, but passes no udata to the provider, and providers are
 * written for callers that have udata: irdma and mthca dereference the missing pointer, and hns
 * takes its absence to mean "for the kernel" and registers a new buffer.  So only those
 * providers are trusted that are known to be safe:
 *
 *	rxe, siw	ignore udata, or check whether it is there
 *	mlx4, mlx5	use udata only for memory that is not resident, which
 *			krdma never requests
 *
 * Where siw pins pages itself, it loses memory each time that it cannot: krdma pins them there.
 *
 * Context: any.
 * Return: true if the provider supports a kernel caller.
 */
bool krdma_quirk_registers_user(const struct ib_device *ibdev)
{
	if (!ibdev->ops.reg_user_mr)
		return false;

	switch (ibdev->ops.driver_id) {
	case RDMA_DRIVER_MLX4:
	case RDMA_DRIVER_MLX5:
	case RDMA_DRIVER_RXE:
		return true;
	case RDMA_DRIVER_SIW:
		return !KRDMA_SIW_PINS;
	default:
		return false;
	}
}

/**
 * krdma_quirk_pins_writable() - Check whether a driver pins pages for writing that are to be read
 * @ibdev: the RDMA device, which registers memory of processes
 *
 * mlx4 pins pages for writing if the process may write to them, so that it can change the rights of
 * an MR later; and if the range has more than one mapping, because it looks at one only.
 *
 * Context: any.
 * Return: true if it does, whatever the rights of the MR.
 */
bool krdma_quirk_pins_writable(const struct ib_device *ibdev)
{
	return ibdev->ops.driver_id == RDMA_DRIVER_MLX4;
}

/**
 * krdma_quirk_registers_right() - Check whether a driver registers what IB_WR_REG_MR says
 * @ibdev: the RDMA device, with fast registration
 *
 * ocrdma takes the offset in the first page to be the difference of the MR's address for peers and
 * of the page's for DMA.  It is right only where these addresses are the same, and krdma's are not.
 *
 * Context: any.
 * Return: false if peers would access other memory.
 */
bool krdma_quirk_registers_right(const struct ib_device *ibdev)
{
	return ibdev->ops.driver_id != RDMA_DRIVER_OCRDMA;
}

/**
 * krdma_quirk_fast_reg_pages() - Get the largest number of pages of a fast registration
 * @ibdev: the RDMA device
 *
 * irdma claims 262144.  Of an MR of more than 512, its list of pages is in two levels, and
 * IB_WR_REG_MR passes it to the device as if it were in one: peers would access other memory.
 *
 * Context: any.
 * Return: the number of pages that the driver registers right.
 */
u32 krdma_quirk_fast_reg_pages(const struct ib_device *ibdev)
{
	u32 pages = ibdev->attrs.max_fast_reg_page_list_len;

	if (ibdev->ops.driver_id == RDMA_DRIVER_IRDMA)
		return min(pages, KRDMA_IRDMA_PAGES);
	return pages;
}

/**
 * krdma_quirk_late_dma() - Check whether the device uses memory after its deregistration
 * @ibdev: the RDMA device
 *
 * siw checks an rkey when it starts to answer a read.  While a message of a peer is in flight
 * it keeps the MR, though not the pages behind a fast registration.  It puts the last reference
 * to an MR wherever the message ends, also in softirq, where a process's pages must not be
 * released.  And it reports a completion before it puts its reference to the MR of the work
 * request.
 *
 * Context: any.
 * Return: true if the device may still use memory after deregistration.
 */
bool krdma_quirk_late_dma(const struct ib_device *ibdev)
{
	return ibdev->ops.driver_id == RDMA_DRIVER_SIW;
}

/**
 * krdma_quirk_posts_atomics() - Check whether consumers in the kernel can post atomics
 * @ibdev: the RDMA device
 *
 * mlx5 has atomics, and executes those of peers.  Its driver accepts them from programs only: it
 * refuses those of the kernel, with a line in the kernel log each time.
 *
 * Context: any.
 * Return: false if the driver refuses them.
 */
bool krdma_quirk_posts_atomics(const struct ib_device *ibdev)
{
	return ibdev->ops.driver_id != RDMA_DRIVER_MLX5;
}

/**
 * krdma_quirk_serves_atomics() - Check whether memory can be registered for atomics of peers
 * @ibdev: the RDMA device
 *
 * Cards of irdma from generation 3 on have atomics.  But its driver never passes the right on with
 * IB_WR_REG_MR, so an atomic of a peer is refused, and ends the connection.
 *
 * Context: any.
 * Return: false if the driver forgets the right.
 */
bool krdma_quirk_serves_atomics(const struct ib_device *ibdev)
{
	return ibdev->ops.driver_id != RDMA_DRIVER_IRDMA;
}

/**
 * krdma_quirk_reads_by_key() - Check whether a read needs an rkey for its local memory
 * @ibdev: the RDMA device
 *
 * On iWARP the answer to a read is a write, to an rkey that the read request sends to the peer:
 * the local DMA lkey cannot be used, and the rkey needs the remote write right.  siw does not
 * require that: it checks local rights only.
 *
 * Context: any.
 * Return: true if reads need memory with KRDMA_ACCESS_REMOTE_WRITE.
 */
bool krdma_quirk_reads_by_key(const struct ib_device *ibdev)
{
	return ibdev->node_type == RDMA_NODE_RNIC && ibdev->ops.driver_id != RDMA_DRIVER_SIW;
}

/**
 * krdma_quirk_empty_read() - Find the form of a read of 0 bytes
 * @ibdev: the RDMA device
 *
 * Devices accept it without an SGE, as a write of 0 bytes.  An SGE of length 0 is not the same: it
 * is one of 2 GiB by the standard, and mlx4, mthca and ionic pass it on as it is.  Two providers
 * refuse a read that does not have exactly one SGE:
 *
 *	siw	0 bytes are none
 *	erdma	its firmware decides what they are, so there is no safe form
 *
 * Context: any.
 * Return: number of SGEs of length 0, or -EOPNOTSUPP.
 */
int krdma_quirk_empty_read(const struct ib_device *ibdev)
{
	switch (ibdev->ops.driver_id) {
	case RDMA_DRIVER_SIW:
		return 1;
	case RDMA_DRIVER_ERDMA:
		return -EOPNOTSUPP;
	default:
		return 0;
	}
}

/**
 * krdma_quirk_raises_last_wqe() - Check whether to wait for IB_EVENT_QP_LAST_WQE_REACHED
 * @ibdev: the RDMA device
 *
 * Devices raise this event when a queue pair in the error state has completed the last receive
 * that it took from a shared receive queue.  On these devices there is nothing to wait for:
 *
 *	rxe, siw	leave the completions of a destroyed queue pair in its CQ, so
 *			none is lost; siw never raises the event
 *	irdma, qedr	never raise it
 *
 * Context: any.
 * Return: false if the event is not needed, or does not come.
 */
bool krdma_quirk_raises_last_wqe(const struct ib_device *ibdev)
{
	switch (ibdev->ops.driver_id) {
	case RDMA_DRIVER_IRDMA:
	case RDMA_DRIVER_QEDR:
	case RDMA_DRIVER_RXE:
	case RDMA_DRIVER_SIW:
		return false;
	default:
		return true;
	}
}

/**
 * krdma_quirk_reports_missed() - Check whether arming a CQ reports the completions already in
 * it
 * @ibdev: the RDMA device
 *
 * With IB_CQ_REPORT_MISSED_EVENTS, ib_req_notify_cq() returns a positive number if there are
 * completions already.  These providers return 0 nevertheless, or look only at completions that
 * software has generated.  They raise an event at once, every time the CQ is armed: a consumer
 * that polls because of the event then finds nothing.
 *
 *	hns, mlx4, mlx5, mthca, ocrdma, qedr
 *
 * These look only at what the device has written.  What a poll has taken of that, and left because
 * there was no room, or what it will make of work requests that are to be flushed, raises no event:
 *
 *	bnxt_re, ionic
 *
 * Context: any.
 * Return: false if the CQ has to be polled after it was armed.
 */
bool krdma_quirk_reports_missed(const struct ib_device *ibdev)
{
	/* Not every kernel has all of them in its enumeration. */
	switch ((u32)ibdev->ops.driver_id) {
	case RDMA_DRIVER_BNXT_RE:
	case RDMA_DRIVER_HNS:
	case RDMA_DRIVER_IONIC:
	case RDMA_DRIVER_MLX4:
	case RDMA_DRIVER_MLX5:
	case RDMA_DRIVER_MTHCA:
	case RDMA_DRIVER_OCRDMA:
	case RDMA_DRIVER_QEDR:
		return false;
	default:
		return true;
	}
}

/**
 * krdma_quirk_completes_in_order() - Check whether the work requests of an SQ complete in order
 * @ibdev: the RDMA device
 *
 * On a reliable connection they do.  siw completes messages and writes when they are sent, and
 * reads when their data have come, which is later than the messages and writes behind them.  A
 * work request that is posted while siw flushes an SQ is flushed among those that were posted
 * before it.  Each one has a completion of its own, if it is signaled.
 *
 * A fence on everything that is not a read would keep siw's order, too.  But while the next work
 * request waits for a read, siw does not answer the reads of the peer: two ends that read from each
 * other would wait for each other for ever.
 *
 * Context: any.
 * Return: false if a completion says nothing of other work requests.
 */
bool krdma_quirk_completes_in_order(const struct ib_device *ibdev)
{
	return ibdev->ops.driver_id != RDMA_DRIVER_SIW;
}

/**
 * krdma_quirk_fences_reads() - Check whether a read can have a fence
 * @ibdev: the RDMA device
 *
 * siw takes a read with IB_SEND_FENCE to its SQ, fails the post, and from then on executes nothing
 * of that SQ.  Its reads need none: they are sent, answered and completed in the order of the
 * posts.
 *
 * Context: any.
 * Return: false if reads must not have IB_SEND_FENCE.
 */
bool krdma_quirk_fences_reads(const struct ib_device *ibdev)
{
	return ibdev->ops.driver_id != RDMA_DRIVER_SIW;
}

/**
 * krdma_quirk_inlines_invalidate() - Check whether IB_WR_SEND_WITH_INV can have inline data
 * @ibdev: the RDMA device
 *
 * siw takes such a message to its SQ, fails the post, and from then on executes nothing of that SQ.
 *
 * Context: any.
 * Return: false if the data have to be in memory that the device reads.
 */
bool krdma_quirk_inlines_invalidate(const struct ib_device *ibdev)
{
	return ibdev->ops.driver_id != RDMA_DRIVER_SIW;
}
