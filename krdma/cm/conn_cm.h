/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KRDMA_CM_CONN_CM_H
#define _KRDMA_CM_CONN_CM_H

#include <linux/types.h>

struct krdma_conn;
struct krdma_listener;
struct krdma_session;
struct rdma_cm_event;
struct rdma_cm_id;
struct sockaddr;

/* Converts an errno of the connection manager. */
int krdma_cm_error(int error);
bool krdma_address_is_bound(const struct sockaddr *address);

/* Makes a connection of a connection request; in the handler of its ID. */
struct krdma_conn *krdma_conn_from_request(struct krdma_listener *listener,
					   struct krdma_session *session,
					   struct rdma_cm_id *cm_id,
					   const struct rdma_cm_event *event);
int krdma_conn_cm_handler(struct rdma_cm_id *cm_id, struct rdma_cm_event *event);

/* Does the transport pad private data? */
bool krdma_cm_pads(const struct rdma_cm_id *cm_id);

/* The peer's answer to a connection in state CONNECTING, without the state's change. */
void krdma_conn_save_answer(struct krdma_conn *conn, const void *data, u8 length);
void krdma_conn_limit_depths(struct krdma_conn *conn, u8 read_depth, u8 read_depth_in);
void krdma_conn_save_reject(struct krdma_conn *conn, int reason);

#endif /* _KRDMA_CM_CONN_CM_H */
