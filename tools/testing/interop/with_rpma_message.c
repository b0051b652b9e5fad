// SPDX-License-Identifier: GPL-2.0
/*
 * krdma's side of rpma_message: two connections, with an SRQ at this side too.
 *
 *	with_rpma_message listen|connect HOST PORT
 */
#include <stdio.h>

#include "pattern.h"
#include "rpma.h"
#include "side_rpma.h"

/* Offsets: received messages, written messages of each connection, the message to send. */
#define COME_AT(slot)	((slot) * (size_t)MESSAGE_SIZE)
#define WRITTEN_TO(c)	((CONNECTIONS * MESSAGES + (c)) * (size_t)MESSAGE_SIZE)
#define GO_AT		((CONNECTIONS * MESSAGES + CONNECTIONS) * (size_t)MESSAGE_SIZE)
#define SIZE		(GO_AT + MESSAGE_SIZE)
#define USAGE		(KRDMA_RPMA_WRITE_SOURCE | KRDMA_RPMA_WRITE_DESTINATION | \
			 KRDMA_RPMA_SEND | KRDMA_RPMA_RECV)

struct messages {
	struct side_rpma rpma;
	/* Receives complete here. */
	struct krdma_ring *come;
	struct krdma_srq *srq;
	struct krdma_mr *mr;
	char *data;
	struct krdma_conn *conns[CONNECTIONS];
	struct krdma_rpma_example theirs[CONNECTIONS];
};

static void share_receives(struct messages *all, struct krdma_conn *conn)
{
	struct krdma_srq_create_args options = {
		.size = sizeof(options), .depth = CONNECTIONS * MESSAGES,
	};
	struct krdma *session = all->rpma.side.session;
	struct krdma_conn_query_args query;
	uint32_t access;

	side_check("rights", krdma_rpma_access(USAGE, KRDMA_TRANSPORT_IB, &access));
	all->mr = side_memory(session, conn, SIZE, access);
	all->data = krdma_mr_data(all->mr);
	pattern_fill(all->data + GO_AT, MESSAGE_SIZE, SEED_OF_KRDMA);
	side_check("query", krdma_conn_query(conn, &query, sizeof(query)));
	options.device_id = query.device_id;
	side_check("queue", krdma_ring_create(session, NULL, &all->come));
	side_check("shared", krdma_srq_create(session, all->come, &options, &all->srq));
	for (size_t slot = 0; slot < CONNECTIONS * MESSAGES; slot++) {
		struct krdma_sqe entry = krdma_entry_srq_recv(all->srq, slot, all->mr,
							      COME_AT(slot), MESSAGE_SIZE);

		side_check("receive", krdma_srq_post(all->srq, &entry, 1, NULL));
	}
}

static void connect_all(struct messages *all)
{
	const struct krdma_conn_create_qp_args depths = {
		.size = sizeof(depths), .send_depth = MESSAGES,
	};

	for (size_t c = 0; c < CONNECTIONS; c++) {
		struct krdma_conn *conn = side_rpma_next(&all->rpma);

		if (!c)
			share_receives(all, conn);
		side_check("create QP", krdma_conn_create_qp(conn, all->rpma.side.ring, NULL,
							     all->srq, &depths));
		side_rpma_connect(&all->rpma, conn, all->mr, (uint32_t)WRITTEN_TO(c), USAGE,
				  &all->theirs[c]);
		all->conns[c] = conn;
	}
}

static void send_to(struct messages *all, size_t c)
{
	struct krdma_ring *ring = all->rpma.side.ring;
	struct krdma_conn *conn = all->conns[c];
	struct krdma_remote_mr remote;

	side_check("their memory", krdma_rpma_remote(&all->theirs[c].mr, &remote));
	side_post(ring, krdma_entry_send(conn, 0, all->mr, GO_AT, MESSAGE_SIZE));
	side_post(ring, krdma_entry_send_imm(conn, 0, all->mr, GO_AT, MESSAGE_SIZE,
					     IMMEDIATE(c, 1)));
	side_post(ring, krdma_entry_write_imm(conn, 0, all->mr, GO_AT, MESSAGE_SIZE,
					      &remote, all->theirs[c].data_offset,
					      IMMEDIATE(c, 2)));
	for (size_t i = 0; i < MESSAGES; i++)
		side_done(ring);
}

/* Messages of one connection arrive in order; there is no order between the connections. */
static void receive(struct messages *all)
{
	size_t come[CONNECTIONS] = { 0 };

	for (size_t n = 0; n < CONNECTIONS * MESSAGES; n++) {
		struct krdma_cqe cqe = side_done(all->come);
		size_t c = cqe.dest == krdma_conn_id(all->conns[1]);
		bool written = cqe.flags & KRDMA_CQE_WRITTEN;
		const char *data = all->data + (written ? WRITTEN_TO(c) : COME_AT(cqe.wr_id));

		printf("connection %zu, %s %zu: %s, immediate %x\n", c,
		       written ? "write" : "message", come[c]++,
		       pattern_verdict(data, MESSAGE_SIZE, SEED_OF_RPMA),
		       cqe.flags & KRDMA_CQE_IMM ? cqe.imm : 0);
	}
}

int main(int argc, char **argv)
{
	struct messages all = { .srq = NULL };

	side_rpma_open(&all.rpma, argc, argv);
	connect_all(&all);
	for (size_t c = 0; c < CONNECTIONS; c++)
		send_to(&all, c);
	receive(&all);
	for (size_t c = 0; c < CONNECTIONS; c++) {
		/* The other side disconnects, because it still waits for completions. */
		printf("ended: %s\n", side_ended(all.conns[c]));
		krdma_conn_close(all.conns[c]);
	}
	krdma_srq_close(all.srq);
	krdma_ring_close(all.come);
	krdma_mr_deregister(all.mr, 0);
	side_close(&all.rpma.side);
	return 0;
}
