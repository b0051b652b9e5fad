/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KRDMA_USER_CONN_H
#define _KRDMA_USER_CONN_H

#include <linux/types.h>

struct file_operations;
struct krdma_conn_ops;
struct krdma_listener;
struct krdma_user_conn;
struct krdma_user_fd;
struct krdma_user_session;

extern const struct file_operations krdma_user_conn_fops;

/* Callbacks from the core, for krdma_conn_create() and krdma_listener_next(). */
extern const struct krdma_conn_ops krdma_user_conn_ops;

/*
 * new: a charged connection with an ID in the table and one reference, for the file, of which the
 * descriptor is reserved.  create_core, take_core: set the core's connection: a new one, or the
 * next one of @listener.  Its context is the ID.
 */
struct krdma_user_conn *krdma_user_conn_new(struct krdma_user_session *session,
					    struct krdma_user_fd *ufd);
int krdma_user_conns_init(void);
void krdma_user_conns_exit(void);
struct krdma_user_conn *krdma_user_conn_alloc(struct krdma_user_session *session);
int krdma_user_conn_create_core(struct krdma_user_conn *conn, bool lane);
int krdma_user_conn_take_core(struct krdma_user_conn *conn, struct krdma_listener *listener,
			      u32 timeout_ms);
void krdma_user_conn_put(struct krdma_user_conn *conn);

#endif /* _KRDMA_USER_CONN_H */
