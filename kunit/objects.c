// SPDX-License-Identifier: GPL-2.0
/* All of krdma's objects that a test has created are gone after it. */
#include <linux/delay.h>
#include <linux/jiffies.h>

#include "../krdma/core/objects.h"
#include "objects.h"

/* Connections end in work items, which wait for their peers, and RCU callbacks take time, too. */
#define TEST_OBJECTS_PATIENCE	(10 * HZ)

/**
 * struct test_objects - the number of objects before a test
 * @test: the test
 * @before: by kind
 */
struct test_objects {
	struct kunit *test;
	int before[KRDMA_OBJECT_KINDS];
};

static void test_objects_release(void *context)
{
	unsigned long end = jiffies + TEST_OBJECTS_PATIENCE;
	struct test_objects *objects = context;
	enum krdma_object_kind kind;

	for (kind = 0; kind < KRDMA_OBJECT_KINDS; kind++) {
		while (krdma_object_read(kind) > objects->before[kind] && time_before(jiffies, end))
			fsleep(1000);
		KUNIT_EXPECT_LE_MSG(objects->test, krdma_object_read(kind), objects->before[kind],
				    "objects are left: %s", krdma_object_name(kind));
	}
}

int test_objects_init(struct kunit *test)
{
	struct test_objects *objects;
	enum krdma_object_kind kind;

	objects = kunit_kzalloc(test, sizeof(*objects), GFP_KERNEL);
	if (!objects)
		return -ENOMEM;
	objects->test = test;
	for (kind = 0; kind < KRDMA_OBJECT_KINDS; kind++)
		objects->before[kind] = krdma_object_read(kind);
	return kunit_add_action_or_reset(test, test_objects_release, objects);
}
