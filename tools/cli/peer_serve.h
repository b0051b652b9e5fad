/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The side that listens: any number of clients, each in a thread of its own, until the
 * end is wanted.
 *
 * A client is hostile until proven otherwise.  It can have a connection, a queue, a
 * thread, and memory out of what all of them together may have; nothing that it sends
 * makes this side allocate more.
 */
#ifndef KRDMA_CLI_PEER_SERVE_H
#define KRDMA_CLI_PEER_SERVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "krdma.h"
#include "peer.h"
#include "peer_hello.h"

#define SERVE_MAX_CLIENTS	1000
#define SERVE_MAX_MEMORY	(UINT64_C(256) << 20)

struct options;
struct server;

struct client {
	struct server *server;
	/* The server's. */
	struct krdma *session;
	struct krdma_conn *conn;
	struct krdma_ring *ring;
	/* What client_memory() has given; the first @used of them. */
	struct krdma_mr *mr[3];
	unsigned int used;
	uint64_t bytes_reserved;
	uint32_t device_id;
	char address[PEER_TEXT];
	/* When something was last heard of it. */
	uint64_t heard;
	/* For the report: what it wants, such as "write, 64KiB, depth 1"; may be empty. */
	char wish[64];
	uint64_t messages;
	uint64_t bytes;
	/* It comes for a moment only: its end is worth a line with -d only. */
	bool brief;
};

struct server_options {
	const struct options *common;
	/* The command line that made it listen, for complaints: "krdma ping --listen". */
	const char *command;
	/* What it does, for the first line: "answering pings". */
	const char *purpose;
	const char *source;
	int family;
	uint16_t port;
	bool quiet;
	bool polled;
	uint64_t max_clients;
	uint64_t max_memory;
	uint64_t max_length;
	/*
	 * Serves one client, from its request to its end, in a thread of its own.  0, -EINTR
	 * (the end is wanted here) and -ECONNRESET (it has gone) are not worth a complaint.
	 */
	int (*attend)(struct client *client);
};

/* Listen and serve; an exit code. */
int serve(const struct server_options *options);

const struct server_options *client_server(const struct client *client);

/*
 * For those who attend.  Each returns 0 or a negative errno; what was taken is given
 * back when they return.
 */

/* The client's hello, if it is for this service; otherwise it has been refused. */
int client_hello(struct client *client, uint8_t service, struct hello *hello);

/* Refuse it, with the reason. */
void client_refuse(struct client *client, uint8_t verdict, uint32_t limit);

/*
 * New memory, as long as all clients' together is not above the limit: otherwise it has
 * been refused.  @length may be 0: then *@mr is NULL.
 */
int client_memory(struct client *client, uint64_t length, uint32_t access,
		  struct krdma_mr **mr);

/* A queue of its own, and the connection prepared: receives can be posted. */
int client_prepare(struct client *client, uint32_t send_depth, uint32_t recv_depth);

/* Let it in with these private data, and wait until it is connected. */
int client_accept(struct client *client, const struct krdma_conn_param_args *terms,
		  const void *data,
		  size_t length);

/* Let it in with an answer that welcomes it, and the memory if it is not NULL. */
int client_welcome(struct client *client, struct krdma_mr *mr);

/* client_next() gives only completions of operations that went well. */
#define CLIENT_BATCH 64

/*
 * Completions, waiting for them.  From time to time it makes sure that the client still
 * exists.
 *
 * Errors: EINTR: the end is wanted; ECONNRESET: the client has gone; otherwise what ended the
 * connection.
 */
int client_next(struct client *client, struct krdma_cqe cqes[CLIENT_BATCH], size_t *taken);

#endif /* KRDMA_CLI_PEER_SERVE_H */
