// SPDX-License-Identifier: GPL-2.0
/*
 * Events from a connection to its consumer.
 *
 * A step that raises an event adds it to the connection's circular buffer.  A work item takes it
 * out and calls ops->event(), which may sleep.  If the consumer has ops->notify() instead, which
 * does not sleep, the step itself calls it.  Without either, the consumer takes events by
 * krdma_conn_next_event().
 */
#include <linux/errno.h>

#include "cm/conn.h"

/*
 * Not krdma_workqueue: consumers sleep in it as long as they like, and must not delay the
 * teardown of connections, which the removal of a device waits for.  Unbound for the same reason:
 * a work item that sleeps delays no other.
 */
struct workqueue_struct *krdma_event_workqueue;

/**
 * krdma_conn_events_init() - Allocate the workqueue for events
 *
 * Context: process context; may sleep.
 * Return: 0 or -ENOMEM.
 */
int krdma_conn_events_init(void)
{
	krdma_event_workqueue = alloc_workqueue(KBUILD_MODNAME "_event", WQ_UNBOUND,
						WQ_MAX_ACTIVE);
	return krdma_event_workqueue ? 0 : -ENOMEM;
}

/**
 * krdma_conn_events_exit() - Destroy the workqueue for events
 *
 * All connections and listeners have ended, and krdma_workqueue is destroyed.  Only work items
 * that free objects are left.
 *
 * Context: process context; may sleep.
 */
void krdma_conn_events_exit(void)
{
	destroy_workqueue(krdma_event_workqueue);
}

static bool krdma_conn_notifies(const struct krdma_conn *conn)
{
	return conn->ops && conn->ops->notify;
}

/**
 * krdma_conn_has_pending() - Check whether a work item calls the consumer
 * @conn: the connection; the caller holds its state_lock
 *
 * Context: any.
 * Return: false if the step calls the consumer, or the consumer polls for events.
 */
bool krdma_conn_has_pending(const struct krdma_conn *conn)
{
	lockdep_assert_held(&conn->state_lock);
	return conn->ops && conn->ops->event && !conn->ops->notify;
}

/* The first event that was not taken, as the consumer gets it. */
static struct krdma_event krdma_conn_first_event(const struct krdma_conn *conn)
{
	const struct krdma_conn_event *event;

	event = &conn->events[conn->event_head % KRDMA_CONN_EVENTS];
	/* A connection is rejected once, and then has the reason. */
	return (struct krdma_event) {
		.type = event->type,
		.error = event->error,
		.reason = event->type == KRDMA_EVENT_REJECTED ? conn->reject_reason : 0,
	};
}

/* Passes all events but CLOSED to the consumer: after CLOSED, its callbacks may be gone. */
static void krdma_conn_notify(struct krdma_conn *conn)
{
	lockdep_assert_held(&conn->state_lock);

	while (conn->event_head != conn->event_tail) {
		struct krdma_event event = krdma_conn_first_event(conn);

		if (event.type == KRDMA_EVENT_CLOSED)
			break;
		conn->event_head++;
		conn->ops->notify(conn, &event);
	}
}

/**
 * krdma_conn_schedule_events() - Pass queued events to the consumer, if there are any
 * @conn: the connection; the caller holds its state_lock
 *
 * Context: any but NMI.
 */
void krdma_conn_schedule_events(struct krdma_conn *conn)
{
	lockdep_assert_held(&conn->state_lock);

	if (krdma_conn_notifies(conn)) {
		krdma_conn_notify(conn);
		return;
	}
	if (conn->event_head == conn->event_tail || !krdma_conn_has_pending(conn))
		return;
	krdma_conn_get(conn);
	if (!queue_work(krdma_event_workqueue, &conn->event_work))
		krdma_conn_put(conn);
}

static bool krdma_conn_has_event(const struct krdma_conn *conn, enum krdma_event_type type)
{
	for (unsigned int i = conn->event_head; i != conn->event_tail; i++) {
		if (conn->events[i % KRDMA_CONN_EVENTS].type == type)
			return true;
	}
	return false;
}

/**
 * krdma_conn_add_event() - Add an event for the consumer
 * @conn: the connection; the caller holds its state_lock
 * @type: type of the event
 *
 * Context: any but NMI.
 */
void krdma_conn_add_event(struct krdma_conn *conn, enum krdma_event_type type)
{
	lockdep_assert_held(&conn->state_lock);

	/* An address can change any number of times; every other event is raised once. */
	if (krdma_conn_has_event(conn, type))
		return;
	if (WARN_ON_ONCE(conn->event_tail - conn->event_head == KRDMA_CONN_EVENTS))
		return;

	conn->events[conn->event_tail++ % KRDMA_CONN_EVENTS] = (struct krdma_conn_event) {
		.type = type,
		.error = conn->error,
	};
	krdma_conn_schedule_events(conn);
}

static bool krdma_conn_take_event(struct krdma_conn *conn, struct krdma_event *event)
{
	unsigned long flags;
	bool there;

	spin_lock_irqsave(&conn->state_lock, flags);
	there = conn->event_head != conn->event_tail;
	if (there) {
		*event = krdma_conn_first_event(conn);
		conn->event_head++;
	}
	spin_unlock_irqrestore(&conn->state_lock, flags);

	return there;
}

/**
 * krdma_conn_event_work() - Call the consumer for all queued events
 * @work: the connection's event_work
 *
 * Context: process context; the consumer may sleep.
 */
void krdma_conn_event_work(struct work_struct *work)
{
	struct krdma_conn *conn = container_of(work, struct krdma_conn, event_work);
	struct krdma_event event;

	while (krdma_conn_take_event(conn, &event)) {
		conn->ops->event(conn, &event);
		/* After CLOSED, the consumer's callbacks may be gone. */
		if (event.type == KRDMA_EVENT_CLOSED)
			krdma_conn_closed(conn);
	}
	krdma_conn_put(conn);
}

/**
 * krdma_conn_finish() - Finish the end of a connection without an event work item
 * @conn: the connection; the caller holds a reference of its own
 *
 * Context: process context if the consumer has ops->notify(); otherwise any but NMI.
 */
void krdma_conn_finish(struct krdma_conn *conn)
{
	struct krdma_event event;

	/* This is CLOSED: the events before it were passed on when they were raised. */
	if (krdma_conn_notifies(conn) && krdma_conn_take_event(conn, &event))
		conn->ops->notify(conn, &event);
	krdma_conn_closed(conn);
}

/**
 * krdma_conn_next_event() - Take the next event of a connection
 * @conn: the connection; its consumer has no callback for events
 * @event: filled in
 *
 * Context: any but NMI.
 * Return: 0; -EAGAIN: there is no event; -EINVAL: events go to the consumer's callback.
 */
int krdma_conn_next_event(struct krdma_conn *conn, struct krdma_event *event)
{
	unsigned long flags;
	bool delivered;

	spin_lock_irqsave(&conn->state_lock, flags);
	delivered = krdma_conn_has_pending(conn) || krdma_conn_notifies(conn);
	spin_unlock_irqrestore(&conn->state_lock, flags);

	if (delivered)
		return -EINVAL;
	return krdma_conn_take_event(conn, event) ? 0 : -EAGAIN;
}
EXPORT_SYMBOL_NS_GPL(krdma_conn_next_event, "KRDMA");
