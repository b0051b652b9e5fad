// SPDX-License-Identifier: GPL-2.0
/* The active end. */
#include <errno.h>
#include <stdlib.h>

#include "rpma.h"

/* Completions per poll. */
#define POLL_COUNT	16

struct peer {
	struct rpma_where server;
	struct rpma_peer *rpma;
	struct rpma_conn_cfg *config;
};

struct peer_conns {
	struct peer *peer;
	struct peer_plan plan;
	void *data;
	struct rpma_mr_local *mr;
	struct rpma_end *ends;
};

struct peer *peer_open(const struct sockaddr_in *server)
{
	struct peer *peer = peer_alloc(sizeof(*peer));

	peer->server = rpma_locate(server);
	peer->rpma = rpma_device(&peer->server, RPMA_UTIL_IBV_CONTEXT_REMOTE);
	peer->config = rpma_config();
	return peer;
}

void peer_close(struct peer *peer)
{
	rpma_check("configuration", rpma_conn_cfg_delete(&peer->config));
	rpma_check("peer", rpma_peer_delete(&peer->rpma));
	free(peer);
}

void *peer_register(struct peer *peer, void *data, size_t length)
{
	struct rpma_mr_local *mr;

	rpma_check("memory", rpma_mr_reg(peer->rpma, data, length, RPMA_USAGE, &mr));
	return mr;
}

void peer_release(void *registered)
{
	struct rpma_mr_local *mr = registered;

	rpma_check("release", rpma_mr_dereg(&mr));
}

struct peer_conns *peer_conns_new(struct peer *peer, const struct peer_plan *plan)
{
	struct peer_conns *conns = peer_alloc(sizeof(*conns));

	if (plan->kind == PEER_SHARED)
		peer_fail("sharing a completion queue", ENOTSUP);
	conns->peer = peer;
	conns->plan = *plan;
	conns->ends = peer_alloc(plan->count * sizeof(*conns->ends));
	if (plan->kind == PEER_ONE)
		conns->mr = rpma_memory(peer->rpma, PEER_MEMORY, &conns->data);
	return conns;
}

void peer_conns_free(struct peer_conns *conns)
{
	if (conns->mr)
		rpma_check("release", rpma_mr_dereg(&conns->mr));
	free(conns->data);
	free(conns->ends);
	free(conns);
}

static void begin(struct peer_conns *conns, unsigned int index)
{
	struct peer_hello hello = { .kind = conns->plan.kind, .index = index };
	struct rpma_conn_private_data said = { &hello, sizeof(hello) };
	struct rpma_end *end = &conns->ends[index];
	struct peer *peer = conns->peer;
	struct rpma_conn_req *request;

	if (conns->plan.kind == PEER_OWN)
		end->own = rpma_memory(peer->rpma, PEER_OWN_MEMORY, &end->data);
	rpma_check("request", rpma_conn_req_new(peer->rpma, peer->server.host, peer->server.port,
						peer->config, &request));
	rpma_check("connect", rpma_conn_req_connect(&request, &said, &end->conn));
}

static void finish(struct rpma_end *end)
{
	struct rpma_conn_private_data offer;

	rpma_expect(end->conn, RPMA_CONN_ESTABLISHED);
	rpma_check("private data", rpma_conn_get_private_data(end->conn, &offer));
	if (!offer.ptr)
		peer_fail("what the server offers", EBADMSG);
	rpma_check("what the server offers",
		   rpma_mr_remote_from_descriptor(offer.ptr, offer.len, &end->remote));
	rpma_check("completions", rpma_conn_get_cq(end->conn, &end->cq));
}

void peer_connect(struct peer_conns *conns, unsigned int first, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		begin(conns, first + i);
	for (i = 0; i < count; i++)
		finish(&conns->ends[first + i]);
}

void peer_disconnect(struct peer_conns *conns, unsigned int first, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		rpma_check("disconnect", rpma_conn_disconnect(conns->ends[first + i].conn));
	for (i = 0; i < count; i++) {
		rpma_expect(conns->ends[first + i].conn, RPMA_CONN_CLOSED);
		rpma_unmake(&conns->ends[first + i]);
	}
}

static void wait_for(struct peer_conns *conns, struct rpma_cq *cq, unsigned int count)
{
	struct ibv_wc wcs[POLL_COUNT];
	int err, got, i;

	while (count) {
		/* No more than that: further completions belong to another call. */
		err = rpma_cq_get_wc(cq, (int)(count < POLL_COUNT ? count : POLL_COUNT), wcs,
				     &got);
		if (err == RPMA_E_NO_COMPLETION) {
			/*
			 * The event may be for completions that were polled already; then the wait
			 * is repeated.
			 */
			if (conns->plan.event)
				rpma_check("completion event", rpma_cq_wait(cq));
			continue;
		}
		rpma_check("completions", err);
		for (i = 0; i < got; i++) {
			if (wcs[i].status) {
				fprintf(stderr, "%s: an operation has ended with %d\n",
					peer_name, wcs[i].status);
				exit(1);
			}
		}
		count -= (unsigned int)got;
	}
}

static void post(struct peer_conns *conns, const struct peer_batch *batch, struct rpma_end *end,
		 int flags)
{
	if (batch->op == PEER_WRITE)
		rpma_check("write", rpma_write(end->conn, end->remote, 0, conns->mr, 0,
					       batch->length, flags, NULL));
	else
		rpma_check("read", rpma_read(end->conn, conns->mr, 0, end->remote, 0,
					     batch->length, flags, NULL));
}

void peer_run(struct peer_conns *conns, const struct peer_batch *batch)
{
	struct rpma_end *end = &conns->ends[batch->first];
	unsigned int i;

	if (!peer_does(batch->op) || batch->spread)
		peer_fail("operation", ENOTSUP);
	for (i = 1; i < batch->count; i++)
		post(conns, batch, end, RPMA_F_COMPLETION_ON_ERROR);
	post(conns, batch, end, RPMA_F_COMPLETION_ALWAYS);
	wait_for(conns, end->cq, batch->wait);
}

uint64_t peer_echo(struct peer_conns *conns, uint64_t ask)
{
	(void)conns;
	(void)ask;
	peer_fail("messages", ENOTSUP);
}
