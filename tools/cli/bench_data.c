// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * krdma bench: check that data arrives correctly, outside of the measured time.  Outgoing data is
 * in the first half of the meter's MR.  Incoming data goes to the second half, which is cleared
 * before.
 *
 * Written data is read back.  Data to be read is written before the measurement.  An echoed
 * message is compared with the message sent.  The peer's counter counts every fetch-and-add.  A
 * stream of messages is not checked, because nothing of it comes back.
 */
#include <string.h>

#include "bench.h"

static uint8_t *outward(const struct meter *meter)
{
	return krdma_mr_data(meter->mr);
}

static uint8_t *homeward(const struct meter *meter)
{
	return outward(meter) + meter->longest;
}

/* The data differs each time, so that data left by an earlier measurement is noticed. */
static void fill(struct meter *meter)
{
	uint32_t i;

	meter->fill += 37;
	for (i = 0; i < meter->length; i++)
		outward(meter)[i] = (uint8_t)(1 + (meter->fill + i * 7 + (i >> 8)) % 255);
	memset(homeward(meter), 0, meter->length);
}

static int write_there(struct meter *meter, uint32_t offset)
{
	struct krdma_sqe entry = krdma_entry_write(meter->peer.conn, meter_wr_id(meter, 1),
						   meter->mr, offset, meter->length,
						   &meter->remote, 0);

	return meter_operate(meter, &entry);
}

static int read_back(struct meter *meter)
{
	struct krdma_sqe entry = krdma_entry_read(meter->peer.conn, meter_wr_id(meter, 1),
						  meter->mr, meter->longest, meter->length,
						  &meter->remote, 0);

	return meter_operate(meter, &entry);
}

/* Read the peer's counter by adding 0. */
static int read_counter(struct meter *meter, uint64_t *value)
{
	size_t offset = (size_t)2 * meter->longest;
	struct krdma_sqe entry = krdma_entry_fetch_add(meter->peer.conn, meter_wr_id(meter, 1),
						       meter->mr, offset, &meter->remote, 0, 0);
	int err = meter_operate(meter, &entry);

	if (!err)
		memcpy(value, outward(meter) + offset, sizeof(*value));
	return err;
}

int meter_prepare_data(struct meter *meter)
{
	if (meter->operation == BENCH_ATOMIC)
		return read_counter(meter, &meter->counted);
	fill(meter);
	if (!meter->length)
		return 0;
	/* Clear the destination of writes; fill the source of reads with the data. */
	if (meter->operation == BENCH_WRITE)
		return write_there(meter, meter->longest);
	return meter->operation == BENCH_READ ? write_there(meter, 0) : 0;
}

static int check_counter(struct meter *meter, enum bench_data *data)
{
	uint64_t now, added = meter->operated;
	int err = read_counter(meter, &now);

	if (err)
		return err;
	meter->operated = 0;
	*data = now - meter->counted == added ? BENCH_RIGHT : BENCH_WRONG;
	return 0;
}

int meter_check_data(struct meter *meter, enum bench_data *data)
{
	int err = 0;

	*data = BENCH_UNCHECKED;
	if (meter->operation == BENCH_ATOMIC)
		return check_counter(meter, data);
	if (!meter->length || (meter->operation == BENCH_SEND && !meter_echoes(meter)))
		return 0;
	if (meter->operation == BENCH_WRITE)
		err = read_back(meter);
	if (!err)
		*data = memcmp(outward(meter), homeward(meter), meter->length) ? BENCH_WRONG :
									      BENCH_RIGHT;
	return err;
}
