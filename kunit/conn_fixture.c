// SPDX-License-Identifier: GPL-2.0
/* Two connections of krdma that are connected to each other over a fake device. */
#include <linux/in.h>
#include <linux/lockdep.h>
#include <linux/preempt.h>
#include <linux/slab.h>
#include <net/net_namespace.h>

#include "cm/conn.h"
#include "conn_fixture.h"
#include "io/wq.h"

/*
 * Completions and events
 */

static void conn_flow_note(struct conn_flow *flow, u64 wr_id, u8 status)
{
	if (wr_id >= CONN_COOKIES || wr_id < flow->next ||
	    flow->status[wr_id] != CONN_UNTOLD) {
		flow->disorders++;
		return;
	}
	/* Work requests without a completion must be unsignaled. */
	for (; flow->next < wr_id; flow->next++)
		flow->disorders += !flow->silent[flow->next];
	flow->next = wr_id + 1;
	flow->status[wr_id] = status;
	flow->failed += status != KRDMA_WC_SUCCESS;
	/* A waiter for this counter reads the members above.  Pairs with conn_told(). */
	smp_store_release(&flow->told, flow->told + 1);
}

/* Receives of an SRQ complete in any order, but once. */
static void conn_shared_note(struct conn_pair *pair, const struct krdma_wc *wc)
{
	u64 wr_id = wc->wr_id & ~CONN_RECEIVE;
	struct conn_flow *flow = &pair->shared;

	if (wr_id >= CONN_COOKIES || flow->status[wr_id] != CONN_UNTOLD) {
		flow->disorders++;
		return;
	}
	flow->status[wr_id] = wc->status;
	flow->failed += wc->status != KRDMA_WC_SUCCESS;
	/* As above. */
	smp_store_release(&flow->told, flow->told + 1);
}

static void conn_note(struct conn_end *end, const struct krdma_wc *wc)
{
	bool recv_wr = wc->wr_id & CONN_RECEIVE;
	struct conn_pair *pair = end->pair;

	if (wc->conn != end->conn)
		atomic_inc(&end->misplaced);
	if (recv_wr ? wc->opcode != KRDMA_OP_RECV :
		      wc->opcode == KRDMA_OP_RECV)
		atomic_inc(&end->misplaced);
	end->last = *wc;
	if (wc->status && wc->status != KRDMA_WC_WR_FLUSH_ERR &&
	    !end->failure.status)
		end->failure = *wc;
	if (recv_wr && pair->srq)
		conn_shared_note(pair, wc);
	else
		conn_flow_note(recv_wr ? &end->recv_wrs : &end->sends,
			       wc->wr_id & ~CONN_RECEIVE, wc->status);
	if (recv_wr && end->refill && !wc->status)
		conn_receive_empty(end, 1);
	if (pair->hook)
		pair->hook(end, wc);
	wake_up_all(&pair->wait);
}

/* No peer used this receive. */
static void conn_note_given_back(struct conn_pair *pair, const struct krdma_wc *wc)
{
	if (wc->conn || wc->opcode != KRDMA_OP_RECV ||
	    wc->status != KRDMA_WC_WR_FLUSH_ERR)
		pair->shared.disorders++;
	conn_shared_note(pair, wc);
	atomic_inc(&pair->given_back);
	wake_up_all(&pair->wait);
}

static void conn_note_any(struct conn_pair *pair, const struct krdma_wc *wc)
{
	if (wc->context == pair)
		conn_note_given_back(pair, wc);
	else
		conn_note(wc->context, wc);
}

static bool conn_is_placed(const struct conn_pair *pair)
{
	switch (pair->setup.where) {
	case KRDMA_CONTEXT_WORKQUEUE:
		return in_task() && preemptible();
	case KRDMA_CONTEXT_SOFTIRQ:
		/* The teardown of a connection polls the CQ in its own thread. */
		return in_softirq() && !in_hardirq() && !irqs_disabled();
	default:
		return false;
	}
}

/* A consumer may post with its own locks held, so its callbacks must run without krdma's locks. */
static bool conn_is_nested(struct conn_end *end)
{
	/* Without lockdep, the lock's owner is unknown. */
	if (!IS_ENABLED(CONFIG_LOCKDEP))
		return false;
	return lockdep_is_held(&end->lock) ||
	       (end->conn && end->conn->qp && (lockdep_is_held(&end->conn->qp->send.lock) ||
					       lockdep_is_held(&end->conn->qp->recv.lock)));
}

static void conn_complete(const struct krdma_wc *wc)
{
	struct conn_end *end = wc->context;
	struct conn_pair *pair = end->pair;
	bool apart = pair->srq_queue && wc->opcode == KRDMA_OP_RECV;
	atomic_t *inside = apart ? &pair->srq_inside : &pair->inside;

	if (pair->cq && atomic_inc_return(inside) != 1)
		atomic_inc(&end->overlaps);
	if (!conn_is_placed(pair))
		atomic_inc(&end->misplaced);
	if (conn_is_nested(end))
		atomic_inc(&end->nested);
	conn_note(end, wc);
	if (pair->cq)
		atomic_dec(inside);
}

static void conn_srq_complete(const struct krdma_wc *wc)
{
	struct conn_pair *pair = wc->context;

	if (!conn_is_placed(pair))
		pair->shared.disorders++;
	conn_note_given_back(pair, wc);
}

static void conn_space(struct krdma_conn *conn)
{
	struct conn_end *end = krdma_conn_context(conn);

	if (end->pair->setup.where != KRDMA_CONTEXT_POLL && !conn_is_placed(end->pair))
		atomic_inc(&end->misplaced);
	atomic_inc(&end->spaces);
	wake_up_all(&end->pair->wait);
}

static void conn_event(struct krdma_conn *conn, const struct krdma_event *event)
{
	struct conn_end *end = krdma_conn_context(conn);

	if (end->event_count < ARRAY_SIZE(end->events))
		end->events[end->event_count++] = *event;
	WRITE_ONCE(end->heard[event->type], end->heard[event->type] + 1);
	wake_up_all(&end->pair->wait);
}

static const struct krdma_conn_ops conn_ops = {
	.event = conn_event,
	.complete = conn_complete,
	.space = conn_space,
};

static const struct krdma_conn_ops conn_ops_polled = {
	.event = conn_event,
	.space = conn_space,
};

static const struct krdma_conn_ops *conn_ops_of(const struct conn_pair *pair)
{
	return pair->setup.where == KRDMA_CONTEXT_POLL ? &conn_ops_polled : &conn_ops;
}

static int conn_queue_poll(struct conn_pair *pair, struct krdma_cq *cq)
{
	struct krdma_wc done[8];
	int count, i, taken = 0;

	if (!cq || pair->setup.where != KRDMA_CONTEXT_POLL)
		return 0;
	while ((count = krdma_cq_poll(cq, done, ARRAY_SIZE(done))) > 0) {
		for (i = 0; i < count; i++)
			conn_note_any(pair, &done[i]);
		taken += count;
	}
	return taken ?: count;
}

int conn_pair_poll(struct conn_pair *pair)
{
	conn_queue_poll(pair, pair->srq_queue);
	return conn_queue_poll(pair, pair->cq);
}

/*
 * Setup
 */

static void conn_pair_release(void *context)
{
	struct conn_pair *pair = context;

	conn_pair_close(pair);
	kfree(pair->client.buffer);
	kfree(pair->server.buffer);
}

static void conn_end_init(struct conn_pair *pair, struct conn_end *end)
{
	u8 *buffer = end->buffer;

	memset(end, 0, sizeof(*end));
	end->pair = pair;
	end->buffer = buffer;
	spin_lock_init(&end->lock);
	memset(end->sends.status, CONN_UNTOLD, sizeof(end->sends.status));
	memset(end->recv_wrs.status, CONN_UNTOLD, sizeof(end->recv_wrs.status));
}

static void conn_end_alloc(struct conn_pair *pair, struct conn_end *end)
{
	conn_end_init(pair, end);
	end->buffer = kzalloc(CONN_BUFFER, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(pair->test, end->buffer);
}

static void conn_pair_make_queues(struct conn_pair *pair)
{
	struct krdma_cq_attr cq = {
		.depth = CONN_CQE, .where = pair->setup.where, .vector = -1,
	};
	struct krdma_srq_attr srq = {
		.depth = pair->setup.srq_depth,
		.complete = pair->setup.where == KRDMA_CONTEXT_POLL ? NULL :
			    conn_srq_complete,
		.context = pair,
	};
	struct kunit *test = pair->test;

	if (pair->setup.shared || pair->setup.srq_depth ||
	    pair->setup.where == KRDMA_CONTEXT_POLL) {
		pair->cq = krdma_cq_create(pair->dev, &cq);
		if (IS_ERR(pair->cq)) {
			pair->cq = NULL;
			KUNIT_FAIL_AND_ABORT(test, "no queue");
		}
	}
	if (pair->setup.srq_apart) {
		pair->srq_queue = krdma_cq_create(pair->dev, &cq);
		if (IS_ERR(pair->srq_queue)) {
			pair->srq_queue = NULL;
			KUNIT_FAIL_AND_ABORT(test, "no queue for shared receives");
		}
	}
	if (pair->setup.srq_depth) {
		srq.cq = pair->srq_queue ?: pair->cq;
		pair->srq = krdma_srq_create(pair->session, &srq);
		if (IS_ERR(pair->srq)) {
			pair->srq = NULL;
			KUNIT_FAIL_AND_ABORT(test, "no shared receive queue");
		}
	}
}

struct conn_pair *conn_pair_open(struct kunit *test, const struct conn_setup *setup)
{
	struct sockaddr_in local = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(FAKE_ADDRESS),
	};
	struct krdma_listen_attr attr = { .local = (struct sockaddr *)&local };
	struct conn_pair *pair;

	pair = kunit_kzalloc(test, sizeof(*pair), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, pair);
	pair->test = test;
	pair->setup = *setup;
	init_waitqueue_head(&pair->wait);
	pair->device = test_device_alloc(test, 1);
	pair->fake = pair->device->fake;
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, conn_pair_release, pair));
	memset(pair->shared.status, CONN_UNTOLD, sizeof(pair->shared.status));
	conn_end_alloc(pair, &pair->client);
	conn_end_alloc(pair, &pair->server);

	/* The CQ has room for both ends. */
	pair->fake->attr.max_cqe = CONN_CQE + KRDMA_CQ_OVERHEAD;
	if (setup->srq_depth)
		fake_device_offer_srq(pair->fake);
	if (setup->tune)
		setup->tune(pair->fake);
	KUNIT_ASSERT_EQ(test, 0, test_device_register(pair->device, CONN_DEVICE));
	pair->dev = krdma_device_get_by_name(&init_net, dev_name(&pair->fake->ib.dev));
	KUNIT_ASSERT_NOT_NULL(test, pair->dev);
	pair->session = krdma_session_create(&init_net);
	if (IS_ERR(pair->session)) {
		pair->session = NULL;
		KUNIT_FAIL_AND_ABORT(test, "no session");
	}
	conn_pair_make_queues(pair);
	pair->listener = krdma_listen(pair->session, &attr);
	if (IS_ERR(pair->listener)) {
		pair->listener = NULL;
		KUNIT_FAIL_AND_ABORT(test, "no listener");
	}
	return pair;
}

void conn_client_create(struct conn_pair *pair)
{
	struct krdma_conn *conn;

	conn = krdma_conn_create(pair->session, conn_ops_of(pair), &pair->client);
	KUNIT_ASSERT_FALSE(pair->test, IS_ERR(conn));
	pair->client.conn = conn;
}

int conn_client_begin(struct conn_pair *pair)
{
	struct sockaddr_storage remote;
	struct krdma_route route = {
		.remote = (struct sockaddr *)&remote,
		.timeout_ms = CONN_LONG_MS,
	};

	krdma_listener_address(pair->listener, &remote);
	return krdma_conn_resolve(pair->client.conn, &route);
}

void conn_client_resolve(struct conn_pair *pair)
{
	conn_client_create(pair);
	KUNIT_ASSERT_EQ(pair->test, 0, conn_client_begin(pair));
	KUNIT_ASSERT_EQ(pair->test, 0, krdma_conn_wait(pair->client.conn, CONN_LONG_MS));
	KUNIT_ASSERT_EQ(pair->test, KRDMA_CONN_RESOLVED, conn_info(&pair->client).state);
}

int conn_end_prepare(struct conn_end *end)
{
	struct conn_pair *pair = end->pair;
	struct krdma_conn_attr attr = pair->setup.attr;

	attr.where = pair->setup.where;
	attr.cq = pair->cq;
	if (pair->srq) {
		attr.srq = pair->srq;
		attr.recv_depth = 0;
		attr.max_recv_sge = 0;
	}
	return krdma_conn_create_qp(end->conn, &attr);
}

void conn_client_connect(struct conn_pair *pair)
{
	static const struct krdma_conn_param param;

	KUNIT_ASSERT_EQ(pair->test, 0, krdma_conn_connect(pair->client.conn, &param));
}

void conn_server_take(struct conn_pair *pair)
{
	struct krdma_conn *conn;

	conn = krdma_listener_next(pair->listener, conn_ops_of(pair), &pair->server,
				   CONN_LONG_MS);
	KUNIT_ASSERT_FALSE(pair->test, IS_ERR(conn));
	pair->server.conn = conn;
}

void conn_server_accept(struct conn_pair *pair)
{
	static const struct krdma_conn_param param;

	KUNIT_ASSERT_EQ(pair->test, 0, krdma_conn_accept(pair->server.conn, &param));
}

void conn_pair_connect(struct conn_pair *pair)
{
	struct kunit *test = pair->test;

	conn_client_resolve(pair);
	KUNIT_ASSERT_EQ(test, 0, conn_end_prepare(&pair->client));
	conn_client_connect(pair);
	conn_server_take(pair);
	KUNIT_ASSERT_EQ(test, 0, conn_end_prepare(&pair->server));
	conn_server_accept(pair);
	KUNIT_ASSERT_EQ(test, 0, krdma_conn_wait(pair->client.conn, CONN_LONG_MS));
	KUNIT_ASSERT_EQ(test, 0, krdma_conn_wait(pair->server.conn, CONN_LONG_MS));
	KUNIT_ASSERT_EQ(test, KRDMA_CONN_CONNECTED, conn_info(&pair->client).state);
	KUNIT_ASSERT_EQ(test, KRDMA_CONN_CONNECTED, conn_info(&pair->server).state);
}

struct conn_pair *conn_pair_new(struct kunit *test, const struct conn_setup *setup)
{
	struct conn_pair *pair = conn_pair_open(test, setup);

	conn_pair_connect(pair);
	return pair;
}

struct conn_pair *conn_pair_new_within(struct kunit *test, const struct conn_setup *setup)
{
	struct conn_pair *pair = conn_pair_open(test, setup);
	const struct ib_device_attr *limits = &pair->fake->attr;
	struct krdma_conn_attr *attr = &pair->setup.attr;

	attr->max_send_sge = min_t(u32, attr->max_send_sge, limits->max_send_sge);
	attr->max_recv_sge = min_t(u32, attr->max_recv_sge, limits->max_recv_sge);
	conn_pair_connect(pair);
	return pair;
}

/*
 * Teardown
 */

void conn_end_close(struct conn_end *end)
{
	struct krdma_conn *conn = end->conn;

	if (!conn)
		return;
	krdma_conn_close(conn);
	/* Completions that wait to be polled still belong to the connection. */
	conn_pair_poll(end->pair);
	end->conn = NULL;
	krdma_conn_put(conn);
}

void conn_pair_close(struct conn_pair *pair)
{
	/* A test that failed may have left the device in any state. */
	fake_device_let_go(pair->fake);
	if (pair->client.mr)
		krdma_mr_drop(pair->client.mr);
	if (pair->server.mr)
		krdma_mr_drop(pair->server.mr);
	pair->client.mr = NULL;
	pair->server.mr = NULL;
	conn_end_close(&pair->client);
	conn_end_close(&pair->server);
	if (pair->listener)
		krdma_listener_close(pair->listener);
	krdma_listener_put(pair->listener);
	pair->listener = NULL;
	if (pair->srq)
		krdma_srq_close(pair->srq);
	krdma_srq_put(pair->srq);
	pair->srq = NULL;
	conn_pair_poll(pair);
	krdma_cq_put(pair->srq_queue);
	pair->srq_queue = NULL;
	krdma_cq_put(pair->cq);
	pair->cq = NULL;
	if (pair->session)
		krdma_session_put(pair->session);
	pair->session = NULL;
	krdma_device_put(pair->dev);
	pair->dev = NULL;
}

void conn_pair_renew(struct conn_pair *pair)
{
	conn_end_close(&pair->client);
	conn_end_close(&pair->server);
	conn_end_init(pair, &pair->client);
	conn_end_init(pair, &pair->server);
}

void conn_pair_again(struct conn_pair *pair)
{
	conn_pair_renew(pair);
	conn_pair_connect(pair);
}

void conn_pair_end(struct conn_pair *pair)
{
	int i;

	conn_pair_close(pair);
	test_device_unregister(pair->device);
	for (i = 0; i < FAKE_OBJECTS; i++)
		KUNIT_EXPECT_EQ_MSG(pair->test, 0, atomic_read(&pair->fake->live[i]), "kind %d", i);
}

/*
 * Posting
 */

int conn_post(struct conn_end *end, struct krdma_send_wr *wrs, int count)
{
	struct conn_flow *flow = &end->sends;
	unsigned long flags;
	int ret, i;

	spin_lock_irqsave(&end->lock, flags);
	if (WARN_ON(flow->accepted + count > CONN_COOKIES)) {
		spin_unlock_irqrestore(&end->lock, flags);
		return -ENOSPC;
	}
	for (i = 0; i < count; i++) {
		wrs[i].wr_id = flow->accepted + i;
		flow->silent[flow->accepted + i] = wrs[i].flags & KRDMA_POST_UNSIGNALED;
	}
	ret = krdma_conn_post_send(end->conn, wrs, count);
	if (ret > 0)
		WRITE_ONCE(flow->accepted, flow->accepted + ret);
	spin_unlock_irqrestore(&end->lock, flags);

	return ret;
}

int conn_post_writes(struct conn_end *end, u8 flags, int count)
{
	struct krdma_send_wr *wrs;
	int ret, i;

	wrs = kcalloc(count, sizeof(*wrs), GFP_ATOMIC);
	if (!wrs)
		return -ENOMEM;
	for (i = 0; i < count; i++) {
		wrs[i].opcode = KRDMA_OP_WRITE;
		wrs[i].flags = flags;
	}
	ret = conn_post(end, wrs, count);
	kfree(wrs);

	return ret;
}

int conn_receive(struct conn_end *end, struct krdma_recv_wr *recv_wrs, int count)
{
	struct conn_pair *pair = end->pair;
	struct conn_flow *flow = pair->srq ? &pair->shared : &end->recv_wrs;
	unsigned long flags;
	int ret, i;

	spin_lock_irqsave(&end->lock, flags);
	if (WARN_ON(flow->accepted + count > CONN_COOKIES)) {
		spin_unlock_irqrestore(&end->lock, flags);
		return -ENOSPC;
	}
	for (i = 0; i < count; i++)
		recv_wrs[i].wr_id = CONN_RECEIVE | (flow->accepted + i);
	if (pair->srq)
		ret = krdma_srq_post_recv(pair->srq, recv_wrs, count);
	else
		ret = krdma_conn_post_recv(end->conn, recv_wrs, count);
	if (ret > 0)
		WRITE_ONCE(flow->accepted, flow->accepted + ret);
	spin_unlock_irqrestore(&end->lock, flags);

	return ret;
}

int conn_receive_empty(struct conn_end *end, int count)
{
	struct krdma_recv_wr *recv_wrs;
	int ret;

	recv_wrs = kcalloc(count, sizeof(*recv_wrs), GFP_ATOMIC);
	if (!recv_wrs)
		return -ENOMEM;
	ret = conn_receive(end, recv_wrs, count);
	kfree(recv_wrs);

	return ret;
}

struct krdma_sge conn_sge(struct conn_end *end, u32 offset, u32 length)
{
	return (struct krdma_sge) {
		.addr = (uintptr_t)end->buffer + offset,
		.length = length,
		.key = krdma_conn_lkey(end->conn),
	};
}

/*
 * Queries
 */

struct ib_qp *conn_qp(struct conn_end *end)
{
	return end->conn->qp->ib;
}

struct krdma_conn_info conn_info(struct conn_end *end)
{
	struct krdma_conn_info info;

	krdma_conn_query(end->conn, &info);
	return info;
}

void conn_given(struct conn_end *end, unsigned int index, struct fake_send *send)
{
	struct fake_qp *qp = to_fake_qp(conn_qp(end));
	unsigned long flags = fake_begin();

	*send = qp->sends[index % qp->cqs[FAKE_SEND].depth];
	fake_end(flags);
}

unsigned int conn_given_count(struct conn_end *end)
{
	struct fake_qp *qp = to_fake_qp(conn_qp(end));
	unsigned long flags = fake_begin();
	unsigned int count = qp->cqs[FAKE_SEND].posted;

	fake_end(flags);
	return count;
}

/*
 * Checks
 */

void conn_expect_clean(struct conn_end *end)
{
	struct kunit *test = end->pair->test;

	KUNIT_EXPECT_EQ(test, 0, end->sends.disorders);
	KUNIT_EXPECT_EQ(test, 0, end->recv_wrs.disorders);
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&end->overlaps));
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&end->misplaced));
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&end->nested));
}

static void conn_expect_told(struct kunit *test, const struct conn_flow *flow, const char *what)
{
	u32 i;

	for (i = 0; i < flow->accepted; i++)
		if (flow->status[i] == CONN_UNTOLD && !flow->silent[i])
			KUNIT_FAIL(test, "%s %u of %u was never told", what, i, flow->accepted);
	for (; i < CONN_COOKIES; i++)
		if (flow->status[i] != CONN_UNTOLD)
			KUNIT_FAIL(test, "%s %u was told, but only %u were accepted", what, i,
				   flow->accepted);
}

void conn_expect_whole(struct conn_end *end)
{
	struct kunit *test = end->pair->test;

	conn_expect_clean(end);
	conn_expect_told(test, &end->sends, "operation");
	conn_expect_told(test, &end->recv_wrs, "receive");
}

void conn_expect_srq_whole(struct conn_pair *pair)
{
	KUNIT_EXPECT_EQ(pair->test, 0, pair->shared.disorders);
	conn_expect_told(pair->test, &pair->shared, "shared receive");
}
