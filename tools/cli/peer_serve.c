// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Server side of the tests: accept clients, with one thread for each, until a stop is requested.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <netinet/in.h>
#include <sys/resource.h>

#include <json-c/json.h>

#include "cause.h"
#include "cli.h"
#include "peer_serve.h"
#include "peer_server.h"
#include "peer_stop.h"

#define STACK_SIZE	(256 * 1024)
/* Pause after an accept that failed for lack of file descriptors or memory. */
#define PAUSE_NS	UINT64_C(100000000)

bool server_reserve(struct server *server, uint64_t bytes)
{
	bool fits;

	pthread_mutex_lock(&server->lock);
	fits = bytes <= server->options->max_memory - server->mr;
	if (fits)
		server->mr += bytes;
	pthread_mutex_unlock(&server->lock);
	return fits;
}

void server_unreserve(struct server *server, uint64_t bytes)
{
	pthread_mutex_lock(&server->lock);
	server->mr -= bytes;
	pthread_mutex_unlock(&server->lock);
}

/*
 * Output
 */

static const char *end_text(int err)
{
	switch (err) {
	case 0:
	case -EPIPE:
	case -ECONNRESET:
		return "left";
	case -EINTR:
		return "was disconnected";
	case -EINVAL:
	case -EPROTO:
	case -EPROTONOSUPPORT:
		return "was refused: it requests another service";
	case -EMSGSIZE:
		return "was refused: it requests more than the limits allow";
	case -EDQUOT:
		return "was refused: the limit of clients or memory is reached";
	case -ETIMEDOUT:
		return "has vanished";
	case -EIO:
		return "was lost: the connection has failed";
	default:
		return strerror(-err);
	}
}

static void print_client_json(const struct client *client, int err,
			      const struct options *common)
{
	struct json_object *object = json_checked(json_object_new_object());

	json_put_text(object, "client", client->address);
	json_put_text(object, "kind", client->lane ? "lane" : "plain");
	if (*client->wish)
		json_put_text(object, "wish", client->wish);
	json_put_number(object, "messages", client->messages);
	json_put_number(object, "bytes", client->bytes);
	json_put_text(object, "end", end_text(err));
	json_print(object, common);
}

/* Called with server->lock held, so that lines of threads do not mix. */
static void print_client(const struct client *client, int err)
{
	const struct server_options *options = client->server->options;

	if (options->common->json) {
		if (options->common->details)
			print_client_json(client, err, options->common);
	} else if (!options->quiet && (!client->brief || options->common->details)) {
		printf("%s%s%s%s %s after %llu messages, %llu bytes\n", client->address,
		       client->lane ? " over a lane" : "", *client->wish ? ": " : "",
		       client->wish, end_text(err), (unsigned long long)client->messages,
		       (unsigned long long)client->bytes);
	}
	fflush(stdout);
	/* Standard output has no reader any more. */
	if (ferror(stdout))
		stop_now();
}

static void print_begin(const struct server *server)
{
	const struct server_options *options = server->options;

	if (options->common->json) {
		/* The JSON output has only results, so this message goes to standard error. */
		if (!options->quiet)
			fprintf(stderr, "krdma: listening at %s\n", server->address);
		return;
	}
	printf("listening at %s%s, %s; Ctrl-C ends it\n", server->address,
	       options->lane ? ", also for lanes" : "", options->purpose);
	fflush(stdout);
	if (ferror(stdout))
		stop_now();
}

static void print_end(const struct server *server)
{
	const struct options *common = server->options->common;
	struct json_object *object;

	if (!common->json) {
		printf("\n--- %s at %s ---\n"
		       "%llu clients served, %llu failed, %llu refused; %llu messages, %llu bytes\n",
		       server->options->command, server->address,
		       (unsigned long long)server->served, (unsigned long long)server->failed,
		       (unsigned long long)server->refused,
		       (unsigned long long)server->messages,
		       (unsigned long long)server->bytes);
		return;
	}
	object = json_checked(json_object_new_object());
	json_put_text(object, "address", server->address);
	json_put_number(object, "clients_served", server->served);
	json_put_number(object, "clients_failed", server->failed);
	json_put_number(object, "clients_refused", server->refused);
	json_put_number(object, "messages", server->messages);
	json_put_number(object, "bytes", server->bytes);
	json_print(object, common);
}

/*
 * Clients
 */

static void count(struct server *server, const struct client *client, int err)
{
	switch (err) {
	case 0:
	case -EINTR:
	case -EPIPE:
	case -ECONNRESET:
		server->served++;
		break;
	case -EINVAL:
	case -EPROTO:
	case -EPROTONOSUPPORT:
	case -EMSGSIZE:
	case -EDQUOT:
		server->refused++;
		break;
	default:
		server->failed++;
		break;
	}
	server->messages += client->messages;
	server->bytes += client->bytes;
}

/* Last action of a client thread: serve() returns once no client is left. */
static void leave(struct client *client, int err)
{
	struct server *server = client->server;

	client_end(client);
	pthread_mutex_lock(&server->lock);
	count(server, client, err);
	print_client(client, err);
	server->clients--;
	pthread_cond_signal(&server->ended);
	pthread_mutex_unlock(&server->lock);
	free(client);
}

static void *attend(void *argument)
{
	struct client *client = argument;

	leave(client, client->server->options->attend(client));
	return NULL;
}

static int start_thread(struct client *client)
{
	pthread_attr_t attributes;
	pthread_t thread;
	int err = pthread_attr_init(&attributes);

	if (err)
		return -err;
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attributes, STACK_SIZE);
	err = pthread_create(&thread, &attributes, attend, client);
	pthread_attr_destroy(&attributes);
	return -err;
}

static void let_in(struct server *server, struct krdma_conn *conn)
{
	struct client *client = calloc(1, sizeof(*client));
	struct krdma_conn_query_args query;
	bool full;
	int err;

	if (!client) {
		/* Closing a connection that is not accepted rejects it. */
		krdma_conn_close(conn);
		return;
	}
	client->server = server;
	client->session = server->session;
	client->conn = conn;
	snprintf(client->address, sizeof(client->address), "unknown");
	if (!krdma_conn_query(conn, &query, sizeof(query))) {
		client->device_id = query.device_id;
		client->lane = query.kind == KRDMA_CONN_LANE;
		address_text((const struct sockaddr_storage *)&query.remote, true,
			     client->address);
	}
	pthread_mutex_lock(&server->lock);
	full = server->clients >= server->options->max_clients;
	server->clients++;
	pthread_mutex_unlock(&server->lock);
	err = full ? -EDQUOT : start_thread(client);
	if (err) {
		client_refuse(client, VERDICT_FULL, 0);
		leave(client, -EDQUOT);
	}
}

/* Accept one client.  @said is true once it is reported that clients have to wait. */
static int take_one(struct server *server, struct krdma_listener *listener, bool *said)
{
	struct krdma_conn *conn;
	struct cause cause;
	int err = krdma_listener_next(listener, 0, &conn);

	switch (err) {
	case 0:
		let_in(server, conn);
		*said = false;
		return 0;
	case -EAGAIN:
	case -EINTR:
		return 0;
	case -EMFILE:
	case -ENFILE:
	case -ENOMEM:
	case -EDQUOT:
		/* A client that leaves frees what this one needs. */
		if (err == -EDQUOT)
			cause_of_quota(&cause, server->session);
		else
			cause_of(&cause, "", err);
		if (!*said)
			complain_cause(&cause, "cannot accept a client yet");
		*said = true;
		stop_sleep(clock_ns() + PAUSE_NS);
		return 0;
	case -ENODEV:
		complain("the RDMA device at %s has been removed", server->address);
		return err;
	default:
		complain_request("wait for clients", err);
		return err;
	}
}

/* Return 0 when a stop is requested. */
static int listen_on(struct server *server)
{
	struct pollfd waits[ARRAY_SIZE(server->listeners)];
	bool said = false;
	unsigned int i;
	int err;

	for (i = 0; i < server->listener_count; i++) {
		waits[i].fd = krdma_listener_fd(server->listeners[i]);
		waits[i].events = POLLIN;
	}
	while (!stop_wanted()) {
		/* As short as stop_slice(), because a signal may arrive just before poll(). */
		if (poll(waits, server->listener_count, 200) <= 0)
			continue;
		for (i = 0; i < server->listener_count; i++) {
			err = waits[i].revents ? take_one(server, server->listeners[i], &said) : 0;
			if (err)
				return err;
		}
	}
	return 0;
}

static void explain_listen(const struct server *server, int err)
{
	const struct server_options *options = server->options;
	struct cause cause;

	switch (err) {
	case -EADDRINUSE:
		if (options->lane)
			complain("cannot listen at %s: the address is in use, or port %u, where\n"
				 "the trunks of lanes connect\n"
				 "End the program that uses it; 'krdma doctor' says which port it is",
				 server->address, LANE_PORT);
		else
			complain("cannot listen at %s: the address is in use\n"
				 "End the program that uses it, or give another port with --port",
				 server->address);
		break;
	case -EOPNOTSUPP:
		complain("cannot listen at %s for lanes: the loaded module has none\n"
			 "'krdma info' shows its version; or leave out --lane", server->address);
		break;
	case -EADDRNOTAVAIL:
		complain("cannot listen at %s: it is not an address of an RDMA device, or the\n"
			 "port is in use; see the devices and their interfaces with: krdma dev",
			 server->address);
		break;
	case -EACCES:
		complain("cannot listen at port %u: ports below 1024 are only for root\n"
			 "Give another port with --port", options->port);
		break;
	default:
		if (err == -EDQUOT)
			cause_of_quota(&cause, server->session);
		else
			cause_of(&cause, options->source ? options->source : "", err);
		complain_cause(&cause, "cannot listen at %s", server->address);
		break;
	}
}

static int listen_at(struct server *server, struct sockaddr_storage *address)
{
	struct krdma_listener **listener = &server->listeners[server->listener_count];
	uint32_t flags = address->ss_family == AF_INET6 ? KRDMA_LISTEN_V6ONLY : 0;
	int err;

	if (server->options->lane)
		flags |= KRDMA_LISTEN_LANES;
	address_set_port(address, server->options->port);
	address_text(address, true, server->address);
	err = krdma_listen(server->session, (const struct sockaddr *)address, flags, 0, listener);
	if (!err)
		server->listener_count++;
	return err;
}

/*
 * Listen on all addresses, or on all addresses of one family.  Each family has its own listener,
 * because with siw a listener on all IPv6 addresses gets no IPv4 connections.
 */
static int listen_everywhere(struct server *server)
{
	struct sockaddr_storage four = { .ss_family = AF_INET }, six = { .ss_family = AF_INET6 };
	int family = server->options->family, err;

	if (family != AF_INET6) {
		err = listen_at(server, &four);
		if (err || family == AF_INET)
			return err;
	}
	err = listen_at(server, &six);
	if (!err && family == AF_UNSPEC) {
		snprintf(server->address, sizeof(server->address), "*:%u", server->options->port);
	} else if (err == -EAFNOSUPPORT && family == AF_UNSPEC) {
		/* Without IPv6 the IPv4 listener is enough. */
		address_text(&four, true, server->address);
		err = 0;
	}
	return err;
}

static int begin_listening(struct server *server)
{
	const struct server_options *options = server->options;
	struct sockaddr_storage address;
	int err;

	if (options->source) {
		err = address_parse(options->source, options->family, &address);
		if (err)
			return err;
		err = listen_at(server, &address);
	} else {
		err = listen_everywhere(server);
	}
	if (err)
		explain_listen(server, err);
	return err;
}

static void end_listening(struct server *server)
{
	unsigned int i;

	for (i = 0; i < server->listener_count; i++)
		krdma_listener_close(server->listeners[i]);
	server->listener_count = 0;
}

/* Each client needs two file descriptors, so raise the soft limit to the hard limit. */
static void raise_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

int serve(const struct server_options *options)
{
	/* Not on the stack: the last client thread may still unlock it when serve() returns. */
	static struct server server = {
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.ended = PTHREAD_COND_INITIALIZER,
	};
	int err;

	server.options = options;
	stop_catch();
	raise_limit();
	if (open_session(&server.session))
		return EXIT_FAILED;
	err = begin_listening(&server);
	if (err) {
		end_listening(&server);
		krdma_close(server.session);
		return EXIT_FAILED;
	}
	print_begin(&server);
	err = listen_on(&server);
	/* Accept no more clients, and disconnect the present ones. */
	stop_now();
	end_listening(&server);
	pthread_mutex_lock(&server.lock);
	while (server.clients)
		pthread_cond_wait(&server.ended, &server.lock);
	pthread_mutex_unlock(&server.lock);
	print_end(&server);
	krdma_close(server.session);
	return err ? EXIT_FAILED : EXIT_OK;
}
