// SPDX-License-Identifier: GPL-2.0
/*
 * Lists of work requests on their way to the device: what happens when it refuses some.
 */
#include <linux/percpu.h>

#include "io/wr.h"

struct krdma_wr_scratch __percpu *krdma_wr_scratches;

const struct ib_sge krdma_no_sge;

/**
 * krdma_wr_scratches_init() - Allocate the buffers where work requests are built
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
	for_each_possible_cpu(cpu) {
		struct krdma_wr_scratch *scratch = per_cpu_ptr(krdma_wr_scratches, cpu);

		local_lock_init(&scratch->lock);
		scratch->lone.send.sg_list = &scratch->lone_sge;
		scratch->lone.send.num_sge = 1;
	}
	return 0;
}

/**
 * krdma_wr_scratches_exit() - Free the buffers where work requests are built
 *
 * No caller posts any more.
 *
 * Context: process context.
 */
void krdma_wr_scratches_exit(void)
{
	free_percpu(krdma_wr_scratches);
}

/**
 * krdma_partial_keep() - Keep an MR in use until the QP is destroyed
 * @qp: the QP
 * @mr: the MR
 *
 * The device has some parts of the work request, and may use any of its memory until the QP is
 * destroyed.  So the MRs that its other parts would have kept are kept, too: where they would have
 * been, from the first WQE on that the device did not accept.  No work request gets these WQEs any
 * more.
 *
 * Context: any.
 */
void krdma_partial_keep(struct krdma_qp *qp, struct krdma_mr *mr)
{
	/* The other parts have a WQE each, and none has more SGEs, and so MRs, than fit there. */
	if (!WARN_ON_ONCE(qp->partial_mr_count == (qp->send.mask + 1) * qp->send.max_sge))
		*krdma_partial_mr(qp, qp->partial_mr_count++) = mr;
}

/* The device did not accept the WQEs from @position to the tail. */
static void krdma_wr_list_reject(struct krdma_wq *wq, u32 position)
{
	bool partial = wq->list.open_parts;
	struct krdma_mr **mrs;
	struct krdma_wqe *wqe;
	u16 i;

	if (partial)
		wq->qp->partial_first = position;
	for (; position != wq->tail; position++) {
		wqe = krdma_wq_wqe(wq, position);
		mrs = krdma_wq_mrs(wq, position);
		if (partial) {
			/* In this order: they move towards the first WQE, or stay. */
			for (i = 0; i < wqe->mr_count; i++)
				krdma_partial_keep(wq->qp, mrs[i]);
			wqe->mr_count = 0;
			partial = !(wqe->flags & KRDMA_WQE_LAST);
		} else {
			krdma_wq_put_mrs(wq, position);
		}
	}
	/* The signaled work request may have been among them, so the next one is signaled. */
	wq->batch = wq->credits.depth;
}

/**
 * krdma_wr_list_account() - Count what the device accepted of a list that it refused in part
 * @wq: the work queue
 * @taken: number of parts that it accepted, from the first on
 *
 * Context: any.
 */
void krdma_wr_list_account(struct krdma_wq *wq, u32 taken)
{
	u32 position = wq->tail - wq->list.count;

	for (; taken; taken--, position++) {
		if (krdma_wq_wqe(wq, position)->flags & KRDMA_WQE_LAST) {
			wq->list.accepted++;
			wq->list.open_parts = 0;
		} else {
			wq->list.open_parts++;
		}
	}
	if (position != wq->tail)
		krdma_wr_list_reject(wq, position);
	/* No other context writes it while the lock is held; completions only read it. */
	WRITE_ONCE(wq->tail, position);
	krdma_wr_list_begin(wq);
}

/**
 * krdma_wr_list_unuse() - Undo the last krdma_wr_list_use()
 * @wq: the work queue
 * @mr: the MR
 *
 * Context: any.
 */
void krdma_wr_list_unuse(struct krdma_wq *wq, struct krdma_mr *mr)
{
	struct krdma_wr_list *list = &wq->list;

	if (list->uses) {
		list->uses--;
		return;
	}
	list->mr = NULL;
	krdma_mr_end_use(mr);
}

/**
 * krdma_post_error() - Convert the errno of a provider that refuses a work request
 * @error: errno of the provider
 *
 * The queue is not full, because krdma has counted.  A provider that reports a full queue, or
 * that returns an errno that has no meaning to a consumer, is broken.
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
