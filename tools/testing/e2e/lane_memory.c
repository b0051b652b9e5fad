// SPDX-License-Identifier: GPL-2.0
/*
 * One-sided operations of lanes: what differs from plain connections.  That the rest does not is
 * tested by the same tests for both: operations.c, refusals.c and reach.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "child.h"
#include "lane_pair.h"
#include "pair.h"
#include "session.h"

#define LANES		KRDMA_MR_REGISTER_LANES

FIXTURE(lane_memory)
{
	/* Another lane of the same trunk. */
	struct pair pair;
	struct pair other;
	struct mr a;
	struct mr b;
};

/* With windows, the device does what suits it. */
FIXTURE_VARIANT(lane_memory)
{
	bool windows;
};

/* clang-format off */

FIXTURE_VARIANT_ADD(lane_memory, by_records) {};
FIXTURE_VARIANT_ADD(lane_memory, with_windows) { .windows = true };

/* clang-format on */

FIXTURE_SETUP(lane_memory)
{
	struct pair_options options = lane_options;

	windows_by_default = variant->windows;

	ASSERT_EQ(0, pair_open(&self->pair, &lane_options));
	options.two_sessions = false;
	options.sessions[0] = self->pair.sessions[0];
	options.sessions[1] = self->pair.sessions[1];
	ASSERT_EQ(0, pair_open(&self->other, &options));
	ASSERT_NE(0, trunk_of(self->pair.a.conn));
	ASSERT_EQ(trunk_of(self->pair.a.conn), trunk_of(self->other.a.conn));
	ASSERT_EQ(0, memory_for_peers(&self->pair, 0, LENGTH, &self->a));
	ASSERT_EQ(0, memory_for_peers(&self->pair, 1, LENGTH, &self->b));
}

FIXTURE_TEARDOWN(lane_memory)
{
	windows_by_default = false;
	mr_destroy(&self->a);
	mr_destroy(&self->b);
	pair_close(&self->other);
	pair_close(&self->pair);
}

#define POST(end, entry) do {								\
	const struct krdma_sqe posted = (entry);					\
											\
	ASSERT_EQ(0, ring_submit((end)->ring, &posted, 1, NULL));			\
} while (0)

#define TAKE(end, number, result) do {							\
	struct krdma_cqe taken;								\
											\
	ASSERT_EQ(0, ring_wait((end)->ring, &taken, PATIENCE_MS));			\
	EXPECT_EQ((uint64_t)(number), taken.wr_id);					\
	EXPECT_EQ(result, taken.status);						\
} while (0)

/* The lane that nothing was done to. */
#define EXPECT_OTHER() do {								\
	EXPECT_EQ(KRDMA_CONN_CONNECTED, conn_state(self->other.a.conn));		\
	EXPECT_EQ(KRDMA_WC_SUCCESS,							\
		  pair_operate(&self->other, sqe_remote(KRDMA_OP_READ, self->other.a.id, 1,	\
							&self->a, 0, 8, &self->b, 0)));	\
} while (0)

/* More at a time than a lane has in flight. */
/* Proves: F14 */
TEST_F(lane_memory, reads_wait_for_their_turn)
{
	struct end *a = &self->pair.a;
	struct krdma_conn_query_args query;
	struct krdma_sqe entries[60];

	ASSERT_EQ(0, conn_query(a->conn, NULL, 0, &query));
	EXPECT_LE(1, query.read_depth);
	EXPECT_GE(8, query.read_depth);
	EXPECT_GE(8, query.read_depth_in);
	fill(self->b.data, LENGTH, 3);
	for (int i = 0; i < 60; i++)
		entries[i] = sqe_remote(KRDMA_OP_READ, a->id, i, &self->a, i * 4096, 4000, &self->b,
					i * 4096);
	ASSERT_EQ(0, ring_submit(a->ring, entries, 60, NULL));
	for (int i = 0; i < 60; i++)
		TAKE(a, i, KRDMA_WC_SUCCESS);
	for (int i = 0; i < 60; i++)
		EXPECT_EQ(0, memcmp(self->a.data + i * 4096, self->b.data + i * 4096, 4000));
}

/* What a peer reads after a message was written before the message was sent. */
/* Proves: F14 */
TEST_F(lane_memory, a_message_comes_after_the_writes_before_it)
{
	struct end *a = &self->pair.a, *b = &self->pair.b;

	for (unsigned int round = 0; round < 100; round++) {
		size_t length = 1 + round * 1031 % (LENGTH / 2);
		struct krdma_sqe entry = sqe_send(a->id, 2, NULL, 0, 0);

		fill(self->a.data, length, round);
		POST(b, sqe_receive(b->id, 3, NULL, 0, 0));
		POST(a, sqe_remote(KRDMA_OP_WRITE, a->id, 1, &self->a, 0, length, &self->b, 0));
		POST(a, entry);
		TAKE(b, 3, KRDMA_WC_SUCCESS);
		EXPECT_TRUE(filled(self->b.data, length, round));
		TAKE(a, 1, KRDMA_WC_SUCCESS);
		TAKE(a, 2, KRDMA_WC_SUCCESS);
	}
}

/* Many at a time, of all kinds, and only the last one says that it is done. */
/* Proves: F14 */
TEST_F(lane_memory, a_deep_queue)
{
	struct pair_options options = lane_options;
	static struct krdma_sqe entries[2000];
	struct pair pair;

	options.two_sessions = false;
	options.sessions[0] = self->pair.sessions[0];
	options.sessions[1] = self->pair.sessions[1];
	options.a.send_depth = 2000;
	options.a.ring_options.cq_entries = 4096;
	ASSERT_EQ(0, pair_open(&pair, &options));
	fill(self->a.data, LENGTH, 1);
	for (int i = 0; i < 2000; i++) {
		entries[i] = sqe_remote(KRDMA_OP_WRITE, pair.a.id, i, &self->a, i, 8, &self->b, i);
		/* Later, only the answers to writes have the next ones sent. */
		if (i < 1000 && i % 100 == 0)
			entries[i] = sqe_remote(KRDMA_OP_READ, pair.a.id, i, &self->a, LENGTH / 2,
						LENGTH / 4, &self->b, LENGTH / 2);
		entries[i].flags = i < 1999 ? KRDMA_SQE_UNSIGNALED : 0;
	}
	for (int i = 0; i < 2000; i += 500)
		ASSERT_EQ(0, ring_post(pair.a.ring->fd, entries + i, 500, NULL));
	TAKE(&pair.a, 1999, KRDMA_WC_SUCCESS);
	EXPECT_EQ(0, memcmp(self->a.data + 1, self->b.data + 1, 99));
	EXPECT_EQ(0, memcmp(self->a.data + 1901, self->b.data + 1901, 106));
	pair_close(&pair);
}

/* What a peer reads without end does not keep this side from sending. */
/* Proves: F14 */
TEST_F(lane_memory, a_message_passes_what_is_read)
{
	struct end *a = &self->pair.a, *b = &self->pair.b;
	struct krdma_sqe entry = sqe_remote(KRDMA_OP_READ, a->id, 1, &self->a, 0, LENGTH, &self->b,
					    0);
	bool received = false;
	struct krdma_cqe cqe;
	int reads;

	POST(a, sqe_receive(a->id, 2, NULL, 0, 0));
	for (reads = 0; reads < 16; reads++)
		POST(a, entry);
	POST(b, sqe_send(b->id, 3, NULL, 0, 0));
	while (!received && reads < 400) {
		ASSERT_EQ(0, ring_wait(a->ring, &cqe, PATIENCE_MS));
		ASSERT_EQ(0, cqe.status);
		received = cqe.wr_id == 2;
		reads++;
		POST(a, entry);
	}
	EXPECT_TRUE(received);
	TAKE(b, 3, KRDMA_WC_SUCCESS);
}

/* A write with immediate data takes a receive, and waits until there is one. */
/* Proves: F14 */
TEST_F(lane_memory, a_write_with_immediate_data_waits_for_a_receive)
{
	struct end *a = &self->pair.a, *b = &self->pair.b;
	struct krdma_sqe entry = sqe_remote(KRDMA_OP_WRITE_IMM, a->id, 1, &self->a, 0, 9000,
					    &self->b, 0);
	struct krdma_cqe cqe;

	fill(self->a.data, 9000, 1);
	entry.imm = 99;
	POST(a, entry);
	POST(a, sqe_send(a->id, 2, &self->a, 0, 10));
	EXPECT_EQ(-ETIMEDOUT, ring_wait(a->ring, &cqe, 50));
	EXPECT_TRUE(zeroed(self->b.data, 9000));
	POST(b, sqe_receive(b->id, 5, NULL, 0, 0));
	ASSERT_EQ(0, ring_wait(b->ring, &cqe, PATIENCE_MS));
	EXPECT_EQ(KRDMA_CQE_IMM | KRDMA_CQE_WRITTEN, cqe.flags);
	EXPECT_EQ(99, cqe.imm);
	EXPECT_EQ(9000, cqe.length);
	EXPECT_TRUE(filled(self->b.data, 9000, 1));
	TAKE(a, 1, KRDMA_WC_SUCCESS);
	POST(b, sqe_receive(b->id, 6, &self->b, 16384, 10));
	TAKE(b, 6, KRDMA_WC_SUCCESS);
	TAKE(a, 2, KRDMA_WC_SUCCESS);
}

/* A side that closes has told which writes it has carried out. */
/* Proves: F14 */
TEST_F(lane_memory, what_was_written_is_known_when_the_peer_closes)
{
	for (int round = 0; round < 50; round++) {
		struct krdma_sqe entry;
		struct pair pair;

		ASSERT_EQ(0, pair_open(&pair, &(struct pair_options) {
			.sessions = { self->pair.sessions[0], self->pair.sessions[1] },
			.listen_flags = KRDMA_LISTEN_LANES,
			.a.create_flags = KRDMA_CONN_CREATE_LANE }));
		entry = sqe_remote(KRDMA_OP_WRITE_IMM, pair.a.id, 1, &self->a, 0, 100 * round,
				   &self->b, 0);
		POST(&pair.b, sqe_receive(pair.b.id, 5, NULL, 0, 0));
		POST(&pair.a, entry);
		TAKE(&pair.b, 5, KRDMA_WC_SUCCESS);
		close(pair.b.conn);
		pair.b.conn = -1;
		TAKE(&pair.a, 1, KRDMA_WC_SUCCESS);
		pair_close(&pair);
	}
}

/*
 * Refused requests
 */

/* What comes before a refused request is done, what comes after it is not, and no lane notices. */
/* Proves: F14 */
TEST_F(lane_memory, a_refused_request_ends_its_lane_alone)
{
	struct krdma_sqe entries[8];
	struct end *a = &self->pair.a;
	uint64_t *word = (uint64_t *)(self->b.data + 8192);
	bool atomics = device_has_atomics(self->pair.sessions[0], self->pair.device);

	fill(self->b.data, LENGTH, 2);
	*word = 7;
	fill(self->a.data, 1024, 1);
	/* The longest first: it has not been sent when the refused one arrives. */
	entries[0] = sqe_remote(KRDMA_OP_READ, a->id, 0, &self->a, 65536, LENGTH - 65536, &self->b,
				65536);
	entries[1] = sqe_remote(KRDMA_OP_WRITE, a->id, 1, &self->a, 0, 1024, &self->b, 0);
	entries[2] = sqe_remote(atomics ? KRDMA_OP_FETCH_ADD : KRDMA_OP_READ, a->id, 2, &self->a,
				2048, 8, &self->b, 8192);
	entries[2].operand = atomics ? 5 : 0;
	entries[3] = sqe_remote(KRDMA_OP_READ, a->id, 3, &self->a, 4096, 512, &self->b, 0);
	entries[4] = sqe_remote(KRDMA_OP_WRITE, a->id, 4, &self->a, 0, 64, &self->b, LENGTH - 63);
	entries[5] = sqe_remote(KRDMA_OP_WRITE, a->id, 5, &self->a, 0, 64, &self->b, 16384);
	entries[6] = sqe_remote(KRDMA_OP_READ, a->id, 6, &self->a, 8192, 64, &self->b, 0);
	entries[7] = sqe_send(a->id, 7, &self->a, 0, 64);
	ASSERT_EQ(0, ring_submit(a->ring, entries, 8, NULL));
	for (int i = 0; i < 4; i++)
		TAKE(a, i, KRDMA_WC_SUCCESS);
	TAKE(a, 4, KRDMA_WC_REM_ACCESS_ERR);
	for (int i = 5; i < 8; i++)
		TAKE(a, i, KRDMA_WC_WR_FLUSH_ERR);

	EXPECT_EQ(0, memcmp(self->a.data + 65536, self->b.data + 65536, LENGTH - 65536));
	EXPECT_TRUE(filled(self->b.data, 1024, 1));
	EXPECT_TRUE(filled(self->a.data + 4096, 512, 1));
	EXPECT_EQ(7, *(uint64_t *)(self->a.data + 2048));
	EXPECT_EQ(atomics ? 12 : 7, *word);
	EXPECT_TRUE(zeroed(self->a.data + 8192, 64));
	*word = 0;
	fill(self->a.data, LENGTH, 2);
	EXPECT_EQ(0, memcmp(self->b.data + 16384, self->a.data + 16384, 64));
	EXPECT_EQ(0, memcmp(self->b.data + LENGTH - 63, self->a.data + LENGTH - 63, 63));
	EXPECT_EQ(0, conn_await_closed(a->conn, PATIENCE_MS));
	EXPECT_EQ(0, conn_await_closed(self->pair.b.conn, PATIENCE_MS));
	EXPECT_OTHER();
}

/* So it is with a message that is too long. */
/* Proves: F14 */
TEST_F(lane_memory, a_message_that_is_too_long_comes_after_what_is_read)
{
	struct end *a = &self->pair.a, *b = &self->pair.b;
	struct krdma_sqe entries[3];

	fill(self->b.data, LENGTH, 1);
	POST(b, sqe_receive(b->id, 9, NULL, 0, 0));
	entries[0] = sqe_remote(KRDMA_OP_READ, a->id, 0, &self->a, 0, LENGTH - 64, &self->b, 0);
	entries[1] = sqe_send(a->id, 1, &self->a, LENGTH - 64, 1);
	entries[2] = sqe_remote(KRDMA_OP_WRITE, a->id, 2, &self->a, LENGTH - 64, 64, &self->b, 0);
	ASSERT_EQ(0, ring_submit(a->ring, entries, 3, NULL));
	TAKE(b, 9, KRDMA_WC_LOC_LEN_ERR);
	TAKE(a, 0, KRDMA_WC_SUCCESS);
	/* It has arrived. */
	TAKE(a, 1, KRDMA_WC_SUCCESS);
	TAKE(a, 2, KRDMA_WC_WR_FLUSH_ERR);
	EXPECT_TRUE(filled(self->a.data, LENGTH - 64, 1));
	EXPECT_TRUE(filled(self->b.data, LENGTH, 1));
	EXPECT_OTHER();
}

/* Memory that was registered for plain connections. */
/* Proves: F14 */
TEST_F(lane_memory, other_memory_is_not_reached)
{
	struct end *a = &self->pair.a;
	struct mr mr;

	ASSERT_EQ(0, mr_create(self->pair.sessions[1], self->pair.device, LENGTH, ACCESS_ALL, &mr));
	fill(self->a.data, 64, 1);
	POST(a, sqe_remote(KRDMA_OP_WRITE, a->id, 1, &self->a, 0, 64, &mr, 0));
	TAKE(a, 1, KRDMA_WC_REM_ACCESS_ERR);
	EXPECT_TRUE(zeroed(mr.data, LENGTH));
	EXPECT_OTHER();
	mr_destroy(&mr);
}

/* The same key serves lanes and plain connections. */
/* Proves: F14 */
TEST_F(lane_memory, one_key_for_both_kinds)
{
	struct pair plain;

	ASSERT_EQ(0, pair_open(&plain, &(struct pair_options) {
		.sessions = { self->pair.sessions[0], self->pair.sessions[1] } }));
	ASSERT_EQ(0, trunk_of(plain.a.conn));
	fill(self->a.data, LENGTH, 1);
	EXPECT_EQ(KRDMA_WC_SUCCESS, pair_write(&plain, &self->a, &self->b));
	EXPECT_TRUE(filled(self->b.data, LENGTH, 1));
	fill(self->a.data, LENGTH, 2);
	EXPECT_EQ(KRDMA_WC_SUCCESS, pair_write(&self->pair, &self->a, &self->b));
	EXPECT_TRUE(filled(self->b.data, LENGTH, 2));
	pair_close(&plain);
}

/* Each key of an MR that has several covers its part. */
/* Proves: F14 */
TEST_F(lane_memory, a_key_covers_its_part)
{
	struct krdma_mr_query_args query = { .size = sizeof(query) };
	struct end *a = &self->pair.a;
	struct krdma_sqe entry;
	struct mr mr;

	ASSERT_EQ(0, memory_for_peers(&self->pair, 1, LONG_LENGTH, &mr));
	query.id = mr.id;
	query.part_offset = LONG_LENGTH - 4096;
	ASSERT_EQ(0, session_request(self->pair.sessions[1], KRDMA_MR_QUERY, &query));
	fill(self->a.data, 4096, 1);
	entry = sqe_remote(KRDMA_OP_WRITE, a->id, 1, &self->a, 0, 4096, &mr, LONG_LENGTH - 4096);
	entry.rkey = query.part_key;
	POST(a, entry);
	TAKE(a, 1, KRDMA_WC_SUCCESS);
	EXPECT_TRUE(filled(mr.data + LONG_LENGTH - 4096, 4096, 1));
	if (query.key_count > 1) {
		query.part_offset = 0;
		ASSERT_EQ(0, session_request(self->pair.sessions[1], KRDMA_MR_QUERY, &query));
		entry.rkey = query.part_key;
		entry.wr_id = 2;
		entry.remote_addr = mr.remote_addr + query.part_reach - 4096;
		POST(a, entry);
		TAKE(a, 2, KRDMA_WC_SUCCESS);
		EXPECT_TRUE(filled(mr.data + query.part_reach - 4096, 4096, 1));
		/* The next part has another one. */
		entry.wr_id = 3;
		entry.remote_addr += 4096;
		POST(a, entry);
		TAKE(a, 3, KRDMA_WC_REM_ACCESS_ERR);
		EXPECT_TRUE(zeroed(mr.data + query.part_reach, 8192));
	}
	EXPECT_OTHER();
	mr_destroy(&mr);
}

/*
 * The end of memory
 */

/* A peer keeps nobody from releasing memory, and nothing of it is written afterwards. */
/* Proves: F14 */
TEST_F(lane_memory, released_while_a_peer_writes_and_reads)
{
	for (int round = 0; round < 20; round++) {
		struct krdma_sqe write, read;
		struct krdma_cqe cqe;
		struct pair pair;
		struct mr mr;

		ASSERT_EQ(0, pair_open(&pair, &(struct pair_options) {
			.sessions = { self->pair.sessions[0], self->pair.sessions[1] },
			.listen_flags = KRDMA_LISTEN_LANES,
			.a.create_flags = KRDMA_CONN_CREATE_LANE }));
		ASSERT_EQ(0, memory_for_peers(&pair, 1, LENGTH, &mr));
		write = sqe_remote(KRDMA_OP_WRITE, pair.a.id, 1, &self->a, 0, LENGTH, &mr, 0);
		read = sqe_remote(KRDMA_OP_READ, pair.a.id, 2, &self->b, 0, LENGTH, &mr, 0);
		read.sge.mr = self->a.id;
		read.sge.addr = (uintptr_t)self->a.data;
		fill(self->a.data, LENGTH, 1);
		for (int i = 0; i < 5; i++)
			POST(&pair.a, round % 2 ? read : write);
		if (round % 4 < 2)
			ASSERT_EQ(0, ring_wait(pair.a.ring, &cqe, PATIENCE_MS));
		/* There is no work request of this side. */
		ASSERT_EQ(0, mr_deregister(pair.sessions[1], mr.id, 0));
		memset(mr.data, 0, LENGTH);
		/* All may have been done.  The lane may have ended, too. */
		ring_submit(pair.a.ring, &write, 1, NULL);
		do {
			ASSERT_EQ(0, ring_wait(pair.a.ring, &cqe, PATIENCE_MS));
		} while (!cqe.status && cqe.wr_id);
		EXPECT_EQ(KRDMA_WC_REM_ACCESS_ERR, cqe.status);
		EXPECT_TRUE(zeroed(mr.data, LENGTH));
		munmap(mr.data, LENGTH);
		pair_close(&pair);
		EXPECT_OTHER();
	}
}

/* Another process registers the memory, and has no lane. */
struct owner {
	const struct pair *pair;
	struct mr *mr;
	int ready;
};

static int own_memory(void *context)
{
	const struct owner *owner = context;

	CHECK(!mr_create_with(owner->pair->sessions[1], owner->pair->device, LENGTH, ACCESS_ALL,
			      LANES, owner->mr));
	CHECK(write(owner->ready, "", 1) == 1);
	return pause();
}

/* Proves: F14 */
TEST_F(lane_memory, the_owner_is_killed)
{
	struct mr *mr = mmap(NULL, sizeof(*mr), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			     -1, 0);
	struct owner owner = { .pair = &self->pair, .mr = mr };
	struct end *a = &self->pair.a;
	int channel[2];
	pid_t pid;
	char byte;

	ASSERT_NE(MAP_FAILED, mr);
	ASSERT_EQ(0, pipe2(channel, O_CLOEXEC));
	owner.ready = channel[1];
	pid = child_start(own_memory, &owner);
	ASSERT_LT(0, pid);
	close(channel[1]);
	ASSERT_EQ(1, read(channel[0], &byte, 1));
	POST(a, sqe_remote(KRDMA_OP_WRITE, a->id, 1, &self->a, 0, 64, mr, 0));
	TAKE(a, 1, KRDMA_WC_SUCCESS);
	EXPECT_LE(0, child_kill(pid));
	POST(a, sqe_remote(KRDMA_OP_READ, a->id, 2, &self->a, 0, 64, mr, 0));
	TAKE(a, 2, KRDMA_WC_REM_ACCESS_ERR);
	EXPECT_OTHER();
	close(channel[0]);
	munmap(mr, sizeof(*mr));
}

/*
 * Atomics
 */

#define ADDS	500

struct adder {
	struct pair *pair;
	struct krdma_sqe entry;
	int ret;
};

static void *add(void *context)
{
	struct adder *adder = context;

	for (int i = 0; i < ADDS && !adder->ret; i++)
		adder->ret = pair_operate(adder->pair, adder->entry);
	return NULL;
}

/* Two lanes and a processor add to the same word. */
/* Proves: F14 */
TEST_F(lane_memory, atomics_of_several)
{
	struct pair *pairs[] = { &self->pair, &self->other };
	uint64_t *word = (uint64_t *)self->b.data;
	struct adder adders[2] = {};
	pthread_t threads[2];

	if (!device_has_atomics(self->pair.sessions[0], self->pair.device))
		SKIP(return, "no MR has the right for atomics");
	for (int i = 0; i < 2; i++) {
		adders[i].pair = pairs[i];
		adders[i].entry = sqe_remote(KRDMA_OP_FETCH_ADD, pairs[i]->a.id, 1, &self->a,
					     i * 8, 8, &self->b, 0);
		adders[i].entry.operand = 1 + i * 1000;
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, add, &adders[i]));
	}
	for (int i = 0; i < 1000 * ADDS; i++)
		__atomic_fetch_add(word, 1000000, __ATOMIC_RELAXED);
	for (int i = 0; i < 2; i++) {
		pthread_join(threads[i], NULL);
		EXPECT_EQ(0, adders[i].ret);
	}
	EXPECT_EQ(ADDS * 1002ULL + 1000ULL * ADDS * 1000000, *word);
}

/* An address that is not aligned is refused by this side. */
/* Proves: F14 */
TEST_F(lane_memory, atomics_compare)
{
	struct end *a = &self->pair.a;
	uint64_t *mine = (uint64_t *)self->a.data;
	uint64_t *theirs = (uint64_t *)(self->b.data + 4088);
	struct krdma_sqe entry = sqe_remote(KRDMA_OP_COMPARE_SWAP, a->id, 1, &self->a, 0, 8,
					    &self->b, 4088);

	if (!device_has_atomics(a->session, self->pair.device))
		SKIP(return, "no MR has the right for atomics");
	*theirs = 0x8877665544332211;
	entry.operand = 0x8877665544332212;
	entry.swap = 1;
	POST(a, entry);
	TAKE(a, 1, KRDMA_WC_SUCCESS);
	EXPECT_EQ(0x8877665544332211, *mine);
	EXPECT_EQ(0x8877665544332211, *theirs);
	entry.operand--;
	POST(a, entry);
	TAKE(a, 1, KRDMA_WC_SUCCESS);
	EXPECT_EQ(0x8877665544332211, *mine);
	EXPECT_EQ(1, *theirs);
	entry.remote_addr++;
	EXPECT_EQ(-EINVAL, ring_submit(a->ring, &entry, 1, NULL));
}

TEST_HARNESS_MAIN
