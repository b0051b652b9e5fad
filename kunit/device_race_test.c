// SPDX-License-Identifier: GPL-2.0
/*
 * The table of devices with several threads: removal while the device is in use, and lookups while
 * devices come and go.
 */
#include <kunit/test.h>
#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/sched.h>
#include <net/net_namespace.h>

#include <krdma/krdma.h>

#include "core/device.h"
#include "device_fixture.h"
#include "objects.h"
#include "core/private.h"

#define NAME		"kfake"

/* Long enough for a removal that does not wait to have ended. */
#define SHORT_WHILE	msecs_to_jiffies(300)
/* Only a hang takes longer, even on the slowest machine. */
#define LONG_WHILE	(60 * HZ)

#define THREADS		3
#define CYCLES		20

/* The thread of a test; @done is completed when its function returns. */
struct worker {
	struct task_struct *task;
	struct completion done;
};

static void start(struct kunit *test, struct worker *worker, int (*function)(void *), void *context)
{
	worker->task = kthread_run(function, context, "krdma-kunit");
	KUNIT_ASSERT_FALSE(test, IS_ERR(worker->task));
}

/* State that the threads of a removal test share. */
struct removal {
	struct test_device *device;
	struct krdma_device *dev;

	struct worker holder;
	struct completion inside;
	struct completion leave;
	int ret;
	bool entered;

	struct worker remover;
};

static int remove_device(void *context)
{
	struct removal *removal = context;

	test_device_unregister(removal->device);
	complete(&removal->remover.done);
	return 0;
}

static int hold_gate(void *context)
{
	struct removal *removal = context;

	removal->entered = krdma_device_get_ibdev(removal->dev) == &removal->device->fake->ib;
	complete(&removal->inside);
	wait_for_completion(&removal->leave);
	if (removal->entered)
		krdma_device_put_ibdev(removal->dev);
	complete(&removal->holder.done);
	return 0;
}

static int query_port(void *context)
{
	struct removal *removal = context;
	struct krdma_port_attr port;

	removal->ret = krdma_device_query_port(removal->dev, &init_net, 1, &port);
	complete(&removal->holder.done);
	return 0;
}

static struct removal *removal_begin(struct kunit *test)
{
	struct removal *removal = kunit_kzalloc(test, sizeof(*removal), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, removal);
	init_completion(&removal->inside);
	init_completion(&removal->leave);
	init_completion(&removal->holder.done);
	init_completion(&removal->remover.done);
	removal->device = test_device_new(test, NAME);
	removal->dev = krdma_device_get_by_name(&init_net, NAME);
	KUNIT_ASSERT_NOT_NULL(test, removal->dev);
	return removal;
}

/* The removal has begun and is not over, and the device cannot be entered any more. */
static void expect_waiting(struct kunit *test, struct removal *removal)
{
	unsigned long deadline = jiffies + LONG_WHILE;
	struct krdma_device_attr attr;
	struct krdma_port_attr port;

	/* The thread of the removal may be late. */
	while (krdma_device_get_ibdev(removal->dev)) {
		krdma_device_put_ibdev(removal->dev);
		if (time_after(jiffies, deadline))
			break;
		schedule_timeout_uninterruptible(1);
	}
	KUNIT_EXPECT_EQ_MSG(test, 0,
			    wait_for_completion_timeout(&removal->remover.done, SHORT_WHILE),
			    "the removal did not wait");
	KUNIT_EXPECT_NULL(test, krdma_device_get_by_name(&init_net, NAME));
	KUNIT_EXPECT_NULL(test, krdma_device_get_ibdev(removal->dev));
	KUNIT_EXPECT_EQ(test, -ENODEV, krdma_device_query_attr(removal->dev, &attr));
	KUNIT_EXPECT_EQ(test, -ENODEV, krdma_device_query_port(removal->dev, &init_net, 1, &port));
}

static void expect_over(struct kunit *test, struct removal *removal)
{
	KUNIT_EXPECT_NE(test, 0, wait_for_completion_timeout(&removal->holder.done, LONG_WHILE));
	KUNIT_EXPECT_NE(test, 0, wait_for_completion_timeout(&removal->remover.done, LONG_WHILE));
	krdma_device_put(removal->dev);
}

/* Proves: A17, B8 */
static void test_removal_waits_for_the_gate(struct kunit *test)
{
	struct removal *removal = removal_begin(test);

	start(test, &removal->holder, hold_gate, removal);
	wait_for_completion(&removal->inside);
	KUNIT_EXPECT_TRUE(test, removal->entered);

	start(test, &removal->remover, remove_device, removal);
	expect_waiting(test, removal);
	complete(&removal->leave);
	expect_over(test, removal);
}

static void test_removal_waits_for_the_provider(struct kunit *test)
{
	struct removal *removal = removal_begin(test);
	struct fake_pause pause;

	fake_device_pause_port(removal->device->fake, &pause);
	start(test, &removal->holder, query_port, removal);
	wait_for_completion(&pause.entered);

	start(test, &removal->remover, remove_device, removal);
	expect_waiting(test, removal);
	fake_device_pause_port(removal->device->fake, NULL);
	complete_all(&pause.go_on);
	expect_over(test, removal);
	/* A caller that entered before the removal gets its answer. */
	KUNIT_EXPECT_EQ(test, 0, removal->ret);
}

/* The removal does not wait for references. */
static void test_removal_does_not_wait_for_references(struct kunit *test)
{
	struct removal *removal = removal_begin(test);

	complete(&removal->holder.done);
	start(test, &removal->remover, remove_device, removal);
	expect_over(test, removal);
}

struct storm {
	struct worker workers[THREADS];
	atomic_t next_worker;
	atomic_t found;
	atomic_t missing;
	/* Line of the first failed check. */
	atomic_t wrong_line;
	bool stop;
};

static void storm_check(struct storm *storm, bool holds, int line)
{
	if (!holds)
		atomic_cmpxchg(&storm->wrong_line, 0, line);
}

#define STORM_CHECK(storm, condition) storm_check(storm, condition, __LINE__)

static void storm_look_at(struct storm *storm, struct krdma_device *dev)
{
	struct krdma_device_attr attr;
	struct krdma_port_attr port;
	int ret;

	ret = krdma_device_query_attr(dev, &attr);
	STORM_CHECK(storm, ret == 0 || ret == -ENODEV);
	if (!ret)
		STORM_CHECK(storm, attr.id && attr.limits.max_send_wr);
	ret = krdma_device_query_port(dev, &init_net, 1, &port);
	STORM_CHECK(storm, ret == 0 || ret == -ENODEV);
	krdma_device_put(dev);
}

static int storm_thread(void *context)
{
	struct storm *storm = context;
	struct worker *worker = &storm->workers[atomic_inc_return(&storm->next_worker) - 1];
	struct krdma_device_attr attr;
	struct krdma_device *dev;

	while (!READ_ONCE(storm->stop)) {
		dev = krdma_device_get_by_name(&init_net, NAME);
		if (dev) {
			atomic_inc(&storm->found);
			storm_look_at(storm, dev);
		} else {
			atomic_inc(&storm->missing);
		}
		dev = krdma_device_next(&init_net, 1);
		if (dev && !krdma_device_query_attr(dev, &attr)) {
			struct krdma_device *again = krdma_device_get_by_id(&init_net, attr.id);

			STORM_CHECK(storm, !again || again == dev);
			krdma_device_put(again);
		}
		krdma_device_put(dev);
		/*
		 * In virtual time only this advances the clock: a shorter delay makes many times as
		 * many rounds of the time between two ticks.
		 */
		udelay(5);
		cond_resched();
	}
	complete(&worker->done);
	return 0;
}

/* Proves: A1, A7 */
static void test_lookups_while_devices_come_and_go(struct kunit *test)
{
	struct storm *storm = kunit_kzalloc(test, sizeof(*storm), GFP_KERNEL);
	struct fake_device *fake;
	int ret = 0;
	int i;

	KUNIT_ASSERT_NOT_NULL(test, storm);
	for (i = 0; i < THREADS; i++)
		init_completion(&storm->workers[i].done);
	for (i = 0; i < THREADS; i++)
		start(test, &storm->workers[i], storm_thread, storm);

	/* No assertion in this loop: the threads must be stopped in any case. */
	for (i = 0; i < CYCLES && !ret; i++) {
		fake = fake_device_alloc(1);
		if (!fake) {
			ret = -ENOMEM;
			break;
		}
		ret = fake_device_register(fake, NAME);
		if (!ret) {
			schedule_timeout_uninterruptible(1);
			fake_device_unregister(fake);
		}
		fake_device_free(fake);
	}
	WRITE_ONCE(storm->stop, true);
	for (i = 0; i < THREADS; i++)
		KUNIT_EXPECT_NE(test, 0, wait_for_completion_timeout(&storm->workers[i].done,
								     LONG_WHILE));

	KUNIT_EXPECT_EQ(test, 0, ret);
	KUNIT_EXPECT_EQ_MSG(test, 0, atomic_read(&storm->wrong_line), "see that line of %s",
			    __FILE__);
	/* Threads that never met the device, or never missed it, prove nothing. */
	KUNIT_EXPECT_GT(test, atomic_read(&storm->found), 0);
	KUNIT_EXPECT_GT(test, atomic_read(&storm->missing), 0);
}

static struct kunit_case device_race_cases[] = {
	KUNIT_CASE(test_removal_waits_for_the_gate),
	KUNIT_CASE(test_removal_waits_for_the_provider),
	KUNIT_CASE(test_removal_does_not_wait_for_references),
	KUNIT_CASE_SLOW(test_lookups_while_devices_come_and_go),
	{}
};

static struct kunit_suite device_race_suite = {
	.name = "krdma_device_race",
	.init = test_objects_init,
	.test_cases = device_race_cases,
};

kunit_test_suite(device_race_suite);
