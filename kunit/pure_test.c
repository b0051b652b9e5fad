// SPDX-License-Identifier: GPL-2.0
/*
 * The pure files in the kernel: the same checks that run as a program, here
 * with the compiler's flags, the types and the alignment of the module.
 */
#include <kunit/test.h>

#include "budget_cases.h"
#include "conn_state_cases.h"
#include "mr_desc_cases.h"
#include "caps_cases.h"
#include "lane_frame_cases.h"
#include "link_cases.h"
#include "names_cases.h"
#include "private_data_cases.h"
#include "record_cases.h"
#include "split_cases.h"
#include "ring_layout_cases.h"

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
PURE_TEST(limits_check_srq_sge)
PURE_TEST(limits_check_depths)
PURE_TEST(limits_check_sources)
PURE_TEST(limits_check_read_sge)
PURE_TEST(limits_check_caps)
PURE_TEST(limits_check_empty_claims)
PURE_TEST(limits_check_promises)

static struct kunit_case limits_cases[] = {
	KUNIT_CASE(test_limits_check_counts),
	KUNIT_CASE(test_limits_check_srq_sge),
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
PURE_TEST(link_check_ack_timeout)

static struct kunit_case link_cases[] = {
	KUNIT_CASE(test_link_check_mtu),
	KUNIT_CASE(test_link_check_speed),
	KUNIT_CASE(test_link_check_unknown_speed),
	KUNIT_CASE(test_link_check_state),
	KUNIT_CASE(test_link_check_ack_timeout),
	{}
};

static struct kunit_suite link_suite = {
	.name = "krdma_link",
	.test_cases = link_cases,
};

PURE_TEST(private_data_check_max)
PURE_TEST(private_data_check_wire)
PURE_TEST(private_data_check_lengths)
PURE_TEST(private_data_check_refusals)
PURE_TEST(private_data_check_wrong_bits)
PURE_TEST(private_data_check_forgeries)
PURE_TEST(private_data_check_arrivals)
PURE_TEST(private_data_check_foreign)

static struct kunit_case private_data_cases[] = {
	KUNIT_CASE(test_private_data_check_max),
	KUNIT_CASE(test_private_data_check_wire),
	KUNIT_CASE(test_private_data_check_lengths),
	KUNIT_CASE(test_private_data_check_refusals),
	KUNIT_CASE(test_private_data_check_wrong_bits),
	KUNIT_CASE(test_private_data_check_forgeries),
	KUNIT_CASE(test_private_data_check_arrivals),
	KUNIT_CASE(test_private_data_check_foreign),
	{}
};

static struct kunit_suite private_data_suite = {
	.name = "krdma_private_data",
	.test_cases = private_data_cases,
};

PURE_TEST(split_check_small)
PURE_TEST(split_check_long)
PURE_TEST(split_check_huge)
PURE_TEST(split_check_example)
PURE_TEST(split_check_empty)
PURE_TEST(split_check_refusals)

static struct kunit_case split_cases[] = {
	KUNIT_CASE(test_split_check_small),
	KUNIT_CASE(test_split_check_long),
	KUNIT_CASE(test_split_check_huge),
	KUNIT_CASE(test_split_check_example),
	KUNIT_CASE(test_split_check_empty),
	KUNIT_CASE(test_split_check_refusals),
	{}
};

static struct kunit_suite split_suite = {
	.name = "krdma_wr_split",
	.test_cases = split_cases,
};

PURE_TEST(descriptor_check_wire)
PURE_TEST(descriptor_check_ranges)
PURE_TEST(descriptor_check_rights)
PURE_TEST(descriptor_check_bits)
PURE_TEST(descriptor_check_head)
PURE_TEST(descriptor_check_lengths)

static struct kunit_case descriptor_cases[] = {
	KUNIT_CASE(test_descriptor_check_wire),
	KUNIT_CASE(test_descriptor_check_ranges),
	KUNIT_CASE(test_descriptor_check_rights),
	KUNIT_CASE(test_descriptor_check_bits),
	KUNIT_CASE(test_descriptor_check_head),
	KUNIT_CASE(test_descriptor_check_lengths),
	{}
};

static struct kunit_suite descriptor_suite = {
	.name = "krdma_mr_desc",
	.test_cases = descriptor_cases,
};

PURE_TEST(names_check_known)
PURE_TEST(names_check_distinct)
PURE_TEST(names_check_words)

static struct kunit_case names_cases[] = {
	KUNIT_CASE(test_names_check_known),
	KUNIT_CASE(test_names_check_distinct),
	KUNIT_CASE(test_names_check_words),
	{}
};

static struct kunit_suite names_suite = {
	.name = "krdma_names",
	.test_cases = names_cases,
};

PURE_TEST(conn_state_check_table)
PURE_TEST(conn_state_check_verdicts)
PURE_TEST(conn_state_check_actions)
PURE_TEST(conn_state_check_end)
PURE_TEST(conn_state_check_settled)
PURE_TEST(conn_state_check_refusals)
PURE_TEST(conn_state_check_walks)

static struct kunit_case conn_state_cases[] = {
	KUNIT_CASE(test_conn_state_check_table),
	KUNIT_CASE(test_conn_state_check_verdicts),
	KUNIT_CASE(test_conn_state_check_actions),
	KUNIT_CASE(test_conn_state_check_end),
	KUNIT_CASE(test_conn_state_check_settled),
	KUNIT_CASE(test_conn_state_check_refusals),
	KUNIT_CASE(test_conn_state_check_walks),
	{}
};

static struct kunit_suite conn_state_suite = {
	.name = "krdma_conn_state",
	.test_cases = conn_state_cases,
};

PURE_TEST(budget_check_items)
PURE_TEST(budget_check_shared)
PURE_TEST(budget_check_sums)
PURE_TEST(budget_check_bytes)

static struct kunit_case budget_cases[] = {
	KUNIT_CASE(test_budget_check_items),
	KUNIT_CASE(test_budget_check_shared),
	KUNIT_CASE(test_budget_check_sums),
	KUNIT_CASE(test_budget_check_bytes),
	{}
};

static struct kunit_suite budget_suite = {
	.name = "krdma_budget",
	.test_cases = budget_cases,
};

PURE_TEST(ring_check_grants)
PURE_TEST(ring_check_refusals)
PURE_TEST(ring_check_places)
PURE_TEST(ring_check_distances)
PURE_TEST(ring_check_runs)
PURE_TEST(record_check_bytes)

static struct kunit_case ring_cases[] = {
	KUNIT_CASE(test_ring_check_grants),
	KUNIT_CASE(test_ring_check_refusals),
	KUNIT_CASE(test_ring_check_places),
	KUNIT_CASE(test_ring_check_distances),
	KUNIT_CASE(test_ring_check_runs),
	KUNIT_CASE(test_record_check_bytes),
	{}
};

static struct kunit_suite ring_suite = {
	.name = "krdma_ring_layout",
	.test_cases = ring_cases,
};

PURE_TEST(lane_frame_check_records)
PURE_TEST(lane_frame_check_wire)
PURE_TEST(lane_frame_check_lengths)
PURE_TEST(lane_frame_check_bits)
PURE_TEST(lane_frame_check_refusals)
PURE_TEST(lane_frame_check_room)
PURE_TEST(lane_frame_check_hello)

static struct kunit_case lane_frame_cases[] = {
	KUNIT_CASE(test_lane_frame_check_records),
	KUNIT_CASE(test_lane_frame_check_wire),
	KUNIT_CASE(test_lane_frame_check_lengths),
	KUNIT_CASE(test_lane_frame_check_bits),
	KUNIT_CASE(test_lane_frame_check_refusals),
	KUNIT_CASE(test_lane_frame_check_room),
	KUNIT_CASE(test_lane_frame_check_hello),
	{}
};

static struct kunit_suite lane_frame_suite = {
	.name = "krdma_lane_frame",
	.test_cases = lane_frame_cases,
};

kunit_test_suites(&limits_suite, &link_suite, &private_data_suite, &split_suite,
		  &descriptor_suite, &names_suite, &conn_state_suite, &budget_suite,
		  &ring_suite, &lane_frame_suite);
