// SPDX-License-Identifier: GPL-2.0
/* CQs of a consumer that polls, and that ready() notifies when polling is worthwhile. */
#include <kunit/test.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/preempt.h>
#include <linux/smp.h>

#include <krdma/krdma.h>

#include "conn_fixture.h"
#include "io/cq.h"
#include "objects.h"

static const struct conn_setup polled = {
	.where = KRDMA_CONTEXT_POLL,
	.attr = { .send_depth = 40, .recv_depth = 40 },
};

/**
 * struct listener - a consumer of ready()
 * @cq: the CQ
 * @calls: number of calls of ready()
 * @misplaced: calls that were not in softirq, or had interrupts off
 * @inside: calls in progress
 * @overlaps: calls while another one was in progress
 * @late: calls after the CQ was put
 * @is_put: the CQ was put
 * @again: ready() asks for this many more calls
 * @linger_us: duration of a call
 * @poll: each call polls all completions, and arms
 * @taken: number of polled completions
 * @ended: result of the last krdma_cq_arm()
 * @wait: woken by calls
 */
struct listener {
	struct krdma_cq *cq;
	atomic_t calls;
	atomic_t misplaced;
	atomic_t inside;
	atomic_t overlaps;
	atomic_t late;
	bool is_put;
	atomic_t again;
	unsigned int linger_us;
	bool poll;
	atomic_t taken;
	int ended;
	wait_queue_head_t wait;
};

static void listener_poll(struct listener *listener)
{
	struct krdma_wc done[3];
	int count;

	do {
		while ((count = krdma_cq_poll(listener->cq, done, ARRAY_SIZE(done))) > 0)
			atomic_add(count, &listener->taken);
		listener->ended = krdma_cq_arm(listener->cq);
	} while (listener->ended > 0);
}

static bool listener_ready(void *context)
{
	struct listener *listener = context;

	if (atomic_inc_return(&listener->inside) != 1)
		atomic_inc(&listener->overlaps);
	if (!in_softirq() || in_hardirq() || irqs_disabled())
		atomic_inc(&listener->misplaced);
	if (READ_ONCE(listener->is_put))
		atomic_inc(&listener->late);
	udelay(listener->linger_us);
	if (listener->poll)
		listener_poll(listener);
	atomic_inc(&listener->calls);
	wake_up_all(&listener->wait);
	atomic_dec(&listener->inside);
	return atomic_dec_if_positive(&listener->again) >= 0;
}

/* Created before its pair of connections, so that it is freed after the pair has ended. */
static struct listener *listener_new(struct kunit *test)
{
	struct listener *listener = kunit_kzalloc(test, sizeof(*listener), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, listener);
	init_waitqueue_head(&listener->wait);
	return listener;
}

static struct krdma_cq *listener_queue(struct conn_pair *pair, struct listener *listener)
{
	struct krdma_cq_attr attr = {
		.depth = CONN_CQE, .where = KRDMA_CONTEXT_POLL, .vector = -1,
		.ready = listener_ready, .ready_context = listener,
	};

	listener->cq = krdma_cq_create(pair->dev, &attr);
	KUNIT_ASSERT_FALSE(pair->test, IS_ERR(listener->cq));
	return listener->cq;
}

/* A connected pair with a CQ that notifies. */
static struct conn_pair *listener_pair(struct kunit *test, struct listener *listener)
{
	struct conn_pair *pair = conn_pair_open(test, &polled);

	krdma_cq_put(pair->cq);
	pair->cq = listener_queue(pair, listener);
	conn_pair_connect(pair);
	return pair;
}

/* Exactly this number of calls. */
static void expect_calls(struct kunit *test, struct listener *listener, int calls)
{
	wait_event_timeout(listener->wait, atomic_read(&listener->calls) >= calls, CONN_LONG);
	msleep(20);
	KUNIT_EXPECT_EQ(test, calls, atomic_read(&listener->calls));
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&listener->misplaced));
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&listener->overlaps));
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&listener->late));
}

static void test_arm_elsewhere(struct kunit *test)
{
	static const enum krdma_context contexts[] = {
		KRDMA_CONTEXT_WORKQUEUE,
		KRDMA_CONTEXT_SOFTIRQ,
	};
	struct krdma_cq_attr attr = { .depth = 1, .ready = listener_ready };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(contexts); i++) {
		struct conn_setup setup = { .where = contexts[i], .shared = true };
		struct conn_pair *pair = conn_pair_open(test, &setup);

		KUNIT_EXPECT_EQ(test, -EINVAL, krdma_cq_arm(pair->cq));
		attr.where = contexts[i];
		KUNIT_EXPECT_PTR_EQ(test, (void *)ERR_PTR(-EINVAL),
				    (void *)krdma_cq_create(pair->dev, &attr));
		conn_pair_end(pair);
	}
}

/* One call for each arming, whatever the number of completions, and however the device notifies. */
static void test_arm_tells(struct kunit *test)
{
	struct listener *listener = listener_new(test);
	struct conn_pair *pair = listener_pair(test, listener);
	enum fake_notify notify;
	int calls = 0;

	for (notify = FAKE_NOTIFY_IRQS_OFF; notify <= FAKE_NOTIFY_HARDIRQ; notify++) {
		pair->fake->notify = notify;
		/* The CQ is not armed. */
		KUNIT_EXPECT_EQ(test, 2, conn_post_writes(&pair->client, 0, 2));
		expect_calls(test, listener, calls);
		/* Arming reports the completions that were missed. */
		KUNIT_EXPECT_EQ(test, 1, krdma_cq_arm(pair->cq));
		KUNIT_EXPECT_EQ(test, 2, conn_pair_poll(pair));
		KUNIT_EXPECT_EQ(test, 0, krdma_cq_arm(pair->cq));
		KUNIT_EXPECT_EQ(test, 3, conn_post_writes(&pair->client, 0, 3));
		expect_calls(test, listener, calls + 1);
		KUNIT_EXPECT_EQ(test, 3, conn_pair_poll(pair));
		/* Arming twice is the same as arming once. */
		KUNIT_EXPECT_EQ(test, 0, krdma_cq_arm(pair->cq));
		KUNIT_EXPECT_EQ(test, 0, krdma_cq_arm(pair->cq));
		KUNIT_EXPECT_EQ(test, 1, conn_post_writes(&pair->client, 0, 1));
		expect_calls(test, listener, calls + 2);
		KUNIT_EXPECT_EQ(test, 1, conn_pair_poll(pair));
		calls += 2;
	}
}

static void as_mlx4(struct fake_device *fake)
{
	fake_device_become(fake, fake_personality_find("mlx4"));
	fake->ib.ops.driver_id = RDMA_DRIVER_MLX4;
}

/* A device whose arming does not report existing completions, but raises an event for them. */
static void test_arm_that_rings(struct kunit *test)
{
	static const struct conn_setup setup = {
		.where = KRDMA_CONTEXT_POLL,
		.attr = { .send_depth = 40, .recv_depth = 40 },
		.tune = as_mlx4,
	};
	struct conn_pair *pair = conn_pair_new(test, &setup);
	int ret;

	for (unsigned int round = 0; round < 3; round++) {
		KUNIT_ASSERT_EQ(test, 20, conn_post_writes(&pair->client, 0, 20));
		/* Each time that the CQ is armed. */
		KUNIT_EXPECT_EQ(test, 1, krdma_cq_arm(pair->cq));
		KUNIT_EXPECT_EQ(test, 1, krdma_cq_arm(pair->cq));
		KUNIT_EXPECT_EQ(test, 0, krdma_cq_wait(pair->cq, 0));
		KUNIT_EXPECT_EQ(test, 20, conn_pair_poll(pair));
		KUNIT_EXPECT_EQ(test, 0, krdma_cq_arm(pair->cq));
		/* The events of existing completions may arrive now: poll, and wait again. */
		ret = krdma_cq_wait(pair->cq, 10);
		if (!ret)
			ret = krdma_cq_wait(pair->cq, 10);
		KUNIT_EXPECT_EQ(test, -ETIMEDOUT, ret);
	}
	conn_pair_end(pair);
}

static void as_ionic(struct fake_device *fake)
{
	fake_device_become(fake, fake_personality_find("ionic"));
}

static void as_bnxt_re(struct fake_device *fake)
{
	fake_device_become(fake, fake_personality_find("bnxt_re"));
	fake->ib.ops.driver_id = RDMA_DRIVER_BNXT_RE;
}

/*
 * A driver that takes all completions of the device when it is polled, returns as many as were
 * asked for, and does not look at the rest when the CQ is armed.
 */
static void test_arm_after_part(struct kunit *test)
{
	static void (* const tunes[])(struct fake_device *fake) = { as_ionic, as_bnxt_re };
	static const int parts[] = { 1, 2, 16, 20, 31, 32 };
	struct krdma_wc *wcs = kunit_kcalloc(test, 40, sizeof(*wcs), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, wcs);
	for (unsigned int i = 0; i < ARRAY_SIZE(tunes) * ARRAY_SIZE(parts); i++) {
		struct conn_setup setup = polled;
		int part = parts[i / 2];
		struct conn_pair *pair;

		setup.tune = tunes[i % 2];
		pair = conn_pair_new(test, &setup);
		KUNIT_ASSERT_EQ(test, 32, conn_post_writes(&pair->client, 0, 32));
		KUNIT_ASSERT_EQ(test, part, krdma_cq_poll(pair->cq, wcs, part));
		KUNIT_EXPECT_EQ_MSG(test, part < 32, krdma_cq_arm(pair->cq), "after %d", part);
		KUNIT_EXPECT_EQ_MSG(test, part < 32 ? 0 : -ETIMEDOUT, krdma_cq_wait(pair->cq, 1),
				    "after %d", part);
		if (part < 32)
			KUNIT_EXPECT_EQ(test, 32 - part, krdma_cq_poll(pair->cq, wcs, 40));
		KUNIT_EXPECT_EQ(test, 0, krdma_cq_arm(pair->cq));
		conn_pair_end(pair);
	}
}

/* The same when one completion, of the kind that programs wait for most, is taken by itself. */
static void test_arm_after_one(struct kunit *test)
{
	struct conn_setup setup = polled;
	struct krdma_mr_info info;
	struct krdma_send_wr wr;
	struct conn_pair *pair;
	struct krdma_sge sge;
	struct krdma_wc wcs[2];
	struct krdma_mr *mr;

	setup.tune = as_ionic;
	pair = conn_pair_new(test, &setup);
	mr = krdma_mr_register(pair->session, pair->dev, pair->client.buffer, 64,
			       KRDMA_ACCESS_LOCAL_WRITE | KRDMA_ACCESS_REMOTE_WRITE);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, mr);
	krdma_mr_query(mr, &info);
	sge = (struct krdma_sge) {
		.addr = (uintptr_t)pair->client.buffer, .length = 8, .mr = mr,
	};
	wr = (struct krdma_send_wr) {
		.opcode = KRDMA_OP_WRITE, .sges = &sge, .sge_count = 1,
		.remote_addr = info.remote_addr, .rkey = info.rkey,
	};
	for (unsigned int i = 0; i < 2; i++)
		KUNIT_ASSERT_EQ(test, 1, conn_post(&pair->client, &wr, 1));
	KUNIT_ASSERT_EQ(test, 1, krdma_cq_poll(pair->cq, wcs, 1));
	KUNIT_EXPECT_EQ(test, KRDMA_WC_SUCCESS, wcs[0].status);
	KUNIT_EXPECT_EQ(test, 1, krdma_cq_arm(pair->cq));
	KUNIT_EXPECT_EQ(test, 1, krdma_cq_poll(pair->cq, wcs, 2));
	KUNIT_EXPECT_EQ(test, 0, krdma_cq_arm(pair->cq));
	KUNIT_EXPECT_EQ(test, 0, krdma_mr_deregister(mr));
	conn_pair_end(pair);
}

/* A call that asks for another one gets it, without new completions. */
static void test_ready_again(struct kunit *test)
{
	struct listener *listener = listener_new(test);
	struct conn_pair *pair = listener_pair(test, listener);

	atomic_set(&listener->again, 300);
	KUNIT_EXPECT_EQ(test, 0, krdma_cq_arm(pair->cq));
	KUNIT_EXPECT_EQ(test, 1, conn_post_writes(&pair->client, 0, 1));
	expect_calls(test, listener, 301);
	KUNIT_EXPECT_EQ(test, 1, conn_pair_poll(pair));
}

/* Posts as much as the SQ has room for, until it has been 300. */
static int poster(void *data)
{
	struct conn_end *end = data;
	int left = 300;

	while (left && !kthread_should_stop()) {
		int ret = conn_post_writes(end, 0, min(left, 7));

		if (ret > 0)
			left -= ret;
		else if (ret == -EAGAIN)
			usleep_range(10, 50);
		else
			break;
	}
	return left;
}

/* No completion is lost between those that a call polls and those for which it arms. */
static void test_ready_polls(struct kunit *test)
{
	struct listener *listener = listener_new(test);
	struct conn_pair *pair = listener_pair(test, listener);
	struct task_struct *tasks[2];
	unsigned int i;
	int calls;

	listener->poll = true;
	KUNIT_EXPECT_EQ(test, 0, krdma_cq_arm(pair->cq));
	tasks[0] = kthread_run(poster, &pair->client, "poster");
	tasks[1] = kthread_run(poster, &pair->server, "poster");
	for (i = 0; i < ARRAY_SIZE(tasks); i++) {
		KUNIT_ASSERT_FALSE(test, IS_ERR(tasks[i]));
		get_task_struct(tasks[i]);
	}
	KUNIT_EXPECT_TRUE(test, wait_event_timeout(listener->wait,
						   atomic_read(&listener->taken) == 600,
						   CONN_LONG));
	for (i = 0; i < ARRAY_SIZE(tasks); i++) {
		KUNIT_EXPECT_EQ(test, 0, kthread_stop(tasks[i]));
		put_task_struct(tasks[i]);
	}
	/* A call counts the last completion shortly after it has polled it. */
	do {
		calls = atomic_read(&listener->calls);
		schedule_timeout_uninterruptible(HZ / 50);
	} while (calls != atomic_read(&listener->calls));
	expect_calls(test, listener, calls);
	KUNIT_EXPECT_EQ(test, 0, listener->ended);
}

/* ready() also runs for completions that a teardown finds while no consumer polls. */
static void test_stash_tells(struct kunit *test)
{
	struct listener *listener = listener_new(test);
	struct conn_pair *pair = listener_pair(test, listener);
	struct krdma_cq *cq = pair->cq;
	struct krdma_wc done[2];

	fake_stall(pair->fake, NULL);
	KUNIT_ASSERT_EQ(test, 5, conn_post_writes(&pair->client, 0, 5));
	KUNIT_EXPECT_EQ(test, 0, krdma_cq_arm(pair->cq));
	expect_calls(test, listener, 0);
	/* Teardown does not wait for a consumer that polls, and none does. */
	pair->cq = NULL;
	conn_end_close(&pair->client);
	pair->cq = cq;
	KUNIT_EXPECT_TRUE(test, wait_event_timeout(listener->wait, atomic_read(&listener->calls),
						   CONN_LONG));
	/* As long as there are completions, polling is worthwhile, and arming is not needed. */
	KUNIT_EXPECT_EQ(test, 1, krdma_cq_arm(cq));
	KUNIT_EXPECT_EQ(test, 2, krdma_cq_poll(cq, done, 2));
	KUNIT_EXPECT_EQ(test, 1, krdma_cq_arm(cq));
	KUNIT_EXPECT_EQ(test, 2, krdma_cq_poll(cq, done, 2));
	KUNIT_EXPECT_EQ(test, 1, krdma_cq_poll(cq, done, 2));
	KUNIT_EXPECT_EQ(test, KRDMA_WC_WR_FLUSH_ERR, done[0].status);
	KUNIT_EXPECT_EQ(test, 0, krdma_cq_poll(cq, done, 2));
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&listener->misplaced));
}

/* A call at the end of a connection that asks for another one gets it, too. */
static void test_end_calls_again(struct kunit *test)
{
	struct listener *listener = listener_new(test);
	struct conn_pair *pair = listener_pair(test, listener);
	struct krdma_cq *cq = pair->cq;

	atomic_set(&listener->again, 300);
	/* The fixture does not poll. */
	pair->cq = NULL;
	conn_end_close(&pair->client);
	pair->cq = cq;
	KUNIT_EXPECT_TRUE(test, wait_event_timeout(listener->wait,
						   atomic_read(&listener->calls) > 300,
						   CONN_LONG));
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&listener->misplaced));
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&listener->overlaps));
}

/* Also without an event of the device: receives that are flushed. */
static void test_given_back_tells(struct kunit *test)
{
	static const struct conn_setup setup = { .where = KRDMA_CONTEXT_POLL, .srq_depth = 1 };
	struct listener *listener = listener_new(test);
	struct conn_pair *pair = conn_pair_open(test, &setup);
	struct krdma_recv_wr recv_wrs[3] = {};
	struct krdma_wc done[4];
	struct krdma_srq_attr attr = {
		.depth = ARRAY_SIZE(recv_wrs), .cq = listener_queue(pair, listener),
	};
	struct krdma_srq *srq = krdma_srq_create(pair->session, &attr);

	KUNIT_ASSERT_FALSE(test, IS_ERR(srq));
	KUNIT_EXPECT_EQ(test, 3, krdma_srq_post_recv(srq, recv_wrs, 3));
	KUNIT_EXPECT_EQ(test, 0, krdma_cq_arm(attr.cq));
	expect_calls(test, listener, 0);
	krdma_srq_close(srq);
	krdma_srq_put(srq);
	KUNIT_EXPECT_TRUE(test, wait_event_timeout(listener->wait, atomic_read(&listener->calls),
						   CONN_LONG));
	msleep(20);
	KUNIT_EXPECT_EQ(test, 3, krdma_cq_poll(attr.cq, done, ARRAY_SIZE(done)));
	KUNIT_EXPECT_EQ(test, 0, krdma_cq_arm(attr.cq));
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&listener->misplaced));
	krdma_cq_put(attr.cq);
}

static struct krdma_srq *srq_with_receives(struct conn_pair *pair, struct krdma_cq *cq,
					   u32 depth, u64 wr_id)
{
	struct krdma_recv_wr recv_wr = { .wr_id = wr_id };
	struct krdma_srq_attr attr = { .depth = depth, .cq = cq };
	struct krdma_srq *srq = krdma_srq_create(pair->session, &attr);
	u32 i;

	for (i = 0; !IS_ERR(srq) && i < depth; i++, recv_wr.wr_id++)
		KUNIT_EXPECT_EQ(pair->test, 1, krdma_srq_post_recv(srq, &recv_wr, 1));
	return srq;
}

/* The end of an SRQ gives its receives back, which stay in the CQ's backlog. */
static void end_with_receives(struct conn_pair *pair, struct krdma_cq *cq, struct krdma_srq *srq)
{
	unsigned int attached = refcount_read(&cq->refs);

	KUNIT_ASSERT_FALSE(pair->test, IS_ERR(srq));
	krdma_srq_close(srq);
	krdma_srq_put(srq);
	KUNIT_ASSERT_TRUE(pair->test, conn_until(pair, refcount_read(&cq->refs) < attached));
}

static void expect_no_room(struct kunit *test, struct conn_pair *pair, struct krdma_cq *cq,
			   u32 depth)
{
	struct krdma_srq *srq = srq_with_receives(pair, cq, depth, 0);

	KUNIT_EXPECT_PTR_EQ(test, (void *)ERR_PTR(-ENOSPC), (void *)srq);
	if (!IS_ERR(srq))
		end_with_receives(pair, cq, srq);
}

/* Completions that nobody has taken keep their places after the end of what they are of. */
static void test_left_behind(struct kunit *test)
{
	static const struct conn_setup setup = { .where = KRDMA_CONTEXT_POLL, .srq_depth = 1 };
	struct krdma_cq_attr attr = { .depth = 8, .where = KRDMA_CONTEXT_POLL, .vector = -1 };
	struct conn_pair *pair = conn_pair_open(test, &setup);
	struct krdma_cq *cq = krdma_cq_create(pair->dev, &attr);
	struct krdma_wc wcs[8];
	u64 wr_id;

	KUNIT_ASSERT_FALSE(test, IS_ERR(cq));
	end_with_receives(pair, cq, srq_with_receives(pair, cq, 5, 100));
	expect_no_room(test, pair, cq, 4);
	end_with_receives(pair, cq, srq_with_receives(pair, cq, 3, 105));
	expect_no_room(test, pair, cq, 1);
	KUNIT_ASSERT_EQ(test, 6, krdma_cq_poll(cq, wcs, 6));
	for (wr_id = 100; wr_id < 106; wr_id++)
		KUNIT_EXPECT_EQ(test, wr_id, wcs[wr_id - 100].wr_id);
	expect_no_room(test, pair, cq, 7);
	end_with_receives(pair, cq, srq_with_receives(pair, cq, 6, 108));
	KUNIT_ASSERT_EQ(test, 8, krdma_cq_poll(cq, wcs, 8));
	for (wr_id = 106; wr_id < 114; wr_id++)
		KUNIT_EXPECT_EQ(test, wr_id, wcs[wr_id - 106].wr_id);
	KUNIT_EXPECT_EQ(test, 0, krdma_cq_poll(cq, wcs, 8));
	/* All of it is free again, and what is not polled costs nothing at the end. */
	end_with_receives(pair, cq, srq_with_receives(pair, cq, 8, 114));
	krdma_cq_put(cq);
}

/**
 * struct occasion - a thread that causes calls of ready()
 * @listener: the consumer
 * @end: the end that posts
 * @task: the thread
 */
struct occasion {
	struct listener *listener;
	struct conn_end *end;
	struct task_struct *task;
};

static int give_occasions(void *data)
{
	struct occasion *occasion = data;
	struct krdma_cq *cq = occasion->listener->cq;
	struct krdma_wc done[4];
	int left = 1000;

	while (!kthread_should_stop()) {
		krdma_cq_arm(cq);
		if (left && conn_post_writes(occasion->end, 0, 1) == 1)
			left--;
		krdma_cq_poll(cq, done, ARRAY_SIZE(done));
		cond_resched();
	}
	return 0;
}

static void occasion_start(struct kunit *test, struct occasion *occasion)
{
	occasion->task = kthread_create(give_occasions, occasion, "occasion");
	KUNIT_ASSERT_FALSE(test, IS_ERR(occasion->task));
	/* Softirqs run on the processor that raises them: not on the one that puts the CQ. */
	kthread_bind(occasion->task,
		     cpumask_any_but(cpu_online_mask, raw_smp_processor_id()));
	wake_up_process(occasion->task);
}

/* The put waits for the call in progress, and none comes after it. */
static void test_put_against_ready(struct kunit *test)
{
	unsigned int i, met = 0;

	if (num_online_cpus() < 2)
		kunit_skip(test, "takes two processors");
	for (i = 0; i < 16; i++) {
		struct listener *listener = listener_new(test);
		struct conn_pair *pair = listener_pair(test, listener);
		struct occasion occasion = { .listener = listener, .end = &pair->client };
		unsigned long end = jiffies + HZ;
		int calls;

		listener->linger_us = 10 + 100 * (i % 4);
		pair->fake->notify = FAKE_NOTIFY_IRQS_OFF + i % (FAKE_NOTIFY_HARDIRQ + 1);
		occasion_start(test, &occasion);
		/* Mostly during a call. */
		while (!atomic_read(&listener->inside) && time_before(jiffies, end))
			cpu_relax();
		met += atomic_read(&listener->inside);
		krdma_cq_put(pair->cq);
		KUNIT_EXPECT_EQ(test, 0, atomic_read(&listener->inside));
		calls = atomic_read(&listener->calls);
		WRITE_ONCE(listener->is_put, true);
		/* The connections still hold the CQ. */
		usleep_range(4000, 6000);
		kthread_stop(occasion.task);
		pair->cq = NULL;
		conn_pair_end(pair);
		KUNIT_EXPECT_EQ(test, calls, atomic_read(&listener->calls));
		KUNIT_EXPECT_EQ(test, 0, atomic_read(&listener->late));
		KUNIT_EXPECT_EQ(test, 0, atomic_read(&listener->overlaps));
	}
	/* Otherwise this has proved nothing. */
	KUNIT_EXPECT_GT(test, met, 0);
}

/* A sleeping waiter is woken by the end, armed or not. */
static void test_removal_tells(struct kunit *test)
{
	unsigned int armed;

	for (armed = 0; armed < 2; armed++) {
		struct listener *listener = listener_new(test);
		struct conn_pair *pair = conn_pair_open(test, &polled);
		struct krdma_cq *cq;

		listener->poll = true;
		atomic_set(&listener->again, 3);
		cq = listener_queue(pair, listener);
		if (armed)
			KUNIT_EXPECT_EQ(test, 0, krdma_cq_arm(cq));
		expect_calls(test, listener, 0);
		test_device_unregister(pair->device);
		expect_calls(test, listener, 4);
		KUNIT_EXPECT_EQ(test, -ENODEV, listener->ended);
		KUNIT_EXPECT_EQ(test, -ENODEV, krdma_cq_arm(cq));
		krdma_cq_put(cq);
		expect_calls(test, listener, 4);
		conn_pair_close(pair);
	}
}

static struct kunit_case queue_ready_cases[] = {
	KUNIT_CASE(test_arm_elsewhere),
	KUNIT_CASE_SLOW(test_arm_tells),
	KUNIT_CASE(test_arm_that_rings),
	KUNIT_CASE(test_arm_after_part),
	KUNIT_CASE(test_arm_after_one),
	KUNIT_CASE(test_ready_again),
	KUNIT_CASE(test_ready_polls),
	KUNIT_CASE(test_stash_tells),
	KUNIT_CASE(test_end_calls_again),
	KUNIT_CASE(test_given_back_tells),
	KUNIT_CASE(test_left_behind),
	KUNIT_CASE_SLOW(test_put_against_ready),
	KUNIT_CASE(test_removal_tells),
	{}
};

static struct kunit_suite queue_ready_suite = {
	.name = "krdma_cq_ready",
	.init = test_objects_init,
	.test_cases = queue_ready_cases,
};

kunit_test_suite(queue_ready_suite);
