// SPDX-License-Identifier: GPL-2.0
/*
 * Ports: each listener and each outgoing connection holds one.  A user can hold a limited
 * number, so that free ports remain for others.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "kselftest_harness.h"
#include "child.h"
#include "pair.h"
#include "resources.h"
#include "session.h"

#define MAX_PORTS	"/sys/module/krdma/parameters/max_ports"
#define DEFAULT		4096
/* More than the number of ephemeral ports. */
#define MANY		32768
/* A user ID for each line: objects of another test's user may end in the background. */
#define LINE_USER	(40000 + __LINE__)

FIXTURE(ports)
{
	struct resources before;
	char saved[32];
	mode_t mode;
};

FIXTURE_SETUP(ports)
{
	struct stat status;

	ASSERT_EQ(0, resources_read(&self->before));
	if (read_line(self->saved, sizeof(self->saved), MAX_PORTS))
		self->saved[0] = 0;
	ASSERT_EQ(0, stat(SESSION_PATH, &status));
	self->mode = status.st_mode;
	ASSERT_EQ(0, chmod(SESSION_PATH, 0666));
}

FIXTURE_TEARDOWN(ports)
{
	EXPECT_EQ(0, chmod(SESSION_PATH, self->mode & 07777));
	EXPECT_EQ(0, write_text(MAX_PORTS, self->saved));
	EXPECT_EQ(0, resources_await(&self->before, PATIENCE_MS));
}

static int listen_once(int session)
{
	int fd, ret = listener_open(session, BOOT_ADDRESS, 0, 0, &fd, NULL);

	return ret ? ret : fd;
}

/* Create a connection and resolve it.  Returns its file descriptor, or -errno. */
static int resolve_once(int session, const struct __kernel_sockaddr_storage *address)
{
	int fd, ret;

	ret = conn_create(session, &fd, NULL);
	if (ret)
		return ret;
	ret = conn_resolve(fd, address);
	if (!ret)
		ret = conn_wait(fd, deadline_in(PATIENCE_MS), NULL);
	if (!ret)
		return fd;
	close(fd);
	return ret;
}

/* Retry: a closed object holds its port until the connection manager has released it. */
static int resolve_soon(int session, const struct __kernel_sockaddr_storage *address)
{
	uint64_t deadline = now_ms() + PATIENCE_MS;
	int fd;

	while ((fd = resolve_once(session, address)) == -EDQUOT && now_ms() < deadline)
		sleep_ms(1);
	return fd;
}

/* Six ports: three of listeners, three of connections. */
static int some_ports(void *context)
{
	struct __kernel_sockaddr_storage address;
	struct krdma_device_find_args find = {
		.size = sizeof(find), .flags = KRDMA_DEVICE_FIND_LOCAL,
	};
	int session, listeners[3], conns[3], idle, fd;

	(void)context;
	session = session_open(O_CLOEXEC);
	CHECK(session >= 0);
	CHECK(!address_set(&address, BOOT_ADDRESS, 7500));
	find.local = address;
	/* A new connection holds no port. */
	CHECK(!conn_create(session, &idle, NULL));
	for (int i = 0; i < 3; i++) {
		listeners[i] = listen_once(session);
		CHECK(listeners[i] >= 0);
		conns[i] = resolve_once(session, &address);
		CHECK(conns[i] >= 0);
	}
	CHECK(listen_once(session) == -EDQUOT);
	/* A refused call leaves the state unchanged; the search for a device needs a port, too. */
	CHECK(conn_resolve(idle, &address) == -EDQUOT);
	CHECK(conn_state(idle) == KRDMA_CONN_NEW);
	CHECK(session_request(session, KRDMA_DEVICE_FIND, &find) == -EDQUOT);
	/* A connection that already holds its port gets the error of its state. */
	CHECK(conn_resolve(conns[0], &address) == -EALREADY);
	/* The limit also applies in another session. */
	fd = session_open(O_CLOEXEC);
	CHECK(fd >= 0 && listen_once(fd) == -EDQUOT);

	/* A released port can be used for either kind, but only one. */
	close(listeners[0]);
	CHECK(!session_request(session, KRDMA_DEVICE_FIND, &find));
	CHECK(!conn_resolve(idle, &address));
	CHECK(!conn_wait(idle, deadline_in(PATIENCE_MS), NULL));
	CHECK(listen_once(session) == -EDQUOT);
	for (int i = 0; i < 3; i++) {
		close(conns[i]);
		conns[i] = resolve_soon(session, &address);
		CHECK(conns[i] >= 0);
		CHECK(listen_once(session) == -EDQUOT);
	}
	/* A closed connection holds no port, although its file descriptor is open. */
	CHECK(!conn_disconnect(conns[0], KRDMA_DISCONNECT_ABORT));
	CHECK(!conn_await_closed(conns[0], PATIENCE_MS));
	CHECK(listen_once(session) >= 0);
	CHECK(listen_once(session) == -EDQUOT);
	return 0;
}

/* Proves: F6 */
TEST_F(ports, listeners_and_outgoing_connections_count)
{
	ASSERT_EQ(0, write_text(MAX_PORTS, "6"));
	EXPECT_EQ(0, child_run_as(LINE_USER, some_ports, NULL));
}

/* A failed call holds no port. */
static int failures(void *context)
{
	struct __kernel_sockaddr_storage nowhere;
	int session = session_open(O_CLOEXEC);
	int fd;

	(void)context;
	CHECK(session >= 0);
	CHECK(!address_set(&nowhere, "0.0.0.0", 7500));
	for (int i = 0; i < 100; i++) {
		CHECK(listener_open(session, "192.0.2.1", 0, 0, &fd, NULL) == -EADDRNOTAVAIL);
		CHECK(!conn_create(session, &fd, NULL));
		CHECK(conn_resolve(fd, &nowhere) == -EINVAL);
		close(fd);
	}
	CHECK(listen_once(session) >= 0);
	return 0;
}

TEST_F(ports, what_fails_is_given_back)
{
	ASSERT_EQ(0, write_text(MAX_PORTS, "1"));
	EXPECT_EQ(0, child_run_as(LINE_USER, failures, NULL));
}

/* Resolves from a port that the program has chosen.  Returns the errno, or -ENODATA. */
static int resolve_from(int conn, uint16_t port)
{
	struct krdma_conn_resolve_args args = {
		.size = sizeof(args), .flags = KRDMA_RESOLVE_LOCAL,
	};

	if (address_set(&args.local, BOOT_ADDRESS, port) ||
	    address_set(&args.remote, BOOT_ADDRESS, 7500))
		return -ENODATA;
	return session_request(conn, KRDMA_CONN_RESOLVE, &args);
}

/* The call fails, and so does each one that waits for its result. */
static int refused_from(int session, uint16_t port, int error)
{
	struct krdma_conn_query_args query;
	int fd;

	CHECK(!conn_create(session, &fd, NULL));
	CHECK(resolve_from(fd, port) == error);
	CHECK(conn_wait(fd, deadline_in(PATIENCE_MS), NULL) == error);
	CHECK(!conn_await_closed(fd, PATIENCE_MS));
	CHECK(!conn_query(fd, NULL, 0, &query) && query.error == error);
	close(fd);
	return 0;
}

#define CHOSEN_PORT	7800
#define ANY_PORT	7801
#define PRIVILEGED_PORT	199

static int chosen_ports(void *context)
{
	int session = session_open(O_CLOEXEC);
	int first, fd;

	(void)context;
	CHECK(session >= 0);
	for (int i = 0; i < 10; i++)
		CHECK(!refused_from(session, PRIVILEGED_PORT, -EACCES));
	CHECK(!conn_create(session, &first, NULL));
	CHECK(!resolve_from(first, CHOSEN_PORT));
	CHECK(!conn_wait(first, deadline_in(PATIENCE_MS), NULL));
	for (int i = 0; i < 10; i++)
		CHECK(!refused_from(session, CHOSEN_PORT, -EADDRINUSE));
	CHECK(listener_open(session, BOOT_ADDRESS, CHOSEN_PORT, 0, &fd, NULL) == -EADDRINUSE);
	close(first);
	CHECK(!listener_open(session, "0.0.0.0", ANY_PORT, 0, &first, NULL));
	for (int i = 0; i < 10; i++)
		CHECK(!refused_from(session, ANY_PORT, -EADDRNOTAVAIL));
	/* One was left, and what failed has not kept it. */
	CHECK(listen_once(session) >= 0);
	return 0;
}

TEST_F(ports, a_port_that_is_privileged_or_used_is_refused)
{
	ASSERT_EQ(0, write_text(MAX_PORTS, "3"));
	EXPECT_EQ(0, child_run_as(LINE_USER, chosen_ports, NULL));
}

/* A server holds one port, of its listener, for all connections that it accepts. */
#define ACCEPTED	4

static int accept_some(void *context)
{
	const struct pair *pair = context;
	struct end servers[ACCEPTED];
	int fd;

	for (int i = 0; i < ACCEPTED; i++) {
		end_init(&servers[i], pair->sessions[1]);
		CHECK(!listener_next(pair->listener, deadline_in(PATIENCE_MS), &fd,
				     &servers[i].id));
		servers[i].conn = fd;
		CHECK(!end_create_qp(&servers[i], NULL));
		CHECK(!end_accept(&servers[i], NULL));
		CHECK(!conn_wait(fd, deadline_in(PATIENCE_MS), NULL));
	}
	return 0;
}

struct serving {
	struct pair pair;
	int connected[2];
};

static int serve_some(void *context)
{
	struct serving *serving = context;
	struct pair *pair = &serving->pair;
	char word;

	/* One session of this user, with the listener; its clients are root's. */
	CHECK((pair->sessions[1] = session_open(O_CLOEXEC)) >= 0);
	CHECK(!listener_open(pair->sessions[1], BOOT_ADDRESS, 7501, 0, &pair->listener, NULL));
	CHECK(listen_once(pair->sessions[1]) == -EDQUOT);
	CHECK(!accept_some(pair));
	CHECK(listen_once(pair->sessions[1]) == -EDQUOT);
	/* A client that has not noticed yet that it is connected must not find that it was. */
	CHECK(!read(serving->connected[0], &word, 1));
	return 0;
}

TEST_F(ports, connections_that_are_accepted_hold_none)
{
	struct __kernel_sockaddr_storage address;
	struct end clients[ACCEPTED];
	int session = session_open(O_CLOEXEC);
	struct serving serving = {};
	pid_t child;

	ASSERT_LE(0, session);
	ASSERT_EQ(0, address_set(&address, BOOT_ADDRESS, 7501));
	ASSERT_EQ(0, write_text(MAX_PORTS, "1"));
	ASSERT_EQ(0, pipe(serving.connected));
	child = fork();
	ASSERT_LE(0, child);
	if (!child) {
		close(serving.connected[1]);
		_exit(!!child_run_as(LINE_USER, serve_some, &serving));
	}
	close(serving.connected[0]);
	for (int i = 0; i < ACCEPTED; i++) {
		uint64_t deadline = now_ms() + PATIENCE_MS;
		int ret;

		/* Retry until the listener exists. */
		do {
			ret = end_ask(&clients[i], session, &address, NULL);
			if (!ret)
				ret = conn_wait(clients[i].conn, deadline_in(PATIENCE_MS), NULL);
			if (ret)
				end_close(&clients[i]);
		} while (ret && now_ms() < deadline);
		EXPECT_EQ(0, ret);
	}
	close(serving.connected[1]);
	/* A server that waits for a connection must not find it closed already. */
	int status = -1;

	EXPECT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(0, status);
	for (int i = 0; i < ACCEPTED; i++)
		end_close(&clients[i]);
	close(session);
}

/*
 * With the default limits one user takes all ports that it can get, and another still finds one.
 */

struct taker {
	int ready[2];
	int count;
	int error;
};

static int take_all(void *context)
{
	const struct rlimit files = { MANY + 64, MANY + 64 };
	struct taker *taker = context;
	int session;

	CHECK(!setrlimit(RLIMIT_NOFILE, &files));
	CHECK(!child_become(LINE_USER));
	session = session_open(O_CLOEXEC);
	CHECK(session >= 0);
	while (taker->count < MANY) {
		taker->error = listen_once(session);
		if (taker->error < 0)
			break;
		taker->count++;
	}
	CHECK(write(taker->ready[1], "", 1) == 1);
	/* Until it is killed. */
	return pause();
}

static int one_pair(void *context)
{
	unsigned long long *us = context;
	struct timespec begin, end;
	struct pair pair;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	CHECK(!pair_open(&pair, NULL));
	clock_gettime(CLOCK_MONOTONIC, &end);
	pair_close(&pair);
	*us = (end.tv_sec - begin.tv_sec) * 1000000ULL + end.tv_nsec / 1000 - begin.tv_nsec / 1000;
	return 0;
}

/* Proves: F6 */
TEST_F_TIMEOUT(ports, a_user_with_all_that_it_may_have_leaves_some, 120)
{
	struct taker *taker = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
				   -1, 0);
	unsigned long long *us;
	pid_t child;
	char word;

	ASSERT_NE(MAP_FAILED, taker);
	us = (unsigned long long *)(taker + 1);
	EXPECT_EQ(DEFAULT, atoi(self->saved));
	ASSERT_EQ(0, pipe(taker->ready));
	EXPECT_EQ(0, child_run_as(OTHER_USER, one_pair, &us[0]));
	child = child_start(take_all, taker);
	ASSERT_LT(0, child);
	close(taker->ready[1]);
	ASSERT_EQ(1, read(taker->ready[0], &word, 1));
	printf("# one user has %d ports, then %s\n", taker->count, strerror(-taker->error));
	EXPECT_EQ(DEFAULT, taker->count);
	EXPECT_EQ(-EDQUOT, taker->error);
	EXPECT_EQ(0, child_run_as(OTHER_USER, one_pair, &us[1]));
	EXPECT_LE(0, child_kill(child));
	EXPECT_EQ(0, child_run_as(OTHER_USER, one_pair, &us[2]));
	printf("# another user connects in %llu us before, %llu us meanwhile, %llu us afterwards\n",
	       us[0], us[1], us[2]);
	close(taker->ready[0]);
	munmap(taker, 4096);
}

TEST_HARNESS_MAIN
