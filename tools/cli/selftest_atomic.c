// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * krdma selftest: atomics, atomic write and flush.
 */
#include <errno.h>
#include <string.h>

#include "selftest.h"

/* Offsets of the far end's 8 bytes, and of the local buffer for the value read from there. */
#define FAR_AT	128
#define NEAR_AT	64

static int expect_far(struct selftest *test, uint64_t expected, const char *what)
{
	uint64_t value;

	try(far_peek(test, FAR_AT, &value));
	if (value != expected)
		return check_fail(test, "%s: memory has %#llx instead of %#llx", what,
				  (unsigned long long)value, (unsigned long long)expected);
	return 0;
}

static int expect_near(struct selftest *test, uint64_t expected, const char *what)
{
	uint64_t value;

	memcpy(&value, near_data(test, NEAR_AT), sizeof(value));
	if (value != expected)
		return check_fail(test, "%s returns %#llx instead of %#llx", what,
				  (unsigned long long)value, (unsigned long long)expected);
	return 0;
}

static int compare_swap(struct selftest *test, uint64_t before, uint64_t compare, uint64_t swap)
{
	struct krdma_sqe entry = krdma_entry_compare_swap(test->link.conn, op_wr_id(test),
							  test->area, NEAR_AT, &test->far_area,
							  FAR_AT, compare, swap);

	memset(near_data(test, NEAR_AT), 0xee, 8);
	try(far_poke(test, FAR_AT, before));
	try(op_do(test, &test->link, &entry, 8));
	try(expect_near(test, before, "compare and swap"));
	return expect_far(test, before == compare ? swap : before, "compare and swap");
}

/* Check that an atomic at an unaligned address, or of other than 8 bytes, is refused. */
static int refuse_odd(struct selftest *test, uint8_t opcode)
{
	struct krdma_sqe entry = op_remote(test, &test->link, opcode, NEAR_AT, FAR_AT + 4, 8);

	try(op_refused(test, &test->link, &entry, -EINVAL));
	entry = op_remote(test, &test->link, opcode, NEAR_AT, FAR_AT, 16);
	return op_refused(test, &test->link, &entry, -EINVAL);
}

static int run_compare_swap(struct selftest *test)
{
	const uint64_t value = UINT64_C(0x1122334455667788);

	try(compare_swap(test, value, value, 5));
	try(compare_swap(test, value, value ^ 1, 5));
	try(compare_swap(test, value, value ^ UINT64_C(1) << 63, 5));
	try(compare_swap(test, 0, 0, UINT64_MAX));
	try(compare_swap(test, UINT64_MAX, UINT64_MAX, 0));
	try(refuse_odd(test, KRDMA_OP_COMPARE_SWAP));
	check_say(test, "equal and not equal; an odd address is refused");
	return 0;
}

static int fetch_add(struct selftest *test, uint64_t before, uint64_t add)
{
	struct krdma_sqe entry = krdma_entry_fetch_add(test->link.conn, op_wr_id(test), test->area,
						       NEAR_AT, &test->far_area, FAR_AT, add);

	memset(near_data(test, NEAR_AT), 0xee, 8);
	try(far_poke(test, FAR_AT, before));
	try(op_do(test, &test->link, &entry, 8));
	try(expect_near(test, before, "fetch and add"));
	return expect_far(test, before + add, "fetch and add");
}

#define ADDS	64

/* Many in flight at once: each one returns the result of the one before it. */
static int many_adds(struct selftest *test)
{
	struct krdma_sqe entries[ADDS];
	uint64_t value;
	unsigned int i;

	try(far_poke(test, FAR_AT, 1000));
	for (i = 0; i < ADDS; i++)
		entries[i] = krdma_entry_fetch_add(test->link.conn, op_wr_id(test), test->area,
						   NEAR_AT + 8 * i, &test->far_area, FAR_AT, i);
	try(op_post(test, &test->link, entries, ADDS));
	for (i = 0; i < ADDS; i++) {
		try(op_done(test, &test->link, &entries[i], 8));
		memcpy(&value, near_data(test, NEAR_AT + 8 * i), sizeof(value));
		if (value != 1000 + (uint64_t)i * (i - 1) / 2)
			return check_fail(test, "fetch and add %u of %u returns %llu", i, ADDS,
					  (unsigned long long)value);
	}
	return expect_far(test, 1000 + ADDS * (ADDS - 1) / 2, "many fetch and add");
}

static int run_fetch_add(struct selftest *test)
{
	try(fetch_add(test, 100, UINT64_C(0x100000001)));
	try(fetch_add(test, UINT64_MAX, 1));
	try(fetch_add(test, 5, (uint64_t)-7));
	try(many_adds(test));
	try(refuse_odd(test, KRDMA_OP_FETCH_ADD));
	check_figure(test, "at_once", ADDS);
	check_say(test, "one at a time and %u at once; an odd address is refused", ADDS);
	return 0;
}

static int run_atomic_write(struct selftest *test)
{
	const uint64_t value = UINT64_C(0x99aabbccddeeff01);
	struct krdma_sqe entry;

	try(far_clear(test, FAR_AREA, FAR_AT, 8, 1));
	entry = krdma_entry_atomic_write(test->link.conn, op_wr_id(test), &test->far_area, FAR_AT,
					 value);
	try(op_do(test, &test->link, &entry, 8));
	try(op_flush(test, &test->link, &test->far_area));
	try(expect_far(test, value, "atomic write"));
	entry.remote_addr += 4;
	try(op_refused(test, &test->link, &entry, -EINVAL));
	check_say(test, "8 bytes arrive; an odd address is refused");
	return 0;
}

/* Flush after many writes: when it has completed, the data of all writes are there. */
static int run_flush(struct selftest *test)
{
	const uint32_t length = 16384;
	struct krdma_sqe entries[17];
	uint64_t seed = new_seed(test);
	unsigned int i;

	pattern_fill(near_data(test, 64), 0, 16 * (size_t)length, seed);
	try(far_clear(test, FAR_AREA, 64, 16 * (size_t)length, seed));
	for (i = 0; i < 16; i++) {
		entries[i] = op_remote(test, &test->link, KRDMA_OP_WRITE, 64 + (size_t)i * length,
				       64 + (size_t)i * length, length);
		entries[i].flags = KRDMA_SQE_UNSIGNALED;
	}
	entries[16] = krdma_entry_flush(test->link.conn, op_wr_id(test), &test->far_area);
	try(op_post(test, &test->link, entries, 17));
	try(op_done(test, &test->link, &entries[16], 0));
	try(far_check(test, FAR_AREA, 64, 16 * (size_t)length, seed, "writes before a flush"));
	check_say(test, "16 writes are there when it has completed");
	return 0;
}

const struct check selftest_atomic_checks[] = {
	{ .name = "compare-swap", .caps = KRDMA_DEVICE_CAP_ATOMIC, .run = run_compare_swap },
	{ .name = "fetch-add", .caps = KRDMA_DEVICE_CAP_ATOMIC, .run = run_fetch_add },
	{ .name = "atomic-write", .run = run_atomic_write },
	{ .name = "flush", .run = run_flush },
	{ 0 },
};
