// SPDX-License-Identifier: GPL-2.0
/*
 * The link of a trunk: its frames, and the records in them.
 *
 * Sending
 *
 * A lane that has something to send is in the trunk's list.  Who posts sends a frame at once, if
 * the trunk is not in use and can send; otherwise a completion of the link does, or the trunk's
 * work item.  Each of them takes the first lane of the list, puts into a frame what fits, and if
 * the frame is full, puts the lane at the end of the list.  So a lane that streams has no more than
 * a frame before each other lane has its turn.  Answers to the peer and questions come first: they
 * are few.
 *
 * Frames are granted by the receiver, and the last granted one is kept for a frame that only
 * grants, so both sides can always grant.  No more frames are granted than there is room for the
 * answers that they may ask for.
 *
 * Receiving
 *
 * The peer may be hostile.  krdma_lane_frame_read() checks each frame by itself; here records are
 * checked against the state of their lanes.  A violation ends the trunk.  Nothing that a peer
 * sends makes this side keep more than its lanes, which are limited, and its answers.
 *
 * Frames are read in softirq, by the completions of the link.  At an OPEN, which takes memory, the
 * completion stops, and the work item reads that frame and what has arrived since.
 */
#include <linux/err.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <net/net_namespace.h>
#include <rdma/ib_cm.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

#include "cm/conn.h"
#include "cm/listen.h"
#include "core/caps.h"
#include "core/resource.h"
#include "core/session.h"
#include "lane/lane.h"
#include "trace.h"

/* A part of a message that is not the last one is not shorter than this. */
#define KRDMA_LANE_PART_MIN	256

#define KRDMA_TRUNK_BYTES	(2 * KRDMA_TRUNK_FRAMES * KRDMA_LANE_FRAME_SIZE)

/*
 * Creation and end
 */

static u8 *krdma_link_frame(const struct krdma_trunk *trunk, u32 index)
{
	return trunk->buffers + index * KRDMA_LANE_FRAME_SIZE;
}

/* The receives have the second half of the frames. */
static int krdma_link_post_recv(struct krdma_trunk *trunk, u32 index)
{
	struct krdma_sge sge = {
		.mr = trunk->mr,
		.addr = (uintptr_t)krdma_link_frame(trunk, KRDMA_TRUNK_FRAMES + index),
		.length = KRDMA_LANE_FRAME_SIZE,
	};
	struct krdma_recv_wr wr = { .wr_id = index, .sges = &sge, .sge_count = 1 };
	int ret;

	ret = krdma_conn_post_recv(trunk->conn, &wr, 1);
	return ret < 0 ? ret : 0;
}

static int krdma_link_alloc(struct krdma_trunk *trunk)
{
	trunk->slots = kvzalloc_objs(*trunk->slots, KRDMA_TRUNK_FRAMES, GFP_KERNEL_ACCOUNT);
	trunk->answers = kvzalloc_objs(*trunk->answers, KRDMA_TRUNK_ANSWERS, GFP_KERNEL_ACCOUNT);
	trunk->buffers = kvzalloc(KRDMA_TRUNK_BYTES, GFP_KERNEL_ACCOUNT);
	if (!trunk->slots || !trunk->answers || !trunk->buffers)
		return -ENOMEM;
	for (u32 i = 0; i < KRDMA_TRUNK_FRAMES; i++) {
		trunk->slots[i].data = krdma_link_frame(trunk, i);
		list_add_tail(&trunk->slots[i].node, &trunk->free);
	}
	return 0;
}

/* What does not change while the trunk is up. */
static int krdma_link_read_path(struct krdma_trunk *trunk)
{
	struct krdma_conn *conn = trunk->conn;
	struct krdma_conn_info info;
	int ret = -ENOTCONN;

	krdma_conn_query(conn, &info);
	trunk->path_mtu = info.path_mtu;
	mutex_lock(&conn->cm_lock);
	if (conn->cm_id) {
		trunk->pads = krdma_cm_pads(conn->cm_id);
		ret = krdma_device_max_message(conn->dev, conn->cm_id->port_num,
					       &trunk->max_message);
	}
	krdma_conn_unlock(conn);
	/*
	 * siw makes its sockets in the network namespace of the thread that calls, and that of a
	 * worker is the initial one.
	 */
	if (!ret && !trunk->pads && trunk->key.net != &init_net)
		ret = -EOPNOTSUPP;
	return ret;
}

/* Completions of lanes are passed on inside those of the link. */
static struct lock_class_key krdma_link_poll_key;

static struct krdma_cq *krdma_link_create_cq(struct krdma_trunk *trunk)
{
	struct krdma_cq_attr attr = {
		/* With the markers of the end. */
		.depth = 2 * KRDMA_TRUNK_FRAMES + KRDMA_SEND_WQES + KRDMA_RECV_WQES,
		.where = KRDMA_CONTEXT_SOFTIRQ,
		.vector = -1,
		.session = trunk->session,
	};
	struct krdma_cq *cq;

	cq = krdma_cq_create(krdma_conn_device(trunk->conn), &attr);
	if (!IS_ERR(cq))
		lockdep_set_class(&cq->poll_lock, &krdma_link_poll_key);
	return cq;
}

/**
 * krdma_link_create() - Create the queues and the memory of a link
 * @trunk: the trunk, with a link that is resolved or requested
 *
 * Context: process context; may sleep.
 * Return: 0 or a negative errno; krdma_link_destroy() has to follow in any case.
 */
int krdma_link_create(struct krdma_trunk *trunk)
{
	struct krdma_conn_attr attr = {
		.send_depth = KRDMA_TRUNK_FRAMES,
		.recv_depth = KRDMA_TRUNK_FRAMES,
		.session = trunk->session,
	};
	int ret;

	ret = krdma_link_alloc(trunk) ?: krdma_link_read_path(trunk);
	if (ret)
		return ret;
	trunk->mr = krdma_mr_register(trunk->session, krdma_conn_device(trunk->conn),
				      trunk->buffers, KRDMA_TRUNK_BYTES,
				      KRDMA_ACCESS_LOCAL_WRITE);
	if (IS_ERR(trunk->mr)) {
		ret = PTR_ERR(trunk->mr);
		trunk->mr = NULL;
		return ret;
	}
	attr.cq = krdma_link_create_cq(trunk);
	if (IS_ERR(attr.cq))
		return PTR_ERR(attr.cq);
	ret = krdma_conn_create_qp(trunk->conn, &attr);
	/* The QP keeps it. */
	krdma_cq_put(attr.cq);
	for (u32 i = 0; i < KRDMA_TRUNK_FRAMES && !ret; i++)
		ret = krdma_link_post_recv(trunk, i);
	return ret;
}

/**
 * krdma_link_close() - Close the link
 * @trunk: the trunk, which is ending
 *
 * Context: process context; sleeps until no callback of the link runs.
 */
void krdma_link_close(struct krdma_trunk *trunk)
{
	if (trunk->conn)
		krdma_conn_close(trunk->conn);
}

/**
 * krdma_link_destroy() - Free the link and its memory
 * @trunk: the trunk, ended, with a closed link
 *
 * Context: process context; may sleep.
 */
void krdma_link_destroy(struct krdma_trunk *trunk)
{
	krdma_conn_put_sync(trunk->conn);
	/* All frames have completed. */
	if (trunk->mr)
		WARN_ON(krdma_mr_deregister(trunk->mr));
	INIT_LIST_HEAD(&trunk->free);
	kvfree(trunk->buffers);
	kvfree(trunk->answers);
	kvfree(trunk->slots);
	krdma_session_put(trunk->session);
}

/**
 * krdma_link_up() - Begin to exchange frames
 * @trunk: the trunk
 * @hello: the peer's greeting
 *
 * Context: process context, with the trunk's lock held.
 */
void krdma_link_up(struct krdma_trunk *trunk, const struct krdma_lane_hello *hello)
{
	lockdep_assert_held(&trunk->lock);

	trunk->frame_size = min_t(u32, hello->frame_size, KRDMA_LANE_FRAME_SIZE);
	trunk->peer_grant = hello->frames;
	trunk->granted = KRDMA_TRUNK_FRAMES;
	trunk->told_grant = KRDMA_TRUNK_FRAMES;
	trunk->lanes_max = min_t(u32, hello->lanes, KRDMA_TRUNK_LANES_MAX);
	if (trunk->state == KRDMA_TRUNK_CONNECTING)
		trunk->state = KRDMA_TRUNK_UP;
	trunk->was_up = true;
	trace_krdma_trunk(trunk->id, trunk->passive, true, 0);
}

/*
 * Sending
 */

static u32 krdma_link_answers(const struct krdma_trunk *trunk)
{
	return trunk->answer_tail - trunk->answer_head;
}

/* There is room: see krdma_link_grant(). */
static void krdma_link_answer(struct krdma_trunk *trunk, u8 type, u32 number, u8 value)
{
	/* Takes along what waits. */
	trunk->patient = 0;
	if (WARN_ON_ONCE(krdma_link_answers(trunk) == KRDMA_TRUNK_ANSWERS))
		return;
	trunk->answers[trunk->answer_tail % KRDMA_TRUNK_ANSWERS] = (struct krdma_trunk_answer) {
		.type = type, .number = number, .value = value,
	};
	/* krdma_link_has_left() reads it without the lock. */
	WRITE_ONCE(trunk->answer_tail, trunk->answer_tail + 1);
}

/**
 * krdma_link_has_left() - Check whether something that the caller has added may not be sent yet
 * @trunk: the trunk
 *
 * What others add is theirs, so no lock is needed.
 *
 * Context: any but NMI.
 * Return: true: krdma_link_send() is needed.
 */
bool krdma_link_has_left(const struct krdma_trunk *trunk)
{
	return !list_empty_careful(&trunk->ready) ||
	       READ_ONCE(trunk->answer_tail) != READ_ONCE(trunk->answer_head);
}

/**
 * krdma_link_tell_closed() - Have the peer told that a lane has ended, without the lane
 * @lane: the lane, of which everything else was sent
 *
 * The record goes with the answers to the peer, and the lane can be freed before it is sent.  What
 * the granted frames can ask for has room nevertheless.
 *
 * Context: any but NMI, with the trunk's lock held.
 * Return: false if there is no room.
 */
bool krdma_link_tell_closed(const struct krdma_lane *lane)
{
	struct krdma_trunk *trunk = lane->trunk;
	u32 kept = (trunk->granted - trunk->received) * KRDMA_LANE_RECORDS_MAX;
	u32 patient = trunk->patient;

	lockdep_assert_held(&trunk->lock);

	if (trunk->state != KRDMA_TRUNK_UP ||
	    KRDMA_TRUNK_ANSWERS - krdma_link_answers(trunk) <= kept)
		return false;
	krdma_link_answer(trunk, KRDMA_LANE_CLOSE, lane->number, lane->close_reason);
	trunk->patient = patient + 1;
	return true;
}

/* Grants as many frames as there is room for their answers. */
static void krdma_link_grant(struct krdma_trunk *trunk)
{
	u32 room = (KRDMA_TRUNK_ANSWERS - krdma_link_answers(trunk)) / KRDMA_LANE_RECORDS_MAX;
	u32 grant = trunk->received + min_t(u32, room, KRDMA_TRUNK_FRAMES);

	if ((s32)(grant - trunk->granted) > 0)
		trunk->granted = grant;
}

static void krdma_link_add_answers(struct krdma_trunk *trunk, struct krdma_lane_writer *writer)
{
	/* Those of one frame go together. */
	while (krdma_link_answers(trunk) && !trunk->begun) {
		const struct krdma_trunk_answer *answer;
		struct krdma_lane_record record = {};

		answer = &trunk->answers[trunk->answer_head % KRDMA_TRUNK_ANSWERS];
		if (krdma_lane_frame_room(writer, answer->type, 0) == U32_MAX)
			break;
		record.type = answer->type;
		record.lane = answer->number;
		record.value = answer->value;
		krdma_lane_frame_add(writer, &record);
		WRITE_ONCE(trunk->answer_head, trunk->answer_head + 1);
	}
	trunk->patient = min(trunk->patient, krdma_link_answers(trunk));
}

static void krdma_link_add_questions(struct krdma_trunk *trunk, struct krdma_lane_writer *writer)
{
	struct krdma_lane *lane;

	list_for_each_entry(lane, &trunk->finders, find_node) {
		struct krdma_lane_record record = { .type = KRDMA_LANE_FIND };

		if (lane->ticket)
			continue;
		if (krdma_lane_frame_room(writer, record.type, 0) == U32_MAX)
			return;
		/* 0 stands for none. */
		lane->ticket = ++trunk->last_ticket ?: ++trunk->last_ticket;
		record.lane = lane->ticket;
		record.value = lane->port;
		krdma_lane_frame_add(writer, &record);
	}
}

/* Is there room for a record with the lane's private data? */
static bool krdma_link_has_room(const struct krdma_lane_writer *writer,
				const struct krdma_lane *lane, u8 type)
{
	u32 room = krdma_lane_frame_room(writer, type, 0);

	return room != U32_MAX && room >= lane->data_len;
}

/* Tells the peer of the receives that are posted. */
static u32 krdma_link_advertise(struct krdma_lane *lane)
{
	u32 posted = READ_ONCE(lane->recv.tail);

	WRITE_ONCE(lane->advertised, posted);
	return posted;
}

static void krdma_link_fill_depths(struct krdma_lane *lane, struct krdma_lane_record *record)
{
	struct krdma_conn *conn = lane->conn;
	unsigned long flags;

	spin_lock_irqsave(&conn->state_lock, flags);
	record->read_depth = conn->read_depth;
	record->read_depth_in = conn->read_depth_in;
	spin_unlock_irqrestore(&conn->state_lock, flags);
}

/* Gives the lane its number.  The numbers on the wire have no gaps. */
static int krdma_link_number(struct krdma_trunk *trunk, struct krdma_lane *lane)
{
	u32 number = trunk->last_lane + 1;
	int ret;

	if (trunk->lane_count >= trunk->lanes_max)
		return -ECONNREFUSED;
	ret = xa_err(xa_store(&trunk->lanes, number, lane, GFP_ATOMIC));
	if (ret)
		return ret;
	trunk->last_lane = number;
	trunk->lane_count++;
	lane->number = number;
	lane->attached = true;
	return 0;
}

/* Each of these returns false if the frame is full. */
static bool krdma_link_add_open(struct krdma_trunk *trunk, struct krdma_lane_writer *writer,
				struct krdma_lane *lane)
{
	const struct sockaddr_in6 *local = &lane->conn->local;
	struct krdma_lane_record record = {
		.type = KRDMA_LANE_OPEN,
		.value = lane->port,
		.data = lane->data,
		.length = lane->data_len,
		.port = ntohs(local->sin6_port),
	};
	int ret;

	if (!test_bit(KRDMA_LANE_DUE_OPEN, &lane->due))
		return true;
	if (!krdma_link_has_room(writer, lane, record.type))
		return false;
	clear_bit(KRDMA_LANE_DUE_OPEN, &lane->due);
	ret = krdma_link_number(trunk, lane);
	if (ret) {
		krdma_lane_lost(lane, ret, 0);
		return true;
	}
	record.lane = lane->number;
	record.credits = krdma_link_advertise(lane);
	krdma_link_fill_depths(lane, &record);
	krdma_lane_frame_add(writer, &record);
	lane->stage = KRDMA_LANE_ASKED;
	return true;
}

static bool krdma_link_add_accept(struct krdma_lane_writer *writer, struct krdma_lane *lane)
{
	struct krdma_lane_record record = {
		.type = KRDMA_LANE_ACCEPT,
		.lane = lane->number,
		.data = lane->data,
		.length = lane->data_len,
	};

	if (!test_bit(KRDMA_LANE_DUE_ACCEPT, &lane->due))
		return true;
	if (!krdma_link_has_room(writer, lane, record.type))
		return false;
	clear_bit(KRDMA_LANE_DUE_ACCEPT, &lane->due);
	record.credits = krdma_link_advertise(lane);
	krdma_link_fill_depths(lane, &record);
	krdma_lane_frame_add(writer, &record);
	return true;
}

/* The last record of a lane. */
static bool krdma_link_add_end(struct krdma_lane_writer *writer, struct krdma_lane *lane)
{
	struct krdma_lane_record record = { .lane = lane->number };

	if (test_bit(KRDMA_LANE_DUE_REJECT, &lane->due)) {
		record.type = KRDMA_LANE_REJECT;
		record.data = lane->data;
		record.length = lane->data_len;
	} else if (test_bit(KRDMA_LANE_DUE_CLOSE, &lane->due)) {
		record.type = KRDMA_LANE_CLOSE;
		record.value = lane->close_reason;
	} else {
		return true;
	}
	if (krdma_lane_frame_room(writer, record.type, 0) == U32_MAX ||
	    krdma_lane_frame_room(writer, record.type, 0) < record.length)
		return false;
	krdma_lane_frame_add(writer, &record);
	lane->due = 0;
	return true;
}

/* A message of the lane is complete with this frame. */
static void krdma_link_note_sent(struct krdma_frame_slot *slot, struct krdma_lane *lane)
{
	struct krdma_frame_sent *last = slot->sent + slot->sent_count - 1;

	if (slot->sent_count && last->lane == lane) {
		last->count++;
		return;
	}
	krdma_conn_get(lane->conn);
	slot->sent[slot->sent_count++] = (struct krdma_frame_sent) { .lane = lane, .count = 1 };
}

/* Adds the next part of the message at the head of the queue. */
static bool krdma_link_add_part(struct krdma_lane_writer *writer, struct krdma_frame_slot *slot,
				struct krdma_lane *lane)
{
	struct krdma_lane_queue *queue = &lane->send;
	const struct krdma_lane_wqe *wqe = krdma_lane_wqe_at(queue, queue->next);
	u32 left = wqe->length - queue->offset;
	struct krdma_lane_record record = {
		.type = KRDMA_LANE_DATA,
		.lane = lane->number,
		.flags = KRDMA_LANE_LAST,
		.total = wqe->length,
		.length = left,
	};
	u32 room;

	if (!queue->begun) {
		record.flags |= KRDMA_LANE_FIRST;
		if (wqe->opcode == KRDMA_OP_SEND_IMM) {
			record.flags |= KRDMA_LANE_IMM;
			record.value = wqe->imm;
		}
	}
	room = krdma_lane_frame_room(writer, record.type, record.flags);
	if (room == U32_MAX)
		return false;
	if (room < left) {
		record.flags &= ~KRDMA_LANE_LAST;
		room = krdma_lane_frame_room(writer, record.type, record.flags);
		if (room == U32_MAX || room < KRDMA_LANE_PART_MIN)
			return false;
		record.length = min(room, left - 1);
	}
	record.credits = krdma_link_advertise(lane);
	queue->begun = true;
	krdma_lane_copy_sent(lane, krdma_lane_frame_add(writer, &record), record.length);
	if (record.flags & KRDMA_LANE_LAST) {
		queue->next++;
		queue->offset = 0;
		queue->begun = false;
		krdma_link_note_sent(slot, lane);
	}
	return true;
}

static bool krdma_link_may_send(const struct krdma_lane *lane)
{
	const struct krdma_lane_queue *queue = &lane->send;

	return krdma_lane_queued(queue) &&
	       (queue->begun || (s32)(lane->peer_credits - queue->next) > 0);
}

static bool krdma_link_add_messages(struct krdma_lane_writer *writer,
				    struct krdma_frame_slot *slot, struct krdma_lane *lane)
{
	struct krdma_lane_record record = { .type = KRDMA_LANE_CREDIT, .lane = lane->number };

	if (lane->stage != KRDMA_LANE_UP || lane->peer_closed || !lane->attached)
		return true;
	while (krdma_link_may_send(lane)) {
		if (!krdma_link_add_part(writer, slot, lane))
			return false;
	}
	if (!krdma_lane_owes_credits(lane))
		return true;
	if (krdma_lane_frame_room(writer, record.type, 0) == U32_MAX)
		return false;
	record.credits = krdma_link_advertise(lane);
	krdma_lane_frame_add(writer, &record);
	return true;
}

static void krdma_link_fill(struct krdma_trunk *trunk, struct krdma_lane_writer *writer,
			    struct krdma_frame_slot *slot)
{
	struct krdma_lane *lane;
	bool all = true;

	krdma_link_add_answers(trunk, writer);
	krdma_link_add_questions(trunk, writer);
	while (all) {
		lane = krdma_trunk_next_ready(trunk);
		if (!lane)
			return;
		all = krdma_link_add_open(trunk, writer, lane) &&
		      krdma_link_add_accept(writer, lane) &&
		      krdma_link_add_messages(writer, slot, lane) &&
		      krdma_link_add_end(writer, lane);
		if (!all)
			krdma_trunk_return_ready(lane);
		krdma_conn_put(lane->conn);
	}
}

static int krdma_link_post(struct krdma_trunk *trunk, struct krdma_frame_slot *slot, u32 length)
{
	struct krdma_sge sge = {
		.mr = trunk->mr,
		.addr = (uintptr_t)slot->data,
		.length = length,
	};
	struct krdma_send_wr wr = {
		.wr_id = slot - trunk->slots,
		.opcode = KRDMA_OP_SEND,
		.sges = &sge,
		.sge_count = 1,
	};
	int ret;

	ret = krdma_conn_post_send(trunk->conn, &wr, 1);
	return ret < 0 ? ret : 0;
}

static void krdma_link_forget_sent(struct krdma_frame_slot *slot)
{
	for (u32 i = 0; i < slot->sent_count; i++)
		krdma_conn_put(slot->sent[i].lane->conn);
	slot->sent_count = 0;
}

/* Has the peer to know of more frames?  Each frame tells it, too. */
static bool krdma_link_owes_grants(const struct krdma_trunk *trunk)
{
	return trunk->granted - trunk->told_grant >= KRDMA_TRUNK_FRAMES / 2;
}

/* False only if there is no record to send. */
static bool krdma_link_has_records(const struct krdma_trunk *trunk)
{
	return !list_empty(&trunk->ready) || !list_empty(&trunk->finders) ||
	       krdma_link_answers(trunk) > trunk->patient;
}

/* Sends a frame.  Returns false if there is none to send, or none can be sent. */
static bool krdma_link_send_frame(struct krdma_trunk *trunk)
{
	u32 credits = trunk->peer_grant - trunk->sent_frames;
	struct krdma_lane_writer writer;
	struct krdma_frame_slot *slot;
	u32 length;
	int ret;

	slot = list_first_entry_or_null(&trunk->free, struct krdma_frame_slot, node);
	if (!slot || !credits)
		return false;
	krdma_link_grant(trunk);
	if (!krdma_link_has_records(trunk) && !krdma_link_owes_grants(trunk))
		return false;
	krdma_lane_frame_begin(&writer, slot->data, trunk->frame_size);
	/* The last one is for grants. */
	if (credits > 1)
		krdma_link_fill(trunk, &writer, slot);
	/* There is room for more answers now. */
	krdma_link_grant(trunk);
	if (!writer.records && !krdma_link_owes_grants(trunk))
		return false;

	length = krdma_lane_frame_end(&writer, trunk->granted);
	ret = krdma_link_post(trunk, slot, length);
	if (ret) {
		krdma_link_forget_sent(slot);
		krdma_trunk_fail(trunk, ret == -ENOTCONN ? -ECONNRESET : ret);
		return false;
	}
	list_del(&slot->node);
	trunk->in_flight++;
	trunk->told_grant = trunk->granted;
	trunk->sent_frames++;
	return true;
}

static bool krdma_link_can_send(const struct krdma_trunk *trunk)
{
	/* The passive side cannot send before the link is established. */
	return trunk->state == KRDMA_TRUNK_UP && !trunk->link_over &&
	       READ_ONCE(trunk->conn->state) >= KRDMA_CONN_CONNECTED;
}

/**
 * krdma_link_send() - Send what is ready
 * @trunk: the trunk, in any state
 *
 * Context: any but NMI, with the trunk's lock held.
 */
void krdma_link_send(struct krdma_trunk *trunk)
{
	unsigned long flags;

	lockdep_assert_held(&trunk->lock);

	/* What is added from now on may be missed below. */
	if (trunk->served) {
		spin_lock_irqsave(&trunk->ready_lock, flags);
		trunk->served = false;
		spin_unlock_irqrestore(&trunk->ready_lock, flags);
	}
	if (!krdma_link_can_send(trunk))
		return;
	while (krdma_link_send_frame(trunk))
		;
}

/**
 * krdma_link_send_one() - Send one frame of what is ready
 * @trunk: the trunk, in any state
 *
 * Context: any but NMI, with the trunk's lock held.
 * Return: true if another frame can be sent.
 */
bool krdma_link_send_one(struct krdma_trunk *trunk)
{
	lockdep_assert_held(&trunk->lock);

	return krdma_link_can_send(trunk) && krdma_link_send_frame(trunk) &&
	       !list_empty(&trunk->ready) && !list_empty(&trunk->free) &&
	       trunk->peer_grant - trunk->sent_frames > 1;
}

/* A peer may close when it has a message, and another processor has the completion of the send. */
static void krdma_link_end_closed(struct krdma_lane *lane)
{
	if (!lane->peer_closed || lane->stage != KRDMA_LANE_UP ||
	    lane->send.done != lane->send.next)
		return;
	lane->stage = KRDMA_LANE_OVER;
	krdma_conn_advance(lane->conn, KRDMA_INPUT_CM_DISCONNECTED, -EPIPE);
}

/* A frame has completed. */
static void krdma_link_sent(struct krdma_trunk *trunk, const struct krdma_wc *wc)
{
	struct krdma_frame_slot *slot = &trunk->slots[wc->wr_id];

	if (wc->status != KRDMA_WC_SUCCESS && wc->status != KRDMA_WC_WR_FLUSH_ERR &&
	    !trunk->fail_status)
		trunk->fail_status = wc->status;
	for (u32 i = 0; i < slot->sent_count && !wc->status; i++) {
		struct krdma_lane *lane = slot->sent[i].lane;

		if (!lane->attached)
			continue;
		krdma_lane_sends_done(lane, slot->sent[i].count);
		krdma_link_end_closed(lane);
	}
	krdma_link_forget_sent(slot);
	list_add_tail(&slot->node, &trunk->free);
	trunk->in_flight--;
}

/*
 * Receiving.  Each of these functions returns 0, or a negative errno that ends the trunk.
 */

static int krdma_link_take_credits(struct krdma_lane *lane, u32 credits)
{
	if ((s32)(credits - lane->peer_credits) < 0)
		return -EPROTO;
	lane->peer_credits = credits;
	/* Who posts later finds them. */
	if (krdma_lane_queued(&lane->send))
		krdma_trunk_add_ready(lane);
	return 0;
}

static int krdma_link_find(struct krdma_trunk *trunk, const struct krdma_lane_record *record)
{
	struct krdma_listener *listener = krdma_lane_listener_get(trunk, record->value);

	krdma_link_answer(trunk, KRDMA_LANE_FOUND, record->lane,
			  listener ? KRDMA_LANE_LISTENER : KRDMA_LANE_NO_LISTENER);
	if (listener)
		krdma_listener_put(listener);
	return 0;
}

static int krdma_link_found(struct krdma_trunk *trunk, const struct krdma_lane_record *record)
{
	bool taken = record->value == KRDMA_LANE_LISTENER;
	struct krdma_lane *lane;

	list_for_each_entry(lane, &trunk->finders, find_node) {
		if (lane->ticket == record->lane) {
			list_del_init(&lane->find_node);
			krdma_trunk_learn(trunk, lane, taken);
			if (taken)
				krdma_lane_bind(lane);
			krdma_lane_found(lane, taken);
			krdma_trunk_set_timer(trunk);
			krdma_conn_put(lane->conn);
			return 0;
		}
	}
	/* The connection has ended meanwhile, or does not wait any more. */
	return 0;
}

static void krdma_link_fill_offer(struct krdma_trunk *trunk, struct krdma_lane *lane,
				  const struct krdma_lane_record *record,
				  struct krdma_conn_offer *offer)
{
	*offer = (struct krdma_conn_offer) {
		.dev = trunk->key.dev,
		.lower = &lane->lower,
		.attach = krdma_lane_attach,
		.local = trunk->key.local,
		.remote = trunk->key.remote,
		.data = record->data,
		.data_len = record->length,
		/* Never 0, as with requests of the connection manager. */
		.peer_serves = max_t(u8, record->read_depth_in, 1),
		.peer_reads = max_t(u8, record->read_depth, 1),
		.path_mtu = trunk->path_mtu,
	};
	/* At the same place for IPv4. */
	offer->local.sin6_port = htons(record->value);
	offer->remote.sin6_port = htons(record->port);
}

static struct krdma_lane *krdma_link_new_lane(struct krdma_trunk *trunk,
					      const struct krdma_lane_record *record)
{
	struct krdma_lane *lane;

	lane = krdma_lane_alloc();
	if (!lane)
		return NULL;
	lane->passive = true;
	krdma_trunk_get(trunk);
	lane->trunk = trunk;
	lane->number = record->lane;
	lane->peer_credits = record->credits;
	lane->lower.pads = trunk->pads;
	lane->lower.used = true;
	if (xa_err(xa_store_bh(&trunk->lanes, lane->number, lane, GFP_KERNEL))) {
		krdma_lane_free(lane);
		return NULL;
	}
	spin_lock_bh(&trunk->lock);
	lane->attached = true;
	trunk->lane_count++;
	spin_unlock_bh(&trunk->lock);
	return lane;
}

/* Offers a lane to a listener.  The end of a lane waits for @offer_lock. */
static bool krdma_link_offer(struct krdma_trunk *trunk, struct krdma_listener *listener,
			     const struct krdma_lane_record *record)
{
	struct krdma_conn_offer offer;
	struct krdma_lane *lane;
	struct mem_cgroup *old;
	bool offered;

	/* As for its connection, the group of the listener's creator pays. */
	old = set_active_memcg(listener->memcg);
	lane = krdma_link_new_lane(trunk, record);
	set_active_memcg(old);
	if (!lane)
		return false;
	krdma_link_fill_offer(trunk, lane, record, &offer);
	mutex_lock(&trunk->offer_lock);
	offered = !krdma_listener_offer(listener, &offer);
	mutex_unlock(&trunk->offer_lock);
	if (offered)
		return true;
	spin_lock_bh(&trunk->lock);
	xa_erase(&trunk->lanes, lane->number);
	trunk->lane_count--;
	spin_unlock_bh(&trunk->lock);
	krdma_lane_free(lane);
	return false;
}

/* Releases the trunk's lock meanwhile. */
static int krdma_link_open(struct krdma_trunk *trunk, const struct krdma_lane_record *record)
	__must_hold(&trunk->lock)
{
	u8 reason = KRDMA_LANE_REJECT_NO_LISTENER;
	struct krdma_listener *listener;
	bool offered = false;

	if (record->lane != trunk->last_lane + 1 || !record->lane)
		return -EPROTO;
	trunk->last_lane++;
	listener = krdma_lane_listener_get(trunk, record->value);
	if (listener) {
		reason = KRDMA_LANE_REJECT_FULL;
		if (trunk->lane_count < KRDMA_TRUNK_LANES_MAX) {
			spin_unlock_bh(&trunk->lock);
			offered = krdma_link_offer(trunk, listener, record);
			spin_lock_bh(&trunk->lock);
		}
		krdma_listener_put(listener);
	}
	if (!offered)
		krdma_link_answer(trunk, KRDMA_LANE_REJECT, record->lane, reason);
	return 0;
}

static int krdma_link_accepted(struct krdma_lane *lane, const struct krdma_lane_record *record)
{
	if (lane->stage == KRDMA_LANE_OVER)
		return 0;
	if (lane->stage != KRDMA_LANE_ASKED)
		return -EPROTO;
	lane->stage = KRDMA_LANE_UP;
	lane->peer_credits = record->credits;
	krdma_conn_limit_depths(lane->conn, record->read_depth_in, record->read_depth);
	krdma_conn_save_answer(lane->conn, record->data, record->length);
	krdma_conn_advance(lane->conn, KRDMA_INPUT_CM_ESTABLISHED, 0);
	/* Receives that were posted meanwhile. */
	krdma_trunk_add_ready(lane);
	return 0;
}

static int krdma_link_rejected(struct krdma_lane *lane, const struct krdma_lane_record *record)
{
	if (lane->stage == KRDMA_LANE_OVER)
		return 0;
	if (lane->stage != KRDMA_LANE_ASKED)
		return -EPROTO;
	lane->stage = KRDMA_LANE_OVER;
	if (record->value == KRDMA_LANE_REJECT_NO_LISTENER)
		krdma_trunk_forget_port(lane->trunk, lane->port);
	krdma_conn_save_answer(lane->conn, record->data, record->length);
	krdma_conn_save_reject(lane->conn, record->value == KRDMA_LANE_REJECT_NO_LISTENER ?
			       IB_CM_REJ_INVALID_SERVICE_ID : IB_CM_REJ_CONSUMER_DEFINED);
	krdma_conn_advance(lane->conn, KRDMA_INPUT_CM_REJECTED, 0);
	return 0;
}

static int krdma_link_closed(struct krdma_lane *lane, const struct krdma_lane_record *record)
{
	switch (lane->stage) {
	case KRDMA_LANE_NEW:
		/* The peer has given up. */
		lane->stage = KRDMA_LANE_OVER;
		krdma_conn_advance(lane->conn, KRDMA_INPUT_CM_REJECTED, 0);
		return 0;
	case KRDMA_LANE_ASKED:
		/* An active lane is rejected, not closed. */
		return -EPROTO;
	case KRDMA_LANE_UP:
		if (record->value == KRDMA_LANE_CLOSE_FAILED) {
			krdma_lane_lost(lane, -EIO, KRDMA_WC_REM_INV_REQ_ERR);
			return 0;
		}
		lane->peer_closed = true;
		krdma_link_end_closed(lane);
		return 0;
	default:
		return 0;
	}
}

/* The message is longer than its receive: the lane ends, and the trunk does not. */
static void krdma_link_break(struct krdma_lane *lane)
{
	lane->broken = true;
	lane->close_reason = KRDMA_LANE_CLOSE_FAILED;
	krdma_lane_recv_done(lane, KRDMA_WC_LOC_LEN_ERR);
	krdma_conn_advance(lane->conn, KRDMA_INPUT_FATAL, -EIO);
}

static int krdma_link_begin_message(struct krdma_lane *lane,
				    const struct krdma_lane_record *record)
{
	struct krdma_lane_queue *queue = &lane->recv;
	struct krdma_lane_wqe *wqe;

	/* Each message has a credit, and so a receive. */
	if (queue->begun || !krdma_lane_queued(queue))
		return -EPROTO;
	wqe = krdma_lane_wqe_at(queue, queue->next);
	WRITE_ONCE(queue->begun, true);
	queue->offset = 0;
	queue->total = record->total;
	wqe->received = record->total;
	wqe->flags = 0;
	if (record->flags & KRDMA_LANE_IMM) {
		wqe->flags = KRDMA_WC_WITH_IMM;
		wqe->imm = record->value;
	}
	if (record->total > wqe->length)
		krdma_link_break(lane);
	return 0;
}

static int krdma_link_received(struct krdma_lane *lane, const struct krdma_lane_record *record)
{
	struct krdma_lane_queue *queue = &lane->recv;
	int ret;

	if (lane->stage == KRDMA_LANE_OVER || lane->peer_closed || lane->broken)
		return 0;
	if (lane->stage != KRDMA_LANE_UP)
		return -EPROTO;
	ret = krdma_link_take_credits(lane, record->credits);
	if (!ret && (record->flags & KRDMA_LANE_FIRST))
		ret = krdma_link_begin_message(lane, record);
	if (ret || lane->broken)
		return ret;

	if (!queue->begun || record->length > queue->total - queue->offset)
		return -EPROTO;
	/* The last part, and no other one, completes the message. */
	if ((record->length == queue->total - queue->offset) !=
	    !!(record->flags & KRDMA_LANE_LAST))
		return -EPROTO;
	krdma_lane_copy_received(lane, record->data, record->length);
	if (record->flags & KRDMA_LANE_LAST)
		krdma_lane_recv_done(lane, KRDMA_WC_SUCCESS);
	/*
	 * The peer may have used its last credit.  Pairs with the barrier in
	 * krdma_lane_post_recv(): at least one of the two sides sees what the other has written.
	 */
	smp_mb();
	if (krdma_lane_owes_credits(lane))
		krdma_trunk_add_ready(lane);
	return 0;
}

static int krdma_link_credit(struct krdma_lane *lane, const struct krdma_lane_record *record)
{
	if (lane->stage == KRDMA_LANE_OVER || lane->peer_closed)
		return 0;
	return lane->stage == KRDMA_LANE_UP ? krdma_link_take_credits(lane, record->credits) :
					      -EPROTO;
}

/* Is the record one that this side of the link gets? */
static bool krdma_link_expects(const struct krdma_trunk *trunk, u8 type)
{
	switch (type) {
	case KRDMA_LANE_FIND:
	case KRDMA_LANE_OPEN:
		return trunk->passive;
	case KRDMA_LANE_FOUND:
	case KRDMA_LANE_ACCEPT:
	case KRDMA_LANE_REJECT:
		return !trunk->passive;
	default:
		return true;
	}
}

/* Also -EAGAIN: the record needs a caller that may sleep. */
static int krdma_link_record(struct krdma_trunk *trunk, const struct krdma_lane_record *record)
	__must_hold(&trunk->lock)
{
	struct krdma_lane *lane;

	/* Of a later version. */
	if (record->type >= KRDMA_LANE_OPTIONAL)
		return 0;
	if (!krdma_link_expects(trunk, record->type))
		return -EPROTO;
	if (record->type == KRDMA_LANE_FIND)
		return krdma_link_find(trunk, record);
	if (record->type == KRDMA_LANE_FOUND)
		return krdma_link_found(trunk, record);
	if (record->type == KRDMA_LANE_OPEN)
		return trunk->reading ? krdma_link_open(trunk, record) : -EAGAIN;

	if (!record->lane || record->lane > trunk->last_lane)
		return -EPROTO;
	lane = xa_load(&trunk->lanes, record->lane);
	/* It has ended here. */
	if (!lane)
		return 0;
	switch (record->type) {
	case KRDMA_LANE_ACCEPT:
		return krdma_link_accepted(lane, record);
	case KRDMA_LANE_REJECT:
		return krdma_link_rejected(lane, record);
	case KRDMA_LANE_CLOSE:
		return krdma_link_closed(lane, record);
	case KRDMA_LANE_DATA:
		return krdma_link_received(lane, record);
	case KRDMA_LANE_CREDIT:
		return krdma_link_credit(lane, record);
	default:
		return -EPROTO;
	}
}

static int krdma_link_begin_frame(struct krdma_trunk *trunk, const u8 *frame, u32 length)
{
	if (krdma_lane_frame_read(&trunk->reader, frame, length))
		return -EPROTO;
	if ((s32)(trunk->reader.grant - trunk->peer_grant) < 0)
		return -EPROTO;
	trunk->peer_grant = trunk->reader.grant;
	trunk->begun = true;
	return 0;
}

/* Reads the oldest frame that has arrived, or its rest. */
static int krdma_link_read(struct krdma_trunk *trunk, const struct krdma_frame_late *late)
	__must_hold(&trunk->lock)
{
	const u8 *frame = krdma_link_frame(trunk, KRDMA_TRUNK_FRAMES + late->index);
	struct krdma_lane_record record;
	struct krdma_lane_reader before;
	int ret = 0;

	if (!trunk->begun)
		ret = krdma_link_begin_frame(trunk, frame, late->length);
	while (!ret) {
		before = trunk->reader;
		if (!krdma_lane_frame_next(&trunk->reader, &record))
			break;
		ret = krdma_link_record(trunk, &record);
	}
	if (ret == -EAGAIN)
		trunk->reader = before;
	else
		trunk->begun = false;
	return ret;
}

/* Reads what has arrived, up to what needs a caller that may sleep. */
static void krdma_link_read_frames(struct krdma_trunk *trunk)
	__must_hold(&trunk->lock)
{
	int ret = 0;

	while (!ret && !trunk->violated && trunk->received != trunk->arrived) {
		const struct krdma_frame_late *late;

		late = &trunk->late[trunk->received % KRDMA_TRUNK_FRAMES];
		ret = krdma_link_read(trunk, late);
		if (ret)
			break;
		trunk->received++;
		/* If this fails, the link has ended. */
		krdma_link_post_recv(trunk, late->index);
	}
	if (ret == -EAGAIN) {
		krdma_trunk_kick(trunk);
	} else if (ret) {
		trunk->violated = true;
		krdma_trunk_fail(trunk, ret);
	}
}

/**
 * krdma_link_read_late() - Read what completions have left
 * @trunk: the trunk, in any state but the last one
 *
 * Context: process context, the trunk's work item; may sleep.
 */
void krdma_link_read_late(struct krdma_trunk *trunk)
{
	spin_lock_bh(&trunk->lock);
	trunk->reading = true;
	krdma_link_read_frames(trunk);
	trunk->reading = false;
	spin_unlock_bh(&trunk->lock);
}

/* A frame has arrived. */
static void krdma_link_arrived(struct krdma_trunk *trunk, const struct krdma_wc *wc)
{
	/* Flushed: the event follows. */
	if (wc->status != KRDMA_WC_SUCCESS || trunk->violated ||
	    (trunk->state != KRDMA_TRUNK_UP && trunk->state != KRDMA_TRUNK_ENDING))
		return;
	/* More than was granted: there may be no room for its answers. */
	if ((s32)(trunk->granted - trunk->arrived) <= 0) {
		trunk->violated = true;
		krdma_trunk_fail(trunk, -EPROTO);
		return;
	}
	trunk->late[trunk->arrived++ % KRDMA_TRUNK_FRAMES] = (struct krdma_frame_late) {
		.index = wc->wr_id, .length = wc->length,
	};
	/* Frames are read one after the other. */
	if (!trunk->reading && !trunk->begun)
		krdma_link_read_frames(trunk);
}

/**
 * krdma_link_complete() - Handle a completion of a link
 * @wc: the completion
 *
 * Context: softirq, or with softirqs off, with the poll lock of the link's CQ.
 */
void krdma_link_complete(const struct krdma_wc *wc)
{
	struct krdma_trunk *trunk = wc->context;

	spin_lock(&trunk->lock);
	WRITE_ONCE(trunk->served, true);
	if (wc->opcode == KRDMA_OP_RECV)
		krdma_link_arrived(trunk, wc);
	else
		krdma_link_sent(trunk, wc);
	krdma_link_send(trunk);
	/* It may have to end. */
	if (trunk->passive && !trunk->lane_count)
		krdma_trunk_kick(trunk);
	spin_unlock(&trunk->lock);
}
