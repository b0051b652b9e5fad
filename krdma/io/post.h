/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KRDMA_IO_POST_H
#define _KRDMA_IO_POST_H

struct krdma_flat_post;
struct krdma_qp;
struct krdma_send_wr;
struct krdma_wq;

/*
 * Post work requests, see krdma_conn_post_send() and krdma_conn_post_recv().  -ENOTCONN: the QP is
 * not open.
 */
int krdma_qp_post_one(struct krdma_qp *qp, const struct krdma_send_wr *wr);
int krdma_qp_post_send(struct krdma_qp *qp, const struct krdma_send_wr *wrs, int count);

/*
 * Post work requests, see krdma_conn_post_send() and krdma_conn_post_recv().  -ENOTCONN: the QP is
 * not open.
 */
int krdma_qp_post_flat(struct krdma_qp *qp, struct krdma_flat_post *post);
int krdma_lone_refused(struct krdma_wq *wq, int error);

#endif /* _KRDMA_IO_POST_H */
