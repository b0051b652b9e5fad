// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Hubs: what all endpoints of a device share: the ring, the receives, memory for long messages.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "hub.h"

/* Entries in one post of receives. */
#define POSTS		32
/*
 * The smallest memory for a long message, unless the longest one needs less: smaller ones would be
 * of no more use. All sizes are multiples of it, and so of any page.
 */
#define BUFFER_MIN	65536u

uint32_t hub_receives(const struct krdma_hub *hub)
{
	return 2 * hub->options.depth + HUB_CONTROL;
}

/* Frames, the reads for the peer's long messages, and accesses to its memory. */
uint32_t hub_send_depth(const struct krdma_hub *hub)
{
	return hub->options.depth + HUB_CONTROL + HUB_READS + HUB_ACCESSES;
}

/*
 * Receives
 */

void hub_slot_release(struct hub_slot *slot)
{
	slot->ep = NULL;
	slot->call = NULL;
	hub_list_add(&slot->device->reposts, &slot->link);
}

/*
 * Cannot fail as long as the device is there: the SRQ has a place for each slot. If it does, the
 * slots stay in the list for the next time.
 */
void hub_device_post(struct hub_device *device)
{
	while (device->reposts.first && !device->dead) {
		uint32_t length = HUB_HEADER_SIZE + device->hub->options.eager;
		struct krdma_sqe entries[POSTS];
		struct hub_link *link = device->reposts.first;
		size_t count = 0, accepted = 0;
		int err;

		for (; link && count < POSTS; link = link->next) {
			struct hub_slot *slot = HUB_OF(link, struct hub_slot, link);

			entries[count++] = krdma_entry_srq_recv(device->srq, (uintptr_t)&slot->wr,
								slot->mr, slot->offset, length);
		}
		err = krdma_srq_post(device->srq, entries, count, &accepted);
		for (size_t i = 0; i < accepted; i++)
			hub_list_take(&device->reposts);
		if (err)
			return;
	}
}

/* Slots are aligned, so that data are. */
static size_t slot_size(const struct krdma_hub *hub)
{
	return (HUB_HEADER_SIZE + hub->options.eager + 7) & ~(size_t)7;
}

static int add_chunk(struct hub_device *device)
{
	uint32_t count = hub_receives(device->hub);
	size_t size = slot_size(device->hub);
	struct hub_chunk *chunk;
	int err;

	chunk = calloc(1, sizeof(*chunk) + count * sizeof(chunk->slots[0]));
	if (!chunk)
		return -ENOMEM;
	err = krdma_mr_alloc(device->hub->session, device->id, count * size,
			     KRDMA_ACCESS_LOCAL_WRITE, &chunk->mr);
	if (err) {
		free(chunk);
		return err;
	}
	for (uint32_t i = 0; i < count; i++) {
		chunk->slots[i].wr.kind = HUB_WR_RECV;
		chunk->slots[i].device = device;
		chunk->slots[i].mr = chunk->mr;
		chunk->slots[i].offset = i * size;
		hub_slot_release(&chunk->slots[i]);
	}
	hub_list_add(&device->chunks, &chunk->link);
	device->chunk_count++;
	return 0;
}

/*
 * Devices
 */

/*
 * Connections that have ended may keep their completions for a moment, hence a quarter more than
 * there are endpoints.
 */
static uint64_t completions(const struct krdma_hub *hub, uint64_t peers)
{
	return peers * hub_receives(hub) + KRDMA_RING_EXTRA +
	       (peers + peers / 4 + 1) * (hub_send_depth(hub) + KRDMA_RING_EXTRA + 1);
}

/* Finds the number of endpoints that one ring and one SRQ of the device can have. */
static int find_places(struct hub_device *device)
{
	struct krdma_hub *hub = device->hub;
	uint32_t most = KRDMA_RING_ENTRIES_MAX, places = hub->options.peers;
	struct krdma_device_query_args query;
	int err = krdma_device_query(hub->session, device->id, &query, sizeof(query));

	if (err)
		return err == -ENOENT ? -ENODEV : err;
	if (most > query.max_cqe)
		most = query.max_cqe;
	if (places > most)
		places = most;
	while (places > 1 && (completions(hub, places) > most ||
			      (uint64_t)places * hub_receives(hub) > query.max_srq_wr))
		places--;
	device->places = places;
	return 0;
}

static int make_ring(struct hub_device *device)
{
	struct krdma_hub *hub = device->hub;
	struct krdma_ring_create_args ring = { .size = sizeof(ring), .device_id = device->id };
	struct krdma_srq_create_args srq = { .size = sizeof(srq), .device_id = device->id };
	int err = find_places(device);

	if (err)
		return err;
	device->cq_entries = (uint32_t)completions(hub, device->places);
	ring.cq_entries = device->cq_entries;
	srq.depth = device->places * hub_receives(hub);
	err = krdma_ring_create(hub->session, &ring, &device->ring);
	if (!err)
		err = krdma_srq_create(hub->session, device->ring, &srq, &device->srq);
	if (!err)
		err = hub_watch(hub, krdma_ring_fd(device->ring), &device->source);
	return err;
}

static int make_device(struct krdma_hub *hub, uint32_t id, struct hub_device **device)
{
	struct hub_device *new = calloc(1, sizeof(*new));
	int err;

	if (!new)
		return -ENOMEM;
	new->hub = hub;
	new->id = id;
	new->source = HUB_SOURCE_DEVICE;
	err = make_ring(new);
	if (err) {
		hub_device_destroy(new);
		return err;
	}
	new->next = hub->devices;
	hub->devices = new;
	*device = new;
	return 0;
}

int hub_device_get(struct krdma_hub *hub, uint32_t id, struct hub_device **device)
{
	struct hub_device *found = hub->devices;
	int err = 0;

	while (found && (found->id != id || (found->ep_count == found->places && !found->dead)))
		found = found->next;
	if (!found)
		err = make_device(hub, id, &found);
	if (!err && found->dead)
		err = -ENODEV;
	if (!err && found->chunk_count == found->ep_count)
		err = add_chunk(found);
	if (err)
		return err;
	hub_device_post(found);
	found->ep_count++;
	*device = found;
	return 0;
}

void hub_device_put(struct hub_device *device)
{
	device->ep_count--;
}

void hub_devices_reap(struct krdma_hub *hub)
{
	struct hub_device **at = &hub->devices, *device;

	while ((device = *at)) {
		if (!device->dead || device->ep_count) {
			at = &device->next;
			continue;
		}
		*at = device->next;
		hub_shares_forget(hub, device->id);
		hub_device_destroy(device);
		hub_fetch_next(hub);
	}
}

void hub_device_destroy(struct hub_device *device)
{
	struct hub_link *link;

	krdma_srq_close(device->srq);
	krdma_ring_close(device->ring);
	while ((link = hub_list_take(&device->chunks))) {
		struct hub_chunk *chunk = HUB_OF(link, struct hub_chunk, link);

		for (uint32_t i = 0; i < hub_receives(device->hub); i++) {
			struct hub_buffer *buffer = chunk->slots[i].buffer;

			/*
			 * The program has not given the message back, or its reads were in flight
			 * when the device went away.
			 */
			device->hub->budget_used -= chunk->slots[i].counted;
			if (buffer)
				mr_release(buffer->mr);
			free(buffer);
		}
		/* The SRQ may have the receives for a moment. */
		krdma_mr_deregister(chunk->mr, KRDMA_DEREGISTER_LATER);
		free(chunk);
	}
	while ((link = hub_list_take(&device->free))) {
		struct hub_buffer *buffer = HUB_OF(link, struct hub_buffer, link);

		mr_release(buffer->mr);
		free(buffer);
	}
	free(device);
}

/*
 * Memory for long messages
 */

static size_t whole_pages(uint64_t length)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	return (size_t)((length + page - 1) / page * page);
}

/*
 * There are few different sizes, so that memory serves other messages too: at most an eighth is not
 * used, apart from the smallest size, which is 64 KiB, or a sixteenth of the longest message if
 * that is less.
 */
size_t hub_buffer_size(const struct krdma_hub *hub, size_t length)
{
	size_t most = whole_pages(hub->options.longest), step = whole_pages(most / 16), size;

	if (!step)
		step = whole_pages(1);
	if (step > BUFFER_MIN)
		step = BUFFER_MIN;
	while (step < length / 16)
		step *= 2;
	size = (length + step - 1) / step * step;
	/* An access to memory of a peer may be longer than any message. */
	return size > most && length <= most ? most : size;
}

/* Gives memory back that no message uses: of any size, the oldest first.  False: there is none. */
static bool give_back(struct hub_device *device)
{
	struct hub_link *link = hub_list_take(&device->free);
	struct hub_buffer *buffer;

	if (!link)
		return false;
	buffer = HUB_OF(link, struct hub_buffer, link);
	device->free_bytes -= buffer->size;
	mr_release(buffer->mr);
	free(buffer);
	return true;
}

int hub_buffer_get(struct hub_device *device, size_t length, struct hub_buffer **buffer)
{
	size_t size = hub_buffer_size(device->hub, length);
	struct hub_buffer *new;
	struct hub_link *link;
	int err;

	for (link = device->free.first; link; link = link->next) {
		new = HUB_OF(link, struct hub_buffer, link);
		if (new->size != size)
			continue;
		hub_list_remove(&device->free, link);
		device->free_bytes -= size;
		*buffer = new;
		return 0;
	}
	new = calloc(1, sizeof(*new));
	if (!new)
		return -ENOMEM;
	new->size = size;
	/* What is kept for other sizes may be all that this process, or its user, may have. */
	do {
		err = krdma_mr_alloc(device->hub->session, device->id, size,
				     KRDMA_ACCESS_LOCAL_WRITE, &new->mr);
	} while (err && give_back(device));
	if (err) {
		free(new);
		/* Pages that cannot be pinned now: no event of the hub says when they can. */
		return err == -EAGAIN ? -ENOMEM : err;
	}
	*buffer = new;
	return 0;
}

void hub_buffer_put(struct hub_device *device, struct hub_buffer *buffer)
{
	size_t most = whole_pages(device->hub->options.longest);

	if (!buffer)
		return;
	if (!device->dead && buffer->size <= most) {
		while (device->free_bytes > most - buffer->size)
			give_back(device);
		device->free_bytes += buffer->size;
		hub_list_add(&device->free, &buffer->link);
		return;
	}
	mr_release(buffer->mr);
	free(buffer);
}
