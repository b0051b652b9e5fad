// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Hubs: memory that peers can ask for by name.
 *
 * The number of a share is its index in the hub's table. It is used for another share only after
 * all peers have given the memory back or have ended. A peer keeps what it was granted until that
 * is revoked, so a second request gets the same memory.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hub.h"

/* The memory region of a share for one device. */
struct share_mr {
	struct share_mr *next;
	uint32_t device_id;
	struct krdma_mr *mr;
};

/**
 * struct krdma_ep_memory - memory of a peer
 * @next: in the endpoint's list
 * @ep: the endpoint
 * @tag: number of the share
 * @remote: where it is
 * @users: number of handles that the program has
 * @accesses: accesses in flight
 * @revoked: the peer wants it back; it gets it when no access is in flight
 */
struct krdma_ep_memory {
	struct krdma_ep_memory *next;
	struct krdma_ep *ep;
	uint64_t tag;
	struct krdma_remote_mr remote;
	unsigned int users;
	unsigned int accesses;
	bool revoked;
};

/**
 * struct access - an access to memory of a peer
 * @link: in the endpoint's list
 * @wr: its work request
 * @memory, @buffer: the peer's memory and this side's
 * @done, @status: it has completed
 * @abandoned: no call waits for it any more
 */
struct access {
	struct hub_link link;
	struct hub_wr wr;
	struct krdma_ep_memory *memory;
	struct hub_buffer *buffer;
	bool done;
	uint8_t status;
	bool abandoned;
};

/*
 * The owner
 */

static int find_share(const struct krdma_hub *hub, const unsigned char *name, size_t length)
{
	for (unsigned int i = 0; i < HUB_SHARES; i++) {
		const struct hub_share *share = hub->shares[i];

		if (share && strlen(share->name) == length && !memcmp(share->name, name, length))
			return (int)i;
	}
	return -ENOENT;
}

KRDMA_PUBLIC int krdma_hub_share(struct krdma_hub *hub, const char *name, void *data,
				 size_t length, uint32_t access,
				 int (*allow)(void *context, struct krdma_ep *ep), void *context)
{
	const uint32_t rights = KRDMA_ACCESS_REMOTE_READ | KRDMA_ACCESS_REMOTE_WRITE;
	struct hub_share *share;
	unsigned int at = 0;

	if (!hub || !name || !data || !length || !access || access & ~rights ||
	    !hub_name_is_valid((const unsigned char *)name, strlen(name)))
		return -EINVAL;
	if (find_share(hub, (const unsigned char *)name, strlen(name)) >= 0)
		return -EEXIST;
	while (at < HUB_SHARES && hub->shares[at])
		at++;
	if (at == HUB_SHARES)
		return -ENOSPC;
	share = calloc(1, sizeof(*share));
	if (!share)
		return -ENOMEM;
	memcpy(share->name, name, strlen(name) + 1);
	share->data = data;
	share->length = length;
	share->access = access;
	share->allow = allow;
	share->context = context;
	hub->shares[at] = share;
	return 0;
}

/* The memory region for the endpoint's device. */
static int get_share_mr(struct krdma_ep *ep, struct hub_share *share, struct krdma_mr **mr)
{
	uint32_t access = share->access;
	struct share_mr *each = share->mrs;
	int err;

	while (each && each->device_id != ep->device->id)
		each = each->next;
	if (each) {
		*mr = each->mr;
		return 0;
	}
	/* Devices write only to memory that this side may write, too. */
	if (access & KRDMA_ACCESS_REMOTE_WRITE)
		access |= KRDMA_ACCESS_LOCAL_WRITE;
	each = calloc(1, sizeof(*each));
	if (!each)
		return -ENOMEM;
	each->device_id = ep->device->id;
	err = krdma_mr_register(ep->hub->session, ep->device->id, share->data, share->length,
				access, &each->mr);
	if (err) {
		free(each);
		return err;
	}
	each->next = share->mrs;
	share->mrs = each;
	*mr = each->mr;
	return 0;
}

static int grant(struct krdma_ep *ep, const struct hub_frame *ask, struct hub_frame *reply,
		 unsigned char *descriptor)
{
	int at = find_share(ep->hub, ask->data, ask->length);
	struct hub_share *share;
	struct krdma_mr *mr;
	int err;

	if (at < 0 || ep->hub->shares[at]->revoking)
		return -ENOENT;
	share = ep->hub->shares[at];
	if (ask->code & ~share->access || (share->allow && share->allow(share->context, ep)))
		return -EACCES;
	err = get_share_mr(ep, share, &mr);
	if (!err)
		err = krdma_mr_describe(mr, 0, share->length, descriptor);
	if (err)
		return err;
	reply->tag = (uint64_t)at;
	ep->granted |= UINT64_C(1) << at;
	return 0;
}

int hub_memory_ask(struct krdma_ep *ep, const struct hub_frame *frame)
{
	struct hub_frame reply = { .kind = HUB_GRANT, .call = frame->call };
	unsigned char descriptor[KRDMA_MR_DESC_SIZE];
	int err = ep->is_closed ? -ESHUTDOWN : grant(ep, frame, &reply, descriptor);

	if (err)
		reply.code = hub_code_of(err);
	hub_send_control(ep, &reply, descriptor, err ? 0 : sizeof(descriptor));
	return 0;
}

int hub_memory_revoked(struct krdma_ep *ep, uint64_t tag)
{
	if (ep->revoking < 0 || tag != (uint64_t)ep->revoking)
		return -EPROTO;
	ep->granted &= ~(UINT64_C(1) << tag);
	ep->revoking = -1;
	return 0;
}

void hub_shares_forget(struct krdma_hub *hub, uint32_t device_id)
{
	for (unsigned int i = 0; i < HUB_SHARES; i++) {
		struct share_mr **at = hub->shares[i] ? &hub->shares[i]->mrs : NULL, *each;

		while (at && *at && (*at)->device_id != device_id)
			at = &(*at)->next;
		if (!at || !*at)
			continue;
		each = *at;
		*at = each->next;
		mr_release(each->mr);
		free(each);
	}
}

static void destroy_share(struct hub_share *share)
{
	struct share_mr *each;

	while (share && (each = share->mrs)) {
		share->mrs = each->next;
		mr_release(each->mr);
		free(each);
	}
	free(share);
}

void hub_shares_destroy(struct krdma_hub *hub)
{
	for (unsigned int i = 0; i < HUB_SHARES; i++)
		destroy_share(hub->shares[i]);
}

/* Asks the peers that have the memory. Returns the number of those that have not given it back. */
static unsigned int revoke(struct krdma_hub *hub, int at)
{
	struct hub_frame frame = { .kind = HUB_REVOKE, .tag = (uint64_t)at };
	unsigned int pending = 0;

	for (struct krdma_ep *ep = hub->eps; ep; ep = ep->next) {
		if (ep->state != HUB_UP || !(ep->granted & UINT64_C(1) << at))
			continue;
		pending++;
		if (ep->revoking >= 0)
			continue;
		ep->revoking = at;
		hub_send_control(ep, &frame, NULL, 0);
	}
	return pending;
}

KRDMA_PUBLIC int krdma_hub_unshare(struct krdma_hub *hub, const char *name, uint64_t deadline)
{
	int at, err = 0;

	if (!hub || !name)
		return -EINVAL;
	at = find_share(hub, (const unsigned char *)name, strlen(name));
	if (at < 0)
		return at;
	hub->shares[at]->revoking = true;
	while (!err && revoke(hub, at))
		err = hub_step(hub, deadline);
	if (err == -EINTR) {
		hub_settle(hub);
		return err;
	}
	for (struct krdma_ep *ep = hub->eps; ep; ep = ep->next) {
		if (ep->state == HUB_UP && ep->granted & UINT64_C(1) << at)
			hub_ep_fail(ep, -ETIMEDOUT, "the peer did not give memory back in time");
		ep->granted &= ~(UINT64_C(1) << at);
	}
	/* From here on no device accesses the memory. */
	destroy_share(hub->shares[at]);
	hub->shares[at] = NULL;
	hub_settle(hub);
	return 0;
}

/*
 * The peer
 */

static struct krdma_ep_memory *find_memory(const struct krdma_ep *ep, uint64_t tag)
{
	struct krdma_ep_memory *memory = ep->memories;

	while (memory && (memory->revoked || memory->tag != tag))
		memory = memory->next;
	return memory;
}

int hub_memory_grant(struct krdma_ep *ep, struct hub_call *call, const struct hub_frame *frame)
{
	struct krdma_ep_memory *memory = call->grant, *same;
	bool is_wanted = call->state == HUB_CALL_WAITS;

	if (!frame->code && frame->tag >= HUB_SHARES)
		return -EPROTO;
	call->grant = NULL;
	call->is_there = true;
	call->state = is_wanted ? HUB_CALL_ANSWERED : HUB_CALL_FREE;
	if (frame->code) {
		call->error = hub_code_error(frame->code);
		/* Only a deadline of 0 is EAGAIN here. */
		if (call->error == -EAGAIN)
			call->error = -EBUSY;
		free(memory);
		return 0;
	}
	same = find_memory(ep, frame->tag);
	if (same) {
		free(memory);
		memory = same;
	} else {
		memory->next = ep->memories;
		memory->ep = ep;
		memory->tag = frame->tag;
		ep->memories = memory;
	}
	memory->remote = frame->remote;
	memory->users += is_wanted;
	call->grant = is_wanted ? memory : NULL;
	return 0;
}

/* Memory that can be granted again stays: there is one of each number. */
static void free_unused(struct krdma_ep_memory *memory)
{
	struct krdma_ep_memory **at = &memory->ep->memories;

	if (!memory->revoked || memory->users || memory->accesses)
		return;
	while (*at != memory)
		at = &(*at)->next;
	*at = memory->next;
	free(memory);
}

static void give_back(struct krdma_ep_memory *memory)
{
	struct hub_frame frame = { .kind = HUB_REVOKED, .tag = memory->tag };

	if (memory->revoked && !memory->accesses)
		hub_send_control(memory->ep, &frame, NULL, 0);
	free_unused(memory);
}

int hub_memory_revoke(struct krdma_ep *ep, uint64_t tag)
{
	struct krdma_ep_memory *memory = find_memory(ep, tag);

	if (!memory)
		return -EPROTO;
	memory->revoked = true;
	give_back(memory);
	return 0;
}

static int send_ask(struct krdma_ep *ep, const char *name, uint32_t access,
		    struct krdma_ep_memory *memory, struct hub_call **call)
{
	struct hub_frame frame = { .kind = HUB_ASK, .code = access };
	struct hub_call *new;
	int err = hub_ep_usable(ep);

	if (err)
		return err;
	new = ep->sent - ep->peer_taken < ep->depth ? hub_call_get(ep) : NULL;
	if (!new)
		return -EAGAIN;
	new->is_ask = true;
	new->sync = true;
	new->grant = memory;
	new->state = HUB_CALL_WAITS;
	frame.call = new->id;
	ep->sent++;
	hub_send_control(ep, &frame, name, strlen(name));
	*call = new;
	return 0;
}

static int await_grant(struct krdma_ep *ep, struct hub_call *call, uint64_t deadline,
		       struct krdma_ep_memory **memory)
{
	int stop = 0;

	while (!call->is_there) {
		if (call->state == HUB_CALL_GIVEN_UP)
			return call->error;
		if (stop) {
			hub_call_over(ep, call, stop);
			return stop;
		}
		stop = hub_step(ep->hub, deadline);
	}
	call->state = HUB_CALL_FREE;
	*memory = call->grant;
	call->grant = NULL;
	return call->error;
}

KRDMA_PUBLIC int krdma_ep_memory_open(struct krdma_ep *ep, const char *name, uint32_t access,
				      uint64_t deadline, struct krdma_ep_memory **memory)
{
	const uint32_t rights = KRDMA_ACCESS_REMOTE_READ | KRDMA_ACCESS_REMOTE_WRITE;
	struct krdma_ep_memory *new, *got = NULL;
	struct hub_call *call = NULL;
	int err, stop = 0;

	if (!ep || !name || !memory || !access || access & ~rights || !deadline ||
	    !hub_name_is_valid((const unsigned char *)name, strlen(name)))
		return -EINVAL;
	new = calloc(1, sizeof(*new));
	if (!new)
		return -ENOMEM;
	err = send_ask(ep, name, access, new, &call);
	while (err == -EAGAIN && !stop) {
		stop = hub_calls_are_untaken(ep) ? -EDEADLK : hub_step(ep->hub, deadline);
		err = send_ask(ep, name, access, new, &call);
	}
	if (err == -EAGAIN)
		err = stop;
	if (err)
		free(new);
	else
		err = await_grant(ep, call, deadline, &got);
	hub_settle(ep->hub);
	if (!err)
		*memory = got;
	return err;
}

KRDMA_PUBLIC void krdma_ep_memory_close(struct krdma_ep_memory *memory)
{
	if (!memory || !memory->users)
		return;
	memory->users--;
	free_unused(memory);
}

KRDMA_PUBLIC uint64_t krdma_ep_memory_length(const struct krdma_ep_memory *memory)
{
	return memory ? memory->remote.length : 0;
}

/* The connection is closed: nothing is in flight. */
void hub_memories_destroy(struct krdma_ep *ep)
{
	struct krdma_ep_memory *memory;
	struct hub_link *link;

	while ((link = hub_list_take(&ep->accesses))) {
		struct access *access = HUB_OF(link, struct access, link);

		mr_release(access->buffer->mr);
		free(access->buffer);
		free(access);
	}
	while ((memory = ep->memories)) {
		ep->memories = memory->next;
		free(memory);
	}
	for (uint32_t i = 0; ep->calls && i < ep->hub->options.depth; i++) {
		if (ep->calls[i].state != HUB_CALL_ANSWERED)
			free(ep->calls[i].grant);
	}
}

/*
 * Accesses
 */

static void free_access(struct access *access)
{
	struct krdma_ep *ep = access->memory->ep;

	hub_list_remove(&ep->accesses, &access->link);
	hub_buffer_put(ep->device, access->buffer);
	free(access);
}

void hub_memory_accessed(struct krdma_ep *ep, struct hub_wr *wr, const struct krdma_cqe *cqe)
{
	struct access *access = HUB_OF(wr, struct access, wr);
	struct krdma_ep_memory *memory = access->memory;

	access->done = true;
	access->status = cqe->status;
	memory->accesses--;
	ep->accesses_out--;
	if (access->abandoned)
		free_access(access);
	/* Any other failure ends the connection, and the kernel reports why. */
	if (cqe->status == KRDMA_WC_REM_ACCESS_ERR)
		hub_ep_fail(ep, -EACCES, "the peer's memory cannot be accessed: %s",
			    krdma_wc_status_name(cqe->status));
	give_back(memory);
}

static int make_access(struct krdma_ep_memory *memory, uint32_t length, struct access **access)
{
	struct krdma_ep *ep = memory->ep;
	struct access *new = calloc(1, sizeof(*new));
	int err;

	if (!new)
		return -ENOMEM;
	err = hub_buffer_get(ep->device, length, &new->buffer);
	if (err) {
		free(new);
		return err;
	}
	new->wr = (struct hub_wr){ .kind = HUB_WR_ACCESS, .ep = ep };
	new->memory = memory;
	hub_list_add(&ep->accesses, &new->link);
	*access = new;
	return 0;
}

static int check(const struct krdma_ep_memory *memory)
{
	return memory->revoked ? -ESTALE : hub_ep_usable(memory->ep);
}

/* -EAGAIN: until an access ends, another one would have the place of a frame. */
static int try_access(struct access *access, struct krdma_sqe *entry)
{
	struct krdma_ep_memory *memory = access->memory;
	struct krdma_ep *ep = memory->ep;
	int err = check(memory);

	if (!err && ep->accesses_out == HUB_ACCESSES)
		err = -EAGAIN;
	if (!err)
		err = hub_post(ep, &access->wr, entry);
	if (err)
		return err;
	ep->accesses_out++;
	memory->accesses++;
	return 0;
}

/* Waits until the work request is posted. */
static int post_access(struct access *access, struct krdma_sqe *entry, uint64_t deadline)
{
	int err = try_access(access, entry), stop = 0;

	while (err == -EAGAIN && !stop) {
		stop = hub_step(access->memory->ep->hub, deadline);
		err = try_access(access, entry);
	}
	return err == -EAGAIN ? stop : err;
}

static int await_access(struct access *access, uint64_t deadline)
{
	struct krdma_ep *ep = access->memory->ep;
	int stop = 0;

	while (!access->done) {
		if (ep->state == HUB_OVER)
			return ep->error;
		if (stop)
			return stop;
		stop = hub_step(ep->hub, deadline);
	}
	if (access->status == KRDMA_WC_SUCCESS)
		return 0;
	return ep->error ? ep->error : -ECONNRESET;
}

/* One piece; @data is read or written. */
static int access_piece(struct krdma_ep_memory *memory, uint8_t opcode, uint64_t offset,
			void *data, uint32_t length, uint64_t deadline)
{
	struct access *access;
	struct krdma_sqe entry;
	int err = check(memory);

	if (!err)
		err = make_access(memory, length, &access);
	if (err)
		return err;
	if (opcode == KRDMA_OP_WRITE)
		memcpy(krdma_mr_data(access->buffer->mr), data, length);
	entry = krdma_entry_remote(opcode, memory->ep->conn, 0, access->buffer->mr, 0, length,
				   &memory->remote, offset);
	err = post_access(access, &entry, deadline);
	if (err) {
		free_access(access);
		return err;
	}
	err = await_access(access, deadline);
	if (!err && opcode == KRDMA_OP_READ)
		memcpy(data, krdma_mr_data(access->buffer->mr), length);
	if (access->done)
		free_access(access);
	else
		access->abandoned = true;
	return err;
}

static int access_all(struct krdma_ep_memory *memory, uint8_t opcode, uint32_t right,
		      uint64_t offset, void *data, size_t length, uint64_t deadline)
{
	int err = 0;

	if (!memory || (length && !data) || !deadline)
		return -EINVAL;
	if (offset > memory->remote.length || length > memory->remote.length - offset)
		return -ERANGE;
	if (!(memory->remote.access & right))
		return -EACCES;
	for (size_t at = 0; at < length && !err; at += HUB_PIECE) {
		size_t left = length - at;

		err = access_piece(memory, opcode, offset + at, (unsigned char *)data + at,
				   left < HUB_PIECE ? (uint32_t)left : HUB_PIECE, deadline);
	}
	hub_settle(memory->ep->hub);
	return err;
}

KRDMA_PUBLIC int krdma_ep_memory_read(struct krdma_ep_memory *memory, uint64_t offset, void *data,
				      size_t length, uint64_t deadline)
{
	return access_all(memory, KRDMA_OP_READ, KRDMA_ACCESS_REMOTE_READ, offset, data, length,
			  deadline);
}

KRDMA_PUBLIC int krdma_ep_memory_write(struct krdma_ep_memory *memory, uint64_t offset,
				       const void *data, size_t length, uint64_t deadline)
{
	/* The cast is safe: a write only reads the data. */
	return access_all(memory, KRDMA_OP_WRITE, KRDMA_ACCESS_REMOTE_WRITE, offset, (void *)data,
			  length, deadline);
}
