// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Hubs: opening and closing, waiting, records.
 *
 * The descriptor of a hub is an epoll descriptor with the listener, a timer, each device's ring,
 * each endpoint's connection, and an eventfd that is readable while there is a record.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "hub.h"

#define NS_PER_S	1000000000ull
#define NS_PER_MS	1000000ull

#define DEFAULT_PEERS	64
#define DEFAULT_DEPTH	8
#define DEFAULT_EAGER	2048
#define DEFAULT_IDLE_MS	30000
#define DEFAULT_LONGEST	(16ull * 1024 * 1024)
#define BUDGET_LONGEST	4

/*
 * Descriptors that are handled at a time, and steps that handle something until these and the
 * deadline are looked at, or records that are taken until then.
 */
#define EVENTS		32
#define PATIENCE	16

/* The size of a record in the first published version. */
#define RECORD_MIN_SIZE	(offsetof(struct krdma_ep_record, lent) + sizeof(void *))

/*
 * Lists
 */

void hub_list_add(struct hub_list *list, struct hub_link *link)
{
	link->next = NULL;
	*(list->first ? list->end : &list->first) = link;
	list->end = &link->next;
}

struct hub_link *hub_list_take(struct hub_list *list)
{
	struct hub_link *link = list->first;

	if (link)
		list->first = link->next;
	return link;
}

void hub_list_remove(struct hub_list *list, struct hub_link *link)
{
	struct hub_link **at = &list->first;

	while (*at && *at != link)
		at = &(*at)->next;
	if (!*at)
		return;
	*at = link->next;
	if (list->end == &link->next)
		list->end = at;
}

/*
 * Time
 */

void hub_wake_at(struct krdma_hub *hub, uint64_t deadline)
{
	struct itimerspec when = { 0 };

	if (!deadline || deadline == KRDMA_FOREVER || (hub->tick && hub->tick <= deadline))
		return;
	when.it_value.tv_sec = (time_t)(deadline / NS_PER_S);
	when.it_value.tv_nsec = (long)(deadline % NS_PER_S);
	hub->tick = deadline;
	/* Cannot fail with these arguments. */
	timerfd_settime(hub->timer_fd, TFD_TIMER_ABSTIME, &when, NULL);
}

/* What is due for an endpoint; when to look again. */
static void tick_ep(struct krdma_ep *ep, uint64_t now)
{
	uint64_t idle = ep->hub->options.idle_ms * NS_PER_MS;

	for (uint32_t i = 0; i < ep->hub->options.depth && ep->calls; i++) {
		struct hub_call *call = &ep->calls[i];

		if (!hub_call_is_awaited(call))
			continue;
		if (call->deadline <= now)
			hub_call_due(ep, call);
		else
			hub_wake_at(ep->hub, call->deadline);
	}
	if (ep->grace && ep->state < HUB_OVER) {
		if (ep->grace > now) {
			hub_wake_at(ep->hub, ep->grace);
		} else {
			ep->grace = 0;
			hub_ep_fail(ep, -ETIMEDOUT, "the peer did not respond in time");
			return;
		}
	}
	if (ep->outstanding && ep->state <= HUB_LEAVING) {
		if (ep->progress + idle > now)
			hub_wake_at(ep->hub, ep->progress + idle);
		else
			hub_ep_fail(ep, -ETIMEDOUT, "the peer has taken no message for %u s",
				    ep->hub->options.idle_ms / 1000);
	}
}

static void listen_again(struct krdma_hub *hub)
{
	if (!hub_watch(hub, krdma_listener_fd(hub->listener), &hub->listener_source))
		hub->is_deaf = false;
	else
		hub_wake_at(hub, krdma_deadline(HUB_RETRY_MS));
}

static void tick(struct krdma_hub *hub)
{
	uint64_t now = krdma_deadline(0), count;

	if (read(hub->timer_fd, &count, sizeof(count)) != sizeof(count))
		return;
	hub->tick = 0;
	/* What has arrived by now is not late, even if the program did not look at it in time. */
	for (struct hub_device *device = hub->devices; device; device = device->next)
		hub_drain(device);
	if (hub->is_deaf)
		listen_again(hub);
	for (struct krdma_ep *ep = hub->eps; ep; ep = ep->next)
		tick_ep(ep, now);
}

/*
 * Records
 */

void hub_ep_check_ready(struct krdma_ep *ep)
{
	if (ep->is_ready || !ep->items.first || ep->is_closed ||
	    HUB_OF(ep->items.first, struct hub_item, link)->waits)
		return;
	ep->is_ready = true;
	hub_list_add(&ep->hub->ready, &ep->ready);
}

/* Before the first item whose data are not there, which may be so for as long as peers like. */
static void add_before_waiting(struct krdma_ep *ep, struct hub_item *item)
{
	struct hub_link **at = &ep->items.first;

	while (*at && !HUB_OF(*at, struct hub_item, link)->waits)
		at = &(*at)->next;
	if (!*at) {
		hub_list_add(&ep->items, &item->link);
		return;
	}
	item->link.next = *at;
	*at = &item->link;
}

void hub_item_add(struct krdma_ep *ep, struct hub_item *item, uint32_t event)
{
	item->event = event;
	/* These are nothing that the peer has sent, so that they have no place in its order. */
	if (event == KRDMA_EP_SENT || item->is_empty)
		add_before_waiting(ep, item);
	else
		hub_list_add(&ep->items, &item->link);
	hub_ep_check_ready(ep);
}

void hub_item_hurry(struct krdma_ep *ep, struct hub_item *item)
{
	struct hub_link *each = ep->items.first;

	while (each != &item->link && !HUB_OF(each, struct hub_item, link)->waits)
		each = each->next;
	/* Nothing keeps it up: its place is before what the peer sent later. */
	if (each == &item->link)
		return;
	hub_list_remove(&ep->items, &item->link);
	add_before_waiting(ep, item);
	hub_ep_check_ready(ep);
}

void hub_record_slot(struct krdma_ep_record *record, struct hub_slot *slot)
{
	const struct hub_frame *frame = &slot->frame;

	record->ep = slot->ep;
	record->tag = frame->tag;
	if (frame->kind == HUB_CALL)
		record->call = frame->call;
	if (frame->kind == HUB_ANSWER)
		record->user_data = slot->call->user_data;
	if (frame->is_long) {
		record->data = krdma_mr_data(slot->buffer->mr);
		record->length = (size_t)frame->remote.length;
	} else {
		record->data = frame->data;
		record->length = frame->length;
	}
	record->lent = slot;
	slot->lent = true;
	slot->ep->lent++;
}

struct hub_sent *hub_sent_create(uint64_t user_data)
{
	struct hub_sent *sent = calloc(1, sizeof(*sent));

	if (sent)
		sent->user_data = user_data;
	return sent;
}

static void record_item(struct krdma_ep_record *record, struct krdma_ep *ep, struct hub_item *item)
{
	struct hub_call *call;
	struct hub_sent *sent;

	record->ep = ep;
	record->event = item->event;
	switch (item->event) {
	case KRDMA_EP_MESSAGE:
		hub_record_slot(record, HUB_OF(item, struct hub_slot, item));
		break;
	case KRDMA_EP_ANSWER:
		if (item->is_empty) {
			call = HUB_OF(item, struct hub_call, item);
			record->error = call->error;
			record->user_data = call->user_data;
			call->is_queued = false;
			break;
		}
		hub_record_slot(record, HUB_OF(item, struct hub_slot, item));
		break;
	case KRDMA_EP_SENT:
		sent = HUB_OF(item, struct hub_sent, item);
		record->error = sent->error;
		record->user_data = sent->user_data;
		free(sent);
		break;
	case KRDMA_EP_LEFT:
		record->error = ep->error == -EPIPE ? 0 : ep->error;
		break;
	default:
		break;
	}
}

/* Takes one record of the first endpoint, which then comes after all others. */
static bool take_record(struct krdma_hub *hub, struct krdma_ep_record *record)
{
	struct hub_link *link = hub_list_take(&hub->ready);
	struct krdma_ep *ep;

	if (!link)
		return false;
	ep = HUB_OF(link, struct krdma_ep, ready);
	ep->is_ready = false;
	link = hub_list_take(&ep->items);
	record_item(record, ep, HUB_OF(link, struct hub_item, link));
	hub_ep_check_ready(ep);
	return true;
}

KRDMA_PUBLIC void krdma_ep_done(struct krdma_ep_record *record)
{
	struct hub_slot *slot;
	struct krdma_ep *ep;
	struct krdma_hub *hub;

	if (!record || !record->lent)
		return;
	slot = record->lent;
	record->lent = NULL;
	ep = slot->ep;
	hub = ep->hub;
	/* To give the data back is the parent's affair. */
	if (!object_is_own(hub->maker))
		return;
	ep->lent--;
	slot->lent = false;
	hub_slot_done(slot);
	hub_fetch_next(hub);
	hub_reap(hub);
	hub_settle(hub);
}

/*
 * Waiting
 */

int hub_watch(struct krdma_hub *hub, int fd, int *source)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = source };

	return epoll_ctl(hub->poll_fd, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

static void completed(struct hub_device *device, const struct krdma_cqe *cqe)
{
	struct hub_wr *wr = (struct hub_wr *)(uintptr_t)cqe->wr_id;
	struct hub_slot *slot = (struct hub_slot *)wr;
	struct krdma_ep *ep = wr->ep;

	if (wr->kind == HUB_WR_RECV) {
		ep = hub_ep_find(device->hub, cqe->dest);
		if (ep && cqe->status == KRDMA_WC_SUCCESS && !cqe->flags) {
			hub_frame_arrived(ep, slot, cqe->length);
			return;
		}
		hub_slot_release(slot);
		if (ep && cqe->status == KRDMA_WC_SUCCESS)
			hub_ep_fail(ep, -EPROTO, "the peer sent immediate data");
		return;
	}
	ep->outstanding--;
	ep->progress = krdma_deadline(0);
	switch (wr->kind) {
	case HUB_WR_SEND:
		hub_send_done(ep, (struct hub_send *)wr);
		break;
	case HUB_WR_FETCH:
		hub_fetch_done(HUB_OF(wr, struct hub_slot, fetch), cqe);
		break;
	default:
		hub_memory_accessed(ep, wr, cqe);
		break;
	}
	hub_ep_advance(ep);
}

/* Handles completions; false if there were none. */
static bool drain(struct hub_device *device)
{
	struct krdma_cqe cqes[HUB_BATCH];
	size_t taken = 0;
	int err;

	if (device->dead)
		return false;
	err = krdma_ring_poll(device->ring, cqes, HUB_BATCH, &taken);
	if (err == -ENODEV) {
		device->dead = true;
		/* The descriptor stays readable. */
		epoll_ctl(device->hub->poll_fd, EPOLL_CTL_DEL, krdma_ring_fd(device->ring), NULL);
		for (struct krdma_ep *ep = device->hub->eps; ep; ep = ep->next) {
			if (ep->device != device)
				continue;
			hub_ep_fail(ep, -ENODEV, "the device is gone");
			hub_ep_advance(ep);
		}
		return true;
	}
	for (size_t i = 0; i < taken; i++)
		completed(device, &cqes[i]);
	hub_device_post(device);
	return taken;
}

/* What completes meanwhile waits its turn: a peer that goes on sending does not hold up others. */
void hub_drain(struct hub_device *device)
{
	uint32_t rounds = device->cq_entries / HUB_BATCH + 1;

	while (rounds && drain(device))
		rounds--;
}

static bool drain_all(struct krdma_hub *hub)
{
	bool some = false;

	for (struct hub_device *device = hub->devices; device; device = device->next)
		some |= drain(device);
	return some;
}

static void handle(struct krdma_hub *hub, int *source)
{
	switch (*source) {
	case HUB_SOURCE_LISTENER:
		hub_accept(hub);
		break;
	case HUB_SOURCE_TIMER:
		tick(hub);
		break;
	case HUB_SOURCE_EP:
		hub_ep_events(HUB_OF(source, struct krdma_ep, source));
		break;
	default:
		break;
	}
}

static int wait_ms(uint64_t deadline)
{
	uint64_t now, ms;

	if (deadline == KRDMA_FOREVER)
		return -1;
	now = krdma_deadline(0);
	if (deadline <= now)
		return 0;
	ms = (deadline - now + NS_PER_MS - 1) / NS_PER_MS;
	return ms < INT32_MAX ? (int)ms : INT32_MAX;
}

static void sleep_again(struct krdma_hub *hub)
{
	uint64_t count;

	if (hub->is_awake && read(hub->wake_fd, &count, sizeof(count)) == sizeof(count))
		hub->is_awake = false;
}

void hub_settle(struct krdma_hub *hub)
{
	uint64_t count = 1;

	if (hub->ready.first && !hub->is_awake &&
	    write(hub->wake_fd, &count, sizeof(count)) == sizeof(count))
		hub->is_awake = true;
	if (!hub->ready.first)
		sleep_again(hub);
}

static int late(uint64_t deadline)
{
	if (!deadline)
		return -EAGAIN;
	return deadline != KRDMA_FOREVER && krdma_deadline(0) >= deadline ? -ETIMEDOUT : 0;
}

/* Handles what the descriptors say. Returns the number of those that do, or a negative errno. */
static int look(struct krdma_hub *hub, int ms)
{
	struct epoll_event events[EVENTS];
	int count = epoll_wait(hub->poll_fd, events, EVENTS, ms);

	if (count < 0)
		return -errno;
	hub->unseen = 0;
	/* A ring's descriptor says no more than that there is something to drain. */
	drain_all(hub);
	for (int i = 0; i < count; i++)
		handle(hub, events[i].data.ptr);
	hub_reap(hub);
	return count;
}

/* Peers that send without a pause give this something to do in each step. */
int hub_step(struct krdma_hub *hub, uint64_t deadline)
{
	bool some = drain_all(hub);
	int count, ms;

	if (some && ++hub->steps % PATIENCE)
		return 0;
	ms = some ? 0 : wait_ms(deadline);
	if (ms)
		sleep_again(hub);
	count = look(hub, ms);
	if (count < 0)
		return count == -EINTR && some ? 0 : count;
	if (!some && count > (hub->is_awake ? 1 : 0) && ++hub->steps % PATIENCE)
		return 0;
	return late(deadline);
}

KRDMA_PUBLIC int krdma_hub_fd(const struct krdma_hub *hub)
{
	return hub ? hub->poll_fd : -EINVAL;
}

KRDMA_PUBLIC int krdma_hub_next(struct krdma_hub *hub, uint64_t deadline,
				struct krdma_ep_record *record, size_t size)
{
	struct krdma_ep_record new = { .size = sizeof(new) };
	int err = 0;

	if (!hub || !record || size < RECORD_MIN_SIZE)
		return -EINVAL;
	/* New arrivals of other endpoints take their turn. */
	drain_all(hub);
	/* And where there is always a record, also new peers, deadlines and ends have theirs. */
	if (hub->ready.first && ++hub->unseen >= PATIENCE)
		look(hub, 0);
	while (!take_record(hub, &new)) {
		err = hub_step(hub, deadline);
		if (err && !hub->ready.first)
			break;
		err = 0;
	}
	hub_settle(hub);
	if (err)
		return err;
	memset(record, 0, size);
	memcpy(record, &new, size < sizeof(new) ? size : sizeof(new));
	return 0;
}

/*
 * Opening and closing
 */

static int check_options(struct krdma_hub *hub)
{
	struct krdma_hub_options *options = &hub->options;

	if (!options->peers)
		options->peers = DEFAULT_PEERS;
	if (!options->per_address)
		options->per_address = options->peers > 1 ? options->peers / 2 : 1;
	if (!options->depth)
		options->depth = DEFAULT_DEPTH;
	if (!options->eager)
		options->eager = DEFAULT_EAGER;
	if (!options->idle_ms)
		options->idle_ms = DEFAULT_IDLE_MS;
	if (!options->longest)
		options->longest = DEFAULT_LONGEST;
	if (!options->budget && options->longest <= HUB_LONGEST_MAX)
		options->budget = BUDGET_LONGEST * options->longest;
	if (options->depth > HUB_DEPTH_MAX || options->eager < HUB_EAGER_MIN ||
	    options->eager > HUB_EAGER_MAX || options->longest > HUB_LONGEST_MAX ||
	    options->longest > SIZE_MAX || options->longest < options->eager ||
	    options->budget < options->longest)
		return -EINVAL;
	return options->allow ? nets_parse(options->allow, &hub->nets) : 0;
}

/* Splits "HOST:PORT" or "[ADDRESS]:PORT"; *@host is "" without a host. */
int hub_address_split(const char *text, char host[HUB_HOST_MAX], uint16_t *port)
{
	const char *colon = text ? strrchr(text, ':') : NULL;
	size_t length = colon ? (size_t)(colon - text) : 0;
	unsigned long number;
	char *end;

	if (!colon || colon[1] < '0' || colon[1] > '9')
		return -EINVAL;
	number = strtoul(colon + 1, &end, 10);
	if (*end || number > UINT16_MAX)
		return -EINVAL;
	if (length > 1 && text[0] == '[' && text[length - 1] == ']') {
		text++;
		length -= 2;
	} else if (memchr(text, ':', length)) {
		return -EINVAL;
	}
	if (length >= HUB_HOST_MAX)
		return -EINVAL;
	memcpy(host, text, length);
	host[length] = '\0';
	*port = (uint16_t)number;
	return 0;
}

static int listen_at(struct krdma_hub *hub, const char *at)
{
	char host[HUB_HOST_MAX];
	uint16_t port;
	int err = hub_address_split(at, host, &port);

	if (!err)
		err = address_listen(hub->session, *host && strcmp(host, "*") ? host : NULL, port,
				     &hub->listener);
	if (!err)
		err = hub_watch(hub, krdma_listener_fd(hub->listener), &hub->listener_source);
	return err;
}

static int open_descriptors(struct krdma_hub *hub)
{
	int err;

	hub->poll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (hub->poll_fd < 0)
		return -errno;
	hub->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (hub->timer_fd < 0)
		return -errno;
	hub->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (hub->wake_fd < 0)
		return -errno;
	err = hub_watch(hub, hub->timer_fd, &hub->timer_source);
	return err ? err : hub_watch(hub, hub->wake_fd, &hub->wake_source);
}

KRDMA_PUBLIC int krdma_hub_open(const char *at, const struct krdma_hub_options *options,
				struct krdma_hub **hub)
{
	struct krdma_hub *new;
	int err;

	if (!hub)
		return -EINVAL;
	new = calloc(1, sizeof(*new));
	if (!new)
		return -ENOMEM;
	new->poll_fd = -1;
	new->timer_fd = -1;
	new->wake_fd = -1;
	new->maker = getpid();
	new->listener_source = HUB_SOURCE_LISTENER;
	new->timer_source = HUB_SOURCE_TIMER;
	new->wake_source = HUB_SOURCE_WAKE;
	err = request_options(&new->options, sizeof(new->options), options);
	if (!err)
		err = check_options(new);
	if (!err)
		err = hub_secret_open(new);
	if (!err)
		err = krdma_open(&new->session);
	if (!err)
		err = open_descriptors(new);
	if (!err && at)
		err = listen_at(new, at);
	if (err)
		krdma_hub_close(new);
	else
		*hub = new;
	return err;
}

KRDMA_PUBLIC int krdma_hub_address(struct krdma_hub *hub, struct sockaddr_storage *address)
{
	if (!hub || !hub->listener)
		return -EINVAL;
	return krdma_listener_address(hub->listener, address);
}

/* Peers get what was sent before, if they take it soon. */
static void leave_all(struct krdma_hub *hub)
{
	uint64_t deadline = krdma_deadline(HUB_GRACE_MS);
	bool aborted = false;

	for (struct krdma_ep *ep = hub->eps; ep; ep = ep->next) {
		ep->lent = 0;
		hub_ep_close(ep, NULL);
	}
	hub_reap(hub);
	while (hub->eps) {
		int err = hub_step(hub, deadline);

		if (err != -ETIMEDOUT && err != -EAGAIN)
			continue;
		if (aborted)
			break;
		aborted = true;
		deadline = krdma_deadline(HUB_GRACE_MS);
		for (struct krdma_ep *ep = hub->eps; ep; ep = ep->next)
			hub_ep_abort(ep);
	}
}

KRDMA_PUBLIC int krdma_hub_close(struct krdma_hub *hub)
{
	struct hub_device *device;

	if (!hub)
		return 0;
	if (hub->listener && object_is_own(hub->maker))
		epoll_ctl(hub->poll_fd, EPOLL_CTL_DEL, krdma_listener_fd(hub->listener), NULL);
	krdma_listener_close(hub->listener);
	hub->listener = NULL;
	if (object_is_own(hub->maker))
		leave_all(hub);
	while (hub->eps)
		hub_ep_destroy(hub->eps);
	hub_shares_destroy(hub);
	while ((device = hub->devices)) {
		hub->devices = device->next;
		hub_device_destroy(device);
	}
	if (hub->wake_fd >= 0)
		close(hub->wake_fd);
	if (hub->timer_fd >= 0)
		close(hub->timer_fd);
	if (hub->poll_fd >= 0)
		close(hub->poll_fd);
	krdma_close(hub->session);
	secret_free(hub->secret);
	free(hub);
	return 0;
}
