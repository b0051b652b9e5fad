/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KRDMA_USER_LISTENER_H
#define _KRDMA_USER_LISTENER_H

#include <linux/types.h>

struct file_operations;
struct krdma_ucmd;
struct krdma_user_conn;
struct krdma_user_listener;
struct krdma_user_session;

/* Of a listener's file, for the next request of many. */
extern const struct file_operations krdma_user_listener_fops;
struct krdma_user_session *krdma_user_listener_session(struct krdma_user_listener *listener);
int krdma_user_listener_pending(struct krdma_user_listener *listener);
int krdma_user_listener_wait(struct krdma_user_listener *listener, struct krdma_user_conn *conn,
			     u64 deadline_ns);
int krdma_user_listen(struct krdma_ucmd *ucmd);

#endif /* _KRDMA_USER_LISTENER_H */
