/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KRDMA_BLK_CLIENT_H
#define _KRDMA_BLK_CLIENT_H

#include <linux/types.h>

struct krdma_blk_client;
struct krdma_blk_export;
struct krdma_blk_hello;
struct sockaddr_storage;

/* Admission of clients */
int krdma_blk_client_admit(struct krdma_blk_export *export, const struct krdma_blk_hello *hello,
			   const struct sockaddr_storage *from, struct krdma_blk_client **client);
int krdma_blk_client_settle(struct krdma_blk_export *export, struct krdma_blk_client *client);
void krdma_blk_client_put(struct krdma_blk_client *client);
void krdma_blk_client_forget(struct krdma_blk_export *export, struct krdma_blk_client *client);
struct krdma_blk_client *krdma_blk_client_find(struct krdma_blk_export *export, u64 id);
u64 krdma_blk_client_forgets(struct krdma_blk_export *export);
bool krdma_blk_client_abort_forgotten(struct krdma_blk_export *export, u64 id, u64 until);
ssize_t krdma_blk_clients_show(struct krdma_blk_export *export, char *page);
int krdma_blk_clients_evict(struct krdma_blk_export *export, u64 id);

#endif /* _KRDMA_BLK_CLIENT_H */
