// SPDX-License-Identifier: GPL-2.0
/*
 * What a lane asks of the peer's memory: writes, reads and atomics, and when they are done.
 *
 * All work requests of the send queue are sent in the order in which they were posted, and complete
 * in that order.  A message is done when the peer's kernel has its frames, a write when the peer
 * says that it is carried out, a read or an atomic when its result is here.  The peer carries out
 * writes as they arrive, and sends results in the order of the requests, so for each kind a count
 * is enough.
 *
 * A write or a read that the device carries out (lane/direct.c) is done when it has completed.
 */
#include "cm/conn.h"
#include "cm/conn_cm.h"
#include "core/wire.h"
#include "io/op.h"
#include "lane/ask.h"
#include "lane/direct.h"
#include "lane/early.h"
#include "lane/lane.h"
#include "lane/queue.h"
#include "lane/ready.h"
#include "lane/window.h"

/**
 * krdma_lane_is_message() - Check whether a work request sends a message
 * @wqe: the work request
 *
 * Context: any.
 * Return: whether it does.
 */
bool krdma_lane_is_message(const struct krdma_lane_wqe *wqe)
{
	return wqe->opcode == KRDMA_OP_SEND || wqe->opcode == KRDMA_OP_SEND_IMM;
}

/* Does it take a receive of the peer? */
static bool krdma_lane_takes_receive(const struct krdma_lane_wqe *wqe)
{
	return krdma_lane_is_message(wqe) || wqe->opcode == KRDMA_OP_WRITE_IMM;
}

static bool krdma_lane_is_atomic(const struct krdma_lane_wqe *wqe)
{
	return wqe->opcode == KRDMA_OP_COMPARE_SWAP || wqe->opcode == KRDMA_OP_FETCH_ADD;
}

/* Does a result answer it?  A flush is a read, as on a QP. */
static bool krdma_lane_has_result(const struct krdma_lane_wqe *wqe)
{
	return wqe->opcode == KRDMA_OP_READ || wqe->opcode == KRDMA_OP_FLUSH ||
	       krdma_lane_is_atomic(wqe);
}

/**
 * krdma_lane_is_fenced() - Check whether a work request waits for the reads before it
 * @wqe: the work request
 *
 * Context: any.
 * Return: whether it does.
 */
bool krdma_lane_is_fenced(const struct krdma_lane_wqe *wqe)
{
	return (wqe->flags & KRDMA_POST_FENCE) ||
	       (krdma_ops[wqe->opcode].send_flags & IB_SEND_FENCE);
}

/**
 * krdma_lane_wire_length() - Get the length of what a work request sends, or asks for
 * @wqe: the work request
 *
 * Context: any.
 * Return: the bytes; those of the operations without memory of the consumer, too.
 */
u32 krdma_lane_wire_length(const struct krdma_lane_wqe *wqe)
{
	return krdma_ops[wqe->opcode].scratch_length ?: wqe->length;
}

/* Is something sent that the peer has to answer? */
static bool krdma_lane_awaits_answer(const struct krdma_lane_asked *asked)
{
	return asked->reads != asked->reads_completed || asked->writes != asked->writes_completed;
}

static bool krdma_lane_is_full(const struct krdma_lane *lane)
{
	return krdma_lane_awaits_answer(&lane->asked) &&
	       lane->send.next - lane->send.done >= KRDMA_LANE_PENDING_MAX;
}

/**
 * krdma_lane_credits_left() - Get the number of receives that the peer has for further messages
 * @lane: the lane
 *
 * Context: any but NMI, with the trunk's lock held.
 * Return: the number.
 */
u32 krdma_lane_credits_left(const struct krdma_lane *lane)
{
	const struct krdma_lane_asked *asked = &lane->asked;
	s32 left = lane->peer_credits - asked->yielded - asked->messages;

	return max(left, 0);
}

/**
 * krdma_lane_lacks_receive() - Check whether the next work request waits for a receive of the peer
 * @lane: the lane, open on both sides
 *
 * Context: any but NMI, with the trunk's lock held.
 * Return: false also if there is none.
 */
bool krdma_lane_lacks_receive(const struct krdma_lane *lane)
{
	const struct krdma_lane_queue *queue = &lane->send;

	return krdma_lane_queued(queue) && !queue->begun && !krdma_lane_credits_left(lane) &&
	       krdma_lane_takes_receive(krdma_lane_wqe_at(queue, queue->next));
}

/**
 * krdma_lane_receives_needed() - Count the receives of the peer that posted work requests need
 * @lane: the lane, open on both sides
 *
 * Not those of work requests far behind: their turn comes later.
 *
 * Context: any but NMI, with the trunk's lock held.
 * Return: the number.
 */
u32 krdma_lane_receives_needed(const struct krdma_lane *lane)
{
	const struct krdma_lane_queue *queue = &lane->send;
	u32 looks = min_t(u32, krdma_lane_queued(queue), KRDMA_LANE_PENDING_MAX);
	u32 needed = 0;

	for (u32 i = 0; i < looks; i++)
		needed += krdma_lane_takes_receive(krdma_lane_wqe_at(queue, queue->next + i));
	return needed;
}

/**
 * krdma_lane_may_send() - Check whether the next work request, or its next part, may be sent
 * @lane: the lane, open on both sides
 *
 * Context: any but NMI, with the trunk's lock held.
 * Return: false also if there is none.
 */
bool krdma_lane_may_send(const struct krdma_lane *lane)
{
	const struct krdma_lane_asked *asked = &lane->asked;
	const struct krdma_lane_queue *queue = &lane->send;
	u32 awaited = asked->reads - asked->reads_done;
	const struct krdma_lane_wqe *wqe;

	if (!krdma_lane_queued(queue) || krdma_lane_early_waits(lane))
		return false;
	if (queue->begun)
		return true;
	if (krdma_lane_is_full(lane))
		return false;
	wqe = krdma_lane_wqe_at(queue, queue->next);
	if ((awaited || krdma_lane_reads_direct(lane)) && krdma_lane_is_fenced(wqe))
		return false;
	if (krdma_lane_takes_receive(wqe))
		return krdma_lane_credits_left(lane);
	return !krdma_lane_has_result(wqe) || awaited < asked->reads_max;
}

/**
 * krdma_lane_fill_request() - Fill in the record of the next work request, or of its next part
 * @lane: the lane, which may send it
 * @record: filled in, as if everything that is left had room
 *
 * Context: any but NMI, with the trunk's lock held.
 */
void krdma_lane_fill_request(const struct krdma_lane *lane, struct krdma_lane_record *record)
{
	const struct krdma_lane_queue *queue = &lane->send;
	const struct krdma_lane_wqe *wqe = krdma_lane_wqe_at(queue, queue->next);
	const struct krdma_lane_remote *remote = krdma_lane_remote_at(queue, queue->next);
	u32 length = krdma_lane_wire_length(wqe);

	*record = (struct krdma_lane_record) {
		.type = KRDMA_LANE_DATA,
		.lane = lane->number,
		.total = length,
	};
	if (!krdma_lane_is_message(wqe)) {
		record->addr = remote->addr;
		record->key = remote->rkey;
	}
	if (krdma_lane_is_atomic(wqe)) {
		record->type = KRDMA_LANE_ATOMIC;
		record->atomic = wqe->opcode == KRDMA_OP_FETCH_ADD ? KRDMA_LANE_FETCH_ADD :
								     KRDMA_LANE_COMPARE_SWAP;
		record->operand = remote->operand;
		if (record->atomic == KRDMA_LANE_COMPARE_SWAP)
			record->swap = remote->swap;
		return;
	}
	if (krdma_lane_has_result(wqe)) {
		record->type = KRDMA_LANE_READ;
		return;
	}

	record->flags = KRDMA_LANE_LAST;
	record->length = length - queue->offset;
	if (!queue->begun)
		record->flags |= KRDMA_LANE_FIRST;
	if (!krdma_lane_is_message(wqe))
		record->type = KRDMA_LANE_WRITE;
	/* With the first part of a message, and with the last part of a write. */
	if (wqe->opcode == KRDMA_OP_WRITE_IMM ||
	    (wqe->opcode == KRDMA_OP_SEND_IMM && !queue->begun)) {
		record->flags |= KRDMA_LANE_IMM;
		record->value = wqe->imm;
	}
}

/**
 * krdma_lane_sent() - The last part of the next work request is in a frame
 * @lane: the lane
 *
 * Context: any but NMI, with the trunk's lock held.
 */
void krdma_lane_sent(struct krdma_lane *lane)
{
	struct krdma_lane_asked *asked = &lane->asked;
	struct krdma_lane_queue *queue = &lane->send;
	const struct krdma_lane_wqe *wqe = krdma_lane_wqe_at(queue, queue->next);

	lockdep_assert_held(&lane->trunk->lock);

	if (krdma_lane_takes_receive(wqe))
		asked->messages++;
	if (krdma_lane_has_result(wqe))
		*krdma_lane_position_of(lane, asked->reads++) = queue->next;
	else if (!krdma_lane_is_message(wqe))
		asked->writes++;
	if (!krdma_lane_is_message(wqe))
		krdma_lane_consider_window(lane, queue->next);
	queue->next++;
	queue->offset = 0;
	queue->begun = false;
}

/* Is the work request, which was sent, done?  If so, the counts take note that it is complete. */
static bool krdma_lane_take_done(struct krdma_lane *lane, const struct krdma_lane_wqe *wqe)
{
	struct krdma_lane_asked *asked = &lane->asked;

	if (wqe->direct || krdma_lane_is_message(wqe))
		return (s32)(asked->acked - lane->send.done) > 0;
	if (krdma_lane_has_result(wqe)) {
		if (asked->reads_completed == asked->reads_done)
			return false;
		asked->reads_completed++;
		return true;
	}
	if (asked->writes_completed == asked->writes_done)
		return false;
	asked->writes_completed++;
	return true;
}

/**
 * krdma_lane_awaits_ack() - Check whether the next completion waits for the device
 * @lane: the lane, attached, after krdma_lane_complete_sent()
 *
 * Context: any but NMI, with the trunk's lock held.
 * Return: false also if the next one waits for the peer, or there is none.
 */
bool krdma_lane_awaits_ack(const struct krdma_lane *lane)
{
	const struct krdma_lane_queue *queue = &lane->send;
	const struct krdma_lane_wqe *wqe = krdma_lane_wqe_at(queue, queue->done);

	return queue->done != queue->next && (wqe->direct || krdma_lane_is_message(wqe));
}

/**
 * krdma_lane_complete_sent() - Complete the work requests that are done
 * @lane: the lane, attached
 *
 * Context: softirqs are off, with the trunk's lock held.
 */
void krdma_lane_complete_sent(struct krdma_lane *lane)
{
	struct krdma_lane_queue *queue = &lane->send;
	bool was_full = krdma_lane_is_full(lane);
	u32 before = queue->done;

	lockdep_assert_held(&lane->trunk->lock);

	/*
	 * What was sent early is done if the lane is accepted.  The device may report that the peer
	 * has the frame when the lane has been rejected.
	 */
	if (!lane->passive && !lane->accepted)
		return;
	while (queue->done != queue->next &&
	       krdma_lane_take_done(lane, krdma_lane_wqe_at(queue, queue->done)))
		krdma_lane_send_done(lane);
	if (queue->done == before)
		return;
	krdma_lane_deliver(lane, queue);
	if (was_full)
		krdma_trunk_add_ready(lane);
}

/* The result of the oldest one that awaits it, or a part of it. */
static int krdma_lane_take_result(struct krdma_lane *lane, const struct krdma_lane_record *record)
{
	struct krdma_lane_asked *asked = &lane->asked;
	u32 position = *krdma_lane_position_of(lane, asked->reads_done);
	const struct krdma_lane_wqe *wqe = krdma_lane_wqe_at(&lane->send, position);
	u32 left = krdma_lane_wire_length(wqe) - asked->read_offset;
	bool last = record->flags & KRDMA_LANE_LAST;
	u64 value;

	if (last ? record->length != left : record->length >= left)
		return -EPROTO;
	if (krdma_lane_is_atomic(wqe)) {
		if (record->length != sizeof(value))
			return -EPROTO;
		value = krdma_wire_get_le64(record->data);
		krdma_lane_copy_result(lane, position, 0, (u8 *)&value, sizeof(value));
	} else if (wqe->opcode == KRDMA_OP_READ) {
		krdma_lane_copy_result(lane, position, asked->read_offset, record->data,
				       record->length);
	}
	asked->read_offset += record->length;
	return 0;
}

/**
 * krdma_lane_result() - Handle RESULT
 * @lane: the lane, attached
 * @record: the record
 *
 * Context: softirqs are off, with the trunk's lock held.
 * Return: 0, or -EPROTO: it answers nothing.
 */
int krdma_lane_result(struct krdma_lane *lane, const struct krdma_lane_record *record)
{
	struct krdma_lane_asked *asked = &lane->asked;
	int ret;

	lockdep_assert_held(&lane->trunk->lock);

	if (asked->reads == asked->reads_done)
		return -EPROTO;
	ret = krdma_lane_take_result(lane, record);
	if (ret || !(record->flags & KRDMA_LANE_LAST))
		return ret;
	asked->read_offset = 0;
	asked->reads_done++;
	krdma_lane_complete_sent(lane);
	/* One may have waited for this. */
	if (krdma_lane_queued(&lane->send))
		krdma_trunk_add_ready(lane);
	return 0;
}

/**
 * krdma_lane_writes_done() - Handle DONE
 * @lane: the lane, attached
 * @count: writes that the peer has carried out
 *
 * Context: softirqs are off, with the trunk's lock held.
 * Return: 0, or -EPROTO: it was fewer before, or more than were sent.
 */
int krdma_lane_writes_done(struct krdma_lane *lane, u32 count)
{
	struct krdma_lane_asked *asked = &lane->asked;

	lockdep_assert_held(&lane->trunk->lock);

	if (count - asked->writes_done > asked->writes - asked->writes_done)
		return -EPROTO;
	asked->writes_done = count;
	krdma_lane_complete_sent(lane);
	/* One of the device may have waited for this. */
	if (lane->direct && krdma_lane_queued(&lane->send))
		krdma_trunk_add_ready(lane);
	return 0;
}

/**
 * krdma_lane_set_depths() - Set the greatest number of reads and atomics in flight
 * @lane: the lane, when both sides have said what number they take, or this one is about to
 *
 * Context: any but NMI.
 */
void krdma_lane_set_depths(struct krdma_lane *lane)
{
	struct krdma_conn *conn = lane->conn;
	unsigned long flags;

	krdma_conn_limit_depths(conn, KRDMA_LANE_READS, KRDMA_LANE_READS);
	spin_lock_irqsave(&conn->state_lock, flags);
	/* Both sides have at least one by default, and a peer that says 0 is asked for one. */
	lane->asked.reads_max = max_t(u8, conn->read_depth, 1);
	spin_unlock_irqrestore(&conn->state_lock, flags);
}
