/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Checks of pure code that run as KUnit cases in the kernel, and as an ordinary program under the
 * sanitizers.  Each of the two has its own function to report a failure.
 */
#ifndef _KRDMA_KUNIT_CASES_H
#define _KRDMA_KUNIT_CASES_H

/* To be included after the pure header under test, which defines u32 and similar types. */

#define CASES(array)	(sizeof(array) / sizeof((array)[0]))

/**
 * struct case_report - destination of a check's reports
 * @fail: called with the input, the result and the expected value
 * @checks: number of comparisons: a check without any proves nothing
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
