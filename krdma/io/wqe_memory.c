// SPDX-License-Identifier: GPL-2.0
/*
 * Memory for the device, the same number of bytes for each WQE of an SQ.
 *
 * It consists of chunks of a page.  One allocation for a deep queue would be of many contiguous
 * pages, which there need not be, and more than can be mapped at once where the kernel copies what
 * devices access.
 */
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <rdma/ib_verbs.h>

#include "core/device.h"
#include "core/resource.h"
#include "core/session.h"
#include "io/wq.h"
#include "io/wqe_memory.h"

static size_t krdma_wqe_chunk_bytes(const struct krdma_wqe_memory *memory)
{
	return (size_t)memory->item << memory->shift;
}

static int krdma_wqe_chunk_init(struct krdma_wqe_memory *memory, struct krdma_qp *qp,
				struct krdma_wqe_chunk *chunk)
{
	struct ib_device *ibdev = qp->pd->ib->device;
	size_t bytes = krdma_wqe_chunk_bytes(memory);
	void *data;
	u64 dma;

	data = kzalloc_node(bytes, GFP_KERNEL_ACCOUNT, krdma_device_node(qp->pd->dev));
	if (!data)
		return -ENOMEM;
	dma = ib_dma_map_single(ibdev, data, bytes, memory->direction);
	if (ib_dma_mapping_error(ibdev, dma)) {
		kfree(data);
		return -ENOMEM;
	}
	*chunk = (struct krdma_wqe_chunk) { .data = data, .dma = dma };
	return 0;
}

/* Returns the binary logarithm of the number of WQEs in one chunk.  @depth is a power of two. */
static u32 krdma_wqe_chunk_shift(u32 depth, u32 item)
{
	return ilog2(min_t(u32, depth, PAGE_SIZE / item));
}

/**
 * krdma_wqe_memory_bytes() - How much krdma_wqe_memory_init() allocates
 * @depth: number of WQEs, a power of two
 * @item: bytes of each WQE, at most a page
 *
 * Context: any.
 * Return: bytes to charge: kmalloc() rounds chunks up.
 */
u64 krdma_wqe_memory_bytes(u32 depth, u32 item)
{
	u32 shift = krdma_wqe_chunk_shift(depth, item);

	return (u64)(depth >> shift) * (sizeof(struct krdma_wqe_chunk) +
					roundup_pow_of_two((unsigned long)item << shift));
}

/**
 * krdma_wqe_memory_init() - Allocate memory for the WQEs of an SQ
 * @memory: zeroed
 * @qp: the QP, with its WQEs allocated; not open
 * @item: bytes of each WQE, at most a page
 * @direction: what the device does with the memory
 *
 * Context: process context; may sleep.
 * Return: 0; or -ENOMEM, with nothing allocated.
 */
int krdma_wqe_memory_init(struct krdma_wqe_memory *memory, struct krdma_qp *qp, u32 item,
			  enum dma_data_direction direction)
{
	u32 depth = qp->send.mask + 1;
	int ret;

	memory->item = item;
	memory->shift = krdma_wqe_chunk_shift(depth, item);
	memory->direction = direction;
	memory->count = depth >> memory->shift;
	memory->chunks = kvzalloc_objs(*memory->chunks, memory->count, GFP_KERNEL_ACCOUNT);
	if (!memory->chunks)
		return -ENOMEM;

	for (u32 i = 0; i < memory->count; i++) {
		ret = krdma_wqe_chunk_init(memory, qp, &memory->chunks[i]);
		if (ret) {
			krdma_wqe_memory_exit(memory, qp);
			return ret;
		}
	}
	return 0;
}

/**
 * krdma_wqe_memory_exit() - Free the memory for the WQEs of an SQ
 * @memory: the memory; krdma_wqe_memory_init() need not have been called, or may have failed
 * @qp: the QP, closed, and the device's QP is destroyed
 *
 * Context: process context.
 */
void krdma_wqe_memory_exit(struct krdma_wqe_memory *memory, struct krdma_qp *qp)
{
	if (!memory->chunks)
		return;
	for (u32 i = 0; i < memory->count && memory->chunks[i].data; i++) {
		ib_dma_unmap_single(qp->pd->ib->device, memory->chunks[i].dma,
				    krdma_wqe_chunk_bytes(memory), memory->direction);
		kfree(memory->chunks[i].data);
	}
	kvfree(memory->chunks);
	memory->chunks = NULL;
}
