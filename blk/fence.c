// SPDX-License-Identifier: GPL-2.0
/*
 * When requests fail: the limit of the wait, and the fence before each error.
 *
 * A write that was posted can arrive for as long as the server's end of its connection
 * stands, even after the connection has broken here: a packet can be late.  After an error
 * the caller may write the same block again, by any way there is.  So the block layer is
 * told of an error only when no connection that carried the request takes a write any more:
 *
 * - all connections of the device are closed here, so nothing more is sent; and
 * - the server has ended its ends: either it says so, by accepting the connections that
 *   replace them, or KRDMA_BLK_FENCE_MS have passed, within which it ends a connection
 *   whose client does not answer.
 *
 * Each opening of the queues is an epoch.  A request that was never posted, or only in an
 * earlier epoch, has nothing to wait for, nor has a read.
 *
 * One timer serves both the limit and the fence.  It is set, in @state_lock, by each change
 * of what it depends on, and when it fires it looks at what is due.  So a timer that fires
 * late or early does no harm, and none can be cancelled that was set for another reason.
 */
#include <linux/jiffies.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/printk.h>

#include "blk.h"
#include "device.h"

/* When the wait for connections is over. */
static unsigned long krdma_blk_limit(const struct krdma_blk_device *device)
{
	return device->lost_at + (device->stop ? 0 : device->hold_seconds * HZ);
}

static void krdma_blk_timer_set(struct krdma_blk_device *device)
{
	long wait = LONG_MAX;

	lockdep_assert_held(&device->state_lock);

	/* krdma_blk_path_close() has ended the timer, or is about to. */
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
 * krdma_blk_fence_init - make a device ready for connections
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
 * krdma_blk_fence_raise - no connection of the device carries requests here any more
 * @device: the device, whose connections have been closed
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
	/* Those whose wait is over, but whose queue was still open then. */
	krdma_blk_fail_all(device);
}

/**
 * krdma_blk_fence_up - the server has ended all connections that carried requests
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
 * krdma_blk_fence_is_up - can no request of before arrive any more?
 * @device: the device
 *
 * With a queue's lock held, and the queue not open, true stays true.
 *
 * Context: any.
 * Return: whether none can.
 */
bool krdma_blk_fence_is_up(struct krdma_blk_device *device)
{
	return READ_ONCE(device->fence) == KRDMA_BLK_FENCE_UP;
}

/**
 * krdma_blk_fence_lower - queues are about to be opened
 * @device: the device, whose fence is up
 *
 * A loss counts from here on, also if it is noticed before krdma_blk_path_live().
 *
 * Context: process context.
 * Return: whether they may be opened; false: the device is about to be detached.
 */
bool krdma_blk_fence_lower(struct krdma_blk_device *device)
{
	bool stop;

	spin_lock_irq(&device->state_lock);
	stop = device->stop;
	if (!stop) {
		WRITE_ONCE(device->fence, KRDMA_BLK_FENCE_DOWN);
		device->broken = false;
		/* 0 is no epoch. */
		if (!++device->epoch)
			device->epoch++;
	}
	spin_unlock_irq(&device->state_lock);
	return !stop;
}

/**
 * krdma_blk_path_live - all queues are open
 * @device: the device
 *
 * Context: process context.
 */
void krdma_blk_path_live(struct krdma_blk_device *device)
{
	spin_lock_irq(&device->state_lock);
	/* Who detaches it meanwhile waits for what has been posted. */
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
 * krdma_blk_path_lost - a connection does not stand any more
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
 * krdma_blk_path_stop - connections are not made any more, and nothing waits for them
 * @device: the device
 *
 * Context: process context.
 * Return: whether the device is live: what was posted completes.
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
 * krdma_blk_path_kill - requests fail for ever
 * @device: the device, of which no queue is open, and whose memory is no more
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
 * krdma_blk_path_set_hold - how long requests wait from now on
 * @device: the device
 * @seconds: how long; counts from when the connections were lost, if they are
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
 * krdma_blk_path_state - how is a device?
 * @device: the device
 *
 * Context: any.
 * Return: its state, at the time of the call.
 */
enum krdma_blk_state krdma_blk_path_state(struct krdma_blk_device *device)
{
	return READ_ONCE(device->state);
}

/**
 * krdma_blk_path_gives_up - must requests fail that cannot be posted?
 * @device: the device
 *
 * Whoever asks with a queue's lock held and puts a request into its list, because this
 * was false, is not forgotten: when it becomes true, the list is emptied with the lock.
 *
 * Context: any.
 * Return: whether they must.
 */
bool krdma_blk_path_gives_up(struct krdma_blk_device *device)
{
	enum krdma_blk_state state = READ_ONCE(device->state);

	return state == KRDMA_BLK_FAILING || state == KRDMA_BLK_DEAD;
}
