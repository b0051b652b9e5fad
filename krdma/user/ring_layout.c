// SPDX-License-Identifier: GPL-2.0
/*
 * The SQ ring and the CQ ring: the layout of their memory.
 */
#include <linux/krdma_conn.h>

#include "user/ring_layout.h"

/* Rounds up to a power of two; @entries is at most KRDMA_RING_ENTRIES_MAX. */
static u32 krdma_ring_round(u32 entries)
{
	u32 rounded = 1;

	while (rounded < entries)
		rounded *= 2;
	return rounded;
}

/*
 * The extra completions, which krdma needs itself, are never stored in the ring.  So a CQ for 64
 * sends, 64 receives and these has a ring of 128 entries.
 */
static u32 krdma_ring_cq_entries(u32 entries)
{
	return krdma_ring_round(entries > 2 * KRDMA_RING_EXTRA ?
				entries - KRDMA_RING_EXTRA : entries);
}

/**
 * krdma_ring_layout_init() - Compute the layout of a ring's memory
 * @sq_entries: entries of the SQ ring that the program asks for; 0: the default
 * @cq_entries: completions that the program asks for; 0: the default
 * @layout: filled in
 *
 * Context: any.
 * Return: 0, or -EINVAL if one exceeds KRDMA_RING_ENTRIES_MAX.
 */
int krdma_ring_layout_init(u32 sq_entries, u32 cq_entries, struct krdma_ring_layout *layout)
{
	if (sq_entries > KRDMA_RING_ENTRIES_MAX || cq_entries > KRDMA_RING_ENTRIES_MAX)
		return -EINVAL;

	layout->sq_entries = krdma_ring_round(sq_entries ? sq_entries : KRDMA_RING_SQ_ENTRIES);
	layout->cq_entries = krdma_ring_cq_entries(cq_entries ? cq_entries :
						   KRDMA_RING_CQ_ENTRIES);
	/* The size of the header is a multiple of a cache line, and so is that of an entry. */
	layout->sqe_offset = sizeof(struct krdma_ring_header);
	layout->cqe_offset = layout->sqe_offset +
			     layout->sq_entries * (u32)sizeof(struct krdma_sqe);
	layout->size = layout->cqe_offset + layout->cq_entries * (u32)sizeof(struct krdma_cqe);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(krdma_ring_layout_init);
