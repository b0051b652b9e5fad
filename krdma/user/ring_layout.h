/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The SQ ring and the CQ ring: the layout of their memory, and the meaning of their indices.
 * Pure.
 */
#ifndef _KRDMA_RING_LAYOUT_H
#define _KRDMA_RING_LAYOUT_H

#include "core/pure.h"

#include <linux/krdma_ring.h>

/* Defaults. */
#define KRDMA_RING_SQ_ENTRIES	64
#define KRDMA_RING_CQ_ENTRIES	256

/**
 * struct krdma_ring_layout - layout of a ring's memory
 * @sq_entries: entries of the SQ ring, a power of two
 * @cq_entries: entries of the CQ ring, a power of two
 * @sqe_offset: offset of the first SQ entry in bytes
 * @cqe_offset: offset of the first CQ entry in bytes
 * @size: bytes of the whole memory, to the end of the last CQ entry
 */
struct krdma_ring_layout {
	u32 sq_entries;
	u32 cq_entries;
	u32 sqe_offset;
	u32 cqe_offset;
	u32 size;
};

int krdma_ring_layout_init(u32 sq_entries, u32 cq_entries, struct krdma_ring_layout *layout);

/*
 * Indices run freely: the difference of two indices is the number of entries between them.  An
 * index that the program writes may have any value, and is checked against the one that the
 * kernel keeps: their distance is never more than the number of entries.
 */

/* Number of filled entries; -EBADMSG: invalid indices. */
static inline int krdma_ring_filled(u32 tail, u32 head, u32 entries)
{
	u32 filled = tail - head;

	return filled <= entries ? (int)filled : -EBADMSG;
}

/* Number of free entries; -EBADMSG: invalid indices. */
static inline int krdma_ring_free(u32 tail, u32 head, u32 entries)
{
	u32 filled = tail - head;

	return filled <= entries ? (int)(entries - filled) : -EBADMSG;
}

/* Of @count entries from @index on, the number of those before the end of the memory. */
static inline u32 krdma_ring_contiguous(u32 index, u32 count, u32 entries)
{
	u32 run = entries - (index & (entries - 1));

	return count < run ? count : run;
}

#endif /* _KRDMA_RING_LAYOUT_H */
