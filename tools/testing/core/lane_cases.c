// SPDX-License-Identifier: GPL-2.0
/* Lanes: connections that share a trunk. */
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/ktime.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <net/net_namespace.h>

#include "fixture.h"
#include "lanes.h"

/* Longer than an idle trunk stays. */
#define LANE_IDLE_MS	11000

struct core_pair *lane_alloc(struct core_test *test)
{
	struct core_pair *pair = core_pair_alloc(test);

	if (pair) {
		pair->client_lane = true;
		pair->server_lanes = true;
	}
	return pair;
}

/* The number of the trunk, 0 if the connection is not a lane. */
u64 lane_trunk(struct core_end *end)
{
	struct krdma_conn_info info;

	krdma_conn_query(end->conn, &info);
	return info.lane ? info.trunk : 0;
}

/* For so long a peer that did not answer in time is not asked for lanes again. */
#define LANE_ABSENT_MS	10000

/*
 * Resolves to a lane.  In the debug kernel, a trunk can take longer than a client waits for it.
 * Then the client has a plain connection, and the next one is a lane.
 */
bool lane_resolve(struct core_pair *pair)
{
	if (!core_pair_resolve(pair))
		return false;
	if (lane_trunk(&pair->client))
		return true;
	core_end_close(&pair->client);
	pair->client.event_count = 0;
	msleep(LANE_ABSENT_MS + 1000);
	return core_pair_resolve(pair) && CORE_TRUE(pair->test, lane_trunk(&pair->client));
}

/* Two ends of a lane. */
struct core_pair *lane_open(struct core_test *test)
{
	struct core_pair *pair = lane_alloc(test);

	if (!pair)
		return NULL;
	if (core_pair_listen(pair, 0) && lane_resolve(pair) && core_pair_connect(pair) &&
	    CORE_TRUE(test, lane_trunk(&pair->server)))
		return pair;
	core_pair_close(pair);
	return NULL;
}

/* Another lane to the listener of @pair. */
struct core_pair *lane_open_beside(struct core_pair *pair)
{
	struct core_pair *other = lane_alloc(pair->test);

	if (!other)
		return NULL;
	other->listener = pair->listener;
	other->listen_address = pair->listen_address;
	if (core_pair_resolve(other) && core_pair_connect(other) &&
	    CORE_EQ(pair->test, lane_trunk(&pair->client), lane_trunk(&other->client)) &&
	    CORE_EQ(pair->test, lane_trunk(&pair->server), lane_trunk(&other->server)))
		return other;
	other->listener = NULL;
	core_pair_close(other);
	return NULL;
}

void lane_close_beside(struct core_pair *other)
{
	if (!other)
		return;
	other->listener = NULL;
	core_pair_close(other);
}

/* The last byte of a buffer is as @seed says, and those behind the message are untouched. */
static void lane_message(struct core_test *test, struct core_end *from,
			 struct core_buffer *source, struct core_end *to,
			 struct core_buffer *target, u32 length)
{
	u32 seed = length % 251 + 1;

	core_fill(source->data, length, seed);
	memset(target->data, 0xee, target->size);
	CORE_EQ(test, 1, core_receive(to, 2 * (u64)length, target, 0, target->size));
	CORE_EQ(test, 1, core_send(from, 2 * (u64)length + 1, source, 0, length, 0));
	core_expect_send(from, 2 * (u64)length + 1, KRDMA_WC_SUCCESS);
	core_expect_receive(to, 2 * (u64)length, KRDMA_WC_SUCCESS, length, NULL);
	CORE_TRUE(test, core_filled(target->data, length, seed));
	CORE_TRUE(test, length == target->size || target->data[length] == 0xee);
}

#define LANE_LONGEST	SZ_1M

/* Messages of lengths around those of a frame, in both directions. */
/* Proves: F14 */
static void lane_messages(struct core_test *test)
{
	static const u32 lengths[] = {
		0, 1, 8, 4047, 4048, 4049, 4056, 4064, 4065, 8096, 8097, 65536, LANE_LONGEST,
	};
	struct core_buffer client = {}, server = {};
	struct core_pair *pair = lane_open(test);

	if (!pair)
		return;
	if (!core_buffer_make(test, &client, pair->client_session, LANE_LONGEST,
			      KRDMA_ACCESS_LOCAL_WRITE) ||
	    !core_buffer_make(test, &server, pair->server_session, LANE_LONGEST,
			      KRDMA_ACCESS_LOCAL_WRITE))
		goto out;
	for (int i = 0; i < ARRAY_SIZE(lengths) && !test->failures; i++) {
		lane_message(test, &pair->client, &client, &pair->server, &server, lengths[i]);
		lane_message(test, &pair->server, &server, &pair->client, &client, lengths[i]);
	}
	core_expect_nothing(&pair->client);
	core_expect_nothing(&pair->server);
out:
	core_pair_close(pair);
	core_buffer_free(test, &client);
	core_buffer_free(test, &server);
}

#define LANE_ROW	40

/*
 * Many messages in a row, of changing lengths and with immediate data on every transport: they
 * arrive in order, each once.
 */
/* Proves: F14 */
static void lane_order(struct core_test *test)
{
	struct core_buffer from = {}, to = {};
	struct core_pair *pair = lane_open(test);
	struct krdma_wc wc;

	if (!pair)
		return;
	if (!core_buffer_make(test, &from, pair->client_session, SZ_16K, 0) ||
	    !core_buffer_make(test, &to, pair->server_session, SZ_16K, KRDMA_ACCESS_LOCAL_WRITE))
		goto out;
	for (u32 i = 0; i < LANE_ROW; i++)
		CORE_EQ(test, 1, core_receive(&pair->server, i, &to, 0, SZ_16K));
	for (u32 i = 0; i < LANE_ROW; i++) {
		struct krdma_sge sges[2] = {
			core_sge(&from, 0, 97 * i), core_sge(&from, 97 * i, 3 * i),
		};
		struct krdma_send_wr wr = {
			.wr_id = i,
			.opcode = i % 2 ? KRDMA_OP_SEND_IMM : KRDMA_OP_SEND,
			.flags = i % 4 == 3 ? KRDMA_POST_UNSIGNALED : 0,
			.sges = sges,
			.sge_count = 2,
			.imm = 0xabcd0000 + i,
		};

		CORE_EQ(test, 1, krdma_conn_post_send(pair->client.conn, &wr, 1));
	}
	for (u32 i = 0; i < LANE_ROW; i++) {
		if (i % 4 != 3)
			core_expect_send(&pair->client, i, KRDMA_WC_SUCCESS);
		core_expect_receive(&pair->server, i, KRDMA_WC_SUCCESS, 100 * i, &wc);
		CORE_EQ(test, i % 2 ? KRDMA_WC_WITH_IMM : 0, wc.flags);
		if (i % 2)
			CORE_EQ(test, 0xabcd0000 + i, wc.imm);
		CORE_TRUE(test, wc.conn == pair->server.conn && wc.context == &pair->server);
	}
	core_expect_nothing(&pair->client);
out:
	core_pair_close(pair);
	core_buffer_free(test, &from);
	core_buffer_free(test, &to);
}

/* States, events, addresses, private data and errnos are those of a plain connection. */
/* Proves: F14 */
static void lane_connects(struct core_test *test)
{
	static const enum krdma_event_type client_events[] = {
		KRDMA_EVENT_ADDR_RESOLVED, KRDMA_EVENT_ROUTE_RESOLVED, KRDMA_EVENT_ESTABLISHED,
		KRDMA_EVENT_DISCONNECTED, KRDMA_EVENT_CLOSED,
	};
	static const enum krdma_event_type server_events[] = {
		KRDMA_EVENT_ESTABLISHED, KRDMA_EVENT_DISCONNECTED, KRDMA_EVENT_CLOSED,
	};
	struct sockaddr_storage of_client[2], of_server[2];
	struct core_pair *pair = lane_alloc(test);
	struct krdma_conn_info info;
	char data[64];

	if (!pair)
		return;
	pair->wr.private_data = "from the client";
	pair->wr.private_data_len = 15;
	pair->wr.read_depth = 1;
	pair->answer.private_data = "from the server itself";
	pair->answer.private_data_len = 22;
	if (!core_pair_listen(pair, 0) || !core_pair_resolve(pair) || !core_pair_connect(pair))
		goto out;
	CORE_TRUE(test, lane_trunk(&pair->client));
	CORE_EQ(test, 22, krdma_conn_private_data(pair->client.conn, data, sizeof(data)));
	CORE_TRUE(test, !memcmp(data, "from the server itself", 22));
	CORE_EQ(test, 15, krdma_conn_private_data(pair->server.conn, data, sizeof(data)));
	CORE_TRUE(test, !memcmp(data, "from the client", 15));

	CORE_EQ(test, 0, krdma_conn_addresses(pair->client.conn, &of_client[0], &of_client[1]));
	CORE_EQ(test, 0, krdma_conn_addresses(pair->server.conn, &of_server[0], &of_server[1]));
	/* IPv4 and IPv6 addresses are in the first 24 bytes, as they are in each other's. */
	CORE_TRUE(test, !memcmp(&of_client[0], &of_server[1], 24));
	CORE_TRUE(test, !memcmp(&of_client[1], &of_server[0], 24));
	CORE_TRUE(test, krdma_conn_device(pair->client.conn) == test->dev);
	CORE_TRUE(test, krdma_conn_device(pair->server.conn) == test->dev);
	krdma_conn_query(pair->client.conn, &info);
	CORE_EQ(test, KRDMA_CONN_CONNECTED, info.state);
	CORE_EQ(test, 1, info.read_depth);
	CORE_TRUE(test, info.peer_is_krdma && !info.qp_number);
	krdma_conn_query(pair->server.conn, &info);
	CORE_EQ(test, 1, info.read_depth_in);
	CORE_TRUE(test, info.peer_is_krdma);

	CORE_EQ(test, -EISCONN, krdma_conn_connect(pair->client.conn, &pair->wr));
	CORE_EQ(test, -EISCONN, krdma_conn_accept(pair->server.conn, &pair->answer));
	krdma_conn_close(pair->client.conn);
	CORE_TRUE(test, core_await_event(&pair->server, KRDMA_EVENT_CLOSED, CORE_TIMEOUT_MS));
	CORE_TRUE(test, core_await_event(&pair->client, KRDMA_EVENT_CLOSED, CORE_TIMEOUT_MS));
	if (CORE_EQ(test, ARRAY_SIZE(client_events), pair->client.event_count)) {
		for (int i = 0; i < ARRAY_SIZE(client_events); i++)
			CORE_EQ(test, client_events[i], pair->client.events[i].type);
	}
	if (CORE_EQ(test, ARRAY_SIZE(server_events), pair->server.event_count)) {
		for (int i = 0; i < ARRAY_SIZE(server_events); i++)
			CORE_EQ(test, server_events[i], pair->server.events[i].type);
	}
	CORE_EQ(test, -ENOTCONN, krdma_conn_wait(pair->client.conn, 1));
	CORE_EQ(test, -EPIPE, krdma_conn_wait(pair->server.conn, 1));
out:
	core_pair_close(pair);
}

/* Without a listener that takes lanes, the connection is a plain one. */
/* Proves: F14 */
static void lane_falls_back(struct core_test *test)
{
	struct core_pair *pair = lane_alloc(test);

	if (!pair)
		return;
	pair->server_lanes = false;
	if (core_pair_listen(pair, 0) && core_pair_resolve(pair) && core_pair_connect(pair)) {
		CORE_EQ(test, 0, lane_trunk(&pair->client));
		CORE_EQ(test, 0, lane_trunk(&pair->server));
		CORE_EQ(test, 1, core_receive_empty(&pair->server, 1));
		CORE_EQ(test, 1, core_send(&pair->client, 2, &(struct core_buffer) {}, 0, 0, 0));
		core_expect_send(&pair->client, 2, KRDMA_WC_SUCCESS);
		core_expect_receive(&pair->server, 1, KRDMA_WC_SUCCESS, 0, NULL);
	}
	core_pair_close(pair);
}

/* For so long a client waits for a trunk before it makes a plain connection. */
#define LANE_TRUNK_MS	4000

/*
 * A host that begins to take lanes is asked at once, though it was known to take none.  In the
 * debug kernel, the trunk can take longer than the client waits.
 */
/* Proves: F14 */
static void lane_begins(struct core_test *test)
{
	struct core_pair *pair = lane_alloc(test);
	ktime_t begun;

	if (!pair)
		return;
	pair->server_lanes = false;
	if (core_pair_listen(pair, 0) && core_pair_resolve(pair))
		CORE_EQ(test, 0, lane_trunk(&pair->client));
	core_pair_close(pair);

	pair = lane_alloc(test);
	if (!pair)
		return;
	if (core_pair_listen(pair, 0)) {
		begun = ktime_get();
		if (core_pair_resolve(pair) && !lane_trunk(&pair->client))
			CORE_TRUE(test, ktime_ms_delta(ktime_get(), begun) >= LANE_TRUNK_MS);
	}
	core_pair_close(pair);
}

/* The same where the host has a trunk, and only this listener takes no lanes. */
/* Proves: F14 */
static void lane_falls_back_beside_lanes(struct core_test *test)
{
	struct core_pair *lanes = lane_open(test);
	struct core_pair *pair = lane_alloc(test);

	if (!lanes || !pair)
		goto out;
	pair->server_lanes = false;
	if (core_pair_listen(pair, 0) && core_pair_resolve(pair) && core_pair_connect(pair)) {
		CORE_EQ(test, 0, lane_trunk(&pair->client));
		CORE_EQ(test, 0, lane_trunk(&pair->server));
	}
	core_end_close(&pair->client);
	core_end_close(&pair->server);

	/* A plain client of a listener that takes lanes. */
	pair->client_lane = false;
	krdma_listener_close(pair->listener);
	krdma_listener_put(pair->listener);
	pair->server_lanes = true;
	pair->client.event_count = 0;
	pair->server.event_count = 0;
	if (core_pair_listen(pair, 0) && core_pair_resolve(pair) && core_pair_connect(pair)) {
		CORE_EQ(test, 0, lane_trunk(&pair->client));
		CORE_EQ(test, 0, lane_trunk(&pair->server));
	}
out:
	core_pair_close(pair);
	core_pair_close(lanes);
}

/* A lane is rejected, with private data, or because its listener is gone or full. */
/* Proves: F14 */
static void lane_refused(struct core_test *test)
{
	struct core_pair *pair = lane_alloc(test);
	struct core_pair *other = NULL;
	char data[64];

	if (!pair || !core_pair_listen(pair, 1) || !lane_resolve(pair))
		goto out;
	other = lane_alloc(test);
	if (!other)
		goto out;
	other->listen_address = pair->listen_address;
	if (!core_pair_resolve(other))
		goto out;

	/* The backlog is 1. */
	CORE_EQ(test, 0, krdma_conn_connect(pair->client.conn, &pair->wr));
	CORE_EQ(test, -ETIMEDOUT, krdma_conn_wait(pair->client.conn, CORE_QUIET_MS));
	CORE_EQ(test, 0, krdma_conn_connect(other->client.conn, &other->wr));
	CORE_EQ(test, -ECONNREFUSED, krdma_conn_wait(other->client.conn, CORE_TIMEOUT_MS));

	pair->server.conn = krdma_listener_next(pair->listener, &core_ops, &pair->server, 0);
	if (!CORE_OK_PTR(test, pair->server.conn))
		goto out;
	CORE_EQ(test, -EMSGSIZE, krdma_conn_reject(pair->server.conn, data, 252));
	CORE_EQ(test, 0, krdma_conn_reject(pair->server.conn, "not today", 9));
	CORE_EQ(test, -ECONNREFUSED, krdma_conn_wait(pair->client.conn, CORE_TIMEOUT_MS));
	CORE_EQ(test, 9, krdma_conn_private_data(pair->client.conn, data, sizeof(data)));
	CORE_TRUE(test, !memcmp(data, "not today", 9));
	CORE_TRUE(test, core_await_event(&pair->client, KRDMA_EVENT_REJECTED, CORE_TIMEOUT_MS));
	CORE_EQ(test, -ECONNABORTED, krdma_conn_wait(pair->server.conn, CORE_TIMEOUT_MS));
	core_end_close(&other->client);

	/* The listener ends between the question and the request. */
	other->client.event_count = 0;
	if (!core_pair_resolve(other) || !CORE_TRUE(test, lane_trunk(&other->client)))
		goto out;
	krdma_listener_close(pair->listener);
	CORE_EQ(test, 0, krdma_conn_connect(other->client.conn, &other->wr));
	CORE_TRUE(test, krdma_conn_wait(other->client.conn, CORE_TIMEOUT_MS) < 0);
out:
	core_pair_close(other);
	core_pair_close(pair);
}

/* A request that its client gives up, and one that its listener does not take. */
/* Proves: F14 */
static void lane_given_up(struct core_test *test)
{
	struct core_pair *pair = lane_alloc(test);

	if (!pair || !core_pair_listen(pair, 0) || !lane_resolve(pair))
		goto out;
	CORE_EQ(test, 0, krdma_conn_connect(pair->client.conn, &pair->wr));
	pair->server.conn = krdma_listener_next(pair->listener, &core_ops, &pair->server,
						CORE_TIMEOUT_MS);
	if (!CORE_OK_PTR(test, pair->server.conn))
		goto out;
	core_end_close(&pair->client);
	CORE_TRUE(test, core_await_event(&pair->server, KRDMA_EVENT_REJECTED, CORE_TIMEOUT_MS));
	CORE_EQ(test, -ECONNRESET, krdma_conn_wait(pair->server.conn, CORE_TIMEOUT_MS));
	CORE_EQ(test, -ENOTCONN, krdma_conn_accept(pair->server.conn, &pair->answer));
	core_end_close(&pair->server);

	pair->client.event_count = 0;
	if (!lane_resolve(pair))
		goto out;
	CORE_EQ(test, 0, krdma_conn_connect(pair->client.conn, &pair->wr));
	CORE_EQ(test, -ETIMEDOUT, krdma_conn_wait(pair->client.conn, CORE_QUIET_MS));
	krdma_listener_close(pair->listener);
	CORE_EQ(test, -ECONNREFUSED, krdma_conn_wait(pair->client.conn, CORE_TIMEOUT_MS));
out:
	core_pair_close(pair);
}

/* What a lane cannot do is refused, and the lane goes on. */
/* Proves: F14 */
static void lane_refusals(struct core_test *test)
{
	struct core_buffer buffer = {}, foreign = {};
	struct core_pair *pair = lane_alloc(test);
	struct krdma_conn_attr attr;
	struct krdma_sge sge;
	struct krdma_send_wr wr = { .sges = &sge, .sge_count = 1 };
	struct krdma_recv_wr recv = { .sges = &sge, .sge_count = 1 };
	struct scatterlist *sg = NULL;

	if (!pair)
		return;
	pair->client_attr.max_inline = 100;
	pair->client_attr.send_depth = 4;
	if (!core_pair_listen(pair, 0) || !core_pair_resolve(pair))
		goto out;
	sge = (struct krdma_sge) {};
	wr.opcode = KRDMA_OP_SEND;
	CORE_EQ(test, -ENOTCONN, krdma_conn_post_send(pair->client.conn, &wr, 1));
	CORE_EQ(test, -ENOTCONN, krdma_conn_post_recv(pair->client.conn, &recv, 1));
	attr = pair->client_attr;
	attr.max_inline = 1025;
	CORE_EQ(test, -EINVAL, krdma_conn_create_qp(pair->client.conn, &attr));
	attr.max_inline = 0;
	attr.send_depth = test->attr.limits.max_send_wr + 1;
	CORE_EQ(test, -EINVAL, krdma_conn_create_qp(pair->client.conn, &attr));
	if (!core_pair_connect(pair) ||
	    !core_buffer_make(test, &buffer, pair->client_session, SZ_4K, 0) ||
	    !core_buffer_make(test, &foreign, pair->server_session, SZ_4K,
			      KRDMA_ACCESS_LOCAL_WRITE))
		goto out;
	CORE_EQ(test, -EISCONN, krdma_conn_create_qp(pair->client.conn, &pair->client_attr));

	sge = core_sge(&buffer, 0, 8);
	wr.opcode = KRDMA_OP_SEND_INVALIDATE;
	CORE_EQ(test, -EOPNOTSUPP, krdma_conn_post_send(pair->client.conn, &wr, 1));
	wr.opcode = 200;
	CORE_EQ(test, -EINVAL, krdma_conn_post_send(pair->client.conn, &wr, 1));
	wr.opcode = KRDMA_OP_SEND;
	CORE_EQ(test, -EINVAL, krdma_conn_post_send(pair->client.conn, &wr, 0));
	CORE_EQ(test, -EACCES, krdma_conn_post_recv(pair->client.conn, &recv, 1));
	sge = core_sge(&buffer, SZ_4K - 7, 8);
	CORE_EQ(test, -ERANGE, krdma_conn_post_send(pair->client.conn, &wr, 1));
	sge = core_sge(&foreign, 0, 8);
	CORE_EQ(test, -EXDEV, krdma_conn_post_send(pair->client.conn, &wr, 1));
	sge.mr = NULL;
	CORE_EQ(test, -EOPNOTSUPP, krdma_conn_post_send(pair->client.conn, &wr, 1));
	sge = (struct krdma_sge) { .addr = (uintptr_t)buffer.data, .length = 101 };
	wr.flags = KRDMA_POST_INLINE;
	CORE_EQ(test, -EMSGSIZE, krdma_conn_post_send(pair->client.conn, &wr, 1));
	CORE_EQ(test, -EOPNOTSUPP, krdma_conn_map_sg(pair->client.conn, sg, 0, DMA_TO_DEVICE));

	/* None of it has used an entry, or the MR. */
	sge.length = 100;
	core_fill(buffer.data, 100, 9);
	CORE_EQ(test, 1, core_receive(&pair->server, 1, &foreign, 0, SZ_4K));
	CORE_EQ(test, 1, krdma_conn_post_send(pair->client.conn, &wr, 1));
	memset(buffer.data, 0, 100);
	core_expect_send(&pair->client, 0, KRDMA_WC_SUCCESS);
	core_expect_receive(&pair->server, 1, KRDMA_WC_SUCCESS, 100, NULL);
	CORE_TRUE(test, core_filled(foreign.data, 100, 9));
	CORE_EQ(test, 0, krdma_mr_close(buffer.mr));
	wr.flags = 0;
	sge = core_sge(&buffer, 0, 8);
	CORE_EQ(test, -ESTALE, krdma_conn_post_send(pair->client.conn, &wr, 1));
out:
	core_pair_close(pair);
	core_buffer_free(test, &buffer);
	core_buffer_free(test, &foreign);
}

/* A message waits for its receive, and a full queue is reported and emptied. */
/* Proves: F14 */
static void lane_waits_for_receive(struct core_test *test)
{
	struct core_pair *pair = lane_alloc(test);
	struct core_buffer none = {};

	if (!pair)
		return;
	pair->client_attr.send_depth = 3;
	pair->answer.no_rnr_retry = true;
	if (!core_pair_listen(pair, 0) || !core_pair_resolve(pair) || !core_pair_connect(pair))
		goto out;
	for (int i = 0; i < 3; i++)
		CORE_EQ(test, 1, core_send(&pair->client, i, &none, 0, 0, 0));
	CORE_EQ(test, -EAGAIN, core_send(&pair->client, 3, &none, 0, 0, 0));
	core_expect_nothing(&pair->client);
	CORE_EQ(test, 0, READ_ONCE(pair->client.spaces));
	for (int i = 0; i < 3; i++) {
		CORE_EQ(test, 1, core_receive_empty(&pair->server, i));
		core_expect_receive(&pair->server, i, KRDMA_WC_SUCCESS, 0, NULL);
		core_expect_send(&pair->client, i, KRDMA_WC_SUCCESS);
		core_expect_nothing(&pair->client);
	}
	CORE_EQ(test, 1, READ_ONCE(pair->client.spaces));
	CORE_EQ(test, 1, core_send(&pair->client, 3, &none, 0, 0, 0));
out:
	core_pair_close(pair);
}

/* What is posted when a lane ends is flushed, in order, on both sides. */
/* Proves: F14 */
static void lane_flushes(struct core_test *test)
{
	struct core_pair *pair = lane_open(test);
	struct core_buffer none = {};

	if (!pair)
		return;
	CORE_EQ(test, 1, core_receive_empty(&pair->client, 1));
	CORE_EQ(test, 1, core_receive_empty(&pair->client, 2));
	CORE_EQ(test, 1, core_send(&pair->client, 3, &none, 0, 0, 0));
	CORE_EQ(test, 1, core_send(&pair->client, 4, &none, 0, 0, KRDMA_POST_UNSIGNALED));
	CORE_EQ(test, 1, core_send(&pair->server, 7, &none, 0, 0, 0));
	core_expect_receive(&pair->client, 1, KRDMA_WC_SUCCESS, 0, NULL);
	CORE_EQ(test, 0, krdma_conn_disconnect(pair->client.conn));
	CORE_EQ(test, -ENOTCONN, core_send(&pair->client, 5, &none, 0, 0, 0));
	CORE_EQ(test, -ENOTCONN, core_receive_empty(&pair->client, 6));
	core_expect_send(&pair->client, 3, KRDMA_WC_WR_FLUSH_ERR);
	core_expect_send(&pair->client, 4, KRDMA_WC_WR_FLUSH_ERR);
	core_expect_receive(&pair->client, 2, KRDMA_WC_WR_FLUSH_ERR, 0, NULL);
	core_expect_send(&pair->server, 7, KRDMA_WC_SUCCESS);
	CORE_TRUE(test, core_await_event(&pair->server, KRDMA_EVENT_CLOSED, CORE_TIMEOUT_MS));
	CORE_EQ(test, -ENOTCONN, core_receive_empty(&pair->server, 8));
	core_pair_close(pair);
}

/* A message that is longer than its receive ends its lane on both sides, and no other one. */
/* Proves: F14 */
static void lane_message_too_long(struct core_test *test)
{
	struct core_buffer from = {}, to = {};
	struct core_pair *pair = lane_open(test);
	struct core_pair *other = NULL;
	struct krdma_conn_info info;

	if (!pair)
		return;
	other = lane_open_beside(pair);
	if (!other ||
	    !core_buffer_make(test, &from, pair->client_session, SZ_64K, 0) ||
	    !core_buffer_make(test, &to, pair->server_session, SZ_64K, KRDMA_ACCESS_LOCAL_WRITE))
		goto out;
	memset(to.data, 0xee, SZ_64K);
	CORE_EQ(test, 1, core_receive(&pair->server, 1, &to, 0, SZ_64K - 1));
	CORE_EQ(test, 1, core_receive(&pair->server, 2, &to, 0, SZ_64K));
	CORE_EQ(test, 1, core_send(&pair->client, 3, &from, 0, SZ_64K, 0));
	core_expect_receive(&pair->server, 1, KRDMA_WC_LOC_LEN_ERR, 0, NULL);
	core_expect_receive(&pair->server, 2, KRDMA_WC_WR_FLUSH_ERR, 0, NULL);
	CORE_TRUE(test, core_await_event(&pair->server, KRDMA_EVENT_LOST, CORE_TIMEOUT_MS));
	CORE_TRUE(test, core_await_event(&pair->client, KRDMA_EVENT_LOST, CORE_TIMEOUT_MS));
	CORE_EQ(test, -EIO, krdma_conn_wait(pair->client.conn, CORE_TIMEOUT_MS));
	CORE_EQ(test, -EIO, krdma_conn_wait(pair->server.conn, CORE_TIMEOUT_MS));
	CORE_TRUE(test, !memchr_inv(to.data, 0xee, SZ_64K));

	krdma_conn_query(other->client.conn, &info);
	CORE_EQ(test, KRDMA_CONN_CONNECTED, info.state);
	CORE_EQ(test, 1, core_receive_empty(&other->server, 1));
	CORE_EQ(test, 1, core_send(&other->client, 2, &(struct core_buffer) {}, 0, 0, 0));
	core_expect_receive(&other->server, 1, KRDMA_WC_SUCCESS, 0, NULL);
	core_expect_send(&other->client, 2, KRDMA_WC_SUCCESS);
out:
	lane_close_beside(other);
	core_pair_close(pair);
	core_buffer_free(test, &from);
	core_buffer_free(test, &to);
}

#define LANE_STREAM	16

/* Counts what the streaming lane has received when the other one has its message. */
struct lane_race {
	struct core_end *stream;
	u64 seen;
};

static void lane_race_complete(struct core_end *end, const struct krdma_wc *wc)
{
	struct lane_race *race = end->context;

	race->seen = READ_ONCE(race->stream->told);
}

/* A lane that streams does not keep the others of its trunk waiting. */
/* Proves: F14 */
static void lane_turns(struct core_test *test)
{
	struct core_buffer from = {}, to = {};
	struct core_pair *pair = lane_open(test);
	struct core_pair *other = NULL;
	struct lane_race race;

	if (!pair)
		return;
	other = lane_open_beside(pair);
	if (!other ||
	    !core_buffer_make(test, &from, pair->client_session, SZ_256K, 0) ||
	    !core_buffer_make(test, &to, pair->server_session, SZ_256K, KRDMA_ACCESS_LOCAL_WRITE))
		goto out;
	race = (struct lane_race) { .stream = &pair->server };
	other->server.context = &race;
	other->server.complete = lane_race_complete;
	for (int i = 0; i < LANE_STREAM; i++)
		CORE_EQ(test, 1, core_receive(&pair->server, i, &to, 0, SZ_256K));
	CORE_EQ(test, 1, core_receive_empty(&other->server, 1));
	for (int i = 0; i < LANE_STREAM; i++)
		CORE_EQ(test, 1, core_send(&pair->client, i, &from, 0, SZ_256K, 0));
	CORE_EQ(test, 1, core_send(&other->client, 2, &(struct core_buffer) {}, 0, 0, 0));
	CORE_TRUE(test, core_await_told(&other->server, 1, CORE_TIMEOUT_MS));
	for (int i = 0; i < LANE_STREAM; i++) {
		core_expect_send(&pair->client, i, KRDMA_WC_SUCCESS);
		core_expect_receive(&pair->server, i, KRDMA_WC_SUCCESS, SZ_256K, NULL);
	}
	/* All of them are in the queue before the other message. */
	CORE_TRUE(test, race.seen < LANE_STREAM / 2);
	core_expect_send(&other->client, 2, KRDMA_WC_SUCCESS);
out:
	lane_close_beside(other);
	core_pair_close(pair);
	core_buffer_free(test, &from);
	core_buffer_free(test, &to);
}

#define LANE_VOLLEY	100

/* One of two ends that answer each other in their callbacks. */
struct lane_volley {
	u32 received;
	bool elsewhere;
};

static void lane_volley_complete(struct core_end *end, const struct krdma_wc *wc)
{
	struct lane_volley *volley = end->context;
	bool first = end == &end->pair->client;

	if (wc->opcode != KRDMA_OP_RECV || wc->status)
		return;
	if (end->test->where == KRDMA_CONTEXT_SOFTIRQ && !in_serving_softirq())
		volley->elsewhere = true;
	volley->received++;
	if (first && volley->received == LANE_VOLLEY)
		return;
	CORE_EQ(end->test, 1, core_receive_empty(end, volley->received));
	CORE_EQ(end->test, 1, core_send(end, 0, &(struct core_buffer) {}, 0, 0,
					KRDMA_POST_UNSIGNALED));
}

/*
 * The consumer may post in its callback, and its messages arrive.  A callback in softirq is called
 * by the completion of the link, without another thread.
 */
/* Proves: F14 */
static void lane_answers_at_once(struct core_test *test)
{
	struct core_pair *pair = lane_open(test);
	struct lane_volley client = {}, server = {};

	if (!pair)
		return;
	pair->client.context = &client;
	pair->client.complete = lane_volley_complete;
	pair->server.context = &server;
	pair->server.complete = lane_volley_complete;
	CORE_EQ(test, 1, core_receive_empty(&pair->client, 0));
	CORE_EQ(test, 1, core_receive_empty(&pair->server, 0));
	CORE_EQ(test, 1, core_send(&pair->client, 0, &(struct core_buffer) {}, 0, 0,
				   KRDMA_POST_UNSIGNALED));
	CORE_TRUE(test, core_await_told(&pair->client, LANE_VOLLEY, CORE_TIMEOUT_MS));
	CORE_TRUE(test, core_await_told(&pair->server, LANE_VOLLEY, CORE_TIMEOUT_MS));
	CORE_EQ(test, LANE_VOLLEY, client.received);
	CORE_EQ(test, LANE_VOLLEY, server.received);
	CORE_TRUE(test, !client.elsewhere && !server.elsewhere);
	core_pair_close(pair);
}

#define LANE_MANY	60

struct lane_crowd {
	struct krdma_conn *clients[LANE_MANY];
	struct krdma_conn *servers[LANE_MANY];
};

/* Many lanes share one trunk, also those that are opened at the same time. */
/* Proves: F14 */
static void lane_many(struct core_test *test)
{
	struct lane_crowd *crowd = kzalloc_obj(*crowd, GFP_KERNEL);
	struct core_pair *pair = lane_alloc(test);
	struct krdma_conn_attr attr = { .send_depth = 2, .recv_depth = 2 };
	struct krdma_conn_param param = {};
	struct krdma_conn_info info;
	u64 trunk = 0;

	if (!CORE_TRUE(test, crowd) || !pair || !core_pair_listen(pair, 0))
		goto out;
	for (int i = 0; i < LANE_MANY && !test->failures; i++) {
		struct krdma_route route = {
			.remote = (struct sockaddr *)&pair->listen_address,
		};

		crowd->clients[i] = krdma_conn_create_lane(pair->client_session, NULL, NULL);
		CORE_EQ(test, 0, krdma_conn_resolve(crowd->clients[i], &route));
	}
	for (int i = 0; i < LANE_MANY && !test->failures; i++) {
		CORE_EQ(test, 0, krdma_conn_wait(crowd->clients[i], CORE_TIMEOUT_MS));
		CORE_EQ(test, 0, krdma_conn_create_qp(crowd->clients[i], &attr));
		CORE_EQ(test, 0, krdma_conn_connect(crowd->clients[i], &param));
	}
	for (int i = 0; i < LANE_MANY && !test->failures; i++) {
		crowd->servers[i] = krdma_listener_next(pair->listener, NULL, NULL,
							CORE_TIMEOUT_MS);
		if (!CORE_OK_PTR(test, crowd->servers[i]))
			break;
		CORE_EQ(test, 0, krdma_conn_create_qp(crowd->servers[i], &attr));
		CORE_EQ(test, 0, krdma_conn_accept(crowd->servers[i], &param));
	}
	for (int i = 0; i < LANE_MANY && !test->failures; i++) {
		CORE_EQ(test, 0, krdma_conn_wait(crowd->clients[i], CORE_TIMEOUT_MS));
		krdma_conn_query(crowd->clients[i], &info);
		CORE_TRUE(test, info.lane);
		trunk = trunk ?: info.trunk;
		CORE_EQ(test, trunk, info.trunk);
	}
out:
	for (int i = 0; crowd && i < LANE_MANY; i++) {
		if (!IS_ERR_OR_NULL(crowd->clients[i])) {
			krdma_conn_close(crowd->clients[i]);
			krdma_conn_put(crowd->clients[i]);
		}
		if (!IS_ERR_OR_NULL(crowd->servers[i])) {
			krdma_conn_close(crowd->servers[i]);
			krdma_conn_put(crowd->servers[i]);
		}
	}
	core_pair_close(pair);
	kfree(crowd);
}

#define LANE_ROUNDS	20

/*
 * The last listener closes the port of trunks, and the next one opens it: each connection is a
 * lane, whatever is left of the trunk before.
 */
/* Proves: F14 */
static void lane_ports_follow(struct core_test *test)
{
	for (int i = 0; i < LANE_ROUNDS && !test->failures; i++) {
		struct core_pair *pair = lane_open(test);

		core_pair_close(pair);
	}
}

/* A trunk stays while it may be used again, and ends by itself when it is not. */
/* Proves: F14 */
static void lane_idle_trunk(struct core_test *test)
{
	struct core_pair *pair = lane_open(test);
	struct core_pair *other;
	u64 trunk;

	if (!pair)
		return;
	trunk = lane_trunk(&pair->client);
	core_end_close(&pair->client);
	core_end_close(&pair->server);
	for (int i = 0; i < 2; i++) {
		pair->client.event_count = 0;
		pair->server.event_count = 0;
		if (!core_pair_resolve(pair) || !core_pair_connect(pair))
			break;
		CORE_EQ(test, i == 0, trunk == lane_trunk(&pair->client));
		other = lane_open_beside(pair);
		lane_close_beside(other);
		core_end_close(&pair->client);
		core_end_close(&pair->server);
		msleep(LANE_IDLE_MS);
	}
	core_pair_close(pair);
}

/* A listener at all addresses takes lanes, with each family and each transport. */
/* Proves: F14 */
static void lane_listen_everywhere(struct core_test *test)
{
	struct sockaddr_storage any = { .ss_family = test->address.ss_family };
	struct krdma_listen_attr attr = {
		.local = (struct sockaddr *)&any,
		.lanes = true,
		.v6only = any.ss_family == AF_INET6,
	};
	struct core_pair *pair = lane_alloc(test);

	if (!pair)
		return;
	pair->listener = krdma_listen(pair->server_session, &attr);
	if (!CORE_OK_PTR(test, pair->listener))
		goto out;
	CORE_EQ(test, 0, krdma_listener_address(pair->listener, &any));
	pair->listen_address = test->address;
	/* The port is at the same place for both. */
	((struct sockaddr_in *)&pair->listen_address)->sin_port =
		((struct sockaddr_in *)&any)->sin_port;
	if (core_pair_resolve(pair) && core_pair_connect(pair))
		CORE_TRUE(test, lane_trunk(&pair->client));
out:
	core_pair_close(pair);
}

/* Memory reclaim depends on no trunk: such a session has plain connections. */
/* Proves: F14 */
static void lane_of_reclaim(struct core_test *test)
{
	struct krdma_listen_attr attr = {
		.local = (struct sockaddr *)&test->address,
		.lanes = true,
	};
	struct core_pair *pair = lane_alloc(test);

	if (!pair)
		return;
	krdma_session_set_reclaim(pair->client_session);
	if (core_pair_listen(pair, 0) && core_pair_resolve(pair))
		CORE_EQ(test, 0, lane_trunk(&pair->client));
	CORE_ERR_PTR(test, -EOPNOTSUPP, krdma_listen(pair->client_session, &attr));
	core_pair_close(pair);
}

const struct core_case core_lane_cases[] = {
	CORE_CASE_ADDRESSES(lane_connects),
	CORE_CASE_CONTEXTS(lane_messages),
	CORE_CASE_CONTEXTS(lane_order),
	CORE_CASE_CONTEXTS(lane_waits_for_receive),
	CORE_CASE_CONTEXTS(lane_flushes),
	CORE_CASE(lane_falls_back),
	CORE_CASE(lane_begins),
	CORE_CASE(lane_falls_back_beside_lanes),
	CORE_CASE(lane_refused),
	CORE_CASE(lane_given_up),
	CORE_CASE(lane_refusals),
	CORE_CASE(lane_message_too_long),
	CORE_CASE(lane_turns),
	CORE_CASE_CONTEXTS(lane_answers_at_once),
	CORE_CASE(lane_many),
	CORE_CASE(lane_ports_follow),
	CORE_CASE(lane_idle_trunk),
	CORE_CASE_ADDRESSES(lane_listen_everywhere),
	CORE_CASE(lane_of_reclaim),
	{}
};
