/* SPDX-License-Identifier: GPL-2.0 */
/* Posting for the user interface, besides what <krdma/krdma.h> has. */
#ifndef _KRDMA_CONN_POST_H
#define _KRDMA_CONN_POST_H

struct krdma_conn;
struct krdma_flat_post;
struct krdma_qp_owner;

int krdma_conn_prepare_post(struct krdma_conn *conn);
int krdma_conn_post_flat(struct krdma_conn *conn, struct krdma_flat_post *post);

/* The connection as the owner of its QP. */
struct krdma_qp_owner *krdma_conn_own_qp(struct krdma_conn *conn);

#endif /* _KRDMA_CONN_POST_H */
