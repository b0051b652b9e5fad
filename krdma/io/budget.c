// SPDX-License-Identifier: GPL-2.0
/*
 * Compute the sizes of a connection's queues from what its consumer asked for.  Pure.
 */
#ifdef __KERNEL__
#include <linux/errno.h>
#else
#include <errno.h>
#endif

#include "io/budget.h"
#include "core/caps.h"

/*
 * Bytes of a WQE or CQE in a provider's queue, without SGEs.  The values are those of rxe, which
 * keeps most for each work request; devices need 32 to 128 bytes.
 */
#define KRDMA_SEND_ENTRY	224
#define KRDMA_RECV_ENTRY	64
#define KRDMA_CQ_ENTRY		128
#define KRDMA_SGE		16

/*
 * Bytes that an MR takes besides its pages: the structures of krdma and of the provider, a
 * scatterlist with an entry for each page, and rxe's page tables, which it allocates whole.
 */
#define KRDMA_MR		2048
#define KRDMA_MR_SG_ENTRY	32
#define KRDMA_MR_MAP		4096
#define KRDMA_MR_MAP_PAGES	256

/* Bytes that a provider takes for a QP besides its queues: rxe has a socket for each QP. */
#define KRDMA_QP		8192

static u64 krdma_power_of_two(u64 value)
{
	u64 power = 1;

	while (power < value)
		power <<= 1;
	return power;
}

/* Providers keep one entry free, and round up the number of entries and the size of each. */
static u64 krdma_budget_wq_bytes(u32 depth, u64 entry)
{
	return depth ? krdma_power_of_two((u64)depth + 1) * krdma_power_of_two(entry) : 0;
}

/**
 * krdma_budget_device_bytes() - Estimate what a provider allocates for a QP
 * @budget: sizes of its queues
 *
 * Context: any.
 * Return: bytes.
 */
u64 krdma_budget_device_bytes(const struct krdma_budget *budget)
{
	u64 data = (u64)budget->send_sge * KRDMA_SGE;

	if (data < budget->inline_data)
		data = budget->inline_data;
	return KRDMA_QP + krdma_budget_wq_bytes(budget->send_wr, KRDMA_SEND_ENTRY + data) +
	       krdma_budget_srq_bytes(budget->recv_wr, budget->recv_sge);
}
EXPORT_SYMBOL_IF_KUNIT(krdma_budget_device_bytes);

/**
 * krdma_budget_mr_bytes() - Estimate the kernel memory of an MR
 * @pages: number of its pages
 *
 * Context: any.
 * Return: bytes, without the pages themselves.
 */
u64 krdma_budget_mr_bytes(u64 pages)
{
	return KRDMA_MR + pages * KRDMA_MR_SG_ENTRY +
	       (pages + KRDMA_MR_MAP_PAGES - 1) / KRDMA_MR_MAP_PAGES * KRDMA_MR_MAP;
}
EXPORT_SYMBOL_IF_KUNIT(krdma_budget_mr_bytes);

/**
 * krdma_budget_srq_bytes() - Estimate what a provider allocates for a receive queue
 * @depth: number of receives
 * @max_sge: SGEs of each receive
 *
 * Context: any.
 * Return: bytes.
 */
u64 krdma_budget_srq_bytes(u32 depth, u32 max_sge)
{
	return krdma_budget_wq_bytes(depth, KRDMA_RECV_ENTRY + (u64)max_sge * KRDMA_SGE);
}
EXPORT_SYMBOL_IF_KUNIT(krdma_budget_srq_bytes);

/**
 * krdma_budget_cq_bytes() - Estimate what a provider allocates for a CQ
 * @depth: number of entries
 *
 * Context: any.
 * Return: bytes.
 */
u64 krdma_budget_cq_bytes(u32 depth)
{
	return krdma_budget_wq_bytes(depth, KRDMA_CQ_ENTRY);
}
EXPORT_SYMBOL_IF_KUNIT(krdma_budget_cq_bytes);

/*
 * A default is lowered to the limit.  An explicit wish above the limit fails, because the caller
 * relies on it.
 */
static int krdma_budget_item(u32 wish, u32 fallback, u32 limit, u32 *granted)
{
	if (wish > limit)
		return -EINVAL;
	*granted = wish ? wish : fallback < limit ? fallback : limit;
	return *granted ? 0 : -EINVAL;
}

/**
 * krdma_budget_make() - Compute the sizes of a connection's queues
 * @demand: what the consumer asks for
 * @limits: limits of the device.  KRDMA_SEND_WQES and KRDMA_RECV_WQES have already been
 *	subtracted, so adding them does not exceed the device's own limits.
 * @budget: filled in on success
 *
 * Context: any.
 * Return: 0, or -EINVAL if a wish exceeds a limit, or if @demand asks for an RQ of its own and
 * for an SRQ.
 */
int krdma_budget_make(const struct krdma_demand *demand, const struct krdma_limits *limits,
		      struct krdma_budget *budget)
{
	struct krdma_budget sum = { .inline_data = demand->inline_data };
	int ret;

	ret = krdma_budget_item(demand->send_depth, KRDMA_DEFAULT_DEPTH, limits->max_send_wr,
				&sum.send_depth);
	if (ret)
		return ret;
	ret = krdma_budget_item(demand->send_sge, KRDMA_DEFAULT_SEND_SGE, limits->max_send_sge,
				&sum.send_sge);
	if (ret)
		return ret;
	sum.read_sge = sum.send_sge < limits->max_read_sge ? sum.send_sge : limits->max_read_sge;
	sum.send_wr = sum.send_depth + KRDMA_SEND_WQES;
	sum.send_cqe = sum.send_depth + KRDMA_SEND_WQES;

	if (demand->shared_receives) {
		/* The SRQ has its own budget, and outlives the connection. */
		if (demand->recv_depth || demand->recv_sge)
			return -EINVAL;
	} else {
		ret = krdma_budget_item(demand->recv_depth, KRDMA_DEFAULT_DEPTH,
					limits->max_recv_wr, &sum.recv_depth);
		if (ret)
			return ret;
		ret = krdma_budget_item(demand->recv_sge, KRDMA_DEFAULT_RECV_SGE,
					limits->max_recv_sge, &sum.recv_sge);
		if (ret)
			return ret;
		sum.recv_wr = sum.recv_depth + KRDMA_RECV_WQES;
		sum.recv_cqe = sum.recv_depth + KRDMA_RECV_WQES;
	}

	*budget = sum;
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(krdma_budget_make);
