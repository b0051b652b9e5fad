// SPDX-License-Identifier: GPL-2.0
/*
 * Shared receive queues.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>

#include "kselftest_harness.h"
#include "pair.h"
#include "session.h"

#define DEPTH	32

FIXTURE(srq)
{
	int session;
	uint32_t device;
	struct ring ring;
	int fd;
	uint32_t id;
	struct mr mr;
};

static int srq_create(int session, int ring, uint32_t device, uint32_t depth, uint32_t max_sge,
		      int *fd, uint32_t *id)
{
	struct krdma_srq_create_args create = {
		.size = sizeof(create),
		.ring_fd = ring,
		.device_id = device,
		.depth = depth,
		.max_sge = max_sge,
	};
	int ret = session_request(session, KRDMA_SRQ_CREATE, &create);

	*fd = ret ? -1 : create.fd;
	*id = ret ? 0 : create.id;
	return ret;
}

static int srq_query(int fd, struct krdma_srq_query_args *query)
{
	memset(query, 0, sizeof(*query));
	query->size = sizeof(*query);
	return session_request(fd, KRDMA_SRQ_QUERY, query);
}

static int srq_post(int fd, const struct krdma_sqe *entries, uint32_t count, uint32_t *accepted)
{
	struct krdma_ring_post_args post = {
		.size = sizeof(post),
		.entries = (uintptr_t)entries,
		.count = count,
	};
	int ret = session_request(fd, KRDMA_SRQ_POST, &post);

	if (accepted)
		*accepted = ret ? 0 : post.accepted;
	return ret ? ret : post.error;
}

FIXTURE_SETUP(srq)
{
	struct ring_options options = { .cq_entries = 1024 };

	self->session = session_open(O_CLOEXEC);
	ASSERT_LE(0, self->session);
	ASSERT_EQ(0, boot_device(self->session, &self->device));
	ASSERT_EQ(0, ring_create(self->session, &options, &self->ring));
	ASSERT_EQ(0, srq_create(self->session, self->ring.fd, self->device, DEPTH, 2, &self->fd,
				&self->id));
	ASSERT_EQ(0, mr_create(self->session, self->device, 65536, ACCESS_ALL,
			       &self->mr));
}

FIXTURE_TEARDOWN(srq)
{
	mr_destroy(&self->mr);
	close(self->fd);
	ring_close(&self->ring);
	close(self->session);
}

TEST_F(srq, what_is_granted)
{
	struct krdma_ring_query_args ring;
	struct krdma_srq_query_args query;

	ASSERT_EQ(0, srq_query(self->fd, &query));
	EXPECT_EQ(self->id, query.id);
	EXPECT_EQ(self->device, query.device_id);
	EXPECT_LE(DEPTH, query.depth);
	EXPECT_LE(2, query.max_sge);
	EXPECT_EQ(FD_CLOEXEC, fcntl(self->fd, F_GETFD));
	/* The ring is bound to the device now. */
	ASSERT_EQ(0, ring_query(self->ring.fd, &ring));
	EXPECT_EQ(self->device, ring.device_id);
}

TEST_F(srq, what_is_refused)
{
	int other = session_open(O_CLOEXEC), fd;
	struct ring unbound, small, foreign;
	uint32_t id;

	ASSERT_LE(0, other);
	ASSERT_EQ(0, ring_create(self->session, NULL, &unbound));
	ASSERT_EQ(0, ring_create(self->session, &(struct ring_options) {
		.cq_entries = 16, .device_id = self->device }, &small));
	ASSERT_EQ(0, ring_create(other, NULL, &foreign));
#define REFUSED(error, ring, device, depth, sge) \
	EXPECT_EQ(error, srq_create(self->session, ring, device, depth, sge, &fd, &id))
	REFUSED(-EINVAL, unbound.fd, 0, 8, 1);
	REFUSED(-ENOSPC, small.fd, 0, 64, 1);
	REFUSED(-EXDEV, foreign.fd, self->device, 8, 1);
	REFUSED(-EBADF, -1, self->device, 8, 1);
	REFUSED(-EPROTOTYPE, self->fd, self->device, 8, 1);
	REFUSED(-EINVAL, self->ring.fd, self->device, UINT32_MAX, 1);
	REFUSED(-EINVAL, self->ring.fd, self->device, 8, 10000);
	REFUSED(-EINVAL, self->ring.fd, self->device, 0, 1);
	REFUSED(-ENODEV, unbound.fd, UINT32_MAX, 8, 1);
#undef REFUSED
	ring_close(&unbound);
	ring_close(&small);
	ring_close(&foreign);
	close(other);
}

#define PEERS	3

/* Post receives by the ring, or by the SRQ's file descriptor. */
/* Proves: D12 */
TEST_F(srq, receives_serve_every_connection)
{
	struct end_options shared = { .ring = &self->ring, .srq = self->fd };
	struct pair_options options = { .sessions = { self->session, self->session },
					.b = shared };
	struct pair pairs[PEERS] = {};
	struct krdma_sqe entries[12];
	unsigned int counts[PEERS] = {};
	bool seen[12] = {};
	struct krdma_cqe cqe;

	for (int i = 0; i < PEERS; i++)
		ASSERT_EQ(0, pair_open(&pairs[i], &options));
	for (int i = 0; i < 12; i++)
		entries[i] = sqe_receive(self->id, i, &self->mr, i * 4096, 4096);
	ASSERT_EQ(0, srq_post(self->fd, entries, 6, NULL));
	ASSERT_EQ(0, ring_submit(&self->ring, entries + 6, 6, NULL));
	fill(self->mr.data + 61440, 1000, 7);
	for (int i = 0; i < 12; i++) {
		struct krdma_sqe send = sqe_send(pairs[i % PEERS].a.id, i, &self->mr, 61440,
						 100 + i % PEERS);

		ASSERT_EQ(0, ring_submit(pairs[i % PEERS].a.ring, &send, 1, NULL));
		ASSERT_EQ(0, ring_wait(pairs[i % PEERS].a.ring, &cqe, PATIENCE_MS));
		EXPECT_EQ(KRDMA_WC_SUCCESS, cqe.status);
	}
	for (int i = 0; i < 12; i++) {
		int from = -1;

		ASSERT_EQ(0, ring_wait(&self->ring, &cqe, PATIENCE_MS));
		ASSERT_EQ(KRDMA_WC_SUCCESS, cqe.status);
		for (int j = 0; j < PEERS; j++)
			if (cqe.dest == pairs[j].b.id)
				from = j;
		ASSERT_LE(0, from);
		counts[from]++;
		EXPECT_EQ(100 + from, cqe.length);
		ASSERT_LT(cqe.wr_id, 12);
		EXPECT_FALSE(seen[cqe.wr_id]);
		seen[cqe.wr_id] = true;
		EXPECT_TRUE(filled(self->mr.data + cqe.wr_id * 4096, cqe.length, 7));
	}
	for (int j = 0; j < PEERS; j++) {
		EXPECT_EQ(12 / PEERS, counts[j]);
		pair_close(&pairs[j]);
	}
}

/* Proves: D12 */
TEST_F(srq, it_is_full_and_has_room_again)
{
	struct pair_options options = {
		.sessions = { self->session, self->session },
		.b = { .ring = &self->ring, .srq = self->fd },
	};
	struct krdma_sqe receive, send;
	struct krdma_srq_query_args query;
	struct pair pair = {};
	struct krdma_cqe cqe;
	uint32_t posted = 0;
	int ret;

	ASSERT_EQ(0, pair_open(&pair, &options));
	ASSERT_EQ(0, srq_query(self->fd, &query));
	EXPECT_EQ(POLLOUT, poll_mask(self->fd, POLLIN | POLLOUT, 0));
	receive = sqe_receive(self->id, 1, NULL, 0, 0);
	while (!(ret = srq_post(self->fd, &receive, 1, NULL)))
		ASSERT_LE(++posted, query.depth);
	EXPECT_EQ(-EAGAIN, ret);
	EXPECT_EQ(query.depth, posted);
	EXPECT_EQ(0, poll_mask(self->fd, POLLIN | POLLOUT, 0));
	send = sqe_send(pair.a.id, 1, NULL, 0, 0);
	ASSERT_EQ(0, ring_submit(pair.a.ring, &send, 1, NULL));
	ASSERT_EQ(0, ring_wait(&self->ring, &cqe, PATIENCE_MS));
	EXPECT_EQ(POLLOUT, poll_mask(self->fd, POLLIN | POLLOUT, PATIENCE_MS));
	EXPECT_EQ(0, srq_post(self->fd, &receive, 1, NULL));
	pair_close(&pair);
}

TEST_F(srq, entries_that_it_refuses)
{
	struct krdma_sqe entry = sqe_receive(self->id, 1, NULL, 0, 0);
	struct krdma_sqe bad;
	uint32_t accepted;

#define REFUSED(error, field, value) do {						\
	bad = entry;									\
	bad.field = value;								\
	EXPECT_EQ(error, srq_post(self->fd, &bad, 1, &accepted));			\
	EXPECT_EQ(0, accepted);								\
} while (0)
	REFUSED(-ENOENT, dest, 0);
	REFUSED(-ENOENT, dest, self->id + 1);
	REFUSED(-EINVAL, opcode, KRDMA_OP_SEND);
	REFUSED(-EINVAL, opcode, 0);
	REFUSED(-EINVAL, flags, KRDMA_SQE_UNSIGNALED);
	REFUSED(-EINVAL, remote_addr, 1);
	REFUSED(-EINVAL, imm, 1);
	REFUSED(-EINVAL, sge.mr, 1);
#undef REFUSED
	bad = sqe_send(self->id, 1, NULL, 0, 0);
	EXPECT_EQ(-ENOENT, ring_submit(&self->ring, &bad, 1, NULL));
	EXPECT_EQ(0, srq_post(self->fd, &entry, 1, &accepted));
}

/* An unused receive completes as flushed, with the ID of the SRQ. */
/* Proves: D12 */
TEST_F(srq, the_end_gives_back_what_is_unused)
{
	struct krdma_sqe entries[5];
	bool seen[5] = {};
	struct krdma_cqe cqe;
	int fd;
	uint32_t id;

	ASSERT_EQ(0, srq_create(self->session, self->ring.fd, 0, 8, 1, &fd, &id));
	EXPECT_NE(id, self->id);
	for (int i = 0; i < 5; i++)
		entries[i] = sqe_receive(id, i, NULL, 0, 0);
	ASSERT_EQ(0, srq_post(fd, entries, 5, NULL));
	close(fd);
	for (int i = 0; i < 5; i++) {
		ASSERT_EQ(0, ring_wait(&self->ring, &cqe, PATIENCE_MS));
		EXPECT_EQ(id, cqe.dest);
		EXPECT_EQ(KRDMA_OP_RECV, cqe.opcode);
		EXPECT_EQ(KRDMA_WC_WR_FLUSH_ERR, cqe.status);
		ASSERT_LT(cqe.wr_id, 5);
		EXPECT_FALSE(seen[cqe.wr_id]);
		seen[cqe.wr_id] = true;
	}
	EXPECT_EQ(-ENOENT, ring_submit(&self->ring, entries, 1, NULL));
}

/* Posts as many receives as the SRQ has, and closes it. */
static int fill_and_close(int fd, uint32_t id, uint32_t depth, uint64_t *wr_id)
{
	struct krdma_sqe entry;
	int ret = 0;

	for (uint32_t i = 0; i < depth && !ret; i++) {
		entry = sqe_receive(id, (*wr_id)++, NULL, 0, 0);
		ret = srq_post(fd, &entry, 1, NULL);
	}
	close(fd);
	return ret;
}

/*
 * A program that makes and closes SRQs, and takes no completions, has no room for more of them
 * than its ring has; and each completion is there when it takes them.
 */
/* Proves: D12 */
TEST_F(srq, what_nobody_takes_keeps_its_place)
{
	struct ring_options options = { .cq_entries = DEPTH, .flags = KRDMA_RING_POLLED };
	uint64_t wr_id = 0, expected = 0;
	struct krdma_cqe cqe;
	struct ring ring;
	uint64_t begin;
	uint32_t id;
	int fd, ret;

	ASSERT_EQ(0, ring_create(self->session, &options, &ring));
	for (int round = 0; round < 3; round++) {
		ASSERT_EQ(0, srq_create(self->session, ring.fd, self->device, DEPTH, 1, &fd, &id));
		ASSERT_EQ(0, fill_and_close(fd, id, DEPTH, &wr_id));
		/* Also when the SRQ has ended. */
		begin = now_ms();
		do {
			ret = srq_create(self->session, ring.fd, self->device, 1, 1, &fd, &id);
			ASSERT_EQ(-ENOSPC, ret);
			sleep_ms(10);
		} while (now_ms() - begin < 300);
		for (; expected < wr_id; expected++) {
			ASSERT_EQ(0, ring_wait(&ring, &cqe, PATIENCE_MS));
			ASSERT_EQ(expected, cqe.wr_id);
			EXPECT_EQ(KRDMA_WC_WR_FLUSH_ERR, cqe.status);
		}
		EXPECT_EQ(-EAGAIN, ring_take(&ring, &cqe));
	}
	ring_close(&ring);
}

/* The SRQ exists as long as a connection uses it. */
TEST_F(srq, it_outlives_its_descriptor_with_its_connections)
{
	struct pair_options options = {
		.sessions = { self->session, self->session },
		.b = { .ring = &self->ring },
	};
	struct krdma_sqe receive, send;
	struct pair pair = {};
	struct krdma_cqe cqe;
	uint32_t id;
	int fd;

	ASSERT_EQ(0, srq_create(self->session, self->ring.fd, 0, 8, 1, &fd, &id));
	options.b.srq = fd;
	ASSERT_EQ(0, pair_open(&pair, &options));
	receive = sqe_receive(id, 4, NULL, 0, 0);
	ASSERT_EQ(0, srq_post(fd, &receive, 1, NULL));
	close(fd);
	send = sqe_send(pair.a.id, 1, NULL, 0, 0);
	ASSERT_EQ(0, ring_submit(pair.a.ring, &send, 1, NULL));
	ASSERT_EQ(0, ring_wait(&self->ring, &cqe, PATIENCE_MS));
	EXPECT_EQ(4, cqe.wr_id);
	EXPECT_EQ(pair.b.id, cqe.dest);
	EXPECT_EQ(KRDMA_WC_SUCCESS, cqe.status);
	pair_close(&pair);
}

/* A connection with an SRQ takes receives only from it. */
TEST_F(srq, its_connections_have_no_receives_of_their_own)
{
	struct pair_options options = {
		.sessions = { self->session, self->session },
		.b = { .ring = &self->ring, .srq = self->fd },
	};
	struct krdma_sqe receive;
	struct pair pair = {};

	ASSERT_EQ(0, pair_open(&pair, &options));
	receive = sqe_receive(pair.b.id, 4, NULL, 0, 0);
	EXPECT_EQ(-ENOENT, ring_submit(&self->ring, &receive, 1, NULL));
	pair_close(&pair);
}

/* The SRQ has its own ring, where receives complete. */
TEST_F(srq, not_beside_a_queue_for_receives)
{
	struct pair_options options = {
		.sessions = { self->session, self->session },
		.b = { .separate = true, .srq = self->fd },
	};
	struct pair pair = {};

	EXPECT_EQ(-EINVAL, pair_open(&pair, &options));
	pair_close(&pair);
}

/*
 * Peers begin messages and disconnect.  The receives that the device had taken for these become
 * free again, for the messages of other peers.
 */
#define LONG_MESSAGE	(1024 * 1024)

static int fill_srq(int fd, const struct krdma_sqe *receive)
{
	int ret, count = 0;

	while (!(ret = srq_post(fd, receive, 1, NULL)))
		count++;
	return ret == -EAGAIN ? count : ret;
}

TEST_F(srq, messages_that_are_given_up_leave_their_room)
{
	struct pair_options options = {
		.sessions = { self->session, self->session },
		.b = { .ring = &self->ring, .srq = self->fd },
	};
	int posted = 0, completed = 0;
	struct krdma_sqe receive, send;
	struct mr from, to;
	struct krdma_cqe cqe;
	struct pair pair;

	if (!kernel_is("6.1."))
		SKIP(return, "rxe after 6.1 loses the receive of a message that is given up");
	ASSERT_EQ(0, mr_create(self->session, self->device, LONG_MESSAGE, ACCESS_ALL, &from));
	ASSERT_EQ(0, mr_create(self->session, self->device, LONG_MESSAGE, ACCESS_ALL, &to));
	receive = sqe_receive(self->id, 1, &to, 0, LONG_MESSAGE);
	for (unsigned int round = 0; round < rounds(2 * DEPTH, DEPTH + 2); round++) {
		int more = fill_srq(self->fd, &receive);

		ASSERT_LE(0, more);
		posted += more;
		ASSERT_EQ(0, pair_open(&pair, &options));
		send = sqe_send(pair.a.id, 1, &from, 0, LONG_MESSAGE);
		ASSERT_EQ(0, ring_submit(pair.a.ring, &send, 1, NULL));
		/* Disconnect somewhere in the middle of the message. */
		usleep(round * 20);
		EXPECT_EQ(0, conn_disconnect(pair.a.conn, KRDMA_DISCONNECT_ABORT));
		EXPECT_EQ(0, conn_await_closed(pair.b.conn, PATIENCE_MS));
		pair_close(&pair);
		while (!ring_take(&self->ring, &cqe))
			completed++;
	}
	TH_LOG("%d receives were posted, %d have completed", posted, completed);

	/* Afterwards another peer can repeatedly use the full depth of the SRQ. */
	ASSERT_EQ(0, pair_open(&pair, &options));
	ASSERT_LE(0, fill_srq(self->fd, &receive));
	send = sqe_send(pair.a.id, 1, &from, 0, 100);
	for (int i = 0; i < DEPTH; i++) {
		ASSERT_EQ(KRDMA_WC_SUCCESS, pair_operate(&pair, send)) {
			TH_LOG("message %d of %d", i, DEPTH);
		}
	}
	pair_close(&pair);
	mr_destroy(&from);
	mr_destroy(&to);
}

TEST_HARNESS_MAIN
