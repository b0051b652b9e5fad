/* SPDX-License-Identifier: GPL-2.0 */
/*
 * As much of the kernel's headers as krdma_blk's wire.c uses.
 */
#ifndef KRDMA_PARSERS_BLK_KERNEL_H
#define KRDMA_PARSERS_BLK_KERNEL_H

#include <assert.h>
#include <endian.h>
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

#define SZ_512		0x200
#define SZ_4K		0x1000
#define SZ_1M		0x100000
#define SZ_1G		0x40000000
#define PAGE_SIZE	4096u
#define S64_MAX		INT64_MAX

#define cpu_to_le32(value)	htole32(value)
#define le16_to_cpu(value)	le16toh(value)
#define le32_to_cpu(value)	le32toh(value)
#define le64_to_cpu(value)	le64toh(value)
#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))

static inline size_t min(size_t a, size_t b)
{
	return a < b ? a : b;
}

static inline bool is_power_of_2(unsigned long value)
{
	return value && !(value & (value - 1));
}

#endif
