// SPDX-License-Identifier: GPL-2.0
/*
 * The full cost of an operation of a program: building the entry, the system call, the kernel's
 * checks, the completion, and polling it.
 *
 *	ring ADDRESS CONNECTIONS [BATCH]
 *
 * Prints a line for each way, kind of work and batch, with the nanoseconds of one operation.  Where
 * the clock counts instructions (tools/vm/run --icount), that is the number of instructions.  Both
 * ends are in this program.  With BATCH it prints only the line of polled writes by hand.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

#include <krdma.h>
#include <krdma_entry.h>

#define PORT		7478
#define PATIENCE_MS	60000
#define LENGTH		8
#define BATCH_MAX	64
#define MEMORY		4096
/* The shortest of so many rounds counts: the others were interrupted. */
#define ROUNDS		16
#define ROUND_COUNT	512
/* A program has few file descriptors by default, and a connection has one at each end. */
#define FILES_BESIDES	64

/* Of a batch of UNSIGNALED writes, the last one is signaled. */
enum work { WRITE, READ, FETCH_ADD, UNSIGNALED, WORKS };

/*
 * How work requests are posted: directly in the ring's memory, with nothing but the kernel's
 * interface; by the library through the ring; by the library as an array.
 */
enum way { BY_HAND, BY_RING, BY_ARRAY, WAYS };

static const char *const work_names[] = {
	[WRITE] = "write", [READ] = "read", [FETCH_ADD] = "fetch-add",
	[UNSIGNALED] = "unsignaled",
};

static const char *const way_names[] = {
	[BY_HAND] = "hand", [BY_RING] = "ring", [BY_ARRAY] = "array",
};

struct pair {
	struct krdma_conn *client;
	struct krdma_conn *server;
};

struct bench {
	struct sockaddr_in address;
	unsigned int conns;
	unsigned int next;
	struct krdma *session;
	struct krdma_listener *listener;
	struct krdma_ring *ring;
	struct krdma_ring *server_queue;
	struct krdma_ring_header *header;
	size_t ring_size;
	struct krdma_mr *mr;
	struct krdma_remote_mr remote;
	struct pair *pairs;
};

static void check(const char *what, int err)
{
	if (!err)
		return;
	fprintf(stderr, "ring: %s: %s (%s)\n", what, strerror(-err), krdma_error_name(err));
	exit(1);
}

static void fail(const char *what)
{
	fprintf(stderr, "ring: %s\n", what);
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

/* Each of many connections has a few work requests in flight, and a single one has a batch. */
static unsigned int depth(const struct bench *bench)
{
	return bench->conns == 1 ? BATCH_MAX : 2;
}

static void make_queue(struct bench *bench, bool polled, struct krdma_ring **ring)
{
	struct krdma_ring_create_args create = {
		.size = sizeof(create),
		.flags = polled ? KRDMA_RING_POLLED : 0,
		.sq_entries = BATCH_MAX,
		.cq_entries = bench->conns * (depth(bench) + 1 + KRDMA_RING_EXTRA),
	};

	if (create.cq_entries > KRDMA_RING_ENTRIES_MAX)
		create.cq_entries = KRDMA_RING_ENTRIES_MAX;
	check("queue", krdma_ring_create(bench->session, &create, ring));
}

static void map_ring(struct bench *bench)
{
	struct krdma_ring_query_args query;

	check("queue", krdma_ring_query(bench->ring, &query, sizeof(query)));
	bench->ring_size = query.ring_size;
	bench->header = mmap(NULL, bench->ring_size, PROT_READ | PROT_WRITE, MAP_SHARED,
			     krdma_ring_fd(bench->ring), 0);
	if (bench->header == MAP_FAILED)
		fail("the ring cannot be mapped");
}

/* On the device of the first connection. */
static void make_memory(struct bench *bench, struct krdma_conn *conn)
{
	unsigned char descriptor[KRDMA_MR_DESC_SIZE];
	struct krdma_conn_query_args query;

	if (bench->mr)
		return;
	check("the connection", krdma_conn_query(conn, &query, sizeof(query)));
	check("memory", krdma_mr_alloc(bench->session, query.device_id, MEMORY,
				       KRDMA_ACCESS_LOCAL_WRITE | KRDMA_ACCESS_REMOTE_READ |
				       KRDMA_ACCESS_REMOTE_WRITE |
				       KRDMA_ACCESS_REMOTE_ATOMIC, &bench->mr));
	check("describe", krdma_mr_describe(bench->mr, 0, 0, descriptor));
	check("descriptor",
	      krdma_remote_mr_from_desc(descriptor, sizeof(descriptor), &bench->remote));
}

static void connect_pair(struct bench *bench, struct pair *pair)
{
	struct krdma_conn_create_qp_args client = {
		.size = sizeof(client), .send_depth = depth(bench), .recv_depth = 1,
		.max_send_sge = 1,
	};
	struct krdma_conn_create_qp_args server = {
		.size = sizeof(server), .send_depth = 1, .recv_depth = 1, .max_send_sge = 1,
	};
	const struct sockaddr *address = (struct sockaddr *)&bench->address;

	check("connection", krdma_conn_create(bench->session, &pair->client));
	check("resolve", krdma_conn_resolve(pair->client, address, NULL));
	check("resolve", krdma_conn_wait(pair->client, patience(), NULL));
	check("create QP", krdma_conn_create_qp(pair->client, bench->ring, NULL, NULL, &client));
	check("connect", krdma_conn_connect(pair->client, NULL, NULL, 0));
	check("request", krdma_listener_next(bench->listener, patience(), &pair->server));
	check("create QP",
	      krdma_conn_create_qp(pair->server, bench->server_queue, NULL, NULL, &server));
	check("accept", krdma_conn_accept(pair->server, NULL, NULL, 0));
	check("connect", krdma_conn_wait(pair->client, patience(), NULL));
	check("connect", krdma_conn_wait(pair->server, patience(), NULL));
	make_memory(bench, pair->client);
}

static void begin(struct bench *bench, bool polled)
{
	unsigned int i;

	check("/dev/krdma", krdma_open(&bench->session));
	check("listen", krdma_listen(bench->session, (struct sockaddr *)&bench->address, 0, 0,
				     &bench->listener));
	make_queue(bench, polled, &bench->ring);
	make_queue(bench, polled, &bench->server_queue);
	map_ring(bench);
	bench->pairs = calloc(bench->conns, sizeof(*bench->pairs));
	if (!bench->pairs)
		fail("no memory");
	for (i = 0; i < bench->conns; i++)
		connect_pair(bench, &bench->pairs[i]);
}

static void end(struct bench *bench)
{
	unsigned int i;

	for (i = 0; i < bench->conns; i++) {
		krdma_conn_close(bench->pairs[i].client);
		krdma_conn_close(bench->pairs[i].server);
	}
	free(bench->pairs);
	munmap(bench->header, bench->ring_size);
	krdma_ring_close(bench->server_queue);
	krdma_ring_close(bench->ring);
	check("release", krdma_mr_deregister(bench->mr, 0));
	krdma_listener_close(bench->listener);
	krdma_close(bench->session);
	bench->mr = NULL;
}

static struct krdma_sqe make_entry(const struct bench *bench, enum work work, unsigned int wr_id)
{
	const struct krdma_conn *conn = bench->pairs[bench->next].client;

	switch (work) {
	case READ:
		return krdma_entry_read(conn, wr_id, bench->mr, 0, LENGTH, &bench->remote, 0);
	case FETCH_ADD:
		return krdma_entry_fetch_add(conn, wr_id, bench->mr, 0, &bench->remote, 0, 1);
	default:
		return krdma_entry_write(conn, wr_id, bench->mr, 0, LENGTH, &bench->remote, 0);
	}
}

static void turn(struct bench *bench)
{
	if (bench->conns > 1 && ++bench->next == bench->conns)
		bench->next = 0;
}

/* Posts a batch, and waits until all of it has completed. */
static void run_by_hand(struct bench *bench, enum work work, unsigned int batch)
{
	unsigned int completions = work == UNSIGNALED ? 1 : batch;
	struct krdma_ring_enter_args enter = {
		.size = sizeof(enter),
		.to_submit = batch,
		.min_complete = completions,
		.deadline_ns = KRDMA_FOREVER,
	};
	struct krdma_ring_header *header = bench->header;
	struct krdma_sqe *sqes = (void *)((char *)header + header->sqe_offset);
	struct krdma_cqe *cqes = (void *)((char *)header + header->cqe_offset);
	uint32_t sq_mask = header->sq_entries - 1, cq_mask = header->cq_entries - 1;
	uint32_t tail = header->sq_tail, head = header->cq_head;
	unsigned int i;

	for (i = 0; i < batch; i++, tail++) {
		sqes[tail & sq_mask] = make_entry(bench, work, i);
		turn(bench);
	}
	for (i = 1; i <= batch - completions; i++)
		sqes[(tail - 1 - i) & sq_mask].flags = KRDMA_SQE_UNSIGNALED;
	__atomic_store_n(&header->sq_tail, tail, __ATOMIC_RELEASE);
	if (ioctl(krdma_ring_fd(bench->ring), KRDMA_RING_ENTER, &enter) ||
	    enter.submitted != batch || enter.error)
		fail("the ring is not taken");
	if (__atomic_load_n(&header->cq_tail, __ATOMIC_ACQUIRE) - head != completions)
		fail("an operation is missing");
	for (i = 0; i < completions; i++, head++)
		if (cqes[head & cq_mask].status != KRDMA_WC_SUCCESS)
			fail(krdma_wc_status_name(cqes[head & cq_mask].status));
	__atomic_store_n(&header->cq_head, head, __ATOMIC_RELEASE);
}

/* The same with the library. */
static void run(struct bench *bench, enum way way, enum work work, unsigned int batch)
{
	static struct krdma_sqe entries[BATCH_MAX];
	static struct krdma_cqe cqes[BATCH_MAX];
	size_t accepted = 0, taken = 0;
	unsigned int i;
	int err;

	for (i = 0; i < batch; i++) {
		entries[i] = make_entry(bench, work, i);
		turn(bench);
	}
	if (way == BY_RING) {
		err = krdma_ring_enter(bench->ring, entries, batch, &accepted, cqes, batch, batch,
				       KRDMA_FOREVER, &taken);
	} else {
		err = krdma_ring_post(bench->ring, entries, batch, &accepted);
		if (!err)
			err = krdma_ring_wait(bench->ring, cqes, batch, batch, KRDMA_FOREVER,
					      &taken);
	}
	check("operations", err);
	if (accepted != batch || taken != batch)
		fail("an operation is missing");
	for (i = 0; i < batch; i++)
		if (cqes[i].status != KRDMA_WC_SUCCESS)
			fail(krdma_wc_status_name(cqes[i].status));
}

static void measure(struct bench *bench, bool polled, enum way way, enum work work,
		    unsigned int batch)
{
	unsigned int count = ROUND_COUNT / batch;
	uint64_t best = UINT64_MAX, began, took;
	unsigned int i, round;

	/* Each connection has its turn. */
	if (count * batch < bench->conns)
		count = bench->conns / batch;
	for (round = 0; round < ROUNDS; round++) {
		began = now();
		for (i = 0; i < count; i++) {
			if (way == BY_HAND)
				run_by_hand(bench, work, batch);
			else
				run(bench, way, work, batch);
		}
		took = now() - began;
		if (took < best)
			best = took;
	}
	printf("%s.%s.%s.batch=%u.conns=%u %.2f\n", way_names[way], polled ? "polled" : "event",
	       work_names[work], batch, bench->conns, (double)best / (count * batch));
}

static void measure_queue(struct bench *bench, bool polled)
{
	/* Terminated by 0. */
	static const unsigned int batches[] = { 1, 16, BATCH_MAX, 0 };
	const unsigned int *batch;
	enum work work;
	enum way way;

	begin(bench, polled);
	for (way = BY_HAND; way < WAYS; way++)
		for (batch = batches; *batch; batch++)
			measure(bench, polled, way, WRITE, *batch);
	for (work = READ; work < WORKS; work++)
		/* The unsignaled ones of a batch complete with the last, of the same connection. */
		if (work != UNSIGNALED || bench->conns == 1)
			measure(bench, polled, BY_HAND, work, BATCH_MAX);
	end(bench);
}

int main(int argc, char **argv)
{
	struct bench bench = { .address.sin_family = AF_INET, .address.sin_port = htons(PORT) };
	unsigned int batch = 0;
	struct rlimit files;

	if (argc < 3 || argc > 4 || inet_pton(AF_INET, argv[1], &bench.address.sin_addr) != 1) {
		fprintf(stderr, "usage: ring ADDRESS CONNECTIONS [BATCH]\n");
		return 2;
	}
	if (argc == 4)
		batch = (unsigned int)strtoul(argv[3], NULL, 0);
	bench.conns = (unsigned int)strtoul(argv[2], NULL, 0);
	if (bench.conns != 1 && bench.conns < BATCH_MAX)
		fail("one connection, or as many as a batch has operations");
	if (batch > BATCH_MAX || (argc == 4 && !batch))
		fail("a batch of 1 to 64");
	files.rlim_cur = 2 * (rlim_t)bench.conns + FILES_BESIDES;
	files.rlim_max = files.rlim_cur;
	if (setrlimit(RLIMIT_NOFILE, &files))
		fail("not so many files");

	if (batch) {
		begin(&bench, true);
		measure(&bench, true, BY_HAND, WRITE, batch);
		end(&bench);
		return 0;
	}
	measure_queue(&bench, true);
	measure_queue(&bench, false);
	return 0;
}
