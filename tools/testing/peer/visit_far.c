// SPDX-License-Identifier: GPL-2.0
/*
 * A connection of a hostile peer, step by step.
 */
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "visit_far.h"

#define RESOLVE_MS	30000
#define READS		4
/* Half a second for an acknowledgment: only a slow machine loses packets here. */
#define ACK_TIMEOUT	17
/* RNR retries of an impatient peer, 10 ms apart as the server requests, and of others. */
#define IMPATIENT	1
#define FOR_EVER	7

void far_finding(struct far *far, const char *format, ...)
{
	va_list arguments;

	printf("FOUND: visit %llu: ", (unsigned long long)far->visit->number);
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	putchar('\n');
	far->host->diary->findings++;
}

/* A failure on the peer's own machine says nothing about the server, but ends the process. */
static void far_fail(struct far *far, const char *what)
{
	far_finding(far, "%s: %s", what, strerror(errno));
	exit(1);
}

static void far_await(struct far *far, enum rdma_cm_event_type type)
{
	struct far_event event = far_next_event(far);

	if (event.type != type) {
		far_finding(far, "%s instead of %s, status %d", rdma_event_str(event.type),
			    rdma_event_str(type), event.status);
		exit(1);
	}
}

struct rdma_cm_id *far_way(struct far *far, unsigned int port)
{
	struct sockaddr_in from = far->host->server;
	struct rdma_cm_id *id;

	from.sin_port = htons((uint16_t)port);
	if (rdma_create_id(far->events, &id, NULL, RDMA_PS_TCP) ||
	    rdma_resolve_addr(id, port ? (struct sockaddr *)&from : NULL,
			      (struct sockaddr *)&far->host->server, RESOLVE_MS))
		far_fail(far, "address");
	far_await(far, RDMA_CM_EVENT_ADDR_RESOLVED);
	if (rdma_resolve_route(id, RESOLVE_MS))
		far_fail(far, "route");
	far_await(far, RDMA_CM_EVENT_ROUTE_RESOLVED);
	return id;
}

static void far_memory(struct far *far)
{
	struct host *host = far->host;

	if (host->domain)
		return;
	host->domain = ibv_alloc_pd(far->id->verbs);
	host->mr = calloc(1, MEMORY);
	if (!host->domain || !host->mr)
		far_fail(far, "domain");
	host->registered = ibv_reg_mr(host->domain, host->mr, MEMORY, IBV_ACCESS_LOCAL_WRITE |
				      IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE);
	if (!host->registered)
		far_fail(far, "memory");
}

static int far_step(struct far *far, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };
	int mask;

	if (rdma_init_qp_attr(far->id, &attr, &mask))
		return -1;
	if (mask & IBV_QP_MAX_DEST_RD_ATOMIC)
		attr.max_dest_rd_atomic = READS;
	if (mask & IBV_QP_MAX_QP_RD_ATOMIC)
		attr.max_rd_atomic = READS;
	if (mask & IBV_QP_TIMEOUT)
		attr.timeout = ACK_TIMEOUT;
	if (mask & IBV_QP_RNR_RETRY)
		attr.rnr_retry = far->visit->impatient ? IMPATIENT : FOR_EVER;
	return ibv_modify_qp(far->pair, &attr, mask) ? -1 : 0;
}

void far_answer_room(struct far *far, unsigned int which)
{
	unsigned char *room = far->host->mr + SPAN_MAX * BUFFER + which * ANSWER_ROOM;
	struct ibv_sge sge = {
		(uintptr_t)room, ANSWER_ROOM, far->host->registered->lkey,
	};
	struct ibv_recv_wr request = { .wr_id = which, .sg_list = &sge, .num_sge = 1 }, *bad;

	memset(room, EMPTY, ANSWER_SEEN);
	if (ibv_post_recv(far->pair, &request, &bad))
		far_fail(far, "receive");
}

void far_pair(struct far *far)
{
	struct ibv_qp_init_attr attr = {
		.cap = { SPAN_MAX, ANSWERS, 1, 1, 0 }, .qp_type = IBV_QPT_RC, .sq_sig_all = 1,
	};

	far_memory(far);
	far->sent = ibv_create_cq(far->id->verbs, 2 * SPAN_MAX, NULL, NULL, 0);
	far->received = ibv_create_cq(far->id->verbs, 2 * ANSWERS, NULL, NULL, 0);
	if (!far->sent || !far->received)
		far_fail(far, "completions");
	attr.send_cq = far->sent;
	attr.recv_cq = far->received;
	far->pair = ibv_create_qp(far->host->domain, &attr);
	if (!far->pair || far_step(far, IBV_QPS_INIT))
		far_fail(far, "queue pair");
	for (unsigned int i = 0; i < ANSWERS && !far->visit->deaf; i++)
		far_answer_room(far, i);
}

int far_connect(struct far *far, struct rdma_cm_id *id, uint32_t pair)
{
	struct rdma_conn_param param = {
		.private_data = far->visit->data,
		.private_data_len = (uint8_t)far->visit->data_length,
		.responder_resources = READS, .initiator_depth = READS, .retry_count = 7,
		.rnr_retry_count = FOR_EVER, .qp_num = pair,
	};

	far->host->diary->actions++;
	return rdma_connect(id, &param);
}

struct far_event far_next_event(struct far *far)
{
	struct far_event told = { .length = 0 };
	struct rdma_cm_event *event;

	if (rdma_get_cm_event(far->events, &event))
		far_fail(far, "event");
	told.type = event->event;
	told.status = event->status;
	if (event->param.conn.private_data &&
	    (told.type == RDMA_CM_EVENT_CONNECT_RESPONSE || told.type == RDMA_CM_EVENT_REJECTED)) {
		told.length = event->param.conn.private_data_len;
		memcpy(told.data, event->param.conn.private_data, told.length);
	}
	rdma_ack_cm_event(event);
	return told;
}

/*
 * If the server disconnects before it has got the peer's confirmation (RTU), the peer gets
 * RDMA_CM_EVENT_REJECTED.
 */
static bool is_end(enum rdma_cm_event_type type)
{
	return type == RDMA_CM_EVENT_DISCONNECTED || type == RDMA_CM_EVENT_REJECTED ||
	       type == RDMA_CM_EVENT_TIMEWAIT_EXIT || type == RDMA_CM_EVENT_DEVICE_REMOVAL;
}

void far_give_up(struct far *far)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	far->over = true;
	ibv_modify_qp(far->pair, &attr, IBV_QP_STATE);
}

void far_look(struct far *far)
{
	struct pollfd events = { .fd = far->events->fd, .events = POLLIN };

	if (!far->over && poll(&events, 1, 0) > 0 && is_end(far_next_event(far).type))
		far_give_up(far);
}

void far_disconnect(struct far *far)
{
	int err = rdma_disconnect(far->id);

	while (!err && !far->over && !is_end(far_next_event(far).type))
		;
}

int far_establish(struct far *far)
{
	/* INIT again: only now the connection manager knows the access rights. */
	if (far_step(far, IBV_QPS_INIT) || far_step(far, IBV_QPS_RTR) ||
	    far_step(far, IBV_QPS_RTS))
		return -1;
	return rdma_establish(far->id) ? -1 : 0;
}

void far_close(struct far *far, bool pair_first)
{
	if (far->pair && pair_first)
		ibv_destroy_qp(far->pair);
	if (far->id)
		rdma_destroy_id(far->id);
	if (far->pair && !pair_first)
		ibv_destroy_qp(far->pair);
	if (far->sent)
		ibv_destroy_cq(far->sent);
	if (far->received)
		ibv_destroy_cq(far->received);
	far->pair = NULL;
	far->sent = NULL;
	far->received = NULL;
	far->id = NULL;
}
