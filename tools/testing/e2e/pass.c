// SPDX-License-Identifier: GPL-2.0
/*
 * Objects in several processes: handed over (SCM_RIGHTS), and inherited.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "kselftest_harness.h"
#include "fd_pass.h"
#include "pair.h"
#include "session.h"

#define MESSAGE	1000

FIXTURE(pass)
{
	struct pair pair;
	struct end *a;
	struct end *b;
	struct mr mr;
	int channels[2];
};

FIXTURE_SETUP(pass)
{
	ASSERT_EQ(0, pair_open(&self->pair, &(struct pair_options) { .two_sessions = true }));
	self->a = &self->pair.a;
	self->b = &self->pair.b;
	ASSERT_EQ(0, mr_create(self->a->session, self->pair.device, 65536, ACCESS_ALL,
			       &self->mr));
	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, self->channels));
}

FIXTURE_TEARDOWN(pass)
{
	mr_destroy(&self->mr);
	pair_close(&self->pair);
	close(self->channels[0]);
	close(self->channels[1]);
}

static int child_status(pid_t child)
{
	int status;

	if (waitpid(child, &status, 0) != child)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static void check(bool condition, int line)
{
	if (!condition)
		_exit(line % 250 + 1);
}

/* In a child: if @condition is false, exit with a status that gives the line. */
#define CHECK(condition)	check(condition, __LINE__)

/*
 * The work of a process that has received a session, a connection and a ring: it registers its
 * own memory, waits for a message, answers, and disconnects.
 */
static int be_the_server(int channel, uint32_t device, uint32_t id)
{
	int session = fd_receive(channel);
	int conn = fd_receive(channel);
	int ring_fd = fd_receive(channel);
	struct krdma_ring_query_args query;
	struct krdma_sqe receive, send;
	struct mr mr;
	struct krdma_cqe cqe;
	uint32_t reaped;
	char byte = 0;

	CHECK(session >= 0 && conn >= 0 && ring_fd >= 0);
	CHECK(ring_query(ring_fd, &query) == 0 && query.device_id == device);
	CHECK(mr_create(session, device, 8192, ACCESS_ALL, &mr) == 0);
	receive = sqe_receive(id, 1, &mr, 0, 4096);
	CHECK(ring_post(ring_fd, &receive, 1, NULL) == 0);
	CHECK(write(channel, &byte, 1) == 1);
	CHECK(ring_reap(ring_fd, &cqe, 1, 1, deadline_in(PATIENCE_MS), &reaped) == 0);
	CHECK(cqe.status == KRDMA_WC_SUCCESS && cqe.wr_id == 1 && cqe.length == MESSAGE);
	CHECK(filled(mr.data, MESSAGE, 5));
	send = sqe_send(id, 2, &mr, 0, MESSAGE);
	CHECK(ring_post(ring_fd, &send, 1, NULL) == 0);
	CHECK(ring_reap(ring_fd, &cqe, 1, 1, deadline_in(PATIENCE_MS), &reaped) == 0);
	CHECK(cqe.status == KRDMA_WC_SUCCESS && cqe.wr_id == 2);
	CHECK(conn_disconnect(conn, 0) == 0);
	CHECK(conn_await_closed(conn, PATIENCE_MS) == 0);
	return 0;
}

/* A server accepts, and hands the connection over to a worker, which also disconnects. */
/* Proves: A9, F2 */
TEST_F(pass, a_connection_and_all_that_it_needs)
{
	struct krdma_sqe receive, send;
	struct krdma_cqe cqe;
	uint32_t id = self->b->id;
	pid_t child;
	char byte;

	child = fork();
	ASSERT_LE(0, child);
	if (!child) {
		/* Close inherited descriptors: only those from the channel are used. */
		int channel = self->channels[1];

		pair_close(&self->pair);
		_exit(be_the_server(channel, self->pair.device, id));
	}
	ASSERT_EQ(0, fd_send(self->channels[0], self->b->session));
	ASSERT_EQ(0, fd_send(self->channels[0], self->b->conn));
	ASSERT_EQ(0, fd_send(self->channels[0], self->b->ring->fd));
	end_close(self->b);
	close(self->pair.sessions[1]);
	self->pair.owned[1] = false;

	fill(self->mr.data, MESSAGE, 5);
	receive = sqe_receive(self->a->id, 7, &self->mr, 8192, 4096);
	ASSERT_EQ(0, ring_submit(self->a->ring, &receive, 1, NULL));
	ASSERT_EQ(1, read(self->channels[0], &byte, 1));
	send = sqe_send(self->a->id, 8, &self->mr, 0, MESSAGE);
	ASSERT_EQ(0, ring_submit(self->a->ring, &send, 1, NULL));
	for (int i = 0; i < 2; i++) {
		ASSERT_EQ(0, ring_wait(self->a->ring, &cqe, PATIENCE_MS));
		EXPECT_EQ(KRDMA_WC_SUCCESS, cqe.status);
	}
	EXPECT_TRUE(filled(self->mr.data + 8192, MESSAGE, 5));
	EXPECT_EQ(0, conn_await_closed(self->a->conn, PATIENCE_MS));
	EXPECT_EQ(-EPIPE, conn_wait(self->a->conn, 0, NULL));
	EXPECT_EQ(0, child_status(child));
}

/* Another process takes a connection from the listener, and the first one accepts it. */
/* Proves: A9, F2 */
TEST_F(pass, a_listener_and_a_request)
{
	struct end client, server;
	pid_t child;

	child = fork();
	ASSERT_LE(0, child);
	if (!child) {
		int listener = fd_receive(self->channels[1]), taken;

		if (listener_next(listener, deadline_in(PATIENCE_MS), &taken, NULL))
			_exit(1);
		_exit(fd_send(self->channels[1], taken) ? 2 : 0);
	}
	ASSERT_EQ(0, fd_send(self->channels[0], self->pair.listener));
	ASSERT_EQ(0, end_ask(&client, self->a->session, &self->pair.address, NULL));
	end_init(&server, self->b->session);
	server.conn = fd_receive(self->channels[0]);
	ASSERT_LE(0, server.conn);
	EXPECT_EQ(0, child_status(child));
	ASSERT_EQ(0, end_create_qp(&server, NULL));
	ASSERT_EQ(0, end_accept(&server, NULL));
	EXPECT_EQ(0, conn_wait(client.conn, deadline_in(PATIENCE_MS), NULL));
	end_close(&client);
	end_close(&server);
}

static int use_in_child(struct end *end, uint32_t device)
{
	struct krdma_sqe entry;
	struct mr mr;
	struct krdma_cqe cqe;
	struct ring map;

	/* The inherited descriptors refer to the same objects, and can be mapped again. */
	CHECK(ring_adopt(dup(end->ring->fd), end->ring->size, &map) == 0);
	CHECK(mr_create(end->session, device, 4096, 0, &mr) == 0);
	entry = sqe_send(end->id, 4, &mr, 0, 100);
	CHECK(ring_submit(&map, &entry, 1, NULL) == 0);
	CHECK(ring_wait(&map, &cqe, PATIENCE_MS) == 0);
	CHECK(cqe.wr_id == 4 && cqe.status == KRDMA_WC_SUCCESS);
	ring_close(&map);
	return 0;
}

TEST_F(pass, a_child_has_the_same_objects)
{
	struct krdma_conn_query_args query;
	struct krdma_sqe receive;
	struct mr mr;
	struct krdma_cqe cqe;
	pid_t child;

	ASSERT_EQ(0, mr_create(self->b->session, self->pair.device, 4096, ACCESS_ALL,
			       &mr));
	receive = sqe_receive(self->b->id, 1, &mr, 0, 4096);
	ASSERT_EQ(0, ring_submit(self->b->ring, &receive, 1, NULL));
	child = fork();
	ASSERT_LE(0, child);
	if (!child)
		_exit(use_in_child(self->a, self->pair.device));
	EXPECT_EQ(0, child_status(child));
	ASSERT_EQ(0, ring_wait(self->b->ring, &cqe, PATIENCE_MS));
	/* The exit of the child ends no object. */
	ASSERT_EQ(0, conn_query(self->a->conn, NULL, 0, &query));
	EXPECT_EQ(KRDMA_CONN_CONNECTED, query.state);
	EXPECT_EQ(1, query.sends_posted);
}

/* An MR belongs to its process: a child's MR ends with the child, whichever session it is in. */
TEST_F(pass, memory_ends_with_its_process)
{
	struct krdma_mr_query_args query = { .size = sizeof(query) };
	struct krdma_sqe entry;
	struct mr mr;
	pid_t child;
	char byte;

	child = fork();
	ASSERT_LE(0, child);
	if (!child) {
		if (mr_create(self->a->session, self->pair.device, 8192, ACCESS_ALL, &mr))
			_exit(1);
		if (write(self->channels[1], &mr, sizeof(mr)) != sizeof(mr))
			_exit(2);
		_exit(read(self->channels[1], &byte, 1) == 1 ? 0 : 3);
	}
	ASSERT_EQ(sizeof(mr), read(self->channels[0], &mr, sizeof(mr)));
	query.id = mr.id;
	EXPECT_EQ(0, session_request(self->a->session, KRDMA_MR_QUERY, &query));
	EXPECT_EQ(mr.rkey, query.rkey);
	ASSERT_EQ(1, write(self->channels[0], "x", 1));
	EXPECT_EQ(0, child_status(child));
	query = (struct krdma_mr_query_args) { .size = sizeof(query), .id = mr.id };
	EXPECT_EQ(-ENOENT, session_request(self->a->session, KRDMA_MR_QUERY, &query));
	entry = sqe_remote(KRDMA_OP_WRITE, self->a->id, 1, &mr, 0, 8, &self->mr, 0);
	EXPECT_EQ(-ENOENT, ring_submit(self->a->ring, &entry, 1, NULL));
	/* The parent's MR is unchanged. */
	entry = sqe_remote(KRDMA_OP_WRITE, self->a->id, 1, &self->mr, 0, 8, &self->mr,
			   64);
	EXPECT_EQ(0, ring_submit(self->a->ring, &entry, 1, NULL));
}

/* A child does not inherit the mappings of rings, so that it cannot corrupt them by mistake. */
TEST_F(pass, a_child_does_not_have_the_rings)
{
	pid_t child;

	child = fork();
	ASSERT_LE(0, child);
	if (!child) {
		volatile uint32_t *tail = &self->a->ring->header->sq_tail;

		*tail = *tail;
		_exit(0);
	}
	EXPECT_EQ(1000 + SIGSEGV, child_status(child));
}

TEST_F(pass, what_a_child_closes_stays_the_parents)
{
	struct krdma_conn_query_args query;
	pid_t child;

	child = fork();
	ASSERT_LE(0, child);
	if (!child) {
		close(self->a->conn);
		close(self->a->ring->fd);
		close(self->pair.sessions[0]);
		_exit(conn_wait(self->a->conn, 0, NULL) == -EBADF ? 0 : 1);
	}
	EXPECT_EQ(0, child_status(child));
	ASSERT_EQ(0, conn_query(self->a->conn, NULL, 0, &query));
	EXPECT_EQ(KRDMA_CONN_CONNECTED, query.state);
}

/* Closing differs from disconnecting: only the last close ends the connection. */
TEST_F(pass, the_last_one_who_closes_it_ends_it)
{
	pid_t child;
	char byte;

	child = fork();
	ASSERT_LE(0, child);
	if (!child) {
		close(self->b->conn);
		_exit(read(self->channels[1], &byte, 1) == 1 ? 0 : 3);
	}
	end_close(self->a);
	EXPECT_EQ(-ETIMEDOUT, conn_await_closed(self->b->conn, 300));
	ASSERT_EQ(1, write(self->channels[0], "x", 1));
	EXPECT_EQ(0, child_status(child));
	EXPECT_EQ(0, conn_await_closed(self->b->conn, PATIENCE_MS));
}

/* A killed process leaves nothing behind, and the peer gets the disconnect. */
TEST_F(pass, a_killed_process_ends_what_it_had)
{
	struct end client, server;
	struct pair pair = {};
	pid_t child;
	char byte;

	child = fork();
	ASSERT_LE(0, child);
	if (!child) {
		pair_close(&self->pair);
		if (pair_begin(&pair, NULL))
			_exit(1);
		if (write(self->channels[1], &pair.address, sizeof(pair.address)) !=
		    sizeof(pair.address))
			_exit(3);
		end_init(&server, pair.sessions[1]);
		if (listener_next(pair.listener, deadline_in(PATIENCE_MS), &server.conn,
				  &server.id) ||
		    end_create_qp(&server, NULL) || end_accept(&server, NULL) ||
		    conn_wait(server.conn, deadline_in(PATIENCE_MS), NULL) ||
		    write(self->channels[1], "c", 1) != 1)
			_exit(4);
		pause();
		_exit(5);
	}
	ASSERT_EQ(sizeof(pair.address), read(self->channels[0], &pair.address,
					     sizeof(pair.address)));
	ASSERT_EQ(0, end_ask(&client, self->a->session, &pair.address, NULL));
	ASSERT_EQ(0, conn_wait(client.conn, deadline_in(PATIENCE_MS), NULL));
	/* Both ends have got the connected event. */
	ASSERT_EQ(1, read(self->channels[0], &byte, 1));
	kill(child, SIGKILL);
	EXPECT_EQ(1000 + SIGKILL, child_status(child));
	EXPECT_EQ(0, conn_await_closed(client.conn, PATIENCE_MS));
	/* The kernel has disconnected for the killed process. */
	EXPECT_EQ(-EPIPE, conn_wait(client.conn, 0, NULL));
	end_close(&client);
}

/*
 * A worker that has received a ring and a connection, and must not access other memory of their
 * owner
 */

/* MR IDs begin at 1. */
#define GUESSES		64

static int count_guesses(int ring, uint32_t conn, uint32_t *last)
{
	int accepted = 0;

	for (uint32_t number = 1; number <= GUESSES; number++) {
		struct mr guessed = { .id = number };
		struct krdma_sqe send;

		/* The error for an address outside an MR shows whether the MR exists. */
		guessed.data = NULL;
		send = sqe_send(conn, number, &guessed, 0, 1);
		switch (ring_post(ring, &send, 1, NULL)) {
		case -ERANGE:
			accepted++;
			*last = number;
			break;
		case -ENOENT:
			break;
		default:
			return -1;
		}
	}
	return accepted;
}

/* Proves: F2 */
TEST_F(pass, a_confined_queue_names_no_other_memory)
{
	struct mr other;
	uint32_t last = 0;
	int before;

	ASSERT_EQ(0, mr_create(self->a->session, self->pair.device, 4096, ACCESS_ALL, &other));
	/* A process with an unconfined ring can use all MRs of the session. */
	before = count_guesses(self->a->ring->fd, self->a->id, &last);
	EXPECT_LE(2, before);
	ASSERT_EQ(0, ring_confine(self->a->ring->fd, &other.id, 1));
	EXPECT_EQ(1, count_guesses(self->a->ring->fd, self->a->id, &last));
	EXPECT_EQ(other.id, last);
	mr_destroy(&other);
	/* The ID of the deregistered MR is unused. */
	EXPECT_EQ(0, count_guesses(self->a->ring->fd, self->a->id, &last));
}

TEST_F(pass, what_a_confined_queue_may_name_goes_through)
{
	struct krdma_sqe receive = sqe_receive(self->a->id, 1, &self->mr, 0, 4096);
	struct krdma_sqe write;
	struct mr remote;
	struct krdma_cqe cqe;

	ASSERT_EQ(0, mr_create(self->b->session, self->pair.device, 4096, ACCESS_ALL, &remote));
	write = sqe_remote(KRDMA_OP_WRITE, self->a->id, 2, &self->mr, 0, 64, &remote, 0);
	ASSERT_EQ(0, ring_confine(self->a->ring->fd, NULL, 0));
	EXPECT_EQ(-ENOENT, ring_post(self->a->ring->fd, &receive, 1, NULL));
	EXPECT_EQ(-ENOENT, ring_submit(self->a->ring, &write, 1, NULL));
	pair_close(&self->pair);
	mr_destroy(&remote);

	mr_destroy(&self->mr);
	ASSERT_EQ(0, pair_open(&self->pair, &(struct pair_options) { .two_sessions = true }));
	ASSERT_EQ(0, mr_create(self->a->session, self->pair.device, 65536, ACCESS_ALL,
			       &self->mr));
	ASSERT_EQ(0, mr_create(self->b->session, self->pair.device, 4096, ACCESS_ALL, &remote));
	write = sqe_remote(KRDMA_OP_WRITE, self->a->id, 2, &self->mr, 0, 64, &remote, 0);
	ASSERT_EQ(0, ring_confine(self->a->ring->fd, &self->mr.id, 1));
	ASSERT_EQ(0, ring_submit(self->a->ring, &write, 1, NULL));
	ASSERT_EQ(0, ring_wait(self->a->ring, &cqe, PATIENCE_MS));
	EXPECT_EQ(KRDMA_WC_SUCCESS, cqe.status);
	mr_destroy(&remote);
}

TEST_F(pass, a_confined_queue_stays_confined)
{
	struct krdma_ring_confine_args confine = { .size = sizeof(confine) };
	uint32_t ids[3], nobodys = 4711;
	struct mr mr[3];
	static uint32_t many[KRDMA_CONFINE_MAX];
	int ring = self->a->ring->fd;

	for (int i = 0; i < 3; i++) {
		ASSERT_EQ(0, mr_create(self->a->session, self->pair.device, 4096, ACCESS_ALL,
				       &mr[i]));
		ids[2 - i] = mr[i].id;
	}
	EXPECT_EQ(-ENOENT, ring_confine(ring, &nobodys, 1));
	EXPECT_EQ(-E2BIG, ring_confine(ring, many, KRDMA_CONFINE_MAX + 1));
	EXPECT_EQ(-ENOENT, ring_confine(ring, many, KRDMA_CONFINE_MAX));
	EXPECT_EQ(-EFAULT, ring_confine(ring, NULL, 1));
	confine.flags = 1;
	EXPECT_EQ(-EOPNOTSUPP, session_request(ring, KRDMA_RING_CONFINE, &confine));
	confine.flags = 0;
	confine.reserved = 1;
	EXPECT_EQ(-EOPNOTSUPP, session_request(ring, KRDMA_RING_CONFINE, &confine));

	/* In any order, with duplicates or not; the set can only shrink. */
	ASSERT_EQ(0, ring_confine(ring, ids, 3));
	EXPECT_EQ(-EPERM, ring_confine(ring, &self->mr.id, 1));
	ASSERT_EQ(0, ring_confine(ring, ids, 2));
	EXPECT_EQ(-EPERM, ring_confine(ring, ids, 3));
	EXPECT_EQ(-EPERM, ring_confine(ring, &ids[2], 1));
	ids[1] = ids[0];
	ASSERT_EQ(0, ring_confine(ring, ids, 2));
	ASSERT_EQ(0, ring_confine(ring, NULL, 0));
	EXPECT_EQ(-EPERM, ring_confine(ring, ids, 1));
	for (int i = 0; i < 3; i++)
		mr_destroy(&mr[i]);
}

/* An SRQ that completes in a confined ring can use only the same MRs. */
TEST_F(pass, so_are_the_shared_receives_of_a_confined_queue)
{
	struct krdma_srq_create_args create = { .size = sizeof(create), .depth = 4 };
	struct ring ring;
	struct krdma_sqe receive;
	struct krdma_ring_post_args post = { .size = sizeof(post), .count = 1 };

	ASSERT_EQ(0, ring_create(self->a->session, NULL, &ring));
	create.device_id = self->pair.device;
	create.ring_fd = ring.fd;
	ASSERT_EQ(0, session_request(self->a->session, KRDMA_SRQ_CREATE, &create));
	receive = sqe_receive(create.id, 1, &self->mr, 0, 64);
	post.entries = (uintptr_t)&receive;
	ASSERT_EQ(0, session_request(create.fd, KRDMA_SRQ_POST, &post));
	EXPECT_EQ(1, post.accepted);
	ASSERT_EQ(0, ring_confine(ring.fd, NULL, 0));
	ASSERT_EQ(0, session_request(create.fd, KRDMA_SRQ_POST, &post));
	EXPECT_EQ(0, post.accepted);
	EXPECT_EQ(-ENOENT, post.error);
	close(create.fd);
	ring_close(&ring);
}

TEST_HARNESS_MAIN
