// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The simple layer: arrivals, and the threads that wait for them. See simple.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "simple.h"

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

/*
 * Called when the slot's item was taken. If its receive cannot be posted, the connection has
 * ended. Handle that here, because there may be no posted receive that reports it.
 */
static void slot_release(struct krdma_simple *simple, uint32_t slot)
{
	int err = channel_post_receives(&simple->ch, slot, 1);

	pthread_mutex_lock(&simple->ch.lock);
	simple->taken++;
	pthread_mutex_unlock(&simple->ch.lock);
	if (err)
		channel_over(&simple->ch);
	else
		simple_send_credits(simple);
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
	err = simple_header_read(channel_slot(&simple->ch, item.slot), cqe->length, &header);
	if (err)
		return err;
	/*
	 * Post the receive before using the credit: as soon as the peer gets a message that was
	 * sent with this credit, it may send another credit message.
	 */
	if (header.kind == SIMPLE_KIND_ROOM)
		err = channel_post_receives(&simple->ch, item.slot, 1);
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

int simple_arrived(struct channel *channel, const struct krdma_cqe *cqe)
{
	struct krdma_simple *simple = (struct krdma_simple *)channel;
	int err = arrived(simple, cqe);

	simple_poll_ready(simple);
	return err;
}

static uint32_t what_is_ready(const struct krdma_simple *simple)
{
	uint32_t ready = 0;

	if (simple->messages.count)
		ready |= KRDMA_SIMPLE_MESSAGE;
	if (simple->notices.count)
		ready |= KRDMA_SIMPLE_NOTICE;
	if (simple->sent - simple->peer_taken < simple->peer.depth && !simple->ch.failed)
		ready |= KRDMA_SIMPLE_ROOM;
	return ready;
}

bool simple_is_there(const struct channel *channel, uint32_t wanted)
{
	return what_is_ready((const struct krdma_simple *)channel) & wanted;
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

	pthread_mutex_lock(&simple->ch.lock);
	err = channel_await(&simple->ch, KRDMA_SIMPLE_MESSAGE, simple_deadline_of(simple));
	if (!err && simple->messages.items[simple->messages.first].length > room) {
		item = simple->messages.items[simple->messages.first];
		err = -EMSGSIZE;
	} else if (!err) {
		item = list_take(simple, &simple->messages);
		simple_poll_ready(simple);
	}
	pthread_mutex_unlock(&simple->ch.lock);

	if (!err) {
		memcpy((char *)simple->options.buffer + offset,
		       channel_slot(&simple->ch, item.slot) + SIMPLE_HEADER_SIZE, item.length);
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

	pthread_mutex_lock(&simple->ch.lock);
	err = channel_await(&simple->ch, KRDMA_SIMPLE_NOTICE, simple_deadline_of(simple));
	if (!err) {
		item = list_take(simple, &simple->notices);
		simple_poll_ready(simple);
	}
	pthread_mutex_unlock(&simple->ch.lock);

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
	pthread_mutex_lock(&simple->ch.lock);
	/* Look for everything in @wanted: channel_await() returns as soon as one of it is ready. */
	if ((wanted & ~what_is_ready(simple)) && !simple->ch.is_looking && !simple->ch.failed)
		channel_look(&simple->ch, 0);
	err = channel_await(&simple->ch, wanted, timeout_ms ? simple_deadline(timeout_ms) : 0);
	is = what_is_ready(simple) & wanted;
	pthread_mutex_unlock(&simple->ch.lock);
	if (!err)
		*ready = is;
	simple_leave(simple);
	return err;
}
