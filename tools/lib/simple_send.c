// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The simple layer: sends, writes and reads.
 *
 * Each call has a turn, during which its work requests are the only ones that a thread waits
 * for. All other work requests in the ring are unsignaled, or belong to a call that timed out:
 * their completions are ignored, unless they failed, which ends the connection.
 */
#include <errno.h>
#include <string.h>

#include "simple.h"

/* Bytes of the longest work request. A longer transfer uses several: devices limit the length. */
#define CHUNK	((size_t)8 << 20)

#define RETRY_MS	10

/*
 * Headers
 */

/* Call with the lock held, so that headers are sent in the order in which they are written. */
static size_t put_header(struct krdma_simple *simple, struct simple_header *header)
{
	size_t receives = (simple->options.depth + SIMPLE_EXTRA) * simple->ch.slot_size;
	size_t offset = receives + simple->header * SIMPLE_HEADER_SIZE;

	header->taken = simple->taken;
	simple_header_write(header, (char *)krdma_mr_data(simple->ch.slots) + offset);
	return offset;
}

/*
 * Call with the lock held: sends a header, followed by a range of the buffer. Errors as for
 * krdma_ring_post().
 */
static int post_message(struct krdma_simple *simple, struct simple_header *header, uint8_t flags,
			uint64_t wr_id, size_t offset, uint32_t length)
{
	struct krdma_ring_sge pieces[2];
	struct krdma_sqe entry;
	int err;

	entry = krdma_entry_send(simple->ch.conn, wr_id, simple->ch.slots,
				 put_header(simple, header), SIMPLE_HEADER_SIZE);
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
	err = krdma_ring_post(simple->ch.ring, &entry, 1, NULL);
	if (err)
		return err;
	simple->header = (simple->header + 1) % simple->headers;
	simple->sent_taken = header->taken;
	return 0;
}

/*
 * Turns
 */

/*
 * Maps a failed completion to an errno. The failure ends the connection. Access was checked
 * before posting: if the peer's device nevertheless refuses it, the peer is about to disconnect.
 */
static int failure(struct krdma_simple *simple, const struct krdma_cqe *cqe)
{
	int err = channel_over(&simple->ch);

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
 * Takes completions, at least one, and looks for that of @wr_id (0: none). Returns 1 if it is
 * among them and succeeded, 0 if it is not among them, or a negative errno.
 */
static int take(struct krdma_simple *simple, uint64_t wr_id, uint64_t deadline)
{
	struct krdma_cqe cqes[CHANNEL_BATCH];
	size_t taken = 0;
	int err;

	do {
		err = krdma_ring_wait(simple->ch.ring, cqes, CHANNEL_BATCH, 1, deadline, &taken);
	} while (err == -EINTR);
	if (err == -EAGAIN)
		err = -ETIMEDOUT;
	if (err)
		return err == -ETIMEDOUT ? err : channel_over(&simple->ch);
	for (size_t i = 0; i < taken; i++) {
		if (cqes[i].status != KRDMA_WC_SUCCESS)
			return failure(simple, &cqes[i]);
		if (wr_id && cqes[i].wr_id == wr_id)
			return 1;
	}
	return 0;
}

static bool room_is_due(const struct krdma_simple *simple)
{
	return simple->taken - simple->sent_taken >= (simple->options.depth + 1) / 2;
}

void simple_send_credits(struct krdma_simple *simple)
{
	struct simple_header header = { .kind = SIMPLE_KIND_ROOM };

	pthread_mutex_lock(&simple->ch.lock);
	if (room_is_due(simple))
		channel_poll(&simple->ch);
	/*
	 * If the send depth is used up, this fails. The thread that has the turn calls this
	 * function again at the end of its turn.
	 */
	if (room_is_due(simple))
		post_message(simple, &header, KRDMA_SQE_UNSIGNALED, 0, 0, 0);
	pthread_mutex_unlock(&simple->ch.lock);
}

static void end_turn(struct krdma_simple *simple)
{
	channel_end(&simple->ch, &simple->ch.is_busy);
	simple_send_credits(simple);
}

/* Call while having the turn: waits until the work request has completed. */
static int await_end(struct krdma_simple *simple, uint64_t wr_id, uint64_t deadline)
{
	int found;

	do {
		found = take(simple, wr_id, deadline);
	} while (!found);
	return found < 0 ? found : 0;
}

/*
 * Call while having the turn, if unsignaled and timed-out work requests use up the send depth.
 * Returns 0 to try again.
 */
static int await_place(struct krdma_simple *simple, uint64_t deadline)
{
	uint64_t soon = krdma_deadline(RETRY_MS);
	int err;

	/*
	 * Unsignaled work requests free their places without a completion, so wait only a short
	 * time.
	 */
	err = take(simple, 0, soon < deadline ? soon : deadline);
	if (err == -ETIMEDOUT && soon < deadline)
		return 0;
	return err < 0 ? err : 0;
}

/*
 * Call while having the turn, with what krdma_ring_post() returned: waits for the completion of
 * the work request. -EAGAIN: it was refused, and may be posted again.
 */
static int posted(struct krdma_simple *simple, int err, uint64_t wr_id, uint64_t deadline)
{
	switch (err) {
	case 0:
		return await_end(simple, wr_id, deadline);
	case -EAGAIN:
		err = await_place(simple, deadline);
		return err ? err : -EAGAIN;
	case -ENOTCONN:
	case -ENODEV:
	case -ENOENT:
		return channel_over(&simple->ch);
	default:
		return err;
	}
}

/* Posts one work request and waits for its completion. */
static int operate(struct krdma_simple *simple, struct krdma_sqe *entry, uint64_t deadline,
		   bool *sent)
{
	int err;

	entry->wr_id = ++simple->wr_id;
	do {
		err = krdma_ring_post(simple->ch.ring, entry, 1, NULL);
		*sent = !err;
		err = posted(simple, err, entry->wr_id, deadline);
	} while (err == -EAGAIN);
	return err;
}

/*
 * Parts of the peer's buffer
 */

int simple_fetch_parts(struct krdma_simple *simple, struct simple_hello *peer, uint64_t deadline)
{
	size_t length = (size_t)peer->remote.length;
	struct krdma_mr *copy;
	struct krdma_remote_mr whole;
	struct krdma_sqe entry;
	bool sent;
	int err;

	err = krdma_mr_alloc(simple->ch.session, simple->device_id, length,
			     KRDMA_ACCESS_LOCAL_WRITE, &copy);
	if (err)
		return err;
	entry = krdma_entry_read(simple->ch.conn, 0, copy, 0, (uint32_t)length, &peer->remote, 0);
	err = operate(simple, &entry, deadline, &sent);
	if (!err)
		err = parts_read(krdma_mr_data(copy), length, &whole, &simple->parts);
	mr_release(copy);
	if (err)
		return err;
	peer->remote = whole;
	peer->in_parts = false;
	return 0;
}

/*
 * Messages
 */

/* Waits for a free receive at the peer and reserves it for the caller. */
static int reserve(struct krdma_simple *simple, uint64_t deadline)
{
	int err;

	pthread_mutex_lock(&simple->ch.lock);
	err = channel_await(&simple->ch, KRDMA_SIMPLE_ROOM, deadline);
	if (!err)
		simple->sent++;
	pthread_mutex_unlock(&simple->ch.lock);
	return err;
}

static void unreserve(struct krdma_simple *simple)
{
	pthread_mutex_lock(&simple->ch.lock);
	simple->sent--;
	pthread_cond_broadcast(&simple->ch.changed);
	pthread_mutex_unlock(&simple->ch.lock);
}

static int send_message(struct krdma_simple *simple, struct simple_header *header, size_t offset,
			uint32_t length, uint64_t deadline, bool *sent)
{
	uint64_t wr_id = ++simple->wr_id;
	int err;

	do {
		pthread_mutex_lock(&simple->ch.lock);
		err = post_message(simple, header, 0, wr_id, offset, length);
		pthread_mutex_unlock(&simple->ch.lock);
		*sent = !err;
		err = posted(simple, err, wr_id, deadline);
	} while (err == -EAGAIN);
	return err;
}

/* Posts a write of 0 bytes with the notice as immediate data, and waits for its completion. */
static int send_imm(struct krdma_simple *simple, uint32_t notice, uint32_t value,
		    uint64_t deadline, bool *sent)
{
	struct krdma_sqe entry = krdma_entry_write_imm(simple->ch.conn, 0, NULL, 0, 0,
						       &simple->peer.remote, 0,
						       simple_imm_write(notice, value));

	return operate(simple, &entry, deadline, sent);
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
	err = channel_begin(&simple->ch, &simple->ch.is_busy, deadline);
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

/*
 * Checks access right and range. The peer's device would check them too, but its refusal would
 * end the connection.
 */
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
	bool sent;
	int err;

	do {
		part = length - done < CHUNK ? length - done : CHUNK;
		if (simple->parts) {
			remote.key = parts_key(simple->parts, remote_offset + done, &reach);
			if (part > reach)
				part = (size_t)reach;
		}
		entry = krdma_entry_remote(opcode, simple->ch.conn, 0, part ? simple->mr : NULL,
					   offset + done, (uint32_t)part, &remote,
					   remote_offset + done);
		err = operate(simple, &entry, deadline, &sent);
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
		err = channel_begin(&simple->ch, &simple->ch.is_busy, deadline);
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
