// SPDX-License-Identifier: GPL-2.0
/*
 * The device is removed while programs use all of it: each accepted work request completes once
 * and in order, all programs are notified, and nothing is left.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>

#include "kselftest_harness.h"
#include "fabric.h"
#include "pair.h"
#include "rdma_link.h"
#include "resources.h"
#include "session.h"

#define PAIRS	4
#define DEPTH	32
#define LENGTH	8192

/**
 * struct load - one pair, and the thread that keeps it busy
 * @ring_flags: flags of the ring: event-driven or polled completions
 * @arrays: KRDMA_RING_POST and KRDMA_RING_REAP instead of the rings
 * @ready: the pair is connected
 * @posted: number of accepted work requests
 * @done: number of completions
 * @succeeded: number of successful completions
 * @refused: error of the last post
 * @wrong: line of this file at which a check failed
 */
struct load {
	pthread_t thread;
	uint32_t ring_flags;
	bool arrays;
	atomic_bool ready;
	unsigned int posted;
	unsigned int done;
	unsigned int succeeded;
	int refused;
	int wrong;
};

FIXTURE(load)
{
	int session;
	struct resources before;
};

FIXTURE_SETUP(load)
{
	self->session = session_open(O_CLOEXEC);
	ASSERT_LE(0, self->session);
	ASSERT_EQ(0, fabric_create());
	ASSERT_EQ(0, session_await(self->session, FABRIC_DEVICE, true));
	ASSERT_EQ(0, resources_read(&self->before));
}

FIXTURE_TEARDOWN(load)
{
	fabric_destroy();
	close(self->session);
}

static void take(struct load *load, const struct krdma_cqe *cqe)
{
	if (cqe->wr_id != load->done)
		load->wrong = __LINE__;
	/* After the first failed completion, all fail. */
	if (cqe->status == KRDMA_WC_SUCCESS && load->done++ != load->succeeded++)
		load->wrong = __LINE__;
	else if (cqe->status != KRDMA_WC_SUCCESS)
		load->done++;
}

/* Reap at least one completion, unless none arrives in time. */
static int reap(struct load *load, struct ring *ring)
{
	struct krdma_cqe cqes[DEPTH];
	uint32_t reaped = 0;
	int ret;

	if (load->arrays) {
		ret = ring_reap(ring->fd, cqes, DEPTH, 1, deadline_in(PATIENCE_MS), &reaped);
		for (uint32_t i = 0; !ret && i < reaped; i++)
			take(load, &cqes[i]);
		return ret;
	}
	ret = ring_wait(ring, &cqes[0], PATIENCE_MS);
	if (!ret)
		take(load, &cqes[0]);
	return ret;
}

static void keep_busy(struct load *load, struct pair *pair, const struct mr *from,
		      const struct mr *to)
{
	struct ring *ring = pair->a.ring;
	struct krdma_sqe entry;

	while (!load->refused && !load->wrong) {
		entry = sqe_remote(load->posted % 3 ? KRDMA_OP_WRITE : KRDMA_OP_READ, pair->a.id,
				   load->posted, from, 0, LENGTH, to, 0);
		load->refused = load->arrays ? ring_post(ring->fd, &entry, 1, NULL) :
					       ring_submit(ring, &entry, 1, NULL);
		load->posted += !load->refused;
		if (load->refused == -EAGAIN)
			load->refused = 0;
		if (load->posted - load->done >= DEPTH / 2 && reap(load, ring))
			load->wrong = __LINE__;
	}
	while (load->done < load->posted && !load->wrong)
		if (reap(load, ring))
			load->wrong = __LINE__;
}

static void *run_load(void *argument)
{
	struct load *load = argument;
	const struct end_options end = {
		.send_depth = DEPTH, .recv_depth = DEPTH, .ring_options.flags = load->ring_flags,
	};
	const struct pair_options options = {
		.two_sessions = true, .address = FABRIC_ADDRESS, .a = end, .b = end,
	};
	struct krdma_device_query_args device;
	struct mr from, to;
	struct pair pair;

	if (pair_open(&pair, &options) ||
	    session_named(pair.sessions[0], FABRIC_DEVICE, &device) ||
	    mr_create(pair.sessions[0], device.id, LENGTH, ACCESS_ALL, &from) ||
	    mr_create(pair.sessions[1], device.id, LENGTH, ACCESS_ALL, &to)) {
		load->wrong = __LINE__;
		load->ready = true;
		return NULL;
	}
	load->ready = true;
	keep_busy(load, &pair, &from, &to);
	if (conn_await_closed(pair.a.conn, PATIENCE_MS) ||
	    conn_await_closed(pair.b.conn, PATIENCE_MS))
		load->wrong = __LINE__;
	mr_destroy(&from);
	mr_destroy(&to);
	pair_close(&pair);
	return NULL;
}

/* Wait for the first success, however busy the machine is, so that there is traffic. */
static void await_success(const struct load *load)
{
	uint64_t end = now_ms() + PATIENCE_MS;

	while (!__atomic_load_n(&load->succeeded, __ATOMIC_RELAXED) &&
	       !__atomic_load_n(&load->wrong, __ATOMIC_RELAXED) && now_ms() < end)
		sleep_ms(1);
}

/* Proves: F5 */
TEST_F_TIMEOUT(load, the_device_goes_under_traffic, 300)
{
	for (unsigned int round = 0; round < rounds(10, 3); round++) {
		struct load loads[PAIRS] = {};

		for (int i = 0; i < PAIRS; i++) {
			loads[i].arrays = i % 2;
			loads[i].ring_flags = i / 2 ? KRDMA_RING_POLLED : 0;
			ASSERT_EQ(0, pthread_create(&loads[i].thread, NULL, run_load, &loads[i]));
		}
		for (int i = 0; i < PAIRS; i++)
			while (!loads[i].ready)
				sleep_ms(1);
		sleep_ms(rounds(20, 300) * (1 + round % 3));
		for (int i = 0; i < PAIRS; i++)
			await_success(&loads[i]);
		ASSERT_EQ(0, rdma_link_remove(FABRIC_DEVICE));
		for (int i = 0; i < PAIRS; i++) {
			ASSERT_EQ(0, pthread_join(loads[i].thread, NULL));
			EXPECT_EQ(0, loads[i].wrong);
			EXPECT_EQ(loads[i].posted, loads[i].done);
			EXPECT_LT(0, loads[i].succeeded);
			EXPECT_EQ(-ENODEV, loads[i].refused);
		}
		ASSERT_EQ(0, rdma_link_add(FABRIC_DEVICE, FABRIC_NETDEV));
		ASSERT_EQ(0, session_await(self->session, FABRIC_DEVICE, true));
		EXPECT_EQ(0, resources_await(&self->before, PATIENCE_MS));
	}
}

TEST_HARNESS_MAIN
