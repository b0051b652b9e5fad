// SPDX-License-Identifier: GPL-2.0
/*
 * From what a consumer asks of a connection's queues to what they are.  Pure.
 */
#ifdef __KERNEL__
#include <linux/errno.h>
#else
#include <errno.h>
#endif

#include "budget.h"
#include "limits.h"

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
 * @limits: what the device can; KRDMA_SEND_SLOTS and KRDMA_RECV_SLOTS are taken
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
	sum.send_wr = sum.send_depth + KRDMA_SEND_SLOTS + demand->keepalive;
	sum.send_cqe = sum.send_depth + KRDMA_SEND_SLOTS + demand->keepalive;

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
		sum.recv_wr = sum.recv_depth + KRDMA_RECV_SLOTS;
		sum.recv_cqe = sum.recv_depth + KRDMA_RECV_SLOTS;
	}

	*budget = sum;
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(krdma_budget_make);
