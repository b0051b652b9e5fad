// SPDX-License-Identifier: GPL-2.0
/*
 * The state of a device: changes of it, and what they start.
 *
 * Each change is made under @state_lock.  What has to be done about it is done by work items: the
 * connections are made again, and the timer's work item fails requests, see fence.c.
 *
 * One timer serves both the hold limit and the fence.  Each change of what it depends on sets it,
 * and when it fires it checks what is due.  So a timer that fires late or early does no harm, and
 * setting it for one reason cannot cancel it for the other.  A request that was lost more than once
 * is due earlier than the limit of the device.  So while the device has no connections, the timer
 * fires every second.  While it is live, the timer is that of krdma_blk_path_lost_soon().
 */
#include <linux/errno.h>
#include <linux/jiffies.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/spinlock.h>
#include <linux/string.h>

#include "blk.h"
#include "device.h"
#include "root.h"
#include "state.h"

static const char *const krdma_blk_states[] = {
	[KRDMA_BLK_DETACHED] = "detached",
	[KRDMA_BLK_LIVE] = "live",
	[KRDMA_BLK_HOLDING] = "holding",
	[KRDMA_BLK_FAILING] = "failing",
	[KRDMA_BLK_DEAD] = "dead",
};

/**
 * krdma_blk_state_name() - Get the name of a state
 * @state: the state
 *
 * Context: any.
 * Return: the name.
 */
const char *krdma_blk_state_name(enum krdma_blk_state state)
{
	return krdma_blk_states[state];
}

/* How long a device may take to move to another address that answers. */
#define KRDMA_BLK_MOVE_WAIT	(2 * HZ)

/* Connections that are lost sooner than this are brief; and how long they are kept on purpose. */
#define KRDMA_BLK_BRIEF_TIME	HZ

/*
 * Error texts for the user
 */

/**
 * krdma_blk_path_say() - Set the error text of a device
 * @device: the device
 * @text: why there is no connection; empty: no error
 *
 * Context: any.
 */
void krdma_blk_path_say(struct krdma_blk_device *device, const char *text)
{
	unsigned long flags;

	spin_lock_irqsave(&device->state_lock, flags);
	strscpy(device->error, text, sizeof(device->error));
	spin_unlock_irqrestore(&device->state_lock, flags);
}

/**
 * krdma_blk_path_explain() - Set the error text for a connection that could not be made
 * @device: the device
 * @refused: the server's reason as text; NULL: the server did not refuse
 * @error: the connection's error
 *
 * Context: process context.
 */
void krdma_blk_path_explain(struct krdma_blk_device *device, const char *refused, int error)
{
	const char *text = refused;

	if (!text) {
		switch (error) {
		case -ECONNREFUSED:
			text = "no krdma_blk listens at this address and port";
			break;
		case -EHOSTUNREACH:
		case -EADDRNOTAVAIL:
			text = "there is no way to the server over an RDMA device";
			break;
		case -ETIMEDOUT:
			text = "the server does not answer";
			break;
		case -EPROTO:
			text = "what listens there is no krdma_blk, or one of another version";
			break;
		case -EKEYREJECTED:
			text = "the server has not proved that it knows the secret";
			break;
		case -ENOBUFS:
			text = "the device's send queue is too short for an export with a store";
			break;
		case -EOPNOTSUPP:
			text = "the device on the way to the server speaks iWARP";
			break;
		default:
			text = "the connection could not be made";
			break;
		}
	}
	krdma_blk_path_say(device, text);
}

/*
 * States
 */

/**
 * krdma_blk_path_limit() - Get the time when the wait for connections is over
 * @device: the device; the caller holds its state_lock
 *
 * Connections that were taken down to make others are no loss that its limit is for.
 *
 * Context: any.
 * Return: the time in jiffies.
 */
unsigned long krdma_blk_path_limit(const struct krdma_blk_device *device)
{
	unsigned long wait = device->hold_seconds * HZ;

	if (device->moves)
		wait = max_t(unsigned long, wait, KRDMA_BLK_MOVE_WAIT);
	return device->lost_at + (device->stop ? 0 : wait);
}

/**
 * krdma_blk_path_set_timer() - Set the timer after a change of what it depends on
 * @device: the device; the caller holds its state_lock
 *
 * Context: any.
 */
void krdma_blk_path_set_timer(struct krdma_blk_device *device)
{
	long wait = LONG_MAX;

	lockdep_assert_held(&device->state_lock);

	/* krdma_blk_path_close() has cancelled the timer, or is about to. */
	if (device->state == KRDMA_BLK_DETACHED)
		return;
	if (device->state == KRDMA_BLK_HOLDING)
		wait = min_t(long, krdma_blk_path_limit(device) - jiffies, HZ);
	if (device->fence == KRDMA_BLK_FENCE_RISING)
		wait = min_t(long, wait, device->fence_at - jiffies);
	if (device->state == KRDMA_BLK_LIVE && device->ends)
		wait = min_t(long, wait, device->ends_at - jiffies);
	if (wait == LONG_MAX)
		cancel_delayed_work(&device->expire);
	else
		mod_delayed_work(krdma_blk_workqueue, &device->expire, max(wait, 0L));
}

static void krdma_blk_hold_begin(struct krdma_blk_device *device)
{
	bool due = device->ends && time_after_eq(jiffies, device->ends_at);

	lockdep_assert_held(&device->state_lock);

	WRITE_ONCE(device->state, KRDMA_BLK_HOLDING);
	/* Connections that are taken down to make others are not lost. */
	if (!device->moves && !due) {
		if (time_before(jiffies, device->live_at + KRDMA_BLK_BRIEF_TIME))
			device->brief++;
		else
			device->brief = 0;
	}
	device->paused = false;
	device->ends = false;
	device->attempts = 0;
	WRITE_ONCE(device->lost_at, jiffies);
	queue_delayed_work(krdma_blk_workqueue, &device->reconnect, 0);
	krdma_blk_path_set_timer(device);
}

/**
 * krdma_blk_fence_is_up() - Check that no earlier request can arrive any more
 * @device: the device
 *
 * If the caller holds a queue's lock, and the queue is not open, true stays true.
 *
 * Context: any.
 * Return: true if none can arrive.
 */
bool krdma_blk_fence_is_up(struct krdma_blk_device *device)
{
	return READ_ONCE(device->fence) == KRDMA_BLK_FENCE_UP;
}

/**
 * krdma_blk_fence_lower() - Lower the fence before queues are opened
 * @device: the device; its fence is up
 *
 * A loss counts from here on, also if it is noticed before krdma_blk_path_live().
 *
 * Context: process context.
 * Return: true if they may be opened; false: the device is about to be detached.
 */
bool krdma_blk_fence_lower(struct krdma_blk_device *device)
{
	bool stop;

	spin_lock_irq(&device->state_lock);
	stop = device->stop;
	if (!stop) {
		WRITE_ONCE(device->fence, KRDMA_BLK_FENCE_DOWN);
		device->broken = false;
		device->ends = false;
		/* 0 means that a request was not posted in any epoch. */
		if (!++device->epoch)
			device->epoch++;
	}
	spin_unlock_irq(&device->state_lock);
	return !stop;
}

/**
 * krdma_blk_path_live() - Set a device live when all queues are open
 * @device: the device
 *
 * Context: process context.
 */
void krdma_blk_path_live(struct krdma_blk_device *device)
{
	spin_lock_irq(&device->state_lock);
	/* A context that detaches it meanwhile waits for what has been posted. */
	if (!device->stop || device->state != KRDMA_BLK_DETACHED) {
		WRITE_ONCE(device->state, KRDMA_BLK_LIVE);
		WRITE_ONCE(device->moves, false);
		device->live_at = jiffies;
		device->error[0] = '\0';
		if (device->broken || device->stop)
			krdma_blk_hold_begin(device);
		else
			krdma_blk_path_set_timer(device);
	}
	spin_unlock_irq(&device->state_lock);
}

/**
 * krdma_blk_path_lost() - Note the loss of a connection
 * @device: the device
 *
 * Context: any but NMI.
 */
void krdma_blk_path_lost(struct krdma_blk_device *device)
{
	unsigned long flags;

	spin_lock_irqsave(&device->state_lock, flags);
	device->broken = true;
	if (device->state == KRDMA_BLK_LIVE)
		krdma_blk_hold_begin(device);
	spin_unlock_irqrestore(&device->state_lock, flags);
}

/**
 * krdma_blk_path_lost_soon() - Take down the connections after a second
 * @device: the device; its queues are open
 *
 * For a request that this side's device refuses to take, again and again.  That may be a fault of
 * the connection, or one of the request alone.  So the connections are made again, but not before
 * other requests have had time to complete.
 *
 * Context: any but NMI.
 */
void krdma_blk_path_lost_soon(struct krdma_blk_device *device)
{
	unsigned long flags;

	spin_lock_irqsave(&device->state_lock, flags);
	if (!device->ends) {
		device->ends = true;
		device->ends_at = jiffies + KRDMA_BLK_BRIEF_TIME;
		krdma_blk_path_set_timer(device);
	}
	spin_unlock_irqrestore(&device->state_lock, flags);
}

/**
 * krdma_blk_path_end() - Take down the connections, if that is due
 * @device: the device; the caller holds its state_lock
 *
 * Context: any.
 */
void krdma_blk_path_end(struct krdma_blk_device *device)
{
	lockdep_assert_held(&device->state_lock);

	if (device->state == KRDMA_BLK_LIVE && device->ends &&
	    time_after_eq(jiffies, device->ends_at)) {
		device->broken = true;
		krdma_blk_hold_begin(device);
	}
}

/**
 * krdma_blk_path_move() - Take down the connections, to make them by the first address
 * @device: the device
 *
 * Nothing happens unless the device is live at another address, nor when it is being detached: what
 * has still to be written needs the connections, and they would not be made again.
 *
 * Context: process context.
 * Return: true if they are taken down.
 */
bool krdma_blk_path_move(struct krdma_blk_device *device)
{
	bool moves;

	spin_lock_irq(&device->state_lock);
	/* It may have been lost, and be live at the first address since that was asked. */
	moves = device->state == KRDMA_BLK_LIVE && !device->stop && device->remote;
	if (moves) {
		WRITE_ONCE(device->moves, true);
		device->broken = true;
		krdma_blk_hold_begin(device);
	}
	spin_unlock_irq(&device->state_lock);
	return moves;
}

/**
 * krdma_blk_path_is_moving() - Check whether a device is about to have connections again
 * @device: the device
 *
 * Context: any.
 * Return: true if it is moving to another address, and has had little time for that.
 */
bool krdma_blk_path_is_moving(struct krdma_blk_device *device)
{
	return READ_ONCE(device->moves) &&
	       time_before(jiffies, READ_ONCE(device->lost_at) + KRDMA_BLK_MOVE_WAIT);
}

/**
 * krdma_blk_path_stop() - Stop making connections, and stop waiting for them
 * @device: the device
 *
 * Context: process context.
 * Return: true if the device is live, so that what was posted completes.
 */
bool krdma_blk_path_stop(struct krdma_blk_device *device)
{
	bool live;

	spin_lock_irq(&device->state_lock);
	WRITE_ONCE(device->stop, true);
	live = device->state == KRDMA_BLK_LIVE;
	krdma_blk_path_set_timer(device);
	spin_unlock_irq(&device->state_lock);
	return live;
}

/**
 * krdma_blk_path_set_hold() - Set how long requests wait for connections
 * @device: the device
 * @seconds: the limit in seconds, counted from the loss of the connections
 *
 * Context: process context.
 */
void krdma_blk_path_set_hold(struct krdma_blk_device *device, unsigned int seconds)
{
	spin_lock_irq(&device->state_lock);
	WRITE_ONCE(device->hold_seconds, seconds);
	krdma_blk_path_set_timer(device);
	spin_unlock_irq(&device->state_lock);
}

/**
 * krdma_blk_path_state() - Get the state of a device
 * @device: the device
 *
 * Context: any.
 * Return: the state at the time of the call.
 */
enum krdma_blk_state krdma_blk_path_state(struct krdma_blk_device *device)
{
	return READ_ONCE(device->state);
}

/**
 * krdma_blk_path_gives_up() - Check whether requests that cannot be posted must fail
 * @device: the device
 *
 * If a caller holds a queue's lock and adds a request to its list because this was false, the
 * request is not forgotten: when this becomes true, the list is emptied under the lock.
 *
 * Context: any.
 * Return: true if they must fail.
 */
bool krdma_blk_path_gives_up(struct krdma_blk_device *device)
{
	enum krdma_blk_state state = READ_ONCE(device->state);

	return state == KRDMA_BLK_FAILING || state == KRDMA_BLK_DEAD;
}
