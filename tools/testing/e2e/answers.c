// SPDX-License-Identifier: GPL-2.0
/*
 * -EFAULT means that nothing has happened.  An ioctl whose structure cannot be written back
 * does nothing.  If the memory is unmapped while the ioctl runs, an ioctl that cannot be undone
 * succeeds.  abi.c tests this for all ioctls; here are those whose effect shows elsewhere.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "pair.h"
#include "session.h"

FIXTURE(answer)
{
	struct pair pair;
	struct mr mr;
	void *page;
};

FIXTURE_SETUP(answer)
{
	ASSERT_EQ(0, pair_open(&self->pair, NULL));
	ASSERT_EQ(0, mr_create(self->pair.sessions[0], self->pair.device, 4096, ACCESS_ALL,
			       &self->mr));
	self->page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_TRUE(self->page != MAP_FAILED);
}

FIXTURE_TEARDOWN(answer)
{
	munmap(self->page, 4096);
	mr_destroy(&self->mr);
	pair_close(&self->pair);
}

static struct krdma_sqe write_one(const struct end *end, const struct mr *mr,
				  uint64_t wr_id)
{
	return sqe_remote(KRDMA_OP_WRITE, end->id, wr_id, mr, 0, 8, mr, 1024);
}

static uint64_t sends_posted(int conn)
{
	struct krdma_conn_query_args query;

	return conn_query(conn, NULL, 0, &query) ? UINT64_MAX : query.sends_posted;
}

TEST_F(answer, what_is_posted_without_an_answer_is_not_posted)
{
	struct end *a = &self->pair.a;
	struct krdma_sqe entry = write_one(a, &self->mr, 1);
	struct krdma_ring_post_args *post = self->page;

	*post = (struct krdma_ring_post_args) {
		.size = sizeof(*post), .entries = (uintptr_t)&entry, .count = 1,
	};
	ASSERT_EQ(0, mprotect(self->page, 4096, PROT_READ));
	EXPECT_EQ(-EFAULT, session_request(a->ring->fd, KRDMA_RING_POST, post));
	EXPECT_EQ(0, sends_posted(a->conn));
	ASSERT_EQ(0, mprotect(self->page, 4096, PROT_READ | PROT_WRITE));
	EXPECT_EQ(0, session_request(a->ring->fd, KRDMA_RING_POST, post));
	EXPECT_EQ(1, post->accepted);
	EXPECT_EQ(1, sends_posted(a->conn));
}

TEST_F(answer, what_is_submitted_without_an_answer_is_not_submitted)
{
	struct end *a = &self->pair.a;
	struct krdma_sqe entry = write_one(a, &self->mr, 1);
	struct krdma_ring_enter_args *enter = self->page;

	*enter = (struct krdma_ring_enter_args) { .size = sizeof(*enter), .to_submit = 1 };
	ASSERT_EQ(0, ring_put(a->ring, &entry, 1));
	ASSERT_EQ(0, mprotect(self->page, 4096, PROT_READ));
	EXPECT_EQ(-EFAULT, session_request(a->ring->fd, KRDMA_RING_ENTER, enter));
	EXPECT_EQ(0, a->ring->header->sq_head);
	EXPECT_EQ(0, sends_posted(a->conn));
	ASSERT_EQ(0, mprotect(self->page, 4096, PROT_READ | PROT_WRITE));
	EXPECT_EQ(0, session_request(a->ring->fd, KRDMA_RING_ENTER, enter));
	EXPECT_EQ(1, enter->submitted);
}

/* An ioctl in a thread of its own, while the test unmaps the ioctl's structure. */
struct call {
	int fd;
	unsigned long request;
	void *argument;
	int result;
	pthread_t thread;
};

static void *call_run(void *argument)
{
	struct call *call = argument;

	call->result = session_request(call->fd, call->request, call->argument);
	return NULL;
}

/* Waits until *@word differs from @before; false if it stays the same. */
static bool changes(const uint32_t *word, uint32_t before)
{
	uint64_t deadline = now_ms() + 2000;

	while (__atomic_load_n(word, __ATOMIC_ACQUIRE) == before && now_ms() < deadline)
		sleep_ms(1);
	return __atomic_load_n(word, __ATOMIC_ACQUIRE) != before;
}

TEST_F(answer, what_was_submitted_is_no_fault_when_the_answer_goes)
{
	struct end *a = &self->pair.a;
	struct krdma_sqe entry = write_one(a, &self->mr, 1);
	struct call call = { .fd = a->ring->fd, .request = KRDMA_RING_ENTER,
			     .argument = self->page };

	*(struct krdma_ring_enter_args *)self->page = (struct krdma_ring_enter_args) {
		.size = sizeof(struct krdma_ring_enter_args),
		.to_submit = 1,
		.min_complete = 2,
		.deadline_ns = deadline_in(PATIENCE_MS),
	};
	ASSERT_EQ(0, ring_put(a->ring, &entry, 1));
	ASSERT_EQ(0, pthread_create(&call.thread, NULL, call_run, &call));
	EXPECT_TRUE(changes(&a->ring->header->sq_head, 0));
	EXPECT_EQ(0, munmap(self->page, 4096));
	/* The ioctl waits for a second completion. */
	EXPECT_EQ(0, ring_post(a->ring->fd, &entry, 1, NULL));
	pthread_join(call.thread, NULL);
	EXPECT_EQ(0, call.result);
	EXPECT_EQ(2, sends_posted(a->conn));
}

TEST_F(answer, the_peer_that_was_taken_stays_when_the_answer_goes)
{
	struct krdma_listener_next_args *next = self->page;
	struct call call = { .fd = self->pair.listener, .request = KRDMA_LISTENER_NEXT,
			     .argument = self->page };
	struct krdma_conn_query_args query;
	struct end client, server;
	int fd;

	*next = (struct krdma_listener_next_args) {
		.size = sizeof(*next), .deadline_ns = deadline_in(PATIENCE_MS), .fd = -1,
	};
	ASSERT_EQ(0, pthread_create(&call.thread, NULL, call_run, &call));
	/* The new descriptor is written before a peer arrives. */
	EXPECT_TRUE(changes((uint32_t *)&next->fd, UINT32_MAX));
	fd = next->fd;
	EXPECT_EQ(0, munmap(self->page, 4096));
	end_init(&client, self->pair.sessions[0]);
	EXPECT_EQ(0, end_ask(&client, self->pair.sessions[0], &self->pair.address, NULL));
	pthread_join(call.thread, NULL);
	EXPECT_EQ(0, call.result);
	ASSERT_EQ(0, conn_query(fd, NULL, 0, &query));
	EXPECT_EQ(KRDMA_CONN_REQUESTED, query.state);

	end_init(&server, self->pair.sessions[0]);
	server.conn = fd;
	server.id = query.id;
	EXPECT_EQ(0, end_create_qp(&server, NULL));
	EXPECT_EQ(0, end_accept(&server, NULL));
	EXPECT_EQ(0, conn_wait(client.conn, deadline_in(PATIENCE_MS), NULL));
	end_close(&client);
	end_close(&server);
}

TEST_F(answer, a_wait_for_a_peer_that_ends_leaves_no_answer)
{
	struct krdma_listener_next_args next = {
		.size = sizeof(next), .deadline_ns = deadline_in(20), .fd = -7, .id = 7,
	};

	EXPECT_EQ(-ETIMEDOUT, session_request(self->pair.listener, KRDMA_LISTENER_NEXT, &next));
	EXPECT_EQ(-7, next.fd);
	EXPECT_EQ(7, next.id);
}

TEST_HARNESS_MAIN
