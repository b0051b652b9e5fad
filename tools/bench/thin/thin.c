// SPDX-License-Identifier: GPL-2.0
/* Objects of an end of a connection. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "thin.h"

const char *const peer_name = "krdma";

void thin_check(const char *what, int err)
{
	if (err)
		peer_fail(what, -err);
}

struct krdma_ring *thin_queue(struct krdma *session, uint32_t device, unsigned int entries,
			      bool event)
{
	struct krdma_ring_create_args create = {
		.size = sizeof(create),
		.flags = event ? 0 : KRDMA_RING_POLLED,
		.device_id = device,
		.sq_entries = PEER_DEPTH,
		.cq_entries = entries,
	};
	struct krdma_ring *ring;

	thin_check("queue", krdma_ring_create(session, &create, &ring));
	return ring;
}

struct krdma_srq *thin_srq(struct krdma *session, struct krdma_ring *ring)
{
	struct krdma_srq_create_args create = {
		.size = sizeof(create), .depth = PEER_SHARED_RECEIVES,
	};
	struct krdma_srq *srq;

	thin_check("shared receive queue", krdma_srq_create(session, ring, &create, &srq));
	return srq;
}

struct krdma_mr *thin_memory(struct krdma *session, uint32_t device, void *data,
			     size_t length)
{
	struct krdma_mr *mr;

	thin_check("memory", krdma_mr_register(session, device, data, length, THIN_ACCESS,
					       &mr));
	return mr;
}

void *thin_pages(size_t length)
{
	void *data;

	if (posix_memalign(&data, 4096, length))
		peer_fail("memory", ENOMEM);
	memset(data, 0, length);
	return data;
}

void thin_make(struct krdma *session, uint32_t device, struct thin_end *end,
	       struct krdma_ring *ring, struct krdma_srq *srq)
{
	struct krdma_conn_create_qp_args args = {
		.size = sizeof(args),
		.send_depth = PEER_DEPTH,
		.recv_depth = srq ? 0 : PEER_DEPTH,
		.max_send_sge = 1,
		.max_inline = THIN_INLINE,
	};

	if (!ring) {
		ring = thin_queue(session, device, PEER_COMPLETIONS + KRDMA_RING_EXTRA, false);
		end->ring = ring;
		end->data = thin_pages(PEER_OWN_MEMORY);
		end->own = thin_memory(session, device, end->data, PEER_OWN_MEMORY);
	}
	thin_check("create QP", krdma_conn_create_qp(end->conn, ring, NULL, srq, &args));
}

void thin_unmake(struct thin_end *end)
{
	krdma_conn_close(end->conn);
	krdma_ring_close(end->ring);
	thin_check("release", krdma_mr_deregister(end->own, 0));
	free(end->data);
	memset(end, 0, sizeof(*end));
}

void thin_receives(const struct thin_end *end, const struct krdma_mr *mr,
		   struct krdma_ring *ring)
{
	struct krdma_sqe entries[PEER_RECEIVES];
	unsigned int i;

	for (i = 0; i < PEER_RECEIVES; i++)
		entries[i] = krdma_entry_recv(end->conn, i, mr, i * sizeof(uint64_t),
					      sizeof(uint64_t));
	thin_check("receives", krdma_ring_post(ring, entries, PEER_RECEIVES, NULL));
}
