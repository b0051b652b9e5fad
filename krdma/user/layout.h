/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Checks the layout of the user interface when the module is compiled, too.
 */
#ifndef _KRDMA_USER_LAYOUT_H
#define _KRDMA_USER_LAYOUT_H

#include <linux/build_bug.h>
#include <linux/krdma.h>
#include <linux/krdma_conn.h>
#include <linux/krdma_limit.h>
#include <linux/krdma_ring.h>
#include <linux/stddef.h>

#define VALUE(name, value)	static_assert((name) == (value))
#define STRUCT(name, bytes, alignment)						\
	static_assert(sizeof(struct name) == (bytes) &&				\
		      __alignof__(struct name) == (alignment))
#define STRUCT_OF_ADDRESSES(name, bytes)	static_assert(sizeof(struct name) == (bytes))
#define FIELD(structure, name, offset, bytes)					\
	static_assert(offsetof(struct structure, name) == (offset) &&		\
		      sizeof_field(struct structure, name) == (bytes))

#include "user/layout_list.h"

#undef VALUE
#undef STRUCT
#undef STRUCT_OF_ADDRESSES
#undef FIELD

#endif /* _KRDMA_USER_LAYOUT_H */
