// SPDX-License-Identifier: GPL-2.0
/*
 * What is made of an RDMA device and must be gone before the device is: who
 * keeps it, and who ends it.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/sched/mm.h>

#include "core/resource.h"

/*
 * What ends objects runs here, unless the owner waits for it and can do it himself.
 * Unbound, because such work waits, for the device and for consumers: one that waits
 * must not hold up the next.  Without a rescuer: it may wait for a lock whose holder
 * allocates memory, such as a program's cm_lock.
 *
 * Of normal priority: a program decides how many objects end at a time, and the threads of
 * other users must get their turn meanwhile.
 */
struct workqueue_struct *krdma_workqueue;

/*
 * The same for sessions that memory reclaim waits for, see krdma_session_set_reclaim().
 * The rescuer runs one work item at a time, so each of them waits only for the device, for
 * the connection manager and for locks of its own session, and allocates with NOIO.
 * Of high priority, because writing memory back waits for it; programs have no such
 * sessions.
 */
struct workqueue_struct *krdma_reclaim_workqueue;

/*
 * Completions that are told in process context.  On the processor on which the
 * device told of them, and with a thread in reserve, because a block device may
 * wait for them to write memory back.
 */
struct workqueue_struct *krdma_cq_workqueue;

static void krdma_workqueue_destroy(struct workqueue_struct **workqueue)
{
	if (*workqueue)
		destroy_workqueue(*workqueue);
	*workqueue = NULL;
}

/*
 * How many connections, listeners and the like end at the same time.  Ends mostly wait, and
 * then become ready to run together: with hundreds of them, a thread of another user waits
 * 100 ms and more for its turn on a processor.
 */
#define KRDMA_ENDS_AT_ONCE	16

/**
 * krdma_resources_init - get ready to make objects
 *
 * Context: process context; may sleep.
 * Return: 0 or -ENOMEM.
 */
int krdma_resources_init(void)
{
	krdma_workqueue = alloc_workqueue(KBUILD_MODNAME, WQ_UNBOUND, KRDMA_ENDS_AT_ONCE);
	krdma_reclaim_workqueue = alloc_workqueue(KBUILD_MODNAME "_reclaim",
						  WQ_UNBOUND | WQ_HIGHPRI | WQ_MEM_RECLAIM, 0);
	krdma_cq_workqueue = alloc_workqueue(KBUILD_MODNAME "_completion",
					     WQ_PERCPU | WQ_HIGHPRI | WQ_MEM_RECLAIM, 0);
	if (krdma_workqueue && krdma_reclaim_workqueue && krdma_cq_workqueue)
		return 0;
	krdma_resources_exit();
	return -ENOMEM;
}

/**
 * krdma_resources_exit - nobody makes objects any more, and all are gone
 *
 * Context: process context; may sleep.
 */
void krdma_resources_exit(void)
{
	krdma_workqueue_destroy(&krdma_cq_workqueue);
	/* Its work items leave to the next one what is shared with other sessions. */
	krdma_workqueue_destroy(&krdma_reclaim_workqueue);
	krdma_workqueue_destroy(&krdma_workqueue);
}

/* When the last reference is gone, by whoever gave it back. */
static void krdma_resource_release(struct krdma_resource *resource)
{
	resource->release(resource);
	krdma_device_unuse(resource->dev, &resource->use);
	complete_all(&resource->released);
	resource->forget(resource);
}

static void krdma_resource_work(struct work_struct *work)
{
	unsigned int noio = memalloc_noio_save();

	krdma_resource_release(container_of(to_rcu_work(work), struct krdma_resource, work));
	memalloc_noio_restore(noio);
}

static void krdma_resource_gone(struct krdma_use *use)
{
	struct krdma_resource *resource = container_of(use, struct krdma_resource, use);

	set_bit(KRDMA_RESOURCE_GONE, &resource->flags);
	krdma_resource_drop(resource);
}

/**
 * krdma_resource_init - something has been made of a device
 * @resource: the part
 * @dev: the device; the caller holds a reference until the release is over
 * @release: see &struct krdma_resource
 * @forget: likewise; not called if this fails
 *
 * Called before the part is made, so that the device stays meanwhile.  There are
 * two references then: the owner's, and the maker's, which is given back by
 * krdma_resource_put() when the part is whole.  If making it fails, the caller
 * drops and puts as usual, and @release finds what is there.
 *
 * Context: any but NMI.
 * Return: 0, or -ENODEV if the device is gone or going.
 */
int krdma_resource_init(struct krdma_resource *resource, struct krdma_device *dev,
			void (*release)(struct krdma_resource *resource),
			void (*forget)(struct krdma_resource *resource))
{
	resource->dev = dev;
	resource->flags = 0;
	resource->release = release;
	resource->forget = forget;
	refcount_set(&resource->refs, 2);
	INIT_RCU_WORK(&resource->work, krdma_resource_work);
	init_completion(&resource->released);

	return krdma_device_use(dev, &resource->use, krdma_resource_gone);
}

/**
 * krdma_resource_release_late - release the part only when softirqs have ended
 * @resource: the part; the caller has the maker's reference
 *
 * For a part that a softirq may still have to do with when the last one who worked with
 * it has ended, or is about to: what is pending on some processor then has run when it is
 * released.  Its owner drops it, and does not wait for it by krdma_resource_end().
 *
 * Nobody waits for the grace period: a work that did would need a thread of its own.
 *
 * Context: any.
 */
void krdma_resource_release_late(struct krdma_resource *resource)
{
	set_bit(KRDMA_RESOURCE_LATE, &resource->flags);
}

/**
 * krdma_resource_set_reclaim - memory reclaim may wait for the release of the part
 * @resource: the part; the caller has the maker's reference
 *
 * The release waits for nothing but the device, and for no lock whose holder allocates
 * memory without NOIO.
 *
 * Context: any.
 */
void krdma_resource_set_reclaim(struct krdma_resource *resource)
{
	set_bit(KRDMA_RESOURCE_RECLAIM, &resource->flags);
}

/**
 * krdma_resource_keep - keep the part, whether its owner has let go or not
 * @resource: the part; the caller keeps the object around it
 *
 * Context: any.
 * Return: true, with a reference for krdma_resource_put(); false if it is being
 * released, or was.
 */
bool krdma_resource_keep(struct krdma_resource *resource)
{
	return refcount_inc_not_zero(&resource->refs);
}

/**
 * krdma_resource_last - the last one who worked with the part has ended
 * @resource: the part
 *
 * Context: any but NMI.
 */
void krdma_resource_last(struct krdma_resource *resource)
{
	struct workqueue_struct *workqueue = krdma_workqueue;

	if (test_bit(KRDMA_RESOURCE_RECLAIM, &resource->flags))
		workqueue = krdma_reclaim_workqueue;
	if (test_bit(KRDMA_RESOURCE_LATE, &resource->flags))
		queue_rcu_work(workqueue, &resource->work);
	else
		queue_work(workqueue, &resource->work.work);
}

/**
 * krdma_resource_drop - the owner lets go
 * @resource: the part; the caller keeps the object around it
 *
 * Context: any but NMI; any number of times.
 */
void krdma_resource_drop(struct krdma_resource *resource)
{
	if (!test_and_set_bit(KRDMA_RESOURCE_DROPPED, &resource->flags))
		krdma_resource_put(resource);
}

/**
 * krdma_resource_end - the owner lets go, and waits until the part has been released
 * @resource: the part; the caller keeps the object around it
 *
 * Mostly nobody else works with it, and then it is released here: a work would only
 * be waited for.
 *
 * Context: process context, with no lock that a release or a removal takes; sleeps
 * until the last one has put it.  Once, but a drop may have come before.  Not of a part
 * that is released late.
 */
void krdma_resource_end(struct krdma_resource *resource)
{
	might_sleep();
	WARN_ON_ONCE(test_bit(KRDMA_RESOURCE_LATE, &resource->flags));

	if (!test_and_set_bit(KRDMA_RESOURCE_DROPPED, &resource->flags) &&
	    refcount_dec_and_test(&resource->refs))
		krdma_resource_release(resource);
	else
		wait_for_completion(&resource->released);
}

/**
 * krdma_resource_error - why is it not there?
 * @resource: the part
 *
 * Context: any.
 * Return: -ENODEV if the device went, -ESHUTDOWN if its owner let go, 0 if it is
 * there.
 */
int krdma_resource_error(const struct krdma_resource *resource)
{
	if (test_bit(KRDMA_RESOURCE_GONE, &resource->flags))
		return -ENODEV;
	return test_bit(KRDMA_RESOURCE_DROPPED, &resource->flags) ? -ESHUTDOWN : 0;
}
