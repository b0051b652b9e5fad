// SPDX-License-Identifier: GPL-2.0
/*
 * How connections begin, over a fake device: what is negotiated, what is refused, and what happens
 * to connections that fail.
 */
#include <linux/in6.h>
#include <linux/kthread.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "cm/conn.h"
#include "objects.h"
#include "cm/private_data.h"
#include "stage.h"

#define LONGEST	KRDMA_PRIVATE_DATA_EXACT_MAX

/*
 * Negotiation
 */

static void test_connect(struct kunit *test)
{
	struct stage *stage = stage_connected(test);
	char words[KRDMA_PRIVATE_DATA_MAX];

	KUNIT_EXPECT_EQ(test, 7, krdma_conn_private_data(stage->client.conn, words, sizeof(words)));
	KUNIT_EXPECT_MEMEQ(test, "welcome", words, 7);
	KUNIT_EXPECT_EQ(test, 6, krdma_conn_private_data(stage->server.conn, words, sizeof(words)));
	KUNIT_EXPECT_MEMEQ(test, "please", words, 6);

	/* The server disconnects, and both ends get an event, each with its own reason. */
	KUNIT_EXPECT_EQ(test, 0, krdma_conn_disconnect(stage->server.conn));
	KUNIT_EXPECT_TRUE(test, actor_hears(&stage->client, KRDMA_EVENT_CLOSED));
	KUNIT_EXPECT_EQ(test, -ECONNRESET, krdma_conn_wait(stage->client.conn, STAGE_LONG_MS));
	KUNIT_EXPECT_EQ(test, -ENOTCONN, krdma_conn_wait(stage->server.conn, STAGE_LONG_MS));
	EXPECT_STORY(test, &stage->client,
		     RESOLVED "established, disconnected -104, closed -104");
	EXPECT_STORY(test, &stage->server, "established, disconnected -107, closed -107");
}

/* Private data of all lengths, in a request, a reply and a rejection. */
static void test_private_data(struct kunit *test)
{
	static const u8 lengths[] = { 0, 1, 56, 148, 196, LONGEST - 1, LONGEST };
	struct stage *stage = stage_new(test, NULL);
	u8 sent[LONGEST], got[KRDMA_PRIVATE_DATA_MAX];
	struct krdma_conn_param param = { .private_data = sent };
	unsigned int i;
	int way;

	for (i = 0; i < sizeof(sent); i++)
		sent[i] = i + 1;
	stage_listen(stage);
	for (i = 0; i < 2 * ARRAY_SIZE(lengths); i++) {
		u8 length = lengths[i / 2];

		way = i % 2;
		param.private_data_len = length;
		stage_resolve(stage);
		KUNIT_ASSERT_EQ(test, 0, krdma_conn_connect(stage->client.conn, &param));
		stage_take(stage);
		memset(got, 0, sizeof(got));
		KUNIT_EXPECT_EQ(test, length, krdma_conn_private_data(stage->server.conn, got,
								      sizeof(got)));
		KUNIT_EXPECT_MEMEQ(test, sent, got, length);
		if (way)
			KUNIT_ASSERT_EQ(test, 0,
					krdma_conn_reject(stage->server.conn, sent, length));
		else
			KUNIT_ASSERT_EQ(test, 0, krdma_conn_accept(stage->server.conn, &param));
		KUNIT_EXPECT_EQ(test, way ? -ECONNREFUSED : 0,
				krdma_conn_wait(stage->client.conn, STAGE_LONG_MS));
		memset(got, 0, sizeof(got));
		KUNIT_EXPECT_EQ(test, length, krdma_conn_private_data(stage->client.conn, got,
								      sizeof(got)));
		KUNIT_EXPECT_MEMEQ(test, sent, got, length);
		actor_close(&stage->client);
		actor_close(&stage->server);
	}
}

/* If the buffer is too small, it gets as much as fits, and the true length is returned. */
static void test_private_data_room(struct kunit *test)
{
	struct stage *stage = stage_connected(test);
	char words[8] = "xxxxxxx";

	KUNIT_EXPECT_EQ(test, 7, krdma_conn_private_data(stage->client.conn, words, 3));
	KUNIT_EXPECT_STREQ(test, "welxxxx", words);
	KUNIT_EXPECT_EQ(test, 7, krdma_conn_private_data(stage->client.conn, words, 0));
	KUNIT_EXPECT_STREQ(test, "welxxxx", words);
}

static void test_queries(struct kunit *test)
{
	struct krdma_conn_attr attr = {
		.send_depth = 5, .recv_depth = 7, .max_send_sge = 3, .max_recv_sge = 2,
	};
	struct stage *stage = stage_new(test, NULL);
	struct sockaddr_storage local, remote;
	struct sockaddr_in at = fake_address(STAGE_PORT);
	struct krdma_device_attr device;
	struct krdma_conn_info info;
	struct krdma_device *dev;
	struct krdma_conn *conn;

	attr.max_recv_sge = min_t(u32, attr.max_recv_sge, stage->fake->attr.max_recv_sge);
	stage_listen(stage);
	stage_create(stage);
	conn = stage->client.conn;
	krdma_conn_query(conn, &info);
	KUNIT_EXPECT_EQ(test, KRDMA_CONN_NEW, info.state);
	KUNIT_EXPECT_EQ(test, 0, info.device_id);
	KUNIT_EXPECT_EQ(test, 0, info.qp_number);
	KUNIT_EXPECT_NULL(test, krdma_conn_device(conn));
	KUNIT_EXPECT_EQ(test, -ENOTCONN, krdma_conn_addresses(conn, &local, &remote));
	KUNIT_EXPECT_PTR_EQ(test, &stage->client, krdma_conn_context(conn));
	KUNIT_EXPECT_EQ(test, 0, krdma_conn_private_data(conn, &local, 9));
	actor_close(&stage->client);

	stage_resolve(stage);
	conn = stage->client.conn;
	dev = krdma_device_get_by_name(&init_net, STAGE_DEVICE);
	KUNIT_EXPECT_PTR_EQ(test, dev, krdma_conn_device(conn));
	krdma_conn_query(conn, &info);
	KUNIT_EXPECT_EQ(test, 0, krdma_device_query_attr(dev, &device));
	KUNIT_EXPECT_EQ(test, device.id, info.device_id);
	KUNIT_EXPECT_EQ(test, 0, info.qp_number);
	krdma_device_put(dev);
	KUNIT_ASSERT_EQ(test, 0, krdma_conn_create_qp(conn, &attr));
	krdma_conn_query(conn, &info);
	KUNIT_EXPECT_EQ(test, actor_qp(&stage->client)->qp_num, info.qp_number);
	KUNIT_EXPECT_EQ(test, 5, info.send_depth);
	KUNIT_EXPECT_EQ(test, 7, info.recv_depth);
	KUNIT_EXPECT_EQ(test, 3, info.max_send_sge);
	KUNIT_EXPECT_EQ(test, attr.max_recv_sge, info.max_recv_sge);
	KUNIT_EXPECT_EQ(test, actor_qp(&stage->client)->pd->local_dma_lkey,
			krdma_conn_lkey(conn));

	KUNIT_ASSERT_EQ(test, 0, actor_connect(&stage->client, ""));
	stage_take(stage);
	KUNIT_ASSERT_EQ(test, 0, actor_accept(&stage->server, ""));
	KUNIT_ASSERT_EQ(test, 0, krdma_conn_wait(conn, STAGE_LONG_MS));
	KUNIT_EXPECT_EQ(test, 0, krdma_conn_addresses(conn, &local, &remote));
	KUNIT_EXPECT_MEMEQ(test, &at, &remote, offsetof(struct sockaddr_in, __pad));
	KUNIT_EXPECT_TRUE(test, at.sin_addr.s_addr ==
				((struct sockaddr_in *)&local)->sin_addr.s_addr);
	/* Each end sees the address of the other end. */
	KUNIT_EXPECT_EQ(test, 0, krdma_conn_addresses(stage->server.conn, NULL, &remote));
	KUNIT_EXPECT_MEMEQ(test, &local, &remote, offsetof(struct sockaddr_in, __pad));
	KUNIT_EXPECT_EQ(test, 0, krdma_conn_addresses(stage->server.conn, &local, NULL));
	KUNIT_EXPECT_MEMEQ(test, &at, &local, offsetof(struct sockaddr_in, __pad));

	KUNIT_EXPECT_EQ(test, 1, actor_receive(&stage->server));
	KUNIT_EXPECT_EQ(test, 1, actor_post(&stage->client));
	KUNIT_ASSERT_TRUE(test, actor_completes(&stage->client, 1));
	krdma_conn_query(conn, &info);
	KUNIT_EXPECT_EQ(test, KRDMA_CONN_CONNECTED, info.state);
	KUNIT_EXPECT_EQ(test, 0, info.error);
	KUNIT_EXPECT_EQ(test, 1, info.sends_posted);
	KUNIT_EXPECT_EQ(test, 1, info.sends_completed);
	KUNIT_EXPECT_EQ(test, 0, info.receives_posted);
	krdma_conn_query(stage->server.conn, &info);
	KUNIT_EXPECT_EQ(test, 1, info.receives_posted);
	KUNIT_EXPECT_EQ(test, 0, info.receives_completed);
	krdma_conn_close(stage->server.conn);
	krdma_conn_query(stage->server.conn, &info);
	KUNIT_EXPECT_EQ(test, KRDMA_CONN_CLOSED, info.state);
	KUNIT_EXPECT_EQ(test, -ENOTCONN, info.error);
	KUNIT_EXPECT_EQ(test, 1, info.receives_completed);
	KUNIT_EXPECT_EQ(test, 1, stage->server.flushed);
}

/* Read depth that each side asks for, and the depth that the server then has. */
static const struct {
	u8 client, client_in, server, server_in;
	u8 asked, asked_in, got, got_in;
} depth_cases[] = {
	{ 0, 0, 0, 0, 16, 16, 16, 16 },
	{ 3, 3, 0, 0, 3, 3, 3, 3 },
	{ 5, 2, 0, 0, 5, 2, 2, 2 },
	{ 2, 5, 0, 0, 2, 5, 2, 2 },
	{ 9, 9, 4, 6, 9, 9, 4, 6 },
	{ 1, 1, 16, 32, 1, 1, 1, 1 },
	{ 16, 32, 16, 32, 16, 32, 16, 16 },
};

/* Proves: E6 */
static void test_read_depths(struct kunit *test)
{
	struct stage *stage = stage_new(test, NULL);
	struct krdma_conn_param param = {};
	struct krdma_conn_info info;

	stage_listen(stage);
	for (unsigned int i = 0; i < ARRAY_SIZE(depth_cases); i++) {
		stage_resolve(stage);
		param.read_depth = depth_cases[i].client;
		param.read_depth_in = depth_cases[i].client_in;
		KUNIT_ASSERT_EQ(test, 0, krdma_conn_connect(stage->client.conn, &param));
		stage_take(stage);
		param.read_depth = depth_cases[i].server;
		param.read_depth_in = depth_cases[i].server_in;
		KUNIT_ASSERT_EQ(test, 0, krdma_conn_accept(stage->server.conn, &param));
		KUNIT_ASSERT_EQ(test, 0, krdma_conn_wait(stage->client.conn, STAGE_LONG_MS));
		krdma_conn_query(stage->client.conn, &info);
		KUNIT_EXPECT_EQ_MSG(test, depth_cases[i].asked, info.read_depth, "case %u", i);
		KUNIT_EXPECT_EQ_MSG(test, depth_cases[i].asked_in, info.read_depth_in, "case %u",
				    i);
		krdma_conn_query(stage->server.conn, &info);
		KUNIT_EXPECT_EQ_MSG(test, depth_cases[i].got, info.read_depth, "case %u", i);
		KUNIT_EXPECT_EQ_MSG(test, depth_cases[i].got_in, info.read_depth_in, "case %u", i);
		actor_close(&stage->client);
		actor_close(&stage->server);
	}
}

static void no_reads(struct fake_device *fake)
{
	fake->attr.max_qp_init_rd_atom = 0;
	fake->attr.max_qp_rd_atom = 0;
}

/* A device that reports no read depth carries out one read at a time. */
/* Proves: E6 */
static void test_read_depth_is_never_0(struct kunit *test)
{
	struct stage *stage = stage_new(test, no_reads);
	struct krdma_conn_info info;

	stage_listen(stage);
	stage_connect(stage);
	krdma_conn_query(stage->client.conn, &info);
	KUNIT_EXPECT_EQ(test, 1, info.read_depth);
	KUNIT_EXPECT_EQ(test, 1, info.read_depth_in);
	krdma_conn_query(stage->server.conn, &info);
	KUNIT_EXPECT_EQ(test, 1, info.read_depth);
	KUNIT_EXPECT_EQ(test, 1, info.read_depth_in);
}

/*
 * Refused arguments
 */

static const struct sockaddr_in6 peer6 = {
	.sin6_family = AF_INET6,
	.sin6_addr = { .s6_addr = { 0xfd, 0x78, [15] = 1 } },
	.sin6_port = cpu_to_be16(STAGE_PORT),
};

static const struct sockaddr_in6 any6 = {
	.sin6_family = AF_INET6, .sin6_port = cpu_to_be16(STAGE_PORT),
};

static const struct sockaddr_in6 no_port6 = {
	.sin6_family = AF_INET6,
	.sin6_addr = { .s6_addr = { 0xfd, 0x78, [15] = 1 } },
};

static const struct sockaddr_in peer4 = {
	.sin_family = AF_INET,
	.sin_addr.s_addr = cpu_to_be32(FAKE_ADDRESS),
	.sin_port = cpu_to_be16(STAGE_PORT),
};

static const struct sockaddr_in any4 = {
	.sin_family = AF_INET, .sin_port = cpu_to_be16(STAGE_PORT),
};

static const struct sockaddr_in no_port4 = {
	.sin_family = AF_INET, .sin_addr.s_addr = cpu_to_be32(FAKE_ADDRESS),
};

static const struct sockaddr neither = { .sa_family = AF_UNIX };

#define AT(address)	((const struct sockaddr *)&(address))

static const struct {
	struct krdma_route route;
	int error;
} bad_routes[] = {
	{ { .remote = NULL }, -EINVAL },
	{ { .remote = AT(neither) }, -EAFNOSUPPORT },
	{ { .remote = AT(any4) }, -EINVAL },
	{ { .remote = AT(no_port4) }, -EINVAL },
	{ { .remote = AT(any6) }, -EINVAL },
	{ { .remote = AT(no_port6) }, -EINVAL },
	{ { .remote = AT(peer4), .local = AT(peer6) }, -EINVAL },
	{ { .remote = AT(peer6), .local = AT(peer4) }, -EINVAL },
	{ { .remote = AT(peer4), .local = AT(neither) }, -EINVAL },
	{ { .remote = AT(peer4), .ack_timeout = 32 }, -EINVAL },
};

/* Nothing has changed after each of these. */
static void test_bad_routes(struct kunit *test)
{
	struct stage *stage = stage_new(test, NULL);

	stage_create(stage);
	for (unsigned int i = 0; i < ARRAY_SIZE(bad_routes); i++) {
		KUNIT_EXPECT_EQ_MSG(test, bad_routes[i].error,
				    krdma_conn_resolve(stage->client.conn, &bad_routes[i].route),
				    "case %u", i);
		KUNIT_EXPECT_EQ(test, KRDMA_CONN_NEW, actor_state(&stage->client));
	}
	KUNIT_EXPECT_EQ(test, 0, actor_resolve(&stage->client));
	KUNIT_EXPECT_EQ(test, 0, krdma_conn_wait(stage->client.conn, STAGE_LONG_MS));
	EXPECT_STORY(test, &stage->client, RESOLVED "closed -103");
}

/* Every member of a route, and an address that no device has. */
static void test_routes(struct kunit *test)
{
	struct sockaddr_in foreign = peer4;
	struct krdma_route route = {
		.local = AT(no_port4), .remote = AT(peer4), .timeout_ms = STAGE_LONG_MS,
		.tos = 0x20, .ack_timeout = 31,
	};
	struct stage *stage = stage_new(test, NULL);

	stage_create(stage);
	KUNIT_EXPECT_EQ(test, 0, krdma_conn_resolve(stage->client.conn, &route));
	KUNIT_EXPECT_EQ(test, 0, krdma_conn_wait(stage->client.conn, STAGE_LONG_MS));
	EXPECT_STORY(test, &stage->client, RESOLVED "closed -103");

	/* In the range reserved for documentation, which no interface here has. */
	foreign.sin_addr.s_addr = htonl(0xc6336401);
	foreign.sin_port = 0;
	route.local = AT(foreign);
	stage_create(stage);
	KUNIT_EXPECT_EQ(test, -EADDRNOTAVAIL, krdma_conn_resolve(stage->client.conn, &route));
	KUNIT_EXPECT_EQ(test, -EADDRNOTAVAIL, krdma_conn_wait(stage->client.conn, STAGE_LONG_MS));
	EXPECT_STORY(test, &stage->client, "address error -99, closed -99");

	foreign.sin_port = htons(STAGE_PORT);
	route.local = NULL;
	route.remote = AT(foreign);
	stage_create(stage);
	krdma_conn_resolve(stage->client.conn, &route);
	KUNIT_EXPECT_EQ(test, -EHOSTUNREACH, krdma_conn_wait(stage->client.conn, STAGE_LONG_MS));
	EXPECT_STORY(test, &stage->client, "address error -113, closed -113");
}

static const struct krdma_conn_attr bad_attrs[] = {
	{ .send_depth = 129 },
	{ .recv_depth = 129 },
	{ .send_depth = U32_MAX },
	{ .recv_depth = U32_MAX },
	{ .max_send_sge = 9 },
	{ .max_recv_sge = 7 },
	{ .max_inline = U32_MAX },
};

/* The connection stays as it was, and its QP can still be created. */
/* Proves: E7 */
static void test_bad_queues(struct kunit *test)
{
	static const struct krdma_conn_attr good;
	struct stage *stage = stage_new(test, NULL);

	stage_resolve(stage);
	for (unsigned int i = 0; i < ARRAY_SIZE(bad_attrs); i++) {
		KUNIT_EXPECT_EQ_MSG(test, -EINVAL,
				    krdma_conn_create_qp(stage->client.conn, &bad_attrs[i]),
				    "case %u", i);
		KUNIT_EXPECT_EQ(test, KRDMA_CONN_RESOLVED, actor_state(&stage->client));
	}
	KUNIT_EXPECT_EQ(test, -ENOTCONN, actor_receive(&stage->client));
	KUNIT_EXPECT_EQ(test, 0, krdma_conn_create_qp(stage->client.conn, &good));
	KUNIT_EXPECT_EQ(test, -EALREADY, krdma_conn_create_qp(stage->client.conn, &good));
	KUNIT_EXPECT_EQ(test, 1, actor_receive(&stage->client));
	EXPECT_STORY(test, &stage->client, RESOLVED "closed -103");
	KUNIT_EXPECT_EQ(test, 1, stage->client.flushed);
}

static const struct {
	struct krdma_conn_param param;
	int error;
} bad_params[] = {
	{ { .retry_count = 8 }, -EINVAL },
	{ { .rnr_retry_count = 8 }, -EINVAL },
	{ { .read_depth = 17 }, -EINVAL },
	{ { .read_depth_in = 33 }, -EINVAL },
	{ { .private_data_len = 1 }, -EINVAL },
	{ { .private_data = bad_attrs, .private_data_len = LONGEST + 1 }, -EMSGSIZE },
};

static void test_bad_params(struct kunit *test)
{
	struct stage *stage = stage_new(test, NULL);
	struct actor *client = &stage->client;
	struct actor *server = &stage->server;

	stage_listen(stage);
	stage_resolve(stage);
	for (unsigned int i = 0; i < ARRAY_SIZE(bad_params); i++) {
		KUNIT_EXPECT_EQ_MSG(test, bad_params[i].error,
				    krdma_conn_connect(client->conn, &bad_params[i].param),
				    "case %u", i);
		KUNIT_EXPECT_EQ(test, KRDMA_CONN_RESOLVED, actor_state(client));
	}
	KUNIT_ASSERT_EQ(test, 0, actor_connect(client, ""));
	stage_take(stage);
	for (unsigned int i = 0; i < ARRAY_SIZE(bad_params); i++) {
		KUNIT_EXPECT_EQ_MSG(test, bad_params[i].error,
				    krdma_conn_accept(server->conn, &bad_params[i].param),
				    "case %u", i);
		KUNIT_EXPECT_EQ(test, KRDMA_CONN_REQUESTED, actor_state(server));
	}
	KUNIT_EXPECT_EQ(test, -EMSGSIZE, krdma_conn_reject(server->conn, bad_attrs, LONGEST + 1));
	KUNIT_EXPECT_EQ(test, KRDMA_CONN_REQUESTED, actor_state(server));
	KUNIT_EXPECT_EQ(test, 0, actor_accept(server, ""));
	KUNIT_EXPECT_EQ(test, 0, krdma_conn_wait(client->conn, STAGE_LONG_MS));
}

/*
 * States
 */

static int ask_create_qp(struct actor *actor)
{
	static const struct krdma_conn_attr attr;

	return krdma_conn_create_qp(actor->conn, &attr);
}

static int ask_connect(struct actor *actor)
{
	return actor_connect(actor, "");
}

static int ask_accept(struct actor *actor)
{
	return actor_accept(actor, "");
}

static int ask_reject(struct actor *actor)
{
	return krdma_conn_reject(actor->conn, NULL, 0);
}

static int ask_disconnect(struct actor *actor)
{
	return krdma_conn_disconnect(actor->conn);
}

static const struct {
	const char *name;
	int (*ask)(struct actor *actor);
} calls[] = {
	{ "resolve", actor_resolve },
	{ "create QP", ask_create_qp },
	{ "connect", ask_connect },
	{ "accept", ask_accept },
	{ "reject", ask_reject },
	{ "disconnect", ask_disconnect },
	{ "post", actor_post },
};

/* Calls that are not made in a state, because there they would succeed. */
#define DONE	1

static const struct {
	void (*reach)(struct stage *stage);
	bool server;
	enum krdma_conn_state state;
	int said[ARRAY_SIZE(calls)];
} refusals[] = {
	{ stage_reach_new, false, KRDMA_CONN_NEW,
	  { DONE, -ENOTCONN, -ENOTCONN, -EINVAL, -EINVAL, -ENOTCONN, -ENOTCONN } },
	{ stage_resolve, false, KRDMA_CONN_RESOLVED,
	  { -EALREADY, DONE, DONE, -EINVAL, -EINVAL, -ENOTCONN, -ENOTCONN } },
	{ stage_reach_connecting, false, KRDMA_CONN_CONNECTING,
	  { -EALREADY, -EALREADY, -EALREADY, -EINVAL, -EINVAL, -ENOTCONN, -ENOTCONN } },
	{ stage_reach_requested, true, KRDMA_CONN_REQUESTED,
	  { -EALREADY, DONE, -EINVAL, DONE, DONE, -ENOTCONN, -ENOTCONN } },
	{ stage_reach_accepting, true, KRDMA_CONN_ACCEPTING,
	  { -EALREADY, -EALREADY, -EALREADY, -EALREADY, -EALREADY, -ENOTCONN, -ENOTCONN } },
	{ stage_connect, false, KRDMA_CONN_CONNECTED,
	  { -EISCONN, -EISCONN, -EISCONN, -EINVAL, -EINVAL, DONE, DONE } },
	{ stage_connect, true, KRDMA_CONN_CONNECTED,
	  { -EISCONN, -EISCONN, -EISCONN, -EISCONN, -EISCONN, DONE, DONE } },
	{ stage_reach_disconnecting, false, KRDMA_CONN_DISCONNECTING,
	  { -ENOTCONN, -ENOTCONN, -ENOTCONN, -EINVAL, -EINVAL, -EALREADY, -ENOTCONN } },
	{ stage_reach_closing, false, KRDMA_CONN_CLOSING,
	  { -ENOTCONN, -ENOTCONN, -ENOTCONN, -EINVAL, -EINVAL, -ENOTCONN, -ENOTCONN } },
	{ stage_reach_closed, false, KRDMA_CONN_CLOSED,
	  { -ENOTCONN, -ENOTCONN, -ENOTCONN, -EINVAL, -EINVAL, -ENOTCONN, -ENOTCONN } },
	{ stage_reach_closed_server, true, KRDMA_CONN_CLOSED,
	  { -ENOTCONN, -ENOTCONN, -ENOTCONN, -ENOTCONN, -ENOTCONN, -ENOTCONN, -ENOTCONN } },
};

/* Every call in every state that refuses it.  The state does not change. */
/* Proves: A8 */
static void test_refusals(struct kunit *test)
{
	struct stage *stage = stage_new(test, NULL);

	for (unsigned int i = 0; i < ARRAY_SIZE(refusals); i++) {
		enum krdma_conn_state state = refusals[i].state;
		struct actor *actor = refusals[i].server ? &stage->server : &stage->client;

		stage_listen(stage);
		refusals[i].reach(stage);
		KUNIT_EXPECT_EQ(test, state, actor_state(actor));
		for (unsigned int j = 0; j < ARRAY_SIZE(calls); j++) {
			if (refusals[i].said[j] == DONE)
				continue;
			KUNIT_EXPECT_EQ_MSG(test, refusals[i].said[j], calls[j].ask(actor),
					    "%s, %s", krdma_conn_state_name(state), calls[j].name);
		}
		KUNIT_EXPECT_EQ(test, state, actor_state(actor));
		stage_close(stage);
	}
}

/* An account of ports. */
struct ports {
	unsigned int charged;
	unsigned int uncharged;
};

static int ports_charge_nothing(void *account, u64 bytes)
{
	return 0;
}

static void ports_uncharge_nothing(void *account, u64 bytes)
{
}

static int ports_charge(void *account)
{
	struct ports *ports = account;

	ports->charged++;
	return 0;
}

static void ports_uncharge(void *account)
{
	struct ports *ports = account;

	ports->uncharged++;
}

static void ports_put(void *account)
{
}

static const struct krdma_account_ops ports_ops = {
	.charge = ports_charge_nothing,
	.uncharge = ports_uncharge_nothing,
	.charge_port = ports_charge,
	.uncharge_port = ports_uncharge,
	.put = ports_put,
};

/* A resolution that the state refuses needs no port, not even for a while. */
/* Proves: F6 */
static void test_refused_resolution_has_no_port(struct kunit *test)
{
	struct stage *stage = stage_new(test, NULL);
	/* Until the session is gone, which may be after this function. */
	static struct ports ports;

	ports = (struct ports) {};
	krdma_session_set_account(stage->session, &ports_ops, &ports);
	for (unsigned int i = 0; i < ARRAY_SIZE(refusals); i++) {
		struct actor *actor = refusals[i].server ? &stage->server : &stage->client;
		unsigned int charged;

		if (refusals[i].said[0] == DONE)
			continue;
		stage_listen(stage);
		refusals[i].reach(stage);
		charged = ports.charged;
		KUNIT_EXPECT_EQ(test, refusals[i].said[0], actor_resolve(actor));
		KUNIT_EXPECT_EQ_MSG(test, charged, ports.charged, "%s",
				    krdma_conn_state_name(refusals[i].state));
		stage_close(stage);
		KUNIT_EXPECT_EQ(test, ports.charged, ports.uncharged);
	}
}

/*
 * Failures
 */

static void test_rejected(struct kunit *test)
{
	struct stage *stage = stage_new(test, NULL);
	char words[2];

	stage_listen(stage);
	stage_ask(stage, "");
	stage_take(stage);
	KUNIT_EXPECT_EQ(test, 0, krdma_conn_reject(stage->server.conn, "no", 2));
	KUNIT_EXPECT_EQ(test, -ECONNREFUSED, krdma_conn_wait(stage->client.conn, STAGE_LONG_MS));
	KUNIT_EXPECT_EQ(test, -ECONNABORTED, krdma_conn_wait(stage->server.conn, STAGE_LONG_MS));
	KUNIT_EXPECT_EQ(test, 2, krdma_conn_private_data(stage->client.conn, words, 2));
	KUNIT_EXPECT_MEMEQ(test, "no", words, 2);
	EXPECT_STORY(test, &stage->client, RESOLVED "rejected -111, closed -111");
	EXPECT_STORY(test, &stage->server, "closed -103");
	/* iWARP has no reason codes, only the errno. */
	KUNIT_EXPECT_EQ(test, -ECONNREFUSED, stage->client.reason);

	/* Closing or putting a connection that was taken from a listener rejects it. */
	stage_ask(stage, "");
	stage_take(stage);
	EXPECT_STORY(test, &stage->server, "closed -103");
	KUNIT_EXPECT_EQ(test, -ECONNREFUSED, krdma_conn_wait(stage->client.conn, STAGE_LONG_MS));
	EXPECT_STORY(test, &stage->client, RESOLVED "rejected -111, closed -111");
}

static void test_nobody_listens(struct kunit *test)
{
	struct stage *stage = stage_new(test, NULL);

	stage_ask(stage, "");
	KUNIT_EXPECT_EQ(test, -ECONNREFUSED, krdma_conn_wait(stage->client.conn, STAGE_LONG_MS));
	EXPECT_STORY(test, &stage->client, RESOLVED "rejected -111, closed -111");
}

static const struct {
	int status;
	int error;
	const char *story;
} replies[] = {
	{ 0, 0, RESOLVED "established, disconnected -107, closed -107" },
	{ -ECONNREFUSED, -ECONNREFUSED, RESOLVED "rejected -111, closed -111" },
	{ -ECONNRESET, -ECONNREFUSED, RESOLVED "rejected -111, closed -111" },
	{ -ETIMEDOUT, -ETIMEDOUT, RESOLVED "unreachable -110, closed -110" },
	{ -EHOSTUNREACH, -EIO, RESOLVED "connect error -5, closed -5" },
	{ -ENOMEM, -EIO, RESOLVED "connect error -5, closed -5" },
};

static void test_replies(struct kunit *test)
{
	struct stage *stage = stage_new(test, NULL);
	struct fake_endpoint *endpoint;

	stage->fake->cm_manual = FAKE_MANUAL_CONNECT;
	for (unsigned int i = 0; i < ARRAY_SIZE(replies); i++) {
		stage_ask(stage, "");
		endpoint = fake_cm_await(stage->fake, FAKE_CM_CONNECTING, STAGE_LONG_MS);
		KUNIT_ASSERT_NOT_NULL(test, endpoint);
		KUNIT_EXPECT_EQ(test, -ETIMEDOUT, krdma_conn_wait(stage->client.conn, 20));
		KUNIT_EXPECT_EQ(test, 0, fake_cm_reply(endpoint, replies[i].status, "so", 2));
		fake_cm_put(endpoint);
		KUNIT_EXPECT_EQ(test, replies[i].error,
				krdma_conn_wait(stage->client.conn, STAGE_LONG_MS));
		EXPECT_STORY(test, &stage->client, replies[i].story);
	}
}

/* Verbs that creating the QP needs.  Each fails once; without the failure the call succeeds. */
static const struct {
	enum fake_verb verb;
	int error;
	int said;
} prepare_failures[] = {
	{ FAKE_ALLOC_PD, -ENOMEM, -ENOMEM },
	{ FAKE_CREATE_CQ, -EREMOTEIO, -EIO },
	{ FAKE_CREATE_QP, -ENOMEM, -ENOMEM },
	{ FAKE_CREATE_QP, -ENOBUFS, -ENOMEM },
	{ FAKE_CREATE_QP, -ENFILE, -ENOMEM },
	{ FAKE_CREATE_QP, -EREMOTEIO, -EIO },
	{ FAKE_MODIFY_QP, -EREMOTEIO, -EIO },
};

static void test_prepare_fails(struct kunit *test)
{
	static const struct krdma_conn_attr attr;
	struct stage *stage = stage_new(test, NULL);

	stage_listen(stage);
	for (unsigned int i = 0; i < ARRAY_SIZE(prepare_failures); i++) {
		stage_resolve(stage);
		fake_device_fail(stage->fake, prepare_failures[i].verb, 1,
				 prepare_failures[i].error);
		KUNIT_EXPECT_EQ_MSG(test, prepare_failures[i].said,
				    krdma_conn_create_qp(stage->client.conn, &attr), "case %u", i);
		KUNIT_EXPECT_EQ(test, KRDMA_CONN_RESOLVED, actor_state(&stage->client));
		KUNIT_ASSERT_EQ(test, 0, krdma_conn_create_qp(stage->client.conn, &attr));
		KUNIT_ASSERT_EQ(test, 0, actor_connect(&stage->client, ""));
		stage_take(stage);
		actor_close(&stage->server);
		actor_close(&stage->client);
	}
}

/* The connection manager also reports -EINVAL for a peer that has gone: not here. */
static const int accept_errors[] = { -EREMOTEIO, -EINVAL };

/* The call itself fails, and the connection with it. */
static void test_calls_fail(struct kunit *test)
{
	struct stage *stage = stage_new(test, NULL);

	stage_listen(stage);
	stage_resolve(stage);
	fake_device_fail(stage->fake, FAKE_IW_CONNECT, 1, -EREMOTEIO);
	KUNIT_EXPECT_EQ(test, -EIO, actor_connect(&stage->client, ""));
	KUNIT_EXPECT_EQ(test, -EIO, krdma_conn_wait(stage->client.conn, STAGE_LONG_MS));
	EXPECT_STORY(test, &stage->client, RESOLVED "connect error -5, closed -5");

	for (unsigned int i = 0; i < ARRAY_SIZE(accept_errors); i++) {
		stage_ask(stage, "");
		stage_take(stage);
		fake_device_fail(stage->fake, FAKE_IW_ACCEPT, 1, accept_errors[i]);
		KUNIT_EXPECT_EQ(test, -EIO, actor_accept(&stage->server, ""));
		KUNIT_EXPECT_EQ(test, -EIO, krdma_conn_wait(stage->server.conn, STAGE_LONG_MS));
		KUNIT_EXPECT_EQ(test, -ECONNREFUSED,
				krdma_conn_wait(stage->client.conn, STAGE_LONG_MS));
		EXPECT_STORY(test, &stage->server, "connect error -5, closed -5");
		EXPECT_STORY(test, &stage->client, RESOLVED "rejected -111, closed -111");
	}

	/* A rejection that fails is a rejection all the same. */
	stage_ask(stage, "");
	stage_take(stage);
	fake_device_fail(stage->fake, FAKE_IW_REJECT, 1, -EREMOTEIO);
	KUNIT_EXPECT_EQ(test, 0, krdma_conn_reject(stage->server.conn, "no", 2));
	KUNIT_EXPECT_EQ(test, -ECONNREFUSED, krdma_conn_wait(stage->client.conn, STAGE_LONG_MS));
	EXPECT_STORY(test, &stage->server, "closed -103");
	EXPECT_STORY(test, &stage->client, RESOLVED "rejected -111, closed -111");
}

/*
 * Waiting
 */

struct waiter {
	struct krdma_conn *conn;
	int said;
	struct completion begun;
	struct completion done;
};

static int waiter_thread(void *data)
{
	struct waiter *waiter = data;

	allow_signal(SIGUSR1);
	complete(&waiter->begun);
	waiter->said = krdma_conn_wait(waiter->conn, KRDMA_FOREVER_MS);
	complete(&waiter->done);
	return 0;
}

static void test_wait_ends_by_a_signal(struct kunit *test)
{
	struct stage *stage = stage_new(test, NULL);
	struct waiter waiter = {};
	struct task_struct *task;

	init_completion(&waiter.begun);
	init_completion(&waiter.done);
	stage_reach_connecting(stage);
	/* The step is in progress: a wait with timeout 0 returns -ETIMEDOUT. */
	KUNIT_EXPECT_EQ(test, -ETIMEDOUT, krdma_conn_wait(stage->client.conn, 0));
	waiter.conn = stage->client.conn;
	task = kthread_run(waiter_thread, &waiter, "krdma_waiter");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
	wait_for_completion(&waiter.begun);
	send_sig(SIGUSR1, task, 1);
	/* The waiter is on the stack, so this wait must not give up. */
	wait_for_completion(&waiter.done);
	KUNIT_EXPECT_EQ(test, -EINTR, waiter.said);
	KUNIT_EXPECT_EQ(test, KRDMA_CONN_CONNECTING, actor_state(&stage->client));
}

/* Where no step is in progress, there is nothing to wait for. */
static void test_wait_for_nothing(struct kunit *test)
{
	struct stage *stage = stage_new(test, NULL);

	stage_listen(stage);
	stage_create(stage);
	KUNIT_EXPECT_EQ(test, 0, krdma_conn_wait(stage->client.conn, 0));
	actor_close(&stage->client);
	stage_ask(stage, "");
	stage_take(stage);
	KUNIT_EXPECT_EQ(test, 0, krdma_conn_wait(stage->server.conn, 0));
	krdma_conn_close(stage->server.conn);
	KUNIT_EXPECT_EQ(test, -ECONNABORTED, krdma_conn_wait(stage->server.conn, 0));
}

static struct kunit_case conn_cases[] = {
	KUNIT_CASE(test_connect),
	KUNIT_CASE(test_private_data),
	KUNIT_CASE(test_private_data_room),
	KUNIT_CASE(test_queries),
	KUNIT_CASE(test_read_depths),
	KUNIT_CASE(test_read_depth_is_never_0),
	KUNIT_CASE(test_bad_routes),
	KUNIT_CASE(test_routes),
	KUNIT_CASE(test_bad_queues),
	KUNIT_CASE(test_bad_params),
	KUNIT_CASE(test_refusals),
	KUNIT_CASE(test_refused_resolution_has_no_port),
	KUNIT_CASE(test_rejected),
	KUNIT_CASE(test_nobody_listens),
	KUNIT_CASE(test_replies),
	KUNIT_CASE(test_prepare_fails),
	KUNIT_CASE_SLOW(test_calls_fail),
	KUNIT_CASE(test_wait_ends_by_a_signal),
	KUNIT_CASE(test_wait_for_nothing),
	{}
};

static struct kunit_suite conn_suite = {
	.name = "krdma_conn",
	.init = test_objects_init,
	.test_cases = conn_cases,
};

kunit_test_suite(conn_suite);
