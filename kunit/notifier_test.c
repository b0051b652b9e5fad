// SPDX-License-Identifier: GPL-2.0
/*
 * Device notifiers: which notifier gets which events of devices, in which order and how often, and
 * which calls wait for which.
 *
 * Modules cannot create a network namespace, so tools/testing tests that a notifier gets only
 * events of the devices of its namespace.
 */
#include <kunit/test.h>
#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <net/net_namespace.h>

#include <krdma/krdma.h>

#include "device_fixture.h"
#include "objects.h"

#define NAME		"kfake"
#define SECOND_NAME	"kfake_second"

/* Long enough for a call that does not wait to have returned. */
#define SHORT_WHILE	msecs_to_jiffies(300)
/* Only a hang takes longer, even on the slowest machine. */
#define LONG_WHILE	(60 * HZ)

#define CYCLES		20
#define MAX_EVENTS	1024

#define EVENT(kind, number) { .type = KRDMA_DEVICE_EVENT_##kind, .port = (number) }

/**
 * struct listener - a consumer
 * @watch: its device notifier
 * @started: the notifier was started and not stopped
 * @lock: protects @events and @count
 * @events: events that the callback got
 * @count: entries of @events
 * @changed: woken by each event
 * @slow: the callback waits at FATAL for @go_on
 * @entered: completed by the callback when it starts to wait
 * @go_on: lets the callback continue, then and later
 * @inside: callbacks that run now
 * @wrong: callbacks that ran when none may run
 */
struct listener {
	struct krdma_device_notifier watch;
	bool started;
	spinlock_t lock;	/* see above */
	struct krdma_device_event events[MAX_EVENTS];
	unsigned int count;
	wait_queue_head_t changed;
	bool slow;
	struct completion entered;
	struct completion go_on;
	atomic_t inside;
	atomic_t wrong;
};

static void listener_event(struct krdma_device_notifier *watch,
			   const struct krdma_device_event *event)
{
	struct listener *listener = container_of(watch, struct listener, watch);

	if (atomic_inc_return(&listener->inside) != 1)
		atomic_inc(&listener->wrong);

	spin_lock(&listener->lock);
	if (listener->count < MAX_EVENTS)
		listener->events[listener->count++] = *event;
	else
		atomic_inc(&listener->wrong);
	spin_unlock(&listener->lock);
	wake_up_all(&listener->changed);

	if (listener->slow && event->type == KRDMA_DEVICE_EVENT_FATAL) {
		complete_all(&listener->entered);
		wait_for_completion(&listener->go_on);
	}
	atomic_dec(&listener->inside);
}

static void listener_end(void *context)
{
	struct listener *listener = context;

	complete_all(&listener->go_on);
	if (listener->started)
		krdma_device_notifier_unregister(&listener->watch);
	listener->started = false;
}

static void listener_init(struct listener *listener)
{
	spin_lock_init(&listener->lock);
	init_waitqueue_head(&listener->changed);
	init_completion(&listener->entered);
	init_completion(&listener->go_on);
	listener->watch.event = listener_event;
}

static struct listener *listener_alloc(struct kunit *test)
{
	struct listener *listener = kunit_kzalloc(test, sizeof(*listener), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, listener);
	listener_init(listener);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, listener_end, listener));
	return listener;
}

static void listener_start(struct kunit *test, struct listener *listener)
{
	KUNIT_ASSERT_EQ(test, 0, krdma_device_notifier_register(&listener->watch, &init_net));
	listener->started = true;
}

static void listener_stop(struct listener *listener)
{
	krdma_device_notifier_unregister(&listener->watch);
	listener->started = false;
}

/* Counts the events of a device that the listener got; type 0 counts any event. */
static unsigned int listener_heard(struct listener *listener, u32 id, u32 type)
{
	unsigned int heard = 0;
	unsigned int i;

	spin_lock(&listener->lock);
	for (i = 0; i < listener->count; i++)
		heard += listener->events[i].device_id == id &&
			 (!type || listener->events[i].type == type);
	spin_unlock(&listener->lock);

	return heard;
}

static void listener_await(struct kunit *test, struct listener *listener, u32 id, u32 type,
			   unsigned int count)
{
	KUNIT_EXPECT_NE_MSG(test, 0,
			    wait_event_timeout(listener->changed,
					       listener_heard(listener, id, type) >= count,
					       LONG_WHILE),
			    "event %u of device %u did not come %u times", type, id, count);
}

/* The listener was stopped, and has got exactly these events of the device. */
static void listener_expect(struct kunit *test, struct listener *listener, u32 id,
			    const struct krdma_device_event *expected, unsigned int count)
{
	unsigned int seen = 0;
	unsigned int i;

	for (i = 0; i < listener->count; i++) {
		const struct krdma_device_event *event = &listener->events[i];

		if (event->device_id != id)
			continue;
		if (seen < count) {
			KUNIT_EXPECT_EQ_MSG(test, expected[seen].type, event->type,
					    "type of event %u", seen);
			KUNIT_EXPECT_EQ_MSG(test, expected[seen].port, event->port,
					    "port of event %u", seen);
		}
		seen++;
	}
	KUNIT_EXPECT_EQ(test, count, seen);
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&listener->wrong));
}

static u32 id_of(struct kunit *test, const char *name)
{
	struct krdma_device *dev = krdma_device_get_by_name(&init_net, name);
	struct krdma_device_attr attr = {};

	KUNIT_ASSERT_NOT_NULL(test, dev);
	KUNIT_EXPECT_EQ(test, 0, krdma_device_query_attr(dev, &attr));
	krdma_device_put(dev);
	KUNIT_ASSERT_NE(test, 0, attr.id);
	return attr.id;
}

/*
 * Does what ib_core does with an event after queuing and examining it, but for any event.  All
 * handlers have run when this returns.
 */
static void tell_handlers(struct test_device *device, enum ib_event_type type, u32 port)
{
	struct ib_device *ib = &device->fake->ib;
	struct ib_event event = { .device = ib, .event = type, .element.port_num = port };
	struct ib_event_handler *handler;

	down_read(&ib->event_handler_rwsem);
	list_for_each_entry(handler, &ib->event_handler_list, list)
		handler->handler(handler, &event);
	up_read(&ib->event_handler_rwsem);
}

static struct test_device *device_with_two_ports(struct kunit *test)
{
	struct test_device *device = test_device_alloc(test, 2);

	KUNIT_ASSERT_EQ(test, 0, test_device_register(device, NAME));
	return device;
}

/* The device's last event has arrived, and the notifier is stopped: no event is added any more. */
static void await_end(struct kunit *test, struct listener *listener, u32 id)
{
	listener_await(test, listener, id, KRDMA_DEVICE_EVENT_REMOVED, 1);
	listener_stop(listener);
}

static const struct krdma_device_event come_and_gone[] = { EVENT(ADDED, 0), EVENT(REMOVED, 0) };

static void test_everybody_hears_of_a_device(struct kunit *test)
{
	struct listener *listeners[2];
	struct test_device *device;
	int i;
	u32 id;

	for (i = 0; i < ARRAY_SIZE(listeners); i++) {
		listeners[i] = listener_alloc(test);
		listener_start(test, listeners[i]);
	}
	device = test_device_new(test, NAME);
	id = id_of(test, NAME);
	test_device_unregister(device);
	for (i = 0; i < ARRAY_SIZE(listeners); i++) {
		await_end(test, listeners[i], id);
		listener_expect(test, listeners[i], id, come_and_gone, ARRAY_SIZE(come_and_gone));
	}
}

/* More than are told with the lock held. */
static void test_many_hear_of_a_device(struct kunit *test)
{
	static const struct krdma_device_event expected[] = {
		EVENT(ADDED, 0), EVENT(PORT_ERROR, 1), EVENT(REMOVED, 0),
	};
	struct listener *listeners[100];
	struct test_device *device;
	u32 id;

	for (unsigned int i = 0; i < ARRAY_SIZE(listeners); i++) {
		listeners[i] = listener_alloc(test);
		listener_start(test, listeners[i]);
	}
	device = test_device_new(test, NAME);
	id = id_of(test, NAME);
	tell_handlers(device, IB_EVENT_PORT_ERR, 1);
	for (unsigned int i = 0; i < ARRAY_SIZE(listeners); i++)
		listener_await(test, listeners[i], id, KRDMA_DEVICE_EVENT_PORT_ERROR, 1);
	test_device_unregister(device);
	for (unsigned int i = 0; i < ARRAY_SIZE(listeners); i++) {
		await_end(test, listeners[i], id);
		listener_expect(test, listeners[i], id, expected, ARRAY_SIZE(expected));
	}
}

/* What has happened just before the removal is told, too. */
static void test_event_before_the_removal(struct kunit *test)
{
	static const struct krdma_device_event expected[] = {
		EVENT(ADDED, 0), EVENT(FATAL, 0), EVENT(REMOVED, 0),
	};
	struct listener *listener = listener_alloc(test);
	struct test_device *device;
	u32 id;

	listener_start(test, listener);
	device = test_device_new(test, NAME);
	id = id_of(test, NAME);
	tell_handlers(device, IB_EVENT_DEVICE_FATAL, 0);
	test_device_unregister(device);
	await_end(test, listener, id);
	listener_expect(test, listener, id, expected, ARRAY_SIZE(expected));
}

static void test_devices_that_are_there_already(struct kunit *test)
{
	struct listener *listener = listener_alloc(test);
	struct test_device *first = test_device_new(test, NAME);
	struct test_device *second = test_device_new(test, SECOND_NAME);
	u32 first_id = id_of(test, NAME);
	u32 second_id = id_of(test, SECOND_NAME);
	u32 there = krdma_device_count(&init_net);

	listener_start(test, listener);
	listener_await(test, listener, first_id, KRDMA_DEVICE_EVENT_ADDED, 1);
	listener_await(test, listener, second_id, KRDMA_DEVICE_EVENT_ADDED, 1);
	KUNIT_EXPECT_EQ(test, there, listener->count);
	/* The last two events are those of the two devices. */
	KUNIT_EXPECT_EQ(test, first_id, listener->events[there - 2].device_id);
	KUNIT_EXPECT_EQ(test, second_id, listener->events[there - 1].device_id);

	test_device_unregister(second);
	listener_await(test, listener, second_id, KRDMA_DEVICE_EVENT_REMOVED, 1);
	test_device_unregister(first);
	await_end(test, listener, first_id);
	listener_expect(test, listener, first_id, come_and_gone, ARRAY_SIZE(come_and_gone));
	listener_expect(test, listener, second_id, come_and_gone, ARRAY_SIZE(come_and_gone));
}

static void test_started_again_it_hears_all_again(struct kunit *test)
{
	struct listener *listener = listener_alloc(test);
	u32 id;

	test_device_new(test, NAME);
	id = id_of(test, NAME);
	listener_start(test, listener);
	listener_await(test, listener, id, KRDMA_DEVICE_EVENT_ADDED, 1);
	listener_stop(listener);
	listener_start(test, listener);
	listener_await(test, listener, id, KRDMA_DEVICE_EVENT_ADDED, 2);
}

static void test_nobody_hears_of_a_device_that_is_not_served(struct kunit *test)
{
	struct listener *listener = listener_alloc(test);
	struct test_device *device = test_device_alloc(test, 1);
	unsigned int count;
	u32 id;

	/* ib_core refuses the device before it calls krdma: no event of it, now or later. */
	listener_start(test, listener);
	fake_device_fail(device->fake, FAKE_QUERY_DEVICE, 1, -EIO);
	KUNIT_EXPECT_NE(test, 0, test_device_register(device, NAME));
	test_device_replace(device);

	count = listener->count;
	KUNIT_ASSERT_EQ(test, 0, test_device_register(device, NAME));
	id = id_of(test, NAME);
	listener_await(test, listener, id, KRDMA_DEVICE_EVENT_ADDED, 1);
	KUNIT_EXPECT_LE(test, count, krdma_device_count(&init_net));
}

/* The krdma event for an event of ib_core; 0 if there is none. */
static u32 translated(u32 type)
{
	switch (type) {
	case IB_EVENT_PORT_ACTIVE:
		return KRDMA_DEVICE_EVENT_PORT_ACTIVE;
	case IB_EVENT_PORT_ERR:
		return KRDMA_DEVICE_EVENT_PORT_ERROR;
	case IB_EVENT_GID_CHANGE:
	case IB_EVENT_CLIENT_REREGISTER:
		return KRDMA_DEVICE_EVENT_ADDRESS_CHANGED;
	case IB_EVENT_DEVICE_FATAL:
		return KRDMA_DEVICE_EVENT_FATAL;
	default:
		return 0;
	}
}

/* Every event that exists and some that do not, on ports that exist and some that do not. */
/* Proves: A10 */
static void test_each_event(struct kunit *test)
{
	static const u32 ports[] = { 0, 1, 2, 3, U32_MAX };
	struct listener *listener = listener_alloc(test);
	struct test_device *device = device_with_two_ports(test);
	struct krdma_device_event *expected;
	u32 id = id_of(test, NAME);
	unsigned int count = 0;
	u32 type;
	int i;

	expected = kunit_kcalloc(test, MAX_EVENTS, sizeof(*expected), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, expected);
	expected[count++].type = KRDMA_DEVICE_EVENT_ADDED;
	listener_start(test, listener);

	for (type = 0; type < 64; type++) {
		for (i = 0; i < ARRAY_SIZE(ports); i++) {
			u32 meaning = translated(type);
			bool fatal = meaning == KRDMA_DEVICE_EVENT_FATAL;

			tell_handlers(device, type, ports[i]);
			if (!meaning || (!fatal && (!ports[i] || ports[i] > 2)))
				continue;
			expected[count].type = meaning;
			expected[count++].port = fatal ? 0 : ports[i];
			listener_await(test, listener, id, 0, count);
		}
	}
	/* Four types on two ports, and one type of the device, on whatever port. */
	KUNIT_EXPECT_EQ(test, 1 + 4 * 2 + ARRAY_SIZE(ports), count);

	test_device_unregister(device);
	expected[count++].type = KRDMA_DEVICE_EVENT_REMOVED;
	await_end(test, listener, id);
	listener_expect(test, listener, id, expected, count);
}

/* Proves: B7 */
static void test_events_come_through_ib_core(struct kunit *test)
{
	static const struct krdma_device_event expected[] = {
		EVENT(ADDED, 0), EVENT(PORT_ERROR, 2), EVENT(PORT_ACTIVE, 2), EVENT(FATAL, 0),
		EVENT(REMOVED, 0),
	};
	static const enum ib_event_type types[] = {
		IB_EVENT_PORT_ERR, IB_EVENT_PORT_ACTIVE, IB_EVENT_DEVICE_FATAL,
	};
	struct listener *listener = listener_alloc(test);
	struct test_device *device = device_with_two_ports(test);
	u32 id = id_of(test, NAME);
	int i;

	listener_start(test, listener);
	for (i = 0; i < ARRAY_SIZE(types); i++) {
		struct ib_event event = {
			.device = &device->fake->ib, .event = types[i], .element.port_num = 2,
		};

		ib_dispatch_event(&event);
		/* ib_core does not keep the order of events. */
		listener_await(test, listener, id, 0, i + 2);
	}
	test_device_unregister(device);
	await_end(test, listener, id);
	listener_expect(test, listener, id, expected, ARRAY_SIZE(expected));
}

/* A function that must have returned, or must not have returned yet. */
struct worker {
	struct task_struct *task;
	struct completion done;
	struct test_device *device;
	struct listener *listener;
};

static int unregister_device(void *context)
{
	struct worker *worker = context;

	test_device_unregister(worker->device);
	complete(&worker->done);
	return 0;
}

static int stop_listener(void *context)
{
	struct worker *worker = context;

	listener_stop(worker->listener);
	complete(&worker->done);
	return 0;
}

static void start(struct kunit *test, struct worker *worker, int (*function)(void *))
{
	init_completion(&worker->done);
	worker->task = kthread_run(function, worker, "krdma-kunit");
	KUNIT_ASSERT_FALSE(test, IS_ERR(worker->task));
}

/* A listener whose callback waits at FATAL of a device with two ports. */
static struct listener *slow_listener(struct kunit *test, struct test_device **device, u32 *id)
{
	struct listener *listener = listener_alloc(test);

	listener->slow = true;
	listener_start(test, listener);
	*device = device_with_two_ports(test);
	*id = id_of(test, NAME);
	listener_await(test, listener, *id, KRDMA_DEVICE_EVENT_ADDED, 1);
	tell_handlers(*device, IB_EVENT_DEVICE_FATAL, 0);
	KUNIT_ASSERT_NE(test, 0, wait_for_completion_timeout(&listener->entered, LONG_WHILE));
	return listener;
}

/*
 * Events that happen while the consumer is busy are not lost, and are reported once.  The last
 * event reported for each port is its current state.  The removal does not wait for the consumer.
 */
static void test_a_slow_consumer(struct kunit *test)
{
	static const struct krdma_device_event expected[] = {
		EVENT(ADDED, 0), EVENT(FATAL, 0), EVENT(FATAL, 0),
		EVENT(PORT_ERROR, 1), EVENT(PORT_ACTIVE, 1),
		EVENT(PORT_ACTIVE, 2), EVENT(PORT_ERROR, 2), EVENT(ADDRESS_CHANGED, 2),
		EVENT(REMOVED, 0),
	};
	struct worker remover = {};
	struct listener *listener;
	int i;
	u32 id;

	listener = slow_listener(test, &remover.device, &id);
	for (i = 0; i < 3; i++) {
		tell_handlers(remover.device, IB_EVENT_GID_CHANGE, 2);
		tell_handlers(remover.device, IB_EVENT_PORT_ACTIVE, 1);
		tell_handlers(remover.device, IB_EVENT_PORT_ERR, 2);
		tell_handlers(remover.device, IB_EVENT_PORT_ERR, 1);
		tell_handlers(remover.device, IB_EVENT_PORT_ACTIVE, 2);
		tell_handlers(remover.device, IB_EVENT_DEVICE_FATAL, 0);
	}
	tell_handlers(remover.device, IB_EVENT_PORT_ERR, 2);
	tell_handlers(remover.device, IB_EVENT_PORT_ACTIVE, 1);

	start(test, &remover, unregister_device);
	KUNIT_EXPECT_NE_MSG(test, 0, wait_for_completion_timeout(&remover.done, LONG_WHILE / 2),
			    "the removal waits for the consumer");
	KUNIT_EXPECT_EQ(test, 2, listener_heard(listener, id, 0));

	complete_all(&listener->go_on);
	await_end(test, listener, id);
	listener_expect(test, listener, id, expected, ARRAY_SIZE(expected));
}

/* Also many slow ones do not. */
static void test_a_slow_consumer_holds_up_nobody(struct kunit *test)
{
	struct listener *others[2], *more[16];
	struct test_device *device;
	struct listener *slow;
	int i;
	u32 id;

	slow = slow_listener(test, &device, &id);
	for (i = 0; i < ARRAY_SIZE(more); i++) {
		more[i] = listener_alloc(test);
		more[i]->slow = true;
		listener_start(test, more[i]);
		listener_await(test, more[i], id, KRDMA_DEVICE_EVENT_ADDED, 1);
	}
	tell_handlers(device, IB_EVENT_DEVICE_FATAL, 0);
	for (i = 0; i < ARRAY_SIZE(more); i++)
		KUNIT_ASSERT_NE(test, 0, wait_for_completion_timeout(&more[i]->entered,
								     LONG_WHILE));
	for (i = 0; i < ARRAY_SIZE(others); i++) {
		others[i] = listener_alloc(test);
		listener_start(test, others[i]);
	}
	for (i = 0; i < ARRAY_SIZE(others); i++)
		listener_await(test, others[i], id, KRDMA_DEVICE_EVENT_ADDED, 1);
	/* Stopping other notifiers does not wait either. */
	listener_stop(others[0]);
	test_device_unregister(device);
	await_end(test, others[1], id);
	listener_expect(test, others[0], id, come_and_gone, 1);
	listener_expect(test, others[1], id, come_and_gone, ARRAY_SIZE(come_and_gone));
	KUNIT_EXPECT_EQ(test, 2, listener_heard(slow, id, 0));
}

static void test_stopping_waits_for_the_callback(struct kunit *test)
{
	static const struct krdma_device_event expected[] = { EVENT(ADDED, 0), EVENT(FATAL, 0) };
	unsigned long deadline = jiffies + LONG_WHILE;
	struct test_device *device;
	struct worker stopper = {};
	u32 id;

	stopper.listener = slow_listener(test, &device, &id);
	start(test, &stopper, stop_listener);
	/* The thread must be inside the call before more events come. */
	while (!(READ_ONCE(stopper.task->__state) & TASK_UNINTERRUPTIBLE) &&
	       time_before(jiffies, deadline))
		schedule_timeout_uninterruptible(1);
	KUNIT_EXPECT_EQ_MSG(test, 0, wait_for_completion_timeout(&stopper.done, SHORT_WHILE),
			    "stopping did not wait");
	tell_handlers(device, IB_EVENT_PORT_ERR, 1);
	test_device_unregister(device);

	complete_all(&stopper.listener->go_on);
	KUNIT_ASSERT_NE(test, 0, wait_for_completion_timeout(&stopper.done, LONG_WHILE));
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&stopper.listener->inside));
	/* Pending events are dropped, and none comes later. */
	listener_expect(test, stopper.listener, id, expected, ARRAY_SIZE(expected));
}

/**
 * struct storm - device notifiers start and stop while devices are added, send events, and go
 * @listener: a listener of the thread
 * @done: completed when the thread ends
 * @rounds: number of times it started and stopped
 * @heard: events that it got
 * @wrong_line: line of the first failed check
 * @stop: set to end the thread
 */
struct storm {
	struct listener listener;
	struct completion done;
	unsigned int rounds;
	unsigned int heard;
	int wrong_line;
	bool stop;
};

/* Of each device: ADDED first and once, nothing after REMOVED. */
static int storm_judge(const struct listener *listener)
{
	unsigned int i, j;

	for (i = 0; i < listener->count; i++) {
		const struct krdma_device_event *event = &listener->events[i];
		bool adds = event->type == KRDMA_DEVICE_EVENT_ADDED;
		bool added = false;

		for (j = 0; j < i; j++) {
			if (listener->events[j].device_id != event->device_id)
				continue;
			if (listener->events[j].type == KRDMA_DEVICE_EVENT_REMOVED)
				return __LINE__;
			if (listener->events[j].type == KRDMA_DEVICE_EVENT_ADDED)
				added = true;
		}
		if (added == adds)
			return __LINE__;
	}
	return atomic_read(&listener->wrong) ? __LINE__ : 0;
}

static int storm_thread(void *context)
{
	struct storm *storm = context;
	struct listener *listener = &storm->listener;

	while (!READ_ONCE(storm->stop) && !storm->wrong_line) {
		listener->count = 0;
		if (krdma_device_notifier_register(&listener->watch, &init_net)) {
			storm->wrong_line = __LINE__;
			break;
		}
		schedule_timeout_uninterruptible(storm->rounds % 4);
		krdma_device_notifier_unregister(&listener->watch);
		if (atomic_read(&listener->inside))
			storm->wrong_line = __LINE__;
		else
			storm->wrong_line = storm_judge(listener);
		storm->heard += listener->count;
		storm->rounds++;
	}
	complete(&storm->done);
	return 0;
}

static int storm_device(unsigned int cycle)
{
	struct fake_device *fake = fake_device_alloc(1);
	struct ib_event event = { .element.port_num = 1 };
	unsigned int i;
	int ret;

	if (!fake)
		return -ENOMEM;
	ret = fake_device_register(fake, NAME);
	if (!ret) {
		event.device = &fake->ib;
		for (i = 0; i < cycle % 8; i++) {
			event.event = i % 2 ? IB_EVENT_PORT_ACTIVE : IB_EVENT_PORT_ERR;
			ib_dispatch_event(&event);
		}
		if (cycle % 2)
			schedule_timeout_uninterruptible(1);
		fake_device_unregister(fake);
	}
	fake_device_free(fake);
	return ret;
}

/* A thread that never met a device proves nothing. */
static bool storms_have_heard(struct storm *storms[2])
{
	int i;

	for (i = 0; i < 2; i++)
		if (READ_ONCE(storms[i]->rounds) < 2 || !READ_ONCE(storms[i]->heard))
			return false;
	return true;
}

static void test_watches_while_devices_come_and_go(struct kunit *test)
{
	struct listener *steady = listener_alloc(test);
	struct storm *storms[2];
	unsigned int added = 0, removed = 0;
	unsigned long deadline;
	struct task_struct *task;
	unsigned int cycles;
	int ret = 0;
	int i;

	for (i = 0; i < ARRAY_SIZE(storms); i++) {
		storms[i] = kunit_kzalloc(test, sizeof(*storms[i]), GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, storms[i]);
		listener_init(&storms[i]->listener);
		init_completion(&storms[i]->done);
	}
	listener_start(test, steady);
	for (i = 0; i < ARRAY_SIZE(storms); i++) {
		task = kthread_run(storm_thread, storms[i], "krdma-kunit");
		if (IS_ERR(task)) {
			ret = PTR_ERR(task);
			complete(&storms[i]->done);
		}
	}

	/* No assertion in this loop: the threads must be stopped in any case. */
	for (cycles = 0; !ret && cycles < CYCLES; cycles++)
		ret = storm_device(cycles);
	/* The threads may have started late. */
	for (; !ret && cycles < 4 * CYCLES && !storms_have_heard(storms); cycles++)
		ret = storm_device(cycles);
	for (i = 0; i < ARRAY_SIZE(storms); i++) {
		WRITE_ONCE(storms[i]->stop, true);
		wait_for_completion(&storms[i]->done);
		KUNIT_EXPECT_EQ_MSG(test, 0, storms[i]->wrong_line, "see that line of %s",
				    __FILE__);
		/* A thread that never met a device proves nothing. */
		KUNIT_EXPECT_GT(test, storms[i]->rounds, 1);
		KUNIT_EXPECT_GT(test, storms[i]->heard, 0);
	}
	KUNIT_EXPECT_EQ(test, 0, ret);

	/* The listener that was there all the time has missed no event. */
	deadline = jiffies + LONG_WHILE;
	while (removed < cycles && time_before(jiffies, deadline)) {
		unsigned int j;

		added = 0;
		removed = 0;
		spin_lock(&steady->lock);
		for (j = 0; j < steady->count; j++) {
			added += steady->events[j].type == KRDMA_DEVICE_EVENT_ADDED;
			removed += steady->events[j].type == KRDMA_DEVICE_EVENT_REMOVED;
		}
		spin_unlock(&steady->lock);
		schedule_timeout_uninterruptible(HZ / 10);
	}
	listener_stop(steady);
	KUNIT_EXPECT_EQ(test, cycles, removed);
	KUNIT_EXPECT_EQ(test, cycles + krdma_device_count(&init_net), added);
	KUNIT_EXPECT_EQ_MSG(test, 0, storm_judge(steady), "see that line of %s", __FILE__);
}

static struct kunit_case watch_cases[] = {
	KUNIT_CASE(test_everybody_hears_of_a_device),
	KUNIT_CASE(test_many_hear_of_a_device),
	KUNIT_CASE(test_event_before_the_removal),
	KUNIT_CASE(test_devices_that_are_there_already),
	KUNIT_CASE(test_started_again_it_hears_all_again),
	KUNIT_CASE(test_nobody_hears_of_a_device_that_is_not_served),
	KUNIT_CASE(test_each_event),
	KUNIT_CASE(test_events_come_through_ib_core),
	KUNIT_CASE(test_a_slow_consumer),
	KUNIT_CASE(test_a_slow_consumer_holds_up_nobody),
	KUNIT_CASE(test_stopping_waits_for_the_callback),
	KUNIT_CASE_SLOW(test_watches_while_devices_come_and_go),
	{}
};

static struct kunit_suite watch_suite = {
	.name = "krdma_device_notifier",
	.init = test_objects_init,
	.test_cases = watch_cases,
};

kunit_test_suite(watch_suite);
