/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory for the device, the same number of bytes for each WQE of an SQ.
 */
#ifndef _KRDMA_WQE_MEMORY_H
#define _KRDMA_WQE_MEMORY_H

#include <linux/dma-direction.h>
#include <linux/types.h>

struct krdma_qp;

/**
 * struct krdma_wqe_chunk - the memory of some WQEs
 * @data: the memory, mapped; NULL if there is none
 * @dma: its DMA address
 */
struct krdma_wqe_chunk {
	void *data;
	u64 dma;
};

/**
 * struct krdma_wqe_memory - the memory of all WQEs
 * @chunks: no chunk is larger than a page, however deep the queue is; NULL: there is no memory
 * @count: number of @chunks
 * @item: bytes of each WQE
 * @shift: a chunk has the memory of 1 << @shift WQEs
 * @direction: what the device does with it
 */
struct krdma_wqe_memory {
	struct krdma_wqe_chunk *chunks;
	u32 count;
	u32 item;
	u32 shift;
	enum dma_data_direction direction;
};

u64 krdma_wqe_memory_bytes(u32 depth, u32 item);
int krdma_wqe_memory_init(struct krdma_wqe_memory *memory, struct krdma_qp *qp, u32 item,
			  enum dma_data_direction direction);
void krdma_wqe_memory_exit(struct krdma_wqe_memory *memory, struct krdma_qp *qp);

/* The offset of a WQE's memory in its chunk. */
static inline u32 krdma_wqe_memory_offset(const struct krdma_wqe_memory *memory, u32 index)
{
	return (index & ((1U << memory->shift) - 1)) * memory->item;
}

/* The memory of the WQE with this index. */
static inline void *krdma_wqe_memory_data(const struct krdma_wqe_memory *memory, u32 index)
{
	return memory->chunks[index >> memory->shift].data +
	       krdma_wqe_memory_offset(memory, index);
}

/* Its DMA address. */
static inline u64 krdma_wqe_memory_dma(const struct krdma_wqe_memory *memory, u32 index)
{
	return memory->chunks[index >> memory->shift].dma +
	       krdma_wqe_memory_offset(memory, index);
}

#endif /* _KRDMA_WQE_MEMORY_H */
