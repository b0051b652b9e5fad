// SPDX-License-Identifier: GPL-2.0
/* Which attributes of a port are cached, and for how long. */
#include <kunit/test.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>

#include "conn_fixture.h"
#include "objects.h"

static const struct conn_setup setup = {
	.where = KRDMA_CONTEXT_WORKQUEUE,
	.attr = { .send_depth = 4, .recv_depth = 4 },
};

static unsigned int calls_for_a_pair(struct conn_pair *pair)
{
	unsigned int before = fake_device_calls(pair->fake, FAKE_QUERY_PORT);

	conn_pair_again(pair);
	return fake_device_calls(pair->fake, FAKE_QUERY_PORT) - before;
}

/* A provider may take rtnl, so connections do not query it each time. */
static void test_asked_once(struct kunit *test)
{
	struct conn_pair *pair = conn_pair_new(test, &setup);

	for (int i = 0; i < 4; i++)
		KUNIT_EXPECT_EQ(test, 0, calls_for_a_pair(pair));
	conn_pair_close(pair);
}

static void test_asked_after_an_event(struct kunit *test)
{
	static const enum ib_event_type types[] = {
		IB_EVENT_PORT_ERR, IB_EVENT_PORT_ACTIVE, IB_EVENT_PORT_ERR,
	};
	struct conn_pair *pair = conn_pair_new(test, &setup);

	for (int i = 0; i < ARRAY_SIZE(types); i++) {
		struct ib_event event = {
			.device = &pair->fake->ib,
			.event = types[i],
			.element.port_num = 1,
		};

		ib_dispatch_event(&event);
		flush_workqueue(ib_wq);
		KUNIT_EXPECT_EQ(test, 1, calls_for_a_pair(pair));
		KUNIT_EXPECT_EQ(test, 0, calls_for_a_pair(pair));
	}
	conn_pair_close(pair);
}

/* A failed query is not cached. */
static void test_asked_after_a_failure(struct kunit *test)
{
	struct conn_pair *pair = conn_pair_open(test, &setup);

	conn_client_resolve(pair);
	fake_device_fail(pair->fake, FAKE_QUERY_PORT, 1, -EINVAL);
	KUNIT_EXPECT_EQ(test, -EIO, conn_end_prepare(&pair->client));
	KUNIT_EXPECT_EQ(test, 0, conn_end_prepare(&pair->client));
	KUNIT_EXPECT_EQ(test, 2, fake_device_calls(pair->fake, FAKE_QUERY_PORT));
	conn_pair_close(pair);
}

/* Memory reclaim may wait for the connection, and the holder of rtnl for memory. */
static void test_reclaim_takes_what_is_known(struct kunit *test)
{
	struct conn_pair *pair = conn_pair_new(test, &setup);
	struct ib_event event = {
		.device = &pair->fake->ib, .event = IB_EVENT_PORT_ERR, .element.port_num = 1,
	};

	ib_dispatch_event(&event);
	flush_workqueue(ib_wq);
	krdma_session_set_reclaim(pair->session);
	KUNIT_EXPECT_EQ(test, 0, calls_for_a_pair(pair));
	conn_pair_close(pair);
}

static struct kunit_case port_cases[] = {
	KUNIT_CASE(test_asked_once),
	KUNIT_CASE(test_asked_after_an_event),
	KUNIT_CASE(test_asked_after_a_failure),
	KUNIT_CASE(test_reclaim_takes_what_is_known),
	{}
};

static struct kunit_suite port_suite = {
	.name = "krdma_port",
	.init = test_objects_init,
	.test_cases = port_cases,
};

kunit_test_suite(port_suite);
