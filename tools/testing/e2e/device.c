// SPDX-License-Identifier: GPL-2.0
/*
 * KRDMA_DEVICE_QUERY: finding devices, and their properties.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>

#include "kselftest_harness.h"
#include "fabric.h"
#include "session.h"

/* More devices than any test machine has. */
#define MANY_DEVICES	64

FIXTURE(device)
{
	int session;
	struct krdma_device_query_args boot;
};

FIXTURE_SETUP(device)
{
	self->session = session_open(O_CLOEXEC);
	ASSERT_LE(0, self->session);
	ASSERT_EQ(0, session_named(self->session, BOOT_DEVICE, &self->boot));
}

FIXTURE_TEARDOWN(device)
{
	close(self->session);
}

/* Proves: E5 */
TEST_F(device, the_walk_finds_each_device_once)
{
	unsigned int found = 0, total = 0;
	struct krdma_device_query_args device;
	struct krdma_info_args info;
	uint32_t id = 0;
	int ret;

	ASSERT_EQ(0, session_info(self->session, &info));
	while (!(ret = session_next(self->session, id, &device))) {
		ASSERT_LE(id, device.id);
		ASSERT_GT(MANY_DEVICES, ++total);
		found += !strcmp(device.name, BOOT_DEVICE);
		id = device.id + 1;
	}
	EXPECT_EQ(-ENOENT, ret);
	EXPECT_EQ(1, found);
	EXPECT_EQ(info.device_count, total);
}

/* Proves: D1 */
TEST_F(device, name_number_and_walk_say_the_same)
{
	struct krdma_device_query_args by_id, by_next;

	EXPECT_NE(0, self->boot.id);
	ASSERT_EQ(0, session_device(self->session, self->boot.id, &by_id));
	ASSERT_EQ(0, session_next(self->session, self->boot.id, &by_next));
	/* @flags is set by the caller; everything else must be equal. */
	by_id.flags = self->boot.flags;
	by_next.flags = self->boot.flags;
	EXPECT_EQ(0, memcmp(&self->boot, &by_id, sizeof(by_id)));
	EXPECT_EQ(0, memcmp(&self->boot, &by_next, sizeof(by_next)));
}

TEST_F(device, numbers_that_are_no_device)
{
	struct krdma_device_query_args device;

	EXPECT_EQ(-ENOENT, session_device(self->session, 0, &device));
	EXPECT_EQ(-ENOENT, session_device(self->session, 0x7fffffff, &device));
	EXPECT_EQ(-ENOENT, session_device(self->session, 0x80000000, &device));
	EXPECT_EQ(-ENOENT, session_device(self->session, UINT32_MAX, &device));
	EXPECT_EQ(-ENOENT, session_next(self->session, UINT32_MAX, &device));
}

TEST_F(device, names_that_are_no_device)
{
	static const char *const names[] = {
		"x", "rxe", "rxe00", "rxe0 ", " rxe0", "RXE0", "rxe0\n", "../rxe0", "rxe%d",
	};
	struct krdma_device_query_args device;
	char longest[KRDMA_NAME_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		EXPECT_EQ(-ENOENT, session_named(self->session, names[i], &device)) {
			TH_LOG("name '%s'", names[i]);
		}
	}

	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	EXPECT_EQ(-ENOENT, session_named(self->session, longest, &device));
}

TEST_F(device, names_that_are_no_names)
{
	struct krdma_device_query_args device = {
		.size = sizeof(device),
		.flags = KRDMA_DEVICE_QUERY_NAME,
	};

	EXPECT_EQ(-EINVAL, session_request(self->session, KRDMA_DEVICE_QUERY, &device));
	memset(device.name, 'x', sizeof(device.name));
	EXPECT_EQ(-EINVAL, session_request(self->session, KRDMA_DEVICE_QUERY, &device));
	/* A device's name without a terminating NUL is not valid. */
	memcpy(device.name, BOOT_DEVICE, strlen(BOOT_DEVICE));
	EXPECT_EQ(-EINVAL, session_request(self->session, KRDMA_DEVICE_QUERY, &device));
}

TEST_F(device, what_is_behind_the_end_of_a_name_does_not_matter)
{
	struct krdma_device_query_args device = {
		.size = sizeof(device),
		.flags = KRDMA_DEVICE_QUERY_NAME,
	};

	memset(device.name, 'x', sizeof(device.name));
	memcpy(device.name, BOOT_DEVICE, sizeof(BOOT_DEVICE));
	ASSERT_EQ(0, session_request(self->session, KRDMA_DEVICE_QUERY, &device));
	EXPECT_EQ(self->boot.id, device.id);
	/* The bytes behind the name are zeroed. */
	for (size_t i = strlen(device.name); i < sizeof(device.name); i++)
		EXPECT_EQ(0, device.name[i]);
}

TEST_F(device, a_name_is_ignored_where_none_is_asked_for)
{
	struct krdma_device_query_args device = {
		.size = sizeof(device),
		.id = self->boot.id,
	};

	memset(device.name, 'x', sizeof(device.name));
	ASSERT_EQ(0, session_request(self->session, KRDMA_DEVICE_QUERY, &device));
	EXPECT_STREQ(BOOT_DEVICE, device.name);
}

TEST_F(device, contradictions)
{
	struct krdma_device_query_args device = {
		.size = sizeof(device),
		.flags = KRDMA_DEVICE_QUERY_NAME | KRDMA_DEVICE_QUERY_NEXT,
		.name = BOOT_DEVICE,
	};

	EXPECT_EQ(-EINVAL, session_request(self->session, KRDMA_DEVICE_QUERY, &device));
	device.flags = KRDMA_DEVICE_QUERY_NAME;
	device.id = self->boot.id;
	EXPECT_EQ(-EINVAL, session_request(self->session, KRDMA_DEVICE_QUERY, &device));
}

TEST_F(device, an_error_leaves_the_structure_alone)
{
	struct krdma_device_query_args device, before;

	memset(&device, 0xa5, sizeof(device));
	device.size = sizeof(device);
	device.flags = 0;
	device.id = UINT32_MAX;
	before = device;
	EXPECT_EQ(-ENOENT, session_request(self->session, KRDMA_DEVICE_QUERY, &device));
	EXPECT_EQ(0, memcmp(&before, &device, sizeof(device)));
}

TEST_F(device, the_guid_is_that_of_sysfs)
{
	unsigned int part[4];
	int fields;
	uint64_t guid = 0;
	char line[64];

	ASSERT_EQ(0, read_line(line, sizeof(line), "/sys/class/infiniband/%s/node_guid",
			       BOOT_DEVICE));
	fields = sscanf(line, "%x:%x:%x:%x", &part[0], &part[1], &part[2], &part[3]);
	ASSERT_EQ(4, fields);
	for (int i = 0; i < 4; i++)
		guid = guid << 16 | part[i];
	EXPECT_NE(0, guid);
	EXPECT_EQ(guid, self->boot.node_guid);
}

/* Proves: E9 */
TEST_F(device, ports_and_transport_are_those_of_sysfs)
{
	char line[64];

	EXPECT_EQ(1, self->boot.port_count);
	EXPECT_EQ(0, read_line(line, sizeof(line), "/sys/class/infiniband/%s/ports/1/state",
			       BOOT_DEVICE));
	EXPECT_EQ(-ENOENT, read_line(line, sizeof(line), "/sys/class/infiniband/%s/ports/2/state",
				     BOOT_DEVICE));
	ASSERT_EQ(0, read_line(line, sizeof(line), "/sys/class/infiniband/%s/node_type",
			       BOOT_DEVICE));
	EXPECT_STREQ("1: CA", line);
	EXPECT_EQ(KRDMA_TRANSPORT_IB, self->boot.transport);
}

/* Proves: E5 */
TEST_F(device, limits_that_rxe_has)
{
	const struct krdma_device_query_args *device = &self->boot;

	if (getenv("KRDMA_LINK"))
		SKIP(return, "rxe0 is a %s device", getenv("KRDMA_LINK"));
	EXPECT_EQ(KRDMA_DEVICE_CAP_ATOMIC | KRDMA_DEVICE_CAP_IMM | KRDMA_DEVICE_CAP_SRQ |
		  KRDMA_DEVICE_CAP_FAST_REG | KRDMA_DEVICE_CAP_READ_LOCAL,
		  device->caps & ~(uint64_t)KRDMA_DEVICE_CAP_ODP);
	EXPECT_EQ(32, device->max_send_sge);
	EXPECT_EQ(32, device->max_recv_sge);
	EXPECT_EQ(32, device->max_read_sge);
	EXPECT_EQ(512, device->max_fast_reg_pages);
	EXPECT_LT(0, device->max_mr_size);
	EXPECT_LT(0, device->max_qp);
	EXPECT_LT(0, device->max_send_wr);
	EXPECT_LT(0, device->max_recv_wr);
	EXPECT_LT(0, device->max_cqe);
	EXPECT_LT(0, device->max_srq_wr);
	EXPECT_LT(0, device->max_read_depth);
	EXPECT_LE(device->max_read_depth, 255);
	EXPECT_LT(0, device->max_read_depth_in);
	EXPECT_LE(device->max_read_depth_in, 255);
}

TEST_F(device, two_devices_have_two_numbers_and_two_guids)
{
	struct krdma_device_query_args other, again;
	int ret;

	ASSERT_EQ(0, fabric_create());
	ret = session_named(self->session, FABRIC_DEVICE, &other);
	if (!ret)
		ret = session_named(self->session, BOOT_DEVICE, &again);
	fabric_destroy();

	ASSERT_EQ(0, ret);
	EXPECT_EQ(self->boot.id, again.id);
	EXPECT_NE(self->boot.id, other.id);
	EXPECT_NE(self->boot.node_guid, other.node_guid);
}

TEST_F(device, two_sessions_see_the_same_numbers)
{
	struct krdma_device_query_args device;
	int other = session_open(O_CLOEXEC);

	ASSERT_LE(0, other);
	EXPECT_EQ(0, session_named(other, BOOT_DEVICE, &device));
	EXPECT_EQ(self->boot.id, device.id);
	close(other);
}

TEST_HARNESS_MAIN
