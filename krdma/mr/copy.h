/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KRDMA_MR_COPY_H
#define _KRDMA_MR_COPY_H

#include <linux/types.h>

struct krdma_mr;
struct krdma_pd;
struct krdma_sge;

/* The same for memory that the processor copies. */
bool krdma_mr_can_copy(const struct krdma_mr *mr);
int krdma_mr_begin_copy(struct krdma_mr *mr, struct krdma_pd *pd, u64 addr, u32 length,
			u32 access);
void krdma_mr_copy_from(struct krdma_mr *mr, u64 addr, void *to, u32 length);
void krdma_mr_copy_to(struct krdma_mr *mr, u64 addr, const void *from, u32 length);

/* The DMA addresses of the beginning of a range, which is in use, for a device. */
int krdma_mr_ranges(const struct krdma_mr *mr, u64 addr, u32 length, u32 lkey,
		    struct krdma_sge *sges, unsigned int room);

#endif /* _KRDMA_MR_COPY_H */
