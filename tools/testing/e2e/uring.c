// SPDX-License-Identifier: GPL-2.0
/*
 * krdma's file descriptors in a program whose event loop uses io_uring.
 */
#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <poll.h>

#include "kselftest_harness.h"
#include "pair.h"
#include "session.h"

FIXTURE(uring)
{
	struct io_uring header;
	struct pair pair;
	struct mr mr;
};

FIXTURE_VARIANT(uring)
{
	struct end_options end;
};

/* clang-format off */
FIXTURE_VARIANT_ADD(uring, event) {};
FIXTURE_VARIANT_ADD(uring, polled) { .end.ring_options.flags = KRDMA_RING_POLLED };

/* clang-format on */

FIXTURE_SETUP(uring)
{
	ASSERT_EQ(0, io_uring_queue_init(16, &self->header, 0));
	ASSERT_EQ(0, pair_begin(&self->pair, NULL));
	ASSERT_EQ(0, mr_create(self->pair.sessions[0], self->pair.device, 4096, ACCESS_ALL,
			       &self->mr));
}

FIXTURE_TEARDOWN(uring)
{
	mr_destroy(&self->mr);
	pair_close(&self->pair);
	io_uring_queue_exit(&self->header);
}

static struct io_uring_sqe *entry(FIXTURE_DATA(uring) * self, uint64_t number)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&self->header);

	io_uring_sqe_set_data64(sqe, number);
	return sqe;
}

/* The result of the io_uring entry with user data @number, or -ETIMEDOUT. */
static int answer(FIXTURE_DATA(uring) * self, uint64_t number)
{
	struct __kernel_timespec patience = { .tv_sec = PATIENCE_MS / 1000 };
	struct io_uring_cqe *cqe;
	int ret = io_uring_wait_cqe_timeout(&self->header, &cqe, &patience);

	if (ret)
		return ret == -ETIME ? -ETIMEDOUT : ret;
	ret = cqe->user_data == number ? cqe->res : -EPROTO;
	io_uring_cqe_seen(&self->header, cqe);
	return ret;
}

static bool unanswered(FIXTURE_DATA(uring) * self)
{
	struct io_uring_cqe *cqe;

	return io_uring_peek_cqe(&self->header, &cqe) == -EAGAIN;
}

/* Proves: F2 */
TEST_F(uring, polls_a_listener_and_a_queue)
{
	struct end *a = &self->pair.a, *b = &self->pair.b;
	struct krdma_sqe receive, send;
	struct krdma_cqe cqe;

	io_uring_prep_poll_add(entry(self, 1), self->pair.listener, POLLIN);
	ASSERT_EQ(1, io_uring_submit(&self->header));
	EXPECT_TRUE(unanswered(self));
	ASSERT_EQ(0, end_ask(a, self->pair.sessions[0], &self->pair.address,
			     &variant->end));
	EXPECT_EQ(POLLIN, answer(self, 1));
	ASSERT_EQ(0, listener_next(self->pair.listener, 0, &b->conn, &b->id));
	ASSERT_EQ(0, end_create_qp(b, &variant->end));
	ASSERT_EQ(0, end_accept(b, NULL));
	ASSERT_EQ(0, pair_established(&self->pair));

	receive = sqe_receive(b->id, 7, NULL, 0, 0);
	ASSERT_EQ(0, ring_submit(b->ring, &receive, 1, NULL));
	io_uring_prep_poll_add(entry(self, 2), b->ring->fd, POLLIN);
	ASSERT_EQ(1, io_uring_submit(&self->header));
	EXPECT_TRUE(unanswered(self));
	send = sqe_send(a->id, 8, &self->mr, 0, 0);
	ASSERT_EQ(0, ring_submit(a->ring, &send, 1, NULL));
	EXPECT_EQ(POLLIN, answer(self, 2));
	ASSERT_EQ(0, ring_wait(b->ring, &cqe, 0));
	EXPECT_EQ(7, cqe.wr_id);
	EXPECT_EQ(KRDMA_WC_SUCCESS, cqe.status);
}

/* A read without a record waits in the io_uring, and the program does not block. */
/* Proves: F2 */
TEST_F(uring, reads_events)
{
	struct krdma_event_record record;
	struct end *a = &self->pair.a;
	static const uint32_t types[] = {
		KRDMA_EVENT_ADDR_RESOLVED, KRDMA_EVENT_ROUTE_RESOLVED, KRDMA_EVENT_ESTABLISHED,
		KRDMA_EVENT_DISCONNECTED, KRDMA_EVENT_CLOSED,
	};

	ASSERT_EQ(0, pair_connect(&self->pair, NULL));
	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		io_uring_prep_read(entry(self, i), a->conn, &record, sizeof(record), 0);
		ASSERT_EQ(1, io_uring_submit(&self->header));
		if (types[i] == KRDMA_EVENT_DISCONNECTED) {
			EXPECT_TRUE(unanswered(self));
			ASSERT_EQ(0, conn_disconnect(self->pair.b.conn, 0));
		}
		ASSERT_EQ(sizeof(record), answer(self, i));
		EXPECT_EQ(types[i], record.type);
	}
	io_uring_prep_read(entry(self, 9), a->conn, &record, sizeof(record), 0);
	ASSERT_EQ(1, io_uring_submit(&self->header));
	EXPECT_EQ(0, answer(self, 9));
}

/* The ring keeps the file while it waits; closing it cancels nothing else. */
/* Proves: F2 */
TEST_F(uring, closes)
{
	struct end *a = &self->pair.a;
	int conn;

	ASSERT_EQ(0, pair_connect(&self->pair, NULL));
	conn = a->conn;
	io_uring_prep_poll_add(entry(self, 1), self->pair.b.conn, POLLRDHUP);
	ASSERT_EQ(1, io_uring_submit(&self->header));
	EXPECT_TRUE(unanswered(self));
	io_uring_prep_close(entry(self, 2), conn);
	ASSERT_EQ(1, io_uring_submit(&self->header));
	a->conn = -1;
	/* The order of the two completions is not defined. */
	for (int i = 0; i < 2; i++) {
		struct io_uring_cqe *cqe;

		ASSERT_EQ(0, io_uring_wait_cqe(&self->header, &cqe));
		EXPECT_TRUE(cqe->user_data == 2 ? !cqe->res : cqe->res & POLLRDHUP) {
			TH_LOG("%u answers %d", (unsigned int)cqe->user_data, cqe->res);
		}
		io_uring_cqe_seen(&self->header, cqe);
	}
	EXPECT_EQ(0, conn_await_closed(self->pair.b.conn, PATIENCE_MS));
	EXPECT_EQ(-EBADF, conn_wait(conn, 0, NULL));
}

TEST_HARNESS_MAIN
