/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KRDMA_USER_EVENT_H
#define _KRDMA_USER_EVENT_H

#include <linux/types.h>

struct krdma_user_conn;
struct krdma_user_ring;
struct work_struct;

struct krdma_user_ring *krdma_user_event_add(struct krdma_user_conn *conn);
void krdma_user_event_schedule(struct krdma_user_ring *ring);
void krdma_user_event_work(struct work_struct *work);
void krdma_user_event_reported(struct krdma_user_conn *conn);
void krdma_user_event_begin(struct krdma_user_conn *conn, struct krdma_user_ring *ring, u64 wr_id);
void krdma_user_event_end(struct krdma_user_conn *conn);
u32 krdma_user_event_move(struct krdma_user_ring *ring, u32 want);

#endif /* _KRDMA_USER_EVENT_H */
