// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * krdma bench: the threads of a measurement.
 *
 * Each crew has a session, a ring and its connections.  They are opened one after the other; then
 * each crew runs in a thread.  All warm up, wait for each other, and measure from the same moment
 * on.  The time of the measurement ends when the last of them is done.  Crews of --load write until
 * the others are done.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench.h"
#include "peer_hello.h"
#include "peer_stop.h"

/* How often a thread that waits for the others looks for a stop. */
#define LOOK_NS 100000000L
/* Operations before --load counts, at most. */
#define LOAD_WARM_UP 100

static int out_of_memory(void)
{
	complain("out of memory");
	return -ENOMEM;
}

static uint8_t operation_of(const struct meter *meter)
{
	switch (meter->operation) {
	case BENCH_WRITE:
		return OPERATION_WRITE;
	case BENCH_READ:
		return OPERATION_READ;
	case BENCH_ATOMIC:
		return OPERATION_ATOMIC;
	case BENCH_CONNECT:
		return OPERATION_CONNECT;
	default:
		return meter_echoes(meter) ? OPERATION_ECHO : OPERATION_STREAM;
	}
}

static bool has_remote_memory(const struct meter *meter)
{
	return meter->operation == BENCH_WRITE || meter->operation == BENCH_READ ||
	       meter->operation == BENCH_ATOMIC;
}

/* Twice the largest size, and a result of 8 bytes for each atomic in flight. */
static size_t memory_length(const struct meter *meter)
{
	return (size_t)2 * meter->longest + (size_t)8 * meter->depth;
}

static uint32_t longest(const struct crew *crew)
{
	const struct bench_settings *settings = crew->settings;
	uint64_t length = 0;
	size_t i;

	if (crew->load)
		return BENCH_LOAD_LENGTH;
	if (crew->operation == BENCH_ATOMIC)
		return 8;
	for (i = 0; crew->operation != BENCH_CONNECT && i < settings->size_count; i++)
		if (settings->sizes[i] > length)
			length = settings->sizes[i];
	return (uint32_t)length;
}

/* Each connection has another one beside it, which does the opposite. */
static bool is_doubled(const struct crew *crew)
{
	return crew->settings->both && !crew->load &&
	       (crew->operation == BENCH_WRITE || crew->operation == BENCH_READ);
}

static void meter_init(struct meter *meter, struct crew *crew, uint32_t index)
{
	const struct bench_settings *settings = crew->settings;
	uint64_t batch = crew->load ? 1 : settings->batch;
	/* Connections that the ring holds. */
	uint64_t connections = settings->lanes ? settings->lanes : crew->meter_count;

	meter->settings = settings;
	meter->crew = crew;
	meter->index = index;
	meter->operation = crew->operation;
	if (is_doubled(crew) && index % 2) {
		meter->operation = crew->operation == BENCH_WRITE ? BENCH_READ : BENCH_WRITE;
		meter->opposite = true;
	}
	meter->depth = crew->depth;
	meter->batch = (uint32_t)(batch < meter->depth ? batch : meter->depth);
	meter->longest = longest(crew);
	meter->options = (struct peer_options) {
		.host = crew->host,
		.source = settings->source,
		.family = settings->family,
		.port = settings->port,
		.timeout = settings->timeout,
		.polled = settings->polled,
		.lane = settings->lanes && !settings->plain,
		.connections = (uint32_t)connections,
		/* An answer can arrive before the message that it answers completes. */
		.send_depth = meter->depth + (settings->lanes ? 7 : 16),
		.recv_depth = BENCH_CREDITS,
		.beside = index ? &crew->meters[0].peer : NULL,
		.listener = "krdma bench --listen",
	};
	if (meter_echoes(meter) && meter->depth > 1) {
		meter->options.send_depth += meter->depth;
		if (meter->depth > meter->options.recv_depth)
			meter->options.recv_depth = meter->depth;
	}
}

int meter_connect(struct meter *meter)
{
	struct hello hello = {
		.service = SERVICE_BENCH,
		.operation = operation_of(meter),
		.length = meter->longest,
		.depth = meter->depth,
	};
	uint8_t wire[HELLO_SIZE];
	int err;

	err = meter_post_receives(meter, meter->options.recv_depth);
	if (err) {
		complain_request("make room for messages", err);
		return err;
	}
	hello_encode(&hello, wire);
	err = peer_connect(&meter->peer, wire, sizeof(wire));
	if (err)
		return err;
	/* An empty message needs no MR. */
	return peer_answer(&meter->peer, meter->longest,
			   has_remote_memory(meter) && meter->longest ? &meter->remote : NULL);
}

static int meter_open(struct meter *meter)
{
	int err = peer_open(&meter->peer, &meter->options);

	if (err)
		return err;
	meter->started = calloc(meter->depth, sizeof(*meter->started));
	if (!meter->started)
		return out_of_memory();
	meter->credits = 2 * (uint64_t)meter->depth;
	err = peer_memory(&meter->peer, memory_length(meter), KRDMA_ACCESS_LOCAL_WRITE,
			  &meter->mr);
	if (!err && meter->settings->lanes) {
		meter->conn_count = (uint32_t)meter->settings->lanes;
		meter->conns = calloc(meter->conn_count, sizeof(*meter->conns));
		if (!meter->conns)
			err = out_of_memory();
	}
	if (err || meter->operation == BENCH_CONNECT)
		return err;
	err = meter_connect(meter);
	if (err || !meter->conns)
		return err;
	meter->conns[0] = meter->peer.conn;
	return meter_open_all(meter, NULL);
}

static void meter_close(struct meter *meter)
{
	meter_close_all(meter);
	krdma_mr_deregister(meter->mr, KRDMA_DEREGISTER_LATER);
	free(meter->conns);
	free(meter->started);
}

/* Keep the address, device and path MTU of a connection for the report. */
static void remember(struct bench_way *way, const struct meter *meter)
{
	struct krdma_conn_query_args query;

	snprintf(way->address, sizeof(way->address), "%s", meter->peer.address);
	snprintf(way->name, sizeof(way->name), "%s", meter->peer.name);
	snprintf(way->device, sizeof(way->device), "%s", meter->peer.device);
	way->trunk = meter->peer.trunk;
	if (meter->peer.conn && !krdma_conn_query(meter->peer.conn, &query, sizeof(query)))
		way->path_mtu = query.path_mtu;
}

int crew_open(struct crew *crew, struct bench_way *way)
{
	uint32_t i;
	int err = 0;

	if (is_doubled(crew))
		crew->meter_count *= 2;
	crew->meters = calloc(crew->meter_count, sizeof(*crew->meters));
	crew->entries = calloc(crew->depth, sizeof(*crew->entries));
	crew->times = calloc(1, sizeof(*crew->times));
	if (!crew->meters || !crew->entries || !crew->times)
		return out_of_memory();
	for (i = 0; !err && i < crew->meter_count; i++) {
		meter_init(&crew->meters[i], crew, i);
		err = meter_open(&crew->meters[i]);
		if (!err && stop_wanted())
			err = -EINTR;
	}
	if (!err && way)
		remember(way, &crew->meters[0]);
	return err;
}

void crew_close(struct crew *crew)
{
	uint32_t i;

	if (crew->meters) {
		for (i = 0; i < crew->meter_count; i++)
			meter_close(&crew->meters[i]);
		/* The first has the ring and the session of all. */
		for (i = crew->meter_count; i; i--)
			peer_close(&crew->meters[i - 1].peer);
	}
	free(crew->meters);
	free(crew->entries);
	free(crew->times);
}

/*
 * Measuring
 */

int crew_ready(struct crew *crew, uint64_t *begin)
{
	struct group *group = crew->group;
	struct timespec until;

	pthread_mutex_lock(&group->lock);
	if (++group->ready == group->crew_count) {
		group->begin = clock_ns();
		pthread_cond_broadcast(&group->changed);
	}
	while (group->ready < group->crew_count && !stop_wanted() &&
	       !atomic_load(&group->failed)) {
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += LOOK_NS;
		if (until.tv_nsec >= 1000000000L) {
			until.tv_nsec -= 1000000000L;
			until.tv_sec++;
		}
		pthread_cond_timedwait(&group->changed, &group->lock, &until);
	}
	*begin = group->begin;
	pthread_mutex_unlock(&group->lock);
	return stop_wanted() || atomic_load(&group->failed) ? -EINTR : 0;
}

static int prepare(struct crew *crew)
{
	uint32_t i;
	int err = 0;

	for (i = 0; !err && i < crew->meter_count; i++) {
		crew->meters[i].length = (uint32_t)crew->length;
		err = meter_prepare_data(&crew->meters[i]);
	}
	return err;
}

/* One connection with wrong data is enough. */
static int check(struct crew *crew)
{
	enum bench_data data;
	uint32_t i;
	int err = 0;

	crew->data = BENCH_UNCHECKED;
	for (i = 0; !err && i < crew->meter_count; i++) {
		err = meter_check_data(&crew->meters[i], &data);
		if (!err && data > crew->data)
			crew->data = data;
	}
	return err;
}

uint64_t crew_share(const struct crew *crew)
{
	const struct bench_settings *settings = crew->settings;
	uint64_t connections = settings->host_count * settings->connections;

	if (is_doubled(crew))
		connections *= 2;
	return (settings->count + connections - 1) / connections;
}

static int crew_operate(struct crew *crew)
{
	const struct bench_settings *settings = crew->settings;
	struct goal goal = { .count = settings->warmup, .until = UINT64_MAX };
	uint64_t begin;
	uint32_t i;
	int err = prepare(crew);

	if (crew->load && goal.count > LOAD_WARM_UP)
		goal.count = LOAD_WARM_UP;
	if (!err && goal.count)
		err = crew_run(crew, &goal, NULL);
	if (!err)
		err = crew_ready(crew, &begin);
	if (err)
		return err;
	if (crew->load) {
		goal.count = 0;
		goal.over = &crew->group->over;
	} else {
		goal.count = crew_share(crew);
		goal.until = settings->time ? begin + settings->time : UINT64_MAX;
	}
	err = crew_run(crew, &goal, crew->times);
	crew->end = clock_ns();
	for (i = 0; i < crew->meter_count; i++)
		crew->count += crew->meters[i].done;
	return err ? err : check(crew);
}

static void *work(void *argument)
{
	struct crew *crew = argument;
	int none = 0;

	crew->err = crew->operation == BENCH_CONNECT ? crew_connect(crew) : crew_operate(crew);
	/* Also after an error that was not printed, the others must not wait. */
	if (crew->err)
		atomic_compare_exchange_strong(&crew->group->failed, &none, crew->number);
	return NULL;
}

static int start(struct crew *crew)
{
	int err = pthread_create(&crew->thread, NULL, work, crew);

	crew->started = !err;
	if (err)
		complain("cannot create a thread: %s", strerror(err));
	return -err;
}

static void join(struct crew *crew)
{
	if (crew->started)
		pthread_join(crew->thread, NULL);
	crew->started = false;
}

/* Start all but the first, which runs in the calling thread, and wait until all have ended. */
static int run_threads(struct crew *crews, size_t count)
{
	struct group *group = crews[0].group;
	size_t i;
	int err = 0, none = 0;

	for (i = 1; !err && i < count; i++) {
		err = start(&crews[i]);
		if (err)
			atomic_compare_exchange_strong(&group->failed, &none,
						       crews[i].number);
	}
	if (!err)
		work(&crews[0]);
	for (i = 0; i < count; i++)
		if (!crews[i].load)
			join(&crews[i]);
	atomic_store(&group->over, true);
	for (i = 0; i < count; i++)
		join(&crews[i]);
	for (i = 0; !err && i < count; i++)
		err = crews[i].err;
	return err;
}

static uint64_t operations_of(const struct crew *crew, uint32_t index)
{
	const struct meter *meter = &crew->meters[index];

	return crew->operation == BENCH_CONNECT ? meter->operated : meter->done;
}

static void add(struct bench_result *result, const struct crew *crew, uint64_t begin)
{
	uint64_t count;
	uint32_t i;

	if (crew->load) {
		result->load_per_second += bench_per_second(crew->count * crew->length,
							    crew->end - begin);
		if (crew->data == BENCH_WRONG)
			result->data = BENCH_WRONG;
		return;
	}
	for (i = 0; i < crew->meter_count; i++) {
		count = operations_of(crew, i);
		if (count < result->least)
			result->least = count;
		if (count > result->most)
			result->most = count;
	}
	result->count += crew->count;
	if (crew->end - begin > result->elapsed)
		result->elapsed = crew->end - begin;
	if (crew->data > result->data)
		result->data = crew->data;
	stats_merge(result->times, crew->times);
}

int crews_measure(struct crew *crews, size_t count, uint64_t length, struct bench_result *result)
{
	struct group *group = crews[0].group;
	size_t i;
	int err;

	group->crew_count = (unsigned int)count;
	group->ready = 0;
	atomic_store(&group->over, false);
	atomic_store(&group->failed, 0);
	for (i = 0; i < count; i++) {
		struct crew *crew = &crews[i];

		crew->length = crew->load ? BENCH_LOAD_LENGTH : length;
		crew->count = 0;
		crew->err = 0;
		crew->data = BENCH_UNCHECKED;
		stats_init(crew->times);
	}
	err = run_threads(crews, count);
	result->least = UINT64_MAX;
	for (i = 0; !err && i < count; i++)
		add(result, &crews[i], group->begin);
	return err;
}
