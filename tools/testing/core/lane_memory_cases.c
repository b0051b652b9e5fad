// SPDX-License-Identifier: GPL-2.0
/*
 * Lanes: a peer that asks for memory by records that it makes by itself.
 */
#include <linux/completion.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/prandom.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include "fixture.h"
#include "lanes.h"

/* Bytes of the memory that the peer may access. */
#define MEMORY_SIZE	8192

void lane_put64(u8 *to, u64 value)
{
	lane_put(to, lower_32_bits(value));
	lane_put(to + 4, upper_32_bits(value));
}

u32 lane_get(const u8 *from)
{
	return from[0] | from[1] << 8 | from[2] << 16 | (u32)from[3] << 24;
}

u64 lane_get64(const u8 *from)
{
	return lane_get(from) | (u64)lane_get(from + 4) << 32;
}

u32 lane_add_body(struct lane_stranger *stranger, u32 used, u8 type, u8 flags, u32 lane, u32 value,
		  const void *body, u16 length)
{
	u8 *frame = stranger->from.data;
	u32 whole = round_up(length, 8);

	used = lane_add(stranger, used, type, flags, lane, value);
	frame[used - 14] = length & 0xff;
	frame[used - 13] = length >> 8;
	memset(frame + used, 0, whole);
	if (length)
		memcpy(frame + used, body, length);
	return used + whole;
}

u32 lane_add_write(struct lane_stranger *stranger, u32 used, u32 lane, u8 flags, u32 imm,
		   const struct lane_range *range, const void *data, u16 length)
{
	u8 body[16 + 64];

	if (!(flags & FIRST))
		return lane_add_body(stranger, used, MEM_WRITE, flags, lane, imm, data, length);
	lane_put64(body, range->addr);
	lane_put(body + 8, range->key);
	lane_put(body + 12, range->length);
	memcpy(body + 16, data, length);
	return lane_add_body(stranger, used, MEM_WRITE, flags, lane, imm, body, 16 + length);
}

static u32 lane_add_read(struct lane_stranger *stranger, u32 used, u32 lane,
			 const struct lane_range *range)
{
	u8 body[16];

	lane_put64(body, range->addr);
	lane_put(body + 8, range->key);
	lane_put(body + 12, range->length);
	return lane_add_body(stranger, used, MEM_READ, 0, lane, 0, body, sizeof(body));
}

static u32 lane_add_atomic(struct lane_stranger *stranger, u32 used, u32 lane,
			   const struct lane_range *range, u64 operand, u64 swap)
{
	u8 body[32];

	lane_put64(body, range->addr);
	lane_put(body + 8, range->key);
	lane_put(body + 12, range->length);
	lane_put64(body + 16, operand);
	lane_put64(body + 24, swap);
	return lane_add_body(stranger, used, MEM_ATOMIC, 0, lane, 0, body, sizeof(body));
}

static u32 lane_add_name(struct lane_stranger *stranger, u32 used, const char *name, u64 offset)
{
	u8 body[8 + 64];
	u16 length = strlen(name);

	lane_put64(body, offset);
	memcpy(body + 8, name, length);
	return lane_add_body(stranger, used, NAME, 0, 1, 0, body, 8 + length);
}

/* An answer of MR: found, with @range for all of its bytes, of which @reach have the key. */
static u32 lane_add_mr(struct lane_stranger *stranger, u32 used, const struct lane_range *range,
		       u64 reach)
{
	u8 body[32];

	/* Otherwise there is none. */
	lane_put64(body, reach ? range->addr : 0);
	lane_put(body + 8, reach ? range->key : 0);
	lane_put(body + 12, reach ? KRDMA_ACCESS_REMOTE_READ : 0);
	lane_put64(body + 16, range->length);
	lane_put64(body + 24, reach);
	return lane_add_body(stranger, used, MR, 0, 1, 1, body, sizeof(body));
}

/*
 * struct lane_served - a stranger with an accepted lane to a listener with memory
 * @index: number of the next frame that it gets
 * @conn: the lane of the listener's side, its number 1
 */
struct lane_served {
	struct core_pair *pair;
	struct lane_stranger *stranger;
	struct krdma_conn *conn;
	struct core_buffer memory;
	struct lane_range range;
	u32 index;
};

/* Opens the next lane, and has it accepted. */
static struct krdma_conn *lane_served_open(struct lane_served *served, u32 number)
{
	struct core_test *test = served->pair->test;
	struct krdma_conn *conn;
	u32 used;

	used = lane_begin(served->stranger);
	used = lane_add(served->stranger, used, OPEN, 0, number, lane_port_of(served->pair));
	lane_post(served->stranger, used, LANE_FRAMES + served->index);
	conn = krdma_listener_next(served->pair->listener, NULL, NULL, CORE_TIMEOUT_MS);
	if (!CORE_OK_PTR(test, conn))
		return NULL;
	CORE_EQ(test, 0, krdma_conn_create_qp(conn, &lane_small));
	CORE_EQ(test, 0, krdma_conn_accept(conn, &(struct krdma_conn_param) {}));
	return conn;
}

/* The records of the next frame, and their length; the receive is posted again. */
static const u8 *lane_served_frame(struct lane_served *served, u32 *length)
{
	struct lane_stranger *stranger = served->stranger;
	struct core_test *test = served->pair->test;
	static u8 copy[LANE_FRAME];
	struct krdma_wc wc;

	if (!CORE_TRUE(test, core_await_receive(&stranger->end, &wc, CORE_TIMEOUT_MS)) ||
	    !CORE_EQ(test, KRDMA_WC_SUCCESS, wc.status))
		return NULL;
	memcpy(copy, stranger->to.data + wc.wr_id * LANE_FRAME, wc.length);
	CORE_EQ(test, 1, core_receive(&stranger->end, wc.wr_id, &stranger->to,
				      wc.wr_id * LANE_FRAME, LANE_FRAME));
	served->index++;
	*length = wc.length - LANE_HEADER;
	return copy + LANE_HEADER;
}

/* One frame brings one record of @type for @lane.  Returns it. */
static const u8 *lane_served_expect(struct lane_served *served, u8 type, u32 lane)
{
	struct core_test *test = served->pair->test;
	const u8 *record;
	u32 length;

	record = lane_served_frame(served, &length);
	if (!record || !CORE_TRUE(test, length >= LANE_HEADER) ||
	    !CORE_EQ(test, type, record[0]) || !CORE_EQ(test, lane, lane_get(record + 4)))
		return NULL;
	return record;
}

static void lane_served_close(struct lane_served *served)
{
	lane_drop(served->conn);
	if (served->stranger)
		lane_stranger_close(served->stranger);
	if (served->pair) {
		core_buffer_free(served->pair->test, &served->memory);
		lane_drop_requests(served->pair->listener);
		core_pair_close(served->pair);
	}
	kfree(served);
}

static struct lane_served *lane_served_begin(struct core_test *test)
{
	struct lane_served *served = kzalloc_obj(*served, GFP_KERNEL);

	if (!CORE_TRUE(test, served))
		return NULL;
	served->pair = lane_open(test);
	if (!served->pair ||
	    !core_buffer_make(test, &served->memory, served->pair->server_session, MEMORY_SIZE,
			      CORE_ACCESS_ALL(test)))
		goto err;
	served->range = (struct lane_range) {
		.addr = served->memory.info.remote_addr,
		.key = served->memory.info.rkey,
	};
	served->stranger = lane_stranger_open(test, lane_hello, sizeof(lane_hello));
	if (!served->stranger)
		goto err;
	CORE_EQ(test, 0, krdma_conn_wait(served->stranger->end.conn, CORE_TIMEOUT_MS));
	served->conn = lane_served_open(served, 1);
	if (served->conn && lane_served_expect(served, ACCEPT, 1))
		return served;
err:
	lane_served_close(served);
	return NULL;
}

/* A record that asks for a part of the memory. */
static struct lane_range lane_part(const struct lane_served *served, u64 offset, u32 length)
{
	return (struct lane_range) {
		.addr = served->range.addr + offset,
		.key = served->range.key,
		.length = length,
	};
}

/* What is asked for is done, and answered in order. */
/* Proves: F14 */
static void lane_serves_memory(struct core_test *test)
{
	struct lane_served *served = lane_served_begin(test);
	struct lane_stranger *stranger;
	struct lane_range range;
	const u8 *record;
	u32 used, length;
	u64 *words;

	if (!served)
		return;
	stranger = served->stranger;
	words = (u64 *)served->memory.data;
	words[3] = 100;
	used = lane_begin(stranger);
	/* In two parts, the second one without a length. */
	range = lane_part(served, 4, 13);
	used = lane_add_write(stranger, used, 1, FIRST, 0, &range, "first, ", 7);
	used = lane_add_write(stranger, used, 1, LAST, 0, NULL, "second", 6);
	range = lane_part(served, 0, 32);
	used = lane_add_read(stranger, used, 1, &range);
	if (test->attr.caps & KRDMA_DEVICE_CAP_ATOMIC) {
		range = lane_part(served, 24, 2);
		used = lane_add_atomic(stranger, used, 1, &range, 5, 0);
		range = lane_part(served, 24, 1);
		used = lane_add_atomic(stranger, used, 1, &range, 105, 7);
	} else {
		words[3] = 7;
	}
	lane_post(stranger, used, LANE_FRAMES + served->index);

	record = lane_served_frame(served, &length);
	if (!record)
		goto out;
	CORE_EQ(test, DONE, record[0]);
	CORE_EQ(test, 1, record[12]);
	record += LANE_HEADER;
	CORE_EQ(test, RESULT, record[0]);
	CORE_EQ(test, LAST, record[1]);
	CORE_EQ(test, 32, record[2]);
	CORE_TRUE(test, !memcmp(record + 16 + 4, "first, second", 13));
	record += 48;
	if (test->attr.caps & KRDMA_DEVICE_CAP_ATOMIC) {
		CORE_EQ(test, RESULT, record[0]);
		CORE_EQ(test, 100, lane_get64(record + 16));
		CORE_EQ(test, RESULT, record[24]);
		CORE_EQ(test, 105, lane_get64(record + 24 + 16));
	}
	CORE_EQ(test, 7, words[3]);
	CORE_TRUE(test, !memcmp(served->memory.data + 4, "first, second", 13));
out:
	lane_served_close(served);
}

/*
 * Violations
 */

/* One for each number; returns false behind the last. */
static bool lane_violate_memory(struct lane_served *served, int number)
{
	struct lane_stranger *stranger = served->stranger;
	struct lane_range range = lane_part(served, 0, 16);
	u32 used = lane_begin(stranger);

	switch (number) {
	case 0:
		/* A part of nothing. */
		used = lane_add_write(stranger, used, 1, LAST, 0, NULL, "12345678", 8);
		break;
	case 1:
		/* A write within another one. */
		used = lane_add_write(stranger, used, 1, FIRST, 0, &range, "12345678", 8);
		used = lane_add_write(stranger, used, 1, FIRST, 0, &range, "12345678", 8);
		break;
	case 2:
		/* A read within a write. */
		used = lane_add_write(stranger, used, 1, FIRST, 0, &range, "12345678", 8);
		used = lane_add_read(stranger, used, 1, &range);
		break;
	case 3:
		used = lane_add_write(stranger, used, 1, FIRST, 0, &range, "12345678", 8);
		range.length = 2;
		used = lane_add_atomic(stranger, used, 1, &range, 1, 0);
		break;
	case 4:
		/* A message within a write. */
		CORE_EQ(served->pair->test, 1,
			krdma_conn_post_recv(served->conn, &(struct krdma_recv_wr) {}, 1));
		used = lane_add_write(stranger, used, 1, FIRST, 0, &range, "12345678", 8);
		used = lane_add(stranger, used, DATA, FIRST | LAST, 1, 0);
		break;
	case 5:
		/* More than was said, and the end before that. */
		used = lane_add_write(stranger, used, 1, FIRST, 0, &range, "12345678", 8);
		used = lane_add_write(stranger, used, 1, LAST, 0, NULL, "123456789", 9);
		break;
	case 6:
		used = lane_add_write(stranger, used, 1, FIRST, 0, &range, "12345678", 8);
		used = lane_add_write(stranger, used, 1, LAST, 0, NULL, "1234567", 7);
		break;
	case 7:
		/* All of it, and no end. */
		used = lane_add_write(stranger, used, 1, FIRST, 0, &range, "12345678", 8);
		used = lane_add_write(stranger, used, 1, 0, 0, NULL, "12345678", 8);
		break;
	case 8:
		/* Immediate data without a receive. */
		used = lane_add_write(stranger, used, 1, FIRST | LAST | IMM, 5, &range,
				      "1234567812345678", 16);
		break;
	case 9:
		/* More reads than a lane has. */
		for (int i = 0; i < 9; i++)
			used = lane_add_read(stranger, used, 1, &range);
		break;
	case 10:
		/* Answers to nothing, which fit to a message that waits for a receive. */
		CORE_EQ(served->pair->test, 1,
			krdma_conn_post_send(served->conn, &(struct krdma_send_wr) {
				.opcode = KRDMA_OP_SEND,
				.sges = &(struct krdma_sge) {
					.mr = served->memory.mr,
					.addr = (uintptr_t)served->memory.data,
					.length = 8,
				},
				.sge_count = 1,
			}, 1));
		used = lane_add_body(stranger, used, RESULT, LAST, 1, 0, "12345678", 8);
		break;
	case 11:
		used = lane_add(stranger, used, DONE, 0, 1, 1);
		break;
	case 12:
		/* Fewer than before. */
		used = lane_add(stranger, used, DONE, 0, 1, U32_MAX);
		break;
	case 13:
		/* A lane that was not opened. */
		used = lane_add_read(stranger, used, 2, &range);
		break;
	case 14:
		/* Two questions before an answer. */
		used = lane_add_name(stranger, used, "one", 0);
		used = lane_add_name(stranger, used, "one", 0);
		break;
	case 15:
		/* An answer to no question. */
		used = lane_add_mr(stranger, used, &range, 8);
		break;
	default:
		return false;
	}
	lane_post_violation(stranger, used, LANE_FRAMES + served->index);
	return true;
}

/* A peer that violates the protocol loses its trunk, and no other lane notices. */
/* Proves: F14 */
static void lane_memory_violations(struct core_test *test)
{
	bool more = true;

	for (int i = 0; more && !test->failures; i++) {
		struct lane_served *served = lane_served_begin(test);

		if (!served)
			return;
		more = lane_violate_memory(served, i);
		if (more)
			core_check(test, core_await_event(&served->stranger->end,
							  KRDMA_EVENT_CLOSED, CORE_TIMEOUT_MS),
				   __func__, __LINE__, "violation %d is none", i);
		lane_expect_alive(served->pair);
		lane_served_close(served);
	}
}

/*
 * Memory that was not given
 */

/* Lanes that ask for what they may not have, one after the other. */
#define LANE_THIEVES	400

/* A range that is not the peer's, but near it, or with its key. */
static struct lane_range lane_forge(const struct lane_served *served, struct rnd_state *random,
				    u32 foreign)
{
	u32 length = 1 + prandom_u32_state(random) % 64;
	struct lane_range range = lane_part(served, 0, length);

	switch (prandom_u32_state(random) % 8) {
	case 0:
		range.addr += MEMORY_SIZE - length + 1;
		break;
	case 1:
		range.addr -= 1 + prandom_u32_state(random) % 64;
		break;
	case 2:
		range.addr += (u64)prandom_u32_state(random) << 32;
		break;
	case 3:
		range.addr = -(u64)length / 2;
		break;
	case 4:
		range.length = 0x80000000 | prandom_u32_state(random);
		break;
	case 5:
		range.key ^= 1 << prandom_u32_state(random) % 32;
		break;
	case 6:
		/* The key of another session. */
		range.key = foreign;
		break;
	default:
		range.key = prandom_u32_state(random);
		break;
	}
	/* Rarely, what was forged is right. */
	if (range.key == served->range.key && range.addr - served->range.addr <= MEMORY_SIZE &&
	    range.length <= MEMORY_SIZE - (range.addr - served->range.addr))
		range.key++;
	return range;
}

/* Asks by one of the ways.  Returns the length of the frame. */
static u32 lane_steal(struct lane_served *served, u32 lane, struct rnd_state *random, u32 foreign)
{
	struct lane_range range = lane_forge(served, random, foreign);
	struct lane_stranger *stranger = served->stranger;
	u32 used = lane_begin(stranger);
	u16 length = min(range.length, 8U);

	switch (prandom_u32_state(random) % 3) {
	case 0:
		return lane_add_write(stranger, used, lane,
				      FIRST | (range.length == length ? LAST : 0), 0, &range,
				      "stolen!", length);
	case 1:
		return lane_add_read(stranger, used, lane, &range);
	default:
		range.addr &= ~7ULL;
		range.length = 1 + prandom_u32_state(random) % 2;
		/* What is aligned may be the peer's. */
		if (range.key == served->range.key)
			range.key++;
		return lane_add_atomic(stranger, used, lane, &range, 1, 0);
	}
}

/*
 * A request for memory that was not given ends its lane, with the reason, and neither the trunk nor
 * another lane; and nothing was read or written.
 */
/* Proves: F14 */
static void lane_memory_is_not_stolen(struct core_test *test)
{
	struct lane_served *served = lane_served_begin(test);
	struct core_buffer foreign = {};
	struct lane_range range;
	struct rnd_state random;
	const u8 *record;
	u32 used;

	if (!served)
		return;
	prandom_seed_state(&random, 1);
	core_fill(served->memory.data, MEMORY_SIZE, 7);
	if (!core_buffer_make(test, &foreign, served->pair->client_session, MEMORY_SIZE,
			      CORE_ACCESS_ALL(test)))
		goto out;
	core_fill(foreign.data, MEMORY_SIZE, 8);
	for (u32 lane = 2; lane < 2 + LANE_THIEVES && !test->failures; lane++) {
		struct krdma_conn *conn = lane_served_open(served, lane);

		if (!conn || !lane_served_expect(served, ACCEPT, lane)) {
			lane_drop(conn);
			break;
		}
		used = lane_steal(served, lane, &random, foreign.info.rkey);
		lane_post(served->stranger, used, LANE_FRAMES + served->index);
		record = lane_served_expect(served, CLOSE, lane);
		if (record)
			CORE_EQ(test, 2, record[12]);
		CORE_EQ(test, -EIO, krdma_conn_wait(conn, CORE_TIMEOUT_MS));
		lane_drop(conn);
	}
	CORE_TRUE(test, core_filled(served->memory.data, MEMORY_SIZE, 7));
	CORE_TRUE(test, core_filled(foreign.data, MEMORY_SIZE, 8));

	/* The first lane goes on. */
	range = lane_part(served, 0, 8);
	used = lane_begin(served->stranger);
	used = lane_add_read(served->stranger, used, 1, &range);
	lane_post(served->stranger, used, LANE_FRAMES + served->index);
	record = lane_served_expect(served, RESULT, 1);
	if (record)
		CORE_TRUE(test, !memcmp(record + 16, served->memory.data, 8));
out:
	core_buffer_free(test, &foreign);
	lane_served_close(served);
}

/*
 * Names
 */

/* Has the other end look for an MR, and returns what it answers. */
static const u8 *lane_served_name(struct lane_served *served, const char *name, u64 offset)
{
	u32 used = lane_add_name(served->stranger, lane_begin(served->stranger), name, offset);

	lane_post(served->stranger, used, LANE_FRAMES + served->index);
	return lane_served_expect(served, MR, 1);
}

/* Proves: F14 */
static void lane_answers_names(struct core_test *test)
{
	struct lane_served *served = lane_served_begin(test);
	const u8 *record;

	if (!served)
		return;
	record = lane_served_name(served, "one", 0);
	if (record)
		CORE_EQ(test, 0, record[12]);
	CORE_EQ(test, 0, krdma_mr_set_name(served->memory.mr, "one"));
	record = lane_served_name(served, "one", 8000);
	if (record) {
		CORE_EQ(test, 32, record[2]);
		CORE_EQ(test, 1, record[12]);
		CORE_TRUE(test, lane_get64(record + 16) == served->range.addr + 8000);
		CORE_TRUE(test, lane_get(record + 24) == served->range.key);
		CORE_EQ(test, CORE_ACCESS_ALL(test) & ~KRDMA_ACCESS_LOCAL_WRITE,
			lane_get(record + 28));
		CORE_TRUE(test, lane_get64(record + 32) == MEMORY_SIZE);
		CORE_TRUE(test, lane_get64(record + 40) == MEMORY_SIZE - 8000);
	}
	/* Behind its end, only the length is told. */
	record = lane_served_name(served, "one", MEMORY_SIZE);
	if (record) {
		CORE_EQ(test, 1, record[12]);
		CORE_TRUE(test, lane_get64(record + 32) == MEMORY_SIZE);
		CORE_TRUE(test, !memchr_inv(record + 16, 0, 16) && !lane_get64(record + 40));
	}
	CORE_EQ(test, 0, krdma_mr_set_name(served->memory.mr, NULL));
	record = lane_served_name(served, "one", 0);
	if (record)
		CORE_EQ(test, 0, record[12]);
	CORE_EQ(test, 0, krdma_mr_set_name(served->memory.mr, "one"));
	lane_served_close(served);
}

/* A caller that sleeps until the stranger answers. */
struct lane_seeker {
	struct core_test *test;
	struct work_struct work;
	struct completion done;
	struct krdma_conn *conn;
	u64 offset;
	u32 timeout_ms;
	struct krdma_found_mr found;
	int ret;
};

static void lane_seek_work(struct work_struct *work)
{
	struct lane_seeker *seeker = container_of(work, struct lane_seeker, work);

	seeker->ret = krdma_conn_find_mr(seeker->conn, "some", seeker->offset, &seeker->found,
					 seeker->timeout_ms);
	complete(&seeker->done);
}

static void lane_seek_begin(struct lane_served *served, struct lane_seeker *seeker, u64 offset,
			    u32 timeout_ms)
{
	seeker->test = served->pair->test;
	seeker->conn = served->conn;
	seeker->offset = offset;
	seeker->timeout_ms = timeout_ms;
	init_completion(&seeker->done);
	INIT_WORK_ONSTACK(&seeker->work, lane_seek_work);
	queue_work(system_long_wq, &seeker->work);
}

/* The stranger gets the question. */
static void lane_seek(struct lane_served *served, struct lane_seeker *seeker, u64 offset)
{
	struct core_test *test = served->pair->test;
	const u8 *record;

	/* Longer than lane_sought() waits, so that a caller that is not woken is found. */
	lane_seek_begin(served, seeker, offset, 3 * CORE_TIMEOUT_MS);
	record = lane_served_expect(served, NAME, 1);
	if (record) {
		CORE_EQ(test, 12, record[2]);
		CORE_TRUE(test, lane_get64(record + 16) == offset);
		CORE_TRUE(test, !memcmp(record + 24, "some", 4));
	}
}

static int lane_sought(struct lane_seeker *seeker)
{
	CORE_TRUE(seeker->test,
		  wait_for_completion_timeout(&seeker->done, msecs_to_jiffies(CORE_TIMEOUT_MS)));
	flush_work(&seeker->work);
	destroy_work_on_stack(&seeker->work);
	return seeker->ret;
}

/* Answers without an MR: @value 0 or 2. */
static void lane_answer_none(struct lane_served *served, u32 value)
{
	struct lane_stranger *stranger = served->stranger;
	u8 nothing[32] = {};
	u32 used;

	used = lane_add_body(stranger, lane_begin(stranger), MR, 0, 1, value, nothing,
			     sizeof(nothing));
	lane_post(stranger, used, LANE_FRAMES + served->index);
}

static void lane_answer_mr(struct lane_served *served, u32 length, u64 reach)
{
	struct lane_stranger *stranger = served->stranger;
	struct lane_range range = { .addr = 0x123456789aULL, .key = 77, .length = length };
	u32 used = lane_add_mr(stranger, lane_begin(stranger), &range, reach);

	lane_post(stranger, used, LANE_FRAMES + served->index);
}

/* Proves: F14 */
static void lane_asks_names(struct core_test *test)
{
	struct lane_served *served = lane_served_begin(test);
	struct lane_seeker seeker = {};

	if (!served)
		return;
	lane_seek(served, &seeker, 100);
	lane_answer_mr(served, 1000, 900);
	CORE_EQ(test, 0, lane_sought(&seeker));
	CORE_TRUE(test, seeker.found.remote_addr == 0x123456789aULL);
	CORE_EQ(test, 77, seeker.found.rkey);
	CORE_TRUE(test, seeker.found.length == 1000);
	CORE_TRUE(test, seeker.found.reach == 900);
	CORE_EQ(test, KRDMA_ACCESS_REMOTE_READ, seeker.found.access);

	lane_seek(served, &seeker, 0);
	lane_answer_none(served, 0);
	CORE_EQ(test, -ENOENT, lane_sought(&seeker));
	lane_seek(served, &seeker, 0);
	lane_answer_none(served, 2);
	CORE_EQ(test, -EAGAIN, lane_sought(&seeker));
	lane_seek(served, &seeker, 1000);
	lane_answer_mr(served, 1000, 0);
	CORE_EQ(test, -ERANGE, lane_sought(&seeker));
	lane_served_close(served);
}

/* The lane ends, by either side, and no answer comes. */
/* Proves: F14 */
static void lane_ends_before_an_answer(struct core_test *test)
{
	for (int i = 0; i < 3 && !test->failures; i++) {
		struct lane_served *served = lane_served_begin(test);
		struct lane_seeker seekers[3] = {};
		u32 used;

		if (!served)
			return;
		lane_seek(served, &seekers[0], 0);
		/* They wait for their turn. */
		lane_seek_begin(served, &seekers[1], 0, 3 * CORE_TIMEOUT_MS);
		lane_seek_begin(served, &seekers[2], 0, 3 * CORE_TIMEOUT_MS);
		if (i == 0)
			krdma_conn_disconnect(served->conn);
		else if (i == 1)
			krdma_conn_abort(served->conn);
		if (i == 2) {
			used = lane_add(served->stranger, lane_begin(served->stranger), CLOSE, 0,
					1, 0);
			lane_post(served->stranger, used, LANE_FRAMES + served->index);
		}
		for (int j = 0; j < 3; j++)
			CORE_EQ(test, -ENOTCONN, lane_sought(&seekers[j]));
		lane_served_close(served);
	}
}

/* A caller that has given up gets no answer, and the next caller gets its own. */
/* Proves: F14 */
static void lane_name_comes_late(struct core_test *test)
{
	struct lane_served *served = lane_served_begin(test);
	struct lane_seeker seeker = {};

	if (!served)
		return;
	lane_seek_begin(served, &seeker, 0, 10 * CORE_QUIET_MS);
	CORE_TRUE(test, lane_served_expect(served, NAME, 1));
	CORE_EQ(test, -ETIMEDOUT, lane_sought(&seeker));
	/* No other question is sent before that is answered. */
	CORE_EQ(test, -ETIMEDOUT,
		krdma_conn_find_mr(served->conn, "next", 0, &seeker.found, CORE_QUIET_MS));
	core_expect_nothing(&served->stranger->end);
	lane_seek_begin(served, &seeker, 0, 3 * CORE_TIMEOUT_MS);
	core_expect_nothing(&served->stranger->end);
	lane_answer_mr(served, 10, 10);
	CORE_TRUE(test, lane_served_expect(served, NAME, 1));
	lane_answer_mr(served, 20, 20);
	CORE_EQ(test, 0, lane_sought(&seeker));
	CORE_TRUE(test, seeker.found.length == 20);
	lane_served_close(served);
}

static int lane_seek_thread(void *data)
{
	struct lane_seeker *seeker = data;

	allow_signal(SIGUSR1);
	seeker->ret = krdma_conn_find_mr(seeker->conn, "some", 0, &seeker->found,
					 3 * CORE_TIMEOUT_MS);
	complete(&seeker->done);
	return 0;
}

/* A caller with a signal gives up at once, and its question is answered before the next one. */
/* Proves: F14 */
static void lane_name_and_a_signal(struct core_test *test)
{
	struct lane_served *served = lane_served_begin(test);
	struct lane_seeker seeker = {}, next = {};
	struct task_struct *thread;

	if (!served)
		return;
	seeker.conn = served->conn;
	init_completion(&seeker.done);
	thread = kthread_create(lane_seek_thread, &seeker, "krdma_seek");
	if (CORE_OK_PTR(test, thread)) {
		get_task_struct(thread);
		wake_up_process(thread);
		CORE_TRUE(test, lane_served_expect(served, NAME, 1));
		send_sig(SIGUSR1, thread, 1);
		CORE_TRUE(test, wait_for_completion_timeout(&seeker.done,
							    msecs_to_jiffies(CORE_TIMEOUT_MS)));
		kthread_stop(thread);
		put_task_struct(thread);
		CORE_EQ(test, -EINTR, seeker.ret);

		lane_seek_begin(served, &next, 0, 3 * CORE_TIMEOUT_MS);
		core_expect_nothing(&served->stranger->end);
		lane_answer_mr(served, 10, 10);
		CORE_TRUE(test, lane_served_expect(served, NAME, 1));
		lane_answer_none(served, 0);
		CORE_EQ(test, -ENOENT, lane_sought(&next));
	}
	lane_served_close(served);
}

/* A caller that gives up before its turn leaves no question, and the next one has the turn. */
/* Proves: F14 */
static void lane_names_in_line(struct core_test *test)
{
	struct lane_served *served = lane_served_begin(test);
	struct lane_seeker first = {}, second = {}, third = {};

	if (!served)
		return;
	lane_seek(served, &first, 0);
	lane_seek_begin(served, &second, 0, 10 * CORE_QUIET_MS);
	CORE_EQ(test, -ETIMEDOUT, lane_sought(&second));
	lane_seek_begin(served, &third, 0, 3 * CORE_TIMEOUT_MS);
	core_expect_nothing(&served->stranger->end);
	lane_answer_mr(served, 10, 10);
	CORE_EQ(test, 0, lane_sought(&first));
	CORE_TRUE(test, lane_served_expect(served, NAME, 1));
	lane_answer_none(served, 0);
	CORE_EQ(test, -ENOENT, lane_sought(&third));
	lane_served_close(served);
}

/* An answer that cannot be true ends the trunk. */
/* Proves: F14 */
static void lane_name_lies(struct core_test *test)
{
	for (int i = 0; i < 2 && !test->failures; i++) {
		struct lane_served *served = lane_served_begin(test);
		struct lane_range range = { .addr = 1, .key = 77, .length = 1000 };
		struct lane_seeker seeker = {};
		u32 used;

		if (!served)
			return;
		lane_seek(served, &seeker, 100);
		used = lane_add_mr(served->stranger, lane_begin(served->stranger), &range,
				   i ? 0 : 901);
		lane_post_violation(served->stranger, used, LANE_FRAMES + served->index);
		CORE_EQ(test, -ENOTCONN, lane_sought(&seeker));
		CORE_TRUE(test, core_await_event(&served->stranger->end, KRDMA_EVENT_CLOSED,
						 CORE_TIMEOUT_MS));
		lane_expect_alive(served->pair);
		lane_served_close(served);
	}
}

const struct core_case core_lane_memory_cases[] = {
	CORE_CASE(lane_serves_memory),
	CORE_CASE(lane_memory_violations),
	CORE_CASE(lane_memory_is_not_stolen),
	CORE_CASE(lane_answers_names),
	CORE_CASE(lane_asks_names),
	CORE_CASE(lane_ends_before_an_answer),
	CORE_CASE(lane_name_comes_late),
	CORE_CASE(lane_name_and_a_signal),
	CORE_CASE(lane_names_in_line),
	CORE_CASE(lane_name_lies),
	{}
};
