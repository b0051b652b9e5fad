// SPDX-License-Identifier: GPL-2.0
/*
 * `rdma dev set NAME name NEW` while the device is looked up by its name.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>

#include "kselftest_harness.h"
#include "fabric.h"
#include "rdma_link.h"
#include "rings.h"
#include "session.h"

/* Differs from the other name in every character and in length, so a mixture is detected. */
#define OTHER_NAME	"another-device-altogether"

#define LOOKUP_THREADS	3

FIXTURE(rename)
{
	int session;
	uint32_t device;
};

FIXTURE_SETUP(rename)
{
	struct krdma_device_query_args device;

	self->session = session_open(O_CLOEXEC);
	ASSERT_LE(0, self->session);
	rdma_link_remove(OTHER_NAME);
	ASSERT_EQ(0, fabric_create());
	ASSERT_EQ(0, session_named(self->session, FABRIC_DEVICE, &device));
	self->device = device.id;
}

FIXTURE_TEARDOWN(rename)
{
	rdma_link_remove(OTHER_NAME);
	fabric_destroy();
	close(self->session);
}

TEST_F(rename, the_number_stays_and_the_name_changes)
{
	struct krdma_device_query_args device;

	ASSERT_EQ(0, rdma_link_rename(FABRIC_DEVICE, OTHER_NAME));
	EXPECT_EQ(-ENOENT, session_named(self->session, FABRIC_DEVICE, &device));
	ASSERT_EQ(0, session_named(self->session, OTHER_NAME, &device));
	EXPECT_EQ(self->device, device.id);
	EXPECT_STREQ(OTHER_NAME, device.name);
	ASSERT_EQ(0, session_device(self->session, self->device, &device));
	EXPECT_STREQ(OTHER_NAME, device.name);
}

TEST_F(rename, a_name_that_was_given_up_can_be_taken)
{
	struct krdma_device_query_args device;

	ASSERT_EQ(0, rdma_link_rename(FABRIC_DEVICE, OTHER_NAME));
	ASSERT_EQ(0, rdma_link_rename(OTHER_NAME, FABRIC_DEVICE));
	EXPECT_EQ(-ENOENT, session_named(self->session, OTHER_NAME, &device));
	ASSERT_EQ(0, session_named(self->session, FABRIC_DEVICE, &device));
	EXPECT_EQ(self->device, device.id);
}

struct lookup {
	int session;
	uint32_t device;
	atomic_bool stop;
	atomic_uint first;
	atomic_uint second;
	/* Set when a lookup returned neither name, or another device. */
	atomic_bool wrong;
};

static void *look_up(void *argument)
{
	struct lookup *lookup = argument;

	for (unsigned int i = 0; !lookup->stop; i++) {
		const char *name = i & 1 ? FABRIC_DEVICE : OTHER_NAME;
		struct krdma_device_query_args device;
		int ret;

		if (i % 3 == 0)
			ret = session_device(lookup->session, lookup->device, &device);
		else
			ret = session_named(lookup->session, name, &device);
		if (ret) {
			/* A lookup by ID always finds it; the name may be the other one. */
			if (ret != -ENOENT || i % 3 == 0)
				lookup->wrong = true;
			continue;
		}
		if (device.id != lookup->device)
			lookup->wrong = true;
		if (!strcmp(device.name, FABRIC_DEVICE))
			lookup->first++;
		else if (!strcmp(device.name, OTHER_NAME))
			lookup->second++;
		else
			lookup->wrong = true;
	}
	return NULL;
}

/* Proves: A7 */
TEST_F_TIMEOUT(rename, a_name_is_the_old_or_the_new_one, 120)
{
	unsigned int cycles = rounds(300, 40);
	struct lookup lookup = { .session = self->session, .device = self->device };
	uint64_t end = now_ms() + PATIENCE_MS;
	pthread_t threads[LOOKUP_THREADS];

	for (int i = 0; i < LOOKUP_THREADS; i++)
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, look_up, &lookup));
	/* Continue until both names have been seen. */
	for (unsigned int i = 0; !lookup.wrong &&
	     (i < cycles || ((!lookup.first || !lookup.second) && now_ms() < end)); i++) {
		ASSERT_EQ(0, rdma_link_rename(FABRIC_DEVICE, OTHER_NAME));
		ASSERT_EQ(0, rdma_link_rename(OTHER_NAME, FABRIC_DEVICE));
	}
	lookup.stop = true;
	for (int i = 0; i < LOOKUP_THREADS; i++)
		ASSERT_EQ(0, pthread_join(threads[i], NULL));

	EXPECT_FALSE(lookup.wrong);
	EXPECT_LT(0, lookup.first);
	EXPECT_LT(0, lookup.second);
}

TEST_HARNESS_MAIN
