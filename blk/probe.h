/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KRDMA_BLK_PROBE_H
#define _KRDMA_BLK_PROBE_H

struct krdma_blk_device;

/* Probing the server's addresses */
void krdma_blk_probe_init(struct krdma_blk_device *device);
void krdma_blk_probe_wake(struct krdma_blk_device *device);
int krdma_blk_probe(struct krdma_blk_device *device, unsigned int count, unsigned long tried);
void krdma_blk_failback_start(struct krdma_blk_device *device);

#endif /* _KRDMA_BLK_PROBE_H */
