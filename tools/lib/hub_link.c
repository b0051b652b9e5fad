// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Hubs: how endpoints begin and end.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "hub.h"

/* Connection requests that are handled at a time. */
#define REQUESTS	16

#define KEEPALIVE_MIN	100u
#define KEEPALIVE_MAX	3600000u

/*
 * Endpoints of a hub
 */

static struct krdma_ep **bucket(struct krdma_hub *hub, uint32_t id)
{
	return &hub->table[id % HUB_BUCKETS];
}

struct krdma_ep *hub_ep_find(struct krdma_hub *hub, uint32_t id)
{
	struct krdma_ep *ep = *bucket(hub, id);

	while (ep && krdma_conn_id(ep->conn) != id)
		ep = ep->bucket;
	return ep;
}

static void remember(struct krdma_ep *ep)
{
	struct krdma_ep **at = bucket(ep->hub, krdma_conn_id(ep->conn));

	ep->bucket = *at;
	*at = ep;
}

static void forget(struct krdma_ep *ep)
{
	struct krdma_ep **at = bucket(ep->hub, krdma_conn_id(ep->conn));

	while (*at && *at != ep)
		at = &(*at)->bucket;
	if (*at)
		*at = ep->bucket;
}

static int new_ep(struct krdma_hub *hub, struct krdma_ep **ep)
{
	struct krdma_ep *new;

	if (hub->ep_count >= hub->options.peers)
		return -EUSERS;
	new = calloc(1, sizeof(*new));
	if (!new)
		return -ENOMEM;
	new->hub = hub;
	new->source = HUB_SOURCE_EP;
	new->revoking = -1;
	new->next = hub->eps;
	hub->eps = new;
	hub->ep_count++;
	*ep = new;
	return 0;
}

int hub_ep_usable(const struct krdma_ep *ep)
{
	if (ep->error)
		return ep->error;
	return ep->state == HUB_UP && !ep->is_closed ? 0 : -ENOTCONN;
}

/*
 * Reasons
 */

/*
 * An end is final. EAGAIN and EINTR say that another call may succeed, and functions that wait for
 * room take EAGAIN for a lack of it, so neither is the reason of an end, also if a peer says so.
 */
HUB_FORMAT(3, 0)
static void note(struct krdma_ep *ep, int error, const char *format, va_list list)
{
	if (ep->error)
		return;
	ep->error = error == -EAGAIN || error == -EINTR ? -ECONNRESET : error;
	vsnprintf(ep->why, sizeof(ep->why), format, list);
}

HUB_FORMAT(3, 4)
static void because(struct krdma_ep *ep, int error, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	note(ep, error, format, list);
	va_end(list);
}

/* The errno with which the kernel reports the end of a connection. */
static void because_of_end(struct krdma_ep *ep, int error)
{
	switch (error) {
	case -EPIPE:
	case -ECONNRESET:
		because(ep, -ECONNRESET, "the peer's program has ended, or its side has failed");
		break;
	case -ETIMEDOUT:
		because(ep, error, "the peer's machine does not answer");
		break;
	case -ENODEV:
		because(ep, error, "the device is gone");
		break;
	case -EHOSTUNREACH:
		because(ep, error, "there is no route to the peer through an RDMA device");
		break;
	case -ECONNREFUSED:
		because(ep, error, "nothing listens there");
		break;
	default:
		because(ep, -ECONNRESET, "the connection has failed");
		break;
	}
}

/*
 * Ending
 */

static void end(struct krdma_ep *ep, uint32_t flags)
{
	if (ep->state >= HUB_ENDING)
		return;
	ep->state = HUB_ENDING;
	/* Ignore the error of a connection that has ended already. */
	krdma_conn_disconnect(ep->conn, flags);
}

void hub_ep_abort(struct krdma_ep *ep)
{
	if (ep->state < HUB_OVER)
		krdma_conn_disconnect(ep->conn, KRDMA_DISCONNECT_ABORT);
	if (ep->state < HUB_ENDING)
		ep->state = HUB_ENDING;
}

/* The peer's receives may be shorter than the words. */
static void send_bye(struct krdma_ep *ep, struct hub_frame *frame, const char *words)
{
	size_t length = strnlen(words, KRDMA_WHY_MAX);

	hub_send_control(ep, frame, words, length < ep->eager ? length : ep->eager);
}

static void say_bye(struct krdma_ep *ep)
{
	struct hub_frame frame = { .kind = HUB_BYE };
	int error = ep->error == -EPIPE || ep->error == -ECANCELED ? 0 : ep->error;

	if (error)
		frame.code = hub_code_of(error);
	ep->said_bye = true;
	send_bye(ep, &frame, ep->why);
}

/* Whether the peer still needs something of this side. */
static bool is_owing(const struct krdma_ep *ep)
{
	if (ep->deferred.first || ep->sends_out)
		return true;
	for (unsigned int i = 0; ep->flush && i < HUB_TICKETS; i++) {
		if (ep->tickets[i].mr)
			return true;
	}
	return false;
}

static void leave(struct krdma_ep *ep, bool flush)
{
	ep->state = HUB_LEAVING;
	ep->flush = flush;
	ep->grace = krdma_deadline(HUB_GRACE_MS);
	hub_wake_at(ep->hub, ep->grace);
	hub_ep_advance(ep);
}

static void drop_item(struct krdma_ep *ep, struct hub_item *item)
{
	if (item->event == KRDMA_EP_SENT)
		free(HUB_OF(item, struct hub_sent, item));
	/* What a child of fork() gave back would be sent in its parent's name. */
	else if (object_is_own(ep->hub->maker) &&
		 (item->event == KRDMA_EP_MESSAGE ||
		  (item->event == KRDMA_EP_ANSWER && !item->is_empty)))
		hub_slot_done(HUB_OF(item, struct hub_slot, item));
}

/* Records that the program has not taken. */
static void drop_items(struct krdma_ep *ep)
{
	struct hub_link *link;

	if (ep->is_ready)
		hub_list_remove(&ep->hub->ready, &ep->ready);
	ep->is_ready = false;
	while ((link = hub_list_take(&ep->items)))
		drop_item(ep, HUB_OF(link, struct hub_item, link));
}

/* Long messages that will not arrive any more; calls that they answer end with an error instead. */
static void drop_fetches(struct krdma_ep *ep)
{
	struct hub_link *link = ep->items.first, *next;

	for (; link; link = next) {
		struct hub_item *item = HUB_OF(link, struct hub_item, link);
		struct hub_slot *slot = HUB_OF(item, struct hub_slot, item);
		struct hub_call *call;

		next = link->next;
		if (!item->waits)
			continue;
		hub_list_remove(&ep->items, link);
		call = slot->call;
		hub_slot_done(slot);
		if (call)
			call->state = HUB_CALL_WAITS;
	}
}

/*
 * A child of fork() shares what epoll watches with its parent. What the child closes, the parent
 * needs; and what the parent closes, the child may still have, so that events would follow.
 */
static void close_conn(struct krdma_ep *ep)
{
	if (!ep->conn)
		return;
	if (object_is_own(ep->hub->maker))
		epoll_ctl(ep->hub->poll_fd, EPOLL_CTL_DEL, krdma_conn_fd(ep->conn), NULL);
	forget(ep);
	krdma_conn_close(ep->conn);
	ep->conn = NULL;
}

/* Gives back all that only a connection needs. */
static void release_link(struct krdma_ep *ep)
{
	struct hub_link *link;

	while ((link = hub_list_take(&ep->early)))
		hub_slot_release(HUB_OF(link, struct hub_slot, link));
	close_conn(ep);
	hub_sends_destroy(ep);
}

static void over(struct krdma_ep *ep)
{
	ep->state = HUB_OVER;
	ep->grace = 0;
	ep->hub->over_count++;
	/* The program has never seen a peer that left before it was connected. */
	if (ep->accepted && !ep->was_up) {
		ep->is_closed = true;
		drop_items(ep);
	}
	if (!ep->error)
		because_of_end(ep, -ECONNRESET);
	drop_fetches(ep);
	release_link(ep);
	for (uint32_t i = 0; ep->calls && i < ep->hub->options.depth; i++)
		hub_call_over(ep, &ep->calls[i], ep->error);
	for (unsigned int i = 0; i < HUB_TICKETS; i++)
		hub_ticket_done(ep, &ep->tickets[i], ep->error);
	if (!ep->is_closed && !ep->waiting)
		hub_item_add(ep, &ep->left, KRDMA_EP_LEFT);
	/* The next item may have waited for a long message. */
	hub_ep_check_ready(ep);
	hub_fetch_next(ep->hub);
}

void hub_ep_advance(struct krdma_ep *ep)
{
	if (ep->state == HUB_LEAVING) {
		if (is_owing(ep))
			return;
		if (!ep->said_bye) {
			say_bye(ep);
			return;
		}
		end(ep, 0);
	}
	if (ep->state == HUB_ENDING && ep->seen_closed && (!ep->outstanding || ep->device->dead))
		over(ep);
}

void hub_ep_refuse(struct krdma_ep *ep, int error, const char *words)
{
	struct hub_frame frame = { .kind = HUB_BYE, .code = hub_code_of(error) };

	because(ep, error, "%s", words);
	ep->is_broken = true;
	ep->said_bye = true;
	send_bye(ep, &frame, words);
	if (ep->state < HUB_LEAVING)
		leave(ep, false);
}

void hub_ep_fail(struct krdma_ep *ep, int error, const char *format, ...)
{
	va_list list;

	if (ep->state >= HUB_ENDING)
		return;
	va_start(list, format);
	note(ep, error, format, list);
	va_end(list);
	ep->is_broken = true;
	/* A peer that violates the protocol gets the reason, one that does not respond does not. */
	if ((ep->state == HUB_PROVING || ep->state == HUB_UP) && error == -EPROTO) {
		leave(ep, false);
		return;
	}
	end(ep, KRDMA_DISCONNECT_ABORT);
	hub_ep_advance(ep);
}

/* The peer does not take this side: in a rejection, or in HUB_BYE instead of its proof. */
static void because_of_refusal(struct krdma_ep *ep, int error, const char *words)
{
	because(ep, error == -EAGAIN ? -ECONNREFUSED : error, "the peer refuses: \"%s\"", words);
}

void hub_ep_bye(struct krdma_ep *ep, int error, const char *words)
{
	if (error && ep->state == HUB_PROVING)
		because_of_refusal(ep, error, words);
	else if (error)
		because(ep, error, "the peer ended the connection: \"%s\"", words);
	else if (*words)
		because(ep, -EPIPE, "the peer left: \"%s\"", words);
	else
		because(ep, -EPIPE, "the peer left");
	end(ep, 0);
}

void hub_ep_close(struct krdma_ep *ep, const char *why)
{
	if (ep->is_closed)
		return;
	ep->is_closed = true;
	drop_items(ep);
	if (ep->state == HUB_UP) {
		/* The words go with HUB_BYE, and no error does. */
		because(ep, -ECANCELED, "%s", why ? why : "");
		leave(ep, true);
	} else if (ep->state < HUB_UP) {
		hub_ep_fail(ep, -ECANCELED, "closed");
	}
}

static bool is_lending(const struct krdma_ep *ep)
{
	for (unsigned int i = 0; i < HUB_TICKETS; i++) {
		if (ep->tickets[i].sent)
			return true;
	}
	return false;
}

/*
 * What was lent is the caller's again when krdma_ep_close() returns. A peer that still reads it
 * then would lose the connection, and with it all that was sent, and would take this side for one
 * that violates the protocol. The wait ends when the endpoint stops leaving, at the latest after
 * HUB_GRACE_MS.
 */
static void withdraw_lent(struct krdma_ep *ep)
{
	int err = 0;

	/* It is not freed during this. */
	ep->lent++;
	while (ep->state == HUB_LEAVING && ep->flush && is_lending(ep) && (!err || err == -EINTR))
		err = hub_step(ep->hub, KRDMA_FOREVER);
	ep->lent--;
	for (unsigned int i = 0; i < HUB_TICKETS; i++) {
		if (ep->tickets[i].sent)
			hub_ticket_done(ep, &ep->tickets[i], -ECANCELED);
	}
}

KRDMA_PUBLIC void krdma_ep_close(struct krdma_ep *ep, const char *why)
{
	struct krdma_hub *hub;

	if (!ep)
		return;
	hub = ep->hub;
	if (!object_is_own(hub->maker)) {
		/* krdma_hub_close() frees the rest of the child's copy. */
		ep->is_closed = true;
		release_link(ep);
		return;
	}
	hub_ep_close(ep, why);
	withdraw_lent(ep);
	hub_reap(hub);
	hub_settle(hub);
}

void hub_ep_destroy(struct krdma_ep *ep)
{
	struct krdma_ep **at = &ep->hub->eps;

	drop_items(ep);
	if (ep->state != HUB_OVER) {
		ep->is_closed = true;
		release_link(ep);
		for (unsigned int i = 0; i < HUB_TICKETS; i++)
			hub_ticket_done(ep, &ep->tickets[i], -ECANCELED);
	}
	hub_memories_destroy(ep);
	if (ep->device)
		hub_device_put(ep->device);
	while (*at != ep)
		at = &(*at)->next;
	*at = ep->next;
	ep->hub->ep_count--;
	free(ep->calls);
	free(ep->opens);
	free(ep);
}

void hub_reap(struct krdma_hub *hub)
{
	struct krdma_ep *ep, *next;

	for (ep = hub->eps; ep && hub->over_count; ep = next) {
		next = ep->next;
		if (ep->state != HUB_OVER || !ep->is_closed || ep->lent)
			continue;
		hub->over_count--;
		hub_ep_destroy(ep);
	}
	hub_devices_reap(hub);
}

/*
 * Beginning
 */

static uint32_t keepalive(const struct krdma_hub *hub)
{
	uint32_t ms = hub->options.idle_ms / 2;

	if (ms < KEEPALIVE_MIN)
		return KEEPALIVE_MIN;
	return ms > KEEPALIVE_MAX ? KEEPALIVE_MAX : ms;
}

/* Gives a connection that is resolved, or requested, what it needs. */
static int create_qp(struct krdma_ep *ep)
{
	struct krdma_conn_create_qp_args options = {
		.size = sizeof(options),
		.send_depth = hub_send_depth(ep->hub),
		.max_send_sge = 1,
		.keepalive_ms = keepalive(ep->hub),
	};
	struct krdma_conn_query_args query;
	int err;

	err = krdma_conn_query(ep->conn, &query, sizeof(query));
	if (err)
		return err;
	memcpy(&ep->remote, &query.remote, sizeof(ep->remote));
	err = hub_device_get(ep->hub, query.device_id, &ep->device);
	if (!err)
		err = hub_sends_create(ep);
	if (err)
		return err;
	err = krdma_conn_create_qp(ep->conn, ep->device->ring, NULL, ep->device->srq, &options);
	if (err == -EOPNOTSUPP) {
		/* iWARP: TCP finds out that the peer is gone. */
		options.keepalive_ms = 0;
		err = krdma_conn_create_qp(ep->conn, ep->device->ring, NULL, ep->device->srq,
					   &options);
	}
	return err;
}

static size_t write_greeting(const struct krdma_ep *ep, void *wire)
{
	struct hub_greeting greeting = {
		.depth = ep->hub->options.depth,
		.eager = ep->hub->options.eager,
		.longest = ep->hub->options.longest,
		.has_secret = ep->hub->secret,
		.hello = ep->hello,
		.hello_length = ep->accepted ? 0 : ep->hello_length,
	};

	return hub_greeting_write(&greeting, wire);
}

static void agree(struct krdma_ep *ep, const struct hub_greeting *peer)
{
	const struct krdma_hub_options *own = &ep->hub->options;

	ep->depth = peer->depth < own->depth ? peer->depth : own->depth;
	ep->eager = peer->eager < own->eager ? peer->eager : own->eager;
	ep->longest = peer->longest;
}

void hub_ep_set_up(struct krdma_ep *ep)
{
	ep->state = HUB_UP;
	ep->was_up = true;
	ep->grace = 0;
	if (!ep->waiting)
		hub_item_add(ep, &ep->joined, KRDMA_EP_JOINED);
	hub_ep_take_early(ep);
}

/* The rest of the steps of a client, each after an event. */
static int connect_now(struct krdma_ep *ep)
{
	unsigned char wire[HUB_GREETING_MAX];
	int err = create_qp(ep);

	if (err)
		return err;
	ep->state = HUB_CONNECTING;
	return krdma_conn_connect(ep->conn, NULL, wire, write_greeting(ep, wire));
}

static int private_data(struct krdma_conn *conn, unsigned char *data, size_t room, size_t *length)
{
	int err;

	*length = room;
	err = krdma_conn_private_data(conn, data, length);
	if (*length > room)
		*length = room;
	return err;
}

/* @data: private data of a hub of another version. */
static void because_of_version(struct krdma_ep *ep, const void *data, size_t length)
{
	because(ep, -EPROTONOSUPPORT,
		"the peer has version %u of the hub's protocol, and this library version %u",
		hub_version_read(data, length), HUB_VERSION);
}

static void established(struct krdma_ep *ep)
{
	unsigned char data[HUB_REFUSAL_MAX];
	struct hub_greeting greeting;
	size_t length;
	int err;

	if (ep->state != HUB_CONNECTING)
		return;
	if (!ep->accepted) {
		err = private_data(ep->conn, data, sizeof(data), &length);
		if (!err)
			err = hub_greeting_read(data, length, &greeting);
		if (err == -EPROTONOSUPPORT)
			because_of_version(ep, data, length);
		if (err) {
			hub_ep_fail(ep, err, "the peer is no hub");
			return;
		}
		if (greeting.has_secret != !!ep->hub->secret) {
			/* An honest one would have refused. */
			hub_ep_fail(ep, ep->hub->secret ? -EKEYREJECTED : -EPROTO,
				    "the peer has %s secret", greeting.has_secret ? "a" : "no");
			return;
		}
		agree(ep, &greeting);
	}
	if (ep->hub->secret)
		hub_secret_begin(ep);
	else
		hub_ep_set_up(ep);
}

/* After an error there is no connection: nothing would report its end. */
static int resolve(struct krdma_ep *ep)
{
	const struct sockaddr_storage *to = &ep->addresses[ep->address++];
	struct krdma_hub *hub = ep->hub;
	int err;

	err = krdma_conn_create(hub->session, &ep->conn);
	if (err)
		return err;
	remember(ep);
	ep->remote = *to;
	ep->state = HUB_RESOLVING;
	err = hub_watch(hub, krdma_conn_fd(ep->conn), &ep->source);
	if (!err)
		err = krdma_conn_resolve(ep->conn, (const struct sockaddr *)to, NULL);
	if (err)
		close_conn(ep);
	return err;
}

/* Tries the next addresses, until the resolution of one has begun. */
static int resolve_next(struct krdma_ep *ep)
{
	int err = -EHOSTUNREACH;

	while (err && ep->address < ep->address_count) {
		close_conn(ep);
		err = resolve(ep);
	}
	return err;
}

/* Returns false if there is a connection to another address. */
static bool resolve_failed(struct krdma_ep *ep)
{
	int err = resolve_next(ep);

	if (!err)
		return false;
	/* What was found where there is a route says more than that others have none. */
	if (ep->refusal)
		err = ep->refusal;
	if (err == -EHOSTUNREACH || ep->refusal)
		because_of_end(ep, err);
	else
		because(ep, err, "cannot connect: %s", krdma_error_name(err));
	if (!ep->conn) {
		ep->state = HUB_ENDING;
		ep->seen_closed = true;
	}
	return true;
}

/* Gives back what create_qp() has got, for the next address. Nothing was posted. */
static void release_qp(struct krdma_ep *ep)
{
	release_link(ep);
	ep->early_count = 0;
	free(ep->calls);
	ep->calls = NULL;
	free(ep->opens);
	ep->opens = NULL;
	if (ep->device)
		hub_device_put(ep->device);
	ep->device = NULL;
}

/* No program has answered, so another address is worth a try. iWARP has EIO for most failures. */
static bool is_no_answer(int error)
{
	return error == -ECONNREFUSED || error == -EHOSTUNREACH || error == -ETIMEDOUT ||
	       error == -EIO;
}

/*
 * No hub has answered at this address: the name may have another one. Returns false if there is a
 * connection to that.
 */
static bool connect_failed(struct krdma_ep *ep, int error)
{
	if (ep->accepted || ep->state > HUB_CONNECTING || ep->address == ep->address_count ||
	    !is_no_answer(error))
		return true;
	ep->refusal = error;
	release_qp(ep);
	return resolve_failed(ep);
}

/* Returns false if there is a connection to another address. */
static bool rejected(struct krdma_ep *ep)
{
	unsigned char data[HUB_REFUSAL_MAX + 64];
	char words[KRDMA_WHY_MAX + 1];
	size_t length;
	int error, err = private_data(ep->conn, data, sizeof(data), &length);

	if (!err)
		err = hub_refusal_read(data, length, &error, words);
	if (err == -EPROTONOSUPPORT) {
		because_of_version(ep, data, length);
	} else if (err) {
		if (!connect_failed(ep, -ECONNREFUSED))
			return false;
		because(ep, -ECONNREFUSED, "nothing listens there, or what listens is no hub");
	} else {
		because_of_refusal(ep, error, words);
	}
	return true;
}

static void has_ended(struct krdma_ep *ep, int error)
{
	because_of_end(ep, error);
	if (ep->state < HUB_ENDING)
		ep->state = HUB_ENDING;
}

/*
 * What the peer sent before its end may still be in the CQ, behind what others sent: its last
 * messages, and that it left. After the end, nothing of it finds the endpoint any more.
 */
static void take_last(struct krdma_ep *ep)
{
	if (ep->device)
		hub_drain(ep->device);
}

/* Returns false if the connection was replaced by that to the next address. */
static bool event(struct krdma_ep *ep, const struct krdma_event_record *record)
{
	int err;

	switch (record->type) {
	case KRDMA_EVENT_ROUTE_RESOLVED:
		err = ep->state == HUB_RESOLVING ? connect_now(ep) : 0;
		if (err && !connect_failed(ep, err))
			return false;
		if (err)
			hub_ep_fail(ep, err, "cannot connect: %s", krdma_error_name(err));
		break;
	case KRDMA_EVENT_ADDR_ERROR:
	case KRDMA_EVENT_ROUTE_ERROR:
		if (ep->state == HUB_RESOLVING)
			return resolve_failed(ep);
		because_of_end(ep, -EHOSTUNREACH);
		break;
	case KRDMA_EVENT_ESTABLISHED:
		established(ep);
		break;
	case KRDMA_EVENT_REJECTED:
		return rejected(ep);
	case KRDMA_EVENT_CONNECT_ERROR:
	case KRDMA_EVENT_UNREACHABLE:
		if (!connect_failed(ep, record->error))
			return false;
		has_ended(ep, record->error);
		break;
	case KRDMA_EVENT_DISCONNECTED:
	case KRDMA_EVENT_LOST:
	case KRDMA_EVENT_DEVICE_REMOVAL:
		take_last(ep);
		has_ended(ep, record->error);
		break;
	case KRDMA_EVENT_CLOSED:
		take_last(ep);
		if (record->error)
			because_of_end(ep, record->error);
		if (ep->state < HUB_ENDING)
			ep->state = HUB_ENDING;
		ep->seen_closed = true;
		break;
	default:
		break;
	}
	return true;
}

void hub_ep_events(struct krdma_ep *ep)
{
	struct krdma_event_record record;

	while (ep->conn && !krdma_conn_next_event(ep->conn, 0, &record, sizeof(record))) {
		if (!event(ep, &record))
			return;
	}
	hub_ep_advance(ep);
}

/*
 * Connecting
 */

static int start(struct krdma_hub *hub, const char *to, const void *hello, size_t length,
		 struct krdma_ep **ep)
{
	char host[HUB_HOST_MAX];
	struct krdma_ep *new;
	uint16_t port;
	int err = hub_address_split(to, host, &port);

	if (err || !*host)
		return -EINVAL;
	err = new_ep(hub, &new);
	if (err)
		return err;
	if (length)
		memcpy(new->hello, hello, length);
	new->hello_length = (uint32_t)length;
	err = address_resolve(host, port, false, new->addresses, &new->address_count);
	if (!err)
		err = resolve_next(new);
	if (err)
		hub_ep_destroy(new);
	else
		*ep = new;
	return err;
}

KRDMA_PUBLIC int krdma_ep_connect(struct krdma_hub *hub, const char *to, const void *hello,
				  size_t length, uint64_t deadline, struct krdma_ep **ep)
{
	struct krdma_ep *new;
	uint64_t grace;
	int err;

	if (hub)
		hub->why[0] = '\0';
	if (!hub || !to || !ep || length > KRDMA_HELLO_MAX || (length && !hello))
		return -EINVAL;
	hub_reap(hub);
	err = start(hub, to, hello, length, &new);
	if (err)
		return err;
	new->waiting = deadline;
	while (deadline && !err && new->state < HUB_UP)
		err = hub_step(hub, deadline);
	grace = krdma_deadline(HUB_GRACE_MS);
	while (!err && deadline && new->state == HUB_ENDING)
		err = hub_step(hub, grace);
	if (new->state == HUB_UP)
		err = 0;
	else if (new->error)
		err = new->error;
	new->waiting = false;
	if (err) {
		/* The endpoint is gone when the function returns. */
		memcpy(hub->why, new->why, sizeof(hub->why));
		hub_ep_close(new, NULL);
	} else {
		*ep = new;
	}
	hub_reap(hub);
	hub_settle(hub);
	return err;
}

/*
 * Accepting
 */

static void refuse(struct krdma_conn *conn, int error, const char *words)
{
	unsigned char wire[HUB_REFUSAL_MAX];

	krdma_conn_reject(conn, wire, hub_refusal_write(error, words, wire));
	krdma_conn_close(conn);
}

static int admit(struct krdma_hub *hub, const struct sockaddr_storage *peer, const void *hello,
		 size_t length)
{
	int err;

	if (!hub->options.admit)
		return 0;
	err = hub->options.admit(hub->options.context, (const struct sockaddr *)peer, hello,
				 length);
	return err > 0 ? -EACCES : err;
}

int hub_ep_admit(struct krdma_ep *ep)
{
	return admit(ep->hub, &ep->remote, ep->hello, ep->hello_length);
}

/*
 * A peer that was up may come back before its last connection has ended. One that was not takes a
 * place until its connection has ended, which it can delay.
 */
static unsigned int count_same(const struct krdma_hub *hub, const struct sockaddr_storage *peer)
{
	unsigned int count = 0;

	for (const struct krdma_ep *ep = hub->eps; ep; ep = ep->next)
		count += ep->accepted && (ep->state < HUB_ENDING || !ep->was_up) &&
			 nets_same_peer(&ep->remote, peer);
	return count;
}

/* 0, or the error for the peer. */
static int check_peer(struct krdma_hub *hub, const struct sockaddr_storage *peer,
		      const struct hub_greeting *greeting, const char **words)
{
	*words = "this address is not admitted";
	if (hub->nets.count && !nets_have(&hub->nets, peer))
		return -EACCES;
	*words = "the limit of peers at this address is reached";
	if (count_same(hub, peer) >= hub->options.per_address)
		return -EUSERS;
	*words = "the limit of peers is reached";
	if (hub->ep_count >= hub->options.peers)
		return -EUSERS;
	*words = "a secret is needed";
	if (hub->secret && !greeting->has_secret)
		return -ENOKEY;
	*words = "this hub has no secret";
	if (!hub->secret && greeting->has_secret)
		return -EKEYREJECTED;
	/* With a secret, the program is asked after the proof. */
	if (hub->secret)
		return 0;
	*words = HUB_NOT_ADMITTED;
	return admit(hub, peer, greeting->hello, greeting->hello_length);
}

static int take_on(struct krdma_hub *hub, struct krdma_conn *conn,
		   const struct hub_greeting *greeting)
{
	unsigned char wire[HUB_GREETING_MAX];
	struct krdma_ep *ep;
	int err = new_ep(hub, &ep);

	if (err)
		return err;
	ep->accepted = true;
	ep->conn = conn;
	remember(ep);
	agree(ep, greeting);
	/* For @admit, which with a secret is called later. */
	if (greeting->hello_length)
		memcpy(ep->hello, greeting->hello, greeting->hello_length);
	ep->hello_length = greeting->hello_length;
	err = create_qp(ep);
	ep->state = HUB_CONNECTING;
	if (!err)
		err = hub_watch(hub, krdma_conn_fd(conn), &ep->source);
	if (!err)
		err = krdma_conn_accept(conn, NULL, wire, write_greeting(ep, wire));
	if (err) {
		/* The caller rejects the connection. */
		forget(ep);
		epoll_ctl(hub->poll_fd, EPOLL_CTL_DEL, krdma_conn_fd(conn), NULL);
		ep->conn = NULL;
		hub_ep_destroy(ep);
		return err;
	}
	ep->grace = krdma_deadline(hub->options.idle_ms);
	hub_wake_at(hub, ep->grace);
	return 0;
}

static void take_request(struct krdma_hub *hub, struct krdma_conn *conn)
{
	unsigned char data[HUB_REFUSAL_MAX];
	struct krdma_conn_query_args query;
	struct hub_greeting greeting;
	struct sockaddr_storage peer;
	const char *words = "not a request of a hub";
	char versions[KRDMA_WHY_MAX];
	size_t length = 0;
	int err;

	err = krdma_conn_query(conn, &query, sizeof(query));
	if (!err)
		err = private_data(conn, data, sizeof(data), &length);
	if (!err)
		err = hub_greeting_read(data, length, &greeting);
	if (err == -EPROTONOSUPPORT) {
		snprintf(versions, sizeof(versions),
			 "this hub has version %u of the protocol, and the request version %u",
			 HUB_VERSION, hub_version_read(data, length));
		words = versions;
	}
	if (!err) {
		memcpy(&peer, &query.remote, sizeof(peer));
		err = check_peer(hub, &peer, &greeting, &words);
	}
	if (!err) {
		words = "the server is out of memory or other resources";
		err = take_on(hub, conn, &greeting);
	}
	if (err)
		refuse(conn, err, words);
}

/*
 * Requests cannot be taken, for example for lack of descriptors, and the listener's descriptor
 * stays readable. Requests wait in the kernel meanwhile.
 */
static void be_deaf(struct krdma_hub *hub, int err)
{
	epoll_ctl(hub->poll_fd, EPOLL_CTL_DEL, krdma_listener_fd(hub->listener), NULL);
	if (err == -ENODEV)
		return;
	hub->is_deaf = true;
	hub_wake_at(hub, krdma_deadline(HUB_RETRY_MS));
}

void hub_accept(struct krdma_hub *hub)
{
	struct krdma_conn *conn;

	for (unsigned int i = 0; i < REQUESTS; i++) {
		int err = krdma_listener_next(hub->listener, 0, &conn);

		if (err) {
			if (err != -EAGAIN)
				be_deaf(hub, err);
			return;
		}
		take_request(hub, conn);
	}
}

/*
 * What the program asks
 */

KRDMA_PUBLIC void krdma_ep_set(struct krdma_ep *ep, void *own)
{
	if (ep)
		ep->own = own;
}

KRDMA_PUBLIC void *krdma_ep_get(const struct krdma_ep *ep)
{
	return ep ? ep->own : NULL;
}

KRDMA_PUBLIC const char *krdma_ep_why(const struct krdma_ep *ep)
{
	return ep ? ep->why : "";
}

KRDMA_PUBLIC const char *krdma_hub_why(const struct krdma_hub *hub)
{
	return hub ? hub->why : "";
}

KRDMA_PUBLIC int krdma_ep_address(const struct krdma_ep *ep, struct sockaddr_storage *address)
{
	if (!ep || !address)
		return -EINVAL;
	if (!ep->remote.ss_family)
		return -ENOTCONN;
	*address = ep->remote;
	return 0;
}
