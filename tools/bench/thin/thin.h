/* SPDX-License-Identifier: GPL-2.0 */
/* A program for libkrdma's thin layer, written as well as possible. */
#ifndef _KRDMA_BENCH_THIN_H
#define _KRDMA_BENCH_THIN_H

#include <krdma.h>
#include <krdma_entry.h>

#include "../peer/peer.h"

#define THIN_ACCESS	(KRDMA_ACCESS_LOCAL_WRITE | KRDMA_ACCESS_REMOTE_READ | \
			 KRDMA_ACCESS_REMOTE_WRITE | KRDMA_ACCESS_REMOTE_ATOMIC)
/* Inline data of the same size as in the other program. */
#define THIN_INLINE	16
#define THIN_PATIENCE_MS 60000

/**
 * struct thin_group - objects that PEER_SHARE connections share
 * @users: number of these connections
 * @ring: ring of their work requests and completions
 */
struct thin_group {
	unsigned int users;
	struct krdma_ring *ring;
};

/**
 * struct thin_end - one end of a connection
 * @conn: the connection
 * @ring: PEER_OWN: its own ring
 * @own: PEER_OWN: its own MR
 * @data: PEER_OWN: the memory of @own
 * @group: PEER_SHARED: its group
 * @remote: the peer's memory, for writes and reads
 */
struct thin_end {
	struct krdma_conn *conn;
	struct krdma_ring *ring;
	struct krdma_mr *own;
	void *data;
	struct thin_group *group;
	struct krdma_remote_mr remote;
};

/* thin.c: for both ends. */
void thin_check(const char *what, int err);
struct krdma_ring *thin_queue(struct krdma *session, uint32_t device, unsigned int entries,
			      bool event);
struct krdma_srq *thin_srq(struct krdma *session, struct krdma_ring *ring);
struct krdma_mr *thin_memory(struct krdma *session, uint32_t device, void *data,
			     size_t length);
void *thin_pages(size_t length);

/* @ring: for PEER_ONE and PEER_SHARED; with NULL it gets its own. */
void thin_make(struct krdma *session, uint32_t device, struct thin_end *end,
	       struct krdma_ring *ring, struct krdma_srq *srq);
void thin_unmake(struct thin_end *end);
/* Posts the receives of PEER_ONE. */
void thin_receives(const struct thin_end *end, const struct krdma_mr *mr,
		   struct krdma_ring *ring);

#endif /* _KRDMA_BENCH_THIN_H */
