// SPDX-License-Identifier: GPL-2.0
/*
 * Events of connections without a descriptor, as completions in their ring.
 *
 * An event occurs under the core's state_lock, and the CQ ring is filled under cq_lock, which is
 * outside of it.  So the event stays in the core's queue, as it does for a connection with a
 * descriptor, and the connection joins a list of its ring under event_lock, which is inside of
 * both.  Whichever context fills the CQ ring next takes the events of the connections there, and
 * each becomes one completion.  If the CQ ring is full, the rest waits, as other completions do.
 *
 * A connection is in the list only while it has a number, so the list needs no references.
 */
#include <linux/bits.h>
#include <linux/list.h>
#include <linux/rcupdate.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "cm/conn_event.h"
#include "user/cq.h"
#include "user/event.h"
#include "user/file.h"
#include "user/user.h"
#include "user/ring.h"

/* Returns true if the ring had no connection with events. */
static bool krdma_user_event_queue(struct krdma_user_conn *conn)
{
	struct krdma_user_ring *ring = conn->event_ring;
	bool first;

	lockdep_assert_held(&conn->lock);

	spin_lock(&ring->event_lock);
	first = list_empty(&ring->event_conns);
	if (list_empty(&conn->event_node))
		list_add_tail(&conn->event_node, &ring->event_conns);
	spin_unlock(&ring->event_lock);

	return first;
}

/**
 * krdma_user_event_add() - Have the events of a connection completed in its ring
 * @conn: the connection, with @event_ring and an event; the caller holds its lock
 *
 * Context: any.
 * Return: the ring, for krdma_user_event_schedule() without the lock; NULL: another context fills
 * it.
 */
struct krdma_user_ring *krdma_user_event_add(struct krdma_user_conn *conn)
{
	lockdep_assert_held(&conn->lock);
	return krdma_user_event_queue(conn) ? conn->event_ring : NULL;
}

/**
 * krdma_user_event_schedule() - Have a ring filled
 * @ring: the ring, or NULL; a connection that the caller keeps has a reference
 *
 * Context: any.
 */
void krdma_user_event_schedule(struct krdma_user_ring *ring)
{
	if (!ring)
		return;
	if (ring->polled) {
		wake_up_interruptible(&ring->wait);
		return;
	}
	krdma_user_ring_get(ring);
	/* It is not the last one. */
	if (!queue_work(krdma_user_workqueue, &ring->event_work))
		refcount_dec(&ring->refs);
}

/**
 * krdma_user_event_work() - Fill a ring
 * @work: the ring's event_work, queued with a reference
 *
 * Context: process context; may sleep.
 */
void krdma_user_event_work(struct work_struct *work)
{
	struct krdma_user_ring *ring = container_of(work, struct krdma_user_ring, event_work);

	/* It is queued again behind others, with the same reference. */
	if (!krdma_user_ring_fill(ring) || !queue_work(krdma_user_workqueue, work))
		krdma_user_ring_put(ring);
}

/*
 * The next event that becomes a completion; false: there is none.  The last one does not: a program
 * without a descriptor ends the number itself.  It is for one that gets a descriptor later.
 */
static bool krdma_user_event_peek(struct krdma_user_conn *conn, struct krdma_event *event)
{
	return !krdma_conn_peek_event(conn->core, event) && event->type != KRDMA_EVENT_CLOSED;
}

/* Without the lock, which is inside of the core's. */
static struct krdma_user_ring *krdma_user_event_add_due(struct krdma_user_conn *conn)
{
	struct krdma_user_ring *to_fill = NULL;
	struct krdma_event event;
	unsigned long flags;

	if (!krdma_user_event_peek(conn, &event))
		return NULL;
	spin_lock_irqsave(&conn->lock, flags);
	if (conn->event_ring)
		to_fill = krdma_user_event_add(conn);
	spin_unlock_irqrestore(&conn->lock, flags);

	return to_fill;
}

/**
 * krdma_user_event_reported() - Drop the events of which the call that opens a connection informs
 * @conn: the connection, connected, which no other call finds yet
 *
 * Context: process context.
 */
void krdma_user_event_reported(struct krdma_user_conn *conn)
{
	krdma_conn_drop_events(conn->core, BIT(KRDMA_EVENT_ADDR_RESOLVED) |
					   BIT(KRDMA_EVENT_ROUTE_RESOLVED) |
					   BIT(KRDMA_EVENT_ESTABLISHED));
}

/**
 * krdma_user_event_begin() - Complete the events of a connection in a ring from here on
 * @conn: the connection, with a number
 * @ring: the ring, one of those that @conn keeps
 * @wr_id: wr_id of the completions
 *
 * Does nothing if that has begun before, or has ended: another thread may have closed @conn.
 *
 * Context: process context.
 */
void krdma_user_event_begin(struct krdma_user_conn *conn, struct krdma_user_ring *ring, u64 wr_id)
{
	spin_lock_irq(&conn->lock);
	if (!conn->event_ring && !conn->event_over) {
		conn->event_ring = ring;
		conn->event_wr_id = wr_id;
	}
	spin_unlock_irq(&conn->lock);
	/* An event from before has found no ring. */
	krdma_user_event_schedule(krdma_user_event_add_due(conn));
}

/**
 * krdma_user_event_end() - Complete no further event of a connection
 * @conn: the connection
 *
 * Its events stay.  When this returns, no other context takes any.
 *
 * Context: process context.
 */
void krdma_user_event_end(struct krdma_user_conn *conn)
{
	struct krdma_user_ring *ring;

	spin_lock_irq(&conn->lock);
	ring = conn->event_ring;
	conn->event_ring = NULL;
	conn->event_over = true;
	if (ring) {
		spin_lock(&ring->event_lock);
		list_del_init(&conn->event_node);
		spin_unlock(&ring->event_lock);
	}
	spin_unlock_irq(&conn->lock);
	if (!ring)
		return;
	/* Waits for a context that has found the connection in the list before. */
	spin_lock_bh(&ring->cq_lock);
	spin_unlock_bh(&ring->cq_lock);
}

/* Under rcu_read_lock(): a connection that has left the list may be about to end. */
static struct krdma_user_conn *krdma_user_event_next(struct krdma_user_ring *ring)
{
	struct krdma_user_conn *conn;
	unsigned long flags;

	spin_lock_irqsave(&ring->event_lock, flags);
	conn = list_first_entry_or_null(&ring->event_conns, struct krdma_user_conn, event_node);
	if (conn)
		list_del_init(&conn->event_node);
	spin_unlock_irqrestore(&ring->event_lock, flags);

	return conn;
}

/* Takes one event.  A connection with more of them has its next turn after the others. */
static bool krdma_user_event_take(struct krdma_user_ring *ring, struct krdma_user_conn *conn,
				  struct krdma_cqe *cqe)
{
	struct krdma_event event;
	unsigned long flags;
	bool ours;

	/* As long as it is held, krdma_user_event_end() does not return. */
	lockdep_assert_held(&ring->cq_lock);

	spin_lock_irqsave(&conn->lock, flags);
	ours = conn->event_ring == ring;
	spin_unlock_irqrestore(&conn->lock, flags);
	if (!ours || !krdma_user_event_peek(conn, &event))
		return false;

	*cqe = (struct krdma_cqe) {
		.wr_id = conn->event_wr_id,
		.dest = conn->dest.id,
		.opcode = KRDMA_OP_EVENT,
		.length = event.type,
		.imm = (u32)event.error,
		.vendor_error = (u32)event.reason,
	};
	krdma_conn_drop_events(conn->core, BIT(event.type));
	/* This context fills the ring. */
	(void)krdma_user_event_add_due(conn);
	return true;
}

/**
 * krdma_user_event_move() - Move events to the CQ ring
 * @ring: the ring; the caller holds its cq_lock
 * @want: number of events at most; as many entries are free
 *
 * Context: any but hardirq.
 * Return: the number of entries that were written, from the ring's tail on.
 */
u32 krdma_user_event_move(struct krdma_user_ring *ring, u32 want)
{
	u32 mask = ring->layout.cq_entries - 1;
	struct krdma_user_conn *conn;
	struct krdma_cqe cqe;
	u32 count = 0;

	lockdep_assert_held(&ring->cq_lock);

	rcu_read_lock();
	while (count < want) {
		conn = krdma_user_event_next(ring);
		if (!conn)
			break;
		if (krdma_user_event_take(ring, conn, &cqe))
			ring->cqes[(ring->cq_tail + count++) & mask] = cqe;
	}
	rcu_read_unlock();

	return count;
}
