/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KRDMA_CM_CONN_TURN_H
#define _KRDMA_CM_CONN_TURN_H

struct krdma_conn;

/* When the work item runs. */
void krdma_conn_queue(struct krdma_conn *conn);
void krdma_conn_turn_init(struct krdma_conn *conn);
void krdma_conn_turn_exit(struct krdma_conn *conn);
void krdma_conn_turn_join(struct krdma_conn *conn);
void krdma_conn_turn_begin(struct krdma_conn *conn);
void krdma_conn_turn_end(struct krdma_conn *conn);

#endif /* _KRDMA_CM_CONN_TURN_H */
