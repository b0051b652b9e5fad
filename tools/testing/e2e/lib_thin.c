// SPDX-License-Identifier: GPL-2.0
/*
 * libkrdma over a device: sessions, listeners, connections, rings.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <krdma_entry.h>

#include "kselftest_harness.h"
#include "fabric.h"
#include "lib_pair.h"
#include "session.h"

#define PRIVATE	"who goes there"

FIXTURE(thin)
{
	struct lib_pair pair;
	struct krdma_mr *mr;
	struct krdma_remote_mr remote;
};

FIXTURE_VARIANT(thin)
{
	uint32_t ring_flags;
};

/* clang-format off */
FIXTURE_VARIANT_ADD(thin, event) {};
FIXTURE_VARIANT_ADD(thin, polled) { .ring_flags = KRDMA_RING_POLLED };

/* clang-format on */

FIXTURE_SETUP(thin)
{
	unsigned char descriptor[KRDMA_MR_DESC_SIZE];

	ASSERT_EQ(0, lib_pair_open(&self->pair, LIB_ADDRESS, variant->ring_flags));
	ASSERT_EQ(0, krdma_mr_alloc(self->pair.session, self->pair.device, 1 << 16,
				    lib_pair_access(&self->pair), &self->mr));
	/* The peer offers the second half of the memory. */
	ASSERT_EQ(0, krdma_mr_describe(self->mr, 1 << 15, 0, descriptor));
	ASSERT_EQ(0, krdma_remote_mr_from_desc(descriptor, sizeof(descriptor), &self->remote));
}

FIXTURE_TEARDOWN(thin)
{
	lib_pair_close(&self->pair);
	EXPECT_EQ(0, krdma_mr_deregister(self->mr, 0));
	EXPECT_EQ(0, krdma_close(self->pair.session));
}

static struct krdma_sqe write_of(FIXTURE_DATA(thin) * self, uint64_t wr_id)
{
	return krdma_entry_write(self->pair.a, wr_id, self->mr, 0, 64, &self->remote, 0);
}

/* Post @entry and wait.  Returns the status; *@cqe is the completion. */
static int operate(FIXTURE_DATA(thin) * self, struct krdma_sqe entry, struct krdma_cqe *cqe)
{
	size_t accepted, taken;
	int err = krdma_ring_enter(self->pair.rings[0], &entry, 1, &accepted, cqe, 1, 1,
				   LIB_PATIENCE, &taken);

	if (err || accepted != 1 || taken != 1)
		return err ? err : -EPROTO;
	return cqe->wr_id == entry.wr_id && cqe->opcode == entry.opcode ? cqe->status : -EPROTO;
}

TEST_F(thin, connections_know_each_other)
{
	struct sockaddr_storage address;
	struct krdma_conn_query_args a, b;

	ASSERT_EQ(0, krdma_conn_query(self->pair.a, &a, sizeof(a)));
	ASSERT_EQ(0, krdma_conn_query(self->pair.b, &b, sizeof(b)));
	EXPECT_EQ(KRDMA_CONN_CONNECTED, a.state);
	EXPECT_EQ(KRDMA_CONN_CONNECTED, b.state);
	EXPECT_EQ(krdma_conn_id(self->pair.a), a.id);
	EXPECT_EQ(1, a.peer_is_krdma);
	EXPECT_EQ(0, memcmp(&a.local, &b.remote, sizeof(a.local)));
	ASSERT_EQ(0, krdma_listener_address(self->pair.listener, &address));
	EXPECT_EQ(0, memcmp(&address, &a.remote, sizeof(address)));
	EXPECT_EQ(AF_INET, address.ss_family);
}

/* Proves: D6 */
TEST_F(thin, private_data_both_ways)
{
	struct krdma_conn *conns[] = { self->pair.a, self->pair.b };
	static const char * const texts[] = { LIB_ANSWER, LIB_QUESTION };
	char data[64];
	size_t length;

	for (int i = 0; i < 2; i++) {
		length = sizeof(data);
		ASSERT_EQ(0, krdma_conn_private_data(conns[i], data, &length));
		ASSERT_EQ(strlen(texts[i]), length);
		EXPECT_EQ(0, memcmp(texts[i], data, length));
		/* A buffer that is too short: the call returns the full length. */
		length = 3;
		memset(data, 0, sizeof(data));
		ASSERT_EQ(0, krdma_conn_private_data(conns[i], data, &length));
		EXPECT_EQ(strlen(texts[i]), length);
		EXPECT_EQ(0, data[3]);
		length = 0;
		EXPECT_EQ(0, krdma_conn_private_data(conns[i], NULL, &length));
	}
}

/* Proves: F14 */
TEST_F(thin, a_listener_with_options)
{
	struct krdma_listen_args options = { .size = sizeof(options), .request_timeout_ms = 100 };
	struct krdma *session = self->pair.session;
	struct krdma_listener_query_args query;
	struct krdma_listener *listener;
	struct sockaddr_storage address;
	struct krdma_conn *conn;

	ASSERT_EQ(0, krdma_listener_address(self->pair.listener, &address));
	((struct sockaddr_in *)&address)->sin_port = 0;
	EXPECT_EQ(-EINVAL, krdma_listen_options(NULL, (struct sockaddr *)&address, NULL,
						&listener));
	EXPECT_EQ(-EINVAL, krdma_listen_options(session, (struct sockaddr *)&address, NULL, NULL));
	options.request_timeout_ms = 1;
	EXPECT_EQ(-EINVAL, krdma_listen_options(session, (struct sockaddr *)&address, &options,
						&listener));
	ASSERT_EQ(0, krdma_listen_options(session, (struct sockaddr *)&address, NULL, &listener));
	EXPECT_EQ(0, krdma_listener_close(listener));
	options.request_timeout_ms = 100;
	ASSERT_EQ(0, krdma_listen_options(session, (struct sockaddr *)&address, &options,
					  &listener));
	ASSERT_EQ(0, krdma_listener_address(listener, &address));
	EXPECT_EQ(-EINVAL, krdma_listener_query(NULL, &query, sizeof(query)));
	EXPECT_EQ(-EINVAL, krdma_listener_query(listener, NULL, sizeof(query)));
	EXPECT_EQ(-EINVAL, krdma_listener_query(listener, &query, 8));

	ASSERT_EQ(0, krdma_conn_create(session, &conn));
	ASSERT_EQ(0, krdma_conn_resolve(conn, (struct sockaddr *)&address, &lib_patient));
	ASSERT_EQ(0, krdma_conn_wait(conn, LIB_PATIENCE, NULL));
	ASSERT_EQ(0, krdma_conn_create_qp(conn, self->pair.rings[0], NULL, NULL, NULL));
	ASSERT_EQ(0, krdma_conn_connect(conn, NULL, NULL, 0));
	EXPECT_EQ(-ECONNREFUSED, krdma_conn_wait(conn, LIB_PATIENCE, NULL));
	ASSERT_EQ(0, krdma_listener_query(listener, &query, sizeof(query)));
	EXPECT_EQ(1, query.expired);
	EXPECT_EQ(0, query.waiting);
	EXPECT_EQ(0, krdma_conn_close(conn));
	EXPECT_EQ(0, krdma_listener_close(listener));
}

/* Memory that the peer of a lane finds by its name.  Both ends are in the same session. */
static void names_over(struct __test_metadata *_metadata, FIXTURE_DATA(thin) * self,
		       struct krdma_conn *lane)
{
	struct krdma *session = self->pair.session;
	char longest[KRDMA_NAME_MAX + 1] = {};
	struct krdma_remote_mr remote;
	struct krdma_mr *named, *other;
	uint64_t length = 7;

	memset(longest, 'n', KRDMA_NAME_MAX);
	ASSERT_EQ(0, krdma_mr_alloc_for_lanes(session, self->pair.device, 8192,
					      lib_pair_access(&self->pair), 0, &named));
	ASSERT_EQ(0, krdma_mr_alloc_for_lanes(session, self->pair.device, 4096,
					      KRDMA_ACCESS_REMOTE_READ, 0, &other));
	EXPECT_EQ(-EINVAL, krdma_mr_set_name(NULL, "a name"));
	EXPECT_EQ(-EINVAL, krdma_mr_set_name(named, longest));
	/* Lanes cannot use the fixture's memory. */
	EXPECT_EQ(-EACCES, krdma_mr_set_name(self->mr, "a name"));
	ASSERT_EQ(0, krdma_mr_set_name(named, "a name"));
	EXPECT_EQ(0, krdma_mr_set_name(named, "a name"));
	EXPECT_EQ(-EEXIST, krdma_mr_set_name(other, "a name"));

	EXPECT_EQ(-EINVAL, krdma_conn_find_mr(NULL, "a name", 0, LIB_PATIENCE, &remote, NULL));
	EXPECT_EQ(-EINVAL, krdma_conn_find_mr(lane, NULL, 0, LIB_PATIENCE, &remote, NULL));
	EXPECT_EQ(-EINVAL, krdma_conn_find_mr(lane, "", 0, LIB_PATIENCE, &remote, NULL));
	EXPECT_EQ(-EINVAL, krdma_conn_find_mr(lane, longest, 0, LIB_PATIENCE, &remote, NULL));
	EXPECT_EQ(-EINVAL, krdma_conn_find_mr(lane, "a name", 0, LIB_PATIENCE, NULL, NULL));
	EXPECT_EQ(-EPROTONOSUPPORT, krdma_conn_find_mr(self->pair.a, "a name", 0, LIB_PATIENCE,
						       &remote, NULL));
	EXPECT_EQ(-ENOENT, krdma_conn_find_mr(lane, "another", 0, LIB_PATIENCE, &remote,
					      &length));
	EXPECT_EQ(-ERANGE, krdma_conn_find_mr(lane, "a name", 8192, LIB_PATIENCE, &remote,
					      &length));
	EXPECT_EQ(7, length);
	ASSERT_EQ(0, krdma_conn_find_mr(lane, "a name", 4097, LIB_PATIENCE, &remote, &length));
	EXPECT_EQ((uintptr_t)krdma_mr_data(named) + 4097, remote.addr);
	EXPECT_EQ(8192 - 4097, remote.length);
	EXPECT_EQ(krdma_mr_rkey(named), remote.key);
	EXPECT_EQ(lib_pair_access(&self->pair) & ~KRDMA_ACCESS_LOCAL_WRITE, remote.access);
	EXPECT_EQ(8192, length);

	/* Another name replaces it, and none takes it away.  The longest one has 63 bytes. */
	longest[KRDMA_NAME_MAX - 1] = 0;
	ASSERT_EQ(0, krdma_mr_set_name(named, longest));
	EXPECT_EQ(-ENOENT, krdma_conn_find_mr(lane, "a name", 0, LIB_PATIENCE, &remote, NULL));
	ASSERT_EQ(0, krdma_conn_find_mr(lane, longest, 0, LIB_PATIENCE, &remote, NULL));
	EXPECT_EQ(8192, remote.length);
	ASSERT_EQ(0, krdma_mr_set_name(named, NULL));
	EXPECT_EQ(-ENOENT, krdma_conn_find_mr(lane, longest, 0, LIB_PATIENCE, &remote, NULL));
	EXPECT_EQ(0, krdma_mr_set_name(other, longest));
	EXPECT_EQ(0, krdma_mr_set_name(other, ""));
	EXPECT_EQ(0, krdma_mr_deregister(named, 0));
	EXPECT_EQ(0, krdma_mr_deregister(other, 0));
}

TEST_F(thin, a_lane_and_its_memory)
{
	struct krdma *session = self->pair.session;
	struct krdma_listener *listener;
	struct sockaddr_storage address;
	struct krdma_conn *a, *b;
	struct krdma_mr *own, *new;
	struct krdma_sqe entries[2];
	struct krdma_cqe cqe;
	uint64_t trunk, other;
	size_t accepted, taken;
	uint32_t flags;
	void *data;

	/* The fixture's connection is a plain one. */
	EXPECT_EQ(-EINVAL, krdma_conn_trunk(NULL, &trunk));
	EXPECT_EQ(-EINVAL, krdma_conn_trunk(self->pair.a, NULL));
	trunk = 7;
	EXPECT_EQ(0, krdma_conn_trunk(self->pair.a, &trunk));
	EXPECT_EQ(0, trunk);
	ASSERT_EQ(0, krdma_listener_flags(self->pair.listener, &flags));
	EXPECT_EQ(0, flags);
	EXPECT_EQ(-EINVAL, krdma_listener_flags(self->pair.listener, NULL));
	EXPECT_EQ(-EINVAL, krdma_listener_flags(NULL, &flags));
	EXPECT_EQ(-EINVAL, krdma_conn_create_lane(session, NULL));
	EXPECT_EQ(-EINVAL, krdma_conn_create_lane(NULL, &a));
	EXPECT_EQ(-EINVAL, krdma_mr_register_for_lanes(session, self->pair.device, &data, 1, 0, 0,
						       NULL));
	EXPECT_EQ(-EINVAL, krdma_mr_alloc_for_lanes(session, self->pair.device, 0, 0, 0, &new));

	ASSERT_EQ(0, krdma_listener_address(self->pair.listener, &address));
	((struct sockaddr_in *)&address)->sin_port = 0;
	ASSERT_EQ(0, krdma_listen(session, (struct sockaddr *)&address, KRDMA_LISTEN_LANES, 0,
				  &listener));
	ASSERT_EQ(0, krdma_listener_flags(listener, &flags));
	EXPECT_EQ(KRDMA_LISTEN_LANES, flags);
	ASSERT_EQ(0, krdma_listener_address(listener, &address));

	ASSERT_EQ(0, krdma_conn_create_lane(session, &a));
	ASSERT_EQ(0, krdma_conn_resolve(a, (struct sockaddr *)&address, &lib_patient));
	ASSERT_EQ(0, krdma_conn_wait(a, LIB_PATIENCE, NULL));
	ASSERT_EQ(0, krdma_conn_trunk(a, &trunk));
	EXPECT_NE(0, trunk);
	ASSERT_EQ(0, krdma_conn_create_qp(a, self->pair.rings[0], NULL, NULL, NULL));
	ASSERT_EQ(0, krdma_conn_connect(a, NULL, NULL, 0));
	ASSERT_EQ(0, krdma_listener_next(listener, LIB_PATIENCE, &b));
	ASSERT_EQ(0, krdma_conn_create_qp(b, self->pair.rings[1], NULL, NULL, NULL));
	ASSERT_EQ(0, krdma_conn_accept(b, NULL, NULL, 0));
	ASSERT_EQ(0, krdma_conn_wait(a, LIB_PATIENCE, NULL));
	ASSERT_EQ(0, krdma_conn_wait(b, LIB_PATIENCE, NULL));
	ASSERT_EQ(0, krdma_conn_trunk(b, &other));
	EXPECT_NE(0, other);
	EXPECT_NE(trunk, other);

	/* Memory of the program, new memory, and the fixture's, which no lane can use. */
	data = aligned_alloc(4096, 8192);
	ASSERT_TRUE(!!data);
	ASSERT_EQ(0, krdma_mr_register_for_lanes(session, self->pair.device, data, 8192,
						 KRDMA_ACCESS_LOCAL_WRITE, 0, &own));
	ASSERT_EQ(0, krdma_mr_alloc_for_lanes(session, self->pair.device, 8192,
					      KRDMA_ACCESS_LOCAL_WRITE, 0, &new));
	fill(krdma_mr_data(new), 8192, 3);
	memset(data, 0, 8192);
	entries[0] = krdma_entry_recv(b, 1, own, 0, 8192);
	ASSERT_EQ(0, krdma_ring_post(self->pair.rings[1], entries, 1, &accepted));
	entries[0] = krdma_entry_send(a, 2, new, 0, 8192);
	ASSERT_EQ(0, krdma_ring_enter(self->pair.rings[0], entries, 1, &accepted, &cqe, 1, 1,
				      LIB_PATIENCE, &taken));
	EXPECT_EQ(0, cqe.status);
	ASSERT_EQ(0, krdma_ring_wait(self->pair.rings[1], &cqe, 1, 1, LIB_PATIENCE, &taken));
	EXPECT_EQ(8192, cqe.length);
	EXPECT_TRUE(filled(data, 8192, 3));
	entries[0] = krdma_entry_send(a, 3, self->mr, 0, 8);
	EXPECT_EQ(-EOPNOTSUPP, krdma_ring_post(self->pair.rings[0], entries, 1, &accepted));

	names_over(_metadata, self, a);

	EXPECT_EQ(0, krdma_conn_close(a));
	EXPECT_EQ(0, krdma_conn_await_closed(b, LIB_PATIENCE));
	EXPECT_EQ(0, krdma_conn_close(b));
	EXPECT_EQ(0, krdma_listener_close(listener));
	EXPECT_EQ(0, krdma_mr_deregister(own, 0));
	EXPECT_EQ(0, krdma_mr_deregister(new, 0));
	free(data);
}

/* Takes and accepts one connection, and closes it when its peer has ended it. */
struct one_server {
	struct krdma *session;
	struct krdma_listener *listener;
	struct krdma_ring *ring;
	int err;
};

static void *serve_one(void *context)
{
	struct one_server *server = context;
	struct krdma_conns_entry entry = { .wr_id = 8 };
	struct krdma_cqe cqe;
	uint32_t done;
	size_t taken;

	server->err = krdma_conns_take(server->session, server->listener, &entry, 1, LIB_PATIENCE,
				       &done);
	entry.private_data_len = 0;
	if (!server->err)
		server->err = krdma_conns_accept(server->session, server->ring, &entry, 1, NULL,
						 &done);
	do {
		if (!server->err)
			server->err = krdma_ring_wait(server->ring, &cqe, 1, 1, LIB_PATIENCE,
						      &taken);
		if (!server->err && (cqe.opcode != KRDMA_OP_EVENT || cqe.wr_id != 8))
			server->err = -EPROTO;
	} while (!server->err && cqe.length == KRDMA_EVENT_ESTABLISHED);
	if (!server->err)
		server->err = krdma_conns_close(server->session, &entry, 1, NULL);
	return NULL;
}

/* Proves: D9, F15 */
TEST_F(thin, connections_without_a_descriptor)
{
	struct krdma *session = self->pair.session;
	struct krdma_conns_entry entries[2] = { { .wr_id = 7 }, { .reserved = 1 } };
	struct krdma_conns_args options = { .size = sizeof(options), .flags = KRDMA_CONNS_LANES,
					    .send_depth = 2, .recv_depth = 2 };
	struct one_server server = { .session = session, .ring = self->pair.rings[1] };
	struct sockaddr_storage address;
	struct krdma_conn *conn;
	pthread_t thread;
	uint32_t done = 9, state;

	ASSERT_EQ(0, krdma_listener_address(self->pair.listener, &address));
	((struct sockaddr_in *)&address)->sin_port = 0;
	ASSERT_EQ(0, krdma_listen(session, (struct sockaddr *)&address, KRDMA_LISTEN_LANES, 0,
				  &server.listener));
	ASSERT_EQ(0, krdma_listener_address(server.listener, &address));
	memcpy(&entries[0].remote, &address, sizeof(address));

	EXPECT_EQ(-EINVAL, krdma_conns_open(NULL, self->pair.rings[0], entries, 1, NULL, 0,
					    &done));
	EXPECT_EQ(0, done);
	done = 9;
	EXPECT_EQ(-EINVAL, krdma_conns_open(session, NULL, entries, 1, NULL, 0, NULL));
	EXPECT_EQ(-EINVAL, krdma_conns_open(session, self->pair.rings[0], NULL, 1, NULL, 0, NULL));
	EXPECT_EQ(-EINVAL, krdma_conns_open(session, self->pair.rings[0], entries, 0, NULL, 0,
					    &done));
	EXPECT_EQ(0, done);
	done = 9;
	EXPECT_EQ(-EINVAL, krdma_conns_take(session, NULL, entries, 1, 0, &done));
	EXPECT_EQ(0, done);
	done = 9;
	EXPECT_EQ(-EINVAL, krdma_conns_take(session, server.listener, entries, 1, 0, NULL));
	EXPECT_EQ(-EAGAIN, krdma_conns_take(session, server.listener, entries, 1, 0, &done));
	EXPECT_EQ(0, done);
	done = 9;
	EXPECT_EQ(-EINVAL, krdma_conns_accept(session, NULL, entries, 1, NULL, &done));
	EXPECT_EQ(0, done);
	done = 9;
	EXPECT_EQ(-ENOENT, krdma_conns_accept(session, self->pair.rings[0], entries, 1, NULL,
					      NULL));
	EXPECT_EQ(-EINVAL, krdma_conns_close(NULL, entries, 1, &done));
	EXPECT_EQ(0, done);
	done = 9;
	EXPECT_EQ(-ENOENT, krdma_conns_close(session, entries, 1, &done));
	EXPECT_EQ(0, done);

	ASSERT_EQ(0, pthread_create(&thread, NULL, serve_one, &server));
	EXPECT_EQ(-EOPNOTSUPP, krdma_conns_open(session, self->pair.rings[0], entries, 2, &options,
						LIB_PATIENCE, &done));
	EXPECT_EQ(1, done);
	EXPECT_EQ(0, entries[0].error);
	EXPECT_NE(0, entries[0].id);
	EXPECT_EQ(-EOPNOTSUPP, entries[1].error);
	EXPECT_EQ(-EINVAL, krdma_conns_fd(NULL, entries[0].id, &conn));
	EXPECT_EQ(-EINVAL, krdma_conns_fd(session, entries[0].id, NULL));
	EXPECT_EQ(-ENOENT, krdma_conns_fd(session, 0, &conn));
	ASSERT_EQ(0, krdma_conns_fd(session, entries[0].id, &conn));
	EXPECT_EQ(entries[0].id, krdma_conn_id(conn));
	EXPECT_EQ(0, krdma_conn_wait(conn, 0, &state));
	EXPECT_EQ(KRDMA_CONN_CONNECTED, state);
	EXPECT_EQ(-ENOENT, krdma_conns_close(session, entries, 1, &done));
	EXPECT_EQ(0, krdma_conn_close(conn));
	pthread_join(thread, NULL);
	EXPECT_EQ(0, server.err);
	EXPECT_EQ(0, krdma_listener_close(server.listener));
}

/* Proves: D9, D11 */
TEST_F(thin, each_operation_by_its_entry)
{
	struct krdma_conn *a = self->pair.a, *b = self->pair.b;
	unsigned char *data = krdma_mr_data(self->mr);
	uint64_t *cell = (uint64_t *)(data + (1 << 15));
	struct krdma_sqe receives[4];
	struct krdma_cqe cqe;
	size_t taken;

	for (int i = 0; i < 4; i++)
		receives[i] = krdma_entry_recv(b, 100 + i, self->mr, 4096 + i * 256, 256);
	ASSERT_EQ(0, krdma_ring_post(self->pair.rings[1], receives, 4, &taken));
	EXPECT_EQ(4, taken);

	fill(data, 256, 1);
	EXPECT_EQ(0, operate(self, krdma_entry_send(a, 1, self->mr, 0, 200), &cqe));
	EXPECT_EQ(0, operate(self, krdma_entry_send_imm(a, 2, self->mr, 0, 256, 4711), &cqe));
	EXPECT_EQ(0, operate(self, krdma_entry_send_inline(a, 3, "abc", 3), &cqe));
	EXPECT_EQ(0, operate(self, krdma_entry_write_imm(a, 4, self->mr, 0, 256,
							 &self->remote, 0, 42), &cqe));
	for (int i = 0; i < 4; i++) {
		ASSERT_EQ(0, krdma_ring_wait(self->pair.rings[1], &cqe, 1, 1, LIB_PATIENCE,
					     &taken));
		EXPECT_EQ(100 + i, cqe.wr_id);
		EXPECT_EQ(KRDMA_WC_SUCCESS, cqe.status);
		EXPECT_EQ(krdma_conn_id(b), cqe.dest);
		if (i == 0)
			EXPECT_EQ(200, cqe.length);
		if (i == 1)
			EXPECT_EQ(4711, cqe.imm);
		if (i == 2)
			EXPECT_EQ(0, memcmp(data + 4096 + 2 * 256, "abc", 3));
		if (i == 3)
			EXPECT_EQ(KRDMA_CQE_IMM | KRDMA_CQE_WRITTEN, cqe.flags);
	}
	EXPECT_TRUE(filled(data + 4096, 200, 1));
	EXPECT_TRUE(filled(cell, 256, 1));

	memset(data, 0, 256);
	EXPECT_EQ(0, operate(self, krdma_entry_read(a, 5, self->mr, 0, 256, &self->remote,
						    0), &cqe));
	EXPECT_TRUE(filled(data, 256, 1));
	if (device_has_atomics(krdma_fd(self->pair.session), self->pair.device)) {
		*cell = 5;
		EXPECT_EQ(0, operate(self, krdma_entry_fetch_add(a, 6, self->mr, 8, &self->remote,
								 0, 7), &cqe));
		EXPECT_EQ(5, *(uint64_t *)(data + 8));
		EXPECT_EQ(0, operate(self, krdma_entry_compare_swap(a, 7, self->mr, 16,
								    &self->remote, 0, 12, 99),
				     &cqe));
		EXPECT_EQ(12, *(uint64_t *)(data + 16));
		EXPECT_EQ(99, *cell);
	}
	EXPECT_EQ(0, operate(self, krdma_entry_atomic_write(a, 8, &self->remote, 0, 1234), &cqe));
	EXPECT_EQ(0, operate(self, krdma_entry_flush(a, 9, &self->remote), &cqe));
	EXPECT_EQ(1234, *cell);
}

TEST_F(thin, what_is_refused_is_the_next_and_nothing_after_it)
{
	struct krdma_sqe entries[3] = { write_of(self, 1), write_of(self, 2), write_of(self, 3) };
	struct krdma_ring *ring = self->pair.rings[0];
	size_t accepted = 77, taken = 77;
	struct krdma_cqe cqes[3];

	entries[1].dest = 0x7fffffff;
	EXPECT_EQ(-ENOENT, krdma_ring_post(ring, entries, 3, &accepted));
	EXPECT_EQ(1, accepted);
	ASSERT_EQ(0, krdma_ring_wait(ring, cqes, 3, 1, LIB_PATIENCE, &taken));
	EXPECT_EQ(1, taken);
	EXPECT_EQ(1, cqes[0].wr_id);

	EXPECT_EQ(-ENOENT, krdma_ring_enter(ring, entries, 3, &accepted, cqes, 3, 3, LIB_PATIENCE,
					    &taken));
	EXPECT_EQ(1, accepted);
	ASSERT_EQ(0, krdma_ring_wait(ring, cqes, 3, 1, LIB_PATIENCE, &taken));
	EXPECT_EQ(1, cqes[0].wr_id);
	/* The entries that were not accepted are no longer in the ring. */
	entries[1] = write_of(self, 2);
	EXPECT_EQ(0, krdma_ring_enter(ring, entries, 3, &accepted, cqes, 3, 3, LIB_PATIENCE,
				      &taken));
	EXPECT_EQ(3, accepted);
	ASSERT_EQ(3, taken);
	for (int i = 0; i < 3; i++)
		EXPECT_EQ(i + 1, cqes[i].wr_id);
}

/* Proves: D4 */
TEST_F(thin, more_at_a_time_than_the_rings_hold)
{
	struct krdma_ring_create_args small = { .size = sizeof(small), .sq_entries = 2,
		.cq_entries = 128 + KRDMA_RING_EXTRA, .flags = variant->ring_flags };
	struct krdma_sqe entries[60];
	struct krdma_cqe cqes[60];
	size_t accepted, taken;
	struct lib_pair pair;

	ASSERT_EQ(0, lib_pair_open_with(&pair, self->pair.session, LIB_ADDRESS, &small));
	for (int i = 0; i < 60; i++) {
		entries[i] = write_of(self, i);
		entries[i].dest = krdma_conn_id(pair.a);
	}
	ASSERT_EQ(0, krdma_ring_enter(pair.rings[0], entries, 60, &accepted, cqes, 60, 60,
				      LIB_PATIENCE, &taken));
	EXPECT_EQ(60, accepted);
	ASSERT_EQ(60, taken);
	for (int i = 0; i < 60; i++)
		EXPECT_EQ(i, cqes[i].wr_id);
	lib_pair_close(&pair);
}

/* Proves: D5 */
TEST_F(thin, waiting_ends)
{
	struct krdma_ring *ring = self->pair.rings[0];
	struct krdma_sqe entry = write_of(self, 1);
	struct krdma_event_record record;
	struct krdma_conn *conn;
	struct krdma_cqe cqes[2];
	size_t taken = 77, which;

	EXPECT_EQ(-EAGAIN, krdma_ring_poll(ring, cqes, 2, &taken));
	EXPECT_EQ(-EAGAIN, krdma_ring_wait(ring, cqes, 2, 1, 0, &taken));
	EXPECT_EQ(-ETIMEDOUT, krdma_ring_wait(ring, cqes, 2, 1, krdma_deadline(20), &taken));
	EXPECT_EQ(77, taken);
	/* Fewer completions than wanted are returned instead of none. */
	ASSERT_EQ(0, krdma_ring_post(ring, &entry, 1, NULL));
	/* krdma_ring_wait_any() takes no completion. */
	ASSERT_EQ(0, krdma_ring_wait_any(&ring, 1, LIB_PATIENCE, &which));
	EXPECT_EQ(0, krdma_ring_wait(ring, cqes, 2, 2, krdma_deadline(20), &taken));
	EXPECT_EQ(1, taken);

	EXPECT_EQ(-EAGAIN, krdma_listener_next(self->pair.listener, 0, &conn));
	EXPECT_EQ(-ETIMEDOUT, krdma_listener_next(self->pair.listener, krdma_deadline(20), &conn));
	/* The event may arrive a little later than the state changes. */
	do {
		ASSERT_EQ(0, krdma_conn_next_event(self->pair.a, LIB_PATIENCE, &record,
						   sizeof(record)));
	} while (record.type != KRDMA_EVENT_ESTABLISHED);
	EXPECT_EQ(-EAGAIN, krdma_conn_next_event(self->pair.a, 0, &record, sizeof(record)));
	EXPECT_EQ(-ETIMEDOUT, krdma_conn_next_event(self->pair.a, krdma_deadline(20), &record,
						    sizeof(record)));
	EXPECT_EQ(-EINPROGRESS, krdma_conn_await_closed(self->pair.a, 0));
	EXPECT_EQ(-ETIMEDOUT, krdma_conn_await_closed(self->pair.a, krdma_deadline(20)));
}

/*
 * A record can grow. A program that was built before has the buffer of the first version, and one
 * that was built later finds zeroes behind what the module knows, and not the next record.
 */
TEST_F(thin, records_are_read_into_buffers_of_other_versions)
{
	struct {
		struct krdma_event_record is;
		unsigned char more[48];
		unsigned char behind[16];
	} record;
	size_t first = offsetof(struct krdma_event_record, reason) + sizeof(record.is.reason);

	EXPECT_EQ(-EINVAL,
		  krdma_conn_next_event(self->pair.a, LIB_PATIENCE, &record.is, first - 1));
	memset(&record, 0xff, sizeof(record));
	ASSERT_EQ(0, krdma_conn_next_event(self->pair.a, LIB_PATIENCE, &record.is, first));
	EXPECT_EQ(KRDMA_EVENT_ADDR_RESOLVED, record.is.type);
	EXPECT_EQ(0xff, record.more[0]);
	memset(&record, 0xff, sizeof(record));
	ASSERT_EQ(0, krdma_conn_next_event(self->pair.a, LIB_PATIENCE, &record.is,
					   offsetof(typeof(record), behind)));
	EXPECT_EQ(KRDMA_EVENT_ROUTE_RESOLVED, record.is.type);
	EXPECT_LE(first, record.is.size);
	for (size_t i = record.is.size; i < offsetof(typeof(record), behind); i++)
		EXPECT_EQ(0, ((unsigned char *)&record)[i]);
	EXPECT_EQ(0xff, record.behind[0]);
	/* None is lost. */
	ASSERT_EQ(0, krdma_conn_next_event(self->pair.a, LIB_PATIENCE, &record.is,
					   sizeof(record.is)));
	EXPECT_EQ(KRDMA_EVENT_ESTABLISHED, record.is.type);
}

/* Proves: D7 */
TEST_F(thin, one_of_several_queues)
{
	struct krdma_ring *rings[3] = { NULL, self->pair.rings[1], self->pair.rings[0] };
	const struct krdma_ring_create_args options = { .size = sizeof(options),
		.device_id = self->pair.device, .flags = variant->ring_flags };
	struct krdma_sqe entry = write_of(self, 1);
	struct krdma_ring *many[KRDMA_WAIT_ANY_MAX + 1];
	struct krdma_cqe cqe;
	size_t which = 77, taken;
	uint64_t begun;

	ASSERT_EQ(0, krdma_ring_create(self->pair.session, &options, &rings[0]));
	EXPECT_EQ(-EAGAIN, krdma_ring_wait_any(rings, 3, 0, &which));
	begun = krdma_deadline(0);
	EXPECT_EQ(-ETIMEDOUT, krdma_ring_wait_any(rings, 3, krdma_deadline(20), &which));
	EXPECT_LE(begun + 20000000, krdma_deadline(0));
	EXPECT_EQ(77, which);

	ASSERT_EQ(0, krdma_ring_post(self->pair.rings[0], &entry, 1, NULL));
	ASSERT_EQ(0, krdma_ring_wait_any(rings, 3, LIB_PATIENCE, &which));
	EXPECT_EQ(2, which);
	/* krdma_ring_wait_any() has taken no completion. */
	which = 77;
	ASSERT_EQ(0, krdma_ring_wait_any(rings, 3, KRDMA_FOREVER, &which));
	EXPECT_EQ(2, which);
	ASSERT_EQ(0, krdma_ring_poll(rings[which], &cqe, 1, &taken));
	EXPECT_EQ(1, cqe.wr_id);
	EXPECT_EQ(-EAGAIN, krdma_ring_wait_any(rings, 3, 0, &which));

	for (size_t i = 0; i < ARRAY_SIZE(many); i++)
		many[i] = rings[0];
	EXPECT_EQ(-EAGAIN, krdma_ring_wait_any(many, KRDMA_WAIT_ANY_MAX, 0, &which));
	EXPECT_EQ(-EINVAL, krdma_ring_wait_any(many, ARRAY_SIZE(many), 0, &which));
	many[1] = NULL;
	EXPECT_EQ(-EINVAL, krdma_ring_wait_any(many, 2, 0, &which));
	EXPECT_EQ(-EINVAL, krdma_ring_wait_any(rings, 0, 0, &which));
	EXPECT_EQ(-EINVAL, krdma_ring_wait_any(NULL, 1, 0, &which));
	EXPECT_EQ(-EINVAL, krdma_ring_wait_any(rings, 1, 0, NULL));
	krdma_ring_close(rings[0]);
}

/* Proves: D8 */
TEST_F(thin, the_end_and_why)
{
	static const uint32_t order[] = {
		KRDMA_EVENT_ADDR_RESOLVED, KRDMA_EVENT_ROUTE_RESOLVED, KRDMA_EVENT_ESTABLISHED,
		KRDMA_EVENT_DISCONNECTED, KRDMA_EVENT_CLOSED,
	};
	struct krdma_sqe entry = write_of(self, 1);
	struct krdma_event_record record;

	ASSERT_EQ(0, krdma_conn_disconnect(self->pair.b, 0));
	EXPECT_EQ(0, krdma_conn_await_closed(self->pair.b, LIB_PATIENCE));
	EXPECT_EQ(0, krdma_conn_await_closed(self->pair.a, LIB_PATIENCE));
	EXPECT_EQ(-EPIPE, krdma_conn_wait(self->pair.a, LIB_PATIENCE, NULL));
	EXPECT_EQ(-ENOTCONN, krdma_conn_wait(self->pair.b, LIB_PATIENCE, NULL));
	EXPECT_EQ(-ENOTCONN, krdma_ring_post(self->pair.rings[0], &entry, 1, NULL));
	for (size_t i = 0; i < ARRAY_SIZE(order); i++) {
		ASSERT_EQ(0, krdma_conn_next_event(self->pair.a, LIB_PATIENCE, &record,
						   sizeof(record)));
		EXPECT_EQ(order[i], record.type);
	}
	EXPECT_EQ(-ENODATA,
		  krdma_conn_next_event(self->pair.a, LIB_PATIENCE, &record, sizeof(record)));
}

/* Proves: D6 */
TEST_F(thin, nobody_wants_it)
{
	struct krdma_conn *client, *server;
	char data[64];
	size_t length = sizeof(data);

	ASSERT_EQ(0, lib_pair_ask(&self->pair, self->pair.rings[0], &client));
	ASSERT_EQ(0, krdma_listener_next(self->pair.listener, LIB_PATIENCE, &server));
	ASSERT_EQ(0, krdma_conn_reject(server, PRIVATE, strlen(PRIVATE)));
	EXPECT_EQ(-ECONNREFUSED, krdma_conn_wait(client, LIB_PATIENCE, NULL));
	ASSERT_EQ(0, krdma_conn_private_data(client, data, &length));
	EXPECT_EQ(strlen(PRIVATE), length);
	EXPECT_EQ(0, memcmp(PRIVATE, data, length));
	krdma_conn_close(server);
	krdma_conn_close(client);
}

/* Each completion goes to one waiting thread, whichever call it waits in. */
#define THREADS	4
#define EACH	500

struct crowd {
	struct krdma_ring *ring;
	struct krdma_sqe entry;
	unsigned int all;
	atomic_uint next;
	atomic_uint seen[THREADS * EACH];
	atomic_uint total;
	atomic_int error;
};

static void count(struct crowd *crowd, const struct krdma_cqe *cqes, size_t taken)
{
	for (size_t i = 0; i < taken; i++) {
		if (cqes[i].status || cqes[i].wr_id >= crowd->all)
			crowd->error = -EPROTO;
		else
			crowd->seen[cqes[i].wr_id]++;
	}
	crowd->total += taken;
}

static void *work(void *argument)
{
	struct crowd *crowd = argument;
	struct krdma_sqe entry = crowd->entry;
	struct krdma_cqe cqes[8];
	size_t accepted, taken;
	unsigned int number;
	int err;

	while ((number = crowd->next++) < crowd->all && !crowd->error) {
		entry.wr_id = number;
		do {
			taken = 0;
			if (number % 2) {
				err = krdma_ring_enter(crowd->ring, &entry, 1, &accepted, cqes, 8,
						       1, krdma_deadline(50), &taken);
			} else {
				err = krdma_ring_post(crowd->ring, &entry, 1, &accepted);
				if (!err)
					err = krdma_ring_poll(crowd->ring, cqes, 8, &taken);
			}
			count(crowd, cqes, taken);
			/* The depth is used up: take completions. */
			if (err == -EAGAIN && !accepted && !krdma_ring_wait(crowd->ring, cqes, 8,
									    1, krdma_deadline(50),
									    &taken))
				count(crowd, cqes, taken);
		} while (err == -EAGAIN && !accepted);
		if (err && err != -EAGAIN && err != -ETIMEDOUT && err != -EINTR)
			crowd->error = err;
	}
	return NULL;
}

/* Proves: D13 */
TEST_F(thin, many_threads_at_one_queue)
{
	static struct crowd crowd;
	pthread_t threads[THREADS];
	struct krdma_cqe cqes[8];
	size_t taken;

	crowd.ring = self->pair.rings[0];
	crowd.entry = write_of(self, 0);
	crowd.all = THREADS * rounds(EACH, 40);
	for (int i = 0; i < THREADS; i++)
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, work, &crowd));
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	ASSERT_EQ(0, crowd.error);
	while (crowd.total < crowd.all) {
		ASSERT_EQ(0, krdma_ring_wait(crowd.ring, cqes, 8, 1, LIB_PATIENCE, &taken));
		count(&crowd, cqes, taken);
	}
	for (unsigned int i = 0; i < crowd.all; i++)
		EXPECT_EQ(1, crowd.seen[i]);
}

static void nothing(int signal __attribute__((unused)))
{
}

struct sleeper {
	struct krdma_ring *ring;
	struct krdma_conn *conn;
	atomic_int woken;
	int errs[3];
};

static void *sleep_in_calls(void *argument)
{
	struct sleeper *sleeper = argument;
	struct krdma_event_record record;
	struct krdma_cqe cqe;
	size_t taken;

	sleeper->errs[0] = krdma_ring_wait(sleeper->ring, &cqe, 1, 1, KRDMA_FOREVER, &taken);
	sleeper->woken++;
	sleeper->errs[1] = krdma_conn_next_event(sleeper->conn, KRDMA_FOREVER, &record,
						 sizeof(record));
	sleeper->woken++;
	sleeper->errs[2] = krdma_ring_wait_any(&sleeper->ring, 1, KRDMA_FOREVER, &taken);
	sleeper->woken++;
	return NULL;
}

TEST_F(thin, a_signal_ends_waiting)
{
	struct sigaction action = { .sa_handler = nothing };
	struct sleeper sleeper = { .ring = self->pair.rings[0], .conn = self->pair.a };
	struct krdma_event_record record;
	pthread_t thread;

	/* The event may arrive a little later than the state changes. */
	do {
		ASSERT_EQ(0, krdma_conn_next_event(self->pair.a, LIB_PATIENCE, &record,
						   sizeof(record)));
	} while (record.type != KRDMA_EVENT_ESTABLISHED);
	ASSERT_EQ(0, sigaction(SIGUSR1, &action, NULL));
	ASSERT_EQ(0, pthread_create(&thread, NULL, sleep_in_calls, &sleeper));
	/* Repeatedly, because the first signals may arrive before the thread waits. */
	for (uint64_t end = now_ms() + 10000; sleeper.woken < 3 && now_ms() < end;) {
		pthread_kill(thread, SIGUSR1);
		sleep_ms(5);
	}
	ASSERT_EQ(3, sleeper.woken);
	pthread_join(thread, NULL);
	EXPECT_EQ(-EINTR, sleeper.errs[0]);
	EXPECT_EQ(-EINTR, sleeper.errs[1]);
	EXPECT_EQ(-EINTR, sleeper.errs[2]);
}

/* Attach by file descriptor alone, as another process that has received it would. */
TEST_F(thin, a_queue_and_a_connection_taken_over)
{
	int ring_fd = dup(krdma_ring_fd(self->pair.rings[0]));
	int conn_fd = dup(krdma_conn_fd(self->pair.a));
	int listener_fd = dup(krdma_listener_fd(self->pair.listener));
	struct krdma_sqe entry = write_of(self, 9);
	struct krdma_listener *listener = NULL;
	struct krdma_ring *ring = NULL;
	struct krdma_conn *conn = NULL;
	struct krdma_srq *srq = NULL;
	struct krdma_cqe cqe;
	size_t taken;
	int zero;

	zero = open("/dev/zero", O_RDWR);
	EXPECT_EQ(-ENOTTY, krdma_ring_open_fd(zero, &ring));
	EXPECT_EQ(-ENOTTY, krdma_conn_open_fd(zero, &conn));
	EXPECT_EQ(-ENOTTY, krdma_listener_open_fd(zero, &listener));
	EXPECT_EQ(-ENOTTY, krdma_srq_open_fd(zero, &srq));
	EXPECT_EQ(-ENOTTY, krdma_ring_open_fd(conn_fd, &ring));
	EXPECT_EQ(-ENOTTY, krdma_conn_open_fd(ring_fd, &conn));
	EXPECT_TRUE(!ring && !conn && !listener && !srq);
	EXPECT_EQ(0, close(zero));

	ASSERT_EQ(0, krdma_ring_open_fd(ring_fd, &ring));
	ASSERT_EQ(0, krdma_conn_open_fd(conn_fd, &conn));
	ASSERT_EQ(0, krdma_listener_open_fd(listener_fd, &listener));
	EXPECT_EQ(krdma_conn_id(self->pair.a), krdma_conn_id(conn));
	ASSERT_EQ(0, krdma_ring_post(ring, &entry, 1, NULL));
	ASSERT_EQ(0, krdma_ring_wait(ring, &cqe, 1, 1, LIB_PATIENCE, &taken));
	EXPECT_EQ(9, cqe.wr_id);
	/* The process that handed the ring over restricts its use. */
	EXPECT_EQ(0, krdma_ring_confine(self->pair.rings[0], &entry.sge.mr, 1));
	EXPECT_EQ(0, krdma_ring_confine(self->pair.rings[0], NULL, 0));
	EXPECT_EQ(-EPERM, krdma_ring_confine(ring, &entry.sge.mr, 1));
	EXPECT_EQ(-ENOENT, krdma_ring_post(ring, &entry, 1, NULL));
	EXPECT_EQ(0, krdma_conn_disconnect(conn, 0));
	EXPECT_EQ(0, krdma_conn_await_closed(self->pair.a, LIB_PATIENCE));
	krdma_conn_close(conn);
	krdma_ring_close(ring);
	krdma_listener_close(listener);
}

/* Proves: D4, D12 */
TEST_F(thin, a_shared_receive_queue)
{
	struct krdma_srq_create_args options = { .size = sizeof(options), .depth = 8 };
	struct krdma_srq_query_args query;
	struct krdma_sqe entry;
	struct krdma_srq *srq;
	struct krdma_cqe cqe;
	struct lib_pair pair = { .session = self->pair.session };
	size_t taken;

	ASSERT_EQ(0, krdma_srq_create(self->pair.session, self->pair.rings[1], &options, &srq));
	ASSERT_EQ(0, krdma_srq_query(srq, &query, sizeof(query)));
	EXPECT_EQ(krdma_srq_id(srq), query.id);
	EXPECT_LE(8, query.depth);
	entry = krdma_entry_srq_recv(srq, 5, self->mr, 4096, 64);
	ASSERT_EQ(0, krdma_srq_post(srq, &entry, 1, &taken));
	pair.srq = srq;
	pair.rings[0] = self->pair.rings[0];
	pair.rings[1] = self->pair.rings[1];
	ASSERT_EQ(0, lib_pair_connect(&pair, LIB_ADDRESS));
	EXPECT_EQ(0, operate(self, krdma_entry_send_inline(pair.a, 6, "hello", 5), &cqe));
	ASSERT_EQ(0, krdma_ring_wait(self->pair.rings[1], &cqe, 1, 1, LIB_PATIENCE, &taken));
	EXPECT_EQ(5, cqe.wr_id);
	EXPECT_EQ(5, cqe.length);
	EXPECT_EQ(krdma_conn_id(pair.b), cqe.dest);
	pair.rings[0] = NULL;
	pair.rings[1] = NULL;
	lib_pair_close(&pair);
	EXPECT_EQ(0, krdma_srq_close(srq));
}

TEST_F(thin, what_newer_programs_hand_in)
{
	struct {
		struct krdma_ring_create_args create;
		uint64_t more;
	} newer = { .create.size = sizeof(newer), .create.flags = variant->ring_flags };
	struct krdma_ring *ring;

	EXPECT_EQ(0, krdma_ring_create(self->pair.session, &newer.create, &ring));
	EXPECT_EQ(0, krdma_ring_close(ring));
	newer.more = 1;
	EXPECT_EQ(-E2BIG, krdma_ring_create(self->pair.session, &newer.create, &ring));
	newer.create.size = 3;
	EXPECT_EQ(-EINVAL, krdma_ring_create(self->pair.session, &newer.create, &ring));
}

/* The page behind the options is unmapped, so a read beyond them is fatal. */
TEST_F(thin, options_whose_size_was_not_set)
{
	static const uint32_t sizes[] = { 0, 513, 4096, 0x5a5a5a5a, UINT32_MAX };
	struct krdma_ring_create_args *create;
	struct krdma_ring *ring;
	char *pages;

	pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_TRUE(pages != MAP_FAILED);
	ASSERT_EQ(0, mprotect(pages + 4096, 4096, PROT_NONE));
	create = (struct krdma_ring_create_args *)(pages + 4096 - sizeof(*create));
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		create->size = sizes[i];
		EXPECT_EQ(sizes[i] ? -E2BIG : -EINVAL,
			  krdma_ring_create(self->pair.session, create, &ring));
	}
	munmap(pages, 8192);
}

/*
 * The mapping of the ring is not inherited.  At that address a child may have a mapping of its
 * own.
 */
TEST_F(thin, a_child_closes_what_it_has)
{
	const struct krdma_ring_create_args options = { .size = sizeof(options),
		.device_id = self->pair.device, .flags = variant->ring_flags };
	struct krdma_sqe entry = write_of(self, 1);
	struct krdma_ring_query_args query;
	struct krdma_ring *ring;
	struct krdma_cqe cqe;
	void *place;
	int status;
	pid_t child;

	ASSERT_EQ(0, krdma_ring_create(self->pair.session, &options, &ring));
	ASSERT_EQ(0, krdma_ring_query(ring, &query, sizeof(query)));
	place = lib_queue_ring(ring);
	child = fork();
	ASSERT_LE(0, child);
	if (!child) {
		char *mine = mmap(place, query.ring_size, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

		if (mine != place)
			_exit(1);
		mine[0] = 42;
		krdma_ring_close(ring);
		krdma_mr_deregister(self->mr, 0);
		/* Use msync(), because reading unmapped memory would kill the child. */
		_exit(msync(mine, query.ring_size, MS_ASYNC) ? 2 : mine[0] == 42 ? 0 : 3);
	}
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(0, status);
	/* The parent's objects still work. */
	EXPECT_EQ(0, operate(self, entry, &cqe));
	EXPECT_EQ(0, krdma_ring_close(ring));
}

/* Proves: C10 */
TEST_F(thin, calls_with_nothing)
{
	struct sockaddr unknown = { .sa_family = AF_UNIX };
	struct krdma_listener *listener = NULL;
	struct krdma_cqe cqe;
	struct krdma_sqe entry = {};
	size_t taken;
	uint32_t id;

	EXPECT_EQ(-EINVAL, krdma_listen(self->pair.session, NULL, 0, 0, &listener));
	EXPECT_EQ(-EAFNOSUPPORT, krdma_listen(self->pair.session, &unknown, 0, 0, &listener));
	EXPECT_EQ(-EAFNOSUPPORT, krdma_conn_resolve(self->pair.a, &unknown, NULL));
	EXPECT_EQ(-EAFNOSUPPORT, krdma_device_by_address(self->pair.session, &unknown, NULL, 0,
							 &id));
	EXPECT_EQ(-EINVAL, krdma_device_by_address(self->pair.session, NULL, NULL, 0, &id));
	EXPECT_EQ(-EINVAL, krdma_ring_post(self->pair.rings[0], &entry, 0, NULL));
	EXPECT_EQ(-EINVAL, krdma_ring_post(NULL, &entry, 1, NULL));
	EXPECT_EQ(-EINVAL, krdma_ring_poll(self->pair.rings[0], &cqe, 0, &taken));
	EXPECT_EQ(-EINVAL, krdma_ring_wait(self->pair.rings[0], &cqe, 1, 2, 0, &taken));
	EXPECT_EQ(-EINVAL, krdma_conn_connect(self->pair.a, NULL, NULL, 5));
	EXPECT_EQ(0, krdma_conn_close(NULL));
	EXPECT_EQ(0, krdma_ring_close(NULL));
	EXPECT_EQ(0, krdma_listener_close(NULL));
	EXPECT_EQ(0, krdma_srq_close(NULL));
	EXPECT_EQ(-EINVAL, krdma_conn_fd(NULL));
	EXPECT_EQ(0, krdma_conn_id(NULL));
}

/* The fixture's device stays; another device is removed. */
TEST_F(thin, the_device_goes)
{
	struct krdma_device_record record = {};
	struct krdma_ring_create_args options = { .size = sizeof(options),
		.flags = variant->ring_flags };
	struct krdma_cqe cqes[4];
	struct krdma *session;
	struct lib_pair pair;
	size_t taken, which = 77;
	int err;

	ASSERT_EQ(0, fabric_create());
	ASSERT_EQ(0, session_await(krdma_fd(self->pair.session), FABRIC_DEVICE, true));
	ASSERT_EQ(0, krdma_open(&session));
	ASSERT_EQ(0, krdma_device_notify(session));
	EXPECT_EQ(-EALREADY, krdma_device_notify(session));
	ASSERT_EQ(0, lib_pair_open_with(&pair, self->pair.session, FABRIC_ADDRESS, &options));
	EXPECT_NE(self->pair.device, pair.device);
	fabric_destroy();
	EXPECT_EQ(0, krdma_conn_await_closed(pair.a, LIB_PATIENCE));
	EXPECT_EQ(-ENODEV, krdma_conn_wait(pair.a, LIB_PATIENCE, NULL));
	while (!(err = krdma_ring_wait(pair.rings[0], cqes, 4, 1, LIB_PATIENCE, &taken)))
		;
	EXPECT_EQ(-ENODEV, err);
	EXPECT_EQ(-ENODEV, krdma_ring_poll(pair.rings[0], cqes, 4, &taken));
	EXPECT_EQ(-ENODEV, krdma_ring_wait_any(pair.rings, 1, LIB_PATIENCE, &which));
	EXPECT_EQ(0, which);
	while (record.type != KRDMA_DEVICE_EVENT_REMOVED) {
		ASSERT_EQ(0,
			  krdma_device_next_event(session, LIB_PATIENCE, &record, sizeof(record)));
		EXPECT_STRNE("unknown", krdma_device_event_name(record.type));
	}
	EXPECT_EQ(pair.device, record.device_id);
	lib_pair_close(&pair);
	EXPECT_EQ(0, krdma_close(session));
}

/* Proves: D14 */
TEST(names)
{
	for (uint32_t i = KRDMA_OP_SEND; i <= KRDMA_OP_FLUSH; i++)
		EXPECT_STRNE("unknown", krdma_opcode_name(i));
	EXPECT_STRNE("unknown", krdma_opcode_name(KRDMA_OP_EVENT));
	for (uint32_t i = 0; i <= KRDMA_WC_GENERAL_ERR; i++)
		EXPECT_STRNE("unknown", krdma_wc_status_name(i));
	for (uint32_t i = 0; i <= KRDMA_CONN_CLOSED; i++)
		EXPECT_STRNE("unknown", krdma_conn_state_name(i));
	for (uint32_t i = KRDMA_EVENT_ADDR_RESOLVED; i <= KRDMA_EVENT_CLOSED; i++)
		EXPECT_STRNE("unknown", krdma_event_name(i));
	for (uint32_t i = 1; i <= KRDMA_DEVICE_EVENT_MISSED; i++)
		EXPECT_STRNE("unknown", krdma_device_event_name(i));
	EXPECT_STREQ("unknown", krdma_opcode_name(0));
	EXPECT_STREQ("unknown", krdma_wc_status_name(UINT32_MAX));
	EXPECT_STREQ("ECONNREFUSED", krdma_error_name(-ECONNREFUSED));
	EXPECT_STREQ("unknown", krdma_error_name(5));
	EXPECT_STREQ("unknown", krdma_error_name(-12345678));
	EXPECT_STREQ("remote_read", krdma_access_name(KRDMA_ACCESS_REMOTE_READ));
}

TEST_HARNESS_MAIN
