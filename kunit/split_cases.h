/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How krdma/mr/split.c must split work requests: some examples, and every small one checked byte by
 * byte.
 */
#ifndef _KRDMA_KUNIT_SPLIT_CASES_H
#define _KRDMA_KUNIT_SPLIT_CASES_H

#include "mr/split.h"

#include "cases.h"

#define SPLIT_LIST_SGES	256
#define SPLIT_MOST_SGE		32
/* In an SGE that must not be written. */
#define SPLIT_UNTOUCHED		0xdeadbeefU

/* SGEs with gaps between them, so that every address identifies its SGE. */
static inline void split_sge(struct ib_sge *sge, u32 index, u32 length)
{
	*sge = (struct ib_sge) {
		.addr = (u64)(index + 1) << 36,
		.length = length,
		.lkey = 100 + index,
	};
}

static inline u32 split_smaller(u32 a, u32 b)
{
	return a < b ? a : b;
}

/*
 * One whole work request.  A second cursor follows the SGEs of the work request beside the
 * parts: each SGE of a part must begin where the last one ended, and reach as far as the source
 * or the part does; a part that is not full must be the last.
 */
static inline void split_walk(struct case_report *report, s64 input,
			      const struct ib_sge *sges, u32 count, u32 max_sge,
			      u32 max_bytes)
{
	u64 expected_pieces = krdma_wr_split_count(sges, count, max_sge, max_bytes);
	struct ib_sge out[SPLIT_MOST_SGE + 1];
	struct krdma_wr_part piece;
	struct krdma_wr_split split;
	u64 pieces = 0;
	u64 done = 0;
	u64 total = 0;
	u32 used = 0;
	u32 at = 0;
	u32 wrong = 0;

	for (u32 i = 0; i < count; i++)
		total += sges[i].length;
	for (u32 i = 0; i < CASES(out); i++)
		out[i].lkey = SPLIT_UNTOUCHED;

	check_expect(report, "begin", input, 0,
		     krdma_wr_split_init(&split, sges, count, max_sge, max_bytes));
	while (krdma_wr_split_next(&split, out, &piece)) {
		u64 in_piece = 0;

		if (piece.count > max_sge) {
			check_expect(report, "SGEs of a part", input, max_sge, piece.count);
			return;
		}
		for (u32 i = 0; i < piece.count; i++) {
			while (at < count && used == sges[at].length) {
				at++;
				used = 0;
			}
			if (at == count) {
				wrong++;
				break;
			}
			wrong += out[i].addr != sges[at].addr + used;
			wrong += out[i].lkey != sges[at].lkey;
			wrong += !out[i].length || out[i].length !=
				 split_smaller(sges[at].length - used,
					       (u32)(max_bytes - in_piece));
			used += out[i].length;
			in_piece += out[i].length;
		}
		wrong += piece.offset != done;
		wrong += piece.length != in_piece;
		wrong += out[max_sge].lkey != SPLIT_UNTOUCHED;
		done += in_piece;
		wrong += done < total && piece.count < max_sge && in_piece < max_bytes;
		pieces++;
		if (wrong || pieces > expected_pieces)
			break;
	}
	check_expect(report, "mistakes", input, 0, wrong);
	check_expect(report, "bytes", input, total, done);
	check_expect(report, "pieces", input, expected_pieces, pieces);
	check_expect(report, "a piece behind the last", input, false,
		     krdma_wr_split_next(&split, out, &piece));
}

/* All work requests of up to four short SGEs, on all small devices. */
static inline void split_check_small(struct case_report *report)
{
	static const u32 lengths[] = { 0, 1, 2, 3, 7 };
	u32 combinations = 1;

	for (u32 count = 0; count <= 4; count++) {
		for (u32 combination = 0; combination < combinations; combination++) {
			struct ib_sge sges[4];
			u32 digits = combination;

			for (u32 i = 0; i < count; i++) {
				split_sge(&sges[i], i, lengths[digits % CASES(lengths)]);
				digits /= CASES(lengths);
			}
			for (u32 max_sge = 1; max_sge <= 5; max_sge++)
				for (u32 max_bytes = 1; max_bytes <= 9; max_bytes++)
					split_walk(report, combination, sges, count, max_sge,
						   max_bytes);
		}
		combinations *= CASES(lengths);
	}
}

/* Long lists of SGEs, where the two limits meet in all ways. */
static inline void split_check_long(struct case_report *report)
{
	static struct ib_sge sges[SPLIT_LIST_SGES];
	static const u32 max_sge[] = { 1, 2, 3, 5, 6, 16, 31, 32 };
	static const u32 max_bytes[] = {
		7, 63, 64, 65, 256, 1000, 4095, 4096, 0x7fffffff, 0xffffffff,
	};

	for (u32 step = 0; step < 4; step++) {
		for (u32 i = 0; i < SPLIT_LIST_SGES; i++)
			split_sge(&sges[i], i, (i * step * 37 + step) % 97);
		for (u32 i = 0; i < CASES(max_sge); i++)
			for (u32 j = 0; j < CASES(max_bytes); j++)
				split_walk(report, step, sges, SPLIT_LIST_SGES, max_sge[i],
					   max_bytes[j]);
	}
}

/* The number of parts where the numbers are large. */
static inline void split_check_huge(struct case_report *report)
{
	static const struct {
		u32 count;
		u32 length;
		u32 max_sge;
		u32 max_bytes;
		u64 pieces;
	} cases[] = {
		{ 1,	0xffffffff,	1,	0xffffffff,	1 },
		{ 1,	0xffffffff,	1,	0xfffffffe,	2 },
		{ 1,	0xffffffff,	1,	0x80000000,	2 },
		{ 1,	0xffffffff,	1,	0x7fffffff,	3 },
		{ 1,	0xffffffff,	1,	1,		0xffffffffULL },
		{ 1,	0xffffffff,	32,	2,		0x80000000ULL },
		{ 1,	0x80000000,	1,	0x80000000,	1 },
		{ 1,	0x80000001,	1,	0x80000000,	2 },
		{ 2,	0x80000000,	2,	0xffffffff,	2 },
		{ 2,	0x7fffffff,	2,	0xffffffff,	1 },
		{ 2,	0x80000000,	1,	0x80000000,	2 },
		{ 4,	0x40000000,	4,	0x80000000,	2 },
		{ 256,	0xffffffff,	1,	0xffffffff,	256 },
		{ 256,	0xffffffff,	1,	0x80000000,	512 },
		{ 256,	0xffffffff,	32,	0x80000000,	512 },
		{ 256,	0xffffffff,	1,	1,		0xffffffff00ULL },
		{ 256,	0xffffffff,	32,	1,		0xffffffff00ULL },
		{ 256,	0,		1,	1,		1 },
		{ 256,	1,		30,	0xffffffff,	9 },
		{ 256,	1,		32,	0xffffffff,	8 },
	};
	static struct ib_sge sges[SPLIT_LIST_SGES];

	for (u32 i = 0; i < CASES(cases); i++) {
		for (u32 j = 0; j < cases[i].count; j++)
			split_sge(&sges[j], j, cases[i].length);
		check_expect(report, "pieces of a huge operation", i, cases[i].pieces,
			     krdma_wr_split_count(sges, cases[i].count, cases[i].max_sge,
						  cases[i].max_bytes));
		if (cases[i].pieces < 10000)
			split_walk(report, i, sges, cases[i].count, cases[i].max_sge,
				   cases[i].max_bytes);
	}
}

/* Written out to the last byte. */
static inline void split_check_example(struct case_report *report)
{
	static const struct ib_sge sges[] = {
		{ 0x1000, 0, 1 }, { 0x2000, 5, 2 }, { 0x3000, 1, 3 }, { 0x4000, 0, 4 },
		{ 0x5000, 2, 5 }, { 0xfffffffffffffff0ULL, 13, 6 }, { 0x7000, 0, 7 },
	};
	static const struct {
		struct krdma_wr_part piece;
		struct ib_sge sges[2];
	} expected[] = {
		{ { 0, 6, 2 }, { { 0x2000, 5, 2 }, { 0x3000, 1, 3 } } },
		{ { 6, 8, 2 }, { { 0x5000, 2, 5 }, { 0xfffffffffffffff0ULL, 6, 6 } } },
		{ { 14, 7, 1 }, { { 0xfffffffffffffff6ULL, 7, 6 } } },
	};
	struct ib_sge out[2];
	struct krdma_wr_part piece;
	struct krdma_wr_split split;

	check_expect(report, "pieces", 0, CASES(expected),
		     krdma_wr_split_count(sges, CASES(sges), 2, 8));
	check_expect(report, "begin", 0, 0,
		     krdma_wr_split_init(&split, sges, CASES(sges), 2, 8));
	for (u32 i = 0; i < CASES(expected); i++) {
		check_expect(report, "next piece", i, true,
			     krdma_wr_split_next(&split, out, &piece));
		check_expect(report, "offset", i, expected[i].piece.offset, piece.offset);
		check_expect(report, "length", i, expected[i].piece.length, piece.length);
		check_expect(report, "sges", i, expected[i].piece.count, piece.count);
		for (u32 j = 0; j < expected[i].piece.count; j++) {
			check_expect(report, "address", i, expected[i].sges[j].addr,
				     out[j].addr);
			check_expect(report, "length", i, expected[i].sges[j].length,
				     out[j].length);
			check_expect(report, "lkey", i, expected[i].sges[j].lkey, out[j].lkey);
		}
	}
	check_expect(report, "next piece", CASES(expected), false,
		     krdma_wr_split_next(&split, out, &piece));
}

/* A work request of length 0 is one empty part, whatever SGEs it has. */
static inline void split_check_empty(struct case_report *report)
{
	static const struct ib_sge sges[3] = { { 1, 0, 1 }, { 2, 0, 2 }, { 3, 0, 3 } };

	for (u32 count = 0; count <= CASES(sges); count++) {
		const struct ib_sge *given = count ? sges : NULL;
		struct krdma_wr_part piece = { .offset = 1, .length = 1, .count = 1 };
		struct ib_sge out = { .lkey = SPLIT_UNTOUCHED };
		struct krdma_wr_split split;

		check_expect(report, "pieces", count, 1, krdma_wr_split_count(given, count, 1, 1));
		check_expect(report, "begin", count, 0,
			     krdma_wr_split_init(&split, given, count, 1, 1));
		check_expect(report, "first piece", count, true,
			     krdma_wr_split_next(&split, &out, &piece));
		check_expect(report, "offset", count, 0, piece.offset);
		check_expect(report, "length", count, 0, piece.length);
		check_expect(report, "sges", count, 0, piece.count);
		check_expect(report, "untouched", count, SPLIT_UNTOUCHED, out.lkey);
		for (u32 again = 0; again < 3; again++)
			check_expect(report, "second piece", count, false,
				     krdma_wr_split_next(&split, &out, &piece));
	}
}

static inline void split_check_refusals(struct case_report *report)
{
	static const struct ib_sge sge = { 0x1000, 1, 1 };
	static const struct {
		bool sges;
		u32 count;
		u32 max_sge;
		u32 max_bytes;
	} cases[] = {
		{ true, 1, 0, 1 }, { true, 1, 1, 0 }, { true, 1, 0, 0 }, { true, 0, 0, 1 },
		{ false, 0, 1, 0 }, { false, 1, 1, 1 }, { false, 0xffffffff, 1, 1 },
	};

	for (u32 i = 0; i < CASES(cases); i++) {
		struct krdma_wr_split split = { .index = 4321 };
		const struct ib_sge *given = NULL;

		if (cases[i].sges)
			given = &sge;
		check_expect(report, "begin", i, -EINVAL,
			     krdma_wr_split_init(&split, given, cases[i].count, cases[i].max_sge,
						 cases[i].max_bytes));
		check_expect(report, "untouched", i, 4321, split.index);
		check_expect(report, "pieces", i, 0,
			     krdma_wr_split_count(given, cases[i].count, cases[i].max_sge,
						  cases[i].max_bytes));
	}
}

#endif /* _KRDMA_KUNIT_SPLIT_CASES_H */
