// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * A server by the thin layer: offers memory to each client, and waits until the client
 * says by a message that it has done what it wanted there.
 */
#include <netinet/in.h>

#include <krdma_entry.h>

#include "thin.h"

struct server {
	struct krdma *session;
	struct krdma_listener *listener;
	struct krdma_queue *queue;
	struct krdma_memory *memory;
	struct krdma_memory *message;
};

/* Each is made on the device that the first client comes by. */
static void make_memory(struct server *server, struct krdma_conn *conn)
{
	struct krdma_conn_query query;

	if (server->memory)
		return;
	check("the connection", krdma_conn_get(conn, &query, sizeof(query)));
	check("memory for clients",
	      krdma_memory_create(server->session, query.device_id, BUFFER_SIZE,
				  KRDMA_ACCESS_LOCAL_WRITE | KRDMA_ACCESS_REMOTE_READ |
				  KRDMA_ACCESS_REMOTE_WRITE, &server->memory));
	check("memory for messages",
	      krdma_memory_create(server->session, query.device_id, MESSAGE_SIZE,
				  KRDMA_ACCESS_LOCAL_WRITE, &server->message));
}

static void serve(struct server *server, struct krdma_conn *conn)
{
	/* As much as it needs, so that the queue has room for one who has just gone, too. */
	const struct krdma_conn_prepare depths = {
		.size = sizeof(depths), .send_depth = 1, .recv_depth = 1,
	};
	unsigned char descriptor[KRDMA_DESCRIPTOR_SIZE];
	struct krdma_sqe receive;
	struct krdma_cqe cqe;
	size_t length;

	make_memory(server, conn);
	check("prepare", krdma_conn_prepare(conn, server->queue, NULL, NULL, &depths));

	/* Before the client is let in: its message finds room whenever it comes. */
	receive = krdma_entry_receive(conn, 1, server->message, 0, MESSAGE_SIZE);
	check("receive", krdma_queue_post(server->queue, &receive, 1, NULL));

	check("describe", krdma_memory_describe(server->memory, 0, 0, descriptor));
	check("accept", krdma_conn_accept(conn, NULL, descriptor, sizeof(descriptor)));

	/* Its message says that the connection stood; by now it may have left already. */
	cqe = complete(server->queue);
	printf("the client says: %.*s\n", (int)cqe.length,
	       (char *)krdma_memory_data(server->message));
	length = strnlen(krdma_memory_data(server->memory), BUFFER_SIZE);
	printf("and has left: %.*s\n", (int)length, (char *)krdma_memory_data(server->memory));

	/* The client ends it. */
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
	check("queue", krdma_queue_create(server.session, NULL, &server.queue));
	printf("waiting for clients at port %d, %d of them\n", PORT, clients);

	while (clients--) {
		check("client", krdma_listener_next(server.listener, KRDMA_FOREVER, &conn));
		serve(&server, conn);
	}

	krdma_listener_close(server.listener);
	krdma_queue_close(server.queue);
	krdma_memory_release(server.message, 0);
	krdma_memory_release(server.memory, 0);
	return krdma_close(server.session);
}
