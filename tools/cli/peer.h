/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Client side: from the name of a host to a connection.
 *
 * Functions that return an int return 0 or a negative errno.  Before they return an error they
 * print on standard error what failed, why, and what to do; but nothing for -EINTR, which means
 * that a stop is requested.
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

/* The port at which krdma accepts the trunks of lanes: Documentation/lanes.rst. */
#define LANE_PORT 1019

struct peer_options {
	/* As given on the command line; @source may be NULL. */
	const char *host;
	const char *source;
	/* AF_UNSPEC, AF_INET or AF_INET6. */
	int family;
	uint16_t port;
	/* Timeout of each step of connecting, in ns. */
	uint64_t timeout;
	bool polled;
	/* A lane, if the other side takes lanes. */
	bool lane;
	uint32_t send_depth;
	uint32_t recv_depth;
	/* Connections that the ring holds at a time, with these depths; 0: one. */
	uint32_t connections;
	/* A peer whose session and ring are used, with @connections of all; NULL: new ones. */
	struct peer *beside;
	/* Send private data unchanged, for peers that are not krdma. */
	bool plain;
	/* The command that starts the server, for error messages. */
	const char *listener;
};

struct peer {
	const struct peer_options *options;
	struct krdma *session;
	struct krdma_ring *ring;
	struct krdma_conn *conn;
	struct sockaddr_storage source;
	struct sockaddr_storage remote;
	/* The peer's address without its port, and its name for messages: "HOST (ADDRESS)". */
	char address[PEER_TEXT];
	char name[2 * PEER_TEXT];
	uint32_t device_id;
	char device[KRDMA_NAME_MAX + 1];
	/* Number of the trunk that carries the lane; 0: a plain connection. */
	uint64_t trunk;
	/* &enum krdma_wc_status of the work request that failed first; see peer_failed(). */
	uint32_t status;
};

/*
 * Find the first of the host's addresses with a route, and create the QP, so that receives can be
 * posted.  Call peer_close() whatever the result.
 */
int peer_open(struct peer *peer, const struct peer_options *options);

/* Connect with these private data, and wait until the connection is established. */
int peer_connect(struct peer *peer, const void *data, size_t length);

/*
 * Check the peer's answer to the hello.  If @remote is not NULL, fill it in from the memory
 * descriptor in the answer, which must have at least @length bytes.
 */
int peer_answer(struct peer *peer, uint64_t length, struct krdma_remote_mr *remote);

/* End the connection; with peer_begin(), create the QP of another one to the same address. */
void peer_end(struct peer *peer);
int peer_begin(struct peer *peer);

/* Allocate and register an MR on the device of the connection, for lanes if it is one. */
int peer_memory(struct peer *peer, size_t length, uint32_t access,
		struct krdma_mr **mr);

/* Note the status of a work request that has failed, for peer_explain_end(). */
void peer_failed(struct peer *peer, uint32_t status);

/* Print why an established connection has ended. */
void peer_explain_end(struct peer *peer);

/* Close everything but MRs, which the caller deregisters before. */
void peer_close(struct peer *peer);

/*
 * For both sides: memory for the messages of a lane or a plain connection, its errors, and
 * formatting and parsing of addresses.
 */
int memory_alloc(struct krdma *session, uint32_t device_id, bool lane, size_t length,
		 uint32_t access, struct krdma_mr **mr);
void explain_memory(struct krdma *session, size_t length, int err);
void address_text(const struct sockaddr_storage *address, bool with_port, char text[PEER_TEXT]);
int address_parse(const char *word, int family, struct sockaddr_storage *address);
void address_set_port(struct sockaddr_storage *address, uint16_t port);

#endif /* KRDMA_CLI_PEER_H */
