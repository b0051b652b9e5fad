/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KRDMA_USER_CONN_CALL_H
#define _KRDMA_USER_CONN_CALL_H

#include <linux/types.h>

struct krdma_conn;
struct krdma_conn_create_qp_args;
struct krdma_ucmd;
struct krdma_user_conn;

/* Steps of the ioctls, for many connections at a time. */
int krdma_user_private_data(u64 from, u32 length, u8 *data);
int krdma_user_conn_create_queues(struct krdma_user_conn *conn,
				  const struct krdma_conn_create_qp_args *args);
int krdma_user_conn_wait_until(struct krdma_conn *core, u64 deadline_ns, u32 *state);
int krdma_user_conn_create(struct krdma_ucmd *ucmd);
int krdma_user_conn_resolve(struct krdma_ucmd *ucmd);
int krdma_user_conn_create_qp(struct krdma_ucmd *ucmd);
int krdma_user_conn_connect(struct krdma_ucmd *ucmd);
int krdma_user_conn_accept(struct krdma_ucmd *ucmd);
int krdma_user_conn_reject(struct krdma_ucmd *ucmd);
int krdma_user_conn_disconnect(struct krdma_ucmd *ucmd);
int krdma_user_conn_wait(struct krdma_ucmd *ucmd);
int krdma_user_conn_query(struct krdma_ucmd *ucmd);
int krdma_user_conn_find_mr(struct krdma_ucmd *ucmd);

#endif /* _KRDMA_USER_CONN_CALL_H */
