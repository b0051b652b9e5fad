/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a pure file may use: fixed-width integers, and no more than that of the
 * kernel.  A pure file computes; it knows no device, no lock, no allocation and
 * no RDMA header, and also compiles as an ordinary program.
 */
#ifndef _KRDMA_PURE_H
#define _KRDMA_PURE_H

#ifdef __KERNEL__

#include <linux/export.h>
#include <linux/limits.h>
#include <linux/types.h>

#else

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;
typedef int64_t s64;

#define S32_MAX INT32_MAX
#define U32_MAX UINT32_MAX

#define EXPORT_SYMBOL_IF_KUNIT(symbol)

#endif /* __KERNEL__ */

#include <linux/krdma.h>

#endif /* _KRDMA_PURE_H */
