// SPDX-License-Identifier: GPL-2.0
/*
 * Many connections at a time, without descriptors: opening, taking, accepting and closing them,
 * their numbers, and their events, which are completions.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "kselftest_harness.h"
#include "child.h"
#include "conns.h"
#include "fabric.h"
#include "fd_pass.h"
#include "lane_pair.h"
#include "objects.h"
#include "pair.h"
#include "rdma_link.h"
#include "session.h"

/* More than a group, and more than a frame of a trunk has records. */
#define COUNT		70
/* What tells the connections apart: the client's and the server's wr_id. */
#define CLIENT		1000
#define SERVER		2000

/**
 * struct side - one of the two programs
 * @session: its session
 * @ring: ring of its connections
 * @entries: its connections
 */
struct side {
	int session;
	struct ring ring;
	struct krdma_conns_entry entries[COUNT];
};

static int side_open(struct side *side, uint32_t flags, uint32_t entries)
{
	struct ring_options options = { .flags = flags, .cq_entries = entries };

	side->ring.fd = -1;
	side->session = session_open(O_RDWR | O_CLOEXEC);
	if (side->session < 0)
		return side->session;
	return ring_create(side->session, &options, &side->ring);
}

static void side_close(struct side *side)
{
	ring_close(&side->ring);
	if (side->session >= 0)
		close(side->session);
	side->session = -1;
}

FIXTURE(many)
{
	struct side server;
	struct side client;
	int listener;
	struct __kernel_sockaddr_storage address;
	uint32_t count;
	uint32_t flags;
	pthread_t thread;
};

FIXTURE_VARIANT(many)
{
	uint32_t count;
	bool lanes;
};

FIXTURE_VARIANT_ADD(many, lanes) { .count = COUNT, .lanes = true };
FIXTURE_VARIANT_ADD(many, plain) { .count = 5 };

FIXTURE_SETUP(many)
{
	uint32_t flags = variant->lanes ? KRDMA_LISTEN_LANES : 0;

	self->count = variant->count;
	self->flags = variant->lanes ? KRDMA_CONNS_LANES : 0;
	ASSERT_EQ(0, side_open(&self->server, 0, 2048));
	ASSERT_EQ(0, side_open(&self->client, 0, 2048));
	ASSERT_EQ(0, listener_open_with(self->server.session, BOOT_ADDRESS, 0, 256, flags,
					&self->listener, &self->address));
}

FIXTURE_TEARDOWN(many)
{
	close(self->listener);
	side_close(&self->client);
	side_close(&self->server);
}

/* Takes and accepts all requests.  Returns NULL, or where it has failed. */
static const char *serve(FIXTURE_DATA(many) * self)
{
	struct krdma_conns_entry *entries = self->server.entries;
	uint32_t taken = 0, done;
	int error;

	while (taken < self->count) {
		for (uint32_t i = taken; i < self->count; i++)
			entries[i] = (struct krdma_conns_entry) { .wr_id = SERVER + i };
		if (conns_request(self->server.session, KRDMA_CONNS_TAKE, 0, self->listener,
				  entries + taken, self->count - taken, deadline_in(PATIENCE_MS),
				  &done, &error) || error || !done)
			return "take";
		for (uint32_t i = taken; i < taken + done; i++) {
			if (!entries[i].id || entries[i].remote.ss_family != AF_INET)
				return "request";
			entries[i].private_data_len = 0;
		}
		if (conns_request(self->server.session, KRDMA_CONNS_ACCEPT, 0,
				  self->server.ring.fd, entries + taken, done, 0, &done, &error) ||
		    error)
			return "accept";
		taken += done;
	}
	return NULL;
}

static void *serve_thread(void *context)
{
	return (void *)serve(context);
}

static void fill_open(const struct __kernel_sockaddr_storage *address,
		      struct krdma_conns_entry *entries, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		entries[i] = (struct krdma_conns_entry) { .wr_id = CLIENT + i,
							  .remote = *address };
}

/* Returns NULL, or where it has failed. */
static const char *open_all(FIXTURE_DATA(many) * self)
{
	void *where;
	uint32_t done;
	int error;

	fill_open(&self->address, self->client.entries, self->count);
	if (pthread_create(&self->thread, NULL, serve_thread, self))
		return "thread";
	if (conns_request(self->client.session, KRDMA_CONNS_OPEN, self->flags,
			  self->client.ring.fd, self->client.entries, self->count,
			  deadline_in(PATIENCE_MS), &done, &error) || error || done != self->count)
		return "open";
	pthread_join(self->thread, &where);
	return where;
}

/*
 * Waits for one event @type of each connection, which has the wr_id @first and those after it, in
 * any order; further completions are errors.  Returns NULL, or what was wrong.
 */
static const char *await_events(struct side *side, uint32_t count, uint32_t type, uint64_t first,
				int error)
{
	bool seen[COUNT] = { false };
	struct krdma_cqe cqe;

	for (uint32_t i = 0; i < count; i++) {
		if (ring_wait(&side->ring, &cqe, PATIENCE_MS))
			return "missing";
		if (cqe.opcode != KRDMA_OP_EVENT || cqe.status || cqe.flags || cqe.reserved)
			return "no event";
		if (cqe.length != type || (int32_t)cqe.imm != error)
			return "another event";
		if (cqe.wr_id < first || cqe.wr_id >= first + count || seen[cqe.wr_id - first])
			return "another connection";
		seen[cqe.wr_id - first] = true;
		if (cqe.dest != side->entries[cqe.wr_id - first].id)
			return "another number";
	}
	return NULL;
}

/* Opens all and waits until the server knows it.  Returns NULL, or where it has failed. */
static const char *establish_all(FIXTURE_DATA(many) * self)
{
	return open_all(self) ?: await_events(&self->server, self->count,
					      KRDMA_EVENT_ESTABLISHED, SERVER, 0);
}

/* Proves: F15 */
TEST_F(many, opened_used_and_closed)
{
	struct krdma_device_query_args device;
	struct krdma_cqe cqe;
	uint64_t word = 42;
	struct mr mr;
	uint32_t done;
	int error;

	ASSERT_STREQ("", establish_all(self) ?: "");
	/* Each carries a message, by its number. */
	ASSERT_EQ(0, session_named(self->server.session, BOOT_DEVICE, &device));
	ASSERT_EQ(0, mr_create_with(self->server.session, device.id, 4096,
				    KRDMA_ACCESS_LOCAL_WRITE, KRDMA_MR_REGISTER_LANES, &mr));
	for (uint32_t i = 0; i < self->count; i++) {
		struct krdma_sqe receive = sqe_receive(self->server.entries[i].id, i, &mr, 8 * i,
						       8);
		struct krdma_sqe send;

		ASSERT_EQ(0, ring_submit(&self->server.ring, &receive, 1, NULL));
		send = inline_send(self->client.entries[i].id, i, &word);
		ASSERT_EQ(0, ring_submit(&self->client.ring, &send, 1, NULL));
	}
	for (uint32_t i = 0; i < self->count; i++) {
		ASSERT_EQ(0, ring_wait(&self->client.ring, &cqe, PATIENCE_MS));
		EXPECT_EQ(KRDMA_OP_SEND, cqe.opcode);
		EXPECT_EQ(0, cqe.status);
		ASSERT_EQ(0, ring_wait(&self->server.ring, &cqe, PATIENCE_MS));
		EXPECT_EQ(KRDMA_OP_RECV, cqe.opcode);
		EXPECT_EQ(0, cqe.status);
	}

	ASSERT_EQ(0, conns_close(self->client.session, self->client.entries, self->count, &done,
				 &error));
	EXPECT_EQ(self->count, done);
	EXPECT_EQ(0, error);
	/* Its own end is no news, but it is to the peer: once, and nothing after it. */
	EXPECT_EQ(-ETIMEDOUT, ring_wait(&self->client.ring, &cqe, 100));
	EXPECT_STREQ("", await_events(&self->server, self->count, KRDMA_EVENT_DISCONNECTED, SERVER,
				      -EPIPE) ?: "");
	EXPECT_EQ(-ETIMEDOUT, ring_wait(&self->server.ring, &cqe, 100));

	ASSERT_EQ(0, conns_close(self->server.session, self->server.entries, self->count, &done,
				 &error));
	EXPECT_EQ(self->count, done);
	/* A number ends once. */
	ASSERT_EQ(0, conns_close(self->server.session, self->server.entries, self->count, &done,
				 &error));
	EXPECT_EQ(0, done);
	EXPECT_EQ(-ENOENT, error);
	EXPECT_EQ(-ENOENT, self->server.entries[self->count - 1].error);
	mr_destroy(&mr);
}

/* The number is that of the session which has opened it, and of no descriptor. */
/* Proves: F15 */
TEST_F(many, a_number_is_of_one_session)
{
	struct krdma_conns_entry entries[4] = {};
	struct krdma_sqe send;
	uint64_t word = 1;
	uint32_t id, done;
	int fd, error;

	ASSERT_STREQ("", open_all(self) ?: "");
	ASSERT_EQ(0, conn_create(self->server.session, &fd, &id));
	entries[0].id = self->client.entries[0].id;
	entries[1].id = id;
	entries[2].id = 0;
	entries[3].id = UINT32_MAX;
	ASSERT_EQ(0, conns_close(self->server.session, entries, 4, &done, &error));
	EXPECT_EQ(0, done);
	for (int i = 0; i < 4; i++)
		EXPECT_EQ(-ENOENT, entries[i].error);
	ASSERT_EQ(0, conns_request(self->server.session, KRDMA_CONNS_ACCEPT, 0,
				   self->server.ring.fd, entries, 4, 0, &done, &error));
	EXPECT_EQ(0, done);
	EXPECT_EQ(-ENOENT, error);
	/* Nor can it be used in a ring of another session. */
	send = inline_send(self->client.entries[0].id, 1, &word);
	EXPECT_EQ(-ENOENT, ring_submit(&self->server.ring, &send, 1, NULL));
	EXPECT_EQ(0, ring_submit(&self->client.ring, &send, 1, NULL));
	/* One of the others ends, and no other one. */
	entries[1].id = self->client.entries[1].id;
	ASSERT_EQ(0, conns_close(self->client.session, entries + 1, 2, &done, &error));
	EXPECT_EQ(1, done);
	EXPECT_EQ(0, entries[1].error);
	EXPECT_EQ(-ENOENT, entries[2].error);
	EXPECT_EQ(-ENOENT, error);
	close(fd);
}

/* All entries are tried; each has its own error, and a failed one leaves nothing. */
/* Proves: F15 */
TEST_F(many, some_fail_and_others_do_not)
{
	struct krdma_conns_entry *entries = self->client.entries;
	const char *where;
	uint32_t done;
	int error;

	self->count = 2;
	fill_open(&self->address, entries, 6);
	entries[1].remote.ss_family = AF_UNIX;
	address_set(&entries[2].remote, BOOT_ADDRESS, 9);
	entries[3].reserved = 1;
	entries[4].private_data_len = 8;
	entries[4].private_data = 8;
	ASSERT_EQ(0, pthread_create(&self->thread, NULL, serve_thread, self));
	ASSERT_EQ(0, conns_request(self->client.session, KRDMA_CONNS_OPEN, self->flags,
				   self->client.ring.fd, entries, 6, deadline_in(PATIENCE_MS),
				   &done, &error));
	pthread_join(self->thread, (void **)&where);
	ASSERT_STREQ("", where ?: "");
	EXPECT_EQ(2, done);
	EXPECT_EQ(-EAFNOSUPPORT, error);
	EXPECT_EQ(0, entries[0].error);
	EXPECT_EQ(-EAFNOSUPPORT, entries[1].error);
	EXPECT_EQ(-ECONNREFUSED, entries[2].error);
	EXPECT_EQ(-EOPNOTSUPP, entries[3].error);
	EXPECT_EQ(-EFAULT, entries[4].error);
	EXPECT_EQ(0, entries[5].error);
	for (int i = 0; i < 6; i++)
		EXPECT_EQ(!entries[i].error, !!entries[i].id);
	/* Accepted once. */
	ASSERT_STREQ("", await_events(&self->server, 2, KRDMA_EVENT_ESTABLISHED, SERVER, 0) ?: "");
	ASSERT_EQ(0, conns_request(self->server.session, KRDMA_CONNS_ACCEPT, 0,
				   self->server.ring.fd, self->server.entries, 2, 0, &done,
				   &error));
	EXPECT_EQ(0, done);
	EXPECT_EQ(-EISCONN, error);
	/* Only requests can be accepted. */
	ASSERT_EQ(0, conns_request(self->client.session, KRDMA_CONNS_ACCEPT, 0,
				   self->client.ring.fd, entries, 1, 0, &done, &error));
	EXPECT_EQ(0, done);
	EXPECT_EQ(-EINVAL, error);
}

struct asker {
	uint32_t done;
	int error;
	void *self;
};

static void *ask_thread(void *context)
{
	struct asker *asker = context;
	struct _test_data_many *self = asker->self;

	conns_request(self->client.session, KRDMA_CONNS_OPEN, self->flags, self->client.ring.fd,
		      self->client.entries, 2, deadline_in(PATIENCE_MS), &asker->done,
		      &asker->error);
	return NULL;
}

static int take_two(FIXTURE_DATA(many) * self, struct krdma_conns_entry *entries)
{
	int ret = 0, error = 0;
	uint32_t done;

	for (uint32_t taken = 0; !ret && !error && taken < 2; taken += done)
		ret = conns_request(self->server.session, KRDMA_CONNS_TAKE, 0, self->listener,
				    entries + taken, 2 - taken, deadline_in(PATIENCE_MS), &done,
				    &error);
	return ret ?: error;
}

/* A number that stands in a call twice is accepted once, and closed once. */
/* Proves: F15 */
TEST_F(many, a_number_that_stands_there_twice)
{
	struct asker asker = { .self = self };
	struct krdma_conns_entry entries[3] = {}, *twice = self->server.entries;
	uint32_t done;
	int error;

	fill_open(&self->address, self->client.entries, 2);
	ASSERT_EQ(0, pthread_create(&self->thread, NULL, ask_thread, &asker));
	ASSERT_EQ(0, take_two(self, entries));
	for (int i = 0; i < 4; i++)
		twice[i] = (struct krdma_conns_entry) { .id = entries[i / 2].id,
							.wr_id = SERVER + i };
	ASSERT_EQ(0, conns_request(self->server.session, KRDMA_CONNS_ACCEPT, 0,
				   self->server.ring.fd, twice, 4, 0, &done, &error));
	pthread_join(self->thread, NULL);
	EXPECT_EQ(2, done);
	EXPECT_EQ(2, asker.done);
	for (int i = 0; i < 4; i += 2) {
		EXPECT_EQ(0, twice[i].error);
		EXPECT_NE(0, twice[i + 1].error);
		/* A plain connection is connected when its peer has the answer. */
		if (!variant->lanes)
			continue;
		EXPECT_EQ(-EISCONN, twice[i + 1].error);
	}
	/* The events have the first wr_id. */
	twice[1] = twice[2];
	for (int i = 0; i < 2; i++) {
		struct krdma_cqe cqe;

		ASSERT_EQ(0, ring_wait(&self->server.ring, &cqe, PATIENCE_MS));
		EXPECT_EQ(KRDMA_EVENT_ESTABLISHED, cqe.length);
		EXPECT_EQ(0, cqe.wr_id % 2);
		EXPECT_EQ(twice[(cqe.wr_id - SERVER) / 2].id, cqe.dest);
	}
	twice[2] = twice[0];
	ASSERT_EQ(0, conns_close(self->server.session, twice, 3, &done, &error));
	EXPECT_EQ(2, done);
	EXPECT_EQ(0, twice[0].error);
	EXPECT_EQ(0, twice[1].error);
	EXPECT_EQ(-ENOENT, twice[2].error);
}

/* The peer's data and address come with the request; closing it rejects it. */
/* Proves: F15 */
TEST_F(many, a_request_can_be_rejected)
{
	struct asker asker = { .self = self };
	struct krdma_conns_entry *entries = self->server.entries;
	char data[2][64] = { { 0 } };
	uint32_t done;
	int error;

	fill_open(&self->address, self->client.entries, 2);
	for (int i = 0; i < 2; i++) {
		self->client.entries[i].private_data = (uintptr_t)"hello";
		self->client.entries[i].private_data_len = 5;
		entries[i] = (struct krdma_conns_entry) {
			.private_data = (uintptr_t)data[i], .private_data_len = sizeof(data[i]),
		};
	}
	ASSERT_EQ(0, pthread_create(&self->thread, NULL, ask_thread, &asker));
	ASSERT_EQ(0, take_two(self, entries));
	for (int i = 0; i < 2; i++) {
		EXPECT_LE(5, entries[i].private_data_len);
		EXPECT_EQ(0, memcmp(data[i], "hello", 5));
		EXPECT_NE(0, address_port(&entries[i].remote));
	}
	ASSERT_EQ(0, conns_close(self->server.session, entries, 2, &done, &error));
	EXPECT_EQ(2, done);
	pthread_join(self->thread, NULL);
	EXPECT_EQ(0, asker.done);
	EXPECT_EQ(-ECONNREFUSED, asker.error);
	EXPECT_EQ(0, self->client.entries[0].id);
	EXPECT_EQ(-ECONNREFUSED, self->client.entries[1].error);
}

/* Proves: F15 */
TEST_F(many, no_request_and_no_answer)
{
	struct krdma_conns_entry *entries = self->client.entries;
	uint64_t deadline;
	uint32_t done;
	int error;

	memset(entries, 0, sizeof(self->client.entries));
	EXPECT_EQ(-EAGAIN, conns_request(self->server.session, KRDMA_CONNS_TAKE, 0, self->listener,
					 entries, 3, 0, NULL, NULL));
	deadline = deadline_in(50);
	EXPECT_EQ(-ETIMEDOUT, conns_request(self->server.session, KRDMA_CONNS_TAKE, 0,
					    self->listener, entries, 3, deadline, NULL, NULL));
	EXPECT_LE(0, deadline_past_us(deadline));
	/* Nobody takes the requests. */
	fill_open(&self->address, entries, 3);
	deadline = deadline_in(500);
	ASSERT_EQ(0, conns_request(self->client.session, KRDMA_CONNS_OPEN, self->flags,
				   self->client.ring.fd, entries, 3, deadline, &done, &error));
	EXPECT_LE(0, deadline_past_us(deadline));
	EXPECT_EQ(0, done);
	EXPECT_EQ(-ETIMEDOUT, error);
	ASSERT_EQ(0, conns_request(self->client.session, KRDMA_CONNS_OPEN, self->flags,
				   self->client.ring.fd, entries, 3, 0, &done, &error));
	EXPECT_EQ(0, done);
	EXPECT_EQ(-ETIMEDOUT, entries[2].error);
}

static void nothing(int signal)
{
	(void)signal;
}

static void *interrupt_thread(void *context)
{
	pthread_t *target = context;

	sleep_ms(200);
	pthread_kill(*target, SIGUSR1);
	return NULL;
}

/* Proves: F15 */
TEST_F(many, a_signal_ends_the_wait)
{
	struct sigaction action = { .sa_handler = nothing };
	struct krdma_conns_entry *entries = self->client.entries;
	pthread_t me = pthread_self();

	ASSERT_EQ(0, sigaction(SIGUSR1, &action, NULL));
	fill_open(&self->address, entries, 3);
	ASSERT_EQ(0, pthread_create(&self->thread, NULL, interrupt_thread, &me));
	EXPECT_EQ(-EINTR, conns_request(self->client.session, KRDMA_CONNS_OPEN, self->flags,
					self->client.ring.fd, entries, 3, KRDMA_FOREVER, NULL,
					NULL));
	pthread_join(self->thread, NULL);
	/* The requests that it has given up. */
	close(self->listener);
	ASSERT_EQ(0, listener_open_with(self->server.session, BOOT_ADDRESS, 0, 256, 0,
					&self->listener, &self->address));
	ASSERT_EQ(0, pthread_create(&self->thread, NULL, interrupt_thread, &me));
	EXPECT_EQ(-EINTR, conns_request(self->server.session, KRDMA_CONNS_TAKE, 0, self->listener,
					entries, 3, KRDMA_FOREVER, NULL, NULL));
	pthread_join(self->thread, NULL);
}

/* Proves: F15 */
TEST_F(many, wrong_arguments)
{
	static const unsigned long numbers[] = {
		KRDMA_CONNS_OPEN, KRDMA_CONNS_TAKE, KRDMA_CONNS_ACCEPT, KRDMA_CONNS_CLOSE,
	};
	struct krdma_conns_entry *entries = self->client.entries;
	struct side other;

	ASSERT_EQ(0, side_open(&other, 0, 0));
	memset(entries, 0, sizeof(self->client.entries));
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		struct krdma_conns_args args = {
			.size = sizeof(args), .entries = (uintptr_t)entries, .count = 1,
			.fd = numbers[i] == KRDMA_CONNS_TAKE ? self->listener :
			      numbers[i] == KRDMA_CONNS_CLOSE ? 0 : self->client.ring.fd,
		};
		int session = numbers[i] == KRDMA_CONNS_TAKE ? self->server.session :
							       self->client.session;
		struct krdma_conns_args wrong = args;

		wrong.count = 0;
		EXPECT_EQ(-EINVAL, session_request(session, numbers[i], &wrong));
		wrong.count = KRDMA_CONNS_MAX + 1;
		EXPECT_EQ(-EINVAL, session_request(session, numbers[i], &wrong));
		wrong = args;
		wrong.flags = 4;
		EXPECT_EQ(-EOPNOTSUPP, session_request(session, numbers[i], &wrong));
		wrong = args;
		wrong.entries = 8;
		EXPECT_EQ(-EFAULT, session_request(session, numbers[i], &wrong));
		if (numbers[i] != KRDMA_CONNS_OPEN) {
			wrong = args;
			wrong.flags = KRDMA_CONNS_LANES;
			EXPECT_EQ(-EOPNOTSUPP, session_request(session, numbers[i], &wrong));
		}
		if (numbers[i] == KRDMA_CONNS_TAKE || numbers[i] == KRDMA_CONNS_CLOSE) {
			wrong = args;
			wrong.flags = KRDMA_CONNS_SRQ;
			EXPECT_EQ(-EOPNOTSUPP, session_request(session, numbers[i], &wrong));
			wrong = args;
			wrong.max_recv_sge = 1;
			EXPECT_EQ(-EINVAL, session_request(session, numbers[i], &wrong));
		}
		if (numbers[i] == KRDMA_CONNS_ACCEPT || numbers[i] == KRDMA_CONNS_CLOSE) {
			wrong = args;
			wrong.deadline_ns = 1;
			EXPECT_EQ(-EINVAL, session_request(session, numbers[i], &wrong));
		}
		wrong = args;
		wrong.fd = -1;
		EXPECT_EQ(numbers[i] == KRDMA_CONNS_CLOSE ? -EINVAL : -EBADF,
			  session_request(session, numbers[i], &wrong));
		if (numbers[i] == KRDMA_CONNS_CLOSE)
			continue;
		wrong.fd = session;
		EXPECT_EQ(-EPROTOTYPE, session_request(session, numbers[i], &wrong));
		EXPECT_EQ(-EXDEV, session_request(other.session, numbers[i], &args));
	}
	/* Later entries that cannot be read: those before them are done. */
	if (variant->lanes) {
		long page = sysconf(_SC_PAGESIZE);
		char *memory = mmap(NULL, 5 * page, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		struct krdma_conns_args args = { .size = sizeof(args) };

		ASSERT_TRUE((void *)memory != MAP_FAILED);
		ASSERT_EQ(0, munmap(memory + 4 * page, page));
		args.entries = (uintptr_t)memory;
		args.count = 4 * page / sizeof(*entries) + 1;
		ASSERT_EQ(0, session_request(self->client.session, KRDMA_CONNS_CLOSE, &args));
		EXPECT_EQ(0, args.done);
		EXPECT_EQ(-ENOENT, args.error);
		EXPECT_EQ(-ENOENT, ((struct krdma_conns_entry *)memory)[0].error);
		munmap(memory, 4 * page);
	}
	side_close(&other);
}

/* They count as connections with descriptors do. */
/* Proves: F15 */
TEST_F(many, numbers_count_in_the_limits)
{
	struct krdma_limit_query_args before = { .size = sizeof(before),
						 .limit = KRDMA_LIMIT_OBJECTS };
	struct krdma_limit_query_args after = before;
	uint32_t done;

	ASSERT_EQ(0, session_request(self->client.session, KRDMA_LIMIT_QUERY, &before));
	ASSERT_STREQ("", open_all(self) ?: "");
	ASSERT_EQ(0, session_request(self->client.session, KRDMA_LIMIT_QUERY, &after));
	EXPECT_EQ(before.user_used + 2 * self->count, after.user_used);
	ASSERT_EQ(0, conns_close(self->client.session, self->client.entries, self->count, &done,
				 NULL));
	ASSERT_EQ(0, conns_close(self->server.session, self->server.entries, self->count, &done,
				 NULL));
	for (int i = 0; i < 100 && after.user_used != before.user_used; i++) {
		sleep_ms(20);
		ASSERT_EQ(0, session_request(self->client.session, KRDMA_LIMIT_QUERY, &after));
	}
	EXPECT_EQ(before.user_used, after.user_used);
}

/* A program that reads the CQ, and makes no call, gets them too. */
/* Proves: F15 */
TEST_F(many, events_come_without_a_call)
{
	struct krdma_cqe cqe;
	uint32_t done, got = 0;

	ASSERT_STREQ("", establish_all(self) ?: "");
	ASSERT_EQ(0, conns_close(self->client.session, self->client.entries, self->count, &done,
				 NULL));
	for (int i = 0; i < PATIENCE_MS && got < self->count; i++) {
		while (!ring_take(&self->server.ring, &cqe)) {
			EXPECT_EQ(KRDMA_OP_EVENT, cqe.opcode);
			got++;
		}
		sleep_ms(1);
	}
	EXPECT_EQ(self->count, got);
}

/* The end of the ring's descriptor, with events in it, leaves nothing. */
/* Proves: F15 */
TEST_F(many, events_that_nobody_takes)
{
	uint32_t done;

	ASSERT_STREQ("", open_all(self) ?: "");
	ring_close(&self->server.ring);
	self->server.ring.fd = -1;
	ASSERT_EQ(0, conns_close(self->client.session, self->client.entries, self->count, &done,
				 NULL));
	sleep_ms(50);
	side_close(&self->client);
	close(self->listener);
	self->listener = -1;
	side_close(&self->server);
	EXPECT_EQ(0, objects_await_kind("user_conn", 0, PATIENCE_MS));
	EXPECT_EQ(0, objects_await_kind("user_ring", 0, PATIENCE_MS));
}

/* Completes sends of the server's first connection until its CQ has @count completions. */
static int fill_cq(FIXTURE_DATA(many) * self, uint32_t count)
{
	const struct krdma_ring_header *header = self->server.ring.header;
	struct krdma_device_query_args device;
	struct krdma_cqe cqe;
	uint32_t sent = 0;
	uint64_t word = 7;
	struct mr mr;
	int ret;

	ret = session_named(self->client.session, BOOT_DEVICE, &device);
	if (!ret)
		ret = mr_create_with(self->client.session, device.id, 4096,
				     KRDMA_ACCESS_LOCAL_WRITE, KRDMA_MR_REGISTER_LANES, &mr);
	if (ret)
		return ret;
	for (int i = 0; i < PATIENCE_MS && header->cq_tail - header->cq_head < count; i++) {
		struct krdma_sqe receive = sqe_receive(self->client.entries[0].id, 1, &mr, 0, 8);
		struct krdma_sqe send = inline_send(self->server.entries[0].id, 1, &word);

		ring_submit(&self->client.ring, &receive, 1, NULL);
		while (!ring_take(&self->client.ring, &cqe))
			;
		if (sent < count && !ring_post(self->server.ring.fd, &send, 1, NULL))
			sent++;
		else
			sleep_ms(1);
	}
	mr_destroy(&mr);
	return header->cq_tail - header->cq_head == count ? 0 : -ETIMEDOUT;
}

/* What does not fit waits, and comes once: more than are moved at a time, by one call. */
/* Proves: F15 */
TEST(events_wait_for_a_full_ring)
{
	FIXTURE_DATA(many) self = { .count = COUNT, .flags = KRDMA_CONNS_LANES };
	uint32_t done, events = 0, sends = 0;
	struct krdma_cqe cqe;

	ASSERT_EQ(0, side_open(&self.server, 0, 512));
	ASSERT_EQ(0, side_open(&self.client, 0, 2048));
	ASSERT_EQ(0, listener_open_with(self.server.session, BOOT_ADDRESS, 0, 256,
					KRDMA_LISTEN_LANES, &self.listener, &self.address));
	ASSERT_STREQ("", open_all(&self) ?: "");
	ASSERT_STREQ("", await_events(&self.server, COUNT, KRDMA_EVENT_ESTABLISHED, SERVER, 0)
		     ?: "");
	ASSERT_EQ(0, fill_cq(&self, 512));
	ASSERT_EQ(0, conns_close(self.client.session, self.client.entries, COUNT, &done, NULL));
	for (int i = 0; i < PATIENCE_MS &&
	     !(self.server.ring.header->cq_flags & KRDMA_RING_CQ_OVERFLOW); i++)
		sleep_ms(1);
	sleep_ms(100);
	while (!ring_take(&self.server.ring, &cqe)) {
		EXPECT_EQ(KRDMA_OP_SEND, cqe.opcode);
		sends++;
	}
	EXPECT_EQ(512, sends);
	ASSERT_EQ(0, ring_enter(&self.server.ring, 0, 0, 0, NULL));
	while (!ring_take(&self.server.ring, &cqe)) {
		EXPECT_EQ(KRDMA_OP_EVENT, cqe.opcode);
		EXPECT_EQ(KRDMA_EVENT_DISCONNECTED, cqe.length);
		events++;
	}
	EXPECT_EQ(COUNT, events);
	EXPECT_EQ(0, self.server.ring.header->cq_flags & KRDMA_RING_CQ_OVERFLOW);
	close(self.listener);
	side_close(&self.client);
	side_close(&self.server);
}

/* A polled ring has them inside calls, and poll() reports them. */
/* Proves: F15 */
TEST(events_of_a_polled_ring)
{
	FIXTURE_DATA(many) self = { .count = 3, .flags = KRDMA_CONNS_LANES };
	uint32_t done;

	ASSERT_EQ(0, side_open(&self.server, KRDMA_RING_POLLED, 256));
	ASSERT_EQ(0, side_open(&self.client, 0, 256));
	ASSERT_EQ(0, listener_open_with(self.server.session, BOOT_ADDRESS, 0, 16,
					KRDMA_LISTEN_LANES, &self.listener, &self.address));
	ASSERT_STREQ("", open_all(&self) ?: "");
	EXPECT_EQ(POLLIN, poll_mask(self.server.ring.fd, POLLIN, PATIENCE_MS));
	ASSERT_STREQ("", await_events(&self.server, 3, KRDMA_EVENT_ESTABLISHED, SERVER, 0) ?: "");
	EXPECT_EQ(0, poll_mask(self.server.ring.fd, POLLIN, 50));
	ASSERT_EQ(0, conns_close(self.client.session, self.client.entries, 3, &done, NULL));
	EXPECT_EQ(POLLIN, poll_mask(self.server.ring.fd, POLLIN, PATIENCE_MS));
	EXPECT_STREQ("", await_events(&self.server, 3, KRDMA_EVENT_DISCONNECTED, SERVER, -EPIPE)
		     ?: "");

	/* Two events of each, in their order: the connections take turns. */
	ASSERT_STREQ("", open_all(&self) ?: "");
	ASSERT_EQ(0, conns_close(self.client.session, self.client.entries, 3, &done, NULL));
	sleep_ms(200);
	EXPECT_STREQ("", await_events(&self.server, 3, KRDMA_EVENT_ESTABLISHED, SERVER, 0) ?: "");
	EXPECT_STREQ("", await_events(&self.server, 3, KRDMA_EVENT_DISCONNECTED, SERVER, -EPIPE)
		     ?: "");
	close(self.listener);
	side_close(&self.client);
	side_close(&self.server);
}

/* The end of the device is an event of each, too, although the ring gets nothing else any more. */
/* Proves: F15 */
TEST(events_of_a_removed_device)
{
	static const uint32_t listen_flags[] = { 0, KRDMA_LISTEN_LANES };
	static const uint32_t open_flags[] = { 0, KRDMA_CONNS_LANES };

	for (int i = 0; i < 2; i++) {
		FIXTURE_DATA(many) self = { .count = 3, .flags = open_flags[i] };
		uint32_t done, events = 0;
		struct krdma_cqe cqe;

		ASSERT_EQ(0, fabric_create());
		ASSERT_EQ(0, side_open(&self.server, 0, 256));
		ASSERT_EQ(0, side_open(&self.client, 0, 256));
		ASSERT_EQ(0, listener_open_with(self.server.session, FABRIC_ADDRESS, 0, 16,
						listen_flags[i], &self.listener, &self.address));
		ASSERT_STREQ("", open_all(&self) ?: "");
		ASSERT_EQ(0, rdma_link_remove(FABRIC_DEVICE));
		for (int j = 0; j < PATIENCE_MS && events < 3; j++) {
			while (!ring_take(&self.client.ring, &cqe)) {
				EXPECT_EQ(KRDMA_OP_EVENT, cqe.opcode);
				EXPECT_EQ(-ENODEV, (int32_t)cqe.imm);
				events++;
			}
			sleep_ms(1);
		}
		EXPECT_EQ(3, events);
		/* The numbers are there until they are closed. */
		ASSERT_EQ(0, conns_close(self.client.session, self.client.entries, 3, &done,
					 NULL));
		EXPECT_EQ(3, done);
		EXPECT_EQ(-EAGAIN, ring_take(&self.client.ring, &cqe));
		close(self.listener);
		side_close(&self.client);
		side_close(&self.server);
		fabric_destroy();
	}
}

/*
 * Processes
 */

struct client {
	struct __kernel_sockaddr_storage address;
	uint32_t flags;
	uint32_t count;
	int channel;
	int session;
};

/* Opens all, says so, and waits to be killed. */
static int client_waits(void *context)
{
	struct client *client = context;
	struct side side;
	uint32_t done;
	int error;

	CHECK(!side_open(&side, 0, 2048));
	fill_open(&client->address, side.entries, client->count);
	CHECK(!conns_request(side.session, KRDMA_CONNS_OPEN, client->flags, side.ring.fd,
			     side.entries, client->count, deadline_in(PATIENCE_MS), &done, &error));
	CHECK(!error && done == client->count);
	if (client->channel >= 0)
		CHECK(!fd_send(client->channel, side.session));
	for (;;)
		pause();
	return 0;
}

/* Proves: F15 */
TEST_F(many, a_killed_process_leaves_nothing)
{
	struct client client = { .address = self->address, .flags = self->flags,
				 .count = self->count, .channel = -1 };
	struct objects objects;
	pid_t child;

	child = child_start(client_waits, &client);
	ASSERT_LT(0, child);
	ASSERT_STREQ("", serve(self) ?: "");
	ASSERT_STREQ("", await_events(&self->server, self->count, KRDMA_EVENT_ESTABLISHED, SERVER,
				      0) ?: "");
	ASSERT_LE(0, child_kill(child));
	EXPECT_STREQ("", await_events(&self->server, self->count, KRDMA_EVENT_DISCONNECTED, SERVER,
				      -EPIPE) ?: "");
	/* Those of this side are there, until they are closed. */
	EXPECT_EQ(0, objects_await_kind("user_conn", self->count, PATIENCE_MS));
	ASSERT_EQ(0, objects_read(&objects));
	EXPECT_EQ(self->count, objects_count(&objects, "user_conn"));
	ASSERT_EQ(0, conns_close(self->server.session, self->server.entries, self->count, NULL,
				 NULL));
	EXPECT_EQ(0, objects_await_kind("user_conn", 0, PATIENCE_MS));
}

/* Whichever process has the session has the numbers, and they end with its last descriptor. */
/* Proves: F15 */
TEST_F(many, numbers_go_with_the_session)
{
	struct client client = { .address = self->address, .flags = self->flags,
				 .count = self->count };
	struct krdma_cqe cqe;
	int channel[2], session;
	pid_t child;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, channel));
	client.channel = channel[1];
	child = child_start(client_waits, &client);
	ASSERT_LT(0, child);
	ASSERT_STREQ("", serve(self) ?: "");
	ASSERT_STREQ("", await_events(&self->server, self->count, KRDMA_EVENT_ESTABLISHED, SERVER,
				      0) ?: "");
	session = fd_receive(channel[0]);
	ASSERT_LE(0, session);
	ASSERT_LE(0, child_kill(child));
	EXPECT_EQ(-ETIMEDOUT, ring_wait(&self->server.ring, &cqe, 200));
	close(session);
	EXPECT_STREQ("", await_events(&self->server, self->count, KRDMA_EVENT_DISCONNECTED, SERVER,
				      -EPIPE) ?: "");
	close(channel[0]);
	close(channel[1]);
}

static void *close_thread(void *context)
{
	FIXTURE_DATA(many) * self = context;
	uint32_t done;

	conns_close(self->server.session, self->server.entries, self->count, &done, NULL);
	return (void *)(uintptr_t)done;
}

/* Three threads close the same numbers, while the peer ends them: each ends once. */
/* Proves: F15 */
TEST_F(many, closed_by_several_threads)
{
	uint32_t sum = 0;
	pthread_t threads[3];
	void *done;

	for (unsigned int round = 0; round < rounds(5, 2); round++) {
		ASSERT_STREQ("", open_all(self) ?: "");
		sum = 0;
		for (int i = 0; i < 3; i++)
			ASSERT_EQ(0, pthread_create(&threads[i], NULL, close_thread, self));
		ASSERT_EQ(0, conns_close(self->client.session, self->client.entries, self->count,
					 NULL, NULL));
		for (int i = 0; i < 3; i++) {
			pthread_join(threads[i], &done);
			sum += (uintptr_t)done;
		}
		EXPECT_EQ(self->count, sum);
	}
	EXPECT_EQ(0, objects_await_kind("user_conn", 0, PATIENCE_MS));
}

/*
 * Descriptors
 */

/* Connections of a session without a descriptor, as its fdinfo has them; negative: it does not. */
static int conns_shown(int session)
{
	char path[64], line[256];
	int count = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", session);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file) && sscanf(line, "conns: %d", &count) != 1)
		;
	if (file)
		fclose(file);
	return count;
}

static bool event_is(int fd, uint32_t type, int error)
{
	struct krdma_event_record record;

	return !conn_event(fd, &record, PATIENCE_MS) && record.type == type &&
	       record.error == error;
}

/* A connection that gets a descriptor is one like others, with the same number in rings. */
/* Proves: F15 */
TEST_F(many, a_descriptor_on_request)
{
	uint32_t done, id, state;
	struct krdma_sqe receive, send;
	struct krdma_cqe cqe;
	int error, fd, other;
	uint64_t which;

	ASSERT_STREQ("", establish_all(self) ?: "");
	EXPECT_EQ(self->count, conns_shown(self->client.session));
	id = self->client.entries[1].id;
	ASSERT_EQ(0, conns_fd(self->client.session, id, &fd));
	EXPECT_EQ(FD_CLOEXEC, fcntl(fd, F_GETFD));
	EXPECT_EQ(self->count - 1, conns_shown(self->client.session));
	ASSERT_EQ(0, conn_wait(fd, 0, &state));
	EXPECT_EQ(KRDMA_CONN_CONNECTED, state);
	/* The calls with numbers do not find it any more. */
	EXPECT_EQ(-ENOENT, conns_fd(self->client.session, id, &other));
	ASSERT_EQ(0, conns_close(self->client.session, self->client.entries + 1, 1, &done,
				 &error));
	EXPECT_EQ(0, done);
	EXPECT_EQ(-ENOENT, error);
	/* Rings do.  Its message tells which of the server's it is: they come in any order. */
	EXPECT_EQ(0, poll_mask(fd, POLLIN, 0));
	for (uint32_t i = 0; i < self->count; i++) {
		receive = sqe_receive(self->server.entries[i].id, SERVER + i, NULL, 0, 0);
		ASSERT_EQ(0, ring_submit(&self->server.ring, &receive, 1, NULL));
	}
	send = (struct krdma_sqe) { .opcode = KRDMA_OP_SEND, .dest = id };
	EXPECT_EQ(0, ring_submit(&self->client.ring, &send, 1, NULL));
	ASSERT_EQ(0, ring_wait(&self->server.ring, &cqe, PATIENCE_MS));
	EXPECT_EQ(KRDMA_OP_RECV, cqe.opcode);
	which = cqe.wr_id;
	/* Closing it ends this connection, and no other one. */
	ASSERT_EQ(0, close(fd));
	ASSERT_EQ(0, ring_wait(&self->server.ring, &cqe, PATIENCE_MS));
	EXPECT_EQ(KRDMA_EVENT_DISCONNECTED, cqe.length);
	EXPECT_EQ(which, cqe.wr_id);
	EXPECT_EQ(-ETIMEDOUT, ring_wait(&self->server.ring, &cqe, 100));
	EXPECT_EQ(-ENOENT, conns_fd(self->client.session, id, &other));
	ASSERT_EQ(0, conns_close(self->client.session, self->client.entries, self->count, &done,
				 &error));
	EXPECT_EQ(self->count - 1, done);
	EXPECT_EQ(0, conns_shown(self->client.session));
}

/* If there is no descriptor, or nobody would know it, nothing has changed. */
/* Proves: F15 */
TEST_F(many, a_descriptor_that_cannot_be_had)
{
	struct krdma_conns_fd_args args = { .size = sizeof(args) }, *fixed;
	size_t size = sysconf(_SC_PAGESIZE);
	struct rlimit limit, none;
	struct krdma_cqe cqe;
	uint32_t done;
	int error, fd;

	ASSERT_STREQ("", establish_all(self) ?: "");
	args.id = self->client.entries[0].id;
	args.flags = 1;
	EXPECT_EQ(-EOPNOTSUPP, session_request(self->client.session, KRDMA_CONNS_FD, &args));
	args.flags = 0;
	EXPECT_EQ(-ENOENT, session_request(self->server.session, KRDMA_CONNS_FD, &args));
	ASSERT_EQ(0, getrlimit(RLIMIT_NOFILE, &limit));
	none = (struct rlimit) { 3, limit.rlim_max };
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &none));
	EXPECT_EQ(-EMFILE, session_request(self->client.session, KRDMA_CONNS_FD, &args));
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &limit));
	/* The answer cannot be written. */
	fixed = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_TRUE(fixed != MAP_FAILED);
	*fixed = args;
	ASSERT_EQ(0, mprotect(fixed, size, PROT_READ));
	EXPECT_EQ(-EFAULT, session_request(self->client.session, KRDMA_CONNS_FD, fixed));
	munmap(fixed, size);

	EXPECT_EQ(self->count, conns_shown(self->client.session));
	EXPECT_EQ(-ETIMEDOUT, ring_wait(&self->server.ring, &cqe, 100));
	ASSERT_EQ(0, conns_fd(self->client.session, args.id, &fd));
	close(fd);
	ASSERT_EQ(0, conns_close(self->client.session, self->client.entries, self->count, &done,
				 &error));
	EXPECT_EQ(self->count - 1, done);
}

/* Events that are no completions yet are read from the descriptor, the last one included. */
/* Proves: F15 */
TEST(events_go_to_a_descriptor)
{
	static const uint32_t listen_flags[] = { 0, KRDMA_LISTEN_LANES };
	static const uint32_t open_flags[] = { 0, KRDMA_CONNS_LANES };

	for (int i = 0; i < 2; i++) {
		FIXTURE_DATA(many) self = { .count = 3, .flags = open_flags[i] };
		struct krdma_event_record record;
		struct krdma_cqe cqe;
		uint32_t done;
		int fd;

		/* Nothing fills a polled ring that nobody polls. */
		ASSERT_EQ(0, side_open(&self.server, KRDMA_RING_POLLED, 256));
		ASSERT_EQ(0, side_open(&self.client, 0, 256));
		ASSERT_EQ(0, listener_open_with(self.server.session, BOOT_ADDRESS, 0, 16,
						listen_flags[i], &self.listener, &self.address));
		ASSERT_STREQ("", open_all(&self) ?: "");
		ASSERT_EQ(0, conns_close(self.client.session, self.client.entries, 3, &done,
					 NULL));
		ASSERT_EQ(0, conns_fd(self.server.session, self.server.entries[0].id, &fd));
		EXPECT_TRUE(poll_mask(fd, POLLRDHUP, PATIENCE_MS) & POLLRDHUP);
		EXPECT_TRUE(event_is(fd, KRDMA_EVENT_ESTABLISHED, 0));
		EXPECT_TRUE(event_is(fd, KRDMA_EVENT_DISCONNECTED, -EPIPE));
		EXPECT_EQ(0, conn_event(fd, &record, PATIENCE_MS));
		EXPECT_EQ(KRDMA_EVENT_CLOSED, record.type);
		EXPECT_TRUE(poll_mask(fd, 0, PATIENCE_MS) & POLLHUP);
		EXPECT_EQ(0, read(fd, &record, sizeof(record)));
		/* Those of the others are completions. */
		for (int j = 0; j < 4; j++) {
			ASSERT_EQ(0, ring_wait(&self.server.ring, &cqe, PATIENCE_MS));
			EXPECT_EQ(KRDMA_OP_EVENT, cqe.opcode);
			EXPECT_NE(SERVER, cqe.wr_id);
		}
		EXPECT_EQ(-ETIMEDOUT, ring_wait(&self.server.ring, &cqe, 100));
		/* One that has ended long ago still has its last event. */
		close(fd);
		ASSERT_EQ(0, conns_fd(self.server.session, self.server.entries[1].id, &fd));
		EXPECT_EQ(0, conn_event(fd, &record, PATIENCE_MS));
		EXPECT_EQ(KRDMA_EVENT_CLOSED, record.type);
		close(fd);
		close(self.listener);
		side_close(&self.client);
		side_close(&self.server);
	}
}

/* A request that is taken can be accepted with its descriptor, and closing that rejects it. */
/* Proves: F15 */
TEST_F(many, a_request_gets_a_descriptor)
{
	struct krdma_conn_create_qp_args queues = {
		.size = sizeof(queues), .ring_fd = self->server.ring.fd,
		.send_depth = CONNS_DEPTH, .recv_depth = CONNS_DEPTH, .max_send_sge = 1,
	};
	struct krdma_conn_param_args param = { .size = sizeof(param) };
	struct asker asker = { .self = self };
	struct krdma_conns_entry entries[2] = {};
	int fd[2];

	fill_open(&self->address, self->client.entries, 2);
	ASSERT_EQ(0, pthread_create(&self->thread, NULL, ask_thread, &asker));
	ASSERT_EQ(0, take_two(self, entries));
	ASSERT_EQ(0, conns_fd(self->server.session, entries[0].id, &fd[0]));
	ASSERT_EQ(0, conns_fd(self->server.session, entries[1].id, &fd[1]));
	ASSERT_EQ(0, session_request(fd[0], KRDMA_CONN_CREATE_QP, &queues));
	ASSERT_EQ(0, session_request(fd[0], KRDMA_CONN_ACCEPT, &param));
	close(fd[1]);
	pthread_join(self->thread, NULL);
	EXPECT_EQ(1, asker.done);
	EXPECT_EQ(-ECONNREFUSED, asker.error);
	EXPECT_TRUE(event_is(fd[0], KRDMA_EVENT_ESTABLISHED, 0));
	close(fd[0]);
}

/* A thread that wants a descriptor of each connection of the server, and what it got, or -1. */
struct wanter {
	void *self;
	int fds[COUNT];
};

static void *want_thread(void *context)
{
	struct wanter *wanter = context;
	struct _test_data_many *self = wanter->self;

	for (uint32_t i = self->count; i--;)
		conns_fd(self->server.session, self->server.entries[i].id, &wanter->fds[i]);
	return NULL;
}

/* Each connection ends once, by its number or with one descriptor; a late call ends none. */
/* Proves: F15 */
TEST_F(many, closed_and_given_a_descriptor)
{
	struct wanter wanters[2] = { { .self = self }, { .self = self } };
	pthread_t threads[3];
	uint32_t sum, state;
	void *done;

	for (unsigned int round = 0; round < rounds(8, 3); round++) {
		ASSERT_STREQ("", open_all(self) ?: "");
		for (int i = 0; i < 2; i++)
			ASSERT_EQ(0, pthread_create(&threads[i], NULL, want_thread, &wanters[i]));
		ASSERT_EQ(0, pthread_create(&threads[2], NULL, close_thread, self));
		for (int i = 0; i < 3; i++)
			pthread_join(threads[i], &done);
		sum = (uintptr_t)done;
		for (int i = 0; i < 2; i++) {
			for (uint32_t j = 0; j < self->count; j++) {
				if (wanters[i].fds[j] < 0)
					continue;
				sum++;
				EXPECT_EQ(0, conn_wait(wanters[i].fds[j], deadline_in(PATIENCE_MS),
						       &state));
				EXPECT_EQ(KRDMA_CONN_CONNECTED, state);
				close(wanters[i].fds[j]);
			}
		}
		EXPECT_EQ(self->count, sum);
		EXPECT_EQ(0, conns_shown(self->server.session));
		ASSERT_EQ(0, conns_close(self->client.session, self->client.entries, self->count,
					 NULL, NULL));
	}
	EXPECT_EQ(0, objects_await_kind("user_conn", 0, PATIENCE_MS));
}

TEST_HARNESS_MAIN
