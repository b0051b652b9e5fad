// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * krdma bench HOST: the measuring side.  Each combination of operation and depth has its own
 * connections, which measure all sizes.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
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

static int out_of_memory(void)
{
	complain("out of memory");
	return -ENOMEM;
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

/* Crews of one operation and depth: those that measure, and then those of --load. */
struct run {
	struct crew *crews;
	size_t count;
};

static int measure(struct bench *bench, const struct run *run, uint64_t length)
{
	const struct crew *first = &run->crews[0];
	struct bench_result result = {
		.operation = first->operation,
		.length = length,
		.depth = first->depth,
		.batch = first->meters[0].batch,
	};
	int err = 0;

	result.times = calloc(1, sizeof(*result.times));
	if (!result.times)
		err = out_of_memory();
	else
		err = crews_measure(run->crews, run->count, length, &result);
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

/* The crews of a host come one after the other, so that its first one finds the way. */
static int open_crews(struct bench *bench, struct run *run, struct group *group,
		      enum bench_operation operation, uint64_t depth)
{
	const struct bench_settings *settings = bench->settings;
	size_t measuring = settings->host_count * settings->threads, i;
	int err = 0;

	run->count = measuring + (settings->load ? settings->host_count : 0);
	run->crews = calloc(run->count, sizeof(*run->crews));
	if (!run->crews) {
		run->count = 0;
		return out_of_memory();
	}
	for (i = 0; !err && i < run->count; i++) {
		struct crew *crew = &run->crews[i];
		size_t host = i / settings->threads;

		crew->settings = settings;
		crew->group = group;
		crew->number = (int)i + 1;
		crew->load = i >= measuring;
		if (crew->load)
			host = i - measuring;
		crew->host = settings->hosts[host];
		crew->operation = crew->load ? BENCH_WRITE : operation;
		crew->depth = crew->load ? BENCH_LOAD_DEPTH : (uint32_t)depth;
		/* The remainder goes to the first threads. */
		crew->meter_count = (uint32_t)(crew->load ? settings->load :
			settings->connections / settings->threads +
			(i % settings->threads < settings->connections % settings->threads));
		err = crew_open(crew, bench->found || crew->load || i % settings->threads ? NULL :
				      &bench->ways[host]);
	}
	return err;
}

static int run_crews(struct bench *bench, enum bench_operation operation, uint64_t depth)
{
	const struct bench_settings *settings = bench->settings;
	struct group group = {
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.changed = PTHREAD_COND_INITIALIZER,
	};
	struct run run = { 0 };
	size_t i;
	int err = open_crews(bench, &run, &group, operation, depth);

	if (!err && !bench->found) {
		bench->found = true;
		bench_report_begin(bench);
	}
	if (!err && operation == BENCH_ATOMIC)
		err = measure(bench, &run, 8);
	else if (!err && operation == BENCH_CONNECT)
		err = measure(bench, &run, 0);
	else
		for (i = 0; !err && i < settings->size_count; i++)
			err = measure(bench, &run, settings->sizes[i]);
	for (i = 0; i < run.count; i++)
		crew_close(&run.crews[i]);
	free(run.crews);
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
			err = run_crews(bench, BENCH_CONNECT, 1);
			if (err)
				return err;
			continue;
		}
		for (k = 0; k < settings->depth_count; k++) {
			err = run_crews(bench, settings->operations[i], settings->depths[k]);
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
	if (bench.found)
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
