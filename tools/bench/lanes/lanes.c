// SPDX-License-Identifier: GPL-2.0
/*
 * The cost of opening and closing a connection, of two programs that sleep while they wait: lanes
 * over a trunk that is there, and plain connections.
 *
 *	lanes ADDRESS
 *
 * Runs where the clock counts instructions (tools/vm/run --icount).  Prints a line for each figure:
 * the instructions of one connection, both ends.  Each program has one ring for all of its
 * connections, and each connection a descriptor at each end, or, where the line says "numbers",
 * none: then a call opens, takes, accepts or closes all of them.  "request" is a message and its
 * answer besides: over a lane for each, where the message is sent when the lane is open, or early;
 * and over one lane for all, which is not closed.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <krdma.h>
#include <krdma_entry.h>

#define PORT		7490
#define PATIENCE_MS	60000
#define DEPTH		4
/* Connections of a round, and at a time at most. */
#define COUNT		60
/* The shortest of so many rounds counts. */
#define ROUNDS		32
/* The first round shows the way, and its connections may be plain ones. */
#define WARM		2

enum how {
	PLAIN,
	LANES,
	NUMBERS,
	LATE,
	EARLY,
	ALONE,
};

static bool has_request(enum how how)
{
	return how >= LATE;
}

struct side {
	struct sockaddr_in address;
	struct krdma *session;
	struct krdma_ring *ring;
	struct krdma_mr *mr;
	uint32_t device;
	struct krdma_conn *conns[COUNT];
	struct krdma_conns_entry entries[COUNT];
};

static void check(const char *what, int err)
{
	if (!err)
		return;
	fprintf(stderr, "lanes: %s: %s (%s)\n", what, strerror(-err), krdma_error_name(err));
	exit(1);
}

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static uint64_t patience(void)
{
	return krdma_deadline(PATIENCE_MS);
}

static void side_open(struct side *side)
{
	struct krdma_ring_create_args args = {
		.size = sizeof(args),
		/* Some are still ending when the next ones begin. */
		.cq_entries = 4 * COUNT * (2 * DEPTH + KRDMA_RING_EXTRA),
	};

	check("/dev/krdma", krdma_open(&side->session));
	check("device", krdma_device_by_address(side->session, (struct sockaddr *)&side->address,
						NULL, patience(), &side->device));
	args.device_id = side->device;
	check("ring", krdma_ring_create(side->session, &args, &side->ring));
	check("memory", krdma_mr_alloc_for_lanes(side->session, side->device, 16,
						 KRDMA_ACCESS_LOCAL_WRITE, 0, &side->mr));
}

static void prepare(struct side *side, struct krdma_conn *conn)
{
	struct krdma_conn_create_qp_args args = {
		.size = sizeof(args),
		.send_depth = DEPTH,
		.recv_depth = DEPTH,
		.max_send_sge = 1,
	};

	check("queues", krdma_conn_create_qp(conn, side->ring, NULL, NULL, &args));
}

/*
 * Requests
 */

static void post_receive(struct side *side, struct krdma_conn *conn)
{
	struct krdma_sqe entry = krdma_entry_recv(conn, 0, side->mr, 0, 8);

	check("receive", krdma_ring_post(side->ring, &entry, 1, NULL));
}

static void post_send(struct side *side, struct krdma_conn *conn)
{
	struct krdma_sqe entry = krdma_entry_send(conn, 0, side->mr, 8, 8);

	entry.flags |= KRDMA_SQE_UNSIGNALED;
	check("send", krdma_ring_post(side->ring, &entry, 1, NULL));
}

static void await_message(struct side *side)
{
	struct krdma_cqe cqe;
	size_t got;

	do {
		check("message", krdma_ring_wait(side->ring, &cqe, 1, 1, patience(), &got));
		/* Receives of lanes that were closed are flushed. */
	} while (cqe.status == KRDMA_WC_WR_FLUSH_ERR);
	check("message", cqe.status ? -EIO : 0);
}

static void answer(struct side *side, struct krdma_conn *conn)
{
	await_message(side);
	post_receive(side, conn);
	post_send(side, conn);
}

/*
 * The passive program
 */

static void serve_batch(struct side *side, struct krdma_listener *listener, enum how how,
			unsigned int batch)
{
	unsigned int i;

	for (i = 0; i < batch; i++) {
		check("request", krdma_listener_next(listener, KRDMA_FOREVER, &side->conns[i]));
		prepare(side, side->conns[i]);
		if (has_request(how))
			post_receive(side, side->conns[i]);
		check("accept", krdma_conn_accept(side->conns[i], NULL, NULL, 0));
		if (has_request(how))
			answer(side, side->conns[i]);
	}
	for (i = 1; how == ALONE && i < (ROUNDS + WARM) * COUNT; i++)
		answer(side, side->conns[0]);
	for (i = 0; i < batch; i++) {
		check("end", krdma_conn_await_closed(side->conns[i], KRDMA_FOREVER));
		krdma_conn_close(side->conns[i]);
	}
}

static const struct krdma_conns_args queues = {
	.size = sizeof(queues),
	.send_depth = DEPTH,
	.recv_depth = DEPTH,
	.max_send_sge = 1,
};

/* Each connection has two events here: that it is established, and its end. */
static void serve_numbers(struct side *side, struct krdma_listener *listener)
{
	struct krdma_conns_entry *entries = side->entries;
	unsigned int taken, events = 0, i;
	struct krdma_cqe cqes[2 * COUNT];
	uint32_t done;

	memset(side->entries, 0, sizeof(side->entries));
	for (taken = 0; taken < COUNT; taken += done) {
		check("request", krdma_conns_take(side->session, listener, entries + taken,
						  COUNT - taken, KRDMA_FOREVER, &done));
		for (i = taken; i < taken + done; i++)
			entries[i].private_data_len = 0;
		check("accept", krdma_conns_accept(side->session, side->ring, entries + taken,
						   done, &queues, &done));
	}
	while (events < 2 * COUNT) {
		size_t got = 0;

		check("events", krdma_ring_wait(side->ring, cqes, 2 * COUNT, 2 * COUNT - events,
						KRDMA_FOREVER, &got));
		events += got;
	}
	check("close", krdma_conns_close(side->session, entries, COUNT, NULL));
}

static void serve(const struct sockaddr_in *address, enum how how, unsigned int batch, int ready)
{
	struct krdma_listen_args args = {
		.size = sizeof(args), .flags = how == PLAIN ? 0 : KRDMA_LISTEN_LANES,
	};
	struct side side = { .address = *address };
	struct krdma_listener *listener;

	side_open(&side);
	check("listen", krdma_listen_options(side.session, (struct sockaddr *)address, &args,
					     &listener));
	if (write(ready, "", 1) != 1)
		exit(1);
	for (unsigned int i = 0; i < (ROUNDS + WARM) * COUNT / batch; i++) {
		if (how == NUMBERS)
			serve_numbers(&side, listener);
		else
			serve_batch(&side, listener, how, batch);
		if (how == ALONE)
			break;
	}
	exit(0);
}

/*
 * The active program
 */

static void begin(struct side *side, bool lane, struct krdma_conn **conn)
{
	check("connection", lane ? krdma_conn_create_lane(side->session, conn) :
				   krdma_conn_create(side->session, conn));
	check("resolve", krdma_conn_resolve(*conn, (struct sockaddr *)&side->address, NULL));
}

static void ask(struct side *side, struct krdma_conn *conn, enum how how)
{
	const struct krdma_conn_param_args early = {
		.size = sizeof(early), .flags = KRDMA_CONN_PARAM_EARLY,
	};

	check("resolve", krdma_conn_wait(conn, patience(), NULL));
	prepare(side, conn);
	if (has_request(how))
		post_receive(side, conn);
	check("connect", krdma_conn_connect(conn, how == EARLY ? &early : NULL, NULL, 0));
	if (how == EARLY)
		post_send(side, conn);
}

static void run_numbers(struct side *side)
{
	struct krdma_conns_args args = queues;

	args.flags = KRDMA_CONNS_LANES;
	memset(side->entries, 0, sizeof(side->entries));
	for (unsigned int i = 0; i < COUNT; i++)
		memcpy(&side->entries[i].remote, &side->address, sizeof(side->address));
	check("open", krdma_conns_open(side->session, side->ring, side->entries, COUNT, &args,
				       patience(), NULL));
	check("close", krdma_conns_close(side->session, side->entries, COUNT, NULL));
}

static void run_batch(struct side *side, enum how how, unsigned int batch)
{
	unsigned int i;

	if (how == NUMBERS) {
		run_numbers(side);
		return;
	}
	for (i = 0; i < batch; i++)
		begin(side, how != PLAIN, &side->conns[i]);
	for (i = 0; i < batch; i++)
		ask(side, side->conns[i], how);
	for (i = 0; i < batch && how != EARLY; i++)
		check("connect", krdma_conn_wait(side->conns[i], patience(), NULL));
	for (i = 0; i < batch && has_request(how); i++) {
		if (how != EARLY)
			post_send(side, side->conns[i]);
		await_message(side);
	}
	for (i = 0; i < batch; i++)
		krdma_conn_close(side->conns[i]);
}

/* A lane that is there, for all requests. */
static void open_one(struct side *side)
{
	begin(side, true, &side->conns[0]);
	ask(side, side->conns[0], ALONE);
	check("connect", krdma_conn_wait(side->conns[0], patience(), NULL));
}

static void run_one(struct side *side)
{
	post_send(side, side->conns[0]);
	await_message(side);
	post_receive(side, side->conns[0]);
}

static void run(const struct sockaddr_in *address, enum how how, unsigned int batch)
{
	static const char *const names[] = {
		"plain.open-close", "lane.open-close", "numbers.open-close",
		"lane.open-request-close.late", "lane.open-request-close.early", "lane.request",
	};
	struct side side = { .address = *address };
	uint64_t began, least = UINT64_MAX;

	side_open(&side);
	if (how == ALONE)
		open_one(&side);
	for (unsigned int round = 0; round < ROUNDS + WARM; round++) {
		began = now();
		for (unsigned int i = 0; i < COUNT; i += batch) {
			if (how == ALONE)
				run_one(&side);
			else
				run_batch(&side, how, batch);
		}
		if (round >= WARM && now() - began < least)
			least = now() - began;
	}
	printf("programs.%s.batch=%u %llu\n", names[how], batch,
	       (unsigned long long)(least / COUNT));
	fflush(stdout);
	if (how == ALONE)
		krdma_conn_close(side.conns[0]);
	check("memory", krdma_mr_deregister(side.mr, 0));
	krdma_ring_close(side.ring);
	krdma_close(side.session);
}

static void measure(const struct sockaddr_in *address, enum how how, unsigned int batch)
{
	int ready[2], status;
	pid_t child;
	char byte;

	if (pipe(ready))
		exit(1);
	child = fork();
	if (child < 0)
		exit(1);
	if (!child)
		serve(address, how, batch, ready[1]);
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1)
		exit(1);
	close(ready[0]);
	run(address, how, batch);
	if (waitpid(child, &status, 0) != child || status)
		exit(1);
}

int main(int argc, char **argv)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(PORT) };

	if (argc != 2 || inet_pton(AF_INET, argv[1], &address.sin_addr) != 1) {
		fprintf(stderr, "usage: lanes ADDRESS\n");
		return 2;
	}
	measure(&address, LANES, 1);
	measure(&address, LANES, COUNT);
	measure(&address, NUMBERS, COUNT);
	measure(&address, LATE, 1);
	measure(&address, EARLY, 1);
	measure(&address, ALONE, 1);
	measure(&address, PLAIN, 1);
	measure(&address, PLAIN, COUNT);
	return 0;
}
