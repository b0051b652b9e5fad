// SPDX-License-Identifier: GPL-2.0
/*
 * A network namespace other than the initial one, run by a process in it.
 *
 * The address exists in both namespaces, each time on a device of its own.  So only the namespace
 * distinguishes the two.
 */
#include <linux/atomic.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <net/net_namespace.h>

#include "transfer.h"

/* Timeout of a request that gets no answer: long for one that is refused. */
#define NETNS_NOWHERE_MS	5000

/* A connection within a namespace uses the namespace's device, and transfers data. */
/* Proves: F6 */
static void netns_connect(struct core_test *test)
{
	struct krdma_conn_info info;
	struct transfer transfer;
	struct core_pair *pair;

	if (!transfer_begin(&transfer, test, NULL, SZ_8K))
		return;
	pair = transfer.pair;
	krdma_conn_query(pair->client.conn, &info);
	CORE_EQ(test, test->attr.id, info.device_id);
	krdma_conn_query(pair->server.conn, &info);
	CORE_EQ(test, test->attr.id, info.device_id);

	core_fill(transfer.from.data, SZ_8K, 1);
	CORE_EQ(test, 1, core_receive(&pair->server, 1, &transfer.to, 0, SZ_4K));
	CORE_EQ(test, 1, core_rdma(&pair->client, 2, KRDMA_OP_WRITE, &transfer.from, SZ_4K, SZ_4K,
				   &transfer.to, SZ_4K, 0));
	CORE_EQ(test, 1, core_send(&pair->client, 3, &transfer.from, 0, SZ_4K, 0));
	core_expect_send(&pair->client, 2, KRDMA_WC_SUCCESS);
	core_expect_send(&pair->client, 3, KRDMA_WC_SUCCESS);
	core_expect_receive(&pair->server, 1, KRDMA_WC_SUCCESS, SZ_4K, NULL);
	CORE_TRUE(test, core_filled(transfer.to.data, SZ_8K, 1));
	transfer_end(&transfer);
}

/*
 * A listener in one namespace does not get a request made in the other.  Returns how the request
 * ends.
 */
static int netns_ask_across(struct core_test *test, struct net *listens, struct net *asks)
{
	struct krdma_listen_attr attr = { .local = (struct sockaddr *)&test->address };
	struct krdma_session *server = krdma_session_create(listens);
	struct krdma_session *client = krdma_session_create(asks);
	struct krdma_conn *conn = ERR_PTR(-ENOENT);
	struct krdma_listener *listener = ERR_PTR(-ENOENT);
	struct krdma_conn_param param = {};
	struct sockaddr_storage remote;
	struct krdma_route route = { .remote = (struct sockaddr *)&remote };
	int ret = -ENOENT;

	if (!CORE_OK_PTR(test, server) || !CORE_OK_PTR(test, client))
		goto out;
	listener = krdma_listen(server, &attr);
	conn = krdma_conn_create(client, NULL, NULL);
	if (!CORE_OK_PTR(test, listener) || !CORE_OK_PTR(test, conn))
		goto out;
	CORE_EQ(test, 0, krdma_listener_address(listener, &remote));

	ret = krdma_conn_resolve(conn, &route) ?: krdma_conn_wait(conn, NETNS_NOWHERE_MS);
	if (!ret)
		ret = krdma_conn_connect(conn, &param) ?: krdma_conn_wait(conn, NETNS_NOWHERE_MS);
	CORE_ERR_PTR(test, -EAGAIN, krdma_listener_next(listener, NULL, NULL, 0));
	if (krdma_conn_device(conn))
		CORE_EQ(test, asks == test->net, krdma_conn_device(conn) == test->dev);
out:
	if (!IS_ERR(conn)) {
		krdma_conn_close(conn);
		krdma_conn_put(conn);
	}
	if (!IS_ERR(listener)) {
		krdma_listener_close(listener);
		krdma_listener_put(listener);
	}
	if (!IS_ERR(client))
		krdma_session_put(client);
	if (!IS_ERR(server))
		krdma_session_put(server);
	return ret;
}

/* Proves: F6 */
static void netns_apart(struct core_test *test)
{
	struct krdma_device *other = krdma_device_at(&init_net, (struct sockaddr *)&test->address);

	if (CORE_OK_PTR(test, other)) {
		CORE_TRUE(test, other != test->dev);
		krdma_device_put(other);
	}
	CORE_EQ(test, -ECONNREFUSED, netns_ask_across(test, test->net, &init_net));
	CORE_EQ(test, -ECONNREFUSED, netns_ask_across(test, &init_net, test->net));
}

/* A pair of ends in a namespace, which may be lanes of each other. */
static struct core_pair *netns_lane_pair(struct core_test *test, struct net *net, bool takes)
{
	struct core_pair *pair = core_pair_alloc(test);

	if (!pair)
		return NULL;
	krdma_session_put(pair->client_session);
	krdma_session_put(pair->server_session);
	pair->client_session = krdma_session_create(net);
	pair->server_session = krdma_session_create(net);
	pair->client_lane = true;
	pair->server_lanes = takes;
	if (CORE_OK_PTR(test, pair->client_session) && CORE_OK_PTR(test, pair->server_session) &&
	    core_pair_listen(pair, 0) && core_pair_resolve(pair))
		return pair;
	core_pair_close(pair);
	return NULL;
}

static u64 netns_trunk(struct core_end *end)
{
	struct krdma_conn_info info;

	krdma_conn_query(end->conn, &info);
	return info.lane ? info.trunk : 0;
}

static bool netns_has_iwarp(void)
{
	struct krdma_device_attr attr;
	struct krdma_device *dev;
	bool has = false;
	u32 id = 0;

	while (!has) {
		dev = krdma_device_next(&init_net, id);
		if (!dev)
			break;
		id++;
		if (!krdma_device_query_attr(dev, &attr)) {
			has = attr.transport == KRDMA_TRANSPORT_IWARP;
			id = attr.id + 1;
		}
		krdma_device_put(dev);
	}
	return has;
}

/* The same address has trunks of each namespace, and a lane never uses one of the other. */
/* Proves: F6 */
static void netns_lanes(struct core_test *test)
{
	struct core_pair *inside = NULL, *outside, *plain = NULL;

	/* Only the initial namespace takes lanes. */
	outside = netns_lane_pair(test, &init_net, true);
	if (!outside)
		return;
	CORE_TRUE(test, netns_trunk(&outside->client));
	plain = netns_lane_pair(test, test->net, false);
	if (!plain)
		goto out;
	CORE_EQ(test, 0, netns_trunk(&plain->client));
	/* An iWARP device has the port of trunks in the initial namespace only. */
	if (netns_has_iwarp())
		goto out;
	inside = netns_lane_pair(test, test->net, true);
	if (!inside)
		goto out;
	CORE_TRUE(test, netns_trunk(&inside->client));
	CORE_TRUE(test, netns_trunk(&inside->client) != netns_trunk(&outside->client));
	/* A trunk of this namespace does not lead to the listener of the other one. */
	core_end_close(&plain->client);
	plain->client.event_count = 0;
	plain->listen_address = outside->listen_address;
	if (core_pair_resolve(plain))
		CORE_EQ(test, 0, netns_trunk(&plain->client));
	if (core_pair_connect(inside) && core_pair_connect(outside)) {
		CORE_TRUE(test, netns_trunk(&inside->server));
		CORE_TRUE(test, netns_trunk(&inside->server) != netns_trunk(&outside->server));
		CORE_TRUE(test, krdma_conn_device(inside->client.conn) !=
				krdma_conn_device(outside->client.conn));
	}
out:
	core_pair_close(plain);
	core_pair_close(inside);
	core_pair_close(outside);
}

struct netns_watch {
	struct krdma_device_notifier watch;
	atomic_t heard;
};

static void netns_watch_event(struct krdma_device_notifier *watch,
			      const struct krdma_device_event *event)
{
	atomic_inc(&container_of(watch, struct netns_watch, watch)->heard);
}

/* The interface is in this namespace; its device belongs to the initial one only. */
/* Proves: F6 */
static void netns_stranger(struct core_test *test)
{
	struct krdma_listen_attr attr = { .local = (struct sockaddr *)&test->address };
	struct krdma_route route = { .remote = (struct sockaddr *)&test->address };
	struct netns_watch watch = { .watch.event = netns_watch_event };
	struct krdma_session *session = krdma_session_create(test->net);
	struct krdma_conn *conn;

	CORE_EQ(test, 0, krdma_device_count(test->net));
	CORE_TRUE(test, !krdma_device_get_by_name(test->net, test->attr.name));
	CORE_TRUE(test, !krdma_device_get_by_id(test->net, test->attr.id));
	CORE_TRUE(test, !krdma_device_next(test->net, 0));
	CORE_ERR_PTR(test, -EADDRNOTAVAIL,
		     krdma_device_at(test->net, (struct sockaddr *)&test->address));
	CORE_ERR_PTR(test, -EHOSTUNREACH,
		     krdma_device_towards(test->net, NULL, (struct sockaddr *)&test->address,
					  CORE_TIMEOUT_MS));
	if (CORE_EQ(test, 0, krdma_device_notifier_register(&watch.watch, test->net))) {
		msleep(CORE_QUIET_MS);
		krdma_device_notifier_unregister(&watch.watch);
		CORE_EQ(test, 0, atomic_read(&watch.heard));
	}

	if (!CORE_OK_PTR(test, session))
		return;
	CORE_ERR_PTR(test, -EADDRNOTAVAIL, krdma_listen(session, &attr));
	conn = krdma_conn_create(session, NULL, NULL);
	if (CORE_OK_PTR(test, conn)) {
		((struct sockaddr_in *)&test->address)->sin_port = htons(7471);
		CORE_EQ(test, -EHOSTUNREACH, krdma_conn_resolve(conn, &route) ?:
			krdma_conn_wait(conn, CORE_TIMEOUT_MS));
		krdma_conn_close(conn);
		krdma_conn_put(conn);
	}
	krdma_session_put(session);
}

const struct core_case core_netns_cases[] = {
	CORE_CASE(netns_connect),
	CORE_CASE(netns_apart),
	CORE_CASE(netns_lanes),
	CORE_CASE_STRANGER(netns_stranger),
	{}
};
