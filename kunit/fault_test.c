// SPDX-License-Identifier: GPL-2.0
/*
 * Failures of the device: refused posts; completions that fail, come late, twice or never;
 * allocations that fail; removal of the device.  Every accepted work request completes once, and
 * nothing is left behind.
 */
#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <net/net_namespace.h>

#include <krdma/krdma.h>

#include "cm/conn.h"
#include "conn_fixture.h"
#include "objects.h"
#include "io/wq.h"
#include "mr/mr.h"

static const enum krdma_context contexts[] = {
	KRDMA_CONTEXT_WORKQUEUE,
	KRDMA_CONTEXT_SOFTIRQ,
	KRDMA_CONTEXT_POLL,
};

/*
 * The connection is over, and the counters of its &struct krdma_conn_info match the completions
 * that its consumer got.
 */
static void expect_over(struct kunit *test, struct conn_pair *pair, struct conn_end *end)
{
	struct krdma_conn_info info;

	krdma_conn_get(end->conn);
	krdma_conn_close(end->conn);
	conn_pair_poll(pair);
	info = conn_info(end);
	krdma_conn_put(end->conn);
	KUNIT_EXPECT_EQ(test, KRDMA_CONN_CLOSED, info.state);
	KUNIT_EXPECT_EQ(test, info.sends_posted, info.sends_completed);
	KUNIT_EXPECT_EQ(test, info.receives_posted, info.receives_completed);
	KUNIT_EXPECT_EQ(test, end->sends.accepted, info.sends_posted);
	if (!pair->srq)
		KUNIT_EXPECT_EQ(test, end->recv_wrs.accepted, info.receives_posted);
	KUNIT_EXPECT_EQ(test, 1, conn_heard(end, KRDMA_EVENT_CLOSED));
	conn_expect_whole(end);
}

/*
 * Posts
 */

/* The device refuses one of many work requests.  Those before it are carried out. */
/* Proves: E12 */
static void test_refused_request(struct kunit *test)
{
	static const struct conn_setup setup = {};
	struct conn_pair *pair = conn_pair_new(test, &setup);
	struct fake_message message = {};
	u32 sends = 0, recv_wrs = 0;
	int nth, i;

	for (nth = 1; nth <= 40; nth++) {
		int expected = nth == 1 ? -EIO : nth - 1;

		fake_device_fail(pair->fake, FAKE_POST_SEND, nth, -ENOMEM);
		KUNIT_EXPECT_EQ(test, expected, conn_post_writes(&pair->client, 0, 40));
		fake_device_fail(pair->fake, FAKE_POST_RECV, nth, -ENOMEM);
		KUNIT_EXPECT_EQ(test, expected, conn_receive_empty(&pair->server, 40));
		sends += nth - 1;
		recv_wrs += nth - 1;
		KUNIT_ASSERT_TRUE(test, conn_until(pair, conn_told(&pair->client.sends) == sends));
		for (i = 1; i < nth; i++)
			KUNIT_EXPECT_EQ(test, IB_WC_SUCCESS,
					fake_qp_receive(conn_qp(&pair->server), &message));
		KUNIT_ASSERT_TRUE(test, conn_until(pair, recv_wrs ==
						   conn_told(&pair->server.recv_wrs)));
	}
	KUNIT_EXPECT_EQ(test, KRDMA_CONN_CONNECTED, conn_info(&pair->client).state);
	expect_over(test, pair, &pair->client);
	expect_over(test, pair, &pair->server);
}

static const struct conn_setup one_sge = {
	.attr = { .max_send_sge = 1 },
};

/* The device accepts only some parts of a work request: it is accepted, and the connection ends. */
static void test_cut_operation(struct kunit *test)
{
	struct conn_pair *pair = conn_pair_new(test, &one_sge);
	struct krdma_sge *sges;
	int nth, i;

	sges = kunit_kcalloc(test, 40, sizeof(*sges), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, sges);
	for (nth = 1; nth <= 40; nth++) {
		struct krdma_send_wr wr = {
			.opcode = KRDMA_OP_WRITE, .sges = sges, .sge_count = 40,
		};

		for (i = 0; i < 40; i++)
			sges[i] = conn_sge(&pair->client, 8 * i, 8);
		fake_stall(pair->fake, NULL);
		fake_device_fail(pair->fake, FAKE_POST_SEND, nth, -ENOMEM);
		if (nth == 1) {
			KUNIT_EXPECT_EQ(test, -EIO, conn_post(&pair->client, &wr, 1));
			KUNIT_EXPECT_EQ(test, KRDMA_CONN_CONNECTED,
					conn_info(&pair->client).state);
			continue;
		}
		KUNIT_EXPECT_EQ(test, 1, conn_post(&pair->client, &wr, 1));
		fake_device_fail(pair->fake, FAKE_POST_SEND, 0, 0);
		KUNIT_EXPECT_EQ(test, -ENOTCONN, conn_post_writes(&pair->client, 0, 1));
		KUNIT_EXPECT_TRUE(test, conn_until(pair, conn_heard(&pair->client,
								    KRDMA_EVENT_CLOSED)));
		KUNIT_EXPECT_EQ(test, 1, conn_heard(&pair->client, KRDMA_EVENT_LOST));
		KUNIT_EXPECT_EQ(test, -EIO, conn_info(&pair->client).error);
		KUNIT_EXPECT_EQ(test, 1, conn_told(&pair->client.sends));
		KUNIT_EXPECT_EQ(test, KRDMA_WC_WR_FLUSH_ERR, pair->client.last.status);
		KUNIT_EXPECT_EQ(test, 40 * 8, pair->client.last.length);
		expect_over(test, pair, &pair->client);
		fake_go_on(pair->fake, NULL);
		conn_pair_again(pair);
	}
}

static void tune_short_messages(struct fake_device *fake)
{
	fake->port.max_msg_sz = 100;
}

/* The memory of a work request stays in use as long as the device has a part of it. */
static void test_cut_keeps_memory(struct kunit *test)
{
	static const struct conn_setup setup = { .tune = tune_short_messages };
	static const int refused[] = { 2, 3, 16, 17, 18, 32, 33, 40, 41 };
	struct conn_pair *pair = conn_pair_new(test, &setup);
	u8 *buffer = pair->client.buffer;
	struct krdma_mr *mrs[2];
	unsigned int i;

	mrs[0] = krdma_mr_register(pair->session, pair->dev, buffer, 4000, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(mrs[0]));
	mrs[1] = krdma_mr_register(pair->session, pair->dev, buffer + 4000, 100, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(mrs[1]));
	for (i = 0; i < ARRAY_SIZE(refused); i++) {
		struct krdma_sge sges[] = {
			{ .mr = mrs[0], .addr = (uintptr_t)buffer, .length = 4000 },
			{ .mr = mrs[1], .addr = (uintptr_t)buffer + 4000, .length = 100 },
		};
		struct krdma_send_wr wr = {
			.opcode = KRDMA_OP_WRITE, .sges = sges, .sge_count = 2,
		};

		fake_stall(pair->fake, NULL);
		fake_device_fail(pair->fake, FAKE_POST_SEND, refused[i], -EIO);
		/*
		 * Teardown of the connection waits for this lock, so the device keeps the parts
		 * until then.
		 */
		mutex_lock(&pair->client.conn->cm_lock);
		KUNIT_EXPECT_EQ(test, 1, conn_post(&pair->client, &wr, 1));
		KUNIT_EXPECT_EQ(test, -EBUSY, krdma_mr_deregister(mrs[0]));
		krdma_conn_unlock(pair->client.conn);
		expect_over(test, pair, &pair->client);
		fake_go_on(pair->fake, NULL);
		conn_pair_again(pair);
	}
	KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(mrs[0]));
	KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(mrs[1]));
}

static const struct conn_setup two_sges = {
	.attr = { .max_send_sge = 2, .send_depth = 8 },
};

#define CUT_MRS	12

/*
 * All memory of a work request stays in use, each MR once, wherever the device cuts it, and
 * wherever it is in the queue.
 */
static void test_cut_keeps_all_memory(struct kunit *test)
{
	struct conn_pair *pair = conn_pair_new(test, &two_sges);
	u8 *buffer = pair->client.buffer;
	struct krdma_sge sges[CUT_MRS];
	struct krdma_send_wr wr = {
		.opcode = KRDMA_OP_WRITE, .sges = sges, .sge_count = CUT_MRS,
	};
	int start, nth, i;

	for (i = 0; i < CUT_MRS; i++) {
		sges[i] = (struct krdma_sge) { .addr = (uintptr_t)buffer + 8 * i, .length = 8 };
		sges[i].mr = krdma_mr_register(pair->session, pair->dev, buffer + 8 * i, 8, 0);
		KUNIT_ASSERT_FALSE(test, IS_ERR(sges[i].mr));
	}
	for (start = 0; start < 8; start += 5) {
		for (nth = 2; nth <= CUT_MRS / 2; nth++) {
			if (start)
				KUNIT_EXPECT_EQ(test, start,
						conn_post_writes(&pair->client, 0, start));
			KUNIT_ASSERT_TRUE(test, conn_until(pair, start ==
							   conn_told(&pair->client.sends)));
			fake_stall(pair->fake, NULL);
			fake_device_fail(pair->fake, FAKE_POST_SEND, nth, -EIO);
			/* As in test_cut_keeps_memory(). */
			mutex_lock(&pair->client.conn->cm_lock);
			KUNIT_EXPECT_EQ(test, 1, conn_post(&pair->client, &wr, 1));
			for (i = 0; i < CUT_MRS; i++)
				KUNIT_EXPECT_EQ(test, 1, atomic_read(&sges[i].mr->uses));
			krdma_conn_unlock(pair->client.conn);
			expect_over(test, pair, &pair->client);
			for (i = 0; i < CUT_MRS; i++)
				KUNIT_EXPECT_EQ(test, 0, atomic_read(&sges[i].mr->uses));
			fake_go_on(pair->fake, NULL);
			conn_pair_again(pair);
		}
	}
	for (i = 0; i < CUT_MRS; i++)
		KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(sges[i].mr));
}

/*
 * Completions that fail
 */

struct status_case {
	enum ib_wc_status ib;
	enum krdma_wc_status krdma;
};

static const struct status_case status_cases[] = {
	{ IB_WC_LOC_LEN_ERR, KRDMA_WC_LOC_LEN_ERR },
	{ IB_WC_LOC_QP_OP_ERR, KRDMA_WC_LOC_QP_OP_ERR },
	{ IB_WC_LOC_PROT_ERR, KRDMA_WC_LOC_PROT_ERR },
	{ IB_WC_WR_FLUSH_ERR, KRDMA_WC_WR_FLUSH_ERR },
	{ IB_WC_MW_BIND_ERR, KRDMA_WC_MW_BIND_ERR },
	{ IB_WC_BAD_RESP_ERR, KRDMA_WC_BAD_RESP_ERR },
	{ IB_WC_LOC_ACCESS_ERR, KRDMA_WC_LOC_ACCESS_ERR },
	{ IB_WC_REM_INV_REQ_ERR, KRDMA_WC_REM_INV_REQ_ERR },
	{ IB_WC_REM_ACCESS_ERR, KRDMA_WC_REM_ACCESS_ERR },
	{ IB_WC_REM_OP_ERR, KRDMA_WC_REM_OP_ERR },
	{ IB_WC_RETRY_EXC_ERR, KRDMA_WC_RETRY_EXC_ERR },
	{ IB_WC_RNR_RETRY_EXC_ERR, KRDMA_WC_RNR_RETRY_EXC_ERR },
	{ IB_WC_GENERAL_ERR, KRDMA_WC_GENERAL_ERR },
};

static void one_status(struct kunit *test, struct conn_pair *pair, enum fake_direction direction,
		       const struct status_case *kind)
{
	struct conn_end *end = direction == FAKE_SEND ? &pair->client : &pair->server;
	struct conn_flow *flow = direction == FAKE_SEND ? &end->sends : &end->recv_wrs;
	bool flushed = kind->krdma == KRDMA_WC_WR_FLUSH_ERR;
	struct fake_message message = {};
	struct fake_fault fault = {
		.qp = conn_qp(end), .nth = 4, .status = kind->ib, .vendor_err = 0x1234,
	};
	u32 i;

	/* The connection must not end for another reason first. */
	pair->fake->cm_manual = FAKE_MANUAL_CLOSE;
	fake_set_fault(pair->fake, direction, &fault);
	if (direction == FAKE_SEND) {
		fake_stall(pair->fake, fault.qp);
		KUNIT_ASSERT_EQ(test, 9, conn_post_writes(end, 0, 9));
		fake_go_on(pair->fake, fault.qp);
	} else {
		KUNIT_ASSERT_EQ(test, 9, conn_receive_empty(end, 9));
		for (i = 0; i < 4; i++)
			fake_qp_receive(fault.qp, &message);
	}
	KUNIT_EXPECT_TRUE(test, conn_until(pair, conn_told(flow) == 9));
	fake_set_fault(pair->fake, direction, NULL);
	for (i = 0; i < 9; i++)
		KUNIT_EXPECT_EQ(test, i < 3 ? KRDMA_WC_SUCCESS :
				i == 3 ? kind->krdma : KRDMA_WC_WR_FLUSH_ERR, flow->status[i]);
	if (!flushed) {
		KUNIT_EXPECT_EQ(test, 0x1234, end->failure.vendor_error);
		KUNIT_EXPECT_EQ(test, direction == FAKE_SEND ? KRDMA_OP_WRITE : KRDMA_OP_RECV,
				end->failure.opcode);
	}
	KUNIT_EXPECT_TRUE(test, flushed || conn_until(pair, conn_heard(end, KRDMA_EVENT_LOST)));
	fake_device_let_go(pair->fake);
	expect_over(test, pair, &pair->client);
	expect_over(test, pair, &pair->server);
	if (!flushed)
		KUNIT_EXPECT_EQ(test, krdma_conn_wait(end->conn, CONN_LONG_MS),
				direction == FAKE_SEND && kind->ib == IB_WC_RETRY_EXC_ERR ?
				-ETIMEDOUT : -EIO);
}

/* Proves: E8 */
static void test_statuses(struct kunit *test)
{
	struct conn_setup setup = {};
	enum fake_direction direction;
	struct conn_pair *pair;
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(contexts); i++) {
		setup.where = contexts[i];
		pair = conn_pair_new(test, &setup);
		for (j = 0; j < ARRAY_SIZE(status_cases); j++) {
			/* Each status once, and some of them in each context. */
			if (i && j % 5 != i)
				continue;
			for (direction = FAKE_SEND; direction <= FAKE_RECEIVE; direction++) {
				one_status(test, pair, direction, &status_cases[j]);
				conn_pair_again(pair);
			}
		}
		conn_pair_end(pair);
	}
}

/*
 * Late, twice, never
 */

static void test_late(struct kunit *test)
{
	struct conn_setup setup = { .shared = true };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(contexts); i++) {
		struct conn_pair *pair;
		struct ib_qp *client, *server;

		setup.where = contexts[i];
		pair = conn_pair_new(test, &setup);
		client = conn_qp(&pair->client);
		server = conn_qp(&pair->server);
		fake_hold(pair->fake, NULL);
		KUNIT_ASSERT_EQ(test, 20, conn_post_writes(&pair->client, 0, 20));
		KUNIT_ASSERT_EQ(test, 20, conn_post_writes(&pair->server, 0, 20));
		msleep(20);
		conn_pair_poll(pair);
		KUNIT_EXPECT_EQ(test, 0, conn_told(&pair->client.sends) +
				conn_told(&pair->server.sends));
		KUNIT_EXPECT_EQ(test, 20, fake_held(client));
		/* In the reverse order of posting. */
		fake_release(pair->fake, server);
		KUNIT_EXPECT_TRUE(test, conn_until(pair, conn_told(&pair->server.sends) == 20));
		KUNIT_EXPECT_EQ(test, 0, conn_told(&pair->client.sends));
		fake_release(pair->fake, client);
		KUNIT_EXPECT_TRUE(test, conn_until(pair, conn_told(&pair->client.sends) == 20));
		fake_release(pair->fake, NULL);
		expect_over(test, pair, &pair->client);
		expect_over(test, pair, &pair->server);
		conn_pair_end(pair);
	}
}

static void test_twice(struct kunit *test)
{
	struct conn_setup setup = {};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(contexts); i++) {
		struct fake_fault fault = { .nth = 3, .duplicate = true };
		struct fake_message message = {};
		struct conn_pair *pair;
		int n;

		setup.where = contexts[i];
		pair = conn_pair_new(test, &setup);
		fake_set_fault(pair->fake, FAKE_SEND, &fault);
		fake_set_fault(pair->fake, FAKE_RECEIVE, &fault);
		KUNIT_ASSERT_EQ(test, 5, conn_post_writes(&pair->client, 0, 5));
		KUNIT_ASSERT_EQ(test, 5, conn_receive_empty(&pair->server, 5));
		for (n = 0; n < 5; n++)
			fake_qp_receive(conn_qp(&pair->server), &message);
		KUNIT_EXPECT_TRUE(test, conn_until(pair, conn_told(&pair->client.sends) == 5 &&
						   conn_told(&pair->server.recv_wrs) == 5));
		KUNIT_EXPECT_EQ(test, 1, pair->client.conn->qp->stray);
		KUNIT_EXPECT_EQ(test, 1, pair->server.conn->qp->stray);
		/* A completion that comes twice must not give back a second credit. */
		fake_stall(pair->fake, NULL);
		KUNIT_EXPECT_EQ(test, 64, conn_post_writes(&pair->client, 0, 70));
		fake_go_on(pair->fake, NULL);
		expect_over(test, pair, &pair->client);
		expect_over(test, pair, &pair->server);
		KUNIT_EXPECT_EQ(test, 0, pair->server.recv_wrs.failed);
		conn_pair_end(pair);
	}
}

/* Posts writes with these flags, which are flushed, and the last one completes first. */
static void flush_last_first(struct kunit *test, struct conn_pair *pair, const u8 *flags,
			     u32 count)
{
	struct conn_end *client = &pair->client;
	struct ib_qp *qp = conn_qp(client);
	bool failed = false;
	u32 i, told = 0;

	/* The connection must not end for another reason first. */
	pair->fake->cm_manual = FAKE_MANUAL_CLOSE;
	fake_stall(pair->fake, qp);
	for (i = 0; i < count; i++)
		KUNIT_ASSERT_EQ(test, 1, conn_post_writes(client, flags[i], 1));
	fake_hold(pair->fake, qp);
	fake_qp_fail(qp);
	KUNIT_ASSERT_TRUE(test, conn_until(pair, fake_held(qp) == count));
	fake_release_last(qp);
	for (i = 0; i < count; i++)
		if (!flags[i] || told)
			told++;
	KUNIT_EXPECT_TRUE(test, conn_until(pair, conn_told(&client->sends) == told));
	for (i = 0; i < count; i++) {
		failed |= !flags[i];
		KUNIT_EXPECT_EQ_MSG(test, failed ? KRDMA_WC_WR_FLUSH_ERR : CONN_UNTOLD,
				    client->sends.status[i], "%u of %u", i, count);
	}
	fake_device_let_go(pair->fake);
	expect_over(test, pair, client);
	expect_over(test, pair, &pair->server);
	KUNIT_EXPECT_EQ(test, told, conn_told(&client->sends));
}

/*
 * A signaled work request before one that was flushed would have completed, if it had succeeded.
 * An unsignaled one has succeeded, unless one before it has failed.
 */
/* Proves: B3 */
static void test_flushed_before_others(struct kunit *test)
{
	static const u8 signaled[3];
	static const u8 some[5] = { [0] = KRDMA_POST_UNSIGNALED, [2] = KRDMA_POST_UNSIGNALED };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(contexts); i++) {
		struct conn_setup setup = { .where = contexts[i] };
		struct conn_pair *pair = conn_pair_new(test, &setup);

		flush_last_first(test, pair, signaled, ARRAY_SIZE(signaled));
		conn_pair_again(pair);
		flush_last_first(test, pair, some, ARRAY_SIZE(some));
		conn_pair_end(pair);
	}
}

/* Posts a read into the MR of the client, and then writes with these flags. */
static void post_behind_read(struct kunit *test, struct conn_pair *pair, u8 read_flags,
			     const u8 *flags, u32 count)
{
	struct conn_end *client = &pair->client;
	struct krdma_mr_info info;
	struct krdma_sge sge = {
		.mr = client->mr, .addr = (uintptr_t)client->buffer, .length = 64,
	};
	struct krdma_send_wr wr = {
		.opcode = KRDMA_OP_READ, .flags = read_flags, .sges = &sge, .sge_count = 1,
	};
	u32 i;

	krdma_mr_query(pair->server.mr, &info);
	wr.remote_addr = info.remote_addr;
	wr.rkey = info.rkey;
	KUNIT_ASSERT_EQ(test, 1, conn_post(client, &wr, 1));
	for (i = 0; i < count; i++)
		KUNIT_ASSERT_EQ(test, 1, conn_post_writes(client, flags[i], 1));
}

static struct krdma_mr *map_for_reads(struct kunit *test, struct conn_end *end)
{
	struct krdma_mr *mr;

	mr = krdma_mr_register(end->pair->session, end->pair->dev, end->buffer, CONN_BUFFER,
			       KRDMA_ACCESS_LOCAL_WRITE | KRDMA_ACCESS_REMOTE_READ);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, mr);
	end->mr = mr;
	return mr;
}

/*
 * siw completes what it has sent before the reads in front of it.  A read has not succeeded, and
 * its memory is in use, until it has completed itself, also if it is unsignaled.
 */
/* Proves: B3 */
static void test_read_completes_last(struct kunit *test)
{
	static const u8 flags[] = { 0, KRDMA_POST_UNSIGNALED, 0 };
	static const struct conn_setup setup = {
		.where = KRDMA_CONTEXT_POLL, .tune = fake_device_read_like_siw,
	};
	struct conn_pair *pair;
	u32 round, told, i;

	test_needs_fast_reg(test);
	pair = conn_pair_new(test, &setup);
	map_for_reads(test, &pair->client);
	map_for_reads(test, &pair->server);
	for (round = 0, told = 0; round < 2; round++) {
		u8 read_flags = round ? KRDMA_POST_UNSIGNALED : 0;
		struct ib_qp *qp = conn_qp(&pair->client);

		fake_hold(pair->fake, qp);
		post_behind_read(test, pair, read_flags, flags, ARRAY_SIZE(flags));
		KUNIT_ASSERT_EQ(test, 1 + ARRAY_SIZE(flags), fake_held(qp));
		for (i = 0; i < ARRAY_SIZE(flags); i++) {
			fake_release_last(qp);
			KUNIT_EXPECT_EQ(test, 0, conn_pair_poll(pair));
			KUNIT_EXPECT_EQ(test, told, conn_told(&pair->client.sends));
			KUNIT_EXPECT_EQ(test, 1, atomic_read(&pair->client.mr->uses));
		}
		fake_release(pair->fake, qp);
		told += round ? 2 : 3;
		KUNIT_EXPECT_TRUE(test, conn_until(pair, conn_told(&pair->client.sends) == told));
		KUNIT_EXPECT_EQ(test, 0, atomic_read(&pair->client.mr->uses));
		KUNIT_EXPECT_EQ(test, 4 * (round + 1),
				conn_info(&pair->client).sends_completed);
	}
	KUNIT_EXPECT_EQ(test, 0, pair->client.sends.failed);
	KUNIT_EXPECT_EQ(test, 0, pair->client.conn->qp->stray);
	expect_over(test, pair, &pair->client);
	expect_over(test, pair, &pair->server);
	conn_pair_end(pair);
}

/* The oldest completion that is held back is a failure. */
static void spoil_held(struct ib_qp *ib_qp, enum ib_wc_status status)
{
	struct fake_qp *qp = to_fake_qp(ib_qp);
	unsigned long flags = fake_begin();

	list_first_entry(&qp->held, struct fake_wc, entry)->wc.status = status;
	fake_end(flags);
}

/* If the read fails, what was sent behind it is flushed: nothing succeeds after a failure. */
/* Proves: B3 */
static void test_read_fails_last(struct kunit *test)
{
	static const u8 flags[] = { 0, KRDMA_POST_UNSIGNALED, 0 };
	unsigned int i, j;

	test_needs_fast_reg(test);
	for (i = 0; i < ARRAY_SIZE(contexts); i++) {
		struct conn_setup setup = {
			.where = contexts[i], .tune = fake_device_read_like_siw,
		};
		struct conn_pair *pair = conn_pair_new(test, &setup);
		struct ib_qp *qp = conn_qp(&pair->client);

		map_for_reads(test, &pair->client);
		map_for_reads(test, &pair->server);
		fake_hold(pair->fake, qp);
		post_behind_read(test, pair, 0, flags, ARRAY_SIZE(flags));
		KUNIT_ASSERT_EQ(test, 1 + ARRAY_SIZE(flags), fake_held(qp));
		for (j = 0; j < ARRAY_SIZE(flags); j++)
			fake_release_last(qp);
		spoil_held(qp, IB_WC_GENERAL_ERR);
		fake_release(pair->fake, qp);
		KUNIT_EXPECT_TRUE(test, conn_until(pair, conn_told(&pair->client.sends) == 4));
		KUNIT_EXPECT_EQ(test, KRDMA_WC_GENERAL_ERR, pair->client.sends.status[0]);
		for (j = 1; j <= ARRAY_SIZE(flags); j++)
			KUNIT_EXPECT_EQ(test, KRDMA_WC_WR_FLUSH_ERR, pair->client.sends.status[j]);
		expect_over(test, pair, &pair->client);
		expect_over(test, pair, &pair->server);
		conn_pair_end(pair);
	}
}

/*
 * A message that arrives while its QP fails can be delivered again, into the next buffer.  The
 * consumer sees it as another message, but each receive completes once and in order.
 */
static void test_delivered_again(struct kunit *test)
{
	struct fake_message message = {};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(contexts); i++) {
		struct conn_setup setup = { .where = contexts[i] };
		struct conn_pair *pair = conn_pair_new(test, &setup);
		struct ib_qp *qp = conn_qp(&pair->server);

		KUNIT_ASSERT_EQ(test, 4, conn_receive_empty(&pair->server, 4));
		fake_hold(pair->fake, qp);
		KUNIT_EXPECT_EQ(test, IB_WC_SUCCESS, fake_qp_receive(qp, &message));
		KUNIT_EXPECT_EQ(test, IB_WC_SUCCESS, fake_qp_receive(qp, &message));
		fake_qp_fail(qp);
		fake_release(pair->fake, qp);
		expect_over(test, pair, &pair->server);
		KUNIT_EXPECT_EQ(test, 4, conn_told(&pair->server.recv_wrs));
		KUNIT_EXPECT_EQ(test, 2, pair->server.recv_wrs.failed);
		expect_over(test, pair, &pair->client);
		conn_pair_end(pair);
	}
}

static void test_dead_device(struct kunit *test)
{
	static const struct conn_setup setup = { .where = KRDMA_CONTEXT_SOFTIRQ };
	struct conn_pair *pair = conn_pair_new(test, &setup);
	unsigned long before;

	fake_stall(pair->fake, conn_qp(&pair->client));
	fake_device_set_dead(pair->fake, true);
	KUNIT_ASSERT_EQ(test, 20, conn_post_writes(&pair->client, 0, 20));
	KUNIT_ASSERT_EQ(test, 30, conn_receive_empty(&pair->client, 30));
	before = jiffies;
	expect_over(test, pair, &pair->client);
	KUNIT_EXPECT_GE(test, jiffies - before, 5 * HZ);
	KUNIT_EXPECT_LE(test, jiffies - before, 30 * HZ);
	KUNIT_EXPECT_EQ(test, 20, pair->client.sends.failed);
	KUNIT_EXPECT_EQ(test, 30, pair->client.recv_wrs.failed);
	KUNIT_EXPECT_EQ(test, KRDMA_WC_WR_FLUSH_ERR, pair->client.last.status);
	conn_end_close(&pair->client);
	fake_device_let_go(pair->fake);
	conn_pair_end(pair);
}

/*
 * Teardown succeeds although it can neither modify the QP, nor post a drain marker, nor get
 * completions.
 */

static void test_end_that_fails(struct kunit *test)
{
	static const enum fake_verb verbs[] = { FAKE_MODIFY_QP, FAKE_POST_SEND, FAKE_POST_RECV };
	unsigned int i, j, nth, drops;

	for (i = 0; i < ARRAY_SIZE(contexts); i++) {
		struct conn_setup setup = { .where = contexts[i] };
		struct conn_pair *pair = conn_pair_new(test, &setup);

		for (j = 0; j < ARRAY_SIZE(verbs) * 3; j++) {
			nth = j / ARRAY_SIZE(verbs) + 1;
			drops = (i + j) & 1;
			pair->fake->destroy_drops_cqes = drops;
			fake_stall(pair->fake, NULL);
			KUNIT_ASSERT_EQ(test, 20, conn_post_writes(&pair->client, 0, 20));
			KUNIT_ASSERT_EQ(test, 20, conn_receive_empty(&pair->client, 20));
			KUNIT_ASSERT_EQ(test, 20, conn_post_writes(&pair->server,
								   KRDMA_POST_UNSIGNALED, 20));
			fake_device_fail(pair->fake, verbs[j % ARRAY_SIZE(verbs)], nth, -EIO);
			expect_over(test, pair, &pair->client);
			fake_device_fail(pair->fake, verbs[j % ARRAY_SIZE(verbs)], nth, -EIO);
			expect_over(test, pair, &pair->server);
			KUNIT_EXPECT_EQ(test, 20, pair->client.sends.failed);
			fake_device_fail(pair->fake, verbs[j % ARRAY_SIZE(verbs)], 0, 0);
			fake_go_on(pair->fake, NULL);
			conn_pair_again(pair);
		}
		conn_pair_end(pair);
	}
}

/*
 * Memory
 */

/**
 * struct attempt - a call that allocates
 * @name: name of the call
 * @make: calls it; returns 0 or a negative errno
 * @undo: undoes it after success
 */
struct attempt {
	const char *name;
	int (*make)(struct conn_pair *pair);
	void (*undo)(struct conn_pair *pair);
};

static void *attempted;

static int attempt_result(void *object)
{
	attempted = object;
	return PTR_ERR_OR_ZERO(object);
}

static int make_session(struct conn_pair *pair)
{
	return attempt_result(krdma_session_create(&init_net));
}

static void undo_session(struct conn_pair *pair)
{
	krdma_session_put(attempted);
}

static int make_queue(struct conn_pair *pair)
{
	struct krdma_cq_attr attr = { .depth = 50, .where = KRDMA_CONTEXT_POLL };

	return attempt_result(krdma_cq_create(pair->dev, &attr));
}

static void undo_queue(struct conn_pair *pair)
{
	krdma_cq_put(attempted);
}

static int make_srq(struct conn_pair *pair)
{
	struct krdma_srq_attr attr = { .depth = 20, .max_sge = 2, .cq = pair->cq };

	return attempt_result(krdma_srq_create(pair->session, &attr));
}

static void undo_srq(struct conn_pair *pair)
{
	krdma_srq_close(attempted);
	krdma_srq_put(attempted);
}

static int make_conn(struct conn_pair *pair)
{
	return attempt_result(krdma_conn_create(pair->session, NULL, NULL));
}

static void undo_conn(struct conn_pair *pair)
{
	krdma_conn_close(attempted);
	krdma_conn_put(attempted);
}

static int make_listener(struct conn_pair *pair)
{
	struct sockaddr_in local = fake_address(0);
	struct krdma_listen_attr attr = { .local = (struct sockaddr *)&local };

	return attempt_result(krdma_listen(pair->session, &attr));
}

static void undo_listener(struct conn_pair *pair)
{
	krdma_listener_close(attempted);
	krdma_listener_put(attempted);
}

static int make_qp(struct conn_pair *pair)
{
	static const struct krdma_conn_attr attr;

	return krdma_conn_create_qp(pair->client.conn, &attr);
}

static void undo_qp(struct conn_pair *pair)
{
	conn_end_close(&pair->client);
}

static const struct attempt attempts[] = {
	{ "session", make_session, undo_session },
	{ "queue", make_queue, undo_queue },
	{ "shared receive queue", make_srq, undo_srq },
	{ "connection", make_conn, undo_conn },
	{ "listener", make_listener, undo_listener },
	{ "queue pair", make_qp, undo_qp },
};

/* The session has no objects yet, so each call has to allocate all that it needs. */
static const struct conn_setup with_srq = {
	.where = KRDMA_CONTEXT_POLL,
	.tune = fake_device_offer_srq,
};

static int live_objects(struct conn_pair *pair)
{
	int sum = 0, i;

	for (i = 0; i < FAKE_OBJECTS; i++)
		sum += atomic_read(&pair->fake->live[i]);
	return sum;
}

/* Every allocation of each call fails once. */
/* Proves: E12 */
static void test_no_memory(struct kunit *test)
{
	struct conn_pair *pair = conn_pair_open(test, &with_srq);
	unsigned int i, nth, failures;
	bool reached;
	int live, ret;

	conn_client_resolve(pair);
	for (i = 0; i < ARRAY_SIZE(attempts); i++) {
		const struct attempt *attempt = &attempts[i];

		failures = 0;
		live = live_objects(pair);
		for (nth = 1, reached = true; reached && nth < 1000; nth++) {
			current->fail_nth = nth;
			ret = attempt->make(pair);
			reached = !current->fail_nth;
			current->fail_nth = 0;
			if (!ret) {
				if (attempt->make == make_qp && reached) {
					/*
					 * The call succeeded without this allocation: start again
					 * from the beginning.
					 */
					conn_pair_renew(pair);
					conn_client_resolve(pair);
				} else {
					attempt->undo(pair);
				}
			}
			failures += !!ret;
			KUNIT_EXPECT_TRUE_MSG(test, !ret || (reached && ret == -ENOMEM),
					      "%s, allocation %u: %d", attempt->name, nth, ret);
			KUNIT_EXPECT_TRUE_MSG(test, conn_until(pair, live_objects(pair) <= live),
					      "%s, allocation %u: left over", attempt->name, nth);
		}
		/* No failure: the kernel spares allocations that may wait, see run.sh. */
		KUNIT_EXPECT_GT_MSG(test, failures, 0, "%s", attempt->name);
		KUNIT_EXPECT_FALSE_MSG(test, reached, "%s", attempt->name);
		kunit_info(test, "%s: %u of %u allocations matter", attempt->name, failures, nth);
	}
	conn_pair_end(pair);
}

/**
 * struct verb_case - a call that fails because of a verb
 * @attempt: the call
 * @verb: the verb that fails in it
 */
struct verb_case {
	unsigned int attempt;
	enum fake_verb verb;
};

/* The MR is that of the PD's lkey. */
static const struct verb_case verb_cases[] = {
	{ 1, FAKE_CREATE_CQ },
	{ 2, FAKE_ALLOC_PD },
	{ 2, FAKE_CREATE_SRQ },
	{ 4, FAKE_IW_LISTEN },
	{ 5, FAKE_ALLOC_PD },
	{ 5, FAKE_CREATE_CQ },
	{ 5, FAKE_CREATE_QP },
	{ 5, FAKE_ALLOC_MR },
};

/* Whether the device needs no such verb: it has an lkey for all memory. */
static bool is_verb_spared(const struct fake_device *fake, enum fake_verb verb)
{
	return verb == FAKE_ALLOC_MR && fake->ib.attrs.kernel_cap_flags & IBK_LOCAL_DMA_LKEY;
}

/* Proves: E12 */
static void test_verbs_that_fail(struct kunit *test)
{
	static const int errors[][2] = {
		{ -ENOMEM, -ENOMEM }, { -EFAULT, -EIO }, { -EIO, -EIO },
	};
	struct conn_pair *pair = conn_pair_open(test, &with_srq);
	struct krdma_session *session = pair->session;
	unsigned int i, j, nth;

	conn_client_resolve(pair);
	for (i = 0; i < ARRAY_SIZE(verb_cases); i++) {
		const struct attempt *attempt = &attempts[verb_cases[i].attempt];

		for (j = 0; j < ARRAY_SIZE(errors); j++) {
			for (nth = 1; nth < 10; nth++) {
				int live = live_objects(pair), ret;

				if (attempt->make != make_qp)
					pair->session = krdma_session_create(&init_net);
				fake_device_fail(pair->fake, verb_cases[i].verb, nth, errors[j][0]);
				ret = attempt->make(pair);
				fake_device_fail(pair->fake, verb_cases[i].verb, 0, 0);
				if (!ret)
					attempt->undo(pair);
				if (pair->session != session)
					krdma_session_put(pair->session);
				pair->session = session;
				if (!ret)
					break;
				KUNIT_EXPECT_EQ_MSG(test, errors[j][1], ret, "%s, verb %d",
						    attempt->name, verb_cases[i].verb);
				KUNIT_EXPECT_TRUE(test, conn_until(pair, live_objects(pair) <=
								   live));
			}
			if (attempt->make == make_qp) {
				conn_pair_renew(pair);
				conn_client_resolve(pair);
			}
			KUNIT_EXPECT_EQ_MSG(test, nth == 1,
					    is_verb_spared(pair->fake, verb_cases[i].verb),
					    "%s, verb %d", attempt->name, verb_cases[i].verb);
		}
	}
	conn_pair_end(pair);
}

/*
 * Removal of the device
 */

enum stage {
	STAGE_NEW,
	STAGE_RESOLVING,
	STAGE_RESOLVED,
	STAGE_PREPARED,
	STAGE_RECEIVES_POSTED,
	STAGE_CONNECTING,
	STAGE_REQUESTED,
	STAGE_REQUESTED_PREPARED,
	STAGE_ACCEPTING,
	STAGE_CONNECTED,
	STAGE_IN_FLIGHT,
	STAGE_DISCONNECTING,
	STAGE_CLOSING,
	STAGES,
};

static void stage_enter(struct kunit *test, struct conn_pair *pair, enum stage stage)
{
	struct conn_end *client = &pair->client, *server = &pair->server;

	conn_client_create(pair);
	if (stage == STAGE_NEW)
		return;
	KUNIT_ASSERT_EQ(test, 0, conn_client_begin(pair));
	if (stage == STAGE_RESOLVING)
		return;
	KUNIT_ASSERT_EQ(test, 0, krdma_conn_wait(client->conn, CONN_LONG_MS));
	if (stage == STAGE_RESOLVED)
		return;
	KUNIT_ASSERT_EQ(test, 0, conn_end_prepare(client));
	if (stage == STAGE_PREPARED)
		return;
	KUNIT_ASSERT_EQ(test, 10, conn_receive_empty(client, 10));
	if (stage == STAGE_RECEIVES_POSTED)
		return;
	if (stage == STAGE_CONNECTING)
		pair->fake->cm_manual = FAKE_MANUAL_CONNECT;
	conn_client_connect(pair);
	if (stage == STAGE_CONNECTING)
		return;
	conn_server_take(pair);
	if (stage == STAGE_REQUESTED)
		return;
	KUNIT_ASSERT_EQ(test, 0, conn_end_prepare(server));
	KUNIT_ASSERT_EQ(test, 10, conn_receive_empty(server, 10));
	if (stage == STAGE_REQUESTED_PREPARED)
		return;
	if (stage == STAGE_ACCEPTING)
		pair->fake->cm_manual = FAKE_MANUAL_ACCEPT;
	conn_server_accept(pair);
	if (stage == STAGE_ACCEPTING)
		return;
	KUNIT_ASSERT_EQ(test, 0, krdma_conn_wait(client->conn, CONN_LONG_MS));
	KUNIT_ASSERT_EQ(test, 0, krdma_conn_wait(server->conn, CONN_LONG_MS));
	if (stage == STAGE_CONNECTED)
		return;
	fake_stall(pair->fake, NULL);
	KUNIT_ASSERT_EQ(test, 20, conn_post_writes(client, 0, 20));
	KUNIT_ASSERT_EQ(test, 20, conn_post_writes(server, KRDMA_POST_UNSIGNALED, 20));
	if (stage == STAGE_IN_FLIGHT)
		return;
	if (stage == STAGE_CLOSING)
		krdma_conn_abort(client->conn);
	else
		krdma_conn_disconnect(client->conn);
}

static void stage_expect_over(struct kunit *test, struct conn_pair *pair, struct conn_end *end,
			      enum stage stage)
{
	static const struct krdma_conn_param param;
	bool ended = (end == &pair->client && stage >= STAGE_CONNECTING) ||
		     stage >= STAGE_DISCONNECTING;
	int ret;

	if (!end->conn)
		return;
	/* Address resolution continues without the device, and finds none. */
	if (stage == STAGE_RESOLVING)
		krdma_conn_wait(end->conn, CONN_LONG_MS);
	ret = conn_post_writes(end, 0, 1);
	KUNIT_EXPECT_TRUE_MSG(test, ret == -ENODEV || ret == -ENOTCONN, "stage %d: %d", stage, ret);
	ret = pair->srq ? -ENODEV : conn_receive_empty(end, 1);
	KUNIT_EXPECT_TRUE_MSG(test, ret == -ENODEV || ret == -ENOTCONN, "stage %d: %d", stage, ret);
	ret = conn_end_prepare(end);
	KUNIT_EXPECT_TRUE_MSG(test, ret == -ENOTCONN || ret == -ENODEV, "stage %d: %d", stage, ret);
	ret = krdma_conn_connect(end->conn, &param);
	KUNIT_EXPECT_TRUE_MSG(test, ret == -ENOTCONN, "stage %d: %d", stage, ret);
	if (stage > STAGE_NEW) {
		ret = krdma_conn_wait(end->conn, CONN_LONG_MS);
		KUNIT_EXPECT_LT_MSG(test, ret, 0, "stage %d", stage);
		/*
		 * Otherwise the removal of the device, which destroys everything first, ends it
		 * earlier.
		 */
		if (!ended && stage > STAGE_RESOLVING)
			KUNIT_EXPECT_EQ_MSG(test, -ENODEV, ret, "stage %d", stage);
	}
	expect_over(test, pair, end);
}

/* Proves: B8 */
static void test_removal(struct kunit *test)
{
	unsigned int i;
	enum stage stage;

	for (i = 0; i < ARRAY_SIZE(contexts); i++) {
		for (stage = STAGE_NEW; stage < STAGES; stage++) {
			struct conn_setup setup = { .where = contexts[i] };
			struct conn_pair *pair = conn_pair_open(test, &setup);

			stage_enter(test, pair, stage);
			test_device_unregister(pair->device);
			KUNIT_EXPECT_EQ_MSG(test, 0, live_objects(pair), "stage %d", stage);
			conn_pair_poll(pair);
			stage_expect_over(test, pair, &pair->client, stage);
			stage_expect_over(test, pair, &pair->server, stage);
			conn_pair_end(pair);
		}
	}
}

static struct kunit_case fault_cases[] = {
	KUNIT_CASE_SLOW(test_refused_request),
	KUNIT_CASE_SLOW(test_cut_operation),
	KUNIT_CASE_SLOW(test_cut_keeps_memory),
	KUNIT_CASE_SLOW(test_cut_keeps_all_memory),
	KUNIT_CASE_SLOW(test_statuses),
	KUNIT_CASE(test_late),
	KUNIT_CASE(test_twice),
	KUNIT_CASE(test_flushed_before_others),
	KUNIT_CASE(test_read_completes_last),
	KUNIT_CASE(test_read_fails_last),
	KUNIT_CASE(test_delivered_again),
	KUNIT_CASE_SLOW(test_dead_device),
	KUNIT_CASE_SLOW(test_end_that_fails),
	KUNIT_CASE_SLOW(test_no_memory),
	KUNIT_CASE_SLOW(test_verbs_that_fail),
	KUNIT_CASE_SLOW(test_removal),
	{}
};

static struct kunit_suite fault_suite = {
	.name = "krdma_fault",
	.init = test_objects_init,
	.test_cases = fault_cases,
};

kunit_test_suite(fault_suite);
