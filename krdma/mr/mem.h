/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory that a device can reach: pages, their addresses for it, and a key.
 */
#ifndef _KRDMA_MEM_H
#define _KRDMA_MEM_H

#include <linux/dma-direction.h>
#include <linux/list.h>
#include <linux/scatterlist.h>
#include <linux/types.h>

#include "core/cgroup.h"
#include "core/private.h"
#include "mr/split.h"

struct ib_mr;
struct krdma_pd;
struct mm_struct;

/*
 * How many registrations a region takes at most: with 512 pages in each, 8 GiB.  It bounds
 * what one call can take of the device, and how long it takes.
 */
#define KRDMA_MR_KEYS_MAX	4096

/**
 * struct krdma_mem_key - a registration of memory, or of a part of it
 * @ib: ib_core's; NULL if it is not allocated, or has been deregistered
 * @charge: of @ib
 */
struct krdma_mem_key {
	struct ib_mr *ib;
	struct krdma_charge charge;
};

/**
 * struct krdma_chunk - memory that has adjacent addresses for the device
 * @offset: where it begins in the memory; it ends where the next one begins
 * @addr: its address for the device
 */
struct krdma_chunk {
	u64 offset;
	u64 addr;
};

/**
 * struct krdma_mem - memory that a device can reach
 * @pd: where; kept by who has the memory, and later by connections in it
 * @node: in the domain's list of retired memory
 * @access: &enum krdma_access
 * @length: bytes
 * @direction: in which way data go
 * @table: its pages; empty if the provider looks after them
 * @mapped: @table has addresses for the device
 * @chunks: the same without holes, for memory of the kernel
 * @chunk_count: how many
 * @mrs: its registrations, in the order of the memory; NULL if it has none.  All but the
 *	last span @mr_span bytes, the first one less the place of the memory in its page.
 * @mr_count: how many; 0 without @mrs
 * @mr_span: see @mrs; 0: there is one for all
 * @one: @mrs, if there is one
 * @of_user: the pages are a process's
 * @mm: that process's, if krdma has pinned and charged the pages
 * @charged: how many
 *
 * Nothing changes from its making to its end but what is in @mrs, which
 * krdma_mem_revoke() may end first.
 */
struct krdma_mem {
	struct krdma_pd *pd;
	struct list_head node;
	u32 access;
	u64 length;
	enum dma_data_direction direction;
	struct sg_table table;
	bool mapped;
	struct krdma_chunk *chunks;
	unsigned int chunk_count;
	struct krdma_mem_key *mrs;
	unsigned int mr_count;
	u64 mr_span;
	struct krdma_mem_key one;
	bool of_user;
	struct mm_struct *mm;
	unsigned long charged;
};

/* The rights that a peer can have. */
#define KRDMA_ACCESS_REMOTE	(KRDMA_ACCESS_REMOTE_READ | KRDMA_ACCESS_REMOTE_WRITE | \
				 KRDMA_ACCESS_REMOTE_ATOMIC)

struct krdma_mem *krdma_mem_create(struct krdma_pd *pd, u64 length, u32 access);
int krdma_mem_map_buffer(struct krdma_mem *mem, void *buffer);
int krdma_mem_map_sg(struct krdma_mem *mem, struct scatterlist *sg,
		     unsigned int entries);
int krdma_mem_map_user(struct krdma_mem *mem, unsigned long start);
int krdma_mem_map_table(struct krdma_mem *mem);
int krdma_mem_register(struct krdma_mem *mem, u64 iova);
void krdma_mem_adopt(struct krdma_mem *mem, struct ib_mr *ib);
int krdma_mem_segments(const struct krdma_mem *mem, u64 offset, u32 length,
		       struct krdma_segment *segments, unsigned int room);
void krdma_mem_revoke(struct krdma_mem *mem);
void krdma_mem_release(struct krdma_mem *mem);
void krdma_mem_release_user(struct krdma_mem *mem);

#endif /* _KRDMA_MEM_H */
