/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The memory of an export, and its registration with devices.
 */
#ifndef _KRDMA_BLK_MEMORY_H
#define _KRDMA_BLK_MEMORY_H

#include <linux/list.h>
#include <linux/sizes.h>
#include <linux/types.h>

struct krdma_blk_entry;
struct krdma_device;
struct krdma_mr;
struct krdma_session;

#define KRDMA_BLK_SLAB_SIZE	SZ_2M

/**
 * struct krdma_blk_slab - a piece of memory that is contiguous, or nearly so
 * @order: page order of its blocks
 * @count: number of blocks
 * @blocks: first pages of the blocks
 */
struct krdma_blk_slab {
	unsigned int order;
	unsigned int count;
	struct page **blocks;
};

/**
 * struct krdma_blk_memory - all memory of an export
 * @slab_count: number of slabs that are allocated
 * @slabs: the slabs
 */
struct krdma_blk_memory {
	unsigned long slab_count;
	struct krdma_blk_slab *slabs;
};

/**
 * struct krdma_blk_chunks - the chunks of a window
 * @count: number of chunks, each with an rkey
 * @mrs: MRs of the chunks; NULL: there are no chunks
 * @table: table of rkeys that peers read
 * @table_mr: MR of @table
 */
struct krdma_blk_chunks {
	u32 count;
	struct krdma_mr **mrs;
	struct krdma_blk_entry *table;
	struct krdma_mr *table_mr;
};

/**
 * struct krdma_blk_window - the memory as peers of one device access it
 * @node: entry of the export's list; for the owner of the window
 * @dev: the device
 * @device_id: ID of the device
 * @epoch: that of the export when it was registered; for the owner of the window
 * @users: number of connections that use it; for the owner of the window
 * @chunk_size: bytes that one rkey covers
 * @memory: the memory
 * @more: what it is to grow by; valid while there is @grown
 * @chunks: the chunks that peers access
 * @grown: those that they are to access when the memory has grown, among them all of @chunks
 */
struct krdma_blk_window {
	struct list_head node;
	struct krdma_device *dev;
	u32 device_id;
	u32 epoch;
	unsigned int users;
	u32 chunk_size;
	const struct krdma_blk_memory *memory;
	const struct krdma_blk_memory *more;
	struct krdma_blk_chunks chunks;
	struct krdma_blk_chunks grown;
};

int krdma_blk_memory_alloc(struct krdma_blk_memory *memory, u64 size);
int krdma_blk_memory_alloc_more(const struct krdma_blk_memory *memory, u64 size,
				struct krdma_blk_memory *more);
void krdma_blk_memory_add(struct krdma_blk_memory *memory, u64 size, struct krdma_blk_memory *more);
void krdma_blk_memory_drop_more(const struct krdma_blk_memory *memory,
				struct krdma_blk_memory *more);
void krdma_blk_memory_free(struct krdma_blk_memory *memory);
int krdma_blk_memory_check(u64 size);
void *krdma_blk_memory_at(const struct krdma_blk_memory *memory, u64 offset, size_t *length);
void krdma_blk_memory_zero(const struct krdma_blk_memory *memory, u64 offset, size_t length);

struct krdma_blk_window *krdma_blk_window_open(const struct krdma_blk_memory *memory,
					       struct krdma_session *session, u32 device_id,
					       bool read_only);
void krdma_blk_window_close(struct krdma_blk_window *window);
int krdma_blk_window_grow(struct krdma_blk_window *window, const struct krdma_blk_memory *more,
			  struct krdma_session *session, bool read_only);
void krdma_blk_window_grow_end(struct krdma_blk_window *window);
void krdma_blk_window_grow_undo(struct krdma_blk_window *window);
bool krdma_blk_window_is_gone(const struct krdma_blk_window *window);

#endif /* _KRDMA_BLK_MEMORY_H */
