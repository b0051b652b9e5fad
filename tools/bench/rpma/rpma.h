/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A program of librpma's: what it can of the same work.  It is the only thing here that
 * links it, is built only where it is installed, and nothing needs it.
 *
 * It has no fetch-add, no chain of requests, no data that stand in a request, and no
 * completion queue that connections share.  Messages, which it has, are not measured.
 */
#ifndef _KRDMA_BENCH_RPMA_H
#define _KRDMA_BENCH_RPMA_H

#include <librpma.h>

#include "../peer/peer.h"

#define RPMA_TIMEOUT_MS	30000
/* Both ways, as the other programs register theirs. */
#define RPMA_USAGE	(RPMA_MR_USAGE_READ_SRC | RPMA_MR_USAGE_READ_DST | \
			 RPMA_MR_USAGE_WRITE_SRC | RPMA_MR_USAGE_WRITE_DST)

/* Where both ends are, as librpma wants to have it told. */
struct rpma_where {
	char host[INET_ADDRSTRLEN];
	char port[8];
};

/**
 * struct rpma_end - one end of a connection
 * @conn: the connection
 * @own: PEER_OWN: its own memory
 * @data: PEER_OWN: what is registered
 * @cq: the client's: its completions
 * @remote: the client's: where it may write and read
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
struct rpma_where rpma_where(const struct sockaddr_in *address);
struct rpma_peer *rpma_device(const struct rpma_where *where,
			      enum rpma_util_ibv_context_type type);
struct rpma_conn_cfg *rpma_config(void);
struct rpma_mr_local *rpma_memory(struct rpma_peer *rpma, size_t length, void **data);
void rpma_expect(struct rpma_conn *conn, enum rpma_conn_event expected);
/* After the connection has closed. */
void rpma_unmake(struct rpma_end *end);

#endif /* _KRDMA_BENCH_RPMA_H */
