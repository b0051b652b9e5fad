// SPDX-License-Identifier: GPL-2.0
/*
 * The end of a QP, over a fake device: what stays until the device is done with it, and how long
 * others have to wait.
 */
#include <linux/interrupt.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>

#include "cm/conn.h"
#include "objects.h"
#include "io/cq.h"
#include "mr/mr.h"
#include "io/wq.h"
#include "stage.h"

#define LENGTH		100
#define RECEIVES	60

/* The client chooses the attributes of its QP. */
static struct stage *stage_with(struct kunit *test, const struct krdma_conn_ops *ops,
				void *context, const struct krdma_conn_attr *attr)
{
	struct stage *stage = stage_new(test, NULL);

	stage_listen(stage);
	stage->client.conn = krdma_conn_create(stage->session, ops, context ?: &stage->client);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, stage->client.conn);
	KUNIT_ASSERT_EQ(test, 0, actor_resolve(&stage->client));
	KUNIT_ASSERT_EQ(test, 0, krdma_conn_wait(stage->client.conn, STAGE_LONG_MS));
	KUNIT_ASSERT_EQ(test, 0, krdma_conn_create_qp(stage->client.conn, attr));
	KUNIT_ASSERT_EQ(test, 0, actor_connect(&stage->client, "please"));
	stage_take(stage);
	KUNIT_ASSERT_EQ(test, 0, actor_accept(&stage->server, "welcome"));
	KUNIT_ASSERT_EQ(test, 0, krdma_conn_wait(stage->server.conn, STAGE_LONG_MS));
	KUNIT_ASSERT_EQ(test, 0, krdma_conn_wait(stage->client.conn, STAGE_LONG_MS));
	return stage;
}

/*
 * FRMRs
 */

/* Returns the status that a peer of another connection in the PD gets when it uses the rkey. */
static enum ib_wc_status other_peer_reads(struct stage *stage, u64 addr, u32 key)
{
	u8 bytes[LENGTH];

	return fake_qp_remote_read(actor_qp(&stage->server), addr, key, bytes, sizeof(bytes));
}

/* An FRMR that was put after the connection failed stays mapped as long as its rkey is valid. */
static void test_mapped_until_the_key_is_dead(struct kunit *test)
{
	const struct krdma_conn_attr attr = { .recv_depth = 4, .mr_count = 1, .mr_pages = 2 };
	struct krdma_send_wr wr = {
		.opcode = KRDMA_OP_REG_MR, .access = KRDMA_ACCESS_REMOTE_READ,
	};
	struct fake_endpoint *endpoint;
	struct krdma_frmr_pool *pool;
	struct scatterlist sg;
	struct stage *stage;
	struct krdma_frmr *frmr;
	u8 *memory;
	u64 addr;
	u32 key;

	test_needs_fast_reg(test);
	memory = kunit_kzalloc(test, LENGTH, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, memory);
	stage = stage_with(test, &actor_ops, NULL, &attr);
	frmr = krdma_frmr_get(stage->client.conn);
	KUNIT_ASSERT_NOT_NULL(test, frmr);
	sg_init_one(&sg, memory, LENGTH);
	KUNIT_ASSERT_EQ(test, 0, krdma_frmr_map(frmr, &sg, 1));
	addr = krdma_frmr_addr(frmr);
	key = krdma_frmr_rkey(frmr);
	wr.mr = frmr;
	KUNIT_ASSERT_EQ(test, 1, krdma_conn_post_send(stage->client.conn, &wr, 1));
	KUNIT_ASSERT_TRUE(test, actor_completes(&stage->client, 1));
	KUNIT_ASSERT_EQ(test, IB_WC_SUCCESS, other_peer_reads(stage, addr, key));

	/* The end waits for the device, and the other connection gets no event of it. */
	pool = stage->client.conn->qp->mr_pool;
	stage->fake->cm_manual = FAKE_MANUAL_CLOSE;
	endpoint = fake_cm_of_qp(actor_qp(&stage->client));
	KUNIT_ASSERT_NOT_NULL(test, endpoint);
	KUNIT_ASSERT_EQ(test, 1, actor_receive(&stage->client));
	fake_hold(stage->fake, actor_qp(&stage->client));
	krdma_conn_abort(stage->client.conn);
	krdma_frmr_put(frmr);
	/* The caller may reuse its list. */
	memset(&sg, 0, sizeof(sg));
	KUNIT_EXPECT_EQ(test, IB_WC_SUCCESS, other_peer_reads(stage, addr, key));
	KUNIT_EXPECT_EQ(test, 0, krdma_frmr_check(frmr, pool));
	/* No other consumer gets it either, and it is not mapped again. */
	KUNIT_EXPECT_NULL(test, krdma_frmr_get(stage->client.conn));

	fake_release(stage->fake, NULL);
	KUNIT_EXPECT_EQ(test, 0, fake_cm_close(endpoint));
	fake_cm_put(endpoint);
	krdma_conn_close(stage->client.conn);
	KUNIT_EXPECT_NE(test, IB_WC_SUCCESS, other_peer_reads(stage, addr, key));
	KUNIT_EXPECT_EQ(test, -EINVAL, krdma_frmr_check(frmr, pool));
}

/* The same if it is put while the device is about to invalidate the rkey. */
static void test_put_while_the_key_dies(struct kunit *test)
{
	const struct krdma_conn_attr attr = { .recv_depth = 4, .mr_count = 1, .mr_pages = 2 };
	struct krdma_send_wr wr = {
		.opcode = KRDMA_OP_REG_MR, .access = KRDMA_ACCESS_REMOTE_READ,
	};
	struct krdma_frmr_pool *pool;
	struct scatterlist *sg;
	struct fake_pause pause;
	struct krdma_frmr *frmr;
	struct stage *stage;
	u8 *memory;

	test_needs_fast_reg(test);
	memory = kunit_kzalloc(test, LENGTH, GFP_KERNEL);
	sg = kunit_kzalloc(test, sizeof(*sg), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, memory);
	KUNIT_ASSERT_NOT_NULL(test, sg);
	stage = stage_with(test, &actor_ops, NULL, &attr);
	frmr = krdma_frmr_get(stage->client.conn);
	KUNIT_ASSERT_NOT_NULL(test, frmr);
	sg_init_one(sg, memory, LENGTH);
	KUNIT_ASSERT_EQ(test, 0, krdma_frmr_map(frmr, sg, 1));
	wr.mr = frmr;
	KUNIT_ASSERT_EQ(test, 1, krdma_conn_post_send(stage->client.conn, &wr, 1));
	KUNIT_ASSERT_TRUE(test, actor_completes(&stage->client, 1));

	pool = stage->client.conn->qp->mr_pool;
	fake_device_pause_dereg(stage->fake, &pause);
	krdma_conn_abort(stage->client.conn);
	wait_for_completion(&pause.entered);
	fake_device_pause_dereg(stage->fake, NULL);
	krdma_frmr_put(frmr);
	/* The caller may reuse its list. */
	memset(sg, 0, sizeof(*sg));
	/* It is still mapped. */
	KUNIT_EXPECT_EQ(test, 0, krdma_frmr_check(frmr, pool));
	complete_all(&pause.go_on);
	krdma_conn_close(stage->client.conn);
	KUNIT_EXPECT_EQ(test, -EINVAL, krdma_frmr_check(frmr, pool));
}

/* An FRMR that the consumer has at the end can be put afterwards, but not mapped. */
static void test_failed_is_not_mapped(struct kunit *test)
{
	const struct krdma_conn_attr attr = { .recv_depth = 4, .mr_count = 1, .mr_pages = 2 };
	struct scatterlist sg;
	struct stage *stage;
	struct krdma_frmr *frmr;
	u8 *memory;

	test_needs_fast_reg(test);
	memory = kunit_kzalloc(test, LENGTH, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, memory);
	stage = stage_with(test, &actor_ops, NULL, &attr);
	frmr = krdma_frmr_get(stage->client.conn);
	KUNIT_ASSERT_NOT_NULL(test, frmr);
	sg_init_one(&sg, memory, LENGTH);
	KUNIT_ASSERT_EQ(test, 0, krdma_frmr_map(frmr, &sg, 1));
	KUNIT_ASSERT_EQ(test, 1, actor_receive(&stage->client));
	fake_hold(stage->fake, actor_qp(&stage->client));
	krdma_conn_abort(stage->client.conn);
	/* Its rkey may be valid: the mapping stays. */
	KUNIT_EXPECT_EQ(test, -ENOTCONN, krdma_frmr_map(frmr, &sg, 1));
	KUNIT_EXPECT_EQ(test, 0, krdma_frmr_check(frmr, stage->client.conn->qp->mr_pool));
	fake_release(stage->fake, NULL);
	krdma_conn_close(stage->client.conn);
	krdma_frmr_put(frmr);
}

/*
 * Duration
 */

/**
 * struct steps - number of completions without a break
 * @tasklet: runs as soon as softirqs may
 * @completed: number of completions
 * @at_break: number of completions before the first break
 */
struct steps {
	struct tasklet_struct tasklet;
	unsigned int completed;
	unsigned int at_break;
};

static void steps_break(struct tasklet_struct *tasklet)
{
	struct steps *steps = container_of(tasklet, struct steps, tasklet);

	if (!steps->at_break)
		steps->at_break = steps->completed;
}

static void steps_complete(const struct krdma_wc *wc)
{
	struct steps *steps = wc->context;

	if (!steps->completed++)
		tasklet_schedule(&steps->tasklet);
}

static void steps_event(struct krdma_conn *conn, const struct krdma_event *event)
{
}

static const struct krdma_conn_ops steps_ops = {
	.event = steps_event,
	.complete = steps_complete,
};

/* A device flushes nothing: krdma does, and lets others run in between. */
static void test_flush_in_steps(struct kunit *test)
{
	const struct krdma_conn_attr attr = {
		.recv_depth = RECEIVES, .where = KRDMA_CONTEXT_SOFTIRQ,
	};
	struct steps *steps = kunit_kzalloc(test, sizeof(*steps), GFP_KERNEL);
	struct stage *stage;

	KUNIT_ASSERT_NOT_NULL(test, steps);
	tasklet_setup(&steps->tasklet, steps_break);
	stage = stage_with(test, &steps_ops, steps, &attr);
	for (unsigned int i = 0; i < RECEIVES; i++)
		KUNIT_ASSERT_EQ(test, 1, actor_receive(&stage->client));
	fake_device_set_dead(stage->fake, true);
	krdma_conn_close(stage->client.conn);
	fake_device_set_dead(stage->fake, false);
	tasklet_kill(&steps->tasklet);
	KUNIT_EXPECT_EQ(test, RECEIVES, steps->completed);
	KUNIT_EXPECT_NE(test, 0, steps->at_break);
	KUNIT_EXPECT_LE(test, steps->at_break, KRDMA_CQ_BATCH);
}

static struct kunit_case qp_end_cases[] = {
	KUNIT_CASE(test_mapped_until_the_key_is_dead),
	KUNIT_CASE(test_put_while_the_key_dies),
	KUNIT_CASE(test_failed_is_not_mapped),
	KUNIT_CASE_SLOW(test_flush_in_steps),
	{}
};

static struct kunit_suite qp_end_suite = {
	.name = "krdma_qp_end",
	.init = test_objects_init,
	.test_cases = qp_end_cases,
};

kunit_test_suite(qp_end_suite);
