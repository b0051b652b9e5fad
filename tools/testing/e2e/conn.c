// SPDX-License-Identifier: GPL-2.0
/*
 * Connections: the active and the passive side, how CONN_WAIT ends, and which calls fail.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>

#include "kselftest_harness.h"
#include "pair.h"
#include "session.h"

#define MASK	(POLLIN | POLLOUT | POLLRDHUP)

FIXTURE(conn)
{
	struct pair pair;
};

FIXTURE_SETUP(conn)
{
	ASSERT_EQ(0, pair_begin(&self->pair, NULL));
}

FIXTURE_TEARDOWN(conn)
{
	pair_close(&self->pair);
}

static uint32_t state_of(int conn)
{
	struct krdma_conn_query_args query;

	return conn_query(conn, NULL, 0, &query) ? UINT32_MAX : query.state;
}

/*
 * States
 */

/* Proves: E1 */
TEST_F(conn, the_steps_of_both_sides)
{
	struct end *a = &self->pair.a, *b = &self->pair.b;

	ASSERT_EQ(0, conn_create(a->session, &a->conn, &a->id));
	EXPECT_NE(0, a->id);
	EXPECT_EQ(KRDMA_CONN_NEW, state_of(a->conn));
	EXPECT_EQ(0, conn_wait(a->conn, 0, NULL));
	EXPECT_EQ(0, poll_mask(a->conn, MASK, 0));

	ASSERT_EQ(0, conn_resolve(a->conn, &self->pair.address));
	ASSERT_EQ(0, conn_wait(a->conn, deadline_in(PATIENCE_MS), NULL));
	EXPECT_EQ(KRDMA_CONN_RESOLVED, state_of(a->conn));
	EXPECT_EQ(POLLIN, poll_mask(a->conn, MASK, PATIENCE_MS));

	ASSERT_EQ(0, pair_meet(&self->pair, NULL));
	EXPECT_EQ(KRDMA_CONN_CONNECTING, state_of(a->conn));
	EXPECT_EQ(-EINPROGRESS, conn_wait(a->conn, 0, NULL));
	EXPECT_EQ(KRDMA_CONN_REQUESTED, state_of(b->conn));
	EXPECT_EQ(0, conn_wait(b->conn, 0, NULL));
	EXPECT_EQ(0, poll_mask(b->conn, MASK, 0));

	ASSERT_EQ(0, end_create_qp(b, NULL));
	ASSERT_EQ(0, end_accept(b, NULL));
	EXPECT_EQ(0, pair_established(&self->pair));
	EXPECT_EQ(KRDMA_CONN_CONNECTED, state_of(a->conn));
	EXPECT_EQ(KRDMA_CONN_CONNECTED, state_of(b->conn));
	EXPECT_EQ(POLLIN | POLLOUT, poll_mask(a->conn, MASK, 0));
	EXPECT_TRUE(poll_mask(b->conn, MASK, PATIENCE_MS) & POLLOUT);

	ASSERT_EQ(0, conn_disconnect(a->conn, 0));
	EXPECT_EQ(0, conn_await_closed(a->conn, PATIENCE_MS));
	EXPECT_EQ(0, conn_await_closed(b->conn, PATIENCE_MS));
	EXPECT_EQ(KRDMA_CONN_CLOSED, state_of(a->conn));
	EXPECT_EQ(-ENOTCONN, conn_wait(a->conn, 0, NULL));
	EXPECT_EQ(-EPIPE, conn_wait(b->conn, 0, NULL));
}

TEST_F(conn, over_ipv6)
{
	const struct pair_options options = { .address = BOOT_ADDRESS_6 };
	struct krdma_conn_query_args query;

	pair_close(&self->pair);
	ASSERT_EQ(0, pair_open(&self->pair, &options));
	ASSERT_EQ(0, conn_query(self->pair.a.conn, NULL, 0, &query));
	EXPECT_EQ(AF_INET6, query.local.ss_family);
	EXPECT_TRUE(address_same(&self->pair.address, &query.remote));
}

TEST_F(conn, numbers_are_unique_and_not_used_again)
{
	uint32_t ids[300];
	int fd;

	for (int i = 0; i < 300; i++) {
		ASSERT_EQ(0, conn_create(self->pair.sessions[0], &fd, &ids[i]));
		close(fd);
		for (int j = 0; j < i; j++)
			ASSERT_NE(ids[j], ids[i]);
	}
}

/*
 * Waiting
 */

TEST_F(conn, nobody_listens_there)
{
	struct __kernel_sockaddr_storage address;
	struct end *a = &self->pair.a;

	/* The port has no listener any more. */
	address = self->pair.address;
	close(self->pair.listener);
	self->pair.listener = -1;
	ASSERT_EQ(0, end_ask(a, self->pair.sessions[0], &address, NULL));
	EXPECT_EQ(-ECONNREFUSED, conn_wait(a->conn, deadline_in(PATIENCE_MS), NULL));
	EXPECT_EQ(-ECONNREFUSED, conn_wait(a->conn, 0, NULL));
}

/* Proves: D7 */
TEST_F(conn, there_is_no_way)
{
	struct __kernel_sockaddr_storage address;
	int conn;

	ASSERT_EQ(0, address_set(&address, "192.0.2.1", 4242));
	ASSERT_EQ(0, conn_create(self->pair.sessions[0], &conn, NULL));
	conn_resolve(conn, &address);
	EXPECT_EQ(-EHOSTUNREACH, conn_wait(conn, deadline_in(PATIENCE_MS), NULL));
	EXPECT_EQ(KRDMA_CONN_CLOSED, conn_state(conn));
	EXPECT_TRUE(poll_mask(conn, 0, PATIENCE_MS) & POLLHUP);
	EXPECT_TRUE(poll_mask(conn, MASK, 0) & POLLERR);
	close(conn);
}

TEST_F(conn, a_deadline_passes)
{
	struct end *a = &self->pair.a;
	uint32_t state;

	ASSERT_EQ(0, pair_resolve(&self->pair));
	ASSERT_EQ(0, pair_meet(&self->pair, NULL));
	EXPECT_EQ(-EINPROGRESS, conn_wait(a->conn, 0, &state));
	/* If the call fails, it does not write the structure. */
	EXPECT_EQ(UINT32_MAX, state);
	EXPECT_EQ(KRDMA_CONN_CONNECTING, conn_state(a->conn));
	for (unsigned int ms = 1; ms <= 256; ms *= 4) {
		uint64_t deadline = deadline_in(ms);

		EXPECT_EQ(-ETIMEDOUT, conn_wait(a->conn, deadline, NULL));
		EXPECT_ON_WHEEL_TIME(deadline, ms);
		EXPECT_EQ(KRDMA_CONN_CONNECTING, conn_state(a->conn));
	}
	EXPECT_EQ(-ETIMEDOUT, conn_wait(a->conn, 1, NULL));
}

TEST_F(conn, addresses_that_make_no_sense)
{
	struct krdma_conn_resolve_args resolve = { .size = sizeof(resolve) };
	int conn;

	ASSERT_EQ(0, conn_create(self->pair.sessions[0], &conn, NULL));
#define REFUSED(error) do {								\
	EXPECT_EQ(error, session_request(conn, KRDMA_CONN_RESOLVE, &resolve));		\
	EXPECT_EQ(KRDMA_CONN_NEW, state_of(conn));					\
} while (0)
	REFUSED(-EAFNOSUPPORT);
	resolve.remote.ss_family = AF_UNIX;
	REFUSED(-EAFNOSUPPORT);
	ASSERT_EQ(0, address_set(&resolve.remote, BOOT_ADDRESS, 0));
	REFUSED(-EINVAL);
	ASSERT_EQ(0, address_set(&resolve.remote, "0.0.0.0", 1));
	REFUSED(-EINVAL);
	ASSERT_EQ(0, address_set(&resolve.remote, BOOT_ADDRESS, 1));
	resolve.tos = 256;
	REFUSED(-EINVAL);
	resolve.tos = 0;
	resolve.ack_timeout = 32;
	REFUSED(-EINVAL);
	resolve.ack_timeout = 0;
	resolve.flags = KRDMA_RESOLVE_LOCAL;
	ASSERT_EQ(0, address_set(&resolve.local, BOOT_ADDRESS_6, 0));
	REFUSED(-EINVAL);
#undef REFUSED
	/* A local address that belongs to no RDMA device ends the connection. */
	ASSERT_EQ(0, address_set(&resolve.local, "192.0.2.1", 0));
	EXPECT_EQ(-EADDRNOTAVAIL, session_request(conn, KRDMA_CONN_RESOLVE, &resolve));
	EXPECT_EQ(0, conn_await_closed(conn, PATIENCE_MS));
	close(conn);
}

TEST_F(conn, from_an_address_of_ones_own)
{
	struct krdma_conn_resolve_args resolve = {
		.size = sizeof(resolve), .flags = KRDMA_RESOLVE_LOCAL, .timeout_ms = 5000,
		.tos = 16, .ack_timeout = 15, .remote = self->pair.address,
	};
	struct krdma_conn_query_args query;
	struct __kernel_sockaddr_storage address;

	ASSERT_EQ(0, address_set(&resolve.local, BOOT_ADDRESS, 0));
	ASSERT_EQ(0, conn_create(self->pair.a.session, &self->pair.a.conn, &self->pair.a.id));
	ASSERT_EQ(0, session_request(self->pair.a.conn, KRDMA_CONN_RESOLVE, &resolve));
	ASSERT_EQ(0, conn_wait(self->pair.a.conn, deadline_in(PATIENCE_MS), NULL));
	ASSERT_EQ(0, conn_query(self->pair.a.conn, NULL, 0, &query));
	ASSERT_EQ(0, address_set(&address, BOOT_ADDRESS, address_port(&query.local)));
	EXPECT_TRUE(address_same(&address, &query.local));
}

/*
 * Private data
 */

/* Calls @ask with shorter and shorter private data until it succeeds, with @found bytes. */
static int longest(struct end *end, struct end_options *options, uint32_t at_least,
		   int (*ask)(struct end *end, const struct end_options *options), uint32_t *found)
{
	uint32_t length;
	int ret = -EMSGSIZE;

	for (length = 300; length >= at_least && ret == -EMSGSIZE; length--) {
		options->param.private_data_len = length;
		ret = ask(end, options);
		*found = length;
	}
	return ret;
}

/*
 * If the last bytes of the private data are free, krdma stores the true length in them.
 * Otherwise the peer gets the data with its padding.
 */
#define TRAILER	8

static void expect_data(struct __test_metadata *_metadata,
			const struct krdma_conn_query_args *query,
			const unsigned char *sent, const unsigned char *got, uint32_t length,
			uint32_t most)
{
	bool exact = length + TRAILER <= most;

	EXPECT_EQ(exact, query->peer_is_krdma);
	EXPECT_EQ(exact ? length : most, query->private_data_len);
	EXPECT_EQ(0, memcmp(sent, got, length));
	EXPECT_TRUE(zeroed(got + length, query->private_data_len - length));
}

/* Proves: D6, E6 */
TEST_F(conn, private_data_of_each_length)
{
	unsigned char up[300], down[300], got[300];
	struct pair *pair = &self->pair;
	uint32_t most_up = 0, most_down = 0;
	struct krdma_conn_query_args query;
	struct pair_options options = {
		.a.param.private_data = (uintptr_t)up, .b.param.private_data = (uintptr_t)down,
	};

	fill(up, sizeof(up), 1);
	fill(down, sizeof(down), 2);
	for (int round = 0; round < 6; round++) {
		const uint32_t ups[] = { 0, 0, 1, most_up - 1, most_up - TRAILER, 8 };
		const uint32_t downs[] = { 0, 0, most_down - 1, 1, most_down - TRAILER, 9 };

		ASSERT_EQ(0, pair_resolve(pair));
		ASSERT_EQ(0, end_create_qp(&pair->a, &options.a));
		options.a.param.private_data_len = ups[round];
		ASSERT_EQ(0, round ? end_connect(&pair->a, &options.a) :
			  longest(&pair->a, &options.a, 1, end_connect, &most_up));
		ASSERT_EQ(0, listener_next(pair->listener, deadline_in(PATIENCE_MS), &pair->b.conn,
					   &pair->b.id));
		ASSERT_EQ(0, end_create_qp(&pair->b, &options.b));
		options.b.param.private_data_len = downs[round];
		ASSERT_EQ(0, round ? end_accept(&pair->b, &options.b) :
			  longest(&pair->b, &options.b, 1, end_accept, &most_down));
		ASSERT_EQ(0, pair_established(pair));

		memset(got, 0, sizeof(got));
		ASSERT_EQ(0, conn_query(pair->b.conn, got, sizeof(got), &query));
		expect_data(_metadata, &query, up, got, options.a.param.private_data_len, most_up);
		memset(got, 0xa5, sizeof(got));
		ASSERT_EQ(0, conn_query(pair->a.conn, got, sizeof(got), &query));
		expect_data(_metadata, &query, down, got, options.b.param.private_data_len,
			    most_down);
		EXPECT_EQ(0xa5, got[query.private_data_len]);
		end_close(&pair->a);
		end_close(&pair->b);
	}
	EXPECT_LE(40, most_up);
	EXPECT_LE(100, most_down);
}

TEST_F(conn, private_data_with_little_room)
{
	unsigned char data[20], got[20];
	struct pair_options options = {
		.a.param.private_data = (uintptr_t)data, .a.param.private_data_len = 20,
	};
	struct krdma_conn_query_args query;

	fill(data, sizeof(data), 1);
	ASSERT_EQ(0, pair_connect(&self->pair, &options));
	for (uint32_t room = 0; room <= 20; room++) {
		memset(got, 0, sizeof(got));
		ASSERT_EQ(0, conn_query(self->pair.b.conn, room ? got : NULL, room, &query));
		EXPECT_EQ(20, query.private_data_len);
		EXPECT_EQ(0, memcmp(data, got, room));
		EXPECT_TRUE(zeroed(got + room, 20 - room));
	}
	EXPECT_EQ(-EFAULT, conn_query(self->pair.b.conn, (void *)16, 20, &query));
}

TEST_F(conn, private_data_that_cannot_be_read)
{
	struct pair_options options = {
		.a.param.private_data = 16, .a.param.private_data_len = 20,
	};

	ASSERT_EQ(0, pair_resolve(&self->pair));
	ASSERT_EQ(0, end_create_qp(&self->pair.a, NULL));
	EXPECT_EQ(-EFAULT, end_connect(&self->pair.a, &options.a));
	EXPECT_EQ(0, end_connect(&self->pair.a, NULL));
}

/*
 * CONN_QUERY
 */

/* Proves: D4, D8, E5, E7 */
TEST_F(conn, a_query_says_what_was_granted_and_agreed)
{
	struct pair_options options = {
		.a = { .send_depth = 33, .recv_depth = 7, .max_send_sge = 3, .max_recv_sge = 2,
		       .max_inline = 64, .param = { .read_depth = 3, .read_depth_in = 2 } },
	};
	struct krdma_conn_query_args a, b;

	ASSERT_EQ(0, pair_connect(&self->pair, &options));
	ASSERT_EQ(0, conn_query(self->pair.a.conn, NULL, 0, &a));
	ASSERT_EQ(0, conn_query(self->pair.b.conn, NULL, 0, &b));
	EXPECT_EQ(self->pair.a.id, a.id);
	EXPECT_EQ(KRDMA_CONN_CONNECTED, a.state);
	EXPECT_EQ(0, a.error);
	EXPECT_EQ(self->pair.device, a.device_id);
	EXPECT_NE(0, a.qp_number);
	EXPECT_NE(a.qp_number, b.qp_number);
	EXPECT_LE(33, a.send_depth);
	EXPECT_LE(7, a.recv_depth);
	EXPECT_LE(3, a.max_send_sge);
	EXPECT_LE(2, a.max_recv_sge);
	EXPECT_LE(64, a.max_inline);
	EXPECT_EQ(3, a.read_depth);
	EXPECT_EQ(2, a.read_depth_in);
	/* Each end issues no more reads than the other one serves. */
	EXPECT_LE(a.read_depth, b.read_depth_in);
	EXPECT_LE(b.read_depth, a.read_depth_in);
	EXPECT_LE(256, a.path_mtu);
	EXPECT_EQ(a.path_mtu, b.path_mtu);
	EXPECT_EQ(0, a.sends_posted);
	EXPECT_TRUE(address_same(&a.local, &b.remote));
	EXPECT_TRUE(address_same(&b.local, &a.remote));
	EXPECT_TRUE(address_same(&self->pair.address, &b.local));
	EXPECT_LE(64, b.send_depth);
	EXPECT_LE(64, b.recv_depth);
}

/* Proves: E6 */
TEST_F(conn, terms_that_cannot_be_met)
{
	static const struct krdma_conn_param_args bad[] = {
		{ .read_depth = 256 }, { .read_depth_in = 256 }, { .read_depth = UINT32_MAX },
		{ .retry_count = 8 }, { .rnr_retry_count = 8 }, { .retry_count = 256 },
		{ .rnr_retry_count = 7, .flags = KRDMA_CONN_PARAM_NO_RNR_RETRY },
	};

	ASSERT_EQ(0, pair_resolve(&self->pair));
	ASSERT_EQ(0, end_create_qp(&self->pair.a, NULL));
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		const struct end_options options = { .param = bad[i] };

		EXPECT_EQ(-EINVAL, end_connect(&self->pair.a, &options)) {
			TH_LOG("param %zu", i);
		}
	}
	EXPECT_EQ(0, end_connect(&self->pair.a, NULL));
}

/* Proves: D4, E7 */
TEST_F(conn, queues_that_cannot_be_had)
{
	static const struct end_options bad[] = {
		{ .send_depth = UINT32_MAX }, { .recv_depth = UINT32_MAX },
		{ .max_send_sge = 10000 }, { .max_recv_sge = 10000 }, { .max_inline = 1 << 20 },
	};
	struct end *a = &self->pair.a;

	ASSERT_EQ(0, pair_resolve(&self->pair));
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		/* The limits of the device are checked before the free entries of the CQ. */
		EXPECT_EQ(-EINVAL, end_create_qp(a, &bad[i])) {
			TH_LOG("options %zu", i);
		}
		ring_close(&a->own[0]);
	}
	/* The CQ has fewer entries than a connection with default depths reserves. */
	EXPECT_EQ(-ENOSPC, end_create_qp(a, &(struct end_options) {
		.ring_options.cq_entries = 64 }));
	ring_close(&a->own[0]);
	EXPECT_EQ(0, end_create_qp(a, NULL));
}

TEST_F(conn, descriptors_of_another_kind_or_session)
{
	struct krdma_conn_create_qp_args args = { .size = sizeof(args) };
	int other = session_open(O_CLOEXEC);
	struct ring ring, foreign;
	int conn;

	ASSERT_LE(0, other);
	ASSERT_EQ(0, pair_resolve(&self->pair));
	conn = self->pair.a.conn;
	ASSERT_EQ(0, ring_create(self->pair.sessions[0], NULL, &ring));
	ASSERT_EQ(0, ring_create(other, NULL, &foreign));
#define PREPARE(error, ...) do {							\
	args = (struct krdma_conn_create_qp_args) { .size = sizeof(args), __VA_ARGS__ };	\
	EXPECT_EQ(error, session_request(conn, KRDMA_CONN_CREATE_QP, &args));		\
} while (0)
	PREPARE(-EBADF, .ring_fd = -1);
	PREPARE(-EBADF, .ring_fd = 999999);
	PREPARE(-EPROTOTYPE, .ring_fd = 0);
	PREPARE(-EPROTOTYPE, .ring_fd = conn);
	PREPARE(-EPROTOTYPE, .ring_fd = self->pair.listener);
	PREPARE(-EPROTOTYPE, .ring_fd = other);
	PREPARE(-EXDEV, .ring_fd = foreign.fd);
	PREPARE(-EPROTOTYPE, .ring_fd = ring.fd, .flags = KRDMA_CREATE_QP_RECV_RING,
		.recv_ring_fd = conn);
	PREPARE(-EXDEV, .ring_fd = ring.fd, .flags = KRDMA_CREATE_QP_RECV_RING,
		.recv_ring_fd = foreign.fd);
	PREPARE(-EPROTOTYPE, .ring_fd = ring.fd, .flags = KRDMA_CREATE_QP_SRQ,
		.srq_fd = ring.fd);
	PREPARE(-EINVAL, .ring_fd = ring.fd, .keepalive_ms = 99);
	PREPARE(-EINVAL, .ring_fd = ring.fd, .keepalive_ms = 3600001);
	PREPARE(0, .ring_fd = ring.fd);
	PREPARE(-EALREADY, .ring_fd = ring.fd);
#undef PREPARE
	ring_close(&ring);
	ring_close(&foreign);
	close(other);
}

/*
 * States, races, ends
 */

static bool has_ended(uint32_t state)
{
	return state == KRDMA_CONN_CLOSING || state == KRDMA_CONN_CLOSED;
}

/* Proves: A8 */
TEST_F(conn, requests_in_the_wrong_state)
{
	struct end *a = &self->pair.a, *b = &self->pair.b;
	struct ring ring;
	const struct end_options with = { .ring = &ring };
	uint32_t before;
	int ret;

	ASSERT_EQ(0, ring_create(self->pair.sessions[0], &(struct ring_options) {
		.cq_entries = 1024 }, &ring));
	ASSERT_EQ(0, conn_create(a->session, &a->conn, &a->id));
	EXPECT_EQ(-ENOTCONN, end_create_qp(a, &with));
	EXPECT_EQ(-ENOTCONN, end_connect(a, NULL));
	EXPECT_EQ(-EINVAL, end_accept(a, NULL));
	EXPECT_EQ(-EINVAL, conn_reject(a->conn, NULL, 0));
	EXPECT_EQ(-ENOTCONN, conn_disconnect(a->conn, 0));

	ASSERT_EQ(0, conn_resolve(a->conn, &self->pair.address));
	EXPECT_EQ(-EALREADY, conn_resolve(a->conn, &self->pair.address));
	ASSERT_EQ(0, conn_wait(a->conn, deadline_in(PATIENCE_MS), NULL));
	EXPECT_EQ(-EBUSY, end_connect(a, NULL));
	ASSERT_EQ(0, pair_meet(&self->pair, &(struct pair_options) { .a = with }));
	EXPECT_EQ(-EALREADY, end_connect(a, NULL));
	EXPECT_EQ(-EBUSY, end_accept(b, NULL));
	EXPECT_EQ(-EINVAL, end_connect(b, NULL));
	EXPECT_EQ(-EALREADY, conn_resolve(b->conn, &self->pair.address));
	ASSERT_EQ(0, end_create_qp(b, &with));
	ASSERT_EQ(0, end_accept(b, NULL));
	ASSERT_EQ(0, pair_established(&self->pair));

	for (int i = 0; i < 2; i++) {
		struct end *end = i ? b : a;

		EXPECT_EQ(-EISCONN, conn_resolve(end->conn, &self->pair.address));
		EXPECT_EQ(-EISCONN, end_create_qp(end, &with));
		EXPECT_EQ(-EISCONN, end_connect(end, NULL));
		EXPECT_EQ(i ? -EISCONN : -EINVAL, end_accept(end, NULL));
		EXPECT_EQ(i ? -EISCONN : -EINVAL, conn_reject(end->conn, NULL, 0));
	}
	ASSERT_EQ(0, conn_disconnect(a->conn, 0));
	before = conn_state(a->conn);
	ret = conn_disconnect(a->conn, 0);
	/*
	 * Until the peer has answered, the connection is disconnecting: -EALREADY.  Afterwards it
	 * is over: -ENOTCONN.
	 */
	EXPECT_EQ(before == KRDMA_CONN_DISCONNECTING &&
		  (ret == -EALREADY || !has_ended(conn_state(a->conn))) ?
		  -EALREADY : -ENOTCONN, ret);
	ASSERT_EQ(0, conn_await_closed(a->conn, PATIENCE_MS));
	ASSERT_EQ(0, conn_await_closed(b->conn, PATIENCE_MS));
	for (int i = 0; i < 2; i++) {
		struct end *end = i ? b : a;

		EXPECT_EQ(-ENOTCONN, conn_resolve(end->conn, &self->pair.address));
		EXPECT_EQ(-ENOTCONN, end_create_qp(end, &with));
		EXPECT_EQ(-ENOTCONN, conn_disconnect(end->conn, 0));
	}
	ring_close(&ring);
}

struct racer {
	struct end *end;
	pthread_barrier_t *barrier;
	unsigned int delay;
	int ret;
	/* State of the connection before and after the call. */
	uint32_t before;
	uint32_t after;
};

static void *race_to_accept(void *argument)
{
	struct racer *racer = argument;

	pthread_barrier_wait(racer->barrier);
	racer->before = conn_state(racer->end->conn);
	racer->ret = end_accept(racer->end, NULL);
	racer->after = conn_state(racer->end->conn);
	return NULL;
}

/* The errno of a loser depends on the state of the connection by then: accepting or connected. */
static int loser_error(const struct racer *racer)
{
	if (racer->before == KRDMA_CONN_CONNECTED)
		return -EISCONN;
	if (racer->after != KRDMA_CONN_CONNECTED)
		return -EALREADY;
	return racer->ret == -EISCONN ? -EISCONN : -EALREADY;
}

/* Proves: A6 */
TEST_F(conn, of_racing_accepts_one_wins)
{
	struct racer racers[4];
	pthread_barrier_t barrier;
	pthread_t threads[4];

	for (unsigned int round = 0; round < rounds(10, 3); round++) {
		int won = 0;

		ASSERT_EQ(0, pair_resolve(&self->pair));
		ASSERT_EQ(0, pair_meet(&self->pair, NULL));
		ASSERT_EQ(0, end_create_qp(&self->pair.b, NULL));
		pthread_barrier_init(&barrier, NULL, 4);
		for (int i = 0; i < 4; i++) {
			racers[i] = (struct racer) { .end = &self->pair.b, .barrier = &barrier };
			ASSERT_EQ(0, pthread_create(&threads[i], NULL, race_to_accept,
						    &racers[i]));
		}
		for (int i = 0; i < 4; i++) {
			pthread_join(threads[i], NULL);
			won += !racers[i].ret;
			if (racers[i].ret)
				EXPECT_EQ(loser_error(&racers[i]), racers[i].ret);
		}
		EXPECT_EQ(1, won);
		EXPECT_EQ(0, pair_established(&self->pair));
		end_close(&self->pair.a);
		end_close(&self->pair.b);
	}
}

/*
 * Calls on a connection request that the peer gives up at the same time.  The call fails if
 * this side knew of the end before.
 */
static int on_a_request(struct end *end, int (*call)(struct end *, const struct end_options *),
			struct racer *racer)
{
	racer->before = conn_state(end->conn);
	racer->ret = call(end, NULL);
	return racer->ret;
}

/* The call may see the end although the query before it did not. */
static int given_up_error(const struct racer *racer)
{
	return has_ended(racer->before) || racer->ret ? -ENOTCONN : 0;
}

static void *close_soon(void *argument)
{
	struct racer *racer = argument;

	pthread_barrier_wait(racer->barrier);
	usleep(racer->delay);
	end_close(racer->end);
	return NULL;
}

/* What calls have shown so far: the longest delay after which one was early, and so on. */
struct search {
	unsigned int early;
	unsigned int late;
	bool was_early;
	bool was_late;
};

/*
 * Delay of the next call: first searches the delay at which the outcome changes, then stays as
 * close to it as possible.
 */
static unsigned int next_delay(struct search *search, unsigned int delay, bool late)
{
	if (late && (!search->was_late || delay < search->late))
		search->late = delay;
	if (!late && delay > search->early)
		search->early = delay;
	search->was_late |= late;
	search->was_early |= !late;
	if (!search->was_late)
		return delay < 500000 ? delay * 2 : delay;
	if (!search->was_early)
		return delay / 2;
	if (search->late > search->early + search->late / 32 + 1)
		return search->early + (search->late - search->early) / 2;
	return late ? delay * 31 / 32 : delay * 32 / 31 + 1;
}

/* The errno must not be one that stands for a limit of the device. */
/* Proves: A8 */
TEST_F_TIMEOUT(conn, a_request_is_given_up_while_it_is_prepared, 300)
{
	struct racer racer = { .end = &self->pair.a, .delay = 2000 };
	unsigned int late = 0, met = 0, delay = 1000;
	struct search search = { 0 };
	pthread_barrier_t barrier;
	pthread_t thread;
	int ret;

	pthread_barrier_init(&barrier, NULL, 2);
	racer.barrier = &barrier;
	for (unsigned int round = 0; round < rounds(200, 20); round++) {
		ASSERT_EQ(0, pair_resolve(&self->pair));
		ASSERT_EQ(0, pair_meet(&self->pair, NULL));
		ASSERT_EQ(0, pthread_create(&thread, NULL, close_soon, &racer));
		pthread_barrier_wait(&barrier);
		usleep(delay);
		ret = on_a_request(&self->pair.b, end_create_qp, &racer);
		pthread_join(thread, NULL);
		late += !!ret;
		met += ret && !has_ended(racer.before);
		delay = next_delay(&search, delay, ret);
		EXPECT_EQ(given_up_error(&racer), ret);
		EXPECT_EQ(0, conn_await_closed(self->pair.b.conn, PATIENCE_MS));
		EXPECT_EQ(-ECONNRESET, conn_wait(self->pair.b.conn, 0, NULL));
		end_close(&self->pair.b);
	}
	printf("# too late %u times, %u of them only during the call\n", late, met);
	EXPECT_LT(0, late);
	EXPECT_GT(rounds(200, 20), late);
}

/* The errno must not be one of the device: the cause is the peer, which gives up meanwhile. */
/* Proves: A8 */
TEST_F_TIMEOUT(conn, a_request_is_given_up_while_it_is_accepted, 300)
{
	struct racer racer = { .end = &self->pair.a };
	unsigned int late = 0, met = 0, delay = 1000;
	struct search search = { 0 };
	pthread_barrier_t barrier;
	pthread_t thread;
	int ret;

	pthread_barrier_init(&barrier, NULL, 2);
	racer.barrier = &barrier;
	for (unsigned int round = 0; round < rounds(200, 20); round++) {
		ASSERT_EQ(0, pair_resolve(&self->pair));
		ASSERT_EQ(0, pair_meet(&self->pair, NULL));
		ASSERT_EQ(0, end_create_qp(&self->pair.b, NULL));
		ASSERT_EQ(0, pthread_create(&thread, NULL, close_soon, &racer));
		pthread_barrier_wait(&barrier);
		usleep(delay);
		ret = on_a_request(&self->pair.b, end_accept, &racer);
		pthread_join(thread, NULL);
		late += !!ret;
		met += ret && !has_ended(racer.before);
		delay = next_delay(&search, delay, ret);
		EXPECT_EQ(given_up_error(&racer), ret);
		EXPECT_EQ(0, conn_await_closed(self->pair.b.conn, PATIENCE_MS));
		EXPECT_EQ(conn_was_connected(self->pair.b.conn) ? -EPIPE : -ECONNRESET,
			  conn_wait(self->pair.b.conn, 0, NULL));
		end_close(&self->pair.b);
	}
	printf("# too late %u times, %u of them only during the call\n", late, met);
	EXPECT_LT(0, late);
	EXPECT_GT(rounds(200, 20), late);
}

/*
 * Keepalive
 */

#define KEEPALIVE	"/sys/module/krdma/parameters/keepalive_ms"
#define SENT		"/sys/class/infiniband/" BOOT_DEVICE "/ports/1/hw_counters/sent_pkts"

/* -1 if the device does not count the packets that it sends, as only a fake one may. */
static long packets_so_far(struct __test_metadata *_metadata)
{
	char line[32];
	int error = read_line(line, sizeof(line), SENT);

	EXPECT_TRUE(!error || getenv("KRDMA_LINK")) {
		TH_LOG("%s cannot be read: %d", SENT, error);
	}
	return error ? -1 : strtol(line, NULL, 10);
}

/* The packets that the device sends in a second; -1 if it does not count them. */
static long packets_of_a_second(struct __test_metadata *_metadata)
{
	long before = packets_so_far(_metadata);

	if (before < 0)
		return -1;
	sleep_ms(1000);
	return packets_so_far(_metadata) - before;
}

/* Proves: E6 */
TEST_F(conn, an_idle_peer_is_probed_unless_that_is_not_wanted)
{
	const struct pair_options never = {
		.a.keepalive_ms = KRDMA_KEEPALIVE_NEVER, .b.keepalive_ms = KRDMA_KEEPALIVE_NEVER,
	};
	char saved[32];
	long packets;

	ASSERT_EQ(0, read_line(saved, sizeof(saved), KEEPALIVE));
	EXPECT_STREQ("5000", saved);
	EXPECT_EQ(-EINVAL, write_text(KEEPALIVE, "99"));
	EXPECT_EQ(-EINVAL, write_text(KEEPALIVE, "3600001"));
	EXPECT_EQ(-EINVAL, write_text(KEEPALIVE, "-1"));
	ASSERT_EQ(0, write_text(KEEPALIVE, "100"));
	EXPECT_EQ(0, pair_connect(&self->pair, NULL));
	EXPECT_EQ(0, write_text(KEEPALIVE, saved));
	packets = packets_of_a_second(_metadata);
	/* Each end probes the other one some nine times. */
	EXPECT_TRUE(packets < 0 || packets >= 10) {
		TH_LOG("%ld packets", packets);
	}
	EXPECT_EQ(KRDMA_CONN_CONNECTED, state_of(self->pair.a.conn));
	EXPECT_EQ(KRDMA_CONN_CONNECTED, state_of(self->pair.b.conn));
	EXPECT_EQ(0, poll_mask(self->pair.a.conn, POLLRDHUP, 0));

	pair_close(&self->pair);
	ASSERT_EQ(0, write_text(KEEPALIVE, "100"));
	EXPECT_EQ(0, pair_open(&self->pair, &never));
	EXPECT_EQ(0, write_text(KEEPALIVE, saved));
	/* Those of the connection manager have been sent. */
	sleep_ms(1000);
	EXPECT_GE(0, packets_of_a_second(_metadata));
	EXPECT_EQ(KRDMA_CONN_CONNECTED, state_of(self->pair.a.conn));
}

/* A connection in which only the accepting end may probe, if its listener and its QP say so. */
static void accept_with(struct __test_metadata *_metadata, struct pair *pair, uint32_t listener_ms,
			uint32_t ms)
{
	const struct end_options client = { .keepalive_ms = KRDMA_KEEPALIVE_NEVER };
	struct krdma_listen_args listen = { .size = sizeof(listen), .keepalive_ms = listener_ms };
	struct end_options server = { .keepalive_ms = ms };

	ASSERT_EQ(0, address_set(&listen.address, BOOT_ADDRESS, 0));
	ASSERT_EQ(0, session_request(pair->sessions[0], KRDMA_LISTEN, &listen));
	end_init(&pair->b, pair->sessions[0]);
	ASSERT_EQ(0, end_rings_create(&pair->b));
	server.ring = &pair->b.own[0];
	ASSERT_EQ(0, end_ask(&pair->a, pair->sessions[0], &listen.address, &client));
	ASSERT_EQ(0, listener_next(listen.fd, deadline_in(PATIENCE_MS), &pair->b.conn,
				   &pair->b.id));
	/* The listener's setting stays with the request. */
	close(listen.fd);
	ASSERT_EQ(0, end_create_qp(&pair->b, &server));
	ASSERT_EQ(0, end_accept(&pair->b, NULL));
	ASSERT_EQ(0, conn_wait(pair->a.conn, deadline_in(PATIENCE_MS), NULL));
	ASSERT_EQ(0, conn_wait(pair->b.conn, deadline_in(PATIENCE_MS), NULL));
	/* The packets of the connection manager have been sent. */
	sleep_ms(1000);
}

static void close_ends(struct pair *pair)
{
	end_close(&pair->a);
	end_close(&pair->b);
}

/* Proves: E14 */
TEST_F_TIMEOUT(conn, a_listener_says_how_often_those_are_probed_whom_it_accepts, 300)
{
	struct pair *pair = &self->pair;
	long packets;

	accept_with(_metadata, pair, 100, 0);
	packets = packets_of_a_second(_metadata);
	EXPECT_TRUE(packets < 0 || packets >= 5) {
		TH_LOG("%ld packets", packets);
	}
	close_ends(pair);
	/* What the QP is created with counts more. */
	accept_with(_metadata, pair, 100, KRDMA_KEEPALIVE_NEVER);
	EXPECT_GE(0, packets_of_a_second(_metadata));
	close_ends(pair);
	accept_with(_metadata, pair, KRDMA_KEEPALIVE_NEVER, 100);
	packets = packets_of_a_second(_metadata);
	EXPECT_TRUE(packets < 0 || packets >= 5) {
		TH_LOG("%ld packets", packets);
	}
	close_ends(pair);
	/* "Never" holds for more than the 5 seconds of the module's parameter. */
	accept_with(_metadata, pair, KRDMA_KEEPALIVE_NEVER, 0);
	for (int i = 0; i < 7; i++)
		EXPECT_GE(0, packets_of_a_second(_metadata));
	close_ends(pair);
}

/* Proves: D8 */
TEST_F(conn, an_abort_is_at_once)
{
	struct end *a = &self->pair.a, *b = &self->pair.b;

	ASSERT_EQ(0, pair_connect(&self->pair, NULL));
	ASSERT_EQ(0, conn_disconnect(a->conn, KRDMA_DISCONNECT_ABORT));
	EXPECT_EQ(0, conn_await_closed(a->conn, PATIENCE_MS));
	EXPECT_EQ(-ECONNABORTED, conn_wait(a->conn, 0, NULL));
	EXPECT_EQ(0, conn_await_closed(b->conn, PATIENCE_MS));
	EXPECT_EQ(-EPIPE, conn_wait(b->conn, 0, NULL));
}

TEST_F(conn, closing_it_ends_it_for_the_peer)
{
	struct end *b = &self->pair.b;

	ASSERT_EQ(0, pair_connect(&self->pair, NULL));
	end_close(&self->pair.a);
	EXPECT_EQ(0, conn_await_closed(b->conn, PATIENCE_MS));
	EXPECT_EQ(-EPIPE, conn_wait(b->conn, 0, NULL));
}

TEST_F(conn, it_outlives_its_session_listener_and_queues)
{
	struct krdma_conn_query_args query;
	int a, b;

	ASSERT_EQ(0, pair_connect(&self->pair, NULL));
	a = dup(self->pair.a.conn);
	b = dup(self->pair.b.conn);
	pair_close(&self->pair);
	ASSERT_EQ(0, conn_query(a, NULL, 0, &query));
	EXPECT_EQ(KRDMA_CONN_CONNECTED, query.state);
	EXPECT_EQ(0, conn_disconnect(a, 0));
	EXPECT_EQ(0, conn_await_closed(b, PATIENCE_MS));
	close(a);
	close(b);
}

/* Checks the first line of /proc/self/fdinfo that begins with @key. */
static bool proc_says(int fd, const char *key, const char *value)
{
	char path[64], line[256];
	size_t length = strlen(key);
	bool says = false;
	FILE *info;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	info = fopen(path, "re");
	while (info && fgets(line, sizeof(line), info)) {
		line[strcspn(line, "\n")] = '\0';
		if (strncmp(line, key, length) || line[length] != ':')
			continue;
		says = !strcmp(line + length + 2, value);
		if (!says)
			printf("# %s\n", line);
		break;
	}
	if (info)
		fclose(info);
	return says;
}

static const char *number(char text[32], uint64_t value)
{
	snprintf(text, 32, "%llu", (unsigned long long)value);
	return text;
}

/* /proc/PID/fdinfo shows the kind and the state of each descriptor. */
TEST(what_proc_tells_of_each_descriptor)
{
	struct krdma_srq_create_args srq = { .size = sizeof(srq), .depth = 4 };
	char text[64], digits[32];
	struct krdma_conn_query_args query;
	struct mr mr;
	struct pair pair;

	ASSERT_EQ(0, pair_open(&pair, NULL));
	ASSERT_EQ(0, mr_create(pair.sessions[0], pair.device, 8192, ACCESS_ALL, &mr));
	EXPECT_EQ(KRDMA_WC_SUCCESS,
		  pair_operate(&pair, sqe_remote(KRDMA_OP_WRITE, pair.a.id, 1, &mr, 0, 64,
						 &mr, 4096)));
	srq.device_id = pair.device;
	srq.ring_fd = pair.a.ring->fd;
	ASSERT_EQ(0, session_request(pair.sessions[0], KRDMA_SRQ_CREATE, &srq));

	EXPECT_TRUE(proc_says(pair.sessions[0], "krdma", "session"));
	EXPECT_TRUE(proc_says(pair.sessions[0], "mr_count", "1"));
	EXPECT_TRUE(proc_says(pair.sessions[0], "mr_bytes", "8192"));
	EXPECT_TRUE(proc_says(pair.sessions[0], "device_notifier", "0"));

	ASSERT_EQ(0, conn_query(pair.a.conn, NULL, 0, &query));
	EXPECT_TRUE(proc_says(pair.a.conn, "krdma", "connection"));
	EXPECT_TRUE(proc_says(pair.a.conn, "id", number(digits, pair.a.id)));
	EXPECT_TRUE(proc_says(pair.a.conn, "state", "connected"));
	EXPECT_TRUE(proc_says(pair.a.conn, "qp", number(digits, query.qp_number)));
	EXPECT_TRUE(proc_says(pair.a.conn, "sends_posted", "1"));
	EXPECT_TRUE(proc_says(pair.a.conn, "sends_completed", "1"));
	EXPECT_TRUE(proc_says(pair.a.conn, "receives_posted", "0"));
	snprintf(text, sizeof(text), BOOT_ADDRESS ":%u", address_port(&pair.address));
	EXPECT_TRUE(proc_says(pair.a.conn, "remote", text));
	EXPECT_TRUE(proc_says(pair.listener, "krdma", "listener"));
	EXPECT_TRUE(proc_says(pair.listener, "local", text));
	EXPECT_TRUE(proc_says(pair.listener, "waiting", "0"));

	EXPECT_TRUE(proc_says(pair.a.ring->fd, "krdma", "ring"));
	EXPECT_TRUE(proc_says(pair.a.ring->fd, "submitted", "1"));
	EXPECT_TRUE(proc_says(pair.a.ring->fd, "completed", "1"));
	EXPECT_TRUE(proc_says(pair.a.ring->fd, "untaken", "0"));
	EXPECT_TRUE(proc_says(srq.fd, "krdma", "srq"));
	EXPECT_TRUE(proc_says(srq.fd, "id", number(digits, srq.id)));

	ASSERT_EQ(0, conn_disconnect(pair.b.conn, 0));
	ASSERT_EQ(0, conn_await_closed(pair.a.conn, PATIENCE_MS));
	EXPECT_TRUE(proc_says(pair.a.conn, "state", "closed"));
	EXPECT_TRUE(proc_says(pair.a.conn, "error", "-32"));
	close(srq.fd);
	mr_destroy(&mr);
	pair_close(&pair);
}

TEST_HARNESS_MAIN
