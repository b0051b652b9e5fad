// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * krdma bench: run operations, one by one to measure latency, or many at a time to measure
 * throughput.
 */
#include <errno.h>
#include <string.h>

#include "bench.h"
#include "peer_stop.h"

#define ROOM 64

bool goal_reached(const struct goal *goal, uint64_t count)
{
	return (goal->count && count >= goal->count) || clock_ns() >= goal->until ||
	       stop_wanted();
}

int meter_explain(struct meter *meter, int err)
{
	switch (err) {
	case 0:
	case -EINTR:
	case -EPROTO:
		break;
	case -ETIMEDOUT:
		complain("%s does not answer: the operation '%s' has timed out",
			 meter->settings->host, bench_operation_names[meter->operation]);
		break;
	case -EOPNOTSUPP:
		complain("the RDMA device %s does not support the operation '%s'",
			 meter->peer.device, bench_operation_names[meter->operation]);
		break;
	default:
		peer_explain_end(&meter->peer);
		break;
	}
	return err;
}

/* A flushed work request means that the connection has ended; meter_explain() prints why. */
static int failure(const struct meter *meter, const struct krdma_cqe *cqe)
{
	if (cqe->status != KRDMA_WC_WR_FLUSH_ERR)
		complain("the operation '%s' has failed: %s",
			 bench_operation_names[meter->operation],
			 krdma_wc_status_name(cqe->status));
	return -ECONNRESET;
}

/*
 * Post @entries, if @count is not 0, and wait for at least one completion.  Returns -ETIMEDOUT if
 * there is none in time.
 */
static int ask_and_wait(struct meter *meter, const struct krdma_sqe *entries, size_t count,
			struct krdma_cqe cqes[ROOM], size_t *taken)
{
	uint64_t deadline = clock_ns() + meter->settings->timeout;
	size_t accepted, i;
	int err;

	if (count)
		err = krdma_ring_enter(meter->peer.ring, entries, count, &accepted, cqes, ROOM, 1,
				       stop_slice(deadline), taken);
	else
		err = krdma_ring_wait(meter->peer.ring, cqes, ROOM, 1, stop_slice(deadline),
				      taken);
	if (count && accepted < count)
		return err;
	/* Also after a signal, wait for work requests in flight: this does not take long. */
	while ((err == -ETIMEDOUT || err == -EINTR) && clock_ns() < deadline)
		err = krdma_ring_wait(meter->peer.ring, cqes, ROOM, 1, stop_slice(deadline),
				      taken);
	if (err)
		return err;
	for (i = 0; i < *taken; i++)
		if (cqes[i].status)
			return failure(meter, &cqes[i]);
	return 0;
}

/* An echoed message goes to the second half of the MR. */
int meter_post_receive(struct meter *meter)
{
	bool comes_back = meter->operation == BENCH_SEND && meter->depth == 1 && meter->longest;
	struct krdma_sqe entry = krdma_entry_recv(meter->peer.conn, 0,
						  comes_back ? meter->mr : NULL,
						  meter->longest, meter->longest);

	return krdma_ring_post(meter->peer.ring, &entry, 1, NULL);
}

int meter_operate(struct meter *meter, const struct krdma_sqe *entry)
{
	struct krdma_cqe cqes[ROOM];
	size_t taken;
	int err = ask_and_wait(meter, entry, 1, cqes, &taken);

	if (!err && taken != 1)
		err = -EPROTO;
	return meter_explain(meter, err);
}

/* The entry of the measured operation.  @index selects the place of its result. */
static struct krdma_sqe measured(struct meter *meter, uint64_t index)
{
	const struct krdma_mr *mr = meter->length ? meter->mr : NULL;
	uint64_t result;

	switch (meter->operation) {
	case BENCH_WRITE:
		return krdma_entry_write(meter->peer.conn, 1, mr, 0, meter->length,
					 &meter->remote, 0);
	case BENCH_READ:
		return krdma_entry_read(meter->peer.conn, 1, mr, meter->longest, meter->length,
					&meter->remote, 0);
	case BENCH_ATOMIC:
		result = 2 * (uint64_t)meter->longest + 8 * (index % meter->depth);
		return krdma_entry_fetch_add(meter->peer.conn, 1, meter->mr, (size_t)result,
					     &meter->remote, 0, 1);
	default:
		return krdma_entry_send(meter->peer.conn, 1, mr, 0, meter->length);
	}
}

/* Send a message and wait for its echo. */
static int echo_once(struct meter *meter, struct krdma_cqe cqes[ROOM])
{
	struct krdma_sqe entry = measured(meter, 0);
	size_t taken;
	int err;

	entry.flags = KRDMA_SQE_UNSIGNALED;
	err = ask_and_wait(meter, &entry, 1, cqes, &taken);
	if (err)
		return err;
	if (taken != 1 || cqes[0].length != meter->length)
		return -EPROTO;
	return 0;
}

static int operate_once(struct meter *meter, struct krdma_cqe cqes[ROOM])
{
	struct krdma_sqe entry = measured(meter, 0);
	size_t taken;

	return ask_and_wait(meter, &entry, 1, cqes, &taken);
}

static int one_by_one(struct meter *meter, const struct goal *goal, struct stats *times,
		      uint64_t *count)
{
	bool echo = meter->operation == BENCH_SEND;
	struct krdma_cqe cqes[ROOM];
	uint64_t begun;
	int err = 0;

	for (*count = 0; !err && !goal_reached(goal, *count); (*count)++) {
		if (meter->conn_count)
			meter->peer.conn = meter->conns[meter->turn++ % meter->conn_count];
		begun = clock_ns();
		err = echo ? echo_once(meter, cqes) : operate_once(meter, cqes);
		if (err)
			break;
		if (times)
			stats_add(times, clock_ns() - begun);
		if (echo)
			err = meter_post_receive(meter);
	}
	return err;
}

/* Number of work requests that may be posted now. */
static uint64_t room(const struct meter *meter, uint64_t under_way)
{
	uint64_t room = meter->depth - under_way;

	if (meter->operation == BENCH_SEND && meter->credits < room)
		room = meter->credits;
	return room;
}

/* Only the last work request of a batch is signaled.  Its wr_id is the size of the batch. */
static void make_batch(struct meter *meter, uint64_t first, uint64_t count)
{
	uint64_t i;

	for (i = 0; i < count; i++) {
		meter->entries[i] = measured(meter, first + i);
		meter->entries[i].flags = KRDMA_SQE_UNSIGNALED;
	}
	meter->entries[count - 1].flags = 0;
	meter->entries[count - 1].wr_id = count;
}

/* Count completed work requests, and credits from the peer. */
static int settle(struct meter *meter, const struct krdma_cqe *cqes, size_t taken, uint64_t *done)
{
	size_t i;
	int err;

	for (i = 0; i < taken; i++) {
		if (cqes[i].opcode != KRDMA_OP_RECV) {
			*done += cqes[i].wr_id;
			continue;
		}
		meter->credits += meter->depth;
		if (meter->operation != BENCH_SEND || meter->credits > 2 * (uint64_t)meter->depth)
			return -EPROTO;
		err = meter_post_receive(meter);
		if (err)
			return err;
	}
	return 0;
}

/* The size of the next batch.  0: wait for completions, or the goal is reached. */
static uint64_t next_batch(const struct meter *meter, const struct goal *goal, uint64_t asked,
			   uint64_t done)
{
	uint64_t batch = meter->batch;

	if (goal_reached(goal, asked))
		return 0;
	if (goal->count && goal->count - asked < batch)
		batch = goal->count - asked;
	return room(meter, asked - done) < batch ? 0 : batch;
}

static int many_at_a_time(struct meter *meter, const struct goal *goal, uint64_t *count)
{
	struct krdma_cqe cqes[ROOM];
	uint64_t done = 0, batch;
	size_t taken;
	int err = 0;

	*count = 0;
	do {
		batch = next_batch(meter, goal, *count, done);
		if (!batch && done == *count) {
			if (goal_reached(goal, *count))
				break;
		} else if (batch) {
			make_batch(meter, *count, batch);
			*count += batch;
			if (meter->operation == BENCH_SEND)
				meter->credits -= batch;
			/* As long as another batch fits, post without waiting. */
			if (next_batch(meter, goal, *count, done)) {
				err = krdma_ring_post(meter->peer.ring, meter->entries, batch,
						      NULL);
				continue;
			}
		}
		err = ask_and_wait(meter, meter->entries, batch, cqes, &taken);
		if (!err)
			err = settle(meter, cqes, taken, &done);
	} while (!err);
	return err;
}

int meter_run(struct meter *meter, const struct goal *goal, struct stats *times, uint64_t *count)
{
	int err;

	if (meter->depth == 1)
		err = one_by_one(meter, goal, times, count);
	else
		err = many_at_a_time(meter, goal, count);
	meter->operated += *count;
	if (err == -EPROTO)
		complain("%s violates the protocol: it has sent a message that was not requested",
			 meter->settings->host);
	return meter_explain(meter, err);
}
