/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Lists of work requests on their way to the device, each part with a WQE.
 *
 * All functions are called with the post lock held, unless stated otherwise.
 */
#ifndef _KRDMA_WR_H
#define _KRDMA_WR_H

#include "mr/mr.h"
#include "io/wq.h"

int krdma_wr_scratches_init(void);
void krdma_wr_scratches_exit(void);

int krdma_post_error(int error);
void krdma_partial_keep(struct krdma_qp *qp, struct krdma_mr *mr);
void krdma_wr_list_account(struct krdma_wq *wq, u32 taken);
void krdma_wr_list_unuse(struct krdma_wq *wq, struct krdma_mr *mr);

extern struct krdma_wr_scratch __percpu *krdma_wr_scratches;

/*
 * The SGE of work requests that have none.  irdma reads the first SGE of a write, a read and a
 * receive without checking num_sge, and cxgb4 reads the length of the first one.  So there is
 * one, of length 0.
 */
extern const struct ib_sge krdma_no_sge;

/* &enum krdma_access that a work request needs of its local memory.  Without the post lock. */
static inline u32 krdma_send_access(const struct krdma_qp *qp, const struct krdma_op *op)
{
	if (likely(!(op->traits & KRDMA_OP_READS)))
		return 0;
	return op->last == IB_WR_RDMA_READ ? qp->read_access : KRDMA_ACCESS_LOCAL_WRITE;
}

/* Returns the largest number of unsignaled ones that need no signaled one behind them. */
static inline u32 krdma_send_unsignaled_max(const struct krdma_wq *wq)
{
	return (wq->credits.depth + 1) / 2 - 1;
}

/* Is the work request at the tail to be signaled? */
static inline bool krdma_send_is_signaled(struct krdma_wq *wq, bool unsignaled)
{
	if (likely(!unsignaled) || wq->batch >= krdma_send_unsignaled_max(wq)) {
		wq->batch = 0;
		return true;
	}
	wq->batch++;
	return false;
}

/* Returns the number of accepted work requests, or the errno if there are none. */
static inline int krdma_post_result(const struct krdma_wq *wq, int ret)
{
	return wq->list.accepted ?: ret;
}

/*
 * Reserves the CPU's scratch buffers for this work queue until the call that posts has ended.
 * Posting does not nest: the callbacks that a provider makes while it is given work requests only
 * wake or schedule.
 */
static inline void krdma_wr_scratch_enter(void)
{
	/* Elsewhere it is a count of what keeps the task on its CPU, as interrupts off do. */
	if (IS_ENABLED(CONFIG_PREEMPT_RT) || IS_ENABLED(CONFIG_DEBUG_LOCK_ALLOC))
		local_lock(&krdma_wr_scratches->lock);
}

static inline void krdma_wr_scratch_lock(struct krdma_wq *wq)
{
	lockdep_assert_held(&wq->lock);
	krdma_wr_scratch_enter();
	wq->list.scratch = this_cpu_ptr(krdma_wr_scratches);
}

static inline void krdma_wr_scratch_unlock(void)
{
	if (IS_ENABLED(CONFIG_PREEMPT_RT) || IS_ENABLED(CONFIG_DEBUG_LOCK_ALLOC))
		local_unlock(&krdma_wr_scratches->lock);
}

/* Is there room in the list for one more part with that many SGEs? */
static inline bool krdma_wr_list_fits(const struct krdma_wr_list *list, u32 sges)
{
	/* Each part that can still follow has room for one SGE. */
	return list->count < KRDMA_WR_LIST_MAX &&
	       list->sges + sges <= KRDMA_WR_LIST_SGES - KRDMA_WR_LIST_MAX;
}

/* Appends the part in the WQE at the tail to the list.  From here on the WQE may complete. */
static inline void krdma_wqe_commit(struct krdma_wq *wq, bool last)
{
	/* Pairs with the acquire in krdma_wq_outstanding(). */
	smp_store_release(&wq->tail, wq->tail + 1);
	wq->list.count++;
	if (last) {
		wq->list.open = 0;
	} else {
		wq->list.parts++;
		wq->list.open++;
	}
}

static inline void krdma_wr_list_begin(struct krdma_wq *wq)
{
	wq->list.count = 0;
	wq->list.sges = 0;
	wq->list.parts = 0;
	wq->list.open = 0;
	wq->list.mr = NULL;
}

/* The device has accepted the whole list. */
static inline void krdma_wr_list_accept(struct krdma_wq *wq)
{
	struct krdma_wr_list *list = &wq->list;

	list->accepted += list->count - list->parts;
	if (list->open == list->count)
		list->open_parts += list->open;
	else
		list->open_parts = list->open;
	krdma_wr_list_begin(wq);
}

/* Counts the uses of the MR by the WQEs of the list, before any of these can end. */
static inline void krdma_wr_list_count_uses(struct krdma_wq *wq)
{
	struct krdma_wr_list *list = &wq->list;

	if (list->uses)
		krdma_mr_use_more(list->mr, list->uses);
	list->uses = 0;
}

/*
 * Uses an MR for a work request with one SGE, which is the next of the list.  Most such work
 * requests use the same MR as the one before, whose WQE keeps it.
 */
static inline int krdma_wr_list_use(struct krdma_wq *wq, struct krdma_mr *mr,
				    u64 addr, u32 length, u32 access, struct ib_sge *ib_sge)
{
	struct krdma_wr_list *list = &wq->list;
	struct krdma_pd *pd;
	int ret;

	if (likely(mr == list->mr) &&
	    krdma_mr_point_to(mr, addr, length, access, ib_sge)) {
		list->uses++;
		return 0;
	}
	krdma_wr_list_count_uses(wq);
	list->mr = NULL;
	pd = wq->qp->pd;
	if (krdma_mr_use_fast(mr, pd, addr, length, access, ib_sge)) {
		list->mr = mr;
		return 0;
	}
	ret = krdma_mr_begin_use(mr, pd, addr, length, access, ib_sge, 1);
	return min(ret, 0);
}

#endif /* _KRDMA_WR_H */
