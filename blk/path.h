/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KRDMA_BLK_PATH_H
#define _KRDMA_BLK_PATH_H

struct krdma_blk_device;

/* Connections */
void krdma_blk_path_init(struct krdma_blk_device *device);
int krdma_blk_path_open(struct krdma_blk_device *device);
void krdma_blk_path_start(struct krdma_blk_device *device);
void krdma_blk_path_close(struct krdma_blk_device *device);
void krdma_blk_path_give_up(struct krdma_blk_device *device);

#endif /* _KRDMA_BLK_PATH_H */
