/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KRDMA_USER_POST_H
#define _KRDMA_USER_POST_H

#include <linux/types.h>

struct krdma_ucmd;
struct krdma_user_ring;

int krdma_user_ring_submit(struct krdma_user_ring *ring, u32 count, int *error);

/* Handlers of KRDMA_RING_POST and KRDMA_SRQ_POST. */
int krdma_user_ring_post(struct krdma_ucmd *ucmd);
int krdma_user_srq_post(struct krdma_ucmd *ucmd);

#endif /* _KRDMA_USER_POST_H */
