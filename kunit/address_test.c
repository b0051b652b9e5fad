// SPDX-License-Identifier: GPL-2.0
/*
 * Which device an address leads to.
 *
 * The fake device is on the loopback interface.  run.sh creates the addresses below: some on that
 * interface, some on one that has no RDMA device and where no host answers.
 */
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/inet.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/netdevice.h>
#include <linux/sched/signal.h>
#include <linux/string.h>
#include <linux/un.h>
#include <net/net_namespace.h>

#include <krdma/krdma.h>

#include "core/device.h"
#include "device_fixture.h"
#include "objects.h"
#include "core/private.h"

#define NAME		"kfake"

#define SHORT_WHILE	msecs_to_jiffies(300)
/* Only a hang takes longer, even on the slowest machine. */
#define LONG_WHILE	(60 * HZ)

/* On the loopback interface. */
#define OURS		"10.76.0.1"
#define OURS_6		"fd76::1"
/* On an interface without an RDMA device. */
#define OTHERS		"10.79.0.1"
/* Behind that interface; never answers. */
#define SILENT		"10.79.0.2"
#define SILENT_NETDEV	"kaddr0"
/* No host has it, and there is no route to it. */
#define NOBODYS		"203.0.113.7"
#define NOBODYS_6	"2001:db8::7"

/* Not an address: another family. */
#define NO_FAMILY	"unix"

#define SILENCE_MS	200
#define ENOUGH_MS	2000

/*
 * Parses an address, with a port that is in use or reserved: no function may look at the port.  A
 * "%lo" behind it means the link of the loopback interface.
 */
static struct sockaddr *address(struct sockaddr_storage *storage, const char *text)
{
	struct sockaddr_in6 *sin6 = (struct sockaddr_in6 *)storage;
	struct sockaddr_in *sin = (struct sockaddr_in *)storage;

	memset(storage, 0, sizeof(*storage));
	if (!strcmp(text, NO_FAMILY)) {
		storage->ss_family = AF_UNIX;
	} else if (strchr(text, ':')) {
		sin6->sin6_family = AF_INET6;
		sin6->sin6_port = htons(1);
		in6_pton(text, -1, sin6->sin6_addr.s6_addr, '%', NULL);
		if (strchr(text, '%'))
			sin6->sin6_scope_id = init_net.loopback_dev->ifindex;
	} else {
		sin->sin_family = AF_INET;
		sin->sin_port = htons(1);
		in4_pton(text, -1, (u8 *)&sin->sin_addr.s_addr, -1, NULL);
	}
	return (struct sockaddr *)storage;
}

static struct krdma_device *device_at(const char *local)
{
	struct sockaddr_storage storage;

	return krdma_device_at(&init_net, address(&storage, local));
}

static struct krdma_device *device_towards(const char *local, const char *remote, u32 timeout_ms)
{
	struct sockaddr_storage from, to;

	return krdma_device_towards(&init_net, local ? address(&from, local) : NULL,
				    address(&to, remote), timeout_ms);
}

/* Returns the number of the device, or the error; puts the reference. */
static s64 id_or_error(struct krdma_device *dev)
{
	struct krdma_device_attr attr;
	int ret;

	if (IS_ERR_OR_NULL(dev))
		return dev ? PTR_ERR(dev) : 0;
	ret = krdma_device_query_attr(dev, &attr);
	krdma_device_put(dev);
	return ret ? ret : attr.id;
}

static s64 fake_id(struct kunit *test)
{
	s64 id = id_or_error(krdma_device_get_by_name(&init_net, NAME));

	KUNIT_ASSERT_GT(test, id, 0);
	return id;
}

static void test_at(struct kunit *test)
{
	static const struct {
		const char *local;
		int error;		/* 0: the fake device is found */
	} rows[] = {
		{ OURS, 0 },
		{ OURS_6, 0 },
		{ OTHERS, -EADDRNOTAVAIL },
		{ SILENT, -EADDRNOTAVAIL },
		{ NOBODYS, -EADDRNOTAVAIL },
		{ NOBODYS_6, -EADDRNOTAVAIL },
		{ "255.255.255.255", -EADDRNOTAVAIL },
		{ "224.0.0.1", -EADDRNOTAVAIL },
		{ "fe80::78%lo", -EADDRNOTAVAIL },
		{ "fe80::78", -EINVAL },
		{ "0.0.0.0", -EINVAL },
		{ "::", -EINVAL },
		{ NO_FAMILY, -EAFNOSUPPORT },
	};
	struct test_device *device = test_device_new(test, NAME);
	s64 id = fake_id(test);
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		KUNIT_EXPECT_EQ_MSG(test, rows[i].error ? rows[i].error : id,
				    id_or_error(device_at(rows[i].local)), "%s", rows[i].local);

	/* The device is not used any more. */
	test_device_unregister(device);
	KUNIT_EXPECT_EQ(test, -EADDRNOTAVAIL, id_or_error(device_at(OURS)));
	KUNIT_EXPECT_EQ(test, -EADDRNOTAVAIL, id_or_error(device_at(OURS_6)));
}

static void test_towards(struct kunit *test)
{
	static const struct {
		const char *local;
		const char *remote;
		int error;		/* 0: the fake device is found */
	} rows[] = {
		{ NULL, OURS, 0 },
		{ NULL, OURS_6, 0 },
		{ "0.0.0.0", OURS, 0 },
		{ "::", OURS_6, 0 },
		{ OURS, OURS, 0 },
		{ OURS_6, OURS_6, 0 },
		/* Once it is bound, the same device reaches every address. */
		{ OURS, "127.0.0.1", 0 },
		{ OURS, SILENT, 0 },
		{ OURS_6, "::1", 0 },
		{ NULL, OTHERS, -EHOSTUNREACH },
		{ NULL, NOBODYS, -EHOSTUNREACH },
		{ NULL, NOBODYS_6, -EHOSTUNREACH },
		{ NOBODYS, OURS, -EADDRNOTAVAIL },
		{ NOBODYS_6, OURS_6, -EADDRNOTAVAIL },
		{ OTHERS, OURS, -EADDRNOTAVAIL },
		{ "fe80::78%lo", OURS_6, -EADDRNOTAVAIL },
		{ "fe80::78", OURS_6, -EINVAL },
		{ OURS, OURS_6, -EINVAL },
		{ OURS_6, OURS, -EINVAL },
		{ "0.0.0.0", OURS_6, -EINVAL },
		{ NULL, NO_FAMILY, -EAFNOSUPPORT },
		{ NO_FAMILY, OURS, -EAFNOSUPPORT },
		{ NULL, SILENT, -ETIMEDOUT },
	};
	struct test_device *device = test_device_new(test, NAME);
	s64 id = fake_id(test);
	int i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		u32 timeout_ms = rows[i].error == -ETIMEDOUT ? SILENCE_MS : ENOUGH_MS;
		s64 got = id_or_error(device_towards(rows[i].local, rows[i].remote, timeout_ms));

		KUNIT_EXPECT_EQ_MSG(test, rows[i].error ? rows[i].error : id, got, "%s to %s",
				    rows[i].local ? rows[i].local : "NULL", rows[i].remote);
	}

	test_device_unregister(device);
	KUNIT_EXPECT_EQ(test, -EHOSTUNREACH, id_or_error(device_towards(NULL, OURS, ENOUGH_MS)));
	KUNIT_EXPECT_EQ(test, -EADDRNOTAVAIL, id_or_error(device_towards(OURS, OURS, ENOUGH_MS)));
}

/* All loopback addresses lead to the same device, whichever it is, and connections use it. */
static void test_loopback(struct kunit *test)
{
	s64 id;

	test_device_new(test, NAME);
	id = id_or_error(device_at("127.0.0.1"));
	KUNIT_EXPECT_GT(test, id, 0);
	KUNIT_EXPECT_EQ(test, id, id_or_error(device_at("127.1.2.3")));
	KUNIT_EXPECT_EQ(test, id, id_or_error(device_at("::1")));
	KUNIT_EXPECT_EQ(test, id, id_or_error(device_towards(NULL, "127.0.0.1", ENOUGH_MS)));
	KUNIT_EXPECT_EQ(test, id, id_or_error(device_towards(NULL, "::1", ENOUGH_MS)));
	KUNIT_EXPECT_EQ(test, id, id_or_error(device_towards("127.0.0.1", "127.0.0.1", ENOUGH_MS)));
}

static void test_the_time_is_kept(struct kunit *test)
{
	unsigned long start = jiffies;

	KUNIT_EXPECT_EQ(test, -ETIMEDOUT, id_or_error(device_towards(NULL, SILENT, SILENCE_MS)));
	KUNIT_EXPECT_GE(test, jiffies - start, msecs_to_jiffies(SILENCE_MS) - 1);

	/* No time at all, also where a host would answer. */
	start = jiffies;
	KUNIT_EXPECT_EQ(test, -ETIMEDOUT, id_or_error(device_towards(NULL, SILENT, 0)));
	KUNIT_EXPECT_EQ(test, -ETIMEDOUT, id_or_error(device_towards(NULL, OURS, 0)));
	KUNIT_EXPECT_LT(test, jiffies - start, 2 * HZ);
}

/**
 * struct asker - a thread that looks for a device by an address that does not answer
 * @task: the thread
 * @local: source address
 * @answer: result of the search
 * @begun: the thread can get signals from now on
 * @done: completed with the result
 */
struct asker {
	struct task_struct *task;
	const char *local;
	s64 answer;
	struct completion begun;
	struct completion done;
};

static int ask(void *context)
{
	struct asker *asker = context;

	allow_signal(SIGUSR1);
	complete(&asker->begun);
	asker->answer = id_or_error(device_towards(asker->local, SILENT, 600 * MSEC_PER_SEC));
	complete(&asker->done);

	/* The thread must exist as long as a signal may be sent to it. */
	while (!kthread_should_stop())
		schedule_timeout_uninterruptible(1);
	return 0;
}

static void asker_start(struct kunit *test, struct asker *asker)
{
	init_completion(&asker->begun);
	init_completion(&asker->done);
	asker->task = kthread_run(ask, asker, "krdma-kunit");
	KUNIT_ASSERT_FALSE(test, IS_ERR(asker->task));
	wait_for_completion(&asker->begun);
	KUNIT_EXPECT_EQ(test, 0, wait_for_completion_timeout(&asker->done, SHORT_WHILE));
}

static void asker_end(struct kunit *test, struct asker *asker, int error)
{
	bool ended = wait_for_completion_timeout(&asker->done, LONG_WHILE);

	/* A thread that continues in spite of a signal must not outlive the test. */
	if (!ended)
		send_sig(SIGUSR1, asker->task, 1);
	kthread_stop(asker->task);
	KUNIT_EXPECT_TRUE(test, ended);
	KUNIT_EXPECT_EQ(test, error, asker->answer);
}

static void test_signals(struct kunit *test)
{
	struct asker asker = {};

	asker_start(test, &asker);
	send_sig(SIGUSR1, asker.task, 1);
	asker_end(test, &asker, -EINTR);
}

/* Moves the device to the interface behind which no host answers. */
static void move_to_silence(struct kunit *test, struct test_device *device)
{
	struct ib_device *ib = &device->fake->ib;
	struct ib_event event = {
		.device = ib, .event = IB_EVENT_GID_CHANGE, .element.port_num = 1,
	};
	unsigned long deadline = jiffies + LONG_WHILE;
	struct net_device *netdev = dev_get_by_name(&init_net, SILENT_NETDEV);
	s64 id = fake_id(test);

	KUNIT_ASSERT_NOT_NULL(test, netdev);
	KUNIT_EXPECT_EQ(test, 0, ib_device_set_netdev(ib, netdev, 1));
	dev_put(netdev);
	ib_dispatch_event(&event);
	while (id_or_error(device_at(OTHERS)) != id && time_before(jiffies, deadline))
		schedule_timeout_uninterruptible(1);
	KUNIT_ASSERT_EQ(test, id, id_or_error(device_at(OTHERS)));
}

/* If the local device is removed, the search ends at once. */
/* Proves: A7 */
static void test_removal_ends_the_search(struct kunit *test)
{
	struct test_device *device = test_device_new(test, NAME);
	struct asker asker = { .local = OTHERS };

	move_to_silence(test, device);
	asker_start(test, &asker);
	test_device_unregister(device);
	asker_end(test, &asker, -ENODEV);
}

static int unregister_device(void *context)
{
	struct test_device *device = context;

	test_device_unregister(device);
	while (!kthread_should_stop())
		schedule_timeout_uninterruptible(1);
	return 0;
}

/* The connection manager still has the device, and krdma's removal has begun. */
static void test_a_device_that_is_going(struct kunit *test)
{
	struct test_device *device = test_device_new(test, NAME);
	struct krdma_device *dev = krdma_device_get_by_name(&init_net, NAME);
	unsigned long deadline = jiffies + LONG_WHILE;
	struct task_struct *remover;

	KUNIT_ASSERT_NOT_NULL(test, dev);
	KUNIT_EXPECT_NOT_NULL(test, krdma_device_get_ibdev(dev));
	remover = kthread_run(unregister_device, device, "krdma-kunit");
	while (id_or_error(krdma_device_get_by_name(&init_net, NAME)) > 0 &&
	       time_before(jiffies, deadline))
		schedule_timeout_uninterruptible(1);

	KUNIT_EXPECT_TRUE(test, time_before(jiffies, deadline));
	KUNIT_EXPECT_EQ(test, -ENODEV, id_or_error(device_at(OURS)));
	KUNIT_EXPECT_EQ(test, -ENODEV, id_or_error(device_towards(NULL, OURS, ENOUGH_MS)));

	krdma_device_put_ibdev(dev);
	krdma_device_put(dev);
	KUNIT_ASSERT_FALSE(test, IS_ERR(remover));
	kthread_stop(remover);
}

static struct kunit_case address_cases[] = {
	KUNIT_CASE(test_at),
	KUNIT_CASE(test_towards),
	KUNIT_CASE(test_loopback),
	KUNIT_CASE_SLOW(test_the_time_is_kept),
	KUNIT_CASE(test_signals),
	KUNIT_CASE(test_removal_ends_the_search),
	KUNIT_CASE(test_a_device_that_is_going),
	{}
};

static struct kunit_suite address_suite = {
	.name = "krdma_address",
	.init = test_objects_init,
	.test_cases = address_cases,
};

kunit_test_suite(address_suite);
