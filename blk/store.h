/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A block device or a file of this host that has the data of an export.
 */
#ifndef _KRDMA_BLK_STORE_H
#define _KRDMA_BLK_STORE_H

#include <linux/errseq.h>
#include <linux/types.h>

struct file;
struct krdma_blk_memory;

/**
 * struct krdma_blk_store - a store that may be open
 * @file: the block device or file; NULL: it is not open
 * @since: the errors of writing back that were known when it was opened
 * @lost: the first error of a flush; 0: none
 */
struct krdma_blk_store {
	struct file *file;
	errseq_t since;
	int lost;
};

/**
 * struct krdma_blk_span - what is transferred between a store and memory
 * @offset: where it begins in the store, in bytes
 * @length: in bytes, at most KRDMA_BLK_SLOT_SIZE
 * @memory: the memory
 * @from: where it begins in the memory, in bytes
 */
struct krdma_blk_span {
	u64 offset;
	u32 length;
	const struct krdma_blk_memory *memory;
	u64 from;
};

int krdma_blk_store_open(struct krdma_blk_store *store, const char *path, u32 block_size,
			 bool read_only);
void krdma_blk_store_close(struct krdma_blk_store *store);
u64 krdma_blk_store_size(const struct krdma_blk_store *store);
int krdma_blk_store_read(const struct krdma_blk_store *store, const struct krdma_blk_span *span);
int krdma_blk_store_write(struct krdma_blk_store *store, const struct krdma_blk_span *span,
			  bool stable);
int krdma_blk_store_zero(const struct krdma_blk_store *store, u64 offset, u64 length,
			 bool discard);
int krdma_blk_store_flush(struct krdma_blk_store *store);

#endif /* _KRDMA_BLK_STORE_H */
