// SPDX-License-Identifier: GPL-2.0
/*
 * Lanes: windows, with a peer that asks for them by records that it makes by itself, and uses them
 * by its own device.
 */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/ktime.h>
#include <linux/prandom.h>
#include <linux/preempt.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include "fixture.h"
#include "lanes.h"
#include "windows.h"

/* As krdma has them: what a lane and a trunk are given, and how long the peer may be silent. */
#define WINDOWS_LANE	16
#define WINDOWS_TRUNK	256
#define WINDOW_REVOKE_MS	5000
/* How long the link may take to end then, and all of it when the peer answers. */
#define WINDOW_END_MS	5000
#define WINDOW_SOON_MS	3000

/*
 * Frames
 */

static u32 windows_grant(const struct windows *windows)
{
	return windows->grant + (windows->fixed ? 0 : windows->frames);
}

void windows_post(struct windows *windows, u32 used)
{
	windows->told = windows->frames;
	lane_post(windows->stranger, used, windows_grant(windows));
}

void windows_violate(struct windows *windows, u32 used)
{
	lane_post_violation(windows->stranger, used, windows_grant(windows));
}

void windows_say(struct windows *windows, u8 type, u32 lane, u32 value)
{
	struct lane_stranger *stranger = windows->stranger;

	windows_post(windows, lane_add(stranger, lane_begin(stranger), type, 0, lane, value));
}

/* Has the next frame, in @timeout_ms, in its place.  Some only grant. */
static bool windows_frame(struct windows *windows, u32 timeout_ms)
{
	struct lane_stranger *stranger = windows->stranger;
	struct core_test *test = windows->test;
	struct krdma_wc wc;

	if (!core_await_receive(&stranger->end, &wc, timeout_ms) || wc.status)
		return false;
	memcpy(windows->frame, stranger->to.data + wc.wr_id * LANE_FRAME, wc.length);
	CORE_EQ(test, 1, core_receive(&stranger->end, wc.wr_id, &stranger->to,
				      wc.wr_id * LANE_FRAME, LANE_FRAME));
	windows->frames++;
	windows->at = LANE_HEADER;
	windows->length = wc.length;
	/* Otherwise the next frames may have to wait for it. */
	if (!windows->fixed && windows->frames - windows->told >= LANE_FRAMES / 2)
		windows_post(windows, lane_begin(stranger));
	return true;
}

const u8 *windows_next(struct windows *windows, u32 timeout_ms)
{
	const u8 *record;

	while (windows->at == windows->length) {
		if (!windows_frame(windows, timeout_ms))
			return NULL;
	}
	record = windows->frame + windows->at;
	windows->at += LANE_HEADER + round_up(record[2] | record[3] << 8, 8);
	return record;
}

const u8 *windows_expect(struct windows *windows, u8 type, u32 lane)
{
	const u8 *record = windows_next(windows, CORE_TIMEOUT_MS);

	if (!CORE_TRUE(windows->test, record) || !CORE_EQ(windows->test, type, record[0]) ||
	    !CORE_EQ(windows->test, lane, lane_get(record + 4)))
		return NULL;
	return record;
}

bool windows_expect_none(struct windows *windows)
{
	const u8 *record = windows_next(windows, CORE_QUIET_MS);

	return core_check(windows->test, !record, __func__, __LINE__, "there is a record: %u",
			  record ? record[0] : 0);
}

static struct window window_read(const u8 *record)
{
	const u8 *body = record + LANE_HEADER;

	return (struct window) {
		.given = lane_get(record + 12) == 1,
		.addr = lane_get64(body),
		.rkey = lane_get(body + 8),
		.rights = lane_get(body + 12),
		.number = lane_get64(body + 16),
		.length = lane_get64(body + 24),
	};
}

/* The answer to ASK. */
static struct window windows_ask(struct windows *windows, u32 lane, u32 rkey)
{
	const u8 *record;

	windows_say(windows, ASK, lane, rkey);
	record = windows_expect(windows, WINDOW, lane);
	return record ? window_read(record) : (struct window) {};
}

/* The same for memory that has a window. */
static struct window windows_given(struct windows *windows, u32 lane,
				   const struct core_buffer *buffer)
{
	struct window window = windows_ask(windows, lane, buffer->info.rkey);

	CORE_TRUE(windows->test, window.given && window.number && window.rkey);
	CORE_TRUE(windows->test, window.addr == buffer->info.remote_addr);
	CORE_TRUE(windows->test, window.length == buffer->size);
	return window;
}

static void windows_refused(struct windows *windows, u32 lane, u32 rkey)
{
	CORE_TRUE(windows->test, !windows_ask(windows, lane, rkey).given);
}

u32 windows_add(struct windows *windows, u32 used, u32 lane, const struct window *window)
{
	u8 body[32];

	lane_put64(body, window->addr);
	lane_put(body + 8, window->rkey);
	lane_put(body + 12, window->rights);
	lane_put64(body + 16, window->number);
	lane_put64(body + 24, window->length);
	return lane_add_body(windows->stranger, used, WINDOW, 0, lane, window->given, body,
			     sizeof(body));
}

/*
 * Strangers
 */

/* As many work requests as the cases post at a time. */
static const struct krdma_conn_attr windows_attr = {
	.send_depth = 64, .recv_depth = 4, .where = KRDMA_CONTEXT_SOFTIRQ,
};

static bool windows_make(struct windows *windows, struct core_buffer *buffer,
			 struct krdma_session *session)
{
	if (!core_buffer_make(windows->test, buffer, session, WINDOW_MEMORY,
			      CORE_ACCESS_ALL(windows->test)))
		return false;
	core_buffer_first_rkey(buffer);
	krdma_mr_allow_windows(buffer->mr);
	return true;
}

static bool windows_link(struct windows *windows, u16 frames)
{
	struct core_test *test = windows->test;
	u8 hello[sizeof(lane_hello)];

	memcpy(hello, lane_hello, sizeof(hello));
	hello[10] = frames;
	windows->grant = frames;
	windows->frames = 0;
	windows->told = 0;
	windows->fixed = false;
	windows->at = windows->length;
	windows->stranger = lane_stranger_open(test, hello, sizeof(hello));
	return windows->stranger &&
	       CORE_EQ(test, 0, krdma_conn_wait(windows->stranger->end.conn, CORE_TIMEOUT_MS)) &&
	       windows_make(windows, &windows->own, windows->stranger->session);
}

bool windows_open(struct windows *windows, struct core_end *end, u32 number)
{
	struct core_test *test = windows->test;

	windows_say(windows, OPEN, number, lane_port_of(windows->pair));
	end->conn = krdma_listener_next(windows->pair->listener, &core_ops, end, CORE_TIMEOUT_MS);
	return CORE_OK_PTR(test, end->conn) &&
	       CORE_EQ(test, 0, krdma_conn_create_qp(end->conn, &windows_attr)) &&
	       CORE_EQ(test, 0, krdma_conn_accept(end->conn, &(struct krdma_conn_param) {})) &&
	       windows_expect(windows, ACCEPT, number);
}

static void windows_unlink(struct windows *windows)
{
	core_end_close(&windows->lane);
	core_buffer_free(windows->test, &windows->own);
	if (windows->stranger)
		lane_stranger_close(windows->stranger);
	windows->stranger = NULL;
}

void windows_close(struct windows *windows)
{
	windows_unlink(windows);
	core_end_free(&windows->lane);
	if (windows->pair) {
		if (!windows->test->failures)
			lane_expect_alive(windows->pair);
		core_buffer_free(windows->test, &windows->memory);
		lane_drop_requests(windows->pair->listener);
		core_pair_close(windows->pair);
	}
	kfree(windows);
}

/* The device of the peer must know what it accesses, and not go on with that afterwards. */
static bool windows_apply(struct core_test *test)
{
	if (!test->iwarp && (test->attr.caps & KRDMA_DEVICE_CAP_FAST_REG))
		return true;
	test->skipped = "lanes have no windows over the device";
	return false;
}

bool windows_again(struct windows *windows, u16 frames)
{
	windows_unlink(windows);
	windows->lane.event_count = 0;
	windows->lane.told = 0;
	windows->lane.sends->head = windows->lane.sends->tail;
	return windows_link(windows, frames) && windows_open(windows, &windows->lane, 1);
}

struct windows *windows_begin(struct core_test *test)
{
	struct windows *windows;

	if (!windows_apply(test))
		return NULL;
	windows = kzalloc_obj(*windows, GFP_KERNEL);
	if (!CORE_TRUE(test, windows))
		return NULL;
	windows->test = test;
	windows->pair = lane_open(test);
	if (core_end_init(&windows->lane, test, NULL) && windows->pair &&
	    windows_make(windows, &windows->memory, windows->pair->server_session) &&
	    windows_again(windows, LANE_FRAMES))
		return windows;
	windows_close(windows);
	return NULL;
}

bool windows_ended(struct windows *windows, const char *function, int line, int number)
{
	return core_check(windows->test, core_await_event(&windows->stranger->end,
							  KRDMA_EVENT_CLOSED, CORE_TIMEOUT_MS),
			  function, line, "violation %d is none", number);
}

/* What the stranger's device does with the first bytes of a window; its status. */
static u8 windows_access(struct windows *windows, u8 opcode, const struct window *window)
{
	struct core_buffer remote = {
		.info = { .remote_addr = window->addr, .rkey = window->rkey },
	};
	struct core_end *end = &windows->stranger->end;
	struct krdma_wc wc;

	if (core_rdma(end, 7, opcode, &windows->own, 0, 64, &remote, 0, 0) != 1)
		return KRDMA_WC_WR_FLUSH_ERR;
	if (!CORE_TRUE(windows->test, core_await_send(end, &wc, CORE_TIMEOUT_MS)))
		return KRDMA_WC_SUCCESS;
	return wc.status;
}

/*
 * The end of memory
 */

/* Somebody deregisters an MR: when that was done, and how long it took. */
struct windows_release {
	struct work_struct work;
	struct completion done;
	struct krdma_mr *mr;
	ktime_t begun;
	s64 ms;
	int ret;
};

static void windows_release_work(struct work_struct *work)
{
	struct windows_release *release = container_of(work, struct windows_release, work);

	release->ret = krdma_mr_deregister(release->mr);
	release->ms = ktime_ms_delta(ktime_get(), release->begun);
	complete(&release->done);
}

static void windows_start_release(struct windows_release *release, struct core_buffer *buffer)
{
	INIT_WORK_ONSTACK(&release->work, windows_release_work);
	init_completion(&release->done);
	release->mr = buffer->mr;
	release->begun = ktime_get();
	buffer->mr = NULL;
	queue_work(system_long_wq, &release->work);
}

/* False if the link had to be ended for it. */
static bool windows_released(struct windows *windows, struct windows_release *release, s64 from_ms,
			     s64 to_ms)
{
	bool released = wait_for_completion_timeout(&release->done,
						    msecs_to_jiffies(CORE_TIMEOUT_MS));

	if (!released) {
		windows_unlink(windows);
		wait_for_completion(&release->done);
	}
	flush_work(&release->work);
	destroy_work_on_stack(&release->work);
	CORE_EQ(windows->test, 0, release->ret);
	core_check(windows->test, release->ms >= from_ms && release->ms <= to_ms, __func__,
		   __LINE__, "it took %lld ms, not %lld to %lld", release->ms, from_ms, to_ms);
	return released;
}

/*
 * A peer that uses windows
 */

/* The peer's device has the memory until the peer says that it does not use it any more. */
/* Proves: F17 */
static void lane_window_is_revoked(struct core_test *test)
{
	struct windows *windows = windows_begin(test);
	struct windows_release release;
	struct window window;

	if (!windows)
		return;
	window = windows_given(windows, 1, &windows->memory);
	CORE_EQ(test, CORE_ACCESS_ALL(test) & ~KRDMA_ACCESS_LOCAL_WRITE, window.rights);
	core_fill(windows->own.data, 64, 1);
	CORE_EQ(test, KRDMA_WC_SUCCESS, windows_access(windows, KRDMA_OP_WRITE, &window));
	CORE_TRUE(test, core_written(test, windows->memory.data, 64, 1));
	/* The same one for all who ask for it. */
	CORE_EQ(test, window.number, windows_given(windows, 1, &windows->memory).number);

	windows_start_release(&release, &windows->memory);
	windows_expect(windows, REVOKE, window.number);
	/* There is none from now on. */
	windows_refused(windows, 1, windows->memory.info.rkey);
	CORE_TRUE(test, !wait_for_completion_timeout(&release.done,
						     msecs_to_jiffies(4 * CORE_QUIET_MS)));
	core_fill(windows->own.data, 64, 2);
	CORE_EQ(test, KRDMA_WC_SUCCESS, windows_access(windows, KRDMA_OP_WRITE, &window));
	CORE_TRUE(test, core_written(test, windows->memory.data, 64, 2));
	windows_say(windows, REVOKED, window.number, 0);
	if (!windows_released(windows, &release, 4 * CORE_QUIET_MS, WINDOW_SOON_MS))
		goto out;
	windows_expect_none(windows);

	/* Then the key has gone: a work request with it ends the link. */
	core_fill(windows->own.data, 64, 3);
	CORE_TRUE(test, windows_access(windows, KRDMA_OP_WRITE, &window));
	CORE_TRUE(test, core_filled(windows->memory.data, 64, 2));
out:
	windows_close(windows);
}

/* What the peer of lane 1 says of @window, which is open; false behind the last. */
static bool windows_break(struct windows *windows, const struct window *window, int number)
{
	struct lane_stranger *stranger = windows->stranger;
	u32 rkey = windows->memory.info.rkey;
	u32 used = lane_begin(stranger);

	switch (number) {
	case 0:
		/* A lane that is not accepted yet. */
		used = lane_add(stranger, used, OPEN, 0, 2, lane_port_of(windows->pair));
		used = lane_add(stranger, used, ASK, 0, 2, rkey);
		break;
	case 1:
		used = lane_add(stranger, used, ASK, 0, 2, rkey);
		break;
	case 2:
		/* Again before the answer, which is known. */
		used = lane_add(stranger, used, ASK, 0, 1, rkey);
		used = lane_add(stranger, used, ASK, 0, 1, rkey);
		break;
	case 3:
		used = lane_add(stranger, used, ASK, 0, 1, rkey + 1);
		used = lane_add(stranger, used, ASK, 0, 1, rkey);
		break;
	case 4:
		/* A number that was never given. */
		used = lane_add(stranger, used, REVOKED, 0, window->number + 1, 0);
		break;
	case 5:
		used = lane_add(stranger, used, REVOKED, 0, 0, 0);
		break;
	case 6:
		/* The window is open. */
		used = lane_add(stranger, used, REVOKED, 0, window->number, 0);
		break;
	case 7:
	case 8:
		/* Twice. */
		windows_say(windows, CLOSE, 1, 0);
		windows_expect(windows, REVOKE, window->number);
		used = lane_add(stranger, lane_begin(stranger), REVOKED, 0, window->number, 0);
		if (number == 8) {
			windows_post(windows, used);
			used = lane_begin(stranger);
		}
		used = lane_add(stranger, used, REVOKED, 0, window->number, 0);
		break;
	case 9:
		/* This side has not asked. */
		used = windows_add(windows, used, 1, window);
		break;
	case 10:
		used = windows_add(windows, used, 1, &(struct window) {});
		break;
	default:
		return false;
	}
	windows_violate(windows, used);
	return true;
}

/* A peer that violates the protocol loses its trunk, and no other lane notices. */
/* Proves: F17 */
static void lane_window_violations(struct core_test *test)
{
	struct windows *windows = windows_begin(test);

	for (int i = 0; windows && !test->failures; i++) {
		struct window window = windows_given(windows, 1, &windows->memory);

		if (!windows_break(windows, &window, i))
			break;
		windows_ended(windows, __func__, __LINE__, i);
		lane_expect_alive(windows->pair);
		lane_drop_requests(windows->pair->listener);
		if (!windows_again(windows, LANE_FRAMES))
			break;
	}
	if (windows)
		windows_close(windows);
}

/* Two questions at once for memory without a window, so the first one waits. */
/* Proves: F17 */
static void lane_window_asked_twice(struct core_test *test)
{
	struct windows *windows = windows_begin(test);
	struct lane_stranger *stranger;
	u32 used;

	if (!windows)
		return;
	stranger = windows->stranger;
	used = lane_add(stranger, lane_begin(stranger), ASK, 0, 1, windows->memory.info.rkey);
	used = lane_add(stranger, used, ASK, 0, 1, windows->memory.info.rkey);
	windows_violate(windows, used);
	windows_ended(windows, __func__, __LINE__, 0);
	windows_close(windows);
}

/* How a peer does not answer. */
enum windows_silence {
	WINDOWS_SILENT,
	WINDOWS_CLOSED_BEFORE,		/* its lane has ended before the memory does */
	WINDOWS_CLOSED_AFTER,		/* its lane ends meanwhile */
	WINDOWS_WITHOUT_FRAMES,		/* it cannot even be told */
	WINDOWS_ANSWERED_UNTOLD,	/* it cannot, and answers */
	WINDOWS_SILENCES,
};

/* So few that after ACCEPT, WINDOW and FOUND only grants can be sent. */
#define WINDOWS_FEW_FRAMES	4

static void windows_keep_silent(struct windows *windows, enum windows_silence silence)
{
	bool unanswered = silence == WINDOWS_WITHOUT_FRAMES || silence == WINDOWS_ANSWERED_UNTOLD;
	struct window window = windows_given(windows, 1, &windows->memory);
	struct core_test *test = windows->test;
	s64 from_ms = WINDOW_REVOKE_MS * 7 / 10, to_ms = WINDOW_REVOKE_MS + WINDOW_END_MS;
	struct windows_release release;

	if (unanswered) {
		windows_say(windows, FIND, 5, lane_port_of(windows->pair));
		windows_expect(windows, FOUND, 5);
	}
	if (silence == WINDOWS_CLOSED_BEFORE) {
		windows_say(windows, CLOSE, 1, 0);
		windows_expect(windows, REVOKE, window.number);
		msleep(WINDOW_REVOKE_MS / 5);
	}
	windows_start_release(&release, &windows->memory);
	if (silence == WINDOWS_CLOSED_AFTER) {
		windows_expect(windows, REVOKE, window.number);
		msleep(WINDOW_REVOKE_MS / 5);
		windows_say(windows, CLOSE, 1, 0);
	}
	if (unanswered)
		windows_expect_none(windows);
	/* Not before the device cannot access it any more, and not much later. */
	if (silence == WINDOWS_ANSWERED_UNTOLD) {
		struct lane_stranger *stranger = windows->stranger;

		windows_violate(windows, lane_add(stranger, lane_begin(stranger), REVOKED, 0,
						  window.number, 0));
		from_ms = 0;
		to_ms = WINDOW_SOON_MS;
	}
	if (!windows_released(windows, &release, from_ms, to_ms))
		return;
	memset(windows->memory.data, 0xee, WINDOW_MEMORY);
	windows_ended(windows, __func__, __LINE__, silence);
	CORE_TRUE(test, windows_access(windows, KRDMA_OP_WRITE, &window));
	CORE_TRUE(test, !memchr_inv(windows->memory.data, 0xee, WINDOW_MEMORY));
	lane_expect_alive(windows->pair);
	core_buffer_free(test, &windows->memory);
}

/* Memory ends soon, whatever a peer does, and then nobody accesses it. */
/* Proves: F17 */
static void lane_window_of_the_silent(struct core_test *test)
{
	struct windows *windows = windows_begin(test);

	for (int i = 0; windows && i < WINDOWS_SILENCES && !test->failures; i++) {
		if (i && !windows_make(windows, &windows->memory, windows->pair->server_session))
			break;
		if (windows_again(windows, i < WINDOWS_WITHOUT_FRAMES ? LANE_FRAMES :
									WINDOWS_FEW_FRAMES)) {
			windows->fixed = i >= WINDOWS_WITHOUT_FRAMES;
			windows_keep_silent(windows, i);
		}
	}
	if (windows)
		windows_close(windows);
}

#define WINDOWS_GUESSES	200

/* There is no window for what the peer must not have, or its device must not. */
/* Proves: F17 */
static void lane_window_refusals(struct core_test *test)
{
	struct windows *windows = windows_begin(test);
	struct core_buffer foreign = {}, without = {}, local = {}, readable = {};
	struct rnd_state random;
	struct window window;

	if (!windows)
		return;
	if (!windows_make(windows, &foreign, windows->pair->client_session) ||
	    !core_buffer_make(test, &without, windows->pair->server_session, WINDOW_MEMORY,
			      CORE_ACCESS_ALL(test)) ||
	    !core_buffer_make(test, &local, windows->pair->server_session, WINDOW_MEMORY,
			      KRDMA_ACCESS_LOCAL_WRITE) ||
	    !core_buffer_make(test, &readable, windows->pair->server_session, WINDOW_MEMORY,
			      KRDMA_ACCESS_REMOTE_READ))
		goto out;
	core_buffer_first_rkey(&without);
	core_buffer_first_rkey(&readable);
	krdma_mr_allow_windows(local.mr);
	krdma_mr_allow_windows(readable.mr);
	prandom_seed_state(&random, 1);
	windows_refused(windows, 1, foreign.info.rkey);
	windows_refused(windows, 1, windows->own.info.rkey);
	windows_refused(windows, 1, without.info.rkey);
	windows_refused(windows, 1, local.info.rkey);
	for (int i = 0; i < WINDOWS_GUESSES && !test->failures; i++) {
		u32 guess = i % 2 ? prandom_u32_state(&random) :
				    windows->memory.info.rkey ^ BIT(i / 2 % 32);

		if (guess != windows->memory.info.rkey && guess != readable.info.rkey)
			windows_refused(windows, 1, guess);
	}
	/* No refusal is a window that is to be revoked. */
	windows_expect_none(windows);
	windows_given(windows, 1, &windows->memory);

	/* What may be read only is not written. */
	window = windows_given(windows, 1, &readable);
	CORE_EQ(test, KRDMA_ACCESS_REMOTE_READ, window.rights);
	CORE_EQ(test, KRDMA_WC_SUCCESS, windows_access(windows, KRDMA_OP_READ, &window));
	core_fill(windows->own.data, 64, 1);
	CORE_EQ(test, KRDMA_WC_REM_ACCESS_ERR, windows_access(windows, KRDMA_OP_WRITE, &window));
	CORE_TRUE(test, !memchr_inv(readable.data, 0, WINDOW_MEMORY));
out:
	windows_unlink(windows);
	core_buffer_free(test, &foreign);
	core_buffer_free(test, &without);
	core_buffer_free(test, &local);
	core_buffer_free(test, &readable);
	windows_close(windows);
}

/* A lane has so many windows, and for more the peer gets none; places are used again. */
/* Proves: F17 */
static void lane_window_of_one_too_many(struct core_test *test)
{
	struct core_buffer *buffers = kcalloc(WINDOWS_LANE + 1, sizeof(*buffers), GFP_KERNEL);
	struct windows *windows = CORE_TRUE(test, buffers) ? windows_begin(test) : NULL;
	struct windows_release release;
	u32 first = 0;

	if (!windows)
		goto out;
	for (int i = 0; i <= WINDOWS_LANE; i++) {
		if (!windows_make(windows, &buffers[i], windows->pair->server_session))
			goto out;
	}
	for (int i = 0; i < WINDOWS_LANE; i++) {
		u32 number = windows_given(windows, 1, &buffers[i]).number;

		first = first ?: number;
	}
	windows_refused(windows, 1, buffers[WINDOWS_LANE].info.rkey);
	/* None is made that would be of no use, and would have to be revoked. */
	windows_expect_none(windows);
	/* Those that it has are as they were. */
	CORE_EQ(test, first, windows_given(windows, 1, &buffers[0]).number);
	windows_start_release(&release, &buffers[0]);
	if (windows_expect(windows, REVOKE, first))
		windows_say(windows, REVOKED, first, 0);
	if (!windows_released(windows, &release, 0, WINDOW_SOON_MS))
		goto out;
	windows_given(windows, 1, &buffers[WINDOWS_LANE]);
	windows_expect_none(windows);
out:
	if (windows)
		windows_unlink(windows);
	for (int i = 0; buffers && i <= WINDOWS_LANE; i++)
		core_buffer_free(test, &buffers[i]);
	if (windows)
		windows_close(windows);
	kfree(buffers);
}

/* More lanes than a trunk has windows for. */
#define WINDOWS_LANES	(WINDOWS_TRUNK / WINDOWS_LANE + 1)
#define WINDOWS_ALL	(WINDOWS_LANES * WINDOWS_LANE)

struct windows_crowd {
	struct krdma_conn *conns[WINDOWS_LANES + 1];
	struct core_buffer buffers[WINDOWS_ALL];
	/* Those that were given, and not revoked. */
	u32 numbers[WINDOWS_TRUNK];
	u32 count;
};

/* Opens the next lane, and has it accepted.  Its connection is in @place if there is one. */
static bool windows_open_at(struct windows *windows, struct krdma_conn **place, u32 number)
{
	struct core_test *test = windows->test;
	struct krdma_conn *conn;

	windows_say(windows, OPEN, number, lane_port_of(windows->pair));
	conn = krdma_listener_next(windows->pair->listener, NULL, NULL, CORE_TIMEOUT_MS);
	if (!CORE_OK_PTR(test, conn))
		return false;
	*place = conn;
	return CORE_EQ(test, 0, krdma_conn_create_qp(conn, &lane_small)) &&
	       CORE_EQ(test, 0, krdma_conn_accept(conn, &(struct krdma_conn_param) {})) &&
	       windows_expect(windows, ACCEPT, number);
}

static bool windows_crowd_open(struct windows *windows, struct windows_crowd *crowd, u32 number)
{
	return windows_open_at(windows, &crowd->conns[number - 2], number);
}

/* Each lane asks for another window. */
static void windows_crowd_ask(struct windows *windows, struct windows_crowd *crowd, int round)
{
	struct lane_stranger *stranger = windows->stranger;
	u32 used = lane_begin(stranger);

	for (int i = 0; i < WINDOWS_LANES; i++)
		used = lane_add(stranger, used, ASK, 0, i + 2,
				crowd->buffers[i * WINDOWS_LANE + round].info.rkey);
	windows_post(windows, used);
	for (int i = 0; i < WINDOWS_LANES; i++) {
		const u8 *record = windows_next(windows, CORE_TIMEOUT_MS);
		struct window window;

		if (!CORE_TRUE(windows->test, record) ||
		    !CORE_EQ(windows->test, WINDOW, record[0]))
			return;
		window = window_read(record);
		if (window.given && CORE_TRUE(windows->test, crowd->count < WINDOWS_TRUNK))
			crowd->numbers[crowd->count++] = window.number;
	}
}

/* All lanes end.  Returns whether all windows are revoked. */
static bool windows_crowd_end(struct windows *windows, struct windows_crowd *crowd)
{
	struct lane_stranger *stranger = windows->stranger;
	u32 used = lane_begin(stranger);

	for (int i = 0; i < WINDOWS_LANES; i++)
		used = lane_add(stranger, used, CLOSE, 0, i + 2, 0);
	windows_post(windows, used);
	for (int i = 0; i < WINDOWS_TRUNK; i++) {
		const u8 *record = windows_next(windows, CORE_TIMEOUT_MS);
		u32 place = 0;

		if (!CORE_TRUE(windows->test, record) ||
		    !CORE_EQ(windows->test, REVOKE, record[0]))
			return false;
		while (place < crowd->count && crowd->numbers[place] != lane_get(record + 4))
			place++;
		if (!CORE_TRUE(windows->test, place < crowd->count))
			return false;
		crowd->numbers[place] = crowd->numbers[--crowd->count];
		/* As they are to be answered. */
		crowd->numbers[crowd->count] = lane_get(record + 4);
	}
	return CORE_EQ(windows->test, 0, crowd->count);
}

static void windows_crowd_answer(struct windows *windows, const struct windows_crowd *crowd)
{
	struct lane_stranger *stranger = windows->stranger;

	for (int i = 0; i < WINDOWS_TRUNK;) {
		u32 used = lane_begin(stranger);

		for (int end = i + WINDOWS_LANE; i < end; i++)
			used = lane_add(stranger, used, REVOKED, 0, crowd->numbers[i], 0);
		windows_post(windows, used);
		/* Its answer has the grant for the next one. */
		windows_say(windows, FIND, 5, 1);
		windows_expect(windows, FOUND, 5);
	}
}

static bool windows_crowd_begin(struct windows *windows, struct windows_crowd *crowd)
{
	for (u32 i = 0; i < WINDOWS_LANES; i++) {
		if (!windows_crowd_open(windows, crowd, i + 2))
			return false;
	}
	for (int i = 0; i < WINDOWS_ALL; i++) {
		if (!windows_make(windows, &crowd->buffers[i], windows->pair->server_session))
			return false;
	}
	return true;
}

/* A trunk has so many windows, and one that is not given back counts. */
/* Proves: F17 */
static void lane_windows_of_a_trunk(struct core_test *test)
{
	struct windows_crowd *crowd = kvzalloc_obj(*crowd, GFP_KERNEL);
	struct windows *windows = CORE_TRUE(test, crowd) ? windows_begin(test) : NULL;
	const u32 next = WINDOWS_LANES + 2;
	bool given = false;

	if (!windows || !windows_crowd_begin(windows, crowd))
		goto out;
	for (int i = 0; i < WINDOWS_LANE && !test->failures; i++)
		windows_crowd_ask(windows, crowd, i);
	CORE_EQ(test, WINDOWS_TRUNK, crowd->count);
	windows_refused(windows, 1, windows->memory.info.rkey);
	/* What others have is given to all. */
	windows_given(windows, 1, &crowd->buffers[0]);
	windows_say(windows, CLOSE, 1, 0);
	if (test->failures || !windows_crowd_end(windows, crowd))
		goto out;
	windows_expect_none(windows);
	if (!windows_crowd_open(windows, crowd, next))
		goto out;
	windows_refused(windows, next, windows->memory.info.rkey);
	windows_crowd_answer(windows, crowd);
	for (int i = 0; i < WINDOW_SOON_MS && !given && !test->failures; i++) {
		given = windows_ask(windows, next, windows->memory.info.rkey).given;
		usleep_range(1000, 2000);
	}
	CORE_TRUE(test, given);
out:
	if (windows)
		windows_unlink(windows);
	for (int i = 0; crowd && i <= WINDOWS_LANES; i++)
		lane_drop(crowd->conns[i]);
	for (int i = 0; crowd && i < WINDOWS_ALL; i++)
		core_buffer_free(test, &crowd->buffers[i]);
	if (windows)
		windows_close(windows);
	kvfree(crowd);
}

/* More lanes than are answered at a time; the records of a frame. */
#define WINDOWS_WAITERS	60

/* Lanes that ask for a window before it is registered get it all. */
/* Proves: F17 */
static void lane_window_of_many(struct core_test *test)
{
	struct krdma_conn **conns = kcalloc(WINDOWS_WAITERS, sizeof(*conns), GFP_KERNEL);
	struct windows *windows = CORE_TRUE(test, conns) ? windows_begin(test) : NULL;
	u32 used;

	for (int i = 0; windows && i < WINDOWS_WAITERS; i++) {
		if (!windows_open_at(windows, &conns[i], i + 2))
			goto out;
	}
	if (!windows)
		goto out;
	used = lane_begin(windows->stranger);
	for (int i = 0; i < WINDOWS_WAITERS; i++)
		used = lane_add(windows->stranger, used, ASK, 0, i + 2,
				windows->memory.info.rkey);
	windows_post(windows, used);
	for (int i = 0; i < WINDOWS_WAITERS; i++) {
		const u8 *record = windows_expect(windows, WINDOW, i + 2);

		if (!record || !CORE_TRUE(test, window_read(record).given))
			break;
	}
	windows_expect_none(windows);
out:
	if (windows)
		windows_unlink(windows);
	for (int i = 0; conns && i < WINDOWS_WAITERS; i++)
		lane_drop(conns[i]);
	if (windows)
		windows_close(windows);
	kfree(conns);
}

#define WINDOWS_ROUNDS	20

/* A trunk ends in the midst: with windows that are being made, and with memory that ends. */
/* Proves: F17 */
static void lane_window_trunk_ends(struct core_test *test)
{
	struct core_buffer *buffers = kcalloc(WINDOWS_LANE, sizeof(*buffers), GFP_KERNEL);
	struct windows *windows = CORE_TRUE(test, buffers) ? windows_begin(test) : NULL;
	struct windows_release release;

	for (int round = 0; windows && round < WINDOWS_ROUNDS && !test->failures; round++) {
		struct lane_stranger *stranger = windows->stranger;
		u32 used = lane_begin(stranger);

		for (int i = 0; i < WINDOWS_LANE; i++) {
			if (!windows_make(windows, &buffers[i], windows->pair->server_session))
				goto out;
			if (i && round % 2)
				windows_given(windows, 1, &buffers[i]);
		}
		used = lane_add(stranger, used, ASK, 0, 1, buffers[0].info.rkey);
		used = lane_add(stranger, used, REVOKED, 0, 0, 0);
		windows_start_release(&release, &buffers[1]);
		windows_violate(windows, used);
		windows_released(windows, &release, 0, WINDOW_END_MS);
		for (int i = 0; i < WINDOWS_LANE; i++)
			core_buffer_free(test, &buffers[i]);
		if (!windows_again(windows, LANE_FRAMES))
			break;
	}
out:
	if (windows)
		windows_unlink(windows);
	for (int i = 0; buffers && i < WINDOWS_LANE; i++)
		core_buffer_free(test, &buffers[i]);
	if (windows)
		windows_close(windows);
	kfree(buffers);
}

#define WINDOW_STREAM	16
#define WINDOW_STREAM_SIZE	SZ_256K
/* How often a lane writes until it has a window. */
#define WINDOW_TRIES	100

/* Counts the writes of the streaming lane that were done before that of the other one. */
struct window_race {
	struct core_end *stream;
	u64 seen;
	u8 status;
};

static void window_race_complete(struct core_end *end, const struct krdma_wc *wc)
{
	struct window_race *race = end->context;

	race->seen = READ_ONCE(race->stream->told);
	race->status = wc->status;
}

/* Writes until the device does it. */
static bool window_use(struct core_end *end, const struct core_buffer *from,
		       const struct core_buffer *to)
{
	struct krdma_conn_info info;

	for (int i = 0; i < WINDOW_TRIES; i++) {
		if (!CORE_EQ(end->test, 1, core_rdma(end, i, KRDMA_OP_WRITE, from, 0, LANE_FRAME,
						     to, 0, 0)) ||
		    !core_expect_send(end, i, KRDMA_WC_SUCCESS))
			return false;
		krdma_conn_query(end->conn, &info);
		if (info.sends_direct)
			return true;
	}
	return CORE_TRUE(end->test, !"the lane gets no window");
}

/*
 * A lane whose device writes all the time does not keep that of others waiting.  A short write
 * waits for no place, and a longer one for its turn.
 */
static void window_compete(struct core_pair *pair, struct core_pair *other,
			   const struct core_buffer *from, const struct core_buffer *own,
			   const struct core_buffer *to, u32 length)
{
	struct window_race *race = other->client.context;
	struct core_test *test = pair->test;

	race->seen = U64_MAX;
	WRITE_ONCE(pair->client.told, 0);
	WRITE_ONCE(other->client.told, 0);
	/* A software device would do the first ones before the last ones are posted. */
	preempt_disable();
	for (int i = 0; i < WINDOW_STREAM; i++)
		CORE_EQ(test, 1, core_rdma(&pair->client, i, KRDMA_OP_WRITE, from, 0,
					   WINDOW_STREAM_SIZE, to, 0, 0));
	CORE_EQ(test, 1, core_rdma(&other->client, 0, KRDMA_OP_WRITE, own, 0, length, to, 0, 0));
	preempt_enable();
	CORE_TRUE(test, core_await_told(&other->client, 1, CORE_TIMEOUT_MS));
	for (int i = 0; i < WINDOW_STREAM; i++)
		core_expect_send(&pair->client, i, KRDMA_WC_SUCCESS);
	CORE_EQ(test, KRDMA_WC_SUCCESS, race->status);
	/* All of them were in the queue before. */
	CORE_TRUE(test, race->seen < WINDOW_STREAM / 2);
}

/* Proves: F17 */
static void lane_window_turns(struct core_test *test)
{
	struct core_buffer from = {}, own = {}, to = {};
	struct core_pair *other = NULL;
	struct core_pair *pair;
	/* Until the other lane is closed: if it fails, its completion may be late. */
	struct window_race race;

	if (!windows_apply(test))
		return;
	/* As soon as the device has done it. */
	test->where = KRDMA_CONTEXT_SOFTIRQ;
	pair = lane_open(test);
	if (!pair)
		return;
	other = lane_open_beside(pair);
	if (!other ||
	    !core_buffer_make(test, &from, pair->client_session, WINDOW_STREAM_SIZE, 0) ||
	    !core_buffer_make(test, &own, other->client_session, WINDOW_MEMORY, 0) ||
	    !core_buffer_make(test, &to, pair->server_session, WINDOW_STREAM_SIZE,
			      CORE_ACCESS_ALL(test)))
		goto out;
	krdma_mr_allow_windows(to.mr);
	if (!window_use(&pair->client, &from, &to) || !window_use(&other->client, &own, &to))
		goto out;
	race = (struct window_race) { .stream = &pair->client };
	other->client.context = &race;
	other->client.complete = window_race_complete;
	window_compete(pair, other, &from, &own, &to, 8);
	window_compete(pair, other, &from, &own, &to, WINDOW_MEMORY);
out:
	lane_close_beside(other);
	core_pair_close(pair);
	core_buffer_free(test, &from);
	core_buffer_free(test, &own);
	core_buffer_free(test, &to);
}

const struct core_case core_lane_window_cases[] = {
	CORE_CASE(lane_window_is_revoked),
	CORE_CASE(lane_window_violations),
	CORE_CASE(lane_window_asked_twice),
	CORE_CASE(lane_window_of_the_silent),
	CORE_CASE(lane_window_refusals),
	CORE_CASE(lane_window_of_one_too_many),
	CORE_CASE(lane_windows_of_a_trunk),
	CORE_CASE(lane_window_of_many),
	CORE_CASE(lane_window_trunk_ends),
	CORE_CASE(lane_window_turns),
	{}
};
