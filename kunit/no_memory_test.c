// SPDX-License-Identifier: GPL-2.0
/*
 * Calls whose allocations fail, each in turn: the call returns the error and leaves nothing behind,
 * and its object works afterwards, or is over.  (Sessions, CQs, new connections, listeners and QPs:
 * see fault_test.c.)
 */
#include <linux/delay.h>
#include <linux/mman.h>
#include <linux/scatterlist.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <net/net_namespace.h>

#include "cm/conn.h"
#include "objects.h"
#include "stage.h"

#define BUFFER		(2 * PAGE_SIZE)
#define LOCAL		KRDMA_ACCESS_LOCAL_WRITE
#define REMOTE		(LOCAL | KRDMA_ACCESS_REMOTE_READ)
/* More than any call allocates. */
#define ALLOCATIONS	500

/**
 * struct larder - the objects that the calls use
 * @stage: a client and a server
 * @session: an empty session, for MRs
 * @dev: the device
 * @buffer: memory of the kernel
 * @user: memory of a process
 * @mr: the MR, if there is one
 * @template: the template, if there is one
 * @found: the device that was found
 * @watch: the device notifier
 * @nth: the allocation that fails
 * @reached: allocation @nth was reached
 */
static struct larder {
	struct stage *stage;
	struct krdma_session *session;
	struct krdma_device *dev;
	u8 *buffer;
	unsigned long user;
	struct krdma_mr *mr;
	struct krdma_template *template;
	struct krdma_device *found;
	struct krdma_device_notifier watch;
	unsigned int nth;
	bool reached;
} larder;

/**
 * struct call - a call that allocates
 * @name: its name
 * @begin: creates what the call needs, without failures
 * @call: returns 0 or a negative errno
 * @end: checks and destroys what the call has created
 * @elsewhere: the call allocates in another thread, which makes the allocation fail itself
 * @spared: the call works without this memory
 */
struct call {
	const char *name;
	void (*begin)(struct stage *stage);
	int (*call)(struct stage *stage);
	void (*end)(struct stage *stage, int ret);
	bool elsewhere;
	bool spared;
};

static void larder_close(void)
{
	current->fail_nth = larder.nth;
}

static void larder_open(void)
{
	larder.reached = !current->fail_nth;
	current->fail_nth = 0;
}

static int live_objects(struct stage *stage)
{
	int sum = 0;

	for (int i = 0; i < FAKE_OBJECTS; i++)
		sum += atomic_read(&stage->fake->live[i]);
	return sum;
}

static bool live_settles(struct stage *stage, int live)
{
	unsigned long deadline = jiffies + STAGE_LONG;

	while (live_objects(stage) > live && time_before(jiffies, deadline))
		msleep(20);
	return live_objects(stage) <= live;
}

/*
 * Connections
 */

/* The connection is over for lack of memory. */
static void expect_starved(struct stage *stage, struct actor *actor, const char *story)
{
	KUNIT_EXPECT_EQ(stage->test, -ENOMEM, krdma_conn_wait(actor->conn, STAGE_LONG_MS));
	EXPECT_STORY(stage->test, actor, story);
}

static void close_both(struct stage *stage)
{
	actor_close(&stage->server);
	actor_close(&stage->client);
}

static int call_resolve(struct stage *stage)
{
	return actor_resolve(&stage->client);
}

static void end_resolve(struct stage *stage, int ret)
{
	if (ret) {
		expect_starved(stage, &stage->client, "address error -12, closed -12");
		return;
	}
	KUNIT_EXPECT_EQ(stage->test, 0, krdma_conn_wait(stage->client.conn, STAGE_LONG_MS));
	EXPECT_STORY(stage->test, &stage->client, RESOLVED "closed -103");
}

static void begin_connect_prepared(struct stage *stage)
{
	static const struct krdma_conn_attr attr;

	stage_resolve(stage);
	KUNIT_ASSERT_EQ(stage->test, 0, krdma_conn_create_qp(stage->client.conn, &attr));
}

static int call_connect(struct stage *stage)
{
	return actor_connect(&stage->client, "please");
}

static void end_connect(struct stage *stage, int ret)
{
	struct kunit *test = stage->test;

	/* Without a QP the connection is in its earlier state, and can try again. */
	if (ret && actor_state(&stage->client) == KRDMA_CONN_RESOLVED)
		ret = actor_connect(&stage->client, "please");
	if (ret) {
		expect_starved(stage, &stage->client, RESOLVED "connect error -12, closed -12");
		return;
	}
	stage_take(stage);
	KUNIT_EXPECT_EQ(test, 0, actor_accept(&stage->server, ""));
	KUNIT_EXPECT_EQ(test, 0, krdma_conn_wait(stage->client.conn, STAGE_LONG_MS));
	close_both(stage);
}

static void begin_requested(struct stage *stage)
{
	stage_ask(stage, "please");
	stage_take(stage);
}

static void begin_requested_prepared(struct stage *stage)
{
	static const struct krdma_conn_attr attr;

	begin_requested(stage);
	KUNIT_ASSERT_EQ(stage->test, 0, krdma_conn_create_qp(stage->server.conn, &attr));
}

static int call_accept(struct stage *stage)
{
	return actor_accept(&stage->server, "welcome");
}

static void end_accept(struct stage *stage, int ret)
{
	struct kunit *test = stage->test;

	if (ret && actor_state(&stage->server) == KRDMA_CONN_REQUESTED)
		ret = actor_accept(&stage->server, "welcome");
	if (ret) {
		expect_starved(stage, &stage->server, "connect error -12, closed -12");
		KUNIT_EXPECT_EQ(test, -ECONNREFUSED,
				krdma_conn_wait(stage->client.conn, STAGE_LONG_MS));
	} else {
		KUNIT_EXPECT_EQ(test, 0, krdma_conn_wait(stage->client.conn, STAGE_LONG_MS));
		KUNIT_EXPECT_EQ(test, 0, krdma_conn_wait(stage->server.conn, STAGE_LONG_MS));
	}
	close_both(stage);
}

static int call_reject(struct stage *stage)
{
	return krdma_conn_reject(stage->server.conn, "no", 2);
}

static void end_reject(struct stage *stage, int ret)
{
	KUNIT_EXPECT_EQ(stage->test, -ECONNREFUSED,
			krdma_conn_wait(stage->client.conn, STAGE_LONG_MS));
	EXPECT_STORY(stage->test, &stage->server, "closed -103");
	EXPECT_STORY(stage->test, &stage->client, RESOLVED "rejected -111, closed -111");
}

/* The listener gets a request. */
static int call_request(struct stage *stage)
{
	struct krdma_conn *conn;

	stage->fake->starve_request = larder.nth;
	KUNIT_EXPECT_EQ(stage->test, 0, actor_connect(&stage->client, "please"));
	fake_cm_flush(stage->fake);
	larder.reached = !stage->fake->starve_request;
	stage->fake->starve_request = 0;

	actor_begin(&stage->server);
	conn = krdma_listener_next(stage->listener, &actor_ops, &stage->server, 0);
	if (!IS_ERR(conn)) {
		stage->server.conn = conn;
		return 0;
	}
	KUNIT_EXPECT_EQ(stage->test, -EAGAIN, PTR_ERR(conn));
	return -ENOMEM;
}

static void end_request(struct stage *stage, int ret)
{
	if (ret) {
		KUNIT_EXPECT_EQ(stage->test, -ECONNREFUSED,
				krdma_conn_wait(stage->client.conn, STAGE_LONG_MS));
		EXPECT_STORY(stage->test, &stage->client, RESOLVED "rejected -111, closed -111");
		/* The next request arrives. */
		begin_requested(stage);
	}
	close_both(stage);
}

static void begin_next(struct stage *stage)
{
	stage_ask(stage, "please");
	actor_begin(&stage->server);
}

static int call_next(struct stage *stage)
{
	struct krdma_conn *conn;

	conn = krdma_listener_next(stage->listener, &actor_ops, &stage->server, STAGE_LONG_MS);
	if (IS_ERR(conn))
		return PTR_ERR(conn);
	stage->server.conn = conn;
	return 0;
}

static void end_next(struct stage *stage, int ret)
{
	close_both(stage);
}

/*
 * Memory
 */

static int larder_region(struct krdma_mr *mr)
{
	larder.mr = IS_ERR(mr) ? NULL : mr;
	return PTR_ERR_OR_ZERO(mr);
}

static int call_region_local(struct stage *stage)
{
	return larder_region(krdma_mr_register(larder.session, larder.dev, larder.buffer, BUFFER,
					       LOCAL));
}

static int call_region_remote(struct stage *stage)
{
	return larder_region(krdma_mr_register(larder.session, larder.dev, larder.buffer, BUFFER,
					       REMOTE));
}

static int call_region_sg(struct stage *stage)
{
	struct scatterlist sg[2];

	sg_init_table(sg, ARRAY_SIZE(sg));
	sg_set_buf(&sg[0], larder.buffer, PAGE_SIZE);
	sg_set_buf(&sg[1], larder.buffer + PAGE_SIZE, PAGE_SIZE);
	return larder_region(krdma_mr_register_sg(larder.session, larder.dev, sg, ARRAY_SIZE(sg),
						  REMOTE));
}

static int call_region_user(struct stage *stage)
{
	return larder_region(krdma_mr_register_user(larder.session, larder.dev, larder.user,
						    BUFFER, REMOTE));
}

/* In the same session, the call succeeds now. */
static void end_region_again(struct stage *stage, int ret, int (*call)(struct stage *stage))
{
	struct kunit *test = stage->test;

	if (ret)
		KUNIT_EXPECT_EQ(test, 0, call(stage));
	if (larder.mr)
		KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(larder.mr));
	larder.mr = NULL;
}

static void begin_session(struct stage *stage)
{
	larder.session = krdma_session_create(&init_net);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(stage->test, larder.session);
}

static void end_session(void)
{
	krdma_session_put(larder.session);
	larder.session = NULL;
}

static void end_region_local(struct stage *stage, int ret)
{
	end_region_again(stage, ret, call_region_local);
	end_session();
}

static void end_region_remote(struct stage *stage, int ret)
{
	end_region_again(stage, ret, call_region_remote);
	end_session();
}

static void end_region_sg(struct stage *stage, int ret)
{
	end_region_again(stage, ret, call_region_sg);
	end_session();
}

static void end_region_user(struct stage *stage, int ret)
{
	end_region_again(stage, ret, call_region_user);
	end_session();
}

static void begin_template(struct stage *stage)
{
	stage_connect(stage);
	larder.mr = krdma_mr_register(stage->session, larder.dev, larder.buffer, BUFFER, 0);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(stage->test, larder.mr);
}

/* Of a small batch: memory of more than a page would have a second try. */
static int call_template(struct stage *stage)
{
	struct krdma_template_attr attr = {
		.opcode = KRDMA_OP_SEND, .mr = larder.mr,
		.addr = (uintptr_t)larder.buffer, .length = BUFFER, .batch = 1,
	};
	struct krdma_template *template = krdma_template_create(stage->client.conn, &attr);

	larder.template = IS_ERR(template) ? NULL : template;
	return PTR_ERR_OR_ZERO(template);
}

static void end_template(struct stage *stage, int ret)
{
	struct kunit *test = stage->test;

	if (ret)
		KUNIT_EXPECT_EQ(test, 0, call_template(stage));
	krdma_template_destroy(larder.template);
	larder.template = NULL;
	KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(larder.mr));
	larder.mr = NULL;
	close_both(stage);
}

/*
 * Devices
 */

static void watch_event(struct krdma_device_notifier *watch, const struct krdma_device_event *event)
{
}

static int call_watch(struct stage *stage)
{
	larder.watch = (struct krdma_device_notifier) { .event = watch_event };
	return krdma_device_notifier_register(&larder.watch, &init_net);
}

static void end_watch(struct stage *stage, int ret)
{
	if (ret)
		KUNIT_EXPECT_EQ(stage->test, 0, call_watch(stage));
	krdma_device_notifier_unregister(&larder.watch);
}

static int larder_device(struct krdma_device *dev)
{
	larder.found = IS_ERR(dev) ? NULL : dev;
	return PTR_ERR_OR_ZERO(dev);
}

static int call_device_at(struct stage *stage)
{
	struct sockaddr_in at = fake_address(0);

	return larder_device(krdma_device_at(&init_net, (struct sockaddr *)&at));
}

static int call_device_towards(struct stage *stage)
{
	struct sockaddr_in from = fake_address(0), to = fake_address(0);

	return larder_device(krdma_device_towards(&init_net, (struct sockaddr *)&from,
						  (struct sockaddr *)&to, STAGE_LONG_MS));
}

static void end_device(struct stage *stage, int ret)
{
	if (!ret)
		KUNIT_EXPECT_PTR_EQ(stage->test, larder.dev, larder.found);
	krdma_device_put(larder.found);
	larder.found = NULL;
}

/*
 * Cases
 */

static const struct call conn_calls[] = {
	{ "resolve", stage_create, call_resolve, end_resolve },
	{ "connect", stage_resolve, call_connect, end_connect },
	{ "connect, prepared", begin_connect_prepared, call_connect, end_connect },
	{ "accept", begin_requested, call_accept, end_accept },
	{ "accept, prepared", begin_requested_prepared, call_accept, end_accept, .spared = true },
	{ "reject", begin_requested, call_reject, end_reject, .spared = true },
	{ "request", stage_resolve, call_request, end_request, .elsewhere = true },
	{ "next connection", begin_next, call_next, end_next, .spared = true },
};

static const struct call memory_calls[] = {
	{ "local region", begin_session, call_region_local, end_region_local },
	{ "remote region", begin_session, call_region_remote, end_region_remote },
	{ "scatterlist", begin_session, call_region_sg, end_region_sg },
	{ "user memory", begin_session, call_region_user, end_region_user },
	{ "template", begin_template, call_template, end_template },
};

static const struct call device_calls[] = {
	{ "watch", NULL, call_watch, end_watch },
	{ "device at", NULL, call_device_at, end_device },
	{ "device towards", NULL, call_device_towards, end_device },
};

static void larder_release(void *unused)
{
	krdma_device_put(larder.dev);
	kfree(larder.buffer);
	memset(&larder, 0, sizeof(larder));
}

static struct stage *larder_new(struct kunit *test)
{
	struct sockaddr_in at = fake_address(0);
	struct stage *stage = stage_new(test, NULL);

	memset(&larder, 0, sizeof(larder));
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, larder_release, NULL));
	larder.stage = stage;
	larder.buffer = kzalloc(BUFFER, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, larder.buffer);
	KUNIT_ASSERT_EQ(test, 0, larder_device(krdma_device_at(&init_net,
							       (struct sockaddr *)&at)));
	larder.dev = larder.found;
	larder.user = kunit_vm_mmap(test, NULL, 0, BUFFER, PROT_READ | PROT_WRITE,
				    MAP_ANONYMOUS | MAP_PRIVATE, 0);
	KUNIT_ASSERT_NE(test, 0, larder.user);
	KUNIT_ASSERT_EQ(test, 0, clear_user((void __user *)larder.user, BUFFER));
	stage_listen(stage);
	return stage;
}

/* Each allocation of a call fails once, until there is none left that could fail. */
static void starve(struct stage *stage, const struct call *call)
{
	struct kunit *test = stage->test;
	unsigned int failures = 0;
	int live, ret;

	larder.reached = true;
	for (larder.nth = 1; larder.reached && larder.nth < ALLOCATIONS; larder.nth++) {
		live = live_objects(stage);
		if (call->begin)
			call->begin(stage);
		larder.reached = false;
		if (!call->elsewhere)
			larder_close();
		ret = call->call(stage);
		if (!call->elsewhere)
			larder_open();
		failures += !!ret;
		KUNIT_EXPECT_TRUE_MSG(test, !ret || (larder.reached && ret == -ENOMEM),
				      "%s, allocation %u: %d", call->name, larder.nth, ret);
		call->end(stage, ret);
		KUNIT_EXPECT_TRUE_MSG(test, live_settles(stage, live),
				      "%s, allocation %u: left over", call->name, larder.nth);
	}
	/* No failure: the kernel spares allocations that may wait, see run.sh. */
	KUNIT_EXPECT_EQ_MSG(test, call->spared, !failures, "%s", call->name);
	KUNIT_EXPECT_FALSE_MSG(test, larder.reached, "%s", call->name);
	kunit_info(test, "%s: %u of %u allocations matter", call->name, failures, larder.nth - 2);
}

/* Proves: E12 */
static void test_connections(struct kunit *test)
{
	struct stage *stage = larder_new(test);

	for (unsigned int i = 0; i < ARRAY_SIZE(conn_calls); i++)
		starve(stage, &conn_calls[i]);
}

/* Proves: E12 */
static void test_memory(struct kunit *test)
{
	struct stage *stage = larder_new(test);

	for (unsigned int i = 0; i < ARRAY_SIZE(memory_calls); i++)
		starve(stage, &memory_calls[i]);
}

/* Proves: E12 */
static void test_devices(struct kunit *test)
{
	struct stage *stage = larder_new(test);

	for (unsigned int i = 0; i < ARRAY_SIZE(device_calls); i++)
		starve(stage, &device_calls[i]);
}

static struct kunit_case no_memory_cases[] = {
	KUNIT_CASE_SLOW(test_connections),
	KUNIT_CASE_SLOW(test_memory),
	KUNIT_CASE(test_devices),
	{}
};

static struct kunit_suite no_memory_suite = {
	.name = "krdma_no_memory",
	.init = test_objects_init,
	.test_cases = no_memory_cases,
};

kunit_test_suite(no_memory_suite);
