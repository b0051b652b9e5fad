// SPDX-License-Identifier: GPL-2.0
/*
 * Common parts of the programs at krdma's side.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "side.h"

const struct krdma_conn_param_args side_plain = {
	.size = sizeof(side_plain), .flags = KRDMA_CONN_PARAM_PLAIN,
};

void side_usage(const char *usage)
{
	fprintf(stderr, "usage: %s\n", usage);
	exit(2);
}

void side_check(const char *what, int err)
{
	if (!err)
		return;
	printf("%s: %s (%s)\n", what, strerror(-err), krdma_error_name(err));
	exit(1);
}

void side_open(struct side *side, uint32_t completions)
{
	const struct krdma_ring_create_args options = {
		.size = sizeof(options), .cq_entries = completions,
	};

	memset(side, 0, sizeof(*side));
	/* Scripts wait for lines of the output, also when it is a file. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	side_check("session", krdma_open(&side->session));
	side_check("queue", krdma_ring_create(side->session, &options, &side->ring));
}

void side_close(struct side *side)
{
	krdma_listener_close(side->listener);
	krdma_ring_close(side->ring);
	krdma_close(side->session);
}

static struct sockaddr_in side_address(const char *host, const char *port)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port)),
	};

	if (inet_pton(AF_INET, host, &address.sin_addr) != 1)
		side_usage("... an IPv4 address and a port");
	return address;
}

void side_listen(struct side *side, const char *host, const char *port)
{
	struct sockaddr_in address = side_address(host, port);

	side_check("listen", krdma_listen(side->session, (struct sockaddr *)&address, 0, 0,
					  &side->listener));
	printf("listening at %s:%s\n", host, port);
}

struct krdma_conn *side_next(struct side *side)
{
	struct krdma_conn *conn;

	side_check("next", krdma_listener_next(side->listener, krdma_deadline(PATIENCE_MS),
					       &conn));
	return conn;
}

struct krdma_conn *side_resolve(struct krdma *session, const char *host, const char *port)
{
	/* About one second for an acknowledgment, because the machines may be busy. */
	const struct krdma_conn_resolve_args options = { .size = sizeof(options),
							 .ack_timeout = 18 };
	struct sockaddr_in address = side_address(host, port);
	struct krdma_conn *conn;

	side_check("connection", krdma_conn_create(session, &conn));
	side_check("resolve", krdma_conn_resolve(conn, (struct sockaddr *)&address, &options));
	side_check("resolve", krdma_conn_wait(conn, krdma_deadline(PATIENCE_MS), NULL));
	return conn;
}

struct krdma_mr *side_memory(struct krdma *session, struct krdma_conn *conn, size_t length,
			     uint32_t access)
{
	struct krdma_conn_query_args query;
	struct krdma_mr *mr;

	side_check("query", krdma_conn_query(conn, &query, sizeof(query)));
	side_check("memory", krdma_mr_alloc(session, query.device_id, length, access,
					    &mr));
	return mr;
}

void side_prepare(struct side *side, struct krdma_conn *conn, uint32_t sends, uint32_t receives)
{
	const struct krdma_conn_create_qp_args depths = {
		.size = sizeof(depths), .send_depth = sends, .recv_depth = receives,
	};

	side_check("create QP", krdma_conn_create_qp(conn, side->ring, NULL, NULL, &depths));
}

void side_accept(struct krdma_conn *conn)
{
	side_check("accept", krdma_conn_accept(conn, &side_plain, NULL, 0));
}

void side_connect(struct krdma_conn *conn)
{
	side_check("connect", krdma_conn_connect(conn, &side_plain, NULL, 0));
}

void side_connected(struct krdma_conn *conn)
{
	side_check("connected", krdma_conn_wait(conn, krdma_deadline(PATIENCE_MS), NULL));
}

void side_post(struct krdma_ring *ring, struct krdma_sqe entry)
{
	side_check(krdma_opcode_name(entry.opcode), krdma_ring_post(ring, &entry, 1, NULL));
}

struct krdma_cqe side_take(struct krdma_ring *ring)
{
	struct krdma_cqe cqe;
	size_t taken;

	side_check("completion",
		   krdma_ring_wait(ring, &cqe, 1, 1, krdma_deadline(PATIENCE_MS), &taken));
	return cqe;
}

static void side_check_status(const struct krdma_cqe *cqe)
{
	if (!cqe->status)
		return;
	printf("%s: %s\n", krdma_opcode_name(cqe->opcode), krdma_wc_status_name(cqe->status));
	exit(1);
}

struct krdma_cqe side_done(struct krdma_ring *ring)
{
	struct krdma_cqe cqe = side_take(ring);

	side_check_status(&cqe);
	return cqe;
}

struct krdma_cqe side_done_or_left(struct krdma_ring *ring)
{
	struct krdma_cqe cqe = side_take(ring);

	if (cqe.opcode != KRDMA_OP_SEND || cqe.status != KRDMA_WC_WR_FLUSH_ERR)
		side_check_status(&cqe);
	return cqe;
}

const char *side_ended(struct krdma_conn *conn)
{
	side_check("end", krdma_conn_await_closed(conn, krdma_deadline(2 * PATIENCE_MS)));
	return krdma_error_name(krdma_conn_wait(conn, 0, NULL));
}
