/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KRDMA_USER_ID_H
#define _KRDMA_USER_ID_H

struct krdma_user_dest;
struct xarray;

extern struct xarray krdma_user_dests;
extern atomic64_t krdma_user_dests_removed;
int krdma_user_dest_add(struct krdma_user_dest *dest);
void krdma_user_dest_remove(struct krdma_user_dest *dest);

#endif /* _KRDMA_USER_ID_H */
