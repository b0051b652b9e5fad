// SPDX-License-Identifier: GPL-2.0
/*
 * Every operation, posted by the ring and by an array, with event-driven and with polled
 * completions: the data that arrive, and the completions.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>

#include "kselftest_harness.h"
#include "pair.h"
#include "session.h"

#define SIZE		(256 * 1024)
#define MAX_INLINE	128

FIXTURE(operation)
{
	struct pair pair;
	struct end *a;
	struct end *b;
	struct mr from;
	struct mr to;
	struct krdma_device_query_args device;
};

FIXTURE_VARIANT(operation)
{
	/* KRDMA_RING_POST and KRDMA_RING_REAP instead of the rings. */
	bool arrays;
	uint32_t ring_flags;
	/* Receives complete in a separate ring. */
	bool separate;
	/* The connections are lanes. */
	bool lane;
	bool windows;
};

/* clang-format off */
FIXTURE_VARIANT_ADD(operation, header) {};
FIXTURE_VARIANT_ADD(operation, ring_polled) { .ring_flags = KRDMA_RING_POLLED };
FIXTURE_VARIANT_ADD(operation, array) { .arrays = true, .separate = true };
FIXTURE_VARIANT_ADD(operation, array_polled) {
	.arrays = true, .separate = true, .ring_flags = KRDMA_RING_POLLED,
};

FIXTURE_VARIANT_ADD(operation, lane) { .lane = true };
FIXTURE_VARIANT_ADD(operation, lane_with_windows) { .lane = true, .windows = true };
FIXTURE_VARIANT_ADD(operation, lane_array_polled) {
	.lane = true, .arrays = true, .separate = true, .ring_flags = KRDMA_RING_POLLED,
};

/* clang-format on */

FIXTURE_SETUP(operation)
{
	struct end_options options = {
		.send_depth = 64, .recv_depth = 64, .max_send_sge = 4, .max_recv_sge = 4,
		.max_inline = MAX_INLINE, .separate = variant->separate,
		.ring_options.flags = variant->ring_flags,
	};
	struct pair_options pair = { .two_sessions = true, .a = options, .b = options };

	lanes_by_default = variant->lane;
	windows_by_default = variant->windows;
	ASSERT_EQ(0, pair_open(&self->pair, &pair));
	ASSERT_EQ(variant->lane, trunk_of(self->pair.a.conn) != 0);
	self->a = &self->pair.a;
	self->b = &self->pair.b;
	ASSERT_EQ(0, session_device(self->a->session, self->pair.device, &self->device));
	ASSERT_EQ(0, mr_create(self->a->session, self->pair.device, SIZE, ACCESS_ALL,
			       &self->from));
	ASSERT_EQ(0, mr_create(self->b->session, self->pair.device, SIZE, ACCESS_ALL,
			       &self->to));
}

FIXTURE_TEARDOWN(operation)
{
	lanes_by_default = false;
	windows_by_default = false;
	write_text(FORCE_PIN, "0");
	mr_destroy(&self->from);
	mr_destroy(&self->to);
	pair_close(&self->pair);
}

static int submit(bool arrays, struct ring *ring, const struct krdma_sqe *entries,
		  uint32_t count)
{
	return arrays ? ring_post(ring->fd, entries, count, NULL) :
			ring_submit(ring, entries, count, NULL);
}

static int take(bool arrays, struct ring *ring, struct krdma_cqe *cqe)
{
	uint32_t reaped;

	return arrays ? ring_reap(ring->fd, cqe, 1, 1, deadline_in(PATIENCE_MS), &reaped) :
			ring_wait(ring, cqe, PATIENCE_MS);
}

/* The ring in which @opcode completes. */
static struct ring *queue_of(const struct end *end, uint8_t opcode)
{
	return opcode == KRDMA_OP_RECV ? end->recv_ring : end->ring;
}

#define SUBMIT(end, entry) do {								\
	const struct krdma_sqe submitted = (entry);					\
											\
	ASSERT_EQ(0, submit(variant->arrays, queue_of(end, submitted.opcode),		\
			    &submitted, 1));						\
} while (0)

#define REFUSED(error, end, entry) do {							\
	const struct krdma_sqe submitted = (entry);					\
											\
	EXPECT_EQ(error, submit(variant->arrays, (end)->ring, &submitted, 1));		\
} while (0)

/* Take the next completion of @side, which must be successful. */
#define COMPLETED(side, sqe_opcode, sqe_cookie, bytes, cqe) do {			\
	const struct end *completed = (side);						\
	const uint8_t completed_opcode = (sqe_opcode);					\
	struct krdma_cqe *taken = (cqe);						\
											\
	ASSERT_EQ(0, take(variant->arrays, queue_of(completed, completed_opcode), taken)); \
	ASSERT_EQ(KRDMA_WC_SUCCESS, taken->status);					\
	EXPECT_EQ(completed_opcode, taken->opcode);					\
	EXPECT_EQ((uint64_t)(sqe_cookie), taken->wr_id);				\
	EXPECT_EQ(completed->id, taken->dest);					\
	EXPECT_EQ(bytes, taken->length);						\
	EXPECT_EQ(0, taken->reserved);							\
} while (0)

/* An operation between the same offsets of both sides' memory. */
#define REMOTE(opcode, wr_id, offset, length) ({					\
	const size_t place = (offset);							\
											\
	sqe_remote(opcode, self->a->id, wr_id, &self->from, place, length, &self->to,	\
		   place);								\
})

static const uint32_t lengths[] = { 0, 1, 7, 8, 1023, 1024, 1025, 4096, 10000 };

/* Proves: D9 */
TEST_F(operation, messages)
{
	struct krdma_cqe cqe;

	fill(self->from.data, SIZE, 1);
	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++)
		SUBMIT(self->b, sqe_receive(self->b->id, ~i, &self->to, i * 16384, 16384));
	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		struct krdma_sqe entry = sqe_send(self->a->id, i, &self->from, 0, lengths[i]);

		entry.flags = i % 2 ? KRDMA_SQE_SOLICITED : 0;
		SUBMIT(self->a, entry);
	}
	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		COMPLETED(self->a, KRDMA_OP_SEND, i, lengths[i], &cqe);
		EXPECT_EQ(0, cqe.flags);
		COMPLETED(self->b, KRDMA_OP_RECV, ~i, lengths[i], &cqe);
		EXPECT_EQ(0, cqe.flags);
		EXPECT_TRUE(filled(self->to.data + i * 16384, lengths[i], 1));
		EXPECT_TRUE(zeroed(self->to.data + i * 16384 + lengths[i], 16384 - lengths[i]));
	}
}

/* Proves: D9 */
TEST_F(operation, messages_with_a_number)
{
	struct krdma_sqe entry = sqe_send(self->a->id, 1, &self->from, 0, 500);
	struct krdma_cqe cqe;

	fill(self->from.data, 500, 1);
	for (int i = 0; i < 2; i++)
		SUBMIT(self->b, sqe_receive(self->b->id, i, &self->to, 4096 * i, 4096));
	entry.opcode = KRDMA_OP_SEND_IMM;
	entry.imm = 0x12345678;
	SUBMIT(self->a, entry);
	COMPLETED(self->a, KRDMA_OP_SEND_IMM, 1, 500, &cqe);
	COMPLETED(self->b, KRDMA_OP_RECV, 0, 500, &cqe);
	EXPECT_EQ(KRDMA_CQE_IMM, cqe.flags);
	EXPECT_EQ(0x12345678, cqe.imm);
	EXPECT_TRUE(filled(self->to.data, 500, 1));

	/* Immediate data alone. */
	entry = sqe_send(self->a->id, 2, NULL, 0, 0);
	entry.opcode = KRDMA_OP_SEND_IMM;
	entry.imm = UINT32_MAX;
	SUBMIT(self->a, entry);
	COMPLETED(self->a, KRDMA_OP_SEND_IMM, 2, 0, &cqe);
	COMPLETED(self->b, KRDMA_OP_RECV, 1, 0, &cqe);
	EXPECT_EQ(UINT32_MAX, cqe.imm);
}

/* @pinned: the MR has an rkey that a peer can invalidate; an MR of the driver has none. */
static void end_key(struct __test_metadata *_metadata, FIXTURE_DATA(operation) * self,
		    const FIXTURE_VARIANT(operation) * variant, bool pinned)
{
	struct krdma_sqe entry = sqe_send(self->a->id, 1, NULL, 0, 0);
	struct mr mr;
	struct krdma_cqe cqe;

	ASSERT_EQ(0, mr_create(self->b->session, self->pair.device, 8192, ACCESS_ALL,
			       &mr));
	SUBMIT(self->a, sqe_remote(KRDMA_OP_WRITE, self->a->id, 0, &self->from, 0, 8192, &mr,
				   0));
	COMPLETED(self->a, KRDMA_OP_WRITE, 0, 8192, &cqe);
	SUBMIT(self->b, sqe_receive(self->b->id, 7, NULL, 0, 0));
	entry.opcode = KRDMA_OP_SEND_INVALIDATE;
	entry.imm = mr.rkey;
	SUBMIT(self->a, entry);
	ASSERT_EQ(0, take(variant->arrays, self->a->ring, &cqe));
	EXPECT_EQ(KRDMA_OP_SEND_INVALIDATE, cqe.opcode);
	/* rxe acknowledges the message before it checks the rkey. */
	EXPECT_EQ(KRDMA_WC_SUCCESS, cqe.status);
	ASSERT_EQ(0, take(variant->arrays, self->b->recv_ring, &cqe));
	EXPECT_EQ(7, cqe.wr_id);
	if (pinned) {
		EXPECT_EQ(KRDMA_WC_SUCCESS, cqe.status);
		EXPECT_EQ(KRDMA_CQE_INVALIDATED, cqe.flags);
		EXPECT_EQ(mr.rkey, cqe.imm);
		/* The rkey is invalid now. */
		SUBMIT(self->a, sqe_remote(KRDMA_OP_WRITE, self->a->id, 2, &self->from, 0, 8,
					   &mr, 0));
		ASSERT_EQ(0, take(variant->arrays, self->a->ring, &cqe));
		EXPECT_EQ(KRDMA_WC_REM_ACCESS_ERR, cqe.status);
	} else {
		EXPECT_EQ(KRDMA_WC_REM_INV_REQ_ERR, cqe.status);
		EXPECT_EQ(0, cqe.flags);
	}
	ASSERT_EQ(0, conn_await_closed(self->b->conn, PATIENCE_MS));
	EXPECT_EQ(0, mr_deregister(self->b->session, mr.id, 0));
	munmap(mr.data, mr.length);
}

/* Proves: E4 */
TEST_F(operation, a_message_that_ends_a_key)
{
	struct krdma_sqe entry = sqe_send(self->a->id, 1, NULL, 0, 0);

	/* The keys of a lane's peer are those of another PD. */
	if (variant->lane) {
		entry.opcode = KRDMA_OP_SEND_INVALIDATE;
		entry.imm = self->to.rkey;
		REFUSED(-EOPNOTSUPP, self->a, entry);
		return;
	}
	if (!(self->device.caps & KRDMA_DEVICE_CAP_FAST_REG))
		SKIP(return, "the device cannot invalidate");
	ASSERT_EQ(0, write_text(FORCE_PIN, "1"));
	end_key(_metadata, self, variant, true);
	EXPECT_EQ(0, write_text(FORCE_PIN, "0"));
}

/* Proves: E4 */
TEST_F(operation, a_message_that_cannot_end_a_key)
{
	if (!(self->device.caps & KRDMA_DEVICE_CAP_FAST_REG))
		SKIP(return, "the device cannot invalidate");
	/* a_message_that_ends_a_key shows that. */
	if (variant->lane)
		SKIP(return, "on a lane it is refused");
	if (!boot_driver_registers())
		SKIP(return, "krdma pins all memory on this device");
	end_key(_metadata, self, variant, false);
}

/* Proves: D9 */
TEST_F(operation, writes_and_reads)
{
	struct krdma_cqe cqe;

	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		uint32_t length = lengths[i];

		memset(self->to.data, 0, SIZE);
		fill(self->from.data, SIZE, i);
		SUBMIT(self->a, REMOTE(KRDMA_OP_WRITE, i, 5, length));
		COMPLETED(self->a, KRDMA_OP_WRITE, i, length, &cqe);
		EXPECT_EQ(0, memcmp(self->from.data + 5, self->to.data + 5, length));
		EXPECT_TRUE(zeroed(self->to.data, 5));
		EXPECT_TRUE(zeroed(self->to.data + 5 + length, 64));

		fill(self->to.data, SIZE, i + 100);
		memset(self->from.data, 0, SIZE);
		SUBMIT(self->a, REMOTE(KRDMA_OP_READ, i, 3, length));
		COMPLETED(self->a, KRDMA_OP_READ, i, length, &cqe);
		EXPECT_EQ(0, memcmp(self->from.data + 3, self->to.data + 3, length));
		EXPECT_TRUE(zeroed(self->from.data, 3));
		EXPECT_TRUE(zeroed(self->from.data + 3 + length, 64));
	}
	/* The peer gets no completion for any of this. */
	EXPECT_EQ(-EAGAIN, ring_take(self->b->recv_ring, &cqe));
}

TEST_F(operation, a_large_write_and_read)
{
	struct krdma_cqe cqe;

	fill(self->from.data, SIZE, 9);
	SUBMIT(self->a, REMOTE(KRDMA_OP_WRITE, 1, 0, SIZE));
	COMPLETED(self->a, KRDMA_OP_WRITE, 1, SIZE, &cqe);
	EXPECT_TRUE(filled(self->to.data, SIZE, 9));
	memset(self->from.data, 0, SIZE);
	SUBMIT(self->a, REMOTE(KRDMA_OP_READ, 2, 0, SIZE));
	COMPLETED(self->a, KRDMA_OP_READ, 2, SIZE, &cqe);
	EXPECT_TRUE(filled(self->from.data, SIZE, 9));
}

/* Proves: D9 */
TEST_F(operation, a_write_with_a_number)
{
	struct krdma_sqe entry = REMOTE(KRDMA_OP_WRITE_IMM, 1, 8192, 3000);
	struct krdma_cqe cqe;

	fill(self->from.data, SIZE, 4);
	SUBMIT(self->b, sqe_receive(self->b->id, 50, &self->to, 0, 4096));
	SUBMIT(self->b, sqe_receive(self->b->id, 51, NULL, 0, 0));
	entry.imm = 77;
	SUBMIT(self->a, entry);
	COMPLETED(self->a, KRDMA_OP_WRITE_IMM, 1, 3000, &cqe);
	COMPLETED(self->b, KRDMA_OP_RECV, 50, 3000, &cqe);
	EXPECT_EQ(KRDMA_CQE_IMM | KRDMA_CQE_WRITTEN, cqe.flags);
	EXPECT_EQ(77, cqe.imm);
	/* The data are where the peer wrote them, not in the buffer of the receive. */
	EXPECT_EQ(0, memcmp(self->from.data + 8192, self->to.data + 8192, 3000));
	EXPECT_TRUE(zeroed(self->to.data, 4096));

	entry.sge_count = 0;
	memset(&entry.sge, 0, sizeof(entry.sge));
	entry.imm = 78;
	SUBMIT(self->a, entry);
	COMPLETED(self->a, KRDMA_OP_WRITE_IMM, 1, 0, &cqe);
	COMPLETED(self->b, KRDMA_OP_RECV, 51, 0, &cqe);
	EXPECT_EQ(78, cqe.imm);
}

/* Proves: E4 */
TEST_F(operation, atomics)
{
	uint64_t *theirs = (uint64_t *)(self->to.data + 64);
	uint64_t *mine = (uint64_t *)(self->from.data + 64);
	struct krdma_sqe entry;
	struct krdma_cqe cqe;

	if (!(self->device.caps & KRDMA_DEVICE_CAP_ATOMIC))
		SKIP(return, "the device has no atomics");
	*theirs = 100;
	entry = REMOTE(KRDMA_OP_FETCH_ADD, 1, 64, 8);
	entry.operand = 0x100000001;
	SUBMIT(self->a, entry);
	COMPLETED(self->a, KRDMA_OP_FETCH_ADD, 1, 8, &cqe);
	EXPECT_EQ(100, *mine);
	EXPECT_EQ(0x100000065, *theirs);

	entry = REMOTE(KRDMA_OP_COMPARE_SWAP, 2, 64, 8);
	entry.operand = 0x100000064;
	entry.swap = 5;
	SUBMIT(self->a, entry);
	COMPLETED(self->a, KRDMA_OP_COMPARE_SWAP, 2, 8, &cqe);
	EXPECT_EQ(0x100000065, *mine);
	EXPECT_EQ(0x100000065, *theirs);
	entry.operand++;
	SUBMIT(self->a, entry);
	COMPLETED(self->a, KRDMA_OP_COMPARE_SWAP, 2, 8, &cqe);
	EXPECT_EQ(0x100000065, *mine);
	EXPECT_EQ(5, *theirs);

	REFUSED(-EINVAL, self->a, REMOTE(KRDMA_OP_FETCH_ADD, 1, 64, 7));
	REFUSED(-EINVAL, self->a, REMOTE(KRDMA_OP_COMPARE_SWAP, 1, 64, 16));
	REFUSED(-EINVAL, self->a, REMOTE(KRDMA_OP_FETCH_ADD, 1, 68, 8));
}

/* Proves: D10, D11 */
TEST_F(operation, atomic_write_and_flush)
{
	struct krdma_sqe entry = sqe_remote(KRDMA_OP_ATOMIC_WRITE, self->a->id, 1, NULL, 0, 0,
					    &self->to, 128);
	struct krdma_sqe flush = sqe_remote(KRDMA_OP_FLUSH, self->a->id, 2, NULL, 0, 0,
					    &self->to, 0);
	uint64_t *theirs = (uint64_t *)(self->to.data + 128);
	struct krdma_device_query_args device;
	struct krdma_cqe cqe;

	fill(self->from.data, 64, 1);
	SUBMIT(self->a, REMOTE(KRDMA_OP_WRITE, 0, 0, 64));
	entry.operand = 0x1122334455667788;
	SUBMIT(self->a, entry);
	SUBMIT(self->a, flush);
	COMPLETED(self->a, KRDMA_OP_WRITE, 0, 64, &cqe);
	for (int i = 0; i < 2; i++) {
		ASSERT_EQ(0, take(variant->arrays, self->a->ring, &cqe));
		EXPECT_EQ(i ? KRDMA_OP_FLUSH : KRDMA_OP_ATOMIC_WRITE, cqe.opcode);
		EXPECT_EQ(KRDMA_WC_SUCCESS, cqe.status);
		EXPECT_EQ(1 + i, cqe.wr_id);
	}
	EXPECT_EQ(0x1122334455667788, *theirs);
	EXPECT_TRUE(filled(self->to.data, 64, 1));
	/* A flush of the whole memory, and invalid flushes. */
	flush.imm = KRDMA_FLUSH_GLOBAL | KRDMA_FLUSH_MEMORY;
	REFUSED(-EINVAL, self->a, flush);
	flush.operand = 0;
	SUBMIT(self->a, flush);
	ASSERT_EQ(0, take(variant->arrays, self->a->ring, &cqe));
	EXPECT_EQ(KRDMA_OP_FLUSH, cqe.opcode);
	EXPECT_EQ(KRDMA_WC_SUCCESS, cqe.status);
	flush.imm = KRDMA_FLUSH_GLOBAL;
	REFUSED(-EINVAL, self->a, flush);
	flush.operand = 1ULL << 32;
	REFUSED(-EMSGSIZE, self->a, flush);
	flush.operand = 8;
	flush.imm = 0;
	REFUSED(-EINVAL, self->a, flush);
	flush.imm = KRDMA_FLUSH_GLOBAL | 1 << 2;
	REFUSED(-EOPNOTSUPP, self->a, flush);
	flush.imm = KRDMA_FLUSH_GLOBAL;
	flush.remote_addr = UINT64_MAX;
	REFUSED(-EOVERFLOW, self->a, flush);
	/* If the device itself does not flush, krdma does not know about persistence. */
	ASSERT_EQ(0, session_device(self->a->session, self->pair.device, &device));
	EXPECT_EQ(0, device.caps & (KRDMA_DEVICE_CAP_ATOMIC_WRITE | KRDMA_DEVICE_CAP_FLUSH_GLOBAL |
				    KRDMA_DEVICE_CAP_FLUSH_PERSISTENT));
	flush.remote_addr = self->to.remote_addr;
	flush.imm = KRDMA_FLUSH_PERSISTENT;
	REFUSED(-EOPNOTSUPP, self->a, flush);
	entry.remote_addr += 4;
	REFUSED(-EINVAL, self->a, entry);
	entry.remote_addr -= 4;
	entry.sge_count = 1;
	entry.sge.mr = self->from.id;
	REFUSED(-EINVAL, self->a, entry);
}

/* @count SGEs of different lengths, not in the order of their addresses. */
static uint32_t scatter(const struct mr *mr, struct krdma_ring_sge *pieces, uint32_t count)
{
	uint32_t total = 0;

	for (uint32_t i = 0; i < count; i++) {
		pieces[i].addr = (uintptr_t)mr->data + (count - 1 - i) * 1000 + 3;
		pieces[i].length = 1 + (i * 37) % 900;
		pieces[i].mr = mr->id;
		total += pieces[i].length;
	}
	return total;
}

static bool same(const struct krdma_ring_sge *pieces, uint32_t count, const unsigned char *flat)
{
	for (uint32_t i = 0; i < count; flat += pieces[i].length, i++)
		if (memcmp((void *)(uintptr_t)pieces[i].addr, flat, pieces[i].length))
			return false;
	return true;
}

/* Proves: E4 */
TEST_F(operation, writes_and_reads_of_many_pieces)
{
	static const uint32_t counts[] = { 2, 3, 4, 5, 31, 32, 33, 127, 128 };
	struct krdma_ring_sge pieces[KRDMA_RING_SGES_MAX];
	struct krdma_sqe entry;
	struct krdma_cqe cqe;

	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		uint32_t total = scatter(&self->from, pieces, counts[i]);

		fill(self->from.data, SIZE, i);
		memset(self->to.data, 0, SIZE);
		entry = REMOTE(KRDMA_OP_WRITE, i, 0, 0);
		entry.sge_count = counts[i];
		entry.sge = (struct krdma_ring_sge) { .addr = (uintptr_t)pieces };
		/* A lane has as many as were asked for. */
		if (variant->lane && counts[i] > 4) {
			REFUSED(-EMSGSIZE, self->a, entry);
			continue;
		}
		SUBMIT(self->a, entry);
		COMPLETED(self->a, KRDMA_OP_WRITE, i, total, &cqe);
		EXPECT_TRUE(same(pieces, counts[i], self->to.data)) {
			TH_LOG("%u pieces written", counts[i]);
		}
		EXPECT_TRUE(zeroed(self->to.data + total, 1000));

		fill(self->to.data, SIZE, i + 50);
		entry.opcode = KRDMA_OP_READ;
		SUBMIT(self->a, entry);
		COMPLETED(self->a, KRDMA_OP_READ, i, total, &cqe);
		EXPECT_TRUE(same(pieces, counts[i], self->to.data)) {
			TH_LOG("%u pieces read", counts[i]);
		}
	}
}

/* Proves: E4 */
TEST_F(operation, messages_of_many_pieces)
{
	struct krdma_ring_sge from[8], to[8];
	struct krdma_sqe entry, receive;
	struct krdma_conn_query_args query;
	struct krdma_cqe cqe;

	ASSERT_EQ(0, conn_query(self->a->conn, NULL, 0, &query));
	fill(self->from.data, SIZE, 3);
	for (uint32_t count = 2; count <= 4; count++) {
		uint32_t total = scatter(&self->from, from, count);
		unsigned char flat[4096];
		size_t at = 0;

		scatter(&self->to, to, count);
		memset(self->to.data, 0, SIZE);
		receive = sqe_receive(self->b->id, count, NULL, 0, 0);
		receive.sge_count = count;
		receive.sge.addr = (uintptr_t)to;
		SUBMIT(self->b, receive);
		entry = sqe_send(self->a->id, count, NULL, 0, 0);
		entry.sge_count = count;
		entry.sge.addr = (uintptr_t)from;
		SUBMIT(self->a, entry);
		COMPLETED(self->a, KRDMA_OP_SEND, count, total, &cqe);
		COMPLETED(self->b, KRDMA_OP_RECV, count, total, &cqe);
		for (uint32_t i = 0; i < count; at += from[i].length, i++)
			memcpy(flat + at, (void *)(uintptr_t)from[i].addr, from[i].length);
		EXPECT_TRUE(same(to, count, flat));
	}
	/* A message cannot be split into parts. */
	if (query.max_send_sge < 8) {
		entry.sge_count = query.max_send_sge + 1;
		scatter(&self->from, from, entry.sge_count);
		REFUSED(-EMSGSIZE, self->a, entry);
	}
}

/* Proves: E4 */
TEST_F(operation, inline_data)
{
	static const uint32_t some[] = { 0, 1, 8, 63, MAX_INLINE };
	unsigned char data[MAX_INLINE + 1];
	struct krdma_conn_query_args query;
	struct krdma_sqe entry;
	struct krdma_cqe cqe;

	ASSERT_EQ(0, conn_query(self->a->conn, NULL, 0, &query));
	for (size_t i = 0; i < ARRAY_SIZE(some); i++) {
		memset(self->to.data, 0, 8192);
		SUBMIT(self->b, sqe_receive(self->b->id, i, &self->to, 4096, 4096));
		fill(data, sizeof(data), i);
		entry = sqe_send(self->a->id, i, NULL, 0, 0);
		entry.flags = KRDMA_SQE_INLINE;
		entry.sge_count = 1;
		entry.sge.addr = (uintptr_t)data;
		entry.sge.length = some[i];
		SUBMIT(self->a, entry);
		entry.opcode = KRDMA_OP_WRITE;
		entry.remote_addr = self->to.remote_addr;
		entry.rkey = self->to.rkey;
		SUBMIT(self->a, entry);
		/* The program may overwrite inline data after the post. */
		memset(data, 0, sizeof(data));
		COMPLETED(self->a, KRDMA_OP_SEND, i, some[i], &cqe);
		COMPLETED(self->a, KRDMA_OP_WRITE, i, some[i], &cqe);
		COMPLETED(self->b, KRDMA_OP_RECV, i, some[i], &cqe);
		EXPECT_TRUE(filled(self->to.data, some[i], i));
		EXPECT_TRUE(filled(self->to.data + 4096, some[i], i));
	}
	entry.sge.length = query.max_inline + 1;
	if (query.max_inline + 1 <= sizeof(data))
		REFUSED(-EMSGSIZE, self->a, entry);
	entry.sge.length = 8;
	entry.sge.mr = self->from.id;
	REFUSED(-EINVAL, self->a, entry);
	entry.sge.mr = 0;
	entry.sge.addr = 16;
	REFUSED(-EFAULT, self->a, entry);
	entry.opcode = KRDMA_OP_READ;
	REFUSED(-EINVAL, self->a, entry);
}

/* Proves: D9 */
TEST_F(operation, silent_ones_say_nothing)
{
	struct krdma_sqe entry;
	struct krdma_cqe cqe;

	/* More of them than the SQ is deep. */
	for (uint64_t i = 0; i < 500; i++) {
		int ret;

		entry = REMOTE(KRDMA_OP_WRITE, i, 0, 8);
		entry.flags = i % 100 == 99 ? 0 : KRDMA_SQE_UNSIGNALED;
		while ((ret = submit(variant->arrays, self->a->ring, &entry, 1)) == -EAGAIN) {
			ring_enter(self->a->ring, 0, 0, 0, NULL);
			sleep_ms(1);
		}
		ASSERT_EQ(0, ret);
	}
	for (int i = 0; i < 5; i++)
		COMPLETED(self->a, KRDMA_OP_WRITE, i * 100 + 99, 8, &cqe);
	EXPECT_EQ(-EAGAIN, ring_take(self->a->ring, &cqe));
}

/* A fenced operation sees the data of earlier reads. */
/* Proves: E4 */
TEST_F(operation, a_fence)
{
	struct krdma_sqe entries[2];
	struct krdma_cqe cqe;

	for (unsigned int round = 0; round < 5; round++) {
		fill(self->to.data, 32768, round);
		memset(self->from.data, 0, 65536);
		entries[0] = sqe_remote(KRDMA_OP_READ, self->a->id, 1, &self->from, 0, 32768,
					&self->to, 0);
		entries[1] = sqe_remote(KRDMA_OP_WRITE, self->a->id, 2, &self->from, 0, 32768,
					&self->to, 65536);
		entries[1].flags = KRDMA_SQE_FENCE;
		/* Together, so that the read is not over when the write is posted. */
		ASSERT_EQ(0, submit(variant->arrays, self->a->ring, entries, 2));
		COMPLETED(self->a, KRDMA_OP_READ, 1, 32768, &cqe);
		COMPLETED(self->a, KRDMA_OP_WRITE, 2, 32768, &cqe);
		EXPECT_TRUE(filled(self->to.data + 65536, 32768, round));
	}
}

/* Proves: E11 */
TEST_F(operation, a_batch_completes_in_its_order)
{
	struct krdma_sqe entries[60];
	struct krdma_cqe cqe;

	for (unsigned int round = 0; round < 5; round++) {
		for (int i = 0; i < 60; i++)
			entries[i] = REMOTE(i % 3 ? KRDMA_OP_WRITE : KRDMA_OP_READ, i, i * 64, 64);
		ASSERT_EQ(0, submit(variant->arrays, self->a->ring, entries, 60));
		for (int i = 0; i < 60; i++)
			COMPLETED(self->a, entries[i].opcode, i, 64, &cqe);
	}
}

/* Receives are posted before the connection is established, because the peer sends at once. */
/* Proves: D6 */
TEST_F(operation, receives_come_before_the_connection)
{
	struct pair pair = {};
	struct krdma_cqe cqe;
	struct krdma_sqe entry;

	ASSERT_EQ(0, pair_begin(&pair, NULL));
	ASSERT_EQ(0, pair_resolve(&pair));
	ASSERT_EQ(0, end_create_qp(&pair.a, NULL));
	SUBMIT(&pair.a, sqe_receive(pair.a.id, 1, NULL, 0, 0));
	REFUSED(-ENOTCONN, &pair.a, sqe_send(pair.a.id, 1, NULL, 0, 0));
	ASSERT_EQ(0, end_connect(&pair.a, NULL));
	ASSERT_EQ(0, listener_next(pair.listener, deadline_in(PATIENCE_MS), &pair.b.conn,
				   &pair.b.id));
	ASSERT_EQ(0, end_create_qp(&pair.b, NULL));
	SUBMIT(&pair.b, sqe_receive(pair.b.id, 2, NULL, 0, 0));
	ASSERT_EQ(0, end_accept(&pair.b, NULL));
	ASSERT_EQ(0, pair_established(&pair));
	entry = sqe_send(pair.b.id, 3, NULL, 0, 0);
	SUBMIT(&pair.b, entry);
	entry = sqe_send(pair.a.id, 4, NULL, 0, 0);
	SUBMIT(&pair.a, entry);
	for (int i = 0; i < 2; i++)
		ASSERT_EQ(0, take(variant->arrays, pair.a.ring, &cqe));
	for (int i = 0; i < 2; i++)
		ASSERT_EQ(0, take(variant->arrays, pair.b.ring, &cqe));
	pair_close(&pair);
}

TEST_HARNESS_MAIN
