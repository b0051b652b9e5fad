// SPDX-License-Identifier: GPL-2.0
/* Devices, listeners, and how connections begin and what they negotiate. */
#include <linux/err.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <net/ipv6.h>
#include <net/net_namespace.h>

#include "fixture.h"

/* The address of the device, with another port. */
static struct sockaddr_storage address_with_port(const struct sockaddr_storage *address, u16 port)
{
	struct sockaddr_storage with = *address;

	if (with.ss_family == AF_INET)
		((struct sockaddr_in *)&with)->sin_port = htons(port);
	else
		((struct sockaddr_in6 *)&with)->sin6_port = htons(port);
	return with;
}

static u16 address_port(const struct sockaddr_storage *address)
{
	return ntohs(address->ss_family == AF_INET ?
		     ((const struct sockaddr_in *)address)->sin_port :
		     ((const struct sockaddr_in6 *)address)->sin6_port);
}

static bool address_same(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
	if (a->ss_family != b->ss_family)
		return false;
	if (a->ss_family == AF_INET)
		return ((const struct sockaddr_in *)a)->sin_addr.s_addr ==
		       ((const struct sockaddr_in *)b)->sin_addr.s_addr;
	return ipv6_addr_equal(&((const struct sockaddr_in6 *)a)->sin6_addr,
			       &((const struct sockaddr_in6 *)b)->sin6_addr);
}

/* An address on the device's network that no host has. */
static struct sockaddr_storage address_nobody(const struct sockaddr_storage *address)
{
	struct sockaddr_storage nobody = address_with_port(address, 4711);

	if (nobody.ss_family == AF_INET)
		((struct sockaddr_in *)&nobody)->sin_addr.s_addr ^= htonl(0x50);
	else
		((struct sockaddr_in6 *)&nobody)->sin6_addr.s6_addr[15] ^= 0x50;
	return nobody;
}

static struct sockaddr_storage address_any(sa_family_t family)
{
	return (struct sockaddr_storage) { .ss_family = family };
}

/*
 * Devices
 */

/* Proves: A7, D1 */
static void device_by_address(struct core_test *test)
{
	struct sockaddr_storage nobody = address_nobody(&test->address);
	struct sockaddr_storage any = address_any(test->address.ss_family);
	struct sockaddr_storage other = { .ss_family = AF_UNIX };
	struct sockaddr *address = (struct sockaddr *)&test->address;
	struct krdma_device_attr attr;
	struct krdma_device *dev;

	dev = krdma_device_towards(&init_net, NULL, address, CORE_TIMEOUT_MS);
	if (CORE_OK_PTR(test, dev)) {
		CORE_EQ(test, 0, krdma_device_query_attr(dev, &attr));
		CORE_EQ(test, test->attr.id, attr.id);
		krdma_device_put(dev);
	}
	dev = krdma_device_towards(&init_net, address, address, CORE_TIMEOUT_MS);
	if (CORE_OK_PTR(test, dev))
		krdma_device_put(dev);

	CORE_ERR_PTR(test, -EADDRNOTAVAIL,
		     krdma_device_at(&init_net, (struct sockaddr *)&nobody));
	CORE_ERR_PTR(test, -EINVAL, krdma_device_at(&init_net, (struct sockaddr *)&any));
	CORE_ERR_PTR(test, -EAFNOSUPPORT, krdma_device_at(&init_net, (struct sockaddr *)&other));
	CORE_ERR_PTR(test, -EADDRNOTAVAIL,
		     krdma_device_towards(&init_net, (struct sockaddr *)&nobody, address,
					  CORE_TIMEOUT_MS));
	CORE_ERR_PTR(test, -ETIMEDOUT, krdma_device_towards(&init_net, NULL, address, 0));
	CORE_ERR_PTR(test, -EAFNOSUPPORT,
		     krdma_device_towards(&init_net, NULL, (struct sockaddr *)&other,
					  CORE_TIMEOUT_MS));
}

/*
 * Listeners
 */

static struct krdma_listener *listen_at(struct krdma_session *session,
					const struct sockaddr_storage *local, bool v6only)
{
	struct krdma_listen_attr attr = {
		.local = (const struct sockaddr *)local,
		.v6only = v6only,
	};

	return krdma_listen(session, &attr);
}

static void listen_end(struct krdma_listener *listener)
{
	if (IS_ERR_OR_NULL(listener))
		return;
	krdma_listener_close(listener);
	krdma_listener_put(listener);
}

/* Proves: D5 */
static void listen_addresses(struct core_test *test)
{
	struct krdma_session *session = krdma_session_create(&init_net);
	struct sockaddr_storage address, other;
	struct krdma_listener *first, *second;

	if (!CORE_OK_PTR(test, session))
		return;
	first = listen_at(session, &test->address, false);
	second = listen_at(session, &test->address, false);
	if (CORE_OK_PTR(test, first) && CORE_OK_PTR(test, second)) {
		CORE_EQ(test, 0, krdma_listener_address(first, &address));
		CORE_EQ(test, 0, krdma_listener_address(second, &other));
		CORE_TRUE(test, address_same(&test->address, &address));
		CORE_TRUE(test, address_port(&address));
		CORE_TRUE(test, address_port(&other) != address_port(&address));
		CORE_ERR_PTR(test, -EADDRINUSE, listen_at(session, &address, false));
	}
	listen_end(first);
	listen_end(second);

	/* The port is free again at once. */
	first = listen_at(session, &address, false);
	CORE_OK_PTR(test, first);
	listen_end(first);

	other = address_nobody(&test->address);
	CORE_ERR_PTR(test, -EADDRNOTAVAIL, listen_at(session, &other, false));
	other.ss_family = AF_UNIX;
	CORE_ERR_PTR(test, -EAFNOSUPPORT, listen_at(session, &other, false));
	krdma_session_put(session);
}

/* Proves: D5 */
static void listen_everywhere(struct core_test *test)
{
	struct sockaddr_storage any = address_any(test->address.ss_family);
	struct core_pair *pair = core_pair_alloc(test);

	if (!pair)
		return;
	pair->listener = listen_at(pair->server_session, &any, any.ss_family == AF_INET6);
	if (!CORE_OK_PTR(test, pair->listener))
		goto out;
	CORE_EQ(test, 0, krdma_listener_address(pair->listener, &pair->listen_address));
	pair->listen_address = address_with_port(&test->address,
						 address_port(&pair->listen_address));
	if (core_pair_resolve(pair))
		core_pair_connect(pair);
out:
	core_pair_close(pair);
}

/* Proves: D5 */
static void listener_waits(struct core_test *test)
{
	struct krdma_session *session = krdma_session_create(&init_net);
	struct krdma_listener *listener;

	if (!CORE_OK_PTR(test, session))
		return;
	listener = listen_at(session, &test->address, false);
	if (CORE_OK_PTR(test, listener)) {
		CORE_ERR_PTR(test, -EAGAIN, krdma_listener_next(listener, NULL, NULL, 0));
		CORE_ERR_PTR(test, -ETIMEDOUT, krdma_listener_next(listener, NULL, NULL, 20));
		krdma_listener_get(listener);
		krdma_listener_close(listener);
		krdma_listener_close(listener);
		CORE_ERR_PTR(test, -ESHUTDOWN, krdma_listener_next(listener, NULL, NULL, U32_MAX));
		krdma_listener_put(listener);
		krdma_listener_put(listener);
	}
	krdma_session_put(session);
}

#define BACKLOG		2
#define BACKLOG_CLIENTS	5

/* Clients beyond the backlog are rejected at once, and those within it when the listener closes. */
static void backlog(struct core_test *test)
{
	struct core_pair *pair = core_pair_alloc(test);
	struct krdma_conn *conns[BACKLOG_CLIENTS] = {};
	struct krdma_route route = {};
	unsigned int refused = 0;
	int ret;

	if (!pair)
		return;
	if (!core_pair_listen(pair, BACKLOG))
		goto out;
	route.remote = (struct sockaddr *)&pair->listen_address;
	for (int i = 0; i < BACKLOG_CLIENTS; i++) {
		conns[i] = krdma_conn_create(pair->client_session, NULL, NULL);
		if (!CORE_OK_PTR(test, conns[i]))
			goto out;
		CORE_EQ(test, 0, krdma_conn_resolve(conns[i], &route));
		CORE_EQ(test, 0, krdma_conn_wait(conns[i], CORE_TIMEOUT_MS));
		CORE_EQ(test, 0, krdma_conn_connect(conns[i], &(struct krdma_conn_param) {}));
		/* One after the other, so that it is known which client exceeds the backlog. */
		ret = krdma_conn_wait(conns[i], i < BACKLOG ? 200 : CORE_TIMEOUT_MS);
		CORE_EQ(test, i < BACKLOG ? -ETIMEDOUT : -ECONNREFUSED, ret);
	}
	krdma_listener_close(pair->listener);
	for (int i = 0; i < BACKLOG; i++) {
		ret = krdma_conn_wait(conns[i], CORE_TIMEOUT_MS);
		refused += ret == -ECONNREFUSED;
	}
	CORE_EQ(test, BACKLOG, refused);
out:
	for (int i = 0; i < BACKLOG_CLIENTS; i++) {
		if (IS_ERR_OR_NULL(conns[i]))
			continue;
		krdma_conn_close(conns[i]);
		krdma_conn_put(conns[i]);
	}
	core_pair_close(pair);
}

/*
 * Connecting
 */

static void expect_events(struct core_end *end, const enum krdma_event_type *types, int count)
{
	struct core_test *test = end->test;

	if (!CORE_EQ(test, count, end->event_count))
		count = min_t(int, count, end->event_count);
	for (int i = 0; i < count; i++)
		core_check(test, end->events[i].type == types[i], __func__, __LINE__,
			   "event %d is %s, not %s", i, krdma_event_name(end->events[i].type),
			   krdma_event_name(types[i]));
}

/* Proves: B2 (core-debug rxe siw), D7, E1, E2 */
static void connect_and_close(struct core_test *test)
{
	static const enum krdma_event_type client_events[] = {
		KRDMA_EVENT_ADDR_RESOLVED, KRDMA_EVENT_ROUTE_RESOLVED, KRDMA_EVENT_ESTABLISHED,
		KRDMA_EVENT_DISCONNECTED, KRDMA_EVENT_CLOSED,
	};
	static const enum krdma_event_type server_events[] = {
		KRDMA_EVENT_ESTABLISHED, KRDMA_EVENT_DISCONNECTED, KRDMA_EVENT_CLOSED,
	};
	struct core_pair *pair = core_pair_open(test);
	struct sockaddr_storage local, remote;

	if (!pair)
		return;
	CORE_EQ(test, 0, krdma_conn_addresses(pair->client.conn, &local, &remote));
	CORE_TRUE(test, address_same(&remote, &test->address));
	CORE_TRUE(test, address_same(&local, &test->address));
	CORE_EQ(test, address_port(&pair->listen_address), address_port(&remote));
	CORE_EQ(test, 0, krdma_conn_addresses(pair->server.conn, &remote, NULL));
	CORE_TRUE(test, address_same(&remote, &test->address));
	CORE_EQ(test, address_port(&pair->listen_address), address_port(&remote));
	CORE_TRUE(test, krdma_conn_device(pair->client.conn) == test->dev);
	CORE_TRUE(test, krdma_conn_device(pair->server.conn) == test->dev);

	krdma_conn_close(pair->client.conn);
	CORE_TRUE(test, core_await_event(&pair->server, KRDMA_EVENT_CLOSED, CORE_TIMEOUT_MS));
	CORE_TRUE(test, core_await_event(&pair->client, KRDMA_EVENT_CLOSED, CORE_TIMEOUT_MS));
	expect_events(&pair->client, client_events, ARRAY_SIZE(client_events));
	expect_events(&pair->server, server_events, ARRAY_SIZE(server_events));
	CORE_EQ(test, -ENOTCONN, krdma_conn_wait(pair->client.conn, 1));
	CORE_EQ(test, test->iwarp ? -ECONNRESET : -EPIPE,
		krdma_conn_wait(pair->server.conn, 1));
	core_pair_close(pair);
}

/* A consumer without an event callback takes events from the queue of events. */
/* Proves: A10 */
static void events_asked_for(struct core_test *test)
{
	static const enum krdma_event_type expected[] = {
		KRDMA_EVENT_ADDR_RESOLVED, KRDMA_EVENT_ROUTE_RESOLVED,
	};
	struct core_pair *pair = core_pair_alloc(test);
	struct krdma_event event;
	struct krdma_conn *conn;

	if (!pair)
		return;
	if (!core_pair_listen(pair, 0) || !core_pair_resolve(pair))
		goto out;
	CORE_EQ(test, -EINVAL, krdma_conn_next_event(pair->client.conn, &event));

	conn = krdma_conn_create(pair->client_session, NULL, NULL);
	if (!CORE_OK_PTR(test, conn))
		goto out;
	CORE_EQ(test, -EAGAIN, krdma_conn_next_event(conn, &event));
	CORE_EQ(test, 0, krdma_conn_resolve(conn, &(struct krdma_route) {
		.remote = (struct sockaddr *)&pair->listen_address,
	}));
	CORE_EQ(test, 0, krdma_conn_wait(conn, CORE_TIMEOUT_MS));
	for (unsigned int i = 0; i < ARRAY_SIZE(expected); i++) {
		CORE_EQ(test, 0, krdma_conn_next_event(conn, &event));
		CORE_EQ(test, expected[i], event.type);
		CORE_EQ(test, 0, event.error);
	}
	CORE_EQ(test, -EAGAIN, krdma_conn_next_event(conn, &event));
	krdma_conn_close(conn);
	CORE_EQ(test, 0, krdma_conn_next_event(conn, &event));
	CORE_EQ(test, KRDMA_EVENT_CLOSED, event.type);
	CORE_EQ(test, -ECONNABORTED, event.error);
	krdma_conn_put(conn);
out:
	core_pair_close(pair);
}

/* Proves: D4, D8, E6, E7 */
static void grants(struct core_test *test)
{
	const struct krdma_limits *limits = &test->attr.limits;
	struct core_pair *pair = core_pair_alloc(test);
	struct krdma_conn_info client, server;
	struct krdma_conn_attr attr;

	if (!pair)
		return;
	pair->client_attr.send_depth = 17;
	pair->client_attr.recv_depth = 9;
	pair->client_attr.max_send_sge = min(3U, limits->max_send_sge);
	pair->client_attr.max_recv_sge = min(2U, limits->max_recv_sge);
	pair->client_attr.max_inline = 32;
	pair->wr.read_depth = 3;
	pair->wr.read_depth_in = 5;
	pair->answer.read_depth = 7;
	pair->answer.read_depth_in = 2;
	if (!core_pair_listen(pair, 0) || !core_pair_resolve(pair))
		goto out;

	/* A refused call changes nothing. */
	attr = pair->client_attr;
	attr.send_depth = limits->max_send_wr + 1;
	CORE_EQ(test, -EINVAL, krdma_conn_create_qp(pair->client.conn, &attr));
	attr = pair->client_attr;
	attr.max_send_sge = limits->max_send_sge + 1;
	CORE_EQ(test, -EINVAL, krdma_conn_create_qp(pair->client.conn, &attr));
	attr = pair->client_attr;
	attr.max_recv_sge = limits->max_recv_sge + 1;
	CORE_EQ(test, -EINVAL, krdma_conn_create_qp(pair->client.conn, &attr));
	attr = pair->client_attr;
	attr.max_inline = 1 << 20;
	CORE_EQ(test, -EINVAL, krdma_conn_create_qp(pair->client.conn, &attr));
	CORE_EQ(test, -EINVAL, krdma_conn_connect(pair->client.conn, &(struct krdma_conn_param) {
		.retry_count = 8 }));
	CORE_EQ(test, -EINVAL, krdma_conn_connect(pair->client.conn, &(struct krdma_conn_param) {
		.rnr_retry_count = 8 }));
	if (limits->max_read_depth < U8_MAX) {
		struct krdma_conn_param param = { .read_depth = limits->max_read_depth + 1 };

		CORE_EQ(test, -EINVAL, krdma_conn_connect(pair->client.conn, &param));
	}
	if (!core_pair_connect(pair))
		goto out;

	krdma_conn_query(pair->client.conn, &client);
	krdma_conn_query(pair->server.conn, &server);
	CORE_EQ(test, KRDMA_CONN_CONNECTED, client.state);
	CORE_EQ(test, KRDMA_CONN_CONNECTED, server.state);
	CORE_EQ(test, 0, client.error);
	CORE_EQ(test, test->attr.id, client.device_id);
	CORE_EQ(test, 17, client.send_depth);
	CORE_EQ(test, 9, client.recv_depth);
	CORE_EQ(test, min(3U, limits->max_send_sge), client.max_send_sge);
	CORE_EQ(test, min(2U, limits->max_recv_sge), client.max_recv_sge);
	CORE_TRUE(test, client.max_inline >= 32);
	CORE_TRUE(test, client.qp_number && server.qp_number);
	CORE_TRUE(test, client.qp_number != server.qp_number);
	CORE_EQ(test, min(64U, limits->max_send_wr), server.send_depth);
	CORE_EQ(test, min(64U, limits->max_recv_wr), server.recv_depth);
	/* What one end sends, the other end serves.  iWARP's ends do not exchange all of this. */
	if (!test->iwarp) {
		CORE_EQ(test, 2, client.read_depth);
		CORE_EQ(test, 5, client.read_depth_in);
		CORE_EQ(test, 5, server.read_depth);
		CORE_EQ(test, 2, server.read_depth_in);
		CORE_TRUE(test, client.peer_is_krdma && server.peer_is_krdma);
		CORE_TRUE(test, client.path_mtu >= 256 && server.path_mtu == client.path_mtu);
	}
	CORE_TRUE(test, client.read_depth && client.read_depth_in);
	CORE_TRUE(test, server.read_depth && server.read_depth_in);
	CORE_EQ(test, 0, client.sends_posted + client.receives_posted);
out:
	core_pair_close(pair);
}

/* Proves: D4, E6 */
static void route_options(struct core_test *test)
{
	struct krdma_route route = { .tos = 0x20, .ack_timeout = 20, .timeout_ms = 5000 };
	struct sockaddr_storage nobody = address_nobody(&test->address);
	struct sockaddr_storage other = { .ss_family = AF_UNIX };
	struct core_pair *pair = core_pair_alloc(test);
	struct krdma_conn *conn;

	if (!pair)
		return;
	if (!core_pair_listen(pair, 0))
		goto out;
	route.remote = (struct sockaddr *)&pair->listen_address;
	route.local = (struct sockaddr *)&test->address;
	conn = krdma_conn_create(pair->client_session, &core_ops, &pair->client);
	if (!CORE_OK_PTR(test, conn))
		goto out;
	pair->client.conn = conn;

	CORE_EQ(test, -EAFNOSUPPORT, krdma_conn_resolve(conn, &(struct krdma_route) {
		.remote = (struct sockaddr *)&other }));
	CORE_EQ(test, -EINVAL, krdma_conn_resolve(conn, &(struct krdma_route) {
		.remote = route.remote, .ack_timeout = 32 }));
	CORE_EQ(test, -EINVAL, krdma_conn_resolve(conn, &(struct krdma_route) {}));
	CORE_EQ(test, 0, krdma_conn_resolve(conn, &route));
	CORE_EQ(test, 0, krdma_conn_wait(conn, CORE_TIMEOUT_MS));
	core_pair_connect(pair);
out:
	core_pair_close(pair);

	/* A source address that the device does not have. */
	pair = core_pair_alloc(test);
	if (!pair)
		return;
	conn = krdma_conn_create(pair->client_session, NULL, NULL);
	if (CORE_OK_PTR(test, conn)) {
		route.remote = (struct sockaddr *)&test->address;
		route.local = (struct sockaddr *)&nobody;
		((struct sockaddr_in *)&test->address)->sin_port = htons(4711);
		CORE_EQ(test, -EADDRNOTAVAIL, krdma_conn_resolve(conn, &route));
		CORE_EQ(test, -EADDRNOTAVAIL, krdma_conn_wait(conn, CORE_TIMEOUT_MS));
		krdma_conn_close(conn);
		krdma_conn_put(conn);
	}
	core_pair_close(pair);
}

/* An address reserved for documentation, which no network has. */
static struct sockaddr_storage address_nowhere(const struct sockaddr_storage *address)
{
	struct sockaddr_storage nowhere = address_with_port(address, 4711);

	if (nowhere.ss_family == AF_INET) {
		((struct sockaddr_in *)&nowhere)->sin_addr.s_addr = htonl(0xc0000201);
	} else {
		struct in6_addr *in6 = &((struct sockaddr_in6 *)&nowhere)->sin6_addr;

		memset(in6, 0, sizeof(*in6));
		in6->s6_addr32[0] = htonl(0x20010db8);
		in6->s6_addr[15] = 1;
	}
	return nowhere;
}

/* Proves: D7 */
static void peer_unreachable(struct core_test *test)
{
	struct sockaddr_storage nowhere = address_nowhere(&test->address);
	struct krdma_route route = { .remote = (struct sockaddr *)&nowhere, .timeout_ms = 300 };
	struct core_pair *pair = core_pair_alloc(test);
	struct krdma_device *dev;
	int ret;

	if (!pair)
		return;
	pair->client.conn = krdma_conn_create(pair->client_session, &core_ops, &pair->client);
	if (CORE_OK_PTR(test, pair->client.conn)) {
		ret = krdma_conn_resolve(pair->client.conn, &route) ?:
		      krdma_conn_wait(pair->client.conn, CORE_TIMEOUT_MS);
		CORE_EQ(test, -EHOSTUNREACH, ret);
		/* The call itself may have failed, before any wait. */
		CORE_EQ(test, -EHOSTUNREACH, krdma_conn_wait(pair->client.conn, CORE_TIMEOUT_MS));
		CORE_EQ(test, -EHOSTUNREACH, krdma_conn_wait(pair->client.conn, 1));
		CORE_TRUE(test, core_await_event(&pair->client, KRDMA_EVENT_ADDR_ERROR,
						 CORE_TIMEOUT_MS));
	}
	core_pair_close(pair);

	dev = krdma_device_towards(&init_net, NULL, route.remote, 300);
	CORE_ERR_PTR(test, -EHOSTUNREACH, dev);
	if (!IS_ERR(dev))
		krdma_device_put(dev);
}

/* No listener has the port. */
/* Proves: D7 */
static void nobody_listens(struct core_test *test)
{
	struct core_pair *pair = core_pair_alloc(test);
	struct krdma_conn_param param = {};
	int ret;

	if (!pair)
		return;
	if (core_pair_listen(pair, 0)) {
		krdma_listener_close(pair->listener);
		if (core_pair_resolve(pair)) {
			ret = krdma_conn_connect(pair->client.conn, &param) ?:
			      krdma_conn_wait(pair->client.conn, CORE_TIMEOUT_MS);
			CORE_EQ(test, -ECONNREFUSED, ret);
			CORE_EQ(test, -ECONNREFUSED,
				krdma_conn_wait(pair->client.conn, CORE_TIMEOUT_MS));
		}
	}
	core_pair_close(pair);
}

/*
 * Private data
 */

static void check_private_data(struct core_end *end, const u8 *sent, int length)
{
	struct core_test *test = end->test;
	u8 data[KRDMA_PRIVATE_DATA_MAX];

	memset(data, 0xee, sizeof(data));
	CORE_EQ(test, length, krdma_conn_private_data(end->conn, data, sizeof(data)));
	CORE_TRUE(test, !memcmp(data, sent, length));
	CORE_TRUE(test, !memchr_inv(data + length, 0xee, sizeof(data) - length));
}

/* Proves: D6, E9 (core-debug siw) */
static void private_data(struct core_test *test)
{
	static const u8 lengths[][2] = {
		{ 0, 0 }, { 1, 188 }, { 48, 1 }, { 47, 187 }, { 8, 100 }, { 0, 7 }, { 33, 0 },
	};
	u8 data[KRDMA_PRIVATE_DATA_MAX];
	struct core_pair *pair;

	core_fill(data, sizeof(data), 5);
	for (unsigned int i = 0; i < ARRAY_SIZE(lengths) && !test->failures; i++) {
		pair = core_pair_alloc(test);
		if (!pair)
			return;
		pair->wr.private_data = data;
		pair->wr.private_data_len = lengths[i][0];
		pair->answer.private_data = data + 3;
		pair->answer.private_data_len = lengths[i][1];
		if (core_pair_listen(pair, 0) && core_pair_resolve(pair) &&
		    core_pair_connect(pair)) {
			check_private_data(&pair->server, data, lengths[i][0]);
			check_private_data(&pair->client, data + 3, lengths[i][1]);
		}
		core_pair_close(pair);
	}
}

/* As much as keeps its length, more than that, and more than fits. */
/* Proves: D8 */
static void private_data_long(struct core_test *test)
{
	u8 request_max = test->iwarp ? 251 : 56;
	u8 answer_max = test->iwarp ? 251 : 196;
	u8 data[KRDMA_PRIVATE_DATA_MAX];
	struct core_pair *pair = core_pair_alloc(test);
	struct krdma_conn_param param = { .private_data = data };

	if (!pair)
		return;
	core_fill(data, sizeof(data), 6);
	pair->wr.private_data = data;
	pair->wr.private_data_len = request_max;
	pair->answer.private_data = data;
	pair->answer.private_data_len = answer_max;
	if (!core_pair_listen(pair, 0) || !core_pair_resolve(pair))
		goto out;
	param.private_data_len = request_max + 1;
	CORE_EQ(test, -EMSGSIZE, krdma_conn_connect(pair->client.conn, &param));
	CORE_EQ(test, 0, krdma_conn_connect(pair->client.conn, &pair->wr));
	pair->server.conn = krdma_listener_next(pair->listener, &core_ops, &pair->server,
						CORE_TIMEOUT_MS);
	if (!CORE_OK_PTR(test, pair->server.conn))
		goto out;
	check_private_data(&pair->server, data, request_max);
	param.private_data_len = answer_max + 1;
	CORE_EQ(test, -EMSGSIZE, krdma_conn_accept(pair->server.conn, &param));
	CORE_EQ(test, 0, krdma_conn_accept(pair->server.conn, &pair->answer));
	CORE_EQ(test, 0, krdma_conn_wait(pair->client.conn, CORE_TIMEOUT_MS));
	check_private_data(&pair->client, data, answer_max);
out:
	core_pair_close(pair);
}

static void reject_with(struct core_test *test, const u8 *data, u8 length)
{
	struct core_pair *pair = core_pair_alloc(test);
	u8 max = test->iwarp ? 251 : 148;

	if (!pair)
		return;
	if (!core_pair_listen(pair, 0) || !core_pair_resolve(pair) ||
	    !CORE_EQ(test, 0, krdma_conn_connect(pair->client.conn, &pair->wr)))
		goto out;
	pair->server.conn = krdma_listener_next(pair->listener, &core_ops, &pair->server,
						CORE_TIMEOUT_MS);
	if (!CORE_OK_PTR(test, pair->server.conn))
		goto out;
	CORE_EQ(test, -EINVAL, krdma_conn_reject(pair->client.conn, data, length));
	CORE_EQ(test, -EMSGSIZE, krdma_conn_reject(pair->server.conn, data, max + 1));
	CORE_EQ(test, 0, krdma_conn_reject(pair->server.conn, data, length));
	CORE_EQ(test, -ENOTCONN, krdma_conn_reject(pair->server.conn, data, length));
	CORE_EQ(test, -ECONNREFUSED, krdma_conn_wait(pair->client.conn, CORE_TIMEOUT_MS));
	CORE_EQ(test, -ECONNABORTED, krdma_conn_wait(pair->server.conn, CORE_TIMEOUT_MS));
	CORE_TRUE(test, core_await_event(&pair->client, KRDMA_EVENT_REJECTED, CORE_TIMEOUT_MS));
	check_private_data(&pair->client, data, length);
	for (unsigned int i = 0; i < pair->client.event_count; i++) {
		if (pair->client.events[i].type == KRDMA_EVENT_REJECTED)
			CORE_EQ(test, -ECONNREFUSED, pair->client.events[i].error);
	}
out:
	core_pair_close(pair);
}

/* Proves: D6, D7 */
static void reject(struct core_test *test)
{
	static const u8 lengths[] = { 0, 1, 139, 140 };
	u8 data[KRDMA_PRIVATE_DATA_MAX];

	core_fill(data, sizeof(data), 7);
	for (unsigned int i = 0; i < ARRAY_SIZE(lengths) && !test->failures; i++)
		reject_with(test, data, lengths[i]);
}

const struct core_case core_conn_cases[] = {
	CORE_CASE_ADDRESSES(device_by_address),
	CORE_CASE_ADDRESSES(listen_addresses),
	CORE_CASE_ADDRESSES(listen_everywhere),
	CORE_CASE(listener_waits),
	CORE_CASE(backlog),
	CORE_CASE_ADDRESSES(connect_and_close),
	CORE_CASE(events_asked_for),
	CORE_CASE(grants),
	CORE_CASE_ADDRESSES(route_options),
	CORE_CASE_ADDRESSES(peer_unreachable),
	CORE_CASE_ADDRESSES(nobody_listens),
	CORE_CASE(private_data),
	CORE_CASE(private_data_long),
	CORE_CASE(reject),
	{},
};
