/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KRDMA_BLK_TABLE_H
#define _KRDMA_BLK_TABLE_H

struct krdma_blk_geometry;
struct krdma_blk_queue;
struct krdma_wc;

/* The table of rkeys */
int krdma_blk_table_read(struct krdma_blk_queue *queue, const struct krdma_blk_geometry *geometry);
void krdma_blk_table_read_done(struct krdma_blk_queue *queue,
			       const struct krdma_wc *completion);

#endif /* _KRDMA_BLK_TABLE_H */
