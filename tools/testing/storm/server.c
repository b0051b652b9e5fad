// SPDX-License-Identifier: GPL-2.0
/*
 * A server.  It has a thread for each client, which answers each message and offers memory.
 */
#include <netinet/in.h>
#include <pthread.h>
#include <unistd.h>

#include "traffic.h"

enum tag {
	TAG_RECEIVE,
	TAG_ANSWER,
	TAG_PROBE,
};

#define TAG(kind, slot)	((kind) << 8 | (slot))

/* Offsets in the MR for messages. */
#define AT_RECEIVE	0
#define AT_ANSWER	(MESSAGES * MESSAGE_MAX)
#define AT_PROBE	(AT_ANSWER + MESSAGES * MESSAGE_MAX)
#define SERVER_SIZE	(AT_PROBE + MESSAGE_MAX)

/* The client's bulk data, and behind them its counter. */
#define OFFER_SIZE	(BULK_SIZE + 8)

#define CLIENTS_MAX	128

struct server {
	struct end end;
	uint64_t id;
	uint64_t next;
	bool busy[MESSAGES];
	bool probing;
	bool left;
};

static struct server *servers[CLIENTS_MAX];
static pthread_mutex_t servers_lock = PTHREAD_MUTEX_INITIALIZER;

static struct server *server_of(struct end *end)
{
	return (struct server *)end;
}

static void *memory_at(struct end *end, size_t offset)
{
	return (unsigned char *)krdma_mr_data(end->mr) + offset;
}

static int post_receive(struct end *end, unsigned int slot)
{
	struct krdma_sqe entry = krdma_entry_recv(end->conn, 0, end->mr,
						  AT_RECEIVE + slot * MESSAGE_MAX, MESSAGE_MAX);
	uint32_t tag = TAG(TAG_RECEIVE, slot);

	return end_post(end, &entry, &tag, 1);
}

static void post_message(struct end *end, uint32_t tag, size_t offset,
			 const struct message *message)
{
	struct krdma_sqe entry = krdma_entry_send(end->conn, 0, end->mr, offset,
						  sizeof(*message) + message->length);

	end_post(end, &entry, &tag, 1);
}

static void answer(struct end *end, uint64_t sequence, uint32_t length)
{
	struct server *server = server_of(end);
	unsigned int slot = sequence % MESSAGES;
	size_t offset = AT_ANSWER + slot * MESSAGE_MAX;
	struct message *message = memory_at(end, offset);
	int err;

	/* The client has received the slot's previous answer; only its completion is late. */
	while (server->busy[slot]) {
		err = end->broken ? -EIO : end_take(end, SILENCE_MS);
		if (err && err != -ETIMEDOUT)
			return;
	}
	message_make(message, MESSAGE_REPLY, server->id, sequence, length);
	message_seal(message);
	server->busy[slot] = true;
	post_message(end, TAG(TAG_ANSWER, slot), offset, message);
}

static void compare_memory(struct end *end, const struct message *message)
{
	const unsigned char *offer = krdma_mr_data(end->bulk);
	uint64_t count;

	memcpy(&count, offer + BULK_SIZE, sizeof(count));
	if (count != message->adds)
		fail(end, "a client has added %llu times, and there is %llu",
		     (unsigned long long)message->adds, (unsigned long long)count);
	if (checksum(offer, BULK_SIZE) != message->bulk)
		fail(end, "what a client has written is not there");
}

static void received(struct end *end, unsigned int slot, uint32_t length)
{
	const struct message *message = memory_at(end, AT_RECEIVE + slot * MESSAGE_MAX);
	struct server *server = server_of(end);
	uint64_t sequence = message->sequence;
	uint32_t answer_length;
	const char *wrong;

	wrong = message_wrong(message, length, server->id);
	if (wrong)
		fail(end, "a message after %llu: %s", (unsigned long long)server->next, wrong);
	if (sequence != server->next)
		fail(end, "message %llu instead of %llu", (unsigned long long)sequence,
		     (unsigned long long)server->next);
	server->next++;
	end->traffic->tally.messages++;
	end->traffic->tally.bytes += length;
	if (message->kind == MESSAGE_BYE) {
		compare_memory(end, message);
		server->left = true;
	}
	answer_length = message->length % 1024;
	/* Post the receive first: after the answer the client may send another message. */
	if (!post_receive(end, slot))
		answer(end, sequence, answer_length);
}

static void complete(struct end *end, uint32_t tag, const struct krdma_cqe *cqe)
{
	struct server *server = server_of(end);

	switch (tag >> 8) {
	case TAG_RECEIVE:
		received(end, tag & 0xff, cqe->length);
		break;
	case TAG_ANSWER:
		server->busy[tag & 0xff] = false;
		break;
	case TAG_PROBE:
		server->probing = false;
		break;
	}
}

/* A silent peer may be dead; a work request shows whether it is. */
static void probe(struct end *end)
{
	struct message *message = memory_at(end, AT_PROBE);
	struct server *server = server_of(end);

	if (server->probing)
		return;
	server->probing = true;
	message_make(message, MESSAGE_PROBE, server->id, 0, 0);
	message_seal(message);
	post_message(end, TAG(TAG_PROBE, 0), AT_PROBE, message);
}

static int create_qp(struct end *end)
{
	struct krdma_conn_query_args query;
	int err;

	err = krdma_conn_query(end->conn, &query, sizeof(query));
	if (err)
		return err;
	begin(end, CALL_REGISTER);
	err = krdma_mr_alloc(end->traffic->session, query.device_id, SERVER_SIZE,
			     KRDMA_ACCESS_LOCAL_WRITE, &end->mr);
	if (!err)
		err = krdma_mr_alloc(end->traffic->session, query.device_id, OFFER_SIZE,
				     KRDMA_ACCESS_LOCAL_WRITE | KRDMA_ACCESS_REMOTE_READ |
				     KRDMA_ACCESS_REMOTE_WRITE | KRDMA_ACCESS_REMOTE_ATOMIC,
				     &end->bulk);
	done(end);
	if (err)
		return err;
	begin(end, CALL_PREPARE);
	err = krdma_ring_create(end->traffic->session, NULL, &end->ring);
	if (!err)
		err = krdma_conn_create_qp(end->conn, end->ring, NULL, NULL, NULL);
	done(end);
	if (err)
		return err;
	end->prepared = true;
	for (unsigned int slot = 0; !err && slot < MESSAGES; slot++)
		err = post_receive(end, slot);
	return err;
}

static int let_in(struct end *end)
{
	unsigned char descriptor[KRDMA_MR_DESC_SIZE];
	struct server *server = server_of(end);
	size_t length = sizeof(server->id);
	int err;

	err = krdma_conn_private_data(end->conn, &server->id, &length);
	if (err)
		return err;
	if (length != sizeof(server->id))
		fail(end, "a client's private data have %zu bytes", length);
	err = create_qp(end);
	if (err)
		return err;
	err = krdma_mr_describe(end->bulk, 0, 0, descriptor);
	if (err)
		fail(end, "describe: %s", krdma_error_name(err));
	begin(end, CALL_ACCEPT);
	err = krdma_conn_accept(end->conn, NULL, descriptor, sizeof(descriptor));
	if (!err)
		err = krdma_conn_wait(end->conn, krdma_deadline(CONNECT_MS), NULL);
	done(end);
	return err;
}

/* Serve until the client leaves, is lost, or is silent after its MESSAGE_BYE. */
static int talk(struct end *end)
{
	struct server *server = server_of(end);
	unsigned int silent = 0;
	int err;

	while (!end->broken) {
		err = end_take(end, SILENCE_MS);
		if (!err) {
			silent = 0;
			continue;
		}
		if (err != -ETIMEDOUT)
			return err;
		if (server->left && ++silent > 5)
			return 0;
		probe(end);
	}
	return -ECONNRESET;
}

static void server_free(struct server *server)
{
	pthread_mutex_lock(&servers_lock);
	servers[server->end.number] = NULL;
	pthread_mutex_unlock(&servers_lock);
	free(server);
}

static void *serve_one(void *arg)
{
	struct server *server = arg;
	struct end *end = &server->end;
	bool reached;
	int err;

	err = let_in(end);
	reached = !err;
	if (err) {
		expected(end, end->called, err);
		end->traffic->tally.refused++;
	} else {
		end->traffic->tally.connected++;
		err = talk(end);
		if (err && !server->left)
			end->traffic->tally.lost++;
	}
	end_finish(end, !reached || roll(end, 2), end->broken);
	server_free(server);
	return NULL;
}

/* Start a thread for a client.  Beyond CLIENTS_MAX, close the connection, which rejects it. */
static void start(struct traffic *traffic, struct krdma_conn *conn, unsigned int random)
{
	struct server *server = calloc(1, sizeof(*server));
	unsigned int number = 0;
	pthread_t thread;

	pthread_mutex_lock(&servers_lock);
	while (number < CLIENTS_MAX && servers[number])
		number++;
	if (server && number < CLIENTS_MAX)
		servers[number] = server;
	pthread_mutex_unlock(&servers_lock);
	if (!server || number == CLIENTS_MAX) {
		krdma_conn_close(conn);
		free(server);
		return;
	}
	server->end.traffic = traffic;
	server->end.role = "server";
	server->end.number = number;
	server->end.random = random;
	server->end.conn = conn;
	server->end.complete = complete;
	server->end.doing = -1;
	if (!pthread_create(&thread, NULL, serve_one, server)) {
		pthread_detach(thread);
		return;
	}
	traffic->tally.short_of++;
	krdma_conn_close(conn);
	server_free(server);
}

/* Return the number of threads.  A thread that is stuck is a violation. */
static unsigned int look_after(struct traffic *traffic)
{
	unsigned int count = 0;

	pthread_mutex_lock(&servers_lock);
	for (unsigned int i = 0; i < CLIENTS_MAX; i++) {
		struct end *end = servers[i] ? &servers[i]->end : NULL;
		uint64_t since = end ? atomic_load(&end->since) : 0;

		count += !!end;
		if (end && end->doing >= 0 && now_ms() > since + 2 * traffic->limit_ms)
			fail(end, "it is in '%s' for %llu ms", call_name(end->doing),
			     (unsigned long long)(now_ms() - since));
	}
	pthread_mutex_unlock(&servers_lock);
	return count;
}

static int listen_anywhere(struct end *main, struct krdma_listener **listener)
{
	struct sockaddr_in6 anywhere = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_ANY_INIT };
	uint64_t begun = now_ms();
	int err;

	anywhere.sin6_port = htons(main->traffic->port);
	for (;;) {
		err = krdma_listen(main->traffic->session, (struct sockaddr *)&anywhere, 0, 0,
				   listener);
		if (!err)
			return 0;
		/* A server that was killed may still have the port, at all addresses. */
		if (err != -EADDRINUSE && err != -EADDRNOTAVAIL)
			expected(main, CALL_LISTEN, err);
		if (now_ms() - begun > main->traffic->limit_ms)
			fail(main, "listen: %s", krdma_error_name(err));
		usleep(50000);
	}
}

int serve(struct traffic *traffic, const atomic_bool *stop)
{
	struct end main = { .traffic = traffic, .role = "server", .number = 999 };
	struct krdma_listener *listener;
	struct krdma_conn *conn;
	uint64_t stopped;
	int err;

	listen_anywhere(&main, &listener);
	printf("listening\n");
	fflush(stdout);
	while (!*stop) {
		err = krdma_listener_next(listener, krdma_deadline(200), &conn);
		look_after(traffic);
		if (!err) {
			start(traffic, conn, traffic->seed + traffic->tally.connected);
		} else if (err == -ENODEV) {
			krdma_listener_close(listener);
			listen_anywhere(&main, &listener);
		} else if (err != -EINTR && err != -ETIMEDOUT) {
			expected(&main, CALL_NEXT, err);
		}
	}
	krdma_listener_close(listener);
	/* The clients end first; connections of killed clients are lost within the limit. */
	stopped = now_ms();
	while (look_after(traffic)) {
		if (now_ms() - stopped > 2 * traffic->limit_ms)
			fail(&main, "clients that are gone are not lost");
		usleep(50000);
	}
	print_tally(traffic, "server");
	return 0;
}
