/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Device parts: what objects allocate of an RDMA device and must release before the device is
 * removed.
 */
#ifndef _KRDMA_RESOURCE_H
#define _KRDMA_RESOURCE_H

#include <linux/bits.h>
#include <linux/completion.h>
#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/workqueue.h>

#include "core/private.h"
#include "core/turn.h"

struct ib_pd;
struct krdma_session;

/**
 * struct krdma_use - a use of a device
 * @node: entry of the device's list of uses; protected by krdma_device.uses_lock
 * @gone: called once when the device is being removed, under uses_lock: it must not sleep, and
 *	must start the teardown that calls krdma_device_unuse()
 *
 * From krdma_device_use() to krdma_device_unuse() the RDMA device stays.
 */
struct krdma_use {
	struct list_head node;
	void (*gone)(struct krdma_use *use);
};

/**
 * struct krdma_resource - the device part of an object
 * @dev: the device
 * @use: the use of the device, until the release is over
 * @refs: the owner's reference, and one for each current user.  Counts the part, not the object
 *	around it.
 * @flags: &enum krdma_resource_flags
 * @release: frees the part; in process context, may sleep
 * @forget: called last: puts the part's reference to the object around it, which keeps the
 *	object until then
 * @close: called once when the owner drops the part, in any context but NMI; returns false if the
 *	owner's reference is put later, by the last user that @close has found; NULL: it is put
 *	at once.  Set before krdma_resource_init().
 * @turn_session: session with the turns that @work takes, kept by the object around it; NULL: it
 *	takes none.  Set before the creator's reference is put.
 * @turn_item: @work, among the device parts of @turn_session that wait for a turn
 * @work: calls @release, unless the owner calls it from krdma_resource_end(); after a grace
 *	period if requested, see krdma_resource_release_late()
 * @released: completed when @release has returned
 *
 * The owner drops its reference once: by krdma_resource_drop() or krdma_resource_end(), or
 * because the device is removed, whichever comes first.  From then on there are no new users,
 * and when the last reference is put the part is released.  krdma_resource_init() also gives a
 * reference to the creator, which puts it when the part is complete, or was not created.
 */
struct krdma_resource {
	struct krdma_device *dev;
	struct krdma_use use;
	refcount_t refs;
	unsigned long flags;
	void (*release)(struct krdma_resource *resource);
	void (*forget)(struct krdma_resource *resource);
	bool (*close)(struct krdma_resource *resource);
	struct krdma_session *turn_session;
	struct krdma_turn_item turn_item;
	struct rcu_work work;
	struct completion released;
};

/*
 * Bits of &struct krdma_resource.flags: the owner has dropped the part; the device was removed
 * first; the part is released after a grace period; memory reclaim may wait for the release.
 */
enum krdma_resource_flags {
	KRDMA_RESOURCE_DROPPED,
	KRDMA_RESOURCE_GONE,
	KRDMA_RESOURCE_LATE,
	KRDMA_RESOURCE_RECLAIM,
};

int krdma_resource_init(struct krdma_resource *resource, struct krdma_device *dev,
			void (*release)(struct krdma_resource *resource),
			void (*forget)(struct krdma_resource *resource));
void krdma_resource_release_late(struct krdma_resource *resource);
void krdma_resource_set_reclaim(struct krdma_resource *resource);
void krdma_resource_set_turns(struct krdma_resource *resource, struct krdma_session *session);
bool krdma_resource_keep(struct krdma_resource *resource);
void krdma_resource_last(struct krdma_resource *resource);
void krdma_resource_drop(struct krdma_resource *resource);
void krdma_resource_end(struct krdma_resource *resource);

/* -ENODEV if the device was removed, -ESHUTDOWN if the owner has dropped it, 0 if available. */
int krdma_resource_error(const struct krdma_resource *resource);

/* Put references that krdma_resource_tryget() has got.  Any context but NMI. */
static inline void krdma_resource_put_many(struct krdma_resource *resource, int count)
{
	if (refcount_sub_and_test(count, &resource->refs))
		krdma_resource_last(resource);
}

static inline void krdma_resource_put(struct krdma_resource *resource)
{
	krdma_resource_put_many(resource, 1);
}

/*
 * Get a reference to the device part; the caller keeps the object around it.  Returns true,
 * with a reference for krdma_resource_put(); false if the owner has dropped the part, see
 * krdma_resource_error().  Any context.
 */
static inline bool krdma_resource_tryget(struct krdma_resource *resource)
{
	if (!refcount_inc_not_zero(&resource->refs))
		return false;
	/*
	 * Refuse callers that come after the drop.  A caller that checked just before the drop
	 * has a reference, and the release waits for it.
	 */
	if (likely(!test_bit(KRDMA_RESOURCE_DROPPED, &resource->flags)))
		return true;
	krdma_resource_put(resource);
	return false;
}

/*
 * How many connections end at the same time, and how many other objects.  Their teardowns mostly
 * wait for the device, and then become runnable together: with hundreds of them, a thread of
 * another user waits 100 ms and more to be scheduled, and with 16 sometimes 80 ms.  Fewer end
 * sooner, too; but those of a device that does not answer must not keep all others waiting.
 */
#define KRDMA_ENDS_AT_ONCE	8

extern struct workqueue_struct *krdma_workqueue;
extern struct workqueue_struct *krdma_conn_workqueue;
extern struct workqueue_struct *krdma_peer_workqueue;
extern struct workqueue_struct *krdma_reclaim_workqueue;
extern struct workqueue_struct *krdma_cq_workqueue;
extern struct workqueue_struct *krdma_notifier_workqueue;

int krdma_resources_init(void);
void krdma_resources_exit(void);
void krdma_resources_flush(void);

#endif /* _KRDMA_RESOURCE_H */
