// SPDX-License-Identifier: GPL-2.0
/*
 * The pure files in the kernel: the same checks that run as a program, here
 * with the compiler's flags, the types and the alignment of the module.
 */
#include <kunit/test.h>

#include "limits_cases.h"
#include "link_cases.h"

struct kunit_report {
	struct case_report report;
	struct kunit *test;
};

static void pure_fail(struct case_report *report, const char *what, s64 input, u64 expected,
		      u64 got)
{
	struct kunit *test = container_of(report, struct kunit_report, report)->test;

	KUNIT_FAIL(test, "%s of %lld: expected %llu, got %llu", what, input, expected, got);
}

static void pure_check(struct kunit *test, void (*check)(struct case_report *report))
{
	struct kunit_report report = { .report.fail = pure_fail, .test = test };

	check(&report.report);
	KUNIT_EXPECT_GT(test, report.report.checks, 0UL);
}

#define PURE_TEST(check)				\
static void test_##check(struct kunit *test)		\
{							\
	pure_check(test, check);			\
}

PURE_TEST(limits_check_counts)
PURE_TEST(limits_check_depths)
PURE_TEST(limits_check_sources)
PURE_TEST(limits_check_read_sge)
PURE_TEST(limits_check_caps)
PURE_TEST(limits_check_empty_claims)
PURE_TEST(limits_check_promises)

static struct kunit_case limits_cases[] = {
	KUNIT_CASE(test_limits_check_counts),
	KUNIT_CASE(test_limits_check_depths),
	KUNIT_CASE(test_limits_check_sources),
	KUNIT_CASE(test_limits_check_read_sge),
	KUNIT_CASE(test_limits_check_caps),
	KUNIT_CASE(test_limits_check_empty_claims),
	KUNIT_CASE(test_limits_check_promises),
	{}
};

static struct kunit_suite limits_suite = {
	.name = "krdma_limits",
	.test_cases = limits_cases,
};

PURE_TEST(link_check_mtu)
PURE_TEST(link_check_speed)
PURE_TEST(link_check_unknown_speed)
PURE_TEST(link_check_state)

static struct kunit_case link_cases[] = {
	KUNIT_CASE(test_link_check_mtu),
	KUNIT_CASE(test_link_check_speed),
	KUNIT_CASE(test_link_check_unknown_speed),
	KUNIT_CASE(test_link_check_state),
	{}
};

static struct kunit_suite link_suite = {
	.name = "krdma_link",
	.test_cases = link_cases,
};

kunit_test_suites(&limits_suite, &link_suite);
