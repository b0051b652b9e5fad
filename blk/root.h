/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _KRDMA_BLK_ROOT_H
#define _KRDMA_BLK_ROOT_H

struct configfs_subsystem;
struct workqueue_struct;

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

/* The configfs subsystem; items that must not be removed at the moment depend on it. */
extern struct configfs_subsystem krdma_blk_root;

#endif /* _KRDMA_BLK_ROOT_H */
