// SPDX-License-Identifier: GPL-2.0
/*
 * Lanes: windows, with a peer that gives them by records that it makes by itself.
 */
#include <linux/ktime.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "fixture.h"
#include "lanes.h"
#include "windows.h"

/* So long a write of the lane asks for a window at once. */
#define WINDOW_LONG	4096
/* Work requests that wait for the first one, with one place of the link less than there is. */
#define WINDOW_ROW	31
#define WINDOW_PIECE	2000

/* The lane writes, or reads, with the peer's key @rkey; @offset is in the memory of both. */
static void windows_operate(struct windows *windows, u64 wr_id, u8 opcode, u32 rkey, u32 offset,
			    u32 length)
{
	struct core_buffer remote = {
		.info = { .remote_addr = windows->own.info.remote_addr, .rkey = rkey },
	};

	CORE_EQ(windows->test, 1,
		core_rdma(&windows->lane, wr_id, opcode, &windows->memory, offset, length, &remote,
			  offset, 0));
}

/* A long write, whose records come before the question.  Returns false if there is none. */
static bool windows_have_asked(struct windows *windows, u64 wr_id, u32 rkey)
{
	struct core_test *test = windows->test;
	const u8 *record;

	windows_operate(windows, wr_id, KRDMA_OP_WRITE, rkey, 0, WINDOW_LONG);
	do {
		record = windows_next(windows, CORE_TIMEOUT_MS);
	} while (record && record[0] == MEM_WRITE);
	return CORE_TRUE(test, record) && CORE_EQ(test, ASK, record[0]) &&
	       CORE_EQ(test, rkey, lane_get(record + 12));
}

/* A window to all of the stranger's memory. */
static struct window windows_own(const struct windows *windows, u32 number)
{
	return (struct window) {
		.given = true,
		.addr = windows->own.info.remote_addr,
		.length = windows->own.size,
		.rkey = windows->own.info.rkey,
		.rights = KRDMA_ACCESS_REMOTE_READ | KRDMA_ACCESS_REMOTE_WRITE,
		.number = number,
	};
}

/* Keys of the lane's session, as its consumer knows them; not those of the link. */
#define WINDOWS_RKEY	0x12345600

/* One for each number; returns false behind the last. */
static bool windows_lie(struct windows *windows, int number)
{
	struct lane_stranger *stranger = windows->stranger;
	struct window window = windows_own(windows, 5);
	u32 used;

	if (!windows_have_asked(windows, 1, WINDOWS_RKEY))
		return false;
	used = lane_begin(stranger);
	switch (number) {
	case 0:
		/* Two answers to one question. */
		used = windows_add(windows, used, 1, &window);
		used = windows_add(windows, used, 1, &window);
		break;
	case 1:
		used = windows_add(windows, used, 1, &(struct window) {});
		used = windows_add(windows, used, 1, &(struct window) {});
		break;
	case 2:
		/* The answer of another lane. */
		used = windows_add(windows, used, 2, &window);
		break;
	case 3:
		used = windows_add(windows, used, 1, &window);
		used = lane_add(stranger, used, REVOKE, 0, 5, 0);
		used = lane_add(stranger, used, REVOKE, 0, 5, 0);
		break;
	case 4:
		/* While something is in flight. */
		used = windows_add(windows, used, 1, &window);
		windows_post(windows, used);
		windows_operate(windows, 2, KRDMA_OP_WRITE, WINDOWS_RKEY, 0, WINDOW_MEMORY);
		windows_say(windows, DONE, 1, 1);
		used = lane_add(stranger, lane_begin(stranger), REVOKE, 0, 5, 0);
		used = lane_add(stranger, used, REVOKE, 0, 5, 0);
		break;
	case 5:
	case 6:
		used = windows_add(windows, used, 1, &window);
		windows_post(windows, used);
		/* The answer has arrived with this.  As long as it has not, no lane asks again. */
		windows_say(windows, DONE, 1, 1);
		core_expect_send(&windows->lane, 1, KRDMA_WC_SUCCESS);
		if (!windows_have_asked(windows, 2, WINDOWS_RKEY + 1))
			return false;
		used = lane_begin(stranger);
		if (number == 5)
			/* One window with two keys. */
			window.rkey++;
		else
			/* One that was revoked. */
			used = lane_add(stranger, used, REVOKE, 0, 5, 0);
		used = windows_add(windows, used, 1, &window);
		break;
	default:
		return false;
	}
	windows_violate(windows, used);
	return true;
}

/* A giver that violates the protocol loses its trunk, and no other lane notices. */
/* Proves: F17 */
static void lane_window_lies(struct core_test *test)
{
	struct windows *windows = windows_begin(test);

	for (int i = 0; windows && !test->failures; i++) {
		if (!windows_lie(windows, i))
			break;
		windows_ended(windows, __func__, __LINE__, i);
		CORE_TRUE(test, core_await_event(&windows->lane, KRDMA_EVENT_CLOSED,
						 CORE_TIMEOUT_MS));
		lane_expect_alive(windows->pair);
		if (!windows_again(windows, LANE_FRAMES))
			break;
	}
	if (windows)
		windows_close(windows);
}

/* A window that is not what the peer says; returns false behind the last. */
static bool windows_deceive(struct windows *windows, struct window *window, u8 *opcode, int number)
{
	*window = windows_own(windows, 5);
	*opcode = number % 2 ? KRDMA_OP_READ : KRDMA_OP_WRITE;
	switch (number) {
	case 0:
	case 1:
		/* Any key. */
		window->rkey ^= 0xffffff00;
		break;
	case 2:
	case 3:
		/* More than the key covers. */
		window->length += WINDOW_MEMORY;
		break;
	case 4:
	case 5:
		/* One that ends before it is revoked. */
		CORE_EQ(windows->test, 0, krdma_mr_deregister(windows->own.mr));
		windows->own.mr = NULL;
		break;
	default:
		return false;
	}
	return true;
}

/* The device of a peer refuses what its window promises: its link ends, with a status. */
/* Proves: F17 */
static void lane_window_deceives(struct core_test *test)
{
	struct windows *windows = windows_begin(test);
	struct window window;
	u8 opcode;

	for (int i = 0; windows && !test->failures; i++) {
		u64 addr;

		if (!windows_have_asked(windows, 1, WINDOWS_RKEY) ||
		    !windows_deceive(windows, &window, &opcode, i))
			break;
		memset(windows->memory.data, 0xee, WINDOW_MEMORY);
		windows_post(windows, windows_add(windows, lane_begin(windows->stranger), 1,
						  &window));
		windows_say(windows, DONE, 1, 1);
		core_expect_send(&windows->lane, 1, KRDMA_WC_SUCCESS);
		addr = windows->own.info.remote_addr;
		windows->own.info.remote_addr += window.length - WINDOW_MEMORY;
		windows_operate(windows, 2, opcode, WINDOWS_RKEY, 0, 64);
		core_expect_send(&windows->lane, 2, KRDMA_WC_REM_ACCESS_ERR);
		windows->own.info.remote_addr = addr;
		windows_ended(windows, __func__, __LINE__, i);
		CORE_TRUE(test, core_await_event(&windows->lane, KRDMA_EVENT_CLOSED,
						 CORE_TIMEOUT_MS));
		CORE_TRUE(test, !memchr_inv(windows->memory.data, 0xee, WINDOW_MEMORY));
		lane_expect_alive(windows->pair);
		if (!windows_again(windows, LANE_FRAMES))
			break;
	}
	if (windows)
		windows_close(windows);
}

/* A frame with one record is ready to be sent, at @offset. */
static struct krdma_sge windows_seal(struct windows *windows, u32 offset, u32 used)
{
	u8 *data = windows->stranger->from.data;

	data[4] = used;
	lane_put(data + 8, windows->grant + windows->frames);
	if (offset)
		memcpy(data + offset, data, used);
	return core_sge(&windows->stranger->from, offset, used);
}

/* In two frames, one behind the other: the second one is there when the first one is read. */
static void windows_done_and_revoke(struct windows *windows)
{
	struct lane_stranger *stranger = windows->stranger;
	struct core_test *test = windows->test;
	struct krdma_sge sges[2];
	struct krdma_send_wr wrs[2];

	sges[0] = windows_seal(windows, LANE_FRAME,
			       lane_add(stranger, lane_begin(stranger), DONE, 0, 1, 1));
	sges[1] = windows_seal(windows, 0,
			       lane_add(stranger, lane_begin(stranger), REVOKE, 0, 5, 0));
	for (int i = 0; i < 2; i++)
		wrs[i] = (struct krdma_send_wr) {
			.wr_id = i, .opcode = KRDMA_OP_SEND, .sges = &sges[i], .sge_count = 1,
		};
	CORE_EQ(test, 2, krdma_conn_post_send(stranger->end.conn, wrs, 2));
	core_expect_send(&stranger->end, 0, KRDMA_WC_SUCCESS);
	core_expect_send(&stranger->end, 1, KRDMA_WC_SUCCESS);
}

/* Many work requests wait for the first one, and are in flight when the window is revoked. */
static void windows_revoke_in_flight(struct windows *windows, u8 opcode)
{
	struct lane_stranger *stranger = windows->stranger;
	struct core_test *test = windows->test;
	struct window window = windows_own(windows, 5);
	u32 used = lane_begin(stranger);

	core_fill(windows->memory.data, WINDOW_MEMORY, opcode);
	core_fill(windows->own.data, WINDOW_MEMORY, opcode + 1);
	if (!windows_have_asked(windows, 0, WINDOWS_RKEY))
		return;
	windows_post(windows, windows_add(windows, used, 1, &window));
	/* The answer comes behind that. */
	windows_say(windows, REVOKE, 77, 0);
	windows_expect(windows, REVOKED, 77);
	for (u32 i = 1; i <= WINDOW_ROW; i++)
		windows_operate(windows, i, opcode, WINDOWS_RKEY, i % 4 * WINDOW_PIECE,
				WINDOW_PIECE);
	windows_expect_none(windows);
	windows_done_and_revoke(windows);
	windows_expect(windows, REVOKED, 5);
	/* All that the device has done is complete, and it does nothing after that. */
	CORE_EQ(test, WINDOW_ROW + 1, READ_ONCE(windows->lane.told));
	CORE_EQ(test, 0, krdma_mr_deregister(windows->own.mr));
	windows->own.mr = NULL;
	for (u32 i = 0; i <= WINDOW_ROW; i++)
		core_expect_send(&windows->lane, i, KRDMA_WC_SUCCESS);
	CORE_TRUE(test, core_filled(windows->own.data, 4 * WINDOW_PIECE,
				    opcode == KRDMA_OP_READ ? opcode + 1 : opcode));
	CORE_TRUE(test, core_filled(windows->memory.data, 4 * WINDOW_PIECE,
				    opcode == KRDMA_OP_READ ? opcode + 1 : opcode));
	/* It answers once, and goes on by records. */
	windows_expect_none(windows);
	windows_operate(windows, 99, KRDMA_OP_WRITE, WINDOWS_RKEY, 0, 64);
	windows_expect(windows, MEM_WRITE, 1);
	windows_say(windows, DONE, 1, 2);
	core_expect_send(&windows->lane, 99, KRDMA_WC_SUCCESS);
}

/* A window is given back when nothing is in flight with it. */
/* Proves: F17 */
static void lane_window_revoked_in_flight(struct core_test *test)
{
	static const u8 opcodes[] = { KRDMA_OP_WRITE, KRDMA_OP_READ };
	struct windows *windows = windows_begin(test);

	for (int i = 0; windows && i < 2 * ARRAY_SIZE(opcodes) && !test->failures; i++) {
		windows_revoke_in_flight(windows, opcodes[i % 2]);
		if (test->failures || !windows_again(windows, LANE_FRAMES))
			break;
	}
	if (windows)
		windows_close(windows);
}

/* What this side does not know, or not any more, is given back at once, and often. */
/* Proves: F17 */
static void lane_window_revoke_unknown(struct core_test *test)
{
	struct windows *windows = windows_begin(test);
	struct lane_stranger *stranger;
	struct window window;
	u32 used;

	if (!windows)
		return;
	stranger = windows->stranger;
	window = windows_own(windows, 5);
	windows_say(windows, REVOKE, U32_MAX, 0);
	windows_expect(windows, REVOKED, U32_MAX);
	used = lane_begin(stranger);
	for (u32 i = 0; i < LANE_OPENS; i++)
		used = lane_add(stranger, used, REVOKE, 0, i, 0);
	windows_post(windows, used);
	for (u32 i = 0; i < LANE_OPENS; i++)
		windows_expect(windows, REVOKED, i);

	/* In the same frame as the window itself, and later again. */
	if (!windows_have_asked(windows, 1, WINDOWS_RKEY))
		goto out;
	used = windows_add(windows, lane_begin(stranger), 1, &window);
	used = lane_add(stranger, used, REVOKE, 0, 5, 0);
	windows_post(windows, used);
	windows_expect(windows, REVOKED, 5);
	windows_say(windows, REVOKE, 5, 0);
	windows_expect(windows, REVOKED, 5);

	/* The same number for another window. */
	if (!windows_have_asked(windows, 2, WINDOWS_RKEY + 1))
		goto out;
	windows_post(windows, windows_add(windows, lane_begin(stranger), 1, &window));
	windows_say(windows, DONE, 1, 2);
	core_expect_send(&windows->lane, 1, KRDMA_WC_SUCCESS);
	core_expect_send(&windows->lane, 2, KRDMA_WC_SUCCESS);
	core_fill(windows->memory.data, 64, 3);
	windows_operate(windows, 3, KRDMA_OP_WRITE, WINDOWS_RKEY + 1, 0, 64);
	core_expect_send(&windows->lane, 3, KRDMA_WC_SUCCESS);
	CORE_TRUE(test, core_written(test, windows->own.data, 64, 3));
	windows_expect_none(windows);
out:
	windows_close(windows);
}

/*
 * A peer that takes nothing
 */

/* More than may end at a time for one user. */
#define STALLED		6
/* As krdma has it: how long the end of a lane waits for the device. */
#define STALL_MS	5000
/* What does not wait for it takes less. */
#define STALL_SOON_MS	3000
/* Until the peer is stalled, that many writes of a lane may end. */
#define STALL_WRITES	100

/* The lane has a window to all of the stranger's memory. */
static bool windows_give(struct windows *windows, struct core_end *end, u32 number)
{
	struct core_buffer remote = { .info = windows->own.info };
	struct window window = windows_own(windows, 5);
	const u8 *record;

	remote.info.rkey = WINDOWS_RKEY;
	if (!CORE_EQ(windows->test, 1, core_rdma(end, 1, KRDMA_OP_WRITE, &windows->memory, 0,
						 WINDOW_LONG, &remote, 0, 0)))
		return false;
	do {
		record = windows_next(windows, CORE_TIMEOUT_MS);
	} while (record && record[0] == MEM_WRITE);
	if (!CORE_TRUE(windows->test, record) || !CORE_EQ(windows->test, ASK, record[0]))
		return false;
	windows_post(windows, windows_add(windows, lane_begin(windows->stranger), number, &window));
	windows_say(windows, DONE, number, 1);
	return core_expect_send(end, 1, KRDMA_WC_SUCCESS);
}

/* The stranger has no receive for a frame, so the device does nothing that is behind it. */
static void windows_stall(struct windows *windows)
{
	struct core_end *end = &windows->stranger->end;
	struct krdma_wc wc;

	windows->grant += LANE_FRAMES;
	for (u32 i = 0; i < LANE_FRAMES; i++) {
		windows_say(windows, FIND, i + 1, lane_port_of(windows->pair));
		CORE_TRUE(windows->test, core_await_receive(end, &wc, CORE_TIMEOUT_MS));
	}
	windows_say(windows, FIND, LANE_FRAMES + 1, lane_port_of(windows->pair));
}

/*
 * Posts writes of a lane until one does not end: then the device has the frame, and does nothing
 * more.
 */
static bool windows_await_stall(struct windows *windows, struct core_end *end,
				const struct core_buffer *remote)
{
	struct core_test *test = windows->test;
	struct krdma_wc wc;

	for (u32 i = 0; i < STALL_WRITES; i++) {
		if (!CORE_EQ(test, 1, core_rdma(end, 1, KRDMA_OP_WRITE, &windows->memory, 0, 64,
						remote, 0, 0)))
			return false;
		if (!core_await_send(end, &wc, CORE_QUIET_MS))
			return true;
		if (!CORE_EQ(test, KRDMA_WC_SUCCESS, wc.status))
			return false;
	}
	return CORE_TRUE(test, false);
}

static void windows_end_stalled(struct windows *windows, struct core_end *ends)
{
	struct core_buffer remote = { .info = windows->own.info };
	struct core_test *test = windows->test;
	ktime_t begin;

	remote.info.rkey = WINDOWS_RKEY;
	windows_stall(windows);
	if (!windows_await_stall(windows, &ends[0], &remote))
		return;
	for (u32 i = 0; i < STALLED; i++)
		CORE_EQ(test, 1, core_rdma(&ends[i], 2, KRDMA_OP_WRITE, &windows->memory, 0, 64,
					   &remote, 0, 0));
	/* Work items end them, and a thread ends the last one. */
	begin = ktime_get();
	for (u32 i = 0; i < STALLED - 1; i++)
		CORE_EQ(test, 0, krdma_conn_disconnect(ends[i].conn));
	krdma_conn_end(ends[STALLED - 1].conn);
	/* One of the same session, for which the device does nothing. */
	CORE_EQ(test, 0, krdma_conn_disconnect(windows->lane.conn));
	CORE_TRUE(test, core_await_event(&windows->lane, KRDMA_EVENT_CLOSED, CORE_TIMEOUT_MS));
	CORE_TRUE(test, ktime_ms_delta(ktime_get(), begin) < STALL_SOON_MS);

	/* Nothing says that the device is through before the link is over. */
	for (u32 i = 0; i < STALLED; i++) {
		CORE_TRUE(test, core_await_event(&ends[i], KRDMA_EVENT_CLOSED, CORE_TIMEOUT_MS));
		if (!i)
			core_expect_send(&ends[i], 1, KRDMA_WC_WR_FLUSH_ERR);
		core_expect_send(&ends[i], 2, KRDMA_WC_WR_FLUSH_ERR);
	}
	CORE_TRUE(test, ktime_ms_delta(ktime_get(), begin) >= STALL_MS);
	CORE_TRUE(test, core_await_event(&windows->stranger->end, KRDMA_EVENT_CLOSED,
					 CORE_TIMEOUT_MS));
	/* With a lane that nobody has ended. */
	CORE_TRUE(test, core_await_event(&ends[STALLED], KRDMA_EVENT_CLOSED, CORE_TIMEOUT_MS));
}

/* Lanes end in bounded time whatever the peer does, and keep no other connection from its end. */
/* Proves: F17 */
static void lane_window_stalled(struct core_test *test)
{
	struct windows *windows = windows_begin(test);
	struct core_end *ends = kzalloc_objs(*ends, STALLED + 1, GFP_KERNEL);
	bool made = windows && CORE_TRUE(test, ends);

	for (u32 i = 0; i <= STALLED && made; i++)
		made = core_end_init(&ends[i], test, NULL) &&
		       windows_open(windows, &ends[i], i + 2) &&
		       (i == STALLED || windows_give(windows, &ends[i], i + 2));
	if (made)
		windows_end_stalled(windows, ends);
	for (u32 i = 0; i <= STALLED && ends; i++) {
		core_end_close(&ends[i]);
		core_end_free(&ends[i]);
	}
	kfree(ends);
	if (windows)
		windows_close(windows);
}

/* So many work requests of a lane that was refused a window do not ask for it. */
#define WINDOW_AGAIN	1024
#define WINDOW_BATCH	32

/* A batch of writes, which do not ask; @done is the number of all writes with them. */
static void windows_by_records(struct windows *windows, u32 done)
{
	for (u32 i = 0; i < WINDOW_BATCH; i++)
		windows_operate(windows, i, KRDMA_OP_WRITE, WINDOWS_RKEY, 0, 64);
	for (u32 i = 0; i < WINDOW_BATCH; i++) {
		if (!windows_expect(windows, MEM_WRITE, 1))
			return;
	}
	windows_say(windows, DONE, 1, done);
	for (u32 i = 0; i < WINDOW_BATCH; i++)
		core_expect_send(&windows->lane, i, KRDMA_WC_SUCCESS);
}

/* The answer to the question of a write, which is done. */
static void windows_answer(struct windows *windows, const struct window *window, u32 done)
{
	struct lane_stranger *stranger = windows->stranger;
	u32 used = windows_add(windows, lane_begin(stranger), 1, window);

	windows_post(windows, lane_add(stranger, used, DONE, 0, 1, done));
	core_expect_send(&windows->lane, 0, KRDMA_WC_SUCCESS);
}

/* Where there is no window now, there may be one later: the lane asks again, and not often. */
/* Proves: F17 */
static void lane_window_refused_once(struct core_test *test)
{
	struct windows *windows = windows_begin(test);
	struct window window;
	u32 done = 1;

	if (!windows)
		return;
	window = windows_own(windows, 5);
	if (!windows_have_asked(windows, 0, WINDOWS_RKEY))
		goto out;
	windows_answer(windows, &(struct window) {}, done);
	for (u32 i = 0; i < WINDOW_AGAIN / WINDOW_BATCH && !test->failures; i++) {
		done += WINDOW_BATCH;
		windows_by_records(windows, done);
	}
	if (test->failures || !windows_have_asked(windows, 0, WINDOWS_RKEY))
		goto out;
	windows_answer(windows, &window, done + 1);
	core_fill(windows->memory.data, 64, 3);
	windows_operate(windows, 1, KRDMA_OP_WRITE, WINDOWS_RKEY, 0, 64);
	core_expect_send(&windows->lane, 1, KRDMA_WC_SUCCESS);
	CORE_TRUE(test, core_written(test, windows->own.data, 64, 3));
	windows_expect_none(windows);
out:
	windows_close(windows);
}

/* Short writes of a lane with one rkey, the last of which asks. */
#define WINDOW_SHORT	4
#define WINDOW_TURNS	32

/* Such writes, without a window.  Returns the number of questions, or U32_MAX. */
static u32 windows_refuse(struct windows *windows, u32 rkey, u32 done)
{
	u32 questions = 0;
	const u8 *record;

	for (u32 i = 0; i < WINDOW_SHORT; i++)
		windows_operate(windows, i, KRDMA_OP_WRITE, rkey, 0, 64);
	for (u32 writes = 0; writes < WINDOW_SHORT;) {
		record = windows_next(windows, CORE_TIMEOUT_MS);
		if (!CORE_TRUE(windows->test, record))
			return U32_MAX;
		if (record[0] == MEM_WRITE) {
			writes++;
			continue;
		}
		if (!CORE_EQ(windows->test, ASK, record[0]))
			return U32_MAX;
		questions++;
		windows_post(windows, windows_add(windows, lane_begin(windows->stranger), 1,
						  &(struct window) {}));
	}
	windows_say(windows, DONE, 1, done);
	for (u32 i = 0; i < WINDOW_SHORT; i++)
		core_expect_send(&windows->lane, i, KRDMA_WC_SUCCESS);
	return questions;
}

/* Several rkeys without windows are asked for ever more rarely, all together. */
/* Proves: F17 */
static void lane_window_refused_in_turn(struct core_test *test)
{
	struct windows *windows = windows_begin(test);
	u32 questions = 0;

	if (!windows)
		return;
	for (u32 i = 0; i < WINDOW_TURNS && !test->failures; i++)
		questions += windows_refuse(windows, WINDOWS_RKEY + (i % 3 << 8),
					    (i + 1) * WINDOW_SHORT);
	CORE_TRUE(test, questions > 1);
	CORE_TRUE(test, questions < 8);
	windows_close(windows);
}

const struct core_case core_lane_giver_cases[] = {
	CORE_CASE(lane_window_lies),
	CORE_CASE(lane_window_deceives),
	CORE_CASE(lane_window_revoked_in_flight),
	CORE_CASE(lane_window_revoke_unknown),
	CORE_CASE(lane_window_stalled),
	CORE_CASE(lane_window_refused_once),
	CORE_CASE(lane_window_refused_in_turn),
	{}
};
