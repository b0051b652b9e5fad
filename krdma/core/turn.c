// SPDX-License-Identifier: GPL-2.0
/*
 * Turns: when the work items that end what a user has may run, so that those of one user do not
 * keep those of others waiting.
 *
 * A workqueue that ends objects runs few work items at a time, in order, for all users.  Of each
 * user and kind at most one work item is queued there that has not begun to run, and
 * KRDMA_TURNS_OF_A_USER run.  So what a user ends stands behind at most one of each other user that
 * has a turn, however many sessions and objects these have.
 *
 * The other work items wait in a list of their session, and one of each session is queued in turn:
 * root's programs, for example, are one user, and do not belong together.
 *
 * A session has the turns of the user that has opened it, or, in user namespaces, of the owner of
 * the outermost one that is not root's (user/limits.c).  The session of a kernel module has turns
 * of its own.  A module is trusted and has few sessions, and no other one is to wait for it.  The
 * sessions of all trunks share turns (lane/trunk.c).
 *
 * Sessions that memory reclaim waits for have a workqueue of their own, and no turns.
 */
#include <linux/list.h>
#include <linux/lockdep.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "core/resource.h"
#include "core/session.h"
#include "core/turn.h"

/* Half of the work items that run at a time, so that no user keeps all others waiting. */
#define KRDMA_TURNS_OF_A_USER	(KRDMA_ENDS_AT_ONCE / 2)

DEFINE_SPINLOCK(krdma_turns_lock);

/* Number of work items of each kind that wait for a turn, or have it; under krdma_turns_lock. */
static unsigned int krdma_turns_taken[KRDMA_TURN_KINDS];

static struct workqueue_struct *krdma_turn_workqueue(enum krdma_turn_kind kind)
{
	return kind == KRDMA_TURN_CONN ? krdma_conn_workqueue : krdma_workqueue;
}

/**
 * krdma_turns_init() - Initialize the turns of a user
 * @turns: the turns
 *
 * Context: any.
 */
void krdma_turns_init(struct krdma_turns *turns)
{
	for (unsigned int kind = 0; kind < KRDMA_TURN_KINDS; kind++) {
		turns->queues[kind] = (struct krdma_turn_queue) {};
		INIT_LIST_HEAD(&turns->queues[kind].sessions);
	}
}

/* Queues the next work item of a user, if it may have one more in the workqueue. */
static void krdma_turn_next(struct krdma_turn_queue *queue, enum krdma_turn_kind kind)
{
	struct krdma_turn_item *item;
	struct krdma_turn_list *list;

	lockdep_assert_held(&krdma_turns_lock);

	if (queue->queued || queue->running == KRDMA_TURNS_OF_A_USER)
		return;
	list = list_first_entry_or_null(&queue->sessions, struct krdma_turn_list, node);
	if (!list)
		return;
	/* A session in the list has one.  Its next one waits behind those of the other sessions. */
	item = list_first_entry(&list->items, struct krdma_turn_item, node);
	list_del(&item->node);
	if (list_empty(&list->items))
		list_del(&list->node);
	else
		list_move_tail(&list->node, &queue->sessions);
	queue->queued = true;
	queue_work(krdma_turn_workqueue(kind), item->work);
}

/**
 * krdma_turn_add() - Let a work item run when it has its turn
 * @session: its session, which exists until krdma_turn_end()
 * @kind: what it ends
 * @item: the work item, which does not wait, and calls krdma_turn_begin() when it runs
 *
 * Context: any but NMI, with krdma_turns_lock.
 */
void krdma_turn_add(struct krdma_session *session, enum krdma_turn_kind kind,
		    struct krdma_turn_item *item)
{
	struct krdma_turn_queue *queue = &session->turns->queues[kind];
	struct krdma_turn_list *list = &session->turn_lists[kind];

	lockdep_assert_held(&krdma_turns_lock);

	krdma_turns_taken[kind]++;
	if (list_empty(&list->items))
		list_add_tail(&list->node, &queue->sessions);
	list_add_tail(&item->node, &list->items);
	krdma_turn_next(queue, kind);
}

/**
 * krdma_turn_begin() - A work item begins to run
 * @session: as of krdma_turn_add()
 * @kind: as of krdma_turn_add()
 *
 * Context: the work item, with krdma_turns_lock.
 */
void krdma_turn_begin(struct krdma_session *session, enum krdma_turn_kind kind)
{
	struct krdma_turn_queue *queue = &session->turns->queues[kind];

	lockdep_assert_held(&krdma_turns_lock);

	queue->queued = false;
	queue->running++;
	krdma_turn_next(queue, kind);
}

/**
 * krdma_turn_end() - A work item has run
 * @session: as of krdma_turn_add()
 * @kind: as of krdma_turn_add()
 *
 * Context: the work item, with krdma_turns_lock.
 */
void krdma_turn_end(struct krdma_session *session, enum krdma_turn_kind kind)
{
	struct krdma_turn_queue *queue = &session->turns->queues[kind];

	lockdep_assert_held(&krdma_turns_lock);

	queue->running--;
	krdma_turns_taken[kind]--;
	krdma_turn_next(queue, kind);
}

static bool krdma_turns_are_taken(enum krdma_turn_kind kind)
{
	bool taken;

	spin_lock_irq(&krdma_turns_lock);
	taken = krdma_turns_taken[kind];
	spin_unlock_irq(&krdma_turns_lock);
	return taken;
}

/**
 * krdma_turns_flush() - Wait until every work item that waits for a turn has had it
 * @kind: the kind of the work items
 *
 * Context: process context; may sleep.
 */
void krdma_turns_flush(enum krdma_turn_kind kind)
{
	/* A flush waits for those that are queued, and each queues the next one. */
	while (krdma_turns_are_taken(kind))
		flush_workqueue(krdma_turn_workqueue(kind));
}
