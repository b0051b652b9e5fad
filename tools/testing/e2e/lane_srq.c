// SPDX-License-Identifier: GPL-2.0
/*
 * Shared receive queues of lanes.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "conns.h"
#include "kselftest_harness.h"
#include "lane_pair.h"
#include "session.h"

#define DEPTH	16
/* What the lanes to one host get of it. */
#define SHARE	4
#define SLOT	8192
/* Where the messages are that are sent. */
#define SOURCE	(DEPTH * SLOT)

static int srq_create(int session, int ring, uint32_t device, uint32_t flags, uint32_t depth,
		      int *fd, uint32_t *id)
{
	struct krdma_srq_create_args create = {
		.size = sizeof(create),
		.flags = flags,
		.ring_fd = ring,
		.device_id = device,
		.depth = depth,
	};
	int ret = session_request(session, KRDMA_SRQ_CREATE, &create);

	*fd = ret ? -1 : create.fd;
	*id = ret ? 0 : create.id;
	return ret;
}

static int srq_post(int fd, const struct krdma_sqe *entries, uint32_t count)
{
	struct krdma_ring_post_args post = {
		.size = sizeof(post),
		.entries = (uintptr_t)entries,
		.count = count,
	};
	int ret = session_request(fd, KRDMA_SRQ_POST, &post);

	return ret ? ret : post.error;
}

FIXTURE(lane_srq)
{
	int sessions[2];
	uint32_t device;
	struct ring ring;
	int fd;
	uint32_t id;
	struct mr mr;
	struct mr source;
	struct pair_options options;
	struct pair pairs[8];
};

FIXTURE_SETUP(lane_srq)
{
	struct ring_options ring = { .cq_entries = 1024 };

	for (int i = 0; i < 2; i++) {
		self->sessions[i] = session_open(O_CLOEXEC);
		ASSERT_LE(0, self->sessions[i]);
	}
	ASSERT_EQ(0, boot_device(self->sessions[1], &self->device));
	ASSERT_EQ(0, ring_create(self->sessions[1], &ring, &self->ring));
	ASSERT_EQ(0, srq_create(self->sessions[1], self->ring.fd, self->device,
				KRDMA_SRQ_CREATE_LANES, DEPTH, &self->fd, &self->id));
	ASSERT_EQ(0, mr_create_with(self->sessions[1], self->device, SOURCE, ACCESS_ALL,
				    KRDMA_MR_REGISTER_LANES, &self->mr));
	ASSERT_EQ(0, mr_create_with(self->sessions[0], self->device, SLOT, ACCESS_ALL,
				    KRDMA_MR_REGISTER_LANES, &self->source));
	fill(self->source.data, SLOT, 7);
	self->options = (struct pair_options) {
		.sessions = { self->sessions[0], self->sessions[1] },
		.listen_flags = KRDMA_LISTEN_LANES,
		.a.create_flags = KRDMA_CONN_CREATE_LANE,
		.b = { .ring = &self->ring, .srq = self->fd },
	};
}

FIXTURE_TEARDOWN(lane_srq)
{
	for (int i = 0; i < 8; i++)
		pair_close(&self->pairs[i]);
	mr_destroy(&self->source);
	mr_destroy(&self->mr);
	close(self->fd);
	ring_close(&self->ring);
	close(self->sessions[1]);
	close(self->sessions[0]);
}

/* Posts @count receives with the slots from @first on. */
static int receive(FIXTURE_DATA(lane_srq) * self, int first, int count)
{
	struct krdma_sqe entries[DEPTH];

	for (int i = 0; i < count; i++)
		entries[i] = sqe_receive(self->id, first + i, &self->mr, (first + i) * SLOT, SLOT);
	return srq_post(self->fd, entries, count);
}

static int send_some(FIXTURE_DATA(lane_srq) * self, struct pair *pair, int count, uint32_t length)
{
	int ret = 0;

	for (int i = 0; i < count && !ret; i++) {
		struct krdma_sqe send = sqe_send(pair->a.id, i, &self->source, 0, length);

		ret = ring_submit(pair->a.ring, &send, 1, NULL);
	}
	return ret;
}

static int sent(struct pair *pair, int count)
{
	struct krdma_cqe cqe;
	int ret = 0;

	for (int i = 0; i < count && !ret; i++) {
		ret = ring_wait(pair->a.ring, &cqe, PATIENCE_MS);
		if (!ret && cqe.status)
			ret = -EPROTO;
	}
	return ret;
}

/* Takes a message of @length bytes of @pair, and checks it. */
static int arrived(FIXTURE_DATA(lane_srq) * self, struct pair *pair, uint32_t length,
		   struct krdma_cqe *cqe)
{
	int ret = ring_wait(&self->ring, cqe, PATIENCE_MS);

	if (ret)
		return ret;
	if (cqe->status || cqe->opcode != KRDMA_OP_RECV || cqe->length != length ||
	    cqe->wr_id >= DEPTH || (pair && cqe->dest != pair->b.id))
		return -EPROTO;
	return filled(self->mr.data + cqe->wr_id * SLOT, length, 7) ? 0 : -EILSEQ;
}

/* Lanes and a plain connection take receives of the same SRQ, each in the order of its messages. */
/* Proves: F16 */
TEST_F(lane_srq, lanes_and_a_queue_pair_share)
{
	struct pair_options plain = self->options;
	struct krdma_cqe cqe;
	uint32_t next[4] = {};

	plain.a.create_flags = 0;
	plain.listen_flags = 0;
	for (int i = 0; i < 4; i++) {
		ASSERT_EQ(0, pair_open(&self->pairs[i], i == 3 ? &plain : &self->options));
		EXPECT_EQ(i != 3, !!trunk_of(self->pairs[i].a.conn));
		EXPECT_EQ(i != 3, !!trunk_of(self->pairs[i].b.conn));
	}
	ASSERT_EQ(0, receive(self, 0, DEPTH));
	/* Some in one frame, some in several, and each of its own length. */
	for (uint32_t round = 0; round < 6; round++) {
		for (int i = 0; i < 4; i++)
			ASSERT_EQ(0, send_some(self, &self->pairs[i], 1, 1 + round * 1000));
	}
	for (int i = 0; i < 24; i++) {
		int from = 0;

		ASSERT_EQ(0, ring_wait(&self->ring, &cqe, PATIENCE_MS));
		ASSERT_EQ(KRDMA_WC_SUCCESS, cqe.status);
		while (from < 4 && cqe.dest != self->pairs[from].b.id)
			from++;
		ASSERT_LT(from, 4);
		EXPECT_EQ(1 + next[from]++ * 1000, cqe.length);
		ASSERT_LT(cqe.wr_id, DEPTH);
		EXPECT_TRUE(filled(self->mr.data + cqe.wr_id * SLOT, cqe.length, 7));
		ASSERT_EQ(0, receive(self, cqe.wr_id, 1));
	}
	for (int i = 0; i < 4; i++)
		EXPECT_EQ(0, sent(&self->pairs[i], 6));
}

/*
 * Receives that wait keep memory of which the registration is to end, and the device gets them in
 * their turn: more messages come than it has receives at first.
 */
/* Proves: F16 */
TEST_F(lane_srq, a_queue_pair_gets_receives_of_memory_that_ends)
{
	struct pair_options plain = self->options;
	struct pair *pair = &self->pairs[0];
	struct krdma_cqe cqe;

	plain.a.create_flags = 0;
	plain.listen_flags = 0;
	ASSERT_EQ(0, pair_open(pair, &plain));
	ASSERT_EQ(0, receive(self, 0, DEPTH));
	EXPECT_EQ(-EBUSY, mr_deregister(self->sessions[1], self->mr.id, 0));
	ASSERT_EQ(0, mr_deregister(self->sessions[1], self->mr.id, KRDMA_DEREGISTER_LATER));
	EXPECT_EQ(-ENOENT, receive(self, 0, 1));
	ASSERT_EQ(0, send_some(self, pair, DEPTH, 1000));
	for (uint32_t i = 0; i < DEPTH; i++) {
		ASSERT_EQ(0, arrived(self, pair, 1000, &cqe));
		EXPECT_EQ(i, cqe.wr_id);
	}
	EXPECT_EQ(0, sent(pair, DEPTH));
}

/* A lane streams more than it may hold, and the receives are used again and again. */
/* Proves: F16 */
TEST_F(lane_srq, a_lane_streams)
{
	struct pair *pair = &self->pairs[0];
	struct krdma_cqe cqe;
	int posted = 0, done = 0;

	ASSERT_EQ(0, pair_open(pair, &self->options));
	ASSERT_NE(0, trunk_of(pair->a.conn));
	ASSERT_EQ(0, receive(self, 0, DEPTH));
	for (int i = 0; i < 300; i++) {
		for (; posted < 300 && posted - done < 32; posted++)
			ASSERT_EQ(0, send_some(self, pair, 1, 100 + posted));
		ASSERT_EQ(0, arrived(self, pair, 100 + i, &cqe));
		ASSERT_EQ(0, receive(self, cqe.wr_id, 1));
		while (!ring_take(pair->a.ring, &cqe)) {
			ASSERT_EQ(0, cqe.status);
			done++;
		}
	}
	EXPECT_EQ(0, sent(pair, 300 - done));
}

/* So does the end that connects, and a write with immediate data takes a receive, too. */
/* Proves: F16 */
TEST_F(lane_srq, the_connecting_end_shares)
{
	struct pair *pair = &self->pairs[0];
	struct krdma_sqe write;
	struct krdma_cqe cqe;

	self->options.sessions[0] = self->sessions[1];
	self->options.sessions[1] = self->sessions[0];
	self->options.a.ring = &self->ring;
	self->options.a.srq = self->fd;
	self->options.b = (struct end_options) {};
	ASSERT_EQ(0, pair_open(pair, &self->options));
	ASSERT_NE(0, trunk_of(pair->a.conn));
	ASSERT_EQ(0, receive(self, 0, 4));
	for (int i = 0; i < 12; i++) {
		struct krdma_sqe send = sqe_send(pair->b.id, i, &self->source, 0, 50 + i);

		ASSERT_EQ(0, ring_submit(pair->b.ring, &send, 1, NULL));
		ASSERT_EQ(0, ring_wait(pair->b.ring, &cqe, PATIENCE_MS));
		EXPECT_EQ(KRDMA_WC_SUCCESS, cqe.status);
		ASSERT_EQ(0, ring_wait(&self->ring, &cqe, PATIENCE_MS));
		EXPECT_EQ(KRDMA_WC_SUCCESS, cqe.status);
		EXPECT_EQ(pair->a.id, cqe.dest);
		EXPECT_EQ(50 + i, cqe.length);
		ASSERT_EQ(0, receive(self, cqe.wr_id, 1));
	}
	write = sqe_remote(KRDMA_OP_WRITE_IMM, pair->b.id, 1, &self->source, 0, 64, &self->mr,
			   9 * SLOT);
	write.imm = 0x12345678;
	ASSERT_EQ(0, ring_submit(pair->b.ring, &write, 1, NULL));
	ASSERT_EQ(0, ring_wait(&self->ring, &cqe, PATIENCE_MS));
	EXPECT_EQ(KRDMA_WC_SUCCESS, cqe.status);
	EXPECT_EQ(KRDMA_CQE_IMM | KRDMA_CQE_WRITTEN,
		  cqe.flags & (KRDMA_CQE_IMM | KRDMA_CQE_WRITTEN));
	EXPECT_EQ(0x12345678, cqe.imm);
	EXPECT_TRUE(filled(self->mr.data + 9 * SLOT, 64, 7));
}

/* What one host's lanes take is its share, if the program does not replace it, and others go on. */
/* Proves: F16 */
TEST_F(lane_srq, a_peer_takes_no_more_than_its_share)
{
	struct pair_options other = self->options;
	struct pair *pairs = self->pairs;
	struct krdma_cqe cqe;
	int first;

	other.address = BOOT_ADDRESS_6;
	ASSERT_EQ(0, pair_open(&pairs[0], &self->options));
	ASSERT_EQ(0, pair_open(&pairs[1], &self->options));
	ASSERT_EQ(0, pair_open(&pairs[2], &other));
	ASSERT_EQ(trunk_of(pairs[0].a.conn), trunk_of(pairs[1].a.conn));
	ASSERT_NE(trunk_of(pairs[0].a.conn), trunk_of(pairs[2].a.conn));
	ASSERT_EQ(0, receive(self, 0, DEPTH));
	ASSERT_EQ(0, send_some(self, &pairs[0], 8, 100));
	ASSERT_EQ(0, send_some(self, &pairs[1], 8, 100));
	for (int i = 0; i < SHARE; i++)
		ASSERT_EQ(0, arrived(self, NULL, 100, &cqe));
	first = cqe.wr_id;
	/* Whatever the others want, this one has its own. */
	ASSERT_EQ(0, send_some(self, &pairs[2], SHARE, 200));
	for (int i = 0; i < SHARE; i++)
		ASSERT_EQ(0, arrived(self, &pairs[2], 200, &cqe));
	EXPECT_EQ(-ETIMEDOUT, ring_wait(&self->ring, &cqe, 100));
	/* Each that is posted replaces the oldest that was used, which was of the first host. */
	for (int i = 0; i < SHARE; i++) {
		ASSERT_EQ(0, receive(self, first, 1));
		ASSERT_EQ(0, arrived(self, NULL, 100, &cqe));
		first = cqe.wr_id;
	}
	EXPECT_EQ(-ETIMEDOUT, ring_wait(&self->ring, &cqe, 100));
	/* These replace those of the other host. */
	for (int i = 0; i < SHARE; i++)
		ASSERT_EQ(0, receive(self, first, 1));
	EXPECT_EQ(-ETIMEDOUT, ring_wait(&self->ring, &cqe, 100));
	for (int i = 0; i < 16 - 2 * SHARE; i++) {
		ASSERT_EQ(0, receive(self, first, 1));
		ASSERT_EQ(0, arrived(self, NULL, 100, &cqe));
	}
	EXPECT_EQ(0, sent(&pairs[0], 8));
	EXPECT_EQ(0, sent(&pairs[1], 8));
}

/* What idle lanes hold is given to those that need it: the program has posted no more. */
/* Proves: F16 */
TEST_F(lane_srq, idle_lanes_keep_nothing_from_others)
{
	struct pair *pairs = self->pairs;
	struct krdma_cqe cqe;

	/* Posted first, so the first lanes get what may be held. */
	ASSERT_EQ(0, receive(self, 0, 4));
	for (int i = 0; i < 8; i++) {
		ASSERT_EQ(0, pair_open(&pairs[i], &self->options));
		ASSERT_NE(0, trunk_of(pairs[i].a.conn));
	}
	for (int i = 7; i >= 4; i--) {
		ASSERT_EQ(0, send_some(self, &pairs[i], 1, 300 + i));
		ASSERT_EQ(0, arrived(self, &pairs[i], 300 + i, &cqe));
		EXPECT_EQ(0, sent(&pairs[i], 1));
	}
	/* And again, in the other direction. */
	ASSERT_EQ(0, receive(self, 4, 4));
	for (int i = 0; i < 4; i++) {
		ASSERT_EQ(0, send_some(self, &pairs[i], 1, 300 + i));
		ASSERT_EQ(0, arrived(self, &pairs[i], 300 + i, &cqe));
		EXPECT_EQ(0, sent(&pairs[i], 1));
	}
}

/* A lane with one message and many writes takes one receive, and leaves the others. */
/* Proves: F16 */
TEST_F(lane_srq, writes_want_no_receives)
{
	struct pair *pairs = self->pairs;
	struct krdma_sqe entries[21];
	struct krdma_cqe cqe;

	ASSERT_EQ(0, pair_open(&pairs[0], &self->options));
	ASSERT_EQ(0, pair_open(&pairs[1], &self->options));
	entries[0] = sqe_send(pairs[0].a.id, 0, &self->source, 0, 10);
	for (int i = 1; i < 21; i++)
		entries[i] = sqe_remote(KRDMA_OP_WRITE, pairs[0].a.id, i, &self->source, 0, 64,
					&self->mr, 12 * SLOT);
	ASSERT_EQ(0, ring_submit(pairs[0].a.ring, entries, 21, NULL));
	/* All that is posted is the share of the two. */
	ASSERT_EQ(0, receive(self, 0, SHARE));
	ASSERT_EQ(0, arrived(self, &pairs[0], 10, &cqe));
	EXPECT_EQ(0, sent(&pairs[0], 21));
	ASSERT_EQ(0, send_some(self, &pairs[1], SHARE - 1, 20));
	for (int i = 1; i < SHARE; i++)
		ASSERT_EQ(0, arrived(self, &pairs[1], 20, &cqe));
	EXPECT_EQ(0, sent(&pairs[1], SHARE - 1));
}

/* What a lane holds when it ends serves others, and completes to nobody. */
/* Proves: F16 */
TEST_F(lane_srq, a_lane_that_ends_gives_back)
{
	struct pair *pairs = self->pairs;
	struct krdma_cqe cqe;

	ASSERT_EQ(0, receive(self, 0, 4));
	for (int i = 0; i < 50; i++) {
		ASSERT_EQ(0, pair_open(&pairs[0], &self->options));
		ASSERT_NE(0, trunk_of(pairs[0].a.conn));
		pair_close(&pairs[0]);
		pairs[0] = (struct pair) {};
	}
	EXPECT_EQ(-EAGAIN, ring_take(&self->ring, &cqe));
	ASSERT_EQ(0, pair_open(&pairs[1], &self->options));
	ASSERT_EQ(0, send_some(self, &pairs[1], 4, 1234));
	for (int i = 0; i < 4; i++)
		ASSERT_EQ(0, arrived(self, &pairs[1], 1234, &cqe));
	EXPECT_EQ(0, sent(&pairs[1], 4));
}

/* A message that does not fit ends its lane alone, and takes one receive. */
/* Proves: F16 */
TEST_F(lane_srq, a_message_that_does_not_fit_ends_one_lane)
{
	struct pair *pairs = self->pairs;
	struct krdma_sqe small = sqe_receive(self->id, 15, &self->mr, 0, 10);
	struct krdma_cqe cqe;

	ASSERT_EQ(0, pair_open(&pairs[0], &self->options));
	ASSERT_EQ(0, pair_open(&pairs[1], &self->options));
	ASSERT_EQ(0, srq_post(self->fd, &small, 1));
	ASSERT_EQ(0, send_some(self, &pairs[0], 1, 11));
	ASSERT_EQ(0, ring_wait(&self->ring, &cqe, PATIENCE_MS));
	EXPECT_EQ(KRDMA_WC_LOC_LEN_ERR, cqe.status);
	EXPECT_EQ(15, cqe.wr_id);
	EXPECT_EQ(pairs[0].b.id, cqe.dest);
	EXPECT_EQ(0, conn_await_closed(pairs[0].b.conn, PATIENCE_MS));
	ASSERT_EQ(0, receive(self, 0, 2));
	ASSERT_EQ(0, send_some(self, &pairs[1], 1, 11));
	ASSERT_EQ(0, arrived(self, &pairs[1], 11, &cqe));
}

/* Many lanes without descriptors take receives of one SRQ. */
/* Proves: F16 */
TEST_F(lane_srq, numbers_share)
{
	struct krdma_conns_args args = { .size = sizeof(args), .flags = KRDMA_CONNS_SRQ };
	struct krdma_conns_entry entry = {};
	struct krdma_cqe cqe;
	struct pair *pair = &self->pairs[0];
	uint32_t done;
	int error;

	ASSERT_EQ(0, pair_begin(pair, &self->options));
	pair->create_flags = KRDMA_CONN_CREATE_LANE;
	ASSERT_EQ(0, end_ask(&pair->a, pair->sessions[0], &pair->address, &self->options.a));
	ASSERT_EQ(0, conns_request(pair->sessions[1], KRDMA_CONNS_TAKE, 0, pair->listener, &entry,
				   1, deadline_in(PATIENCE_MS), &done, &error));
	ASSERT_EQ(1, done);
	args.entries = (uintptr_t)&entry;
	args.count = 1;
	args.fd = self->ring.fd;
	args.srq_fd = self->fd;
	args.recv_depth = 1;
	EXPECT_EQ(-EINVAL, session_request(pair->sessions[1], KRDMA_CONNS_ACCEPT, &args));
	args.recv_depth = 0;
	args.flags = 0;
	EXPECT_EQ(-EINVAL, session_request(pair->sessions[1], KRDMA_CONNS_ACCEPT, &args));
	args.flags = KRDMA_CONNS_SRQ;
	args.reserved = 1;
	EXPECT_EQ(-EOPNOTSUPP, session_request(pair->sessions[1], KRDMA_CONNS_ACCEPT, &args));
	args.reserved = 0;
	ASSERT_EQ(0, session_request(pair->sessions[1], KRDMA_CONNS_ACCEPT, &args));
	ASSERT_EQ(1, args.done);
	ASSERT_EQ(0, conn_wait(pair->a.conn, deadline_in(PATIENCE_MS), NULL));
	ASSERT_EQ(0, receive(self, 0, 8));
	ASSERT_EQ(0, send_some(self, pair, 4, 77));
	for (int i = 0; i < 4; i++) {
		do {
			ASSERT_EQ(0, ring_wait(&self->ring, &cqe, PATIENCE_MS));
		} while (cqe.opcode == KRDMA_OP_EVENT);
		EXPECT_EQ(KRDMA_WC_SUCCESS, cqe.status);
		EXPECT_EQ(entry.id, cqe.dest);
		EXPECT_EQ(77, cqe.length);
	}
	EXPECT_EQ(0, conns_close(pair->sessions[1], &entry, 1, &done, &error));
}

/* What is refused, and leaves everything as it was. */
/* Proves: F16 */
TEST_F(lane_srq, what_is_refused)
{
	struct krdma_sqe without = sqe_receive(self->id, 1, NULL, 0, 0);
	struct pair *pair = &self->pairs[0];
	struct krdma_sqe entry;
	struct krdma_cqe cqe;
	struct mr other;
	uint32_t id;
	int fd;

	EXPECT_EQ(-EOPNOTSUPP, srq_create(self->sessions[1], self->ring.fd, self->device, 2, 8, &fd,
					  &id));
	/* Memory that lanes cannot use; no memory at all is right. */
	ASSERT_EQ(0, mr_create(self->sessions[1], self->device, 4096, ACCESS_ALL, &other));
	entry = sqe_receive(self->id, 1, &other, 0, 4096);
	EXPECT_EQ(-EOPNOTSUPP, srq_post(self->fd, &entry, 1));
	ASSERT_EQ(0, srq_post(self->fd, &without, 1));
	/* An SRQ that is not for lanes. */
	ASSERT_EQ(0, srq_create(self->sessions[1], self->ring.fd, self->device, 0, 8, &fd, &id));
	self->options.b.srq = fd;
	EXPECT_EQ(-EOPNOTSUPP, pair_open(pair, &self->options));
	self->options.b.srq = self->fd;
	EXPECT_EQ(0, end_create_qp(&pair->b, &self->options.b));
	EXPECT_EQ(0, end_accept(&pair->b, &self->options.b));
	EXPECT_EQ(0, pair_established(pair));
	/* The receive without memory takes an empty message; the lane has none of its own. */
	entry = sqe_receive(pair->b.id, 1, &self->mr, 0, 4096);
	EXPECT_EQ(-ENOENT, ring_submit(&self->ring, &entry, 1, NULL));
	ASSERT_EQ(0, send_some(self, pair, 1, 0));
	ASSERT_EQ(0, ring_wait(&self->ring, &cqe, PATIENCE_MS));
	EXPECT_EQ(KRDMA_WC_SUCCESS, cqe.status);
	EXPECT_EQ(0, cqe.length);
	close(fd);
	mr_destroy(&other);
}

TEST_HARNESS_MAIN
