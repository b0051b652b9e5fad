// SPDX-License-Identifier: GPL-2.0
/*
 * Connections that are opened and closed, both ends in one thread that sleeps in between: lanes
 * over a trunk that is there, and plain connections.
 */
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <net/net_namespace.h>
#include <krdma/krdma.h>

#include "cost.h"

/* The shortest of so many rounds counts. */
#define COST_LANE_ROUNDS	16
/* Connections of a round. */
#define COST_LANE_COUNT		60
#define COST_LANE_DEPTH		4

/* Steps of a connection. */
enum cost_step {
	COST_RESOLVE,
	COST_QUEUES,
	COST_REQUEST,
	COST_TAKE,
	COST_ACCEPT,
	COST_ESTABLISH,
	COST_CLOSE_ACTIVE,
	COST_CLOSE_PASSIVE,
	COST_STEPS,
};

static const char *const cost_step_names[] = {
	[COST_RESOLVE] = "resolve",
	[COST_QUEUES] = "queues",
	[COST_REQUEST] = "request",
	[COST_TAKE] = "take",
	[COST_ACCEPT] = "accept",
	[COST_ESTABLISH] = "establish",
	[COST_CLOSE_ACTIVE] = "close-active",
	[COST_CLOSE_PASSIVE] = "close-passive",
};

/**
 * struct cost_lanes - what opens and closes
 * @route: the way to the listener
 * @lane: lanes, not plain connections
 * @session: the session of everything
 * @listener: the listener
 * @cqs: CQs of the clients and of the servers
 * @keeper: the client of a connection that stays, and with it the trunk
 * @kept: its other end
 * @clients: the clients of a batch
 * @servers: their other ends
 * @many: what is connected or accepted at a time
 * @steps: nanoseconds of each step, in this round
 */
struct cost_lanes {
	struct krdma_route route;
	bool lane;
	struct krdma_session *session;
	struct krdma_listener *listener;
	struct krdma_cq *cqs[2];
	struct krdma_conn *keeper;
	struct krdma_conn *kept;
	struct krdma_conn *clients[COST_LANE_COUNT];
	struct krdma_conn *servers[COST_LANE_COUNT];
	struct krdma_conn_many many[COST_LANE_COUNT];
	u64 steps[COST_STEPS];
};

static int cost_lane_make_cqs(struct cost_lanes *cost, struct krdma_device *dev)
{
	struct krdma_cq_attr attr = {
		.depth = (COST_LANE_COUNT + 1) * (2 * COST_LANE_DEPTH + KRDMA_CQ_OVERHEAD),
		.where = KRDMA_CONTEXT_POLL,
		.vector = -1,
	};

	for (int i = 0; i < ARRAY_SIZE(cost->cqs); i++) {
		cost->cqs[i] = krdma_cq_create(dev, &attr);
		if (IS_ERR(cost->cqs[i]))
			return PTR_ERR(cost->cqs[i]);
	}
	return 0;
}

static int cost_lane_prepare(struct cost_lanes *cost, struct krdma_conn *conn, int side)
{
	struct krdma_conn_attr attr = {
		.send_depth = COST_LANE_DEPTH,
		.recv_depth = COST_LANE_DEPTH,
		.max_send_sge = 1,
		.cq = cost->cqs[side],
	};

	return krdma_conn_create_qp(conn, &attr);
}

static int cost_lane_resolve(struct cost_lanes *cost, struct krdma_conn **conn)
{
	struct krdma_conn *new;

	new = cost->lane ? krdma_conn_create_lane(cost->session, NULL, NULL) :
			   krdma_conn_create(cost->session, NULL, NULL);
	if (IS_ERR(new))
		return PTR_ERR(new);
	*conn = new;
	return krdma_conn_resolve(new, &cost->route);
}

static int cost_lane_request(struct cost_lanes *cost, struct krdma_conn *conn)
{
	int ret;

	ret = krdma_conn_wait(conn, COST_TIMEOUT_MS);
	/* The device is known now, which the CQs need. */
	if (!ret && !cost->cqs[0])
		ret = cost_lane_make_cqs(cost, krdma_conn_device(conn));
	return ret ?: cost_lane_prepare(cost, conn, 0);
}

static int cost_lane_take(struct cost_lanes *cost, struct krdma_conn **conn)
{
	struct krdma_conn *new;

	new = krdma_listener_next(cost->listener, NULL, NULL, COST_TIMEOUT_MS);
	if (IS_ERR(new))
		return PTR_ERR(new);
	*conn = new;
	return cost_lane_prepare(cost, new, 1);
}

/* Connects, or accepts. */
static int cost_lane_many(struct cost_lanes *cost, struct krdma_conn **conns, unsigned int count,
			  unsigned int (*call)(struct krdma_conn_many *many, unsigned int count))
{
	for (unsigned int i = 0; i < count; i++)
		cost->many[i].conn = conns[i];
	return call(cost->many, count) == count ? 0 : -EIO;
}

static void cost_lane_close(struct krdma_conn **conns, unsigned int count)
{
	/* What ends alone need not be sent at once. */
	if (count > 1)
		krdma_conn_end_many(conns, count);
	for (unsigned int i = 0; i < count; i++) {
		if (conns[i])
			krdma_conn_close(conns[i]);
		krdma_conn_put_sync(conns[i]);
		conns[i] = NULL;
	}
}

static void cost_lane_lap(struct cost_lanes *cost, enum cost_step step, u64 *since)
{
	u64 now = ktime_get_ns();

	cost->steps[step] += now - *since;
	*since = now;
}

/* Opens @count connections at a time, and closes them. */
static int cost_lane_batch(struct cost_lanes *cost, unsigned int count)
{
	u64 since = ktime_get_ns();
	unsigned int i;
	int ret = 0;

	for (i = 0; i < count && !ret; i++)
		ret = cost_lane_resolve(cost, &cost->clients[i]);
	cost_lane_lap(cost, COST_RESOLVE, &since);
	for (i = 0; i < count && !ret; i++)
		ret = cost_lane_request(cost, cost->clients[i]);
	cost_lane_lap(cost, COST_QUEUES, &since);
	ret = ret ?: cost_lane_many(cost, cost->clients, count, krdma_conn_connect_many);
	cost_lane_lap(cost, COST_REQUEST, &since);
	for (i = 0; i < count && !ret; i++)
		ret = cost_lane_take(cost, &cost->servers[i]);
	cost_lane_lap(cost, COST_TAKE, &since);
	ret = ret ?: cost_lane_many(cost, cost->servers, count, krdma_conn_accept_many);
	cost_lane_lap(cost, COST_ACCEPT, &since);
	for (i = 0; i < count && !ret; i++)
		ret = krdma_conn_wait(cost->clients[i], COST_TIMEOUT_MS) ?:
		      krdma_conn_wait(cost->servers[i], COST_TIMEOUT_MS);
	cost_lane_lap(cost, COST_ESTABLISH, &since);
	cost_lane_close(cost->clients, count);
	cost_lane_lap(cost, COST_CLOSE_ACTIVE, &since);
	cost_lane_close(cost->servers, count);
	cost_lane_lap(cost, COST_CLOSE_PASSIVE, &since);
	return ret;
}

/* Without a trunk that stays, and the CQs, the first round would cost more. */
static int cost_lane_keep(struct cost_lanes *cost)
{
	struct krdma_conn_info info;
	int ret;

	ret = cost_lane_resolve(cost, &cost->keeper) ?: cost_lane_request(cost, cost->keeper) ?:
	      cost_lane_many(cost, &cost->keeper, 1, krdma_conn_connect_many) ?:
	      cost_lane_take(cost, &cost->kept) ?:
	      cost_lane_many(cost, &cost->kept, 1, krdma_conn_accept_many) ?:
	      krdma_conn_wait(cost->keeper, COST_TIMEOUT_MS);
	if (ret)
		return ret;
	krdma_conn_query(cost->keeper, &info);
	return info.lane == cost->lane ? 0 : -EPROTO;
}

static int cost_lane_round(struct cost_lanes *cost, unsigned int batch)
{
	int ret = 0;

	memset(cost->steps, 0, sizeof(cost->steps));
	for (unsigned int done = 0; done < COST_LANE_COUNT && !ret; done += batch)
		ret = cost_lane_batch(cost, batch);
	return ret;
}

static void cost_lane_log(const struct cost_lanes *cost, const char *name, unsigned int batch,
			  u64 took)
{
	cost_log("krdma.%s.%s.batch=%u %llu\n", cost->lane ? "lane" : "plain", name, batch,
		 div_u64(took, COST_LANE_COUNT));
}

static int cost_lane_measure(struct cost_lanes *cost, unsigned int batch)
{
	u64 best[COST_STEPS], least = U64_MAX;
	int ret;

	for (int round = 0; round < COST_LANE_ROUNDS; round++) {
		u64 took = 0;

		ret = cost_lane_round(cost, batch);
		if (ret)
			return ret;
		for (int step = 0; step < COST_STEPS; step++)
			took += cost->steps[step];
		if (took < least) {
			least = took;
			memcpy(best, cost->steps, sizeof(best));
		}
		cond_resched();
	}
	cost_lane_log(cost, "open-close", batch, least);
	for (int step = 0; step < COST_STEPS; step++)
		cost_lane_log(cost, cost_step_names[step], batch, best[step]);
	return 0;
}

static void cost_lanes_end(struct cost_lanes *cost)
{
	cost_lane_close(&cost->keeper, 1);
	cost_lane_close(&cost->kept, 1);
	if (!IS_ERR_OR_NULL(cost->listener)) {
		krdma_listener_close(cost->listener);
		krdma_listener_put(cost->listener);
	}
	for (int i = 0; i < ARRAY_SIZE(cost->cqs); i++)
		if (!IS_ERR_OR_NULL(cost->cqs[i]))
			krdma_cq_put(cost->cqs[i]);
	if (!IS_ERR_OR_NULL(cost->session))
		krdma_session_put(cost->session);
	kfree(cost);
}

/* With a @batch only that, otherwise one connection after the other and a batch. */
static int cost_lanes_of(const struct cost_plan *plan, bool lane, unsigned int batch)
{
	struct krdma_listen_attr listen = {
		.local = (const struct sockaddr *)&plan->address,
		.lanes = lane,
	};
	struct cost_lanes *cost = kzalloc_obj(*cost, GFP_KERNEL);
	int ret;

	if (!cost)
		return -ENOMEM;
	cost->lane = lane;
	cost->route.remote = (const struct sockaddr *)&plan->address;
	cost->session = krdma_session_create(&init_net);
	ret = PTR_ERR_OR_ZERO(cost->session);
	if (!ret) {
		cost->listener = krdma_listen(cost->session, &listen);
		ret = PTR_ERR_OR_ZERO(cost->listener);
	}
	ret = ret ?: cost_lane_keep(cost) ?: cost_lane_measure(cost, batch ?: 1) ?:
	      (batch ? 0 : cost_lane_measure(cost, COST_LANE_COUNT));
	cost_lanes_end(cost);
	return ret;
}

int cost_measure_lanes(const struct cost_plan *plan)
{
	return cost_lanes_of(plan, true, 0) ?: cost_lanes_of(plan, false, 0);
}

int cost_measure_lane_batch(const struct cost_plan *plan, unsigned int batch)
{
	if (!batch || COST_LANE_COUNT % batch)
		return -EINVAL;
	return cost_lanes_of(plan, true, batch);
}
