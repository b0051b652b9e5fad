// SPDX-License-Identifier: GPL-2.0
/* Work requests on one connection, and memory. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "peer.h"

/* Long enough for the other end to fall asleep. */
#define PAUSE_US	1000
/* Work requests in flight in measurements of throughput. */
#define STREAM_DEPTH	16
/* Each place of the depth is used at least so often. */
#define STREAM_LEAST	4
/* With little time, measurements that take longer than this are left out. */
#define QUICK_DIVISOR	100

static const char *const op_names[] = {
	[PEER_WRITE] = "write", [PEER_READ] = "read", [PEER_FETCH_ADD] = "fetch-add",
};

static struct peer_conns *connect_one(const struct work *work, bool event)
{
	const struct peer_plan plan = { .kind = PEER_ONE, .count = 1, .event = event };
	struct peer_conns *conns = peer_conns_new(work->peer, &plan);

	peer_connect(conns, 0, 1);
	return conns;
}

static void end_one(struct peer_conns *conns)
{
	peer_disconnect(conns, 0, 1);
	peer_conns_free(conns);
}

/*
 * The mean is measured without reading the clock in between; another pass measures the
 * distribution.
 */
static void one_at_a_time(const struct work *work, struct peer_conns *conns, enum peer_op op)
{
	const struct peer_batch batch = { .op = op, .length = 8, .count = 1, .wait = 1 };
	uint64_t began, before, after;
	struct series series;
	char name[64];
	unsigned int i;

	for (i = 0; i < work->count / 10 + 1; i++)
		peer_run(conns, &batch);
	began = peer_now();
	for (i = 0; i < work->count; i++)
		peer_run(conns, &batch);
	before = peer_now();
	began = before - began;
	series_begin(&series, work->count);
	for (i = 0; i < work->count; i++) {
		peer_run(conns, &batch);
		after = peer_now();
		series_add(&series, after - before);
		before = after;
	}
	snprintf(name, sizeof(name), "%s.8.depth=1.%s", op_names[op],
		 work->event ? "event" : "poll");
	series_end(&series, name, (double)began / work->count);
}

static void echoes(const struct work *work, struct peer_conns *conns)
{
	uint64_t began, before, after;
	struct series series;
	char name[64];
	unsigned int i;

	for (i = 0; i < work->count / 10 + 1; i++)
		peer_echo(conns, 0);
	began = peer_now();
	for (i = 0; i < work->count; i++)
		peer_echo(conns, 0);
	before = peer_now();
	began = before - began;
	series_begin(&series, work->count);
	for (i = 0; i < work->count; i++) {
		peer_echo(conns, 0);
		after = peer_now();
		series_add(&series, after - before);
		before = after;
	}
	snprintf(name, sizeof(name), "echo.8.depth=1.%s", work->event ? "event" : "poll");
	series_end(&series, name, (double)began / work->count);
}

void work_latency(const struct work *work)
{
	struct peer_conns *conns = connect_one(work, work->event);
	enum peer_op op;

	for (op = PEER_WRITE; op <= PEER_FETCH_ADD; op++)
		if (peer_does(op))
			one_at_a_time(work, conns, op);
	end_one(conns);
}

void work_echo(const struct work *work)
{
	struct peer_conns *conns = connect_one(work, work->event);

	echoes(work, conns);
	end_one(conns);
}

/*
 * Keeps @depth work requests in flight, posted in batches with only the last one signaled.
 * Measures from the first post to the last completion; returns nanoseconds of one.
 */
static double stream(struct peer_conns *conns, enum peer_op op, uint32_t length,
		     unsigned int depth, unsigned int batch_count, unsigned int batches,
		     struct series *series)
{
	struct peer_batch batch = { .op = op, .length = length, .count = batch_count };
	unsigned int ahead = depth / batch_count, i;
	uint64_t began = peer_now(), before = began, after;

	for (i = 1; i <= batches; i++) {
		batch.wait = i < ahead ? 0 : i < batches ? 1 : ahead;
		peer_run(conns, &batch);
		after = peer_now();
		if (batch.wait == 1 && series)
			series_add(series, (after - before) / batch_count);
		before = after;
	}
	return (double)(before - began) / ((double)batches * batch_count);
}

static void measure_stream(struct peer_conns *conns, enum peer_op op, uint32_t length,
			   unsigned int depth, unsigned int batch, unsigned int total)
{
	unsigned int ahead = depth / batch, batches = total / batch;
	struct series series;
	char name[64];
	double mean;

	/* The depth must be reached for some time at least. */
	if (batches < STREAM_LEAST * ahead)
		batches = STREAM_LEAST * ahead;
	stream(conns, op, length, depth, batch, ahead + 1, NULL);
	series_begin(&series, batches);
	mean = stream(conns, op, length, depth, batch, batches, &series);
	snprintf(name, sizeof(name), "%s.%u.depth=%u.batch=%u", op_names[op], length, depth,
		 batch);
	series_end(&series, name, mean);
}

void work_depth(const struct work *work)
{
	/* Terminated by 0. */
	static const unsigned int batches[] = { 1, 16, 64, 0 };
	struct peer_conns *conns = connect_one(work, false);
	unsigned int i;

	for (i = 0; batches[i]; i++)
		measure_stream(conns, PEER_WRITE, 8, PEER_DEPTH, batches[i], 4 * work->count);
	end_one(conns);
}

void work_bandwidth(const struct work *work)
{
	static const struct {
		uint32_t length;
		bool quick;
	} sizes[] = {
		{ 512, false }, { 4096, true }, { 16384, false }, { 65536, true },
		{ 262144, false },
	};
	struct peer_conns *conns = connect_one(work, false);
	unsigned int i, total;
	enum peer_op op;

	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		if (work->quick && !sizes[i].quick)
			continue;
		total = work->count / (1 + sizes[i].length / 16384);
		for (op = PEER_WRITE; op <= PEER_READ; op++)
			measure_stream(conns, op, sizes[i].length, STREAM_DEPTH, 4, total);
	}
	end_one(conns);
}

/* From before the message until the sleeping server has got it. */
void work_wake(const struct work *work)
{
	struct peer_conns *conns = connect_one(work, true);
	unsigned int count = work->count / 4 + 1, i;
	uint64_t sum = 0, before, took;
	struct series series;

	series_begin(&series, count);
	for (i = 0; i < count; i++) {
		usleep(PAUSE_US);
		before = peer_now();
		took = peer_echo(conns, before) - before;
		sum += took;
		series_add(&series, took);
	}
	series_end(&series, "wake.8", (double)sum / count);
	end_one(conns);
}

void work_register(const struct work *work)
{
	static const struct {
		const char *name;
		size_t length;
		unsigned int divisor;
	} sizes[] = {
		{ "4KiB", 4096, 4 }, { "2MiB", 2 << 20, 40 }, { "256MiB", 256 << 20, 500 },
	};
	struct series registers, releases;
	uint64_t before, after, sum, sum_released;
	unsigned int i, count, at;
	void *data, *registered;
	size_t most = 0;
	char name[64];

	for (at = 0; at < sizeof(sizes) / sizeof(*sizes); at++)
		if (!work->quick || sizes[at].divisor <= QUICK_DIVISOR)
			most = sizes[at].length;
	data = mmap(NULL, most, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (data == MAP_FAILED)
		peer_fail("memory to be registered", errno);
	/* Without huge pages, whatever the machine's setting is, and populated. */
	madvise(data, most, MADV_NOHUGEPAGE);
	memset(data, 1, most);

	for (at = 0; at < sizeof(sizes) / sizeof(*sizes); at++) {
		if (work->quick && sizes[at].divisor > QUICK_DIVISOR)
			continue;
		count = work->count / sizes[at].divisor + 1;
		series_begin(&registers, count);
		series_begin(&releases, count);
		sum = 0;
		sum_released = 0;
		for (i = 0; i < count; i++) {
			before = peer_now();
			registered = peer_register(work->peer, data, sizes[at].length);
			after = peer_now();
			sum += after - before;
			series_add(&registers, after - before);
			before = peer_now();
			peer_release(registered);
			after = peer_now();
			sum_released += after - before;
			series_add(&releases, after - before);
		}
		snprintf(name, sizeof(name), "register.%s", sizes[at].name);
		series_end(&registers, name, (double)sum / count);
		snprintf(name, sizeof(name), "release.%s", sizes[at].name);
		series_end(&releases, name, (double)sum_released / count);
	}
	munmap(data, most);
}
