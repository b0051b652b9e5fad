// SPDX-License-Identifier: GPL-2.0
/*
 * IDs of connections and SRQs.
 *
 * An ID is not reused before all others were used.  A completion may refer to an object that
 * ended long ago, and must not be taken for one of another object.
 */
#include <linux/atomic.h>
#include <linux/errno.h>
#include <linux/limits.h>
#include <linux/xarray.h>

#include "user/id.h"
#include "user/user.h"

/* Also fits in a signed type. */
#define KRDMA_DEST_IDS	XA_LIMIT(1, INT_MAX)

DEFINE_XARRAY_FLAGS(krdma_user_dests, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);
/* Number of IDs that were removed. */
atomic64_t krdma_user_dests_removed = ATOMIC64_INIT(0);
static u32 krdma_user_dests_next;

/**
 * krdma_user_dest_add() - Assign an ID to an object
 * @dest: the object's part, with its kind set; its ID is set here
 *
 * From here on other contexts find it.
 *
 * Context: process context; may sleep.
 * Return: 0 or -ENOMEM.
 */
int krdma_user_dest_add(struct krdma_user_dest *dest)
{
	int ret;

	ret = xa_alloc_cyclic(&krdma_user_dests, &dest->id, dest, KRDMA_DEST_IDS,
			      &krdma_user_dests_next, GFP_KERNEL_ACCOUNT);
	/* 1: the IDs have wrapped around.  -EBUSY: 2^31 - 1 IDs are in use. */
	return ret < 0 ? -ENOMEM : 0;
}

/**
 * krdma_user_dest_remove() - Release the ID of an object
 * @dest: the object's part
 *
 * A context that has found it may use it until the end of an RCU grace period.
 *
 * Context: process context.
 */
void krdma_user_dest_remove(struct krdma_user_dest *dest)
{
	xa_erase(&krdma_user_dests, dest->id);
	/* After the erasure, and before the object is freed: see user.h. */
	(void)atomic64_fetch_inc_release(&krdma_user_dests_removed);
}
