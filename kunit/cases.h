/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Checks of pure code that run in two worlds: as KUnit cases in the kernel, and
 * as an ordinary program under the sanitizers.  Each world brings the function
 * that is told of a failure.
 */
#ifndef _KRDMA_KUNIT_CASES_H
#define _KRDMA_KUNIT_CASES_H

/* After the pure header that is tested, which brings u32 and its kind. */

#define CASES(array)	(sizeof(array) / sizeof((array)[0]))

/**
 * struct case_report - where a check reports to
 * @fail: told what was computed from what, and what was expected
 * @checks: how many comparisons were made: a check that made none proves nothing
 */
struct case_report {
	void (*fail)(struct case_report *report, const char *what, s64 input, u64 expected,
		     u64 got);
	unsigned long checks;
};

static inline void check_expect(struct case_report *report, const char *what, s64 input,
				u64 expected, u64 got)
{
	report->checks++;
	if (expected != got)
		report->fail(report, what, input, expected, got);
}

#endif /* _KRDMA_KUNIT_CASES_H */
