// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * krdma serve: serve a folder, or one file, to krdma get and krdma put.
 */
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <json-c/json.h>

#include "cause.h"
#include "cli.h"
#include "copy.h"
#include "krdma_file.h"
#include "peer.h"
#include "peer_stop.h"
#include "progress.h"
#include "value.h"

static const char usage[] =
	"Usage: krdma serve [OPTION]... DIR|FILE\n"
	"\n"
	"Offers a folder, or one file, to all machines that can connect by RDMA, until\n"
	"Ctrl-C.  Nothing is encrypted.\n"
	"\n"
	"  -P, --port PORT        port (7476)\n"
	"  -I, --address ADDRESS  local address: listen only there\n"
	"      --write            clients may also put files, and replace existing ones\n"
	"      --once             end after the first file that was copied\n"
	"      --clients N        clients at a time (16)\n"
	"      --clients-per-address N  of these, from one address (half of them)\n"
	"      --connections N    of all clients, which may have several each (256)\n"
	"      --allow NETS       only clients at these addresses: 10.0.0.0/24,fd00::/8\n"
	"  -k, --secret FILE      only clients that know this secret\n"
	"      --read-only DIR    in this folder below DIR, clients only get files\n"
	"      --write-only DIR   in this one, they put new files and get none\n"
	"      --request-timeout TIME   for a client's request (10s)\n"
	"      --progress-timeout TIME  without progress afterwards (120s)\n"
	"      --no-sync          do not wait for the disk when files are put\n"
	"  -q, --quiet            print no lines for clients\n"
	"\n"
	OPTIONS_HELP
	"\n"
	"Manual: krdma-serve(8)\n";

enum {
	OPTION_ONCE = OWN_OPTION,
	OPTION_CLIENTS,
	OPTION_NO_SYNC,
	OPTION_PER_ADDRESS,
	OPTION_CONNECTIONS,
	OPTION_ALLOW,
	OPTION_WRITE,
	OPTION_READ_ONLY,
	OPTION_WRITE_ONLY,
	OPTION_REQUEST_TIMEOUT,
	OPTION_PROGRESS_TIMEOUT,
};

#define RULES_MAX	64
#define CLIENTS		16

/* An error whose message has been printed already. */
#define SAID		1

static const struct own_option own_options[] = {
	{ "port", 'P', true },
	{ "address", 'I', true },
	{ "write", OPTION_WRITE, false },
	{ "once", OPTION_ONCE, false },
	{ "clients", OPTION_CLIENTS, true },
	{ "no-sync", OPTION_NO_SYNC, false },
	{ "clients-per-address", OPTION_PER_ADDRESS, true },
	{ "connections", OPTION_CONNECTIONS, true },
	{ "allow", OPTION_ALLOW, true },
	{ "secret", 'k', FILE_VALUE },
	{ "read-only", OPTION_READ_ONLY, true },
	{ "write-only", OPTION_WRITE_ONLY, true },
	{ "request-timeout", OPTION_REQUEST_TIMEOUT, true },
	{ "progress-timeout", OPTION_PROGRESS_TIMEOUT, true },
	{ "quiet", 'q', false },
	{ NULL, 0, false },
};

/**
 * struct serving - a server and its options
 * @options: the common options
 * @server: the server
 * @lock: protects standard output, because each client is reported from its own thread
 * @port: port to listen on, may be 0
 * @address: address as given by the user, or NULL
 * @write: --write was given
 * @once: --once was given
 * @quiet: --quiet was given
 * @no_sync: --no-sync was given
 * @clients: value of --clients, 0 if not given
 * @per_address: value of --clients-per-address, 0 if not given
 * @connections: value of --connections, 0 if not given
 * @request_ms: value of --request-timeout in milliseconds, 0 if not given
 * @progress_ms: value of --progress-timeout in milliseconds, 0 if not given
 * @allow: value of --allow, or NULL
 * @secret: secret of --secret
 * @rules: --read-only and --write-only
 * @rule_count: number of @rules
 * @path: the folder or file that is served
 */
struct serving {
	const struct options *options;
	struct krdma_file_server *server;
	pthread_mutex_t lock;
	uint16_t port;
	const char *address;
	bool write;
	bool once;
	bool quiet;
	bool no_sync;
	uint32_t clients;
	uint32_t per_address;
	uint32_t connections;
	uint32_t request_ms;
	uint32_t progress_ms;
	const char *allow;
	struct secret_file secret;
	struct krdma_file_rule rules[RULES_MAX];
	uint32_t rule_count;
	const char *path;
};

/* For the signal handler; set before the handler is installed. */
static struct krdma_file_server *served;

static void end(int number)
{
	stop_note(number);
	krdma_file_server_stop(served);
}

static void catch_signals(struct krdma_file_server *server)
{
	struct sigaction action = { .sa_handler = end, .sa_flags = (int)SA_RESETHAND };
	struct sigaction before;

	served = server;
	sigemptyset(&action.sa_mask);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	/* If nohup(1) has set SIGHUP to be ignored, keep that. */
	if (!sigaction(SIGHUP, NULL, &before) && before.sa_handler != SIG_IGN)
		sigaction(SIGHUP, &action, NULL);
	/* The server goes on if the reader of its output has gone. */
	signal(SIGPIPE, SIG_IGN);
}

/* From now on each signal ends the process: there is no server that could end in order. */
static void release_signals(void)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction action;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		if (!sigaction(numbers[i], NULL, &action) && action.sa_handler == end)
			signal(numbers[i], SIG_DFL);
	}
}

static int add_rule(struct serving *serving, const char *path, uint32_t access)
{
	if (serving->rule_count == RULES_MAX) {
		usage_error("no more than %u folders may have rules", RULES_MAX);
		return -EINVAL;
	}
	serving->rules[serving->rule_count++] = (struct krdma_file_rule){
		.path = path, .access = access,
	};
	return 0;
}

static int set_time(const char *option, const char *value, uint32_t *ms)
{
	uint64_t ns;

	if (value_time(option, value, 86400 * VALUE_SECOND, &ns))
		return -EINVAL;
	*ms = (uint32_t)(ns / (VALUE_SECOND / 1000));
	if (!*ms)
		*ms = 1;
	return 0;
}

static int set_option(int key, const char *value, void *to)
{
	struct serving *serving = to;
	uint64_t number;

	switch (key) {
	case 'P':
		if (value_number("-P", value, 0, UINT16_MAX, &number))
			return -EINVAL;
		serving->port = (uint16_t)number;
		return 0;
	case 'I':
		serving->address = value;
		return 0;
	case OPTION_WRITE:
		serving->write = true;
		return 0;
	case 'q':
		serving->quiet = true;
		return 0;
	case OPTION_ONCE:
		serving->once = true;
		return 0;
	case OPTION_NO_SYNC:
		serving->no_sync = true;
		return 0;
	case OPTION_PER_ADDRESS:
		if (value_number("--clients-per-address", value, 1, 1024, &number))
			return -EINVAL;
		serving->per_address = (uint32_t)number;
		return 0;
	case OPTION_CONNECTIONS:
		if (value_number("--connections", value, 1, 16384, &number))
			return -EINVAL;
		serving->connections = (uint32_t)number;
		return 0;
	case OPTION_ALLOW:
		serving->allow = value;
		return 0;
	case 'k':
		return secret_read(value, &serving->secret);
	case OPTION_READ_ONLY:
		return add_rule(serving, value, KRDMA_FILE_READ);
	case OPTION_WRITE_ONLY:
		return add_rule(serving, value, KRDMA_FILE_WRITE);
	case OPTION_REQUEST_TIMEOUT:
		return set_time("--request-timeout", value, &serving->request_ms);
	case OPTION_PROGRESS_TIMEOUT:
		return set_time("--progress-timeout", value, &serving->progress_ms);
	default:
		if (value_number("--clients", value, 1, 1024, &number))
			return -EINVAL;
		serving->clients = (uint32_t)number;
		return 0;
	}
}

static const char *operation_name(uint32_t operation)
{
	switch (operation) {
	case KRDMA_FILE_GET:
		return "get";
	case KRDMA_FILE_PUT:
		return "put";
	case KRDMA_FILE_LIST:
		return "list";
	case KRDMA_FILE_MAKE_FOLDER:
		return "make-folder";
	default:
		return "nothing";
	}
}

static void report_json(const struct krdma_file_report *report, const char *name,
			const char *peer, const struct options *options)
{
	struct json_object *object = json_checked(json_object_new_object());
	struct copy_figures figures = {
		.error = report->error,
		.crc32c = report->crc32c,
		.length = report->length,
		.transferred = report->transferred,
		.resumed_from = report->resumed_from,
		.nanoseconds = report->nanoseconds,
	};

	json_put_text(object, "event", operation_name(report->operation));
	json_put_text(object, "peer", peer);
	json_put_text(object, "name", name);
	copy_json(object, &figures);
	if (report->skipped)
		json_put(object, "skipped", json_object_new_boolean(true));
	json_print(object, options);
}

/* A client that has sent no request that could be understood. */
static void report_stranger(int err, const char *peer)
{
	switch (err) {
	case 0:
	case -EPIPE:
	case -ECONNRESET:
		printf("%s left without a request\n", peer);
		break;
	case -EPROTO:
		printf("%s was refused: it does not speak the protocol of krdma get and put\n",
		       peer);
		break;
	case -EPROTONOSUPPORT:
		printf("%s was refused: its krdma has another version\n", peer);
		break;
	case -ETIMEDOUT:
		printf("%s was disconnected: it sent no request in time\n", peer);
		break;
	case -ENOKEY:
		printf("%s was refused: it has no secret\n", peer);
		break;
	case -EKEYREJECTED:
		printf("%s was refused: it has another secret\n", peer);
		break;
	default:
		printf("%s was refused: %s\n", peer, strerror(-err));
		break;
	}
}

static void report_text(const struct krdma_file_report *report, const char *name,
			const char *peer)
{
	char bytes[PROGRESS_BYTES_TEXT];
	double seconds = (double)report->nanoseconds / 1e9;

	if (report->operation == KRDMA_FILE_NOTHING) {
		report_stranger(report->error, peer);
		return;
	}
	printf("%s %s '%s' ", peer, operation_name(report->operation), name);
	if (report->error)
		printf("failed: %s\n", strerror(-report->error));
	else if (report->skipped)
		printf("not transferred\n");
	else if (report->resumed_from)
		printf("%s, the last %llu bytes, in %.1f s\n",
		       progress_bytes(bytes, (double)report->length),
		       (unsigned long long)(report->length - report->resumed_from), seconds);
	else
		printf("%s in %.1f s\n", progress_bytes(bytes, (double)report->length), seconds);
}

static void report(void *context, const struct krdma_file_report *report)
{
	struct serving *serving = context;
	char peer[PEER_TEXT], name[4 * KRDMA_FILE_NAME_MAX + 1];

	address_text(&report->peer, true, peer);
	if (serving->options->json)
		name_json(name, sizeof(name), report->name);
	else
		name_text(name, sizeof(name), report->name);
	pthread_mutex_lock(&serving->lock);
	if (serving->options->json)
		report_json(report, name, peer, serving->options);
	else if (!serving->quiet)
		report_text(report, name, peer);
	fflush(stdout);
	pthread_mutex_unlock(&serving->lock);
	if (serving->once && !report->error && !report->skipped &&
	    (report->operation == KRDMA_FILE_GET || report->operation == KRDMA_FILE_PUT))
		krdma_file_server_stop(serving->server);
}

static void announce(struct serving *serving)
{
	struct sockaddr_storage address;
	char path[4 * KRDMA_FILE_NAME_MAX + 1], place[PEER_TEXT];
	struct json_object *object;

	if (krdma_file_server_address(serving->server, &address))
		return;
	address_text(&address, true, place);
	if (serving->options->json) {
		name_json(path, sizeof(path), serving->path);
		object = json_checked(json_object_new_object());
		json_put_text(object, "event", "serving");
		json_put_text(object, "address", place);
		json_put_text(object, "path", path);
		json_put(object, "writable", json_object_new_boolean(serving->write));
		json_print(object, serving->options);
	} else {
		name_text(path, sizeof(path), serving->path);
		printf("serving '%s' at %s%s\n", path, place,
		       serving->write ? ", writable" : "");
	}
	fflush(stdout);
}

static void explain_listen(const struct serving *serving, int err)
{
	struct cause cause;

	switch (err) {
	case -EADDRINUSE:
		complain("cannot serve at port %u: another program listens there\n"
			 "Give another port: krdma serve -P PORT ...", serving->port);
		break;
	case -EADDRNOTAVAIL:
		complain("cannot serve at %s: no RDMA device has that address, or a program that\n"
			 "listens at all addresses has port %u; 'krdma doctor' shows the devices",
			 serving->address ? serving->address : "all addresses", serving->port);
		break;
	case -EACCES:
		complain("cannot serve at port %u: ports below 1024 are only for root\n"
			 "Give another port: krdma serve -P PORT ...", serving->port);
		break;
	default:
		cause_of(&cause, serving->address ? serving->address : "", err);
		if (!*cause.mend)
			snprintf(cause.mend, sizeof(cause.mend),
				 "'krdma doctor' shows what is missing");
		complain_cause(&cause, "cannot serve");
		break;
	}
}

static int create(struct serving *serving, struct krdma *session)
{
	struct krdma_file_server_options options = {
		.size = sizeof(options),
		.flags = (serving->write ? KRDMA_FILE_SERVER_WRITABLE : 0) |
			 (serving->no_sync ? KRDMA_FILE_SERVER_NO_SYNC : 0),
		.max_clients = serving->clients,
		.report = report,
		.context = serving,
		.request_ms = serving->request_ms,
		.progress_ms = serving->progress_ms,
		.max_per_peer = serving->per_address,
		.secret_length = serving->secret.length,
		.secret = serving->secret.length ? serving->secret.bytes : NULL,
		.allow = serving->allow,
		.rules = serving->rules,
		.rule_count = serving->rule_count,
		.max_conns = serving->connections,
	};
	struct sockaddr_storage address = { .ss_family = AF_INET6 };
	int err;

	if (serving->address && address_parse(serving->address, AF_UNSPEC, &address))
		return SAID;
	address_set_port(&address, serving->port);
	err = krdma_file_server_create(session, (struct sockaddr *)&address, serving->path,
				       &options, &serving->server);
	if (err == -EAFNOSUPPORT && !serving->address) {
		/* The kernel has no IPv6. */
		address = (struct sockaddr_storage){ .ss_family = AF_INET };
		address_set_port(&address, serving->port);
		err = krdma_file_server_create(session, (struct sockaddr *)&address,
					       serving->path, &options, &serving->server);
	}
	return err;
}

/* Check the rules before listening, so that a wrong rule is not reported as a wrong address. */
static int check_rules(const struct serving *serving)
{
	struct stat status;
	char *path;
	bool folder;

	for (uint32_t i = 0; i < serving->rule_count; i++) {
		const char *rule = serving->rules[i].path;

		if (asprintf(&path, "%s/%s", serving->path, rule) < 0)
			return -ENOMEM;
		folder = !stat(path, &status) && S_ISDIR(status.st_mode);
		free(path);
		if (*rule != '/' && folder)
			continue;
		complain("cannot offer '%s': there is no folder '%s' in it for a rule\n"
			 "Make it, or give a name relative to the served folder", serving->path,
			 rule);
		return -ENOENT;
	}
	return 0;
}

static int run_server(struct serving *serving)
{
	struct krdma *session;
	int err;

	/* The path is checked first, because it is the likeliest mistake. */
	if (access(serving->path, R_OK)) {
		complain("cannot offer '%s': %s\nGive a folder, or a file, that you may read",
			 serving->path, strerror(errno));
		return EXIT_FAILED;
	}
	if (check_rules(serving))
		return EXIT_FAILED;
	if (open_session(&session))
		return EXIT_FAILED;
	err = create(serving, session);
	if (err) {
		if (err == -EOPNOTSUPP)
			complain("cannot offer '%s': it is neither a folder nor a file",
				 serving->path);
		else if (err == -EINVAL && serving->allow)
			complain("cannot offer '%s': '%s' is not a list of addresses\n"
				 "Give one: krdma serve --allow 10.0.0.0/24,fd00::/8 ...",
				 serving->path, serving->allow);
		else if (err != SAID)
			explain_listen(serving, err);
		krdma_close(session);
		return EXIT_FAILED;
	}
	catch_signals(serving->server);
	announce(serving);
	err = krdma_file_server_run(serving->server);
	if (err)
		complain("cannot continue: %s\n'krdma doctor' shows what is missing",
			 err == -ENODEV ? "the RDMA device is gone" : strerror(-err));
	release_signals();
	krdma_file_server_destroy(serving->server);
	krdma_close(session);
	return err ? EXIT_FAILED : EXIT_OK;
}

int cmd_serve(int argc, char **argv, struct options *options)
{
	struct serving serving = {
		.options = options,
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.port = KRDMA_FILE_PORT,
	};
	int first = options_parse_own(argc, argv, options, own_options, set_option, &serving);

	if (first < 0)
		return EXIT_USAGE;
	if (options->help || (first + 1 == argc && !strcmp(argv[first], "help"))) {
		fputs(usage, stdout);
		return EXIT_OK;
	}
	if (first + 1 != argc)
		return usage_error("'krdma serve' needs one folder or file; see 'krdma serve -h'");
	if (serving.connections &&
	    serving.connections < (serving.clients ? serving.clients : CLIENTS))
		return usage_error("--connections must not be less than --clients: %u clients\n"
				   "need a connection each",
				   serving.clients ? serving.clients : CLIENTS);
	serving.path = argv[first];
	return run_server(&serving);
}
