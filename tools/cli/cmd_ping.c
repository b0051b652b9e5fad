// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * krdma ping: check whether a peer answers, and measure the round trip time.
 */
#include <string.h>

#include "peer_serve.h"
#include "ping.h"
#include "value.h"

#define DAY (UINT64_C(86400) * VALUE_SECOND)

static const char usage[] =
	"Usage: krdma ping [OPTION]... HOST\n"
	"       krdma ping --listen [OPTION]...\n"
	"\n"
	"Sends messages to HOST, where 'krdma ping --listen' runs, checks that they come\n"
	"back unchanged, and prints the round-trip times.  Ctrl-C ends both.\n"
	"\n"
	"  -c, --count N          number of messages; by default until Ctrl-C\n"
	"  -i, --interval TIME    between two messages (1 second); 0: none\n"
	"  -s, --size SIZE        of a message (64)\n"
	"  -P, --port PORT        port (7177; with --rping 7174)\n"
	"  -W, --timeout TIME     how long to wait for an answer (5 seconds)\n"
	"  -w, --deadline TIME    end after this time, however many messages were sent\n"
	"  -D, --timestamp        print the time of day before each line\n"
	"  -q, --quiet            only the summary\n"
	"  -I, --address ADDRESS  local address\n"
	"  -4, -6                 IPv4 or IPv6 only\n"
	"      --lane             use a lane if the other side takes lanes; with\n"
	"                         --listen: take lanes, too\n"
	"      --rping            use the protocol of rping(1), also with --listen\n"
	"      --listen           answer several clients at a time, until Ctrl-C\n"
	"      --max-clients N, --max-memory SIZE, --max-size SIZE\n"
	"                         limits for clients; see the manual\n"
	"\n"
	"Options of every command:\n"
	"  -d, --details  with -j: each message, too\n"
	"  -j, --json     JSON instead of text\n"
	"      --pretty   JSON with line breaks and indents\n"
	"      --color[=WHEN]  never, always, or auto: at a terminal\n"
	"  -h, --help     this help\n"
	"\n"
	"Manual: krdma-ping(8)\n";

enum {
	OPTION_LISTEN = OWN_OPTION,
	OPTION_RPING,
	OPTION_LANE,
	OPTION_MAX_CLIENTS,
	OPTION_MAX_MEMORY,
	OPTION_MAX_SIZE,
};

static const struct own_option own[] = {
	{ "count", 'c', true },
	{ "interval", 'i', true },
	{ "size", 's', true },
	{ "port", 'P', true },
	{ "timeout", 'W', true },
	{ "deadline", 'w', true },
	{ "timestamp", 'D', false },
	{ "quiet", 'q', false },
	{ "address", 'I', true },
	{ "ipv4", '4', false },
	{ "ipv6", '6', false },
	{ "lane", OPTION_LANE, false },
	{ "rping", OPTION_RPING, false },
	{ "listen", OPTION_LISTEN, false },
	{ "max-clients", OPTION_MAX_CLIENTS, true },
	{ "max-memory", OPTION_MAX_MEMORY, true },
	{ "max-size", OPTION_MAX_SIZE, true },
	{ NULL, 0, false },
};

/* The settings, and the last option given that is for one side only, for an error message. */
struct given {
	struct ping_settings settings;
	const char *asking;
	const char *listening;
};

static int set_port(const char *value, struct ping_settings *settings)
{
	uint64_t port;

	if (value_number("-P", value, 1, UINT16_MAX, &port))
		return EXIT_USAGE;
	settings->port = (uint16_t)port;
	return 0;
}

static int set(int key, const char *value, void *to)
{
	struct given *given = to;
	struct ping_settings *settings = &given->settings;

	switch (key) {
	case 'c':
		given->asking = "-c";
		return value_number("-c", value, 1, UINT64_MAX / 2, &settings->count);
	case 'i':
		given->asking = "-i";
		return value_time("-i", value, DAY, &settings->interval);
	case 's':
		given->asking = "-s";
		return value_size("-s", value, PING_MAX_LENGTH, &settings->length);
	case 'P':
		return set_port(value, settings);
	case 'W':
		given->asking = "-W";
		return value_time("-W", value, DAY, &settings->timeout);
	case 'w':
		given->asking = "-w";
		return value_time("-w", value, 365 * DAY, &settings->whole) ||
		       (settings->whole ? 0 : usage_error("-w must be greater than 0"));
	case 'D':
		given->asking = "-D";
		settings->stamped = true;
		return 0;
	case 'q':
		settings->quiet = true;
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
	case OPTION_RPING:
		settings->rping = true;
		return 0;
	case OPTION_LANE:
		settings->lane = true;
		return 0;
	case OPTION_LISTEN:
		settings->listen = true;
		return 0;
	case OPTION_MAX_CLIENTS:
		given->listening = "--max-clients";
		return value_number("--max-clients", value, 1, 65536, &settings->max_clients);
	case OPTION_MAX_MEMORY:
		given->listening = "--max-memory";
		return value_size("--max-memory", value, UINT64_C(1) << 40,
				  &settings->max_memory);
	case OPTION_MAX_SIZE:
		given->listening = "--max-size";
		return value_size("--max-size", value, PING_MAX_LENGTH, &settings->max_length);
	}
	return EXIT_USAGE;
}

static int check_rping(const struct ping_settings *settings)
{
	if (settings->length >= RPING_MIN_LENGTH && settings->length <= RPING_MAX_LENGTH)
		return 0;
	return usage_error("with --rping, -s is from %u to %u bytes", RPING_MIN_LENGTH,
			   RPING_MAX_LENGTH);
}

static int listen_side(const struct given *given, int argc, char **argv, int first)
{
	if (first < argc)
		return usage_error("--listen takes no host '%s'; its own address goes after -I",
				   argv[first]);
	if (given->asking)
		return usage_error("%s is for the side that asks, not for --listen",
				   given->asking);
	return given->settings.rping ? ping_rping_listen(&given->settings) :
				       ping_listen(&given->settings);
}

static int ask_side(struct given *given, int argc, char **argv, int first)
{
	if (first == argc)
		return usage_error("no host is given: krdma ping HOST; see 'krdma ping --help'");
	if (first + 1 < argc)
		return usage_error("'%s' is a second host; 'krdma ping' takes one",
				   argv[first + 1]);
	if (given->listening)
		return usage_error("%s is for --listen", given->listening);
	if (!given->settings.timeout)
		return usage_error("-W must be greater than 0");
	if (given->settings.rping && check_rping(&given->settings))
		return EXIT_USAGE;
	given->settings.host = argv[first];
	return ping_ask(&given->settings);
}

int cmd_ping(int argc, char **argv, struct options *options)
{
	struct given given = {
		.settings = {
			.common = options,
			.interval = VALUE_SECOND,
			.timeout = 5 * VALUE_SECOND,
			.length = 64,
			.max_clients = SERVE_MAX_CLIENTS,
			.max_memory = SERVE_MAX_MEMORY,
			.max_length = PING_MAX_LENGTH,
		},
	};
	int first = options_parse_own(argc, argv, options, own, set, &given);

	if (first < 0)
		return EXIT_USAGE;
	if (options->help || (first < argc && !strcmp(argv[first], "help"))) {
		fputs(usage, stdout);
		return EXIT_OK;
	}
	if (!given.settings.port)
		given.settings.port = given.settings.rping ? RPING_PORT : PING_PORT;
	if (given.settings.lane && given.settings.rping)
		return usage_error("--lane or --rping, not both: rping has no lanes");
	if (given.settings.listen)
		return listen_side(&given, argc, argv, first);
	return ask_side(&given, argc, argv, first);
}
