/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KRDMA_MR_FRWR_CM_H
#define _KRDMA_MR_FRWR_CM_H

#include <linux/types.h>

struct ib_cq;
struct ib_qp;
struct krdma_frwr_cm;
struct krdma_pd;

/* For iWARP ports: a connection that the connection manager establishes. */
struct krdma_frwr_cm *krdma_frwr_cm_connect(struct krdma_pd *pd, struct ib_cq *cq,
					    u32 port);
struct ib_qp *krdma_frwr_cm_qp(struct krdma_frwr_cm *cm);
bool krdma_frwr_cm_broken(const struct krdma_frwr_cm *cm);
void krdma_frwr_cm_destroy(struct krdma_frwr_cm *cm);

#endif /* _KRDMA_MR_FRWR_CM_H */
