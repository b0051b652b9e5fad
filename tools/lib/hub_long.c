// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Hubs: long messages that arrive, and how all that arrived is given back.
 *
 * A long message is read as soon as the budget allows it, in several RDMA reads. Messages wait in
 * order of arrival. One that waits only for its own endpoint does not keep up those of others.
 *
 * Messages of one endpoint get memory in their order, because their records have it: one that came
 * first could use up the memory for which the one before waits, and the program could not give it
 * back. Only an answer that the program waits for has no record.
 */
#include <errno.h>

#include "hub.h"

static void send_done(struct krdma_ep *ep, const struct hub_frame *frame)
{
	struct hub_frame done = { .kind = HUB_DONE, .ticket = frame->ticket };

	hub_send_control(ep, &done, NULL, 0);
}

static void uncount(struct hub_slot *slot)
{
	slot->ep->held -= slot->counted;
	slot->ep->hub->budget_used -= slot->counted;
	slot->counted = 0;
}

void hub_slot_done(struct hub_slot *slot)
{
	struct krdma_ep *ep = slot->ep;
	/* Of what was dropped, the last bytes may have arrived, and HUB_DONE was not sent. */
	bool is_owing = slot->frame.is_long &&
			(slot->dropped || slot->done < slot->frame.remote.length);

	if (slot->in_flight && ep->state < HUB_OVER) {
		slot->dropped = true;
		return;
	}
	if (slot->waits)
		hub_list_remove(&ep->hub->fetches, &slot->link);
	slot->waits = false;
	hub_buffer_put(slot->device, slot->buffer);
	slot->buffer = NULL;
	uncount(slot);
	if (is_owing)
		send_done(ep, &slot->frame);
	if (slot->call && slot->call->slot == slot) {
		slot->call->slot = NULL;
		slot->call->state = HUB_CALL_FREE;
	}
	if (slot->frame.kind != HUB_ANSWER)
		ep->taken++;
	hub_slot_release(slot);
	hub_send_room(ep);
}

/*
 * Posts reads until the maximum number is in flight. The others are posted when these complete, and
 * there is at least one: may_begin() has found a place for it, and then each has the place of the
 * one before.
 */
static int ask(struct hub_slot *slot)
{
	const struct krdma_remote_mr *remote = &slot->frame.remote;

	while (slot->asked < remote->length && slot->in_flight < HUB_PIECES &&
	       slot->ep->reads_out < HUB_READS) {
		uint64_t left = remote->length - slot->asked;
		uint32_t length = left < HUB_PIECE ? (uint32_t)left : HUB_PIECE;
		struct krdma_sqe entry = krdma_entry_read(slot->ep->conn, 0, slot->buffer->mr,
							  slot->asked, length, remote,
							  slot->asked);
		int err = hub_post(slot->ep, &slot->fetch, &entry);

		if (err)
			return err;
		slot->asked += length;
		slot->in_flight++;
		slot->ep->reads_out++;
	}
	return 0;
}

static void go_on(struct hub_slot *slot)
{
	int err = ask(slot);

	if (err && err != -ENOTCONN && err != -ENODEV)
		hub_ep_fail(slot->ep, err, "a long message cannot be read: %s",
			    krdma_error_name(err));
}

static bool is_awaited_answer(const struct hub_slot *slot)
{
	return slot->call && slot->call->sync;
}

/* What the memory of the message counts. The longest message has room, in whole pages or not. */
static uint64_t count_of(const struct hub_slot *slot)
{
	const struct krdma_hub *hub = slot->ep->hub;
	uint64_t size = hub_buffer_size(hub, (size_t)slot->frame.remote.length);

	return size < hub->options.longest ? size : hub->options.longest;
}

/*
 * Whether the message may have memory now; -EBUSY: not yet because of its endpoint. @round: those
 * before it were looked at in this one.
 */
static int may_begin(const struct hub_slot *slot, uint64_t round)
{
	const struct krdma_hub *hub = slot->ep->hub;
	uint64_t count = count_of(slot);

	if (slot->ep->busy_round == round && !is_awaited_answer(slot))
		return -EBUSY;
	if (slot->ep->held && slot->ep->held + count > hub->options.longest)
		return -EBUSY;
	if (slot->ep->reads_out == HUB_READS)
		return -EBUSY;
	return count > hub->options.budget - hub->budget_used ? -EAGAIN : 0;
}

/* -EAGAIN: there is no memory now, and other messages will give some back. */
static int begin(struct hub_slot *slot)
{
	uint64_t length = slot->frame.remote.length;
	struct krdma_hub *hub = slot->ep->hub;
	int err = hub_buffer_get(slot->device, (size_t)length, &slot->buffer);

	if (err)
		return hub->budget_used ? -EAGAIN : err;
	slot->counted = count_of(slot);
	slot->ep->held += slot->counted;
	hub->budget_used += slot->counted;
	slot->fetch = (struct hub_wr){ .kind = HUB_WR_FETCH, .ep = slot->ep };
	go_on(slot);
	return 0;
}

void hub_fetch_next(struct krdma_hub *hub)
{
	struct hub_link *link = hub->fetches.first, *next;
	uint64_t round = ++hub->fetch_round;

	for (; link; link = next) {
		struct hub_slot *slot = HUB_OF(link, struct hub_slot, link);
		int err = may_begin(slot, round);

		next = link->next;
		if (err == -EBUSY) {
			slot->ep->busy_round = round;
			continue;
		}
		if (err == -EAGAIN)
			return;
		if (!err)
			err = begin(slot);
		if (err == -EAGAIN) {
			/* Another peer's may need less; the order of a peer's messages stays. */
			slot->ep->busy_round = round;
			continue;
		}
		hub_list_remove(&hub->fetches, link);
		slot->waits = false;
		if (!err)
			continue;
		hub_ep_fail(slot->ep, err, "no memory for a long message: %s",
			    krdma_error_name(err));
		return;
	}
}

void hub_fetch_add(struct hub_slot *slot)
{
	slot->buffer = NULL;
	slot->asked = 0;
	slot->done = 0;
	slot->in_flight = 0;
	slot->counted = 0;
	slot->dropped = false;
	slot->waits = true;
	hub_list_add(&slot->ep->hub->fetches, &slot->link);
	hub_fetch_next(slot->ep->hub);
}

static void fetched(struct hub_slot *slot, const struct krdma_cqe *cqe)
{
	struct krdma_ep *ep = slot->ep;

	slot->in_flight--;
	/*
	 * Only the memory that the peer has described is the peer's doing. Any other failure ends
	 * the connection, and the kernel reports why: the peer or this device may be gone.
	 */
	if (cqe->status == KRDMA_WC_SUCCESS)
		slot->done += cqe->length;
	else if (cqe->status == KRDMA_WC_REM_ACCESS_ERR)
		hub_ep_fail(ep, -EPROTO, "the peer's memory cannot be read: %s",
			    krdma_wc_status_name(cqe->status));
	if (slot->dropped) {
		if (!slot->in_flight)
			hub_slot_done(slot);
		return;
	}
	if (slot->done < slot->frame.remote.length) {
		if (cqe->status == KRDMA_WC_SUCCESS)
			go_on(slot);
		return;
	}
	send_done(ep, &slot->frame);
	slot->item.waits = false;
	if (slot->call && slot->call->sync)
		slot->call->is_there = true;
	else
		hub_ep_check_ready(ep);
}

void hub_fetch_done(struct hub_slot *slot, const struct krdma_cqe *cqe)
{
	struct krdma_ep *ep = slot->ep;
	bool was_full = ep->reads_out == HUB_READS, was_dropped = slot->dropped;

	ep->reads_out--;
	fetched(slot, cqe);
	/* Another message may have had no place for its first read, or no memory. */
	if (was_dropped || (was_full && ep->reads_out < HUB_READS))
		hub_fetch_next(ep->hub);
}
