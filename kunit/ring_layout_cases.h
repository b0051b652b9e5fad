/* SPDX-License-Identifier: GPL-2.0 */
/* Checks of the rings' arithmetic, in the kernel and in a program: see cases.h. */
#ifndef _KRDMA_KUNIT_USER_RING_CASES_H
#define _KRDMA_KUNIT_USER_RING_CASES_H

#include "user/ring_layout.h"

#include "cases.h"

/* Values where mistakes are likely: around the wrap and the sign. */
static const u32 ring_edges[] = {
	0, 1, 2, 0x7ffffffe, 0x7fffffff, 0x80000000, 0x80000001, 0xfffeffff, 0xffff0000,
	0xfffffffe, 0xffffffff,
};

static inline void ring_check_grants(struct case_report *report)
{
	static const struct {
		u32 asked;
		u32 sq;
		u32 cq;
	} cases[] = {
		{ 0, 64, 256 }, { 1, 1, 1 }, { 2, 2, 2 }, { 3, 4, 4 }, { 4, 4, 4 }, { 5, 8, 8 },
		{ 7, 8, 4 }, { 63, 64, 64 }, { 64, 64, 64 }, { 65, 128, 64 }, { 66, 128, 64 },
		{ 67, 128, 64 }, { 68, 128, 128 }, { 131, 256, 128 }, { 255, 256, 256 },
		{ 32767, 32768, 32768 }, { 32769, 65536, 32768 }, { 32771, 65536, 32768 },
		{ 32772, 65536, 65536 }, { 65535, 65536, 65536 }, { 65536, 65536, 65536 },
	};
	struct krdma_ring_layout layout;

	for (unsigned int i = 0; i < CASES(cases); i++) {
		check_expect(report, "layout", cases[i].asked, 0,
			     krdma_ring_layout_init(cases[i].asked, cases[i].asked, &layout));
		check_expect(report, "sq_entries", cases[i].asked, cases[i].sq,
			     layout.sq_entries);
		check_expect(report, "cq_entries", cases[i].asked, cases[i].cq,
			     layout.cq_entries);
	}
	for (u32 asked = 1; asked <= KRDMA_RING_ENTRIES_MAX; asked++) {
		krdma_ring_layout_init(asked, 1, &layout);
		check_expect(report, "power of two", asked, 0,
			     layout.sq_entries & (layout.sq_entries - 1));
		check_expect(report, "the least", asked, true,
			     layout.sq_entries >= asked && layout.sq_entries / 2 < asked);
	}
}

static inline void ring_check_refusals(struct case_report *report)
{
	static const u32 wrong[] = { 65537, 65538, 0x10001, 0x7fffffff, 0x80000000, 0xffffffff };
	struct krdma_ring_layout layout;

	for (unsigned int i = 0; i < CASES(wrong); i++) {
		check_expect(report, "sq_entries", wrong[i], (u64)-EINVAL,
			     (u64)(s64)krdma_ring_layout_init(wrong[i], 0, &layout));
		check_expect(report, "cq_entries", wrong[i], (u64)-EINVAL,
			     (u64)(s64)krdma_ring_layout_init(0, wrong[i], &layout));
	}
}

/* Every field has its place, nothing overlaps, and cache lines are not shared. */
static inline void ring_check_places(struct case_report *report)
{
	struct krdma_ring_layout layout;

	for (u32 sq = 1; sq <= KRDMA_RING_ENTRIES_MAX; sq *= 2) {
		for (u32 cq = 1; cq <= KRDMA_RING_ENTRIES_MAX; cq *= 2) {
			krdma_ring_layout_init(sq, cq, &layout);
			check_expect(report, "sqe_offset", sq, sizeof(struct krdma_ring_header),
				     layout.sqe_offset);
			check_expect(report, "cqe_offset", sq,
				     layout.sqe_offset + (u64)sq * sizeof(struct krdma_sqe),
				     layout.cqe_offset);
			check_expect(report, "size", cq,
				     layout.cqe_offset + (u64)cq * sizeof(struct krdma_cqe),
				     layout.size);
			check_expect(report, "alignment", sq, 0,
				     (layout.sqe_offset | layout.cqe_offset) % 64);
		}
	}
}

static inline void ring_check_distance(struct case_report *report, u32 head, u32 distance,
				       u32 entries, int filled, int room)
{
	u32 tail = head + distance;

	check_expect(report, "filled", distance, (u64)(s64)filled,
		     (u64)(s64)krdma_ring_filled(tail, head, entries));
	check_expect(report, "room", distance, (u64)(s64)room,
		     (u64)(s64)krdma_ring_free(tail, head, entries));
}

/* Each possible distance, and some impossible ones, all around the wrap. */
static inline void ring_check_distances(struct case_report *report)
{
	static const u32 sizes[] = { 1, 2, 8, 65536 };

	for (unsigned int i = 0; i < CASES(sizes); i++) {
		u32 entries = sizes[i];

		for (unsigned int j = 0; j < CASES(ring_edges); j++) {
			u32 head = ring_edges[j];

			for (u32 filled = 0; filled <= entries; filled++)
				ring_check_distance(report, head, filled, entries, (int)filled,
						    (int)(entries - filled));
			for (unsigned int k = 0; k < CASES(ring_edges); k++) {
				u32 far = entries + 1 + ring_edges[k];

				/* Some wrap around to a valid distance. */
				if (far > entries)
					ring_check_distance(report, head, far, entries, -EBADMSG,
							    -EBADMSG);
			}
		}
	}
}

/* A batch ends where the memory does, and the rest begins at its beginning. */
static inline void ring_check_runs(struct case_report *report)
{
	for (u32 entries = 1; entries <= 64; entries *= 2) {
		for (unsigned int j = 0; j < CASES(ring_edges); j++) {
			for (u32 count = 0; count <= entries; count++) {
				u32 index = ring_edges[j];
				u32 first = krdma_ring_contiguous(index, count, entries);
				u32 place = index & (entries - 1);

				check_expect(report, "inside", index, true,
					     place + first <= entries && first <= count);
				check_expect(report, "to the end", index, true,
					     first == count || place + first == entries);
				check_expect(report, "the rest", index, count - first,
					     krdma_ring_contiguous(index + first, count - first,
								   entries));
			}
		}
	}
}

#endif /* _KRDMA_KUNIT_USER_RING_CASES_H */
