// SPDX-License-Identifier: GPL-2.0
/*
 * One operation on many pieces of local memory, cut to what a device takes in
 * one request.  Pure.
 *
 * A piece takes as much as fits: it ends when it has max_bytes bytes or max_sge
 * segments, or with the operation.  A segment may be spread over several pieces;
 * segments of length 0 are left out.  An operation of length 0 is one piece
 * without segments, because it still has a completion.
 *
 *	krdma_wr_split_check(segments, count, remote_addr, &length);
 *	krdma_wr_split_init(&split, segments, count, max_sge, max_bytes);
 *	while (krdma_wr_split_next(&split, sge, &piece))
 *		post(sge, piece.count, remote_addr + piece.offset);
 */
#include "mr/split.h"

static u32 krdma_wr_split_min(u32 a, u32 b)
{
	return a < b ? a : b;
}

/**
 * krdma_wr_split_check - whether all addresses of an operation are possible
 * @segments: its local segments; may be NULL if @count is 0
 * @count: their number
 * @remote_addr: the remote address of its first byte, 0 if it has none
 * @length: filled in unless it fails: the bytes of the operation
 *
 * The sum of 32-bit lengths of a 32-bit number of segments fits into 64 bits.
 *
 * Context: any.
 * Return: 0; -EINVAL if a local segment goes beyond the end of all addresses, or
 * there is a count without segments; -EOVERFLOW if the remote range does.
 */
int krdma_wr_split_check(const struct krdma_segment *segments, u32 count, u64 remote_addr,
			 u64 *length)
{
	u64 total = 0;

	if (count && !segments)
		return -EINVAL;
	for (u32 i = 0; i < count; i++) {
		if (segments[i].addr + segments[i].length < segments[i].addr)
			return -EINVAL;
		total += segments[i].length;
	}
	if (remote_addr + total < remote_addr)
		return -EOVERFLOW;

	*length = total;
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(krdma_wr_split_check);

/**
 * krdma_wr_split_count - into how many pieces an operation will be cut
 * @segments: its local segments; may be NULL if @count is 0
 * @count: their number
 * @max_sge: segments that fit in a request
 * @max_bytes: bytes that fit in a request
 *
 * Takes a time that depends on @count alone, however small @max_bytes is.
 *
 * Context: any.
 * Return: how often krdma_wr_split_next() will give out a piece; 0 where
 * krdma_wr_split_init() would fail.
 */
u64 krdma_wr_split_count(const struct krdma_segment *segments, u32 count, u32 max_sge,
			 u32 max_bytes)
{
	/* The last piece so far: an operation has at least one. */
	u64 parts = 1;
	u32 sge = 0;
	u32 bytes = 0;

	if (!max_sge || !max_bytes || (count && !segments))
		return 0;

	for (u32 i = 0; i < count; i++) {
		u32 length = segments[i].length;
		u32 more;

		if (!length)
			continue;
		if (sge == max_sge) {
			parts++;
			sge = 0;
			bytes = 0;
		}
		sge++;
		if (length <= max_bytes - bytes) {
			bytes += length;
			continue;
		}

		/*
		 * It fills what room is left, which may be none.  The rest has
		 * pieces of its own, of which all but the last are full.
		 */
		length -= max_bytes - bytes;
		more = (length - 1) / max_bytes;
		parts += (u64)more + 1;
		sge = 1;
		bytes = length - more * max_bytes;
	}
	return parts;
}
EXPORT_SYMBOL_IF_KUNIT(krdma_wr_split_count);

/* Goes on to a segment that has bytes left. */
static void krdma_wr_split_settle(struct krdma_wr_split *split)
{
	while (split->index < split->count && split->used == split->segments[split->index].length) {
		split->index++;
		split->used = 0;
	}
}

/**
 * krdma_wr_split_init - begin to cut an operation
 * @split: filled in unless it fails
 * @segments: its local segments, which krdma_wr_split_check() has seen and which stay
 *	as they are until the last piece; may be NULL if @count is 0
 * @count: their number
 * @max_sge: segments that fit in a request
 * @max_bytes: bytes that fit in a request
 *
 * Context: any.
 * Return: 0; -EINVAL if nothing fits in a request, or there is a count without
 * segments.
 */
int krdma_wr_split_init(struct krdma_wr_split *split, const struct krdma_segment *segments,
			u32 count,
			u32 max_sge, u32 max_bytes)
{
	if (!max_sge || !max_bytes || (count && !segments))
		return -EINVAL;

	*split = (struct krdma_wr_split) {
		.segments = segments,
		.count = count,
		.max_sge = max_sge,
		.max_bytes = max_bytes,
	};
	krdma_wr_split_settle(split);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(krdma_wr_split_init);

/**
 * krdma_wr_split_next - cut off the next piece
 * @split: begun with krdma_wr_split_init()
 * @segments: filled in: the piece's segments; has room for max_sge of them
 * @part: filled in
 *
 * Context: any.
 * Return: true; false if there was no piece left, and nothing is filled in.
 */
bool krdma_wr_split_next(struct krdma_wr_split *split, struct krdma_segment *segments,
			 struct krdma_wr_part *part)
{
	u32 length = 0;
	u32 count = 0;

	if (split->ended)
		return false;

	while (split->index < split->count && count < split->max_sge && length < split->max_bytes) {
		const struct krdma_segment *from = &split->segments[split->index];
		u32 take = krdma_wr_split_min(from->length - split->used,
					      split->max_bytes - length);

		segments[count++] = (struct krdma_segment) {
			.addr = from->addr + split->used,
			.length = take,
			.key = from->key,
		};
		length += take;
		split->used += take;
		krdma_wr_split_settle(split);
	}

	*part = (struct krdma_wr_part) {
		.offset = split->offset,
		.length = length,
		.count = count,
	};
	split->offset += length;
	split->ended = split->index == split->count;
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(krdma_wr_split_next);
