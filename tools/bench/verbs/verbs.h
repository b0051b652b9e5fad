/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A program of libibverbs and librdmacm, written as well as one can: what krdma is
 * measured by.  It is the only thing here that links them, and nothing needs it.
 */
#ifndef _KRDMA_BENCH_VERBS_H
#define _KRDMA_BENCH_VERBS_H

#include <rdma/rdma_cma.h>

#include "../peer/peer.h"

#define VERBS_READS	16
#define VERBS_RESOLVE_MS 30000
#define VERBS_ACCESS	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | \
			 IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)
/* An 8-byte message fits where a request's piece of memory stands anyway. */
#define VERBS_INLINE	16

/* What the server says of its memory. */
struct verbs_offer {
	uint64_t addr;
	uint32_t key;
	uint32_t reserved;
};

/**
 * struct verbs_group - what PEER_SHARE connections share
 * @users: connections that do
 * @cq: their completions
 */
struct verbs_group {
	unsigned int users;
	struct ibv_cq *cq;
};

/**
 * struct verbs_end - one end of a connection
 * @id: of the connection manager's, which has the queue pair
 * @cq: PEER_OWN: its own
 * @own: PEER_OWN: its own memory
 * @data: PEER_OWN: what is registered
 * @group: PEER_SHARED: with whom it shares
 * @remote: where it may write and read
 */
struct verbs_end {
	struct rdma_cm_id *id;
	struct ibv_cq *cq;
	struct ibv_mr *own;
	void *data;
	struct verbs_group *group;
	struct verbs_offer remote;
};

/* verbs.c: for both ends. */

/* @cq and @srq: PEER_ONE and PEER_SHARED; both NULL: it gets its own. */
void verbs_make(struct verbs_end *end, struct ibv_pd *pd, struct ibv_cq *cq, struct ibv_srq *srq);
void verbs_unmake(struct verbs_end *end);
struct ibv_cq *verbs_cq(struct ibv_context *verbs, unsigned int entries,
			struct ibv_comp_channel *channel);
struct ibv_srq *verbs_srq(struct ibv_pd *pd);
struct rdma_conn_param verbs_param(const void *data, size_t length);
void verbs_receive(struct ibv_qp *qp, const struct ibv_mr *mr, void *data);

#endif /* _KRDMA_BENCH_VERBS_H */
