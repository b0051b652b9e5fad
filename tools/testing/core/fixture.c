// SPDX-License-Identifier: GPL-2.0
/*
 * Two ends of a connection in one kernel, their memory, and functions that wait for events and
 * completions.
 */
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/netdevice.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <net/net_namespace.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

#include "cm/conn.h"
#include "fixture.h"
#include "io/wq.h"

/* Depth of a polled CQ, for both ends. */
#define CORE_QUEUE_DEPTH	1024

/* Larger memory is vmalloc()ed; up to this size it is physically contiguous. */
#define CORE_KMALLOC_MAX	SZ_1M

/*
 * Completions and events
 */

static void core_event(struct krdma_conn *conn, const struct krdma_event *event)
{
	struct core_end *end = krdma_conn_context(conn);

	spin_lock_irq(&end->lock);
	if (core_check(end->test, end->event_count < CORE_EVENTS, __func__, __LINE__,
		       "too many events"))
		end->events[end->event_count++] = *event;
	spin_unlock_irq(&end->lock);
	wake_up_all(&end->wait);
}

static void core_log_keep(struct core_end *end, struct core_log *log,
			  const struct krdma_wc *wc)
{
	if (core_check(end->test, log->tail - log->head < CORE_COMPLETIONS, __func__, __LINE__,
		       "too many completions"))
		log->items[log->tail++ % CORE_COMPLETIONS] = *wc;
}

static void core_complete(const struct krdma_wc *wc)
{
	struct core_end *end = wc->context;
	bool received = wc->opcode == KRDMA_OP_RECV;
	unsigned long flags;

	if (end->complete)
		end->complete(end, wc);
	spin_lock_irqsave(&end->lock, flags);
	WRITE_ONCE(end->told, end->told + 1);
	if (!end->complete)
		core_log_keep(end, received ? end->recv_wrs : end->sends, wc);
	spin_unlock_irqrestore(&end->lock, flags);
	wake_up_all(&end->wait);
}

static void core_space(struct krdma_conn *conn)
{
	struct core_end *end = krdma_conn_context(conn);
	unsigned long flags;

	spin_lock_irqsave(&end->lock, flags);
	WRITE_ONCE(end->spaces, end->spaces + 1);
	spin_unlock_irqrestore(&end->lock, flags);
	wake_up_all(&end->wait);
}

const struct krdma_conn_ops core_ops = {
	.event = core_event,
	.complete = core_complete,
	.space = core_space,
};

/*
 * Ends
 */

bool core_end_init(struct core_end *end, struct core_test *test, struct core_pair *pair)
{
	end->test = test;
	end->pair = pair;
	spin_lock_init(&end->lock);
	init_waitqueue_head(&end->wait);
	end->sends = kvzalloc_obj(*end->sends, GFP_KERNEL);
	end->recv_wrs = kvzalloc_obj(*end->recv_wrs, GFP_KERNEL);
	return CORE_TRUE(test, end->sends && end->recv_wrs);
}

void core_end_free(struct core_end *end)
{
	kvfree(end->sends);
	kvfree(end->recv_wrs);
}

/* Every accepted work request has completed, and events came in order. */
static void core_end_check(struct core_end *end)
{
	struct core_test *test = end->test;
	struct krdma_conn_info info;

	krdma_conn_query(end->conn, &info);
	CORE_EQ(test, KRDMA_CONN_CLOSED, info.state);
	CORE_EQ(test, info.sends_posted, info.sends_completed);
	CORE_EQ(test, info.receives_posted, info.receives_completed);
	CORE_TRUE(test, info.error);
	if (CORE_TRUE(test, end->event_count > 0))
		CORE_EQ(test, KRDMA_EVENT_CLOSED, end->events[end->event_count - 1].type);
}

int core_ack_timeout(struct core_end *end)
{
	const struct rdma_cm_id *cm_id = end->conn->cm_id;
	struct ib_qp_init_attr init = {};
	struct ib_qp_attr attr = {};
	int ret;

	if (!rdma_cap_ib_cm(cm_id->device, cm_id->port_num))
		return -EOPNOTSUPP;
	ret = ib_query_qp(end->conn->qp->ib, &attr, IB_QP_TIMEOUT, &init);
	return ret ? ret : attr.timeout;
}

void core_end_close(struct core_end *end)
{
	if (IS_ERR_OR_NULL(end->conn))
		return;
	krdma_conn_close(end->conn);
	if (end->pair)
		core_pump(end->pair);
	core_end_check(end);
	krdma_conn_put(end->conn);
	end->conn = NULL;
}

/*
 * Pairs
 */

struct core_pair *core_pair_alloc(struct core_test *test)
{
	struct core_pair *pair;

	pair = kzalloc_obj(*pair, GFP_KERNEL);
	if (!CORE_TRUE(test, pair))
		return NULL;
	pair->test = test;
	pair->client_attr.where = test->where;
	pair->server_attr.where = test->where;
	pair->client_session = krdma_session_create(test->net);
	pair->server_session = krdma_session_create(test->net);
	if (!core_end_init(&pair->client, test, pair) ||
	    !core_end_init(&pair->server, test, pair) ||
	    !CORE_OK_PTR(test, pair->client_session) || !CORE_OK_PTR(test, pair->server_session))
		goto err;

	if (test->where == KRDMA_CONTEXT_POLL) {
		struct krdma_cq_attr attr = {
			.depth = CORE_QUEUE_DEPTH,
			.where = KRDMA_CONTEXT_POLL,
			.vector = -1,
		};

		pair->cq = krdma_cq_create(test->dev, &attr);
		if (!CORE_OK_PTR(test, pair->cq))
			goto err;
		pair->client_attr.cq = pair->cq;
		pair->server_attr.cq = pair->cq;
	}
	return pair;

err:
	core_pair_close(pair);
	return NULL;
}

bool core_pair_listen(struct core_pair *pair, u32 backlog)
{
	struct core_test *test = pair->test;
	struct krdma_listen_attr attr = {
		.local = (struct sockaddr *)&test->address,
		.backlog = backlog,
		.lanes = pair->server_lanes,
	};

	pair->listener = krdma_listen(pair->server_session, &attr);
	if (!CORE_OK_PTR(test, pair->listener))
		return false;
	return CORE_EQ(test, 0, krdma_listener_address(pair->listener, &pair->listen_address));
}

/* Takes the client up to connecting to the listener. */
bool core_pair_resolve(struct core_pair *pair)
{
	struct core_test *test = pair->test;
	struct krdma_route route = {
		.remote = (struct sockaddr *)&pair->listen_address,
		.ack_timeout = CORE_ACK_TIMEOUT,
	};

	if (pair->client_lane)
		pair->client.conn = krdma_conn_create_lane(pair->client_session, &core_ops,
							   &pair->client);
	else
		pair->client.conn = krdma_conn_create(pair->client_session, &core_ops,
						      &pair->client);
	return CORE_OK_PTR(test, pair->client.conn) &&
	       CORE_EQ(test, 0, krdma_conn_resolve(pair->client.conn, &route)) &&
	       CORE_EQ(test, 0, krdma_conn_wait(pair->client.conn, CORE_TIMEOUT_MS));
}

static bool core_pair_prepare(struct core_end *end, const struct krdma_conn_attr *attr)
{
	if (!CORE_EQ(end->test, 0, krdma_conn_create_qp(end->conn, attr)))
		return false;
	if (end->pair->prepared)
		end->pair->prepared(end);
	return true;
}

/* Connects a client that is ready: both ends are connected afterwards. */
bool core_pair_connect(struct core_pair *pair)
{
	struct core_test *test = pair->test;

	if (!core_pair_prepare(&pair->client, &pair->client_attr) ||
	    !CORE_EQ(test, 0, krdma_conn_connect(pair->client.conn, &pair->wr)))
		return false;
	pair->server.conn = krdma_listener_next(pair->listener, &core_ops, &pair->server,
						CORE_TIMEOUT_MS);
	return CORE_OK_PTR(test, pair->server.conn) &&
	       core_pair_prepare(&pair->server, &pair->server_attr) &&
	       CORE_EQ(test, 0, krdma_conn_accept(pair->server.conn, &pair->answer)) &&
	       CORE_EQ(test, 0, krdma_conn_wait(pair->client.conn, CORE_TIMEOUT_MS)) &&
	       CORE_EQ(test, 0, krdma_conn_wait(pair->server.conn, CORE_TIMEOUT_MS));
}

/* Two connected ends with the usual attributes. */
struct core_pair *core_pair_open(struct core_test *test)
{
	struct core_pair *pair = core_pair_alloc(test);

	if (!pair)
		return NULL;
	if (core_pair_listen(pair, 0) && core_pair_resolve(pair) && core_pair_connect(pair))
		return pair;
	core_pair_close(pair);
	return NULL;
}

/* Closes a pair in any state; NULL is allowed. */
void core_pair_close(struct core_pair *pair)
{
	if (!pair)
		return;
	core_end_close(&pair->client);
	core_end_close(&pair->server);
	if (!IS_ERR_OR_NULL(pair->listener)) {
		krdma_listener_close(pair->listener);
		krdma_listener_put(pair->listener);
	}
	if (!pair->borrows && !IS_ERR_OR_NULL(pair->cq))
		krdma_cq_put(pair->cq);
	if (!IS_ERR_OR_NULL(pair->client_session))
		krdma_session_put(pair->client_session);
	if (!pair->borrows && !IS_ERR_OR_NULL(pair->server_session))
		krdma_session_put(pair->server_session);
	core_end_free(&pair->client);
	core_end_free(&pair->server);
	kfree(pair);
}

/*
 * Waiting
 */

/* Takes the completions of a polled CQ. */
void core_pump(struct core_pair *pair)
{
	struct krdma_wc wcs[8];
	int count;

	if (IS_ERR_OR_NULL(pair->cq))
		return;
	do {
		count = krdma_cq_poll(pair->cq, wcs, ARRAY_SIZE(wcs));
		for (int i = 0; i < count; i++)
			core_complete(&wcs[i]);
	} while (count > 0);
	core_check(pair->test, !count || count == -ENODEV, __func__, __LINE__,
		   "polling answers %d", count);
}

static bool core_await(struct core_end *end, bool (*done)(struct core_end *end, u64 value),
		       u64 value, u32 timeout_ms)
{
	unsigned long deadline = jiffies + msecs_to_jiffies(timeout_ms);
	struct krdma_cq *cq = end->pair ? end->pair->cq : NULL;

	if (!cq) {
		wait_event_timeout(end->wait, done(end, value), msecs_to_jiffies(timeout_ms));
		return done(end, value);
	}
	do {
		core_pump(end->pair);
		if (done(end, value))
			return true;
		krdma_cq_wait(cq, 5);
	} while (time_before(jiffies, deadline));
	return false;
}

static bool core_is_event_there(struct core_end *end, u64 type)
{
	bool there = false;

	spin_lock_irq(&end->lock);
	for (unsigned int i = 0; i < end->event_count; i++)
		there |= end->events[i].type == type;
	spin_unlock_irq(&end->lock);
	return there;
}

bool core_had_event(struct core_end *end, enum krdma_event_type type)
{
	return core_is_event_there(end, type);
}

bool core_await_event(struct core_end *end, enum krdma_event_type type, u32 timeout_ms)
{
	return core_await(end, core_is_event_there, type, timeout_ms);
}

static bool core_has_told(struct core_end *end, u64 count)
{
	bool there;

	spin_lock_irq(&end->lock);
	there = end->told >= count;
	spin_unlock_irq(&end->lock);
	return there;
}

bool core_await_told(struct core_end *end, u64 count, u32 timeout_ms)
{
	return core_await(end, core_has_told, count, timeout_ms);
}

static bool core_log_take(struct core_end *end, struct core_log *log,
			  struct krdma_wc *wc)
{
	bool there;

	spin_lock_irq(&end->lock);
	there = log->head != log->tail;
	if (there)
		*wc = log->items[log->head++ % CORE_COMPLETIONS];
	spin_unlock_irq(&end->lock);
	return there;
}

static bool core_log_filled(struct core_end *end, const struct core_log *log)
{
	bool there;

	spin_lock_irq(&end->lock);
	there = log->head != log->tail;
	spin_unlock_irq(&end->lock);
	return there;
}

static bool core_has_send(struct core_end *end, u64 unused)
{
	return core_log_filled(end, end->sends);
}

static bool core_has_receive(struct core_end *end, u64 unused)
{
	return core_log_filled(end, end->recv_wrs);
}

bool core_await_send(struct core_end *end, struct krdma_wc *wc, u32 timeout_ms)
{
	return core_await(end, core_has_send, 0, timeout_ms) &&
	       core_log_take(end, end->sends, wc);
}

bool core_await_receive(struct core_end *end, struct krdma_wc *wc, u32 timeout_ms)
{
	return core_await(end, core_has_receive, 0, timeout_ms) &&
	       core_log_take(end, end->recv_wrs, wc);
}

bool core_expect_send(struct core_end *end, u64 wr_id, u8 status)
{
	struct core_test *test = end->test;
	struct krdma_wc wc;

	if (!CORE_TRUE(test, core_await_send(end, &wc, CORE_TIMEOUT_MS)))
		return false;
	return core_check(test, wc.wr_id == wr_id && wc.status == status,
			  __func__, __LINE__, "%s %llu is %s, expected %llu %s",
			  krdma_opcode_name(wc.opcode), wc.wr_id,
			  krdma_wc_status_name(wc.status), wr_id, krdma_wc_status_name(status));
}

bool core_expect_receive(struct core_end *end, u64 wr_id, u8 status, u32 length,
			 struct krdma_wc *wc)
{
	struct core_test *test = end->test;
	struct krdma_wc own;

	wc = wc ?: &own;
	if (!CORE_TRUE(test, core_await_receive(end, wc, CORE_TIMEOUT_MS)))
		return false;
	return core_check(test, wc->wr_id == wr_id && wc->status == status &&
			  (status || wc->length == length), __func__, __LINE__,
			  "receive %llu is %s with %u bytes, expected %llu %s %u",
			  wc->wr_id, krdma_wc_status_name(wc->status),
			  wc->length, wr_id, krdma_wc_status_name(status), length);
}

bool core_expect_nothing(struct core_end *end)
{
	struct krdma_wc wc;
	bool nothing;

	nothing = !core_await_send(end, &wc, CORE_QUIET_MS) &&
		  !core_await_receive(end, &wc, 0);
	return core_check(end->test, nothing, __func__, __LINE__, "%s %llu is told: %s",
			  nothing ? "" : krdma_opcode_name(wc.opcode),
			  nothing ? 0 : wc.wr_id,
			  nothing ? "" : krdma_wc_status_name(wc.status));
}

/*
 * Memory
 */

bool core_buffer_make(struct core_test *test, struct core_buffer *buffer,
		      struct krdma_session *session, size_t size, u32 access)
{
	*buffer = (struct core_buffer) { .size = size };
	buffer->data = size <= CORE_KMALLOC_MAX ? kzalloc(size, GFP_KERNEL) : vzalloc(size);
	if (!CORE_TRUE(test, buffer->data))
		return false;
	buffer->mr = krdma_mr_register(session, test->dev, buffer->data, size, access);
	if (buffer->mr == ERR_PTR(-EOPNOTSUPP) &&
	    !(test->attr.caps & KRDMA_DEVICE_CAP_FAST_REG)) {
		test->skipped = "the device registers no memory for peers";
		return false;
	}
	if (!CORE_OK_PTR(test, buffer->mr))
		return false;
	krdma_mr_query(buffer->mr, &buffer->info);
	return true;
}

void core_buffer_first_rkey(struct core_buffer *buffer)
{
	struct krdma_mr_rkey_range first;

	if (!buffer->info.rkey && !krdma_mr_rkey_at(buffer->mr, 0, &first)) {
		buffer->info.rkey = first.rkey;
		buffer->info.remote_addr = first.remote_addr;
	}
}

/* No work request in flight uses it any more.  A buffer that was never created is allowed. */
void core_buffer_free(struct core_test *test, struct core_buffer *buffer)
{
	if (!IS_ERR_OR_NULL(buffer->mr) &&
	    !CORE_EQ(test, 0, krdma_mr_deregister(buffer->mr)))
		return;
	kvfree(buffer->data);
	*buffer = (struct core_buffer) {};
}

static u8 core_byte(size_t i, u32 seed)
{
	return (i * 31 + (i >> 8) * 7 + seed * 101) ^ (i >> 16);
}

void core_fill(void *data, size_t size, u32 seed)
{
	for (size_t i = 0; i < size; i++)
		((u8 *)data)[i] = core_byte(i, seed);
}

bool core_filled(const void *data, size_t size, u32 seed)
{
	for (size_t i = 0; i < size; i++) {
		if (((const u8 *)data)[i] != core_byte(i, seed))
			return false;
	}
	return true;
}

bool core_written(const struct core_test *test, const void *data, size_t size, u32 seed)
{
	unsigned long deadline = jiffies + msecs_to_jiffies(CORE_TIMEOUT_MS);

	while (!core_filled(data, size, seed)) {
		if (!test->iwarp || time_after(jiffies, deadline))
			return false;
		msleep(20);
	}
	return true;
}

bool core_driver_is(const struct core_test *test, enum rdma_driver_id driver)
{
	struct krdma_port_attr port = {};
	struct ib_device *ib = NULL;
	struct net_device *netdev;

	krdma_device_query_port(test->dev, &init_net, 1, &port);
	netdev = dev_get_by_index(&init_net, port.netdev_ifindex);
	if (netdev)
		ib = ib_device_get_by_netdev(netdev, driver);
	dev_put(netdev);
	if (ib)
		ib_device_put(ib);
	return ib;
}

/*
 * Work requests
 */

struct krdma_sge core_sge(const struct core_buffer *buffer, size_t offset, u32 length)
{
	return (struct krdma_sge) {
		.mr = buffer->mr,
		.addr = buffer->info.addr + offset,
		.length = length,
	};
}

int core_receive(struct core_end *end, u64 wr_id, const struct core_buffer *buffer, size_t offset,
		 u32 length)
{
	struct krdma_sge sge = core_sge(buffer, offset, length);
	struct krdma_recv_wr recv_wr = { .wr_id = wr_id, .sges = &sge, .sge_count = 1 };

	return krdma_conn_post_recv(end->conn, &recv_wr, 1);
}

int core_receive_empty(struct core_end *end, u64 wr_id)
{
	struct krdma_recv_wr recv_wr = { .wr_id = wr_id };

	return krdma_conn_post_recv(end->conn, &recv_wr, 1);
}

int core_send(struct core_end *end, u64 wr_id, const struct core_buffer *buffer, size_t offset,
	      u32 length, u8 flags)
{
	struct krdma_sge sge = core_sge(buffer, offset, length);
	struct krdma_send_wr wr = {
		.wr_id = wr_id,
		.opcode = KRDMA_OP_SEND,
		.flags = flags,
		.sges = &sge,
		.sge_count = 1,
	};

	return krdma_conn_post_send(end->conn, &wr, 1);
}

int core_rdma(struct core_end *end, u64 wr_id, u8 opcode, const struct core_buffer *local,
	      size_t offset, u32 length, const struct core_buffer *remote, size_t remote_offset,
	      u8 flags)
{
	struct krdma_sge sge = core_sge(local, offset, length);
	struct krdma_send_wr wr = {
		.wr_id = wr_id,
		.opcode = opcode,
		.flags = flags,
		.sges = &sge,
		.sge_count = 1,
		.remote_addr = remote->info.remote_addr + remote_offset,
		.rkey = remote->info.rkey,
	};

	return krdma_conn_post_send(end->conn, &wr, 1);
}
