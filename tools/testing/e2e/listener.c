// SPDX-License-Identifier: GPL-2.0
/*
 * Listeners: addresses, the backlog of connection requests, and rejection.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/socket.h>

#include "kselftest_harness.h"
#include "child.h"
#include "interrupt.h"
#include "pair.h"
#include "session.h"

FIXTURE(listener)
{
	int session;
	int fd;
	struct __kernel_sockaddr_storage address;
	struct ring ring;
	struct end_options with_queue;
};

FIXTURE_SETUP(listener)
{
	struct ring_options options = { .cq_entries = 8192 };

	self->session = session_open(O_CLOEXEC);
	ASSERT_LE(0, self->session);
	ASSERT_EQ(0, listener_open(self->session, BOOT_ADDRESS, 0, 0, &self->fd, &self->address));
	ASSERT_EQ(0, ring_create(self->session, &options, &self->ring));
	memset(&self->with_queue, 0, sizeof(self->with_queue));
	self->with_queue.ring = &self->ring;
}

FIXTURE_TEARDOWN(listener)
{
	if (self->fd >= 0)
		close(self->fd);
	ring_close(&self->ring);
	close(self->session);
}

#define ASK(end) end_ask(end, self->session, &self->address, &self->with_queue)
#define WAIT(end) conn_wait((end)->conn, deadline_in(PATIENCE_MS), NULL)

static int listener_query(int fd, struct __kernel_sockaddr_storage *address)
{
	struct krdma_listener_query_args query = { .size = sizeof(query) };
	int ret = session_request(fd, KRDMA_LISTENER_QUERY, &query);

	*address = query.address;
	return ret;
}

TEST_F(listener, port_0_is_a_free_one)
{
	struct __kernel_sockaddr_storage another, again;
	int other;

	EXPECT_NE(0, address_port(&self->address));
	ASSERT_EQ(0, listener_open(self->session, BOOT_ADDRESS, 0, 0, &other, &another));
	EXPECT_NE(0, address_port(&another));
	EXPECT_NE(address_port(&self->address), address_port(&another));
	EXPECT_EQ(0, listener_query(other, &again));
	EXPECT_TRUE(address_same(&another, &again));
	close(other);
}

TEST_F(listener, a_port_of_ones_own)
{
	uint16_t port = address_port(&self->address);
	struct __kernel_sockaddr_storage address;
	int other;

	EXPECT_EQ(-EADDRINUSE, listener_open(self->session, BOOT_ADDRESS, port, 0, &other, NULL));
	/* The port is free as soon as the listener is closed, without a delay. */
	close(self->fd);
	ASSERT_EQ(0, listener_open(self->session, BOOT_ADDRESS, port, 0, &self->fd, &address));
	EXPECT_EQ(port, address_port(&address));
}

TEST_F(listener, addresses_that_are_none)
{
	struct krdma_listen_args listen = { .size = sizeof(listen) };
	int other;

	EXPECT_EQ(-EAFNOSUPPORT, session_request(self->session, KRDMA_LISTEN, &listen));
	listen.address.ss_family = AF_UNIX;
	EXPECT_EQ(-EAFNOSUPPORT, session_request(self->session, KRDMA_LISTEN, &listen));
	listen.address.ss_family = 0xffff;
	EXPECT_EQ(-EAFNOSUPPORT, session_request(self->session, KRDMA_LISTEN, &listen));
	EXPECT_EQ(-EADDRNOTAVAIL, listener_open(self->session, "192.0.2.1", 0, 0, &other, NULL));
	EXPECT_EQ(-EADDRNOTAVAIL, listener_open(self->session, "2001:db8::1", 0, 0, &other,
						NULL));
}

TEST_F(listener, all_addresses_of_both_families)
{
	static const char *const texts[] = { "0.0.0.0", "::", BOOT_ADDRESS_6 };
	struct __kernel_sockaddr_storage address, reach;
	struct end client;
	int other, taken;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		ASSERT_EQ(0, listener_open(self->session, texts[i], 0, 0, &other, &address));
		ASSERT_EQ(0, address_set(&reach, i == 2 ? BOOT_ADDRESS_6 : BOOT_ADDRESS,
					 address_port(&address)));
		ASSERT_EQ(0, end_ask(&client, self->session, &reach, &self->with_queue));
		EXPECT_EQ(0, listener_next(other, deadline_in(PATIENCE_MS), &taken, NULL)) {
			TH_LOG("listening at %s", texts[i]);
		}
		close(taken);
		end_close(&client);
		close(other);
	}
}

TEST_F(listener, ipv6_only)
{
	struct krdma_listen_args listen = { .size = sizeof(listen), .flags = KRDMA_LISTEN_V6ONLY };
	struct __kernel_sockaddr_storage reach;
	struct end client;

	ASSERT_EQ(0, address_set(&listen.address, "::", 0));
	ASSERT_EQ(0, session_request(self->session, KRDMA_LISTEN, &listen));
	ASSERT_EQ(0, address_set(&reach, BOOT_ADDRESS, address_port(&listen.address)));
	ASSERT_EQ(0, end_ask(&client, self->session, &reach, &self->with_queue));
	EXPECT_EQ(-ECONNREFUSED, WAIT(&client));
	end_close(&client);
	close(listen.fd);
}

/* Proves: D5 */
TEST_F(listener, next_knows_its_deadline)
{
	int fd;

	EXPECT_EQ(-EAGAIN, listener_next(self->fd, 0, &fd, NULL));
	for (unsigned int ms = 1; ms <= 256; ms *= 4) {
		uint64_t deadline = deadline_in(ms);

		EXPECT_EQ(-ETIMEDOUT, listener_next(self->fd, deadline, &fd, NULL));
		EXPECT_ON_WHEEL_TIME(deadline, ms);
	}
	/* A deadline in the past, but not 0. */
	EXPECT_EQ(-ETIMEDOUT, listener_next(self->fd, 1, &fd, NULL));
}

static void nothing(int number)
{
	(void)number;
}

TEST_F(listener, a_signal_ends_the_wait)
{
	struct sigaction action = { .sa_handler = nothing };
	struct interrupter interrupter;
	uint64_t deadline;
	int fd;

	sigaction(SIGUSR1, &action, NULL);
	ASSERT_EQ(0, interrupter_begin(&interrupter));
	EXPECT_EQ(-EINTR, listener_next(self->fd, KRDMA_FOREVER, &fd, NULL));
	interrupter_end(&interrupter);

	/* With a handler that restarts calls, the deadline stays the same each time. */
	action.sa_flags = SA_RESTART;
	sigaction(SIGUSR1, &action, NULL);
	ASSERT_EQ(0, interrupter_begin(&interrupter));
	deadline = deadline_in(400);
	EXPECT_EQ(-ETIMEDOUT, listener_next(self->fd, deadline, &fd, NULL));
	EXPECT_ON_WHEEL_TIME(deadline, 400);
	interrupter_end(&interrupter);
}

/* Proves: D5 */
TEST_F(listener, poll_tells_of_requests)
{
	struct end client;
	int taken;

	EXPECT_EQ(0, poll_mask(self->fd, POLLIN | POLLOUT, 0));
	ASSERT_EQ(0, ASK(&client));
	EXPECT_EQ(POLLIN, poll_mask(self->fd, POLLIN, PATIENCE_MS));
	ASSERT_EQ(0, listener_next(self->fd, 0, &taken, NULL));
	EXPECT_EQ(0, poll_mask(self->fd, POLLIN, 0));
	close(taken);
	end_close(&client);
}

TEST_F(listener, a_request_that_was_given_up_is_not_given_out)
{
	uint64_t end = now_ms() + PATIENCE_MS;
	struct end client;
	int taken;

	ASSERT_EQ(0, ASK(&client));
	ASSERT_EQ(POLLIN, poll_mask(self->fd, POLLIN, PATIENCE_MS));
	end_close(&client);
	/* The listener gets the event later than the client. */
	while (poll_mask(self->fd, POLLIN, 0) && now_ms() < end)
		sleep_ms(1);
	EXPECT_EQ(0, poll_mask(self->fd, POLLIN, 0));
	EXPECT_EQ(-EAGAIN, listener_next(self->fd, 0, &taken, NULL));
}

/*
 * Requests that nobody takes
 */

static int listen_with(int session, uint32_t keepalive_ms, uint32_t request_timeout_ms, int *fd,
		       struct __kernel_sockaddr_storage *address)
{
	struct krdma_listen_args listen = {
		.size = sizeof(listen),
		.keepalive_ms = keepalive_ms,
		.request_timeout_ms = request_timeout_ms,
	};
	int ret = address_set(&listen.address, BOOT_ADDRESS, 0);

	if (!ret)
		ret = session_request(session, KRDMA_LISTEN, &listen);
	*fd = ret ? -1 : listen.fd;
	*address = listen.address;
	return ret;
}

static int requests_of(int fd, struct krdma_listener_query_args *query)
{
	*query = (struct krdma_listener_query_args) { .size = sizeof(*query) };
	return session_request(fd, KRDMA_LISTENER_QUERY, query);
}

#define EXPIRE_MS	300

/* Proves: E14 */
TEST_F(listener, a_request_that_nobody_takes_expires)
{
	struct krdma_listener_query_args requests;
	struct krdma_conn_query_args query;
	struct end clients[3], server;
	uint64_t asked;
	int other, taken;

	ASSERT_EQ(0, listen_with(self->session, 0, EXPIRE_MS, &other, &self->address));
	EXPECT_EQ(0, requests_of(other, &requests));
	EXPECT_EQ(0, requests.waiting);
	EXPECT_EQ(0, requests.oldest_ms);

	/* The first one is taken: from then on it is the program's. */
	end_init(&server, self->session);
	ASSERT_EQ(0, ASK(&clients[0]));
	ASSERT_EQ(0, listener_next(other, deadline_in(PATIENCE_MS), &server.conn, &server.id));

	/* The second one waits from some time later, so that the listener has to look twice. */
	sleep_ms(EXPIRE_MS * 2 / 3);
	asked = now_ms();
	ASSERT_EQ(0, ASK(&clients[1]));
	ASSERT_EQ(POLLIN, poll_mask(other, POLLIN, PATIENCE_MS));
	sleep_ms(EXPIRE_MS / 2);
	ASSERT_EQ(0, ASK(&clients[2]));
	EXPECT_EQ(0, requests_of(other, &requests));
	EXPECT_LE(1, requests.waiting);
	EXPECT_LE(EXPIRE_MS / 2 - 10, requests.oldest_ms);
	EXPECT_GE(EXPIRE_MS, requests.oldest_ms);
	EXPECT_EQ(0, requests.expired);
	EXPECT_EQ(-EINPROGRESS, conn_wait(clients[1].conn, 0, NULL));

	EXPECT_EQ(-ECONNREFUSED, WAIT(&clients[1]));
	EXPECT_LE(EXPIRE_MS - 10, now_ms() - asked);
	EXPECT_EQ(0, requests_of(other, &requests));
	EXPECT_EQ(1, requests.expired);
	EXPECT_EQ(1, requests.waiting);
	EXPECT_EQ(-ECONNREFUSED, WAIT(&clients[2]));
	EXPECT_LE(EXPIRE_MS * 3 / 2 - 10, now_ms() - asked);
	EXPECT_EQ(0, requests_of(other, &requests));
	EXPECT_EQ(2, requests.expired);
	EXPECT_EQ(0, requests.waiting);
	EXPECT_EQ(0, requests.oldest_ms);
	EXPECT_EQ(-EAGAIN, listener_next(other, 0, &taken, NULL));

	/* All the while, the one that was taken has grown older, and no less welcome. */
	ASSERT_EQ(0, conn_query(server.conn, NULL, 0, &query));
	EXPECT_EQ(KRDMA_CONN_REQUESTED, query.state);
	EXPECT_LE(now_ms() - asked, query.request_age_ms);
	ASSERT_EQ(0, end_create_qp(&server, &self->with_queue));
	ASSERT_EQ(0, end_accept(&server, NULL));
	EXPECT_EQ(0, WAIT(&clients[0]));
	EXPECT_EQ(0, WAIT(&server));
	ASSERT_EQ(0, conn_query(server.conn, NULL, 0, &query));
	EXPECT_EQ(0, query.request_age_ms);
	end_close(&server);
	for (int i = 0; i < 3; i++)
		end_close(&clients[i]);
	close(other);
}

TEST_F_TIMEOUT(listener, by_default_a_request_expires_after_a_minute, 300)
{
	struct krdma_listener_query_args requests;
	struct __kernel_sockaddr_storage address;
	struct end clients[2];
	int other;

	ASSERT_EQ(0, listen_with(self->session, 0, KRDMA_REQUEST_TIMEOUT_NEVER, &other, &address));
	ASSERT_EQ(0, ASK(&clients[0]));
	ASSERT_EQ(0, end_ask(&clients[1], self->session, &address, &self->with_queue));
	ASSERT_EQ(POLLIN, poll_mask(self->fd, POLLIN, PATIENCE_MS));
	ASSERT_EQ(POLLIN, poll_mask(other, POLLIN, PATIENCE_MS));
	sleep_ms(58000);
	EXPECT_EQ(-EINPROGRESS, conn_wait(clients[0].conn, 0, NULL));
	/* A timer of the kernel is late by up to an eighth of its time. */
	EXPECT_EQ(-ECONNREFUSED, conn_wait(clients[0].conn, deadline_in(2000 + 7500), NULL));
	EXPECT_EQ(0, requests_of(self->fd, &requests));
	EXPECT_EQ(1, requests.expired);
	EXPECT_EQ(-EINPROGRESS, conn_wait(clients[1].conn, 0, NULL));
	EXPECT_EQ(0, requests_of(other, &requests));
	EXPECT_EQ(1, requests.waiting);
	EXPECT_EQ(0, requests.expired);
	end_close(&clients[0]);
	end_close(&clients[1]);
	close(other);
}

/*
 * The peer has the request, and may have vanished since.  Its connection manager had asked for
 * patience: the one of this side would repeat the request for some 18 minutes.
 */
/* Proves: D7 */
TEST_F_TIMEOUT(listener, a_request_without_an_answer_ends_after_90_seconds, 300)
{
	struct __kernel_sockaddr_storage address;
	struct krdma_conn_query_args query;
	struct end client;
	int other;

	ASSERT_EQ(0, listen_with(self->session, 0, KRDMA_REQUEST_TIMEOUT_NEVER, &other, &address));
	ASSERT_EQ(0, end_ask(&client, self->session, &address, &self->with_queue));
	ASSERT_EQ(POLLIN, poll_mask(other, POLLIN, PATIENCE_MS));
	sleep_ms(88000);
	EXPECT_EQ(-EINPROGRESS, conn_wait(client.conn, 0, NULL));
	/* As above. */
	EXPECT_EQ(-ETIMEDOUT, conn_wait(client.conn, deadline_in(2000 + 11250), NULL));
	ASSERT_EQ(0, conn_query(client.conn, NULL, 0, &query));
	EXPECT_EQ(-ETIMEDOUT, query.error);
	end_close(&client);
	close(other);
}

/* Requests that expire free their places, and a listener that is closed waits for none. */
TEST_F(listener, more_expire_than_the_backlog_holds)
{
	struct krdma_listen_args listen = {
		.size = sizeof(listen), .backlog = 1, .request_timeout_ms = 100,
	};
	struct end client;
	uint64_t before;

	ASSERT_EQ(0, address_set(&listen.address, BOOT_ADDRESS, 0));
	ASSERT_EQ(0, session_request(self->session, KRDMA_LISTEN, &listen));
	for (int i = 0; i < 3; i++) {
		before = now_ms();
		ASSERT_EQ(0, end_ask(&client, self->session, &listen.address, &self->with_queue));
		EXPECT_EQ(-ECONNREFUSED, WAIT(&client));
		EXPECT_LE(90, now_ms() - before);
		end_close(&client);
	}
	ASSERT_EQ(0, end_ask(&client, self->session, &listen.address, &self->with_queue));
	ASSERT_EQ(POLLIN, poll_mask(listen.fd, POLLIN, PATIENCE_MS));
	close(listen.fd);
	EXPECT_EQ(-ECONNREFUSED, WAIT(&client));
	end_close(&client);
}

TEST_F(listener, times_that_are_none)
{
	static const uint32_t bad[] = { 1, 99, 3600001, 0xfffffffe };
	struct __kernel_sockaddr_storage address;
	int other;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		EXPECT_EQ(-EINVAL, listen_with(self->session, bad[i], 0, &other, &address));
		EXPECT_EQ(-EINVAL, listen_with(self->session, 0, bad[i], &other, &address));
	}
	ASSERT_EQ(0, listen_with(self->session, 100, 100, &other, &address));
	close(other);
	ASSERT_EQ(0, listen_with(self->session, 3600000, 3600000, &other, &address));
	close(other);
	ASSERT_EQ(0, listen_with(self->session, KRDMA_KEEPALIVE_NEVER,
				 KRDMA_REQUEST_TIMEOUT_NEVER, &other, &address));
	close(other);
}

/* Connection requests beyond the backlog are rejected; the earlier ones still wait. */
TEST_F(listener, the_backlog)
{
	const uint64_t deadline = deadline_in(PATIENCE_MS / 2);
	struct end clients[5];
	int other, taken, refused, waiting;
	uint32_t state;

	ASSERT_EQ(0, listener_open(self->session, BOOT_ADDRESS, 0, 2, &other, &self->address));
	for (int i = 0; i < 5; i++)
		ASSERT_EQ(0, ASK(&clients[i]));
	/* The connection manager determines the order in which requests arrive. */
	do {
		refused = 0;
		waiting = 0;
		for (int i = 0; i < 5; i++) {
			int ret = conn_wait(clients[i].conn, 0, NULL);

			state = conn_state(clients[i].conn);
			refused += ret == -ECONNREFUSED && state == KRDMA_CONN_CLOSED;
			waiting += ret == -EINPROGRESS && state == KRDMA_CONN_CONNECTING;
		}
		usleep(1000);
	} while (refused < 3 && deadline_in(0) < deadline);
	EXPECT_EQ(3, refused);
	EXPECT_EQ(2, waiting);
	for (int i = 0; i < 2; i++) {
		EXPECT_EQ(0, listener_next(other, deadline_in(PATIENCE_MS), &taken, NULL));
		close(taken);
	}
	EXPECT_EQ(-EAGAIN, listener_next(other, 0, &taken, NULL));
	/* The backlog has a free place again. */
	end_close(&clients[0]);
	ASSERT_EQ(0, ASK(&clients[0]));
	EXPECT_EQ(0, listener_next(other, deadline_in(PATIENCE_MS), &taken, NULL));
	close(taken);
	for (int i = 0; i < 5; i++)
		end_close(&clients[i]);
	close(other);
}

/* Proves: D6 */
TEST_F(listener, a_rejection_carries_private_data)
{
	unsigned char data[256], got[256];
	struct krdma_conn_query_args query;
	struct end client;
	uint32_t longest = 0;
	int taken;

	fill(data, sizeof(data), 5);
	for (int round = 0; round < 4; round++) {
		const uint32_t lengths[] = { 0, 1, longest, 40 };

		ASSERT_EQ(0, ASK(&client));
		ASSERT_EQ(0, listener_next(self->fd, deadline_in(PATIENCE_MS), &taken, NULL));
		if (!round) {
			/* Find the longest that is accepted; a refused call has no effect. */
			for (longest = 256; longest; longest--) {
				int ret = conn_reject(taken, data, longest);

				if (!ret)
					break;
				ASSERT_EQ(-EMSGSIZE, ret);
			}
			EXPECT_LT(40, longest);
		} else {
			ASSERT_EQ(0, conn_reject(taken, data, lengths[round]));
		}
		EXPECT_EQ(-ECONNREFUSED, WAIT(&client));
		memset(got, 0, sizeof(got));
		ASSERT_EQ(0, conn_query(client.conn, got, sizeof(got), &query));
		EXPECT_EQ(round ? lengths[round] : longest, query.private_data_len);
		EXPECT_EQ(0, memcmp(data, got, query.private_data_len));
		EXPECT_EQ(-ECONNREFUSED, query.error);
		EXPECT_EQ(-ECONNABORTED, conn_wait(taken, deadline_in(PATIENCE_MS), NULL));
		close(taken);
		end_close(&client);
	}
}

TEST_F(listener, a_rejection_with_data_that_cannot_be_read)
{
	struct end client;
	int taken;

	ASSERT_EQ(0, ASK(&client));
	ASSERT_EQ(0, listener_next(self->fd, deadline_in(PATIENCE_MS), &taken, NULL));
	EXPECT_EQ(-EFAULT, conn_reject(taken, (void *)16, 8));
	EXPECT_EQ(0, conn_reject(taken, NULL, 0));
	EXPECT_EQ(-ECONNREFUSED, WAIT(&client));
	close(taken);
	end_close(&client);
}

/* Proves: D5 */
TEST_F(listener, closing_it_rejects_those_who_wait)
{
	struct end clients[3];

	for (int i = 0; i < 3; i++)
		ASSERT_EQ(0, ASK(&clients[i]));
	ASSERT_EQ(POLLIN, poll_mask(self->fd, POLLIN, PATIENCE_MS));
	close(self->fd);
	self->fd = -1;
	for (int i = 0; i < 3; i++) {
		EXPECT_EQ(-ECONNREFUSED, WAIT(&clients[i]));
		end_close(&clients[i]);
	}
}

TEST_F(listener, closing_a_request_rejects_it)
{
	struct end client;
	int taken;

	ASSERT_EQ(0, ASK(&client));
	ASSERT_EQ(0, listener_next(self->fd, deadline_in(PATIENCE_MS), &taken, NULL));
	close(taken);
	EXPECT_EQ(-ECONNREFUSED, WAIT(&client));
	end_close(&client);
}

TEST_F(listener, it_outlives_its_session_and_its_requests_outlive_it)
{
	struct krdma_conn_query_args query;
	int session = session_open(O_CLOEXEC);
	struct __kernel_sockaddr_storage address;
	struct end client, server;
	int other;

	ASSERT_LE(0, session);
	ASSERT_EQ(0, listener_open(session, BOOT_ADDRESS, 0, 0, &other, &address));
	end_init(&server, session);
	ASSERT_EQ(0, end_rings_create(&server));
	close(session);
	ASSERT_EQ(0, end_ask(&client, self->session, &address, &self->with_queue));
	ASSERT_EQ(0, listener_next(other, deadline_in(PATIENCE_MS), &server.conn, &server.id));
	close(other);
	ASSERT_EQ(0, conn_query(server.conn, NULL, 0, &query));
	EXPECT_EQ(KRDMA_CONN_REQUESTED, query.state);
	EXPECT_EQ(server.id, query.id);
	EXPECT_TRUE(address_same(&address, &query.local));
	ASSERT_EQ(0, end_create_qp(&server, &(struct end_options) { .ring = &server.own[0] }));
	ASSERT_EQ(0, end_accept(&server, NULL));
	EXPECT_EQ(0, WAIT(&client));
	EXPECT_EQ(0, WAIT(&server));
	end_close(&client);
	end_close(&server);
}

#define CLIENTS	12

struct taker {
	int listener;
	uint32_t ids[CLIENTS];
	int fds[CLIENTS];
	unsigned int count;
	int error;
	atomic_uint *total;
	uint64_t end;
};

static void *take_requests(void *argument)
{
	struct taker *taker = argument;

	while (taker->count < CLIENTS && *taker->total < CLIENTS) {
		int ret = listener_next(taker->listener, deadline_in(100),
					&taker->fds[taker->count], &taker->ids[taker->count]);

		if (ret == -ETIMEDOUT && now_ms() < taker->end)
			continue;
		if (ret) {
			taker->error = ret;
			break;
		}
		taker->count++;
		(*taker->total)++;
	}
	return NULL;
}

/* Proves: A3 */
TEST_F(listener, each_request_goes_to_one_of_many_who_wait)
{
	struct taker takers[3] = {};
	struct end clients[CLIENTS];
	uint32_t ids[CLIENTS];
	unsigned int total = 0;
	atomic_uint taken = 0;
	pthread_t threads[3];
	int fd;

	for (int i = 0; i < 3; i++) {
		takers[i].listener = self->fd;
		takers[i].total = &taken;
		takers[i].end = now_ms() + PATIENCE_MS;
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, take_requests, &takers[i]));
	}
	for (int i = 0; i < CLIENTS; i++)
		ASSERT_EQ(0, ASK(&clients[i]));
	for (int i = 0; i < 3; i++) {
		pthread_join(threads[i], NULL);
		EXPECT_EQ(0, takers[i].error);
		for (unsigned int j = 0; j < takers[i].count; j++) {
			for (unsigned int k = 0; k < total; k++)
				EXPECT_NE(ids[k], takers[i].ids[j]);
			ASSERT_LT(total, CLIENTS);
			ids[total++] = takers[i].ids[j];
			close(takers[i].fds[j]);
		}
	}
	EXPECT_EQ(CLIENTS, total);
	EXPECT_EQ(-EAGAIN, listener_next(self->fd, 0, &fd, NULL));
	for (int i = 0; i < CLIENTS; i++) {
		EXPECT_EQ(-ECONNREFUSED, WAIT(&clients[i]));
		end_close(&clients[i]);
	}
}

/* Proves: F2 */
TEST_F(listener, everything_is_close_on_exec)
{
	struct end client;
	int taken;

	ASSERT_EQ(0, ASK(&client));
	ASSERT_EQ(0, listener_next(self->fd, deadline_in(PATIENCE_MS), &taken, NULL));
	EXPECT_EQ(FD_CLOEXEC, fcntl(self->fd, F_GETFD));
	EXPECT_EQ(FD_CLOEXEC, fcntl(taken, F_GETFD));
	EXPECT_EQ(FD_CLOEXEC, fcntl(client.conn, F_GETFD));
	EXPECT_EQ(FD_CLOEXEC, fcntl(self->ring.fd, F_GETFD));
	close(taken);
	end_close(&client);
}

/*
 * Clients that give up
 *
 * Where the listener must get the event, clients give up one after the other: if two give up at
 * the same time, the connection manager can miss one (see reliability.rst), and that request
 * then waits until it is taken.
 */

#define BACKLOG		2
/* One more than the backlog, to see that it is full. */
#define ASKERS		(BACKLOG + 1)
#define ROUNDS		4
#define PRESENT_MS	2000

/*
 * Takes requests until @client is connected.  An earlier one can be that of a client that has given
 * up without the connection manager noticing.
 */
static int serve_until_connected(FIXTURE_DATA(listener) * self, int listener, struct end *client)
{
	struct end server;
	int ret;

	do {
		end_init(&server, self->session);
		ret = listener_next(listener, deadline_in(PRESENT_MS), &server.conn, &server.id);
		if (ret)
			return ret;
		ret = end_create_qp(&server, &self->with_queue);
		if (!ret)
			ret = end_accept(&server, NULL);
		if (!ret)
			ret = conn_wait(server.conn, deadline_in(PRESENT_MS), NULL);
		if (!ret)
			ret = conn_wait(client->conn, deadline_in(PRESENT_MS), NULL);
		end_close(&server);
	} while (ret && conn_state(client->conn) == KRDMA_CONN_CONNECTING);
	return ret;
}

/* A client that does not give up gets connected, whatever earlier clients have left behind. */
static int connect_honestly(FIXTURE_DATA(listener) * self, int listener)
{
	const uint64_t end = now_ms() + PATIENCE_MS;
	struct end client;
	int ret;

	do {
		ret = ASK(&client);
		if (!ret)
			ret = serve_until_connected(self, listener, &client);
		end_close(&client);
	} while (ret && now_ms() < end);
	return ret;
}

static void count_askers(const struct end *clients, int *refused, int *waiting)
{
	*refused = 0;
	*waiting = 0;
	for (int i = 0; i < ASKERS; i++) {
		int ret = conn_wait(clients[i].conn, 0, NULL);

		*refused += ret == -ECONNREFUSED;
		*waiting += ret == -EINPROGRESS;
	}
}

/* On return of 0 the backlog is full, with exactly as many requests as it has places. */
static int fill_backlog(FIXTURE_DATA(listener) * self, struct end *clients)
{
	const uint64_t end = now_ms() + PATIENCE_MS;
	int refused = 0, waiting = 0;

	for (int i = 0; i < ASKERS; i++) {
		int ret = ASK(&clients[i]);

		if (ret)
			return ret;
	}
	while (refused < ASKERS - BACKLOG && now_ms() < end) {
		count_askers(clients, &refused, &waiting);
		sleep_ms(1);
	}
	return refused == ASKERS - BACKLOG && waiting == BACKLOG ? 0 : -ENOSPC;
}

/* @conns counts both ends of each client that was not refused. */
static int give_up(struct end *clients, long conns)
{
	int waiting = BACKLOG;
	int ret = 0;

	for (int i = 0; i < ASKERS; i++)
		if (conn_state(clients[i].conn) != KRDMA_CONN_CONNECTING)
			end_close(&clients[i]);
	for (int i = 0; i < ASKERS && !ret; i++) {
		if (clients[i].conn < 0)
			continue;
		end_close(&clients[i]);
		ret = objects_await_kind("conn", conns + 2 * --waiting, PATIENCE_MS);
	}
	return ret;
}

/* Abandoned requests leave the backlog even if the program does not take them. */
TEST_F(listener, more_give_up_than_the_backlog_holds)
{
	struct end clients[ASKERS];
	struct objects objects;
	int other;

	ASSERT_EQ(0, objects_read(&objects));
	ASSERT_EQ(0, listener_open(self->session, BOOT_ADDRESS, 0, BACKLOG, &other,
				   &self->address));
	for (int round = 0; round < ROUNDS; round++) {
		ASSERT_EQ(0, fill_backlog(self, clients)) {
			TH_LOG("round %d", round);
		}
		ASSERT_EQ(0, give_up(clients, objects_count(&objects, "conn")));
	}
	EXPECT_EQ(0, connect_honestly(self, other));
	close(other);
}

/* The same with clients that are killed. */
struct asker {
	struct __kernel_sockaddr_storage address;
	int ready;
};

static int ask_until_killed(void *context)
{
	const struct asker *asker = context;
	struct end clients[ASKERS];
	int session = session_open(O_CLOEXEC);

	if (session < 0)
		return 1;
	for (int i = 0; i < ASKERS; i++)
		if (end_ask(&clients[i], session, &asker->address, NULL))
			return 1;
	if (write(asker->ready, "r", 1) != 1)
		return 1;
	while (pause())
		;
	return 0;
}

TEST_F(listener, more_are_killed_than_the_backlog_holds)
{
	struct asker asker;
	int other, ready[2];
	char word;

	ASSERT_EQ(0, listener_open(self->session, BOOT_ADDRESS, 0, BACKLOG, &other,
				   &self->address));
	asker.address = self->address;
	ASSERT_EQ(0, pipe(ready));
	asker.ready = ready[1];
	for (int round = 0; round < ROUNDS; round++) {
		pid_t pid = child_start(ask_until_killed, &asker);

		ASSERT_LT(0, pid);
		EXPECT_EQ(1, read(ready[0], &word, 1));
		EXPECT_LE(0, child_kill(pid));
	}
	EXPECT_EQ(0, connect_honestly(self, other));
	close(ready[0]);
	close(ready[1]);
	close(other);
}

/* Requests that were taken belong to the program until it closes them. */
TEST_F(listener, more_give_up_once_taken_than_the_backlog_holds)
{
	struct end clients[BACKLOG];
	int other, taken[BACKLOG];

	ASSERT_EQ(0, listener_open(self->session, BOOT_ADDRESS, 0, BACKLOG, &other,
				   &self->address));
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < BACKLOG; i++) {
			ASSERT_EQ(0, ASK(&clients[i]));
			ASSERT_EQ(0, listener_next(other, deadline_in(PATIENCE_MS), &taken[i],
						   NULL));
		}
		for (int i = 0; i < BACKLOG; i++) {
			end_close(&clients[i]);
			EXPECT_EQ(0, conn_await_closed(taken[i], PATIENCE_MS));
			close(taken[i]);
		}
	}
	EXPECT_EQ(0, connect_honestly(self, other));
	close(other);
}

/* Clients give up while they are accepted, and soon after. */
TEST_F(listener, more_give_up_while_they_are_accepted_than_the_backlog_holds)
{
	struct end client, server;
	int other;

	ASSERT_EQ(0, listener_open(self->session, BOOT_ADDRESS, 0, BACKLOG, &other,
				   &self->address));
	for (int round = 0; round < ROUNDS * BACKLOG; round++) {
		ASSERT_EQ(0, ASK(&client));
		end_init(&server, self->session);
		ASSERT_EQ(0, listener_next(other, deadline_in(PATIENCE_MS), &server.conn,
					   &server.id));
		ASSERT_EQ(0, end_create_qp(&server, &self->with_queue));
		if (round % 2)
			end_close(&client);
		/* May fail, if the server already knows that the client gave up. */
		end_accept(&server, NULL);
		end_close(&client);
		EXPECT_EQ(0, conn_await_closed(server.conn, PATIENCE_MS));
		end_close(&server);
	}
	EXPECT_EQ(0, connect_honestly(self, other));
	close(other);
}

/* A connection reserves the CQ entries for its depths until it has ended. */
TEST_F(listener, peers_that_have_filled_a_queue_leave_it_empty)
{
	struct ring_options small = { .cq_entries = 128 };
	struct end clients[8], servers[8];
	struct end_options options = { .send_depth = 16, .recv_depth = 16 };
	int most = 0;

	ring_close(&self->ring);
	ASSERT_EQ(0, ring_create(self->session, &small, &self->ring));
	options.ring = &self->ring;
	self->with_queue = (struct end_options) {};
	for (int round = 0; round < ROUNDS; round++) {
		int count = 0, ret = 0;

		while (!ret && count < 8) {
			ASSERT_EQ(0, ASK(&clients[count]));
			end_init(&servers[count], self->session);
			ASSERT_EQ(0, listener_next(self->fd, deadline_in(PATIENCE_MS),
						   &servers[count].conn, &servers[count].id));
			ret = end_create_qp(&servers[count], &options);
			if (!ret) {
				ASSERT_EQ(0, end_accept(&servers[count], NULL));
				ASSERT_EQ(0, WAIT(&servers[count]));
			}
			count++;
		}
		EXPECT_EQ(-ENOSPC, ret);
		if (!round)
			most = count;
		EXPECT_LT(1, count);
		EXPECT_EQ(most, count);
		for (int i = 0; i < count; i++)
			end_close(&clients[i]);
		for (int i = 0; i < count; i++) {
			EXPECT_EQ(0, conn_await_closed(servers[i].conn, PATIENCE_MS));
			end_close(&servers[i]);
		}
	}
}

TEST_HARNESS_MAIN
