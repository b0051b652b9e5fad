// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* A server that sends messages back to any number of clients, in one thread; and its client. */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include <krdma_entry.h>

#define PORT	7475
#define CLIENTS	64
#define MESSAGE	64

static struct krdma *session;
static struct krdma_ring *ring;
static struct krdma_mr *mr;
static struct krdma_conn *clients[CLIENTS];

static void check(const char *what, int err)
{
	if (!err)
		return;
	fprintf(stderr, "echo_many: cannot %s: %s\n", what, strerror(-err));
	exit(1);
}

/* Registers memory with the device of a connection. */
static int allocate(struct krdma_conn *conn, size_t length)
{
	struct krdma_conn_query_args query;

	return krdma_conn_query(conn, &query, sizeof(query)) ?:
	       krdma_mr_alloc(session, query.device_id, length, KRDMA_ACCESS_LOCAL_WRITE, &mr);
}

static int post_receive(int i)
{
	struct krdma_sqe entry = krdma_entry_recv(clients[i], i, mr, i * MESSAGE, MESSAGE);

	return krdma_ring_post(ring, &entry, 1, NULL);
}

static void leave(int i)
{
	krdma_conn_close(clients[i]);
	clients[i] = NULL;
}

/* Returns -EAGAIN, or why no more clients can be taken now. */
static int admit(struct krdma_listener *listener)
{
	struct krdma_conn_create_qp_args attr = {
		.size = sizeof(attr), .send_depth = 2, .recv_depth = 1, .keepalive_ms = 1000,
	};
	struct krdma_conn *conn;
	int err, i = 0;

	while (!(err = krdma_listener_next(listener, 0, &conn))) {
		while (i < CLIENTS && clients[i])
			i++;
		if (i == CLIENTS || (!mr && allocate(conn, CLIENTS * MESSAGE))) {
			krdma_conn_close(conn);		/* the request is rejected */
			continue;
		}
		clients[i] = conn;
		if (krdma_conn_create_qp(conn, ring, NULL, NULL, &attr) || post_receive(i) ||
		    krdma_conn_accept(conn, NULL, NULL, 0))
			leave(i);
	}
	return err;
}

static void complete(const struct krdma_cqe *cqe)
{
	int i = (int)cqe->wr_id;
	struct krdma_sqe entry;

	/* An entry of an earlier client with this number. */
	if (!clients[i] || krdma_conn_id(clients[i]) != cqe->dest)
		return;
	if (cqe->status != KRDMA_WC_SUCCESS) {
		fprintf(stderr, "a client has ended: %s\n", krdma_wc_status_name(cqe->status));
		leave(i);
	} else if (cqe->opcode == KRDMA_OP_RECV) {
		entry = krdma_entry_send(clients[i], i, mr, i * MESSAGE, cqe->length);
		if (krdma_ring_post(ring, &entry, 1, NULL))
			leave(i);
	} else if (post_receive(i)) {
		leave(i);
	}
}

static void serve(void)
{
	struct sockaddr_in6 any = { .sin6_family = AF_INET6, .sin6_port = htons(PORT) };
	struct krdma_ring_create_args size = { .size = sizeof(size), .cq_entries = CLIENTS * 6 };
	struct krdma_listener *listener;
	struct krdma_cqe cqes[16];
	size_t taken;
	int err, full = 0;

	check("create a ring", krdma_ring_create(session, &size, &ring));
	check("listen", krdma_listen(session, (struct sockaddr *)&any, 0, 0, &listener));
	for (;;) {
		struct pollfd fds[] = { { krdma_ring_fd(ring), POLLIN, 0 },
					{ krdma_listener_fd(listener), POLLIN, 0 } };

		poll(fds, full ? 1 : 2, full ? 1000 : -1);
		while (!(err = krdma_ring_poll(ring, cqes, 16, &taken)))
			for (size_t i = 0; i < taken; i++)
				complete(&cqes[i]);
		check("serve", err == -EAGAIN ? 0 : err);	/* the device is gone */
		/* Without a descriptor for a client, wait until one leaves, or a second. */
		full = admit(listener) != -EAGAIN;
	}
}

static void client(const char *address, int port, const char *text)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(port) };
	struct krdma_conn_create_qp_args attr = { .size = sizeof(attr), .max_inline = MESSAGE };
	uint64_t deadline = krdma_deadline(10000);
	struct krdma_sqe entries[2];
	struct krdma_cqe cqes[2];
	struct krdma_conn *conn;
	size_t taken;

	check("parse the address", inet_pton(AF_INET, address, &to.sin_addr) == 1 ? 0 : -EINVAL);
	check("send so much", strlen(text) > MESSAGE ? -EMSGSIZE : 0);
	check("connect", krdma_ring_create(session, NULL, &ring) ?:
	      krdma_conn_create(session, &conn) ?:
	      krdma_conn_resolve(conn, (struct sockaddr *)&to, NULL) ?:
	      krdma_conn_wait(conn, deadline, NULL) ?:
	      krdma_conn_create_qp(conn, ring, NULL, NULL, &attr) ?:
	      krdma_conn_connect(conn, NULL, NULL, 0) ?: krdma_conn_wait(conn, deadline, NULL));
	check("register memory", allocate(conn, MESSAGE));
	entries[0] = krdma_entry_recv(conn, 0, mr, 0, MESSAGE);
	entries[1] = krdma_entry_send_inline(conn, 1, text, (uint32_t)strlen(text));
	check("send", krdma_ring_post(ring, entries, 2, NULL));
	check("receive", krdma_ring_wait(ring, cqes, 2, 2, deadline, &taken));
	check("receive", taken < 2 ? -ETIMEDOUT : 0);
	check("receive", cqes[0].status || cqes[1].status ? -EIO : 0);
	printf("%.*s\n", (int)strlen(text), (char *)krdma_mr_data(mr));
}

int main(int argc, char **argv)
{
	check("open /dev/krdma", krdma_open(&session));
	if (argc == 2 && !strcmp(argv[1], "serve"))
		serve();
	if (argc != 4)
		return fprintf(stderr, "usage: echo_many serve | echo_many ADDRESS PORT TEXT\n"), 2;
	client(argv[1], atoi(argv[2]), argv[3]);
	return 0;
}
