// SPDX-License-Identifier: GPL-2.0
/*
 * Events of a connection: records from read(), and poll().
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "kselftest_harness.h"
#include "interrupt.h"
#include "pair.h"
#include "session.h"

#define MASK	(POLLIN | POLLOUT | POLLRDHUP)

FIXTURE(events)
{
	struct pair pair;
};

FIXTURE_SETUP(events)
{
	ASSERT_EQ(0, pair_begin(&self->pair, NULL));
}

FIXTURE_TEARDOWN(events)
{
	pair_close(&self->pair);
}

static void expect_events(struct __test_metadata *_metadata, int conn, const uint32_t *types,
			  unsigned int count)
{
	struct krdma_event_record record;

	for (unsigned int i = 0; i < count; i++) {
		ASSERT_EQ(0, conn_event(conn, &record, PATIENCE_MS)) {
			TH_LOG("instead of event %u", types[i]);
		}
		EXPECT_EQ(types[i], record.type);
		EXPECT_EQ(sizeof(record), record.size);
	}
}

#define EVENTS(conn, ...) do {								\
	const uint32_t types[] = { __VA_ARGS__ };					\
	expect_events(_metadata, conn, types, ARRAY_SIZE(types));			\
} while (0)

/* Proves: D7, E2 */
TEST_F(events, events_in_their_order_and_then_the_end)
{
	struct krdma_event_record record;
	struct end *a = &self->pair.a, *b = &self->pair.b;

	ASSERT_EQ(0, pair_connect(&self->pair, NULL));
	EVENTS(a->conn, KRDMA_EVENT_ADDR_RESOLVED, KRDMA_EVENT_ROUTE_RESOLVED,
	       KRDMA_EVENT_ESTABLISHED);
	EVENTS(b->conn, KRDMA_EVENT_ESTABLISHED);
	EXPECT_EQ(-ETIMEDOUT, conn_event(a->conn, &record, 0));
	ASSERT_EQ(0, conn_disconnect(b->conn, 0));
	EVENTS(a->conn, KRDMA_EVENT_DISCONNECTED, KRDMA_EVENT_CLOSED);
	EVENTS(b->conn, KRDMA_EVENT_DISCONNECTED, KRDMA_EVENT_CLOSED);
	for (int i = 0; i < 3; i++) {
		EXPECT_EQ(-ENODATA, conn_event(a->conn, &record, 0));
		EXPECT_EQ(-ENODATA, conn_event(b->conn, &record, 0));
	}
}

/* Proves: D7 */
TEST_F(events, a_rejected_one_tells_so)
{
	struct krdma_event_record record;
	struct end *a = &self->pair.a;

	ASSERT_EQ(0, pair_resolve(&self->pair));
	ASSERT_EQ(0, pair_meet(&self->pair, NULL));
	ASSERT_EQ(0, conn_reject(self->pair.b.conn, NULL, 0));
	EVENTS(a->conn, KRDMA_EVENT_ADDR_RESOLVED, KRDMA_EVENT_ROUTE_RESOLVED);
	ASSERT_EQ(0, conn_event(a->conn, &record, PATIENCE_MS));
	EXPECT_EQ(KRDMA_EVENT_REJECTED, record.type);
	EXPECT_EQ(-ECONNREFUSED, record.error);
	EXPECT_NE(0, record.reason);
	EVENTS(a->conn, KRDMA_EVENT_CLOSED);
	EXPECT_EQ(-ENODATA, conn_event(a->conn, &record, 0));
}

TEST_F(events, reads_take_whole_records)
{
	struct krdma_event_record records[8];
	unsigned char *bytes = (unsigned char *)records;
	int conn;

	ASSERT_EQ(0, pair_connect(&self->pair, NULL));
	conn = self->pair.a.conn;
	for (size_t size = 0; size < sizeof(records[0]); size++) {
		EXPECT_EQ(-1, read(conn, records, size));
		EXPECT_EQ(EINVAL, errno);
	}
	/* Room for two and a half records. */
	memset(records, 0xa5, sizeof(records));
	ASSERT_EQ(2 * sizeof(records[0]), read(conn, records, 2 * sizeof(records[0]) + 8));
	EXPECT_EQ(KRDMA_EVENT_ADDR_RESOLVED, records[0].type);
	EXPECT_EQ(KRDMA_EVENT_ROUTE_RESOLVED, records[1].type);
	/* @size is the distance to the next record. */
	EXPECT_EQ(sizeof(records[0]), records[0].size);
	EXPECT_EQ(sizeof(records[0]), records[1].size);
	for (size_t i = 2 * sizeof(records[0]); i < sizeof(records); i++)
		EXPECT_EQ(0xa5, bytes[i]);
	ASSERT_EQ(sizeof(records[0]), read(conn, records, sizeof(records)));
	EXPECT_EQ(KRDMA_EVENT_ESTABLISHED, records[0].type);
	ASSERT_EQ(0, conn_disconnect(conn, 0));
	/* POLLHUP comes together with the last record. */
	ASSERT_EQ(POLLHUP, poll_mask(conn, POLLHUP, PATIENCE_MS) & POLLHUP);
	ASSERT_EQ(2 * sizeof(records[0]), read(conn, records, sizeof(records)));
	EXPECT_EQ(KRDMA_EVENT_DISCONNECTED, records[0].type);
	EXPECT_EQ(KRDMA_EVENT_CLOSED, records[1].type);
	EXPECT_EQ(0, read(conn, records, sizeof(records)));
}

TEST_F(events, memory_that_cannot_be_written)
{
	struct krdma_event_record record = {};
	void *nowhere = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ASSERT_TRUE(nowhere != MAP_FAILED);
	ASSERT_EQ(0, pair_resolve(&self->pair));
	EXPECT_EQ(-1, read(self->pair.a.conn, nowhere, sizeof(record)));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(-1, write(self->pair.a.conn, &record, sizeof(record)));
}

TEST_F(events, reading_without_waiting)
{
	struct krdma_event_record record;
	int conn;

	ASSERT_EQ(0, conn_create(self->pair.sessions[0], &conn, NULL));
	ASSERT_EQ(0, fcntl(conn, F_SETFL, O_NONBLOCK));
	EXPECT_EQ(-1, read(conn, &record, sizeof(record)));
	EXPECT_EQ(EAGAIN, errno);
	ASSERT_EQ(0, conn_disconnect(conn, KRDMA_DISCONNECT_ABORT));
	/* POLLHUP comes together with the last record. */
	ASSERT_EQ(POLLHUP, poll_mask(conn, POLLHUP, PATIENCE_MS) & POLLHUP);
	EXPECT_EQ(sizeof(record), read(conn, &record, sizeof(record)));
	EXPECT_EQ(KRDMA_EVENT_CLOSED, record.type);
	EXPECT_EQ(0, read(conn, &record, sizeof(record)));
	close(conn);
}

/* RWF_NOWAIT holds for one read only, and the file's other reads still wait. */
TEST_F(events, one_read_that_does_not_wait)
{
	struct krdma_device_notify_args watch = { .size = sizeof(watch) };
	struct krdma_device_record device;
	struct krdma_event_record record;
	struct iovec parts[] = {
		{ .iov_base = &record, .iov_len = 5 },
		{ .iov_base = (char *)&record + 5, .iov_len = sizeof(record) - 5 },
	};
	struct iovec whole = { .iov_base = &device, .iov_len = sizeof(device) };
	int conn, session = self->pair.sessions[0];

	ASSERT_EQ(0, conn_create(session, &conn, NULL));
	EXPECT_EQ(-1, preadv2(conn, parts, 2, -1, RWF_NOWAIT));
	EXPECT_EQ(EAGAIN, errno);
	ASSERT_EQ(0, conn_disconnect(conn, KRDMA_DISCONNECT_ABORT));
	/* POLLHUP comes together with the last record. */
	ASSERT_EQ(POLLHUP, poll_mask(conn, POLLHUP, PATIENCE_MS) & POLLHUP);
	EXPECT_EQ(sizeof(record), preadv2(conn, parts, 2, -1, RWF_NOWAIT));
	EXPECT_EQ(KRDMA_EVENT_CLOSED, record.type);
	EXPECT_EQ(0, preadv2(conn, parts, 2, -1, RWF_NOWAIT));
	close(conn);

	ASSERT_EQ(0, session_request(session, KRDMA_DEVICE_NOTIFY, &watch));
	ASSERT_EQ(POLLIN, poll_mask(session, POLLIN, PATIENCE_MS));
	ASSERT_EQ(sizeof(device), preadv2(session, &whole, 1, -1, RWF_NOWAIT));
	EXPECT_EQ(KRDMA_DEVICE_EVENT_ADDED, device.type);
	EXPECT_EQ(sizeof(device), device.size);
	/* Further records may come at any time; the read waits for none of them. */
	while (preadv2(session, &whole, 1, -1, RWF_NOWAIT) == sizeof(device))
		;
	EXPECT_EQ(EAGAIN, errno);
}

/*
 * Repeated, because the records come from another thread; with a priority that keeps the other
 * thread from running first.
 */
TEST(the_devices_present_can_be_read_at_once)
{
	const struct sched_param priority = { .sched_priority = 1 };
	struct krdma_device_notify_args watch = { .size = sizeof(watch) };
	struct krdma_info_args info = { .size = sizeof(info) };
	struct krdma_device_record records[8];

	ASSERT_EQ(0, sched_setscheduler(0, SCHED_FIFO, &priority));
	for (int i = 0; i < 50; i++) {
		int session = session_open(O_RDWR);

		ASSERT_LE(0, session);
		ASSERT_EQ(0, session_request(session, KRDMA_INFO, &info));
		ASSERT_LE(1, info.device_count);
		ASSERT_EQ(0, fcntl(session, F_SETFL, O_NONBLOCK));
		ASSERT_EQ(0, session_request(session, KRDMA_DEVICE_NOTIFY, &watch));
		ASSERT_LE(info.device_count * sizeof(records[0]),
			  read(session, records, sizeof(records)));
		for (uint32_t j = 0; j < info.device_count; j++)
			EXPECT_EQ(KRDMA_DEVICE_EVENT_ADDED, records[j].type);
		close(session);
	}
}

struct reader {
	int conn;
	unsigned int counts[16];
	unsigned int ends;
};

static void *read_all(void *argument)
{
	struct reader *reader = argument;
	struct krdma_event_record record;
	ssize_t size;

	while ((size = read(reader->conn, &record, sizeof(record))) == sizeof(record))
		reader->counts[record.type & 15]++;
	reader->ends += !size;
	return NULL;
}

/* Proves: A10 */
TEST_F(events, each_record_goes_to_one_of_many_readers)
{
	struct reader readers[4] = {};
	unsigned int counts[16] = {};
	pthread_t threads[4];

	ASSERT_EQ(0, conn_create(self->pair.a.session, &self->pair.a.conn, &self->pair.a.id));
	for (int i = 0; i < 4; i++) {
		readers[i].conn = self->pair.a.conn;
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, read_all, &readers[i]));
	}
	ASSERT_EQ(0, conn_resolve(self->pair.a.conn, &self->pair.address));
	ASSERT_EQ(0, conn_wait(self->pair.a.conn, deadline_in(PATIENCE_MS), NULL));
	ASSERT_EQ(0, pair_meet(&self->pair, NULL));
	ASSERT_EQ(0, end_create_qp(&self->pair.b, NULL));
	ASSERT_EQ(0, end_accept(&self->pair.b, NULL));
	ASSERT_EQ(0, pair_established(&self->pair));
	ASSERT_EQ(0, conn_disconnect(self->pair.b.conn, 0));
	/* All readers see the end of the records. */
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], NULL);
		EXPECT_EQ(1, readers[i].ends);
		for (int j = 0; j < 16; j++)
			counts[j] += readers[i].counts[j];
	}
	for (int j = 0; j < 16; j++)
		EXPECT_EQ(j == KRDMA_EVENT_ADDR_RESOLVED || j == KRDMA_EVENT_ROUTE_RESOLVED ||
			  j == KRDMA_EVENT_ESTABLISHED || j == KRDMA_EVENT_DISCONNECTED ||
			  j == KRDMA_EVENT_CLOSED, counts[j]);
}

static atomic_int signals;

static void count_signal(int number)
{
	(void)number;
	signals++;
}

struct poker {
	pthread_t whom;
	pid_t tid;
	int conn;
	bool restart;
	atomic_bool done;
};

/*
 * Sends a signal, and ends the connection later: without SA_RESTART not before the signal has
 * interrupted the read.
 */
static void *signal_then_end(void *argument)
{
	uint64_t end = now_ms() + PATIENCE_MS;
	struct poker *poker = argument;

	await_call(poker->tid, SYS_read);
	pthread_kill(poker->whom, SIGUSR1);
	if (poker->restart)
		sleep_ms(100);
	else
		while (!poker->done && now_ms() < end)
			sleep_ms(5);
	conn_disconnect(poker->conn, KRDMA_DISCONNECT_ABORT);
	return NULL;
}

TEST_F(events, a_signal_while_reading)
{
	struct krdma_event_record record;

	for (int restart = 0; restart < 2; restart++) {
		struct sigaction action = {
			.sa_handler = count_signal, .sa_flags = restart ? SA_RESTART : 0,
		};
		struct poker poker = {
			.whom = pthread_self(), .tid = gettid(), .restart = restart,
		};
		pthread_t thread;
		ssize_t size;
		int err;

		signals = 0;
		sigaction(SIGUSR1, &action, NULL);
		ASSERT_EQ(0, conn_create(self->pair.sessions[0], &poker.conn, NULL));
		ASSERT_EQ(0, pthread_create(&thread, NULL, signal_then_end, &poker));
		size = read(poker.conn, &record, sizeof(record));
		err = errno;
		poker.done = true;
		if (restart) {
			EXPECT_EQ(sizeof(record), size);
			EXPECT_EQ(KRDMA_EVENT_CLOSED, record.type);
		} else {
			EXPECT_EQ(-1, size);
			EXPECT_EQ(EINTR, err);
		}
		EXPECT_EQ(1, signals);
		pthread_join(thread, NULL);
		close(poker.conn);
	}
}

/* Proves: D7, F2 */
TEST_F(events, poll_when_the_peer_ends_it)
{
	struct end *a = &self->pair.a, *b = &self->pair.b;
	int mask;

	ASSERT_EQ(0, pair_connect(&self->pair, NULL));
	EXPECT_EQ(0, poll_mask(b->conn, POLLRDHUP, 0));
	ASSERT_EQ(0, conn_disconnect(a->conn, 0));
	EXPECT_TRUE(poll_mask(b->conn, POLLRDHUP, PATIENCE_MS) & POLLRDHUP);
	ASSERT_EQ(0, conn_await_closed(a->conn, PATIENCE_MS));
	ASSERT_EQ(0, conn_await_closed(b->conn, PATIENCE_MS));
	/* POLLHUP is reported even if it is not requested. */
	EXPECT_TRUE(poll_mask(b->conn, 0, PATIENCE_MS) & POLLHUP);
	mask = poll_mask(b->conn, MASK, PATIENCE_MS);
	EXPECT_EQ(POLLIN | POLLRDHUP | POLLHUP, mask & ~POLLOUT);
	EXPECT_TRUE(poll_mask(a->conn, 0, PATIENCE_MS) & POLLHUP);
	mask = poll_mask(a->conn, MASK, PATIENCE_MS);
	EXPECT_EQ(POLLIN | POLLHUP, mask & (POLLIN | POLLHUP | POLLERR));
}

static void *close_later(void *argument)
{
	struct poker *poker = argument;

	await_call(poker->tid, SYS_read);
	close(poker->conn);
	sleep_ms(100);
	pthread_kill(poker->whom, SIGUSR1);
	return NULL;
}

/* A waiting call keeps the object; later calls on the closed descriptor fail. */
/* Proves: A8 */
TEST_F(events, closed_by_another_thread_while_waited_for)
{
	struct sigaction action = { .sa_handler = count_signal };
	struct poker poker = { .whom = pthread_self(), .tid = gettid() };
	struct krdma_event_record record;
	pthread_t thread;

	sigaction(SIGUSR1, &action, NULL);
	ASSERT_EQ(0, conn_create(self->pair.sessions[0], &poker.conn, NULL));
	ASSERT_EQ(0, pthread_create(&thread, NULL, close_later, &poker));
	EXPECT_EQ(-1, read(poker.conn, &record, sizeof(record)));
	EXPECT_EQ(EINTR, errno);
	pthread_join(thread, NULL);
	EXPECT_EQ(-EBADF, conn_wait(poker.conn, 0, NULL));
	EXPECT_EQ(-EBADF, conn_disconnect(poker.conn, 0));
	EXPECT_EQ(-1, read(poker.conn, &record, sizeof(record)));
	EXPECT_EQ(EBADF, errno);
}

TEST_HARNESS_MAIN
