// SPDX-License-Identifier: GPL-2.0
/*
 * Turns: which connections may end, so that those of one user do not keep those of others waiting.
 *
 * krdma_conn_workqueue runs few work items at a time, in order, for all users.  Of each user at
 * most one connection is queued there that has not begun to run, and KRDMA_TURNS_OF_A_USER run.
 * So a user whose only connection ends waits for at most one connection of each other user, however
 * many sessions and connections these have.
 *
 * The other connections wait in a list of their session, and one of each session is queued in turn:
 * root's programs, for example, are one user, and do not belong together.
 *
 * A session has the turns of the user who has opened it, or, in user namespaces, of the owner of
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

#include "cm/conn.h"
#include "core/resource.h"
#include "core/session.h"

/* Half of the work items that run at a time, so that no user keeps all others waiting. */
#define KRDMA_TURNS_OF_A_USER	(KRDMA_ENDS_AT_ONCE / 2)

static DEFINE_SPINLOCK(krdma_conn_turns_lock);

/* Connections that wait for a turn, or have it.  Protected by krdma_conn_turns_lock. */
static unsigned int krdma_conn_turns;

static bool krdma_conn_has_turns(const struct krdma_conn *conn)
{
	return conn->end_workqueue == krdma_conn_workqueue;
}

/* Queues the next connection of a user, if it may have one more in the workqueue. */
static void krdma_turns_next(struct krdma_turns *turns)
{
	struct krdma_session *session;
	struct krdma_conn *conn;

	lockdep_assert_held(&krdma_conn_turns_lock);

	if (turns->queued || turns->running == KRDMA_TURNS_OF_A_USER)
		return;
	session = list_first_entry_or_null(&turns->sessions, struct krdma_session, turn_node);
	if (!session)
		return;
	/* A session in the list has one.  Its next one waits behind those of the other sessions. */
	conn = list_first_entry(&session->turn_conns, struct krdma_conn, turn_node);
	list_del(&conn->turn_node);
	if (list_empty(&session->turn_conns))
		list_del(&session->turn_node);
	else
		list_move_tail(&session->turn_node, &turns->sessions);
	turns->queued = true;
	queue_work(krdma_conn_workqueue, &conn->work);
}

static void krdma_conn_turn_wait(struct krdma_conn *conn)
{
	struct krdma_session *session = conn->turn_session;

	lockdep_assert_held(&krdma_conn_turns_lock);

	conn->turn = KRDMA_TURN_WAITS;
	if (list_empty(&session->turn_conns))
		list_add_tail(&session->turn_node, &session->turns->sessions);
	list_add_tail(&conn->turn_node, &session->turn_conns);
	krdma_turns_next(session->turns);
}

/**
 * krdma_conn_turn_init() - Initialize the turn of a connection
 * @conn: the connection, with its session and its workqueue
 *
 * Context: any.
 */
void krdma_conn_turn_init(struct krdma_conn *conn)
{
	krdma_session_get(conn->session);
	conn->turn_session = conn->session;
}

/**
 * krdma_conn_turn_exit() - Undo krdma_conn_turn_init()
 * @conn: the connection, without references
 *
 * Context: any but NMI.
 */
void krdma_conn_turn_exit(struct krdma_conn *conn)
{
	krdma_session_put(conn->turn_session);
}

/**
 * krdma_conn_turn_join() - Let a connection wait with those of its new session
 * @conn: the connection, which has joined the session
 *
 * If it waits already, because it is ending, it stays where it is.
 *
 * Context: any but NMI.
 */
void krdma_conn_turn_join(struct krdma_conn *conn)
{
	struct krdma_session *old = conn->session;
	unsigned long flags;

	krdma_session_get(conn->session);
	spin_lock_irqsave(&krdma_conn_turns_lock, flags);
	if (conn->turn == KRDMA_TURN_NONE)
		swap(conn->turn_session, old);
	spin_unlock_irqrestore(&krdma_conn_turns_lock, flags);
	krdma_session_put(old);
}

/**
 * krdma_conn_queue() - Let the work item of a connection run once more
 * @conn: the connection; the caller holds a reference
 *
 * Context: any but NMI, also with interrupts off, and under locks of the device.
 */
void krdma_conn_queue(struct krdma_conn *conn)
{
	unsigned long flags;

	krdma_conn_get(conn);
	if (!krdma_conn_has_turns(conn)) {
		if (!queue_work(conn->end_workqueue, &conn->work))
			krdma_conn_put(conn);
		return;
	}

	spin_lock_irqsave(&krdma_conn_turns_lock, flags);
	switch (conn->turn) {
	case KRDMA_TURN_NONE:
		krdma_conn_turns++;
		krdma_conn_turn_wait(conn);
		conn = NULL;
		break;
	case KRDMA_TURN_RUNS:
		conn->turn = KRDMA_TURN_RUNS_AGAIN;
		conn = NULL;
		break;
	default:
		break;
	}
	spin_unlock_irqrestore(&krdma_conn_turns_lock, flags);
	/* It will run anyway. */
	krdma_conn_put(conn);
}

/**
 * krdma_conn_turn_begin() - The work item of a connection begins to run
 * @conn: the connection
 *
 * Context: the work item.
 */
void krdma_conn_turn_begin(struct krdma_conn *conn)
{
	struct krdma_turns *turns;

	if (!krdma_conn_has_turns(conn))
		return;
	spin_lock_irq(&krdma_conn_turns_lock);
	turns = conn->turn_session->turns;
	conn->turn = KRDMA_TURN_RUNS;
	turns->queued = false;
	turns->running++;
	krdma_turns_next(turns);
	spin_unlock_irq(&krdma_conn_turns_lock);
}

/**
 * krdma_conn_turn_end() - The work item of a connection has run
 * @conn: the connection; the caller holds a reference
 *
 * Context: the work item.
 */
void krdma_conn_turn_end(struct krdma_conn *conn)
{
	struct krdma_turns *turns;

	if (!krdma_conn_has_turns(conn))
		return;
	spin_lock_irq(&krdma_conn_turns_lock);
	turns = conn->turn_session->turns;
	turns->running--;
	if (conn->turn == KRDMA_TURN_RUNS_AGAIN) {
		krdma_conn_turn_wait(conn);
	} else {
		conn->turn = KRDMA_TURN_NONE;
		krdma_conn_turns--;
		krdma_turns_next(turns);
	}
	spin_unlock_irq(&krdma_conn_turns_lock);
}

static bool krdma_conn_turns_exist(void)
{
	bool exist;

	spin_lock_irq(&krdma_conn_turns_lock);
	exist = krdma_conn_turns;
	spin_unlock_irq(&krdma_conn_turns_lock);
	return exist;
}

/**
 * krdma_conn_turns_flush() - Wait until every connection that waits for a turn has had it
 *
 * Context: process context; may sleep.
 */
void krdma_conn_turns_flush(void)
{
	/* A flush waits for those that are queued, and each queues the next one. */
	while (krdma_conn_turns_exist())
		flush_workqueue(krdma_conn_workqueue);
}
