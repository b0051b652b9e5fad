/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KRDMA_BLK_KEEP_H
#define _KRDMA_BLK_KEEP_H

struct krdma_blk_export;
struct path;

/* Whose a file is, and the one that keeps the data */
int krdma_blk_export_claim(struct krdma_blk_export *export, const struct path *path);
void krdma_blk_export_unclaim(struct krdma_blk_export *export);
int krdma_blk_memory_load(struct krdma_blk_export *export);
int krdma_blk_memory_save(struct krdma_blk_export *export);

#endif /* _KRDMA_BLK_KEEP_H */
