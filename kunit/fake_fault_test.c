// SPDX-License-Identifier: GPL-2.0
/*
 * The fake device's faults: completions that fail, come twice, late or never, and the notification
 * of consumers.
 */
#include "fake_pair.h"
#include "objects.h"

static void test_completions_fail(struct kunit *test)
{
	static const struct fake_fault fault = {
		.nth = 2, .status = IB_WC_FATAL_ERR, .vendor_err = 0x77,
	};
	struct pair *pair = pair_connected(test);
	struct fake_fault received = fault;
	struct ib_wc wc;
	int i;

	for (i = 0; i < 3; i++)
		KUNIT_ASSERT_EQ(test, 0, side_receive(&pair->b, i, 0, 8));
	fake_set_fault(pair->fake, FAKE_SEND, &fault);
	for (i = 0; i < 3; i++)
		KUNIT_ASSERT_EQ(test, 0, side_send(&pair->a, i, 0, 8, 0));
	wc = polls(test, &pair->a, 1, IB_WC_FATAL_ERR);
	KUNIT_EXPECT_EQ(test, 0x77, wc.vendor_err);
	polls(test, &pair->a, 2, IB_WC_WR_FLUSH_ERR);
	polls(test, &pair->b, 0, IB_WC_SUCCESS);
	polls_nothing(test, &pair->b);
	KUNIT_EXPECT_EQ(test, IB_QPS_ERR, fake_qp_state(pair->a.qp));

	pair_destroy(pair);
	pair_connect(test, pair, false);
	received.qp = pair->b.qp;
	fake_set_fault(pair->fake, FAKE_RECEIVE, &received);
	for (i = 0; i < 3; i++)
		KUNIT_ASSERT_EQ(test, 0, side_receive(&pair->b, i, 0, 8));
	for (i = 0; i < 2; i++)
		KUNIT_ASSERT_EQ(test, 0, side_send(&pair->a, i, 0, 8, 0));
	polls_nothing(test, &pair->a);
	polls(test, &pair->b, 0, IB_WC_SUCCESS);
	wc = polls(test, &pair->b, 1, IB_WC_FATAL_ERR);
	KUNIT_EXPECT_EQ(test, 0x77, wc.vendor_err);
	polls(test, &pair->b, 2, IB_WC_WR_FLUSH_ERR);
	pair_destroy(pair);
}

static void test_completions_come_twice(struct kunit *test)
{
	static const struct fake_fault fault = { .nth = 1, .duplicate = true };
	struct pair *pair = pair_connected(test);

	fake_set_fault(pair->fake, FAKE_SEND, &fault);
	fake_set_fault(pair->fake, FAKE_RECEIVE, &fault);
	KUNIT_ASSERT_EQ(test, 0, side_receive(&pair->b, 2, 0, 8));
	KUNIT_ASSERT_EQ(test, 0, side_send(&pair->a, 1, 0, 8, IB_SEND_SIGNALED));
	polls(test, &pair->a, 1, IB_WC_SUCCESS);
	polls(test, &pair->a, 1, IB_WC_SUCCESS);
	polls_nothing(test, &pair->a);
	polls(test, &pair->b, 2, IB_WC_SUCCESS);
	polls(test, &pair->b, 2, IB_WC_SUCCESS);
	polls_nothing(test, &pair->b);
	pair_destroy(pair);
}

static void test_completions_come_late(struct kunit *test)
{
	struct pair *pair = pair_connected(test);
	struct side *a = &pair->a, *b = &pair->b;

	fake_hold(pair->fake, NULL);
	KUNIT_ASSERT_EQ(test, 0, side_receive(b, 3, 0, 8));
	KUNIT_ASSERT_EQ(test, 0, side_send(a, 1, 0, 8, IB_SEND_SIGNALED));
	KUNIT_ASSERT_EQ(test, 0, side_modify(a, IB_QPS_ERR));
	KUNIT_ASSERT_EQ(test, 0, side_send(a, 2, 0, 8, 0));
	KUNIT_EXPECT_EQ(test, 2, fake_held(a->qp));
	KUNIT_EXPECT_EQ(test, 1, fake_held(b->qp));
	KUNIT_EXPECT_MEMEQ(test, b->buffer, a->buffer, 8);
	polls_nothing(test, a);
	fake_release(pair->fake, b->qp);
	polls_nothing(test, a);
	polls(test, b, 3, IB_WC_SUCCESS);
	fake_release(pair->fake, NULL);
	polls(test, a, 1, IB_WC_SUCCESS);
	polls(test, a, 2, IB_WC_WR_FLUSH_ERR);
	pair_destroy(pair);
}

static void test_work_waits(struct kunit *test)
{
	struct pair *pair = pair_connected(test);
	struct side *a = &pair->a;
	int i;

	fake_stall(pair->fake, a->qp);
	for (i = 0; i < 2; i++) {
		KUNIT_ASSERT_EQ(test, 0, side_receive(&pair->b, i, 0, 8));
		KUNIT_ASSERT_EQ(test, 0, side_send(a, i, 0, 8, IB_SEND_SIGNALED));
	}
	polls_nothing(test, &pair->b);
	fake_go_on(pair->fake, a->qp);
	polls(test, a, 0, IB_WC_SUCCESS);
	polls(test, a, 1, IB_WC_SUCCESS);
	fake_stall(pair->fake, NULL);
	KUNIT_ASSERT_EQ(test, 0, side_send(a, 9, 0, 8, 0));
	fake_qp_fail(a->qp);
	polls(test, a, 9, IB_WC_WR_FLUSH_ERR);
	pair_destroy(pair);
}

static void test_dead_devices_flush_nothing(struct kunit *test)
{
	struct pair *pair = pair_connected(test);
	struct side *a = &pair->a;

	KUNIT_ASSERT_EQ(test, 0, side_receive(a, 1, 0, 8));
	fake_device_set_dead(pair->fake, true);
	KUNIT_ASSERT_EQ(test, 0, side_modify(a, IB_QPS_ERR));
	KUNIT_ASSERT_EQ(test, 0, side_send(a, 2, 0, 8, 0));
	polls_nothing(test, a);
	fake_device_set_dead(pair->fake, false);
	polls(test, a, 2, IB_WC_WR_FLUSH_ERR);
	polls(test, a, 1, IB_WC_WR_FLUSH_ERR);
	pair_destroy(pair);
}

static void test_consumers_are_told(struct kunit *test)
{
	static const struct {
		enum fake_notify notify;
		bool hardirq, irqs_off, inside;
		/* It interrupts any thread. */
		bool interrupts;
	} cases[] = {
		{ FAKE_NOTIFY_IRQS_OFF, false, true, false, false },
		{ FAKE_NOTIFY_INLINE, false, true, true, false },
		{ FAKE_NOTIFY_WORK, false, false, false, false },
		{ FAKE_NOTIFY_TASKLET, false, false, false, true },
		{ FAKE_NOTIFY_HARDIRQ, true, true, false, true },
	};
	struct pair *pair = pair_connected(test);
	struct side *a = &pair->a, *b = &pair->b;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		pair->fake->notify = cases[i].notify;
		ib_req_notify_cq(a->cq, IB_CQ_NEXT_COMP);
		ib_req_notify_cq(b->cq, IB_CQ_SOLICITED);
		KUNIT_ASSERT_EQ(test, 0, side_receive(b, 0, 0, 8));
		KUNIT_ASSERT_EQ(test, 0, side_receive(b, 0, 0, 8));
		KUNIT_ASSERT_EQ(test, 0, side_send(a, 0, 0, 8, IB_SEND_SIGNALED));
		if (cases[i].inside)
			KUNIT_EXPECT_TRUE(test, completion_done(&a->rung));
		KUNIT_ASSERT_NE(test, 0, wait_for_completion_timeout(&a->rung, LONG_WHILE));
		KUNIT_EXPECT_EQ(test, cases[i].hardirq, a->hardirq);
		KUNIT_EXPECT_EQ(test, cases[i].irqs_off, a->irqs_off);
		if (!cases[i].interrupts)
			KUNIT_EXPECT_EQ(test, cases[i].inside, a->caller == current);
		KUNIT_EXPECT_FALSE(test, completion_done(&b->rung));
		KUNIT_ASSERT_EQ(test, 0, side_send(a, 0, 0, 8, IB_SEND_SOLICITED));
		KUNIT_ASSERT_NE(test, 0, wait_for_completion_timeout(&b->rung, LONG_WHILE));

		/* Once per arming, and missed completions are reported. */
		KUNIT_EXPECT_FALSE(test, completion_done(&a->rung));
		KUNIT_EXPECT_EQ(test, 1, ib_req_notify_cq(b->cq, IB_CQ_SOLICITED |
							  IB_CQ_REPORT_MISSED_EVENTS));
		polls(test, a, 0, IB_WC_SUCCESS);
		polls(test, b, 0, IB_WC_SUCCESS);
		polls(test, b, 0, IB_WC_SUCCESS);
	}
	pair_destroy(pair);
}

static void test_completions_of_the_dead(struct kunit *test)
{
	struct pair *pair = pair_connected(test);
	struct side *a = &pair->a;
	struct ib_wc wc;
	int drops;

	for (drops = 0; drops < 2; drops++) {
		pair->fake->destroy_drops_cqes = drops;
		KUNIT_ASSERT_EQ(test, 0, side_modify(a, IB_QPS_ERR));
		KUNIT_ASSERT_EQ(test, 0, side_send(a, 5, 0, 8, 0));
		KUNIT_ASSERT_EQ(test, 0, ib_destroy_qp(a->qp));
		KUNIT_EXPECT_EQ(test, !drops, ib_poll_cq(a->cq, 1, &wc));
		KUNIT_ASSERT_EQ(test, 0, side_create_qp(a));
	}
	pair_destroy(pair);
}

/* The events that consumers of the device have got. */
struct listener {
	struct ib_event_handler handler;
	struct completion heard;
	enum ib_event_type event;
	u32 port;
};

static void listener_hears(struct ib_event_handler *handler, struct ib_event *event)
{
	struct listener *listener = container_of(handler, struct listener, handler);

	listener->event = event->event;
	listener->port = event->element.port_num;
	complete(&listener->heard);
}

static void test_events(struct kunit *test)
{
	struct pair *pair = pair_connected(test);
	struct listener listener = {};

	fake_qp_event(pair->a.qp, IB_EVENT_QP_FATAL);
	KUNIT_EXPECT_EQ(test, IB_EVENT_QP_FATAL, pair->a.event);

	init_completion(&listener.heard);
	INIT_IB_EVENT_HANDLER(&listener.handler, &pair->fake->ib, listener_hears);
	ib_register_event_handler(&listener.handler);
	fake_device_event(pair->fake, IB_EVENT_PORT_ERR, 1);
	KUNIT_EXPECT_NE(test, 0, wait_for_completion_timeout(&listener.heard, LONG_WHILE));
	KUNIT_EXPECT_EQ(test, IB_EVENT_PORT_ERR, listener.event);
	KUNIT_EXPECT_EQ(test, 1, listener.port);
	ib_unregister_event_handler(&listener.handler);
	pair_destroy(pair);
}

static struct kunit_case fake_fault_cases[] = {
	KUNIT_CASE(test_completions_fail),
	KUNIT_CASE(test_completions_come_twice),
	KUNIT_CASE(test_completions_come_late),
	KUNIT_CASE(test_work_waits),
	KUNIT_CASE(test_dead_devices_flush_nothing),
	KUNIT_CASE(test_consumers_are_told),
	KUNIT_CASE(test_completions_of_the_dead),
	KUNIT_CASE(test_events),
	{}
};

static struct kunit_suite fake_fault_suite = {
	.name = "krdma_fake_faults",
	.init = test_objects_init,
	.test_cases = fake_fault_cases,
};

kunit_test_suite(fake_fault_suite);
