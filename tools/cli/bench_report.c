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

/* Number of measured connections; with both directions, those of the named operation. */
static uint64_t connections(const struct bench *bench)
{
	const struct bench_settings *settings = bench->settings;

	return settings->lanes ? settings->lanes : settings->host_count * settings->connections;
}

static const char *kind_name(const struct bench *bench)
{
	return bench->ways[0].trunk ? "lane" : "plain";
}

/* The rest of the first line. */
static void print_connections(const struct bench *bench)
{
	const struct bench_settings *settings = bench->settings;
	uint64_t threads = settings->threads * settings->host_count;

	if (bench->ways[0].trunk)
		printf(", lanes: %llu, of trunk %llu", (unsigned long long)settings->lanes,
		       (unsigned long long)bench->ways[0].trunk);
	else if (settings->lanes)
		printf(", plain connections: %llu%s", (unsigned long long)settings->lanes,
		       settings->plain ? "" : ": the other side takes no lanes");
	else if (connections(bench) > 1)
		printf(", connections: %llu, threads: %llu",
		       (unsigned long long)connections(bench), (unsigned long long)threads);
	if (settings->both)
		fputs(", both directions", stdout);
	if (settings->load)
		printf(", load: %llu", (unsigned long long)(settings->load * settings->host_count));
	putchar('\n');
}

static void print_ways(const struct bench *bench)
{
	const struct bench_settings *settings = bench->settings;
	size_t i;

	for (i = 0; i < settings->host_count; i++)
		printf("%s%s port %u, through %s", i ? "\n" : "", bench->ways[i].name,
		       settings->port, bench->ways[i].device);
	printf(", mode %s", mode_name(bench));
	print_connections(bench);
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
		puts("connections,kind,hosts,threads,both,load,load_bytes_per_second");
		flush();
		return;
	}
	print_ways(bench);
	/* 80 columns, unless a number is larger than usual. */
	printf("%-7s %7s %5s %7s %7s %8s %7s %8s %8s %7s\n", "", "size", "depth", "p50 us",
	       "p99 us", "p99.9 us", "max us", bench_unit_names[settings->unit], "per s", "count");
	flush();
}

static void print_us(uint64_t ns, int width)
{
	double us = (double)ns / 1e3;

	printf(" %*.*f", width, us < 100 ? 2 : us < 10000 ? 1 : 0, us);
}

static void print_times(const struct stats *times)
{
	print_us(stats_percentile(times, STATS_P50), 7);
	print_us(stats_percentile(times, STATS_P99), 7);
	print_us(stats_percentile(times, STATS_P99_9), 8);
	print_us(times->greatest, 7);
}

static void print_details(const struct stats *times)
{
	printf("%-21s", " min avg mdev p90 us:");
	print_us(times->least, 7);
	print_us((uint64_t)(times->mean + 0.5), 7);
	print_us(stats_deviation(times), 8);
	print_us(stats_percentile(times, STATS_P90), 7);
	putchar('\n');
}

uint64_t bench_bytes_per_second(const struct bench *bench, const struct bench_result *result)
{
	uint64_t bytes = result->count * result->length;

	/* The messages that come back count, too. */
	if (bench->settings->both && result->operation == BENCH_SEND)
		bytes *= 2;
	return bench_per_second(bytes, result->elapsed);
}

/* Several connections, and how even their shares are. */
static void print_shares(const struct bench *bench, const struct bench_result *result)
{
	if (connections(bench) > 1 && !bench->settings->lanes)
		printf(" operations of a connection: %llu to %llu\n",
		       (unsigned long long)result->least, (unsigned long long)result->most);
}

static void print_load(const struct bench *bench, const struct bench_result *result)
{
	enum bench_unit unit = bench->settings->unit;

	if (bench->settings->load)
		printf(" load: %.2f %s\n",
		       bench_in_unit(unit, (double)result->load_per_second),
		       bench_unit_names[unit]);
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

/* A line has every field; those of times are empty if nothing was measured. */
static void print_csv(const struct bench *bench, const struct bench_result *result)
{
	const struct bench_settings *settings = bench->settings;
	const struct stats *times = result->times;

	printf("%s,%llu,%llu,%llu,%llu,%llu,%llu,%llu,%s",
	       bench_operation_names[result->operation], (unsigned long long)result->length,
	       (unsigned long long)result->depth, (unsigned long long)result->batch,
	       (unsigned long long)result->count, (unsigned long long)result->elapsed,
	       (unsigned long long)bench_per_second(result->count, result->elapsed),
	       (unsigned long long)bench_bytes_per_second(bench, result), data_name(result->data));
	if (times->count)
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
	printf(",%llu,%s,%zu,%llu,%s,%llu,%llu\n", (unsigned long long)connections(bench),
	       kind_name(bench), settings->host_count,
	       (unsigned long long)(settings->threads * settings->host_count),
	       settings->both ? "yes" : "no",
	       (unsigned long long)(settings->load * settings->host_count),
	       (unsigned long long)result->load_per_second);
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
	printf("%-7s %7llu %5llu", bench_operation_names[result->operation],
	       (unsigned long long)result->length, (unsigned long long)result->depth);
	print_times(result->times);
	if (result->length)
		printf(" %8.2f", bench_in_unit(bench->settings->unit,
					       (double)bench_bytes_per_second(bench, result)));
	else
		printf(" %8s", "-");
	printf(" %8llu %7llu%s\n",
	       (unsigned long long)bench_per_second(result->count, result->elapsed),
	       (unsigned long long)result->count,
	       result->data == BENCH_WRONG ? "  WRONG data" : "");
	if (common->details) {
		print_details(result->times);
		print_shares(bench, result);
	}
	print_load(bench, result);
	flush();
}

/* Name of the latency that is measured. */
static const char *times_name(const struct bench *bench, const struct bench_result *result)
{
	switch (result->operation) {
	case BENCH_SEND:
		return result->depth == 1 || bench->settings->both ? "round_trip" : "completion";
	case BENCH_CONNECT:
		return "connection";
	default:
		return "completion";
	}
}

static struct json_object *result_json(const struct bench *bench,
				       const struct bench_result *result)
{
	struct json_object *object = json_checked(json_object_new_object());

	json_put_text(object, "operation", bench_operation_names[result->operation]);
	json_put_number(object, "size", result->length);
	json_put_number(object, "depth", result->depth);
	json_put_number(object, "batch", result->batch);
	json_put_number(object, "count", result->count);
	json_put_number(object, "elapsed_ns", result->elapsed);
	json_put_number(object, "per_second", bench_per_second(result->count, result->elapsed));
	json_put_number(object, "bytes_per_second", bench_bytes_per_second(bench, result));
	json_put_text(object, "data", data_name(result->data));
	if (result->times->count) {
		json_put_text(object, "time_of", times_name(bench, result));
		json_put(object, "time_ns", stats_json(result->times));
	}
	if (!bench->settings->lanes) {
		json_put_number(object, "least_of_connection", result->least);
		json_put_number(object, "most_of_connection", result->most);
	}
	if (bench->settings->load)
		json_put_number(object, "load_bytes_per_second", result->load_per_second);
	return object;
}

static struct json_object *hosts_json(const struct bench *bench)
{
	struct json_object *hosts = json_checked(json_object_new_array());
	size_t i;

	for (i = 0; i < bench->settings->host_count; i++) {
		const struct bench_way *way = &bench->ways[i];
		struct json_object *object = json_checked(json_object_new_object());

		json_put_text(object, "host", bench->settings->hosts[i]);
		json_put_text(object, "address", way->address);
		json_put_text(object, "device", way->device);
		json_put_number(object, "path_mtu", way->path_mtu);
		json_append(hosts, object);
	}
	return hosts;
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
	json_put_text(object, "address", bench->ways[0].address);
	json_put_number(object, "port", settings->port);
	json_put_text(object, "device", bench->ways[0].device);
	json_put_number(object, "path_mtu", bench->ways[0].path_mtu);
	json_put_text(object, "mode", mode_name(bench));
	json_put_number(object, "connections", connections(bench));
	json_put_text(object, "kind", kind_name(bench));
	json_put_number(object, "trunk", bench->ways[0].trunk);
	json_put(object, "hosts", hosts_json(bench));
	json_put_number(object, "threads", settings->threads * settings->host_count);
	json_put(object, "both", json_object_new_boolean(settings->both));
	json_put_number(object, "load", settings->load * settings->host_count);
	json_put(object, "complete", json_object_new_boolean(complete));
	for (i = 0; i < bench->result_count; i++)
		json_append(results, result_json(bench, &bench->results[i]));
	json_put(object, "results", results);
	json_print(object, settings->common);
}
