/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KRDMA_IO_QP_LIST_H
#define _KRDMA_IO_QP_LIST_H

struct dentry;
struct krdma_qp;

/* /sys/kernel/debug/krdma/qps. */
void krdma_qp_list_init(struct dentry *directory);
void krdma_qp_list_add(struct krdma_qp *qp);
void krdma_qp_list_remove(struct krdma_qp *qp);

#endif /* _KRDMA_IO_QP_LIST_H */
