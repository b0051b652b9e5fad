/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Split a work request with many SGEs into parts that a device accepts as work requests.  Pure
 * functions.
 */
#ifndef _KRDMA_SPLIT_H
#define _KRDMA_SPLIT_H

#include "core/pure.h"

#ifdef __KERNEL__

#include <rdma/ib_verbs.h>

#else

/* An SGE towards the device, as in <rdma/ib_verbs.h>. */
struct ib_sge {
	u64 addr;
	u32 length;
	u32 lkey;
};

#endif /* __KERNEL__ */

/**
 * struct krdma_wr_part - part of a work request, posted as one work request to the device
 * @offset: start of the part in the work request, in bytes; also the distance of its remote
 *	address from that of the work request
 * @length: bytes
 * @count: number of its SGEs
 */
struct krdma_wr_part {
	u64 offset;
	u32 length;
	u32 count;
};

/**
 * struct krdma_wr_split - state of splitting a work request
 * @sges: all SGEs of the work request
 * @count: number of @sges
 * @max_sge: maximum number of SGEs in a part
 * @max_bytes: maximum number of bytes in a part
 * @index: index of the first SGE that has bytes left, @count if there is none
 * @used: bytes of that SGE that are already in parts
 * @offset: bytes of the work request that are already in parts
 * @ended: the last part was returned
 */
struct krdma_wr_split {
	const struct ib_sge *sges;
	u32 count;
	u32 max_sge;
	u32 max_bytes;
	u32 index;
	u32 used;
	u64 offset;
	bool ended;
};

u64 krdma_wr_split_count(const struct ib_sge *sges, u32 count, u32 max_sge,
			 u32 max_bytes);
int krdma_wr_split_init(struct krdma_wr_split *split, const struct ib_sge *sges,
			u32 count, u32 max_sge, u32 max_bytes);
bool krdma_wr_split_next(struct krdma_wr_split *split, struct ib_sge *sges,
			 struct krdma_wr_part *part);

#endif /* _KRDMA_SPLIT_H */
