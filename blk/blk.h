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

#endif /* _KRDMA_BLK_BLK_H */
