// SPDX-License-Identifier: GPL-2.0
/*
 * With this compiler everything in the ABI headers must have the layout of
 * krdma/user/layout_list.h, on every architecture: programs that were compiled with that layout are
 * in use.  There is no code here: this file compiles unless the interface has changed.
 */
#include <assert.h>
#include <stddef.h>

#include <linux/krdma.h>
#include <linux/krdma_conn.h>
#include <linux/krdma_limit.h>
#include <linux/krdma_ring.h>

#define VALUE(name, value) \
	static_assert((name) == (value), #name " has changed")
#define STRUCT(name, bytes, alignment)							\
	static_assert(sizeof(struct name) == (bytes) &&					\
		      __alignof__(struct name) == (alignment), #name " has changed its size")
#define STRUCT_OF_ADDRESSES(name, bytes) \
	static_assert(sizeof(struct name) == (bytes), #name " has changed its size")
#define FIELD(structure, name, offset, bytes)						\
	static_assert(offsetof(struct structure, name) == (offset) &&			\
		      sizeof(((struct structure *)0)->name) == (bytes),		\
		      #structure "." #name " has moved, or changed its length")

#include "../../../krdma/user/layout_list.h"
