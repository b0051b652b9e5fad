// SPDX-License-Identifier: GPL-2.0
/*
 * What the peer of a lane asks of its memory: this side carries it out, and answers.
 *
 * The peer has keys of MRs of the lane's session, as for a QP, and no key of the trunk's: every
 * request is checked here, when it arrives, and the processor copies.  A peer can therefore access
 * what the session of its lane has registered for that, as long as it is registered, and nothing
 * else, and no request that is refused does harm to other lanes.
 *
 * A write is carried out when it arrives, part by part.  A read is checked when it arrives, and
 * takes its data when there is room in a frame: they are checked again.  An atomic is carried out
 * when it arrives, and its result waits.  So a read may find what a later write has written, as
 * on a QP, where a fence prevents that.
 *
 * A refused request ends the lane, with everything after it, when what was asked before is
 * answered.
 */
#include "cm/conn.h"
#include "core/wire.h"
#include "lane/lane.h"
#include "lane/name.h"
#include "lane/queue.h"
#include "lane/ready.h"
#include "lane/serve.h"
#include "lane/window.h"
#include "mr/mr.h"
#include "mr/reach.h"

static bool krdma_lane_owes_results(const struct krdma_lane *lane)
{
	return lane->served.head != lane->served.tail;
}

/* Ends the lane, if something was refused and what was asked before is answered. */
static void krdma_lane_end_refused(struct krdma_lane *lane)
{
	if (!lane->served.refused || krdma_lane_owes_results(lane) || lane->broken)
		return;
	lane->broken = true;
	lane->close_reason = lane->served.refused;
	krdma_conn_advance(lane->conn, KRDMA_INPUT_FATAL, -EIO);
}

/**
 * krdma_lane_refuse() - Refuse a request or a message of the peer, and everything after it
 * @lane: the lane, attached
 * @reason: &enum krdma_lane_close_reason, other than 0
 *
 * The lane ends, and the trunk does not.
 *
 * Context: any but NMI, with the trunk's lock held.
 */
void krdma_lane_refuse(struct krdma_lane *lane, u8 reason)
{
	lockdep_assert_held(&lane->trunk->lock);

	lane->served.refused = reason;
	krdma_lane_end_refused(lane);
}

static int krdma_lane_refuse_access(struct krdma_lane *lane)
{
	krdma_lane_refuse(lane, KRDMA_LANE_CLOSE_ACCESS);
	return 0;
}

/* The receive that a write with immediate data completes. */
static void krdma_lane_complete_write(struct krdma_lane *lane, u32 imm)
{
	struct krdma_lane_wqe *wqe = krdma_lane_wqe_at(&lane->recv, lane->recv.next);

	wqe->received = lane->served.total;
	wqe->flags = KRDMA_WC_WITH_IMM | KRDMA_WC_WRITTEN;
	wqe->imm = imm;
	krdma_lane_recv_done(lane, KRDMA_WC_SUCCESS);
}

static int krdma_lane_serve_write(struct krdma_lane *lane, const struct krdma_lane_record *record)
{
	struct krdma_lane_served *served = &lane->served;
	bool first = record->flags & KRDMA_LANE_FIRST;
	bool last = record->flags & KRDMA_LANE_LAST;
	struct krdma_mr *mr;

	if (served->writing == first || lane->recv.begun)
		return -EPROTO;
	if (first) {
		served->writing = true;
		served->addr = record->addr;
		served->rkey = record->key;
		served->left = record->total;
		served->total = record->total;
	}
	if (last ? record->length != served->left : record->length >= served->left)
		return -EPROTO;
	if ((record->flags & KRDMA_LANE_IMM) && !krdma_lane_queued(&lane->recv))
		return -EPROTO;

	if (record->length) {
		/* All that is left, so nothing is written if the last byte may not be. */
		mr = krdma_mr_reach(lane->pd, served->rkey, served->addr, served->left,
				    KRDMA_ACCESS_REMOTE_WRITE);
		if (!mr)
			return krdma_lane_refuse_access(lane);
		krdma_mr_reach_write(mr, served->addr, record->data, record->length);
		krdma_mr_leave(mr);
	}
	served->addr += record->length;
	served->left -= record->length;
	if (!last)
		return 0;

	served->writing = false;
	served->writes++;
	krdma_trunk_add_ready(lane);
	if (record->flags & KRDMA_LANE_IMM)
		krdma_lane_complete_write(lane, record->value);
	return 0;
}

/* A place among the results that are to be sent, or NULL: the peer asks for more than it may. */
static struct krdma_lane_read *krdma_lane_next_read(struct krdma_lane *lane, bool atomic)
{
	struct krdma_lane_served *served = &lane->served;
	u32 place = served->tail % KRDMA_LANE_READS;

	if (served->writing || lane->recv.begun || served->tail - served->head == KRDMA_LANE_READS)
		return NULL;
	served->atomics &= ~BIT(place);
	if (atomic)
		served->atomics |= BIT(place);
	return &served->reads[place];
}

static int krdma_lane_serve_read(struct krdma_lane *lane, const struct krdma_lane_record *record)
{
	struct krdma_lane_read *read = krdma_lane_next_read(lane, false);
	struct krdma_mr *mr;

	if (!read)
		return -EPROTO;
	if (record->total) {
		mr = krdma_mr_reach(lane->pd, record->key, record->addr, record->total,
				    KRDMA_ACCESS_REMOTE_READ);
		if (!mr)
			return krdma_lane_refuse_access(lane);
		krdma_mr_leave(mr);
	}
	*read = (struct krdma_lane_read) {
		.addr = record->addr,
		.rkey = record->key,
		.left = record->total,
	};
	lane->served.tail++;
	krdma_trunk_add_ready(lane);
	return 0;
}

static int krdma_lane_serve_atomic(struct krdma_lane *lane, const struct krdma_lane_record *record)
{
	struct krdma_lane_read *read = krdma_lane_next_read(lane, true);
	struct krdma_mr *mr;

	if (!read)
		return -EPROTO;
	mr = krdma_mr_reach(lane->pd, record->key, record->addr, sizeof(u64),
			    KRDMA_ACCESS_REMOTE_ATOMIC);
	if (!mr)
		return krdma_lane_refuse_access(lane);
	*read = (struct krdma_lane_read) {
		.addr = krdma_mr_reach_atomic(mr, record->addr,
					      record->atomic == KRDMA_LANE_FETCH_ADD,
					      record->operand, record->swap),
		.left = sizeof(u64),
	};
	krdma_mr_leave(mr);
	lane->served.tail++;
	krdma_trunk_add_ready(lane);
	return 0;
}

/**
 * krdma_lane_serve() - Handle WRITE, READ, ATOMIC, NAME or ASK
 * @lane: the lane, attached and open, which has refused nothing so far
 * @record: the record
 *
 * Context: softirqs are off, with the trunk's lock held.
 * Return: 0, also if it is refused; -EPROTO: the peer violates the protocol.
 */
int krdma_lane_serve(struct krdma_lane *lane, const struct krdma_lane_record *record)
{
	lockdep_assert_held(&lane->trunk->lock);

	switch (record->type) {
	case KRDMA_LANE_WRITE:
		return krdma_lane_serve_write(lane, record);
	case KRDMA_LANE_READ:
		return krdma_lane_serve_read(lane, record);
	case KRDMA_LANE_NAME:
		return krdma_lane_serve_name(lane, record);
	case KRDMA_LANE_ASK:
		return krdma_lane_serve_ask(lane, record);
	default:
		return krdma_lane_serve_atomic(lane, record);
	}
}

/* The memory is not there any more. */
static void krdma_lane_refuse_results(struct krdma_lane *lane)
{
	lane->served.head = lane->served.tail;
	krdma_lane_refuse(lane, KRDMA_LANE_CLOSE_ACCESS);
}

/* Returns false if there is no room for the next result, or for a part of it. */
static bool krdma_lane_add_result(struct krdma_lane_writer *writer, struct krdma_lane *lane)
{
	struct krdma_lane_served *served = &lane->served;
	u32 place = served->head % KRDMA_LANE_READS;
	struct krdma_lane_read *read = &served->reads[place];
	struct krdma_lane_record record = {
		.type = KRDMA_LANE_RESULT,
		.flags = KRDMA_LANE_LAST,
		.lane = lane->number,
		.length = read->left,
	};
	bool atomic = served->atomics & BIT(place);
	struct krdma_mr *mr = NULL;
	u32 room;
	u8 *to;

	room = krdma_lane_frame_left(writer, record.type, record.flags);
	if (room == U32_MAX)
		return false;
	if (room < read->left) {
		if (atomic || room < KRDMA_LANE_PART_MIN)
			return false;
		record.flags = 0;
		record.length = room;
	}
	if (!atomic && read->left) {
		mr = krdma_mr_reach(lane->pd, read->rkey, read->addr, read->left,
				    KRDMA_ACCESS_REMOTE_READ);
		if (!mr) {
			krdma_lane_refuse_results(lane);
			return true;
		}
	}

	to = krdma_lane_frame_add(writer, &record);
	if (atomic)
		krdma_wire_put_le64(to, read->addr);
	if (mr) {
		krdma_mr_reach_read(mr, read->addr, to, record.length);
		krdma_mr_leave(mr);
		read->addr += record.length;
	}
	read->left -= record.length;
	if (record.flags & KRDMA_LANE_LAST)
		served->head++;
	return true;
}

/**
 * krdma_lane_add_done() - Add a record with the number of writes that are carried out
 * @writer: the frame
 * @lane: the lane
 *
 * Context: any but NMI, with the trunk's lock held.
 * Return: false: the frame is full.
 */
bool krdma_lane_add_done(struct krdma_lane_writer *writer, struct krdma_lane *lane)
{
	struct krdma_lane_served *served = &lane->served;
	struct krdma_lane_record record = {
		.type = KRDMA_LANE_DONE,
		.lane = lane->number,
		.value = served->writes,
	};

	if (!krdma_lane_owes_done(lane))
		return true;
	if (krdma_lane_frame_left(writer, record.type, 0) == U32_MAX)
		return false;
	krdma_lane_frame_add(writer, &record);
	served->writes_reported = served->writes;
	return true;
}

/**
 * krdma_lane_add_results() - Send what the peer has asked of a lane's memory
 * @writer: the frame
 * @lane: the lane, attached and open
 *
 * Context: any but NMI, with the trunk's lock held.
 * Return: false: the frame is full.
 */
bool krdma_lane_add_results(struct krdma_lane_writer *writer, struct krdma_lane *lane)
{
	lockdep_assert_held(&lane->trunk->lock);

	while (krdma_lane_owes_results(lane)) {
		if (!krdma_lane_add_result(writer, lane))
			return false;
	}
	krdma_lane_end_refused(lane);
	return true;
}
