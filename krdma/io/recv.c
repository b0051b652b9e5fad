// SPDX-License-Identifier: GPL-2.0
/*
 * Posting receives.  Each is one work request of the device, and they go to it in lists.  Nothing
 * here sleeps, allocates, or calls the consumer.
 */
#include <linux/kernel.h>

#include "core/session.h"
#include "io/qp.h"
#include "io/recv.h"
#include "io/wq.h"
#include "io/wr.h"
#include "mr/mr.h"

/**
 * krdma_recv_build() - Build the device's work request of a receive
 * @wr: the consumer's work request
 * @pd: the PD of the queue
 * @max_sge: size of @sges and @mrs
 * @sges: filled in with the SGEs
 * @mrs: filled in with the MRs that are kept in use
 * @mr_count: set to the number of these MRs
 * @ib_wr: filled in, except for its completion and the link to the next one
 *
 * Context: any.
 * Return: 0, or the errno of krdma_mr_begin_use(), or -EMSGSIZE.
 */
int krdma_recv_build(const struct krdma_recv_wr *wr, struct krdma_pd *pd,
		     u32 max_sge, struct ib_sge *sges, struct krdma_mr **mrs,
		     u16 *mr_count, struct ib_recv_wr *ib_wr)
{
	struct ib_sge *ib_sge;
	const struct krdma_sge *sge;
	u32 count = 0;
	int ret;
	u32 i;

	*mr_count = 0;
	for (i = 0; i < wr->sge_count; i++) {
		sge = &wr->sges[i];
		if (!sge->length)
			continue;
		ret = -EMSGSIZE;
		if (count == max_sge)
			goto err;
		ib_sge = &sges[count++];
		if (!sge->mr) {
			ib_sge->addr = sge->addr;
			ib_sge->length = sge->length;
			ib_sge->lkey = sge->key;
			continue;
		}
		/* Memory with several DMA addresses takes an SGE for each. */
		if (!krdma_mr_use_fast(sge->mr, pd, sge->addr, sge->length,
				       KRDMA_ACCESS_LOCAL_WRITE, ib_sge)) {
			ret = krdma_mr_begin_use(sge->mr, pd, sge->addr, sge->length,
						 KRDMA_ACCESS_LOCAL_WRITE, ib_sge,
						 max_sge - count + 1);
			if (ret < 0)
				goto err;
			count += ret - 1;
		}
		mrs[(*mr_count)++] = sge->mr;
	}
	ib_wr->sg_list = count ? sges : (struct ib_sge *)&krdma_no_sge;
	ib_wr->num_sge = count;
	return 0;

err:
	while (*mr_count)
		krdma_mr_end_use(mrs[--*mr_count]);
	return ret;
}

static int krdma_recv_post_list(struct krdma_wq *wq)
{
	struct ib_recv_wr *wrs = wq->list.scratch->recv_wrs;
	const struct ib_recv_wr *bad = NULL;
	u32 count = wq->list.count;
	u32 taken;
	int ret;

	if (!count)
		return 0;

	krdma_wr_list_count_uses(wq);
	wrs[count - 1].next = NULL;
	ret = ib_post_recv(wq->qp->ib, &wrs[0], &bad);
	if (!ret) {
		krdma_wr_list_accept(wq);
		return 0;
	}
	for (taken = 0; taken < count && &wrs[taken] != bad; taken++)
		;
	krdma_wr_list_account(wq, taken == count ? 0 : taken);
	return krdma_post_error(ret);
}

static int krdma_recv_one(struct krdma_wq *wq, const struct krdma_recv_wr *wr)
{
	u32 max_sge = min_t(u32, wq->max_sge, KRDMA_WR_SGES);
	struct krdma_wr_scratch *scratch = wq->list.scratch;
	struct krdma_wqe *wqe;
	struct ib_recv_wr *ib_wr;
	int ret;

	if (!krdma_wr_list_fits(&wq->list, max_sge)) {
		ret = krdma_recv_post_list(wq);
		if (ret)
			return ret;
	}
	if (!krdma_credits_take(&wq->credits, 1))
		return -EAGAIN;

	ib_wr = &scratch->recv_wrs[wq->list.count];
	wqe = krdma_wq_wqe(wq, wq->tail);
	ret = krdma_recv_build(wr, wq->qp->pd, max_sge,
			       &scratch->sges[wq->list.sges],
			       krdma_wq_mrs(wq, wq->tail), &wqe->mr_count, ib_wr);
	if (ret) {
		krdma_credits_untake(&wq->credits, 1);
		return ret;
	}
	ib_wr->next = ib_wr + 1;
	ib_wr->wr_cqe = &wqe->cqe;
	wqe->wr_id = wr->wr_id;
	wqe->opcode = KRDMA_OP_RECV;
	wqe->flags = KRDMA_WQE_LAST;
	wq->list.sges += ib_wr->num_sge;
	krdma_wqe_commit(wq, true);
	return 0;
}

/**
 * krdma_qp_post_recv() - Post receive work requests
 * @qp: the QP
 * @wrs: the work requests; copied
 * @count: number of work requests, at least 1
 *
 * Context: any but NMI; does not sleep, does not call the consumer.
 * Return: as krdma_conn_post_recv(); -ENOTCONN: the QP is closed.
 */
int krdma_qp_post_recv(struct krdma_qp *qp, const struct krdma_recv_wr *wrs, int count)
{
	struct krdma_wq *wq = &qp->recv;
	unsigned long flags;
	int ret = 0;
	int sent;
	int i;

	if (!wq->wqes)
		return -EINVAL;

	spin_lock_irqsave(&wq->lock, flags);
	if (!wq->open) {
		ret = -ENOTCONN;
		goto out_unlock;
	}
	krdma_wr_scratch_lock(wq);
	wq->list.accepted = 0;
	wq->list.open_parts = 0;
	for (i = 0; i < count && !ret; i++)
		ret = krdma_recv_one(wq, &wrs[i]);
	sent = krdma_recv_post_list(wq);
	krdma_wr_scratch_unlock();
	ret = ret ?: sent;
	krdma_credits_untake(&wq->credits, wq->credits.taken - wq->tail);
	WRITE_ONCE(wq->posted, wq->posted + wq->list.accepted);
	ret = krdma_post_result(wq, ret);

out_unlock:
	spin_unlock_irqrestore(&wq->lock, flags);
	return ret;
}
