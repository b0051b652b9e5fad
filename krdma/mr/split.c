// SPDX-License-Identifier: GPL-2.0
/*
 * Split a work request with many SGEs into parts that a device accepts as work
 * requests.  Pure functions.
 *
 * A part takes as much as fits: it ends when it has max_bytes bytes or max_sge SGEs,
 * or at the end of the work request.  An SGE may be spread over several parts; SGEs of
 * length 0 are left out.  A work request of length 0 is one part without SGEs, because
 * it still has a completion.
 *
 *	krdma_wr_split_init(&split, sges, count, max_sge, max_bytes);
 *	while (krdma_wr_split_next(&split, sge, &part))
 *		post(sge, part.count, remote_addr + part.offset);
 */
#include "mr/split.h"

static u32 krdma_wr_split_min(u32 a, u32 b)
{
	return a < b ? a : b;
}

/**
 * krdma_wr_split_count() - Count the parts of a work request
 * @sges: its local SGEs; may be NULL if @count is 0
 * @count: number of @sges
 * @max_sge: maximum number of SGEs in a part
 * @max_bytes: maximum number of bytes in a part
 *
 * The run time depends only on @count, however small @max_bytes is.
 *
 * Context: any.
 * Return: number of parts that krdma_wr_split_next() will return; 0 if krdma_wr_split_init() would
 * fail.
 */
u64 krdma_wr_split_count(const struct ib_sge *sges, u32 count, u32 max_sge,
			 u32 max_bytes)
{
	/* The last part so far: a work request has at least one. */
	u64 parts = 1;
	u32 sge = 0;
	u32 bytes = 0;

	if (!max_sge || !max_bytes || (count && !sges))
		return 0;

	for (u32 i = 0; i < count; i++) {
		u32 length = sges[i].length;
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
		 * The SGE fills the space left in the part, which may be none.  The rest goes
		 * into further parts, of which all but the last are full.
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

/* Advance to an SGE that has bytes left. */
static void krdma_wr_split_settle(struct krdma_wr_split *split)
{
	while (split->index < split->count && split->used == split->sges[split->index].length) {
		split->index++;
		split->used = 0;
	}
}

/**
 * krdma_wr_split_init() - Start to split a work request
 * @split: filled in on success
 * @sges: its local SGEs, none beyond the end of the address space, which stay unchanged until the
 *	last part; may be NULL if @count is 0
 * @count: number of @sges
 * @max_sge: maximum number of SGEs in a part
 * @max_bytes: maximum number of bytes in a part
 *
 * Context: any.
 * Return: 0; -EINVAL if @max_sge or @max_bytes is 0, or there is a count without SGEs.
 */
int krdma_wr_split_init(struct krdma_wr_split *split, const struct ib_sge *sges,
			u32 count,
			u32 max_sge, u32 max_bytes)
{
	if (!max_sge || !max_bytes || (count && !sges))
		return -EINVAL;

	*split = (struct krdma_wr_split) {
		.sges = sges,
		.count = count,
		.max_sge = max_sge,
		.max_bytes = max_bytes,
	};
	krdma_wr_split_settle(split);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(krdma_wr_split_init);

/**
 * krdma_wr_split_next() - Get the next part of a work request
 * @split: initialized by krdma_wr_split_init()
 * @sges: filled in: the SGEs of the part; an array of max_sge entries
 * @part: filled in
 *
 * Context: any.
 * Return: true; false if there is no part left, and nothing is filled in.
 */
bool krdma_wr_split_next(struct krdma_wr_split *split, struct ib_sge *sges,
			 struct krdma_wr_part *part)
{
	u32 length = 0;
	u32 count = 0;

	if (split->ended)
		return false;

	while (split->index < split->count && count < split->max_sge && length < split->max_bytes) {
		const struct ib_sge *from = &split->sges[split->index];
		u32 take = krdma_wr_split_min(from->length - split->used,
					      split->max_bytes - length);

		sges[count++] = (struct ib_sge) {
			.addr = from->addr + split->used,
			.length = take,
			.lkey = from->lkey,
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
