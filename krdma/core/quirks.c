// SPDX-License-Identifier: GPL-2.0
/*
 * What is known of providers and cannot be asked of them.
 */
#include <rdma/ib_verbs.h>

#include "core/quirks.h"

/**
 * krdma_quirk_registers_user - whether ib_reg_user_mr() can be called
 * @ibdev: the RDMA device
 *
 * That call is there for kernel callers, but hands their provider no udata, and
 * providers are written for callers who have it: irdma and mthca follow the
 * missing pointer, and hns takes its absence to mean "for the kernel" and
 * registers a fresh buffer.  So only those are trusted of which it is known:
 *
 *	rxe, siw	ignore it, or look whether it is there
 *	mlx4, mlx5	look at it for memory that is not resident only, which is
 *			never asked for here
 *
 * Context: any.
 * Return: true if the provider takes a kernel caller.
 */
bool krdma_quirk_registers_user(const struct ib_device *ibdev)
{
	if (!ibdev->ops.reg_user_mr)
		return false;

	switch (ibdev->ops.driver_id) {
	case RDMA_DRIVER_MLX4:
	case RDMA_DRIVER_MLX5:
	case RDMA_DRIVER_RXE:
	case RDMA_DRIVER_SIW:
		return true;
	default:
		return false;
	}
}

/**
 * krdma_quirk_late_dma - whether memory is used beyond its deregistration
 * @ibdev: the RDMA device
 *
 * siw looks at a key when it begins to answer a read, and keeps the
 * registration, though not the pages behind a fast one, as long as a message of
 * a peer is under way.  It gives the last reference to a registration back
 * wherever the message ends, also in softirq, where a process's pages must not
 * be let go.  And it tells of a completion before it gives back its reference
 * to the memory of the operation.
 *
 * Context: any.
 * Return: true if deregistration does not mean that the device is finished.
 */
bool krdma_quirk_late_dma(const struct ib_device *ibdev)
{
	return ibdev->ops.driver_id == RDMA_DRIVER_SIW;
}

/**
 * krdma_quirk_reads_by_key - whether a read needs a key for its own memory
 * @ibdev: the RDMA device
 *
 * On iWARP the answer to a read is a write, to a key that the request tells the
 * peer: the local DMA key will not do, and the key needs the right to be written
 * remotely.  siw does not insist: it checks local rights only.
 *
 * Context: any.
 * Return: true if reads need memory with KRDMA_ACCESS_REMOTE_WRITE.
 */
bool krdma_quirk_reads_by_key(const struct ib_device *ibdev)
{
	return ibdev->node_type == RDMA_NODE_RNIC && ibdev->ops.driver_id != RDMA_DRIVER_SIW;
}

/**
 * krdma_quirk_raises_last_wqe - whether IB_EVENT_QP_LAST_WQE_REACHED is worth waiting for
 * @ibdev: the RDMA device
 *
 * Devices raise it when a queue pair in error has completed the last receive that it took
 * from a shared receive queue.  For these there is nothing to wait for:
 *
 *	rxe, siw	leave the completions of a destroyed queue pair in their queue, so
 *			none is lost; siw never raises the event
 *	irdma, qedr	never raise it
 *
 * Context: any.
 * Return: false if the event need not, or will not, come.
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
 * krdma_quirk_invalidates - whether registrations can be used more than once
 * @ibdev: the RDMA device, with fast registration
 *
 * A fast registration is ended by IB_WR_LOCAL_INV before the next one.  hns says that it has
 * IB_DEVICE_MEM_MGT_EXTENSIONS, and refuses that request with a warning in the log.  There a
 * registration ends when it is deregistered, which sleeps and is not for each input and
 * output.
 *
 * Context: any.
 * Return: true if IB_WR_LOCAL_INV can be posted.
 */
bool krdma_quirk_invalidates(const struct ib_device *ibdev)
{
	return ibdev->ops.driver_id != RDMA_DRIVER_HNS;
}

/**
 * krdma_quirk_takes_inline - whether a queue pair may be asked for inline data
 * @ibdev: the RDMA device
 *
 * Providers that have no inline data for the kernel grant less than they are asked for, and
 * krdma copies what is not granted.  mthca refuses the queue pair instead.
 *
 * Context: any.
 * Return: false if nothing else than 0 bytes can be asked for.
 */
bool krdma_quirk_takes_inline(const struct ib_device *ibdev)
{
	return ibdev->ops.driver_id != RDMA_DRIVER_MTHCA;
}

/**
 * krdma_quirk_reports_missed - whether arming a completion queue says what is there
 * @ibdev: the RDMA device
 *
 * With IB_CQ_REPORT_MISSED_EVENTS, ib_req_notify_cq() returns a positive number if there are
 * completions already.  These return 0 all the same, or look at completions that software has
 * made only, and raise an event at once, as often as they are armed: who asks because of the
 * event is told once more that there is nothing.
 *
 * Context: any.
 * Return: false if the queue has to be polled after it was armed.
 */
bool krdma_quirk_reports_missed(const struct ib_device *ibdev)
{
	switch (ibdev->ops.driver_id) {
	case RDMA_DRIVER_HNS:
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
