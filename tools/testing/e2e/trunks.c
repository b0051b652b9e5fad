// SPDX-License-Identifier: GPL-2.0
/*
 * Trunks: how they end, who may make how many, and programs that speak to their port themselves.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "child.h"
#include "fabric.h"
#include "lane_pair.h"
#include "net_link.h"
#include "objects.h"
#include "rdma_link.h"
#include "session.h"

FIXTURE(trunks)
{
	struct pair pair;
	struct mr a;
	struct mr b;
};

FIXTURE_SETUP(trunks)
{
	ASSERT_EQ(0, pair_open(&self->pair, &lane_options));
	ASSERT_NE(0, trunk_of(self->pair.a.conn));
	ASSERT_NE(0, trunk_of(self->pair.b.conn));
	ASSERT_EQ(0, lane_memory(&self->pair, 0, LENGTH, &self->a));
	ASSERT_EQ(0, lane_memory(&self->pair, 1, LENGTH, &self->b));
}

FIXTURE_TEARDOWN(trunks)
{
	mr_destroy(&self->a);
	mr_destroy(&self->b);
	pair_close(&self->pair);
}

/*
 * The port
 */

#define TRUNK_PORT	1019

static int listen_for_lanes(int session, const char *text, uint32_t flags, int *fd)
{
	struct krdma_listen_args listen = {
		.size = sizeof(listen), .flags = flags | KRDMA_LISTEN_LANES,
	};
	int ret = address_set(&listen.address, text, 0);

	if (!ret)
		ret = session_request(session, KRDMA_LISTEN, &listen);
	*fd = ret ? -1 : listen.fd;
	return ret;
}

/*
 * Resolves a connection to the port of @listener that may be a lane: 1 if it became one, 0 if it is
 * a plain connection, or -errno.
 */
static int lane_to(int session, const char *text, int listener)
{
	struct krdma_listener_query_args query = { .size = sizeof(query) };
	struct __kernel_sockaddr_storage address;
	uint64_t trunk;
	int fd, ret;

	ret = session_request(listener, KRDMA_LISTENER_QUERY, &query);
	if (!ret)
		ret = address_set(&address, text, address_port(&query.address));
	if (!ret)
		ret = conn_create_with(session, KRDMA_CONN_CREATE_LANE, &fd, NULL);
	if (ret)
		return ret;
	ret = conn_resolve(fd, &address);
	if (!ret)
		ret = conn_wait(fd, deadline_in(PATIENCE_MS), NULL);
	trunk = trunk_of(fd);
	close(fd);
	return ret ? ret : trunk && trunk != UINT64_MAX;
}

/* A listener gets lanes at all of its addresses, or says that it does not. */
TEST(the_port_of_trunks_is_taken)
{
	int session = session_open(O_CLOEXEC), other, lanes, more;

	ASSERT_LE(0, session);
	ASSERT_EQ(0, listener_open(session, BOOT_ADDRESS, TRUNK_PORT, 0, &other, NULL));
	EXPECT_EQ(-EADDRINUSE, listen_for_lanes(session, BOOT_ADDRESS, 0, &lanes));
	EXPECT_EQ(-EADDRINUSE, listen_for_lanes(session, "0.0.0.0", 0, &lanes));
	EXPECT_EQ(-EADDRINUSE, listen_for_lanes(session, "::", 0, &lanes));
	ASSERT_EQ(0, listen_for_lanes(session, "::", KRDMA_LISTEN_V6ONLY, &lanes));
	/* Nor beside one that has the port's other half. */
	EXPECT_EQ(-EADDRINUSE, listen_for_lanes(session, BOOT_ADDRESS, 0, &more));
	/* Until that half is free: then lanes get there at once. */
	EXPECT_EQ(0, lane_to(session, BOOT_ADDRESS, lanes));
	close(other);
	ASSERT_EQ(0, listen_for_lanes(session, BOOT_ADDRESS, 0, &more));
	EXPECT_EQ(1, lane_to(session, BOOT_ADDRESS, more));
	close(more);
	close(lanes);
	ASSERT_EQ(0, listener_open(session, BOOT_ADDRESS, TRUNK_PORT, 0, &other, NULL));
	ASSERT_EQ(0, listen_for_lanes(session, BOOT_ADDRESS_6, 0, &lanes));
	close(lanes);
	close(other);
	ASSERT_EQ(0, listen_for_lanes(session, BOOT_ADDRESS, 0, &lanes));
	close(lanes);
	close(session);
}

/*
 * Ends
 */

/* An idle trunk ends, and the next lane makes another one. */
/* Proves: F14 */
TEST_F(trunks, a_trunk_without_lanes_ends)
{
	uint64_t trunk = trunk_of(self->pair.a.conn);
	struct pair other;

	end_close(&self->pair.a);
	end_close(&self->pair.b);
	EXPECT_EQ(0, objects_await_kind("trunk", 0, 3 * PATIENCE_MS));
	ASSERT_EQ(0, pair_open(&other, &lane_options));
	EXPECT_NE(0, trunk_of(other.a.conn));
	EXPECT_NE(trunk, trunk_of(other.a.conn));
	pair_close(&other);
}

/* Proves: F14 */
TEST(the_device_of_lanes_is_removed)
{
	struct pair_options options = lane_options;
	struct krdma_sqe entry;
	struct krdma_cqe cqe;
	struct pair pair;

	ASSERT_EQ(0, fabric_create());
	options.address = FABRIC_ADDRESS;
	ASSERT_EQ(0, pair_open(&pair, &options));
	ASSERT_NE(0, trunk_of(pair.a.conn));
	entry = sqe_receive(pair.a.id, 1, NULL, 0, 0);
	ASSERT_EQ(0, ring_submit(pair.a.ring, &entry, 1, NULL));
	ASSERT_EQ(0, rdma_link_remove(FABRIC_DEVICE));
	EXPECT_EQ(0, conn_await_closed(pair.a.conn, PATIENCE_MS));
	EXPECT_EQ(0, conn_await_closed(pair.b.conn, PATIENCE_MS));
	EXPECT_EQ(-ENODEV, conn_wait(pair.a.conn, 0, NULL));
	ASSERT_EQ(0, ring_wait(pair.a.ring, &cqe, PATIENCE_MS));
	EXPECT_EQ(KRDMA_WC_WR_FLUSH_ERR, cqe.status);
	EXPECT_EQ(-ENODEV, ring_submit(pair.a.ring, &entry, 1, NULL));
	pair_close(&pair);
	fabric_destroy();
}

/* A listener whose device was removed does not take the lanes of another one with its port. */
/* Proves: F14 */
TEST(a_listener_without_its_device_takes_no_lanes)
{
	uint64_t deadline = now_ms() + PATIENCE_MS;
	struct pair_options options = lane_options;
	struct pair old, pair;
	int ret;

	ASSERT_EQ(0, fabric_create());
	options.address = FABRIC_ADDRESS;
	ASSERT_EQ(0, pair_open(&old, &options));
	ASSERT_EQ(0, rdma_link_remove(FABRIC_DEVICE));
	EXPECT_EQ(0, conn_await_closed(old.a.conn, PATIENCE_MS));
	EXPECT_EQ(0, conn_await_closed(old.b.conn, PATIENCE_MS));
	ASSERT_EQ(0, rdma_link_add(FABRIC_DEVICE, FABRIC_NETDEV));
	ASSERT_EQ(0, session_await(old.sessions[0], FABRIC_DEVICE, true));

	options.no_listener = true;
	ASSERT_EQ(0, pair_begin(&pair, &options));
	/* The port is given back by another context. */
	for (;;) {
		ret = listener_open_with(pair.sessions[1], FABRIC_ADDRESS,
					 address_port(&old.address), 0, options.listen_flags,
					 &pair.listener, &pair.address);
		if (ret != -EADDRINUSE || now_ms() > deadline)
			break;
		sleep_ms(10);
	}
	ASSERT_EQ(0, ret);
	ASSERT_EQ(0, pair_resolve(&pair));
	EXPECT_NE(0, trunk_of(pair.a.conn));
	EXPECT_EQ(0, pair_meet(&pair, &options));
	pair_close(&pair);
	pair_close(&old);
	fabric_destroy();
}

/*
 * Programs that speak to the port of trunks themselves
 */

/* Trunks that one peer can have. */
#define PEER_TRUNKS	16

static const unsigned char greeting[24] = { 'K', 'R', 'L', 'N', 1, 1, 0, 0, 0, 16, 16 };

/* Connects to the port of trunks; 0, or the errno of the wait. */
static int ask_for_trunk(int session, const void *data, uint32_t length, struct end *end)
{
	struct end_options options = {
		.param.private_data = (uintptr_t)data,
		.param.private_data_len = length,
	};
	struct __kernel_sockaddr_storage address;
	int ret;

	address_set(&address, BOOT_ADDRESS, TRUNK_PORT);
	ret = end_ask(end, session, &address, &options);
	return ret ? ret : conn_wait(end->conn, deadline_in(PATIENCE_MS), NULL);
}

/* One peer holds a bounded number of trunks, and others still get one. */
/* Proves: F14 */
TEST_F(trunks, a_peer_has_a_bounded_number_of_trunks)
{
	struct end ends[PEER_TRUNKS + 2];
	int session = self->pair.sessions[0];
	int trunks = 0;
	int ret;

	for (int i = 0; i < PEER_TRUNKS + 2; i++) {
		ret = ask_for_trunk(session, greeting, sizeof(greeting), &ends[i]);
		EXPECT_TRUE(!ret || ret == -ECONNREFUSED);
		trunks += !ret;
	}
	/* One is that of the lane of the test. */
	EXPECT_EQ(PEER_TRUNKS - 1, trunks);
	EXPECT_EQ(0, message(&self->pair.a, &self->a, &self->pair.b, &self->b, 0, 100));
	for (int i = 0; i < PEER_TRUNKS + 2; i++)
		end_close(&ends[i]);
}

/* Greetings and frames that are none end the program's own connection, and nothing else. */
/* Proves: F14 */
TEST_F(trunks, what_is_no_trunk_ends)
{
	struct krdma_sqe entry;
	struct end end;
	struct mr mr;
	int ret;

	ret = ask_for_trunk(self->pair.sessions[0], NULL, 0, &end);
	EXPECT_EQ(-ECONNREFUSED, ret);
	end_close(&end);
	ret = ask_for_trunk(self->pair.sessions[0], greeting, 23, &end);
	EXPECT_EQ(-ECONNREFUSED, ret);
	end_close(&end);

	ASSERT_EQ(0, mr_create(self->pair.sessions[0], self->pair.device, LENGTH, 0, &mr));
	fill(mr.data, LENGTH, 5);
	for (uint32_t length = 0; length <= 4096; length += 512) {
		ASSERT_EQ(0, ask_for_trunk(self->pair.sessions[0], greeting, sizeof(greeting),
					   &end));
		entry = sqe_send(end.id, 1, &mr, 0, length);
		ASSERT_EQ(0, ring_submit(end.ring, &entry, 1, NULL));
		EXPECT_EQ(0, conn_await_closed(end.conn, PATIENCE_MS));
		end_close(&end);
	}
	/* The address of another session's listener can be used as before. */
	EXPECT_EQ(0, message(&self->pair.a, &self->a, &self->pair.b, &self->b, 0, 100));
	mr_destroy(&mr);
}

/*
 * Limits
 */

/* Trunks that connections of one user can have made at a time. */
#define USER_TRUNKS	128

/* Opens lanes to as many addresses of this host, one after the other, and counts them. */
static int open_trunks(void *context)
{
	const uint16_t *port = context;
	static struct end ends[USER_TRUNKS + 4];
	struct __kernel_sockaddr_storage address;
	int session = session_open(O_CLOEXEC);
	int lanes = 0;
	char text[32];

	CHECK(session >= 0);
	for (int i = 0; i < USER_TRUNKS + 4; i++) {
		snprintf(text, sizeof(text), "10.79.1.%d", 1 + i);
		CHECK(!address_set(&address, text, *port));
		end_init(&ends[i], session);
		CHECK(!conn_create_with(session, KRDMA_CONN_CREATE_LANE, &ends[i].conn,
					&ends[i].id));
		CHECK(!conn_resolve(ends[i].conn, &address));
		CHECK(!conn_wait(ends[i].conn, deadline_in(PATIENCE_MS), NULL));
		lanes += trunk_of(ends[i].conn) != 0;
	}
	CHECK(lanes == USER_TRUNKS);
	/* Another lane to a host that it has a trunk to is none more. */
	CHECK(!address_set(&address, "10.79.1.1", *port));
	CHECK(!conn_create_with(session, KRDMA_CONN_CREATE_LANE, &ends[0].conn, NULL));
	CHECK(!conn_resolve(ends[0].conn, &address));
	CHECK(!conn_wait(ends[0].conn, deadline_in(PATIENCE_MS), NULL));
	CHECK(trunk_of(ends[0].conn));
	return 0;
}

/* The device has a place for each address of its interface in a table, which can be smaller. */
static int count_gids(void)
{
	DIR *dir = opendir("/sys/class/infiniband/" FABRIC_DEVICE "/ports/1/gids");
	int count = 0;

	while (dir && readdir(dir))
		count++;
	if (dir)
		closedir(dir);
	/* Not "." and "..". */
	return count - 2;
}

/* Proves: F14 (e2e-6-1 e2e-6-12 e2e-7-2) */
TEST(a_user_makes_a_bounded_number_of_trunks)
{
	struct __kernel_sockaddr_storage address;
	int session = session_open(O_CLOEXEC);
	struct stat status;
	char name[16], text[32];
	uint16_t port;
	int listener;

	ASSERT_LE(0, session);
	ASSERT_EQ(0, fabric_create());
	if (count_gids() < USER_TRUNKS + 8) {
		fabric_destroy();
		close(session);
		SKIP(return, "the device has a place for fewer than %d addresses", USER_TRUNKS + 8);
	}
	ASSERT_EQ(0, stat(SESSION_PATH, &status));
	ASSERT_EQ(0, chmod(SESSION_PATH, 0666));
	for (int i = 0; i < USER_TRUNKS + 4; i++) {
		snprintf(name, sizeof(name), FABRIC_NETDEV ":%d", i);
		snprintf(text, sizeof(text), "10.79.1.%d", 1 + i);
		ASSERT_EQ(0, net_link_address(name, text));
	}
	ASSERT_EQ(0, listener_open_with(session, "0.0.0.0", 0, 0, KRDMA_LISTEN_LANES, &listener,
					&address));
	port = address_port(&address);
	EXPECT_EQ(0, child_run_as(SOME_USER, open_trunks, &port));
	close(listener);
	EXPECT_EQ(0, objects_await_kind("trunk", 0, 3 * PATIENCE_MS));
	chmod(SESSION_PATH, status.st_mode & 07777);
	fabric_destroy();
	close(session);
}

/*
 * A control group at its limit
 */

#define ROOT		"/tmp/krdma-trunks"
#define GROUP		ROOT "/test"
#define GROUP_BYTES	(32 << 20)
#define PAGE		4096
/*
 * What is left, and more requests than find room there, and in what the kernel has charged to the
 * group in advance: 64 pages for each processor, which count as used.
 */
#define LEFT_BYTES	(64 << 10)
#define REQUESTS	900
#define NOBODYS_PORT	9

/**
 * struct group_server - shared with the process in the group
 * @port: the port of its listener
 * @full: its group has LEFT_BYTES
 */
struct group_server {
	uint16_t port;
	atomic_bool full;
};

static int64_t group_bytes(void)
{
	char line[64];

	return read_line(line, sizeof(line), GROUP "/memory.current") ? -1 :
		strtoll(line, NULL, 10);
}

/* Listens for lanes, and has all of its group's memory. */
static int listen_in_a_group(void *context)
{
	struct group_server *server = context;
	struct __kernel_sockaddr_storage address;
	unsigned char *memory;
	int session, fd;

	CHECK(!write_text(GROUP "/cgroup.procs", "0"));
	session = session_open(O_CLOEXEC);
	CHECK(session >= 0);
	CHECK(!listener_open_with(session, BOOT_ADDRESS, 0, 2 * REQUESTS, KRDMA_LISTEN_LANES, &fd,
				  &address));
	server->port = address_port(&address);
	memory = mmap(NULL, GROUP_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		      0);
	CHECK(memory != MAP_FAILED);
	CHECK(group_bytes() >= 0);
	for (size_t i = 0; group_bytes() < GROUP_BYTES - LEFT_BYTES; i += PAGE) {
		CHECK(i < GROUP_BYTES);
		memory[i] = 1;
	}
	server->full = true;
	pause();
	return 0;
}

/*
 * Returns how many lanes were rejected, or -ETIMEDOUT: the requests did not take more memory than
 * the group may have.
 */
static int ask_for_lanes(uint16_t port)
{
	const struct end_options options = {
		.create_flags = KRDMA_CONN_CREATE_LANE, .send_depth = 1, .recv_depth = 1,
	};
	const struct rlimit files = { 4 * REQUESTS, 4 * REQUESTS };
	static struct end ends[REQUESTS + 1];
	struct __kernel_sockaddr_storage address, nobody;
	int session = setrlimit(RLIMIT_NOFILE, &files) ? -errno : session_open(O_CLOEXEC);
	int rejected = 0;
	int ret;

	ret = session < 0 ? session : address_set(&address, BOOT_ADDRESS, port);
	ret = ret ? ret : address_set(&nobody, BOOT_ADDRESS, NOBODYS_PORT);
	for (int i = 0; i <= REQUESTS; i++)
		end_init(&ends[i], session);
	for (int i = 0; i < REQUESTS && !ret; i++)
		ret = end_ask(&ends[i], session, &address, &options);
	if (!ret && !trunk_of(ends[0].conn))
		ret = -EPROTO;
	for (int i = 0; i < PATIENCE_MS && !ret && group_bytes() <= GROUP_BYTES; i++)
		sleep_ms(1);
	if (!ret && group_bytes() <= GROUP_BYTES)
		ret = -ETIMEDOUT;
	/* All of them have been read when the next one is answered, for which nobody listens. */
	ret = ret ? ret : end_ask(&ends[REQUESTS], session, &nobody, &options);
	if (!ret && conn_wait(ends[REQUESTS].conn, deadline_in(PATIENCE_MS), NULL) != -ECONNREFUSED)
		ret = -EPROTO;
	for (int i = 0; i < REQUESTS && !ret; i++)
		rejected += conn_wait(ends[i].conn, 0, NULL) == -ECONNREFUSED;
	for (int i = 0; i <= REQUESTS; i++)
		end_close(&ends[i]);
	if (session >= 0)
		close(session);
	return ret ? ret : rejected;
}

/*
 * What peers ask of the group's listener is answered, and costs no process of the group its life:
 * the requests that wait exceed the group's limit.
 */
/* Proves: F14 */
TEST(a_full_group_takes_lanes)
{
	struct group_server *server;
	char line[256] = "";
	int rejected, status;
	bool mounted;
	pid_t child;

	mkdir(ROOT, 0755);
	mounted = !mount("none", ROOT, "cgroup2", 0, NULL);
	if (mounted)
		read_line(line, sizeof(line), ROOT "/cgroup.controllers");
	if (!strstr(line, "memory")) {
		if (mounted)
			umount(ROOT);
		SKIP(return, "no memory controller: '%s'", line);
	}
	ASSERT_EQ(0, write_text(ROOT "/cgroup.subtree_control", "+memory"));
	ASSERT_TRUE(!mkdir(GROUP, 0755) || errno == EEXIST);
	snprintf(line, sizeof(line), "%d", GROUP_BYTES);
	ASSERT_EQ(0, write_text(GROUP "/memory.max", line));
	server = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, server);
	child = child_start(listen_in_a_group, server);
	ASSERT_LT(0, child);
	for (int i = 0; i < PATIENCE_MS && !server->full; i++)
		sleep_ms(1);
	EXPECT_TRUE(server->full);
	rejected = ask_for_lanes(server->port);
	EXPECT_EQ(0, rejected);
	EXPECT_EQ(0, waitpid(child, &status, WNOHANG));
	child_kill(child);
	munmap(server, PAGE);
	rmdir(GROUP);
	write_text(ROOT "/cgroup.subtree_control", "-memory");
	umount(ROOT);
	rmdir(ROOT);
}

TEST_HARNESS_MAIN
