/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Declarations shared by both ends of the example for the thin layer. */
#ifndef EXAMPLE_THIN_H
#define EXAMPLE_THIN_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <krdma.h>

#define PORT		7472
#define BUFFER_SIZE	(1024 * 1024)
#define PATIENCE_MS	30000

/* The size of the message in which a client reports its result. */
#define MESSAGE_SIZE	64

static inline void check(const char *what, int err)
{
	if (!err)
		return;
	fprintf(stderr, "%s: %s (%s)\n", what, strerror(-err), krdma_error_name(err));
	exit(1);
}

/* Waits for one completion of the ring and exits unless it is a success. */
static inline struct krdma_cqe complete(struct krdma_ring *ring)
{
	struct krdma_cqe cqe;
	size_t taken;

	check("no completion",
	      krdma_ring_wait(ring, &cqe, 1, 1, krdma_deadline(PATIENCE_MS), &taken));
	if (cqe.status == KRDMA_WC_SUCCESS)
		return cqe;
	fprintf(stderr, "%s: %s\n", krdma_opcode_name(cqe.opcode),
		krdma_wc_status_name(cqe.status));
	exit(1);
}

#endif
