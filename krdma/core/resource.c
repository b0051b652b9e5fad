// SPDX-License-Identifier: GPL-2.0
/*
 * Device parts: what objects allocate of an RDMA device and must release before the device is
 * removed.  This file keeps such a part while it is used and releases it.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/sched/mm.h>

#include "core/device.h"
#include "core/resource.h"
#include "core/session.h"
#include "core/turn.h"

/*
 * Ends listeners and the device parts of objects, unless the owner waits for the end and can run
 * it itself; what waits for a time runs here, too.  Each item waits for the device alone.  A thread
 * of another user may wait for an item, so nothing that a program or a peer can delay is queued
 * here.  Without a rescuer: an item may wait for a lock whose holder allocates memory.
 *
 * The ends of a user's MRs, CQs and SRQs, of which a program has many, have turns here, see
 * krdma_resource_set_turns().
 *
 * Of normal priority: a program decides how many objects end at a time, and the threads of
 * other users must be scheduled meanwhile.
 */
struct workqueue_struct *krdma_workqueue;

/*
 * The same for the ends of connections, which do more, and of which a program has more: those of a
 * user have turns here, too, see krdma_conn_queue().
 */
struct workqueue_struct *krdma_conn_workqueue;

/*
 * Ends connections whose end waits for an answer of the peer.  Unlimited: these sleep, for as long
 * as peers like.
 */
struct workqueue_struct *krdma_peer_workqueue;

/*
 * The same for sessions that memory reclaim waits for, see krdma_session_set_reclaim().  The
 * rescuer runs one work item at a time, so each item waits only for the device, for the
 * connection manager and for locks of its own session, and allocates with NOIO.  Of high
 * priority, because writeback waits for it; programs have no such sessions.
 */
struct workqueue_struct *krdma_reclaim_workqueue;

/*
 * Delivers completions in process context.  Per CPU, so that an item runs on the CPU of the
 * device's interrupt, and with a rescuer, because the writeback of a block device may wait for
 * completions.
 */
struct workqueue_struct *krdma_cq_workqueue;

/*
 * Delivers device events to notifiers, which may wait there for what krdma_workqueue ends:
 * a consumer closes its connections to a device that has been removed.
 */
struct workqueue_struct *krdma_notifier_workqueue;

static void krdma_workqueue_destroy(struct workqueue_struct **workqueue)
{
	if (*workqueue)
		destroy_workqueue(*workqueue);
	*workqueue = NULL;
}

/**
 * krdma_resources_init() - Create the workqueues
 *
 * Context: process context; may sleep.
 * Return: 0 or -ENOMEM.
 */
int krdma_resources_init(void)
{
	krdma_workqueue = alloc_workqueue(KBUILD_MODNAME, WQ_UNBOUND, KRDMA_ENDS_AT_ONCE);
	krdma_conn_workqueue = alloc_workqueue(KBUILD_MODNAME "_conn", WQ_UNBOUND,
					       KRDMA_ENDS_AT_ONCE);
	krdma_peer_workqueue = alloc_workqueue(KBUILD_MODNAME "_peer", WQ_UNBOUND, WQ_MAX_ACTIVE);
	krdma_reclaim_workqueue = alloc_workqueue(KBUILD_MODNAME "_reclaim",
						  WQ_UNBOUND | WQ_HIGHPRI | WQ_MEM_RECLAIM, 0);
	krdma_cq_workqueue = alloc_workqueue(KBUILD_MODNAME "_completion",
					     WQ_PERCPU | WQ_HIGHPRI | WQ_MEM_RECLAIM, 0);
	krdma_notifier_workqueue = alloc_workqueue(KBUILD_MODNAME "_notifier", WQ_UNBOUND, 0);
	if (krdma_workqueue && krdma_conn_workqueue && krdma_peer_workqueue &&
	    krdma_reclaim_workqueue && krdma_cq_workqueue && krdma_notifier_workqueue)
		return 0;
	krdma_resources_exit();
	return -ENOMEM;
}

/**
 * krdma_resources_exit() - Destroy the workqueues
 *
 * The caller ensures that no object is left and none is created any more.
 *
 * Context: process context; may sleep.
 */
void krdma_resources_exit(void)
{
	krdma_workqueue_destroy(&krdma_notifier_workqueue);
	krdma_workqueue_destroy(&krdma_cq_workqueue);
	/* Each hands work to those after it, such as device parts and what sessions share. */
	krdma_workqueue_destroy(&krdma_reclaim_workqueue);
	krdma_workqueue_destroy(&krdma_conn_workqueue);
	krdma_workqueue_destroy(&krdma_peer_workqueue);
	krdma_workqueue_destroy(&krdma_workqueue);
}

/**
 * krdma_resources_flush() - Wait until what was queued to end objects has run
 *
 * That includes what waits for its turn, and is not queued yet; not what waits for a grace period.
 *
 * Context: process context; may sleep.
 */
void krdma_resources_flush(void)
{
	krdma_turns_flush(KRDMA_TURN_CONN);
	flush_workqueue(krdma_reclaim_workqueue);
	flush_workqueue(krdma_conn_workqueue);
	flush_workqueue(krdma_peer_workqueue);
	/* The end of a connection ends uses of MRs, which may be the last ones. */
	krdma_turns_flush(KRDMA_TURN_PART);
	flush_workqueue(krdma_workqueue);
}

/* Called when the last reference is gone, by the task that has put it. */
static void krdma_resource_release(struct krdma_resource *resource)
{
	resource->release(resource);
	krdma_device_unuse(resource->dev, &resource->use);
	complete_all(&resource->released);
	resource->forget(resource);
}

static void krdma_resource_turn_begin(struct krdma_session *session)
{
	spin_lock_irq(&krdma_turns_lock);
	krdma_turn_begin(session, KRDMA_TURN_PART);
	spin_unlock_irq(&krdma_turns_lock);
}

static void krdma_resource_turn_end(struct krdma_session *session)
{
	spin_lock_irq(&krdma_turns_lock);
	krdma_turn_end(session, KRDMA_TURN_PART);
	spin_unlock_irq(&krdma_turns_lock);
}

static void krdma_resource_work(struct work_struct *work)
{
	struct krdma_resource *resource = container_of(to_rcu_work(work), struct krdma_resource,
						       work);
	struct krdma_session *session = resource->turn_session;
	unsigned int noio;

	noio = memalloc_noio_save();
	if (session) {
		/* The object around the part, which keeps it, goes before the turn ends. */
		krdma_session_get(session);
		krdma_resource_turn_begin(session);
	}
	krdma_resource_release(resource);
	if (session) {
		krdma_resource_turn_end(session);
		krdma_session_put(session);
	}
	memalloc_noio_restore(noio);
}

static void krdma_resource_gone(struct krdma_use *use)
{
	struct krdma_resource *resource = container_of(use, struct krdma_resource, use);

	set_bit(KRDMA_RESOURCE_GONE, &resource->flags);
	krdma_resource_drop(resource);
}

/**
 * krdma_resource_init() - Initialize a device part
 * @resource: the device part
 * @dev: the device; the caller holds a reference until @release has returned
 * @release: see &struct krdma_resource
 * @forget: see &struct krdma_resource; not called if this function fails
 *
 * Call this before the part is allocated, so that the device stays meanwhile.  There are two
 * references afterwards: the owner's, and the creator's, which the creator puts by
 * krdma_resource_put() when the part is complete.  If the creation fails, the caller drops and
 * puts as usual, and @release frees what exists.
 *
 * Context: any but NMI.
 * Return: 0, or -ENODEV if the device was removed or is being removed.
 */
int krdma_resource_init(struct krdma_resource *resource, struct krdma_device *dev,
			void (*release)(struct krdma_resource *resource),
			void (*forget)(struct krdma_resource *resource))
{
	resource->dev = dev;
	resource->flags = 0;
	resource->release = release;
	resource->forget = forget;
	resource->turn_session = NULL;
	resource->turn_item.work = &resource->work.work;
	refcount_set(&resource->refs, 2);
	INIT_RCU_WORK(&resource->work, krdma_resource_work);
	init_completion(&resource->released);

	return krdma_device_use(dev, &resource->use, krdma_resource_gone);
}

/**
 * krdma_resource_release_late() - Release the device part only after pending softirqs have run
 * @resource: the device part; the caller has the creator's reference
 *
 * For a part that a softirq may still access when the last reference is put, or shortly after:
 * softirqs that are pending on some CPU then have run before the part is released.  The owner
 * drops such a part, and must not wait for it by krdma_resource_end().
 *
 * No thread waits for the grace period: a work item that did would need a thread of its own.
 *
 * Context: any.
 */
void krdma_resource_release_late(struct krdma_resource *resource)
{
	set_bit(KRDMA_RESOURCE_LATE, &resource->flags);
}

/**
 * krdma_resource_set_reclaim() - Allow memory reclaim to wait for the release of the device
 * part
 * @resource: the device part; the caller has the creator's reference
 *
 * The release must wait only for the device, and for no lock whose holder allocates memory
 * without NOIO.
 *
 * Context: any.
 */
void krdma_resource_set_reclaim(struct krdma_resource *resource)
{
	set_bit(KRDMA_RESOURCE_RECLAIM, &resource->flags);
}

/**
 * krdma_resource_set_turns() - Let the release take turns with others of the user
 * @resource: the device part; the caller has the creator's reference.  Memory reclaim does not
 *	wait for it.
 * @session: the session that has the turns; the object around the part keeps it
 *
 * For a part of which a user can have many, so that their releases do not keep what others end
 * waiting.  A release by krdma_resource_end() needs no turn: it runs in the thread that waits,
 * unless another thread uses the part at that moment.
 *
 * Context: any.
 */
void krdma_resource_set_turns(struct krdma_resource *resource, struct krdma_session *session)
{
	resource->turn_session = session;
}

/**
 * krdma_resource_keep() - Get a reference to the device part, even if its owner has dropped it
 * @resource: the device part; the caller keeps the object around it
 *
 * Context: any.
 * Return: true, with a reference for krdma_resource_put(); false if the part is being released,
 * or was released.
 */
bool krdma_resource_keep(struct krdma_resource *resource)
{
	return refcount_inc_not_zero(&resource->refs);
}

static void krdma_resource_add_turn(struct krdma_resource *resource)
{
	unsigned long flags;

	spin_lock_irqsave(&krdma_turns_lock, flags);
	krdma_turn_add(resource->turn_session, KRDMA_TURN_PART, &resource->turn_item);
	spin_unlock_irqrestore(&krdma_turns_lock, flags);
}

/* The grace period of a part that is released late has passed: it waits for its turn, as others. */
static void krdma_resource_grace(struct rcu_head *rcu)
{
	krdma_resource_add_turn(container_of(rcu, struct krdma_resource, work.rcu));
}

/**
 * krdma_resource_last() - Queue the release after the last reference was put
 * @resource: the device part
 *
 * Context: any but NMI.
 */
void krdma_resource_last(struct krdma_resource *resource)
{
	struct workqueue_struct *workqueue = krdma_workqueue;
	bool late = test_bit(KRDMA_RESOURCE_LATE, &resource->flags);

	if (test_bit(KRDMA_RESOURCE_RECLAIM, &resource->flags))
		workqueue = krdma_reclaim_workqueue;
	if (late && resource->turn_session)
		call_rcu(&resource->work.rcu, krdma_resource_grace);
	else if (late)
		queue_rcu_work(workqueue, &resource->work);
	else if (resource->turn_session)
		krdma_resource_add_turn(resource);
	else
		queue_work(workqueue, &resource->work.work);
}

/* The owner drops the part.  Returns whether that is new, and its reference is to be put now. */
static bool krdma_resource_close(struct krdma_resource *resource)
{
	return !test_and_set_bit(KRDMA_RESOURCE_DROPPED, &resource->flags) &&
	       (!resource->close || resource->close(resource));
}

/**
 * krdma_resource_drop() - Drop the owner's reference
 * @resource: the device part; the caller keeps the object around it
 *
 * Context: any but NMI; may be called any number of times.
 */
void krdma_resource_drop(struct krdma_resource *resource)
{
	if (krdma_resource_close(resource))
		krdma_resource_put(resource);
}

/**
 * krdma_resource_end() - Drop the owner's reference, and wait until the device part was
 * released
 * @resource: the device part; the caller keeps the object around it
 *
 * Mostly no one else has a reference; then this function releases the part itself, because it
 * would only wait for a work item.
 *
 * Context: process context, with no lock that a release or a removal takes; sleeps until the
 * last reference is put.  Call it once; a drop may come before.  Not for a part that is
 * released late.
 */
void krdma_resource_end(struct krdma_resource *resource)
{
	might_sleep();
	WARN_ON_ONCE(test_bit(KRDMA_RESOURCE_LATE, &resource->flags));

	if (krdma_resource_close(resource) && refcount_dec_and_test(&resource->refs))
		krdma_resource_release(resource);
	else
		wait_for_completion(&resource->released);
}

/**
 * krdma_resource_error() - Get the reason why a device part is not available
 * @resource: the device part
 *
 * Context: any.
 * Return: -ENODEV if the device was removed, -ESHUTDOWN if the owner has dropped it, 0 if it is
 * available.
 */
int krdma_resource_error(const struct krdma_resource *resource)
{
	if (test_bit(KRDMA_RESOURCE_GONE, &resource->flags))
		return -ENODEV;
	return test_bit(KRDMA_RESOURCE_DROPPED, &resource->flags) ? -ESHUTDOWN : 0;
}
