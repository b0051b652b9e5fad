// SPDX-License-Identifier: GPL-2.0
/*
 * How work requests are posted to the fake device.
 */
#include <linux/kernel.h>
#include <linux/string.h>

#include "fake_private.h"

/* Of an SGE of length 0, by the standard. */
#define FAKE_ZERO_LENGTH	BIT(31)

static bool fake_is_send(enum ib_wr_opcode opcode)
{
	return opcode == IB_WR_SEND || opcode == IB_WR_SEND_WITH_IMM ||
	       opcode == IB_WR_SEND_WITH_INV;
}

static bool fake_knows(const struct fake_device *fake, enum ib_wr_opcode opcode)
{
	unsigned int lacks = fake->personality->lacks;

	switch (opcode) {
	case IB_WR_SEND_WITH_IMM:
		return !READ_ONCE(fake->no_immediate) && !(lacks & FAKE_LACKS_SEND_IMM);
	case IB_WR_RDMA_WRITE_WITH_IMM:
		return !READ_ONCE(fake->no_immediate) && !(lacks & FAKE_LACKS_WRITE_IMM);
	case IB_WR_ATOMIC_CMP_AND_SWP:
	case IB_WR_ATOMIC_FETCH_AND_ADD:
		return fake->attr.atomic_cap != IB_ATOMIC_NONE &&
		       (fake->posts_atomics || !(lacks & FAKE_LACKS_ATOMIC_POST));
	case IB_WR_RDMA_READ_WITH_INV:
		return !(lacks & FAKE_LACKS_READ_INV);
	case IB_WR_REG_MR:
		return !(lacks & FAKE_LACKS_FAST_REG);
	case IB_WR_LOCAL_INV:
		return !(lacks & FAKE_LACKS_LOCAL_INV);
	case IB_WR_RDMA_WRITE:
	case IB_WR_RDMA_READ:
		return true;
	default:
		return fake_is_send(opcode);
	}
}

static bool fake_is_read(enum ib_wr_opcode opcode)
{
	return opcode == IB_WR_RDMA_READ || opcode == IB_WR_RDMA_READ_WITH_INV;
}

/* The driver accepts reads as siw does: with exactly one SGE, which may have no bytes. */
static bool fake_reads_like_siw(const struct fake_device *fake)
{
	return fake->ib.ops.driver_id == RDMA_DRIVER_SIW;
}

/* siw would take it, fail the post, and execute nothing behind it. */
static bool fake_stops_siw(const struct ib_send_wr *wr)
{
	return (fake_is_read(wr->opcode) && (wr->send_flags & IB_SEND_FENCE)) ||
	       (wr->opcode == IB_WR_SEND_WITH_INV && (wr->send_flags & IB_SEND_INLINE));
}

static bool fake_copy_inline(struct fake_qp *qp, struct fake_send *send,
			     const struct ib_send_wr *wr)
{
	int i;

	send->inline_length = 0;
	if (fake_is_read(wr->opcode))
		return false;
	for (i = 0; i < wr->num_sge; i++) {
		const struct ib_sge *sge = &wr->sg_list[i];

		if (sge->length > qp->cap.max_inline_data - send->inline_length)
			return false;
		memcpy(send->inline_data + send->inline_length, (void *)(uintptr_t)sge->addr,
		       sge->length);
		send->inline_length += sge->length;
	}
	return true;
}

static void fake_copy_request(struct fake_send *send, const struct ib_send_wr *wr)
{
	switch (wr->opcode) {
	case IB_WR_RDMA_WRITE:
	case IB_WR_RDMA_WRITE_WITH_IMM:
	case IB_WR_RDMA_READ:
	case IB_WR_RDMA_READ_WITH_INV:
		send->rdma = *rdma_wr(wr);
		break;
	case IB_WR_ATOMIC_CMP_AND_SWP:
	case IB_WR_ATOMIC_FETCH_AND_ADD:
		send->atomic = *atomic_wr(wr);
		break;
	case IB_WR_REG_MR:
		send->reg = *reg_wr(wr);
		break;
	default:
		send->wr = *wr;
	}
}

static void fake_copy_datagram(struct fake_send *send, const struct ib_send_wr *wr)
{
	send->ud = *ud_wr(wr);
}

/* A driver that uses the first SGE without checking num_sge. */
static bool fake_follows_null(const struct fake_personality *personality,
			      const struct ib_send_wr *first, const struct ib_send_wr *wr)
{
	if (!personality->derefs_first_sge || wr->sg_list)
		return false;
	/* It merges a list of two, a write and a message, into one WQE. */
	return fake_is_read(wr->opcode) ||
	       (wr == first && wr->opcode == IB_WR_RDMA_WRITE && wr->next &&
		!wr->next->next && fake_is_send(wr->next->opcode));
}

/* What a device makes of SGEs without bytes, of which most tests must not post any. */
static void fake_count_zeros(struct fake_device *fake, struct ib_sge *sges, int count)
{
	int i;

	if (!fake->personality->zero_is_2g)
		return;
	for (i = 0; i < count; i++) {
		if (sges[i].length)
			continue;
		sges[i].length = FAKE_ZERO_LENGTH;
		atomic_inc(&fake->wrongs);
	}
}

/* Number of SGEs used by a driver that does not check num_sge; empty SGEs have no effect. */
static int fake_entries(const struct fake_personality *personality, int num_sge,
			const struct ib_sge *sg_list)
{
	if (!num_sge && personality->takes_first_sge && sg_list && sg_list->length)
		return 1;
	return num_sge;
}

static int fake_accept_send(struct fake_qp *qp, const struct ib_send_wr *wr)
{
	struct fake_device *fake = to_fake(qp->ib.device);
	const struct fake_personality *personality = fake->personality;
	struct fake_queue *cq = &qp->cqs[FAKE_SEND];
	struct fake_send *send;
	int ret;

	ret = fake_device_follow_script(fake, FAKE_POST_SEND);
	if (ret)
		return ret;
	if (fake->dead && personality->dead_post)
		return personality->dead_post;
	if (qp->state != IB_QPS_RTS && qp->state != IB_QPS_ERR && personality->not_ready)
		return personality->not_ready;
	if (!fake_knows(fake, wr->opcode) || wr->num_sge < 0 ||
	    wr->num_sge > qp->cap.max_send_sge ||
	    (fake_is_read(wr->opcode) &&
	     (wr->num_sge > fake->attr.max_sge_rd ||
	      (!wr->num_sge && (personality->read_wants_sge || fake_reads_like_siw(fake))))))
		return -EINVAL;
	if (fake_reads_like_siw(fake) && fake_stops_siw(wr))
		return -EINVAL;
	if (fake_queue_full(cq))
		return -ENOMEM;

	send = &qp->sends[cq->posted % cq->depth];
	if ((wr->send_flags & IB_SEND_INLINE) && !personality->ignores_inline &&
	    !fake_copy_inline(qp, send, wr))
		return -EINVAL;
	if (qp->ib.qp_type == IB_QPT_GSI)
		fake_copy_datagram(send, wr);
	else
		fake_copy_request(send, wr);
	if (personality->ignores_inline)
		send->wr.send_flags &= ~IB_SEND_INLINE;
	if (wr->opcode == IB_WR_RDMA_WRITE || fake_is_read(wr->opcode))
		send->wr.num_sge = fake_entries(personality, wr->num_sge, wr->sg_list);
	memcpy(send->sge, wr->sg_list, send->wr.num_sge * sizeof(*send->sge));
	if (!fake_reads_like_siw(fake) || !fake_is_read(wr->opcode))
		fake_count_zeros(fake, send->sge, wr->num_sge);
	if (wr->opcode == IB_WR_REG_MR)
		to_fake_mr(reg_wr(wr)->mr)->posts++;
	cq->posted++;
	return 0;
}

int fake_post_send(struct ib_qp *ib_qp, const struct ib_send_wr *wr,
		   const struct ib_send_wr **bad_wr)
{
	const struct fake_personality *personality = fake_personality_of(ib_qp);
	struct fake_qp *qp = to_fake_qp(ib_qp);
	const struct ib_send_wr *first = wr;
	unsigned long flags;
	int ret = 0;

	flags = fake_begin();
	for (; wr; wr = wr->next) {
		bool full = fake_queue_full(&qp->cqs[FAKE_SEND]);

		if (fake_follows_null(personality, first, wr))
			atomic_inc(&to_fake(ib_qp->device)->wrongs);
		ret = fake_accept_send(qp, wr);
		if (ret) {
			*bad_wr = full && personality->full_blames_first ? first : wr;
			break;
		}
		fake_qp_run(qp);
	}
	fake_end(flags);

	return ret;
}

static int fake_accept_receive(struct fake_device *fake, struct fake_queue *cq,
			       struct fake_receive *recv_wrs, u32 max_sge,
			       const struct ib_recv_wr *wr)
{
	const struct fake_personality *personality = fake->personality;
	struct fake_receive *recv_wr;

	if (wr->num_sge < 0 || wr->num_sge > max_sge)
		return -EINVAL;
	if (fake->dead && personality->dead_post)
		return personality->dead_post;
	if (fake_queue_full(cq))
		return -ENOMEM;

	recv_wr = &recv_wrs[cq->posted++ % cq->depth];
	recv_wr->wr_id = wr->wr_id;
	recv_wr->num_sge = fake_entries(personality, wr->num_sge, wr->sg_list);
	memcpy(recv_wr->sge, wr->sg_list, recv_wr->num_sge * sizeof(*recv_wr->sge));
	fake_count_zeros(fake, recv_wr->sge, wr->num_sge);
	return 0;
}

/* Receives were posted: continues work requests of the peer that wait for them. */
static void fake_wake_peer(struct fake_qp *qp)
{
	fake_assert_locked();
	if (qp->peer && qp->peer->waiting)
		fake_qp_run(qp->peer);
}

static void fake_wake_peers(struct fake_srq *srq)
{
	struct fake_device *fake = to_fake(srq->ib.device);
	struct fake_qp *qp;

	fake_assert_locked();
	if (!(fake->port_kind & FAKE_PORT_ROCE))
		return;
	list_for_each_entry(qp, &fake->qps, entry)
		if (qp->ib.srq == &srq->ib)
			fake_wake_peer(qp);
}

int fake_post_recv(struct ib_qp *ib_qp, const struct ib_recv_wr *wr,
		   const struct ib_recv_wr **bad_wr)
{
	struct fake_qp *qp = to_fake_qp(ib_qp);
	unsigned long flags;
	int ret = 0;

	flags = fake_begin();
	for (; wr && !ret; wr = wr->next) {
		ret = fake_device_follow_script(to_fake(ib_qp->device), FAKE_POST_RECV);
		if (!ret && (ib_qp->srq || qp->state == IB_QPS_RESET))
			ret = -EINVAL;
		if (!ret)
			ret = fake_accept_receive(to_fake(ib_qp->device),
						  &qp->cqs[FAKE_RECEIVE], qp->recv_wrs,
						  qp->cap.max_recv_sge, wr);
		if (ret)
			*bad_wr = wr;
		else if (qp->state == IB_QPS_ERR)
			fake_flush(qp);
	}
	fake_wake_peer(qp);
	fake_end(flags);

	return ret;
}

int fake_post_srq_recv(struct ib_srq *ib_srq, const struct ib_recv_wr *wr,
		       const struct ib_recv_wr **bad_wr)
{
	struct fake_srq *srq = to_fake_srq(ib_srq);
	unsigned long flags;
	int ret = 0;

	flags = fake_begin();
	for (; wr && !ret; wr = wr->next) {
		ret = fake_device_follow_script(to_fake(ib_srq->device), FAKE_POST_SRQ_RECV);
		if (!ret)
			ret = fake_accept_receive(to_fake(ib_srq->device), &srq->cq,
						  srq->recv_wrs, srq->max_sge, wr);
		if (ret)
			*bad_wr = wr;
	}
	fake_wake_peers(srq);
	fake_end(flags);

	return ret;
}
