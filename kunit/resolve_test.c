// SPDX-License-Identifier: GPL-2.0
/*
 * The device is removed while a connection resolves its address or route.
 *
 * The tests delay each step from outside: address resolution takes as long as the neighbour that
 * has the address does not answer.  Route resolution takes as long as that of another id, the gate,
 * is in its handler, because the connection manager reports one route at a time.
 */
#include <linux/inet.h>
#include <linux/netdevice.h>
#include <linux/sched.h>
#include <net/arp.h>
#include <net/neighbour.h>
#include <net/net_namespace.h>
#include <rdma/rdma_cm.h>

#include "cm/conn.h"
#include "objects.h"
#include "stage.h"

/* An interface with its address, created by run.sh. */
#define NETDEV		"kaddr0"
#define OURS		"10.79.0.1"
/* A host behind it, which does not answer until a test lets it. */
#define NEIGHBOUR	"10.79.0.3"

#define SHORT_WHILE_MS	100

/*
 * Addresses
 */

static struct net_device *neighbour_netdev(void)
{
	struct net_device *netdev = dev_get_by_name(&init_net, NETDEV);

	/* The fake devices on the interface are gone before it is released. */
	dev_put(netdev);
	return netdev;
}

static void neighbour_tune(struct fake_device *fake)
{
	fake->netdev = neighbour_netdev();
}

static bool neighbour_set(u8 state)
{
	struct net_device *netdev = neighbour_netdev();
	__be32 address = in_aton(NEIGHBOUR);
	struct neighbour *neighbour;
	int ret;

	neighbour = __neigh_lookup(&arp_tbl, &address, netdev, 1);
	if (!neighbour)
		return false;
	ret = neigh_update(neighbour, netdev->dev_addr, state,
			   NEIGH_UPDATE_F_OVERRIDE | NEIGH_UPDATE_F_ADMIN, 0);
	neigh_release(neighbour);
	return !ret;
}

static bool neighbour_answers(void)
{
	return neighbour_set(NUD_PERMANENT);
}

static void neighbour_is_silent(void *unused)
{
	neighbour_set(NUD_FAILED);
}

/* A stage with the neighbour's address behind the interface. */
static struct stage *stage_with_neighbour(struct kunit *test)
{
	struct stage *stage = stage_new(test, neighbour_tune);

	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, neighbour_is_silent, NULL));
	stage_create(stage);
	return stage;
}

static int actor_resolve_neighbour(struct actor *actor, const char *from)
{
	struct sockaddr_in local = { .sin_family = AF_INET };
	struct sockaddr_in remote = { .sin_family = AF_INET, .sin_port = htons(STAGE_PORT) };
	struct krdma_route route = {
		.local = from ? (struct sockaddr *)&local : NULL,
		.remote = (struct sockaddr *)&remote,
		.timeout_ms = STAGE_LONG_MS,
	};

	if (from)
		local.sin_addr.s_addr = in_aton(from);
	remote.sin_addr.s_addr = in_aton(NEIGHBOUR);
	return krdma_conn_resolve(actor->conn, &route);
}

/*
 * Routes
 */

/**
 * struct gate - delays the resolution of all routes
 * @id: its own id, which resolves a route
 * @answered: completed when that is resolved
 * @open: lets it continue
 */
struct gate {
	struct rdma_cm_id *id;
	struct completion answered;
	struct completion open;
};

static int gate_event(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct gate *gate = id->context;

	complete(&gate->answered);
	if (event->event == RDMA_CM_EVENT_ROUTE_RESOLVED)
		wait_for_completion(&gate->open);
	return 0;
}

static void gate_open(void *context)
{
	struct gate *gate = context;

	complete_all(&gate->open);
	if (!IS_ERR_OR_NULL(gate->id))
		rdma_destroy_id(gate->id);
	gate->id = NULL;
}

static bool gate_hears(struct gate *gate)
{
	return wait_for_completion_timeout(&gate->answered, STAGE_LONG);
}

/* Its id is bound to the device, which can be removed when the gate is open. */
static struct gate *gate_new(struct kunit *test)
{
	struct gate *gate = kunit_kzalloc(test, sizeof(*gate), GFP_KERNEL);
	struct sockaddr_in to = fake_address(STAGE_PORT);

	KUNIT_ASSERT_NOT_NULL(test, gate);
	init_completion(&gate->answered);
	init_completion(&gate->open);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, gate_open, gate));
	gate->id = rdma_create_id(&init_net, gate_event, gate, RDMA_PS_TCP, IB_QPT_RC);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, gate->id);
	KUNIT_ASSERT_EQ(test, 0, rdma_resolve_addr(gate->id, NULL, (struct sockaddr *)&to,
						   STAGE_LONG_MS));
	KUNIT_ASSERT_TRUE(test, gate_hears(gate));
	KUNIT_ASSERT_EQ(test, 0, rdma_resolve_route(gate->id, STAGE_LONG_MS));
	KUNIT_ASSERT_TRUE(test, gate_hears(gate));
	return gate;
}

/* The client's resolution is delayed at the route. */
static void gate_holds(struct kunit *test, struct stage *stage)
{
	stage_create(stage);
	KUNIT_ASSERT_EQ(test, 0, actor_resolve(&stage->client));
	KUNIT_ASSERT_TRUE(test, actor_hears(&stage->client, KRDMA_EVENT_ADDR_RESOLVED));
	/* The handler of the address event requests the route before it returns. */
	rdma_lock_handler(stage->client.conn->cm_id);
	rdma_unlock_handler(stage->client.conn->cm_id);
	KUNIT_ASSERT_EQ(test, KRDMA_CONN_RESOLVING_ROUTE, actor_state(&stage->client));
}

/*
 * The device
 */

/**
 * struct removal - the removal of the device, in a thread of its own
 * @work: removes it
 * @device: the device
 * @done: completed when it is gone
 */
struct removal {
	struct work_struct work;
	struct test_device *device;
	struct completion done;
};

static void removal_work(struct work_struct *work)
{
	struct removal *removal = container_of(work, struct removal, work);

	test_device_unregister(removal->device);
	complete_all(&removal->done);
}

static void removal_begin(struct removal *removal, struct stage *stage)
{
	INIT_WORK_ONSTACK(&removal->work, removal_work);
	init_completion(&removal->done);
	removal->device = stage->device;
	queue_work(stage->works, &removal->work);
}

/* Nothing delays the removal any more; it ends, and nothing of the connection is left. */
static void removal_end(struct kunit *test, struct removal *removal)
{
	KUNIT_EXPECT_TRUE(test, wait_for_completion_timeout(&removal->done, STAGE_LONG));
	flush_work(&removal->work);
	destroy_work_on_stack(&removal->work);
	for (int i = 0; i < FAKE_OBJECTS; i++)
		KUNIT_EXPECT_EQ(test, 0, atomic_read(&removal->device->fake->live[i]));
}

/* The connection has ended with this error, and cannot be used. */
static void expect_ended(struct kunit *test, struct stage *stage, int error)
{
	static const struct krdma_conn_attr attr;
	struct actor *client = &stage->client;
	struct krdma_conn_info info;

	KUNIT_EXPECT_EQ(test, error, krdma_conn_wait(client->conn, STAGE_LONG_MS));
	krdma_conn_query(client->conn, &info);
	KUNIT_EXPECT_EQ(test, KRDMA_CONN_CLOSED, info.state);
	KUNIT_EXPECT_EQ(test, error, info.error);
	KUNIT_EXPECT_EQ(test, -ENOTCONN, actor_resolve(client));
	KUNIT_EXPECT_EQ(test, -ENOTCONN, krdma_conn_create_qp(client->conn, &attr));
	KUNIT_EXPECT_EQ(test, -ENOTCONN, actor_connect(client, ""));
	KUNIT_EXPECT_EQ(test, -ENOTCONN, krdma_conn_disconnect(client->conn));
}

/*
 * Cases
 */

static void expect_searching(struct kunit *test, struct stage *stage)
{
	KUNIT_EXPECT_EQ(test, -ETIMEDOUT, krdma_conn_wait(stage->client.conn, SHORT_WHILE_MS));
	KUNIT_EXPECT_EQ(test, KRDMA_CONN_RESOLVING_ADDRESS, actor_state(&stage->client));
}

/* If the device of the local address is removed, the search ends without an answer. */
/* Proves: B8 */
static void test_address_of_ours(struct kunit *test)
{
	struct stage *stage = stage_with_neighbour(test);

	KUNIT_ASSERT_EQ(test, 0, actor_resolve_neighbour(&stage->client, OURS));
	expect_searching(test, stage);
	test_device_unregister(stage->device);
	expect_ended(test, stage, -ENODEV);
	EXPECT_STORY(test, &stage->client, "device removed -19, closed -19");
}

/* No device is known yet; when the answer comes, there is none. */
static void test_address_of_theirs(struct kunit *test)
{
	struct stage *stage = stage_with_neighbour(test);

	KUNIT_ASSERT_EQ(test, 0, actor_resolve_neighbour(&stage->client, NULL));
	test_device_unregister(stage->device);
	expect_searching(test, stage);
	KUNIT_EXPECT_TRUE(test, neighbour_answers());
	expect_ended(test, stage, -EHOSTUNREACH);
	EXPECT_STORY(test, &stage->client, "address error -113, closed -113");
}

/* With the device, the same searches succeed. */
static void test_neighbour(struct kunit *test)
{
	struct stage *stage = stage_with_neighbour(test);

	KUNIT_ASSERT_EQ(test, 0, actor_resolve_neighbour(&stage->client, OURS));
	expect_searching(test, stage);
	KUNIT_EXPECT_TRUE(test, neighbour_answers());
	KUNIT_EXPECT_EQ(test, 0, krdma_conn_wait(stage->client.conn, STAGE_LONG_MS));
	KUNIT_EXPECT_EQ(test, KRDMA_CONN_RESOLVED, actor_state(&stage->client));
	EXPECT_STORY(test, &stage->client, RESOLVED "closed -103");

	stage_create(stage);
	KUNIT_ASSERT_EQ(test, 0, actor_resolve_neighbour(&stage->client, NULL));
	KUNIT_EXPECT_EQ(test, 0, krdma_conn_wait(stage->client.conn, STAGE_LONG_MS));
	test_device_unregister(stage->device);
	EXPECT_STORY(test, &stage->client, RESOLVED "device removed -19, closed -19");
}

/**
 * struct hook - what a test does around the handler of the address event
 * @handler: the connection's handler
 * @conn: the connection
 * @give_up: the connection is closed before the handler runs
 * @nth: the allocation that fails in the handler, or 0
 * @failed: the allocation failed
 * @over: completed when the hook has run
 */
static struct hook {
	rdma_cm_event_handler handler;
	struct krdma_conn *conn;
	bool give_up;
	unsigned int nth;
	bool failed;
	struct completion over;
} hook;

static int hook_event(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	int ret;

	if (event->event != RDMA_CM_EVENT_ADDR_RESOLVED)
		return hook.handler(id, event);
	if (hook.give_up)
		krdma_conn_abort(hook.conn);
	current->fail_nth = hook.nth;
	ret = hook.handler(id, event);
	hook.failed = hook.nth && !current->fail_nth;
	current->fail_nth = 0;
	complete(&hook.over);
	return ret;
}

/* The client resolves the neighbour's address, the neighbour answers, and the hook has run. */
static void resolve_hooked(struct kunit *test, struct stage *stage, bool give_up,
			   unsigned int nth)
{
	struct rdma_cm_id *id;

	neighbour_is_silent(NULL);
	KUNIT_ASSERT_EQ(test, 0, actor_resolve_neighbour(&stage->client, OURS));
	expect_searching(test, stage);
	id = stage->client.conn->cm_id;
	hook = (struct hook) {
		.handler = id->event_handler,
		.conn = stage->client.conn,
		.give_up = give_up,
		.nth = nth,
	};
	init_completion(&hook.over);
	id->event_handler = hook_event;
	KUNIT_EXPECT_TRUE(test, neighbour_answers());
	KUNIT_ASSERT_NE(test, 0, wait_for_completion_timeout(&hook.over, STAGE_LONG));
}

/* The address is resolved, and the route is not needed any more. */
static void test_before_route(struct kunit *test)
{
	struct stage *stage = stage_with_neighbour(test);

	resolve_hooked(test, stage, true, 0);
	KUNIT_EXPECT_EQ(test, -ECONNABORTED,
			krdma_conn_wait(stage->client.conn, STAGE_LONG_MS));
	EXPECT_STORY(test, &stage->client, "closed -103");
}

/* Each allocation for the route request fails once. */
static void test_no_memory_for_route(struct kunit *test)
{
	struct stage *stage = stage_with_neighbour(test);
	unsigned int nth = 0, refused = 0;

	do {
		int ret;

		resolve_hooked(test, stage, false, ++nth);
		ret = krdma_conn_wait(stage->client.conn, STAGE_LONG_MS);
		KUNIT_EXPECT_TRUE_MSG(test, ret ? hook.failed && ret == -ENOMEM : true,
				      "allocation %u: %d", nth, ret);
		refused += !!ret;
		if (ret)
			EXPECT_STORY(test, &stage->client,
				     "address resolved, route error -12, closed -12");
		else
			EXPECT_STORY(test, &stage->client, RESOLVED "closed -103");
		stage_create(stage);
	} while (hook.failed && nth < 50);
	KUNIT_EXPECT_FALSE(test, hook.failed);
	KUNIT_EXPECT_GT(test, refused, 0U);
	kunit_info(test, "%u of %u allocations matter", refused, nth - 1);
}

/* The route was requested, and the answer has not come. */
/* Proves: B8 */
static void test_during_route(struct kunit *test)
{
	struct stage *stage = stage_new(test, NULL);
	struct gate *gate = gate_new(test);
	struct removal removal;

	gate_holds(test, stage);
	removal_begin(&removal, stage);
	/* The consumer gets the event at once, whatever the connection manager waits for. */
	KUNIT_EXPECT_TRUE(test, actor_hears(&stage->client, KRDMA_EVENT_DEVICE_REMOVAL));
	KUNIT_EXPECT_EQ(test, -ETIMEDOUT, krdma_conn_wait(stage->client.conn, SHORT_WHILE_MS));
	KUNIT_EXPECT_EQ(test, KRDMA_CONN_CLOSING, actor_state(&stage->client));
	KUNIT_EXPECT_FALSE(test, completion_done(&removal.done));

	gate_open(gate);
	removal_end(test, &removal);
	expect_ended(test, stage, -ENODEV);
	EXPECT_STORY(test, &stage->client,
		     "address resolved, device removed -19, closed -19");
}

/* The consumer closes the connection first; the removal does not change that, and waits. */
static void test_given_up(struct kunit *test)
{
	struct stage *stage = stage_new(test, NULL);
	struct gate *gate = gate_new(test);
	struct removal removal;

	gate_holds(test, stage);
	krdma_conn_abort(stage->client.conn);
	KUNIT_EXPECT_EQ(test, KRDMA_CONN_CLOSING, actor_state(&stage->client));
	removal_begin(&removal, stage);
	KUNIT_EXPECT_FALSE(test, wait_for_completion_timeout(&removal.done,
							     msecs_to_jiffies(SHORT_WHILE_MS)));

	gate_open(gate);
	removal_end(test, &removal);
	expect_ended(test, stage, -ECONNABORTED);
	EXPECT_STORY(test, &stage->client, "address resolved, closed -103");
}

static struct kunit_case resolve_cases[] = {
	KUNIT_CASE(test_address_of_ours),
	KUNIT_CASE(test_address_of_theirs),
	KUNIT_CASE(test_neighbour),
	KUNIT_CASE(test_before_route),
	KUNIT_CASE(test_no_memory_for_route),
	KUNIT_CASE(test_during_route),
	KUNIT_CASE(test_given_up),
	{}
};

static struct kunit_suite resolve_suite = {
	.name = "krdma_resolve",
	.init = test_objects_init,
	.test_cases = resolve_cases,
};

kunit_test_suite(resolve_suite);
