/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The side that listens: what its two files share.
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
	/* One, or one for each kind of address. */
	struct krdma_listener *listeners[2];
	unsigned int listener_count;
	char address[PEER_TEXT];
	/* Protects what follows, and what threads print. */
	pthread_mutex_t lock;
	/* Each time a client has ended. */
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

/* Out of what all clients together may have. */
bool server_reserve(struct server *server, uint64_t bytes);
void server_unreserve(struct server *server, uint64_t bytes);

/* Give back all that a client has. */
void client_end(struct client *client);

#endif /* KRDMA_CLI_PEER_SERVER_H */
