// SPDX-License-Identifier: GPL-2.0
/*
 * libkrdma's simple layer: beginning and end of a context: addresses, timeouts, peers that
 * disconnect or are killed, close at every stage, one client after another.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <krdma_simple.h>

#include "kselftest_harness.h"
#include "child.h"
#include "lib_both.h"
#include "pair.h"
#include "session.h"

#define DEPTH		4
/* Timeout of calls that must time out. */
#define SOON_MS		300
/* An address of the network that no host has. */
#define NOBODY		"10.77.0.99"

FIXTURE(ends)
{
	struct krdma_simple_options options;
	struct lib_both both;
};

FIXTURE_VARIANT(ends)
{
	uint32_t cq_notify;
};

/* clang-format off */
FIXTURE_VARIANT_ADD(ends, polling) { .cq_notify = KRDMA_SIMPLE_WAIT_POLL };
FIXTURE_VARIANT_ADD(ends, event) { .cq_notify = KRDMA_SIMPLE_WAIT_EVENT };

/* clang-format on */

FIXTURE_SETUP(ends)
{
	memset(&self->both, 0, sizeof(self->both));
	self->options = both_options(variant->cq_notify);
	self->options.depth = DEPTH;
}

FIXTURE_TEARDOWN(ends)
{
	lib_both_close(&self->both);
}

static int both_open(FIXTURE_DATA(ends) * self)
{
	return lib_both_open(&self->both, &self->options, &self->options);
}

/*
 * Calls repeated until they fail
 */

static int send_always(struct krdma_simple *simple)
{
	int err;

	do {
		err = krdma_simple_send(simple, 0, 8);
	} while (!err);
	return err;
}

static int notify_always(struct krdma_simple *simple)
{
	int err;

	do {
		err = krdma_simple_notify_read(simple, 8);
	} while (!err);
	return err;
}

static int write_always(struct krdma_simple *simple)
{
	int err;

	do {
		err = krdma_simple_write(simple, 0, 0, 4096);
	} while (!err);
	return err;
}

static int read_always(struct krdma_simple *simple)
{
	int err;

	do {
		err = krdma_simple_read(simple, 0, 0, 4096);
	} while (!err);
	return err;
}

static int await_notice(struct krdma_simple *simple)
{
	return krdma_simple_wait_notice(simple, NULL, NULL);
}

static int await_ready(struct krdma_simple *simple)
{
	uint32_t ready;

	return krdma_simple_ready(simple, KRDMA_SIMPLE_MESSAGE | KRDMA_SIMPLE_NOTICE,
				  KRDMA_SIMPLE_FOREVER, &ready);
}

/*
 * Options and addresses
 */

static int server(FIXTURE_DATA(ends) * self, const char *where, uint16_t port)
{
	krdma_simple_close(self->both.server);
	self->both.server = NULL;
	self->both.port = port;
	return krdma_simple_server(where, &self->both.port, &self->options, &self->both.server);
}

static int client(FIXTURE_DATA(ends) * self, const char *host)
{
	krdma_simple_close(self->both.client);
	self->both.client = NULL;
	return krdma_simple_client(host, self->both.port, &self->options, &self->both.client);
}

/* Check that server and client connect with these addresses. */
static int meet(FIXTURE_DATA(ends) * self, const char *where, const char *host)
{
	int err = server(self, where, 0);

	if (!err)
		err = client(self, host);
	if (!err)
		err = lib_both_connect(&self->both);
	return err ? err : krdma_simple_write(self->both.client, 0, 0, 8);
}

/* Proves: C2 (library), C4 (library) */
TEST_F_TIMEOUT(ends, all_ways_to_name_an_address, 240)
{
	EXPECT_EQ(0, meet(self, BOOT_ADDRESS, BOOT_ADDRESS));
	EXPECT_EQ(0, meet(self, BOOT_ADDRESS_6, BOOT_ADDRESS_6));
	EXPECT_EQ(0, meet(self, BOOT_DEVICE, BOOT_ADDRESS));
	EXPECT_EQ(0, meet(self, NULL, BOOT_ADDRESS));
	EXPECT_EQ(0, meet(self, NULL, BOOT_ADDRESS_6));
}

static int append(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	int err = fd < 0 || write(fd, text, strlen(text)) < 0 ? -errno : 0;

	close(fd);
	return err;
}

/* There is no listener at the first address of the name, and no route to the last. */
/* Proves: C4 (library) */
TEST_F_TIMEOUT(ends, a_name_with_several_addresses, 240)
{
	ASSERT_EQ(0, append("/etc/host.conf", "multi on\n"));
	ASSERT_EQ(0, append("/etc/hosts", "127.0.0.1 krdma-test\n" BOOT_ADDRESS " krdma-test\n"
					  "192.0.2.1 krdma-test\n"));
	EXPECT_EQ(0, meet(self, BOOT_ADDRESS, "krdma-test"));
}

/* Proves: C1 (library) */
TEST_F_TIMEOUT(ends, the_default_options, 120)
{
	ASSERT_EQ(0, krdma_simple_server(NULL, &self->both.port, NULL, &self->both.server));
	EXPECT_NE(0, self->both.port);
	EXPECT_EQ(1 << 20, krdma_simple_buffer_size(self->both.server));
	EXPECT_TRUE(zeroed(krdma_simple_buffer(self->both.server), 1 << 20));
	ASSERT_EQ(0, krdma_simple_client(BOOT_ADDRESS, self->both.port, NULL, &self->both.client));
	ASSERT_EQ(0, lib_both_connect(&self->both));
	EXPECT_EQ(4096, krdma_simple_message_max(self->both.client));
	EXPECT_EQ(0, krdma_simple_write(self->both.client, 0, 0, 1 << 20));
}

/* Proves: C1 (library) */
TEST_F_TIMEOUT(ends, a_buffer_of_ones_own, 120)
{
	static char mine[5000];

	ASSERT_EQ(0, server(self, BOOT_ADDRESS, 0));
	self->options.buffer = mine + 1;
	self->options.buffer_size = sizeof(mine) - 1;
	ASSERT_EQ(0, client(self, BOOT_ADDRESS));
	ASSERT_EQ(0, lib_both_connect(&self->both));
	EXPECT_EQ(mine + 1, krdma_simple_buffer(self->both.client));
	memset(krdma_simple_buffer(self->both.server), 7, 100);
	EXPECT_EQ(0, krdma_simple_read(self->both.client, 4899, 0, 100));
	EXPECT_EQ(7, mine[4999]);
	EXPECT_EQ(0, mine[4899]);
}

/* The longest message that can be sent can also be received. */
TEST_F_TIMEOUT(ends, a_buffer_shorter_than_messages_usually_are, 120)
{
	size_t length = 0;

	self->options.buffer_size = 1000;
	self->options.message_size = 0;
	ASSERT_EQ(0, server(self, NULL, 0));
	self->options.buffer_size = 5000;
	ASSERT_EQ(0, client(self, BOOT_ADDRESS));
	ASSERT_EQ(0, lib_both_connect(&self->both));
	EXPECT_EQ(1000, krdma_simple_message_max(self->both.client));
	EXPECT_EQ(-EMSGSIZE, krdma_simple_send(self->both.client, 0, 1001));
	EXPECT_EQ(0, krdma_simple_send(self->both.client, 0, 1000));
	EXPECT_EQ(0, krdma_simple_recv(self->both.server, 0, 1000, &length));
	EXPECT_EQ(1000, length);
	EXPECT_EQ(4096, krdma_simple_message_max(self->both.server));
}

/* With the default options a waiting thread sleeps. */
TEST_F_TIMEOUT(ends, waiting_takes_no_processor_unless_it_is_asked_for, 120)
{
	struct krdma_ring_query_args query;

	self->options.cq_notify = 0;
	ASSERT_EQ(0, server(self, NULL, 0));
	ASSERT_EQ(0, client(self, BOOT_ADDRESS));
	ASSERT_EQ(0, lib_both_connect(&self->both));
	ASSERT_EQ(0, krdma_ring_query(krdma_simple_ring(self->both.client), &query,
				      sizeof(query)));
	EXPECT_EQ(0, query.ring_flags & KRDMA_RING_POLLED);
	ASSERT_EQ(0, krdma_ring_query(krdma_simple_recv_ring(self->both.server), &query,
				      sizeof(query)));
	EXPECT_EQ(0, query.ring_flags & KRDMA_RING_POLLED);
}

/* The parent's context keeps working. */
TEST_F_TIMEOUT(ends, a_child_closes_and_the_parent_goes_on, 120)
{
	size_t length = 0;
	int status;
	pid_t child;

	ASSERT_EQ(0, server(self, NULL, 0));
	ASSERT_EQ(0, client(self, BOOT_ADDRESS));
	ASSERT_EQ(0, lib_both_connect(&self->both));
	child = fork();
	ASSERT_LE(0, child);
	if (!child) {
		krdma_simple_close(self->both.client);
		krdma_simple_close(self->both.server);
		_exit(0);
	}
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(0, krdma_simple_send(self->both.client, 0, 100));
	EXPECT_EQ(0, krdma_simple_recv(self->both.server, 0, 100, &length));
	EXPECT_EQ(0, krdma_simple_write(self->both.server, 0, 0, 1000));
}

/* Proves: C1 (library) */
TEST_F_TIMEOUT(ends, options_that_make_no_sense, 60)
{
	const struct krdma_simple_options good = self->options;
	struct {
		struct krdma_simple_options options;
		uint64_t more;
	} longer = { .options = good, .more = 1 };
	struct krdma_simple_options *options = &self->options;

	self->both.port = 0;
	EXPECT_EQ(-EINVAL, krdma_simple_server(NULL, NULL, NULL, &self->both.server));
	EXPECT_EQ(-EINVAL, krdma_simple_server("", &self->both.port, NULL, &self->both.server));
	EXPECT_EQ(-EINVAL, client(self, ""));
	EXPECT_EQ(-EINVAL, client(self, BOOT_ADDRESS));
	options->cq_notify = KRDMA_SIMPLE_WAIT_POLL + 1;
	EXPECT_EQ(-EINVAL, server(self, NULL, 0));
	*options = good;
	options->access = KRDMA_ACCESS_REMOTE_ATOMIC;
	EXPECT_EQ(-EINVAL, server(self, NULL, 0));
	*options = good;
	options->buffer = options;
	options->buffer_size = 0;
	EXPECT_EQ(-EINVAL, server(self, NULL, 0));
	/* Messages longer than the buffer could never be received. */
	*options = good;
	options->buffer_size = 1000;
	options->message_size = 1001;
	EXPECT_EQ(-EINVAL, server(self, NULL, 0));
	*options = good;
	options->depth = 1 << 16;
	EXPECT_EQ(-EINVAL, server(self, NULL, 0));
	*options = good;
	options->size = 2;
	EXPECT_EQ(-EINVAL, server(self, NULL, 0));
	longer.options.size = sizeof(longer);
	EXPECT_EQ(-E2BIG, krdma_simple_server(NULL, &self->both.port, &longer.options,
					      &self->both.server));
	longer.more = 0;
	EXPECT_EQ(0, krdma_simple_server(NULL, &self->both.port, &longer.options,
					 &self->both.server));
}

/* Proves: C2 (library) */
TEST_F_TIMEOUT(ends, wrong_addresses, 240)
{
	uint16_t port;

	EXPECT_EQ(-ENXIO, server(self, "no such name", 0));
	EXPECT_EQ(-EADDRNOTAVAIL, server(self, NOBODY, 0));
	ASSERT_EQ(0, server(self, BOOT_ADDRESS, 0));
	port = self->both.port;
	EXPECT_EQ(-EADDRINUSE, krdma_simple_server(BOOT_ADDRESS, &port, NULL, &self->both.client));
	EXPECT_EQ(-ENXIO, client(self, "no such name"));
	EXPECT_EQ(-EHOSTUNREACH, client(self, "192.0.2.1"));
	/* There is no listener at this port. */
	self->both.port = port ^ 1;
	ASSERT_EQ(0, client(self, BOOT_ADDRESS));
	EXPECT_EQ(-ECONNREFUSED, krdma_simple_connect(self->both.client));
	/* The client may try again. */
	EXPECT_EQ(-ECONNREFUSED, krdma_simple_connect(self->both.client));
	EXPECT_EQ(-ENOTCONN, krdma_simple_send(self->both.client, 0, 1));
}

/* Proves: C10 (library) */
TEST_F_TIMEOUT(ends, calls_of_the_other_kind, 60)
{
	uint32_t ready;

	ASSERT_EQ(0, lib_both_make(&self->both, &self->options, &self->options));
	EXPECT_EQ(-EINVAL, krdma_simple_connect(self->both.server));
	EXPECT_EQ(-EINVAL, krdma_simple_wait_for_client(self->both.client));
	EXPECT_EQ(-ENOTCONN, krdma_simple_send(self->both.client, 0, 0));
	EXPECT_EQ(-ENOTCONN, krdma_simple_recv(self->both.client, 0, 0, NULL));
	EXPECT_EQ(-ENOTCONN, krdma_simple_write(self->both.client, 0, 0, 1));
	EXPECT_EQ(-ENOTCONN, krdma_simple_read(self->both.server, 0, 0, 1));
	EXPECT_EQ(-ENOTCONN, krdma_simple_notify_write(self->both.client, 0));
	EXPECT_EQ(-ENOTCONN, krdma_simple_notify_read(self->both.client, 0));
	EXPECT_EQ(-ENOTCONN, krdma_simple_wait_notice(self->both.server, NULL, NULL));
	EXPECT_EQ(-ENOTCONN, krdma_simple_ready(self->both.server, 1, 0, &ready));
	EXPECT_EQ(0, krdma_simple_disconnect(self->both.client));
	EXPECT_EQ(0, krdma_simple_message_max(self->both.client));
	EXPECT_EQ(-EINVAL, krdma_simple_send(NULL, 0, 0));
	EXPECT_EQ(-EINVAL, krdma_simple_recv(NULL, 0, 0, NULL));
	EXPECT_EQ(-EINVAL, krdma_simple_write(NULL, 0, 0, 0));
	EXPECT_EQ(-EINVAL, krdma_simple_notify_write(NULL, 0));
	EXPECT_EQ(-EINVAL, krdma_simple_disconnect(NULL));
	EXPECT_EQ(-EINVAL, krdma_simple_fd(NULL));
	EXPECT_TRUE(!krdma_simple_buffer(NULL));
}

/*
 * Timeouts
 */

TEST_F_TIMEOUT(ends, calls_that_wait_for_the_peer_run_out_of_time, 240)
{
	uint64_t begin;

	self->options.timeout_ms = BOTH_PATIENCE_MS;
	ASSERT_EQ(0, server(self, BOOT_ADDRESS, 0));
	/* Connecting takes less than this, also on a slow machine. */
	self->options.timeout_ms = 5000;
	ASSERT_EQ(0, client(self, BOOT_ADDRESS));
	ASSERT_EQ(0, lib_both_connect(&self->both));
	begin = now_ms();
	EXPECT_EQ(-ETIMEDOUT, krdma_simple_recv(self->both.client, 0, 1, NULL));
	EXPECT_LE(5000, now_ms() - begin);
	EXPECT_EQ(-ETIMEDOUT, krdma_simple_wait_notice(self->both.client, NULL, NULL));
	for (unsigned int i = 0; i < DEPTH; i++)
		EXPECT_EQ(0, krdma_simple_send(self->both.client, 0, 1));
	EXPECT_EQ(-ETIMEDOUT, krdma_simple_send(self->both.client, 0, 1));
	EXPECT_EQ(-ETIMEDOUT, krdma_simple_notify_write(self->both.client, 1));
	/* A message without a credit was not sent: the count is right, and the connection works. */
	for (unsigned int i = 0; i < DEPTH; i++)
		EXPECT_EQ(0, krdma_simple_recv(self->both.server, 0, 1, NULL));
	EXPECT_EQ(0, krdma_simple_send(self->both.client, 0, 1));
	EXPECT_EQ(0, krdma_simple_recv(self->both.server, 0, 1, NULL));
}

/* Proves: C3 (library) */
TEST_F_TIMEOUT(ends, nobody_comes, 120)
{
	self->options.timeout_ms = SOON_MS;
	ASSERT_EQ(0, server(self, BOOT_ADDRESS, 0));
	EXPECT_EQ(-ETIMEDOUT, krdma_simple_wait_for_client(self->both.server));
	EXPECT_EQ(-ETIMEDOUT, krdma_simple_wait_for_client(self->both.server));
}

/* Proves: C5 (library) */
TEST_F_TIMEOUT(ends, nobody_answers, 120)
{
	self->options.timeout_ms = 5000;
	ASSERT_EQ(0, lib_both_make(&self->both, &self->options, &self->options));
	/* The server listens, but does not accept the client. */
	EXPECT_EQ(-ETIMEDOUT, krdma_simple_connect(self->both.client));
}

static volatile sig_atomic_t signalled;

static void on_signal(int number)
{
	signalled = number;
}

static int receive_one(struct krdma_simple *simple)
{
	return krdma_simple_recv(simple, 0, 1, NULL);
}

/* Send signals until the call has returned: one sent before the call began has no effect. */
static int interrupt(struct both_call *call)
{
	while (!__atomic_load_n(&call->done, __ATOMIC_ACQUIRE)) {
		pthread_kill(call->thread, SIGUSR1);
		sleep_ms(20);
	}
	return both_call_end(call);
}

TEST_F_TIMEOUT(ends, a_signal_interrupts_who_waits_for_the_peer, 120)
{
	struct sigaction action = { .sa_handler = on_signal };
	struct both_call call;

	ASSERT_EQ(0, sigaction(SIGUSR1, &action, NULL));
	ASSERT_EQ(0, both_open(self));
	ASSERT_EQ(0, both_call_begin(&call, receive_one, self->both.server));
	EXPECT_EQ(-EINTR, interrupt(&call));
	EXPECT_EQ(SIGUSR1, signalled);
	EXPECT_EQ(0, krdma_simple_send(self->both.client, 0, 1));
	EXPECT_EQ(0, receive_one(self->both.server));
	krdma_simple_disconnect(self->both.client);
	ASSERT_EQ(0, krdma_simple_disconnect(self->both.server));
	ASSERT_EQ(0, both_call_begin(&call, krdma_simple_wait_for_client, self->both.server));
	EXPECT_EQ(-EINTR, interrupt(&call));
}

/*
 * Ends
 */

/* Proves: C6 (library) */
TEST_F_TIMEOUT(ends, close_at_every_stage, 240)
{
	EXPECT_EQ(0, krdma_simple_close(NULL));
	/* Created, not connected. */
	ASSERT_EQ(0, lib_both_make(&self->both, &self->options, &self->options));
	EXPECT_LE(0, krdma_simple_fd(self->both.server));
	lib_both_close(&self->both);
	/* Connected, the client first; then the server. */
	ASSERT_EQ(0, both_open(self));
	lib_both_close(&self->both);
	ASSERT_EQ(0, both_open(self));
	krdma_simple_close(self->both.server);
	self->both.server = NULL;
	lib_both_close(&self->both);
	/* With messages that were not received. */
	ASSERT_EQ(0, both_open(self));
	EXPECT_EQ(0, krdma_simple_send(self->both.client, 0, 1));
	EXPECT_EQ(0, krdma_simple_notify_write(self->both.server, 1));
	lib_both_close(&self->both);
	/* After disconnecting. */
	ASSERT_EQ(0, both_open(self));
	EXPECT_EQ(0, krdma_simple_disconnect(self->both.client));
	EXPECT_EQ(0, krdma_simple_disconnect(self->both.client));
	EXPECT_EQ(-ECONNRESET, receive_one(self->both.server));
	lib_both_close(&self->both);
	/* Connection refused. */
	self->both.port = 1;
	self->both.server = NULL;
	ASSERT_EQ(0, krdma_simple_client(BOOT_ADDRESS, 1, &self->options, &self->both.client));
	EXPECT_EQ(-ECONNREFUSED, krdma_simple_connect(self->both.client));
}

TEST_F_TIMEOUT(ends, what_was_sent_before_the_end_is_taken_after_it, 120)
{
	size_t length = 0;
	uint32_t value;

	ASSERT_EQ(0, both_open(self));
	EXPECT_EQ(0, krdma_simple_send(self->both.client, 0, 10));
	EXPECT_EQ(0, krdma_simple_notify_read(self->both.client, 5));
	EXPECT_EQ(0, krdma_simple_send(self->both.client, 0, 20));
	krdma_simple_close(self->both.client);
	self->both.client = NULL;
	EXPECT_EQ(0, krdma_simple_recv(self->both.server, 0, 100, &length));
	EXPECT_EQ(10, length);
	EXPECT_EQ(0, krdma_simple_recv(self->both.server, 0, 100, &length));
	EXPECT_EQ(20, length);
	EXPECT_EQ(0, krdma_simple_wait_notice(self->both.server, NULL, &value));
	EXPECT_EQ(5, value);
	EXPECT_EQ(-ECONNRESET, krdma_simple_recv(self->both.server, 0, 100, &length));
	EXPECT_EQ(-ECONNRESET, krdma_simple_wait_notice(self->both.server, NULL, NULL));
	EXPECT_EQ(-ECONNRESET, krdma_simple_send(self->both.server, 0, 1));
	EXPECT_EQ(-ECONNRESET, krdma_simple_write(self->both.server, 0, 0, 1));
}

/*
 * Taking the first message posts its receive again, which fails now.  The other messages are in
 * the CQ nevertheless.
 */
/* Proves: C7 (library) */
TEST_F_TIMEOUT(ends, what_was_sent_is_there_when_the_end_is_noticed_first, 120)
{
	uint32_t ready, value;
	size_t length = 0;

	ASSERT_EQ(0, both_open(self));
	EXPECT_EQ(0, krdma_simple_send(self->both.client, 0, 1));
	EXPECT_EQ(0, krdma_simple_ready(self->both.server, KRDMA_SIMPLE_MESSAGE, BOTH_PATIENCE_MS,
					&ready));
	for (unsigned int i = 0; i < DEPTH - 2; i++)
		EXPECT_EQ(0, krdma_simple_notify_write(self->both.client, i));
	EXPECT_EQ(0, krdma_simple_send(self->both.client, 0, 2));
	krdma_simple_close(self->both.client);
	self->both.client = NULL;
	/* By now the connection has ended.  If the end is late, this repeats the previous test. */
	sleep_ms(SOON_MS);
	EXPECT_EQ(0, krdma_simple_recv(self->both.server, 0, 100, &length));
	EXPECT_EQ(1, length);
	EXPECT_EQ(0, krdma_simple_recv(self->both.server, 0, 100, &length));
	EXPECT_EQ(2, length);
	for (unsigned int i = 0; i < DEPTH - 2; i++) {
		EXPECT_EQ(0, krdma_simple_wait_notice(self->both.server, NULL, &value));
		EXPECT_EQ(i, value);
	}
	EXPECT_EQ(-ECONNRESET, krdma_simple_recv(self->both.server, 0, 100, &length));
	EXPECT_EQ(-ECONNRESET, krdma_simple_wait_notice(self->both.server, NULL, NULL));
}

TEST_F_TIMEOUT(ends, disconnect_brings_back_who_is_waiting, 120)
{
	struct both_call calls[4];

	ASSERT_EQ(0, both_open(self));
	for (unsigned int i = 0; i < 4; i++)
		ASSERT_EQ(0, both_call_begin(&calls[i], receive_one, self->both.server));
	sleep_ms(SOON_MS);
	EXPECT_EQ(0, krdma_simple_disconnect(self->both.server));
	for (unsigned int i = 0; i < 4; i++)
		EXPECT_EQ(-ENOTCONN, both_call_end(&calls[i]));
	EXPECT_EQ(-ENOTCONN, krdma_simple_send(self->both.server, 0, 1));
	EXPECT_EQ(-ECONNRESET, receive_one(self->both.client));
}

/* The same contexts connect repeatedly: nothing is left of the previous connection. */
/* Proves: C3 (library) */
TEST_F_TIMEOUT(ends, one_client_after_another, 240)
{
	unsigned int end = rounds(10, 4);
	struct both_call connects;
	size_t length = 0;

	ASSERT_EQ(0, server(self, BOOT_ADDRESS, 0));
	EXPECT_LE(0, krdma_simple_fd(self->both.server));
	for (unsigned int i = 0; i < end; i++) {
		struct pollfd asks = { .fd = krdma_simple_fd(self->both.server), .events = POLLIN };

		/* Half of the clients are new, the others reconnect. */
		if (i % 2 == 0)
			ASSERT_EQ(0, client(self, BOOT_ADDRESS));
		EXPECT_EQ(0, poll(&asks, 1, 0));
		ASSERT_EQ(0, both_call_begin(&connects, krdma_simple_connect, self->both.client));
		EXPECT_EQ(1, poll(&asks, 1, BOTH_PATIENCE_MS));
		ASSERT_EQ(0, krdma_simple_wait_for_client(self->both.server));
		ASSERT_EQ(0, both_call_end(&connects));
		EXPECT_EQ(-EISCONN, krdma_simple_wait_for_client(self->both.server));
		EXPECT_EQ(-EISCONN, krdma_simple_connect(self->both.client));
		EXPECT_EQ(0, krdma_simple_send(self->both.client, 0, i));
		EXPECT_EQ(0, krdma_simple_recv(self->both.server, 0, 100, &length));
		EXPECT_EQ(i, length);
		/* These are not received before the connection ends. */
		EXPECT_EQ(0, krdma_simple_send(self->both.client, 0, 100));
		EXPECT_EQ(0, krdma_simple_notify_write(self->both.client, 1));
		EXPECT_EQ(0, krdma_simple_write(self->both.client, 0, 0, 100));
		/* Either side may disconnect; the other side gets an event. */
		EXPECT_EQ(0, krdma_simple_disconnect(i % 3 ? self->both.client :
							     self->both.server));
		EXPECT_EQ(-ECONNRESET, write_always(i % 3 ? self->both.server : self->both.client));
		/* The event arrives a little after the flushed completions. */
		EXPECT_EQ(i % 3 ? 1 : 0, poll(&asks, 1, i % 3 ? BOTH_PATIENCE_MS : 0));
		EXPECT_EQ(0, krdma_simple_disconnect(self->both.server));
	}
}

/*
 * Peers that do not use the simple layer
 */

/* Connect without the layer's private data.  Returns the result. */
static int stranger(struct krdma_simple *simple)
{
	struct krdma_ring_create_args create = { .size = sizeof(create) };
	struct __kernel_sockaddr_storage address;
	struct krdma_ring *ring = NULL;
	struct krdma_conn *conn = NULL;
	struct krdma *session;
	struct sockaddr_storage at;
	int err;

	err = krdma_listener_address(krdma_simple_listener(simple), &at);
	memcpy(&address, &at, sizeof(address));
	if (!err)
		err = krdma_open(&session);
	if (err)
		return err;
	err = krdma_conn_create(session, &conn);
	if (!err)
		err = krdma_conn_resolve(conn, (struct sockaddr *)&address, NULL);
	if (!err)
		err = krdma_conn_wait(conn, krdma_deadline(BOTH_PATIENCE_MS), NULL);
	if (!err)
		err = krdma_ring_create(session, &create, &ring);
	if (!err)
		err = krdma_conn_create_qp(conn, ring, NULL, NULL, NULL);
	if (!err)
		err = krdma_conn_connect(conn, NULL, "let me in", 9);
	if (!err)
		err = krdma_conn_wait(conn, krdma_deadline(BOTH_PATIENCE_MS), NULL);
	krdma_conn_close(conn);
	krdma_ring_close(ring);
	krdma_close(session);
	return err;
}

/* Proves: C3 (library) */
TEST_F_TIMEOUT(ends, a_stranger_is_refused_and_disturbs_nobody, 120)
{
	struct both_call waits, asks;

	ASSERT_EQ(0, server(self, BOOT_ADDRESS, 0));
	ASSERT_EQ(0, client(self, BOOT_ADDRESS));
	ASSERT_EQ(0, both_call_begin(&waits, krdma_simple_wait_for_client, self->both.server));
	ASSERT_EQ(0, both_call_begin(&asks, stranger, self->both.server));
	EXPECT_EQ(-ECONNREFUSED, both_call_end(&asks));
	EXPECT_EQ(0, krdma_simple_connect(self->both.client));
	EXPECT_EQ(0, both_call_end(&waits));
	EXPECT_EQ(0, krdma_simple_send(self->both.client, 0, 1));
}

/*
 * Peers that are killed
 */

enum stage {
	/* The peer has connected and makes no more calls. */
	CONNECTED,
	/* The peer waits for a client and accepts none. */
	LISTENING,
	/* The peer connects to a server that does not answer. */
	ASKING,
};

struct victim {
	struct krdma_simple_options options;
	enum stage stage;
	uint16_t port;
	int ready;
};

static void say_ready(struct victim *victim)
{
	__atomic_store_n(&victim->ready, 1, __ATOMIC_RELEASE);
}

static int be_victim(void *context)
{
	struct victim *victim = context;
	struct krdma_simple *simple;

	if (victim->stage == ASKING) {
		CHECK(!krdma_simple_client(BOOT_ADDRESS, victim->port, &victim->options, &simple));
		say_ready(victim);
		krdma_simple_connect(simple);
	} else {
		CHECK(!krdma_simple_server(BOOT_ADDRESS, &victim->port, &victim->options, &simple));
		say_ready(victim);
		if (victim->stage == CONNECTED)
			CHECK(!krdma_simple_wait_for_client(simple));
	}
	for (;;)
		pause();
	return 0;
}

static struct victim *victim_create(const struct krdma_simple_options *options, enum stage stage,
				    uint16_t port, pid_t *pid)
{
	struct victim *victim = mmap(NULL, sizeof(*victim), PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (victim == MAP_FAILED)
		return NULL;
	victim->options = *options;
	victim->stage = stage;
	victim->port = port;
	*pid = child_start(be_victim, victim);
	while (!__atomic_load_n(&victim->ready, __ATOMIC_ACQUIRE))
		sleep_ms(10);
	return victim;
}

/* The server is killed while its client is in @function. */
static int killed_during(struct __test_metadata *_metadata, FIXTURE_DATA(ends) * self,
			 int (*function)(struct krdma_simple *simple))
{
	struct both_call call;
	struct victim *victim;
	pid_t pid;

	victim = victim_create(&self->options, CONNECTED, 0, &pid);
	ASSERT_TRUE(!!victim);
	self->both.port = victim->port;
	ASSERT_EQ(0, client(self, BOOT_ADDRESS));
	ASSERT_EQ(0, krdma_simple_connect(self->both.client));
	ASSERT_EQ(0, both_call_begin(&call, function, self->both.client));
	sleep_ms(SOON_MS);
	EXPECT_EQ(0, __atomic_load_n(&call.done, __ATOMIC_ACQUIRE));
	EXPECT_LE(0, child_kill(pid));
	munmap(victim, sizeof(*victim));
	return both_call_end(&call);
}

/* Proves: C6 (library) */
TEST_F_TIMEOUT(ends, the_peer_is_killed_during_any_call, 300)
{
	EXPECT_EQ(-ECONNRESET, killed_during(_metadata, self, receive_one));
	EXPECT_EQ(-ECONNRESET, killed_during(_metadata, self, await_notice));
	EXPECT_EQ(-ECONNRESET, killed_during(_metadata, self, await_ready));
	EXPECT_EQ(-ECONNRESET, killed_during(_metadata, self, send_always));
	EXPECT_EQ(-ECONNRESET, killed_during(_metadata, self, notify_always));
	EXPECT_EQ(-ECONNRESET, killed_during(_metadata, self, write_always));
	EXPECT_EQ(-ECONNRESET, killed_during(_metadata, self, read_always));
}

/* Proves: C5 (library) */
TEST_F_TIMEOUT(ends, the_server_is_killed_before_it_answers, 120)
{
	struct victim *victim;
	struct both_call call;
	pid_t pid;

	victim = victim_create(&self->options, LISTENING, 0, &pid);
	ASSERT_TRUE(!!victim);
	self->both.port = victim->port;
	ASSERT_EQ(0, client(self, BOOT_ADDRESS));
	ASSERT_EQ(0, both_call_begin(&call, krdma_simple_connect, self->both.client));
	sleep_ms(SOON_MS);
	EXPECT_LE(0, child_kill(pid));
	munmap(victim, sizeof(*victim));
	EXPECT_EQ(-ECONNREFUSED, both_call_end(&call));
}

TEST_F_TIMEOUT(ends, a_client_that_is_killed_while_it_asks_is_passed_over, 240)
{
	struct both_call waits;
	struct victim *victim;
	pid_t pid;

	ASSERT_EQ(0, server(self, BOOT_ADDRESS, 0));
	victim = victim_create(&self->options, ASKING, self->both.port, &pid);
	ASSERT_TRUE(!!victim);
	sleep_ms(SOON_MS);
	EXPECT_LE(0, child_kill(pid));
	munmap(victim, sizeof(*victim));
	ASSERT_EQ(0, client(self, BOOT_ADDRESS));
	ASSERT_EQ(0, both_call_begin(&waits, krdma_simple_wait_for_client, self->both.server));
	EXPECT_EQ(0, krdma_simple_connect(self->both.client));
	EXPECT_EQ(0, both_call_end(&waits));
	EXPECT_EQ(0, krdma_simple_send(self->both.client, 0, 7));
	EXPECT_EQ(0, krdma_simple_recv(self->both.server, 0, 7, NULL));
}

TEST_HARNESS_MAIN
