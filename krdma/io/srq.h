/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared receive queues (SRQ), as the other files of the core see them.
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
struct krdma_qp;
struct krdma_pd;
struct krdma_mr;
struct krdma_srq_pool;

/**
 * struct krdma_srq_wqe - a WQE of an SRQ
 * @cqe: leads from the completion to this WQE
 * @srq: the SRQ
 * @next: next entry of the list of free WQEs, or of the pool's
 * @wr_id: wr_id of the consumer
 * @mr_count: MRs that are kept in use until the WQE completes
 * @used: it has a receive, on the device or in the pool; protected by the post lock
 */
struct krdma_srq_wqe {
	struct ib_cqe cqe;
	struct krdma_srq *srq;
	struct krdma_srq_wqe *next;
	u64 wr_id;
	u16 mr_count;
	bool used;
};

/**
 * struct krdma_srq - a shared receive queue
 * @res: the device's part: @ib, @cq and @pd
 * @refs: references: one of the consumer, one of @res, and one for each completion in the backlog
 * @session: session of the consumer, with a reference
 * @charged: bytes charged to @session, for krdma's memory and the device's
 * @dev: the device, with a reference
 * @pd: the PD; valid until @res is released
 * @pd_node: entry of the PD's list of SRQs
 * @scan: number of the PD's last pass over that list that visited this SRQ; under the PD's lock
 * @condemned: such a pass has closed the SRQ; for the passes alone
 * @cq: where receives complete; attached, valid until @res is released
 * @ib: the device's SRQ; valid until @res is released
 * @charge: charge for @ib in the RDMA control group
 * @attr: attributes given by the consumer
 * @lock: the post lock: protects @free, @pool, @credits.taken and @sges; any context, inside a
 *	CQ's poll lock
 * @credits: free WQEs, each with an entry of @cq
 * @max_sge: SGEs of a receive
 * @wqes: the WQEs
 * @free_work: frees the object
 * @free: list of WQEs without a receive
 * @mrs: MRs in use, @max_sge for each WQE
 * @sges: SGEs of the receive that is being posted
 * @pool: what lanes take receives from (io/srq_share.c), or NULL
 * @ending: QPs of which the device's QP is being destroyed, as many as connections end at the same
 *	time; protected by the poll lock of @cq
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
	struct krdma_srq_pool *pool;

	struct hlist_head ending;
};

/* Will no receive be accepted any more?  Any context. */
static inline bool krdma_srq_has_ended(const struct krdma_srq *srq)
{
	return krdma_resource_error(&srq->res);
}

static inline struct krdma_mr **krdma_srq_mrs(const struct krdma_srq *srq,
					      const struct krdma_srq_wqe *wqe)
{
	return &srq->mrs[(wqe - srq->wqes) * srq->max_sge];
}

/* With the post lock held, for the next three.  There is a free WQE for each credit. */
static inline struct krdma_srq_wqe *krdma_srq_wqe_pop(struct krdma_srq *srq)
{
	struct krdma_srq_wqe *wqe = srq->free;

	lockdep_assert_held(&srq->lock);

	srq->free = wqe->next;
	wqe->used = true;
	return wqe;
}

static inline void krdma_srq_wqe_push(struct krdma_srq *srq, struct krdma_srq_wqe *wqe)
{
	lockdep_assert_held(&srq->lock);

	wqe->used = false;
	wqe->next = srq->free;
	srq->free = wqe;
}

void krdma_srq_wqe_put_mrs(struct krdma_srq *srq, struct krdma_srq_wqe *wqe);

void krdma_srq_revoke(struct krdma_srq *srq);

/* A QP starts, or stops, to take receives from this SRQ; process context. */
int krdma_srq_attach(struct krdma_srq *srq);
void krdma_srq_detach(struct krdma_srq *srq);

/* The caller has a reference, or holds the lock of the PD that lists the SRQ.  Any context. */
static inline void krdma_srq_get(struct krdma_srq *srq)
{
	refcount_inc(&srq->refs);
}

/*
 * Returns true if a receive in these WQEs uses an MR that has &struct krdma_mr.condemned set.
 * Any context.
 */
bool krdma_srq_uses_condemned(struct krdma_srq *srq, u32 first, u32 count);

/*
 * Completions are assigned to the QP from add to remove, by the device's QP, which is destroyed
 * after leave.  Without the poll lock of the CQ.
 */
void krdma_srq_add(struct krdma_srq *srq, struct krdma_qp *qp);
void krdma_srq_leave(struct krdma_srq *srq, struct krdma_qp *qp);
void krdma_srq_remove(struct krdma_srq *srq, struct krdma_qp *qp);

#endif /* _KRDMA_SRQ_H */
