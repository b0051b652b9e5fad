/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What krdma/io/budget.c must make of a consumer's demand: defaults are lowered to a device's
 * limits, explicit wishes are not.
 */
#ifndef _KRDMA_KUNIT_BUDGET_CASES_H
#define _KRDMA_KUNIT_BUDGET_CASES_H

#include "io/budget.h"
#include "core/caps.h"

#include "cases.h"

#define BUDGET_INVALID		((u64)-1)
#define BUDGET_UNTOUCHED	0x5a5a5a5aU

/* A device that has enough of everything; a check lowers the limits that it tests. */
static inline struct krdma_limits budget_limits(void)
{
	return (struct krdma_limits) {
		.max_send_wr = 1000,
		.max_recv_wr = 900,
		.max_send_sge = 30,
		.max_recv_sge = 20,
		.max_read_sge = 10,
		.max_cqe = 5000,
	};
}

/**
 * struct budget_item - a number that a consumer asks for, and its limit
 * @what: its name
 * @wish: offset in the demand
 * @limit: offset in the device's limits
 * @granted: offset in the result
 * @fallback: default if the demand has 0
 * @own_only: refused with an SRQ
 */
struct budget_item {
	const char *what;
	size_t wish;
	size_t limit;
	size_t granted;
	u32 fallback;
	bool own_only;
};

static const struct budget_item budget_items[] = {
	{
		.what = "send_depth",
		.wish = offsetof(struct krdma_demand, send_depth),
		.limit = offsetof(struct krdma_limits, max_send_wr),
		.granted = offsetof(struct krdma_budget, send_depth),
		.fallback = 64,
	},
	{
		.what = "recv_depth",
		.wish = offsetof(struct krdma_demand, recv_depth),
		.limit = offsetof(struct krdma_limits, max_recv_wr),
		.granted = offsetof(struct krdma_budget, recv_depth),
		.fallback = 64,
		.own_only = true,
	},
	{
		.what = "send_sge",
		.wish = offsetof(struct krdma_demand, send_sge),
		.limit = offsetof(struct krdma_limits, max_send_sge),
		.granted = offsetof(struct krdma_budget, send_sge),
		.fallback = 4,
	},
	{
		.what = "recv_sge",
		.wish = offsetof(struct krdma_demand, recv_sge),
		.limit = offsetof(struct krdma_limits, max_recv_sge),
		.granted = offsetof(struct krdma_budget, recv_sge),
		.fallback = 1,
		.own_only = true,
	},
};

static inline u32 *budget_field(void *base, size_t offset)
{
	return (u32 *)((char *)base + offset);
}

/* Returns the result for one item; BUDGET_INVALID if it is refused, and then nothing is changed. */
static inline u64 budget_one(struct case_report *report, const struct budget_item *item, u32 wish,
			     u32 limit, bool shared)
{
	struct krdma_limits limits = budget_limits();
	struct krdma_demand demand = { .shared_receives = shared };
	struct krdma_budget budget = {
		.send_wr = BUDGET_UNTOUCHED, .recv_cqe = BUDGET_UNTOUCHED,
	};
	int ret;

	*budget_field(&demand, item->wish) = wish;
	*budget_field(&limits, item->limit) = limit;
	ret = krdma_budget_make(&demand, &limits, &budget);
	if (!ret)
		return *budget_field(&budget, item->granted);
	check_expect(report, "refused with EINVAL", wish, (u64)-EINVAL, (u64)ret);
	check_expect(report, "refused, send_wr", wish, BUDGET_UNTOUCHED, budget.send_wr);
	check_expect(report, "refused, recv_cqe", wish, BUDGET_UNTOUCHED, budget.recv_cqe);
	return BUDGET_INVALID;
}

/* Each item by itself: every small wish with every small limit, and the extremes. */
/* Proves: E7 */
static inline void budget_check_items(struct case_report *report)
{
	static const u32 far[] = { 63, 64, 65, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff };
	const struct budget_item *item;
	u64 expected;
	u32 limit, wish;
	size_t i, j;

	for (i = 0; i < CASES(budget_items); i++) {
		item = &budget_items[i];
		for (limit = 0; limit < 70; limit++) {
			for (wish = 0; wish < 70 + CASES(far); wish++) {
				u32 asked = wish < 70 ? wish : far[wish - 70];

				if (asked > limit || !limit)
					expected = BUDGET_INVALID;
				else if (asked)
					expected = asked;
				else
					expected = item->fallback < limit ? item->fallback : limit;
				check_expect(report, item->what, ((s64)limit << 32) | asked,
					     expected,
					     budget_one(report, item, asked, limit, false));
			}
		}
		for (j = 0; j < CASES(far); j++)
			check_expect(report, item->what, far[j], far[j],
				     budget_one(report, item, far[j], 0xffffffff, false));
	}
}

/* No receives of the connection's own with an SRQ. */
static inline void budget_check_shared(struct case_report *report)
{
	struct krdma_limits limits = budget_limits();
	struct krdma_demand demand = { .shared_receives = true };
	struct krdma_budget budget;
	size_t i;

	for (i = 0; i < CASES(budget_items); i++)
		if (budget_items[i].own_only)
			check_expect(report, budget_items[i].what, 1, BUDGET_INVALID,
				     budget_one(report, &budget_items[i], 1, 10, true));

	/* A device without RQs would do. */
	limits.max_recv_wr = 0;
	limits.max_recv_sge = 0;
	check_expect(report, "shared", 0, 0, (u64)krdma_budget_make(&demand, &limits, &budget));
	check_expect(report, "shared recv_depth", 0, 0, budget.recv_depth);
	check_expect(report, "shared recv_sge", 0, 0, budget.recv_sge);
	check_expect(report, "shared recv_wr", 0, 0, budget.recv_wr);
	check_expect(report, "shared recv_cqe", 0, 0, budget.recv_cqe);
	check_expect(report, "shared send_depth", 0, 64, budget.send_depth);
	check_expect(report, "shared send_cqe", 0, 64 + KRDMA_SEND_WQES, budget.send_cqe);
}

/* Results that follow from the items: room for krdma's own WQEs, and the SGEs of a read. */
static inline void budget_check_sums(struct case_report *report)
{
	struct krdma_limits limits = budget_limits();
	struct krdma_demand demand = { .inline_data = 77 };
	struct krdma_budget budget;
	u32 depth, sge;

	for (depth = 1; depth <= 900; depth++) {
		demand.send_depth = depth;
		demand.recv_depth = 901 - depth;
		check_expect(report, "depths", depth, 0,
			     (u64)krdma_budget_make(&demand, &limits, &budget));
		check_expect(report, "send_wr", depth, depth + KRDMA_SEND_WQES, budget.send_wr);
		check_expect(report, "send_cqe", depth, depth + KRDMA_SEND_WQES, budget.send_cqe);
		check_expect(report, "recv_wr", depth, 901 - depth + KRDMA_RECV_WQES,
			     budget.recv_wr);
		check_expect(report, "recv_cqe", depth, 901 - depth + KRDMA_RECV_WQES,
			     budget.recv_cqe);
		/* The interface's promise of a CQ's capacity. */
		check_expect(report, "overhead", depth, 901 + KRDMA_CQ_OVERHEAD,
			     budget.send_cqe + budget.recv_cqe);
		check_expect(report, "inline", depth, 77, budget.inline_data);
	}
	for (sge = 1; sge <= 30; sge++) {
		demand.send_sge = sge;
		check_expect(report, "entries", sge, 0,
			     (u64)krdma_budget_make(&demand, &limits, &budget));
		check_expect(report, "read_sge", sge, sge < 10 ? sge : 10, budget.read_sge);
	}
}

/* What rxe allocates, which is the most: numbers of entries and their sizes are rounded up. */
static inline void budget_check_bytes(struct case_report *report)
{
	struct krdma_budget budget = { .send_wr = 65, .recv_wr = 65, .send_sge = 4, .recv_sge = 1 };

	check_expect(report, "no receives", 0, 0, krdma_budget_srq_bytes(0, 1));
	check_expect(report, "a receive", 1, 2 * 128, krdma_budget_srq_bytes(1, 1));
	check_expect(report, "receives", 63, 64 * 128, krdma_budget_srq_bytes(63, 4));
	check_expect(report, "receives", 64, 128 * 256, krdma_budget_srq_bytes(64, 5));
	check_expect(report, "completions", 127, 128 * 128, krdma_budget_cq_bytes(127));
	check_expect(report, "no pages", 0, 2048, krdma_budget_mr_bytes(0));
	check_expect(report, "a page", 1, 2048 + 32 + 4096, krdma_budget_mr_bytes(1));
	check_expect(report, "pages", 257, 2048 + 257 * 32 + 2 * 4096, krdma_budget_mr_bytes(257));
	check_expect(report, "all at most", 0, (u64)1 << 39, krdma_budget_cq_bytes(U32_MAX));
	check_expect(report, "defaults", 65, 8192 + 128 * 512 + 128 * 128,
		     krdma_budget_device_bytes(&budget));
	budget.inline_data = 512;
	check_expect(report, "inline", 512, 8192 + 128 * 1024 + 128 * 128,
		     krdma_budget_device_bytes(&budget));
	budget.recv_wr = 0;
	check_expect(report, "shared", 0, 8192 + 128 * 1024, krdma_budget_device_bytes(&budget));
}

#endif /* _KRDMA_KUNIT_BUDGET_CASES_H */
