// SPDX-License-Identifier: GPL-2.0
/*
 * A client that violates the protocol of the listening sides.  It connects with any bytes as hello,
 * and then sends any message any number of times.  It posts no receives for answers.
 *
 *	stranger [--lane] HOST PORT HELLO [MESSAGE COUNT]
 *
 * With --lane it connects a lane.  HELLO and MESSAGE are hexadecimal; "" is empty.  It prints the
 * answer to the hello.  After the messages it prints how many have arrived, and stays until the
 * other side ends the connection, or it is killed.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "krdma.h"
#include "krdma_entry.h"

#define ROOM	4096
#define DEPTH	64

struct stranger {
	struct krdma *session;
	struct krdma_ring *ring;
	struct krdma_conn *conn;
	struct krdma_mr *mr;
	bool lane;
};

static void die(const char *what, int err)
{
	printf("%s: %s\n", what, strerror(-err));
	exit(1);
}

static size_t from_hex(const char *text, unsigned char *bytes)
{
	size_t count;

	for (count = 0; count < ROOM && sscanf(text + 2 * count, "%2hhx", &bytes[count]) == 1;)
		count++;
	return count;
}

static void create_qp(struct stranger *stranger, const char *host, const char *port)
{
	struct krdma_conn_create_qp_args options = { .size = sizeof(options), .send_depth = DEPTH };
	/* 4.096 us * 2^18 is a second for an acknowledgment, because the machine may be busy. */
	const struct krdma_conn_resolve_args patient = { .size = sizeof(patient),
							 .ack_timeout = 18 };
	struct krdma_conn_query_args query;
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port)),
	};
	int err;

	inet_pton(AF_INET, host, &address.sin_addr);
	err = krdma_open(&stranger->session);
	if (!err)
		err = krdma_ring_create(stranger->session, NULL, &stranger->ring);
	if (!err)
		err = stranger->lane ? krdma_conn_create_lane(stranger->session, &stranger->conn) :
				       krdma_conn_create(stranger->session, &stranger->conn);
	if (!err)
		err = krdma_conn_resolve(stranger->conn, (struct sockaddr *)&address, &patient);
	if (!err)
		err = krdma_conn_wait(stranger->conn, krdma_deadline(60000), NULL);
	if (!err)
		err = krdma_conn_create_qp(stranger->conn, stranger->ring, NULL, NULL, &options);
	if (!err)
		err = krdma_conn_query(stranger->conn, &query, sizeof(query));
	if (!err && stranger->lane)
		err = krdma_mr_alloc_for_lanes(stranger->session, query.device_id, ROOM,
					       KRDMA_ACCESS_LOCAL_WRITE, 0, &stranger->mr);
	else if (!err)
		err = krdma_mr_alloc(stranger->session, query.device_id, ROOM,
				     KRDMA_ACCESS_LOCAL_WRITE, &stranger->mr);
	if (err)
		die("create QP", err);
}

/* Print verdict and limit of the answer, without checking them. */
static void print_answer(const struct stranger *stranger, const char *how)
{
	unsigned char data[256] = { 0 };
	size_t length = sizeof(data);

	krdma_conn_private_data(stranger->conn, data, &length);
	if (length >= 12 && !memcmp(data, "KRDa", 4))
		printf("%s: version %u verdict %u limit %u\n", how, data[4], data[5],
		       data[8] | data[9] << 8 | data[10] << 16 | (unsigned int)data[11] << 24);
	else
		printf("%s: no answer\n", how);
	fflush(stdout);
}

static void connect_with(struct stranger *stranger, const char *hello)
{
	unsigned char data[ROOM];
	size_t length = from_hex(hello, data);
	int err = krdma_conn_connect(stranger->conn, NULL, data, length);

	if (err)
		die("connect", err);
	err = krdma_conn_wait(stranger->conn, krdma_deadline(60000), NULL);
	if (err && err != -ECONNREFUSED)
		die("connect", err);
	print_answer(stranger, err ? "refused" : "connected");
	if (err)
		exit(0);
}

static void send_messages(struct stranger *stranger, const char *message, int count)
{
	size_t length = from_hex(message, krdma_mr_data(stranger->mr)), taken;
	struct krdma_sqe entry = krdma_entry_send(stranger->conn, 0, stranger->mr, 0,
						  (uint32_t)length);
	struct krdma_cqe cqe;
	int sent = 0, err;

	for (; count; count--) {
		err = krdma_ring_post(stranger->ring, &entry, 1, NULL);
		if (err)
			break;
	}
	/* Until all messages have arrived, or one has failed. */
	while (count + sent < DEPTH) {
		err = krdma_ring_wait(stranger->ring, &cqe, 1, 1, krdma_deadline(5000), &taken);
		if (err == -ETIMEDOUT) {
			printf("%d have arrived\n", sent);
			fflush(stdout);
			break;
		}
		if (err || cqe.status) {
			printf("%d have arrived, then: %s\n", sent,
			       err ? strerror(-err) : krdma_wc_status_name(cqe.status));
			exit(0);
		}
		sent++;
	}
	krdma_conn_await_closed(stranger->conn, KRDMA_FOREVER);
	printf("ended\n");
}

int main(int argc, char **argv)
{
	struct stranger stranger = { 0 };

	if (argc > 1 && !strcmp(argv[1], "--lane")) {
		stranger.lane = true;
		argv++;
		argc--;
	}
	if (argc != 4 && argc != 6) {
		fputs("usage: stranger [--lane] HOST PORT HELLO [MESSAGE COUNT]\n", stderr);
		return 2;
	}
	create_qp(&stranger, argv[1], argv[2]);
	connect_with(&stranger, argv[3]);
	if (argc == 6)
		send_messages(&stranger, argv[4], atoi(argv[5]));
	return 0;
}
