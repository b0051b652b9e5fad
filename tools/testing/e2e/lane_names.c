// SPDX-License-Identifier: GPL-2.0
/*
 * Names of MRs, by which the peers of lanes find them.
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "lane_pair.h"
#include "pair.h"
#include "session.h"

#define LANES		KRDMA_MR_REGISTER_LANES
#define ACCESS_PEERS	(ACCESS_ALL & ~KRDMA_ACCESS_LOCAL_WRITE)

FIXTURE(lane_names)
{
	struct pair pair;
	struct mr a;
	struct mr b;
};

FIXTURE_SETUP(lane_names)
{
	ASSERT_EQ(0, pair_open(&self->pair, &lane_options));
	ASSERT_NE(0, trunk_of(self->pair.a.conn));
	ASSERT_EQ(0, memory_for_peers(&self->pair, 0, LENGTH, &self->a));
	ASSERT_EQ(0, memory_for_peers(&self->pair, 1, LENGTH, &self->b));
}

FIXTURE_TEARDOWN(lane_names)
{
	mr_destroy(&self->a);
	mr_destroy(&self->b);
	pair_close(&self->pair);
}

static int set_name(int session, uint32_t id, const char *name)
{
	struct krdma_mr_set_name_args args = { .size = sizeof(args), .id = id };

	memcpy(args.name, name, strlen(name));
	return session_request(session, KRDMA_MR_SET_NAME, &args);
}

static int find_mr_until(int conn, const char *name, uint64_t offset, uint64_t deadline_ns,
			 struct krdma_conn_find_mr_args *found)
{
	*found = (struct krdma_conn_find_mr_args) {
		.size = sizeof(*found), .offset = offset, .deadline_ns = deadline_ns,
	};
	memcpy(found->name, name, strlen(name));
	return session_request(conn, KRDMA_CONN_FIND_MR, found);
}

static int find_mr(int conn, const char *name, struct krdma_conn_find_mr_args *found)
{
	return find_mr_until(conn, name, 0, KRDMA_FOREVER, found);
}

/* What is found is what the owner knows, and it serves to access the memory. */
/* Proves: F14 */
TEST_F(lane_names, an_mr_is_found_by_its_name)
{
	struct pair *pair = &self->pair;
	struct krdma_sqe entry = sqe_remote(KRDMA_OP_READ, pair->a.id, 1, &self->a, 0, 64,
					    &self->b, 0);
	struct krdma_conn_find_mr_args found;

	EXPECT_EQ(-ENOENT, find_mr(pair->a.conn, "cache-0", &found));
	ASSERT_EQ(0, set_name(pair->sessions[1], self->b.id, "cache-0"));
	ASSERT_EQ(0, find_mr(pair->a.conn, "cache-0", &found));
	EXPECT_EQ(self->b.remote_addr, found.remote_addr);
	EXPECT_EQ(LENGTH, found.length);
	EXPECT_EQ(LENGTH, found.reach);
	EXPECT_EQ(self->b.rkey, found.rkey);
	EXPECT_EQ(device_has_atomics(pair->sessions[1], pair->device) ?
		  ACCESS_PEERS : ACCESS_PEERS & ~KRDMA_ACCESS_REMOTE_ATOMIC, found.access);

	/* In the session of the other end, and nowhere else. */
	EXPECT_EQ(-ENOENT, find_mr(pair->b.conn, "cache-0", &found));
	ASSERT_EQ(0, set_name(pair->sessions[0], self->a.id, "cache-0"));
	ASSERT_EQ(0, find_mr(pair->b.conn, "cache-0", &found));
	EXPECT_EQ(self->a.rkey, found.rkey);

	fill(self->b.data, LENGTH, 1);
	ASSERT_EQ(0, find_mr_until(pair->a.conn, "cache-0", 4096, KRDMA_FOREVER, &found));
	entry.remote_addr = found.remote_addr;
	entry.rkey = found.rkey;
	EXPECT_EQ(KRDMA_WC_SUCCESS, pair_operate(pair, entry));
	EXPECT_EQ(0, memcmp(self->a.data, self->b.data + 4096, 64));
}

/* Names are compared as a whole, and byte by byte. */
/* Proves: F14 */
TEST_F(lane_names, other_names_are_not_found)
{
	static const char *const names[6] = {
		"cache", "cache-00", "Cache-0", "cache-1", "c", "\xff",
	};
	static const char longest[] =
		"123456789-123456789-123456789-123456789-123456789-123456789-123";
	struct krdma_conn_find_mr_args found;
	struct pair *pair = &self->pair;
	struct mr mr;

	ASSERT_EQ(0, set_name(pair->sessions[1], self->b.id, "cache-0"));
	for (unsigned int i = 0; i < 6; i++)
		EXPECT_EQ(-ENOENT, find_mr(pair->a.conn, names[i], &found));
	ASSERT_EQ(0, memory_for_peers(pair, 1, 4096, &mr));
	ASSERT_EQ(0, set_name(pair->sessions[1], mr.id, longest));
	ASSERT_EQ(0, find_mr(pair->a.conn, longest, &found));
	EXPECT_EQ(mr.rkey, found.rkey);
	ASSERT_EQ(0, set_name(pair->sessions[1], mr.id, "\xff"));
	ASSERT_EQ(0, find_mr(pair->a.conn, "\xff", &found));
	EXPECT_EQ(mr.rkey, found.rkey);
	EXPECT_EQ(-ENOENT, find_mr(pair->a.conn, longest, &found));
	ASSERT_EQ(0, find_mr(pair->a.conn, "cache-0", &found));
	EXPECT_EQ(self->b.rkey, found.rkey);
	mr_destroy(&mr);
}

/* One name for an MR, and one MR for a name. */
/* Proves: F14 */
TEST_F(lane_names, a_name_is_given_once)
{
	struct krdma_conn_find_mr_args found;
	int session = self->pair.sessions[1];
	int conn = self->pair.a.conn;
	struct mr mr;

	ASSERT_EQ(0, memory_for_peers(&self->pair, 1, 4096, &mr));
	ASSERT_EQ(0, set_name(session, self->b.id, "one"));
	EXPECT_EQ(0, set_name(session, self->b.id, "one"));
	EXPECT_EQ(-EEXIST, set_name(session, mr.id, "one"));
	EXPECT_EQ(-ENOENT, find_mr(conn, "two", &found));
	/* A refused name takes nothing away. */
	ASSERT_EQ(0, set_name(session, mr.id, "two"));
	EXPECT_EQ(-EEXIST, set_name(session, mr.id, "one"));
	ASSERT_EQ(0, find_mr(conn, "two", &found));
	EXPECT_EQ(mr.rkey, found.rkey);
	ASSERT_EQ(0, find_mr(conn, "one", &found));
	EXPECT_EQ(self->b.rkey, found.rkey);

	/* Another name replaces it, and an empty one takes it away. */
	ASSERT_EQ(0, set_name(session, self->b.id, "three"));
	EXPECT_EQ(-ENOENT, find_mr(conn, "one", &found));
	ASSERT_EQ(0, set_name(session, mr.id, "one"));
	ASSERT_EQ(0, find_mr(conn, "one", &found));
	EXPECT_EQ(mr.rkey, found.rkey);
	ASSERT_EQ(0, set_name(session, mr.id, ""));
	ASSERT_EQ(0, set_name(session, mr.id, ""));
	EXPECT_EQ(-ENOENT, find_mr(conn, "one", &found));
	ASSERT_EQ(0, find_mr(conn, "three", &found));

	/* The name ends with its MR, and is free at once. */
	ASSERT_EQ(0, set_name(session, mr.id, "one"));
	mr_destroy(&mr);
	EXPECT_EQ(-ENOENT, find_mr(conn, "one", &found));
	EXPECT_EQ(0, set_name(session, self->b.id, "one"));
	ASSERT_EQ(0, find_mr(conn, "one", &found));
	EXPECT_EQ(self->b.rkey, found.rkey);
}

/* Deregistered while a work request uses it: it is not found any more, and its name is free. */
/* Proves: F14 */
TEST_F(lane_names, a_name_is_free_when_its_mr_is_dropped)
{
	struct pair *pair = &self->pair;
	struct krdma_mr_deregister_args later = {
		.size = sizeof(later), .id = self->b.id, .flags = KRDMA_DEREGISTER_LATER,
	};
	struct krdma_sqe entry = sqe_receive(pair->b.id, 1, &self->b, 0, 64);
	struct krdma_conn_find_mr_args found;
	struct krdma_cqe cqe;
	struct mr mr;

	ASSERT_EQ(0, memory_for_peers(pair, 1, 4096, &mr));
	ASSERT_EQ(0, set_name(pair->sessions[1], self->b.id, "one"));
	ASSERT_EQ(0, set_name(pair->sessions[1], mr.id, "two"));
	ASSERT_EQ(0, ring_submit(pair->b.ring, &entry, 1, NULL));
	ASSERT_EQ(0, session_request(pair->sessions[1], KRDMA_MR_DEREGISTER, &later));
	EXPECT_EQ(-ENOENT, find_mr(pair->a.conn, "one", &found));
	EXPECT_EQ(-ENOENT, set_name(pair->sessions[1], self->b.id, "three"));
	ASSERT_EQ(0, set_name(pair->sessions[1], mr.id, "one"));
	ASSERT_EQ(0, find_mr(pair->a.conn, "one", &found));
	EXPECT_EQ(mr.rkey, found.rkey);
	EXPECT_EQ(-ENOENT, find_mr(pair->a.conn, "two", &found));

	entry = sqe_send(pair->a.id, 2, &self->a, 0, 64);
	ASSERT_EQ(0, ring_submit(pair->a.ring, &entry, 1, NULL));
	ASSERT_EQ(0, ring_wait(pair->b.recv_ring, &cqe, PATIENCE_MS));
	EXPECT_EQ(0, cqe.status);
	ASSERT_EQ(0, find_mr(pair->a.conn, "one", &found));
	EXPECT_EQ(mr.rkey, found.rkey);
	mr_destroy(&mr);
	EXPECT_EQ(-ENOENT, find_mr(pair->a.conn, "one", &found));
}

/* Each rkey of a long MR is found by an offset that it covers. */
/* Proves: F14 */
TEST_F(lane_names, an_offset_leads_to_its_rkey)
{
	struct krdma_conn_find_mr_args found;
	struct pair *pair = &self->pair;
	uint64_t offset = 0;
	uint32_t keys = 0;
	struct mr mr;

	ASSERT_EQ(0, memory_for_peers(pair, 1, LONG_LENGTH, &mr));
	ASSERT_EQ(0, set_name(pair->sessions[1], mr.id, "long"));
	while (offset < LONG_LENGTH) {
		struct krdma_mr_query_args query = {
			.size = sizeof(query), .id = mr.id, .part_offset = offset,
		};

		ASSERT_EQ(0, session_request(pair->sessions[1], KRDMA_MR_QUERY, &query));
		ASSERT_EQ(0, find_mr_until(pair->a.conn, "long", offset, KRDMA_FOREVER, &found));
		EXPECT_EQ(query.remote_addr + offset, found.remote_addr);
		EXPECT_EQ(LONG_LENGTH, found.length);
		EXPECT_EQ(query.part_reach, found.reach);
		EXPECT_EQ(query.part_key, found.rkey);
		ASSERT_NE(0, found.reach);
		offset += found.reach;
		keys++;
		EXPECT_EQ(offset == LONG_LENGTH, keys == query.key_count);
	}
	EXPECT_EQ(LONG_LENGTH, offset);
	EXPECT_EQ(0, find_mr_until(pair->a.conn, "long", LONG_LENGTH - 1, KRDMA_FOREVER, &found));
	EXPECT_EQ(1, found.reach);
	EXPECT_EQ(-ERANGE, find_mr_until(pair->a.conn, "long", LONG_LENGTH, KRDMA_FOREVER, &found));
	EXPECT_EQ(-ERANGE, find_mr_until(pair->a.conn, "long", UINT64_MAX, KRDMA_FOREVER, &found));
	mr_destroy(&mr);
}

/* Memory that peers of lanes cannot access has no name. */
/* Proves: F14 */
TEST_F(lane_names, only_memory_for_peers_has_a_name)
{
	struct pair *pair = &self->pair;
	int session = pair->sessions[1];
	struct krdma_conn_find_mr_args found;
	struct mr mr;

	ASSERT_EQ(0, mr_create(session, pair->device, 4096, ACCESS_ALL, &mr));
	EXPECT_EQ(-EACCES, set_name(session, mr.id, "plain"));
	mr_destroy(&mr);
	ASSERT_EQ(0, lane_memory(pair, 1, 4096, &mr));
	EXPECT_EQ(-EACCES, set_name(session, mr.id, "local"));
	EXPECT_EQ(-EACCES, set_name(session, mr.id, ""));
	mr_destroy(&mr);
	EXPECT_EQ(-ENOENT, set_name(session, mr.id, "gone"));
	EXPECT_EQ(-ENOENT, set_name(session, 0, "none"));
	ASSERT_EQ(0, mr_create_with(session, pair->device, 4096, KRDMA_ACCESS_REMOTE_READ, LANES,
				    &mr));
	EXPECT_EQ(0, set_name(session, mr.id, "read"));
	ASSERT_EQ(0, find_mr(pair->a.conn, "read", &found));
	EXPECT_EQ(KRDMA_ACCESS_REMOTE_READ, found.access);
	mr_destroy(&mr);
}

/* Proves: F14 */
TEST_F(lane_names, what_is_wrong_is_refused)
{
	struct pair *pair = &self->pair;
	struct krdma_mr_set_name_args name = { .size = sizeof(name), .id = self->b.id };
	struct krdma_conn_find_mr_args find = {
		.size = sizeof(find), .deadline_ns = KRDMA_FOREVER,
	};

	memset(name.name, 'a', sizeof(name.name));
	EXPECT_EQ(-EINVAL, session_request(pair->sessions[1], KRDMA_MR_SET_NAME, &name));
	name.name[1] = 0;
	EXPECT_EQ(-EINVAL, session_request(pair->sessions[1], KRDMA_MR_SET_NAME, &name));
	memset(name.name, 0, sizeof(name.name));
	name.name[63] = 'a';
	EXPECT_EQ(-EINVAL, session_request(pair->sessions[1], KRDMA_MR_SET_NAME, &name));
	name.name[63] = 0;
	name.name[0] = 'a';
	name.flags = 1;
	EXPECT_EQ(-EOPNOTSUPP, session_request(pair->sessions[1], KRDMA_MR_SET_NAME, &name));
	name.flags = 0;
	name.reserved = 1;
	EXPECT_EQ(-EOPNOTSUPP, session_request(pair->sessions[1], KRDMA_MR_SET_NAME, &name));
	name.reserved = 0;
	EXPECT_EQ(0, session_request(pair->sessions[1], KRDMA_MR_SET_NAME, &name));

	EXPECT_EQ(-EINVAL, session_request(pair->a.conn, KRDMA_CONN_FIND_MR, &find));
	memset(find.name, 'a', sizeof(find.name));
	EXPECT_EQ(-EINVAL, session_request(pair->a.conn, KRDMA_CONN_FIND_MR, &find));
	memset(find.name + 1, 0, sizeof(find.name) - 1);
	find.name[63] = 'a';
	EXPECT_EQ(-EINVAL, session_request(pair->a.conn, KRDMA_CONN_FIND_MR, &find));
	find.name[63] = 0;
	find.flags = 1;
	EXPECT_EQ(-EOPNOTSUPP, session_request(pair->a.conn, KRDMA_CONN_FIND_MR, &find));
	find.flags = 0;
	find.deadline_ns = 0;
	EXPECT_EQ(-ETIMEDOUT, session_request(pair->a.conn, KRDMA_CONN_FIND_MR, &find));
	find.deadline_ns = KRDMA_FOREVER;
	EXPECT_EQ(0, session_request(pair->a.conn, KRDMA_CONN_FIND_MR, &find));
	EXPECT_EQ(self->b.rkey, find.rkey);
}

/* Proves: F14 */
TEST_F(lane_names, only_a_connected_lane_asks)
{
	struct krdma_conn_find_mr_args found;
	struct pair *pair = &self->pair;
	struct pair plain;
	int conn;

	ASSERT_EQ(0, pair_open(&plain, &(struct pair_options) {
		.sessions = { pair->sessions[0], pair->sessions[1] } }));
	EXPECT_EQ(-EPROTONOSUPPORT, find_mr(plain.a.conn, "one", &found));
	EXPECT_EQ(-EPROTONOSUPPORT, find_mr(plain.b.conn, "one", &found));
	pair_close(&plain);

	ASSERT_EQ(0, conn_create_with(pair->sessions[0], KRDMA_CONN_CREATE_LANE, &conn, NULL));
	EXPECT_EQ(-ENOTCONN, find_mr(conn, "one", &found));
	close(conn);

	EXPECT_EQ(0, set_name(pair->sessions[1], self->b.id, "one"));
	EXPECT_EQ(0, find_mr(pair->a.conn, "one", &found));
	close(pair->b.conn);
	pair->b.conn = -1;
	ASSERT_EQ(0, conn_await_closed(pair->a.conn, PATIENCE_MS));
	EXPECT_EQ(-ENOTCONN, find_mr(pair->a.conn, "one", &found));
}

/* A lane that has read asks its peer all the same, and takes the peer's messages. */
/* Proves: F14 */
TEST_F(lane_names, an_mr_is_found_after_a_transfer)
{
	struct pair *pair = &self->pair;
	struct krdma_sqe there = sqe_remote(KRDMA_OP_READ, pair->a.id, 1, &self->a, 0, 64,
					    &self->b, 0);
	struct krdma_sqe back = sqe_remote(KRDMA_OP_WRITE, pair->b.id, 1, &self->b, 0, 64,
					   &self->a, 0);
	struct krdma_conn_find_mr_args found;
	struct krdma_cqe cqe;

	ASSERT_EQ(0, set_name(pair->sessions[1], self->b.id, "one"));
	ASSERT_EQ(0, find_mr(pair->a.conn, "one", &found));
	EXPECT_EQ(KRDMA_WC_SUCCESS, pair_operate(pair, there));
	EXPECT_EQ(0, find_mr_until(pair->a.conn, "one", 0, deadline_in(PATIENCE_MS), &found));
	EXPECT_EQ(-ENOENT, find_mr_until(pair->a.conn, "two", 0, deadline_in(PATIENCE_MS),
					 &found));
	ASSERT_EQ(0, ring_submit(pair->b.ring, &back, 1, NULL));
	ASSERT_EQ(0, ring_wait(pair->b.ring, &cqe, PATIENCE_MS));
	EXPECT_EQ(KRDMA_WC_SUCCESS, cqe.status);
	/* The peer knows of each receive, one at a time. */
	for (int i = 0; i < 10; i++) {
		ASSERT_EQ(0, message(&pair->a, &self->a, &pair->b, &self->b, 0, 8));
		ASSERT_EQ(0, message(&pair->b, &self->b, &pair->a, &self->a, 0, 8));
	}
}

/*
 * Many at a time
 */

#define SEEKERS	8
#define SEEKS	100

struct seeker {
	int conn;
	uint32_t rkey;
	int wrong;
};

static void *seek(void *context)
{
	struct krdma_conn_find_mr_args found;
	struct seeker *seeker = context;

	for (int i = 0; i < SEEKS && !seeker->wrong; i++) {
		const char *name = i % 2 ? "one" : "none";
		int ret = find_mr(seeker->conn, name, &found);

		if (i % 2 ? ret || found.rkey != seeker->rkey : ret != -ENOENT)
			seeker->wrong = i + 1;
	}
	return NULL;
}

/* Threads that share a lane get each its own answer, while others name and deregister. */
/* Proves: F14 */
TEST_F(lane_names, each_thread_gets_its_own_answer)
{
	struct pair *pair = &self->pair;
	struct seeker seekers[SEEKERS];
	pthread_t threads[SEEKERS];
	struct mr mr;

	ASSERT_EQ(0, set_name(pair->sessions[1], self->b.id, "one"));
	for (int i = 0; i < SEEKERS; i++) {
		seekers[i] = (struct seeker) { .conn = pair->a.conn, .rkey = self->b.rkey };
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, seek, &seekers[i]));
	}
	for (int i = 0; i < 50; i++) {
		ASSERT_EQ(0, memory_for_peers(pair, 1, 4096, &mr));
		EXPECT_EQ(-EEXIST, set_name(pair->sessions[1], mr.id, "one"));
		EXPECT_EQ(0, set_name(pair->sessions[1], mr.id, "two"));
		mr_destroy(&mr);
	}
	for (int i = 0; i < SEEKERS; i++) {
		ASSERT_EQ(0, pthread_join(threads[i], NULL));
		EXPECT_EQ(0, seekers[i].wrong);
	}
}

TEST_HARNESS_MAIN
