// SPDX-License-Identifier: GPL-2.0
/*
 * The same interface over another transport: siw, which has no atomics and no immediate
 * data, allows one SGE in a read, and ends a connection by itself on an error.  Only the
 * debug kernel has it.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "kselftest_harness.h"
#include "child.h"
#include "interrupt.h"
#include "pair.h"
#include "session.h"

#define DEVICE		"siw0"
#define ADDRESS		"10.78.0.1"
/* In the same network, without a host: a request for a TCP connection is not answered. */
#define NO_ADDRESS	"10.78.0.77"
#define SIZE		(256 * 1024)
#define ACCESS		(ACCESS_ALL & ~KRDMA_ACCESS_REMOTE_ATOMIC)

FIXTURE(iwarp)
{
	struct pair pair;
	struct krdma_device_query_args device;
	struct mr from;
	struct mr to;
};

static const struct end_options end_options = {
	.send_depth = 64, .recv_depth = 64, .max_send_sge = 4, .max_recv_sge = 4,
};

FIXTURE_SETUP(iwarp)
{
	const struct pair_options options = {
		.two_sessions = true, .address = ADDRESS, .a = end_options, .b = end_options,
	};
	int session = session_open(O_CLOEXEC);
	int ret;

	memset(self, 0, sizeof(*self));
	ASSERT_LE(0, session);
	ret = session_named(session, DEVICE, &self->device);
	close(session);
	if (ret == -ENOENT)
		SKIP(return, "there is no " DEVICE);
	ASSERT_EQ(0, ret);
	ASSERT_EQ(0, pair_open(&self->pair, &options));
	ASSERT_EQ(0, mr_create(self->pair.sessions[0], self->device.id, SIZE, ACCESS,
			       &self->from));
	ASSERT_EQ(0, mr_create(self->pair.sessions[1], self->device.id, SIZE, ACCESS,
			       &self->to));
}

FIXTURE_TEARDOWN(iwarp)
{
	if (!self->device.id)
		return;
	mr_destroy(&self->from);
	mr_destroy(&self->to);
	pair_close(&self->pair);
}

TEST_F(iwarp, what_it_is_said_to_be)
{
	struct krdma_conn_query_args query;

	EXPECT_EQ(KRDMA_TRANSPORT_IWARP, self->device.transport);
	EXPECT_EQ(0, self->device.caps & (KRDMA_DEVICE_CAP_ATOMIC | KRDMA_DEVICE_CAP_IMM));
	EXPECT_EQ(1, self->device.max_read_sge);
	ASSERT_EQ(0, conn_query(self->pair.a.conn, NULL, 0, &query));
	EXPECT_EQ(KRDMA_CONN_CONNECTED, query.state);
	EXPECT_TRUE(address_same(&self->pair.address, &query.remote));
}

/* Proves: E9 (e2e-debug) */
TEST_F(iwarp, writes_and_reads)
{
	fill(self->from.data, SIZE, 1);
	EXPECT_EQ(KRDMA_WC_SUCCESS, pair_write(&self->pair, &self->from, &self->to));
	memset(self->from.data, 0, SIZE);
	/* A completed write need not be placed yet; a read behind it sees it. */
	EXPECT_EQ(KRDMA_WC_SUCCESS, pair_read(&self->pair, &self->from, &self->to));
	EXPECT_TRUE(filled(self->from.data, SIZE, 1));
	EXPECT_TRUE(filled(self->to.data, SIZE, 1));
}

TEST_F(iwarp, messages)
{
	struct end *a = &self->pair.a, *b = &self->pair.b;
	struct krdma_sqe entry;
	struct krdma_cqe cqe;

	for (unsigned int i = 0; i < 40; i++) {
		entry = sqe_receive(b->id, i, &self->to, 0, 4096);
		ASSERT_EQ(0, ring_submit(b->recv_ring, &entry, 1, NULL));
		fill(self->from.data, 4096, i);
		entry = sqe_send(a->id, i, &self->from, 0, 100 * i);
		ASSERT_EQ(0, ring_submit(a->ring, &entry, 1, NULL));
		ASSERT_EQ(0, ring_wait(b->recv_ring, &cqe, PATIENCE_MS));
		EXPECT_EQ(KRDMA_WC_SUCCESS, cqe.status);
		EXPECT_EQ(i, cqe.wr_id);
		EXPECT_EQ(100 * i, cqe.length);
		EXPECT_TRUE(filled(self->to.data, 100 * i, i));
		ASSERT_EQ(0, ring_wait(a->ring, &cqe, PATIENCE_MS));
		EXPECT_EQ(KRDMA_WC_SUCCESS, cqe.status);
	}
}

/* Fails with -EOPNOTSUPP, and the connection still works. */
/* Proves: E9 (e2e-debug) */
TEST_F(iwarp, what_it_cannot_do)
{
	static const uint8_t opcodes[] = {
		KRDMA_OP_COMPARE_SWAP, KRDMA_OP_FETCH_ADD, KRDMA_OP_WRITE_IMM,
		KRDMA_OP_SEND_IMM,
	};
	/* Not by mr_create(), which leaves out the rights that the device does not have. */
	struct krdma_mr_register_args request = {
		.size = sizeof(request), .addr = (uintptr_t)self->from.data, .length = SIZE,
		.device_id = self->device.id, .access = ACCESS | KRDMA_ACCESS_REMOTE_ATOMIC,
	};

	for (size_t i = 0; i < ARRAY_SIZE(opcodes); i++) {
		struct krdma_sqe entry = sqe_remote(opcodes[i], self->pair.a.id, 1, &self->from,
						    0, 8, &self->to, 0);

		if (opcodes[i] == KRDMA_OP_SEND_IMM)
			entry = sqe_send(self->pair.a.id, 1, &self->from, 0, 8);
		entry.opcode = opcodes[i];
		EXPECT_EQ(-EOPNOTSUPP, ring_submit(self->pair.a.ring, &entry, 1, NULL)) {
			TH_LOG("opcode %u", opcodes[i]);
		}
	}
	EXPECT_EQ(-EOPNOTSUPP,
		  session_request(self->pair.sessions[0], KRDMA_MR_REGISTER, &request));
	EXPECT_EQ(KRDMA_WC_SUCCESS, pair_write(&self->pair, &self->from, &self->to));
}

/* The wire protocol lacks these operations; krdma uses others with the same effect. */
/* Proves: E9 (e2e-debug) */
TEST_F(iwarp, what_it_does_in_another_way)
{
	struct krdma_sqe entries[] = {
		sqe_remote(KRDMA_OP_ATOMIC_WRITE, self->pair.a.id, 0, NULL, 0, 0, &self->to, 128),
		sqe_remote(KRDMA_OP_FLUSH, self->pair.a.id, 1, NULL, 0, 0, &self->to, 0),
	};
	struct krdma_cqe cqe;
	uint64_t value;

	entries[0].operand = 0x1122334455667788;
	ASSERT_EQ(0, ring_submit(self->pair.a.ring, entries, 2, NULL));
	for (uint64_t i = 0; i < 2; i++) {
		ASSERT_EQ(0, ring_wait(self->pair.a.ring, &cqe, PATIENCE_MS));
		EXPECT_EQ(KRDMA_WC_SUCCESS, cqe.status);
		EXPECT_EQ(i, cqe.wr_id);
	}
	memcpy(&value, self->to.data + 128, sizeof(value));
	EXPECT_EQ(0x1122334455667788, value);
}

TEST_F(iwarp, a_wrong_key_ends_the_connection)
{
	struct mr wrong = self->to;

	EXPECT_EQ(KRDMA_WC_SUCCESS, pair_write(&self->pair, &self->from, &self->to));
	wrong.rkey ^= 0x5a00;
	/*
	 * siw completes a write when it has been sent, so success proves nothing.  The peer's
	 * message that ends the connection can come earlier, while the write waits or is sent.
	 */
	EXPECT_LE(0, pair_write(&self->pair, &self->from, &wrong));
	EXPECT_EQ(0, conn_await_closed(self->pair.a.conn, PATIENCE_MS));
	EXPECT_EQ(0, conn_await_closed(self->pair.b.conn, PATIENCE_MS));
	EXPECT_TRUE(zeroed(self->to.data, SIZE));
}

TEST_F(iwarp, both_sides_see_the_end)
{
	ASSERT_EQ(0, conn_disconnect(self->pair.b.conn, 0));
	EXPECT_EQ(0, conn_await_closed(self->pair.a.conn, PATIENCE_MS));
	EXPECT_EQ(0, conn_await_closed(self->pair.b.conn, PATIENCE_MS));
	EXPECT_EQ(-ECONNRESET, conn_wait(self->pair.a.conn, 0, NULL));
	EXPECT_EQ(-ENOTCONN, conn_wait(self->pair.b.conn, 0, NULL));
}

/* Deregistering does not wait for the peer; operations in flight complete with any status. */
TEST_F(iwarp, memory_goes_under_a_peer_that_writes)
{
	struct krdma_sqe entry;
	struct krdma_cqe cqe;
	uint32_t before;
	int ret;

	for (uint64_t i = 0; i < 16; i++) {
		entry = sqe_remote(KRDMA_OP_WRITE, self->pair.a.id, i, &self->from, 0, SIZE,
				   &self->to, 0);
		ASSERT_EQ(0, ring_submit(self->pair.a.ring, &entry, 1, NULL));
	}
	ASSERT_EQ(0, mr_deregister(self->pair.sessions[1], self->to.id, 0));
	munmap(self->to.data, SIZE);
	self->to.data = mmap(self->to.data, SIZE, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	ASSERT_TRUE((void *)self->to.data != MAP_FAILED);
	for (uint64_t i = 0; i < 16; i++) {
		ASSERT_EQ(0, ring_wait(self->pair.a.ring, &cqe, PATIENCE_MS));
		EXPECT_EQ(i, cqe.wr_id);
	}
	/* The MR of this further write does not exist any more. */
	entry = sqe_remote(KRDMA_OP_WRITE, self->pair.a.id, 99, &self->from, 0, 64, &self->to, 0);
	before = conn_state(self->pair.a.conn);
	ret = ring_submit(self->pair.a.ring, &entry, 1, NULL);
	/* The write is accepted as long as the connection is up. */
	if (before != KRDMA_CONN_CONNECTED || conn_state(self->pair.a.conn) == before)
		EXPECT_EQ(before == KRDMA_CONN_CONNECTED ? 0 : -ENOTCONN, ret);
	EXPECT_EQ(0, conn_await_closed(self->pair.b.conn, PATIENCE_MS));
	EXPECT_TRUE(zeroed(self->to.data, SIZE));
	munmap(self->to.data, SIZE);
	self->to.data = NULL;
}

static int write_until_killed(void *context)
{
	const struct pair_options options = {
		.two_sessions = true, .address = ADDRESS, .a = end_options, .b = end_options,
	};
	struct krdma_device_query_args device;
	struct krdma_sqe receive;
	struct krdma_cqe cqe;
	struct mr mr;
	struct pair pair;

	(void)context;
	CHECK(!pair_open(&pair, &options));
	CHECK(!session_named(pair.sessions[0], DEVICE, &device));
	CHECK(!mr_create(pair.sessions[0], device.id, SIZE, ACCESS, &mr));
	receive = sqe_receive(pair.b.id, 2, NULL, 0, 0);
	for (;;) {
		CHECK(!ring_submit(pair.b.recv_ring, &receive, 1, NULL));
		CHECK(pair_operate(&pair, sqe_send(pair.a.id, 1, &mr, 0, 0)) ==
		      KRDMA_WC_SUCCESS);
		CHECK(!ring_wait(pair.b.recv_ring, &cqe, PATIENCE_MS));
		CHECK(cqe.status == KRDMA_WC_SUCCESS);
	}
	return 0;
}

TEST_F(iwarp, a_process_is_killed)
{
	for (unsigned int i = 0; i < rounds(5, 2); i++) {
		pid_t child = child_start(write_until_killed, NULL);

		ASSERT_LT(0, child);
		sleep_ms(rounds(100, 700));
		ASSERT_LE(0, child_kill(child));
	}
	/* Other connections still work. */
	EXPECT_EQ(KRDMA_WC_SUCCESS, pair_write(&self->pair, &self->from, &self->to));
}

/*
 * siw sets up the TCP connection inside KRDMA_CONN_CONNECT
 */

static void note_signal(int signal)
{
	(void)signal;
}

/* Resolves the address without a host, and creates the QP. */
static int prepare_for_nobody(int session, struct end *end)
{
	struct __kernel_sockaddr_storage address;
	int ret;

	end_init(end, session);
	ret = address_set(&address, NO_ADDRESS, 1);
	if (!ret)
		ret = conn_create(session, &end->conn, &end->id);
	if (!ret)
		ret = conn_resolve(end->conn, &address);
	if (!ret)
		ret = conn_wait(end->conn, deadline_in(PATIENCE_MS), NULL);
	return ret ? ret : end_create_qp(end, &end_options);
}

/* The call cannot be made again, so its error and that of each wait say that it is over. */
TEST_F(iwarp, a_signal_ends_what_is_being_connected)
{
	struct sigaction action = { .sa_handler = note_signal };
	struct interrupter interrupter;
	struct end end;

	ASSERT_EQ(0, sigaction(SIGUSR1, &action, NULL));
	ASSERT_EQ(0, prepare_for_nobody(self->pair.sessions[0], &end));
	ASSERT_EQ(0, interrupter_begin(&interrupter));
	EXPECT_EQ(-ECONNABORTED, end_connect(&end, &end_options));
	interrupter_end(&interrupter);
	EXPECT_EQ(-ECONNABORTED, conn_wait(end.conn, deadline_in(PATIENCE_MS), NULL));
	EXPECT_EQ(-ECONNABORTED, conn_wait(end.conn, deadline_in(PATIENCE_MS), NULL));
	EXPECT_EQ(0, conn_await_closed(end.conn, PATIENCE_MS));
	end_close(&end);
}

struct held {
	struct end *end;
	atomic_int result;
	atomic_bool over;
};

static void *connect_to_nobody(void *context)
{
	struct held *held = context;

	held->result = end_connect(held->end, &end_options);
	held->over = true;
	return NULL;
}

static int call_beside(void *context)
{
	return -end_connect(((struct held *)context)->end, &end_options);
}

/* Until the process waits in the kernel and only a fatal signal reaches it. */
static bool await_sleep(pid_t pid)
{
	uint64_t deadline = now_ms() + PATIENCE_MS;
	char line[256];
	const char *name_end;

	do {
		sleep_ms(1);
		if (read_line(line, sizeof(line), "/proc/%d/stat", pid))
			return false;
		name_end = strrchr(line, ')');
		if (name_end && name_end[1] == ' ' && name_end[2] == 'D')
			return true;
	} while (now_ms() < deadline);
	return false;
}

/* A process that shares the descriptor waits for the call, and can be killed meanwhile. */
TEST_F(iwarp, who_waits_for_a_call_can_be_killed)
{
	struct sigaction action = { .sa_handler = note_signal };
	struct held held = { 0 };
	pthread_t thread;
	struct end end;
	pid_t child;

	ASSERT_EQ(0, sigaction(SIGUSR1, &action, NULL));
	ASSERT_EQ(0, prepare_for_nobody(self->pair.sessions[0], &end));
	held.end = &end;
	ASSERT_EQ(0, pthread_create(&thread, NULL, connect_to_nobody, &held));
	while (conn_state(end.conn) != KRDMA_CONN_CONNECTING && !held.over)
		sleep_ms(1);
	child = child_start(call_beside, &held);
	ASSERT_LT(0, child);
	EXPECT_TRUE(await_sleep(child));
	EXPECT_LE(0, child_kill(child));
	EXPECT_FALSE(held.over);
	while (!held.over) {
		pthread_kill(thread, SIGUSR1);
		sleep_ms(10);
	}
	EXPECT_EQ(0, pthread_join(thread, NULL));
	EXPECT_EQ(-ECONNABORTED, held.result);
	end_close(&end);
}

TEST_HARNESS_MAIN
