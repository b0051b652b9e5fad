/* SPDX-License-Identifier: GPL-2.0 */
/* Memory that a device can access: pages, their DMA addresses, and keys. */
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
struct page;

/*
 * The maximum number of ib_mrs of a memory region: with 512 pages in each, 8 GiB; with 4096, which
 * are the most, 64 GiB.  It limits what one call can take of the device, and how long the call
 * takes.
 */
#define KRDMA_MR_KEYS_MAX	4096

/**
 * struct krdma_mem_key - the ib_mr of memory, or of a part of it
 * @ib: ib_core's MR; NULL if it is not allocated, or was deregistered
 * @charge: charge for @ib
 */
struct krdma_mem_key {
	struct ib_mr *ib;
	struct krdma_charge charge;
};

/**
 * struct krdma_chunk - range of memory with contiguous DMA addresses
 * @offset: start in bytes from the start of the memory; it ends where the next chunk starts
 * @addr: its DMA address
 */
struct krdma_chunk {
	u64 offset;
	u64 addr;
};

/**
 * struct krdma_mem - memory that a device can access
 * @pd: the PD; kept by the owner of the memory, and after retirement by connections in the PD
 * @node: entry of the PD's list of retired memory
 * @access: &enum krdma_access
 * @length: bytes
 * @direction: DMA direction
 * @table: its pages; empty if the provider manages them
 * @mapped: @table has DMA addresses
 * @chunks: the DMA addresses without gaps, for kernel memory, and for memory with @pages
 * @chunk_count: number of @chunks
 * @mrs: its ib_mrs, in the order of the memory; NULL if it has none.  Each but the last spans
 *	@mr_span bytes, the first one less the offset of the memory in its page.
 * @mr_count: number of @mrs; 0 without @mrs
 * @mr_span: see @mrs; 0: one spans all
 * @one: storage for @mrs if there is only one
 * @of_user: the pages belong to a process
 * @pages: these pages, for the processor to copy, with the first one at the start of @table; NULL:
 *	only the device accesses them
 * @mm: the process's mm, if krdma has pinned and charged the pages
 * @charged: number of charged pages
 * @unknown: no peer and no consumer has got a key: the registration has failed
 * @stuck: a key could not be ended, so its pages stay where they are
 * @freed: called when the memory is freed; NULL: no callback
 * @context: argument of @freed
 *
 * No field changes between creation and end, except @mrs and @stuck: krdma_mem_revoke() may end the
 * former first.
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
	struct page **pages;
	struct mm_struct *mm;
	unsigned long charged;
	bool unknown;
	bool stuck;
	void (*freed)(void *context);
	void *context;
};

/* The rights of a peer. */
#define KRDMA_ACCESS_REMOTE	(KRDMA_ACCESS_REMOTE_READ | KRDMA_ACCESS_REMOTE_WRITE | \
				 KRDMA_ACCESS_REMOTE_ATOMIC)

int krdma_access_ib(u32 access);
int krdma_access_check(struct krdma_device *dev, u32 access);

struct krdma_mem *krdma_mem_create(struct krdma_pd *pd, u64 length, u32 access);
int krdma_mem_map_buffer(struct krdma_mem *mem, void *buffer);
int krdma_mem_map_sg(struct krdma_mem *mem, struct scatterlist *sg,
		     unsigned int entries);
int krdma_mem_map_table(struct krdma_mem *mem);
int krdma_mem_register(struct krdma_mem *mem, u64 iova);
struct krdma_mem *krdma_mem_create_view(struct krdma_pd *pd, const struct krdma_mem *of, u64 offset,
					u64 length, u32 access, u64 iova);
int krdma_mem_make_chunks(struct krdma_mem *mem);
int krdma_mem_ranges(const struct krdma_mem *mem, u64 offset, u32 length, u32 lkey,
		     struct krdma_sge *sges, unsigned int room);
void krdma_mem_adopt(struct krdma_mem *mem, struct ib_mr *ib);
int krdma_mem_sges(const struct krdma_mem *mem, u64 offset, u32 length,
		   struct ib_sge *ib_sges, unsigned int room);
void krdma_mem_revoke(struct krdma_mem *mem);
bool krdma_mem_release(struct krdma_mem *mem);

/* Add and remove a queue pair that a peer can use, by its pd_node; process context. */
void krdma_pd_connected(struct krdma_pd *pd, struct list_head *node);
void krdma_pd_disconnected(struct krdma_pd *pd, struct list_head *node);

#endif /* _KRDMA_MEM_H */
