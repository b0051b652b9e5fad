// SPDX-License-Identifier: GPL-2.0
/*
 * The two rings of a queue: how their memory is divided.
 */
#include <linux/krdma_conn.h>

#include "user/ring_layout.h"

/* The power of two that is not below; of what is not above KRDMA_RING_ENTRIES_MAX. */
static u32 krdma_ring_round(u32 entries)
{
	u32 rounded = 1;

	while (rounded < entries)
		rounded *= 2;
	return rounded;
}

/*
 * Those that are not for operations never come to the ring: so one for 64 sends, 64 receives
 * and these has 128 entries.
 */
static u32 krdma_ring_cq_entries(u32 entries)
{
	return krdma_ring_round(entries > 2 * KRDMA_RING_EXTRA ?
				entries - KRDMA_RING_EXTRA : entries);
}

/**
 * krdma_ring_layout_init - divide the memory of a queue
 * @sq_entries: entries that the program wants; 0: it does not say
 * @cq_entries: completions, likewise
 * @layout: filled in
 *
 * Context: any.
 * Return: 0, or -EINVAL if one is above KRDMA_RING_ENTRIES_MAX.
 */
int krdma_ring_layout_init(u32 sq_entries, u32 cq_entries, struct krdma_ring_layout *layout)
{
	if (sq_entries > KRDMA_RING_ENTRIES_MAX || cq_entries > KRDMA_RING_ENTRIES_MAX)
		return -EINVAL;

	layout->sq_entries = krdma_ring_round(sq_entries ? sq_entries : KRDMA_RING_SQ_ENTRIES);
	layout->cq_entries = krdma_ring_cq_entries(cq_entries ? cq_entries :
						   KRDMA_RING_CQ_ENTRIES);
	/* Its length is a multiple of a cache line, and so is an entry's. */
	layout->sqe_offset = sizeof(struct krdma_ring_header);
	layout->cqe_offset = layout->sqe_offset +
			     layout->sq_entries * (u32)sizeof(struct krdma_sqe);
	layout->size = layout->cqe_offset + layout->cq_entries * (u32)sizeof(struct krdma_cqe);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(krdma_ring_layout_init);
