/* SPDX-License-Identifier: GPL-2.0 */
/*
 * krdma's side of a connection with a librpma program, with private data in both directions as
 * librpma's own examples exchange them.
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

/* Get the next connection, by listening or by resolving; its QP is not yet created. */
struct krdma_conn *side_rpma_next(struct side_rpma *all);

/*
 * Connect.  Sends a descriptor of @mr with @usage and the offset of its data, and stores the
 * descriptor of the other side's memory in @theirs.
 */
void side_rpma_connect(struct side_rpma *all, struct krdma_conn *conn,
		       struct krdma_mr *mr, uint32_t offset, uint32_t usage,
		       struct krdma_rpma_example *theirs);

#endif
