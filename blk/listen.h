/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KRDMA_BLK_LISTEN_H
#define _KRDMA_BLK_LISTEN_H

#include <linux/types.h>

struct krdma_blk_listen_ops;

/* The addresses where the exports are served: the attribute "listen" of the root. */
ssize_t krdma_blk_listen_show(char *page);
ssize_t krdma_blk_listen_store(const char *page, size_t count);
int krdma_blk_listen_init(void);
void krdma_blk_listen_exit(void);

/* Listeners */
int krdma_blk_listen_begin(const struct krdma_blk_listen_ops *ops);
void krdma_blk_listen_end(void);
void krdma_blk_listen_schedule(void);

#endif /* _KRDMA_BLK_LISTEN_H */
