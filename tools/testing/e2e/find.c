// SPDX-License-Identifier: GPL-2.0
/*
 * KRDMA_DEVICE_FIND: the device that has an address, and the device on the route to a peer.
 */
#include <errno.h>
#include <fcntl.h>

#include "kselftest_harness.h"
#include "fabric.h"
#include "pair.h"
#include "session.h"

/* Unused addresses of the network of the boot device and of that of the fabric. */
#define BOOT_NEIGHBOUR		"10.77.0.99"
#define FABRIC_NEIGHBOUR	"10.79.0.99"

FIXTURE(find)
{
	int session;
	uint32_t boot;
	uint32_t fabric;
};

FIXTURE_SETUP(find)
{
	struct krdma_device_query_args device;

	self->session = session_open(O_CLOEXEC);
	ASSERT_LE(0, self->session);
	ASSERT_EQ(0, fabric_create());
	ASSERT_EQ(0, session_await(self->session, FABRIC_DEVICE, true));
	ASSERT_EQ(0, boot_device(self->session, &self->boot));
	ASSERT_EQ(0, session_named(self->session, FABRIC_DEVICE, &device));
	self->fabric = device.id;
}

FIXTURE_TEARDOWN(find)
{
	fabric_destroy();
	close(self->session);
}

/* Either address may be NULL. */
static int find(int session, const char *local, const char *remote, uint64_t deadline,
		uint32_t *id)
{
	struct krdma_device_find_args find = { .size = sizeof(find), .deadline_ns = deadline };
	int ret = 0;

	if (local) {
		find.flags |= KRDMA_DEVICE_FIND_LOCAL;
		ret = address_set(&find.local, local, 0);
	}
	if (remote && !ret) {
		find.flags |= KRDMA_DEVICE_FIND_REMOTE;
		ret = address_set(&find.remote, remote, 0);
	}
	if (!ret)
		ret = session_request(session, KRDMA_DEVICE_FIND, &find);
	*id = find.id;
	return ret;
}

/* Proves: A7, D1 */
TEST_F(find, by_its_own_address)
{
	uint32_t id;

	EXPECT_EQ(0, find(self->session, BOOT_ADDRESS, NULL, 0, &id));
	EXPECT_EQ(self->boot, id);
	EXPECT_EQ(0, find(self->session, BOOT_ADDRESS_6, NULL, 0, &id));
	EXPECT_EQ(self->boot, id);
	EXPECT_EQ(0, find(self->session, FABRIC_ADDRESS, NULL, 0, &id));
	EXPECT_EQ(self->fabric, id);
}

/* Proves: A7, D1 */
TEST_F(find, by_the_way_to_a_peer)
{
	uint32_t id;

	/* A local address is reached through the device that has it. */
	EXPECT_EQ(0, find(self->session, NULL, BOOT_ADDRESS, deadline_in(PATIENCE_MS), &id));
	EXPECT_EQ(self->boot, id);
	EXPECT_EQ(0, find(self->session, NULL, BOOT_ADDRESS_6, deadline_in(PATIENCE_MS), &id));
	EXPECT_EQ(self->boot, id);
	EXPECT_EQ(0, find(self->session, NULL, FABRIC_ADDRESS, deadline_in(PATIENCE_MS), &id));
	EXPECT_EQ(self->fabric, id);
	EXPECT_EQ(0, find(self->session, BOOT_ADDRESS, BOOT_ADDRESS, deadline_in(PATIENCE_MS),
			  &id));
	EXPECT_EQ(self->boot, id);
}

TEST_F(find, a_deadline_that_has_passed)
{
	uint32_t id;

	/* A dummy interface needs no answer from the neighbour, so the lookup succeeds. */
	EXPECT_EQ(0, find(self->session, NULL, BOOT_NEIGHBOUR, deadline_in(PATIENCE_MS), &id));
	EXPECT_EQ(self->boot, id);
	EXPECT_EQ(-ETIMEDOUT, find(self->session, NULL, BOOT_NEIGHBOUR, 1, &id));
}

TEST_F(find, the_errors_that_are_documented)
{
	struct krdma_device_find_args request = { .size = sizeof(request) };
	uint32_t id;

	EXPECT_EQ(-ENOENT, find(self->session, FABRIC_NEIGHBOUR, NULL, 0, &id));
	EXPECT_EQ(-EHOSTUNREACH, find(self->session, NULL, "192.0.2.1", deadline_in(PATIENCE_MS),
				      &id));
	EXPECT_EQ(-EINVAL, find(self->session, BOOT_ADDRESS, BOOT_ADDRESS_6, deadline_in(2000),
				&id));
	EXPECT_EQ(-EINVAL, find(self->session, NULL, NULL, 0, &id));
	request.flags = KRDMA_DEVICE_FIND_LOCAL;
	request.local.ss_family = AF_UNIX;
	EXPECT_EQ(-EAFNOSUPPORT, session_request(self->session, KRDMA_DEVICE_FIND, &request));
}

TEST_F(find, not_by_the_address_of_a_device_that_is_gone)
{
	uint32_t id;

	ASSERT_EQ(0, find(self->session, FABRIC_ADDRESS, NULL, 0, &id));
	fabric_destroy();
	ASSERT_EQ(0, session_await(self->session, FABRIC_DEVICE, false));
	EXPECT_EQ(-ENOENT, find(self->session, FABRIC_ADDRESS, NULL, 0, &id));
}

TEST_HARNESS_MAIN
