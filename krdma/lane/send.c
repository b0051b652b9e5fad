// SPDX-License-Identifier: GPL-2.0
/*
 * The frames that a trunk sends, and the records in them.
 *
 * A lane that has something to send is in the trunk's list.  The thread that posts sends a frame at
 * once, if the trunk is not in use and can send; otherwise a completion of the link does, or the
 * trunk's work item.  Each of them takes the first lane of the list, puts into a frame what fits,
 * and if the frame is full, puts the lane at the end of the list, or back at its beginning if
 * nothing of it has found room.  So a lane that streams has no more than a frame before each other
 * lane has its turn.  Answers to the peer and questions come first: they are few.  Ends of lanes,
 * of which there can be many, do so in every other frame.
 *
 * Frames are granted by the receiver, and the last granted one is kept for a frame that only
 * grants, so both sides can always grant.  No more frames are granted than there is room for the
 * answers that they may ask for.
 */
#include <linux/slab.h>

#include "cm/conn.h"
#include "lane/ask.h"
#include "lane/direct.h"
#include "lane/early.h"
#include "lane/lane.h"
#include "lane/name.h"
#include "lane/queue.h"
#include "lane/ready.h"
#include "lane/send.h"
#include "lane/serve.h"
#include "lane/share.h"
#include "lane/trunk.h"
#include "lane/window.h"

/* Bytes that the device does for a lane in its turn. */
#define KRDMA_LINK_TURN		65536

/* Lanes that are looked at for a frame: a thread that posts has interrupts off. */
#define KRDMA_LINK_LOOKS	256

static u32 krdma_link_answers(const struct krdma_trunk *trunk)
{
	return trunk->answer_tail - trunk->answer_head;
}

/**
 * krdma_link_answer() - Answer the peer
 * @trunk: the trunk
 * @type: type of the record
 * @number: its lane, or question
 * @value: its value
 *
 * There is room for what a granted frame can ask for: see krdma_link_grant().
 *
 * Context: any but NMI, with the trunk's lock held; krdma_link_send() follows.
 */
void krdma_link_answer(struct krdma_trunk *trunk, u8 type, u32 number, u8 value)
{
	/* Takes along what waits. */
	trunk->patient = false;
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
	return !list_empty_careful(&trunk->ready) || READ_ONCE(trunk->end_count) ||
	       READ_ONCE(trunk->answer_tail) != READ_ONCE(trunk->answer_head);
}

/**
 * krdma_link_notify_closed() - Queue the record that a lane has ended, without the lane
 * @lane: the lane, attached, of which nothing else is sent
 * @type: type of the record: %KRDMA_LANE_CLOSE, or %KRDMA_LANE_REJECT if it was not accepted
 *
 * The end has the lane's place in the table, and the lane can be freed before it is sent.
 *
 * Context: any but NMI, with the trunk's lock held.
 */
void krdma_link_notify_closed(struct krdma_lane *lane, u8 type)
{
	u8 reason = type == KRDMA_LANE_CLOSE ? lane->close_reason : 0;
	struct krdma_trunk *trunk = lane->trunk;
	XA_STATE(xas, &trunk->lanes, lane->number);

	lockdep_assert_held(&trunk->lock);

	if (trunk->state != KRDMA_TRUNK_UP)
		return;
	xas_lock(&xas);
	/* Another entry for the same number takes no memory. */
	xas_store(&xas, xa_mk_value(type << BITS_PER_BYTE | reason));
	xas_set_mark(&xas, KRDMA_TRUNK_END);
	xas_unlock(&xas);
	lane->attached = false;
	if (!trunk->end_count)
		trunk->patient = true;
	/* krdma_link_has_left() reads it without the lock. */
	WRITE_ONCE(trunk->end_count, trunk->end_count + 1);
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
		if (krdma_lane_frame_left(writer, answer->type, 0) == U32_MAX)
			break;
		record.type = answer->type;
		record.lane = answer->number;
		record.value = answer->value;
		krdma_lane_frame_add(writer, &record);
		WRITE_ONCE(trunk->answer_head, trunk->answer_head + 1);
	}
}

/* Returns whether the frame is full. */
static bool krdma_link_add_ends(struct krdma_trunk *trunk, struct krdma_lane_writer *writer)
{
	XA_STATE(xas, &trunk->lanes, 0);
	bool full = false;
	void *end;

	if (!trunk->end_count)
		return false;
	xas_lock(&xas);
	xas_for_each_marked(&xas, end, ULONG_MAX, KRDMA_TRUNK_END) {
		struct krdma_lane_record record = {
			.type = xa_to_value(end) >> BITS_PER_BYTE,
			.lane = xas.xa_index,
			.value = (u8)xa_to_value(end),
		};

		full = krdma_lane_frame_left(writer, record.type, 0) == U32_MAX;
		if (full)
			break;
		krdma_lane_frame_add(writer, &record);
		xas_store(&xas, NULL);
		trunk->lane_count--;
		WRITE_ONCE(trunk->end_count, trunk->end_count - 1);
	}
	xas_unlock(&xas);
	return full;
}

static void krdma_link_add_questions(struct krdma_trunk *trunk, struct krdma_lane_writer *writer)
{
	struct krdma_lane *lane;

	while ((lane = list_first_entry_or_null(&trunk->unasked, struct krdma_lane, find_node))) {
		struct krdma_lane_record record = { .type = KRDMA_LANE_FIND };
		/* 0 stands for none. */
		u32 ticket = trunk->last_ticket + 1 ?: 1;

		if (krdma_lane_frame_left(writer, record.type, 0) == U32_MAX)
			return;
		/* Without memory it waits for the next frame, and not for ever. */
		if (xa_err(xa_store(&trunk->questions, ticket, lane, GFP_ATOMIC | __GFP_NOWARN)))
			return;
		trunk->last_ticket = ticket;
		lane->ticket = ticket;
		list_move_tail(&lane->find_node, &trunk->finders);
		record.lane = ticket;
		record.value = lane->port;
		krdma_lane_frame_add(writer, &record);
	}
}

/* Its private data are in the frame. */
static void krdma_link_drop_data(struct krdma_lane *lane)
{
	kfree(lane->data);
	lane->data = NULL;
	lane->data_len = 0;
}

/* Is there room for a record with the lane's private data? */
static bool krdma_link_fits(const struct krdma_lane_writer *writer,
			    const struct krdma_lane *lane, u8 type)
{
	u32 room = krdma_lane_frame_left(writer, type, 0);

	return room != U32_MAX && room >= lane->data_len;
}

/* Tells the peer of the receives that are posted, or that an SRQ has given. */
static u32 krdma_link_advertise(struct krdma_lane *lane)
{
	u32 posted = READ_ONCE(lane->recv.tail) + lane->yielded;

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
	record->shared = krdma_lane_srq(lane);
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

	if (!(lane->due & BIT(KRDMA_LANE_DUE_OPEN)))
		return true;
	if (!krdma_link_fits(writer, lane, record.type))
		return false;
	WRITE_ONCE(lane->due, lane->due & ~BIT(KRDMA_LANE_DUE_OPEN));
	ret = krdma_link_number(trunk, lane);
	if (ret) {
		krdma_lane_lost(lane, ret, 0);
		return true;
	}
	record.lane = lane->number;
	record.early = lane->early_max;
	record.credits = krdma_link_advertise(lane);
	krdma_link_fill_depths(lane, &record);
	krdma_lane_frame_add(writer, &record);
	krdma_link_drop_data(lane);
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

	if (!(lane->due & BIT(KRDMA_LANE_DUE_ACCEPT)))
		return true;
	if (!krdma_link_fits(writer, lane, record.type))
		return false;
	/* Pairs with krdma_lane_taker_given(): it sees this, or its receive is in the record. */
	smp_store_mb(lane->due, lane->due & ~BIT(KRDMA_LANE_DUE_ACCEPT));
	record.credits = krdma_link_advertise(lane);
	krdma_link_fill_depths(lane, &record);
	krdma_lane_frame_add(writer, &record);
	krdma_link_drop_data(lane);
	return true;
}

/* The last record of a lane. */
static bool krdma_link_add_end(struct krdma_trunk *trunk, struct krdma_lane_writer *writer,
			       struct krdma_lane *lane)
{
	struct krdma_lane_record record = { .lane = lane->number };

	if (lane->due & BIT(KRDMA_LANE_DUE_REJECT)) {
		record.type = KRDMA_LANE_REJECT;
		record.data = lane->data;
		record.length = lane->data_len;
	} else if (lane->due & BIT(KRDMA_LANE_DUE_CLOSE)) {
		/* What is done is done, whatever ends the lane. */
		if (!krdma_lane_add_done(writer, lane))
			return false;
		record.type = KRDMA_LANE_CLOSE;
		record.value = lane->close_reason;
	} else {
		return true;
	}
	if (krdma_lane_frame_left(writer, record.type, 0) == U32_MAX ||
	    krdma_lane_frame_left(writer, record.type, 0) < record.length)
		return false;
	krdma_lane_frame_add(writer, &record);
	WRITE_ONCE(lane->due, 0);
	trunk->unsent_answers--;
	return true;
}

/* A work request of the lane is complete with this frame. */
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

/* Adds the next work request of the lane, or its next part. */
static bool krdma_link_add_part(struct krdma_lane_writer *writer, struct krdma_frame_slot *slot,
				struct krdma_lane *lane)
{
	struct krdma_lane_queue *queue = &lane->send;
	struct krdma_lane_record record;
	bool has_data, last = true;
	u32 room;
	u8 *to;

	krdma_lane_fill_request(lane, &record);
	room = krdma_lane_frame_left(writer, record.type, record.flags);
	if (room == U32_MAX)
		return false;
	/* A read and an atomic have no parts. */
	has_data = record.flags & KRDMA_LANE_LAST;
	if (room < record.length) {
		u32 left = record.length;

		last = false;
		record.flags &= ~KRDMA_LANE_LAST;
		if (record.type == KRDMA_LANE_WRITE && (record.flags & KRDMA_LANE_IMM)) {
			record.flags &= ~KRDMA_LANE_IMM;
			record.value = 0;
		}
		room = krdma_lane_frame_left(writer, record.type, record.flags);
		if (room == U32_MAX || room < KRDMA_LANE_PART_MIN)
			return false;
		record.length = min(room, left - 1);
	}
	if (has_data)
		record.credits = krdma_link_advertise(lane);
	to = krdma_lane_frame_add(writer, &record);
	if (has_data) {
		queue->begun = true;
		krdma_lane_copy_sent(lane, to, record.length);
	}
	if (last) {
		krdma_lane_sent(lane);
		krdma_link_note_sent(slot, lane);
	}
	return true;
}

/* The first message, whole, if it may go before ACCEPT.  Returns false if the frame is full. */
static bool krdma_link_add_early(struct krdma_lane_writer *writer, struct krdma_frame_slot *slot,
				 struct krdma_lane *lane)
{
	u32 room;

	if (!krdma_lane_has_early(lane))
		return true;
	room = krdma_lane_frame_left(writer, KRDMA_LANE_DATA, KRDMA_LANE_FIRST | KRDMA_LANE_LAST);
	if (room == U32_MAX || room < krdma_lane_wqe_at(&lane->send, lane->send.next)->length)
		return false;
	lane->early_max = 0;
	return krdma_link_add_part(writer, slot, lane);
}

/* Is a work request of the lane complete with the frame? */
static bool krdma_link_has_sent(const struct krdma_frame_slot *slot, const struct krdma_lane *lane)
{
	for (u32 i = 0; i < slot->sent_count; i++) {
		if (slot->sent[i].lane == lane)
			return true;
	}
	return false;
}

/* What comes next for the messages of a lane. */
enum krdma_link_step {
	KRDMA_LINK_RECORD,		/* a record, if it may be sent */
	KRDMA_LINK_WAIT,		/* nothing: for the device, or for its turn */
	KRDMA_LINK_POST,		/* this frame, which comes before what the device does */
};

/* Returns false if the link accepts nothing. */
static bool krdma_link_post_part(struct krdma_lane *lane, struct krdma_peer_window *window,
				 u32 *turn)
{
	int ret = krdma_lane_post_direct(lane, window, turn);

	if (ret)
		krdma_trunk_fail(lane->trunk, krdma_link_post_error(lane->trunk, ret));
	return !ret;
}

static enum krdma_link_step krdma_link_post_direct(struct krdma_frame_slot *slot,
						   struct krdma_lane *lane, u32 *turn)
{
	struct krdma_peer_window *window;
	enum krdma_direct_way way;

	while ((way = krdma_lane_direct_way(lane, &window)) == KRDMA_DIRECT_NOW) {
		if (krdma_link_has_sent(slot, lane))
			return KRDMA_LINK_POST;
		if (!*turn) {
			krdma_trunk_add_ready(lane);
			krdma_lane_pass_place(lane);
			return KRDMA_LINK_WAIT;
		}
		if (!krdma_link_post_part(lane, window, turn))
			return KRDMA_LINK_WAIT;
	}
	if (way == KRDMA_DIRECT_WAIT)
		krdma_lane_direct_wait(lane);
	/* Another one may have made room for this lane. */
	krdma_lane_pass_place(lane);
	return way == KRDMA_DIRECT_WAIT ? KRDMA_LINK_WAIT : KRDMA_LINK_RECORD;
}

static enum krdma_link_step krdma_link_next_step(struct krdma_frame_slot *slot,
						 struct krdma_lane *lane, u32 *turn)
{
	return lane->direct ? krdma_link_post_direct(slot, lane, turn) : KRDMA_LINK_RECORD;
}

static bool krdma_link_add_messages(struct krdma_lane_writer *writer,
				    struct krdma_frame_slot *slot, struct krdma_lane *lane)
{
	struct krdma_lane_record record = { .type = KRDMA_LANE_CREDIT, .lane = lane->number };
	enum krdma_link_step step;
	u32 turn = KRDMA_LINK_TURN;

	while ((step = krdma_link_next_step(slot, lane, &turn)) == KRDMA_LINK_RECORD &&
	       krdma_lane_may_send(lane)) {
		if (!krdma_link_add_part(writer, slot, lane))
			return false;
	}
	if (step == KRDMA_LINK_POST)
		return false;
	if (lane->direct && !krdma_lane_add_ask(writer, lane))
		return false;
	if (!krdma_lane_add_want(writer, lane))
		return false;
	/* No message is taken any more after one that was refused. */
	if (lane->served.refused || !krdma_lane_owes_credits(lane))
		return true;
	if (krdma_lane_frame_left(writer, record.type, 0) == U32_MAX)
		return false;
	record.credits = krdma_link_advertise(lane);
	krdma_lane_frame_add(writer, &record);
	return true;
}

/* Are both sides of the lane open? */
static bool krdma_link_is_open(const struct krdma_lane *lane)
{
	return lane->stage == KRDMA_LANE_UP && !lane->peer_closed && lane->attached;
}

/*
 * Results for the peer, and the lane's own messages and requests.  Either may fill a frame, so they
 * take turns in being first.  The count of writes, names of MRs, RECALL and YIELD come before both.
 */
static bool krdma_link_add_both(struct krdma_lane_writer *writer, struct krdma_frame_slot *slot,
				struct krdma_lane *lane)
{
	bool results_last = lane->served.results_last;
	u32 before;
	bool all;

	if (!krdma_link_is_open(lane)) {
		/* It may have been given a place for a work request while it was open. */
		krdma_lane_pass_place(lane);
		return true;
	}
	if (!krdma_lane_add_done(writer, lane) || !krdma_lane_add_names(writer, lane) ||
	    !krdma_lane_add_recall(writer, lane) ||
	    (krdma_lane_owes_window(lane) && !krdma_lane_add_window(writer, lane)))
		return false;
	before = writer->records;
	if (results_last)
		all = krdma_link_add_messages(writer, slot, lane) &&
		      krdma_lane_add_results(writer, lane);
	else
		all = krdma_lane_add_results(writer, lane) &&
		      krdma_link_add_messages(writer, slot, lane);
	/* Without room for anything, it was no turn. */
	if (writer->records != before)
		lane->served.results_last = !results_last;
	return all;
}

static void krdma_link_fill(struct krdma_trunk *trunk, struct krdma_lane_writer *writer,
			    struct krdma_frame_slot *slot)
{
	struct krdma_lane *lane = NULL;
	bool all = true;
	bool ends_last;

	krdma_link_add_answers(trunk, writer);
	ends_last = trunk->ends_last;
	trunk->ends_last = !ends_last && krdma_link_add_ends(trunk, writer);
	krdma_link_add_questions(trunk, writer);
	if (!krdma_trunk_add_revokes(trunk, writer) || !krdma_trunk_add_revoked(trunk, writer))
		return;
	for (u32 looks = 0; looks < KRDMA_LINK_LOOKS && all; looks++) {
		u32 before = writer->records;

		lane = krdma_trunk_next_ready(trunk);
		if (!lane)
			break;
		all = krdma_link_add_open(trunk, writer, lane) &&
		      krdma_link_add_early(writer, slot, lane) &&
		      krdma_link_add_accept(writer, lane) &&
		      krdma_link_add_both(writer, slot, lane) &&
		      krdma_link_add_end(trunk, writer, lane);
		if (!all)
			krdma_trunk_return_ready(lane, writer->records != before);
		krdma_conn_put(lane->conn);
	}
	if (ends_last)
		krdma_link_add_ends(trunk, writer);
	/* The next ones may have something to send.  If this frame is sent, another one follows. */
	if (lane && !writer->records)
		krdma_trunk_schedule(trunk);
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

/**
 * krdma_link_post_error() - Get the reason why a link accepts nothing
 * @trunk: the trunk
 * @error: errno of the call that posts
 *
 * If the link has ended, its event, which says why, may come later.
 *
 * Context: any.
 * Return: the reason, a negative errno.
 */
int krdma_link_post_error(const struct krdma_trunk *trunk, int error)
{
	return error == -ENOTCONN ? READ_ONCE(trunk->conn->error) ?: -ECONNRESET : error;
}

static void krdma_link_forget_sent(struct krdma_frame_slot *slot)
{
	for (u32 i = 0; i < slot->sent_count; i++)
		krdma_conn_put(slot->sent[i].lane->conn);
	slot->sent_count = 0;
}

/* Has the peer to know of more frames?  Each frame has their number, too. */
static bool krdma_link_owes_grants(const struct krdma_trunk *trunk)
{
	return trunk->granted - trunk->sent_grant >= KRDMA_TRUNK_FRAMES / 2;
}

/* False only if there is no record to send. */
static bool krdma_link_has_records(const struct krdma_trunk *trunk)
{
	return !list_empty(&trunk->ready) || !list_empty(&trunk->unasked) ||
	       !list_empty(&trunk->revokes) || !list_empty(&trunk->revoked) ||
	       krdma_link_answers(trunk) || (trunk->end_count && !trunk->patient);
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
		krdma_trunk_fail(trunk, krdma_link_post_error(trunk, ret));
		return false;
	}
	list_del(&slot->node);
	trunk->in_flight++;
	trunk->sent_grant = trunk->granted;
	trunk->sent_frames++;
	return true;
}

static bool krdma_link_can_send(const struct krdma_trunk *trunk)
{
	/* The passive side cannot send before the link is established. */
	return trunk->state == KRDMA_TRUNK_UP && !trunk->link_over &&
	       READ_ONCE(trunk->conn->state) == KRDMA_CONN_CONNECTED;
}

/**
 * krdma_link_send() - Send what is ready
 * @trunk: the trunk, in any state
 *
 * Context: any but NMI, with the trunk's lock held.
 */
void krdma_link_send(struct krdma_trunk *trunk)
{
	lockdep_assert_held(&trunk->lock);

	/* What is added from now on may be missed below. */
	krdma_trunk_end_served(trunk);
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

/**
 * krdma_link_post_now() - Have the device do what a lane has posted, without a turn
 * @lane: the lane, with @direct
 *
 * Most work requests of the device are alone, and need no frame.  Those of a lane that is in the
 * list, or behind another one, wait for their turn.
 *
 * Context: any but NMI, with the trunk's lock held.
 * Return: true: those were all work requests; false: some may be left, for the lane's turn.
 */
bool krdma_link_post_now(struct krdma_lane *lane)
{
	struct krdma_trunk *trunk = lane->trunk;
	struct krdma_peer_window *window;
	u32 turn = KRDMA_LINK_TURN;

	lockdep_assert_held(&trunk->lock);

	/* What others add meanwhile comes later. */
	if (!list_empty_careful(&trunk->ready) || !krdma_link_is_open(lane) ||
	    !krdma_link_can_send(trunk))
		return false;
	while (turn && krdma_lane_direct_way(lane, &window) == KRDMA_DIRECT_NOW) {
		if (!krdma_link_post_part(lane, window, &turn))
			return true;
	}
	return !krdma_lane_queued(&lane->send);
}

/**
 * krdma_link_probe() - Send a frame, if one can be sent, though there is nothing to send
 * @trunk: the trunk, in any state
 *
 * The frame has the number of granted frames, which the peer may know already.
 *
 * Context: any but NMI, with the trunk's lock held.
 */
void krdma_link_probe(struct krdma_trunk *trunk)
{
	trunk->sent_grant = trunk->granted - KRDMA_TRUNK_FRAMES / 2;
	krdma_link_send(trunk);
}

/**
 * krdma_link_end_closed() - End a lane that the peer has closed
 * @lane: the lane, in any stage
 *
 * A peer may close when it has a message, and another processor has the completion of the send.
 * Then this waits for krdma_link_sent().
 *
 * Context: any but NMI, with the trunk's lock held.
 */
void krdma_link_end_closed(struct krdma_lane *lane)
{
	if (!lane->peer_closed || lane->stage != KRDMA_LANE_UP || krdma_lane_awaits_ack(lane))
		return;
	if (lane->peer_status) {
		/* A whole message that did not fit has arrived, and is not what failed. */
		bool arrived = lane->peer_status == KRDMA_WC_REM_INV_REQ_ERR &&
			       lane->send.done != lane->send.next;

		krdma_lane_lost(lane, -EIO, arrived ? 0 : lane->peer_status);
		return;
	}
	lane->stage = KRDMA_LANE_OVER;
	krdma_conn_advance(lane->conn, KRDMA_INPUT_CM_DISCONNECTED, -EPIPE);
}

/**
 * krdma_link_sent() - A frame has completed
 * @trunk: the trunk
 * @wc: the completion of its send
 *
 * Context: softirqs are off, with the trunk's lock held.
 */
void krdma_link_sent(struct krdma_trunk *trunk, const struct krdma_wc *wc)
{
	struct krdma_frame_slot *slot = &trunk->slots[wc->wr_id];

	if (wc->status != KRDMA_WC_SUCCESS && wc->status != KRDMA_WC_WR_FLUSH_ERR &&
	    !trunk->fail_status)
		trunk->fail_status = wc->status;
	for (u32 i = 0; i < slot->sent_count && !wc->status; i++) {
		struct krdma_lane *lane = slot->sent[i].lane;

		if (!lane->attached)
			continue;
		lane->asked.acked += slot->sent[i].count;
		krdma_lane_complete_sent(lane);
		krdma_link_end_closed(lane);
	}
	krdma_link_forget_sent(slot);
	list_add_tail(&slot->node, &trunk->free);
	trunk->in_flight--;
}
