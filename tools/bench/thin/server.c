// SPDX-License-Identifier: GPL-2.0
/*
 * The passive end.  One thread handles the connections, another one answers messages; both sleep
 * otherwise.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "thin.h"

/* Enough groups for the maximum number of connections. */
#define GROUPS		64
#define EVENTS		16

/**
 * struct server - this process
 * @mr, @data: for all connections that have none of their own
 * @echo: ring of the messages that are answered
 * @echo_end: the connection of these messages
 * @srq, @srq_queue: while there are @shared connections with it
 */
struct server {
	int events;
	struct krdma *session;
	uint32_t device;
	struct krdma_listener *listener;
	void *data;
	struct krdma_mr *mr;
	struct krdma_ring *echo;
	struct krdma_srq *srq;
	struct krdma_ring *srq_queue;
	unsigned int shared;
	struct thin_group groups[GROUPS];
};

/* Posts a receive for the next message, and the answer to this one. */
static unsigned int answer(struct server *server, const struct krdma_cqe *cqe,
			   uint64_t *value, struct krdma_sqe *entries)
{
	unsigned int at = (unsigned int)cqe->wr_id * (unsigned int)sizeof(uint64_t);

	*value = ((uint64_t *)server->data)[cqe->wr_id];
	if (*value)
		*value = peer_now();
	entries[0] = krdma_entry(KRDMA_OP_RECV, cqe->dest, cqe->wr_id, server->mr, at,
				 sizeof(uint64_t));
	entries[1] = krdma_entry(KRDMA_OP_SEND, cqe->dest, 0, NULL, 0, 0);
	entries[1].flags = KRDMA_SQE_INLINE | KRDMA_SQE_UNSIGNALED;
	entries[1].sge_count = 1;
	entries[1].sge.addr = (uintptr_t)value;
	entries[1].sge.length = sizeof(*value);
	return 2;
}

static void *echo(void *data)
{
	struct server *server = data;
	struct krdma_sqe entries[2];
	struct krdma_cqe cqe;
	unsigned int count = 0;
	size_t accepted, taken;
	uint64_t value;
	int err;

	for (;;) {
		taken = 0;
		if (count)
			err = krdma_ring_enter(server->echo, entries, count, &accepted, &cqe, 1, 1,
					       KRDMA_FOREVER, &taken);
		else
			err = krdma_ring_wait(server->echo, &cqe, 1, 1, KRDMA_FOREVER, &taken);
		/* The connection may have ended meanwhile. */
		if (err && err != -ENOTCONN && err != -ENOENT)
			thin_check("answer", err);
		count = 0;
		if (taken && cqe.status == KRDMA_WC_SUCCESS && cqe.opcode == KRDMA_OP_RECV)
			count = answer(server, &cqe, &value, entries);
	}
	return NULL;
}

/* The objects that it shares with others; the first connection creates them. */
static struct thin_group *join_group(struct server *server, unsigned int index)
{
	struct thin_group *group = &server->groups[index / PEER_SHARE % GROUPS];

	if (!server->shared++) {
		server->srq_queue = thin_queue(server->session, server->device,
					       PEER_SHARED_RECEIVES + KRDMA_RING_EXTRA, false);
		server->srq = thin_srq(server->session, server->srq_queue);
	}
	if (!group->users++)
		group->ring = thin_queue(server->session, server->device,
					 PEER_SHARE * (PEER_DEPTH + KRDMA_RING_EXTRA), false);
	return group;
}

static void leave_group(struct server *server, struct thin_group *group)
{
	if (!--group->users)
		krdma_ring_close(group->ring);
	if (!--server->shared) {
		krdma_srq_close(server->srq);
		krdma_ring_close(server->srq_queue);
	}
}

static void make_end(struct server *server, struct thin_end *end, const struct peer_hello *hello)
{
	struct krdma_ring *ring = NULL;
	struct krdma_srq *srq = NULL;

	if (hello->kind == PEER_SHARED) {
		end->group = join_group(server, hello->index);
		ring = end->group->ring;
		srq = server->srq;
	} else if (hello->kind == PEER_ONE) {
		ring = server->echo;
	}
	thin_make(server->session, server->device, end, ring, srq);
	if (hello->kind == PEER_ONE)
		thin_receives(end, server->mr, ring);
}

static void accept_end(struct server *server, struct krdma_conn *conn)
{
	struct thin_end *end = peer_alloc(sizeof(*end));
	struct epoll_event event = { .events = 0, .data.ptr = end };
	unsigned char descriptor[KRDMA_MR_DESC_SIZE];
	struct peer_hello hello = { .kind = PEER_OWN };
	size_t length = sizeof(hello);

	end->conn = conn;
	thin_check("request", krdma_conn_private_data(conn, &hello, &length));
	make_end(server, end, &hello);
	thin_check("offer", krdma_mr_describe(end->own ? end->own : server->mr, 0, 0,
					      descriptor));
	/* The server waits only for the end of the connection. */
	if (epoll_ctl(server->events, EPOLL_CTL_ADD, krdma_conn_fd(conn), &event))
		peer_fail("epoll", errno);
	thin_check("accept", krdma_conn_accept(conn, NULL, descriptor, sizeof(descriptor)));
}

static void accept_all(struct server *server)
{
	struct krdma_conn *conn;
	int err;

	while (!(err = krdma_listener_next(server->listener, 0, &conn)))
		accept_end(server, conn);
	if (err != -EAGAIN)
		thin_check("request", err);
}

static void end_end(struct server *server, struct thin_end *end)
{
	struct thin_group *group = end->group;

	thin_unmake(end);
	if (group)
		leave_group(server, group);
	free(end);
}

static void handle(struct server *server)
{
	struct epoll_event events[EVENTS];
	int count, i;

	count = epoll_wait(server->events, events, EVENTS, -1);
	if (count < 0 && errno != EINTR)
		peer_fail("epoll", errno);
	for (i = 0; i < count; i++) {
		if (events[i].data.ptr)
			end_end(server, events[i].data.ptr);
		else
			accept_all(server);
	}
}

void peer_serve(const struct sockaddr_in *address)
{
	struct epoll_event event = { .events = EPOLLIN };
	static struct server server;
	pthread_t thread;
	int err;

	thin_check("/dev/krdma", krdma_open(&server.session));
	thin_check("device", krdma_device_by_address(server.session, (struct sockaddr *)address,
						     NULL, 0, &server.device));
	thin_check("listen", krdma_listen(server.session, (struct sockaddr *)address, 0, 0,
					  &server.listener));
	server.data = thin_pages(PEER_MEMORY);
	server.mr = thin_memory(server.session, server.device, server.data, PEER_MEMORY);
	server.echo = thin_queue(server.session, server.device, 2 * PEER_COMPLETIONS, true);
	server.events = epoll_create1(EPOLL_CLOEXEC);
	if (server.events < 0 ||
	    epoll_ctl(server.events, EPOLL_CTL_ADD, krdma_listener_fd(server.listener), &event))
		peer_fail("epoll", errno);
	err = pthread_create(&thread, NULL, echo, &server);
	if (err)
		peer_fail("thread", err);
	printf("ready\n");
	for (;;)
		handle(&server);
}
