// SPDX-License-Identifier: GPL-2.0
/*
 * Lanes: the first message, which may go before the lane is accepted, with a peer that speaks the
 * protocol of trunks by itself.
 *
 * The peer is a stranger that sends such messages, or a host that gets them.
 */
#include <linux/err.h>
#include <linux/in.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "fixture.h"
#include "lanes.h"
#include "windows.h"

/* The longest message that may go early, in bytes, and the room of each receive. */
#define EARLY_MAX	992
#define EARLY_ROOM	1024
/* The first half of the lane's memory is for receives, and the second one for sends. */
#define EARLY_SENT	(WINDOW_MEMORY / 2)
/* The same for each message of a peer. */
#define EARLY_SEED	5

/* Immediate data. */
#define EARLY_IMM	0xa1a2a3a4

static const struct krdma_conn_attr early_attr = {
	.send_depth = 4, .recv_depth = 4, .where = KRDMA_CONTEXT_SOFTIRQ,
};

/*
 * A stranger, and a listener here
 */

static void early_unlink(struct windows *peer)
{
	core_end_close(&peer->lane);
	peer->lane.event_count = 0;
	peer->lane.told = 0;
	peer->lane.sends->head = peer->lane.sends->tail;
	peer->lane.recv_wrs->head = peer->lane.recv_wrs->tail;
	if (peer->stranger)
		lane_stranger_close(peer->stranger);
	peer->stranger = NULL;
}

/* Another link, without lanes. */
static bool early_link(struct windows *peer)
{
	early_unlink(peer);
	peer->grant = LANE_FRAMES;
	peer->frames = 0;
	peer->told = 0;
	peer->at = peer->length;
	peer->stranger = lane_stranger_open(peer->test, lane_hello, sizeof(lane_hello));
	return peer->stranger && CORE_EQ(peer->test, 0, krdma_conn_wait(peer->stranger->end.conn,
									CORE_TIMEOUT_MS));
}

static struct windows *early_begin(struct core_test *test)
{
	struct windows *peer = kzalloc_obj(*peer, GFP_KERNEL);

	if (!CORE_TRUE(test, peer))
		return NULL;
	peer->test = test;
	peer->pair = lane_open(test);
	if (core_end_init(&peer->lane, test, NULL) && peer->pair &&
	    core_buffer_make(test, &peer->memory, peer->pair->server_session, WINDOW_MEMORY,
			     KRDMA_ACCESS_LOCAL_WRITE) &&
	    early_link(peer))
		return peer;
	windows_close(peer);
	return NULL;
}

/* A message of at most @early bytes may follow. */
static u32 early_add_open(struct windows *peer, u32 used, u32 lane, u16 early)
{
	u8 *frame = peer->stranger->from.data;

	used = lane_add(peer->stranger, used, OPEN, 0, lane, lane_port_of(peer->pair));
	frame[used - 2] = early & 0xff;
	frame[used - 1] = early >> 8;
	return used;
}

/* A part of a message, or all of it. */
static u32 early_add_data(struct windows *peer, u32 used, u32 lane, u8 flags, u16 length)
{
	u8 *data = peer->stranger->from.data + LANE_FRAME;

	core_fill(data, length, EARLY_SEED);
	return lane_add_body(peer->stranger, used, DATA, flags, lane, flags & IMM ? EARLY_IMM : 0,
			     data, length);
}

/* OPEN and the message, in one frame. */
static u32 early_ask(struct windows *peer, u32 lane, u8 imm, u16 length)
{
	u32 used = lane_begin(peer->stranger);

	used = early_add_open(peer, used, lane, EARLY_MAX);
	return early_add_data(peer, used, lane, FIRST | LAST | imm, length);
}

/* Takes the next request of the listener. */
static bool early_take_with(struct windows *peer, const struct krdma_conn_attr *attr)
{
	peer->lane.conn = krdma_listener_next(peer->pair->listener, &core_ops, &peer->lane,
					      CORE_TIMEOUT_MS);
	return CORE_OK_PTR(peer->test, peer->lane.conn) &&
	       CORE_EQ(peer->test, 0, krdma_conn_create_qp(peer->lane.conn, attr));
}

static bool early_take(struct windows *peer)
{
	return early_take_with(peer, &early_attr);
}

static bool early_accept(struct windows *peer)
{
	return CORE_EQ(peer->test, 0,
		       krdma_conn_accept(peer->lane.conn, &(struct krdma_conn_param) {}));
}

static void early_drop(struct windows *peer)
{
	core_end_close(&peer->lane);
	peer->lane.event_count = 0;
}

static void early_clear(struct windows *peer, u64 wr_id)
{
	memset(peer->memory.data + wr_id * EARLY_ROOM, 0xee, EARLY_ROOM);
}

static void early_receive(struct windows *peer, u64 wr_id)
{
	early_clear(peer, wr_id);
	CORE_EQ(peer->test, 1, core_receive(&peer->lane, wr_id, &peer->memory, wr_id * EARLY_ROOM,
					    EARLY_ROOM));
}

static void early_arrives(struct windows *peer, u64 wr_id, u8 imm, u32 length)
{
	const u8 *data = peer->memory.data + wr_id * EARLY_ROOM;
	struct krdma_wc wc = {};

	core_expect_receive(&peer->lane, wr_id, KRDMA_WC_SUCCESS, length, &wc);
	CORE_EQ(peer->test, imm ? KRDMA_WC_WITH_IMM : 0, wc.flags);
	if (imm)
		CORE_EQ(peer->test, EARLY_IMM, wc.imm);
	CORE_TRUE(peer->test, core_filled(data, length, EARLY_SEED));
	CORE_TRUE(peer->test, !memchr_inv(data + length, 0xee, EARLY_ROOM - length));
}

/* The next record of @type for @lane; those before it do not matter. */
static const u8 *early_await(struct windows *peer, u8 type, u32 lane)
{
	const u8 *record;

	do {
		record = windows_next(peer, CORE_TIMEOUT_MS);
	} while (record && (record[0] != type || lane_get(record + 4) != lane));
	core_check(peer->test, record, __func__, __LINE__, "there is no record %u of lane %u",
		   type, lane);
	return record;
}

/* Waits until the peer knows of as many receives. */
static void early_await_credits(struct windows *peer, u32 lane, u32 credits)
{
	const u8 *record;

	do {
		record = early_await(peer, CREDIT, lane);
	} while (record && lane_get(record + 8) < credits);
}

/* The message needs no further frame, whatever its length. */
/* Proves: F14 */
static void lane_early_arrives(struct core_test *test)
{
	static const u16 lengths[] = { 0, 1, 8, 991, EARLY_MAX };
	struct windows *peer = early_begin(test);
	const u8 *record;

	for (u32 i = 0; peer && i < 4 * ARRAY_SIZE(lengths) && !test->failures; i++) {
		u16 length = lengths[i / 4];
		u8 imm = i % 2 ? IMM : 0;

		windows_post(peer, early_ask(peer, i + 1, imm, length));
		if (!early_take(peer))
			break;
		core_expect_nothing(&peer->lane);
		/* The receive comes first, or last. */
		if (i & 2)
			early_receive(peer, 1);
		early_accept(peer);
		record = early_await(peer, ACCEPT, i + 1);
		if (record)
			CORE_EQ(test, i & 2 ? 1 : 0, lane_get(record + 8));
		if (!(i & 2)) {
			core_expect_nothing(&peer->lane);
			early_receive(peer, 1);
		}
		early_arrives(peer, 1, imm, length);
		core_expect_nothing(&peer->lane);
		early_drop(peer);
		early_await(peer, CLOSE, i + 1);
	}
	if (peer)
		windows_close(peer);
}

/* A frame that is sent without waiting for anything. */
static void early_post_at_once(struct windows *peer, u32 used)
{
	struct lane_stranger *stranger = peer->stranger;
	u8 *data = stranger->from.data;

	data[4] = used & 0xff;
	data[5] = used >> 8;
	lane_put(data + 8, peer->grant + peer->frames);
	CORE_EQ(peer->test, 1, core_send(&stranger->end, 99, &stranger->from, 0, used, 0));
}

/* A second message uses the second receive, also if it comes before the first one has its own. */
static void early_follows(struct windows *peer, u32 lane, bool at_once)
{
	struct core_end *end = &peer->stranger->end;
	u32 used;

	windows_post(peer, early_ask(peer, lane, IMM, 100));
	if (!early_take(peer) || !early_accept(peer))
		return;
	early_await(peer, ACCEPT, lane);
	core_expect_nothing(&peer->lane);
	used = early_add_data(peer, lane_begin(peer->stranger), lane, FIRST | LAST, 200);
	if (at_once) {
		early_receive(peer, 1);
		early_receive(peer, 2);
		early_post_at_once(peer, used);
		core_expect_send(end, 99, KRDMA_WC_SUCCESS);
	} else {
		early_receive(peer, 1);
		early_await_credits(peer, lane, 1);
		early_receive(peer, 2);
		early_await_credits(peer, lane, 2);
		windows_post(peer, early_add_data(peer, lane_begin(peer->stranger), lane,
						  FIRST | LAST, 200));
	}
	early_arrives(peer, 1, IMM, 100);
	early_arrives(peer, 2, 0, 200);
	/* Nothing of that is kept. */
	early_receive(peer, 3);
	early_await_credits(peer, lane, 3);
	core_expect_nothing(&peer->lane);
	windows_post(peer, early_add_data(peer, lane_begin(peer->stranger), lane, FIRST | LAST,
					  8));
	early_arrives(peer, 3, 0, 8);
	early_drop(peer);
}

/* Opens a lane that has nothing to do with the first message of another one. */
static bool early_open_beside(struct windows *peer, struct core_end *beside, u32 lane,
			      const struct krdma_conn_attr *attr)
{
	struct core_test *test = peer->test;

	if (!core_end_init(beside, test, NULL))
		return false;
	windows_say(peer, OPEN, lane, lane_port_of(peer->pair));
	beside->conn = krdma_listener_next(peer->pair->listener, &core_ops, beside,
					   CORE_TIMEOUT_MS);
	return CORE_OK_PTR(test, beside->conn) &&
	       CORE_EQ(test, 0, krdma_conn_create_qp(beside->conn, attr)) &&
	       CORE_EQ(test, 0, krdma_conn_accept(beside->conn, &(struct krdma_conn_param) {})) &&
	       early_await(peer, ACCEPT, lane);
}

static void early_close_beside(struct core_end *beside)
{
	core_end_close(beside);
	core_end_free(beside);
}

/* A completion of one lane posts the receives of the other one. */
static void early_receive_two(struct core_end *end, const struct krdma_wc *wc)
{
	struct windows *peer = end->context;

	if (wc->status != KRDMA_WC_SUCCESS)
		return;
	early_receive(peer, 1);
	early_receive(peer, 2);
}

/* The receives are posted while the frame with the second message is read. */
static void early_follows_in_frame(struct windows *peer, u32 lane)
{
	struct core_end beside = { .complete = early_receive_two, .context = peer };
	u32 used;

	if (!early_open_beside(peer, &beside, lane, &early_attr))
		goto out;
	CORE_EQ(peer->test, 1, core_receive_empty(&beside, 0));
	windows_post(peer, early_ask(peer, lane + 1, IMM, 100));
	if (!early_take(peer) || !early_accept(peer))
		goto out;
	early_await(peer, ACCEPT, lane + 1);
	used = lane_begin(peer->stranger);
	used = lane_add(peer->stranger, used, DATA, FIRST | LAST, lane, 0);
	used = early_add_data(peer, used, lane + 1, FIRST | LAST, 200);
	windows_post(peer, used);
	early_arrives(peer, 1, IMM, 100);
	early_arrives(peer, 2, 0, 200);
	early_drop(peer);
out:
	early_close_beside(&beside);
}

/* Messages arrive in their order. */
/* Proves: F14 */
static void lane_early_comes_first(struct core_test *test)
{
	struct windows *peer = early_begin(test);

	if (!peer)
		return;
	for (u32 i = 0; i < 4 && !test->failures; i++)
		early_follows(peer, i + 1, i % 2);
	for (u32 i = 0; i < 4 && !test->failures; i++)
		early_follows_in_frame(peer, 2 * i + 5);
	windows_close(peer);
}

/* The message may come when the lane is accepted, with receives and without. */
/* Proves: F14 */
static void lane_early_comes_late(struct core_test *test)
{
	struct windows *peer = early_begin(test);
	struct lane_stranger *stranger;

	for (u32 i = 0; peer && i < 4 && !test->failures; i++) {
		bool waits = i % 2;

		stranger = peer->stranger;
		windows_post(peer, early_add_open(peer, lane_begin(stranger), i + 1, 100));
		if (!early_take(peer))
			break;
		if (!waits)
			early_receive(peer, 1);
		early_accept(peer);
		early_await(peer, ACCEPT, i + 1);
		windows_post(peer, early_add_data(peer, lane_begin(stranger), i + 1, FIRST | LAST,
						  100));
		if (waits) {
			core_expect_nothing(&peer->lane);
			early_receive(peer, 1);
		}
		early_arrives(peer, 1, 0, 100);
		early_receive(peer, 2);
		early_await_credits(peer, i + 1, 2);
		/* A later one may be longer. */
		windows_post(peer, early_add_data(peer, lane_begin(stranger), i + 1, FIRST | LAST,
						  EARLY_MAX));
		early_arrives(peer, 2, 0, EARLY_MAX);
		core_expect_nothing(&peer->lane);
		early_drop(peer);
	}
	if (peer)
		windows_close(peer);
}

static void early_receive_shared(struct windows *peer, struct krdma_srq *srq, u64 wr_id)
{
	struct krdma_sge sge = core_sge(&peer->memory, wr_id * EARLY_ROOM, EARLY_ROOM);
	struct krdma_recv_wr wr = { .wr_id = wr_id, .sges = &sge, .sge_count = 1 };

	early_clear(peer, wr_id);
	CORE_EQ(peer->test, 1, krdma_srq_post_recv(srq, &wr, 1));
}

/* The message takes a receive of an SRQ that has one, or later has one. */
static void early_shares(struct windows *peer, const struct krdma_conn_attr *attr)
{
	for (u32 i = 0; i < 6 && !peer->test->failures; i++) {
		windows_post(peer, early_ask(peer, i + 1, IMM, 100));
		if (!early_take_with(peer, attr))
			return;
		if (i % 3 == 0)
			early_receive_shared(peer, attr->srq, 1);
		early_accept(peer);
		if (i % 3 == 1)
			core_expect_nothing(&peer->lane);
		if (i % 3)
			early_receive_shared(peer, attr->srq, 1);
		early_arrives(peer, 1, IMM, 100);
		core_expect_nothing(&peer->lane);
		early_drop(peer);
		early_await(peer, CLOSE, i + 1);
	}
}

/* The only receive is that of another lane, whose peer does not need it. */
static void early_recalls(struct windows *peer, const struct krdma_conn_attr *attr, u32 lane)
{
	struct core_end beside = {};

	early_receive_shared(peer, attr->srq, 1);
	if (early_open_beside(peer, &beside, lane, attr)) {
		windows_post(peer, early_ask(peer, lane + 1, IMM, 100));
		if (early_take_with(peer, attr))
			early_accept(peer);
		early_await(peer, RECALL, lane);
		core_expect_nothing(&peer->lane);
		windows_say(peer, YIELD, lane, 1);
		early_arrives(peer, 1, IMM, 100);
		early_drop(peer);
	}
	early_close_beside(&beside);
}

/* A listener whose lanes take receives of an SRQ. */
/* Proves: F16 */
static void lane_early_takes_shared(struct core_test *test)
{
	struct krdma_srq_attr shared = { .depth = 4, .lanes = true };
	struct krdma_conn_attr attr = { .send_depth = 4 };
	struct windows *peer;

	if (!(test->attr.caps & KRDMA_DEVICE_CAP_SRQ)) {
		test->skipped = "the device has no SRQs";
		return;
	}
	peer = early_begin(test);
	if (!peer)
		return;
	attr.cq = krdma_cq_create(test->dev, &(struct krdma_cq_attr) {
		.depth = 64, .where = KRDMA_CONTEXT_SOFTIRQ, .vector = -1,
	});
	if (!CORE_OK_PTR(test, attr.cq))
		goto out;
	shared.cq = attr.cq;
	attr.srq = krdma_srq_create(peer->pair->server_session, &shared);
	if (CORE_OK_PTR(test, attr.srq)) {
		early_shares(peer, &attr);
		if (!test->failures)
			early_recalls(peer, &attr, 7);
		early_unlink(peer);
		krdma_srq_close(attr.srq);
		krdma_srq_put(attr.srq);
	}
	krdma_cq_put(attr.cq);
out:
	windows_close(peer);
}

/* What has become of the request for lane @lane, one for each number; false behind the last. */
static bool early_decline(struct windows *peer, u32 lane, int number)
{
	u32 used = early_ask(peer, lane, 0, EARLY_MAX);
	u8 *frame = peer->stranger->from.data;
	const u8 *record;
	u8 reason = 0;

	switch (number) {
	case 0:
		windows_post(peer, used);
		if (early_take(peer))
			CORE_EQ(peer->test, 0, krdma_conn_reject(peer->lane.conn, "no", 2));
		break;
	case 1:
		/* With a receive, and without an answer. */
		windows_post(peer, used);
		if (early_take(peer))
			early_receive(peer, 1);
		break;
	case 2:
		/* A port without a listener. */
		frame[LANE_HEADER + 12] ^= 1;
		reason = 1;
		windows_post(peer, used);
		break;
	case 3:
		/* Taken back. */
		windows_post(peer, lane_add(peer->stranger, used, CLOSE, 0, lane, 0));
		windows_say(peer, FIND, lane, lane_port_of(peer->pair));
		early_await(peer, FOUND, lane);
		lane_drop_requests(peer->pair->listener);
		return true;
	case 4:
		/* Taken back when the consumer has it. */
		windows_post(peer, used);
		if (!early_take(peer))
			return true;
		early_receive(peer, 1);
		windows_say(peer, CLOSE, lane, 0);
		CORE_TRUE(peer->test, core_await_event(&peer->lane, KRDMA_EVENT_CLOSED,
						       CORE_TIMEOUT_MS));
		CORE_TRUE(peer->test,
			  krdma_conn_accept(peer->lane.conn, &(struct krdma_conn_param) {}));
		core_expect_receive(&peer->lane, 1, KRDMA_WC_WR_FLUSH_ERR, 0, NULL);
		early_drop(peer);
		return true;
	default:
		return false;
	}
	if (number == 1)
		krdma_conn_close(peer->lane.conn);
	record = early_await(peer, REJECT, lane);
	if (record)
		CORE_EQ(peer->test, reason, record[12]);
	if (number == 1)
		core_expect_receive(&peer->lane, 1, KRDMA_WC_WR_FLUSH_ERR, 0, NULL);
	early_drop(peer);
	return true;
}

/* The message goes with a request that is not accepted, and the next one is as ever. */
/* Proves: F14 */
static void lane_early_is_dropped(struct core_test *test)
{
	struct windows *peer = early_begin(test);

	for (u32 i = 0; peer && !test->failures; i++) {
		u32 lane = 2 * i + 1;

		if (!early_decline(peer, lane, i))
			break;
		windows_post(peer, early_ask(peer, lane + 1, 0, 8));
		if (!early_take(peer))
			break;
		early_receive(peer, 1);
		early_accept(peer);
		early_arrives(peer, 1, 0, 8);
		early_drop(peer);
		lane_expect_alive(peer->pair);
	}
	if (peer)
		windows_close(peer);
}

/* A message that is longer than its receive ends the lane, and no other one. */
/* Proves: F14 */
static void lane_early_is_too_long(struct core_test *test)
{
	struct windows *peer = early_begin(test);
	struct core_end *lane;
	const u8 *record;

	for (u32 i = 0; peer && i < 4 && !test->failures; i++) {
		bool waits = i % 2;

		lane = &peer->lane;
		windows_post(peer, early_ask(peer, i + 1, 0, 101));
		if (!early_take(peer))
			break;
		if (!waits)
			CORE_EQ(test, 1, core_receive(lane, 1, &peer->memory, 0, 100));
		early_accept(peer);
		if (waits) {
			early_await(peer, ACCEPT, i + 1);
			CORE_EQ(test, 1, core_receive(lane, 1, &peer->memory, 0, 100));
		}
		core_expect_receive(lane, 1, KRDMA_WC_LOC_LEN_ERR, 0, NULL);
		record = early_await(peer, CLOSE, i + 1);
		if (record)
			CORE_EQ(test, 1, record[12]);
		CORE_TRUE(test, core_await_event(lane, KRDMA_EVENT_CLOSED, CORE_TIMEOUT_MS));
		early_drop(peer);
		lane_expect_alive(peer->pair);
	}
	if (peer)
		windows_close(peer);
}

/*
 * Violations
 */

/* Requests for memory, with the flags of their only part. */
static const struct {
	u8 type;
	u8 flags;
	u8 body;
} early_requests[] = {
	{ MEM_WRITE, FIRST | LAST, 16 }, { MEM_READ, 0, 16 }, { MEM_ATOMIC, 0, 32 },
	{ CREDIT }, { DONE }, { RESULT, LAST }, { RECALL }, { YIELD },
};

/* A record other than a message. */
static u32 early_add_request(struct windows *peer, u32 used, u32 lane, int number)
{
	u8 body[32] = {};

	/* Fetch and add. */
	if (early_requests[number].type == MEM_ATOMIC)
		body[12] = 2;
	return lane_add_body(peer->stranger, used, early_requests[number].type,
			     early_requests[number].flags, lane, 0, body,
			     early_requests[number].body);
}

/* The first part of a message of 16 bytes. */
static u32 early_add_first(struct windows *peer, u32 used, u32 lane)
{
	static const u8 body[16] = { 16 };

	return lane_add_body(peer->stranger, used, DATA, FIRST, lane, 0, body, sizeof(body));
}

/* Records of a lane that was accepted, without a receive, and had a first message. */
static bool early_violate_accepted(struct windows *peer)
{
	windows_post(peer, early_ask(peer, 1, 0, 8));
	if (!early_take(peer) || !early_accept(peer) || !early_await(peer, ACCEPT, 1))
		return false;
	/* A second one. */
	windows_violate(peer, early_add_data(peer, lane_begin(peer->stranger), 1, FIRST | LAST,
					     8));
	return true;
}

#define EARLY_VIOLATIONS	11

/* One for each number; returns false behind the last. */
static bool early_violate(struct windows *peer, int number)
{
	u8 *frame = peer->stranger->from.data;
	u32 used = lane_begin(peer->stranger);

	if (number == EARLY_VIOLATIONS)
		return early_violate_accepted(peer);
	used = early_add_open(peer, used, 1, 8);
	switch (number) {
	case 0:
		/* None was announced. */
		frame[used - 2] = 0;
		used = early_add_data(peer, used, 1, FIRST | LAST, 8);
		break;
	case 1:
		used = early_add_data(peer, used, 1, FIRST | LAST, 9);
		break;
	case 2:
		used = early_add_data(peer, used, 1, FIRST | LAST, 8);
		used = early_add_data(peer, used, 1, FIRST | LAST, 8);
		break;
	case 3:
		used = early_add_first(peer, used, 1);
		break;
	case 4:
		used = early_add_data(peer, used, 1, LAST, 8);
		break;
	case 5:
		used = early_add_data(peer, used, 1, 0, 8);
		break;
	case 6:
		/* More than a message may have. */
		frame[used - 2] = (EARLY_MAX + 1) & 0xff;
		frame[used - 1] = (EARLY_MAX + 1) >> 8;
		break;
	case 7:
		frame[used - 2] = 0xff;
		frame[used - 1] = 0xff;
		break;
	case 8:
		/* What has no meaning. */
		frame[used - 3] = 1;
		break;
	case 9:
		/* Fewer receives than before. */
		lane_put(frame + LANE_HEADER + 8, 1);
		used = early_add_data(peer, used, 1, FIRST | LAST, 8);
		break;
	case 10:
		/* Another message, after one that the listener has. */
		used = early_add_data(peer, used, 1, FIRST | LAST, 8);
		windows_post(peer, used);
		if (!early_take(peer))
			return false;
		used = early_add_data(peer, lane_begin(peer->stranger), 1, FIRST | LAST, 8);
		break;
	default:
		number -= EARLY_VIOLATIONS + 1;
		if (number >= ARRAY_SIZE(early_requests))
			return false;
		used = early_add_request(peer, used, 1, number);
		break;
	}
	windows_violate(peer, used);
	return true;
}

/* A peer that violates the protocol loses its trunk, and no other lane notices. */
/* Proves: F14 */
static void lane_early_violations(struct core_test *test)
{
	struct windows *peer = early_begin(test);

	for (int i = 0; peer && !test->failures; i++) {
		if (!early_violate(peer, i))
			break;
		windows_ended(peer, __func__, __LINE__, i);
		lane_expect_alive(peer->pair);
		if (!early_link(peer))
			break;
		lane_drop_requests(peer->pair->listener);
	}
	if (peer)
		windows_close(peer);
}

/*
 * A host
 */

static void early_host_close(struct windows *host)
{
	if (host->stranger)
		early_unlink(host);
	else
		core_end_close(&host->lane);
	core_buffer_free(host->test, &host->memory);
	core_end_free(&host->lane);
	kfree(host);
}

static struct windows *early_host_begin(struct core_test *test)
{
	struct windows *host = kzalloc_obj(*host, GFP_KERNEL);

	if (!CORE_TRUE(test, host))
		return NULL;
	host->test = test;
	/* It has had one frame, in whose place there is none any more. */
	host->grant = LANE_FRAMES - 1;
	host->frames = 1;
	if (core_end_init(&host->lane, test, NULL))
		host->stranger = lane_host_open(test);
	if (host->stranger &&
	    core_buffer_make(test, &host->memory, host->stranger->session, WINDOW_MEMORY,
			     KRDMA_ACCESS_LOCAL_WRITE)) {
		core_fill(host->memory.data + EARLY_SENT, EARLY_SENT, EARLY_SEED);
		return host;
	}
	early_host_close(host);
	return NULL;
}

/* A client, which is to be connected; the host is asked if it was not for some time. */
static bool early_resolve(struct windows *host)
{
	struct core_test *test = host->test;
	struct sockaddr_storage remote = test->address;
	struct krdma_route route = { .remote = (struct sockaddr *)&remote };
	struct core_end *lane = &host->lane;
	const u8 *record;

	((struct sockaddr_in *)&remote)->sin_port = htons(LANE_HOST_PORT);
	lane->conn = krdma_conn_create_lane(host->stranger->session, &core_ops, lane);
	if (!CORE_OK_PTR(test, lane->conn))
		return false;
	CORE_EQ(test, 0, krdma_conn_resolve(lane->conn, &route));
	if (krdma_conn_wait(lane->conn, 0)) {
		do {
			record = windows_next(host, CORE_TIMEOUT_MS);
		} while (record && record[0] != FIND);
		if (!CORE_TRUE(test, record))
			return false;
		windows_say(host, FOUND, lane_get(record + 4), 1);
	}
	return CORE_TRUE(test, lane_host_resolved(host->stranger, lane->conn)) &&
	       CORE_EQ(test, 0, krdma_conn_create_qp(lane->conn, &early_attr));
}

static bool early_connect(struct windows *host)
{
	return early_resolve(host) &&
	       CORE_EQ(host->test, 0, krdma_conn_connect(host->lane.conn,
							 &(struct krdma_conn_param) {
								 .early = true,
							 }));
}

static void early_send(struct windows *host, u64 wr_id, u32 length)
{
	CORE_EQ(host->test, 1,
		core_send(&host->lane, wr_id, &host->memory, EARLY_SENT, length, 0));
}

static void early_write(struct windows *host, u64 wr_id)
{
	struct core_buffer remote = { .info = { .remote_addr = SZ_1M, .rkey = 0x100 } };

	CORE_EQ(host->test, 1, core_rdma(&host->lane, wr_id, KRDMA_OP_WRITE, &host->memory,
					 EARLY_SENT, 16, &remote, 0, 0));
}

/* The number of the lane, 0 if there is none. */
static u32 early_host_opened(struct windows *host)
{
	const u8 *record;

	do {
		record = windows_next(host, CORE_TIMEOUT_MS);
	} while (record && record[0] == CLOSE);
	if (!CORE_TRUE(host->test, record) || !CORE_EQ(host->test, OPEN, record[0]))
		return 0;
	CORE_EQ(host->test, EARLY_MAX, record[LANE_HEADER + 6] | record[LANE_HEADER + 7] << 8);
	CORE_EQ(host->test, 0, record[LANE_HEADER + 5]);
	return lane_get(record + 4);
}

static void early_host_got(struct windows *host, u32 lane, u32 length)
{
	const u8 *record = windows_expect(host, DATA, lane);

	if (!record)
		return;
	CORE_EQ(host->test, FIRST | LAST, record[1]);
	CORE_EQ(host->test, length, record[2] | record[3] << 8);
	CORE_TRUE(host->test, core_filled(record + LANE_HEADER, length, EARLY_SEED));
}

/* Says ACCEPT or CREDIT. */
static void early_host_say(struct windows *host, u8 type, u32 lane, u32 credits)
{
	u8 *frame = host->stranger->from.data;
	u32 used = lane_begin(host->stranger);
	u32 end;

	end = lane_add(host->stranger, used, type, 0, lane, 0);
	lane_put(frame + used + 8, credits);
	windows_post(host, end);
}

static bool early_is_early(struct windows *host)
{
	struct krdma_conn_info info;

	krdma_conn_query(host->lane.conn, &info);
	return info.open && info.state == KRDMA_CONN_CONNECTING;
}

static void early_established(struct windows *host)
{
	CORE_TRUE(host->test, core_await_event(&host->lane, KRDMA_EVENT_ESTABLISHED,
					       CORE_TIMEOUT_MS));
	CORE_TRUE(host->test, !early_is_early(host));
}

/* A first message of @length bytes, and whether it comes in the frame of OPEN. */
static bool early_goes_along(struct windows *host, u32 length)
{
	struct core_test *test = host->test;
	bool along;
	u32 lane;

	if (!early_connect(host))
		return false;
	early_send(host, 1, length);
	CORE_TRUE(test, early_is_early(host));
	lane = early_host_opened(host);
	along = host->at < host->length;
	early_host_got(host, lane, length);
	/* It waits for the answer. */
	core_expect_nothing(&host->lane);
	CORE_TRUE(test, !core_had_event(&host->lane, KRDMA_EVENT_ESTABLISHED));
	early_host_say(host, ACCEPT, lane, 1);
	core_expect_send(&host->lane, 1, KRDMA_WC_SUCCESS);
	early_established(host);
	/* Without a receive there is no second one. */
	early_send(host, 2, length);
	windows_expect_none(host);
	early_host_say(host, CREDIT, lane, 2);
	early_host_got(host, lane, length);
	core_expect_send(&host->lane, 2, KRDMA_WC_SUCCESS);
	early_drop(host);
	early_await(host, CLOSE, lane);
	return along;
}

/* Mostly one is enough.  A busy machine with a debug kernel has needed more than five. */
#define EARLY_TRIES	200

/* OPEN may be sent before the message is posted: the thread that sends it is another one. */
static void early_go_along(struct windows *host, u32 length)
{
	bool along = false;

	for (int i = 0; i < EARLY_TRIES && !along && !host->test->failures; i++)
		along = early_goes_along(host, length);
	CORE_TRUE(host->test, along);
}

/* Posts when OPEN has been sent. */
static void early_goes_later(struct windows *host)
{
	u32 lane;

	if (!early_connect(host))
		return;
	lane = early_host_opened(host);
	windows_expect_none(host);
	early_send(host, 1, 100);
	early_host_got(host, lane, 100);
	core_expect_nothing(&host->lane);
	early_host_say(host, ACCEPT, lane, 1);
	core_expect_send(&host->lane, 1, KRDMA_WC_SUCCESS);
	early_drop(host);
}

/* What is posted first, which is not sent before ACCEPT. */
static void early_waits_for_accept(struct windows *host, u32 length)
{
	const u8 *record;
	u32 lane;

	if (!early_connect(host))
		return;
	if (length)
		early_send(host, 1, length);
	else
		early_write(host, 1);
	early_send(host, 2, 8);
	lane = early_host_opened(host);
	windows_expect_none(host);
	core_expect_nothing(&host->lane);
	early_host_say(host, ACCEPT, lane, 2);
	if (length) {
		early_host_got(host, lane, length);
	} else {
		record = windows_expect(host, MEM_WRITE, lane);
		if (record)
			CORE_EQ(host->test, 32, record[2]);
	}
	early_host_got(host, lane, 8);
	if (!length)
		windows_say(host, DONE, lane, 1);
	core_expect_send(&host->lane, 1, KRDMA_WC_SUCCESS);
	core_expect_send(&host->lane, 2, KRDMA_WC_SUCCESS);
	early_drop(host);
}

/* Of several messages, one is sent before ACCEPT. */
static void early_goes_alone(struct windows *host)
{
	u32 lane;

	if (!early_connect(host))
		return;
	for (u32 i = 1; i <= 3; i++)
		early_send(host, i, 8 * i);
	lane = early_host_opened(host);
	early_host_got(host, lane, 8);
	windows_expect_none(host);
	core_expect_nothing(&host->lane);
	/* The first one has used one of these. */
	early_host_say(host, ACCEPT, lane, 2);
	early_host_got(host, lane, 16);
	windows_expect_none(host);
	early_host_say(host, CREDIT, lane, 3);
	early_host_got(host, lane, 24);
	for (u32 i = 1; i <= 3; i++)
		core_expect_send(&host->lane, i, KRDMA_WC_SUCCESS);
	early_drop(host);
}

/* Nothing can be posted before the call, or without being asked for. */
static void early_is_asked_for(struct windows *host)
{
	struct core_test *test = host->test;
	const u8 *record;

	if (!early_resolve(host))
		return;
	CORE_EQ(test, -ENOTCONN, core_send(&host->lane, 1, &host->memory, EARLY_SENT, 8, 0));
	CORE_EQ(test, 0, krdma_conn_connect(host->lane.conn, &(struct krdma_conn_param) {}));
	CORE_EQ(test, -ENOTCONN, core_send(&host->lane, 1, &host->memory, EARLY_SENT, 8, 0));
	CORE_TRUE(test, !early_is_early(host));
	do {
		record = windows_next(host, CORE_TIMEOUT_MS);
	} while (record && record[0] == CLOSE);
	if (!CORE_TRUE(test, record) || !CORE_EQ(test, OPEN, record[0]))
		return;
	CORE_EQ(test, 0, record[LANE_HEADER + 6] | record[LANE_HEADER + 7] << 8);
	early_host_say(host, ACCEPT, lane_get(record + 4), 0);
	early_established(host);
	early_send(host, 1, 8);
	windows_expect_none(host);
	early_drop(host);
}

/* The first message goes with OPEN, and nothing else does. */
/* Proves: F14 */
static void lane_early_goes_along(struct core_test *test)
{
	struct windows *host = early_host_begin(test);

	if (!host)
		return;
	early_go_along(host, EARLY_MAX);
	early_go_along(host, 0);
	early_goes_later(host);
	early_waits_for_accept(host, EARLY_MAX + 1);
	early_waits_for_accept(host, 0);
	early_goes_alone(host);
	early_is_asked_for(host);
	early_host_close(host);
}

/* Has a message sent early, with a write behind it if @writes.  Returns the lane. */
static u32 early_ask_host(struct windows *host, bool writes)
{
	u32 lane;

	if (!early_connect(host))
		return 0;
	early_send(host, 1, 100);
	if (writes)
		early_write(host, 2);
	lane = early_host_opened(host);
	early_host_got(host, lane, 100);
	core_expect_nothing(&host->lane);
	return lane;
}

static void early_is_rejected(struct windows *host, bool writes)
{
	u32 lane = early_ask_host(host, writes);

	if (!lane)
		return;
	windows_say(host, REJECT, lane, 0);
	CORE_EQ(host->test, -ECONNREFUSED, krdma_conn_wait(host->lane.conn, CORE_TIMEOUT_MS));
	core_expect_send(&host->lane, 1, KRDMA_WC_WR_FLUSH_ERR);
	if (writes)
		core_expect_send(&host->lane, 2, KRDMA_WC_WR_FLUSH_ERR);
	CORE_TRUE(host->test, !core_had_event(&host->lane, KRDMA_EVENT_ESTABLISHED));
	core_expect_nothing(&host->lane);
	early_drop(host);
}

/* The client gives up; the answer comes afterwards. */
static void early_is_given_up(struct windows *host)
{
	u32 lane = early_ask_host(host, false);

	if (!lane)
		return;
	krdma_conn_close(host->lane.conn);
	core_expect_send(&host->lane, 1, KRDMA_WC_WR_FLUSH_ERR);
	early_await(host, CLOSE, lane);
	early_host_say(host, ACCEPT, lane, 1);
	core_expect_nothing(&host->lane);
	early_drop(host);
}

/* What follows the message does not overtake it: it waits until that has a receive. */
static void early_does_not_overtake(struct windows *host)
{
	u32 lane = early_ask_host(host, true);

	if (!lane)
		return;
	early_host_say(host, ACCEPT, lane, 0);
	core_expect_send(&host->lane, 1, KRDMA_WC_SUCCESS);
	windows_expect_none(host);
	early_write(host, 3);
	windows_expect_none(host);
	early_host_say(host, CREDIT, lane, 1);
	windows_expect(host, MEM_WRITE, lane);
	windows_expect(host, MEM_WRITE, lane);
	windows_say(host, DONE, lane, 2);
	core_expect_send(&host->lane, 2, KRDMA_WC_SUCCESS);
	core_expect_send(&host->lane, 3, KRDMA_WC_SUCCESS);
	early_drop(host);
}

/* The host ends the link before it answers. */
static void early_loses_its_link(struct windows *host)
{
	struct core_test *test = host->test;
	struct krdma_wc wc = {};

	if (!early_ask_host(host, false))
		return;
	krdma_conn_disconnect(host->stranger->end.conn);
	CORE_TRUE(test, core_await_event(&host->lane, KRDMA_EVENT_CLOSED, CORE_TIMEOUT_MS));
	CORE_TRUE(test, core_await_send(&host->lane, &wc, CORE_TIMEOUT_MS));
	CORE_EQ(test, 1, wc.wr_id);
	CORE_TRUE(test, wc.status);
	CORE_TRUE(test, !core_had_event(&host->lane, KRDMA_EVENT_ESTABLISHED));
	core_expect_nothing(&host->lane);
	early_drop(host);
}

/* What has become of the message is known when the host has answered. */
/* Proves: F14 */
static void lane_early_is_answered(struct core_test *test)
{
	struct windows *host = early_host_begin(test);

	if (!host)
		return;
	for (int i = 0; i < 4 && !test->failures; i++)
		early_is_rejected(host, i % 2);
	early_is_given_up(host);
	early_does_not_overtake(host);
	early_loses_its_link(host);
	early_host_close(host);
}

/* An answer has no message before it. */
/* Proves: F14 */
static void lane_early_accept_has_none(struct core_test *test)
{
	struct windows *host = early_host_begin(test);
	struct krdma_wc wc = {};
	u32 lane, used;

	if (!host)
		return;
	lane = early_ask_host(host, false);
	if (!lane)
		goto out;
	used = lane_add(host->stranger, lane_begin(host->stranger), ACCEPT, 0, lane, 0);
	host->stranger->from.data[used - 2] = 1;
	windows_violate(host, used);
	windows_ended(host, __func__, __LINE__, 0);
	CORE_TRUE(test, core_await_event(&host->lane, KRDMA_EVENT_CLOSED, CORE_TIMEOUT_MS));
	CORE_TRUE(test, core_await_send(&host->lane, &wc, CORE_TIMEOUT_MS));
	CORE_TRUE(test, wc.status);
	CORE_TRUE(test, !core_had_event(&host->lane, KRDMA_EVENT_ESTABLISHED));
	early_drop(host);
out:
	early_host_close(host);
}

const struct core_case core_lane_early_cases[] = {
	CORE_CASE(lane_early_arrives),
	CORE_CASE(lane_early_comes_first),
	CORE_CASE(lane_early_comes_late),
	CORE_CASE(lane_early_takes_shared),
	CORE_CASE(lane_early_is_dropped),
	CORE_CASE(lane_early_is_too_long),
	CORE_CASE(lane_early_violations),
	CORE_CASE(lane_early_goes_along),
	CORE_CASE(lane_early_is_answered),
	CORE_CASE(lane_early_accept_has_none),
	{}
};
