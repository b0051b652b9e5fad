// SPDX-License-Identifier: GPL-2.0
/*
 * Requests on their way to the device: what happens when it refuses some.
 */
#include <linux/percpu.h>

#include "io/wr.h"

struct krdma_wr_scratch __percpu *krdma_wr_scratches;

/**
 * krdma_wr_scratches_init - where requests are made
 *
 * Context: process context; may sleep.
 * Return: 0 or -ENOMEM.
 */
int krdma_wr_scratches_init(void)
{
	int cpu;

	krdma_wr_scratches = alloc_percpu(struct krdma_wr_scratch);
	if (!krdma_wr_scratches)
		return -ENOMEM;
	for_each_possible_cpu(cpu)
		local_lock_init(&per_cpu_ptr(krdma_wr_scratches, cpu)->lock);
	return 0;
}

/**
 * krdma_wr_scratches_exit - nobody posts any more
 *
 * Context: process context.
 */
void krdma_wr_scratches_exit(void)
{
	free_percpu(krdma_wr_scratches);
}

/**
 * krdma_partial_keep - keep memory until the queue pair is gone
 * @qp: the queue pair
 * @mr: what is kept
 *
 * The device has a part of the operation, and may use any of its memory until the
 * queue pair is gone: so what its other pieces would have kept is kept, too.
 *
 * Context: any.
 */
void krdma_partial_keep(struct krdma_qp *qp, struct krdma_mr *mr)
{
	/* One operation has no more of them than that. */
	if (!WARN_ON_ONCE(qp->partial_mr_count == KRDMA_WR_SGES))
		qp->partial_mrs[qp->partial_mr_count++] = mr;
}

/* The device did not take the slots from @position to the tail. */
static void krdma_wr_list_reject(struct krdma_wq *wq, u32 position)
{
	bool partial = wq->chain.open_parts;
	struct krdma_mr **mrs;
	struct krdma_wqe *wqe;

	for (; position != wq->tail; position++) {
		wqe = krdma_wq_wqe(wq, position);
		mrs = krdma_wq_mrs(wq, position);
		if (partial) {
			while (wqe->mr_count)
				krdma_partial_keep(wq->qp, mrs[--wqe->mr_count]);
			partial = !(wqe->flags & KRDMA_WQE_LAST);
		} else {
			krdma_wq_put_mrs(wq, position);
		}
	}
	/* Perhaps the one that completes in any case was among them: the next one does. */
	wq->batch = wq->credits.depth;
}

/**
 * krdma_wr_list_account - look what the device has of a chain that it has not taken
 * @wq: the ring
 * @taken: how many requests it took, from the first on
 *
 * Context: any.
 */
void krdma_wr_list_account(struct krdma_wq *wq, u32 taken)
{
	u32 position = wq->tail - wq->chain.count;

	for (; taken; taken--, position++) {
		if (krdma_wq_wqe(wq, position)->flags & KRDMA_WQE_LAST) {
			wq->chain.accepted++;
			wq->chain.open_parts = 0;
		} else {
			wq->chain.open_parts++;
		}
	}
	if (position != wq->tail)
		krdma_wr_list_reject(wq, position);
	/* Nobody else moves it while the lock is held; completions only look. */
	WRITE_ONCE(wq->tail, position);
	krdma_wr_list_begin(wq);
}

/**
 * krdma_wr_list_unuse - what krdma_wr_list_use() has given last is not used
 * @wq: the ring
 * @mr: what it was
 *
 * Context: any.
 */
void krdma_wr_list_unuse(struct krdma_wq *wq, struct krdma_mr *mr)
{
	struct krdma_wr_list *chain = &wq->chain;

	if (chain->uses) {
		chain->uses--;
		return;
	}
	chain->mr = NULL;
	krdma_mr_end_use(mr);
}

/**
 * krdma_post_error - what a provider says when it refuses a request
 * @error: what it says
 *
 * It is not full, that was counted: if it says so, or anything else that a consumer
 * could not make sense of, it is broken.
 *
 * Context: any.
 * Return: the errno for the consumer.
 */
int krdma_post_error(int error)
{
	switch (error) {
	case -ENOTCONN:
	case -EINVAL:
	case -EOPNOTSUPP:
		return error;
	default:
		return -EIO;
	}
}
