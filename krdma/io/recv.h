/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KRDMA_IO_RECV_H
#define _KRDMA_IO_RECV_H

#include <linux/types.h>

struct ib_recv_wr;
struct ib_sge;
struct krdma_mr;
struct krdma_pd;
struct krdma_qp;
struct krdma_recv_wr;

/*
 * Post work requests, see krdma_conn_post_send() and krdma_conn_post_recv().  -ENOTCONN: the QP is
 * not open.
 */
int krdma_qp_post_recv(struct krdma_qp *qp, const struct krdma_recv_wr *wrs, int count);
int krdma_recv_build(const struct krdma_recv_wr *wr, struct krdma_pd *pd,
		     u32 max_sge, struct ib_sge *sges, struct krdma_mr **mrs,
		     u16 *mr_count, struct ib_recv_wr *ib_wr);

#endif /* _KRDMA_IO_RECV_H */
