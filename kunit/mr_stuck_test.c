// SPDX-License-Identifier: GPL-2.0
/* Memory whose rkey the device cannot end: nothing else gets it. */
#include <kunit/test.h>
#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <rdma/ib_verbs.h>

#include "core/session.h"
#include "mr/mem.h"
#include "mr/mr.h"
#include "objects.h"
#include "stage.h"

static long pinned(void)
{
	return atomic64_read(&current->mm->pinned_vm);
}

static void device_put(void *dev)
{
	krdma_device_put(dev);
}

static void mr_ended(void *context)
{
}

static void mr_freed(void *context)
{
	complete(context);
}

static void stuck_deregister(struct kunit *test, struct krdma_mr *mr)
{
	DECLARE_COMPLETION_ONSTACK(freed);

	KUNIT_ASSERT_EQ(test, 0, krdma_mr_notify(mr, mr_ended, mr_freed, &freed));
	KUNIT_ASSERT_EQ(test, 0, krdma_mr_deregister(mr));
	wait_for_completion(&freed);
}

static struct krdma_mr *stuck_register(struct kunit *test, struct stage *stage,
				       unsigned long address)
{
	struct krdma_device *dev = krdma_device_get_by_name(&init_net, STAGE_DEVICE);
	struct krdma_mr *mr;

	KUNIT_ASSERT_NOT_NULL(test, dev);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, device_put, dev));
	/* So krdma pins the page. */
	mr = krdma_mr_register_user_for_lanes(stage->session, dev, address, PAGE_SIZE,
					      KRDMA_ACCESS_LOCAL_WRITE |
					      KRDMA_ACCESS_REMOTE_WRITE);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, mr);
	KUNIT_EXPECT_EQ(test, 1, pinned());
	return mr;
}

/* Waits until the session has no PD any more. */
static bool stuck_pd_ends(struct stage *stage)
{
	for (unsigned int i = 0; i < 250; i++) {
		if (xa_empty(&stage->session->pds)) {
			/* The device's part ends next. */
			msleep(20);
			return true;
		}
		msleep(20);
	}
	return false;
}

/* Undo what is left for ever.  The PD goes with the device: ib_core warns of one that does not. */
static void stuck_free(struct ib_mr *ib_mr, unsigned long address)
{
	struct page *page;

	ib_mr->device->ops.dereg_mr(ib_mr, NULL);
	atomic64_dec(&current->mm->pinned_vm);
	mmdrop(current->mm);
	if (pin_user_pages_fast(address, 1, FOLL_WRITE, &page) != 1)
		return;
	unpin_user_page(page);
	unpin_user_page(page);
}

static void test_pages_of_a_key_that_stays(struct kunit *test)
{
	struct stage *stage = stage_new(test, NULL);
	unsigned long address;
	struct ib_mr *ib_mr;
	struct krdma_mr *mr;

	address = kunit_vm_mmap(test, NULL, 0, PAGE_SIZE, PROT_READ | PROT_WRITE,
				MAP_ANONYMOUS | MAP_PRIVATE, 0);
	KUNIT_ASSERT_NE(test, 0, address);

	mr = stuck_register(test, stage, address);
	stuck_deregister(test, mr);
	KUNIT_EXPECT_EQ(test, 0, pinned());

	mr = stuck_register(test, stage, address);
	ib_mr = mr->mem->one.ib;
	fake_device_fail(stage->fake, FAKE_DEREG_MR, 1, -EBUSY);
	stuck_deregister(test, mr);
	KUNIT_EXPECT_EQ(test, 1, pinned());
	/* In another PD of the same number, the rkey would lead to this memory. */
	KUNIT_EXPECT_TRUE(test, stuck_pd_ends(stage));
	KUNIT_EXPECT_EQ(test, 1, atomic_read(&stage->fake->live[FAKE_PD]));
	stuck_free(ib_mr, address);
}

static void test_kernel_memory_of_a_key_that_stays(struct kunit *test)
{
	void *buffer = kunit_kzalloc(test, PAGE_SIZE, GFP_KERNEL);
	struct stage *stage = stage_new(test, NULL);
	DECLARE_COMPLETION_ONSTACK(freed);
	struct krdma_device *dev;
	struct ib_mr *ib_mr;
	struct krdma_mr *mr;

	KUNIT_ASSERT_NOT_NULL(test, buffer);
	dev = krdma_device_get_by_name(&init_net, STAGE_DEVICE);
	KUNIT_ASSERT_NOT_NULL(test, dev);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, device_put, dev));
	mr = krdma_mr_register(stage->session, dev, buffer, PAGE_SIZE,
			       KRDMA_ACCESS_LOCAL_WRITE | KRDMA_ACCESS_REMOTE_WRITE);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, mr);
	KUNIT_ASSERT_EQ(test, 0, krdma_mr_notify(mr, mr_ended, mr_freed, &freed));
	ib_mr = mr->mem->one.ib;
	fake_device_fail(stage->fake, FAKE_DEREG_MR, 1, -EBUSY);
	/* Its owner is told, and not that it is free. */
	KUNIT_EXPECT_EQ(test, -EIO, krdma_mr_deregister(mr));
	KUNIT_EXPECT_FALSE(test, completion_done(&freed));
	KUNIT_EXPECT_TRUE(test, stuck_pd_ends(stage));
	KUNIT_EXPECT_EQ(test, 1, atomic_read(&stage->fake->live[FAKE_PD]));
	ib_mr->device->ops.dereg_mr(ib_mr, NULL);
}

static struct kunit_case stuck_cases[] = {
	KUNIT_CASE(test_pages_of_a_key_that_stays),
	KUNIT_CASE(test_kernel_memory_of_a_key_that_stays),
	{}
};

static int stuck_init(struct kunit *test)
{
	test_needs_fast_reg(test);
	return test_objects_init(test);
}

static struct kunit_suite stuck_suite = {
	.name = "krdma_mr_stuck",
	.init = stuck_init,
	.test_cases = stuck_cases,
};

kunit_test_suite(stuck_suite);
