/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a peer is told of a region of memory, so that it can reach it.  Pure.
 */
#ifndef _KRDMA_DESCRIPTOR_H
#define _KRDMA_DESCRIPTOR_H

#include "pure.h"

/* What the peer may do there. */
enum krdma_descriptor_right {
	KRDMA_DESC_READ = 1 << 0,
	KRDMA_DESC_WRITE = 1 << 1,
	KRDMA_DESC_ATOMIC = 1 << 2,
};

#define KRDMA_DESC_RIGHTS	(KRDMA_DESC_READ | KRDMA_DESC_WRITE | KRDMA_DESC_ATOMIC)

/* Its length in a message. */
#define KRDMA_DESCRIPTOR_SIZE	32

/**
 * struct krdma_descriptor - a region of a peer's memory
 * @addr: the remote address of its first byte
 * @length: its length in bytes, not 0
 * @key: the remote key
 * @rights: bits of &enum krdma_descriptor_right, at least one
 */
struct krdma_descriptor {
	u64 addr;
	u64 length;
	u32 key;
	u32 rights;
};

int krdma_descriptor_encode(const struct krdma_descriptor *descriptor, u8 *wire);
int krdma_descriptor_decode(const u8 *wire, size_t wire_length,
			    struct krdma_descriptor *descriptor);

#endif /* _KRDMA_DESCRIPTOR_H */
