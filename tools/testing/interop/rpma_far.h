/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the programs of librpma's have in common.  They know nothing of krdma; an error ends
 * them with 1 and a sentence.
 */
#ifndef INTEROP_RPMA_FAR_H
#define INTEROP_RPMA_FAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <librpma.h>

/* What librpma's own examples tell each other by private data. */
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
	/* NULL: it connects. */
	struct rpma_ep *endpoint;
	struct rpma_conn_cfg *config;
};

/* What a connection's other side has told. */
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
 * The next connection, whoever asks for it; with room for one message in @message, unless
 * that is NULL.
 */
struct rpma_conn *rpma_far_next(struct rpma_far *far, struct rpma_mr_local *message,
				const struct rpma_told *told, struct rpma_theirs *theirs);

/* The next completion, which must be a success. */
struct ibv_wc rpma_done(struct rpma_cq *cq);
/* The other side leaves; this one does. */
void rpma_left(struct rpma_conn *conn);
void rpma_leave(struct rpma_conn *conn);

#endif
