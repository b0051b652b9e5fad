// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Server side: the resources and the connection of one client.
 */
#include <errno.h>
#include <string.h>

#include "cli.h"
#include "peer_serve.h"
#include "peer_server.h"
#include "peer_stop.h"

#define ACCEPT_NS	UINT64_C(20000000000)
#define END_NS		UINT64_C(3000000000)
/* A client without any completion for this long is probed. */
#define IDLE_NS		UINT64_C(10000000000)
/* The wr_id of the probe, which no other write has. */
#define PROBE		UINT64_MAX

const struct server_options *client_server(const struct client *client)
{
	return client->server->options;
}

void client_refuse(struct client *client, uint8_t verdict, uint32_t limit)
{
	struct hello_answer answer = { .verdict = verdict, .limit = limit };
	uint8_t wire[ANSWER_SIZE];

	answer_encode(&answer, wire);
	/* The result does not matter: the client may have given up meanwhile. */
	krdma_conn_reject(client->conn, wire, sizeof(wire));
}

int client_hello(struct client *client, uint8_t service, struct hello *hello)
{
	uint8_t data[HELLO_ROOM];
	size_t length = sizeof(data);
	int err = krdma_conn_private_data(client->conn, data, &length);

	if (err)
		return err;
	err = hello_decode(data, length < sizeof(data) ? length : sizeof(data), hello);
	if (!err && hello->service == service)
		return 0;
	client_refuse(client, err == -EPROTONOSUPPORT ? VERDICT_VERSION :
		      err ? VERDICT_MALFORMED : VERDICT_SERVICE, 0);
	return err ? err : -EPROTO;
}

int client_memory(struct client *client, uint64_t length, uint32_t access,
		  struct krdma_mr **mr)
{
	int err;

	*mr = NULL;
	if (!length)
		return 0;
	if (client->used == ARRAY_SIZE(client->mr))
		return -ENOSPC;
	if (!server_reserve(client->server, length)) {
		client_refuse(client, VERDICT_FULL, 0);
		return -EDQUOT;
	}
	client->bytes_reserved += length;
	err = memory_alloc(client->session, client->device_id, client->lane, (size_t)length, access,
			   mr);
	if (err) {
		explain_memory(client->session, (size_t)length, err);
		client_refuse(client, err == -EOPNOTSUPP ? VERDICT_DEVICE : VERDICT_FULL, 0);
		return err;
	}
	client->mr[client->used++] = *mr;
	return 0;
}

int client_prepare(struct client *client, uint32_t send_depth, uint32_t recv_depth)
{
	struct krdma_ring_create_args ring = {
		.size = sizeof(ring),
		.flags = client->server->options->polled ? KRDMA_RING_POLLED : 0,
		.sq_entries = 64,
		/* One more for the probe. */
		.cq_entries = send_depth + 1 + recv_depth + KRDMA_RING_EXTRA,
	};
	struct krdma_conn_create_qp_args options = {
		.size = sizeof(options),
		.send_depth = send_depth + 1,
		.recv_depth = recv_depth,
	};
	int err = krdma_ring_create(client->session, &ring, &client->ring);

	if (!err)
		err = krdma_conn_create_qp(client->conn, client->ring, NULL, NULL, &options);
	if (!err)
		return 0;
	/* The sizes exceed the device's limits, which is not the client's fault. */
	if (err == -EINVAL)
		err = -EOPNOTSUPP;
	client_refuse(client, err == -EOPNOTSUPP ? VERDICT_DEVICE : VERDICT_FAILED, 0);
	return err;
}

/* Wait until the client is connected or times out.  -EINTR if a stop is requested. */
static int await_connected(struct client *client)
{
	uint64_t deadline = clock_ns() + ACCEPT_NS;
	int err;

	do {
		if (stop_wanted())
			return -EINTR;
		err = krdma_conn_wait(client->conn, stop_slice(deadline), NULL);
	} while (err == -EINTR || (err == -ETIMEDOUT && clock_ns() < deadline &&
				   krdma_conn_await_closed(client->conn, 0)));
	client->heard = clock_ns();
	return err;
}

int client_accept(struct client *client, const struct krdma_conn_param_args *param,
		  const void *data,
		  size_t length)
{
	int err = krdma_conn_accept(client->conn, param, data, length);

	/* The client left before it was accepted. */
	if (err == -ENOTCONN)
		return -ECONNRESET;
	return err ? err : await_connected(client);
}

int client_welcome(struct client *client, struct krdma_mr *mr)
{
	struct hello_answer answer = { .verdict = VERDICT_WELCOME };
	uint8_t wire[ANSWER_SIZE];
	int err = 0;

	if (mr)
		err = krdma_mr_describe(mr, 0, 0, answer.descriptor);
	if (err) {
		client_refuse(client, VERDICT_FAILED, 0);
		return err;
	}
	answer_encode(&answer, wire);
	return client_accept(client, NULL, wire, sizeof(wire));
}

/*
 * An idle connection does not notice that its peer has vanished.  An RDMA write of 0 bytes does;
 * it needs no address and no rkey.
 */
static int probe(struct client *client)
{
	static const struct krdma_remote_mr nowhere;
	struct krdma_sqe entry = krdma_entry_write(client->conn, PROBE, NULL, 0, 0, &nowhere, 0);
	int err = krdma_ring_post(client->ring, &entry, 1, NULL);

	client->heard = clock_ns();
	/* The SQ is full: the work requests in flight fail if the peer has vanished. */
	return err == -EAGAIN ? 0 : err;
}

/* Return the errno with which the connection has ended. */
static int reason(struct client *client)
{
	int err = krdma_conn_await_closed(client->conn, clock_ns() + END_NS);

	return err ? err : krdma_conn_wait(client->conn, 0, NULL);
}

/* Remove completions of probes; return an error if a work request failed. */
static int sift(struct client *client, struct krdma_cqe *cqes, size_t *count)
{
	size_t i, kept = 0;

	for (i = 0; i < *count; i++) {
		if (cqes[i].status)
			return reason(client);
		if (cqes[i].opcode == KRDMA_OP_WRITE && cqes[i].wr_id == PROBE)
			continue;
		cqes[kept++] = cqes[i];
	}
	*count = kept;
	return 0;
}

int client_next(struct client *client, struct krdma_cqe cqes[CLIENT_BATCH], size_t *taken)
{
	int err;

	for (;;) {
		if (stop_wanted())
			return -EINTR;
		err = krdma_ring_wait(client->ring, cqes, CLIENT_BATCH, 1,
				      stop_slice(KRDMA_FOREVER), taken);
		if (!err) {
			client->heard = clock_ns();
			err = sift(client, cqes, taken);
			if (err || *taken)
				return err;
		} else if (err != -ETIMEDOUT && err != -EINTR) {
			return err;
		} else if (!client->lane && clock_ns() - client->heard > IDLE_NS) {
			err = probe(client);
			if (err)
				return err == -ENOTCONN ? reason(client) : err;
		}
	}
}

void client_end(struct client *client)
{
	unsigned int i;

	if (!krdma_conn_disconnect(client->conn, 0))
		krdma_conn_await_closed(client->conn, clock_ns() + END_NS);
	krdma_conn_close(client->conn);
	krdma_ring_close(client->ring);
	for (i = 0; i < client->used; i++)
		krdma_mr_deregister(client->mr[i], KRDMA_DEREGISTER_LATER);
	server_unreserve(client->server, client->bytes_reserved);
}
