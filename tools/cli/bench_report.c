// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * krdma bench: the output: a row when a measurement ends, or JSON with all of them.
 */
#include <json-c/json.h>

#include "bench.h"
#include "peer_stop.h"

const char * const bench_unit_names[BENCH_UNITS] = {
	[BENCH_MIB] = "MiB/s",
	[BENCH_MB] = "MB/s",
	[BENCH_GBIT] = "Gbit/s",
};

double bench_in_unit(enum bench_unit unit, double bytes_per_second)
{
	switch (unit) {
	case BENCH_MB:
		return bytes_per_second / 1e6;
	case BENCH_GBIT:
		return bytes_per_second * 8 / 1e9;
	default:
		return bytes_per_second / (1024 * 1024);
	}
}

static const char *mode_name(const struct bench *bench)
{
	return bench->settings->polled ? "poll" : "event";
}

static void flush(void)
{
	fflush(stdout);
	if (ferror(stdout))
		stop_now();
}

/* @amount per second, for any @amount and @elapsed nanoseconds. */
uint64_t bench_per_second(uint64_t amount, uint64_t elapsed)
{
	return elapsed ? (uint64_t)((double)amount * 1e9 / (double)elapsed + 0.5) : 0;
}

static uint64_t connections(const struct bench *bench)
{
	return bench->settings->lanes ? bench->settings->lanes : 1;
}

static const char *kind_name(const struct bench *bench)
{
	return bench->trunk ? "lane" : "plain";
}

/* The rest of the first line, with --lanes. */
static void print_connections(const struct bench *bench)
{
	const struct bench_settings *settings = bench->settings;

	if (bench->trunk)
		printf(", lanes: %llu, of trunk %llu\n", (unsigned long long)settings->lanes,
		       (unsigned long long)bench->trunk);
	else if (settings->lanes)
		printf(", plain connections: %llu%s\n", (unsigned long long)settings->lanes,
		       settings->plain ? "" : ": the other side takes no lanes");
	else
		putchar('\n');
}

void bench_report_begin(const struct bench *bench)
{
	const struct bench_settings *settings = bench->settings;

	if (settings->common->json)
		return;
	if (settings->csv) {
		fputs("operation,size,depth,batch,count,elapsed_ns,per_second,bytes_per_second,",
		      stdout);
		fputs("data,min_ns,avg_ns,max_ns,mdev_ns,p50_ns,p90_ns,p99_ns,p99_9_ns,", stdout);
		puts("connections,kind");
		flush();
		return;
	}
	printf("%s port %u, through %s, mode %s", bench->name, settings->port, bench->device,
	       mode_name(bench));
	print_connections(bench);
	printf("%-8s %8s %5s %9s %9s %9s %9s %9s %9s %9s\n", "", "size", "depth", "p50 us",
	       "p99 us", "p99.9 us", "max us", bench_unit_names[settings->unit], "per s", "count");
	flush();
}

static void print_us(uint64_t ns)
{
	double us = (double)ns / 1e3;

	printf(us < 100 ? " %9.2f" : us < 10000 ? " %9.1f" : " %9.0f", us);
}

static void print_times(const struct stats *times)
{
	int i;

	if (times) {
		print_us(stats_percentile(times, STATS_P50));
		print_us(stats_percentile(times, STATS_P99));
		print_us(stats_percentile(times, STATS_P99_9));
		print_us(times->greatest);
		return;
	}
	for (i = 0; i < 4; i++)
		printf(" %9s", "-");
}

static void print_details(const struct stats *times)
{
	printf("%-23s", "  min avg mdev p90 us:");
	print_us(times->least);
	print_us((uint64_t)(times->mean + 0.5));
	print_us(stats_deviation(times));
	print_us(stats_percentile(times, STATS_P90));
	putchar('\n');
}

static uint64_t bytes_per_second(const struct bench_result *result)
{
	return bench_per_second(result->count * result->length, result->elapsed);
}

static const char *data_name(enum bench_data data)
{
	switch (data) {
	case BENCH_RIGHT:
		return "right";
	case BENCH_WRONG:
		return "wrong";
	default:
		return "unchecked";
	}
}

/* A line has every field; those of times are empty unless the depth is 1. */
static void print_csv(const struct bench *bench, const struct bench_result *result)
{
	const struct stats *times = result->times;

	printf("%s,%llu,%llu,%llu,%llu,%llu,%llu,%llu,%s",
	       bench_operation_names[result->operation], (unsigned long long)result->length,
	       (unsigned long long)result->depth, (unsigned long long)result->batch,
	       (unsigned long long)result->count, (unsigned long long)result->elapsed,
	       (unsigned long long)bench_per_second(result->count, result->elapsed),
	       (unsigned long long)bytes_per_second(result), data_name(result->data));
	if (times)
		printf(",%llu,%.0f,%llu,%llu,%llu,%llu,%llu,%llu",
		       (unsigned long long)times->least, times->mean,
		       (unsigned long long)times->greatest,
		       (unsigned long long)stats_deviation(times),
		       (unsigned long long)stats_percentile(times, STATS_P50),
		       (unsigned long long)stats_percentile(times, STATS_P90),
		       (unsigned long long)stats_percentile(times, STATS_P99),
		       (unsigned long long)stats_percentile(times, STATS_P99_9));
	else
		fputs(",,,,,,,,", stdout);
	printf(",%llu,%s\n", (unsigned long long)connections(bench), kind_name(bench));
	flush();
}

void bench_report(const struct bench *bench, const struct bench_result *result)
{
	const struct options *common = bench->settings->common;

	if (common->json)
		return;
	if (bench->settings->csv) {
		print_csv(bench, result);
		return;
	}
	printf("%-8s %8llu %5llu", bench_operation_names[result->operation],
	       (unsigned long long)result->length, (unsigned long long)result->depth);
	print_times(result->times);
	if (result->length)
		printf(" %9.2f", bench_in_unit(bench->settings->unit,
					       (double)bytes_per_second(result)));
	else
		printf(" %9s", "-");
	printf(" %9llu %9llu%s\n",
	       (unsigned long long)bench_per_second(result->count, result->elapsed),
	       (unsigned long long)result->count,
	       result->data == BENCH_WRONG ? "  WRONG data" : "");
	if (common->details && result->times)
		print_details(result->times);
	flush();
}

/* Name of the latency that is measured with depth 1. */
static const char *times_name(const struct bench_result *result)
{
	switch (result->operation) {
	case BENCH_SEND:
		return "round_trip";
	case BENCH_CONNECT:
		return "connection";
	default:
		return "completion";
	}
}

static struct json_object *result_json(const struct bench_result *result)
{
	struct json_object *object = json_checked(json_object_new_object());

	json_put_text(object, "operation", bench_operation_names[result->operation]);
	json_put_number(object, "size", result->length);
	json_put_number(object, "depth", result->depth);
	json_put_number(object, "batch", result->batch);
	json_put_number(object, "count", result->count);
	json_put_number(object, "elapsed_ns", result->elapsed);
	json_put_number(object, "per_second", bench_per_second(result->count, result->elapsed));
	json_put_number(object, "bytes_per_second", bytes_per_second(result));
	json_put_text(object, "data", data_name(result->data));
	if (result->times) {
		json_put_text(object, "time_of", times_name(result));
		json_put(object, "time_ns", stats_json(result->times));
	}
	return object;
}

void bench_report_end(const struct bench *bench, bool complete)
{
	const struct bench_settings *settings = bench->settings;
	struct json_object *object, *results;
	size_t i;

	if (!settings->common->json) {
		if (!complete)
			fprintf(settings->csv ? stderr : stdout, "not complete\n");
		return;
	}
	object = json_checked(json_object_new_object());
	results = json_checked(json_object_new_array());
	json_put_text(object, "host", settings->host);
	json_put_text(object, "address", bench->address);
	json_put_number(object, "port", settings->port);
	json_put_text(object, "device", bench->device);
	json_put_number(object, "path_mtu", bench->path_mtu);
	json_put_text(object, "mode", mode_name(bench));
	json_put_number(object, "connections", connections(bench));
	json_put_text(object, "kind", kind_name(bench));
	json_put_number(object, "trunk", bench->trunk);
	json_put(object, "complete", json_object_new_boolean(complete));
	for (i = 0; i < bench->result_count; i++)
		json_append(results, result_json(&bench->results[i]));
	json_put(object, "results", results);
	json_print(object, settings->common);
}
