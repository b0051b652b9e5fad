// SPDX-License-Identifier: GPL-2.0
/* Objects of an end of a connection. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "verbs.h"

const char *const peer_name = "verbs";

struct ibv_cq *verbs_cq(struct ibv_context *verbs, unsigned int entries,
			struct ibv_comp_channel *channel)
{
	struct ibv_cq *cq = ibv_create_cq(verbs, (int)entries, NULL, channel, 0);

	if (!cq)
		peer_fail("completion queue", errno);
	return cq;
}

struct ibv_srq *verbs_srq(struct ibv_pd *pd)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = PEER_SHARED_RECEIVES,
						    .max_sge = 1 } };
	struct ibv_srq *srq = ibv_create_srq(pd, &attr);

	if (!srq)
		peer_fail("shared receive queue", errno);
	return srq;
}

void verbs_make(struct verbs_end *end, struct ibv_pd *pd, struct ibv_cq *cq, struct ibv_srq *srq)
{
	struct ibv_qp_init_attr attr = {
		.srq = srq,
		.cap = { PEER_DEPTH, srq ? 0 : PEER_DEPTH, 1, srq ? 0 : 1, VERBS_INLINE },
		.qp_type = IBV_QPT_RC,
	};

	if (!cq) {
		cq = verbs_cq(end->id->verbs, PEER_COMPLETIONS, NULL);
		end->cq = cq;
		if (posix_memalign(&end->data, PEER_OWN_MEMORY, PEER_OWN_MEMORY))
			peer_fail("memory", ENOMEM);
		memset(end->data, 0, PEER_OWN_MEMORY);
		end->own = ibv_reg_mr(pd, end->data, PEER_OWN_MEMORY, VERBS_ACCESS);
		if (!end->own)
			peer_fail("memory", errno);
	}
	attr.send_cq = cq;
	attr.recv_cq = cq;
	if (rdma_create_qp(end->id, pd, &attr))
		peer_fail("queue pair", errno);
}

void verbs_unmake(struct verbs_end *end)
{
	rdma_destroy_qp(end->id);
	if (end->cq)
		ibv_destroy_cq(end->cq);
	if (end->own)
		ibv_dereg_mr(end->own);
	free(end->data);
	rdma_destroy_id(end->id);
	memset(end, 0, sizeof(*end));
}

struct rdma_conn_param verbs_param(const void *data, size_t length)
{
	return (struct rdma_conn_param){
		.private_data = data, .private_data_len = (uint8_t)length,
		.responder_resources = VERBS_READS, .initiator_depth = VERBS_READS,
		.retry_count = 6, .rnr_retry_count = 7,
	};
}

void verbs_receive(struct ibv_qp *qp, const struct ibv_mr *mr, void *data)
{
	struct ibv_sge sge = { (uintptr_t)data, sizeof(uint64_t), mr->lkey };
	struct ibv_recv_wr request = { .wr_id = (uintptr_t)data, .sg_list = &sge, .num_sge = 1 };
	struct ibv_recv_wr *bad;
	int err = ibv_post_recv(qp, &request, &bad);

	if (err)
		peer_fail("receive", err);
}
