// SPDX-License-Identifier: GPL-2.0
/*
 * From what a consumer asks of a connection's queues to what they are.  Pure.
 */
#ifdef __KERNEL__
#include <linux/errno.h>
#else
#include <errno.h>
#endif

#include "io/budget.h"
#include "core/caps.h"

/*
 * What an entry takes in a provider's queue, besides its scatter/gather entries.  These are
 * rxe's, which keeps most with each request; devices have 32 to 128 bytes there.
 */
#define KRDMA_SEND_ENTRY	224
#define KRDMA_RECV_ENTRY	64
#define KRDMA_CQ_ENTRY		128
#define KRDMA_SGE		16

/*
 * What a registration takes besides its pages: krdma's and the provider's structures, a
 * scatterlist with an entry for each page, and rxe's lists of pages, which it allocates whole.
 */
#define KRDMA_MR		2048
#define KRDMA_MR_SG_ENTRY	32
#define KRDMA_MR_MAP		4096
#define KRDMA_MR_MAP_PAGES	256

/* What a provider takes for a queue pair besides its queues: rxe has a socket for each. */
#define KRDMA_QP		8192

static u64 krdma_power_of_two(u64 value)
{
	u64 power = 1;

	while (power < value)
		power <<= 1;
	return power;
}

/* Providers keep a place free, and round up the number of entries and the size of each. */
static u64 krdma_budget_wq_bytes(u32 depth, u64 entry)
{
	return depth ? krdma_power_of_two((u64)depth + 1) * krdma_power_of_two(entry) : 0;
}

/**
 * krdma_budget_device_bytes - what a provider allocates for a queue pair, about
 * @budget: the queues
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
 * krdma_budget_mr_bytes - what a registration costs the kernel, about
 * @pages: how many pages it has
 *
 * Context: any.
 * Return: bytes, without those of the pages.
 */
u64 krdma_budget_mr_bytes(u64 pages)
{
	return KRDMA_MR + pages * KRDMA_MR_SG_ENTRY +
	       (pages + KRDMA_MR_MAP_PAGES - 1) / KRDMA_MR_MAP_PAGES * KRDMA_MR_MAP;
}
EXPORT_SYMBOL_IF_KUNIT(krdma_budget_mr_bytes);

/**
 * krdma_budget_srq_bytes - what a provider allocates for a receive queue, about
 * @depth: its receives
 * @max_sge: scatter/gather entries of each
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
 * krdma_budget_cq_bytes - what a provider allocates for a completion queue, about
 * @depth: its completions
 *
 * Context: any.
 * Return: bytes.
 */
u64 krdma_budget_cq_bytes(u32 depth)
{
	return krdma_budget_wq_bytes(depth, KRDMA_CQ_ENTRY);
}
EXPORT_SYMBOL_IF_KUNIT(krdma_budget_cq_bytes);

/* A default gives way to the limit, a wish does not: whoever asks must know. */
static int krdma_budget_item(u32 wish, u32 fallback, u32 limit, u32 *granted)
{
	if (wish > limit)
		return -EINVAL;
	*granted = wish ? wish : fallback < limit ? fallback : limit;
	return *granted ? 0 : -EINVAL;
}

/**
 * krdma_budget_make - what a connection's queues are
 * @demand: what the consumer asks
 * @limits: what the device can; KRDMA_SEND_WQES and KRDMA_RECV_WQES are taken
 *	off already, so adding them does not go beyond the device's own limits
 * @budget: filled in, if the call succeeds
 *
 * Context: any.
 * Return: 0, or -EINVAL if a wish is above a limit, or receives are asked for
 * both of one's own and shared.
 */
int krdma_budget_make(const struct krdma_demand *demand, const struct krdma_limits *limits,
		      struct krdma_budget *budget)
{
	struct krdma_budget sum = { .inline_data = demand->inline_data };
	u32 max_send_wr = limits->max_send_wr;
	int ret;

	/* The place of its own is one that operations do not have. */
	if (demand->keepalive && max_send_wr)
		max_send_wr--;
	ret = krdma_budget_item(demand->send_depth, KRDMA_DEFAULT_DEPTH, max_send_wr,
				&sum.send_depth);
	if (ret)
		return ret;
	ret = krdma_budget_item(demand->send_sge, KRDMA_DEFAULT_SEND_SGE, limits->max_send_sge,
				&sum.send_sge);
	if (ret)
		return ret;
	sum.read_sge = sum.send_sge < limits->max_read_sge ? sum.send_sge : limits->max_read_sge;
	sum.send_wr = sum.send_depth + KRDMA_SEND_WQES + demand->keepalive;
	sum.send_cqe = sum.send_depth + KRDMA_SEND_WQES + demand->keepalive;

	if (demand->shared_receives) {
		/* The shared queue has its own budget, and outlives the connection. */
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
