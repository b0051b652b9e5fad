/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KRDMA_BLK_DISK_H
#define _KRDMA_BLK_DISK_H

#include <linux/types.h>

struct krdma_blk_device;

/* Waits until the last disk is freed, which may be later than its item. */
void krdma_blk_disks_wait(void);

/* The disk */
void krdma_blk_disk_init(struct krdma_blk_device *device);
int krdma_blk_disk_add(struct krdma_blk_device *device);
void krdma_blk_disk_drop(struct krdma_blk_device *device);
void krdma_blk_disk_resize(struct krdma_blk_device *device, u64 size);
int krdma_blk_disk_shut(struct krdma_blk_device *device, bool force);
void krdma_blk_disk_remove(struct krdma_blk_device *device);

#endif /* _KRDMA_BLK_DISK_H */
