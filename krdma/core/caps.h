/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Derive the capabilities and limits that krdma offers from a provider's attributes.  Pure
 * functions.
 */
#ifndef _KRDMA_CAPS_H
#define _KRDMA_CAPS_H

#include "core/pure.h"

#include <krdma/krdma.h>

/*
 * Queue entries that krdma reserves for itself
 *
 * When a connection goes down, a full queue must still take the work requests that the
 * teardown posts, so these entries are not offered to consumers:
 *
 *  send queue      2  the drain marker: its completion means that all work requests
 *                     posted before it have completed; and the write that checks whether
 *                     an idle peer is still there
 *  receive queue   1  the drain marker of that side
 *
 * A completion queue must have free entries for all three.  A shared receive queue outlives its
 * connections and is not drained with them: nothing is subtracted.  Registration and
 * invalidation are work requests like any other and count when they are posted: they
 * need no reserved entry.
 */
#define KRDMA_SEND_WQE_DRAIN		1
#define KRDMA_SEND_WQE_KEEPALIVE	1
#define KRDMA_RECV_WQE_DRAIN		1

#define KRDMA_SEND_WQES		(KRDMA_SEND_WQE_DRAIN + KRDMA_SEND_WQE_KEEPALIVE)
#define KRDMA_RECV_WQES		(KRDMA_RECV_WQE_DRAIN)
#define KRDMA_CQ_SLOTS		(KRDMA_SEND_WQES + KRDMA_RECV_WQES)

/*
 * A reliable connection can always read.  A provider that leaves the field empty does not
 * report a value, and one read at a time is safe to offer.  The connection manager carries the
 * depth in eight bits.
 */
#define KRDMA_READ_DEPTH_MIN	1
#define KRDMA_READ_DEPTH_MAX	255

/*
 * A driver allocates one array for the addresses of all pages when it allocates the MR, which fails
 * if the memory is too fragmented.  32 KiB are the largest allocation that the page allocator does
 * not call costly.  mlx5 and ionic claim room for more, rdmavt for any number.
 */
#define KRDMA_FAST_REG_PAGES_MAX	4096

/**
 * struct krdma_raw_attr - attributes of a device as its provider reports them
 * @max_mr_size: the largest memory region, in bytes
 * @max_qp: number of queue pairs
 * @max_qp_wr: the maximum depth of a send or receive queue
 * @max_send_sge: SGEs of a send
 * @max_recv_sge: SGEs of a receive
 * @max_sge_rd: SGEs of a read
 * @max_cqe: the maximum depth of a completion queue
 * @max_srq: number of shared receive queues
 * @max_srq_wr: the maximum depth of a shared receive queue
 * @max_srq_sge: SGEs of one of its receives
 * @max_qp_init_rd_atom: reads and atomics in flight as initiator
 * @max_qp_rd_atom: reads and atomics in flight as responder
 * @max_fast_reg_pages: pages in one fast registration
 * @has_atomic: the provider claims atomics
 * @has_imm: the transport has immediate data
 * @has_srq: the provider has the operations for shared receive queues
 * @has_fast_reg: the provider claims fast registration
 * @has_odp: the provider claims on-demand paging
 * @has_read_local: the local memory of a read needs no remote write right
 *
 * Some providers fill in int, others unsigned int.  Every field here can hold both, so neither
 * a negative nor a huge number changes its meaning when it is copied.
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
	s64 max_srq_sge;
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
