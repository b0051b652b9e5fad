// SPDX-License-Identifier: GPL-2.0
/*
 * One end of a connection for libkrdma's file transfers.
 */
#include <errno.h>
#include <string.h>

#include <krdma_entry.h>

#include "lib_pair.h"
#include "lib_raw.h"
#include "session.h"

void raw_set(struct message *message, unsigned int offset, uint64_t value, unsigned int bytes)
{
	for (unsigned int i = 0; i < bytes; i++)
		message->bytes[offset + i] = value >> 8 * i;
}

struct message raw_make(uint8_t type, const char *name)
{
	struct message message = { .length = FIXED + (name ? strlen(name) : 0) };

	message.bytes[0] = type;
	if (name) {
		raw_set(&message, 2, strlen(name), 2);
		memcpy(message.bytes + FIXED, name, strlen(name));
	}
	return message;
}

struct message raw_piece(uint8_t type, uint64_t offset, uint64_t length, uint32_t slot)
{
	struct message message = raw_make(type, NULL);

	raw_set(&message, 8, offset, 8);
	raw_set(&message, 16, length, 8);
	raw_set(&message, 44, slot, 4);
	return message;
}

void raw_set_window(struct raw *raw, struct message *message, uint32_t size, uint32_t count)
{
	raw_set(message, 48, size, 4);
	raw_set(message, 52, count, 4);
	krdma_mr_describe(raw->window, 0, 0, message->bytes + 56);
}

void raw_hello(unsigned char bytes[HELLO_SHORT], uint16_t version, uint32_t code)
{
	memset(bytes, 0, HELLO_SHORT);
	memcpy(bytes, "krdf", 4);
	bytes[4] = version;
	bytes[8] = code;
}

void raw_hello_join(unsigned char bytes[HELLO], uint16_t flags, uint32_t number,
		    const unsigned char token[TOKEN])
{
	raw_hello(bytes, RAW_VERSION, 0);
	bytes[6] = flags;
	bytes[12] = number;
	memcpy(bytes + HELLO_SHORT, token, TOKEN);
}

static int raw_prepare(struct raw *raw)
{
	struct krdma_sqe entries[RECEIVES];
	struct krdma_conn_query_args query;
	int ret = krdma_ring_create(raw->session, NULL, &raw->ring);

	if (!ret)
		ret = krdma_conn_create_qp(raw->conn, raw->ring, NULL, NULL, NULL);
	if (!ret)
		ret = krdma_conn_query(raw->conn, &query, sizeof(query));
	if (!ret && !raw->mr)
		ret = krdma_mr_alloc(raw->session, query.device_id, (RECEIVES + 1) * ROOM,
				     KRDMA_ACCESS_LOCAL_WRITE, &raw->mr);
	if (!ret && !raw->window)
		ret = krdma_mr_alloc(raw->session, query.device_id, WINDOW, ACCESS_ALL,
				     &raw->window);
	for (unsigned int i = 0; i < RECEIVES && !ret; i++)
		entries[i] = krdma_entry_recv(raw->conn, i, raw->mr, i * ROOM, ROOM);
	return ret ? ret : krdma_ring_post(raw->ring, entries, RECEIVES, NULL);
}

int raw_connect(struct raw *raw, struct files *files, const void *data, size_t length)
{
	memset(raw, 0, sizeof(*raw));
	return raw_connect_again(raw, files, data, length);
}

int raw_connect_again(struct raw *raw, struct files *files, const void *data, size_t length)
{
	uint64_t deadline = krdma_deadline(PATIENCE_MS);
	int ret;

	raw->session = files->session;
	ret = krdma_conn_create(raw->session, &raw->conn);
	if (!ret)
		ret = krdma_conn_resolve(raw->conn, (struct sockaddr *)&files->address,
					 &lib_patient);
	if (!ret)
		ret = krdma_conn_wait(raw->conn, deadline, NULL);
	if (!ret)
		ret = raw_prepare(raw);
	if (!ret)
		ret = krdma_conn_connect(raw->conn, NULL, data, length);
	return ret ? ret : krdma_conn_wait(raw->conn, deadline, NULL);
}

int raw_take(struct raw *raw, struct krdma *session, struct krdma_conn *conn, const void *data,
	     size_t length)
{
	memset(raw, 0, sizeof(*raw));
	return raw_take_again(raw, session, conn, data, length);
}

int raw_take_again(struct raw *raw, struct krdma *session, struct krdma_conn *conn,
		   const void *data, size_t length)
{
	int ret;

	raw->session = session;
	raw->conn = conn;
	ret = raw_prepare(raw);
	if (!ret)
		ret = krdma_conn_accept(raw->conn, NULL, data, length);
	return ret ? ret : krdma_conn_wait(raw->conn, krdma_deadline(PATIENCE_MS), NULL);
}

int raw_accept(struct raw *raw, struct krdma *session, struct krdma_listener *listener,
	       const void *data, size_t length)
{
	struct krdma_conn *conn;
	int ret;

	memset(raw, 0, sizeof(*raw));
	ret = krdma_listener_next(listener, krdma_deadline(PATIENCE_MS), &conn);
	return ret ? ret : raw_take(raw, session, conn, data, length);
}

void raw_leave(struct raw *raw)
{
	krdma_conn_close(raw->conn);
	krdma_ring_close(raw->ring);
	raw->conn = NULL;
	raw->ring = NULL;
	raw->early_count = 0;
	raw->early_taken = 0;
}

void raw_close(struct raw *raw)
{
	raw_leave(raw);
	krdma_mr_deregister(raw->mr, KRDMA_DEREGISTER_LATER);
	krdma_mr_deregister(raw->window, KRDMA_DEREGISTER_LATER);
}

/* Post a work request with the number RECEIVES, and wait for it; a reply may arrive earlier. */
static int operate(struct raw *raw, const struct krdma_sqe *entry)
{
	struct krdma_cqe cqe;
	size_t taken;
	int ret = krdma_ring_post(raw->ring, entry, 1, NULL);

	while (!ret) {
		ret = krdma_ring_wait(raw->ring, &cqe, 1, 1, krdma_deadline(PATIENCE_MS),
				      &taken);
		if (!ret && cqe.wr_id == RECEIVES)
			return cqe.status ? -EIO : 0;
		if (!ret)
			raw->early[raw->early_count++] = cqe;
	}
	return ret;
}

/* The message is sent from the last slot of the MR. */
int raw_send(struct raw *raw, const struct message *message)
{
	struct krdma_sqe entry = krdma_entry_send(raw->conn, RECEIVES, raw->mr,
						  RECEIVES * ROOM, message->length);
	unsigned char *room = krdma_mr_data(raw->mr);

	memcpy(room + RECEIVES * ROOM, message->bytes, message->length);
	return operate(raw, &entry);
}

int raw_transfer(struct raw *raw, uint8_t opcode, size_t offset, uint32_t length,
		 const struct krdma_remote_mr *remote, uint64_t remote_offset)
{
	struct krdma_sqe entry = krdma_entry_remote(opcode, raw->conn, RECEIVES, raw->window,
						    offset, length, remote, remote_offset);

	return operate(raw, &entry);
}

/* Receive the next message that is not ALIVE.  Returns its type, or -errno. */
int raw_next(struct raw *raw, struct message *message)
{
	unsigned char *room = krdma_mr_data(raw->mr);
	struct krdma_cqe cqe;
	size_t taken;
	int ret;

	for (;;) {
		if (raw->early_taken < raw->early_count) {
			cqe = raw->early[raw->early_taken++];
		} else {
			ret = krdma_ring_wait(raw->ring, &cqe, 1, 1,
					      krdma_deadline(PATIENCE_MS), &taken);
			if (ret)
				return ret;
		}
		if (cqe.status)
			return -ECONNRESET;
		if (cqe.wr_id == RECEIVES)
			continue;
		message->length = cqe.length;
		memcpy(message->bytes, room + cqe.wr_id * ROOM, cqe.length);
		if (message->bytes[0] != ALIVE)
			return message->bytes[0];
		memcpy(&raw->examined, message->bytes + 8, sizeof(raw->examined));
	}
}

/* The same without credit. */
int raw_receive(struct raw *raw, struct message *message)
{
	int ret;

	do {
		ret = raw_next(raw, message);
	} while (ret == CREDIT);
	return ret;
}

int raw_offer(struct raw *raw, uint64_t length, uint32_t slots)
{
	struct message message = raw_make(PUT, "evil");
	int ret;

	raw_set(&message, 16, length, 8);
	raw_set(&message, 36, 0644, 4);
	ret = raw_send(raw, &message);
	if (!ret)
		ret = raw_receive(raw, &message);
	if (ret != HAVE)
		return ret;
	message = raw_make(OFFER, NULL);
	raw_set_window(raw, &message, 4096, slots);
	ret = raw_send(raw, &message);
	message = raw_piece(DATA, 0, 4096, 0);
	if (!ret)
		ret = raw_send(raw, &message);
	return ret ? ret : raw_next(raw, &message);
}
