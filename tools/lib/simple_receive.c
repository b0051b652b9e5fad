// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The simple layer: arrivals, and the threads that wait for them. See simple.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "simple.h"

/* Completions taken at a time. */
#define BATCH	16

/*
 * Lists
 */

/* The length of each list: an item has a receive slot, so there are never more items. */
static uint32_t list_size(const struct krdma_simple *simple)
{
	return simple->options.depth + SIMPLE_EXTRA;
}

int simple_lists_create(struct krdma_simple *simple)
{
	simple->messages.items = calloc(list_size(simple), sizeof(struct simple_item));
	simple->notices.items = calloc(list_size(simple), sizeof(struct simple_item));
	return simple->messages.items && simple->notices.items ? 0 : -ENOMEM;
}

void simple_lists_destroy(struct krdma_simple *simple)
{
	free(simple->messages.items);
	free(simple->notices.items);
}

void simple_lists_clear(struct krdma_simple *simple)
{
	simple->messages.count = 0;
	simple->notices.count = 0;
	simple_poll_ready(simple);
}

static void list_put(const struct krdma_simple *simple, struct simple_list *list,
		     const struct simple_item *item)
{
	list->items[(list->first + list->count) % list_size(simple)] = *item;
	list->count++;
}

static struct simple_item list_take(const struct krdma_simple *simple, struct simple_list *list)
{
	struct simple_item item = list->items[list->first];

	list->first = (list->first + 1) % list_size(simple);
	list->count--;
	return item;
}

/*
 * Receive slots
 */

static unsigned char *slot_data(const struct krdma_simple *simple, uint32_t slot)
{
	return (unsigned char *)krdma_mr_data(simple->slots) + slot * simple->slot_size;
}

int simple_post_receives(struct krdma_simple *simple, uint32_t first, uint32_t count)
{
	uint32_t length = SIMPLE_HEADER_SIZE + simple->options.message_size;
	struct krdma_sqe entries[BATCH];
	int err = 0;

	while (count && !err) {
		uint32_t batch = count < BATCH ? count : BATCH;

		for (uint32_t i = 0; i < batch; i++)
			entries[i] = krdma_entry_recv(simple->conn, first + i, simple->slots,
						      (first + i) * simple->slot_size, length);
		err = krdma_ring_post(simple->recv_ring, entries, batch, NULL);
		first += batch;
		count -= batch;
	}
	return err;
}

/*
 * Called when the slot's item was taken. If its receive cannot be posted, the connection has
 * ended. Handle that here, because there may be no posted receive that reports it.
 */
static void slot_release(struct krdma_simple *simple, uint32_t slot)
{
	int err = simple_post_receives(simple, slot, 1);

	pthread_mutex_lock(&simple->lock);
	simple->taken++;
	pthread_mutex_unlock(&simple->lock);
	if (err)
		simple_over(simple);
	else
		simple_tell_room(simple);
}

/*
 * Arrivals
 */

/* Returns 0, or -EPROTO if the peer reports more taken messages than were sent. */
static int peer_has_taken(struct krdma_simple *simple, uint32_t taken)
{
	uint32_t more = taken - simple->peer_taken;

	/*
	 * A smaller count is valid: two threads of the peer may have sent theirs in the wrong
	 * order.
	 */
	if (more > INT32_MAX)
		return 0;
	if (more > simple->sent - simple->peer_taken)
		return -EPROTO;
	simple->peer_taken = taken;
	return 0;
}

/* Handles a completed receive. A negative errno ends the connection. */
static int arrived(struct krdma_simple *simple, const struct krdma_cqe *cqe)
{
	struct simple_item item = { .slot = (uint32_t)cqe->wr_id };
	struct simple_header header;
	int err;

	/* Disconnected locally: the item must not appear in a list. */
	if (simple->ended_here)
		return 0;
	if (cqe->flags & KRDMA_CQE_IMM) {
		err = simple_imm_read(cqe->imm, &item.notice, &item.value);
		if (!err)
			list_put(simple, &simple->notices, &item);
		return err;
	}
	err = simple_header_read(slot_data(simple, item.slot), cqe->length, &header);
	if (err)
		return err;
	/*
	 * Post the receive before using the credit: as soon as the peer gets a message that was
	 * sent with this credit, it may send another credit message.
	 */
	if (header.kind == SIMPLE_KIND_ROOM)
		err = simple_post_receives(simple, item.slot, 1);
	if (!err)
		err = peer_has_taken(simple, header.taken);
	if (err)
		return err;

	if (header.kind == SIMPLE_KIND_MESSAGE) {
		item.length = cqe->length - SIMPLE_HEADER_SIZE;
		list_put(simple, &simple->messages, &item);
	} else if (header.kind == SIMPLE_KIND_NOTICE) {
		item.notice = header.notice;
		item.value = header.value;
		list_put(simple, &simple->notices, &item);
	}
	return 0;
}

/* Ends the connection to a peer that violated the protocol: do not trust its later messages. */
static void fail(struct krdma_simple *simple, int err)
{
	pthread_mutex_lock(&simple->lock);
	if (!simple->failed)
		simple->failed = err;
	pthread_mutex_unlock(&simple->lock);
	krdma_conn_disconnect(simple->conn, KRDMA_DISCONNECT_ABORT);
}

/*
 * Waits on the receive ring while other threads sleep. Called with the lock held; drops it while
 * waiting. Stores failures other than -ETIMEDOUT and -EINTR in simple->failed.
 */
static int receive(struct krdma_simple *simple, uint64_t deadline)
{
	struct krdma_cqe cqes[BATCH];
	size_t taken = 0;
	bool over = false;
	int err, bad = 0;

	simple->receiving = true;
	pthread_mutex_unlock(&simple->lock);
	err = krdma_ring_wait(simple->recv_ring, cqes, BATCH, 1, deadline, &taken);

	pthread_mutex_lock(&simple->lock);
	for (size_t i = 0; !err && i < taken && !bad; i++) {
		if (cqes[i].status == KRDMA_WC_SUCCESS)
			bad = arrived(simple, &cqes[i]);
		else
			over = true;
	}
	simple_poll_ready(simple);
	pthread_mutex_unlock(&simple->lock);

	if (err == -EAGAIN)
		err = -ETIMEDOUT;
	if (bad == -EPROTO)
		fail(simple, bad);
	else if (over || bad || (err && err != -ETIMEDOUT && err != -EINTR))
		simple_over(simple);

	pthread_mutex_lock(&simple->lock);
	simple->receiving = false;
	pthread_cond_broadcast(&simple->changed);
	return err;
}

static uint32_t what_is_ready(const struct krdma_simple *simple)
{
	uint32_t ready = 0;

	if (simple->messages.count)
		ready |= KRDMA_SIMPLE_MESSAGE;
	if (simple->notices.count)
		ready |= KRDMA_SIMPLE_NOTICE;
	if (simple->sent - simple->peer_taken < simple->peer.depth && !simple->failed)
		ready |= KRDMA_SIMPLE_ROOM;
	return ready;
}

/*
 * Whether the receive ring can contain messages that arrived before the connection ended and
 * may still be taken. They may not after a protocol violation or a local disconnect.
 */
static bool may_have_come_before(const struct krdma_simple *simple)
{
	return simple->failed != -EPROTO && !simple->ended_here && !simple->receiving;
}

int simple_await(struct krdma_simple *simple, uint32_t wanted, uint64_t deadline)
{
	bool looked = false;
	int err = 0;

	while (!(what_is_ready(simple) & wanted)) {
		if (simple->failed) {
			if (looked || !may_have_come_before(simple))
				return simple->failed;
			/*
			 * Pass a deadline in the past: with 0, krdma_ring_wait() might not
			 * poll the device.
			 */
			looked = receive(simple, 1);
			continue;
		}
		/* Check this only here: look once even if the deadline has passed. */
		if (err == -ETIMEDOUT || err == -EINTR)
			return err;
		err = simple->receiving ? simple_sleep(simple, deadline) :
					  receive(simple, deadline);
	}
	return 0;
}

/*
 * Functions of the interface
 */

KRDMA_PUBLIC int krdma_simple_recv(struct krdma_simple *simple, size_t offset, size_t room,
				   size_t *length)
{
	struct simple_item item = { 0 };
	int err;

	if (!simple)
		return -EINVAL;
	err = simple_check(simple, offset, room);
	if (!err)
		err = simple_enter(simple);
	if (err)
		return err;

	pthread_mutex_lock(&simple->lock);
	err = simple_await(simple, KRDMA_SIMPLE_MESSAGE, simple_deadline_of(simple));
	if (!err && simple->messages.items[simple->messages.first].length > room) {
		item = simple->messages.items[simple->messages.first];
		err = -EMSGSIZE;
	} else if (!err) {
		item = list_take(simple, &simple->messages);
		simple_poll_ready(simple);
	}
	pthread_mutex_unlock(&simple->lock);

	if (!err) {
		memcpy((char *)simple->options.buffer + offset,
		       slot_data(simple, item.slot) + SIMPLE_HEADER_SIZE, item.length);
		slot_release(simple, item.slot);
	}
	if (length && (!err || err == -EMSGSIZE))
		*length = item.length;
	simple_leave(simple);
	return err;
}

KRDMA_PUBLIC int krdma_simple_wait_notice(struct krdma_simple *simple, uint32_t *notice,
					  uint32_t *value)
{
	struct simple_item item;
	int err;

	if (!simple)
		return -EINVAL;
	err = simple_enter(simple);
	if (err)
		return err;

	pthread_mutex_lock(&simple->lock);
	err = simple_await(simple, KRDMA_SIMPLE_NOTICE, simple_deadline_of(simple));
	if (!err) {
		item = list_take(simple, &simple->notices);
		simple_poll_ready(simple);
	}
	pthread_mutex_unlock(&simple->lock);

	if (!err) {
		slot_release(simple, item.slot);
		if (notice)
			*notice = item.notice;
		if (value)
			*value = item.value;
	}
	simple_leave(simple);
	return err;
}

KRDMA_PUBLIC int krdma_simple_ready(struct krdma_simple *simple, uint32_t wanted,
				    uint32_t timeout_ms, uint32_t *ready)
{
	const uint32_t all = KRDMA_SIMPLE_MESSAGE | KRDMA_SIMPLE_NOTICE | KRDMA_SIMPLE_ROOM;
	uint32_t is;
	int err;

	if (!simple || !ready || !wanted || (wanted & ~all))
		return -EINVAL;
	err = simple_enter(simple);
	if (err)
		return err;
	pthread_mutex_lock(&simple->lock);
	/* Look for everything in @wanted: simple_await() returns as soon as one of it is ready. */
	if ((wanted & ~what_is_ready(simple)) && !simple->receiving && !simple->failed)
		receive(simple, 0);
	err = simple_await(simple, wanted, timeout_ms ? simple_deadline(timeout_ms) : 0);
	is = what_is_ready(simple) & wanted;
	pthread_mutex_unlock(&simple->lock);
	if (!err)
		*ready = is;
	simple_leave(simple);
	return err;
}
