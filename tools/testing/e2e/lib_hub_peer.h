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

/*
 * Take the next frame that has arrived, whose data are valid until its receive is posted again;
 * @number is the receive.
 */
int hub_peer_next(struct hub_peer *peer, uint64_t deadline, struct hub_frame *frame,
		  unsigned int *number);

#endif
