/* SPDX-License-Identifier: GPL-2.0 */
/*
 * krdma's side of a connection with a program of librpma's: private data in both directions
 * as librpma's own examples have them.
 */
#ifndef INTEROP_SIDE_RPMA_H
#define INTEROP_SIDE_RPMA_H

#include <stdbool.h>

#include <krdma_rpma.h>

#include "side.h"

/* argv: PROGRAM listen|connect HOST PORT */
struct side_rpma {
	struct side side;
	bool listens;
	const char *host;
	const char *port;
};

void side_rpma_open(struct side_rpma *all, int argc, char **argv);

/* The next connection, whoever asks for it; not yet prepared. */
struct krdma_conn *side_rpma_next(struct side_rpma *all);

/*
 * Tell of @mr from @offset on, and that it is for @usage; and hear what the other side
 * tells of its own.  Then it is connected.
 */
void side_rpma_connect(struct side_rpma *all, struct krdma_conn *conn,
		       struct krdma_mr *mr, uint32_t offset, uint32_t usage,
		       struct krdma_rpma_example *theirs);

#endif
