// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * A server that accepts connections and passes each to a worker process.  The worker can use the
 * connection and one memory region, and nothing else of the session.
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <krdma_entry.h>

#define PORT	7476
#define MESSAGE	64

static void check(const char *what, int err)
{
	if (!err)
		return;
	fprintf(stderr, "echo_worker: cannot %s: %s\n", what, strerror(-err));
	exit(1);
}

/* Sends two descriptors and the id of a memory region, or receives them. */
static int pass(int socket, int fds[2], uint32_t *id, int receive)
{
	char control[CMSG_SPACE(2 * sizeof(int))] = { 0 };
	struct iovec iov = { .iov_base = id, .iov_len = sizeof(*id) };
	struct msghdr message = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control,
				  .msg_controllen = sizeof(control) };
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);

	if (receive) {
		if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != sizeof(*id))
			return -ECONNRESET;
		memcpy(fds, CMSG_DATA(header), 2 * sizeof(int));
		return 0;
	}
	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(2 * sizeof(int));
	memcpy(CMSG_DATA(header), fds, 2 * sizeof(int));
	return sendmsg(socket, &message, 0) == sizeof(*id) ? 0 : -errno;
}

/* An entry for memory that another process has registered: krdma_entry() wants the handle. */
static struct krdma_sqe entry_for(struct krdma_conn *conn, uint8_t opcode, uint32_t id,
				  const char *data, uint32_t length)
{
	struct krdma_sqe entry = krdma_entry(opcode, krdma_conn_id(conn), 0, NULL, 0, 0);

	entry.sge_count = 1;
	entry.sge.addr = (uintptr_t)data;
	entry.sge.length = length;
	entry.sge.mr = id;
	return entry;
}

static int worker(int socket, const char *shared)
{
	struct krdma_sqe entry;
	struct krdma_conn *conn;
	struct krdma_ring *ring;
	struct krdma_cqe cqe;
	size_t taken;
	uint32_t id;
	int fds[2];

	check("receive descriptors", pass(socket, fds, &id, 1));
	check("use the connection", krdma_conn_open_fd(fds[0], &conn));
	check("use the ring", krdma_ring_open_fd(fds[1], &ring));
	entry = entry_for(conn, KRDMA_OP_RECV, id, shared, MESSAGE);
	check("receive", krdma_ring_post(ring, &entry, 1, NULL));
	check("accept", krdma_conn_accept(conn, NULL, NULL, 0));
	while (!krdma_ring_wait(ring, &cqe, 1, 1, KRDMA_FOREVER, &taken) && !cqe.status) {
		if (cqe.opcode == KRDMA_OP_RECV)
			entry = entry_for(conn, KRDMA_OP_SEND, id, shared, cqe.length);
		else
			entry = entry_for(conn, KRDMA_OP_RECV, id, shared, MESSAGE);
		if (krdma_ring_post(ring, &entry, 1, NULL))
			break;
	}
	krdma_conn_close(conn);
	return krdma_ring_close(ring);
}

/* Gives the worker a connection, and a ring that can use one memory region. */
static struct krdma_mr *hand_over(struct krdma *session, struct krdma_conn *conn, int socket,
				  char *shared)
{
	struct krdma_conn_query_args query;
	struct krdma_ring *ring;
	struct krdma_mr *mr;
	uint32_t id;

	check("query", krdma_conn_query(conn, &query, sizeof(query)));
	check("register memory", krdma_mr_register(session, query.device_id, shared, MESSAGE,
						   KRDMA_ACCESS_LOCAL_WRITE, &mr));
	id = krdma_mr_id(mr);
	check("create a ring", krdma_ring_create(session, NULL, &ring));
	check("confine the ring", krdma_ring_confine(ring, &id, 1));
	check("create a QP", krdma_conn_create_qp(conn, ring, NULL, NULL, NULL));
	check("pass descriptors",
	      pass(socket, (int[]){ krdma_conn_fd(conn), krdma_ring_fd(ring) }, &id, 0));
	krdma_ring_close(ring);
	krdma_conn_close(conn);
	return mr;
}

int main(void)
{
	struct sockaddr_in6 any = { .sin6_family = AF_INET6, .sin6_port = htons(PORT) };
	char *shared = mmap(NULL, MESSAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			    -1, 0);
	struct krdma_listener *listener;
	struct krdma_conn *conn;
	struct krdma *session;
	int sockets[2];

	check("map memory", shared == MAP_FAILED ? -errno : 0);
	check("open /dev/krdma", krdma_open(&session));
	check("listen", krdma_listen(session, (struct sockaddr *)&any, 0, 0, &listener));
	/* One worker at a time: they share the memory. */
	while (!krdma_listener_next(listener, KRDMA_FOREVER, &conn)) {
		struct krdma_mr *mr;

		check("create sockets", socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) ? -errno : 0);
		if (!fork())
			return worker(sockets[1], shared);
		mr = hand_over(session, conn, sockets[0], shared);
		wait(NULL);
		check("deregister memory", krdma_mr_deregister(mr, 0));
		close(sockets[0]);
		close(sockets[1]);
	}
	return 1;
}
