// SPDX-License-Identifier: GPL-2.0
/*
 * Messages that a lane sends before it is accepted.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "child.h"
#include "lane_pair.h"
#include "objects.h"
#include "session.h"

/* The longest message that goes before the answer. */
#define EARLY		992
/* For what must not happen. */
#define SOON_MS		300
#define MANY		40

static const struct end_options early = {
	.max_inline = 128,
	.param.flags = KRDMA_CONN_PARAM_EARLY,
};

FIXTURE(lane_early)
{
	struct pair pair;
	struct mr a;
	struct mr b;
};

FIXTURE_SETUP(lane_early)
{
	struct pair *pair = &self->pair;

	ASSERT_EQ(0, pair_begin(pair, &lane_options));
	ASSERT_EQ(0, lane_memory(pair, 0, LENGTH, &self->a));
	ASSERT_EQ(0, memory_for_peers(pair, 1, LENGTH, &self->b));
	ASSERT_EQ(0, pair_resolve(pair));
	ASSERT_NE(0, trunk_of(pair->a.conn));
	ASSERT_EQ(0, end_create_qp(&pair->a, &early));
	fill(self->a.data, LENGTH, 5);
}

FIXTURE_TEARDOWN(lane_early)
{
	mr_destroy(&self->a);
	mr_destroy(&self->b);
	pair_close(&self->pair);
}

static int send_one(FIXTURE_DATA(lane_early) * self, uint64_t wr_id, uint32_t length)
{
	struct krdma_sqe send = sqe_send(self->pair.a.id, wr_id, &self->a, 0, length);

	return ring_submit(self->pair.a.ring, &send, 1, NULL);
}

static int receive_one(FIXTURE_DATA(lane_early) * self, uint64_t wr_id, uint32_t length)
{
	struct krdma_sqe receive = sqe_receive(self->pair.b.id, wr_id, &self->b, wr_id * 8192,
					       length);

	return ring_submit(self->pair.b.recv_ring, &receive, 1, NULL);
}

/* The server takes the request, and has queues. */
static int take(FIXTURE_DATA(lane_early) * self)
{
	struct pair *pair = &self->pair;
	int ret;

	ret = listener_next(pair->listener, deadline_in(PATIENCE_MS), &pair->b.conn, &pair->b.id);
	return ret ? ret : end_create_qp(&pair->b, NULL);
}

static int sent(FIXTURE_DATA(lane_early) * self, uint64_t wr_id)
{
	struct krdma_cqe cqe;
	int ret = ring_wait(self->pair.a.ring, &cqe, PATIENCE_MS);

	if (ret)
		return ret;
	return cqe.wr_id == wr_id ? (int)cqe.status : -EPROTO;
}

/* A message of @length bytes is in the receive. */
static int received(FIXTURE_DATA(lane_early) * self, uint64_t wr_id, uint32_t length)
{
	struct krdma_cqe cqe;
	int ret = ring_wait(self->pair.b.recv_ring, &cqe, PATIENCE_MS);

	if (ret)
		return ret;
	if (cqe.wr_id != wr_id || cqe.status || cqe.length != length ||
	    cqe.dest != self->pair.b.id)
		return -EPROTO;
	return filled(self->b.data + wr_id * 8192, length, 5) ? 0 : -EILSEQ;
}

/* Takes the requests that were given up, and waits for their ends. */
static int take_given_up(FIXTURE_DATA(lane_early) * self)
{
	uint32_t id;
	int fd, ret;

	while (!listener_next(self->pair.listener, deadline_in(SOON_MS), &fd, &id)) {
		ret = conn_await_closed(fd, PATIENCE_MS);
		close(fd);
		if (ret)
			return ret;
	}
	return 0;
}

/* Whether there is still no completion after a while. */
static bool none(struct ring *ring)
{
	struct krdma_cqe cqe;

	return ring_wait(ring, &cqe, SOON_MS) == -ETIMEDOUT;
}

/*
 * What is sent early
 */

/* Proves: F18 */
TEST_F(lane_early, a_message_before_the_answer)
{
	struct pair *pair = &self->pair;
	struct pollfd out = { .fd = pair->a.conn, .events = POLLOUT };

	EXPECT_EQ(-ENOTCONN, send_one(self, 1, 64));
	EXPECT_EQ(0, poll(&out, 1, 0));
	ASSERT_EQ(0, end_connect(&pair->a, &early));
	EXPECT_EQ(KRDMA_CONN_CONNECTING, conn_state(pair->a.conn));
	EXPECT_EQ(1, poll(&out, 1, 0));
	EXPECT_EQ(POLLOUT, out.revents);
	ASSERT_EQ(0, send_one(self, 1, 64));
	ASSERT_EQ(0, take(self));
	ASSERT_EQ(0, receive_one(self, 2, 4096));
	/* The program that is asked notices nothing before it has accepted; nor is it done. */
	EXPECT_TRUE(none(pair->b.recv_ring));
	EXPECT_TRUE(none(pair->a.ring));
	EXPECT_EQ(KRDMA_CONN_CONNECTING, conn_state(pair->a.conn));
	ASSERT_EQ(0, end_accept(&pair->b, NULL));
	EXPECT_EQ(0, received(self, 2, 64));
	EXPECT_EQ(0, sent(self, 1));
	EXPECT_EQ(0, pair_established(pair));
	EXPECT_EQ(0, message(&pair->a, &self->a, &pair->b, &self->b, 0, 10000));
	EXPECT_EQ(0, message(&pair->b, &self->b, &pair->a, &self->a, 0, 10000));
}

/* The answer is there with the acceptance, and the lane goes on like any other one. */
/* Proves: F18 */
TEST_F(lane_early, of_each_length_and_kind)
{
	static const uint32_t lengths[] = { 0, 1, 8, EARLY - 1, EARLY, EARLY + 1, 4000, 100000 };
	struct pair *pair = &self->pair;
	struct krdma_sqe send;
	struct krdma_cqe cqe;

	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		for (int with_imm = 0; with_imm < 2; with_imm++) {
			ASSERT_EQ(0, end_connect(&pair->a, &early));
			send = sqe_send(pair->a.id, 7, &self->a, 0, lengths[i]);
			if (with_imm) {
				send.opcode = KRDMA_OP_SEND_IMM;
				send.imm = 0x1234567;
			}
			ASSERT_EQ(0, ring_submit(pair->a.ring, &send, 1, NULL));
			ASSERT_EQ(0, take(self));
			ASSERT_EQ(0, receive_one(self, 0, LENGTH));
			ASSERT_EQ(0, end_accept(&pair->b, NULL));
			ASSERT_EQ(0, ring_wait(pair->b.ring, &cqe, PATIENCE_MS));
			EXPECT_EQ(0, cqe.status);
			EXPECT_EQ(lengths[i], cqe.length);
			EXPECT_EQ(with_imm ? KRDMA_CQE_IMM : 0, cqe.flags & KRDMA_CQE_IMM);
			EXPECT_EQ(with_imm ? 0x1234567 : 0, cqe.imm);
			EXPECT_TRUE(filled(self->b.data, lengths[i], 5));
			EXPECT_EQ(0, sent(self, 7));
			end_close(&pair->a);
			end_close(&pair->b);
			ASSERT_EQ(0, pair_resolve(pair));
			ASSERT_EQ(0, end_create_qp(&pair->a, &early));
		}
	}
}

/* Inline data, unsignaled, and what is posted behind it, in order. */
/* Proves: F18 */
TEST_F(lane_early, others_follow_in_their_order)
{
	struct pair *pair = &self->pair;
	struct krdma_sqe first;
	struct krdma_cqe cqe;

	ASSERT_EQ(0, end_connect(&pair->a, &early));
	first = sqe_send(pair->a.id, 0, &self->a, 0, 100);
	first.flags = KRDMA_SQE_INLINE | KRDMA_SQE_UNSIGNALED;
	first.sge.mr = 0;
	ASSERT_EQ(0, ring_submit(pair->a.ring, &first, 1, NULL));
	for (uint32_t i = 1; i < 8; i++)
		ASSERT_EQ(0, send_one(self, i, 100 + i));
	ASSERT_EQ(0, take(self));
	for (uint32_t i = 0; i < 8; i++)
		ASSERT_EQ(0, receive_one(self, i, 8192));
	ASSERT_EQ(0, end_accept(&pair->b, NULL));
	for (uint32_t i = 0; i < 8; i++)
		EXPECT_EQ(0, received(self, i, 100 + i));
	for (uint32_t i = 1; i < 8; i++)
		EXPECT_EQ(0, sent(self, i));
	EXPECT_EQ(-EAGAIN, ring_take(pair->a.ring, &cqe));
}

/* A work request that is not a message waits, and what is behind it. */
/* Proves: F18 */
TEST_F(lane_early, a_write_waits_for_the_answer)
{
	struct pair *pair = &self->pair;
	struct krdma_sqe write = sqe_remote(KRDMA_OP_WRITE, pair->a.id, 1, &self->a, 0, 64,
					    &self->b, 0);

	ASSERT_EQ(0, end_connect(&pair->a, &early));
	ASSERT_EQ(0, ring_submit(pair->a.ring, &write, 1, NULL));
	ASSERT_EQ(0, send_one(self, 2, 64));
	ASSERT_EQ(0, take(self));
	ASSERT_EQ(0, receive_one(self, 3, 8192));
	EXPECT_TRUE(none(pair->b.ring));
	EXPECT_TRUE(zeroed(self->b.data, 64));
	ASSERT_EQ(0, end_accept(&pair->b, NULL));
	EXPECT_EQ(0, received(self, 3, 64));
	EXPECT_TRUE(filled(self->b.data, 64, 5));
	EXPECT_EQ(0, sent(self, 1));
	EXPECT_EQ(0, sent(self, 2));
}

/*
 * Receives
 */

/* The message waits for a receive, and a write that was posted behind it does, too. */
/* Proves: F18 */
TEST_F(lane_early, without_a_receive)
{
	struct pair *pair = &self->pair;
	struct krdma_sqe write = sqe_remote(KRDMA_OP_WRITE, pair->a.id, 2, &self->a, 0, 64,
					    &self->b, 0);

	ASSERT_EQ(0, end_connect(&pair->a, &early));
	ASSERT_EQ(0, send_one(self, 1, 64));
	ASSERT_EQ(0, ring_submit(pair->a.ring, &write, 1, NULL));
	ASSERT_EQ(0, take(self));
	ASSERT_EQ(0, end_accept(&pair->b, NULL));
	ASSERT_EQ(0, pair_established(pair));
	/* The peer's kernel has the message. */
	EXPECT_EQ(0, sent(self, 1));
	EXPECT_TRUE(none(pair->a.ring));
	EXPECT_TRUE(zeroed(self->b.data, 64));
	ASSERT_EQ(0, receive_one(self, 3, 8192));
	EXPECT_EQ(0, received(self, 3, 64));
	EXPECT_EQ(0, sent(self, 2));
	EXPECT_TRUE(filled(self->b.data, 64, 5));
	EXPECT_EQ(0, message(&pair->a, &self->a, &pair->b, &self->b, 0, 500));
}

/* Without anything behind it, too. */
/* Proves: F18 */
TEST_F(lane_early, alone_without_a_receive)
{
	struct pair *pair = &self->pair;

	ASSERT_EQ(0, end_connect(&pair->a, &early));
	ASSERT_EQ(0, send_one(self, 1, 64));
	ASSERT_EQ(0, take(self));
	ASSERT_EQ(0, end_accept(&pair->b, NULL));
	EXPECT_EQ(0, sent(self, 1));
	EXPECT_TRUE(none(pair->b.recv_ring));
	ASSERT_EQ(0, receive_one(self, 3, 8192));
	EXPECT_EQ(0, received(self, 3, 64));
}

/* As on any connection. */
/* Proves: F18 */
TEST_F(lane_early, longer_than_the_receive)
{
	struct pair *pair = &self->pair;
	struct krdma_cqe cqe;

	ASSERT_EQ(0, end_connect(&pair->a, &early));
	ASSERT_EQ(0, send_one(self, 1, 64));
	ASSERT_EQ(0, take(self));
	ASSERT_EQ(0, receive_one(self, 3, 63));
	ASSERT_EQ(0, end_accept(&pair->b, NULL));
	ASSERT_EQ(0, ring_wait(pair->b.ring, &cqe, PATIENCE_MS));
	EXPECT_EQ(KRDMA_WC_LOC_LEN_ERR, cqe.status);
	EXPECT_EQ(0, conn_await_closed(pair->a.conn, PATIENCE_MS));
	EXPECT_EQ(0, conn_await_closed(pair->b.conn, PATIENCE_MS));
}

/*
 * Lanes that are not accepted
 */

/* Proves: F18 */
TEST_F(lane_early, rejected)
{
	struct pair *pair = &self->pair;

	ASSERT_EQ(0, end_connect(&pair->a, &early));
	ASSERT_EQ(0, send_one(self, 1, 64));
	ASSERT_EQ(0, send_one(self, 2, 64));
	ASSERT_EQ(0, take(self));
	ASSERT_EQ(0, receive_one(self, 3, 8192));
	EXPECT_EQ(0, conn_reject(pair->b.conn, NULL, 0));
	EXPECT_EQ(KRDMA_WC_WR_FLUSH_ERR, sent(self, 1));
	EXPECT_EQ(KRDMA_WC_WR_FLUSH_ERR, sent(self, 2));
	EXPECT_EQ(-ECONNREFUSED, conn_wait(pair->a.conn, deadline_in(PATIENCE_MS), NULL));
	EXPECT_EQ(0, conn_await_closed(pair->a.conn, PATIENCE_MS));
	EXPECT_EQ(-ENOTCONN, send_one(self, 3, 64));
	EXPECT_TRUE(zeroed(self->b.data, LENGTH));
}

/* Before the request is taken, and after that. */
/* Proves: F18 */
TEST_F(lane_early, given_up)
{
	struct pair *pair = &self->pair;

	for (int taken = 0; taken < 2; taken++) {
		ASSERT_EQ(0, end_connect(&pair->a, &early));
		ASSERT_EQ(0, send_one(self, 1, 64));
		if (taken) {
			ASSERT_EQ(0, take(self));
			ASSERT_EQ(0, receive_one(self, 3, 8192));
		}
		end_close(&pair->a);
		if (taken) {
			EXPECT_EQ(0, conn_await_closed(pair->b.conn, PATIENCE_MS));
			EXPECT_EQ(-ENOTCONN, end_accept(&pair->b, NULL));
			end_close(&pair->b);
		}
		/* The next one that is taken is not this one. */
		ASSERT_EQ(0, take_given_up(self));
		ASSERT_EQ(0, pair_resolve(pair));
		ASSERT_EQ(0, end_create_qp(&pair->a, &early));
	}
	EXPECT_TRUE(zeroed(self->b.data, LENGTH));
	/* Those that are gone are not in the way of others. */
	ASSERT_EQ(0, end_connect(&pair->a, &early));
	ASSERT_EQ(0, send_one(self, 1, 64));
	ASSERT_EQ(0, take(self));
	ASSERT_EQ(0, receive_one(self, 3, 8192));
	ASSERT_EQ(0, end_accept(&pair->b, NULL));
	EXPECT_EQ(0, received(self, 3, 64));
}

/* The memory of a message that was posted early may go with its process. */
/* Proves: F18 */
TEST_F(lane_early, a_process_that_is_killed)
{
	int pid;

	for (int i = 0; i < MANY; i++) {
		pid = fork();
		ASSERT_LE(0, pid);
		if (!pid) {
			struct pair pair = {};
			struct end a;
			struct mr mr;

			pair.sessions[0] = session_open(O_CLOEXEC);
			CHECK(!boot_device(pair.sessions[0], &pair.device));
			CHECK(!lane_memory(&pair, 0, LENGTH, &mr));
			end_init(&a, pair.sessions[0]);
			CHECK(!conn_create_with(a.session, KRDMA_CONN_CREATE_LANE, &a.conn, &a.id));
			CHECK(!conn_resolve(a.conn, &self->pair.address));
			CHECK(!conn_wait(a.conn, deadline_in(PATIENCE_MS), NULL));
			CHECK(!end_create_qp(&a, &early));
			CHECK(!end_connect(&a, &early));
			for (int j = 0; j < 4; j++) {
				struct krdma_sqe send = sqe_send(a.id, j, &mr, 0, 64);

				CHECK(!ring_submit(a.ring, &send, 1, NULL));
			}
			kill(getpid(), SIGKILL);
			_exit(1);
		}
		ASSERT_EQ(pid, waitpid(pid, NULL, 0));
	}
	/* The server notices nothing but that they are gone. */
	ASSERT_EQ(0, take_given_up(self));
	ASSERT_EQ(0, end_connect(&self->pair.a, &early));
	ASSERT_EQ(0, send_one(self, 1, 64));
	ASSERT_EQ(0, take(self));
	ASSERT_EQ(0, receive_one(self, 3, 8192));
	ASSERT_EQ(0, end_accept(&self->pair.b, NULL));
	EXPECT_EQ(0, received(self, 3, 64));
}

/*
 * Many, and others
 */

/* Each with a message of its own, all of them before the first one is taken. */
/* Proves: F18 */
TEST_F(lane_early, many_at_a_time)
{
	struct pair *pair = &self->pair;
	struct ring_options options = { .sq_entries = 256, .cq_entries = 1024 };
	struct end ends[MANY];
	struct ring rings[2] = {};
	struct krdma_cqe cqe;
	bool seen[MANY] = {};

	for (int side = 0; side < 2; side++)
		ASSERT_EQ(0, ring_create(pair->sessions[side], &options, &rings[side]));
	for (uint32_t i = 0; i < MANY; i++) {
		struct end_options end = early;
		struct krdma_sqe send;

		end.create_flags = KRDMA_CONN_CREATE_LANE;
		end.ring = &rings[0];
		end.send_depth = 2;
		end.recv_depth = 2;
		ASSERT_EQ(0, end_ask(&ends[i], pair->sessions[0], &pair->address, &end));
		send = sqe_send(ends[i].id, i, &self->a, 0, 10 + i);
		ASSERT_EQ(0, ring_submit(&rings[0], &send, 1, NULL));
	}
	for (uint32_t i = 0; i < MANY; i++) {
		struct end_options end = { .ring = &rings[1], .send_depth = 2, .recv_depth = 2 };
		struct krdma_sqe receive;

		end_init(&pair->b, pair->sessions[1]);
		ASSERT_EQ(0, listener_next(pair->listener, deadline_in(PATIENCE_MS), &pair->b.conn,
					   &pair->b.id));
		ASSERT_EQ(0, end_create_qp(&pair->b, &end));
		receive = sqe_receive(pair->b.id, i, &self->b, i * 1024, 1024);
		ASSERT_EQ(0, ring_submit(&rings[1], &receive, 1, NULL));
		ASSERT_EQ(0, end_accept(&pair->b, &end));
		ASSERT_EQ(0, ring_wait(&rings[1], &cqe, PATIENCE_MS));
		EXPECT_EQ(0, cqe.status);
		EXPECT_EQ(i, cqe.wr_id);
		ASSERT_LE(10, cqe.length);
		ASSERT_GT(10 + MANY, cqe.length);
		EXPECT_FALSE(seen[cqe.length - 10]);
		seen[cqe.length - 10] = true;
		ASSERT_EQ(0, ring_wait(&rings[0], &cqe, PATIENCE_MS));
		EXPECT_EQ(0, cqe.status);
		end_close(&pair->b);
	}
	for (uint32_t i = 0; i < MANY; i++)
		end_close(&ends[i]);
	ring_close(&rings[0]);
	ring_close(&rings[1]);
}

/* The flag has no effect on a plain connection, and none on the side that accepts. */
/* Proves: F18 */
TEST_F(lane_early, a_plain_connection)
{
	struct pair_options options = { .a = early };
	struct pair pair = {};

	ASSERT_EQ(0, pair_begin(&pair, &options));
	ASSERT_EQ(0, pair_resolve(&pair));
	EXPECT_EQ(0, trunk_of(pair.a.conn));
	ASSERT_EQ(0, pair_meet(&pair, &options));
	EXPECT_EQ(-ENOTCONN, ring_submit(pair.a.ring, &(struct krdma_sqe) {
		.opcode = KRDMA_OP_SEND, .dest = pair.a.id,
	}, 1, NULL));
	ASSERT_EQ(0, end_create_qp(&pair.b, NULL));
	EXPECT_EQ(-EOPNOTSUPP, end_accept(&pair.b, &early));
	ASSERT_EQ(0, end_accept(&pair.b, NULL));
	EXPECT_EQ(0, pair_established(&pair));
	pair_close(&pair);
}

/* A receive of an SRQ, which may come later, too. */
/* Proves: F18 */
TEST_F(lane_early, to_a_shared_receive_queue)
{
	struct pair *pair = &self->pair;
	struct krdma_srq_create_args create = {
		.size = sizeof(create),
		.flags = KRDMA_SRQ_CREATE_LANES,
		.device_id = pair->device,
		.depth = 16,
	};
	struct end_options end = {};
	struct ring ring;

	ASSERT_EQ(0, ring_create(pair->sessions[1], &(struct ring_options) {}, &ring));
	create.ring_fd = ring.fd;
	ASSERT_EQ(0, session_request(pair->sessions[1], KRDMA_SRQ_CREATE, &create));
	end.srq = create.fd;
	end.ring = &ring;
	for (int late = 0; late < 2; late++) {
		struct krdma_sqe receive = sqe_receive(create.id, late, &self->b, late * 8192,
						       8192);
		struct krdma_ring_post_args post = {
			.size = sizeof(post), .entries = (uintptr_t)&receive, .count = 1,
		};

		ASSERT_EQ(0, end_connect(&pair->a, &early));
		ASSERT_EQ(0, send_one(self, 1, 64));
		end_init(&pair->b, pair->sessions[1]);
		ASSERT_EQ(0, listener_next(pair->listener, deadline_in(PATIENCE_MS), &pair->b.conn,
					   &pair->b.id));
		if (!late)
			ASSERT_EQ(0, session_request(create.fd, KRDMA_SRQ_POST, &post));
		ASSERT_EQ(0, end_create_qp(&pair->b, &end));
		ASSERT_EQ(0, end_accept(&pair->b, &end));
		EXPECT_EQ(0, sent(self, 1));
		if (late) {
			EXPECT_TRUE(none(&ring));
			ASSERT_EQ(0, session_request(create.fd, KRDMA_SRQ_POST, &post));
		}
		EXPECT_EQ(0, received(self, late, 64));
		end_close(&pair->b);
		end_close(&pair->a);
		ASSERT_EQ(0, pair_resolve(pair));
		ASSERT_EQ(0, end_create_qp(&pair->a, &early));
	}
	close(create.fd);
	ring_close(&ring);
}

TEST_HARNESS_MAIN
