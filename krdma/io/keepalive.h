/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Detect that the peer of an idle connection is gone.
 */
#ifndef _KRDMA_KEEPALIVE_H
#define _KRDMA_KEEPALIVE_H

#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>

struct krdma_qp;

/* Range of the period that a consumer can ask for. */
#define KRDMA_KEEPALIVE_MIN_MS	100
#define KRDMA_KEEPALIVE_MAX_MS	3600000

/**
 * struct krdma_keepalive - periodic check that the peer's device answers
 * @cqe: leads from the completion to this structure
 * @work: runs once in each period; cancelled before the QP is destroyed
 * @period: period in jiffies; 0: keepalive is off
 * @busy: the write is in flight
 * @seen: sum of posted and completed work requests at the previous check
 */
struct krdma_keepalive {
	struct ib_cqe cqe;
	struct delayed_work work;
	unsigned long period;
	bool busy;
	u64 seen;
};

bool krdma_keepalive_may_be(u32 period_ms);
int krdma_keepalive_init(struct krdma_qp *qp, u32 period_ms, u32 default_ms);
void krdma_keepalive_start(struct krdma_qp *qp);
void krdma_keepalive_stop(struct krdma_qp *qp);

#endif /* _KRDMA_KEEPALIVE_H */
