// SPDX-License-Identifier: GPL-2.0
/* Fake devices that are removed when the test ends, however it ends. */
#include <linux/slab.h>

#include "device_fixture.h"

static void test_device_release(void *context)
{
	struct test_device *device = context;

	if (!device->fake)
		return;
	test_device_unregister(device);
	KUNIT_EXPECT_EQ_MSG(device->test, 0, fake_device_free(device->fake),
			    "objects of the device were not given back, or it was misused");
	device->fake = NULL;
}

struct test_device *test_device_alloc(struct kunit *test, unsigned int ports)
{
	struct test_device *device;

	device = kunit_kzalloc(test, sizeof(*device), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, device);
	device->test = test;
	device->fake = fake_device_alloc(ports);
	KUNIT_ASSERT_NOT_NULL(test, device->fake);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, test_device_release, device));

	return device;
}

void test_needs_fast_reg(struct kunit *test)
{
	const struct fake_personality *personality = fake_personality_default();

	if (personality->lacks & FAKE_LACKS_FAST_REG)
		kunit_skip(test, "%s has no fast registrations", personality->name);
}

int test_device_register(struct test_device *device, const char *name)
{
	const struct fake_personality *personality = device->fake->personality;
	int ret;

	/* Tests of a personality also check what is missing. */
	if (personality == fake_personality_default() &&
	    (device->fake->offered & personality->lacks))
		kunit_skip(device->test, "%s does not have what the test is about",
			   personality->name);
	ret = fake_device_register(device->fake, name);
	device->registered = !ret;
	return ret;
}

void test_device_unregister(struct test_device *device)
{
	if (!device->registered)
		return;
	fake_device_unregister(device->fake);
	device->registered = false;
}

void test_device_replace(struct test_device *device)
{
	unsigned int ports = device->fake->ib.phys_port_cnt;

	test_device_release(device);
	device->fake = fake_device_alloc(ports);
	KUNIT_ASSERT_NOT_NULL(device->test, device->fake);
}

struct test_device *test_device_new(struct kunit *test, const char *name)
{
	struct test_device *device = test_device_alloc(test, 1);

	KUNIT_ASSERT_EQ(test, 0, test_device_register(device, name));
	return device;
}
