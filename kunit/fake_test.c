// SPDX-License-Identifier: GPL-2.0
/*
 * The fake device itself: a test that trusts it must be able to.
 */
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/jiffies.h>

#include "device_fixture.h"

#define NAME		"kfake"
#define LONG_WHILE	(60 * HZ)

/* A queue pair with what it needs, as a consumer of the kernel makes it. */
struct objects {
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct ib_qp *qp;

	struct ib_cqe cqe;
	struct completion completed;
	enum ib_wc_status status;
};

static void objects_completed(struct ib_cq *cq, struct ib_wc *wc)
{
	struct objects *objects = container_of(wc->wr_cqe, struct objects, cqe);

	objects->status = wc->status;
	complete(&objects->completed);
}

static void objects_destroy(struct objects *objects)
{
	if (!IS_ERR_OR_NULL(objects->qp))
		ib_destroy_qp(objects->qp);
	if (!IS_ERR_OR_NULL(objects->cq))
		ib_free_cq(objects->cq);
	if (!IS_ERR_OR_NULL(objects->pd))
		ib_dealloc_pd(objects->pd);
}

static int objects_create(struct fake_device *fake, struct objects *objects)
{
	struct ib_qp_init_attr attr = {
		.cap = {
			.max_send_wr = 8,
			.max_recv_wr = 8,
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.qp_type = IB_QPT_RC,
	};
	int ret;

	memset(objects, 0, sizeof(*objects));
	objects->cqe.done = objects_completed;
	init_completion(&objects->completed);

	objects->pd = ib_alloc_pd(&fake->ib, 0);
	if (IS_ERR(objects->pd))
		return PTR_ERR(objects->pd);
	objects->cq = ib_alloc_cq(&fake->ib, NULL, 18, 0, IB_POLL_WORKQUEUE);
	if (IS_ERR(objects->cq)) {
		ret = PTR_ERR(objects->cq);
		goto err;
	}
	attr.send_cq = objects->cq;
	attr.recv_cq = objects->cq;
	objects->qp = ib_create_qp(objects->pd, &attr);
	if (IS_ERR(objects->qp)) {
		ret = PTR_ERR(objects->qp);
		goto err;
	}
	return 0;

err:
	objects_destroy(objects);
	return ret;
}

static void expect_live(struct kunit *test, struct fake_device *fake, int each)
{
	KUNIT_EXPECT_EQ(test, each, atomic_read(&fake->live[FAKE_PD]));
	KUNIT_EXPECT_EQ(test, each, atomic_read(&fake->live[FAKE_CQ]));
	KUNIT_EXPECT_EQ(test, each, atomic_read(&fake->live[FAKE_QP]));
}

static void test_objects_are_counted(struct kunit *test)
{
	struct fake_device *fake = test_device_new(test, NAME)->fake;
	struct objects objects;

	expect_live(test, fake, 0);
	KUNIT_ASSERT_EQ(test, 0, objects_create(fake, &objects));
	expect_live(test, fake, 1);
	objects_destroy(&objects);
	expect_live(test, fake, 0);
}

static void test_scripts_fail_the_nth_call(struct kunit *test)
{
	static const enum fake_verb verbs[] = { FAKE_ALLOC_PD, FAKE_CREATE_CQ, FAKE_CREATE_QP };
	struct fake_device *fake = test_device_new(test, NAME)->fake;
	struct objects objects;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(verbs); i++) {
		fake_device_fail(fake, verbs[i], 2, -EREMOTEIO);
		KUNIT_ASSERT_EQ(test, 0, objects_create(fake, &objects));
		objects_destroy(&objects);
		KUNIT_EXPECT_EQ(test, -EREMOTEIO, objects_create(fake, &objects));
		expect_live(test, fake, 0);
		KUNIT_ASSERT_EQ(test, 0, objects_create(fake, &objects));
		objects_destroy(&objects);
		KUNIT_EXPECT_EQ(test, 3, fake_device_calls(fake, verbs[i]));
	}
}

static int objects_modify(struct objects *objects, enum ib_qp_state state)
{
	struct ib_qp_attr attr = { .qp_state = state };

	return ib_modify_qp(objects->qp, &attr, IB_QP_STATE);
}

static enum ib_wc_status objects_await(struct kunit *test, struct objects *objects)
{
	KUNIT_EXPECT_NE(test, 0, wait_for_completion_timeout(&objects->completed, LONG_WHILE));
	return objects->status;
}

static void test_work_completes(struct kunit *test)
{
	struct fake_device *fake = test_device_new(test, NAME)->fake;
	struct objects objects;
	struct ib_send_wr send = {
		.wr_cqe = &objects.cqe,
		.opcode = IB_WR_SEND,
		.send_flags = IB_SEND_SIGNALED,
	};
	struct ib_recv_wr receive = { .wr_cqe = &objects.cqe };

	KUNIT_ASSERT_EQ(test, 0, objects_create(fake, &objects));
	KUNIT_EXPECT_EQ(test, 0, ib_post_send(objects.qp, &send, NULL));
	KUNIT_EXPECT_EQ(test, IB_WC_SUCCESS, objects_await(test, &objects));

	fake_device_fail(fake, FAKE_POST_SEND, 1, -ENOMEM);
	KUNIT_EXPECT_EQ(test, -ENOMEM, ib_post_send(objects.qp, &send, NULL));

	/* A receive waits for the end, and is then flushed. */
	KUNIT_EXPECT_EQ(test, 0, ib_post_recv(objects.qp, &receive, NULL));
	KUNIT_EXPECT_FALSE(test, completion_done(&objects.completed));
	KUNIT_EXPECT_EQ(test, 0, objects_modify(&objects, IB_QPS_ERR));
	KUNIT_EXPECT_EQ(test, IB_WC_WR_FLUSH_ERR, objects_await(test, &objects));
	ib_drain_qp(objects.qp);
	objects_destroy(&objects);
}

static struct kunit_case fake_cases[] = {
	KUNIT_CASE(test_objects_are_counted),
	KUNIT_CASE(test_scripts_fail_the_nth_call),
	KUNIT_CASE(test_work_completes),
	{}
};

static struct kunit_suite fake_suite = {
	.name = "krdma_fake_device",
	.test_cases = fake_cases,
};

kunit_test_suite(fake_suite);
