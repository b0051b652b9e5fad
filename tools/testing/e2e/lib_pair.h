/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Two connections of libkrdma, connected to each other within one process.  Calls return 0 or a
 * negative errno.
 */
#ifndef KRDMA_E2E_LIB_PAIR_H
#define KRDMA_E2E_LIB_PAIR_H

#include <krdma.h>

#include "pair.h"

#define LIB_ADDRESS	BOOT_ADDRESS
#define LIB_PATIENCE	krdma_deadline(PATIENCE_MS)

/* Private data of the request and of the reply. */
#define LIB_QUESTION	"may I come in?"
#define LIB_ANSWER	"yes"

/**
 * struct lib_pair - both ends of a connection
 * @session: session of both ends
 * @device: ID of the device
 * @listener: listener on a free port
 * @a, @b: the end that connects and the end that accepts
 * @rings: rings of A and of B
 * @srq: SRQ from which B takes receives, or NULL
 */
struct lib_pair {
	struct krdma *session;
	uint32_t device;
	struct krdma_listener *listener;
	struct krdma_conn *a;
	struct krdma_conn *b;
	struct krdma_ring *rings[2];
	struct krdma_srq *srq;
};

/*
 * open: in a new session, which lib_pair_close() leaves open because it may still have MRs.
 * open_with: in @session, with new rings.  connect: with the session and the rings of @pair, which
 * the caller has set.  If any of them fails, call lib_pair_close().
 */
int lib_pair_open(struct lib_pair *pair, const char *address, uint32_t ring_flags);
int lib_pair_open_with(struct lib_pair *pair, struct krdma *session, const char *address,
		       const struct krdma_ring_create_args *options);
int lib_pair_connect(struct lib_pair *pair, const char *address);
void lib_pair_close(struct lib_pair *pair);

/* All access rights that the device has. */
uint32_t lib_pair_access(const struct lib_pair *pair);

/* For connections that a test resolves itself: the ACK timeout of these connections. */
extern const struct krdma_conn_resolve_args lib_patient;

/* Returns the address at which the ring is mapped. */
void *lib_queue_ring(const struct krdma_ring *ring);

/* Create another connection, and request it from the pair's listener. */
int lib_pair_ask(struct lib_pair *pair, struct krdma_ring *ring, struct krdma_conn **conn);

#endif
