/* SPDX-License-Identifier: GPL-2.0 */
/* Fast registration by work requests (FRWR) without a consumer's connection. */
#ifndef _KRDMA_FRWR_H
#define _KRDMA_FRWR_H

#include <linux/compiler_types.h>
#include <linux/types.h>

struct ib_cq;
struct ib_mr;
struct ib_qp;
struct krdma_pd;
struct krdma_frwr_cm;

int krdma_frwr_register(struct krdma_pd *pd, struct ib_mr *mr, int access);
int krdma_frwr_invalidate(struct krdma_pd *pd, u32 key);
void krdma_frwr_destroy(struct krdma_pd *pd);

#endif /* _KRDMA_FRWR_H */
