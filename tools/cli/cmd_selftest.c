// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * krdma selftest: check that krdma works on a device.
 */
#include <string.h>

#include "peer_stop.h"
#include "selftest.h"
#include "value.h"

#define HOUR (UINT64_C(3600) * VALUE_SECOND)
/* Seeds are short, because the user may type them again. */
#define SEED_MAX UINT32_MAX

static const char usage[] =
	"Usage: krdma selftest [OPTION]... DEVICE\n"
	"       krdma selftest --listen [OPTION]...\n"
	"       krdma selftest --list\n"
	"\n"
	"Tests krdma on DEVICE: connects it to itself, or with --peer to another machine,\n"
	"and tries every operation, limit and kind of end.  Each line is PASS, FAIL, NOT\n"
	"OFFERED (the device does not have it) or NOT RUN.  It takes about a minute;\n"
	"Ctrl-C ends it.\n"
	"\n"
	"      --peer HOST        the other end is 'krdma selftest --listen' at HOST\n"
	"      --listen           be that other end, until Ctrl-C\n"
	"      --report FILE      writes the results to FILE, as JSON, to be sent to\n"
	"                         others: no host names, addresses or GUIDs are in it\n"
	"      --addresses        include those in the report\n"
	"      --unplug           at the end, remove the device during operation; as root\n"
	"      --only NAME        the checks whose names begin with NAME\n"
	"      --list             the names of all checks\n"
	"      --memory SIZE      memory that each end registers at a time (64MiB)\n"
	"      --cycles N         connections, one after the other (100)\n"
	"      --seed N           of the data, to repeat a test\n"
	"  -t, --time TIME        begin no check after this time (180 seconds)\n"
	"  -W, --timeout TIME     how long to wait for an operation (10 seconds)\n"
	"  -P, --port PORT        TCP port of --listen (7179)\n"
	"  -I, --address ADDRESS  local address\n"
	"  -4, -6                 IPv4 or IPv6 only\n"
	"  -q, --quiet            only what fails, and the summary\n"
	"      --max-memory SIZE  with --listen: what each test may register\n"
	"\n"
	OPTIONS_HELP
	"\n"
	"Manual: krdma-selftest(8)\n";

enum {
	OPTION_PEER = OWN_OPTION,
	OPTION_LISTEN,
	OPTION_REPORT,
	OPTION_ADDRESSES,
	OPTION_UNPLUG,
	OPTION_ONLY,
	OPTION_LIST,
	OPTION_MEMORY,
	OPTION_CYCLES,
	OPTION_SEED,
	OPTION_MAX_MEMORY,
};

static const struct own_option own[] = {
	{ "peer", OPTION_PEER, true },
	{ "listen", OPTION_LISTEN, false },
	{ "report", OPTION_REPORT, FILE_VALUE },
	{ "addresses", OPTION_ADDRESSES, false },
	{ "unplug", OPTION_UNPLUG, false },
	{ "only", OPTION_ONLY, true },
	{ "list", OPTION_LIST, false },
	{ "memory", OPTION_MEMORY, true },
	{ "cycles", OPTION_CYCLES, true },
	{ "seed", OPTION_SEED, true },
	{ "time", 't', true },
	{ "timeout", 'W', true },
	{ "port", 'P', true },
	{ "address", 'I', true },
	{ "ipv4", '4', false },
	{ "ipv6", '6', false },
	{ "quiet", 'q', false },
	{ "max-memory", OPTION_MAX_MEMORY, true },
	{ NULL, 0, false },
};

/* The settings, and the last option given that is for one side only, for an error message. */
struct given {
	struct selftest_settings settings;
	const char *testing;
	const char *serving;
};

/* Options of the testing side. */
static int set_testing(int key, const char *value, struct given *given)
{
	struct selftest_settings *settings = &given->settings;
	uint64_t number;

	switch (key) {
	case OPTION_PEER:
		given->testing = "--peer";
		settings->peer = value;
		return 0;
	case OPTION_REPORT:
		given->testing = "--report";
		settings->report = value;
		return 0;
	case OPTION_ADDRESSES:
		given->testing = "--addresses";
		settings->addresses = true;
		return 0;
	case OPTION_UNPLUG:
		given->testing = "--unplug";
		settings->unplug = true;
		return 0;
	case OPTION_ONLY:
		given->testing = "--only";
		settings->only = value;
		return 0;
	case OPTION_MEMORY:
		given->testing = "--memory";
		return value_size("--memory", value, UINT64_C(1) << 30, &settings->mr);
	case OPTION_CYCLES:
		given->testing = "--cycles";
		if (value_number("--cycles", value, 1, 1000000, &number))
			return EXIT_USAGE;
		settings->cycles = (uint32_t)number;
		return 0;
	case OPTION_SEED:
		given->testing = "--seed";
		return value_number("--seed", value, 0, SEED_MAX, &settings->seed);
	case 't':
		given->testing = "-t";
		return value_time("-t", value, 24 * HOUR, &settings->time);
	case 'W':
		given->testing = "-W";
		return value_time("-W", value, VALUE_SECOND * 60, &settings->timeout);
	}
	return EXIT_USAGE;
}

static int set(int key, const char *value, void *to)
{
	struct given *given = to;
	struct selftest_settings *settings = &given->settings;
	uint64_t number;

	switch (key) {
	case OPTION_LISTEN:
		settings->serve = true;
		return 0;
	case OPTION_LIST:
		settings->list = true;
		return 0;
	case 'P':
		if (value_number("-P", value, 1, UINT16_MAX, &number))
			return EXIT_USAGE;
		settings->port = (uint16_t)number;
		return 0;
	case OPTION_MAX_MEMORY:
		given->serving = "--max-memory";
		return value_size("--max-memory", value, UINT64_C(1) << 40,
				  &settings->max_memory);
	case 'I':
		settings->source = value;
		return 0;
	case '4':
		settings->family = AF_INET;
		return 0;
	case '6':
		settings->family = AF_INET6;
		return 0;
	case 'q':
		settings->quiet = true;
		return 0;
	default:
		return set_testing(key, value, given);
	}
}

static int test_side(struct given *given, int argc, char **argv, int first)
{
	struct selftest_settings *settings = &given->settings;

	if (first == argc)
		return usage_error("no device is given: krdma selftest DEVICE; see 'krdma dev'");
	if (first + 1 < argc)
		return usage_error("'krdma selftest' takes one device, and no '%s'; "
				   "another machine is named with --peer", argv[first + 1]);
	if (given->serving)
		return usage_error("%s is for --listen", given->serving);
	if (!settings->timeout || !settings->time)
		return usage_error("-W and -t must be greater than 0");
	if (settings->mr < 2 << 20)
		return usage_error("--memory must be at least 2MiB");
	settings->device = argv[first];
	return selftest_run(settings);
}

static int serve_side(const struct given *given, int argc, char **argv, int first)
{
	if (first < argc)
		return usage_error("--listen takes no device '%s'; "
				   "the address to which a client connects selects it",
				   argv[first]);
	if (given->testing)
		return usage_error("%s is for the side that tests, not for --listen",
				   given->testing);
	return selftest_serve(&given->settings);
}

int cmd_selftest(int argc, char **argv, struct options *options)
{
	struct given given = {
		.settings = {
			.common = options,
			.port = SELFTEST_PORT,
			.timeout = 10 * VALUE_SECOND,
			.time = 180 * VALUE_SECOND,
			.mr = UINT64_C(64) << 20,
			.max_memory = UINT64_C(256) << 20,
			.cycles = 100,
			.seed = clock_ns() / 1000 & SEED_MAX,
		},
	};
	int first = options_parse_own(argc, argv, options, own, set, &given);

	if (first < 0)
		return EXIT_USAGE;
	if (options->help || (first < argc && !strcmp(argv[first], "help"))) {
		fputs(usage, stdout);
		return EXIT_OK;
	}
	if (options->json && (given.settings.list || given.settings.serve))
		return usage_error("%s prints text only; JSON is what the side that tests prints",
				   given.settings.list ? "--list" : "--listen");
	if (given.settings.list)
		return selftest_list();
	if (given.settings.serve)
		return serve_side(&given, argc, argv, first);
	return test_side(&given, argc, argv, first);
}
