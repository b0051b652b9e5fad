// SPDX-License-Identifier: GPL-2.0
/*
 * Race conditions with the creation and the end of objects; see races.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>

#include "kselftest_harness.h"
#include "fabric.h"
#include "interrupt.h"
#include "lane_pair.h"
#include "pair.h"
#include "rdma_link.h"
#include "session.h"

/* An event that has not come by then is lost; nothing here takes a tenth of this time. */
#define LOST_MS		4000

FIXTURE(races_end)
{
	struct pair pair;
	struct end *a;
	struct mr mr;
	pthread_t threads[8];
};

FIXTURE_SETUP(races_end)
{
	ASSERT_EQ(0, pair_begin(&self->pair, NULL));
	self->a = &self->pair.a;
	ASSERT_EQ(0, mr_create(self->pair.sessions[0], self->pair.device, 4096, ACCESS_ALL,
			       &self->mr));
}

FIXTURE_TEARDOWN(races_end)
{
	mr_destroy(&self->mr);
	pair_close(&self->pair);
}

/*
 * Creation
 */

struct preparer {
	struct end end;
	struct ring *ring;
	int error;
};

static void *prepare_and_receive(void *argument)
{
	struct preparer *preparer = argument;
	struct krdma_sqe sqe = sqe_receive(preparer->end.id, preparer->end.id, NULL, 0, 0);
	struct end_options options = { .ring = preparer->ring, .recv_depth = 1 };

	preparer->error = end_create_qp(&preparer->end, &options);
	if (!preparer->error)
		preparer->error = ring_post(preparer->ring->fd, &sqe, 1, NULL);
	return NULL;
}

/* The first use of a ring binds it to a device; the completions of all its users arrive there. */
TEST_F_TIMEOUT(races_end, a_queue_is_used_for_the_first_time_by_two, 300)
{
	for (unsigned int i = 0; i < rounds(30, 6); i++) {
		struct preparer preparers[2];
		struct krdma_cqe cqe;
		struct ring ring;
		uint64_t sum = 0;

		ASSERT_EQ(0, ring_create(self->pair.sessions[0], &(struct ring_options) {
			.cq_entries = 256 }, &ring));
		for (int j = 0; j < 2; j++) {
			struct end *end = &preparers[j].end;

			end_init(end, self->pair.sessions[0]);
			ASSERT_EQ(0, conn_create(self->pair.sessions[0], &end->conn, &end->id));
			ASSERT_EQ(0, conn_resolve(end->conn, &self->pair.address));
			ASSERT_EQ(0, conn_wait(end->conn, deadline_in(LOST_MS), NULL));
			preparers[j].ring = &ring;
		}
		for (int j = 0; j < 2; j++)
			ASSERT_EQ(0, pthread_create(&self->threads[j], NULL, prepare_and_receive,
						    &preparers[j]));
		for (int j = 0; j < 2; j++) {
			pthread_join(self->threads[j], NULL);
			EXPECT_EQ(0, preparers[j].error);
			end_close(&preparers[j].end);
		}
		for (int j = 0; j < 2; j++) {
			ASSERT_EQ(0, ring_wait(&ring, &cqe, LOST_MS));
			EXPECT_EQ(KRDMA_WC_WR_FLUSH_ERR, cqe.status);
			sum += cqe.wr_id;
		}
		EXPECT_EQ(preparers[0].end.id + preparers[1].end.id, sum);
		ring_close(&ring);
	}
}

struct neighbour {
	struct pair pair;
	const struct mr *mr;
	unsigned int count;
	int error;
};

static void *post_and_take(void *argument)
{
	struct neighbour *neighbour = argument;
	struct end *a = &neighbour->pair.a;

	for (unsigned int i = 0; i < neighbour->count && !neighbour->error; i += 8) {
		struct krdma_sqe sqes[8];
		struct krdma_cqe cqe;
		int ret;

		for (unsigned int j = 0; j < 8; j++)
			sqes[j] = sqe_remote(KRDMA_OP_WRITE, a->id, i + j, neighbour->mr, 0,
					     8, neighbour->mr, 64);
		ret = ring_post(a->ring->fd, sqes, 8, NULL);
		for (unsigned int j = 0; j < 8 && !ret; j++) {
			ret = ring_wait(a->ring, &cqe, LOST_MS);
			if (!ret && (cqe.status || cqe.wr_id != i + j || cqe.dest != a->id))
				ret = -EBADMSG;
		}
		neighbour->error = ret;
	}
	return NULL;
}

/* Posts to several rings of one session at once do not corrupt the state that the rings share. */
TEST_F_TIMEOUT(races_end, queues_of_a_session_are_posted_to_at_once, 300)
{
	static struct neighbour neighbours[5];

	for (size_t i = 0; i < ARRAY_SIZE(neighbours); i++) {
		neighbours[i] = (struct neighbour) {
			.mr = &self->mr, .count = rounds(200, 40),
		};
		ASSERT_EQ(0, pair_open(&neighbours[i].pair, &(struct pair_options) {
			.sessions = { self->pair.sessions[0], self->pair.sessions[0] } }));
	}
	for (size_t i = 0; i < ARRAY_SIZE(neighbours); i++)
		ASSERT_EQ(0, pthread_create(&self->threads[i], NULL, post_and_take,
					    &neighbours[i]));
	for (size_t i = 0; i < ARRAY_SIZE(neighbours); i++) {
		pthread_join(self->threads[i], NULL);
		EXPECT_EQ(0, neighbours[i].error);
		pair_close(&neighbours[i].pair);
	}
}

/*
 * Ends
 */

struct visitor {
	int fd;
	uint32_t id;
	atomic_bool over;
	atomic_uint accepted;
	atomic_int error;
};

/* Post receives to a connection while it is set up and ends. */
static void *post_receives(void *argument)
{
	struct visitor *visitor = argument;

	while (!visitor->over) {
		struct krdma_sqe sqe = sqe_receive(visitor->id, 1, NULL, 0, 0);
		int ret = ring_post(visitor->fd, &sqe, 1, NULL);

		if (!ret)
			visitor->accepted++;
		else if (ret != -ENOENT && ret != -EAGAIN && ret != -ENOTCONN && ret != -ENODEV &&
			 ret != -ECONNABORTED && ret != -EBADF)
			visitor->error = ret;
	}
	return NULL;
}

static void *end_it(void *argument)
{
	struct visitor *visitor = argument;
	unsigned int dice = visitor->id * 7919;

	/* Creating a QP takes some time. */
	for (unsigned int i = visitor->id % 64; i; i--)
		dawdle(&dice);
	visitor->error = conn_disconnect(visitor->fd, KRDMA_DISCONNECT_ABORT);
	return NULL;
}

/* The connection ends while its QP is created: afterwards nothing can be posted to the QP. */
TEST_F_TIMEOUT(races_end, nothing_is_posted_after_the_end, 300)
{
	struct end_options options = { .recv_depth = 4 };
	struct ring ring;

	ASSERT_EQ(0, ring_create(self->pair.sessions[0], &(struct ring_options) {
		.device_id = self->pair.device, .cq_entries = 256 }, &ring));
	options.ring = &ring;
	for (unsigned int i = 0; i < rounds(60, 12); i++) {
		struct visitor poster = { .fd = ring.fd }, ender = {};
		struct krdma_sqe sqe;
		struct krdma_cqe cqe;
		int ret;

		ASSERT_EQ(0, pair_resolve(&self->pair));
		poster.id = self->a->id;
		ender.fd = self->a->conn;
		ender.id = i;
		ASSERT_EQ(0, pthread_create(&self->threads[0], NULL, post_receives, &poster));
		ASSERT_EQ(0, pthread_create(&self->threads[1], NULL, end_it, &ender));
		ret = end_create_qp(self->a, &options);
		EXPECT_TRUE(!ret || ret == -ENOTCONN || ret == -ECONNABORTED) {
			TH_LOG("create QP: %d", ret);
		}
		pthread_join(self->threads[1], NULL);
		EXPECT_EQ(0, ender.error);
		ASSERT_EQ(0, conn_await_closed(self->a->conn, LOST_MS));
		sqe = sqe_receive(self->a->id, 2, NULL, 0, 0);
		ret = ring_post(ring.fd, &sqe, 1, NULL);
		EXPECT_TRUE(ret == -ENOTCONN || ret == -ENOENT) {
			TH_LOG("after the end: %d", ret);
		}
		/* Close the connection while other threads look it up by its ID. */
		close(self->a->conn);
		self->a->conn = -1;
		poster.over = true;
		pthread_join(self->threads[0], NULL);
		EXPECT_EQ(0, poster.error);
		/* Each accepted entry completes. */
		while (poster.accepted) {
			ASSERT_EQ(0, ring_wait(&ring, &cqe, LOST_MS));
			EXPECT_EQ(KRDMA_WC_WR_FLUSH_ERR, cqe.status);
			poster.accepted--;
		}
		EXPECT_EQ(-EAGAIN, ring_take(&ring, &cqe));
	}
	ring_close(&ring);
}

/**
 * struct searcher - a thread that resolves a connection again and again
 * @address: the address
 * @conn: file descriptor of the connection; -1: none
 * @calls: number of calls that have returned
 * @over: the thread is to end
 * @error: the first unexpected result
 */
struct searcher {
	const struct __kernel_sockaddr_storage *address;
	atomic_int conn;
	atomic_uint calls;
	atomic_bool over;
	atomic_int error;
};

static void *resolve_again_and_again(void *argument)
{
	struct searcher *searcher = argument;

	while (!searcher->over) {
		int conn = searcher->conn, ret;

		if (conn < 0) {
			sched_yield();
			continue;
		}
		ret = conn_resolve(conn, searcher->address);
		/* -EBADF: the number is that of no file any more. */
		if (ret && ret != -EALREADY && ret != -ENOTCONN && ret != -EBADF)
			searcher->error = ret;
		searcher->calls++;
	}
	return NULL;
}

/* A connection is resolved while it ends: its port is charged once, and uncharged once. */
TEST_F_TIMEOUT(races_end, a_connection_ends_while_it_is_resolved, 300)
{
	struct searcher searcher = { .address = &self->pair.address, .conn = -1 };
	struct krdma_limit_query_args query = {
		.size = sizeof(query), .limit = KRDMA_LIMIT_PORTS,
	};
	unsigned int dice = 1;
	uint64_t end;
	int session, conn;

	session = session_open(O_CLOEXEC);
	ASSERT_LE(0, session);
	for (int i = 0; i < 2; i++)
		ASSERT_EQ(0, pthread_create(&self->threads[i], NULL, resolve_again_and_again,
					    &searcher));
	for (unsigned int i = 0; i < rounds(300, 60); i++) {
		unsigned int calls = searcher.calls;

		ASSERT_EQ(0, conn_create(session, &conn, NULL));
		/* In every other round it ends as a new one. */
		if (i % 2) {
			searcher.conn = conn;
			dawdle(&dice);
		}
		ASSERT_EQ(0, conn_disconnect(conn, KRDMA_DISCONNECT_ABORT));
		searcher.conn = conn;
		ASSERT_EQ(0, conn_await_closed(conn, LOST_MS));
		while (searcher.calls < calls + 4)
			sched_yield();
		searcher.conn = -1;
		close(conn);
	}
	searcher.over = true;
	for (int i = 0; i < 2; i++)
		pthread_join(self->threads[i], NULL);
	EXPECT_EQ(0, searcher.error);
	for (end = now_ms() + LOST_MS; now_ms() < end; sleep_ms(1)) {
		ASSERT_EQ(0, session_request(session, KRDMA_LIMIT_QUERY, &query));
		if (!query.session_used)
			break;
	}
	EXPECT_EQ(0, query.session_used);
	/* The session must not have been freed. */
	EXPECT_EQ(0, conn_create(session, &conn, NULL));
	close(conn);
	close(session);
}

/* The same with removal of the device, and a connected peer. */
TEST_F_TIMEOUT(races_end, the_device_goes_while_it_is_posted_to, 300)
{
	for (unsigned int i = 0; i < rounds(8, 2); i++) {
		struct visitor posters[2] = {};
		struct pair pair = {};

		ASSERT_EQ(0, fabric_create());
		ASSERT_EQ(0, pair_open(&pair, &(struct pair_options) {
			.address = FABRIC_ADDRESS,
			.a.ring_options.cq_entries = 256, .b.ring_options.cq_entries = 256 }));
		posters[0].fd = pair.a.ring->fd;
		posters[0].id = pair.a.id;
		posters[1].fd = pair.b.ring->fd;
		posters[1].id = pair.b.id;
		for (int j = 0; j < 2; j++)
			ASSERT_EQ(0, pthread_create(&self->threads[j], NULL, post_receives,
						    &posters[j]));
		EXPECT_EQ(0, rdma_link_remove(FABRIC_DEVICE));
		EXPECT_EQ(0, conn_await_closed(pair.a.conn, LOST_MS));
		EXPECT_EQ(-ENODEV, conn_wait(pair.a.conn, deadline_in(LOST_MS), NULL));
		for (int j = 0; j < 2; j++) {
			posters[j].over = true;
			pthread_join(self->threads[j], NULL);
			EXPECT_EQ(0, posters[j].error);
		}
		pair_close(&pair);
		fabric_destroy();
	}
}

/*
 * Completions
 */

/* Receives that are posted when a connection ends. */
#define FLUSHED	16

/* Number of completions in @ring, as the program sees it without an ioctl. */
static uint32_t completions(const struct ring *ring)
{
	return __atomic_load_n(&ring->header->cq_tail, __ATOMIC_ACQUIRE) - ring->header->cq_head;
}

struct mover {
	struct ring *ring;
	atomic_bool over;
	int error;
};

/* Move completions to the ring without taking them. */
static void *move_completions(void *argument)
{
	struct mover *mover = argument;

	while (!mover->over && !mover->error)
		mover->error = ring_enter(mover->ring, 0, 0, 0, NULL);
	return NULL;
}

/*
 * A program forgets a connection whose end was reported, so that connection's completions are in
 * the ring by then.  @moving: another thread moves them there meanwhile; otherwise softirqs do, and
 * the ring is only that of the receives.
 */
static void end_and_look(struct __test_metadata *_metadata, const struct pair_options *usual,
			 bool moving)
{
	struct pair_options options = *usual;
	struct mover mover = {};
	unsigned int missing = 0;
	struct pair pair = {};
	struct ring ring;
	pthread_t thread;

	options.b.recv_depth = FLUSHED;
	ASSERT_EQ(0, pair_begin(&pair, &options));
	ASSERT_EQ(0, ring_create(pair.sessions[1], &(struct ring_options) {
		.cq_entries = 256 }, &ring));
	options.b.recv_ring = &ring;
	mover.ring = &ring;
	if (moving) {
		options.b.ring = &ring;
		ASSERT_EQ(0, pthread_create(&thread, NULL, move_completions, &mover));
	}
	for (unsigned int i = 0; i < rounds(100, 20); i++) {
		struct krdma_sqe sqes[FLUSHED];
		struct krdma_cqe cqe;

		ASSERT_EQ(0, pair_connect(&pair, &options));
		for (unsigned int j = 0; j < FLUSHED; j++)
			sqes[j] = sqe_receive(pair.b.id, j, NULL, 0, 0);
		ASSERT_EQ(0, ring_post(ring.fd, sqes, FLUSHED, NULL));
		ASSERT_EQ(0, conn_disconnect(i % 2 ? pair.b.conn : pair.a.conn, 0));
		ASSERT_EQ(0, conn_await_closed(pair.b.conn, LOST_MS));
		missing += FLUSHED - completions(&ring);
		for (unsigned int j = 0; j < FLUSHED; j++) {
			ASSERT_EQ(0, ring_wait(&ring, &cqe, LOST_MS));
			EXPECT_EQ(KRDMA_WC_WR_FLUSH_ERR, cqe.status);
			EXPECT_EQ(pair.b.id, cqe.dest);
		}
		end_close(&pair.a);
		end_close(&pair.b);
	}
	EXPECT_EQ(0, missing);
	mover.over = true;
	if (moving)
		pthread_join(thread, NULL);
	EXPECT_EQ(0, mover.error);
	pair_close(&pair);
	ring_close(&ring);
}

TEST_F_TIMEOUT(races_end, completions_of_a_connection_come_before_its_end, 300)
{
	end_and_look(_metadata, &(struct pair_options) {}, false);
	end_and_look(_metadata, &(struct pair_options) {}, true);
}

TEST_F_TIMEOUT(races_end, completions_of_a_lane_come_before_its_end, 300)
{
	end_and_look(_metadata, &lane_options, false);
	end_and_look(_metadata, &lane_options, true);
}

/*
 * Memory
 */

struct landlord {
	struct end *end;
	const struct mr *remote;
	atomic_uint id;
	const void *data;
	atomic_bool over;
	atomic_uint posted;
	atomic_int error;
};

/* Write from the MR that exists at the moment. */
static void *write_from_it(void *argument)
{
	struct landlord *landlord = argument;

	while (!landlord->over && !landlord->error) {
		struct mr mr = *landlord->remote;
		struct krdma_sqe sqe;
		int ret;

		mr.id = landlord->id;
		mr.data = (void *)landlord->data;
		sqe = sqe_remote(KRDMA_OP_WRITE, landlord->end->id, 1, &mr, 0, 8,
				 landlord->remote, 64);
		ret = ring_post(landlord->end->ring->fd, &sqe, 1, NULL);
		if (!ret)
			landlord->posted++;
		else if (ret == -EAGAIN)
			sched_yield();
		else if (ret != -ENOENT && ret != -ESTALE)
			landlord->error = ret;
	}
	return NULL;
}

/* The MR is deregistered while threads post from it: the post is refused, or the write succeeds. */
TEST_F_TIMEOUT(races_end, memory_goes_while_it_is_posted_from, 300)
{
	struct landlord landlord = { .end = self->a, .remote = &self->mr };
	void *data = (char *)self->mr.data + 1024;
	unsigned int taken = 0;
	struct krdma_cqe cqe;

	ASSERT_EQ(0, pair_connect(&self->pair, &(struct pair_options) {
		.a.ring_options.cq_entries = 256, .a.send_depth = 64 }));
	landlord.data = data;
	for (int i = 0; i < 2; i++)
		ASSERT_EQ(0, pthread_create(&self->threads[i], NULL, write_from_it, &landlord));
	for (unsigned int i = 0; i < rounds(60, 12); i++) {
		unsigned int before = landlord.posted;
		struct mr mr;
		unsigned int dice = i;
		int ret;

		ASSERT_EQ(0, mr_register(self->pair.sessions[0], self->pair.device, data, 8,
					 ACCESS_ALL, &mr));
		landlord.id = mr.id;
		/* In every fourth round the MR is certainly in use; otherwise by chance. */
		while (i % 4 == 0 && landlord.posted == before && !landlord.error) {
			while (!ring_take(self->a->ring, &cqe)) {
				EXPECT_EQ(0, cqe.status);
				taken++;
			}
			sched_yield();
		}
		for (unsigned int j = 0; j < 20; j++)
			dawdle(&dice);
		do {
			ret = mr_deregister(self->pair.sessions[0], mr.id,
					    i % 2 ? KRDMA_DEREGISTER_LATER : 0);
			while (!ring_take(self->a->ring, &cqe)) {
				EXPECT_EQ(0, cqe.status);
				taken++;
			}
		} while (ret == -EBUSY);
		EXPECT_EQ(0, ret);
	}
	landlord.over = true;
	for (int i = 0; i < 2; i++)
		pthread_join(self->threads[i], NULL);
	EXPECT_EQ(0, landlord.error);
	EXPECT_LT(rounds(60, 12) / 4 - 1, landlord.posted);
	for (; taken < landlord.posted; taken++) {
		ASSERT_EQ(0, ring_wait(self->a->ring, &cqe, LOST_MS));
		EXPECT_EQ(0, cqe.status);
	}
}

TEST_HARNESS_MAIN
