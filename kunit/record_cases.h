/* SPDX-License-Identifier: GPL-2.0 */
/* Checks of what a reader gets of a record, in the kernel and in a program: see cases.h. */
#ifndef _KRDMA_KUNIT_RECORD_CASES_H
#define _KRDMA_KUNIT_RECORD_CASES_H

#include "user/record.h"

#include "cases.h"

/* Records of today, and longer ones, which a program of today reads with its own size. */
static inline void record_check_bytes(struct case_report *report)
{
	static const struct {
		size_t size;
		size_t room;
		size_t done;
		size_t bytes;
	} cases[] = {
		{ 16, 16, 0, 16 }, { 16, 17, 0, 16 }, { 16, 4096, 0, 16 }, { 16, 16, 32, 16 },
		{ 16, 15, 0, 0 }, { 16, 15, 16, 0 }, { 16, 0, 16, 0 }, { 16, 0, 0, 0 },
		{ 24, 24, 0, 24 }, { 24, 24, 24, 24 }, { 24, 48, 0, 24 },
		{ 24, 16, 0, 16 }, { 24, 20, 0, 20 }, { 24, 23, 0, 23 },
		{ 24, 15, 0, 0 }, { 24, 23, 24, 0 }, { 24, 16, 24, 0 }, { 24, 16, 8, 0 },
	};

	for (unsigned int i = 0; i < CASES(cases); i++)
		check_expect(report, "bytes of case", i, cases[i].bytes,
			     krdma_user_record_bytes(cases[i].size, cases[i].room,
						     cases[i].done));
}

#endif /* _KRDMA_KUNIT_RECORD_CASES_H */
