// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The server: one thread accepts clients, and each client has a thread, up to a maximum.
 */
#include "file_server.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define CLIENTS_DEFAULT	16
#define CLIENTS_MAX	1024
#define CONNS_DEFAULT	256
#define CONNS_MAX	(CLIENTS_MAX * FILE_STREAMS_MAX)
#define REQUEST_MS	10000
#define PROGRESS_MS	120000

/* A thread that was started and not yet joined. */
struct file_worker {
	struct file_worker *next;
	struct krdma_file_server *server;
	struct krdma_conn *conn;
	struct sockaddr_storage peer;
	pthread_t thread;
	atomic_bool ended;
};

static void wake(struct krdma_file_server *server)
{
	uint64_t one = 1;
	ssize_t written;

	/* The write fails only if the counter is full, and then the thread is awake. */
	written = write(server->wake, &one, sizeof(one));
	(void)written;
}

static void *work(void *context)
{
	struct file_worker *worker = context;

	file_server_serve(worker->server, worker->conn);
	atomic_store(&worker->ended, true);
	wake(worker->server);
	return NULL;
}

/* Blocks all signals in the new thread, so that the program's own threads get them. */
static int start_thread(struct file_worker *worker)
{
	sigset_t all, before;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = -pthread_create(&worker->thread, NULL, work, worker);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return err;
}

static void send_away(struct krdma_conn *conn, int why)
{
	const struct file_hello hello = { .code = file_code_of(why) };
	unsigned char data[FILE_HELLO_SIZE];
	size_t length = file_hello_encode(data, &hello);

	krdma_conn_reject(conn, data, length);
	krdma_conn_close(conn);
}

/* Whether a connection is a further one of a client, and with which hello. */
static bool joins(struct krdma_conn *conn, struct file_hello *hello)
{
	unsigned char data[256];
	size_t length = sizeof(data);

	return !krdma_conn_private_data(conn, data, &length) &&
	       !file_hello_decode(data, length < sizeof(data) ? length : sizeof(data), hello) &&
	       hello->flags & FILE_HELLO_JOIN;
}

/* Returns 0, or the error with which the client is rejected. */
static int judge(const struct krdma_file_server *server, const struct sockaddr_storage *peer)
{
	const struct file_worker *worker;
	unsigned int same = 0;

	if (!nets_have(&server->nets, peer))
		return -ECONNREFUSED;
	if (server->worker_count == server->options.max_clients)
		return -EUSERS;
	for (worker = server->workers; worker; worker = worker->next)
		same += nets_same_peer(&worker->peer, peer);
	return same < server->options.max_per_peer ? 0 : -EUSERS;
}

static void start(struct krdma_file_server *server, struct krdma_conn *conn)
{
	struct sockaddr_storage peer = { 0 };
	struct krdma_conn_query_args query;
	struct file_worker *worker;
	struct file_hello hello;
	int err = krdma_conn_query(conn, &query, sizeof(query));

	if (!err)
		memcpy(&peer, &query.remote, sizeof(peer));
	if (!err && joins(conn, &hello)) {
		err = file_joining_give(server, &peer, &hello, conn);
		if (!err)
			return;
	} else if (!err) {
		err = judge(server, &peer);
	}
	if (err) {
		send_away(conn, err);
		return;
	}
	worker = calloc(1, sizeof(*worker));
	if (!worker) {
		send_away(conn, -ENOMEM);
		return;
	}
	worker->peer = peer;
	worker->server = server;
	worker->conn = conn;
	if (start_thread(worker)) {
		free(worker);
		send_away(conn, -ENOMEM);
		return;
	}
	worker->next = server->workers;
	server->workers = worker;
	server->worker_count++;
}

/* Joins the threads that have ended, or all threads. */
static void join(struct krdma_file_server *server, bool all)
{
	struct file_worker **link = &server->workers, *worker;

	while (*link) {
		worker = *link;
		if (!all && !atomic_load(&worker->ended)) {
			link = &worker->next;
			continue;
		}
		*link = worker->next;
		pthread_join(worker->thread, NULL);
		free(worker);
		server->worker_count--;
	}
}

KRDMA_PUBLIC int krdma_file_server_run(struct krdma_file_server *server)
{
	struct pollfd polls[2];
	struct krdma_conn *conn;
	uint64_t count;
	ssize_t got;
	int err = 0;

	if (!server)
		return -EINVAL;
	polls[0] = (struct pollfd){ .fd = krdma_listener_fd(server->listener), .events = POLLIN };
	polls[1] = (struct pollfd){ .fd = server->wake, .events = POLLIN };
	while (!atomic_load(&server->stopping)) {
		if (poll(polls, 2, -1) < 0 && errno != EINTR) {
			err = -errno;
			break;
		}
		/* Read before checking for ended threads, so that no wakeup is lost. */
		got = read(server->wake, &count, sizeof(count));
		(void)got;
		join(server, false);
		err = krdma_listener_next(server->listener, 0, &conn);
		if (!err)
			start(server, conn);
		else if (err != -EAGAIN && err != -EINTR && err != -EMFILE && err != -ENFILE &&
			 err != -ENOMEM && err != -EDQUOT)
			break;
		/* Resources for another client are short. A client may end during the sleep. */
		if (err && err != -EAGAIN && err != -EINTR)
			usleep(FILE_TICK_MS * 1000);
		err = 0;
	}
	if (err)
		atomic_store(&server->stopping, true);
	join(server, true);
	/* The server can be run again. */
	atomic_store(&server->stopping, false);
	return err;
}

KRDMA_PUBLIC int krdma_file_server_stop(struct krdma_file_server *server)
{
	if (!server)
		return -EINVAL;
	atomic_store(&server->stopping, true);
	wake(server);
	return 0;
}

static int set_options(struct krdma_file_server_options *own,
		       const struct krdma_file_server_options *options)
{
	int err = request_options(own, sizeof(*own), options);

	if (err)
		return err;
	if (own->flags & ~(uint32_t)(KRDMA_FILE_SERVER_WRITABLE | KRDMA_FILE_SERVER_NO_SYNC))
		return -EOPNOTSUPP;
	if (own->max_clients > CLIENTS_MAX || own->buffer_count > FILE_SLOTS_MAX ||
	    own->buffer_size > FILE_SLOT_MAX ||
	    (own->buffer_size && own->buffer_size < FILE_SLOT_MIN))
		return -EINVAL;
	if (!own->max_clients)
		own->max_clients = CLIENTS_DEFAULT;
	if (!own->patience_ms)
		own->patience_ms = FILE_PATIENCE_MS;
	if (!own->request_ms)
		own->request_ms = REQUEST_MS;
	if (!own->progress_ms)
		own->progress_ms = PROGRESS_MS;
	if (!own->max_per_peer)
		own->max_per_peer = (own->max_clients + 1) / 2;
	if (!own->max_conns)
		own->max_conns = own->max_clients > CONNS_DEFAULT ? own->max_clients :
								    CONNS_DEFAULT;
	return own->max_conns < own->max_clients || own->max_conns > CONNS_MAX ? -EINVAL : 0;
}

/* Sets the secret, the allowed addresses and the rules for access rights from the options. */
static int set_admission(struct krdma_file_server *server)
{
	const struct krdma_file_server_options *options = &server->options;
	const uint32_t known = KRDMA_FILE_READ | KRDMA_FILE_WRITE;
	int err = secret_set(&server->secret, options->secret, options->secret_length);

	if (!err && options->allow)
		err = nets_parse(options->allow, &server->nets);
	if (!err && options->rule_count && !options->rules)
		err = -EINVAL;
	for (uint32_t i = 0; i < options->rule_count && !err; i++) {
		const struct krdma_file_rule *rule = &options->rules[i];

		if (!rule->path || rule->access & ~known || rule->reserved)
			err = -EINVAL;
		else
			err = file_root_add_rule(&server->root, rule->path, rule->access);
	}
	return err;
}

static void init_joining(struct krdma_file_server *server)
{
	pthread_condattr_t monotonic;

	pthread_mutex_init(&server->join_lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&server->joined, &monotonic);
	pthread_condattr_destroy(&monotonic);
}

static void exit_joining(struct krdma_file_server *server)
{
	pthread_cond_destroy(&server->joined);
	pthread_mutex_destroy(&server->join_lock);
}

KRDMA_PUBLIC int krdma_file_server_create(struct krdma *session, const struct sockaddr *address,
					  const char *path,
					  const struct krdma_file_server_options *options,
					  struct krdma_file_server **server)
{
	uint32_t access = KRDMA_FILE_READ;
	struct krdma_file_server *new;
	int err;

	if (!session || !address || !path || !server)
		return -EINVAL;
	new = calloc(1, sizeof(*new));
	if (!new)
		return -ENOMEM;
	new->session = session;
	new->maker = getpid();
	init_joining(new);
	err = set_options(&new->options, options);
	if (err)
		goto free_server;
	if (new->options.flags & KRDMA_FILE_SERVER_WRITABLE)
		access |= KRDMA_FILE_WRITE;
	err = file_root_open(&new->root, path, access);
	if (err)
		goto free_server;
	err = set_admission(new);
	if (err)
		goto close_root;
	/* These pointers are valid only during this call. */
	new->options.secret = NULL;
	new->options.allow = NULL;
	new->options.rules = NULL;
	new->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (new->wake < 0) {
		err = -errno;
		goto close_root;
	}
	err = krdma_listen(session, address, 0, 0, &new->listener);
	if (err)
		goto close_wake;
	*server = new;
	return 0;

close_wake:
	close(new->wake);
close_root:
	secret_free(new->secret);
	file_root_close(&new->root);
free_server:
	exit_joining(new);
	free(new);
	return err;
}

KRDMA_PUBLIC int krdma_file_server_address(struct krdma_file_server *server,
					   struct sockaddr_storage *address)
{
	return server ? krdma_listener_address(server->listener, address) : -EINVAL;
}

KRDMA_PUBLIC void krdma_file_server_destroy(struct krdma_file_server *server)
{
	if (!server)
		return;
	krdma_listener_close(server->listener);
	close(server->wake);
	secret_free(server->secret);
	file_root_close(&server->root);
	/* In a copy that fork() made, it could wait for threads that do not exist there. */
	if (server->maker == getpid())
		exit_joining(server);
	free(server);
}
