// SPDX-License-Identifier: GPL-2.0
/*
 * Ends: processes that are killed in any state, descriptors that are closed when the peer is
 * dead, the module that is unloaded, and the device that is removed under its users.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>

#include "kselftest_harness.h"
#include "fabric.h"
#include "kmod.h"
#include "net_link.h"
#include "pair.h"
#include "rdma_link.h"
#include "resources.h"
#include "session.h"

/* An unused address of the boot device's network. */
#define NOBODY		"10.77.0.99"

#define GONE_MS		30000

/* A close that waits for a peer takes seconds; one that does not wait takes much less. */
static unsigned int close_bound_ms(void)
{
	return rounds(20, 1000);
}

FIXTURE(exit)
{
	struct resources before;
};

FIXTURE_SETUP(exit)
{
	ASSERT_EQ(0, resources_read(&self->before));
}

FIXTURE_TEARDOWN(exit)
{
	EXPECT_EQ(0, resources_await(&self->before, GONE_MS));
}

/*
 * Processes that are killed
 */

/* Objects of a victim, which is a process of its own and never closes them. */
struct victim {
	struct pair pair;
	struct mr mr;
	int ready;
};

/* Reports that the victim has reached the state in which to kill it. */
static void arrive(const struct victim *victim)
{
	if (write(victim->ready, "r", 1) != 1)
		_exit(9);
}

/* Returns only on failure: a positive number, which identifies the failed step. */
typedef int fate(struct victim *victim);

static int wait_for_death(const struct victim *victim)
{
	arrive(victim);
	while (pause())
		;
	return 3;
}

static int victim_new(struct victim *victim)
{
	if (pair_begin(&victim->pair, NULL) ||
	    conn_create(victim->pair.sessions[0], &victim->pair.a.conn, NULL))
		return 1;
	return wait_for_death(victim);
}

static int resolve_nobody(struct victim *victim)
{
	struct __kernel_sockaddr_storage address;

	address_set(&address, NOBODY, 4791);
	return pair_begin(&victim->pair, NULL) ||
	       conn_create(victim->pair.sessions[0], &victim->pair.a.conn, NULL) ||
	       conn_resolve(victim->pair.a.conn, &address);
}

static int victim_resolving(struct victim *victim)
{
	return resolve_nobody(victim) ? 1 : wait_for_death(victim);
}

static int victim_resolved(struct victim *victim)
{
	if (pair_begin(&victim->pair, NULL) || pair_resolve(&victim->pair))
		return 1;
	return wait_for_death(victim);
}

static int victim_connecting(struct victim *victim)
{
	if (pair_begin(&victim->pair, NULL) || pair_resolve(&victim->pair) ||
	    end_create_qp(&victim->pair.a, NULL) || end_connect(&victim->pair.a, NULL))
		return 1;
	return wait_for_death(victim);
}

static int victim_requested(struct victim *victim)
{
	if (pair_begin(&victim->pair, NULL) || pair_resolve(&victim->pair) ||
	    pair_meet(&victim->pair, NULL))
		return 1;
	return wait_for_death(victim);
}

static int connect_with_memory(struct victim *victim)
{
	return pair_open(&victim->pair, NULL) ||
	       mr_create(victim->pair.sessions[0], victim->pair.device, 1 << 18, ACCESS_ALL,
			 &victim->mr);
}

static int victim_connected(struct victim *victim)
{
	return connect_with_memory(victim) ? 1 : wait_for_death(victim);
}

/* Posts long writes forever, as many as the SQ accepts. */
static int victim_traffic(struct victim *victim)
{
	struct krdma_sqe entry;
	struct krdma_cqe cqe;

	if (connect_with_memory(victim))
		return 1;
	entry = sqe_remote(KRDMA_OP_WRITE, victim->pair.a.id, 1, &victim->mr, 0, 1 << 17,
			   &victim->mr, 1 << 17);
	arrive(victim);
	for (;;) {
		ring_submit(victim->pair.a.ring, &entry, 1, NULL);
		while (!ring_take(victim->pair.a.ring, &cqe))
			if (cqe.status)
				return 2;
	}
}

static int victim_disconnecting(struct victim *victim)
{
	if (connect_with_memory(victim))
		return 1;
	arrive(victim);
	conn_disconnect(victim->pair.a.conn, 0);
	for (;;)
		conn_wait(victim->pair.b.conn, KRDMA_FOREVER, NULL);
}

static int victim_in_next(struct victim *victim)
{
	int fd;

	if (pair_begin(&victim->pair, NULL))
		return 1;
	arrive(victim);
	listener_next(victim->pair.listener, KRDMA_FOREVER, &fd, NULL);
	return 2;
}

static int victim_in_wait(struct victim *victim)
{
	if (resolve_nobody(victim))
		return 1;
	arrive(victim);
	for (;;)
		conn_wait(victim->pair.a.conn, KRDMA_FOREVER, NULL);
}

static int victim_in_enter(struct victim *victim)
{
	if (connect_with_memory(victim))
		return 1;
	arrive(victim);
	ring_enter(victim->pair.a.ring, 0, 1, KRDMA_FOREVER, NULL);
	return 2;
}

static int victim_in_reap(struct victim *victim)
{
	struct krdma_cqe cqe;
	uint32_t reaped;

	if (connect_with_memory(victim))
		return 1;
	arrive(victim);
	ring_reap(victim->pair.a.ring->fd, &cqe, 1, 1, KRDMA_FOREVER, &reaped);
	return 2;
}

/* With KRDMA_RING_POLLED the waiting thread polls the device itself. */
static int victim_in_polled_reap(struct victim *victim)
{
	const struct pair_options options = { .a.ring_options.flags = KRDMA_RING_POLLED };
	struct krdma_cqe cqe;
	uint32_t reaped;

	if (pair_open(&victim->pair, &options))
		return 1;
	arrive(victim);
	ring_reap(victim->pair.a.ring->fd, &cqe, 1, 1, KRDMA_FOREVER, &reaped);
	return 2;
}

static int victim_in_read(struct victim *victim)
{
	struct krdma_event_record record;

	if (connect_with_memory(victim))
		return 1;
	arrive(victim);
	while (read(victim->pair.a.conn, &record, sizeof(record)) == sizeof(record))
		;
	return 2;
}

static void *register_without_end(void *argument)
{
	struct victim *victim = argument;

	for (;;) {
		struct mr mr;

		if (!mr_create(victim->pair.sessions[0], victim->pair.device, 1 << 16,
			       ACCESS_ALL, &mr) && (mr.id & 1))
			mr_destroy(&mr);
	}
	return NULL;
}

static int victim_registering(struct victim *victim)
{
	pthread_t thread;

	if (pair_open(&victim->pair, NULL) ||
	    pthread_create(&thread, NULL, register_without_end, victim))
		return 1;
	return victim_traffic(victim);
}

/* clang-format off */
FIXTURE_VARIANT(exit)
{
	fate *fate;
};

FIXTURE_VARIANT_ADD(exit, new) { .fate = victim_new };
FIXTURE_VARIANT_ADD(exit, resolving) { .fate = victim_resolving };
FIXTURE_VARIANT_ADD(exit, resolved) { .fate = victim_resolved };
FIXTURE_VARIANT_ADD(exit, connecting) { .fate = victim_connecting };
FIXTURE_VARIANT_ADD(exit, requested) { .fate = victim_requested };
FIXTURE_VARIANT_ADD(exit, connected) { .fate = victim_connected };
FIXTURE_VARIANT_ADD(exit, traffic) { .fate = victim_traffic };
FIXTURE_VARIANT_ADD(exit, disconnecting) { .fate = victim_disconnecting };
FIXTURE_VARIANT_ADD(exit, in_next) { .fate = victim_in_next };
FIXTURE_VARIANT_ADD(exit, in_wait) { .fate = victim_in_wait };
FIXTURE_VARIANT_ADD(exit, in_enter) { .fate = victim_in_enter };
FIXTURE_VARIANT_ADD(exit, in_reap) { .fate = victim_in_reap };
FIXTURE_VARIANT_ADD(exit, in_polled_reap) { .fate = victim_in_polled_reap };
FIXTURE_VARIANT_ADD(exit, in_read) { .fate = victim_in_read };
FIXTURE_VARIANT_ADD(exit, registering) { .fate = victim_registering };

/* clang-format on */

/* Waits until the victim is to be killed: before it arrives, or after. */
static void await_moment(int ready, unsigned int round)
{
	struct pollfd fd = { .fd = ready, .events = POLLIN };
	char byte;

	if (round % 2) {
		sleep_ms(1 + (round * 7) % rounds(40, 300));
		return;
	}
	if (poll(&fd, 1, PATIENCE_MS) == 1 && read(ready, &byte, 1) == 1)
		sleep_ms(round % 5);
}

/* Proves: F4 */
TEST_F_TIMEOUT(exit, killed, 300)
{
	unsigned int count = rounds(6, 2);

	for (unsigned int round = 0; round < count; round++) {
		static struct victim victim;
		int ready[2], status;
		pid_t child;

		ASSERT_EQ(0, pipe2(ready, O_CLOEXEC));
		child = fork();
		ASSERT_LE(0, child);
		if (child == 0) {
			victim.ready = ready[1];
			_exit(variant->fate(&victim));
		}
		close(ready[1]);
		await_moment(ready[0], round);
		ASSERT_EQ(0, kill(child, SIGKILL));
		ASSERT_EQ(child, waitpid(child, &status, 0));
		EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) {
			TH_LOG("round %u: the victim ended by itself, status %#x", round, status);
		}
		close(ready[0]);
	}
	EXPECT_EQ(0, resources_await(&self->before, GONE_MS));
}

/*
 * Closing when the peer is dead
 */

FIXTURE(closing)
{
	struct resources before;
	struct pair pair;
	struct mr mr;
	unsigned int slowest;
};

FIXTURE_SETUP(closing)
{
	ASSERT_EQ(0, fabric_create());
	ASSERT_EQ(0, resources_read(&self->before));
}

FIXTURE_TEARDOWN(closing)
{
	mr_destroy(&self->mr);
	pair_close(&self->pair);
	EXPECT_EQ(0, resources_await(&self->before, GONE_MS));
	fabric_destroy();
}

static unsigned int close_ms(int *fd)
{
	uint64_t begun = now_ms();

	if (*fd >= 0)
		close(*fd);
	*fd = -1;
	return now_ms() - begun;
}

/* Closes all descriptors of @pair; returns the milliseconds that the slowest close took. */
static unsigned int close_all(struct pair *pair, const char *name)
{
	int *const fds[] = { &pair->a.conn, &pair->b.conn, &pair->listener, &pair->a.own[0].fd,
			     &pair->b.own[0].fd, &pair->sessions[0] };
	static const char *const names[] = { "connection", "its peer", "listener", "queue",
					     "the peer's queue", "session" };
	unsigned int slowest = 0;

	for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
		unsigned int took = close_ms(fds[i]);

		if (took > close_bound_ms())
			printf("# %s: closing the %s took %u ms\n", name, names[i], took);
		if (took > slowest)
			slowest = took;
	}
	printf("# %s: the slowest close took %u ms\n", name, slowest);
	pair->owned[0] = false;
	return slowest;
}

static int busy(struct pair *pair, const char *device, struct mr *mr)
{
	struct krdma_device_query_args query;
	struct krdma_sqe entry;
	int ret = session_named(pair->sessions[0], device, &query);

	if (!ret)
		ret = mr_create(pair->sessions[0], query.id, 1 << 18, ACCESS_ALL, mr);
	for (int i = 0; !ret && i < 32; i++) {
		entry = sqe_remote(KRDMA_OP_WRITE, pair->a.id, i, mr, 0, 1 << 17, mr,
				   1 << 17);
		ret = ring_submit(pair->a.ring, &entry, 1, NULL);
	}
	return ret;
}

static bool may_forget(void)
{
	return kernel_is("6.1.");
}

/*
 * If rxe of 6.1 cannot send two messages of the connection manager in a row, it loses the
 * second: it starts over with it, with the connection manager's QP in error, and then waits
 * until another message is posted.  Until then neither the connection nor the device can go
 * away.  Any request for a connection posts one once the link is up again, and this function
 * makes such a request.  The request itself fails, because the connection manager's QP is in
 * error.
 */
static int ask_once(const struct pair_options *options)
{
	struct pair pair;
	int ret;

	ret = net_link_up(FABRIC_NETDEV, true);
	if (ret)
		return ret;
	ret = pair_begin(&pair, options);
	if (!ret)
		ret = pair_resolve(&pair);
	if (!ret)
		ret = end_create_qp(&pair.a, NULL);
	if (!ret)
		ret = end_connect(&pair.a, NULL);
	sleep_ms(50);
	pair_close(&pair);
	return ret;
}

TEST_F_TIMEOUT(closing, the_link_is_down, 120)
{
	const struct pair_options options = { .address = FABRIC_ADDRESS };

	ASSERT_EQ(0, pair_open(&self->pair, &options));
	ASSERT_EQ(0, busy(&self->pair, FABRIC_DEVICE, &self->mr));
	ASSERT_EQ(0, net_link_up(FABRIC_NETDEV, false));
	EXPECT_GE(close_bound_ms(), close_all(&self->pair, "the link is down"));
	mr_destroy(&self->mr);
	pair_close(&self->pair);
	if (may_forget() && resources_await(&self->before, 2000)) {
		printf("# a message of the connection manager's is lost in rxe: it gets another\n");
		EXPECT_EQ(0, ask_once(&options));
	}
}

/* Proves: F4 */
TEST_F_TIMEOUT(closing, nobody_answers, 120)
{
	struct __kernel_sockaddr_storage address;

	ASSERT_EQ(0, pair_begin(&self->pair, NULL));
	ASSERT_EQ(0, conn_create(self->pair.sessions[0], &self->pair.a.conn, NULL));
	ASSERT_EQ(0, address_set(&address, NOBODY, 4791));
	ASSERT_EQ(0, conn_resolve(self->pair.a.conn, &address));
	EXPECT_GE(close_bound_ms(), close_all(&self->pair, "nobody answers"));
}

TEST_F_TIMEOUT(closing, nobody_accepts, 120)
{
	ASSERT_EQ(0, pair_begin(&self->pair, NULL));
	ASSERT_EQ(0, pair_resolve(&self->pair));
	ASSERT_EQ(0, end_create_qp(&self->pair.a, NULL));
	ASSERT_EQ(0, end_connect(&self->pair.a, NULL));
	sleep_ms(50);
	EXPECT_GE(close_bound_ms(), close_all(&self->pair, "nobody accepts"));
}

/* The peer is a stopped process that holds the other end. */
TEST_F_TIMEOUT(closing, the_peer_is_stopped, 120)
{
	pid_t child;

	ASSERT_EQ(0, pair_open(&self->pair, NULL));
	ASSERT_EQ(0, busy(&self->pair, BOOT_DEVICE, &self->mr));
	child = fork();
	ASSERT_LE(0, child);
	if (child == 0) {
		raise(SIGSTOP);
		_exit(0);
	}
	ASSERT_EQ(child, waitpid(child, NULL, WUNTRACED));
	EXPECT_GE(close_bound_ms(), close_all(&self->pair, "the peer is stopped"));
	kill(child, SIGKILL);
	ASSERT_EQ(child, waitpid(child, NULL, 0));
}

/*
 * The module
 */

FIXTURE(unloading)
{
	int unused;
};

FIXTURE_SETUP(unloading)
{
	ASSERT_EQ(0, access(kmod_krdma(), R_OK));
}

FIXTURE_TEARDOWN(unloading)
{
	if (!kmod_loaded("krdma"))
		kmod_load(kmod_krdma());
}

TEST_F_TIMEOUT(unloading, any_descriptor_keeps_the_module, 120)
{
	/* What is left open: listener, connection, SRQ or mapping of the ring. */
	for (int kept = 0; kept < 4; kept++) {
		struct krdma_srq_create_args srq = { .size = sizeof(srq), .depth = 4 };
		struct pair pair;
		void *header;
		size_t size;
		int fd = -1;

		ASSERT_EQ(0, pair_open(&pair, NULL));
		srq.ring_fd = pair.a.ring->fd;
		ASSERT_EQ(0, session_request(pair.sessions[0], KRDMA_SRQ_CREATE, &srq));
		size = pair.a.ring->size;
		header = mmap(NULL, size, PROT_READ, MAP_SHARED, pair.a.ring->fd, 0);
		ASSERT_TRUE(header != MAP_FAILED);
		if (kept == 0)
			fd = fcntl(pair.listener, F_DUPFD_CLOEXEC, 0);
		if (kept == 1)
			fd = fcntl(pair.a.conn, F_DUPFD_CLOEXEC, 0);
		if (kept == 2)
			fd = fcntl(srq.fd, F_DUPFD_CLOEXEC, 0);
		close(srq.fd);
		if (kept != 3)
			munmap(header, size);
		pair_close(&pair);
		sleep_ms(rounds(100, 500));
		EXPECT_EQ(-EAGAIN, kmod_unload("krdma")) {
			TH_LOG("kept %d", kept);
		}
		if (kept == 3)
			munmap(header, size);
		else
			close(fd);
		EXPECT_EQ(0, kmod_unload_soon("krdma"));
		ASSERT_EQ(0, kmod_load(kmod_krdma()));
	}
}

/*
 * The device
 */

FIXTURE(removal)
{
	struct resources before;
	struct pair pair;
	struct mr mr;
	struct ring idle;
	int srq;
};

FIXTURE_SETUP(removal)
{
	const struct pair_options options = { .address = FABRIC_ADDRESS };
	struct krdma_device_notify_args watch = { .size = sizeof(watch) };
	struct krdma_srq_create_args srq = { .size = sizeof(srq), .depth = 4 };
	struct ring_options on_device = {};
	struct krdma_device_query_args device;

	ASSERT_EQ(0, fabric_create());
	ASSERT_EQ(0, resources_read(&self->before));
	ASSERT_EQ(0, pair_open(&self->pair, &options));
	ASSERT_EQ(0, session_request(self->pair.sessions[0], KRDMA_DEVICE_NOTIFY, &watch));
	ASSERT_EQ(0, session_named(self->pair.sessions[0], FABRIC_DEVICE, &device));
	self->pair.device = device.id;
	on_device.device_id = device.id;
	ASSERT_EQ(0, ring_create(self->pair.sessions[0], &on_device, &self->idle));
	srq.ring_fd = self->idle.fd;
	ASSERT_EQ(0, session_request(self->pair.sessions[0], KRDMA_SRQ_CREATE, &srq));
	self->srq = srq.fd;
	ASSERT_EQ(0, busy(&self->pair, FABRIC_DEVICE, &self->mr));
}

FIXTURE_TEARDOWN(removal)
{
	uint64_t begun = now_ms();

	mr_destroy(&self->mr);
	close(self->srq);
	ring_close(&self->idle);
	pair_close(&self->pair);
	EXPECT_GE(close_bound_ms(), now_ms() - begun);
	/* @before was read with the device there, so create it again before comparing. */
	fabric_create();
	EXPECT_EQ(0, resources_await(&self->before, GONE_MS));
	fabric_destroy();
}

#define ENDED	(POLLERR | POLLHUP)

/* Proves: F5 */
TEST_F_TIMEOUT(removal, every_descriptor_says_so, 120)
{
	struct krdma_listener_next_args next = { .size = sizeof(next) };
	struct krdma_device_record record;
	struct mr mr;
	bool told = false;

	ASSERT_EQ(0, rdma_link_remove(FABRIC_DEVICE));
	EXPECT_EQ(0, conn_await_closed(self->pair.a.conn, PATIENCE_MS));
	EXPECT_EQ(0, conn_await_closed(self->pair.b.conn, PATIENCE_MS));
	EXPECT_EQ(-ENODEV, conn_wait(self->pair.a.conn, 0, NULL));
	EXPECT_EQ(-ENODEV, conn_wait(self->pair.b.conn, 0, NULL));
	EXPECT_EQ(ENDED, ENDED & poll_mask(self->pair.a.conn, POLLIN, PATIENCE_MS));
	EXPECT_EQ(ENDED, ENDED & poll_mask(self->pair.listener, POLLIN, PATIENCE_MS));
	EXPECT_EQ(ENDED, ENDED & poll_mask(self->idle.fd, POLLIN, PATIENCE_MS));
	EXPECT_EQ(ENDED, ENDED & poll_mask(self->srq, POLLOUT, PATIENCE_MS));
	EXPECT_EQ(-ENODEV, session_request(self->pair.listener, KRDMA_LISTENER_NEXT, &next));
	EXPECT_EQ(-ENODEV, ring_enter(&self->idle, 0, 1, deadline_in(PATIENCE_MS), NULL));
	EXPECT_EQ(-ENODEV, mr_create(self->pair.sessions[0], self->pair.device, 4096, 0,
				     &mr));
	while (!told && poll_mask(self->pair.sessions[0], POLLIN, PATIENCE_MS) == POLLIN &&
	       read(self->pair.sessions[0], &record, sizeof(record)) == sizeof(record))
		told = record.type == KRDMA_DEVICE_EVENT_REMOVED &&
		       record.device_id == self->pair.device;
	EXPECT_TRUE(told);
}

static void *wait_in_queue(void *argument)
{
	struct ring *ring = argument;

	return (void *)(intptr_t)ring_enter(ring, 0, 1, KRDMA_FOREVER, NULL);
}

/* A thread that waits without a deadline is woken. */
/* Proves: F5 */
TEST_F_TIMEOUT(removal, who_waits_is_told, 120)
{
	pthread_t thread;
	void *ret;

	ASSERT_EQ(0, pthread_create(&thread, NULL, wait_in_queue, &self->idle));
	sleep_ms(rounds(50, 300));
	ASSERT_EQ(0, rdma_link_remove(FABRIC_DEVICE));
	ASSERT_EQ(0, pthread_join(thread, &ret));
	EXPECT_EQ(-ENODEV, (intptr_t)ret);
}

TEST_HARNESS_MAIN
