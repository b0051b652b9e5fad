// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Hubs: frames that arrive, and those that wait until they can be sent. A frame that the peer had
 * no right to send ends the endpoint.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hub.h"

static int take_message(struct krdma_ep *ep, struct hub_slot *slot)
{
	const struct hub_frame *frame = &slot->frame;
	uint32_t *open = NULL;

	if (ep->received - ep->taken >= ep->depth)
		return -EPROTO;
	if (frame->is_long && frame->remote.length > ep->hub->options.longest)
		return -EPROTO;
	if (frame->kind == HUB_CALL) {
		if ((frame->call & 0xff) >= ep->depth)
			return -EPROTO;
		open = &ep->opens[frame->call & 0xff];
		if (*open)
			return -EPROTO;
		*open = frame->call;
	}
	ep->received++;
	if (ep->is_closed) {
		hub_slot_done(slot);
		return 0;
	}
	slot->item.waits = frame->is_long;
	hub_item_add(ep, &slot->item, KRDMA_EP_MESSAGE);
	if (frame->is_long)
		hub_fetch_add(slot);
	return 0;
}

/* The call that a frame answers; NULL: there is none. */
static struct hub_call *call_of(struct krdma_ep *ep, const struct hub_frame *frame, bool grant)
{
	struct hub_call *call = &ep->calls[frame->call & 0xff];

	if ((frame->call & 0xff) >= ep->depth || call->id != frame->call ||
	    (call->state != HUB_CALL_WAITS && call->state != HUB_CALL_GIVEN_UP) ||
	    call->is_ask != grant)
		return NULL;
	return call;
}

static int take_answer(struct krdma_ep *ep, struct hub_slot *slot)
{
	struct hub_call *call = call_of(ep, &slot->frame, false);

	if (!call || (slot->frame.is_long &&
		      slot->frame.remote.length > ep->hub->options.longest))
		return -EPROTO;
	if (call->state == HUB_CALL_GIVEN_UP || ep->is_closed) {
		call->state = HUB_CALL_FREE;
		hub_slot_done(slot);
		return 0;
	}
	call->state = HUB_CALL_ANSWERED;
	slot->call = call;
	slot->item.waits = slot->frame.is_long;
	call->slot = slot;
	if (call->sync)
		call->is_there = !slot->frame.is_long;
	else
		hub_item_add(ep, &slot->item, KRDMA_EP_ANSWER);
	if (slot->frame.is_long)
		hub_fetch_add(slot);
	return 0;
}

static int take_done(struct krdma_ep *ep, const struct hub_frame *frame)
{
	struct hub_ticket *ticket = &ep->tickets[frame->ticket];

	if (!ticket->mr)
		return -EPROTO;
	hub_ticket_done(ep, ticket, 0);
	return 0;
}

static int take_ask(struct krdma_ep *ep, const struct hub_frame *frame)
{
	if (ep->received - ep->taken >= ep->depth)
		return -EPROTO;
	ep->received++;
	ep->taken++;
	return hub_memory_ask(ep, frame);
}

static int take_grant(struct krdma_ep *ep, const struct hub_frame *frame)
{
	struct hub_call *call = call_of(ep, frame, true);

	return call ? hub_memory_grant(ep, call, frame) : -EPROTO;
}

static int take_bye(struct krdma_ep *ep, const struct hub_frame *frame)
{
	char words[KRDMA_WHY_MAX + 1];

	hub_words_read(frame->data, frame->length, words);
	hub_ep_bye(ep, hub_code_error(frame->code), words);
	return 0;
}

/* Before a proof nothing of the peer's program is taken. */
static bool is_of_proof(const struct hub_frame *frame)
{
	return frame->kind == HUB_CHALLENGE || frame->kind == HUB_PROOF || frame->kind == HUB_BYE;
}

/* What follows the HUB_BYE of a peer that has not proved the secret is of no peer. */
static bool is_of_a_peer(const struct krdma_ep *ep)
{
	return ep->was_up || ep->state == HUB_PROVING;
}

/* Returns whether the slot stays in use. */
static int take(struct krdma_ep *ep, struct hub_slot *slot, uint32_t length, bool *keeps)
{
	const unsigned char *wire = (unsigned char *)krdma_mr_data(slot->mr) + slot->offset;
	struct hub_frame *frame = &slot->frame;
	uint32_t more;
	int err = hub_frame_read(wire, length, frame);

	if (err)
		return err;
	if (ep->state == HUB_PROVING && !is_of_proof(frame))
		return -EPROTO;
	more = frame->taken - ep->peer_taken;
	if (more > ep->sent - ep->peer_taken || (frame->kind == HUB_ROOM && !more))
		return -EPROTO;
	ep->peer_taken = frame->taken;
	switch (frame->kind) {
	case HUB_MESSAGE:
	case HUB_CALL:
		*keeps = true;
		err = take_message(ep, slot);
		break;
	case HUB_ANSWER:
		*keeps = true;
		err = take_answer(ep, slot);
		break;
	case HUB_DONE:
		err = take_done(ep, frame);
		break;
	case HUB_ASK:
		err = take_ask(ep, frame);
		break;
	case HUB_GRANT:
		err = take_grant(ep, frame);
		break;
	case HUB_REVOKE:
		err = hub_memory_revoke(ep, frame->tag);
		break;
	case HUB_REVOKED:
		err = hub_memory_revoked(ep, frame->tag);
		break;
	case HUB_BYE:
		err = take_bye(ep, frame);
		break;
	case HUB_CHALLENGE:
		err = hub_secret_challenge(ep, frame);
		break;
	case HUB_PROOF:
		err = hub_secret_proof(ep, frame);
		break;
	default:
		break;
	}
	if (err)
		*keeps = false;
	return err;
}

void hub_frame_arrived(struct krdma_ep *ep, struct hub_slot *slot, uint32_t length)
{
	bool keeps = false;

	slot->ep = ep;
	slot->call = NULL;
	slot->buffer = NULL;
	slot->done = 0;
	slot->in_flight = 0;
	slot->counted = 0;
	slot->waits = false;
	slot->dropped = false;
	if (ep->state == HUB_CONNECTING && !ep->is_broken) {
		/* The connection is up; the event that says so comes soon. */
		slot->length = length;
		if (ep->early_count++ < hub_receives(ep->hub)) {
			hub_list_add(&ep->early, &slot->link);
			return;
		}
		hub_ep_fail(ep, -EPROTO, "the peer sent too much before it was connected");
	}
	if (ep->is_broken || ep->state < HUB_PROVING || ep->state == HUB_OVER ||
	    !is_of_a_peer(ep)) {
		hub_slot_release(slot);
		return;
	}
	if (take(ep, slot, length, &keeps))
		hub_ep_fail(ep, -EPROTO, "the peer has violated the protocol");
	if (!keeps)
		hub_slot_release(slot);
	hub_send_room(ep);
	hub_ep_advance(ep);
}

void hub_ep_take_early(struct krdma_ep *ep)
{
	struct hub_link *link;

	while ((link = hub_list_take(&ep->early))) {
		struct hub_slot *slot = HUB_OF(link, struct hub_slot, link);

		hub_frame_arrived(ep, slot, slot->length);
	}
}

/*
 * A peer that keeps to the protocol has a receive for each frame that is in flight or waits. One
 * that asks again and again, and takes no reply, would use up the memory of this side.
 */
void hub_frame_defer(struct krdma_ep *ep, struct hub_frame *frame, const void *data,
		     size_t length)
{
	struct hub_deferred *deferred;

	if (ep->deferred_count >= hub_receives(ep->hub) && frame->kind != HUB_BYE) {
		hub_ep_fail(ep, -EPROTO, "the peer does not take what it asks for");
		return;
	}
	deferred = malloc(sizeof(*deferred) + HUB_HEADER_SIZE + length);
	if (!deferred) {
		hub_ep_fail(ep, -ENOMEM, "out of memory");
		return;
	}
	hub_frame_write(frame, deferred->wire);
	if (length)
		memcpy(deferred->wire + HUB_HEADER_SIZE, data, length);
	deferred->length = HUB_HEADER_SIZE + length;
	hub_list_add(&ep->deferred, &deferred->link);
	ep->deferred_count++;
}
