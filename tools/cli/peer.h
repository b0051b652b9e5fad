/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The side that asks: from the name of a host to a connection.
 *
 * Functions that return an int return 0 or a negative errno, and have said on standard
 * error what failed, why, and what to do; but of -EINTR, which is that the end is
 * wanted, they say nothing.
 */
#ifndef KRDMA_CLI_PEER_H
#define KRDMA_CLI_PEER_H

#include <netdb.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "krdma.h"

/* "[ADDRESS%INTERFACE]:PORT" */
#define PEER_TEXT (NI_MAXHOST + 16)

struct peer_options {
	/* As the person has written them; @source may be NULL. */
	const char *host;
	const char *source;
	/* AF_UNSPEC, AF_INET or AF_INET6. */
	int family;
	uint16_t port;
	/* How long to wait for each step of connecting. */
	uint64_t timeout;
	bool polled;
	uint32_t send_depth;
	uint32_t recv_depth;
	/* Private data go as they are, for peers that are not krdma. */
	bool plain;
	/* What starts the other side, for a person who has forgotten to. */
	const char *listener;
};

struct peer {
	const struct peer_options *options;
	struct krdma *session;
	struct krdma_ring *ring;
	struct krdma_conn *conn;
	struct sockaddr_storage source;
	struct sockaddr_storage remote;
	/* The peer's address without its port; and as people know it: "HOST (ADDRESS)". */
	char address[PEER_TEXT];
	char name[2 * PEER_TEXT];
	uint32_t device_id;
	char device[KRDMA_NAME_MAX + 1];
};

/*
 * The first of the host's addresses to which there is a way, and a connection that is
 * prepared: receives can be posted.  @peer is to be closed, whatever the result.
 */
int peer_open(struct peer *peer, const struct peer_options *options);

/* Give the peer these private data, and wait until it is connected. */
int peer_connect(struct peer *peer, const void *data, size_t length);

/*
 * What the peer has answered to a hello, with memory of at least @length bytes in it if
 * @remote is not NULL.
 */
int peer_answer(struct peer *peer, uint64_t length, struct krdma_remote_mr *remote);

/* End the connection and, with peer_begin(), prepare another one to the same address. */
void peer_end(struct peer *peer);
int peer_begin(struct peer *peer);

/* New memory on the peer's device. */
int peer_memory(struct peer *peer, size_t length, uint32_t access,
		struct krdma_mr **mr);

/* Say why a connection that was there has ended. */
void peer_explain_end(struct peer *peer);

/* All but memory, which is released before. */
void peer_close(struct peer *peer);

/* For both sides: complaints about memory, and addresses as text and from text. */
void explain_memory(struct krdma *session, size_t length, int err);
void address_text(const struct sockaddr_storage *address, bool with_port, char text[PEER_TEXT]);
int address_parse(const char *word, int family, struct sockaddr_storage *address);
void address_set_port(struct sockaddr_storage *address, uint16_t port);

#endif /* KRDMA_CLI_PEER_H */
