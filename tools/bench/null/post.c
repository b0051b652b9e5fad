// SPDX-License-Identifier: GPL-2.0
/*
 * Turns work requests into completions with as little code as possible: every measurement includes
 * this.
 *
 * No data move, and no key is checked.  A work request has completed when it has been posted; a
 * message takes a receive of the peer, which completes with the message's length.  Nothing waits: a
 * message without a receive fails at once, as elsewhere after the last retry.
 */
#include <linux/kernel.h>

#include "null.h"

/**
 * enum null_traits - bits of &struct null_request.traits
 * @NULL_KNOWN: the opcode is supported
 * @NULL_TO_PEER: it takes a receive of the peer
 */
enum null_traits {
	NULL_KNOWN = 1 << 0,
	NULL_TO_PEER = 1 << 1,
};

#define NULL_MESSAGE	(NULL_KNOWN | NULL_TO_PEER)

/* A table, not a switch: mitigations make jumps through tables slow. */
static const struct null_request {
	u8 traits;
	u8 opcode;		/* of its completion */
	u8 received;		/* of the peer's completion */
	u8 flags;		/* likewise */
} null_requests[] = {
	[IB_WR_RDMA_WRITE] = { NULL_KNOWN, IB_WC_RDMA_WRITE },
	[IB_WR_RDMA_WRITE_WITH_IMM] = {
		NULL_MESSAGE, IB_WC_RDMA_WRITE, IB_WC_RECV_RDMA_WITH_IMM, IB_WC_WITH_IMM
	},
	[IB_WR_SEND] = { NULL_MESSAGE, IB_WC_SEND, IB_WC_RECV },
	[IB_WR_SEND_WITH_IMM] = { NULL_MESSAGE, IB_WC_SEND, IB_WC_RECV, IB_WC_WITH_IMM },
	[IB_WR_SEND_WITH_INV] = { NULL_MESSAGE, IB_WC_SEND, IB_WC_RECV, IB_WC_WITH_INVALIDATE },
	[IB_WR_RDMA_READ] = { NULL_KNOWN, IB_WC_RDMA_READ },
	[IB_WR_ATOMIC_CMP_AND_SWP] = { NULL_KNOWN, IB_WC_COMP_SWAP },
	[IB_WR_ATOMIC_FETCH_AND_ADD] = { NULL_KNOWN, IB_WC_FETCH_ADD },
	[IB_WR_LOCAL_INV] = { NULL_KNOWN, IB_WC_LOCAL_INV },
	[IB_WR_REG_MR] = { NULL_KNOWN, IB_WC_REG_MR },
};

/* Adds a completion to its CQ. */
static void null_complete(struct null_cq *cq, const struct null_entry *entry, bool solicited)
{
	/* A consumer that overflows a CQ has a bug, and must see it. */
	if (WARN_ON_ONCE(cq->tail - cq->head > cq->mask))
		return;
	cq->entries[cq->tail++ & cq->mask] = *entry;

	if (!cq->armed)
		return;
	if (cq->solicited && !solicited && entry->status == IB_WC_SUCCESS)
		return;
	cq->armed = false;
	cq->ib.comp_handler(&cq->ib, cq->ib.cq_context);
}

static void null_flush(struct null_qp *qp, struct ib_cq *cq, u64 wr_id)
{
	null_complete(to_null_cq(cq), &(struct null_entry) {
		.wr_id = wr_id, .qp = &qp->fake.ib, .status = IB_WC_WR_FLUSH_ERR,
	}, false);
}

/* A QP with an SRQ has taken no receive that has not completed. */
static void null_announce_last_wqe(struct ib_qp *ib_qp)
{
	struct ib_event event = {
		.device = ib_qp->device,
		.element.qp = ib_qp,
		.event = IB_EVENT_QP_LAST_WQE_REACHED,
	};

	if (ib_qp->event_handler)
		ib_qp->event_handler(&event, ib_qp->qp_context);
}

/* From here on everything is flushed.  With the lock held. */
void fake_qp_to_error(struct fake_qp *fake)
{
	struct null_qp *qp = container_of(fake, struct null_qp, fake);
	struct null_receives *own = &qp->own;

	fake->state = IB_QPS_ERR;
	while (own->head != own->tail)
		null_flush(qp, qp->fake.ib.recv_cq, own->wr_ids[own->head++ & own->mask]);
	if (qp->receives != own)
		null_announce_last_wqe(&fake->ib);
	fake_cm_qp_left(fake);
}

/* A message takes a receive of the peer.  Returns the status of the send. */
static enum ib_wc_status null_deliver(struct null_qp *qp, const struct ib_send_wr *ib_wr,
				      const struct null_request *wr)
{
	struct null_qp *peer = container_of(qp->fake.peer, struct null_qp, fake);
	struct null_receives *receives;
	struct null_entry entry = {};
	int i;

	if (!qp->fake.peer)
		return IB_WC_RETRY_EXC_ERR;
	receives = peer->receives;
	if (receives->head == receives->tail)
		return IB_WC_RNR_RETRY_EXC_ERR;

	entry.wr_id = receives->wr_ids[receives->head++ & receives->mask];
	entry.qp = &peer->fake.ib;
	entry.opcode = wr->received;
	entry.flags = wr->flags;
	entry.imm = ib_wr->ex.imm_data;
	for (i = 0; i < ib_wr->num_sge; i++)
		entry.byte_len += ib_wr->sg_list[i].length;
	null_complete(to_null_cq(peer->fake.ib.recv_cq), &entry,
		      ib_wr->send_flags & IB_SEND_SOLICITED);
	return IB_WC_SUCCESS;
}

static int null_carry_out(struct null_qp *qp, const struct ib_send_wr *ib_wr)
{
	const struct null_request *wr = &null_requests[ib_wr->opcode];
	struct null_entry entry;

	if (ib_wr->opcode >= ARRAY_SIZE(null_requests) || !wr->traits)
		return -EINVAL;
	if (unlikely(qp->fake.state != IB_QPS_RTS)) {
		null_flush(qp, qp->fake.ib.send_cq, ib_wr->wr_id);
		return 0;
	}

	entry.status = IB_WC_SUCCESS;
	if (wr->traits & NULL_TO_PEER)
		entry.status = null_deliver(qp, ib_wr, wr);
	if (!(ib_wr->send_flags & IB_SEND_SIGNALED) && !qp->fake.signal_all && !entry.status)
		return 0;

	entry.wr_id = ib_wr->wr_id;
	entry.qp = &qp->fake.ib;
	entry.byte_len = 0;
	entry.imm = 0;
	entry.opcode = wr->opcode;
	entry.flags = 0;
	null_complete(to_null_cq(qp->fake.ib.send_cq), &entry, false);
	if (unlikely(entry.status))
		fake_qp_to_error(&qp->fake);
	return 0;
}

int null_post_send(struct ib_qp *ib_qp, const struct ib_send_wr *wr,
		   const struct ib_send_wr **bad)
{
	struct null_qp *qp = to_null_qp(ib_qp);
	unsigned long flags;
	int ret = 0;

	spin_lock_irqsave(&null_lock, flags);
	if (qp->fake.state != IB_QPS_RTS && qp->fake.state != IB_QPS_ERR)
		ret = -ENOTCONN;
	while (wr && !ret) {
		ret = null_carry_out(qp, wr);
		if (!ret)
			wr = wr->next;
	}
	spin_unlock_irqrestore(&null_lock, flags);

	if (unlikely(ret))
		*bad = wr;
	return ret;
}

static int null_receives_add(struct null_receives *receives, u64 wr_id)
{
	if (receives->tail - receives->head > receives->mask)
		return -ENOMEM;
	receives->wr_ids[receives->tail++ & receives->mask] = wr_id;
	return 0;
}

int null_post_recv(struct ib_qp *ib_qp, const struct ib_recv_wr *wr,
		   const struct ib_recv_wr **bad)
{
	struct null_qp *qp = to_null_qp(ib_qp);
	unsigned long flags;
	int ret = 0;

	spin_lock_irqsave(&null_lock, flags);
	if (qp->fake.state == IB_QPS_RESET || qp->receives != &qp->own)
		ret = -EINVAL;
	while (wr && !ret) {
		if (unlikely(qp->fake.state == IB_QPS_ERR))
			null_flush(qp, qp->fake.ib.recv_cq, wr->wr_id);
		else
			ret = null_receives_add(&qp->own, wr->wr_id);
		if (!ret)
			wr = wr->next;
	}
	spin_unlock_irqrestore(&null_lock, flags);

	if (unlikely(ret))
		*bad = wr;
	return ret;
}

int null_post_srq_recv(struct ib_srq *ib_srq, const struct ib_recv_wr *wr,
		       const struct ib_recv_wr **bad)
{
	struct null_srq *srq = to_null_srq(ib_srq);
	unsigned long flags;
	int ret = 0;

	spin_lock_irqsave(&null_lock, flags);
	while (wr && !ret) {
		ret = null_receives_add(&srq->receives, wr->wr_id);
		if (!ret)
			wr = wr->next;
	}
	spin_unlock_irqrestore(&null_lock, flags);

	if (unlikely(ret))
		*bad = wr;
	return ret;
}

int null_poll_cq(struct ib_cq *ib_cq, int count, struct ib_wc *wc)
{
	struct null_cq *cq = to_null_cq(ib_cq);
	const struct null_entry *entry;
	unsigned long flags;
	int taken;

	spin_lock_irqsave(&null_lock, flags);
	for (taken = 0; taken < count && cq->head != cq->tail; taken++, wc++) {
		entry = &cq->entries[cq->head++ & cq->mask];
		wc->wr_id = entry->wr_id;
		wc->status = entry->status;
		wc->opcode = entry->opcode;
		wc->vendor_err = 0;
		wc->byte_len = entry->byte_len;
		wc->qp = entry->qp;
		wc->ex.imm_data = entry->imm;
		wc->wc_flags = entry->flags;
	}
	spin_unlock_irqrestore(&null_lock, flags);

	return taken;
}

int null_req_notify_cq(struct ib_cq *ib_cq, enum ib_cq_notify_flags notify)
{
	struct null_cq *cq = to_null_cq(ib_cq);
	unsigned long flags;
	int missed;

	spin_lock_irqsave(&null_lock, flags);
	/* A CQ that is armed for all completions stays so when it is armed for solicited ones. */
	cq->solicited = (notify & IB_CQ_SOLICITED_MASK) == IB_CQ_SOLICITED &&
			(!cq->armed || cq->solicited);
	cq->armed = true;
	missed = (notify & IB_CQ_REPORT_MISSED_EVENTS) && cq->head != cq->tail;
	spin_unlock_irqrestore(&null_lock, flags);

	return missed;
}
