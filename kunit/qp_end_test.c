// SPDX-License-Identifier: GPL-2.0
/*
 * The end of a QP, over a fake device: what stays until the device is done with it, and how long
 * others have to wait.
 */
#include <linux/interrupt.h>
#include <linux/slab.h>

#include "cm/conn.h"
#include "objects.h"
#include "io/cq.h"
#include "io/wq.h"
#include "stage.h"

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
	KUNIT_CASE_SLOW(test_flush_in_steps),
	{}
};

static struct kunit_suite qp_end_suite = {
	.name = "krdma_qp_end",
	.init = test_objects_init,
	.test_cases = qp_end_cases,
};

kunit_test_suite(qp_end_suite);
