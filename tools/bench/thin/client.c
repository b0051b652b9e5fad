// SPDX-License-Identifier: GPL-2.0
/* The active end. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "thin.h"

struct peer {
	struct sockaddr_in server;
	struct krdma *session;
	uint32_t device;
};

struct peer_conns {
	struct peer *peer;
	struct peer_plan plan;
	struct krdma_ring **rings;
	unsigned int queue_count;
	struct krdma_srq *srq;
	void *data;
	struct krdma_mr *mr;
	bool answered;
	uint64_t last;
	struct thin_end *ends;
};

static uint64_t patience(void)
{
	return krdma_deadline(THIN_PATIENCE_MS);
}

struct peer *peer_open(const struct sockaddr_in *server)
{
	struct peer *peer = peer_alloc(sizeof(*peer));

	peer->server = *server;
	thin_check("/dev/krdma", krdma_open(&peer->session));
	thin_check("device", krdma_device_by_address(peer->session, NULL,
						     (struct sockaddr *)&peer->server,
						     patience(), &peer->device));
	return peer;
}

void peer_close(struct peer *peer)
{
	thin_check("close", krdma_close(peer->session));
	free(peer);
}

void *peer_register(struct peer *peer, void *data, size_t length)
{
	return thin_memory(peer->session, peer->device, data, length);
}

void peer_release(void *registered)
{
	thin_check("release", krdma_mr_deregister(registered, 0));
}

struct peer_conns *peer_conns_new(struct peer *peer, const struct peer_plan *plan)
{
	struct peer_conns *conns = peer_alloc(sizeof(*conns));
	unsigned int entries = PEER_COMPLETIONS + KRDMA_RING_EXTRA, i;

	conns->peer = peer;
	conns->plan = *plan;
	conns->ends = peer_alloc(plan->count * sizeof(*conns->ends));
	if (plan->kind == PEER_OWN)
		return conns;

	if (plan->kind == PEER_SHARED)
		entries = PEER_SHARE * (PEER_DEPTH + KRDMA_RING_EXTRA) + PEER_SHARED_RECEIVES;
	conns->queue_count = (plan->count + PEER_SHARE - 1) / PEER_SHARE;
	conns->rings = peer_alloc(conns->queue_count * sizeof(*conns->rings));
	for (i = 0; i < conns->queue_count; i++)
		conns->rings[i] = thin_queue(peer->session, peer->device, entries, plan->event);
	if (plan->kind == PEER_SHARED)
		conns->srq = thin_srq(peer->session, conns->rings[0]);
	conns->data = thin_pages(PEER_MEMORY);
	conns->mr = thin_memory(peer->session, peer->device, conns->data, PEER_MEMORY);
	return conns;
}

void peer_conns_free(struct peer_conns *conns)
{
	unsigned int i;

	krdma_srq_close(conns->srq);
	for (i = 0; i < conns->queue_count; i++)
		krdma_ring_close(conns->rings[i]);
	thin_check("release", krdma_mr_deregister(conns->mr, 0));
	free(conns->data);
	free(conns->rings);
	free(conns->ends);
	free(conns);
}

static void begin(struct peer_conns *conns, unsigned int index)
{
	struct thin_end *end = &conns->ends[index];

	thin_check("connection", krdma_conn_create(conns->peer->session, &end->conn));
	thin_check("resolve", krdma_conn_resolve(end->conn,
						 (struct sockaddr *)&conns->peer->server, NULL));
}

static void ask(struct peer_conns *conns, unsigned int index)
{
	struct peer_hello hello = { .kind = conns->plan.kind, .index = index };
	struct krdma_ring *ring = conns->rings ? conns->rings[index / PEER_SHARE] : NULL;
	struct thin_end *end = &conns->ends[index];

	thin_check("resolve", krdma_conn_wait(end->conn, patience(), NULL));
	thin_make(conns->peer->session, conns->peer->device, end, ring, conns->srq);
	if (conns->plan.kind == PEER_ONE)
		thin_receives(end, conns->mr, ring);
	thin_check("connect", krdma_conn_connect(end->conn, NULL, &hello, sizeof(hello)));
}

static void connected(struct peer_conns *conns, unsigned int index)
{
	struct thin_end *end = &conns->ends[index];
	unsigned char descriptor[KRDMA_MR_DESC_SIZE];
	size_t length = sizeof(descriptor);

	thin_check("connect", krdma_conn_wait(end->conn, patience(), NULL));
	thin_check("what the server offers",
		   krdma_conn_private_data(end->conn, descriptor, &length));
	thin_check("what the server offers",
		   krdma_remote_mr_from_desc(descriptor, length, &end->remote));
}

void peer_connect(struct peer_conns *conns, unsigned int first, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		begin(conns, first + i);
	for (i = 0; i < count; i++)
		ask(conns, first + i);
	for (i = 0; i < count; i++)
		connected(conns, first + i);
}

void peer_disconnect(struct peer_conns *conns, unsigned int first, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		thin_check("disconnect", krdma_conn_disconnect(conns->ends[first + i].conn, 0));
	for (i = 0; i < count; i++)
		thin_check("disconnect",
			   krdma_conn_await_closed(conns->ends[first + i].conn, patience()));
	for (i = 0; i < count; i++)
		thin_unmake(&conns->ends[first + i]);
}

static struct krdma_sqe entry(const struct peer_conns *conns, const struct peer_batch *batch,
			      const struct thin_end *end)
{
	switch (batch->op) {
	case PEER_READ:
		return krdma_entry_read(end->conn, 0, conns->mr, 0, batch->length,
					&end->remote, 0);
	case PEER_FETCH_ADD:
		return krdma_entry_fetch_add(end->conn, 0, conns->mr, 0, &end->remote, 0, 1);
	default:
		return krdma_entry_write(end->conn, 0, conns->mr, 0, batch->length,
					 &end->remote, 0);
	}
}

static void check_ends(const struct krdma_cqe *cqes, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (cqes[i].status == KRDMA_WC_SUCCESS)
			continue;
		fprintf(stderr, "%s: %s\n", peer_name, krdma_wc_status_name(cqes[i].status));
		exit(1);
	}
}

void peer_run(struct peer_conns *conns, const struct peer_batch *batch)
{
	struct krdma_ring *ring = conns->rings[batch->first / PEER_SHARE];
	const struct thin_end *end = &conns->ends[batch->first];
	struct krdma_sqe entries[PEER_DEPTH];
	struct krdma_cqe cqes[PEER_DEPTH];
	size_t accepted, taken;
	unsigned int i;

	for (i = 0; i < batch->count; i++) {
		entries[i] = entry(conns, batch, end);
		if (batch->spread)
			end++;
		else if (i + 1 < batch->count)
			entries[i].flags = KRDMA_SQE_UNSIGNALED;
	}
	if (!batch->wait) {
		thin_check("post", krdma_ring_post(ring, entries, batch->count, NULL));
		return;
	}
	thin_check("run", krdma_ring_enter(ring, entries, batch->count, &accepted, cqes,
					   batch->wait, batch->wait, KRDMA_FOREVER, &taken));
	if (accepted != batch->count || taken != batch->wait)
		peer_fail("operations", ETIMEDOUT);
	check_ends(cqes, taken);
}

uint64_t peer_echo(struct peer_conns *conns, uint64_t question)
{
	const struct thin_end *end = &conns->ends[0];
	uint64_t last = conns->last;
	struct krdma_sqe entries[2];
	unsigned int count = 0;
	size_t accepted, taken;
	struct krdma_cqe cqe;

	/* The last answer was read, so its receive is posted again; others are posted meanwhile. */
	if (conns->answered)
		entries[count++] = krdma_entry_recv(end->conn, last, conns->mr,
						    last * sizeof(uint64_t),
						    sizeof(uint64_t));
	entries[count] = krdma_entry_send_inline(end->conn, 0, &question, sizeof(question));
	entries[count++].flags |= KRDMA_SQE_UNSIGNALED;
	thin_check("echo", krdma_ring_enter(conns->rings[0], entries, count, &accepted, &cqe, 1,
					    1, KRDMA_FOREVER, &taken));
	check_ends(&cqe, taken);
	conns->last = cqe.wr_id;
	conns->answered = true;
	return ((uint64_t *)conns->data)[cqe.wr_id];
}
