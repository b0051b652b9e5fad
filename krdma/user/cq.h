/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KRDMA_USER_CQ_H
#define _KRDMA_USER_CQ_H

#include <linux/types.h>

struct krdma_cq_attr;
struct krdma_ucmd;
struct krdma_user_ring;

/* Callback for &struct krdma_cq_attr.ready. */
bool krdma_user_ring_ready(void *context);

/* And for @srq_ended. */
void krdma_user_ring_srq_ended(void *context);
bool krdma_user_ring_fill(struct krdma_user_ring *ring);
int krdma_user_ring_filled(struct krdma_user_ring *ring);
int krdma_user_ring_await(struct krdma_user_ring *ring, u32 wanted, u64 deadline_ns);
void krdma_user_ring_move_backlog(struct krdma_user_ring *ring);
__poll_t krdma_user_ring_events(struct krdma_user_ring *ring);

/* Handler of KRDMA_RING_REAP. */
int krdma_user_ring_reap(struct krdma_ucmd *ucmd);

#endif /* _KRDMA_USER_CQ_H */
