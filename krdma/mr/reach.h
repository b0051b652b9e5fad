/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KRDMA_MR_REACH_H
#define _KRDMA_MR_REACH_H

#include <linux/types.h>

struct krdma_mr;
struct krdma_pd;

/* The same for peers, by their keys. */
int krdma_mr_open_reach(struct krdma_mr *mr);
void krdma_mr_close_reach(struct krdma_mr *mr);
struct krdma_mr *krdma_mr_find_reach(struct krdma_pd *pd, u32 rkey);
struct krdma_mr *krdma_mr_reach(struct krdma_pd *pd, u32 rkey, u64 addr, u32 length, u32 access);
u64 krdma_mr_reach_atomic(struct krdma_mr *mr, u64 addr, bool add, u64 operand, u64 swap);
void krdma_mr_reach_write(struct krdma_mr *mr, u64 addr, const void *from, u32 length);
void krdma_mr_reach_read(struct krdma_mr *mr, u64 addr, void *to, u32 length);

#endif /* _KRDMA_MR_REACH_H */
