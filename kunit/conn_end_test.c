// SPDX-License-Identifier: GPL-2.0
/*
 * How connections end, over a fake device: by which side, in which state, how often, and with which
 * concurrent calls.
 */
#include <linux/delay.h>
#include <linux/ktime.h>
#include <linux/slab.h>
#include <net/net_namespace.h>

#include "cm/conn.h"
#include "core/resource.h"
#include "lane/lane.h"
#include "lane/trunk.h"
#include "objects.h"
#include "stage.h"
#include "user/limits.h"
#include "user/user.h"

#define ENDED_HERE	"established, disconnected -107, closed -107"
#define ENDED_THERE	"established, disconnected -104, closed -104"
#define ABORTED		"closed -103"
#define LOST		"established, lost -5, closed -5"

/* The error of the connection, once its end has been reported. */
static int ended(struct actor *actor)
{
	if (!actor_hears(actor, KRDMA_EVENT_CLOSED))
		return -ETIME;
	return krdma_conn_wait(actor->conn, STAGE_LONG_MS);
}

/* Every call after the end of a connection. */
static void expect_over(struct kunit *test, struct actor *actor)
{
	KUNIT_EXPECT_EQ(test, -ENOTCONN, actor_post(actor));
	KUNIT_EXPECT_EQ(test, -ENOTCONN, actor_receive(actor));
	KUNIT_EXPECT_EQ(test, -ENOTCONN, krdma_conn_disconnect(actor->conn));
}

/*
 * By one side, or both
 */

static void test_client_disconnects(struct kunit *test)
{
	struct stage *stage = stage_connected(test);

	KUNIT_EXPECT_EQ(test, 0, krdma_conn_disconnect(stage->client.conn));
	KUNIT_EXPECT_EQ(test, -ECONNRESET, ended(&stage->server));
	KUNIT_EXPECT_EQ(test, -ENOTCONN, ended(&stage->client));
	expect_over(test, &stage->client);
	expect_over(test, &stage->server);
	EXPECT_STORY(test, &stage->client, RESOLVED ENDED_HERE);
	EXPECT_STORY(test, &stage->server, ENDED_THERE);
}

static void test_both_disconnect(struct kunit *test)
{
	struct stage *stage = stage_connected(test);

	/* Neither end gets the event of the other before both have disconnected. */
	stage->fake->cm_manual = FAKE_MANUAL_CLOSE;
	KUNIT_EXPECT_EQ(test, 0, krdma_conn_disconnect(stage->client.conn));
	KUNIT_EXPECT_EQ(test, 0, krdma_conn_disconnect(stage->server.conn));
	fake_device_let_go(stage->fake);
	EXPECT_STORY(test, &stage->client, RESOLVED ENDED_HERE);
	EXPECT_STORY(test, &stage->server, ENDED_HERE);
}

struct call {
	struct work_struct work;
	struct krdma_conn *conn;
	int (*what)(struct krdma_conn *conn);
	int said;
};

static void call_work(struct work_struct *work)
{
	struct call *call = container_of(work, struct call, work);

	call->said = call->what(call->conn);
}

/* Several calls at a time, on threads of their own. */
static void call_all(struct stage *stage, struct call *calls, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++) {
		INIT_WORK_ONSTACK(&calls[i].work, call_work);
		queue_work(stage->works, &calls[i].work);
	}
	for (unsigned int i = 0; i < count; i++) {
		flush_work(&calls[i].work);
		destroy_work_on_stack(&calls[i].work);
	}
}

static int call_close(struct krdma_conn *conn)
{
	struct krdma_conn_info info;

	krdma_conn_close(conn);
	krdma_conn_query(conn, &info);
	return info.state;
}

static int call_accept(struct krdma_conn *conn)
{
	struct krdma_conn_param param = {};

	return krdma_conn_accept(conn, &param);
}

/* All of the calls return when the connection is over, and it ends once. */
static void test_many_close(struct kunit *test)
{
	struct stage *stage = stage_new(test, NULL);
	struct call calls[6];

	stage_listen(stage);
	for (int round = 0; round < 10; round++) {
		stage_connect(stage);
		for (unsigned int i = 0; i < ARRAY_SIZE(calls); i++)
			calls[i] = (struct call) {
				.conn = i % 3 ? stage->client.conn : stage->server.conn,
				.what = call_close,
			};
		call_all(stage, calls, ARRAY_SIZE(calls));
		for (unsigned int i = 0; i < ARRAY_SIZE(calls); i++)
			KUNIT_EXPECT_EQ(test, KRDMA_CONN_CLOSED, calls[i].said);
		actor_close(&stage->client);
		actor_close(&stage->server);
		KUNIT_EXPECT_NOT_NULL(test, strstr(stage->client.story, "disconnected"));
		KUNIT_EXPECT_NOT_NULL(test, strstr(stage->server.story, "disconnected"));
	}
}

/* Proves: A6 */
static void test_many_accept(struct kunit *test)
{
	struct stage *stage = stage_new(test, NULL);
	struct call calls[3];
	int winners;

	stage_listen(stage);
	for (int round = 0; round < 20; round++) {
		stage_reach_requested(stage);
		for (unsigned int i = 0; i < ARRAY_SIZE(calls); i++)
			calls[i] = (struct call) {
				.conn = stage->server.conn,
				.what = call_accept,
			};
		call_all(stage, calls, ARRAY_SIZE(calls));
		winners = 0;
		for (unsigned int i = 0; i < ARRAY_SIZE(calls); i++) {
			if (!calls[i].said)
				winners++;
			else if (calls[i].said != -EISCONN)
				KUNIT_EXPECT_EQ(test, -EALREADY, calls[i].said);
		}
		KUNIT_EXPECT_EQ(test, 1, winners);
		KUNIT_EXPECT_EQ(test, 0, krdma_conn_wait(stage->client.conn, STAGE_LONG_MS));
		KUNIT_EXPECT_EQ(test, 0, krdma_conn_wait(stage->server.conn, STAGE_LONG_MS));
		EXPECT_STORY(test, &stage->client, RESOLVED ENDED_HERE);
		KUNIT_EXPECT_EQ(test, -ECONNRESET, ended(&stage->server));
		EXPECT_STORY(test, &stage->server, ENDED_THERE);
	}
}

/*
 * In every state
 */

static const struct {
	void (*reach)(struct stage *stage);
	bool server;
	const char *aborted;
	const char *closed;
} ends[] = {
	{ stage_reach_new, false, ABORTED, ABORTED },
	{ stage_resolve, false, RESOLVED ABORTED, RESOLVED ABORTED },
	{ stage_reach_requested, false, RESOLVED ABORTED, RESOLVED ABORTED },
	{ stage_reach_requested, true, ABORTED, ABORTED },
	{ stage_reach_accepting, true, ABORTED, ABORTED },
	{ stage_connect, false, RESOLVED "established, disconnected -103, " ABORTED,
	  RESOLVED ENDED_HERE },
	{ stage_connect, true, "established, disconnected -103, " ABORTED, ENDED_HERE },
	{ stage_reach_disconnecting, false, RESOLVED "established, disconnected -103, " ABORTED,
	  RESOLVED ENDED_HERE },
	{ stage_reach_closed, false, RESOLVED ENDED_HERE, RESOLVED ENDED_HERE },
};

static void test_abort(struct kunit *test)
{
	struct stage *stage = stage_new(test, NULL);

	for (unsigned int i = 0; i < ARRAY_SIZE(ends); i++) {
		struct actor *actor = ends[i].server ? &stage->server : &stage->client;

		stage_listen(stage);
		ends[i].reach(stage);
		krdma_conn_abort(actor->conn);
		krdma_conn_abort(actor->conn);
		/* iw_cm waits until the acceptance has a result. */
		fake_device_let_go(stage->fake);
		KUNIT_EXPECT_NE(test, 0, krdma_conn_wait(actor->conn, STAGE_LONG_MS));
		KUNIT_EXPECT_EQ(test, KRDMA_CONN_CLOSED, actor_state(actor));
		expect_over(test, actor);
		krdma_conn_abort(actor->conn);
		actor_close(actor);
		KUNIT_EXPECT_STREQ_MSG(test, ends[i].aborted, actor->story, "case %u", i);
		stage_close(stage);
	}
}

static void test_close(struct kunit *test)
{
	struct stage *stage = stage_new(test, NULL);
	struct call call;

	for (unsigned int i = 0; i < ARRAY_SIZE(ends); i++) {
		struct actor *actor = ends[i].server ? &stage->server : &stage->client;

		stage_listen(stage);
		ends[i].reach(stage);
		call = (struct call) { .conn = actor->conn, .what = call_close };
		INIT_WORK_ONSTACK(&call.work, call_work);
		queue_work(stage->works, &call.work);
		while (actor_state(actor) < KRDMA_CONN_DISCONNECTING)
			fsleep(100);
		fake_device_let_go(stage->fake);
		flush_work(&call.work);
		destroy_work_on_stack(&call.work);
		KUNIT_EXPECT_EQ(test, KRDMA_CONN_CLOSED, call.said);
		expect_over(test, actor);
		krdma_conn_close(actor->conn);
		actor_close(actor);
		KUNIT_EXPECT_STREQ_MSG(test, ends[i].closed, actor->story, "case %u", i);
		stage_close(stage);
	}
}

/* The consumer aborts inside the event callback. */
static void test_abort_in_events(struct kunit *test)
{
	struct stage *stage = stage_new(test, NULL);
	enum krdma_event_type types[] = {
		KRDMA_EVENT_ADDR_RESOLVED, KRDMA_EVENT_ROUTE_RESOLVED, KRDMA_EVENT_ESTABLISHED,
		KRDMA_EVENT_CLOSED,
	};

	stage_listen(stage);
	for (unsigned int i = 0; i < ARRAY_SIZE(types); i++) {
		stage_create(stage);
		stage->client.abort_at = types[i];
		KUNIT_ASSERT_EQ(test, 0, actor_resolve(&stage->client));
		krdma_conn_wait(stage->client.conn, STAGE_LONG_MS);
		if (types[i] == KRDMA_EVENT_ESTABLISHED) {
			KUNIT_ASSERT_EQ(test, 0, actor_connect(&stage->client, ""));
			stage_take(stage);
			KUNIT_ASSERT_EQ(test, 0, actor_accept(&stage->server, ""));
			KUNIT_ASSERT_TRUE(test, actor_hears(&stage->server, KRDMA_EVENT_CLOSED));
		}
		if (types[i] != KRDMA_EVENT_CLOSED)
			KUNIT_EXPECT_TRUE(test, actor_hears(&stage->client, KRDMA_EVENT_CLOSED));
		actor_close(&stage->server);
		actor_close(&stage->client);
		KUNIT_EXPECT_NOT_NULL(test, strstr(stage->client.story, ABORTED));
	}
}

/* No call closes the connection, and nothing is left behind. */
static void test_put_alone(struct kunit *test)
{
	struct stage *stage = stage_new(test, NULL);

	stage_listen(stage);
	stage_create(stage);
	krdma_conn_put(stage->client.conn);
	stage->client.conn = NULL;

	/* A reference keeps a connection that is over, for queries. */
	stage_connect(stage);
	krdma_conn_get(stage->client.conn);
	krdma_conn_close(stage->client.conn);
	krdma_conn_put(stage->client.conn);
	KUNIT_EXPECT_EQ(test, KRDMA_CONN_CLOSED, actor_state(&stage->client));
	KUNIT_EXPECT_EQ(test, -ENOTCONN, krdma_conn_wait(stage->client.conn, 0));
	KUNIT_EXPECT_PTR_EQ(test, &stage->client, krdma_conn_context(stage->client.conn));
	KUNIT_EXPECT_NOT_NULL(test, krdma_conn_device(stage->client.conn));
	expect_over(test, &stage->client);
	krdma_conn_put(NULL);
}

/*
 * By the device, and by a connection manager that is late or repeats itself
 */

static const struct {
	enum ib_event_type type;
	bool fatal;
} qp_events[] = {
	{ IB_EVENT_QP_FATAL, true },
	{ IB_EVENT_QP_REQ_ERR, true },
	{ IB_EVENT_QP_ACCESS_ERR, true },
	{ IB_EVENT_SQ_DRAINED, false },
	{ IB_EVENT_PATH_MIG, false },
	{ IB_EVENT_QP_LAST_WQE_REACHED, false },
};

/* Proves: B7 */
static void test_queue_pair_events(struct kunit *test)
{
	struct stage *stage = stage_new(test, NULL);

	stage_listen(stage);
	for (unsigned int i = 0; i < ARRAY_SIZE(qp_events); i++) {
		stage_connect(stage);
		fake_qp_event(actor_qp(&stage->client), qp_events[i].type);
		if (qp_events[i].fatal) {
			KUNIT_EXPECT_EQ(test, -EIO, ended(&stage->client));
			expect_over(test, &stage->client);
			EXPECT_STORY(test, &stage->client, RESOLVED LOST);
		} else {
			KUNIT_EXPECT_EQ(test, KRDMA_CONN_CONNECTED, actor_state(&stage->client));
			EXPECT_STORY(test, &stage->client, RESOLVED ENDED_HERE);
		}
		KUNIT_EXPECT_EQ(test, -ECONNRESET, ended(&stage->server));
		EXPECT_STORY(test, &stage->server, ENDED_THERE);
	}
}

static void test_queue_pair_fails(struct kunit *test)
{
	struct stage *stage = stage_connected(test);

	KUNIT_EXPECT_EQ(test, 1, actor_receive(&stage->client));
	fake_qp_fail(actor_qp(&stage->client));
	KUNIT_EXPECT_EQ(test, -ECONNRESET, ended(&stage->client));
	KUNIT_EXPECT_EQ(test, -ECONNRESET, ended(&stage->server));
	EXPECT_STORY(test, &stage->client, RESOLVED ENDED_THERE);
	KUNIT_EXPECT_EQ(test, 1, stage->client.flushed);
}

/* The end is reported once, however often the event comes. */
static void test_repeated_ends(struct kunit *test)
{
	struct stage *stage = stage_connected(test);
	struct fake_endpoint *endpoint = fake_cm_of_qp(actor_qp(&stage->client));

	KUNIT_ASSERT_NOT_NULL(test, endpoint);
	/* Events that are held back keep the id, so that more events can be reported to it. */
	KUNIT_EXPECT_EQ(test, 1, actor_receive(&stage->client));
	fake_hold(stage->fake, NULL);
	stage->fake->cm_manual = FAKE_MANUAL_CLOSE;
	KUNIT_EXPECT_EQ(test, 0, fake_cm_disconnect(endpoint));
	KUNIT_EXPECT_EQ(test, 0, fake_cm_disconnect(endpoint));
	KUNIT_EXPECT_EQ(test, 0, fake_cm_close(endpoint));
	KUNIT_EXPECT_TRUE(test, actor_hears(&stage->client, KRDMA_EVENT_DISCONNECTED));
	KUNIT_EXPECT_TRUE(test, fake_cm_reaches(endpoint, FAKE_CM_CLOSED, STAGE_LONG_MS));
	fake_cm_flush(stage->fake);
	KUNIT_EXPECT_EQ(test, 0, fake_cm_close_again(endpoint));
	KUNIT_EXPECT_EQ(test, 0, fake_cm_close_again(endpoint));
	KUNIT_EXPECT_EQ(test, KRDMA_CONN_CLOSING, actor_state(&stage->client));
	fake_cm_put(endpoint);
	fake_device_let_go(stage->fake);
	EXPECT_STORY(test, &stage->client, RESOLVED ENDED_THERE);
	KUNIT_EXPECT_EQ(test, 1, stage->client.flushed);
}

/* The reply comes when the connection is already being torn down. */
static void test_late_replies(struct kunit *test)
{
	static const int statuses[] = { 0, -ECONNREFUSED, -ETIMEDOUT, -EHOSTUNREACH };
	struct stage *stage = stage_new(test, NULL);
	struct fake_endpoint *endpoint;

	for (unsigned int i = 0; i < ARRAY_SIZE(statuses); i++) {
		stage_reach_connecting(stage);
		endpoint = fake_cm_await(stage->fake, FAKE_CM_CONNECTING, STAGE_LONG_MS);
		KUNIT_ASSERT_NOT_NULL(test, endpoint);
		krdma_conn_abort(stage->client.conn);
		KUNIT_EXPECT_EQ(test, -ETIMEDOUT, krdma_conn_wait(stage->client.conn, 20));
		KUNIT_EXPECT_EQ(test, KRDMA_CONN_CLOSING, actor_state(&stage->client));
		KUNIT_EXPECT_EQ(test, 0, fake_cm_reply(endpoint, statuses[i], "so", 2));
		fake_cm_put(endpoint);
		fake_device_let_go(stage->fake);
		EXPECT_STORY(test, &stage->client, RESOLVED ABORTED);
	}
}

/* The peer has gone before its request was accepted. */
static void test_accept_too_late(struct kunit *test)
{
	struct stage *stage = stage_new(test, NULL);

	stage_listen(stage);
	stage_reach_requested(stage);
	actor_close(&stage->client);
	KUNIT_EXPECT_EQ(test, 0, actor_accept(&stage->server, ""));
	KUNIT_EXPECT_EQ(test, -ECONNRESET, ended(&stage->server));
	EXPECT_STORY(test, &stage->server, ENDED_THERE);
}

/*
 * A peer that does not answer delays the disconnect only briefly, but the disconnect waits that
 * long for it.
 */
static void test_silent_peer(struct kunit *test)
{
	struct stage *stage = stage_connected(test);
	ktime_t begun = ktime_get();
	s64 took;

	stage->fake->cm_manual = FAKE_MANUAL_CLOSE;
	KUNIT_EXPECT_EQ(test, 0, krdma_conn_disconnect(stage->client.conn));
	KUNIT_EXPECT_TRUE(test, actor_hears(&stage->client, KRDMA_EVENT_DISCONNECTED));
	took = ktime_ms_delta(ktime_get(), begun);
	KUNIT_EXPECT_GE(test, took, 900);
	KUNIT_EXPECT_LE(test, took, 2500);
	/* This end has not got any event. */
	KUNIT_EXPECT_EQ(test, KRDMA_CONN_CONNECTED, actor_state(&stage->server));
	/* The fake device keeps a QP until the connection manager has its last event. */
	fake_device_let_go(stage->fake);
	EXPECT_STORY(test, &stage->client, RESOLVED ENDED_HERE);
}

/*
 * Concurrency
 */

/* A message arrives before the event that the connection is established. */
static void test_message_overtakes(struct kunit *test)
{
	struct ib_qp_attr ready = { .qp_state = IB_QPS_RTS };
	struct fake_message message = {};
	struct stage *stage = stage_new(test, NULL);
	static const struct krdma_conn_attr attr;
	struct fake_endpoint *endpoint;

	stage_listen(stage);
	stage->fake->cm_manual = FAKE_MANUAL_ACCEPT;
	stage_reach_requested(stage);
	KUNIT_ASSERT_EQ(test, 0, krdma_conn_create_qp(stage->server.conn, &attr));
	KUNIT_ASSERT_EQ(test, 2, actor_receive(&stage->server) + actor_receive(&stage->server));
	KUNIT_ASSERT_EQ(test, 0, actor_accept(&stage->server, ""));
	KUNIT_EXPECT_EQ(test, -ENOTCONN, actor_post(&stage->server));

	KUNIT_ASSERT_EQ(test, 0, ib_modify_qp(actor_qp(&stage->server), &ready, IB_QP_STATE));
	KUNIT_EXPECT_EQ(test, IB_WC_SUCCESS, fake_qp_receive(actor_qp(&stage->server), &message));
	KUNIT_EXPECT_TRUE(test, actor_hears(&stage->server, KRDMA_EVENT_ESTABLISHED));
	KUNIT_EXPECT_EQ(test, KRDMA_CONN_CONNECTED, actor_state(&stage->server));
	KUNIT_EXPECT_EQ(test, 0, krdma_conn_wait(stage->server.conn, STAGE_LONG_MS));

	endpoint = fake_cm_of_qp(actor_qp(&stage->server));
	KUNIT_ASSERT_NOT_NULL(test, endpoint);
	KUNIT_EXPECT_EQ(test, 0, fake_cm_establish(endpoint));
	fake_cm_put(endpoint);
	KUNIT_EXPECT_EQ(test, 0, krdma_conn_wait(stage->client.conn, STAGE_LONG_MS));
	KUNIT_EXPECT_EQ(test, 1, actor_post(&stage->server));
	KUNIT_EXPECT_TRUE(test, actor_completes(&stage->server, 2));
	EXPECT_STORY(test, &stage->server, ENDED_HERE);
	KUNIT_EXPECT_EQ(test, -ECONNRESET, ended(&stage->client));
	EXPECT_STORY(test, &stage->client, RESOLVED ENDED_THERE);
	/* The other receive. */
	KUNIT_EXPECT_EQ(test, 1, stage->server.flushed);
}

/* A consumer that sleeps in an event callback delays only its own events. */
/* Proves: B6 */
static void test_consumer_sleeps(struct kunit *test)
{
	struct stage *stage = stage_new(test, NULL);
	struct krdma_conn *sleeper;
	struct actor *asleep;

	asleep = kunit_kzalloc(test, sizeof(*asleep), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, asleep);
	actor_begin(asleep);
	asleep->sleep_at = KRDMA_EVENT_ADDR_RESOLVED;
	sleeper = krdma_conn_create(stage->session, &actor_ops, asleep);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, sleeper);
	asleep->conn = sleeper;
	KUNIT_EXPECT_EQ(test, 0, actor_resolve(asleep));
	KUNIT_EXPECT_TRUE(test, actor_hears(asleep, KRDMA_EVENT_ADDR_RESOLVED));
	KUNIT_EXPECT_EQ(test, 0, krdma_conn_wait(sleeper, STAGE_LONG_MS));

	stage_listen(stage);
	stage_connect(stage);
	EXPECT_STORY(test, &stage->client, RESOLVED ENDED_HERE);
	KUNIT_EXPECT_EQ(test, -ECONNRESET, ended(&stage->server));
	EXPECT_STORY(test, &stage->server, ENDED_THERE);

	/* Its own connection ends, too; only its event has not been reported yet. */
	krdma_conn_abort(sleeper);
	KUNIT_EXPECT_EQ(test, -ECONNABORTED, krdma_conn_wait(sleeper, STAGE_LONG_MS));
	KUNIT_EXPECT_STREQ(test, "address resolved", asleep->story);
	EXPECT_STORY(test, asleep, RESOLVED ABORTED);
}

/*
 * Many connections at a time.  Each is on a stage that has everything but the actors in common.
 */

/* More than the connections that end at the same time. */
#define CROWD	20
/* Longer than the end of a connection takes on any machine. */
#define PROMPT_MS	10000

static struct stage *crowd_new(struct stage *stage, unsigned int count)
{
	struct stage *crowd = kunit_kcalloc(stage->test, count, sizeof(*crowd), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(stage->test, crowd);
	for (unsigned int i = 0; i < count; i++) {
		crowd[i] = *stage;
		actor_begin(&crowd[i].client);
		actor_begin(&crowd[i].server);
	}
	return crowd;
}

static void crowd_close(struct stage *crowd, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++) {
		actor_close(&crowd[i].client);
		actor_close(&crowd[i].server);
	}
}

/* A connection of someone else ends while a crowd is ending. */
static void expect_others_end(struct kunit *test, struct stage *stage)
{
	struct krdma_conn *conn = krdma_conn_create(stage->session, NULL, NULL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, conn);
	krdma_conn_abort(conn);
	KUNIT_EXPECT_EQ(test, -ECONNABORTED, krdma_conn_wait(conn, PROMPT_MS));
	krdma_conn_put(conn);
}

/**
 * struct holder - a call on a connection that takes long
 * @work: makes the call
 * @conn: the connection
 * @begun: it has begun
 * @end: ends it
 */
struct holder {
	struct work_struct work;
	struct krdma_conn *conn;
	struct completion begun;
	struct completion *end;
};

static void holder_work(struct work_struct *work)
{
	struct holder *holder = container_of(work, struct holder, work);

	mutex_lock(&holder->conn->cm_lock);
	complete(&holder->begun);
	wait_for_completion(holder->end);
	krdma_conn_unlock(holder->conn);
}

/* The end of a connection does not keep others waiting while it waits for a call. */
static void test_end_during_call(struct kunit *test)
{
	struct stage *stage = stage_new(test, NULL);
	DECLARE_COMPLETION_ONSTACK(end);
	struct holder *holders;
	struct stage *crowd;

	crowd = crowd_new(stage, CROWD);
	holders = kunit_kcalloc(test, CROWD, sizeof(*holders), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, holders);
	for (unsigned int i = 0; i < CROWD; i++) {
		stage_resolve(&crowd[i]);
		holders[i].conn = crowd[i].client.conn;
		holders[i].end = &end;
		init_completion(&holders[i].begun);
		INIT_WORK(&holders[i].work, holder_work);
		queue_work(stage->works, &holders[i].work);
		wait_for_completion(&holders[i].begun);
		krdma_conn_abort(crowd[i].client.conn);
	}
	expect_others_end(test, stage);
	for (unsigned int i = 0; i < CROWD; i++)
		KUNIT_EXPECT_EQ(test, KRDMA_CONN_CLOSING, actor_state(&crowd[i].client));
	complete_all(&end);
	flush_workqueue(stage->works);
	/* Each continues where the call has ended. */
	for (unsigned int i = 0; i < CROWD; i++)
		KUNIT_EXPECT_EQ(test, -ECONNABORTED,
				krdma_conn_wait(crowd[i].client.conn, PROMPT_MS));
	crowd_close(crowd, CROWD);
}

/*
 * iWARP ends a connection only when its peer has answered.  That keeps no other connection waiting
 * either.
 */
static void test_end_without_answer(struct kunit *test)
{
	struct stage *stage = stage_new(test, NULL);
	struct stage *crowd = crowd_new(stage, CROWD);

	for (unsigned int i = 0; i < CROWD; i++) {
		stage_reach_connecting(&crowd[i]);
		krdma_conn_abort(crowd[i].client.conn);
	}
	expect_others_end(test, stage);
	for (unsigned int i = 0; i < CROWD; i++)
		KUNIT_EXPECT_EQ(test, KRDMA_CONN_CLOSING, actor_state(&crowd[i].client));
	fake_device_let_go(stage->fake);
	for (unsigned int i = 0; i < CROWD; i++)
		KUNIT_EXPECT_EQ(test, -ECONNABORTED,
				krdma_conn_wait(crowd[i].client.conn, PROMPT_MS));
	crowd_close(crowd, CROWD);
}

/**
 * struct dawdlers - connections whose consumers keep the work items that end them
 * @asleep: number of consumers that have heard of the end, and keep it
 * @wake: ends that; of all crowds of the test, because one can wait for the places of another one
 * @account: of their sessions; NULL: they are of a kernel module
 * @sessions: their sessions: one, or one for each
 * @conns: the connections
 */
struct dawdlers {
	atomic_t asleep;
	struct completion *wake;
	struct krdma_user_account *account;
	struct krdma_session *sessions[CROWD];
	struct krdma_conn *conns[CROWD];
};

static void dawdlers_notify(struct krdma_conn *conn, const struct krdma_event *event)
{
	struct dawdlers *dawdlers = krdma_conn_context(conn);

	if (event->type != KRDMA_EVENT_CLOSED)
		return;
	atomic_inc(&dawdlers->asleep);
	wait_for_completion(dawdlers->wake);
}

static const struct krdma_conn_ops dawdlers_ops = {
	.notify = dawdlers_notify,
};

static struct completion *wake_new(struct kunit *test)
{
	struct completion *wake = kunit_kzalloc(test, sizeof(*wake), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, wake);
	init_completion(wake);
	return wake;
}

/* Also when the test has failed: otherwise the work items would keep those of all later tests. */
static void dawdlers_release(void *context)
{
	struct dawdlers *dawdlers = context;

	complete_all(dawdlers->wake);
	for (unsigned int i = 0; i < CROWD && dawdlers->conns[i]; i++) {
		krdma_conn_close(dawdlers->conns[i]);
		krdma_conn_put(dawdlers->conns[i]);
	}
	for (unsigned int i = 0; i < CROWD && dawdlers->sessions[i]; i++)
		krdma_session_put(dawdlers->sessions[i]);
	if (dawdlers->account)
		krdma_user_account_put(dawdlers->account);
}

/*
 * A crowd of which all connections are to end, and none does.  @create makes its sessions, one or
 * CROWD.  @account is the crowd's from here on.
 */
static struct dawdlers *dawdlers_begin(struct kunit *test, struct completion *wake,
				       struct krdma_session *(*create)(struct net *net),
				       unsigned int sessions, struct krdma_user_account *account)
{
	struct dawdlers *dawdlers = kunit_kzalloc(test, sizeof(*dawdlers), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, dawdlers);
	dawdlers->wake = wake;
	dawdlers->account = account;
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, dawdlers_release, dawdlers));
	for (unsigned int i = 0; i < sessions; i++) {
		struct krdma_session *session = create(&init_net);

		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, session);
		dawdlers->sessions[i] = session;
		if (account)
			krdma_user_account_pays(account, session);
	}
	for (unsigned int i = 0; i < CROWD; i++) {
		struct krdma_session *session = dawdlers->sessions[i % sessions];
		struct krdma_conn *conn = krdma_conn_create(session, &dawdlers_ops, dawdlers);

		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, conn);
		dawdlers->conns[i] = conn;
		krdma_conn_abort(conn);
	}
	return dawdlers;
}

static void expect_asleep(struct kunit *test, struct dawdlers *dawdlers, int count)
{
	for (int i = 0; i < PROMPT_MS / 20 && atomic_read(&dawdlers->asleep) != count; i++)
		msleep(20);
	KUNIT_EXPECT_EQ(test, count, atomic_read(&dawdlers->asleep));
}

/* The crowd ends, once all have been woken. */
static void dawdlers_end(struct kunit *test, struct dawdlers *dawdlers)
{
	for (unsigned int i = 0; i < CROWD; i++)
		KUNIT_EXPECT_EQ(test, -ECONNABORTED,
				krdma_conn_wait(dawdlers->conns[i], PROMPT_MS));
	/* A connection can have ended before its callback has counted that. */
	expect_asleep(test, dawdlers, CROWD);
}

static unsigned int queued_of(struct dawdlers *dawdlers)
{
	unsigned int queued = 0;

	for (unsigned int i = 0; i < CROWD; i++)
		queued += work_pending(&dawdlers->conns[i]->work);
	return queued;
}

/* A crowd with sessions of a user, or of no user. */
static struct dawdlers *crowd_of(struct kunit *test, struct completion *wake,
				 unsigned int sessions, unsigned int user, unsigned int owner)
{
	return dawdlers_begin(test, wake, krdma_session_create, sessions,
			      user ? stage_account(test, user, owner) : NULL);
}

/* Each crowd has @sessions, of a user of its own or of none. */
static void expect_turns(struct kunit *test, unsigned int sessions, unsigned int user)
{
	struct stage *stage = stage_new(test, NULL);
	struct completion *wake = wake_new(test);
	struct dawdlers *dawdlers[3];

	dawdlers[0] = crowd_of(test, wake, sessions, user, 0);
	expect_asleep(test, dawdlers[0], KRDMA_ENDS_AT_ONCE / 2);
	KUNIT_EXPECT_EQ(test, 0, queued_of(dawdlers[0]));
	expect_others_end(test, stage);

	/* Two crowds have all places; of a third one, a single connection is in the queue. */
	dawdlers[1] = crowd_of(test, wake, sessions, user ? user + 1 : 0, 0);
	expect_asleep(test, dawdlers[1], KRDMA_ENDS_AT_ONCE / 2);
	dawdlers[2] = crowd_of(test, wake, sessions, user ? user + 2 : 0, 0);
	KUNIT_EXPECT_EQ(test, 0, queued_of(dawdlers[0]) + queued_of(dawdlers[1]));
	KUNIT_EXPECT_EQ(test, 1, queued_of(dawdlers[2]));

	complete_all(wake);
	for (unsigned int i = 0; i < ARRAY_SIZE(dawdlers); i++)
		dawdlers_end(test, dawdlers[i]);
}

/*
 * Connections of a session do not keep those of another one waiting, however many they are: they
 * have half of the work items, and one place in the queue.
 */
/* Proves: F6 */
static void test_turns_of_sessions(struct kunit *test)
{
	expect_turns(test, 1, 0);
}

#define SOME_USER	1000

/* Those of a user have no more, however many sessions they are in. */
/* Proves: F6 */
static void test_turns_of_users(struct kunit *test)
{
	expect_turns(test, CROWD, SOME_USER);
}

/* A user whom another one can make at will has no turns of its own. */
/* Proves: F6 */
static void test_turns_of_owners(struct kunit *test)
{
	struct stage *stage = stage_new(test, NULL);
	struct completion *wake = wake_new(test);
	struct dawdlers *owner, *made;

	if (!IS_ENABLED(CONFIG_USER_NS))
		kunit_skip(test, "this kernel has no user namespaces");
	owner = crowd_of(test, wake, 1, SOME_USER, 0);
	expect_asleep(test, owner, KRDMA_ENDS_AT_ONCE / 2);
	made = crowd_of(test, wake, CROWD, SOME_USER + 1, SOME_USER);
	KUNIT_EXPECT_EQ(test, 0, queued_of(made));
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&made->asleep));
	expect_others_end(test, stage);

	complete_all(wake);
	dawdlers_end(test, owner);
	dawdlers_end(test, made);
}

/* The sessions of a user take turns: one with many connections keeps no other one waiting. */
/* Proves: F6 */
static void test_turns_in_a_user(struct kunit *test)
{
	struct completion *wake = wake_new(test);
	struct dawdlers *many, *few;

	many = crowd_of(test, wake, 1, SOME_USER, 0);
	expect_asleep(test, many, KRDMA_ENDS_AT_ONCE / 2);
	few = crowd_of(test, wake, 1, SOME_USER, 0);
	KUNIT_EXPECT_EQ(test, 0, queued_of(few));
	/* The first of two places goes to the one that waits for longer. */
	complete(wake);
	complete(wake);
	expect_asleep(test, few, 1);
	expect_asleep(test, many, KRDMA_ENDS_AT_ONCE / 2 + 1);

	complete_all(wake);
	dawdlers_end(test, many);
	dawdlers_end(test, few);
}

/* The trunks of all peers are together one more user. */
/* Proves: F6 */
static void test_turns_of_trunks(struct kunit *test)
{
	struct stage *stage = stage_new(test, NULL);
	struct completion *wake = wake_new(test);
	struct dawdlers *trunks;

	trunks = dawdlers_begin(test, wake, krdma_trunk_session_create, CROWD, NULL);
	expect_asleep(test, trunks, KRDMA_ENDS_AT_ONCE / 2);
	KUNIT_EXPECT_EQ(test, 0, queued_of(trunks));
	expect_others_end(test, stage);

	complete_all(wake);
	dawdlers_end(test, trunks);
}

static void abort_client(struct stage *stage)
{
	krdma_conn_abort(stage->client.conn);
}

static void fail_client(struct stage *stage)
{
	fake_qp_event(actor_qp(&stage->client), IB_EVENT_QP_FATAL);
}

/* The time in milliseconds that it takes to end a crowd. */
static s64 crowd_end(struct stage *crowd, unsigned int count, void (*end)(struct stage *stage))
{
	ktime_t begun;
	s64 took;

	for (unsigned int i = 0; i < count; i++)
		stage_connect(&crowd[i]);
	begun = ktime_get();
	for (unsigned int i = 0; i < count; i++)
		end(&crowd[i]);
	for (unsigned int i = 0; i < count; i++)
		krdma_conn_wait(crowd[i].client.conn, STAGE_LONG_MS);
	took = ktime_ms_delta(ktime_get(), begun);
	crowd_close(crowd, count);
	return took;
}

#define LARGE_CROWD	160

/*
 * The time that a peer's device has to learn of an error passes for all connections at once, not
 * for a few at a time.
 */
static void test_grace_of_many(struct kunit *test)
{
	struct stage *stage = stage_new(test, NULL);
	struct stage *crowd = crowd_new(stage, LARGE_CROWD);
	s64 at_once, after_grace;

	stage_listen(stage);
	for (unsigned int i = 0; i < LARGE_CROWD; i++)
		crowd[i].listener = stage->listener;
	at_once = crowd_end(crowd, LARGE_CROWD, abort_client);
	after_grace = crowd_end(crowd, LARGE_CROWD, fail_client);
	/* The time of one is 20 ms. */
	KUNIT_EXPECT_GE(test, after_grace, 19);
	KUNIT_EXPECT_LE(test, after_grace, 200 + 2 * at_once);
}

/* A consumer without a callback, which takes events from the queue of events. */
/* Proves: A10 */
static void test_next_event(struct kunit *test)
{
	struct stage *stage = stage_new(test, NULL);
	static const struct krdma_event told[] = {
		{ KRDMA_EVENT_ADDR_RESOLVED, 0 },
		{ KRDMA_EVENT_ROUTE_RESOLVED, 0 },
		{ KRDMA_EVENT_REJECTED, -ECONNREFUSED, -ECONNREFUSED },
		{ KRDMA_EVENT_CLOSED, -ECONNREFUSED },
	};
	struct krdma_event event;
	struct krdma_conn *conn;

	stage_create(stage);
	KUNIT_EXPECT_EQ(test, -EINVAL, krdma_conn_next_event(stage->client.conn, &event));
	actor_close(&stage->client);

	conn = krdma_conn_create(stage->session, NULL, NULL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, conn);
	stage->client.conn = conn;
	KUNIT_EXPECT_EQ(test, -EAGAIN, krdma_conn_next_event(conn, &event));
	KUNIT_EXPECT_EQ(test, 0, actor_resolve(&stage->client));
	KUNIT_EXPECT_EQ(test, 0, krdma_conn_wait(conn, STAGE_LONG_MS));
	KUNIT_EXPECT_EQ(test, 0, actor_connect(&stage->client, ""));
	KUNIT_EXPECT_EQ(test, -ECONNREFUSED, krdma_conn_wait(conn, STAGE_LONG_MS));
	/* Closing does not wait for the consumer to take its events. */
	krdma_conn_close(conn);
	for (unsigned int i = 0; i < ARRAY_SIZE(told); i++) {
		KUNIT_ASSERT_EQ(test, 0, krdma_conn_next_event(conn, &event));
		KUNIT_EXPECT_EQ(test, told[i].type, event.type);
		KUNIT_EXPECT_EQ(test, told[i].error, event.error);
		KUNIT_EXPECT_EQ(test, told[i].reason, event.reason);
	}
	KUNIT_EXPECT_EQ(test, -EAGAIN, krdma_conn_next_event(conn, &event));
}

/*
 * When notify() runs the step is complete.  The last event is reported in a context that may
 * sleep.
 */
static void expect_notified(struct kunit *test, struct actor *actor, const char *story)
{
	EXPECT_STORY(test, actor, story);
	KUNIT_EXPECT_EQ(test, actor->heard & ~BIT(KRDMA_EVENT_CLOSED), actor->atomic);
}

/*
 * The events of which notify() was told stay until they are taken, in the same order.  Puts @conn.
 */
static void expect_taken(struct kunit *test, struct krdma_conn *conn,
			 const struct krdma_event *expected, unsigned int count)
{
	struct krdma_conn_info info;
	struct krdma_event event;

	krdma_conn_query(conn, &info);
	KUNIT_EXPECT_EQ(test, count, info.events);
	for (unsigned int i = 0; i < count; i++) {
		event = (struct krdma_event) {};
		KUNIT_EXPECT_EQ(test, 0, krdma_conn_next_event(conn, &event));
		KUNIT_EXPECT_EQ(test, expected[i].type, event.type);
		KUNIT_EXPECT_EQ(test, expected[i].error, event.error);
		KUNIT_EXPECT_EQ(test, expected[i].reason, event.reason);
	}
	KUNIT_EXPECT_EQ(test, -EAGAIN, krdma_conn_next_event(conn, &event));
	krdma_conn_put(conn);
}

/* Proves: B6 */
static void test_notified(struct kunit *test)
{
	static const struct krdma_event client_events[] = {
		{ KRDMA_EVENT_ADDR_RESOLVED, 0 },
		{ KRDMA_EVENT_ROUTE_RESOLVED, 0 },
		{ KRDMA_EVENT_ESTABLISHED, 0 },
		{ KRDMA_EVENT_DISCONNECTED, -ENOTCONN },
		{ KRDMA_EVENT_CLOSED, -ENOTCONN },
	};
	static const struct krdma_event server_events[] = {
		{ KRDMA_EVENT_ESTABLISHED, 0 },
		{ KRDMA_EVENT_DISCONNECTED, -ECONNRESET },
		{ KRDMA_EVENT_CLOSED, -ECONNRESET },
	};
	struct stage *stage = stage_new(test, NULL);
	struct actor *client = &stage->client, *server = &stage->server;
	struct krdma_conn *conns[2];
	struct krdma_event event;

	stage_listen(stage);
	client->conn = krdma_conn_create(stage->session, &actor_notified_ops, client);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, client->conn);
	KUNIT_EXPECT_EQ(test, -EAGAIN, krdma_conn_next_event(client->conn, &event));
	KUNIT_ASSERT_EQ(test, 0, actor_resolve(client));
	KUNIT_ASSERT_EQ(test, 0, krdma_conn_wait(client->conn, STAGE_LONG_MS));
	KUNIT_EXPECT_TRUE(test, client->heard & BIT(KRDMA_EVENT_ROUTE_RESOLVED));
	KUNIT_ASSERT_EQ(test, 0, actor_connect(client, "please"));

	server->conn = krdma_listener_next(stage->listener, &actor_notified_ops, server,
					   STAGE_LONG_MS);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, server->conn);
	KUNIT_ASSERT_EQ(test, 0, actor_accept(server, "welcome"));
	KUNIT_ASSERT_EQ(test, 0, krdma_conn_wait(client->conn, STAGE_LONG_MS));
	KUNIT_EXPECT_TRUE(test, client->heard & BIT(KRDMA_EVENT_ESTABLISHED));
	KUNIT_ASSERT_EQ(test, 0, krdma_conn_wait(server->conn, STAGE_LONG_MS));
	KUNIT_EXPECT_TRUE(test, server->heard & BIT(KRDMA_EVENT_ESTABLISHED));

	KUNIT_EXPECT_EQ(test, 0, krdma_conn_disconnect(client->conn));
	KUNIT_EXPECT_TRUE(test, actor_hears(server, KRDMA_EVENT_DISCONNECTED));
	/* What follows closes and puts them. */
	conns[0] = client->conn;
	conns[1] = server->conn;
	krdma_conn_get(conns[0]);
	krdma_conn_get(conns[1]);
	expect_notified(test, client, RESOLVED ENDED_HERE);
	expect_notified(test, server, "established, disconnected -104, closed -104");
	expect_taken(test, conns[0], client_events, ARRAY_SIZE(client_events));
	expect_taken(test, conns[1], server_events, ARRAY_SIZE(server_events));
}

/* Proves: B6 */
static void test_notified_of_removal(struct kunit *test)
{
	struct stage *stage = stage_new(test, NULL);
	struct actor *client = &stage->client;

	client->conn = krdma_conn_create(stage->session, &actor_notified_ops, client);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, client->conn);
	KUNIT_ASSERT_EQ(test, 0, actor_resolve(client));
	KUNIT_ASSERT_EQ(test, 0, krdma_conn_wait(client->conn, STAGE_LONG_MS));
	test_device_unregister(stage->device);
	expect_notified(test, client, RESOLVED "device removed -19, closed -19");
}

static struct kunit_case conn_end_cases[] = {
	KUNIT_CASE(test_client_disconnects),
	KUNIT_CASE(test_both_disconnect),
	KUNIT_CASE(test_many_close),
	KUNIT_CASE(test_many_accept),
	KUNIT_CASE(test_abort),
	KUNIT_CASE(test_close),
	KUNIT_CASE(test_abort_in_events),
	KUNIT_CASE(test_put_alone),
	KUNIT_CASE(test_queue_pair_events),
	KUNIT_CASE(test_queue_pair_fails),
	KUNIT_CASE(test_repeated_ends),
	KUNIT_CASE(test_late_replies),
	KUNIT_CASE(test_accept_too_late),
	KUNIT_CASE(test_silent_peer),
	KUNIT_CASE(test_message_overtakes),
	KUNIT_CASE(test_consumer_sleeps),
	KUNIT_CASE(test_end_during_call),
	KUNIT_CASE(test_end_without_answer),
	KUNIT_CASE(test_turns_of_sessions),
	KUNIT_CASE(test_turns_of_users),
	KUNIT_CASE(test_turns_of_owners),
	KUNIT_CASE(test_turns_in_a_user),
	KUNIT_CASE(test_turns_of_trunks),
	KUNIT_CASE(test_grace_of_many),
	KUNIT_CASE(test_next_event),
	KUNIT_CASE(test_notified),
	KUNIT_CASE(test_notified_of_removal),
	{}
};

static struct kunit_suite conn_end_suite = {
	.name = "krdma_conn_end",
	.init = test_objects_init,
	.test_cases = conn_end_cases,
};

kunit_test_suite(conn_end_suite);
