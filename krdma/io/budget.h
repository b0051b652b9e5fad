/* SPDX-License-Identifier: GPL-2.0 */
/*
 * From what a consumer asks of a connection's queues to what they are.  Pure.
 */
#ifndef _KRDMA_BUDGET_H
#define _KRDMA_BUDGET_H

#include "core/pure.h"

struct krdma_limits;

#define KRDMA_DEFAULT_DEPTH	64
#define KRDMA_DEFAULT_SEND_SGE	4
#define KRDMA_DEFAULT_RECV_SGE	1

/**
 * struct krdma_budget - the queues of a connection, item by item
 * @send_depth: operations, or pieces of operations, that can be under way
 * @recv_depth: receives that can be posted; 0: they come from a shared queue
 * @send_sge: scatter/gather entries of a request
 * @read_sge: those of a read, which devices may allow fewer of
 * @recv_sge: those of a receive
 * @inline_data: bytes in a request itself
 * @send_wr: entries of the device's send queue: @send_depth and KRDMA_SEND_WQES
 * @recv_wr: entries of the device's receive queue, likewise
 * @send_cqe: what the connection takes of the queue where sends complete
 * @recv_cqe: what it takes of the one where receives complete
 */
struct krdma_budget {
	u32 send_depth;
	u32 recv_depth;
	u32 send_sge;
	u32 read_sge;
	u32 recv_sge;
	u32 inline_data;
	u32 send_wr;
	u32 recv_wr;
	u32 send_cqe;
	u32 recv_cqe;
};

/**
 * struct krdma_demand - what is asked; 0: the default, within the limits
 * @send_depth: see &struct krdma_budget
 * @recv_depth: likewise
 * @send_sge: likewise
 * @recv_sge: likewise
 * @inline_data: likewise
 * @shared_receives: receives come from a shared queue
 * @keepalive: one more request than its operations can be under way
 */
struct krdma_demand {
	u32 send_depth;
	u32 recv_depth;
	u32 send_sge;
	u32 recv_sge;
	u32 inline_data;
	bool shared_receives;
	bool keepalive;
};

/* Bytes that providers allocate for queues, about.  @depth: entries, all of them. */
u64 krdma_budget_device_bytes(const struct krdma_budget *budget);
u64 krdma_budget_srq_bytes(u32 depth, u32 max_sge);
u64 krdma_budget_cq_bytes(u32 depth);

/* Bytes that a registration of so many pages takes besides these, about. */
u64 krdma_budget_mr_bytes(u64 pages);

int krdma_budget_make(const struct krdma_demand *demand, const struct krdma_limits *limits,
		      struct krdma_budget *budget);

#endif /* _KRDMA_BUDGET_H */
