/* SPDX-License-Identifier: GPL-2.0 */
/*
 * From what a provider says of its device to what krdma promises of it.  Pure.
 */
#ifndef _KRDMA_CAPS_H
#define _KRDMA_CAPS_H

#include "core/pure.h"

#include <krdma/krdma.h>

/*
 * The queue entries that krdma keeps for itself
 *
 * A queue that is full when the connection goes down must still take what the
 * teardown posts, so those entries are never promised to anybody:
 *
 *  send queue      1  the drain marker, whose completion says that all work
 *                     posted before it has completed
 *  receive queue   1  the drain marker of that side
 *
 * and a completion queue must have room for both.  A shared receive queue
 * outlives its connections and is not drained with them: nothing is taken off.
 * Registration and invalidation are operations like any other and are counted
 * when they are asked for: they take nothing here.
 */
#define KRDMA_SEND_WQE_DRAIN	1
#define KRDMA_RECV_WQE_DRAIN	1

#define KRDMA_SEND_WQES	(KRDMA_SEND_WQE_DRAIN)
#define KRDMA_RECV_WQES	(KRDMA_RECV_WQE_DRAIN)
#define KRDMA_CQ_SLOTS		(KRDMA_SEND_WQES + KRDMA_RECV_WQES)

/*
 * A reliable connection can always read: a provider that leaves the field empty
 * means that it does not say, and one read at a time is safe to promise.  The
 * connection manager carries the depth in eight bits.
 */
#define KRDMA_READ_DEPTH_MIN	1
#define KRDMA_READ_DEPTH_MAX	255

/**
 * struct krdma_raw_attr - a device in its provider's words
 * @max_mr_size: largest region of memory, in bytes
 * @max_qp: queue pairs
 * @max_qp_wr: deepest queue of a queue pair, of either kind
 * @max_send_sge: scatter/gather entries of a send
 * @max_recv_sge: scatter/gather entries of a receive
 * @max_sge_rd: scatter/gather entries of a read
 * @max_cqe: deepest completion queue
 * @max_srq: shared receive queues
 * @max_srq_wr: deepest shared receive queue
 * @max_qp_init_rd_atom: reads and atomics under way, as the one who asks
 * @max_qp_rd_atom: reads and atomics under way, as the one who answers
 * @max_fast_reg_pages: pages in one fast registration
 * @has_atomic: claims atomics
 * @has_imm: its transport has immediate data
 * @has_srq: has the calls for shared receive queues
 * @has_fast_reg: claims registration on the queue pair
 * @has_odp: claims registration of memory that is not resident
 * @has_read_local: reads go to memory that peers may not write
 *
 * Providers fill in int and unsigned int by turns.  Every number has room for
 * both here, so that neither a negative nor a huge one changes its meaning on
 * the way in.
 */
struct krdma_raw_attr {
	u64 max_mr_size;
	s64 max_qp;
	s64 max_qp_wr;
	s64 max_send_sge;
	s64 max_recv_sge;
	s64 max_sge_rd;
	s64 max_cqe;
	s64 max_srq;
	s64 max_srq_wr;
	s64 max_qp_init_rd_atom;
	s64 max_qp_rd_atom;
	s64 max_fast_reg_pages;
	bool has_atomic;
	bool has_imm;
	bool has_srq;
	bool has_fast_reg;
	bool has_odp;
	bool has_read_local;
};

u64 krdma_caps_flags(const struct krdma_raw_attr *raw);
void krdma_caps_derive(const struct krdma_raw_attr *raw, struct krdma_limits *limits);

#endif /* _KRDMA_CAPS_H */
