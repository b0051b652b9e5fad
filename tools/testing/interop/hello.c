// SPDX-License-Identifier: GPL-2.0
/*
 * The other end of rdma_client and of rdma_server, two of librdmacm's programs.  The client sends
 * 16 bytes; the server answers with 16 bytes and disconnects.
 *
 *	hello listen HOST PORT CLIENTS		for CLIENTS times rdma_client, one after the other
 *	hello connect HOST PORT			to an rdma_server
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "side.h"

#define LENGTH	16
#define ANSWER	LENGTH

static void hello_receive(struct side *side, struct krdma_conn *conn,
			  struct krdma_mr *mr)
{
	side_post(side->ring, krdma_entry_recv(conn, 1, mr, 0, LENGTH));
}

static void hello_send(struct side *side, struct krdma_conn *conn, struct krdma_mr *mr)
{
	side_post(side->ring, krdma_entry_send(conn, 2, mr, ANSWER, LENGTH));
}

static struct krdma_mr *hello_memory(struct side *side, struct krdma_conn *conn)
{
	return side_memory(side->session, conn, 2 * (size_t)LENGTH, KRDMA_ACCESS_LOCAL_WRITE);
}

/* The receive may complete before the send, or after it. */
static uint32_t hello_length(struct krdma_cqe one, struct krdma_cqe other)
{
	return one.opcode == KRDMA_OP_RECV ? one.length : other.length;
}

static void hello_listen(struct side *side, int clients)
{
	struct krdma_mr *mr;
	struct krdma_conn *conn;
	struct krdma_cqe cqe;

	while (clients--) {
		conn = side_next(side);
		mr = hello_memory(side, conn);
		side_prepare(side, conn, 1, 1);
		hello_receive(side, conn, mr);
		side_accept(conn);
		side_connected(conn);
		cqe = side_done(side->ring);
		hello_send(side, conn, mr);
		side_done_or_left(side->ring);
		printf("%u bytes came, and were answered\n", cqe.length);
		/*
		 * The client leaves when its message is acknowledged, and retries without limit.
		 * rxe sends no acknowledgment once the QP is closed, so wait for the client.
		 */
		side_ended(conn);
		krdma_conn_close(conn);
		krdma_mr_deregister(mr, 0);
	}
}

static void hello_connect(struct side *side, const char *host, const char *port)
{
	struct krdma_conn *conn = side_resolve(side->session, host, port);
	struct krdma_mr *mr = hello_memory(side, conn);
	struct krdma_cqe one, other;

	side_prepare(side, conn, 1, 1);
	hello_receive(side, conn, mr);
	side_connect(conn);
	side_connected(conn);
	hello_send(side, conn, mr);
	one = side_done_or_left(side->ring);
	other = side_done_or_left(side->ring);
	printf("%u bytes have answered\n", hello_length(one, other));
	printf("ended: %s\n", side_ended(conn));
	krdma_conn_close(conn);
	krdma_mr_deregister(mr, 0);
}

int main(int argc, char **argv)
{
	struct side side;

	if (argc == 5 && !strcmp(argv[1], "listen")) {
		side_open(&side, 0);
		side_listen(&side, argv[2], argv[3]);
		hello_listen(&side, atoi(argv[4]));
	} else if (argc == 4 && !strcmp(argv[1], "connect")) {
		side_open(&side, 0);
		hello_connect(&side, argv[2], argv[3]);
	} else {
		side_usage("hello listen HOST PORT CLIENTS | hello connect HOST PORT");
	}
	side_close(&side);
	return 0;
}
