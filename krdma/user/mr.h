/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KRDMA_USER_MR_H
#define _KRDMA_USER_MR_H

#include <linux/types.h>

struct krdma_ucmd;
struct krdma_user_mr;
struct krdma_user_session;

/*
 * begin: for a new session.  end: the session has no file and no object any more; process
 * context.
 */
void krdma_user_mr_begin(struct krdma_user_session *session);
void krdma_user_mr_end(struct krdma_user_session *session);

/* Drops a reference; the last one when the MR is in no table, and was deregistered or dropped. */
void krdma_user_mr_put(struct krdma_user_mr *umr);

/* The MR with this ID, under rcu_read_lock(); NULL: none. */
struct krdma_user_mr *krdma_user_mr_find(struct krdma_user_session *session, u32 id);
int krdma_user_mr_register(struct krdma_ucmd *ucmd);
int krdma_user_mr_deregister(struct krdma_ucmd *ucmd);
int krdma_user_mr_query(struct krdma_ucmd *ucmd);
int krdma_user_mr_advise(struct krdma_ucmd *ucmd);
int krdma_user_mr_set_name(struct krdma_ucmd *ucmd);

#endif /* _KRDMA_USER_MR_H */
