// SPDX-License-Identifier: GPL-2.0
/* SRQs: the connection of a message, unused receives, and the end. */
#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/slab.h>

#include <krdma/krdma.h>

#include "conn_fixture.h"
#include "objects.h"

#define DEPTH	20

static const enum krdma_context contexts[] = {
	KRDMA_CONTEXT_WORKQUEUE,
	KRDMA_CONTEXT_SOFTIRQ,
	KRDMA_CONTEXT_POLL,
};

static void expect_no_srq(struct kunit *test, struct conn_pair *pair, int error,
			  const struct krdma_srq_attr *attr)
{
	struct krdma_srq *srq = krdma_srq_create(pair->session, attr);

	KUNIT_EXPECT_PTR_EQ(test, (void *)ERR_PTR(error), (void *)srq);
	if (!IS_ERR(srq)) {
		krdma_srq_close(srq);
		krdma_srq_put(srq);
	}
}

static void test_creation(struct kunit *test)
{
	static const struct conn_setup setup = {
		.where = KRDMA_CONTEXT_POLL, .tune = fake_device_offer_srq,
	};
	struct conn_pair *pair = conn_pair_open(test, &setup);
	struct krdma_srq_attr good = { .depth = DEPTH, .cq = pair->cq };
	struct krdma_srq_attr attr;

	attr = good;
	attr.depth = 0;
	expect_no_srq(test, pair, -EINVAL, &attr);
	attr.depth = 65;
	expect_no_srq(test, pair, -EINVAL, &attr);
	/* More than the device has for an SRQ, and more than it has for any queue. */
	attr = good;
	attr.max_sge = 5;
	expect_no_srq(test, pair, -EINVAL, &attr);
	attr.max_sge = 7;
	expect_no_srq(test, pair, -EINVAL, &attr);
	attr = good;
	attr.cq = NULL;
	expect_no_srq(test, pair, -EINVAL, &attr);

	fake_device_fail(pair->fake, FAKE_CREATE_SRQ, 1, -ENOMEM);
	expect_no_srq(test, pair, -ENOMEM, &good);
	fake_device_fail(pair->fake, FAKE_CREATE_SRQ, 1, -EFAULT);
	expect_no_srq(test, pair, -EIO, &good);
	krdma_srq_put(NULL);

	/* The failure has left nothing behind: there is room for everything. */
	attr.cq = krdma_cq_create(pair->dev, &(struct krdma_cq_attr) {
		.depth = DEPTH, .where = KRDMA_CONTEXT_POLL,
	});
	KUNIT_ASSERT_FALSE(test, IS_ERR(attr.cq));
	attr.depth = DEPTH + 1;
	expect_no_srq(test, pair, -ENOSPC, &attr);
	attr.depth = DEPTH;
	pair->srq = krdma_srq_create(pair->session, &attr);
	KUNIT_EXPECT_FALSE(test, IS_ERR(pair->srq));
	if (IS_ERR(pair->srq))
		pair->srq = NULL;
	expect_no_srq(test, pair, -ENOSPC, &attr);
	krdma_cq_put(attr.cq);

	test_device_unregister(pair->device);
	expect_no_srq(test, pair, -ENODEV, &good);
}

static void test_device_without(struct kunit *test)
{
	static const struct conn_setup setup = { .where = KRDMA_CONTEXT_POLL };
	struct conn_pair *pair = conn_pair_open(test, &setup);
	struct krdma_srq_attr attr = { .depth = DEPTH, .cq = pair->cq };

	expect_no_srq(test, pair, -EOPNOTSUPP, &attr);
}

/* Each message completes for the connection on which it arrived. */
static void attribution(struct kunit *test, enum krdma_context where)
{
	struct conn_setup setup = { .where = where, .srq_depth = DEPTH };
	struct conn_pair *pair = conn_pair_new(test, &setup);
	struct conn_end *end;
	u32 i;

	KUNIT_EXPECT_EQ(test, -EINVAL, krdma_srq_post_recv(pair->srq, NULL, 0));
	KUNIT_EXPECT_EQ(test, -EINVAL, krdma_conn_post_recv(pair->client.conn, NULL, 0));
	for (i = 0; i < 3 * DEPTH; i++) {
		struct fake_message message = { .data = pair->client.buffer, .length = i % 5 };
		struct krdma_recv_wr recv_wr = { .sge_count = 1 };
		struct krdma_sge sge;

		end = i % 3 ? &pair->client : &pair->server;
		sge = conn_sge(end, 64 * (i % DEPTH), 64);
		recv_wr.sges = &sge;
		KUNIT_ASSERT_EQ(test, 1, conn_receive(end, &recv_wr, 1));
		KUNIT_ASSERT_EQ(test, IB_WC_SUCCESS, fake_qp_receive(conn_qp(end), &message));
		KUNIT_ASSERT_TRUE(test, conn_until(pair, conn_told(&pair->shared) == i + 1));
		KUNIT_EXPECT_EQ(test, CONN_RECEIVE | i, end->last.wr_id);
		KUNIT_EXPECT_PTR_EQ(test, end->conn, end->last.conn);
		KUNIT_EXPECT_EQ(test, i % 5, end->last.length);
		KUNIT_EXPECT_EQ(test, KRDMA_OP_RECV, end->last.opcode);
	}
	KUNIT_EXPECT_EQ(test, DEPTH, conn_receive_empty(&pair->client, DEPTH + 3));
	KUNIT_EXPECT_EQ(test, -EAGAIN, conn_receive_empty(&pair->client, 1));
	for (i = 0; i < 5; i++)
		KUNIT_EXPECT_EQ(test, IB_WC_SUCCESS,
				fake_qp_receive(conn_qp(&pair->server), &(struct fake_message) {}));
	KUNIT_EXPECT_TRUE(test, conn_until(pair, conn_told(&pair->shared) == 3 * DEPTH + 5));
	KUNIT_EXPECT_EQ(test, 0, pair->shared.failed);
	conn_end_close(&pair->client);
	conn_end_close(&pair->server);

	/*
	 * The end of a connection leaves unused receives; they are flushed when the SRQ is closed.
	 */
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&pair->given_back));
	krdma_srq_close(pair->srq);
	krdma_srq_close(pair->srq);
	KUNIT_EXPECT_EQ(test, -ESHUTDOWN, conn_receive_empty(&pair->server, 1));
	KUNIT_EXPECT_TRUE(test, conn_until(pair, conn_told(&pair->shared) == 4 * DEPTH));
	KUNIT_EXPECT_EQ(test, DEPTH - 5, atomic_read(&pair->given_back));
	conn_expect_srq_whole(pair);
	conn_expect_whole(&pair->client);
	conn_expect_whole(&pair->server);
	conn_pair_end(pair);
}

/* Proves: D12 */
static void test_attribution(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(contexts); i++)
		attribution(test, contexts[i]);
}

/* An SRQ that was closed serves its connections until they end. */
static void test_close_while_used(struct kunit *test)
{
	struct fake_message message = {};
	unsigned int i, n;

	for (i = 0; i < ARRAY_SIZE(contexts); i++) {
		struct conn_setup setup = { .where = contexts[i], .srq_depth = DEPTH };
		struct conn_pair *pair = conn_pair_new(test, &setup);

		KUNIT_ASSERT_EQ(test, DEPTH, conn_receive_empty(&pair->server, DEPTH));
		krdma_srq_close(pair->srq);
		KUNIT_EXPECT_EQ(test, -ESHUTDOWN, conn_receive_empty(&pair->server, 1));
		for (n = 0; n < 7; n++)
			KUNIT_EXPECT_EQ(test, IB_WC_SUCCESS,
					fake_qp_receive(conn_qp(&pair->server), &message));
		KUNIT_EXPECT_TRUE(test, conn_until(pair, conn_told(&pair->shared) == 7));
		KUNIT_EXPECT_EQ(test, 1, atomic_read(&pair->fake->live[FAKE_SRQ]));
		/* Its peer ends with it, and both were the last users of the SRQ. */
		conn_end_close(&pair->server);
		conn_end_close(&pair->client);
		KUNIT_EXPECT_TRUE(test, conn_until(pair, conn_told(&pair->shared) == DEPTH));
		KUNIT_EXPECT_EQ(test, DEPTH - 7, atomic_read(&pair->given_back));
		KUNIT_EXPECT_TRUE(test, conn_until(pair,
						   !atomic_read(&pair->fake->live[FAKE_SRQ])));
		conn_expect_srq_whole(pair);
		conn_pair_end(pair);
	}
}

/* A connection breaks with messages for it in the CQ: no other connection gets them. */
static void test_broken_connection(struct kunit *test)
{
	unsigned int i, n;

	for (i = 0; i < ARRAY_SIZE(contexts); i++) {
		struct conn_setup setup = { .where = contexts[i], .srq_depth = DEPTH };
		struct conn_pair *pair = conn_pair_new(test, &setup);
		struct ib_qp *qp = conn_qp(&pair->server);
		struct fake_fault fault = { .qp = qp, .nth = 4, .status = IB_WC_LOC_LEN_ERR };
		struct fake_message message = {};

		KUNIT_ASSERT_EQ(test, DEPTH, conn_receive_empty(&pair->server, DEPTH));
		fake_set_fault(pair->fake, FAKE_RECEIVE, &fault);
		for (n = 0; n < 4; n++)
			fake_qp_receive(qp, &message);
		KUNIT_EXPECT_TRUE(test, conn_until(pair, conn_told(&pair->shared) == 4));
		KUNIT_EXPECT_EQ(test, KRDMA_WC_LOC_LEN_ERR, pair->server.failure.status);
		KUNIT_EXPECT_PTR_EQ(test, pair->server.conn, pair->server.failure.conn);
		KUNIT_EXPECT_TRUE(test, conn_until(pair, pair->server.heard[KRDMA_EVENT_CLOSED]));
		KUNIT_EXPECT_EQ(test, 0, pair->client.failure.status);
		KUNIT_EXPECT_EQ(test, 4, conn_told(&pair->shared));
		conn_end_close(&pair->client);
		conn_end_close(&pair->server);
		krdma_srq_close(pair->srq);
		KUNIT_EXPECT_TRUE(test, conn_until(pair, conn_told(&pair->shared) == DEPTH));
		conn_expect_srq_whole(pair);
		conn_pair_end(pair);
	}
}

static void tell_last_receive(struct ib_qp *qp)
{
	int n;

	for (n = 0; n < 3; n++)
		fake_qp_event(qp, IB_EVENT_QP_LAST_WQE_REACHED);
}

/* A device may report the last WQE several times, and too early. */
/* Proves: D12 */
static void test_last_receive_often(struct kunit *test)
{
	struct fake_message message = {};
	unsigned int i, n;

	for (i = 0; i < ARRAY_SIZE(contexts); i++) {
		struct conn_setup setup = { .where = contexts[i], .srq_depth = DEPTH };
		struct conn_pair *pair = conn_pair_new(test, &setup);
		struct ib_qp *qp = conn_qp(&pair->server);

		KUNIT_ASSERT_EQ(test, DEPTH, conn_receive_empty(&pair->server, DEPTH));
		tell_last_receive(qp);
		for (n = 0; n < 7; n++)
			KUNIT_EXPECT_EQ(test, IB_WC_SUCCESS, fake_qp_receive(qp, &message));
		KUNIT_EXPECT_TRUE(test, conn_until(pair, conn_told(&pair->shared) == 7));
		/* The completions that are held back keep the QP. */
		fake_hold(pair->fake, qp);
		KUNIT_EXPECT_EQ(test, 0, krdma_conn_disconnect(pair->server.conn));
		msleep(20);
		tell_last_receive(qp);
		fake_release(pair->fake, qp);
		conn_end_close(&pair->server);
		conn_end_close(&pair->client);
		KUNIT_EXPECT_EQ(test, 7, conn_told(&pair->shared));
		KUNIT_EXPECT_EQ(test, 0, pair->shared.failed);
		KUNIT_EXPECT_EQ(test, 1, pair->server.heard[KRDMA_EVENT_CLOSED]);
		krdma_srq_close(pair->srq);
		KUNIT_EXPECT_TRUE(test, conn_until(pair, conn_told(&pair->shared) == DEPTH));
		conn_expect_srq_whole(pair);
		conn_pair_end(pair);
	}
}

static void test_refused_receive(struct kunit *test)
{
	static const struct conn_setup setup = { .srq_depth = DEPTH };
	struct conn_pair *pair = conn_pair_new(test, &setup);
	struct krdma_sge sges[3];
	struct krdma_recv_wr recv_wr = { .sges = sges, .sge_count = 2 };
	u32 told = 0;
	int nth, i;

	sges[0] = conn_sge(&pair->server, 0, 4);
	sges[1] = conn_sge(&pair->server, 8, 4);
	KUNIT_EXPECT_EQ(test, -EMSGSIZE, conn_receive(&pair->server, &recv_wr, 1));
	for (nth = 1; nth <= DEPTH; nth++) {
		fake_device_fail(pair->fake, FAKE_POST_SRQ_RECV, nth, -ENOMEM);
		KUNIT_EXPECT_EQ(test, nth == 1 ? -EIO : nth - 1,
				conn_receive_empty(&pair->server, DEPTH));
		for (i = 1; i < nth; i++)
			fake_qp_receive(conn_qp(&pair->server), &(struct fake_message) {});
		told += nth - 1;
		KUNIT_ASSERT_TRUE(test, conn_until(pair, conn_told(&pair->shared) == told));
	}
	fake_device_fail(pair->fake, FAKE_POST_SRQ_RECV, 0, 0);
	/* No credit was lost on the way. */
	KUNIT_EXPECT_EQ(test, DEPTH, conn_receive_empty(&pair->server, DEPTH + 1));
	conn_end_close(&pair->client);
	conn_end_close(&pair->server);
	krdma_srq_close(pair->srq);
	KUNIT_EXPECT_TRUE(test, conn_until(pair, conn_told(&pair->shared) == told + DEPTH));
	conn_expect_srq_whole(pair);
}

static void test_removal(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(contexts); i++) {
		struct conn_setup setup = { .where = contexts[i], .srq_depth = DEPTH };
		struct conn_pair *pair = conn_pair_new(test, &setup);

		KUNIT_ASSERT_EQ(test, DEPTH, conn_receive_empty(&pair->server, DEPTH));
		test_device_unregister(pair->device);
		conn_pair_poll(pair);
		KUNIT_EXPECT_EQ(test, DEPTH, conn_told(&pair->shared));
		KUNIT_EXPECT_EQ(test, DEPTH, atomic_read(&pair->given_back));
		KUNIT_EXPECT_EQ(test, -ENODEV, conn_receive_empty(&pair->server, 1));
		conn_expect_srq_whole(pair);
		conn_pair_end(pair);
	}
}

static struct kunit_case srq_cases[] = {
	KUNIT_CASE(test_creation),
	KUNIT_CASE(test_device_without),
	KUNIT_CASE_SLOW(test_attribution),
	KUNIT_CASE_SLOW(test_close_while_used),
	KUNIT_CASE_SLOW(test_broken_connection),
	KUNIT_CASE_SLOW(test_last_receive_often),
	KUNIT_CASE(test_refused_receive),
	KUNIT_CASE_SLOW(test_removal),
	{}
};

static struct kunit_suite srq_suite = {
	.name = "krdma_srq",
	.init = test_objects_init,
	.test_cases = srq_cases,
};

kunit_test_suite(srq_suite);
