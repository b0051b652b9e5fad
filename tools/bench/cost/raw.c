// SPDX-License-Identifier: GPL-2.0
/*
 * The way through verbs: a connection of rdma_cm, and the code that a consumer of ib_core writes
 * itself.
 */
#include <linux/completion.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <net/net_namespace.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

#include "cost.h"

/* Registering the memory needs a WQE, too. */
#define COST_RAW_DEPTH	(COST_BATCH + 1)

/**
 * struct cost_raw_end - an end of the connection
 * @id: the id of rdma_cm
 * @cq: CQ of its work requests
 * @happened: completed by the expected event
 * @status: status of that event
 */
struct cost_raw_end {
	struct rdma_cm_id *id;
	struct ib_cq *cq;
	struct completion happened;
	int status;
};

/**
 * struct cost_raw - the way
 * @plan: what is measured
 * @listener: listener of the one connection
 * @client: the end that posts
 * @server: the passive end
 * @pd: PD of both ends
 * @mr: MR of @buffer, for the peer
 * @buffer: the memory
 * @dma: DMA address of @buffer
 * @mapped: @dma is valid
 * @cqe: of every work request; not used
 * @wrs: a batch of send work requests
 * @recv_wrs: a batch of receives
 * @wcs: completions of one poll
 */
struct cost_raw {
	const struct cost_plan *plan;
	struct rdma_cm_id *listener;
	struct cost_raw_end client;
	struct cost_raw_end server;
	struct ib_pd *pd;
	struct ib_mr *mr;
	void *buffer;
	u64 dma;
	bool mapped;
	struct ib_cqe cqe;
	union {
		struct ib_rdma_wr rdma;
		struct ib_atomic_wr atomic;
	} wrs[COST_BATCH];
	struct ib_recv_wr recv_wrs[COST_BATCH];
	struct ib_wc wcs[COST_POLL];
};

/* Polls until there were @count completions. */
static int cost_raw_take(struct cost_raw *cost, struct ib_cq *cq, unsigned int count)
{
	u64 since = cost_now(cost->plan);
	int taken, i, ret;

	while (count) {
		taken = ib_poll_cq(cq, min_t(unsigned int, count, COST_POLL), cost->wcs);
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

/*
 * Connecting
 */

static void cost_raw_happened(struct cost_raw_end *end, int status)
{
	end->status = status;
	complete(&end->happened);
}

static int cost_raw_wait(struct cost_raw_end *end)
{
	if (!wait_for_completion_timeout(&end->happened, msecs_to_jiffies(COST_TIMEOUT_MS)))
		return -ETIMEDOUT;
	return end->status;
}

static int cost_raw_make_qp(struct cost_raw *cost, struct cost_raw_end *end)
{
	struct ib_qp_init_attr attr = {
		.cap = {
			.max_send_wr = COST_RAW_DEPTH,
			.max_recv_wr = COST_BATCH,
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.qp_type = IB_QPT_RC,
	};

	end->cq = ib_alloc_cq(end->id->device, NULL, COST_RAW_DEPTH + COST_BATCH, 0,
			      IB_POLL_DIRECT);
	if (IS_ERR(end->cq))
		return PTR_ERR(end->cq);
	attr.send_cq = end->cq;
	attr.recv_cq = end->cq;
	return rdma_create_qp(end->id, cost->pd, &attr);
}

static struct rdma_conn_param cost_raw_param(void)
{
	return (struct rdma_conn_param) {
		.responder_resources = 16,
		.initiator_depth = 16,
		.retry_count = 7,
		.rnr_retry_count = 7,
	};
}

static int cost_raw_client_event(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct cost_raw *cost = id->context;

	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
	case RDMA_CM_EVENT_ESTABLISHED:
		cost_raw_happened(&cost->client, 0);
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		break;
	default:
		cost_raw_happened(&cost->client, event->status < 0 ? event->status : -EIO);
	}
	return 0;
}

static int cost_raw_accept(struct cost_raw *cost, struct rdma_cm_id *id)
{
	struct rdma_conn_param param = cost_raw_param();
	int ret;

	/* There is one connection; a second request is not expected. */
	if (cost->server.id)
		return -EBUSY;
	cost->server.id = id;
	ret = cost_raw_make_qp(cost, &cost->server) ?: rdma_accept(id, &param);
	if (ret)
		cost_raw_happened(&cost->server, ret);
	/* The id is kept, whatever the result is. */
	return 0;
}

static int cost_raw_server_event(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct cost_raw *cost = id->context;

	switch (event->event) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		return cost_raw_accept(cost, id);
	case RDMA_CM_EVENT_ESTABLISHED:
		cost_raw_happened(&cost->server, 0);
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		break;
	default:
		cost_raw_happened(&cost->server, event->status < 0 ? event->status : -EIO);
	}
	return 0;
}

static int cost_raw_register(struct cost_raw *cost)
{
	struct ib_device *device = cost->client.id->device;
	struct ib_reg_wr reg = {
		.wr = {
			.wr_cqe = &cost->cqe,
			.opcode = IB_WR_REG_MR,
			.send_flags = IB_SEND_SIGNALED,
		},
		.access = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_WRITE |
			  IB_ACCESS_REMOTE_ATOMIC,
	};
	struct scatterlist sg;
	int ret;

	cost->dma = ib_dma_map_single(device, cost->buffer, COST_MEMORY, DMA_BIDIRECTIONAL);
	if (ib_dma_mapping_error(device, cost->dma))
		return -ENOMEM;
	cost->mapped = true;
	cost->mr = ib_alloc_mr(cost->pd, IB_MR_TYPE_MEM_REG, 1);
	if (IS_ERR(cost->mr))
		return PTR_ERR(cost->mr);

	sg_init_one(&sg, cost->buffer, COST_MEMORY);
	sg_dma_address(&sg) = cost->dma;
	sg_dma_len(&sg) = COST_MEMORY;
	ret = ib_map_mr_sg(cost->mr, &sg, 1, NULL, PAGE_SIZE);
	if (ret != 1)
		return ret < 0 ? ret : -EIO;
	reg.mr = cost->mr;
	reg.key = cost->mr->rkey;
	cost_ask(cost->plan);
	ret = ib_post_send(cost->client.id->qp, &reg.wr, NULL);
	cost_asked(cost->plan);
	return ret ?: cost_raw_take(cost, cost->client.cq, 1);
}

static int cost_raw_connect(struct cost_raw *cost)
{
	struct sockaddr *address = (struct sockaddr *)&cost->plan->address;
	struct rdma_conn_param param = cost_raw_param();
	struct cost_raw_end *client = &cost->client;
	struct rdma_cm_id *id;
	int ret;

	id = rdma_create_id(&init_net, cost_raw_server_event, cost, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(id))
		return PTR_ERR(id);
	cost->listener = id;
	ret = rdma_bind_addr(id, address) ?: rdma_listen(id, 1);
	if (ret)
		return ret;

	id = rdma_create_id(&init_net, cost_raw_client_event, cost, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(id))
		return PTR_ERR(id);
	client->id = id;
	ret = rdma_resolve_addr(id, NULL, address, COST_TIMEOUT_MS) ?: cost_raw_wait(client) ?:
	      rdma_resolve_route(id, COST_TIMEOUT_MS) ?: cost_raw_wait(client);
	if (ret)
		return ret;
	cost->pd = ib_alloc_pd(id->device, 0);
	if (IS_ERR(cost->pd))
		return PTR_ERR(cost->pd);
	return cost_raw_make_qp(cost, client) ?: rdma_connect(id, &param) ?:
	       cost_raw_wait(client) ?: cost_raw_wait(&cost->server) ?:
	       cost_raw_register(cost);
}

static void cost_raw_end_connection(struct cost_raw_end *end)
{
	if (!end->id)
		return;
	/* Nothing is in flight: everything posted has completed, or there was no connection. */
	if (end->id->qp) {
		rdma_disconnect(end->id);
		rdma_destroy_qp(end->id);
	}
	rdma_destroy_id(end->id);
	if (!IS_ERR_OR_NULL(end->cq))
		ib_free_cq(end->cq);
}

static void cost_raw_destroy(void *data)
{
	struct cost_raw *cost = data;
	struct ib_device *device = cost->client.id ? cost->client.id->device : NULL;

	if (!IS_ERR_OR_NULL(cost->mr))
		ib_dereg_mr(cost->mr);
	if (cost->mapped)
		ib_dma_unmap_single(device, cost->dma, COST_MEMORY, DMA_BIDIRECTIONAL);
	/* The listener first, so that no more requests arrive. */
	if (cost->listener)
		rdma_destroy_id(cost->listener);
	cost_raw_end_connection(&cost->client);
	cost_raw_end_connection(&cost->server);
	if (!IS_ERR_OR_NULL(cost->pd))
		ib_dealloc_pd(cost->pd);
	kfree(cost->buffer);
	kvfree(cost);
}

static void *cost_raw_begin(const struct cost_plan *plan)
{
	struct cost_raw *cost = kvzalloc_obj(*cost, GFP_KERNEL);
	int ret = -ENOMEM;

	if (!cost)
		return ERR_PTR(-ENOMEM);
	cost->plan = plan;
	init_completion(&cost->client.happened);
	init_completion(&cost->server.happened);
	cost->buffer = kzalloc(COST_MEMORY, GFP_KERNEL);
	if (cost->buffer)
		ret = cost_raw_connect(cost);
	if (!ret)
		return cost;
	cost_raw_destroy(cost);
	return ERR_PTR(ret);
}

/*
 * Working
 */

static const enum ib_wr_opcode cost_opcodes[] = {
	[COST_WRITE] = IB_WR_RDMA_WRITE,
	[COST_READ] = IB_WR_RDMA_READ,
	[COST_FETCH_ADD] = IB_WR_ATOMIC_FETCH_AND_ADD,
	[COST_MESSAGE] = IB_WR_SEND,
};

static void cost_raw_fill(struct cost_raw *cost, enum cost_work work, struct ib_sge *sge,
			  unsigned int i, bool last)
{
	struct ib_send_wr wr = {
		.next = last ? NULL : &cost->wrs[i + 1].rdma.wr,
		.wr_cqe = &cost->cqe,
		.sg_list = sge,
		.num_sge = 1,
		.opcode = cost_opcodes[work],
		.send_flags = IB_SEND_SIGNALED,
	};

	if (work == COST_FETCH_ADD)
		cost->wrs[i].atomic = (struct ib_atomic_wr) {
			.wr = wr,
			.remote_addr = cost->mr->iova,
			.compare_add = 1,
			.rkey = cost->mr->rkey,
		};
	else
		cost->wrs[i].rdma = (struct ib_rdma_wr) {
			.wr = wr,
			.remote_addr = cost->mr->iova,
			.rkey = cost->mr->rkey,
		};
}

static int cost_raw_receive(struct cost_raw *cost, struct ib_sge *sge, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		cost->recv_wrs[i] = (struct ib_recv_wr) {
			.next = i + 1 < count ? &cost->recv_wrs[i + 1] : NULL,
			.wr_cqe = &cost->cqe,
			.sg_list = sge,
			.num_sge = 1,
		};
	return ib_post_recv(cost->server.id->qp, cost->recv_wrs, NULL);
}

static int cost_raw_run(void *data, enum cost_work work, unsigned int count)
{
	struct cost_raw *cost = data;
	struct ib_sge sge = {
		.addr = cost->dma, .length = COST_LENGTH, .lkey = cost->pd->local_dma_lkey,
	};
	unsigned int i;
	int ret = 0;

	cost_ask(cost->plan);
	if (work == COST_MESSAGE)
		ret = cost_raw_receive(cost, &sge, count);
	for (i = 0; i < count; i++)
		cost_raw_fill(cost, work, &sge, i, i + 1 == count);
	ret = ret ?: ib_post_send(cost->client.id->qp, &cost->wrs[0].rdma.wr, NULL);
	cost_asked(cost->plan);

	if (!ret && work == COST_MESSAGE)
		ret = cost_raw_take(cost, cost->server.cq, count);
	return ret ?: cost_raw_take(cost, cost->client.cq, count);
}

const struct cost_way cost_raw = {
	.name = "verbs",
	.works = COST_ONE_SIDED | BIT(COST_MESSAGE),
	.begin = cost_raw_begin,
	.run = cost_raw_run,
	.end = cost_raw_destroy,
};
