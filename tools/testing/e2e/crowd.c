// SPDX-License-Identifier: GPL-2.0
/*
 * An SRQ whose receives greedy peers use up: another peer waits, and continues as soon as the
 * program posts receives again, however many greedy peers there are.
 */
#include <errno.h>
#include <fcntl.h>

#include "kselftest_harness.h"
#include "pair.h"
#include "session.h"

#define DEPTH		16
#define GREEDY		3
/* Messages in flight of each greedy peer. */
#define SPAN		16
/* Messages that the other peer must complete. */
#define HONEST		20
#define STARVED_MS	1500

FIXTURE(crowd)
{
	int session;
	uint32_t device;
	struct ring ring;
	int srq;
	uint32_t srq_id;
	struct pair greedy[GREEDY];
	struct pair honest;
	unsigned int taken[GREEDY];
	unsigned int got_through;
	unsigned int posted;
};

FIXTURE_SETUP(crowd)
{
	struct krdma_srq_create_args create = { .size = sizeof(create), .depth = DEPTH };
	struct ring_options many = { .cq_entries = 1024 };
	struct pair_options options = { .a.send_depth = SPAN };

	self->session = session_open(O_CLOEXEC);
	ASSERT_LE(0, self->session);
	ASSERT_EQ(0, boot_device(self->session, &self->device));
	ASSERT_EQ(0, ring_create(self->session, &many, &self->ring));
	create.device_id = self->device;
	create.ring_fd = self->ring.fd;
	ASSERT_EQ(0, session_request(self->session, KRDMA_SRQ_CREATE, &create));
	self->srq = create.fd;
	self->srq_id = create.id;
	options.b.ring = &self->ring;
	options.b.srq = self->srq;
	options.sessions[1] = self->session;
	for (int i = 0; i < GREEDY; i++)
		ASSERT_EQ(0, pair_open(&self->greedy[i], &options));
	ASSERT_EQ(0, pair_open(&self->honest, &options));
}

FIXTURE_TEARDOWN(crowd)
{
	for (int i = 0; i < GREEDY; i++)
		pair_close(&self->greedy[i]);
	pair_close(&self->honest);
	close(self->srq);
	ring_close(&self->ring);
	close(self->session);
}

static int post_receives(int srq, uint32_t id, unsigned int count)
{
	struct krdma_sqe receive = sqe_receive(id, 0, NULL, 0, 0);
	struct krdma_ring_post_args post = {
		.size = sizeof(post), .entries = (uintptr_t)&receive, .count = 1,
	};
	int ret = 0;

	while (count-- && !ret) {
		ret = session_request(srq, KRDMA_SRQ_POST, &post);
		if (!ret)
			ret = post.error;
	}
	return ret;
}

static int send_one(struct pair *pair)
{
	struct krdma_sqe send = sqe_send(pair->a.id, 0, NULL, 0, 0);

	return ring_submit(pair->a.ring, &send, 1, NULL);
}

/* Each greedy peer sends again for each completed send. */
static int be_greedy(struct pair *pairs)
{
	struct krdma_cqe cqe;
	int ret = 0;

	for (int i = 0; i < GREEDY && !ret; i++)
		while (!ret && !ring_take(pairs[i].a.ring, &cqe))
			ret = cqe.status ? -EPROTO : send_one(&pairs[i]);
	return ret;
}

/* Takes receives from the CQ and counts them by peer; returns their number. */
static unsigned int count_received(struct ring *ring, const struct pair *greedy,
				   const struct pair *honest, unsigned int *taken,
				   unsigned int *got_through)
{
	unsigned int received = 0;
	struct krdma_cqe cqe;

	while (!ring_take(ring, &cqe)) {
		if (cqe.opcode != KRDMA_OP_RECV || cqe.status)
			continue;
		received++;
		*got_through += cqe.dest == honest->b.id;
		for (int i = 0; i < GREEDY; i++)
			taken[i] += cqe.dest == greedy[i].b.id;
	}
	return received;
}

TEST_F_TIMEOUT(crowd, one_who_waits_gets_on_when_receives_are_posted, 240)
{
	uint64_t deadline, begun;
	unsigned int received = 0, sent = 1, done = 0;
	struct krdma_cqe cqe;

	for (int i = 0; i < GREEDY; i++)
		for (int j = 0; j < SPAN; j++)
			ASSERT_EQ(0, send_one(&self->greedy[i]));
	ASSERT_EQ(0, post_receives(self->srq, self->srq_id, DEPTH));
	deadline = now_ms() + PATIENCE_MS;
	while (received < DEPTH && now_ms() < deadline) {
		received += count_received(&self->ring, self->greedy, &self->honest,
					   self->taken, &self->got_through);
		ASSERT_EQ(0, be_greedy(self->greedy));
		sleep_ms(1);
	}
	ASSERT_EQ(DEPTH, received);

	/* No receive is left, for a long time: this must not end any connection. */
	ASSERT_EQ(0, send_one(&self->honest));
	EXPECT_EQ(-ETIMEDOUT, ring_wait(self->honest.a.ring, &cqe, STARVED_MS));
	EXPECT_EQ(-EAGAIN, ring_take(&self->ring, &cqe));
	EXPECT_EQ(KRDMA_CONN_CONNECTED, conn_state(self->honest.a.conn));

	/* The program now posts a receive for each one taken, and the greedy peers go on. */
	ASSERT_EQ(0, post_receives(self->srq, self->srq_id, DEPTH));
	begun = now_ms();
	deadline = begun + 2 * PATIENCE_MS;
	while (done < HONEST && now_ms() < deadline) {
		received = count_received(&self->ring, self->greedy, &self->honest, self->taken,
					  &self->got_through);
		ASSERT_EQ(0, post_receives(self->srq, self->srq_id, received));
		ASSERT_EQ(0, be_greedy(self->greedy));
		while (!ring_take(self->honest.a.ring, &cqe)) {
			ASSERT_EQ(KRDMA_WC_SUCCESS, cqe.status);
			done++;
			if (sent < HONEST) {
				ASSERT_EQ(0, send_one(&self->honest));
				sent++;
			}
		}
	}
	printf("# %u messages of one in %u ms beside %u, %u and %u of greedy peers\n", done,
	       (unsigned int)(now_ms() - begun), self->taken[0], self->taken[1], self->taken[2]);
	/* A send's completion can come before that of its receive. */
	while (self->got_through < HONEST && now_ms() < deadline) {
		count_received(&self->ring, self->greedy, &self->honest, self->taken,
			       &self->got_through);
		sleep_ms(1);
	}
	EXPECT_EQ(HONEST, done);
	EXPECT_EQ(HONEST, self->got_through);
	/* The greedy peers continued meanwhile; a single one of them may have starved. */
	EXPECT_LT(DEPTH, self->taken[0] + self->taken[1] + self->taken[2]);
}

TEST_HARNESS_MAIN
