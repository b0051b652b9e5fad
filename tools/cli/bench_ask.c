// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * krdma bench HOST: the measuring side.  Each combination of operation and depth has its own
 * connection, which measures all sizes.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "peer_hello.h"
#include "peer_stop.h"

const char * const bench_operation_names[BENCH_OPERATIONS] = {
	[BENCH_WRITE] = "write",
	[BENCH_READ] = "read",
	[BENCH_SEND] = "send",
	[BENCH_ATOMIC] = "atomic",
	[BENCH_CONNECT] = "connect",
};

/* An existing file is kept until the new picture is complete. */
static int plot_open(struct new_file *plot, const char *path)
{
	int err = new_file_open(plot, path);

	if (err)
		complain("cannot write the picture to %s: %s", path, strerror(-err));
	return err;
}

/* Without a result, no picture is written. */
static int plot_close(struct new_file *plot, const struct bench *bench)
{
	const char *path = bench->settings->plot;
	int err = 0, failed;

	if (!plot->stream)
		return 0;
	if (bench->result_count)
		err = bench_plot(bench, plot->stream);
	failed = new_file_close(plot, path, !err && bench->result_count);
	if (!err)
		err = failed;
	if (err)
		complain("cannot write the picture to %s: %s", path, strerror(-err));
	return err;
}

static uint8_t hello_operation(const struct meter *meter)
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
		return meter->depth == 1 ? OPERATION_ECHO : OPERATION_STREAM;
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

static void meter_init(struct meter *meter, const struct bench_settings *settings,
		       enum bench_operation operation, uint64_t depth)
{
	size_t i;

	memset(meter, 0, sizeof(*meter));
	meter->settings = settings;
	meter->operation = operation;
	meter->depth = (uint32_t)depth;
	meter->batch = (uint32_t)(settings->batch < depth ? settings->batch : depth);
	if (operation == BENCH_ATOMIC)
		meter->longest = 8;
	else if (operation != BENCH_CONNECT)
		for (i = 0; i < settings->size_count; i++)
			if (settings->sizes[i] > meter->longest)
				meter->longest = (uint32_t)settings->sizes[i];
	meter->options = (struct peer_options) {
		.host = settings->host,
		.source = settings->source,
		.family = settings->family,
		.port = settings->port,
		.timeout = settings->timeout,
		.polled = settings->polled,
		.lane = settings->lanes && !settings->plain,
		.connections = (uint32_t)settings->lanes,
		/* An answer can arrive before the message that it answers completes. */
		.send_depth = meter->depth + (settings->lanes ? 7 : 16),
		.recv_depth = BENCH_CREDITS,
		.listener = "krdma bench --listen",
	};
}

int meter_connect(struct meter *meter)
{
	struct hello hello = {
		.service = SERVICE_BENCH,
		.operation = hello_operation(meter),
		.length = meter->longest,
		.depth = meter->depth,
	};
	uint8_t wire[HELLO_SIZE];
	int i, err = 0;

	for (i = 0; !err && i < BENCH_CREDITS; i++)
		err = meter_post_receive(meter);
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

static int out_of_memory(void)
{
	complain("out of memory");
	return -ENOMEM;
}

static int meter_open(struct meter *meter)
{
	int err = peer_open(&meter->peer, &meter->options);

	if (err)
		return err;
	meter->entries = calloc(meter->batch, sizeof(*meter->entries));
	if (!meter->entries)
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
	peer_close(&meter->peer);
	free(meter->conns);
	free(meter->entries);
}

static int measure_operations(struct meter *meter, struct bench_result *result)
{
	const struct bench_settings *settings = meter->settings;
	struct goal goal = { .count = settings->warmup, .until = UINT64_MAX };
	uint64_t warm, begun;
	int err;

	meter->length = (uint32_t)result->length;
	err = meter_prepare_data(meter);
	if (!err && settings->warmup)
		err = meter_run(meter, &goal, NULL, &warm);
	if (err)
		return err;
	begun = clock_ns();
	goal.count = settings->count;
	goal.until = settings->time ? begun + settings->time : UINT64_MAX;
	err = meter_run(meter, &goal, result->times, &result->count);
	result->elapsed = clock_ns() - begun;
	return err ? err : meter_check_data(meter, &result->data);
}

static int keep_result(struct bench *bench, const struct bench_result *result)
{
	struct bench_result *results;

	results = realloc(bench->results, (bench->result_count + 1) * sizeof(*results));
	if (!results)
		return out_of_memory();
	results[bench->result_count++] = *result;
	bench->results = results;
	return 0;
}

/* With depth 1 the latency of each operation is recorded. */
static int measure(struct bench *bench, struct meter *meter, uint64_t length)
{
	struct bench_result result = {
		.operation = meter->operation,
		.length = length,
		.depth = meter->depth,
		.batch = meter->batch,
	};
	int err = 0;

	if (meter->depth <= 1)
		result.times = calloc(1, sizeof(*result.times));
	if (meter->depth <= 1 && !result.times)
		err = out_of_memory();
	else if (meter->operation == BENCH_CONNECT)
		err = bench_connect(meter, &result);
	else
		err = measure_operations(meter, &result);
	/* An interrupted measurement is discarded. */
	if (!err && stop_wanted())
		err = -EINTR;
	if (!err)
		err = keep_result(bench, &result);
	if (err) {
		free(result.times);
		return err;
	}
	bench_report(bench, &bench->results[bench->result_count - 1]);
	return stop_wanted() ? -EINTR : 0;
}

/* Keep the address, device and path MTU of the first connection for the report. */
static void remember_way(struct bench *bench, const struct meter *meter)
{
	struct krdma_conn_query_args query;

	if (bench->result_count || *bench->address)
		return;
	snprintf(bench->address, sizeof(bench->address), "%s", meter->peer.address);
	snprintf(bench->name, sizeof(bench->name), "%s", meter->peer.name);
	snprintf(bench->device, sizeof(bench->device), "%s", meter->peer.device);
	bench->trunk = meter->peer.trunk;
	if (meter->peer.conn && !krdma_conn_query(meter->peer.conn, &query, sizeof(query)))
		bench->path_mtu = query.path_mtu;
	bench_report_begin(bench);
}

static int run_meter(struct bench *bench, enum bench_operation operation, uint64_t depth)
{
	const struct bench_settings *settings = bench->settings;
	struct meter meter;
	size_t i;
	int err;

	meter_init(&meter, settings, operation, depth);
	err = meter_open(&meter);
	if (!err) {
		remember_way(bench, &meter);
		if (operation == BENCH_ATOMIC || operation == BENCH_CONNECT)
			err = measure(bench, &meter, meter.longest);
		else
			for (i = 0; !err && i < settings->size_count; i++)
				err = measure(bench, &meter, settings->sizes[i]);
	}
	meter_close(&meter);
	return err;
}

static int run_all(struct bench *bench)
{
	const struct bench_settings *settings = bench->settings;
	size_t i, k;
	int err;

	for (i = 0; i < settings->operation_count; i++) {
		/* Connections are measured one after the other, so depth does not apply. */
		if (settings->operations[i] == BENCH_CONNECT) {
			err = run_meter(bench, BENCH_CONNECT, 1);
			if (err)
				return err;
			continue;
		}
		for (k = 0; k < settings->depth_count; k++) {
			err = run_meter(bench, settings->operations[i], settings->depths[k]);
			if (err)
				return err;
		}
	}
	return 0;
}

static bool all_is_right(const struct bench *bench)
{
	size_t i;

	for (i = 0; i < bench->result_count; i++)
		if (bench->results[i].data == BENCH_WRONG)
			return false;
	return true;
}

int bench_ask(const struct bench_settings *settings)
{
	struct bench bench = { .settings = settings };
	struct new_file plot = { 0 };
	int err = 0;
	size_t i;

	stop_catch();
	if (settings->plot)
		err = plot_open(&plot, settings->plot);
	if (err)
		return EXIT_FAILED;
	err = run_all(&bench);
	if (*bench.address)
		bench_report_end(&bench, !err);
	if (!all_is_right(&bench)) {
		complain("the received data differ from the sent data: see the rows marked WRONG");
		err = -EIO;
	}
	if (plot_close(&plot, &bench) && !err)
		err = -EIO;
	for (i = 0; i < bench.result_count; i++)
		free(bench.results[i].times);
	free(bench.results);
	return err ? EXIT_FAILED : EXIT_OK;
}
