/* SPDX-License-Identifier: GPL-2.0 */
/* Records that read() of a descriptor returns: how much of one a buffer gets.  Pure. */
#ifndef _KRDMA_USER_RECORD_H
#define _KRDMA_USER_RECORD_H

#include "core/pure.h"

/* Bytes of both kinds of records in the first version: every program has room for these. */
#define KRDMA_USER_RECORD_MIN	16

/**
 * krdma_user_record_bytes() - Get how many bytes of the next record are copied
 * @size: bytes of the record, at least KRDMA_USER_RECORD_MIN
 * @room: bytes that are left of the buffer
 * @done: bytes that this read has copied
 *
 * A program that was built with an older header may have less room than a record has bytes.  It
 * gets the beginning, if nothing is before it in the buffer.
 *
 * Context: any.
 * Return: the bytes; 0: the record stays for the next read.
 */
static inline size_t krdma_user_record_bytes(size_t size, size_t room, size_t done)
{
	if (room >= size)
		return size;
	return !done && room >= KRDMA_USER_RECORD_MIN ? room : 0;
}

#endif /* _KRDMA_USER_RECORD_H */
