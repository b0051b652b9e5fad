// SPDX-License-Identifier: GPL-2.0
/*
 * When requests fail: the hold limit, and the fence before each error.
 *
 * A write that was posted can arrive as long as the server's end of its connection exists, even
 * after the connection has broken on this side, because a packet can be late.  After an error the
 * caller may write the same block again, by another path.  So the block layer gets an error only
 * when no connection that carried the request can deliver a write any more:
 *
 * - all connections of the device are closed on this side, so nothing more is sent; and
 * - the server has ended its ends: either it has accepted the connections that replace them, or
 *   KRDMA_BLK_FENCE_MS have passed, within which it ends a connection whose client does not
 *   answer.
 *
 * Each opening of the queues is an epoch.  A request that was never posted, or only in an earlier
 * epoch, need not wait, and neither need a read.
 *
 * One timer serves both the hold limit and the fence.  Each change of what it depends on sets it,
 * under @state_lock, and when it fires it checks what is due.  So a timer that fires late or
 * early does no harm, and setting it for one reason cannot cancel it for the other.
 */
#include <linux/jiffies.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/printk.h>

#include "blk.h"
#include "device.h"

/* Time in jiffies when the wait for connections is over. */
static unsigned long krdma_blk_limit(const struct krdma_blk_device *device)
{
	return device->lost_at + (device->stop ? 0 : device->hold_seconds * HZ);
}

static void krdma_blk_timer_set(struct krdma_blk_device *device)
{
	long wait = LONG_MAX;

	lockdep_assert_held(&device->state_lock);

	/* krdma_blk_path_close() has cancelled the timer, or is about to. */
	if (device->state == KRDMA_BLK_DETACHED)
		return;
	if (device->state == KRDMA_BLK_HOLDING)
		wait = krdma_blk_limit(device) - jiffies;
	if (device->fence == KRDMA_BLK_FENCE_RISING)
		wait = min_t(long, wait, device->fence_at - jiffies);
	if (wait == LONG_MAX)
		cancel_delayed_work(&device->expire);
	else
		mod_delayed_work(krdma_blk_workqueue, &device->expire, max(wait, 0L));
}

static void krdma_blk_hold_begin(struct krdma_blk_device *device)
{
	lockdep_assert_held(&device->state_lock);

	WRITE_ONCE(device->state, KRDMA_BLK_HOLDING);
	device->attempts = 0;
	device->lost_at = jiffies;
	queue_delayed_work(krdma_blk_workqueue, &device->reconnect, 0);
	krdma_blk_timer_set(device);
}

static void krdma_blk_fail_all(struct krdma_blk_device *device)
{
	for (unsigned int i = 0; i < device->queue_count; i++)
		krdma_blk_queue_fail(&device->queues[i]);
}

static void krdma_blk_expire(struct work_struct *work)
{
	struct krdma_blk_device *device = container_of(to_delayed_work(work),
						       struct krdma_blk_device, expire);
	bool expired, stop;

	spin_lock_irq(&device->state_lock);
	stop = device->stop;
	expired = device->state == KRDMA_BLK_HOLDING &&
		  time_after_eq(jiffies, krdma_blk_limit(device));
	if (expired)
		WRITE_ONCE(device->state, KRDMA_BLK_FAILING);
	if (device->fence == KRDMA_BLK_FENCE_RISING && time_after_eq(jiffies, device->fence_at))
		WRITE_ONCE(device->fence, KRDMA_BLK_FENCE_UP);
	krdma_blk_timer_set(device);
	spin_unlock_irq(&device->state_lock);

	if (expired && !stop)
		pr_warn("%s: no connection for %u s: requests fail until there is one\n",
			config_item_name(&device->item), device->hold_seconds);
	krdma_blk_fail_all(device);
}

/**
 * krdma_blk_fence_init() - Initialize a device for connections
 * @device: the device, new
 *
 * Context: any.
 */
void krdma_blk_fence_init(struct krdma_blk_device *device)
{
	spin_lock_init(&device->state_lock);
	INIT_DELAYED_WORK(&device->expire, krdma_blk_expire);
	device->fence = KRDMA_BLK_FENCE_UP;
}

/**
 * krdma_blk_fence_raise() - Start to raise the fence when all connections are closed
 * @device: the device; its connections have been closed
 *
 * Context: process context.
 */
void krdma_blk_fence_raise(struct krdma_blk_device *device)
{
	spin_lock_irq(&device->state_lock);
	if (device->fence == KRDMA_BLK_FENCE_DOWN) {
		WRITE_ONCE(device->fence, KRDMA_BLK_FENCE_RISING);
		device->fence_at = jiffies + msecs_to_jiffies(KRDMA_BLK_FENCE_MS);
		krdma_blk_timer_set(device);
	}
	spin_unlock_irq(&device->state_lock);
	/* The hold limit of some requests may have expired while their queue was still open. */
	krdma_blk_fail_all(device);
}

/**
 * krdma_blk_fence_up() - Raise the fence when the server has ended all earlier connections
 * @device: the device; none of its queues is open
 *
 * Context: process context.
 */
void krdma_blk_fence_up(struct krdma_blk_device *device)
{
	spin_lock_irq(&device->state_lock);
	WRITE_ONCE(device->fence, KRDMA_BLK_FENCE_UP);
	krdma_blk_timer_set(device);
	spin_unlock_irq(&device->state_lock);
	krdma_blk_fail_all(device);
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
		device->error[0] = '\0';
		if (device->broken || device->stop)
			krdma_blk_hold_begin(device);
		else
			krdma_blk_timer_set(device);
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
	krdma_blk_timer_set(device);
	spin_unlock_irq(&device->state_lock);
	return live;
}

/**
 * krdma_blk_path_kill() - Make all requests fail permanently
 * @device: the device; none of its queues is open, and its memory does not exist any more
 *
 * Context: process context.
 */
void krdma_blk_path_kill(struct krdma_blk_device *device)
{
	spin_lock_irq(&device->state_lock);
	WRITE_ONCE(device->state, KRDMA_BLK_DEAD);
	spin_unlock_irq(&device->state_lock);
	krdma_blk_fence_up(device);
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
	krdma_blk_timer_set(device);
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
