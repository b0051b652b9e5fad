/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a pure file may use: fixed-width integers, errno, memcpy() and similar functions, and
 * nothing else of the kernel.  A pure file computes; it uses no device, no lock, no allocation and
 * no RDMA header, and also compiles as an ordinary program.
 */
#ifndef _KRDMA_PURE_H
#define _KRDMA_PURE_H

#ifdef __KERNEL__

#include <linux/errno.h>
#include <linux/export.h>
#include <linux/limits.h>
#include <linux/string.h>
#include <linux/types.h>

#else

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <linux/types.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s32 s32;
typedef __s64 s64;

/* Structures in <krdma/krdma.h> contain it. */
struct list_head {
	struct list_head *next, *prev;
};

#define U16_MAX UINT16_MAX
#define S32_MAX INT32_MAX
#define U32_MAX UINT32_MAX

/* A test program is linked with the code that it tests, so exports are empty. */
#define EXPORT_SYMBOL_IF_KUNIT(symbol)
/* The same for exports with a namespace. */
#define EXPORT_SYMBOL_NS_GPL(symbol, namespace)

#endif /* __KERNEL__ */

#include <linux/krdma.h>

#endif /* _KRDMA_PURE_H */
