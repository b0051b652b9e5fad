// SPDX-License-Identifier: GPL-2.0
/*
 * The numbers of connections and shared receive queues.
 *
 * A number is not used again before all others were: a completion may tell of one
 * whose object is long gone, and must not be taken for another's.
 */
#include <linux/errno.h>
#include <linux/limits.h>
#include <linux/xarray.h>

#include "user/user.h"

/* Also fits where a number is signed. */
#define KRDMA_DEST_IDS	XA_LIMIT(1, INT_MAX)

DEFINE_XARRAY_FLAGS(krdma_user_dests, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);
static u32 krdma_user_dests_next;

/**
 * krdma_user_dest_add - give an object its number
 * @dest: the object's part, with its kind set; its number is set here
 *
 * From here on others find it.
 *
 * Context: process context; may sleep.
 * Return: 0 or -ENOMEM.
 */
int krdma_user_dest_add(struct krdma_user_dest *dest)
{
	int ret;

	ret = xa_alloc_cyclic(&krdma_user_dests, &dest->id, dest, KRDMA_DEST_IDS,
			      &krdma_user_dests_next, GFP_KERNEL_ACCOUNT);
	/* 1: the numbers have begun anew.  -EBUSY: two thousand million are in use. */
	return ret < 0 ? -ENOMEM : 0;
}

/**
 * krdma_user_dest_remove - take an object's number back
 * @dest: the object's part
 *
 * Who has found it may look at it until RCU's grace is over.
 *
 * Context: process context.
 */
void krdma_user_dest_remove(struct krdma_user_dest *dest)
{
	xa_erase(&krdma_user_dests, dest->id);
}
