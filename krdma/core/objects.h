/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counts of the objects of each kind.  Files of every layer count their objects; this file
 * knows nothing about an object.
 */
#ifndef _KRDMA_OBJECTS_H
#define _KRDMA_OBJECTS_H

#include <linux/atomic.h>

/*
 * Objects that are allocated and freed on their own, and must be freed before the module can be
 * unloaded.  The names are in krdma_object_names.
 */
enum krdma_object_kind {
	/* One of each for an RDMA device that is served: freed with the device. */
	KRDMA_OBJECT_DEVICE,
	KRDMA_OBJECT_NOTIFIER_DEVICE,
	/* Of the core.  A use of a device is embedded in another object, but holds the device. */
	KRDMA_OBJECT_DEVICE_USE,
	KRDMA_OBJECT_SESSION,
	KRDMA_OBJECT_PD,
	KRDMA_OBJECT_LISTENER,
	KRDMA_OBJECT_CONN,
	KRDMA_OBJECT_LANE,
	KRDMA_OBJECT_TRUNK,
	KRDMA_OBJECT_WINDOW,
	KRDMA_OBJECT_QP,
	KRDMA_OBJECT_CQ,
	KRDMA_OBJECT_SRQ,
	KRDMA_OBJECT_TEMPLATE,
	KRDMA_OBJECT_MR,
	KRDMA_OBJECT_MR_MEMORY,
	KRDMA_OBJECT_FRWR_QP,
	KRDMA_OBJECT_DEVICE_NOTIFIER,
	KRDMA_OBJECT_NOTIFIER_LINK,
	/* Of programs. */
	KRDMA_OBJECT_USER_FILE,
	KRDMA_OBJECT_USER_ACCOUNT,
	KRDMA_OBJECT_USER_UCOUNT,
	KRDMA_OBJECT_USER_SESSION,
	KRDMA_OBJECT_USER_LISTENER,
	KRDMA_OBJECT_USER_CONN,
	KRDMA_OBJECT_USER_RING,
	KRDMA_OBJECT_USER_SRQ,
	KRDMA_OBJECT_USER_MR,
	KRDMA_OBJECT_USER_MM,
	KRDMA_OBJECT_USER_NOTIFIER,
	KRDMA_OBJECT_USER_BATCH,
	/* Of krdma_blk, a separate module. */
	KRDMA_OBJECT_BLK_DEV,
	KRDMA_OBJECT_BLK_DISK,
	KRDMA_OBJECT_BLK_EXPORT,
	KRDMA_OBJECT_BLK_CLIENT,
	KRDMA_OBJECT_BLK_CONN,
	KRDMA_OBJECT_BLK_WINDOW,
	KRDMA_OBJECT_KINDS,
};

extern atomic_t krdma_object_counts[KRDMA_OBJECT_KINDS];

/*
 * count: @object was just allocated; NULL, after a failed allocation, is not counted.  uncount:
 * the caller frees it now.  Both return @object, so that counting fits in the line that
 * allocates or frees.  Any context.
 */
static inline void *krdma_object_count(enum krdma_object_kind kind, void *object)
{
	if (object)
		atomic_inc(&krdma_object_counts[kind]);
	return object;
}

static inline void *krdma_object_uncount(enum krdma_object_kind kind, void *object)
{
	if (object)
		atomic_dec(&krdma_object_counts[kind]);
	return object;
}

const char *krdma_object_name(enum krdma_object_kind kind);
int krdma_object_read(enum krdma_object_kind kind);
void krdma_object_add(enum krdma_object_kind kind, int count);

struct dentry;
struct dentry *krdma_objects_init(void);
void krdma_objects_exit(void);

#endif /* _KRDMA_OBJECTS_H */
