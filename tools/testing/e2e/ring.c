// SPDX-License-Identifier: GPL-2.0
/*
 * Rings: creation, free entries, and waiting for completions.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "interrupt.h"
#include "pair.h"
#include "session.h"

FIXTURE(ring)
{
	struct pair pair;
	struct end *a;
	struct end *b;
	struct mr mr;
};

FIXTURE_VARIANT(ring)
{
	uint32_t flags;
};

/* clang-format off */
FIXTURE_VARIANT_ADD(ring, event) {};
FIXTURE_VARIANT_ADD(ring, polled) { .flags = KRDMA_RING_POLLED };

/* clang-format on */

FIXTURE_SETUP(ring)
{
	struct end_options options = {
		.send_depth = 32, .recv_depth = 32,
		.ring_options = { .flags = variant->flags, .cq_entries = 128 },
	};

	ASSERT_EQ(0, pair_open(&self->pair, &(struct pair_options) {
		.a = options, .b = options }));
	self->a = &self->pair.a;
	self->b = &self->pair.b;
	ASSERT_EQ(0, mr_create(self->a->session, self->pair.device, 65536, ACCESS_ALL,
			       &self->mr));
}

FIXTURE_TEARDOWN(ring)
{
	mr_destroy(&self->mr);
	pair_close(&self->pair);
}

/* A write, because it needs no receive of the peer. */
static struct krdma_sqe write_entry(const struct end *end, const struct mr *mr,
				    uint64_t wr_id)
{
	return sqe_remote(KRDMA_OP_WRITE, end->id, wr_id, mr, 0, 8, mr, 1024);
}

static int write_some(const struct end *end, const struct mr *mr, uint64_t first,
		      uint32_t count)
{
	struct krdma_sqe entries[32];

	for (uint32_t i = 0; i < count; i++)
		entries[i] = write_entry(end, mr, first + i);
	return ring_post(end->ring->fd, entries, count, NULL);
}

#define WRITE(wr_id)			write_entry(self->a, &self->mr, wr_id)
#define WRITE_SOME(first, count)	write_some(self->a, &self->mr, first, count)

TEST_F(ring, what_is_granted)
{
	static const struct ring_options asked[] = {
		{}, { .sq_entries = 1, .cq_entries = 1 }, { .sq_entries = 3, .cq_entries = 5 },
		{ .sq_entries = 64, .cq_entries = 64 }, { .sq_entries = 65, .cq_entries = 1000 },
		{ .sq_entries = 4096, .cq_entries = 4096 },
	};
	struct krdma_ring_query_args query;
	struct ring ring;

	for (size_t i = 0; i < ARRAY_SIZE(asked); i++) {
		struct ring_options options = asked[i];
		const struct krdma_ring_header *header;

		options.flags = variant->flags;
		ASSERT_EQ(0, ring_create(self->a->session, &options, &ring));
		header = ring.header;
		EXPECT_LE(options.sq_entries ?: 64, ring.sq_entries);
		EXPECT_LE(options.cq_entries ?: 256, ring.cq_entries + KRDMA_RING_EXTRA);
		EXPECT_EQ(0, ring.sq_entries & (ring.sq_entries - 1));
		EXPECT_EQ(0, ring.cq_entries & (ring.cq_entries - 1));
		EXPECT_EQ(0, header->sq_head | header->sq_tail | header->cq_head | header->cq_tail |
			  header->cq_flags);
		EXPECT_LE(sizeof(*header), header->sqe_offset);
		EXPECT_LE(header->sqe_offset + ring.sq_entries * sizeof(struct krdma_sqe),
			  ring.size);
		EXPECT_LE(header->cqe_offset + ring.cq_entries * sizeof(struct krdma_cqe),
			  ring.size);
		EXPECT_TRUE(zeroed((char *)header + sizeof(*header), ring.size - sizeof(*header)));
		ASSERT_EQ(0, ring_query(ring.fd, &query));
		EXPECT_EQ(ring.sq_entries, query.sq_entries);
		EXPECT_EQ(ring.cq_entries, query.cq_entries);
		EXPECT_EQ(0, query.device_id);
		EXPECT_EQ(ring.size, query.ring_size);
		EXPECT_EQ(header->sqe_offset, query.sqe_offset);
		EXPECT_EQ(header->cqe_offset, query.cqe_offset);
		EXPECT_EQ(variant->flags, query.ring_flags);
		ring_close(&ring);
	}
	ASSERT_EQ(0, ring_query(self->a->ring->fd, &query));
	EXPECT_EQ(self->pair.device, query.device_id);
}

TEST_F(ring, what_is_refused)
{
	struct ring ring;

#define REFUSED(error, ...) \
	EXPECT_EQ(error, ring_create(self->a->session, &(struct ring_options) {	\
		.flags = variant->flags, __VA_ARGS__ }, &ring))
	REFUSED(-EINVAL, .sq_entries = KRDMA_RING_ENTRIES_MAX + 1);
	REFUSED(-EINVAL, .cq_entries = KRDMA_RING_ENTRIES_MAX + 1);
	REFUSED(-EINVAL, .sq_entries = UINT32_MAX);
	REFUSED(-EINVAL, .cq_entries = 0x80000001);
	REFUSED(-ENODEV, .device_id = UINT32_MAX);
	REFUSED(-EINVAL, .vector = 1);
#undef REFUSED
}

/* On any number of CPUs: a device has at least one vector, and no vector number is too large. */
/* Proves: E11 */
TEST_F(ring, completion_vectors)
{
	static const uint32_t vectors[] = { 0, 1, 2, 4711, INT32_MAX };
	struct krdma_ring_query_args query;
	struct pair pair;

	for (size_t i = 0; i < ARRAY_SIZE(vectors); i++) {
		const struct end_options end = { .ring_options = {
			.flags = variant->flags | KRDMA_RING_VECTOR, .vector = vectors[i] } };

		ASSERT_EQ(0, pair_open(&pair, &(struct pair_options) {
			.sessions = { self->a->session, self->a->session }, .a = end, .b = end }));
		EXPECT_EQ(KRDMA_WC_SUCCESS,
			  pair_operate(&pair, write_entry(&pair.a, &self->mr, 1)));
		EXPECT_EQ(0, ring_query(pair.a.ring->fd, &query));
		EXPECT_EQ(end.ring_options.flags, query.ring_flags);
		EXPECT_EQ(vectors[i], query.vector);
		pair_close(&pair);
	}
}

TEST_F(ring, only_the_whole_of_it_can_be_mapped)
{
	size_t page = sysconf(_SC_PAGESIZE), size = self->a->ring->size;
	int fd = self->a->ring->fd;
	void *map;

#define REFUSED(length, prot, flags, offset) \
	EXPECT_TRUE(mmap(NULL, length, prot, flags, fd, offset) == MAP_FAILED)
	REFUSED(size + page, PROT_READ | PROT_WRITE, MAP_SHARED, 0);
	REFUSED(size, PROT_READ | PROT_WRITE, MAP_SHARED, page);
	REFUSED(size, PROT_READ | PROT_WRITE, MAP_PRIVATE, 0);
	if (size > page)
		REFUSED(size - page, PROT_READ | PROT_WRITE, MAP_SHARED, 0);
#undef REFUSED
	map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ASSERT_TRUE(map != MAP_FAILED);
	EXPECT_EQ(self->a->ring->cq_entries, ((struct krdma_ring_header *)map)->cq_entries);
	munmap(map, size);
}

/* The mapping outlives the file descriptor, but no more completions arrive in it. */
TEST_F(ring, the_mapping_outlives_the_descriptor)
{
	struct ring ring;
	struct krdma_ring_header *header;

	ASSERT_EQ(0, ring_create(self->a->session, NULL, &ring));
	header = ring.header;
	close(ring.fd);
	EXPECT_EQ(64, header->sq_entries);
	header->sq_tail = 7;
	EXPECT_EQ(0, header->sq_head);
	munmap(header, ring.size);
}

TEST_F(ring, completions_come_without_a_request)
{
	uint64_t end = now_ms() + PATIENCE_MS;
	struct krdma_cqe cqe;

	ASSERT_EQ(0, WRITE_SOME(5, 1));
	if (variant->flags & KRDMA_RING_POLLED) {
		/* A polled ring gets completions only during an ioctl. */
		sleep_ms(200);
		ASSERT_EQ(-EAGAIN, ring_take(self->a->ring, &cqe));
		ASSERT_EQ(0, ring_wait(self->a->ring, &cqe, PATIENCE_MS));
	} else {
		while (ring_take(self->a->ring, &cqe))
			ASSERT_LT(now_ms(), end);
	}
	EXPECT_EQ(5, cqe.wr_id);
}

/* Proves: D13 */
TEST_F(ring, deadlines)
{
	struct krdma_ring_enter_args enter;
	struct krdma_cqe cqe;
	uint32_t reaped;

	for (unsigned int ms = 1; ms <= 256; ms *= 4) {
		uint64_t deadline = deadline_in(ms);

		EXPECT_EQ(-ETIMEDOUT, ring_enter(self->a->ring, 0, 1, deadline, NULL));
		EXPECT_ON_TIME(deadline);
		deadline = deadline_in(ms);
		EXPECT_EQ(-ETIMEDOUT, ring_reap(self->a->ring->fd, &cqe, 1, 1, deadline,
						&reaped));
		EXPECT_ON_TIME(deadline);
	}
	EXPECT_EQ(-ETIMEDOUT, ring_enter(self->a->ring, 0, 1, 1, NULL));
	EXPECT_EQ(-ETIMEDOUT, ring_reap(self->a->ring->fd, &cqe, 1, 1, 1, &reaped));
	EXPECT_EQ(-EAGAIN, ring_reap(self->a->ring->fd, &cqe, 1, 1, 0, &reaped));
	EXPECT_EQ(-EAGAIN, ring_reap(self->a->ring->fd, &cqe, 1, 0, KRDMA_FOREVER, &reaped));
	/* With 0 completions wanted the call does not wait. */
	ASSERT_EQ(0, ring_enter(self->a->ring, 0, 0, KRDMA_FOREVER, &enter));
	EXPECT_EQ(0, enter.completed);
	EXPECT_EQ(0, enter.submitted);
}

TEST_F(ring, what_was_submitted_is_told_though_the_deadline_passes)
{
	struct krdma_sqe entry = sqe_receive(self->a->id, 1, NULL, 0, 0);
	struct krdma_ring_enter_args enter;

	ASSERT_EQ(0, ring_put(self->a->ring, &entry, 1));
	ASSERT_EQ(0, ring_enter(self->a->ring, 1, 1, deadline_in(50), &enter));
	EXPECT_EQ(1, enter.submitted);
	EXPECT_EQ(0, enter.error);
	EXPECT_EQ(0, enter.completed);
}

TEST_F(ring, no_more_is_submitted_than_asked_for_or_there)
{
	struct krdma_sqe entries[5];
	struct krdma_ring_enter_args enter;

	for (int i = 0; i < 5; i++)
		entries[i] = sqe_receive(self->a->id, i, NULL, 0, 0);
	ASSERT_EQ(0, ring_put(self->a->ring, entries, 5));
	ASSERT_EQ(0, ring_enter(self->a->ring, 2, 0, 0, &enter));
	EXPECT_EQ(2, enter.submitted);
	EXPECT_EQ(2, self->a->ring->header->sq_head);
	ASSERT_EQ(0, ring_enter(self->a->ring, UINT32_MAX, 0, 0, &enter));
	EXPECT_EQ(3, enter.submitted);
	EXPECT_EQ(5, self->a->ring->header->sq_head);
	ASSERT_EQ(0, ring_enter(self->a->ring, 1, 0, 0, &enter));
	EXPECT_EQ(0, enter.submitted);
}

struct writer {
	const struct end *end;
	const struct mr *mr;
};

static void *write_slowly(void *argument)
{
	struct writer *writer = argument;

	for (int i = 0; i < 5; i++) {
		sleep_ms(50);
		write_some(writer->end, writer->mr, i, 1);
	}
	return NULL;
}

/* Proves: D13 */
TEST_F(ring, waiting_for_several)
{
	struct writer writer = { self->a, &self->mr };
	struct krdma_ring_enter_args enter;
	struct krdma_cqe cqes[8];
	pthread_t thread;
	uint32_t reaped;

	ASSERT_EQ(0, pthread_create(&thread, NULL, write_slowly, &writer));
	ASSERT_EQ(0, ring_enter(self->a->ring, 0, 5, deadline_in(PATIENCE_MS), &enter));
	EXPECT_EQ(5, enter.completed);
	pthread_join(thread, NULL);
	ASSERT_EQ(0, ring_reap(self->a->ring->fd, cqes, 3, 8, 0, &reaped));
	EXPECT_EQ(3, reaped);
	ASSERT_EQ(0, ring_reap(self->a->ring->fd, cqes + 3, 5, 0, 0, &reaped));
	EXPECT_EQ(2, reaped);
	for (int i = 0; i < 5; i++)
		EXPECT_EQ(i, cqes[i].wr_id);

	ASSERT_EQ(0, pthread_create(&thread, NULL, write_slowly, &writer));
	ASSERT_EQ(0, ring_reap(self->a->ring->fd, cqes, 8, 4, deadline_in(PATIENCE_MS),
			       &reaped));
	EXPECT_LE(4, reaped);
	pthread_join(thread, NULL);
	/* Fewer completions than wanted, but at least one, are a success. */
	if (reaped == 4) {
		ASSERT_EQ(0, ring_enter(self->a->ring, 0, 1, deadline_in(PATIENCE_MS), NULL));
		ASSERT_EQ(0, ring_reap(self->a->ring->fd, cqes, 8, 4, deadline_in(300),
				       &reaped));
		EXPECT_EQ(1, reaped);
	}
}

static void nothing(int number)
{
	(void)number;
}

TEST_F(ring, a_signal_ends_the_wait)
{
	struct sigaction action = { .sa_handler = nothing };
	struct interrupter interrupter;
	struct krdma_cqe cqe;
	uint64_t deadline;
	uint32_t reaped;

	sigaction(SIGUSR1, &action, NULL);
	ASSERT_EQ(0, interrupter_begin(&interrupter));
	EXPECT_EQ(-EINTR, ring_enter(self->a->ring, 0, 1, KRDMA_FOREVER, NULL));
	EXPECT_EQ(-EINTR, ring_reap(self->a->ring->fd, &cqe, 1, 1, KRDMA_FOREVER, &reaped));
	interrupter_end(&interrupter);
	action.sa_flags = SA_RESTART;
	sigaction(SIGUSR1, &action, NULL);
	ASSERT_EQ(0, interrupter_begin(&interrupter));
	deadline = deadline_in(400);
	EXPECT_EQ(-ETIMEDOUT, ring_enter(self->a->ring, 0, 1, deadline, NULL));
	EXPECT_ON_TIME(deadline);
	interrupter_end(&interrupter);
}

TEST_F(ring, poll_tells_of_completions)
{
	struct krdma_cqe cqe;

	EXPECT_EQ(POLLOUT, poll_mask(self->a->ring->fd, POLLIN | POLLOUT, 0));
	EXPECT_EQ(0, poll_mask(self->a->ring->fd, POLLIN, 100));
	ASSERT_EQ(0, WRITE_SOME(9, 1));
	EXPECT_EQ(POLLIN, poll_mask(self->a->ring->fd, POLLIN, PATIENCE_MS));
	ASSERT_EQ(0, ring_wait(self->a->ring, &cqe, PATIENCE_MS));
	EXPECT_EQ(9, cqe.wr_id);
	EXPECT_EQ(0, poll_mask(self->a->ring->fd, POLLIN, 0));
}

/* Waits until the ring has that many completions. */
static int filled_by(struct ring *ring, uint32_t count, bool polled)
{
	uint64_t end = now_ms() + PATIENCE_MS;
	int ret = 0;

	while (__atomic_load_n(&ring->header->cq_tail, __ATOMIC_ACQUIRE) -
	       ring->header->cq_head != count) {
		if (ret || now_ms() > end)
			return ret ?: -ETIMEDOUT;
		/* Nothing else moves completions to a polled ring. */
		if (polled)
			ret = ring_enter(ring, 0, 0, 0, NULL);
		else
			usleep(1000);
	}
	return 0;
}

/*
 * At once come more completions than the ring has room for.  The program takes what is in the ring
 * without a call, and poll() tells of the rest, wherever it waits.
 */
/* Proves: D13 */
TEST_F(ring, poll_tells_of_what_did_not_fit)
{
	struct ring *ring = self->a->ring;
	uint32_t total = ring->cq_entries + 16;
	struct krdma_cqe cqe;

	for (int round = 0; round < 5; round++) {
		uint32_t posted = 0, taken = 0;

		for (; posted < ring->cq_entries - 16; posted += 16) {
			ASSERT_EQ(0, WRITE_SOME(posted, 16));
			ASSERT_EQ(0, filled_by(ring, posted + 16, variant->flags));
		}
		ASSERT_EQ(0, WRITE_SOME(posted, 32));
		ASSERT_EQ(0, filled_by(ring, ring->cq_entries, variant->flags));
		while (taken < total) {
			ASSERT_EQ(POLLIN, poll_mask(ring->fd, POLLIN, PATIENCE_MS));
			if (taken)
				ASSERT_EQ(0, ring_enter(ring, 0, 0, 0, NULL));
			while (!ring_take(ring, &cqe))
				ASSERT_EQ(taken++, cqe.wr_id);
		}
		EXPECT_EQ(0, poll_mask(ring->fd, POLLIN, 0));
	}
}

/* A thread waits in poll() before the first completion. */
/* Proves: D13 */
TEST_F(ring, poll_is_woken)
{
	struct writer writer = { self->a, &self->mr };
	struct krdma_cqe cqe;
	pthread_t thread;

	for (int i = 0; i < 3; i++) {
		ASSERT_EQ(0, pthread_create(&thread, NULL, write_slowly, &writer));
		for (int j = 0; j < 5; j++) {
			ASSERT_EQ(POLLIN, poll_mask(self->a->ring->fd, POLLIN, PATIENCE_MS));
			ASSERT_EQ(0, ring_wait(self->a->ring, &cqe, PATIENCE_MS));
			EXPECT_EQ(j, cqe.wr_id);
		}
		pthread_join(thread, NULL);
	}
}

/* The ring fills, then the kernel's backlog, then the depth is used up: nothing is lost. */
/* Proves: D13, E11 */
TEST_F(ring, a_ring_that_nobody_empties)
{
	struct ring *ring = self->a->ring;
	uint64_t posted = 0, quiet = now_ms(), taken = 0, end = quiet + PATIENCE_MS;
	struct krdma_cqe cqe;
	int ret;

	/* Until the ring is full, more completions wait, and no post succeeds for a while. */
	do {
		ret = WRITE_SOME(posted, 1);
		if (!ret) {
			posted++;
			quiet = now_ms();
		} else {
			ASSERT_EQ(-EAGAIN, ret);
			ASSERT_EQ(0, ring_enter(ring, 0, 0, 0, NULL));
		}
		ASSERT_LE(posted, 2 * ring->cq_entries);
		ASSERT_LT(now_ms(), end);
	} while (!ret || posted < ring->cq_entries + 32 || now_ms() - quiet < 500 ||
		 !(__atomic_load_n(&ring->header->cq_flags,
				   __ATOMIC_ACQUIRE) & KRDMA_RING_CQ_OVERFLOW));
	EXPECT_LE(ring->cq_entries, posted);
	EXPECT_EQ(ring->cq_entries, ring->header->cq_tail - ring->header->cq_head);
	EXPECT_EQ(KRDMA_RING_CQ_OVERFLOW, ring->header->cq_flags);
	EXPECT_EQ(POLLIN, poll_mask(ring->fd, POLLIN | POLLOUT, 0));
	EXPECT_EQ(0, poll_mask(self->a->conn, POLLOUT, 0));
	/* A full ring satisfies a wait for more completions than it can hold. */
	EXPECT_EQ(0, ring_enter(ring, 0, UINT32_MAX, KRDMA_FOREVER, NULL));

	for (;;) {
		ret = ring_take(ring, &cqe);
		if (ret == -EAGAIN && (ring->header->cq_flags & KRDMA_RING_CQ_OVERFLOW)) {
			ASSERT_EQ(0, ring_enter(ring, 0, 0, 0, NULL));
			continue;
		}
		if (ret == -EAGAIN && taken < posted)
			ret = ring_wait(ring, &cqe, PATIENCE_MS);
		if (ret)
			break;
		ASSERT_EQ(taken, cqe.wr_id);
		taken++;
	}
	EXPECT_EQ(posted, taken);
	EXPECT_EQ(0, ring->header->cq_flags);
	EXPECT_EQ(POLLOUT, poll_mask(ring->fd, POLLIN | POLLOUT, 0));
	EXPECT_EQ(POLLOUT, poll_mask(self->a->conn, POLLOUT, 0));
	EXPECT_EQ(0, WRITE_SOME(0, 32));
}

/*
 * The ring is full, more completions wait, and the depth is used up.  If the program then takes
 * the completions from the ring without a system call, the connection, too, reports free space.
 */
/* Proves: E11 */
TEST_F(ring, a_full_ring_hides_no_room)
{
	struct ring *ring = self->a->ring;
	uint64_t end = now_ms() + PATIENCE_MS;
	uint64_t posted, taken = 0;
	struct krdma_cqe cqe;

	/* Completions enter it only inside ioctls: it does not fill up by itself. */
	if (variant->flags & KRDMA_RING_POLLED)
		SKIP(return, "a polled ring is filled inside ioctls only");
	for (posted = 0; posted < ring->cq_entries; posted += 32) {
		ASSERT_EQ(0, WRITE_SOME(posted, 32));
		while (__atomic_load_n(&ring->header->cq_tail, __ATOMIC_ACQUIRE) < posted + 32 &&
		       now_ms() < end)
			sleep_ms(1);
	}
	ASSERT_EQ(0, WRITE_SOME(posted, 32));
	while (!(__atomic_load_n(&ring->header->cq_flags,
				 __ATOMIC_ACQUIRE) & KRDMA_RING_CQ_OVERFLOW) &&
	       now_ms() < end)
		sleep_ms(1);
	ASSERT_EQ(-EAGAIN, WRITE_SOME(posted + 32, 1));
	while (taken < ring->cq_entries) {
		ASSERT_EQ(0, ring_take(ring, &cqe));
		ASSERT_EQ(taken++, cqe.wr_id);
	}
	ASSERT_EQ(POLLOUT, poll_mask(self->a->conn, POLLOUT, PATIENCE_MS / 6));
	EXPECT_EQ(0, WRITE_SOME(posted + 32, 1));
	while (taken < posted + 33) {
		ASSERT_EQ(0, ring_wait(ring, &cqe, PATIENCE_MS));
		ASSERT_EQ(taken++, cqe.wr_id);
	}
}

/* Post writes, or receives, until the queue is full and stays so. */
static int post_until_full(const struct end *end, const struct mr *mr, bool receives,
			   unsigned int *posted)
{
	for (*posted = 0;;) {
		struct krdma_sqe entry = receives ? sqe_receive(end->id, *posted, NULL, 0, 0) :
						    write_entry(end, mr, *posted);
		int ret = ring_post(end->ring->fd, &entry, 1, NULL);

		if (!ret)
			++*posted;
		else if (ret != -EAGAIN)
			return ret;
		else if (!poll_mask(end->ring->fd, POLLOUT, 300))
			return 0;
	}
}

static void check_end_of_full(struct __test_metadata *_metadata, FIXTURE_DATA(ring) * self,
			      bool receives, bool by_peer)
{
	struct ring *ring = self->a->ring;
	struct krdma_cqe cqe;
	unsigned int posted;

	ASSERT_EQ(0, post_until_full(self->a, &self->mr, receives, &posted));
	ASSERT_EQ(0, poll_mask(ring->fd, POLLOUT, 0));
	if (by_peer) {
		close(self->b->conn);
		self->b->conn = -1;
		ASSERT_EQ(0, conn_await_closed(self->a->conn, PATIENCE_MS));
	} else {
		close(self->a->conn);
		self->a->conn = -1;
	}
	/* Nobody has taken a completion. */
	EXPECT_EQ(POLLOUT, poll_mask(ring->fd, POLLOUT, PATIENCE_MS));
	while (posted--)
		ASSERT_EQ(0, ring_wait(ring, &cqe, PATIENCE_MS));
	EXPECT_EQ(-EAGAIN, ring_take(ring, &cqe));
	EXPECT_EQ(POLLOUT, poll_mask(ring->fd, POLLOUT, 0));
}

/* A connection that has ended keeps the ring from no post, also with completions left. */
/* Proves: E11 */
TEST_F(ring, a_full_connection_ends_by_the_peer)
{
	check_end_of_full(_metadata, self, false, true);
}

/* Proves: E11 */
TEST_F(ring, a_full_connection_is_closed)
{
	check_end_of_full(_metadata, self, false, false);
}

/* Proves: E11 */
TEST_F(ring, a_connection_full_of_receives_ends)
{
	check_end_of_full(_metadata, self, true, true);
}

/* In each of many rounds: EAGAIN, then one event that there is free space again. */
/* Proves: E11 */
TEST_F(ring, room_is_told_of)
{
	uint64_t posted = 0, taken = 0;
	unsigned int full = 0;
	struct krdma_cqe cqe;

	while (posted < rounds(500, 300)) {
		int ret = WRITE_SOME(posted, 1);

		if (!ret) {
			posted++;
			continue;
		}
		ASSERT_EQ(-EAGAIN, ret);
		full++;
		while (!ring_take(self->a->ring, &cqe))
			ASSERT_EQ(taken++, cqe.wr_id);
		if (taken == posted)
			continue;
		if (variant->flags & KRDMA_RING_POLLED)
			ASSERT_EQ(0, ring_enter(self->a->ring, 0, 1, deadline_in(PATIENCE_MS),
						NULL));
		ASSERT_EQ(POLLOUT, poll_mask(full % 2 ? self->a->conn : self->a->ring->fd,
					     POLLOUT, PATIENCE_MS)) {
			TH_LOG("round %u, %lu posted, %lu taken", full, (unsigned long)posted,
			       (unsigned long)taken);
		}
	}
	EXPECT_LT(0, full);
	while (taken < posted) {
		ASSERT_EQ(0, ring_wait(self->a->ring, &cqe, PATIENCE_MS));
		ASSERT_EQ(taken++, cqe.wr_id);
	}
}

TEST_F(ring, a_refused_entry_stops_the_request)
{
	struct krdma_sqe entries[6];
	struct krdma_ring_enter_args enter;
	struct krdma_ring_query_args before, after;
	struct krdma_cqe cqe;
	uint32_t accepted;

	ASSERT_EQ(0, ring_query(self->a->ring->fd, &before));
	for (int i = 0; i < 6; i++)
		entries[i] = WRITE(i);
	entries[3].dest = 0x7fffffff;
	ASSERT_EQ(0, ring_put(self->a->ring, entries, 6));
	/* A call that fails to post an entry does not wait, even if completions are wanted. */
	ASSERT_EQ(0, ring_enter(self->a->ring, 6, 6, KRDMA_FOREVER, &enter));
	EXPECT_EQ(3, enter.submitted);
	EXPECT_EQ(-ENOENT, enter.error);
	EXPECT_EQ(3, self->a->ring->header->sq_head);
	/* The refused entry remains the program's: once corrected, posting continues. */
	self->a->ring->sqes[3].dest = self->a->id;
	ASSERT_EQ(0, ring_enter(self->a->ring, 6, 6, deadline_in(PATIENCE_MS), &enter));
	EXPECT_EQ(3, enter.submitted);
	EXPECT_EQ(0, enter.error);
	for (int i = 0; i < 6; i++) {
		ASSERT_EQ(0, ring_wait(self->a->ring, &cqe, PATIENCE_MS));
		EXPECT_EQ(i, cqe.wr_id);
	}
	EXPECT_EQ(-ENOENT, ring_post(self->a->ring->fd, entries, 6, &accepted));
	EXPECT_EQ(3, accepted);
	ASSERT_EQ(0, ring_query(self->a->ring->fd, &after));
	EXPECT_EQ(before.submitted + 9, after.submitted);
}

TEST_F(ring, indices_that_make_no_sense)
{
	struct ring *ring = self->a->ring;
	struct krdma_cqe cqe;
	uint32_t reaped;

	for (uint32_t bad = ring->sq_entries + 1; bad; bad *= 2) {
		ring->header->sq_tail = ring->header->sq_head + bad;
		EXPECT_EQ(-EBADMSG, ring_enter(ring, 1, 0, 0, NULL));
	}
	ring->header->sq_tail = ring->header->sq_head - 1;
	EXPECT_EQ(-EBADMSG, ring_enter(ring, 1, 0, 0, NULL));
	ring->header->sq_tail = ring->header->sq_head;
	ring->header->cq_head = ring->header->cq_tail + 1;
	EXPECT_EQ(-EBADMSG, ring_enter(ring, 0, 1, deadline_in(100), NULL));
	EXPECT_EQ(-EBADMSG, ring_reap(ring->fd, &cqe, 1, 1, deadline_in(100), &reaped));
	ring->header->cq_head = ring->header->cq_tail;
	ASSERT_EQ(0, WRITE_SOME(3, 1));
	EXPECT_EQ(0, ring_wait(ring, &cqe, PATIENCE_MS));
}

/* The ring indices wrap round the ring many times.  The pure tests cover the wrap at 2^32. */
TEST_F(ring, the_rings_go_round)
{
	struct krdma_cqe cqe;

	for (uint64_t i = 0; i < rounds(1000, 300); i++) {
		struct krdma_sqe entry = WRITE(i);

		ASSERT_EQ(0, ring_submit(self->a->ring, &entry, 1, NULL));
		ASSERT_EQ(0, ring_wait(self->a->ring, &cqe, PATIENCE_MS));
		ASSERT_EQ(i, cqe.wr_id);
	}
}

#define CONNS	6

TEST_F(ring, many_connections_share_it)
{
	struct ring_options options = { .flags = variant->flags, .cq_entries = 2048 };
	struct pair_options with = {
		.sessions = { self->pair.sessions[0], self->pair.sessions[0] },
	};
	unsigned int sent[2 * CONNS] = {}, received[2 * CONNS] = {};
	struct pair pairs[CONNS];
	struct krdma_sqe entry;
	struct krdma_cqe cqe;
	struct ring ring;

	ASSERT_EQ(0, ring_create(self->a->session, &options, &ring));
	with.a.ring = &ring;
	with.b.ring = &ring;
	for (int i = 0; i < CONNS; i++)
		ASSERT_EQ(0, pair_open(&pairs[i], &with));
	for (int i = 0; i < 2 * CONNS; i++) {
		struct end *end = i % 2 ? &pairs[i / 2].b : &pairs[i / 2].a;

		for (int j = 0; j < 8; j++) {
			entry = sqe_receive(end->id, i, NULL, 0, 0);
			ASSERT_EQ(0, ring_submit(&ring, &entry, 1, NULL));
		}
	}
	for (int j = 0; j < 8; j++) {
		for (int i = 0; i < 2 * CONNS; i++) {
			struct end *end = i % 2 ? &pairs[i / 2].b : &pairs[i / 2].a;

			entry = sqe_send(end->id, i, NULL, 0, 0);
			ASSERT_EQ(0, ring_submit(&ring, &entry, 1, NULL));
		}
	}
	for (int n = 0; n < 2 * 8 * 2 * CONNS; n++) {
		struct end *end;

		ASSERT_EQ(0, ring_wait(&ring, &cqe, PATIENCE_MS));
		ASSERT_EQ(KRDMA_WC_SUCCESS, cqe.status);
		ASSERT_LT(cqe.wr_id, 2 * CONNS);
		end = cqe.wr_id % 2 ? &pairs[cqe.wr_id / 2].b : &pairs[cqe.wr_id / 2].a;
		EXPECT_EQ(end->id, cqe.dest);
		(cqe.opcode == KRDMA_OP_SEND ? sent : received)[cqe.wr_id]++;
	}
	for (int i = 0; i < 2 * CONNS; i++) {
		EXPECT_EQ(8, sent[i]);
		EXPECT_EQ(8, received[i]);
	}
	for (int i = 0; i < CONNS; i++)
		pair_close(&pairs[i]);
	ring_close(&ring);
}

/* Work requests in flight when the connection ends complete once each, as flushed. */
/* Proves: E8 */
TEST_F(ring, the_end_flushes_what_is_under_way)
{
	struct krdma_sqe entries[20];
	bool seen[20] = {};
	struct krdma_cqe cqe;

	for (int i = 0; i < 20; i++)
		entries[i] = sqe_receive(self->b->id, i, NULL, 0, 0);
	ASSERT_EQ(0, ring_submit(self->b->ring, entries, 20, NULL));
	ASSERT_EQ(0, conn_disconnect(self->a->conn, 0));
	for (int i = 0; i < 20; i++) {
		ASSERT_EQ(0, ring_wait(self->b->ring, &cqe, PATIENCE_MS));
		EXPECT_EQ(KRDMA_WC_WR_FLUSH_ERR, cqe.status);
		EXPECT_EQ(0, cqe.length);
		EXPECT_EQ(i, cqe.wr_id);
		EXPECT_FALSE(seen[cqe.wr_id]);
		seen[cqe.wr_id] = true;
	}
	/* A closed connection accepts no work requests. */
	ASSERT_EQ(0, conn_await_closed(self->b->conn, PATIENCE_MS));
	EXPECT_EQ(-ENOTCONN, ring_submit(self->b->ring, entries, 1, NULL));
}

TEST_F(ring, completions_outlive_their_connection)
{
	struct krdma_sqe entry = sqe_receive(self->b->id, 33, NULL, 0, 0);
	uint64_t end = now_ms() + PATIENCE_MS;
	struct krdma_cqe cqe;
	int ret;

	ASSERT_EQ(0, ring_submit(self->b->ring, &entry, 1, NULL));
	close(self->b->conn);
	self->b->conn = -1;
	ASSERT_EQ(0, ring_wait(self->b->ring, &cqe, PATIENCE_MS));
	EXPECT_EQ(33, cqe.wr_id);
	EXPECT_EQ(self->b->id, cqe.dest);
	EXPECT_EQ(KRDMA_WC_WR_FLUSH_ERR, cqe.status);
	/* The ID is that of a closed connection until teardown is complete, then unused. */
	while ((ret = ring_submit(self->b->ring, &entry, 1, NULL)) == -ENOTCONN &&
	       now_ms() < end)
		sleep_ms(1);
	EXPECT_EQ(-ENOENT, ret);
	EXPECT_EQ(-EAGAIN, ring_take(self->b->ring, &cqe));
}

/* Number of the kernel's worker threads for unbound work; -1 on error. */
static int worker_threads(void)
{
	DIR *directory = opendir("/proc");
	char path[64], name[64] = {};
	struct dirent *entry;
	int count = 0, fd;

	while (directory && (entry = readdir(directory))) {
		if (snprintf(path, sizeof(path), "/proc/%.20s/comm", entry->d_name) < 0)
			continue;
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			continue;
		if (read(fd, name, sizeof(name) - 1) > 0 && !strncmp(name, "kworker/u", 9))
			count++;
		close(fd);
	}
	return directory && !closedir(directory) ? count : -1;
}

/* The work that ends a ring does not block, so one worker thread ends many rings. */
TEST_F(ring, many_end_without_a_thread_each)
{
	const struct ring_options options = {
		.flags = variant->flags, .sq_entries = 1, .cq_entries = 1,
		.device_id = self->pair.device,
	};
	struct ring rings[64];
	int before, now, most = 0;

	for (size_t i = 0; i < ARRAY_SIZE(rings); i++)
		ASSERT_EQ(0, ring_create(self->a->session, &options, &rings[i]));
	before = worker_threads();
	for (size_t i = 0; i < ARRAY_SIZE(rings); i++)
		ring_close(&rings[i]);
	/* Rings end an RCU grace period later, and worker threads are created one after another. */
	for (int look = 0; look < 50; look++) {
		usleep(10000);
		now = worker_threads();
		/* worker_threads() returns -1 on error. */
		ASSERT_LT(0, now);
		if (now > most)
			most = now;
	}
	printf("# %d threads for works, and %d when 64 queues had ended\n", before, most);
	EXPECT_LT(0, before);
	EXPECT_GE(before + 2, most);
}

/* Post one write and wait for its completion in one call. */
static int write_and_wait(struct ring *ring, const struct krdma_sqe *entry)
{
	struct krdma_cqe cqe;

	return ring_put(ring, entry, 1) ?:
	       ring_enter(ring, 1, 1, deadline_in(PATIENCE_MS), NULL) ?:
	       ring_take(ring, &cqe) ?: cqe.status;
}

static int64_t us_since(const struct timespec *before)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (now.tv_sec - before->tv_sec) * 1000000LL + (now.tv_nsec - before->tv_nsec) / 1000;
}

/* A pair of connections and the writes that are timed on it. */
struct race {
	struct pair pair;
	struct mr mr;
	int64_t quickest;
};

static int race_open(struct race *race, uint32_t ring_flags)
{
	const struct pair_options options = { .a.ring_options.flags = ring_flags };
	int ret = pair_open(&race->pair, &options);

	race->quickest = INT64_MAX;
	return ret ?: mr_create(race->pair.a.session, race->pair.device, 4096, ACCESS_ALL,
				&race->mr);
}

/* Time twenty writes, one after another, in microseconds, and keep the minimum. */
static int race_run(struct race *race)
{
	struct krdma_sqe entry = write_entry(&race->pair.a, &race->mr, 0);
	struct timespec before;
	int64_t took;
	int ret = 0;

	clock_gettime(CLOCK_MONOTONIC, &before);
	for (unsigned int i = 0; !ret && i < 20; i++)
		ret = write_and_wait(race->pair.a.ring, &entry);
	took = us_since(&before);
	if (took < race->quickest)
		race->quickest = took;
	return ret;
}

#define OTHER_CPU	"/sys/devices/system/cpu/cpu1/online"

/* A thread that polls in the kernel does not keep the provider's thread from the CPU. */
TEST(polling_lets_the_provider_run)
{
	struct race told = {}, polled = {};

	ASSERT_EQ(0, write_text(OTHER_CPU, "0"));
	EXPECT_EQ(0, race_open(&told, 0));
	EXPECT_EQ(0, race_open(&polled, KRDMA_RING_POLLED));
	/* Alternate, so that changes in the speed of the machine affect both alike. */
	for (unsigned int round = 0; round < 16 && !_metadata->exit_code; round++) {
		EXPECT_EQ(0, race_run(&told));
		EXPECT_EQ(0, race_run(&polled));
	}
	mr_destroy(&told.mr);
	mr_destroy(&polled.mr);
	pair_close(&told.pair);
	pair_close(&polled.pair);
	EXPECT_EQ(0, write_text(OTHER_CPU, "1"));
	printf("# 20 writes take %lld us polled and %lld us told\n", (long long)polled.quickest,
	       (long long)told.quickest);
	EXPECT_GT(2 * told.quickest, polled.quickest);
}

TEST_HARNESS_MAIN
