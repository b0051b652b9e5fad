// SPDX-License-Identifier: GPL-2.0
/*
 * The table of devices, over a scripted device, in one thread; for several threads see
 * device_race_test.c.
 *
 * Renaming is tested from outside, by `rdma dev set`: ib_core does not let modules rename a device.
 */
#include <kunit/test.h>
#include <linux/netdevice.h>
#include <linux/sizes.h>
#include <linux/string.h>
#include <net/net_namespace.h>

#include <krdma/krdma.h>

#include "device_fixture.h"
#include "objects.h"

#define NAME	"kfake"

/* Puts a reference that the test must not lose when an assertion ends it. */
static void put_device_action(void *context)
{
	krdma_device_put(context);
}

static struct krdma_device *find(struct kunit *test, const char *name)
{
	struct krdma_device *dev = krdma_device_get_by_name(&init_net, name);

	KUNIT_ASSERT_NOT_NULL(test, dev);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, put_device_action, dev));
	return dev;
}

static u32 id_of(struct kunit *test, struct krdma_device *dev)
{
	struct krdma_device_attr attr;

	KUNIT_ASSERT_EQ(test, 0, krdma_device_query_attr(dev, &attr));
	return attr.id;
}

/* Proves: F3 */
static void test_add_find_remove(struct kunit *test)
{
	u32 before = krdma_device_count(&init_net);
	struct test_device *device = test_device_new(test, NAME);
	struct krdma_device *found;
	u32 id;

	KUNIT_EXPECT_EQ(test, before + 1, krdma_device_count(&init_net));
	found = find(test, NAME);
	id = id_of(test, found);
	KUNIT_EXPECT_NE(test, 0, id);

	/* Every lookup leads to the same device. */
	KUNIT_EXPECT_PTR_EQ(test, found, krdma_device_get_by_id(&init_net, id));
	krdma_device_put(found);
	KUNIT_EXPECT_PTR_EQ(test, found, krdma_device_next(&init_net, id));
	krdma_device_put(found);

	test_device_unregister(device);
	KUNIT_EXPECT_EQ(test, before, krdma_device_count(&init_net));
	KUNIT_EXPECT_NULL(test, krdma_device_get_by_name(&init_net, NAME));
	KUNIT_EXPECT_NULL(test, krdma_device_get_by_id(&init_net, id));
}

static void test_names(struct kunit *test)
{
	static const char * const others[] = { "", "k", "kfak", "kfake0", "KFAKE", "kfake " };
	unsigned int i;

	test_device_new(test, NAME);
	for (i = 0; i < ARRAY_SIZE(others); i++)
		KUNIT_EXPECT_NULL_MSG(test, krdma_device_get_by_name(&init_net, others[i]), "'%s'",
				      others[i]);
	krdma_device_put(NULL);
}

static void test_numbers_that_are_no_device(struct kunit *test)
{
	test_device_new(test, NAME);
	KUNIT_EXPECT_NULL(test, krdma_device_get_by_id(&init_net, 0));
	KUNIT_EXPECT_NULL(test, krdma_device_get_by_id(&init_net, KRDMA_DEVICE_ID_MAX));
	KUNIT_EXPECT_NULL(test, krdma_device_get_by_id(&init_net, U32_MAX));
	KUNIT_EXPECT_NULL(test, krdma_device_next(&init_net, KRDMA_DEVICE_ID_MAX));
	KUNIT_EXPECT_NULL(test, krdma_device_next(&init_net, U32_MAX));
}

static void test_walk_is_in_order_and_complete(struct kunit *test)
{
	struct test_device *devices[6];
	struct krdma_device *dev;
	unsigned int walked = 0, ours = 0, i;
	u32 last = 0;

	for (i = 0; i < ARRAY_SIZE(devices); i++)
		devices[i] = test_device_new(test, NAME "%d");
	/* With holes: the walk must skip devices that are gone. */
	test_device_unregister(devices[1]);
	test_device_unregister(devices[4]);

	while ((dev = krdma_device_next(&init_net, last + 1))) {
		struct krdma_device_attr attr;
		int ret = krdma_device_query_attr(dev, &attr);

		krdma_device_put(dev);
		KUNIT_ASSERT_EQ(test, 0, ret);
		KUNIT_ASSERT_GT(test, attr.id, last);
		last = attr.id;
		walked++;
		ours += !strncmp(attr.name, NAME, strlen(NAME));
	}
	KUNIT_EXPECT_EQ(test, 4, ours);
	KUNIT_EXPECT_EQ(test, krdma_device_count(&init_net), walked);
}

/* A limit of the fake device, or the one of its driver if that is lower. */
static u32 limit(u32 fake, u32 driver)
{
	return min_not_zero(fake, driver);
}

/* Proves: E5 */
static void test_attributes(struct kunit *test)
{
	struct test_device *device = test_device_new(test, NAME);
	const struct fake_personality *personality = device->fake->personality;
	bool fast_reg = !(personality->lacks & FAKE_LACKS_FAST_REG);
	struct krdma_device_attr attr;

	memset(&attr, 0xff, sizeof(attr));
	KUNIT_ASSERT_EQ(test, 0, krdma_device_query_attr(find(test, NAME), &attr));
	KUNIT_EXPECT_EQ(test, 1, attr.port_count);
	KUNIT_EXPECT_STREQ(test, NAME, attr.name);
	KUNIT_EXPECT_NULL(test, memchr_inv(attr.name + strlen(NAME), 0,
					   sizeof(attr.name) - strlen(NAME)));
	KUNIT_EXPECT_EQ(test, be64_to_cpu(device->fake->ib.node_guid), attr.node_guid);
	KUNIT_EXPECT_EQ(test, KRDMA_TRANSPORT_IWARP, attr.transport);
	/* This device has no atomics, immediate data or SRQs. */
	KUNIT_EXPECT_EQ(test, fast_reg ? KRDMA_DEVICE_CAP_FAST_REG : 0, attr.caps);
	KUNIT_EXPECT_EQ(test, 1ULL << 32, attr.limits.max_mr_size);
	KUNIT_EXPECT_EQ(test, 64, attr.limits.max_qp);
	KUNIT_EXPECT_EQ(test, 126, attr.limits.max_send_wr);
	KUNIT_EXPECT_EQ(test, 127, attr.limits.max_recv_wr);
	KUNIT_EXPECT_EQ(test, limit(8, personality->max_send_sge), attr.limits.max_send_sge);
	KUNIT_EXPECT_EQ(test, limit(6, personality->max_recv_sge), attr.limits.max_recv_sge);
	KUNIT_EXPECT_EQ(test, limit(4, personality->max_read_sge), attr.limits.max_read_sge);
	KUNIT_EXPECT_EQ(test, 253, attr.limits.max_cqe);
	KUNIT_EXPECT_EQ(test, 0, attr.limits.max_srq_wr);
	KUNIT_EXPECT_EQ(test, 16, attr.limits.max_read_depth);
	KUNIT_EXPECT_EQ(test, 32, attr.limits.max_read_depth_in);
	KUNIT_EXPECT_EQ(test, fast_reg ? limit(64, personality->max_fast_reg_pages) : 0,
			attr.limits.max_fast_reg_pages);
}

/* A driver that executes atomics of peers, and refuses those of the kernel. */
static void test_atomics_of_peers_alone(struct kunit *test)
{
	struct test_device *device = test_device_alloc(test, 1);
	struct krdma_device_attr attr;

	fake_device_offer_atomics(device->fake);
	device->fake->ib.ops.driver_id = RDMA_DRIVER_MLX5;
	KUNIT_ASSERT_EQ(test, 0, test_device_register(device, NAME));
	KUNIT_ASSERT_EQ(test, 0, krdma_device_query_attr(find(test, NAME), &attr));
	KUNIT_EXPECT_FALSE(test, attr.caps & KRDMA_DEVICE_CAP_ATOMIC);
}

static u32 fast_reg_pages(struct kunit *test, struct test_device *device,
			  enum rdma_driver_id driver, u32 claimed)
{
	struct krdma_device_attr attr;

	test_device_replace(device);
	device->fake->attr.max_fast_reg_page_list_len = claimed;
	device->fake->ib.ops.driver_id = driver;
	KUNIT_ASSERT_EQ(test, 0, test_device_register(device, NAME));
	KUNIT_ASSERT_EQ(test, 0, krdma_device_query_attr(find(test, NAME), &attr));
	return attr.limits.max_fast_reg_pages;
}

/* A device may claim more pages than its driver registers right, or has memory for. */
static void test_pages_of_a_registration(struct kunit *test)
{
	static const struct {
		enum rdma_driver_id driver;
		u32 claimed;
		u32 expected;
	} cases[] = {
		{ RDMA_DRIVER_IRDMA, 262144, 512 },
		{ RDMA_DRIVER_IRDMA, 64, 64 },
		{ RDMA_DRIVER_UNKNOWN, 262144, 4096 },
		{ RDMA_DRIVER_UNKNOWN, U32_MAX, 4096 },
		{ RDMA_DRIVER_UNKNOWN, 1024, 1024 },
	};
	u32 most = fake_personality_default()->max_fast_reg_pages;
	struct test_device *device;

	test_needs_fast_reg(test);
	device = test_device_alloc(test, 1);
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++)
		KUNIT_EXPECT_EQ_MSG(test, limit(cases[i].expected, most),
				    fast_reg_pages(test, device, cases[i].driver,
						   cases[i].claimed), "case %u", i);
}

/* Whether memory can be registered on a device of this driver with pages of these sizes. */
static bool has_fast_reg(struct kunit *test, struct test_device *device,
			 enum rdma_driver_id driver, u64 sizes)
{
	struct krdma_device_attr attr;

	test_device_replace(device);
	device->fake->attr.page_size_cap = sizes;
	device->fake->ib.ops.driver_id = driver;
	KUNIT_ASSERT_EQ(test, 0, test_device_register(device, NAME));
	KUNIT_ASSERT_EQ(test, 0, krdma_device_query_attr(find(test, NAME), &attr));
	KUNIT_EXPECT_EQ(test, !!(attr.caps & KRDMA_DEVICE_CAP_FAST_REG),
			attr.limits.max_fast_reg_pages > 0);
	return attr.caps & KRDMA_DEVICE_CAP_FAST_REG;
}

/* Registrations have pages of the kernel's size.  Some providers do not say which they have. */
static void test_registrations_need_pages_of_the_kernel(struct kunit *test)
{
	struct test_device *device;

	test_needs_fast_reg(test);
	device = test_device_alloc(test, 1);
	KUNIT_EXPECT_TRUE(test, has_fast_reg(test, device, RDMA_DRIVER_UNKNOWN, 0));
	KUNIT_EXPECT_TRUE(test, has_fast_reg(test, device, RDMA_DRIVER_UNKNOWN, PAGE_SIZE));
	KUNIT_EXPECT_TRUE(test, has_fast_reg(test, device, RDMA_DRIVER_UNKNOWN,
					     PAGE_SIZE | SZ_2M));
	KUNIT_EXPECT_TRUE(test, has_fast_reg(test, device, RDMA_DRIVER_UNKNOWN,
					     ~(PAGE_SIZE - 1)));
	KUNIT_EXPECT_FALSE(test, has_fast_reg(test, device, RDMA_DRIVER_UNKNOWN,
					      PAGE_SIZE / 2 | SZ_2M));
	KUNIT_EXPECT_FALSE(test, has_fast_reg(test, device, RDMA_DRIVER_UNKNOWN, SZ_2M));
}

/* A driver that registers by another address than the one that was asked for. */
static void test_ocrdma_registers_nothing(struct kunit *test)
{
	struct test_device *device = test_device_alloc(test, 1);

	KUNIT_EXPECT_FALSE(test, has_fast_reg(test, device, RDMA_DRIVER_OCRDMA, PAGE_SIZE));
}

/* Capabilities without the verbs that they need. */
/* Proves: D1 */
static void test_capabilities_need_their_calls(struct kunit *test)
{
	struct test_device *device = test_device_alloc(test, 1);
	struct krdma_device_attr attr;

	device->fake->attr.max_srq = 8;
	device->fake->attr.max_srq_wr = 64;
	device->fake->ib.ops.map_mr_sg = NULL;
	KUNIT_ASSERT_EQ(test, 0, test_device_register(device, NAME));
	KUNIT_ASSERT_EQ(test, 0, krdma_device_query_attr(find(test, NAME), &attr));
	KUNIT_EXPECT_EQ(test, 0, attr.caps);
	KUNIT_EXPECT_EQ(test, 0, attr.limits.max_srq_wr);
	KUNIT_EXPECT_EQ(test, 0, attr.limits.max_fast_reg_pages);
}

static void test_port(struct kunit *test)
{
	struct test_device *device = test_device_new(test, NAME);
	struct krdma_device *dev = find(test, NAME);
	struct krdma_port_attr port;

	memset(&port, 0xff, sizeof(port));
	KUNIT_ASSERT_EQ(test, 0, krdma_device_query_port(dev, &init_net, 1, &port));
	KUNIT_EXPECT_EQ(test, KRDMA_PORT_ACTIVE, port.state);
	KUNIT_EXPECT_EQ(test, KRDMA_LINK_ETHERNET, port.link_layer);
	KUNIT_EXPECT_EQ(test, 4096, port.max_mtu);
	KUNIT_EXPECT_EQ(test, 2048, port.active_mtu);
	KUNIT_EXPECT_EQ(test, 1 << 30, port.max_msg_size);
	KUNIT_EXPECT_EQ(test, 1, port.gid_count);
	KUNIT_EXPECT_EQ(test, 100000, port.speed_mbps);
	KUNIT_EXPECT_EQ(test, init_net.loopback_dev->ifindex, port.netdev_ifindex);
	KUNIT_EXPECT_STREQ(test, "lo", port.netdev_name);

	/* The device is queried each time. */
	device->fake->port.state = IB_PORT_DOWN;
	device->fake->port.active_mtu = IB_MTU_256;
	device->fake->port.active_speed = 0;
	device->fake->port.gid_tbl_len = -1;
	KUNIT_ASSERT_EQ(test, 0, krdma_device_query_port(dev, &init_net, 1, &port));
	KUNIT_EXPECT_EQ(test, KRDMA_PORT_DOWN, port.state);
	KUNIT_EXPECT_EQ(test, 256, port.active_mtu);
	KUNIT_EXPECT_EQ(test, 0, port.speed_mbps);
	KUNIT_EXPECT_EQ(test, 0, port.gid_count);
}

static void test_port_numbers(struct kunit *test)
{
	static const u32 none[] = { 0, 4, 255, 256, 257, 65537, 0x80000001, U32_MAX };
	struct test_device *device = test_device_alloc(test, 3);
	struct krdma_port_attr port;
	struct krdma_device *dev;
	unsigned int i;

	KUNIT_ASSERT_EQ(test, 0, test_device_register(device, NAME));
	dev = find(test, NAME);
	for (i = 1; i <= 3; i++)
		KUNIT_EXPECT_EQ(test, 0, krdma_device_query_port(dev, &init_net, i, &port));

	/* The provider must not be queried for a port that does not exist. */
	fake_device_fail(device->fake, FAKE_QUERY_PORT, 0, 0);
	for (i = 0; i < ARRAY_SIZE(none); i++)
		KUNIT_EXPECT_EQ_MSG(test, -ENOENT,
				    krdma_device_query_port(dev, &init_net, none[i], &port),
				    "port %u", none[i]);
	KUNIT_EXPECT_EQ(test, 0, fake_device_calls(device->fake, FAKE_QUERY_PORT));
}

static void test_port_errors(struct kunit *test)
{
	/* An errno of the provider that would mean something else in krdma becomes -EIO. */
	static const struct {
		int provider;
		int expected;
	} cases[] = {
		{ -ENOMEM, -ENOMEM },
		{ -EINTR, -EINTR },
		{ -ENOBUFS, -ENOMEM },
		{ -ENFILE, -ENOMEM },
		{ -EIO, -EIO },
		{ -ENODEV, -EIO },
		{ -ENOENT, -EIO },
		{ -EINVAL, -EIO },
		{ -EFAULT, -EIO },
		{ -ETIMEDOUT, -EIO },
		{ -EAGAIN, -EIO },
	};
	struct test_device *device = test_device_new(test, NAME);
	struct krdma_device *dev = find(test, NAME);
	struct krdma_port_attr port;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		fake_device_fail(device->fake, FAKE_QUERY_PORT, 1, cases[i].provider);
		KUNIT_EXPECT_EQ_MSG(test, cases[i].expected,
				    krdma_device_query_port(dev, &init_net, 1, &port),
				    "provider's %d", cases[i].provider);
		/* The failure ends with the call that failed. */
		KUNIT_EXPECT_EQ(test, 0, krdma_device_query_port(dev, &init_net, 1, &port));
	}
}

static void test_numbers_are_not_used_again(struct kunit *test)
{
	struct test_device *device = test_device_alloc(test, 1);
	u32 last = 0;
	int i;

	for (i = 0; i < 5; i++) {
		u32 id;

		KUNIT_ASSERT_EQ(test, 0, test_device_register(device, NAME));
		id = id_of(test, find(test, NAME));
		KUNIT_EXPECT_GT(test, id, last);
		last = id;
		test_device_replace(device);
		KUNIT_EXPECT_NULL(test, krdma_device_get_by_id(&init_net, last));
	}
}

static void test_a_reference_outlives_the_device(struct kunit *test)
{
	struct test_device *device = test_device_new(test, NAME);
	struct krdma_device *dev = find(test, NAME);
	struct krdma_device_attr attr;
	struct krdma_port_attr port;

	/* Would not return if the reference kept the device. */
	test_device_unregister(device);
	KUNIT_EXPECT_EQ(test, -ENODEV, krdma_device_query_attr(dev, &attr));
	KUNIT_EXPECT_EQ(test, -ENODEV, krdma_device_query_port(dev, &init_net, 1, &port));
	KUNIT_EXPECT_EQ(test, -ENODEV, krdma_device_query_port(dev, &init_net, 0, &port));
}

static void test_the_old_reference_is_not_the_new_device(struct kunit *test)
{
	struct test_device *device = test_device_new(test, NAME);
	struct krdma_device *old = find(test, NAME);
	struct krdma_device_attr attr;

	test_device_replace(device);
	KUNIT_ASSERT_EQ(test, 0, test_device_register(device, NAME));
	KUNIT_EXPECT_PTR_NE(test, old, find(test, NAME));
	KUNIT_EXPECT_EQ(test, -ENODEV, krdma_device_query_attr(old, &attr));
}

static void test_a_device_that_does_not_register(struct kunit *test)
{
	u32 before = krdma_device_count(&init_net);
	struct test_device *device = test_device_alloc(test, 1);

	fake_device_fail(device->fake, FAKE_QUERY_DEVICE, 1, -EREMOTEIO);
	KUNIT_EXPECT_EQ(test, -EREMOTEIO, test_device_register(device, NAME));
	KUNIT_EXPECT_EQ(test, before, krdma_device_count(&init_net));
	KUNIT_EXPECT_NULL(test, krdma_device_get_by_name(&init_net, NAME));
}

/* A device for programs only, as ib_core calls one that lacks a verb. */
static void test_a_device_without_kernel_verbs(struct kunit *test)
{
	u32 before = krdma_device_count(&init_net);
	struct test_device *device = test_device_alloc(test, 1);

	device->fake->ib.ops.get_dma_mr = NULL;
	KUNIT_ASSERT_EQ(test, 0, test_device_register(device, NAME));
	KUNIT_EXPECT_EQ(test, before, krdma_device_count(&init_net));
	KUNIT_EXPECT_NULL(test, krdma_device_get_by_name(&init_net, NAME));
}

static struct kunit_case device_cases[] = {
	KUNIT_CASE(test_add_find_remove),
	KUNIT_CASE(test_names),
	KUNIT_CASE(test_numbers_that_are_no_device),
	KUNIT_CASE(test_walk_is_in_order_and_complete),
	KUNIT_CASE(test_attributes),
	KUNIT_CASE(test_atomics_of_peers_alone),
	KUNIT_CASE(test_pages_of_a_registration),
	KUNIT_CASE(test_registrations_need_pages_of_the_kernel),
	KUNIT_CASE(test_ocrdma_registers_nothing),
	KUNIT_CASE(test_capabilities_need_their_calls),
	KUNIT_CASE(test_port),
	KUNIT_CASE(test_port_numbers),
	KUNIT_CASE(test_port_errors),
	KUNIT_CASE(test_numbers_are_not_used_again),
	KUNIT_CASE(test_a_reference_outlives_the_device),
	KUNIT_CASE(test_the_old_reference_is_not_the_new_device),
	KUNIT_CASE(test_a_device_that_does_not_register),
	KUNIT_CASE(test_a_device_without_kernel_verbs),
	{}
};

static struct kunit_suite device_suite = {
	.name = "krdma_device",
	.init = test_objects_init,
	.test_cases = device_cases,
};

kunit_test_suite(device_suite);
