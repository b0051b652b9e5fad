/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Compute the sizes of a connection's queues from what its consumer asked for.  Pure.
 */
#ifndef _KRDMA_BUDGET_H
#define _KRDMA_BUDGET_H

#include "core/pure.h"

struct krdma_limits;

#define KRDMA_DEFAULT_DEPTH	64
#define KRDMA_DEFAULT_SEND_SGE	4
#define KRDMA_DEFAULT_RECV_SGE	1

/**
 * struct krdma_budget - sizes of the queues of a connection
 * @send_depth: parts of send work requests that can be in flight
 * @recv_depth: receives that can be posted; 0 if they come from an SRQ
 * @send_sge: SGEs of a send work request
 * @read_sge: SGEs of a read, for which devices may allow fewer
 * @recv_sge: SGEs of a receive
 * @inline_data: bytes of inline data in a send work request
 * @send_wr: WQEs of the device's SQ: @send_depth and KRDMA_SEND_WQES
 * @recv_wr: WQEs of the device's RQ: @recv_depth and KRDMA_RECV_WQES
 * @send_cqe: entries that the connection reserves in the CQ of its SQ
 * @recv_cqe: entries that the connection reserves in the CQ of its RQ
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
 * struct krdma_demand - what the consumer asks for; 0 means the default, within the limits
 * @send_depth: see &struct krdma_budget
 * @recv_depth: see &struct krdma_budget
 * @send_sge: see &struct krdma_budget
 * @recv_sge: see &struct krdma_budget
 * @inline_data: see &struct krdma_budget
 * @shared_receives: receives come from an SRQ
 */
struct krdma_demand {
	u32 send_depth;
	u32 recv_depth;
	u32 send_sge;
	u32 recv_sge;
	u32 inline_data;
	bool shared_receives;
};

/* Approximate bytes that a provider allocates for queues.  @depth counts all entries. */
u64 krdma_budget_device_bytes(const struct krdma_budget *budget);
u64 krdma_budget_srq_bytes(u32 depth, u32 max_sge);
u64 krdma_budget_cq_bytes(u32 depth);

/* Approximate bytes that an MR of @pages pages takes, without the pages themselves. */
u64 krdma_budget_mr_bytes(u64 pages);

int krdma_budget_make(const struct krdma_demand *demand, const struct krdma_limits *limits,
		      struct krdma_budget *budget);

#endif /* _KRDMA_BUDGET_H */
