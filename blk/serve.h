/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KRDMA_BLK_SERVE_H
#define _KRDMA_BLK_SERVE_H

#include <linux/types.h>

struct krdma_blk_export;

void krdma_blk_serve_spoiled(void);

/* Connections of clients */
void krdma_blk_serve_init(struct krdma_blk_export *export);
int krdma_blk_serve_open(struct krdma_blk_export *export);
void krdma_blk_serve_begin(struct krdma_blk_export *export);
void krdma_blk_serve_pause(struct krdma_blk_export *export);
void krdma_blk_serve_resume(struct krdma_blk_export *export);
int krdma_blk_serve_end(struct krdma_blk_export *export, bool force);
void krdma_blk_serve_close(struct krdma_blk_export *export);

#endif /* _KRDMA_BLK_SERVE_H */
