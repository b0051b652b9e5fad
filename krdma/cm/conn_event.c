// SPDX-License-Identifier: GPL-2.0
/*
 * How the consumer of a connection hears of its events.
 *
 * The step that has something to tell puts it into the connection's ring.  A work
 * takes it out and calls the consumer, who may sleep; or the step itself does, for a
 * consumer who does not; without a function to call, the consumer takes it himself.
 */
#include <linux/errno.h>

#include "cm/conn.h"

/*
 * Not krdma_workqueue: consumers sleep in it as long as they like, and the end of
 * connections, which a device's removal waits for, must not stand in line behind
 * them.  Unbound for the same reason: one that sleeps holds up nobody.
 */
struct workqueue_struct *krdma_event_workqueue;

/**
 * krdma_conn_events_init - get ready to tell consumers
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
 * krdma_conn_events_exit - nobody is told of anything any more
 *
 * All connections and listeners have ended, and krdma_workqueue is gone.  What is
 * left are objects to be freed.
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
 * krdma_conn_has_pending - is the consumer called by a work?
 * @conn: the connection; its state_lock is held
 *
 * Context: any.
 * Return: false if he is called at once, or asks.
 */
bool krdma_conn_has_pending(const struct krdma_conn *conn)
{
	lockdep_assert_held(&conn->state_lock);
	return conn->ops && conn->ops->event && !conn->ops->notify;
}

/* All but the last, after which the consumer's functions may be gone. */
static void krdma_conn_notify(struct krdma_conn *conn)
{
	lockdep_assert_held(&conn->state_lock);

	while (conn->event_head != conn->event_tail) {
		const struct krdma_event *event;

		event = &conn->events[conn->event_head % KRDMA_CONN_EVENTS];
		if (event->type == KRDMA_EVENT_CLOSED)
			break;
		conn->event_head++;
		conn->ops->notify(conn, event);
	}
}

/**
 * krdma_conn_schedule_events - if there is something to tell, have it told
 * @conn: the connection; its state_lock is held
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
 * krdma_conn_add_event - the consumer is to hear of something
 * @conn: the connection; its state_lock is held
 * @type: what
 *
 * Context: any but NMI.
 */
void krdma_conn_add_event(struct krdma_conn *conn, enum krdma_event_type type)
{
	lockdep_assert_held(&conn->state_lock);

	/* An address can change any number of times; everything else comes once. */
	if (krdma_conn_has_event(conn, type))
		return;
	if (WARN_ON_ONCE(conn->event_tail - conn->event_head == KRDMA_CONN_EVENTS))
		return;

	conn->events[conn->event_tail++ % KRDMA_CONN_EVENTS] = (struct krdma_event) {
		.type = type,
		.error = conn->error,
		.reason = type == KRDMA_EVENT_REJECTED ? conn->reject_reason : 0,
	};
	krdma_conn_schedule_events(conn);
}

static bool krdma_conn_take_event(struct krdma_conn *conn, struct krdma_event *event)
{
	unsigned long flags;
	bool there;

	spin_lock_irqsave(&conn->state_lock, flags);
	there = conn->event_head != conn->event_tail;
	if (there)
		*event = conn->events[conn->event_head++ % KRDMA_CONN_EVENTS];
	spin_unlock_irqrestore(&conn->state_lock, flags);

	return there;
}

/**
 * krdma_conn_event_work - tell the consumer of everything that has happened
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
		/* After this one, the consumer's functions may be gone. */
		if (event.type == KRDMA_EVENT_CLOSED)
			krdma_conn_closed(conn);
	}
	krdma_conn_put(conn);
}

/**
 * krdma_conn_finish - the end is over, and no work tells of it
 * @conn: the connection; the caller has a reference of his own
 *
 * Context: process context, for a consumer who is told at once; else any but NMI.
 */
void krdma_conn_finish(struct krdma_conn *conn)
{
	struct krdma_event event;

	/* CLOSED: those before it were told where they came up. */
	if (krdma_conn_notifies(conn) && krdma_conn_take_event(conn, &event))
		conn->ops->notify(conn, &event);
	krdma_conn_closed(conn);
}

/**
 * krdma_conn_next_event - what has happened?
 * @conn: the connection, whose consumer has no function for events
 * @event: filled in
 *
 * Context: any but NMI.
 * Return: 0; -EAGAIN: nothing that was not told before; -EINVAL: events go to the
 * consumer's function.
 */
int krdma_conn_next_event(struct krdma_conn *conn, struct krdma_event *event)
{
	unsigned long flags;
	bool told;

	spin_lock_irqsave(&conn->state_lock, flags);
	told = krdma_conn_has_pending(conn) || krdma_conn_notifies(conn);
	spin_unlock_irqrestore(&conn->state_lock, flags);

	if (told)
		return -EINVAL;
	return krdma_conn_take_event(conn, event) ? 0 : -EAGAIN;
}
EXPORT_SYMBOL_NS_GPL(krdma_conn_next_event, "KRDMA");
