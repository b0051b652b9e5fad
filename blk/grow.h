/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KRDMA_BLK_GROW_H
#define _KRDMA_BLK_GROW_H

#include <linux/types.h>

struct krdma_blk_export;
struct krdma_blk_memory;

/* Memory that grows */
int krdma_blk_serve_grow(struct krdma_blk_export *export, const struct krdma_blk_memory *more);
void krdma_blk_serve_grow_end(struct krdma_blk_export *export, bool grown);

#endif /* _KRDMA_BLK_GROW_H */
