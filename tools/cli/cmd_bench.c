// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * krdma bench: measure latency and throughput of operations.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "bench.h"
#include "peer_serve.h"
#include "value.h"

#define HOUR (UINT64_C(3600) * VALUE_SECOND)
/* Places of a ring for each connection, besides those for its depth. */
#define RING_SPARE 32

static const char usage[] =
	"Usage: krdma bench [OPTION]... HOST[,HOST]... [OPERATION]...\n"
	"       krdma bench --listen [OPTION]...\n"
	"       krdma bench --compare [--unit UNIT] [--plot FILE] OLD NEW\n"
	"\n"
	"Measures the latency and the rate of operations with HOST, or several hosts at\n"
	"once, where 'krdma bench --listen' runs.  Ctrl-C ends both.\n"
	"\n"
	"Operations: write, read, send (a round trip; with several in flight, in one\n"
	"direction), atomic (fetch and add), connect.  Without any: write read send.\n"
	"\n"
	"  -s, --size LIST        sizes, separated by commas (64,4k,64k); all: the powers\n"
	"                         of two up to 1 MiB\n"
	"      --depth LIST       operations in flight, separated by commas (1)\n"
	"      --batch N          operations posted in one call (1)\n"
	"      --connections N    connections to each host, all at once (one a thread)\n"
	"      --threads N        threads for each host, which share the connections (1)\n"
	"      --both             data in both directions: writes and reads beside each\n"
	"                         other, or messages that come back (send)\n"
	"      --load N           meanwhile, N more connections to each host write\n"
	"      --lanes N          N lanes to HOST: opens and closes them (connect), and\n"
	"                         uses each in turn (the others); without any: connect\n"
	"                         send\n"
	"      --plain            with --lanes: N plain connections instead, to compare\n"
	"  -t, --time TIME        duration of each measurement (1 second)\n"
	"  -c, --count N          operations of each measurement, instead of -t\n"
	"      --warm-up N        operations before each measurement, not counted (100)\n"
	"      --event, --poll    wait for interrupts (the default), or poll the device\n"
	"                         all the time; also with --listen\n"
	"      --plot FILE        draws the results to FILE, as SVG\n"
	"      --unit UNIT        unit of rates: MiB/s (the default), MB/s, Gbit/s\n"
	"      --csv              a line of fields for each result, separated by commas\n"
	"      --compare          prints two results of 'krdma bench -j' side by side,\n"
	"                         and draws them with --plot\n"
	"  -P, --port PORT        port to connect to or listen on (7178)\n"
	"  -W, --timeout TIME     how long to wait for an operation (10 seconds)\n"
	"  -I, --address ADDRESS  local address\n"
	"  -4, -6                 IPv4 or IPv6 only\n"
	"      --listen           serve several clients at a time, until Ctrl-C\n"
	"      --lane             like --lanes 1; with --listen: take lanes, too\n"
	"  -q, --quiet            with --listen: only the summary\n"
	"      --max-clients N, --max-memory SIZE, --max-size SIZE\n"
	"                         limits for clients; see the manual\n"
	"\n"
	OPTIONS_HELP
	"\n"
	"Manual: krdma-bench(8)\n";

enum {
	OPTION_LISTEN = OWN_OPTION,
	OPTION_DEPTH,
	OPTION_BATCH,
	OPTION_WARM_UP,
	OPTION_CONNECTIONS,
	OPTION_THREADS,
	OPTION_BOTH,
	OPTION_LOAD,
	OPTION_LANES,
	OPTION_PLAIN,
	OPTION_LANE,
	OPTION_EVENT,
	OPTION_POLL,
	OPTION_PLOT,
	OPTION_UNIT,
	OPTION_CSV,
	OPTION_COMPARE,
	OPTION_MAX_CLIENTS,
	OPTION_MAX_MEMORY,
	OPTION_MAX_SIZE,
};

static const struct own_option own[] = {
	{ "size", 's', true },
	{ "depth", OPTION_DEPTH, true },
	{ "batch", OPTION_BATCH, true },
	{ "time", 't', true },
	{ "count", 'c', true },
	{ "warm-up", OPTION_WARM_UP, true },
	{ "connections", OPTION_CONNECTIONS, true },
	{ "threads", OPTION_THREADS, true },
	{ "both", OPTION_BOTH, false },
	{ "load", OPTION_LOAD, true },
	{ "lanes", OPTION_LANES, true },
	{ "plain", OPTION_PLAIN, false },
	{ "lane", OPTION_LANE, false },
	{ "event", OPTION_EVENT, false },
	{ "poll", OPTION_POLL, false },
	{ "plot", OPTION_PLOT, FILE_VALUE },
	{ "unit", OPTION_UNIT, true },
	{ "csv", OPTION_CSV, false },
	{ "compare", OPTION_COMPARE, false },
	{ "port", 'P', true },
	{ "timeout", 'W', true },
	{ "address", 'I', true },
	{ "ipv4", '4', false },
	{ "ipv6", '6', false },
	{ "listen", OPTION_LISTEN, false },
	{ "quiet", 'q', false },
	{ "max-clients", OPTION_MAX_CLIENTS, true },
	{ "max-memory", OPTION_MAX_MEMORY, true },
	{ "max-size", OPTION_MAX_SIZE, true },
	{ NULL, 0, false },
};

/* The settings, and the last option given that is for one side only, for an error message. */
struct given {
	struct bench_settings settings;
	const char *asking;
	const char *listening;
	bool time;
	bool unit;
	bool compare;
};

static int set_port(const char *value, struct bench_settings *settings)
{
	uint64_t port;

	if (value_number("-P", value, 1, UINT16_MAX, &port))
		return EXIT_USAGE;
	settings->port = (uint16_t)port;
	return 0;
}

/* "MiB/s", or without its end, in any letters. */
static int set_unit(const char *value, struct given *given)
{
	size_t length = strlen(value);
	int unit;

	given->unit = true;
	for (unit = 0; unit < BENCH_UNITS; unit++) {
		const char *name = bench_unit_names[unit];

		if (!strcasecmp(value, name) ||
		    (length == strlen(name) - 2 && !strncasecmp(value, name, length))) {
			given->settings.unit = (enum bench_unit)unit;
			return 0;
		}
	}
	return usage_error("--unit needs MiB/s, MB/s or Gbit/s, not '%s'", value);
}

/* Options for several connections. */
static int set_connections(int key, const char *value, struct given *given)
{
	struct bench_settings *settings = &given->settings;

	switch (key) {
	case OPTION_CONNECTIONS:
		given->asking = "--connections";
		return value_number(given->asking, value, 1, BENCH_MAX_CONNECTIONS,
				    &settings->connections);
	case OPTION_THREADS:
		given->asking = "--threads";
		return value_number(given->asking, value, 1, BENCH_MAX_THREADS,
				    &settings->threads);
	case OPTION_BOTH:
		given->asking = "--both";
		settings->both = true;
		return 0;
	case OPTION_LOAD:
		given->asking = "--load";
		return value_number(given->asking, value, 1, BENCH_MAX_LOAD, &settings->load);
	case OPTION_LANES:
		given->asking = "--lanes";
		return value_number("--lanes", value, 1, BENCH_MAX_LANES, &settings->lanes);
	case OPTION_PLAIN:
		given->asking = "--plain";
		settings->plain = true;
		return 0;
	}
	return EXIT_USAGE;
}

/* Options of the measuring side. */
static int set_asking(int key, const char *value, struct given *given)
{
	struct bench_settings *settings = &given->settings;

	switch (key) {
	case 's':
		given->asking = "-s";
		return value_sizes("-s", value, BENCH_MAX_LENGTH, BENCH_ALL_LENGTH,
				   settings->sizes, BENCH_SIZES, &settings->size_count);
	case OPTION_DEPTH:
		given->asking = "--depth";
		return value_numbers("--depth", value, 1, BENCH_MAX_DEPTH, settings->depths,
				     BENCH_DEPTHS, &settings->depth_count);
	case OPTION_BATCH:
		given->asking = "--batch";
		return value_number("--batch", value, 1, BENCH_MAX_DEPTH, &settings->batch);
	case 't':
		given->asking = "-t";
		given->time = true;
		return value_time("-t", value, HOUR, &settings->time);
	case 'c':
		given->asking = "-c";
		return value_number("-c", value, 1, UINT64_C(1) << 40, &settings->count);
	case OPTION_WARM_UP:
		given->asking = "--warm-up";
		return value_number("--warm-up", value, 0, UINT64_C(1) << 40, &settings->warmup);
	case 'W':
		given->asking = "-W";
		return value_time("-W", value, HOUR, &settings->timeout);
	case OPTION_CSV:
		given->asking = "--csv";
		settings->csv = true;
		return 0;
	}
	return set_connections(key, value, given);
}

static int set_listening(int key, const char *value, struct given *given)
{
	struct bench_settings *settings = &given->settings;

	switch (key) {
	case OPTION_MAX_CLIENTS:
		given->listening = "--max-clients";
		return value_number(given->listening, value, 1, 65536, &settings->max_clients);
	case OPTION_MAX_MEMORY:
		given->listening = "--max-memory";
		return value_size(given->listening, value, UINT64_C(1) << 40,
				  &settings->max_memory);
	case OPTION_MAX_SIZE:
		given->listening = "--max-size";
		return value_size(given->listening, value, BENCH_MAX_LENGTH,
				  &settings->max_length);
	case 'q':
		given->listening = "-q";
		settings->quiet = true;
		return 0;
	}
	return EXIT_USAGE;
}

static int set(int key, const char *value, void *to)
{
	struct given *given = to;
	struct bench_settings *settings = &given->settings;

	switch (key) {
	case OPTION_EVENT:
		settings->polled = false;
		return 0;
	case OPTION_POLL:
		settings->polled = true;
		return 0;
	case 'P':
		return set_port(value, settings);
	case OPTION_UNIT:
		return set_unit(value, given);
	case OPTION_PLOT:
		settings->plot = value;
		return 0;
	case OPTION_COMPARE:
		given->compare = true;
		return 0;
	case 'I':
		settings->source = value;
		return 0;
	case '4':
		settings->family = AF_INET;
		return 0;
	case '6':
		settings->family = AF_INET6;
		return 0;
	case OPTION_LANE:
		settings->take_lanes = true;
		return 0;
	case OPTION_LISTEN:
		settings->listen = true;
		return 0;
	case OPTION_MAX_CLIENTS:
	case OPTION_MAX_MEMORY:
	case OPTION_MAX_SIZE:
	case 'q':
		return set_listening(key, value, given);
	default:
		return set_asking(key, value, given);
	}
}

static int add_operation(struct bench_settings *settings, const char *word)
{
	size_t i;
	int operation;

	for (operation = 0; operation < BENCH_OPERATIONS; operation++)
		if (!strcmp(word, bench_operation_names[operation]))
			break;
	if (operation == BENCH_OPERATIONS)
		return usage_error("'%s' is not an operation; 'krdma bench --help' lists them",
				   word);
	for (i = 0; i < settings->operation_count; i++)
		if (settings->operations[i] == (enum bench_operation)operation)
			return usage_error("the operation '%s' is named twice", word);
	settings->operations[settings->operation_count++] = (enum bench_operation)operation;
	return 0;
}

/* Set the defaults of options that were not given. */
static void complete(struct given *given)
{
	static const enum bench_operation operations[] = { BENCH_WRITE, BENCH_READ, BENCH_SEND };
	static const uint64_t sizes[] = { 64, 4096, 65536 };
	static const enum bench_operation of_lanes[] = { BENCH_CONNECT, BENCH_SEND };
	struct bench_settings *settings = &given->settings;

	if (!settings->operation_count && settings->lanes) {
		memcpy(settings->operations, of_lanes, sizeof(of_lanes));
		settings->operation_count = ARRAY_SIZE(of_lanes);
	}
	if (!settings->operation_count) {
		memcpy(settings->operations, operations, sizeof(operations));
		settings->operation_count = 3;
	}
	if (!settings->size_count) {
		memcpy(settings->sizes, sizes, sizeof(sizes));
		settings->size_count = 3;
	}
	if (!settings->depth_count) {
		settings->depths[0] = 1;
		settings->depth_count = 1;
	}
	/* One connection for each thread, and one thread, unless both are given. */
	if (!settings->threads)
		settings->threads = 1;
	if (!settings->connections)
		settings->connections = settings->threads;
	/* A time limit is the default only if no count was given. */
	if (!given->time && !settings->count)
		settings->time = VALUE_SECOND;
}

/* Several connections are measured in turn. */
static int check_lanes(const struct bench_settings *settings)
{
	if (!settings->lanes)
		return settings->plain ? usage_error("--plain is for --lanes") : 0;
	if (settings->connections || settings->threads || settings->both || settings->load)
		return usage_error("--lanes uses one thread and one host: no --connections,\n"
				   "--threads, --both or --load");
	if (settings->host_count > 1)
		return usage_error("--lanes uses one thread and one host, not '%s'",
				   settings->host);
	if (settings->depth_count || settings->batch > 1)
		return usage_error("--lanes has one operation in flight: no --depth, no --batch");
	return 0;
}

/* With both directions: the operations that have an opposite. */
static int check_both(const struct bench_settings *settings)
{
	size_t i;

	for (i = 0; settings->both && i < settings->operation_count; i++) {
		enum bench_operation operation = settings->operations[i];

		if (operation == BENCH_ATOMIC || operation == BENCH_CONNECT)
			return usage_error("--both measures write, read and send, and no '%s'",
					   bench_operation_names[operation]);
	}
	return 0;
}

/* A thread has one ring, which has a place for each operation in flight. */
static int check_connections(const struct bench_settings *settings)
{
	uint64_t each = settings->connections / settings->threads + 2, depth = 0;
	size_t i;

	if (settings->connections < settings->threads)
		return usage_error("--connections must not be less than --threads: %llu threads\n"
				   "need a connection each",
				   (unsigned long long)settings->threads);
	if (settings->lanes)
		return 0;
	for (i = 0; i < settings->depth_count; i++)
		if (settings->depths[i] > depth)
			depth = settings->depths[i];
	depth *= settings->both ? 3 : 1;
	if ((settings->both ? 2 * each : each) * (depth + RING_SPARE) > KRDMA_RING_ENTRIES_MAX)
		return usage_error("that many operations in flight are too many for a thread\n"
				   "Give more --threads, fewer --connections, or less --depth");
	return 0;
}

/* Split the hosts, which are words between commas. */
static int set_hosts(struct bench_settings *settings, const char *words, char **copy)
{
	char *rest, *word;

	settings->host = words;
	*copy = strdup(words);
	rest = *copy;
	if (!rest)
		return usage_error("out of memory");
	while ((word = strsep(&rest, ","))) {
		if (!*word && strchr(words, ','))
			return usage_error("'%s' has a comma without a host beside it", words);
		if (settings->host_count == BENCH_MAX_HOSTS)
			return usage_error("at most %u hosts can be measured at once",
					   BENCH_MAX_HOSTS);
		settings->hosts[settings->host_count++] = word;
	}
	return 0;
}

static int ask_hosts(struct given *given)
{
	struct bench_settings *settings = &given->settings;

	if (settings->take_lanes && !settings->lanes)
		settings->lanes = 1;
	if (check_lanes(settings) || check_both(settings))
		return EXIT_USAGE;
	complete(given);
	if (check_connections(settings))
		return EXIT_USAGE;
	return bench_ask(settings);
}

static int ask_side(struct given *given, int argc, char **argv, int first)
{
	struct bench_settings *settings = &given->settings;
	char *hosts;
	int status;

	if (first == argc)
		return usage_error("no host is given: krdma bench HOST; see 'krdma bench --help'");
	if (given->listening)
		return usage_error("%s is for --listen", given->listening);
	if (settings->csv && settings->common->json)
		return usage_error("--csv or --json, not both");
	if (given->time && !settings->time)
		return usage_error("-t must be greater than 0");
	if (!settings->timeout)
		return usage_error("-W must be greater than 0");
	status = set_hosts(settings, argv[first], &hosts);
	while (!status && ++first < argc)
		status = add_operation(settings, argv[first]);
	if (!status)
		status = ask_hosts(given);
	free(hosts);
	return status;
}

static int listen_side(const struct given *given, int argc, char **argv, int first)
{
	if (first < argc)
		return usage_error("--listen takes no host '%s'; its own address goes after -I",
				   argv[first]);
	if (given->asking)
		return usage_error("%s is for the side that measures, not for --listen",
				   given->asking);
	if (given->unit || given->settings.plot)
		return usage_error("%s is for the side that measures, not for --listen",
				   given->unit ? "--unit" : "--plot");
	return bench_listen(&given->settings);
}

static int compare_side(const struct given *given, int argc, char **argv, int first)
{
	const char *other = given->asking ? given->asking : given->listening;

	if (other || given->settings.listen)
		return usage_error("--compare measures nothing: leave %s out",
				   other ? other : "--listen");
	if (argc - first != 2)
		return usage_error("--compare takes two files of 'krdma bench -j HOST'");
	if (given->settings.common->json)
		return usage_error("--compare prints text only; a program can read both files");
	return bench_compare(&given->settings, argv[first], argv[first + 1]);
}

int cmd_bench(int argc, char **argv, struct options *options)
{
	struct given given = {
		.settings = {
			.common = options,
			.port = BENCH_PORT,
			.batch = 1,
			.warmup = 100,
			.timeout = 10 * VALUE_SECOND,
			.max_clients = SERVE_MAX_CLIENTS,
			.max_memory = SERVE_MAX_MEMORY,
			.max_length = BENCH_MAX_LENGTH,
		},
	};
	int first = options_parse_own(argc, argv, options, own, set, &given);

	if (first < 0)
		return EXIT_USAGE;
	if (options->help || (first < argc && !strcmp(argv[first], "help"))) {
		fputs(usage, stdout);
		return EXIT_OK;
	}
	if (given.compare)
		return compare_side(&given, argc, argv, first);
	if (given.settings.listen)
		return listen_side(&given, argc, argv, first);
	return ask_side(&given, argc, argv, first);
}
