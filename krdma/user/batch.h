/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KRDMA_USER_BATCH_H
#define _KRDMA_USER_BATCH_H

struct krdma_user_batch;
struct krdma_user_batches;

int krdma_user_batches_reserve(struct krdma_user_batches *batches);
struct krdma_user_batch *krdma_user_batch_take_late(struct krdma_user_batches *batches);
void krdma_user_batch_give_late(struct krdma_user_batches *batches,
				struct krdma_user_batch *batch);
void krdma_user_batches_init(struct krdma_user_batches *batches);
void krdma_user_batches_destroy(struct krdma_user_batches *batches);

#endif /* _KRDMA_USER_BATCH_H */
