// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * krdma bench: the operations of one thread.
 *
 * Its meters share a ring.  Each keeps as many operations in flight as its depth, and posts a batch
 * in one call; the call for the last batch that fits also waits for completions.  The time of a
 * batch is that from its post to the completion of its last work request, which is the only one
 * that is signaled; work requests of a connection complete in order.  The time of a message that
 * comes back is that from its post to the completion of the receive.
 */
#include <errno.h>
#include <string.h>

#include "bench.h"
#include "peer_stop.h"

#define ROOM 64

bool goal_reached(const struct crew *crew, const struct goal *goal, uint64_t count)
{
	return (goal->count && count >= goal->count) || clock_ns() >= goal->until ||
	       stop_wanted() || (goal->over && atomic_load(goal->over)) ||
	       atomic_load(&crew->group->failed);
}

uint64_t meter_wr_id(const struct meter *meter, uint32_t value)
{
	return (uint64_t)meter->index << 32 | value;
}

bool meter_echoes(const struct meter *meter)
{
	return meter->operation == BENCH_SEND && (meter->depth == 1 || meter->settings->both);
}

/* If several crews fail, one cause is enough. */
static bool may_explain(const struct meter *meter)
{
	struct crew *crew = meter->crew;
	int none = 0;

	return atomic_compare_exchange_strong(&crew->group->failed, &none, crew->number) ||
	       none == crew->number;
}

/* Print why the connection failed with @err, and return @err. */
static int explain(struct meter *meter, int err)
{
	const char *host = meter->options.host;

	if (!err || err == -EINTR || !may_explain(meter))
		return err;
	switch (err) {
	case -EPROTO:
		complain("%s violates the protocol: it has sent a message that was not requested",
			 host);
		break;
	case -ETIMEDOUT:
		complain("%s does not answer: the operation '%s' has timed out", host,
			 bench_operation_names[meter->operation]);
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

/* The meter of a completion. */
static struct meter *meter_of(struct crew *crew, const struct krdma_cqe *cqe)
{
	uint64_t index = cqe->wr_id >> 32;

	return &crew->meters[index < crew->meter_count ? index : 0];
}

/* A flushed work request means that the connection has ended; explain() prints why. */
static int failure(struct meter *meter, const struct krdma_cqe *cqe)
{
	if (cqe->status != KRDMA_WC_WR_FLUSH_ERR && may_explain(meter))
		complain("the operation '%s' has failed: %s",
			 bench_operation_names[meter->operation],
			 krdma_wc_status_name(cqe->status));
	return explain(meter, -ECONNRESET);
}

/*
 * Post @count entries of @meter, if that is not 0, and wait for at least one completion of the
 * crew.  Returns a negative errno after an error message, -ETIMEDOUT if there is none in time.
 */
static int ask_and_wait(struct meter *meter, const struct krdma_sqe *entries, size_t count,
			struct krdma_cqe cqes[ROOM], size_t *taken)
{
	uint64_t deadline = clock_ns() + meter->settings->timeout;
	struct krdma_ring *ring = meter->peer.ring;
	size_t accepted, i;
	int err;

	if (count)
		err = krdma_ring_enter(ring, entries, count, &accepted, cqes, ROOM, 1,
				       stop_slice(deadline), taken);
	else
		err = krdma_ring_wait(ring, cqes, ROOM, 1, stop_slice(deadline), taken);
	if (count && accepted < count)
		return explain(meter, err);
	/* Also after a signal, wait for work requests in flight: this does not take long. */
	while ((err == -ETIMEDOUT || err == -EINTR) && clock_ns() < deadline)
		err = krdma_ring_wait(ring, cqes, ROOM, 1, stop_slice(deadline), taken);
	if (err)
		return explain(meter, err);
	for (i = 0; i < *taken; i++)
		if (cqes[i].status)
			return failure(meter_of(meter->crew, &cqes[i]), &cqes[i]);
	return 0;
}

/* A message that comes back goes to the second half of the MR: all are the same. */
static struct krdma_sqe receive(struct meter *meter)
{
	bool comes_back = meter_echoes(meter) && meter->longest;

	return krdma_entry_recv(meter->peer.conn, meter_wr_id(meter, 0),
				comes_back ? meter->mr : NULL, meter->longest, meter->longest);
}

int meter_post_receives(struct meter *meter, uint32_t count)
{
	struct krdma_sqe entries[ROOM];
	uint32_t now, i;
	int err = 0;

	for (i = 0; i < ROOM && i < count; i++)
		entries[i] = receive(meter);
	for (; !err && count; count -= now) {
		now = count < ROOM ? count : ROOM;
		err = krdma_ring_post(meter->peer.ring, entries, now, NULL);
	}
	return err;
}

int meter_operate(struct meter *meter, const struct krdma_sqe *entry)
{
	struct krdma_cqe cqes[ROOM];
	size_t taken;
	int err = ask_and_wait(meter, entry, 1, cqes, &taken);

	if (!err && taken != 1)
		err = explain(meter, -EPROTO);
	return err;
}

/* The entry of the measured operation.  @number selects the place of its result. */
static struct krdma_sqe measured(struct meter *meter, uint64_t number)
{
	const struct krdma_mr *mr = meter->length ? meter->mr : NULL;
	uint64_t id = meter_wr_id(meter, 1), result;

	switch (meter->operation) {
	case BENCH_WRITE:
		return krdma_entry_write(meter->peer.conn, id, mr, 0, meter->length,
					 &meter->remote, 0);
	case BENCH_READ:
		return krdma_entry_read(meter->peer.conn, id, mr, meter->longest, meter->length,
					&meter->remote, 0);
	case BENCH_ATOMIC:
		result = 2 * (uint64_t)meter->longest + 8 * (number % meter->depth);
		return krdma_entry_fetch_add(meter->peer.conn, id, meter->mr, (size_t)result,
					     &meter->remote, 0, 1);
	default:
		return krdma_entry_send(meter->peer.conn, id, mr, 0, meter->length);
	}
}

/* The size of the next batch.  0: wait for completions, or the goal is reached. */
static uint32_t next_batch(const struct meter *meter, const struct goal *goal)
{
	uint64_t room = meter->depth - (meter->asked - meter->done), batch = meter->batch;

	if (meter->operation == BENCH_SEND && !meter_echoes(meter) && meter->credits < room)
		room = meter->credits;
	if (goal->count && goal->count - meter->asked < batch)
		batch = goal->count - meter->asked;
	/* The clock is read last, and not at all as long as nothing can be posted. */
	if (!batch || room < batch || goal_reached(meter->crew, goal, meter->asked))
		return 0;
	return (uint32_t)batch;
}

static void note_start(struct meter *meter, uint64_t now)
{
	meter->started[meter->begun++ % meter->depth] = now;
}

static void note_end(struct meter *meter, struct stats *times, uint64_t now)
{
	uint64_t started = meter->started[meter->ended++ % meter->depth];

	if (times && !meter->opposite)
		stats_add(times, now - started);
}

/*
 * Only the last work request of a batch is signaled, and its wr_id has the size of the batch; none
 * if each message comes back.
 */
static void make_batch(struct meter *meter, uint32_t count)
{
	struct krdma_sqe *entries = meter->crew->entries;
	bool echoes = meter_echoes(meter);
	uint64_t now;
	uint32_t i;

	if (meter->conn_count)
		meter->peer.conn = meter->conns[meter->turn++ % meter->conn_count];
	for (i = 0; i < count; i++) {
		entries[i] = measured(meter, meter->asked + i);
		entries[i].flags = KRDMA_SQE_UNSIGNALED;
	}
	if (!echoes) {
		entries[count - 1].flags = 0;
		entries[count - 1].wr_id = meter_wr_id(meter, count);
		if (meter->operation == BENCH_SEND)
			meter->credits -= count;
	}
	meter->asked += count;
	now = clock_ns();
	for (i = echoes ? 0 : count - 1; i < count; i++)
		note_start(meter, now);
}

/*
 * Post what fits, but the last batch: that is in the crew's entries, @last is its meter, and
 * @count its size, or 0.
 */
static int post_batches(struct crew *crew, const struct goal *goal, struct meter **last,
			uint32_t *count)
{
	uint32_t i, batch;
	int err = 0;

	*last = &crew->meters[0];
	*count = 0;
	crew->turn++;
	for (i = 0; i < crew->meter_count; i++) {
		struct meter *meter = &crew->meters[(crew->turn + i) % crew->meter_count];

		while ((batch = next_batch(meter, goal))) {
			if (*count)
				err = krdma_ring_post((*last)->peer.ring, crew->entries, *count,
						      NULL);
			if (err)
				return explain(*last, err);
			make_batch(meter, batch);
			*last = meter;
			*count = batch;
		}
	}
	return 0;
}

/* Nothing is in flight, and nothing more is to be posted. */
static bool at_rest(const struct crew *crew, const struct goal *goal)
{
	uint32_t i;

	for (i = 0; i < crew->meter_count; i++) {
		const struct meter *meter = &crew->meters[i];

		if (meter->asked != meter->done || !goal_reached(crew, goal, meter->asked))
			return false;
	}
	return true;
}

/* A message has come: one that comes back, or credit. */
static int settle_receive(struct meter *meter, const struct krdma_cqe *cqe, struct stats *times,
			  uint64_t now)
{
	if (meter_echoes(meter)) {
		if (meter->done == meter->asked || cqe->length != meter->length)
			return -EPROTO;
		note_end(meter, times, now);
		meter->done++;
		return 0;
	}
	meter->credits += meter->depth;
	if (meter->operation != BENCH_SEND || meter->credits > 2 * (uint64_t)meter->depth)
		return -EPROTO;
	return 0;
}

/* Count completions, and post new receives at once. */
static int settle(struct crew *crew, const struct krdma_cqe *cqes, size_t taken,
		  struct stats *times)
{
	struct krdma_sqe receives[ROOM];
	struct meter *meter = crew->meters;
	uint64_t now = clock_ns();
	size_t i, count = 0;
	int err;

	for (i = 0; i < taken; i++) {
		meter = meter_of(crew, &cqes[i]);
		if (cqes[i].opcode != KRDMA_OP_RECV) {
			note_end(meter, times, now);
			meter->done += (uint32_t)cqes[i].wr_id;
			continue;
		}
		err = settle_receive(meter, &cqes[i], times, now);
		if (err)
			return explain(meter, err);
		receives[count++] = receive(meter);
	}
	err = count ? krdma_ring_post(meter->peer.ring, receives, count, NULL) : 0;
	return explain(meter, err);
}

int crew_run(struct crew *crew, const struct goal *goal, struct stats *times)
{
	struct krdma_cqe cqes[ROOM];
	struct meter *last;
	uint32_t i, count;
	size_t taken;
	int err;

	for (i = 0; i < crew->meter_count; i++) {
		crew->meters[i].asked = 0;
		crew->meters[i].done = 0;
	}
	do {
		err = post_batches(crew, goal, &last, &count);
		if (!err && !count && at_rest(crew, goal))
			break;
		if (!err)
			err = ask_and_wait(last, crew->entries, count, cqes, &taken);
		if (!err)
			err = settle(crew, cqes, taken, times);
	} while (!err);
	for (i = 0; i < crew->meter_count; i++)
		crew->meters[i].operated += crew->meters[i].done;
	return err;
}
