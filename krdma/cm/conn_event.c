// SPDX-License-Identifier: GPL-2.0
/*
 * Events from a connection to its consumer.
 *
 * A step that raises an event adds it to the connection's queue.  A work item takes it out and
 * calls ops->event(), which may sleep.  If the consumer has ops->notify() instead, which does not
 * sleep, the step itself calls it, and the event stays.  Without ops->event(), the consumer takes
 * events by krdma_conn_next_event(), and the user interface, which keeps an event until the program
 * has it, by krdma_conn_peek_event() and krdma_conn_drop_events().
 */
#include <linux/bits.h>
#include <linux/errno.h>
#include <linux/string.h>

#include "cm/conn.h"
#include "cm/conn_event.h"
#include "core/device.h"

/* In the queue, besides the type: the event has the connection's error. */
#define KRDMA_CONN_EVENT_HAS_ERROR	0x80

static_assert(KRDMA_CONN_EVENTS < KRDMA_CONN_EVENT_HAS_ERROR);

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

/* An entry of the queue, as the consumer gets it. */
static struct krdma_event krdma_conn_event_of(const struct krdma_conn *conn, u8 entry)
{
	enum krdma_event_type type = entry & ~KRDMA_CONN_EVENT_HAS_ERROR;

	/* A connection ends once, and is rejected once, and then has the cause. */
	return (struct krdma_event) {
		.type = type,
		.error = entry & KRDMA_CONN_EVENT_HAS_ERROR ? conn->error : 0,
		.reason = type == KRDMA_EVENT_REJECTED ? conn->reject_reason : 0,
	};
}

static void krdma_conn_pass_event(struct krdma_conn *conn, u8 entry)
{
	struct krdma_event event;

	lockdep_assert_held(&conn->state_lock);

	if (krdma_conn_notifies(conn)) {
		event = krdma_conn_event_of(conn, entry);
		/* After CLOSED, its callbacks may be gone: see krdma_conn_finish(). */
		if (event.type != KRDMA_EVENT_CLOSED)
			conn->ops->notify(conn, &event);
		return;
	}
	if (!krdma_conn_has_pending(conn))
		return;
	krdma_conn_get(conn);
	if (!queue_work(krdma_event_workqueue, &conn->event_work))
		krdma_conn_put(conn);
}

/**
 * krdma_conn_pass_events() - Pass queued events to the consumer, if there are any
 * @conn: the connection, which gets its consumer; the caller holds its state_lock
 *
 * Context: any but NMI.
 */
void krdma_conn_pass_events(struct krdma_conn *conn)
{
	lockdep_assert_held(&conn->state_lock);

	for (unsigned int i = 0; i < conn->event_count; i++)
		krdma_conn_pass_event(conn, conn->events[i]);
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
	u8 entry = type | (conn->error ? KRDMA_CONN_EVENT_HAS_ERROR : 0);

	lockdep_assert_held(&conn->state_lock);

	/* An address can change any number of times; every other event is raised once. */
	if (!memchr(conn->events, entry, conn->event_count) &&
	    !WARN_ON_ONCE(conn->event_count == KRDMA_CONN_EVENTS))
		conn->events[conn->event_count++] = entry;
	krdma_conn_pass_event(conn, entry);
}

static void krdma_conn_remove_events(struct krdma_conn *conn, u32 types)
{
	u8 kept = 0;

	lockdep_assert_held(&conn->state_lock);

	for (unsigned int i = 0; i < conn->event_count; i++) {
		if (!(types & BIT(conn->events[i] & ~KRDMA_CONN_EVENT_HAS_ERROR)))
			conn->events[kept++] = conn->events[i];
	}
	conn->event_count = kept;
}

static bool krdma_conn_take_event(struct krdma_conn *conn, struct krdma_event *event)
{
	unsigned long flags;
	bool there;

	spin_lock_irqsave(&conn->state_lock, flags);
	there = conn->event_count;
	if (there) {
		*event = krdma_conn_event_of(conn, conn->events[0]);
		krdma_conn_remove_events(conn, BIT(event->type));
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
	struct krdma_event event = krdma_conn_event_of(conn, KRDMA_EVENT_CLOSED |
						       KRDMA_CONN_EVENT_HAS_ERROR);

	if (krdma_conn_notifies(conn))
		conn->ops->notify(conn, &event);
	krdma_conn_closed(conn);
}

/**
 * krdma_conn_next_event() - Take the next event of a connection
 * @conn: the connection; its consumer has no event() callback
 * @event: filled in
 *
 * After KRDMA_EVENT_CLOSED, notify() may still run: krdma_conn_close() waits for it.
 *
 * Context: any but NMI.
 * Return: 0; -EAGAIN: there is no event; -EINVAL: events go to the consumer's callback.
 */
int krdma_conn_next_event(struct krdma_conn *conn, struct krdma_event *event)
{
	unsigned long flags;
	bool delivered;

	spin_lock_irqsave(&conn->state_lock, flags);
	delivered = krdma_conn_has_pending(conn);
	spin_unlock_irqrestore(&conn->state_lock, flags);

	if (delivered)
		return -EINVAL;
	return krdma_conn_take_event(conn, event) ? 0 : -EAGAIN;
}
EXPORT_SYMBOL_NS_GPL(krdma_conn_next_event, "KRDMA");

/**
 * krdma_conn_peek_event() - Look at the next event of a connection, which stays in the queue
 * @conn: the connection; its consumer has no event() callback
 * @event: filled in
 *
 * Context: any but NMI.
 * Return: 0; -EAGAIN: there is no event; -ESHUTDOWN: there is none any more.
 */
int krdma_conn_peek_event(struct krdma_conn *conn, struct krdma_event *event)
{
	unsigned long flags;
	int ret = 0;

	spin_lock_irqsave(&conn->state_lock, flags);
	if (conn->event_count)
		*event = krdma_conn_event_of(conn, conn->events[0]);
	else
		ret = conn->state == KRDMA_CONN_CLOSED ? -ESHUTDOWN : -EAGAIN;
	spin_unlock_irqrestore(&conn->state_lock, flags);

	return ret;
}

/**
 * krdma_conn_drop_events() - Drop events of a connection
 * @conn: the connection; its consumer has no event() callback
 * @types: a bit for each &enum krdma_event_type
 *
 * The queue has one event of a type at most, so the type of an event that was peeked is enough.
 *
 * Context: any but NMI.
 */
void krdma_conn_drop_events(struct krdma_conn *conn, u32 types)
{
	unsigned long flags;

	spin_lock_irqsave(&conn->state_lock, flags);
	krdma_conn_remove_events(conn, types);
	spin_unlock_irqrestore(&conn->state_lock, flags);
}

/**
 * krdma_conn_peek_state() - Get what many calls look at first
 * @conn: the connection
 * @info: @state, @error, @settled, @device_id and @lane are filled in, and nothing else
 *
 * Context: any but NMI.
 */
void krdma_conn_peek_state(struct krdma_conn *conn, struct krdma_conn_info *info)
{
	unsigned long flags;

	spin_lock_irqsave(&conn->state_lock, flags);
	info->state = conn->state;
	info->error = conn->error;
	info->settled = krdma_conn_is_settled(conn->state);
	info->device_id = conn->dev ? krdma_device_id(conn->dev) : 0;
	spin_unlock_irqrestore(&conn->state_lock, flags);
	info->lane = krdma_conn_uses_lower(conn);
}
