/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A program for libibverbs and librdmacm, written as well as possible: krdma is compared with it.
 * Only this program links these libraries, and nothing depends on it.
 */
#ifndef _KRDMA_BENCH_VERBS_H
#define _KRDMA_BENCH_VERBS_H

#include <rdma/rdma_cma.h>

#include "../peer/peer.h"

#define VERBS_READS	16
#define VERBS_RESOLVE_MS 30000
#define VERBS_ACCESS	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | \
			 IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)
/* The inline data of an 8-byte message fits in the place of an SGE. */
#define VERBS_INLINE	16

/* The server's description of its memory. */
struct verbs_offer {
	uint64_t addr;
	uint32_t key;
	uint32_t reserved;
};

/**
 * struct verbs_group - objects that PEER_SHARE connections share
 * @users: number of these connections
 * @cq: their CQ
 */
struct verbs_group {
	unsigned int users;
	struct ibv_cq *cq;
};

/**
 * struct verbs_end - one end of a connection
 * @id: id of the connection manager, with the QP
 * @cq: PEER_OWN: its own CQ
 * @own: PEER_OWN: its own MR
 * @data: PEER_OWN: the memory of @own
 * @group: PEER_SHARED: its group
 * @remote: the peer's memory, for writes and reads
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

/* @cq and @srq: for PEER_ONE and PEER_SHARED; with both NULL it gets its own. */
void verbs_make(struct verbs_end *end, struct ibv_pd *pd, struct ibv_cq *cq, struct ibv_srq *srq);
void verbs_unmake(struct verbs_end *end);
struct ibv_cq *verbs_cq(struct ibv_context *verbs, unsigned int entries,
			struct ibv_comp_channel *channel);
struct ibv_srq *verbs_srq(struct ibv_pd *pd);
struct rdma_conn_param verbs_param(const void *data, size_t length);
void verbs_receive(struct ibv_qp *qp, const struct ibv_mr *mr, void *data);

#endif /* _KRDMA_BENCH_VERBS_H */
