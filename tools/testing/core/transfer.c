// SPDX-License-Identifier: GPL-2.0
/* Two connected ends, each with memory that the other may access. */
#include "transfer.h"

void transfer_end(struct transfer *transfer)
{
	struct core_test *test = transfer->test;

	core_pair_close(transfer->pair);
	core_buffer_free(test, &transfer->from);
	core_buffer_free(test, &transfer->to);
}

/* The MRs outlive the sessions' references: an MR holds its session. */
bool transfer_begin(struct transfer *transfer, struct core_test *test,
		    const struct krdma_conn_attr *attr, size_t size)
{
	struct core_pair *pair = core_pair_alloc(test);
	struct krdma_cq *cq;

	*transfer = (struct transfer) { .test = test, .pair = pair };
	if (!pair)
		return false;
	cq = pair->cq;
	if (attr) {
		pair->client_attr = *attr;
		pair->client_attr.where = test->where;
		pair->client_attr.cq = cq;
	}
	pair->server_attr.max_recv_sge = min(2U, test->attr.limits.max_recv_sge);
	if (core_buffer_make(test, &transfer->from, pair->client_session, size,
			     CORE_ACCESS_ALL(test)) &&
	    core_buffer_make(test, &transfer->to, pair->server_session, size,
			     CORE_ACCESS_ALL(test)) &&
	    core_pair_listen(pair, 0) && core_pair_resolve(pair) && core_pair_connect(pair))
		return true;
	transfer_end(transfer);
	return false;
}

int transfer_post(struct transfer *transfer, const struct krdma_send_wr *wr)
{
	return krdma_conn_post_send(transfer->pair->client.conn, wr, 1);
}
