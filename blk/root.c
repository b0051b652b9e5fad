// SPDX-License-Identifier: GPL-2.0
/*
 * What the module has once, and most of its files use.  main.c sets it up.
 */
#include <linux/workqueue.h>

#include "blk.h"
#include "root.h"

struct workqueue_struct *krdma_blk_workqueue;
struct workqueue_struct *krdma_blk_export_workqueue;
struct workqueue_struct *krdma_blk_command_workqueue;
struct workqueue_struct *krdma_blk_lease_workqueue;
struct configfs_subsystem krdma_blk_root;
