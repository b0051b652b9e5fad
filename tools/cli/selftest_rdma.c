// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * krdma selftest: write, read, and their SGEs, flags and order.
 */
#include <errno.h>
#include <string.h>

#include "peer_stop.h"
#include "selftest.h"

static size_t place(size_t number)
{
	return PATTERN_GUARD + number * 11 % 59;
}

static int write_one(struct selftest *test, struct link *link, uint32_t length, size_t number)
{
	uint64_t seed = new_seed(test);
	size_t near = place(number), far = place(number + 7);
	struct krdma_sqe entry = op_remote(test, link, KRDMA_OP_WRITE, near, far, length);

	pattern_fill(near_data(test, near), 0, length, seed);
	try(far_clear(test, FAR_AREA, far, length, seed));
	try(op_do(test, link, &entry, length));
	try(op_flush(test, link, &test->far_area));
	return far_check(test, FAR_AREA, far, length, seed, "write");
}

static int read_one(struct selftest *test, struct link *link, uint32_t length, size_t number)
{
	uint64_t seed = new_seed(test);
	size_t near = place(number), far = place(number + 7);
	struct krdma_sqe entry = op_remote(test, link, KRDMA_OP_READ, near, far, length);

	try(far_fill(test, FAR_AREA, far, length, seed));
	pattern_clear(near_data(test, 0), AREA, near, length, seed);
	try(op_do(test, link, &entry, length));
	return near_check(test, near, length, seed, "read");
}

static int all_sizes(struct selftest *test, struct link *link,
		     int (*one)(struct selftest *, struct link *, uint32_t, size_t))
{
	uint32_t sizes[SIZES_MAX];
	size_t count = message_sizes(test, link, 1 << 20, sizes), i;

	for (i = 0; i < count; i++)
		try(one(test, link, sizes[i], i));
	check_figure(test, "sizes", count);
	check_figure(test, "longest", sizes[count - 1]);
	check_say(test, "%zu sizes from 0 to %u bytes", count, sizes[count - 1]);
	return 0;
}

static int run_write(struct selftest *test)
{
	return all_sizes(test, &test->link, write_one);
}

static int run_read(struct selftest *test)
{
	return all_sizes(test, &test->link, read_one);
}

static int run_write_imm(struct selftest *test)
{
	static const uint32_t sizes[] = { 0, 1, 8, 4096, 65537 };
	struct krdma_sqe entry;
	uint64_t seed;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		seed = new_seed(test);
		pattern_fill(near_data(test, place(i)), 0, sizes[i], seed);
		try(far_clear(test, FAR_AREA, place(i), sizes[i], seed));
		/* The receive has a buffer elsewhere, which must stay unchanged. */
		try(far_clear(test, FAR_AREA, AREA / 2, 4096, seed));
		try(far_receive(test, 0, AREA / 2, 4096, 0, 1, 0));
		entry = op_remote(test, &test->link, KRDMA_OP_WRITE_IMM, place(i), place(i),
				  sizes[i]);
		entry.imm = 0x89abcdef + (uint32_t)i;
		try(op_do(test, &test->link, &entry, sizes[i]));
		try(far_received(test, 0, sizes[i], KRDMA_CQE_IMM | KRDMA_CQE_WRITTEN, entry.imm));
		try(far_check(test, FAR_AREA, place(i), sizes[i], seed, "write with immediate"));
		try(far_check_clear(test, FAR_AREA, AREA / 2, 4096, seed,
				    "the receive of a write with immediate"));
	}
	check_say(test, "%zu sizes, with 32 bits each", ARRAY_SIZE(sizes));
	return 0;
}

/* Build SGEs of the near area in descending order, unaligned and of different lengths. */
static uint32_t lay_out(struct selftest *test, struct krdma_ring_sge *pieces, uint32_t count)
{
	uint32_t total = 0, i;

	for (i = 0; i < count; i++) {
		pieces[i].addr = (uintptr_t)near_data(test, (size_t)(count - 1 - i) * 1031 + 5);
		pieces[i].length = 1 + i * 41 % 880;
		pieces[i].mr = krdma_mr_id(test->area);
		total += pieces[i].length;
	}
	return total;
}

static int pieces_one(struct selftest *test, struct link *link, uint8_t opcode, uint32_t count)
{
	struct krdma_ring_sge pieces[KRDMA_RING_SGES_MAX];
	uint32_t total = lay_out(test, pieces, count), at = 0, i;
	struct krdma_sqe entry = op_remote(test, link, opcode, 0, place(count), 0);
	struct pattern_fault fault = { 0 };
	uint64_t seed = new_seed(test);

	entry.sge_count = (uint16_t)count;
	if (count == 1)
		entry.sge = pieces[0];
	else
		entry.sge.addr = (uintptr_t)pieces;
	if (opcode == KRDMA_OP_READ)
		try(far_fill(test, FAR_AREA, place(count), total, seed));
	else
		try(far_clear(test, FAR_AREA, place(count), total, seed));
	for (i = 0; i < count; at += pieces[i].length, i++) {
		void *data = (void *)(uintptr_t)pieces[i].addr;

		pattern_fill(data, at, pieces[i].length, opcode == KRDMA_OP_READ ? ~seed : seed);
	}
	try(op_do(test, link, &entry, total));
	if (opcode != KRDMA_OP_READ) {
		try(op_flush(test, link, &test->far_area));
		return far_check(test, FAR_AREA, place(count), total, seed,
				 "write of several SGEs");
	}
	for (i = 0, at = 0; i < count; at += pieces[i].length, i++)
		pattern_compare((void *)(uintptr_t)pieces[i].addr, at, pieces[i].length, seed, at,
				&fault);
	if (fault.count)
		return check_fail(test, "read into %u SGEs: %llu bytes are wrong, one at %lld",
				  count, (unsigned long long)fault.count,
				  (long long)fault.offset);
	return 0;
}

/* A work request with more SGEs than the whole SQ takes is refused. */
static int refuse_pieces(struct selftest *test, struct link *link, uint8_t opcode, uint32_t count)
{
	struct krdma_ring_sge pieces[KRDMA_RING_SGES_MAX];
	struct krdma_sqe entry = op_remote(test, link, opcode, 0, 0, 0);

	lay_out(test, pieces, count);
	entry.sge_count = (uint16_t)count;
	entry.sge.addr = (uintptr_t)pieces;
	return op_refused(test, link, &entry, -EMSGSIZE);
}

/* krdma splits a work request with too many SGEs into parts, at most as many as the SQ is deep. */
static int run_pieces(struct selftest *test, uint8_t opcode, uint32_t device)
{
	const uint32_t counts[] = { 1, 2, 3, device, device + 1, 31, 64, KRDMA_RING_SGES_MAX };
	uint64_t most = (uint64_t)device * test->link.is.send_depth;
	size_t i;

	if (most > KRDMA_RING_SGES_MAX)
		most = KRDMA_RING_SGES_MAX;
	for (i = 0; i < ARRAY_SIZE(counts); i++)
		if (counts[i] && counts[i] <= most)
			try(pieces_one(test, &test->link, opcode, counts[i]));
	if (most < KRDMA_RING_SGES_MAX)
		try(refuse_pieces(test, &test->link, opcode, (uint32_t)most + 1));
	check_figure(test, "most", most);
	check_figure(test, "device_sges", device);
	check_say(test, "1 to %u, of which the device takes %u at a time", (unsigned int)most,
		  device);
	return 0;
}

static int run_write_sge(struct selftest *test)
{
	return run_pieces(test, KRDMA_OP_WRITE, test->link.is.max_send_sge);
}

static int run_read_sge(struct selftest *test)
{
	uint32_t most = test->device.max_read_sge;

	return run_pieces(test, KRDMA_OP_READ,
			  most < test->link.is.max_send_sge ? most : test->link.is.max_send_sge);
}

#define UNSIGNALED	500

/* Post more unsignaled writes than the SQ is deep; every hundredth write is signaled. */
static int run_unsignaled(struct selftest *test)
{
	struct link *link = &test->link;
	uint64_t until, signaled[UNSIGNALED / 100];
	struct krdma_sqe entry;
	struct krdma_cqe cqe;
	size_t i, asked = 0;
	int err;

	for (i = 0; i < UNSIGNALED; i++) {
		entry = op_remote(test, link, KRDMA_OP_WRITE, 0, 0, 8);
		entry.flags = i % 100 == 99 ? 0 : KRDMA_SQE_UNSIGNALED;
		until = clock_ns() + test->settings->timeout;
		while ((err = krdma_ring_post(link->ring, &entry, 1, NULL)) == -EAGAIN) {
			if (stop_wanted())
				return -EINTR;
			if (clock_ns() > until)
				return check_fail(test, "unsignaled writes never complete");
			stop_sleep(clock_ns() + 100000);
		}
		if (err)
			return check_errno(test, "post an unsignaled write", err);
		if (!entry.flags)
			signaled[asked++] = entry.wr_id;
	}
	for (i = 0; i < asked; i++) {
		try(op_take(test, link, &cqe));
		if (cqe.status || cqe.wr_id != signaled[i])
			return check_fail(test, "an unsignaled write completes: %s",
					  krdma_wc_status_name(cqe.status));
	}
	check_say(test, "%u writes, of which %zu complete", UNSIGNALED, asked);
	return 0;
}

/* A fenced write sends the data that the read before it has fetched. */
static int run_fence(struct selftest *test)
{
	const uint32_t length = 65536;
	struct krdma_sqe entries[2];
	unsigned int round;
	uint64_t seed;

	for (round = 0; round < 8; round++) {
		seed = new_seed(test);
		try(far_fill(test, FAR_AREA, 64, length, seed));
		try(far_clear(test, FAR_AREA, AREA / 2, length, seed));
		pattern_clear(near_data(test, 0), AREA, 64, length, seed);
		entries[0] = op_remote(test, &test->link, KRDMA_OP_READ, 64, 64, length);
		entries[1] = op_remote(test, &test->link, KRDMA_OP_WRITE, 64, AREA / 2, length);
		entries[1].flags = KRDMA_SQE_FENCE;
		try(op_post(test, &test->link, entries, 2));
		try(op_done(test, &test->link, &entries[0], length));
		try(op_done(test, &test->link, &entries[1], length));
		try(op_flush(test, &test->link, &test->far_area));
		try(far_check(test, FAR_AREA, AREA / 2, length, seed, "a fenced write"));
	}
	check_say(test, "%u times: a write with a fence sends data read before it", round);
	return 0;
}

#define BATCH	60

static int run_order(struct selftest *test)
{
	struct krdma_sqe entries[BATCH];
	unsigned int round, i;

	for (round = 0; round < 8; round++) {
		for (i = 0; i < BATCH; i++)
			entries[i] = op_remote(test, &test->link,
					       i % 3 ? KRDMA_OP_WRITE : KRDMA_OP_READ, i * 64,
					       i * 64, 64);
		try(op_post(test, &test->link, entries, BATCH));
		for (i = 0; i < BATCH; i++)
			try(op_done(test, &test->link, &entries[i], 64));
	}
	check_figure(test, "operations", 8 * BATCH);
	check_say(test, "%u writes and reads in batches of %u complete in their order", 8 * BATCH,
		  BATCH);
	return 0;
}

static int polled_all(struct selftest *test, struct link *link)
{
	static const uint32_t sizes[] = { 0, 8, 4096, 65537 };
	struct krdma_sqe entry;
	uint64_t seed;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		try(write_one(test, link, sizes[i], i));
		try(read_one(test, link, sizes[i], i));
		seed = new_seed(test);
		pattern_fill(near_data(test, place(i)), 0, sizes[i], seed);
		try(far_clear(test, FAR_AREA, place(i), sizes[i], seed));
		try(far_receive(test, link->far, place(i), sizes[i], 0, 1, 0));
		entry = op_send(test, link, place(i), sizes[i]);
		try(op_do(test, link, &entry, sizes[i]));
		try(far_received(test, link->far, sizes[i], 0, 0));
		try(far_check(test, FAR_AREA, place(i), sizes[i], seed, "send"));
	}
	return 0;
}

static int run_polled(struct selftest *test)
{
	const struct link_options options = { .polled = true, .far_flags = FAR_ACCEPT_POLLED };
	struct link link;
	int err = link_open(test, &link, 1, &options);

	if (!err)
		err = polled_all(test, &link);
	if (!err)
		check_say(test, "write, read and send without interrupts");
	link_close(&link);
	return err;
}

/* Measure latency and throughput for the report; any result passes. */
static int run_speed(struct selftest *test)
{
	struct krdma_sqe entry;
	uint64_t begun, elapsed;
	unsigned int i;

	begun = clock_ns();
	for (i = 0; i < 200; i++) {
		entry = op_remote(test, &test->link, KRDMA_OP_READ, 0, 0, 8);
		try(op_do(test, &test->link, &entry, 8));
	}
	elapsed = clock_ns() - begun;
	check_figure(test, "read_8_bytes_ns", elapsed / 200);
	begun = clock_ns();
	for (i = 0; i < 16; i++) {
		entry = op_remote(test, &test->link, KRDMA_OP_WRITE, 0, 0, 1 << 20);
		try(op_post(test, &test->link, &entry, 1));
	}
	for (i = 0; i < 16; i++) {
		struct krdma_cqe cqe;

		try(op_take(test, &test->link, &cqe));
		if (cqe.status)
			return check_fail(test, "write of 1MiB: %s",
					  krdma_wc_status_name(cqe.status));
	}
	begun = clock_ns() - begun;
	check_figure(test, "write_mib_per_second", UINT64_C(16000000000) / (begun ? begun : 1));
	check_say(test, "a read of 8 bytes takes %.1f us; writes of 1MiB: %.0f MiB/s",
		  (double)elapsed / 200000, 16e9 / (double)(begun ? begun : 1));
	return 0;
}

const struct check selftest_rdma_checks[] = {
	{ .name = "write", .run = run_write },
	{ .name = "write-immediate", .caps = KRDMA_DEVICE_CAP_IMM, .run = run_write_imm },
	{ .name = "write-sge", .run = run_write_sge },
	{ .name = "read", .run = run_read },
	{ .name = "read-sge", .run = run_read_sge },
	{ .name = "unsignaled", .run = run_unsignaled },
	{ .name = "fence", .run = run_fence },
	{ .name = "order", .run = run_order },
	{ .name = "polled", .run = run_polled },
	{ .name = "speed", .run = run_speed },
	{ 0 },
};
