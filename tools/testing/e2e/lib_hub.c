// SPDX-License-Identifier: GPL-2.0
/*
 * libkrdma's hubs: messages, calls, deadlines, many peers, peers that do not take, do not answer,
 * die or do not follow the protocol, admission, named memory.
 */
#include <errno.h>
#include <malloc.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <hub_wire.h>
#include <krdma_entry.h>
#include <krdma_hub.h>

#include "kselftest_harness.h"
#include "child.h"
#include "lib_both.h"
#include "lib_pair.h"
#include "lib_usage.h"
#include "session.h"

#define PATIENCE	krdma_deadline(60000)
#define SOON		krdma_deadline(300)
#define DEPTH		8
#define LONG		(5u << 20)
#define MANY		70
#define MANY_DEEP	90

/* What a server does with a message. */
enum tag {
	ECHO = 1,
	SILENT,		/* does not answer */
	HOLD,		/* does not give back, until told */
	LATE,		/* answers when the next message comes */
	LEAVE,		/* closes the endpoint */
	DIE,		/* ends the process */
};

#define WORDS		"enough for today"

/**
 * struct server - a hub in a thread of its own
 * @hub: the hub
 * @address: where it listens
 * @thread: the thread
 * @stop, @release: set by the test
 * @messages, @joined, @left: number of records
 * @error: of the last record LEFT
 * @why: of that endpoint
 * @held: records that are held, and how many
 * @late: a call to answer later
 * @answered: result of the last krdma_ep_answer()
 */
struct server {
	struct krdma_hub *hub;
	char address[64];
	pthread_t thread;
	int stop;
	int release;
	unsigned int messages;
	unsigned int joined;
	unsigned int left;
	int error;
	char why[512];
	struct krdma_ep_record held[DEPTH * 4];
	unsigned int held_count;
	struct krdma_ep_record late;
	int answered;
};

static unsigned int load(const unsigned int *number)
{
	return __atomic_load_n(number, __ATOMIC_ACQUIRE);
}

static int error_of(const struct server *server)
{
	return __atomic_load_n(&server->error, __ATOMIC_ACQUIRE);
}

/* Waits until a number that the server counts is there. */
static bool counts(const unsigned int *number, unsigned int expected)
{
	for (int i = 0; i < 6000 && load(number) < expected; i++)
		sleep_ms(10);
	return load(number) >= expected;
}

static void serve_message(struct server *server, struct krdma_ep_record *record)
{
	int err;

	if (server->late.call) {
		krdma_ep_answer(&server->late, 0, "late", 4);
		memset(&server->late, 0, sizeof(server->late));
	}
	switch (record->tag) {
	case ECHO:
		if (!record->call)
			break;
		err = krdma_ep_answer(record, record->tag + 100, record->data, record->length);
		__atomic_store_n(&server->answered, err, __ATOMIC_RELEASE);
		break;
	case HOLD:
		server->held[server->held_count++] = *record;
		record->lent = NULL;
		break;
	case LATE:
		server->late = *record;
		break;
	case LEAVE:
		krdma_ep_done(record);
		krdma_ep_close(record->ep, WORDS);
		break;
	case DIE:
		kill(getpid(), SIGKILL);
		break;
	default:
		break;
	}
}

static void serve_one(struct server *server)
{
	struct krdma_ep_record record;

	if (__atomic_exchange_n(&server->release, 0, __ATOMIC_ACQ_REL)) {
		while (server->held_count)
			krdma_ep_done(&server->held[--server->held_count]);
	}
	if (krdma_hub_next(server->hub, krdma_deadline(20), &record, sizeof(record)))
		return;
	switch (record.event) {
	case KRDMA_EP_JOINED:
		__atomic_add_fetch(&server->joined, 1, __ATOMIC_ACQ_REL);
		break;
	case KRDMA_EP_MESSAGE:
		serve_message(server, &record);
		__atomic_add_fetch(&server->messages, 1, __ATOMIC_ACQ_REL);
		break;
	case KRDMA_EP_LEFT:
		__atomic_store_n(&server->error, record.error, __ATOMIC_RELEASE);
		snprintf(server->why, sizeof(server->why), "%s", krdma_ep_why(record.ep));
		krdma_ep_close(record.ep, NULL);
		__atomic_add_fetch(&server->left, 1, __ATOMIC_ACQ_REL);
		break;
	}
	krdma_ep_done(&record);
}

static void *serve(void *context)
{
	struct server *server = context;

	while (!__atomic_load_n(&server->stop, __ATOMIC_ACQUIRE))
		serve_one(server);
	return NULL;
}

/* Opens the hub at a free port. */
static int server_open(struct server *server, const struct krdma_hub_options *options)
{
	struct sockaddr_storage address;
	char at[64];
	int err;

	memset(server, 0, sizeof(*server));
	snprintf(at, sizeof(at), "%s:0", both_address());
	err = krdma_hub_open(at, options, &server->hub);
	if (!err)
		err = krdma_hub_address(server->hub, &address);
	if (!err)
		snprintf(server->address, sizeof(server->address), "%s:%u", both_address(),
			 ntohs(((struct sockaddr_in *)&address)->sin_port));
	return err;
}

static int server_start(struct server *server, const struct krdma_hub_options *options)
{
	int err = server_open(server, options);

	return err ? err : -pthread_create(&server->thread, NULL, serve, server);
}

static void server_pause(struct server *server)
{
	if (!server->thread)
		return;
	__atomic_store_n(&server->stop, 1, __ATOMIC_RELEASE);
	pthread_join(server->thread, NULL);
	server->thread = 0;
}

static void server_stop(struct server *server)
{
	server_pause(server);
	krdma_hub_close(server->hub);
	server->hub = NULL;
}

FIXTURE(hub)
{
	struct server server;
	struct krdma_hub *client;
	struct krdma_ep *ep;
	unsigned char *data;
};

FIXTURE_SETUP(hub)
{
	memset(self, 0, sizeof(*self));
	self->data = malloc(LONG);
	ASSERT_NE(NULL, self->data);
	fill(self->data, LONG, 5);
	ASSERT_EQ(0, server_start(&self->server, NULL));
	ASSERT_EQ(0, krdma_hub_open(NULL, NULL, &self->client));
	ASSERT_EQ(0, krdma_ep_connect(self->client, self->server.address, "hi", 2, PATIENCE,
				      &self->ep));
}

FIXTURE_TEARDOWN(hub)
{
	krdma_hub_close(self->client);
	server_stop(&self->server);
	free(self->data);
}

static int call(struct krdma_ep *ep, uint64_t tag, const void *data, size_t length,
		uint64_t deadline, struct krdma_ep_record *answer)
{
	return krdma_ep_call(ep, tag, data, length, deadline, answer, sizeof(*answer));
}

/* Whether the endpoint works: a call is answered with the same data. */
static bool echoes(struct krdma_ep *ep, const void *data, size_t length)
{
	struct krdma_ep_record answer = { 0 };
	bool same;

	if (call(ep, ECHO, data, length, PATIENCE, &answer))
		return false;
	same = answer.event == KRDMA_EP_ANSWER && answer.tag == ECHO + 100 && answer.ep == ep &&
	       answer.length == length && answer.data && !memcmp(answer.data, data, length);
	krdma_ep_done(&answer);
	krdma_ep_done(&answer);
	return same;
}

/*
 * Messages
 */

/* Proves: F10 (library) */
TEST_F(hub, answers_are_what_was_sent)
{
	static const size_t lengths[] = { 0, 1, 7, 2047, 2048, 2049, 4096, 65536, LONG };

	for (unsigned int i = 0; i < ARRAY_SIZE(lengths); i++)
		EXPECT_TRUE(echoes(self->ep, self->data, lengths[i]));
	/* More than all receives. */
	for (unsigned int i = 0; i < 20 * DEPTH; i++)
		EXPECT_TRUE(echoes(self->ep, self->data + i, i));
	EXPECT_EQ(0, __atomic_load_n(&self->server.answered, __ATOMIC_ACQUIRE));
	EXPECT_EQ(1, load(&self->server.joined));
}

TEST_F(hub, too_long_is_refused)
{
	struct krdma_ep_record answer;

	/* Only the length is looked at. */
	EXPECT_EQ(-EMSGSIZE, krdma_ep_send(self->ep, ECHO, self->data, (16u << 20) + 1, PATIENCE));
	EXPECT_EQ(-EINVAL, krdma_ep_send(self->ep, ECHO, NULL, 1, PATIENCE));
	EXPECT_EQ(-EINVAL, call(self->ep, ECHO, NULL, 0, 0, &answer));
	EXPECT_TRUE(echoes(self->ep, "ok", 2));
}

TEST_F(hub, lent_memory_comes_back)
{
	struct krdma_ep_record record;

	ASSERT_EQ(0, krdma_ep_send_lent(self->ep, ECHO, self->data, LONG, 77, PATIENCE));
	ASSERT_EQ(0, krdma_hub_next(self->client, PATIENCE, &record, sizeof(record)));
	EXPECT_EQ(KRDMA_EP_SENT, record.event);
	EXPECT_EQ(77, record.user_data);
	EXPECT_EQ(0, record.error);
	EXPECT_TRUE(record.ep == self->ep && !record.data);
	ASSERT_EQ(0, krdma_ep_send_lent(self->ep, ECHO, "short", 5, 78, PATIENCE));
	ASSERT_EQ(0, krdma_hub_next(self->client, PATIENCE, &record, sizeof(record)));
	EXPECT_EQ(78, record.user_data);
	EXPECT_TRUE(counts(&self->server.messages, 2));
}

/* More than may be on their way at a time: the program takes the records when it likes. */
/* Proves: F10 (library) */
TEST_F(hub, records_of_lent_memory_keep_nothing_waiting)
{
	static const size_t lengths[] = { 100000, 5 };
	const unsigned int each = 2 * HUB_TICKETS, count = ARRAY_SIZE(lengths) * each;
	uint64_t end = krdma_deadline(20000), sent = 0;
	struct krdma_ep_record record;

	for (unsigned int i = 0; i < count; i++)
		ASSERT_EQ(0, krdma_ep_send_lent(self->ep, SILENT, self->data, lengths[i / each],
						i, end));
	EXPECT_EQ(0, krdma_ep_send(self->ep, SILENT, self->data, lengths[0], end));
	EXPECT_TRUE(echoes(self->ep, self->data, lengths[0]));
	for (unsigned int i = 0; i < count; i++) {
		ASSERT_EQ(0, krdma_hub_next(self->client, PATIENCE, &record, sizeof(record)));
		EXPECT_EQ(KRDMA_EP_SENT, record.event);
		EXPECT_EQ(0, record.error);
		sent |= 1ull << record.user_data;
	}
	EXPECT_EQ((1ull << count) - 1, sent);
	EXPECT_EQ(-EAGAIN, krdma_hub_next(self->client, 0, &record, sizeof(record)));
}

/* Proves: F10 (library) */
TEST_F(hub, the_descriptor_says_when)
{
	struct pollfd pollfd = { .fd = krdma_hub_fd(self->client), .events = POLLIN };
	struct krdma_ep_record record;

	while (!krdma_hub_next(self->client, 0, &record, sizeof(record)))
		;
	EXPECT_EQ(-EAGAIN, krdma_hub_next(self->client, 0, &record, sizeof(record)));
	EXPECT_EQ(0, poll(&pollfd, 1, 200));
	ASSERT_EQ(0, krdma_ep_call_begin(self->ep, ECHO, "a", 1, PATIENCE, 4711));
	do {
		ASSERT_EQ(1, poll(&pollfd, 1, 60000));
	} while (krdma_hub_next(self->client, 0, &record, sizeof(record)));
	EXPECT_EQ(KRDMA_EP_ANSWER, record.event);
	EXPECT_EQ(4711, record.user_data);
	EXPECT_EQ(1, record.length);
	krdma_ep_done(&record);
	EXPECT_EQ(-EAGAIN, krdma_hub_next(self->client, 0, &record, sizeof(record)));
	EXPECT_EQ(0, poll(&pollfd, 1, 200));
}

/*
 * Calls
 */

/* More calls than may be under way pass their deadline, are answered late or never. */
/* Proves: F10 (library) */
TEST_F(hub, a_deadline_does_not_end_the_endpoint)
{
	struct krdma_ep_record answer;

	EXPECT_EQ(-ETIMEDOUT, call(self->ep, SILENT, "a", 1, SOON, &answer));
	EXPECT_TRUE(echoes(self->ep, "still there", 11));
	for (unsigned int i = 0; i < 2 * DEPTH; i++) {
		EXPECT_EQ(-ETIMEDOUT, call(self->ep, LATE, "a", 1, krdma_deadline(100), &answer));
		EXPECT_TRUE(echoes(self->ep, "and again", 9));
	}
	EXPECT_STREQ("", krdma_ep_why(self->ep));
}

TEST_F(hub, calls_that_are_never_answered_are_limited)
{
	struct krdma_ep_record answer, record;
	unsigned int begun = 0;
	int err;

	while (!(err = krdma_ep_call_begin(self->ep, SILENT, "a", 1, SOON, begun)) &&
	       begun < 100)
		begun++;
	EXPECT_EQ(-EAGAIN, err);
	EXPECT_EQ(DEPTH, begun);
	for (unsigned int i = 0; i < begun; i++) {
		ASSERT_EQ(0, krdma_hub_next(self->client, PATIENCE, &record, sizeof(record)));
		EXPECT_EQ(KRDMA_EP_ANSWER, record.event);
		EXPECT_EQ(-ETIMEDOUT, record.error);
	}
	/* Their places are not free: an answer could still come. Messages have places. */
	EXPECT_EQ(-ETIMEDOUT, call(self->ep, ECHO, "a", 1, SOON, &answer));
	EXPECT_EQ(0, krdma_ep_send(self->ep, ECHO, "a", 1, PATIENCE));
	EXPECT_TRUE(counts(&self->server.messages, DEPTH + 1));
}

TEST_F(hub, a_call_is_answered_once)
{
	struct krdma_ep_record record = { 0 }, answer = { 0 };

	server_pause(&self->server);
	ASSERT_EQ(0, krdma_ep_call_begin(self->ep, ECHO, "a", 1, PATIENCE, 0));
	do {
		krdma_ep_done(&record);
		ASSERT_EQ(0, krdma_hub_next(self->server.hub, PATIENCE, &record, sizeof(record)));
	} while (record.event != KRDMA_EP_MESSAGE);
	EXPECT_EQ(0, krdma_ep_answer(&record, 1, "b", 1));
	EXPECT_EQ(-ENOENT, krdma_ep_answer(&record, 1, "b", 1));
	krdma_ep_done(&record);
	EXPECT_EQ(-ENOENT, krdma_ep_answer(&record, 1, "b", 1));
	ASSERT_EQ(0, krdma_hub_next(self->client, PATIENCE, &answer, sizeof(answer)));
	EXPECT_EQ(KRDMA_EP_ANSWER, answer.event);
	krdma_ep_done(&answer);
}

/*
 * Ends
 */

static int dying_server(void *context)
{
	struct server server;
	int *pipe = context;

	CHECK(!server_open(&server, NULL));
	CHECK(write(pipe[1], server.address, sizeof(server.address)) == sizeof(server.address));
	serve(&server);
	return 0;
}

/* Proves: F10 (library) */
TEST_F(hub, a_peer_dies_in_the_middle_of_a_call)
{
	struct krdma_ep_record answer, record;
	char address[64];
	struct krdma_ep *ep;
	int pipe_fds[2];
	pid_t pid;

	ASSERT_EQ(0, pipe(pipe_fds));
	pid = child_start(dying_server, pipe_fds);
	ASSERT_LT(0, pid);
	ASSERT_EQ(sizeof(address), read(pipe_fds[0], address, sizeof(address)));
	ASSERT_EQ(0, krdma_ep_connect(self->client, address, NULL, 0, PATIENCE, &ep));
	EXPECT_TRUE(echoes(ep, "a", 1));
	EXPECT_EQ(-ECONNRESET, call(ep, DIE, "a", 1, PATIENCE, &answer));
	EXPECT_NE(NULL, strstr(krdma_ep_why(ep), "ended"));
	EXPECT_EQ(-ECONNRESET, krdma_ep_send(ep, ECHO, "a", 1, PATIENCE));
	ASSERT_EQ(0, krdma_hub_next(self->client, PATIENCE, &record, sizeof(record)));
	EXPECT_EQ(KRDMA_EP_LEFT, record.event);
	EXPECT_EQ(-ECONNRESET, record.error);
	krdma_ep_close(ep, NULL);
	child_kill(pid);
	close(pipe_fds[0]);
	close(pipe_fds[1]);
	/* The other endpoint has not noticed. */
	EXPECT_TRUE(echoes(self->ep, "a", 1));
}

/* Proves: F10 (library) */
TEST_F(hub, a_peer_leaves_with_words)
{
	struct krdma_ep_record record = { 0 };

	ASSERT_EQ(0, krdma_ep_call_begin(self->ep, SILENT, "a", 1, PATIENCE, 1));
	ASSERT_EQ(0, krdma_ep_call_begin(self->ep, LEAVE, "a", 1, PATIENCE, 2));
	for (unsigned int i = 1; i <= 2; i++) {
		ASSERT_EQ(0, krdma_hub_next(self->client, PATIENCE, &record, sizeof(record)));
		EXPECT_EQ(KRDMA_EP_ANSWER, record.event);
		EXPECT_EQ(i, record.user_data);
		EXPECT_EQ(-EPIPE, record.error);
	}
	ASSERT_EQ(0, krdma_hub_next(self->client, PATIENCE, &record, sizeof(record)));
	EXPECT_EQ(KRDMA_EP_LEFT, record.event);
	EXPECT_EQ(0, record.error);
	EXPECT_NE(NULL, strstr(krdma_ep_why(self->ep), "\"" WORDS "\""));
	EXPECT_EQ(-EPIPE, krdma_ep_send(self->ep, ECHO, "a", 1, PATIENCE));
	krdma_ep_close(self->ep, NULL);
}

/* What was sent before the close arrives, long or short. */
/* Proves: F10 (library) */
TEST_F(hub, what_was_sent_arrives)
{
	for (unsigned int i = 0; i < 3; i++) {
		ASSERT_EQ(0, krdma_ep_send(self->ep, SILENT, self->data, LONG, PATIENCE));
		ASSERT_EQ(0, krdma_ep_send(self->ep, SILENT, "a", 1, PATIENCE));
	}
	krdma_ep_close(self->ep, "done");
	krdma_hub_close(self->client);
	self->client = NULL;
	EXPECT_TRUE(counts(&self->server.left, 1));
	EXPECT_EQ(6, load(&self->server.messages));
	EXPECT_EQ(0, error_of(&self->server));
	EXPECT_NE(NULL, strstr(self->server.why, "\"done\""));
}

TEST_F(hub, closed_with_calls_outstanding)
{
	struct krdma_ep_record record;
	uint64_t begin;

	for (unsigned int i = 0; i < 3; i++)
		ASSERT_EQ(0, krdma_ep_call_begin(self->ep, SILENT, "a", 1, PATIENCE, i));
	ASSERT_EQ(0, krdma_ep_call_begin(self->ep, ECHO, self->data, LONG, PATIENCE, 3));
	ASSERT_EQ(0, krdma_hub_next(self->client, PATIENCE, &record, sizeof(record)));
	EXPECT_EQ(LONG, record.length);
	begin = now_ms();
	/* The record was not given back. */
	krdma_hub_close(self->client);
	EXPECT_GT(20000, now_ms() - begin);
	self->client = NULL;
	EXPECT_TRUE(counts(&self->server.left, 1));
}

/*
 * Peers that take nothing
 */

/* Proves: F10 (library) */
TEST_F(hub, a_peer_that_takes_nothing_is_waited_for)
{
	struct krdma_hub *other;
	struct krdma_ep *ep;
	unsigned int sent = 0;
	int err;

	while (!(err = krdma_ep_send(self->ep, HOLD, "a", 1, krdma_deadline(1000))) && sent < 100)
		sent++;
	EXPECT_EQ(-ETIMEDOUT, err);
	EXPECT_EQ(DEPTH, sent);
	EXPECT_EQ(-EAGAIN, krdma_ep_send(self->ep, HOLD, "a", 1, 0));
	/* Others are served meanwhile. */
	ASSERT_EQ(0, krdma_hub_open(NULL, NULL, &other));
	ASSERT_EQ(0, krdma_ep_connect(other, self->server.address, NULL, 0, PATIENCE, &ep));
	EXPECT_TRUE(echoes(ep, self->data, LONG));
	krdma_hub_close(other);
	/* And this one when its messages are given back. */
	__atomic_store_n(&self->server.release, 1, __ATOMIC_RELEASE);
	EXPECT_TRUE(echoes(self->ep, self->data, 100));
	EXPECT_EQ(0, krdma_ep_send(self->ep, SILENT, "a", 1, PATIENCE));
}

/* Long messages that are not given back use up the share of their peer, and no other one. */
/* Proves: F10 (library) */
TEST_F(hub, long_messages_of_one_peer_do_not_stop_others)
{
	struct krdma_hub *other;
	struct krdma_ep *ep;

	for (unsigned int i = 0; i < 4; i++)
		ASSERT_EQ(0, krdma_ep_send(self->ep, HOLD, self->data, LONG, PATIENCE));
	/* Three times 5 MiB are its share of 16. */
	EXPECT_TRUE(counts(&self->server.messages, 3));
	sleep_ms(300);
	EXPECT_EQ(3, load(&self->server.messages));
	ASSERT_EQ(0, krdma_hub_open(NULL, NULL, &other));
	ASSERT_EQ(0, krdma_ep_connect(other, self->server.address, NULL, 0, PATIENCE, &ep));
	EXPECT_TRUE(echoes(ep, self->data, LONG));
	krdma_hub_close(other);
	__atomic_store_n(&self->server.release, 1, __ATOMIC_RELEASE);
	EXPECT_TRUE(counts(&self->server.messages, 5));
	EXPECT_TRUE(echoes(self->ep, self->data, LONG));
}

/*
 * Of the peer's share of 16 MiB, the second message needs more than is left, the third does not. If
 * that came first, the second would never have memory: records have the order of the messages.
 */
/* Proves: F10 (library) */
TEST_F(hub, long_messages_of_different_lengths_are_read_in_order)
{
	static const size_t lengths[] = { 8u << 20, 10u << 20, 8u << 20 };
	unsigned char *data = calloc(1, lengths[1]);

	ASSERT_NE(NULL, data);
	for (unsigned int i = 0; i < ARRAY_SIZE(lengths); i++)
		ASSERT_EQ(0, krdma_ep_send(self->ep, HOLD, data, lengths[i], PATIENCE));
	free(data);
	for (unsigned int i = 1; i <= ARRAY_SIZE(lengths); i++) {
		EXPECT_TRUE(counts(&self->server.messages, i));
		sleep_ms(300);
		EXPECT_EQ(i, load(&self->server.messages));
		__atomic_store_n(&self->server.release, 1, __ATOMIC_RELEASE);
	}
	EXPECT_TRUE(echoes(self->ep, self->data, LONG));
}

/* Takes records until one of that endpoint comes; returns how many it took. */
static unsigned int steps_until(struct krdma_hub *hub, const char *text)
{
	struct krdma_ep_record record;

	for (unsigned int steps = 1; steps < 1000; steps++) {
		bool found;

		if (krdma_hub_next(hub, PATIENCE, &record, sizeof(record)))
			return 1000;
		found = record.event == KRDMA_EP_MESSAGE && record.length == strlen(text) &&
			!memcmp(record.data, text, record.length);
		krdma_ep_done(&record);
		if (found)
			return steps;
	}
	return 1000;
}

/* One peer sends all it may, again and again. The message of another is the second, always. */
/* Proves: F10 (library) */
TEST_F(hub, a_flood_of_one_peer_does_not_delay_others)
{
	struct krdma_hub *other;
	struct krdma_ep *ep;

	ASSERT_EQ(0, krdma_hub_open(NULL, NULL, &other));
	ASSERT_EQ(0, krdma_ep_connect(other, self->server.address, NULL, 0, PATIENCE, &ep));
	EXPECT_TRUE(echoes(ep, "a", 1));
	server_pause(&self->server);
	for (unsigned int round = 0; round < 50; round++) {
		unsigned int sent = 0;

		while (!krdma_ep_send(self->ep, SILENT, "flood", 5, 0))
			sent++;
		EXPECT_GE(DEPTH, sent);
		ASSERT_EQ(0, krdma_ep_send(ep, SILENT, "other", 5, PATIENCE));
		/* Both have arrived. */
		sleep_ms(30);
		EXPECT_GE(2, steps_until(self->server.hub, "other"));
	}
	krdma_hub_close(other);
}

/*
 * Many peers
 */

/* Proves: F10 (library) */
TEST(many_peers)
{
	static const struct krdma_hub_options options = {
		.size = sizeof(options), .peers = MANY, .per_address = MANY,
	};
	struct krdma_ep *eps[MANY], *more;
	struct krdma_hub *client, *other;
	struct server server;
	char text[16];

	ASSERT_EQ(0, server_start(&server, &options));
	ASSERT_EQ(0, krdma_hub_open(NULL, &options, &client));
	for (unsigned int i = 0; i < MANY; i++)
		ASSERT_EQ(0, krdma_ep_connect(client, server.address, NULL, 0, PATIENCE, &eps[i]));
	EXPECT_EQ(-EUSERS, krdma_ep_connect(client, server.address, NULL, 0, PATIENCE, &more));
	/* And the server has no place for one of another hub. */
	ASSERT_EQ(0, krdma_hub_open(NULL, NULL, &other));
	EXPECT_EQ(-EUSERS, krdma_ep_connect(other, server.address, NULL, 0, PATIENCE, &more));
	for (unsigned int round = 0; round < 3; round++) {
		for (unsigned int i = 0; i < MANY; i++) {
			snprintf(text, sizeof(text), "peer %u", i);
			EXPECT_TRUE(echoes(eps[i], text, strlen(text)));
		}
	}
	/* All at once. */
	for (unsigned int i = 0; i < MANY; i++)
		ASSERT_EQ(0, krdma_ep_call_begin(eps[i], ECHO, &i, sizeof(i), PATIENCE, i));
	for (unsigned int i = 0; i < MANY; i++) {
		struct krdma_ep_record record;

		ASSERT_EQ(0, krdma_hub_next(client, PATIENCE, &record, sizeof(record)));
		EXPECT_EQ(0, record.error);
		EXPECT_EQ(sizeof(i), record.length);
		EXPECT_EQ(0, memcmp(record.data, &record.user_data, sizeof(i)));
		krdma_ep_done(&record);
	}
	krdma_ep_close(eps[7], NULL);
	EXPECT_TRUE(counts(&server.left, 1));
	EXPECT_EQ(0, krdma_ep_connect(other, server.address, NULL, 0, PATIENCE, &more));
	EXPECT_TRUE(echoes(more, "in its place", 12));
	krdma_hub_close(other);
	krdma_hub_close(client);
	EXPECT_TRUE(counts(&server.left, MANY + 1));
	server_stop(&server);
}

/*
 * The completions of so many peers with so many messages are more than one ring has. Each sends and
 * receives.
 */
TEST_F_TIMEOUT(hub, peers_that_need_several_rings, 300)
{
	static const struct krdma_hub_options options = {
		.size = sizeof(options), .peers = MANY_DEEP, .per_address = MANY_DEEP,
		.depth = HUB_DEPTH_MAX, .eager = HUB_EAGER_MIN,
	};
	struct krdma_ep *eps[MANY_DEEP];
	struct krdma_ep_record record;
	struct krdma_hub *client;
	int err;

	server_stop(&self->server);
	ASSERT_EQ(0, server_start(&self->server, &options));
	ASSERT_EQ(0, krdma_hub_open(NULL, &options, &client));
	for (unsigned int i = 0; i < MANY_DEEP; i++) {
		ASSERT_EQ(0, krdma_ep_connect(client, self->server.address, NULL, 0, PATIENCE,
					      &eps[i])) {
			TH_LOG("peer %u", i);
		}
	}
	for (unsigned int i = 0; i < MANY_DEEP; i++)
		EXPECT_TRUE(echoes(eps[i], self->data + i, 100));
	/* A place that is free again is in the ring where it was. */
	krdma_ep_close(eps[3], NULL);
	do {
		krdma_hub_next(client, krdma_deadline(20), &record, sizeof(record));
		err = krdma_ep_connect(client, self->server.address, NULL, 0, PATIENCE, &eps[3]);
	} while (err == -EUSERS);
	ASSERT_EQ(0, err);
	EXPECT_TRUE(echoes(eps[3], "in its place", 12));
	krdma_hub_close(client);
}

/*
 * Admission
 */

static int only_friends(void *context, const struct sockaddr *peer, const void *hello,
			size_t length)
{
	__atomic_add_fetch((unsigned int *)context, 1, __ATOMIC_ACQ_REL);
	if (peer->sa_family != AF_INET)
		return -EAFNOSUPPORT;
	return length == 6 && !memcmp(hello, "friend", 6) ? 0 : -EPERM;
}

/* Proves: F10 (library) */
TEST(who_is_admitted)
{
	unsigned int asked = 0;
	struct krdma_hub_options options = {
		.size = sizeof(options), .admit = only_friends, .context = &asked,
		.per_address = 1,
	};
	struct krdma_ep_record record;
	struct krdma_hub *client;
	struct krdma_ep *ep, *more;
	struct server server;

	ASSERT_EQ(0, krdma_hub_open(NULL, NULL, &client));
	ASSERT_EQ(0, server_start(&server, &options));
	EXPECT_EQ(-EPERM, krdma_ep_connect(client, server.address, "foe", 3, PATIENCE, &ep));
	EXPECT_EQ(1, load(&asked));
	EXPECT_EQ(-EINVAL, krdma_ep_connect(client, server.address, "foe", 25, PATIENCE, &ep));
	/* Without waiting: the words are there. */
	ASSERT_EQ(0, krdma_ep_connect(client, server.address, NULL, 0, 0, &ep));
	ASSERT_EQ(0, krdma_hub_next(client, PATIENCE, &record, sizeof(record)));
	EXPECT_EQ(KRDMA_EP_LEFT, record.event);
	EXPECT_EQ(-EPERM, record.error);
	EXPECT_NE(NULL, strstr(krdma_ep_why(ep), "does not admit"));
	krdma_ep_close(ep, NULL);
	ASSERT_EQ(0, krdma_ep_connect(client, server.address, "friend", 6, PATIENCE, &ep));
	EXPECT_TRUE(echoes(ep, "a", 1));
	EXPECT_EQ(-EUSERS, krdma_ep_connect(client, server.address, "friend", 6, PATIENCE, &more));
	EXPECT_EQ(3, load(&asked));
	server_stop(&server);

	options.allow = "192.0.2.0/24, 2001:db8::/32";
	ASSERT_EQ(0, server_start(&server, &options));
	EXPECT_EQ(-EACCES, krdma_ep_connect(client, server.address, "friend", 6, PATIENCE, &more));
	EXPECT_EQ(3, load(&asked));
	server_stop(&server);
	EXPECT_EQ(-ECONNREFUSED,
		  krdma_ep_connect(client, server.address, NULL, 0, PATIENCE, &more));
	options.allow = "not an address";
	EXPECT_EQ(-EINVAL, server_open(&server, &options));
	krdma_hub_close(client);
}

/* Without descriptors a server waits, does not spin, and accepts when there are some again. */
TEST(a_server_without_descriptors)
{
	struct rlimit before, none;
	struct krdma_hub *client;
	struct krdma_ep_record record;
	struct krdma_ep *ep, *other;
	struct server server;
	uint64_t begin;

	ASSERT_EQ(0, server_open(&server, NULL));
	ASSERT_EQ(0, krdma_hub_open(NULL, NULL, &client));
	ASSERT_EQ(0, krdma_ep_connect(client, server.address, NULL, 0, 0, &ep));
	for (int i = 0; i < 20; i++)
		krdma_hub_next(client, krdma_deadline(10), &record, sizeof(record));
	ASSERT_EQ(0, getrlimit(RLIMIT_NOFILE, &before));
	none = before;
	none.rlim_cur = 3;
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &none));
	begin = now_ms();
	EXPECT_EQ(-ETIMEDOUT, krdma_hub_next(server.hub, krdma_deadline(600), &record,
					     sizeof(record)));
	EXPECT_LE(600, now_ms() - begin + 20);
	EXPECT_EQ(-EMFILE, krdma_ep_connect(client, server.address, NULL, 0, PATIENCE, &other));
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &before));
	ASSERT_EQ(0, pthread_create(&server.thread, NULL, serve, &server));
	ASSERT_EQ(0, krdma_hub_next(client, PATIENCE, &record, sizeof(record)));
	EXPECT_EQ(KRDMA_EP_JOINED, record.event);
	EXPECT_TRUE(echoes(ep, "a", 1));
	krdma_hub_close(client);
	server_stop(&server);
}

/*
 * Peers that do not follow the protocol
 */

/* A connection whose frames the test makes itself. */
struct stranger {
	struct krdma *session;
	struct krdma_conn *conn;
	struct krdma_ring *ring;
	struct krdma_mr *mr;
};

#define ROOM		4096u

static int stranger_connect(struct stranger *stranger, const struct server *server,
			    const void *data, size_t length, unsigned int receives)
{
	struct __kernel_sockaddr_storage address;
	struct krdma_conn_query_args query;
	int err;

	memset(stranger, 0, sizeof(*stranger));
	err = address_set(&address, both_address(), atoi(strrchr(server->address, ':') + 1));
	if (!err)
		err = krdma_open(&stranger->session);
	if (!err)
		err = krdma_conn_create(stranger->session, &stranger->conn);
	if (!err)
		err = krdma_conn_resolve(stranger->conn, (struct sockaddr *)&address, NULL);
	if (!err)
		err = krdma_conn_wait(stranger->conn, PATIENCE, NULL);
	if (!err)
		err = krdma_ring_create(stranger->session, NULL, &stranger->ring);
	if (!err)
		err = krdma_conn_create_qp(stranger->conn, stranger->ring, NULL, NULL, NULL);
	if (!err)
		err = krdma_conn_query(stranger->conn, &query, sizeof(query));
	if (!err)
		err = krdma_mr_alloc(stranger->session, query.device_id, 33 * ROOM,
				     KRDMA_ACCESS_LOCAL_WRITE, &stranger->mr);
	for (unsigned int i = 0; i < receives && !err; i++) {
		struct krdma_sqe entry = krdma_entry_recv(stranger->conn, 0, stranger->mr,
							  (i + 1) * ROOM, ROOM);

		err = krdma_ring_post(stranger->ring, &entry, 1, NULL);
	}
	if (!err)
		err = krdma_conn_connect(stranger->conn, NULL, data, length);
	return err ? err : krdma_conn_wait(stranger->conn, PATIENCE, NULL);
}

static int stranger_greet(struct stranger *stranger, const struct server *server,
			  unsigned int receives)
{
	static const struct hub_greeting greeting = {
		.depth = DEPTH, .eager = 2048, .longest = 1 << 24,
	};
	unsigned char wire[HUB_GREETING_MAX];

	return stranger_connect(stranger, server, wire, hub_greeting_write(&greeting, wire),
				receives);
}

static void stranger_close(struct stranger *stranger)
{
	krdma_conn_close(stranger->conn);
	krdma_ring_close(stranger->ring);
	krdma_mr_deregister(stranger->mr, KRDMA_DEREGISTER_LATER);
	krdma_close(stranger->session);
}

/* Posts one frame; the data are at the beginning of the memory. */
static int stranger_send(struct stranger *stranger, const void *wire, size_t length)
{
	struct krdma_sqe entry = krdma_entry_send(stranger->conn, 1, stranger->mr, 0, length);

	memcpy(krdma_mr_data(stranger->mr), wire, length);
	return krdma_ring_post(stranger->ring, &entry, 1, NULL);
}

/* Frames that nobody may send on a new connection. */
static const struct hub_frame wrong[] = {
	{ .kind = 0 },
	{ .kind = HUB_KINDS },
	{ .kind = 255 },
	{ .kind = HUB_MESSAGE, .taken = 1 },
	{ .kind = HUB_MESSAGE, .call = 1 },
	{ .kind = HUB_MESSAGE, .is_long = true },
	{ .kind = HUB_CALL, .call = 0 },
	{ .kind = HUB_CALL, .call = 0x100 | DEPTH },
	{ .kind = HUB_ANSWER, .call = 0x100 },
	{ .kind = HUB_ROOM },
	{ .kind = HUB_DONE, .ticket = 1 },
	{ .kind = HUB_DONE, .ticket = 9 },
	{ .kind = HUB_ASK, .call = 1, .code = 1 },
	{ .kind = HUB_GRANT, .call = 0x100, .code = 1 },
	{ .kind = HUB_REVOKE, .tag = 1 },
	{ .kind = HUB_REVOKED, .tag = 1 },
};

/* Proves: F10 (library) */
TEST_F_TIMEOUT(hub, wrong_frames_end_their_peer_only, 300)
{
	unsigned char wire[HUB_HEADER_SIZE];
	struct stranger stranger;

	for (unsigned int i = 0; i < ARRAY_SIZE(wrong); i++) {
		ASSERT_EQ(0, stranger_greet(&stranger, &self->server, 8));
		hub_frame_write(&wrong[i], wire);
		ASSERT_EQ(0, stranger_send(&stranger, wire, sizeof(wire)));
		EXPECT_TRUE(counts(&self->server.left, i + 1))
			TH_LOG("frame %u", i);
		EXPECT_EQ(-EPROTO, error_of(&self->server));
		EXPECT_EQ(0, krdma_conn_await_closed(stranger.conn, PATIENCE));
		stranger_close(&stranger);
		EXPECT_TRUE(echoes(self->ep, "a", 1));
	}
	EXPECT_EQ(-ECONNREFUSED, stranger_connect(&stranger, &self->server, "hello", 5, 1));
	stranger_close(&stranger);
}

/* Too many messages, the same call twice, memory that is not there. */
TEST_F_TIMEOUT(hub, peers_with_wrong_sequences_end, 300)
{
	unsigned char wire[HUB_HEADER_SIZE + KRDMA_MR_DESC_SIZE] = { 0 };
	struct hub_frame frame = { .kind = HUB_MESSAGE, .tag = HOLD };
	static const struct krdma_mr_desc memory = {
		.magic = KRDMA_MR_DESC_MAGIC, .version = KRDMA_MR_DESC_VERSION, .addr = 4096,
		.length = 100000, .key = 0x4711, .rights = 1,
	};
	struct stranger stranger;

	hub_frame_write(&frame, wire);
	ASSERT_EQ(0, stranger_greet(&stranger, &self->server, 8));
	for (unsigned int i = 0; i < DEPTH + 1; i++)
		stranger_send(&stranger, wire, HUB_HEADER_SIZE);
	EXPECT_TRUE(counts(&self->server.left, 1));
	EXPECT_EQ(-EPROTO, error_of(&self->server));
	stranger_close(&stranger);
	EXPECT_TRUE(echoes(self->ep, "a", 1));

	frame = (struct hub_frame){ .kind = HUB_CALL, .tag = SILENT, .call = 0x101 };
	hub_frame_write(&frame, wire);
	ASSERT_EQ(0, stranger_greet(&stranger, &self->server, 8));
	stranger_send(&stranger, wire, HUB_HEADER_SIZE);
	stranger_send(&stranger, wire, HUB_HEADER_SIZE);
	EXPECT_TRUE(counts(&self->server.left, 2));
	EXPECT_EQ(-EPROTO, error_of(&self->server));
	stranger_close(&stranger);
	EXPECT_TRUE(echoes(self->ep, "a", 1));

	frame = (struct hub_frame){ .kind = HUB_MESSAGE, .tag = SILENT, .is_long = true };
	hub_frame_write(&frame, wire);
	memcpy(wire + HUB_HEADER_SIZE, &memory, sizeof(memory));
	ASSERT_EQ(0, stranger_greet(&stranger, &self->server, 8));
	stranger_send(&stranger, wire, sizeof(wire));
	EXPECT_TRUE(counts(&self->server.left, 3));
	stranger_close(&stranger);
	__atomic_store_n(&self->server.release, 1, __ATOMIC_RELEASE);
	EXPECT_TRUE(echoes(self->ep, self->data, LONG));
}

/* A peer calls and has no receive for the answer. */
/* Proves: F10 (library) */
TEST_F(hub, a_peer_without_receives_ends)
{
	static const struct krdma_hub_options options = {
		.size = sizeof(options), .idle_ms = 1500,
	};
	struct hub_frame frame = { .kind = HUB_CALL, .tag = ECHO, .call = 0x100 };
	unsigned char wire[HUB_HEADER_SIZE];
	struct stranger stranger;
	struct krdma_ep *ep;

	server_stop(&self->server);
	ASSERT_EQ(0, server_start(&self->server, &options));
	ASSERT_EQ(0, krdma_ep_connect(self->client, self->server.address, NULL, 0, PATIENCE, &ep));
	ASSERT_EQ(0, stranger_greet(&stranger, &self->server, 0));
	hub_frame_write(&frame, wire);
	ASSERT_EQ(0, stranger_send(&stranger, wire, sizeof(wire)));
	EXPECT_TRUE(counts(&self->server.messages, 1));
	EXPECT_TRUE(echoes(ep, self->data, LONG));
	EXPECT_TRUE(counts(&self->server.left, 1));
	EXPECT_EQ(-ETIMEDOUT, error_of(&self->server));
	EXPECT_TRUE(echoes(ep, "a", 1));
	stranger_close(&stranger);
}

/*
 * Named memory
 */

#define MEMORY		(3u << 20)

static int not_twice(void *context, struct krdma_ep *ep)
{
	int *count = context;

	(void)ep;
	return (*count)++;
}

struct unshare {
	struct krdma_hub *hub;
	const char *name;
	int result;
};

static void *unshare_run(void *context)
{
	struct unshare *unshare = context;
	int err = krdma_hub_unshare(unshare->hub, unshare->name, PATIENCE);

	__atomic_store_n(&unshare->result, err, __ATOMIC_RELEASE);
	return NULL;
}

static int server_resume(struct server *server)
{
	server->stop = 0;
	return pthread_create(&server->thread, NULL, serve, server);
}

/* Proves: F10 (library) */
TEST_F(hub, memory_is_granted_refused_and_revoked)
{
	const uint32_t read = KRDMA_ACCESS_REMOTE_READ, write = KRDMA_ACCESS_REMOTE_WRITE;
	struct krdma_ep_memory *memory, *again, *readable;
	unsigned char *theirs = malloc(MEMORY);
	struct krdma_hub *hub = self->server.hub;
	struct unshare unshare = { hub, "both", 1 };
	struct krdma_ep_record record;
	pthread_t thread;
	char byte = 0;
	int count = 0;

	ASSERT_NE(NULL, theirs);
	fill(theirs, MEMORY, 9);
	server_pause(&self->server);
	ASSERT_EQ(0, krdma_hub_share(hub, "both", theirs, MEMORY, read | write, NULL, NULL));
	ASSERT_EQ(0, krdma_hub_share(hub, "read", theirs, 4096, read, NULL, NULL));
	ASSERT_EQ(0, krdma_hub_share(hub, "once", theirs, 4096, read, not_twice, &count));
	EXPECT_EQ(-EEXIST, krdma_hub_share(hub, "both", theirs, 1, read, NULL, NULL));
	EXPECT_EQ(-EINVAL, krdma_hub_share(hub, "a b", theirs, 1, read, NULL, NULL));
	EXPECT_EQ(-ENOENT, krdma_hub_unshare(hub, "other", PATIENCE));
	ASSERT_EQ(0, server_resume(&self->server));

	EXPECT_EQ(-ENOENT, krdma_ep_memory_open(self->ep, "other", read, PATIENCE, &memory));
	EXPECT_EQ(-EACCES, krdma_ep_memory_open(self->ep, "read", write, PATIENCE, &memory));
	ASSERT_EQ(0, krdma_ep_memory_open(self->ep, "once", read, PATIENCE, &memory));
	EXPECT_EQ(-EACCES, krdma_ep_memory_open(self->ep, "once", read, PATIENCE, &again));
	ASSERT_EQ(0, krdma_ep_memory_open(self->ep, "read", read, PATIENCE, &readable));
	ASSERT_EQ(0, krdma_ep_memory_open(self->ep, "both", read | write, PATIENCE, &memory));
	EXPECT_EQ(MEMORY, krdma_ep_memory_length(memory));

	EXPECT_EQ(0, krdma_ep_memory_read(memory, 0, self->data, MEMORY, PATIENCE));
	EXPECT_TRUE(filled(self->data, MEMORY, 9));
	fill(self->data, MEMORY, 8);
	EXPECT_EQ(0, krdma_ep_memory_write(memory, 0, self->data, MEMORY, PATIENCE));
	EXPECT_EQ(0, krdma_ep_memory_write(memory, MEMORY - 1, "x", 1, PATIENCE));
	EXPECT_EQ(0, memcmp(theirs, self->data, MEMORY - 1));
	EXPECT_EQ('x', theirs[MEMORY - 1]);
	EXPECT_EQ(-ERANGE, krdma_ep_memory_write(memory, MEMORY, "x", 1, PATIENCE));
	EXPECT_EQ(-EACCES, krdma_ep_memory_write(readable, 0, "x", 1, PATIENCE));

	server_pause(&self->server);
	krdma_ep_memory_close(readable);
	/* The owner waits in a thread, and the client serves its hub. */
	ASSERT_EQ(0, pthread_create(&thread, NULL, unshare_run, &unshare));
	while (__atomic_load_n(&unshare.result, __ATOMIC_ACQUIRE) == 1)
		krdma_hub_next(self->client, krdma_deadline(50), &record, sizeof(record));
	pthread_join(thread, NULL);
	EXPECT_EQ(0, unshare.result);
	EXPECT_EQ(-ESTALE, krdma_ep_memory_read(memory, 0, &byte, 1, PATIENCE));
	krdma_ep_memory_close(memory);
	/* A peer that does not give it back is disconnected. */
	EXPECT_EQ(0, krdma_hub_unshare(hub, "read", SOON));
	free(theirs);
	ASSERT_EQ(0, server_resume(&self->server));
	EXPECT_TRUE(counts(&self->server.left, 1));
	EXPECT_EQ(-ETIMEDOUT, error_of(&self->server));
}

/*
 * Nothing is left
 */

/*
 * A server and a client with five endpoints, of which two are open in the end. Runs in a thread:
 * its end empties its cache of malloc(), so that what is in use can be compared.
 */
static void *come_and_go(void *context)
{
	static const unsigned char data[5000];
	unsigned int *failures = context;
	struct krdma_ep_record answer;
	struct krdma_hub *client;
	struct krdma_ep *ep;
	struct server server;

	if (server_start(&server, NULL) || krdma_hub_open(NULL, NULL, &client)) {
		++*failures;
		return NULL;
	}
	for (unsigned int i = 0; i < 5; i++) {
		if (krdma_ep_connect(client, server.address, NULL, 0, PATIENCE, &ep)) {
			++*failures;
			continue;
		}
		*failures += !echoes(ep, data, 2000);
		/* The records SENT are not taken. */
		*failures += krdma_ep_send_lent(ep, SILENT, data, 5, 0, PATIENCE) != 0;
		*failures += krdma_ep_send_lent(ep, SILENT, data, sizeof(data), 0, PATIENCE) != 0;
		*failures += call(ep, SILENT, "a", 1, krdma_deadline(50), &answer) != -ETIMEDOUT;
		if (i < 3)
			krdma_ep_close(ep, NULL);
	}
	krdma_hub_close(client);
	server_stop(&server);
	return NULL;
}

/* Proves: F10 (library) */
TEST(nothing_is_left)
{
	struct usage before = { 0 }, after;
	unsigned int failures = 0;
	pthread_t thread;

	/* What other threads allocate counts, too. */
	mallopt(M_ARENA_MAX, 1);
	for (unsigned int i = 0; i < 8; i++) {
		ASSERT_EQ(0, pthread_create(&thread, NULL, come_and_go, &failures));
		pthread_join(thread, NULL);
		after = usage_now();
		if (i == 3)
			before = after;
	}
	EXPECT_EQ(0, failures);
	EXPECT_GE(before.bytes, after.bytes);
	EXPECT_EQ(before.descriptors, after.descriptors);
	EXPECT_FALSE(usage_leaks());
}

TEST(wrong_arguments)
{
	static const char * const places[] = {
		"", "host", ":", ":x", ":65536", ":1x", "[::1:1", "a:b:1", "::1:7",
	};
	struct krdma_hub_options options = { .size = sizeof(options) };
	struct krdma_ep_record record = { 0 };
	struct krdma_hub *hub;
	struct krdma_ep *ep;

	for (unsigned int i = 0; i < ARRAY_SIZE(places); i++) {
		EXPECT_EQ(-EINVAL, krdma_hub_open(places[i], NULL, &hub))
			TH_LOG("place %u", i);
	}
	options.depth = HUB_DEPTH_MAX + 1;
	EXPECT_EQ(-EINVAL, krdma_hub_open(NULL, &options, &hub));
	options.depth = 0;
	options.eager = HUB_EAGER_MIN - 1;
	EXPECT_EQ(-EINVAL, krdma_hub_open(NULL, &options, &hub));
	options.eager = 0;
	options.longest = 4096;
	options.budget = 4095;
	EXPECT_EQ(-EINVAL, krdma_hub_open(NULL, &options, &hub));
	options.size = 0;
	EXPECT_EQ(-EINVAL, krdma_hub_open(NULL, &options, &hub));
	ASSERT_EQ(0, krdma_hub_open(NULL, NULL, &hub));
	EXPECT_EQ(-EINVAL, krdma_hub_next(hub, 0, &record, 8));
	EXPECT_EQ(-EAGAIN, krdma_hub_next(hub, 0, &record, sizeof(record)));
	EXPECT_EQ(-ETIMEDOUT, krdma_hub_next(hub, krdma_deadline(10), &record, sizeof(record)));
	EXPECT_EQ(-EINVAL, krdma_ep_connect(hub, ":1", NULL, 0, 0, &ep));
	EXPECT_EQ(-EINVAL, krdma_hub_fd(NULL));
	EXPECT_EQ(-EINVAL, krdma_ep_answer(&record, 0, NULL, 0));
	krdma_ep_done(&record);
	krdma_ep_done(NULL);
	krdma_ep_close(NULL, NULL);
	krdma_ep_memory_close(NULL);
	EXPECT_EQ(0, krdma_hub_close(hub));
	EXPECT_EQ(0, krdma_hub_close(NULL));
}

TEST_HARNESS_MAIN
