/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of krdma_blk share.
 *
 * An export is memory of this host that others use as a block device; a device is
 * such memory of another host.  Each half knows nothing of the other.
 */
#ifndef _KRDMA_BLK_BLK_H
#define _KRDMA_BLK_BLK_H

#include <linux/configfs.h>
#include <linux/types.h>

#include "../krdma/core/objects.h"

/*
 * What sleeps on the way to a device.  Memory is written back to devices, so this has a
 * rescuer, and its work items allocate with NOIO.
 */
extern struct workqueue_struct *krdma_blk_workqueue;

/* The exports' work items, which may wait for memory: so not the rescuer of the devices. */
extern struct workqueue_struct *krdma_blk_export_workqueue;

/* @object has just been allocated, or is about to be freed; NULL is no object. */
static inline void *krdma_blk_count(enum krdma_object_kind kind, void *object)
{
	if (object)
		krdma_object_add(kind, 1);
	return object;
}

static inline void *krdma_blk_uncount(enum krdma_object_kind kind, void *object)
{
	if (object)
		krdma_object_add(kind, -1);
	return object;
}

/* The kinds of items in configfs. */
extern const struct config_item_type krdma_blk_exports_type;
extern const struct config_item_type krdma_blk_devices_type;

/* Where the exports are to be had: the attribute "listen" of the root. */
ssize_t krdma_blk_listen_show(char *page);
ssize_t krdma_blk_listen_store(const char *page, size_t count);
void krdma_blk_listen_exit(void);

/* Waits until the last disk is gone, whose end may come later than its item's. */
void krdma_blk_disks_wait(void);

/* What configfs shows; items that may not be removed now depend on it. */
extern struct configfs_subsystem krdma_blk_root;

#endif /* _KRDMA_BLK_BLK_H */
