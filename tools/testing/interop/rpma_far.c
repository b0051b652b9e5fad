// SPDX-License-Identifier: GPL-2.0
/*
 * Common parts of the librpma programs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rpma_far.h"

#define TIMEOUT_MS	60000

void rpma_check(const char *what, int err)
{
	if (!err)
		return;
	printf("%s: %s\n", what, rpma_err_2str(err));
	exit(1);
}

void rpma_far_open(struct rpma_far *far, int argc, char **argv)
{
	bool listens = argc == 4 && !strcmp(argv[1], "listen");
	struct ibv_context *device;

	if (argc != 4 || (!listens && strcmp(argv[1], "connect"))) {
		fprintf(stderr, "usage: %s listen|connect HOST PORT\n", argv[0]);
		exit(2);
	}
	memset(far, 0, sizeof(*far));
	far->host = argv[2];
	far->port = argv[3];
	setvbuf(stdout, NULL, _IOLBF, 0);
	rpma_check("device", rpma_utils_get_ibv_context(far->host, listens ?
							RPMA_UTIL_IBV_CONTEXT_LOCAL :
							RPMA_UTIL_IBV_CONTEXT_REMOTE, &device));
	rpma_check("peer", rpma_peer_new(device, &far->peer));
	rpma_check("configuration", rpma_conn_cfg_new(&far->config));
	rpma_check("timeout", rpma_conn_cfg_set_timeout(far->config, TIMEOUT_MS));
	if (listens)
		rpma_check("listen", rpma_ep_listen(far->peer, far->host, far->port,
						    &far->endpoint));
}

void rpma_far_close(struct rpma_far *far)
{
	if (far->endpoint)
		rpma_check("endpoint", rpma_ep_shutdown(&far->endpoint));
	rpma_check("configuration", rpma_conn_cfg_delete(&far->config));
	rpma_check("peer", rpma_peer_delete(&far->peer));
}

void rpma_tell(struct rpma_told *told, uint16_t data_offset, struct rpma_mr_local *mr,
	       bool direct_write)
{
	struct rpma_peer_cfg *config;
	size_t memory_size, peer_size;

	memset(told, 0, sizeof(*told));
	rpma_check("memory", rpma_mr_get_descriptor_size(mr, &memory_size));
	rpma_check("own", rpma_peer_cfg_new(&config));
	rpma_check("direct write", rpma_peer_cfg_set_direct_write_to_pmem(config, direct_write));
	rpma_check("own", rpma_peer_cfg_get_descriptor_size(config, &peer_size));
	if (memory_size + peer_size > sizeof(told->descriptors)) {
		printf("descriptors of %zu and %zu bytes\n", memory_size, peer_size);
		exit(1);
	}
	told->data_offset = data_offset;
	told->memory_size = (uint8_t)memory_size;
	told->peer_size = (uint8_t)peer_size;
	rpma_check("memory", rpma_mr_get_descriptor(mr, told->descriptors));
	rpma_check("own", rpma_peer_cfg_get_descriptor(config, told->descriptors + memory_size));
	rpma_check("own", rpma_peer_cfg_delete(&config));
}

static void rpma_hear(struct rpma_conn *conn, struct rpma_theirs *theirs)
{
	struct rpma_conn_private_data data;
	struct rpma_peer_cfg *config;
	struct rpma_told told;

	rpma_check("private data", rpma_conn_get_private_data(conn, &data));
	if (data.len < sizeof(told)) {
		printf("only %u bytes of private data\n", data.len);
		exit(1);
	}
	memcpy(&told, data.ptr, sizeof(told));
	theirs->data_offset = told.data_offset;
	rpma_check("their memory", rpma_mr_remote_from_descriptor(told.descriptors,
								  told.memory_size,
								  &theirs->mr));
	rpma_check("their configuration",
		   rpma_peer_cfg_from_descriptor(told.descriptors + told.memory_size,
						 told.peer_size, &config));
	rpma_check("direct write", rpma_peer_cfg_get_direct_write_to_pmem(config,
									  &theirs->direct_write));
	rpma_check("their configuration", rpma_conn_apply_remote_peer_cfg(conn, config));
	rpma_check("their configuration", rpma_peer_cfg_delete(&config));
}

struct rpma_conn *rpma_far_next(struct rpma_far *far, struct rpma_mr_local *message,
				const struct rpma_told *told, struct rpma_theirs *theirs)
{
	const struct rpma_conn_private_data data = { .ptr = (void *)told, .len = sizeof(*told) };
	enum rpma_conn_event event;
	struct rpma_conn_req *request;
	struct rpma_conn *conn;
	size_t size;

	if (far->endpoint)
		rpma_check("request", rpma_ep_next_conn_req(far->endpoint, far->config, &request));
	else
		rpma_check("request", rpma_conn_req_new(far->peer, far->host, far->port,
							far->config, &request));
	if (message) {
		rpma_check("message", rpma_mr_get_size(message, &size));
		rpma_check("receive", rpma_conn_req_recv(request, message, 0, size, NULL));
	}
	rpma_check("connect", rpma_conn_req_connect(&request, &data, &conn));
	rpma_check("event", rpma_conn_next_event(conn, &event));
	if (event != RPMA_CONN_ESTABLISHED) {
		printf("not established: %s\n", rpma_utils_conn_event_2str(event));
		exit(1);
	}
	rpma_hear(conn, theirs);
	return conn;
}

struct ibv_wc rpma_done(struct rpma_cq *cq)
{
	struct ibv_wc wc;
	int err;

	while ((err = rpma_cq_get_wc(cq, 1, &wc, NULL)) == RPMA_E_NO_COMPLETION)
		rpma_check("wait", rpma_cq_wait(cq));
	rpma_check("completion", err);
	if (wc.status) {
		printf("completion: %s\n", ibv_wc_status_str(wc.status));
		exit(1);
	}
	return wc;
}

static void rpma_end(struct rpma_conn *conn)
{
	enum rpma_conn_event event;

	rpma_check("event", rpma_conn_next_event(conn, &event));
	printf("ended: %s\n", rpma_utils_conn_event_2str(event));
}

void rpma_left(struct rpma_conn *conn)
{
	rpma_end(conn);
	rpma_check("disconnect", rpma_conn_disconnect(conn));
	rpma_check("connection", rpma_conn_delete(&conn));
}

void rpma_leave(struct rpma_conn *conn)
{
	rpma_check("disconnect", rpma_conn_disconnect(conn));
	rpma_end(conn);
	rpma_check("connection", rpma_conn_delete(&conn));
}
