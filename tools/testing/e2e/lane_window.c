// SPDX-License-Identifier: GPL-2.0
/*
 * Windows: one-sided operations of lanes that the device carries out.  That they do what those by
 * records do is shown by the same tests for both: operations.c and lane_memory.c.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "child.h"
#include "fabric.h"
#include "lane_pair.h"
#include "pair.h"
#include "rdma_link.h"
#include "session.h"

FIXTURE(lane_window)
{
	/* Two lanes of one trunk. */
	struct pair pair;
	struct pair other;
	struct mr a;
	struct mr b;
};

FIXTURE_SETUP(lane_window)
{
	struct pair_options options = lane_options;

	windows_by_default = true;
	ASSERT_EQ(0, pair_open(&self->pair, &lane_options));
	options.two_sessions = false;
	options.sessions[0] = self->pair.sessions[0];
	options.sessions[1] = self->pair.sessions[1];
	ASSERT_EQ(0, pair_open(&self->other, &options));
	ASSERT_EQ(trunk_of(self->pair.a.conn), trunk_of(self->other.a.conn));
	ASSERT_EQ(0, memory_for_peers(&self->pair, 0, LENGTH, &self->a));
	ASSERT_EQ(0, memory_for_peers(&self->pair, 1, LENGTH, &self->b));
}

FIXTURE_TEARDOWN(lane_window)
{
	windows_by_default = false;
	mr_destroy(&self->a);
	mr_destroy(&self->b);
	pair_close(&self->other);
	pair_close(&self->pair);
}

/* A line of fdinfo with a number, or -1. */
static long long fd_number(int fd, const char *name)
{
	char path[64], line[256], format[64];
	long long number = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	snprintf(format, sizeof(format), "%s:\t%%lld", name);
	file = fopen(path, "re");
	if (!file)
		return -1;
	while (fgets(line, sizeof(line), file) && sscanf(line, format, &number) != 1)
		;
	fclose(file);
	return number;
}

static long long directly(const struct end *end)
{
	return fd_number(end->conn, "sends_direct");
}

/* Posts an entry and returns its status, or a negative errno. */
static int operate(struct end *end, struct krdma_sqe entry)
{
	struct krdma_cqe cqe;
	int ret;

	ret = ring_submit(end->ring, &entry, 1, NULL);
	if (!ret)
		ret = ring_wait(end->ring, &cqe, PATIENCE_MS);
	return ret ?: cqe.status;
}

/* Writes until the device does it: the window is there. */
static int open_window(struct end *end, const struct mr *from, const struct mr *to)
{
	for (int i = 0; i < 1000; i++) {
		int ret = operate(end, sqe_remote(KRDMA_OP_WRITE, end->id, 1, from, 0, 8, to, 0));

		if (ret)
			return ret > 0 ? -EIO : ret;
		if (directly(end) > 0)
			return 0;
	}
	return -ETIMEDOUT;
}

/* The lane that nothing was done to. */
#define EXPECT_OTHER() do {								\
	EXPECT_EQ(KRDMA_CONN_CONNECTED, conn_state(self->other.a.conn));		\
	EXPECT_EQ(KRDMA_WC_SUCCESS,							\
		  pair_operate(&self->other, sqe_remote(KRDMA_OP_READ, self->other.a.id, 1,	\
							&self->a, 0, 8, &self->b, 0)));	\
} while (0)

/* A lane that asks often, or for much, is given one, and then the device writes and reads. */
/* Proves: F17 */
TEST_F(lane_window, the_device_writes_and_reads)
{
	struct end *a = &self->pair.a;
	long long before;

	EXPECT_EQ(0, directly(a));
	EXPECT_EQ(KRDMA_WC_SUCCESS,
		  operate(a, sqe_remote(KRDMA_OP_WRITE, a->id, 1, &self->a, 0, 8, &self->b, 0)));
	EXPECT_EQ(0, directly(a));
	ASSERT_EQ(0, open_window(a, &self->a, &self->b));
	for (unsigned int round = 0; round < 50; round++) {
		size_t length = 1 + round * 7919 % (LENGTH - 64);
		size_t place = round % 64;

		before = directly(a);
		fill(self->a.data + place, length, round);
		memset(self->b.data, 0, LENGTH);
		EXPECT_EQ(KRDMA_WC_SUCCESS,
			  operate(a, sqe_remote(KRDMA_OP_WRITE, a->id, 1, &self->a, place, length,
						&self->b, place)));
		EXPECT_TRUE(zeroed(self->b.data, place));
		EXPECT_TRUE(filled(self->b.data + place, length, round));
		EXPECT_TRUE(zeroed(self->b.data + place + length, LENGTH - place - length));
		memset(self->a.data, 0, LENGTH);
		EXPECT_EQ(KRDMA_WC_SUCCESS,
			  operate(a, sqe_remote(KRDMA_OP_READ, a->id, 1, &self->a, place, length,
						&self->b, place)));
		EXPECT_TRUE(filled(self->a.data + place, length, round));
		EXPECT_EQ(before + 2, directly(a));
	}
	EXPECT_OTHER();
}

/* A window counts in the memory of the session that allows it, as long as it is there. */
/* Proves: F17 */
TEST_F(lane_window, counts_in_its_owners_memory)
{
	long long before = session_memory(self->pair.sessions[1]);
	long long pages = LENGTH / 4096 * 8;
	uint64_t end;

	ASSERT_EQ(0, open_window(&self->pair.a, &self->a, &self->b));
	EXPECT_LE(before + pages, session_memory(self->pair.sessions[1]));
	/* The last lane that has it; a new one is as large. */
	end_close(&self->pair.a);
	end_close(&self->pair.b);
	ASSERT_EQ(0, pair_connect(&self->pair, &lane_options));
	end = now_ms() + PATIENCE_MS;
	while (session_memory(self->pair.sessions[1]) != before && now_ms() < end)
		sleep_ms(10);
	EXPECT_EQ(before, session_memory(self->pair.sessions[1]));
}

/* The side that has accepted writes to the one that has connected, at the same time. */
/* Proves: F17 */
TEST_F(lane_window, both_ways)
{
	struct end *a = &self->pair.a, *b = &self->pair.b;
	struct krdma_cqe cqe;

	ASSERT_EQ(0, open_window(a, &self->a, &self->b));
	ASSERT_EQ(0, open_window(b, &self->b, &self->a));
	for (int round = 0; round < 50; round++) {
		struct krdma_sqe there = sqe_remote(KRDMA_OP_WRITE, a->id, 1, &self->a, 0, 8192,
						    &self->b, 8192);
		struct krdma_sqe back = sqe_remote(KRDMA_OP_WRITE, b->id, 2, &self->b, 0, 8192,
						   &self->a, 8192);

		fill(self->a.data, 8192, round);
		fill(self->b.data, 8192, round + 1);
		ASSERT_EQ(0, ring_submit(a->ring, &there, 1, NULL));
		ASSERT_EQ(0, ring_submit(b->ring, &back, 1, NULL));
		ASSERT_EQ(0, ring_wait(a->ring, &cqe, PATIENCE_MS));
		EXPECT_EQ(KRDMA_WC_SUCCESS, cqe.status);
		ASSERT_EQ(0, ring_wait(b->ring, &cqe, PATIENCE_MS));
		EXPECT_EQ(KRDMA_WC_SUCCESS, cqe.status);
		EXPECT_TRUE(filled(self->b.data + 8192, 8192, round));
		EXPECT_TRUE(filled(self->a.data + 8192, 8192, round + 1));
	}
	EXPECT_LT(50, directly(a));
	EXPECT_LT(50, directly(b));
}

/* Memory that was not registered for that has none. */
/* Proves: F17 */
TEST_F(lane_window, no_window_without_the_flag)
{
	struct end *a = &self->pair.a;
	struct mr mr;

	windows_by_default = false;
	ASSERT_EQ(0, memory_for_peers(&self->pair, 1, LENGTH, &mr));
	for (int i = 0; i < 20; i++)
		EXPECT_EQ(KRDMA_WC_SUCCESS,
			  operate(a, sqe_remote(KRDMA_OP_WRITE, a->id, 1, &self->a, 0, 8192, &mr,
						0)));
	EXPECT_EQ(0, directly(a));
	mr_destroy(&mr);
}

/* What is outside of the window is refused to the lane alone, and does not reach the device. */
/* Proves: F17 */
TEST_F(lane_window, beyond_the_window)
{
	static const struct {
		unsigned int opcode;
		int64_t place;
		uint32_t length;
		uint32_t wrong_key;
	} bad[] = {
		{ KRDMA_OP_WRITE, LENGTH - 7, 8, 0 },
		{ KRDMA_OP_WRITE, -1, 8, 0 },
		{ KRDMA_OP_WRITE, LENGTH, 1, 0 },
		{ KRDMA_OP_READ, LENGTH - 4095, 4096, 0 },
		{ KRDMA_OP_READ, -4096, 4096, 0 },
		{ KRDMA_OP_READ, INT64_MIN, 8, 0 },
		{ KRDMA_OP_WRITE, 0, 8, 0x100 },
		{ KRDMA_OP_READ, 0, 8, 0x1 },
	};
	struct pair_options options = lane_options;

	options.two_sessions = false;
	options.sessions[0] = self->pair.sessions[0];
	options.sessions[1] = self->pair.sessions[1];
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct krdma_sqe entry;
		struct pair pair;
		long long before;

		ASSERT_EQ(0, pair_open(&pair, &options));
		ASSERT_EQ(0, open_window(&pair.a, &self->a, &self->b));
		before = directly(&pair.a);
		memset(self->b.data, 0, LENGTH);
		entry = sqe_remote(bad[i].opcode, pair.a.id, 1, &self->a, 0, bad[i].length,
				   &self->b, 0);
		entry.remote_addr += bad[i].place;
		entry.rkey ^= bad[i].wrong_key;
		EXPECT_EQ(KRDMA_WC_REM_ACCESS_ERR, operate(&pair.a, entry));
		EXPECT_EQ(before, directly(&pair.a));
		EXPECT_TRUE(zeroed(self->b.data, LENGTH));
		pair_close(&pair);
		EXPECT_OTHER();
	}
}

/* A window is of one lane and its session: who guesses the key has none. */
/* Proves: F17 */
TEST_F(lane_window, of_the_lanes_session_alone)
{
	struct pair pair;

	ASSERT_EQ(0, open_window(&self->pair.a, &self->a, &self->b));
	/* Of other sessions, over the same trunk. */
	ASSERT_EQ(0, pair_open(&pair, &lane_options));
	ASSERT_EQ(trunk_of(self->pair.a.conn), trunk_of(pair.a.conn));
	EXPECT_EQ(KRDMA_WC_REM_ACCESS_ERR, ({
		struct mr own;
		struct krdma_sqe entry;
		int status;

		ASSERT_EQ(0, memory_for_peers(&pair, 0, 4096, &own));
		entry = sqe_remote(KRDMA_OP_WRITE, pair.a.id, 1, &own, 0, 4096, &self->b, 0);
		status = operate(&pair.a, entry);
		mr_destroy(&own);
		status;
	}));
	pair_close(&pair);
	EXPECT_OTHER();
}

/* The rights of the window are those of the memory. */
/* Proves: F17 */
TEST_F(lane_window, rights)
{
	struct pair_options options = lane_options;

	options.two_sessions = false;
	options.sessions[0] = self->pair.sessions[0];
	options.sessions[1] = self->pair.sessions[1];
	for (int reads = 0; reads < 2; reads++) {
		uint32_t right = reads ? KRDMA_ACCESS_REMOTE_READ : KRDMA_ACCESS_REMOTE_WRITE;
		unsigned int may = reads ? KRDMA_OP_READ : KRDMA_OP_WRITE;
		unsigned int not = reads ? KRDMA_OP_WRITE : KRDMA_OP_READ;
		struct pair pair;
		struct mr mr;

		ASSERT_EQ(0, pair_open(&pair, &options));
		ASSERT_EQ(0, mr_create_with(pair.sessions[1], pair.device, LENGTH,
					    KRDMA_ACCESS_LOCAL_WRITE | right,
					    KRDMA_MR_REGISTER_LANES, &mr));
		for (int i = 0; i < 1000 && directly(&pair.a) < 3; i++)
			ASSERT_EQ(0, operate(&pair.a, sqe_remote(may, pair.a.id, 1, &self->a, 0,
								 4096, &mr, 0)));
		EXPECT_EQ(3, directly(&pair.a));
		EXPECT_EQ(KRDMA_WC_REM_ACCESS_ERR,
			  operate(&pair.a, sqe_remote(not, pair.a.id, 1, &self->a, 0, 4096, &mr,
						      0)));
		EXPECT_EQ(3, directly(&pair.a));
		mr_destroy(&mr);
		pair_close(&pair);
		EXPECT_OTHER();
	}
}

/* Operations of both ways, in the order in which they were posted. */
/* Proves: F17 */
TEST_F(lane_window, records_and_the_device_in_turn)
{
	struct end *a = &self->pair.a, *b = &self->pair.b;
	struct krdma_cqe cqe;

	ASSERT_EQ(0, open_window(a, &self->a, &self->b));
	for (unsigned int round = 0; round < 100; round++) {
		uint64_t *words = (uint64_t *)self->a.data, *there = (uint64_t *)self->b.data;
		struct krdma_sqe entries[6];

		words[0] = round;
		words[1] = 1000 + round;
		there[0] = 5;
		/* Device, record, device, record, message, device: the last write stays. */
		entries[0] = sqe_remote(KRDMA_OP_WRITE, a->id, 0, &self->a, 0, 8, &self->b, 0);
		entries[1] = sqe_remote(KRDMA_OP_ATOMIC_WRITE, a->id, 1, NULL, 0, 0, &self->b, 0);
		entries[1].operand = round + 7;
		entries[2] = sqe_remote(KRDMA_OP_READ, a->id, 2, &self->a, 24, 8, &self->b, 0);
		entries[3] = sqe_remote(KRDMA_OP_WRITE_IMM, a->id, 3, &self->a, 8, 8, &self->b, 0);
		entries[4] = sqe_send(a->id, 4, NULL, 0, 0);
		entries[5] = sqe_remote(KRDMA_OP_WRITE, a->id, 5, &self->a, 0, 8, &self->b, 0);
		for (int i = 0; i < 2; i++) {
			struct krdma_sqe receive = sqe_receive(b->id, i, NULL, 0, 0);

			ASSERT_EQ(0, ring_submit(b->ring, &receive, 1, NULL));
		}
		ASSERT_EQ(0, ring_submit(a->ring, entries, 6, NULL));
		for (unsigned int i = 0; i < 6; i++) {
			ASSERT_EQ(0, ring_wait(a->ring, &cqe, PATIENCE_MS));
			EXPECT_EQ(i, cqe.wr_id);
			EXPECT_EQ(KRDMA_WC_SUCCESS, cqe.status);
		}
		for (unsigned int i = 0; i < 2; i++) {
			ASSERT_EQ(0, ring_wait(b->ring, &cqe, PATIENCE_MS));
			EXPECT_EQ(i, cqe.wr_id);
			EXPECT_EQ(KRDMA_WC_SUCCESS, cqe.status);
		}
		EXPECT_EQ(round + 7, words[3]);
		EXPECT_EQ(round, there[0]);
	}
}

/* More than the link has places for, of many lanes, with everything checked. */
/* Proves: F17 */
TEST_F(lane_window, more_than_there_are_places)
{
	enum { LANES = 12, EACH = 30, BYTES = 3000 };
	struct pair_options options = lane_options;
	struct pair pairs[LANES];
	struct krdma_cqe cqe;
	struct mr from, to;

	options.two_sessions = false;
	options.sessions[0] = self->pair.sessions[0];
	options.sessions[1] = self->pair.sessions[1];
	ASSERT_EQ(0, memory_for_peers(&self->pair, 0, LANES * EACH * BYTES, &from));
	ASSERT_EQ(0, memory_for_peers(&self->pair, 1, LANES * EACH * BYTES, &to));
	for (int i = 0; i < LANES; i++) {
		ASSERT_EQ(0, pair_open(&pairs[i], &options));
		ASSERT_EQ(0, open_window(&pairs[i].a, &from, &to));
	}
	fill(from.data, from.length, 9);
	for (int n = 0; n < EACH; n++) {
		for (int i = 0; i < LANES; i++) {
			size_t place = (n * LANES + i) * BYTES;
			struct krdma_sqe entry = sqe_remote(KRDMA_OP_WRITE, pairs[i].a.id, n, &from,
							    place, BYTES, &to, place);

			ASSERT_EQ(0, ring_submit(pairs[i].a.ring, &entry, 1, NULL));
		}
	}
	for (int i = 0; i < LANES; i++) {
		for (unsigned int n = 0; n < EACH; n++) {
			ASSERT_EQ(0, ring_wait(pairs[i].a.ring, &cqe, PATIENCE_MS));
			EXPECT_EQ(n, cqe.wr_id);
			EXPECT_EQ(KRDMA_WC_SUCCESS, cqe.status);
		}
		pair_close(&pairs[i]);
	}
	EXPECT_TRUE(filled(to.data, to.length, 9));
	mr_destroy(&from);
	mr_destroy(&to);
}

/* Nothing is written any more when the memory is released, whatever lanes do. */
/* Proves: F17 */
TEST_F(lane_window, released_while_lanes_write)
{
	enum { LANES = 8 };
	struct pair_options options = lane_options;
	struct pair pairs[LANES];
	struct krdma_cqe cqe;
	struct mr mr;

	options.two_sessions = false;
	options.sessions[0] = self->pair.sessions[0];
	options.sessions[1] = self->pair.sessions[1];
	for (int round = 0; round < 10; round++) {
		ASSERT_EQ(0, memory_for_peers(&self->pair, 1, LENGTH, &mr));
		for (int i = 0; i < LANES; i++) {
			ASSERT_EQ(0, pair_open(&pairs[i], &options));
			ASSERT_EQ(0, open_window(&pairs[i].a, &self->a, &mr));
		}
		memset(self->a.data, 1, LENGTH);
		for (int i = 0; i < LANES; i++) {
			struct krdma_sqe entry = sqe_remote(KRDMA_OP_WRITE, pairs[i].a.id, 2,
							    &self->a, 0, LENGTH, &mr, 0);

			for (int n = 0; n < 4; n++)
				ASSERT_EQ(0, ring_submit(pairs[i].a.ring, &entry, 1, NULL));
		}
		ASSERT_EQ(0, mr_deregister(self->pair.sessions[1], mr.id, 0));
		memset(mr.data, 0, LENGTH);
		for (int i = 0; i < LANES; i++) {
			struct krdma_sqe entry = sqe_remote(KRDMA_OP_WRITE, pairs[i].a.id, 3,
							    &self->a, 0, 8, &mr, 0);

			/* The lane may have ended. */
			ring_submit(pairs[i].a.ring, &entry, 1, NULL);
			do {
				ASSERT_EQ(0, ring_wait(pairs[i].a.ring, &cqe, PATIENCE_MS));
			} while (!cqe.status);
			EXPECT_EQ(KRDMA_WC_REM_ACCESS_ERR, cqe.status);
		}
		EXPECT_TRUE(zeroed(mr.data, LENGTH));
		munmap(mr.data, LENGTH);
		for (int i = 0; i < LANES; i++)
			pair_close(&pairs[i]);
		EXPECT_OTHER();
	}
}

/* Of memory that takes several rkeys, each has its own window. */
/* Proves: F17 */
TEST_F(lane_window, of_each_rkey)
{
	struct end *a = &self->pair.a;
	struct krdma_mr_query_args query = { .size = sizeof(query) };
	struct mr from, to;
	uint64_t place = 0;
	long long before;

	ASSERT_EQ(0, lane_memory(&self->pair, 0, LONG_LENGTH, &from));
	ASSERT_EQ(0, memory_for_peers(&self->pair, 1, LONG_LENGTH, &to));
	fill(from.data, LONG_LENGTH, 5);
	while (place < LONG_LENGTH) {
		struct krdma_sqe entry;

		query.id = to.id;
		query.part_offset = place;
		query.part_length = 0;
		ASSERT_EQ(0, session_request(to.session, KRDMA_MR_QUERY, &query));
		entry = sqe_remote(KRDMA_OP_WRITE, a->id, 1, &from, place, query.part_reach, &to,
				   place);
		entry.rkey = query.part_key;
		before = directly(a);
		for (int i = 0; i < 1000 && directly(a) < before + 2; i++) {
			memset(to.data, 0, LONG_LENGTH);
			ASSERT_EQ(KRDMA_WC_SUCCESS, operate(a, entry));
		}
		EXPECT_EQ(before + 2, directly(a));
		EXPECT_TRUE(zeroed(to.data, place));
		EXPECT_EQ(0, memcmp(from.data + place, to.data + place, query.part_reach));
		place += query.part_reach;
		EXPECT_TRUE(zeroed(to.data + place, LONG_LENGTH - place));
	}
	mr_destroy(&from);
	mr_destroy(&to);
	EXPECT_OTHER();
}

/* A host has no key any more when none of its lanes has the window. */
/* Proves: F17 */
TEST_F(lane_window, ends_with_its_last_lane)
{
	struct objects objects;

	ASSERT_EQ(0, open_window(&self->pair.a, &self->a, &self->b));
	ASSERT_EQ(0, open_window(&self->other.a, &self->a, &self->b));
	ASSERT_EQ(0, objects_read(&objects));
	EXPECT_EQ(1, objects_count(&objects, "window"));
	end_close(&self->pair.a);
	end_close(&self->pair.b);
	ASSERT_EQ(0, objects_read(&objects));
	EXPECT_EQ(1, objects_count(&objects, "window"));
	end_close(&self->other.a);
	end_close(&self->other.b);
	/* Before the trunk ends, which has no lane now. */
	EXPECT_EQ(0, objects_await_kind("window", 0, 5000));
}

/* A lane that ends in the midst of what its device does leaves the others alone. */
/* Proves: F17 */
TEST_F(lane_window, closed_in_the_midst)
{
	struct pair_options options = lane_options;

	options.two_sessions = false;
	options.sessions[0] = self->pair.sessions[0];
	options.sessions[1] = self->pair.sessions[1];
	for (int round = 0; round < 20; round++) {
		struct krdma_sqe entry;
		struct pair pair;

		ASSERT_EQ(0, pair_open(&pair, &options));
		ASSERT_EQ(0, open_window(&pair.a, &self->a, &self->b));
		entry = sqe_remote(round % 4 < 2 ? KRDMA_OP_WRITE : KRDMA_OP_READ, pair.a.id, 1,
				   &self->a, 0, LENGTH, &self->b, 0);
		for (int i = 0; i < 4; i++)
			ASSERT_EQ(0, ring_submit(pair.a.ring, &entry, 1, NULL));
		/* By this side, or by the other one. */
		close(round % 2 ? pair.a.conn : pair.b.conn);
		if (round % 2)
			pair.a.conn = -1;
		else
			pair.b.conn = -1;
		pair_close(&pair);
		EXPECT_OTHER();
	}
}

struct writer {
	const struct pair_options *options;
	struct mr *to;
	int ready;
};

static int write_for_ever(void *context)
{
	const struct writer *writer = context;
	struct krdma_cqe cqe;
	struct pair pair;
	struct mr from;

	CHECK(!pair_open(&pair, writer->options));
	CHECK(!memory_for_peers(&pair, 0, LENGTH, &from));
	CHECK(!open_window(&pair.a, &from, writer->to));
	CHECK(write(writer->ready, "", 1) == 1);
	for (unsigned int round = 1;; round++) {
		struct krdma_sqe entry = sqe_remote(KRDMA_OP_WRITE, pair.a.id, 1, &from, 0, LENGTH,
						    writer->to, 0);

		CHECK(!ring_submit(pair.a.ring, &entry, 1, NULL));
		CHECK(!ring_submit(pair.a.ring, &entry, 1, NULL));
		/* Virtual time does not go on while a processor is busy. */
		if (!(round % 64))
			usleep(100);
		CHECK(!ring_wait(pair.a.ring, &cqe, PATIENCE_MS));
		CHECK(!ring_wait(pair.a.ring, &cqe, PATIENCE_MS));
	}
	return 0;
}

/* Proves: F17 */
TEST_F(lane_window, the_writer_is_killed)
{
	struct pair_options options = lane_options;
	struct writer writer = { .options = &options, .to = &self->b };
	int channel[2];
	char byte;

	options.two_sessions = false;
	options.sessions[0] = self->pair.sessions[0];
	options.sessions[1] = self->pair.sessions[1];
	for (int round = 0; round < 5; round++) {
		pid_t pid;

		ASSERT_EQ(0, pipe(channel));
		writer.ready = channel[1];
		pid = child_start(write_for_ever, &writer);
		ASSERT_LT(0, pid);
		ASSERT_EQ(1, read(channel[0], &byte, 1));
		close(channel[0]);
		close(channel[1]);
		usleep(1000 * round);
		kill(pid, SIGKILL);
		ASSERT_EQ(pid, waitpid(pid, NULL, 0));
		EXPECT_OTHER();
	}
}

/* Devices go while lanes write with windows, in both directions. */
/* Proves: F17 */
TEST_F(lane_window, the_device_is_removed)
{
	struct pair_options options = lane_options;
	struct krdma_device_query_args device;
	struct mr from, to;
	struct pair pair;

	options.address = FABRIC_ADDRESS;
	for (int round = 0; round < 3; round++) {
		ASSERT_EQ(0, fabric_create());
		ASSERT_EQ(0, pair_open(&pair, &options));
		ASSERT_NE(0, trunk_of(pair.a.conn));
		ASSERT_EQ(0, session_named(pair.sessions[0], FABRIC_DEVICE, &device));
		pair.device = device.id;
		ASSERT_EQ(0, memory_for_peers(&pair, 0, LENGTH, &from));
		ASSERT_EQ(0, memory_for_peers(&pair, 1, LENGTH, &to));
		ASSERT_EQ(0, open_window(&pair.a, &from, &to));
		ASSERT_EQ(0, open_window(&pair.b, &to, &from));
		for (int i = 0; i < 4; i++) {
			struct krdma_sqe there = sqe_remote(KRDMA_OP_WRITE, pair.a.id, 2, &from, 0,
							    LENGTH, &to, 0);
			struct krdma_sqe back = sqe_remote(KRDMA_OP_READ, pair.b.id, 2, &to, 0,
							   LENGTH, &from, 0);

			ASSERT_EQ(0, ring_submit(pair.a.ring, &there, 1, NULL));
			ASSERT_EQ(0, ring_submit(pair.b.ring, &back, 1, NULL));
		}
		ASSERT_EQ(0, rdma_link_remove(FABRIC_DEVICE));
		EXPECT_EQ(0, objects_await_kind("window", 0, PATIENCE_MS));
		EXPECT_LT(KRDMA_CONN_CONNECTED, conn_state(pair.a.conn));
		EXPECT_LT(KRDMA_CONN_CONNECTED, conn_state(pair.b.conn));
		mr_destroy(&from);
		mr_destroy(&to);
		pair_close(&pair);
		fabric_destroy();
	}
}

/* Proves: F17 */
TEST_F(lane_window, needs_the_other_flag)
{
	char *data = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct mr mr;

	windows_by_default = false;
	EXPECT_EQ(-EINVAL, mr_register_with(self->pair.sessions[0], self->pair.device, data, 4096,
					    KRDMA_ACCESS_REMOTE_READ, KRDMA_MR_REGISTER_WINDOWS,
					    &mr));
	munmap(data, 4096);
}

TEST_HARNESS_MAIN
