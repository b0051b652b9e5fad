// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * A server of the thin layer: gives each client access to its memory, and waits for the
 * client's message that it is done.
 */
#include <netinet/in.h>

#include <krdma_entry.h>

#include "thin.h"

struct server {
	struct krdma *session;
	struct krdma_listener *listener;
	struct krdma_ring *ring;
	struct krdma_mr *mr;
	struct krdma_mr *message;
};

/* The memory regions use the device of the first client. */
static void make_memory(struct server *server, struct krdma_conn *conn)
{
	struct krdma_conn_query_args query;

	if (server->mr)
		return;
	check("the connection", krdma_conn_query(conn, &query, sizeof(query)));
	check("memory for clients",
	      krdma_mr_alloc(server->session, query.device_id, BUFFER_SIZE,
			     KRDMA_ACCESS_LOCAL_WRITE | KRDMA_ACCESS_REMOTE_READ |
			     KRDMA_ACCESS_REMOTE_WRITE, &server->mr));
	check("memory for messages",
	      krdma_mr_alloc(server->session, query.device_id, MESSAGE_SIZE,
			     KRDMA_ACCESS_LOCAL_WRITE, &server->message));
}

static void serve(struct server *server, struct krdma_conn *conn)
{
	/*
	 * Small depths: the ring then also has room for the connection of a client that has
	 * just left.
	 */
	const struct krdma_conn_create_qp_args depths = {
		.size = sizeof(depths), .send_depth = 1, .recv_depth = 1,
	};
	unsigned char descriptor[KRDMA_MR_DESC_SIZE];
	struct krdma_sqe receive;
	struct krdma_cqe cqe;
	size_t length;

	make_memory(server, conn);
	check("create QP", krdma_conn_create_qp(conn, server->ring, NULL, NULL, &depths));

	/* Post before accepting, so that the client's message always finds a receive. */
	receive = krdma_entry_recv(conn, 1, server->message, 0, MESSAGE_SIZE);
	check("receive", krdma_ring_post(server->ring, &receive, 1, NULL));

	check("describe", krdma_mr_describe(server->mr, 0, 0, descriptor));
	check("accept", krdma_conn_accept(conn, NULL, descriptor, sizeof(descriptor)));

	/*
	 * The message shows that the connection was established; the client may already have
	 * left.
	 */
	cqe = complete(server->ring);
	printf("the client says: %.*s\n", (int)cqe.length,
	       (char *)krdma_mr_data(server->message));
	length = strnlen(krdma_mr_data(server->mr), BUFFER_SIZE);
	printf("and has left: %.*s\n", (int)length, (char *)krdma_mr_data(server->mr));

	/* The client disconnects. */
	check("end", krdma_conn_await_closed(conn, krdma_deadline(PATIENCE_MS)));
	krdma_conn_close(conn);
}

int main(int argc, char **argv)
{
	struct sockaddr_in6 anywhere = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_ANY_INIT };
	int clients = argc > 1 ? atoi(argv[1]) : 1;
	struct server server = { 0 };
	struct krdma_conn *conn;

	anywhere.sin6_port = htons(PORT);
	check("/dev/krdma", krdma_open(&server.session));
	check("listen", krdma_listen(server.session, (struct sockaddr *)&anywhere, 0, 0,
				     &server.listener));
	check("queue", krdma_ring_create(server.session, NULL, &server.ring));
	printf("waiting for clients at port %d, %d of them\n", PORT, clients);

	while (clients--) {
		check("client", krdma_listener_next(server.listener, KRDMA_FOREVER, &conn));
		serve(&server, conn);
	}

	krdma_listener_close(server.listener);
	krdma_ring_close(server.ring);
	krdma_mr_deregister(server.message, 0);
	krdma_mr_deregister(server.mr, 0);
	return krdma_close(server.session);
}
