// SPDX-License-Identifier: GPL-2.0
/*
 * When the work item of a connection runs: it takes turns with those of the user's other
 * connections (core/turn.c), and may be queued again while it waits, or runs.
 */
#include <linux/lockdep.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "cm/conn.h"
#include "cm/conn_turn.h"
#include "core/resource.h"
#include "core/session.h"
#include "core/turn.h"

static bool krdma_conn_has_turns(const struct krdma_conn *conn)
{
	return !conn->reclaim;
}

static void krdma_conn_turn_wait(struct krdma_conn *conn)
{
	lockdep_assert_held(&krdma_turns_lock);

	conn->turn = KRDMA_TURN_WAITS;
	krdma_turn_add(conn->turn_session, KRDMA_TURN_CONN, &conn->turn_item);
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
	conn->turn_item.work = &conn->work;
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
	spin_lock_irqsave(&krdma_turns_lock, flags);
	if (conn->turn == KRDMA_TURN_NONE)
		swap(conn->turn_session, old);
	spin_unlock_irqrestore(&krdma_turns_lock, flags);
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
		if (!queue_work(krdma_reclaim_workqueue, &conn->work))
			krdma_conn_put(conn);
		return;
	}

	spin_lock_irqsave(&krdma_turns_lock, flags);
	switch (conn->turn) {
	case KRDMA_TURN_NONE:
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
	spin_unlock_irqrestore(&krdma_turns_lock, flags);
	/* It will run anyway. */
	krdma_conn_put(conn);
}
EXPORT_SYMBOL_IF_KUNIT(krdma_conn_queue);

/**
 * krdma_conn_turn_begin() - The work item of a connection begins to run
 * @conn: the connection
 *
 * Context: the work item.
 */
void krdma_conn_turn_begin(struct krdma_conn *conn)
{
	if (!krdma_conn_has_turns(conn))
		return;
	spin_lock_irq(&krdma_turns_lock);
	conn->turn = KRDMA_TURN_RUNS;
	krdma_turn_begin(conn->turn_session, KRDMA_TURN_CONN);
	spin_unlock_irq(&krdma_turns_lock);
}

/**
 * krdma_conn_turn_end() - The work item of a connection has run
 * @conn: the connection; the caller holds a reference
 *
 * Context: the work item.
 */
void krdma_conn_turn_end(struct krdma_conn *conn)
{
	if (!krdma_conn_has_turns(conn))
		return;
	spin_lock_irq(&krdma_turns_lock);
	krdma_turn_end(conn->turn_session, KRDMA_TURN_CONN);
	if (conn->turn == KRDMA_TURN_RUNS_AGAIN)
		krdma_conn_turn_wait(conn);
	else
		conn->turn = KRDMA_TURN_NONE;
	spin_unlock_irq(&krdma_turns_lock);
}
