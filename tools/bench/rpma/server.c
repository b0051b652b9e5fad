// SPDX-License-Identifier: GPL-2.0
/*
 * The passive end.  It only accepts connections and ends them, and sleeps otherwise: it gets no
 * notification of accesses to its memory.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "rpma.h"

/* Maximum size of a memory descriptor. */
#define DESCRIPTOR	64

/**
 * struct server - this process
 * @events: of the endpoint, which has no data, and of connections, with the connection as data
 * @data, @mr: for all connections that have none of their own
 */
struct server {
	struct rpma_peer *rpma;
	struct rpma_conn_cfg *config;
	struct rpma_ep *endpoint;
	int events;
	void *data;
	struct rpma_mr_local *mr;
};

static void listen_to(struct server *server, int fd, struct rpma_end *end)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = end };

	if (epoll_ctl(server->events, EPOLL_CTL_ADD, fd, &event))
		peer_fail("epoll", errno);
}

static void accept_end(struct server *server)
{
	struct rpma_end *end = peer_alloc(sizeof(*end));
	struct peer_hello hello = { .kind = PEER_OWN };
	struct rpma_conn_private_data said, offer;
	struct rpma_conn_req *request;
	struct rpma_mr_local *mr;
	char descriptor[DESCRIPTOR];
	size_t length;
	int fd;

	rpma_check("request", rpma_ep_next_conn_req(server->endpoint, server->config, &request));
	rpma_check("private data", rpma_conn_req_get_private_data(request, &said));
	if (said.ptr && said.len >= sizeof(hello))
		memcpy(&hello, said.ptr, sizeof(hello));
	if (hello.kind == PEER_OWN)
		end->own = rpma_memory(server->rpma, PEER_OWN_MEMORY, &end->data);
	mr = end->own ? end->own : server->mr;
	rpma_check("descriptor", rpma_mr_get_descriptor_size(mr, &length));
	if (length > sizeof(descriptor))
		peer_fail("descriptor", EMSGSIZE);
	rpma_check("descriptor", rpma_mr_get_descriptor(mr, descriptor));
	offer = (struct rpma_conn_private_data){ descriptor, (uint8_t)length };
	rpma_check("accept", rpma_conn_req_connect(&request, &offer, &end->conn));
	rpma_check("events", rpma_conn_get_event_fd(end->conn, &fd));
	listen_to(server, fd, end);
}

static void handle(struct rpma_end *end)
{
	enum rpma_conn_event event;

	rpma_check("event", rpma_conn_next_event(end->conn, &event));
	if (event == RPMA_CONN_ESTABLISHED)
		return;
	if (event != RPMA_CONN_CLOSED)
		fprintf(stderr, "%s: server: %s\n", peer_name, rpma_utils_conn_event_2str(event));
	/*
	 * Answers the client's disconnect.  Deleting the connection closes its file, which removes
	 * it from the epoll.
	 */
	rpma_conn_disconnect(end->conn);
	rpma_unmake(end);
	free(end);
}

void peer_serve(const struct sockaddr_in *address)
{
	struct rpma_where where = rpma_locate(address);
	static struct server server;
	struct epoll_event event;
	int fd;

	server.rpma = rpma_device(&where, RPMA_UTIL_IBV_CONTEXT_LOCAL);
	server.config = rpma_config();
	server.mr = rpma_memory(server.rpma, PEER_MEMORY, &server.data);
	rpma_check("listen", rpma_ep_listen(server.rpma, where.host, where.port,
					    &server.endpoint));
	server.events = epoll_create1(EPOLL_CLOEXEC);
	if (server.events < 0)
		peer_fail("epoll", errno);
	rpma_check("events", rpma_ep_get_fd(server.endpoint, &fd));
	listen_to(&server, fd, NULL);
	printf("ready\n");
	for (;;) {
		if (epoll_wait(server.events, &event, 1, -1) != 1)
			peer_fail("epoll", errno);
		if (event.data.ptr)
			handle(event.data.ptr);
		else
			accept_end(&server);
	}
}
