// SPDX-License-Identifier: GPL-2.0
/*
 * The pure files as an ordinary program, under the address and undefined
 * behaviour sanitizers.  The checks are those of kunit/.
 */
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

#include "tap.h"

/* A broken rule fails for a whole range of codes: the first few say which. */
#define SHOWN_FAILURES	5

struct tap_report {
	struct case_report report;
	unsigned int failures;
};

static void pure_fail(struct case_report *report, const char *what, s64 input, u64 expected,
		      u64 got)
{
	struct tap_report *tap = (struct tap_report *)report;

	if (tap->failures++ < SHOWN_FAILURES)
		printf("# %s of %lld: expected %llu, got %llu\n", what, (long long)input,
		       (unsigned long long)expected, (unsigned long long)got);
}

static void run(const char *name, void (*check)(struct case_report *report))
{
	struct tap_report tap = { .report.fail = pure_fail };

	check(&tap.report);
	tap_result(!tap.failures && tap.report.checks, name);
}

#define RUN(check) run(#check, check)

int main(void)
{
	RUN(limits_check_counts);
	RUN(limits_check_srq_sge);
	RUN(limits_check_depths);
	RUN(limits_check_sources);
	RUN(limits_check_read_sge);
	RUN(limits_check_caps);
	RUN(limits_check_empty_claims);
	RUN(limits_check_promises);
	RUN(link_check_mtu);
	RUN(link_check_speed);
	RUN(link_check_unknown_speed);
	RUN(link_check_state);
	RUN(link_check_ack_timeout);
	RUN(private_data_check_max);
	RUN(private_data_check_wire);
	RUN(private_data_check_lengths);
	RUN(private_data_check_refusals);
	RUN(private_data_check_wrong_bits);
	RUN(private_data_check_forgeries);
	RUN(private_data_check_arrivals);
	RUN(private_data_check_foreign);
	RUN(split_check_small);
	RUN(split_check_long);
	RUN(split_check_huge);
	RUN(split_check_example);
	RUN(split_check_empty);
	RUN(split_check_refusals);
	RUN(descriptor_check_wire);
	RUN(descriptor_check_ranges);
	RUN(descriptor_check_rights);
	RUN(descriptor_check_bits);
	RUN(descriptor_check_head);
	RUN(descriptor_check_lengths);
	RUN(names_check_known);
	RUN(names_check_distinct);
	RUN(names_check_words);
	RUN(conn_state_check_table);
	RUN(conn_state_check_verdicts);
	RUN(conn_state_check_actions);
	RUN(conn_state_check_end);
	RUN(conn_state_check_settled);
	RUN(conn_state_check_refusals);
	RUN(conn_state_check_walks);
	RUN(budget_check_items);
	RUN(budget_check_shared);
	RUN(budget_check_sums);
	RUN(budget_check_bytes);
	RUN(ring_check_grants);
	RUN(ring_check_refusals);
	RUN(ring_check_places);
	RUN(ring_check_distances);
	RUN(ring_check_runs);
	RUN(record_check_bytes);
	RUN(lane_frame_check_records);
	RUN(lane_frame_check_wire);
	RUN(lane_frame_check_lengths);
	RUN(lane_frame_check_bits);
	RUN(lane_frame_check_refusals);
	RUN(lane_frame_check_room);
	RUN(lane_frame_check_hello);
	return tap_end();
}
