/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The two rings of a queue: how their memory is divided, and what their indices
 * mean.  Pure.
 */
#ifndef _KRDMA_RING_LAYOUT_H
#define _KRDMA_RING_LAYOUT_H

#include "core/pure.h"

#include <linux/krdma_ring.h>

/* What a program gets that does not say. */
#define KRDMA_RING_SQ_ENTRIES	64
#define KRDMA_RING_CQ_ENTRIES	256

/**
 * struct krdma_ring_layout - where things are in a queue's memory
 * @sq_entries: entries of the submission ring, a power of two
 * @cq_entries: entries of the completion ring, likewise
 * @sqe_offset: where the entries begin
 * @cqe_offset: where the completions begin
 * @size: of all of it, to the end of the last completion
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
 * Indices count on without end: what is between two of them is their difference.
 * One that a program writes may be anything, and is judged by the one that the
 * kernel keeps: they are never further apart than there are entries.
 */

/* Entries that are filled; -EBADMSG: indices that make no sense. */
static inline int krdma_ring_filled(u32 tail, u32 head, u32 entries)
{
	u32 filled = tail - head;

	return filled <= entries ? (int)filled : -EBADMSG;
}

/* Entries that are free; likewise. */
static inline int krdma_ring_free(u32 tail, u32 head, u32 entries)
{
	u32 filled = tail - head;

	return filled <= entries ? (int)(entries - filled) : -EBADMSG;
}

/* Of @count entries from @index on, those that lie behind one another in memory. */
static inline u32 krdma_ring_contiguous(u32 index, u32 count, u32 entries)
{
	u32 run = entries - (index & (entries - 1));

	return count < run ? count : run;
}

#endif /* _KRDMA_RING_LAYOUT_H */
