// SPDX-License-Identifier: GPL-2.0
/*
 * krdma's side of the tests with verbs programs.  It offers memory to its clients, several at a
 * time, and prints the result for each client under the name in the client's private data; or it
 * connects to a verbs program that listens.
 *
 *	with_verbs listen HOST PORT CLIENTS
 *	with_verbs connect HOST PORT HOW
 *	with_verbs refuse HOST PORT CLIENTS	reject, and send their private data back
 *	with_verbs lengths HOST PORT		private data of every length, to a side that rejects
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pattern.h"
#include "side.h"
#include "verbs.h"

#define COME_AT		OFFERED
#define GO_AT		(OFFERED + ROOM)
#define SIZE		(GO_AT + ROOM)

/* A client: its thread has a ring of its own. */
struct guest {
	struct side side;
	struct krdma_conn *conn;
	struct krdma_mr *mr;
	/* Clients whose name begins with "shared" use an SRQ instead of an RQ. */
	struct krdma_srq *srq;
	char name[REQUEST_MAX + 1];
};

static bool guest_shares(const struct guest *guest)
{
	return !strncmp(guest->name, "shared", strlen("shared"));
}

/* Create an SRQ with one receive, for one connection. */
static void guest_share(struct guest *guest)
{
	struct krdma_srq_create_args options = { .size = sizeof(options), .depth = 1 };
	struct krdma_conn_query_args query;
	struct krdma_sqe receive;

	side_check("query", krdma_conn_query(guest->conn, &query, sizeof(query)));
	options.device_id = query.device_id;
	side_check("shared", krdma_srq_create(guest->side.session, guest->side.ring, &options,
					      &guest->srq));
	receive = krdma_entry_srq_recv(guest->srq, 1, guest->mr, COME_AT, ROOM);
	side_check("receive", krdma_srq_post(guest->srq, &receive, 1, NULL));
	side_check("create QP", krdma_conn_create_qp(guest->conn, guest->side.ring, NULL,
						     guest->srq, NULL));
}

static void guest_prepare(struct guest *guest)
{
	guest->mr = side_memory(guest->side.session, guest->conn, SIZE,
				KRDMA_ACCESS_LOCAL_WRITE | KRDMA_ACCESS_REMOTE_READ |
				KRDMA_ACCESS_REMOTE_WRITE);
	side_check("queue", krdma_ring_create(guest->side.session, NULL, &guest->side.ring));
	if (guest_shares(guest))
		guest_share(guest);
	else
		side_prepare(&guest->side, guest->conn, 4, 1);
}

/* Returns true if the guest has a receive in its RQ that will complete. */
static bool guest_receives(const struct guest *guest)
{
	return strcmp(guest->name, "unexpected") && !guest_shares(guest);
}

static void guest_receive(struct guest *guest)
{
	side_post(guest->side.ring, krdma_entry_recv(guest->conn, 1, guest->mr, COME_AT,
						     ROOM));
}

static void guest_take(struct guest *guest)
{
	struct krdma_cqe cqe = side_take(guest->side.ring);
	const char *data = krdma_mr_data(guest->mr);

	printf("%s: %s: %s\n", guest->name, krdma_opcode_name(cqe.opcode),
	       krdma_wc_status_name(cqe.status));
	if (cqe.status)
		return;
	printf("%s: written: %s\n", guest->name,
	       pattern_verdict(data + HALF, HALF, SEED_OF_WRITER));
	side_post(guest->side.ring, krdma_entry_send(guest->conn, 2, guest->mr, GO_AT, ROOM));
	side_done_or_left(guest->side.ring);
}

static void guest_serve(struct guest *guest)
{
	struct offer offer;
	int err;

	guest_prepare(guest);
	pattern_fill(krdma_mr_data(guest->mr), HALF, SEED_OF_OWNER);
	offer = offer_of(krdma_mr_data(guest->mr), krdma_mr_rkey(guest->mr),
			 OFFERED);
	if (guest_receives(guest))
		guest_receive(guest);
	side_check("accept", krdma_conn_accept(guest->conn, &side_plain, &offer, sizeof(offer)));
	err = krdma_conn_wait(guest->conn, krdma_deadline(2 * PATIENCE_MS), NULL);
	if (err)
		printf("%s: not connected: %s\n", guest->name, krdma_error_name(err));
	/* An error can be reported before the connection is reported as established. */
	if (guest_receives(guest))
		guest_take(guest);
}

static void *guest_thread(void *arg)
{
	struct guest *guest = arg;

	/* This client leaves before it was accepted, so do not accept it. */
	if (strcmp(guest->name, "asks"))
		guest_serve(guest);
	printf("%s: ended: %s\n", guest->name, side_ended(guest->conn));
	krdma_conn_close(guest->conn);
	krdma_srq_close(guest->srq);
	krdma_ring_close(guest->side.ring);
	krdma_mr_deregister(guest->mr, 0);
	free(guest);
	return NULL;
}

static void listen_to(struct side *side, int clients)
{
	pthread_t *threads = calloc((size_t)clients, sizeof(*threads));

	for (int i = 0; threads && i < clients; i++) {
		struct guest *guest = calloc(1, sizeof(*guest));
		size_t length = sizeof(guest->name) - 1;

		if (!guest)
			break;
		guest->side.session = side->session;
		guest->conn = side_next(side);
		side_check("name", krdma_conn_private_data(guest->conn, guest->name, &length));
		printf("%s: has come\n", guest->name);
		side_check("thread",
			   -pthread_create(&threads[i], NULL, guest_thread, guest));
	}
	for (int i = 0; threads && i < clients; i++)
		pthread_join(threads[i], NULL);
	free(threads);
}

/* Post one work request and wait for it.  Returns false if it fails. */
static bool done(struct guest *guest, const char *what, struct krdma_sqe entry)
{
	struct krdma_cqe cqe;

	side_post(guest->side.ring, entry);
	cqe = side_take(guest->side.ring);
	printf("%s: %s\n", what, krdma_wc_status_name(cqe.status));
	return !cqe.status;
}

static void go(struct guest *guest, const char *how)
{
	struct krdma_remote_mr remote = { .access = 0 };
	char *data = krdma_mr_data(guest->mr);
	struct offer offer;
	size_t length = sizeof(offer);

	side_check("offer", krdma_conn_private_data(guest->conn, &offer, &length));
	remote.addr = be64toh(offer.addr);
	remote.key = be32toh(offer.key);
	remote.length = be32toh(offer.size);
	if (!done(guest, "read", krdma_entry_read(guest->conn, 1, guest->mr, 0, HALF, &remote,
						  0)))
		return;
	printf("read: %s\n", pattern_verdict(data, HALF, SEED_OF_OWNER));
	pattern_fill(data + HALF, HALF, SEED_OF_WRITER);
	if (!done(guest, "write", krdma_entry_write(guest->conn, 2, guest->mr, HALF, HALF,
						    &remote, HALF)))
		return;
	if (!strcmp(how, "good"))
		guest_receive(guest);
	if (!done(guest, "send", krdma_entry_send(guest->conn, 3, guest->mr, GO_AT, ROOM)))
		return;
	side_done(guest->side.ring);
	printf("answered\n");
}

static void connect_to(struct side *side, char **argv)
{
	struct guest guest = { .side = *side };
	int err;

	guest.conn = side_resolve(side->session, argv[2], argv[3]);
	krdma_ring_close(side->ring);
	side->ring = NULL;
	guest_prepare(&guest);
	side_connect(guest.conn);
	err = krdma_conn_wait(guest.conn, krdma_deadline(2 * PATIENCE_MS), NULL);
	if (err) {
		printf("not connected: %s\n", krdma_error_name(err));
	} else {
		go(&guest, argv[4]);
		krdma_conn_disconnect(guest.conn, 0);
		printf("ended: %s\n", side_ended(guest.conn));
	}
	krdma_conn_close(guest.conn);
	krdma_ring_close(guest.side.ring);
	krdma_mr_deregister(guest.mr, 0);
}

static void refuse(struct side *side, int clients)
{
	struct krdma_conn_query_args query;
	size_t length, strangers = 0;

	while (clients--) {
		unsigned char mirror[MIRROR_SIZE] = { 0 };
		struct krdma_conn *conn = side_next(side);

		length = REQUEST_MAX;
		side_check("data", krdma_conn_private_data(conn, mirror + 1, &length));
		mirror[0] = (unsigned char)length;
		side_check("query", krdma_conn_query(conn, &query, sizeof(query)));
		strangers += !query.peer_is_krdma;
		side_check("reject", krdma_conn_reject(conn, mirror, sizeof(mirror)));
		krdma_conn_close(conn);
	}
	printf("%zu strangers\n", strangers);
}

/* The private data must come back unchanged, followed by zeroes. */
static bool mirrored(struct krdma_conn *conn, const unsigned char *data, size_t length)
{
	unsigned char back[256], padded[REQUEST_MAX] = { 0 };
	size_t there = sizeof(back);

	memcpy(padded, data, length);
	return krdma_conn_wait(conn, krdma_deadline(PATIENCE_MS), NULL) == -ECONNREFUSED &&
	       !krdma_conn_private_data(conn, back, &there) && there >= MIRROR_SIZE &&
	       back[0] == REQUEST_MAX && !memcmp(back + 1, padded, sizeof(padded));
}

static void connect_lengths(struct side *side, const char *host, const char *port)
{
	unsigned char data[REQUEST_MAX + 1];
	size_t length, right = 0;
	int err = 0;

	for (length = 0; length <= sizeof(data); length++) {
		struct krdma_conn *conn = side_resolve(side->session, host, port);

		pattern_fill(data, sizeof(data), 100 + (unsigned int)length);
		side_prepare(side, conn, 1, 1);
		err = krdma_conn_connect(conn, &side_plain, data, length);
		right += !err && mirrored(conn, data, length);
		krdma_conn_close(conn);
	}
	printf("%zu of %d lengths, then %s\n", right, REQUEST_MAX + 1, krdma_error_name(err));
}

int main(int argc, char **argv)
{
	struct side side;

	if (argc < 4 || argc != (strcmp(argv[1], "lengths") ? 5 : 4))
		side_usage("with_verbs listen|connect|refuse|lengths HOST PORT [CLIENTS|HOW]");
	side_open(&side, 0);
	if (!strcmp(argv[1], "connect")) {
		connect_to(&side, argv);
	} else if (!strcmp(argv[1], "lengths")) {
		connect_lengths(&side, argv[2], argv[3]);
	} else {
		side_listen(&side, argv[2], argv[3]);
		if (!strcmp(argv[1], "listen"))
			listen_to(&side, atoi(argv[4]));
		else
			refuse(&side, atoi(argv[4]));
	}
	side_close(&side);
	return 0;
}
