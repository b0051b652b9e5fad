// SPDX-License-Identifier: GPL-2.0
/*
 * 10,000 lanes between two programs: opened, left idle, used in turn, and closed; and what a write
 * over one of them takes.  The server is a child, or, on two machines, the program of machine 2.
 *
 * A ring has completions of 1,000 lanes, and the lanes of the n-th ring here are those of the n-th
 * ring there: they are opened one ring after the other.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "child.h"
#include "conns.h"
#include "objects.h"
#include "pair.h"
#include "session.h"

#define RINGS		10
#define GROUP		1000
#define PORT		7474
#define OTHER_MACHINE	"10.77.0.2"
/* For what 1,000 lanes do. */
#define SCALE_MS	300000
#define IDLE_MS		5000
/* In the second round, one lane of so many is used. */
#define STRIDE		100
/* Writes, of which the median counts, and where in the server's memory they go. */
#define WRITES		101
#define WRITE_OFFSET	(RINGS * GROUP * 8)
/* QPs of one trunk, both ends on one machine, and what else the device has. */
#define FEW		8

/**
 * struct side - one of the two programs
 * @session: its session
 * @count: number of @rings and of groups
 * @mr: where messages arrive: eight bytes for each lane; and writes, of the server
 * @rings: ring of each group of lanes
 * @entries: the lanes
 */
struct side {
	int session;
	unsigned int count;
	struct mr mr;
	struct ring rings[RINGS];
	struct krdma_conns_entry entries[RINGS * GROUP];
};

/* Each is too large for a stack. */
static struct side client, server;

/* Are there two machines? */
static bool is_apart(void)
{
	const char *nodes = getenv("NODES");

	return nodes && strcmp(nodes, "1");
}

static unsigned int groups(void)
{
	return rounds(RINGS, 1);
}

static int side_open(struct side *side)
{
	/* Both queues, and the events. */
	const struct ring_options options = { .cq_entries = 8 * GROUP };
	uint32_t device;
	int ret;

	side->count = groups();
	side->session = session_open(O_RDWR | O_CLOEXEC);
	if (side->session < 0)
		return side->session;
	ret = boot_device(side->session, &device);
	if (!ret)
		ret = mr_create_with(side->session, device, WRITE_OFFSET + 8,
				     KRDMA_ACCESS_LOCAL_WRITE | KRDMA_ACCESS_REMOTE_WRITE,
				     KRDMA_MR_REGISTER_LANES, &side->mr);
	for (unsigned int i = 0; i < side->count && !ret; i++)
		ret = ring_create(side->session, &options, &side->rings[i]);
	return ret;
}

static void side_close(struct side *side)
{
	for (unsigned int i = 0; i < side->count; i++)
		ring_close(&side->rings[i]);
	mr_destroy(&side->mr);
	close(side->session);
}

/* Posts a receive at each of @count lanes from @first on. */
static int side_receive(struct side *side, unsigned int first, unsigned int count)
{
	int ret = 0;

	for (unsigned int i = first; i < first + count && !ret; i++) {
		struct krdma_sqe receive = sqe_receive(side->entries[i].id, i, &side->mr, 8 * i, 8);

		ret = ring_post(side->rings[i / GROUP].fd, &receive, 1, NULL);
	}
	return ret;
}

/* Waits for the event @type of @count lanes of a group; ends of receives do not count. */
static int side_await_events(struct side *side, unsigned int group, uint32_t type,
			     unsigned int count)
{
	struct krdma_cqe cqe;
	int ret;

	for (unsigned int seen = 0; seen < count;) {
		ret = ring_wait(&side->rings[group], &cqe, SCALE_MS);
		if (ret)
			return ret;
		if (cqe.opcode != KRDMA_OP_EVENT)
			continue;
		if (cqe.length != type || cqe.wr_id / GROUP != group)
			return -EPROTO;
		seen++;
	}
	return 0;
}

/*
 * The server
 */

/* Takes and accepts the lanes @first to @last of a group, and posts a receive at each. */
static int serve_lanes(struct side *side, int listener, unsigned int group, unsigned int first,
		       unsigned int last)
{
	struct krdma_conns_entry *entries = &side->entries[group * GROUP];
	uint32_t taken, done;
	int ret, error;

	for (unsigned int i = first; i <= last; i++)
		entries[i].wr_id = group * GROUP + i;
	for (taken = first; taken <= last; taken += done) {
		ret = conns_request(side->session, KRDMA_CONNS_TAKE, 0, listener, entries + taken,
				    last + 1 - taken, deadline_in(SCALE_MS), &done, &error) ?:
		      error;
		if (ret)
			return ret;
		for (unsigned int i = taken; i < taken + done; i++)
			entries[i].private_data_len = 0;
		ret = conns_request(side->session, KRDMA_CONNS_ACCEPT, 0, side->rings[group].fd,
				    entries + taken, done, 0, &done, &error) ?: error;
		if (ret)
			return ret;
	}
	ret = side_await_events(side, group, KRDMA_EVENT_ESTABLISHED, last + 1 - first);
	return ret ?: side_receive(side, group * GROUP + first, last + 1 - first);
}

static int serve_answer(struct side *side, unsigned int lane, const void *data)
{
	struct krdma_sqe answer = inline_send(side->entries[lane].id, lane, data);

	answer.flags |= KRDMA_SQE_UNSIGNALED;
	return ring_post(side->rings[lane / GROUP].fd, &answer, 1, NULL) ?:
	       side_receive(side, lane, 1);
}

/* Answers @count messages of a group, each with what has arrived. */
static int serve_messages(struct side *side, unsigned int group, unsigned int count)
{
	struct krdma_cqe cqe;
	unsigned int lane;
	int ret;

	while (count) {
		ret = ring_wait(&side->rings[group], &cqe, SCALE_MS);
		if (ret)
			return ret;
		if (cqe.status || cqe.opcode != KRDMA_OP_RECV || cqe.length != 8)
			return -EPROTO;
		lane = cqe.wr_id;
		ret = serve_answer(side, lane, side->mr.data + 8 * lane);
		if (ret)
			return ret;
		count--;
	}
	return 0;
}

/* The first lane, while there is no other one: it is asked for address and rkey. */
static int serve_first(struct side *side, int listener)
{
	const uint64_t answers[] = { side->mr.remote_addr, side->mr.rkey };
	struct krdma_cqe cqe;
	int ret = serve_lanes(side, listener, 0, 0, 0);

	for (unsigned int i = 0; i < 2 && !ret; i++)
		ret = ring_wait(&side->rings[0], &cqe, SCALE_MS) ?:
		      serve_answer(side, 0, &answers[i]);
	return ret ?: serve_lanes(side, listener, 0, 1, GROUP - 1);
}

static int serve_all(struct side *side, int listener)
{
	uint32_t done;
	int ret, error;

	ret = serve_first(side, listener);
	for (unsigned int i = 1; i < side->count && !ret; i++)
		ret = serve_lanes(side, listener, i, 0, GROUP - 1);
	for (unsigned int i = 0; i < side->count && !ret; i++)
		ret = serve_messages(side, i, GROUP);
	for (unsigned int i = 0; i < side->count && !ret; i++)
		ret = serve_messages(side, i, GROUP / STRIDE);
	for (unsigned int i = 0; i < side->count && !ret; i++)
		ret = side_await_events(side, i, KRDMA_EVENT_DISCONNECTED, GROUP);
	for (unsigned int i = 0; i < side->count && !ret; i++) {
		ret = conns_close(side->session, &side->entries[i * GROUP], GROUP, &done, &error) ?:
		      error;
		if (!ret && done != GROUP)
			ret = -EPROTO;
	}
	return ret;
}

/* Context: address to listen at. */
static int serve(void *context)
{
	int listener, ret;

	ret = side_open(&server) ?:
	      listener_open_with(server.session, context, PORT, 4096, KRDMA_LISTEN_LANES,
				 &listener, NULL) ?:
	      serve_all(&server, listener);
	if (ret)
		fprintf(stderr, "# server: %s\n", strerror(-ret));
	CHECK(!ret);
	close(listener);
	side_close(&server);
	return 0;
}

/*
 * The client
 */

FIXTURE(lane_scale)
{
	struct __kernel_sockaddr_storage address;
};

FIXTURE_SETUP(lane_scale)
{
	ASSERT_EQ(0, address_set(&self->address, is_apart() ? OTHER_MACHINE : BOOT_ADDRESS, PORT));
	ASSERT_EQ(0, side_open(&client));
}

FIXTURE_TEARDOWN(lane_scale)
{
	side_close(&client);
}

/* Opens lanes of a group; the server may only be starting.  Returns 0 or a negative errno. */
static int open_lanes(struct side *side, const struct __kernel_sockaddr_storage *address,
		      unsigned int group, unsigned int first, unsigned int last)
{
	struct krdma_conns_entry *entries = &side->entries[group * GROUP];
	uint64_t deadline = deadline_in(SCALE_MS);
	unsigned int opened = first;
	uint32_t done;
	int ret, error;

	do {
		for (unsigned int i = opened; i <= last; i++)
			entries[i] = (struct krdma_conns_entry) {
				.wr_id = group * GROUP + i, .remote = *address,
			};
		ret = conns_request(side->session, KRDMA_CONNS_OPEN, KRDMA_CONNS_LANES,
				    side->rings[group].fd, entries + opened, last + 1 - opened,
				    deadline, &done, &error);
		if (ret)
			return ret;
		opened += done;
		/* The host is not asked for lanes again before. */
		if (error == -ECONNREFUSED && !done)
			sleep_ms(11000);
		else if (error)
			return error;
	} while (opened <= last && deadline_past_us(deadline) < 0);
	return opened <= last ? -ETIMEDOUT : 0;
}

/* Sends a message over a lane, and waits for its answer, which is the same. */
static int use_lane(struct side *side, unsigned int lane, uint64_t word)
{
	struct ring *ring = &side->rings[lane / GROUP];
	struct krdma_sqe send = inline_send(side->entries[lane].id, lane, &word);
	struct krdma_cqe cqe;
	int ret;

	send.flags |= KRDMA_SQE_UNSIGNALED;
	ret = side_receive(side, lane, 1) ?: ring_post(ring->fd, &send, 1, NULL) ?:
	      ring_wait(ring, &cqe, SCALE_MS);
	if (ret)
		return ret;
	if (cqe.status || cqe.opcode != KRDMA_OP_RECV || cqe.wr_id != lane || cqe.length != 8)
		return -EPROTO;
	return memcmp(side->mr.data + 8 * lane, &word, 8) ? -EBADMSG : 0;
}

/* Asks the server over the only lane; the answer is another one.  UINT64_MAX: it has failed. */
static uint64_t ask_first(struct side *side)
{
	uint64_t word = UINT64_MAX;

	if (use_lane(side, 0, word) == -EBADMSG)
		memcpy(&word, side->mr.data, sizeof(word));
	return word;
}

static uint64_t clock_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000ULL + time.tv_nsec;
}

static int compare_times(const void *one, const void *other)
{
	uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;

	return a < b ? -1 : a > b;
}

/* How long a write of 8 bytes over a lane takes, in ns; UINT64_MAX: it has failed. */
static uint64_t time_writes(struct side *side, unsigned int lane, uint64_t address, uint32_t rkey)
{
	struct ring *ring = &side->rings[lane / GROUP];
	uint64_t times[WRITES], word = lane;
	struct krdma_sqe write = inline_send(side->entries[lane].id, lane, &word);
	struct krdma_cqe cqe;

	write.opcode = KRDMA_OP_WRITE;
	write.remote_addr = address;
	write.rkey = rkey;
	for (unsigned int i = 0; i < WRITES; i++) {
		times[i] = clock_ns();
		if (ring_post(ring->fd, &write, 1, NULL) || ring_wait(ring, &cqe, SCALE_MS) ||
		    cqe.status || cqe.opcode != KRDMA_OP_WRITE)
			return UINT64_MAX;
		times[i] = clock_ns() - times[i];
	}
	qsort(times, WRITES, sizeof(*times), compare_times);
	return times[WRITES / 2];
}

/* Proves: F15 (lane-scale) */
TEST_F_TIMEOUT(lane_scale, opened_idle_used_and_closed, 900)
{
	const unsigned int count = groups() * GROUP;
	uint64_t address, rkey, one, many;
	struct objects objects;
	struct krdma_cqe cqe;
	int error, status;
	pid_t child = 0;
	uint32_t done;

	if (!is_apart()) {
		child = child_start(serve, BOOT_ADDRESS);
		ASSERT_LT(0, child);
	}
	ASSERT_EQ(0, open_lanes(&client, &self->address, 0, 0, 0));
	address = ask_first(&client) + WRITE_OFFSET;
	rkey = ask_first(&client);
	one = time_writes(&client, 0, address, rkey);
	ASSERT_NE(UINT64_MAX, one);
	for (unsigned int i = 0; i < groups(); i++)
		ASSERT_EQ(0, open_lanes(&client, &self->address, i, !i, GROUP - 1));

	/* All are lanes, over a few queue pairs. */
	ASSERT_EQ(0, objects_read(&objects));
	EXPECT_LE(child ? 2 * count : count, objects_count(&objects, "lane"));
	EXPECT_GE(FEW, objects_count(&objects, "qp"));
	EXPECT_GE(FEW, objects_count(&objects, "trunk"));
	many = time_writes(&client, count / 2, address, rkey);
	printf("# a write takes %llu ns over one lane, and %llu over one of %u\n",
	       (unsigned long long)one, (unsigned long long)many, count);
	/* In virtual time, which counts instructions. */
	if (child)
		EXPECT_GE(one * 105 / 100, many);
	printf("# %u lanes take %lld bytes of this session's memory, with their rings\n", count,
	       (long long)session_memory(client.session));

	for (unsigned int i = 0; i < count; i++)
		ASSERT_EQ(0, use_lane(&client, i, i));
	sleep_ms(IDLE_MS);
	for (unsigned int i = 0; i < groups(); i++)
		EXPECT_EQ(-EAGAIN, ring_take(&client.rings[i], &cqe));
	for (unsigned int i = 0; i < count; i += STRIDE)
		ASSERT_EQ(0, use_lane(&client, i, ~(uint64_t)i));

	for (unsigned int i = 0; i < groups(); i++) {
		ASSERT_EQ(0, conns_close(client.session, &client.entries[i * GROUP], GROUP, &done,
					 &error));
		EXPECT_EQ(GROUP, done);
		EXPECT_EQ(0, error);
	}
	if (child) {
		ASSERT_EQ(child, waitpid(child, &status, 0));
		EXPECT_EQ(0, status);
	}
}

int main(int argc, char **argv)
{
	const char *node = getenv("NODE");

	if (node && !strcmp(node, "2"))
		return child_run(serve, OTHER_MACHINE);
	return test_harness_run(argc, argv);
}
