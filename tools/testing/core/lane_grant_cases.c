// SPDX-License-Identifier: GPL-2.0
/*
 * Lanes: a peer that takes few frames, or does not answer.
 *
 * It speaks the protocol of trunks by itself, as in lane_peer_cases.c.
 */
#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/in.h>
#include <linux/jiffies.h>
#include <linux/slab.h>

#include "fixture.h"
#include "lanes.h"

/* What the lanes of a case take. */
struct lane_purse {
	struct krdma_session *session;
	atomic64_t used;
};

static int lane_purse_charge(void *account, u64 bytes)
{
	atomic64_add(bytes, &((struct lane_purse *)account)->used);
	return 0;
}

static void lane_purse_uncharge(void *account, u64 bytes)
{
	atomic64_sub(bytes, &((struct lane_purse *)account)->used);
}

static void lane_purse_put(void *account)
{
	kfree(account);
}

static const struct krdma_account_ops lane_purse_ops = {
	.charge = lane_purse_charge,
	.uncharge = lane_purse_uncharge,
	.put = lane_purse_put,
};

static struct lane_purse *lane_purse_open(struct core_test *test)
{
	struct lane_purse *purse = kzalloc_obj(*purse, GFP_KERNEL);

	if (!CORE_TRUE(test, purse))
		return NULL;
	purse->session = krdma_session_create(test->net);
	if (CORE_OK_PTR(test, purse->session)) {
		krdma_session_set_account(purse->session, &lane_purse_ops, purse);
		return purse;
	}
	kfree(purse);
	return NULL;
}

static void lane_purse_close(struct lane_purse *purse)
{
	/* It goes with the session. */
	if (purse)
		krdma_session_put(purse->session);
}

/* The purse pays for the queues of the lane. */
static void lane_purse_pay(struct core_test *test, struct lane_purse *purse,
			   struct krdma_conn *conn)
{
	struct krdma_conn_attr attr = lane_small;

	attr.session = purse->session;
	CORE_EQ(test, 0, krdma_conn_create_qp(conn, &attr));
	CORE_TRUE(test, atomic64_read(&purse->used));
}

/* Not as long as an idle trunk stays, whose end gives back everything. */
#define LANE_PURSE_MS	5000

/* No more than @bytes are used, at least after some time. */
static void lane_purse_becomes(struct core_test *test, struct lane_purse *purse, s64 bytes)
{
	for (int i = 0; i < LANE_PURSE_MS && atomic64_read(&purse->used) > bytes; i += 20)
		msleep(20);
	CORE_TRUE(test, atomic64_read(&purse->used) <= bytes);
}

/*
 * A peer that never grants more than one frame, in which krdma sends nothing but its own grants.
 * @first: what it has granted by its greeting
 * @allowed: what it has granted so far
 * @answers: records that it got
 * @heard: the lanes of which a frame that it got began with a message
 */
struct lane_miser {
	struct lane_stranger *stranger;
	u32 first;
	u32 allowed;
	u32 sent;
	u32 granted;
	u32 got;
	u32 answers;
	u32 heard;
};

#define LANE_MISER_FRAMES	4
#define LANE_MISER_LANES	40
/* More frames of requests than krdma keeps answers for, and what these may be. */
#define LANE_MISER_OPENS	20
#define LANE_UNTOLD		1024U
#define LANE_UNTOLD_MAX		(LANE_UNTOLD + LANE_OPENS)

static const u8 lane_miser_hello[24] = {
	'K', 'R', 'L', 'N', 1, 1, 0, 0, 0, 16, LANE_MISER_FRAMES,
};

/* Takes the frames that have arrived; waits if there has to be one. */
static bool lane_miser_take(struct lane_miser *miser, bool wait)
{
	struct core_end *end = &miser->stranger->end;
	struct krdma_wc wc;
	bool taken = false;

	while (core_await_receive(end, &wc, wait && !taken ? CORE_TIMEOUT_MS : 0)) {
		const u8 *frame = miser->stranger->to.data + wc.wr_id * LANE_FRAME;

		if (!CORE_EQ(end->test, KRDMA_WC_SUCCESS, wc.status))
			return false;
		miser->granted = lane_get(frame + 8);
		miser->answers += frame[2];
		if (frame[2] && frame[LANE_HEADER] == DATA)
			miser->heard |= BIT(frame[LANE_HEADER + 4]);
		miser->got++;
		taken = true;
		CORE_EQ(end->test, 1, core_receive(end, wc.wr_id, &miser->stranger->to,
						   wc.wr_id * LANE_FRAME, LANE_FRAME));
	}
	return CORE_TRUE(end->test, taken || !wait);
}

/* Sends the frame, and grants one more than has come, or @frames. */
static bool lane_miser_post(struct lane_miser *miser, u32 used, u32 frames)
{
	if (!lane_miser_take(miser, miser->sent == miser->granted))
		return false;
	/* What was granted is not taken back. */
	miser->allowed = max3(miser->first, miser->allowed, miser->got + frames);
	lane_post(miser->stranger, used, miser->allowed);
	miser->sent++;
	return !miser->stranger->end.test->failures;
}

/* A lane that the server accepts, and the peer closes. */
static bool lane_miser_visit(struct lane_miser *miser, struct core_pair *pair,
			     struct lane_purse *purse, u32 number)
{
	struct core_test *test = pair->test;
	struct krdma_conn *conn;
	u32 used;

	used = lane_add(miser->stranger, lane_begin(miser->stranger), OPEN, 0, number,
			lane_port_of(pair));
	if (!lane_miser_post(miser, used, 1))
		return false;
	conn = krdma_listener_next(pair->listener, NULL, NULL, CORE_TIMEOUT_MS);
	if (!CORE_OK_PTR(test, conn))
		return false;
	lane_purse_pay(test, purse, conn);
	CORE_EQ(test, 0, krdma_conn_accept(conn, &(struct krdma_conn_param) {}));
	used = lane_add(miser->stranger, lane_begin(miser->stranger), CLOSE, 0, number, 0);
	if (lane_miser_post(miser, used, 1)) {
		for (int i = 0; i < CORE_TIMEOUT_MS && !krdma_conn_wait(conn, 0); i += 20)
			msleep(20);
		/* It may be ending just now. */
		CORE_EQ(test, -EPIPE, krdma_conn_wait(conn, CORE_TIMEOUT_MS));
	}
	lane_drop(conn);
	return !test->failures;
}

/* Requests that the server drops, after it has accepted them or not.  Returns how many it got. */
static u32 lane_miser_ask(struct lane_miser *miser, struct core_pair *pair,
			  struct lane_purse *purse, u32 first, bool accepts)
{
	u16 port = lane_port_of(pair);
	struct krdma_conn *conn;
	u32 used, count;

	used = lane_begin(miser->stranger);
	for (u32 i = 0; i < LANE_OPENS; i++)
		used = lane_add(miser->stranger, used, OPEN, 0, first + i, port);
	if (!lane_miser_post(miser, used, 1))
		return 0;
	for (count = 0; count < LANE_OPENS; count++) {
		conn = krdma_listener_next(pair->listener, NULL, NULL, 10 * CORE_QUIET_MS);
		if (IS_ERR(conn))
			break;
		lane_purse_pay(pair->test, purse, conn);
		if (accepts)
			CORE_EQ(pair->test, 0,
				krdma_conn_accept(conn, &(struct krdma_conn_param) {}));
		lane_drop(conn);
	}
	return count;
}

/*
 * Of lanes that have ended, nothing is kept for a peer that takes no frames, but for a bounded
 * number of answers, and nobody pays for the queues of these lanes.
 */
/* Proves: F14 */
static void lane_ends_unheard(struct core_test *test)
{
	struct lane_miser miser = { .first = LANE_MISER_FRAMES, .granted = LANE_FRAMES };
	struct lane_purse *purse = lane_purse_open(test);
	struct core_pair *pair = lane_open(test);
	u32 number = 1;
	u32 answers = LANE_MISER_OPENS * LANE_OPENS;
	u32 kept = 0;

	if (!pair || !purse)
		goto out;
	miser.stranger = lane_stranger_open(test, lane_miser_hello, sizeof(lane_miser_hello));
	if (!miser.stranger)
		goto out;
	CORE_EQ(test, 0, krdma_conn_wait(miser.stranger->end.conn, CORE_TIMEOUT_MS));
	while (number <= LANE_MISER_LANES && lane_miser_visit(&miser, pair, purse, number))
		number++;
	/* The answers to the first ones were sent. */
	lane_purse_becomes(test, purse, 0);
	CORE_EQ(test, LANE_MISER_FRAMES - 1, miser.answers);

	for (u32 i = 0; i < LANE_MISER_OPENS && !test->failures; i++) {
		bool accepts = i % 2;
		u32 count = lane_miser_ask(&miser, pair, purse, number, accepts);

		/* Of each accepted one, its end, too, unless so many wait. */
		answers += accepts ? min(count, LANE_UNTOLD - min(kept, LANE_UNTOLD)) : 0;
		kept += count;
		number += LANE_OPENS;
		lane_purse_becomes(test, purse, 0);
	}
	CORE_TRUE(test, kept && kept <= LANE_UNTOLD_MAX);

	/* Each of these is answered when that can be. */
	miser.answers = 0;
	for (u32 i = 0; i < LANE_MISER_OPENS && !test->failures && miser.answers < answers; i++) {
		if (lane_miser_post(&miser, lane_begin(miser.stranger), LANE_FRAMES - 1))
			lane_miser_take(&miser, true);
	}
	CORE_EQ(test, answers, miser.answers);
out:
	if (miser.stranger)
		lane_stranger_close(miser.stranger);
	if (pair)
		lane_drop_requests(pair->listener);
	core_pair_close(pair);
	lane_purse_close(purse);
}

/* A slow machine may take longer than one pause for the next answer. */
#define LANE_QUIETS	40

/* Frames of requests, and more lanes than may wait to tell what was written. */
#define LANE_WRITER_OPENS	40

/* Lanes that the server accepts.  Returns how many. */
static u32 lane_miser_open(struct lane_miser *miser, struct core_pair *pair,
			   struct krdma_conn **conns)
{
	struct core_test *test = pair->test;
	u32 used, count = 0;

	for (u32 i = 0; i < LANE_WRITER_OPENS; i++) {
		used = lane_begin(miser->stranger);
		for (u32 j = 0; j < LANE_OPENS; j++)
			used = lane_add(miser->stranger, used, OPEN, 0, count + j + 1,
					lane_port_of(pair));
		if (!lane_miser_post(miser, used, LANE_FRAMES - 1))
			return count;
		for (u32 j = 0; j < LANE_OPENS; j++) {
			conns[count] = krdma_listener_next(pair->listener, NULL, NULL,
							   CORE_TIMEOUT_MS);
			if (!CORE_OK_PTR(test, conns[count]))
				return count;
			CORE_EQ(test, 0, krdma_conn_create_qp(conns[count], &lane_small));
			CORE_EQ(test, 0, krdma_conn_accept(conns[count++],
							   &(struct krdma_conn_param) {}));
		}
	}
	return count;
}

/*
 * A bounded number of lanes is kept to tell a peer that takes no frames what it has written.  Of
 * the others, it learns only that they have ended.
 */
/* Proves: F14 */
static void lane_writes_unheard(struct core_test *test)
{
	struct lane_miser miser = { .first = LANE_MISER_FRAMES, .granted = LANE_FRAMES };
	const struct lane_range nothing = {};
	/* The end of each, and what it has written of those that were kept. */
	const u32 least = LANE_WRITER_OPENS * LANE_OPENS + LANE_UNTOLD;
	const u32 most = least - LANE_UNTOLD + LANE_UNTOLD_MAX;
	struct core_pair *pair = lane_open(test);
	struct krdma_conn **conns;
	u32 used, before, quiet = 0, count = 0;

	conns = kvcalloc(LANE_WRITER_OPENS * LANE_OPENS, sizeof(*conns), GFP_KERNEL);
	if (!pair || !CORE_TRUE(test, conns))
		goto out;
	miser.stranger = lane_stranger_open(test, lane_miser_hello, sizeof(lane_miser_hello));
	if (!miser.stranger)
		goto out;
	CORE_EQ(test, 0, krdma_conn_wait(miser.stranger->end.conn, CORE_TIMEOUT_MS));
	count = lane_miser_open(&miser, pair, conns);
	/* An ACCEPT that waits still would be one answer more of its lane. */
	while (miser.answers < count && !test->failures) {
		if (lane_miser_post(&miser, lane_begin(miser.stranger), LANE_FRAMES - 1) &&
		    miser.answers < count)
			lane_miser_take(&miser, true);
	}
	for (u32 i = 0; i < LANE_WRITER_OPENS && !test->failures; i++) {
		used = lane_begin(miser.stranger);
		for (u32 j = 0; j < LANE_OPENS; j++)
			used = lane_add_write(miser.stranger, used, i * LANE_OPENS + j + 1,
					      FIRST | LAST, 0, &nothing, NULL, 0);
		lane_miser_post(&miser, used, 1);
	}
	/* What it has granted so far. */
	lane_miser_take(&miser, false);
	miser.answers = 0;
	while (count)
		lane_drop(conns[--count]);
	do {
		before = miser.answers;
		if (!lane_miser_post(&miser, lane_begin(miser.stranger), LANE_FRAMES - 1))
			break;
		msleep(10 * CORE_QUIET_MS);
		lane_miser_take(&miser, false);
		quiet = miser.answers == before ? quiet + 1 : 0;
	} while (miser.answers < least ? quiet < LANE_QUIETS : !quiet);
	core_check(test, miser.answers >= least && miser.answers <= most, __func__, __LINE__,
		   "%u answers, not %u to %u", miser.answers, least, most);
	count = 0;
out:
	while (count)
		lane_drop(conns[--count]);
	kvfree(conns);
	if (miser.stranger)
		lane_stranger_close(miser.stranger);
	if (pair)
		lane_drop_requests(pair->listener);
	core_pair_close(pair);
}

/* More lanes than may wait to tell the peer more than their end. */
#define LANE_ACCEPT_OPENS	(LANE_UNTOLD / LANE_OPENS + 2)

/* So it is with lanes of which the peer does not know that they were accepted. */
/* Proves: F14 */
static void lane_acceptances_unheard(struct core_test *test)
{
	struct lane_miser miser = { .first = LANE_MISER_FRAMES, .granted = LANE_FRAMES };
	struct krdma_conn **conns = kvcalloc(LANE_ACCEPT_OPENS * LANE_OPENS, sizeof(*conns),
					     GFP_KERNEL);
	struct lane_purse *purse = lane_purse_open(test);
	struct core_pair *pair = lane_open(test);
	u32 number = 1, count = 0, expected;

	if (!conns || !pair || !purse)
		goto out;
	miser.stranger = lane_stranger_open(test, lane_miser_hello, sizeof(lane_miser_hello));
	if (!miser.stranger)
		goto out;
	CORE_EQ(test, 0, krdma_conn_wait(miser.stranger->end.conn, CORE_TIMEOUT_MS));
	while (number <= LANE_MISER_LANES && lane_miser_visit(&miser, pair, purse, number))
		number++;
	for (u32 i = 0; i < LANE_ACCEPT_OPENS && !test->failures; i++) {
		u32 used = lane_begin(miser.stranger);

		for (u32 j = 0; j < LANE_OPENS; j++)
			used = lane_add(miser.stranger, used, OPEN, 0, number++,
					lane_port_of(pair));
		if (!lane_miser_post(&miser, used, 1))
			break;
		for (u32 j = 0; j < LANE_OPENS && !test->failures; j++) {
			struct krdma_conn *conn = krdma_listener_next(pair->listener, NULL, NULL,
								      CORE_TIMEOUT_MS);

			if (!CORE_OK_PTR(test, conn))
				break;
			conns[count++] = conn;
			lane_purse_pay(test, purse, conn);
			CORE_EQ(test, 0, krdma_conn_accept(conn, &(struct krdma_conn_param) {}));
		}
	}
	while (count)
		lane_drop(conns[--count]);
	lane_purse_becomes(test, purse, 0);

	/* Of so many both, and of the others only that they were rejected. */
	expected = LANE_ACCEPT_OPENS * LANE_OPENS + LANE_UNTOLD;
	miser.answers = 0;
	for (u32 i = 0; i < LANE_QUIETS && !test->failures && miser.answers < expected; i++) {
		if (lane_miser_post(&miser, lane_begin(miser.stranger), LANE_FRAMES - 1))
			lane_miser_take(&miser, true);
	}
	CORE_EQ(test, expected, miser.answers);
out:
	while (count)
		lane_drop(conns[--count]);
	if (miser.stranger)
		lane_stranger_close(miser.stranger);
	if (pair)
		lane_drop_requests(pair->listener);
	core_pair_close(pair);
	lane_purse_close(purse);
	kvfree(conns);
}

/* So it is with requests that could not be sent, and were given up. */
/* Proves: F14 */
static void lane_requests_unsent(struct core_test *test)
{
	struct lane_purse *purse = lane_purse_open(test);
	struct lane_stranger *host = lane_host_open(test);
	struct krdma_conn *conn;

	for (int i = 0; i < LANE_MISER_LANES && host && purse && !test->failures; i++) {
		conn = lane_host_resolve(host, LANE_HOST_PORT, NULL);
		CORE_TRUE(test, lane_host_resolved(host, conn));
		lane_purse_pay(test, purse, conn);
		CORE_EQ(test, 0, krdma_conn_connect(conn, &(struct krdma_conn_param) {}));
		lane_drop(conn);
	}
	if (host && purse)
		lane_purse_becomes(test, purse, 0);
	if (host)
		lane_stranger_close(host);
	lane_purse_close(purse);
}

/*
 * Turns
 */

/* A message that fills a frame. */
#define LANE_WHOLE	(LANE_FRAME - 2 * LANE_HEADER)
#define LANE_RUNNERS	3
#define LANE_TURNS	4

/* Lanes to the host: the first one and the last one send without a pause. */
struct lane_race {
	struct lane_miser miser;
	struct core_end ends[LANE_RUNNERS];
	struct core_buffer from;
};

static void lane_run_on(struct core_end *end, const struct krdma_wc *wc)
{
	if (wc->status == KRDMA_WC_SUCCESS)
		core_send(end, 0, end->context, 0, LANE_WHOLE, 0);
}

static bool lane_race_connect(struct lane_race *race, struct core_end *end)
{
	struct lane_stranger *host = race->miser.stranger;
	struct core_test *test = host->end.test;
	struct sockaddr_storage remote = test->address;
	struct krdma_route route = { .remote = (struct sockaddr *)&remote };

	((struct sockaddr_in *)&remote)->sin_port = htons(LANE_HOST_PORT);
	end->context = &race->from;
	end->conn = krdma_conn_create_lane(host->session, &core_ops, end);
	return CORE_OK_PTR(test, end->conn) &&
	       CORE_EQ(test, 0, krdma_conn_resolve(end->conn, &route)) &&
	       CORE_TRUE(test, lane_host_resolved(host, end->conn)) &&
	       CORE_EQ(test, 0, krdma_conn_create_qp(end->conn, &lane_small)) &&
	       CORE_EQ(test, 0, krdma_conn_connect(end->conn, &(struct krdma_conn_param) {}));
}

/* Accepts all of them, with more receives than they need. */
static bool lane_race_accept(struct lane_race *race)
{
	struct lane_stranger *host = race->miser.stranger;
	u32 used = lane_begin(host);

	while (race->miser.answers < LANE_RUNNERS) {
		if (!lane_miser_take(&race->miser, true))
			return false;
	}
	for (u32 i = 1; i <= LANE_RUNNERS; i++) {
		u8 *record = host->from.data + used;

		used = lane_add(host, used, ACCEPT, 0, i, 0);
		lane_put(record + 8, 1000);
	}
	if (!lane_miser_post(&race->miser, used, 1))
		return false;
	for (int i = 0; i < LANE_RUNNERS; i++)
		CORE_EQ(host->end.test, 0, krdma_conn_wait(race->ends[i].conn, CORE_TIMEOUT_MS));
	return !host->end.test->failures;
}

/*
 * The host has all frames that it can get, and their senders have posted again.  The frame of the
 * other lane has no whole message of theirs.
 */
static bool lane_race_pause(struct lane_race *race, u32 frames, u64 told)
{
	while (race->miser.got < frames) {
		if (!lane_miser_take(&race->miser, true))
			return false;
	}
	for (int i = 0; i < CORE_TIMEOUT_MS; i += 20) {
		if ((race->miser.heard & BIT(2)) ||
		    READ_ONCE(race->ends[0].told) + READ_ONCE(race->ends[2].told) >= told)
			return true;
		msleep(20);
	}
	return false;
}

static void lane_race_run(struct lane_race *race)
{
	struct core_test *test = race->miser.stranger->end.test;
	u32 first, frames;

	/* The first one has all frames but the last one, and then waits for more. */
	first = race->miser.got;
	frames = LANE_FRAMES - 1;
	CORE_EQ(test, 1, core_send(&race->ends[0], 0, &race->from, 0, LANE_WHOLE, 0));
	if (!CORE_TRUE(test, lane_race_pause(race, frames, frames - first)))
		return;
	CORE_EQ(test, 1, core_send(&race->ends[1], 0, &race->from, 0, 0, 0));
	CORE_EQ(test, 1, core_send(&race->ends[2], 0, &race->from, 0, LANE_WHOLE, 0));
	/* One more each time. */
	for (int i = 0; i < LANE_TURNS && !(race->miser.heard & BIT(2)); i++) {
		frames++;
		if (!lane_miser_post(&race->miser, lane_begin(race->miser.stranger), 2) ||
		    !CORE_TRUE(test, lane_race_pause(race, frames, frames - first)))
			return;
	}
	CORE_TRUE(test, race->miser.heard & BIT(2));
}

/* A lane for which there was no room keeps its turn, however busy the others are. */
/* Proves: F14 */
static void lane_keeps_its_turn(struct core_test *test)
{
	struct lane_race *race = kzalloc_obj(*race, GFP_KERNEL);
	struct lane_stranger *host = lane_host_open(test);
	bool good = true;

	if (!host || !CORE_TRUE(test, race))
		goto out;
	race->miser = (struct lane_miser) {
		.stranger = host, .first = LANE_FRAMES, .granted = LANE_FRAMES, .sent = 1, .got = 1,
	};
	good = core_buffer_make(test, &race->from, host->session, LANE_WHOLE, 0);
	for (int i = 0; i < LANE_RUNNERS && good; i++)
		good = core_end_init(&race->ends[i], test, NULL) &&
		       lane_race_connect(race, &race->ends[i]);
	race->ends[0].complete = lane_run_on;
	race->ends[2].complete = lane_run_on;
	if (good && lane_race_accept(race))
		lane_race_run(race);
	for (int i = 0; i < LANE_RUNNERS; i++) {
		core_end_close(&race->ends[i]);
		core_end_free(&race->ends[i]);
	}
	core_buffer_free(test, &race->from);
out:
	if (host)
		lane_stranger_close(host);
	kfree(race);
}

/* More lanes than krdma looks at for one frame, in frames of requests. */
#define LANE_IDLERS	300

struct lane_crowd {
	struct lane_miser miser;
	struct krdma_conn *conns[LANE_IDLERS];
	u32 count;
};

/* The peer has receives for the first lane, and one for the last one. */
static bool lane_crowd_fill(struct lane_crowd *crowd, struct core_pair *pair)
{
	struct lane_stranger *stranger = crowd->miser.stranger;
	struct core_test *test = pair->test;

	while (crowd->count < LANE_IDLERS) {
		u32 used = lane_begin(stranger);

		for (u32 i = 1; i <= LANE_OPENS; i++) {
			u8 *record = stranger->from.data + used;

			used = lane_add(stranger, used, OPEN, 0, crowd->count + i,
					lane_port_of(pair));
			if (crowd->count + i == 1 || crowd->count + i == LANE_IDLERS)
				lane_put(record + 8, LANE_FRAMES);
		}
		if (!lane_miser_post(&crowd->miser, used, LANE_FRAMES))
			return false;
		for (u32 i = 0; i < LANE_OPENS; i++) {
			struct krdma_conn *conn;

			conn = krdma_listener_next(pair->listener, NULL, NULL, CORE_TIMEOUT_MS);
			if (!CORE_OK_PTR(test, conn))
				return false;
			crowd->conns[crowd->count++] = conn;
			CORE_EQ(test, 0, krdma_conn_create_qp(conn, &lane_small));
			CORE_EQ(test, 0, krdma_conn_accept(conn, &(struct krdma_conn_param) {}));
		}
	}
	while (lane_miser_post(&crowd->miser, lane_begin(stranger), LANE_FRAMES) &&
	       crowd->miser.answers < LANE_IDLERS)
		lane_miser_take(&crowd->miser, true);
	return CORE_EQ(test, LANE_IDLERS, crowd->miser.answers);
}

/* Lanes that have nothing to send, as their peer has no receive, keep no other one from sending. */
/* Proves: F14 */
static void lane_behind_idle_ones(struct core_test *test)
{
	struct krdma_send_wr wr = { .opcode = KRDMA_OP_SEND, .flags = KRDMA_POST_UNSIGNALED };
	struct lane_crowd *crowd = kvzalloc_obj(*crowd, GFP_KERNEL);
	struct core_pair *pair = lane_open(test);
	struct lane_miser *miser;

	if (!pair || !CORE_TRUE(test, crowd))
		goto out;
	miser = &crowd->miser;
	*miser = (struct lane_miser) { .first = LANE_FRAMES, .granted = LANE_FRAMES };
	miser->stranger = lane_stranger_open(test, lane_hello, sizeof(lane_hello));
	if (!miser->stranger)
		goto out;
	CORE_EQ(test, 0, krdma_conn_wait(miser->stranger->end.conn, CORE_TIMEOUT_MS));
	if (!lane_crowd_fill(crowd, pair))
		goto out;
	/* All frames but the last one are used. */
	for (int i = 0; miser->allowed - miser->got > 1 && i < CORE_TIMEOUT_MS; i += 20) {
		/* The ones before have arrived, but may not have completed. */
		if (krdma_conn_post_send(crowd->conns[0], &wr, 1) == -EAGAIN)
			msleep(20);
		else
			lane_miser_take(miser, true);
	}
	miser->answers = 0;
	for (u32 i = 1; i < LANE_IDLERS; i++)
		CORE_EQ(test, 1, krdma_conn_post_send(crowd->conns[i], &wr, 1));
	if (lane_miser_post(miser, lane_begin(miser->stranger), 2))
		lane_miser_take(miser, true);
	CORE_EQ(test, 1, miser->answers);
out:
	for (u32 i = 0; crowd && i < crowd->count; i++)
		lane_drop(crowd->conns[i]);
	if (crowd && crowd->miser.stranger)
		lane_stranger_close(crowd->miser.stranger);
	core_pair_close(pair);
	kvfree(crowd);
}

/*
 * Messages that arrive late
 */

/* Has the server of the lane send until the peer has no receive left. */
static bool lane_send_all(struct core_pair *pair, struct lane_stranger *stranger,
			  struct core_end *end)
{
	struct core_buffer none = {};
	struct core_test *test = pair->test;
	u32 used = lane_begin(stranger);
	u8 *record = stranger->from.data + used;

	used = lane_add(stranger, used, OPEN, 0, 1, lane_port_of(pair));
	lane_put(record + 8, 2 * LANE_FRAMES);
	lane_post(stranger, used, 2 * LANE_FRAMES);
	end->conn = krdma_listener_next(pair->listener, &core_ops, end, CORE_TIMEOUT_MS);
	if (!CORE_OK_PTR(test, end->conn))
		return false;
	CORE_EQ(test, 0, krdma_conn_create_qp(end->conn, &lane_small));
	CORE_EQ(test, 0, krdma_conn_accept(end->conn, &(struct krdma_conn_param) {}));
	/* The answer had one, too. */
	for (int i = 1; i < LANE_FRAMES && !test->failures; i++) {
		CORE_EQ(test, 1, core_send(end, i, &none, 0, 0, 0));
		core_expect_send(end, i, KRDMA_WC_SUCCESS);
	}
	return !test->failures;
}

/*
 * A message that the peer has is not lost with the lane, though the peer says first that the lane
 * has failed.
 */
/* Proves: F14 */
static void lane_fails_with_messages(struct core_test *test)
{
	struct lane_stranger *stranger = NULL;
	struct core_end end = {};
	struct core_pair *pair;
	u32 used;

	if (test->iwarp) {
		test->skipped = "without a receive, the trunk ends";
		return;
	}
	pair = lane_open(test);
	if (!pair || !core_end_init(&end, test, NULL))
		goto out;
	stranger = lane_stranger_open(test, lane_hello, sizeof(lane_hello));
	if (!stranger)
		goto out;
	CORE_EQ(test, 0, krdma_conn_wait(stranger->end.conn, CORE_TIMEOUT_MS));
	if (!lane_send_all(pair, stranger, &end))
		goto out;
	CORE_EQ(test, 1, core_send(&end, 50, &(struct core_buffer) {}, 0, 0, 0));
	used = lane_add(stranger, lane_begin(stranger), CLOSE, 0, 1, 1);
	lane_post(stranger, used, 2 * LANE_FRAMES);
	core_expect_nothing(&end);
	CORE_TRUE(test, !core_had_event(&end, KRDMA_EVENT_LOST));
	CORE_EQ(test, 1, core_receive(&stranger->end, 0, &stranger->to, 0, LANE_FRAME));
	core_expect_send(&end, 50, KRDMA_WC_SUCCESS);
	CORE_TRUE(test, core_await_event(&end, KRDMA_EVENT_LOST, CORE_TIMEOUT_MS));
	CORE_EQ(test, -EIO, krdma_conn_wait(end.conn, CORE_TIMEOUT_MS));
out:
	core_end_close(&end);
	core_end_free(&end);
	if (stranger)
		lane_stranger_close(stranger);
	core_pair_close(pair);
}

/* Much longer than a trunk without a listener stays. */
#define LANE_REST_MS	10000

/* A trunk without lanes ends with the last listener, if the peer takes nothing, too. */
/* Proves: F14 */
static void lane_trunk_without_receives(struct core_test *test)
{
	struct lane_stranger *stranger = NULL;
	struct core_pair *pair;
	u32 used;

	if (test->iwarp) {
		test->skipped = "without a receive, the trunk ends";
		return;
	}
	pair = lane_open(test);
	if (!pair)
		return;
	stranger = lane_stranger_open(test, lane_hello, sizeof(lane_hello));
	if (!stranger)
		goto out;
	CORE_EQ(test, 0, krdma_conn_wait(stranger->end.conn, CORE_TIMEOUT_MS));
	/* The last answer finds no receive. */
	for (int i = 0; i <= LANE_FRAMES && !test->failures; i++) {
		used = lane_add(stranger, lane_begin(stranger), FIND, 0, i + 1, lane_port_of(pair));
		lane_post(stranger, used, 2 * LANE_FRAMES);
		if (i < LANE_FRAMES)
			core_expect_receive(&stranger->end, i, KRDMA_WC_SUCCESS, 2 * LANE_HEADER,
					    NULL);
	}
	core_expect_nothing(&stranger->end);
	CORE_TRUE(test, !core_had_event(&stranger->end, KRDMA_EVENT_CLOSED));
out:
	core_pair_close(pair);
	if (!stranger)
		return;
	CORE_TRUE(test, core_await_event(&stranger->end, KRDMA_EVENT_CLOSED, LANE_REST_MS));
	lane_stranger_close(stranger);
}

/*
 * Questions without an answer
 */

/* How long a question waits, less what clocks can differ by, and steps of the case. */
#define LANE_ASK_MS	3900
#define LANE_STEP_MS	500
#define LANE_STEPS	14

/* Each question waits as long, whatever else is asked or ends meanwhile. */
/* Proves: F14 */
static void lane_asks_in_vain(struct core_test *test)
{
	struct lane_stranger *host = lane_host_open(test);
	struct krdma_conn *first, *late = NULL, *other;
	unsigned long asked = 0;

	if (!host)
		return;
	first = lane_host_resolve(host, LANE_HOST_PORT + 2, NULL);
	for (int i = 0; first && i < LANE_STEPS; i++) {
		other = lane_host_resolve(host, LANE_HOST_PORT + 2, NULL);
		/* It is asked while the first one waits. */
		if (i == 3) {
			asked = jiffies;
			late = lane_host_resolve(host, LANE_HOST_PORT + 2, NULL);
		}
		if (late && krdma_conn_wait(late, LANE_STEP_MS / 2) != -ETIMEDOUT && asked) {
			CORE_TRUE(test, jiffies_to_msecs(jiffies - asked) > LANE_ASK_MS);
			asked = 0;
		}
		msleep(LANE_STEP_MS / 2);
		lane_drop(other);
	}
	CORE_EQ(test, 0, krdma_conn_wait(first, 0));
	CORE_EQ(test, 0, krdma_conn_wait(late, 0));
	CORE_TRUE(test, !lane_host_resolved(host, first));
	lane_drop(first);
	lane_drop(late);
	lane_stranger_close(host);
}

const struct core_case core_lane_grant_cases[] = {
	CORE_CASE(lane_ends_unheard),
	CORE_CASE(lane_writes_unheard),
	CORE_CASE(lane_acceptances_unheard),
	CORE_CASE(lane_requests_unsent),
	CORE_CASE(lane_keeps_its_turn),
	CORE_CASE(lane_behind_idle_ones),
	CORE_CASE(lane_fails_with_messages),
	CORE_CASE(lane_trunk_without_receives),
	CORE_CASE(lane_asks_in_vain),
	{}
};
