// SPDX-License-Identifier: GPL-2.0
/*
 * The work requests of the fake device: what they do to memory, how they complete, and how a test
 * changes that.
 */
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "fake_private.h"

/* In members of a failed completion that are undefined. */
#define FAKE_RUBBISH	0x5a5a5a5a

/* Work requests that are flushed, late, before others may take the lock. */
#define FAKE_FLUSH_BATCH	64

/*
 * Completions
 */

static void fake_complete_entry(struct fake_qp *qp, struct fake_wc *entry)
{
	bool recv_wrs = READ_ONCE(to_fake(qp->ib.device)->hold_receives);
	struct fake_wc *held;

	if (!qp->hold && !(recv_wrs && entry->direction == FAKE_RECEIVE)) {
		fake_deliver(entry);
		return;
	}
	held = kmemdup(entry, sizeof(*entry), GFP_ATOMIC);
	if (WARN_ON_ONCE(!held))
		return;
	list_add_tail(&held->entry, &qp->held);
}

static void fake_complete(struct fake_qp *qp, enum fake_direction direction, struct ib_wc *wc,
			  bool solicited, bool twice)
{
	struct fake_wc entry = {
		.qp = qp,
		.direction = direction,
		.wqe = qp->cqs[direction].done,
		.solicited = solicited,
	};

	if (wc->status != IB_WC_SUCCESS) {
		wc->opcode = FAKE_RUBBISH;
		wc->byte_len = FAKE_RUBBISH;
		wc->wc_flags = FAKE_RUBBISH;
		wc->ex.invalidate_rkey = FAKE_RUBBISH;
	}
	wc->qp = &qp->ib;
	wc->port_num = 1;
	entry.wc = *wc;

	fake_complete_entry(qp, &entry);
	if (twice)
		fake_complete_entry(qp, &entry);
}

/* Flush at most *@most work requests, and count them down. */
static void fake_flush_sends(struct fake_qp *qp, unsigned int *most)
{
	struct fake_queue *cq = &qp->cqs[FAKE_SEND];

	for (; *most && !fake_queue_idle(cq); --*most) {
		struct ib_wc wc = {
			.wr_id = qp->sends[cq->done++ % cq->depth].wr.wr_id,
			.status = IB_WC_WR_FLUSH_ERR,
		};

		fake_complete(qp, FAKE_SEND, &wc, false, false);
	}
}

static void fake_flush_receives(struct fake_qp *qp, unsigned int *most)
{
	struct fake_queue *cq = &qp->cqs[FAKE_RECEIVE];

	for (; *most && !fake_queue_idle(cq); --*most) {
		struct ib_wc wc = {
			.wr_id = qp->recv_wrs[cq->done++ % cq->depth].wr_id,
			.status = IB_WC_WR_FLUSH_ERR,
		};

		fake_complete(qp, FAKE_RECEIVE, &wc, false, false);
	}
}

/* Returns false if there were more work requests. */
static bool fake_flush_some(struct fake_qp *qp, unsigned int most)
{
	fake_flush_sends(qp, &most);
	fake_flush_receives(qp, &most);
	return most;
}

void fake_flush_now(struct fake_qp *qp)
{
	fake_flush_some(qp, UINT_MAX);
}

static struct fake_qp *fake_next_to_flush(struct fake_device *fake)
{
	struct fake_qp *qp;

	fake_assert_locked();
	if (fake->dead)
		return NULL;
	list_for_each_entry(qp, &fake->qps, entry)
		if (qp->state == IB_QPS_ERR &&
		    (qp->last_wqe_owed || !fake_queue_idle(&qp->cqs[FAKE_SEND]) ||
		     !fake_queue_idle(&qp->cqs[FAKE_RECEIVE])))
			return qp;
	return NULL;
}

/*
 * Flushes, late, the work requests that were posted to QPs in error.  A device does so without any
 * lock of the driver, so this one is held, and interrupts are off, for some of them at a time.
 */
void fake_flush_work(struct work_struct *work)
{
	struct fake_device *fake = container_of(to_delayed_work(work), struct fake_device,
						flush_work);
	unsigned long flags = fake_begin();
	struct fake_qp *qp;

	while ((qp = fake_next_to_flush(fake))) {
		if (fake_flush_some(qp, FAKE_FLUSH_BATCH)) {
			fake_announce_last_wqe(qp, qp->last_wqe_owed);
			qp->last_wqe_owed = 0;
		}
		fake_end(flags);
		cond_resched();
		flags = fake_begin();
	}
	fake_end(flags);
}

void fake_flush(struct fake_qp *qp)
{
	struct fake_device *fake = to_fake(qp->ib.device);

	if (fake->dead)
		return;
	/* Not where completions are told of: a device needs no processor to flush. */
	if (fake->personality->flush_ms)
		queue_delayed_work(system_unbound_wq, &fake->flush_work,
				   msecs_to_jiffies(fake->personality->flush_ms));
	else
		fake_flush_now(qp);
}

static void fake_owe_last_wqe(struct fake_qp *qp)
{
	switch (fake_personality_of(&qp->ib)->last_wqe) {
	case FAKE_LAST_WQE_ONCE:
		qp->last_wqe_owed = 1;
		break;
	case FAKE_LAST_WQE_EARLY:
		fake_announce_last_wqe(qp, 1);
		break;
	case FAKE_LAST_WQE_TWICE:
		fake_announce_last_wqe(qp, 2);
		break;
	case FAKE_LAST_WQE_NEVER:
		break;
	}
}

void fake_qp_to_error(struct fake_qp *qp)
{
	struct fake_device *fake = to_fake(qp->ib.device);
	bool entered = qp->state != IB_QPS_ERR;

	fake_assert_locked();
	qp->state = IB_QPS_ERR;
	if (entered)
		fake_owe_last_wqe(qp);
	fake_flush(qp);
	if (!entered)
		return;
	/* After the completions of the flushed work requests, which may come later. */
	if (!fake->dead && !fake->personality->flush_ms) {
		fake_announce_last_wqe(qp, qp->last_wqe_owed);
		qp->last_wqe_owed = 0;
	}
	fake_qp_left(qp);
}

/* The status that the driver reports instead of the standard's. */
static enum ib_wc_status fake_status(struct fake_qp *qp, enum ib_wc_status status)
{
	const struct fake_personality *personality = fake_personality_of(&qp->ib);

	switch (status) {
	case IB_WC_REM_ACCESS_ERR:
		return personality->remote_access;
	case IB_WC_RNR_RETRY_EXC_ERR:
		return personality->no_receive;
	case IB_WC_LOC_PROT_ERR:
		return personality->local_memory;
	default:
		return status;
	}
}

static bool fake_status_is_fatal(struct fake_qp *qp, enum ib_wc_status status)
{
	return status != IB_WC_SUCCESS &&
	       !(status == IB_WC_GENERAL_ERR && fake_personality_of(&qp->ib)->general_err_stays);
}

/*
 * Incoming messages
 */

/* Takes the next receive of a QP; NULL if there is none. */
static const struct fake_receive *fake_take_receive(struct fake_qp *qp)
{
	struct fake_srq *srq = qp->ib.srq ? to_fake_srq(qp->ib.srq) : NULL;
	struct fake_queue *cq = srq ? &srq->cq : &qp->cqs[FAKE_RECEIVE];
	struct fake_receive *recv_wrs = srq ? srq->recv_wrs : qp->recv_wrs;
	const struct fake_receive *recv_wr;

	if (fake_queue_idle(cq))
		return NULL;
	recv_wr = &recv_wrs[cq->done++ % cq->depth];
	if (srq)
		cq->released = cq->done;
	return recv_wr;
}

/* Copies a message to the memory of a receive.  Returns the status for its sender. */
static enum ib_wc_status fake_fill_receive(struct fake_qp *qp, const struct fake_receive *recv_wr,
					   struct fake_spans *message, enum ib_wc_status *status)
{
	struct fake_spans room;

	if (!fake_spans_local(&room, qp, recv_wr->sge, recv_wr->num_sge, IB_ACCESS_LOCAL_WRITE)) {
		*status = IB_WC_LOC_PROT_ERR;
		return IB_WC_REM_OP_ERR;
	}
	if (room.length < message->length) {
		*status = IB_WC_LOC_LEN_ERR;
		return IB_WC_REM_INV_REQ_ERR;
	}
	fake_spans_copy(&room, message);
	return IB_WC_SUCCESS;
}

/* Completes a receive.  Returns the status for its sender. */
static enum ib_wc_status fake_arrive(struct fake_qp *qp, struct fake_spans *message,
				     struct ib_wc *wc, bool solicited)
{
	const struct fake_receive *recv_wr;
	const struct fake_fault *fault;
	enum ib_wc_status heard = IB_WC_SUCCESS;
	struct fake_mr *invalid = NULL;

	if (wc->wc_flags & IB_WC_WITH_INVALIDATE) {
		invalid = fake_mr_find(to_fake(qp->ib.device), wc->ex.invalidate_rkey);
		if (!invalid || invalid->all || invalid->pd != qp->ib.pd)
			return IB_WC_REM_ACCESS_ERR;
	}
	recv_wr = fake_take_receive(qp);
	if (!recv_wr)
		return IB_WC_RNR_RETRY_EXC_ERR;

	wc->wr_id = recv_wr->wr_id;
	wc->status = IB_WC_SUCCESS;
	fault = fake_meet_fault(qp, FAKE_RECEIVE);
	if (fault && fault->status != IB_WC_SUCCESS) {
		wc->status = fault->status;
		wc->vendor_err = fault->vendor_err;
	} else if (message) {
		wc->byte_len = message->length;
		heard = fake_fill_receive(qp, recv_wr, message, &wc->status);
		wc->status = fake_status(qp, wc->status);
	}
	/*
	 * Only the local side can invalidate an rkey of process memory.  The sender already has its
	 * acknowledgment.
	 */
	if (invalid && invalid->umem && wc->status == IB_WC_SUCCESS)
		wc->status = IB_WC_REM_INV_REQ_ERR;
	if (invalid && wc->status == IB_WC_SUCCESS)
		invalid->valid = false;
	if (!fault || !fault->lost)
		fake_complete(qp, FAKE_RECEIVE, wc, solicited, fault && fault->duplicate);
	if (fake_status_is_fatal(qp, wc->status))
		fake_qp_to_error(qp);

	return heard;
}

/*
 * An imagined peer
 */

enum ib_wc_status fake_qp_receive(struct ib_qp *ib_qp, const struct fake_message *message)
{
	struct fake_qp *qp = to_fake_qp(ib_qp);
	enum ib_wc_status heard = IB_WC_RETRY_EXC_ERR;
	struct fake_spans spans;
	unsigned long flags;
	struct ib_wc wc = {
		.opcode = IB_WC_RECV,
		.wc_flags = message->flags,
	};

	if (message->flags & IB_WC_WITH_INVALIDATE)
		wc.ex.invalidate_rkey = message->rkey;
	else
		wc.ex.imm_data = message->imm_data;
	fake_spans_kernel(&spans, message->data, message->length);

	flags = fake_begin();
	if (qp->state == IB_QPS_RTS)
		heard = fake_arrive(qp, &spans, &wc, message->solicited);
	fake_end(flags);

	return heard;
}

static enum ib_wc_status fake_remote_access(struct ib_qp *ib_qp, struct fake_spans *own,
					    u64 address, u32 rkey, int access)
{
	struct fake_qp *qp = to_fake_qp(ib_qp);
	enum ib_wc_status heard = IB_WC_SUCCESS;
	struct fake_spans spans;
	unsigned long flags;

	flags = fake_begin();
	if (qp->state != IB_QPS_RTS)
		heard = IB_WC_RETRY_EXC_ERR;
	else if (!fake_spans_remote(&spans, qp, address, own->length, rkey, access))
		heard = IB_WC_REM_ACCESS_ERR;
	else if (access == IB_ACCESS_REMOTE_WRITE)
		fake_spans_copy(&spans, own);
	else
		fake_spans_copy(own, &spans);
	fake_end(flags);

	return heard;
}

enum ib_wc_status fake_qp_remote_write(struct ib_qp *qp, u64 address, u32 rkey, const void *data,
				       u32 length)
{
	struct fake_spans spans;

	fake_spans_kernel(&spans, data, length);
	return fake_remote_access(qp, &spans, address, rkey, IB_ACCESS_REMOTE_WRITE);
}

enum ib_wc_status fake_qp_remote_read(struct ib_qp *qp, u64 address, u32 rkey, void *data,
				      u32 length)
{
	struct fake_spans spans;

	fake_spans_kernel(&spans, data, length);
	return fake_remote_access(qp, &spans, address, rkey, IB_ACCESS_REMOTE_READ);
}

/*
 * Outgoing work requests
 */

static bool fake_gather(struct fake_spans *spans, struct fake_qp *qp, const struct fake_send *send)
{
	if (send->wr.send_flags & IB_SEND_INLINE) {
		fake_spans_kernel(spans, send->inline_data, send->inline_length);
		return true;
	}
	return fake_spans_local(spans, qp, send->sge, send->wr.num_sge, 0);
}

static enum ib_wc_status fake_do_send(struct fake_qp *qp, const struct fake_send *send)
{
	struct fake_spans message;
	struct ib_wc wc = { .opcode = IB_WC_RECV };

	if (!fake_gather(&message, qp, send))
		return IB_WC_LOC_PROT_ERR;
	if (!qp->peer)
		return IB_WC_SUCCESS;
	if (send->wr.opcode == IB_WR_SEND_WITH_IMM) {
		wc.wc_flags = IB_WC_WITH_IMM;
		wc.ex.imm_data = send->wr.ex.imm_data;
	} else if (send->wr.opcode == IB_WR_SEND_WITH_INV) {
		wc.wc_flags = IB_WC_WITH_INVALIDATE;
		wc.ex.invalidate_rkey = send->wr.ex.invalidate_rkey;
	}
	return fake_arrive(qp->peer, &message, &wc, send->wr.send_flags & IB_SEND_SOLICITED);
}

static enum ib_wc_status fake_do_write(struct fake_qp *qp, const struct fake_send *send)
{
	struct fake_spans message, target;
	struct ib_wc wc = {
		.opcode = IB_WC_RECV_RDMA_WITH_IMM,
		.wc_flags = IB_WC_WITH_IMM,
		.ex.imm_data = send->wr.ex.imm_data,
	};

	if (!fake_gather(&message, qp, send))
		return IB_WC_LOC_PROT_ERR;
	if (!qp->peer)
		return IB_WC_SUCCESS;
	wc.byte_len = message.length;
	if (!fake_spans_remote(&target, qp->peer, send->rdma.remote_addr, message.length,
			       send->rdma.rkey, IB_ACCESS_REMOTE_WRITE))
		return IB_WC_REM_ACCESS_ERR;
	fake_spans_copy(&target, &message);
	if (send->wr.opcode != IB_WR_RDMA_WRITE_WITH_IMM)
		return IB_WC_SUCCESS;
	return fake_arrive(qp->peer, NULL, &wc, send->wr.send_flags & IB_SEND_SOLICITED);
}

static enum ib_wc_status fake_invalidate(struct fake_qp *qp, u32 key)
{
	struct fake_mr *mr = fake_mr_find(to_fake(qp->ib.device), key);

	if (!mr || mr->all || mr->pd != qp->ib.pd ||
	    (mr->umem && !fake_personality_of(&qp->ib)->invalidates_any))
		return IB_WC_LOC_PROT_ERR;
	mr->valid = false;
	return IB_WC_SUCCESS;
}

static enum ib_wc_status fake_do_read(struct fake_qp *qp, const struct fake_send *send,
				      struct ib_wc *wc)
{
	int access = IB_ACCESS_LOCAL_WRITE;
	struct fake_spans room, source;

	/* On iWARP the response to a read is a write of the peer, to the rkey that it gets. */
	if (fake_personality_of(&qp->ib)->read_sink_remote &&
	    (to_fake(qp->ib.device)->port_kind & FAKE_PORT_IWARP) &&
	    to_fake(qp->ib.device)->ib.ops.driver_id != RDMA_DRIVER_SIW)
		access |= IB_ACCESS_REMOTE_WRITE;
	if (!fake_spans_local(&room, qp, send->sge, send->wr.num_sge, access) ||
	    (!room.length && (access & IB_ACCESS_REMOTE_WRITE)))
		return IB_WC_LOC_PROT_ERR;
	wc->byte_len = room.length;
	if (qp->peer) {
		if (!fake_spans_remote(&source, qp->peer, send->rdma.remote_addr, room.length,
				       send->rdma.rkey, IB_ACCESS_REMOTE_READ))
			return IB_WC_REM_ACCESS_ERR;
		fake_spans_copy(&room, &source);
	}
	if (send->wr.opcode == IB_WR_RDMA_READ_WITH_INV)
		return fake_invalidate(qp, send->wr.ex.invalidate_rkey);
	return IB_WC_SUCCESS;
}

static enum ib_wc_status fake_do_atomic(struct fake_qp *qp, const struct fake_send *send,
					struct ib_wc *wc)
{
	struct fake_spans room, target, old;
	u32 length;
	u64 *value;
	u64 before;

	if (!fake_spans_local(&room, qp, send->sge, send->wr.num_sge, IB_ACCESS_LOCAL_WRITE))
		return IB_WC_LOC_PROT_ERR;
	if (room.length != sizeof(u64))
		return IB_WC_LOC_LEN_ERR;
	wc->byte_len = sizeof(u64);
	if (!qp->peer)
		return IB_WC_SUCCESS;
	if (send->atomic.remote_addr % sizeof(u64))
		return IB_WC_REM_INV_REQ_ERR;
	if (!fake_spans_remote(&target, qp->peer, send->atomic.remote_addr, sizeof(u64),
			       send->atomic.rkey, IB_ACCESS_REMOTE_ATOMIC))
		return IB_WC_REM_ACCESS_ERR;

	value = fake_span_memory(target.span, &length);
	before = *value;
	if (send->wr.opcode == IB_WR_ATOMIC_FETCH_AND_ADD)
		*value += send->atomic.compare_add;
	else if (before == send->atomic.compare_add)
		*value = send->atomic.swap;
	fake_spans_kernel(&old, &before, sizeof(before));
	fake_spans_copy(&room, &old);
	return IB_WC_SUCCESS;
}

static enum ib_wc_status fake_do_register(struct fake_qp *qp, const struct fake_send *send)
{
	struct fake_mr *mr = to_fake_mr(send->reg.mr);

	/* The device would register whatever is at addresses of the other byte order. */
	if (mr->posts > 1 && fake_personality_of(&qp->ib)->swaps_list) {
		atomic_inc(&to_fake(qp->ib.device)->wrongs);
		return IB_WC_LOC_PROT_ERR;
	}
	/* The consumer may change only the last byte of an rkey. */
	if (mr->valid || mr->pd != qp->ib.pd || !mr->mapped_count ||
	    (mr->key ^ send->reg.key) > 0xff)
		return IB_WC_LOC_PROT_ERR;
	if ((send->reg.access & (IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_ATOMIC)) &&
	    !(send->reg.access & IB_ACCESS_LOCAL_WRITE))
		return IB_WC_LOC_PROT_ERR;

	memcpy(mr->pages, mr->mapped, mr->mapped_count * sizeof(*mr->pages));
	mr->key = send->reg.key;
	mr->access = send->reg.access;
	mr->iova = mr->ib.iova;
	mr->length = mr->ib.length;
	mr->page_size = mr->ib.page_size;
	mr->offset = mr->iova & (mr->page_size - 1);
	mr->valid = true;
	return IB_WC_SUCCESS;
}

static enum ib_wc_opcode fake_wc_opcode(enum ib_wr_opcode opcode)
{
	switch (opcode) {
	case IB_WR_RDMA_WRITE:
	case IB_WR_RDMA_WRITE_WITH_IMM:
		return IB_WC_RDMA_WRITE;
	case IB_WR_RDMA_READ:
	case IB_WR_RDMA_READ_WITH_INV:
		return IB_WC_RDMA_READ;
	case IB_WR_ATOMIC_CMP_AND_SWP:
		return IB_WC_COMP_SWAP;
	case IB_WR_ATOMIC_FETCH_AND_ADD:
		return IB_WC_FETCH_ADD;
	case IB_WR_REG_MR:
		return IB_WC_REG_MR;
	case IB_WR_LOCAL_INV:
		return IB_WC_LOCAL_INV;
	default:
		return IB_WC_SEND;
	}
}

/* A datagram arrives at once.  It is lost without a destination, or a receive that it fits. */
static void fake_do_datagram(struct fake_qp *qp, const struct fake_send *send)
{
	struct fake_datagram datagram;
	struct fake_qp *peer;

	peer = fake_gsi_address(qp, send, &datagram);
	if (peer)
		fake_arrive(peer, &datagram.spans, &datagram.wc, false);
}

static enum ib_wc_status fake_carry_out(struct fake_qp *qp, const struct fake_send *send,
					struct ib_wc *wc)
{
	if (qp->ib.qp_type == IB_QPT_GSI) {
		fake_do_datagram(qp, send);
		return IB_WC_SUCCESS;
	}
	if (send->wr.opcode == IB_WR_REG_MR)
		return fake_do_register(qp, send);
	if (send->wr.opcode == IB_WR_LOCAL_INV)
		return fake_invalidate(qp, send->wr.ex.invalidate_rkey);
	if (qp->route.set ? !fake_wire_peer(qp) : qp->peer && qp->peer->state != IB_QPS_RTS)
		return IB_WC_RETRY_EXC_ERR;

	switch (send->wr.opcode) {
	case IB_WR_RDMA_WRITE:
	case IB_WR_RDMA_WRITE_WITH_IMM:
		return fake_do_write(qp, send);
	case IB_WR_RDMA_READ:
	case IB_WR_RDMA_READ_WITH_INV:
		return fake_do_read(qp, send, wc);
	case IB_WR_ATOMIC_CMP_AND_SWP:
	case IB_WR_ATOMIC_FETCH_AND_ADD:
		return fake_do_atomic(qp, send, wc);
	default:
		return fake_do_send(qp, send);
	}
}

static void fake_do_next(struct fake_qp *qp)
{
	struct fake_queue *cq = &qp->cqs[FAKE_SEND];
	const struct fake_send *send = &qp->sends[cq->done % cq->depth];
	const struct fake_fault *fault = fake_meet_fault(qp, FAKE_SEND);
	struct ib_wc wc = {
		.wr_id = send->wr.wr_id,
		.opcode = fake_wc_opcode(send->wr.opcode),
	};

	if (fault && fault->status != IB_WC_SUCCESS) {
		wc.status = fault->status;
		wc.vendor_err = fault->vendor_err;
	} else {
		wc.status = fake_status(qp, fake_carry_out(qp, send, &wc));
	}
	cq->done++;
	qp->wait_end = 0;
	if (wc.status != IB_WC_SUCCESS || qp->signal_all ||
	    (send->wr.send_flags & IB_SEND_SIGNALED))
		fake_complete(qp, FAKE_SEND, &wc, false, fault && fault->duplicate);
	if (fake_status_is_fatal(qp, wc.status))
		fake_qp_to_error(qp);
}

/* Carries out the posted work requests, as far as possible. */
void fake_qp_run(struct fake_qp *qp)
{
	fake_assert_locked();
	while (qp->state == IB_QPS_RTS && !qp->stall &&
	       !fake_queue_idle(&qp->cqs[FAKE_SEND]) && !fake_wire_waits(qp))
		fake_do_next(qp);
	if (qp->state == IB_QPS_ERR)
		fake_flush(qp);
}

/* Some may have waited long enough, or for a peer that is gone; the others continue to wait. */
void fake_wait_work(struct work_struct *work)
{
	struct fake_device *fake = container_of(to_delayed_work(work), struct fake_device,
						wait_work);
	unsigned long flags = fake_begin();
	struct fake_qp *qp;
	bool again = false;

	list_for_each_entry(qp, &fake->qps, entry) {
		if (!qp->waiting)
			continue;
		fake_qp_run(qp);
		again |= qp->waiting;
	}
	if (again)
		queue_delayed_work(fake->cq_work, &fake->wait_work, FAKE_WAIT_INTERVAL);
	fake_end(flags);
}
