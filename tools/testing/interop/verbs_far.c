// SPDX-License-Identifier: GPL-2.0
/*
 * A connection of a program that creates its own QPs.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "verbs_far.h"

#define RESOLVE_MS	30000
/* Depth of the SQ and of the RQ; reads in flight. */
#define DEPTH		8
#define READS		4
/* Seconds; nothing takes longer, even on a busy machine. */
#define PATIENCE	120
/* Retries of a message that finds no receive, 10 ms apart as the other side requests. */
#define RNR_RETRIES	2

void far_fail(const char *what, int err)
{
	printf("%s: %s\n", what, strerror(err));
	exit(1);
}

void far_open(struct verbs_far *far)
{
	memset(far, 0, sizeof(*far));
	setvbuf(stdout, NULL, _IOLBF, 0);
	alarm(PATIENCE);
	far->events = rdma_create_event_channel();
	if (!far->events)
		far_fail("events", errno);
}

void far_close(struct verbs_far *far)
{
	far_forget(far);
	if (far->listener)
		rdma_destroy_id(far->listener);
	rdma_destroy_event_channel(far->events);
}

struct verbs_event far_event(struct verbs_far *far)
{
	struct verbs_event told = { .length = 0 };
	struct rdma_cm_event *event;

	if (rdma_get_cm_event(far->events, &event))
		far_fail("event", errno);
	told.type = event->event;
	told.length = event->param.conn.private_data_len;
	if (event->param.conn.private_data)
		memcpy(told.data, event->param.conn.private_data, told.length);
	else
		told.length = 0;
	if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST)
		far->id = event->id;
	rdma_ack_cm_event(event);
	return told;
}

struct verbs_event far_wait(struct verbs_far *far, enum rdma_cm_event_type type)
{
	struct verbs_event told = far_event(far);

	if (told.type != type) {
		printf("%s instead of %s\n", rdma_event_str(told.type), rdma_event_str(type));
		exit(1);
	}
	return told;
}

static struct sockaddr_in far_address(const char *host, const char *port)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port)),
	};

	if (inet_pton(AF_INET, host, &address.sin_addr) != 1)
		far_fail(host, EINVAL);
	return address;
}

void far_listen(struct verbs_far *far, const char *host, const char *port)
{
	struct sockaddr_in address = far_address(host, port);

	if (rdma_create_id(far->events, &far->listener, NULL, RDMA_PS_TCP) ||
	    rdma_bind_addr(far->listener, (struct sockaddr *)&address) ||
	    rdma_listen(far->listener, DEPTH))
		far_fail("listen", errno);
}

struct verbs_event far_next(struct verbs_far *far)
{
	return far_wait(far, RDMA_CM_EVENT_CONNECT_REQUEST);
}

void far_resolve(struct verbs_far *far, const char *host, const char *port)
{
	struct sockaddr_in address = far_address(host, port);

	if (rdma_create_id(far->events, &far->id, NULL, RDMA_PS_TCP) ||
	    rdma_resolve_addr(far->id, NULL, (struct sockaddr *)&address, RESOLVE_MS))
		far_fail("address", errno);
	far_wait(far, RDMA_CM_EVENT_ADDR_RESOLVED);
	if (rdma_resolve_route(far->id, RESOLVE_MS))
		far_fail("route", errno);
	far_wait(far, RDMA_CM_EVENT_ROUTE_RESOLVED);
}

void far_forget(struct verbs_far *far)
{
	if (far->pair)
		ibv_destroy_qp(far->pair);
	if (far->completions)
		ibv_destroy_cq(far->completions);
	if (far->registered)
		ibv_dereg_mr(far->registered);
	if (far->domain)
		ibv_dealloc_pd(far->domain);
	free(far->data);
	if (far->id)
		rdma_destroy_id(far->id);
	far->pair = NULL;
	far->completions = NULL;
	far->registered = NULL;
	far->domain = NULL;
	far->data = NULL;
	far->id = NULL;
}

static void far_step(struct verbs_far *far, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };
	int mask;

	if (rdma_init_qp_attr(far->id, &attr, &mask))
		far_fail("attributes", errno);
	if (mask & IBV_QP_ACCESS_FLAGS)
		attr.qp_access_flags = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |
				       IBV_ACCESS_REMOTE_WRITE;
	if (mask & IBV_QP_MAX_DEST_RD_ATOMIC)
		attr.max_dest_rd_atomic = READS;
	if (mask & IBV_QP_MAX_QP_RD_ATOMIC)
		attr.max_rd_atomic = READS;
	if (mask & IBV_QP_RNR_RETRY)
		attr.rnr_retry = RNR_RETRIES;
	if (ibv_modify_qp(far->pair, &attr, mask))
		far_fail("state", errno);
}

void far_prepare(struct verbs_far *far, size_t length)
{
	struct ibv_qp_init_attr attr = {
		.cap = { DEPTH, DEPTH, 1, 1, 0 }, .qp_type = IBV_QPT_RC, .sq_sig_all = 1,
	};

	far->data = calloc(1, length);
	far->domain = ibv_alloc_pd(far->id->verbs);
	if (!far->data || !far->domain)
		far_fail("domain", errno);
	far->registered = ibv_reg_mr(far->domain, far->data, length,
				     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |
				     IBV_ACCESS_REMOTE_WRITE);
	far->completions = ibv_create_cq(far->id->verbs, 2 * DEPTH, NULL, NULL, 0);
	if (!far->registered || !far->completions)
		far_fail("memory", errno);
	attr.send_cq = far->completions;
	attr.recv_cq = far->completions;
	far->pair = ibv_create_qp(far->domain, &attr);
	if (!far->pair)
		far_fail("queue pair", errno);
	far_step(far, IBV_QPS_INIT);
}

void far_ready(struct verbs_far *far)
{
	/* INIT again: only now the connection manager knows the access rights. */
	far_step(far, IBV_QPS_INIT);
	far_step(far, IBV_QPS_RTR);
	far_step(far, IBV_QPS_RTS);
}

int far_connect(struct verbs_far *far, const void *data, uint8_t length)
{
	struct rdma_conn_param param = {
		.private_data = data, .private_data_len = length,
		.responder_resources = READS, .initiator_depth = READS, .retry_count = 7,
		.rnr_retry_count = RNR_RETRIES,
		/* A side without a QP only sends a request, which will be rejected. */
		.qp_num = far->pair ? far->pair->qp_num : 17,
	};

	return rdma_connect(far->id, &param) ? errno : 0;
}

void far_accept(struct verbs_far *far, const void *data, uint8_t length)
{
	struct rdma_conn_param param = {
		.private_data = data, .private_data_len = length,
		.responder_resources = READS, .initiator_depth = READS,
		.rnr_retry_count = RNR_RETRIES, .qp_num = far->pair->qp_num,
	};

	far_ready(far);
	if (rdma_accept(far->id, &param))
		far_fail("accept", errno);
	far_wait(far, RDMA_CM_EVENT_ESTABLISHED);
}

void far_receive(struct verbs_far *far, size_t offset, uint32_t length)
{
	struct ibv_sge sge = {
		(uintptr_t)far->data + offset, length, far->registered->lkey,
	};
	struct ibv_recv_wr request = { .sg_list = &sge, .num_sge = 1 }, *bad;

	if (ibv_post_recv(far->pair, &request, &bad))
		far_fail("receive", errno);
}

void far_post(struct verbs_far *far, enum ibv_wr_opcode opcode, size_t offset, uint32_t length,
	      uint64_t remote, uint32_t key)
{
	struct ibv_sge sge = {
		(uintptr_t)far->data + offset, length, far->registered->lkey,
	};
	struct ibv_send_wr request = {
		.sg_list = &sge, .num_sge = 1, .opcode = opcode,
		.wr.rdma = { remote, key },
	}, *bad;

	if (ibv_post_send(far->pair, &request, &bad))
		far_fail("post", errno);
}

struct ibv_wc far_take(struct verbs_far *far)
{
	struct ibv_wc wc;
	int count;

	/* The alarm ends the process if there is no completion. */
	while (!(count = ibv_poll_cq(far->completions, 1, &wc)))
		usleep(1000);
	if (count < 0)
		far_fail("completions", EIO);
	return wc;
}

struct ibv_wc far_done(struct verbs_far *far)
{
	struct ibv_wc wc = far_take(far);

	if (wc.status) {
		printf("completion: %s\n", ibv_wc_status_str(wc.status));
		exit(1);
	}
	return wc;
}
