// SPDX-License-Identifier: GPL-2.0
/*
 * The server's side of one visit.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "guest.h"

/* Fills receive buffers where no data arrived. */
#define EMPTY		0xee
#define ANSWER		24
#define SENDS		8

static const uint32_t rights[REGIONS] = {
	[REGION_BOTH] = KRDMA_ACCESS_LOCAL_WRITE | KRDMA_ACCESS_REMOTE_READ |
			KRDMA_ACCESS_REMOTE_WRITE,
	[REGION_READ] = KRDMA_ACCESS_REMOTE_READ,
	[REGION_WRITE] = KRDMA_ACCESS_LOCAL_WRITE | KRDMA_ACCESS_REMOTE_WRITE,
	[REGION_ATOMIC] = KRDMA_ACCESS_LOCAL_WRITE | KRDMA_ACCESS_REMOTE_ATOMIC,
	[REGION_OLD] = KRDMA_ACCESS_LOCAL_WRITE | KRDMA_ACCESS_REMOTE_READ |
		       KRDMA_ACCESS_REMOTE_WRITE | KRDMA_ACCESS_REMOTE_ATOMIC,
};

static bool is_writable(enum region region)
{
	return region == REGION_BOTH || region == REGION_WRITE || region == REGION_ATOMIC;
}

void finding(struct server *server, const struct guest *guest, const char *format, ...)
{
	va_list arguments;

	printf("FOUND: seed %llu", (unsigned long long)server->seed);
	if (guest)
		printf(" visit %llu", (unsigned long long)guest->visit.number);
	printf(": ");
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	putchar('\n');
	server->findings++;
}

static bool failed(struct guest *guest, const char *what, int err)
{
	if (err)
		finding(guest->server, guest, "%s: %s", what, krdma_error_name(err));
	return err;
}

static bool is_empty(const unsigned char *bytes, size_t from, size_t to)
{
	for (; from < to; from++) {
		if (bytes[from] != EMPTY)
			return false;
	}
	return true;
}

void server_share_slot(struct server *server, uint64_t slot)
{
	struct krdma_sqe entry = krdma_entry_srq_recv(server->srq, slot, server->shared,
						      slot * SLOT_SIZE, ROOM_SHARED);
	int err;

	memset((char *)krdma_mr_data(server->shared) + slot * SLOT_SIZE, EMPTY, SLOT_SIZE);
	err = krdma_srq_post(server->srq, &entry, 1, NULL);
	if (err)
		finding(server, NULL, "shared receive: %s", krdma_error_name(err));
}

void server_share(struct server *server)
{
	struct krdma_srq_create_args options = {
		.size = sizeof(options), .depth = SHARED_SLOTS, .device_id = server->device,
	};
	int err = krdma_srq_create(server->session, server->shared_queue, &options, &server->srq);

	if (!err)
		err = krdma_mr_alloc(server->session, server->device,
				     SHARED_SLOTS * SLOT_SIZE, KRDMA_ACCESS_LOCAL_WRITE,
				     &server->shared);
	if (err) {
		finding(server, NULL, "shared receives: %s", krdma_error_name(err));
		exit(1);
	}
	for (uint64_t slot = 0; slot < SHARED_SLOTS; slot++)
		server_share_slot(server, slot);
}

/* Find the visit by the source port of the connection. */
static bool guest_visit(struct guest *guest, const struct krdma_conn_query_args *query)
{
	const struct sockaddr_in *from = (const struct sockaddr_in *)&query->remote;
	unsigned int port = ntohs(from->sin_port);
	uint64_t number;

	if (from->sin_family != AF_INET || port < PORT_FIRST || port >= PORT_FIRST + PORTS)
		return false;
	number = __atomic_load_n(&guest->server->visits->number[port - PORT_FIRST],
				 __ATOMIC_ACQUIRE);
	guest->visit = visit_of(guest->server->seed, number);
	guest->script.visit = &guest->visit;
	return true;
}

static void guest_check_data(struct guest *guest, const struct krdma_conn_query_args *query)
{
	const struct visit *visit = &guest->visit;
	const bool is_krdma = visit->seen_length < REQUEST_AREA;
	unsigned char data[256];
	size_t length = sizeof(data);

	memset(data, EMPTY, sizeof(data));
	if (failed(guest, "private data", krdma_conn_private_data(guest->conn, data, &length)))
		return;
	if (length != visit->seen_length || memcmp(data, visit->data, length) ||
	    !is_empty(data, length, sizeof(data)))
		finding(guest->server, guest, "%zu bytes of private data, not %u, or others",
			length, visit->seen_length);
	if (query->peer_is_krdma != is_krdma)
		finding(guest->server, guest, "its trailer is taken for what it is not");
}

struct guest *guest_new(struct server *server, struct krdma_conn *conn)
{
	struct guest *guest = calloc(1, sizeof(*guest));
	struct krdma_conn_query_args query = { .size = sizeof(query) };

	if (!guest)
		return NULL;
	guest->server = server;
	guest->conn = conn;
	if (krdma_conn_query(conn, &query, sizeof(query)) || !guest_visit(guest, &query)) {
		free(guest);
		return NULL;
	}
	server->guests++;
	server->honest += guest->visit.honest;
	server->device = query.device_id;
	guest_check_data(guest, &query);
	return guest;
}

static bool guest_offer(struct guest *guest)
{
	guest->arena = mmap(NULL, ARENA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			    0);
	if (guest->arena == MAP_FAILED) {
		guest->arena = NULL;
		return false;
	}
	pattern_fill(guest->arena, SLOTS_OFFSET, guest->visit.number, SALT_ARENA);
	memset(guest->arena + SLOTS_OFFSET, EMPTY, ARENA - SLOTS_OFFSET);
	for (unsigned int i = 0; i < REGIONS; i++) {
		void *data = guest->arena + regions[i].offset;

		if (failed(guest, "memory",
			   krdma_mr_register(guest->server->session, guest->server->device,
					     data, regions[i].length, rights[i],
					     &guest->regions[i])))
			return false;
		guest->offer.addr[i] = (uintptr_t)data;
		guest->offer.key[i] = krdma_mr_rkey(guest->regions[i]);
	}
	krdma_mr_deregister(guest->regions[REGION_OLD], 0);
	guest->regions[REGION_OLD] = NULL;
	return !failed(guest, "room",
		       krdma_mr_register(guest->server->session, guest->server->device,
					 guest->arena + SLOTS_OFFSET, SLOTS * SLOT_SIZE,
					 KRDMA_ACCESS_LOCAL_WRITE, &guest->rooms));
}

/* Post the next receive to the guest's own RQ.  -ENOTCONN: the connection has ended. */
static void guest_receive(struct guest *guest)
{
	unsigned int slot = guest->posted % SLOTS;
	uint32_t room = room_of(&guest->visit, guest->posted);
	struct krdma_sqe entry;
	int err;

	memset(guest->arena + SLOTS_OFFSET + slot * SLOT_SIZE, EMPTY, SLOT_SIZE);
	entry = krdma_entry_recv(guest->conn, guest->posted, room ? guest->rooms : NULL,
				 slot * SLOT_SIZE, room);
	err = krdma_ring_post(guest->server->ring, &entry, 1, NULL);
	if (!err)
		guest->posted++;
	else if (err != -ENOTCONN)
		failed(guest, "receive", err);
}

static bool guest_prepare(struct guest *guest)
{
	struct server *server = guest->server;
	struct krdma_conn_create_qp_args depths = {
		.size = sizeof(depths), .send_depth = SENDS,
		.recv_depth = guest->visit.shared ? 0 : SLOTS, .max_inline = ANSWER,
	};
	int err;

	if (!guest_offer(guest))
		return false;
	err = krdma_conn_create_qp(guest->conn, server->ring, NULL,
				   guest->visit.shared ? server->srq : NULL, &depths);
	/* The peer has left meanwhile. */
	if (err == -ENOTCONN)
		return false;
	if (failed(guest, "create QP", err))
		return false;
	guest->prepared = true;
	for (unsigned int i = 0; i < SLOTS && !guest->visit.shared; i++)
		guest_receive(guest);
	return true;
}

bool guest_answer(struct guest *guest)
{
	static const struct krdma_conn_param_args plain = {
		.size = sizeof(plain), .flags = KRDMA_CONN_PARAM_PLAIN,
	};
	int err;

	if (guest->visit.server == SERVER_CLOSES)
		return false;
	if (guest->visit.server == SERVER_REJECTS) {
		krdma_conn_reject(guest->conn, guest->visit.data, guest->visit.data_length);
		return false;
	}
	if (!guest_prepare(guest))
		return false;
	err = krdma_conn_accept(guest->conn, &plain, &guest->offer, sizeof(guest->offer));
	/* -ENOTCONN: the peer leaves at this very moment. */
	if (err && err != -ENOTCONN)
		failed(guest, "accept", err);
	return true;
}

void guest_established(struct guest *guest)
{
	if (guest->visit.server == SERVER_ABORTS)
		krdma_conn_disconnect(guest->conn, KRDMA_DISCONNECT_ABORT);
	else if (guest->visit.server == SERVER_DISCONNECTS)
		krdma_conn_disconnect(guest->conn, 0);
}

/* Check the completion and the data of a message; @data is its receive buffer. */
static void guest_check_message(struct guest *guest, const struct krdma_cqe *cqe,
				const struct action *action, const unsigned char *data)
{
	bool written = action->act == ACT_WRITE_IMM;
	bool imm = written || action->act == ACT_SEND_IMM;
	bool invalidates = action->act == ACT_SEND_INVALIDATE;
	uint16_t flags = (imm ? KRDMA_CQE_IMM : 0) | (written ? KRDMA_CQE_WRITTEN : 0) |
			 (invalidates ? KRDMA_CQE_INVALIDATED : 0);
	uint32_t value = imm ? action->imm : 0;
	size_t length = written ? 0 : action->length;

	if (invalidates)
		value = key_of(action, &guest->offer);
	if (cqe->length != action->length || cqe->flags != flags || cqe->imm != value)
		finding(guest->server, guest,
			"receive %u: length %u flags %#x imm %#x, not %u, %#x and %#x",
			guest->came - 1, cqe->length, cqe->flags, cqe->imm, action->length, flags,
			value);
	if (length > SLOT_SIZE) {
		finding(guest->server, guest, "receive %u: longer than its room",
			guest->came - 1);
		return;
	}
	if (pattern_wrong(data, 0, length, guest->visit.number,
			  SALT_MESSAGE(action->receive)) != length)
		finding(guest->server, guest, "receive %u of %zu bytes is not what was sent",
			guest->came - 1, length);
	if (!is_empty(data, length, SLOT_SIZE))
		finding(guest->server, guest, "receive %u: something is behind its %zu bytes",
			guest->came - 1, length);
}

static void guest_say(struct guest *guest)
{
	unsigned char words[ANSWER];
	struct krdma_sqe entry;

	memset(words, 0x5c, sizeof(words));
	entry = krdma_entry_send_inline(guest->conn, UINT64_MAX, words, sizeof(words));
	/* A peer that posts no receives lets the SQ fill up.  This is no finding. */
	if (!krdma_ring_post(guest->server->ring, &entry, 1, NULL))
		guest->server->answers++;
}

void guest_completed(struct guest *guest, const struct krdma_cqe *cqe, uint64_t slot)
{
	const unsigned char *data = guest->arena + SLOTS_OFFSET + slot * SLOT_SIZE;
	struct action action;

	if (cqe->opcode != KRDMA_OP_RECV)
		return;
	if (guest->visit.shared)
		data = (unsigned char *)krdma_mr_data(guest->server->shared) +
		       slot * SLOT_SIZE;
	if (cqe->status) {
		guest->server->broken++;
		if (cqe->length || cqe->flags)
			finding(guest->server, guest, "one that failed has length %u, flags %#x",
				cqe->length, cqe->flags);
		return;
	}
	guest->server->messages++;
	if (!guest->visit.shared && cqe->wr_id != guest->came)
		finding(guest->server, guest, "receive %llu instead of %u",
			(unsigned long long)cqe->wr_id, guest->came);
	guest->came++;
	do {
		if (!script_next(&guest->script, &action)) {
			finding(guest->server, guest, "receive %u: nothing was sent",
				guest->came - 1);
			return;
		}
	} while (!action.takes);
	guest_check_message(guest, cqe, &action, data);
	if (!guest->visit.shared)
		guest_receive(guest);
	if (guest->visit.answered)
		guest_say(guest);
}

/*
 * Check that everything outside of the MRs that the peer may write is unchanged, and so is what
 * follows each receive buffer.
 */
static void guest_check_arena(struct guest *guest)
{
	const unsigned char *arena = guest->arena;
	size_t from = 0, to, wrong;

	for (unsigned int i = 0; i <= REGIONS; i++) {
		if (i < REGIONS && !is_writable(i))
			continue;
		to = i < REGIONS ? regions[i].offset : SLOTS_OFFSET;
		wrong = pattern_wrong(arena, from, to, guest->visit.number, SALT_ARENA);
		if (wrong != to)
			finding(guest->server, guest, "byte %zu was changed", wrong);
		if (i < REGIONS)
			from = to + regions[i].length;
	}
	for (unsigned int slot = 0; slot < SLOTS; slot++) {
		const unsigned char *data = arena + SLOTS_OFFSET + slot * SLOT_SIZE;

		if (!is_empty(data, 8192, SLOT_SIZE))
			finding(guest->server, guest, "something is behind the room %u", slot);
	}
	if (!is_empty(arena, SLOTS_OFFSET + SLOTS * SLOT_SIZE, ARENA))
		finding(guest->server, guest, "something is behind all rooms");
}

void guest_free(struct guest *guest)
{
	krdma_conn_close(guest->conn);
	for (unsigned int i = 0; i < REGIONS; i++)
		failed(guest, "release", krdma_mr_deregister(guest->regions[i], 0));
	failed(guest, "release", krdma_mr_deregister(guest->rooms, 0));
	if (guest->arena) {
		guest_check_arena(guest);
		munmap(guest->arena, ARENA);
	}
	free(guest);
}
