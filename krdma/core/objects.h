/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How many objects of each kind there are.  All strata count: nothing here knows what
 * an object is.
 */
#ifndef _KRDMA_OBJECTS_H
#define _KRDMA_OBJECTS_H

#include <linux/atomic.h>

/*
 * What is allocated and freed on its own, and what must end before the module can go.
 * The names are in krdma_object_names.
 */
enum krdma_object_kind {
	/* One of each for an RDMA device that is served: they go with the device. */
	KRDMA_OBJECT_DEVICE,
	KRDMA_OBJECT_NOTIFIER_DEVICE,
	/* The core's.  A use of a device is a part of another object, but holds the device. */
	KRDMA_OBJECT_DEVICE_USE,
	KRDMA_OBJECT_SESSION,
	KRDMA_OBJECT_PD,
	KRDMA_OBJECT_LISTENER,
	KRDMA_OBJECT_CONN,
	KRDMA_OBJECT_QP,
	KRDMA_OBJECT_CQ,
	KRDMA_OBJECT_SRQ,
	KRDMA_OBJECT_MR,
	KRDMA_OBJECT_MR_MEMORY,
	KRDMA_OBJECT_MR_CACHE,
	KRDMA_OBJECT_MR_CACHE_ENTRY,
	KRDMA_OBJECT_FRMR_POOL,
	KRDMA_OBJECT_FRWR_QP,
	KRDMA_OBJECT_DEVICE_NOTIFIER,
	KRDMA_OBJECT_NOTIFIER_LINK,
	/* Those of programs. */
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
	/* Those of krdma_blk, a module of its own. */
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
 * count: @object has just been allocated; NULL, where that has failed, is not counted.
 * uncount: it is freed by the caller, now.  Both return @object, so that a count stands in
 * the line that allocates or frees.  Any context.
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

void krdma_objects_init(void);
void krdma_objects_exit(void);

#endif /* _KRDMA_OBJECTS_H */
