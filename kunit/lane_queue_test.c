// SPDX-License-Identifier: GPL-2.0
/*
 * Lanes over a fake device: the memory of their queues.
 */
#include <linux/sched.h>
#include <linux/slab.h>

#include "cm/conn.h"
#include "cm/conn_post.h"
#include "core/session.h"
#include "lane/lane.h"
#include "lane_stage.h"
#include "objects.h"

/* Where posts are prepared, queues to which nothing is posted take no memory, unless it is much. */
static void test_idle_lane_has_no_queues(struct kunit *test)
{
	struct krdma_conn_attr large = { .send_depth = 16, .recv_depth = 16, .max_inline = 256 };
	struct actor *others = kunit_kcalloc(test, 2, sizeof(*others), GFP_KERNEL);
	struct krdma_conn_attr small = { .send_depth = 4, .recv_depth = 4 };
	struct stage *stage = lane_stage(test);

	KUNIT_ASSERT_NOT_NULL(test, others);
	stage->session->prepares = true;
	lane_connect(stage, 4);
	KUNIT_EXPECT_NULL(test, lane_of(&stage->client)->queues);
	KUNIT_EXPECT_NULL(test, lane_of(&stage->server)->queues);
	KUNIT_EXPECT_EQ(test, 0, krdma_conn_prepare_post(stage->server.conn));
	KUNIT_EXPECT_NOT_NULL(test, lane_of(&stage->server)->queues);
	lane_resolve(stage, &others[0]);
	KUNIT_ASSERT_EQ(test, 0, krdma_conn_create_qp(others[0].conn, &large));
	KUNIT_EXPECT_NOT_NULL(test, lane_of(&others[0])->queues);
	actor_close(&others[0]);
	/* Other consumers never hear of memory when they post. */
	stage->session->prepares = false;
	lane_resolve(stage, &others[1]);
	KUNIT_ASSERT_EQ(test, 0, krdma_conn_create_qp(others[1].conn, &small));
	KUNIT_EXPECT_NOT_NULL(test, lane_of(&others[1])->queues);
	actor_close(&others[1]);
	stage_close(stage);
}

/* A consumer that prepares posts repeats those for which there is no memory. */
static void test_post_is_prepared(struct kunit *test)
{
	struct stage *stage = lane_stage(test);
	int ret;

	stage->session->prepares = true;
	lane_connect(stage, 1);
	KUNIT_EXPECT_EQ(test, -ENOMEM, actor_receive(&stage->server));
	KUNIT_EXPECT_EQ(test, 0, krdma_conn_prepare_post(stage->server.conn));
	KUNIT_EXPECT_EQ(test, 1, actor_receive(&stage->server));
	KUNIT_EXPECT_EQ(test, -ENOMEM, actor_message(&stage->client));
	current->fail_nth = 1;
	ret = krdma_conn_prepare_post(stage->client.conn);
	current->fail_nth = 0;
	KUNIT_EXPECT_EQ(test, -ENOMEM, ret);
	KUNIT_EXPECT_EQ(test, -ENOMEM, actor_message(&stage->client));
	KUNIT_EXPECT_EQ(test, 0, krdma_conn_prepare_post(stage->client.conn));
	KUNIT_EXPECT_EQ(test, 1, actor_message(&stage->client));
	KUNIT_EXPECT_TRUE(test, actor_completes(&stage->client, 1));
	/* What is not needed is given back. */
	KUNIT_EXPECT_EQ(test, 0, krdma_conn_prepare_post(stage->client.conn));
	krdma_conn_abort(stage->client.conn);
	KUNIT_EXPECT_TRUE(test, lane_until(actor_state(&stage->client) == KRDMA_CONN_CLOSED &&
					   !READ_ONCE(lane_of(&stage->client)->queues)));
	KUNIT_EXPECT_EQ(test, 0, krdma_conn_prepare_post(stage->client.conn));
	KUNIT_EXPECT_NULL(test, lane_of(&stage->client)->queues);
	stage_close(stage);
}

/* A lane that could not take a receive of its SRQ gets one later, without having asked. */
/* @prepared: a post gets the memory of the queues before the lane has any for its receive. */
static void starved_lane_gets_a_receive(struct kunit *test, bool prepared)
{
	struct krdma_conn_attr attr = { .send_depth = 1, .recv_depth = 1 };
	struct krdma_cq_attr of_cq = { .depth = 64, .where = KRDMA_CONTEXT_SOFTIRQ, .vector = -1 };
	struct stage *stage = lane_stage_tuned(test, fake_device_offer_srq);
	struct krdma_srq_attr of_srq = { .depth = 16, .lanes = true, .context = &stage->server,
					 .complete = actor_ops.complete };
	struct krdma_recv_wr wr = {};
	int ret;

	lane_ask(stage, &stage->client, &attr);
	stage->session->prepares = true;
	stage_take(stage);
	of_srq.cq = krdma_cq_create(krdma_conn_device(stage->server.conn), &of_cq);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, of_srq.cq);
	attr.srq = krdma_srq_create(stage->session, &of_srq);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, attr.srq);
	attr.recv_depth = 0;
	KUNIT_ASSERT_EQ(test, 0, krdma_conn_create_qp(stage->server.conn, &attr));
	KUNIT_ASSERT_EQ(test, 0, actor_accept(&stage->server, ""));
	KUNIT_ASSERT_EQ(test, 0, krdma_conn_wait(stage->client.conn, STAGE_LONG_MS));
	current->fail_nth = 1;
	ret = krdma_srq_post_recv(attr.srq, &wr, 1);
	current->fail_nth = 0;
	if (prepared)
		KUNIT_EXPECT_EQ(test, 0, krdma_conn_prepare_post(stage->server.conn));
	KUNIT_EXPECT_EQ(test, 1, ret);
	KUNIT_EXPECT_TRUE(test, lane_until(READ_ONCE(lane_of(&stage->server)->recv.posted)));
	KUNIT_EXPECT_EQ(test, 1, actor_message(&stage->client));
	KUNIT_EXPECT_TRUE(test, actor_completes(&stage->server, 1));
	actor_close(&stage->server);
	krdma_srq_close(attr.srq);
	krdma_srq_put(attr.srq);
	krdma_cq_put(of_srq.cq);
	stage_close(stage);
}

static void test_starved_lane_gets_a_receive(struct kunit *test)
{
	starved_lane_gets_a_receive(test, false);
}

static void test_starved_lane_is_prepared_meanwhile(struct kunit *test)
{
	starved_lane_gets_a_receive(test, true);
}

static struct kunit_case lane_queue_cases[] = {
	KUNIT_CASE(test_idle_lane_has_no_queues),
	KUNIT_CASE(test_post_is_prepared),
	KUNIT_CASE(test_starved_lane_gets_a_receive),
	KUNIT_CASE(test_starved_lane_is_prepared_meanwhile),
	{}
};

static struct kunit_suite lane_queue_suite = {
	.name = "krdma_lane_queue",
	.init = test_objects_init,
	.test_cases = lane_queue_cases,
};

kunit_test_suite(lane_queue_suite);
