/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Fast registration where there is no connection to post it on.
 */
#ifndef _KRDMA_REGISTRAR_H
#define _KRDMA_REGISTRAR_H

#include <linux/types.h>

struct ib_mr;
struct krdma_domain;

int krdma_registrar_register(struct krdma_domain *domain, struct ib_mr *mr, int access);
int krdma_registrar_invalidate(struct krdma_domain *domain, u32 key);
void krdma_registrar_destroy(struct krdma_domain *domain);

#endif /* _KRDMA_REGISTRAR_H */
