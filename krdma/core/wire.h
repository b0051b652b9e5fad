/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Access to unaligned little-endian numbers in messages.  Pure functions; the kernel's own
 * helpers are in a header that has had several names.
 */
#ifndef _KRDMA_WIRE_H
#define _KRDMA_WIRE_H

#include "core/pure.h"

static inline void krdma_wire_put_le16(u8 *to, u16 value)
{
	to[0] = (u8)(value & 0xff);
	to[1] = (u8)(value >> 8);
}

static inline void krdma_wire_put_le32(u8 *to, u32 value)
{
	krdma_wire_put_le16(to, (u16)(value & 0xffff));
	krdma_wire_put_le16(to + 2, (u16)(value >> 16));
}

static inline void krdma_wire_put_le64(u8 *to, u64 value)
{
	krdma_wire_put_le32(to, (u32)value);
	krdma_wire_put_le32(to + 4, (u32)(value >> 32));
}

static inline u16 krdma_wire_get_le16(const u8 *from)
{
	return (u16)(from[0] | from[1] << 8);
}

static inline u32 krdma_wire_get_le32(const u8 *from)
{
	return krdma_wire_get_le16(from) | (u32)krdma_wire_get_le16(from + 2) << 16;
}

static inline u64 krdma_wire_get_le64(const u8 *from)
{
	return krdma_wire_get_le32(from) | (u64)krdma_wire_get_le32(from + 4) << 32;
}

#endif /* _KRDMA_WIRE_H */
