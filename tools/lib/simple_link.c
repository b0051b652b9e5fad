// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The simple layer: the connection of a context.
 */
#include <errno.h>
#include <string.h>

#include "simple.h"

/* Cache line size, so that copies are aligned. */
#define SLOT_ALIGN	64

/* How long a disconnect may take, before and after the abort, in ms. */
#define END_MS		3000

/*
 * Resources of a connection
 */

/* Registers the buffer with a device, unless the previous connection used the same device. */
static int use_device(struct krdma_simple *simple, uint32_t device_id)
{
	struct krdma_device_query_args device;
	int err;

	if (simple->device_id == device_id)
		return 0;
	mr_release(simple->mr);
	simple->mr = NULL;
	mr_release(simple->table);
	simple->table = NULL;
	simple->device_id = 0;

	err = krdma_device_query(simple->ch.session, device_id, &device, sizeof(device));
	if (!err)
		err = krdma_mr_register(simple->ch.session, device_id, simple->options.buffer,
					simple->options.buffer_size, simple->options.access,
					&simple->mr);
	if (!err)
		err = parts_offer(simple->ch.session, device_id, simple->mr, 0,
				  simple->options.buffer_size, &simple->table);
	/* The device existed when the connection was resolved. */
	if (err == -ENOENT)
		err = -ENODEV;
	if (err)
		return err;
	simple->has_imm = device.caps & KRDMA_DEVICE_CAP_IMM;
	simple->device_id = device_id;
	return 0;
}

static int make_slots(struct krdma_simple *simple, uint32_t receives, uint32_t sends)
{
	uint64_t length;

	/*
	 * A header is reused after as many messages as the send depth; by then it has been
	 * sent.
	 */
	simple->headers = sends + 1;
	simple->ch.slot_length = SIMPLE_HEADER_SIZE + simple->options.message_size;
	simple->ch.slot_size = (simple->ch.slot_length + SLOT_ALIGN - 1) &
			       ~(size_t)(SLOT_ALIGN - 1);
	length = (uint64_t)receives * simple->ch.slot_size +
		 (uint64_t)simple->headers * SIMPLE_HEADER_SIZE;
	if (length > SIZE_MAX)
		return -ENOMEM;
	return krdma_mr_alloc(simple->ch.session, simple->device_id, (size_t)length,
			      KRDMA_ACCESS_LOCAL_WRITE, &simple->ch.slots);
}

static int create_qp(struct krdma_simple *simple)
{
	uint32_t receives = simple->options.depth + SIMPLE_EXTRA;
	struct krdma_conn_create_qp_args options = {
		.size = sizeof(options),
		.send_depth = SIMPLE_SENDS,
		.recv_depth = receives,
		.max_send_sge = 2,
		.max_recv_sge = 1,
	};
	struct krdma_conn_query_args query;
	int err;

	err = krdma_conn_query(simple->ch.conn, &query, sizeof(query));
	if (!err)
		err = use_device(simple, query.device_id);
	if (!err)
		err = channel_create_qp(&simple->ch, &options);
	if (!err)
		err = krdma_conn_query(simple->ch.conn, &query, sizeof(query));
	if (!err)
		err = make_slots(simple, receives, query.send_depth);
	if (!err)
		err = channel_post_receives(&simple->ch, 0, receives);
	return err;
}

int simple_link_create_qp(struct krdma_simple *simple, struct krdma_conn *conn)
{
	simple->ch.conn = conn;
	simple->sent = 0;
	simple->peer_taken = 0;
	simple->taken = 0;
	simple->sent_taken = 0;
	simple->header = 0;
	simple->wr_id = 0;
	simple->ch.failed = 0;
	simple->ended_here = false;
	memset(&simple->peer, 0, sizeof(simple->peer));
	return create_qp(simple);
}

/* Tries the addresses in turn until one has a route. */
int simple_link_resolve(struct krdma_simple *simple)
{
	uint64_t deadline = simple_deadline_of(simple);
	struct krdma_conn *conn;
	int err;

	for (;;) {
		const struct sockaddr_storage *address = &simple->addresses[simple->address];

		err = krdma_conn_create(simple->ch.session, &conn);
		if (err)
			return err;
		err = krdma_conn_resolve(conn, (const struct sockaddr *)address, NULL);
		if (!err)
			err = channel_wait(conn, deadline);
		if (!err) {
			err = simple_link_create_qp(simple, conn);
			if (err)
				simple_link_end(simple);
			return err;
		}
		krdma_conn_close(conn);
		if (simple->address + 1 >= simple->address_count)
			return err;
		simple->address++;
	}
}

int simple_link_hello(struct krdma_simple *simple, void *wire)
{
	unsigned char descriptor[KRDMA_MR_DESC_SIZE] = { 0 };
	int err;

	err = krdma_mr_describe(simple->table ? simple->table : simple->mr, 0, 0,
				descriptor);
	/* -EACCES: the peer gets no access, so there is no memory descriptor to send. */
	if (err && err != -EACCES)
		return err;
	simple_hello_write(simple->options.depth, simple->options.message_size, descriptor,
			   simple->table, wire);
	return 0;
}

int simple_link_up(struct krdma_simple *simple, struct simple_hello *peer, uint64_t deadline)
{
	int err = 0;

	if (peer->in_parts)
		err = simple_fetch_parts(simple, peer, deadline);
	/* If the table is invalid or unreadable, a server skips the client like a vanished one. */
	if (err)
		return simple->listener ? -EAGAIN : err;
	pthread_mutex_lock(&simple->ch.lock);
	simple->peer = *peer;
	simple->up = true;
	err = simple_poll_link(simple);
	pthread_mutex_unlock(&simple->ch.lock);
	return err;
}

/*
 * Disconnecting
 */

int simple_link_check_gone(struct krdma_simple *simple)
{
	uint32_t state;

	if (!simple->up)
		return 0;
	if (krdma_conn_wait(simple->ch.conn, 0, &state))
		return 0;
	return -EISCONN;
}

static int await_closed(struct krdma_conn *conn)
{
	uint64_t deadline = krdma_deadline(END_MS);
	int err;

	do {
		err = krdma_conn_await_closed(conn, deadline);
	} while (err == -EINTR);
	return err;
}

void simple_link_disconnect(struct krdma_simple *simple)
{
	/* Ignore the error of a connection that is closed already. Abort if closing takes long. */
	krdma_conn_disconnect(simple->ch.conn, 0);
	if (await_closed(simple->ch.conn)) {
		krdma_conn_disconnect(simple->ch.conn, KRDMA_DISCONNECT_ABORT);
		await_closed(simple->ch.conn);
	}
}

void simple_link_release(struct krdma_simple *simple)
{
	krdma_conn_close(simple->ch.conn);
	simple->ch.conn = NULL;
	channel_release(&simple->ch);
	parts_free(simple->parts);
	simple->parts = NULL;
}

void simple_link_end(struct krdma_simple *simple)
{
	bool was_up;

	pthread_mutex_lock(&simple->ch.lock);
	was_up = simple->up;
	simple->up = false;
	pthread_mutex_unlock(&simple->ch.lock);
	if (!simple->ch.conn)
		return;

	if (was_up)
		simple_link_disconnect(simple);
	else
		krdma_conn_disconnect(simple->ch.conn, KRDMA_DISCONNECT_ABORT);
	/* All waiting calls return now that the connection has ended. */
	pthread_mutex_lock(&simple->ch.lock);
	while (simple->users)
		channel_sleep(&simple->ch, KRDMA_FOREVER);
	simple_lists_clear(simple);
	simple_poll_unlink(simple);
	pthread_mutex_unlock(&simple->ch.lock);

	simple_link_release(simple);
}
