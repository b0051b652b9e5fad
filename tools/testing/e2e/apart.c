// SPDX-License-Identifier: GPL-2.0
/*
 * Two machines and the link between them: what a program sees when its peer becomes
 * unreachable, and that nothing waits for such a peer forever.  The tests run on machine 1;
 * machine 2 is the server, at the other end of "vm-link".
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>

#include "kselftest_harness.h"
#include "kmod.h"
#include "net_link.h"
#include "pair.h"
#include "rdma_link.h"
#include "session.h"

#define SERVER		"10.77.0.2"
#define SERVER_PORT	7471
#define ROOM		65536
#define CONNS		64

/* Seven retries of an eighth to half a second each, on a machine that also does other work. */
#define LOST_MS		20000
/* The connection manager sends its request sixteen times, about four seconds apart. */
#define UNANSWERED_MS	120000
/* Limit for what does not wait for a peer, on a busy machine. */
#define PROMPT_MS	5000
#define OPERATIONS	16

/* The server's memory region; sent to each client as private data. */
struct offer {
	uint64_t addr;
	uint32_t key;
};

/* Private data of a client that asks the server to exit. */
static const char goodbye[] = "goodbye";
/*
 * Private data of a client that asks the server to connect to it, with this ACK timeout.  The
 * server then is the active side.
 */
struct call {
	char text[8];
	uint32_t ack_timeout;
};

static const char call_me[8] = "call me";

#define CLIENT		"10.77.0.1"
#define CLIENT_PORT	7472
#define NETDEV		"eth0"
/* ACK timeouts of one second, so that seven retries take at least seven, and of two hours. */
#define CALL_PATIENT	18
#define CALL_PATIENT_MS	5000
#define CALL_FOR_EVER	31
/* A quarter of a second, so two seconds in all: longer than the other machine ever stalls. */
#define UNHURRIED	16

/*
 * Machine 2
 */

static int serve_one(int session, int conn, const struct mr *mr, struct end *end)
{
	struct offer offer = { .addr = mr->remote_addr, .key = mr->rkey };
	struct end_options options = {
		.param.private_data = (uintptr_t)&offer,
		.param.private_data_len = sizeof(offer),
	};
	int ret;

	end_init(end, session);
	end->conn = conn;
	ret = end_create_qp(end, &options);
	return ret ? ret : end_accept(end, &options);
}

static int call_peer(int session, struct end *end, uint32_t ack_timeout)
{
	const struct end_options options = { .ack_timeout = ack_timeout };
	struct __kernel_sockaddr_storage address;
	int ret = address_set(&address, CLIENT, CLIENT_PORT);

	return ret ? ret : end_ask(end, session, &address, &options);
}

/*
 * If a message cannot be sent, for example because the link is down on this side, rxe's QP for
 * the connection manager (GSI) can enter the error state.  Then no program can connect over the
 * device any more, so mend() creates the device again.  It does nothing about other failures to
 * connect.
 */
static bool mend(void)
{
	if (system("rdma resource show qp | grep -q ' type GSI state ERR'"))
		return false;
	printf("# the manager's queue pair of %s is in error: the device is made anew\n",
	       BOOT_DEVICE);
	fflush(stdout);
	if (rdma_link_remove(BOOT_DEVICE) || rdma_link_add(BOOT_DEVICE, NETDEV))
		fprintf(stderr, "%s cannot be made anew\n", BOOT_DEVICE);
	return true;
}

/*
 * Serves until a client says goodbye, or the device was created again (-ENODEV).  Keeps all
 * connections open, as a server that never checks them would.
 */
static int serve_session(int session)
{
	struct krdma_conn_query_args query;
	static struct end ends[CONNS];
	int listener = -1, conn, ret;
	unsigned int count = 0;
	struct mr mr;
	char asked[256];
	struct call who;
	uint32_t device;

	ret = boot_device(session, &device);
	if (!ret)
		ret = mr_create(session, device, ROOM, ACCESS_ALL, &mr);
	if (!ret)
		ret = listener_open(session, SERVER, SERVER_PORT, 0, &listener, NULL);
	while (!ret && count < CONNS) {
		ret = listener_next(listener, deadline_in(1000), &conn, NULL);
		if (ret == -ETIMEDOUT && !mend())
			ret = 0;
		else if (ret == -ETIMEDOUT)
			ret = -ENODEV;
		else if (!ret)
			ret = conn_query(conn, memset(asked, 0, sizeof(asked)), sizeof(asked),
					 &query) ?: 1;
		if (ret <= 0)
			continue;
		ret = 0;
		if (!memcmp(asked, goodbye, sizeof(goodbye))) {
			ret = conn_reject(conn, goodbye, sizeof(goodbye));
			break;
		}
		memcpy(&who, asked, sizeof(who));
		if (!memcmp(who.text, call_me, sizeof(call_me))) {
			close(conn);
			ret = call_peer(session, &ends[count++], who.ack_timeout);
			continue;
		}
		ret = serve_one(session, conn, &mr, &ends[count]);
		/* The client may have given up; the server goes on. */
		if (ret == -ENOTCONN)
			ret = 0;
		count++;
	}
	fprintf(stderr, "served %u connections: %s\n", count, strerror(-ret));
	if (ret == -ENODEV) {
		while (count)
			end_close(&ends[--count]);
		close(listener);
	}
	return ret;
}

static int serve(void)
{
	int session, ret;

	do {
		session = session_open(O_CLOEXEC);
		ret = session < 0 ? session : serve_session(session);
		close(session);
	} while (ret == -ENODEV);
	return ret ? 1 : 0;
}

/*
 * Machine 1
 */

FIXTURE(apart)
{
	int session;
	uint32_t device;
	struct __kernel_sockaddr_storage server;
	struct mr local;
	struct mr remote;
	struct end end;
};

static int cable_of(unsigned int node, const char *how)
{
	char command[64];

	snprintf(command, sizeof(command), "vm-link %u %s", node, how);
	return system(command) ? -EIO : 0;
}

static int cable(const char *how)
{
	return cable_of(2, how);
}

/* Retries: the server may have booted later, or the link may have just come up. */
static void reach(struct __test_metadata *_metadata, FIXTURE_DATA(apart) * self,
		  const struct end_options *options)
{
	static const struct end_options unhurried = { .ack_timeout = UNHURRIED };
	uint64_t end = now_ms() + UNANSWERED_MS;
	struct krdma_conn_query_args query;
	struct offer offer = {};
	int ret;

	do {
		ret = end_ask(&self->end, self->session, &self->server, options ?: &unhurried);
		if (!ret)
			ret = conn_wait(self->end.conn, deadline_in(UNANSWERED_MS), NULL);
		if (!ret)
			break;
		end_close(&self->end);
		sleep_ms(100);
	} while (now_ms() < end);
	ASSERT_EQ(0, ret) {
		TH_LOG("the other machine does not serve: %s", strerror(-ret));
	}
	ret = conn_query(self->end.conn, &offer, sizeof(offer), &query);
	ASSERT_EQ(0, ret);
	self->remote.remote_addr = offer.addr;
	self->remote.rkey = offer.key;
}

static void begin(struct __test_metadata *_metadata, FIXTURE_DATA(apart) * self)
{
	self->session = session_open(O_CLOEXEC);
	ASSERT_LE(0, self->session);
	ASSERT_EQ(0, boot_device(self->session, &self->device));
	ASSERT_EQ(0, mr_create(self->session, self->device, ROOM, ACCESS_ALL, &self->local));
	end_init(&self->end, self->session);
}

static void finish(FIXTURE_DATA(apart) * self)
{
	end_close(&self->end);
	mr_destroy(&self->local);
	close(self->session);
}

FIXTURE_SETUP(apart)
{
	ASSERT_EQ(0, address_set(&self->server, SERVER, SERVER_PORT));
	begin(_metadata, self);
	ASSERT_EQ(0, cable("on"));
	reach(_metadata, self, NULL);
}

FIXTURE_TEARDOWN(apart)
{
	cable("on");
	finish(self);
}

/* Posts an operation on the server's memory; the status of its completion, or -errno. */
static int operate(FIXTURE_DATA(apart) * self, uint8_t opcode, uint32_t length)
{
	struct krdma_sqe entry = sqe_remote(opcode, self->end.id, 1, &self->local, 0, length,
					    &self->remote, 0);
	struct krdma_cqe cqe;
	int ret = ring_submit(self->end.ring, &entry, 1, NULL);

	if (!ret)
		ret = ring_wait(self->end.ring, &cqe, LOST_MS);
	return ret ? ret : cqe.status;
}

TEST_F_TIMEOUT(apart, bytes_cross_the_cable, 600)
{
	fill(self->local.data, ROOM, 1);
	EXPECT_EQ(KRDMA_WC_SUCCESS, operate(self, KRDMA_OP_WRITE, ROOM));
	memset(self->local.data, 0, ROOM);
	EXPECT_EQ(KRDMA_WC_SUCCESS, operate(self, KRDMA_OP_READ, ROOM));
	EXPECT_TRUE(filled(self->local.data, ROOM, 1));
}

/* Proves: E6 (nodes) */
TEST_F_TIMEOUT(apart, operations_on_a_lost_peer_end, 600)
{
	/* The ACK timeout that a connection has by default. */
	const struct end_options usual = { .ack_timeout = 14 };
	struct krdma_sqe entries[3];
	struct krdma_cqe cqe;
	uint64_t begun;

	end_close(&self->end);
	reach(_metadata, self, &usual);
	for (int i = 0; i < 3; i++)
		entries[i] = sqe_remote(KRDMA_OP_WRITE, self->end.id, i, &self->local, 0, 4096,
					&self->remote, 0);
	ASSERT_EQ(0, cable("off"));
	begun = now_ms();
	ASSERT_EQ(0, ring_submit(self->end.ring, entries, 3, NULL));
	for (int i = 0; i < 3; i++) {
		ASSERT_EQ(0, ring_wait(self->end.ring, &cqe, LOST_MS));
		EXPECT_EQ(i, cqe.wr_id);
		EXPECT_EQ(i ? KRDMA_WC_WR_FLUSH_ERR : KRDMA_WC_RETRY_EXC_ERR, cqe.status);
	}
	printf("# told after %u ms\n", (unsigned int)(now_ms() - begun));
	EXPECT_EQ(0, conn_await_closed(self->end.conn, LOST_MS));
	EXPECT_EQ(-ETIMEDOUT, conn_wait(self->end.conn, 0, NULL));
	printf("# closed after %u ms\n", (unsigned int)(now_ms() - begun));
	EXPECT_EQ(-ENOTCONN, ring_submit(self->end.ring, entries, 1, NULL));
}

/* Asks the server to connect to machine 1 with this ACK timeout. */
static void ask_for_call(struct __test_metadata *_metadata, FIXTURE_DATA(apart) * self,
			 uint32_t ack_timeout)
{
	struct call who = { .ack_timeout = ack_timeout };
	const struct end_options options = {
		.param.private_data = (uintptr_t)&who,
		.param.private_data_len = sizeof(who),
	};

	memcpy(who.text, call_me, sizeof(call_me));
	end_close(&self->end);
	ASSERT_EQ(0, end_ask(&self->end, self->session, &self->server, &options));
	EXPECT_GT(0, conn_wait(self->end.conn, deadline_in(UNANSWERED_MS), NULL));
	end_close(&self->end);
}

/* Makes the server connect with this ACK timeout; the caller on machine 1 accepts. */
static void be_called(struct __test_metadata *_metadata, FIXTURE_DATA(apart) * self,
		      uint32_t ack_timeout, int *conn, uint32_t *id)
{
	unsigned int tries = 3;
	int listener, ret;

	ASSERT_EQ(0, listener_open(self->session, CLIENT, CLIENT_PORT, 0, &listener, NULL));
	do {
		ask_for_call(_metadata, self, ack_timeout);
		/* The request may not have reached the server: see the_server_ends_when_asked. */
		ret = listener_next(listener, deadline_in(LOST_MS), conn, id);
	} while (ret == -ETIMEDOUT && --tries);
	ASSERT_EQ(0, ret);
	close(listener);
}

/* Milliseconds until a lost peer, which had connected with this ACK timeout, is given up. */
static uint64_t patience_with(struct __test_metadata *_metadata, FIXTURE_DATA(apart) * self,
			      uint32_t ack_timeout)
{
	struct krdma_sqe entry;
	struct krdma_cqe cqe;
	uint64_t begun;
	uint32_t id;
	int conn;

	be_called(_metadata, self, ack_timeout, &conn, &id);
	ASSERT_EQ(0, serve_one(self->session, conn, &self->local, &self->end));
	self->end.id = id;
	ASSERT_EQ(0, conn_wait(conn, deadline_in(UNANSWERED_MS), NULL));

	/* The rkey may be stale: the write never reaches the peer. */
	entry = sqe_remote(KRDMA_OP_WRITE, self->end.id, 1, &self->local, 0, 4096, &self->remote,
			   0);
	ASSERT_EQ(0, cable("off"));
	begun = now_ms();
	ASSERT_EQ(0, ring_submit(self->end.ring, &entry, 1, NULL));
	ASSERT_EQ(0, ring_wait(self->end.ring, &cqe, UNANSWERED_MS));
	EXPECT_EQ(KRDMA_WC_RETRY_EXC_ERR, cqe.status);
	printf("# told after %u ms\n", (unsigned int)(now_ms() - begun));
	return now_ms() - begun;
}

/* Proves: E6 (nodes) */
TEST_F_TIMEOUT(apart, the_connecting_end_says_how_patient_both_are, 600)
{
	EXPECT_LT(CALL_PATIENT_MS, patience_with(_metadata, self, CALL_PATIENT));
}

/* Proves: E6 (nodes) */
TEST_F_TIMEOUT(apart, but_not_for_ever, 600)
{
	EXPECT_GT(UNANSWERED_MS, patience_with(_metadata, self, CALL_FOR_EVER));
}

/* The link is up again before the retries are used up, so the program notices nothing. */
/* Proves: E6 (nodes) */
TEST_F_TIMEOUT(apart, a_short_cut_is_not_noticed, 600)
{
	const struct end_options patient = {
		.param.retry_count = 7, .ack_timeout = UNHURRIED,
	};
	struct krdma_sqe entry;
	struct krdma_cqe cqe;

	end_close(&self->end);
	reach(_metadata, self, &patient);
	fill(self->local.data, ROOM, 2);
	entry = sqe_remote(KRDMA_OP_WRITE, self->end.id, 5, &self->local, 0, ROOM, &self->remote,
			   0);
	ASSERT_EQ(0, cable("off"));
	ASSERT_EQ(0, ring_submit(self->end.ring, &entry, 1, NULL));
	EXPECT_EQ(-ETIMEDOUT, ring_wait(self->end.ring, &cqe, 300));
	ASSERT_EQ(0, cable("on"));
	ASSERT_EQ(0, ring_wait(self->end.ring, &cqe, UNANSWERED_MS));
	EXPECT_EQ(KRDMA_WC_SUCCESS, cqe.status);
	memset(self->local.data, 0, ROOM);
	EXPECT_EQ(KRDMA_WC_SUCCESS, operate(self, KRDMA_OP_READ, ROOM));
	EXPECT_TRUE(filled(self->local.data, ROOM, 2));
}

#define KEEPALIVE_MS	500

/* Default of the module's parameter, and how long a peer then remains unnoticed. */
#define DEFAULT_KEEPALIVE_MS	5000
#define UNNOTICED_MS		(2 * DEFAULT_KEEPALIVE_MS)

/* Nothing is in flight, so only the keepalive notices that the peer is lost. */
/* Proves: E6 (nodes) */
TEST_F_TIMEOUT(apart, a_lost_peer_is_missed, 600)
{
	const struct end_options watchful = {
		.keepalive_ms = KEEPALIVE_MS, .ack_timeout = UNHURRIED,
	};
	const struct end_options careless = {
		.keepalive_ms = KRDMA_KEEPALIVE_NEVER, .ack_timeout = UNHURRIED,
	};
	struct end by_default = self->end, idle;
	uint64_t begun;

	end_init(&self->end, self->session);
	reach(_metadata, self, &careless);
	idle = self->end;
	end_init(&self->end, self->session);
	reach(_metadata, self, &watchful);
	sleep_ms(4 * KEEPALIVE_MS);
	EXPECT_EQ(KRDMA_CONN_CONNECTED, conn_state(self->end.conn));
	ASSERT_EQ(0, cable("off"));
	begun = now_ms();
	EXPECT_EQ(0, conn_await_closed(self->end.conn, LOST_MS));
	EXPECT_EQ(-ETIMEDOUT, conn_wait(self->end.conn, 0, NULL));
	printf("# missed after %u ms\n", (unsigned int)(now_ms() - begun));
	EXPECT_EQ(0, conn_await_closed(by_default.conn, UNNOTICED_MS + LOST_MS));
	EXPECT_EQ(-ETIMEDOUT, conn_wait(by_default.conn, 0, NULL));
	printf("# by default after %u ms\n", (unsigned int)(now_ms() - begun));
	EXPECT_EQ(KRDMA_CONN_CONNECTED, conn_state(idle.conn));
	end_close(&by_default);
	end_close(&idle);
}

/* So does the side that has accepted, by default and by its listener's interval. */
/* Proves: E14 (nodes) */
TEST_F_TIMEOUT(apart, the_accepting_side_misses_a_lost_peer_too, 600)
{
	struct krdma_listen_args listen = {
		.size = sizeof(listen), .keepalive_ms = KEEPALIVE_MS,
	};
	struct end by_default, watchful;
	unsigned int tries = 3;
	uint64_t begun;
	int ret;

	be_called(_metadata, self, CALL_PATIENT, &by_default.conn, &by_default.id);
	ASSERT_EQ(0, serve_one(self->session, by_default.conn, &self->local, &by_default));
	ASSERT_EQ(0, conn_wait(by_default.conn, deadline_in(UNANSWERED_MS), NULL));

	ASSERT_EQ(0, address_set(&listen.address, CLIENT, CLIENT_PORT));
	ASSERT_EQ(0, session_request(self->session, KRDMA_LISTEN, &listen));
	do {
		ask_for_call(_metadata, self, CALL_PATIENT);
		ret = listener_next(listen.fd, deadline_in(LOST_MS), &watchful.conn,
				    &watchful.id);
	} while (ret == -ETIMEDOUT && --tries);
	ASSERT_EQ(0, ret);
	close(listen.fd);
	ASSERT_EQ(0, serve_one(self->session, watchful.conn, &self->local, &watchful));
	ASSERT_EQ(0, conn_wait(watchful.conn, deadline_in(UNANSWERED_MS), NULL));

	ASSERT_EQ(0, cable("off"));
	begun = now_ms();
	EXPECT_EQ(0, conn_await_closed(watchful.conn, LOST_MS));
	EXPECT_EQ(-ETIMEDOUT, conn_wait(watchful.conn, 0, NULL));
	printf("# missed after %u ms\n", (unsigned int)(now_ms() - begun));
	EXPECT_EQ(0, conn_await_closed(by_default.conn, UNNOTICED_MS + LOST_MS));
	EXPECT_EQ(-ETIMEDOUT, conn_wait(by_default.conn, 0, NULL));
	printf("# by default after %u ms\n", (unsigned int)(now_ms() - begun));
	end_close(&by_default);
	end_close(&watchful);
}

#define REQUEST_MS	3000

/* A peer vanishes while its connection request waits: nothing is left of it after a while. */
/* Proves: E14 (nodes) */
TEST_F_TIMEOUT(apart, the_request_of_a_lost_peer_expires, 600)
{
	struct krdma_listen_args listen = {
		.size = sizeof(listen), .request_timeout_ms = REQUEST_MS,
	};
	struct krdma_listener_query_args requests = { .size = sizeof(requests) };
	unsigned int tries = 3;
	uint64_t begun;
	int conn;

	ASSERT_EQ(0, address_set(&listen.address, CLIENT, CLIENT_PORT));
	ASSERT_EQ(0, session_request(self->session, KRDMA_LISTEN, &listen));
	/* The request to the server may be lost: see the_server_ends_when_asked. */
	do
		ask_for_call(_metadata, self, CALL_PATIENT);
	while (!poll_mask(listen.fd, POLLIN, LOST_MS) && --tries);
	begun = now_ms();
	ASSERT_EQ(0, cable("off"));
	ASSERT_EQ(0, session_request(listen.fd, KRDMA_LISTENER_QUERY, &requests));
	EXPECT_EQ(1, requests.waiting);
	do {
		sleep_ms(10);
		ASSERT_EQ(0, session_request(listen.fd, KRDMA_LISTENER_QUERY, &requests));
	} while (!requests.expired && now_ms() - begun < REQUEST_MS + PROMPT_MS);
	printf("# expired after %u ms\n", (unsigned int)(now_ms() - begun));
	EXPECT_EQ(1, requests.expired);
	EXPECT_EQ(0, requests.waiting);
	EXPECT_EQ(-EAGAIN, listener_next(listen.fd, 0, &conn, NULL));
	close(listen.fd);
}

/* Posts operations, retried for seven seconds, to a peer that has just been lost. */
static void operate_in_vain(struct __test_metadata *_metadata, FIXTURE_DATA(apart) * self)
{
	const struct end_options patient = { .ack_timeout = CALL_PATIENT };
	struct krdma_sqe entries[OPERATIONS];

	end_close(&self->end);
	reach(_metadata, self, &patient);
	for (int i = 0; i < OPERATIONS; i++)
		entries[i] = sqe_remote(KRDMA_OP_WRITE, self->end.id, i, &self->local, 0, 4096,
					&self->remote, 0);
	ASSERT_EQ(0, cable("off"));
	ASSERT_EQ(0, ring_submit(self->end.ring, entries, OPERATIONS, NULL));
}

static void expect_flushed(struct __test_metadata *_metadata, struct ring *ring)
{
	struct krdma_cqe cqe;

	for (int i = 0; i < OPERATIONS; i++) {
		ASSERT_EQ(0, ring_wait(ring, &cqe, PROMPT_MS));
		EXPECT_EQ(i, cqe.wr_id);
		EXPECT_EQ(KRDMA_WC_WR_FLUSH_ERR, cqe.status);
	}
}

/* Proves: F4 (nodes) */
TEST_F_TIMEOUT(apart, what_a_lost_peer_leaves_undone_is_flushed_at_once, 600)
{
	uint64_t begun;

	operate_in_vain(_metadata, self);
	EXPECT_EQ(-EBUSY, mr_deregister(self->session, self->local.id, 0));
	begun = now_ms();
	ASSERT_EQ(0, conn_disconnect(self->end.conn, KRDMA_DISCONNECT_ABORT));
	EXPECT_EQ(0, conn_await_closed(self->end.conn, PROMPT_MS));
	expect_flushed(_metadata, self->end.ring);
	EXPECT_EQ(0, mr_deregister(self->session, self->local.id, 0));
	EXPECT_GT(PROMPT_MS, now_ms() - begun);
	printf("# flushed, and the memory released, after %u ms\n",
	       (unsigned int)(now_ms() - begun));
}

/* Proves: F5 (nodes) */
TEST_F_TIMEOUT(apart, a_device_goes_that_waits_for_a_lost_peer, 600)
{
	uint64_t begun;

	operate_in_vain(_metadata, self);
	begun = now_ms();
	ASSERT_EQ(0, rdma_link_remove(BOOT_DEVICE));
	printf("# gone after %u ms\n", (unsigned int)(now_ms() - begun));
	EXPECT_GT(PROMPT_MS, now_ms() - begun);
	expect_flushed(_metadata, self->end.ring);
	EXPECT_EQ(0, conn_await_closed(self->end.conn, PROMPT_MS));
	EXPECT_EQ(-ENODEV, conn_wait(self->end.conn, 0, NULL));
	finish(self);
	ASSERT_EQ(0, rdma_link_add(BOOT_DEVICE, NETDEV));
	begin(_metadata, self);
}

/* Proves: F5 (nodes) */
TEST_F_TIMEOUT(apart, the_module_goes_that_has_waited_for_a_lost_peer, 600)
{
	uint64_t begun;

	operate_in_vain(_metadata, self);
	begun = now_ms();
	finish(self);
	EXPECT_EQ(0, kmod_unload_soon("krdma"));
	printf("# gone after %u ms\n", (unsigned int)(now_ms() - begun));
	EXPECT_GT(PROMPT_MS, now_ms() - begun);
	if (!kmod_loaded("krdma"))
		ASSERT_EQ(0, kmod_load(kmod_krdma()));
	begin(_metadata, self);
}

/*
 * An operation that cannot even be sent fails too, with one of several statuses.  Afterwards the
 * device works again.
 */
TEST_F_TIMEOUT(apart, ones_own_cable_is_pulled, 600)
{
	uint64_t begun;
	int ret;

	ASSERT_EQ(0, cable_of(1, "off"));
	begun = now_ms();
	ret = operate(self, KRDMA_OP_WRITE, 4096);
	printf("# told after %u ms: status %d\n", (unsigned int)(now_ms() - begun), ret);
	EXPECT_TRUE(ret == KRDMA_WC_RETRY_EXC_ERR || ret == KRDMA_WC_WR_FLUSH_ERR ||
		    ret == KRDMA_WC_LOC_QP_OP_ERR);
	EXPECT_EQ(0, conn_await_closed(self->end.conn, LOST_MS));
	ret = conn_wait(self->end.conn, 0, NULL);
	printf("# closed after %u ms: %s\n", (unsigned int)(now_ms() - begun), strerror(-ret));
	EXPECT_TRUE(ret == -ETIMEDOUT || ret == -EIO);
	ASSERT_EQ(0, cable_of(1, "on"));
	finish(self);
	mend();
	begin(_metadata, self);
	reach(_metadata, self, NULL);
	fill(self->local.data, ROOM, 3);
	EXPECT_EQ(KRDMA_WC_SUCCESS, operate(self, KRDMA_OP_WRITE, ROOM));
}

#define DISTURBED_MS	3000

static void *take_places(void *argument)
{
	atomic_bool *stop = argument;

	while (!*stop) {
		net_link_queue(NETDEV, "pfifo");
		net_link_queue(NETDEV, NULL);
	}
	return NULL;
}

/*
 * While the queueing discipline of an interface is replaced, packets are dropped and rxe sees
 * the error.  On 6.1 rxe retries; on later kernels its QP fails without a reason.
 */
/* Proves: F5 (nodes) */
TEST_F_TIMEOUT(apart, packets_that_cannot_be_sent_fail_at_most_the_connection, 600)
{
	unsigned int writes = 0;
	atomic_bool stop = false;
	pthread_t thread;
	uint64_t begun;
	int ret;

	ASSERT_EQ(0, net_link_queue(NETDEV, "pfifo"));
	ASSERT_EQ(0, pthread_create(&thread, NULL, take_places, &stop));
	begun = now_ms();
	do {
		ret = operate(self, KRDMA_OP_WRITE, ROOM);
		writes += !ret;
	} while (!ret && now_ms() - begun < DISTURBED_MS);
	stop = true;
	ASSERT_EQ(0, pthread_join(thread, NULL));
	printf("# %u writes, and then %d\n", writes, ret);
	if (ret) {
		EXPECT_TRUE(ret == KRDMA_WC_WR_FLUSH_ERR || ret == KRDMA_WC_RETRY_EXC_ERR ||
			    ret == KRDMA_WC_LOC_QP_OP_ERR || ret == -ENOTCONN);
		EXPECT_EQ(0, conn_await_closed(self->end.conn, LOST_MS));
		ret = conn_wait(self->end.conn, 0, NULL);
		printf("# closed after %u ms: %s\n", (unsigned int)(now_ms() - begun),
		       strerror(-ret));
		EXPECT_TRUE(ret == -ETIMEDOUT || ret == -EIO || ret == -EPIPE);
	}
	finish(self);
	mend();
	begin(_metadata, self);
	reach(_metadata, self, NULL);
	fill(self->local.data, ROOM, 4);
	EXPECT_EQ(KRDMA_WC_SUCCESS, operate(self, KRDMA_OP_WRITE, ROOM));
	memset(self->local.data, 0, ROOM);
	EXPECT_EQ(KRDMA_WC_SUCCESS, operate(self, KRDMA_OP_READ, ROOM));
	EXPECT_TRUE(filled(self->local.data, ROOM, 4));
}

#define ADDRESS_OF(verb)	"ip addr " verb " " CLIENT "/24 dev " NETDEV
/* Longer than seven retries of a second each. */
#define FORGOTTEN_MS	15000

static unsigned int count_ended(struct __test_metadata *_metadata, struct ring *ring,
				unsigned int ended, unsigned int posted, uint64_t until)
{
	struct krdma_cqe cqe;
	uint64_t now;

	while (ended < posted && (now = now_ms()) < until) {
		if (ring_wait(ring, &cqe, until - now))
			break;
		EXPECT_EQ(ended, cqe.wr_id);
		EXPECT_NE(KRDMA_WC_SUCCESS, cqe.status);
		ended++;
	}
	return ended;
}

/*
 * If rxe of 6.1 cannot send a packet, here because the address is gone, it completes the packet's
 * operation with an error.  It no longer retries the earlier operations that wait for an answer,
 * so it forgets these.
 */
/* Proves: F4 (nodes) */
TEST_F_TIMEOUT(apart, what_a_device_forgets_ends_with_the_connection, 600)
{
	unsigned int posted = OPERATIONS, ended;
	struct krdma_sqe entry;
	uint64_t begun;
	int ret;

	operate_in_vain(_metadata, self);
	entry = sqe_remote(KRDMA_OP_WRITE, self->end.id, OPERATIONS, &self->local, 0, 4096,
			   &self->remote, 0);
	ASSERT_EQ(0, system(ADDRESS_OF("del")));
	ret = ring_submit(self->end.ring, &entry, 1, NULL);
	EXPECT_TRUE(ret == 0 || ret == -ENOTCONN);
	posted += !ret;
	ended = count_ended(_metadata, self->end.ring, 0, posted, now_ms() + FORGOTTEN_MS);
	printf("# %u of %u operations ended in %u ms\n", ended, posted, FORGOTTEN_MS);

	begun = now_ms();
	ret = conn_disconnect(self->end.conn, KRDMA_DISCONNECT_ABORT);
	EXPECT_TRUE(ret == 0 || ret == -EALREADY || ret == -ENOTCONN);
	EXPECT_EQ(0, conn_await_closed(self->end.conn, PROMPT_MS));
	EXPECT_EQ(posted, count_ended(_metadata, self->end.ring, ended, posted,
				      now_ms() + PROMPT_MS));
	EXPECT_EQ(0, mr_deregister(self->session, self->local.id, 0));
	EXPECT_GT(PROMPT_MS, now_ms() - begun);
	printf("# all ended, and the memory released, after %u ms\n",
	       (unsigned int)(now_ms() - begun));

	ASSERT_EQ(0, system(ADDRESS_OF("add")));
	ASSERT_EQ(0, cable("on"));
	finish(self);
	mend();
	begin(_metadata, self);
	reach(_metadata, self, NULL);
	EXPECT_EQ(KRDMA_WC_SUCCESS, operate(self, KRDMA_OP_WRITE, ROOM));
}

TEST_F_TIMEOUT(apart, disconnecting_from_a_lost_peer_ends, 600)
{
	uint64_t begun;

	ASSERT_EQ(0, cable("off"));
	begun = now_ms();
	ASSERT_EQ(0, conn_disconnect(self->end.conn, 0));
	EXPECT_EQ(0, conn_await_closed(self->end.conn, UNANSWERED_MS));
	printf("# closed after %u ms\n", (unsigned int)(now_ms() - begun));
}

TEST_F_TIMEOUT(apart, close_does_not_wait_for_a_lost_peer, 600)
{
	uint64_t begun;

	ASSERT_EQ(0, cable("off"));
	begun = now_ms();
	end_close(&self->end);
	close(self->session);
	EXPECT_GT(LOST_MS, now_ms() - begun);
	printf("# closed after %u ms\n", (unsigned int)(now_ms() - begun));
	self->session = session_open(O_CLOEXEC);
}

/* One test for both, because each of them takes more than a minute. */
/* Proves: F5 (nodes) */
TEST_F_TIMEOUT(apart, connecting_to_a_lost_host_ends_and_so_does_accepting, 600)
{
	struct end asking;
	uint64_t begun;
	int conn, ret;
	uint32_t id;

	be_called(_metadata, self, 0, &conn, &id);
	end_init(&self->end, self->session);
	self->end.conn = conn;
	ASSERT_EQ(0, end_create_qp(&self->end, NULL));
	ASSERT_EQ(0, cable("off"));
	begun = now_ms();
	EXPECT_EQ(0, end_accept(&self->end, NULL));
	/* Either the neighbour entry is still there, or the address cannot be resolved. */
	ret = end_ask(&asking, self->session, &self->server, NULL);
	if (!ret)
		ret = conn_wait(asking.conn, deadline_in(UNANSWERED_MS), NULL);
	EXPECT_TRUE(ret == -ETIMEDOUT || ret == -EHOSTUNREACH) {
		TH_LOG("%s", strerror(-ret));
	}
	EXPECT_EQ(KRDMA_CONN_CLOSED, conn_state(asking.conn));
	printf("# connecting: told after %u ms\n", (unsigned int)(now_ms() - begun));
	EXPECT_EQ(-ETIMEDOUT, conn_wait(conn, deadline_in(UNANSWERED_MS), NULL));
	EXPECT_EQ(KRDMA_CONN_CLOSED, conn_state(conn));
	printf("# accepting: told after %u ms\n", (unsigned int)(now_ms() - begun));
	end_close(&asking);
}

/*
 * The server's connection manager can reject a request because the request's QP has the number
 * of an earlier one, whose connection the server still has.  It then forgets the earlier one.
 */
TEST_F_TIMEOUT(apart, the_server_ends_when_asked, 600)
{
	const struct end_options options = {
		.param.private_data = (uintptr_t)goodbye,
		.param.private_data_len = sizeof(goodbye),
	};
	uint64_t end = now_ms() + LOST_MS;
	struct krdma_conn_query_args query;
	char answer[256] = {};

	do {
		end_close(&self->end);
		ASSERT_EQ(0, end_ask(&self->end, self->session, &self->server, &options));
		EXPECT_EQ(-ECONNREFUSED,
			  conn_wait(self->end.conn, deadline_in(UNANSWERED_MS), NULL));
		ASSERT_EQ(0, conn_query(self->end.conn, answer, sizeof(answer), &query));
	} while (memcmp(answer, goodbye, sizeof(goodbye)) && now_ms() < end);
	EXPECT_EQ(0, memcmp(answer, goodbye, sizeof(goodbye)));
}

int main(int argc, char **argv)
{
	const char *node = getenv("NODE");

	if (node && !strcmp(node, "2"))
		return serve();
	return test_harness_run(argc, argv);
}
