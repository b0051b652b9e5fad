/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Inline data on a device that accepts less inline data than the consumer asked for.
 */
#ifndef _KRDMA_BOUNCE_H
#define _KRDMA_BOUNCE_H

#include "core/private.h"

struct krdma_qp;
struct ib_sge;
struct krdma_wq;

/* Bytes that are copied; about as much as the largest devices accept inline. */
#define KRDMA_BOUNCE_MAX	1024

/* Any context. */
u64 krdma_bounce_bytes(u32 depth, u32 size);

/* Process context. */
int krdma_bounce_init(struct krdma_qp *qp, u32 size);
void krdma_bounce_exit(struct krdma_qp *qp);

/* Any context, with the post lock held. */
void krdma_bounce_copy(struct krdma_wq *wq, const struct krdma_send_wr *wr,
		       struct ib_sge *ib_sge);

#endif /* _KRDMA_BOUNCE_H */
