// SPDX-License-Identifier: GPL-2.0
/*
 * A librpma program with two connections and one SRQ.  On each connection it receives a message, a
 * message with immediate data, and a write with immediate data; then it sends the same to the other
 * side.
 *
 *	rpma_message listen|connect HOST PORT
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pattern.h"
#include "rpma.h"
#include "rpma_far.h"

/* Offsets: received messages, written messages of each connection, the message to send. */
#define COME_AT(slot)	((slot) * (size_t)MESSAGE_SIZE)
#define WRITTEN_TO(c)	((CONNECTIONS * MESSAGES + (c)) * (size_t)MESSAGE_SIZE)
#define GO_AT		((CONNECTIONS * MESSAGES + CONNECTIONS) * (size_t)MESSAGE_SIZE)
#define SIZE		(GO_AT + MESSAGE_SIZE)

struct messages {
	struct rpma_far far;
	struct rpma_srq *srq;
	struct rpma_cq *come;
	char *data;
	struct rpma_mr_local *mr;
	struct rpma_conn *conns[CONNECTIONS];
	uint32_t numbers[CONNECTIONS];
	struct rpma_theirs theirs[CONNECTIONS];
};

static void share_receives(struct messages *all)
{
	struct rpma_srq_cfg *config;

	rpma_check("shared", rpma_srq_cfg_new(&config));
	rpma_check("shared", rpma_srq_new(all->far.peer, config, &all->srq));
	rpma_check("shared", rpma_srq_cfg_delete(&config));
	rpma_check("shared", rpma_srq_get_rcq(all->srq, &all->come));
	rpma_check("shared", rpma_conn_cfg_set_srq(all->far.config, all->srq));
	for (size_t slot = 0; slot < CONNECTIONS * MESSAGES; slot++)
		rpma_check("receive", rpma_srq_recv(all->srq, all->mr, COME_AT(slot),
						    MESSAGE_SIZE, all->data + COME_AT(slot)));
}

/* Messages of one connection arrive in order; there is no order between the connections. */
static void receive(struct messages *all)
{
	size_t come[CONNECTIONS] = { 0 };

	for (size_t n = 0; n < CONNECTIONS * MESSAGES; n++) {
		struct ibv_wc wc = rpma_done(all->come);
		size_t c = wc.qp_num == all->numbers[1];
		const char *data = (char *)(uintptr_t)wc.wr_id;
		bool immediate = wc.wc_flags & IBV_WC_WITH_IMM;

		if (wc.opcode == IBV_WC_RECV_RDMA_WITH_IMM)
			data = all->data + WRITTEN_TO(c);
		printf("connection %zu, %s %zu: %s, immediate %x\n", c,
		       wc.opcode == IBV_WC_RECV_RDMA_WITH_IMM ? "write" : "message", come[c]++,
		       pattern_verdict(data, MESSAGE_SIZE, SEED_OF_KRDMA),
		       immediate ? ntohl(wc.imm_data) : 0);
	}
}

static void send_to(struct messages *all, size_t c)
{
	struct rpma_conn *conn = all->conns[c];
	struct rpma_cq *cq;

	rpma_check("completions", rpma_conn_get_cq(conn, &cq));
	rpma_check("send", rpma_send(conn, all->mr, GO_AT, MESSAGE_SIZE,
				     RPMA_F_COMPLETION_ALWAYS, NULL));
	rpma_check("send with immediate", rpma_send_with_imm(conn, all->mr, GO_AT,
							     MESSAGE_SIZE,
							     RPMA_F_COMPLETION_ALWAYS,
							     IMMEDIATE(c, 1), NULL));
	rpma_check("write with immediate",
		   rpma_write_with_imm(conn, all->theirs[c].mr, all->theirs[c].data_offset,
				       all->mr, GO_AT, MESSAGE_SIZE,
				       RPMA_F_COMPLETION_ALWAYS, IMMEDIATE(c, 2), NULL));
	for (size_t i = 0; i < MESSAGES; i++)
		rpma_done(cq);
}

int main(int argc, char **argv)
{
	static char data[SIZE] __attribute__((aligned(4096)));
	struct messages all = { .data = data };
	struct rpma_told told;

	rpma_far_open(&all.far, argc, argv);
	rpma_check("memory", rpma_mr_reg(all.far.peer, data, sizeof(data),
					 RPMA_MR_USAGE_SEND | RPMA_MR_USAGE_RECV |
					 RPMA_MR_USAGE_WRITE_SRC | RPMA_MR_USAGE_WRITE_DST,
					 &all.mr));
	pattern_fill(data + GO_AT, MESSAGE_SIZE, SEED_OF_RPMA);
	share_receives(&all);
	for (size_t c = 0; c < CONNECTIONS; c++) {
		rpma_tell(&told, WRITTEN_TO(c), all.mr, false);
		all.conns[c] = rpma_far_next(&all.far, NULL, &told, &all.theirs[c]);
		rpma_check("number", rpma_conn_get_qp_num(all.conns[c], &all.numbers[c]));
	}
	receive(&all);
	for (size_t c = 0; c < CONNECTIONS; c++)
		send_to(&all, c);
	for (size_t c = 0; c < CONNECTIONS; c++) {
		rpma_leave(all.conns[c]);
		rpma_check("their memory", rpma_mr_remote_delete(&all.theirs[c].mr));
	}
	rpma_check("shared", rpma_srq_delete(&all.srq));
	rpma_check("memory", rpma_mr_dereg(&all.mr));
	rpma_far_close(&all.far);
	return 0;
}
