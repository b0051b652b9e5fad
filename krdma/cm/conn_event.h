/* SPDX-License-Identifier: GPL-2.0 */
/* Events and states for the user interface, besides what <krdma/krdma.h> has. */
#ifndef _KRDMA_CONN_EVENT_H
#define _KRDMA_CONN_EVENT_H

#include <linux/types.h>
#include <linux/krdma.h>

struct krdma_conn;
struct krdma_conn_info;
struct krdma_event;
struct work_struct;
struct workqueue_struct;

int krdma_conn_peek_event(struct krdma_conn *conn, struct krdma_event *event);
void krdma_conn_drop_events(struct krdma_conn *conn, u32 types);
void krdma_conn_peek_state(struct krdma_conn *conn, struct krdma_conn_info *info);

/* Events */
int krdma_conn_events_init(void);
void krdma_conn_events_exit(void);
void krdma_conn_event_work(struct work_struct *work);
void krdma_conn_finish(struct krdma_conn *conn);

/* With state_lock held. */
void krdma_conn_add_event(struct krdma_conn *conn, enum krdma_event_type type);
bool krdma_conn_has_pending(const struct krdma_conn *conn);
void krdma_conn_pass_events(struct krdma_conn *conn);

/*
 * Consumers get events and connection requests from this workqueue, and may sleep as long as they
 * like.  Destroyed after krdma_workqueue, whose work items queue to it.
 */
extern struct workqueue_struct *krdma_event_workqueue;

#endif /* _KRDMA_CONN_EVENT_H */
