// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Hubs: sending messages, calls and answers.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hub.h"

#define NS_PER_MS	1000000ull

/*
 * Places for frames
 */

int hub_sends_create(struct krdma_ep *ep)
{
	size_t size = HUB_HEADER_SIZE + ep->hub->options.eager;
	uint32_t depth = ep->hub->options.depth;
	unsigned int count = depth + HUB_CONTROL;
	int err;

	ep->calls = calloc(depth, sizeof(*ep->calls));
	ep->opens = calloc(depth, sizeof(*ep->opens));
	ep->sends = calloc(count, sizeof(*ep->sends));
	if (!ep->calls || !ep->opens || !ep->sends)
		return -ENOMEM;
	err = krdma_mr_alloc(ep->hub->session, ep->device->id, count * size,
			     KRDMA_ACCESS_LOCAL_WRITE, &ep->send_mr);
	if (err)
		return err;
	ep->send_count = count;
	for (unsigned int i = 0; i < count; i++) {
		ep->sends[i].wr = (struct hub_wr){ .kind = HUB_WR_SEND, .ep = ep };
		ep->sends[i].offset = i * size;
		hub_list_add(&ep->free_sends, &ep->sends[i].link);
	}
	return 0;
}

void hub_sends_destroy(struct krdma_ep *ep)
{
	struct hub_link *link;

	while ((link = hub_list_take(&ep->deferred)))
		free(HUB_OF(link, struct hub_deferred, link));
	ep->deferred_count = 0;
	mr_release(ep->send_mr);
	ep->send_mr = NULL;
	free(ep->sends);
	ep->sends = NULL;
	ep->free_sends.first = NULL;
}

int hub_post(struct krdma_ep *ep, struct hub_wr *wr, struct krdma_sqe *entry)
{
	int err;

	entry->wr_id = (uintptr_t)wr;
	err = krdma_ring_post(ep->device->ring, entry, 1, NULL);
	if (err)
		return err;
	if (!ep->outstanding++) {
		ep->progress = krdma_deadline(0);
		hub_wake_at(ep->hub, ep->progress + ep->hub->options.idle_ms * NS_PER_MS);
	}
	return 0;
}

static void post_send(struct krdma_ep *ep, struct hub_send *send, uint32_t length)
{
	struct krdma_sqe entry;
	int err;

	/* What the frame reports as taken must have its receives again. */
	hub_device_post(ep->device);
	entry = krdma_entry_send(ep->conn, 0, ep->send_mr, send->offset, length);
	err = hub_post(ep, &send->wr, &entry);
	if (!err) {
		ep->sends_out++;
		return;
	}
	hub_list_add(&ep->free_sends, &send->link);
	/* The events of the connection report its end. */
	if (err != -ENOTCONN && err != -ENODEV)
		hub_ep_fail(ep, err, "cannot send: %s", krdma_error_name(err));
}

/* Call only if there is a place. */
static void send_frame(struct krdma_ep *ep, struct hub_frame *frame, const void *data,
		       size_t length)
{
	struct hub_send *send = HUB_OF(hub_list_take(&ep->free_sends), struct hub_send, link);
	unsigned char *wire = (unsigned char *)krdma_mr_data(ep->send_mr) + send->offset;

	frame->taken = ep->taken;
	ep->sent_taken = ep->taken;
	hub_frame_write(frame, wire);
	if (length)
		memcpy(wire + HUB_HEADER_SIZE, data, length);
	post_send(ep, send, (uint32_t)(HUB_HEADER_SIZE + length));
}

void hub_send_control(struct krdma_ep *ep, struct hub_frame *frame, const void *data,
		      size_t length)
{
	if (ep->state < HUB_PROVING || ep->state > HUB_LEAVING)
		return;
	if (!ep->free_sends.first || ep->deferred.first)
		hub_frame_defer(ep, frame, data, length);
	else
		send_frame(ep, frame, data, length);
}

/* A deferred frame reports what was taken when it is sent. */
static void send_deferred(struct krdma_ep *ep)
{
	while (ep->deferred.first && ep->free_sends.first && ep->state < HUB_ENDING) {
		struct hub_deferred *deferred = HUB_OF(hub_list_take(&ep->deferred),
						       struct hub_deferred, link);
		struct hub_send *send = HUB_OF(hub_list_take(&ep->free_sends), struct hub_send,
					       link);
		unsigned char *wire = (unsigned char *)krdma_mr_data(ep->send_mr) + send->offset;
		size_t length = deferred->length;

		memcpy(wire, deferred->wire, length);
		hub_frame_set_taken(wire, ep->taken);
		ep->sent_taken = ep->taken;
		ep->deferred_count--;
		free(deferred);
		post_send(ep, send, (uint32_t)length);
	}
}

void hub_send_done(struct krdma_ep *ep, struct hub_send *send)
{
	ep->sends_out--;
	hub_list_add(&ep->free_sends, &send->link);
	send_deferred(ep);
}

void hub_send_room(struct krdma_ep *ep)
{
	struct hub_frame frame = { .kind = HUB_ROOM };
	uint32_t due = ep->depth / 2 ? ep->depth / 2 : 1;

	/* A frame that waits says it when it is sent. */
	if (ep->state == HUB_UP && ep->taken - ep->sent_taken >= due && !ep->deferred.first)
		hub_send_control(ep, &frame, NULL, 0);
}

/**
 * struct message - what is to be sent
 * @frame: kind, call and tag
 * @data, @length: the message
 * @lent: the data are not copied
 * @user_data: of the record SENT
 */
struct message {
	struct hub_frame frame;
	const void *data;
	size_t length;
	bool lent;
	uint64_t user_data;
};

/*
 * Long messages
 */

static struct hub_ticket *free_ticket(struct krdma_ep *ep)
{
	for (unsigned int i = 0; i < HUB_TICKETS; i++) {
		if (!ep->tickets[i].mr)
			return &ep->tickets[i];
	}
	return NULL;
}

static void report_sent(struct krdma_ep *ep, struct hub_sent *sent, int error)
{
	sent->error = error;
	hub_item_add(ep, &sent->item, KRDMA_EP_SENT);
}

void hub_ticket_done(struct krdma_ep *ep, struct hub_ticket *ticket, int error)
{
	struct hub_sent *sent = ticket->sent;

	if (!ticket->mr)
		return;
	/*
	 * The region is not used for other data: the peer knows its rkey. Nothing that this side
	 * has posted uses it.
	 */
	mr_release(ticket->mr);
	ticket->mr = NULL;
	ticket->sent = NULL;
	if (sent && !ep->is_closed)
		report_sent(ep, sent, error);
	else
		free(sent);
}

/* The memory of a long message: the caller's, or a copy. */
static int make_memory(struct krdma_ep *ep, const struct message *message, struct krdma_mr **mr)
{
	struct krdma *session = ep->hub->session;
	int err;

	/* The cast is safe: the peer may only read. */
	if (message->lent)
		err = krdma_mr_register(session, ep->device->id, (void *)message->data,
					message->length, KRDMA_ACCESS_REMOTE_READ, mr);
	else
		err = krdma_mr_alloc(session, ep->device->id, message->length,
				     KRDMA_ACCESS_REMOTE_READ, mr);
	if (!err && !message->lent)
		memcpy(krdma_mr_data(*mr), message->data, message->length);
	/* Pages that cannot be pinned now: no event of the hub says when they can. */
	return err == -EAGAIN ? -ENOMEM : err;
}

/* @sent is the ticket's after success. -EAGAIN: the peer has not fetched the last messages. */
static int prepare_long(struct krdma_ep *ep, struct message *message, struct hub_sent *sent,
			unsigned char *descriptor)
{
	struct hub_ticket *ticket = free_ticket(ep);
	struct krdma_mr *mr = NULL;
	int err;

	if (!ticket)
		return -EAGAIN;
	err = make_memory(ep, message, &mr);
	if (!err)
		err = krdma_mr_describe(mr, 0, message->length, descriptor);
	if (err) {
		mr_release(mr);
		return err;
	}
	ticket->mr = mr;
	ticket->sent = sent;
	message->frame.is_long = true;
	message->frame.ticket = (uint16_t)(ticket - ep->tickets);
	return 0;
}

/*
 * Messages
 */

static int check_length(const struct krdma_ep *ep, size_t length)
{
	return length > ep->eager && length > ep->longest ? -EMSGSIZE : 0;
}

/* Sends a message without waiting. -EAGAIN: the peer has no receive, or this side no place. */
static int try_send(struct krdma_ep *ep, struct message *message)
{
	bool is_answer = message->frame.kind == HUB_ANSWER;
	unsigned char descriptor[KRDMA_MR_DESC_SIZE];
	const void *data = message->data;
	size_t length = message->length;
	struct hub_sent *sent = NULL;
	int err = hub_ep_usable(ep);

	if (!err)
		err = check_length(ep, length);
	if (err)
		return err;
	/* The last places are for answers and for the hub's own frames. */
	if (!is_answer && (ep->sent - ep->peer_taken >= ep->depth || ep->deferred.first ||
			   ep->send_count - ep->sends_out <= HUB_CONTROL))
		return -EAGAIN;
	if (message->lent) {
		sent = hub_sent_create(message->user_data);
		if (!sent)
			return -ENOMEM;
	}
	if (length > ep->eager) {
		err = prepare_long(ep, message, sent, descriptor);
		if (err) {
			free(sent);
			return err;
		}
		sent = NULL;
		data = descriptor;
		length = sizeof(descriptor);
	}
	hub_send_control(ep, &message->frame, data, length);
	if (!is_answer)
		ep->sent++;
	if (sent)
		report_sent(ep, sent, 0);
	return 0;
}

static int send_message(struct krdma_ep *ep, struct message *message, uint64_t deadline)
{
	int err, stop = 0;

	if (!ep || (message->length && !message->data))
		return -EINVAL;
	err = try_send(ep, message);
	while (err == -EAGAIN && !stop) {
		stop = hub_step(ep->hub, deadline);
		err = try_send(ep, message);
	}
	hub_settle(ep->hub);
	return err == -EAGAIN ? stop : err;
}

KRDMA_PUBLIC int krdma_ep_send(struct krdma_ep *ep, uint64_t tag, const void *data, size_t length,
			       uint64_t deadline)
{
	struct message message = {
		.frame = { .kind = HUB_MESSAGE, .tag = tag }, .data = data, .length = length,
	};

	return send_message(ep, &message, deadline);
}

KRDMA_PUBLIC int krdma_ep_send_lent(struct krdma_ep *ep, uint64_t tag, const void *data,
				    size_t length, uint64_t user_data, uint64_t deadline)
{
	struct message message = {
		.frame = { .kind = HUB_MESSAGE, .tag = tag }, .data = data, .length = length,
		.lent = true, .user_data = user_data,
	};

	return send_message(ep, &message, deadline);
}

/*
 * Calls
 */

struct hub_call *hub_call_get(struct krdma_ep *ep)
{
	for (uint32_t i = 0; i < ep->depth; i++) {
		struct hub_call *call = &ep->calls[i];

		if (call->state != HUB_CALL_FREE || call->is_queued)
			continue;
		*call = (struct hub_call){ .item.is_empty = true };
		/* The number is never 0, and differs from the last ones of this place. */
		ep->call_count = ep->call_count % 0xffffff + 1;
		call->id = ep->call_count << 8 | i;
		return call;
	}
	return NULL;
}

bool hub_calls_are_untaken(const struct krdma_ep *ep)
{
	for (uint32_t i = 0; i < ep->depth; i++) {
		const struct hub_call *call = &ep->calls[i];

		if (!call->is_queued && (call->state != HUB_CALL_ANSWERED || !call->slot ||
					 call->slot->dropped))
			return false;
	}
	return true;
}

static void report_error(struct krdma_ep *ep, struct hub_call *call, int error)
{
	call->error = error;
	call->is_queued = true;
	hub_item_add(ep, &call->item, KRDMA_EP_ANSWER);
}

void hub_call_over(struct krdma_ep *ep, struct hub_call *call, int error)
{
	if (call->state == HUB_CALL_ANSWERED && call->sync && !call->is_there && call->slot) {
		/* The data of a long answer are on their way, or have no memory. */
		hub_slot_done(call->slot);
		if (ep->state < HUB_OVER) {
			hub_fetch_next(ep->hub);
			return;
		}
		call->state = HUB_CALL_WAITS;
	}
	if (call->state != HUB_CALL_WAITS)
		return;
	call->state = HUB_CALL_GIVEN_UP;
	if (call->sync || ep->is_closed)
		call->error = error;
	else
		report_error(ep, call, error);
}

bool hub_call_is_awaited(const struct hub_call *call)
{
	if (call->sync)
		return false;
	return call->state == HUB_CALL_WAITS ||
	       (call->state == HUB_CALL_ANSWERED && !call->slot->lent && !call->slot->dropped);
}

void hub_call_due(struct krdma_ep *ep, struct hub_call *call)
{
	struct hub_slot *slot = call->slot;

	if (call->state == HUB_CALL_WAITS) {
		hub_call_over(ep, call, -ETIMEDOUT);
	} else if (slot->item.waits) {
		/* As with a caller that waits. */
		hub_list_remove(&ep->items, &slot->item.link);
		report_error(ep, call, -ETIMEDOUT);
		hub_slot_done(slot);
		hub_fetch_next(ep->hub);
	} else {
		hub_item_hurry(ep, &slot->item);
	}
}

static int begin_call(struct krdma_ep *ep, struct message *message, struct hub_call **call)
{
	struct hub_call *new;
	int err = hub_ep_usable(ep);

	if (err)
		return err;
	new = hub_call_get(ep);
	if (!new)
		return -EAGAIN;
	message->frame.call = new->id;
	err = try_send(ep, message);
	if (err)
		return err;
	new->state = HUB_CALL_WAITS;
	*call = new;
	return 0;
}

KRDMA_PUBLIC int krdma_ep_call_begin(struct krdma_ep *ep, uint64_t tag, const void *data,
				     size_t length, uint64_t deadline, uint64_t user_data)
{
	struct message message = {
		.frame = { .kind = HUB_CALL, .tag = tag }, .data = data, .length = length,
	};
	struct hub_call *call;
	int err;

	if (!ep || (length && !data) || !deadline)
		return -EINVAL;
	err = begin_call(ep, &message, &call);
	if (err == -EAGAIN) {
		/* Completions may have made room. */
		hub_step(ep->hub, 0);
		err = begin_call(ep, &message, &call);
	}
	if (!err) {
		call->user_data = user_data;
		call->deadline = deadline;
		hub_wake_at(ep->hub, deadline);
	}
	hub_settle(ep->hub);
	return err;
}

/* Waits for the answer. */
static int await_answer(struct krdma_ep *ep, struct hub_call *call, uint64_t deadline)
{
	int stop = 0;

	while (!call->is_there) {
		if (call->state == HUB_CALL_GIVEN_UP)
			return call->error;
		if (stop)
			return stop;
		stop = hub_step(ep->hub, deadline);
	}
	return 0;
}

KRDMA_PUBLIC int krdma_ep_call(struct krdma_ep *ep, uint64_t tag, const void *data, size_t length,
			       uint64_t deadline, struct krdma_ep_record *answer, size_t size)
{
	struct message message = {
		.frame = { .kind = HUB_CALL, .tag = tag }, .data = data, .length = length,
	};
	struct krdma_ep_record record = { .size = sizeof(record), .event = KRDMA_EP_ANSWER };
	struct hub_call *call;
	int err, stop = 0;

	if (!ep || (length && !data) || !deadline || !answer ||
	    size < offsetof(struct krdma_ep_record, lent) + sizeof(void *))
		return -EINVAL;
	err = begin_call(ep, &message, &call);
	while (err == -EAGAIN && !stop) {
		stop = hub_calls_are_untaken(ep) ? -EDEADLK : hub_step(ep->hub, deadline);
		err = begin_call(ep, &message, &call);
	}
	if (!err) {
		call->sync = true;
		err = await_answer(ep, call, deadline);
		if (err)
			hub_call_over(ep, call, err);
		else
			hub_record_slot(&record, call->slot);
	} else if (err == -EAGAIN) {
		err = stop;
	}
	hub_settle(ep->hub);
	if (err)
		return err;
	memset(answer, 0, size);
	memcpy(answer, &record, size < sizeof(record) ? size : sizeof(record));
	return 0;
}

KRDMA_PUBLIC int krdma_ep_answer(const struct krdma_ep_record *call, uint64_t tag,
				 const void *data, size_t length)
{
	struct message message = {
		.frame = { .kind = HUB_ANSWER, .tag = tag }, .data = data, .length = length,
	};
	uint32_t *open;
	int err;

	if (!call || !call->ep || (length && !data))
		return -EINVAL;
	message.frame.call = (uint32_t)call->call;
	if (!call->call || !call->ep->opens || (call->call & 0xff) >= call->ep->depth)
		return -ENOENT;
	open = &call->ep->opens[call->call & 0xff];
	if (*open != call->call)
		return -ENOENT;
	err = try_send(call->ep, &message);
	if (!err)
		*open = 0;
	hub_settle(call->ep->hub);
	return err;
}
