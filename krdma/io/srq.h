/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared receive queues, as the core's files see them.
 */
#ifndef _KRDMA_SRQ_H
#define _KRDMA_SRQ_H

#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "core/cgroup.h"
#include "core/private.h"
#include "io/cq.h"
#include "core/resource.h"

struct ib_srq;
struct krdma_pd;
struct krdma_mr;
struct krdma_srq_wqe;

#define KRDMA_SRQ_BUCKETS	64

/**
 * struct krdma_srq - a shared receive queue
 * @res: @ib and what belongs to it
 * @refs: the consumer's, @res's, and one for each completion that waits to be polled
 * @session: whose; kept
 * @charged: bytes of its memory, and the device's, that the session's account pays for
 * @dev: its device; kept
 * @pd: the protection domain, while @res has not been released
 * @pd_node: in its list
 * @scan: the domain's last pass over that list that came here; under the domain's lock
 * @condemned: such a pass has closed it; for the passes alone
 * @cq: where receives complete; attached, likewise
 * @ib: the device's shared receive queue, likewise
 * @charge: of it
 * @attr: the consumer's part
 * @lock: the post lock: protects @free, @credits.taken, @sges and @qps; any context,
 *	inside a queue's poll lock
 * @credits: slots, and with them room in @cq
 * @max_sge: of a receive
 * @wqes: the slots
 * @free_work: the end of the object
 * @free: slots that the device does not have, in a list
 * @mrs: @max_sge of them for each slot
 * @sges: of a receive that is being posted
 * @qps: the queue pairs that take from here, by the device's queue pair.  One is
 *	taken out with the poll lock of @cq held, too.
 */
struct krdma_srq {
	struct krdma_resource res;
	refcount_t refs;
	struct krdma_session *session;
	u64 charged;
	struct krdma_device *dev;
	struct krdma_pd *pd;
	struct list_head pd_node;
	u32 scan;
	bool condemned;
	struct krdma_cq *cq;
	struct ib_srq *ib;
	struct krdma_charge charge;
	struct krdma_srq_attr attr;

	spinlock_t lock;		/* see above */
	struct krdma_credits credits;
	u32 max_sge;
	struct work_struct free_work;
	struct krdma_srq_wqe *wqes;
	struct krdma_srq_wqe *free;
	struct krdma_mr **mrs;
	struct ib_sge *sges;

	struct hlist_head qps[KRDMA_SRQ_BUCKETS];
};

/* A queue pair is to take from here, and does no longer; process context. */
int krdma_srq_attach(struct krdma_srq *srq);
void krdma_srq_detach(struct krdma_srq *srq);

/* The caller has a reference, or the lock of a domain in whose list it is.  Any context. */
static inline void krdma_srq_get(struct krdma_srq *srq)
{
	refcount_inc(&srq->refs);
}

/* One of these slots is room in a region whose users are to be ended.  Any context. */
bool krdma_srq_uses_condemned(struct krdma_srq *srq, u32 first, u32 count);

/*
 * Its completions are found by the device's queue pair: from add to remove, which is
 * called with the poll lock of the queue held.
 */
void krdma_srq_add(struct krdma_srq *srq, struct krdma_qp *qp);
void krdma_srq_remove(struct krdma_srq *srq, struct krdma_qp *qp);

#endif /* _KRDMA_SRQ_H */
