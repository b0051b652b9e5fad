// SPDX-License-Identifier: GPL-2.0
/*
 * KRDMA_INFO: version, features and limits of the module.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/krdma_conn.h>

#include "kselftest_harness.h"
#include "fabric.h"
#include "session.h"

FIXTURE(info)
{
	int session;
};

FIXTURE_SETUP(info)
{
	self->session = session_open(O_CLOEXEC);
	ASSERT_LE(0, self->session);
}

FIXTURE_TEARDOWN(info)
{
	close(self->session);
}

TEST_F(info, version_features_and_limits)
{
	struct krdma_info_args info;

	ASSERT_EQ(0, session_info(self->session, &info));
	EXPECT_EQ(sizeof(info), info.size);
	EXPECT_EQ(KRDMA_ABI_VERSION, info.abi_version);
	EXPECT_TRUE(info.features & KRDMA_FEATURE_DEVICES);
	EXPECT_TRUE(info.features & KRDMA_FEATURE_TRANSFERS);
	EXPECT_LE(sizeof(struct krdma_conn_query_args), info.max_struct_size);
	EXPECT_LE(info.max_struct_size, KRDMA_STRUCT_SIZE_MAX);
	EXPECT_LE(1, info.device_count);
	EXPECT_LE(info.device_count, info.max_devices);
}

TEST_F(info, unknown_features_are_not_announced)
{
	struct krdma_info_args info;

	ASSERT_EQ(0, session_info(self->session, &info));
	EXPECT_EQ(KRDMA_FEATURE_DEVICES | KRDMA_FEATURE_TRANSFERS, info.features);
}

TEST_F(info, the_version_is_text_and_that_of_the_module)
{
	struct krdma_info_args info;
	char version[64];

	ASSERT_EQ(0, session_info(self->session, &info));
	EXPECT_LT(strnlen(info.module_version, sizeof(info.module_version)),
		  sizeof(info.module_version));
	ASSERT_EQ(0, read_line(version, sizeof(version), "/sys/module/krdma/version"));
	EXPECT_STREQ(version, info.module_version);
	/* The bytes behind the text must not leak the kernel's stack. */
	for (size_t i = strlen(info.module_version); i < sizeof(info.module_version); i++)
		EXPECT_EQ(0, info.module_version[i]);
}

TEST_F(info, what_the_caller_left_in_the_answer_is_not_looked_at)
{
	struct krdma_info_args clean, dirty;

	memset(&dirty, 0xff, sizeof(dirty));
	dirty.size = sizeof(dirty);
	dirty.flags = 0;
	ASSERT_EQ(0, session_info(self->session, &clean));
	ASSERT_EQ(0, session_request(self->session, KRDMA_INFO, &dirty));
	EXPECT_EQ(0, memcmp(&clean, &dirty, sizeof(clean)));
}

TEST_F(info, the_count_follows_the_devices)
{
	struct krdma_info_args before, with, after;

	fabric_destroy();
	ASSERT_EQ(0, session_info(self->session, &before));
	ASSERT_EQ(0, fabric_create());
	EXPECT_EQ(0, session_info(self->session, &with));
	fabric_destroy();
	ASSERT_EQ(0, session_info(self->session, &after));

	EXPECT_EQ(before.device_count + 1, with.device_count);
	EXPECT_EQ(before.device_count, after.device_count);
}

TEST_HARNESS_MAIN
