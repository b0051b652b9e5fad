/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Common parts of the librpma programs.  They know nothing of krdma.  After an error they print a
 * line and end with status 1.
 */
#ifndef INTEROP_RPMA_FAR_H
#define INTEROP_RPMA_FAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <librpma.h>

/* Private data as librpma's own examples exchange them. */
struct rpma_told {
	uint16_t data_offset;
	uint8_t memory_size;
	uint8_t peer_size;
	unsigned char descriptors[24];
};

struct rpma_far {
	const char *host;
	const char *port;
	struct rpma_peer *peer;
	/* NULL if the program connects. */
	struct rpma_ep *endpoint;
	struct rpma_conn_cfg *config;
};

/* The private data of a connection's other side, decoded. */
struct rpma_theirs {
	struct rpma_mr_remote *mr;
	size_t data_offset;
	bool direct_write;
};

void rpma_check(const char *what, int err);

/* argv: PROGRAM listen|connect HOST PORT */
void rpma_far_open(struct rpma_far *far, int argc, char **argv);
void rpma_far_close(struct rpma_far *far);

void rpma_tell(struct rpma_told *told, uint16_t data_offset, struct rpma_mr_local *mr,
	       bool direct_write);

/*
 * Establish the next connection, by listening or by connecting, with one receive posted for
 * @message, unless that is NULL.
 */
struct rpma_conn *rpma_far_next(struct rpma_far *far, struct rpma_mr_local *message,
				const struct rpma_told *told, struct rpma_theirs *theirs);

/* Wait for the next completion, which must be a success. */
struct ibv_wc rpma_done(struct rpma_cq *cq);
/* rpma_left(): the other side disconnects first.  rpma_leave(): this side does. */
void rpma_left(struct rpma_conn *conn);
void rpma_leave(struct rpma_conn *conn);

#endif
