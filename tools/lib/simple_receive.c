// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The simple layer: what arrives, and who waits for it.  See simple.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "simple.h"

/* Completions that are taken at a time. */
#define BATCH	16

/*
 * Lists
 */

/* Each item has a slot, so there are never more of them. */
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
 * Slots
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
 * Its item was taken.  When it cannot be posted again the connection is over, and perhaps
 * there is no other receive left that would tell so.
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

/* 0, or -EPROTO: more than was sent cannot have been taken. */
static int peer_has_taken(struct krdma_simple *simple, uint32_t taken)
{
	uint32_t more = taken - simple->peer_taken;

	/* Two threads there may have told in the wrong order. */
	if (more > INT32_MAX)
		return 0;
	if (more > simple->sent - simple->peer_taken)
		return -EPROTO;
	simple->peer_taken = taken;
	return 0;
}

/* A receive has completed; 0, or why the connection cannot go on. */
static int arrived(struct krdma_simple *simple, const struct krdma_cqe *cqe)
{
	struct simple_item item = { .slot = (uint32_t)cqe->wr_id };
	struct simple_header header;
	int err;

	/* Too late: nobody is to find it in a list. */
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
	/* The receive first: what the peer sends for it, it may send from now on. */
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

/* The peer does not keep to the rules: it is not to be trusted with the next message. */
static void fail(struct krdma_simple *simple, int err)
{
	pthread_mutex_lock(&simple->lock);
	if (!simple->failed)
		simple->failed = err;
	pthread_mutex_unlock(&simple->lock);
	krdma_conn_disconnect(simple->conn, KRDMA_DISCONNECT_ABORT);
}

/*
 * This thread asks the queue, while the others sleep.  With the lock, which is given up
 * meanwhile; -ETIMEDOUT, -EINTR.  Whatever else it is, it has been put into .failed.
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
 * Whether there can be something in the queue that came before the end, which is to be taken
 * after it: not from a peer who does not keep to the rules, nor after an end on this side.
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
			/* A deadline that is over: with none the device would not be asked. */
			looked = receive(simple, 1);
			continue;
		}
		/* Once it has been looked for, also if there is no time. */
		if (err == -ETIMEDOUT || err == -EINTR)
			return err;
		err = simple->receiving ? simple_sleep(simple, deadline) :
					  receive(simple, deadline);
	}
	return 0;
}

/*
 * Calls
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
	/* All that is wanted is looked for, not only the first of it. */
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
