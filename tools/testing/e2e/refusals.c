// SPDX-License-Identifier: GPL-2.0
/*
 * Errors: entries that a ring refuses, and operations that fail.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "kselftest_harness.h"
#include "pair.h"
#include "session.h"

FIXTURE(refusal)
{
	struct pair pair;
	struct end *a;
	struct end *b;
	struct mr from;
	struct mr to;
};

FIXTURE_SETUP(refusal)
{
	struct pair_options options = { .two_sessions = true, .a.max_inline = 64 };

	ASSERT_EQ(0, pair_open(&self->pair, &options));
	self->a = &self->pair.a;
	self->b = &self->pair.b;
	ASSERT_EQ(0, mr_create(self->a->session, self->pair.device, 8192,
			       KRDMA_ACCESS_LOCAL_WRITE, &self->from));
	ASSERT_EQ(0, mr_create(self->b->session, self->pair.device, 8192, ACCESS_ALL,
			       &self->to));
}

FIXTURE_TEARDOWN(refusal)
{
	mr_destroy(&self->from);
	mr_destroy(&self->to);
	pair_close(&self->pair);
}

/* A valid entry of each operation. */
static struct krdma_sqe valid(const struct end *end, const struct mr *from,
			      const struct mr *to, uint8_t opcode)
{
	struct krdma_sqe entry = {};

	switch (opcode) {
	case KRDMA_OP_SEND:
	case KRDMA_OP_SEND_IMM:
	case KRDMA_OP_SEND_INVALIDATE:
	case KRDMA_OP_RECV:
		entry = sqe_send(end->id, 1, from, 0, 8);
		break;
	case KRDMA_OP_WRITE:
	case KRDMA_OP_WRITE_IMM:
	case KRDMA_OP_READ:
	case KRDMA_OP_COMPARE_SWAP:
	case KRDMA_OP_FETCH_ADD:
		entry = sqe_remote(opcode, end->id, 1, from, 0, 8, to, 0);
		break;
	case KRDMA_OP_ATOMIC_WRITE:
	case KRDMA_OP_FLUSH:
		entry = sqe_remote(opcode, end->id, 1, NULL, 0, 0, to, 0);
		break;
	default:
		entry.dest = end->id;
	}
	entry.opcode = opcode;
	return entry;
}

/* An invalidation of a local key: version 1 named the number, and refused it, too. */
#define LOCAL_INV	(KRDMA_OP_FLUSH + 1)

/* Post @entry by the ring and by an array; both refuse it. */
#define REFUSED(error, entry) do {							\
	const struct krdma_sqe refused = (entry);					\
	const int expected = (error);							\
											\
	EXPECT_EQ(expected, ring_submit(self->a->ring, &refused, 1, NULL));		\
	EXPECT_EQ(expected, ring_post(self->a->ring->fd, &refused, 1, NULL));		\
} while (0)

#define VALID(opcode)	valid(self->a, &self->from, &self->to, opcode)

TEST_F(refusal, opcodes_that_are_none)
{
	for (unsigned int opcode = 0; opcode < 256; opcode++) {
		struct krdma_sqe entry = VALID(opcode);

		if (opcode && opcode <= KRDMA_OP_FLUSH)
			continue;
		REFUSED(-EINVAL, entry);
	}
}

TEST_F(refusal, flags_that_an_operation_does_not_have)
{
	const uint8_t any = KRDMA_SQE_UNSIGNALED | KRDMA_SQE_FENCE;
	const uint8_t message = any | KRDMA_SQE_INLINE | KRDMA_SQE_SOLICITED;
	const uint8_t allowed[] = {
		[KRDMA_OP_SEND] = message, [KRDMA_OP_SEND_IMM] = message,
		[KRDMA_OP_SEND_INVALIDATE] = message, [KRDMA_OP_RECV] = 0,
		[KRDMA_OP_WRITE] = any | KRDMA_SQE_INLINE, [KRDMA_OP_WRITE_IMM] = message,
		[KRDMA_OP_READ] = any, [KRDMA_OP_COMPARE_SWAP] = any,
		[KRDMA_OP_FETCH_ADD] = any, [KRDMA_OP_ATOMIC_WRITE] = any,
		[KRDMA_OP_FLUSH] = any,
	};

	for (uint8_t opcode = 1; opcode <= KRDMA_OP_FLUSH; opcode++) {
		for (unsigned int bit = 0; bit < 8; bit++) {
			struct krdma_sqe entry = VALID(opcode);

			entry.flags = 1 << bit;
			if (!(entry.flags & allowed[opcode]))
				REFUSED(-EINVAL, entry);
		}
	}
}

/* If the provider does not check the PD, a connection to itself would suffice to invalidate it. */
TEST_F(refusal, a_strangers_key_is_not_ended)
{
	struct krdma_sqe entry = { .opcode = LOCAL_INV, .dest = self->a->id };
	struct mr mr;

	ASSERT_EQ(0, write_text(FORCE_PIN, "1"));
	ASSERT_EQ(0, mr_create(self->b->session, self->pair.device, 8192, ACCESS_ALL,
			       &mr));
	ASSERT_EQ(0, write_text(FORCE_PIN, "0"));
	entry.imm = mr.rkey;
	REFUSED(-EINVAL, entry);
	EXPECT_EQ(0, pair_write(&self->pair, &self->from, &mr));
	mr_destroy(&mr);
}

/* Each field that an operation does not use must be 0. */
TEST_F(refusal, fields_that_an_operation_does_not_use)
{
	enum { ADDR = 1, KEY = 2, IMM = 4, OPERAND = 8, SWAP = 16 };
	const uint8_t used[] = {
		[KRDMA_OP_SEND] = 0, [KRDMA_OP_SEND_IMM] = IMM, [KRDMA_OP_SEND_INVALIDATE] = IMM,
		[KRDMA_OP_RECV] = 0, [KRDMA_OP_WRITE] = ADDR | KEY,
		[KRDMA_OP_WRITE_IMM] = ADDR | KEY | IMM, [KRDMA_OP_READ] = ADDR | KEY,
		[KRDMA_OP_COMPARE_SWAP] = ADDR | KEY | OPERAND | SWAP,
		[KRDMA_OP_FETCH_ADD] = ADDR | KEY | OPERAND,
		[KRDMA_OP_ATOMIC_WRITE] = ADDR | KEY | OPERAND,
		[KRDMA_OP_FLUSH] = ADDR | KEY | IMM | OPERAND,
	};

	for (uint8_t opcode = 1; opcode <= KRDMA_OP_FLUSH; opcode++) {
		for (unsigned int field = 1; field <= SWAP; field *= 2) {
			struct krdma_sqe entry = VALID(opcode);

			if (field & used[opcode])
				continue;
			if (field == ADDR)
				entry.remote_addr = 1;
			else if (field == KEY)
				entry.rkey = 1;
			else if (field == IMM)
				entry.imm = 1;
			else if (field == OPERAND)
				entry.operand = 1;
			else
				entry.swap = 1;
			EXPECT_EQ(-EINVAL, ring_submit(self->a->ring, &entry, 1, NULL)) {
				TH_LOG("opcode %u, field %u", opcode, field);
			}
		}
	}
}

TEST_F(refusal, pieces_that_make_no_sense)
{
	struct krdma_ring_sge pieces[KRDMA_RING_SGES_MAX + 1] = {};
	struct krdma_sqe entry = VALID(KRDMA_OP_WRITE);

	entry.sge_count = 0;
	REFUSED(-EINVAL, entry);
	memset(&entry.sge, 0, sizeof(entry.sge));
	entry.sge.mr = 1;
	REFUSED(-EINVAL, entry);
	entry.sge.mr = 0;
	entry.sge.length = 1;
	REFUSED(-EINVAL, entry);
	entry.sge = (struct krdma_ring_sge) { .addr = (uintptr_t)pieces, .length = 1 };
	entry.sge_count = 2;
	REFUSED(-EINVAL, entry);
	entry.sge = (struct krdma_ring_sge) { .addr = 16 };
	REFUSED(-EFAULT, entry);
	entry.sge.addr = (uintptr_t)pieces;
	entry.sge_count = KRDMA_RING_SGES_MAX + 1;
	REFUSED(-EMSGSIZE, entry);
	entry.sge_count = UINT16_MAX;
	REFUSED(-EMSGSIZE, entry);
	/* SGEs without an MR. */
	entry.sge_count = 2;
	REFUSED(-ENOENT, entry);
}

TEST_F(refusal, memory_without_that_right_or_outside_of_it)
{
	struct krdma_sqe entry = VALID(KRDMA_OP_WRITE);
	struct mr readable;

	ASSERT_EQ(0, mr_create(self->a->session, self->pair.device, 4096, 0, &readable));
	entry.sge.mr = 0x7ffffff0;
	REFUSED(-ENOENT, entry);
	entry.sge.mr = 0;
	REFUSED(-ENOENT, entry);
	entry = VALID(KRDMA_OP_WRITE);
	entry.sge.length = 8193;
	REFUSED(-ERANGE, entry);
	entry.sge.length = 1;
	entry.sge.addr += 8192;
	REFUSED(-ERANGE, entry);
	entry.sge.addr = (uintptr_t)self->from.data - 1;
	REFUSED(-ERANGE, entry);
	entry.sge.addr = UINT64_MAX;
	REFUSED(-ERANGE, entry);
	entry.sge.length = UINT32_MAX;
	REFUSED(-ERANGE, entry);
	entry = sqe_remote(KRDMA_OP_READ, self->a->id, 1, &readable, 0, 8, &self->to, 0);
	REFUSED(-EACCES, entry);
	entry = sqe_receive(self->a->id, 1, &readable, 0, 8);
	REFUSED(-EACCES, entry);
	entry = VALID(KRDMA_OP_WRITE);
	entry.remote_addr = UINT64_MAX - 3;
	REFUSED(-EOVERFLOW, entry);
	mr_destroy(&readable);
	entry = sqe_send(self->a->id, 1, &readable, 0, 8);
	REFUSED(-ENOENT, entry);
}

TEST_F(refusal, targets_that_are_none_or_have_another_queue)
{
	struct krdma_sqe entry = VALID(KRDMA_OP_WRITE);

	entry.dest = 0;
	REFUSED(-ENOENT, entry);
	entry.dest = UINT32_MAX;
	REFUSED(-ENOENT, entry);
	/* The destination belongs to another ring. */
	entry.dest = self->b->id;
	REFUSED(-ENOENT, entry);
	entry = sqe_receive(self->b->id, 1, NULL, 0, 0);
	REFUSED(-ENOENT, entry);
}

/* Proves: D4 */
TEST_F(refusal, a_queue_for_receives_takes_no_sends)
{
	struct pair_options options = { .a.separate = true };
	struct krdma_sqe receive, write;
	struct pair pair = {};

	ASSERT_EQ(0, pair_open(&pair, &options));
	receive = sqe_receive(pair.a.id, 1, NULL, 0, 0);
	write = sqe_send(pair.a.id, 1, NULL, 0, 0);
	EXPECT_EQ(-ENOENT, ring_submit(pair.a.ring, &receive, 1, NULL));
	EXPECT_EQ(-ENOENT, ring_submit(pair.a.recv_ring, &write, 1, NULL));
	EXPECT_EQ(0, ring_submit(pair.a.recv_ring, &receive, 1, NULL));
	pair_close(&pair);
}

TEST_F(refusal, entries_that_cannot_be_read)
{
	size_t page = sysconf(_SC_PAGESIZE);
	unsigned char *map = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct krdma_sqe *entries = (struct krdma_sqe *)(map + page) - 2;
	uint32_t accepted;
	struct krdma_cqe cqe;

	ASSERT_TRUE((void *)map != MAP_FAILED);
	ASSERT_EQ(0, mprotect(map + page, page, PROT_NONE));
	entries[0] = VALID(KRDMA_OP_WRITE);
	entries[1] = entries[0];
	/* Both calls fail; the entries before the one that faults are accepted. */
	EXPECT_EQ(-EFAULT, ring_post(self->a->ring->fd, (void *)16, 1, &accepted));
	EXPECT_EQ(0, accepted);
	EXPECT_EQ(-EFAULT, ring_post(self->a->ring->fd, entries, 3, &accepted));
	EXPECT_EQ(2, accepted);
	for (int i = 0; i < 2; i++)
		EXPECT_EQ(0, ring_wait(self->a->ring, &cqe, PATIENCE_MS));
	EXPECT_EQ(-EINVAL, ring_post(self->a->ring->fd, entries, KRDMA_RING_ENTRIES_MAX + 1,
				     NULL));
	munmap(map, 2 * page);
}

TEST_F(refusal, without_a_connection)
{
	struct krdma_sqe entry = VALID(KRDMA_OP_WRITE);

	ASSERT_EQ(0, conn_disconnect(self->a->conn, 0));
	REFUSED(-ENOTCONN, entry);
	ASSERT_EQ(0, conn_await_closed(self->a->conn, PATIENCE_MS));
	REFUSED(-ENOTCONN, entry);
	entry = sqe_receive(self->a->id, 1, NULL, 0, 0);
	REFUSED(-ENOTCONN, entry);
}

/*
 * One field of an otherwise valid entry is rewritten between two values while the kernel reads
 * it: each time the kernel sees either value, and nothing else happens.
 */
struct flip {
	/* In the ring, so it advances to the next entry. */
	struct krdma_sqe *volatile entry;
	struct krdma_sqe right;
	size_t word;
	uint64_t wrong;
	atomic_bool stop;
};

static void *flip_without_end(void *argument)
{
	struct flip *flip = argument;
	uint64_t right;

	memcpy(&right, (uint64_t *)&flip->right + flip->word, sizeof(right));
	while (!flip->stop) {
		volatile uint64_t *word = (uint64_t *)flip->entry + flip->word;

		*word = flip->wrong;
		*word = right;
	}
	return NULL;
}

static const struct flip_field {
	const char *name;
	size_t offset;
	size_t size;
	uint64_t wrong;
	int error;
} flip_fields[] = {
#define AT(field)	offsetof(struct krdma_sqe, field)
	{ "opcode", AT(opcode), 1, 200, -EINVAL },
	{ "flags", AT(flags), 1, 0x80, -EINVAL },
	{ "piece_count", AT(sge_count), 2, 0xffff, -EMSGSIZE },
	{ "target", AT(dest), 4, 0x7fffffff, -ENOENT },
	{ "piece.memory", AT(sge.mr), 4, 0x7fffffff, -ENOENT },
	{ "piece.length", AT(sge.length), 4, 8192 + 1, -ERANGE },
	{ "piece.addr", AT(sge.addr), 8, 64, -ERANGE },
	{ "remote_addr", AT(remote_addr), 8, UINT64_MAX, -EOVERFLOW },
#undef AT
};

/* Submit the entry until it has been accepted and refused @often times each. */
static void submit_flipped(struct __test_metadata *_metadata, struct ring *ring,
			   struct flip *flip, const struct flip_field *field, unsigned int often)
{
	unsigned int accepted = 0, refused = 0;
	uint64_t end = now_ms() + PATIENCE_MS;
	struct krdma_ring_enter_args enter;
	struct krdma_cqe cqe;

	while ((accepted < often || refused < often) && now_ms() < end) {
		ASSERT_EQ(0, ring_enter(ring, 1, 0, 0, &enter));
		if (!enter.submitted) {
			ASSERT_EQ(field->error, enter.error);
			refused++;
			continue;
		}
		ASSERT_EQ(0, enter.error);
		ASSERT_EQ(0, ring_wait(ring, &cqe, PATIENCE_MS));
		ASSERT_EQ(KRDMA_WC_SUCCESS, cqe.status);
		ASSERT_EQ(flip->right.wr_id, cqe.wr_id);
		ASSERT_EQ(8, cqe.length);
		accepted++;
		flip->entry = &ring->sqes[ring->header->sq_tail % ring->sq_entries];
		*flip->entry = flip->right;
		__atomic_store_n(&ring->header->sq_tail, ring->header->sq_tail + 1,
				 __ATOMIC_RELEASE);
	}
	EXPECT_LE(often, accepted);
	EXPECT_LE(often, refused);
	printf("# accepted %u times, and %u times refused\n", accepted, refused);
}

/* Proves: A5 */
TEST_F_TIMEOUT(refusal, a_field_is_rewritten_while_the_kernel_reads_it, 300)
{
	struct ring *ring = self->a->ring;

	for (size_t i = 0; i < ARRAY_SIZE(flip_fields) && !_metadata->exit_code; i++) {
		const struct flip_field *field = &flip_fields[i];
		struct flip flip = {
			.right = sqe_remote(KRDMA_OP_WRITE, self->a->id, 100 + i,
					    &self->from, 0, 8, &self->to, 0),
			.word = field->offset / 8,
		};
		pthread_t thread;

		memcpy(&flip.wrong, (uint64_t *)&flip.right + flip.word, 8);
		memcpy((char *)&flip.wrong + field->offset % 8, &field->wrong, field->size);
		ASSERT_EQ(0, ring_put(ring, &flip.right, 1));
		flip.entry = &ring->sqes[(ring->header->sq_tail - 1) % ring->sq_entries];
		ASSERT_EQ(0, pthread_create(&thread, NULL, flip_without_end, &flip));
		submit_flipped(_metadata, ring, &flip, field, rounds(20, 5));
		flip.stop = true;
		pthread_join(thread, NULL);
		EXPECT_FALSE(_metadata->exit_code) {
			TH_LOG("field %s", field->name);
		}
		/* Make the last entry valid. */
		*flip.entry = flip.right;
		EXPECT_EQ(0, ring_enter(ring, 1, 1, deadline_in(PATIENCE_MS), NULL));
		EXPECT_EQ(0, ring_take(ring, &(struct krdma_cqe){}));
	}
}

/*
 * Operations that fail: each ends its connection, so each has its own.
 */

FIXTURE(failure)
{
	struct pair pair;
	struct end *a;
	struct end *b;
	struct mr from;
	struct mr to;
	struct krdma_sqe entry;
};

FIXTURE_VARIANT(failure)
{
	uint8_t opcode;
	/* Access of the peer's MR: all but the right that the operation needs, or all. */
	uint32_t access;
	uint32_t wrong_key;
	long offset;
	/* The peer's MR belongs to another session. */
	bool foreign;
	/* The connection is a lane. */
	bool lane;
};

#define WRITABLE	(KRDMA_ACCESS_LOCAL_WRITE | KRDMA_ACCESS_REMOTE_WRITE)
#define READABLE	(KRDMA_ACCESS_LOCAL_WRITE | KRDMA_ACCESS_REMOTE_READ)
#define ATOMIC		(KRDMA_ACCESS_LOCAL_WRITE | KRDMA_ACCESS_REMOTE_ATOMIC)

/* clang-format off */
FIXTURE_VARIANT_ADD(failure, write_without_right) {
	.opcode = KRDMA_OP_WRITE, .access = READABLE | ATOMIC };
FIXTURE_VARIANT_ADD(failure, read_without_right) {
	.opcode = KRDMA_OP_READ, .access = WRITABLE | ATOMIC };
FIXTURE_VARIANT_ADD(failure, fetch_add_without_right) {
	.opcode = KRDMA_OP_FETCH_ADD, .access = READABLE | WRITABLE };
FIXTURE_VARIANT_ADD(failure, compare_swap_without_right) {
	.opcode = KRDMA_OP_COMPARE_SWAP, .access = READABLE | WRITABLE };
FIXTURE_VARIANT_ADD(failure, flush_without_right) {
	.opcode = KRDMA_OP_FLUSH, .access = WRITABLE | ATOMIC };
FIXTURE_VARIANT_ADD(failure, atomic_write_without_right) {
	.opcode = KRDMA_OP_ATOMIC_WRITE, .access = READABLE | ATOMIC };
FIXTURE_VARIANT_ADD(failure, write_with_a_wrong_key) {
	.opcode = KRDMA_OP_WRITE, .access = ACCESS_ALL, .wrong_key = 0xff };
FIXTURE_VARIANT_ADD(failure, read_with_a_wrong_key) {
	.opcode = KRDMA_OP_READ, .access = ACCESS_ALL, .wrong_key = 0x100 };
FIXTURE_VARIANT_ADD(failure, write_beyond_the_end) {
	.opcode = KRDMA_OP_WRITE, .access = ACCESS_ALL, .offset = 8185 };
FIXTURE_VARIANT_ADD(failure, read_before_the_beginning) {
	.opcode = KRDMA_OP_READ, .access = ACCESS_ALL, .offset = -1 };
FIXTURE_VARIANT_ADD(failure, write_to_another_sessions_memory) {
	.opcode = KRDMA_OP_WRITE, .access = ACCESS_ALL, .foreign = true };
FIXTURE_VARIANT_ADD(failure, read_of_another_sessions_memory) {
	.opcode = KRDMA_OP_READ, .access = ACCESS_ALL, .foreign = true };
FIXTURE_VARIANT_ADD(failure, lane_write_without_right) {
	.lane = true, .opcode = KRDMA_OP_WRITE, .access = READABLE | ATOMIC };
FIXTURE_VARIANT_ADD(failure, lane_read_without_right) {
	.lane = true, .opcode = KRDMA_OP_READ, .access = WRITABLE | ATOMIC };
FIXTURE_VARIANT_ADD(failure, lane_fetch_add_without_right) {
	.lane = true, .opcode = KRDMA_OP_FETCH_ADD, .access = READABLE | WRITABLE };
FIXTURE_VARIANT_ADD(failure, lane_compare_swap_without_right) {
	.lane = true, .opcode = KRDMA_OP_COMPARE_SWAP, .access = READABLE | WRITABLE };
FIXTURE_VARIANT_ADD(failure, lane_flush_without_right) {
	.lane = true, .opcode = KRDMA_OP_FLUSH, .access = WRITABLE | ATOMIC };
FIXTURE_VARIANT_ADD(failure, lane_atomic_write_without_right) {
	.lane = true, .opcode = KRDMA_OP_ATOMIC_WRITE, .access = READABLE | ATOMIC };
FIXTURE_VARIANT_ADD(failure, lane_write_with_a_wrong_key) {
	.lane = true, .opcode = KRDMA_OP_WRITE, .access = ACCESS_ALL, .wrong_key = 0xff };
FIXTURE_VARIANT_ADD(failure, lane_read_with_a_wrong_key) {
	.lane = true, .opcode = KRDMA_OP_READ, .access = ACCESS_ALL, .wrong_key = 0x100 };
FIXTURE_VARIANT_ADD(failure, lane_write_beyond_the_end) {
	.lane = true, .opcode = KRDMA_OP_WRITE, .access = ACCESS_ALL, .offset = 8185 };
FIXTURE_VARIANT_ADD(failure, lane_read_before_the_beginning) {
	.lane = true, .opcode = KRDMA_OP_READ, .access = ACCESS_ALL, .offset = -1 };
FIXTURE_VARIANT_ADD(failure, lane_write_to_another_sessions_memory) {
	.lane = true, .opcode = KRDMA_OP_WRITE, .access = ACCESS_ALL, .foreign = true };
FIXTURE_VARIANT_ADD(failure, lane_read_of_another_sessions_memory) {
	.lane = true, .opcode = KRDMA_OP_READ, .access = ACCESS_ALL, .foreign = true };

/* clang-format on */

FIXTURE_SETUP(failure)
{
	struct pair_options options = { .two_sessions = true };
	bool data = variant->opcode != KRDMA_OP_FLUSH && variant->opcode != KRDMA_OP_ATOMIC_WRITE;
	uint32_t access = variant->access;

	lanes_by_default = variant->lane;
	ASSERT_EQ(0, pair_open(&self->pair, &options));
	ASSERT_EQ(variant->lane, trunk_of(self->pair.a.conn) != 0);
	self->a = &self->pair.a;
	self->b = &self->pair.b;
	if (!device_has_atomics(self->a->session, self->pair.device)) {
		if (variant->opcode == KRDMA_OP_FETCH_ADD ||
		    variant->opcode == KRDMA_OP_COMPARE_SWAP)
			SKIP(return, "the device has no atomics");
		access &= ~KRDMA_ACCESS_REMOTE_ATOMIC;
	}
	ASSERT_EQ(0, mr_create(self->a->session, self->pair.device, 8192,
			       KRDMA_ACCESS_LOCAL_WRITE, &self->from));
	ASSERT_EQ(0, mr_create(variant->foreign ? self->a->session : self->b->session,
			       self->pair.device, 8192, access, &self->to));
	self->entry = sqe_remote(variant->opcode, self->a->id, 5, data ? &self->from : NULL, 0,
				 data ? 8 : 0, &self->to, variant->offset);
	self->entry.rkey ^= variant->wrong_key;
}

FIXTURE_TEARDOWN(failure)
{
	lanes_by_default = false;
	mr_destroy(&self->from);
	mr_destroy(&self->to);
	pair_close(&self->pair);
}

/* Proves: E3 (write_without_right) */
TEST_F(failure, the_peers_memory_stays_as_it_is)
{
	struct krdma_sqe silent = self->entry;
	struct krdma_cqe cqe;

	fill(self->to.data, 8192, 3);
	/* An unsignaled work request completes visibly if it fails. */
	silent.flags = KRDMA_SQE_UNSIGNALED;
	ASSERT_EQ(0, ring_submit(self->a->ring, &silent, 1, NULL));
	ASSERT_EQ(0, ring_wait(self->a->ring, &cqe, PATIENCE_MS));
	EXPECT_EQ(5, cqe.wr_id);
	EXPECT_EQ(variant->opcode, cqe.opcode);
	EXPECT_EQ(0, cqe.length);
	EXPECT_EQ(KRDMA_WC_REM_ACCESS_ERR, cqe.status);
	EXPECT_TRUE(filled(self->to.data, 8192, 3));
	EXPECT_TRUE(zeroed(self->from.data, 8192));
	EXPECT_EQ(0, conn_await_closed(self->a->conn, PATIENCE_MS));
	EXPECT_EQ(0, conn_await_closed(self->b->conn, PATIENCE_MS));
	EXPECT_EQ(-EIO, conn_wait(self->a->conn, 0, NULL));
	/* rxe of 7.2 raises a QP error at the end that refuses; before, the peer disconnects. */
	EXPECT_EQ(kernel_is("6.") && !variant->lane ? -EPIPE : -EIO,
		  conn_wait(self->b->conn, 0, NULL));
	EXPECT_EQ(-EAGAIN, ring_take(self->a->ring, &cqe));
}

/* Check the effect of the operation on memory with a pattern, if it has the right it needs. */
static void expect_done(struct __test_metadata *_metadata, uint8_t opcode,
			const struct mr *from, const struct mr *to)
{
	uint64_t theirs, mine, pattern;
	unsigned char bytes[8];

	fill(bytes, 8, 3);
	memcpy(&pattern, bytes, 8);
	memcpy(&theirs, to->data, 8);
	memcpy(&mine, from->data, 8);
	switch (opcode) {
	case KRDMA_OP_WRITE:
	case KRDMA_OP_ATOMIC_WRITE:
		pattern = 0;
		break;
	case KRDMA_OP_READ:
	case KRDMA_OP_COMPARE_SWAP:
	case KRDMA_OP_FETCH_ADD:
		EXPECT_EQ(pattern, mine);
		break;
	}
	EXPECT_EQ(pattern, theirs);
	EXPECT_TRUE(zeroed(from->data + 8, 8192 - 8));
}

/* The failure is due to the access right alone: with it, the operation works on such a QP. */
/* Proves: E3 (write_without_right) */
TEST_F(failure, with_the_right_it_is_done)
{
	static const uint32_t rights[] = {
		[KRDMA_OP_WRITE] = WRITABLE,
		[KRDMA_OP_READ] = KRDMA_ACCESS_REMOTE_READ,
		[KRDMA_OP_COMPARE_SWAP] = ATOMIC,
		[KRDMA_OP_FETCH_ADD] = ATOMIC,
		[KRDMA_OP_FLUSH] = KRDMA_ACCESS_REMOTE_READ,
		[KRDMA_OP_ATOMIC_WRITE] = WRITABLE,
	};
	struct krdma_sqe right = self->entry;
	struct krdma_cqe cqe;
	struct mr to;

	ASSERT_EQ(0, mr_create(self->b->session, self->pair.device, 8192,
			       rights[variant->opcode], &to));
	fill(to.data, 8192, 3);
	right.remote_addr = to.remote_addr;
	right.rkey = to.rkey;
	ASSERT_EQ(0, ring_submit(self->a->ring, &right, 1, NULL));
	ASSERT_EQ(0, ring_wait(self->a->ring, &cqe, PATIENCE_MS));
	EXPECT_EQ(5, cqe.wr_id);
	EXPECT_EQ(variant->opcode, cqe.opcode);
	EXPECT_EQ(KRDMA_WC_SUCCESS, cqe.status);
	expect_done(_metadata, variant->opcode, &self->from, &to);
	EXPECT_EQ(KRDMA_CONN_CONNECTED, conn_state(self->a->conn));
	mr_destroy(&to);
}

TEST_F(refusal, a_message_longer_than_its_receive)
{
	struct krdma_sqe send = sqe_send(self->a->id, 1, &self->from, 0, 101);
	struct krdma_sqe receive = sqe_receive(self->b->id, 2, &self->to, 0, 100);
	bool rxe = !getenv("KRDMA_LINK");
	struct krdma_cqe cqe;

	ASSERT_EQ(0, ring_submit(self->b->ring, &receive, 1, NULL));
	ASSERT_EQ(0, ring_submit(self->a->ring, &send, 1, NULL));
	ASSERT_EQ(0, ring_wait(self->b->ring, &cqe, PATIENCE_MS));
	/* rxe reports a different status. */
	EXPECT_EQ(rxe ? KRDMA_WC_LOC_QP_OP_ERR : KRDMA_WC_LOC_LEN_ERR, cqe.status);
	EXPECT_EQ(2, cqe.wr_id);
	EXPECT_EQ(0, cqe.length);
	ASSERT_EQ(0, ring_wait(self->a->ring, &cqe, PATIENCE_MS));
	EXPECT_EQ(1, cqe.wr_id);
	EXPECT_EQ(rxe ? KRDMA_WC_REM_OP_ERR : KRDMA_WC_REM_INV_REQ_ERR,
		  cqe.status);
	EXPECT_EQ(0, conn_await_closed(self->a->conn, PATIENCE_MS));
	EXPECT_EQ(0, conn_await_closed(self->b->conn, PATIENCE_MS));
}

TEST_F(refusal, a_message_that_finds_no_receive)
{
	struct pair_options options = {
		.a.param.flags = KRDMA_CONN_PARAM_NO_RNR_RETRY,
		.b.param.flags = KRDMA_CONN_PARAM_NO_RNR_RETRY,
	};
	struct pair pair = {};
	struct krdma_sqe send;
	struct krdma_cqe cqe;

	ASSERT_EQ(0, pair_open(&pair, &options));
	send = sqe_send(pair.a.id, 1, NULL, 0, 0);
	ASSERT_EQ(0, ring_submit(pair.a.ring, &send, 1, NULL));
	ASSERT_EQ(0, ring_wait(pair.a.ring, &cqe, PATIENCE_MS));
	EXPECT_EQ(KRDMA_WC_RNR_RETRY_EXC_ERR, cqe.status);
	EXPECT_EQ(0, conn_await_closed(pair.a.conn, PATIENCE_MS));
	pair_close(&pair);
}

TEST_HARNESS_MAIN
