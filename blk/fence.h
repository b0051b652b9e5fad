/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KRDMA_BLK_FENCE_H
#define _KRDMA_BLK_FENCE_H

struct krdma_blk_device;

/* Failing requests */
void krdma_blk_fence_init(struct krdma_blk_device *device);
void krdma_blk_fence_raise(struct krdma_blk_device *device);
void krdma_blk_fence_up(struct krdma_blk_device *device);
void krdma_blk_path_kill(struct krdma_blk_device *device);

#endif /* _KRDMA_BLK_FENCE_H */
