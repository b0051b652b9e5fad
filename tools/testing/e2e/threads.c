// SPDX-License-Identifier: GPL-2.0
/*
 * Concurrent threads that post, reap, wait, query, create and close.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>

#include "kselftest_harness.h"
#include "pair.h"
#include "session.h"

#define THREADS		4
#define PER_THREAD	rounds(1000, 150)

FIXTURE(threads)
{
	struct pair pair;
	struct mr mr;
	pthread_t threads[3 * THREADS];
};

FIXTURE_VARIANT(threads)
{
	uint32_t flags;
};

/* clang-format off */
FIXTURE_VARIANT_ADD(threads, event) {};
FIXTURE_VARIANT_ADD(threads, polled) { .flags = KRDMA_RING_POLLED };

/* clang-format on */

FIXTURE_SETUP(threads)
{
	struct end_options options = {
		.send_depth = 64, .recv_depth = 64, .separate = true,
		.ring_options = { .flags = variant->flags, .cq_entries = 256 },
	};

	ASSERT_EQ(0, pair_open(&self->pair, &(struct pair_options) {
		.a = options, .b = options }));
	ASSERT_EQ(0, mr_create(self->pair.sessions[0], self->pair.device, 65536, ACCESS_ALL,
			       &self->mr));
}

FIXTURE_TEARDOWN(threads)
{
	mr_destroy(&self->mr);
	pair_close(&self->pair);
}

/**
 * struct worker - work of one thread
 * @ring: file descriptor of the ring
 * @dest: destination of its entries
 * @number: number of the thread, in the upper bits of its wr_ids
 * @count: number of entries that it posts
 * @opcode: KRDMA_OP_SEND or KRDMA_OP_RECV
 * @left: number of completions that have not been reaped yet
 * @seen: number of times that each wr_id was reaped
 * @error: the first unexpected result
 */
struct worker {
	int ring;
	uint32_t dest;
	unsigned int number;
	unsigned int count;
	uint8_t opcode;
	atomic_uint *left;
	atomic_uchar *seen;
	int error;
};

static void *post_all(void *argument)
{
	struct worker *worker = argument;

	for (unsigned int i = 0; i < worker->count && !worker->error;) {
		struct krdma_sqe entries[3];
		uint32_t count = worker->count - i < 3 ? worker->count - i : 3, accepted;
		int ret;

		for (uint32_t j = 0; j < count; j++) {
			uint64_t wr_id = worker->number * worker->count + i + j;

			entries[j] = sqe_send(worker->dest, wr_id, NULL, 0, 0);
			entries[j].opcode = worker->opcode;
		}
		ret = ring_post(worker->ring, entries, count, &accepted);
		i += accepted;
		if (ret == -EAGAIN)
			sched_yield();
		else if (ret)
			worker->error = ret;
	}
	return NULL;
}

static void *reap_all(void *argument)
{
	struct worker *worker = argument;
	uint64_t end = now_ms() + 4 * PATIENCE_MS;

	while (*worker->left && !worker->error) {
		struct krdma_cqe cqes[5];
		uint32_t reaped;
		int ret = ring_reap(worker->ring, cqes, 5, 1, deadline_in(50), &reaped);

		if (ret == -ETIMEDOUT && now_ms() < end)
			continue;
		if (ret)
			worker->error = ret;
		for (uint32_t i = 0; i < reaped; i++) {
			if (cqes[i].status || cqes[i].wr_id >= THREADS * worker->count)
				worker->error = -EBADMSG;
			else
				worker->seen[cqes[i].wr_id]++;
			(*worker->left)--;
		}
	}
	return NULL;
}

/* Traffic in both directions of a connection, each posted and reaped by many threads. */
/* Proves: A3, A4, A13, A14 */
TEST_F_TIMEOUT(threads, every_completion_comes_once, 300)
{
	unsigned int per_thread = PER_THREAD, total = THREADS * per_thread;
	struct end *a = &self->pair.a, *b = &self->pair.b;
	atomic_uint left[2] = { total, total };
	struct worker workers[4 * THREADS];
	pthread_t threads[4 * THREADS];
	struct krdma_conn_query_args query;
	atomic_uchar *seen[2];

	for (int i = 0; i < 2; i++) {
		seen[i] = calloc(total, sizeof(*seen[i]));
		ASSERT_TRUE(!!seen[i]);
	}
	for (int i = 0; i < 4 * THREADS; i++) {
		bool receive = i % 2;

		workers[i] = (struct worker) {
			.ring = receive ? b->recv_ring->fd : a->ring->fd,
			.dest = receive ? b->id : a->id,
			.number = i / 4, .count = per_thread,
			.opcode = receive ? KRDMA_OP_RECV : KRDMA_OP_SEND,
			.left = &left[receive], .seen = seen[receive],
		};
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, i % 4 < 2 ? post_all : reap_all,
					    &workers[i]));
	}
	for (int i = 0; i < 4 * THREADS; i++) {
		pthread_join(threads[i], NULL);
		EXPECT_EQ(0, workers[i].error);
	}
	for (int i = 0; i < 2; i++) {
		EXPECT_EQ(0, left[i]);
		for (unsigned int j = 0; j < total; j++)
			ASSERT_EQ(1, seen[i][j]);
		free(seen[i]);
	}
	ASSERT_EQ(0, conn_query(a->conn, NULL, 0, &query));
	EXPECT_EQ(total, query.sends_posted);
	EXPECT_EQ(total, query.sends_completed);
	ASSERT_EQ(0, conn_query(b->conn, NULL, 0, &query));
	EXPECT_EQ(total, query.receives_posted);
	EXPECT_EQ(total, query.receives_completed);
}

struct waiter {
	int fd;
	int kind;
	int ret;
};

static void *wait_somehow(void *argument)
{
	struct waiter *waiter = argument;
	struct ring ring = { .fd = waiter->fd };
	struct krdma_ring_enter_args enter;

	if (waiter->kind == 0) {
		waiter->ret = ring_enter(&ring, 0, 1, deadline_in(PATIENCE_MS), &enter);
		if (!waiter->ret && !enter.completed)
			waiter->ret = -EPROTO;
	} else {
		int mask = poll_mask(waiter->fd, POLLIN, PATIENCE_MS);

		waiter->ret = mask == POLLIN ? 0 : -ETIMEDOUT;
	}
	return NULL;
}

/* One completion wakes all threads that wait for it without taking it. */
/* Proves: A15 */
TEST_F(threads, everybody_who_waits_is_woken)
{
	struct krdma_sqe write = sqe_remote(KRDMA_OP_WRITE, self->pair.a.id, 1, &self->mr, 0,
					    8, &self->mr, 64);
	struct waiter waiters[2 * THREADS];

	for (int i = 0; i < 2 * THREADS; i++) {
		waiters[i] = (struct waiter) { self->pair.a.ring->fd, i % 2, 1 };
		ASSERT_EQ(0, pthread_create(&self->threads[i], NULL, wait_somehow, &waiters[i]));
	}
	sleep_ms(100);
	ASSERT_EQ(0, ring_post(self->pair.a.ring->fd, &write, 1, NULL));
	for (int i = 0; i < 2 * THREADS; i++) {
		pthread_join(self->threads[i], NULL);
		EXPECT_EQ(0, waiters[i].ret);
	}
}

static void *wait_for_conn(void *argument)
{
	struct waiter *waiter = argument;

	waiter->ret = conn_wait(waiter->fd, deadline_in(PATIENCE_MS), NULL);
	return NULL;
}

/* Proves: A15 */
TEST_F(threads, many_wait_for_one_connection)
{
	struct waiter waiters[THREADS];
	struct pair pair = {};

	ASSERT_EQ(0, pair_begin(&pair, NULL));
	ASSERT_EQ(0, pair_resolve(&pair));
	ASSERT_EQ(0, pair_meet(&pair, NULL));
	for (int i = 0; i < THREADS; i++) {
		waiters[i] = (struct waiter) { pair.a.conn, 0, 1 };
		ASSERT_EQ(0, pthread_create(&self->threads[i], NULL, wait_for_conn, &waiters[i]));
	}
	sleep_ms(50);
	ASSERT_EQ(0, end_create_qp(&pair.b, NULL));
	ASSERT_EQ(0, end_accept(&pair.b, NULL));
	for (int i = 0; i < THREADS; i++) {
		pthread_join(self->threads[i], NULL);
		EXPECT_EQ(0, waiters[i].ret);
	}
	pair_close(&pair);
}

struct maker {
	int session;
	uint32_t device;
	unsigned int count;
	uint32_t ids[64];
	uint32_t keys[64];
	struct mr memories[64];
	int error;
};

static void *make_memory(void *argument)
{
	struct maker *maker = argument;

	for (unsigned int i = 0; i < maker->count && !maker->error; i++) {
		maker->error = mr_create(maker->session, maker->device, 4096, ACCESS_ALL,
					 &maker->memories[i]);
		maker->ids[i] = maker->memories[i].id;
		maker->keys[i] = maker->memories[i].rkey;
	}
	return NULL;
}

static void *make_conns(void *argument)
{
	struct maker *maker = argument;

	for (unsigned int i = 0; i < maker->count && !maker->error; i++) {
		int fd;

		maker->error = conn_create(maker->session, &fd, &maker->ids[i]);
		maker->keys[i] = maker->ids[i];
		if (!maker->error)
			close(fd);
	}
	return NULL;
}

/* MRs created in parallel in one session: each has its own ID and rkey. */
/* Proves: A11 */
TEST_F(threads, numbers_made_in_parallel_are_unique)
{
	void *(*const kinds[])(void *argument) = { make_memory, make_conns };
	const unsigned int count = rounds(32, 8);
	static struct maker makers[THREADS];

	for (size_t kind = 0; kind < ARRAY_SIZE(kinds); kind++) {
		memset(makers, 0, sizeof(makers));
		for (int i = 0; i < THREADS; i++) {
			makers[i].session = self->pair.sessions[0];
			makers[i].device = self->pair.device;
			makers[i].count = count;
			ASSERT_EQ(0, pthread_create(&self->threads[i], NULL, kinds[kind],
						    &makers[i]));
		}
		for (int i = 0; i < THREADS; i++) {
			pthread_join(self->threads[i], NULL);
			EXPECT_EQ(0, makers[i].error);
		}
		for (unsigned int i = 0; i < THREADS * count; i++) {
			for (unsigned int j = 0; j < i; j++) {
				EXPECT_NE(makers[i / count].ids[i % count],
					  makers[j / count].ids[j % count]);
				EXPECT_NE(makers[i / count].keys[i % count],
					  makers[j / count].keys[j % count]);
			}
		}
		for (unsigned int i = 0; i < THREADS * count; i++)
			mr_destroy(&makers[i / count].memories[i % count]);
	}
}

struct chaos {
	struct end *end;
	atomic_bool *stop;
	const struct mr *mr;
	int kind;
	int error;
};

/* Call every operation of a connection and its ring repeatedly. */
static void *use(void *argument)
{
	struct chaos *chaos = argument;
	struct krdma_conn_query_args query;
	struct krdma_sqe write;
	struct krdma_cqe cqe;
	uint32_t reaped;
	int ret = 0;

	while (!*chaos->stop && !chaos->error) {
		switch (chaos->kind % 4) {
		case 0:
			write = sqe_remote(KRDMA_OP_WRITE, chaos->end->id, 1, chaos->mr, 0, 8,
					   chaos->mr, 64);
			ret = ring_post(chaos->end->ring->fd, &write, 1, NULL);
			break;
		case 1:
			ret = ring_reap(chaos->end->ring->fd, &cqe, 1, 1, deadline_in(1),
					&reaped);
			break;
		case 2:
			ret = conn_query(chaos->end->conn, NULL, 0, &query);
			break;
		case 3:
			ret = poll_mask(chaos->end->conn, POLLIN | POLLOUT, 1);
			ret = ret < 0 ? ret : 0;
			break;
		}
		switch (-ret) {
		case 0: case EAGAIN: case ENOENT: case ENOTCONN: case ETIMEDOUT: case EBADF:
		/* The descriptor's number now belongs to another kind of file. */
		case ENOTTY: case EINVAL:
			break;
		default:
			chaos->error = ret;
		}
	}
	return NULL;
}

/* One thread closes objects that others use: these get an errno. */
/* Proves: A8, A12 */
TEST_F_TIMEOUT(threads, closed_while_used, 300)
{
	for (unsigned int round = 0; round < rounds(12, 4); round++) {
		struct pair_options options = {
			.sessions = { self->pair.sessions[0], self->pair.sessions[0] },
			.a.ring_options.flags = variant->flags,
		};
		struct chaos chaos[THREADS];
		atomic_bool stop = false;
		struct pair pair = {};

		ASSERT_EQ(0, pair_open(&pair, &options));
		for (int i = 0; i < THREADS; i++) {
			chaos[i] = (struct chaos) { &pair.a, &stop, &self->mr, i, 0 };
			ASSERT_EQ(0, pthread_create(&self->threads[i], NULL, use, &chaos[i]));
		}
		sleep_ms(20);
		switch (round % 4) {
		case 0:
			close(pair.a.conn);
			break;
		case 1:
			close(pair.a.ring->fd);
			break;
		case 2:
			conn_disconnect(pair.a.conn, 0);
			break;
		case 3:
			conn_disconnect(pair.b.conn, KRDMA_DISCONNECT_ABORT);
			break;
		}
		sleep_ms(20);
		stop = true;
		for (int i = 0; i < THREADS; i++) {
			pthread_join(self->threads[i], NULL);
			EXPECT_EQ(0, chaos[i].error) {
				TH_LOG("round %u, thread %d", round, i);
			}
		}
		pair_close(&pair);
	}
}

struct chain {
	int session;
	int error;
	/* The step that failed, in which round. */
	const char *step;
	unsigned int round;
	unsigned int count;
};

static void *connect_and_close(void *argument)
{
	struct chain *chain = argument;

	for (unsigned int i = 0; i < chain->count && !chain->error; i++) {
		struct pair_options options = {
			.sessions = { chain->session, chain->session },
		};
		struct pair pair = {};
		struct krdma_sqe receive, send;
		struct krdma_cqe cqe;

		chain->round = i;
		chain->step = "connect";
		chain->error = pair_open(&pair, &options);
		receive = sqe_receive(pair.b.id, 1, NULL, 0, 0);
		send = sqe_send(pair.a.id, 2, NULL, 0, 0);
		if (!chain->error) {
			chain->step = "post";
			chain->error = ring_submit(pair.b.ring, &receive, 1, NULL);
		}
		if (!chain->error)
			chain->error = ring_submit(pair.a.ring, &send, 1, NULL);
		if (!chain->error) {
			chain->step = "receive";
			chain->error = ring_wait(pair.b.ring, &cqe, PATIENCE_MS);
		}
		pair_close(&pair);
	}
	return NULL;
}

/* One thread for each connection, all in one session. */
/* Proves: A1, A2, A9 */
TEST_F_TIMEOUT(threads, connections_made_and_ended_in_parallel, 300)
{
	struct chain chains[THREADS];

	for (int i = 0; i < THREADS; i++) {
		chains[i] = (struct chain) {
			.session = self->pair.sessions[0], .count = rounds(8, 3),
		};
		ASSERT_EQ(0, pthread_create(&self->threads[i], NULL, connect_and_close,
					    &chains[i]));
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(self->threads[i], NULL);
		EXPECT_EQ(0, chains[i].error) {
			TH_LOG("thread %d, round %u: %s", i, chains[i].round, chains[i].step);
		}
	}
}

TEST_HARNESS_MAIN
