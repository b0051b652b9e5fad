// SPDX-License-Identifier: GPL-2.0
/*
 * Lanes of programs: what is the same as with a plain connection, what is refused, and who gets a
 * plain connection instead.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "kselftest_harness.h"
#include "child.h"
#include "fd_pass.h"
#include "lane_pair.h"
#include "objects.h"
#include "pair.h"
#include "session.h"

FIXTURE(lanes)
{
	struct pair pair;
	struct mr a;
	struct mr b;
};

FIXTURE_SETUP(lanes)
{
	ASSERT_EQ(0, pair_open(&self->pair, &lane_options));
	ASSERT_NE(0, trunk_of(self->pair.a.conn));
	ASSERT_NE(0, trunk_of(self->pair.b.conn));
	ASSERT_EQ(0, lane_memory(&self->pair, 0, LENGTH, &self->a));
	ASSERT_EQ(0, lane_memory(&self->pair, 1, LENGTH, &self->b));
}

FIXTURE_TEARDOWN(lanes)
{
	mr_destroy(&self->a);
	mr_destroy(&self->b);
	pair_close(&self->pair);
}

/*
 * Messages
 */

/* Around the lengths of a frame's parts and of pages, and at places in a page. */
/* Proves: F14 */
TEST_F(lanes, messages_of_all_lengths)
{
	static const uint32_t lengths[] = {
		0, 1, 8, 4047, 4048, 4056, 4064, 4065, 4096, 8097, 65536, LENGTH - 100,
	};

	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		ASSERT_EQ(0, message(&self->pair.a, &self->a, &self->pair.b, &self->b, 0,
				     lengths[i]));
		ASSERT_EQ(0, message(&self->pair.b, &self->b, &self->pair.a, &self->a, i * 9,
				     lengths[i]));
	}
}

/* Memory that begins and ends within a page. */
/* Proves: F14 */
TEST_F(lanes, memory_at_any_address)
{
	unsigned char *data = self->b.data;
	struct mr mr, part;

	/* The bytes around it are checked as part of the whole, which is registered, too. */
	ASSERT_EQ(0, mr_register_with(self->pair.sessions[1], self->pair.device, data + 4000, 9000,
				      KRDMA_ACCESS_LOCAL_WRITE, KRDMA_MR_REGISTER_LANES, &part));
	mr = self->b;
	mr.id = part.id;
	for (uint32_t length = 1; length < 8000; length += 997) {
		struct krdma_sqe receive = sqe_receive(self->pair.b.id, 2, &mr, 4000 + length,
						       length);
		struct krdma_sqe send = sqe_send(self->pair.a.id, 1, &self->a, length, length);
		struct krdma_cqe cqe;

		if (2 * length > 9000)
			break;
		fill(self->a.data + length, length, length);
		memset(data, 0, LENGTH);
		ASSERT_EQ(0, ring_submit(self->pair.b.ring, &receive, 1, NULL));
		ASSERT_EQ(0, ring_submit(self->pair.a.ring, &send, 1, NULL));
		ASSERT_EQ(0, ring_wait(self->pair.b.ring, &cqe, PATIENCE_MS));
		ASSERT_EQ(0, cqe.status);
		ASSERT_EQ(0, ring_wait(self->pair.a.ring, &cqe, PATIENCE_MS));
		EXPECT_TRUE(filled(data + 4000 + length, length, length));
		EXPECT_TRUE(zeroed(data, 4000 + length));
		EXPECT_TRUE(zeroed(data + 4000 + 2 * length, LENGTH - 4000 - 2 * length));
	}
	EXPECT_EQ(0, mr_deregister(self->pair.sessions[1], part.id, 0));
}

/* In order, each once, with immediate data, inline data, several SGEs, and without completions. */
/* Proves: F14 */
TEST_F(lanes, many_messages_in_a_row)
{
	struct end *a = &self->pair.a, *b = &self->pair.b;
	struct krdma_ring_sge sges[2] = {};
	struct krdma_sqe entry;
	struct krdma_cqe cqe;

	fill(self->a.data, LENGTH, 3);
	for (int i = 0; i < 40; i++) {
		entry = sqe_receive(b->id, 100 + i, &self->b, i * 1024, 1024);
		ASSERT_EQ(0, ring_submit(b->ring, &entry, 1, NULL));
	}
	for (int i = 0; i < 40; i++) {
		entry = sqe_send(a->id, i, &self->a, i * 1024, 20 * i);
		if (i % 4 == 1) {
			entry.opcode = KRDMA_OP_SEND_IMM;
			entry.imm = 0xbeef0000 + i;
		}
		if (i % 4 == 2) {
			entry.flags = KRDMA_SQE_UNSIGNALED;
			for (int j = 0; j < 2; j++)
				sges[j] = (struct krdma_ring_sge) {
					.addr = (uintptr_t)self->a.data + i * 1024 + 10 * i * j,
					.length = 10 * i,
					.mr = self->a.id,
				};
			entry.sge_count = 2;
			entry.sge = (struct krdma_ring_sge) { .addr = (uintptr_t)sges };
		}
		if (i % 4 == 3 && 20 * i <= 128) {
			entry.flags = KRDMA_SQE_INLINE;
			entry.sge.mr = 0;
		}
		ASSERT_EQ(0, ring_post(a->ring->fd, &entry, 1, NULL));
	}
	for (int i = 0; i < 40; i++) {
		ASSERT_EQ(0, ring_wait(b->ring, &cqe, PATIENCE_MS));
		EXPECT_EQ(0, cqe.status);
		EXPECT_EQ(100 + i, cqe.wr_id);
		EXPECT_EQ(20 * i, cqe.length);
		EXPECT_EQ(i % 4 == 1 ? KRDMA_CQE_IMM : 0, cqe.flags);
		EXPECT_EQ(i % 4 == 1 ? 0xbeef0000 + i : 0, cqe.imm);
		EXPECT_EQ(0, memcmp(self->a.data + i * 1024, self->b.data + i * 1024, 20 * i));
		EXPECT_TRUE(zeroed(self->b.data + i * 1024 + 20 * i, 1024 - 20 * i));
		if (i % 4 == 2)
			continue;
		ASSERT_EQ(0, ring_wait(a->ring, &cqe, PATIENCE_MS));
		EXPECT_EQ(0, cqe.status);
		EXPECT_EQ(i, cqe.wr_id);
	}
	EXPECT_EQ(-EAGAIN, ring_take(a->ring, &cqe));
}

/* A message that finds no receive waits for one, and the sender's queue fills up. */
/* Proves: F14 */
TEST_F(lanes, a_message_waits_for_a_receive)
{
	struct end *a = &self->pair.a, *b = &self->pair.b;
	struct krdma_conn_query_args query;
	struct krdma_sqe entry = sqe_send(a->id, 1, &self->a, 0, 100);
	struct epoll_event event = { .events = EPOLLOUT };
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	struct krdma_cqe cqe;
	int posted = 0;
	int ret;

	ASSERT_LE(0, epoll);
	ASSERT_EQ(0, epoll_ctl(epoll, EPOLL_CTL_ADD, a->conn, &event));
	ASSERT_EQ(1, epoll_wait(epoll, &event, 1, 0));
	while (!(ret = ring_submit(a->ring, &entry, 1, NULL)))
		posted++;
	EXPECT_EQ(-EAGAIN, ret);
	ASSERT_EQ(0, conn_query(a->conn, NULL, 0, &query));
	EXPECT_EQ(query.send_depth, posted);
	EXPECT_EQ(posted, query.sends_posted);
	EXPECT_EQ(0, query.sends_completed);
	EXPECT_EQ(0, epoll_wait(epoll, &event, 1, 0));
	EXPECT_EQ(-ETIMEDOUT, ring_wait(b->ring, &cqe, 50));

	entry = sqe_receive(b->id, 2, &self->b, 0, 100);
	ASSERT_EQ(0, ring_submit(b->ring, &entry, 1, NULL));
	ASSERT_EQ(0, ring_wait(b->ring, &cqe, PATIENCE_MS));
	EXPECT_EQ(100, cqe.length);
	ASSERT_EQ(0, ring_wait(a->ring, &cqe, PATIENCE_MS));
	EXPECT_EQ(0, cqe.status);
	EXPECT_EQ(1, epoll_wait(epoll, &event, 1, PATIENCE_MS));
	ASSERT_EQ(0, conn_query(a->conn, NULL, 0, &query));
	EXPECT_EQ(1, query.sends_completed);
	close(epoll);
}

/* Rings that are polled, and separate ones for receives. */
/* Proves: F14 */
TEST_F(lanes, rings_of_all_kinds)
{
	struct pair_options options = lane_options;
	struct pair other;
	struct mr a, b;

	options.a.ring_options.flags = KRDMA_RING_POLLED;
	options.b.separate = true;
	ASSERT_EQ(0, pair_open(&other, &options));
	EXPECT_EQ(trunk_of(self->pair.a.conn), trunk_of(other.a.conn));
	ASSERT_EQ(0, lane_memory(&other, 0, LENGTH, &a));
	ASSERT_EQ(0, lane_memory(&other, 1, LENGTH, &b));
	for (uint32_t i = 0; i < 20; i++) {
		EXPECT_EQ(0, message(&other.a, &a, &other.b, &b, 0, 300 * i));
		EXPECT_EQ(0, message(&other.b, &b, &other.a, &a, 0, 300 * i));
	}
	/* One that waits for completions of a polled ring without a system call. */
	EXPECT_EQ(0, poll_mask(other.a.ring->fd, POLLIN, 0));
	mr_destroy(&a);
	mr_destroy(&b);
	pair_close(&other);
}

/* A message longer than its receive ends its lane, and no other one. */
/* Proves: F14 */
TEST_F(lanes, a_message_that_is_too_long)
{
	struct krdma_event_record record;
	struct krdma_sqe entry;
	struct krdma_cqe cqe;
	struct pair other;
	struct mr a, b;

	ASSERT_EQ(0, pair_open(&other, &lane_options));
	ASSERT_EQ(0, lane_memory(&other, 0, LENGTH, &a));
	ASSERT_EQ(0, lane_memory(&other, 1, LENGTH, &b));
	entry = sqe_receive(other.b.id, 1, &b, 0, 99);
	ASSERT_EQ(0, ring_submit(other.b.ring, &entry, 1, NULL));
	fill(a.data, LENGTH, 1);
	entry = sqe_send(other.a.id, 2, &a, 0, LENGTH);
	ASSERT_EQ(0, ring_submit(other.a.ring, &entry, 1, NULL));
	ASSERT_EQ(0, ring_wait(other.b.ring, &cqe, PATIENCE_MS));
	EXPECT_EQ(KRDMA_WC_LOC_LEN_ERR, cqe.status);
	EXPECT_EQ(0, conn_await_closed(other.a.conn, PATIENCE_MS));
	EXPECT_EQ(0, conn_await_closed(other.b.conn, PATIENCE_MS));
	EXPECT_EQ(-EIO, conn_wait(other.b.conn, 0, NULL));
	do {
		ASSERT_EQ(0, conn_event(other.a.conn, &record, PATIENCE_MS));
	} while (record.type != KRDMA_EVENT_LOST);
	EXPECT_TRUE(zeroed(b.data + 99, LENGTH - 99));

	EXPECT_EQ(0, message(&self->pair.a, &self->a, &self->pair.b, &self->b, 0, 5000));
	mr_destroy(&a);
	mr_destroy(&b);
	pair_close(&other);
}

/*
 * States
 */

/* Reads all records until the last one. */
static int events_of(int conn, uint32_t *types, int room)
{
	struct krdma_event_record record;
	int count = 0;

	while (count < room && !conn_event(conn, &record, PATIENCE_MS))
		types[count++] = record.type;
	return count;
}

/* Records, errnos and poll() are those of a plain connection. */
/* Proves: F14 */
TEST_F(lanes, a_lane_ends_like_a_plain_connection)
{
	static const uint32_t expected[] = {
		KRDMA_EVENT_ADDR_RESOLVED, KRDMA_EVENT_ROUTE_RESOLVED, KRDMA_EVENT_ESTABLISHED,
		KRDMA_EVENT_DISCONNECTED, KRDMA_EVENT_CLOSED,
	};
	struct end *a = &self->pair.a, *b = &self->pair.b;
	struct krdma_sqe entry = sqe_receive(b->id, 7, &self->b, 0, 100);
	struct krdma_cqe cqe;
	uint32_t types[8];

	ASSERT_EQ(0, ring_submit(b->ring, &entry, 1, NULL));
	EXPECT_TRUE(poll_mask(b->conn, POLLIN | POLLOUT | POLLRDHUP, 0) == (POLLIN | POLLOUT));
	ASSERT_EQ(0, conn_disconnect(a->conn, 0));
	EXPECT_EQ(0, conn_await_closed(b->conn, PATIENCE_MS));
	EXPECT_EQ(0, conn_await_closed(a->conn, PATIENCE_MS));
	EXPECT_EQ(-ENOTCONN, conn_wait(a->conn, 0, NULL));
	EXPECT_EQ(-EPIPE, conn_wait(b->conn, 0, NULL));
	EXPECT_EQ(POLLIN | POLLHUP | POLLRDHUP,
		  poll_mask(b->conn, POLLIN | POLLOUT | POLLRDHUP, 0));
	ASSERT_EQ(0, ring_wait(b->ring, &cqe, PATIENCE_MS));
	EXPECT_EQ(KRDMA_WC_WR_FLUSH_ERR, cqe.status);
	EXPECT_EQ(7, cqe.wr_id);

	ASSERT_EQ(5, events_of(a->conn, types, 8));
	EXPECT_EQ(0, memcmp(expected, types, sizeof(expected)));
	ASSERT_EQ(3, events_of(b->conn, types, 8));
	EXPECT_EQ(0, memcmp(expected + 2, types, 3 * sizeof(types[0])));

	entry = sqe_send(a->id, 8, &self->a, 0, 8);
	EXPECT_EQ(-ENOTCONN, ring_submit(a->ring, &entry, 1, NULL));
	EXPECT_EQ(-ENOTCONN, conn_disconnect(a->conn, 0));
	EXPECT_EQ(0, conn_disconnect(a->conn, KRDMA_DISCONNECT_ABORT));
}

/* Proves: F14 */
TEST_F(lanes, the_accepting_side_closes_its_descriptor)
{
	struct end *a = &self->pair.a, *b = &self->pair.b;
	struct krdma_sqe entry = sqe_send(a->id, 7, &self->a, 0, 100);
	struct krdma_cqe cqe;

	/* It finds no receive. */
	ASSERT_EQ(0, ring_submit(a->ring, &entry, 1, NULL));
	close(b->conn);
	b->conn = -1;
	EXPECT_EQ(0, conn_await_closed(a->conn, PATIENCE_MS));
	EXPECT_EQ(-EPIPE, conn_wait(a->conn, 0, NULL));
	ASSERT_EQ(0, ring_wait(a->ring, &cqe, PATIENCE_MS));
	EXPECT_EQ(KRDMA_WC_WR_FLUSH_ERR, cqe.status);
}

/* Proves: F14 */
TEST_F(lanes, private_data_and_a_reject)
{
	struct end_options options = lane_options.a;
	struct krdma_conn_query_args query;
	struct end a, b;
	char data[256];

	options.param.private_data = (uintptr_t)"hello there";
	options.param.private_data_len = 11;
	ASSERT_EQ(0, end_ask(&a, self->pair.sessions[0], &self->pair.address, &options));
	EXPECT_NE(0, trunk_of(a.conn));
	end_init(&b, self->pair.sessions[1]);
	ASSERT_EQ(0, listener_next(self->pair.listener, deadline_in(PATIENCE_MS), &b.conn, &b.id));
	ASSERT_EQ(0, conn_query(b.conn, data, sizeof(data), &query));
	EXPECT_EQ(KRDMA_CONN_LANE, query.kind);
	EXPECT_EQ(KRDMA_CONN_REQUESTED, query.state);
	EXPECT_EQ(1, query.peer_is_krdma);
	EXPECT_EQ(0, query.qp_number);
	EXPECT_EQ(11, query.private_data_len);
	EXPECT_EQ(0, memcmp(data, "hello there", 11));
	EXPECT_TRUE(query.local.ss_family == AF_INET && query.remote.ss_family == AF_INET);
	EXPECT_TRUE(address_same(&query.local, &self->pair.address));

	EXPECT_EQ(-EMSGSIZE, conn_reject(b.conn, data, 256));
	ASSERT_EQ(0, conn_reject(b.conn, "no", 2));
	EXPECT_EQ(-ECONNREFUSED, conn_wait(a.conn, deadline_in(PATIENCE_MS), NULL));
	ASSERT_EQ(0, conn_query(a.conn, data, sizeof(data), &query));
	EXPECT_EQ(2, query.private_data_len);
	EXPECT_EQ(0, memcmp(data, "no", 2));
	end_close(&a);
	end_close(&b);

	/* A request that is closed is rejected, too. */
	ASSERT_EQ(0, end_ask(&a, self->pair.sessions[0], &self->pair.address, &options));
	ASSERT_EQ(0, listener_next(self->pair.listener, deadline_in(PATIENCE_MS), &b.conn, &b.id));
	close(b.conn);
	EXPECT_EQ(-ECONNREFUSED, conn_wait(a.conn, deadline_in(PATIENCE_MS), NULL));
	end_close(&a);
}

/* The value of a line of a descriptor's fdinfo, -1: it has no such line. */
static long long fdinfo_of(int fd, const char *name)
{
	char path[64], line[128], key[32];
	long long value, found = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	file = fopen(path, "re");
	if (!file)
		return -2;
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%31[^:]: %lld", key, &value) == 2 && !strcmp(key, name))
			found = value;
	}
	fclose(file);
	return found;
}

static uint32_t listen_flags_of(int listener)
{
	struct krdma_listener_query_args query = { .size = sizeof(query) };

	return session_request(listener, KRDMA_LISTENER_QUERY, &query) ? UINT32_MAX :
	       query.listen_flags;
}

/* Proves: F14 */
TEST_F(lanes, queries_say_what_is_a_lane)
{
	struct pair plain;
	uint64_t trunk = trunk_of(self->pair.a.conn);

	EXPECT_EQ(1, fdinfo_of(self->pair.a.conn, "lane"));
	EXPECT_EQ(trunk, fdinfo_of(self->pair.a.conn, "trunk"));
	EXPECT_EQ(1, fdinfo_of(self->pair.b.conn, "lane"));
	EXPECT_NE(trunk, trunk_of(self->pair.b.conn));
	EXPECT_EQ(1, fdinfo_of(self->pair.listener, "lanes"));
	EXPECT_EQ(KRDMA_LISTEN_LANES, listen_flags_of(self->pair.listener));

	ASSERT_EQ(0, pair_open(&plain, NULL));
	EXPECT_EQ(0, trunk_of(plain.a.conn));
	EXPECT_EQ(0, fdinfo_of(plain.a.conn, "lane"));
	EXPECT_EQ(0, fdinfo_of(plain.a.conn, "trunk"));
	EXPECT_EQ(0, fdinfo_of(plain.listener, "lanes"));
	EXPECT_EQ(0, listen_flags_of(plain.listener));
	pair_close(&plain);
}

/* A program that was compiled before there were lanes. */
/* Proves: F14 */
TEST_F(lanes, shorter_structures_of_queries)
{
	struct krdma_conn_query_args query = { .kind = 77 };
	struct krdma_listener_query_args listener = { .listen_flags = 78 };

	query.size = offsetof(struct krdma_conn_query_args, kind);
	EXPECT_EQ(0, session_request(self->pair.a.conn, KRDMA_CONN_QUERY, &query));
	EXPECT_EQ(77, query.kind);
	EXPECT_EQ(KRDMA_CONN_CONNECTED, query.state);
	listener.size = offsetof(struct krdma_listener_query_args, listen_flags);
	EXPECT_EQ(0, session_request(self->pair.listener, KRDMA_LISTENER_QUERY, &listener));
	EXPECT_EQ(78, listener.listen_flags);
}

/*
 * Plain connections instead
 */

static const struct pair_options to_plain_options = {
	.two_sessions = true,
	.a.create_flags = KRDMA_CONN_CREATE_LANE,
};

static const struct pair_options from_plain_options = {
	.two_sessions = true,
	.listen_flags = KRDMA_LISTEN_LANES,
};

/* One side knows no lanes; memory for lanes serves a plain connection, too. */
static void check_plain(struct __test_metadata *const _metadata, const struct pair_options *options)
{
	struct mr a, b;
	struct pair pair;

	ASSERT_EQ(0, pair_open(&pair, options));
	EXPECT_EQ(0, trunk_of(pair.a.conn));
	EXPECT_EQ(0, trunk_of(pair.b.conn));
	ASSERT_EQ(0, mr_create_with(pair.sessions[0], pair.device, LENGTH, ACCESS_ALL,
				    KRDMA_MR_REGISTER_LANES, &a));
	ASSERT_EQ(0, mr_create_with(pair.sessions[1], pair.device, LENGTH, ACCESS_ALL,
				    KRDMA_MR_REGISTER_LANES, &b));
	EXPECT_EQ(0, message(&pair.a, &a, &pair.b, &b, 0, 5000));
	fill(a.data, LENGTH, 9);
	EXPECT_EQ(0, pair_write(&pair, &a, &b));
	EXPECT_TRUE(filled(b.data, LENGTH, 9));
	mr_destroy(&a);
	mr_destroy(&b);
	pair_close(&pair);
}

/* Proves: F14 */
TEST(the_peer_takes_no_lanes)
{
	check_plain(_metadata, &to_plain_options);
}

/* Proves: F14 */
TEST(the_peer_asks_for_no_lane)
{
	check_plain(_metadata, &from_plain_options);
}

/* The same while there are lanes to another listener. */
/* Proves: F14 */
TEST_F(lanes, plain_connections_beside_lanes)
{
	check_plain(_metadata, &to_plain_options);
	check_plain(_metadata, &from_plain_options);
	EXPECT_EQ(0, message(&self->pair.a, &self->a, &self->pair.b, &self->b, 0, 5000));
}

/*
 * At the port of a listener that has just taken lanes is one that takes none.  One lane at most is
 * rejected, and the next connection is a plain one.
 */
/* Proves: F14 */
TEST_F(lanes, the_listener_takes_no_lanes_any_more)
{
	uint16_t port = address_port(&self->pair.address);
	struct end_options options = lane_options.a;
	struct end a, b;

	close(self->pair.listener);
	ASSERT_EQ(0, listener_open(self->pair.sessions[1], BOOT_ADDRESS, port, 0,
				   &self->pair.listener, NULL));
	ASSERT_EQ(0, end_ask(&a, self->pair.sessions[0], &self->pair.address, &options));
	if (trunk_of(a.conn)) {
		EXPECT_EQ(-ECONNREFUSED, conn_wait(a.conn, deadline_in(PATIENCE_MS), NULL));
		end_close(&a);
		ASSERT_EQ(0, end_ask(&a, self->pair.sessions[0], &self->pair.address, &options));
	}
	EXPECT_EQ(0, trunk_of(a.conn));
	end_init(&b, self->pair.sessions[1]);
	ASSERT_EQ(0, listener_next(self->pair.listener, deadline_in(PATIENCE_MS), &b.conn, &b.id));
	ASSERT_EQ(0, end_create_qp(&b, NULL));
	ASSERT_EQ(0, end_accept(&b, NULL));
	EXPECT_EQ(0, conn_wait(a.conn, deadline_in(PATIENCE_MS), NULL));
	EXPECT_EQ(0, trunk_of(b.conn));
	end_close(&a);
	end_close(&b);
	/* The lanes that there were go on. */
	EXPECT_EQ(0, message(&self->pair.a, &self->a, &self->pair.b, &self->b, 0, 5000));
}

/* Until it is resolved, a connection is not known to be a lane, and an end there leaves nothing. */
/* Proves: F14 */
TEST_F(lanes, lanes_that_are_not_connected)
{
	struct __kernel_sockaddr_storage nowhere;
	int conn;

	ASSERT_EQ(0, conn_create_with(self->pair.sessions[0], KRDMA_CONN_CREATE_LANE, &conn, NULL));
	EXPECT_EQ(0, trunk_of(conn));
	EXPECT_EQ(0, conn_disconnect(conn, KRDMA_DISCONNECT_ABORT));
	close(conn);

	ASSERT_EQ(0, conn_create_with(self->pair.sessions[0], KRDMA_CONN_CREATE_LANE, &conn, NULL));
	ASSERT_EQ(0, address_set(&nowhere, "192.0.2.1", 4242));
	conn_resolve(conn, &nowhere);
	EXPECT_EQ(-EHOSTUNREACH, conn_wait(conn, deadline_in(PATIENCE_MS), NULL));
	close(conn);

	ASSERT_EQ(0, conn_create_with(self->pair.sessions[0], KRDMA_CONN_CREATE_LANE, &conn, NULL));
	ASSERT_EQ(0, conn_resolve(conn, &self->pair.address));
	close(conn);

	ASSERT_EQ(0, conn_create_with(self->pair.sessions[0], KRDMA_CONN_CREATE_LANE, &conn, NULL));
	ASSERT_EQ(0, conn_resolve(conn, &self->pair.address));
	ASSERT_EQ(0, conn_wait(conn, deadline_in(PATIENCE_MS), NULL));
	EXPECT_EQ(trunk_of(self->pair.a.conn), trunk_of(conn));
	close(conn);
}

/*
 * What is refused
 */

/* Proves: F14 */
TEST_F(lanes, flags_that_do_not_exist)
{
	struct krdma_listener_query_args listener = { .size = sizeof(listener), .reserved = 1 };
	struct mr mr;
	int fd;

	for (int bit = 1; bit < 32; bit++) {
		EXPECT_EQ(-EOPNOTSUPP, conn_create_with(self->pair.sessions[0],
							1U << bit | KRDMA_CONN_CREATE_LANE,
							&fd, NULL));
		if (bit == 1)
			continue;
		EXPECT_EQ(-EOPNOTSUPP, mr_register_with(self->pair.sessions[0], self->pair.device,
							self->a.data, LENGTH, 0,
							1U << bit | KRDMA_MR_REGISTER_LANES, &mr));
		EXPECT_EQ(-EOPNOTSUPP,
			  listener_open_with(self->pair.sessions[0], BOOT_ADDRESS, 0, 0,
					     1U << bit | KRDMA_LISTEN_LANES, &fd, NULL));
	}
	EXPECT_EQ(-EOPNOTSUPP,
		  session_request(self->pair.listener, KRDMA_LISTENER_QUERY, &listener));
}

static int create_qp(const struct end *end, struct krdma_conn_create_qp_args args)
{
	args.size = sizeof(args);
	return session_request(end->conn, KRDMA_CONN_CREATE_QP, &args);
}

/* Every ioctl of a connection, before and after the lane is connected. */
/* Proves: F14 */
TEST_F(lanes, every_ioctl_of_a_connection)
{
	struct krdma_srq_create_args srq = { .size = sizeof(srq) };
	struct krdma_conn_create_qp_args args = {};
	struct krdma_conn_query_args query;
	struct end *a = &self->pair.a;
	struct end end;

	end_init(&end, self->pair.sessions[0]);
	ASSERT_EQ(0, conn_create_with(end.session, KRDMA_CONN_CREATE_LANE, &end.conn, &end.id));
	ASSERT_EQ(0, end_rings_create(&end));
	args.ring_fd = end.own[0].fd;
	EXPECT_EQ(-ENOTCONN, create_qp(&end, args));
	EXPECT_EQ(-ENOTCONN, end_connect(&end, NULL));
	ASSERT_EQ(0, conn_resolve(end.conn, &self->pair.address));
	ASSERT_EQ(0, conn_wait(end.conn, deadline_in(PATIENCE_MS), NULL));

	/* What a lane does not have, and what no connection has.  None of it is left behind. */
	srq.device_id = self->pair.device;
	srq.ring_fd = end.own[0].fd;
	srq.depth = 8;
	ASSERT_EQ(0, session_request(end.session, KRDMA_SRQ_CREATE, &srq));
	args.flags = KRDMA_CREATE_QP_SRQ;
	args.srq_fd = srq.fd;
	EXPECT_EQ(-EOPNOTSUPP, create_qp(&end, args));
	close(srq.fd);
	args = (struct krdma_conn_create_qp_args) { .ring_fd = end.own[0].fd, .flags = 4 };
	EXPECT_EQ(-EOPNOTSUPP, create_qp(&end, args));
	args = (struct krdma_conn_create_qp_args) { .ring_fd = self->pair.b.ring->fd };
	EXPECT_EQ(-EXDEV, create_qp(&end, args));
	args = (struct krdma_conn_create_qp_args) { .ring_fd = end.conn };
	EXPECT_EQ(-EPROTOTYPE, create_qp(&end, args));
	args = (struct krdma_conn_create_qp_args) { .ring_fd = end.own[0].fd };
	args.keepalive_ms = 99;
	EXPECT_EQ(-EINVAL, create_qp(&end, args));
	args.keepalive_ms = 3600001;
	EXPECT_EQ(-EINVAL, create_qp(&end, args));
	args.keepalive_ms = 0;
	args.max_inline = 1025;
	EXPECT_EQ(-EINVAL, create_qp(&end, args));
	args.max_inline = 0;
	args.send_depth = 1U << 30;
	EXPECT_EQ(-EINVAL, create_qp(&end, args));
	args.send_depth = 0;
	args.max_recv_sge = 1U << 20;
	EXPECT_EQ(-EINVAL, create_qp(&end, args));
	args.max_recv_sge = 0;
	EXPECT_EQ(-EBUSY, end_connect(&end, NULL));
	EXPECT_EQ(-EINVAL, end_accept(&end, NULL));
	EXPECT_EQ(-EINVAL, conn_reject(end.conn, NULL, 0));

	args.keepalive_ms = 100;
	args.send_depth = 5;
	args.recv_depth = 6;
	EXPECT_EQ(0, create_qp(&end, args));
	EXPECT_EQ(-EALREADY, create_qp(&end, args));
	ASSERT_EQ(0, conn_query(end.conn, NULL, 0, &query));
	EXPECT_EQ(5, query.send_depth);
	EXPECT_EQ(6, query.recv_depth);
	end_close(&end);

	EXPECT_EQ(-EISCONN, conn_resolve(a->conn, &self->pair.address));
	args.ring_fd = a->ring->fd;
	EXPECT_EQ(-EISCONN, create_qp(a, args));
	EXPECT_EQ(-EISCONN, end_connect(a, NULL));
	EXPECT_EQ(-EINVAL, end_accept(a, NULL));
	EXPECT_EQ(-EISCONN, end_accept(&self->pair.b, NULL));
	EXPECT_EQ(-EISCONN, conn_reject(self->pair.b.conn, NULL, 0));
	EXPECT_EQ(0, conn_wait(a->conn, 0, NULL));
	EXPECT_EQ(-EOPNOTSUPP, conn_disconnect(a->conn, 2));
	EXPECT_EQ(0, message(&self->pair.a, &self->a, &self->pair.b, &self->b, 0, 100));
}

/* More completions than the ring has left.  The attempt leaves nothing, also no inline data. */
/* Proves: F14 */
TEST_F(lanes, rings_that_are_too_small)
{
	struct pair_options options = lane_options;
	struct krdma_conn_query_args query;
	struct krdma_sqe entry;
	struct pair other;

	options.a.ring_options.cq_entries = 16;
	options.a.send_depth = 16;
	ASSERT_EQ(0, pair_begin(&other, &options));
	ASSERT_EQ(0, pair_resolve(&other));
	EXPECT_EQ(-ENOSPC, end_create_qp(&other.a, &options.a));
	EXPECT_EQ(KRDMA_CONN_RESOLVED, conn_state(other.a.conn));

	options.a.ring = &other.a.own[0];
	options.a.send_depth = 2;
	options.a.recv_depth = 2;
	options.a.max_inline = 0;
	ASSERT_EQ(0, pair_meet(&other, &options));
	ASSERT_EQ(0, end_create_qp(&other.b, NULL));
	ASSERT_EQ(0, end_accept(&other.b, NULL));
	ASSERT_EQ(0, pair_established(&other));
	ASSERT_EQ(0, conn_query(other.a.conn, NULL, 0, &query));
	ASSERT_EQ(0, query.max_inline);
	entry = sqe_send(other.a.id, 1, &self->a, 0, 1);
	entry.flags = KRDMA_SQE_INLINE;
	entry.sge.mr = 0;
	EXPECT_EQ(-EMSGSIZE, ring_post(other.a.ring->fd, &entry, 1, NULL));
	pair_close(&other);
}

/* Operations and memory that a lane does not take are refused, and it goes on. */
/* Proves: F14 */
TEST_F(lanes, every_operation)
{
	struct end *a = &self->pair.a, *b = &self->pair.b;
	struct krdma_sqe entry;
	struct mr mr, foreign;

	entry = sqe_send(a->id, 1, &self->a, 0, 8);
	entry.opcode = KRDMA_OP_SEND_INVALIDATE;
	EXPECT_EQ(-EOPNOTSUPP, ring_submit(a->ring, &entry, 1, NULL));
	EXPECT_EQ(-EOPNOTSUPP, ring_post(a->ring->fd, &entry, 1, NULL));
	/* Operations that programs never have. */
	entry = (struct krdma_sqe) { .opcode = KRDMA_OP_FLUSH + 1, .dest = a->id };
	EXPECT_EQ(-EINVAL, ring_submit(a->ring, &entry, 1, NULL));

	/* Memory that was not registered for lanes. */
	ASSERT_EQ(0, mr_create(a->session, self->pair.device, LENGTH, KRDMA_ACCESS_LOCAL_WRITE,
			       &mr));
	entry = sqe_send(a->id, 1, &mr, 0, 8);
	EXPECT_EQ(-EOPNOTSUPP, ring_submit(a->ring, &entry, 1, NULL));
	entry = sqe_receive(a->id, 1, &mr, 0, 8);
	EXPECT_EQ(-EOPNOTSUPP, ring_submit(a->ring, &entry, 1, NULL));
	mr_destroy(&mr);

	/* Memory that may not be written, and of another session; beyond the end; too much. */
	ASSERT_EQ(0, mr_create_with(a->session, self->pair.device, LENGTH, 0,
				    KRDMA_MR_REGISTER_LANES, &mr));
	entry = sqe_receive(a->id, 1, &mr, 0, 8);
	EXPECT_EQ(-EACCES, ring_submit(a->ring, &entry, 1, NULL));
	entry = sqe_send(a->id, 1, &mr, 0, 8);
	entry.sge.addr = (uintptr_t)mr.data + LENGTH - 7;
	EXPECT_EQ(-ERANGE, ring_submit(a->ring, &entry, 1, NULL));
	entry.sge.addr = (uintptr_t)mr.data - 1;
	EXPECT_EQ(-ERANGE, ring_submit(a->ring, &entry, 1, NULL));
	entry.sge.addr = UINT64_MAX;
	EXPECT_EQ(-ERANGE, ring_submit(a->ring, &entry, 1, NULL));
	mr_destroy(&mr);
	entry = sqe_send(a->id, 1, &self->a, 0, 8);
	entry.sge.mr = 0x7fffffff;
	EXPECT_EQ(-ENOENT, ring_submit(a->ring, &entry, 1, NULL));
	ASSERT_EQ(0, mr_create_with(b->session, self->pair.device, LENGTH, 0,
				    KRDMA_MR_REGISTER_LANES, &foreign));
	entry = sqe_send(a->id, 1, &foreign, 0, 8);
	EXPECT_TRUE(ring_submit(a->ring, &entry, 1, NULL) == -ENOENT || foreign.id == self->a.id);
	mr_destroy(&foreign);
	entry = sqe_send(a->id, 1, &self->a, 0, 129);
	entry.flags = KRDMA_SQE_INLINE;
	entry.sge.mr = 0;
	EXPECT_EQ(-EMSGSIZE, ring_submit(a->ring, &entry, 1, NULL));
	/* A ring that is not the lane's. */
	entry = sqe_send(a->id, 1, &self->b, 0, 8);
	EXPECT_EQ(-ENOENT, ring_submit(b->ring, &entry, 1, NULL));

	EXPECT_EQ(0, message(&self->pair.a, &self->a, &self->pair.b, &self->b, 0, 100));
}

/* A ring that is confined to some MRs is that for lanes, too. */
/* Proves: F14 */
TEST_F(lanes, a_confined_ring)
{
	struct end *a = &self->pair.a;
	struct krdma_sqe entry;
	struct mr mr;

	ASSERT_EQ(0, lane_memory(&self->pair, 0, LENGTH, &mr));
	ASSERT_EQ(0, ring_confine(a->ring->fd, &self->a.id, 1));
	entry = sqe_send(a->id, 1, &mr, 0, 8);
	EXPECT_EQ(-ENOENT, ring_submit(a->ring, &entry, 1, NULL));
	EXPECT_EQ(0, message(&self->pair.a, &self->a, &self->pair.b, &self->b, 0, 100));
	mr_destroy(&mr);
}

/*
 * Memory
 */

/* Proves: F14 */
TEST_F(lanes, memory_in_use_is_not_deregistered)
{
	struct end *a = &self->pair.a, *b = &self->pair.b;
	struct krdma_sqe entry = sqe_receive(b->id, 1, &self->b, 0, 8192);
	struct krdma_cqe cqe;
	struct mr mr;

	ASSERT_EQ(0, ring_submit(b->ring, &entry, 1, NULL));
	EXPECT_EQ(-EBUSY, mr_deregister(b->session, self->b.id, 0));
	/* It ends with the receive. */
	EXPECT_EQ(0, mr_deregister(b->session, self->b.id, KRDMA_DEREGISTER_LATER));
	entry = sqe_receive(b->id, 2, &self->b, 0, 8192);
	EXPECT_EQ(-ENOENT, ring_submit(b->ring, &entry, 1, NULL));
	fill(self->a.data, 8192, 4);
	entry = sqe_send(a->id, 3, &self->a, 0, 8192);
	ASSERT_EQ(0, ring_submit(a->ring, &entry, 1, NULL));
	ASSERT_EQ(0, ring_wait(b->ring, &cqe, PATIENCE_MS));
	EXPECT_EQ(0, cqe.status);
	EXPECT_TRUE(filled(self->b.data, 8192, 4));

	/* What was sent or received is not in use any more. */
	ASSERT_EQ(0, lane_memory(&self->pair, 0, LENGTH, &mr));
	entry = sqe_receive(b->id, 4, NULL, 0, 0);
	ASSERT_EQ(0, ring_submit(b->ring, &entry, 1, NULL));
	ASSERT_EQ(0, ring_wait(a->ring, &cqe, PATIENCE_MS));
	entry = sqe_send(a->id, 5, &mr, 0, 0);
	ASSERT_EQ(0, ring_submit(a->ring, &entry, 1, NULL));
	ASSERT_EQ(0, ring_wait(a->ring, &cqe, PATIENCE_MS));
	EXPECT_EQ(0, mr_deregister(a->session, mr.id, 0));
	mr_destroy(&mr);
}

/* Memory shared with a child. */
struct shared {
	struct mr mr;
	int ret;
	bool ready;
	bool go;
};

struct child_memory {
	int session;
	uint32_t device;
	struct shared *shared;
};

static int register_and_stay(void *context)
{
	const struct child_memory *child = context;
	int ret = mr_create_with(child->session, child->device, LENGTH, KRDMA_ACCESS_LOCAL_WRITE,
				 KRDMA_MR_REGISTER_LANES, &child->shared->mr);

	child->shared->ret = ret;
	__atomic_store_n(&child->shared->ready, true, __ATOMIC_RELEASE);
	/* Until it is killed, or is to become another program, whose memory is another. */
	for (int i = 0; i < PATIENCE_MS; i++) {
		if (__atomic_load_n(&child->shared->go, __ATOMIC_ACQUIRE))
			execl("/bin/sleep", "sleep", "1000", NULL);
		sleep_ms(1);
	}
	return __LINE__;
}

/*
 * The memory of a process ends with it, or when it becomes another program.  The lanes with work
 * requests in it are aborted, and no others: also where only a receive waits, or only a send.
 */
static void check_owner(struct __test_metadata *const _metadata, struct pair *pair, bool sends,
			bool execs)
{
	struct shared *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct end *end = sends ? &pair->a : &pair->b;
	struct child_memory child = { end->session, pair->device, shared };
	struct krdma_sqe entry;
	struct krdma_cqe cqe;
	pid_t pid;

	ASSERT_NE(MAP_FAILED, shared);
	pid = child_start(register_and_stay, &child);
	ASSERT_LT(0, pid);
	for (int i = 0; i < PATIENCE_MS && !__atomic_load_n(&shared->ready, __ATOMIC_ACQUIRE); i++)
		sleep_ms(1);
	ASSERT_EQ(0, shared->ret);
	entry = sends ? sqe_send(end->id, 9, &shared->mr, 0, LENGTH) :
			sqe_receive(end->id, 9, &shared->mr, 0, LENGTH);
	ASSERT_EQ(0, ring_submit(end->ring, &entry, 1, NULL));
	if (execs)
		__atomic_store_n(&shared->go, true, __ATOMIC_RELEASE);
	else
		EXPECT_GT(rounds(500, 5000), child_kill(pid));
	EXPECT_EQ(0, conn_await_closed(end->conn, PATIENCE_MS));
	EXPECT_EQ(-ECONNABORTED, conn_wait(end->conn, 0, NULL));
	ASSERT_EQ(0, ring_wait(end->ring, &cqe, PATIENCE_MS));
	EXPECT_EQ(KRDMA_WC_WR_FLUSH_ERR, cqe.status);
	EXPECT_EQ(-ENOENT, mr_deregister(end->session, shared->mr.id, 0));
	if (execs)
		child_kill(pid);
	munmap(shared, sizeof(*shared));
}

/* Proves: F14 */
TEST_F(lanes, the_owner_of_a_receive_s_memory_is_killed)
{
	struct pair other;

	ASSERT_EQ(0, pair_open(&other, &lane_options));
	check_owner(_metadata, &other, false, false);
	pair_close(&other);
	EXPECT_EQ(0, message(&self->pair.a, &self->a, &self->pair.b, &self->b, 0, 100));
}

/* Proves: F14 */
TEST_F(lanes, the_owner_of_a_send_s_memory_is_killed)
{
	struct pair other;

	ASSERT_EQ(0, pair_open(&other, &lane_options));
	check_owner(_metadata, &other, true, false);
	pair_close(&other);
	EXPECT_EQ(0, message(&self->pair.a, &self->a, &self->pair.b, &self->b, 0, 100));
}

/* Proves: F14 */
TEST_F(lanes, the_owner_of_a_receive_s_memory_becomes_another_program)
{
	struct pair other;

	ASSERT_EQ(0, pair_open(&other, &lane_options));
	check_owner(_metadata, &other, false, true);
	pair_close(&other);
	EXPECT_EQ(0, message(&self->pair.a, &self->a, &self->pair.b, &self->b, 0, 100));
}

/* Two lanes of one session: only the one that uses the memory is aborted. */
/* Proves: F14 */
TEST_F(lanes, a_lane_beside_it_in_the_same_session_goes_on)
{
	struct pair_options options = lane_options;
	struct pair other;

	options.sessions[0] = self->pair.sessions[0];
	options.sessions[1] = self->pair.sessions[1];
	ASSERT_EQ(0, pair_open(&other, &options));
	check_owner(_metadata, &other, false, false);
	pair_close(&other);
	EXPECT_EQ(0, message(&self->pair.a, &self->a, &self->pair.b, &self->b, 0, 100));
}

/*
 * Processes
 */

static int talk_in_a_child(void *context)
{
	struct pair *pair = context;
	struct krdma_sqe entry;
	struct krdma_cqe cqe;
	struct mr mr;
	uint32_t reaped;

	/* The parent's memory is not the child's, and neither is the mapping of the ring. */
	CHECK(!mr_create_with(pair->a.session, pair->device, LENGTH, KRDMA_ACCESS_LOCAL_WRITE,
			      KRDMA_MR_REGISTER_LANES, &mr));
	fill(mr.data, 3000, 6);
	entry = sqe_send(pair->a.id, 1, &mr, 0, 3000);
	CHECK(!ring_post(pair->a.ring->fd, &entry, 1, NULL));
	CHECK(!ring_reap(pair->a.ring->fd, &cqe, 1, 1, deadline_in(PATIENCE_MS), &reaped));
	CHECK(reaped == 1 && !cqe.status && cqe.wr_id == 1);
	return 0;
}

/* Proves: F14 */
TEST_F(lanes, a_child_goes_on_with_its_parent_s_lane)
{
	struct end *b = &self->pair.b;
	struct krdma_sqe entry = sqe_receive(b->id, 2, &self->b, 0, LENGTH);
	struct krdma_cqe cqe;

	ASSERT_EQ(0, ring_submit(b->ring, &entry, 1, NULL));
	EXPECT_EQ(0, child_run(talk_in_a_child, &self->pair));
	ASSERT_EQ(0, ring_wait(b->ring, &cqe, PATIENCE_MS));
	EXPECT_EQ(3000, cqe.length);
	EXPECT_TRUE(filled(self->b.data, 3000, 6));
	EXPECT_EQ(0, message(&self->pair.a, &self->a, &self->pair.b, &self->b, 0, 100));
}

/* Another process gets the descriptor, and ends the lane by closing the last one. */
static int close_what_comes(void *context)
{
	const int *channel = context;
	int conn = fd_receive(*channel);

	CHECK(conn >= 0);
	CHECK(conn_state(conn) == KRDMA_CONN_CONNECTED);
	CHECK(trunk_of(conn) && trunk_of(conn) != UINT64_MAX);
	/* Until the sender has closed its own. */
	CHECK(fd_receive(*channel) >= 0);
	return close(conn);
}

/* Proves: F14 */
TEST_F(lanes, a_lane_that_is_passed_to_another_process)
{
	struct end *a = &self->pair.a;
	struct pair other;
	int channel[2];
	int status;
	pid_t pid;

	/* Without descriptors of the fixture in the child. */
	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, channel));
	pid = child_start(close_what_comes, &channel[0]);
	ASSERT_LT(0, pid);
	ASSERT_EQ(0, pair_open(&other, &lane_options));
	ASSERT_EQ(0, fd_send(channel[1], other.a.conn));
	close(other.a.conn);
	other.a.conn = -1;
	EXPECT_EQ(-EINPROGRESS + EINPROGRESS, conn_wait(other.b.conn, 0, NULL));
	EXPECT_EQ(KRDMA_CONN_CONNECTED, conn_state(other.b.conn));
	ASSERT_EQ(0, fd_send(channel[1], a->conn));
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(0, conn_await_closed(other.b.conn, PATIENCE_MS));
	EXPECT_EQ(-EPIPE, conn_wait(other.b.conn, 0, NULL));
	pair_close(&other);
	close(channel[0]);
	close(channel[1]);
}

/* A process with lanes in all states, which is killed. */
struct victim {
	struct __kernel_sockaddr_storage address;
	int ready;
};

static int hold_lanes(void *context)
{
	struct victim *victim = context;
	struct end_options options = lane_options.a;
	int session = session_open(O_CLOEXEC);
	struct krdma_sqe entry;
	uint32_t device;
	struct end ends[8];
	struct mr mr;
	int fd;

	CHECK(!boot_device(session, &device));
	CHECK(!mr_create_with(session, device, LENGTH, KRDMA_ACCESS_LOCAL_WRITE,
			      KRDMA_MR_REGISTER_LANES, &mr));
	CHECK(!conn_create_with(session, KRDMA_CONN_CREATE_LANE, &fd, NULL));
	CHECK(!conn_resolve(fd, &victim->address));
	for (int i = 0; i < 8; i++) {
		CHECK(!end_ask(&ends[i], session, &victim->address, &options));
		CHECK(trunk_of(ends[i].conn));
		entry = sqe_receive(ends[i].id, 1, &mr, 0, 100);
		CHECK(!ring_submit(ends[i].ring, &entry, 1, NULL));
	}
	CHECK(write(victim->ready, "", 1) == 1);
	return pause();
}

/* Proves: F14 */
TEST_F(lanes, a_process_is_killed_with_its_lanes)
{
	struct end *b = &self->pair.b;
	struct victim victim = { .address = self->pair.address };
	struct krdma_sqe entry;
	struct end ends[4];
	int channel[2];
	uint64_t start;
	pid_t pid;
	char byte;

	ASSERT_EQ(0, pipe2(channel, O_CLOEXEC));
	victim.ready = channel[1];
	pid = child_start(hold_lanes, &victim);
	ASSERT_LT(0, pid);
	close(channel[1]);
	ASSERT_EQ(1, read(channel[0], &byte, 1));
	/* Half of its requests are accepted, and these get a message. */
	for (int i = 0; i < 4; i++) {
		end_init(&ends[i], b->session);
		ASSERT_EQ(0, listener_next(self->pair.listener, deadline_in(PATIENCE_MS),
					   &ends[i].conn, &ends[i].id));
		ASSERT_EQ(0, end_create_qp(&ends[i], NULL));
		ASSERT_EQ(0, end_accept(&ends[i], NULL));
		ASSERT_EQ(0, conn_wait(ends[i].conn, deadline_in(PATIENCE_MS), NULL));
		for (int j = 0; j < 5; j++) {
			entry = sqe_send(ends[i].id, 1, &self->b, 0, 50);
			ASSERT_EQ(0, ring_submit(ends[i].ring, &entry, 1, NULL));
		}
	}
	start = now_ms();
	EXPECT_GT(rounds(500, 5000), child_kill(pid));
	for (int i = 0; i < 4; i++) {
		EXPECT_EQ(0, conn_await_closed(ends[i].conn, PATIENCE_MS));
		EXPECT_EQ(-EPIPE, conn_wait(ends[i].conn, 0, NULL));
		end_close(&ends[i]);
	}
	EXPECT_GT(rounds(2000, 20000), now_ms() - start);
	/* The other requests are gone. */
	EXPECT_EQ(-EAGAIN, listener_next(self->pair.listener, 0, &ends[0].conn, NULL));
	EXPECT_EQ(0, objects_await_kind("lane", 2, PATIENCE_MS));
	EXPECT_EQ(0, message(&self->pair.a, &self->a, &self->pair.b, &self->b, 0, 100));
	close(channel[0]);
}

/* A program is replaced by another one, which gets the descriptor of one of its lanes. */
static int keep_one_lane(void *context)
{
	const struct victim *victim = context;
	struct end_options options = lane_options.a;
	int session = session_open(O_CLOEXEC);
	struct end ends[2];

	for (int i = 0; i < 2; i++) {
		CHECK(!end_ask(&ends[i], session, &victim->address, &options));
		CHECK(trunk_of(ends[i].conn));
	}
	for (int i = 0; i < 2; i++)
		CHECK(!conn_wait(ends[i].conn, deadline_in(PATIENCE_MS), NULL));
	CHECK(!fcntl(ends[1].conn, F_SETFD, 0));
	execl("/bin/sleep", "sleep", "1000", NULL);
	return __LINE__;
}

/* Proves: F14 */
TEST_F(lanes, a_program_is_replaced_by_another_one)
{
	struct end *b = &self->pair.b;
	struct victim victim = { .address = self->pair.address };
	struct end ends[2];
	pid_t pid;

	pid = child_start(keep_one_lane, &victim);
	ASSERT_LT(0, pid);
	for (int i = 0; i < 2; i++) {
		end_init(&ends[i], b->session);
		ASSERT_EQ(0, listener_next(self->pair.listener, deadline_in(PATIENCE_MS),
					   &ends[i].conn, &ends[i].id));
		ASSERT_EQ(0, end_create_qp(&ends[i], NULL));
		ASSERT_EQ(0, end_accept(&ends[i], NULL));
		ASSERT_EQ(0, conn_wait(ends[i].conn, deadline_in(PATIENCE_MS), NULL));
	}
	EXPECT_EQ(0, conn_await_closed(ends[0].conn, PATIENCE_MS));
	EXPECT_EQ(-EPIPE, conn_wait(ends[0].conn, 0, NULL));
	EXPECT_EQ(KRDMA_CONN_CONNECTED, conn_state(ends[1].conn));
	EXPECT_GT(rounds(500, 5000), child_kill(pid));
	EXPECT_EQ(0, conn_await_closed(ends[1].conn, PATIENCE_MS));
	for (int i = 0; i < 2; i++)
		end_close(&ends[i]);
	EXPECT_EQ(0, objects_await_kind("lane", 2, PATIENCE_MS));
}

/* The memory of a session when nothing of it is being freed any more. */
static int64_t memory_at_rest(int session)
{
	uint64_t since = now_ms(), deadline = since + PATIENCE_MS;
	int64_t memory = session_memory(session), now;

	while (now_ms() - since < rounds(500, 2000) && now_ms() < deadline) {
		sleep_ms(20);
		now = session_memory(session);
		if (now != memory)
			since = now_ms();
		memory = now;
	}
	return memory;
}

#define KEPT_LANES	64

/* Completions that are not taken keep their lanes, which count until they are. */
/* Proves: F14 */
TEST(lanes_that_completions_keep)
{
	struct ring_options polled = { .flags = KRDMA_RING_POLLED, .cq_entries = 1024 };
	struct pair_options options = lane_options;
	struct krdma_cqe cqes[KEPT_LANES];
	struct krdma_sqe entry;
	int64_t before = 0, kept;
	uint32_t reaped;
	struct ring ring;
	struct pair pair;
	int session;

	session = session_open(O_CLOEXEC);
	ASSERT_LE(0, session);
	ASSERT_EQ(0, ring_create(session, &polled, &ring));
	options.sessions[0] = session;
	options.sessions[1] = session;
	options.a.ring = &ring;
	for (int i = 0; i <= KEPT_LANES; i++) {
		ASSERT_EQ(0, pair_open(&pair, &options));
		entry = sqe_receive(pair.a.id, 1, NULL, 0, 0);
		/* KRDMA_RING_ENTER would take completions. */
		if (i)
			EXPECT_EQ(0, ring_post(ring.fd, &entry, 1, NULL));
		pair_close(&pair);
		/* The first one shows what the session keeps. */
		if (!i)
			before = memory_at_rest(session);
	}
	/* A connection that a program has takes 8 KiB. */
	kept = memory_at_rest(session) - before;
	EXPECT_GE(KEPT_LANES * 4096, kept);
	EXPECT_LE(KEPT_LANES * 2000, kept);
	for (uint32_t taken = 0; taken < KEPT_LANES; taken += reaped)
		ASSERT_EQ(0, ring_reap(ring.fd, cqes, KEPT_LANES, 1, deadline_in(PATIENCE_MS),
				       &reaped));
	EXPECT_EQ(before, memory_at_rest(session));
	ring_close(&ring);
	close(session);
}

TEST_HARNESS_MAIN
