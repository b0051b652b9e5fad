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
 */
#include <linux/jiffies.h>
#include <linux/printk.h>

#include "blk.h"
#include "device.h"
#include "fence.h"
#include "hold.h"
#include "state.h"

static void krdma_blk_fail_all(struct krdma_blk_device *device)
{
	for (unsigned int i = 0; i < device->conn_count; i++)
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
		  time_after_eq(jiffies, krdma_blk_path_limit(device));
	if (expired)
		WRITE_ONCE(device->state, KRDMA_BLK_FAILING);
	if (device->fence == KRDMA_BLK_FENCE_RISING && time_after_eq(jiffies, device->fence_at))
		WRITE_ONCE(device->fence, KRDMA_BLK_FENCE_UP);
	krdma_blk_path_end(device);
	krdma_blk_path_set_timer(device);
	spin_unlock_irq(&device->state_lock);

	if (expired && !stop)
		pr_warn("krdma_blk: cannot use '%s': no connection for %u s; see krdma blk list\n",
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
		krdma_blk_path_set_timer(device);
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
	krdma_blk_path_set_timer(device);
	spin_unlock_irq(&device->state_lock);
	krdma_blk_fail_all(device);
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
