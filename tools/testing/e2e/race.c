// SPDX-License-Identifier: GPL-2.0
/*
 * An intended data race.  Built with the thread sanitizer this test must fail in the child in
 * which each test runs, as any other program built so would.  Without it the test passes.
 */
#include <pthread.h>

#include "kselftest_harness.h"

static unsigned int count;

static void *counter(void *unused)
{
	for (int i = 0; i < 100000; i++)
		count++;
	return unused;
}

TEST(two_threads_count_without_a_lock)
{
	pthread_t other;

	ASSERT_EQ(0, pthread_create(&other, NULL, counter, NULL));
	counter(NULL);
	ASSERT_EQ(0, pthread_join(other, NULL));
	EXPECT_NE(0, count);
}

TEST_HARNESS_MAIN
