// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The simple layer: what is sent, written and read.
 *
 * Each call has a turn, in which its operations are the only ones that anybody waits
 * for.  What else is in the queue is silent, or ran out of time, and the end of it is
 * nobody's any more.
 */
#include <errno.h>
#include <string.h>

#include "simple.h"

/* Of one operation; longer ones are several, so that no device finds one too long. */
#define CHUNK	((size_t)8 << 20)

/* Completions that are taken at a time. */
#define BATCH	16

#define RETRY_MS	10

/*
 * Headers
 */

/* With the lock, which keeps the order of headers that of the messages. */
static size_t put_header(struct krdma_simple *simple, struct simple_header *header)
{
	size_t receives = (simple->options.depth + SIMPLE_EXTRA) * simple->slot_size;
	size_t offset = receives + simple->header * SIMPLE_HEADER_SIZE;

	header->taken = simple->taken;
	simple_header_write(header, (char *)krdma_mr_data(simple->slots) + offset);
	return offset;
}

/* With the lock: a header, and behind it a part of the buffer.  As of krdma_ring_post(). */
static int post_message(struct krdma_simple *simple, struct simple_header *header, uint8_t flags,
			uint64_t wr_id, size_t offset, uint32_t length)
{
	struct krdma_ring_sge pieces[2];
	struct krdma_sqe entry;
	int err;

	entry = krdma_entry_send(simple->conn, wr_id, simple->slots, put_header(simple, header),
				 SIMPLE_HEADER_SIZE);
	entry.flags = flags;
	if (length) {
		pieces[0] = entry.sge;
		pieces[1].addr = (uintptr_t)simple->options.buffer + offset;
		pieces[1].length = length;
		pieces[1].mr = krdma_mr_id(simple->mr);
		memset(&entry.sge, 0, sizeof(entry.sge));
		entry.sge.addr = (uintptr_t)pieces;
		entry.sge_count = 2;
	}
	err = krdma_ring_post(simple->ring, &entry, 1, NULL);
	if (err)
		return err;
	simple->header = (simple->header + 1) % simple->headers;
	simple->told = header->taken;
	return 0;
}

/*
 * Turns
 */

static int begin_turn(struct krdma_simple *simple, uint64_t deadline)
{
	int err = 0;

	pthread_mutex_lock(&simple->lock);
	while (simple->sending && !err)
		err = simple_sleep(simple, deadline);
	if (!simple->sending) {
		err = 0;
		simple->sending = true;
	}
	pthread_mutex_unlock(&simple->lock);
	return err;
}

/*
 * What became of an operation that did not succeed; the connection is over.  What the
 * peer's device refuses was allowed when it was asked for: the peer is about to end.
 */
static int failure(struct krdma_simple *simple, const struct krdma_cqe *cqe)
{
	int err = simple_over(simple);

	switch (cqe->status) {
	case KRDMA_WC_LOC_LEN_ERR:
	case KRDMA_WC_LOC_QP_OP_ERR:
	case KRDMA_WC_LOC_PROT_ERR:
	case KRDMA_WC_LOC_ACCESS_ERR:
		return -EIO;
	default:
		return err;
	}
}

/*
 * Takes completions, at least one, and looks for that of @wr_id, none: 0.  1: it has
 * succeeded; 0: it was not among them.
 */
static int take(struct krdma_simple *simple, uint64_t wr_id, uint64_t deadline)
{
	struct krdma_cqe cqes[BATCH];
	size_t taken = 0;
	int err;

	do {
		err = krdma_ring_wait(simple->ring, cqes, BATCH, 1, deadline, &taken);
	} while (err == -EINTR);
	if (err == -EAGAIN)
		err = -ETIMEDOUT;
	if (err)
		return err == -ETIMEDOUT ? err : simple_over(simple);
	for (size_t i = 0; i < taken; i++) {
		if (cqes[i].status != KRDMA_WC_SUCCESS)
			return failure(simple, &cqes[i]);
		if (wr_id && cqes[i].wr_id == wr_id)
			return 1;
	}
	return 0;
}

/*
 * With the lock, which is given up for it: what is silent gives its place in a polled
 * queue back when somebody asks the device; if nobody does, this thread.
 */
static void poll_silent(struct krdma_simple *simple)
{
	if (!simple_is_polled(simple) || simple->sending)
		return;
	simple->sending = true;
	pthread_mutex_unlock(&simple->lock);
	take(simple, 0, 0);
	pthread_mutex_lock(&simple->lock);
	simple->sending = false;
	pthread_cond_broadcast(&simple->changed);
}

static bool room_is_due(const struct krdma_simple *simple)
{
	return simple->taken - simple->told >= (simple->options.depth + 1) / 2;
}

void simple_tell_room(struct krdma_simple *simple)
{
	struct simple_header header = { .kind = SIMPLE_KIND_ROOM };

	pthread_mutex_lock(&simple->lock);
	if (room_is_due(simple))
		poll_silent(simple);
	/* If the queue is full, whoever has a turn comes by here at its end. */
	if (room_is_due(simple))
		post_message(simple, &header, KRDMA_SQE_UNSIGNALED, 0, 0, 0);
	pthread_mutex_unlock(&simple->lock);
}

static void end_turn(struct krdma_simple *simple)
{
	pthread_mutex_lock(&simple->lock);
	simple->sending = false;
	pthread_cond_broadcast(&simple->changed);
	pthread_mutex_unlock(&simple->lock);
	simple_tell_room(simple);
}

/* In a turn: until it has succeeded. */
static int await_end(struct krdma_simple *simple, uint64_t wr_id, uint64_t deadline)
{
	int found;

	do {
		found = take(simple, wr_id, deadline);
	} while (!found);
	return found < 0 ? found : 0;
}

/* In a turn: the queue is full, of what is silent or ran out of time; 0: try again. */
static int await_place(struct krdma_simple *simple, uint64_t deadline)
{
	uint64_t soon = krdma_deadline(RETRY_MS);
	int err;

	/* What is silent makes place and says nothing. */
	err = take(simple, 0, soon < deadline ? soon : deadline);
	if (err == -ETIMEDOUT && soon < deadline)
		return 0;
	return err < 0 ? err : 0;
}

/* In a turn: an operation was not accepted; 0: it can be tried again. */
static int refused(struct krdma_simple *simple, int err, uint64_t deadline)
{
	switch (err) {
	case -EAGAIN:
		return await_place(simple, deadline);
	case -ENOTCONN:
	case -ENODEV:
	case -ENOENT:
		return simple_over(simple);
	default:
		return err;
	}
}

/* One operation, from its beginning to its end. */
static int operate(struct krdma_simple *simple, struct krdma_sqe *entry, uint64_t deadline)
{
	int err;

	entry->wr_id = ++simple->wr_id;
	for (;;) {
		err = krdma_ring_post(simple->ring, entry, 1, NULL);
		if (!err)
			return await_end(simple, entry->wr_id, deadline);
		err = refused(simple, err, deadline);
		if (err)
			return err;
	}
}

/*
 * Parts
 */

int simple_fetch_parts(struct krdma_simple *simple, struct simple_hello *peer, uint64_t deadline)
{
	size_t length = (size_t)peer->remote.length;
	struct krdma_mr *copy;
	struct krdma_remote_mr whole;
	struct krdma_sqe entry;
	int err;

	err = krdma_mr_alloc(simple->session, simple->device_id, length,
			     KRDMA_ACCESS_LOCAL_WRITE, &copy);
	if (err)
		return err;
	entry = krdma_entry_read(simple->conn, 0, copy, 0, (uint32_t)length, &peer->remote, 0);
	err = operate(simple, &entry, deadline);
	if (!err)
		err = parts_read(krdma_mr_data(copy), length, &whole, &simple->parts);
	simple_release(&copy);
	if (err)
		return err;
	peer->remote = whole;
	peer->in_parts = false;
	return 0;
}

/*
 * Messages
 */

/* Room at the peer for one, which is this one's then. */
static int reserve(struct krdma_simple *simple, uint64_t deadline)
{
	int err;

	pthread_mutex_lock(&simple->lock);
	err = simple_await(simple, KRDMA_SIMPLE_ROOM, deadline);
	if (!err)
		simple->sent++;
	pthread_mutex_unlock(&simple->lock);
	return err;
}

static void unreserve(struct krdma_simple *simple)
{
	pthread_mutex_lock(&simple->lock);
	simple->sent--;
	pthread_cond_broadcast(&simple->changed);
	pthread_mutex_unlock(&simple->lock);
}

static int send_message(struct krdma_simple *simple, struct simple_header *header, size_t offset,
			uint32_t length, uint64_t deadline, bool *sent)
{
	uint64_t wr_id = ++simple->wr_id;
	int err;

	for (;;) {
		pthread_mutex_lock(&simple->lock);
		err = post_message(simple, header, 0, wr_id, offset, length);
		pthread_mutex_unlock(&simple->lock);
		*sent = !err;
		if (!err)
			return await_end(simple, wr_id, deadline);
		err = refused(simple, err, deadline);
		if (err)
			return err;
	}
}

/* A write of nothing, with the notice as immediate data. */
static int send_imm(struct krdma_simple *simple, uint32_t notice, uint32_t value,
		    uint64_t deadline, bool *sent)
{
	struct krdma_sqe entry;
	int err;

	entry = krdma_entry_write_imm(simple->conn, 0, NULL, 0, 0, &simple->peer.remote, 0,
				      simple_imm_write(notice, value));
	entry.wr_id = ++simple->wr_id;
	for (;;) {
		err = krdma_ring_post(simple->ring, &entry, 1, NULL);
		*sent = !err;
		if (!err)
			return await_end(simple, entry.wr_id, deadline);
		err = refused(simple, err, deadline);
		if (err)
			return err;
	}
}

static int send_kind(struct krdma_simple *simple, struct simple_header *header, size_t offset,
		     uint32_t length)
{
	uint64_t deadline = simple_deadline_of(simple);
	bool sent = false;
	int err;

	err = reserve(simple, deadline);
	if (err)
		return err;
	err = begin_turn(simple, deadline);
	if (!err) {
		if (header->kind == SIMPLE_KIND_NOTICE && simple->has_imm)
			err = send_imm(simple, header->notice, header->value, deadline, &sent);
		else
			err = send_message(simple, header, offset, length, deadline, &sent);
		end_turn(simple);
	}
	if (err && !sent)
		unreserve(simple);
	return err;
}

KRDMA_PUBLIC int krdma_simple_send(struct krdma_simple *simple, size_t offset, size_t length)
{
	struct simple_header header = { .kind = SIMPLE_KIND_MESSAGE };
	int err;

	if (!simple)
		return -EINVAL;
	err = simple_check(simple, offset, length);
	if (!err)
		err = simple_enter(simple);
	if (err)
		return err;
	if (length > simple->peer.message_size)
		err = -EMSGSIZE;
	else
		err = send_kind(simple, &header, offset, (uint32_t)length);
	simple_leave(simple);
	return err;
}

static int notify(struct krdma_simple *simple, uint32_t notice, uint32_t value)
{
	struct simple_header header = {
		.kind = SIMPLE_KIND_NOTICE, .notice = notice, .value = value,
	};
	int err;

	if (!simple || value >= KRDMA_SIMPLE_VALUE_END)
		return -EINVAL;
	err = simple_enter(simple);
	if (err)
		return err;
	err = send_kind(simple, &header, 0, 0);
	simple_leave(simple);
	return err;
}

KRDMA_PUBLIC int krdma_simple_notify_write(struct krdma_simple *simple, uint32_t value)
{
	return notify(simple, KRDMA_SIMPLE_WRITTEN, value);
}

KRDMA_PUBLIC int krdma_simple_notify_read(struct krdma_simple *simple, uint32_t value)
{
	return notify(simple, KRDMA_SIMPLE_READ, value);
}

/*
 * The peer's buffer
 */

/* What the peer's device would refuse, and end the connection with that. */
static int check_remote(const struct krdma_simple *simple, uint64_t offset, size_t length,
			uint32_t right)
{
	const struct krdma_remote_mr *remote = &simple->peer.remote;

	if (!(remote->access & right))
		return -EACCES;
	return offset <= remote->length && length <= remote->length - offset ? 0 : -ERANGE;
}

static int transfer(struct krdma_simple *simple, uint8_t opcode, size_t offset,
		    uint64_t remote_offset, size_t length, uint64_t deadline)
{
	struct krdma_remote_mr remote = simple->peer.remote;
	struct krdma_sqe entry;
	size_t done = 0, part;
	uint64_t reach;
	int err;

	do {
		part = length - done < CHUNK ? length - done : CHUNK;
		if (simple->parts) {
			remote.key = parts_key(simple->parts, remote_offset + done, &reach);
			if (part > reach)
				part = (size_t)reach;
		}
		entry = krdma_entry_remote(opcode, simple->conn, 0, part ? simple->mr : NULL,
					   offset + done, (uint32_t)part, &remote,
					   remote_offset + done);
		err = operate(simple, &entry, deadline);
		done += part;
	} while (!err && done < length);
	return err;
}

static int access_remote(struct krdma_simple *simple, uint8_t opcode, uint32_t right,
			 size_t offset, uint64_t remote_offset, size_t length)
{
	uint64_t deadline;
	int err;

	if (!simple)
		return -EINVAL;
	err = simple_check(simple, offset, length);
	if (!err)
		err = simple_enter(simple);
	if (err)
		return err;
	deadline = simple_deadline_of(simple);
	err = check_remote(simple, remote_offset, length, right);
	if (!err)
		err = begin_turn(simple, deadline);
	if (!err) {
		err = transfer(simple, opcode, offset, remote_offset, length, deadline);
		end_turn(simple);
	}
	simple_leave(simple);
	return err;
}

KRDMA_PUBLIC int krdma_simple_write(struct krdma_simple *simple, size_t offset,
				    uint64_t remote_offset, size_t length)
{
	return access_remote(simple, KRDMA_OP_WRITE, KRDMA_ACCESS_REMOTE_WRITE, offset,
			     remote_offset, length);
}

KRDMA_PUBLIC int krdma_simple_read(struct krdma_simple *simple, size_t offset,
				   uint64_t remote_offset, size_t length)
{
	return access_remote(simple, KRDMA_OP_READ, KRDMA_ACCESS_REMOTE_READ, offset,
			     remote_offset, length);
}
