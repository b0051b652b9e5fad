// SPDX-License-Identifier: GPL-2.0
/* Full queues, shared CQs, order, and that every completion arrives exactly once. */
#include <linux/bitmap.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "transfer.h"

/*
 * Full queues
 */

static bool flow_open(struct transfer *transfer, struct core_test *test, u32 depth)
{
	struct krdma_conn_attr attr = {
		.send_depth = depth, .recv_depth = depth, .max_inline = 32,
	};

	return transfer_begin(transfer, test, &attr, TRANSFER_SIZE);
}

#define FULL_DEPTH	8

/*
 * Sends more messages than the SQ can hold, before the peer has receives.  A work request that has
 * not completed occupies the SQ: RoCE waits for the peer's receive, and if the consumer polls,
 * nothing completes before it polls.
 */
/* Proves: E11 */
static void send_queue_full(struct core_test *test)
{
	struct krdma_send_wr wrs[FULL_DEPTH + 4] = {};
	struct transfer transfer;
	struct core_end *client, *server;
	unsigned int spaces;

	if (test->iwarp && test->where != KRDMA_CONTEXT_POLL) {
		test->skipped = "iWARP waits for no receive";
		return;
	}
	if (!flow_open(&transfer, test, FULL_DEPTH))
		return;
	client = &transfer.pair->client;
	server = &transfer.pair->server;
	for (int i = 0; i < ARRAY_SIZE(wrs); i++) {
		wrs[i].wr_id = i;
		wrs[i].opcode = KRDMA_OP_SEND;
	}
	/* iWARP must not find the peer without a receive, and RoCE must. */
	for (int i = 0; test->iwarp && i < ARRAY_SIZE(wrs); i++)
		CORE_EQ(test, 1, core_receive_empty(server, i));
	CORE_EQ(test, FULL_DEPTH, krdma_conn_post_send(client->conn, wrs, ARRAY_SIZE(wrs)));
	CORE_EQ(test, -EAGAIN, krdma_conn_post_send(client->conn, wrs, 1));
	spaces = client->spaces;
	for (int i = 0; !test->iwarp && i < ARRAY_SIZE(wrs); i++)
		CORE_EQ(test, 1, core_receive_empty(server, i));
	for (int i = 0; i < FULL_DEPTH; i++)
		core_expect_send(client, i, KRDMA_WC_SUCCESS);
	CORE_TRUE(test, client->spaces > spaces);
	CORE_EQ(test, 4, krdma_conn_post_send(client->conn, wrs + FULL_DEPTH, 4));
	for (int i = FULL_DEPTH; i < ARRAY_SIZE(wrs); i++)
		core_expect_send(client, i, KRDMA_WC_SUCCESS);
	for (int i = 0; i < ARRAY_SIZE(wrs); i++)
		core_expect_receive(server, i, KRDMA_WC_SUCCESS, 0, NULL);
	transfer_end(&transfer);
}

/* Waits until the space callback has run more than @spaces times. */
static bool await_space(struct core_end *end, unsigned int spaces)
{
	unsigned long deadline = jiffies + msecs_to_jiffies(CORE_TIMEOUT_MS);

	do {
		core_pump(end->pair);
		if (READ_ONCE(end->spaces) != spaces)
			return true;
		usleep_range(200, 500);
	} while (time_before(jiffies, deadline));
	return CORE_TRUE(end->test, false);
}

/* Proves: E11 */
static void receive_queue_full(struct core_test *test)
{
	struct krdma_recv_wr recv_wrs[FULL_DEPTH + 3] = {};
	struct transfer transfer;
	struct core_end *client, *server;

	if (!flow_open(&transfer, test, FULL_DEPTH))
		return;
	client = &transfer.pair->client;
	server = &transfer.pair->server;
	for (int i = 0; i < ARRAY_SIZE(recv_wrs); i++)
		recv_wrs[i].wr_id = i;
	CORE_EQ(test, FULL_DEPTH,
		krdma_conn_post_recv(client->conn, recv_wrs, ARRAY_SIZE(recv_wrs)));
	CORE_EQ(test, -EAGAIN, krdma_conn_post_recv(client->conn, recv_wrs, 1));
	CORE_EQ(test, 1, core_send(server, 1, &transfer.to, 0, 0, 0));
	core_expect_send(server, 1, KRDMA_WC_SUCCESS);
	core_expect_receive(client, 0, KRDMA_WC_SUCCESS, 0, NULL);
	/*
	 * The credits are back when the completion callback has returned, as the space callback
	 * reports.
	 */
	await_space(client, 0);
	CORE_EQ(test, 1, krdma_conn_post_recv(client->conn, recv_wrs + FULL_DEPTH, 3));
	transfer_end(&transfer);
}

/* Unsignaled work requests free their WQEs, although they have no completion. */
static void silent_reclaim(struct core_test *test)
{
	struct krdma_conn_info info;
	struct transfer transfer;
	struct core_end *client;
	unsigned int spaces;
	int posted = 0;
	int ret;

	if (!flow_open(&transfer, test, 4))
		return;
	client = &transfer.pair->client;
	while (posted < 200 && !test->failures) {
		spaces = READ_ONCE(client->spaces);
		ret = core_rdma(client, posted, KRDMA_OP_WRITE, &transfer.from, 0, 64,
				&transfer.to, 0, KRDMA_POST_UNSIGNALED);
		if (ret == 1)
			posted++;
		else if (CORE_EQ(test, -EAGAIN, ret))
			await_space(client, spaces);
	}
	spaces = READ_ONCE(client->spaces);
	while (core_rdma(client, 999, KRDMA_OP_READ, &transfer.from, 0, 64, &transfer.to, 0, 0) ==
	       -EAGAIN && await_space(client, spaces))
		spaces = READ_ONCE(client->spaces);
	core_expect_send(client, 999, KRDMA_WC_SUCCESS);
	core_expect_nothing(client);
	krdma_conn_query(client->conn, &info);
	CORE_EQ(test, 201, info.sends_completed);
	transfer_end(&transfer);
}

/*
 * Shared CQs
 */

#define SHARED_DEPTH	10

/* Proves: D4 */
static void queue_budget(struct core_test *test)
{
	/* Capacity for two connections, and almost for a third. */
	struct krdma_cq_attr attr = {
		.depth = 3 * (2 * SHARED_DEPTH + KRDMA_CQ_OVERHEAD) - 1,
		.where = test->where,
		.vector = -1,
	};
	struct krdma_cq *cq = krdma_cq_create(test->dev, &attr);
	struct core_pair *pairs[3] = {};

	if (!CORE_OK_PTR(test, cq))
		return;
	for (int i = 0; i < ARRAY_SIZE(pairs); i++) {
		pairs[i] = core_pair_alloc(test);
		if (!pairs[i] || !core_pair_listen(pairs[i], 0) || !core_pair_resolve(pairs[i]))
			goto out;
		pairs[i]->client_attr.cq = cq;
		pairs[i]->client_attr.send_depth = SHARED_DEPTH;
		pairs[i]->client_attr.recv_depth = SHARED_DEPTH;
	}
	for (int i = 0; i < ARRAY_SIZE(pairs); i++)
		CORE_EQ(test, i < 2 ? 0 : -ENOSPC,
			krdma_conn_create_qp(pairs[i]->client.conn, &pairs[i]->client_attr));
	core_pair_close(pairs[0]);
	pairs[0] = NULL;
	CORE_EQ(test, 0, krdma_conn_create_qp(pairs[2]->client.conn, &pairs[2]->client_attr));
out:
	for (int i = 0; i < ARRAY_SIZE(pairs); i++)
		core_pair_close(pairs[i]);
	krdma_cq_put(cq);

	attr.depth = 0;
	CORE_ERR_PTR(test, -EINVAL, krdma_cq_create(test->dev, &attr));
	attr.depth = test->attr.limits.max_cqe + 1;
	CORE_ERR_PTR(test, -EINVAL, krdma_cq_create(test->dev, &attr));
	attr.depth = 10;
	attr.where = 77;
	CORE_ERR_PTR(test, -EINVAL, krdma_cq_create(test->dev, &attr));
}

/* Proves: A15, D13 */
static void queue_wait(struct core_test *test)
{
	struct krdma_cq_attr attr = {
		.depth = 10, .where = KRDMA_CONTEXT_SOFTIRQ, .vector = -1,
	};
	struct krdma_wc wc;
	struct krdma_cq *cq;
	struct core_pair *pair;
	int ret;

	cq = krdma_cq_create(test->dev, &attr);
	if (CORE_OK_PTR(test, cq)) {
		CORE_EQ(test, -EINVAL, krdma_cq_wait(cq, 1));
		CORE_EQ(test, -EINVAL, krdma_cq_poll(cq, &wc, 1));
		krdma_cq_put(cq);
	}
	test->where = KRDMA_CONTEXT_POLL;
	pair = core_pair_open(test);
	if (!pair)
		return;
	CORE_EQ(test, -EINVAL, krdma_cq_poll(pair->cq, &wc, 0));
	CORE_EQ(test, 0, krdma_cq_poll(pair->cq, &wc, 1));
	do {
		ret = krdma_cq_wait(pair->cq, 20);
		core_pump(pair);
	} while (!ret);
	CORE_EQ(test, -ETIMEDOUT, ret);
	CORE_EQ(test, 1, core_receive_empty(&pair->server, 3));
	CORE_EQ(test, 1, core_send(&pair->client, 4, &(struct core_buffer) {}, 0, 0, 0));
	for (int seen = 0; seen < 2 && !test->failures;) {
		CORE_EQ(test, 0, krdma_cq_wait(pair->cq, CORE_TIMEOUT_MS));
		ret = krdma_cq_poll(pair->cq, &wc, 1);
		CORE_TRUE(test, ret >= 0);
		seen += ret;
		if (ret > 0)
			CORE_EQ(test, wc.opcode == KRDMA_OP_RECV ? 3 : 4,
				wc.wr_id);
	}
	core_pair_close(pair);
}

/*
 * Many threads that poll
 */

#define POLLERS		3
#define POLLED		600

struct polling {
	struct core_test *test;
	struct core_pair *pair;
	unsigned long seen[BITS_TO_LONGS(POLLED)];
	atomic_t count;
};

struct poller {
	struct work_struct work;
	struct polling *polling;
};

static void poll_work(struct work_struct *work)
{
	struct polling *polling = container_of(work, struct poller, work)->polling;
	struct krdma_cq *cq = polling->pair->cq;
	struct krdma_wc wcs[5];
	struct core_test *test = polling->test;
	unsigned long deadline = jiffies + msecs_to_jiffies(CORE_TIMEOUT_MS);
	int count;

	while (atomic_read(&polling->count) < POLLED && time_before(jiffies, deadline)) {
		count = krdma_cq_poll(cq, wcs, ARRAY_SIZE(wcs));
		if (!CORE_TRUE(test, count >= 0))
			return;
		for (int i = 0; i < count; i++) {
			CORE_EQ(test, KRDMA_WC_SUCCESS, wcs[i].status);
			CORE_TRUE(test, wcs[i].wr_id < POLLED &&
				  !test_and_set_bit(wcs[i].wr_id, polling->seen));
		}
		atomic_add(count, &polling->count);
		if (!count)
			krdma_cq_wait(cq, 5);
	}
}

/* Several threads poll one CQ: every completion goes to exactly one of them. */
/* Proves: A14, D13, E11 */
static void many_poll(struct core_test *test)
{
	struct workqueue_struct *workqueue = alloc_workqueue("krdma_core_test", WQ_UNBOUND, 0);
	struct polling *polling = kzalloc_obj(*polling, GFP_KERNEL);
	struct poller pollers[POLLERS];
	struct transfer transfer;
	int ret;

	test->where = KRDMA_CONTEXT_POLL;
	if (!CORE_TRUE(test, workqueue && polling) ||
	    !transfer_begin(&transfer, test, NULL, TRANSFER_SIZE))
		goto out;
	polling->test = test;
	polling->pair = transfer.pair;
	for (int i = 0; i < POLLERS; i++) {
		pollers[i].polling = polling;
		INIT_WORK_ONSTACK(&pollers[i].work, poll_work);
		queue_work(workqueue, &pollers[i].work);
	}
	for (u64 wr_id = 0; wr_id < POLLED && !test->failures;) {
		ret = core_rdma(&transfer.pair->client, wr_id, KRDMA_OP_WRITE, &transfer.from, 0,
				16, &transfer.to, 0, 0);
		if (ret == 1)
			wr_id++;
		else if (CORE_EQ(test, -EAGAIN, ret))
			usleep_range(50, 100);
	}
	for (int i = 0; i < POLLERS; i++) {
		flush_work(&pollers[i].work);
		destroy_work_on_stack(&pollers[i].work);
	}
	CORE_EQ(test, POLLED, atomic_read(&polling->count));
	CORE_TRUE(test, bitmap_full(polling->seen, POLLED));
	transfer_end(&transfer);
out:
	if (workqueue)
		destroy_workqueue(workqueue);
	kfree(polling);
}

/*
 * Order
 */

#define STREAMS		3
#define STREAM_LENGTH	300
#define ORDER_DEPTH	32

struct stream {
	struct work_struct work;
	struct order_run *order;
	u32 number;
};

/**
 * struct order_run - several senders and one receiver
 * @transfer: the connected ends
 * @streams: the senders
 * @next: number of the next message to be received from each sender
 * @ended: completed work requests of each sender
 * @posted: total of messages that were sent or are about to be sent
 * @received: total of received messages
 */
struct order_run {
	struct transfer transfer;
	struct stream streams[STREAMS];
	u32 next[STREAMS];
	atomic_t ended[STREAMS];
	atomic_t posted;
	atomic_t received;
};

static void order_receive(struct order_run *order, u64 wqe)
{
	CORE_EQ(order->transfer.test, 1, core_receive(&order->transfer.pair->server, wqe,
						      &order->transfer.to, wqe * 64, 64));
}

/* Called by the CQ, one completion at a time. */
static void order_received(struct core_end *end, const struct krdma_wc *wc)
{
	struct order_run *order = end->context;
	u32 *message = (u32 *)(order->transfer.to.data + wc->wr_id * 64);

	if (wc->opcode != KRDMA_OP_RECV || wc->status)
		return;
	CORE_EQ(end->test, 8, wc->length);
	if (CORE_TRUE(end->test, message[0] < STREAMS))
		CORE_EQ(end->test, order->next[message[0]]++, message[1]);
	/*
	 * The credit of this receive returns only after the callback, so one receive is kept in
	 * reserve.
	 */
	order_receive(order, (wc->wr_id + ORDER_DEPTH - 1) % ORDER_DEPTH);
	atomic_inc(&order->received);
}

static void order_sent(struct core_end *end, const struct krdma_wc *wc)
{
	struct order_run *order = end->context;
	u32 stream = wc->wr_id >> 32;

	if (wc->status)
		return;
	if (CORE_TRUE(end->test, stream < STREAMS))
		CORE_EQ(end->test, (u32)wc->wr_id,
			atomic_inc_return(&order->ended[stream]) - 1);
}

static void stream_work(struct work_struct *work)
{
	struct stream *stream = container_of(work, struct stream, work);
	struct order_run *order = stream->order;
	struct core_test *test = order->transfer.test;
	unsigned long deadline = jiffies + msecs_to_jiffies(2 * CORE_TIMEOUT_MS);
	u32 message[2] = { stream->number };
	struct krdma_sge sge = { .addr = (u64)message, .length = sizeof(message) };
	struct krdma_send_wr wr = {
		.opcode = KRDMA_OP_SEND, .flags = KRDMA_POST_INLINE, .sges = &sge, .sge_count = 1,
	};
	int ret;

	while (message[1] < STREAM_LENGTH && time_before(jiffies, deadline)) {
		/* A message that finds no receive is sent again much later, if at all. */
		if (atomic_read(&order->posted) - atomic_read(&order->received) >=
		    ORDER_DEPTH - 1 - STREAMS) {
			usleep_range(50, 100);
			continue;
		}
		wr.wr_id = (u64)stream->number << 32 | message[1];
		atomic_inc(&order->posted);
		ret = transfer_post(&order->transfer, &wr);
		if (ret == 1) {
			message[1]++;
			continue;
		}
		atomic_dec(&order->posted);
		if (!CORE_EQ(test, -EAGAIN, ret))
			return;
		usleep_range(50, 100);
	}
}

/* Several senders, one receiver: the messages of each sender arrive in order, once. */
/* Proves: A4, B1, B3 */
static void order(struct core_test *test)
{
	struct workqueue_struct *workqueue = alloc_workqueue("krdma_core_test", WQ_UNBOUND, 0);
	struct order_run *order = kzalloc_obj(*order, GFP_KERNEL);
	struct core_end *client, *server;

	if (!CORE_TRUE(test, workqueue && order) ||
	    !flow_open(&order->transfer, test, ORDER_DEPTH))
		goto out;
	client = &order->transfer.pair->client;
	server = &order->transfer.pair->server;
	client->context = order;
	client->complete = order_sent;
	server->context = order;
	server->complete = order_received;
	/*
	 * One WQE after another, in the order of the RQ; the first completion posts the last one.
	 */
	for (u64 wqe = 0; wqe < ORDER_DEPTH - 1; wqe++)
		order_receive(order, wqe);
	for (u32 i = 0; i < STREAMS; i++) {
		order->streams[i].order = order;
		order->streams[i].number = i;
		INIT_WORK(&order->streams[i].work, stream_work);
		queue_work(workqueue, &order->streams[i].work);
	}
	for (unsigned long deadline = jiffies + msecs_to_jiffies(2 * CORE_TIMEOUT_MS);
	     atomic_read(&order->received) < STREAMS * STREAM_LENGTH &&
	     time_before(jiffies, deadline) && !test->failures;) {
		core_pump(order->transfer.pair);
		usleep_range(50, 100);
	}
	for (u32 i = 0; i < STREAMS; i++)
		flush_work(&order->streams[i].work);
	core_await_told(client, STREAMS * STREAM_LENGTH, CORE_TIMEOUT_MS);
	for (u32 i = 0; i < STREAMS; i++) {
		CORE_EQ(test, STREAM_LENGTH, order->next[i]);
		CORE_EQ(test, STREAM_LENGTH, atomic_read(&order->ended[i]));
	}
	transfer_end(&order->transfer);
out:
	if (workqueue)
		destroy_workqueue(workqueue);
	kfree(order);
}

const struct core_case core_flow_cases[] = {
	CORE_CASE_CONTEXTS(send_queue_full),
	CORE_CASE_CONTEXTS(receive_queue_full),
	CORE_CASE_CONTEXTS(silent_reclaim),
	CORE_CASE_CONTEXTS(queue_budget),
	CORE_CASE(queue_wait),
	CORE_CASE(many_poll),
	CORE_CASE_CONTEXTS(order),
	{},
};
