/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Server side: serve several clients, each in its own thread, until a stop is requested.
 *
 * Clients are untrusted.  Each one gets a connection, a ring, a thread, and MRs within a limit
 * that all clients share; nothing that a client sends makes the server allocate more.
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
	/* The session of the server. */
	struct krdma *session;
	struct krdma_conn *conn;
	struct krdma_ring *ring;
	/* MRs from client_memory(); the first @used are valid. */
	struct krdma_mr *mr[3];
	unsigned int used;
	uint64_t bytes_reserved;
	uint32_t device_id;
	/* The connection is a lane. */
	bool lane;
	char address[PEER_TEXT];
	/* Time of the last completion or probe, in ns (clock_ns()). */
	uint64_t heard;
	/* For the report: the client's request, such as "write, 64KiB, depth 1"; may be empty. */
	char wish[64];
	uint64_t messages;
	uint64_t bytes;
	/* The client connects only for a moment: print its end only with -d. */
	bool brief;
};

struct server_options {
	const struct options *common;
	/* The command line of the server, for messages: "krdma ping --listen". */
	const char *command;
	/* Purpose of the server, for its first line: "answering krdma ping". */
	const char *purpose;
	const char *source;
	int family;
	uint16_t port;
	bool quiet;
	bool polled;
	/* Take lanes, too. */
	bool lane;
	uint64_t max_clients;
	uint64_t max_memory;
	uint64_t max_length;
	/*
	 * Serve one client, from its connection request to its end, in its own thread.  0, -EINTR
	 * (a stop is requested) and -ECONNRESET (the client has left) are not errors.
	 */
	int (*attend)(struct client *client);
};

/* Listen and serve.  Returns an exit code. */
int serve(const struct server_options *options);

const struct server_options *client_server(const struct client *client);

/*
 * Functions for @attend.  Each returns 0 or a negative errno; their resources are released when
 * @attend returns.
 */

/* Get the client's hello.  If it is not for this service, reject the client and fail. */
int client_hello(struct client *client, uint8_t service, struct hello *hello);

/* Reject the client with a reason. */
void client_refuse(struct client *client, uint8_t verdict, uint32_t limit);

/*
 * Allocate and register an MR within the limit of all clients.  On an error the client has been
 * rejected, but for -ENOSPC (too many MRs).  If @length is 0, *@mr is NULL.
 */
int client_memory(struct client *client, uint64_t length, uint32_t access,
		  struct krdma_mr **mr);

/* Create the client's ring and the QP, so that receives can be posted.  An error rejects it. */
int client_prepare(struct client *client, uint32_t send_depth, uint32_t recv_depth);

/* Accept the client with these private data, and wait until it is connected. */
int client_accept(struct client *client, const struct krdma_conn_param_args *param,
		  const void *data,
		  size_t length);

/* Accept the client with VERDICT_WELCOME, and with the descriptor of @mr unless it is NULL. */
int client_welcome(struct client *client, struct krdma_mr *mr);

/* Maximum number of completions from client_next(). */
#define CLIENT_BATCH 64

/*
 * Wait for completions of successful work requests.  Probes an idle client from time to time, but
 * for a lane, whose peer the kernel probes.
 *
 * Returns 0; -EINTR if a stop is requested; -ECONNRESET if the client has left; otherwise the
 * errno with which the connection ended.
 */
int client_next(struct client *client, struct krdma_cqe cqes[CLIENT_BATCH], size_t *taken);

#endif /* KRDMA_CLI_PEER_SERVE_H */
