// SPDX-License-Identifier: GPL-2.0
/*
 * libkrdma's hubs where something ends: a peer leaves with an error that is none, what was lent is
 * not read yet, a connection cannot be made, a deadline passes while data are on their way or while
 * peers send without a pause, memory is withdrawn, a device goes, a child of fork() closes its
 * copies.
 *
 * One thread has the hub and, with few exceptions, its peers.  What a peer sends waits in the hub's
 * receives until a function with the hub is called, also an answer to what the hub asks only then.
 */
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <hub_wire.h>
#include <krdma_entry.h>
#include <krdma_hub.h>

#include "kselftest_harness.h"
#include "child.h"
#include "fabric.h"
#include "lib_both.h"
#include "lib_hub_peer.h"
#include "lib_pair.h"
#include "lib_usage.h"
#include "rdma_link.h"
#include "session.h"

#define PATIENCE	LIB_PATIENCE
#define SOON		krdma_deadline(1000)
/* A deadline that has passed. */
#define PAST		1
#define WINDOW_SIZE	(4u << 20)
#define CALL(count)	((uint32_t)(count) << 8)

FIXTURE(end)
{
	struct krdma_hub *hub;
	struct hub_peer peer;
	struct krdma_ep *ep;
	struct krdma_mr *window;
	unsigned char descriptor[KRDMA_MR_DESC_SIZE];
};

FIXTURE_SETUP(end)
{
	const struct krdma_hub_options options = {
		.size = sizeof(options), .depth = HUB_PEER_DEPTH, .eager = HUB_PEER_EAGER,
	};

	memset(self, 0, sizeof(*self));
	ASSERT_EQ(0, krdma_hub_open(NULL, &options, &self->hub));
	ASSERT_EQ(0, hub_peer_open(&self->peer));
}

FIXTURE_TEARDOWN(end)
{
	krdma_mr_deregister(self->window, KRDMA_DEREGISTER_LATER);
	hub_peer_close(&self->peer);
	krdma_hub_close(self->hub);
}

static int say(struct hub_peer *peer, struct hub_frame frame, const void *data, size_t length)
{
	return hub_peer_send(peer, &frame, data, length, PATIENCE);
}

/* Takes the next frame, while the hub works; the receive is not posted again. */
static int hear_once(FIXTURE_DATA(end) * self, struct hub_frame *frame, unsigned int *number)
{
	uint64_t end = now_ms() + PATIENCE_MS;
	struct krdma_ep_record record;
	int err;

	while ((err = hub_peer_next(&self->peer, 0, frame, number)) == -EAGAIN && now_ms() < end)
		krdma_hub_next(self->hub, krdma_deadline(20), &record, sizeof(record));
	return err;
}

static int hear(FIXTURE_DATA(end) * self, struct hub_frame *frame)
{
	unsigned int number;
	int err = hear_once(self, frame, &number);

	return err ? err : hub_peer_receive(&self->peer, number);
}

/* Memory of the peer, which the hub may read. */
static int make_window(FIXTURE_DATA(end) * self, size_t length)
{
	int err = krdma_mr_alloc(self->peer.session, self->peer.device, length,
				 KRDMA_ACCESS_LOCAL_WRITE | KRDMA_ACCESS_REMOTE_READ,
				 &self->window);

	if (err)
		return err;
	fill(krdma_mr_data(self->window), length, 7);
	return krdma_mr_describe(self->window, 0, length, self->descriptor);
}

/* The peer grants it, before the hub asks for the first time. */
static int open_window(FIXTURE_DATA(end) * self, struct krdma_ep_memory **memory)
{
	const struct hub_frame grant = { .kind = HUB_GRANT, .call = CALL(1), .taken = 1 };
	int err = make_window(self, WINDOW_SIZE);

	if (!err)
		err = say(&self->peer, grant, self->descriptor, sizeof(self->descriptor));
	return err ? err : krdma_ep_memory_open(self->ep, "window", KRDMA_ACCESS_REMOTE_READ,
						PATIENCE, memory);
}

/*
 * Errors of peers
 */

/* EAGAIN says that there is no room now, and here there never will be. */
/* Proves: F10 (library) */
TEST_F(end, a_peer_that_leaves_with_eagain_has_left)
{
	const struct hub_frame bye = {
		.kind = HUB_BYE, .code = hub_code_of(-EAGAIN), .taken = 1,
	};
	struct krdma_ep_memory *memory, *more;
	struct krdma_ep_record record;
	char byte;

	ASSERT_EQ(0, hub_peer_meet(self->hub, &self->peer, 4, &self->ep));
	ASSERT_EQ(0, open_window(self, &memory));
	ASSERT_EQ(0, say(&self->peer, bye, "later", 5));
	ASSERT_EQ(0, krdma_hub_next(self->hub, PATIENCE, &record, sizeof(record)));
	EXPECT_EQ(KRDMA_EP_LEFT, record.event);
	EXPECT_EQ(-ECONNRESET, record.error);
	EXPECT_NE(NULL, strstr(krdma_ep_why(self->ep), "\"later\""));
	EXPECT_EQ(-ECONNRESET, krdma_ep_send(self->ep, 1, "a", 1, SOON));
	EXPECT_EQ(-ECONNRESET, krdma_ep_call(self->ep, 1, "a", 1, SOON, &record, sizeof(record)));
	EXPECT_EQ(-ECONNRESET, krdma_ep_call_begin(self->ep, 1, "a", 1, SOON, 0));
	EXPECT_EQ(-ECONNRESET, krdma_ep_memory_open(self->ep, "window", KRDMA_ACCESS_REMOTE_READ,
						    SOON, &more));
	EXPECT_EQ(-ECONNRESET, krdma_ep_memory_read(memory, 0, &byte, 1, SOON));
}

TEST_F(end, a_peer_that_refuses_with_eagain_has_refused)
{
	unsigned char wire[HUB_REFUSAL_MAX];
	size_t length = hub_refusal_write(-EAGAIN, "later", wire);
	struct krdma_ep_record record;
	struct krdma_conn *conn;

	ASSERT_EQ(0, hub_peer_ask(self->hub, self->peer.session, &self->ep, &conn));
	ASSERT_EQ(0, krdma_conn_reject(conn, wire, length));
	krdma_conn_close(conn);
	ASSERT_EQ(0, krdma_hub_next(self->hub, PATIENCE, &record, sizeof(record)));
	EXPECT_EQ(KRDMA_EP_LEFT, record.event);
	EXPECT_EQ(-ECONNREFUSED, record.error);
	EXPECT_NE(NULL, strstr(krdma_ep_why(self->ep), "\"later\""));
	EXPECT_EQ(-ECONNREFUSED, krdma_ep_send(self->ep, 1, "a", 1, SOON));
}

TEST_F(end, a_peer_that_does_not_grant_with_eagain_is_busy)
{
	const struct hub_frame grant = {
		.kind = HUB_GRANT, .call = CALL(1), .code = hub_code_of(-EAGAIN), .taken = 1,
	};
	struct krdma_ep_memory *memory;

	ASSERT_EQ(0, hub_peer_meet(self->hub, &self->peer, 4, &self->ep));
	ASSERT_EQ(0, say(&self->peer, grant, NULL, 0));
	EXPECT_EQ(-EBUSY, krdma_ep_memory_open(self->ep, "window", KRDMA_ACCESS_REMOTE_READ,
					       PATIENCE, &memory));
	EXPECT_EQ(0, krdma_ep_send(self->ep, 1, "a", 1, PATIENCE));
}

/*
 * Memory that was lent
 */

#define LENT_SIZE	100000u

/* The peer reads a long message of the hub into its window, and says that it has it. */
static int fetch(FIXTURE_DATA(end) * self)
{
	struct hub_frame frame, done = { .kind = HUB_DONE };
	struct krdma_sqe entry;
	unsigned int number;
	int err = hub_peer_next(&self->peer, PATIENCE, &frame, &number);

	if (err || !frame.is_long || frame.remote.length > WINDOW_SIZE)
		return err ? err : -EPROTO;
	done.ticket = frame.ticket;
	entry = krdma_entry_read(self->peer.conn, 0, self->window, 0,
				 (uint32_t)frame.remote.length, &frame.remote, 0);
	err = hub_peer_operate(&self->peer, entry, PATIENCE);
	return err ? err : say(&self->peer, done, NULL, 0);
}

/* The peer has read what was lent before the hub closes, and the hub has not looked yet. */
TEST_F(end, what_was_lent_and_read_is_no_reason_to_abort)
{
	unsigned char data[LENT_SIZE];
	struct hub_frame frame;
	unsigned int number;

	ASSERT_EQ(0, hub_peer_meet(self->hub, &self->peer, HUB_PEER_RECEIVES, &self->ep));
	ASSERT_EQ(0, make_window(self, WINDOW_SIZE));
	fill(data, sizeof(data), 3);
	ASSERT_EQ(0, krdma_ep_send_lent(self->ep, 1, data, sizeof(data), 0, PATIENCE));
	ASSERT_EQ(0, fetch(self));
	fill(data, sizeof(data), 4);
	ASSERT_EQ(0, krdma_ep_send(self->ep, 1, data, sizeof(data), PATIENCE));
	krdma_ep_close(self->ep, "bye");
	ASSERT_EQ(0, fetch(self));
	EXPECT_TRUE(filled(krdma_mr_data(self->window), sizeof(data), 4));
	ASSERT_EQ(0, hear_once(self, &frame, &number)) {
		TH_LOG("the hub does not take its leave");
	}
	EXPECT_EQ(HUB_BYE, frame.kind);
	EXPECT_EQ(0, frame.code);
	EXPECT_EQ(3, frame.length);
}

/**
 * struct reader - a thread that is the peer
 * @end: the fixture
 * @same: the first message was what is expected
 * @error: 0, or what has failed
 * @done: the thread has ended
 */
struct reader {
	FIXTURE_DATA(end) * end;
	bool same;
	int error;
	int done;
};

/* Takes its time, and reads two long messages. */
static void *read_late(void *context)
{
	FIXTURE_DATA(end) * self = ((struct reader *)context)->end;
	struct reader *reader = context;
	struct hub_frame frame = { 0 };
	unsigned int number;

	sleep_ms(500);
	reader->error = fetch(self);
	reader->same = filled(krdma_mr_data(self->window), LENT_SIZE, 3);
	if (!reader->error)
		reader->error = fetch(self);
	if (!reader->error)
		reader->error = hub_peer_next(&self->peer, PATIENCE, &frame, &number);
	if (!reader->error && (frame.kind != HUB_BYE || frame.code))
		reader->error = -EPROTO;
	__atomic_store_n(&reader->done, 1, __ATOMIC_RELEASE);
	return NULL;
}

/* When the memory is the program's again, it changes at once. */
static void close_early(struct __test_metadata *_metadata, FIXTURE_DATA(end) * self,
			bool closes_hub)
{
	struct reader reader = { .end = self };
	struct krdma_ep_record record;
	unsigned char data[LENT_SIZE];
	pthread_t thread;

	ASSERT_EQ(0, hub_peer_meet(self->hub, &self->peer, HUB_PEER_RECEIVES, &self->ep));
	ASSERT_EQ(0, make_window(self, WINDOW_SIZE));
	fill(data, sizeof(data), 3);
	ASSERT_EQ(0, pthread_create(&thread, NULL, read_late, &reader));
	ASSERT_EQ(0, krdma_ep_send_lent(self->ep, 1, data, sizeof(data), 0, PATIENCE));
	ASSERT_EQ(0, krdma_ep_send(self->ep, 1, data, sizeof(data), PATIENCE));
	if (closes_hub) {
		krdma_hub_close(self->hub);
		self->hub = NULL;
	} else {
		krdma_ep_close(self->ep, NULL);
	}
	memset(data, 0, sizeof(data));
	while (self->hub && !__atomic_load_n(&reader.done, __ATOMIC_ACQUIRE))
		krdma_hub_next(self->hub, krdma_deadline(20), &record, sizeof(record));
	pthread_join(thread, NULL);
	EXPECT_EQ(0, reader.error);
	EXPECT_TRUE(reader.same);
}

TEST_F(end, what_was_lent_is_read_before_the_endpoint_is_closed)
{
	close_early(_metadata, self, false);
}

TEST_F(end, what_was_lent_is_read_before_the_hub_is_closed)
{
	close_early(_metadata, self, true);
}

/* A peer that does not read it does not get it, and nothing else of this side any more. */
TEST_F(end, what_was_lent_comes_back_from_a_peer_that_does_not_read)
{
	unsigned char data[LENT_SIZE];
	struct krdma_ep_record record;
	struct hub_frame frame;
	unsigned int number;
	uint64_t begin;

	ASSERT_EQ(0, hub_peer_meet(self->hub, &self->peer, HUB_PEER_RECEIVES, &self->ep));
	ASSERT_EQ(0, krdma_ep_send_lent(self->ep, 1, data, sizeof(data), 0, PATIENCE));
	begin = now_ms();
	krdma_ep_close(self->ep, "bye");
	EXPECT_LE(2900, now_ms() - begin);
	EXPECT_GT(20000, now_ms() - begin);
	ASSERT_EQ(0, hub_peer_next(&self->peer, PATIENCE, &frame, &number));
	EXPECT_EQ(HUB_MESSAGE, frame.kind);
	EXPECT_EQ(-ECONNRESET, hub_peer_next(&self->peer, PATIENCE, &frame, &number));
	EXPECT_EQ(-EAGAIN, krdma_hub_next(self->hub, 0, &record, sizeof(record)));
}

/*
 * Connections that cannot be made
 */

/*
 * The loopback interface is no RDMA device, which is found out later.  For the last address there
 * is no route, which the kernel says at once.
 */
/* Proves: F10 (library) */
TEST_F(end, the_last_address_of_a_name_fails_at_once)
{
	static const char * const names[] = { "two-of-4:7", "two-of-6:7" };
	struct krdma_ep_record record;

	ASSERT_EQ(0, hub_peer_name("two-of-4", "127.0.0.1", "192.0.2.1"));
	ASSERT_EQ(0, hub_peer_name("two-of-6", "::1", "2001:db8::1"));
	for (unsigned int i = 0; i < 2 * ARRAY_SIZE(names); i++) {
		ASSERT_EQ(0, krdma_ep_connect(self->hub, names[i / 2], NULL, 0, 0, &self->ep));
		EXPECT_EQ(0, krdma_hub_next(self->hub, PATIENCE, &record, sizeof(record))) {
			TH_LOG("%s: %s", names[i / 2], krdma_ep_why(self->ep));
		}
		EXPECT_EQ(KRDMA_EP_LEFT, record.event);
		EXPECT_EQ(-EHOSTUNREACH, record.error);
		krdma_ep_close(self->ep, NULL);
	}
}

/* And here there is no descriptor for it. */
TEST_F(end, the_last_address_of_a_name_is_not_tried)
{
	struct krdma_ep_record record;
	struct rlimit before, none;

	ASSERT_EQ(0, hub_peer_name("nobody", "127.0.0.1", "127.0.0.2"));
	ASSERT_EQ(0, krdma_ep_connect(self->hub, "nobody:7", NULL, 0, 0, &self->ep));
	ASSERT_EQ(0, getrlimit(RLIMIT_NOFILE, &before));
	none = before;
	none.rlim_cur = 3;
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &none));
	EXPECT_EQ(0, krdma_hub_next(self->hub, PATIENCE, &record, sizeof(record)));
	EXPECT_EQ(KRDMA_EP_LEFT, record.event);
	EXPECT_EQ(-EMFILE, record.error);
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &before));
	/* The hub works. */
	krdma_ep_close(self->ep, NULL);
	EXPECT_EQ(0, hub_peer_meet(self->hub, &self->peer, 1, &self->ep));
}

/*
 * Deadlines
 */

/*
 * The peer answers before it has a receive for the call, so the reads of its long answer are in
 * flight until then, and the call gives up before.  The peer must learn that nobody needs its
 * memory any more.
 */
/* Proves: F10 (library) */
TEST_F(end, a_long_answer_that_is_late_is_given_back)
{
	struct krdma_ep_record answer;
	struct hub_frame frame;
	unsigned int number;

	ASSERT_EQ(0, hub_peer_meet(self->hub, &self->peer, 0, &self->ep));
	ASSERT_EQ(0, make_window(self, WINDOW_SIZE));
	for (unsigned int i = 1; i <= 2 * HUB_TICKETS; i++) {
		const struct hub_frame early = {
			.kind = HUB_ANSWER, .is_long = true, .ticket = i % HUB_TICKETS,
			.call = CALL(i), .taken = i,
		};

		ASSERT_EQ(0, say(&self->peer, early, self->descriptor, sizeof(self->descriptor)));
		ASSERT_EQ(-ETIMEDOUT, krdma_ep_call(self->ep, 1, "a", 1, PAST, &answer,
						    sizeof(answer)));
		ASSERT_EQ(0, hub_peer_receive(&self->peer, 0));
		ASSERT_EQ(0, hub_peer_receive(&self->peer, 1));
		ASSERT_EQ(0, hear_once(self, &frame, &number));
		EXPECT_EQ(HUB_CALL, frame.kind);
		ASSERT_EQ(0, hear_once(self, &frame, &number)) {
			TH_LOG("answer %u is not given back", i);
		}
		EXPECT_EQ(HUB_DONE, frame.kind);
		EXPECT_EQ(early.ticket, frame.ticket);
	}
}

/* Memory for one long message: the next one has it as soon as the late one is given back. */
TEST_F(end, a_message_has_the_memory_of_a_late_answer)
{
	const struct hub_frame early = {
		.kind = HUB_ANSWER, .is_long = true, .call = CALL(1), .taken = 1,
	};
	const struct hub_frame message = {
		.kind = HUB_MESSAGE, .is_long = true, .ticket = 1, .taken = 1,
	};
	const struct krdma_hub_options options = {
		.size = sizeof(options), .depth = HUB_PEER_DEPTH, .eager = HUB_PEER_EAGER,
		.longest = WINDOW_SIZE, .budget = WINDOW_SIZE,
	};
	struct krdma_ep_record record;

	krdma_hub_close(self->hub);
	ASSERT_EQ(0, krdma_hub_open(NULL, &options, &self->hub));
	ASSERT_EQ(0, hub_peer_meet(self->hub, &self->peer, 0, &self->ep));
	ASSERT_EQ(0, make_window(self, WINDOW_SIZE));
	ASSERT_EQ(0, say(&self->peer, early, self->descriptor, sizeof(self->descriptor)));
	ASSERT_EQ(0, say(&self->peer, message, self->descriptor, sizeof(self->descriptor)));
	ASSERT_EQ(-ETIMEDOUT, krdma_ep_call(self->ep, 1, "a", 1, PAST, &record, sizeof(record)));
	for (unsigned int i = 0; i < HUB_PEER_RECEIVES; i++)
		ASSERT_EQ(0, hub_peer_receive(&self->peer, i));
	ASSERT_EQ(0, krdma_hub_next(self->hub, PATIENCE, &record, sizeof(record)));
	EXPECT_EQ(KRDMA_EP_MESSAGE, record.event);
	EXPECT_TRUE(filled(record.data, record.length, 7));
}

/*
 * The program holds a message that takes the whole budget, and behind it the peer has announced
 * another one.
 */
static void use_up(struct __test_metadata *_metadata, FIXTURE_DATA(end) * self,
		   struct krdma_ep_record *held)
{
	const struct krdma_hub_options options = {
		.size = sizeof(options), .depth = HUB_PEER_DEPTH, .eager = HUB_PEER_EAGER,
		.longest = WINDOW_SIZE, .budget = WINDOW_SIZE,
	};
	struct hub_frame message = { .kind = HUB_MESSAGE, .is_long = true }, frame;

	krdma_hub_close(self->hub);
	ASSERT_EQ(0, krdma_hub_open(NULL, &options, &self->hub));
	ASSERT_EQ(0, hub_peer_meet(self->hub, &self->peer, HUB_PEER_RECEIVES, &self->ep));
	ASSERT_EQ(0, make_window(self, WINDOW_SIZE));
	ASSERT_EQ(0, say(&self->peer, message, self->descriptor, sizeof(self->descriptor)));
	message.ticket = 1;
	ASSERT_EQ(0, say(&self->peer, message, self->descriptor, sizeof(self->descriptor)));
	ASSERT_EQ(0, krdma_hub_next(self->hub, PATIENCE, held, sizeof(*held)));
	ASSERT_EQ(0, hear(self, &frame));
	EXPECT_EQ(HUB_DONE, frame.kind);
}

/* The message that waited for memory comes as soon as there is some. */
static void expect_message(struct __test_metadata *_metadata, FIXTURE_DATA(end) * self,
			   struct krdma_ep_record *held)
{
	struct krdma_ep_record record;

	krdma_ep_done(held);
	ASSERT_EQ(0, krdma_hub_next(self->hub, PATIENCE, &record, sizeof(record)));
	EXPECT_EQ(KRDMA_EP_MESSAGE, record.event);
	EXPECT_EQ(WINDOW_SIZE, record.length);
	krdma_ep_done(&record);
}

TEST_F(end, no_error_waits_behind_a_long_message)
{
	struct hub_frame done = { .kind = HUB_DONE, .taken = 2 }, frame;
	struct krdma_ep_record held, record;
	unsigned char data[2 * HUB_PEER_EAGER];

	use_up(_metadata, self, &held);
	ASSERT_EQ(0, krdma_ep_call_begin(self->ep, 1, "a", 1, krdma_deadline(300), 11));
	ASSERT_EQ(0, krdma_ep_send_lent(self->ep, 1, data, sizeof(data), 12, PATIENCE));
	ASSERT_EQ(0, hear(self, &frame));
	EXPECT_EQ(HUB_CALL, frame.kind);
	ASSERT_EQ(0, hear(self, &frame));
	EXPECT_EQ(HUB_MESSAGE, frame.kind);
	done.ticket = frame.ticket;
	ASSERT_EQ(0, say(&self->peer, done, NULL, 0));
	ASSERT_EQ(0, krdma_hub_next(self->hub, SOON, &record, sizeof(record)));
	EXPECT_EQ(KRDMA_EP_SENT, record.event);
	EXPECT_EQ(12, record.user_data);
	EXPECT_EQ(0, record.error);
	ASSERT_EQ(0, krdma_hub_next(self->hub, SOON, &record, sizeof(record)));
	EXPECT_EQ(KRDMA_EP_ANSWER, record.event);
	EXPECT_EQ(11, record.user_data);
	EXPECT_EQ(-ETIMEDOUT, record.error);
	expect_message(_metadata, self, &held);
}

/* One answer has arrived, and of the other the data have no memory. */
TEST_F(end, what_is_answered_in_time_comes_by_the_deadline)
{
	struct hub_frame answer = { .kind = HUB_ANSWER, .taken = 2 }, frame;
	struct krdma_ep_record held, record;

	use_up(_metadata, self, &held);
	for (unsigned int i = 0; i < 2; i++) {
		ASSERT_EQ(0, krdma_ep_call_begin(self->ep, 1, "a", 1, krdma_deadline(500), 21 + i));
		ASSERT_EQ(0, hear(self, &frame));
		ASSERT_EQ(HUB_CALL, frame.kind);
		answer.call = frame.call;
		answer.is_long = i;
		answer.ticket = i ? 2 : 0;
		ASSERT_EQ(0, say(&self->peer, answer, i ? (void *)self->descriptor : "b",
				 i ? sizeof(self->descriptor) : 1));
	}
	/* Until then they come in the order of their arrival. */
	EXPECT_EQ(-ETIMEDOUT, krdma_hub_next(self->hub, krdma_deadline(100), &record,
					     sizeof(record)));
	for (unsigned int i = 0; i < 2; i++) {
		ASSERT_EQ(0, krdma_hub_next(self->hub, SOON, &record, sizeof(record)));
		EXPECT_EQ(KRDMA_EP_ANSWER, record.event);
		EXPECT_EQ(21 + i, record.user_data);
		EXPECT_EQ(i ? -ETIMEDOUT : 0, record.error);
		EXPECT_EQ(i ? 0 : 1, record.length);
		krdma_ep_done(&record);
	}
	/* Nobody needs the data of the late one. */
	ASSERT_EQ(0, hear(self, &frame));
	EXPECT_EQ(HUB_DONE, frame.kind);
	EXPECT_EQ(2, frame.ticket);
	expect_message(_metadata, self, &held);
}

/* The peer answers, and its message follows. No record before has to wait for memory. */
TEST_F(end, an_answer_that_is_there_stays_before_later_messages)
{
	const struct hub_frame answer = { .kind = HUB_ANSWER, .call = CALL(1), .taken = 1 };
	const struct hub_frame message = { .kind = HUB_MESSAGE, .taken = 1 };
	struct krdma_ep_record record;

	ASSERT_EQ(0, hub_peer_meet(self->hub, &self->peer, HUB_PEER_RECEIVES, &self->ep));
	ASSERT_EQ(0, say(&self->peer, answer, "b", 1));
	ASSERT_EQ(0, say(&self->peer, message, "c", 1));
	ASSERT_EQ(0, krdma_ep_call_begin(self->ep, 1, "a", 1, PAST, 41));
	/* The hub looks at both and at the deadline, and the program takes no record meanwhile. */
	EXPECT_EQ(-ETIMEDOUT, krdma_ep_call(self->ep, 1, "a", 1, krdma_deadline(300), &record,
					    sizeof(record)));
	ASSERT_EQ(0, krdma_hub_next(self->hub, SOON, &record, sizeof(record)));
	EXPECT_EQ(KRDMA_EP_ANSWER, record.event);
	EXPECT_EQ(41, record.user_data);
	EXPECT_EQ(0, record.error);
	krdma_ep_done(&record);
	ASSERT_EQ(0, krdma_hub_next(self->hub, SOON, &record, sizeof(record)));
	EXPECT_EQ(KRDMA_EP_MESSAGE, record.event);
	krdma_ep_done(&record);
}

/* The peer goes away when it has answered, and its data are not there. */
static void expect_lost(struct __test_metadata *_metadata, FIXTURE_DATA(end) * self)
{
	struct krdma_ep_record record;

	EXPECT_EQ(-ETIMEDOUT, krdma_hub_next(self->hub, krdma_deadline(100), &record,
					     sizeof(record)));
	hub_peer_leave(&self->peer);
	ASSERT_EQ(0, krdma_hub_next(self->hub, PATIENCE, &record, sizeof(record)));
	EXPECT_EQ(KRDMA_EP_ANSWER, record.event);
	EXPECT_EQ(31, record.user_data);
	EXPECT_EQ(-ECONNRESET, record.error);
	EXPECT_EQ(NULL, record.data);
	if (record.event == KRDMA_EP_ANSWER)
		ASSERT_EQ(0, krdma_hub_next(self->hub, PATIENCE, &record, sizeof(record)));
	EXPECT_EQ(KRDMA_EP_LEFT, record.event);
	EXPECT_EQ(-ECONNRESET, record.error);
}

TEST_F(end, an_answer_without_memory_ends_with_the_connection)
{
	struct hub_frame answer = { .kind = HUB_ANSWER, .is_long = true, .ticket = 2 }, frame;
	struct krdma_ep_record held;

	use_up(_metadata, self, &held);
	ASSERT_EQ(0, krdma_ep_call_begin(self->ep, 1, "a", 1, PATIENCE, 31));
	ASSERT_EQ(0, hear(self, &frame));
	ASSERT_EQ(HUB_CALL, frame.kind);
	answer.call = frame.call;
	answer.taken = 1;
	ASSERT_EQ(0, say(&self->peer, answer, self->descriptor, sizeof(self->descriptor)));
	expect_lost(_metadata, self);
	krdma_ep_done(&held);
}

/* The peer has no receive for the call, so that the reads behind it are in flight. */
TEST_F(end, an_answer_that_is_being_read_ends_with_the_connection)
{
	const struct hub_frame answer = {
		.kind = HUB_ANSWER, .is_long = true, .call = CALL(1), .taken = 1,
	};

	ASSERT_EQ(0, hub_peer_meet(self->hub, &self->peer, 0, &self->ep));
	ASSERT_EQ(0, make_window(self, WINDOW_SIZE));
	ASSERT_EQ(0, say(&self->peer, answer, self->descriptor, sizeof(self->descriptor)));
	ASSERT_EQ(0, krdma_ep_call_begin(self->ep, 1, "a", 1, PATIENCE, 31));
	expect_lost(_metadata, self);
}

/* Each call is answered, and no record was taken: only the program can make room for another. */
/* Proves: F10 (library) */
TEST_F(end, answers_that_were_not_taken_are_not_waited_for)
{
	struct hub_frame answer = { .kind = HUB_ANSWER, .taken = HUB_PEER_DEPTH };
	struct krdma_ep_memory *memory;
	struct krdma_ep_record record;

	ASSERT_EQ(0, hub_peer_meet(self->hub, &self->peer, HUB_PEER_RECEIVES, &self->ep));
	for (unsigned int i = 0; i < HUB_PEER_DEPTH; i++) {
		answer.call = CALL(i + 1) | i;
		ASSERT_EQ(0, say(&self->peer, answer, "b", 1));
	}
	for (unsigned int i = 0; i < HUB_PEER_DEPTH; i++)
		ASSERT_EQ(0, krdma_ep_call_begin(self->ep, 1, "a", 1, PATIENCE, i));
	EXPECT_EQ(-EDEADLK, krdma_ep_call(self->ep, 1, "a", 1, SOON, &record, sizeof(record)));
	EXPECT_EQ(-EDEADLK, krdma_ep_memory_open(self->ep, "window", KRDMA_ACCESS_REMOTE_READ,
						 SOON, &memory));
	EXPECT_EQ(-EAGAIN, krdma_ep_call_begin(self->ep, 1, "a", 1, PATIENCE, 0));
	ASSERT_EQ(0, krdma_hub_next(self->hub, SOON, &record, sizeof(record)));
	EXPECT_EQ(KRDMA_EP_ANSWER, record.event);
	krdma_ep_done(&record);
	/* There is room for one, and the peer does not answer. */
	EXPECT_EQ(-ETIMEDOUT, krdma_ep_call(self->ep, 1, "a", 1, SOON, &record, sizeof(record)));
}

/* More accesses than a connection has places for work requests. */
#define ACCESSES	64

/*
 * The peer has no receive for a message, and behind it, accesses to its memory pass their deadline.
 * Nothing of that is a reason to end the connection.
 */
static void give_up(struct __test_metadata *_metadata, FIXTURE_DATA(end) * self,
		    struct krdma_ep_memory **memory)
{
	char byte;

	/* Its only receive is for the request. */
	ASSERT_EQ(0, hub_peer_meet(self->hub, &self->peer, 1, &self->ep));
	ASSERT_EQ(0, open_window(self, memory));
	ASSERT_EQ(0, krdma_ep_send(self->ep, 1, "a", 1, PATIENCE));
	for (unsigned int i = 0; i < ACCESSES; i++)
		EXPECT_EQ(-ETIMEDOUT, krdma_ep_memory_read(*memory, 0, &byte, 1, PAST));
}

/* Proves: F10 (library) */
TEST_F(end, accesses_that_were_given_up_leave_room_for_messages)
{
	struct krdma_ep_memory *memory;
	unsigned char data[100];
	struct hub_frame frame;

	give_up(_metadata, self, &memory);
	for (unsigned int i = 1; i < HUB_PEER_DEPTH; i++)
		EXPECT_EQ(0, krdma_ep_send(self->ep, 1, "a", 1, PATIENCE));
	EXPECT_STREQ("", krdma_ep_why(self->ep));
	for (unsigned int i = 1; i < HUB_PEER_RECEIVES; i++)
		ASSERT_EQ(0, hub_peer_receive(&self->peer, i));
	ASSERT_EQ(0, hear(self, &frame));
	EXPECT_EQ(HUB_ASK, frame.kind);
	for (unsigned int i = 0; i < HUB_PEER_DEPTH; i++) {
		ASSERT_EQ(0, hear(self, &frame));
		EXPECT_EQ(HUB_MESSAGE, frame.kind);
	}
	EXPECT_EQ(0, krdma_ep_memory_read(memory, 0, data, sizeof(data), PATIENCE));
	EXPECT_TRUE(filled(data, sizeof(data), 7));
}

TEST_F(end, accesses_that_were_given_up_leave_room_for_long_messages)
{
	const struct hub_frame message = { .kind = HUB_MESSAGE, .is_long = true, .taken = 1 };
	struct krdma_ep_memory *memory;
	struct krdma_ep_record record;

	give_up(_metadata, self, &memory);
	ASSERT_EQ(0, say(&self->peer, message, self->descriptor, sizeof(self->descriptor)));
	EXPECT_EQ(-EAGAIN, krdma_hub_next(self->hub, 0, &record, sizeof(record)));
	for (unsigned int i = 1; i < HUB_PEER_RECEIVES; i++)
		ASSERT_EQ(0, hub_peer_receive(&self->peer, i));
	ASSERT_EQ(0, krdma_hub_next(self->hub, PATIENCE, &record, sizeof(record))) {
		TH_LOG("the message does not come: %s", krdma_ep_why(self->ep));
	}
	EXPECT_EQ(KRDMA_EP_MESSAGE, record.event);
	EXPECT_EQ(WINDOW_SIZE, record.length);
	EXPECT_TRUE(filled(record.data, record.length, 7));
	krdma_ep_done(&record);
}

/* Messages whose reads have to wait for each other, because there are no places for all of them. */
TEST_F(end, many_long_messages_are_read)
{
	const struct hub_frame message = { .kind = HUB_MESSAGE, .is_long = true };
	const struct krdma_hub_options options = {
		.size = sizeof(options), .depth = HUB_PEER_DEPTH, .eager = HUB_PEER_EAGER,
		.longest = HUB_PEER_DEPTH * WINDOW_SIZE,
	};
	struct krdma_ep_record record;

	krdma_hub_close(self->hub);
	ASSERT_EQ(0, krdma_hub_open(NULL, &options, &self->hub));
	ASSERT_EQ(0, hub_peer_meet(self->hub, &self->peer, HUB_PEER_RECEIVES, &self->ep));
	ASSERT_EQ(0, make_window(self, WINDOW_SIZE));
	for (unsigned int i = 0; i < HUB_PEER_DEPTH; i++)
		ASSERT_EQ(0, say(&self->peer, message, self->descriptor,
				 sizeof(self->descriptor)));
	for (unsigned int i = 0; i < HUB_PEER_DEPTH; i++) {
		ASSERT_EQ(0, krdma_hub_next(self->hub, PATIENCE, &record, sizeof(record))) {
			TH_LOG("message %u does not come: %s", i, krdma_ep_why(self->ep));
		}
		EXPECT_EQ(KRDMA_EP_MESSAGE, record.event);
		EXPECT_TRUE(filled(record.data, record.length, 7));
	}
}

/* Bytes of all memory regions of this process. */
static size_t registered(void)
{
	size_t sum = 0, bytes;
	char path[64], line[256];
	FILE *info;

	for (int fd = 0; fd < 256; fd++) {
		snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
		info = fopen(path, "r");
		while (info && fgets(line, sizeof(line), info)) {
			if (sscanf(line, "mr_bytes: %zu", &bytes) == 1)
				sum += bytes;
		}
		if (info)
			fclose(info);
	}
	return sum;
}

/* The memory of a message counts, however short that is: here there is enough for one. */
/* Proves: F10 (library) */
TEST_F(end, short_long_messages_take_no_more_memory_than_the_budget)
{
	const struct hub_frame message = { .kind = HUB_MESSAGE, .is_long = true };
	const struct krdma_hub_options options = {
		.size = sizeof(options), .depth = HUB_PEER_DEPTH, .eager = HUB_PEER_EAGER,
		/* One page, so memory for one message at a time. */
		.longest = 4096, .budget = 4096,
	};
	struct krdma_ep_record record, more;
	size_t before;

	krdma_hub_close(self->hub);
	ASSERT_EQ(0, krdma_hub_open(NULL, &options, &self->hub));
	ASSERT_EQ(0, hub_peer_meet(self->hub, &self->peer, HUB_PEER_RECEIVES, &self->ep));
	ASSERT_EQ(0, make_window(self, 1));
	before = registered();
	EXPECT_LT(0, before);
	for (unsigned int i = 0; i < HUB_PEER_DEPTH; i++)
		ASSERT_EQ(0, say(&self->peer, message, self->descriptor,
				 sizeof(self->descriptor)));
	for (unsigned int i = 0; i < HUB_PEER_DEPTH; i++) {
		ASSERT_EQ(0, krdma_hub_next(self->hub, PATIENCE, &record, sizeof(record)));
		EXPECT_EQ(KRDMA_EP_MESSAGE, record.event);
		EXPECT_EQ(1, record.length);
		EXPECT_EQ(-ETIMEDOUT, krdma_hub_next(self->hub, krdma_deadline(200), &more,
						     sizeof(more))) {
			TH_LOG("the message after %u has memory, too", i);
		}
		EXPECT_GE(options.budget, registered() - before);
		krdma_ep_done(&record);
	}
}

/* Peers that ask, and how often, so that their frames keep a hub busy beyond any deadline. */
#define CROWD		4
#define ASKS		380

static void flood(struct __test_metadata *_metadata, struct hub_peer *peers)
{
	struct hub_frame frame = { .kind = HUB_ASK, .code = KRDMA_ACCESS_REMOTE_READ };

	for (unsigned int i = 0; i < CROWD; i++) {
		for (unsigned int k = 1; k <= ASKS; k++) {
			frame.call = CALL(k);
			ASSERT_EQ(0, say(&peers[i], frame, "none", 4));
		}
	}
}

static int more_to_do(const struct krdma_hub *hub)
{
	struct pollfd pollfd = { .fd = krdma_hub_fd(hub), .events = POLLIN };

	return poll(&pollfd, 1, 0);
}

/* Proves: F10 (library) */
TEST_F_TIMEOUT(end, a_flood_does_not_delay_a_deadline, 300)
{
	const struct krdma_hub_options options = {
		.size = sizeof(options), .depth = HUB_DEPTH_MAX, .eager = HUB_EAGER_MIN,
		.peers = CROWD + 1, .idle_ms = 600000,
	};
	struct hub_peer peers[CROWD] = { 0 };
	struct krdma_ep_record record;
	struct krdma_hub *hub;
	struct krdma_ep *ep;

	ASSERT_EQ(0, krdma_hub_open(NULL, &options, &hub));
	for (unsigned int i = 0; i < CROWD; i++) {
		ASSERT_EQ(0, hub_peer_open(&peers[i]));
		ASSERT_EQ(0, hub_peer_meet(hub, &peers[i], 0, &ep));
	}
	ASSERT_EQ(0, hub_peer_meet(hub, &self->peer, HUB_PEER_RECEIVES, &self->ep));
	flood(_metadata, peers);
	EXPECT_EQ(-ETIMEDOUT, krdma_ep_call(self->ep, 1, "a", 1, PAST, &record, sizeof(record)));
	EXPECT_EQ(1, more_to_do(hub));
	while (more_to_do(hub))
		EXPECT_EQ(-EAGAIN, krdma_hub_next(hub, 0, &record, sizeof(record)));
	flood(_metadata, peers);
	EXPECT_EQ(-EAGAIN, krdma_hub_next(hub, 0, &record, sizeof(record)));
	EXPECT_EQ(1, more_to_do(hub));
	/* Those that do not take the replies leave first. */
	for (unsigned int i = 0; i < CROWD; i++)
		hub_peer_close(&peers[i]);
	krdma_hub_close(hub);
}

/* Messages that have arrived whenever the hub is asked for a record. */
#define PILE		4

static struct krdma_hub *open_server(char to[HUB_PEER_TO])
{
	const struct krdma_hub_options options = {
		.size = sizeof(options), .depth = HUB_PEER_DEPTH, .eager = HUB_PEER_EAGER,
	};
	struct sockaddr_storage address;
	struct krdma_hub *hub;
	char at[HUB_PEER_TO];

	snprintf(at, sizeof(at), "%s:0", both_address());
	if (krdma_hub_open(at, &options, &hub) || krdma_hub_address(hub, &address))
		return NULL;
	snprintf(to, HUB_PEER_TO, "%s:%u", both_address(),
		 ntohs(((struct sockaddr_in *)&address)->sin_port));
	return hub;
}

/**
 * struct seen - records of others than the peer that sends without a pause
 * @joined, @left, @late: number of each; @late: answers with ETIMEDOUT
 */
struct seen {
	unsigned int joined;
	unsigned int left;
	unsigned int late;
};

/* Far more records than the others need to be seen. */
#define RECORDS		30000

/* Takes records, of which there is one each time, until one of each kind was there. */
static void take_always(struct __test_metadata *_metadata, FIXTURE_DATA(end) * self,
			struct krdma_hub *hub, struct krdma_hub *client, struct seen *seen)
{
	struct krdma_ep_record record;

	for (unsigned int i = 0; i < RECORDS; i++) {
		if (seen->joined && seen->left && seen->late)
			break;
		ASSERT_EQ(0, krdma_hub_next(hub, 0, &record, sizeof(record)));
		seen->joined += record.event == KRDMA_EP_JOINED;
		seen->left += record.event == KRDMA_EP_LEFT;
		seen->late += record.event == KRDMA_EP_ANSWER && record.error == -ETIMEDOUT;
		krdma_ep_done(&record);
		if (record.event == KRDMA_EP_MESSAGE)
			ASSERT_EQ(0, hub_peer_refill(&self->peer));
		/* The one that connects. */
		krdma_hub_next(client, 0, &record, sizeof(record));
	}
}

/* Proves: F10 (library) */
TEST_F_TIMEOUT(end, a_hub_that_always_has_a_record_sees_everything_else, 300)
{
	struct hub_peer silent, leaving;
	struct krdma_ep *ep, *left;
	struct krdma_hub *server;
	struct seen seen = { 0 };
	char to[HUB_PEER_TO];

	server = open_server(to);
	ASSERT_NE(NULL, server);
	ASSERT_EQ(0, hub_peer_open(&silent));
	ASSERT_EQ(0, hub_peer_open(&leaving));
	ASSERT_EQ(0, hub_peer_meet(server, &silent, HUB_PEER_RECEIVES, &ep));
	ASSERT_EQ(0, hub_peer_meet(server, &leaving, HUB_PEER_RECEIVES, &left));
	ASSERT_EQ(0, hub_peer_meet(server, &self->peer, HUB_PEER_RECEIVES, &self->ep));
	for (unsigned int i = 0; i < PILE; i++)
		ASSERT_EQ(0, hub_peer_refill(&self->peer));
	ASSERT_EQ(0, krdma_ep_call_begin(ep, 1, "a", 1, PAST, 0));
	hub_peer_close(&leaving);
	ASSERT_EQ(0, krdma_ep_connect(self->hub, to, NULL, 0, 0, &ep));
	take_always(_metadata, self, server, self->hub, &seen);
	EXPECT_EQ(1, seen.joined);
	EXPECT_EQ(1, seen.left);
	EXPECT_EQ(1, seen.late);
	hub_peer_close(&silent);
	krdma_hub_close(server);
}

/* What is handled last before a deadline counts, whichever of the hub's steps that is. */
TEST_F(end, room_that_is_there_is_found_without_waiting)
{
	struct hub_frame room = { .kind = HUB_ROOM }, frame;

	ASSERT_EQ(0, hub_peer_meet(self->hub, &self->peer, HUB_PEER_RECEIVES, &self->ep));
	for (unsigned int i = 0; i < HUB_PEER_DEPTH; i++)
		ASSERT_EQ(0, krdma_ep_send(self->ep, 1, "a", 1, PATIENCE));
	for (unsigned int i = 0; i < 64; i++) {
		ASSERT_EQ(0, hear(self, &frame));
		ASSERT_EQ(HUB_MESSAGE, frame.kind);
		room.taken++;
		ASSERT_EQ(0, say(&self->peer, room, NULL, 0));
		EXPECT_EQ(0, krdma_ep_send(self->ep, 1, "a", 1, i % 2 ? PAST : 0)) {
			TH_LOG("message %u", i);
		}
		if (i % 3)
			EXPECT_EQ(-EAGAIN, krdma_ep_send(self->ep, 1, "a", 1, 0));
	}
}

/* Words are cut where the peer's receives are short, or this side's own memory is. */
TEST_F(end, words_fit_the_receives)
{
	const struct krdma_hub_options options = {
		.size = sizeof(options), .depth = HUB_PEER_DEPTH, .eager = HUB_EAGER_MIN,
	};
	char words[100 + 1] = "";
	struct krdma_hub *hub;
	struct krdma_ep *ep;
	struct hub_frame frame;
	unsigned int number;

	memset(words, 'w', 100);
	ASSERT_EQ(0, krdma_hub_open(NULL, &options, &hub));
	ASSERT_EQ(0, hub_peer_meet(hub, &self->peer, HUB_PEER_RECEIVES, &ep));
	krdma_ep_close(ep, words);
	/* It waits until the peer has that. */
	EXPECT_EQ(0, krdma_hub_close(hub));
	ASSERT_EQ(0, hub_peer_next(&self->peer, PATIENCE, &frame, &number));
	EXPECT_EQ(HUB_BYE, frame.kind);
	EXPECT_EQ(HUB_EAGER_MIN, frame.length);
	EXPECT_EQ(0, memcmp(frame.data, words, HUB_EAGER_MIN));
}

/*
 * Nothing is left
 */

static size_t allocated(void)
{
	return usage_now().bytes;
}

/* The peer offers memory and withdraws it; the program closes it before that, or after. */
TEST_F(end, memory_that_was_withdrawn_and_closed_is_freed)
{
	struct hub_frame grant = { .kind = HUB_GRANT }, revoke = { .kind = HUB_REVOKE }, frame;
	struct krdma_ep_memory *memory;
	struct krdma_ep_record record;
	size_t before = 0;
	char byte;

	ASSERT_EQ(0, hub_peer_meet(self->hub, &self->peer, HUB_PEER_RECEIVES, &self->ep));
	ASSERT_EQ(0, make_window(self, WINDOW_SIZE));
	for (unsigned int i = 1; i <= 100; i++) {
		/* The last requests have left by then. */
		if (i == 20)
			before = allocated();
		grant.call = CALL(i);
		grant.taken = i;
		grant.tag = i % HUB_SHARES;
		revoke.taken = i;
		revoke.tag = grant.tag;
		ASSERT_EQ(0, say(&self->peer, grant, self->descriptor, sizeof(self->descriptor)));
		ASSERT_EQ(0, krdma_ep_memory_open(self->ep, "window", KRDMA_ACCESS_REMOTE_READ,
						  PATIENCE, &memory));
		ASSERT_EQ(0, krdma_ep_memory_read(memory, 0, &byte, 1, PATIENCE));
		if (i % 2)
			krdma_ep_memory_close(memory);
		ASSERT_EQ(0, say(&self->peer, revoke, NULL, 0));
		EXPECT_EQ(-EAGAIN, krdma_hub_next(self->hub, 0, &record, sizeof(record)));
		if (i % 2)
			continue;
		EXPECT_EQ(-ESTALE, krdma_ep_memory_read(memory, 0, &byte, 1, PATIENCE));
		krdma_ep_memory_close(memory);
		for (unsigned int k = 0; k < 2; k++) {
			ASSERT_EQ(0, hear(self, &frame));
			EXPECT_EQ(HUB_ASK, frame.kind);
			ASSERT_EQ(0, hear(self, &frame));
			EXPECT_EQ(HUB_REVOKED, frame.kind);
		}
	}
	EXPECT_GE(before, allocated());
}

/* Connects two hubs over a device that comes and goes. */
static void plug(struct __test_metadata *_metadata, FIXTURE_DATA(end) * self)
{
	struct krdma_ep_record record = { 0 };
	struct sockaddr_storage address;
	struct krdma_hub *server;
	struct krdma_ep *ep;
	char to[64];

	ASSERT_EQ(0, fabric_create());
	ASSERT_EQ(0, session_await(krdma_fd(self->peer.session), FABRIC_DEVICE, true));
	ASSERT_EQ(0, krdma_hub_open(FABRIC_ADDRESS ":0", NULL, &server));
	ASSERT_EQ(0, krdma_hub_address(server, &address));
	snprintf(to, sizeof(to), "%s:%u", FABRIC_ADDRESS,
		 ntohs(((struct sockaddr_in *)&address)->sin_port));
	ASSERT_EQ(0, krdma_ep_connect(self->hub, to, NULL, 0, 0, &ep));
	while (krdma_hub_next(self->hub, krdma_deadline(20), &record, sizeof(record)))
		krdma_hub_next(server, 0, &record, sizeof(record));
	ASSERT_EQ(KRDMA_EP_JOINED, record.event);
	ASSERT_EQ(0, rdma_link_remove(FABRIC_DEVICE));
	ASSERT_EQ(0, krdma_hub_next(self->hub, PATIENCE, &record, sizeof(record)));
	EXPECT_EQ(KRDMA_EP_LEFT, record.event);
	EXPECT_EQ(-ENODEV, record.error);
	krdma_ep_close(ep, NULL);
	EXPECT_EQ(-EAGAIN, krdma_hub_next(self->hub, 0, &record, sizeof(record)));
	krdma_hub_close(server);
	fabric_destroy();
}

TEST_F_TIMEOUT(end, devices_that_are_gone_leave_nothing, 300)
{
	struct usage before;

	plug(_metadata, self);
	before = usage_now();
	for (unsigned int i = 0; i < 3; i++)
		plug(_metadata, self);
	EXPECT_EQ(before.descriptors, usage_after(&before).descriptors);
}

/*
 * Children
 */

struct family {
	struct krdma_hub *hub;
	struct krdma_ep *ep;
	struct krdma_ep_record record;
	bool closes_all;
};

static int close_copies(void *context)
{
	struct family *family = context;

	if (family->closes_all) {
		krdma_ep_done(&family->record);
		krdma_ep_close(family->ep, "the child has closed it");
	}
	CHECK(!krdma_hub_close(family->hub));
	return 0;
}

/* The hub has messages that were not taken, one that was lent, and one that it reads. */
static void raise_child(struct __test_metadata *_metadata, FIXTURE_DATA(end) * self,
			bool closes_all)
{
	const struct hub_frame message = { .kind = HUB_MESSAGE };
	struct hub_frame long_message = { .kind = HUB_MESSAGE, .is_long = true }, frame;
	struct family family = { .closes_all = closes_all };
	struct krdma_ep_record record;
	unsigned int number;

	ASSERT_EQ(0, hub_peer_meet(self->hub, &self->peer, HUB_PEER_RECEIVES, &self->ep));
	ASSERT_EQ(0, make_window(self, WINDOW_SIZE));
	for (unsigned int i = 1; i < HUB_PEER_DEPTH; i++)
		ASSERT_EQ(0, say(&self->peer, message, "a", 1));
	ASSERT_EQ(0, say(&self->peer, long_message, self->descriptor,
			 sizeof(self->descriptor)));
	ASSERT_EQ(0, krdma_hub_next(self->hub, PATIENCE, &family.record, sizeof(record)));
	family.hub = self->hub;
	family.ep = self->ep;
	EXPECT_EQ(0, child_run(close_copies, &family));
	/* The child has sent nothing in the parent's name. */
	EXPECT_EQ(-ETIMEDOUT, hub_peer_next(&self->peer, krdma_deadline(300), &frame, &number)) {
		TH_LOG("a frame of the kind %u was sent", frame.kind);
	}
	krdma_ep_done(&family.record);
	for (unsigned int i = 1; i < HUB_PEER_DEPTH; i++) {
		ASSERT_EQ(0, krdma_hub_next(self->hub, PATIENCE, &record, sizeof(record)));
		EXPECT_EQ(KRDMA_EP_MESSAGE, record.event);
		krdma_ep_done(&record);
	}
	EXPECT_EQ(WINDOW_SIZE, record.length);
	/* And the parent learns of the end. */
	hub_peer_leave(&self->peer);
	EXPECT_EQ(0, krdma_hub_next(self->hub, PATIENCE, &record, sizeof(record)));
	EXPECT_EQ(KRDMA_EP_LEFT, record.event);
	EXPECT_EQ(-ECONNRESET, record.error);
}

/* Proves: F10 (library) */
TEST_F(end, a_child_closes_the_hub_and_the_parent_goes_on)
{
	raise_child(_metadata, self, false);
}

TEST_F(end, a_child_closes_everything_and_the_parent_goes_on)
{
	raise_child(_metadata, self, true);
}

static int linger(void *context)
{
	(void)context;
	pause();
	return 0;
}

/* What a child still has is watched after the parent has closed it, unless the parent says so. */
TEST_F(end, a_child_has_what_the_parent_has_closed)
{
	struct krdma_ep_record record;
	pid_t pid;

	ASSERT_EQ(0, hub_peer_name("nobody-else", "127.0.0.1", "127.0.0.2"));
	ASSERT_EQ(0, krdma_ep_connect(self->hub, "nobody-else:7", NULL, 0, 0, &self->ep));
	pid = child_start(linger, NULL);
	ASSERT_LT(0, pid);
	EXPECT_EQ(0, krdma_hub_next(self->hub, PATIENCE, &record, sizeof(record)));
	EXPECT_EQ(KRDMA_EP_LEFT, record.event);
	krdma_ep_close(self->ep, NULL);
	EXPECT_EQ(-EAGAIN, krdma_hub_next(self->hub, 0, &record, sizeof(record)));
	EXPECT_EQ(0, more_to_do(self->hub));
	EXPECT_LE(0, child_kill(pid));
}

TEST_HARNESS_MAIN
