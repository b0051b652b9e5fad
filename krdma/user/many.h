/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KRDMA_USER_MANY_H
#define _KRDMA_USER_MANY_H

struct krdma_ucmd;
struct krdma_user_session;

/* Ends the connections without a descriptor; the session's file is released. */
void krdma_user_many_end(struct krdma_user_session *session);
int krdma_user_conns_open(struct krdma_ucmd *ucmd);
int krdma_user_conns_take(struct krdma_ucmd *ucmd);
int krdma_user_conns_accept(struct krdma_ucmd *ucmd);
int krdma_user_conns_close(struct krdma_ucmd *ucmd);
int krdma_user_conns_fd(struct krdma_ucmd *ucmd);

#endif /* _KRDMA_USER_MANY_H */
