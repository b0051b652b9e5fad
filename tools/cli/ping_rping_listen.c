// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * krdma ping --rping --listen: serve rping and compatible clients.
 */
#include <errno.h>
#include <string.h>

#include "krdma_entry.h"
#include "peer_serve.h"
#include "ping.h"
#include "ping_rping.h"

/* Send depth: at most one read or write and one message are in flight. */
#define DEPTH 4

/* Layout of the messages' MR: two buffers for receives, then the message to send. */
#define SENT_OFFSET (2 * RPING_MESSAGE)

struct rounds {
	struct client *client;
	struct krdma_mr *data;
	struct krdma_mr *messages;
	uint64_t received;
};

static int post_receive(const struct rounds *rounds, uint64_t index)
{
	struct krdma_sqe entry = krdma_entry_recv(rounds->client->conn, index,
						  rounds->messages,
						  RPING_MESSAGE * (index % 2),
						  RPING_MESSAGE);

	return krdma_ring_post(rounds->client->ring, &entry, 1, NULL);
}

/* Wait for a completion of @opcode: a message of the client, or a read or write. */
static int await(struct rounds *rounds, uint8_t opcode)
{
	struct krdma_cqe cqes[CLIENT_BATCH];
	bool done = false;
	size_t taken, i;
	int err;

	while (!done) {
		err = client_next(rounds->client, cqes, &taken);
		if (err)
			return err;
		for (i = 0; i < taken; i++) {
			if (cqes[i].opcode == KRDMA_OP_SEND)
				continue;
			/* A client must wait for the reply before it sends the next message. */
			if (cqes[i].opcode != opcode || done)
				return -EPROTO;
			if (opcode == KRDMA_OP_RECV && cqes[i].length != RPING_MESSAGE)
				return -EPROTO;
			done = true;
		}
	}
	return 0;
}

/* Receive the address, rkey and length of the client's memory. */
static int next_message(struct rounds *rounds, struct krdma_remote_mr *remote)
{
	const uint8_t *message;
	int err = await(rounds, KRDMA_OP_RECV);

	if (err)
		return err;
	message = (const uint8_t *)krdma_mr_data(rounds->messages) +
		  RPING_MESSAGE * (rounds->received % 2);
	rping_message_decode(message, remote);
	rounds->received++;
	rounds->client->messages++;
	/* The length comes from the client; the local buffer has RPING_MAX_LENGTH bytes. */
	if (remote->length > RPING_MAX_LENGTH || !remote->length)
		return -EMSGSIZE;
	return post_receive(rounds, rounds->received + 1);
}

/* Read or write, and when that has completed, send the reply. */
static int do_and_tell(struct rounds *rounds, uint8_t opcode, uint32_t length,
		       const struct krdma_remote_mr *remote)
{
	struct krdma_conn *conn = rounds->client->conn;
	struct krdma_sqe entry;
	int err;

	entry = krdma_entry_remote(opcode, conn, 0, rounds->data, 0, length, remote, 0);
	err = krdma_ring_post(rounds->client->ring, &entry, 1, NULL);
	if (!err)
		err = await(rounds, opcode);
	if (err)
		return err;
	rounds->client->bytes += length;
	entry = krdma_entry_send(conn, 0, rounds->messages, SENT_OFFSET, RPING_MESSAGE);
	entry.flags = KRDMA_SQE_UNSIGNALED;
	return krdma_ring_post(rounds->client->ring, &entry, 1, NULL);
}

static int serve_round(struct rounds *rounds)
{
	const char *text = krdma_mr_data(rounds->data);
	struct krdma_remote_mr remote;
	uint32_t length;
	int err;

	err = next_message(rounds, &remote);
	if (!err)
		err = do_and_tell(rounds, KRDMA_OP_READ, (uint32_t)remote.length, &remote);
	if (err)
		return err;
	/* Write back the text with its zero, or all bytes if there is no zero. */
	length = (uint32_t)strnlen(text, (size_t)remote.length);
	if (length < remote.length)
		length++;
	err = next_message(rounds, &remote);
	if (!err && remote.length < length)
		err = -EMSGSIZE;
	return err ? err : do_and_tell(rounds, KRDMA_OP_WRITE, length, &remote);
}

static int create_qp(struct rounds *rounds)
{
	struct client *client = rounds->client;
	int err;

	err = client_memory(client, RPING_MAX_LENGTH, KRDMA_ACCESS_LOCAL_WRITE, &rounds->data);
	if (!err)
		err = client_memory(client, (uint64_t)3 * RPING_MESSAGE,
				    KRDMA_ACCESS_LOCAL_WRITE, &rounds->messages);
	if (!err)
		err = client_prepare(client, DEPTH, 2);
	if (!err)
		err = post_receive(rounds, 0);
	return err ? err : post_receive(rounds, 1);
}

static int attend(struct client *client)
{
	const struct krdma_conn_param_args param = {
		.size = sizeof(param),
		.flags = KRDMA_CONN_PARAM_PLAIN,
	};
	struct rounds rounds = { .client = client };
	int err = create_qp(&rounds);

	if (!err)
		err = client_accept(client, &param, NULL, 0);
	while (!err)
		err = serve_round(&rounds);
	return err == -ENOTCONN ? -ECONNRESET : err;
}

int ping_rping_listen(const struct ping_settings *settings)
{
	const struct server_options options = {
		.common = settings->common,
		.command = "krdma ping --rping --listen",
		.purpose = "answering rping",
		.source = settings->source,
		.family = settings->family,
		.port = settings->port,
		.quiet = settings->quiet,
		.max_clients = settings->max_clients,
		.max_memory = settings->max_memory,
		.attend = attend,
	};

	return serve(&options);
}
