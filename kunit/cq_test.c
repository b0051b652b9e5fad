// SPDX-License-Identifier: GPL-2.0
/* CQs: their capacity, their three contexts, consumers that poll and wait, and their end. */
#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/slab.h>

#include <krdma/krdma.h>

#include "cm/conn.h"
#include "conn_fixture.h"
#include "objects.h"
#include "io/cq.h"

static const enum krdma_context contexts[] = {
	KRDMA_CONTEXT_WORKQUEUE,
	KRDMA_CONTEXT_SOFTIRQ,
	KRDMA_CONTEXT_POLL,
};

static void expect_no_queue(struct kunit *test, struct conn_pair *pair, int error,
			    const struct krdma_cq_attr *attr)
{
	struct krdma_cq *cq = krdma_cq_create(pair->dev, attr);

	KUNIT_EXPECT_PTR_EQ(test, (void *)ERR_PTR(error), (void *)cq);
	if (!IS_ERR(cq))
		krdma_cq_put(cq);
}

static int live_queues(struct conn_pair *pair)
{
	return atomic_read(&pair->fake->live[FAKE_CQ]);
}

static void test_creation(struct kunit *test)
{
	static const struct conn_setup setup = {};
	struct conn_pair *pair = conn_pair_open(test, &setup);
	struct krdma_cq *cq;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(contexts); i++) {
		struct krdma_cq_attr attr = { .where = contexts[i], .vector = -1 };

		expect_no_queue(test, pair, -EINVAL, &attr);
		attr.depth = CONN_CQE + 1;
		expect_no_queue(test, pair, -EINVAL, &attr);
		attr.depth = U32_MAX;
		expect_no_queue(test, pair, -EINVAL, &attr);
		attr.depth = CONN_CQE;
		attr.where = KRDMA_CONTEXT_POLL + 1;
		expect_no_queue(test, pair, -EINVAL, &attr);
		attr.where = contexts[i];

		fake_device_fail(pair->fake, FAKE_CREATE_CQ, 1, -ENOMEM);
		expect_no_queue(test, pair, -ENOMEM, &attr);
		fake_device_fail(pair->fake, FAKE_CREATE_CQ, 1, -EFAULT);
		expect_no_queue(test, pair, -EIO, &attr);
		/* The device has one completion vector; any number selects it. */
		for (attr.vector = -1; attr.vector < 3; attr.vector++) {
			cq = krdma_cq_create(pair->dev, &attr);
			KUNIT_ASSERT_FALSE(test, IS_ERR(cq));
			KUNIT_EXPECT_EQ(test, 1, live_queues(pair));
			krdma_cq_put(cq);
			KUNIT_EXPECT_TRUE(test, conn_until(pair, !live_queues(pair)));
		}
	}
	krdma_cq_put(NULL);
	test_device_unregister(pair->device);
	expect_no_queue(test, pair, -ENODEV, &(struct krdma_cq_attr) { .depth = 1 });
}

/* A connection reserves its depths and two more entries; then there is no room for another one. */
static void test_room(struct kunit *test)
{
	static const u32 depths[] = { 1, 10, 64 };
	struct conn_setup setup = {};
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(contexts); i++) {
		struct conn_pair *pair;

		setup.where = contexts[i];
		pair = conn_pair_open(test, &setup);
		krdma_cq_put(pair->cq);
		pair->cq = NULL;
		conn_client_resolve(pair);
		for (j = 0; j < ARRAY_SIZE(depths); j++) {
			struct krdma_cq_attr attr = {
				.depth = 2 * depths[j] + KRDMA_CQ_OVERHEAD - 1,
				.where = contexts[i],
			};

			pair->setup.attr.send_depth = depths[j];
			pair->setup.attr.recv_depth = depths[j];
			pair->cq = krdma_cq_create(pair->dev, &attr);
			KUNIT_ASSERT_FALSE(test, IS_ERR(pair->cq));
			KUNIT_EXPECT_EQ(test, -ENOSPC, conn_end_prepare(&pair->client));
			krdma_cq_put(pair->cq);

			attr.depth++;
			pair->cq = krdma_cq_create(pair->dev, &attr);
			KUNIT_ASSERT_FALSE(test, IS_ERR(pair->cq));
			KUNIT_EXPECT_EQ(test, 0, conn_end_prepare(&pair->client));
			KUNIT_EXPECT_EQ(test, -EALREADY, conn_end_prepare(&pair->client));
			conn_end_close(&pair->client);
			/* The entries are free again. */
			conn_pair_renew(pair);
			conn_client_resolve(pair);
			KUNIT_EXPECT_EQ(test, 0, conn_end_prepare(&pair->client));
			conn_pair_renew(pair);
			krdma_cq_put(pair->cq);
			pair->cq = NULL;
			conn_client_resolve(pair);
		}
		conn_pair_end(pair);
	}
}

/* A connection that completes there keeps the CQ; nothing else does. */
static void test_put_while_used(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		struct conn_setup setup = { .where = contexts[i], .shared = true };
		struct conn_pair *pair = conn_pair_new(test, &setup);

		krdma_cq_put(pair->cq);
		KUNIT_ASSERT_EQ(test, 20, conn_post_writes(&pair->client, 0, 20));
		KUNIT_ASSERT_TRUE(test, conn_until(pair, conn_told(&pair->client.sends) == 20));
		KUNIT_EXPECT_EQ(test, 1, live_queues(pair));
		/* The other connection ends by itself, soon. */
		conn_end_close(&pair->client);
		conn_end_close(&pair->server);
		pair->cq = NULL;
		KUNIT_EXPECT_TRUE(test, conn_until(pair, !live_queues(pair)));
		conn_expect_whole(&pair->client);
		conn_pair_end(pair);
	}
}

/*
 * The contexts
 */

static int poster(void *data)
{
	struct conn_end *end = data;
	int left = 300;

	while (left) {
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

/* Both ends post as fast as they can with one CQ, in whatever context the device notifies. */
static void contexts_under_load(struct kunit *test, enum krdma_context where,
				enum fake_notify notify)
{
	struct conn_setup setup = {
		.where = where, .shared = true, .attr = { .send_depth = 30, .recv_depth = 5 },
	};
	struct conn_pair *pair = conn_pair_new(test, &setup);
	struct task_struct *tasks[2];
	int i;

	pair->fake->notify = notify;
	tasks[0] = kthread_run(poster, &pair->client, "poster");
	tasks[1] = kthread_run(poster, &pair->server, "poster");
	for (i = 0; i < 2; i++)
		if (!IS_ERR(tasks[i]))
			get_task_struct(tasks[i]);
	KUNIT_EXPECT_TRUE(test, conn_until(pair, conn_told(&pair->client.sends) == 300 &&
					   conn_told(&pair->server.sends) == 300));
	for (i = 0; i < 2; i++) {
		KUNIT_EXPECT_EQ(test, 0, kthread_stop(tasks[i]));
		put_task_struct(tasks[i]);
	}
	conn_pair_close(pair);
	conn_expect_whole(&pair->client);
	conn_expect_whole(&pair->server);
	KUNIT_EXPECT_EQ(test, 0, pair->client.sends.failed + pair->server.sends.failed);
	conn_pair_end(pair);
}

/* Proves: B4, B5 */
static void test_contexts(struct kunit *test)
{
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(contexts); i++)
		for (j = FAKE_NOTIFY_IRQS_OFF; j <= FAKE_NOTIFY_HARDIRQ; j++)
			contexts_under_load(test, contexts[i], j);
}

/*
 * Polling and waiting
 */

static void test_polling_elsewhere(struct kunit *test)
{
	struct krdma_wc wc;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		struct conn_setup setup = { .where = contexts[i], .shared = true };
		struct conn_pair *pair = conn_pair_open(test, &setup);

		KUNIT_EXPECT_EQ(test, -EINVAL, krdma_cq_poll(pair->cq, &wc, 1));
		KUNIT_EXPECT_EQ(test, -EINVAL, krdma_cq_wait(pair->cq, 1));
		conn_pair_end(pair);
	}
}

static const struct conn_setup polled = {
	.where = KRDMA_CONTEXT_POLL,
	.attr = { .send_depth = 40, .recv_depth = 40 },
};

static void test_poll_and_wait(struct kunit *test)
{
	struct conn_pair *pair = conn_pair_new(test, &polled);
	struct krdma_wc *done = kunit_kcalloc(test, 64, sizeof(*done), GFP_KERNEL);
	unsigned long before;
	int count, i;

	KUNIT_ASSERT_NOT_NULL(test, done);
	KUNIT_EXPECT_EQ(test, -EINVAL, krdma_cq_poll(pair->cq, done, 0));
	KUNIT_EXPECT_EQ(test, -EINVAL, krdma_cq_poll(pair->cq, done, -1));
	KUNIT_EXPECT_EQ(test, 0, krdma_cq_poll(pair->cq, done, 1));
	before = jiffies;
	KUNIT_EXPECT_EQ(test, -ETIMEDOUT, krdma_cq_wait(pair->cq, 50));
	KUNIT_EXPECT_GE(test, jiffies - before, msecs_to_jiffies(50));
	KUNIT_EXPECT_EQ(test, -ETIMEDOUT, krdma_cq_wait(pair->cq, 0));

	/* Any number at a time, in order, and no more than there are. */
	for (count = 1; count <= 37; count += 4) {
		u32 first = pair->client.sends.accepted;
		int got, taken = 0;

		KUNIT_ASSERT_EQ(test, 37, conn_post_writes(&pair->client, 0, 37));
		while (taken < 37) {
			KUNIT_ASSERT_EQ(test, 0, krdma_cq_wait(pair->cq, CONN_LONG_MS));
			got = krdma_cq_poll(pair->cq, done, count);
			KUNIT_ASSERT_EQ(test, min(count, 37 - taken), got);
			for (i = 0; i < got; i++) {
				KUNIT_EXPECT_EQ(test, first + taken + i, done[i].wr_id);
				KUNIT_EXPECT_PTR_EQ(test, pair->client.conn, done[i].conn);
				KUNIT_EXPECT_PTR_EQ(test, (void *)&pair->client, done[i].context);
				KUNIT_EXPECT_EQ(test, KRDMA_OP_WRITE, done[i].opcode);
				KUNIT_EXPECT_EQ(test, 0, done[i].status);
			}
			taken += got;
		}
		KUNIT_EXPECT_EQ(test, 0, krdma_cq_poll(pair->cq, done, count));
	}
}

/**
 * struct waiter - a thread that waits for a CQ
 * @pair: the connections of the CQ
 * @task: the thread
 * @ret: result of krdma_cq_wait()
 * @begun: the thread runs; a thread that is stopped earlier never does
 * @done: the thread is done
 */
struct waiter {
	struct conn_pair *pair;
	struct task_struct *task;
	int ret;
	struct completion begun;
	struct completion done;
};

static int wait_once(void *data)
{
	struct waiter *waiter = data;

	complete(&waiter->begun);
	waiter->ret = krdma_cq_wait(waiter->pair->cq, CONN_LONG_MS);
	complete(&waiter->done);
	return 0;
}

static void waiter_start(struct kunit *test, struct waiter *waiter, struct conn_pair *pair)
{
	waiter->pair = pair;
	init_completion(&waiter->begun);
	init_completion(&waiter->done);
	waiter->task = kthread_run(wait_once, waiter, "waiter");
	KUNIT_ASSERT_FALSE(test, IS_ERR(waiter->task));
	wait_for_completion(&waiter->begun);
	/* Long enough for the thread to sleep, almost always. */
	KUNIT_EXPECT_EQ(test, 0, wait_for_completion_timeout(&waiter->done, HZ / 20));
}

static void test_interrupted(struct kunit *test)
{
	struct conn_pair *pair = conn_pair_open(test, &polled);
	struct waiter waiter;

	waiter_start(test, &waiter, pair);
	/* For a kernel thread, this is what a signal is for a process. */
	kthread_stop(waiter.task);
	KUNIT_ASSERT_NE(test, 0, wait_for_completion_timeout(&waiter.done, CONN_LONG));
	KUNIT_EXPECT_EQ(test, -EINTR, waiter.ret);
}

/* Proves: A15 */
static void test_wake_up(struct kunit *test)
{
	struct conn_pair *pair = conn_pair_new(test, &polled);
	struct waiter waiters[3];
	enum fake_notify notify;
	unsigned int i;

	for (notify = FAKE_NOTIFY_IRQS_OFF; notify <= FAKE_NOTIFY_HARDIRQ; notify++) {
		pair->fake->notify = notify;
		for (i = 0; i < ARRAY_SIZE(waiters); i++)
			waiter_start(test, &waiters[i], pair);
		KUNIT_EXPECT_EQ(test, 1, conn_post_writes(&pair->client, 0, 1));
		for (i = 0; i < ARRAY_SIZE(waiters); i++) {
			KUNIT_ASSERT_NE(test, 0, wait_for_completion_timeout(&waiters[i].done,
									     CONN_LONG));
			KUNIT_EXPECT_EQ(test, 0, waiters[i].ret);
		}
		KUNIT_EXPECT_EQ(test, 1, conn_pair_poll(pair));
	}
}

/**
 * struct crowd - threads that poll one CQ
 * @pair: the connections of the CQ
 * @stop: set to end the threads
 * @seen: how often each wr_id was polled
 * @wrong: unexpected results
 * @total: completions that were polled
 */
struct crowd {
	struct conn_pair *pair;
	bool stop;
	atomic_t seen[CONN_COOKIES];
	atomic_t wrong;
	atomic_t total;
};

static int crowd_poll(void *data)
{
	struct crowd *crowd = data;
	struct krdma_wc done[3];
	int count, i;

	while (!READ_ONCE(crowd->stop)) {
		count = krdma_cq_wait(crowd->pair->cq, 20);
		/* kthread_stop() interrupts the last call. */
		if (count && count != -ETIMEDOUT && count != -EINTR)
			atomic_set(&crowd->wrong, count);
		count = krdma_cq_poll(crowd->pair->cq, done, ARRAY_SIZE(done));
		if (count < 0)
			atomic_set(&crowd->wrong, count);
		for (i = 0; i < count; i++) {
			atomic_inc(&crowd->seen[done[i].wr_id]);
			atomic_inc(&crowd->total);
		}
	}
	return 0;
}

/* Proves: A14 */
static void test_many_poll(struct kunit *test)
{
	struct conn_pair *pair = conn_pair_new(test, &polled);
	struct task_struct *tasks[4];
	struct crowd *crowd;
	unsigned int i, wrong = 0;

	crowd = kunit_kzalloc(test, sizeof(*crowd), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, crowd);
	crowd->pair = pair;
	for (i = 0; i < ARRAY_SIZE(tasks); i++) {
		tasks[i] = kthread_run(crowd_poll, crowd, "crowd");
		KUNIT_ASSERT_FALSE(test, IS_ERR(tasks[i]));
		get_task_struct(tasks[i]);
	}
	for (i = 0; i < 1000;) {
		int ret = conn_post_writes(&pair->client, 0, min(1000 - i, 11U));

		if (ret > 0)
			i += ret;
		else
			usleep_range(20, 100);
	}
	wait_event_timeout(pair->wait, atomic_read(&crowd->total) >= 1000, HZ);
	for (i = 0; i < 200 && atomic_read(&crowd->total) < 1000; i++)
		msleep(20);
	WRITE_ONCE(crowd->stop, true);
	for (i = 0; i < ARRAY_SIZE(tasks); i++) {
		kthread_stop(tasks[i]);
		put_task_struct(tasks[i]);
	}
	for (i = 0; i < CONN_COOKIES; i++)
		wrong += atomic_read(&crowd->seen[i]) != (i < 1000);
	KUNIT_EXPECT_EQ(test, 0, wrong);
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&crowd->wrong));
}

/*
 * Removal of the device
 */

static void test_removal_wakes(struct kunit *test)
{
	struct conn_pair *pair = conn_pair_open(test, &polled);
	struct krdma_wc done;
	struct waiter waiter;

	waiter_start(test, &waiter, pair);
	test_device_unregister(pair->device);
	KUNIT_ASSERT_NE(test, 0, wait_for_completion_timeout(&waiter.done, CONN_LONG));
	KUNIT_EXPECT_TRUE(test, waiter.ret == 0 || waiter.ret == -ENODEV);
	KUNIT_EXPECT_EQ(test, -ENODEV, krdma_cq_wait(pair->cq, 1));
	KUNIT_EXPECT_EQ(test, -ENODEV, krdma_cq_poll(pair->cq, &done, 1));
}

static int remove_device(void *data)
{
	struct waiter *waiter = data;

	test_device_unregister(waiter->pair->device);
	complete(&waiter->done);
	return 0;
}

/* Not until all completions have arrived does a poll report that there are no more. */
static void test_removal_tells_all(struct kunit *test)
{
	struct conn_pair *pair = conn_pair_new(test, &polled);
	struct waiter waiter = { .pair = pair };
	struct krdma_wc done[8];
	struct conn_end *client = &pair->client;
	int count, i, early = 0, lost;

	fake_stall(pair->fake, NULL);
	KUNIT_ASSERT_EQ(test, 30, conn_post_writes(client, 0, 30));
	KUNIT_ASSERT_EQ(test, 30, conn_receive_empty(client, 30));
	/* Teardown waits for this lock, as it would for any caller inside a call. */
	mutex_lock(&client->conn->cm_lock);
	/* From here on the unregistration keeps the teardown waiting. */
	init_completion(&waiter.done);
	waiter.task = kthread_run(remove_device, &waiter, "remover");
	conn_until(pair, conn_heard(client, KRDMA_EVENT_DEVICE_REMOVAL));
	while ((count = krdma_cq_poll(pair->cq, done, ARRAY_SIZE(done))) > 0)
		for (i = 0; i < count; i++)
			early += done[i].context == client;
	KUNIT_EXPECT_EQ(test, 0, count);
	KUNIT_EXPECT_NE(test, -ENODEV, krdma_cq_wait(pair->cq, 10));
	krdma_conn_unlock(client->conn);
	KUNIT_EXPECT_NE(test, 0, wait_for_completion_timeout(&waiter.done, CONN_LONG));
	lost = 60 - early - conn_told(&client->sends) - conn_told(&client->recv_wrs);
	for (; (count = krdma_cq_poll(pair->cq, done, 8)) > 0;)
		for (i = 0; i < count; i++)
			lost -= done[i].context == client;
	KUNIT_EXPECT_EQ(test, -ENODEV, count);
	KUNIT_EXPECT_EQ(test, 0, lost);
	KUNIT_EXPECT_EQ(test, -ENODEV, krdma_cq_wait(pair->cq, 1));
}

#define VECTORS	3

static void tune_vectors(struct fake_device *fake)
{
	fake->ib.num_comp_vectors = VECTORS;
}

/*
 * CQs spread evenly over the vectors, on whichever processor they are created.  A requested vector
 * is used.
 */
static void test_vectors(struct kunit *test)
{
	static const struct conn_setup setup = { .tune = tune_vectors };
	struct krdma_cq_attr attr = { .depth = 1, .vector = VECTORS + 1 };
	struct conn_pair *pair = conn_pair_open(test, &setup);
	struct krdma_cq *cqs[4 * VECTORS];
	unsigned int uses[VECTORS] = {};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cqs); i++) {
		/* Two of the first vector but one, which are made up for. */
		if (i == 2)
			attr.vector = -1;
		cqs[i] = krdma_cq_create(pair->dev, &attr);
		KUNIT_ASSERT_FALSE(test, IS_ERR(cqs[i]));
		uses[cqs[i]->vector]++;
		if (i == 1 || i == 5)
			KUNIT_EXPECT_EQ(test, 2, uses[1]);
	}
	for (i = 0; i < VECTORS; i++)
		KUNIT_EXPECT_EQ(test, ARRAY_SIZE(cqs) / VECTORS, uses[i]);

	/* Where queues have gone, the next ones go. */
	for (i = 0; i < ARRAY_SIZE(cqs); i++)
		if (cqs[i]->vector == 2) {
			krdma_cq_put(cqs[i]);
			cqs[i] = NULL;
		}
	KUNIT_EXPECT_TRUE(test, conn_until(pair, live_queues(pair) <=
						 ARRAY_SIZE(cqs) - uses[2]));
	for (i = 0; i < ARRAY_SIZE(cqs); i++) {
		if (!cqs[i]) {
			cqs[i] = krdma_cq_create(pair->dev, &attr);
			KUNIT_ASSERT_FALSE(test, IS_ERR(cqs[i]));
			KUNIT_EXPECT_EQ(test, 2, cqs[i]->vector);
		}
	}
	for (i = 0; i < ARRAY_SIZE(cqs); i++)
		krdma_cq_put(cqs[i]);
	conn_pair_close(pair);
}

static struct kunit_case queue_cases[] = {
	KUNIT_CASE(test_creation),
	KUNIT_CASE(test_vectors),
	KUNIT_CASE_SLOW(test_room),
	KUNIT_CASE_SLOW(test_put_while_used),
	KUNIT_CASE_SLOW(test_contexts),
	KUNIT_CASE(test_polling_elsewhere),
	KUNIT_CASE(test_poll_and_wait),
	KUNIT_CASE(test_interrupted),
	KUNIT_CASE_SLOW(test_wake_up),
	KUNIT_CASE_SLOW(test_many_poll),
	KUNIT_CASE(test_removal_wakes),
	KUNIT_CASE(test_removal_tells_all),
	{}
};

static struct kunit_suite queue_suite = {
	.name = "krdma_cq",
	.init = test_objects_init,
	.test_cases = queue_cases,
};

kunit_test_suite(queue_suite);
