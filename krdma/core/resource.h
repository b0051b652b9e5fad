/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is made of an RDMA device and must be gone before the device is.
 */
#ifndef _KRDMA_RESOURCE_H
#define _KRDMA_RESOURCE_H

#include <linux/bits.h>
#include <linux/completion.h>
#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/workqueue.h>

#include "core/private.h"

/**
 * struct krdma_use - somebody uses a device
 * @node: in the device's list; protected by krdma_device.uses_lock
 * @gone: called once when the device is being removed, under uses_lock: it must
 *	not sleep, and set in motion what ends with krdma_device_unuse()
 *
 * From krdma_device_use() to krdma_device_unuse() the RDMA device stays.
 */
struct krdma_use {
	struct list_head node;
	void (*gone)(struct krdma_use *use);
};

int krdma_device_use(struct krdma_device *dev, struct krdma_use *use,
		     void (*gone)(struct krdma_use *use));
void krdma_device_unuse(struct krdma_device *dev, struct krdma_use *use);

/* For those with a use. */
struct ib_device *krdma_device_ib(struct krdma_device *dev);
const struct krdma_limits *krdma_device_limits(const struct krdma_device *dev);
u64 krdma_device_caps(const struct krdma_device *dev);
int krdma_device_node(const struct krdma_device *dev);
struct krdma_vectors *krdma_device_vectors(struct krdma_device *dev);
int krdma_device_max_message(struct krdma_device *dev, u32 port, u32 *bytes);

/**
 * struct krdma_resource - the part of an object that is made of an RDMA device
 * @dev: the device
 * @use: of the device, until the release is over
 * @refs: the owner's, and one for each that works with it.  Counts the part, not
 *	the object around it.
 * @flags: &enum krdma_resource_flags
 * @release: frees the part; in process context, may sleep
 * @forget: the last that is called: puts the part's reference to the object around
 *	it, which keeps it until here
 * @work: calls @release, unless the owner does, by krdma_resource_end(); after a grace
 *	period where that is wanted, see krdma_resource_release_late()
 * @released: it has been called
 *
 * The owner lets go once: by krdma_resource_drop() or krdma_resource_end(), or because
 * the device is removed, whichever comes first.  From then on nobody new gets in, and when the
 * last one is out the part is released.  krdma_resource_init() also gives a
 * reference to the maker, to be put when the part is whole, or was not made.
 */
struct krdma_resource {
	struct krdma_device *dev;
	struct krdma_use use;
	refcount_t refs;
	unsigned long flags;
	void (*release)(struct krdma_resource *resource);
	void (*forget)(struct krdma_resource *resource);
	struct rcu_work work;
	struct completion released;
};

/*
 * Bits of &struct krdma_resource.flags: the owner has let go; the device went first; it is
 * released after a grace period; memory reclaim may wait for the release.
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
bool krdma_resource_keep(struct krdma_resource *resource);
void krdma_resource_last(struct krdma_resource *resource);
void krdma_resource_drop(struct krdma_resource *resource);
void krdma_resource_end(struct krdma_resource *resource);

/* -ENODEV if the device went, -ESHUTDOWN if the owner let go, 0 if it is there. */
int krdma_resource_error(const struct krdma_resource *resource);

/* End what krdma_resource_tryget() began.  Any context but NMI. */
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
 * Begin to work with the part; the caller keeps the object around it.  True, with a
 * reference for krdma_resource_put(); false when its owner has let go, see
 * krdma_resource_error().  Any context.
 */
static inline bool krdma_resource_tryget(struct krdma_resource *resource)
{
	if (!refcount_inc_not_zero(&resource->refs))
		return false;
	/*
	 * Whoever comes after the drop is sent away.  One who looked just before
	 * it has a reference, and is waited for.
	 */
	if (likely(!test_bit(KRDMA_RESOURCE_DROPPED, &resource->flags)))
		return true;
	krdma_resource_put(resource);
	return false;
}

extern struct workqueue_struct *krdma_workqueue;
extern struct workqueue_struct *krdma_reclaim_workqueue;
extern struct workqueue_struct *krdma_cq_workqueue;

int krdma_resources_init(void);
void krdma_resources_exit(void);

#endif /* _KRDMA_RESOURCE_H */
