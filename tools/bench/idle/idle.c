// SPDX-License-Identifier: GPL-2.0
/*
 * The cost of connections that do nothing: what the keepalive takes, and that it does nothing
 * while messages flow.
 *
 *	idle ADDRESS CONNECTIONS SECONDS
 *
 * Runs where the clock counts instructions (tools/vm/run --icount).  Prints a line for each figure.
 * Both ends are in this program, so each connection has two keepalives.  The figures are of the
 * whole machine: the time in which its processor was not idle, and the packets that its device has
 * sent.
 */
#include <arpa/inet.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include <krdma.h>
#include <krdma_entry.h>

#define PORT		7479
#define PATIENCE_MS	60000
#define DEPTH		2
/* Connections that share their rings. */
#define GROUP		1024
/* A program has few file descriptors by default, and a connection has one at each end. */
#define FILES_BESIDES	64
/* For what goes on in the background after connecting. */
#define SETTLE_MS	3000
/* Connections with messages, and how often each end sends one: more often than it would probe. */
#define TALKERS		64
#define TALK_MS		1000

#define COUNTER		"/sys/class/infiniband/rxe0/ports/1/hw_counters/sent_pkts"

struct pair {
	struct krdma_conn *client;
	struct krdma_conn *server;
};

struct group {
	struct krdma_ring *client;
	struct krdma_ring *server;
};

struct idle {
	struct sockaddr_in address;
	unsigned int conns;
	unsigned int seconds;
	uint32_t keepalive_ms;
	struct krdma *session;
	struct krdma_listener *listener;
	struct pair *pairs;
	struct group *groups;
};

/**
 * struct figures - what the machine has done
 * @busy: nanoseconds in which its processor was not idle: instructions
 * @packets: packets that its device has sent
 */
struct figures {
	uint64_t busy;
	uint64_t packets;
};

static void fail(const char *what)
{
	fprintf(stderr, "idle: %s\n", what);
	exit(1);
}

static void check(const char *what, int err)
{
	if (!err)
		return;
	fprintf(stderr, "idle: %s: %s (%s)\n", what, strerror(-err), krdma_error_name(err));
	exit(1);
}

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void wait_ms(unsigned int ms)
{
	struct timespec time = {
		.tv_sec = ms / 1000, .tv_nsec = (ms % 1000) * 1000000L,
	};

	nanosleep(&time, NULL);
}

static uint64_t patience(void)
{
	return krdma_deadline(PATIENCE_MS);
}

/* The first line of the file that begins like this, after any blanks; the number in it. */
static uint64_t number_in(const char *path, const char *begin)
{
	FILE *file = fopen(path, "re");
	unsigned long long number;
	char line[512], *at;

	if (!file)
		fail(path);
	while (fgets(line, sizeof(line), file)) {
		at = line + strspn(line, " ");
		if (strncmp(at, begin, strlen(begin)))
			continue;
		if (sscanf(at + strlen(begin), "%*[ :]%llu", &number) != 1 &&
		    sscanf(at + strlen(begin), "%llu", &number) != 1)
			break;
		fclose(file);
		return number;
	}
	fail(path);
	return 0;
}

static struct figures look(void)
{
	return (struct figures) {
		.busy = now() - number_in("/proc/timer_list", ".idle_sleeptime"),
		.packets = number_in(COUNTER, ""),
	};
}

static void print(const char *name, const char *what, double value, unsigned int conns)
{
	printf("%s.conns=%u.%s %.2f\n", name, conns, what, value);
	fflush(stdout);
}

/* What the machine does in a second while the program sleeps. */
static void measure(const struct idle *idle, const char *name)
{
	struct figures before, after;

	wait_ms(SETTLE_MS);
	before = look();
	wait_ms(idle->seconds * 1000);
	after = look();
	print(name, "instructions-per-second",
	      (double)(after.busy - before.busy) / idle->seconds, idle->conns);
	print(name, "packets-per-second",
	      (double)(after.packets - before.packets) / idle->seconds, idle->conns);
}

/*
 * Connections
 */

static struct krdma_ring *make_ring(struct idle *idle)
{
	struct krdma_ring_create_args create = {
		.size = sizeof(create),
		.sq_entries = TALKERS,
		.cq_entries = GROUP * (2 * DEPTH + KRDMA_RING_EXTRA),
	};
	struct krdma_ring *ring;

	check("ring", krdma_ring_create(idle->session, &create, &ring));
	return ring;
}

static void connect_pair(struct idle *idle, unsigned int number)
{
	struct krdma_conn_create_qp_args create = {
		.size = sizeof(create), .send_depth = DEPTH, .recv_depth = DEPTH,
		.max_send_sge = 1, .keepalive_ms = idle->keepalive_ms,
	};
	struct krdma_conn_create_qp_args other = create;
	const struct sockaddr *address = (struct sockaddr *)&idle->address;
	struct group *group = &idle->groups[number / GROUP];
	struct pair *pair = &idle->pairs[number];

	if (number % GROUP == 0) {
		group->client = make_ring(idle);
		group->server = make_ring(idle);
	}
	check("connection", krdma_conn_create(idle->session, &pair->client));
	check("resolve", krdma_conn_resolve(pair->client, address, NULL));
	check("resolve", krdma_conn_wait(pair->client, patience(), NULL));
	check("create QP", krdma_conn_create_qp(pair->client, group->client, NULL, NULL, &create));
	check("connect", krdma_conn_connect(pair->client, NULL, NULL, 0));
	check("request", krdma_listener_next(idle->listener, patience(), &pair->server));
	check("create QP", krdma_conn_create_qp(pair->server, group->server, NULL, NULL, &other));
	check("accept", krdma_conn_accept(pair->server, NULL, NULL, 0));
	check("connect", krdma_conn_wait(pair->client, patience(), NULL));
	check("connect", krdma_conn_wait(pair->server, patience(), NULL));
}

static void begin(struct idle *idle, unsigned int conns, uint32_t keepalive_ms)
{
	unsigned int i;

	idle->conns = conns;
	idle->keepalive_ms = keepalive_ms;
	check("/dev/krdma", krdma_open(&idle->session));
	check("listen", krdma_listen(idle->session, (struct sockaddr *)&idle->address, 0, 0,
				     &idle->listener));
	idle->pairs = calloc(conns, sizeof(*idle->pairs));
	idle->groups = calloc(conns / GROUP + 1, sizeof(*idle->groups));
	if (!idle->pairs || !idle->groups)
		fail("no memory");
	for (i = 0; i < conns; i++)
		connect_pair(idle, i);
}

static void end(struct idle *idle)
{
	unsigned int i;

	for (i = 0; i < idle->conns; i++) {
		krdma_conn_close(idle->pairs[i].client);
		krdma_conn_close(idle->pairs[i].server);
	}
	for (i = 0; i * GROUP < idle->conns; i++) {
		krdma_ring_close(idle->groups[i].client);
		krdma_ring_close(idle->groups[i].server);
	}
	free(idle->pairs);
	free(idle->groups);
	krdma_listener_close(idle->listener);
	krdma_close(idle->session);
}

/* Are all of them still connected? */
static void check_connected(const struct idle *idle)
{
	unsigned int i;

	for (i = 0; i < idle->conns; i++) {
		check("a client's connection", krdma_conn_wait(idle->pairs[i].client, 0, NULL));
		check("a server's connection", krdma_conn_wait(idle->pairs[i].server, 0, NULL));
	}
}

/*
 * Messages
 */

static void post(struct krdma_ring *ring, struct krdma_sqe entry)
{
	size_t accepted;

	check("post", krdma_ring_post(ring, &entry, 1, &accepted));
}

/* A message without bytes from each end of each connection. */
static void talk(struct idle *idle)
{
	struct krdma_cqe cqes[2 * TALKERS];
	struct group *group = &idle->groups[0];
	size_t taken;
	unsigned int i, j;

	for (i = 0; i < idle->conns; i++) {
		const struct pair *pair = &idle->pairs[i];

		post(group->client, krdma_entry_recv(pair->client, 0, NULL, 0, 0));
		post(group->server, krdma_entry_recv(pair->server, 0, NULL, 0, 0));
		post(group->client, krdma_entry_send(pair->client, 0, NULL, 0, 0));
		post(group->server, krdma_entry_send(pair->server, 0, NULL, 0, 0));
	}
	for (i = 0; i < 2; i++) {
		check("messages", krdma_ring_wait(i ? group->server : group->client, cqes,
						  2 * idle->conns, 2 * idle->conns, patience(),
						  &taken));
		for (j = 0; j < taken; j++)
			if (cqes[j].status != KRDMA_WC_SUCCESS)
				fail(krdma_wc_status_name(cqes[j].status));
	}
}

static void measure_talk(struct idle *idle, const char *name)
{
	struct figures before, after;
	unsigned int i;

	wait_ms(TALK_MS);
	talk(idle);
	wait_ms(TALK_MS);
	before = look();
	for (i = 0; i < idle->seconds; i++) {
		talk(idle);
		wait_ms(TALK_MS);
	}
	after = look();
	print(name, "packets-per-message", (double)(after.packets - before.packets) /
	      (2.0 * idle->seconds * idle->conns), idle->conns);
}

static unsigned int number(const char *text)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (!*text || *end || !value || value > 20000)
		fail("CONNECTIONS and SECONDS want a value from 1 to 20000");
	return (unsigned int)value;
}

int main(int argc, char **argv)
{
	struct idle idle = { .address.sin_family = AF_INET, .address.sin_port = htons(PORT) };
	unsigned int conns, talkers;
	struct rlimit files;

	if (argc != 4 || inet_pton(AF_INET, argv[1], &idle.address.sin_addr) != 1) {
		fprintf(stderr, "usage: idle ADDRESS CONNECTIONS SECONDS\n");
		return 2;
	}
	conns = number(argv[2]);
	idle.seconds = number(argv[3]);
	talkers = conns < TALKERS ? conns : TALKERS;
	files.rlim_cur = 2 * (rlim_t)conns + FILES_BESIDES;
	files.rlim_max = files.rlim_cur;
	if (setrlimit(RLIMIT_NOFILE, &files))
		fail("not so many files");

	measure(&idle, "idle.machine");
	begin(&idle, conns, KRDMA_KEEPALIVE_NEVER);
	measure(&idle, "idle.never");
	end(&idle);
	begin(&idle, conns, 0);
	measure(&idle, "idle.default");
	check_connected(&idle);
	end(&idle);

	begin(&idle, talkers, KRDMA_KEEPALIVE_NEVER);
	measure_talk(&idle, "talk.never");
	end(&idle);
	begin(&idle, talkers, 0);
	measure_talk(&idle, "talk.default");
	end(&idle);
	return 0;
}
