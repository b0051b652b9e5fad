// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * krdma bench: check that data arrives correctly, outside of the measured time.  Outgoing data is
 * in the first half of the lane's MR.  Incoming data goes to the second half, which is cleared
 * before.
 *
 * Written data is read back.  Data to be read is written before the measurement.  An echoed
 * message is compared with the message sent.  The peer's counter counts every fetch-and-add.  A
 * stream of messages is not checked, because nothing of it comes back.
 */
#include <string.h>

#include "bench.h"

static uint8_t *outward(const struct lane *lane)
{
	return krdma_mr_data(lane->mr);
}

static uint8_t *homeward(const struct lane *lane)
{
	return outward(lane) + lane->longest;
}

/* The data differs each time, so that data left by an earlier measurement is noticed. */
static void fill(struct lane *lane)
{
	uint32_t i;

	lane->fill += 37;
	for (i = 0; i < lane->length; i++)
		outward(lane)[i] = (uint8_t)(1 + (lane->fill + i * 7 + (i >> 8)) % 255);
	memset(homeward(lane), 0, lane->length);
}

static int write_there(struct lane *lane, uint32_t offset)
{
	struct krdma_sqe entry = krdma_entry_write(lane->peer.conn, 1, lane->mr, offset,
						   lane->length, &lane->remote, 0);

	return lane_operate(lane, &entry);
}

static int read_back(struct lane *lane)
{
	struct krdma_sqe entry = krdma_entry_read(lane->peer.conn, 1, lane->mr,
						  lane->longest, lane->length, &lane->remote, 0);

	return lane_operate(lane, &entry);
}

/* Read the peer's counter by adding 0. */
static int read_counter(struct lane *lane, uint64_t *value)
{
	size_t offset = (size_t)2 * lane->longest;
	struct krdma_sqe entry = krdma_entry_fetch_add(lane->peer.conn, 1, lane->mr, offset,
						       &lane->remote, 0, 0);
	int err = lane_operate(lane, &entry);

	if (!err)
		memcpy(value, outward(lane) + offset, sizeof(*value));
	return err;
}

int lane_prepare_data(struct lane *lane)
{
	if (lane->operation == BENCH_ATOMIC)
		return read_counter(lane, &lane->counted);
	fill(lane);
	if (!lane->length)
		return 0;
	/* Clear the destination of writes; fill the source of reads with the data. */
	if (lane->operation == BENCH_WRITE)
		return write_there(lane, lane->longest);
	return lane->operation == BENCH_READ ? write_there(lane, 0) : 0;
}

static int check_counter(struct lane *lane, enum bench_data *data)
{
	uint64_t now, added = lane->operated;
	int err = read_counter(lane, &now);

	if (err)
		return err;
	lane->operated = 0;
	*data = now - lane->counted == added ? BENCH_RIGHT : BENCH_WRONG;
	return 0;
}

int lane_check_data(struct lane *lane, enum bench_data *data)
{
	int err = 0;

	*data = BENCH_UNCHECKED;
	if (lane->operation == BENCH_ATOMIC)
		return check_counter(lane, data);
	if (!lane->length || (lane->operation == BENCH_SEND && lane->depth > 1))
		return 0;
	if (lane->operation == BENCH_WRITE)
		err = read_back(lane);
	if (!err)
		*data = memcmp(outward(lane), homeward(lane), lane->length) ? BENCH_WRONG :
									      BENCH_RIGHT;
	return err;
}
