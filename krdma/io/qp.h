/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Queue pairs (QP), which carry the work requests of a connection.
 */
#ifndef _KRDMA_QP_H
#define _KRDMA_QP_H

#include "core/private.h"

struct krdma_pd;
struct krdma_qp;
struct rdma_cm_id;

/*
 * The life cycle of a QP, as its connection drives it:
 *
 *	create	receives can be posted
 *	open	send work requests can be posted
 *	close	nothing can be posted any more; any context, also twice
 *	end	everything that was posted has completed, and the device's QP is destroyed
 *	free	the memory is freed; no caller posts, because no reference to the connection
 *		is left
 *
 * Create and end are called in process context, with the connection's cm_lock held or without
 * other users of the connection; open and close are called under its state_lock.
 */
struct krdma_qp *krdma_qp_create(struct krdma_conn *conn, struct rdma_cm_id *cm_id,
				 struct krdma_pd *pd,
				 const struct krdma_conn_attr *attr);
void krdma_qp_open(struct krdma_qp *qp);
void krdma_qp_close(struct krdma_qp *qp);
void krdma_qp_end(struct krdma_qp *qp);
void krdma_qp_free(struct krdma_qp *qp);

/* Fills in the members of @info that describe the queues.  Any context. */
void krdma_qp_query(struct krdma_qp *qp, struct krdma_conn_info *info);

/* /sys/kernel/debug/krdma/qps (io/qp_list.c). */
struct dentry;
void krdma_qp_list_init(struct dentry *directory);
void krdma_qp_list_add(struct krdma_qp *qp);
void krdma_qp_list_remove(struct krdma_qp *qp);

#endif /* _KRDMA_QP_H */
