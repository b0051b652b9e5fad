// SPDX-License-Identifier: GPL-2.0
/* The active end. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "verbs.h"

/* Completions per poll, and events per acknowledgment. */
#define POLL_COUNT	16
/* One message in so many is signaled, which frees the WQEs of all of them. */
#define SEND_SIGNAL	16

struct peer {
	struct sockaddr_in server;
	struct rdma_event_channel *events;
	struct rdma_cm_id *way;
	struct ibv_context *verbs;
	struct ibv_pd *pd;
};

struct peer_conns {
	struct peer *peer;
	struct peer_plan plan;
	struct ibv_comp_channel *channel;
	bool armed;
	unsigned int unacknowledged;
	struct ibv_srq *srq;
	struct ibv_cq **cqs;
	unsigned int cq_count;
	void *data;
	struct ibv_mr *mr;
	unsigned int sent;
	struct verbs_end *ends;
};

static void expect(struct peer *peer, enum rdma_cm_event_type type)
{
	struct rdma_cm_event *event;

	if (rdma_get_cm_event(peer->events, &event))
		peer_fail("event", errno);
	if (event->event != type) {
		fprintf(stderr, "%s: %s (%d)\n", peer_name, rdma_event_str(event->event),
			event->status);
		exit(1);
	}
	rdma_ack_cm_event(event);
}

struct peer *peer_open(const struct sockaddr_in *server)
{
	struct peer *peer = peer_alloc(sizeof(*peer));

	peer->server = *server;
	peer->events = rdma_create_event_channel();
	if (!peer->events)
		peer_fail("events", errno);
	if (rdma_create_id(peer->events, &peer->way, NULL, RDMA_PS_TCP) ||
	    rdma_resolve_addr(peer->way, NULL, (struct sockaddr *)&peer->server,
			      VERBS_RESOLVE_MS))
		peer_fail("address", errno);
	expect(peer, RDMA_CM_EVENT_ADDR_RESOLVED);
	peer->verbs = peer->way->verbs;
	peer->pd = ibv_alloc_pd(peer->verbs);
	if (!peer->pd)
		peer_fail("domain", errno);
	return peer;
}

void peer_close(struct peer *peer)
{
	ibv_dealloc_pd(peer->pd);
	rdma_destroy_id(peer->way);
	rdma_destroy_event_channel(peer->events);
	free(peer);
}

void *peer_register(struct peer *peer, void *data, size_t length)
{
	struct ibv_mr *mr = ibv_reg_mr(peer->pd, data, length, VERBS_ACCESS);

	if (!mr)
		peer_fail("memory", errno);
	return mr;
}

void peer_release(void *registered)
{
	int err = ibv_dereg_mr(registered);

	if (err)
		peer_fail("release", err);
}

struct peer_conns *peer_conns_new(struct peer *peer, const struct peer_plan *plan)
{
	struct peer_conns *conns = peer_alloc(sizeof(*conns));
	unsigned int entries = PEER_COMPLETIONS, i;

	conns->peer = peer;
	conns->plan = *plan;
	conns->ends = peer_alloc(plan->count * sizeof(*conns->ends));
	if (plan->kind == PEER_OWN)
		return conns;

	if (plan->event) {
		conns->channel = ibv_create_comp_channel(peer->verbs);
		if (!conns->channel)
			peer_fail("completion channel", errno);
	}
	if (plan->kind == PEER_SHARED) {
		conns->srq = verbs_srq(peer->pd);
		entries = PEER_SHARE * PEER_DEPTH + PEER_SHARED_RECEIVES;
	}
	conns->cq_count = (plan->count + PEER_SHARE - 1) / PEER_SHARE;
	conns->cqs = peer_alloc(conns->cq_count * sizeof(*conns->cqs));
	for (i = 0; i < conns->cq_count; i++)
		conns->cqs[i] = verbs_cq(peer->verbs, entries, conns->channel);
	if (posix_memalign(&conns->data, 4096, PEER_MEMORY))
		peer_fail("memory", ENOMEM);
	memset(conns->data, 0, PEER_MEMORY);
	conns->mr = peer_register(peer, conns->data, PEER_MEMORY);
	return conns;
}

void peer_conns_free(struct peer_conns *conns)
{
	unsigned int i;

	if (conns->unacknowledged)
		ibv_ack_cq_events(conns->cqs[0], conns->unacknowledged);
	for (i = 0; i < conns->cq_count; i++)
		ibv_destroy_cq(conns->cqs[i]);
	if (conns->srq)
		ibv_destroy_srq(conns->srq);
	if (conns->channel)
		ibv_destroy_comp_channel(conns->channel);
	if (conns->mr)
		peer_release(conns->mr);
	free(conns->data);
	free(conns->cqs);
	free(conns->ends);
	free(conns);
}

static void connect_end(struct peer_conns *conns, struct verbs_end *end)
{
	unsigned int index = (unsigned int)(end - conns->ends), i;
	struct peer_hello hello = { .kind = conns->plan.kind, .index = index };
	struct rdma_conn_param param = verbs_param(&hello, sizeof(hello));

	verbs_make(end, conns->peer->pd, conns->cqs ? conns->cqs[index / PEER_SHARE] : NULL,
		   conns->srq);
	if (conns->plan.kind == PEER_ONE)
		for (i = 0; i < PEER_RECEIVES; i++)
			verbs_receive(end->id->qp, conns->mr,
				      (char *)conns->data + i * sizeof(uint64_t));
	if (rdma_connect(end->id, &param))
		peer_fail("connect", errno);
}

/* The next step of a connection; returns true when it has reached its goal. */
static bool advance(struct peer_conns *conns, const struct rdma_cm_event *event)
{
	struct verbs_end *end = event->id->context;

	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		if (rdma_resolve_route(end->id, VERBS_RESOLVE_MS))
			peer_fail("route", errno);
		return false;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		connect_end(conns, end);
		return false;
	case RDMA_CM_EVENT_ESTABLISHED:
		if (event->param.conn.private_data_len < sizeof(end->remote))
			peer_fail("what the server offers", EBADMSG);
		memcpy(&end->remote, event->param.conn.private_data, sizeof(end->remote));
		return true;
	case RDMA_CM_EVENT_DISCONNECTED:
		return true;
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		return false;
	default:
		fprintf(stderr, "%s: connect: %s (%d)\n", peer_name,
			rdma_event_str(event->event), event->status);
		exit(1);
	}
}

static void advance_all(struct peer_conns *conns, unsigned int count)
{
	struct rdma_cm_event *event;
	bool done;

	while (count) {
		if (rdma_get_cm_event(conns->peer->events, &event))
			peer_fail("event", errno);
		done = advance(conns, event);
		rdma_ack_cm_event(event);
		count -= done;
	}
}

void peer_connect(struct peer_conns *conns, unsigned int first, unsigned int count)
{
	struct verbs_end *end;
	unsigned int i;

	for (i = 0; i < count; i++) {
		end = &conns->ends[first + i];
		if (rdma_create_id(conns->peer->events, &end->id, end, RDMA_PS_TCP) ||
		    rdma_resolve_addr(end->id, NULL, (struct sockaddr *)&conns->peer->server,
				      VERBS_RESOLVE_MS))
			peer_fail("address", errno);
	}
	advance_all(conns, count);
}

void peer_disconnect(struct peer_conns *conns, unsigned int first, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		if (rdma_disconnect(conns->ends[first + i].id))
			peer_fail("disconnect", errno);
	advance_all(conns, count);
	for (i = 0; i < count; i++)
		verbs_unmake(&conns->ends[first + i]);
}

/* Sleeps until the CQ may have a completion. */
static void sleep_until_some(struct peer_conns *conns, struct ibv_cq *cq)
{
	struct ibv_cq *woken;
	void *context;
	int err;

	if (!conns->armed) {
		err = ibv_req_notify_cq(cq, 0);
		if (err)
			peer_fail("notification", err);
		conns->armed = true;
		/* Arming does not report earlier completions: poll once more. */
		return;
	}
	if (ibv_get_cq_event(conns->channel, &woken, &context))
		peer_fail("completion event", errno);
	conns->armed = false;
	if (++conns->unacknowledged == POLL_COUNT) {
		ibv_ack_cq_events(cq, conns->unacknowledged);
		conns->unacknowledged = 0;
	}
}

/*
 * Polls until @count work requests have completed, with @numbered only those with a wr_id; returns
 * the wr_id of the last one.
 */
static uint64_t wait_for(struct peer_conns *conns, struct ibv_cq *cq, unsigned int count,
			 bool numbered)
{
	struct ibv_wc wcs[POLL_COUNT];
	uint64_t last = 0;
	int got, i;

	for (;;) {
		/* No more than that: further completions belong to another call. */
		got = ibv_poll_cq(cq, (int)(count < POLL_COUNT ? count : POLL_COUNT), wcs);
		if (got < 0)
			peer_fail("completions", EIO);
		for (i = 0; i < got; i++) {
			if (wcs[i].status) {
				fprintf(stderr, "%s: %s\n", peer_name,
					ibv_wc_status_str(wcs[i].status));
				exit(1);
			}
			if (numbered && !wcs[i].wr_id)
				continue;
			last = wcs[i].wr_id;
			count--;
		}
		if (!count)
			return last;
		if (!got && conns->channel)
			sleep_until_some(conns, cq);
	}
}

static void fill(struct peer_conns *conns, const struct peer_batch *batch,
		 struct verbs_end *end, struct ibv_send_wr *request, struct ibv_sge *sge)
{
	static const enum ibv_wr_opcode opcodes[] = {
		[PEER_WRITE] = IBV_WR_RDMA_WRITE, [PEER_READ] = IBV_WR_RDMA_READ,
		[PEER_FETCH_ADD] = IBV_WR_ATOMIC_FETCH_AND_ADD,
	};

	sge->addr = (uintptr_t)conns->data;
	sge->length = batch->length;
	sge->lkey = conns->mr->lkey;
	request->wr_id = 0;
	request->next = NULL;
	request->sg_list = sge;
	request->num_sge = 1;
	request->opcode = opcodes[batch->op];
	request->send_flags = 0;
	if (batch->op == PEER_WRITE && batch->length <= VERBS_INLINE)
		request->send_flags = IBV_SEND_INLINE;
	if (batch->op == PEER_FETCH_ADD) {
		request->wr.atomic.remote_addr = end->remote.addr;
		request->wr.atomic.compare_add = 1;
		request->wr.atomic.rkey = end->remote.key;
	} else {
		request->wr.rdma.remote_addr = end->remote.addr;
		request->wr.rdma.rkey = end->remote.key;
	}
}

void peer_run(struct peer_conns *conns, const struct peer_batch *batch)
{
	struct verbs_end *end = &conns->ends[batch->first];
	struct ibv_send_wr requests[PEER_DEPTH], *bad;
	struct ibv_sge pieces[PEER_DEPTH];
	unsigned int i;
	int err;

	for (i = 0; i < batch->count; i++) {
		fill(conns, batch, end, &requests[i], &pieces[i]);
		if (batch->spread) {
			requests[i].send_flags |= IBV_SEND_SIGNALED;
			err = ibv_post_send(end->id->qp, &requests[i], &bad);
			if (err)
				peer_fail("post", err);
			end++;
		} else if (i) {
			requests[i - 1].next = &requests[i];
		}
	}
	if (!batch->spread) {
		requests[batch->count - 1].send_flags |= IBV_SEND_SIGNALED;
		err = ibv_post_send(end->id->qp, requests, &bad);
		if (err)
			peer_fail("post", err);
	}
	if (batch->wait)
		wait_for(conns, conns->cqs[batch->first / PEER_SHARE], batch->wait, false);
}

uint64_t peer_echo(struct peer_conns *conns, uint64_t ask)
{
	struct ibv_qp *qp = conns->ends[0].id->qp;
	struct ibv_sge sge = { (uintptr_t)&ask, sizeof(ask), 0 };
	struct ibv_send_wr request = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_INLINE,
	};
	struct ibv_send_wr *bad;
	uint64_t *answer, value;
	int err;

	if (++conns->sent % SEND_SIGNAL == 0)
		request.send_flags |= IBV_SEND_SIGNALED;
	err = ibv_post_send(qp, &request, &bad);
	if (err)
		peer_fail("post", err);
	/* The wr_id of a receive is its address; that of a message is 0. */
	answer = (uint64_t *)wait_for(conns, conns->cqs[0], 1, true);
	value = *answer;
	verbs_receive(qp, conns->mr, answer);
	return value;
}
