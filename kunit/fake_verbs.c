// SPDX-License-Identifier: GPL-2.0
/* The verbs of the fake device for PDs, QPs and SRQs. */
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "fake_private.h"

/* Larger than any small number that could be mistaken for a QP number. */
#define FAKE_QP_NUMBER	0x1000

static atomic_t fake_qp_number = ATOMIC_INIT(FAKE_QP_NUMBER);

/*
 * Protection domains
 */

static int fake_alloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	int ret;

	might_sleep();
	ret = fake_device_follow_script(to_fake(pd->device), FAKE_ALLOC_PD);
	if (!ret)
		atomic_inc(&to_fake(pd->device)->live[FAKE_PD]);
	return ret;
}

static int fake_dealloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	might_sleep();
	atomic_dec(&to_fake(pd->device)->live[FAKE_PD]);
	return 0;
}

/*
 * QPs
 */

static bool fake_cap_is_possible(const struct fake_device *fake, const struct ib_qp_cap *cap)
{
	const struct ib_device_attr *attr = &fake->attr;

	return cap->max_send_wr <= min_t(u32, attr->max_qp_wr, FAKE_MAX_WR) &&
	       cap->max_recv_wr <= min_t(u32, attr->max_qp_wr, FAKE_MAX_WR) &&
	       cap->max_send_sge <= min_t(u32, attr->max_send_sge, FAKE_MAX_SGE) &&
	       cap->max_recv_sge <= min_t(u32, attr->max_recv_sge, FAKE_MAX_SGE) &&
	       min(cap->max_inline_data, fake->max_inline) <= FAKE_MAX_INLINE;
}

/* Checks and adjusts the attributes of a QP as the driver does. */
static int fake_adjust_cap(const struct fake_personality *personality,
			   struct ib_qp_init_attr *attr)
{
	struct ib_qp_cap *cap = &attr->cap;
	u32 max_inline = personality->max_inline ?: FAKE_MAX_INLINE;

	if (personality->lacks & FAKE_LACKS_KERNEL_RC)
		return -EINVAL;
	if (attr->srq && cap->max_recv_wr && personality->srq_wants_no_recv)
		return -EINVAL;
	if (!attr->srq && !cap->max_recv_wr && personality->wants_recv)
		return -EINVAL;

	switch (personality->inline_grant) {
	case FAKE_INLINE_NONE:
		cap->max_inline_data = 0;
		break;
	case FAKE_INLINE_REFUSED:
		if (cap->max_inline_data)
			return -EINVAL;
		break;
	case FAKE_INLINE_CAPPED:
		if (cap->max_inline_data)
			cap->max_inline_data = min_t(u32, max_inline,
						     roundup_pow_of_two(cap->max_inline_data));
		break;
	default:
		if (cap->max_inline_data > max_inline)
			return -EINVAL;
		/* WQEs of 64 bytes, of which the header takes 16. */
		if (personality->inline_grant == FAKE_INLINE_MORE)
			cap->max_inline_data = min_t(u32, max_inline,
						     ALIGN(cap->max_inline_data + 16, 64) - 16);
	}

	if (attr->srq)
		cap->max_recv_wr = 0;
	if (personality->rounds_depth) {
		cap->max_send_wr = roundup_pow_of_two(max(1U, cap->max_send_wr));
		if (!attr->srq)
			cap->max_recv_wr = roundup_pow_of_two(max(1U, cap->max_recv_wr));
	}
	return 0;
}

/*
 * The lowest free number, or one that was never used.  On RoCE always the latter: ib_cm takes a
 * connection for an old one if its QP has the number of one in the timewait state, and refuses it.
 * A device that reuses numbers so soon would connect at random.
 */
static u32 fake_number(struct fake_device *fake)
{
	u32 number = FAKE_QP_NUMBER + 1;

	if (!fake->personality->numbers_again || fake->port_kind & FAKE_PORT_ROCE)
		return atomic_inc_return(&fake_qp_number);
	while (fake_qp_find(fake, number))
		number++;
	return number;
}

static int fake_alloc_queues(struct fake_qp *qp, struct ib_qp_init_attr *attr)
{
	qp->cap = attr->cap;
	qp->cqs[FAKE_SEND].depth = attr->cap.max_send_wr;
	qp->cqs[FAKE_RECEIVE].depth = attr->cap.max_recv_wr;

	qp->sends = kvcalloc(attr->cap.max_send_wr, sizeof(*qp->sends), GFP_KERNEL);
	qp->recv_wrs = kvcalloc(attr->cap.max_recv_wr, sizeof(*qp->recv_wrs), GFP_KERNEL);
	if (qp->sends && qp->recv_wrs)
		return 0;

	kvfree(qp->sends);
	kvfree(qp->recv_wrs);
	return -ENOMEM;
}

static int fake_create_qp(struct ib_qp *ib_qp, struct ib_qp_init_attr *attr,
			  struct ib_udata *udata)
{
	struct fake_device *fake = to_fake(ib_qp->device);
	struct fake_qp *qp = to_fake_qp(ib_qp);
	unsigned long flags;
	int ret;

	might_sleep();
	if (attr->qp_type != IB_QPT_RC &&
	    (attr->qp_type != IB_QPT_GSI || (fake->port_kind & FAKE_PORT_IWARP)))
		return -EOPNOTSUPP;
	if (!fake_cap_is_possible(fake, &attr->cap))
		return -EINVAL;
	ret = fake_device_follow_script(fake, FAKE_CREATE_QP);
	if (ret)
		return ret;
	attr->cap.max_inline_data = min(attr->cap.max_inline_data, fake->max_inline);
	if (attr->qp_type == IB_QPT_RC) {
		ret = fake_adjust_cap(fake->personality, attr);
		if (ret)
			return ret;
		attr->cap.max_inline_data = min(attr->cap.max_inline_data, fake->max_inline);
	}
	ret = fake_alloc_queues(qp, attr);
	if (ret)
		return ret;

	refcount_set(&qp->refs, 1);
	init_completion(&qp->unused);
	INIT_LIST_HEAD(&qp->held);
	INIT_LIST_HEAD(&qp->last_wqe);
	qp->state = IB_QPS_RESET;
	qp->signal_all = attr->sq_sig_type == IB_SIGNAL_ALL_WR;

	flags = fake_begin();
	ib_qp->qp_num = attr->qp_type == IB_QPT_GSI ? FAKE_GSI_NUMBER : fake_number(fake);
	qp->hold = fake->hold;
	qp->stall = fake->stall;
	list_add_tail(&qp->entry, &fake->qps);
	fake_end(flags);
	atomic_inc(&fake->live[FAKE_QP]);
	if (current->flags & PF_MEMALLOC_NOIO)
		atomic_inc(&fake->qps_noio);
	return 0;
}

static bool fake_can_become(enum ib_qp_state from, enum ib_qp_state to)
{
	switch (to) {
	case IB_QPS_RESET:
	case IB_QPS_ERR:
		return true;
	case IB_QPS_INIT:
		return from == IB_QPS_RESET || from == IB_QPS_INIT;
	case IB_QPS_RTR:
		return from == IB_QPS_INIT || from == IB_QPS_RTR;
	case IB_QPS_RTS:
		return from == IB_QPS_RTR || from == IB_QPS_RTS;
	case IB_QPS_SQD:
		return from == IB_QPS_RTS || from == IB_QPS_SQD;
	default:
		return false;
	}
}

static void fake_qp_reset(struct fake_qp *qp)
{
	int i;

	fake_forget_completions(qp);
	for (i = 0; i < FAKE_DIRECTIONS; i++)
		qp->cqs[i] = (struct fake_queue) { .depth = qp->cqs[i].depth };
	qp->last_wqe_owed = 0;
	qp->waiting = false;
	qp->route.set = false;
	qp->told_traffic = false;
	fake_qp_part(qp);
	qp->state = IB_QPS_RESET;
}

static int fake_change_state(struct fake_qp *qp, enum ib_qp_state state)
{
	if (!fake_can_become(qp->state, state))
		return -EINVAL;

	switch (state) {
	case IB_QPS_ERR:
		fake_qp_to_error(qp);
		return 0;
	case IB_QPS_RESET:
		fake_qp_left(qp);
		fake_qp_reset(qp);
		return 0;
	case IB_QPS_SQD:
		qp->state = state;
		fake_qp_left(qp);
		return 0;
	default:
		qp->state = state;
		/* Some drivers accept sends before RTS. */
		fake_qp_run(qp);
		return 0;
	}
}

static void fake_qp_remember(struct fake_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	if (mask & IB_QP_PORT)
		qp->attr.port_num = attr->port_num;
	if (mask & IB_QP_ACCESS_FLAGS)
		qp->attr.qp_access_flags = attr->qp_access_flags;
	if (mask & IB_QP_DEST_QPN)
		qp->attr.dest_qp_num = attr->dest_qp_num;
	if (mask & IB_QP_RQ_PSN)
		qp->attr.rq_psn = attr->rq_psn;
	if (mask & IB_QP_SQ_PSN)
		qp->attr.sq_psn = attr->sq_psn;
	if (mask & IB_QP_MIN_RNR_TIMER)
		qp->attr.min_rnr_timer = attr->min_rnr_timer;
	if (mask & IB_QP_TIMEOUT)
		qp->attr.timeout = attr->timeout;
	if (mask & IB_QP_RETRY_CNT)
		qp->attr.retry_cnt = attr->retry_cnt;
	if (mask & IB_QP_RNR_RETRY)
		qp->attr.rnr_retry = attr->rnr_retry;
	if (mask & IB_QP_AV)
		qp->attr.ah_attr = attr->ah_attr;
	if ((mask & IB_QP_AV) && (to_fake(qp->ib.device)->port_kind & FAKE_PORT_ROCE))
		fake_route_set(&qp->route, &attr->ah_attr);
}

static int fake_modify_qp(struct ib_qp *qp, struct ib_qp_attr *attr, int mask,
			  struct ib_udata *udata)
{
	unsigned long flags;
	int ret;

	might_sleep();
	ret = fake_device_follow_script(to_fake(qp->device), FAKE_MODIFY_QP);
	if (ret || !(mask & IB_QP_STATE))
		return ret;
	if (attr->qp_state == IB_QPS_RTR &&
	    (READ_ONCE(to_fake(qp->device)->deaf_ports) & BIT(qp->port)))
		return -ENETUNREACH;

	flags = fake_begin();
	fake_qp_remember(to_fake_qp(qp), attr, mask);
	ret = fake_change_state(to_fake_qp(qp), attr->qp_state);
	fake_end(flags);

	return ret;
}

static int fake_query_qp(struct ib_qp *ib_qp, struct ib_qp_attr *attr, int mask,
			 struct ib_qp_init_attr *init)
{
	struct fake_qp *qp = to_fake_qp(ib_qp);
	unsigned long flags;

	might_sleep();
	flags = fake_begin();
	*attr = qp->attr;
	fake_end(flags);
	attr->qp_state = fake_qp_state(ib_qp);
	attr->cur_qp_state = attr->qp_state;
	attr->cap = qp->cap;
	init->cap = qp->cap;
	init->sq_sig_type = qp->signal_all ? IB_SIGNAL_ALL_WR : IB_SIGNAL_REQ_WR;
	return 0;
}

/* As other iWARP devices do, this waits until iw_cm puts the QP. */
static int fake_destroy_qp(struct ib_qp *ib_qp, struct ib_udata *udata)
{
	struct fake_device *fake = to_fake(ib_qp->device);
	struct fake_qp *qp = to_fake_qp(ib_qp);
	unsigned long flags;

	might_sleep();
	flags = fake_begin();
	/*
	 * No flush: a consumer that destroys a QP has drained it, or does not need its
	 * completions.
	 */
	qp->state = IB_QPS_RESET;
	fake_qp_left(qp);
	fake_end(flags);

	fake_qp_put(qp);
	wait_for_completion(&qp->unused);

	flags = fake_begin();
	list_del(&qp->entry);
	fake_qp_part(qp);
	fake_forget_completions(qp);
	fake_end(flags);

	kvfree(qp->sends);
	kvfree(qp->recv_wrs);
	atomic_dec(&fake->live[FAKE_QP]);
	return 0;
}

/*
 * SRQs
 */

static int fake_create_srq(struct ib_srq *ib_srq, struct ib_srq_init_attr *init,
			   struct ib_udata *udata)
{
	struct fake_device *fake = to_fake(ib_srq->device);
	struct fake_srq *srq = to_fake_srq(ib_srq);
	const struct ib_srq_attr *attr = &init->attr;
	int ret;

	might_sleep();
	if (!attr->max_wr || attr->max_wr > min(fake->attr.max_srq_wr, FAKE_MAX_WR) ||
	    attr->max_sge > min(fake->attr.max_srq_sge, FAKE_MAX_SGE))
		return -EINVAL;
	ret = fake_device_follow_script(fake, FAKE_CREATE_SRQ);
	if (ret)
		return ret;

	srq->recv_wrs = kvcalloc(attr->max_wr, sizeof(*srq->recv_wrs), GFP_KERNEL);
	if (!srq->recv_wrs)
		return -ENOMEM;
	srq->cq.depth = attr->max_wr;
	srq->max_sge = attr->max_sge;
	atomic_inc(&fake->live[FAKE_SRQ]);
	return 0;
}

static int fake_destroy_srq(struct ib_srq *srq, struct ib_udata *udata)
{
	might_sleep();
	kvfree(to_fake_srq(srq)->recv_wrs);
	atomic_dec(&to_fake(srq->device)->live[FAKE_SRQ]);
	return 0;
}

const struct ib_device_ops fake_verbs_ops = {
	.alloc_pd = fake_alloc_pd,
	.dealloc_pd = fake_dealloc_pd,
	.create_qp = fake_create_qp,
	.modify_qp = fake_modify_qp,
	.query_qp = fake_query_qp,
	.destroy_qp = fake_destroy_qp,
	.post_send = fake_post_send,
	.post_recv = fake_post_recv,

	INIT_RDMA_OBJ_SIZE(ib_pd, fake_pd, ib),
	INIT_RDMA_OBJ_SIZE(ib_qp, fake_qp, ib),
};

const struct ib_device_ops fake_srq_ops = {
	.create_srq = fake_create_srq,
	.destroy_srq = fake_destroy_srq,
	.post_srq_recv = fake_post_srq_recv,

	INIT_RDMA_OBJ_SIZE(ib_srq, fake_srq, ib),
};
