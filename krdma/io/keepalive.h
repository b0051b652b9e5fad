/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Keeping an eye on a peer that has nothing to say.
 */
#ifndef _KRDMA_KEEPALIVE_H
#define _KRDMA_KEEPALIVE_H

#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>

struct krdma_qp;

/* What a consumer can ask for. */
#define KRDMA_KEEPALIVE_MIN_MS	100
#define KRDMA_KEEPALIVE_MAX_MS	3600000

/**
 * struct krdma_keepalive - asks the peer's device whether it is there
 * @cqe: leads from the completion to here
 * @work: looks, once in a while; ends before the queue pair does
 * @period: how long a while is, in jiffies; 0: nobody looks
 * @busy: the device has not answered yet
 * @seen: all that was posted and has completed, when it looked last
 */
struct krdma_keepalive {
	struct ib_cqe cqe;
	struct delayed_work work;
	unsigned long period;
	bool busy;
	u64 seen;
};

int krdma_keepalive_init(struct krdma_qp *qp, u32 period_ms);
void krdma_keepalive_start(struct krdma_qp *qp);
void krdma_keepalive_stop(struct krdma_qp *qp);

#endif /* _KRDMA_KEEPALIVE_H */
