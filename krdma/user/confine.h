/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KRDMA_USER_CONFINE_H
#define _KRDMA_USER_CONFINE_H

#include <linux/types.h>

struct krdma_ucmd;
struct krdma_user_confinement;
struct krdma_user_mr;
struct krdma_user_ring;

struct krdma_user_confinement *krdma_user_confinement_create(const u32 *ids, u32 count,
							     u64 last);
bool krdma_user_confinement_has(const struct krdma_user_confinement *confinement,
				const struct krdma_user_mr *umr);
void krdma_user_ring_unconfine(struct krdma_user_ring *ring);

/* Handler of KRDMA_RING_CONFINE. */
int krdma_user_ring_confine(struct krdma_ucmd *ucmd);

#endif /* _KRDMA_USER_CONFINE_H */
