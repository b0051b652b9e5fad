/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A program of libkrdma's thin layer, written as well as one can.
 */
#ifndef _KRDMA_BENCH_THIN_H
#define _KRDMA_BENCH_THIN_H

#include <krdma.h>
#include <krdma_entry.h>

#include "../peer/peer.h"

#define THIN_ACCESS	(KRDMA_ACCESS_LOCAL_WRITE | KRDMA_ACCESS_REMOTE_READ | \
			 KRDMA_ACCESS_REMOTE_WRITE | KRDMA_ACCESS_REMOTE_ATOMIC)
/* What the other program's requests have room for. */
#define THIN_INLINE	16
#define THIN_PATIENCE_MS 60000

/**
 * struct thin_group - what PEER_SHARE connections share
 * @users: connections that do
 * @ring: where their operations are asked for and end
 */
struct thin_group {
	unsigned int users;
	struct krdma_ring *ring;
};

/**
 * struct thin_end - one end of a connection
 * @conn: the connection
 * @ring: PEER_OWN: its own
 * @own: PEER_OWN: its own memory
 * @data: PEER_OWN: what is registered
 * @group: PEER_SHARED: with whom it shares
 * @remote: where it may write and read
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

/* @ring: PEER_ONE and PEER_SHARED; NULL: it gets its own. */
void thin_make(struct krdma *session, uint32_t device, struct thin_end *end,
	       struct krdma_ring *ring, struct krdma_srq *srq);
void thin_unmake(struct thin_end *end);
/* Entries with PEER_ONE's receives. */
void thin_receives(const struct thin_end *end, const struct krdma_mr *mr,
		   struct krdma_ring *ring);

#endif /* _KRDMA_BENCH_THIN_H */
