/* SPDX-License-Identifier: GPL-2.0 */
/* Events for the user interface, besides what <krdma/krdma.h> has. */
#ifndef _KRDMA_CONN_EVENT_H
#define _KRDMA_CONN_EVENT_H

#include <linux/types.h>

struct krdma_conn;
struct krdma_event;

int krdma_conn_peek_event(struct krdma_conn *conn, struct krdma_event *event);
void krdma_conn_drop_events(struct krdma_conn *conn, u32 types);

#endif /* _KRDMA_CONN_EVENT_H */
