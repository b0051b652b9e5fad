/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KRDMA_PUBLIC_LIMITS_H
#define _KRDMA_PUBLIC_LIMITS_H

#include <linux/types.h>

/**
 * struct krdma_limits - what a consumer may ask of a device through krdma
 * @max_mr_size: largest region of memory, in bytes
 * @max_qp: queue pairs that the device has
 * @max_send_wr: deepest send queue
 * @max_recv_wr: deepest receive queue
 * @max_send_sge: scatter/gather entries of a send or write
 * @max_recv_sge: scatter/gather entries of a receive
 * @max_read_sge: scatter/gather entries of a read
 * @max_cqe: deepest completion queue
 * @max_srq_wr: deepest shared receive queue, 0 without KRDMA_DEVICE_CAP_SRQ
 * @max_read_depth: reads and atomics that a connection can have under way
 * @max_read_depth_in: reads and atomics that a connection can serve at a time
 * @max_fast_reg_pages: pages in one fast registration, 0 without
 *	KRDMA_DEVICE_CAP_FAST_REG
 *
 * What krdma needs for itself is taken off already.
 */
struct krdma_limits {
	u64 max_mr_size;
	u32 max_qp;
	u32 max_send_wr;
	u32 max_recv_wr;
	u32 max_send_sge;
	u32 max_recv_sge;
	u32 max_read_sge;
	u32 max_cqe;
	u32 max_srq_wr;
	u32 max_read_depth;
	u32 max_read_depth_in;
	u32 max_fast_reg_pages;
};

#endif /* _KRDMA_PUBLIC_LIMITS_H */
