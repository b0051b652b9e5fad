/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Declarations that the files of krdma_blk share.
 *
 * An export is memory of this host that other hosts use as a block device; a device is such
 * memory of another host.  The two halves are independent of each other.
 */
#ifndef _KRDMA_BLK_BLK_H
#define _KRDMA_BLK_BLK_H

#include <linux/configfs.h>
#include <linux/types.h>

#include "../krdma/core/objects.h"

/*
 * For work of devices that sleeps.  Memory is written back to devices, so the workqueue has a
 * rescuer, and its work items allocate with NOIO.
 */
extern struct workqueue_struct *krdma_blk_workqueue;

/*
 * For work items that may wait for memory, and so must not use the devices' rescuer: those of
 * exports, and those that tell users about disks.
 */
extern struct workqueue_struct *krdma_blk_export_workqueue;

/*
 * For the commands of clients of memory, who can send as many as they like: they must not take the
 * places of those above.
 */
extern struct workqueue_struct *krdma_blk_command_workqueue;

/*
 * For the checks of clients: they wait for nothing, allocate nothing, and nothing else may delay
 * them.  So they have threads of high priority, which no store or peer occupies, and a rescuer for
 * the time when there is no memory for another thread.
 */
extern struct workqueue_struct *krdma_blk_lease_workqueue;

/* Switches of the processor at such intervals keep a long wait from being taken for a hang. */
#define KRDMA_BLK_LONG_WAIT	(10 * HZ)

/* Count @object, which has just been allocated, or is about to be freed; NULL is not counted. */
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

/* Item types of configfs. */
extern const struct config_item_type krdma_blk_exports_type;
extern const struct config_item_type krdma_blk_devices_type;

/* The addresses where the exports are served: the attribute "listen" of the root. */
ssize_t krdma_blk_listen_show(char *page);
ssize_t krdma_blk_listen_store(const char *page, size_t count);
int krdma_blk_listen_init(void);
void krdma_blk_listen_exit(void);

/* Waits until the last disk is freed, which may be later than its item. */
void krdma_blk_disks_wait(void);

/* serve.c */
void krdma_blk_serve_spoiled(void);

/* The configfs subsystem; items that must not be removed at the moment depend on it. */
extern struct configfs_subsystem krdma_blk_root;

#endif /* _KRDMA_BLK_BLK_H */
