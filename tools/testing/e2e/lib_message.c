// SPDX-License-Identifier: GPL-2.0
/*
 * libkrdma's long messages: every length, buffers that are too short, callbacks that cancel
 * them, deadlines, peers that disconnect or violate the protocol.
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <krdma_entry.h>
#include <krdma_message.h>

#include "kselftest_harness.h"
#include "child.h"
#include "lib_both.h"
#include "lib_pair.h"
#include "pair.h"
#include "session.h"

#define MIB		(1024ul * 1024)
#define LONGEST		(64 * MIB)
#define LONGEST_SLOW	(16 * MIB)
/* The harness ends the test before this deadline. */
#define PATIENCE	krdma_deadline(300000)
/* Timeout of calls that must time out. */
#define SOON_MS		300

/**
 * struct side - one end
 * @conn: its connection
 * @messenger: its messenger
 * @progress: last progress passed to the callback
 * @calls: number of calls of the callback
 * @stop_at: number of the call at which the callback cancels the message; 0 means never
 */
struct side {
	struct krdma_conn *conn;
	struct krdma_messenger *messenger;
	uint64_t progress;
	unsigned int calls;
	unsigned int stop_at;
};

FIXTURE(message)
{
	struct krdma *session;
	struct krdma_listener *listener;
	struct side a;
	struct side b;
	unsigned char *from;
	unsigned char *to;
};

FIXTURE_VARIANT(message)
{
	uint32_t polled;
};

/* clang-format off */
FIXTURE_VARIANT_ADD(message, event) { .polled = 0 };
FIXTURE_VARIANT_ADD(message, polled) { .polled = 1 };

/* clang-format on */

static int on_progress(void *context, uint64_t done, uint64_t length)
{
	struct side *side = context;

	if (done <= side->progress || done > length)
		return 1;
	side->progress = done;
	return ++side->calls == side->stop_at;
}

static int make_messenger(struct krdma *session, struct side *side, uint32_t polled)
{
	const struct krdma_messenger_options options = {
		.size = sizeof(options), .polled = polled, .piece_size = 256 * 1024,
		.progress = on_progress, .context = side,
	};

	return krdma_messenger_create(session, side->conn, &options, &side->messenger);
}

static int ask(struct krdma *session, struct krdma_listener *listener, struct side *side,
	       uint32_t polled)
{
	struct sockaddr_storage address;
	int err;

	err = krdma_listener_address(listener, &address);
	if (!err)
		err = krdma_conn_create(session, &side->conn);
	if (!err)
		err = krdma_conn_resolve(side->conn, (struct sockaddr *)&address, &lib_patient);
	if (!err)
		err = krdma_conn_wait(side->conn, PATIENCE, NULL);
	if (!err)
		err = make_messenger(session, side, polled);
	if (!err)
		err = krdma_conn_connect(side->conn, NULL, NULL, 0);
	return err;
}

static int answer(struct krdma *session, struct krdma_listener *listener, struct side *side,
		  uint32_t polled)
{
	int err;

	err = krdma_listener_next(listener, PATIENCE, &side->conn);
	if (!err)
		err = make_messenger(session, side, polled);
	if (!err)
		err = krdma_conn_accept(side->conn, NULL, NULL, 0);
	if (!err)
		err = krdma_conn_wait(side->conn, PATIENCE, NULL);
	return err;
}

static unsigned char *pages(size_t length)
{
	return mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

FIXTURE_SETUP(message)
{
	struct __kernel_sockaddr_storage address;

	memset(self, 0, sizeof(*self));
	ASSERT_EQ(0, address_set(&address, both_address(), 0));
	ASSERT_EQ(0, krdma_open(&self->session));
	ASSERT_EQ(0, krdma_listen(self->session, (struct sockaddr *)&address, 0, 0,
				  &self->listener));
	ASSERT_EQ(0, ask(self->session, self->listener, &self->a, variant->polled));
	ASSERT_EQ(0, answer(self->session, self->listener, &self->b, variant->polled));
	ASSERT_EQ(0, krdma_conn_wait(self->a.conn, PATIENCE, NULL));
	self->from = pages(LONGEST);
	self->to = pages(LONGEST);
	ASSERT_TRUE(self->from != MAP_FAILED && self->to != MAP_FAILED);
}

static void side_close(struct side *side)
{
	krdma_conn_close(side->conn);
	krdma_messenger_destroy(side->messenger);
}

FIXTURE_TEARDOWN(message)
{
	side_close(&self->a);
	side_close(&self->b);
	krdma_listener_close(self->listener);
	krdma_close(self->session);
	munmap(self->from, LONGEST);
	munmap(self->to, LONGEST);
}

/*
 * Sending in another thread
 */

struct sending {
	struct krdma_messenger *messenger;
	const void *data;
	size_t length;
	uint64_t deadline;
	pthread_t thread;
	int result;
};

static void *send_run(void *context)
{
	struct sending *sending = context;

	sending->result = krdma_message_send(sending->messenger, sending->data, sending->length,
					     sending->deadline);
	return NULL;
}

static int send_begin(struct sending *sending, struct side *side, const void *data, size_t length)
{
	*sending = (struct sending) {
		.messenger = side->messenger, .data = data, .length = length, .deadline = PATIENCE,
	};
	return pthread_create(&sending->thread, NULL, send_run, sending);
}

static int send_end(struct sending *sending)
{
	pthread_join(sending->thread, NULL);
	return sending->result;
}

static int receive(FIXTURE_DATA(message) * self, size_t room, size_t *length)
{
	self->b.progress = 0;
	self->b.calls = 0;
	return krdma_message_recv(self->b.messenger, self->to, room, length, PATIENCE);
}

/* Transfer one message from A to B. */
static void pass_one(struct __test_metadata *_metadata, FIXTURE_DATA(message) * self, size_t length,
		     unsigned int seed)
{
	struct sending sending;
	size_t is = ~0ul;

	fill(self->from, length, seed);
	memset(self->to, 0, length + (length < LONGEST));
	ASSERT_EQ(0, send_begin(&sending, &self->a, self->from, length));
	EXPECT_EQ(0, receive(self, LONGEST, &is));
	EXPECT_EQ(0, send_end(&sending));
	EXPECT_EQ(length, is);
	EXPECT_TRUE(filled(self->to, length, seed));
	EXPECT_TRUE(length == LONGEST || !self->to[length]);
	EXPECT_EQ(length, self->b.progress);
}

TEST_F_TIMEOUT(message, of_every_kind_of_length, 600)
{
	static const size_t lengths[] = { 0, 1, 4095, 4096, 4097, MIB - 1, MIB, MIB + 3 };

	for (unsigned int i = 0; i < ARRAY_SIZE(lengths); i++)
		pass_one(_metadata, self, lengths[i], i + 1);
}

TEST_F_TIMEOUT(message, of_many_pieces, 900)
{
	pass_one(_metadata, self, rounds(LONGEST, LONGEST_SLOW), 3);
}

TEST_F_TIMEOUT(message, one_after_another, 300)
{
	/* More messages than the SQ or the RQ is deep. */
	for (unsigned int i = 0; i < rounds(100, 40); i++)
		pass_one(_metadata, self, i, i);
}

static void *send_many(void *context)
{
	struct side *side = context;
	unsigned char data[1000];
	int err = 0;

	memset(data, 7, sizeof(data));
	for (unsigned int i = 0; i < 20 && !err; i++)
		err = krdma_message_send(side->messenger, data, sizeof(data), PATIENCE);
	return (void *)(intptr_t)err;
}

/* Both ends send and receive at the same time, with two threads for each. */
TEST_F_TIMEOUT(message, both_ways_by_many_threads, 300)
{
	struct side *sides[] = { &self->a, &self->b, &self->a, &self->b };
	unsigned char data[1000];
	pthread_t threads[4];
	size_t length;
	void *result;

	for (unsigned int i = 0; i < 4; i++)
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, send_many, sides[i]));
	for (unsigned int i = 0; i < 80; i++) {
		struct side *side = sides[i % 2];

		side->progress = 0;
		ASSERT_EQ(0, krdma_message_recv(side->messenger, data, sizeof(data), &length,
						PATIENCE));
		EXPECT_EQ(sizeof(data), length);
		EXPECT_EQ(7, data[999]);
	}
	for (unsigned int i = 0; i < 4; i++) {
		pthread_join(threads[i], &result);
		EXPECT_TRUE(!result);
	}
}

TEST_F_TIMEOUT(message, with_too_little_room_both_are_told_and_it_goes_on, 120)
{
	struct sending sending;
	size_t length = 0;

	ASSERT_EQ(0, send_begin(&sending, &self->a, self->from, 100000));
	EXPECT_EQ(-EMSGSIZE, receive(self, 99999, &length));
	EXPECT_EQ(100000, length);
	EXPECT_EQ(-EMSGSIZE, send_end(&sending));
	/* A buffer of length 0 takes only a message of length 0. */
	ASSERT_EQ(0, send_begin(&sending, &self->a, self->from, 1));
	EXPECT_EQ(-EMSGSIZE, krdma_message_recv(self->b.messenger, NULL, 0, NULL, PATIENCE));
	EXPECT_EQ(-EMSGSIZE, send_end(&sending));
	pass_one(_metadata, self, 0, 1);
	pass_one(_metadata, self, 100000, 2);
}

TEST_F_TIMEOUT(message, of_a_length_that_the_receiver_asks_for, 120)
{
	struct sending sending;
	size_t length = 0;

	EXPECT_EQ(-ETIMEDOUT, krdma_message_next(self->b.messenger, &length, krdma_deadline(10)));
	EXPECT_EQ(-EINVAL, krdma_message_next(self->b.messenger, NULL, PATIENCE));
	EXPECT_EQ(-EINVAL, krdma_message_next(NULL, &length, PATIENCE));

	ASSERT_EQ(0, send_begin(&sending, &self->a, self->from, 100000));
	/* It stays the next one. */
	for (unsigned int i = 0; i < 2; i++) {
		length = 0;
		ASSERT_EQ(0, krdma_message_next(self->b.messenger, &length, PATIENCE));
		EXPECT_EQ(100000, length);
	}
	length = 0;
	EXPECT_EQ(0, receive(self, 100000, &length));
	EXPECT_EQ(100000, length);
	EXPECT_EQ(0, send_end(&sending));

	/* A message of length 0 is one, too. */
	ASSERT_EQ(0, send_begin(&sending, &self->a, self->from, 0));
	ASSERT_EQ(0, krdma_message_next(self->b.messenger, &length, PATIENCE));
	EXPECT_EQ(0, length);
	EXPECT_EQ(0, receive(self, 0, &length));
	EXPECT_EQ(0, send_end(&sending));
	pass_one(_metadata, self, 5000, 1);
}

TEST_F_TIMEOUT(message, progress_is_told_and_can_end_it, 120)
{
	struct sending sending;

	pass_one(_metadata, self, MIB, 1);
	EXPECT_EQ(4, self->b.calls);
	self->b.stop_at = 2;
	ASSERT_EQ(0, send_begin(&sending, &self->a, self->from, 4 * MIB));
	EXPECT_EQ(-ECANCELED, receive(self, LONGEST, NULL));
	EXPECT_EQ(-ECANCELED, send_end(&sending));
	self->b.stop_at = 0;
	pass_one(_metadata, self, 4 * MIB, 2);
}

TEST_F_TIMEOUT(message, from_and_into_registered_memory, 120)
{
	struct krdma_mr *from, *to, *wrong;
	struct krdma_conn_query_args query;
	struct sending sending;
	size_t length = 0;

	ASSERT_EQ(0, krdma_conn_query(self->a.conn, &query, sizeof(query)));
	ASSERT_EQ(0, krdma_mr_register(self->session, query.device_id, self->from, MIB,
				       KRDMA_ACCESS_REMOTE_READ, &from));
	ASSERT_EQ(0, krdma_mr_register(self->session, query.device_id, self->to, MIB,
				       KRDMA_ACCESS_LOCAL_WRITE, &to));
	ASSERT_EQ(0, krdma_mr_register(self->session, query.device_id, self->to, MIB, 0,
				       &wrong));
	fill(self->from, MIB, 5);
	ASSERT_EQ(0, send_begin(&sending, &self->a, self->from, 5000));
	EXPECT_EQ(0, krdma_message_recv_mr(self->b.messenger, to, MIB - 5000, 5000, &length,
					   PATIENCE));
	EXPECT_EQ(0, send_end(&sending));
	EXPECT_EQ(5000, length);
	EXPECT_TRUE(filled(self->to + MIB - 5000, 5000, 5));
	/* Without the access right, or beyond the end of the MR. */
	EXPECT_EQ(-EACCES, krdma_message_send_mr(self->a.messenger, to, 0, 10, PATIENCE));
	EXPECT_EQ(-ERANGE, krdma_message_send_mr(self->a.messenger, from, MIB, 1, PATIENCE));
	EXPECT_EQ(-ERANGE, krdma_message_recv_mr(self->b.messenger, to, 1, MIB, &length,
						 PATIENCE));
	ASSERT_EQ(0, send_begin(&sending, &self->a, self->from, 10));
	EXPECT_EQ(-EACCES, krdma_message_recv_mr(self->b.messenger, wrong, 0, MIB, &length,
						 PATIENCE));
	EXPECT_EQ(-ECANCELED, send_end(&sending));
	pass_one(_metadata, self, 10, 6);
	EXPECT_EQ(0, krdma_mr_deregister(from, 0));
	EXPECT_EQ(0, krdma_mr_deregister(to, 0));
	EXPECT_EQ(0, krdma_mr_deregister(wrong, 0));
}

/* Only the end whose memory cannot be registered gets an error; the message is kept. */
TEST_F_TIMEOUT(message, memory_that_is_not_there, 120)
{
	/* An address at which no process has memory. */
	unsigned char *gone = (unsigned char *)4096;
	struct sending sending;
	size_t length = 0;

	EXPECT_EQ(-EFAULT, krdma_message_send(self->a.messenger, gone, 100, PATIENCE));
	fill(self->from, 100, 1);
	ASSERT_EQ(0, send_begin(&sending, &self->a, self->from, 100));
	EXPECT_EQ(-EFAULT, krdma_message_recv(self->b.messenger, gone, 4096, NULL, PATIENCE));
	EXPECT_EQ(0, receive(self, LONGEST, &length));
	EXPECT_EQ(0, send_end(&sending));
	EXPECT_EQ(100, length);
	EXPECT_TRUE(filled(self->to, 100, 1));
}

TEST_F_TIMEOUT(message, nobody_sends_in_time, 120)
{
	uint64_t begin = now_ms();

	EXPECT_EQ(-ETIMEDOUT, krdma_message_recv(self->b.messenger, self->to, 1, NULL, 0));
	EXPECT_EQ(-ETIMEDOUT, krdma_message_recv(self->b.messenger, self->to, 1, NULL,
						 krdma_deadline(SOON_MS)));
	EXPECT_LE(SOON_MS, now_ms() - begin);
	pass_one(_metadata, self, 5000, 1);
}

/* A message that has begun cannot be withdrawn, so a timeout ends the connection. */
TEST_F_TIMEOUT(message, nobody_receives_in_time, 120)
{
	EXPECT_EQ(-ETIMEDOUT, krdma_message_send(self->a.messenger, self->from, 1,
						 krdma_deadline(SOON_MS)));
	EXPECT_EQ(-ENOTCONN, krdma_message_send(self->a.messenger, self->from, 1, PATIENCE));
	EXPECT_EQ(-ECONNRESET, receive(self, 1, NULL));
}

TEST_F_TIMEOUT(message, disconnecting_brings_back_who_is_waiting, 120)
{
	struct sending sending;

	ASSERT_EQ(0, send_begin(&sending, &self->a, self->from, 1));
	sleep_ms(SOON_MS);
	EXPECT_EQ(0, krdma_conn_disconnect(self->a.conn, 0));
	EXPECT_EQ(-ENOTCONN, send_end(&sending));
	EXPECT_EQ(-ECONNRESET, krdma_message_send(self->b.messenger, self->from, 1, PATIENCE));
}

static void *receive_run(void *context)
{
	struct side *side = context;
	int err;

	err = krdma_message_recv(side->messenger, NULL, 0, NULL, PATIENCE);
	return (void *)(intptr_t)err;
}

/*
 * In the child, no thread that waits for a message exists. One of the parent's waits on the ring,
 * and the other one until that has its message.
 */
TEST_F_TIMEOUT(message, a_child_destroys_and_the_parent_goes_on, 120)
{
	pthread_t threads[2];
	void *result;
	int status;
	pid_t child;

	for (unsigned int i = 0; i < 2; i++)
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, receive_run, &self->b));
	sleep_ms(SOON_MS);
	child = fork();
	ASSERT_LE(0, child);
	if (!child) {
		/* A child that waits for those threads is killed. */
		alarm(30);
		krdma_messenger_destroy(self->b.messenger);
		krdma_messenger_destroy(self->a.messenger);
		_exit(0);
	}
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(0, status);
	for (unsigned int i = 0; i < 2; i++)
		EXPECT_EQ(0, krdma_message_send(self->a.messenger, NULL, 0, PATIENCE));
	for (unsigned int i = 0; i < 2; i++) {
		pthread_join(threads[i], &result);
		EXPECT_TRUE(!result);
	}
	pass_one(_metadata, self, 5000, 1);
}

TEST_F_TIMEOUT(message, options_that_make_no_sense, 60)
{
	struct krdma_messenger_options options = { .size = sizeof(options) };
	struct krdma_messenger *messenger;

	EXPECT_EQ(-EINVAL, krdma_messenger_create(NULL, self->a.conn, NULL, &messenger));
	EXPECT_EQ(-EINVAL, krdma_messenger_create(self->session, NULL, NULL, &messenger));
	options.polled = 2;
	EXPECT_EQ(-EINVAL, krdma_messenger_create(self->session, self->a.conn, &options,
						  &messenger));
	options.polled = 0;
	options.pieces = 17;
	EXPECT_EQ(-EINVAL, krdma_messenger_create(self->session, self->a.conn, &options,
						  &messenger));
	/* The connection has a messenger already, and is connected. */
	EXPECT_EQ(-EISCONN, krdma_messenger_create(self->session, self->a.conn, NULL, &messenger));
	EXPECT_EQ(-EINVAL, krdma_message_send(NULL, self->from, 1, 0));
	EXPECT_EQ(-EINVAL, krdma_message_send(self->a.messenger, NULL, 1, 0));
	EXPECT_EQ(-EINVAL, krdma_message_recv(self->a.messenger, NULL, 1, NULL, 0));
	krdma_messenger_destroy(NULL);
}

/*
 * Peers that are killed, or violate the protocol
 */

struct peer {
	uint16_t port;
	bool sends;
	bool nonsense;
	uint8_t verdict;
	int ready;
};

/* A peer stops in the middle of a message, and is then killed. */
static int stop_here(void *context, uint64_t done, uint64_t length)
{
	struct peer *peer = context;

	(void)done;
	(void)length;
	__atomic_store_n(&peer->ready, 1, __ATOMIC_RELEASE);
	for (;;)
		pause();
	return 0;
}

/* With @verdict, replies to a message by a verdict that does not exist. */
static int talk_nonsense(struct krdma *session, struct krdma_conn *conn, uint8_t verdict)
{
	const char *text = "a message of forty-eight bytes, but of no sense.";
	/* The magic number, and the kind: a reply. */
	char reply[48] = "KRDb\2";
	struct krdma_conn_query_args query;
	struct krdma_ring *ring;
	struct krdma_sqe entry;
	struct krdma_cqe cqe;
	struct krdma_mr *mr;
	size_t taken = 0;

	reply[6] = (char)verdict;
	CHECK(!krdma_ring_create(session, NULL, &ring));
	CHECK(!krdma_conn_create_qp(conn, ring, NULL, NULL,
				    &(struct krdma_conn_create_qp_args) {
					.size = sizeof(struct krdma_conn_create_qp_args),
					.max_inline = 48,
				    }));
	CHECK(!krdma_conn_query(conn, &query, sizeof(query)));
	CHECK(!krdma_mr_alloc(session, query.device_id, 4096, KRDMA_ACCESS_LOCAL_WRITE, &mr));
	entry = krdma_entry_recv(conn, 1, mr, 0, 48);
	CHECK(!krdma_ring_post(ring, &entry, 1, NULL));
	CHECK(!krdma_conn_connect(conn, NULL, NULL, 0));
	CHECK(!krdma_conn_wait(conn, PATIENCE, NULL));
	if (verdict)
		CHECK(!krdma_ring_wait(ring, &cqe, 1, 1, PATIENCE, &taken) && !cqe.status);
	entry = krdma_entry_send_inline(conn, 1, verdict ? reply : text, 48);
	CHECK(!krdma_ring_post(ring, &entry, 1, NULL));
	for (;;)
		pause();
	return 0;
}

static int be_peer(void *context)
{
	struct peer *peer = context;
	struct krdma_messenger_options options = {
		.size = sizeof(options), .piece_size = 4096, .progress = stop_here, .context = peer,
	};
	struct __kernel_sockaddr_storage address;
	struct krdma_messenger *messenger;
	struct krdma_conn *conn;
	struct krdma *session;
	unsigned char *data;

	CHECK(!address_set(&address, both_address(), peer->port));
	CHECK(!krdma_open(&session));
	CHECK(!krdma_conn_create(session, &conn));
	CHECK(!krdma_conn_resolve(conn, (struct sockaddr *)&address, &lib_patient));
	CHECK(!krdma_conn_wait(conn, PATIENCE, NULL));
	if (peer->nonsense)
		return talk_nonsense(session, conn, peer->verdict);
	CHECK(!krdma_messenger_create(session, conn, &options, &messenger));
	CHECK(!krdma_conn_connect(conn, NULL, NULL, 0));
	CHECK(!krdma_conn_wait(conn, PATIENCE, NULL));
	data = pages(MIB);
	if (!peer->sends)
		return krdma_message_recv(messenger, data, MIB, NULL, PATIENCE);
	__atomic_store_n(&peer->ready, 1, __ATOMIC_RELEASE);
	return krdma_message_send(messenger, data, MIB, PATIENCE);
}

static struct peer *peer_start(FIXTURE_DATA(message) * self, struct peer as, struct side *side,
			       pid_t *pid, int *err)
{
	struct peer *peer = mmap(NULL, sizeof(*peer), PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct sockaddr_storage address;

	*err = krdma_listener_address(self->listener, &address);
	*peer = as;
	peer->port = address_port((struct __kernel_sockaddr_storage *)&address);
	*pid = child_start(be_peer, peer);
	if (!*err)
		*err = answer(self->session, self->listener, side, 0);
	return peer;
}

TEST_F_TIMEOUT(message, the_receiver_is_killed_in_the_midst_of_it, 120)
{
	struct side side = {};
	struct sending sending;
	struct peer *peer;
	pid_t pid;
	int err;

	peer = peer_start(self, (struct peer) {}, &side, &pid, &err);
	ASSERT_EQ(0, err);
	ASSERT_EQ(0, send_begin(&sending, &side, self->from, MIB));
	while (!__atomic_load_n(&peer->ready, __ATOMIC_ACQUIRE))
		sleep_ms(10);
	EXPECT_LE(0, child_kill(pid));
	EXPECT_EQ(-ECONNRESET, send_end(&sending));
	side_close(&side);
	munmap(peer, sizeof(*peer));
}

TEST_F_TIMEOUT(message, the_sender_is_killed, 120)
{
	struct side side = {};
	struct peer *peer;
	pid_t pid;
	int err;

	peer = peer_start(self, (struct peer) { .sends = true }, &side, &pid, &err);
	ASSERT_EQ(0, err);
	while (!__atomic_load_n(&peer->ready, __ATOMIC_ACQUIRE))
		sleep_ms(10);
	sleep_ms(SOON_MS);
	EXPECT_LE(0, child_kill(pid));
	EXPECT_EQ(-ECONNRESET, krdma_message_recv(side.messenger, self->to, LONGEST, NULL,
						  PATIENCE));
	side_close(&side);
	munmap(peer, sizeof(*peer));
}

TEST_F_TIMEOUT(message, nonsense_ends_the_connection, 120)
{
	struct side side = {};
	struct peer *peer;
	pid_t pid;
	int err;

	peer = peer_start(self, (struct peer) { .nonsense = true }, &side, &pid, &err);
	ASSERT_EQ(0, err);
	EXPECT_EQ(-EPROTO, krdma_message_recv(side.messenger, self->to, LONGEST, NULL,
					      PATIENCE));
	EXPECT_EQ(-EPROTO, krdma_message_send(side.messenger, self->from, 1, PATIENCE));
	EXPECT_EQ(0, krdma_conn_await_closed(side.conn, PATIENCE));
	EXPECT_LE(0, child_kill(pid));
	side_close(&side);
	munmap(peer, sizeof(*peer));
}

TEST_F_TIMEOUT(message, a_verdict_that_does_not_exist_ends_it_too, 120)
{
	struct side side = {};
	struct peer *peer;
	pid_t pid;
	int err;

	peer = peer_start(self, (struct peer) { .nonsense = true, .verdict = 7 }, &side, &pid,
			  &err);
	ASSERT_EQ(0, err);
	EXPECT_EQ(-EPROTO, krdma_message_send(side.messenger, self->from, 1, PATIENCE));
	EXPECT_EQ(0, krdma_conn_await_closed(side.conn, PATIENCE));
	EXPECT_LE(0, child_kill(pid));
	side_close(&side);
	munmap(peer, sizeof(*peer));
}

TEST_HARNESS_MAIN
