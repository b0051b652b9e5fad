// SPDX-License-Identifier: GPL-2.0
/*
 * Lanes that take receives of an SRQ: peers that break the rules of that, or keep what they get.
 */
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/slab.h>

#include "fixture.h"
#include "lanes.h"

#define SHARE_DEPTH	16

/**
 * struct share - a listener whose lanes take receives of an SRQ, and strangers with a lane each
 * @pair: has the listener, and a lane of its own
 * @cq: the CQ of @srq
 * @srq: the SRQ
 * @strangers: the other sides of trunks
 * @frames: frames that each has got
 * @conns: the listener's ends of their lanes
 */
struct share {
	struct core_pair *pair;
	struct krdma_cq *cq;
	struct krdma_srq *srq;
	struct lane_stranger *strangers[2];
	u32 frames[2];
	struct krdma_conn *conns[2];
};

static void share_close(struct share *share)
{
	for (int i = 0; i < 2; i++) {
		lane_drop(share->conns[i]);
		if (share->strangers[i])
			lane_stranger_close(share->strangers[i]);
	}
	if (share->srq) {
		krdma_srq_close(share->srq);
		krdma_srq_put(share->srq);
	}
	krdma_cq_put(share->cq);
	if (share->pair) {
		lane_drop_requests(share->pair->listener);
		core_pair_close(share->pair);
	}
	kfree(share);
}

/* The SRQ has @count receives without memory. */
static struct share *share_begin(struct core_test *test, int count)
{
	struct krdma_srq_attr attr = { .depth = SHARE_DEPTH, .lanes = true };
	struct share *share;

	if (!(test->attr.caps & KRDMA_DEVICE_CAP_SRQ)) {
		test->skipped = "the device has no SRQs";
		return NULL;
	}
	share = kzalloc_obj(*share, GFP_KERNEL);
	if (!CORE_TRUE(test, share))
		return NULL;
	share->pair = lane_open(test);
	if (!share->pair)
		goto err;
	share->cq = krdma_cq_create(test->dev, &(struct krdma_cq_attr) {
		.depth = 4 * SHARE_DEPTH, .where = KRDMA_CONTEXT_POLL,
	});
	if (!CORE_OK_PTR(test, share->cq)) {
		share->cq = NULL;
		goto err;
	}
	attr.cq = share->cq;
	share->srq = krdma_srq_create(share->pair->server_session, &attr);
	if (!CORE_OK_PTR(test, share->srq)) {
		share->srq = NULL;
		goto err;
	}
	for (int i = 0; i < count; i++)
		CORE_EQ(test, 1, krdma_srq_post_recv(share->srq, &(struct krdma_recv_wr) {}, 1));
	return share;

err:
	share_close(share);
	return NULL;
}

/* The next frame of a stranger: its first record, or NULL. */
static const u8 *share_frame(struct share *share, int index, u32 *length)
{
	struct lane_stranger *stranger = share->strangers[index];
	struct core_test *test = share->pair->test;
	static u8 copy[LANE_FRAME];
	struct krdma_wc wc;

	if (!CORE_TRUE(test, core_await_receive(&stranger->end, &wc, CORE_TIMEOUT_MS)) ||
	    !CORE_EQ(test, KRDMA_WC_SUCCESS, wc.status))
		return NULL;
	memcpy(copy, stranger->to.data + wc.wr_id * LANE_FRAME, wc.length);
	CORE_EQ(test, 1, core_receive(&stranger->end, wc.wr_id, &stranger->to,
				      wc.wr_id * LANE_FRAME, LANE_FRAME));
	share->frames[index]++;
	*length = wc.length - LANE_HEADER;
	return copy + LANE_HEADER;
}

/* Credits of the next record, which is of @type, or U32_MAX. */
static u32 share_expect(struct share *share, int index, u8 type)
{
	struct core_test *test = share->pair->test;
	const u8 *record;
	u32 length;

	record = share_frame(share, index, &length);
	if (!record || !CORE_TRUE(test, length >= LANE_HEADER) || !CORE_EQ(test, type, record[0]))
		return U32_MAX;
	return record[8];
}

/* A stranger's trunk, and its lane 1, with receives of the SRQ or, without @shared, its own. */
static bool share_stranger(struct share *share, int index, bool shared, u32 credits)
{
	struct core_test *test = share->pair->test;
	struct krdma_conn_attr attr = { .send_depth = 4, .cq = share->cq };
	struct lane_stranger *stranger;
	struct krdma_conn *conn;
	u32 used;

	if (shared)
		attr.srq = share->srq;
	else
		attr.recv_depth = 4;
	stranger = lane_stranger_open(test, lane_hello, sizeof(lane_hello));
	share->strangers[index] = stranger;
	if (!stranger)
		return false;
	CORE_EQ(test, 0, krdma_conn_wait(stranger->end.conn, CORE_TIMEOUT_MS));
	used = lane_begin(stranger);
	used = lane_add(stranger, used, OPEN, 0, 1, lane_port_of(share->pair));
	lane_post(stranger, used, LANE_FRAMES);
	conn = krdma_listener_next(share->pair->listener, NULL, NULL, CORE_TIMEOUT_MS);
	if (!CORE_OK_PTR(test, conn))
		return false;
	share->conns[index] = conn;
	CORE_EQ(test, 0, krdma_conn_create_qp(conn, &attr));
	CORE_EQ(test, 0, krdma_conn_accept(conn, &(struct krdma_conn_param) {}));
	return CORE_EQ(test, credits, share_expect(share, index, ACCEPT));
}

static void share_post(struct share *share, int index, u8 type, u8 flags, u32 value)
{
	struct lane_stranger *stranger = share->strangers[index];
	u32 used = lane_add(stranger, lane_begin(stranger), type, flags, 1, value);

	lane_post(stranger, used, LANE_FRAMES + share->frames[index]);
}

/* One violation for each number; returns false behind the last. */
static bool share_violate(struct share *share, int number)
{
	struct lane_stranger *stranger;
	bool shared = number > 1;
	u32 used;

	if (number > 5 || !share_stranger(share, 0, shared, shared ? 1 : 0))
		return false;
	stranger = share->strangers[0];
	used = lane_begin(stranger);
	switch (number) {
	case 0:
		/* The lane has receives of its own. */
		used = lane_add(stranger, used, WANT, 0, 1, 1);
		break;
	case 1:
		/* So has the stranger's end. */
		used = lane_add(stranger, used, RECALL, 0, 1, 0);
		break;
	case 2:
		used = lane_add(stranger, used, RECALL, 0, 1, 0);
		break;
	case 3:
		/* It was not asked for any. */
		used = lane_add(stranger, used, YIELD, 0, 1, 0);
		break;
	case 4:
		/* It asks for none, which is no record. */
		used = lane_add(stranger, used, WANT, 0, 1, 0);
		break;
	default:
		/* It has one receive. */
		used = lane_add(stranger, used, DATA, FIRST | LAST, 1, 0);
		used = lane_add(stranger, used, DATA, FIRST | LAST, 1, 0);
		break;
	}
	lane_post_violation(stranger, used, LANE_FRAMES + share->frames[0]);
	return true;
}

/* A peer that violates the protocol loses its trunk, and no other lane notices. */
/* Proves: F16 */
static void lane_share_violations(struct core_test *test)
{
	bool more = true;

	for (int i = 0; more && !test->failures; i++) {
		struct share *share = share_begin(test, 1);

		if (!share)
			return;
		more = share_violate(share, i);
		if (more)
			core_check(test, core_await_event(&share->strangers[0]->end,
							  KRDMA_EVENT_CLOSED, CORE_TIMEOUT_MS),
				   __func__, __LINE__, "violation %d is none", i);
		lane_expect_alive(share->pair);
		share_close(share);
	}
}

/* Waits for a message of a stranger. */
static void share_arrived(struct share *share, int index)
{
	struct core_test *test = share->pair->test;
	struct krdma_wc wc = { .status = KRDMA_WC_WR_FLUSH_ERR };

	for (int i = 0; i < CORE_TIMEOUT_MS && krdma_cq_poll(share->cq, &wc, 1) != 1; i++)
		usleep_range(1000, 2000);
	CORE_EQ(test, KRDMA_WC_SUCCESS, wc.status);
	CORE_TRUE(test, wc.conn == share->conns[index]);
}

/* A peer that asks for everything has its share, and others have theirs. */
/* Proves: F16 */
static void lane_share_of_a_miser(struct core_test *test)
{
	struct share *share = share_begin(test, SHARE_DEPTH);

	if (!share)
		return;
	/* Two without asking: half of a quarter. */
	if (!share_stranger(share, 0, true, 2) || !share_stranger(share, 1, true, 2))
		goto out;
	for (int i = 0; i < 3; i++)
		share_post(share, 0, WANT, 0, 65535);
	/* A peer that does not use its receives is not told of more. */
	core_expect_nothing(&share->strangers[0]->end);
	share_post(share, 0, DATA, FIRST | LAST, 0);
	share_post(share, 0, DATA, FIRST | LAST, 0);
	CORE_EQ(test, 4, share_expect(share, 0, CREDIT));
	/* What it uses was not replaced, so there is no more for it. */
	share_post(share, 0, DATA, FIRST | LAST, 0);
	share_post(share, 0, DATA, FIRST | LAST, 0);
	share_post(share, 0, WANT, 0, 65535);
	core_expect_nothing(&share->strangers[0]->end);
	share_post(share, 1, DATA, FIRST | LAST, 0);
	share_post(share, 1, DATA, FIRST | LAST, 0);
	share_post(share, 1, WANT, 0, 2);
	CORE_EQ(test, 4, share_expect(share, 1, CREDIT));
	/* Each replaces the oldest one. */
	share_arrived(share, 0);
	CORE_EQ(test, 1, krdma_srq_post_recv(share->srq, &(struct krdma_recv_wr) {}, 1));
	CORE_EQ(test, 5, share_expect(share, 0, CREDIT));
	core_expect_nothing(&share->strangers[0]->end);
	lane_expect_alive(share->pair);
out:
	share_close(share);
}

/* What a peer does not need is asked for when others need it; and a lie ends its trunk. */
/* Proves: F16 */
static void lane_share_is_recalled(struct core_test *test)
{
	for (int lie = 0; lie < 2 && !test->failures; lie++) {
		struct share *share = share_begin(test, 2);

		if (!share)
			return;
		if (!share_stranger(share, 0, true, 1) || !share_stranger(share, 1, true, 0))
			goto out;
		share_post(share, 1, WANT, 0, 2);
		CORE_EQ(test, 1, share_expect(share, 1, CREDIT));
		CORE_EQ(test, 0, share_expect(share, 0, RECALL));
		share_post(share, 1, DATA, FIRST | LAST, 0);
		share_arrived(share, 1);
		/* It has one, so two are a lie, after which the end of the lane gives it back. */
		if (lie) {
			struct lane_stranger *liar = share->strangers[0];
			u32 used = lane_add(liar, lane_begin(liar), YIELD, 0, 1, 2);

			lane_post_violation(liar, used, LANE_FRAMES + share->frames[0]);
			CORE_TRUE(test, core_await_event(&liar->end, KRDMA_EVENT_CLOSED,
							 CORE_TIMEOUT_MS));
			krdma_conn_close(share->conns[0]);
		} else {
			share_post(share, 0, YIELD, 0, 1);
		}
		CORE_EQ(test, 2, share_expect(share, 1, CREDIT));
		share_post(share, 1, DATA, FIRST | LAST, 0);
		share_arrived(share, 1);
out:
		share_close(share);
	}
}

const struct core_case core_lane_share_cases[] = {
	CORE_CASE(lane_share_violations),
	CORE_CASE(lane_share_of_a_miser),
	CORE_CASE(lane_share_is_recalled),
	{}
};
