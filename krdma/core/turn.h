/* SPDX-License-Identifier: GPL-2.0 */
/* Turns: when the work items that end what a user has may run. */
#ifndef _KRDMA_TURN_H
#define _KRDMA_TURN_H

#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/types.h>

struct krdma_session;
struct work_struct;

/**
 * enum krdma_turn_kind - what takes turns
 * @KRDMA_TURN_CONN: the work items of connections, in krdma_conn_workqueue
 * @KRDMA_TURN_PART: the releases of device parts of MRs, CQs and SRQs, in krdma_workqueue
 * @KRDMA_TURN_KINDS: number of kinds
 */
enum krdma_turn_kind {
	KRDMA_TURN_CONN,
	KRDMA_TURN_PART,
	KRDMA_TURN_KINDS,
};

/**
 * struct krdma_turn_queue - work items of a user that are to run
 * @sessions: sessions with work items that are not in the workqueue yet
 * @queued: one is in the workqueue, and has not begun to run
 * @running: number of those that run
 */
struct krdma_turn_queue {
	struct list_head sessions;
	bool queued;
	u8 running;
};

/**
 * struct krdma_turns - the turns of a user
 * @queues: by &enum krdma_turn_kind
 *
 * Protected by krdma_turns_lock.
 */
struct krdma_turns {
	struct krdma_turn_queue queues[KRDMA_TURN_KINDS];
};

#define KRDMA_TURN_QUEUE_INIT(queue)	{ .sessions = LIST_HEAD_INIT((queue).sessions) }

/**
 * struct krdma_turn_list - work items of a session that wait for a turn
 * @items: &struct krdma_turn_item; these are not in the workqueue yet
 * @node: entry of &struct krdma_turn_queue.sessions, unless @items is empty
 *
 * Protected by krdma_turns_lock.
 */
struct krdma_turn_list {
	struct list_head items;
	struct list_head node;
};

/**
 * struct krdma_turn_item - a work item that has turns
 * @node: entry of &struct krdma_turn_list.items, while it waits there; protected by
 *	krdma_turns_lock
 * @work: the work item; constant
 */
struct krdma_turn_item {
	struct list_head node;
	struct work_struct *work;
};

extern spinlock_t krdma_turns_lock;

void krdma_turns_init(struct krdma_turns *turns);

/* With krdma_turns_lock held. */
void krdma_turn_add(struct krdma_session *session, enum krdma_turn_kind kind,
		    struct krdma_turn_item *item);
void krdma_turn_begin(struct krdma_session *session, enum krdma_turn_kind kind);
void krdma_turn_end(struct krdma_session *session, enum krdma_turn_kind kind);

/* Process context; may sleep. */
void krdma_turns_flush(enum krdma_turn_kind kind);

#endif /* _KRDMA_TURN_H */
