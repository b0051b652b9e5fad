// SPDX-License-Identifier: GPL-2.0
/*
 * Race conditions between threads.  The tests are written for a krdma.ko with delays at these
 * places (tools/testing/race), and pass with any.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "kselftest_harness.h"
#include "interrupt.h"
#include "pair.h"
#include "session.h"

/* An event that has not come by then is lost; nothing here takes a tenth of this time. */
#define LOST_MS		4000

FIXTURE(races)
{
	struct pair pair;
	struct end *a;
	struct mr mr;
	pthread_t threads[8];
};

FIXTURE_SETUP(races)
{
	ASSERT_EQ(0, pair_begin(&self->pair, NULL));
	self->a = &self->pair.a;
	ASSERT_EQ(0, mr_create(self->pair.sessions[0], self->pair.device, 4096, ACCESS_ALL,
			       &self->mr));
}

FIXTURE_TEARDOWN(races)
{
	mr_destroy(&self->mr);
	pair_close(&self->pair);
}

static struct krdma_sqe write_of(const struct end *end, const struct mr *mr,
				 uint64_t wr_id)
{
	return sqe_remote(KRDMA_OP_WRITE, end->id, wr_id, mr, 0, 8, mr, 64);
}

/*
 * Submission
 */

/**
 * struct submission - many threads that submit to one ring
 * @end: the end that has the ring
 * @mr: source and destination of the writes
 * @lock: protects the program's side of the submission ring
 * @entered: number of entries put into the ring so far
 * @count: number of entries to put into the ring, and number that each thread posts besides
 * @error: the first unexpected result
 */
struct submission {
	struct end *end;
	const struct mr *mr;
	pthread_mutex_t lock;
	unsigned int entered;
	unsigned int count;
	atomic_int error;
};

static void submission_judge(struct submission *submission, int ret)
{
	if (ret == -EAGAIN)
		sched_yield();
	else if (ret)
		submission->error = ret;
}

/* Put entries into the ring under the lock, and enter the ring without it. */
static void *enter_many(void *argument)
{
	struct submission *submission = argument;
	struct ring *ring = submission->end->ring;
	struct krdma_ring_header *header = ring->header;
	struct krdma_ring_enter_args enter;
	bool more = true;
	int ret;

	while (more && !submission->error) {
		pthread_mutex_lock(&submission->lock);
		for (int i = 0; i < 3 && submission->entered < submission->count; i++) {
			struct krdma_sqe sqe = write_of(submission->end, submission->mr,
							submission->entered);

			if (ring_put(ring, &sqe, 1))
				break;
			submission->entered++;
		}
		more = submission->entered < submission->count ||
		       __atomic_load_n(&header->sq_head, __ATOMIC_ACQUIRE) != header->sq_tail;
		pthread_mutex_unlock(&submission->lock);
		ret = ring_enter(ring, 8, 0, 0, &enter);
		submission_judge(submission, ret ? ret : enter.error);
	}
	return NULL;
}

/* Post further entries from an array to the same ring. */
static void *post_many(void *argument)
{
	struct submission *submission = argument;

	for (unsigned int i = 0; i < submission->count && !submission->error;) {
		struct krdma_sqe sqes[3];
		uint32_t count = submission->count - i < 3 ? submission->count - i : 3, accepted;

		for (uint32_t j = 0; j < count; j++)
			sqes[j] = write_of(submission->end, submission->mr,
					   submission->count + i + j);
		submission_judge(submission, ring_post(submission->end->ring->fd, sqes, count,
						       &accepted));
		i += accepted;
	}
	return NULL;
}

/* Each entry submitted by concurrent threads is processed once, and counted once. */
TEST_F_TIMEOUT(races, every_entry_is_taken_once, 300)
{
	struct submission submission = {
		.end = self->a, .mr = &self->mr, .count = rounds(300, 60),
		.lock = PTHREAD_MUTEX_INITIALIZER,
	};
	const unsigned int total = 2 * submission.count;
	unsigned char *seen = calloc(total, 1);
	struct krdma_ring_query_args query;
	unsigned int done = 0;

	ASSERT_TRUE(!!seen);
	/* The ring has few entries, so that they are reused at once. */
	ASSERT_EQ(0, pair_connect(&self->pair, &(struct pair_options) {
		.a.ring_options = { .sq_entries = 8, .cq_entries = 128 }, .a.send_depth = 32 }));
	for (int i = 0; i < 4; i++)
		ASSERT_EQ(0, pthread_create(&self->threads[i], NULL,
					    i < 3 ? enter_many : post_many, &submission));
	while (done < total && !submission.error) {
		struct krdma_cqe cqes[8];
		uint32_t reaped;
		int ret = ring_reap(self->a->ring->fd, cqes, 8, 1, deadline_in(LOST_MS),
				    &reaped);

		ASSERT_EQ(0, ret) {
			submission.error = ret;
			TH_LOG("after %u of %u", done, total);
		}
		for (uint32_t i = 0; i < reaped; i++, done++) {
			ASSERT_EQ(0, cqes[i].status);
			ASSERT_GT(total, cqes[i].wr_id);
			ASSERT_EQ(1, ++seen[cqes[i].wr_id]) {
				submission.error = -EEXIST;
			}
		}
	}
	for (int i = 0; i < 4; i++)
		pthread_join(self->threads[i], NULL);
	EXPECT_EQ(0, submission.error);
	ASSERT_EQ(0, ring_query(self->a->ring->fd, &query));
	EXPECT_EQ(total, query.submitted);
	EXPECT_EQ(total, query.completed);
	free(seen);
}

/*
 * Completions
 */

struct stream {
	struct end *end;
	const struct mr *mr;
	unsigned int count;
	bool polled;
	atomic_int error;
};

/* Post several at a time while there is space; the enter moves completions to a polled ring. */
static void *post_stream(void *argument)
{
	struct stream *stream = argument;
	unsigned int dice = 1;

	for (unsigned int i = 0; i < stream->count && !stream->error;) {
		struct krdma_sqe sqes[4];
		uint32_t count = stream->count - i < 4 ? stream->count - i : 4, accepted;
		int ret;

		for (uint32_t j = 0; j < count; j++)
			sqes[j] = write_of(stream->end, stream->mr, i + j);
		ret = ring_post(stream->end->ring->fd, sqes, count, &accepted);
		i += accepted;
		if (!ret || ret == -EAGAIN)
			ret = ring_enter(stream->end->ring, 0, 0, 0, NULL);
		if (ret && ret != -ETIMEDOUT)
			stream->error = ret;
		dawdle(&dice);
	}
	return NULL;
}

/* A reader of the ring's tail finds all completions up to it valid, and takes them in order. */
static void check_stream(struct __test_metadata *_metadata, FIXTURE_DATA(races) * self,
			 uint32_t flags)
{
	struct stream stream = {
		.end = self->a, .mr = &self->mr, .count = rounds(1200, 200),
	};
	struct krdma_cqe *cqe;
	struct ring *ring;
	uint64_t end;

	ASSERT_EQ(0, pair_connect(&self->pair, &(struct pair_options) {
		.a.ring_options = { .flags = flags, .cq_entries = 32 },
		.a.send_depth = 16, .a.recv_depth = 1 }));
	ring = self->a->ring;
	memset(ring->cqes, 0xff, ring->cq_entries * sizeof(*ring->cqes));
	ASSERT_EQ(0, pthread_create(&self->threads[0], NULL, post_stream, &stream));
	for (unsigned int i = 0; i < stream.count; i++) {
		end = now_ms() + LOST_MS;
		while (__atomic_load_n(&ring->header->cq_tail, __ATOMIC_ACQUIRE) == i) {
			if (stream.error || now_ms() >= end) {
				stream.error = stream.error ?: -ETIMEDOUT;
				break;
			}
			/* Completions that did not fit move to the ring on an enter. */
			if (__atomic_load_n(&ring->header->cq_flags, __ATOMIC_RELAXED))
				ring_enter(ring, 0, 0, 0, NULL);
		}
		ASSERT_EQ(0, stream.error);
		cqe = &ring->cqes[i & (ring->cq_entries - 1)];
		ASSERT_EQ(i, cqe->wr_id) {
			stream.error = -EBADMSG;
		}
		ASSERT_EQ(KRDMA_OP_WRITE, cqe->opcode);
		ASSERT_EQ(0, cqe->status);
		ASSERT_EQ(self->a->id, cqe->dest);
		memset(cqe, 0xff, sizeof(*cqe));
		__atomic_store_n(&ring->header->cq_head, i + 1, __ATOMIC_RELEASE);
	}
	pthread_join(self->threads[0], NULL);
}

TEST_F_TIMEOUT(races, an_entry_is_there_before_the_tail_says_so, 300)
{
	check_stream(_metadata, self, 0);
}

TEST_F_TIMEOUT(races, an_entry_of_a_polled_queue_is_there, 300)
{
	check_stream(_metadata, self, KRDMA_RING_POLLED);
}

/*
 * Events
 */

struct reader {
	atomic_int conn;
	atomic_int ended;
	struct krdma_event_record records[16];
	atomic_uint count;
	int error;
};

/* Read all available records repeatedly, until the end. */
static void *read_records(void *argument)
{
	struct reader *reader = argument;

	while (reader->conn != -1) {
		ssize_t size;

		if (reader->conn == -2 || reader->ended) {
			sched_yield();
			continue;
		}
		size = read(reader->conn, &reader->records[reader->count],
			    sizeof(reader->records[0]));
		if (size == sizeof(reader->records[0])) {
			if (reader->count < 15)
				reader->count++;
		} else if (!size) {
			reader->ended = 1;
		} else if (errno != EAGAIN) {
			reader->error = -errno;
			reader->ended = 1;
		}
	}
	return NULL;
}

static const struct krdma_event_record searched[] = {
	{ .type = KRDMA_EVENT_ADDR_RESOLVED },
	{ .type = KRDMA_EVENT_ROUTE_RESOLVED },
	{ .type = KRDMA_EVENT_CLOSED, .error = -ECONNABORTED },
};

/* A record is read while the next one arrives: each is complete, and is read once. */
TEST_F_TIMEOUT(races, a_record_is_read_while_others_come, 300)
{
	struct reader reader = { .conn = -2, .ended = 1 };
	uint64_t end;
	int conn;

	ASSERT_EQ(0, pthread_create(&self->threads[0], NULL, read_records, &reader));
	for (unsigned int round = 0; round < rounds(100, 20); round++) {
		ASSERT_EQ(0, conn_create(self->pair.sessions[0], &conn, NULL));
		ASSERT_EQ(0, fcntl(conn, F_SETFL, O_NONBLOCK));
		memset(reader.records, 0xff, sizeof(reader.records));
		reader.count = 0;
		reader.conn = conn;
		reader.ended = 0;
		ASSERT_EQ(0, conn_resolve(conn, &self->pair.address));
		ASSERT_EQ(0, conn_wait(conn, deadline_in(LOST_MS), NULL));
		ASSERT_EQ(0, conn_disconnect(conn, KRDMA_DISCONNECT_ABORT));
		for (end = now_ms() + LOST_MS; !reader.ended && now_ms() < end;)
			sched_yield();
		ASSERT_EQ(1, reader.ended);
		ASSERT_EQ(0, reader.error);
		ASSERT_EQ(ARRAY_SIZE(searched), reader.count);
		for (unsigned int i = 0; i < ARRAY_SIZE(searched); i++) {
			ASSERT_EQ(searched[i].type, reader.records[i].type);
			ASSERT_EQ(searched[i].error, reader.records[i].error);
			ASSERT_EQ(sizeof(reader.records[i]), reader.records[i].size);
		}
		reader.conn = -2;
		close(conn);
	}
	reader.conn = -1;
	pthread_join(self->threads[0], NULL);
}

/*
 * Waiting
 */

/**
 * struct bed - a thread that waits for an event that another thread causes
 * @self: data of the test
 * @fd: file descriptor to wait on
 * @wait: function that waits, for @LOST_MS at most
 * @round: number of the round to wait in; -1 if the thread is to end
 * @woken: number of the last round in which the wait has ended
 * @error: result of @wait
 */
struct bed {
	FIXTURE_DATA(races) * self;
	atomic_int fd;
	int (*wait)(struct bed *bed);
	atomic_int round;
	atomic_int woken;
	int error;
};

static int poll_in(struct bed *bed)
{
	int mask = poll_mask(bed->fd, POLLIN, LOST_MS);

	return mask < 0 ? mask : mask & POLLIN ? 0 : -ETIMEDOUT;
}

static int enter_for_one(struct bed *bed)
{
	return ring_enter(bed->self->a->ring, 0, 1, deadline_in(LOST_MS), NULL);
}

static int wait_for_state(struct bed *bed)
{
	return conn_wait(bed->fd, deadline_in(LOST_MS), NULL);
}

static void *sleep_again_and_again(void *argument)
{
	struct bed *bed = argument;
	unsigned int dice = 2;

	for (;;) {
		uint64_t begun;

		while (bed->round == bed->woken)
			sched_yield();
		if (bed->round == -1)
			return NULL;
		dawdle(&dice);
		begun = now_ms();
		bed->error = bed->wait(bed);
		/* A lost wakeup shows as a long wait: the last check at the timeout succeeds. */
		if (!bed->error && now_ms() - begun >= LOST_MS / 2)
			bed->error = -ETIME;
		bed->woken = bed->round;
	}
}

/* Start a round; on return the thread waits, or is about to wait. */
static void bed_go(struct bed *bed, unsigned int *dice)
{
	bed->round++;
	dawdle(dice);
}

/* Wait until the round is over, and return the result of its wait. */
static int bed_outcome(struct bed *bed)
{
	while (bed->round != bed->woken)
		sched_yield();
	return bed->error;
}

static void bed_end(struct bed *bed, pthread_t thread)
{
	bed->round = -1;
	pthread_join(thread, NULL);
}

static void check_queue(struct __test_metadata *_metadata, FIXTURE_DATA(races) * self,
			uint32_t flags, int (*wait)(struct bed *bed))
{
	struct bed bed = { .self = self, .wait = wait };
	unsigned int dice = 1;

	ASSERT_EQ(0, pair_connect(&self->pair, &(struct pair_options) {
		.a.ring_options.flags = flags }));
	bed.fd = self->a->ring->fd;
	ASSERT_EQ(0, pthread_create(&self->threads[0], NULL, sleep_again_and_again, &bed));
	for (unsigned int i = 0; i < rounds(200, 40); i++) {
		struct krdma_sqe sqe = write_of(self->a, &self->mr, i);
		struct krdma_cqe cqe;

		bed_go(&bed, &dice);
		ASSERT_EQ(0, ring_post(self->a->ring->fd, &sqe, 1, NULL));
		ASSERT_EQ(0, bed_outcome(&bed)) {
			TH_LOG("in round %u", i);
		}
		ASSERT_EQ(0, ring_wait(self->a->ring, &cqe, LOST_MS));
		ASSERT_EQ(i, cqe.wr_id);
	}
	bed_end(&bed, self->threads[0]);
}

TEST_F_TIMEOUT(races, poll_of_a_queue_is_woken, 300)
{
	check_queue(_metadata, self, 0, poll_in);
}

TEST_F_TIMEOUT(races, poll_of_a_polled_queue_is_woken, 300)
{
	check_queue(_metadata, self, KRDMA_RING_POLLED, poll_in);
}

TEST_F_TIMEOUT(races, who_waits_in_a_queue_is_woken, 300)
{
	check_queue(_metadata, self, 0, enter_for_one);
}

TEST_F_TIMEOUT(races, poll_of_a_connection_is_woken, 300)
{
	struct bed bed = { .self = self, .wait = poll_in };
	unsigned int dice = 1;
	int conn;

	ASSERT_EQ(0, pthread_create(&self->threads[0], NULL, sleep_again_and_again, &bed));
	for (unsigned int i = 0; i < rounds(200, 40); i++) {
		ASSERT_EQ(0, conn_create(self->pair.sessions[0], &conn, NULL));
		bed.fd = conn;
		bed_go(&bed, &dice);
		ASSERT_EQ(0, conn_disconnect(conn, KRDMA_DISCONNECT_ABORT));
		ASSERT_EQ(0, bed_outcome(&bed)) {
			TH_LOG("in round %u", i);
		}
		close(conn);
	}
	bed_end(&bed, self->threads[0]);
}

TEST_F_TIMEOUT(races, who_waits_for_a_connection_is_woken, 300)
{
	struct bed bed = { .self = self, .wait = wait_for_state };
	unsigned int dice = 1;
	int conn;

	ASSERT_EQ(0, pthread_create(&self->threads[0], NULL, sleep_again_and_again, &bed));
	for (unsigned int i = 0; i < rounds(60, 12); i++) {
		ASSERT_EQ(0, conn_create(self->pair.sessions[0], &conn, NULL));
		bed.fd = conn;
		bed_go(&bed, &dice);
		ASSERT_EQ(0, conn_resolve(conn, &self->pair.address));
		ASSERT_EQ(0, bed_outcome(&bed)) {
			TH_LOG("in round %u", i);
		}
		/* The thread may have checked before the search began. */
		ASSERT_EQ(0, conn_wait(conn, deadline_in(LOST_MS), NULL));
		close(conn);
	}
	bed_end(&bed, self->threads[0]);
}

TEST_F_TIMEOUT(races, poll_of_a_listener_is_woken, 300)
{
	struct bed bed = { .self = self, .wait = poll_in };
	unsigned int dice = 1;

	bed.fd = self->pair.listener;
	ASSERT_EQ(0, pthread_create(&self->threads[0], NULL, sleep_again_and_again, &bed));
	for (unsigned int i = 0; i < rounds(40, 8); i++) {
		struct end end;
		int conn;

		bed_go(&bed, &dice);
		ASSERT_EQ(0, end_ask(&end, self->pair.sessions[0], &self->pair.address, NULL));
		ASSERT_EQ(0, bed_outcome(&bed)) {
			TH_LOG("in round %u", i);
		}
		ASSERT_EQ(0, listener_next(self->pair.listener, deadline_in(LOST_MS), &conn,
					   NULL));
		close(conn);
		end_close(&end);
	}
	bed_end(&bed, self->threads[0]);
}

static void *reap_slowly(void *argument)
{
	struct stream *stream = argument;
	unsigned int dice = 3;

	for (unsigned int i = 0; i < stream->count && !stream->error;) {
		struct krdma_cqe cqe;
		uint32_t reaped;
		int ret = ring_reap(stream->end->ring->fd, &cqe, 1, 1, deadline_in(LOST_MS),
				    &reaped);

		if (!ret && (cqe.status || cqe.wr_id != i))
			ret = -EBADMSG;
		if (ret && !stream->error)
			stream->error = ret;
		i += reaped;
		dawdle(&dice);
		/* Leave a pause without events. */
		if (i % 16 == 0)
			sleep_ms(20);
	}
	return NULL;
}

/* A program whose post failed with EAGAIN is notified when there is free space. */
TEST_F_TIMEOUT(races, who_waits_for_room_is_woken, 300)
{
	struct stream stream = {
		.end = self->a, .mr = &self->mr, .count = rounds(400, 80),
	};
	unsigned int waits = 0;

	ASSERT_EQ(0, pair_connect(&self->pair, &(struct pair_options) {
		.a.ring_options.cq_entries = 8, .a.send_depth = 4, .a.recv_depth = 1 }));
	ASSERT_EQ(0, pthread_create(&self->threads[0], NULL, reap_slowly, &stream));
	for (unsigned int i = 0; i < stream.count && !stream.error;) {
		struct krdma_sqe sqe = write_of(self->a, &self->mr, i);
		int ret = ring_post(self->a->ring->fd, &sqe, 1, NULL);
		uint64_t begun = now_ms();

		if (!ret) {
			i++;
			continue;
		}
		ASSERT_EQ(-EAGAIN, ret);
		EXPECT_EQ(POLLOUT, poll_mask(self->a->ring->fd, POLLOUT, LOST_MS));
		EXPECT_GT(LOST_MS / 2, now_ms() - begun) {
			stream.error = -ETIME;
			TH_LOG("entry %u", i);
		}
		waits++;
	}
	pthread_join(self->threads[0], NULL);
	EXPECT_EQ(0, stream.error);
	EXPECT_LT(0, waits);
}

/**
 * struct room - a thread that waits for room in a queue to which another one posts
 * @fd: the ring
 * @laps: how often it has seen room
 * @stop: it ends
 * @lost: room that it was not told of
 */
struct room {
	int fd;
	atomic_uint laps;
	atomic_bool stop;
	atomic_bool lost;
};

static void *poll_for_room(void *argument)
{
	struct room *room = argument;

	while (!atomic_load(&room->stop)) {
		uint64_t begun = now_ms();

		if (poll_mask(room->fd, POLLOUT, LOST_MS) != POLLOUT ||
		    now_ms() - begun > LOST_MS / 2)
			atomic_store(&room->lost, true);
		atomic_fetch_add(&room->laps, 1);
	}
	return NULL;
}

/**
 * struct sender - a thread that sends a message whenever it is told to
 * @end: the end that sends
 * @mr: the message
 * @wanted: how many it is to send
 * @error: the first unexpected result
 */
struct sender {
	struct end *end;
	const struct mr *mr;
	atomic_uint wanted;
	atomic_bool stop;
	atomic_int error;
};

static void *send_when_told(void *argument)
{
	struct sender *sender = argument;
	unsigned int sent = 0, dice = 5;

	while (!atomic_load(&sender->stop)) {
		struct krdma_sqe sqe = sqe_send(sender->end->id, sent, sender->mr, 0, 8);
		struct krdma_cqe cqe;
		uint32_t reaped;
		int ret;

		if (sent == atomic_load(&sender->wanted)) {
			sched_yield();
			continue;
		}
		dawdle(&dice);
		ret = ring_post(sender->end->ring->fd, &sqe, 1, NULL);
		if (!ret)
			ret = ring_reap(sender->end->ring->fd, &cqe, 1, 1, deadline_in(LOST_MS),
					&reaped);
		if (ret)
			atomic_store(&sender->error, ret);
		sent++;
	}
	return NULL;
}

/* Posts without a pause: the kernel tries twice, and the second try may be the accepted one. */
static int post_at_last(struct end *end, const struct mr *mr, unsigned int *refused)
{
	struct krdma_sqe sqe = sqe_receive(end->id, 0, mr, 64, 8);
	uint64_t until = now_ms() + LOST_MS;
	int ret;

	while ((ret = ring_post(end->ring->fd, &sqe, 1, NULL)) == -EAGAIN && now_ms() < until)
		(*refused)++;
	return ret;
}

#define ROOM_RECEIVES	4

/* Another thread than the one that posts waits for room.  Nothing is posted after that. */
TEST_F_TIMEOUT(races, another_thread_is_woken_for_room, 300)
{
	struct sender sender = { .end = &self->pair.b };
	unsigned int refused = 0;
	struct room room = {};
	struct mr message;

	ASSERT_EQ(0, pair_connect(&self->pair, &(struct pair_options) {
		.a.send_depth = 1, .a.recv_depth = ROOM_RECEIVES }));
	ASSERT_EQ(0, mr_create(self->pair.sessions[1], self->pair.device, 4096, ACCESS_ALL,
			       &message));
	for (int i = 0; i < ROOM_RECEIVES; i++)
		ASSERT_EQ(0, post_at_last(self->a, &self->mr, &refused));
	sender.mr = &message;
	room.fd = self->a->ring->fd;
	ASSERT_EQ(0, pthread_create(&self->threads[0], NULL, send_when_told, &sender));
	ASSERT_EQ(0, pthread_create(&self->threads[1], NULL, poll_for_room, &room));
	for (unsigned int i = 0; i < rounds(1600, 400) && !atomic_load(&room.lost); i++) {
		uint64_t until = now_ms() + 2 * LOST_MS;
		struct krdma_cqe cqe;
		unsigned int laps;
		uint32_t reaped;

		atomic_fetch_add(&sender.wanted, 1);
		EXPECT_EQ(0, post_at_last(self->a, &self->mr, &refused));
		EXPECT_EQ(0, ring_reap(room.fd, &cqe, 1, 1, deadline_in(LOST_MS), &reaped));
		laps = atomic_load(&room.laps);
		while (atomic_load(&room.laps) - laps < 2 && now_ms() < until)
			sleep_ms(1);
	}
	atomic_store(&sender.stop, true);
	atomic_store(&room.stop, true);
	pthread_join(self->threads[0], NULL);
	pthread_join(self->threads[1], NULL);
	mr_destroy(&message);
	EXPECT_EQ(0, atomic_load(&sender.error));
	EXPECT_FALSE(atomic_load(&room.lost));
	EXPECT_LT(0, refused);
}

/* A ring remembers the connection of its last entry, and forgets it when it is closed. */
TEST_F(races, a_closed_connection_is_forgotten)
{
	struct krdma_sqe write;
	struct krdma_cqe cqe;
	uint32_t reaped;

	ASSERT_EQ(0, pair_connect(&self->pair, NULL));
	write = write_of(self->a, &self->mr, 1);
	ASSERT_EQ(0, ring_submit(self->a->ring, &write, 1, NULL));
	ASSERT_EQ(0, ring_reap(self->a->ring->fd, &cqe, 1, 1, deadline_in(LOST_MS), &reaped));
	EXPECT_EQ(KRDMA_WC_SUCCESS, cqe.status);
	close(self->a->conn);
	self->a->conn = -1;
	/* It is freed when it has ended, after a grace period of RCU. */
	sleep_ms(LOST_MS / 4);
	EXPECT_EQ(-ENOENT, ring_submit(self->a->ring, &write, 1, NULL));
}

TEST_HARNESS_MAIN
