// SPDX-License-Identifier: GPL-2.0
/*
 * The objects of the fake device: protection domains, completion queues, queue
 * pairs, memory regions.
 */
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>

#include "fake_device.h"

/* More than attr.max_cqe and attr.max_qp_wr of any test. */
#define FAKE_CQ_DEPTH	512
#define FAKE_RQ_DEPTH	256

#define FAKE_KEY	0x100

struct fake_pd {
	struct ib_pd ib;
};

/**
 * struct fake_cq - a completion queue
 * @ib: what ib_core knows
 * @lock: protects what follows; taken inside a queue pair's
 * @ring: completions, a power of two of them
 * @head: the next to be polled
 * @tail: where the next one goes
 * @armed: the consumer wants to hear of the next one
 */
struct fake_cq {
	struct ib_cq ib;
	spinlock_t lock;	/* see above */
	struct ib_wc ring[FAKE_CQ_DEPTH];
	unsigned int head;
	unsigned int tail;
	bool armed;
};

/**
 * struct fake_qp - a queue pair
 * @ib: what ib_core knows
 * @lock: protects what follows
 * @state: as modify_qp was told
 * @receives: what was posted and has not completed
 * @receive_count: how many of them
 */
struct fake_qp {
	struct ib_qp ib;
	spinlock_t lock;	/* see above */
	enum ib_qp_state state;
	struct ib_cqe *receives[FAKE_RQ_DEPTH];
	unsigned int receive_count;
};

static struct fake_cq *to_fake_cq(struct ib_cq *cq)
{
	return container_of(cq, struct fake_cq, ib);
}

static struct fake_qp *to_fake_qp(struct ib_qp *qp)
{
	return container_of(qp, struct fake_qp, ib);
}

static void fake_born(struct ib_device *ib, enum fake_object object)
{
	atomic_inc(&to_fake(ib)->live[object]);
}

static void fake_gone(struct ib_device *ib, enum fake_object object)
{
	atomic_dec(&to_fake(ib)->live[object]);
}

/*
 * Protection domains
 */

static int fake_alloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	int ret;

	ret = fake_device_follow_script(to_fake(pd->device), FAKE_ALLOC_PD);
	if (!ret)
		fake_born(pd->device, FAKE_PD);
	return ret;
}

static int fake_dealloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	fake_gone(pd->device, FAKE_PD);
	return 0;
}

/*
 * Completion queues
 */

static int fake_create_cq(struct ib_cq *cq, const struct ib_cq_init_attr *attr,
			  struct uverbs_attr_bundle *attrs)
{
	int ret;

	if (attr->cqe > FAKE_CQ_DEPTH)
		return -EINVAL;
	ret = fake_device_follow_script(to_fake(cq->device), FAKE_CREATE_CQ);
	if (ret)
		return ret;

	spin_lock_init(&to_fake_cq(cq)->lock);
	cq->cqe = attr->cqe;
	fake_born(cq->device, FAKE_CQ);
	return 0;
}

static int fake_destroy_cq(struct ib_cq *cq, struct ib_udata *udata)
{
	fake_gone(cq->device, FAKE_CQ);
	return 0;
}

static int fake_poll_cq(struct ib_cq *ib_cq, int count, struct ib_wc *wc)
{
	struct fake_cq *cq = to_fake_cq(ib_cq);
	unsigned long flags;
	int taken = 0;

	spin_lock_irqsave(&cq->lock, flags);
	while (taken < count && cq->head != cq->tail)
		wc[taken++] = cq->ring[cq->head++ % FAKE_CQ_DEPTH];
	spin_unlock_irqrestore(&cq->lock, flags);

	return taken;
}

static int fake_req_notify_cq(struct ib_cq *ib_cq, enum ib_cq_notify_flags notify)
{
	struct fake_cq *cq = to_fake_cq(ib_cq);
	unsigned long flags;
	bool missed;

	spin_lock_irqsave(&cq->lock, flags);
	cq->armed = true;
	missed = (notify & IB_CQ_REPORT_MISSED_EVENTS) && cq->head != cq->tail;
	spin_unlock_irqrestore(&cq->lock, flags);

	return missed;
}

static void fake_complete(struct ib_qp *qp, struct ib_cq *ib_cq, struct ib_cqe *cqe,
			  enum ib_wc_opcode opcode, enum ib_wc_status status)
{
	struct fake_cq *cq = to_fake_cq(ib_cq);
	unsigned long flags;
	bool notify;

	spin_lock_irqsave(&cq->lock, flags);
	/* Whoever overflows a queue has miscounted, and must hear of it. */
	WARN_ON_ONCE(cq->tail - cq->head >= ib_cq->cqe);
	cq->ring[cq->tail++ % FAKE_CQ_DEPTH] = (struct ib_wc) {
		.wr_cqe = cqe,
		.status = status,
		.opcode = opcode,
		.qp = qp,
	};
	notify = cq->armed;
	cq->armed = false;
	spin_unlock_irqrestore(&cq->lock, flags);

	if (notify)
		ib_cq->comp_handler(ib_cq, ib_cq->cq_context);
}

/*
 * Queue pairs
 */

static int fake_create_qp(struct ib_qp *qp, struct ib_qp_init_attr *attr, struct ib_udata *udata)
{
	struct fake_device *fake = to_fake(qp->device);
	int ret;

	if (attr->cap.max_recv_wr > FAKE_RQ_DEPTH)
		return -EINVAL;
	ret = fake_device_follow_script(fake, FAKE_CREATE_QP);
	if (ret)
		return ret;

	spin_lock_init(&to_fake_qp(qp)->lock);
	qp->qp_num = atomic_inc_return(&fake->next_qp_num);
	fake_born(qp->device, FAKE_QP);
	return 0;
}

static void fake_flush_receives(struct fake_qp *qp)
{
	unsigned int flushed = 0;
	struct ib_cqe *cqe;
	unsigned long flags;

	do {
		spin_lock_irqsave(&qp->lock, flags);
		if (flushed < qp->receive_count) {
			cqe = qp->receives[flushed++];
		} else {
			cqe = NULL;
			qp->receive_count = 0;
		}
		spin_unlock_irqrestore(&qp->lock, flags);

		if (cqe)
			fake_complete(&qp->ib, qp->ib.recv_cq, cqe, IB_WC_RECV,
				      IB_WC_WR_FLUSH_ERR);
	} while (cqe);
}

static int fake_modify_qp(struct ib_qp *ib_qp, struct ib_qp_attr *attr, int mask,
			  struct ib_udata *udata)
{
	struct fake_qp *qp = to_fake_qp(ib_qp);
	unsigned long flags;
	int ret;

	ret = fake_device_follow_script(to_fake(ib_qp->device), FAKE_MODIFY_QP);
	if (ret || !(mask & IB_QP_STATE))
		return ret;

	spin_lock_irqsave(&qp->lock, flags);
	qp->state = attr->qp_state;
	spin_unlock_irqrestore(&qp->lock, flags);

	if (attr->qp_state == IB_QPS_ERR)
		fake_flush_receives(qp);
	return 0;
}

static int fake_destroy_qp(struct ib_qp *qp, struct ib_udata *udata)
{
	fake_gone(qp->device, FAKE_QP);
	return 0;
}

static enum ib_wc_opcode fake_wc_opcode(enum ib_wr_opcode opcode)
{
	switch (opcode) {
	case IB_WR_RDMA_WRITE:
	case IB_WR_RDMA_WRITE_WITH_IMM:
		return IB_WC_RDMA_WRITE;
	case IB_WR_RDMA_READ:
		return IB_WC_RDMA_READ;
	case IB_WR_REG_MR:
		return IB_WC_REG_MR;
	case IB_WR_LOCAL_INV:
		return IB_WC_LOCAL_INV;
	default:
		return IB_WC_SEND;
	}
}

static int fake_post_send(struct ib_qp *ib_qp, const struct ib_send_wr *wr,
			  const struct ib_send_wr **bad_wr)
{
	struct fake_qp *qp = to_fake_qp(ib_qp);
	unsigned long flags;
	bool flush;
	int ret;

	for (; wr; wr = wr->next) {
		ret = fake_device_follow_script(to_fake(ib_qp->device), FAKE_POST_SEND);
		if (ret) {
			*bad_wr = wr;
			return ret;
		}
		spin_lock_irqsave(&qp->lock, flags);
		flush = qp->state == IB_QPS_ERR;
		spin_unlock_irqrestore(&qp->lock, flags);
		if (flush || (wr->send_flags & IB_SEND_SIGNALED))
			fake_complete(ib_qp, ib_qp->send_cq, wr->wr_cqe,
				      fake_wc_opcode(wr->opcode),
				      flush ? IB_WC_WR_FLUSH_ERR : IB_WC_SUCCESS);
	}
	return 0;
}

static int fake_post_recv(struct ib_qp *ib_qp, const struct ib_recv_wr *wr,
			  const struct ib_recv_wr **bad_wr)
{
	struct fake_qp *qp = to_fake_qp(ib_qp);
	unsigned long flags;
	bool flush;
	int ret;

	for (; wr; wr = wr->next) {
		ret = fake_device_follow_script(to_fake(ib_qp->device), FAKE_POST_RECV);
		spin_lock_irqsave(&qp->lock, flags);
		flush = qp->state == IB_QPS_ERR;
		if (!ret && !flush) {
			if (qp->receive_count < FAKE_RQ_DEPTH)
				qp->receives[qp->receive_count++] = wr->wr_cqe;
			else
				ret = -ENOMEM;
		}
		spin_unlock_irqrestore(&qp->lock, flags);
		if (ret) {
			*bad_wr = wr;
			return ret;
		}
		if (flush)
			fake_complete(ib_qp, ib_qp->recv_cq, wr->wr_cqe, IB_WC_RECV,
				      IB_WC_WR_FLUSH_ERR);
	}
	return 0;
}

/*
 * Memory regions
 */

static struct ib_mr *fake_new_mr(struct ib_pd *pd)
{
	struct ib_mr *mr;
	int ret;

	ret = fake_device_follow_script(to_fake(pd->device), FAKE_ALLOC_MR);
	if (ret)
		return ERR_PTR(ret);

	mr = kzalloc_obj(*mr, GFP_KERNEL);
	if (!mr)
		return ERR_PTR(-ENOMEM);

	mr->lkey = FAKE_KEY;
	mr->rkey = FAKE_KEY;
	fake_born(pd->device, FAKE_MR);
	return mr;
}

static struct ib_mr *fake_get_dma_mr(struct ib_pd *pd, int access)
{
	return fake_new_mr(pd);
}

static struct ib_mr *fake_alloc_mr(struct ib_pd *pd, enum ib_mr_type type, u32 max_pages)
{
	return fake_new_mr(pd);
}

static struct ib_mr *fake_reg_user_mr(struct ib_pd *pd, u64 start, u64 length, u64 virt_addr,
				      int access, struct ib_dmah *dmah, struct ib_udata *udata)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static int fake_dereg_mr(struct ib_mr *mr, struct ib_udata *udata)
{
	fake_gone(mr->device, FAKE_MR);
	kfree(mr);
	return 0;
}

static int fake_set_page(struct ib_mr *mr, u64 address)
{
	return 0;
}

static int fake_map_mr_sg(struct ib_mr *mr, struct scatterlist *list, int entries,
			  unsigned int *offset)
{
	return ib_sg_to_pages(mr, list, entries, offset, fake_set_page);
}

const struct ib_device_ops fake_verbs_ops = {
	.alloc_pd = fake_alloc_pd,
	.dealloc_pd = fake_dealloc_pd,
	.create_cq = fake_create_cq,
	.destroy_cq = fake_destroy_cq,
	.poll_cq = fake_poll_cq,
	.req_notify_cq = fake_req_notify_cq,
	.create_qp = fake_create_qp,
	.modify_qp = fake_modify_qp,
	.destroy_qp = fake_destroy_qp,
	.post_send = fake_post_send,
	.post_recv = fake_post_recv,
	.get_dma_mr = fake_get_dma_mr,
	.reg_user_mr = fake_reg_user_mr,
	.alloc_mr = fake_alloc_mr,
	.dereg_mr = fake_dereg_mr,
	.map_mr_sg = fake_map_mr_sg,

	INIT_RDMA_OBJ_SIZE(ib_pd, fake_pd, ib),
	INIT_RDMA_OBJ_SIZE(ib_cq, fake_cq, ib),
	INIT_RDMA_OBJ_SIZE(ib_qp, fake_qp, ib),
};
