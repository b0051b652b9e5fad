/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A program for librpma: the part of the same work that librpma can do.  Only this program links
 * librpma.  It is built only where librpma is installed, and nothing depends on it.
 *
 * librpma has no fetch-add, no list of work requests, no inline data, and no CQ that connections
 * share.  It has messages, but they are not measured.
 */
#ifndef _KRDMA_BENCH_RPMA_H
#define _KRDMA_BENCH_RPMA_H

#include <librpma.h>

#include "../peer/peer.h"

#define RPMA_TIMEOUT_MS	30000
/* For both directions, as the other programs register their memory. */
#define RPMA_USAGE	(RPMA_MR_USAGE_READ_SRC | RPMA_MR_USAGE_READ_DST | \
			 RPMA_MR_USAGE_WRITE_SRC | RPMA_MR_USAGE_WRITE_DST)

/* The address of both ends, in the form that librpma needs. */
struct rpma_where {
	char host[INET_ADDRSTRLEN];
	char port[8];
};

/**
 * struct rpma_end - one end of a connection
 * @conn: the connection
 * @own: PEER_OWN: its own MR
 * @data: PEER_OWN: the memory of @own
 * @cq: client only: its CQ
 * @remote: client only: the peer's memory
 */
struct rpma_end {
	struct rpma_conn *conn;
	struct rpma_mr_local *own;
	void *data;
	struct rpma_cq *cq;
	struct rpma_mr_remote *remote;
};

/* rpma.c: for both ends. */
void rpma_check(const char *what, int err);
struct rpma_where rpma_locate(const struct sockaddr_in *address);
struct rpma_peer *rpma_device(const struct rpma_where *where,
			      enum rpma_util_ibv_context_type type);
struct rpma_conn_cfg *rpma_config(void);
struct rpma_mr_local *rpma_memory(struct rpma_peer *rpma, size_t length, void **data);
void rpma_expect(struct rpma_conn *conn, enum rpma_conn_event expected);
/* After the connection has closed. */
void rpma_unmake(struct rpma_end *end);

#endif /* _KRDMA_BENCH_RPMA_H */
