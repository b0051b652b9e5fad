// SPDX-License-Identifier: GPL-2.0
/* The MRs of a confined ring, when their IDs are used again. */
#include <kunit/test.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/mm.h>

#include "user/confine.h"
#include "user/ring.h"
#include "user/user.h"

static void test_an_id_that_is_used_again(struct kunit *test)
{
	static const u32 ids[] = { 5, 9 };
	static const struct krdma_user_mr mrs[] = {
		{ .id = 5, .serial = 5 },
		{ .id = 9, .serial = 1ULL << 31 },
		/* In no set. */
		{ .id = 6, .serial = 6 },
		/* Registered after the set was made, with the ID of one that is gone. */
		{ .id = 5, .serial = (1ULL << 31) + 1 },
		{ .id = 9, .serial = 1ULL << 63 },
	};
	struct krdma_user_confinement *set;

	set = krdma_user_confinement_create(ids, ARRAY_SIZE(ids), 1ULL << 31);
	KUNIT_ASSERT_FALSE(test, IS_ERR(set));
	for (size_t i = 0; i < ARRAY_SIZE(mrs); i++)
		KUNIT_EXPECT_EQ_MSG(test, i < 2, krdma_user_confinement_has(set, &mrs[i]),
				    "MR %zu", i);
	kvfree(set);
}

static struct kunit_case confine_cases[] = {
	KUNIT_CASE(test_an_id_that_is_used_again),
	{}
};

static struct kunit_suite confine_suite = {
	.name = "krdma_confine",
	.test_cases = confine_cases,
};

kunit_test_suite(confine_suite);
