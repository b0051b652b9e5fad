// SPDX-License-Identifier: GPL-2.0
/*
 * A peer of one of libkrdma's hubs that sends arbitrary frames.
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include <krdma_entry.h>

#include "lib_both.h"
#include "lib_hub_peer.h"
#include "lib_pair.h"

static const struct hub_greeting usual = {
	.depth = HUB_PEER_DEPTH,
	.eager = HUB_PEER_EAGER,
	.longest = HUB_PEER_LONGEST,
};

size_t hub_peer_greeting(unsigned char wire[HUB_GREETING_MAX])
{
	return hub_greeting_write(&usual, wire);
}

size_t hub_peer_greeting_with_secret(unsigned char wire[HUB_GREETING_MAX])
{
	struct hub_greeting greeting = usual;

	greeting.has_secret = true;
	return hub_greeting_write(&greeting, wire);
}

int hub_peer_listen(struct krdma *session, struct krdma_listener **listener,
		    char to[HUB_PEER_TO])
{
	struct __kernel_sockaddr_storage address;
	struct sockaddr_storage at;
	int err = address_set(&address, both_address(), 0);

	if (!err)
		err = krdma_listen(session, (struct sockaddr *)&address, 0, 0, listener);
	if (!err)
		err = krdma_listener_address(*listener, &at);
	if (!err)
		snprintf(to, HUB_PEER_TO, "%s:%u", both_address(),
			 ntohs(((struct sockaddr_in *)&at)->sin_port));
	return err;
}

int hub_peer_name(const char *name, const char *first, const char *second)
{
	FILE *hosts = fopen("/etc/hosts", "a"), *options = fopen("/etc/host.conf", "w");

	if (!hosts || !options)
		return -errno;
	fprintf(hosts, "%s %s\n%s %s\n", first, name, second, name);
	fprintf(options, "multi on\n");
	return fclose(hosts) || fclose(options);
}

int hub_peer_open(struct hub_peer *peer)
{
	memset(peer, 0, sizeof(*peer));
	return krdma_open(&peer->session);
}

void hub_peer_close(struct hub_peer *peer)
{
	hub_peer_leave(peer);
	krdma_mr_deregister(peer->mr, KRDMA_DEREGISTER_LATER);
	krdma_close(peer->session);
	memset(peer, 0, sizeof(*peer));
}

static struct krdma_sqe receive(struct hub_peer *peer, unsigned int number)
{
	return krdma_entry_recv(peer->conn, number, peer->mr, (number + 1) * HUB_PEER_ROOM,
				HUB_PEER_ROOM);
}

int hub_peer_receive(struct hub_peer *peer, unsigned int number)
{
	struct krdma_sqe entry = receive(peer, number);

	return krdma_ring_post(peer->ring, &entry, 1, NULL);
}

static int prepare(struct hub_peer *peer, unsigned int receives)
{
	struct krdma_sqe entries[HUB_PEER_RECEIVES];
	struct krdma_conn_query_args query;
	int err = krdma_conn_query(peer->conn, &query, sizeof(query));

	peer->early_count = 0;
	peer->early_taken = 0;
	if (!err) {
		peer->device = query.device_id;
		err = krdma_ring_create(peer->session, NULL, &peer->ring);
	}
	if (!err && !peer->mr)
		err = krdma_mr_alloc(peer->session, peer->device,
				     (HUB_PEER_RECEIVES + 1) * HUB_PEER_ROOM,
				     KRDMA_ACCESS_LOCAL_WRITE, &peer->mr);
	if (!err)
		err = krdma_conn_create_qp(peer->conn, peer->ring, NULL, NULL, NULL);
	for (unsigned int i = 0; i < receives && !err; i++)
		entries[i] = receive(peer, i);
	return err || !receives ? err : krdma_ring_post(peer->ring, entries, receives, NULL);
}

int hub_peer_connect(struct hub_peer *peer, const struct sockaddr *address, const void *data,
		     size_t length, unsigned int receives)
{
	int err = krdma_conn_create(peer->session, &peer->conn);

	if (!err)
		err = krdma_conn_resolve(peer->conn, address, &lib_patient);
	if (!err)
		err = krdma_conn_wait(peer->conn, LIB_PATIENCE, NULL);
	if (!err)
		err = prepare(peer, receives);
	if (!err)
		err = krdma_conn_connect(peer->conn, NULL, data, length);
	return err ? err : krdma_conn_wait(peer->conn, LIB_PATIENCE, NULL);
}

int hub_peer_accept(struct hub_peer *peer, struct krdma_conn *conn, const void *data,
		    size_t length, unsigned int receives)
{
	int err;

	peer->conn = conn;
	err = prepare(peer, receives);
	if (!err)
		err = krdma_conn_accept(conn, NULL, data, length);
	return err ? err : krdma_conn_wait(conn, LIB_PATIENCE, NULL);
}

int hub_peer_ask(struct krdma_hub *hub, struct krdma *session, struct krdma_ep **ep,
		 struct krdma_conn **conn)
{
	struct krdma_listener *listener = NULL;
	struct krdma_ep_record record;
	char to[HUB_PEER_TO];
	int err = hub_peer_listen(session, &listener, to);

	if (!err)
		err = krdma_ep_connect(hub, to, NULL, 0, 0, ep);
	while (!err && krdma_listener_next(listener, 0, conn))
		krdma_hub_next(hub, krdma_deadline(20), &record, sizeof(record));
	krdma_listener_close(listener);
	return err;
}

int hub_peer_meet(struct krdma_hub *hub, struct hub_peer *peer, unsigned int receives,
		  struct krdma_ep **ep)
{
	unsigned char hello[HUB_GREETING_MAX];
	struct krdma_ep_record record;
	struct krdma_conn *conn;
	int err = hub_peer_ask(hub, peer->session, ep, &conn);

	if (!err)
		err = hub_peer_accept(peer, conn, hello, hub_peer_greeting(hello), receives);
	if (!err)
		err = krdma_hub_next(hub, LIB_PATIENCE, &record, sizeof(record));
	return err || record.event == KRDMA_EP_JOINED ? err : -EPROTO;
}

void hub_peer_leave(struct hub_peer *peer)
{
	krdma_conn_close(peer->conn);
	krdma_ring_close(peer->ring);
	peer->conn = NULL;
	peer->ring = NULL;
}

int hub_peer_operate(struct hub_peer *peer, struct krdma_sqe entry, uint64_t deadline)
{
	struct krdma_cqe cqe;
	size_t taken;
	int err;

	entry.wr_id = HUB_PEER_RECEIVES;
	err = krdma_ring_post(peer->ring, &entry, 1, NULL);
	while (!err) {
		err = krdma_ring_wait(peer->ring, &cqe, 1, 1, deadline, &taken);
		if (err)
			break;
		if (cqe.wr_id == HUB_PEER_RECEIVES)
			return cqe.status ? -EIO : 0;
		/* There are no more receives than places. */
		memmove(peer->early, peer->early + peer->early_taken,
			(peer->early_count - peer->early_taken) * sizeof(cqe));
		peer->early_count -= peer->early_taken;
		peer->early_taken = 0;
		peer->early[peer->early_count++] = cqe;
	}
	return err;
}

int hub_peer_send_raw(struct hub_peer *peer, const void *wire, size_t length, uint64_t deadline)
{
	memcpy(krdma_mr_data(peer->mr), wire, length);
	return hub_peer_operate(peer, krdma_entry_send(peer->conn, 0, peer->mr, 0, length),
				deadline);
}

int hub_peer_send(struct hub_peer *peer, const struct hub_frame *frame, const void *data,
		  size_t length, uint64_t deadline)
{
	unsigned char wire[HUB_PEER_ROOM];

	hub_frame_write(frame, wire);
	if (length)
		memcpy(wire + HUB_HEADER_SIZE, data, length);
	return hub_peer_send_raw(peer, wire, HUB_HEADER_SIZE + length, deadline);
}

int hub_peer_next(struct hub_peer *peer, uint64_t deadline, struct hub_frame *frame,
		  unsigned int *number)
{
	const unsigned char *room = krdma_mr_data(peer->mr);
	struct krdma_cqe cqe;
	size_t taken;
	int err = 0;

	if (peer->early_taken < peer->early_count)
		cqe = peer->early[peer->early_taken++];
	else
		err = krdma_ring_wait(peer->ring, &cqe, 1, 1, deadline, &taken);
	if (err)
		return err;
	/* A late work request, whose waiting has ended, is the end, too. */
	if (cqe.status || cqe.wr_id >= HUB_PEER_RECEIVES)
		return -ECONNRESET;
	*number = (unsigned int)cqe.wr_id;
	return hub_frame_read(room + (cqe.wr_id + 1) * HUB_PEER_ROOM, cqe.length, frame);
}

int hub_peer_refill(struct hub_peer *peer)
{
	const struct hub_frame message = { .kind = HUB_MESSAGE };
	struct hub_frame frame;
	unsigned int number;
	int err = 0;

	while (!err && !hub_peer_next(peer, 0, &frame, &number))
		err = hub_peer_receive(peer, number);
	return err ? err : hub_peer_send(peer, &message, "more", 4, LIB_PATIENCE);
}

int hub_peer_tell(struct hub_peer *peer, uint8_t kind, const unsigned char bytes[HUB_PROOF_SIZE])
{
	const struct hub_frame frame = { .kind = kind };

	return hub_peer_send(peer, &frame, bytes, HUB_PROOF_SIZE, LIB_PATIENCE);
}

int hub_peer_hear(struct hub_peer *peer, uint8_t kind, unsigned char bytes[HUB_PROOF_SIZE])
{
	struct hub_frame frame;
	unsigned int number;
	int err = hub_peer_next(peer, LIB_PATIENCE, &frame, &number);

	if (err)
		return err;
	if (frame.kind == HUB_BYE)
		return frame.code ? hub_code_error(frame.code) : -EPIPE;
	if (frame.kind != kind)
		return -EPROTO;
	memcpy(bytes, frame.data, HUB_PROOF_SIZE);
	err = hub_peer_receive(peer, number);
	/* The hub has ended the connection; what it has said before is still to be heard. */
	return err == -ENOTCONN ? 0 : err;
}

static int tell_proof(struct hub_peer *peer, const struct secret *secret, char side,
		      const struct hub_peer_nonces *nonces)
{
	unsigned char proof[SECRET_PROOF];

	secret_proof(secret, HUB_PEER_LABEL, side, nonces->server, nonces->client, proof);
	return hub_peer_tell(peer, HUB_PROOF, proof);
}

int hub_peer_prove(struct hub_peer *peer, const struct secret *secret, bool is_server,
		   struct hub_peer_nonces *nonces)
{
	unsigned char proof[SECRET_PROOF], expected[SECRET_PROOF];
	unsigned char *own = is_server ? nonces->server : nonces->client;
	int err = secret_nonce(own);

	if (!err && is_server)
		err = hub_peer_tell(peer, HUB_CHALLENGE, own);
	if (!err)
		err = hub_peer_hear(peer, HUB_CHALLENGE, is_server ? nonces->client :
				    nonces->server);
	if (!err && !is_server)
		err = hub_peer_tell(peer, HUB_CHALLENGE, own);
	if (!err && !is_server)
		err = tell_proof(peer, secret, 'c', nonces);
	if (!err)
		err = hub_peer_hear(peer, HUB_PROOF, proof);
	if (err)
		return err;
	secret_proof(secret, HUB_PEER_LABEL, is_server ? 'c' : 's', nonces->server,
		     nonces->client, expected);
	if (!secret_same(proof, expected))
		return -EKEYREJECTED;
	return is_server ? tell_proof(peer, secret, 's', nonces) : 0;
}
