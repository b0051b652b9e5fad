/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KRDMA_USER_SRQ_H
#define _KRDMA_USER_SRQ_H

struct file_operations;
struct krdma_ucmd;
struct krdma_user_srq;

extern const struct file_operations krdma_user_srq_fops;
void krdma_user_srq_get(struct krdma_user_srq *srq);
void krdma_user_srq_put(struct krdma_user_srq *srq);
int krdma_user_srq_create(struct krdma_ucmd *ucmd);

#endif /* _KRDMA_USER_SRQ_H */
