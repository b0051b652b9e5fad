// SPDX-License-Identifier: GPL-2.0
/*
 * Lanes over a fake device: what the two sides of a trunk keep, and when they send.
 *
 * A case reads and sets members of lanes and trunks, under their locks, to reach what a peer or the
 * network would have to bring about.
 */
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/sched/signal.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include "cm/conn.h"
#include "core/resource.h"
#include "lane/lane.h"
#include "lane/trunk.h"
#include "lane/window.h"
#include "lane_stage.h"
#include "objects.h"

/* No frame can be sent until lane_speak(). */
static void lane_mute(struct krdma_trunk *trunk, struct list_head *slots)
{
	INIT_LIST_HEAD(slots);
	while (READ_ONCE(trunk->in_flight))
		msleep(20);
	spin_lock_bh(&trunk->lock);
	list_splice_init(&trunk->free, slots);
	spin_unlock_bh(&trunk->lock);
}

static void lane_speak(struct krdma_trunk *trunk, struct list_head *slots)
{
	spin_lock_bh(&trunk->lock);
	list_splice_init(slots, &trunk->free);
	spin_unlock_bh(&trunk->lock);
}

/*
 * Memory
 */

/* A work request that is refused names no MR, as one that has completed does. */
static void test_refused_send_names_no_mr(struct kunit *test)
{
	struct stage *stage = lane_stage(test);
	struct krdma_send_wr wr = { .opcode = KRDMA_OP_SEND };
	struct krdma_sge sge = { .length = 64 };
	struct krdma_lane_queue *queue;
	struct krdma_mr *mr;
	u8 *buffer;

	buffer = kunit_kzalloc(test, sge.length, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, buffer);
	lane_connect(stage, 1);
	KUNIT_ASSERT_EQ(test, 1, actor_receive(&stage->server));
	KUNIT_ASSERT_EQ(test, 1, krdma_conn_post_send(stage->client.conn, &wr, 1));
	KUNIT_ASSERT_TRUE(test, actor_completes(&stage->client, 1));
	KUNIT_ASSERT_TRUE(test, actor_completes(&stage->server, 1));

	mr = krdma_mr_register(stage->session, krdma_conn_device(stage->client.conn), buffer,
			       sge.length, 0);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, mr);
	sge.mr = mr;
	sge.addr = (uintptr_t)buffer;
	wr.sges = &sge;
	wr.sge_count = 1;
	lane_of(&stage->client)->trunk->max_message = sge.length - 1;
	KUNIT_EXPECT_EQ(test, -EMSGSIZE, krdma_conn_post_send(stage->client.conn, &wr, 1));
	queue = &lane_of(&stage->client)->send;
	KUNIT_EXPECT_EQ(test, 0, krdma_lane_wqe_at(queue, queue->tail)->sge_count);
	KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(mr));
	/* The place is free. */
	wr.sge_count = 0;
	KUNIT_ASSERT_EQ(test, 1, actor_receive(&stage->server));
	KUNIT_ASSERT_EQ(test, 1, krdma_conn_post_send(stage->client.conn, &wr, 1));
	KUNIT_ASSERT_TRUE(test, actor_completes(&stage->client, 2));
	stage_close(stage);
}

/* What was created before an attempt failed is no part of the next one. */
static void test_failed_queues_leave_nothing(struct kunit *test)
{
	struct krdma_cq_attr of_cq = {
		.depth = 2 + KRDMA_CQ_OVERHEAD, .where = KRDMA_CONTEXT_SOFTIRQ, .vector = -1,
	};
	struct krdma_conn_attr attr = { .send_depth = 4, .recv_depth = 4, .max_inline = 64 };
	struct krdma_sge sge = { .length = 1 };
	struct krdma_send_wr wr = {
		.opcode = KRDMA_OP_SEND, .sges = &sge, .sge_count = 1,
		.flags = KRDMA_POST_INLINE,
	};
	struct stage *stage = lane_stage(test);
	struct krdma_conn_info info;
	u8 byte = 0;

	lane_resolve(stage, &stage->client);
	attr.cq = krdma_cq_create(krdma_conn_device(stage->client.conn), &of_cq);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, attr.cq);
	KUNIT_EXPECT_EQ(test, -ENOSPC, krdma_conn_create_qp(stage->client.conn, &attr));
	krdma_conn_query(stage->client.conn, &info);
	KUNIT_EXPECT_EQ(test, 0, info.max_inline);

	attr.send_depth = 1;
	attr.recv_depth = 1;
	attr.max_inline = 0;
	KUNIT_ASSERT_EQ(test, 0, krdma_conn_create_qp(stage->client.conn, &attr));
	krdma_cq_put(attr.cq);
	attr.cq = NULL;
	krdma_conn_query(stage->client.conn, &info);
	/* Otherwise the post would write to no memory at all. */
	KUNIT_ASSERT_EQ(test, 0, info.max_inline);

	KUNIT_ASSERT_EQ(test, 0, actor_connect(&stage->client, ""));
	stage_take(stage);
	KUNIT_ASSERT_EQ(test, 0, krdma_conn_create_qp(stage->server.conn, &attr));
	KUNIT_ASSERT_EQ(test, 0, actor_accept(&stage->server, ""));
	KUNIT_ASSERT_EQ(test, 0, krdma_conn_wait(stage->client.conn, STAGE_LONG_MS));
	sge.addr = (uintptr_t)&byte;
	KUNIT_EXPECT_EQ(test, -EMSGSIZE, krdma_conn_post_send(stage->client.conn, &wr, 1));
	stage_close(stage);
}

static void lane_long_messages(struct fake_device *fake)
{
	fake->port.max_msg_sz = U32_MAX;
}

/* A lane carries messages as long as those of a plain connection, and no longer ones. */
static void test_longest_message(struct kunit *test)
{
	struct stage *stage = stage_new(test, lane_long_messages);

	lane_listen(stage);
	lane_connect(stage, 1);
	KUNIT_EXPECT_EQ(test, SZ_1G, lane_of(&stage->client)->trunk->max_message);
	KUNIT_EXPECT_EQ(test, SZ_1G, lane_of(&stage->server)->trunk->max_message);
	stage_close(stage);
}

/* The peer has the request of a lane, and does not answer in time. */
static void test_unanswered_lane_ends(struct kunit *test)
{
	struct actor *others = kunit_kcalloc(test, 2, sizeof(*others), GFP_KERNEL);
	struct krdma_conn_attr attr = { .send_depth = 1, .recv_depth = 1 };
	struct stage *stage = lane_stage(test);
	struct krdma_trunk *trunk;

	KUNIT_ASSERT_NOT_NULL(test, others);
	lane_connect(stage, 1);
	trunk = lane_of(&stage->client)->trunk;
	for (u32 i = 0; i < 2; i++)
		lane_ask(stage, &others[i], &attr);
	spin_lock_bh(&trunk->lock);
	lane_of(&others[0])->asked_at -= msecs_to_jiffies(KRDMA_CONN_ANSWER_MS);
	spin_unlock_bh(&trunk->lock);
	KUNIT_EXPECT_TRUE(test, delayed_work_pending(&trunk->give_up));
	kref_get(&trunk->refs);
	trunk->give_up.work.func(&trunk->give_up.work);
	EXPECT_STORY(test, &others[0], RESOLVED "unreachable -110, closed -110");
	/* The others are not concerned, and the younger one has its time, too. */
	KUNIT_EXPECT_TRUE(test, delayed_work_pending(&trunk->give_up));
	KUNIT_EXPECT_EQ(test, KRDMA_CONN_CONNECTING, actor_state(&others[1]));
	KUNIT_EXPECT_EQ(test, KRDMA_CONN_CONNECTED, actor_state(&stage->client));
	actor_close(&others[1]);
	stage_close(stage);
}

/*
 * The end of a trunk
 */

/* A lane that ends after its trunk leaves nothing to do there. */
static void test_ended_trunk_has_no_timer(struct kunit *test)
{
	struct actor *others = kunit_kcalloc(test, 2, sizeof(*others), GFP_KERNEL);
	struct stage *stage = lane_stage(test);
	struct krdma_trunk *trunk;
	struct list_head slots;

	KUNIT_ASSERT_NOT_NULL(test, others);
	lane_connect(stage, 1);
	lane_resolve(stage, &others[0]);
	lane_resolve(stage, &others[1]);
	trunk = lane_of(&others[0])->trunk;
	KUNIT_EXPECT_PTR_EQ(test, trunk, lane_of(&stage->client)->trunk);
	/* Its end cannot be sent. */
	lane_mute(trunk, &slots);
	actor_close(&stage->client);
	KUNIT_EXPECT_EQ(test, 1, trunk->end_count);

	krdma_conn_abort(trunk->conn);
	KUNIT_EXPECT_TRUE(test, lane_until(READ_ONCE(trunk->state) == KRDMA_TRUNK_ENDED &&
					   list_empty_careful(&trunk->node)));
	/* The last steps of its end. */
	msleep(100);
	KUNIT_EXPECT_FALSE(test, delayed_work_pending(&trunk->later));
	actor_close(&others[0]);
	KUNIT_EXPECT_FALSE(test, delayed_work_pending(&trunk->later));
	actor_close(&others[1]);
	stage_close(stage);
}

/* A work item that waits for the device when the trunk ends uses nothing of the link. */
static void test_ended_trunk_does_not_drain(struct kunit *test)
{
	struct stage *stage = lane_stage(test);
	struct krdma_trunk *trunk;

	lane_connect(stage, 1);
	trunk = lane_of(&stage->client)->trunk;
	kref_get(&trunk->refs);
	krdma_conn_abort(trunk->conn);
	KUNIT_EXPECT_TRUE(test, lane_until(READ_ONCE(trunk->state) == KRDMA_TRUNK_ENDED &&
					   list_empty_careful(&trunk->node)));
	/* With the reference of an item that runs. */
	trunk->drain.work.func(&trunk->drain.work);
	stage_close(stage);
}

/* Who sends before the end of the link is known does not decide why the lanes end. */
static void test_link_says_why_it_ends(struct kunit *test)
{
	struct stage *stage = lane_stage(test);
	struct krdma_trunk *trunk;

	lane_connect(stage, 1);
	trunk = lane_of(&stage->client)->trunk;
	/* The peer has a receive, so there is something to send. */
	KUNIT_EXPECT_EQ(test, 1, actor_receive(&stage->server));
	KUNIT_EXPECT_TRUE(test, lane_until(lane_of(&stage->client)->peer_credits));
	/* The event comes from a work item. */
	preempt_disable();
	krdma_conn_advance(trunk->conn, KRDMA_INPUT_FATAL, -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, 1, actor_message(&stage->client));
	preempt_enable();
	KUNIT_EXPECT_TRUE(test, actor_hears(&stage->client, KRDMA_EVENT_CLOSED));
	EXPECT_STORY(test, &stage->client, RESOLVED "established, lost -110, closed -110");
	stage_close(stage);
}

/* The link fails when the lane is resolved, before its request can be sent. */
static void test_link_ends_before_a_request(struct kunit *test)
{
	struct krdma_conn_attr attr = { .send_depth = 1, .recv_depth = 1 };
	struct stage *stage = lane_stage(test);
	struct krdma_trunk *trunk;

	lane_resolve(stage, &stage->client);
	KUNIT_ASSERT_EQ(test, 0, krdma_conn_create_qp(stage->client.conn, &attr));
	trunk = lane_of(&stage->client)->trunk;
	krdma_conn_advance(trunk->conn, KRDMA_INPUT_FATAL, -ETIMEDOUT);
	KUNIT_EXPECT_TRUE(test, lane_until(READ_ONCE(trunk->link_over)));
	KUNIT_EXPECT_EQ(test, 0, actor_connect(&stage->client, ""));
	KUNIT_EXPECT_TRUE(test, actor_hears(&stage->client, KRDMA_EVENT_CLOSED));
	EXPECT_STORY(test, &stage->client, RESOLVED "connect error -110, closed -110");
	stage_close(stage);
}

/* What ends a trunk, and what its lanes say then: a program knows nothing of trunks. */
static void lane_ends_with(struct kunit *test, int error, const char *story)
{
	struct stage *stage = lane_stage(test);
	struct krdma_trunk *trunk;

	lane_connect(stage, 1);
	trunk = lane_of(&stage->client)->trunk;
	spin_lock_bh(&trunk->lock);
	krdma_trunk_fail(trunk, error);
	spin_unlock_bh(&trunk->lock);
	KUNIT_EXPECT_TRUE(test, actor_hears(&stage->client, KRDMA_EVENT_CLOSED));
	EXPECT_STORY(test, &stage->client, story);
	stage_close(stage);
}

static void test_violation_is_not_told(struct kunit *test)
{
	lane_ends_with(test, -EPROTO, RESOLVED "established, lost -5, closed -5");
}

static void test_timeout_is_told(struct kunit *test)
{
	lane_ends_with(test, -ETIMEDOUT, RESOLVED "established, lost -110, closed -110");
}

/* A frame arrives, and its receive is refused by the driver of a link that works. */
static void test_refused_receive_ends_the_link(struct kunit *test)
{
	struct stage *stage = lane_stage(test);
	struct krdma_trunk *trunk;

	lane_connect(stage, 1);
	trunk = lane_of(&stage->server)->trunk;
	KUNIT_EXPECT_EQ(test, 1, actor_receive(&stage->server));
	KUNIT_EXPECT_TRUE(test, lane_until(lane_of(&stage->client)->peer_credits));
	fake_device_fail(stage->fake, FAKE_POST_RECV, 1, -ENOMEM);
	KUNIT_EXPECT_EQ(test, 1, actor_message(&stage->client));
	KUNIT_EXPECT_TRUE(test, lane_until(READ_ONCE(trunk->link_over)));
	KUNIT_EXPECT_TRUE(test, actor_hears(&stage->server, KRDMA_EVENT_CLOSED));
	stage_close(stage);
}

/* The peer takes one lane, and two are resolved before either asks for its number. */
static void test_full_trunk_takes_no_lane(struct kunit *test)
{
	struct stage *stage = lane_stage(test);
	struct krdma_trunk *trunk;

	lane_resolve(stage, &stage->client);
	trunk = lane_of(&stage->client)->trunk;
	spin_lock_bh(&trunk->lock);
	KUNIT_EXPECT_EQ(test, 1, trunk->bound);
	KUNIT_EXPECT_TRUE(test, krdma_trunk_takes_lane(trunk));
	trunk->lanes_max = 1;
	KUNIT_EXPECT_FALSE(test, krdma_trunk_takes_lane(trunk));
	spin_unlock_bh(&trunk->lock);
	stage_close(stage);
}

/* How long a trunk without lanes stays, and what is in flight then has. */
#define LANE_IDLE_MS	10000
#define LANE_REST_MS	5000

/*
 * The timer runs when so much more time has passed since the last lane ended, and so many more
 * frames are in flight.
 */
static void lane_idle(struct krdma_trunk *trunk, u32 more_ms, int frames)
{
	spin_lock_bh(&trunk->lock);
	trunk->unused_at -= msecs_to_jiffies(more_ms);
	trunk->in_flight += frames;
	spin_unlock_bh(&trunk->lock);
	/* With the reference of an item that runs. */
	kref_get(&trunk->refs);
	trunk->timer.work.func(&trunk->timer.work);
}

/*
 * The timer was left pending for a question, and began to run while the last lane ended: it says
 * nothing about the time that has passed since then.
 */
static void test_late_timer_ends_no_trunk(struct kunit *test)
{
	struct stage *stage = lane_stage(test);
	struct krdma_conn *conn;
	struct krdma_trunk *trunk;

	lane_connect(stage, 1);
	conn = stage->client.conn;
	/* It keeps the lane, which keeps the trunk. */
	krdma_conn_get(conn);
	trunk = lane_of(&stage->client)->trunk;
	actor_close(&stage->client);
	/* The end of the lane has arrived. */
	KUNIT_EXPECT_TRUE(test, lane_until(!READ_ONCE(trunk->end_count) &&
					   !READ_ONCE(trunk->in_flight)));
	lane_idle(trunk, 0, 0);
	KUNIT_EXPECT_EQ(test, KRDMA_TRUNK_UP, READ_ONCE(trunk->state));
	KUNIT_EXPECT_FALSE(test, trunk->link_over);
	KUNIT_EXPECT_TRUE(test, delayed_work_pending(&trunk->timer));

	/* That time has passed, but something may not have arrived yet. */
	lane_idle(trunk, LANE_IDLE_MS, 1);
	KUNIT_EXPECT_FALSE(test, trunk->link_over);
	lane_idle(trunk, 0, -1);
	KUNIT_EXPECT_TRUE(test, trunk->link_over);
	krdma_conn_put(conn);
	stage_close(stage);
}

/*
 * The timer of a passive trunk was set when the trunk was used, and runs when that has just ended:
 * what is in flight has its time all the same.
 */
static void test_timer_of_before_gives_no_time(struct kunit *test)
{
	struct stage *stage = lane_stage(test);
	struct krdma_conn *conn;
	struct krdma_trunk *trunk;

	lane_connect(stage, 1);
	conn = stage->server.conn;
	/* It keeps the lane, which keeps the trunk. */
	krdma_conn_get(conn);
	trunk = lane_of(&stage->server)->trunk;
	actor_close(&stage->server);
	KUNIT_EXPECT_TRUE(test, lane_until(!READ_ONCE(trunk->end_count) &&
					   !READ_ONCE(trunk->in_flight)));
	/* The work item of the trunk does not see this, as long as a frame is in flight. */
	spin_lock_bh(&trunk->lock);
	trunk->in_flight++;
	spin_unlock_bh(&trunk->lock);
	krdma_listener_close(stage->listener);
	krdma_listener_put(stage->listener);
	stage->listener = NULL;
	KUNIT_EXPECT_TRUE(test, lane_until(READ_ONCE(trunk->timer_asks)));

	spin_lock_bh(&trunk->lock);
	trunk->timer_asks = false;
	spin_unlock_bh(&trunk->lock);
	lane_idle(trunk, 0, 0);
	KUNIT_EXPECT_FALSE(test, trunk->link_over);
	KUNIT_EXPECT_TRUE(test, trunk->timer_asks);
	/* It had even begun to run when that time began. */
	lane_idle(trunk, 0, 0);
	KUNIT_EXPECT_FALSE(test, trunk->link_over);
	KUNIT_EXPECT_TRUE(test, trunk->timer_asks);
	lane_idle(trunk, LANE_REST_MS, 0);
	KUNIT_EXPECT_TRUE(test, trunk->link_over);
	lane_idle(trunk, 0, -1);
	krdma_conn_put(conn);
	stage_close(stage);
}

/* Longer than nothing is sent to a peer over iWARP. */
#define LANE_PROBE_MS	31000

/* An idle trunk over iWARP, which has no keepalive, sends a frame now and then. */
static void test_idle_trunk_is_probed(struct kunit *test)
{
	struct stage *stage = lane_stage(test);
	struct krdma_trunk *active, *passive;
	u32 sent, arrived;

	lane_connect(stage, 1);
	active = lane_of(&stage->client)->trunk;
	passive = lane_of(&stage->server)->trunk;
	msleep(LANE_PROBE_MS);
	for (u32 i = 1; i < 3; i++) {
		sent = READ_ONCE(passive->sent_frames);
		arrived = READ_ONCE(active->arrived);
		msleep(LANE_PROBE_MS);
		KUNIT_EXPECT_EQ(test, sent + 1, READ_ONCE(passive->sent_frames));
		KUNIT_EXPECT_EQ(test, arrived + 1, READ_ONCE(active->arrived));
	}
	KUNIT_EXPECT_EQ(test, 1, actor_receive(&stage->client));
	KUNIT_EXPECT_EQ(test, 1, actor_message(&stage->server));
	KUNIT_EXPECT_TRUE(test, actor_completes(&stage->client, 1));
	stage_close(stage);
}

/*
 * Questions
 */

/* Fewer than the frames that the peer has granted. */
#define LANE_QUESTIONS	12
/* Longer than a listener is known. */
#define LANE_KNOWN_MS	1100

static u32 lane_answers(const struct krdma_trunk *trunk)
{
	return READ_ONCE(trunk->answer_tail) - READ_ONCE(trunk->answer_head);
}

/* In the opposite order of the questions. */
static void lane_turn_answers(struct krdma_trunk *trunk)
{
	spin_lock_bh(&trunk->lock);
	for (u32 i = trunk->answer_head, j = trunk->answer_tail - 1; i < j; i++, j--)
		swap(trunk->answers[i], trunk->answers[j]);
	spin_unlock_bh(&trunk->lock);
}

/*
 * A question that was sent is not looked at before its answer arrives, and each answer finds its
 * own, in any order.
 */
static void test_questions_wait_apart(struct kunit *test)
{
	struct actor *actors = kunit_kcalloc(test, LANE_QUESTIONS, sizeof(*actors), GFP_KERNEL);
	struct stage *stage = lane_stage(test);
	struct krdma_trunk *active, *passive;
	struct list_head slots;

	KUNIT_ASSERT_NOT_NULL(test, actors);
	lane_connect(stage, 4);
	active = lane_of(&stage->client)->trunk;
	passive = lane_of(&stage->server)->trunk;
	KUNIT_EXPECT_EQ(test, 1, actor_receive(&stage->server));
	msleep(LANE_KNOWN_MS);
	lane_mute(passive, &slots);
	for (u32 i = 0; i < LANE_QUESTIONS; i++)
		lane_begin(stage, &actors[i], STAGE_PORT + i % 2);
	KUNIT_EXPECT_TRUE(test, lane_until(lane_answers(passive) == LANE_QUESTIONS));
	KUNIT_EXPECT_TRUE(test, list_empty(&active->unasked));
	KUNIT_EXPECT_EQ(test, LANE_QUESTIONS, list_count_nodes(&active->finders));
	/* Somebody else sends. */
	KUNIT_EXPECT_EQ(test, 1, actor_message(&stage->client));
	KUNIT_EXPECT_TRUE(test, actor_completes(&stage->server, 1));
	KUNIT_EXPECT_EQ(test, LANE_QUESTIONS, lane_answers(passive));

	/* One ends meanwhile. */
	actor_close(&actors[LANE_QUESTIONS / 2]);
	lane_turn_answers(passive);
	lane_speak(passive, &slots);
	KUNIT_EXPECT_EQ(test, 1, actor_receive(&stage->client));
	KUNIT_EXPECT_EQ(test, 1, actor_message(&stage->server));
	for (u32 i = 0; i < LANE_QUESTIONS; i++) {
		if (!actors[i].conn)
			continue;
		KUNIT_EXPECT_EQ(test, 0, krdma_conn_wait(actors[i].conn, STAGE_LONG_MS));
		KUNIT_EXPECT_EQ(test, i % 2 == 0, actors[i].conn->lower->used);
		actor_close(&actors[i]);
	}
	KUNIT_EXPECT_TRUE(test, list_empty(&active->finders));
	KUNIT_EXPECT_TRUE(test, xa_empty(&active->questions));
	stage_close(stage);
}

/*
 * A trunk that is not connected
 */

/* Longer than a lane waits for a trunk, and how long it takes if there is none. */
#define LANE_SLOW_MS	5000
#define LANE_AT_ONCE_MS	500

/* A client whose trunk is being connected, and stays so. */
static void lane_slow_trunk(struct stage *stage)
{
	fake_device_pause_port(stage->fake, &stage->pause);
	lane_begin(stage, &stage->client, STAGE_PORT);
	KUNIT_EXPECT_NE(stage->test, 0UL,
			wait_for_completion_timeout(&stage->pause.entered, STAGE_LONG));
	fake_device_pause_port(stage->fake, NULL);
}

/* Nobody waits for a trunk to be connected for longer than a peer may take to answer. */
static void test_slow_trunk_keeps_nobody(struct kunit *test)
{
	struct actor *other = kunit_kzalloc(test, sizeof(*other), GFP_KERNEL);
	struct stage *stage = stage_new(test, NULL);

	KUNIT_ASSERT_NOT_NULL(test, other);
	lane_slow_trunk(stage);
	KUNIT_EXPECT_EQ(test, 0, krdma_conn_wait(stage->client.conn, LANE_SLOW_MS));
	KUNIT_EXPECT_FALSE(test, stage->client.conn->lower->used);
	/* It is tried once. */
	lane_begin(stage, other, STAGE_PORT);
	KUNIT_EXPECT_EQ(test, 0, krdma_conn_wait(other->conn, LANE_AT_ONCE_MS));
	KUNIT_EXPECT_FALSE(test, other->conn->lower->used);
	complete_all(&stage->pause.go_on);
	actor_close(other);
	stage_close(stage);
}

/**
 * struct lane_listening - a listener that begins to take lanes, by a work item
 * @work: its work item
 * @stage: the stage
 * @done: it does
 */
struct lane_listening {
	struct work_struct work;
	struct stage *stage;
	struct completion done;
};

static void lane_listening_work(struct work_struct *work)
{
	struct lane_listening *listening = container_of(work, struct lane_listening, work);

	lane_listen(listening->stage);
	complete(&listening->done);
}

/* However many trunks are being connected, the others go on. */
static void test_slow_trunk_keeps_no_worker(struct kunit *test)
{
	struct lane_listening *listening = kunit_kzalloc(test, sizeof(*listening), GFP_KERNEL);
	struct stage *stage = stage_new(test, NULL);
	struct workqueue_struct *queue;

	KUNIT_ASSERT_NOT_NULL(test, listening);
	listening->stage = stage;
	INIT_WORK(&listening->work, lane_listening_work);
	init_completion(&listening->done);
	lane_slow_trunk(stage);
	/* The workqueue of lanes. */
	queue = lane_of(&stage->client)->trunk->timer.wq;
	KUNIT_EXPECT_NOT_NULL(test, queue);
	if (queue)
		workqueue_set_max_active(queue, 1);
	/* Opens the port of trunks, by a work item of lanes. */
	queue_work(stage->works, &listening->work);
	KUNIT_EXPECT_NE(test, 0UL, wait_for_completion_timeout(&listening->done, HZ));
	complete_all(&stage->pause.go_on);
	flush_work(&listening->work);
	if (queue)
		workqueue_set_max_active(queue, WQ_MAX_ACTIVE);
	stage_close(stage);
}

/*
 * Requests that the peer takes back
 */

/* So many come at a time, and so often.  Together they are more than may wait for their end. */
#define LANE_REQUESTS	64
#define LANE_ROUNDS	(KRDMA_TRUNK_UNSENT_ANSWERS / LANE_REQUESTS + 4)

/**
 * struct lane_keeper - connections that keep all turns of a session
 * @session: the session
 * @asleep: number of those that do
 * @wake: ends that
 * @conns: the connections
 */
struct lane_keeper {
	struct krdma_session *session;
	atomic_t asleep;
	struct completion wake;
	struct krdma_conn *conns[KRDMA_ENDS_AT_ONCE / 2];
};

static void lane_keeper_notify(struct krdma_conn *conn, const struct krdma_event *event)
{
	struct lane_keeper *keeper = krdma_conn_context(conn);

	if (event->type != KRDMA_EVENT_CLOSED)
		return;
	atomic_inc(&keeper->asleep);
	wait_for_completion(&keeper->wake);
}

static const struct krdma_conn_ops lane_keeper_ops = {
	.notify = lane_keeper_notify,
};

/* Also when the test has failed: nothing ends before. */
static void lane_keeper_release(void *context)
{
	struct lane_keeper *keeper = context;

	complete_all(&keeper->wake);
	for (u32 i = 0; i < ARRAY_SIZE(keeper->conns) && keeper->conns[i]; i++) {
		krdma_conn_close(keeper->conns[i]);
		krdma_conn_put(keeper->conns[i]);
	}
	krdma_session_put(keeper->session);
}

/* A stage whose listener has a session of its own, where no connection ends for now. */
static struct lane_keeper *lane_keep(struct stage *stage)
{
	struct lane_keeper *keeper = kunit_kzalloc(stage->test, sizeof(*keeper), GFP_KERNEL);
	struct sockaddr_in at = fake_address(STAGE_PORT);
	struct krdma_listen_attr attr = { .local = (struct sockaddr *)&at, .lanes = true };
	struct kunit *test = stage->test;

	KUNIT_ASSERT_NOT_NULL(test, keeper);
	init_completion(&keeper->wake);
	keeper->session = krdma_session_create(&init_net);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, keeper->session);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, lane_keeper_release, keeper));
	stage->listener = krdma_listen(keeper->session, &attr);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, stage->listener);
	for (u32 i = 0; i < ARRAY_SIZE(keeper->conns); i++) {
		struct krdma_conn *conn;

		conn = krdma_conn_create(keeper->session, &lane_keeper_ops, keeper);
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, conn);
		keeper->conns[i] = conn;
		krdma_conn_abort(conn);
	}
	KUNIT_ASSERT_TRUE(test, lane_until(atomic_read(&keeper->asleep) ==
					   ARRAY_SIZE(keeper->conns)));
	return keeper;
}

/* The passive side has read what was sent so far: it has answered a later question. */
static void lane_is_read(struct stage *stage)
{
	struct krdma_trunk *active = lane_of(&stage->client)->trunk;
	struct actor *actor = kunit_kzalloc(stage->test, sizeof(*actor), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(stage->test, actor);
	KUNIT_ASSERT_TRUE(stage->test, lane_until(!READ_ONCE(active->end_count) &&
						  !READ_ONCE(active->in_flight)));
	lane_begin(stage, actor, STAGE_PORT + 1);
	KUNIT_EXPECT_EQ(stage->test, 0, krdma_conn_wait(actor->conn, STAGE_LONG_MS));
	KUNIT_EXPECT_FALSE(stage->test, actor->conn->lower->used);
	actor_close(actor);
	kunit_kfree(stage->test, actor);
}

/* A peer asks for lanes, and takes that back.  The client's lane keeps the trunk. */
static void lane_take_back(struct stage *stage, struct actor *actors)
{
	static const struct krdma_conn_attr attr = { .send_depth = 1, .recv_depth = 1 };

	for (u32 i = 0; i < LANE_REQUESTS; i++) {
		lane_resolve(stage, &actors[i]);
		KUNIT_ASSERT_EQ(stage->test, 0, krdma_conn_create_qp(actors[i].conn, &attr));
		KUNIT_ASSERT_EQ(stage->test, 0, actor_connect(&actors[i], ""));
	}
	/* One that the peer has not granted a frame for yet would be taken back without a word. */
	KUNIT_ASSERT_TRUE(stage->test,
			  lane_until(list_empty(&lane_of(&stage->client)->trunk->ready)));
	lane_is_read(stage);
	for (u32 i = 0; i < LANE_REQUESTS; i++)
		actor_close(&actors[i]);
	lane_is_read(stage);
}

/*
 * A request that was taken back leaves the backlog when the listener is asked for the next one.
 * While those do not end, there is a limit of them.
 */
static void test_requests_taken_back_are_limited(struct kunit *test)
{
	struct actor *actors = kunit_kcalloc(test, LANE_REQUESTS, sizeof(*actors), GFP_KERNEL);
	static const struct krdma_conn_attr attr = { .send_depth = 1, .recv_depth = 1 };
	struct stage *stage = stage_new(test, NULL);
	struct krdma_trunk *passive;
	struct lane_keeper *keeper;
	struct krdma_conn *conn;
	u32 most = 0;

	KUNIT_ASSERT_NOT_NULL(test, actors);
	keeper = lane_keep(stage);
	lane_connect(stage, 1);
	passive = lane_of(&stage->server)->trunk;
	for (u32 i = 0; i < LANE_ROUNDS; i++) {
		lane_take_back(stage, actors);
		conn = krdma_listener_next(stage->listener, NULL, NULL, 0);
		KUNIT_ASSERT_TRUE(test, IS_ERR(conn));
		KUNIT_EXPECT_EQ(test, -EAGAIN, PTR_ERR(conn));
		most = max(most, READ_ONCE(passive->lane_count));
	}
	/* With the one that is connected, and those of a round. */
	KUNIT_EXPECT_LE(test, most, 1 + KRDMA_TRUNK_UNSENT_ANSWERS + LANE_REQUESTS);

	complete_all(&keeper->wake);
	KUNIT_EXPECT_TRUE(test, lane_until(READ_ONCE(passive->lane_count) == 1));
	/* There is room again. */
	lane_resolve(stage, &actors[0]);
	KUNIT_ASSERT_EQ(test, 0, krdma_conn_create_qp(actors[0].conn, &attr));
	KUNIT_ASSERT_EQ(test, 0, actor_connect(&actors[0], ""));
	conn = krdma_listener_next(stage->listener, NULL, NULL, STAGE_LONG_MS);
	KUNIT_EXPECT_FALSE(test, IS_ERR(conn));
	if (!IS_ERR(conn)) {
		krdma_conn_close(conn);
		krdma_conn_put(conn);
	}
	actor_close(&actors[0]);
	stage_close(stage);
}

/**
 * struct lane_waiter - a thread that waits for a request, with a signal
 * @listener: the listener
 * @done: it has returned
 * @said: what the listener said
 */
struct lane_waiter {
	struct krdma_listener *listener;
	struct completion done;
	long said;
};

static int lane_waiter_thread(void *data)
{
	struct lane_waiter *waiter = data;

	allow_signal(SIGUSR1);
	send_sig(SIGUSR1, current, 1);
	waiter->said = PTR_ERR(krdma_listener_next(waiter->listener, NULL, NULL,
						   KRDMA_FOREVER_MS));
	complete(&waiter->done);
	return 0;
}

/* A signal ends a call that waits, also while there is always a request that was taken back. */
static void test_requests_taken_back_keep_nobody(struct kunit *test)
{
	struct actor *actors = kunit_kcalloc(test, LANE_REQUESTS, sizeof(*actors), GFP_KERNEL);
	struct lane_waiter *waiter = kunit_kzalloc(test, sizeof(*waiter), GFP_KERNEL);
	struct stage *stage = stage_new(test, NULL);
	struct krdma_listener_info info;
	struct lane_keeper *keeper;
	struct task_struct *task;

	KUNIT_ASSERT_NOT_NULL(test, actors);
	KUNIT_ASSERT_NOT_NULL(test, waiter);
	keeper = lane_keep(stage);
	lane_resolve(stage, &stage->client);
	lane_take_back(stage, actors);
	krdma_listener_query(stage->listener, &info);
	KUNIT_EXPECT_EQ(test, LANE_REQUESTS, info.waiting);
	waiter->listener = stage->listener;
	init_completion(&waiter->done);
	task = kthread_run(lane_waiter_thread, waiter, "krdma_waiter");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
	wait_for_completion(&waiter->done);
	KUNIT_EXPECT_EQ(test, -EINTR, waiter->said);
	krdma_listener_query(stage->listener, &info);
	KUNIT_EXPECT_EQ(test, LANE_REQUESTS - 1, info.waiting);
	complete_all(&keeper->wake);
	stage_close(stage);
}

/*
 * Windows
 */

/* So long a write asks for a window at once, and is still a short one. */
#define LANE_LONG	4096
/* For a long one, and behind that for what it writes to. */
#define LANE_MEMORY	(4 * LANE_LONG)
/* Bytes in flight at which long ones wait. */
#define LANE_IN_FLIGHT	SZ_256K

/* Memory that is written, and that is written to, behind that; without windows. */
static struct krdma_mr *lane_memory_alone(struct stage *stage)
{
	u8 *buffer = kunit_kzalloc(stage->test, LANE_MEMORY, GFP_KERNEL);
	struct krdma_mr *mr;

	KUNIT_ASSERT_NOT_NULL(stage->test, buffer);
	mr = krdma_mr_register(stage->session, krdma_conn_device(stage->client.conn), buffer,
			       LANE_MEMORY, KRDMA_ACCESS_LOCAL_WRITE | KRDMA_ACCESS_REMOTE_WRITE);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(stage->test, mr);
	return mr;
}

static struct krdma_mr *lane_memory(struct stage *stage)
{
	struct krdma_mr *mr = lane_memory_alone(stage);

	krdma_mr_allow_windows(mr);
	return mr;
}

static void lane_write_some(struct stage *stage, struct actor *actor, struct krdma_mr *mr,
			    u32 length)
{
	struct krdma_sge sge = { .mr = mr, .length = length };
	struct krdma_send_wr wr = { .opcode = KRDMA_OP_WRITE, .sges = &sge, .sge_count = 1 };
	struct krdma_mr_info info;

	krdma_mr_query(mr, &info);
	sge.addr = info.addr;
	wr.remote_addr = info.remote_addr + LANE_MEMORY / 2;
	wr.rkey = info.rkey;
	KUNIT_ASSERT_EQ(stage->test, 1, krdma_conn_post_send(actor->conn, &wr, 1));
}

static void lane_write(struct stage *stage, struct actor *actor, struct krdma_mr *mr)
{
	lane_write_some(stage, actor, mr, LANE_LONG);
}

/* Returns the number of the window that the actor gets for a write, or 0. */
static u32 lane_asks(struct stage *stage, struct actor *actor, struct krdma_mr *mr)
{
	unsigned int before = READ_ONCE(actor->completed);
	struct krdma_lane *lane = lane_of(actor);
	struct krdma_lane_direct *direct;
	u32 number = 0;
	u8 next;

	spin_lock_bh(&lane->trunk->lock);
	next = lane->direct ? lane->direct->next : 0;
	spin_unlock_bh(&lane->trunk->lock);
	lane_write(stage, actor, mr);
	KUNIT_ASSERT_TRUE(stage->test, actor_completes(actor, before + 1));
	direct = READ_ONCE(lane->direct);
	KUNIT_ASSERT_NOT_NULL(stage->test, direct);
	KUNIT_ASSERT_TRUE(stage->test, lane_until(!READ_ONCE(direct->ask_due) &&
						  !READ_ONCE(direct->ask_sent)));
	spin_lock_bh(&lane->trunk->lock);
	if (direct->next != next)
		number = direct->known[next].window->number;
	spin_unlock_bh(&lane->trunk->lock);
	return number;
}

static void lane_has_windows(struct krdma_trunk *trunk)
{
	spin_lock_bh(&trunk->lock);
	trunk->windows_work = true;
	spin_unlock_bh(&trunk->lock);
}

/* Over iWARP, too: of the fake device's writes none is in flight when it is complete. */
static struct stage *lane_windows(struct kunit *test)
{
	struct stage *stage;

	test_needs_fast_reg(test);
	stage = lane_stage(test);
	lane_connect(stage, 4);
	lane_has_windows(lane_of(&stage->client)->trunk);
	lane_has_windows(lane_of(&stage->server)->trunk);
	return stage;
}

/* A number is not given twice: the peer tells windows apart by it. */
static void test_window_numbers_end(struct kunit *test)
{
	struct stage *stage = lane_windows(test);
	struct krdma_trunk *passive = lane_of(&stage->server)->trunk;
	struct krdma_mr *first = lane_memory(stage), *second = lane_memory(stage);
	u32 before;

	spin_lock_bh(&passive->lock);
	passive->last_window = U32_MAX - 1;
	spin_unlock_bh(&passive->lock);
	KUNIT_EXPECT_EQ(test, U32_MAX, lane_asks(stage, &stage->client, first));
	KUNIT_EXPECT_EQ(test, 0, lane_asks(stage, &stage->client, second));
	KUNIT_EXPECT_EQ(test, 1, READ_ONCE(passive->window_count));
	/* Records go on. */
	before = READ_ONCE(stage->client.completed);
	lane_write(stage, &stage->client, second);
	KUNIT_EXPECT_TRUE(test, actor_completes(&stage->client, before + 1));
	KUNIT_EXPECT_EQ(test, 0, stage->client.flushed);
	stage_close(stage);
	KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(first));
	KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(second));
}

/* A peer that asks in vain has nothing allocated; what it may have allocated is charged. */
static void test_refused_window_costs_nothing(struct kunit *test)
{
	struct actor *client = kunit_kzalloc(test, sizeof(*client), GFP_KERNEL);
	struct actor *server = kunit_kzalloc(test, sizeof(*server), GFP_KERNEL);
	struct stage *stage = lane_windows(test);
	struct krdma_mr *alone = lane_memory_alone(stage), *mr = lane_memory(stage);
	const struct krdma_lane *lane = lane_of(&stage->server);

	KUNIT_ASSERT_NOT_NULL(test, client);
	KUNIT_ASSERT_NOT_NULL(test, server);
	KUNIT_EXPECT_EQ(test, 0, lane_asks(stage, &stage->client, alone));
	KUNIT_EXPECT_NULL(test, lane->given);
	/* After a refusal a lane asks for nothing for some time, so this is another one. */
	lane_join(stage, client, server, 4);
	KUNIT_EXPECT_NE(test, 0, lane_asks(stage, client, mr));
	lane = lane_of(server);
	KUNIT_EXPECT_NOT_NULL(test, lane->given);
	KUNIT_EXPECT_LE(test, sizeof(*lane) + sizeof(*lane->conn) + sizeof(*lane->direct) +
			sizeof(*lane->given) + sizeof(*lane->named), lane->kept);
	actor_close(client);
	actor_close(server);
	stage_close(stage);
	KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(alone));
	KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(mr));
}

#define LANE_WAITERS	3

/* Lanes of one trunk that have windows, and wait for places among the link's work requests. */
struct lane_queue {
	struct stage *stage;
	struct krdma_trunk *trunk;
	struct krdma_mr *mr;
	unsigned long places;
	struct actor clients[LANE_WAITERS];
	struct actor servers[LANE_WAITERS];
};

static struct lane_queue *lane_queue_make(struct kunit *test)
{
	struct lane_queue *queue = kunit_kzalloc(test, sizeof(*queue), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, queue);
	queue->stage = lane_windows(test);
	queue->trunk = lane_of(&queue->stage->client)->trunk;
	queue->mr = lane_memory(queue->stage);
	queue->places = queue->trunk->direct_free;
	for (u32 i = 0; i < LANE_WAITERS; i++) {
		lane_join(queue->stage, &queue->clients[i], &queue->servers[i], 4);
		KUNIT_ASSERT_PTR_EQ(test, queue->trunk, lane_of(&queue->clients[i])->trunk);
		KUNIT_ASSERT_NE(test, 0, lane_asks(queue->stage, &queue->clients[i], queue->mr));
	}
	return queue;
}

static void lane_queue_end(struct lane_queue *queue)
{
	for (u32 i = 0; i < LANE_WAITERS; i++) {
		actor_close(&queue->clients[i]);
		actor_close(&queue->servers[i]);
	}
	stage_close(queue->stage);
	KUNIT_EXPECT_EQ(queue->stage->test, 0, krdma_mr_deregister(queue->mr));
}

static struct krdma_lane_direct *lane_queue_at(struct lane_queue *queue, u32 i)
{
	return lane_of(&queue->clients[i])->direct;
}

/* Nothing of the trunk is in flight: what is free, and how many bytes are not, is set here. */
static void lane_queue_set(struct lane_queue *queue, unsigned long places, u32 bytes)
{
	spin_lock_bh(&queue->trunk->lock);
	queue->trunk->direct_free = places;
	queue->trunk->direct_bytes = bytes;
	spin_unlock_bh(&queue->trunk->lock);
}

static void lane_queue_keep(struct lane_queue *queue, struct krdma_lane_direct *direct)
{
	spin_lock_bh(&queue->trunk->lock);
	queue->trunk->direct_turn = direct;
	spin_unlock_bh(&queue->trunk->lock);
}

static void lane_queue_write(struct lane_queue *queue, u32 i, u32 length)
{
	lane_write_some(queue->stage, &queue->clients[i], queue->mr, length);
}

static bool lane_queue_waits(struct lane_queue *queue, u32 i)
{
	return lane_until(!list_empty_careful(&lane_queue_at(queue, i)->node));
}

/* Each has had one write when it got its window. */
static bool lane_queue_wrote(struct lane_queue *queue, u32 i)
{
	return actor_completes(&queue->clients[i], 2);
}

/* A lane waits for a place behind another one, which gets it, and was closed by its peer. */
static void test_closed_lane_passes_its_place(struct kunit *test)
{
	struct lane_queue *queue = lane_queue_make(test);

	lane_queue_set(queue, 0, 0);
	for (u32 i = 0; i < LANE_WAITERS - 1; i++) {
		lane_queue_write(queue, i, LANE_LONG);
		KUNIT_ASSERT_TRUE(test, lane_queue_waits(queue, i));
	}
	lane_queue_set(queue, queue->places, 0);
	spin_lock_bh(&queue->trunk->lock);
	lane_of(&queue->clients[0])->peer_closed = true;
	spin_unlock_bh(&queue->trunk->lock);
	/* When that is complete, its place is passed on. */
	lane_queue_write(queue, LANE_WAITERS - 1, LANE_LONG);
	for (u32 i = 1; i < LANE_WAITERS; i++)
		KUNIT_EXPECT_TRUE(test, lane_queue_wrote(queue, i));
	KUNIT_EXPECT_EQ(test, 1, READ_ONCE(queue->clients[0].completed));
	lane_queue_end(queue);
}

/* A lane ends before it has its turn. */
static void test_ended_lane_passes_its_place(struct kunit *test)
{
	struct lane_queue *queue = lane_queue_make(test);

	lane_queue_keep(queue, lane_queue_at(queue, 0));
	lane_queue_write(queue, 1, 2 * LANE_LONG);
	KUNIT_ASSERT_TRUE(test, lane_queue_waits(queue, 1));
	actor_close(&queue->clients[0]);
	KUNIT_EXPECT_TRUE(test, lane_queue_wrote(queue, 1));
	KUNIT_EXPECT_NULL(test, READ_ONCE(queue->trunk->direct_turn));
	lane_queue_end(queue);
}

/* One place is kept for the lane that waits first, and short work requests get the others. */
static void test_one_place_is_kept(struct kunit *test)
{
	struct lane_queue *queue = lane_queue_make(test);

	lane_queue_keep(queue, lane_queue_at(queue, 0));
	lane_queue_write(queue, 1, LANE_LONG);
	KUNIT_EXPECT_TRUE(test, lane_queue_wrote(queue, 1));
	lane_queue_set(queue, 1, 0);
	lane_queue_write(queue, 2, LANE_LONG);
	KUNIT_EXPECT_TRUE(test, lane_queue_waits(queue, 2));
	KUNIT_EXPECT_EQ(test, 1, READ_ONCE(queue->clients[2].completed));

	/* For whom it is kept, it is there, whatever others have in flight meanwhile. */
	lane_queue_set(queue, 1, LANE_IN_FLIGHT);
	lane_queue_write(queue, 0, 2 * LANE_LONG);
	KUNIT_EXPECT_TRUE(test, lane_queue_wrote(queue, 0));
	KUNIT_EXPECT_TRUE(test, lane_queue_wrote(queue, 2));
	lane_queue_end(queue);
}

/*
 * A short work request that waits gets the next place, however much is in flight, and whoever waits
 * for bytes.  A long one behind it does not get one with it.
 */
static void test_short_one_waits_for_no_bytes(struct kunit *test)
{
	struct lane_queue *queue = lane_queue_make(test);

	lane_queue_set(queue, 0, LANE_IN_FLIGHT);
	lane_queue_write(queue, 1, 2 * LANE_LONG);
	KUNIT_ASSERT_TRUE(test, lane_queue_waits(queue, 1));
	lane_queue_write(queue, 0, LANE_LONG);
	KUNIT_ASSERT_TRUE(test, lane_queue_waits(queue, 0));
	lane_queue_write(queue, 0, 2 * LANE_LONG);
	lane_queue_set(queue, queue->places, LANE_IN_FLIGHT);
	lane_queue_write(queue, 2, LANE_LONG);
	KUNIT_EXPECT_TRUE(test, lane_queue_wrote(queue, 2));
	KUNIT_EXPECT_TRUE(test, lane_queue_wrote(queue, 0));
	KUNIT_EXPECT_TRUE(test, lane_queue_waits(queue, 0));
	KUNIT_EXPECT_EQ(test, 1, READ_ONCE(queue->clients[1].completed));
	KUNIT_EXPECT_EQ(test, 2, READ_ONCE(queue->clients[0].completed));

	lane_queue_set(queue, queue->places, 0);
	lane_queue_write(queue, 2, LANE_LONG);
	KUNIT_EXPECT_TRUE(test, lane_queue_wrote(queue, 1));
	KUNIT_EXPECT_TRUE(test, actor_completes(&queue->clients[0], 3));
	lane_queue_end(queue);
}

static struct kunit_case lane_cases[] = {
	KUNIT_CASE(test_refused_send_names_no_mr),
	KUNIT_CASE(test_failed_queues_leave_nothing),
	KUNIT_CASE(test_longest_message),
	KUNIT_CASE(test_unanswered_lane_ends),
	KUNIT_CASE(test_ended_trunk_has_no_timer),
	KUNIT_CASE(test_ended_trunk_does_not_drain),
	KUNIT_CASE(test_link_says_why_it_ends),
	KUNIT_CASE(test_link_ends_before_a_request),
	KUNIT_CASE(test_violation_is_not_told),
	KUNIT_CASE(test_timeout_is_told),
	KUNIT_CASE(test_refused_receive_ends_the_link),
	KUNIT_CASE(test_full_trunk_takes_no_lane),
	KUNIT_CASE(test_timer_of_before_gives_no_time),
	KUNIT_CASE(test_late_timer_ends_no_trunk),
	KUNIT_CASE_SLOW(test_idle_trunk_is_probed),
	KUNIT_CASE(test_questions_wait_apart),
	KUNIT_CASE_SLOW(test_slow_trunk_keeps_nobody),
	KUNIT_CASE(test_slow_trunk_keeps_no_worker),
	KUNIT_CASE(test_requests_taken_back_are_limited),
	KUNIT_CASE(test_requests_taken_back_keep_nobody),
	KUNIT_CASE(test_window_numbers_end),
	KUNIT_CASE(test_refused_window_costs_nothing),
	KUNIT_CASE(test_closed_lane_passes_its_place),
	KUNIT_CASE(test_ended_lane_passes_its_place),
	KUNIT_CASE(test_one_place_is_kept),
	KUNIT_CASE(test_short_one_waits_for_no_bytes),
	{}
};

static struct kunit_suite lane_suite = {
	.name = "krdma_lane",
	.init = test_objects_init,
	.test_cases = lane_cases,
};

kunit_test_suite(lane_suite);
