// SPDX-License-Identifier: GPL-2.0
/*
 * The ways through krdma: connections of one session, and an MR; in one of them also templates, and
 * in another one an SRQ.
 */
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/slab.h>
#include <net/net_namespace.h>
#include <krdma/krdma.h>

#include "cost.h"

/**
 * enum cost_kind - kinds of ways through krdma
 * @COST_PLAIN: each work request is given as a whole
 * @COST_TEMPLATE: templates
 * @COST_SRQ: the servers have an SRQ
 */
enum cost_kind {
	COST_PLAIN,
	COST_TEMPLATE,
	COST_SRQ,
};

/**
 * struct cost_pair - a connection, both ends
 * @client: the end that posts
 * @server: the passive end
 * @templates: with COST_TEMPLATE: of @client, one for each kind of work
 */
struct cost_pair {
	struct krdma_conn *client;
	struct krdma_conn *server;
	struct krdma_template *templates[COST_WORKS];
};

/**
 * struct cost_krdma - the way
 * @plan: what is measured
 * @session: the session of everything
 * @listener: the listener of all connections
 * @pairs: the connections
 * @connected: number of established connections
 * @next: the connection that has its turn
 * @cqs: CQs of the clients and of the servers
 * @kind: the kind of the way
 * @srq: with COST_SRQ: the SRQ of the servers
 * @buffer: memory of both sides
 * @mr: the MR of @buffer
 * @info: the peers' view of @mr
 * @wrs: a batch of send work requests
 * @posts: a batch of them, by a template
 * @recv_wrs: a batch of receives
 * @wcs: completions of one poll
 */
struct cost_krdma {
	const struct cost_plan *plan;
	struct krdma_session *session;
	struct krdma_listener *listener;
	struct cost_pair *pairs;
	unsigned int connected;
	unsigned int next;
	struct krdma_cq *cqs[2];
	enum cost_kind kind;
	struct krdma_srq *srq;
	void *buffer;
	struct krdma_mr *mr;
	struct krdma_mr_info info;
	struct krdma_send_wr wrs[COST_BATCH];
	struct krdma_template_wr posts[COST_BATCH];
	struct krdma_recv_wr recv_wrs[COST_BATCH];
	struct krdma_wc wcs[COST_POLL];
};

static const struct krdma_conn_ops cost_conn_ops = {};

static const u8 cost_opcodes[] = {
	[COST_WRITE] = KRDMA_OP_WRITE,
	[COST_READ] = KRDMA_OP_READ,
	[COST_FETCH_ADD] = KRDMA_OP_FETCH_ADD,
	[COST_MESSAGE] = KRDMA_OP_SEND,
};

static void cost_krdma_end_pair(struct cost_pair *pair)
{
	enum cost_work work;

	for (work = 0; work < COST_WORKS; work++)
		if (!IS_ERR_OR_NULL(pair->templates[work]))
			krdma_template_destroy(pair->templates[work]);
	krdma_conn_close(pair->client);
	krdma_conn_put(pair->client);
	krdma_conn_close(pair->server);
	krdma_conn_put(pair->server);
}

static void cost_krdma_end(void *data)
{
	struct cost_krdma *cost = data;
	unsigned int i;

	for (i = 0; i < cost->connected; i++) {
		cost_krdma_end_pair(&cost->pairs[i]);
		cond_resched();
	}
	if (!IS_ERR_OR_NULL(cost->listener)) {
		krdma_listener_close(cost->listener);
		krdma_listener_put(cost->listener);
	}
	if (!IS_ERR_OR_NULL(cost->srq)) {
		krdma_srq_close(cost->srq);
		krdma_srq_put(cost->srq);
	}
	if (!IS_ERR_OR_NULL(cost->mr))
		krdma_mr_deregister(cost->mr);
	for (i = 0; i < ARRAY_SIZE(cost->cqs); i++)
		if (!IS_ERR_OR_NULL(cost->cqs[i]))
			krdma_cq_put(cost->cqs[i]);
	if (!IS_ERR_OR_NULL(cost->session))
		krdma_session_put(cost->session);
	kvfree(cost->pairs);
	kfree(cost->buffer);
	kvfree(cost);
}

/* Each of many connections has a few work requests in flight, and a single one has a batch. */
static u32 cost_krdma_depth(const struct cost_krdma *cost)
{
	return max(DIV_ROUND_UP(COST_BATCH, cost->plan->conns), 4U);
}

static int cost_krdma_make_srq(struct cost_krdma *cost)
{
	struct krdma_srq_attr attr = { .depth = COST_BATCH, .cq = cost->cqs[1] };

	cost->srq = krdma_srq_create(cost->session, &attr);
	return PTR_ERR_OR_ZERO(cost->srq);
}

static int cost_krdma_make(struct cost_krdma *cost, struct krdma_device *dev)
{
	struct krdma_cq_attr attr = {
		.depth = cost->plan->conns * (2 * cost_krdma_depth(cost) + KRDMA_CQ_OVERHEAD) +
			 COST_BATCH,
		.where = KRDMA_CONTEXT_POLL,
		.vector = -1,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cost->cqs); i++) {
		cost->cqs[i] = krdma_cq_create(dev, &attr);
		if (IS_ERR(cost->cqs[i]))
			return PTR_ERR(cost->cqs[i]);
	}
	cost->buffer = kzalloc(COST_MEMORY, GFP_KERNEL);
	if (!cost->buffer)
		return -ENOMEM;
	cost->mr = krdma_mr_register(cost->session, dev, cost->buffer, COST_MEMORY,
				     KRDMA_ACCESS_LOCAL_WRITE | KRDMA_ACCESS_REMOTE_READ |
				     KRDMA_ACCESS_REMOTE_WRITE | KRDMA_ACCESS_REMOTE_ATOMIC);
	if (IS_ERR(cost->mr))
		return PTR_ERR(cost->mr);
	krdma_mr_query(cost->mr, &cost->info);
	return cost->kind == COST_SRQ ? cost_krdma_make_srq(cost) : 0;
}

static int cost_krdma_prepare(struct cost_krdma *cost, struct krdma_conn *conn, unsigned int side)
{
	struct krdma_conn_attr attr = {
		.send_depth = cost_krdma_depth(cost),
		.recv_depth = cost_krdma_depth(cost),
		.max_send_sge = 1,
		.cq = cost->cqs[side],
	};

	if (side && cost->kind == COST_SRQ) {
		attr.recv_depth = 0;
		attr.srq = cost->srq;
	}
	return krdma_conn_create_qp(conn, &attr);
}

/* Accepts a connection that the client has begun. */
static int cost_krdma_accept(struct cost_krdma *cost, struct cost_pair *pair)
{
	int ret;

	pair->server = krdma_listener_next(cost->listener, &cost_conn_ops, NULL, COST_TIMEOUT_MS);
	if (IS_ERR(pair->server))
		return PTR_ERR(pair->server);
	ret = cost_krdma_prepare(cost, pair->server, 1) ?:
	      krdma_conn_accept(pair->server, &(struct krdma_conn_param) {}) ?:
	      krdma_conn_wait(pair->client, COST_TIMEOUT_MS) ?:
	      krdma_conn_wait(pair->server, COST_TIMEOUT_MS);
	if (ret) {
		krdma_conn_close(pair->server);
		krdma_conn_put(pair->server);
	}
	return ret;
}

static int cost_krdma_connect(struct cost_krdma *cost, struct cost_pair *pair)
{
	struct krdma_route route = { .remote = (const struct sockaddr *)&cost->plan->address };
	struct krdma_conn *conn = krdma_conn_create(cost->session, &cost_conn_ops, NULL);
	int ret;

	if (IS_ERR(conn))
		return PTR_ERR(conn);
	pair->client = conn;
	ret = krdma_conn_resolve(conn, &route) ?: krdma_conn_wait(conn, COST_TIMEOUT_MS);
	/* The device is known now, which the CQs need. */
	if (!ret && !cost->mr)
		ret = cost_krdma_make(cost, krdma_conn_device(conn));
	ret = ret ?: cost_krdma_prepare(cost, conn, 0) ?:
	      krdma_conn_connect(conn, &(struct krdma_conn_param) {}) ?:
	      cost_krdma_accept(cost, pair);
	if (ret) {
		krdma_conn_close(conn);
		krdma_conn_put(conn);
	}
	return ret;
}

/* The templates of a connection, both ends of which are in place. */
static int cost_krdma_make_templates(struct cost_krdma *cost, struct cost_pair *pair)
{
	enum cost_work work;

	for (work = 0; work < COST_WORKS; work++) {
		struct krdma_template_attr attr = {
			.opcode = cost_opcodes[work], .mr = cost->mr,
			.addr = cost->info.addr, .length = COST_MEMORY,
			.remote_addr = cost->info.remote_addr, .remote_length = COST_MEMORY,
			.rkey = cost->info.rkey, .operand = work == COST_FETCH_ADD,
		};

		if (!(COST_ONE_SIDED & BIT(work)))
			continue;
		pair->templates[work] = krdma_template_create(pair->client, &attr);
		if (IS_ERR(pair->templates[work]))
			return PTR_ERR(pair->templates[work]);
	}
	return 0;
}

static void *cost_krdma_begin_with(const struct cost_plan *plan, enum cost_kind kind)
{
	struct krdma_listen_attr listen = { .local = (const struct sockaddr *)&plan->address };
	struct cost_krdma *cost = kvzalloc_obj(*cost, GFP_KERNEL);
	int ret = -ENOMEM;

	if (!cost)
		return ERR_PTR(-ENOMEM);
	cost->plan = plan;
	cost->kind = kind;
	cost->pairs = kvzalloc_objs(*cost->pairs, plan->conns, GFP_KERNEL);
	if (!cost->pairs)
		goto err;
	cost->session = krdma_session_create(&init_net);
	ret = PTR_ERR_OR_ZERO(cost->session);
	if (ret)
		goto err;
	cost->listener = krdma_listen(cost->session, &listen);
	ret = PTR_ERR_OR_ZERO(cost->listener);
	while (!ret && cost->connected < plan->conns) {
		struct cost_pair *pair = &cost->pairs[cost->connected];

		ret = cost_krdma_connect(cost, pair);
		if (!ret)
			cost->connected++;
		if (!ret && kind == COST_TEMPLATE)
			ret = cost_krdma_make_templates(cost, pair);
		cond_resched();
	}
	if (!ret)
		return cost;
err:
	cost_krdma_end(cost);
	return ERR_PTR(ret);
}

static void *cost_krdma_begin(const struct cost_plan *plan)
{
	return cost_krdma_begin_with(plan, COST_PLAIN);
}

static void *cost_krdma_template_begin(const struct cost_plan *plan)
{
	return cost_krdma_begin_with(plan, COST_TEMPLATE);
}

static void *cost_krdma_srq_begin(const struct cost_plan *plan)
{
	return cost_krdma_begin_with(plan, COST_SRQ);
}

/* Polls until there were @count completions. */
static int cost_krdma_take(struct cost_krdma *cost, unsigned int side, unsigned int count)
{
	u64 since = cost_now(cost->plan);
	int taken, i, ret;

	while (count) {
		taken = krdma_cq_poll(cost->cqs[side], cost->wcs,
				      min_t(unsigned int, count, COST_POLL));
		if (taken < 0)
			return taken;
		for (i = 0; i < taken; i++)
			if (cost->wcs[i].status)
				return -EIO;
		count -= taken;
		if (!taken) {
			ret = cost_patience(cost->plan, since);
			if (ret)
				return ret;
		}
	}
	return 0;
}

static int cost_krdma_post(struct cost_krdma *cost, enum cost_work work,
			   const struct krdma_sge *sge, unsigned int count)
{
	bool remote = work != COST_MESSAGE;
	unsigned int i;

	for (i = 0; i < count; i++) {
		cost->wrs[i] = (struct krdma_send_wr) {
			.wr_id = i,
			.opcode = cost_opcodes[work],
			.sge_count = 1,
			.sges = sge,
			.remote_addr = remote ? cost->info.remote_addr : 0,
			.rkey = remote ? cost->info.rkey : 0,
			.operand = 1,
		};
		/* Or the compiler clears all of them by memset(), which counts each byte. */
		OPTIMIZER_HIDE_VAR(i);
	}
	return krdma_conn_post_send(cost->pairs[cost->next].client, cost->wrs, count);
}

static int cost_krdma_receive(struct cost_krdma *cost, const struct krdma_sge *sge,
			      unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		cost->recv_wrs[i] = (struct krdma_recv_wr) {
			.wr_id = i, .sges = sge, .sge_count = 1,
		};
	if (cost->kind == COST_SRQ)
		return krdma_srq_post_recv(cost->srq, cost->recv_wrs, count);
	return krdma_conn_post_recv(cost->pairs[cost->next].server, cost->recv_wrs, count);
}

/* Posts @count work requests of a batch on the connection that has its turn. */
static int cost_krdma_turn(struct cost_krdma *cost, enum cost_work work, unsigned int count)
{
	struct krdma_sge sge = {
		.mr = cost->mr, .addr = cost->info.addr, .length = COST_LENGTH,
	};
	int ret;

	if (work == COST_MESSAGE) {
		ret = cost_krdma_receive(cost, &sge, count);
		if (ret != count)
			return ret < 0 ? ret : -EIO;
	}
	ret = cost_krdma_post(cost, work, &sge, count);
	if (ret != count)
		return ret < 0 ? ret : -EIO;
	if (++cost->next == cost->connected)
		cost->next = 0;
	return 0;
}

/* The connections take turns, with one work request of a batch each; a single one has all. */
static int cost_krdma_run(void *data, enum cost_work work, unsigned int count)
{
	struct cost_krdma *cost = data;
	unsigned int turns = cost->connected == 1 ? 1 : count;
	unsigned int i;
	int ret = 0;

	cost_ask(cost->plan);
	for (i = 0; i < turns && !ret; i++)
		ret = cost_krdma_turn(cost, work, count / turns);
	cost_asked(cost->plan);

	if (!ret && work == COST_MESSAGE)
		ret = cost_krdma_take(cost, 1, count);
	return ret ? ret : cost_krdma_take(cost, 0, count);
}

/* Posts as cost_krdma_turn(), by a template. */
static int cost_krdma_template_turn(struct cost_krdma *cost, enum cost_work work,
				    unsigned int count)
{
	struct krdma_template *template = cost->pairs[cost->next].templates[work];
	unsigned int i;
	int ret;

	if (++cost->next == cost->connected)
		cost->next = 0;
	if (count == 1)
		return krdma_template_post(template, 0, 0, 0, COST_LENGTH, 0);
	for (i = 0; i < count; i++)
		cost->posts[i] = (struct krdma_template_wr) { .wr_id = i, .length = COST_LENGTH };
	ret = krdma_template_post_many(template, cost->posts, count);
	if (ret != count)
		return ret < 0 ? ret : -EIO;
	return 0;
}

/* As cost_krdma_run(). */
static int cost_krdma_template_run(void *data, enum cost_work work, unsigned int count)
{
	struct cost_krdma *cost = data;
	unsigned int turns = cost->connected == 1 ? 1 : count;
	unsigned int each = cost->connected == 1 ? count : 1;
	unsigned int i;
	int ret = 0;

	cost_ask(cost->plan);
	for (i = 0; i < turns && !ret; i++)
		ret = cost_krdma_template_turn(cost, work, each);
	cost_asked(cost->plan);
	return ret ? ret : cost_krdma_take(cost, 0, count);
}

const struct cost_way cost_krdma = {
	.name = "krdma",
	.works = COST_ONE_SIDED | BIT(COST_MESSAGE),
	.begin = cost_krdma_begin,
	.run = cost_krdma_run,
	.end = cost_krdma_end,
};

const struct cost_way cost_krdma_template = {
	.name = "krdma-template",
	.works = COST_ONE_SIDED,
	.begin = cost_krdma_template_begin,
	.run = cost_krdma_template_run,
	.end = cost_krdma_end,
};

const struct cost_way cost_krdma_srq = {
	.name = "krdma-srq",
	.works = BIT(COST_MESSAGE),
	.begin = cost_krdma_srq_begin,
	.run = cost_krdma_run,
	.end = cost_krdma_end,
};
