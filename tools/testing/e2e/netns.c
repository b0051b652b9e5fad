// SPDX-License-Identifier: GPL-2.0
/*
 * Network namespaces: a session sees the devices of the namespace that it was
 * opened in, wherever it is used.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/socket.h>

#include "kselftest_harness.h"
#include "fd_pass.h"
#include "rdma_link.h"
#include "session.h"

#define MODE_MS		20000

/*
 * The mode can change only while no other network namespace exists, and the kernel cleans up the
 * last one in the background.
 */
static int set_mode(enum rdma_netns_mode mode)
{
	uint64_t deadline = now_ms() + MODE_MS;
	int ret;

	while ((ret = rdma_netns_mode_set(mode)) == -EBUSY && now_ms() < deadline)
		sleep_ms(50);
	return ret;
}

FIXTURE(netns)
{
	int session;
	uint32_t device;
};

FIXTURE_VARIANT(netns)
{
	enum rdma_netns_mode mode;
};

/* clang-format off */
FIXTURE_VARIANT_ADD(netns, exclusive) {
	.mode = RDMA_NETNS_EXCLUSIVE,
};

FIXTURE_VARIANT_ADD(netns, shared) {
	.mode = RDMA_NETNS_SHARED,
};

/* clang-format on */

FIXTURE_SETUP(netns)
{
	struct krdma_device_query_args device;

	self->session = session_open(O_CLOEXEC);
	ASSERT_LE(0, self->session);
	ASSERT_EQ(0, session_named(self->session, BOOT_DEVICE, &device));
	self->device = device.id;
	ASSERT_EQ(0, set_mode(variant->mode));
}

FIXTURE_TEARDOWN(netns)
{
	close(self->session);
	EXPECT_EQ(0, set_mode(RDMA_NETNS_SHARED));
}

/* Check that the device is not visible through this session. */
static bool sees_nothing(int session, uint32_t id)
{
	struct krdma_device_query_args device;
	struct krdma_port_query_args port;
	struct krdma_info_args info;

	return session_info(session, &info) == 0 && info.device_count == 0 &&
	       session_named(session, BOOT_DEVICE, &device) == -ENOENT &&
	       session_device(session, id, &device) == -ENOENT &&
	       session_next(session, 0, &device) == -ENOENT &&
	       session_port(session, id, 1, &port) == -ENOENT;
}

/* Check that the device is visible; *@port is its first port. */
static bool sees_device(int session, uint32_t id, struct krdma_port_query_args *port)
{
	struct krdma_device_query_args device;
	struct krdma_info_args info;

	return session_info(session, &info) == 0 && info.device_count >= 1 &&
	       session_named(session, BOOT_DEVICE, &device) == 0 && device.id == id &&
	       session_port(session, id, 1, port) == 0;
}

static bool sees_interface(const struct krdma_port_query_args *port)
{
	return port->netdev_ifindex != 0 && port->netdev_name[0] != '\0';
}

/* The interface is in the first namespace, whatever the device's visibility. */
static bool as_a_stranger(int session, uint32_t id, enum rdma_netns_mode mode)
{
	struct krdma_port_query_args port;

	if (mode == RDMA_NETNS_EXCLUSIVE)
		return sees_nothing(session, id);
	return sees_device(session, id, &port) && !sees_interface(&port);
}

static bool as_a_native(int session, uint32_t id)
{
	struct krdma_port_query_args port;

	return sees_device(session, id, &port) && sees_interface(&port);
}

/* Runs in a process of its own: the namespace ends with it. */
static int visit_namespace(int outside, uint32_t id, enum rdma_netns_mode mode, int channel)
{
	int inside;

	if (unshare(CLONE_NEWNET))
		return 1;
	inside = session_open(O_CLOEXEC);
	if (inside < 0)
		return 2;
	if (!as_a_stranger(inside, id, mode))
		return 3;
	/* Opened before the move: still in the first namespace. */
	if (!as_a_native(outside, id))
		return 4;
	if (channel >= 0 && fd_send(channel, inside))
		return 5;
	return 0;
}

static int wait_for(pid_t child)
{
	int status;

	if (waitpid(child, &status, 0) != child || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

/* Proves: F6 */
TEST_F_TIMEOUT(netns, sessions_of_two_namespaces, 60)
{
	pid_t child = fork();

	ASSERT_LE(0, child);
	if (child == 0)
		_exit(visit_namespace(self->session, self->device, variant->mode, -1));
	EXPECT_EQ(0, wait_for(child));
	EXPECT_TRUE(as_a_native(self->session, self->device));
}

TEST_F_TIMEOUT(netns, a_session_that_is_handed_out_of_its_namespace, 60)
{
	int pair[2], received;
	pid_t child;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair));
	child = fork();
	ASSERT_LE(0, child);
	if (child == 0)
		_exit(visit_namespace(self->session, self->device, variant->mode, pair[1]));
	ASSERT_EQ(0, wait_for(child));
	received = fd_receive(pair[0]);
	ASSERT_LE(0, received);
	/* The namespace has no process any more; only the session keeps it alive. */
	EXPECT_TRUE(as_a_stranger(received, self->device, variant->mode));
	EXPECT_TRUE(as_a_native(self->session, self->device));
	close(received);
	close(pair[0]);
	close(pair[1]);
}

TEST_HARNESS_MAIN
