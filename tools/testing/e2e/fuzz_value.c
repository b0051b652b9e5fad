// SPDX-License-Identifier: GPL-2.0
/*
 * The fuzzer's values: valid ones, those at a boundary, and random ones.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "kselftest.h"
#include "fabric.h"
#include "fuzz.h"
#include "pair.h"
#include "session.h"

/*
 * Random numbers
 */

uint64_t fuzz_mix(uint64_t one, uint64_t other)
{
	uint64_t value = one * 0x9e3779b97f4a7c15ULL + other + 0xd1b54a32d192ed03ULL;

	value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
	value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
	return value ^ (value >> 31);
}

uint64_t fuzz_next(struct fuzz_random *random)
{
	random->state += 0x9e3779b97f4a7c15ULL;
	return fuzz_mix(random->state, 0);
}

uint32_t fuzz_below(struct fuzz_random *random, uint32_t count)
{
	return (fuzz_next(random) >> 32) * count >> 32;
}

bool fuzz_one_in(struct fuzz_random *random, uint32_t count)
{
	return fuzz_below(random, count) == 0;
}

/*
 * Valid values
 */

/* clang-format off */
static const char *const addresses[] = {
	BOOT_ADDRESS, BOOT_ADDRESS, BOOT_ADDRESS, BOOT_ADDRESS, BOOT_ADDRESS_6, FABRIC_ADDRESS,
	"0.0.0.0", "::", "127.0.0.1", "10.77.0.99", "fd77::99", "224.0.0.1", "8.8.8.8",
	"255.255.255.255", "fe80::1",
};

/* clang-format on */

static uint16_t listen_port(struct fuzz_random *random)
{
	switch (fuzz_below(random, 8)) {
	case 0:
		return fuzz_below(random, 65536);
	case 1:
		return 20000 + fuzz_below(random, 16);
	default:
		return 0;
	}
}

void fuzz_address(struct fuzz_thread *thread, enum fuzz_class class,
		  struct __kernel_sockaddr_storage *address)
{
	struct fuzz_random *random = &thread->random;
	const char *text = BOOT_ADDRESS;
	uint16_t port = 0;

	if (fuzz_one_in(random, 4))
		text = addresses[fuzz_below(random, ARRAY_SIZE(addresses))];
	if (class == FUZZ_ADDRESS_REMOTE)
		port = thread->pool->ports[fuzz_below(random, FUZZ_PORTS)];
	if (class == FUZZ_ADDRESS_LISTEN)
		port = listen_port(random);
	address_set(address, text, port);
}

uint64_t fuzz_deadline(struct fuzz_thread *thread)
{
	if (!fuzz_one_in(&thread->random, 4))
		return 0;
	if (fuzz_one_in(&thread->random, 8))
		return KRDMA_FOREVER - fuzz_below(&thread->random, 2);
	return deadline_in(1 + fuzz_below(&thread->random, 3));
}

static int descriptor(struct fuzz_thread *thread, enum fuzz_kind kind, unsigned int session)
{
	int slot;

	if (fuzz_one_in(&thread->random, 10))
		session = 0;
	slot = fuzz_pool_find(thread->pool, &thread->random, kind, session);
	return slot < 0 ? -1 : atomic_load(&thread->pool->slots[slot].fd);
}

/* The ID of an MR is valid in its own session only. */
static uint32_t memory_number(struct fuzz_thread *thread, unsigned int session)
{
	uint32_t start = fuzz_below(&thread->random, FUZZ_MEMORIES);

	for (uint32_t i = 0; i < FUZZ_MEMORIES; i++) {
		struct fuzz_memory *mr =
			&thread->pool->memories[(start + i) % FUZZ_MEMORIES];

		if (mr->id && mr->session == session)
			return mr->id;
	}
	return 0;
}

static uint64_t arena(struct fuzz_thread *thread)
{
	uint32_t offset = fuzz_below(&thread->random, FUZZ_ARENA_SIZE);

	if (!fuzz_one_in(&thread->random, 4))
		offset &= ~4095u;
	return (uintptr_t)thread->pool->arena + offset;
}

/* An array of entries in the arena, where other threads write too. */
static uint64_t entries(struct fuzz_thread *thread)
{
	struct krdma_sqe entry;
	uint32_t offset = fuzz_below(&thread->random, FUZZ_ARENA_SIZE - 32 * sizeof(entry)) & ~7u;

	for (uint32_t i = 0; i < 20; i++) {
		enum fuzz_kind kind = fuzz_one_in(&thread->random, 8) ? FUZZ_SRQ : FUZZ_CONN;
		int slot = fuzz_pool_find(thread->pool, &thread->random, kind, 0);

		fuzz_entry(thread, slot < 0 ? 1 : thread->pool->slots[slot].id, &entry);
		memcpy(thread->pool->arena + offset + i * sizeof(entry), &entry, sizeof(entry));
	}
	return (uintptr_t)thread->pool->arena + offset;
}

static uint64_t right_value(struct fuzz_thread *thread, const struct fuzz_field *field,
			    unsigned int session)
{
	struct fuzz_random *random = &thread->random;

	switch (field->class) {
	case FUZZ_FLAGS:
		return fuzz_one_in(random, 2) ? 0 : fuzz_next(random) & field->limit;
	case FUZZ_COUNT:
		return fuzz_one_in(random, 3) ? 0 : fuzz_below(random, field->limit + 1);
	case FUZZ_DEVICE:
		return thread->pool->devices[fuzz_one_in(random, 6)];
	case FUZZ_DEADLINE:
		return fuzz_deadline(thread);
	case FUZZ_FD_QUEUE:
		return descriptor(thread, FUZZ_QUEUE, session);
	case FUZZ_FD_LISTENER:
		return descriptor(thread, FUZZ_LISTENER, session);
	case FUZZ_FD_SRQ:
		return descriptor(thread, FUZZ_SRQ, session);
	case FUZZ_ARENA:
	case FUZZ_ROOM:
		return arena(thread);
	case FUZZ_ENTRIES:
		return entries(thread);
	case FUZZ_MEMORY:
		return memory_number(thread, session);
	default:
		return 0;
	}
}

/*
 * Invalid values
 */

static uint64_t wrong_value(struct fuzz_thread *thread, const struct fuzz_field *field)
{
	static const uint64_t boundaries[] = {
		0, 1, 2, 255, 256, 4095, 4096, 65535, 65536, 65537, 0x7fffffff, 0x80000000,
		0xfffffffe, 0xffffffff, 0x7fffffffffffffff, 0x8000000000000000,
		0xffffffff80000000, 0xffff888000000000, ~0xfffULL, ~0ULL, 0xfffffffff000,
	};
	struct fuzz_random *random = &thread->random;
	struct fuzz_pool *pool = thread->pool;

	switch (fuzz_below(random, 6)) {
	case 0:
		return fuzz_next(random);
	case 1:
		return field->limit + fuzz_below(random, 3) - 1;
	case 2:
		return 1ULL << fuzz_below(random, 64);
	case 3:
		/* The read-only page, the inaccessible one, and across their beginnings. */
		return (uintptr_t)pool->forbidden + 4096 * fuzz_below(random, 2) -
		       fuzz_below(random, 64);
	case 4:
		return atomic_load(&pool->slots[fuzz_below(random, FUZZ_SLOTS)].fd);
	default:
		return boundaries[fuzz_below(random, ARRAY_SIZE(boundaries))];
	}
}

static void wrong_bytes(struct fuzz_random *random, unsigned char *bytes, uint32_t length,
			uint32_t count)
{
	while (count-- && length)
		bytes[fuzz_below(random, length)] = fuzz_next(random);
}

static void set(struct fuzz_thread *thread, const struct fuzz_field *field, void *structure,
		unsigned int session, bool right)
{
	unsigned char *at = (unsigned char *)structure + field->offset;
	uint64_t value;

	switch (field->class) {
	case FUZZ_NAME:
		snprintf((char *)at, field->width, "%s",
			 fuzz_one_in(&thread->random, 2) ? BOOT_DEVICE : FABRIC_DEVICE);
		break;
	case FUZZ_MR_NAME:
		/* Few names, so that some are taken, and some are found; the shortest is none. */
		snprintf((char *)at, field->width, "%.*s", (int)fuzz_below(&thread->random, 5),
			 "name");
		break;
	case FUZZ_ADDRESS_LISTEN:
	case FUZZ_ADDRESS_LOCAL:
	case FUZZ_ADDRESS_REMOTE:
		fuzz_address(thread, field->class, (void *)at);
		break;
	default:
		value = right ? right_value(thread, field, session) : wrong_value(thread, field);
		/* Copies the low bytes: the tests run on x86, which is little-endian. */
		memcpy(at, &value, field->width);
		return;
	}
	if (!right)
		wrong_bytes(&thread->random, at, field->width, 1 + fuzz_below(&thread->random, 4));
}

/* Removes contradictions between fields: a connection has either its own RQ or an SRQ, etc. */
static void make_consistent(const struct fuzz_request *request, void *structure)
{
	struct krdma_conn_create_qp_args *args = structure;
	struct krdma_device_query_args *device = structure;
	struct krdma_device_find_args *find = structure;
	struct krdma_conn_param_args *param = structure;

	switch (request - fuzz_requests) {
	case FUZZ_CONN_CREATE_QP:
		if (args->flags & KRDMA_CREATE_QP_SRQ) {
			args->flags = KRDMA_CREATE_QP_SRQ;
			args->recv_depth = 0;
		} else {
			args->srq_fd = 0;
		}
		if (!(args->flags & KRDMA_CREATE_QP_RECV_RING))
			args->recv_ring_fd = 0;
		break;
	case FUZZ_CONN_CONNECT:
	case FUZZ_CONN_ACCEPT:
		if (param->flags & KRDMA_CONN_PARAM_NO_RNR_RETRY)
			param->rnr_retry_count = 0;
		break;
	case FUZZ_DEVICE_QUERY:
		if (device->flags == (KRDMA_DEVICE_QUERY_NEXT | KRDMA_DEVICE_QUERY_NAME))
			device->flags = KRDMA_DEVICE_QUERY_NAME;
		if (device->flags & KRDMA_DEVICE_QUERY_NAME)
			device->id = 0;
		break;
	case FUZZ_DEVICE_FIND:
		if (!find->flags)
			find->flags = KRDMA_DEVICE_FIND_LOCAL;
		break;
	}
}

void fuzz_fill_right(struct fuzz_thread *thread, const struct fuzz_request *request,
		     void *structure, unsigned int session)
{
	memset(structure, 0, request->size);
	for (const struct fuzz_field *field = request->fields; field->width; field++)
		set(thread, field, structure, session, true);
	make_consistent(request, structure);
	memcpy(structure, &(uint32_t){ request->size }, sizeof(uint32_t));
}

static uint32_t wrong_size(struct fuzz_random *random, uint32_t right)
{
	switch (fuzz_below(random, 6)) {
	case 0:
		return fuzz_below(random, right);
	case 1:
		return right + 1 + fuzz_below(random, 64);
	case 2:
		return 4096 + fuzz_below(random, 2);
	case 3:
		return 0;
	case 4:
		return fuzz_next(random);
	default:
		return right & ~7u;
	}
}

uint32_t fuzz_fill(struct fuzz_thread *thread, const struct fuzz_request *request,
		   void *structure, unsigned int session)
{
	struct fuzz_random *random = &thread->random;
	uint32_t mode = fuzz_below(random, 16);
	uint32_t size = request->size, fields = 0;

	fuzz_fill_right(thread, request, structure, session);
	while (request->fields[fields].width)
		fields++;
	if (mode < 4) {
		set(thread, &request->fields[fuzz_below(random, fields)], structure, session,
		    false);
	} else if (mode == 4) {
		for (uint32_t i = 0; i < fields; i++)
			if (fuzz_one_in(random, 3))
				set(thread, &request->fields[i], structure, session, false);
	} else if (mode == 5) {
		wrong_bytes(random, structure, size, 1 + fuzz_below(random, 8));
	} else if (mode == 6) {
		size = wrong_size(random, size);
	}
	memcpy(structure, &size, sizeof(size));
	return size;
}

/*
 * Entries
 */

static const uint8_t opcodes[] = {
	KRDMA_OP_SEND, KRDMA_OP_SEND, KRDMA_OP_RECV, KRDMA_OP_RECV, KRDMA_OP_RECV,
	KRDMA_OP_WRITE, KRDMA_OP_READ, KRDMA_OP_SEND_IMM, KRDMA_OP_SEND_INVALIDATE,
	KRDMA_OP_WRITE_IMM, KRDMA_OP_COMPARE_SWAP, KRDMA_OP_FETCH_ADD, KRDMA_OP_ATOMIC_WRITE,
	KRDMA_OP_FLUSH, KRDMA_OP_FLUSH + 1, KRDMA_OP_FLUSH + 2,
};

static void right_piece(struct fuzz_thread *thread, struct krdma_ring_sge *sge, uint32_t most)
{
	struct fuzz_memory *mr =
		&thread->pool->memories[fuzz_below(&thread->random, FUZZ_MEMORIES)];
	uint32_t length = mr->length;

	sge->mr = mr->id;
	sge->length = fuzz_below(&thread->random, (length < most ? length : most) + 1);
	sge->addr = (uintptr_t)thread->pool->arena + mr->offset +
		      fuzz_below(&thread->random, length - sge->length + 1);
}

static void pieces(struct fuzz_thread *thread, struct krdma_sqe *entry)
{
	struct krdma_ring_sge sge;
	uint32_t count, offset;

	if (fuzz_one_in(&thread->random, 8))
		return;
	if (!fuzz_one_in(&thread->random, 4)) {
		entry->sge_count = 1;
		right_piece(thread, &entry->sge, 2048);
		return;
	}
	count = 2 + fuzz_below(&thread->random, fuzz_one_in(&thread->random, 8) ? 130 : 4);
	offset = fuzz_below(&thread->random, FUZZ_ARENA_SIZE - 132 * sizeof(sge));
	for (uint32_t i = 0; i < count; i++) {
		right_piece(thread, &sge, 256);
		memcpy(thread->pool->arena + offset + i * sizeof(sge), &sge, sizeof(sge));
	}
	entry->sge_count = count;
	entry->sge.addr = (uintptr_t)thread->pool->arena + offset;
}

static void operands(struct fuzz_thread *thread, struct krdma_sqe *entry)
{
	struct fuzz_random *random = &thread->random;
	struct fuzz_memory *remote = &thread->pool->memories[fuzz_below(random, FUZZ_MEMORIES)];

	switch (entry->opcode) {
	case KRDMA_OP_SEND_IMM:
	case KRDMA_OP_SEND_INVALIDATE:
	case KRDMA_OP_FLUSH + 1:
		entry->imm = fuzz_one_in(random, 2) ? remote->key : fuzz_next(random);
		return;
	case KRDMA_OP_WRITE_IMM:
		entry->imm = fuzz_next(random);
		break;
	case KRDMA_OP_COMPARE_SWAP:
		entry->swap = fuzz_next(random);
		entry->operand = fuzz_below(random, 2);
		entry->sge.length = 8;
		break;
	case KRDMA_OP_FETCH_ADD:
		entry->operand = fuzz_next(random);
		entry->sge.length = 8;
		break;
	case KRDMA_OP_ATOMIC_WRITE:
		entry->operand = fuzz_next(random);
		entry->sge_count = 0;
		memset(&entry->sge, 0, sizeof(entry->sge));
		break;
	case KRDMA_OP_FLUSH:
		entry->imm = fuzz_one_in(random, 4) ? fuzz_next(random) : KRDMA_FLUSH_GLOBAL;
		entry->operand = fuzz_one_in(random, 8) ? fuzz_next(random) : 1;
		entry->sge_count = 0;
		memset(&entry->sge, 0, sizeof(entry->sge));
		break;
	case KRDMA_OP_WRITE:
	case KRDMA_OP_READ:
		break;
	default:
		return;
	}
	entry->rkey = remote->key;
	entry->remote_addr = ((uintptr_t)thread->pool->arena + remote->offset) & ~7ULL;
}

void fuzz_entry(struct fuzz_thread *thread, unsigned int dest, struct krdma_sqe *entry)
{
	struct fuzz_random *random = &thread->random;

	memset(entry, 0, sizeof(*entry));
	entry->opcode = opcodes[fuzz_below(random, sizeof(opcodes))];
	entry->dest = dest;
	entry->wr_id = fuzz_next(random);
	pieces(thread, entry);
	if (entry->opcode != KRDMA_OP_RECV) {
		entry->flags = fuzz_one_in(random, 2) ? 0 : fuzz_next(random) & 15;
		if (entry->flags & KRDMA_SQE_INLINE && entry->sge_count == 1) {
			entry->sge.mr = 0;
			entry->sge.length = fuzz_below(random, 65);
		}
		operands(thread, entry);
	}
	if (fuzz_one_in(random, 12))
		wrong_bytes(random, (void *)entry, sizeof(*entry), 1 + fuzz_below(random, 4));
}
