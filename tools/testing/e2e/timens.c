// SPDX-License-Identifier: GPL-2.0
/*
 * Time namespaces: in every ioctl with a deadline, the deadline refers to the caller's own clock.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "child.h"
#include "pair.h"
#include "session.h"

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME	0x80
#endif

#define WAIT_MS		200
#define PORT		7491

/* In a child: by its own clock, the last call has waited until the deadline, and not longer. */
#define CHECK_ON_WHEEL_TIME(deadline_ns) do {					\
	const int64_t past_us = deadline_past_us(deadline_ns);			\
										\
	CHECK(past_us >= 0);							\
	CHECK(past_us <= deadline_late_us() + 8000 + WAIT_MS * 1000 / 8);	\
} while (0)

/* The ioctls with a deadline, in a state in which none can succeed. */
static int wait_for_nothing(void *)
{
	struct __kernel_sockaddr_storage address;
	int session, listener, conn;
	struct end end, other;
	struct krdma_cqe cqe;
	uint64_t deadline;
	uint32_t reaped;

	session = session_open(0);
	CHECK(session >= 0);
	CHECK(!listener_open(session, BOOT_ADDRESS, PORT, 0, &listener, &address));
	deadline = deadline_in(WAIT_MS);
	CHECK(listener_next(listener, deadline, &conn, NULL) == -ETIMEDOUT);
	CHECK_ON_WHEEL_TIME(deadline);

	/* The connection is requested, and is not accepted. */
	CHECK(!end_ask(&end, session, &address, &(struct end_options) {}));
	deadline = deadline_in(WAIT_MS);
	CHECK(conn_wait(end.conn, deadline, NULL) == -ETIMEDOUT);
	CHECK_ON_WHEEL_TIME(deadline);

	deadline = deadline_in(WAIT_MS);
	CHECK(ring_enter(end.ring, 0, 1, deadline, NULL) == -ETIMEDOUT);
	CHECK_ON_WHEEL_TIME(deadline);
	deadline = deadline_in(WAIT_MS);
	CHECK(ring_reap(end.ring->fd, &cqe, 1, 1, deadline, &reaped) == -ETIMEDOUT);
	CHECK_ON_WHEEL_TIME(deadline);

	end_init(&other, session);
	CHECK(!ring_create(session, &(struct ring_options) { .flags = KRDMA_RING_POLLED },
			   &other.own[0]));
	deadline = deadline_in(WAIT_MS);
	CHECK(ring_enter(&other.own[0], 0, 1, deadline, NULL) == -ETIMEDOUT);
	CHECK_ON_WHEEL_TIME(deadline);
	return 0;
}

/* An ioctl that succeeds, unless krdma takes its deadline for past. */
static int find_in_time(void *)
{
	struct krdma_device_find_args find = {
		.size = sizeof(find),
		.flags = KRDMA_DEVICE_FIND_REMOTE,
		.deadline_ns = deadline_in(2000),
	};
	int session = session_open(0);

	CHECK(session >= 0);
	CHECK(!address_set(&find.remote, BOOT_ADDRESS, 0));
	CHECK(!session_request(session, KRDMA_DEVICE_FIND, &find));
	return 0;
}

/**
 * struct life - a function that runs in a time namespace
 * @offset: offset of its clock from that of the machine, in seconds
 * @function: function to run there
 */
struct life {
	int offset;
	child_function *function;
};

static int live(void *context)
{
	const struct life *life = context;
	char offset[32];

	CHECK(!unshare(CLONE_NEWTIME));
	snprintf(offset, sizeof(offset), "monotonic %d 0", life->offset);
	CHECK(!write_text("/proc/self/timens_offsets", offset));
	/* The first child enters the new time namespace. */
	return child_run(life->function, NULL);
}

FIXTURE(timens)
{
};

FIXTURE_VARIANT(timens)
{
	int offset;
};

FIXTURE_VARIANT_ADD(timens, ahead)
{
	.offset = 3600,
};

FIXTURE_VARIANT_ADD(timens, behind)
{
	.offset = -3,
};

FIXTURE_SETUP(timens)
{
	if (access("/proc/self/ns/time", F_OK))
		SKIP(return, "this kernel has no time namespaces");
	/* The clock of a time namespace cannot be negative. */
	while (deadline_in(1) < 5000000000ULL)
		sleep_ms(100);
}

FIXTURE_TEARDOWN(timens)
{
}

TEST_F_TIMEOUT(timens, waits_end_by_the_callers_clock, 120)
{
	struct life life = { .offset = variant->offset, .function = wait_for_nothing };

	EXPECT_EQ(0, child_run(live, &life));
}

TEST_F(timens, a_deadline_to_come_is_not_late)
{
	struct life life = { .offset = variant->offset, .function = find_in_time };

	EXPECT_EQ(0, child_run(live, &life));
}

TEST_HARNESS_MAIN
