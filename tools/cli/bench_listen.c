// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * krdma bench --listen: the side that serves the measuring side.
 */
#include <errno.h>

#include "bench.h"
#include "peer_echo.h"

/* Credit messages of a stream: two can be in flight, and their completions can be late. */
#define CREDITS_UNDER_WAY 4

struct work {
	struct client *client;
	struct hello hello;
	struct krdma_mr *mr;
	/* Number of receives, and of sends (credit messages). */
	uint32_t receives;
	uint32_t sends;
	/* Messages of a stream since the last credit message. */
	uint32_t unanswered;
};

/* Refuse an unknown operation, and a length or depth that exceeds the limits. */
static int check(struct client *client, const struct hello *hello)
{
	uint64_t longest = client_server(client)->max_length;

	if (hello->operation < OPERATION_ECHO || hello->operation > OPERATION_CONNECT) {
		client_refuse(client, VERDICT_SERVICE, 0);
		return -EPROTO;
	}
	if (hello->length > longest) {
		client_refuse(client, VERDICT_LENGTH, (uint32_t)longest);
		return -EMSGSIZE;
	}
	if (hello->depth < 1 || hello->depth > BENCH_MAX_DEPTH) {
		client_refuse(client, VERDICT_DEPTH, BENCH_MAX_DEPTH);
		return -EMSGSIZE;
	}
	return 0;
}

static void describe(struct client *client, const struct hello *hello)
{
	static const char * const names[] = {
		[OPERATION_ECHO] = "send",
		[OPERATION_STREAM] = "send",
		[OPERATION_WRITE] = "write",
		[OPERATION_READ] = "read",
		[OPERATION_ATOMIC] = "atomic",
		[OPERATION_CONNECT] = "connect",
	};
	char size[SIZE_TEXT_MAX];

	client->brief = hello->operation == OPERATION_CONNECT;
	if (client->brief)
		snprintf(client->wish, sizeof(client->wish), "connect");
	else
		snprintf(client->wish, sizeof(client->wish), "%s, up to %s, depth %u",
			 names[hello->operation], size_text(size, hello->length), hello->depth);
}

/*
 * Register the MR for all operations but an echo.  All messages of a stream go to the same place,
 * because they are not checked.
 */
static int take_memory(struct work *work)
{
	const struct hello *hello = &work->hello;
	uint64_t length = hello->length;
	uint32_t access = KRDMA_ACCESS_LOCAL_WRITE;

	switch (hello->operation) {
	case OPERATION_STREAM:
		work->receives = 2 * hello->depth;
		work->sends = CREDITS_UNDER_WAY;
		break;
	case OPERATION_WRITE:
	case OPERATION_READ:
		access |= KRDMA_ACCESS_REMOTE_READ | KRDMA_ACCESS_REMOTE_WRITE;
		break;
	case OPERATION_ATOMIC:
		access |= KRDMA_ACCESS_REMOTE_READ | KRDMA_ACCESS_REMOTE_ATOMIC;
		break;
	default:
		length = 0;
		break;
	}
	/* Without messages, one receive is posted: its flush shows that the connection ended. */
	if (!work->receives)
		work->receives = 1;
	return client_memory(work->client, length, access, &work->mr);
}

static struct krdma_sqe receive(const struct work *work)
{
	bool wanted = work->hello.operation == OPERATION_STREAM;

	return krdma_entry_recv(work->client->conn, 0, wanted ? work->mr : NULL, 0,
				work->hello.length);
}

static int post_receives(const struct work *work, size_t count)
{
	struct krdma_sqe entries[CLIENT_BATCH];
	size_t now, i;
	int err = 0;

	for (i = 0; i < CLIENT_BATCH && i < count; i++)
		entries[i] = receive(work);
	for (; !err && count; count -= now) {
		now = count < CLIENT_BATCH ? count : CLIENT_BATCH;
		err = krdma_ring_post(work->client->ring, entries, now, NULL);
	}
	return err;
}

/* Post new receives at once.  A credit message reports hello.depth of them. */
static int swallow(struct work *work, const struct krdma_cqe *cqes, size_t count)
{
	struct krdma_sqe message;
	size_t i, come = 0;
	int err;

	for (i = 0; i < count; i++) {
		if (cqes[i].opcode != KRDMA_OP_RECV)
			continue;
		come++;
		work->client->messages++;
		work->client->bytes += cqes[i].length;
		work->unanswered++;
	}
	err = post_receives(work, come);
	while (!err && work->unanswered >= work->hello.depth) {
		message = krdma_entry_send(work->client->conn, 0, NULL, 0, 0);
		err = krdma_ring_post(work->client->ring, &message, 1, NULL);
		if (!err)
			work->unanswered -= work->hello.depth;
	}
	/*
	 * -EAGAIN: earlier credit messages are still in flight.  The message is posted again when
	 * one of them has completed.
	 */
	return err == -EAGAIN ? 0 : err;
}

static int work_on(struct work *work)
{
	struct krdma_cqe cqes[CLIENT_BATCH];
	size_t taken;
	int err;

	do {
		err = client_next(work->client, cqes, &taken);
		if (!err && work->hello.operation == OPERATION_STREAM)
			err = swallow(work, cqes, taken);
		else if (!err)
			/* Only a stream sends messages. */
			err = -EPROTO;
	} while (!err);
	/* The client has disconnected meanwhile. */
	return err == -ENOTCONN ? -ECONNRESET : err;
}

static int attend_work(struct work *work)
{
	struct client *client = work->client;
	int err = take_memory(work);

	if (!err)
		err = client_prepare(client, work->sends, work->receives);
	if (err)
		return err;
	err = post_receives(work, work->receives);
	if (err) {
		client_refuse(client, VERDICT_FAILED, 0);
		return err;
	}
	err = client_welcome(client, work->hello.operation == OPERATION_STREAM ? NULL :
				     work->mr);
	return err ? err : work_on(work);
}

static int attend_echo(struct client *client, const struct hello *hello)
{
	struct echo echo;
	int err = echo_begin(&echo, client, hello->length, hello->depth);

	if (!err)
		err = client_welcome(client, NULL);
	if (!err)
		err = echo_run(&echo);
	echo_end(&echo);
	return err;
}

static int attend(struct client *client)
{
	struct work work = { .client = client };
	int err;

	err = client_hello(client, SERVICE_BENCH, &work.hello);
	if (!err)
		err = check(client, &work.hello);
	if (err)
		return err;
	describe(client, &work.hello);
	if (work.hello.operation == OPERATION_ECHO)
		return attend_echo(client, &work.hello);
	return attend_work(&work);
}

int bench_listen(const struct bench_settings *settings)
{
	const struct server_options options = {
		.common = settings->common,
		.command = "krdma bench --listen",
		.purpose = "serving krdma bench",
		.source = settings->source,
		.family = settings->family,
		.port = settings->port,
		.quiet = settings->quiet,
		.polled = settings->polled,
		.lane = settings->take_lanes,
		.max_clients = settings->max_clients,
		.max_memory = settings->max_memory,
		.max_length = settings->max_length,
		.attend = attend,
	};

	return serve(&options);
}
