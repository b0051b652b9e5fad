/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Server side: declarations that its two files share.
 */
#ifndef KRDMA_CLI_PEER_SERVER_H
#define KRDMA_CLI_PEER_SERVER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "krdma.h"
#include "krdma_entry.h"
#include "peer_serve.h"

struct server {
	const struct server_options *options;
	struct krdma *session;
	/* One listener, or one for each address family. */
	struct krdma_listener *listeners[2];
	unsigned int listener_count;
	char address[PEER_TEXT];
	/* Protects the fields below, and the output of threads. */
	pthread_mutex_t lock;
	/* Signaled each time a client has ended. */
	pthread_cond_t ended;
	uint64_t clients;
	uint64_t mr;
	/* For the report. */
	uint64_t served;
	uint64_t failed;
	uint64_t refused;
	uint64_t messages;
	uint64_t bytes;
};

/* Reserve bytes within the memory limit of all clients; false if it would be exceeded. */
bool server_reserve(struct server *server, uint64_t bytes);
void server_unreserve(struct server *server, uint64_t bytes);

/* Release all resources of a client. */
void client_end(struct client *client);

#endif /* KRDMA_CLI_PEER_SERVER_H */
