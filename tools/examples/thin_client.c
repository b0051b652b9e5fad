// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * A client of the thin layer: writes to the server's memory, reads the data back, checks them,
 * and reports the result.
 */
#include <arpa/inet.h>
#include <netinet/in.h>

#include <krdma_entry.h>

#include "thin.h"

#define TEXT	"written by RDMA"
#define DONE	"I have checked what I have written"

/* Offset of the data read back. */
#define BACK_AT	4096

/* Parses an IPv4 or IPv6 address. */
static void set_address(struct sockaddr_storage *address, const char *text)
{
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)address;
	struct sockaddr_in *in = (struct sockaddr_in *)address;

	memset(address, 0, sizeof(*address));
	if (inet_pton(AF_INET, text, &in->sin_addr) == 1) {
		in->sin_family = AF_INET;
		in->sin_port = htons(PORT);
	} else if (inet_pton(AF_INET6, text, &in6->sin6_addr) == 1) {
		in6->sin6_family = AF_INET6;
		in6->sin6_port = htons(PORT);
	} else {
		fprintf(stderr, "%s is not an IPv4 or IPv6 address\n", text);
		exit(2);
	}
}

int main(int argc, char **argv)
{
	unsigned char descriptor[256];
	size_t length = sizeof(descriptor);
	struct krdma_conn_query_args query;
	struct sockaddr_storage address;
	struct krdma_mr *mr;
	struct krdma_ring *ring;
	struct krdma_remote_mr remote;
	struct krdma_sqe entries[2];
	struct krdma_conn *conn;
	struct krdma *session;
	char *data;

	if (argc != 2) {
		fprintf(stderr, "usage: thin_client ADDRESS\n");
		return 2;
	}
	set_address(&address, argv[1]);

	check("/dev/krdma", krdma_open(&session));
	check("connection", krdma_conn_create(session, &conn));
	check("resolve", krdma_conn_resolve(conn, (struct sockaddr *)&address, NULL));
	check("no way", krdma_conn_wait(conn, krdma_deadline(PATIENCE_MS), NULL));
	check("queue", krdma_ring_create(session, NULL, &ring));
	check("create QP", krdma_conn_create_qp(conn, ring, NULL, NULL, NULL));
	check("connect", krdma_conn_connect(conn, NULL, NULL, 0));
	check("connect", krdma_conn_wait(conn, krdma_deadline(PATIENCE_MS), NULL));

	/* The server sent its memory descriptor when it accepted. */
	check("private data", krdma_conn_private_data(conn, descriptor, &length));
	check("descriptor", krdma_remote_mr_from_desc(descriptor, length, &remote));
	check("the connection", krdma_conn_query(conn, &query, sizeof(query)));
	check("memory", krdma_mr_alloc(session, query.device_id, 2 * BACK_AT,
				       KRDMA_ACCESS_LOCAL_WRITE, &mr));
	data = krdma_mr_data(mr);

	/* One batch: the read returns what the write before it wrote. */
	memcpy(data, TEXT, sizeof(TEXT));
	entries[0] = krdma_entry_write(conn, 1, mr, 0, sizeof(TEXT), &remote, 0);
	entries[0].flags = KRDMA_SQE_UNSIGNALED;
	entries[1] = krdma_entry_read(conn, 2, mr, BACK_AT, sizeof(TEXT), &remote, 0);
	check("write and read", krdma_ring_post(ring, entries, 2, NULL));
	complete(ring);
	if (strcmp(data + BACK_AT, TEXT)) {
		fprintf(stderr, "what was read is not what was written\n");
		return 1;
	}

	memcpy(data, DONE, sizeof(DONE));
	entries[0] = krdma_entry_send(conn, 3, mr, 0, sizeof(DONE) - 1);
	check("send", krdma_ring_post(ring, entries, 1, NULL));
	complete(ring);
	printf("%zu bytes written, read back and checked\n", sizeof(TEXT));

	/* This notifies the peer. The sent message has already arrived. */
	krdma_conn_disconnect(conn, 0);
	krdma_conn_await_closed(conn, krdma_deadline(PATIENCE_MS));
	krdma_conn_close(conn);
	krdma_ring_close(ring);
	krdma_mr_deregister(mr, 0);
	return krdma_close(session);
}
