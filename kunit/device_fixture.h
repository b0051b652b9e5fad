/* SPDX-License-Identifier: GPL-2.0 */
/* Fake devices that are removed when the test ends, however it ends. */
#ifndef _KRDMA_KUNIT_DEVICE_FIXTURE_H
#define _KRDMA_KUNIT_DEVICE_FIXTURE_H

#include <kunit/test.h>

#include "fake_device.h"

/**
 * struct test_device - a fake device of a test
 * @test: the test
 * @fake: the device, NULL when it was freed
 * @registered: it is registered with ib_core
 */
struct test_device {
	struct kunit *test;
	struct fake_device *fake;
	bool registered;
};

/* Skips the test if the personality has no fast registration. */
void test_needs_fast_reg(struct kunit *test);

/* A device that is not registered; aborts the test if there is no memory. */
struct test_device *test_device_alloc(struct kunit *test, unsigned int ports);

int test_device_register(struct test_device *device, const char *name);
void test_device_unregister(struct test_device *device);

/*
 * Frees the device; a new one, not registered, takes its place.  An ib_device can be registered
 * only once, and keeps its name until it is freed.
 */
void test_device_replace(struct test_device *device);

/* Allocated and registered, which must succeed. */
struct test_device *test_device_new(struct kunit *test, const char *name);

#endif /* _KRDMA_KUNIT_DEVICE_FIXTURE_H */
