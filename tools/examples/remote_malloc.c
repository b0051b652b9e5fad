// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * A server that lends memory to many clients, and a client.  Each client has a lane, and each lane
 * one piece at a time: a memory region, so its rkey ends when it is given back or the lane ends.
 * Left out: pieces that need several rkeys, atomics, hosts of another byte order, and clients that
 * do not trust each other: rkeys can be guessed.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <krdma_entry.h>

#define PORT	7477
#define CLIENTS	64

struct message {
	uint64_t size;				/* to have memory */
	uint64_t addr;				/* or to give back what is there */
	int64_t error;				/* in the answer, as is the memory */
	unsigned char memory[KRDMA_MR_DESC_SIZE];
};

static struct client {
	uint32_t lane;				/* its number; 0: no client */
	struct krdma_mr *piece;
} clients[CLIENTS];
static struct krdma *session;
static struct krdma_ring *ring;
static struct krdma_mr *mr;			/* of the messages, and of the client's text */
static uint64_t left;				/* bytes that can be lent */

static void check(const char *what, int err)
{
	if (!err)
		return;
	fprintf(stderr, "remote_malloc: cannot %s: %s\n", what, err == -ENOBUFS ?
		"the server has not enough left; ask for less, or later" : strerror(-err));
	exit(1);
}

/* On the device of the ring, which is that of its first connection. */
static int allocate(size_t length, uint32_t access, struct krdma_mr **to)
{
	struct krdma_ring_query_args query;

	access |= KRDMA_ACCESS_LOCAL_WRITE;
	return krdma_ring_query(ring, &query, sizeof(query)) ?:
	       krdma_mr_alloc_for_lanes(session, query.device_id, length, access,
					KRDMA_MR_REGISTER_WINDOWS, to);
}

static int take_back(struct client *client, uint64_t addr)
{
	if (!client->piece || addr != (uintptr_t)krdma_mr_data(client->piece))
		return -EFAULT;			/* not this client's, or not any more */
	left += krdma_mr_length(client->piece);
	check("end the access to memory", krdma_mr_deregister(client->piece, 0));
	client->piece = NULL;
	return 0;
}

static int lend(struct client *client, uint64_t size, void *descriptor)
{
	const uint32_t access = KRDMA_ACCESS_REMOTE_READ | KRDMA_ACCESS_REMOTE_WRITE;
	int err;

	if (client->piece)
		return -EBUSY;
	if (size > left)
		return -ENOBUFS;
	err = allocate(size, access, &client->piece);
	if (err)
		return err;
	left -= size;
	err = krdma_mr_describe(client->piece, 0, size, descriptor);
	if (err)				/* EMSGSIZE: one rkey does not cover it */
		take_back(client, (uintptr_t)krdma_mr_data(client->piece));
	return err;
}

/* Posts a receive for the client's next message, and maybe the answer to the last one. */
static int post(uint64_t i, int answers)
{
	const size_t size = sizeof(struct message);
	struct krdma_sqe entries[] = {
		krdma_entry(KRDMA_OP_RECV, clients[i].lane, i, mr, i * size, size),
		krdma_entry(KRDMA_OP_SEND, clients[i].lane, i, mr, i * size, size),
	};

	entries[1].flags = KRDMA_SQE_UNSIGNALED;
	return krdma_ring_post(ring, entries, 1 + answers, NULL);
}

static void leave(struct client *client)
{
	struct krdma_conns_entry entry = { .id = client->lane };

	take_back(client, (uintptr_t)krdma_mr_data(client->piece));
	krdma_conns_close(session, &entry, 1, NULL);
	client->lane = 0;
}

static void admit(struct krdma_conns_entry *entry)
{
	struct krdma_conns_args args = { .size = sizeof(args), .send_depth = 4, .recv_depth = 1 };
	uint64_t i = 0;

	while (i < CLIENTS && clients[i].lane)
		i++;
	if (i == CLIENTS) {
		krdma_conns_close(session, entry, 1, NULL);	/* the request is rejected */
		return;
	}
	clients[i].lane = entry->id;
	entry->wr_id = i;
	entry->private_data_len = 0;
	if (krdma_conns_accept(session, ring, entry, 1, &args, NULL) ?:
	    (mr ? 0 : allocate(CLIENTS * sizeof(struct message), 0, &mr)) ?: post(i, 0))
		leave(&clients[i]);
}

static void complete(const struct krdma_cqe *cqe)
{
	struct message *message = (struct message *)krdma_mr_data(mr) + cqe->wr_id;
	struct client *client = &clients[cqe->wr_id];

	/* Of an earlier client; or an event: when a lane ends, its receive fails. */
	if (client->lane != cqe->dest ||
	    (cqe->status == KRDMA_WC_SUCCESS && cqe->opcode != KRDMA_OP_RECV))
		return;
	if (cqe->status == KRDMA_WC_SUCCESS && cqe->length == sizeof(*message)) {
		message->error = message->addr ? take_back(client, message->addr) :
				 lend(client, message->size, message->memory);
		if (!post(cqe->wr_id, 1))
			return;
	}
	leave(client);
}

static void serve(void)
{
	struct sockaddr_in6 any = { .sin6_family = AF_INET6, .sin6_port = htons(PORT) };
	struct krdma_ring_create_args size = { .size = sizeof(size), .cq_entries = CLIENTS * 16 };
	struct krdma_listener *listener;
	struct krdma_cqe cqe;
	int err, full = 0;
	uint32_t done;
	size_t taken;

	check("create a ring", krdma_ring_create(session, &size, &ring));
	check("listen", krdma_listen(session, (struct sockaddr *)&any, KRDMA_LISTEN_LANES, 0,
				     &listener));
	for (;;) {
		struct pollfd fds[] = { { krdma_ring_fd(ring), POLLIN, 0 },
					{ krdma_listener_fd(listener), POLLIN, 0 } };
		struct krdma_conns_entry entry = { 0 };

		poll(fds, full ? 1 : 2, full ? 1000 : -1);
		while (!(err = krdma_ring_poll(ring, &cqe, 1, &taken)))
			complete(&cqe);
		check("serve", err == -EAGAIN ? 0 : err);	/* the device is gone */
		/* With too many clients, wait until one leaves, or a second. */
		err = krdma_conns_take(session, listener, &entry, 1, 0, &done);
		full = err && err != -EAGAIN;
		if (!err)
			admit(&entry);
	}
}

/* Posts one or two entries of the client, and waits until they have completed. */
static void run(const char *what, const struct krdma_sqe *entries, size_t count)
{
	struct krdma_cqe cqes[2];
	size_t taken = 0;

	check(what, krdma_ring_post(ring, entries, count, NULL) ?:
	      krdma_ring_wait(ring, cqes, count, count, krdma_deadline(10000), &taken));
	check(what, taken < count ? -ETIMEDOUT : 0);
	for (size_t i = 0; i < count; i++) {
		if (cqes[i].status == KRDMA_WC_SUCCESS)
			continue;
		fprintf(stderr, "remote_malloc: cannot %s: %s\n", what,
			krdma_wc_status_name(cqes[i].status));
		exit(1);
	}
}

/* Sends a message, and waits for the answer. */
static int ask(struct krdma_conn *conn, uint64_t size, uint64_t addr)
{
	struct message *message = krdma_mr_data(mr);
	struct krdma_sqe entries[] = { krdma_entry_recv(conn, 0, mr, 0, sizeof(*message)),
				       krdma_entry_send(conn, 0, mr, 0, sizeof(*message)) };

	*message = (struct message){ .size = size, .addr = addr };
	run("get an answer", entries, 2);
	return (int)message->error;
}

static void run_client(const char *host, const char *text, unsigned int seconds)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(PORT) };
	const uint32_t size = (uint32_t)strlen(text) + 1, at = sizeof(struct message);
	uint64_t deadline = krdma_deadline(10000), trunk;
	struct krdma_remote_mr memory;
	struct krdma_sqe entry;
	struct krdma_conn *conn;
	unsigned char *data;

	check("parse the address", inet_pton(AF_INET, host, &to.sin_addr) == 1 ? 0 : -EINVAL);
	check("connect", krdma_ring_create(session, NULL, &ring) ?:
	      krdma_conn_create_lane(session, &conn) ?:
	      krdma_conn_resolve(conn, (struct sockaddr *)&to, NULL) ?:
	      krdma_conn_wait(conn, deadline, NULL) ?: krdma_conn_trunk(conn, &trunk) ?:
	      krdma_conn_create_qp(conn, ring, NULL, NULL, NULL) ?:
	      krdma_conn_connect(conn, NULL, NULL, 0) ?: krdma_conn_wait(conn, deadline, NULL));
	check("register memory", allocate(at + 2 * size, 0, &mr));
	data = krdma_mr_data(mr);
	check("allocate", ask(conn, size, 0) ?:
	      krdma_remote_mr_from_desc(data + offsetof(struct message, memory),
					KRDMA_MR_DESC_SIZE, &memory));
	printf("%s: %u bytes at %#llx, rkey %#x\n", trunk ? "a lane" : "a plain connection", size,
	       (unsigned long long)memory.addr, memory.key);
	memcpy(data + at, text, size);
	entry = krdma_entry_write(conn, 0, mr, at, size, &memory, 0);
	run("write", &entry, 1);
	fflush(stdout);
	sleep(seconds);
	entry = krdma_entry_read(conn, 0, mr, at + size, size, &memory, 0);
	run("read", &entry, 1);
	check("find the text again", memcmp(data + at + size, text, size) ? -EBADMSG : 0);
	printf("read back: %s\n", (char *)data + at + size);
	check("give it back", ask(conn, 0, memory.addr));
	check("be refused the second time", ask(conn, 0, memory.addr) == -EFAULT ? 0 : -EBADMSG);
	printf("given back\n");
	krdma_conn_close(conn);
	krdma_mr_deregister(mr, 0);
	krdma_ring_close(ring);
	krdma_close(session);
}

int main(int argc, char **argv)
{
	check("open /dev/krdma", krdma_open(&session));
	if (argc > 1 && !strcmp(argv[1], "--serve")) {
		left = argc > 2 ? strtoull(argv[2], NULL, 0) : 1 << 20;
		serve();
	}
	if (argc < 3)
		return fprintf(stderr, "usage: remote_malloc --serve [BYTES]\n"
			       "       remote_malloc ADDRESS TEXT [SECONDS]\n"), 2;
	run_client(argv[1], argv[2], argc > 3 ? (unsigned int)atoi(argv[3]) : 0);
	return 0;
}
