// SPDX-License-Identifier: GPL-2.0
/*
 * libkrdma's simple layer: the effect of each call, and what each kind of transfer requires and
 * uses on either side, with polling and with events.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <parts.h>

#include "kselftest_harness.h"
#include "child.h"
#include "lib_both.h"
#include "pair.h"
#include "session.h"

#define DEPTH		4
#define MESSAGE_SIZE	256
/* Timeout of calls that must time out. */
#define SOON_MS		300

/* Kinds of transfer. */
enum kind {
	MESSAGE,
	WRITE,
	READ,
	NOTICE,
};

static int transfer(struct krdma_simple *simple, enum kind kind)
{
	switch (kind) {
	case MESSAGE:
		return krdma_simple_send(simple, 0, 64);
	case WRITE:
		return krdma_simple_write(simple, 0, 0, 64);
	case READ:
		return krdma_simple_read(simple, 0, 0, 64);
	case NOTICE:
		return krdma_simple_notify_write(simple, 7);
	}
	return -EINVAL;
}

FIXTURE(simple)
{
	struct lib_both both;
	struct krdma_simple *server;
	struct krdma_simple *client;
	char *there;
	char *here;
};

FIXTURE_VARIANT(simple)
{
	uint32_t cq_notify;
};

/* clang-format off */
FIXTURE_VARIANT_ADD(simple, polling) { .cq_notify = KRDMA_SIMPLE_WAIT_POLL };
FIXTURE_VARIANT_ADD(simple, event) { .cq_notify = KRDMA_SIMPLE_WAIT_EVENT };

/* clang-format on */

FIXTURE_SETUP(simple)
{
	struct krdma_simple_options options = both_options(variant->cq_notify);

	options.depth = DEPTH;
	options.message_size = MESSAGE_SIZE;
	ASSERT_EQ(0, lib_both_open(&self->both, &options, &options));
	self->server = self->both.server;
	self->client = self->both.client;
	self->there = krdma_simple_buffer(self->server);
	self->here = krdma_simple_buffer(self->client);
}

FIXTURE_TEARDOWN(simple)
{
	lib_both_close(&self->both);
}

/*
 * Calls
 */

/* Proves: C7 (library) */
TEST_F_TIMEOUT(simple, a_message_arrives_with_its_length, 120)
{
	size_t length = 0;

	memcpy(self->here, "hello", 6);
	EXPECT_EQ(0, krdma_simple_send(self->client, 0, 6));
	EXPECT_EQ(0, krdma_simple_recv(self->server, 100, MESSAGE_SIZE, &length));
	EXPECT_EQ(6, length);
	EXPECT_STREQ("hello", self->there + 100);
	memcpy(self->there, "and back", 9);
	EXPECT_EQ(0, krdma_simple_send(self->server, 0, 9));
	EXPECT_EQ(0, krdma_simple_recv(self->client, 0, MESSAGE_SIZE, NULL));
	EXPECT_STREQ("and back", self->here);
}

/* Proves: C7 (library) */
TEST_F_TIMEOUT(simple, messages_of_every_length, 120)
{
	size_t length;

	EXPECT_EQ(MESSAGE_SIZE, krdma_simple_message_max(self->client));
	for (unsigned int i = 0; i <= MESSAGE_SIZE; i += i < 4 || i > MESSAGE_SIZE - 4 ? 1 : 31) {
		memset(self->here, (int)i, MESSAGE_SIZE);
		memset(self->there, 255, MESSAGE_SIZE);
		ASSERT_EQ(0, krdma_simple_send(self->client, 0, i));
		ASSERT_EQ(0, krdma_simple_recv(self->server, 0, MESSAGE_SIZE, &length));
		EXPECT_EQ(i, length);
		EXPECT_EQ(0, memcmp(self->here, self->there, i));
		EXPECT_TRUE(i == MESSAGE_SIZE || self->there[i] == (char)255);
	}
	EXPECT_EQ(-EMSGSIZE, krdma_simple_send(self->client, 0, MESSAGE_SIZE + 1));
	EXPECT_EQ(0, krdma_simple_send(self->client, 0, 1));
	EXPECT_EQ(0, krdma_simple_recv(self->server, 0, 1, &length));
}

TEST_F_TIMEOUT(simple, a_message_that_does_not_fit_is_kept, 120)
{
	size_t length = 0;

	memset(self->here, 1, 100);
	EXPECT_EQ(0, krdma_simple_send(self->client, 0, 100));
	EXPECT_EQ(-EMSGSIZE, krdma_simple_recv(self->server, 0, 99, &length));
	EXPECT_EQ(100, length);
	EXPECT_EQ(0, self->there[0]);
	EXPECT_EQ(0, krdma_simple_recv(self->server, 0, length, &length));
	EXPECT_EQ(100, length);
	EXPECT_EQ(0, memcmp(self->here, self->there, 100));
}

/* Proves: C8 (library) */
TEST_F_TIMEOUT(simple, writes_and_reads_at_any_offset, 120)
{
	size_t size = krdma_simple_buffer_size(self->client);

	for (size_t i = 0; i < size; i++)
		self->here[i] = (char)(i * 7 + i / 251);
	EXPECT_EQ(0, krdma_simple_write(self->client, 1, 4097, size - 4097));
	EXPECT_EQ(0, memcmp(self->here + 1, self->there + 4097, size - 4097));
	EXPECT_EQ(0, self->there[4096]);
	memset(self->here, 0, size);
	EXPECT_EQ(0, krdma_simple_read(self->client, 3, 4098, size - 4098));
	EXPECT_EQ(0, memcmp(self->here + 3, self->there + 4098, size - 4098));
	/* In the other direction. */
	EXPECT_EQ(0, krdma_simple_write(self->server, 4097, 0, 64));
	EXPECT_EQ(0, memcmp(self->here, self->there + 4097, 64));
	/* A transfer of 0 bytes succeeds while the peer is connected. */
	EXPECT_EQ(0, krdma_simple_write(self->client, 0, 0, 0));
	EXPECT_EQ(0, krdma_simple_read(self->client, 0, size, 0));
}

/* Proves: C10 (library) */
TEST_F_TIMEOUT(simple, outside_of_a_buffer_is_refused, 120)
{
	size_t size = krdma_simple_buffer_size(self->client);

	EXPECT_EQ(-ERANGE, krdma_simple_send(self->client, size, 1));
	EXPECT_EQ(-ERANGE, krdma_simple_recv(self->client, size - 1, 2, NULL));
	EXPECT_EQ(-ERANGE, krdma_simple_write(self->client, 1, 0, size));
	EXPECT_EQ(-ERANGE, krdma_simple_write(self->client, 0, 1, size));
	EXPECT_EQ(-ERANGE, krdma_simple_write(self->client, 0, UINT64_MAX, 1));
	EXPECT_EQ(-ERANGE, krdma_simple_write(self->client, SIZE_MAX, 0, 2));
	EXPECT_EQ(-ERANGE, krdma_simple_read(self->client, size, 0, 1));
	EXPECT_EQ(-ERANGE, krdma_simple_read(self->client, 0, size, 1));
	/* The refused calls do not affect the connection. */
	EXPECT_EQ(0, krdma_simple_write(self->client, size - 1, size - 1, 1));
}

/* Proves: C9 (library) */
TEST_F_TIMEOUT(simple, notices_arrive_in_their_order_between_messages, 120)
{
	uint32_t notice = 0, value = 0;
	size_t length = 0;

	EXPECT_EQ(0, krdma_simple_notify_write(self->client, 1));
	EXPECT_EQ(0, krdma_simple_send(self->client, 0, 10));
	EXPECT_EQ(0, krdma_simple_notify_read(self->client, KRDMA_SIMPLE_VALUE_END - 1));
	EXPECT_EQ(0, krdma_simple_send(self->client, 0, 20));
	EXPECT_EQ(0, krdma_simple_recv(self->server, 0, MESSAGE_SIZE, &length));
	EXPECT_EQ(10, length);
	EXPECT_EQ(0, krdma_simple_wait_notice(self->server, &notice, &value));
	EXPECT_EQ(KRDMA_SIMPLE_WRITTEN, notice);
	EXPECT_EQ(1, value);
	EXPECT_EQ(0, krdma_simple_wait_notice(self->server, &notice, &value));
	EXPECT_EQ(KRDMA_SIMPLE_READ, notice);
	EXPECT_EQ(KRDMA_SIMPLE_VALUE_END - 1, value);
	EXPECT_EQ(0, krdma_simple_recv(self->server, 0, MESSAGE_SIZE, &length));
	EXPECT_EQ(20, length);
	EXPECT_EQ(-EINVAL, krdma_simple_notify_read(self->client, KRDMA_SIMPLE_VALUE_END));
}

/* Many times the depth, in both directions, with pauses on either side. */
/* Proves: C7 (library) */
TEST_F_TIMEOUT(simple, nothing_is_lost_when_nobody_takes_it, 300)
{
	uint32_t value, sent = 0, taken = 0, end = rounds(200, 50);
	size_t length;

	while (taken < end) {
		/* Send as many messages as fit while none is received. */
		for (unsigned int i = 0; i < DEPTH; i++, sent++) {
			memcpy(self->here, &sent, sizeof(sent));
			ASSERT_EQ(0, sent % 3 ? krdma_simple_send(self->client, 0, sizeof(sent)) :
						krdma_simple_notify_write(self->client, sent));
		}
		for (; taken < sent; taken++) {
			if (taken % 3) {
				ASSERT_EQ(0, krdma_simple_recv(self->server, 0, MESSAGE_SIZE,
							       &length));
				memcpy(&value, self->there, sizeof(value));
			} else {
				ASSERT_EQ(0, krdma_simple_wait_notice(self->server, NULL, &value));
			}
			EXPECT_EQ(taken, value);
		}
		/* The other side can send, too; a credit update waits for it. */
		ASSERT_EQ(0, krdma_simple_send(self->server, 0, 1));
		ASSERT_EQ(0, krdma_simple_recv(self->client, 8, MESSAGE_SIZE, &length));
	}
}

/* One side only sends and the other only receives: only credit updates come back. */
TEST_F_TIMEOUT(simple, one_way_for_longer_than_any_queue, 300)
{
	uint32_t value;

	for (uint32_t i = 0; i < 400; i++) {
		memcpy(self->here, &i, sizeof(i));
		ASSERT_EQ(0, krdma_simple_send(self->client, 0, sizeof(i)));
		ASSERT_EQ(0, krdma_simple_recv(self->server, 0, sizeof(i), NULL));
		memcpy(&value, self->there, sizeof(value));
		EXPECT_EQ(i, value);
	}
}

/* Depth and message size are 1 on either side. */
TEST_F_TIMEOUT(simple, the_smallest_depth, 300)
{
	struct krdma_simple_options options = both_options(variant->cq_notify);
	struct lib_both both;

	options.depth = 1;
	options.message_size = 1;
	ASSERT_EQ(0, lib_both_open(&both, &options, &options));
	for (uint32_t i = 0; i < 50; i++) {
		EXPECT_EQ(0, krdma_simple_send(both.client, 0, 1));
		EXPECT_EQ(0, krdma_simple_notify_write(both.server, i));
		EXPECT_EQ(0, krdma_simple_recv(both.server, 0, 1, NULL));
		EXPECT_EQ(0, krdma_simple_wait_notice(both.client, NULL, NULL));
	}
	lib_both_close(&both);
}

TEST_F_TIMEOUT(simple, a_buffer_longer_than_an_operation, 300)
{
	struct krdma_simple_options options = both_options(variant->cq_notify);
	size_t length = rounds(17, 9) * 1024 * 1024 + 3;
	struct lib_both both;
	char *here, *there;

	options.buffer_size = length;
	ASSERT_EQ(0, lib_both_open(&both, &options, &options));
	here = krdma_simple_buffer(both.client);
	there = krdma_simple_buffer(both.server);
	fill(here, length, 1);
	EXPECT_EQ(0, krdma_simple_write(both.client, 0, 0, length));
	EXPECT_TRUE(filled(there, length, 1));
	fill(there, length, 2);
	EXPECT_EQ(0, krdma_simple_read(both.client, 0, 0, length));
	EXPECT_TRUE(filled(here, length, 2));
	lib_both_close(&both);
}

/*
 * krdma registers the buffer in several MRs, for rxe of 512 pages each, and each has its own rkey.
 */
TEST_F_TIMEOUT(simple, a_buffer_with_several_keys, 300)
{
	struct krdma_simple_options options = both_options(variant->cq_notify);
	size_t length = (5 << 20) + 100, border = 0;
	struct krdma_remote_mr remote;
	struct lib_both both;
	char *here, *there;
	unsigned int keys = 0;

	options.buffer_size = length;
	ASSERT_EQ(0, write_text(FORCE_PIN, "1"));
	ASSERT_EQ(0, lib_both_open(&both, &options, &options));
	EXPECT_EQ(0, write_text(FORCE_PIN, "0"));
	here = krdma_simple_buffer(both.client);
	there = krdma_simple_buffer(both.server);
	fill(here, length, 1);
	EXPECT_EQ(0, krdma_simple_write(both.client, 0, 0, length));
	EXPECT_TRUE(filled(there, length, 1));
	fill(there, length, 2);
	EXPECT_EQ(0, krdma_simple_read(both.client, 0, 0, length));
	EXPECT_TRUE(filled(here, length, 2));

	/* Access each MR alone, and across each border, from the other side. */
	ASSERT_EQ(0, krdma_simple_remote(both.server, &remote));
	for (border = 0; border < length; border += remote.length) {
		ASSERT_EQ(0, krdma_simple_remote_at(both.server, border, &remote));
		ASSERT_NE(0, remote.length);
		EXPECT_EQ((uintptr_t)here + border, remote.addr);
		keys++;
		there[0] = 'a';
		there[1] = 'b';
		if (border)
			EXPECT_EQ(0, krdma_simple_write(both.server, 0, border - 1, 2));
		if (border)
			EXPECT_EQ(0, memcmp(here + border - 1, "ab", 2));
	}
	EXPECT_EQ(3, keys);
	EXPECT_EQ(length, border);
	EXPECT_EQ(-ERANGE, krdma_simple_remote_at(both.server, length, &remote));
	EXPECT_EQ(0, krdma_simple_write(both.client, 0, length, 0));
	EXPECT_EQ(-ERANGE, krdma_simple_write(both.client, 0, length, 1));
	EXPECT_EQ(0, krdma_simple_notify_write(both.client, 5));
	EXPECT_EQ(0, krdma_simple_wait_notice(both.server, NULL, NULL));
	/* Another client of the same server. */
	EXPECT_EQ(0, krdma_simple_disconnect(both.client));
	EXPECT_EQ(0, krdma_simple_disconnect(both.server));
	ASSERT_EQ(0, lib_both_connect(&both));
	EXPECT_EQ(0, krdma_simple_write(both.client, length - 1, length - 1, 1));
	lib_both_close(&both);
}

/* A peer can fill the table with arbitrary bytes. */
TEST(what_is_no_table_of_keys)
{
	enum { COUNT = 3, SIZE = 16 + COUNT * KRDMA_MR_DESC_SIZE };
	unsigned char good[SIZE] = { 'K', 'R', 'D', 'p', COUNT }, bad[SIZE + 1];
	struct krdma_remote_mr whole = {};
	struct parts *parts = NULL;
	uint64_t reach;

	for (int i = 0; i < COUNT; i++) {
		unsigned char *descriptor = good + 16 + i * KRDMA_MR_DESC_SIZE;
		static const unsigned char begin[8] = { 'K', 'R', 'D', 'm', 1 };

		memcpy(descriptor, begin, sizeof(begin));
		/* Addresses 4096, 8192 and 12288, of 4096 bytes each. */
		descriptor[9] = 0x10 * (i + 1);
		descriptor[17] = 0x10;
		descriptor[24] = 7 + i;
		descriptor[28] = 3;
	}
	ASSERT_EQ(0, parts_read(good, SIZE, &whole, &parts));
	EXPECT_EQ(4096, whole.addr);
	EXPECT_EQ(12288, whole.length);
	EXPECT_EQ(7, parts_key(parts, 0, &reach));
	EXPECT_EQ(7, parts_key(parts, 4095, &reach));
	EXPECT_EQ(1, reach);
	EXPECT_EQ(8, parts_key(parts, 4096, &reach));
	EXPECT_EQ(4096, reach);
	EXPECT_EQ(9, parts_key(parts, 12287, &reach));
	EXPECT_EQ(9, parts_key(parts, 12288, &reach));
	EXPECT_EQ(0, reach);
	parts_free(parts);

	parts = NULL;
	for (size_t length = 0; length < SIZE; length++)
		EXPECT_EQ(-EPROTO, parts_read(good, length, &whole, &parts));
	memcpy(bad, good, SIZE);
	EXPECT_EQ(-EPROTO, parts_read(bad, SIZE + 1, &whole, &parts));
	/* Every byte but those of rkeys and of the last length, which cannot be checked. */
	for (size_t i = 0; i < SIZE; i++) {
		bool is_key = i >= 16 && (i - 16) % KRDMA_MR_DESC_SIZE / 4 == 6;
		bool is_free = is_key || (i >= SIZE - 16 && i < SIZE - 8);

		memcpy(bad, good, SIZE);
		bad[i] ^= 0xff;
		EXPECT_EQ(is_free ? 0 : -EPROTO, parts_read(bad, SIZE, &whole, &parts));
		parts_free(parts);
		parts = NULL;
	}
	EXPECT_TRUE(!parts);
	/* Access rights that differ; a range beyond the last address. */
	memcpy(bad, good, SIZE);
	bad[16 + 28] = 1;
	EXPECT_EQ(-EPROTO, parts_read(bad, SIZE, &whole, &parts));
	memcpy(bad, good, SIZE);
	memset(bad + SIZE - 16, 0xff, 8);
	EXPECT_EQ(-EPROTO, parts_read(bad, SIZE, &whole, &parts));
}

static int send_many(struct krdma_simple *simple)
{
	int err = 0;

	for (unsigned int i = 0; i < 20 * DEPTH && !err; i++)
		err = krdma_simple_send(simple, 0, 8);
	return err;
}

static int write_many(struct krdma_simple *simple)
{
	int err = 0;

	for (unsigned int i = 0; i < 20 * DEPTH && !err; i++)
		err = krdma_simple_write(simple, 64, 64, 64);
	return err;
}

static int take_many(struct krdma_simple *simple)
{
	static unsigned int takers;
	size_t offset = __atomic_add_fetch(&takers, 1, __ATOMIC_RELAXED) * MESSAGE_SIZE;
	int err = 0;

	for (unsigned int i = 0; i < 20 * DEPTH && !err; i++)
		err = krdma_simple_recv(simple, offset, MESSAGE_SIZE, NULL);
	return err;
}

/* Each message goes to one thread; sends, writes and receives do not block one another. */
TEST_F_TIMEOUT(simple, used_by_many_threads, 300)
{
	struct krdma_simple *contexts[] = { self->server, self->client };
	struct both_call calls[12];
	unsigned int count = 0;

	for (unsigned int i = 0; i < 2; i++) {
		for (unsigned int j = 0; j < 2; j++) {
			ASSERT_EQ(0, both_call_begin(&calls[count++], send_many, contexts[i]));
			ASSERT_EQ(0, both_call_begin(&calls[count++], take_many, contexts[i]));
			ASSERT_EQ(0, both_call_begin(&calls[count++], write_many, contexts[i]));
		}
	}
	while (count--)
		EXPECT_EQ(0, both_call_end(&calls[count]));
}

static int await_notice(struct krdma_simple *simple)
{
	uint32_t ready;

	return krdma_simple_ready(simple, KRDMA_SIMPLE_NOTICE, BOTH_PATIENCE_MS, &ready);
}

static int take_one(struct krdma_simple *simple)
{
	return krdma_simple_recv(simple, 0, MESSAGE_SIZE, NULL);
}

/* One of the threads waits on the ring for all, and wakes the one whose message has come. */
TEST_F_TIMEOUT(simple, a_thread_that_stays_wakes_the_others, 300)
{
	struct both_call staying, leaving;
	uint64_t begin = now_ms();

	ASSERT_EQ(0, both_call_begin(&staying, await_notice, self->server));
	sleep_ms(SOON_MS);
	ASSERT_EQ(0, both_call_begin(&leaving, take_one, self->server));
	sleep_ms(SOON_MS);
	EXPECT_EQ(0, krdma_simple_send(self->client, 0, 8));
	EXPECT_EQ(0, both_call_end(&leaving));
	EXPECT_GT(BOTH_PATIENCE_MS / 2, now_ms() - begin);
	EXPECT_EQ(0, krdma_simple_notify_read(self->client, 0));
	EXPECT_EQ(0, both_call_end(&staying));
}

TEST_F_TIMEOUT(simple, what_is_ready_is_said_without_waiting, 120)
{
	const uint32_t all = KRDMA_SIMPLE_MESSAGE | KRDMA_SIMPLE_NOTICE | KRDMA_SIMPLE_ROOM;
	uint32_t ready = 0;

	EXPECT_EQ(0, krdma_simple_ready(self->server, all, 0, &ready));
	EXPECT_EQ(KRDMA_SIMPLE_ROOM, ready);
	EXPECT_EQ(-ETIMEDOUT, krdma_simple_ready(self->server, KRDMA_SIMPLE_MESSAGE, 0, &ready));
	EXPECT_EQ(-ETIMEDOUT, krdma_simple_ready(self->server, KRDMA_SIMPLE_MESSAGE, SOON_MS,
						 &ready));
	EXPECT_EQ(0, krdma_simple_send(self->client, 0, 1));
	EXPECT_EQ(0, krdma_simple_ready(self->server, KRDMA_SIMPLE_MESSAGE, BOTH_PATIENCE_MS,
					&ready));
	EXPECT_EQ(KRDMA_SIMPLE_MESSAGE, ready);
	EXPECT_EQ(0, krdma_simple_notify_read(self->client, 0));
	EXPECT_EQ(0, krdma_simple_ready(self->server, KRDMA_SIMPLE_NOTICE, BOTH_PATIENCE_MS,
					&ready));
	EXPECT_EQ(0, krdma_simple_ready(self->server, all, 0, &ready));
	EXPECT_EQ(all, ready);
	EXPECT_EQ(-EINVAL, krdma_simple_ready(self->server, 0, 0, &ready));
	EXPECT_EQ(-EINVAL, krdma_simple_ready(self->server, 8, 0, &ready));
}

static bool is_readable(struct krdma_simple *simple, int ms)
{
	struct pollfd poll_fd = { .fd = krdma_simple_fd(simple), .events = POLLIN };

	return poll(&poll_fd, 1, ms) == 1;
}

TEST_F_TIMEOUT(simple, the_descriptor_is_readable_when_there_is_something, 120)
{
	uint32_t ready;

	EXPECT_LE(0, krdma_simple_fd(self->server));
	EXPECT_EQ(krdma_simple_fd(self->server), krdma_simple_fd(self->server));
	EXPECT_FALSE(is_readable(self->server, SOON_MS));
	EXPECT_EQ(0, krdma_simple_send(self->client, 0, 1));
	EXPECT_EQ(0, krdma_simple_notify_write(self->client, 1));
	EXPECT_TRUE(is_readable(self->server, BOTH_PATIENCE_MS));
	/* It is readable also when another call has taken the completion from the CQ. */
	EXPECT_EQ(0, krdma_simple_wait_notice(self->server, NULL, NULL));
	EXPECT_TRUE(is_readable(self->server, 0));
	EXPECT_EQ(0, krdma_simple_recv(self->server, 0, 1, NULL));
	EXPECT_FALSE(is_readable(self->server, SOON_MS));
	EXPECT_EQ(0, krdma_simple_disconnect(self->client));
	EXPECT_TRUE(is_readable(self->server, BOTH_PATIENCE_MS));
	EXPECT_EQ(-ECONNRESET, krdma_simple_ready(self->server, KRDMA_SIMPLE_MESSAGE,
						  BOTH_PATIENCE_MS, &ready));
}

/* Proves: C1 (library) */
TEST_F_TIMEOUT(simple, what_is_below_can_be_used, 120)
{
	struct krdma_conn_query_args query;
	struct krdma_remote_mr remote;

	ASSERT_EQ(0, krdma_conn_query(krdma_simple_conn(self->client), &query, sizeof(query)));
	EXPECT_EQ(KRDMA_CONN_CONNECTED, query.state);
	ASSERT_EQ(0, krdma_simple_remote(self->client, &remote));
	EXPECT_EQ((uintptr_t)self->there, remote.addr);
	EXPECT_EQ(krdma_simple_buffer_size(self->server), remote.length);
	EXPECT_EQ(krdma_mr_rkey(krdma_simple_mr(self->server)), remote.key);
	EXPECT_TRUE(!!krdma_simple_session(self->client));
	EXPECT_TRUE(!krdma_simple_listener(self->client));
	EXPECT_TRUE(!!krdma_simple_listener(self->server));
	EXPECT_TRUE(krdma_simple_ring(self->client) != krdma_simple_recv_ring(self->client));
}

/*
 * The table of transfers: a row for each kind of transfer, and a test for each cell.
 */

static uint64_t receives_used(struct krdma_simple *simple)
{
	struct krdma_conn_query_args query;

	if (krdma_conn_query(krdma_simple_conn(simple), &query, sizeof(query)))
		return UINT64_MAX;
	return query.receives_completed;
}

static uint64_t completed(struct krdma_ring *ring)
{
	struct krdma_ring_query_args query;

	return krdma_ring_query(ring, &query, sizeof(query)) ? UINT64_MAX : query.completed;
}

/* Receives used at the server.  A polled ring counts them only when the program polls it. */
static int receives_of(struct krdma_simple *server, struct krdma_simple *client, enum kind kind)
{
	uint64_t before = receives_used(server);
	uint32_t ready;

	if (transfer(client, kind))
		return -1;
	krdma_simple_ready(server, KRDMA_SIMPLE_MESSAGE | KRDMA_SIMPLE_NOTICE, SOON_MS, &ready);
	return (int)(receives_used(server) - before);
}

/* Proves: C11 (library) */
TEST_F_TIMEOUT(simple, a_message_uses_a_receive_of_the_peer, 120)
{
	EXPECT_EQ(1, receives_of(self->server, self->client, MESSAGE));
}

/* Proves: C11 (library) */
TEST_F_TIMEOUT(simple, a_write_uses_no_receive, 120)
{
	EXPECT_EQ(0, receives_of(self->server, self->client, WRITE));
}

/* Proves: C11 (library) */
TEST_F_TIMEOUT(simple, a_read_uses_no_receive, 120)
{
	EXPECT_EQ(0, receives_of(self->server, self->client, READ));
}

/* Proves: C11 (library) */
TEST_F_TIMEOUT(simple, a_write_with_immediate_uses_a_receive_of_the_peer, 120)
{
	EXPECT_EQ(1, receives_of(self->server, self->client, NOTICE));
}

/* Do one transfer to a peer that offers no memory.  Returns 0 or -errno. */
static int without_remote_buffer(uint32_t cq_notify, enum kind kind)
{
	struct krdma_simple_options options = both_options(cq_notify);
	struct krdma_remote_mr remote;
	struct lib_both both;
	int ret;

	options.access = KRDMA_ACCESS_LOCAL_WRITE;
	ret = lib_both_open(&both, &options, &options);
	if (!ret && krdma_simple_remote(both.client, &remote) != -EACCES)
		ret = -EPROTO;
	if (!ret)
		ret = transfer(both.client, kind);
	lib_both_close(&both);
	return ret;
}

/* Proves: C11 (library) */
TEST_F_TIMEOUT(simple, a_message_needs_no_buffer_that_peers_may_reach, 120)
{
	EXPECT_EQ(0, without_remote_buffer(variant->cq_notify, MESSAGE));
}

/* Proves: C11 (library) */
TEST_F_TIMEOUT(simple, a_write_needs_a_buffer_that_peers_may_reach, 120)
{
	EXPECT_EQ(-EACCES, without_remote_buffer(variant->cq_notify, WRITE));
}

/* Proves: C11 (library) */
TEST_F_TIMEOUT(simple, a_read_needs_a_buffer_that_peers_may_reach, 120)
{
	EXPECT_EQ(-EACCES, without_remote_buffer(variant->cq_notify, READ));
}

/* A write with immediate data needs a buffer only if it carries data, which a notice does not. */
/* Proves: C11 (library) */
TEST_F_TIMEOUT(simple, a_write_with_immediate_of_nothing_needs_no_buffer, 120)
{
	EXPECT_EQ(0, without_remote_buffer(variant->cq_notify, NOTICE));
}

/* Proves: C11 (library) */
TEST_F_TIMEOUT(simple, a_message_is_an_event_at_the_peer, 120)
{
	ASSERT_EQ(0, transfer(self->client, MESSAGE));
	EXPECT_TRUE(is_readable(self->server, BOTH_PATIENCE_MS));
}

/* Proves: C11 (library) */
TEST_F_TIMEOUT(simple, a_write_is_no_event_at_the_peer, 120)
{
	ASSERT_EQ(0, transfer(self->client, WRITE));
	EXPECT_FALSE(is_readable(self->server, SOON_MS));
}

/* Proves: C11 (library) */
TEST_F_TIMEOUT(simple, a_read_is_no_event_at_the_peer, 120)
{
	ASSERT_EQ(0, transfer(self->client, READ));
	EXPECT_FALSE(is_readable(self->server, SOON_MS));
}

/* Proves: C11 (library) */
TEST_F_TIMEOUT(simple, a_write_with_immediate_is_an_event_at_the_peer, 120)
{
	ASSERT_EQ(0, transfer(self->client, NOTICE));
	EXPECT_TRUE(is_readable(self->server, BOTH_PATIENCE_MS));
}

/* Completions in the client's CQ. */
static int events_of(struct krdma_simple *client, enum kind kind)
{
	uint64_t before = completed(krdma_simple_ring(client));

	return transfer(client, kind) ? -1 : (int)(completed(krdma_simple_ring(client)) - before);
}

/* Proves: C11 (library) */
TEST_F_TIMEOUT(simple, a_message_completes_here, 120)
{
	EXPECT_EQ(1, events_of(self->client, MESSAGE));
}

/* Proves: C11 (library) */
TEST_F_TIMEOUT(simple, a_write_completes_here, 120)
{
	EXPECT_EQ(1, events_of(self->client, WRITE));
}

/* Proves: C11 (library) */
TEST_F_TIMEOUT(simple, a_read_completes_here, 120)
{
	EXPECT_EQ(1, events_of(self->client, READ));
}

/* Proves: C11 (library) */
TEST_F_TIMEOUT(simple, a_write_with_immediate_completes_here, 120)
{
	EXPECT_EQ(1, events_of(self->client, NOTICE));
}

/*
 * Use of the peer's CPU: transfers to a peer whose program is stopped
 */

#define TRANSFERS	100

struct stopped {
	uint32_t cq_notify;
	uint16_t port;
	int ready;
};

/* A server in its own process, which takes every message and notice. */
static int serve(void *context)
{
	struct stopped *stopped = context;
	struct krdma_simple_options options = both_options(stopped->cq_notify);
	struct krdma_simple *simple;
	uint32_t ready;

	options.depth = DEPTH;
	CHECK(!krdma_simple_server(both_address(), &stopped->port, &options, &simple));
	memset(krdma_simple_buffer(simple), 0x5a, krdma_simple_buffer_size(simple));
	__atomic_store_n(&stopped->ready, 1, __ATOMIC_RELEASE);
	CHECK(!krdma_simple_wait_for_client(simple));
	while (!krdma_simple_ready(simple, KRDMA_SIMPLE_MESSAGE | KRDMA_SIMPLE_NOTICE,
				   KRDMA_SIMPLE_FOREVER, &ready)) {
		if (ready & KRDMA_SIMPLE_MESSAGE)
			CHECK(!krdma_simple_recv(simple, 0, 4096, NULL));
		else
			CHECK(!krdma_simple_wait_notice(simple, NULL, NULL));
	}
	return krdma_simple_close(simple);
}

/*
 * Do many transfers to a stopped peer.  If not all of them succeed, do the rest after the peer
 * continues.  Returns the number that succeeded while it was stopped, or -errno.
 */
static int to_the_stopped(uint32_t cq_notify, enum kind kind)
{
	struct krdma_simple_options options = both_options(cq_notify);
	struct krdma_simple *simple = NULL;
	struct stopped *stopped;
	int ret = 0, done = 0;
	pid_t pid;

	stopped = mmap(NULL, sizeof(*stopped), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);
	if (stopped == MAP_FAILED)
		return -errno;
	stopped->cq_notify = cq_notify;
	pid = child_start(serve, stopped);
	while (!__atomic_load_n(&stopped->ready, __ATOMIC_ACQUIRE))
		sleep_ms(10);
	/* Long enough for one transfer on a slow machine. */
	options.timeout_ms = 5000;
	ret = krdma_simple_client(both_address(), stopped->port, &options, &simple);
	if (!ret)
		ret = krdma_simple_connect(simple);
	/* The peer takes this message, so it is connected, too. */
	if (!ret)
		ret = krdma_simple_send(simple, 0, 1);
	if (!ret && (kill(pid, SIGSTOP) || waitpid(pid, NULL, WUNTRACED) != pid))
		ret = -errno;
	while (!ret && done < TRANSFERS) {
		ret = transfer(simple, kind);
		done += !ret;
	}
	kill(pid, SIGCONT);
	if (ret == -ETIMEDOUT && kind != WRITE && kind != READ)
		ret = transfer(simple, kind);
	/* Check a byte that the first message has not overwritten at the peer. */
	if (!ret && kind == READ && ((char *)krdma_simple_buffer(simple))[63] != 0x5a)
		ret = -EPROTO;
	krdma_simple_close(simple);
	child_kill(pid);
	munmap(stopped, sizeof(*stopped));
	return ret ? ret : done;
}

/* Messages up to the peer's depth arrive; the rest wait for the peer's program. */
/* Proves: C11 (library) */
TEST_F_TIMEOUT(simple, messages_need_the_program_of_the_peer, 300)
{
	int done = to_the_stopped(variant->cq_notify, MESSAGE);

	EXPECT_LE(1, done);
	EXPECT_GE(DEPTH, done);
}

/* Proves: C8 (library), C11 (library) */
TEST_F_TIMEOUT(simple, writes_do_not_need_the_program_of_the_peer, 300)
{
	EXPECT_EQ(TRANSFERS, to_the_stopped(variant->cq_notify, WRITE));
}

/* Proves: C8 (library), C11 (library) */
TEST_F_TIMEOUT(simple, reads_do_not_need_the_program_of_the_peer, 300)
{
	EXPECT_EQ(TRANSFERS, to_the_stopped(variant->cq_notify, READ));
}

/* Proves: C11 (library) */
TEST_F_TIMEOUT(simple, writes_with_immediate_need_the_program_of_the_peer, 300)
{
	int done = to_the_stopped(variant->cq_notify, NOTICE);

	EXPECT_LE(1, done);
	EXPECT_GE(DEPTH, done);
}

TEST_HARNESS_MAIN
