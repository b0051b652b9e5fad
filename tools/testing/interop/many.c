// SPDX-License-Identifier: GPL-2.0
/*
 * The other end of ucmatose, one of librdmacm's programs.  It has many connections at a time.  The
 * server sends its messages on all of them before the client answers with as many.
 *
 *	many listen HOST PORT CONNECTIONS MESSAGES SIZE
 *	many connect HOST PORT CONNECTIONS MESSAGES SIZE
 *
 * The server disconnects when all messages have arrived.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "side.h"

/* Time after which the device has acknowledged all received messages. */
#define SETTLE_US	300000

struct many {
	struct side side;
	size_t connections;
	uint32_t messages;
	uint32_t size;
	struct krdma_conn **conns;
	/* Memory for all received messages, followed by the message to send. */
	struct krdma_mr *mr;
	size_t sent;
	size_t come;
};

/* Create the QP and post receives for all messages before the peer can send. */
static void many_prepare(struct many *many, size_t index)
{
	struct krdma_conn *conn = many->conns[index];
	size_t length = (many->connections * many->messages + 1) * many->size;

	if (!many->mr)
		many->mr = side_memory(many->side.session, conn, length,
				       KRDMA_ACCESS_LOCAL_WRITE);
	side_prepare(&many->side, conn, many->messages, many->messages);
	for (uint32_t i = 0; i < many->messages; i++) {
		size_t at = (index * many->messages + i) * many->size;

		side_post(many->side.ring,
			  krdma_entry_recv(conn, index, many->mr, at, many->size));
	}
}

static void many_send(struct many *many)
{
	size_t at = many->connections * many->messages * many->size;

	for (size_t index = 0; index < many->connections; index++) {
		for (uint32_t i = 0; i < many->messages; i++)
			side_post(many->side.ring,
				  krdma_entry_send(many->conns[index], index, many->mr, at,
						   many->size));
	}
}

/* Wait until @sent messages were sent and @come messages have arrived. */
static void many_complete(struct many *many, size_t sent, size_t come)
{
	while (many->sent < sent || many->come < come) {
		struct krdma_cqe cqe = side_done_or_left(many->side.ring);

		if (cqe.opcode == KRDMA_OP_SEND)
			many->sent++;
		else if (cqe.length == many->size)
			many->come++;
	}
}

static void many_listen(struct many *many, size_t all)
{
	for (size_t i = 0; i < many->connections; i++) {
		many->conns[i] = side_next(&many->side);
		many_prepare(many, i);
		side_accept(many->conns[i]);
	}
	for (size_t i = 0; i < many->connections; i++)
		side_connected(many->conns[i]);
	many_send(many);
	many_complete(many, all, all);
	/* The server disconnects, but its device may not have acknowledged the last messages. */
	usleep(SETTLE_US);
	for (size_t i = 0; i < many->connections; i++)
		krdma_conn_disconnect(many->conns[i], 0);
}

static void many_connect(struct many *many, size_t all, const char *host, const char *port)
{
	for (size_t i = 0; i < many->connections; i++) {
		many->conns[i] = side_resolve(many->side.session, host, port);
		many_prepare(many, i);
	}
	for (size_t i = 0; i < many->connections; i++)
		side_connect(many->conns[i]);
	for (size_t i = 0; i < many->connections; i++)
		side_connected(many->conns[i]);
	many_complete(many, 0, all);
	many_send(many);
	many_complete(many, all, all);
}

static void many_end(struct many *many)
{
	size_t ended = 0;

	for (size_t i = 0; i < many->connections; i++) {
		side_ended(many->conns[i]);
		krdma_conn_close(many->conns[i]);
		ended++;
	}
	printf("%zu sent, %zu have come, %zu connections ended\n", many->sent, many->come, ended);
	krdma_mr_deregister(many->mr, 0);
	side_close(&many->side);
	free(many->conns);
}

int main(int argc, char **argv)
{
	struct many many = { .connections = 0 };
	size_t all;

	if (argc != 7)
		side_usage("many listen|connect HOST PORT CONNECTIONS MESSAGES SIZE");
	many.connections = strtoul(argv[4], NULL, 10);
	many.messages = (uint32_t)strtoul(argv[5], NULL, 10);
	many.size = (uint32_t)strtoul(argv[6], NULL, 10);
	many.conns = calloc(many.connections, sizeof(*many.conns));
	if (!many.conns || !many.messages || !many.size)
		side_usage("many ... one connection, message and byte at least");
	all = many.connections * many.messages;
	side_open(&many.side,
		  (uint32_t)(2 * all + many.connections * KRDMA_RING_EXTRA));
	if (!strcmp(argv[1], "listen")) {
		side_listen(&many.side, argv[2], argv[3]);
		many_listen(&many, all);
	} else {
		many_connect(&many, all, argv[2], argv[3]);
	}
	many_end(&many);
	return 0;
}
