// SPDX-License-Identifier: GPL-2.0
/* The objects of the null device: PDs, QPs, CQs, MRs. */
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "null.h"

#define NULL_QP_LIMIT	XA_LIMIT(1, 0xffffff)
#define NULL_KEY_SHIFT	8

static atomic_t null_key = ATOMIC_INIT(0);

static int null_alloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	return 0;
}

static int null_dealloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	return 0;
}

/*
 * Completion queues
 */

static int null_create_cq(struct ib_cq *ib_cq, const struct ib_cq_init_attr *attr,
			  struct krdma_compat_cq_call *call)
{
	struct null_cq *cq = to_null_cq(ib_cq);
	u32 count;

	if (!attr->cqe || attr->cqe > ib_cq->device->attrs.max_cqe)
		return -EINVAL;
	count = roundup_pow_of_two(attr->cqe);
	cq->entries = kvzalloc_objs(*cq->entries, count, GFP_KERNEL);
	if (!cq->entries)
		return -ENOMEM;
	cq->mask = count - 1;
	ib_cq->cqe = attr->cqe;
	return 0;
}

static int null_destroy_cq(struct ib_cq *ib_cq, struct ib_udata *udata)
{
	struct null_cq *cq = to_null_cq(ib_cq);

	/* A call that runs the handler holds the lock.  This is the last use: no QP is left. */
	spin_lock_irq(&null_lock);
	cq->armed = false;
	spin_unlock_irq(&null_lock);
	kvfree(cq->entries);
	return 0;
}

/*
 * Functions that the connection manager needs
 */

DEFINE_SPINLOCK(null_lock);

unsigned long fake_begin(void)
{
	unsigned long flags;

	spin_lock_irqsave(&null_lock, flags);
	return flags;
}

void fake_end(unsigned long flags)
{
	spin_unlock_irqrestore(&null_lock, flags);
}

void fake_assert_locked(void)
{
	lockdep_assert_held(&null_lock);
}

/* No verb is made to fail. */
int fake_device_follow_script(struct fake_device *fake, enum fake_verb verb)
{
	return 0;
}

struct fake_qp *fake_qp_find(struct fake_device *fake, u32 number)
{
	struct null_qp *qp;

	qp = xa_load(&container_of(fake, struct null_device, fake)->qps, number);
	return qp ? &qp->fake : NULL;
}

/*
 * Receives
 */

static int null_receives_init(struct null_receives *receives, u32 depth)
{
	u32 count = roundup_pow_of_two(max(depth, 1U));

	receives->wr_ids = kvzalloc_objs(*receives->wr_ids, count, GFP_KERNEL);
	receives->mask = count - 1;
	return receives->wr_ids ? 0 : -ENOMEM;
}

static int null_create_srq(struct ib_srq *ib_srq, struct ib_srq_init_attr *init,
			   struct ib_udata *udata)
{
	const struct ib_device_attr *limits = &ib_srq->device->attrs;

	if (init->attr.max_wr > limits->max_srq_wr || init->attr.max_sge > limits->max_srq_sge)
		return -EINVAL;
	return null_receives_init(&to_null_srq(ib_srq)->receives, init->attr.max_wr);
}

static int null_destroy_srq(struct ib_srq *ib_srq, struct ib_udata *udata)
{
	kvfree(to_null_srq(ib_srq)->receives.wr_ids);
	return 0;
}

/*
 * QPs
 */

static int null_create_qp(struct ib_qp *ib_qp, struct ib_qp_init_attr *attr,
			  struct ib_udata *udata)
{
	struct null_device *null = to_null(ib_qp->device);
	const struct ib_device_attr *limits = &null->fake.ib.attrs;
	const struct ib_qp_cap *cap = &attr->cap;
	struct null_qp *qp = to_null_qp(ib_qp);
	u32 number;
	int ret;

	if (attr->qp_type != IB_QPT_RC)
		return -EOPNOTSUPP;
	if (cap->max_send_wr > limits->max_qp_wr || cap->max_recv_wr > limits->max_qp_wr ||
	    cap->max_send_sge > limits->max_send_sge || cap->max_recv_sge > limits->max_recv_sge)
		return -EINVAL;

	if (attr->srq) {
		qp->receives = &to_null_srq(attr->srq)->receives;
	} else {
		qp->receives = &qp->own;
		ret = null_receives_init(&qp->own, cap->max_recv_wr);
		if (ret)
			return ret;
	}
	qp->fake.state = IB_QPS_RESET;
	qp->fake.signal_all = attr->sq_sig_type == IB_SIGNAL_ALL_WR;
	refcount_set(&qp->fake.refs, 1);
	init_completion(&qp->fake.unused);

	ret = xa_alloc_cyclic_irq(&null->qps, &number, qp, NULL_QP_LIMIT, &null->next_qp,
				  GFP_KERNEL);
	if (ret < 0) {
		kvfree(qp->own.wr_ids);
		return ret;
	}
	ib_qp->qp_num = number;
	return 0;
}

static int null_change_state(struct null_qp *qp, enum ib_qp_state state)
{
	switch (state) {
	case IB_QPS_ERR:
		if (qp->fake.state != IB_QPS_ERR)
			fake_qp_to_error(&qp->fake);
		return 0;
	case IB_QPS_RESET:
		fake_cm_qp_left(&qp->fake);
		qp->own.head = qp->own.tail;
		break;
	case IB_QPS_SQD:
		fake_cm_qp_left(&qp->fake);
		break;
	case IB_QPS_INIT:
	case IB_QPS_RTR:
	case IB_QPS_RTS:
		/* A QP in error starts again from RESET. */
		if (qp->fake.state == IB_QPS_ERR)
			return -EINVAL;
		break;
	default:
		return -EINVAL;
	}
	qp->fake.state = state;
	return 0;
}

static int null_modify_qp(struct ib_qp *ib_qp, struct ib_qp_attr *attr, int mask,
			  struct ib_udata *udata)
{
	int ret;

	if (!(mask & IB_QP_STATE))
		return 0;
	spin_lock_irq(&null_lock);
	ret = null_change_state(to_null_qp(ib_qp), attr->qp_state);
	spin_unlock_irq(&null_lock);
	return ret;
}

static int null_query_qp(struct ib_qp *ib_qp, struct ib_qp_attr *attr, int mask,
			 struct ib_qp_init_attr *init)
{
	memset(attr, 0, sizeof(*attr));
	memset(init, 0, sizeof(*init));
	attr->qp_state = READ_ONCE(to_null_qp(ib_qp)->fake.state);
	attr->cur_qp_state = attr->qp_state;
	return 0;
}

/* As other iWARP devices do, this waits until iw_cm puts the QP. */
static int null_destroy_qp(struct ib_qp *ib_qp, struct ib_udata *udata)
{
	struct null_device *null = to_null(ib_qp->device);
	struct null_qp *qp = to_null_qp(ib_qp);

	spin_lock_irq(&null_lock);
	qp->fake.state = IB_QPS_RESET;
	fake_cm_qp_left(&qp->fake);
	spin_unlock_irq(&null_lock);

	fake_qp_put(&qp->fake);
	wait_for_completion(&qp->fake.unused);

	xa_erase_irq(&null->qps, ib_qp->qp_num);
	kvfree(qp->own.wr_ids);
	return 0;
}

/*
 * MRs: they have keys, which are never checked
 */

static struct ib_mr *null_new_mr(void)
{
	struct ib_mr *mr = kzalloc_obj(*mr, GFP_KERNEL);

	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->lkey = (u32)atomic_inc_return(&null_key) << NULL_KEY_SHIFT;
	mr->rkey = mr->lkey;
	return mr;
}

static struct ib_mr *null_get_dma_mr(struct ib_pd *pd, int access)
{
	return null_new_mr();
}

static struct ib_mr *null_alloc_mr(struct ib_pd *pd, enum ib_mr_type type, u32 max_pages)
{
	return type == IB_MR_TYPE_MEM_REG ? null_new_mr() : ERR_PTR(-EOPNOTSUPP);
}

/* Needed by krdma for programs: krdma registers pages itself if a device cannot. */
static struct ib_mr *null_reg_user_mr(struct ib_pd *pd, u64 start, u64 length, u64 virt_addr,
				      int access, KRDMA_COMPAT_DMAH struct ib_udata *udata)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static int null_dereg_mr(struct ib_mr *mr, struct ib_udata *udata)
{
	kfree(mr);
	return 0;
}

static int null_set_page(struct ib_mr *mr, u64 address)
{
	return 0;
}

static int null_map_mr_sg(struct ib_mr *mr, struct scatterlist *list, int entries,
			  unsigned int *offset)
{
	return ib_sg_to_pages(mr, list, entries, offset, null_set_page);
}

const struct ib_device_ops null_object_ops = {
	.alloc_pd = null_alloc_pd,
	.dealloc_pd = null_dealloc_pd,
	.create_cq = null_create_cq,
	.destroy_cq = null_destroy_cq,
	.poll_cq = null_poll_cq,
	.req_notify_cq = null_req_notify_cq,
	.create_qp = null_create_qp,
	.modify_qp = null_modify_qp,
	.query_qp = null_query_qp,
	.destroy_qp = null_destroy_qp,
	.post_send = null_post_send,
	.post_recv = null_post_recv,
	.create_srq = null_create_srq,
	.destroy_srq = null_destroy_srq,
	.post_srq_recv = null_post_srq_recv,
	.get_dma_mr = null_get_dma_mr,
	.alloc_mr = null_alloc_mr,
	.reg_user_mr = null_reg_user_mr,
	.dereg_mr = null_dereg_mr,
	.map_mr_sg = null_map_mr_sg,

	INIT_RDMA_OBJ_SIZE(ib_pd, null_pd, ib),
	INIT_RDMA_OBJ_SIZE(ib_cq, null_cq, ib),
	INIT_RDMA_OBJ_SIZE(ib_qp, null_qp, fake.ib),
	INIT_RDMA_OBJ_SIZE(ib_srq, null_srq, ib),
};
