// SPDX-License-Identifier: GPL-2.0
/* Calls in the wrong state, and all the ways in which a connection ends. */
#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/in.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>

#include "cm/conn.h"
#include "fixture.h"
#include "io/wq.h"

/*
 * Wrong states
 */

struct answers {
	int resolve;
	int create_qp;
	int connect;
	int accept;
	int reject;
	int disconnect;
	int post;
	int recv_wr;
};

static void expect_answers(struct core_test *test, struct krdma_conn *conn,
			   const struct sockaddr_storage *remote, const struct answers *expected)
{
	struct krdma_route route = { .remote = (const struct sockaddr *)remote };
	struct krdma_conn_param param = {};
	struct krdma_conn_attr attr = {};
	struct krdma_send_wr wr = { .opcode = KRDMA_OP_SEND };
	struct krdma_recv_wr recv_wr = {};

	CORE_EQ(test, expected->resolve, krdma_conn_resolve(conn, &route));
	CORE_EQ(test, expected->create_qp, krdma_conn_create_qp(conn, &attr));
	CORE_EQ(test, expected->accept, krdma_conn_accept(conn, &param));
	CORE_EQ(test, expected->reject, krdma_conn_reject(conn, NULL, 0));
	CORE_EQ(test, expected->post, krdma_conn_post_send(conn, &wr, 1));
	if (expected->connect)
		CORE_EQ(test, expected->connect, krdma_conn_connect(conn, &param));
	if (expected->recv_wr)
		CORE_EQ(test, expected->recv_wr, krdma_conn_post_recv(conn, &recv_wr, 1));
	if (expected->disconnect)
		CORE_EQ(test, expected->disconnect, krdma_conn_disconnect(conn));
}

/* Proves: A8 */
static void wrong_states(struct core_test *test)
{
	static const struct answers fresh = {
		.create_qp = -ENOTCONN, .connect = -ENOTCONN, .accept = -EINVAL, .reject = -EINVAL,
		.disconnect = -ENOTCONN, .post = -ENOTCONN, .recv_wr = -ENOTCONN,
	};
	static const struct answers prepared = {
		.resolve = -EALREADY, .create_qp = -EALREADY, .accept = -EINVAL, .reject = -EINVAL,
		.disconnect = -ENOTCONN, .post = -ENOTCONN,
	};
	static const struct answers connected_client = {
		.resolve = -EISCONN, .create_qp = -EISCONN, .connect = -EISCONN, .accept = -EINVAL,
		.reject = -EINVAL, .post = 1,
	};
	static const struct answers connected_server = {
		.resolve = -EISCONN, .create_qp = -EISCONN, .connect = -EISCONN, .accept = -EISCONN,
		.reject = -EISCONN, .post = 1,
	};
	static const struct answers closed_client = {
		.resolve = -ENOTCONN, .create_qp = -ENOTCONN, .connect = -ENOTCONN,
		.accept = -EINVAL, .reject = -EINVAL, .disconnect = -ENOTCONN,
		.post = -ENOTCONN, .recv_wr = -ENOTCONN,
	};
	static const struct answers closed_server = {
		.resolve = -ENOTCONN, .create_qp = -ENOTCONN, .connect = -ENOTCONN,
		.accept = -ENOTCONN, .reject = -ENOTCONN, .disconnect = -ENOTCONN,
		.post = -ENOTCONN, .recv_wr = -ENOTCONN,
	};
	struct core_pair *pair = core_pair_alloc(test);
	struct krdma_recv_wr recv_wr = {};
	struct krdma_conn_info info;
	struct krdma_conn *conn;
	struct answers answers;
	int again;

	if (!pair)
		return;
	if (!core_pair_listen(pair, 0))
		goto out;
	conn = krdma_conn_create(pair->client_session, NULL, NULL);
	if (!CORE_OK_PTR(test, conn))
		goto out;
	/* A call that resolves must not begin here: it is tried last. */
	answers = fresh;
	answers.resolve = -EAFNOSUPPORT;
	expect_answers(test, conn, &(struct sockaddr_storage) { .ss_family = AF_UNIX }, &answers);
	CORE_EQ(test, 0, krdma_conn_wait(conn, 1));
	CORE_EQ(test, -ENOTCONN, krdma_conn_addresses(conn, NULL, NULL));
	CORE_TRUE(test, !krdma_conn_device(conn));
	krdma_conn_close(conn);
	expect_answers(test, conn, &pair->listen_address, &closed_client);
	krdma_conn_put(conn);

	if (!core_pair_resolve(pair))
		goto out;
	CORE_EQ(test, 0, krdma_conn_create_qp(pair->client.conn, &pair->client_attr));
	expect_answers(test, pair->client.conn, &pair->listen_address, &prepared);
	CORE_EQ(test, 0, krdma_conn_connect(pair->client.conn, &pair->wr));
	CORE_EQ(test, -EALREADY, krdma_conn_connect(pair->client.conn, &pair->wr));
	pair->server.conn = krdma_listener_next(pair->listener, &core_ops, &pair->server,
						CORE_TIMEOUT_MS);
	if (!CORE_OK_PTR(test, pair->server.conn))
		goto out;
	CORE_EQ(test, -EINVAL, krdma_conn_connect(pair->server.conn, &pair->wr));
	CORE_EQ(test, -EALREADY, krdma_conn_resolve(pair->server.conn, &(struct krdma_route) {
		.remote = (struct sockaddr *)&pair->listen_address }));
	CORE_EQ(test, -ENOTCONN, krdma_conn_disconnect(pair->server.conn));
	CORE_EQ(test, 0, krdma_conn_create_qp(pair->server.conn, &pair->server_attr));
	CORE_EQ(test, 1, krdma_conn_post_recv(pair->server.conn, &recv_wr, 1));
	CORE_EQ(test, 0, krdma_conn_accept(pair->server.conn, &pair->answer));
	again = krdma_conn_accept(pair->server.conn, &pair->answer);
	krdma_conn_query(pair->server.conn, &info);
	/* The peer may have confirmed it before the second call. */
	if (info.state != KRDMA_CONN_CONNECTED || again != -EISCONN)
		CORE_EQ(test, -EALREADY, again);
	CORE_EQ(test, 0, krdma_conn_wait(pair->client.conn, CORE_TIMEOUT_MS));
	CORE_EQ(test, 0, krdma_conn_wait(pair->server.conn, CORE_TIMEOUT_MS));
	CORE_EQ(test, 1, krdma_conn_post_recv(pair->client.conn, &recv_wr, 1));
	expect_answers(test, pair->client.conn, &pair->listen_address, &connected_client);
	expect_answers(test, pair->server.conn, &pair->listen_address, &connected_server);
	core_expect_send(&pair->client, 0, KRDMA_WC_SUCCESS);
	core_expect_send(&pair->server, 0, KRDMA_WC_SUCCESS);
	core_expect_receive(&pair->client, 0, KRDMA_WC_SUCCESS, 0, NULL);
	core_expect_receive(&pair->server, 0, KRDMA_WC_SUCCESS, 0, NULL);

	CORE_EQ(test, 0, krdma_conn_disconnect(pair->client.conn));
	again = krdma_conn_disconnect(pair->client.conn);
	krdma_conn_query(pair->client.conn, &info);
	/* The peer may have answered before the second call. */
	if (info.state < KRDMA_CONN_CLOSING || again != -ENOTCONN)
		CORE_EQ(test, -EALREADY, again);
	krdma_conn_close(pair->client.conn);
	expect_answers(test, pair->client.conn, &pair->listen_address, &closed_client);
	CORE_TRUE(test, core_await_event(&pair->server, KRDMA_EVENT_CLOSED, CORE_TIMEOUT_MS));
	expect_answers(test, pair->server.conn, &pair->listen_address, &closed_server);
out:
	core_pair_close(pair);
}

/*
 * Ends
 */

enum who { CLIENT, SERVER, BOTH };

static void disconnected_by(struct core_test *test, enum who who)
{
	struct core_pair *pair = core_pair_open(test);
	u64 begin = ktime_get_ns();

	if (!pair)
		return;
	if (who != SERVER)
		CORE_EQ(test, 0, krdma_conn_disconnect(pair->client.conn));
	if (who == SERVER)
		CORE_EQ(test, 0, krdma_conn_disconnect(pair->server.conn));
	/* The other end may have got the event already. */
	if (who == BOTH)
		krdma_conn_disconnect(pair->server.conn);
	CORE_TRUE(test, core_await_event(&pair->client, KRDMA_EVENT_CLOSED, CORE_TIMEOUT_MS));
	CORE_TRUE(test, core_await_event(&pair->server, KRDMA_EVENT_CLOSED, CORE_TIMEOUT_MS));
	CORE_TRUE(test, core_had_event(&pair->client, KRDMA_EVENT_DISCONNECTED));
	CORE_TRUE(test, core_had_event(&pair->server, KRDMA_EVENT_DISCONNECTED));
	begin = ktime_get_ns() - begin;
	/* A reply may take a second; a slow machine adds to that. */
	core_check(test, begin < 3ULL * NSEC_PER_SEC, __func__, __LINE__,
		   "the end (%d) took %llu ms", who, begin / NSEC_PER_MSEC);
	core_pair_close(pair);
}

/* Proves: D8 */
static void disconnect(struct core_test *test)
{
	disconnected_by(test, CLIENT);
	disconnected_by(test, SERVER);
	disconnected_by(test, BOTH);
}

/* Work requests in flight when the connection ends are flushed, each once. */
static void flushed_at_the_end(struct core_test *test)
{
	struct core_pair *pair = core_pair_open(test);
	struct krdma_recv_wr recv_wr = {};
	struct krdma_wc got;
	u64 seen = 0;

	if (!pair)
		return;
	for (recv_wr.wr_id = 0; recv_wr.wr_id < 50; recv_wr.wr_id++)
		CORE_EQ(test, 1, krdma_conn_post_recv(pair->client.conn, &recv_wr, 1));
	krdma_conn_close(pair->server.conn);
	krdma_conn_close(pair->client.conn);
	core_pump(pair);
	while (core_await_receive(&pair->client, &got, 0)) {
		CORE_EQ(test, seen, got.wr_id);
		CORE_EQ(test, KRDMA_WC_WR_FLUSH_ERR, got.status);
		seen++;
	}
	CORE_EQ(test, 50, seen);
	core_pair_close(pair);
}

static void abort_connected(struct core_test *test)
{
	struct core_pair *pair = core_pair_open(test);

	if (!pair)
		return;
	krdma_conn_abort(pair->client.conn);
	CORE_TRUE(test, core_await_event(&pair->client, KRDMA_EVENT_CLOSED, CORE_TIMEOUT_MS));
	CORE_TRUE(test, core_await_event(&pair->server, KRDMA_EVENT_CLOSED, CORE_TIMEOUT_MS));
	CORE_TRUE(test, core_had_event(&pair->client, KRDMA_EVENT_DISCONNECTED));
	CORE_EQ(test, -ECONNABORTED, krdma_conn_wait(pair->client.conn, 1));
	CORE_EQ(test, test->iwarp ? -ECONNRESET : -EPIPE,
		krdma_conn_wait(pair->server.conn, 1));
	core_pair_close(pair);
}

/* The last reference is put without a close; nothing may be left when the case is over. */
static void put_without_close(struct core_test *test)
{
	struct core_pair *pair = core_pair_alloc(test);
	struct krdma_conn *conn;

	if (!pair)
		return;
	if (core_pair_listen(pair, 0)) {
		conn = krdma_conn_create(pair->client_session, NULL, NULL);
		if (CORE_OK_PTR(test, conn)) {
			CORE_EQ(test, 0, krdma_conn_resolve(conn, &(struct krdma_route) {
				.remote = (struct sockaddr *)&pair->listen_address }));
			CORE_EQ(test, 0, krdma_conn_wait(conn, CORE_TIMEOUT_MS));
			CORE_EQ(test, 0, krdma_conn_connect(conn, &(struct krdma_conn_param) {}));
			pair->server.conn = krdma_listener_next(pair->listener, &core_ops,
								&pair->server, CORE_TIMEOUT_MS);
			if (CORE_OK_PTR(test, pair->server.conn))
				CORE_EQ(test, 0, krdma_conn_accept(pair->server.conn,
								   &pair->answer));
			CORE_EQ(test, 0, krdma_conn_wait(conn, CORE_TIMEOUT_MS));
			krdma_conn_abort(conn);
			krdma_conn_put(conn);
			CORE_TRUE(test, core_await_event(&pair->server, KRDMA_EVENT_CLOSED,
							 CORE_TIMEOUT_MS));
		}
	}
	core_pair_close(pair);
}

/* The end in every state of the setup, at once and after a moment. */
/* Proves: E1 */
static void close_on_the_way(struct core_test *test)
{
	/* iWARP's connection manager waits for a reply, or until its provider times out. */
	const u64 limit = (test->iwarp ? 15ULL : 3ULL) * NSEC_PER_SEC;
	struct krdma_listener *listener;
	struct krdma_conn *conn;

	for (int step = 0; step < 12 && !test->failures; step++) {
		struct core_pair *pair = core_pair_alloc(test);
		u64 begin;

		if (!pair)
			return;
		if (!core_pair_listen(pair, 0))
			goto next;
		listener = pair->listener;
		conn = krdma_conn_create(pair->client_session, &core_ops, &pair->client);
		if (!CORE_OK_PTR(test, conn))
			goto next;
		pair->client.conn = conn;
		if (step < 2)
			goto close;
		CORE_EQ(test, 0, krdma_conn_resolve(conn, &(struct krdma_route) {
			.remote = (struct sockaddr *)&pair->listen_address }));
		if (step < 4)
			goto close;
		CORE_EQ(test, 0, krdma_conn_wait(conn, CORE_TIMEOUT_MS));
		if (step < 6)
			goto close;
		CORE_EQ(test, 0, krdma_conn_connect(conn, &pair->wr));
		if (step < 8)
			goto close;
		pair->server.conn = krdma_listener_next(listener, &core_ops, &pair->server,
							CORE_TIMEOUT_MS);
		CORE_OK_PTR(test, pair->server.conn);
		if (step < 10)
			goto close;
		CORE_EQ(test, 0, krdma_conn_accept(pair->server.conn, &pair->answer));
close:
		if (step % 2)
			msleep(20);
		begin = ktime_get_ns();
		krdma_conn_close(conn);
		begin = ktime_get_ns() - begin;
		core_check(test, begin < limit, __func__, __LINE__,
			   "closing in step %d took %llu ms", step, begin / NSEC_PER_MSEC);
next:
		core_pair_close(pair);
	}
}

/* A client that closes before it is accepted. */
/* Proves: E1 */
static void given_up(struct core_test *test)
{
	struct core_pair *pair = core_pair_alloc(test);
	int ret;

	if (!pair)
		return;
	if (core_pair_listen(pair, 0) && core_pair_resolve(pair) &&
	    CORE_EQ(test, 0, krdma_conn_connect(pair->client.conn, &pair->wr))) {
		pair->server.conn = krdma_listener_next(pair->listener, &core_ops, &pair->server,
							CORE_TIMEOUT_MS);
		krdma_conn_close(pair->client.conn);
		if (CORE_OK_PTR(test, pair->server.conn)) {
			/* If the event comes late, accepting begins, and fails. */
			ret = krdma_conn_accept(pair->server.conn, &pair->answer);
			if (ret && test->iwarp)
				CORE_TRUE(test, ret == -ENOTCONN || ret == -ECONNRESET);
			else if (ret)
				CORE_EQ(test, -ENOTCONN, ret);
			else
				CORE_EQ(test, -ECONNRESET, krdma_conn_wait(pair->server.conn,
									   CORE_TIMEOUT_MS));
			CORE_TRUE(test, core_await_event(&pair->server, KRDMA_EVENT_CLOSED,
							 CORE_TIMEOUT_MS));
			CORE_TRUE(test, !core_had_event(&pair->server, KRDMA_EVENT_ESTABLISHED) ||
				  core_had_event(&pair->server, KRDMA_EVENT_DISCONNECTED) ||
				  core_had_event(&pair->server, KRDMA_EVENT_LOST));
		}
	}
	core_pair_close(pair);
}

#define KEEPALIVE_MS	100

/* As long as the peer is alive and idle, the consumer gets no event. */
/* Proves: E6 */
static void keepalive(struct core_test *test)
{
	static const struct krdma_send_wr wr = { .wr_id = 2, .opcode = KRDMA_OP_SEND };
	static const u32 bad[] = { KEEPALIVE_MS - 1, 3600001 };
	struct core_pair *pair = core_pair_alloc(test);
	struct core_end *client;

	if (!pair || !core_pair_listen(pair, 0) || !core_pair_resolve(pair))
		goto out;
	client = &pair->client;
	for (int i = 0; i < ARRAY_SIZE(bad); i++) {
		pair->client_attr.keepalive_ms = bad[i];
		CORE_EQ(test, -EINVAL, krdma_conn_create_qp(client->conn, &pair->client_attr));
	}
	pair->client_attr.keepalive_ms = KEEPALIVE_MS;
	if (test->iwarp)
		CORE_EQ(test, -EOPNOTSUPP, krdma_conn_create_qp(client->conn, &pair->client_attr));
	if (test->iwarp || !core_pair_connect(pair))
		goto out;
	msleep(10 * KEEPALIVE_MS);
	core_expect_nothing(client);
	core_expect_nothing(&pair->server);
	CORE_EQ(test, 1, core_receive_empty(&pair->server, 1));
	CORE_EQ(test, 1, krdma_conn_post_send(client->conn, &wr, 1));
	core_expect_send(client, 2, KRDMA_WC_SUCCESS);
	core_expect_receive(&pair->server, 1, KRDMA_WC_SUCCESS, 0, NULL);
out:
	core_pair_close(pair);
}

/* The cause that an event gives, or 0 if there is none. */
static int keepalive_cause(struct core_end *end, enum krdma_event_type type)
{
	int cause = 0;

	spin_lock_irq(&end->lock);
	for (unsigned int i = 0; i < end->event_count; i++) {
		if (end->events[i].type == type)
			cause = end->events[i].error;
	}
	spin_unlock_irq(&end->lock);
	return cause;
}

/*
 * A peer whose queue pair forgets the connection is missed, though nothing is in flight and the
 * consumer polls nothing.  The first probes are answered.
 */
/* Proves: E6 */
static void keepalive_misses(struct core_test *test)
{
	struct ib_qp_attr reset = { .qp_state = IB_QPS_RESET };
	struct core_pair *pair = core_pair_alloc(test);
	struct core_end *client;
	int i;

	if (test->iwarp)
		test->skipped = "iWARP has no keepalive";
	if (test->iwarp || !pair || !core_pair_listen(pair, 0) || !core_pair_resolve(pair))
		goto out;
	client = &pair->client;
	pair->client_attr.keepalive_ms = KEEPALIVE_MS;
	pair->server_attr.keepalive_ms = KRDMA_KEEPALIVE_NEVER;
	pair->wr.retry_count = 1;
	if (!core_pair_connect(pair))
		goto out;
	msleep(5 * KEEPALIVE_MS);
	CORE_TRUE(test, !core_had_event(client, KRDMA_EVENT_LOST));
	if (!CORE_EQ(test, 0, ib_modify_qp(pair->server.conn->qp->ib, &reset, IB_QP_STATE)))
		goto out;
	for (i = 0; i < CORE_TIMEOUT_MS && !core_had_event(client, KRDMA_EVENT_LOST); i += 20)
		msleep(20);
	CORE_EQ(test, -ETIMEDOUT, keepalive_cause(client, KRDMA_EVENT_LOST));
out:
	core_pair_close(pair);
}

#if IS_ENABLED(CONFIG_KRETPROBES)

/* How long rdma_cm stays in its handler after it has reported the address. */
#define ADDRESS_STALL_MS	400

static bool address_told;
static bool address_over;

static int address_stall(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	WRITE_ONCE(address_told, true);
	mdelay(ADDRESS_STALL_MS);
	WRITE_ONCE(address_over, true);
	return 0;
}

/*
 * Close after the address is reported, while rdma_cm is still in the handler that reported it.
 * What the handler uses must not be freed.
 */
static void close_as_the_address_is_told(struct core_test *test)
{
	struct kretprobe *probe = kzalloc_obj(*probe, GFP_KERNEL);
	struct core_pair *pair = core_pair_alloc(test);
	struct krdma_route route = {};

	if (!CORE_TRUE(test, probe) || !pair || !core_pair_listen(pair, 0))
		goto out;
	address_told = false;
	address_over = false;
	probe->handler = address_stall;
	probe->kp.symbol_name = "addr_handler";
	if (!CORE_EQ(test, 0, register_kretprobe(probe)))
		goto out;
	route.remote = (struct sockaddr *)&pair->listen_address;
	pair->client.conn = krdma_conn_create(pair->client_session, &core_ops, &pair->client);
	if (CORE_OK_PTR(test, pair->client.conn) &&
	    CORE_EQ(test, 0, krdma_conn_resolve(pair->client.conn, &route))) {
		for (int i = 0; i < CORE_TIMEOUT_MS && !READ_ONCE(address_told); i++)
			usleep_range(1000, 2000);
		CORE_TRUE(test, READ_ONCE(address_told));
		krdma_conn_close(pair->client.conn);
		CORE_TRUE(test, READ_ONCE(address_over));
	}
	unregister_kretprobe(probe);
	CORE_EQ(test, 0, probe->nmissed);
out:
	core_pair_close(pair);
	kfree(probe);
}

#else

static void close_as_the_address_is_told(struct core_test *test)
{
	test->skipped = "this kernel has no kretprobes";
}

#endif

#define CLOSERS	6

struct closer {
	struct work_struct work;
	struct krdma_conn *conn;
	bool abort;
};

static void close_work(struct work_struct *work)
{
	struct closer *closer = container_of(work, struct closer, work);

	if (closer->abort)
		krdma_conn_abort(closer->conn);
	krdma_conn_close(closer->conn);
}

/* Several threads close both ends at the same time. */
/* Proves: A8, A12 */
static void close_from_threads(struct core_test *test)
{
	struct workqueue_struct *workqueue = alloc_workqueue("krdma_core_test", WQ_UNBOUND, 0);
	struct closer *closers = kcalloc(CLOSERS, sizeof(*closers), GFP_KERNEL);
	struct krdma_conn_info info;
	struct core_pair *pair;

	if (!CORE_TRUE(test, workqueue && closers))
		goto out;
	for (int round = 0; round < 4 && !test->failures; round++) {
		pair = core_pair_open(test);
		if (!pair)
			goto out;
		for (int i = 0; i < CLOSERS; i++) {
			closers[i].conn = i & 1 ? pair->client.conn : pair->server.conn;
			closers[i].abort = round & 1 && i > CLOSERS / 2;
			INIT_WORK(&closers[i].work, close_work);
			queue_work(workqueue, &closers[i].work);
		}
		for (int i = 0; i < CLOSERS; i++) {
			flush_work(&closers[i].work);
			krdma_conn_query(closers[i].conn, &info);
			CORE_EQ(test, KRDMA_CONN_CLOSED, info.state);
		}
		core_pair_close(pair);
	}
out:
	if (workqueue)
		destroy_workqueue(workqueue);
	kfree(closers);
}

/*
 * The last completions
 */

#define CARRIED		5

/* A consumer that passes on what it has polled, with @lock held.  @polled: it is about to. */
struct carrier {
	struct krdma_cq *cq;
	spinlock_t lock;		/* see above */
	struct completion polled;
	int passed;
};

static void carrier_take(struct carrier *carrier, unsigned int linger_ms)
{
	struct krdma_wc wcs[CARRIED];
	int count;

	spin_lock_bh(&carrier->lock);
	while ((count = krdma_cq_poll(carrier->cq, wcs, ARRAY_SIZE(wcs))) > 0) {
		complete(&carrier->polled);
		mdelay(linger_ms);
		WRITE_ONCE(carrier->passed, carrier->passed + count);
	}
	spin_unlock_bh(&carrier->lock);
}

static bool carrier_ready(void *context)
{
	carrier_take(context, 0);
	return false;
}

static int carry(void *data)
{
	while (!kthread_should_stop()) {
		carrier_take(data, 300);
		cond_resched();
	}
	return 0;
}

/*
 * A connection's end is reported after the consumer has passed on its completions, also those that
 * another thread has polled, which is slow.
 */
static void end_after_completions(struct core_test *test)
{
	struct carrier carrier = {};
	struct krdma_cq_attr attr = {
		.depth = 1024, .where = KRDMA_CONTEXT_POLL, .vector = -1,
		.ready = carrier_ready, .ready_context = &carrier,
	};
	struct core_buffer nothing = {};
	struct task_struct *task;
	struct core_pair *pair;

	if (num_online_cpus() < 2) {
		test->skipped = "it takes two processors";
		return;
	}
	pair = core_pair_alloc(test);
	if (!pair)
		return;
	spin_lock_init(&carrier.lock);
	init_completion(&carrier.polled);
	carrier.cq = krdma_cq_create(test->dev, &attr);
	if (!CORE_OK_PTR(test, carrier.cq))
		goto out;
	pair->server_attr.cq = carrier.cq;
	if (!core_pair_listen(pair, 0) || !core_pair_resolve(pair) || !core_pair_connect(pair))
		goto out_put;
	for (u64 wr_id = 0; wr_id < CARRIED; wr_id++) {
		CORE_EQ(test, 1, core_receive_empty(&pair->server, wr_id));
		CORE_EQ(test, 1, core_send(&pair->client, wr_id, &nothing, 0, 0, 0));
	}
	/* Then the receives have completed, too, and wait to be polled. */
	CORE_TRUE(test, core_await_told(&pair->client, CARRIED, CORE_TIMEOUT_MS));
	task = kthread_run(carry, &carrier, "krdma_carrier");
	if (CORE_OK_PTR(test, task)) {
		wait_for_completion_timeout(&carrier.polled, msecs_to_jiffies(CORE_TIMEOUT_MS));
		krdma_conn_abort(pair->server.conn);
		krdma_conn_close(pair->server.conn);
		CORE_EQ(test, CARRIED, READ_ONCE(carrier.passed));
		CORE_EQ(test, 0, kthread_stop(task));
	}
out_put:
	krdma_cq_put(carrier.cq);
out:
	core_pair_close(pair);
}

const struct core_case core_end_cases[] = {
	CORE_CASE(wrong_states),
	CORE_CASE(disconnect),
	CORE_CASE_CONTEXTS(flushed_at_the_end),
	CORE_CASE(abort_connected),
	CORE_CASE(put_without_close),
	CORE_CASE(close_on_the_way),
	CORE_CASE(given_up),
	CORE_CASE(close_as_the_address_is_told),
	CORE_CASE_CONTEXTS(keepalive),
	CORE_CASE_CONTEXTS(keepalive_misses),
	CORE_CASE(close_from_threads),
	CORE_CASE(end_after_completions),
	{},
};
