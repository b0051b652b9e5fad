/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One operation on many pieces of local memory, cut to what a device takes in
 * one request.  Pure.
 */
#ifndef _KRDMA_SPLIT_H
#define _KRDMA_SPLIT_H

#include "core/pure.h"

/**
 * struct krdma_segment - a piece of local memory
 * @addr: where it begins, as the device sees it
 * @length: its length in bytes; 0 is allowed, and nothing is there then
 * @key: the local key of its registration
 */
struct krdma_segment {
	u64 addr;
	u32 length;
	u32 key;
};

/**
 * struct krdma_wr_part - what goes into one request
 * @offset: where it begins in the operation; its remote address is that far
 *	behind the operation's
 * @length: its length in bytes
 * @count: its local segments
 */
struct krdma_wr_part {
	u64 offset;
	u32 length;
	u32 count;
};

/**
 * struct krdma_wr_split - how far an operation has been cut
 * @segments: all segments of the operation
 * @count: their number
 * @max_sge: segments that fit in a request
 * @max_bytes: bytes that fit in a request
 * @index: the first segment that is not used up, @count if there is none
 * @used: bytes of it that are
 * @offset: bytes of the operation that are
 * @ended: the last piece has been given out
 */
struct krdma_wr_split {
	const struct krdma_segment *segments;
	u32 count;
	u32 max_sge;
	u32 max_bytes;
	u32 index;
	u32 used;
	u64 offset;
	bool ended;
};

int krdma_wr_split_check(const struct krdma_segment *segments, u32 count, u64 remote_addr,
			 u64 *length);
u64 krdma_wr_split_count(const struct krdma_segment *segments, u32 count, u32 max_sge,
			 u32 max_bytes);
int krdma_wr_split_init(struct krdma_wr_split *split, const struct krdma_segment *segments,
			u32 count,
			u32 max_sge, u32 max_bytes);
bool krdma_wr_split_next(struct krdma_wr_split *split, struct krdma_segment *segments,
			 struct krdma_wr_part *part);

#endif /* _KRDMA_SPLIT_H */
