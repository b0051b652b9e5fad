/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A peer of one of libkrdma's hubs that sends arbitrary frames: tests build them by hand, as
 * tools/lib/hub_wire.c describes them.  Calls return 0 or a negative errno.
 */
#ifndef KRDMA_E2E_LIB_HUB_PEER_H
#define KRDMA_E2E_LIB_HUB_PEER_H

#include <sys/socket.h>

#include <hub_wire.h>
#include <krdma.h>
#include <krdma_hub.h>
#include <secret.h>

/* What a peer announces: the hubs of the tests have the same. */
#define HUB_PEER_DEPTH		8
#define HUB_PEER_EAGER		1024
#define HUB_PEER_LONGEST	1048576u

/* Receives that a peer can have, and bytes of each frame. */
#define HUB_PEER_RECEIVES	32
#define HUB_PEER_ROOM		2048

/**
 * struct hub_peer - one end of a connection to a hub
 * @session, @device: the session, and the connection's device
 * @conn, @ring: of this connection
 * @mr: a frame to send, then those of the receives; kept for the next connection
 * @early: completions that arrived during a wait for another
 * @early_count, @early_taken: number of them, and of those that were looked at
 */
struct hub_peer {
	struct krdma *session;
	uint32_t device;
	struct krdma_conn *conn;
	struct krdma_ring *ring;
	struct krdma_mr *mr;
	struct krdma_cqe early[HUB_PEER_RECEIVES];
	unsigned int early_count;
	unsigned int early_taken;
};

/* The private data of a hub with the values above.  Returns their length. */
size_t hub_peer_greeting(unsigned char wire[HUB_GREETING_MAX]);

/* The same of a hub with a secret. */
size_t hub_peer_greeting_with_secret(unsigned char wire[HUB_GREETING_MAX]);

/* An address as a hub takes it. */
#define HUB_PEER_TO		64

/* Listen where the hubs of the tests can connect; @to receives the address. */
int hub_peer_listen(struct krdma *session, struct krdma_listener **listener,
		    char to[HUB_PEER_TO]);

/* Give a name two addresses. */
int hub_peer_name(const char *name, const char *first, const char *second);

/* Open the session; close everything. */
int hub_peer_open(struct hub_peer *peer);
void hub_peer_close(struct hub_peer *peer);

/*
 * Connect to @address, or accept @conn, which the peer owns then, with this private data and
 * number of receives; wait until the connection is established.
 */
int hub_peer_connect(struct hub_peer *peer, const struct sockaddr *address, const void *data,
		     size_t length, unsigned int receives);
int hub_peer_accept(struct hub_peer *peer, struct krdma_conn *conn, const void *data,
		    size_t length, unsigned int receives);
/*
 * Have @hub, which is used by nobody else, connect to a program that listens only for it: take the
 * request there; or accept it as a peer with this number of receives, and take the record JOINED.
 */
int hub_peer_ask(struct krdma_hub *hub, struct krdma *session, struct krdma_ep **ep,
		 struct krdma_conn **conn);
int hub_peer_meet(struct krdma_hub *hub, struct hub_peer *peer, unsigned int receives,
		  struct krdma_ep **ep);
/* Close the connection. */
void hub_peer_leave(struct hub_peer *peer);

/* Post the receive with this number, which is the wr_id. */
int hub_peer_receive(struct hub_peer *peer, unsigned int number);

/* Post a work request with the wr_id HUB_PEER_RECEIVES, and wait for it. */
int hub_peer_operate(struct hub_peer *peer, struct krdma_sqe entry, uint64_t deadline);
/* The same for a frame of @length bytes with its header. */
int hub_peer_send_raw(struct hub_peer *peer, const void *wire, size_t length, uint64_t deadline);
/* The same for a frame and @length bytes that follow its header. */
int hub_peer_send(struct hub_peer *peer, const struct hub_frame *frame, const void *data,
		  size_t length, uint64_t deadline);

/* Send a message in place of one that was taken; what the hub says about room is dropped. */
int hub_peer_refill(struct hub_peer *peer);

/* The label of the proofs of hubs. */
#define HUB_PEER_LABEL		"krdma-hub-1"

/**
 * struct hub_peer_nonces - the nonces of one connection
 * @server, @client: those of both sides
 */
struct hub_peer_nonces {
	unsigned char server[SECRET_NONCE];
	unsigned char client[SECRET_NONCE];
};

/* Send HUB_CHALLENGE or HUB_PROOF with these bytes. */
int hub_peer_tell(struct hub_peer *peer, uint8_t kind, const unsigned char bytes[HUB_PROOF_SIZE]);
/*
 * Receive such a frame.  Returns -EPROTO for another frame, and for HUB_BYE its error or
 * -EPIPE.
 */
int hub_peer_hear(struct hub_peer *peer, uint8_t kind, unsigned char bytes[HUB_PROOF_SIZE]);
/* Prove the secret as a client or as a server, and check the proof of the hub: -EKEYREJECTED. */
int hub_peer_prove(struct hub_peer *peer, const struct secret *secret, bool is_server,
		   struct hub_peer_nonces *nonces);

/*
 * Take the next frame that has arrived, whose data are valid until its receive is posted again;
 * @number is the receive.
 */
int hub_peer_next(struct hub_peer *peer, uint64_t deadline, struct hub_frame *frame,
		  unsigned int *number);

#endif
