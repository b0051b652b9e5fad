// SPDX-License-Identifier: GPL-2.0
/*
 * The cost of the end of a process with many connections: it is killed, and its objects end.
 *
 *	kill ADDRESS CONNECTIONS...
 *
 * Runs where the clock counts instructions (tools/vm/run --icount).  Prints two lines for each
 * number of plain connections and of lanes: the instructions until the process can be waited for,
 * and until nothing of it is left.  They are those of the whole machine, so what the other end
 * does when its connections end is part of both; it keeps them.  Each connection of the process
 * that is killed has memory in a receive.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <krdma.h>
#include <krdma_entry.h>

#define PORT		7492
#define PATIENCE_MS	60000
/* Connections that share a ring. */
#define GROUP		1024
#define ROOM		(2 + KRDMA_RING_EXTRA)
/* A program has few file descriptors by default. */
#define FILES_BESIDES	64
/* For what goes on in the background after connecting. */
#define SETTLE_MS	3000
#define OBJECTS		"/sys/kernel/debug/krdma/objects"
#define TIMERS		"/proc/timer_list"

struct side {
	struct sockaddr_in address;
	bool lanes;
	unsigned int count;
	struct krdma *session;
	struct krdma_ring *ring;
	struct krdma_mr *mr;
	struct krdma_conn **conns;
};

static void check(const char *what, int err)
{
	if (!err)
		return;
	fprintf(stderr, "kill: %s: %s (%s)\n", what, strerror(-err), krdma_error_name(err));
	exit(1);
}

static void wait_ms(unsigned int ms)
{
	struct timespec time = { .tv_sec = ms / 1000, .tv_nsec = (ms % 1000) * 1000000L };

	nanosleep(&time, NULL);
}

/* The number behind the first word of the file, at the beginning of a line, that is @name. */
static uint64_t number_in(const char *path, const char *name)
{
	FILE *file = fopen(path, "re");
	unsigned long long number;
	char line[512], word[64];

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, " %63[^ :]%*[ :]%llu", word, &number) != 2 || strcmp(word, name))
			continue;
		fclose(file);
		return number;
	}
	fprintf(stderr, "kill: no %s in %s\n", name, path);
	exit(1);
}

/* Nanoseconds in which the processor was not idle: instructions. */
static uint64_t busy(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + time.tv_nsec -
	       number_in(TIMERS, ".idle_sleeptime");
}

static void side_open(struct side *side)
{
	uint32_t device;

	check("/dev/krdma", krdma_open(&side->session));
	check("device", krdma_device_by_address(side->session, (struct sockaddr *)&side->address,
						NULL, krdma_deadline(PATIENCE_MS), &device));
	check("memory", krdma_mr_alloc_for_lanes(side->session, device, side->count * 8ULL,
						 KRDMA_ACCESS_LOCAL_WRITE, 0, &side->mr));
	side->conns = calloc(side->count, sizeof(*side->conns));
	check("memory", side->conns ? 0 : -ENOMEM);
}

static void side_prepare(struct side *side, unsigned int number)
{
	struct krdma_ring_create_args ring = {
		.size = sizeof(ring), .cq_entries = GROUP * ROOM,
	};
	struct krdma_conn_create_qp_args create = {
		.size = sizeof(create), .send_depth = 1, .recv_depth = 1, .max_send_sge = 1,
		.keepalive_ms = KRDMA_KEEPALIVE_NEVER,
	};
	struct krdma_conn *conn = side->conns[number];
	struct krdma_sqe receive = krdma_entry_recv(conn, number, side->mr, number * 8, 8);

	/* The last one ends with the process, or with the connections. */
	if (number % GROUP == 0)
		check("ring", krdma_ring_create(side->session, &ring, &side->ring));
	check("queues", krdma_conn_create_qp(conn, side->ring, NULL, NULL, &create));
	check("receive", krdma_ring_post(side->ring, &receive, 1, NULL));
}

/* The process that is killed. */
static void be_client(struct side *side, int ready)
{
	const struct sockaddr *to = (struct sockaddr *)&side->address;
	uint64_t trunk;

	side_open(side);
	for (unsigned int i = 0; i < side->count; i++) {
		struct krdma_conn **conn = &side->conns[i];

		check("connection", side->lanes ? krdma_conn_create_lane(side->session, conn) :
						  krdma_conn_create(side->session, conn));
		check("resolve", krdma_conn_resolve(*conn, to, NULL) ?:
		      krdma_conn_wait(*conn, krdma_deadline(PATIENCE_MS), NULL) ?:
		      krdma_conn_trunk(*conn, &trunk));
		check("kind", !trunk == !side->lanes ? 0 : -EPROTOTYPE);
		side_prepare(side, i);
		check("connect", krdma_conn_connect(*conn, NULL, NULL, 0) ?:
		      krdma_conn_wait(*conn, krdma_deadline(PATIENCE_MS), NULL));
	}
	if (write(ready, "", 1) != 1)
		exit(1);
	pause();
	exit(1);
}

static void print(const struct side *side, const char *what, uint64_t value)
{
	printf("kill.%s.conns=%u.%s %llu\n", side->lanes ? "lane" : "plain", side->count, what,
	       (unsigned long long)value);
	fflush(stdout);
}

static void measure(const struct sockaddr_in *address, bool lanes, unsigned int count)
{
	struct side side = { .address = *address, .lanes = lanes, .count = count };
	struct krdma_listener *listener;
	uint64_t before;
	int ready[2], status;
	pid_t child;
	char byte;

	side_open(&side);
	check("listen", krdma_listen(side.session, (struct sockaddr *)address,
				     lanes ? KRDMA_LISTEN_LANES : 0, 0, &listener));
	check("pipe", pipe(ready) ? -EIO : 0);
	child = fork();
	check("fork", child < 0 ? -EAGAIN : 0);
	if (!child)
		be_client(&(struct side) { .address = *address, .lanes = lanes, .count = count },
			  ready[1]);
	for (unsigned int i = 0; i < count; i++) {
		check("request", krdma_listener_next(listener, krdma_deadline(PATIENCE_MS),
						     &side.conns[i]));
		side_prepare(&side, i);
		check("accept", krdma_conn_accept(side.conns[i], NULL, NULL, 0));
	}
	check("client", read(ready[0], &byte, 1) == 1 ? 0 : -EPIPE);
	wait_ms(SETTLE_MS);

	before = busy();
	kill(child, SIGKILL);
	check("wait", waitpid(child, &status, 0) == child ? 0 : -ECHILD);
	print(&side, "process", busy() - before);
	/* Those that are left are this program's. */
	while (number_in(OBJECTS, "user_conn") > count || number_in(OBJECTS, "user_mr") > 1 ||
	       number_in(OBJECTS, "user_session") > 1)
		wait_ms(20);
	print(&side, "all", busy() - before);
	krdma_close(side.session);
	exit(0);
}

/* In a process of its own, whose end gives back what it has. */
static void run(const struct sockaddr_in *address, bool lanes, unsigned int count)
{
	pid_t child = fork();
	int status = 1;

	if (!child)
		measure(address, lanes, count);
	if (child < 0 || waitpid(child, &status, 0) != child || status)
		exit(1);
	while (number_in(OBJECTS, "user_conn"))
		wait_ms(20);
}

int main(int argc, char **argv)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(PORT) };
	struct rlimit files;

	if (argc < 3 || inet_pton(AF_INET, argv[1], &address.sin_addr) != 1) {
		fprintf(stderr, "usage: kill ADDRESS CONNECTIONS...\n");
		return 2;
	}
	for (int i = 2; i < argc; i++) {
		files.rlim_cur = strtoul(argv[i], NULL, 10) + FILES_BESIDES;
		files.rlim_max = files.rlim_cur;
		if (setrlimit(RLIMIT_NOFILE, &files))
			perror("kill: descriptors");
		run(&address, false, (unsigned int)strtoul(argv[i], NULL, 10));
		run(&address, true, (unsigned int)strtoul(argv[i], NULL, 10));
	}
	return 0;
}
