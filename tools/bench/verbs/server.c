// SPDX-License-Identifier: GPL-2.0
/*
 * The passive end.  One thread handles the connections, another one answers messages; both sleep
 * otherwise.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verbs.h"

/* Enough groups for the maximum number of connections. */
#define GROUPS		64
#define SEND_SIGNAL	16
#define ACKNOWLEDGE	16

/**
 * struct server - this process
 * @pd, @mr, @data: for all connections that have none of their own
 * @echo: where messages arrive that are answered
 * @echo_cq: its completion queue
 * @echo_qp: the QP of these messages
 * @srq: while there are @shared connections with it
 */
struct server {
	struct rdma_event_channel *events;
	struct rdma_cm_id *listener;
	struct ibv_pd *pd;
	void *data;
	struct ibv_mr *mr;
	struct ibv_comp_channel *echo;
	struct ibv_cq *echo_cq;
	struct ibv_qp *echo_qp;
	struct ibv_srq *srq;
	unsigned int shared;
	struct verbs_group groups[GROUPS];
};

static void answer(struct server *server, uint64_t *message)
{
	static unsigned int sent;
	uint64_t value = *message ? peer_now() : 0;
	struct ibv_sge sge = { (uintptr_t)&value, sizeof(value), 0 };
	struct ibv_send_wr request = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_INLINE,
	};
	struct ibv_send_wr *bad;

	/* Posted before the answer, as the next message follows the answer. */
	verbs_receive(server->echo_qp, server->mr, message);
	if (++sent % SEND_SIGNAL == 0)
		request.send_flags |= IBV_SEND_SIGNALED;
	if (ibv_post_send(server->echo_qp, &request, &bad))
		peer_fail("answer", errno);
}

static void answer_all(struct server *server)
{
	struct ibv_wc wc;

	/* A failed completion belongs to a connection that has ended. */
	while (ibv_poll_cq(server->echo_cq, 1, &wc) > 0)
		if (!wc.status && wc.opcode == IBV_WC_RECV)
			answer(server, (uint64_t *)wc.wr_id);
}

static void *echo(void *data)
{
	struct server *server = data;
	unsigned int unacknowledged = 0;
	struct ibv_cq *woken;
	void *context;

	for (;;) {
		if (ibv_req_notify_cq(server->echo_cq, 0))
			peer_fail("notification", errno);
		answer_all(server);
		if (ibv_get_cq_event(server->echo, &woken, &context))
			peer_fail("completion event", errno);
		if (++unacknowledged == ACKNOWLEDGE) {
			ibv_ack_cq_events(server->echo_cq, unacknowledged);
			unacknowledged = 0;
		}
		answer_all(server);
	}
	return NULL;
}

/* The objects that it shares with others; the first connection creates them. */
static struct verbs_group *join_group(struct server *server, unsigned int index)
{
	struct verbs_group *group = &server->groups[index / PEER_SHARE % GROUPS];

	if (!server->shared++)
		server->srq = verbs_srq(server->pd);
	if (!group->users++)
		group->cq = verbs_cq(server->listener->verbs,
				     PEER_SHARE * PEER_DEPTH + PEER_SHARED_RECEIVES, NULL);
	return group;
}

static void leave_group(struct server *server, struct verbs_group *group)
{
	if (!--group->users)
		ibv_destroy_cq(group->cq);
	if (!--server->shared)
		ibv_destroy_srq(server->srq);
}

static void accept_end(struct server *server, const struct rdma_cm_event *event)
{
	struct verbs_end *end = peer_alloc(sizeof(*end));
	struct peer_hello hello = { .kind = PEER_OWN };
	struct verbs_offer offer;
	struct rdma_conn_param param;
	unsigned int i;

	if (event->param.conn.private_data_len >= sizeof(hello))
		memcpy(&hello, event->param.conn.private_data, sizeof(hello));
	end->id = event->id;
	end->id->context = end;
	if (hello.kind == PEER_SHARED) {
		end->group = join_group(server, hello.index);
		verbs_make(end, server->pd, end->group->cq, server->srq);
	} else {
		verbs_make(end, server->pd, hello.kind == PEER_ONE ? server->echo_cq : NULL, NULL);
	}
	if (hello.kind == PEER_ONE) {
		server->echo_qp = end->id->qp;
		for (i = 0; i < PEER_RECEIVES; i++)
			verbs_receive(end->id->qp, server->mr,
				      (char *)server->data + i * sizeof(uint64_t));
	}
	offer = (struct verbs_offer){
		.addr = (uintptr_t)(end->own ? end->data : server->data),
		.key = (end->own ? end->own : server->mr)->rkey,
	};
	param = verbs_param(&offer, sizeof(offer));
	if (rdma_accept(end->id, &param))
		peer_fail("accept", errno);
}

static void end_end(struct server *server, struct verbs_end *end)
{
	struct verbs_group *group = end->group;

	/* Answers the client's disconnect. */
	rdma_disconnect(end->id);
	verbs_unmake(end);
	if (group)
		leave_group(server, group);
	free(end);
}

static void handle(struct server *server)
{
	struct rdma_cm_event *event;
	struct verbs_end *ended = NULL;

	if (rdma_get_cm_event(server->events, &event))
		peer_fail("event", errno);
	if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST)
		accept_end(server, event);
	else if (event->event == RDMA_CM_EVENT_DISCONNECTED)
		ended = event->id->context;
	else if (event->event != RDMA_CM_EVENT_ESTABLISHED &&
		 event->event != RDMA_CM_EVENT_TIMEWAIT_EXIT)
		fprintf(stderr, "%s: server: %s\n", peer_name, rdma_event_str(event->event));
	rdma_ack_cm_event(event);
	/* An id can be destroyed only when all its events are acknowledged. */
	if (ended)
		end_end(server, ended);
}

void peer_serve(const struct sockaddr_in *address)
{
	static struct server server;
	pthread_t thread;
	int err;

	server.events = rdma_create_event_channel();
	if (!server.events ||
	    rdma_create_id(server.events, &server.listener, NULL, RDMA_PS_TCP) ||
	    rdma_bind_addr(server.listener, (struct sockaddr *)address) ||
	    rdma_listen(server.listener, PEER_COMPLETIONS))
		peer_fail("listen", errno);
	server.pd = ibv_alloc_pd(server.listener->verbs);
	server.echo = ibv_create_comp_channel(server.listener->verbs);
	if (!server.pd || !server.echo)
		peer_fail("domain", errno);
	server.echo_cq = verbs_cq(server.listener->verbs, 2 * PEER_COMPLETIONS, server.echo);
	if (posix_memalign(&server.data, 4096, PEER_MEMORY))
		peer_fail("memory", ENOMEM);
	memset(server.data, 0, PEER_MEMORY);
	server.mr = ibv_reg_mr(server.pd, server.data, PEER_MEMORY, VERBS_ACCESS);
	if (!server.mr)
		peer_fail("memory", errno);
	err = pthread_create(&thread, NULL, echo, &server);
	if (err)
		peer_fail("thread", err);
	printf("ready\n");
	for (;;)
		handle(&server);
}
